"""Calibration of geometry: counts and numbers of a published hexapod, all kinds of measurements, what is wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError
from polypod.identification import calibrate, identifiable, measurements, plan, read_measurements
from polypod.identification.calibrate import measurement_rows
from polypod.identification.geometry import Geometry
from polypod.identification.measured import predicted
from polypod.identification.new_robot import Change, with_changes
from polypod.identification.sampling import random_poses
from support.refusals import refused, says

DATA = json.loads((Path(__file__).parent.parent / "data" / "hexapod_calibration_42.json").read_text())
PARAMETERS = ("legs.*.base", "legs.*.platform")
OFFSETS = [np.array(DATA[name])[:, 6] / 1000 for name in ("nominal", "simulated_real")]
MM = 1e-3


@cache
def robot(name: str) -> pp.Model:
    """The hexapod of 42 numbers: joints of the platform and base, lengths with their offsets left out."""
    body = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
    legs = [
        {"kind": "UPS", "axis": [1, 0, 0], "platform": row[:3], "base": row[3:6], "lower": body, "upper": body}
        for row in (np.array(DATA[name]) / 1000).tolist()
    ]
    return pp.Model(pp.Robot.model_validate(
        {"name": name, "platform": body, "home": {"position": [0, 0, 0.8]}, "legs": legs}
    ))  # fmt: skip


def poses(count: int, seed: int = 0) -> Any:
    """As the study draws them: 120 mm each way, 700 to 900 mm high, 25 deg about each axis."""
    draw = np.random.default_rng(seed)
    pose = np.tile(np.eye(4), (count, 1, 1))
    pose[:, :3, 3] = np.c_[draw.uniform(-0.12, 0.12, (count, 2)), draw.uniform(0.7, 0.9, count)]
    pose[:, :3, :3] = Rotation.from_euler("xyz", draw.uniform(-25, 25, (count, 3)), degrees=True).as_matrix()
    return pose


def readings(pose: Any) -> Any:
    """What the real machine's actuators read, counted as the nominal one's."""
    return robot("simulated_real").inverse_kinematics(pose) - OFFSETS[1] + OFFSETS[0]


def whole(pose: Any, seed: int | None = None) -> Any:
    """Positions and rotation vectors, with noise of 10 um and 20 urad if seeded."""
    turn = Rotation.from_matrix(pose[:, :3, :3])
    place = pose[:, :3, 3]
    if seed is not None:
        draw = np.random.default_rng(seed)
        place = place + 1e-5 * draw.standard_normal(place.shape)
        turn = Rotation.from_rotvec(2e-5 * draw.standard_normal(place.shape)) * turn
    return np.c_[place, turn.as_rotvec()]


def errors(found: Any) -> Any:
    """Errors [mm] of the 42 numbers."""
    values, truth = found.geometry.values_at(found.steps), np.array(DATA["simulated_real"]) / 1000
    off = [values[f"legs.{k}.{field}"] - truth[k, part] for k in range(6)
           for field, part in (("platform", slice(0, 3)), ("base", slice(3, 6)))]  # fmt: skip
    return np.concatenate([*off, found.geometry.reading_offsets(found.steps) - (OFFSETS[1] - OFFSETS[0])]) / MM


@pytest.mark.parametrize(
    ("kind", "frames", "count", "of"),
    [("pose", False, 42, 42), ("pose", True, 42, 54), ("position", False, 39, 42), ("tilt", False, 35, 42)],
)
def test_what_each_measurement_shows(kind: Any, frames: bool, count: int, of: int) -> None:
    checks = DATA["own_checks"]
    known = {"position": checks["rank_position_only"], "tilt": checks["rank_two_tilt_angles_only"]}
    assert known.get(kind, checks["rank_full_pose"]) == count
    base = identifiable(robot("nominal"), poses(60), kind, parameters=PARAMETERS, frames=frames)
    assert (base.count, len(base.numbers)) == (count, of)


def test_poses_of_one_orientation_show_less() -> None:
    """Ten poses without a turn see 24 combinations: joints of platform and base only by their difference."""
    pose = np.tile(np.eye(4), (10, 1, 1))
    pose[:, :3, 3] = np.array(DATA["ten_poses_mm"]) * MM
    base = identifiable(robot("nominal"), pose, parameters=PARAMETERS)
    assert base.count == 24
    assert "leg1 platform x - leg1 base x" in base.names
    assert all(
        s == "together" for n, s in zip(base.numbers, base.identifiability, strict=True) if "offset" not in n.name
    )


def test_without_noise_the_geometry_is_exact() -> None:
    pose = poses(20)
    import xarray as xr

    data = xr.Dataset({"q": (("row", "actuator"), readings(pose)), "pose": (("row", "i", "j"), pose)})
    found = calibrate(robot("nominal"), data, parameters=PARAMETERS)
    assert np.abs(errors(found)).max() < 1e-9
    assert found.robot.legs[2].base == pytest.approx(np.array(DATA["simulated_real"])[2, 3:6] * MM, abs=1e-12)
    assert "calibrated from 20 measurements of pose" in found.robot.source_of("legs.2.base")
    assert found.offsets["leg3"] == pytest.approx((600.4441 - 604.8652) * MM, abs=1e-12)


def test_intervals_hold_the_truth() -> None:
    """With 10 um and 20 urad: errors as the study has them, noise found, 95 % intervals hold 90 to 99 %."""
    held, sizes = [], []
    for seed in range(4):
        pose = poses(60, seed)
        data = measurements(robot("nominal"), "pose", readings(pose), whole(pose, seed))
        found = calibrate(robot("nominal"), data, parameters=PARAMETERS)
        off = errors(found)
        order = [n.name for n in found.geometry.numbers]
        mine = [order.index(f"leg{k + 1} {f} {a}") for k in range(6) for f in ("platform", "base") for a in "xyz"]
        mine += [order.index(f"leg{k + 1} offset") for k in range(6)]
        half = 1.96 * np.sqrt(np.diag(found.covariance))[mine] / MM
        held.append(np.abs(off) <= half)
        sizes.append(np.sqrt((off**2).mean()))
        assert found.noise == pytest.approx([1e-5, 2e-5], rel=0.15)
    assert 0.90 <= np.mean(held) <= 0.99
    assert np.mean(sizes) < 2 * DATA["own_checks"]["noise_10um_20urad_rms_parameter_error_mm"]["60 poses"]


def test_unknown_frames_leave_what_can_be_seen_exact() -> None:
    """Readings and measurements agree although device and target are somewhere else; forty-two of 54 are fixed."""
    model, pose = robot("nominal"), poses(30)
    device, target = np.eye(4), np.eye(4)
    device[:3, :3], device[:3, 3] = Rotation.from_rotvec([0.02, -0.01, 0.03]).as_matrix(), [0.01, -0.02, 0.005]
    target[:3, :3], target[:3, 3] = Rotation.from_rotvec([-0.01, 0.02, 0.01]).as_matrix(), [0.004, 0.003, -0.01]
    found = calibrate(model, measurements(model, "pose", readings(pose), whole(device @ pose @ target)),
                      parameters=PARAMETERS, frames=True)  # fmt: skip
    assert np.abs(found.residuals).max() < 1e-9 * MM
    assert (found.base.count, len(found.base.numbers)) == (42, 54)
    says(" ".join(found.notes), "42 54")


@pytest.mark.parametrize("kind", ["position", "tilt", "distance"])
def test_parts_of_poses_are_fitted(kind: Any) -> None:
    """What is not seen stays near the file's values; what is measured elsewhere is then foretold."""
    model, pose = robot("nominal"), poses(80)
    point, anchor = [0.05, 0.02, 0.1], [0.4, 0.1, 0.0]
    blank = measurements(model, kind, readings(pose), np.zeros((80, {"position": 3, "tilt": 2, "distance": 1}[kind])),
                         tool=point, anchor=anchor)  # fmt: skip
    values = predicted(blank, pose, np.eye(4), np.eye(4))[0]
    found = calibrate(model, measurements(model, kind, readings(pose), values, tool=point, anchor=anchor),
                      parameters=PARAMETERS)  # fmt: skip
    assert np.abs(found.residuals).max() < 1e-9 * MM
    assert np.abs(found.before).max() > 1e-3
    # poses that were not measured: what the device would see of them is known as well
    other = poses(20, 1)
    there = found.geometry.poses(readings(other), found.steps, other)
    now, then = (predicted(blank, pose, np.eye(4), np.eye(4))[0] for pose in (there, other))
    assert np.abs(now - then).max() < 1e-10 * MM


