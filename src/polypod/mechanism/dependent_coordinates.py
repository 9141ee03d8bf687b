"""Platforms that move as their legs let them: whole motions from the robot's generalized coordinates.

With coordinates x and what follows w, the platform is displaced from home by xi = C x + O w: its origin by the first
three numbers, its axes by the rotation vector of the last three. The twist is A(xi) xi', A = [1, 0; 0, J_l] with J_l
the left Jacobian of rotation vectors. Constraints c = 0 of derivatives W find w: W A O dw = -c, and w' and w'' alike.
Where coordinates are those of joints, C is zero for them, w has as many more numbers, and joint - x follows the
constraints.
"""

from __future__ import annotations

from dataclasses import replace
from math import factorial

import casadi as ca
import numpy as np

from ..errors import InputError
from ..platforms import ConstrainedState, DegreesOfFreedom, Inputs
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.implicit_function import Equations
from ..symbols.iterations import NEWTON_TOLERANCE, NewtonStep, continuation, sharpness
from ..symbols.linear import BlockFactor, solve_general
from ..symbols.vectors import Frame, axial, dot, skew
from .closing import moved_places
from .leg_at_state import LegAtState
from .mechanism import Mechanism

_TERMS = 10
"""Terms of a series in the square of an angle up to one radian: the next is below 1e-19."""
_COME_APART = 1e-7
"""What a constraint [m, rad] that follows from others is off at least where a robot comes apart: more than the digits
of a file make of it."""


def motion(mechanism: Mechanism) -> Expression | Iteration:
    """Pose, twist and acceleration of coordinates x (m), their rates and accelerations, found from home.

    Along and about fixed axes they are expressions of x. Of other platforms, what follows from x stays on the branch
    drawn at home: where a determinant of the constraints or of a leg has another sign, the step was too long.
    """
    if not mechanism.platform.is_constrained:
        return fixed_axes(mechanism)
    m, chosen, others = mechanism.platform.count, *_bases(mechanism)
    n, joints = others.size2(), np.flatnonzero(DegreesOfFreedom(mechanism.robot).of_joints).tolist()
    x, xdot, xddot = (Port(name, ca.SX.sym(name, m), (m,)) for name in ("x", "xdot", "xddot"))
    w = ca.SX.sym("w", n)
    size = mechanism.size + 1e-3
    unknowns = ca.vertcat(w, mechanism.places)

    def at(part: ca.SX, now: ca.SX) -> tuple[list[LegAtState], BlockFactor, list[ca.SX]]:
        """Legs, factored derivatives, and the determinants whose signs distinguish branches."""
        xi = chosen @ part + others @ now[:n]
        _, legs = _at(mechanism, _displaced(mechanism, xi), now[n:])
        factor = BlockFactor(ca.sparsify(mechanism.dependent_rows(legs) @ _displacement_jacobian(xi) @ others))
        return legs, factor, [*factor.determinants, *(d for leg in legs for d in leg.closing_determinants)]

    # the same expressions at home, so that blocks and pivots are alike
    drawn = ca.substitute(
        at(x.symbols, unknowns)[2],
        [x.symbols, unknowns],
        [ca.SX.zeros(m), ca.vertcat(ca.SX.zeros(n), mechanism.home_places)],
    )

    def newton(t: ca.SX, now: ca.SX) -> NewtonStep:
        legs, factor, signs = at(t * x.symbols, now)
        same = ca.SX(1)
        for one, home in zip(signs, drawn, strict=True):
            same = ca.logic_and(same, one * home > 0)
        value = _residual(mechanism, legs, t * x.symbols[joints, 0])
        step = -factor.solve(value)
        gaps = [leg.start_residual for leg in legs if leg.model.unknowns is not None]
        gap2 = sum((ca.dot(gap, gap) for gap in gaps), ca.dot(value, value)) / size**2
        places = [leg.place for leg in legs if leg.model.unknowns is not None]
        shift = others @ step
        step2 = ca.sumsqr(shift[:3]) / size**2 + ca.sumsqr(shift[3:])
        quality = factor.quality
        for leg in legs:
            if leg.model.unknowns is not None:
                step2, quality = ca.fmax(step2, leg.start_step2), ca.fmin(quality, leg.start_quality)
        if not mechanism.single:  # single precision is rounding there
            gap2 = gap2 / sharpness(quality) ** 2
        moved = ca.vertcat(now[:n] + step, *places)
        tolerance, exact = mechanism.tolerance(NEWTON_TOLERANCE), not mechanism.single
        return NewtonStep(moved, gap2, same, tolerance, step2, exact)

    loop = continuation(unknowns, ca.vertcat(ca.SX.zeros(n), mechanism.home_places), newton, strict=False)
    # one step more, and then derivatives
    last = newton(ca.SX(1), unknowns)
    given = x.symbols, xdot.symbols, xddot.symbols
    pose, twist, acceleration, legs = _moving(mechanism, given, last.moved[:n])
    outputs = (
        port("pose", pose[:16], (4, 4)),
        port("twist", twist),
        port("acceleration", acceleration),
        port(
            "quality",
            ca.fmin(
                mechanism.quality(legs),
                ca.fmin(last.solved, _constraints_hold(mechanism, legs, x.symbols[joints, 0], size)),
            ),
            (),
        ),
    )

    def equations() -> Equations:
        """The constraints at w + dw, and the gaps of legs that close by iterating."""
        change = ca.SX.sym("change", n)
        displaced = _displaced(mechanism, chosen @ x.symbols + others @ (w + change))
        state, _ = _at(mechanism, displaced, mechanism.places)
        move, moved, gaps = moved_places(mechanism, state, mechanism.places)
        _, closed = _at(mechanism, displaced, moved)
        residual = _residual(mechanism, closed, x.symbols[joints, 0])
        return Equations(
            ca.vertcat(change, move),
            ca.vertcat(w + change, moved, loop.state[unknowns.numel() :]),
            ca.vertcat(residual, gaps),
            last.solved,
        )

    return Iteration(
        "motion",
        (x, xdot, xddot),
        outputs,
        loop.state,
        loop.start,
        loop.step,
        mechanism.port,
        equations=equations,
        max_iterations=loop.max_iterations,
    )


