"""One labelled result for studies and simulations: the same names, dimensions and units, those of each actuator."""

from __future__ import annotations

import csv
import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polypod as pp
import polypod.datasets as datasets
from polypod.datasets import COMPONENTS, QUANTITIES
from polypod.files.templates import template
from polypod.motion import Task, make_task
from polypod.results import actuators, load_result, reactions, robot_of, save_result, study, summary
from polypod.results.figures import FIGURES, SIMULATION_FIGURES, figures
from polypod.results.report import write_results
from support.command_line import polypod
from support.compare import assert_close
from support.refusals import refused
from support.robots.rotary import hexa, mixed


@pytest.fixture(scope="module")
def cranks() -> pp.Model:
    return pp.Model(hexa())


@pytest.fixture(scope="module")
def turning(cranks: pp.Model) -> xr.Dataset:
    return study(cranks, make_task(cranks, rate=20.0), certify=False)


@pytest.fixture(scope="module")
def simulated(cranks: pp.Model) -> xr.Dataset:
    return pp.simulate(cranks, np.zeros(6), duration=0.01, rate=1000.0)


def test_motors_are_sized_in_their_own_units(turning: xr.Dataset, tmp_path: Path) -> None:
    """A crank's drive gives a torque and turns: no table, file or figure may say newtons or metres a second."""
    units = {column.name: column.unit for column in actuators(turning).columns}
    assert units["peak force"] == units["rms force"] == "N m"
    assert units["peak speed"] == "rad/s"
    assert units["peak acceleration"] == "rad/s^2"
    assert units["stroke"] == "rad"
    assert units["peak power"] == "W"
    assert "peak_force_N_m" in summary(turning)
    assert "peak_force_N" not in summary(turning)
    for name, unit in {"q": "rad", "qdot": "rad/s", "qddot": "rad/s^2", "force": "N m", "force_part": "N m"}.items():
        assert turning[name].attrs["units"] == unit, name
    write_results(turning, tmp_path / "out")
    forces = next(csv.reader((tmp_path / "out" / "forces.csv").read_text().splitlines()))
    assert forces == ["time [s]", *(f"leg{k} [N m]" for k in range(1, 7))]
    assert "N m in leg" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    drawn = {name: figure for name, _, figure in figures(turning)}
    assert drawn["forces"].axes[0].get_ylabel() == "actuator torque [N m]"
    assert drawn["speeds"].axes[0].get_ylabel() == "actuator speed [deg/s]"
    assert drawn["shares"].axes[0].get_ylabel() == "torque [N m]"


def test_power_is_force_times_rate_in_any_unit(cranks: pp.Model) -> None:
    """Without friction the motors' work is the change of energy."""
    model = cranks
    task = make_task(model, rate=400.0)
    result = study(model, task, friction=False, certify=False)
    energy = sum(model.energy(result.pose.values, result.twist.values))
    work = np.trapezoid(result.power.values.sum(axis=1), result.time.values)
    middle = len(result.time) // 2
    partial = np.trapezoid(result.power.values.sum(axis=1)[: middle + 1], result.time.values[: middle + 1])
    # trapezoids at 400 samples per second of powers that change within 0.5 s
    scale = np.trapezoid(np.abs(result.power.values).sum(axis=1), result.time.values)
    assert abs(work - (energy[-1] - energy[0])) < 1e-4 * scale
    assert abs(partial - (energy[middle] - energy[0])) < 1e-4 * scale


@pytest.mark.long
def test_a_robot_of_both_kinds_names_the_units_of_each() -> None:
    model = pp.Model(mixed())
    result = study(model, make_task(model, rate=20.0), certify=False)
    assert result.actuator_unit.values.tolist() == ["rad"] * 5 + ["m"]
    assert result.force_unit.values.tolist() == ["N m"] * 5 + ["N"]
    assert result.force.attrs["units"] == "N m or N"
    rows = actuators(result).records()
    assert [(row["unit"], row["force_unit"]) for row in rows] == [("rad", "N m")] * 5 + [("m", "N")]
    peaks = summary(result)
    force = np.abs(result.force.values).max(axis=0)
    assert peaks["peak_force_N"] == force[5]
    assert peaks["peak_force_N_m"] == force[:5].max()
    assert set(dict(figures_of(result))) == set(FIGURES) - {"bending"}


def figures_of(result: xr.Dataset) -> list[tuple[str, str]]:
    return [(name, caption) for name, caption, _ in figures(result)]


def test_studies_and_simulations_are_labelled_alike(turning: xr.Dataset, simulated: xr.Dataset) -> None:
    shared = set(turning.variables) & set(simulated.variables)
    assert {"pose", "twist", "wrench", "q", "qdot", "force", "time", "actuator", "component", "leg"} - shared <= {
        "wrench"
    }
    for name in shared:
        assert turning[name].dims == simulated[name].dims, name
        assert turning[name].attrs == simulated[name].attrs, name
    assert turning.twist.dims == ("time", "component")
    assert turning.component.values.tolist() == list(COMPONENTS)
    for result in (turning, simulated):
        assert set(result.data_vars) <= set(QUANTITIES)
        assert robot_of(result) == hexa()
        assert {"robot", "conventions", "robot_file", "polypod_version", "friction"} <= set(result.attrs)


