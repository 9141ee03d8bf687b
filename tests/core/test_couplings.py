"""Couplings between joints, against an engine that adds each as a row of its constraints, and against closed forms."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from math import pi
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.linalg import null_space

import polypod as pp
from core.test_chain import Case, check, compare, moving
from polypod.description import LegData
from polypod.errors import InputError, RobotFileError
from polypod.exchange import import_robot
from polypod.export import export_mjcf, export_sdf, export_urdf
from polypod.files import dumps, loads
from polypod.yaml12 import to_yaml
from support.chain_functions import EXACT, Functions
from support.engines.chain_engine import Engine, Motion
from support.refusals import refused
from support.robots.coupled_chains import BETWEEN, COUPLED
from support.robots.hexagon import hexagon_modes
from support.robots.random_chains import as_data
from support.states import mostly_long

ROBOTS = {**COUPLED, **BETWEEN}
each_robot = pytest.mark.parametrize("name", mostly_long(ROBOTS, ("coupled all around", "differential of legs")))
one_robot = pytest.mark.parametrize("name", mostly_long(ROBOTS, ("coupled all around",)))
# Seeds whose legs are not near a dead point; both sides then agree to rounding magnified by their condition.
SEEDS = {"helical": 2, "shuffled crosses": 2}

LIFT = """
name: lift
home: {position: [0, 0, 0.5]}
platform: {mass: 10, inertia: [0.1, 0.1, 0.1]}
dof: [z]
legs:
- name: all
  kind: chain
  bodies:
    spindle: {mass: 2, com: [0, 0, 0.2], inertia: [0.01, 0.01, 0.003]}
  joints:
  - {name: motor, kind: revolute, between: [base, spindle], at: [0, 0, 0], axis: [0, 0, 1], actuated: true}
  - {name: guide, kind: prismatic, between: [base, platform], at: [0.1, 0, 0.5], axis: [0, 0, 1]}
couplings:
- {kind: screw, turn: all.motor, travel: all.guide, lead: 5 mm}
"""
SCREW = "{kind: screw, turn: all.motor, travel: all.guide, lead: 5 mm}"


@cache
def case(name: str) -> Case:
    seed = SEEDS.get(name, 1)
    return moving(ROBOTS[name](seed), seed + 1, 0.01)


@cache
def functions(name: str) -> Functions:
    data = case(name).data
    return Functions(loads(to_yaml(data)) if name in BETWEEN else pp.Robot.model_validate(data))


@each_robot
def test_kinematics_and_forces(name: str) -> None:
    """Coordinates of many turns, rates, and forces with friction of every coupled joint."""
    compare(functions(name), case(name))


@one_robot
def test_reactions_of_couplings_and_joints(name: str) -> None:
    """The coupling's own reaction is its multiplier; joints carry it about their axes, as they carry drives."""
    c, function = case(name), functions(name)
    force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    found = function("reactions", **c.given)
    check(found["force"], force)
    wanted = c.engine.coupling_forces(c.place, c.motion, c.given["wrench"], force)
    check(found["couplings"], list(wanted.values()))
    if len(c.data["legs"]) == 1:  # a linkage in a plane holds itself there more than once
        return
    wrenches = c.engine.reactions(c.place, c.motion, c.given["wrench"], force)
    rows, size = iter(found["wrenches"]), max(np.abs(wrench).max() for wrench in wrenches.values())
    stated = {(number, joint["name"]): (f"{leg.get('name') or f'leg{number + 1}'}.{joint['name']}", joint)
              for number, leg in enumerate([*c.data["legs"], {"joints": c.data.get("joints", ())}])
              for joint in leg["joints"]}  # fmt: skip
    keys = {label: key for key, (label, _) in stated.items()}
    for leg in function.mechanism.legs:
        for joint in leg.placement.joints:
            own = joint.name if leg.name == "machine" else f"{leg.name}.{joint.name}"
            key = keys.get(own) or (len(c.data["legs"]), joint.name)
            sign = 1 if stated[key][1]["between"][1] == joint.child.rpartition("/")[2] else -1
            check(next(rows), sign * wrenches[key], scale=size)


