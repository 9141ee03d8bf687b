"""Dynamics with a flexible platform against golden states, Pinocchio trees, differences, energy and limits."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import root

import polypod as pp
from polypod.description import Body, Friction, Integrals, Modes, Robot
from polypod.errors import InputError, StateError, StateWarning
from polypod.kernels import machine
from polypod.motion import Motion
from polypod.papers.long import printed as long_printed
from support.compare import assert_close, derivative
from support.engines.flexible_oracle import Differences, FlexibleState, HingedRobot, LumpedRobot, hinged_modes
from support.engines.oracle import with_random_bodies
from support.refusals import refused, warned
from support.robots.golden_plate import GOLDEN, golden_modes
from support.robots.hexagon import hexagon_modes, hexagon_points
from support.robots.user_legs import PSU
from support.states import displaced, mostly_long

Array = NDArray[np.float64]
ROBOTS = ("long", "pedrammehr", "kim-ryu", "lopes")
COUNT = 3
# Both sides round in double precision; solves magnify it by the condition of J (below 200 here): 1e-14 is reached.
ROUNDING = 1e-12


def size_of(robot: Robot) -> float:
    return float(np.linalg.norm([leg.platform for leg in robot.legs], axis=1).max())


def random_modes(robot: Robot, count: int = COUNT, seed: int = 0) -> Modes:
    """Shapes without any property on a robot's attachment points: s, beta, lambda not zero, full generalized mass."""
    rng = np.random.default_rng(seed)
    points = np.array([leg.platform for leg in robot.legs])
    size = size_of(robot)
    nodes = np.concatenate([points + 0.1 * size * rng.normal(size=points.shape), size * rng.normal(size=(6, 3))])
    shape = rng.normal(size=(len(nodes) + 7, 3, count))
    return Modes(
        nodes=nodes,
        masses=rng.uniform(0.3, 2.0, len(nodes)) * robot.platform.mass / len(nodes),
        shapes=shape[:-7],
        stiffness=robot.platform.mass * rng.uniform(150.0, 300.0, count) ** 2,
        damping_ratio=rng.uniform(0.1, 0.4, count),
        attachments=points,
        attachment_shapes=shape[-7:-1],
        attachment_rotations=rng.normal(size=(6, 3, count)),
        origin_shape=shape[-1],
        origin_rotation=rng.normal(size=(3, count)),
        free=False,
        reach=size,
    )


def with_rough_joints(robot: Robot, seed: int = 4) -> Robot:
    """Viscous friction in every joint, worth a good part of the forces, and random bodies in the legs."""
    rng = np.random.default_rng(seed)
    legs = []
    for leg in with_random_bodies(robot, seed).legs:
        names = [name for name in type(leg).model_fields if name.endswith("_friction")]
        legs.append(leg.model_copy(update={name: Friction(viscous=float(rng.uniform(1, 20))) for name in names}))
    return robot.model_copy(update={"legs": tuple(legs)})


def random_states(robot: Robot, count: int, number: int, seed: int = 1, scale: float = 1.0) -> list[FlexibleState]:
    """States around home; deformations of some hundredths of the platform's size, times ``scale``."""
    rng, size = np.random.default_rng(seed), size_of(robot)
    found = []
    for _ in range(number):
        shift = rng.uniform(-1.0, 1.0, 6) * np.repeat([0.15 * size, 0.2], 3)
        bend, rate = 0.02 * size * scale * rng.normal(size=count), 0.5 * size * scale * rng.normal(size=count)
        twist, acceleration, wrench, force = (k * rng.normal(size=6) for k in (1.0, 4.0, 30.0, 100.0))
        found.append(FlexibleState(displaced(robot.home.matrix, shift), twist, bend, rate, acceleration, wrench, force))
    return found


def stacked(states: list[FlexibleState]) -> FlexibleState:
    return FlexibleState(*map(np.array, zip(*states, strict=True)))


@cache
def case(name: str) -> tuple[pp.Model, list[FlexibleState], FlexibleState]:
    """A robot with rough joints and random leg bodies on a general flexible body; states one by one and at once."""
    robot = with_rough_joints(pp.load(name))
    modes = random_modes(robot)
    states = random_states(robot, COUNT, 6)
    return pp.Model(robot.on_modes(modes)), states, stacked(states)


@cache
def hexagon(stiffness: str = "table-2") -> pp.Model:
    return pp.Model(pp.load("long").on_modes(hexagon_modes(10, stiffness)))  # type: ignore[arg-type]


@cache
def golden_model() -> pp.Model:
    return pp.Model(pp.load("long").on_modes(golden_modes()))


