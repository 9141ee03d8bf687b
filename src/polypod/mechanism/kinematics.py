"""Kinematics in symbols: coordinates, rates, Jacobian, bodies, margins, limits, and forward kinematics by Newton."""

from __future__ import annotations

import casadi as ca

from ..symbols.expression import Expression, Iteration, port
from ..symbols.linear import solve_general
from ..symbols.vectors import dot, skew
from .inputs import Inputs
from .mechanism import Attached, Mechanism

_NO_MOTION = ca.SX.zeros(6)


def _at_rest(mechanism: Mechanism, pose: ca.SX) -> list[Attached]:
    return mechanism.attach(mechanism.freedoms.motion(pose, _NO_MOTION, _NO_MOTION))


def _coordinates(attached: list[Attached]) -> ca.SX:
    return ca.vertcat(*[leg.values.y[-1] for leg in attached])


def inverse_kinematics(mechanism: Mechanism) -> Expression:
    """Actuated coordinates q of a pose, and the smallest margin of the legs' conditions."""
    x = Inputs()
    attached = _at_rest(mechanism, x.pose.symbols)
    quality = mechanism.quality(attached, ca.SX(1))
    return Expression(
        "inverse_kinematics", (x.pose,), (port("q", _coordinates(attached)), port("quality", quality, ()))
    )


def jacobian(mechanism: Mechanism) -> Expression:
    """J with qdot = J u, (n, m)."""
    x = Inputs()
    attached = _at_rest(mechanism, x.pose.symbols)
    quality = mechanism.quality(attached, ca.SX(1))
    matrix = mechanism.jacobian(attached)
    return Expression("jacobian", (x.pose,), (port("jacobian", matrix), port("quality", quality, ())))


def accelerations(mechanism: Mechanism) -> Expression:
    """Actuated coordinates, rates and accelerations of a motion, by Taylor series."""
    x = Inputs()
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    series = [leg.model.coordinate_tape.taylor(*leg.series) for leg in attached]
    q, rate, half = (ca.vertcat(*[s[order] for s in series]) for order in range(3))
    quality = mechanism.quality(attached, ca.SX(1))
    return Expression(
        "accelerations",
        (x.pose, x.twist, x.acceleration),
        (port("q", q), port("qdot", rate), port("qddot", 2 * half), port("quality", quality, ())),
    )


def bodies(mechanism: Mechanism) -> Expression:
    """Pose (4, 4) of every body of every leg; one output a body, named ``leg.body``, and the smallest margin."""
    x = Inputs()
    outputs = []
    attached = _at_rest(mechanism, x.pose.symbols)
    for leg in attached:
        for body in leg.model.placement.bodies:
            matrix = ca.horzcat(body.frame.axes, body.frame.origin)
            placed = leg.at_tip(matrix)
            full = ca.vertcat(placed, ca.horzcat(ca.SX(1, 3), ca.SX(1)))
            outputs.append(port(f"{leg.model.name}.{body.name}", full))
    outputs.append(port("quality", mechanism.quality(attached, ca.SX(1)), ()))
    return Expression("bodies", (x.pose,), tuple(outputs))


def margins(mechanism: Mechanism) -> Expression:
    """For every condition of every leg its margin and by how much it is exceeded, leg by leg (k, 2)."""
    x = Inputs()
    rows = []
    for leg in _at_rest(mechanism, x.pose.symbols):
        for condition in leg.model.placement.conditions:
            rows.append(leg.at_tip(ca.horzcat(condition.margin, condition.excess)))
    return Expression("margins", (x.pose,), (port("margins", ca.vertcat(*rows), (len(rows), 2)),))


def limited(mechanism: Mechanism) -> Expression:
    """Values of all limited quantities, leg by leg (k,); angles as cosines."""
    x = Inputs()
    values = [ca.SX(0)]
    for leg in _at_rest(mechanism, x.pose.symbols):
        values += [leg.at_tip(limit.value) for limit in leg.model.placement.limits]
    return Expression("limited", (x.pose,), (port("values", ca.vertcat(*values)),))


