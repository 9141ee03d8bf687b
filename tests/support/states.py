"""Random states of any robot, and its hard places: near singular, at the edge of reach, aligned legs, large turns.

A batch of states is a :class:`States`; the same seed gives the same states. Reachability is asked of the model, so a
test of reachability itself must not use these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod import papers
from polypod.description import Friction

Array = NDArray[np.float64]


class States(NamedTuple):
    """Poses (n, 4, 4), twists, accelerations and external wrenches (n, 6), actuator forces (n, k)."""

    pose: Array
    twist: Array
    acceleration: Array
    wrench: Array
    force: Array

    def at(self, index: int | slice | Array) -> States:
        """One state, or some of them."""
        return States(*(field[index] for field in self))


EACH_KIND = ("kim-ryu", "pedrammehr", "staicu")
"""Papers' robots of every leg kind, kind of friction and mobility; lopes and long have legs and degrees of freedom
of these."""


def mostly_long(names: Iterable[Any], kept: Collection[Any], label: Callable[[Any], str] = str) -> list[Any]:
    """Parameters of a test that says the same of them all: those kept run always, the others in long runs."""
    return [pytest.param(name, marks=() if name in kept else pytest.mark.long, id=label(name)) for name in names]


def papers_robots() -> tuple[str, ...]:
    """Names of the papers' robots, for suites that are about their leg kinds; all robots are in test_library."""
    return papers.names()


def basis(robot: pp.Robot) -> Array:
    """The motions a robot can make, (6, m), from its description alone."""
    if not robot.dof:
        return np.eye(6)
    columns = [np.r_[f.axis, 0, 0, 0] if f.motion == "translation" else np.r_[0, 0, 0, f.axis] for f in robot.dof]
    return np.array(columns).T


def size_of(robot: pp.Robot) -> float:
    """Largest distance of a platform joint from the platform's origin [m]."""
    return float(max(np.linalg.norm(leg.platform) for leg in robot.legs))


def with_friction(robot: pp.Robot, seed: int = 0, **largest: float) -> pp.Robot:
    """A robot whose joints all have friction of the kinds given: random coefficients up to the largest of each."""
    rng, legs = np.random.default_rng(seed), []
    for leg in robot.legs:
        fields = [name for name, value in leg if isinstance(value, Friction)]
        new = {n: Friction(**{kind: most * rng.uniform(0.5, 1.0) for kind, most in largest.items()}) for n in fields}
        legs.append(leg.model_copy(update=new))
    return robot.model_copy(update={"legs": tuple(legs)})


def friction_needs_reactions(robot: pp.Robot) -> bool:
    """Whether friction depends on reactions, and through them on the acceleration: then there is no bias with it."""
    frictions = [value for leg in robot.legs for _, value in leg if isinstance(value, Friction)]
    return any(friction.coulomb for friction in frictions)


def displaced(pose: Array, shift: Array) -> Array:
    """A pose (..., 4, 4) moved by shift[:3] and turned by the rotation vector shift[3:], both in base axes."""
    moved = np.array(np.broadcast_to(pose, (*shift.shape[:-1], 4, 4)))
    moved[..., :3, 3] += shift[..., :3]
    turn = Rotation.from_rotvec(shift[..., 3:].reshape(-1, 3)).as_matrix().reshape((*shift.shape[:-1], 3, 3))
    moved[..., :3, :3] = turn @ moved[..., :3, :3]
    return moved


def condition(model: pp.Model, poses: Array) -> Array:
    """Condition number of the Jacobian, rotations scaled by the platform's size; infinite where legs do not close."""
    scaled = model.jacobian(poses, errors="nan")[..., : model.mobility.count]
    scaled = scaled * np.where(model.mobility.turns, 1 / model.size, 1.0)
    closed = np.isfinite(scaled).all(axis=(-2, -1))
    return np.where(closed, np.linalg.cond(np.where(closed[:, None, None], scaled, 1.0)), np.inf)


def random_poses(model: pp.Model, count: int, rng: np.random.Generator, move: float = 0.4, turn: float = 0.4) -> Array:
    """Reachable poses up to ``move`` platform sizes and ``turn`` radians from home, condition of J below 1e3."""
    robot, axes, found = model.robot, basis(model.robot), []
    for _ in range(200):
        shift = rng.uniform(-1.0, 1.0, (4 * count, axes.shape[1])) @ axes.T
        shift[:, :3] *= move * size_of(robot)
        shift[:, 3:] *= turn
        poses = displaced(robot.home.matrix, shift)
        found += list(poses[condition(model, poses) < 1e3])
        if len(found) >= count:
            return np.array(found[:count])
    raise RuntimeError(f"{robot.name}: no {count} reachable poses")


