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
BLOCKS = [
    pytest.param(language, code, id=title.replace(" ", "-"))
    for title, language, code in re.findall(
        r"^## (.*?)$.*?```(\w+)\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
]
TOOLS = {"cc ": "cc", "c++ -": "c++", "node ": "node"}
OPTIONAL = ("mujoco", "pinocchio", "torch", "jax", "fmpy")


def test_every_program_of_the_table_has_a_block() -> None:
    assert len(BLOCKS) == PAGE.read_text().count("\n## ") == 12


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
