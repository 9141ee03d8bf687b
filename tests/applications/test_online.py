"""Online motion: jerk-limited motions against Ruckig and closed forms, limits by brute force, the same in C."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.fastest import Limits
from polypod.online import OnlineMotion, actuator_ranges
from support.refusals import refused
from support.states import mostly_long
from test_export_status import INVALID_INPUT, NOT_CONVERGED, OK, Exported

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")


def random_states(count: int, axes: int, seed: int) -> dict[str, np.ndarray]:
    """States within limits, and from which these need not be exceeded; some at rest, some without acceleration."""
    rng = np.random.default_rng(seed)
    shape = (count, axes)
    limits = {name: 10 ** rng.uniform(-1, 1, shape) for name in ("speed", "acceleration", "jerk")}
    v = limits["speed"] * rng.uniform(-1, 1, shape)
    a = limits["acceleration"] * rng.uniform(-1, 1, shape)
    kind = rng.integers(0, 4, shape)
    a, v = np.where(kind == 0, 0.0, a), np.where(kind == 1, 0.0, v)
    a = np.where(np.abs(v + a * np.abs(a) / (2 * limits["jerk"])) > limits["speed"], 0.0, a)
    x = rng.normal(size=shape) * 10 ** rng.uniform(-2, 1, shape)
    return {"x": x, "v": v, "a": a, "target": rng.normal(size=shape), **limits}


def ruckig_durations(given: dict[str, np.ndarray]) -> np.ndarray:
    """Durations of Ruckig, NaN where it gives up."""
    ruckig = pytest.importorskip("ruckig")
    found = []
    for k in range(len(given["x"])):
        task = ruckig.InputParameter(given["x"].shape[1])
        task.current_position, task.current_velocity = given["x"][k].tolist(), given["v"][k].tolist()
        task.current_acceleration, task.target_position = given["a"][k].tolist(), given["target"][k].tolist()
        task.max_velocity, task.max_acceleration = given["speed"][k].tolist(), given["acceleration"][k].tolist()
        task.max_jerk = given["jerk"][k].tolist()
        trajectory = ruckig.Trajectory(len(task.max_jerk))
        try:
            ruckig.Ruckig(len(task.max_jerk)).calculate(task, trajectory)
            found.append(trajectory.duration)
        except ruckig.RuckigError:
            found.append(np.nan)
    return np.array(found)


def planned(given: dict[str, np.ndarray], k: int) -> tuple[OnlineMotion, tuple[np.ndarray, ...]]:
    motion = OnlineMotion(given["speed"][k], given["acceleration"][k], given["jerk"][k])
    return motion, (given["x"][k], given["v"][k], given["a"][k])


@pytest.mark.parametrize(("count", "axes", "seed"), [(4000, 1, 1), (500, 3, 2), (300, 6, 3)])
def test_durations_are_those_of_ruckig(count: int, axes: int, seed: int) -> None:
    given = random_states(count, axes, seed)
    theirs = ruckig_durations(given)
    ours = np.array(
        [planned(given, k)[0].plan(planned(given, k)[1], given["target"][k]).duration for k in range(count)]
    )
    assert np.isfinite(theirs).mean() > 0.99
    assert np.nanmax(np.abs(ours - theirs) / theirs) < 1e-9


def test_beyond_limits_it_is_not_slower_than_ruckig() -> None:
    """States that exceed limits: both come back within them first, Ruckig's way may be longer."""
    given = random_states(1000, 1, 4)
    given["a"] = 1.5 * given["acceleration"] * np.sign(given["a"] + 0.5)
    theirs = ruckig_durations(given)
    ours = np.array([planned(given, k)[0].plan(planned(given, k)[1], given["target"][k]).duration for k in range(1000)])
    some = np.isfinite(theirs)
    assert some.mean() > 0.9
    assert ((ours - theirs)[some] <= 1e-9 * theirs[some]).all()