@pytest.mark.long
@one_robot
def test_other_functions(name: str) -> None:
    """Formulations, accelerations, direct dynamics both ways, mass matrix and energies."""
    c, function = case(name), functions(name)
    check(function("accelerations", **c.given)["qddot"], c.engine.drive_accelerations(c.place, *c.motion))
    for friction in (False, True):
        force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction)
        for formulation in ("newton-euler", "lagrange"):
            check(function("inverse_dynamics", friction, formulation, **c.given)["force"], force)
        found = function("direct_dynamics", friction, **c.given, force=force)["acceleration"]
        check(found, c.given["acceleration"])
        wanted = c.engine.direct_dynamics(c.place, c.motion.velocity, 1.1 * force, c.given["wrench"], friction)
        check(function("direct_dynamics", friction, **c.given, force=1.1 * force)["acceleration"], wanted)
    check(function("mass_matrix", **c.given)["mass_matrix"], c.engine.mass_matrix(c.place))
    energy = function("energy", **c.given)
    check(energy["kinetic"], c.engine.kinetic(c.place, c.motion.velocity))
    check(energy["potential"], c.engine.potential(c.place))
    with refused(InputError, "recursive-matrix", code="couplings"):
        function("inverse_dynamics", False, "recursive-matrix", **c.given)


# -- closed forms ------------------------------------------------------------------------------------------------------


@cache
def lift() -> pp.Model:
    return pp.Model(loads(LIFT))


def at_height(z: float) -> Any:
    pose = np.eye(4)
    pose[2, 3] = z
    return pose


def test_a_screw_that_lifts_a_mass() -> None:
    """Torque = lead/(2 pi) m (g + a) + J (2 pi/lead) a, over twenty turns; its thrust is the weight and more."""
    per_metre, a, v = 2 * pi / 0.005, 3.0, 0.1
    pose, twist, acceleration = at_height(0.6), [0, 0, v, 0, 0, 0], [0, 0, a, 0, 0, 0]
    torque = 10 * (9.81 + a) / per_metre + 0.003 * per_metre * a
    model = lift()
    check(model.inverse_kinematics(pose), [0.1 * per_metre], 1e-14)
    check(model.forward_kinematics([0.1 * per_metre]), pose, 1e-14)
    check(model.inverse_dynamics(pose, twist, acceleration), [torque], 1e-14)
    check(model.direct_dynamics(pose, twist, [torque]), acceleration, 1e-13)
    found = model.reactions(pose, twist, acceleration)
    check(found.couplings["all"]["coupling1"], 10 * (9.81 + a), 1e-14)
    check(found.legs["all"]["guide"].force, [0, 0, 10 * (9.81 + a)], 1e-14)
    check(found.legs["all"]["motor"].moment, [0, 0, 0.003 * per_metre * a], 1e-12)
    check(model.energy(pose, twist).kinetic, 0.5 * 10 * v**2 + 0.5 * 0.003 * (per_metre * v) ** 2, 1e-14)
    check(model.mass_matrix(pose), [[10 + 0.003 * per_metre**2]], 1e-14)


def test_positions_of_joints_that_turn_many_times() -> None:
    """The spindle's twenty turns are counted; a spring in it winds up that far."""
    found = lift().joint_positions(at_height(0.6))
    check(found["all.motor"], [0.1 * 2 * pi / 0.005], 1e-13)
    check(found["all.guide"], [0.1], 1e-13)
    spring = "elements: [{name: clock, kind: spring, joint: all.motor, stiffness: 0.02 N m/rad}]\n"
    wound = pp.Model(loads(LIFT + spring)).inverse_dynamics(at_height(0.6), np.zeros(6), np.zeros(6))
    check(wound, [10 * 9.81 * 0.005 / (2 * pi) + 0.02 * 0.1 * 2 * pi / 0.005], 1e-12)


def test_designs_and_derivatives_by_the_lead() -> None:
    """The lead is a number like others: another one compiles nothing, and torques differ by its derivative."""
    pose, twist, acceleration = at_height(0.6), np.zeros(6), [0, 0, 3, 0, 0, 0]
    path = "legs.0.couplings.0.lead"
    other = lift().inverse_dynamics(pose, twist, acceleration, parameters={path: 0.01})
    check(other, [10 * 12.81 * 0.01 / (2 * pi) + 0.003 * 3 * 2 * pi / 0.01], 1e-14)
    found = lift().derivatives("inverse_dynamics", pose, twist, acceleration, parameters=[path])
    slope = 10 * 12.81 / (2 * pi) - 0.003 * 3 * 2 * pi / 0.005**2
    check(np.ravel(found.parameters), [slope], 1e-12)


