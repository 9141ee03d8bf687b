"""What drives can do, in files of every leg kind: units, faults, curves, motors; ranges of joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.description import Drive
from polypod.errors import InputError, RobotFileError
from polypod.files import dumps, load, loads
from polypod.limits import curve_use
from polypod.results.figures.force_speed import envelope
from support.refusals import refused
from support.robots.slides import hinge, slide
from support.states import easy

SHORT = {"hexapod": "UPS", "kim-ryu": "PUS", "staicu": "PRU"}
EVERY = {
    "max_force": "2 kN", "rms_force": 800, "max_speed": "300 mm/s", "max_acceleration": "5 m/s^2",
    "max_power": "0.5 kW",
    "force_speed": [[0, "2 kN"], ["200 mm/s", "1 kN"], [0.3, 0]], "max_stroke": "150 mm", "lead": "5 mm", "gear": 2,
    "rotor_inertia": "20 kg mm^2", "torque_constant": "50 mN m/A",
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")
def test_short_kinds_take_every_limit_with_units(name):
    robot = load(name, {f"legs.*.{field}": value for field, value in EVERY.items()})
    drive = robot.legs[0].drive()
    assert (drive.max_force, drive.rms_force, drive.max_speed, drive.max_power) == (2000.0, 800.0, 0.3, 500.0)
    assert (drive.max_acceleration, drive.max_stroke, drive.lead, drive.gear) == (5.0, 0.15, 0.005, 2.0)
    assert drive.force_speed == ((0.0, 2000.0), (0.2, 1000.0), (0.3, 0.0))
    assert (drive.rotor_inertia, drive.torque_constant) == (20e-6, 0.05)
    assert all(leg.drive() == drive for leg in robot.legs)
    assert loads(dumps(robot)) == robot


def test_actuators_show_their_drives(model_of):
    model = model_of("hexapod")
    assert [a.drive.max_force for a in model.actuators] == [1000.0] * 6
    assert "1 kN" in model.robot.source_of("legs.3.max_force")
    assert pp.Model(hinge(max_torque=12.0)).actuators[0].drive.max_force == 12.0
    assert pp.Model(slide()).actuators[0].drive == Drive()


def test_limits_change_no_function(model_of):
    """No function depends on ratings: robots that differ in them have one topology, and they are no parameters."""
    plain = model_of("hexapod")
    rated = pp.Model(load("hexapod", {"legs.*.max_power": 100, "legs.*.rms_force": "1 kN"}))
    assert rated.kernels.mechanism.numbers.structure == plain.kernels.mechanism.numbers.structure
    assert not [path for path in plain.parameters() if "max_" in path]
    with refused(InputError, "legs.*.max_force"):
        plain.inverse_kinematics(plain.robot.home.matrix, parameters={"legs.*.max_force": 3.0})


def test_a_motors_inertia_is_a_mass_at_the_leg(model_of):
    """J (2 pi gear/lead)^2, by hand, in place of rotor_mass; torque of the motor holds force and rotor."""
    plain = model_of("hexapod")
    inertia, lead, gear = 3e-5, 0.004, 1.5
    by_hand = inertia * (2 * np.pi * gear / lead) ** 2
    motor = {"rotor_mass": 0.0, "rotor_inertia": inertia, "lead": lead, "gear": gear}
    geared = pp.Model(load("hexapod", {f"legs.*.{name}": value for name, value in motor.items()}))
    at = easy(plain, 4)
    state = at.pose, at.twist, at.acceleration
    wanted = plain.inverse_dynamics(*state, parameters={"legs.*.rotor_mass": by_hand})
    np.testing.assert_allclose(geared.inverse_dynamics(*state), wanted, rtol=1e-12)
    more = geared.inverse_dynamics(*state, parameters={"legs.*.rotor_inertia": 2 * inertia})
    np.testing.assert_allclose(
        more, plain.inverse_dynamics(*state, parameters={"legs.*.rotor_mass": 2 * by_hand}), rtol=1e-12
    )


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "force in N m": ({"max_force": "2 N m"}, "max_force N 2"),
    "speed in rpm": ({"max_speed": "30 rpm"}, "max_speed m/s"),
    "torque of a slide": ({"max_torque": 3}, "max_torque max_force"),
    "negative": ({"max_power": -2}, "max_power 0 -2"),
    "one point": ({"force_speed": [[0, 1]]}, "force_speed 1"),
    "no points": ({"force_speed": [0, 1]}, "force_speed"),
    "curve from 1": ({"force_speed": [[1, 9], [2, 3]]}, "force_speed 0"),
    "growing": (
        {"force_speed": [[0, 1], [2, 3]]},
        "force_speed 0",
    ),
    "unknown": ({"max_forces": 1}, "max_forces max_force"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_limits_say_what_to_write(case):
    fields, message = FAULTS[case]
    text = dumps(load("hexapod"))
    lines = "".join(f"  {name}: {value}\n" for name, value in fields.items())
    shared = "\n".join(line for line in text.splitlines() if line.split(":")[0].strip() not in fields)
    changed = shared.replace("leg_defaults:\n", f"leg_defaults:\n{lines}")
    with refused(RobotFileError, message) as raised:
        loads(changed)
    at = changed.splitlines().index(f"  {next(iter(fields))}: {next(iter(fields.values()))}") + 1
    assert raised.value.faults[0].line in (at, changed.splitlines().index("leg_defaults:") + 1)


@pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")
def test_a_motor_on_a_slide_needs_its_lead():
    with refused(RobotFileError, "rotor_inertia lead"):
        load("kim-ryu", {"legs.*.rotor_inertia": 1e-4})


JOINTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "screw of a motor": (hinge, {"lead": 0.005}, 'lead'),
    "torque in N": (hinge, {"max_torque": "3 N"}, 'max_force N m'),
    "two names": (hinge, {"max_torque": 3, "max_force": 3}, 'max_torque max_force'),
    "passive": (slide, {"actuated": False, "max_power": 3}, 'max_power'),
    "range without home": (slide, {"range": [0.1, 0.3]}, 'range [0.1, 0.3] home 0'),
    "range by offset": (slide, {"offset": 0.5, "range": [-0.1, 0.3]}, 'home 0.5'),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINTS)
def test_faults_of_joints_say_what_to_write(case):
    make, fields, message = JOINTS[case]
    with refused(ValueError, message):
        make(**fields)


def test_a_range_that_leaves_out_home_is_a_fault_with_its_line():
    text = dumps(load("3-prs")).replace("range: [-0.15, 0.35]", "range: [0.15, 0.35]")
    with refused(RobotFileError, "range 0.15 0.35") as raised:
        loads(text)
    assert "[0.15, 0.35]" in text.splitlines()[raised.value.faults[0].line - 1]


def test_a_range_is_that_of_the_coordinate_as_the_file_counts_it():
    """Along a slide of ratio 2 and offset 0.5 the limited quantity is the coordinate itself: 0.5 + 2 z."""
    model = pp.Model(slide(offset=0.5, ratio=2.0, range=[0.44, 0.56]))
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, 2, 3] = [0.0, 0.02, -0.04]
    report = model.limits(poses)
    np.testing.assert_allclose(report.value[:, 0], [0.5, 0.54, 0.42], rtol=1e-14)
    np.testing.assert_allclose(model.inverse_kinematics(poses)[:, 0], report.value[:, 0], rtol=1e-14)
    assert report.inside[:, 0].tolist() == [True, True, False]


def test_bearings_belong_to_joints():
    robot = load("hexapod")
    rated = robot.legs[0].model_dump() | {"bearings": {"universal": {"dynamic_load_rating": "3 kN"}}}
    leg = type(robot.legs[0]).model_validate(rated)
    assert leg.bearing("universal").dynamic_load_rating == 3000.0
    assert leg.bearing("spherical").dynamic_load_rating is None
    with refused(ValueError, "bearings.universall universal"):
        type(leg).model_validate(rated | {"bearings": {"universall": {"dynamic_load_rating": 1}}})


def test_use_of_curves_by_hand():
    """A line F0 (1 - v/v0) is used by F/F0 + v/v0, a rectangle by the larger share, whatever the signs."""
    rng = np.random.default_rng(0)
    v, f = rng.uniform(-3, 3, 40), rng.uniform(-300, 300, 40)
    line, box = np.array([[0.0, 200.0], [2.0, 0.0]]), np.array([[0.0, 200.0], [2.0, 200.0]])
    np.testing.assert_allclose(curve_use(line, v, f), np.abs(f) / 200 + np.abs(v) / 2, rtol=1e-13)
    np.testing.assert_allclose(curve_use(box, v, f), np.maximum(np.abs(f) / 200, np.abs(v) / 2), rtol=1e-13)
    # on a curve of three pieces every point is used to 1, twice as far to 2
    points = np.array([[0.0, 100.0], [1.0, 80.0], [3.0, 20.0], [4.0, 10.0]])
    along = np.linspace(0.0, 4.0, 30)
    height = np.interp(along, *points.T)
    np.testing.assert_allclose(curve_use(points, along, height), 1.0, rtol=1e-13)
    np.testing.assert_allclose(curve_use(points, 2 * along, 2 * height), 2.0, rtol=1e-13)
    assert curve_use(points, np.zeros(1), np.zeros(1))[0] == 0.0


def test_the_envelope_is_the_least_of_all_limits():
    drive = Drive(max_force=90.0, max_speed=3.5, max_power=100.0, force_speed=((0.0, 100.0), (1.0, 80.0), (4.0, 20.0)))
    speeds, forces = envelope(drive, 10.0)
    assert speeds[0] == 0.0
    assert speeds[-1] == 3.5
    with np.errstate(divide="ignore"):
        wanted = np.minimum(np.minimum(90.0, 100.0 / speeds), np.interp(speeds, [0, 1, 4], [100, 80, 20]))
    np.testing.assert_allclose(forces, wanted, rtol=1e-14)
    assert envelope(Drive(max_speed=2.0), 1.0) is None
