"""Bodies and joints at robot level: machines against the engine of constraints, against themselves said otherwise, and
against what is written by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import yaml

import polypod as pp
from polypod.errors import RobotFileError, UnknownNameError
from polypod.file_kinds import check
from polypod.files import dumps, loads
from polypod.parameters.paths import matching_paths
from polypod.results.read import drives
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Array, Engine, Motion, OutOfReachError
from support.refusals import refused
from support.robots.divided import divided
from support.robots.machine_chains import MACHINES
from support.states import mostly_long

FOLDER = Path(__file__).parent.parent / "data" / "machines"
# Both sides round in double precision, magnified by the condition of legs and Jacobian (below 1e3).
TOLERANCE = 1e-10
SMALL = ("double wishbone", "slider-crank", "quattro")
WITH_LOOPS = [name for name in MACHINES if len(MACHINES[name](1)["legs"]) <= 3]

PAR4 = """name: par4
home: {position: [0.04, 0, -0.5]}
platform: {mass: 0.3, inertia: [0.0001, 0.0001, 0.0002]}
dof: [x, y, z, yaw]
groups:
- copies: {count: 2, about: [0, 0, 1]}
  bodies:
    plate: {mass: 0.2, com: [0, 0.05, -0.5], inertia: [0.0002, 0.0002, 0.0002]}
  legs:
  - name: arm
    kind: chain
    copies: {angles: [0, 90 deg], about: [0, 0, 1]}
    bodies:
      arm: {mass: 0.6, com: [0.229809704, 0.229809704, 0], inertia: [0.004, 0.004, 0.004]}
      rod: {mass: 0.1, inertia: rod, pair: {offset: [-0.028284271, 0.028284271, 0]}}
    joints:
    - {name: motor, kind: revolute, between: [base, arm], at: [0.141421356, 0.141421356, 0],
       axis: [-0.707106781, 0.707106781, 0], actuated: true, rotor: 0.02}
    - {name: elbow, kind: spherical, between: [arm, rod], at: [0.318198052, 0.318198052, 0]}
    - {name: wrist, kind: spherical, between: [rod, plate], at: [0.0565685425, 0.0565685425, -0.5]}
bodies:
  bar: {mass: 0.1, com: [-0.04, 0, -0.5], inertia: [0.0001, 0.0001, 0.0001]}