def test_a_pair_of_gears() -> None:
    """A motor behind a gear feels its own inertia, and the arm's by the square of the ratio."""
    text = """
    name: crank
    home: {position: [0.3, 0, 0]}
    platform: {mass: 2, com: [0, 0, 0], inertia: [0.01, 0.01, 0.01]}
    dof: [all.arm]
    legs:
    - name: all
      kind: chain
      bodies: {rotor: {mass: 0.5, com: [0, 0.2, 0], inertia: [1.0e-4, 1.0e-4, 2.0e-4]}}
      joints:
      - {name: arm, kind: revolute, between: [base, platform], at: [0, 0, 0], axis: [0, 1, 0]}
      - {name: motor, kind: revolute, between: [base, rotor], at: [0, 0.2, 0], axis: [0, 0, 1], actuated: true,
         friction: {viscous: 0.01}}
    couplings: [{kind: gear, name: pair, input: all.motor, output: all.arm, ratio: -50}]
    """
    model = pp.Model(loads(text))
    angle, rate, change = 0.4, 1.5, 2.0
    pose, twist, acceleration = (np.asarray(one)[0] for one in model.motion([[angle]], [[rate]], [[change]]))
    check(model.inverse_kinematics(pose), [-50 * angle], 1e-13)
    needed = (2 * 0.3**2 + 0.01) * change - 2 * 9.81 * 0.3 * np.cos(angle)
    wanted = needed / -50 + 2e-4 * -50 * change + 0.01 * -50 * rate
    check(model.inverse_dynamics(pose, twist, acceleration), [wanted], 1e-12)
    check(model.reactions(pose, twist, acceleration).couplings["all"]["pair"], -needed / -50, 1e-12)


NUT = """
name: nut
home: {position: [0, 0, 0.3]}
platform: {mass: 1, inertia: [0.001, 0.001, 0.002]}
dof: [z]
legs:
- {kind: chain, name: all, bodies: {}, joints: [JOINT]}
"""
THREAD = "{name: thread, kind: helical, between: [base, platform], at: [0, 0, 0], axis: [0, 0, 1], lead: 60 mm, "
THREAD += "actuated: rotation}"


@pytest.mark.long
def test_energy_stays_as_a_spinning_nut_falls() -> None:
    """A nut that falls along its thread turns faster and faster; what it loses in height is in its motion."""
    model, k = pp.Model(loads(NUT.replace("JOINT", THREAD))), 2 * pi / 0.06
    fall = model.direct_dynamics(at_height(0.3), np.zeros(6), [0.0])
    slope = -9.81 / (1 + 0.002 * k**2)
    check(fall, np.array([0, 0, 1, 0, 0, k]) * slope, 1e-13)
    run = pp.simulate(model, duration=0.5)
    check(run.pose[-1, 2, 3], 0.3 + 0.5 * slope * run.time[-1] ** 2, 1e-8)
    energy = model.energy(run.pose, run.twist)
    check(energy.kinetic + energy.potential, np.full(len(run.time), 9.81 * 0.3), 1e-8)


def test_nuts_that_turn_with_the_universal_joints_of_a_hexapod() -> None:
    """The motor's angle, here of up to twenty turns, is the travel's turns and the nut's own turn, which the two
    universal joints make."""
    robot = pp.load("screw-hexapod")
    data = as_data(robot)
    assert {leg["couplings"][0]["lead"] for leg in data["legs"]} == {0.001, -0.001}
    engine, rng = Engine(data), np.random.default_rng(5)
    place = engine.displaced(np.array([0.01, -0.008, 0.012, 0.03, 0.05, -0.06]), steps=20)
    velocity = engine.velocity(place, rng.normal(size=6))
    motion = Motion(velocity, engine.acceleration(place, velocity, 3 * rng.normal(size=6)))
    given = {"pose": engine.pose(place), "twist": velocity[0], "acceleration": motion.acceleration[0]}
    assert np.abs(engine.coordinates(place)).max() > 100.0
    compare(Functions(robot), Case(data, engine, place, motion, {**given, "wrench": 5 * rng.normal(size=6)}))


# -- losses ------------------------------------------------------------------------------------------------------------