# --- golden states -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", GOLDEN["states"], ids=lambda s: s["name"])
def test_golden_states(state: dict[str, Any]) -> None:
    model = golden_model()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = state["R"], state["p"]
    twist, acceleration = np.r_[state["v"], state["omega"]], np.r_[state["a"], state["alpha"]]
    elastic = np.array(state["q_e"])
    shape = {"elastic": elastic, "elastic_rate": np.array(state["qd_e"])}

    def check(got: Any, wanted: Any, scale: float | None = None) -> None:
        assert_close(np.asarray(got, dtype=float)[None], np.array(wanted, dtype=float)[None], 1e-10, scale)

    forces = model.inverse_dynamics(pose, twist, acceleration, full_output=True, **shape)
    check(forces.force, state["Gamma_IDM"])
    # at static equilibrium these are zero but for rounding: relative to what the stiffness alone would give
    largest = max(np.abs(state["qdd_e_IDM"]).max(), np.abs(elastic * GOLDEN["system"]["K"]).max())
    check(forces.elastic_acceleration, state["qdd_e_IDM"], largest)
    direct = model.direct_dynamics(pose, twist, state["DDM_Gamma"], full_output=True, **shape)
    check(np.r_[direct.acceleration, direct.elastic_acceleration], state["DDM_acc_a_alpha_qdde"], largest)
    check(model.mass_matrix(pose, elastic=elastic), state["mass_matrix"])
    check(model.bias(pose, twist, **shape), state["bias"])
    check(model.jacobian(pose, elastic=elastic), state["J_q3_over_velocity"])
    energy = model.energy(pose, twist, **shape)
    assert energy.kinetic == state["kinetic_energy"] == 0
    check(energy.potential, state["potential_gravity"])
    check(energy.elastic, state["potential_elastic"], 1.0)
    check(model.inverse_kinematics(pose, elastic=elastic), np.array(state["q_joint"])[:, 2])


@pytest.mark.long
def test_golden_plate_in_motion() -> None:
    """The golden states are all at rest; the same plate of 127 nodes in motion, as point masses in Pinocchio."""
    model = golden_model()
    oracle = LumpedRobot(model.robot, model.modes)
    states = random_states(model.robot, 10, 3, scale=0.2)
    everything(model, oracle, states, friction=False)


def test_equations_of_the_paper_on_golden_states() -> None:
    """Long (1)-(49) corrected, on Denavit-Hartenberg legs, as its study writes them out."""
    model, states = golden_model(), GOLDEN["states"]
    pose = np.tile(np.eye(4), (len(states), 1, 1))
    pose[:, :3, :3], pose[:, :3, 3] = (np.array([s[key] for s in states]) for key in ("R", "p"))
    motion = Motion(
        np.zeros(len(states)),
        pose,
        *(np.array([np.r_[s[a], s[b]] for s in states]) for a, b in (("v", "omega"), ("a", "alpha"))),
    )
    elastic, rate = (np.array([s[key] for s in states]) for key in ("q_e", "qd_e"))
    system = long_printed.system(model.modes, long_printed.State(motion, elastic, rate))
    force, _ = system.inverse(motion.acceleration)
    assert_close(force, [s["Gamma_IDM"] for s in states], 1e-10)
    ends = (
        pose[:, None, :3, 3]
        + (
            pose[:, None, :3, :3]
            @ (model.modes.attachments + (model.modes.attachment_shapes @ elastic[:, None, :, None])[..., 0])[..., None]
        )[..., 0]
    )
    joints = long_printed.joints(ends)
    assert_close(joints, [s["q_joint"] for s in states], 1e-10)
    assert_close(long_printed.tips(joints), ends, 1e-12)


# --- other means ---------------------------------------------------------------------------------------------------


def everything(model: pp.Model, oracle: Any, states: list[FlexibleState], friction: bool) -> None:
    """Every result of a model against a tree's."""
    at = stacked(states)
    motion, shape = (at.pose, at.twist, at.acceleration, at.wrench, friction), at.shape
    calm = [s._replace(wrench=np.zeros(6)) for s in states]
    solved = [oracle.solve(s) for s in calm]
    assert_close(model.mass_matrix(at.pose, elastic=at.elastic), [s.mass for s in solved], ROUNDING)
    assert_close(model.bias(at.pose, at.twist, False, **shape), [s.bias for s in solved], ROUNDING)
    assert_close(model.jacobian(at.pose, elastic=at.elastic), [s.jacobian for s in solved], ROUNDING)
    force, elastic_acceleration, reactions = zip(*(oracle.inverse(s, friction) for s in states), strict=True)
    answer = model.inverse_dynamics(*motion, full_output=True, **shape)
    assert_close(answer.force, force, ROUNDING)
    assert_close(answer.elastic_acceleration, elastic_acceleration, ROUNDING)
    assert_close(model.reactions(*motion, **shape).on_platform, reactions, ROUNDING)
    direct = model.direct_dynamics(at.pose, at.twist, at.force, at.wrench, friction, full_output=True, **shape)
    both = np.concatenate(direct, axis=1)
    assert_close(both, [oracle.direct(s, friction) for s in states], ROUNDING)
    for got, wanted in zip(
        model.energy(at.pose, at.twist, **shape), zip(*map(oracle.energy, states), strict=True), strict=True
    ):
        assert_close(got, wanted, ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("long",)))