@pytest.mark.parametrize("axes", [1, 4])
def test_limits_hold_at_every_instant_and_all_axes_arrive_together(axes: int) -> None:
    """Samples of position, speed and acceleration that belong together, by Taylor's remainder of the largest jerk."""
    given = random_states(200, axes, 5)
    for k in range(200):
        motion, state = planned(given, k)
        plan = motion.plan(state, given["target"][k])
        t = np.linspace(0.0, plan.duration, 301)
        x, v, a = plan.at(t)[:3]
        h, jerk = t[1], given["jerk"][k]
        assert np.allclose([x[0], v[0], a[0]], state, rtol=1e-14, atol=1e-13)
        assert np.array_equal(x[-1], given["target"][k])
        assert not np.concatenate([v[-1], a[-1]]).any()
        assert (np.abs(v) <= given["speed"][k] * (1 + 1e-12)).all()
        assert (np.abs(a) <= given["acceleration"][k] * (1 + 1e-12)).all()
        assert (np.abs(np.diff(a, axis=0)) <= jerk * h * (1 + 1e-9) + 1e-13).all()
        assert (np.abs(np.diff(v, axis=0) - a[:-1] * h) <= jerk * h**2 / 2 * (1 + 1e-9) + 1e-13).all()
        remainder = np.diff(x, axis=0) - v[:-1] * h - a[:-1] * h**2 / 2
        assert (np.abs(remainder) <= jerk * h**3 / 6 * (1 + 1e-6) + 1e-12).all()


def test_from_rest_to_rest_in_closed_form() -> None:
    """Seven phases, without a highest speed, without either: durations of textbooks."""
    axis = OnlineMotion(1.0, 2.0, 10.0)
    rest = ([0.0], [0.0], [0.0])
    assert axis.plan(rest, [4.0]).duration == pytest.approx(4 / 1 + 1 / 2 + 2 / 10, rel=1e-14)
    assert axis.plan(rest, [-1e-3]).duration == pytest.approx((32 * 1e-3 / 10) ** (1 / 3), rel=1e-12)
    a, j, d = 2.0, 10.0, 0.5
    assert axis.plan(rest, [d]).duration == pytest.approx(a / j + np.sqrt((a / j) ** 2 + 4 * d / a), rel=1e-12)
    assert axis.plan(rest, [0.0]).duration == 0.0


def test_cycle_by_cycle_is_the_plan() -> None:
    """Planned anew every millisecond the motion ends when the first plan ends, and stays."""
    motion = OnlineMotion([0.3, 0.2], [2.0, 5.0], [50.0, 30.0])
    state, target = ([0.0, 0.1], [0.1, -0.1], [0.5, 0.0]), [0.2, -0.1]
    duration = motion.plan(state, target).duration
    now, cycles = state, int(np.ceil(duration / 1e-3))
    for _ in range(cycles):
        now = motion.step(now[:3], target, 1e-3)
    assert np.allclose(now.q, target, atol=1e-12)
    assert np.abs(motion.step(now[:3], target, 1e-3).qdot).max() < 1e-9


def test_a_target_that_moves_is_followed() -> None:
    """In the frame of the target it is one at rest, with other limits of speed; then the axis moves with it."""
    motion = OnlineMotion([1.0], [2.0], [20.0])
    plan = motion.plan(([0.0], [0.0], [0.0]), [0.5], [0.3])
    later = plan.at(plan.duration + 0.7)
    assert later.q == pytest.approx([0.5 + 0.3 * (plan.duration + 0.7)], rel=1e-14)
    assert later.qdot == pytest.approx([0.3])
    assert np.abs(plan.at(np.linspace(0, plan.duration, 1001)).qdot).max() <= 1.0 + 1e-12
    with refused(InputError, "max_speed"):
        motion.plan(([0.0], [0.0], [0.0]), [0.5], [1.2])


@pytest.mark.parametrize(("jerk", "part"), [(None, 1e-3), pytest.param(200.0, 0.06, marks=pytest.mark.long)])
def test_the_fastest_motion_offline_is_as_short(jerk: float | None, part: float) -> None:
    """Another method, along a path: without a limit of the jerk (online a huge one), and with one (within the few
    percent by which ``fastest`` with a jerk is not the shortest); never shorter."""
    model = pp.Model("hexapod")
    home = model.robot.home.matrix
    start = np.asarray(model.inverse_kinematics(home))
    end = start + 0.03
    poses = model.forward_kinematics(np.stack([start, end]), home, along=True)
    path = pp.motion.Poses.through(poses, [0.0, 1.0])
    given = {"force": 1e6, "speed": 0.25, "acceleration": 2.0}
    offline = pp.fastest.fastest(model, path, Limits(**given, jerk=jerk)).duration
    motion = OnlineMotion.of_actuators(model, Limits(**given, jerk=jerk or 1e6))
    online = motion.plan((start, 0 * start, 0 * start), end).duration
    assert online <= offline * (1 + 1e-4)
    assert online == pytest.approx(offline, rel=part)


