"""The contract of every library robot with every formulation: what must hold whatever way the numbers are made.

A new robot or formulation is in these tests as soon as it is registered; every formulation applies to every library
robot. Robots of every other kind of leg (rotary, geared, passive slides, overconstrained) in all formulations, with
viscous and dry friction, and what does not apply to them, are in ``test_actuators``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.formulations import FORMULATIONS
from polypod.symbols.vectors import Frame
from support import states as sample
from support.compare import assert_close, derivative
from support.refusals import refused
from support.states import SmoothMotion, basis, displaced, friction_needs_reactions, papers_robots, size_of

ROBOTS = papers_robots()

# Forces of two formulations differ by rounding, magnified by the condition of J (below 1e3 here): 4e-15 is reached.
TOLERANCE = 1e-12
# In hard places the magnification is that of the place: 1/distance near a singularity (1e-5), 1/angle^2 in the
# derivatives of an almost aligned leg (1e-3), 1/margin^3 at the edge of reach (0.04). 4e-12 is reached.
HARD = {"large turns": 1e-12, "near singular": 1e-10, "aligned legs": 1e-10, "edge of reach": 1e-11}
# Differences of eighth order have their own truncation and rounding: 6e-13 is reached.
DIFFERENCES = 1e-10


class Case(NamedTuple):
    """A robot with a formulation, with or without friction."""

    robot: str
    formulation: str
    friction: bool


CASES = [Case(r, f, friction) for r in ROBOTS for f in FORMULATIONS for friction in (False, True)]
# Formulations of many operations on the smallest; test_actuators has telescopic legs in all of them.
LARGE = {(robot, name) for robot in ("pedrammehr", "kim-ryu") for name in ("lagrange", "recursive-matrix")}
KEPT = [c for c in CASES if c.robot in sample.EACH_KIND and (c.robot, c.formulation) not in LARGE]


def label(case: Case) -> str:
    return f"{case.robot}-{case.formulation}-{'friction' if case.friction else 'smooth'}"


each_case = pytest.mark.parametrize("case", sample.mostly_long(CASES, KEPT, label))
each_smooth_case = pytest.mark.parametrize(
    "case", sample.mostly_long([case for case in CASES if not case.friction], KEPT, label)
)


@pytest.fixture(scope="module")
def easy(model_of: Callable[[str], pp.Model]) -> Callable[[str], sample.States]:
    return cache(lambda name: sample.easy(model_of(name), 24))


@pytest.fixture
def forces(model_of: Callable[[str], pp.Model]) -> Callable[..., Any]:
    """Actuator forces of a case."""

    def call(case: Case, *motion: Any) -> Any:
        return model_of(case.robot).inverse_dynamics(*motion, friction=case.friction, formulation=case.formulation)

    return call


def solve(jacobian: Any, generalized: Any) -> Any:
    """J^-T times rows of generalized forces."""
    return np.linalg.solve(np.swapaxes(jacobian, -1, -2), generalized[..., None])[..., 0]


# -- forces ----------------------------------------------------------------------------------------------------------


@each_case
def test_forces_obey_the_equation_of_motion(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    """J^T f = M udot + bias - S^T w, with mass matrix and bias from functions of their own."""
    model, s = model_of(case.robot), easy(case.robot)
    if case.friction and friction_needs_reactions(model.robot):
        with refused(InputError, "bias friction"):
            model.bias(s.pose, s.twist)
        return
    axes = basis(model.robot)
    udot = s.acceleration @ np.linalg.pinv(axes).T
    demand = (model.mass_matrix(s.pose) @ udot[..., None])[..., 0]
    demand = demand + model.bias(s.pose, s.twist, friction=case.friction) - s.wrench @ axes
    assert_close(forces(case, *s[:4]), solve(model.jacobian(s.pose), demand), TOLERANCE)


@each_case
def test_forces_equal_those_of_virtual_power(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    model, s = model_of(case.robot), easy(case.robot)
    assert_close(forces(case, *s[:4]), model.inverse_dynamics(*s[:4], friction=case.friction), TOLERANCE)


@each_smooth_case
def test_forces_in_hard_places(case: Case, model_of: Any, forces: Any) -> None:
    model = model_of(case.robot)
    axes = basis(model.robot)
    for place, s in sample.hard(model):
        got = forces(case, *s[:4])
        udot = s.acceleration @ np.linalg.pinv(axes).T
        demand = (model.mass_matrix(s.pose) @ udot[..., None])[..., 0]
        demand = demand + model.bias(s.pose, s.twist, friction=False) - s.wrench @ axes
        assert_close(got, solve(model.jacobian(s.pose), demand), HARD[place])
        assert_close(got, model.inverse_dynamics(*s[:4], friction=False), HARD[place])


@each_smooth_case
def test_forces_are_affine_in_the_acceleration_by_the_mass_matrix(
    case: Case, model_of: Any, easy: Any, forces: Any
) -> None:
    """J^T (f(udot) - f(0)) = M udot for the unit accelerations."""
    model, s = model_of(case.robot), easy(case.robot)
    axes, mass, jacobian = basis(model.robot), model.mass_matrix(s.pose), model.jacobian(s.pose)
    still = forces(case, s.pose, s.twist, np.zeros(6))
    columns = [
        np.einsum("nji,nj->ni", jacobian, forces(case, s.pose, s.twist, axes[:, k]) - still)
        for k in range(axes.shape[1])
    ]
    # The difference of two forces of the size of J^-T bias loses what they share.
    scale = np.abs(mass).max(axis=(1, 2)) + np.abs(model.bias(s.pose, s.twist, friction=False)).max(axis=1)
    assert_close(np.stack(columns, axis=-1), mass, TOLERANCE, scale)


@each_smooth_case
def test_the_wrench_enters_by_the_jacobian(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    """f(w) - f(0) = -J^-T S^T w."""
    model, s = model_of(case.robot), easy(case.robot)
    got = forces(case, *s[:4]) - forces(case, *s[:3])
    wanted = -solve(model.jacobian(s.pose), s.wrench @ basis(model.robot))
    assert_close(got, wanted, TOLERANCE, np.abs(wanted).max(axis=1) + np.abs(forces(case, *s[:3])).max(axis=1))


@each_case
def test_direct_dynamics_inverts(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    model, s = model_of(case.robot), easy(case.robot)
    f = forces(case, *s[:4])
    again = model.direct_dynamics(s.pose, s.twist, f, s.wrench, friction=case.friction)
    # The acceleration is the small rest of large forces: relative to what they could do, M^-1 J^T |f|.
    push = np.einsum("nji,nj->ni", np.abs(model.jacobian(s.pose)), np.abs(f))
    able = np.abs(np.linalg.inv(model.mass_matrix(s.pose))) @ push[..., None]
    assert_close(again, s.acceleration, TOLERANCE, able.max(axis=(1, 2)))


@each_smooth_case
def test_energy_balance(case: Case, model_of: Any, forces: Any) -> None:
    """Work of actuators and wrench along a smooth motion is the change of T + V, by Gauss' quadrature."""
    model = model_of(case.robot)
    motion = SmoothMotion(model)
    nodes, weights = np.polynomial.legendre.leggauss(40)  # converged: half of them give 1e-13
    t, weights = 0.5 + 0.5 * nodes, 0.5 * weights
    pose, twist, acceleration = motion(t)
    wrench = 20 * np.sin(np.multiply.outer(t, np.arange(1.0, 7.0)))
    drive = np.sum(forces(case, pose, twist, acceleration, wrench) * model.rates(pose, twist), axis=1)
    power = drive + np.sum(wrench * twist, axis=1)
    ends = model.energy(*motion(np.array([0.0, 1.0]))[:2])
    total = ends.kinetic + ends.potential
    assert abs(weights @ power - (total[1] - total[0])) < 1e-11 * (weights @ np.abs(power))


