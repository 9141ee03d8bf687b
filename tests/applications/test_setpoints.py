"""Tables of set points: rows at the drive's rate, equal to the model's own calls, whole in CSV and binary."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.files import digest
from polypod.motion import make_task
from polypod.results import read_setpoints, setpoints
from support.command_line import polypod
from support.refusals import failed, refused


@pytest.fixture(scope="module")
def model() -> pp.Model:
    return pp.Model("five-bar")


def test_rows_are_the_motion_at_the_drives_rate(model: pp.Model) -> None:
    """Rates are derivatives of the coordinates before them: by central differences, of second order."""
    found = setpoints(model, rate=4000.0)
    duration = make_task(model).time[-1]
    assert found.time.tolist() == (np.arange(round(duration * 4000) + 1) / 4000).tolist()
    middle = slice(1, -1)
    for value, rate, scale in ((found.q, found.qdot, 1e-4), (found.qdot, found.qddot, 1e-2)):
        differences = (value[2:] - value[:-2]) * 2000
        smooth = np.abs(rate[middle] - differences).max(axis=1)
        assert np.median(smooth) < scale * np.abs(rate).max()  # jerk jumps at a few times
    task = make_task(model, rate=100.0)
    at = np.round(task.time * 4000).astype(int)
    exact = np.abs(at / 4000 - task.time) < 1e-12
    forces = model.inverse_dynamics(task.motion.pose, task.motion.twist, task.motion.acceleration, task.wrench)
    assert exact.sum() > 50
    assert np.abs(found.force[at[exact]] - forces[exact]).max() < 1e-9 * np.abs(forces).max()


def test_a_rate_that_does_not_fit_the_duration_ends_at_rest(model: pp.Model) -> None:
    found = setpoints(model, rate=333.3)
    end = make_task(model).motion
    assert found.time[-2] < end.time[-1] <= found.time[-1] + 1e-12
    assert found.time[-1] - end.time[-1] < 1 / 333.3
    assert np.abs(found.q[-1] - model.inverse_kinematics(end.pose[-1])).max() < 1e-12
    assert np.abs(np.diff(found.time) - 1 / 333.3).max() < 1e-12


def test_csv_and_binary_are_the_same_table(model: pp.Model, tmp_path: Path) -> None:
    found = setpoints(model, rate=200.0)
    lines = list(csv.reader(io.StringIO(found.csv())))
    assert lines[0][:4] == ["time [s]", "q right [rad]", "q left [rad]", "qdot right [rad/s]"]
    assert lines[0][-1] == "force left [N m]"
    assert (np.array(lines[1:], dtype=float) == found.rows).all()
    path = tmp_path / "table.bin"
    path.write_bytes(found.binary())
    back = read_setpoints(path)
    assert (back.rows == found.rows).all()
    assert (back.columns, back.rate, back.digest) == (found.columns, 200.0, digest(model.robot))
    # as another program reads it
    data = path.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    about = json.loads(data[16 : 16 + length])
    assert data[:8] == b"POLYPOD1"
    assert length % 8 == 0
    assert (np.frombuffer(data[16 + length :], "<f8").reshape(about["rows"], -1) == found.rows).all()
    path.write_bytes(data[:-5])
    with refused(InputError, "damaged"):
        read_setpoints(path)


def test_commands_write_tables(tmp_path: Path) -> None:
    name = tmp_path / "drives.csv"
    asked = ("run", "five-bar", "--no-files", "--no-certify", "--setpoints", name, "--drive-rate", "2 kHz")
    assert polypod(*asked).exit_code == 0
    assert len(name.read_text().splitlines()) == 2002
    failed(polypod(*asked[:-3], tmp_path / "drives.txt"), ".csv", ".bin")


@pytest.mark.long
def test_the_table_of_a_fastest_motion(tmp_path: Path) -> None:
    out = tmp_path / "fast.yaml"
    fast = ("fastest", "five-bar", "--points", 200, "--out", out, "--setpoints", tmp_path / "fast.bin")
    assert polypod(*fast).exit_code == 0
    model, table = pp.Model("five-bar"), read_setpoints(tmp_path / "fast.bin")
    assert np.abs(setpoints(model, out).rows - table.rows).max() < 1e-9 * np.abs(table.rows).max()


def test_what_has_no_table(model: pp.Model) -> None:
    for rate in (0.0, -5.0, float("nan"), float("inf")):
        with refused(InputError, "rate"):
            setpoints(model, rate=rate)
    with refused(InputError, "rows"):
        setpoints(model, rate=1e9)
