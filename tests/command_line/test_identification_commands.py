"""``polypod excite``, ``identify`` and ``calibrate`` from files to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.identification import Log, save_log, simulated_log
from polypod.identification.smoothing import smoothed
from polypod.motion import load_motion
from support.command_line import polypod
from support.refusals import says


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A motion that excites a five-bar, and two logs of it."""
    place = tmp_path_factory.mktemp("identification")
    options = ("--duration", 1, "--harmonics", 4, "--reach", 1, "--tries", 100, "--noise", 0.002)
    shown = polypod("excite", "five-bar", *options, "--out", place / "motion.yaml")
    assert shown.exit_code == 0, shown.output
    assert "log det of the information" in shown.output
    model, motion = pp.Model("five-bar"), load_motion(place / "motion.yaml")
    for seed in (1, 2):
        log = simulated_log(model, motion, rate=500, repeats=2, noise_q=1e-6, noise_force=0.002, seed=seed)
        save_log(model, log, place / f"run{seed}.csv")
    return place


def test_identify_writes_a_robot_and_a_report(folder: Path) -> None:
    shown = polypod(
        "identify", "five-bar", folder / "run1.csv", "--validate", folder / "run2.csv", "--out", folder / "new.yaml"
    )
    assert shown.exit_code == 0, shown.output
    says(shown.output, "54")
    again = pp.load(folder / "new.yaml")
    assert "identified from run1.csv" in again.source_of("legs.0.joints.0.rotor")
    pp.Model(again)
    page = (folder / "new.html").read_text()
    for part in ("Force errors", "What moved", "Residuals", "Numbers", "Base parameters", "held-out forces stay near"):
        assert part in page
    assert page.count("data:image/svg+xml;base64") == 2
    assert "http" not in page.replace("http-equiv", "")
    refused = polypod("identify", "five-bar", folder / "run1.csv", "--out", folder / "new.yaml")
    assert refused.exit_code == 2


def test_identify_prints_json(folder: Path) -> None:
    shown = polypod(
        "identify", "five-bar", folder / "run1.csv", "--out", folder / "j.yaml", "--json", "--uncertainty", "0.3"
    )
    data = json.loads(shown.stdout)
    assert len(data["base_parameters"]) == 9
    assert data["force_errors"][0]["after"] == pytest.approx(0.002, rel=0.1)
    wrong = polypod("identify", "five-bar", folder / "run1.csv", "--uncertainty", "platform=much")
    assert wrong.exit_code == 2
    assert "PATTERN=NUMBER" in wrong.output


@pytest.mark.long
def test_identify_takes_a_log_whose_clock_jitters(folder: Path) -> None:
    """Samples taken 1 ms (rms) beside their stamps look like jumps: stretches too short for a row of their own."""
    model, motion = pp.Model("five-bar"), load_motion(folder / "motion.yaml")
    trajectory, rng = motion.trajectory.for_model(model), np.random.default_rng(0)
    time = np.arange(2000) / 1000
    at = trajectory.at((time + 1e-3 * rng.standard_normal(len(time))) % trajectory.duration)
    q = model.inverse_kinematics(at.pose)
    force = model.inverse_dynamics(at.pose, at.twist, at.acceleration) + 0.002 * rng.standard_normal(q.shape)
    save_log(model, Log("jitter", time, q, force), folder / "jitter.csv")
    shown = polypod("identify", "five-bar", folder / "jitter.csv", "--out", folder / "jitter.yaml")
    assert shown.exit_code == 0, shown.output
    assert "if the clock jitters" in " ".join(shown.output.split())


@pytest.mark.parametrize("every", [31, 35, 40, 60, 100, 333])
def test_logs_in_short_stretches_are_smoothed_or_refused_in_words(every: int) -> None:
    """The ends of a stretch are trimmed: nothing, not less than nothing, is left of a short one."""
    time = np.arange(1000) / 1000
    q = 1e-3 * np.sin(7.0 * time[:, None] + np.arange(2.0)) + 1e-5 * np.random.default_rng(1).standard_normal((1000, 2))
    log = Log("short", time, q, np.ones_like(q), starts=tuple(range(0, 1000, every)))
    try:
        smooth = smoothed(log)
    except InputError as error:
        says(str(error), "splines")
        return
    assert all(0 <= curve.inner.stop - curve.inner.start <= every for curve in smooth.curves)
    assert len(smooth.rows) == sum(curve.inner.stop - curve.inner.start for curve in smooth.curves) > 0
    assert [part.shape for part in smooth.curves[0].basis(np.zeros(0))] == [(0,), (0, 3, 6)]


def test_calibrate_plans_and_calibrates(tmp_path: Path) -> None:
    common = ("--parameters", "legs.*.base", "--parameters", "legs.*.platform")
    shown = polypod("calibrate", "hexapod", "--plan", 12, *common, "--out", tmp_path / "poses.csv")
    assert shown.exit_code == 0, shown.output
    says(shown.output, "42")
    # the machine is the file's own: measured where it was sent, it stays as it is
    shown = polypod("calibrate", "hexapod", tmp_path / "poses.csv", *common, "--out", tmp_path / "new.yaml", "--json")
    data = json.loads(shown.stdout)
    assert data["identifiable"] == 42
    old, new = pp.load("hexapod"), pp.load(tmp_path / "new.yaml")
    assert np.abs(np.array([leg.base for leg in new.legs]) - [leg.base for leg in old.legs]).max() < 1e-12
    neither = polypod("calibrate", "hexapod")
    assert neither.exit_code == 2
    assert "--plan COUNT" in neither.output
