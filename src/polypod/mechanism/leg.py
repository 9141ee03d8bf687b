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
from ..legs import Condition, PlacedBody, PlacedFriction, Placement, Unknowns
from ..parameters import ParameterVector
from ..platforms.motion import Turning
from ..symbols.implicit import ImplicitReplay, ImplicitTape, SolvedReplay, SolvedTape
from ..symbols.inertia import euler_moment
from ..symbols.iterations import sharpness
from ..symbols.linear import BlockFactor
from ..symbols.tape import Replay, Tape
from ..symbols.vectors import Frame, absent, axial, cross, dot, skew, total
from .simplify import Simplification, simplified

AnyTape = Tape | ImplicitTape | SolvedTape
AnyReplay = Replay | ImplicitReplay | SolvedReplay

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

    def with_friction(self, friction: PlacedFriction) -> PlacedLeg:
        """The same leg with one more friction."""
        placement = replace(self.placement, frictions=(*self.placement.frictions, friction))
        return replace(self, placement=placement)


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
        self._in_leg_frame = seen is not None
        self.fixed = numbers.symbols if seen is None else ca.vertcat(numbers.symbols, seen)
        self.arm = ca.SX(leg.attachment(numbers.home_position, ca.densify(numbers.home_rotation)))
        self.internal = placed.placement.internal
        self.all_inputs = ca.vertcat(tip.origin, ca.vec(tip.axes), self.internal)
        self.placement: Placement = simplified(leg, placed.placement, simplify, numbers)
        self.actuators = self.placement.actuators
        self.unknowns = self.placement.unknowns
        if self.unknowns is not None:
            self._largest_gap, self._is_single = tolerance(_CLOSED), tolerance(_CLOSED) > _CLOSED
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
    def constraint_tape(self) -> AnyTape:
        """The leg's constraints on the platform as a function of its inputs."""
        return self._tape(ca.vertcat(*[c.value for c in self.placement.constraints], ca.SX(0, 1)))

    @lazy
    def joint_coordinate_tape(self) -> AnyTape:
        """Coordinates of its joints that are the robot's, as a function of its inputs."""
        return self._tape(ca.vertcat(*self.placement.joint_coordinates))

    @lazy
    def move_tape(self) -> AnyTape:
        """How its unknowns move from their place, as a function of its inputs."""
        assert self.unknowns is not None
        return self._tape(self.unknowns.move)

    def _tape(self, y: ca.SX) -> AnyTape:
        """A function of the leg's inputs, with its unknowns eliminated if it has any."""
        if self.unknowns is None:
            return Tape(self.inputs, y, self.fixed)
        u = self.unknowns
        if self._in_leg_frame:
            return SolvedTape(self.inputs, u.move, y, u.equations, self.fixed)
        return ImplicitTape(self.inputs, u.place, u.move, y, u.equations, self.fixed)

    def _closure_conditions(self) -> tuple[Condition, ...]:
        """What must hold for the unknowns to have been found: part of every state's quality by other means."""
        assert self.unknowns is not None
        _, residual, factor, _ = self.newton_step
        gap = ca.sqrt(ca.dot(residual, residual))
        near = ca.if_else(self.is_closed(residual, ca.SX(1)), 1, 0)
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

    def gap2(self, residual: ca.SX) -> ca.SX:
        """Squared relative gap of the leg for values of its closing equations."""
        assert self.unknowns is not None
        size = self.unknowns.size
        return self.unknowns.gap2(residual, size) / size**2

    def is_closed(self, residual: ca.SX, quality: ca.SX) -> ca.SX:
        """Whether values of the closing equations are those of a closed leg, where they have a ``quality``."""
        sharp = 1.0 if self._is_single else sharpness(quality)  # single precision is rounding there
        return self.gap2(residual) <= (self._largest_gap * sharp) ** 2

    @lazy
    def newton_step(self) -> tuple[ca.SX, ca.SX, BlockFactor, ca.SX]:
        """One step of Newton for the unknowns: their place after it, the residual before it, its factored Jacobian, and
        its squared size.

        Functions of ``all_inputs`` and the unknowns' place.
        """
        u = self.unknowns
        assert u is not None
        still = ca.SX.zeros(u.move.numel())
        derivatives, residual = ca.substitute([ca.jacobian(u.equations, u.move), u.equations], [u.move], [still])
        factor = BlockFactor(derivatives)
        move = -factor.solve(residual)
        return ca.substitute(u.moved, u.move, move), residual, factor, u.step2(move)

    def at(self, x: ca.SX) -> AnyReplay:
        """Values at the tip, for first derivatives."""
        return self.tape.values(x)

    def vectors_of(self, values: ca.SX) -> ca.SX:
        """The moving vectors (3, K) among the values of the tape."""
        return ca.reshape(values[: 3 * len(self.columns)], 3, len(self.columns))

    def coordinates_of(self, values: ca.SX) -> ca.SX:
        """The actuated coordinates (a) among the values of the tape."""
        start = 3 * len(self.columns)
        return values[start : start + len(self.actuators)]

    def constraint_row(self, values: AnyReplay, number: int) -> ca.SX:
        """d(constraint)/dtip as a column."""
        return values.adjoint(self._seed(3 * len(self.columns) + len(self.actuators) + number))

    def joint_coordinate_row(self, values: AnyReplay, number: int) -> ca.SX:
        """d(coordinate of a joint that is the robot's)/dtip as a column."""
        return self.constraint_row(values, len(self.placement.constraints) + number)

    def _seed(self, number: int) -> ca.SX:
        seed = ca.SX.zeros(self.tape.n_out)
        seed[number] = 1
        return seed

    def coordinate_row(self, values: AnyReplay, number: int) -> ca.SX:
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
        for triad in self._unit_axes(zero):
            _carry_axes(triad, first, half)
        return zero, first, half

    def carried(self, series: tuple[ca.SX, ca.SX, ca.SX], base: Turning) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients of the moving vectors on a base that turns, seen from axes that stand still."""
        zero, first, half = base.carried(series)
        relative, accelerating = series[1:]
        for a, b, c in self._unit_axes(zero):
            omega = ca.vertcat(relative[2, b], -relative[2, a], relative[1, a])
            spin = omega + base.omega
            # alpha/2 of the axes is half of the difference of their entries across the diagonal
            across = [(b, 2, c, 1), (c, 0, a, 2), (a, 1, b, 0)]
            own = ca.vertcat(*[0.5 * (accelerating[i, k] - accelerating[j, m]) for k, i, m, j in across])
            turn = skew(own + 0.5 * (base.alpha + cross(base.omega, omega)))
            first[:, [a, b, c]] = skew(spin)
            half[:, [a, b, c]] = turn + 0.5 * (spin @ spin.T - dot(spin, spin) * ca.SX.eye(3))
        return zero, first, half

    def _unit_axes(self, vectors: ca.SX) -> list[tuple[int, int, int]]:
        """Axes of bodies that are those of the frame in which the leg is seen, wherever it is."""
        if self.spinless_axes:
            return []
        triads = [body.refs[:3] for body in self.vectors.bodies.values()]
        moving = dict.fromkeys(triad for triad in triads if all(isinstance(k, int) for k in triad))
        return [triad for triad in moving if ca.is_equal(ca.densify(vectors[:, list(triad)]), ca.SX.eye(3))]

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

    @lazy
    def _tip(self) -> int | None:
        """The tip among the moving vectors, if the bodies whose origin it is have as much inertia as weight."""
        found = next((k for k, column in enumerate(self.columns) if ca.is_equal(column, self.inputs[:3], 1)), None)
        alike = found is not None and ca.is_equal(self.weights[found, found], self.loads[found], 1)
        return found if alike else None

    @property
    def tip_mass(self) -> ca.SX:
        """Mass of its bodies that is as if at the tip: that of those whose origin is there."""
        return ca.SX(0) if self._tip is None else self.loads[self._tip]

    def _weights(self, tip_mass: bool) -> tuple[ca.SX, ca.SX]:
        """Weights (K, K) and loads (K), those of the mass at the tip left out if not asked for."""
        weights, loads, tip = ca.SX(self.weights), ca.SX(self.loads), self._tip
        if tip is not None and not tip_mass:
            weights[tip, tip] = loads[tip] = 0
        return ca.sparsify(weights), ca.sparsify(loads)

    def inertia_forces(self, vectors: tuple[ca.SX, ca.SX, ca.SX], gravity: ca.SX, tip_mass: bool = True) -> ca.SX:
        """Weights of the moving vectors in the virtual power: W_k = sum_l J_kl cddot_l - gamma_k g, (3, K).

        ``vectors`` are Taylor coefficients in time of the moving vectors. Without ``tip_mass`` the mass at the tip is
        left to the platform. Axes that turn together have the moment that they need, and what remains.
        """
        zero, first, half = vectors
        weights, loads = self._weights(tip_mass)
        moments = []
        for a, b, c in self._unit_axes(zero):
            triad = [a, b, c]
            omega = ca.vertcat(first[2, b], -first[2, a], first[1, a])
            moments.append((a, b, euler_moment(half[:, triad], omega, ca.densify(2 * weights[triad, triad]))))
            weights[triad, triad] = 0
        forces = half @ (2 * ca.sparsify(weights)) - gravity @ loads.T
        for a, b, moment in moments:
            forces[:, a] = forces[:, a] + ca.vertcat(0, moment[2], -moment[1])
            forces[2, b] = forces[2, b] + moment[0]
        return ca.densify(forces)

    def momentum_rate(
        self, vectors: tuple[ca.SX, ca.SX, ca.SX], gravity: ca.SX, tip_mass: bool = True
    ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Rate of momentum (3) of its bodies, that of angular momentum about the origin less the weight's moment (3),
        and their mass, for Taylor coefficients of all vectors: of a leg on a moving base. Forces on axes are couples.
        """
        weights, loads = self._weights(tip_mass)
        origins = sorted({body.refs[3] for body in self.vectors.bodies.values()})
        acting_on = total([weights[k, :].T for k in origins], (len(self.columns), 1))
        force = 2 * vectors[2] @ ca.sparsify(acting_on)
        forces = self.inertia_forces(vectors, gravity, tip_mass)
        acting = [k for k in range(len(self.columns)) if k not in self.vectors.rotors]
        moment = total([cross(vectors[0][:, k], forces[:, k]) for k in acting], (3, 1))
        return ca.densify(force), moment, total([loads[k] for k in origins], (1, 1))

    def pull_back(self, values: AnyReplay, forces: ca.SX) -> ca.SX:
        """Generalized force on the leg's inputs from forces (3, K) on the moving vectors."""
        if self.spinless_axes:
            forces = self._on_link_directions(values, forces)
        for a, b, c in self._unit_axes(self.vectors_of(values.y)):
            # the moment of forces on axes that turn together, as forces on two of them
            moment = axial(forces[:, [a, b, c]])
            forces = ca.SX(forces)
            forces[:, a], forces[:, b] = ca.vertcat(0, moment[2], -moment[1]), ca.vertcat(0, 0, moment[0])
            forces[:, c] = ca.SX.zeros(3)
        rest = ca.SX.zeros(self.tape.n_out - 3 * len(self.columns))
        return values.adjoint(ca.vertcat(ca.vec(forces), rest))

    def _on_link_directions(self, values: AnyReplay, forces: ca.SX) -> ca.SX:
        """Forces on carried axes as forces on their link's direction: delta e = (n x delta n) x e."""
        vectors = self.vectors_of(values.y)
        moved = ca.SX(forces)
        for place, along in self.spinless_axes.items():
            moment = cross(vectors[:, place], forces[:, place])
            moved[:, along] = moved[:, along] + cross(moment, vectors[:, along])
            moved[:, place] = ca.SX.zeros(3)
        return moved

    def _with_link_directions(self, values: AnyReplay, moves: ca.SX) -> ca.SX:
        """Displacements (3 K) of the moving vectors, carried axes moved by their link's direction: (n x dn) x e."""
        if not self.spinless_axes:
            return moves
        vectors, result = self.vectors_of(values.y), self.vectors_of(moves)
        for place, along in self.spinless_axes.items():
            result[:, place] = cross(cross(vectors[:, along], result[:, along]), vectors[:, place])
        return ca.vec(result)

    def inertia_along(self, values: AnyReplay, directions: ca.SX, tip_mass: bool = True) -> ca.SX:
        """Inertia matrix (m, m) with respect to rates u of tip inputs that move by ``directions`` u (inputs, m).

        Without ``tip_mass`` the mass at the tip is left to the platform.
        """
        count, m, (weights, _) = len(self.columns), directions.size2(), self._weights(tip_mass)
        moves = [self._with_link_directions(values, values.tangent(directions[:, k])[: 3 * count]) for k in range(m)]
        weighted = [ca.reshape(ca.reshape(move, 3, count) @ weights, 3 * count, 1) for move in moves]
        result = ca.SX.zeros(m, m)
        for i in range(m):
            for j in range(i, m):
                result[i, j] = result[j, i] = ca.dot(moves[i], weighted[j])
        return result

    def inertia(self, values: AnyReplay, tip_mass: bool = True) -> ca.SX:
        """Inertia matrix of the leg on its inputs: sum J_kl D_k^T D_l with D_k = dc_k/dtip; upper triangle filled.

        Axes that turn together by phi with the tip, and s = sum J_k. e_k of them with another vector, add
        phi^T (tr(Sigma) 1 - Sigma) phi and phi^T s~ D_l + D_l^T s~^T phi. Without ``tip_mass`` the mass at the tip is
        left to the platform.
        """
        count = len(self.columns)
        jacobian = values.jacobian()[: 3 * count, :]
        vectors = self.vectors_of(values.y)
        for place, along in self.spinless_axes.items():
            turn = -skew(vectors[:, place]) @ skew(vectors[:, along])
            jacobian[3 * place : 3 * place + 3, :] = turn @ jacobian[3 * along : 3 * along + 3, :]
        weights, _ = self._weights(tip_mass)
        n = self.tape.n_in
        result = ca.SX.zeros(n, n)
        for triad in self._unit_axes(vectors):
            a, b, _ = (3 * k for k in triad)
            turn = ca.vertcat(jacobian[b + 2, :], -jacobian[a + 2, :], jacobian[a + 1, :])
            sigma = weights[list(triad), list(triad)]
            result = result + turn.T @ (ca.trace(sigma) * ca.SX.eye(3) - sigma) @ turn
            for k in range(count):
                moment = weights[list(triad), k]
                if k not in triad and moment.nnz():
                    across = turn.T @ (skew(ca.densify(moment)) @ jacobian[3 * k : 3 * k + 3, :])
                    result = result + (across + across.T)
            for k in triad:
                weights[k, :], weights[:, k] = 0, 0
            weights = ca.sparsify(weights)
        weighted = [ca.reshape(ca.reshape(jacobian[:, j], 3, count) @ weights, 3 * count, 1) for j in range(n)]
        for i in range(n):
            for j in range(i, n):
                result[i, j] = result[i, j] + ca.dot(jacobian[:, i], weighted[j])
                result[j, i] = result[i, j]
        return result


def _carry_axes(triad: tuple[int, int, int], first: ca.SX, half: ca.SX) -> None:
    """Fill in the Taylor coefficients of axes that turn together, from three entries of each order.

    Axes 1 with the angular velocity w have the rates w~ and the half accelerations H with H + H^T = w~ w~.
    """
    a, b, c = triad
    w = [first[2, b], -first[2, a], first[1, a]]
    first[:, b], first[:, c] = ca.vertcat(-w[2], 0, w[0]), ca.vertcat(w[1], -w[0], 0)
    first[0, a] = 0
    squares = [0.5 * x * x for x in w]
    (h21, h31), h32 = (half[1, a], half[2, a]), half[2, b]
    half[:, a] = ca.vertcat(-(squares[1] + squares[2]), h21, h31)
    half[:, b] = ca.vertcat(w[0] * w[1] - h21, -(squares[0] + squares[2]), h32)
    half[:, c] = ca.vertcat(w[0] * w[2] - h31, w[1] * w[2] - h32, -(squares[0] + squares[1]))


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
        origin = self._ref(vectors[3], (2,) if self._all_move else ())
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
