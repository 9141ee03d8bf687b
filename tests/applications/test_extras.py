"""Optional packages: what needs one names the extra that brings it, and each such extra is there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("jax", "pp.Model('lopes').jax('inverse_kinematics')", "jax"),
        ("torch", "pp.Model('lopes').torch('inverse_kinematics')", "torch"),
        ("mujoco", "pp.exchange.import_robot('robot.xml')", "import"),
    ],
)
def test_without_the_package_the_error_names_the_extra(module, call, extra, tmp_path):
    """In a process that cannot import it."""
    (tmp_path / "robot.xml").write_text("<mujoco><worldbody/></mujoco>", encoding="utf-8")
    code = f"""
import sys
sys.modules[{module!r}] = None
import polypod as pp
try:
    {call}
except pp.errors.MissingPackageError as error:
    print(error.extra, error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{extra} ")
    assert f"pip install 'polypod[{extra}]'" in done.stdout