def with_motion(model: pp.Model, poses: Array, rng: np.random.Generator, speed: float = 1.0) -> States:
    """Poses with random motions of the robot's degrees of freedom, wrenches and forces."""
    axes, n = basis(model.robot), len(poses)
    twist, acceleration = (scale * rng.normal(size=(n, axes.shape[1])) @ axes.T for scale in (speed, 5.0 * speed**2))
    return States(
        poses, twist, acceleration, 30 * rng.normal(size=(n, 6)), 80 * rng.normal(size=(n, len(model.actuators)))
    )


def easy(model: pp.Model, count: int, seed: int = 0) -> States:
    """Random states around home."""
    rng = np.random.default_rng(seed)
    return with_motion(model, random_poses(model, count, rng), rng)


def large_turns(model: pp.Model, count: int, seed: int = 1) -> States:
    """States turned by up to 2 rad about each axis, as far as the legs allow."""
    rng = np.random.default_rng(seed)
    return with_motion(model, random_poses(model, count, rng, move=0.2, turn=2.0), rng)


def determinant(model: pp.Model, poses: Array) -> Array:
    """det J, NaN where the legs do not close."""
    with np.errstate(invalid="ignore"):
        return np.linalg.det(model.jacobian(poses, errors="nan"))


def singular_pose(model: pp.Model, seed: int = 2) -> tuple[Array, Array]:
    """A singular pose, to rounding, and the displacement that leads through it: bisection of a sign change of det J.

    The straight displacement from home is searched in random directions of the robot's degrees of freedom, with all
    legs closed on the way (a determinant that is not a number stops the search of that direction).
    """
    rng, axes, home = np.random.default_rng(seed), basis(model.robot), model.robot.home.matrix
    steps = np.linspace(0.0, 1.0, 65)
    for _ in range(400):
        way = axes @ rng.normal(size=axes.shape[1])
        way[:3] *= 0.5 * size_of(model.robot)
        signs = determinant(model, displaced(home, steps[:, None] * way))
        good = np.isfinite(signs)
        last = int(np.argmin(good)) if not good.all() else len(signs)
        change = np.flatnonzero(signs[: last - 1] * signs[1:last] < 0)
        if not len(change):
            continue
        low, high = steps[change[0]], steps[change[0] + 1]
        for _ in range(60):
            middle = 0.5 * (low + high)
            same = determinant(model, displaced(home, middle * way[None]))[0] * signs[0] > 0
            low, high = (middle, high) if same else (low, middle)
        pose = displaced(home, low * way)
        # A determinant also changes sign where a leg folds; that is another matter.
        if model.conditioning(pose).distance < 1e-9:
            return pose, way
    raise RuntimeError(f"{model.robot.name}: no singular pose found")


def near_singular(model: pp.Model, seed: int = 2, aside: float = 1e-4) -> States:
    """A state a little aside of a singular pose."""
    pose, way = singular_pose(model, seed)
    return with_motion(model, displaced(pose, -aside * way / np.linalg.norm(way))[None], np.random.default_rng(seed))


def edge_of_reach(model: pp.Model, count: int, seed: int = 3, part: float = 1e-3) -> States:
    """States just inside where a leg ceases to close; only of robots whose legs have a longest reach."""
    rng, axes, home = np.random.default_rng(seed), basis(model.robot), model.robot.home.matrix
    found = []
    for _ in range(20 * count):
        way = axes @ rng.normal(size=axes.shape[1])
        way[3:] *= 0.2
        low, high = 0.0, 20.0
        if np.isfinite(model.inverse_kinematics(displaced(home, high * way), errors="nan")).all():
            continue
        for _ in range(50):
            middle = 0.5 * (low + high)
            closed = np.isfinite(model.inverse_kinematics(displaced(home, middle * way), errors="nan")).all()
            low, high = (middle, high) if closed else (low, middle)
        found.append(displaced(home, low * (1 - part) * way))
        if len(found) == count:
            return with_motion(model, np.array(found), rng)
    raise RuntimeError(f"{model.robot.name}: its legs reach everywhere")


