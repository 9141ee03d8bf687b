"""Robots of chain legs against an engine of constraints that shares only the robot's data with polypod.

Functions are interpreted: what is checked is their equations. Compiled functions equal interpreted ones by other tests.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError
from polypod.files import loads
from polypod.formulations import FORMULATIONS
from polypod.formulations.derivatives import derivatives
from polypod.formulations.dry_friction import DryFriction
from polypod.mechanism.closing import closed
from polypod.mechanism.kinematics import limited
from polypod.mobility.mobility import known_mobility
from polypod.mobility.numeric_leg import NumericLeg
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Array, Engine, Motion, OutOfReachError, Place
from support.refusals import refused, says
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import ROBOTS as USUAL
from support.robots.random_chains import as_chains, as_data, carried, shuffled
from support.robots.unusual_chains import UNUSUAL
from support.states import mostly_long

ROBOTS = {**USUAL, **UNUSUAL, **MACHINES}
FOLDER = Path(__file__).parent.parent / "data" / "golden" / "general"
GOLDEN = sorted(path.stem for path in FOLDER.glob("*.json"))
# Both sides round in double precision, magnified by the condition of legs and Jacobian (below 1e3): 1e-12 is reached.
TOLERANCE = 1e-10
# One of every kind of closing and of every way to state a leg, small ones; the others differ in the letters of joints.
DEFAULT = (
    "planar 4-RRR",
    "five-bar",
    "agile eye",
    "3-PRS turned",
    "3-UPU",
    "hinge",
    "ankle",
    "all driven",
    "3-PRPaR",
    "four-bar",
    "slider-crank",
)
# Small graphs, on which all functions are built in a moment.
FEW_LEGS = ("planar 4-RRR", "3-PRS turned", "hinge", "all driven")
each_robot = pytest.mark.parametrize("name", mostly_long(ROBOTS, DEFAULT))


class Case(NamedTuple):
    """A robot by the engine, moving."""

    data: dict[str, Any]
    engine: Engine
    place: Place
    motion: Motion
    given: dict[str, Array]


def moving(data: dict[str, Any], seed: int, reach: float = 0.03) -> Case:
    """A robot near home in a random motion that it can make."""
    engine, rng = Engine(data), np.random.default_rng(seed)
    m = len(engine.chosen)
    aim = rng.uniform(-reach, reach, m)
    try:
        place = engine.displaced(aim)
    except OutOfReachError:  # some machines stretch their arms near home
        place = engine.displaced(0.1 * aim)
    velocity = engine.velocity(place, rng.normal(size=m))
    motion = Motion(velocity, engine.acceleration(place, velocity, 3 * rng.normal(size=m)))
    given = {"pose": engine.pose(place), "twist": velocity[0], "acceleration": motion.acceleration[0]}
    return Case(data, engine, place, motion, {**given, "wrench": 5 * rng.normal(size=6)})


@cache
def case(name: str, seed: int = 1) -> Case:
    return moving(ROBOTS[name](seed), seed + 1)


@cache
def functions(name: str, seed: int = 1) -> Functions:
    return Functions(pp.Robot.model_validate(ROBOTS[name](seed)))


def check(got: Any, wanted: Any, tolerance: float = TOLERANCE, scale: Any = None) -> None:
    """Largest difference over the largest wanted value, or over a scale."""
    assert_close(np.asarray(got, dtype=float)[None], np.asarray(wanted, dtype=float)[None], tolerance, scale)


def compare(function: Functions, c: Case) -> None:
    """Coordinates, rates and forces with friction; the answers of everything else follow from the same parts.

    A leg that is nearly stretched turns the rounding of the engine's pose, 1e-14, into that over its margin, and
    accelerations lose a digit more.
    """
    q = c.engine.coordinates(c.place)
    found = function("inverse_kinematics", **c.given)
    margin = float(found["quality"])
    tolerance = TOLERANCE + 1e-14 / margin
    check(found["q"], q, scale=max(1.0, np.abs(q).max()))
    qdot = c.engine.drive_rows(c.place) @ c.motion.velocity.ravel()
    check(function("rates", **c.given)["qdot"], qdot, tolerance)
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    check(function("inverse_dynamics", friction=True, **c.given)["force"], wanted, tolerance + 1e-13 / margin)


@each_robot
def test_kinematics_and_forces(name: str) -> None:
    compare(functions(name), case(name))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, FEW_LEGS))
def test_other_functions(name: str) -> None:
    """Accelerations, forces without friction, direct dynamics, mass matrix, energies."""
    c, function = case(name), functions(name)
    check(
        function("accelerations", **c.given)["qddot"],
        c.engine.drive_accelerations(c.place, *c.motion),
    )
    force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    check(function("inverse_dynamics", **c.given)["force"], force)
    for friction in (False, True):
        force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction)
        found = function("direct_dynamics", friction, **c.given, force=force)["acceleration"]
        check(found, c.given["acceleration"])
        wanted = c.engine.direct_dynamics(c.place, c.motion.velocity, 1.1 * force, c.given["wrench"], friction)
        check(function("direct_dynamics", friction, **c.given, force=1.1 * force)["acceleration"], wanted)
    check(function("mass_matrix", **c.given)["mass_matrix"], c.engine.mass_matrix(c.place))
    energy = function("energy", **c.given)
    check(energy["kinetic"], c.engine.kinetic(c.place, c.motion.velocity))
    check(energy["potential"], c.engine.potential(c.place))


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("name", ROBOTS)
def test_other_numbers(name: str, seed: int) -> None:
    """The same kinds of robots with other numbers, of other makes where axes decide."""
    compare(functions(name, seed), case(name, seed))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("agile eye", "five-bar")))
def test_newton_equals_known_patterns(name: str) -> None:
    """A leg closed by iterating is where its pattern puts it.

    The force on five rods changes by 1.3e7 N per metre of pose that their lengths forbid: 1e-14 m are 1.6e-10 of it.
    """
    data = deepcopy(case(name).data)
    for leg in data["legs"]:
        leg["closing"] = "newton"
    iterated, given = Functions(pp.Robot.model_validate(data)), case(name).given
    for friction in (False, True):
        force = functions(name)("inverse_dynamics", friction, **given)["force"]
        tolerance = 1.6e-10 if name == "five rods" else 1e-11
        check(iterated("inverse_dynamics", friction, **given)["force"], force, tolerance)


@pytest.mark.parametrize("formulation", [f for f in FORMULATIONS if f != "virtual-power"])
@pytest.mark.parametrize("name", mostly_long(("five-bar", "3-PRS", "6-RUS"), ("five-bar", "3-PRS")))
def test_formulations(name: str, formulation: str) -> None:
    given, function = case(name).given, functions(name)
    wanted = function("inverse_dynamics", True, **given)["force"]
    if formulation == "recursive-matrix" and function.mechanism.platform.is_constrained:
        with refused(InputError, "recursive-matrix", code="varying_constraints"):
            function("inverse_dynamics", True, formulation, **given)
        return
    check(function("inverse_dynamics", True, formulation, **given)["force"], wanted, 1e-11)


@pytest.mark.parametrize("name", mostly_long(MACHINES, ("slider-crank",)))
def test_every_formulation_that_applies(name: str) -> None:
    """By the engine, with and without friction; where recursive matrices do not apply the error says why."""
    c, function = case(name), functions(name)
    for friction in (False, True):
        wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction)
        for formulation in FORMULATIONS:
            try:
                found = function("inverse_dynamics", friction, formulation, **c.given)["force"]
            except InputError as error:
                assert formulation == "recursive-matrix"
                says(str(error), "virtual-power newton-euler lagrange")
                continue
            check(found, wanted)


def test_motion_of_one_dof() -> None:
    """Of a linkage whose coupler moves as its loop lets it: pose, twist and acceleration from one component."""
    c = case("four-bar")
    (along,) = c.engine.chosen[:, :3]
    way = along @ (c.given["pose"][:3, 3] - c.engine.home[:3, 3])
    rates = {"xdot": [along @ c.given["twist"][:3]], "xddot": [along @ c.given["acceleration"][:3]]}
    found = functions("four-bar")("motion", x=[way], **rates)
    for name in ("pose", "twist", "acceleration"):
        check(found[name], c.given[name])


def test_newton_euler_where_the_last_joint_is_driven() -> None:
    """The joint at the platform closes the loop and is driven too: its drive is one of the unknowns."""
    c, function = case("all driven"), functions("all driven")
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    check(function("inverse_dynamics", True, "newton-euler", **c.given)["force"], wanted)


@pytest.mark.long
def test_legs_closed_by_iterating_have_derivatives_and_a_lagrangian() -> None:
    """The equations of a leg's solution are differentiated: the same numbers as those of closed forms."""
    data = deepcopy(case("planar 3-RRR").data)
    for leg in data["legs"]:
        leg["closing"] = "newton"
    iterated, known, given = (
        Functions(pp.Robot.model_validate(data)),
        functions("planar 3-RRR"),
        case("planar 3-RRR").given,
    )
    wanted = known("inverse_dynamics", True, **given)["force"]
    check(iterated("inverse_dynamics", True, "lagrange", **given)["force"], wanted, 1e-11)
    found = []
    for function in (iterated, known):
        mechanism, blocks = function.mechanism, ("pose", "twist", "acceleration", "parameters")
        some = mechanism.numbers.symbols[:12]
        rows = derivatives(mechanism, "inverse_dynamics", blocks, some, True, DryFriction())
        found.append(function.evaluate(closed(mechanism, rows), **given))
    for block in ("by_pose", "by_twist", "by_acceleration", "by_parameters"):
        check(found[0][block], found[1][block], 1e-10)
    with refused(InputError, code="iterated"):
        iterated("inverse_dynamics", True, "recursive-matrix", **given)


