"""The moving vectors of a leg's bodies and their constant weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..legs import PlacedBody, Placement
from ..symbols.vectors import absent

# Reference to a vector: its number among the moving vectors, or the vector itself if it does not move.
VectorRef = Any


@dataclass(frozen=True)
class BodyVectors:
    """A body's three axes and its origin, their weights [Sigma s; s^T m] (4, 4) and loads [s, m] (4)."""

    refs: tuple[VectorRef, VectorRef, VectorRef, VectorRef]
    weight: ca.SX
    load: ca.SX
    along: int | None


class MovingVectors:
    """Distinct moving vectors of a leg's bodies, weights J (K, K), loads gamma (K) and the fixed vectors' load (3).

    The axes of every body are among the vectors, in cyclic order with an axis that does not move first if there
    is one; weights and loads are zero for those that carry no inertia. ``inputs`` are what moves.
    """

    def __init__(self, placement: Placement, inputs: ca.SX, links_apart: bool = False) -> None:
        # Links that are taken not to spin move their axes in their own way: then no other body may share them.
        self._inputs, self._links_apart = inputs, links_apart
        self.columns: list[ca.SX] = []
        self._known: dict[tuple[int, ...], int] = {}
        self.axes: dict[str, tuple[VectorRef, ...]] = {}
        self.bodies: dict[str, BodyVectors] = {}
        self.fixed_load = ca.SX.zeros(3)
        entries: list[tuple[int, int, ca.SX]] = []
        loads: list[tuple[int, ca.SX]] = []
        for body in placement.bodies:
            vectors = self._body(body)
            refs, weight, load = vectors.refs, vectors.weight, vectors.load
            for k in range(4):
                if isinstance(refs[k], ca.SX):
                    self.fixed_load = self.fixed_load + load[k] * refs[k]
                else:
                    loads.append((refs[k], load[k]))
                    entries += [(refs[k], refs[j], weight[k, j]) for j in range(4) if isinstance(refs[j], int)]
            first = next((k for k in range(3) if isinstance(refs[k], ca.SX)), 0)
            self.axes[body.name] = tuple(refs[(first + k) % 3] for k in range(3))
            self.bodies[body.name] = vectors
        for actuator in placement.actuators:
            if not absent(actuator.rotor):
                ref = self._ref(ca.vertcat(actuator.coordinate, 0, 0))
                entries.append((ref, ref, ca.SX(actuator.rotor)))
        self.weights = ca.SX(len(self.columns), len(self.columns))
        for i, j, value in entries:
            if not value.is_zero():
                self.weights[i, j] = self.weights[i, j] + value
        self.loads = ca.SX(len(self.columns), 1)
        for i, value in loads:
            if not value.is_zero():
                self.loads[i] = self.loads[i] + value

    def spinless_axes(self) -> dict[int, int]:
        """For links that are taken not to spin: which axes follow which link direction."""
        result: dict[int, int] = {}
        for body in self.bodies.values():
            if body.along is not None:
                direction = body.refs[body.along]
                others = [body.refs[k] for k in range(3) if k != body.along]
                result |= {ref: direction for ref in others if isinstance(ref, int)}
        return result

    def _body(self, body: PlacedBody) -> BodyVectors:
        vectors = [body.frame.axes[:, k] for k in range(3)] + [body.frame.origin]
        apart = (1,) if self._links_apart and body.along is not None else ()
        a, b, c = (self._ref(vector, apart) for vector in vectors[:3])
        origin = self._ref(vectors[3])
        inertia = body.moments
        load = ca.vertcat(inertia.first, inertia.mass)
        weight = ca.vertcat(ca.horzcat(inertia.second, inertia.first), load.T)
        return BodyVectors((a, b, c, origin), weight if body.has_inertia else ca.SX.zeros(4, 4), load, body.along)

    def _ref(self, vector: ca.SX, apart: tuple[int, ...] = ()) -> VectorRef:
        if not ca.depends_on(vector, self._inputs):
            return vector
        key = apart + tuple(vector[i].element_hash() for i in range(3))
        if key not in self._known:
            self._known[key] = len(self.columns)
            self.columns.append(ca.densify(vector))
        return self._known[key]