def aligned_pose(model: pp.Model, leg: int, angle: float, seed: int = 4) -> Array:
    """A pose in which a leg of kind UPS is ``angle`` from the base axis of its universal joint."""
    rng, data = np.random.default_rng(seed), model.robot.legs[leg]
    axis, base, arm = (np.array(getattr(data, field)) for field in ("axis", "base", "platform"))
    side = np.cross(axis, rng.normal(size=3))
    direction = np.cos(angle) * axis + np.sin(angle) * side / np.linalg.norm(side)
    pose = displaced(model.robot.home.matrix, np.r_[0, 0, 0, 0.2 * rng.normal(size=3)])
    length = np.linalg.norm(model.robot.home.matrix[:3, 3])
    pose[:3, 3] = base + length * direction - pose[:3, :3] @ arm
    return pose


def aligned(model: pp.Model, angle: float = 1e-3) -> States:
    """A state for each UPS leg in which that leg is almost in line with its universal joint's base axis."""
    poses = [aligned_pose(model, k, angle) for k, leg in enumerate(model.robot.legs) if leg.kind == "UPS"]
    return with_motion(model, np.array(poses), np.random.default_rng(4))


def hard(model: pp.Model) -> Iterator[tuple[str, States]]:
    """Every hard place a robot has, by name."""
    yield "large turns", large_turns(model, 12)
    yield "near singular", near_singular(model)
    kinds = {leg.kind for leg in model.robot.legs}
    if "UPS" in kinds:
        yield "aligned legs", aligned(model)
    if kinds & {"PUS", "PRU", "PRPaR"}:
        yield "edge of reach", edge_of_reach(model, 6)


class SmoothMotion:
    """A motion t -> pose, twist, acceleration with closed-form derivatives, for any robot.

    p(t) = p_0 + sum of axes times sines; R(t) = exp(theta_1 a~) exp(theta_2 b~) R_0 with sines theta (only the first
    turn, about the robot's own axis, where it has fewer than six degrees of freedom), so with b_1 = exp(theta_1 a~) b
    omega = theta_1' a + theta_2' b_1 and alpha = theta_1'' a + theta_2'' b_1 + theta_1' theta_2' a x b_1.
    """

    def __init__(self, model: pp.Model, seed: int = 5, move: float = 0.25, turn: float = 0.25) -> None:
        rng, robot = np.random.default_rng(seed), model.robot
        self.home = robot.home.matrix
        if robot.dof:
            slides = [f.axis for f in robot.dof if f.motion == "translation"]
            turns = [f.axis for f in robot.dof if f.motion == "rotation"]
        else:
            slides, turns = list(np.eye(3)), list(rng.normal(size=(2, 3)))
            turns = [axis / np.linalg.norm(axis) for axis in turns]
        self.slides, self.turns = np.array(slides).reshape(-1, 3), np.array(turns).reshape(-1, 3)
        count = len(self.slides) + len(self.turns)
        self.rate, self.phase = rng.uniform(1.5, 3.0, count), rng.uniform(0, 2 * np.pi, count)
        sizes = np.r_[np.full(len(self.slides), move * size_of(robot)), np.full(len(self.turns), turn)]
        self.amplitude = sizes * rng.uniform(0.5, 1.0, count)

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """Poses (n, 4, 4), twists and accelerations (n, 6) at times (n,)."""
        angle = np.multiply.outer(t, self.rate) + self.phase
        x, dx, ddx = (
            self.amplitude * v for v in (np.sin(angle), self.rate * np.cos(angle), -(self.rate**2) * np.sin(angle))
        )
        k = len(self.slides)
        pose = np.tile(self.home, (len(t), 1, 1))
        pose[:, :3, 3] += x[:, :k] @ self.slides
        twist, acceleration = np.zeros((len(t), 6)), np.zeros((len(t), 6))
        twist[:, :3], acceleration[:, :3] = dx[:, :k] @ self.slides, ddx[:, :k] @ self.slides
        if len(self.turns):
            a = self.turns[0]
            first = Rotation.from_rotvec(x[:, k, None] * a)
            turned = first
            twist[:, 3:], acceleration[:, 3:] = dx[:, k, None] * a, ddx[:, k, None] * a
            if len(self.turns) > 1:
                b = first.apply(self.turns[1])
                turned = first * Rotation.from_rotvec(x[:, k + 1, None] * self.turns[1])
                twist[:, 3:] += dx[:, k + 1, None] * b
                acceleration[:, 3:] += ddx[:, k + 1, None] * b + (dx[:, k] * dx[:, k + 1])[:, None] * np.cross(a, b)
            pose[:, :3, :3] = turned.as_matrix() @ self.home[:3, :3]
        return pose, twist, acceleration