@pytest.mark.parametrize("name", mostly_long(("3-PRS", "tricept", "6-CRS", "6-RUS"), ("3-PRS", "tricept")))
def test_reactions(name: str) -> None:
    """Wrenches of the joints are the engine's multipliers; bodies fixed to the platform are part of it."""
    c, function = case(name), functions(name)
    force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    wanted = c.engine.reactions(c.place, c.motion, c.given["wrench"], force)
    found = iter(function("reactions", **c.given)["wrenches"])
    size = max(np.abs(wrench).max() for wrench in wanted.values())
    for number, leg in enumerate(function.mechanism.legs):
        stated = {joint["name"]: joint for joint in c.data["legs"][number]["joints"]}
        for joint in leg.placement.joints:
            second = leg.leg._plan.group[stated[joint.name]["between"][1]]
            sign = 1 if second == joint.child else -1
            check(next(found), sign * wanted[number, joint.name], scale=size)


def test_one_leg_may_hold_the_platform_all_around() -> None:
    """The middle of its joints is the platform's origin: a size of zero made every pose singular."""
    robot = pp.Robot.model_validate(case("H4").data)
    assert np.linalg.norm(robot.attachments) < 1e-12
    joints = [j["at"] for leg in case("H4").data["legs"] for j in leg["joints"] if "platform" in j["between"]]
    arms = np.linalg.norm(np.array(joints, dtype=float) - robot.home.position, axis=1)
    assert arms.min() - 1e-12 <= robot.platform_size <= arms.max() + 1e-12
    jacobian, found = (functions("H4")(name, pose=robot.home.matrix) for name in ("jacobian", "conditioning"))
    arcs = jacobian["jacobian"] / [1.0, 1.0, 1.0, robot.platform_size]  # the rotation as an arc at that size
    assert_close(found["condition"][None], np.linalg.cond(arcs)[None], 1e-9)


