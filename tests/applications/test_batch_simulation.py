"""Many runs in one call: every run is what it is alone, those that end are marked, what does not batch is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import polypod as pp
from polypod.control import ComputedTorque, JointComputedTorque, JointPD, Measurement, Springs, sampled_gains
from polypod.errors import InputError
from polypod.simulation import EnergyWarning, SimulationError, load_result, save_result
from support.refusals import names, refused, warned

Array = NDArray[np.float64]
ModelOf = Callable[[str], pp.Model]
ROBOTS = ["hexapod", *(pytest.param(name, marks=pytest.mark.long) for name in ("kim-ryu", "delta", "reachy-mini"))]
RUNS = 5


def near_home(model: pp.Model, spread: float = 0.005) -> Array:
    """Poses about home, moved by a part of the platform's size."""
    pose = np.repeat(model.robot.home.matrix[None], RUNS, axis=0)
    pose[:, :3, 3] += spread * model.robot.platform_size * np.random.default_rng(3).normal(size=(RUNS, 3))
    return pose


def holding(model: pp.Model) -> Array:
    home, still = model.robot.home.matrix, np.zeros(6)
    return np.asarray(model.inverse_dynamics(home, still, still, friction=False))


def assert_same_run(batch: xr.Dataset, run: int, alone: xr.Dataset) -> None:
    """All that was recorded of a run, to the bit, as long as it lasted."""
    rows = int(np.isfinite(batch.twist.values[run, :, 0]).sum())
    assert rows in (len(alone.time), len(alone.time) - 1)  # alone, the time of the end has a row
    for name in alone.data_vars:
        if "event" in name or "time" not in alone[name].dims or name == "joint_position":
            continue
        found = batch[name].values[run] if "run" in batch[name].dims else batch[name].values
        np.testing.assert_array_equal(found[:rows], alone[name].values[:rows], err_msg=name)
        if "run" in batch[name].dims:
            assert np.isnan(found[rows:]).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_every_run_of_a_batch_is_what_it_is_alone(name: str, model_of: ModelOf) -> None:
    """Constant forces and wrenches, some of which drive the robot to a limit; saturation and delay."""
    model = model_of(name)
    rng = np.random.default_rng(1)
    force = holding(model) * np.array([1.0, 1.05, 0.9, 0.2, 4.0])[:, None]
    wrench = 0.01 * np.abs(force).max() * rng.normal(size=(RUNS, 6))
    given: dict[str, Any] = {"duration": 0.3, "rate": 200, "delay": 0.003, "saturation": 1e4, "output": 0.01}
    pose = near_home(model)
    batch = pp.simulate(model, force, pose=pose, wrench=wrench, **given)
    ended = []
    for run in range(RUNS):
        try:
            alone = pp.simulate(model, force[run], pose=pose[run], wrench=wrench[run], **given)
        except SimulationError as error:
            alone = error.result  # type: ignore[assignment]
        assert str(batch.end_reason[run].item()) == alone.attrs["ended"]
        ended.append(float(batch.end_time[run]))
        assert ended[-1] == float(alone.time[-1])
        assert_same_run(batch, run, alone)
    assert min(ended) < 0.3 or name == "reachy-mini"  # whose geared motors hardly move under these forces


@pytest.mark.parametrize("kind", ["computed torque", "joints", "pd"])
def test_a_batch_of_closed_loops(kind: str, model_of: ModelOf) -> None:
    """Controllers of polypod are asked for all runs in one call, also those with memory; one run starts at a limit."""
    model = model_of("hexapod")
    path = pp.motion.make_task(model, "around-home").trajectory
    assert path is not None

    def controller() -> Any:
        if kind == "computed torque":
            return ComputedTorque(model, path)
        if kind == "joints":
            return JointComputedTorque(model, path, velocity="differences")
        return JointPD(model, path, *sampled_gains(model, path.at(0.0).pose, 1000.0))

    pose = np.repeat(path.at(0.0).pose[None], 3, axis=0)
    pose[1, 0, 3] += 1e-3
    pose[2, 2, 3] += 1.0
    batch = pp.simulate(model, controller(), pose=pose, duration=0.05, rate=1000)
    assert batch.attrs["ended"] != "duration reached"
    assert float(batch.end_time[2]) == 0
    assert np.isnan(batch.pose.values[2]).all()
    for run in range(2):
        assert_same_run(batch, run, pp.simulate(model, controller(), pose=pose[run], duration=0.05, rate=1000))
    assert float(np.abs(batch.error.values[0]).max()) < 1e-4  # PD lags; a tenth of what the other starts with
    assert float(np.abs(batch.error.values[1, -1]).max()) < 1e-3


def test_designs_beside_each_other(model_of: ModelOf) -> None:
    """Masses of the platform by designs: the robot written anew with them does the same; no robot is marked."""
    model = model_of("hexapod")
    factor = np.array([1.0, 1.5, -1.0, 0.7])
    mass = model.robot.platform.mass * factor
    springs = Springs(2e5, model.inverse_kinematics(model.robot.home.matrix), 50.0, holding(model))
    batch = pp.simulate(model, springs, duration=0.05, rate=1000, parameters={"platform.mass": mass})
    assert float(batch.end_time[2]) == 0
    assert names(str(batch.end_reason[2].item()), "platform", mass[2])
    assert np.isnan(batch.q.values[2]).all()
    for run in (0, 1, 3):
        robot = model.robot.with_({"platform.mass": mass[run]})
        alone = pp.simulate(pp.Model(robot), springs, duration=0.05, rate=1000)
        for name in ("pose", "q", "energy_kinetic", "work_actuators"):
            one = alone[name].values
            np.testing.assert_allclose(batch[name].values[run], one, rtol=0, atol=1e-11 * np.abs(one).max())
    np.testing.assert_array_equal(batch["platform.mass"].values, mass)
    again = pp.simulate(model, springs, duration=0.05, rate=1000, parameters={"platform.mass": mass[1]})
    np.testing.assert_array_equal(again.q.values, batch.q.values[1])


