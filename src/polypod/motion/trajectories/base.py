"""The family of trajectories: motions of the platform, and how one is read."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import casadi as ca
import numpy as np
from pydantic import SerializeAsAny

from ...arrays import Array
from ...errors import InputError
from ...symbols.vectors import Frame, skew
from ..contract import Motion, MotionExpansion, Peak, Trajectory
from ..fields import MotionColumn
from ..kinds import Family, Kind, any_of
from ..paths.base import PathKind

if TYPE_CHECKING:
    from ...model import Model

_SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
CONVENTIONS = (*_SEQUENCES, *(name.upper() for name in _SEQUENCES))
"""Orders of Euler angles, named as in SciPy: lower case turns about base axes, upper case about turned axes."""

POSITION = tuple(MotionColumn(name, "length") for name in ("x", "y", "z"))
ANGLES = tuple(MotionColumn(name, "angle") for name in ("a1", "a2", "a3"))


class TrajectoryKind(Kind, Trajectory):
    """A motion of the platform; a kind has a ``duration`` and defines ``evaluate``."""

    registry: ClassVar[dict[str, type[Any]]] = {}
    what: ClassVar[str] = "trajectory"


class Placed(TrajectoryKind):
    """A motion that counts from the base frame, or with ``relative_to: home`` from the robot's home pose.

    From home p = p_home + p(t) and R = R(t) R_home.
    """

    relative_to: Literal["base", "home"] = "base"

    @abstractmethod
    def placed(self, t: Array) -> Motion:
        """The motion as its fields state it, whatever it is relative to.

        Parameters
        ----------
        t : ndarray, shape (...)
            Times [s] in [0, duration].

        Returns
        -------
        Motion
            Motion at these times.
        """

    def with_convention(self, convention: str) -> Placed:
        """The motion with angles in a given order, unless it states its own.

        Parameters
        ----------
        convention : str
            Order of angles, as SciPy's ``Rotation.from_euler`` takes it.

        Returns
        -------
        Placed
            The motion.
        """
        return self

    def expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        return None if self.relative_to == "home" else self.placed_expansion(t, half)

    def placed_expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        """Taylor expansion of the motion as its fields state it, whatever it is relative to.

        Parameters
        ----------
        t : ndarray, shape (n,)
            Times [s].
        half : ndarray, shape (n,)
            Half-widths of the intervals around them [s]; no interval reaches beyond a piece.

        Returns
        -------
        MotionExpansion or None
            The expansion; None if no bound is known.
        """
        return None

    def evaluate(self, t: Array) -> Motion:
        if self.relative_to == "home":
            raise InputError("relative_to: needs a robot's home; use trajectory.for_model(model)")
        return self.placed(t)

    def for_model(self, model: Model) -> Trajectory:
        motion = self.with_convention(model.robot.euler)
        if self.relative_to == "base":
            return motion
        return FromHome(motion.model_copy(update={"relative_to": "base"}), model.robot.home.matrix)


@dataclass(frozen=True, eq=False)
class FromHome(Trajectory):
    """p = p_home + p(t), R = R(t) R_home."""

    inner: Trajectory
    home: Array

    @property
    def duration(self) -> float:
        return self.inner.duration

    @property
    def pieces(self) -> Array:
        return self.inner.pieces

    @property
    def peak(self) -> Peak | None:
        return self.inner.peak

    def expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        inner = self.inner.expansion(t, half)
        if inner is None or inner.pose is None:
            return None
        base = inner.pose

        def pose(c: ca.SX, constants: ca.SX) -> Frame:
            frame = base(c, constants)
            return Frame(frame.origin + ca.DM(self.home[:3, 3]), frame.axes @ ca.DM(self.home[:3, :3]))

        return inner._replace(pose=pose)

    def evaluate(self, t: Array) -> Motion:
        motion = self.inner.evaluate(t)
        pose = motion.pose.copy()
        pose[..., :3, 3] += self.home[:3, 3]
        pose[..., :3, :3] = pose[..., :3, :3] @ self.home[:3, :3]
        return motion._replace(pose=pose)


def rotated_frame(c: ca.SX, constants: ca.SX) -> Frame:
    """The frame at c[:3], turned by c[3] about an axis from a rotation: ``constants`` (12) are axis and rotation."""
    tilde = skew(constants[:3])
    turn = ca.SX.eye(3) + ca.sin(c[3]) * tilde + (1 - ca.cos(c[3])) * (tilde @ tilde)
    return Frame(c[:3], turn @ ca.reshape(constants[3:], 3, 3).T)


def check_convention(convention: str | None) -> None:
    """Raise for what is no order of Euler angles, nor None for the robot's."""
    if convention is not None and convention not in CONVENTIONS:
        raise InputError(f"convention: must be one of {', '.join(CONVENTIONS)}, got {convention!r}")


def make_motion(t: Array, rotation: Array, position: tuple[Array, ...], omega: Array, alpha: Array) -> Motion:
    """The motion of rotations (..., 3, 3), a position with its derivatives, and angular velocity and acceleration."""
    pose = np.zeros((*t.shape, 4, 4))
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = rotation, position[0], 1.0
    twist, acceleration = (np.concatenate(pair, axis=-1) for pair in zip(position[1:], (omega, alpha), strict=True))
    return Motion(t, pose, twist, acceleration)


def _elsewhere(kind: str) -> str:
    """Where a kind of path belongs that stands for the whole motion."""
    if kind not in PathKind.registry:
        return ""
    rest = "{kind: rest, point: [0, 0, 0], duration: ...}"
    if kind in ("stack", "piecewise", "sum"):
        use = f"trajectory: {{kind: euler, path: {{kind: {kind}, ...}}}}"
    else:
        use = f"trajectory: {{kind: euler, path: {{kind: stack, parts: [{{kind: {kind}, ...}}, {rest}]}}}}"
    return (
        f"this is a kind of path, used inside a trajectory: {use} for a position with constant angles, or "
        f"position: {{kind: {kind}, ...}} in kind: axis. Kinds of trajectory: "
        f"{', '.join(sorted(TrajectoryKind.registry))}"
    )


AnyTrajectory = Annotated[SerializeAsAny[Trajectory], *any_of(Family(TrajectoryKind, Trajectory, elsewhere=_elsewhere))]
"""A field that holds a trajectory: a mapping with its kind, or any ``Trajectory`` from Python."""