def test_loops_inside_legs_do_not_hold_the_platform() -> None:
    """What a planar loop repeats is rounding, and was taken for constraints where no other was there."""
    mobility = known_mobility(pp.Robot.model_validate(UNUSUAL["3-R(RRRRR)S"](1)))
    assert mobility is not None
    assert mobility.used == ()


def test_a_rod_on_a_skew_cross_keeps_its_length() -> None:
    robot = pp.Robot.model_validate(UNUSUAL["5-UPS+US"](1))
    leg, pose = NumericLeg(robot.legs[0], robot), robot.home.matrix
    cross, ball = (np.array(joint.at) for joint in robot.legs[0].joints)
    pose[:3, 3] += [0.05, -0.1, 0.2]
    _, gap, value, *_ = leg.at(pose, leg.home)
    assert gap == 0.0
    length = np.linalg.norm(ball + np.array([0.05, -0.1, 0.2]) - cross)
    check(value, [length - np.linalg.norm(ball - cross)], 1e-12)


def test_what_spins_freely_is_not_braked() -> None:
    """Friction in the balls of rods that spin is the same whatever the base's axes are."""
    data = ROBOTS["delta of balls"](1)
    turned = carried(data, Rotation.from_rotvec([0.5, 0.9, -0.3]).as_matrix())
    for robot in (data, turned):
        compare(Functions(pp.Robot.model_validate(robot)), moving(robot, 5))


def test_least_norm_counts_friction_of_the_drives() -> None:
    """Of all forces that make the motion, what actuators apply in sum is least, their own friction included."""
    c, function = case("planar 4-RRR"), functions("planar 4-RRR")
    force = function("inverse_dynamics", True, **c.given)["force"]
    # J^T f is the same for forces that differ by what J^T does not see
    idle = null_space(function("jacobian", **c.given)["jacobian"].T)
    assert idle.shape == (4, 1)
    assert abs(force @ idle) < 1e-12 * np.linalg.norm(force)


