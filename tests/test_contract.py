"""The contract of every library robot with every formulation: what must hold whatever way the numbers are made.

A new robot or formulation is in these tests as soon as it is registered. A formulation that does not apply to a robot
stands in ``REFUSED`` and must say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

import polypod as pp
import states as sample
from compare import assert_close, derivative
from polypod.errors import InputError
from polypod.formulations import FORMULATIONS
from polypod.model import LimitReport
from polypod.model.reactions import Reactions
from polypod.symbols.vectors import Frame
from states import SmoothMotion, basis, displaced, size_of

ROBOTS = pp.library()
# (formulation, robot): why it does not apply. The call raises InputError.
REFUSED: dict[tuple[str, str], str] = {}
# The same for friction only.
REFUSED_WITH_FRICTION: dict[tuple[str, str], str] = {}

# Forces of two formulations differ by rounding, magnified by the condition of J (below 1e3 here): 2e-13 is reached.
TOLERANCE = 1e-10
# In hard places the magnification is that of the place: 1/distance near a singularity (1e-5), 1/angle^2 in the
# derivatives of an almost aligned leg (1e-3), 1/margin^3 at the edge of reach (0.04).
HARD = {"large turns": 1e-10, "near singular": 1e-8, "aligned legs": 1e-8, "edge of reach": 1e-9}


class Case(NamedTuple):
    """A robot with a formulation, with or without friction."""

    robot: str
    formulation: str
    friction: bool

    @property
    def refused(self) -> bool:
        pair = (self.formulation, self.robot)
        return pair in REFUSED or (self.friction and pair in REFUSED_WITH_FRICTION)


ALL_CASES = [Case(r, f, friction) for r in ROBOTS for f in FORMULATIONS for friction in (False, True)]
CASES = [case for case in ALL_CASES if not case.refused]


def label(case: Case) -> str:
    return f"{case.robot}-{case.formulation}-{'friction' if case.friction else 'smooth'}"


each_case = pytest.mark.parametrize("case", CASES, ids=label)
each_smooth_case = pytest.mark.parametrize("case", [c for c in CASES if not c.friction], ids=label)


@pytest.fixture(scope="module")
def easy(model_of: Callable[[str], pp.Model]) -> Callable[[str], sample.States]:
    return cache(lambda name: sample.easy(model_of(name), 24))


@pytest.fixture
def forces(model_of: Callable[[str], pp.Model]) -> Callable[..., Any]:
    """Actuator forces of a case."""

    def call(case: Case, *motion: Any) -> Any:
        return model_of(case.robot).inverse_dynamics(*motion, friction=case.friction, formulation=case.formulation)

    return call


def loaded(robot: pp.Robot) -> bool:
    """Whether friction depends on reactions, and through them on the acceleration: then there is no bias with it."""
    frictions = [value for leg in robot.legs for _, value in leg if isinstance(value, pp.description.Friction)]
    return any(friction.coulomb for friction in frictions)


def solve(jacobian: Any, generalized: Any) -> Any:
    """J^-T times rows of generalized forces."""
    return np.linalg.solve(np.swapaxes(jacobian, -1, -2), generalized[..., None])[..., 0]


# -- nothing is missing ----------------------------------------------------------------------------------------------


def test_every_robot_and_formulation_is_here() -> None:
    assert {(c.robot, c.formulation) for c in ALL_CASES} == {(r, f) for r in pp.library() for f in FORMULATIONS}
    for formulation in FORMULATIONS:
        assert any(c.formulation == formulation for c in CASES), f"{formulation} applies to no robot"
    for table in (REFUSED, REFUSED_WITH_FRICTION):
        for formulation, robot in table:
            assert formulation in FORMULATIONS
            assert robot in ROBOTS


def test_what_is_refused_says_so(model_of: Callable[[str], pp.Model]) -> None:
    zero = np.zeros(6)
    for case in ALL_CASES:
        if case.refused:
            model = model_of(case.robot)
            with pytest.raises(InputError, match=re.escape(case.formulation)):
                model.inverse_dynamics(
                    model.robot.home.matrix, zero, zero, friction=case.friction, formulation=case.formulation
                )


# -- forces ------------------------------------------------------------------------------------------------------------


@each_case
def test_forces_obey_the_equation_of_motion(case: Case, model_of: Any, easy: Any, forces: Any) -> None:
    """J^T f = M udot + bias - S^T w, with mass matrix and bias from functions of their own."""
    model, s = model_of(case.robot), easy(case.robot)
    if case.friction and loaded(model.robot):
        with pytest.raises(InputError, match=r"bias.*friction=False"):
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


# -- the equation of motion's parts --------------------------------------------------------------------------------------


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
        return derivative(lambda h: model.energy(displaced(s.pose, h * np.tile(axis, (8, 1))), np.zeros(6)).potential, step)

    wanted = np.stack([gradient(axes[:, k]) for k in range(axes.shape[1])], axis=-1)
    # Truncation step^8, and rounding 1e-16 V/step.
    assert_close(model.gravity(s.pose), wanted, 1e-10)
    assert np.array_equal(model.gravity(s.pose), model.bias(s.pose, np.zeros(6), friction=False))


def test_bias_is_the_force_without_acceleration(model: pp.Model) -> None:
    s = sample.easy(model, 8)
    for friction in (False,) if loaded(model.robot) else (False, True):
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
    assert_close(total[slides][None], wanted[None], 1e-9)


@pytest.mark.parametrize("robot", ROBOTS)
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
        assert_close(added, solve(plain.jacobian(s.pose), np.stack(gradient, axis=-1)), TOLERANCE, scale)


@pytest.mark.parametrize("robot", ROBOTS)
def test_viscous_friction_takes_the_power_of_its_joints(robot: str, model_of: Any) -> None:
    """With viscous friction only: qdot . f_friction = sum over joints of C |rate|^2, rates by differences of bodies."""
    data, rng = model_of(robot).robot, np.random.default_rng(9)
    legs = []
    for leg in data.legs:
        fields = [name for name in type(leg).model_fields if name.endswith("_friction")]
        legs.append(leg.model_copy(update={name: pp.description.Friction(viscous=rng.uniform(1, 5)) for name in fields}))
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
    overconstrained = bool(model.robot.freedoms)
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
        got += np.concatenate([joint.force, joint.moment + np.cross(axes @ np.array(leg.platform), joint.force)], axis=1)
    assert_close(got, wanted, TOLERANCE, np.abs(found.force).max(axis=1))


# -- kinematics ----------------------------------------------------------------------------------------------------------


def test_jacobian_is_the_derivative_of_inverse_kinematics(model: pp.Model) -> None:
    """To the rounding of the differences, 1e-16 q/step; the truncation is far below, also where a leg is almost flat."""
    axes, step = basis(model.robot), 1e-3 * size_of(model.robot)
    for s, tolerance in ((sample.easy(model, 12), 1e-11), (sample.large_turns(model, 12), 1e-10)):

        def q_of(h: float, axis: Any, poses: Any = s.pose) -> Any:
            return model.inverse_kinematics(displaced(poses, h * np.tile(axis, (len(poses), 1))))

        wanted = [derivative(lambda h, k=k: q_of(h, axes[:, k]), step) for k in range(axes.shape[1])]
        assert_close(model.jacobian(s.pose), np.stack(wanted, axis=-1), tolerance)


def test_rates_are_jacobian_times_twist(model: pp.Model) -> None:
    s = sample.easy(model, 24)
    u = s.twist @ np.linalg.pinv(basis(model.robot)).T
    assert_close(model.rates(s.pose, s.twist), np.einsum("nij,nj->ni", model.jacobian(s.pose), u), 1e-13)


def test_accelerations_are_the_derivative_of_rates(model: pp.Model) -> None:
    motion, t = SmoothMotion(model), np.linspace(0, 2, 9)
    pose, twist, acceleration = motion(t)
    wanted = derivative(lambda h: model.rates(*motion(t + h)[:2]), 0.01)
    assert_close(model.accelerations(pose, twist, acceleration), wanted, 1e-10)
    wanted = derivative(lambda h: model.inverse_kinematics(motion(t + h)[0]), 0.01)
    assert_close(model.rates(pose, twist), wanted, 1e-10)


def test_forward_kinematics_inverts_inverse_kinematics(model: pp.Model) -> None:
    rng, axes = np.random.default_rng(10), basis(model.robot)
    for s in (sample.easy(model, 50), sample.large_turns(model, 50)):
        away = rng.uniform(-1, 1, (len(s.pose), axes.shape[1])) @ axes.T
        guess = displaced(s.pose, 0.02 * np.r_[np.full(3, size_of(model.robot)), np.ones(3)] * away)
        reachable = np.isfinite(model.inverse_kinematics(guess, errors="nan")).all(axis=1)
        # Close to a singularity the nearest pose may be the other one.
        chosen = reachable & (model.conditioning(s.pose).condition < 100)
        assert chosen.sum() > 20
        q = model.inverse_kinematics(s.pose[chosen])
        found = model.forward_kinematics(q, guess[chosen], full_output=True)
        assert (found.code == 0).all()
        assert (found.steps < 12).all()
        assert_close(found.pose, s.pose[chosen], 1e-11)
        assert np.abs(model.inverse_kinematics(found.pose) - q).max() < 1e-14 * (1 + np.abs(q).max()) * 10
        turn = found.pose[:, :3, :3]
        assert np.abs(np.swapaxes(turn, 1, 2) @ turn - np.eye(3)).max() < 1e-14


def test_forward_kinematics_from_home_by_default_and_from_a_rigid_transform(model: pp.Model) -> None:
    home = model.robot.home.matrix
    near = displaced(home, 0.02 * size_of(model.robot) * basis(model.robot)[:, 0])
    q = model.inverse_kinematics(near)
    assert_close(model.forward_kinematics(q)[None], near[None], 1e-12)
    found = model.forward_kinematics(q, RigidTransform.from_matrix(home))
    assert isinstance(found, RigidTransform)
    assert_close(found.as_matrix()[None], near[None], 1e-12)


def test_bodies_have_frames_and_end_at_the_platform(model: pp.Model) -> None:
    """Frames are right-handed and orthonormal; what each leg kind promises of its ends holds."""
    s = sample.easy(model, 6)
    bodies, q = model.bodies(s.pose), model.inverse_kinematics(s.pose)
    assert np.array_equal(bodies["platform"], s.pose)
    for frame in bodies.values():
        axes = frame[:, :3, :3]
        assert np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max() < 1e-13
        assert (np.linalg.det(axes) > 0).all()
        assert np.array_equal(frame[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (6, 1)))
    for k, leg in enumerate(model.robot.legs):
        tip = s.pose[:, :3, 3] + s.pose[:, :3, :3] @ np.array(leg.platform)
        ends = ENDS[leg.kind](leg, {name: bodies[f"{leg.name}.{name}"] for name in BODIES[leg.kind]}, q[:, k, None], tip)
        for got, wanted in ends:
            assert np.abs(got - wanted).max() < 1e-13 * (1 + np.abs(tip).max())


def _along(frame: Any, axis: int, length: Any) -> Any:
    return frame[:, :3, 3] + length * frame[:, :3, axis]


def _slider(leg: Any, q: Any) -> Any:
    return np.array(leg.rail_start) + q * np.array(leg.rail_direction)


def _parallelogram(leg: Any, b: Any, q: Any, tip: Any) -> Any:
    side = leg.half_width * np.array(leg.axis)
    yield b["slider"][:, :3, 3], _slider(leg, q)
    yield b["slider_bar"][:, :3, 3], _slider(leg, q)
    yield b["platform_bar"][:, :3, 3], tip
    yield _along(b["bar1"], 0, leg.length), tip + side
    yield _along(b["bar2"], 0, leg.length), tip - side


BODIES = {
    "UPS": ("lower", "upper"),
    "PUS": ("slider", "link"),
    "PRU": ("slider", "link"),
    "PRPaR": ("slider", "slider_bar", "bar1", "bar2", "platform_bar"),
}
# Pairs of points that must coincide: where a body ends, and where the platform's joint or the rail is.
ENDS: dict[str, Callable[..., Any]] = {
    "UPS": lambda leg, b, q, tip: [
        (_along(b["lower"], 0, q), tip),
        (b["upper"][:, :3, 3], tip),
        (b["lower"][:, :3, 3], np.broadcast_to(leg.base, tip.shape)),
    ],
    "PUS": lambda leg, b, q, tip: [(_along(b["link"], 2, leg.length), tip), (b["slider"][:, :3, 3], _slider(leg, q))],
    "PRU": lambda leg, b, q, tip: [(_along(b["link"], 0, leg.length), tip), (b["slider"][:, :3, 3], _slider(leg, q))],
    "PRPaR": _parallelogram,
}


def test_joints_join_their_bodies(model: pp.Model) -> None:
    """Seen from either of its bodies a joint stays where it is, and its axes too: the leg can be built."""
    poses = sample.easy(model, 5).pose
    bodies = model.bodies(poses)
    for leg in model.robot.legs:
        tip = Frame.symbols("tip")
        joints = leg.place(tip).joints
        assert [j.parent for j in joints][0] == "base"
        assert [j.child for j in joints][-1] == "platform"
        for joint in joints:
            row = ca.Function("joint", [tip.origin, tip.axes], [joint.point, *joint.axes])
            seen: dict[str, list[Any]] = {joint.parent: [], joint.child: []}
            for n, pose in enumerate(poses):
                values = row(pose[:3, :3] @ leg.platform + pose[:3, 3], pose[:3, :3])
                point, *axes = (np.array(v).ravel() for v in (values if isinstance(values, tuple) else (values,)))
                assert np.allclose(np.linalg.norm(axes, axis=1) if axes else 1, 1, atol=1e-13)
                for body in seen:
                    fixed = {"base": np.eye(4), "platform": pose}.get(body)
                    frame = bodies[f"{leg.name}.{body}"][n] if fixed is None else fixed
                    seen[body].append([frame[:3, :3].T @ (point - frame[:3, 3]), *(frame[:3, :3].T @ a for a in axes)])
            parent, child = ([np.ptp([row[k] for row in seen[b]], axis=0).max() for k in range(1 + len(axes))] for b in seen)
            still = {"prismatic": (False, True), "revolute": (True, True), "spherical": (True, True)}
            moves = still.get(joint.kind, (True, True))
            spread = [(parent[0], moves[0]), (child[0], moves[1])]
            if joint.kind in ("prismatic", "revolute"):
                spread += [(parent[1], True), (child[1], True)]
            if joint.kind == "universal":
                spread += [(parent[1], True), (child[2], True)]
                assert abs(axes[0] @ axes[1]) < 1e-13
            for amount, fixed in spread:
                assert (amount < 1e-13) == fixed, f"{leg.name} {joint.name}: moves by {amount:.3g} in a body it joins"


def test_every_leg_kind_of_the_library_is_here() -> None:
    assert set(BODIES) == set(ENDS) == {leg.kind for name in ROBOTS for leg in pp.load(name).legs}


def test_conditioning_is_that_of_the_scaled_jacobian(model: pp.Model) -> None:
    s, axes = sample.easy(model, 6), basis(model.robot)
    size = np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs])
    scaled = model.jacobian(s.pose) / np.where(axes[3:].any(axis=0), size, 1.0)
    got = model.conditioning(s.pose)
    assert_close(got.condition, np.linalg.cond(scaled), 1e-12)
    assert_close(got.distance, 1 / np.linalg.norm(np.linalg.inv(scaled), ord=2, axis=(1, 2)), 1e-11)


# -- batches -------------------------------------------------------------------------------------------------------------

# Every public method that takes states, with the fields of a state it takes. A method not here fails the test below.
METHODS: dict[str, Callable[[pp.Model, sample.States], Any]] = {
    "inverse_kinematics": lambda m, s: m.inverse_kinematics(s.pose),
    "jacobian": lambda m, s: m.jacobian(s.pose),
    "rates": lambda m, s: m.rates(s.pose, s.twist),
    "accelerations": lambda m, s: m.accelerations(s.pose, s.twist, s.acceleration),
    "bodies": lambda m, s: m.bodies(s.pose),
    "forward_kinematics": lambda m, s: m.forward_kinematics(m.inverse_kinematics(s.pose), s.pose, full_output=True),
    "limits": lambda m, s: m.limits(s.pose),
    "conditioning": lambda m, s: m.conditioning(s.pose),
    "inverse_dynamics": lambda m, s: m.inverse_dynamics(*s[:4]),
    "direct_dynamics": lambda m, s: m.direct_dynamics(s.pose, s.twist, s.force, s.wrench),
    "mass_matrix": lambda m, s: m.mass_matrix(s.pose),
    "bias": lambda m, s: m.bias(s.pose, s.twist, friction=not loaded(m.robot)),
    "gravity": lambda m, s: m.gravity(s.pose),
    "energy": lambda m, s: m.energy(s.pose, s.twist),
    "reactions": lambda m, s: m.reactions(*s[:4]),
}
LOWER_MOBILITY = {
    "coordinates": lambda m, s: m.coordinates(s.pose),
    "motion": lambda m, s: m.motion(m.coordinates(s.pose), m.coordinates(s.pose), m.coordinates(s.pose)),
}
NOT_OF_STATES = {"kernel"}


def test_every_method_of_a_model_is_here() -> None:
    public = {name for name in dir(pp.Model) if not name.startswith("_") and callable(getattr(pp.Model, name))}
    assert public == {*METHODS, *LOWER_MOBILITY, *NOT_OF_STATES}


def methods_of(model: pp.Model) -> dict[str, Callable[[pp.Model, sample.States], Any]]:
    return {**METHODS, **(LOWER_MOBILITY if model.robot.freedoms else {})}


def leaves(result: Any) -> list[Any]:
    """All arrays of a result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, LimitReport):
        return [result.value]
    if isinstance(result, Reactions):
        joints = [joint for leg in result.legs.values() for joint in leg.values()]
        return [result.force, *(part for joint in joints for part in (joint.force, joint.moment))]
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


