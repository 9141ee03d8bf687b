"""One leg in symbols: its moving vectors, their weights, and everything that follows by differentiation.

All bodies of a leg are frames whose origins and axes are vectors c_k(tip). Their kinetic energy is
T = 1/2 sum J_kl cdot_k . cdot_l and their potential V = -sum gamma_k g . c_k with constant weights
J (masses, first and second moments) and gamma (masses and first moments). Vectors that several bodies share
are one vector; vectors that do not move drop out.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..legs import Leg, PlacedBody, Placement
from ..symbols.tape import Replay, Tape
from ..symbols.vectors import Frame, cross, dot


class LegModel:
    """The derived mechanics of one leg; its inputs are the tip's position, and the platform's axes if it uses them."""

    def __init__(self, leg: Leg) -> None:
        self.leg = leg
        self.name = leg.name
        self.arm = ca.SX(ca.DM(leg.platform))
        tip = Frame.symbols("tip")
        self.placement: Placement = leg.place(tip)
        vectors = MovingVectors(self.placement)
        self.columns, self.weights, self.loads = vectors.columns, vectors.weights, vectors.loads
        self.fixed_load, self._axes = vectors.fixed_load, vectors.axes
        stacked = ca.vertcat(*self.columns, self.placement.coordinate)
        self.uses_axes = bool(ca.depends_on(stacked, ca.vec(tip.axes)))
        self.inputs = ca.vertcat(tip.origin, ca.vec(tip.axes)) if self.uses_axes else tip.origin
        self.all_inputs = ca.vertcat(tip.origin, ca.vec(tip.axes))
        self.tape = Tape(self.inputs, stacked)
        self.coordinate_tape = Tape(self.inputs, self.placement.coordinate)

    def at(self, x: ca.SX) -> Replay:
        """Values at the tip, for first derivatives."""
        return self.tape.values(x)

    def coordinate_row(self, values: Replay) -> ca.SX:
        """dq/dtip as a column."""
        seed = ca.SX.zeros(3 * len(self.columns) + 1)
        seed[-1] = 1
        return values.adjoint(seed)

    def half_accelerations(self, series: tuple[ca.SX, ca.SX, ca.SX]) -> ca.SX:
        """Half the second time derivatives of the moving vectors, (3, K), along the tip's motion."""
        second = self.tape.taylor(*series)[2]
        return ca.reshape(second[:-1], 3, len(self.columns))

    def velocities(self, series: tuple[ca.SX, ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX]:
        """The moving vectors and their first time derivatives, (3, K) each."""
        zero, first, _ = self.tape.taylor(*series)
        count = len(self.columns)
        return ca.reshape(zero[:-1], 3, count), ca.reshape(first[:-1], 3, count)

    def body_axes(self, body: str, vectors: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Axes of a body in cyclic order, picked from the moving vectors (3, K) or their velocities."""
        first, second, third = (vectors[:, k] if isinstance(k, int) else k for k in self._axes[body])
        return first, second, third

    def angular_velocity(self, body: str, vectors: ca.SX, rates: ca.SX) -> ca.SX:
        """omega = e1 x e1dot + (e2dot . e3) e1 of a body of the leg, base axes."""
        e1, _, e3 = self.body_axes(body, vectors)
        moving = [k if isinstance(k, int) else None for k in self._axes[body]]
        omega = ca.SX.zeros(3)
        if moving[0] is not None:
            omega = omega + cross(e1, rates[:, moving[0]])
        if moving[1] is not None:
            omega = omega + dot(rates[:, moving[1]], e3) * e1
        return omega

    def moment_forces(self, body: str, vectors: ca.SX, moment: ca.SX) -> ca.SX:
        """A moment on a body as forces (3, K) on the moving vectors: M x e1 on e1, (M . e1) e3 on e2."""
        e1, _, e3 = self.body_axes(body, vectors)
        forces = ca.SX.zeros(3, len(self.columns))
        for place, force in zip(self._axes[body], (cross(moment, e1), dot(moment, e1) * e3), strict=False):
            if isinstance(place, int):
                forces[:, place] = force
        return forces

    def inertia_forces(self, half_accelerations: ca.SX, gravity: ca.SX) -> ca.SX:
        """Weights of the moving vectors in the virtual power: W_k = sum_l J_kl cddot_l - gamma_k g, (3, K)."""
        return half_accelerations @ ca.DM(2 * self.weights) - gravity @ ca.DM(self.loads).T

    def pull_back(self, values: Replay, forces: ca.SX) -> ca.SX:
        """Generalized force on the leg's inputs from forces (3, K) on the moving vectors."""
        return values.adjoint(ca.vertcat(ca.vec(forces), 0))

    def inertia(self, values: Replay) -> ca.SX:
        """Inertia matrix of the leg on its inputs: sum J_kl D_k^T D_l with D_k = dc_k/dtip; upper triangle filled."""
        jacobian = values.jacobian()[:-1, :]
        count = len(self.columns)
        n = self.tape.n_in
        weighted = [
            ca.reshape(ca.reshape(jacobian[:, j], 3, count) @ ca.DM(self.weights), 3 * count, 1) for j in range(n)
        ]
        result = ca.SX.zeros(n, n)
        for i in range(n):
            for j in range(i, n):
                result[i, j] = ca.dot(jacobian[:, i], weighted[j])
                result[j, i] = result[i, j]
        return result


class MovingVectors:
    """Distinct moving vectors of a leg's bodies, weights J (K, K), loads gamma (K,) and the fixed vectors' load.

    The axes of every body are among the vectors, in cyclic order with an axis that does not move first if there
    is one; weights and loads are zero for those that carry no inertia.
    """

    def __init__(self, placement: Placement) -> None:
        self.columns: list[ca.SX] = []
        self._known: dict[tuple[int, ...], int] = {}
        self.axes: dict[str, tuple[int | ca.SX, ...]] = {}
        self.fixed_load = np.zeros(3)
        entries: list[tuple[int, int, float]] = []
        loads: list[tuple[int, float]] = []
        for body in placement.bodies:
            vectors = [body.frame.axes[:, k] for k in range(3)] + [body.frame.origin]
            places = [self._place(vector) for vector in vectors]
            weight, load = _weights(body)
            for k in range(4):
                if isinstance(places[k], ca.SX):
                    self.fixed_load += load[k] * np.array(ca.DM(places[k])).ravel()
                else:
                    loads.append((places[k], load[k]))
                    entries += [(places[k], places[j], weight[k, j]) for j in range(4) if isinstance(places[j], int)]
            first = next((k for k in range(3) if isinstance(places[k], ca.SX)), 0)
            self.axes[body.name] = tuple(places[(first + k) % 3] for k in range(3))
        for inertance in placement.inertances:
            place = self._place(ca.vertcat(inertance.coordinate, 0, 0))
            entries.append((place, place, inertance.mass))
        self.weights = np.zeros((len(self.columns), len(self.columns)))
        for i, j, value in entries:
            self.weights[i, j] += value
        self.loads = np.zeros(len(self.columns))
        for i, value in loads:
            self.loads[i] += value

    def _place(self, vector: ca.SX) -> Any:
        """Number of a moving vector, or the vector itself if it does not move."""
        if vector.is_constant():
            return vector
        key = tuple(vector[i].element_hash() for i in range(3))
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
    return weight, np.append(first, inertia.mass)
