"""A motion of six coordinates: position and three Euler angles."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Literal

import numpy as np
from pydantic import PrivateAttr

from ...errors import InputError
from ..checks import Array
from ..contract import Motion, Path, matched
from ..paths.base import AnyPath
from .base import ANGLES, POSITION, Placed, assembled, checked_convention, turn


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
        checked_convention(self.convention)
        self._path = matched("path", self.path, (*POSITION, *ANGLES))

    def _stacked(self, count: int) -> str:
        """How a path of positions alone is made one of six coordinates."""
        if count != 3:
            return ""
        kind, duration = getattr(self.path, "kind", "..."), self.path.duration
        rest = f"{{kind: rest, point: [0, 0, 0], duration: {duration:.12g}}}"
        return f"; for angles that stay write path: {{kind: stack, parts: [{{kind: {kind}, ...}}, {rest}]}}"

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def pieces(self) -> Array:
        return self.path.pieces

    @property
    def clock(self) -> float | None:
        return self.path.clock

    def ordered(self, convention: str) -> Euler:
        return self if self.convention else self.model_copy(update={"convention": convention})

    def placed(self, t: Array) -> Motion:
        if self.convention is None:
            raise InputError("convention: missing: the order of the angles, such as 'ZYX'; for_model takes the robot's")
        x, xdot, xddot = self._path.evaluate(t)
        # turns about base axes are those about turned axes in reverse order
        order = slice(3, None) if self.convention.isupper() else slice(-1, 2, -1)
        names = self.convention if self.convention.isupper() else self.convention[::-1]
        angle, rate, acc = (np.moveaxis(derivative[..., order], -1, 0) for derivative in (x, xdot, xddot))
        a1, a2, a3 = (np.eye(3)["xyz".index(name)] for name in names.lower())
        first = turn(a1, angle[0])
        second = first @ turn(a2, angle[1])
        e1, e2, e3 = np.broadcast_to(a1, (*t.shape, 3)), first @ a2, second @ a3
        w1, w2, w3 = (e * w[..., None] for e, w in zip((e1, e2, e3), rate, strict=True))
        # each axis turns with the rotations before it
        alpha = sum(e * a[..., None] for e, a in zip((e1, e2, e3), acc, strict=True))
        alpha = alpha + np.cross(w1, w2) + np.cross(w1 + w2, w3)
        position = (x[..., :3], xdot[..., :3], xddot[..., :3])
        return assembled(t, second @ turn(a3, angle[2]), position, w1 + w2 + w3, alpha)