def same(one: Any, other: Any) -> bool:
    """Equal to the bit; what an overconstrained robot leaves open is not a number in both."""
    return np.array_equal(one, other, equal_nan=True)


def test_batches_of_any_size_and_shape(model: pp.Model) -> None:
    """A batch of 0, 1, n and of several leading axes gives for each state what the state alone gives, to the bit."""
    s = sample.easy(model, 18)
    for name, call in methods_of(model).items():
        whole = leaves(call(model, s))
        for k in (0, 17):
            for got, part in zip(leaves(call(model, s.at(k))), whole, strict=True):
                assert np.shape(got) == part.shape[1:], name
                # conditioning goes through LAPACK, which is not of this package
                assert same(got, part[k]) or name == "conditioning", name
        for shape in ((0,), (1,), (2, 9), (3, 0), (1, 2, 1), (18,)):
            n = int(np.prod(shape))
            some = sample.States(*(a[:n].reshape(*shape, *a.shape[1:]) for a in s))
            for got, part in zip(leaves(call(model, some)), whole, strict=True):
                assert got.shape == shape + part.shape[1:], name
                assert same(got, part[:n].reshape(got.shape)) or name == "conditioning", name


def test_leading_axes_are_broadcast(model: pp.Model) -> None:
    s = sample.easy(model, 6)
    some = s.at(slice(0, 3))
    got = model.inverse_dynamics(some.pose[:, None], s.twist[:2], s.acceleration[5], s.wrench[3:5])
    assert got.shape == (3, 2, len(model.legs))
    for i in range(3):
        for j in range(2):
            one = model.inverse_dynamics(s.pose[i], s.twist[j], s.acceleration[5], s.wrench[3 + j])
            assert np.array_equal(got[i, j], one)
    assert model.inverse_dynamics(s.pose[0], s.twist, s.acceleration[:1]).shape == (6, len(model.legs))
    assert model.inverse_dynamics(s.pose[0], np.zeros((0, 6)), s.acceleration[:1]).shape == (0, len(model.legs))


