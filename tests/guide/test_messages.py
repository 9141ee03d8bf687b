"""All wording in one place: bad inputs and what is said of them, recorded in ``tests/data/messages.md`` to be read.

Other tests ask for class, code and data (``support/refusals.py``); only this one fails when a sentence changes. Then

    POLYPOD_WRITE_MESSAGES=1 python3 -m pytest -n 0 tests/guide/test_messages.py

writes the catalogue again: read what changed, aloud.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from support.advice import has_advice
from support.bad_inputs import Message, bad_inputs, said

CATALOGUE = Path(__file__).parents[1] / "data" / "messages.md"
TESTS = Path(__file__).parents[1]
HEAD = """\
# Messages

What polypod says of bad inputs, recorded by `tests/guide/test_messages.py` and written by it again; not edited by hand.
Every entry is what was given, the class of the error or warning with its codes, and the message.
"""
WITHOUT_ADVICE = {"StateError"}
"""Of a state it is enough to say which leg fails and by how much."""


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    folder = tmp_path_factory.mktemp("messages")
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        patch.delenv("POLYPOD_ALLOW_PATHS", raising=False)
        for number, bad in enumerate(bad_inputs()):
            own = folder / str(number)
            own.mkdir()
            patch.chdir(own)
            found.append(said(bad, own))
    return found


def as_text(messages: list[Message]) -> str:
    lines, section = [HEAD], ""
    for message in messages:
        if message.section != section:
            section = message.section
            lines.append(f"## {section}\n")
        given = " ".join(message.given.split())
        codes = f" ({', '.join(message.codes)})" if message.codes else ""
        text = "\n".join(f"> {line}".rstrip() for line in message.text.splitlines())
        lines.append(f"`` {given} ``\n**{message.kind}**{codes}\n{text}\n")
    return "\n".join(lines)


def test_messages_are_those_that_were_read(messages: list[Message]) -> None:
    text = as_text(messages)
    if os.environ.get("POLYPOD_WRITE_MESSAGES"):
        CATALOGUE.write_text(text, encoding="utf-8")
    recorded = CATALOGUE.read_text(encoding="utf-8")
    changed = sorted(set(text.split("\n\n")) ^ set(recorded.split("\n\n")))
    assert text == recorded, "read them and record them, as this file says:\n\n" + "\n\n".join(changed)


def test_the_catalogue_covers_all_packages(messages: list[Message]) -> None:
    assert len(messages) >= 250
    assert len({message.section for message in messages}) >= 10
    assert [message.given for message in messages if message.kind == "accepted"] == []


def test_every_message_helps(messages: list[Message]) -> None:
    """It says what is allowed or what to do: each sentence of a list of faults."""
    lost = []
    for message in messages:
        faults = [line for line in message.text.splitlines() if re.match(r"\s+line \d+: ", line)] or [message.text]
        lost += [
            f"{message.given}: {one}" for one in faults if message.kind not in WITHOUT_ADVICE and not has_advice(one)
        ]
    assert not lost, "\n".join(lost)


def test_no_other_test_freezes_sentences() -> None:
    """``match=`` of ``pytest.raises`` and ``pytest.warns``, and sentences looked for in an error."""
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("pytest.raises", "pytest.warns"):
                frozen = any(keyword.arg == "match" for keyword in node.keywords)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "re.search" and len(node.args) > 1:
                frozen = re.fullmatch(r"str\(.*\)|.*\.(?:stderr|message)", ast.unparse(node.args[1])) is not None
            elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
                words = len(str(node.left.value).split())
                frozen = words > 3 and any(
                    re.fullmatch(r"str\(.*\)|.*\.stderr", ast.unparse(c)) for c in node.comparators
                )
            else:
                frozen = False
            if frozen:
                found.append(f"{path.relative_to(TESTS)}: line {node.lineno}")
    assert not found, "ask for class, code and data (support/refusals.py):\n" + "\n".join(found)
