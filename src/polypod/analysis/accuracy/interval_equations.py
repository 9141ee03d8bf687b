"""What holds a platform at a pose, with its derivatives as intervals over boxes of displacements and of numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...arrays import Array
from ...mechanism import Mechanism
from ...symbols.expression import port
from ...symbols.graph import Graph
from ..certified.equations import leg_equations
from ..certified.intervals import Interval, evaluate_intervals

_ROUNDED = 1e-15
"""What a cosine and a sine may be off by from those of an angle, relative to their size."""


def kept_equations(mechanism: Mechanism) -> list[int]:
    """Numbers, among coordinates and all legs' constraints after them, of coordinates and independent constraints."""
    counts = [len(leg.placement.constraints) for leg in mechanism.placed]
    first = len(mechanism.actuators) + np.cumsum([0, *counts])
    used = mechanism.mobility.used if mechanism.mobility is not None else ()
    return [*range(len(mechanism.actuators)), *sorted(int(first[leg]) + k for leg, k in used)]


class IntervalEquations:
    """F at a pose in symbols, with ``places`` (p) of the legs' unknowns, and its derivatives as intervals.

    ``ends`` is (low and high u, low and high numbers) -> ends of dF/d[u, chosen numbers], evaluated as it is, not
    compiled; ``rows`` are the derivatives by u in the pose itself. First come, as many as u, the coordinates and
    constraints ``kept`` and what closes legs, after them constraints that should follow.
    """

    def __init__(self, mechanism: Mechanism, pose: Array, places: Array, chosen: list[int], kept: list[int]) -> None:
        m, numbers = mechanism.platform.count, mechanism.numbers.symbols
        start = ca.SX.sym("start", len(places))
        u, at = ca.SX.sym("u", m + sum(count for _, count in _unknowns(mechanism))), ca.SX.sym("pose", 16)
        values, self._closing = _values(mechanism, u, at, start, kept)
        derivatives = ca.densify(ca.jacobian(values, ca.vertcat(u, numbers[chosen])))
        graph = Graph.of(ca.Function("derivatives", [u, at, start, numbers], ca.cse([ca.vec(derivatives), values])))
        pairs = [[ca.SX.sym(name, part.numel()) for name in ("low", "high")] for part in (u, numbers)]
        boxes = [[Interval(low[k], high[k]) for k in range(low.numel())] for low, high in pairs]
        # the pose is exact: it is the one asked about; a cosine and a sine are those of an angle but for rounding
        exact = [Interval(ca.SX(value), ca.SX(value)) for value in pose.ravel().tolist()]
        near = [Interval(ca.SX(v - _ROUNDED * abs(v)), ca.SX(v + _ROUNDED * abs(v))) for v in places.tolist()]
        found, there = evaluate_intervals(graph, [boxes[0], exact, near, boxes[1]])
        self.ends = ca.Function(
            "ends",
            [*pairs[0], *pairs[1]],
            [ca.reshape(ca.vertcat(*end), *derivatives.shape) for end in zip(*found, strict=True)],
        )
        ends = [ca.vertcat(*end) for end in zip(*there, strict=True)]
        here = [np.zeros(u.numel())] * 2 + [mechanism.numbers.values] * 2
        low, high = (np.array(end).ravel() for end in ca.Function("values", [*pairs[0], *pairs[1]], ends)(*here))
        self._left = np.maximum(np.abs(low), np.abs(high))
        low, high = (np.array(end)[:, : u.numel()] for end in self.ends(*here))
        self.rows: Array = 0.5 * (low + high)[: u.numel()]

    def off(self, n: int, command: float) -> Array:
        """What all of F may be off by in the pose itself: constraints and closing are zero but for rounding.

        Coordinates are commanded for the legs' exact unknowns, to which a step of Newton leads from the places found.
        """
        off = np.concatenate([np.full(n, command), command + self._left[n:]])
        k = self._closing
        if k:
            m = len(self.rows)
            step = np.abs(np.linalg.inv(self.rows[-k:, -k:])) @ self._left[m - k : m]
            off[:n] += 2 * np.abs(self.rows[:n, -k:]) @ step
        return off


def _unknowns(mechanism: Mechanism) -> list[tuple[int, int]]:
    """Places and displacements of the unknowns of every leg."""
    found = [leg.placement.unknowns for leg in mechanism.placed]
    return [(0, 0) if u is None else (u.place.numel(), u.move.numel()) for u in found]


def _values(mechanism: Mechanism, u: ca.SX, pose: ca.SX, start: ca.SX, kept: list[int]) -> tuple[ca.SX, int]:
    """F with constraints that are not kept last, and how many equations close legs."""
    m = mechanism.platform.count
    x = mechanism.inputs()
    x.pose = port("pose", mechanism.platform.displaced(pose, u[:m]), (4, 4))
    parts: list[list[ca.SX]] = [[], [], []]
    place, move = 0, m
    for leg, (places, moves) in zip(mechanism.resting(x)[1], _unknowns(mechanism), strict=True):
        own = leg_equations(leg.model, start[place : place + places] if moves else None)
        closing, coordinates, *_, constraints = own.at(leg, u[move : move + moves], own.parts)
        place, move = place + places, move + moves
        for part, more in zip(parts, (coordinates, constraints, closing), strict=True):
            part.append(more)
    closing = ca.vertcat(*parts[2])
    held = ca.vertcat(*parts[0], *parts[1])
    left = [k for k in range(held.numel()) if k not in kept]
    return ca.vertcat(held[kept], closing, held[left]), closing.numel()