def with_losses(data: dict[str, Any]) -> dict[str, Any]:
    """Every coupling loses power: by an efficiency, or by friction of all kinds."""
    kinds = [{"efficiency": 0.85}, {"friction": {"viscous": 0.01, "drag": 0.03, "coulomb": 0.2}}]

    def lossy(owner: dict[str, Any]) -> dict[str, Any]:
        given = [{**one, **kinds[k % 2]} for k, one in enumerate(owner.get("couplings", ()))]
        return {**owner, "couplings": given} if given else owner

    return lossy({**data, "legs": [lossy(leg) for leg in data["legs"]]})


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("coupled all around",)))
def test_losses_of_couplings(name: str) -> None:
    """Friction by the coupling's own reaction: forces, reactions, accelerations, found by repeating in the engine."""
    seed = SEEDS.get(name, 1)
    c = moving(with_losses(ROBOTS[name](seed)), seed + 1, 0.01)
    function = Functions(loads(to_yaml(c.data)) if name in BETWEEN else pp.Robot.model_validate(c.data), EXACT)
    engine = c.engine.with_coulomb(c.place, c.motion, c.given["wrench"])
    force = engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    assert np.abs(force / c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], True) - 1).max() > 1e-3
    for formulation in ("virtual-power", "newton-euler", "lagrange"):
        check(function("inverse_dynamics", True, formulation, **c.given)["force"], force)
    found = function("reactions", True, **c.given)
    check(found["couplings"], list(engine.coupling_forces(c.place, c.motion, c.given["wrench"], force, True).values()))
    check(function("direct_dynamics", True, **c.given, force=force)["acceleration"], c.given["acceleration"])


def efficient(**given: Any) -> pp.Model:
    """The lift with losses in its screw."""
    loss = ", ".join(f"{name}: {value}" for name, value in given.items())
    return pp.Model(loads(LIFT.replace("lead: 5 mm}", f"lead: 5 mm, {loss}}}")), friction_width=0.0)


def test_a_screw_with_an_efficiency_drives_and_is_driven() -> None:
    """Up: torque F lead/(2 pi eta); down: (2 - 1/eta) F lead/(2 pi); 40 %: it holds the load without a motor."""
    model, per_metre, lift = efficient(efficiency=0.8), 2 * pi / 0.005, 10 * 9.81 * 0.005 / (2 * pi)
    for speed, part in ((0.1, 1 / 0.8), (-0.1, 2 - 1 / 0.8)):
        twist = [0, 0, speed, 0, 0, 0]
        check(model.inverse_dynamics(at_height(0.6), twist, np.zeros(6)), [part * lift], 1e-13)
        found = model.reactions(at_height(0.6), twist, np.zeros(6))
        check(found.couplings["all"]["coupling1"], 10 * 9.81, 1e-13)
    falling = model.direct_dynamics(at_height(0.6), [0, 0, -0.1, 0, 0, 0], [0.0])[2]
    # (m + J n^2) a = -m g + k |m (g + a)|
    check(falling, -10 * 9.81 * 0.75 / (10 * 0.75 + 0.003 * per_metre**2), 1e-12)
    held = efficient(efficiency=0.4).static_force_range(at_height(0.6))
    check([held.lower, held.upper], [[(2 - 1 / 0.4) * lift], [lift / 0.4]], 1e-12)
    assert held.lower[0] < 0.0
    other = model.inverse_dynamics(
        at_height(0.6), [0, 0, 0.1, 0, 0, 0], np.zeros(6), parameters={"legs.0.couplings.0.efficiency": 0.5}
    )
    check(other, [2 * lift], 1e-13)


def test_what_a_screw_loses_is_the_power_that_is_missing() -> None:
    """Driven upwards from rest by a constant torque: work = energy + loss, and it climbs as the closed form says."""
    model, per_metre, torque = efficient(efficiency=0.8), 2 * pi / 0.005, 2.0
    run = pp.simulate(model, [torque], duration=0.4)
    # (m + J n^2) a = torque n - m g - k m (g + a)
    climb = (torque * per_metre - 10 * 9.81 * 1.25) / (10 * 1.25 + 0.003 * per_metre**2)
    check(run.pose[-1, 2, 3], 0.5 + 0.5 * climb * 0.4**2, 1e-9)
    lost = 0.25 * 10 * (9.81 + climb) * 0.5 * climb * 0.4**2
    check(run.work_friction[-1], lost, 1e-8)
    locked = pp.simulate(efficient(efficiency=0.4), duration=0.2)
    check(locked.pose[-1, 2, 3], 0.5, 1e-12)


@pytest.mark.parametrize(
    "loss",
    ["efficiency: 1.2", "efficiency: 0", "efficiency: 0.9, friction: {coulomb: 0.1}", "friction: {drag: 3 N}",
     "friction: {coulomb: 2 mm}"],
)  # fmt: skip
def test_losses_that_cannot_be_are_refused(loss: str) -> None:
    text = LIFT.replace("lead: 5 mm}", f"lead: 5 mm, {loss}}}")
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    (found,) = caught.value.faults
    assert found.field.startswith("couplings.0")
    assert loss.split(":")[0] in found.field + found.message