@pytest.mark.parametrize("friction", mostly_long((False, True), (True,)))
def test_general_body_as_point_masses(name: str, friction: bool) -> None:
    model, states, _ = case(name)
    integrals = Integrals.of(model.modes)
    for part in (integrals.s, integrals.beta, integrals.lam):
        assert np.abs(part).max() > 0.05  # the terms that a free plate does not have
    everything(model, LumpedRobot(model.robot, model.modes), states, friction)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("kim-ryu",)))
def test_general_body_by_differences(name: str) -> None:
    """Positions p + R (r + phi q) of nodes and the legs' joint angles differentiated, virtual power over all."""
    model, states, _ = case(name)
    by_differences = Differences(model.robot, model.modes)
    rng = np.random.default_rng(2)
    for s in states[:2]:
        elastic_acceleration = 20 * rng.normal(size=COUNT)
        mass = model.mass_matrix(s.pose, elastic=s.elastic)
        demand = mass @ np.r_[s.acceleration, elastic_acceleration] + model.bias(s.pose, s.twist, False, **s.shape)
        # eighth order: 1e-10 is reached
        assert_close(by_differences.demand(s, elastic_acceleration)[None], demand[None], 2e-9)
        assert_close(by_differences.drives(s)[None], model.jacobian(s.pose, elastic=s.elastic)[None], 1e-10)


def test_hinged_boxes_small_angle() -> None:
    """Two rigid boxes on a hinge with a spring, exact in Pinocchio; linear shapes are its limit for small angles.

    Without gravity and load the errors are of second order in the angle and the speeds: a tenth of them, a hundredth
    of the error. Under load linear shapes lack the load's own stiffness, which is of first order.
    """
    robot = with_random_bodies(pp.load("long"), 3).model_copy(update={"gravity": (0.0, 0.0, 0.0)})
    modes = hinged_modes(robot, 4e4)
    model, oracle = pp.Model(robot.on_modes(modes)), HingedRobot(robot, modes)
    state = random_states(robot, 1, 1)[0]
    errors, sizes = [], []
    for small in (1e-3, 1e-4, 1e-5):
        s = state._replace(
            twist=small * state.twist,
            elastic=small * np.ones(1),
            rate=small * np.ones(1),
            force=0 * state.force,
            wrench=np.zeros(6),
        )
        wanted = oracle.direct(s)
        got = np.concatenate(model.direct_dynamics(s.pose, s.twist, s.force, full_output=True, **s.shape))
        errors.append(np.abs(got - wanted).max())
        sizes.append(np.abs(wanted).max())
    assert errors[0] < 2e-3 * sizes[0]
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 100, rtol=0.05)
    np.testing.assert_allclose(np.divide(sizes[:-1], sizes[1:]), 10, rtol=0.05)


def test_hinged_boxes_unfolded_are_exact() -> None:
    """At angle and rate zero the boxes' closed-form inertia, weight and Jacobian are those of the nodes."""
    robot = with_random_bodies(pp.load("long"), 3)
    modes = hinged_modes(robot, 4e4)
    model, oracle = pp.Model(robot.on_modes(modes)), HingedRobot(robot, modes)
    for s in random_states(robot, 1, 3):
        flat = s._replace(elastic=np.zeros(1), rate=np.zeros(1), wrench=np.zeros(6))
        got = np.concatenate(model.direct_dynamics(s.pose, s.twist, s.force, full_output=True, **flat.shape))
        assert_close(got[None], oracle.direct(flat)[None], ROUNDING)
        force, elastic_acceleration, _ = oracle.inverse(flat)
        answer = model.inverse_dynamics(s.pose, s.twist, s.acceleration, full_output=True, **flat.shape)
        assert_close(answer.force[None], force[None], ROUNDING)
        assert_close(answer.elastic_acceleration[None], elastic_acceleration[None], ROUNDING)


# --- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("kim-ryu",)))
def test_inverse_then_direct_is_the_identity(name: str) -> None:
    model, _, s = case(name)
    forces = model.inverse_dynamics(s.pose, s.twist, s.acceleration, s.wrench, full_output=True, **s.shape)
    back = model.direct_dynamics(s.pose, s.twist, forces.force, s.wrench, full_output=True, **s.shape)
    assert_close(back.acceleration, s.acceleration, 1e-9)
    assert_close(back.elastic_acceleration, forces.elastic_acceleration, 1e-9)
    there = model.direct_dynamics(s.pose, s.twist, s.force, s.wrench, full_output=True, **s.shape)
    again = model.inverse_dynamics(s.pose, s.twist, there.acceleration, s.wrench, full_output=True, **s.shape)
    assert_close(again.force, s.force, 1e-9)
    assert_close(again.elastic_acceleration, there.elastic_acceleration, 1e-9)


@pytest.mark.long
def test_inverse_then_direct_of_the_hexagon() -> None:
    model = hexagon()
    s = stacked(random_states(model.robot, 10, 200, scale=0.2))
    forces = model.inverse_dynamics(s.pose, s.twist, s.acceleration, friction=False, full_output=True, **s.shape)
    back = model.direct_dynamics(s.pose, s.twist, forces.force, friction=False, full_output=True, **s.shape)
    assert_close(back.acceleration, s.acceleration, 1e-9)
    assert_close(back.elastic_acceleration, forces.elastic_acceleration, 1e-9)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("kim-ryu",)))
