"""Coordinates of tree joints that are unknown: where they are, and small displacements from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from ...symbols.vectors import absent, dot, skew


@dataclass
class UnknownCoordinates:
    """The parts of :class:`~polypod.legs.Unknowns`, collected joint by joint; ``labels``: name, whether a length.

    Symbols have names of their own, not those of joints: CasADi takes one that starts with a bracket for several.
    """

    place: list[ca.SX] = field(default_factory=list)
    home: list[ca.SX] = field(default_factory=list)
    move: list[ca.SX] = field(default_factory=list)
    moved: list[ca.SX] = field(default_factory=list)
    labels: list[tuple[str, bool]] = field(default_factory=list)

    def angle(self, name: str, cosine: Any = 1.0, sine: Any = 0.0) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Cosine and sine of an unknown angle and its size from home [rad]; exact to second order in its move."""
        c, s, d = ca.SX.sym("cosine"), ca.SX.sym("sine"), ca.SX.sym("move")
        self.labels.append((name, False))
        self.place += [c, s]
        self.home += [ca.SX(cosine), ca.SX(sine)]
        self.move.append(d)
        half = 0.5 * d
        scale = 1 / (1 + half * half)
        turn_c, turn_s = (1 - half * half) * scale, d * scale
        new_c, new_s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        shorter = 1.5 - 0.5 * (new_c * new_c + new_s * new_s)
        self.moved += [new_c * shorter, new_s * shorter]
        near = 1 - 0.5 * d * d
        size = ca.atan2(s, c) if absent(sine) else ca.atan2(s * cosine - c * sine, c * cosine + s * sine)
        return c * near - s * d, s * near + c * d, size + d

    def length(self, name: str) -> ca.SX:
        """An unknown length from home [m]."""
        x, d = ca.SX.sym("length"), ca.SX.sym("move")
        self.labels.append((name, True))
        self.place.append(x)
        self.home.append(ca.SX(0))
        self.move.append(d)
        self.moved.append(x + d)
        return x + d

    def rotation(self, name: str) -> ca.SX:
        """An unknown rotation (3, 3) from home; exact to second order in its move, a rotation vector."""
        q, d = ca.SX.sym("turn", 3, 3), ca.SX.sym("move", 3)
        self.labels += [(f"{name} about {axis}", False) for axis in "xyz"]
        self.place.append(ca.vec(q))
        self.home.append(ca.vec(ca.SX.eye(3)))
        self.move.append(d)
        tilde = skew(d)
        half = 0.5 * tilde
        scale = 1 / (1 + 0.25 * dot(d, d))
        turned = q @ (ca.SX.eye(3) + scale * (tilde + half @ tilde))
        self.moved.append(ca.vec(turned @ (1.5 * ca.SX.eye(3) - 0.5 * (turned.T @ turned))))
        return q @ (ca.SX.eye(3) + tilde + half @ tilde)
