"""A motion of six coordinates: position and three Euler angles."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Literal

import casadi as ca
import numpy as np
from pydantic import PrivateAttr

from ...arrays import Array
from ...errors import InputError
from ...symbols.vectors import Frame, skew
from ..contract import Motion, MotionExpansion, Path, Peak, path_with_columns
from ..paths.base import AnyPath
from .base import ANGLES, POSITION, Placed, check_convention, make_motion


class Euler(Placed):
    """Six coordinates [x y z a1 a2 a3]; angles in the order of ``convention`` (default: the robot's).

    R = R1(a1) R2(a2) R3(a3) about turned axes ("ZYX", "YXZ", ...), R3(a3) R2(a2) R1(a1) about base axes ("xyz", ...).
    omega = E rates, alpha = E accelerations + Edot rates, base axes, with E = [e1, R1 e2, R1 R2 e3].
    """

    kind: Literal["euler"] = "euler"
    path: AnyPath
    convention: str | None = None
    _path: Path = PrivateAttr()

    def prepare(self, folder: FilePath) -> None:
        if self.path.shape != (6,):
            got = self.path.count
            raise InputError(f"path: needs six coordinates, x y z and three angles, got {got}{self._stacked(got)}")
        check_convention(self.convention)
        self._path = path_with_columns("path", self.path, (*POSITION, *ANGLES))

    def _stacked(self, count: int) -> str:
        """How a path of positions alone is made one of six coordinates."""
        if count != 3:
            return ""
        kind, duration = getattr(self.path, "kind", "..."), self.path.duration
        rest = f"{{kind: rest, point: [0, 0, 0], duration: {duration:.12g}}}"
        return f"; for constant angles write path: {{kind: stack, parts: [{{kind: {kind}, ...}}, {rest}]}}"

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def pieces(self) -> Array:
        return self.path.pieces

    @property
    def clock(self) -> float | None:
        return self.path.clock

    def with_convention(self, convention: str) -> Euler:
        return self if self.convention else self.model_copy(update={"convention": convention})

    @property
    def peak(self) -> Peak | None:
        peak = self._path.peak
        if peak is None:
            return None
        # the first and the third axis may coincide, the second is perpendicular to both
        return Peak(peak[:3], float(np.hypot(peak[3] + peak[5], peak[4])))

    def placed_expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        expansion = self._path.expansion(t, half)
        return None if expansion is None else MotionExpansion(expansion, np.zeros((len(t), 0)), self._pose)

    def _pose(self, c: ca.SX, constants: ca.SX) -> Frame:
        """The platform's frame in symbols."""
        assert self.convention is not None
        turns = [_turn("xyz".index(name), c[3 + k]) for k, name in enumerate(self.convention.lower())]
        first, second, third = turns if self.convention.isupper() else turns[::-1]
        return Frame(c[:3], first @ second @ third)

    def placed(self, t: Array) -> Motion:
        if self.convention is None:
            raise InputError("convention: missing: the order of the angles, such as 'ZYX'; for_model uses the robot's")
        x, xdot, xddot = self._path.evaluate(t)
        # turns about base axes are those about turned axes in reverse order
        order = slice(3, None) if self.convention.isupper() else slice(-1, 2, -1)
        names = self.convention if self.convention.isupper() else self.convention[::-1]
        angle, rate, acc = (np.moveaxis(derivative[..., order], -1, 0) for derivative in (x, xdot, xddot))
        # numbers of a matrix first and states last, so that each step is one product over all states
        rotation = np.zeros((3, 3, *t.shape))
        rotation[range(3), range(3)] = 1.0
        omega, alpha = np.zeros((2, 3, *t.shape))
        for k, name in enumerate(names.lower()):
            axis = "xyz".index(name)
            spin = rotation[:, axis] * rate[k]
            alpha += rotation[:, axis] * acc[k] + _cross(omega, spin)  # each axis turns with the rotations before it
            omega += spin
            one, other = rotation[:, (axis + 1) % 3], rotation[:, (axis + 2) % 3]
            c, s = np.cos(angle[k]), np.sin(angle[k])
            one[:], other[:] = c * one + s * other, c * other - s * one
        position = (x[..., :3], xdot[..., :3], xddot[..., :3])
        return make_motion(
            t, np.moveaxis(rotation, (0, 1), (-2, -1)), position, np.moveaxis(omega, 0, -1), np.moveaxis(alpha, 0, -1)
        )


def _turn(axis: int, angle: ca.SX) -> ca.SX:
    """Rotation about one of the axes."""
    tilde = skew(ca.SX.eye(3)[:, axis])
    return ca.SX.eye(3) + ca.sin(angle) * tilde + (1 - ca.cos(angle)) * (tilde @ tilde)


def _cross(a: Array, b: Array) -> Array:
    """Cross products of vectors (3, ...)."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
