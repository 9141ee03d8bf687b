"""Lagrange: matrices and forces from the energies of the bodies (Lopes).

Lagrange: inertia, Coriolis and gravity matrices from the energies of the bodies, Lopes sections 3.1-3.3.

I du/dt + V u + G = J^T f + w_ext, each of I, V and G the sum of the parts ``platform``, ``actuators`` (what moves only
along an actuated coordinate), ``translating links`` (every other leg body's mass at its centre) and ``rotating links``
(its inertia about the centre), (73)-(75). u is the twist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from ..errors import InputError
from ..friction import JointFriction, Loads, actuator_friction
from ..lazy import lazy
from ..legs import PlacedBody
from ..mechanism import LegAtState, Mechanism
from ..mechanism.acting_elements import ActingElements
from ..platforms import FrameMotion
from ..symbols.expression import Expression, port
from ..symbols.vectors import Frame, absent, axis_rotation, skew, symmetric, total
from .solution import ForceDistribution, actuator_forces, motion_inputs


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: tau = J^-T (I du/dt + V u + G - w_ext), (2) and (70)-(72).

    Every leg's I, V and G act on its tip's coordinates; only their force is carried to the platform.
    """
    if mechanism.platform.elastic:
        raise InputError(
            "lagrange: not available for a flexible platform; use virtual-power or newton-euler", code="flexible"
        )
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform, attached = mechanism.moving(x)
    motion = platform.motion
    twist, change = ca.vertcat(motion.v, motion.omega), ca.vertcat(motion.a, motion.alpha)
    required = platform_part(mechanism, motion).force(twist, change) - x.wrench.symbols
    frictions = [JointFriction.of(leg, friction, loads) for leg in attached]
    elements = ActingElements.of(mechanism, platform, attached)
    if elements:
        required = required + elements.required_wrench
    rows = []
    for leg, joints in zip(attached, frictions, strict=True):
        energies = LegEnergies(leg, mechanism.gravity)
        place, rate, half = energies.series
        force = Matrices(*energies.matrices(PARTS)(place, rate)).force(rate, 2 * half)
        if joints.by_joint:
            extra, on_platform = joints.overcoming()
            force = force + leg.model.pull_back(leg.values, extra)
            required = required + on_platform
        required = required + leg.force(force)
        derivatives = energies.coordinate_jacobian()(place, rate)
        rows += [platform.reduced(leg.force(derivatives[:, k])) for k in range(len(leg.model.actuators))]
    driven = actuator_friction(frictions)
    solution = actuator_forces(ca.horzcat(*rows).T, platform.reduced(required), distribution, driven, attached)
    result = solution.x + driven if friction else solution.x
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", result), port("quality", mechanism.quality(attached, solution.quality), ())),
        mechanism.port,
    )


def platform_part(mechanism: Mechanism, motion: FrameMotion) -> Matrices:
    """I, V and G of the platform at a motion, with respect to its twist."""
    body, axes = mechanism.numbers.platform, motion.frame.axes
    tensor = axes @ body.central_tensor @ axes.T
    twist = ca.vertcat(motion.v, motion.omega)
    return platform_matrices(body.mass, axes @ body.com, tensor, mechanism.gravity, twist)


# ----------------------------------------------------------------------------------------------------------------------
# Kinetic energies and weights of a leg's bodies, and its matrices in its generalized coordinates.
#
# Every energy is K = 1/2 zdot^T M zdot with constant M and zdot = B(t) tdot: the velocity of a centre of mass, the
# angular velocity of a body in its own axes, or the rate of an actuated coordinate. A leg's coordinates t are its
# tip's
# place (and the platform's axes where it uses them), so that a leg needs derivatives by three variables only.
# Unknowns of
# a leg that is closed by iterating move by z = A d + 1/2 d^T H d with a change d of t, A and H those of the
# solution: the
# energies are then differentiated by d, and A and H are solved for once.


@dataclass(frozen=True)
class Term:
    """One quadratic term of a body's kinetic energy, 1/2 (B tdot)^T M (B tdot), and the part it belongs to.

    ``coriolis`` is its V where that is not (76) of its inertia B^T M B.
    """

    part: str
    velocity: ca.SX
    weight: ca.SX
    coriolis: ca.SX | None = None


@dataclass(frozen=True)
class Weight:
    """What it takes to hold a body against gravity, -m B^T g, and the part it belongs to."""

    part: str
    force: ca.SX


