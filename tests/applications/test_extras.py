"""Optional packages: what needs one names the extra that brings it, and each such extra is there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
NEEDED = [
    match
    for path in sorted((ROOT / "src").rglob("*.py"))
    for match in re.findall(r'MissingPackageError\("[^"]+", "([^"]+)", "([^"]+)"', path.read_text(encoding="utf-8"))
]


def test_every_extra_that_an_error_names_exists():
    assert len(NEEDED) >= 8
    assert {extra for _, extra in NEEDED} <= {*EXTRAS}


def test_without_the_package_the_error_names_the_extra(tmp_path):
    """In a process that cannot import it."""
    (tmp_path / "robot.xml").write_text("<mujoco><worldbody/></mujoco>", encoding="utf-8")
    code = """
import sys
sys.modules |= {"jax": None, "torch": None, "mujoco": None}
import polypod as pp
model = pp.Model("lopes")
calls = [
    lambda: model.jax("inverse_kinematics"),
    lambda: model.torch("inverse_kinematics"),
    lambda: pp.exchange.import_robot("robot.xml"),
]
for call in calls:
    try:
        call()
    except pp.errors.MissingPackageError as error:
        print(error.extra, " ".join(str(error).split()))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["jax", "torch", "import"]
    assert all(f"pip install 'polypod[{line.partition(' ')[0]}]'" in line for line in lines)
