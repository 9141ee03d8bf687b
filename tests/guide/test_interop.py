"""The page on other programs: every block runs, each on its own, unless its program is not installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.command_line import polypod

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"
SECTIONS = {
    text.partition("\n")[0]: re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for text in PAGE.read_text().split("\n## ")[1:]
}
BLOCKS = [
    pytest.param(language, code, id=f"{title.replace(' ', '-')}{k + 1 if k else ''}")
    for title, blocks in SECTIONS.items()
    for k, (language, code) in enumerate(blocks)
]
TOOLS = {"cc ": "cc", "c++ -": "c++", "node ": "node"}
OPTIONAL = ("mujoco", "pinocchio", "torch", "jax", "fmpy")


def test_every_program_of_the_table_has_a_block() -> None:
    def programs(text: str) -> set[str]:
        return set(re.findall(r"\b[A-Z][\w.+]*", text))

    rows = [programs(row) for row in re.findall(r"^\| ([^|`]+) \| `", PAGE.read_text(), re.MULTILINE)]
    assert len(rows) == 13
    assert all(SECTIONS.values())  # a block or more each
    sections = [programs(title) for title in SECTIONS]
    assert all(any(section <= row for row in rows) for section in sections)
    assert all(any(section <= row for section in sections) for row in rows)


@pytest.mark.parametrize(("language", "code"), BLOCKS)
def test_block(language: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python in a namespace of its own, commands in a shell after those of ``polypod``; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    if language == "python":
        for module in OPTIONAL:
            if f"import {module}\n" in code and find_spec(module) is None:
                pytest.skip(f"{module} is not installed")
        if "export_fmu" in code and shutil.which("cc") is None:
            pytest.skip("no C compiler on this machine")
        try:
            exec(compile(code, str(PAGE.name), "exec", dont_inherit=True), {"__name__": "guide"})
        finally:
            if "jax" in sys.modules:
                sys.modules["jax"].config.update("jax_enable_x64", False)
        return
    for word, tool in TOOLS.items():
        if word in code and shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on this machine")
    commands = [line for line in code.splitlines() if line.startswith("polypod ")]
    for line in commands:  # here: an interpreter for each takes two seconds
        result = polypod(*shlex.split(line)[1:])
        assert result.exit_code == 0, result.output
    script = "".join(f"{line}\n" for line in code.splitlines() if line not in commands)
    done = subprocess.run(
        ["bash", "-e", "-c", script], capture_output=True, text=True, check=False, env=os.environ, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
