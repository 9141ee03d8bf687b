"""``polypod simulate``: what it says of simulations that end early or shake, and the wrench of a motion file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import polypod as pp
from polypod.control import CONTROLLERS
from polypod.control.registry import ControllerKind
from polypod.files.templates import template
from polypod.results.simulated import tracking_summary, write_simulation
from polypod.simulation import load_result, simulate_tracking
from polypod.simulation.result import LARGE_ERROR, LARGE_FORCE, remarks
from support.command_line import polypod
from support.refusals import says


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("robots") / "hexapod.yaml"
    path.write_text(template("robot", "hexapod"), encoding="utf-8")
    return path


def motion(folder: Path, height: float, wrench: str = "", time: float = 0.5) -> Path:
    """Up and turned, from home, in a time, then at rest for as long."""
    path = folder / "rise.yaml"
    path.write_text(
        "name: rise\ntrajectory:\n  kind: poses\n  relative_to: home\n  poses:\n"
        "  - {time: 0.0, position: [0.0, 0.0, 0.0]}\n"
        f"  - {{time: {time}, position: [0.0, 0.0, {height}], angles: [0.2, 0.1, 0.1]}}\n"
        f"  - {{time: {2 * time}, position: [0.0, 0.0, {height}], angles: [0.2, 0.1, 0.1]}}\n{wrench}",
        encoding="utf-8",
    )
    return path


# -- how far it came ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_limit_ends_it_with_an_error_and_the_results_are_kept(robot: Path, tmp_path: Path) -> None:
    up = str(motion(tmp_path, 0.3))
    done = polypod("simulate", robot, up, "--out", tmp_path / "out")
    assert done.exit_code == 2
    first, second = done.stdout.splitlines()[:2]
    assert first == "hexapod on rise: computed-torque at 1000 Hz, with friction"
    kept = load_result(tmp_path / "out" / "simulation.nc")
    end = float(kept.time[-1])
    assert 0.1 < end < 0.5
    assert second.startswith(f"Stopped after {end:.3g} of 1 s ({100 * end:.0f} %): limit at t = ")
    assert "length reaches 0.85 m" in second
    # the longest leg at the end of the record, from the pose and the robot file alone
    pose = kept.pose.values[-1]
    legs = pp.load(robot).legs
    lengths = [np.linalg.norm(pose[:3, :3] @ leg.platform + pose[:3, 3] - leg.base) for leg in legs]
    assert max(lengths) == pytest.approx(0.85, abs=1e-9)
    assert f"error: the simulation stopped after {end:.3g} of 1 s" in done.stderr
    assert "Largest error" in done.stdout
    other = polypod("simulate", robot, up, "--set", "platform.mass=51", "--out", tmp_path / "out")
    assert other.exit_code == 2
    says(other.stderr, "set ['platform.mass=51']")


def test_a_controller_needs_only_its_steps(robot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that knows no motion, and only holds the robot at home, is as far off as the motion goes."""
    home = pp.load(robot).home.matrix

    def follow(model: pp.Model, *_: Any) -> Any:
        hold = model.inverse_dynamics(home, np.zeros(6), np.zeros(6), friction=False)
        return lambda time, measurement: hold

    monkeypatch.setitem(CONTROLLERS, "hold", ControllerKind(follow))
    facts = tracking_summary(
        simulate_tracking(pp.Model(robot), motion(tmp_path, 0.02, time=0.05), "hold", friction=False)
    )
    assert facts["largest_position_error_m"] == pytest.approx(0.02, rel=0.2)


@pytest.mark.long
def test_json_says_what_was_simulated(robot: Path, tmp_path: Path) -> None:
    short = polypod("simulate", robot, motion(tmp_path, 0.3), "--json", "--no-friction", "--controller", "joint-pd")
    assert short.exit_code == 2
    facts = json.loads(short.stdout)
    assert (facts["robot"], facts["motion"], facts["controller"]) == ("hexapod", "rise", "joint-pd")
    assert (facts["rate"], facts["duration_s"], facts["completed"]) == (1000.0, 1.0, False)
    assert facts["friction"] is False
    assert 0 < facts["simulated_s"] < 0.5
    whole = polypod("simulate", robot, motion(tmp_path, 0.02), "--json", "--rate", "500")
    assert whole.exit_code == 0
    facts = json.loads(whole.stdout)
    assert (facts["completed"], facts["simulated_s"], facts["rate"]) == (True, 1.0, 500.0)
    assert facts["controller"] == "computed-torque"
    assert facts["notes"] == []
    # what the motion needs is what the inverse dynamics gives, and a good controller gives no more
    for leg, peak in facts["largest_force_N"].items():
        assert peak == pytest.approx(facts["needed_force_N"][leg], rel=0.02)


@pytest.mark.long
def test_events_are_counted_by_kind() -> None:
    done = polypod("simulate", "kim-ryu", "kim-ryu-circle")
    assert done.exit_code == 0
    lines = [line for line in done.stderr.splitlines() if "reversal" in line]
    facts = json.loads(polypod("simulate", "kim-ryu", "kim-ryu-circle", "--json").stdout)
    times = [event["time"] for event in facts["events"] if event["kind"] == "reversal"]
    assert len(times) > 1
    assert lines == [
        f"note: reversal, {len(times)} times, first at t = {min(times):.6g} s: {facts['events'][0]['leg']}: "
        "the actuator changes direction and its friction changes sign"
    ]


# -- against what the motion needs -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(robot: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return simulate_tracking(pp.Model(robot), str(motion(tmp_path_factory.mktemp("motions"), 0.02)))