def test_a_slide_may_grow_inwards() -> None:
    """A telescopic leg whose slide is stated from the platform to the base; home looks the same with either sense."""
    data = deepcopy(case("straight shuffled UPS").data)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            if joint["kind"] == "prismatic":
                joint["axis"] = [-x for x in joint["axis"]]
    c, function = moving(data, 2), Functions(pp.Robot.model_validate(data))
    check(function("inverse_kinematics", **c.given)["q"], c.engine.coordinates(c.place))
    check(function("energy", **c.given)["kinetic"], c.engine.kinetic(c.place, c.motion.velocity))


@pytest.mark.parametrize("name", mostly_long(("kim-ryu", "pedrammehr"), ("kim-ryu",)))
def test_a_chain_equals_the_short_kind(name: str) -> None:
    """PUS and UPS legs written as bodies and joints at home; rails take the loads of their friction alike."""
    robot = pp.load(name)
    chain = Functions(pp.Robot.model_validate(as_chains(robot)))
    short, rng = Functions(robot), np.random.default_rng(0)
    for _ in range(2):
        pose = robot.home.matrix
        pose[:3, 3] += 0.05 * rng.uniform(-1, 1, 3)
        pose[:3, :3] = Rotation.from_rotvec(0.1 * rng.uniform(-1, 1, 3)).as_matrix() @ pose[:3, :3]
        given = {"pose": pose, "twist": rng.normal(size=6), "acceleration": rng.normal(size=6)}
        check(chain("inverse_kinematics", **given)["q"], short("inverse_kinematics", **given)["q"], 1e-12)
        for friction in (False, True):
            wanted = short("inverse_dynamics", friction, **given)["force"]
            check(chain("inverse_dynamics", friction, **given)["force"], wanted, 1e-12)
        check(chain("mass_matrix", **given)["mass_matrix"], short("mass_matrix", **given)["mass_matrix"], 1e-12)


# -- answers computed elsewhere ----------------------------------------------------------------------------------------


