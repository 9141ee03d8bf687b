"""One leg in symbols: its moving vectors, their weights, and everything that follows by differentiation.

All bodies of a leg are frames whose origins and axes are vectors c_k(tip). Their kinetic energy is
T = 1/2 sum J_kl cdot_k . cdot_l and their potential V = -sum gamma_k g . c_k with constant weights
J (masses, first and second moments) and gamma (masses and first moments). Vectors that several bodies share
are one vector; vectors that do not move drop out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from ..errors import InputError
from ..lazy import lazy
from ..legs import Condition, PlacedBody, Placement, Unknowns
from ..parameters import ParameterVector
from ..symbols.implicit import ImplicitReplay, ImplicitTape
from ..symbols.linear import BlockFactor
from ..symbols.tape import Replay, Tape
from ..symbols.vectors import Frame, absent, cross, dot, skew, total
from .simplify import Simplification, simplified

_CLOSED = 1e-9
"""Largest gap of a closed leg, relative to its size."""


@dataclass(frozen=True)
class PlacedLeg:
    """A leg (with symbols for its numbers) and where everything of it is for a tip of symbols."""

    leg: Any
    tip: Frame
    placement: Placement

    @staticmethod
    def of(leg: Any) -> PlacedLeg:
        """Place a leg; an error that helps if its kind decides by a number."""
        tip = Frame.symbols("tip")
        try:
            return PlacedLeg(leg, tip, leg.place(tip))
        except RuntimeError as error:
            raise InputError(
                f"{leg.name}: place() of {type(leg).__name__} fails with symbolic parameters: {error}. It must "
                "not branch on a parameter ('if self.x:'); use polypod.symbols.vectors.absent(self.x), or branch "
                "on a text or an integer"
            ) from error


class LegModel:
    """The derived mechanics of one leg; its inputs are the tip's position, and the platform's axes if it uses them.

    ``leg`` has symbols for its numbers; ``fixed`` are these symbols (k), ``seen`` those that are the leg's own. On a
    ``moving_base`` vectors that stand still in the base are among the moving ones. ``tolerance`` turns one of double
    precision into that of the leg's functions.
    """

    def __init__(
        self,
        placed: PlacedLeg,
        numbers: ParameterVector,
        simplify: Simplification | None = None,
        seen: ca.SX | None = None,
        moving_base: bool = False,
        tolerance: Callable[[float], float] = float,
    ) -> None:
        leg, tip = placed.leg, placed.tip
        self.leg, self.name = leg, leg.name
        self.fixed = numbers.symbols if seen is None else ca.vertcat(numbers.symbols, seen)
        self.arm = ca.SX(leg.attachment(numbers.home_position, ca.densify(numbers.home_rotation)))
        self.internal = placed.placement.internal
        self.all_inputs = ca.vertcat(tip.origin, ca.vec(tip.axes), self.internal)
        self.placement: Placement = simplified(leg, placed.placement, simplify, numbers)
        self.actuators = self.placement.actuators
        self.unknowns = self.placement.unknowns
        if self.unknowns is not None:
            self.largest_gap = tolerance(_CLOSED) * self.unknowns.size
            conditions = (*self.placement.conditions, *self._closure_conditions())
            self.placement = replace(self.placement, conditions=conditions)
        place, move, equations = _parts(self.unknowns)
        moving = ca.vertcat(self.all_inputs, place, move)
        self.vectors = MovingVectors(self.placement, moving, links_apart=simplify == "no-spin", all_move=moving_base)
        self.columns, self.weights, self.loads = self.vectors.columns, self.vectors.weights, self.vectors.loads
        self.fixed_load, self._axes = self.vectors.fixed_load, self.vectors.axes
        self.spinless_axes = self.vectors.spinless_axes() if simplify == "no-spin" else {}
        coordinates = ca.vertcat(*[actuator.coordinate for actuator in self.actuators], ca.SX(0, 1))
        constraints = [c.value for c in self.placement.constraints]
        stacked = ca.vertcat(*self.columns, coordinates, *constraints, *self.placement.joint_coordinates)
        beyond = ca.vertcat(ca.vec(tip.axes), self.internal)
        self.uses_axes = bool(ca.depends_on(ca.vertcat(stacked, equations), beyond))
        self.inputs = self.all_inputs if self.uses_axes else tip.origin
        self.tape = self._tape(stacked)
        self.coordinate_tape = self._tape(coordinates)

    @property
    def mass(self) -> ca.SX:
        """Mass of all its bodies."""
        return total([ca.SX(body.moments.mass) for body in self.placement.bodies], (1, 1))

    @lazy
    def constraint_tape(self) -> Tape | ImplicitTape:
        """The leg's constraints on the platform as a function of its inputs."""
        return self._tape(ca.vertcat(*[c.value for c in self.placement.constraints], ca.SX(0, 1)))

    @lazy
    def joint_coordinate_tape(self) -> Tape | ImplicitTape:
        """Coordinates of its joints that are the robot's, as a function of its inputs."""
        return self._tape(ca.vertcat(*self.placement.joint_coordinates))

    @lazy
    def move_tape(self) -> Tape | ImplicitTape:
        """How its unknowns move from their place, as a function of its inputs."""
        assert self.unknowns is not None
        return self._tape(self.unknowns.move)

    def _tape(self, y: ca.SX) -> Tape | ImplicitTape:
        """A function of the leg's inputs, with its unknowns eliminated if it has any."""
        if self.unknowns is None:
            return Tape(self.inputs, y, self.fixed)
        u = self.unknowns
        return ImplicitTape(self.inputs, u.place, u.move, y, u.equations, self.fixed)

    def _closure_conditions(self) -> tuple[Condition, ...]:
        """What must hold for the unknowns to have been found: part of every state's quality by other means."""
        assert self.unknowns is not None
        _, residual, factor = self.newton_step
        gap = ca.sqrt(ca.dot(residual, residual))
        near = ca.if_else(gap <= self.largest_gap, 1, 0)
        return (
            Condition(
                "the leg does not reach the pose, or not in its working mode at home: a gap remains",
                near,
                gap,
                "m",
                False,
            ),
            Condition(
                "the leg is singular: its joints can move on their own",
                factor.quality,
                factor.quality,
                "1",
                False,
                True,
            ),
        )

    @lazy
    def newton_step(self) -> tuple[ca.SX, ca.SX, BlockFactor]:
        """One step of Newton for the unknowns: their place after it, the residual before it, and its factored Jacobian.

        Functions of ``all_inputs`` and the unknowns' place.
        """
        u = self.unknowns
        assert u is not None
        still = ca.SX.zeros(u.move.numel())
        derivatives, residual = ca.substitute([ca.jacobian(u.equations, u.move), u.equations], [u.move], [still])
        factor = BlockFactor(derivatives)
        return ca.substitute(u.moved, u.move, -factor.solve(residual)), residual, factor

    def at(self, x: ca.SX) -> Replay | ImplicitReplay:
        """Values at the tip, for first derivatives."""
        return self.tape.values(x)

    def vectors_of(self, values: ca.SX) -> ca.SX:
        """The moving vectors (3, K) among the values of the tape."""
        return ca.reshape(values[: 3 * len(self.columns)], 3, len(self.columns))

    def coordinates_of(self, values: ca.SX) -> ca.SX:
        """The actuated coordinates (a) among the values of the tape."""
        start = 3 * len(self.columns)
        return values[start : start + len(self.actuators)]

    def constraint_row(self, values: Replay | ImplicitReplay, number: int) -> ca.SX:
        """d(constraint)/dtip as a column."""
        return values.adjoint(self._seed(3 * len(self.columns) + len(self.actuators) + number))

    def joint_coordinate_row(self, values: Replay | ImplicitReplay, number: int) -> ca.SX:
        """d(coordinate of a joint that is the robot's)/dtip as a column."""
        return self.constraint_row(values, len(self.placement.constraints) + number)

    def _seed(self, number: int) -> ca.SX:
        seed = ca.SX.zeros(self.tape.n_out)
        seed[number] = 1
        return seed

    def coordinate_row(self, values: Replay | ImplicitReplay, number: int) -> ca.SX:
        """dq/dtip of an actuator as a column."""
        return values.adjoint(self._seed(3 * len(self.columns) + number))

    def series(self, series: tuple[ca.SX, ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients of the moving vectors, (3, K) each.

        Axes of links that are taken not to spin are carried by their link's direction n: omega = n x ndot,
        omegadot = n x nddot.
        """
        zero, first, half = (self.vectors_of(part) for part in self.tape.taylor(*series))
        for place, along in self.spinless_axes.items():
            e, n = zero[:, place], zero[:, along]
            omega, half_alpha = cross(n, first[:, along]), cross(n, half[:, along])
            first[:, place] = cross(omega, e)
            half[:, place] = cross(half_alpha, e) + 0.5 * cross(omega, cross(omega, e))
        return zero, first, half

    def without_spin(self, body: str) -> bool:
        """Whether a body is a link that is taken not to spin (``no-spin``)."""
        return bool(self.spinless_axes) and self.vectors.bodies[body].along is not None

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

    def point_forces(self, body: str, vectors: ca.SX, point: ca.SX, force: ca.SX) -> ca.SX:
        """A force on a body's point as forces (3, K): f on its origin, (e_k . r) f on axes e_k, r from the origin."""
        refs = self.vectors.bodies[body].refs
        forces = ca.SX.zeros(3, len(self.columns))
        origin = vectors[:, refs[3]] if isinstance(refs[3], int) else refs[3]
        for k, ref in enumerate(refs):
            if isinstance(ref, int):
                lever = ca.SX(1) if k == 3 else dot(vectors[:, ref], point - origin)
                forces[:, ref] = forces[:, ref] + lever * force
        return forces

    def point_velocity(self, body: str, vectors: ca.SX, rates: ca.SX, point: ca.SX) -> ca.SX:
        """Velocity of a body's point: odot + sum_k (e_k . r) e_kdot with r from the body's origin."""
        refs = self.vectors.bodies[body].refs
        origin = vectors[:, refs[3]] if isinstance(refs[3], int) else refs[3]
        velocity = ca.SX.zeros(3)
        for k, ref in enumerate(refs):
            if isinstance(ref, int):
                lever = ca.SX(1) if k == 3 else dot(vectors[:, ref], point - origin)
                velocity = velocity + lever * rates[:, ref]
        return velocity

    def inertia_forces(self, half_accelerations: ca.SX, gravity: ca.SX) -> ca.SX:
        """Weights of the moving vectors in the virtual power: W_k = sum_l J_kl cddot_l - gamma_k g, (3, K)."""
        return half_accelerations @ (2 * self.weights) - gravity @ self.loads.T

    def pull_back(self, values: Replay | ImplicitReplay, forces: ca.SX) -> ca.SX:
        """Generalized force on the leg's inputs from forces (3, K) on the moving vectors."""
        if self.spinless_axes:
            forces = self._on_link_directions(values, forces)
        rest = ca.SX.zeros(self.tape.n_out - 3 * len(self.columns))
        return values.adjoint(ca.vertcat(ca.vec(forces), rest))

    def _on_link_directions(self, values: Replay | ImplicitReplay, forces: ca.SX) -> ca.SX:
        """Forces on carried axes as forces on their link's direction: delta e = (n x delta n) x e."""
        vectors = self.vectors_of(values.y)
        moved = ca.SX(forces)
        for place, along in self.spinless_axes.items():
            moment = cross(vectors[:, place], forces[:, place])
            moved[:, along] = moved[:, along] + cross(moment, vectors[:, along])
            moved[:, place] = ca.SX.zeros(3)
        return moved

    def _with_link_directions(self, values: Replay | ImplicitReplay, moves: ca.SX) -> ca.SX:
        """Displacements (3 K) of the moving vectors, carried axes moved by their link's direction: (n x dn) x e."""
        if not self.spinless_axes:
            return moves
        vectors, result = self.vectors_of(values.y), self.vectors_of(moves)
        for place, along in self.spinless_axes.items():
            result[:, place] = cross(cross(vectors[:, along], result[:, along]), vectors[:, place])
        return ca.vec(result)

    def inertia_along(self, values: Replay | ImplicitReplay, directions: ca.SX) -> ca.SX:
        """Inertia matrix (m, m) with respect to rates u of tip inputs that move by ``directions`` u (inputs, m)."""
        count, m = len(self.columns), directions.size2()
        moves = [self._with_link_directions(values, values.tangent(directions[:, k])[: 3 * count]) for k in range(m)]
        weighted = [ca.reshape(ca.reshape(move, 3, count) @ self.weights, 3 * count, 1) for move in moves]
        result = ca.SX.zeros(m, m)
        for i in range(m):
            for j in range(i, m):
                result[i, j] = result[j, i] = ca.dot(moves[i], weighted[j])
        return result

    def inertia(self, values: Replay | ImplicitReplay) -> ca.SX:
        """Inertia matrix of the leg on its inputs: sum J_kl D_k^T D_l with D_k = dc_k/dtip; upper triangle filled."""
        count = len(self.columns)
        jacobian = values.jacobian()[: 3 * count, :]
        vectors = self.vectors_of(values.y)
        for place, along in self.spinless_axes.items():
            turn = -skew(vectors[:, place]) @ skew(vectors[:, along])
            jacobian[3 * place : 3 * place + 3, :] = turn @ jacobian[3 * along : 3 * along + 3, :]
        n = self.tape.n_in
        weighted = [ca.reshape(ca.reshape(jacobian[:, j], 3, count) @ self.weights, 3 * count, 1) for j in range(n)]
        result = ca.SX.zeros(n, n)
        for i in range(n):
            for j in range(i, n):
                result[i, j] = ca.dot(jacobian[:, i], weighted[j])
                result[j, i] = result[i, j]
        return result


def _parts(unknowns: Unknowns | None) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Place, move and equations of a leg's unknowns; empty for none."""
    if unknowns is None:
        return ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1)
    return unknowns.place, unknowns.move, unknowns.equations


# ----------------------------------------------------------------------------------------------------------------------
# The moving vectors of a leg's bodies and their constant weights.

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
    is one; weights and loads are zero for those that carry no inertia. ``inputs`` are what moves; with ``all_move``
    all vectors count as moving ones. ``rotors`` are those that stand for a coordinate, not for a vector in space.
    """

    def __init__(self, placement: Placement, inputs: ca.SX, links_apart: bool = False, all_move: bool = False) -> None:
        # Links that are taken not to spin move their axes in their own way: then no other body may share them.
        self._inputs, self._links_apart, self._all_move = inputs, links_apart, all_move
        self.columns: list[ca.SX] = []
        self._known: dict[tuple[int, ...], int] = {}
        self.axes: dict[str, tuple[VectorRef, ...]] = {}
        self.bodies: dict[str, BodyVectors] = {}
        self.fixed_load = ca.SX.zeros(3)
        self.rotors: list[int] = []
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
                self.rotors.append(ref)
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
        if not (self._all_move or ca.depends_on(vector, self._inputs)):
            return vector
        key = apart + tuple(vector[i].element_hash() for i in range(3))
        if key not in self._known:
            self._known[key] = len(self.columns)
            self.columns.append(ca.densify(vector))
        return self._known[key]
