"""Dry friction as numbers to reason about: what can hold a robot at rest, and how loads of joints depend on each other.

At rest J^T f + w_ext - gravity = G^T lambda with |lambda_j| <= s_j (k_j L_j + d_j): G (r, m) are the directions in
which joints slide, lambda (r) what overcomes their friction. Loads L_j are sizes of reactions, which are affine in
lambda. In motion, where friction has one direction, reactions are affine in the loads themselves, p = a + B L.
"""

from __future__ import annotations

import casadi as ca

from ..friction import GivenForces, Loads, loaded_pairs, sliding_joints
from ..mechanism import Mechanism
from ..symbols.expression import Expression, Port, port
from . import virtual_power
from .dry_friction import DryFriction, load_parts, loads_in_motion, next_loads


def resting_friction(mechanism: Mechanism, dry: DryFriction) -> Expression:
    """From pose, external wrench and friction lambda (r) at rest: G (r, m), J (n, m), loads (k); k, d, s (j, 3).

    A zero precedes the loads, as some robots have none.
    """
    x = mechanism.inputs()
    platform = mechanism.platform.at(x, x.twist.symbols, mechanism.drift_acceleration(x))
    state = virtual_power.State.of(mechanism, platform, True, None)
    joints = sliding_joints(state.legs)
    friction = ca.SX.sym("friction", sum(joint.size for joint in joints))
    rows = ca.vertcat(*[joint.rows for joint in joints])
    values, start = {}, 0
    for joint in joints:
        values[joint.key] = friction[start : start + joint.size]
        start += joint.size
    symbols = Loads.symbols(mechanism, dry.law)
    loads = ca.SX(0, 1)
    if symbols.port is not None:
        given = GivenForces(dry.law, None, values)
        loads = loads_in_motion(mechanism, x, given, x.acceleration.symbols, ca.SX(0, 1))
    numbers = [ca.horzcat(j.friction.coulomb, j.friction.drag, j.friction.static) for j in joints]
    still = [x.twist.symbols, x.acceleration.symbols]
    parts = [rows, state.jacobian, ca.vertcat(0, loads), ca.vertcat(*numbers)]
    parts = ca.substitute([ca.densify(ca.SX(part)) for part in parts], still, [ca.SX.zeros(6)] * 2)
    outputs = (
        port("rows", parts[0], parts[0].shape),
        port("jacobian", parts[1], parts[1].shape),
        port("loads", parts[2]),
        port("coefficients", parts[3], parts[3].shape),
    )
    inputs = (x.pose, x.wrench, Port("friction", friction, (friction.numel(),)))
    return Expression("resting_friction", inputs, outputs, mechanism.port)


def coupled_loads(mechanism: Mechanism, dry: DryFriction, direct: bool) -> Expression:
    """a (p) and B (p, k) of the parts a + B L of the reactions that loads L (k) are the sizes of, at a motion.

    ``direct``: the motion follows from actuator forces instead of an acceleration.
    """
    loads = Loads.symbols(mechanism, dry.law)
    assert loads.port is not None
    x, symbols = mechanism.inputs(), loads.port.symbols
    parts = ca.vertcat(*[part for part, _ in next_loads(mechanism, x, loads, direct, load_parts)])
    derivatives = ca.jacobian(parts, symbols)
    constant, derivatives = ca.substitute([parts, derivatives], [symbols], [ca.SX.zeros(symbols.numel())])
    outputs = port("constant", ca.densify(constant)), port("derivatives", ca.densify(derivatives), derivatives.shape)
    acting = x.force if direct else x.acceleration
    return Expression("coupled_loads", (*x.state, acting, x.wrench), outputs, mechanism.port)


def load_groups(mechanism: Mechanism, keys: list[tuple[str, str]]) -> list[tuple[int, bool]]:
    """Of each load in order: how many parts it has, and whether it is the sum of their sizes (else their norm)."""
    pairs = loaded_pairs(mechanism)
    groups = []
    for key in keys:
        joint = pairs[key].joint
        if pairs[key].coupling is not None:
            groups.append((1, False))
            continue
        flat = joint.kind == "prismatic" and bool(joint.normals)
        groups.append((len(joint.normals) if flat else 3, flat))
    return groups