def test_derivatives_are_those_of_differences() -> None:
    """Of everything a device sees, by every number, frames included; sixth-order differences, 1e-8 of their size."""
    model, pose = pp.Model("kim-ryu"), None
    geometry = Geometry(model, ("legs.*.rail_direction", "legs.*.length", "legs.*.platform"))
    home = model.robot.home.matrix
    pose = np.stack([home, home])
    pose[1, :3, 3] += 0.02
    pose[1, :3, :3] = Rotation.from_rotvec([0.1, -0.05, 0.2]).as_matrix() @ home[:3, :3]
    reading = geometry.at(pose, np.zeros(geometry.count))[0]
    exact = geometry.derivatives(pose, np.zeros(geometry.count))
    step = 1e-3
    for k in range(0, geometry.count, 5):
        unit = np.eye(geometry.count)[k]
        parts = []
        for m in (1, 2, 3):
            there, back = (geometry.poses(reading, s * m * step * unit, pose) for s in (1, -1))
            turn = [
                Rotation.from_matrix(p[:, :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2)).as_rotvec()
                for p in (there, back)
            ]
            parts.append(np.c_[there[:, :3, 3] - back[:, :3, 3], turn[0] - turn[1]] / step)
        slope = (45 * parts[0] - 9 * parts[1] + parts[2]) / 60
        assert np.abs(slope - exact[:, :, k]).max() < 1e-8 * np.abs(exact[:, :, k]).max() + 1e-9