# -- other programs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lift", *mostly_long(COUPLED, ("differentials",))])
def test_mujoco_has_the_same_couplings(name: str) -> None:
    """MuJoCo's tree, constraint rows and inertia matrix of the exported file, solved exactly, at home in motion.

    Two joints are an equality, more a fixed tendon. Rows change along the motion as differences say: 1e-7.
    """
    robot = loads(LIFT) if name == "lift" else functions(name).mechanism.robot
    function = Functions(robot) if name == "lift" else functions(name)
    m = mujoco.MjModel.from_xml_string(export_mjcf(pp.Model(robot)))
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.dof_damping[:] = m.dof_frictionloss[:] = 0.0
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    start, force = d.qpos.copy(), 1.3 * d.ctrl + 0.1

    def rows(q: Any) -> Any:
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        mujoco.mj_jacBody(m, d, linear, angular, m.body("platform").id)
        return np.vstack([linear, angular]), d.efc_J.reshape(-1, m.nv)[: d.ne].copy()

    along, held = rows(start)
    free = null_space(held, rcond=1e-9)
    v = free @ (0.3 * np.random.default_rng(1).normal(size=free.shape[1]))

    def moved(step: float) -> Any:
        q = start.copy()
        mujoco.mj_integratePos(m, q, v, step)
        return rows(q)

    after, before = moved(1e-5), moved(-1e-5)
    drift, turning = ((a - b) / 2e-5 @ v for a, b in zip(after, before, strict=True))
    d.qpos[:], d.qvel[:], d.ctrl[:] = start, v, force
    mujoco.mj_forward(m, d)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, mass)
    push = d.qfrc_actuator + d.qfrc_passive - d.qfrc_bias
    particular = -np.linalg.lstsq(held, turning, rcond=1e-9)[0]
    change = np.linalg.solve(free.T @ mass @ free, free.T @ (push - mass @ particular))
    wanted = along @ (particular + free @ change) + drift
    given = {"pose": robot.home.matrix, "twist": along @ v, "force": force}
    check(function("direct_dynamics", **given)["acceleration"], wanted, 1e-7)


def test_urdf_has_mimic_joints_and_sdf_none() -> None:
    tree, _ = export_urdf(lift())
    joints = {one.get("name"): one for one in ET.fromstring(tree).iter("joint")}
    mimic = joints["all-guide"].find("mimic")
    assert mimic is not None
    assert mimic.get("joint") == "all-motor"
    check(float(mimic.get("multiplier") or 0), 0.005 / (2 * pi), 1e-14)
    with refused(InputError, "all-coupling1", code="coupling"):
        export_sdf(lift())


@pytest.mark.parametrize("name", ["lift", pytest.param("differentials", marks=pytest.mark.long)])
def test_couplings_come_back_from_mjcf(name: str, tmp_path: Path) -> None:
    """From the elements of the file alone: the same forces."""
    robot = loads(LIFT) if name == "lift" else functions(name).mechanism.robot
    path = tmp_path / "robot.xml"
    path.write_text(export_mjcf(pp.Model(robot)))
    back = import_robot(path, "platform").robot
    assert sum(len(leg.relations) for leg in back.legs) == sum(len(leg.relations) for leg in robot.legs)
    rng = np.random.default_rng(3)
    twist, acceleration = (rng.normal(size=6) * (1 if name != "lift" else np.eye(6)[2]) for _ in range(2))
    given = {"pose": robot.home.matrix, "twist": twist, "acceleration": acceleration}
    forces = [Functions(one)("inverse_dynamics", **given)["force"] for one in (robot, back)]
    check(np.sort(forces[1]), np.sort(forces[0]))


URDF = """<robot name="jack">
  <link name="base_link"/>
  <link name="wheel"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="plate"><inertial><mass value="3"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="drive" type="continuous" independent="true"><parent link="base_link"/><child link="wheel"/>
    <origin xyz="0 0.2 0"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="prismatic" independent="false"><parent link="base_link"/><child link="plate"/>
    <origin xyz="0 0 0.4"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="drive" multiplier="0.01"/></joint>
</robot>
"""