def test_arrays_of_any_layout_and_rigid_transforms(model: pp.Model) -> None:
    """Lists, transposed, strided, single precision and read-only arrays are taken; inputs are left as they were."""
    s = sample.easy(model, 6)
    wanted = model.inverse_dynamics(*s[:4])
    before = [a.copy() for a in s]
    strided = np.zeros((12, 8))
    strided[::2, 1:7] = s.twist
    frozen = s.acceleration.copy()
    frozen.flags.writeable = False
    poses = np.asfortranarray(s.pose)
    got = model.inverse_dynamics(poses, strided[::2, 1:7], frozen, s.wrench.tolist())
    assert np.array_equal(got, wanted)
    assert np.array_equal(model.inverse_kinematics(RigidTransform.from_matrix(s.pose)).shape, (6, len(model.legs)))
    assert_close(model.inverse_kinematics(RigidTransform.from_matrix(s.pose)), model.inverse_kinematics(s.pose), 1e-13)
    single = model.inverse_dynamics(s.pose, s.twist.astype(np.float32), s.acceleration, s.wrench)
    rounded = model.inverse_dynamics(s.pose, s.twist.astype(np.float32).astype(float), s.acceleration, s.wrench)
    assert np.array_equal(single, rounded)
    for a, b in zip(s, before, strict=True):
        assert np.array_equal(a, b)