def forward_kinematics(mechanism: Mechanism, steps: int = 50) -> Iteration:
    """Pose with q(pose) = q, by damped Newton iterations from a guess.

    Each step tries pose + t delta with J delta = q - q(pose); if the error does not fall, t is halved. Rotations
    turn by Cayley's map, so they stay rotations. The last step is taken once more at the end, undamped: the error
    then is that of rounding. State: frame (12), delta (m), t, squared error, quality, steps, done.
    """
    x = Inputs(len(mechanism.legs))
    m = mechanism.freedoms.count
    state = ca.SX.sym("state", 12 + m + 5)
    frame, delta = state[:12], state[12 : 12 + m]
    t, error2, quality, count = (state[12 + m + k] for k in range(4))
    scale = sum(float(ca.norm_2(leg.arm)) for leg in mechanism.legs) / len(mechanism.legs) + 1e-3

    trial = _moved(mechanism, frame, t * delta)
    attached = _at_rest(mechanism, trial)
    error = x.q.symbols - _coordinates(attached)
    solution = solve_general(mechanism.jacobian(attached), error)
    new_error2 = ca.dot(error, error)
    better = new_error2 < error2
    chosen = [
        ca.if_else(better, new, old)
        for new, old in (
            (_entries(trial), frame),
            (solution.x, delta),
            (ca.SX(1), 0.5 * t),
            (new_error2, error2),
            (solution.quality, quality),
        )
    ]
    converged = chosen[3] <= (1e-10 * scale) ** 2
    stuck = ca.logic_and(ca.logic_not(better), t <= 2.0**-12)
    done = ca.logic_or(ca.logic_or(converged, stuck), count + 1 >= steps)
    step = ca.vertcat(*chosen, count + 1, done)

    guess = _entries(mechanism.freedoms.frame_pose(x.pose.symbols))
    start = ca.vertcat(guess, ca.SX.zeros(m), 0, 1e300, 0, 0, 0)
    last = _tidy(_moved(mechanism, frame, delta))
    residual = x.q.symbols - _coordinates(_at_rest(mechanism, last))
    worst = ca.SX(0)
    for k in range(len(mechanism.legs)):
        worst = ca.fmax(worst, ca.fabs(residual[k]))
    outputs = (
        port("pose", last, (4, 4)),
        port("residual", worst, ()),
        port("steps", count, ()),
        port("quality", quality, ()),
    )
    return Iteration("forward_kinematics", (x.q, x.pose), outputs, state, start, step)


def _entries(pose: ca.SX) -> ca.SX:
    """The twelve numbers of a row-major pose."""
    return pose[:12]


def _moved(mechanism: Mechanism, frame: ca.SX, delta: ca.SX) -> ca.SX:
    """A pose moved by a small displacement of the freedoms, as row-major 16.

    R -> (1 + 2/(1 + a.a) (a~ + a~ a~)) R with a half the rotation vector (Cayley).
    """
    move = delta if mechanism.freedoms.full else ca.DM(mechanism.freedoms.basis) @ delta
    rows = ca.reshape(frame, 4, 3).T
    half = 0.5 * move[3:]
    tilde = skew(half)
    turn = ca.SX.eye(3) + (2 / (1 + dot(half, half))) * (tilde + tilde @ tilde)
    moved = ca.horzcat(turn @ rows[:, :3], rows[:, 3] + move[:3])
    return ca.vertcat(ca.vec(moved.T), 0, 0, 0, 1)


def _tidy(pose: ca.SX) -> ca.SX:
    """The rounding of many small turns removed: R -> R (3 - R^T R)/2."""
    rows = ca.reshape(pose[:12], 4, 3).T
    axes = rows[:, :3]
    axes = axes @ (1.5 * ca.SX.eye(3) - 0.5 * (axes.T @ axes))
    return ca.vertcat(ca.vec(ca.horzcat(axes, rows[:, 3]).T), 0, 0, 0, 1)