def test_mimic_joints_of_urdf(tmp_path: Path) -> None:
    """A wheel that lifts a plate: F = m (g + a) 0.01 + J a/0.01."""
    path = tmp_path / "jack.urdf"
    path.write_text(URDF)
    model = pp.Model(import_robot(path, "plate").robot)
    home = model.robot.home.matrix
    force = model.inverse_dynamics(home, np.zeros(6), [0, 0, 2, 0, 0, 0])
    check(force, [3 * 11.81 * 0.01 + 0.02 * 2 / 0.01], 1e-13)
    path.write_text(path.read_text().replace('multiplier="0.01"', 'multiplier="0.01" offset="0.1"'))
    with refused(InputError, "lift drive 0.1", code="gear"):
        import_robot(path, "plate")


# -- between legs ------------------------------------------------------------------------------------------------------

TABLE = """
name: table
home: {position: [0, 0, 0.3]}
platform: {mass: 40, inertia: [2, 2, 4]}
dof: [z]
legs:
- name: jack
  kind: chain
  copies: {count: 4, about: [0, 0, 1]}
  bodies:
    spindle: {mass: 2, com: [0.4, 0, 0.2], inertia: [0.01, 0.01, 0.003]}
  joints:
  - {name: bearing, kind: revolute, between: [base, spindle], at: [0.4, 0, 0], axis: [0, 0, 1]}
  - {name: nut, kind: helical, between: [platform, spindle], at: [0.4, 0, 0.3], axis: [0, 0, 1], lead: -5 mm}
bodies:
  rotor: {mass: 1, com: [0, 0, 0], inertia: [0.001, 0.001, 0.002]}
joints:
- {name: motor, kind: revolute, between: [base, rotor], at: [0, 0, 0], axis: [0, 0, 1], actuated: true}
couplings:
- {kind: belt, name: belt1, joints: [motor, jack1.bearing], radii: [20 mm, 60 mm]}
- {kind: belt, name: belt2, joints: [jack1.bearing, jack2.bearing], radii: [30 mm, 30 mm]}
- {kind: belt, name: belt3, joints: [jack2.bearing, jack3.bearing], radii: [30 mm, 30 mm]}
- {kind: belt, name: belt4, joints: [jack3.bearing, jack4.bearing], radii: [30 mm, 30 mm]}
"""


def test_four_screws_that_one_motor_turns_by_belts() -> None:
    """Whole turns are counted from screw to motor; what statics leaves open between the screws is said to be open."""
    model, per_metre = pp.Model(loads(TABLE)), 3 * 2 * pi / 0.005
    assert loads(dumps(model.robot)) == model.robot
    pose, acceleration = at_height(0.31), [0, 0, 2, 0, 0, 0]
    check(model.inverse_kinematics(pose), [0.01 * per_metre], 1e-13)
    check(model.forward_kinematics([0.01 * per_metre]), pose, 1e-13)
    check(model.joint_positions(pose)["jack3.bearing"], [0.01 * per_metre / 3], 1e-13)
    inertia = 0.002 + 4 * 0.003 / 9
    check(model.inverse_dynamics(pose, np.zeros(6), acceleration), [40 * 11.81 / per_metre + inertia * per_metre * 2])
    found = model.reactions(pose, np.zeros(6), acceleration).couplings["machine"]
    check(found["belt1"], -(40 * 11.81 / per_metre + 4 * 0.003 / 9 * per_metre * 2))
    assert np.isnan(found["jack2.nut"])


GROUP = """
name: pairs
home: {position: [0, 0, 0.5]}
platform: {mass: 5, inertia: [0.04, 0.04, 0.08]}
groups:
- copies: {count: 3, about: [0, 0, 1]}
  bodies:
    left: {mass: 0.3, com: [0.5, 0.1, 0], inertia: [0.001, 0.001, 0.001]}
    right: {mass: 0.3, com: [0.5, -0.1, 0], inertia: [0.001, 0.001, 0.001]}
  joints:
  - {name: a, kind: revolute, between: [base, left], at: [0.5, 0.1, 0], axis: [0, 1, 0], actuated: true}
  - {name: b, kind: revolute, between: [base, right], at: [0.5, -0.1, 0], axis: [0, 1, 0], actuated: true}
  legs:
  - {name: one, kind: RUS, base: [0.4, 0.1, 0], axis: [0, 1, 0], elbow: [0.45, 0.1, 0.15], platform: [0.2, 0.05, 0],
     bodies: {crank: {mass: 0.3}, rod: {mass: 0.2}}, joints: {motor: {actuated: false}}}
  - {name: two, kind: RUS, base: [0.4, -0.1, 0], axis: [0, 1, 0], elbow: [0.45, -0.1, 0.15],
     platform: [0.2, -0.05, 0], bodies: {crank: {mass: 0.3}, rod: {mass: 0.2}}, joints: {motor: {actuated: false}}}
  couplings:
  - {kind: differential, name: hip, inputs: [a, b], outputs: [one.motor, two.motor], ratio: 2}
"""