def test_mass_matrix_is_symmetric_and_positive(name: str) -> None:
    model, _, _ = case(name)
    s = stacked(random_states(model.robot, COUNT, 100, seed=8, scale=3.0))
    mass = model.mass_matrix(s.pose, elastic=s.elastic)
    assert_close(np.swapaxes(mass, 1, 2), mass, 1e-15)
    assert np.linalg.eigvalsh(mass).min() > 0
    u = np.concatenate([s.twist, s.rate], axis=1)
    kinetic = 0.5 * np.einsum("ni,nij,nj->n", u, mass, u)
    assert_close(model.energy(s.pose, s.twist, **s.shape).kinetic, kinetic, ROUNDING)


def test_elastic_mass_of_the_hexagon() -> None:
    """A_ee of Long (45) is that of the plate, the unit matrix, and something positive of the legs."""
    model = hexagon()
    s = stacked(random_states(model.robot, 10, 50, scale=0.2))
    elastic = model.mass_matrix(s.pose, elastic=s.elastic)[:, 6:, 6:]
    assert np.linalg.eigvalsh(elastic).min() > 1 - 1e-12


@pytest.mark.parametrize(
    ("name", "friction"),
    [
        pytest.param("long", False, marks=pytest.mark.long),
        *(pytest.param(n, True, marks=pytest.mark.long if n != "kim-ryu" else ()) for n in ROBOTS),
    ],
)
def test_power_balance(name: str, friction: bool) -> None:
    """d/dt (T + V + U) = f.qdot + w.V_t - D qdot_e^2 - friction, the derivative by differences of eighth order."""
    model, states, _ = case(name)
    modes, oracle = model.modes, LumpedRobot(model.robot, model.modes)
    for s in states[:3]:
        direct = model.direct_dynamics(s.pose, s.twist, s.force, s.wrench, friction, full_output=True, **s.shape)

        def total(t: float, s: FlexibleState = s, direct: Any = direct) -> float:
            twist, rate = s.twist + t * direct.acceleration, s.rate + t * direct.elastic_acceleration
            shape = {"elastic": s.elastic + t * s.rate, "elastic_rate": rate}
            return sum(model.energy(displaced(s.pose, t * s.twist), twist, **shape))

        u = np.r_[s.twist, s.rate]
        turn = s.pose[:3, :3]
        arm = turn @ modes.origin_shape @ s.elastic
        velocity = s.twist[:3] + np.cross(s.twist[3:], arm) + turn @ modes.origin_shape @ s.rate
        spin = s.twist[3:] + turn @ modes.origin_rotation @ s.rate
        wanted = s.force @ model.jacobian(s.pose, elastic=s.elastic) @ u
        wanted += s.wrench[:3] @ velocity + s.wrench[3:] @ spin - modes.generalized_damping @ s.rate**2
        if friction:
            loss = (oracle.solve(s, True).bias - oracle.solve(s).bias) @ u
            assert loss > 1e-3 * abs(wanted)
            wanted -= loss
        # energies reach 1e4 J and the step is 1e-3 s: rounding of 1e-9 W and more
        scale = abs(total(0.0)) + abs(wanted)
        assert derivative(total, 1e-3) == pytest.approx(wanted, abs=1e-9 * scale)


def falling(model: pp.Model, duration: float, tolerance: float) -> Array:
    """Energies (3, steps) of a motion from static equilibrium when the actuators let go."""
    n, home = model.modes.count, model.robot.home.matrix
    kernel, wrench, force = model.kernel("direct_dynamics", False), np.zeros((1, 6)), np.zeros((1, 6))

    def unpack(y: Array) -> tuple[Array, Array, Array, Array]:
        pose = np.tile(np.eye(4), (*y.shape[:-1], 1, 1))
        pose[..., :3, 3], pose[..., :3, :3] = y[..., :3], y[..., 3:12].reshape(*y.shape[:-1], 3, 3)
        return pose, y[..., 12:18], y[..., 18 : 18 + n], y[..., 18 + n :]

    def rate(t: float, y: Array) -> Array:
        pose, twist, elastic, speed = (np.ascontiguousarray(part) for part in unpack(y[None]))
        acceleration, elastic_acceleration, _ = kernel(pose, twist, elastic, speed, force, wrench)
        wx, wy, wz = twist[0, 3:]
        spin = np.array([[0, -wz, wy], [wz, 0, -wx], [-wy, wx, 0]]) @ pose[0, :3, :3]
        return np.concatenate([twist[0, :3], spin.ravel(), acceleration[0], speed[0], elastic_acceleration[0]])

    start = np.concatenate(
        [home[:3, 3], home[:3, :3].ravel(), np.zeros(6), model.static_equilibrium(home).elastic, np.zeros(n)]
    )
    found = solve_ivp(rate, (0, duration), start, method="DOP853", rtol=tolerance, atol=tolerance)
    assert found.success
    pose, twist, elastic, speed = unpack(found.y.T)
    return np.array(model.energy(pose, twist, elastic=elastic, elastic_rate=speed))