def fixed_axes(mechanism: Mechanism) -> Expression:
    """The motion of a robot along and about fixed base axes: p = p_home + S x, R = R(theta) R_home, twist = S xdot."""
    dof, numbers = DegreesOfFreedom(mechanism.robot), mechanism.numbers
    if dof.full:
        raise InputError(f"motion: the platform of {mechanism.robot.name!r} moves freely: its coordinates are its pose")
    m = mechanism.platform.count
    x, xdot, xddot = (Port(name, ca.SX.sym(name, m), (m,)) for name in ("x", "xdot", "xddot"))
    basis = ca.SX(ca.diagcat(ca.sparsify(ca.DM(dof.basis)), ca.DM.eye(m - dof.count)))
    move = basis @ x.symbols
    axes = ca.densify(numbers.home_rotation)
    if dof.axis is not None:
        k = ca.SX(ca.DM(dof.axis))
        angle, along = ca.dot(k, move[3:6]), ca.SX(ca.DM(np.outer(dof.axis, dof.axis)))
        axes = (along + ca.cos(angle) * (ca.SX.eye(3) - along) + ca.sin(angle) * skew(k)) @ axes
    rows = ca.horzcat(axes, numbers.home_position + move[:3])
    pose = ca.densify(ca.vertcat(rows, ca.SX(ca.DM([[0.0, 0.0, 0.0, 1.0]]))))
    outputs = (
        port("pose", pose, (4, 4)),
        port("twist", ca.densify(basis @ xdot.symbols)),
        port("acceleration", ca.densify(basis @ xddot.symbols)),
    )
    return Expression("motion", (x, xdot, xddot), outputs, mechanism.port)