def test_couplings_of_a_group_are_copied_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each had been stated at robot level."""
    monkeypatch.delitem(LegData.registry, "RUS", raising=False)  # the example's own kind, where another test defined it
    robot = loads(GROUP)
    start = GROUP.index("  couplings:")
    stated = "".join(
        f"- {{kind: differential, name: hip{k}, ratio: 2, inputs: [a{k}, b{k}],\n"
        f"   outputs: [one{k}.motor, two{k}.motor]}}\n"
        for k in (1, 2, 3)
    )
    assert loads(GROUP[:start] + "couplings:\n" + stated) == robot
    assert [len(leg.couplings) for leg in robot.legs] == [1, 1, 1]
    model = pp.Model(robot)
    q, angles = model.inverse_kinematics(robot.home.matrix), model.joint_positions(robot.home.matrix)
    check(q, np.zeros(6), scale=1.0)
    pose = robot.home.matrix
    pose[:3, 3] += [0.01, 0.02, 0.03]
    angles = model.joint_positions(pose)
    for k in (1, 2, 3):
        p, r = angles[f"one{k}.motor"], angles[f"two{k}.motor"]
        check(np.r_[angles[f"a{k}"], angles[f"b{k}"]], np.r_[2 * (p + r), 2 * (p - r)])


def test_mirrored_groups_mirror_their_couplings() -> None:
    """A screw between two joints turns left-handed; one of a leg's own, too."""
    text = """
    name: mirrored
    home: {position: [0, 0, 1]}
    platform: {mass: 1, inertia: [0.1, 0.1, 0.1]}
    dof: [z]
    groups:
    - mirror: {plane: [1, 0, 0]}
      bodies: {rotor: {mass: 0.5, com: [0.5, 0, 0], inertia: [0.001, 0.001, 0.001]}}
      joints:
      - {name: motor, kind: revolute, between: [base, rotor], at: [0.5, 0, 0], axis: [0, 0, 1], actuated: true}
      legs:
      - name: side
        kind: chain
        bodies: {nut: {mass: 0.5, com: [0.3, 0, 0.5], inertia: [0.001, 0.001, 0.001]}}
        joints:
        - {name: guide, kind: cylindrical, between: [base, nut], at: [0.3, 0, 0.5], axis: [0, 0, 1]}
        - {name: bearing, kind: revolute, between: [nut, platform], at: [0.3, 0, 0.6], axis: [0, 0, 1]}
        couplings: [{kind: screw, joint: guide, lead: 60 mm}]
      couplings:
      - {side.guide.rotation: 3, motor: -1}
    """
    robot = loads(text)
    leads = [one.lead for leg in robot.legs for one in leg.couplings if one.kind == "screw"]
    assert sorted(leads) == [-0.06, 0.06]
    q = pp.Model(robot).inverse_kinematics(at_height(1.01))
    check(np.abs(q), np.full(2, 3 * 2 * pi / 6), 1e-13)
    check(q[0], -q[1] if robot.legs[0].joints[-1].axis == robot.legs[1].joints[-1].axis else q[1], 1e-13)


def test_legs_that_are_no_chains_are_named() -> None:
    with pytest.raises(RobotFileError) as caught:
        loads(TABLE.replace("jack2.bearing, jack3", "jack2.bearing, jack3.other, jack3"))
    assert caught.value.faults[0].field.startswith("couplings.2")
    text = dumps(pp.load("hexapod")) + "couplings: [{kind: mimic, joint: leg1.drive, of: leg2.drive}]\n"
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    assert caught.value.faults[0].field == "couplings.0"


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_helical_joint_is_a_cylindrical_one_with_a_screw() -> None:
    robot = loads(NUT.replace("JOINT", THREAD))
    written = THREAD.replace("helical", "cylindrical").replace(" lead: 60 mm,", "")
    screw = "couplings: [{kind: screw, joint: all.thread, lead: 60 mm, name: thread}]"
    assert loads(NUT.replace("JOINT", written) + screw) == robot
    assert loads(dumps(robot)) == robot