def golden(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", mostly_long(pp.library(), ("agile-eye", "five-bar")))
def test_library_robots(name: str) -> None:
    robot = pp.load(name)
    if any(leg.kind != "chain" for leg in robot.legs):
        pytest.skip("not of chains")
    data = as_data(robot)
    compare(Functions(robot), moving(data, 1, 0.02 * Engine(data).size))


@pytest.mark.parametrize("name", GOLDEN)
def test_the_engine_gives_golden_answers(name: str) -> None:
    data = golden(name)
    engine = Engine(data["robot"])
    for state in data["states"][:3]:
        place = engine.reach(np.array(state["pose"]))
        check(engine.pose(place), state["pose"], 1e-13)
        velocity = engine.velocity(place, engine.chosen @ state["twist"])
        motion = Motion(velocity, engine.acceleration(place, velocity, engine.chosen @ state["acceleration"]))
        check(motion.velocity[0], state["twist"], 1e-12)
        check(motion.acceleration[0], state["acceleration"], 1e-12)
        check(engine.coordinates(place), state["q_from_home"], 1e-12)
        check(engine.drive_rows(place) @ velocity.ravel(), state["qdot"], 1e-12)
        wrench = np.array(state["wrench"])
        check(engine.inverse_dynamics(place, motion, wrench), state["force"], 1e-12)
        check(engine.inverse_dynamics(place, motion, wrench, friction=True), state["force_viscous"], 1e-12)
        check(engine.kinetic(place, velocity), state["kinetic"], 1e-12)
        check(engine.potential(place), state["potential"], 1e-12)
        check(engine.mass_matrix(place), state["mass_matrix_in_dof_rates"], 1e-12)


@pytest.mark.parametrize("name", mostly_long(GOLDEN, ("3-rps",)))
def test_golden_answers(name: str) -> None:
    data = golden(name)
    function = Functions(pp.load(FOLDER / f"{name}.yaml"))
    for state in data["states"]:
        given = {field: np.array(state[field]) for field in ("pose", "twist", "acceleration", "wrench")}
        check(function("inverse_kinematics", **given)["q"], state["q_from_home"], 1e-12)
        check(function("rates", **given)["qdot"], state["qdot"], 1e-12)
        check(function("inverse_dynamics", **given)["force"], state["force"], 1e-12)
        check(function("inverse_dynamics", True, **given)["force"], state["force_viscous"], 1e-12)
        found = function("direct_dynamics", **given, force=state["force"])["acceleration"]
        check(found, state["acceleration"], 1e-11)
        check(function("mass_matrix", **given)["mass_matrix"], state["mass_matrix_in_dof_rates"], 1e-12)
        energy = function("energy", **given)
        check(energy["kinetic"], state["kinetic"], 1e-12)
        check(energy["potential"], state["potential"], 1e-12)


def test_golden_answers_however_the_robot_is_written() -> None:
    """Axes the other way round turn signs; another base, order of legs and joints, and names change nothing else."""
    data, rng = golden("3-rps"), np.random.default_rng(3)
    robot, turn, shift = data["robot"], Rotation.from_rotvec([0.4, -0.9, 1.3]).as_matrix(), np.array([0.5, -1.2, 0.7])
    for leg in robot["legs"]:
        for joint in leg["joints"]:
            if "axis" in joint:
                joint["axis"] = [-x for x in joint["axis"]]
    legs = [shuffled(rng, leg) | {"name": f"Bein {k}: Größe, ä"} for k, leg in enumerate(robot["legs"])]
    function = Functions(loads(to_yaml(carried({**robot, "legs": legs[::-1]}, turn, shift))))
    carry, both = np.eye(4), np.kron(np.eye(2), turn)
    carry[:3, :3], carry[:3, 3] = turn, shift
    for state in data["states"][:2]:
        given = {field: both @ state[field] for field in ("twist", "acceleration", "wrench")}
        given["pose"] = carry @ state["pose"]
        check(function("inverse_kinematics", **given)["q"], -np.array(state["q_from_home"])[::-1], 1e-12)
        check(function("rates", **given)["qdot"], -np.array(state["qdot"])[::-1], 1e-12)
        check(function("inverse_dynamics", True, **given)["force"], -np.array(state["force_viscous"])[::-1], 1e-12)


def test_angles_of_crosses_and_balls_are_limited_about_their_own_axes() -> None:
    """By Euler angles and quaternions of the engine's bodies: the angles are those that the limits see."""
    data = deepcopy(case("straight UPS").data)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            if joint["kind"] == "universal":
                joint["ranges"] = {"first": [-0.3, "40 deg"], "second": [-0.4, 0.5]}
            elif joint["kind"] == "spherical":
                joint["cone"] = {"axis": [0.36, 0.48, 0.8], "half_angle": 1.0}
                joint["ranges"] = {"twist": [-0.6, 0.7]}
    robot = pp.Robot.model_validate(data)
    assert robot.legs[0].joints[0].ranges.first == (-0.3, np.deg2rad(40.0))
    c, function = moving(data, 3, 0.1), Functions(robot)
    names = [f"{leg.name} {limit.name}" for leg in function.mechanism.legs for limit in leg.placement.limits]
    (values,) = function.evaluate(limited(function.mechanism), **c.given).values()
    found = dict(zip(names, values[1:], strict=True))
    for number, leg in enumerate(data["legs"], 1):
        for joint in leg["joints"]:
            held = c.engine.joints[number - 1, joint["name"]]
            turn = c.engine._turn(c.place, held.first).T @ c.engine._turn(c.place, held.second)
            if joint["kind"] == "universal":
                one, two = np.array(joint["axes"])
                axes = np.array([one, two, np.cross(one, two)]).T
                angles = Rotation.from_matrix(axes.T @ turn @ axes).as_euler("XYZ")
                wanted = {"first": angles[0], "second": angles[1]}
            elif joint["kind"] == "spherical":
                x = Rotation.from_matrix(turn).as_quat()
                wanted = {"twist": 2 * np.arctan2(x[:3] @ [0.36, 0.48, 0.8], x[3])}
            else:
                continue
            for name, angle in wanted.items():
                check(found[f"leg{number} {joint['name']} {name}"], angle, 1e-12, 1.0)


def test_faults_of_ranges() -> None:
    data = case("straight UPS").data
    kinds = {joint["kind"]: k for k, joint in enumerate(data["legs"][0]["joints"])}

    def fault(kind: str, ranges: Any, **more: Any) -> str:
        changed = deepcopy(data)
        changed["legs"][0]["joints"][kinds[kind]] |= {"ranges": ranges, **more}
        with refused(ValueError, "ranges") as caught:
            pp.Robot.model_validate(changed)
        return str(caught.value)

    says(fault("universal", {"twist": [-1, 1]}), "first second")
    says(fault("spherical", {"twist": [-1, 1]}), "cone")
    says(fault("prismatic", {"translation": [-1, 1]}), "range")
    says(fault("universal", {"first": [0.1, 0.2]}), "home 0 [0.1, 0.2]")