def test_results_are_the_callers_own(model: pp.Model) -> None:
    """Writing into a result changes neither an input nor a later result."""
    s = sample.easy(model, 3)
    for name, call in methods_of(model).items():
        before, kept = [a.copy() for a in leaves(call(model, s))], [a.copy() for a in s]
        for leaf in leaves(call(model, s)):
            leaf[...] = 0
        assert all(np.array_equal(a, b) for a, b in zip(s, kept, strict=True)), f"{name} gives out its input"
        assert all(same(a, b) for a, b in zip(leaves(call(model, s)), before, strict=True)), name


def test_threads_give_the_same(model: pp.Model) -> None:
    """Threads inside a kernel, and calls from several threads of a program."""
    s = sample.easy(model, 301)
    kernel = model.kernel("inverse_dynamics")
    for n in (1, 7, 16, 301):
        arrays = [a[:n] for a in s[:4]]
        alone = kernel(*arrays, threads=1)
        for threads in (2, 3):
            assert all(np.array_equal(a, b) for a, b in zip(kernel(*arrays, threads=threads), alone, strict=True))
        shared = [s.pose[:1], *arrays[1:]]
        one, two = (kernel(*shared, threads=k)[0] for k in (1, 2))
        assert np.array_equal(one, two)
    fresh = pp.Model(model.robot)
    wanted = model.inverse_dynamics(*s[:4])
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda k: fresh.inverse_dynamics(*s.at(slice(k, None))[:4]), range(16)))
    assert all(np.array_equal(got, wanted[k:]) for k, got in enumerate(results))
