"""Every file of examples is in the gallery with its figure, and run by a test: here the one that no other file runs."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import polypod as pp
from polypod.motion import make_task

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from make_images import EXAMPLES  # noqa: E402


def test_every_example_is_in_the_gallery_and_a_test():
    """The gallery's sections name the file and show the picture that make_images.py keeps of it."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"examples/([\w-]+)\.\w+[^#]*?\]\(images/([\w-]+\.png)\)", page))
    names = {path.stem for path in (ROOT / "examples").iterdir() if path.is_file()}
    assert shown == EXAMPLES
    assert set(shown) == names
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    tests.append((ROOT / "tests" / "support" / "robots" / "user_legs.py").read_text(encoding="utf-8"))
    for name in names:
        assert (ROOT / "docs" / "images" / shown[name]).is_file()
        assert any(re.search(rf"\"{name}(\.\w+)?\"", text) for text in tests), f"no test runs {name}"


@pytest.mark.long
def test_identification_of_a_heavier_platform(tmp_path):
    """The forces of the log held back err by their noise (0.002 N m), and intervals of 95 % hold the nine truths."""
    found = runpy.run_path(str(ROOT / "examples" / "identify.py"))["main"](tmp_path, tries=20)
    assert found["largest error before"] > 0.02
    assert found["largest error after"] < 0.0022
    assert found["base parameters"] == 9
    assert found["intervals that contain the true value"] >= 7  # of nine; 95 % of many
    assert [path.name for path in tmp_path.iterdir()] == ["identify.png"]


def test_the_best_gas_springs(tmp_path):
    """Forces are affine in the charge: the least of the largest leg's rms is known from two states of charge."""
    found = runpy.run_path(str(ROOT / "examples" / "spring_sweep.py"))["main"](tmp_path, picture=False)
    model = pp.Model("motion-platform")
    task = make_task(model, "motion-platform-ride", 50.0)
    motion, path = task.motion, "elements.*.temperature_factor"
    given = motion.pose, motion.twist, motion.acceleration
    half, whole = (model.inverse_dynamics(*given, parameters={path: charge}) for charge in (0.5, 1.0))
    shares = np.diff(np.concatenate([task.time[:1], (task.time[1:] + task.time[:-1]) / 2, task.time[-1:]]))

    def rms(charge):
        force = whole + (charge - 1.0) * 2 * (whole - half)
        return float(np.sqrt(shares @ force**2 / task.time[-1]).max())

    best = minimize_scalar(rms, bounds=(0.05, 1.8), method="bounded", options={"xatol": 1e-6})
    assert abs(found["best charge"] - best.x) <= 0.0126  # half of the sweep's step of 0.025
    assert rms(found["best charge"]) == pytest.approx(found["rms force with the best"], rel=1e-9)
    assert found["rms force with the best"] < 0.35 * found["rms force without gas springs"]


def test_predictive_control_of_a_hexapod():
    """It follows within the bounds of the forces, which hold it back where they bind."""
    pytest.importorskip("osqp", reason="osqp is not installed")
    example = runpy.run_path(str(ROOT / "examples" / "mpc_hexapod.py"))
    found = example["run"](periods=40)
    assert np.abs(found["force"]).max() <= example["MOST"]
    assert found["error"].max() < 2e-4  # of a wave of 20 mm
    assert len(found["times"]) == 40