@pytest.mark.parametrize("name", mostly_long(("long", "kim-ryu"), ("long",)))
def test_energy_is_conserved(name: str) -> None:
    """No damping and no actuation: the robot falls, its platform springs back, the sum of energies stays."""
    robot = pp.load(name)
    modes = hexagon_modes(10, damping_ratio=0.0) if name == "long" else replace(random_modes(robot), damping_ratio=None)
    model = pp.Model(robot.on_modes(modes))
    drifts = []
    for tolerance in (1e-8, 1e-12):
        kinetic, potential, elastic = falling(model, 0.1, tolerance)
        total = kinetic + potential + elastic
        assert kinetic[-1] > elastic[0]  # it falls indeed,
        assert elastic.min() < 0.1 * elastic[0]  # and the platform springs back
        drifts.append(float(np.abs(total - total[0]).max() / kinetic.max()))
    # the integrator's error, which follows its tolerance: 2e-9 and 3e-12 are reached
    assert drifts[0] < 1e-7
    assert drifts[1] < 1e-10
    assert drifts[1] < 0.1 * drifts[0]


# --- limits and statics --------------------------------------------------------------------------------------------


def rigid(model: pp.Model) -> pp.Model:
    """The robot with the modes' mass as a rigid platform."""
    integrals = Integrals.of(model.modes)
    com = integrals.first / integrals.mass
    data = {"mass": integrals.mass, "com": tuple(com), "inertia": integrals.inertia.tolist(), "about": "origin"}
    return pp.Model(model.robot.model_copy(update={"platform": Body.model_validate(data)}))


def stiffer(model: pp.Model, factor: float) -> pp.Model:
    """The same robot with all stiffnesses of its modes multiplied."""
    return pp.Model(model.robot.on_modes(model.modes.with_stiffness(factor * model.modes.stiffness)))


def steady_elastic(model: pp.Model, s: FlexibleState) -> Array:
    """Elastic coordinates that stay as they are (no rate, no acceleration) at a motion: K q = all the rest."""
    elastic = np.zeros_like(s.elastic)
    for _ in range(30):
        mass, bias = model.mass_matrix(s.pose, elastic=elastic), model.bias(s.pose, s.twist, False, elastic=elastic)
        jacobian = model.jacobian(s.pose, elastic=elastic)
        demand = np.einsum("nij,nj->ni", mass[..., :6], s.acceleration) + bias
        force = np.linalg.solve(np.swapaxes(jacobian[..., :6], 1, 2), demand[:, :6, None])
        residual = demand[:, 6:] - (np.swapaxes(jacobian[..., 6:], 1, 2) @ force)[..., 0]
        elastic = elastic - residual / model.modes.stiffness
    return elastic


@pytest.mark.long
@pytest.mark.parametrize("name", ["long", "kim-ryu"])
def test_stiff_platform_is_the_rigid_one(name: str) -> None:
    """Forces approach the rigid model's as one over the stiffness, and so do the attachment forces."""
    start = case(name)[0]
    s = stacked(random_states(start.robot, start.modes.count, 4))
    reference = rigid(start)
    forces = reference.inverse_dynamics(s.pose, s.twist, s.acceleration, friction=False)
    joints = reference.reactions(s.pose, s.twist, s.acceleration, friction=False).legs
    pushes = np.stack([joints[leg]["spherical"].force for leg in start.legs], axis=1)
    errors = []
    for factor in (1e2, 1e4, 1e6):
        model = stiffer(start, factor)
        motion, shape = (s.pose, s.twist, s.acceleration), steady_elastic(model, s)
        answer = model.inverse_dynamics(*motion, friction=False, elastic=shape, full_output=True)
        errors.append([np.abs(answer.force - forces).max() / np.abs(forces).max()])
        if name == "long":
            reactions = model.reactions(*motion, friction=False, elastic=shape).on_platform
            errors[-1].append(np.abs(reactions - pushes).max() / np.abs(pushes).max())
    assert max(errors[2]) < 1e-5
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios, 100, rtol=0.2)  # the first step still feels the second order


def test_stiff_hexagon_at_rest() -> None:
    """The sizes known for the pose of Table 4: 2e-4, 2e-6, 2e-8."""
    start = hexagon()
    home = start.robot.home.matrix
    wanted = rigid(start).inverse_dynamics(home, np.zeros(6), np.zeros(6))
    for factor, size in ((1e2, 2e-4), (1e4, 2e-6), (1e6, 2e-8)):
        model = stiffer(start, factor)
        error = np.abs(model.static_equilibrium(home).force - wanted).max() / np.abs(wanted).max()
        assert error == pytest.approx(size, rel=0.5)  # known to one digit