def test_a_robot_is_written_once_for_all_its_results(simulated: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    model = pp.Model(robot_of(simulated))
    first = pp.simulate(model, duration=1e-3, rate=1000.0)
    monkeypatch.setattr("polypod.datasets.dumps", None)  # whoever calls it fails
    assert pp.simulate(model, duration=1e-3, rate=1000.0).attrs["robot_file"] == first.attrs["robot_file"]


def test_results_are_made_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots are remembered for all of them; one thread changed the list while another read it."""
    monkeypatch.setattr(datasets, "_robots", {})
    monkeypatch.setattr(datasets, "dumps", lambda robot: str(id(robot)))
    monkeypatch.setattr(datasets, "_MAX_ROBOTS", 500)  # long to read
    robots = [pp.Robot.model_construct() for _ in range(2000)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda k: [datasets._robot_text(robot) for robot in robots[k::4]], range(4)))
    finally:
        sys.setswitchinterval(before)
    assert parts == [[str(id(robot)) for robot in robots[k::4]] for k in range(4)]
    assert len(datasets._robots) == 500


def test_results_come_back_from_files(turning: xr.Dataset, simulated: xr.Dataset, tmp_path: Path) -> None:
    for name, result in (("study.nc", turning), ("simulation.nc", simulated)):
        xr.testing.assert_identical(load_result(save_result(result, tmp_path / name)), result)


def test_figures_are_drawn_from_a_file(turning: xr.Dataset, simulated: xr.Dataset, tmp_path: Path) -> None:
    """Whoever has results.nc has all that a figure asks for."""
    again = load_result(save_result(turning, tmp_path / "results.nc"))
    assert figures_of(again) == figures_of(turning)
    names = [name for name, _, _ in figures(simulated, SIMULATION_FIGURES)]
    assert names == ["forces", "energies"]  # no reference, a rigid platform


@pytest.mark.long
def test_commands_print_the_units_of_motors(tmp_path: Path) -> None:
    file = tmp_path / "hexa.yaml"
    pp.save(hexa(), file)
    shown = polypod("run", file, "--rate", "20", "--no-files", "--no-certify")
    assert shown.exit_code == 0, shown.output
    assert "N m" in shown.stdout
    assert "deg/s" in shown.stdout
    data = json.loads(polypod("show", file, "--no-draw", "--json").stdout)
    assert [actuator["unit"] for actuator in data["actuators"]] == ["rad"] * 6
    printed = polypod("show", file, "--no-draw").stdout
    assert "rad, condition number" in printed


# --- a flexible platform -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bendy() -> pp.Model:
    return pp.Model(pp.loads(template("robot", "bendy", "flexible").replace("modes: 6 #", "modes: 2 #")))


@pytest.mark.long
def test_study_of_a_robot_that_bends(bendy: pp.Model) -> None:
    """Parts add up, power is that of the deformed robot, the reactions carry its weight."""
    task = make_task(bendy, rate=100.0)
    result = study(bendy, task, friction=False, certify=False)
    assert result.part.values.tolist()[-1] == "bending"
    assert_close(result.force_part.values.sum(axis=0)[None], result.force.values[None], 1e-12)
    assert robot_of(result).flexible
    assert result.attrs["vibration"] == "yes"
    assert result.deflection.shape == (len(task.time), 6, 3)
    # work of the actuators = change of all energies + what damping takes
    at = {"elastic": result.elastic.values, "elastic_rate": result.elastic_rate.values}
    energy = np.sum(bendy.energy(task.motion.pose, task.motion.twist, **at), axis=0)
    damped = (bendy.modes.generalized_damping * at["elastic_rate"] ** 2).sum(axis=1)
    balance = np.trapezoid(result.power.values.sum(axis=1) - damped, task.time) - (energy[-1] - energy[0])
    # trapezoids at 100 samples per second of powers that change within 0.5 s
    assert abs(balance) < 2e-3 * np.trapezoid(np.abs(result.power.values).sum(axis=1), task.time)
    # q and the Jacobian are those of the robot with its deflections
    assert_close(result.q.values, bendy.inverse_kinematics(task.motion.pose, elastic=at["elastic"]), 1e-14)
    found = bendy.reactions(task.motion.pose, task.motion.twist, task.motion.acceleration, friction=False, **at)
    for (leg, joint), reaction in reactions(result).items():
        assert np.array_equal(reaction.force, found.legs[leg][joint].force)


@pytest.mark.long
def test_a_platform_taken_not_to_vibrate_says_so(bendy: pp.Model) -> None:
    result = study(bendy, make_task(bendy, rate=20.0), vibration=False, certify=False)
    assert result.attrs["vibration"] == "no, as asked for"
    assert result.attrs["step"] == 0.0
    assert_close(result.force_part.values.sum(axis=0)[None], result.force.values[None], 1e-12)


def test_a_task_without_its_trajectory_is_refused(bendy: pp.Model) -> None:
    task = make_task(bendy, rate=20.0)
    with refused(pp.errors.InputError, code="no_trajectory"):
        study(bendy, Task("samples", task.motion))


def test_no_warning_when_a_result_gives_its_robot(turning: xr.Dataset) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot_of(turning)