def _moving(
    mechanism: Mechanism, coordinates: tuple[ca.SX, ca.SX, ca.SX], w: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, list[LegAtState]]:
    """Place (16 + k), twist and acceleration of coordinates, rates and accelerations where w follows, and the legs."""
    x, xdot, xddot = coordinates
    chosen, others = _bases(mechanism)
    joints = np.flatnonzero(DegreesOfFreedom(mechanism.robot).of_joints).tolist()
    xi = chosen @ x + others @ w
    pose, derivatives = _displaced(mechanism, xi), _displacement_jacobian(xi)
    _, legs = _at(mechanism, pose, mechanism.places)
    rows = mechanism.dependent_rows(legs)
    factor = BlockFactor(ca.sparsify(rows @ derivatives @ others))
    still = ca.SX.zeros(others.size2() - len(joints))
    rate = chosen @ xdot
    rate = rate + others @ factor.solve(ca.vertcat(still, xdot[joints, 0]) - rows @ derivatives @ rate)
    twist = derivatives @ rate
    given = derivatives @ (chosen @ xddot) + _turning(xi, rate)
    _, attached = _at(mechanism, pose, mechanism.places, twist, given)
    asked = ca.vertcat(still, xddot[joints, 0])
    change = factor.solve(asked - mechanism.dependent_accelerations(attached))
    return pose, twist, given + derivatives @ (others @ change), legs


def motion_derivatives(mechanism: Mechanism, numbers: ca.SX) -> tuple[list[ca.SX], list[ca.SX]]:
    """Derivatives (18, 3 m + k) of a platform's motion by x, xdot, xddot and ``numbers`` (k) of the parameter port.

    After them those (c, k) of all constraints by the numbers: not zero where an overconstrained robot comes apart.
    Rows are the displacement as a twist on the left of the pose, the twist, the acceleration. Inputs are x, w, twist,
    acceleration, the places of the legs' unknowns, the numbers of the port; they must be a motion that the robot makes.
    One step of Newton from there has the derivatives of the solution.
    """
    m, chosen, others = mechanism.platform.count, *_bases(mechanism)
    dof = DegreesOfFreedom(mechanism.robot)
    joints = np.flatnonzero(dof.of_joints).tolist()
    x, xdot, xddot = (ca.SX.sym(name, m) for name in ("x", "xdot", "xddot"))
    wide = chosen.size1()
    sizes = (("w", others.size2()), ("twist", wide), ("change", wide))
    w, twist, acceleration = (ca.SX.sym(name, k) for name, k in sizes)
    xi = chosen @ x + others @ w
    here, derivatives = _displaced(mechanism, xi), _displacement_jacobian(xi)
    _, legs = _at(mechanism, here, mechanism.places)
    factor = BlockFactor(ca.sparsify(mechanism.dependent_rows(legs) @ derivatives @ others))
    solved = w - factor.solve(_residual(mechanism, legs, x[joints, 0]))
    pose, *rates, legs = _moving(mechanism, (x, xdot, xddot), solved)
    by = ca.vertcat(x, xdot, xddot, numbers)
    frame = frame_of(pose)
    turn = ca.SX.zeros(3, by.numel())
    for k in range(3):
        turn = turn + 0.5 * skew(frame.axes[:, k]) @ ca.jacobian(frame.axes[:, k], by)
    matrix = ca.vertcat(ca.jacobian(frame.origin, by), turn, *[ca.jacobian(rate, by) for rate in rates])
    # rates of the coordinates at the motion given
    rate = _rates_of_displacement(derivatives, twist)
    second = _rates_of_displacement(derivatives, acceleration - _turning(xi, rate))
    _, moving = _at(mechanism, here, mechanism.places, twist, acceleration)
    components = ca.DM(dof.components.T)
    first, other = components @ rate, components @ second
    for place, (leg, k) in zip(joints, mechanism.coordinate_joints, strict=True):
        first[place] = ca.dot(moving[leg].joint_coordinate_rows[k], twist)
        other[place] = moving[leg].joint_coordinate_accelerations[k]
    matrix = ca.substitute([matrix], [ca.vertcat(xdot, xddot)], [ca.vertcat(first, other)])[0]
    broken = ca.jacobian(ca.vertcat(*[leg.constraint_values for leg in legs]), numbers)
    return [x, w, twist, acceleration, mechanism.places, mechanism.numbers.symbols], [matrix, broken]