@pytest.mark.parametrize("name", mostly_long(("golden", *ROBOTS), ("long",)))
def test_static_equilibrium_by_other_means(name: str) -> None:
    """Newton's method on the point masses' balance: weight, springs and actuator forces, 6 + N equations."""
    model = golden_model() if name == "golden" else case(name)[0]
    robot, n = model.robot, model.modes.count
    oracle = LumpedRobot(robot, model.modes)
    for s in random_states(robot, n, 1 if name == "golden" else 2, seed=6):
        wrench = np.zeros(6) if name == "golden" else s.wrench
        calm = s._replace(twist=np.zeros(6), rate=np.zeros(n), acceleration=np.zeros(6), wrench=wrench)

        def balance(x: Array, calm: FlexibleState = calm) -> Array:
            solved = oracle.solve(calm._replace(elastic=x[:n]))
            return solved.jacobian.T @ x[n:] - solved.bias

        got = model.static_equilibrium(s.pose, wrench)
        found = root(balance, np.zeros(n + 6), tol=1e-13)
        # root's finite differences stop at about 1e-11 of the coordinates
        assert_close(got.elastic[None], found.x[None, :n], 1e-8)
        assert_close(got.force[None], found.x[None, n:], 1e-8)
        largest = np.abs(model.modes.stiffness * got.elastic).max()
        assert np.abs(balance(np.r_[got.elastic, got.force])).max() < 1e-10 * largest
        answer = model.inverse_dynamics(s.pose, np.zeros(6), np.zeros(6), wrench, elastic=got.elastic, full_output=True)
        assert_close(answer.force[None], got.force[None], 1e-10)
        mass = np.linalg.eigvalsh(model.mass_matrix(s.pose, elastic=got.elastic)[6:, 6:])
        assert np.abs(answer.elastic_acceleration).max() < 1e-10 * largest / mass[0]


def test_static_equilibrium_takes_batches_and_refuses_what_has_none() -> None:
    model = hexagon()
    s = stacked(random_states(model.robot, 10, 6))
    poses = s.pose.reshape(2, 3, 4, 4)
    many = model.static_equilibrium(poses)
    assert many.elastic.shape == (2, 3, 10)
    assert_close(many.force[1, 2][None], model.static_equilibrium(poses[1, 2]).force[None], 1e-12)
    soft = stiffer(model, 1e-4)
    with refused(StateError, code="too_flexible"):
        soft.static_equilibrium(poses)
    loose = stiffer(model, 0.0)
    with refused(InputError, code="no_stiffness"):
        loose.static_equilibrium(poses)
    kim_ryu = case("kim-ryu")[0]
    far = displaced(kim_ryu.robot.home.matrix, np.array([5.0, 0, 0, 0, 0, 0]))
    with refused(StateError, "static_equilibrium leg1", code="leg"):
        kim_ryu.static_equilibrium(far)


# --- reactions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(("long", "kim-ryu"), ("long",)))
def test_free_body_closes(name: str) -> None:
    """Attachment forces and the wrench move the nodes: the 6 + N sums over them, accelerations in closed form."""
    model, states, _ = case(name)
    modes = model.modes
    for s in states[:3]:
        motion = s.pose, s.twist, s.acceleration, s.wrench, False
        answer = model.inverse_dynamics(*motion, full_output=True, **s.shape)
        forces = model.reactions(*motion, **s.shape).on_platform
        turn, w, wdot = s.pose[:3, :3], s.twist[3:], s.acceleration[3:]
        arms = (modes.nodes + modes.shapes @ s.elastic) @ turn.T
        flow, bend = (modes.shapes @ x @ turn.T for x in (s.rate, answer.elastic_acceleration))
        pull = s.acceleration[:3] + np.cross(wdot, arms) + np.cross(w, np.cross(w, arms)) + 2 * np.cross(w, flow) + bend
        pull = modes.masses[:, None] * (pull - model.robot.gravity)
        ends = (modes.attachments + modes.attachment_shapes @ s.elastic) @ turn.T
        origin = turn @ modes.origin_shape @ s.elastic
        load, moment = s.wrench[:3], s.wrench[3:]
        scale = np.abs(forces).max()
        assert np.abs(forces.sum(axis=0) + load - pull.sum(axis=0)).max() < 1e-12 * scale
        turning = (
            np.cross(ends, forces).sum(axis=0) + np.cross(origin, load) + moment - np.cross(arms, pull).sum(axis=0)
        )
        assert np.abs(turning).max() < 1e-12 * scale
        elastic = np.einsum("iak,ia->k", modes.attachment_shapes, forces @ turn)
        elastic += modes.origin_shape.T @ turn.T @ load + modes.origin_rotation.T @ turn.T @ moment
        elastic -= np.einsum("nak,na->k", modes.shapes, pull @ turn)
        elastic -= modes.stiffness * s.elastic + modes.generalized_damping * s.rate
        assert np.abs(elastic).max() < 1e-11 * max(scale, np.abs(modes.stiffness * s.elastic).max())


# --- calls ---------------------------------------------------------------------------------------------------------