def test_mirrored_threads_are_left_handed() -> None:
    """The mirror image of a leg moves as the mirror image: its nut turns the other way for the same travel."""
    text = """
    name: two
    home: {position: [0, 0, 1]}
    platform: {mass: 1, inertia: [0.1, 0.1, 0.1]}
    dof: [z]
    leg_defaults: {kind: chain}
    legs:
    - name: left
      mirror: {plane: [1, 0, 0]}
      bodies: {nut: {mass: 0.5, com: [0.3, 0, 0.5], inertia: [0.001, 0.001, 0.001]}}
      joints:
      - {name: thread, kind: helical, between: [base, nut], at: [0.3, 0, 0.5], axis: [0, 0, 1], lead: 60 mm,
         actuated: rotation}
      - {name: bearing, kind: revolute, between: [nut, platform], at: [0.3, 0, 0.6], axis: [0, 0, 1]}
    """
    left, right = loads(text).legs
    assert left.couplings[0].lead == -right.couplings[0].lead == 0.06
    q = pp.Model(loads(text)).inverse_kinematics(at_height(1.03))
    check(q, [pi, pi], 1e-13)


FAULTS = {
    "unknown joint": "{kind: screw, turn: all.motr, travel: all.guide, lead: 5 mm}",
    "factor zero": "{all.motor: 1, all.guide: 0}",
    "one joint": "{all.motor: 1}",
    "a gear that slides": "{kind: gear, input: all.motor, output: all.guide, ratio: 3}",
    "a lead in degrees": "{kind: screw, turn: all.motor, travel: all.guide, lead: 5 deg}",
    "unknown kind": "{kind: geer, input: all.motor, output: all.guide, ratio: 3}",
    "a factor with a unit": "{all.motor: 1, all.guide: 3 mm}",
    "no mapping": "3",
    "unknown field": "{kind: screw, turn: all.motor, travel: all.guide, lead: 5 mm, backlash: 0.1 mm}",
    "to itself": "{kind: mimic, joint: all.guide, of: all.guide}",
    "repeated": "{all.motor: 5, all.guide: -6283.185307179586}",
    "no lead": "{kind: screw, turn: all.motor, travel: all.guide}",
    "lead zero": "{kind: screw, turn: all.motor, travel: all.guide, lead: 0}",
    "a joint twice": "{kind: differential, inputs: [all.motor, all.motor], outputs: [all.guide, all.other]}",
    "half a screw": "{kind: screw, turn: all.motor, lead: 5 mm}",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_couplings_have_their_line(fault: str) -> None:
    again = [SCREW] if fault == "repeated" else []
    text = LIFT.replace(f"- {SCREW}", "\n".join(f"- {one}" for one in [*again, FAULTS[fault]]))
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    (found,) = caught.value.faults
    number = len(again)
    assert found.field.split(".")[:2] == ["couplings", str(number)]
    assert found.line == text.splitlines().index(f"- {FAULTS[fault]}") + 1


def test_which_motion_of_a_joint_must_be_said() -> None:
    text = LIFT.replace("kind: prismatic", "kind: cylindrical")
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    (found,) = caught.value.faults
    assert found.field == "couplings.0"
    assert all(f"guide.{motion}" in found.message for motion in ("rotation", "translation"))


def test_couplings_that_lock_the_robot_are_named() -> None:
    with pytest.raises(RobotFileError) as caught:
        pp.Model(loads(LIFT + "- {name: brake, all.motor: 5, all.guide: -7}\n"))
    (found,) = caught.value.faults
    assert found.field == "dof"
    assert "coupling1" in found.message
    assert "brake" in found.message


def test_a_flexible_platform_refuses_couplings() -> None:
    robot = loads(LIFT.replace("dof: [z]\n", ""))
    with refused(InputError, "all lift", code="couplings"):
        robot.on_modes(hexagon_modes(3))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_linkage_is_not_wound_up_by_a_long_step(seed: int) -> None:
    """Some steps of Newton led by whole turns of the crank to another working mode: 15 of 1,039 positions of one."""
    m = pp.Model(pp.Robot.model_validate(COUPLED["geared five-bar"](seed)))
    x = np.sort(np.random.default_rng(5).uniform(0.0, 0.35, 2000))[:, None]
    q = m.inverse_kinematics(m.motion(x).pose)[:, 0]
    # the crank turns one way, faster near its dead point behind home
    assert (np.diff(q) > 0).all()
    assert np.abs(q).max() < 2.0