@pytest.mark.long
def test_fewer_dof_are_calibrated() -> None:
    """A Delta whose rods' joints are off tilts a little; its poses are those of a robot file with these numbers."""
    model = pp.Model("delta")
    geometry = Geometry(model, ("legs.*.joints.*.at",))
    draw = np.random.default_rng(0)
    truth = np.zeros(geometry.count)
    truth[: geometry.own] = 2e-4 * draw.standard_normal(geometry.own)
    path = random_poses(model, 40, 1)
    reading = model.inverse_kinematics(path)
    pose = geometry.poses(reading, truth, path)
    assert np.abs(pose[:, :3, :3] - path[:, :3, :3]).max() > 1e-4
    # the same robot as a file of its own, whose mobility is found anew
    changes = [Change(p, "m", v, v, 0 * v) for p, v in geometry.values_at(truth).items()]
    machine = pp.Model(with_changes(model.robot, changes, "moved", geometry.following(geometry.values_at(truth))))
    found = machine.forward_kinematics(reading, pose)
    assert np.abs(found - pose).max() < 1e-11
    fitted = calibrate(model, measurements(model, "pose", reading, whole(pose)), parameters=("legs.*.joints.*.at",))
    assert np.abs(fitted.residuals).max() < 1e-9 * MM
    other = random_poses(model, 10, 2)
    there = [geometry.poses(model.inverse_kinematics(other), p, other) for p in (truth, fitted.steps)]
    assert np.abs(there[0] - there[1]).max() < 1e-10 * MM