def test_batches_and_single_states_agree() -> None:
    model, states, s = case("long")
    motion = s.pose.reshape(2, 3, 4, 4), *(x.reshape(2, 3, -1) for x in (s.twist, s.acceleration))
    many = model.inverse_dynamics(
        *motion, full_output=True, **{name: x.reshape(2, 3, -1) for name, x in s.shape.items()}
    )
    one = model.inverse_dynamics(s.pose[4], s.twist[4], s.acceleration[4], full_output=True, **states[4].shape)
    assert many.force.shape == (2, 3, 6)
    assert many.elastic_acceleration.shape == (2, 3, COUNT)
    assert_close(many.force[1, 1][None], one.force[None], 1e-13)
    none = model.direct_dynamics(
        s.pose[:0], s.twist[:0], s.force[:0], elastic=s.elastic[:0], elastic_rate=s.rate[:0], full_output=True
    )
    assert none.acceleration.shape == (0, 6)
    assert none.elastic_acceleration.shape == (0, COUNT)
    assert "long" in repr(model)


def test_states_without_answer_are_named() -> None:
    model, states, s = case("kim-ryu")
    poses = s.pose.copy()
    poses[2, 0, 3] += 5.0
    with warned(StateWarning, "leg1", code="leg"):
        answer = model.inverse_dynamics(poses, s.twist, s.acceleration, full_output=True, **s.shape)
    assert np.isnan(answer.force[2]).all()
    assert np.isfinite(np.delete(answer.force, 2, axis=0)).all()
    with refused(StateError, "leg1", code="leg"):
        model.direct_dynamics(poses[2], states[2].twist, states[2].force, full_output=True, **states[2].shape)
    bad = s.elastic.copy()
    bad[1, 2] = np.nan
    with refused(InputError, "elastic nan [2] 1"):
        model.inverse_dynamics(s.pose, s.twist, s.acceleration, elastic=bad, elastic_rate=s.rate, full_output=True)
    with refused(InputError, f"elastic_rate {COUNT}"):
        model.bias(s.pose, s.twist, elastic=s.elastic, elastic_rate=s.rate[:, :-1])


def test_bad_robots_and_modes() -> None:
    robot = pp.load("long")
    modes = random_modes(robot)
    with refused(InputError, "modes 6 5"):
        robot.on_modes(
            replace(
                modes,
                attachments=modes.attachments[:5],
                attachment_shapes=modes.attachment_shapes[:5],
                attachment_rotations=modes.attachment_rotations[:5],
                attachment_names=(),
            )
        )
    with refused(InputError, "0.5 leg1"):
        robot.on_modes(replace(modes, attachments=np.roll(modes.attachments, 1, axis=0)))
    with refused(InputError, "stiffness [0] -1"):
        modes.with_stiffness(np.r_[-1.0, np.ones(COUNT - 1)])
    with refused(InputError, "shapes"):
        random_modes(robot, 0)
    with refused(InputError, "nodes 2 3"):
        replace(modes, masses=np.r_[1.0, 1.0, np.zeros(10)])
    with refused(InputError, code="off_mesh"):
        replace(modes, reach=1e-6)
    staicu = pp.load("staicu")
    with refused(InputError, "staicu 3"):
        staicu.on_modes(modes)


def test_legs_that_turn_with_the_platform_are_refused() -> None:
    """Their link's spin depends on the platform's axes, which bend: nothing that the modes' points tell."""
    lopes = pp.load("lopes")
    legs = [
        PSU(
            kind="PSU",
            name=leg.name,
            platform=leg.platform,
            rail_start=leg.rail_start,
            rail_direction=leg.rail_direction,
            length=leg.length,
            platform_axis=(1.0, 0.0, 0.0),
            slider=leg.slider,
            link=leg.link,
        )
        for leg in lopes.legs
    ]
    robot = lopes.model_copy(update={"legs": tuple(legs)}).on_modes(random_modes(lopes))
    with refused(InputError, "leg1 PSU"):
        pp.Model(robot)


def test_friction_at_the_platform_needs_rotation_shapes() -> None:
    robot = with_rough_joints(pp.load("pedrammehr"))
    modes = replace(random_modes(robot), attachment_rotations=None)
    s = random_states(robot, COUNT, 1)[0]
    model = pp.Model(robot.on_modes(modes))
    with refused(InputError, "attachment_rotations friction"):
        model.inverse_dynamics(s.pose, s.twist, s.acceleration, full_output=True, **s.shape)
    model.inverse_dynamics(s.pose, s.twist, s.acceleration, friction=False, full_output=True, **s.shape)
    legs = [leg.model_copy(update={"spherical_friction": Friction()}) for leg in robot.legs]
    smooth = robot.model_copy(update={"legs": tuple(legs)})
    force, elastic_acceleration, _ = LumpedRobot(smooth, modes).inverse(s, True)
    answer = pp.Model(smooth.on_modes(modes)).inverse_dynamics(
        s.pose, s.twist, s.acceleration, s.wrench, full_output=True, **s.shape
    )
    assert_close(answer.force[None], force[None], ROUNDING)
    assert_close(answer.elastic_acceleration[None], elastic_acceleration[None], ROUNDING)