def test_targets_outside_their_range_are_taken_to_its_end() -> None:
    model = pp.Model("hexapod")
    motion = OnlineMotion.of_actuators(model, Limits(acceleration=2.0, jerk=50.0))
    q = np.asarray(model.inverse_kinematics(model.robot.home.matrix))
    plan = motion.plan((q, 0 * q, 0 * q), [0.6, *q[1:]])
    assert plan.outside == pytest.approx([0.07, 0, 0, 0, 0, 0])
    assert plan.at(plan.duration).q[0] == 0.53


@pytest.mark.parametrize("name", mostly_long(["hexapod", "delta", "kim-ryu", "screw-hexapod"], ["delta"]))
def test_ranges_are_those_of_actuated_coordinates(name: str) -> None:
    """Of a screw's nut the range is one of its travel, not of its motor."""
    model = pp.Model(name)
    low, high = actuator_ranges(model)
    stated = {"hexapod": (0.37, 0.53), "delta": (np.deg2rad(-50), np.deg2rad(80)), "kim-ryu": (0.0, 0.7)}
    expected = stated.get(name, (-np.inf, np.inf))
    assert low == pytest.approx(expected[0])
    assert high == pytest.approx(expected[1], rel=1e-4)


def test_bad_limits_and_states_are_refused() -> None:
    with refused(InputError, "max_jerk 0"):
        OnlineMotion([1.0], [1.0], [0.0])
    with refused(InputError, "limits"):
        OnlineMotion([1.0, 1.0], [1.0, 1.0, 1.0], [1.0])
    with refused(InputError, "lowest highest"):
        OnlineMotion([1.0], [1.0], [1.0], [2.0], [1.0])
    with refused(InputError, "leg1"):
        OnlineMotion.of_actuators(pp.Model("hexapod"), Limits(jerk=50.0))
    axis = OnlineMotion([1.0], [1.0], [1.0])
    with refused(InputError, "qdot"):
        axis.step(([0.0], [np.nan], [0.0]), [1.0], 1e-3)
    with refused(InputError, "time"):
        axis.step(([0.0], [0.0], [0.0]), [1.0], -1e-3)


@needs_compiler
@pytest.mark.parametrize("precision", mostly_long(["double", "float"], ["double"]))
def test_the_same_in_c(tmp_path: Path, precision: str) -> None:
    model = pp.Model("five-bar")
    step = Exported(tmp_path, model, "online_step", precision=precision)
    given = random_states(300, 2, 6)
    for k in range(300):
        motion, state = planned(given, k)
        plan = motion.plan(state, given["target"][k])
        time = 0.4 * plan.duration
        arrays = dict(zip(("q", "qdot", "qddot"), state, strict=True), target=given["target"][k], time=time)
        arrays |= {f"max_{name}": given[name][k] for name in ("speed", "acceleration", "jerk")}
        status, found = step(**arrays, lowest=-np.inf, highest=np.inf)
        assert status == OK
        expected = plan.at(time)
        part = 1e-12 if precision == "double" else 3e-3
        assert found["duration"] == pytest.approx([plan.duration], rel=1e-12 if precision == "double" else 1e-4)
        scale = np.abs(given["target"][k] - state[0]).max() + 1.0
        assert np.abs(found["q_found"] - expected.q).max() <= part * scale
    status, _ = step(**{**arrays, "max_jerk": [1.0, 0.0]}, lowest=-1, highest=1)
    assert status == INVALID_INPUT
    status, _ = step(**{**arrays, "qdot": [np.nan, 0.0]}, lowest=-1, highest=1)
    assert status == INVALID_INPUT
    status, _ = step(**arrays, target_velocity=[100.0, 0.0], lowest=-1, highest=1)
    assert status == NOT_CONVERGED
