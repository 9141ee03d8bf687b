"""One leg in symbols: its moving vectors, their weights, and everything that follows by differentiation.

All bodies of a leg are frames whose origins and axes are vectors c_k(tip). Their kinetic energy is
T = 1/2 sum J_kl cdot_k . cdot_l and their potential V = -sum gamma_k g . c_k with constant weights
J (masses, first and second moments) and gamma (masses and first moments). Vectors that several bodies share
are one vector; vectors that do not move drop out.
"""

from __future__ import annotations

import casadi as ca

from ..legs import Leg, Placement
from ..symbols.tape import Replay, Tape
from ..symbols.vectors import Frame, cross, dot, skew
from .simplify import Simplification, simplified
from .vectors import MovingVectors


class LegModel:
    """The derived mechanics of one leg; its inputs are the tip's position, and the platform's axes if it uses them."""

    def __init__(self, leg: Leg, simplify: Simplification | None = None) -> None:
        self.leg = leg
        self.name = leg.name
        self.arm = ca.SX(ca.DM(leg.platform))
        tip = Frame.symbols("tip")
        self.placement: Placement = simplified(leg, leg.place(tip), simplify)
        self.vectors = MovingVectors(self.placement, links_apart=simplify == "no-spin")
        self.columns, self.weights, self.loads = self.vectors.columns, self.vectors.weights, self.vectors.loads
        self.fixed_load, self._axes = self.vectors.fixed_load, self.vectors.axes
        self.carried = self.vectors.carried() if simplify == "no-spin" else {}
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
        return self._series(series)[2]

    def velocities(self, series: tuple[ca.SX, ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX]:
        """The moving vectors and their first time derivatives, (3, K) each."""
        values, rates, _ = self._series(series)
        return values, rates

    def _series(self, series: tuple[ca.SX, ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients of the moving vectors, (3, K) each.

        Axes of links that are taken not to spin are carried by their link's direction n: omega = n x ndot,
        omegadot = n x nddot.
        """
        count = len(self.columns)
        zero, first, half = (ca.reshape(part[:-1], 3, count) for part in self.tape.taylor(*series))
        for place, along in self.carried.items():
            e, n = zero[:, place], zero[:, along]
            omega, half_alpha = cross(n, first[:, along]), cross(n, half[:, along])
            first[:, place] = cross(omega, e)
            half[:, place] = cross(half_alpha, e) + 0.5 * cross(omega, cross(omega, e))
        return zero, first, half

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
        if self.carried:
            forces = self._on_link_directions(values, forces)
        return values.adjoint(ca.vertcat(ca.vec(forces), 0))

    def _on_link_directions(self, values: Replay, forces: ca.SX) -> ca.SX:
        """Forces on carried axes as forces on their link's direction: delta e = (n x delta n) x e."""
        vectors = ca.reshape(values.y[:-1], 3, len(self.columns))
        moved = ca.SX(forces)
        for place, along in self.carried.items():
            moment = cross(vectors[:, place], forces[:, place])
            moved[:, along] = moved[:, along] + cross(moment, vectors[:, along])
            moved[:, place] = ca.SX.zeros(3)
        return moved

    def inertia(self, values: Replay) -> ca.SX:
        """Inertia matrix of the leg on its inputs: sum J_kl D_k^T D_l with D_k = dc_k/dtip; upper triangle filled."""
        jacobian = values.jacobian()[:-1, :]
        count = len(self.columns)
        vectors = ca.reshape(values.y[:-1], 3, count)
        for place, along in self.carried.items():
            turn = -skew(vectors[:, place]) @ skew(vectors[:, along])
            jacobian[3 * place : 3 * place + 3, :] = turn @ jacobian[3 * along : 3 * along + 3, :]
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