def _rates_of_displacement(derivatives: ca.SX, twist: ca.SX) -> ca.SX:
    """xi' of twist = A xi'."""
    return ca.vertcat(twist[:3], solve_general(derivatives[3:6, 3:6], twist[3:6]).x, twist[6:])


def follow(mechanism: Mechanism) -> Expression:
    """Twist and acceleration with the same chosen components that the robot can make at a pose."""
    _refuse_fixed_dof(mechanism, "follow")
    x = mechanism.inputs()
    state, legs = mechanism.resting(x)
    assert isinstance(state, ConstrainedState)
    own = mechanism.reduced_rates(legs)
    twist = state.basis @ (own @ x.twist.symbols)
    y = mechanism.inputs()
    y.pose, y.internal, y.twist = x.pose, x.internal, port("twist", twist)
    drift_acceleration = mechanism.drift_acceleration(y)
    # components that are chosen do not change while rates stay; joints' coordinates may
    change = x.acceleration.symbols - drift_acceleration if mechanism.coordinate_joints else x.acceleration.symbols
    acceleration = state.basis @ (own @ change) + drift_acceleration
    outputs = (
        port("possible_twist", twist),
        port("possible_acceleration", acceleration),
        port("quality", mechanism.quality(legs), ()),
    )
    return Expression("follow", (*x.state, x.acceleration), outputs, mechanism.port)


def rate_map(mechanism: Mechanism) -> Expression:
    """E (m, m) of u = E x': components of the twist along the degrees of freedom from the rates of the coordinates, at
    a pose.

    The twist is A xi' with xi' = C x' + O w', w' from the constraints as in ``motion``; u are its chosen components
    and the rates of joints that are coordinates.
    """
    _refuse_fixed_dof(mechanism, "rate_map")
    m, chosen, others = mechanism.platform.count, *_bases(mechanism)
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    turned = frame_of(x.pose.symbols).axes @ mechanism.home.axes.T
    derivatives = _displacement_jacobian(ca.vertcat(ca.SX.zeros(3), _rotation_vector(turned), x.internal.symbols))
    rows = mechanism.dependent_rows(legs)
    factor = BlockFactor(ca.sparsify(rows @ derivatives @ others))
    joints = np.flatnonzero(DegreesOfFreedom(mechanism.robot).of_joints).tolist()
    columns = []
    for unit in ca.horzsplit(ca.SX.eye(m)):
        rate = chosen @ unit
        asked = ca.vertcat(ca.SX.zeros(others.size2() - len(joints)), unit[joints, 0])
        columns.append(derivatives @ (rate + others @ factor.solve(asked - rows @ derivatives @ rate)))
    matrix = mechanism.reduced_rates(legs) @ ca.horzcat(*columns)
    quality = ca.fmin(mechanism.quality(legs), factor.quality)
    outputs = port("rate_map", ca.densify(matrix), (m, m)), port("quality", quality, ())
    return Expression("rate_map", x.place, outputs, mechanism.port)


def joint_coordinates(mechanism: Mechanism) -> Expression:
    """Coordinates of joints (j) that are the robot's, at a pose."""
    if not mechanism.coordinate_joints:
        raise InputError(
            f"joint_coordinates: no degree of freedom of {mechanism.robot.name!r} is a joint coordinate (dof: "
            "[leg1.crank] in its file would make one)"
        )
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    outputs = port("joints", mechanism.joint_coordinates(legs)), port("quality", mechanism.quality(legs), ())
    return Expression("joint_coordinates", x.place, outputs, mechanism.port)


def coordinates(mechanism: Mechanism) -> Expression:
    """The robot's generalized coordinates x (m) at a pose."""
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    outputs = port("x", coordinates_at(mechanism, x.place_symbols, legs)), port("quality", mechanism.quality(legs), ())
    return Expression("coordinates", x.place, outputs, mechanism.port)


