"""Stiffness of the platform from the springs of its legs, and the inertia of a robot on a base that moves, in symbols.

Springs in series with an actuator add up to the compliance c_i of its coordinate, c_i = d_i + sum load^2/k; springs
about passive joints and other elements, whose displacements s move with B u, act beside them:
K = J^T diag(1/c) J - sum B^T (df/ds) B.
"""

from __future__ import annotations

import casadi as ca

from ..mechanism import Mechanism
from ..mechanism.acting_elements import ActingElements, has_elements
from ..platforms import PlatformState
from ..platforms.lower_mobility import LowerMobilityState
from ..platforms.motion import frame_of
from ..symbols.expression import Expression, Port, port
from ..symbols.vectors import cross


def springs_of(mechanism: Mechanism) -> list[tuple[str, int | None]]:
    """Names of all springs, ``leg.spring``, and the number of the actuator each is in series with, if any."""
    names: list[tuple[str, int | None]] = []
    first = 0
    for leg in mechanism.placed:
        for spring in leg.placement.springs:
            names.append((leg.leg.label(spring.name), None if spring.joint else first + spring.actuator))
        first += len(leg.placement.actuators)
    return names


def stiffness(mechanism: Mechanism) -> Expression:
    """K (m, m) of the robot's own velocity u at a pose, base axes, for further compliances d (n) of its drives.

    ``compliances`` (s) are those of all springs, at the coordinate of their actuator; of springs beside it, their 1/k.
    ``motions`` (6, m) are the platform's twists for a unit of each of u, what follows from them included, ``beside``
    (m, m) is what elements are of K.
    """
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    n, m = len(mechanism.actuators), mechanism.platform.count
    given = Port("drive", ca.SX.sym("drive", n), (n,))
    derivatives = state.to_base(mechanism.jacobian(legs).T).T
    total, beside = ca.SX(given.symbols), _beside(mechanism, x.pose)
    parts, first = [], 0
    for leg in legs:
        placement = leg.model.placement
        for spring in placement.springs:
            load = leg.at_tip(ca.SX(spring.load))
            parts.append(load * load / leg.at_tip(ca.SX(spring.stiffness)))
            if not spring.joint:
                total[first + spring.actuator] += parts[-1]
        first += len(leg.model.actuators)
    weighted = derivatives * ca.repmat(1 / total, 1, m)
    matrix = ca.SX.zeros(m, m)
    for i in range(m):
        for j in range(i, m):
            matrix[i, j] = matrix[j, i] = ca.dot(derivatives[:, i], weighted[:, j]) + beside[i, j]
    outputs = (
        port("stiffness", matrix, (m, m)),
        port("compliances", ca.vertcat(*parts, ca.SX(0, 1)), (len(parts),)),
        port("motions", _twists(state), (6, m)),
        port("beside", beside, (m, m)),
        port("quality", mechanism.quality(legs), ()),
    )
    return Expression("stiffness", (*x.place, given), outputs, mechanism.port)


def _beside(mechanism: Mechanism, pose: Port) -> ca.SX:
    """-sum B^T (df/ds) B (m, m) of all elements, whose displacements move with sdot = B u."""
    x, m = mechanism.inputs(), mechanism.platform.count
    if not has_elements(mechanism):
        return ca.SX.zeros(m, m)
    x.pose = pose
    state = mechanism.platform.at(x, x.twist.symbols, ca.SX.zeros(6))
    total = ca.SX.zeros(m, m)
    for one in ActingElements.of(mechanism, state, mechanism.attach(state)).elements:
        motion = ca.jacobian(one.rate, x.twist.symbols) @ _twists(state)
        total = total + motion.T @ one.stiffness @ motion
    return ca.substitute(total, x.twist.symbols, ca.SX.zeros(6))


def _twists(state: PlatformState) -> ca.SX:
    """S (6, m) of twist = S u."""
    return ca.densify(ca.SX(state.basis)) if isinstance(state, LowerMobilityState) else ca.SX.eye(6)


def mass_on_base(mechanism: Mechanism) -> Expression:
    """Inertia (m + 6, m + 6) of the robot by u and by a twist [v; omega] of its base, at the base's origin, base axes.

    The base carries all bodies along: an axis e of a body turns at edot + omega x e, its origin o moves at
    odot + v + omega x o; rotors of drives turn against it.
    """
    x, base = mechanism.inputs(), ca.SX.sym("base", 6)
    twist, v, omega = x.twist.symbols, base[:3], base[3:]
    state = mechanism.platform.at(x, twist, ca.SX.zeros(6))
    legs, m = mechanism.attach(state), mechanism.platform.count
    arm = frame_of(x.pose.symbols).origin
    whole = twist + ca.vertcat(v + cross(omega, arm), omega)
    energy = 0.5 * ca.dot(whole, state.inertia @ whole)
    for leg in legs:
        vectors, rates, _ = leg.vectors
        for body in leg.model.vectors.bodies.values():
            parts = []
            for k, place in enumerate(body.refs):
                value, rate = (vectors[:, place], rates[:, place]) if isinstance(place, int) else (place, 0)
                parts.append(rate + cross(omega, value) + (v if k == 3 else 0))
            moved = ca.horzcat(*parts)
            energy += 0.5 * ca.dot(moved, moved @ body.weight)
        for actuator, rate in zip(leg.model.actuators, leg.rates, strict=True):
            energy += 0.5 * actuator.rotor * rate * rate
    derivatives = ca.hessian(energy, ca.vertcat(twist, base))[0]
    allowed = ca.diagcat(_twists(state), ca.SX.eye(6))
    matrix = ca.substitute(allowed.T @ derivatives @ allowed, twist, ca.SX.zeros(6))
    outputs = port("mass", matrix, (m + 6, m + 6)), port("quality", mechanism.quality(legs), ())
    return Expression("mass_on_base", x.place, outputs, mechanism.port)