joints:
- {name: hinge1, kind: revolute, between: [plate1, platform], at: [0.04, 0.05, -0.5], axis: [0, 0, 1]}
- {name: hinge2, kind: revolute, between: [plate2, platform], at: [0.04, -0.05, -0.5], axis: [0, 0, 1]}
- {name: hinge3, kind: revolute, between: [plate1, bar], at: [-0.04, 0.05, -0.5], axis: [0, 0, 1]}
- {name: hinge4, kind: revolute, between: [plate2, bar], at: [-0.04, -0.05, -0.5], axis: [0, 0, 1]}
"""


@cache
def par4() -> pp.Robot:
    return loads(PAR4)


def states(count: int, m: int = 4, reach: float = 0.05) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(3)
    return rng.uniform(-reach, reach, (count, m)), rng.normal(size=(count, m)), 5 * rng.normal(size=(count, m))


def order(robot: Any, engine: Engine) -> list[int]:
    """Numbers of the engine's drives in the order of the model's actuators."""
    legs = robot["legs"]
    names = {
        held.drive: f"{legs[number]['name']}.{joint}" if number < len(legs) else joint
        for (number, joint), held in engine.joints.items()
        if held.drive is not None
    }
    labels = []
    for leg in loads(to_yaml(robot)).legs:
        labels += [leg.label(name) for name in leg.actuator_names()]
    return [next(k for k, name in names.items() if name == label) for label in labels]


def compare_divided(name: str, seed: int) -> None:
    """Coordinates, rates and forces with friction of a machine divided by chance, against the engine."""
    data = divided(MACHINES[name](seed), seed)
    engine, rng = Engine(data), np.random.default_rng(seed + 1)
    m = len(engine.chosen)
    aim = rng.uniform(-0.03, 0.03, m)
    try:
        place = engine.displaced(aim)
    except OutOfReachError:  # some machines stretch their arms near home
        place = engine.displaced(0.1 * aim)
    velocity = engine.velocity(place, rng.normal(size=m))
    motion = Motion(velocity, engine.acceleration(place, velocity, 3 * rng.normal(size=m)))
    wrench = 5 * rng.normal(size=6)
    given = {"pose": engine.pose(place), "twist": velocity[0], "acceleration": motion.acceleration[0], "wrench": wrench}
    function, own = Functions(loads(to_yaml(data))), order(data, engine)
    found = function("inverse_kinematics", **given)
    # a leg that is nearly stretched turns the rounding of the engine's pose into that over its margin
    tolerance = TOLERANCE + 1e-13 / float(found["quality"])
    q = engine.coordinates(place)[own]
    assert_close(found["q"][None], q[None], TOLERANCE, max(1.0, np.abs(q).max()))
    qdot = (engine.drive_rows(place) @ velocity.ravel())[own]
    assert_close(function("rates", **given)["qdot"][None], qdot[None], tolerance)
    if len(own) == m:  # the forces of redundant drives are a choice
        wanted = engine.inverse_dynamics(place, motion, wrench, friction=True)[own]
        assert_close(function("inverse_dynamics", friction=True, **given)["force"][None], wanted[None], tolerance)


@pytest.mark.parametrize("name", mostly_long(SMALL, [name for name in SMALL if name != "quattro"]))
def test_divided_machines(name: str) -> None:
    compare_divided(name, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_many_divided_machines(seed: int) -> None:
    compare_divided(WITH_LOOPS[seed % len(WITH_LOOPS)], 1 + seed // len(WITH_LOOPS))


def test_a_par4_in_forty_lines() -> None:
    """It is the one that states every body and joint of one leg (nine digits) and has the names of its parts."""
    robot = par4()
    assert len(PAR4.splitlines()) <= 40
    long, short = (Functions(one) for one in (pp.load(FOLDER / "par4.yaml"), robot))
    model = pp.Model(robot)
    assert [one.name for one in model.actuators] == ["arm1", "arm2", "arm3", "arm4"]
    x, v, a = states(3)
    motion = model.motion(x, v, a)
    for pose, twist, acceleration in zip(*motion, strict=True):
        given = {"pose": pose, "twist": twist, "acceleration": acceleration}
        wanted, found = (f("inverse_dynamics", **given)["force"] for f in (long, short))
        assert_close(found[None], wanted[None], 1e-7)
    bodies = model.bodies(motion[0])
    with refused(UnknownNameError, "plate", known=("platform", *list(bodies)[1:])):
        model.bodies(motion[0], at_home={"plate": np.eye(4)})
    assert {"plate1", "plate2", "bar", "arm1.arm", "arm4.rod2"} < set(bodies)
    # both plates keep their orientation: each hangs on two parallelograms
    for name in ("plate1", "plate2"):
        turned = model.bodies(motion[0], at_home={name: np.eye(4)})[name]
        np.testing.assert_allclose(turned[:, :3, :3], np.broadcast_to(np.eye(3), (3, 3, 3)), atol=1e-7)
    assert loads(dumps(robot)) == robot


def test_independent_legs_are_not_merged() -> None:
    """A shared body makes one leg of those that hold it; the others are the legs of a file without it."""
    text = yaml.safe_load(PAR4)
    leg = {
        "name": "strut",
        "kind": "chain",
        "bodies": {"lower": {"mass": 0.2, "inertia": "rod"}, "upper": {"mass": 0.1, "inertia": "rod"}},
        "joints": [
            {"name": "low", "kind": "universal", "between": ["base", "lower"], "at": [0, 0, 0],
             "axes": [[1, 0, 0], [0, 1, 0]]},
            {"name": "slide", "kind": "prismatic", "between": ["lower", "upper"], "at": [0, 0, -0.2],
             "axis": [0, 0, 1]},
            {"name": "high", "kind": "spherical", "between": ["upper", "platform"], "at": [0.04, 0, -0.5]},
        ],
    }  # fmt: skip
    leg["joints"][1]["at"] = [0.016, 0, -0.2]
    leg["joints"][1]["axis"] = {"to": "high"}
    robot = loads(yaml.safe_dump({**text, "legs": [leg]}))
    assert [(one.name, one.kind) for one in robot.legs] == [("strut", "chain"), ("machine", "machine")]


def test_groups_count_on_and_keep_their_names() -> None:
    robot = par4()
    (machine,) = robot.legs
    assert list(machine.bodies)[:3] == ["bar", "plate1", "plate2"]
    joints = {joint.name: joint for joint in machine.joints}
    for k in range(4):
        turn = np.pi / 2 * k
        c, s = np.cos(turn), np.sin(turn)
        at = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [0.141421356, 0.141421356, 0]
        np.testing.assert_allclose(joints[f"arm{k + 1}.motor"].at, at, atol=1e-15)
        held = joints[f"arm{k + 1}.wrist1"].between
        assert held == (f"arm{k + 1}/rod1", f"plate{1 + k // 2}")
    assert machine.bodies["plate2"].com == pytest.approx((0, -0.05, -0.5), abs=1e-16)


@pytest.mark.long
def test_a_mirrored_group() -> None:
    """Numbered like copies; turns change their sense."""
    text = PAR4.replace("copies: {count: 2, about: [0, 0, 1]}", "mirror: {plane: [0, 1, 0]}")
    (machine,) = loads(text).legs
    joints = {joint.name: joint for joint in machine.joints}
    assert joints["arm3.motor"].at == pytest.approx((0.141421356, -0.141421356, 0), abs=1e-15)
    assert joints["arm3.motor"].axis == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2), abs=1e-15)


@pytest.mark.long
def test_numbers_go_by_the_names_of_the_file() -> None:
    settings = {"bodies.plate1.mass": 0.31, "legs.arm1.bodies.rod1.mass": 0.32, "legs.arm*.joints.motor.rotor": 0.33}
    (machine,) = loads(PAR4, settings=settings).legs
    assert (machine.bodies["plate1"].mass, machine.bodies["plate2"].mass) == (0.31, 0.2)
    assert (machine.bodies["arm1/rod1"].mass, machine.bodies["arm2/rod1"].mass) == (0.32, 0.1)
    assert [joint.rotor for joint in machine.joints if joint.actuated] == 4 * [0.33]
    assert matching_paths(par4(), "bodies.bar.mass") == ["legs.0.bodies.bar.mass"]
    assert matching_paths(par4(), "joints.hinge1.at") == ["legs.0.joints.20.at"]


FAULTS = {
    "a body in no joint": ("bodies:\n  bar:", "bodies:\n  idle: {mass: 1, com: [0, 0, 0]}\n  bar:", "bodies.idle", 22),
    "an unknown body": ("between: [plate2, bar]", "between: [plate3, bar]", "joints.3.between", 27),
    "an unknown body of a leg": ("between: [plate2, bar]", "between: [arm1.rod, bar]", "joints.3.between", 27),
    "a body of a reserved name": ("  bar: {", "  platform: {", "bodies.platform", 22),
    "an unknown field of a group": ("- copies: {count: 2", "- copeis: {count: 2", "groups.0.copeis", 6),
    "a field of a joint": ("between: [plate2, bar], at", "between: [plate2, bar], att", "joints.3.att", 27),
    "a field of a group's body": ("plate: {mass: 0.2", "plate: {mas: 0.2", "groups.0.bodies.plate.mass", 8),
    "a field of a leg": ("    kind: chain\n", "    kind: chain\n    stroke: 3\n", "groups.0.legs.0.stroke", 12),
    "two joints of a name": ("name: hinge4", "name: hinge3", "joints.3.name", 27),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_at_their_place_in_the_file(name: str) -> None:
    old, new, field, line = FAULTS[name]
    with pytest.raises(RobotFileError) as caught:
        loads(PAR4.replace(old, new, 1))
    fault = caught.value.faults[0]
    assert (fault.field, fault.line) == (field, line)


def test_what_can_move_on_its_own_is_named() -> None:
    """Without a hinge the bar turns; with the platform held, that is all that moves."""
    text = "\n".join(line for line in PAR4.splitlines() if "hinge4" not in line)
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    assert "hinge3" in str(caught.value)
    assert "arm1.motor" not in str(caught.value)


def test_check_says_what_a_machine_is() -> None:
    """Par4: 16 bodies, 24 joints (8 driven or hinges, 16 balls), so 8 loops; 6 (16 - 24) + 8 + 48 = 8."""
    remarks = " ".join(check("par4").remarks)
    for part in ("plate1, plate2", "16 moving bodies, 24 joints, 8 independent loops", "+ 56 = 8"):
        assert part in remarks


def test_check_counts_couplings_and_internal_coordinates() -> None:
    """A quill between a screw and a spline: 7 bodies, 8 joints, one of them cylindrical, two couplings. A multi-link
    engine: crank, link, rod, strut, shaft and piston; six hinges, a bore and the shaft's bearing, two loops."""
    folder = Path(__file__).parents[1] / "data" / "hostile_machines"
    scara = " ".join(check(folder / "scara.yaml").remarks)
    assert "6 (7 - 8) + 9 - 2 (couplings) = 1" in scara
    engine = " ".join(check(folder / "engine.yaml").remarks)
    for part in ("6 moving bodies, 8 joints, 2 independent loops", "6 (6 - 8) + 8 = -4", "driven: engine.main"):
        assert part in engine


def test_results_know_the_drives_of_legs_that_share_bodies() -> None:
    """Actuators of a machine have their legs' names; their limits were not given to verdicts."""
    robot = pp.load("par4")
    names = [f"arm{k}" for k in (1, 2, 3, 4)]
    result = xr.Dataset(
        coords={"actuator": names, "actuator_leg": ("actuator", ["machine"] * 4)}, attrs={"robot_file": dumps(robot)}
    )
    assert [drive.max_force for drive in drives(result)] == [100.0] * 4