def test_axes_of_states_and_designs_broadcast(model_of: ModelOf, tmp_path: Path) -> None:
    """Designs (3, 1) at poses (2,): a table of runs, whose energies add up; it is kept in a file."""
    model = model_of("hexapod")
    mass = model.robot.platform.mass * np.array([[0.8], [1.0], [1.2]])
    pose = near_home(model)[:2]
    table = pp.simulate(
        model, holding(model), pose=pose, duration=0.1, rate=500, output=0.02, parameters={"platform.mass": mass}
    )
    assert table.pose.dims[:3] == ("run_1", "run_2", "time")
    assert table.pose.shape[:3] == (3, 2, 6)
    exchanged = np.abs(table.work_actuators.values).max()
    assert np.abs(table.energy_residual.values).max() < 1e-9 * exchanged
    flat = pp.simulate(
        model, holding(model), pose=np.tile(pose, (3, 1, 1)), duration=0.1, rate=500, output=0.02,
        parameters={"platform.mass": np.repeat(mass[:, 0], 2)},
    )  # fmt: skip
    np.testing.assert_array_equal(table.pose.values.reshape(flat.pose.shape), flat.pose.values)
    save_result(table, tmp_path / "table.nc")
    xr.testing.assert_identical(load_result(tmp_path / "table.nc").pose, table.pose)


def test_a_function_sees_all_runs_and_may_lose_one(model_of: ModelOf) -> None:
    """A run whose force is not a number ends; the others go on, and the measurement keeps its shape."""
    model = model_of("hexapod")
    seen = []

    def force(time: float, measurement: Measurement) -> Array:
        seen.append((measurement.q.shape, bool(np.isfinite(measurement.q).all())))
        given = np.tile(holding(model), (2, 2, 1))
        if time > 0.0045:
            given[0, 1, 3] = np.nan
        return given

    found = pp.simulate(model, force, twist=np.zeros((2, 2, 6)), duration=0.01, rate=1000)
    assert set(seen) == {((2, 2, 6), True)}
    assert float(found.end_time[0, 1]) == 0.005
    assert names(str(found.end_reason[0, 1].item()), "force nan leg4")
    assert np.isfinite(found.q.values[1]).all()
    assert np.isnan(found.q.values[0, 1, 5:]).all()


def test_steps_that_are_too_long_are_told(model_of: ModelOf) -> None:
    """Of two runs the one that tumbles: 0.6 rad a step."""
    model = model_of("hexapod")
    twist = np.zeros((2, 6))
    twist[1, 5] = 30.0
    given: dict[str, Any] = {"duration": 0.06, "rate": 50, "step": 0.02}
    with warned(EnergyWarning, "1 2 runs"):
        pp.simulate(model, holding(model), twist=twist, events={"limit": "ignore", "singularity": "ignore"}, **given)


@pytest.mark.parametrize(
    ("given", "data", "code"),
    [
        (
            {"pose": np.tile(np.eye(4), (2, 1, 1)), "force": np.zeros((3, 6))},
            "pose (2, 4, 4) force (3, 6)",
            "batch_axes",
        ),
        (
            {"twist": np.zeros((2, 6)), "parameters": {"platform.mass": [1.0, 2.0, 3.0]}},
            "parameters (3,) (2,)",
            "batch_axes",
        ),
        ({"force": np.zeros((2, 5))}, "force (..., 6) (2, 5)", None),
        ({"force": np.full((2, 6), np.nan)}, "force nan", None),
        ({"force": np.zeros((0, 6))}, "(0,)", None),
        ({"force": np.zeros((2, 6)), "method": "DOP853"}, "method RK4 DOP853", "batch"),
        ({"force": np.zeros((2, 6)), "wrench": lambda t, m: np.zeros(6)}, "wrench", "batch"),
        ({"force": np.zeros((2, 6)), "observe": print}, "observe", "batch"),
        ({"force": np.zeros((2, 6)), "breaks": [0.1]}, "breaks", "batch"),
        ({"force": np.zeros((2, 6)), "events": {"overload": "stop"}}, "overload stop", "batch"),
        ({"force": np.zeros((2, 6)), "events": {"limit": "log"}}, "limit log", "batch"),
        ({"force": lambda t, m: np.zeros(6), "twist": np.zeros((2, 6))}, "rate", None),
        ({"force": np.zeros((100_000, 6))}, "output 100000", None),
    ],
)
def test_what_does_not_batch_is_refused(given: dict[str, Any], data: str, code: str | None, model_of: ModelOf) -> None:
    with refused(InputError, data, **({"code": code} if code else {})):
        pp.simulate(model_of("hexapod"), duration=0.2, **given)


def test_a_force_of_another_shape_is_refused(model_of: ModelOf) -> None:
    with refused(SimulationError, "force (2, 6) (3, 6)"):
        pp.simulate(model_of("hexapod"), lambda t, m: np.zeros((3, 6)), twist=np.zeros((2, 6)), duration=0.1, rate=100)
