"""Vector-Jacobian products of dynamics in symbols: what reverse differentiation asks for, in one backward sweep.

Motion and forces obey r(pose, twist, acceleration, force, wrench, numbers) = 0, the residual of virtual power
(``polypod.formulations.derivatives``). With J^T df = dr the product of a vector v (n) and df is the derivative of
the power P = l^T r at a fixed l, J l = v; for direct dynamics, M da = -dr, the same with M l = -S^T v. Force and
acceleration are both inputs: the one that was asked for is known when its derivatives are. Legs that close by iterating
have no such sweep: it does not go through their unknowns.
"""

from __future__ import annotations

from itertools import pairwise

import casadi as ca

from ..mechanism import Mechanism
from ..platforms import Inputs
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import SymmetricFactor, solve_general
from ..symbols.vectors import Frame, skew
from .derivatives import differentiable_loads
from .dry_friction import DryFriction
from .virtual_power import State

RESULTS = {"inverse_dynamics": "force", "direct_dynamics": "acceleration"}
"""Name of the result of each function that has vector-Jacobian products."""


def products(
    mechanism: Mechanism, name: str, wrt: tuple[str, ...], numbers: ca.SX, friction: bool, dry: DryFriction
) -> Expression:
    """v^T d(force or acceleration)/d(block), one output a block of its input's shape, for an input ``adjoint`` v.

    Inputs are pose, twist, acceleration, force, wrench, adjoint. The product by the pose is a matrix G (4, 4), zero in
    its last row, with sum(G * dT) = v^T df for every displacement dT that keeps the pose rigid: [1/2 g~ R, h] for
    the product [h; g] by a twist on its left. ``numbers`` are symbols of the parameter port, for the block
    ``parameters``.
    """
    direct = RESULTS[name] == "acceleration"
    loads, x = differentiable_loads(mechanism, friction, dry, direct), mechanism.inputs()
    result = (x.acceleration if direct else x.force).shape
    adjoint = Port("adjoint", ca.SX.sym("adjoint", result[0]), result)
    state = State.of(mechanism, mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols), friction, loads)
    multiplier = ca.SX.sym("multiplier", mechanism.platform.count)
    residual = (
        state.required_wrench - state.external(x.wrench.symbols) - state.jacobian.T @ _applied(state, x, friction)
    )
    blocks = {
        "pose": x.pose.symbols, "twist": x.twist.symbols, "acceleration": x.acceleration.symbols,
        "force": x.force.symbols, "wrench": x.wrench.symbols, "parameters": numbers,
    }  # fmt: skip
    by_block = dict(zip(blocks, _gradients(ca.dot(multiplier, residual), list(blocks.values())), strict=True))
    by_block["pose"] = _rigid_part(x, by_block["pose"])
    solved = _multiplier(mechanism, name, x, state, adjoint.symbols)
    found = ca.substitute([ca.densify(by_block[block]) for block in wrt], [multiplier], [solved])
    shapes = {"pose": (4, 4)}
    outputs = [port(f"by_{block}", one, shapes.get(block)) for block, one in zip(wrt, found, strict=True)]
    inputs = (x.pose, x.twist, x.acceleration, x.force, x.wrench, adjoint)
    return Expression(f"{name}_products", inputs, tuple(outputs), mechanism.port)


def _applied(state: State, x: Inputs, friction: bool) -> ca.SX:
    """Actuator forces (n) that are left for the legs."""
    return x.force.symbols - state.driven_friction if friction else x.force.symbols


def _gradients(power: ca.SX, inputs: list[ca.SX]) -> list[ca.SX]:
    """d(power)/d(input), a column each, by one backward sweep."""
    column = ca.gradient(power, ca.vertcat(*inputs))
    ends = [0]
    for one in inputs:
        ends.append(ends[-1] + one.numel())
    return [column[start:stop] for start, stop in pairwise(ends)]


def _rigid_part(x: Inputs, gradient: ca.SX) -> ca.SX:
    """The gradient (16) by a pose's numbers without what no rigid displacement sees."""
    frame, slope = frame_of(x.pose.symbols), frame_of(gradient)
    turn = ca.SX.zeros(3)
    for k in range(3):
        turn = turn + ca.cross(frame.axes[:, k], slope.axes[:, k])
    column = pose_of(Frame(slope.origin, 0.5 * skew(turn) @ frame.axes))
    return ca.vertcat(column[:15], 0)


def _multiplier(mechanism: Mechanism, name: str, x: Inputs, state: State, adjoint: ca.SX) -> ca.SX:
    """l of J l = v, or of M l = -S^T v."""
    if RESULTS[name] == "force":
        return solve_general(state.jacobian, adjoint).x
    change = ca.SX.sym("change", mechanism.platform.count)
    along = ca.jtimes(state.platform.acceleration(change), change, adjoint, True)
    rest = State.of(mechanism, mechanism.platform.rest(x), False, None)
    return -SymmetricFactor(rest.mass).solve(along)
