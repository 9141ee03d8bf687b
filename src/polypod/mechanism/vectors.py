"""The moving vectors of a leg's bodies and their constant weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..legs import PlacedBody, Placement

# A vector's place: its number among the moving vectors, or the vector itself if it does not move.
Place = Any


@dataclass(frozen=True)
class BodyVectors:
    """A body's three axes and its origin, their weights [Sigma s; s^T m] (4, 4) and loads [s, m] (4,)."""

    places: tuple[Place, Place, Place, Place]
    weight: NDArray[np.float64]
    load: NDArray[np.float64]
    along: int | None


class MovingVectors:
    """Distinct moving vectors of a leg's bodies, weights J (K, K), loads gamma (K,) and the fixed vectors' load.

    The axes of every body are among the vectors, in cyclic order with an axis that does not move first if there
    is one; weights and loads are zero for those that carry no inertia.
    """

    def __init__(self, placement: Placement, links_apart: bool = False) -> None:
        # Links that are taken not to spin move their axes in their own way: then no other body may share them.
        self._links_apart = links_apart
        self.columns: list[ca.SX] = []
        self._known: dict[tuple[int, ...], int] = {}
        self.axes: dict[str, tuple[Place, ...]] = {}
        self.bodies: dict[str, BodyVectors] = {}
        self.fixed_load = np.zeros(3)
        entries: list[tuple[int, int, float]] = []
        loads: list[tuple[int, float]] = []
        for body in placement.bodies:
            vectors = self._body(body)
            places, weight, load = vectors.places, vectors.weight, vectors.load
            for k in range(4):
                if isinstance(places[k], ca.SX):
                    self.fixed_load += load[k] * np.array(ca.DM(places[k])).ravel()
                else:
                    loads.append((places[k], load[k]))
                    entries += [(places[k], places[j], weight[k, j]) for j in range(4) if isinstance(places[j], int)]
            first = next((k for k in range(3) if isinstance(places[k], ca.SX)), 0)
            self.axes[body.name] = tuple(places[(first + k) % 3] for k in range(3))
            self.bodies[body.name] = vectors
        for inertance in placement.inertances:
            place = self._place(ca.vertcat(inertance.coordinate, 0, 0))
            entries.append((place, place, inertance.mass))
        self.weights = np.zeros((len(self.columns), len(self.columns)))
        for i, j, value in entries:
            self.weights[i, j] += value
        self.loads = np.zeros(len(self.columns))
        for i, value in loads:
            self.loads[i] += value

    def carried(self) -> dict[int, int]:
        """For links that are taken not to spin: which axes follow which link direction."""
        result: dict[int, int] = {}
        for body in self.bodies.values():
            if body.along is not None:
                direction = body.places[body.along]
                others = [body.places[k] for k in range(3) if k != body.along]
                result |= {place: direction for place in others if isinstance(place, int)}
        return result

    def _body(self, body: PlacedBody) -> BodyVectors:
        vectors = [body.frame.axes[:, k] for k in range(3)] + [body.frame.origin]
        apart = (1,) if self._links_apart and body.along is not None else ()
        a, b, c = (self._place(vector, apart) for vector in vectors[:3])
        origin = self._place(vectors[3])
        weight, load = _weights(body)
        return BodyVectors((a, b, c, origin), weight, load, body.along)

    def _place(self, vector: ca.SX, apart: tuple[int, ...] = ()) -> Place:
        if vector.is_constant():
            return vector
        key = apart + tuple(vector[i].element_hash() for i in range(3))
        if key not in self._known:
            self._known[key] = len(self.columns)
            self.columns.append(ca.densify(vector))
        return self._known[key]


def _weights(body: PlacedBody) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of a body's axes and origin, [Sigma s; s^T m] (4, 4), and their loads [s, m]."""
    inertia = body.inertia
    first, second = inertia.first_moment, inertia.second_moment
    # Rounding (a rod's zero axial moment in turned axes) must not keep a vector alive.
    second[np.abs(second) < 1e-15 * np.abs(second).max(initial=1e-300)] = 0.0
    weight = np.block([[second, first[:, None]], [first[None, :], np.array([[inertia.mass]])]])
    return weight if body.has_inertia else np.zeros((4, 4)), np.append(first, inertia.mass)