@each_case
def test_friction_takes_power(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    """The power of friction is not negative in any state, and nothing at rest without it."""
    model, s = model_of(case.robot), easy(case.robot)
    rates = model.rates(s.pose, s.twist)
    extra = forces(case, *s[:4]) - forces(case._replace(friction=False), *s[:4])
    lost = np.sum(extra * rates, axis=1)
    assert (lost >= -1e-12 * np.sum(np.abs(forces(case, *s[:4]) * rates), axis=1)).all()
    if not case.friction:
        assert not extra.any()


# -- the equation of motion's parts ----------------------------------------------------------------------------------


def test_mass_matrix_is_symmetric_and_positive_definite(model: pp.Model) -> None:
    for s in (sample.easy(model, 24), sample.large_turns(model, 24)):
        mass = model.mass_matrix(s.pose)
        assert_close(mass, np.swapaxes(mass, 1, 2), 1e-15)
        assert (np.linalg.eigvalsh(mass) > 0).all()


def test_mass_matrix_is_that_of_the_kinetic_energy(model: pp.Model) -> None:
    """T(u) = u^T M u/2, and M_ij = T(e_i + e_j) - T(e_i) - T(e_j)."""
    s, axes = sample.easy(model, 8), basis(model.robot)
    mass = model.mass_matrix(s.pose)
    u = s.twist @ np.linalg.pinv(axes).T
    assert_close(model.energy(s.pose, s.twist).kinetic, np.einsum("ni,nij,nj->n", u, mass, u) / 2, 1e-12)

    def kinetic(direction: Any) -> Any:
        return model.energy(s.pose, direction).kinetic

    m = axes.shape[1]
    one = [kinetic(axes[:, i]) for i in range(m)]
    second = [[kinetic(axes[:, i] + axes[:, j]) - one[i] - one[j] for j in range(m)] for i in range(m)]
    assert_close(np.moveaxis(np.array(second), 2, 0), mass, 1e-13)


def test_gravity_is_the_gradient_of_the_potential(model: pp.Model) -> None:
    s, axes = sample.easy(model, 8), basis(model.robot)
    step = 0.01 * size_of(model.robot)

    def gradient(axis: Any) -> Any:
        return derivative(
            lambda h: model.energy(displaced(s.pose, h * np.tile(axis, (8, 1))), np.zeros(6)).potential, step
        )

    wanted = np.stack([gradient(axes[:, k]) for k in range(axes.shape[1])], axis=-1)
    assert_close(model.gravity(s.pose), wanted, DIFFERENCES)
    assert np.array_equal(model.gravity(s.pose), model.bias(s.pose, np.zeros(6), friction=False))


def test_bias_is_the_force_without_acceleration(model: pp.Model) -> None:
    s = sample.easy(model, 8)
    for friction in (False,) if friction_needs_reactions(model.robot) else (False, True):
        f = model.inverse_dynamics(s.pose, s.twist, np.zeros(6), friction=friction)
        got = np.einsum("nji,nj->ni", model.jacobian(s.pose), f)
        scale = np.einsum("nji,nj->ni", np.abs(model.jacobian(s.pose)), np.abs(f)).max(axis=1)
        assert_close(got, model.bias(s.pose, s.twist, friction=friction), 1e-12, scale)


def test_bias_is_what_christoffel_says(model: pp.Model) -> None:
    """Rate of M u along the motion minus the gradient of T: for translations, where u is a coordinate's rate.

    d/dt (dT/du_i) - dT/dx_i + dV/dx_i = bias_i at zero acceleration, i a translation.
    """
    axes = basis(model.robot)
    slides = [i for i in range(axes.shape[1]) if axes[:3, i].any()]
    pinv = np.linalg.pinv(axes)
    motion, step = SmoothMotion(model), 0.01
    pose, twist, acceleration = (a[0] for a in motion(np.array([0.3])))

    def momentum(h: float) -> Any:
        p, v, _ = (a[0] for a in motion(np.array([0.3 + h])))
        return model.mass_matrix(p) @ (pinv @ v)

    def lagrangian(axis: Any, h: float) -> Any:
        energy = model.energy(displaced(pose, h * axis), twist)
        return energy.kinetic - energy.potential

    total = model.mass_matrix(pose) @ (pinv @ acceleration) + model.bias(pose, twist, friction=False)
    wanted = derivative(momentum, step)[slides]
    length = step * size_of(model.robot)
    wanted = wanted - [derivative(lambda h, i=i: lagrangian(axes[:, i], h), length) for i in slides]
    assert_close(total[slides][None], wanted[None], DIFFERENCES)


@pytest.mark.parametrize("robot", sample.mostly_long(ROBOTS, ["staicu"]))
def test_gravity_may_be_any_vector(robot: str, model_of: Any) -> None:
    """What gravity adds to the forces is the gradient of its own potential, and nothing without it."""
    plain, rng = model_of(robot), np.random.default_rng(8)
    s, axes, step = sample.easy(plain, 6), basis(plain.robot), 0.01 * size_of(plain.robot)

    def with_gravity(gravity: Any) -> pp.Model:
        return pp.Model(plain.robot.model_copy(update={"gravity": tuple(map(float, gravity))}))

    def potential(model: pp.Model, axis: Any, h: float) -> Any:
        return model.energy(displaced(s.pose, h * np.tile(axis, (6, 1))), np.zeros(6)).potential

    weightless = with_gravity(np.zeros(3))
    none = weightless.inverse_dynamics(*s[:4], friction=False)
    assert not weightless.gravity(s.pose).any()
    for model in (plain, with_gravity(9 * rng.normal(size=3))):
        added = model.inverse_dynamics(*s[:4], friction=False) - none
        gradient = [derivative(lambda h, a=axis, m=model: potential(m, a, h), step) for axis in axes.T]
        scale = np.abs(added).max(axis=1) + np.abs(none).max(axis=1)
        assert_close(added, solve(plain.jacobian(s.pose), np.stack(gradient, axis=-1)), DIFFERENCES, scale)


@pytest.mark.parametrize("robot", sample.mostly_long(ROBOTS, ["pedrammehr", "staicu"]))
def test_viscous_friction_takes_the_power_of_its_joints(robot: str, model_of: Any) -> None:
    """With viscous friction only: qdot . f_friction = sum over joints of C |rate|^2, rates by differences of bodies."""
    data, rng = model_of(robot).robot, np.random.default_rng(9)
    legs = []
    for leg in data.legs:
        fields = [name for name in type(leg).model_fields if name.endswith("_friction")]
        legs.append(
            leg.model_copy(update={name: pp.description.Friction(viscous=rng.uniform(1, 5)) for name in fields})
        )
    model = pp.Model(data.model_copy(update={"legs": tuple(legs)}))
    motion, t0, step = SmoothMotion(model), 0.4, 0.01

    def at(h: float) -> Any:
        return [a[0] for a in motion(np.array([t0 + h]))]

    pose, twist, acceleration = at(0.0)
    frames, rates = model.bodies(pose), {}
    for name, frame in frames.items():
        turn = derivative(lambda h, name=name: model.bodies(at(h)[0])[name][:3, :3], step) @ frame[:3, :3].T
        rates[name] = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    qdot = derivative(lambda h: model.inverse_kinematics(at(h)[0]), step)
    lost = 0.0
    for number, leg in enumerate(model.robot.legs):
        omega = {"base": np.zeros(3), "platform": rates["platform"]}
        omega |= {name.partition(".")[2]: w for name, w in rates.items() if name.startswith(f"{leg.name}.")}
        tip = Frame.symbols("tip")
        for joint in leg.place(tip).joints:
            relative = qdot[number] if joint.kind == "prismatic" else omega[joint.child] - omega[joint.parent]
            lost += getattr(leg, joint.friction).viscous * np.sum(relative**2)
    f = [model.inverse_dynamics(pose, twist, acceleration, friction=on) for on in (True, False)]
    assert (f[0] - f[1]) @ model.rates(pose, twist) == pytest.approx(lost, rel=1e-9)


def test_reactions_hold_the_platform(model: pp.Model) -> None:
    """Newton and Euler for the platform alone, from its data: m (a_c - g), I alpha + omega x I omega."""
    s, body, g = sample.easy(model, 8), model.robot.platform, np.array(model.robot.gravity)
    found = model.reactions(*s[:4], friction=False)
    assert_close(found.force, model.inverse_dynamics(*s[:4], friction=False), TOLERANCE)
    overconstrained = bool(model.robot.dof)
    assert bool(found.indeterminate) == overconstrained
    if overconstrained:
        return
    axes = s.pose[:, :3, :3]
    r, inertia = axes @ np.array(body.com), axes @ body.central_inertia @ np.swapaxes(axes, 1, 2)
    omega, alpha = s.twist[:, 3:], s.acceleration[:, 3:]
    lift = s.acceleration[:, :3] + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r)) - g
    spin = (inertia @ alpha[..., None])[..., 0] + np.cross(omega, (inertia @ omega[..., None])[..., 0])
    wanted = np.concatenate([body.mass * lift, spin + np.cross(r, body.mass * lift)], axis=1) - s.wrench
    got = np.zeros_like(wanted)
    for leg in model.robot.legs:
        joint = next(joint for joint in found.legs[leg.name].values() if joint.child == "platform")
        got += np.concatenate(
            [joint.force, joint.moment + np.cross(axes @ np.array(leg.platform), joint.force)], axis=1
        )
    assert_close(got, wanted, TOLERANCE, np.abs(found.force).max(axis=1))