def coordinates_at(mechanism: Mechanism, pose: ca.SX, legs: list[LegAtState]) -> ca.SX:
    """Generalized coordinates (m) of a row-major pose, and internal coordinates (16 + k), with the legs there.

    Along fixed axes they are the components of the displacement and the angle about the one axis; else components of
    the displacement and its rotation vector, or coordinates of joints.
    """
    dof, frame, home = DegreesOfFreedom(mechanism.robot), frame_of(pose), mechanism.home
    if dof.full:
        raise InputError(f"coordinates: the platform of {mechanism.robot.name!r} moves freely: use its pose")
    moved, turn = frame.origin - home.origin, frame.axes @ home.axes.T
    if not mechanism.platform.is_constrained:
        turned = ca.SX.zeros(3)
        if dof.axis is not None:
            k = ca.SX(ca.DM(dof.axis))
            turned = ca.atan2(dot(k, axial(turn)), ca.trace(turn) - 1) * k
        return ca.vertcat(ca.densify(ca.sparsify(ca.DM(dof.inverse)) @ ca.vertcat(moved, turned)), pose[16:])
    found = ca.sparsify(ca.DM(dof.components.T)) @ ca.vertcat(moved, _rotation_vector(turn))
    joints = mechanism.joint_coordinates(legs)
    own = iter(range(joints.numel()))
    parts = [joints[next(own)] if joint else found[k] for k, joint in enumerate(dof.of_joints)]
    return ca.vertcat(*parts, pose[16:])


def motion_with_actuators(mechanism: Mechanism) -> Expression | Iteration:
    """``motion`` with the actuated coordinates q of its pose: from coordinates to motors in one call."""
    found = motion(mechanism)
    own = next(p.symbols for p in found.inputs if p.name == "x")[
        mechanism.platform.count - mechanism.platform.internal :
    ]
    place = ca.vertcat(next(p.symbols for p in found.outputs if p.name == "pose"), own)
    if mechanism.platform.is_constrained:
        _, legs = _at(mechanism, place, mechanism.places)
    else:
        x = mechanism.inputs()
        x.at_place(place)
        legs = mechanism.attach(mechanism.platform.rest(x))
    outputs = {p.name: p for p in found.outputs} | {"q": port("q", mechanism.coordinates(legs))}
    quality = outputs.pop("quality", None)
    outputs["quality"] = quality if quality is not None else port("quality", mechanism.quality(legs), ())
    return replace(found, outputs=tuple(outputs.values()))


def constraints(mechanism: Mechanism) -> Expression:
    """Values (c) of all that the legs constrain, zero in poses that the robot can take."""
    _refuse_fixed_dof(mechanism, "constraints")
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    values = ca.vertcat(*[leg.constraint_values for leg in legs])
    outputs = port("constraints", values), port("quality", mechanism.quality(legs), ())
    return Expression("constraints", x.place, outputs, mechanism.port)


def _refuse_fixed_dof(mechanism: Mechanism, name: str) -> None:
    if not mechanism.platform.is_constrained:
        raise InputError(
            f"{name}: the platform of {mechanism.robot.name!r} moves along and about fixed axes; nothing follows from "
            "its coordinates"
        )


def _bases(mechanism: Mechanism) -> tuple[ca.DM, ca.DM]:
    """C (6, m) and O (6, 6 - m + j)."""
    state = mechanism.platform.rest(mechanism.inputs())
    assert isinstance(state, ConstrainedState)
    return state.chosen, state.others


def _residual(mechanism: Mechanism, legs: list[LegAtState], joints: ca.SX) -> ca.SX:
    """What must vanish (6 - m + j): the constraints, and how far joints are from given coordinates.

    Angles are the same after a full turn, so that a crank may go round.
    """
    turns = [f.motion == "rotation" for f in mechanism.robot.dof if f.joint]
    off = mechanism.joint_coordinates(legs) - joints
    own = [ca.atan2(ca.sin(off[k]), ca.cos(off[k])) if turn else off[k] for k, turn in enumerate(turns)]
    return ca.vertcat(mechanism.constraint_values(legs), *own)