@pytest.mark.long
def test_more_actuators_than_dof_are_calibrated() -> None:
    """Readings of four motors agree with one pose of three degrees of freedom only with the machine's own geometry."""
    model = pp.Model("planar-4-rrr")
    geometry = Geometry(model)
    truth = 2e-4 * np.random.default_rng(0).standard_normal(geometry.count)
    values = geometry.values_at(truth)
    changes = [Change(p, "m", v, v, 0 * v) for p, v in values.items()]
    machine = pp.Model(with_changes(model.robot, changes, "moved", geometry.following(values)))
    # poses that the machine, its legs in a plane a little aside, can take
    here, other = (machine.motion(draw, 0 * draw, 0 * draw)[0] for draw in
                   np.random.default_rng(1).uniform(-0.05, 0.05, (2, 40, 3)))  # fmt: skip
    readings = [machine.inverse_kinematics(pose) - geometry.reading_offsets(truth) for pose in (here, other)]
    found = calibrate(model, measurements(model, "pose", readings[0], whole(here)))
    assert np.abs(found.before).max() > 1e-5
    assert np.abs(found.residuals).max() < 1e-9 * MM
    assert np.abs(geometry.poses(readings[1], found.steps, other) - other).max() < 1e-9 * MM


@pytest.mark.long
@pytest.mark.parametrize("name", pp.library())
def test_every_robot_has_exact_derivatives(name: str) -> None:
    """Poses by numbers, of all library robots, legs closed by iterating too: sixth-order differences."""
    model = pp.Model(name)
    geometry = Geometry(model)
    pose = random_poses(model, 6, 0)
    reading = model.inverse_kinematics(pose)
    unit, step = np.random.default_rng(0).standard_normal(geometry.count), 1e-5
    exact, parts = geometry.derivatives(pose, np.zeros(geometry.count)) @ unit, []
    for m in (1, 2, 3):
        there, back = (geometry.poses(reading, s * m * step * unit, pose) for s in (1, -1))
        turn = [Rotation.from_matrix(p[:, :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2)).as_rotvec()
                for p in (there, back)]  # fmt: skip
        parts.append(np.c_[there[:, :3, 3] - back[:, :3, 3], turn[0] - turn[1]] / step)
    slope = (45 * parts[0] - 9 * parts[1] + parts[2]) / 60
    # rounding of poses, 1e-16 m, by the step
    assert np.abs(slope - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.long
def test_measurements_that_stand_out_do_not_count() -> None:
    model, pose = robot("nominal"), poses(40)
    values = whole(pose, 3)
    values[7, :3] += 0.002
    found = calibrate(model, measurements(model, "pose", readings(pose), values), parameters=PARAMETERS)
    assert found.outliers[7]
    assert found.outliers.sum() == 1
    trusting = calibrate(
        model, measurements(model, "pose", readings(pose), values), parameters=PARAMETERS, robust=False
    )
    assert np.sqrt((errors(found) ** 2).mean()) < 0.5 * np.sqrt((errors(trusting) ** 2).mean())
    # as good as if row 7 had not been measured
    rest = np.delete(np.arange(40), 7)
    without = calibrate(model, measurements(model, "pose", readings(pose[rest]), values[rest]), parameters=PARAMETERS)
    assert np.abs(found.steps - without.steps).max() < 1e-3 * np.sqrt(np.diag(without.covariance)).max()


def test_chosen_poses_tell_more_than_random_ones() -> None:
    model = robot("nominal")
    best = plan(model, 10, parameters=PARAMETERS, candidates=150)
    assert best.base.count == 42
    geometry = Geometry(model, PARAMETERS)
    draw = np.random.default_rng(0)
    everyone = plan(model, 150, parameters=PARAMETERS, candidates=150).poses
    assert everyone.shape == (150, 4, 4)
    noise = np.array([1e-5] * 3 + [2e-5] * 3)

    def information(chosen: Any) -> float:
        rows = measurement_rows(geometry, chosen, "pose", (0, 0, 0), (0, 0, 0)).reshape(len(chosen), 6, -1)
        rows = (rows / noise[:, None] * 0.02).reshape(-1, geometry.count)
        return float(np.linalg.slogdet(np.eye(geometry.count) + rows.T @ rows)[1])

    assert information(best.poses) == pytest.approx(best.log_determinant, rel=1e-9)
    assert all(information(everyone[draw.permutation(150)[:10]]) < best.log_determinant for _ in range(30))


def test_exchanged_readings_are_named() -> None:
    """Readings of two legs exchanged, or of another sign: no geometry explains them, and none is written."""
    model, pose = robot("nominal"), poses(30)
    given, seen = readings(pose), whole(pose, 1)
    swapped = given[:, [0, 4, 2, 3, 1, 5]]
    with refused(InputError, "leg2 leg5", code="swapped"):
        calibrate(model, measurements(model, "pose", swapped, seen), parameters=PARAMETERS)
    with refused(InputError, code="unexplained"):
        calibrate(model, measurements(model, "pose", given, seen[::-1]), parameters=PARAMETERS)
    mixed = measurements(model, "pose", given, seen[::-1])
    assert calibrate(model, mixed, parameters=PARAMETERS, check=False).noise[0] > 1e-3


def test_poses_for_validation_and_the_noise_of_the_device_are_judged() -> None:
    model, fitted, kept = robot("nominal"), poses(30), poses(12, 7)
    data = measurements(model, "pose", readings(fitted), whole(fitted, 1))
    good = measurements(model, "pose", readings(kept), whole(kept, 2))
    found = calibrate(model, data, parameters=PARAMETERS, validate=good, noise=10e-6)
    assert found.validation is not None
    # noise of 10 um and 20 urad, and what is left of the geometry's own errors
    assert 0.7 < np.sqrt((found.validation[:, :3] ** 2).mean()) / 10e-6 < 2
    assert 0.7 < np.sqrt((found.validation[:, 3:] ** 2).mean()) / 20e-6 < 2
    assert found.noise[0] / found.expected == pytest.approx(1.0, abs=0.2)
    with refused(InputError, "validate"):
        calibrate(model, data, parameters=PARAMETERS, validate=measurements(
            model, "position", readings(kept), whole(kept, 2)[:, :3]))  # fmt: skip


def test_bad_measurements_are_refused(tmp_path: Any) -> None:
    model, pose = robot("nominal"), poses(5)
    with refused(InputError, "measurements 5 30 42 7"):
        calibrate(model, measurements(model, "pose", readings(pose), whole(pose)), parameters=PARAMETERS)
    with refused(InputError, "0", code="unreachable"):
        calibrate(model, measurements(model, "pose", readings(pose) / 1000, whole(pose)), parameters=PARAMETERS)
    with refused(InputError, "legs.*.bas"):
        identifiable(model, pose, parameters=("legs.*.bas",))
    header = ",".join(f"leg{k}.q [mm]" for k in range(1, 7))
    table = tmp_path / "poses.csv"
    table.write_text(f"{header},x [mm],y [mm]\n" + ",".join(["700"] * 8) + "\n")
    with refused(InputError, code="mixed_columns"):
        read_measurements(model, table)
    table.write_text(f"{header},x [mm],y [mm],z [mm]\n" + ",".join(["700"] * 8) + "\n")
    with refused(pp.errors.MotionFileError, "9 8"):
        read_measurements(model, table)
    table.write_text(f"{header},x [mm],y [mm],z [mm]\n" + ",".join(["700"] * 9) + "\n")
    assert read_measurements(model, table).values == pytest.approx(np.full((1, 3), 0.7), rel=1e-12)
    table.write_text(f"{header},x [deg],y [mm],z [mm]\n" + ",".join(["700"] * 9) + "\n")
    with refused(InputError, "x [m] [mm] [um]"):
        read_measurements(model, table)
    table.write_text(f"{header},x [mm],y [mm],z [mm]\n" + ",".join(["700"] * 8) + ",far\n")
    with refused(pp.errors.MotionFileError, "z far"):
        read_measurements(model, table)


@pytest.mark.parametrize("name", ["3-rps", pytest.param("tricept", marks=pytest.mark.long)])
def test_joints_in_line_may_leave_it(name: str) -> None:
    """A slide that is drawn along its leg runs aside in the machine: poses are those of a file with these numbers."""
    model = pp.Model(name)
    geometry = Geometry(model)
    truth = 2e-4 * np.random.default_rng(0).standard_normal(geometry.count)
    path = random_poses(model, 10, 1)
    reading = model.inverse_kinematics(path)
    pose = geometry.poses(reading, truth, path)
    values = geometry.values_at(truth)
    changes = [Change(p, "m", v, v, 0 * v) for p, v in values.items()]
    machine = pp.Model(with_changes(model.robot, changes, "moved", geometry.following(values)))
    found = machine.forward_kinematics(reading + geometry.reading_offsets(truth), pose)
    # 1e-9 mm is 1e-12 m: rounding of poses a metre away is far below
    assert np.abs(found - pose).max() < 1e-13


@pytest.mark.parametrize("kind", ["height", "gauge", "marks"])
def test_what_a_workshop_measures_is_fitted(kind: Any) -> None:
    """A bed that is touched, a dial gauge along a straight edge, distances between marks: values by hand.

    Bed and edge lie 3 mm off and are inclined by 5 mrad, which is found with the geometry; the gauge has any zero.
    """
    model, count = robot("nominal"), 60
    point = np.array([0.05, 0.02, 0.1])
    pose, other = poses(count), poses(30, 1)

    def place(pose: Any) -> Any:
        return pose[:, :3, 3] + pose[:, :3, :3] @ point

    turn = Rotation.from_rotvec([0.005, -0.004, 0.003]).as_matrix()
    along = {"height": np.array([0, 0, 1.0]), "gauge": np.array([0.6, 0.0, 0.8])}.get(kind)

    def seen(pose: Any) -> Any:
        if along is None:
            half = len(pose) // 2
            return np.linalg.norm(place(pose)[:half] - place(pose)[half:], axis=1)[:, None]
        return ((place(pose) @ turn.T + [0.001, 0.002, 0.003]) @ along)[:, None]

    def data(pose: Any) -> Any:
        q = readings(pose)
        if along is None:
            half = len(pose) // 2
            return measurements(model, kind, q[:half], seen(pose), tool=point, second=q[half:])
        return measurements(model, kind, q, seen(pose), tool=point, direction=along)

    pose = poses(2 * count) if along is None else pose
    found = calibrate(model, data(pose), parameters=PARAMETERS, validate=data(other))
    assert found.geometry.frames == (along is not None)
    assert np.abs(found.before).max() > 1e-3
    # poses that were not measured: lengths of half a metre, rounding of Newton's method
    assert np.abs(found.residuals).max() < 1e-9 * MM
    assert np.abs(found.validation).max() < 1e-9 * MM


def test_marks_are_read_from_a_table(tmp_path: Path) -> None:
    model = robot("nominal")
    pose = poses(12)
    q, names = readings(pose), [a.name for a in model.actuators]
    head = [f"{n}.q [mm]" for n in names] + [f"{n}.q2 [mm]" for n in names] + ["apart [mm]"]
    apart = np.linalg.norm(pose[:6, :3, 3] - pose[6:, :3, 3], axis=1)
    rows = np.c_[q[:6], q[6:], apart] / MM
    (tmp_path / "marks.csv").write_text("\n".join([",".join(head), *(",".join(map(str, r)) for r in rows.tolist())]))
    data = read_measurements(model, tmp_path / "marks.csv")
    assert data.kind == "marks"
    assert data.second == pytest.approx(q[6:], rel=1e-12)
    (tmp_path / "half.csv").write_text((tmp_path / "marks.csv").read_text().replace(f"{names[2]}.q2", "other"))
    with refused(InputError, f"{names[2]}.q2"):
        read_measurements(model, tmp_path / "half.csv")
    with refused(InputError, "second"):
        measurements(model, "marks", q[:6], apart[:, None])
    with refused(InputError, "kind"):
        plan(model, 5, "marks")
    with refused(InputError, "direction"):
        measurements(model, "gauge", q, np.zeros((12, 1)), direction=[0, 0, 0])


def test_the_lead_of_a_screw_is_no_geometry() -> None:
    """Readings are lengths of legs: the lead between motor and leg was listed as geometry, '5 mm ± 39'."""
    model = pp.Model(pp.load("hexapod", {"legs.*.lead": "5 mm", "legs.*.rotor_inertia": 1e-5}))
    assert not [path for path in Geometry(model).paths if path.endswith("lead")]