class LegEnergies:
    """Energies of a leg's bodies by its coordinates ``t`` and rates ``rate``, and the matrices that follow."""

    def __init__(self, state: LegAtState, gravity: ca.SX) -> None:
        leg = state.model
        self.leg, self._state = leg, state
        size = leg.inputs.numel()
        self.rate = ca.SX.sym("rate", size)
        self.t = leg.inputs
        if leg.unknowns is not None:
            # what is differentiated by: a change of the coordinates from where the leg is closed
            count = leg.unknowns.move.numel()
            self.t = ca.SX.sym("change", size)
            self._derivatives = ca.SX.sym("derivatives", count, size)
            self._bends = ca.SX.sym("bends", count, size * (size + 1) // 2)
        self.terms: list[Term] = []
        self.weights: list[Weight] = []
        self._turning: dict[tuple[int, ...], ca.SX] = {}
        # What hangs on the base by a slide moves only along the actuated coordinate.
        sliders = {j.child for j in leg.placement.joints if j.kind == "prismatic" and j.parent == "base"}
        for body in leg.placement.bodies:
            part = "actuators" if body.name in sliders else "translating links"
            body = replace(body, frame=Frame(self._closed(body.frame.origin), self._closed(body.frame.axes)))
            centre = body.frame.origin + body.frame.axes @ body.moments.com
            terms = self._without_spin(body) if leg.without_spin(body.name) else self._terms(body, part, centre)
            weight = -body.moments.mass * gravity
            self.terms += terms if body.has_inertia else []
            self.weights.append(Weight(part, terms[0].velocity.T @ weight))
        for actuator in leg.placement.actuators:
            if not absent(actuator.rotor):
                derivative = ca.jacobian(self._closed(actuator.coordinate), self.t)
                self.terms.append(Term("actuators", derivative, ca.SX(actuator.rotor)))

    @property
    def series(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the coordinates t."""
        zero, first, half = (part[: self.t.numel()] for part in self._state.series)
        return zero, first, half

    @lazy
    def _following(self) -> ca.Function:
        """First and second derivatives of the unknowns by the coordinates, of (t, fixed numbers, place).

        c_z A = -c_t and c_z H_jk = -d^2 c(t + d, A d)/(d_j d_k) with the one factorised c_z.
        """
        leg, u = self.leg, self.leg.unknowns
        assert u is not None
        factor = leg.newton_step[2]
        size, still = self.t.numel(), ca.SX.zeros(u.move.numel())
        by_t = ca.substitute(ca.jacobian(u.equations, leg.inputs), u.move, still)
        derivatives = ca.densify(ca.horzcat(*[-factor.solve(by_t[:, k]) for k in range(size)]))
        aside = ca.vertcat(leg.inputs + self.t, self._derivatives @ self.t)
        first = ca.jacobian(ca.substitute(u.equations, ca.vertcat(leg.inputs, u.move), aside), self.t)
        second = ca.substitute([ca.jacobian(first[:, k], self.t) for k in range(size)], [self.t], [ca.SX.zeros(size)])
        second = ca.substitute(second, [self._derivatives], [derivatives])
        bends = [-factor.solve(second[j][:, k]) for j in range(size) for k in range(j, size)]
        return ca.Function("following", [leg.inputs, leg.fixed, u.place], ca.cse([derivatives, ca.horzcat(*bends)]))

    def _closed(self, expression: ca.SX) -> ca.SX:
        """An expression of the leg's placement as a function of t."""
        u, d = self.leg.unknowns, self.t
        if u is None:
            return expression
        size = d.numel()
        pairs = ca.vertcat(*[d[j] * d[k] * (0.5 if j == k else 1.0) for j in range(size) for k in range(j, size)])
        values = ca.vertcat(self.leg.inputs + d, self._derivatives @ d + self._bends @ pairs)
        return ca.substitute(ca.SX(expression), ca.vertcat(self.leg.inputs, u.move), values)

    def _terms(self, body: PlacedBody, part: str, centre: ca.SX) -> list[Term]:
        """Translation of the centre of mass, Lopes (42)-(48), and rotation about it, (51)-(62)."""
        tensor = body.moments.central_tensor
        terms = [Term(part, ca.jacobian(centre, self.t), body.moments.mass * ca.SX.eye(3))]
        if tensor.nnz() and ca.depends_on(body.frame.axes, self.t):
            terms.append(Term("rotating links", self._angular(body.frame.axes), tensor))
        return terms

    def _angular(self, axes: ca.SX) -> ca.SX:
        """W(t) with W tdot the angular velocity in body axes: omega_1 = e2dot . e3 and so on round."""
        key = tuple(axes[k].element_hash() for k in range(9))
        if key not in self._turning:
            derivatives = [ca.jacobian(axes[:, k], self.t) for k in range(3)]
            rows = [axes[:, (k + 2) % 3].T @ derivatives[(k + 1) % 3] for k in range(3)]
            self._turning[key] = ca.vertcat(*rows)
        return self._turning[key]

    def _without_spin(self, body: PlacedBody) -> list[Term]:
        """A link along n whose angular velocity is taken as n x ndot, Lopes (58)-(60).

        That is no rate of coordinates (the link's axes turn otherwise), so V is that of quasi-velocities: with
        omega = W tdot and r from the frame's origin to the centre of mass, m B^T (d(Jo)/dt - r~ dW/dt - omega~ r~ W)
        with B = Jo - r~ W, and W^T (I dW/dt + ((S omega)~ - I omega~) W) with S = tr(I)/2 1 - I.
        """
        assert body.along is not None
        axes, mass, tensor = body.frame.axes, body.moments.mass, body.moments.central_tensor
        n, r = axes[:, body.along], axes @ body.moments.com
        derivative, arm = ca.jacobian(n, self.t), ca.jacobian(body.frame.origin, self.t)
        turn, turn_change = (skew(n) @ x for x in (derivative, self._along(derivative)))
        omega, lever = turn @ self.rate, skew(r)
        velocity = arm - lever @ turn
        change = self._along(arm) - lever @ turn_change - skew(omega) @ lever @ turn
        inertia = axes @ tensor @ axes.T
        gyration = skew(0.5 * ca.trace(inertia) * omega - inertia @ omega) - inertia @ skew(omega)
        rotary = turn.T @ (inertia @ turn_change + gyration @ turn)
        return [
            Term("translating links", velocity, mass * ca.SX.eye(3), mass * (velocity.T @ change)),
            Term("rotating links", axes.T @ turn, tensor, rotary),
        ]

    def _along(self, matrix: ca.SX) -> ca.SX:
        """Time derivative of a matrix of t."""
        return ca.reshape(ca.jtimes(ca.vec(matrix), self.t, self.rate), *matrix.shape)

    def _function(self, outputs: list[ca.SX]) -> Callable[..., Any]:
        """A function of (t, tdot) whose numbers stay the leg's symbols."""
        leg, u = self.leg, self.leg.unknowns
        if u is None:
            plain = ca.Function("leg", [leg.inputs, self.rate, leg.fixed], ca.cse(outputs))
            return lambda t, rate: plain(t, rate, leg.fixed)
        given = [leg.inputs, self.rate, leg.fixed, u.place, self._derivatives, self._bends]
        outputs = ca.substitute(outputs, [self.t], [ca.SX.zeros(self.t.numel())])
        function, place = ca.Function("leg", given, outputs), self._state.series[0][-u.place.numel() :]
        return lambda t, rate: function(t, rate, leg.fixed, place, *self._following(t, leg.fixed, place))

    def matrices(self, parts: Sequence[str]) -> Callable[..., Any]:
        """I, V and G of some parts of the leg in its generalized coordinates, of (t, tdot); V by (76)-(79)."""
        size = self.t.numel()
        coriolis = ca.SX.zeros(size, size)
        # Bodies that share their axes share one angular velocity: their tensors add.
        merged: dict[int, tuple[ca.SX, ca.SX, bool]] = {}
        for term in self.terms:
            if term.part in parts:
                known = merged.get(id(term.velocity))
                weight = term.weight + (known[1] if known else ca.SX(*term.weight.shape))
                merged[id(term.velocity)] = term.velocity, weight, term.coriolis is None
                coriolis = coriolis if term.coriolis is None else coriolis + term.coriolis
        inertia = ca.SX.zeros(size, size)
        derivatives = [ca.SX.zeros(size, size) for _ in range(size)]
        for velocity, weight, holonomic in merged.values():
            momentum = weight @ velocity
            inertia = inertia + symmetric(ca.densify(velocity.T @ momentum))
            change = ca.jacobian(ca.vec(velocity), self.t)
            for k in range(size) if holonomic else ():
                half = ca.reshape(change[:, k], *velocity.shape).T @ momentum
                derivatives[k] = derivatives[k] + symmetric(ca.densify(half + half.T))
        gravity = total([w.force for w in self.weights if w.part in parts], (size, 1))
        results = [inertia, coriolis + christoffel(derivatives, self.rate), gravity]
        return self._function([ca.densify(r) for r in results])

    def coordinate_jacobian(self) -> Callable[..., Any]:
        """dq/dt of the actuated coordinates, columns (t, a), of (t, tdot)."""
        coordinates = ca.vertcat(*[actuator.coordinate for actuator in self.leg.actuators], ca.SX(0, 1))
        return self._function([ca.densify(ca.jacobian(self._closed(coordinates), self.t).T)])


# ----------------------------------------------------------------------------------------------------------------------
# Lagrange's equation in matrices: I, V and G, how they change with the coordinates, and those of the platform.

PARTS = ("platform", "actuators", "translating links", "rotating links")


@dataclass(frozen=True)
class Matrices:
    """I, V and G of I d(rate)/dt + V rate + G = generalized force, for one set of coordinates."""

    inertia: ca.SX
    coriolis: ca.SX
    gravity: ca.SX

    def __add__(self, other: Matrices) -> Matrices:
        return Matrices(self.inertia + other.inertia, self.coriolis + other.coriolis, self.gravity + other.gravity)

    def force(self, rate: ca.SX, change: ca.SX) -> ca.SX:
        """Generalized force of a motion, Lopes (70)-(72)."""
        return self.inertia @ change + self.coriolis @ rate + self.gravity

    def transformed(self, carry: ca.SX, change: ca.SX) -> Matrices:
        """The same for other rates w with rate = C w: C^T I C (28), C^T (V C + I Cdot), C^T G.

        Where both rates are derivatives of coordinates, this V is (76) of the new inertia matrix; where one is a twist,
        it is that of Lagrange's equations in quasi-velocities. Idot - 2 V stays skew-symmetric in either.
        """
        coriolis = self.coriolis @ carry + self.inertia @ change
        return Matrices(carry.T @ self.inertia @ carry, carry.T @ coriolis, carry.T @ self.gravity)


def christoffel(derivatives: Sequence[ca.SX], rate: ca.SX) -> ca.SX:
    """V = (Idot + U^T - U)/2 from the derivatives dI/dx_k, Lopes (76).

    Row i of U is xdot^T dI/dx_i: (77)-(79) with derivatives by x; those by xdot, as printed, are zero.
    """
    change = total([derivative * rate[k] for k, derivative in enumerate(derivatives)], derivatives[0].shape)
    u = ca.vertcat(*[rate.T @ derivative for derivative in derivatives])
    return 0.5 * (change + u.T - u)


def platform_matrices(mass: ca.SX, arm: ca.SX, tensor: ca.SX, gravity: ca.SX, twist: ca.SX) -> Matrices:
    """I, V and G of the platform with respect to its twist; Lopes (18)-(23), the centre at ``arm`` from the origin.

    ``tensor`` is the central inertia; both in base axes. Since a twist is not the rate of coordinates, V is found in
    local ones, x = [p, a] with R = Rz(a3) Ry(a2) Rx(a1) R_now, at a = 0, where T = 1: V = V_x - I Tdot. The angles
    are zero in any pose, so no orientation is singular and no sine is left.
    """
    angles = ca.SX.sym("angles", 3)
    turned, axes = euler_axes("xyz", angles)
    carry = ca.diagcat(ca.SX.eye(3), axes)
    across = mass * skew(turned @ arm)
    turning = turned @ tensor @ turned.T - across @ skew(turned @ arm)
    base = ca.vertcat(ca.horzcat(mass * ca.SX.eye(3), -across), ca.horzcat(across, turning))
    derivative = ca.jacobian(ca.vec(symmetric(ca.densify(carry.T @ base @ carry))), angles)
    derivatives = [ca.SX.zeros(6, 6) for _ in range(3)] + [ca.reshape(derivative[:, k], 6, 6) for k in range(3)]
    quasi = christoffel(derivatives, twist) - base @ ca.jtimes(carry, angles, twist[3:])
    inertia, coriolis = ca.substitute([base, quasi], [angles], [ca.SX.zeros(3)])
    weight = -mass * gravity
    return Matrices(inertia, coriolis, ca.vertcat(weight, skew(arm) @ weight))


def euler_axes(convention: str, angles: ca.SX) -> tuple[ca.SX, ca.SX]:
    """R and J_A with omega = J_A d(angles)/dt, for an Euler convention as SciPy spells it.

    Capitals turn about moving axes in the order given; ``ZYX`` is Lopes (4) and (9). Small letters turn about fixed
    axes, the first angle first.
    """
    order = range(3) if convention.isupper() else range(2, -1, -1)
    turned, columns = ca.SX.eye(3), [ca.SX.zeros(3)] * 3
    for k in order:
        number = "xyz".index(convention[k].lower())
        columns[k] = turned[:, number]
        turned = turned @ axis_rotation(number, angles[k])
    return turned, ca.horzcat(*columns)