def _constraints_hold(mechanism: Mechanism, legs: list[LegAtState], joints: ca.SX, size: ca.SX) -> ca.SX:
    """1 where the constraints hold and joints have their coordinates, else 0.

    Those that follow from others too: with other parameters an overconstrained robot may come apart.
    """
    value = _residual(mechanism, legs, joints)
    hold = ca.dot(value, value) <= (mechanism.tolerance(1e-10) * size) ** 2
    assert mechanism.mobility is not None
    for leg, k in mechanism.mobility.redundant:
        hold = ca.logic_and(hold, ca.fabs(legs[leg].constraint_values[k]) <= mechanism.tolerance(_COME_APART))
    return ca.if_else(hold, 1, 0)


def _at(
    mechanism: Mechanism,
    pose: ca.SX,
    places: ca.SX,
    twist: ca.SX | None = None,
    acceleration: ca.SX | None = None,
) -> tuple[ConstrainedState, list[LegAtState]]:
    """Platform and legs at a pose of symbols, with internal coordinates after it."""
    x: Inputs = mechanism.inputs()
    x.at_place(pose)
    still = x.still
    state = mechanism.platform.at(x, still if twist is None else twist, still if acceleration is None else acceleration)
    assert isinstance(state, ConstrainedState)
    return state, mechanism.attach(state, places)


def _displaced(mechanism: Mechanism, xi: ca.SX) -> ca.SX:
    """Row-major pose and internal coordinates (16 + k) at a displacement from home."""
    turned = xi[3:6]
    a, b, _ = _rotation_coefficients(dot(turned, turned))
    tilde = skew(turned)
    turn = ca.SX.eye(3) + a * tilde + b * (tilde @ tilde)
    return ca.vertcat(pose_of(Frame(mechanism.home.origin + xi[:3], turn @ mechanism.home.axes)), xi[6:])


def _rotation_vector(turn: ca.SX) -> ca.SX:
    """2 atan2(|v|, w) v/|v| of the quaternion (v, w) of a rotation (3, 3) by less than half a turn."""
    w = 0.5 * ca.sqrt(1 + ca.trace(turn))
    v = axial(turn) / (4 * w)
    size = ca.sqrt(ca.fmax(ca.dot(v, v), 1e-30))
    return (2 * ca.atan2(size, w) / size) * v


def _displacement_jacobian(xi: ca.SX) -> ca.SX:
    """A (6 + k, 6 + k) of twist = A xi'."""
    turned = xi[3:6]
    _, b, c = _rotation_coefficients(dot(turned, turned))
    tilde = skew(turned)
    turn = ca.SX.eye(3) + b * tilde + c * (tilde @ tilde)
    return ca.diagcat(ca.SX.eye(3), turn, ca.SX.eye(xi.numel() - 6))


def _turning(xi: ca.SX, rate: ca.SX) -> ca.SX:
    """A' xi', what the twist changes by at constant rates of the displacement."""
    at, along = ca.SX.sym("xi", xi.numel()), ca.SX.sym("rate", xi.numel())
    change = ca.jtimes(_displacement_jacobian(at) @ along, at, along)
    return ca.substitute([change], [at, along], [xi, rate])[0]


def _rotation_coefficients(square: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """sin(p)/p, (1 - cos(p))/p^2 and (p - sin(p))/p^3 of p^2, by series up to one radian."""
    near = square < 1
    s = ca.if_else(near, 1, square)
    p = ca.sqrt(s)
    a = ca.if_else(near, sine_series(square, 1), ca.sin(p) / p)
    b = ca.if_else(near, sine_series(square, 2), (1 - ca.cos(p)) / s)
    c = ca.if_else(near, sine_series(square, 3), (p - ca.sin(p)) / (s * p))
    return a, b, c


def sine_series(square: ca.SX, first: int, terms: int = _TERMS) -> ca.SX:
    """sum_k (-p^2)^k / (2 k + first)!: sin(p)/p for 1, (1 - cos(p))/p^2 for 2, (p - sin(p))/p^3 for 3.

    Ten terms reach rounding for p^2 up to one.
    """
    total = ca.SX(1)
    for k in range(terms, 0, -1):
        total = 1 - square / ((2 * k + first) * (2 * k + first - 1)) * total
    return total / factorial(first)