def test_wrench_needs_shapes_at_the_origin() -> None:
    robot = pp.load("long")
    s = random_states(robot, COUNT, 1)[0]
    for field, part in (("origin_shape", slice(3)), ("origin_rotation", slice(3, 6))):
        model = pp.Model(robot.on_modes(replace(random_modes(robot), **{field: None})))
        alone = np.zeros(6)
        alone[part] = 7.0
        with refused(InputError, f"wrench {field}"):
            model.inverse_dynamics(s.pose, s.twist, s.acceleration, alone, full_output=True, **s.shape)
        with refused(InputError, f"wrench {field}"):
            model.static_equilibrium(s.pose, alone)
        with refused(InputError, f"wrench {field}"):
            model.derivatives("inverse_dynamics", s.pose, s.twist, s.acceleration, alone, **s.shape)
        with refused(InputError, f"wrench {field}"):
            model.error_bound("inverse_dynamics", s.pose, s.twist, s.acceleration, alone, **s.shape)
        other = 7.0 - alone
        assert np.isfinite(
            model.inverse_dynamics(s.pose, s.twist, s.acceleration, other, full_output=True, **s.shape).force
        ).all()
        assert np.isfinite(
            model.inverse_dynamics(s.pose, s.twist, s.acceleration, np.zeros(6), full_output=True, **s.shape).force
        ).all()
    motion = s.pose, s.twist, s.acceleration
    assert model.derivatives("inverse_dynamics", *motion, friction=False, **s.shape).wrench is None
    with refused(InputError, "wrench"):
        model.derivatives("inverse_dynamics", *motion, wrt=("wrench",), friction=False, **s.shape)
    with refused(InputError, "wrench 6"):
        hexagon().inverse_dynamics(s.pose, s.twist, s.acceleration, np.zeros(5), full_output=True)


def test_both_stiffnesses_of_the_hexagon_are_offered() -> None:
    """The points are the legs' and Table 2's stiffness changes the answer."""
    np.testing.assert_allclose(hexagon_points(), [leg.platform for leg in hexagon().robot.legs], atol=1e-15)
    home = hexagon().robot.home.matrix
    one, two = (hexagon(kind).static_equilibrium(home).elastic for kind in ("table-2", "computed"))
    assert 1e-3 < np.abs(one - two).max() / np.abs(one).max() < 0.2


# --- numbers -------------------------------------------------------------------------------------------------------

COLD = """
import os
import numpy as np
import polypod as pp
from support.robots.hexagon import hexagon_modes


def spent():
    used = os.times()
    return used.user + used.system


def ready(robot):
    start, still = spent(), np.zeros(6)
    model = pp.Model(robot)
    model.inverse_dynamics(robot.home.matrix, still, still, full_output=True)
    model.direct_dynamics(robot.home.matrix, still, still, full_output=True)
    return spent() - start


print(ready(pp.load("long")))
print(ready(pp.load("long").on_modes(hexagon_modes(10))))
"""


@pytest.mark.long
def test_ready_cold_in_four_times_a_rigid_robots_time(tmp_path: Path) -> None:
    """Modes and both kernels, with an empty cache; a ratio of processor times, as machines differ and are shared."""
    settings = {**os.environ, "POLYPOD_CACHE": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COLD], capture_output=True, text=True, env=settings, check=True
    )
    rigid, flexible = (float(line) for line in ran.stdout.split())
    assert flexible < 4.0 * rigid
    assert any(tmp_path.iterdir())  # it was cold


@pytest.mark.long
def test_operations_of_direct_dynamics() -> None:
    """Ten modes cost at most 2.2 times the rigid model; operations are counted, as times vary on a shared machine."""
    flexible = hexagon().kernel("direct_dynamics").operations
    assert flexible < 2.2 * hexagon().rigid.kernel("direct_dynamics").operations


def test_other_stiffnesses_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are inputs: robots that differ in them alone share their functions, in the process and in the cache."""
    start = hexagon()
    home, still = start.robot.home.matrix, np.zeros(6)
    first = start.static_equilibrium(home), start.inverse_dynamics(home, still, still, full_output=True)

    def refuse(*_: Any) -> Any:
        raise AssertionError("compiled or read again")

    monkeypatch.setattr(machine, "compile_module", refuse)
    monkeypatch.setattr(machine.store, "load", refuse)
    for factor in (10.0, 100.0, 1000.0):
        model = stiffer(start, factor)
        assert np.abs(model.static_equilibrium(home).elastic).max() < 0.2 * np.abs(first[0].elastic).max()
        assert_close(
            model.inverse_dynamics(home, still, still, full_output=True).force[None], first[1].force[None], 1e-12
        )


def test_numbers_behind_the_modes_are_not_parameters() -> None:
    """The plate's thickness and the joints on it act through the modes alone: another value is another robot."""
    model = hexagon()
    home = model.robot.home.matrix
    assert not [path for path in model.parameters() if path.startswith("platform") or path.endswith(".platform")]
    with refused(InputError, "legs.0.platform", code="flexible"):
        model.mass_matrix(home, parameters={"legs.0.platform": np.zeros(3)})
    heavier = model.mass_matrix(home, parameters={"legs.*.upper.mass": 2 * model.robot.legs[0].upper.mass})
    assert np.abs(heavier - model.mass_matrix(home)).max() > 1e-3
