"""The guide: its code runs, its generated pages cover everything there is, and it builds without a warning."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from polypod.cli import COMMANDS, GROUPS
from polypod.description import LegData
from polypod.description.robot import Robot
from polypod.motions import MotionData
from polypod.motions.paths import PathData

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_the_page_runs(page):
    """All Python blocks of a page, in order, in one namespace; their asserts are the checks."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    known = dict(LegData.registry)
    namespace: dict[str, object] = {"__name__": "guide"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                exec(compile(block, str(page.name), "exec", dont_inherit=True), namespace)
    finally:
        LegData.registry.clear()
        LegData.registry.update(known)
    if page.stem in ("index", "leg-kinds"):
        assert len(blocks) == 2


def test_the_guide_builds_without_warnings(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (it comes with '.[test]' and '.[docs]')")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    robot = (tmp_path / "robot-files" / "index.html").read_text(encoding="utf-8")
    for name in (*Robot.model_fields, "check", "half_angle", "viscous"):
        assert f"<code>{name}</code>" in robot, name
    for kind in ("UPS", "PUS", "PRU", "PRPaR"):
        assert f"Leg kind {kind}" in robot
    motion = (tmp_path / "motion-files" / "index.html").read_text(encoding="utf-8")
    for name in (*MotionData.model_fields, *(f"Path kind {kind}" for kind in PathData.registry)):
        assert name in motion
    commands = (tmp_path / "commands" / "index.html").read_text(encoding="utf-8")
    for name in (*COMMANDS, *(f"{group} " for group in GROUPS)):
        assert f"polypod {name}" in commands