def test_needed_forces_are_those_of_a_study(good: Any, robot: Path, tmp_path: Path) -> None:
    model = pp.Model(robot)
    moved = pp.motion.load_motion(motion(tmp_path, 0.02)).task(model, 200.0).motion
    force = model.inverse_dynamics(moved.pose, moved.twist, moved.acceleration)
    # the times of the samples differ: at 200 a second a peak is known to some 1e-4
    np.testing.assert_allclose(good.needed_force.values, np.abs(force).max(axis=0), rtol=1e-3)


def test_large_errors_and_forces_are_remarked(good: Any) -> None:
    size = np.mean([np.linalg.norm(leg.platform) for leg in pp.loads(good.attrs["robot_file"]).legs])
    assert remarks(good) == []
    for part, limit in ((slice(0, 1), LARGE_ERROR * size), (slice(3, 4), LARGE_ERROR)):
        for factor, count in ((0.99, 0), (1.01, 1)):
            error = np.zeros_like(good.error.values)
            error[7, part] = factor * limit
            assert len(remarks(good.assign(error=(("time", "component"), error)))) == count
    needed = float(good.needed_force.max())
    for factor, count in ((0.99, 0), (1.01, 1)):
        force = good.force.copy(deep=True)
        force.values[7, 2] = -factor * LARGE_FORCE * needed
        lines = remarks(good.assign(force=force))
        assert len(lines) == count
    assert lines[0].startswith("Control forces are excessive: up to ")
    assert f"needs at most {needed:.4g} N" in lines[0]


def test_advice(good: Any) -> None:
    off = good.assign(error=good.error + 1.0)
    assert tracking_summary(off)["notes"][-1] == "Try another controller=, or a higher rate= than 1000."
    other = off.assign_attrs(controller="joint-pd")
    assert tracking_summary(other)["notes"][-1].startswith("Try controller='computed-torque', or")
    assert "raise saturation=" in tracking_summary(off, saturation=1.0)["notes"][-1]


@pytest.mark.long
def test_a_controller_that_shakes_a_flexible_platform_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "bendy.yaml"
    path.write_text(template("robot", "bendy", "flexible"), encoding="utf-8")
    shaken = polypod("simulate", path, "--controller", "computed-torque")  # feedback of the pose, through what bends
    says(shaken.stderr, "forces")
    says(shaken.stderr, "--controller joint-computed-torque --rate 1000")
    calm = polypod("simulate", path)
    assert calm.exit_code == 0
    assert "note" not in calm.stderr


# -- the motion's wrench -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pytest.param("base", marks=pytest.mark.long), "platform"])
def test_the_wrench_of_a_motion_pushes(robot: Path, tmp_path: Path, frame: str) -> None:
    """A constant force at a point off the origin: by hand from the simulated pose, and in balance at rest."""
    force, point = np.array([40.0, -30.0, -60.0]), np.array([0.1, 0.05, 0.2])
    wrench = f"wrench:\n  value: [40, -30, -60, 0, 0, 0]\n  frame: {frame}\n  point: [0.1, 0.05, 0.2]\n"
    pushed = simulate_tracking(pp.Model(robot), str(motion(tmp_path, 0.02, wrench)))
    free = simulate_tracking(pp.Model(robot), str(motion(tmp_path, 0.02)))
    axes = pushed.pose.values[:-1, :3, :3]
    along = axes @ force if frame == "platform" else np.tile(force, (len(axes), 1))
    moment = np.cross(axes @ point, along)
    assert np.abs(axes[-1] - np.eye(3)).max() > 0.1  # turned, so that the frames differ
    np.testing.assert_allclose(pushed.wrench.values[:-1], np.hstack([along, moment]), rtol=1e-12, atol=1e-12)
    assert not free.wrench.values.any()
    # at rest at the end the actuators bear what pushes: J^T (f - f0) = -w, but for the error that raises the forces
    model = pp.Model(robot)
    share = model.jacobian(pushed.pose.values[-2]).T @ (pushed.force.values[-2] - free.force.values[-2])
    np.testing.assert_allclose(share, -pushed.wrench.values[-2], atol=0.01 * np.abs(pushed.wrench.values[-2]).max())
    # work of what pushes, by the trapezoidal rule over the simulated twist
    power = (pushed.wrench.values * pushed.twist.values).sum(axis=1)
    work = trapezoid(power, pushed.time.values)
    assert float(pushed.work_external[-1]) == pytest.approx(work, rel=1e-3)
    assert float(np.abs(pushed.energy_residual).max()) < 1e-6 * abs(work)
    assert tracking_summary(pushed)["wrench"] is True
    assert tracking_summary(free)["wrench"] is False


@pytest.mark.long
def test_a_wrench_over_time_is_asked_for_at_its_time(robot: Path, tmp_path: Path) -> None:
    wrench = "wrench:\n  times: [0.0, 1.0]\n  values: [[0, 0, 0, 0, 0, 0], [0, 0, -80, 0, 0, 4]]\n"
    pushed = simulate_tracking(pp.Model(robot), str(motion(tmp_path, 0.02, wrench)))
    wanted = pushed.time.values[:-1, None] * [0, 0, -80.0, 0, 0, 4.0]
    np.testing.assert_allclose(pushed.wrench.values[:-1], wanted, rtol=1e-12, atol=1e-12)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_progress_tells_every_frame(good: Any, tmp_path: Path) -> None:
    lines: list[str] = []
    write_simulation(good, tmp_path / "out", film="gif", progress=lines.append)
    frames = [text for text in lines if "frame" in text]
    assert frames == [f"animation, frame {k} of 21" for k in range(1, 22)]
    assert lines.index("figure tracking") < lines.index(frames[0])
