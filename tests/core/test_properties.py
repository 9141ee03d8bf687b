"""Laws of mechanics over random robots: what no choice of numbers may break.

All functions run interpreted here; that the compiled ones are equal is tested with the kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.formulations import FORMULATIONS
from support import states as sample
from support.compare import assert_close, derivative
from support.robots.random_robots import Interpreted, body, changed, random_robot, with_bodies
from support.states import displaced, papers_robots

# Rounding magnified by the condition of J, which is below 100 in every state used: 4e-15 is reached.
TOLERANCE = 1e-12

kinds = st.lists(st.sampled_from(["UPS", "PUS"]), min_size=6, max_size=6).map(tuple)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=3)


class Scene(NamedTuple):
    """A robot and a state of it."""

    robot: pp.Robot
    pose: Any
    twist: Any
    acceleration: Any
    wrench: Any

    @property
    def state(self) -> tuple[Any, ...]:
        return self[1:]


def scene(seed: int, legs: tuple[str, ...]) -> tuple[Scene, Interpreted]:
    """A random robot in a random state near its home, away from singularities and the edge of reach."""
    robot = random_robot(seed, legs)
    rng = np.random.default_rng(seed + 1)
    pose = displaced(robot.home.matrix, np.r_[0.03 * rng.normal(size=3), 0.05 * rng.normal(size=3)])
    functions = Interpreted(robot)
    jacobian = functions.jacobian(pose)
    assume(np.isfinite(jacobian).all() and np.linalg.cond(jacobian) < 100)
    twist, acceleration, wrench = rng.normal(size=6), 5 * rng.normal(size=6), 20 * rng.normal(size=6)
    return Scene(robot, pose, twist, acceleration, wrench), functions


def agree(got: Any, wanted: Any) -> None:
    assert_close(np.asarray(got)[None], np.asarray(wanted)[None], TOLERANCE)


@few
@given(seeds, kinds)
def test_direct_dynamics_inverts_and_energy_is_kept(seed: int, legs: tuple[str, ...]) -> None:
    """Identity, symmetric positive definite mass matrix, and power = d(T + V)/dt by differences along the motion."""
    (_, pose, twist, acceleration, wrench), f = scene(seed, legs)
    force = f.inverse_dynamics(pose, twist, acceleration, wrench)
    able = np.abs(np.linalg.inv(f.mass_matrix(pose))) @ np.abs(f.jacobian(pose)).T @ np.abs(force)
    again = f.direct_dynamics(pose, twist, force, wrench)
    assert np.abs(again - acceleration).max() < TOLERANCE * able.max()
    mass = f.mass_matrix(pose)
    assert np.abs(mass - mass.T).max() <= 1e-15 * np.abs(mass).max()
    assert (np.linalg.eigvalsh(mass) > 0).all()

    def energy(t: float) -> float:
        # exp of theta = omega t + alpha t^2/2: its rate is the twist's to the order that central differences see
        shift = twist * t + acceleration * t**2 / 2
        theta, rate = shift[3:], twist[3:] + acceleration[3:] * t
        return f.energy(displaced(pose, shift), np.r_[twist[:3] + acceleration[:3] * t, left_jacobian(theta) @ rate])

    power = force @ f.jacobian(pose) @ twist + wrench @ twist
    scale = np.abs(force) @ np.abs(f.jacobian(pose) @ twist) + np.abs(wrench) @ np.abs(twist)
    # Rounding of the differences is 1e-16 E/step; their truncation is below it even for an almost stretched leg.
    assert abs(power - derivative(energy, 3e-4)) < 1e-9 * scale


def left_jacobian(theta: Any) -> Any:
    """omega = J(theta) thetadot for R = exp(theta~) R_0."""
    angle = np.linalg.norm(theta)
    tilde = np.array([[0, -theta[2], theta[1]], [theta[2], 0, -theta[0]], [-theta[1], theta[0], 0]])
    if angle < 1e-12:
        return np.eye(3) + tilde / 2
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * tilde + (angle - np.sin(angle)) / angle**3 * tilde @ tilde


@settings(max_examples=2)
@given(seeds, kinds)
def test_formulations_agree(seed: int, legs: tuple[str, ...]) -> None:
    """Robots of mixed legs, on which no formulation was made."""
    s, f = scene(seed, legs)
    wanted = f.inverse_dynamics(*s.state)
    for formulation in FORMULATIONS:
        agree(f.inverse_dynamics(*s.state, formulation=formulation), wanted)


@few
@given(seeds, kinds)
def test_where_the_base_frame_is_does_not_matter(seed: int, legs: tuple[str, ...]) -> None:
    """Robot, gravity and motion turned and moved together: the forces are the same."""
    s, f = scene(seed, legs)
    rng = np.random.default_rng(seed + 2)
    turn, shift = Rotation.random(rng=rng).as_matrix(), 3 * rng.normal(size=3)

    def moved(leg: Any) -> Any:
        new = {"axis": tuple(turn @ leg.axis)}
        if leg.kind == "UPS":
            return leg.model_copy(update=new | {"base": tuple(turn @ leg.base + shift)})
        new |= {"rail_start": tuple(turn @ leg.rail_start + shift), "rail_direction": tuple(turn @ leg.rail_direction)}
        # The slider's frame keeps the base's axes.
        slider = body(leg.slider.mass, turn @ leg.slider.com, turn @ leg.slider.central_inertia @ turn.T)
        return leg.model_copy(update=new | {"slider": slider})

    robot = changed(s.robot, lambda b: b, moved, gravity=tuple(turn @ s.robot.gravity))
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = turn, shift
    both = np.kron(np.eye(2), turn)
    got = Interpreted(robot).inverse_dynamics(place @ s.pose, both @ s.twist, both @ s.acceleration, both @ s.wrench)
    agree(got, f.inverse_dynamics(*s.state))


@few
@given(seeds, kinds)
def test_where_the_platform_frame_is_does_not_matter(seed: int, legs: tuple[str, ...]) -> None:
    """Another frame fixed to the platform: its joints, body, motion and wrench written in it, the forces the same."""
    s, f = scene(seed, legs)
    rng = np.random.default_rng(seed + 3)
    turn, offset = Rotation.random(rng=rng).as_matrix(), 0.3 * rng.normal(size=3)
    plate = s.robot.platform
    robot = changed(
        s.robot,
        lambda b: body(plate.mass, turn.T @ (b.com - offset), turn.T @ b.central_inertia @ turn),
        lambda leg: leg.model_copy(update={"platform": tuple(turn.T @ (leg.platform - offset))}),
    )
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = turn, offset
    arm, omega, alpha = s.pose[:3, :3] @ offset, s.twist[3:], s.acceleration[3:]
    twist = np.r_[s.twist[:3] + np.cross(omega, arm), omega]
    acceleration = np.r_[s.acceleration[:3] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)), alpha]
    wrench = np.r_[s.wrench[:3], s.wrench[3:] - np.cross(arm, s.wrench[:3])]
    got = Interpreted(robot).inverse_dynamics(s.pose @ frame, twist, acceleration, wrench)
    agree(got, f.inverse_dynamics(*s.state))


@pytest.mark.long
@few
@given(seeds, kinds)
def test_a_mirrored_robot_needs_the_same_forces(seed: int, legs: tuple[str, ...]) -> None:
    """Mirror y: points and forces change sign in y, turns in x and z; body frames stay right-handed by turning y."""
    s, f = scene(seed, legs)
    mirror = np.diag([1.0, -1.0, 1.0])

    def reflected(b: pp.Body) -> pp.Body:
        return body(b.mass, mirror @ b.com, mirror @ b.central_inertia @ mirror)

    def other(leg: Any) -> Any:
        points = [name for name in ("base", "axis", "platform", "rail_start", "rail_direction") if hasattr(leg, name)]
        return with_bodies(leg, reflected, **{name: tuple(mirror @ getattr(leg, name)) for name in points})

    robot = changed(s.robot, reflected, other, gravity=tuple(mirror @ s.robot.gravity))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = mirror @ s.pose[:3, :3] @ mirror, mirror @ s.pose[:3, 3]
    both = np.block([[mirror, np.zeros((3, 3))], [np.zeros((3, 3)), -mirror]])
    got = Interpreted(robot).inverse_dynamics(pose, both @ s.twist, both @ s.acceleration, both @ s.wrench)
    agree(got, f.inverse_dynamics(*s.state))


@pytest.mark.long
@few
@given(seeds, kinds, st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.2, 5))
def test_scaling(seed: int, legs: tuple[str, ...], mass: float, rate: float, length: float) -> None:
    """Masses k, time 1/s, lengths l: forces scale by k s^2 l, wrench and gravity with them."""
    s, f = scene(seed, legs)

    def scaled(b: pp.Body) -> pp.Body:
        return body(mass * b.mass, length * np.array(b.com), mass * length**2 * b.central_inertia)

    def larger(leg: Any) -> Any:
        new = {
            name: tuple(length * np.array(getattr(leg, name)))
            for name in ("base", "platform", "rail_start")
            if hasattr(leg, name)
        }
        if leg.kind == "UPS":
            new |= {"cross_inertia": mass * length**2 * leg.cross_inertia, "rotor_mass": mass * leg.rotor_mass}
        else:
            new["length"] = length * leg.length
        return with_bodies(leg, scaled, **new)

    robot = changed(s.robot, scaled, larger, gravity=tuple(rate**2 * length * np.array(s.robot.gravity)))
    pose = s.pose.copy()
    pose[:3, 3] *= length
    linear_first = np.r_[np.full(3, length), np.ones(3)]
    force = mass * rate**2 * length
    got = Interpreted(robot).inverse_dynamics(
        pose,
        rate * linear_first * s.twist,
        rate**2 * linear_first * s.acceleration,
        force * np.r_[np.ones(3), np.full(3, length)] * s.wrench,
    )
    agree(got, force * f.inverse_dynamics(*s.state))


@pytest.mark.long
@settings(max_examples=4)
@given(seeds, kinds)
def test_the_order_of_legs_does_not_matter(seed: int, legs: tuple[str, ...]) -> None:
    s, f = scene(seed, legs)
    order = np.random.default_rng(seed).permutation(6)
    robot = s.robot.model_copy(update={"legs": tuple(s.robot.legs[k] for k in order)})
    agree(Interpreted(robot).inverse_dynamics(*s.state), f.inverse_dynamics(*s.state)[order])


@pytest.mark.long
@settings(max_examples=4)
@given(seeds)
def test_a_body_may_be_described_as_two(seed: int) -> None:
    """A point mass at a platform joint is the platform's or the leg's, as one likes."""
    s, f = scene(seed, ("UPS",) * 6)
    extra, leg = 3.0, s.robot.legs[0]
    point = np.array(leg.platform)
    plate = s.robot.platform
    total = plate.mass + extra
    com = (plate.mass * np.array(plate.com) + extra * point) / total
    away = lambda m, d: m * (d @ d * np.eye(3) - np.outer(d, d))  # noqa: E731
    tensor = plate.central_inertia + away(plate.mass, plate.com - com) + away(extra, point - com)
    on_platform = s.robot.model_copy(update={"platform": body(total, com, tensor)})
    # The upper body of a UPS leg has its origin at the platform joint.
    upper = leg.upper
    sum_com = upper.mass * np.array(upper.com) / (upper.mass + extra)
    sum_tensor = upper.central_inertia + away(upper.mass, upper.com - sum_com) + away(extra, -sum_com)
    heavier = leg.model_copy(update={"upper": body(upper.mass + extra, sum_com, sum_tensor)})
    on_leg = s.robot.model_copy(update={"legs": (heavier, *s.robot.legs[1:])})
    one, other = (Interpreted(robot).inverse_dynamics(*s.state) for robot in (on_platform, on_leg))
    agree(one, other)
    assert np.abs(one - f.inverse_dynamics(*s.state)).max() > 1e-3


def test_staicu_mirrored_in_y_swaps_a_and_b(model_of: Any) -> None:
    """The robot is its own mirror image: y -> -y swaps the forces of A and B and keeps that of C."""
    model = model_of("staicu")
    rng = np.random.default_rng(3)
    x, xdot, xddot = (scale * rng.uniform(-1, 1, (50, 3)) for scale in ([0.08, 0.1, 0.5], [1, 1, 3], [5, 5, 20]))
    wrench = 20 * rng.normal(size=(50, 6))
    across = np.array([-1.0, 1.0, 1.0])
    other_wrench = wrench * [1, -1, 1, -1, 1, -1]
    for formulation in FORMULATIONS:
        one = model.inverse_dynamics(*model.motion(x, xdot, xddot), wrench, formulation=formulation)
        two = model.inverse_dynamics(
            *model.motion(across * x, across * xdot, across * xddot), other_wrench, formulation=formulation
        )
        assert_close(two, one[:, [1, 0, 2]], 1e-13)


@pytest.mark.parametrize("robot", papers_robots())
def test_only_work_counts(robot: str, model_of: Any) -> None:
    """Wrenches that do no work in a robot's degrees of freedom change no force; all others do."""
    model = model_of(robot)
    s = sample.easy(model, 3)
    free = sample.basis(model.robot)
    base = model.inverse_dynamics(*s[:3])
    for axis in np.eye(6):
        differs = np.abs(model.inverse_dynamics(*s[:3], 10 * axis) - base).max()
        assert (differs > 1e-3) == bool(np.abs(free.T @ axis).max() > 0)
