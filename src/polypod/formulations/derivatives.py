"""Derivatives of dynamics in symbols, by state, wrench and numbers.

The residual r = w(motion) - w_ext - J^T (f - friction) of virtual power vanishes along every motion. With the forces f
solved for, J^T df = dr; with the acceleration, M da = -dr: one factorised matrix serves all directions and nothing is
differentiated through a solve. A pose is varied by a twist on its left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import casadi as ca

from ..errors import InputError
from ..friction import JointFriction, Loads, has_dry_friction, loaded_joints
from ..mechanism import LegAtState, LegModel, Mechanism
from ..mechanism.acting_elements import ActingElements, has_pushes
from ..mechanism.leg_frame import LegInLegFrame, leg_frames
from ..platforms import Inputs, PlatformState, Tip
from ..platforms.contract import tip_map
from ..platforms.motion import FrameMotion, frame_of, pose_of
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import GeneralFactor, SymmetricFactor
from ..symbols.vectors import Frame, skew, symmetric, total
from .dry_friction import DryFriction
from .virtual_power import State, direct_solution, tip_force

BLOCKS = {
    "inverse_dynamics": ("pose", "twist", "acceleration", "wrench"),
    "direct_dynamics": ("pose", "twist", "force", "wrench"),
}
MOTION = ("pose", "twist", "acceleration")
ELASTIC_BLOCKS = ("elastic", "elastic_rate")


class _Residual:
    """r and its derivatives at a state of the inputs, for given accelerations and forces."""

    def __init__(
        self, mechanism: Mechanism, x: Inputs, acceleration: ca.SX, friction: bool, loads: Loads | None, numbers: ca.SX
    ) -> None:
        self.mechanism, self.x, self.numbers = mechanism, x, numbers
        self.acceleration = ca.densify(acceleration)
        self.platform = mechanism.platform.at(x, x.twist.symbols, acceleration)
        self._contributions = [
            LegContribution(mechanism, leg, friction, loads, numbers) for leg in mechanism.attach(self.platform)
        ]

    def legs(self, force: ca.SX) -> list[LegDerivatives]:
        """What the legs add to r for forces of the actuators, with derivatives."""
        ends = list(accumulate((leg.actuators for leg in self._contributions), initial=0))
        return [leg.derivatives(force[a:b]) for leg, (a, b) in zip(self._contributions, pairwise(ends), strict=True)]

    def value(self, force: ca.SX) -> ca.SX:
        """r (m) itself."""
        total = self.platform.required_wrench - self.platform.external(self.x.wrench.symbols)
        if has_pushes(self.mechanism):
            total = total + _element_wrench(self.mechanism, self.platform)
        for one in self.legs(force):
            total = total + one.residual(one.leg, one.y)
        return self.platform.reduced(total)

    def derivatives(self, force: ca.SX, blocks: Sequence[str]) -> list[ca.SX]:
        """dr/d(block), (m, k) each; blocks among pose, twist, acceleration, wrench, parameters."""
        x, legs = self.x, self.legs(force)
        move, twist, change = (ca.SX.sym(name, 6) for name in ("move", "twist", "change"))
        moved = self.mechanism.inputs()
        frame = frame_of(x.pose.symbols)
        turned = Frame(frame.origin + move[:3], frame.axes + skew(move[3:]) @ frame.axes)
        moved.pose = Port("pose", pose_of(turned), (4, 4))
        platform = self.mechanism.platform.at(moved, twist, change)
        symbols, here = [move, twist, change], [ca.SX.zeros(6), x.twist.symbols, self.acceleration]
        required = platform.required_wrench - platform.external(x.wrench.symbols)
        if has_pushes(self.mechanism):
            required = required + _element_wrench(self.mechanism, platform)
        by_platform = ca.substitute([ca.jacobian(required, u) for u in symbols], symbols, here)
        kept = ca.jacobian(platform.velocity, twist)  # what a platform of lower mobility reads of a motion
        by_motion = zip(MOTION, by_platform, _of_legs(legs, self.platform.motion), strict=True)
        found = {name: self.platform.reduced(own + of_legs @ kept) for name, own, of_legs in by_motion}
        if "wrench" in blocks:
            w = ca.SX.sym("w", 6)
            found["wrench"] = -self.platform.reduced(ca.jacobian(self.platform.external(w), w))
        if "parameters" in blocks:
            found["parameters"] = self._by_numbers(legs, platform, symbols, here)
        return [ca.densify(found[b]) for b in blocks]

    def _by_numbers(
        self, legs: list[LegDerivatives], platform: PlatformState, symbols: list[ca.SX], here: list[ca.SX]
    ) -> ca.SX:
        """dr/d(numbers): the platform's own, those of the attachment points, and the legs'.

        ``platform`` is at symbols of a motion: that of ``platform`` may follow from the numbers.
        """
        total = ca.jacobian(platform.required_wrench, self.numbers)
        if has_pushes(self.mechanism):
            total = total + ca.jacobian(_element_wrench(self.mechanism, platform), self.numbers)
        for one, leg in zip(legs, self.mechanism.attach(platform), strict=True):
            y = ca.SX.sym("y", one.y.numel())
            put = one.residual(leg, y)
            inner = one.by_numbers + one.by_tip @ ca.jacobian(tip_numbers(leg), self.numbers)
            total = total + ca.substitute(ca.jacobian(put, self.numbers), y, one.y) + ca.jacobian(put, y) @ inner
        return self.platform.reduced(ca.substitute([total], symbols, here)[0])


def _element_wrench(mechanism: Mechanism, platform: PlatformState) -> ca.SX:
    """Generalized force (6) that overcomes the elements of a robot at a platform's state."""
    return ActingElements.of(mechanism, platform, mechanism.attach(platform)).required_wrench


def _of_legs(legs: Sequence[LegDerivatives], motion: FrameMotion) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Derivatives (6, 6) of what legs add to r by a platform's pose, twist and acceleration.

    A tip's point and axes c move by C d with a displacement d. If with d the origin's velocity changes by
    omega x dp and its acceleration by B dp, B = alpha~ + omega~ omega~, the rate of c changes by omega~ C d and its
    acceleration by B C d: a leg needs one product for its derivatives by all three. Likewise with a twist d, if the
    acceleration changes by [2 omega x dv; omega x domega], that of c changes by 2 omega~ C d. What that adds is taken
    away from the sums.
    """
    by_pose, by_twist, by_acceleration = (ca.SX.zeros(6, 6) for _ in range(3))
    omega, half = skew(motion.omega), motion.half_acceleration_matrix
    for leg in legs:
        size = leg.y.numel() - 6
        map_ = tip_map(leg.leg.tip)[:size, :]
        place, rate, second = (leg.by_tip[:, size * k : size * k + size] for k in range(3))
        spin = leg.by_tip[:, 3 * size :]
        carried = ca.diagcat(*[omega] * (size // 3))
        by_rate = rate + second @ carried
        by_place = place + (rate @ carried + second @ ca.diagcat(*[half] * (size // 3)))
        by_pose = by_pose + leg.on_platform(by_place @ map_)
        by_twist = by_twist + leg.on_platform(by_rate @ map_ + ca.horzcat(ca.SX(leg.y.numel(), 3), spin))
        inertia = leg.on_platform(0.5 * second @ map_)
        # a leg that takes the platform's axes need have an inertia along the robot's degrees of freedom only
        by_acceleration = by_acceleration + (symmetric(inertia) if size == 3 else inertia)
        by_pose[3:, 3:] = by_pose[3:, 3:] + leg.turned_arms
    by_twist = by_twist - by_acceleration @ ca.diagcat(2 * omega, omega)
    by_pose[:, :3] = by_pose[:, :3] - (by_twist[:, :3] @ omega + 2 * by_acceleration[:, :3] @ half)
    return by_pose, by_twist, by_acceleration


def _refuse(mechanism: Mechanism, direct: bool = False) -> None:
    """Raise for robots whose derivatives are not compiled."""
    if mechanism.platform.elastic:
        raise InputError("derivatives: not available for a flexible platform", code="flexible")
    if mechanism.redundant and not direct:
        raise InputError("derivatives: not available for forces of more actuators than degrees of freedom")


def differentiable_loads(mechanism: Mechanism, friction: bool, dry: DryFriction, direct: bool = False) -> Loads | None:
    """What dry friction takes of the state alone, for robots and friction that have compiled derivatives."""
    _refuse(mechanism, direct)
    if not friction or not has_dry_friction(mechanism):
        return None
    if loaded_joints(mechanism):
        raise InputError("derivatives: not available for dry friction that depends on reactions; pass friction=False")
    return Loads(dry.law)


def derivatives(
    mechanism: Mechanism, name: str, wrt: tuple[str, ...], numbers: ca.SX, friction: bool, dry: DryFriction
) -> Expression:
    """One output a block: d(force or acceleration)/d(input), (n, k); ``numbers`` are symbols of the parameter port."""
    loads, x = differentiable_loads(mechanism, friction, dry, name == "direct_dynamics"), mechanism.inputs()
    if name == "direct_dynamics":
        return _direct(mechanism, x, wrt, numbers, friction, loads)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    legs = mechanism.attach(platform)
    factor = GeneralFactor(mechanism.jacobian(legs).T)
    residual = _Residual(mechanism, x, x.acceleration.symbols, friction, loads, numbers)
    force = factor.solve(residual.value(ca.SX.zeros(len(mechanism.actuators))))
    outputs = _solved(factor, wrt, residual.derivatives(force, wrt), 1.0)
    quality = port("quality", mechanism.quality(legs, factor.quality), ())
    inputs = (*x.state, x.acceleration, x.wrench)
    return Expression("inverse_dynamics_derivatives", inputs, (*outputs, quality), mechanism.port)


def _direct(
    mechanism: Mechanism, x: Inputs, wrt: tuple[str, ...], numbers: ca.SX, friction: bool, loads: Loads | None
) -> Expression:
    solution = direct_solution(mechanism, x, friction, loads)
    rest = State.of(mechanism, mechanism.platform.rest(x), False, None)
    factor = SymmetricFactor(rest.mass)
    residual = _Residual(mechanism, x, solution.acceleration, friction, loads, numbers)
    blocks = [b for b in wrt if b != "force"]
    by_block = dict(zip(blocks, residual.derivatives(x.force.symbols, blocks), strict=True)) | {
        "force": -rest.jacobian.T
    }
    columns = _solved(factor, wrt, [by_block[b] for b in wrt], -1.0)
    # of one actuator by_force is a matrix (6, 1) all the same
    outputs = [port(p.name, rest.platform.acceleration(_matrix(p)), (6, p.shape[1])) for p in columns]
    inputs = (*x.state, x.force, x.wrench)
    quality = port("quality", solution.quality, ())
    return Expression("direct_dynamics_derivatives", inputs, (*outputs, quality), mechanism.port)


def _solved(
    factor: GeneralFactor | SymmetricFactor, wrt: Sequence[str], derivatives: Sequence[ca.SX], sign: float
) -> list[Port]:
    """A^-1 (sign * derivatives) for every block."""
    outputs = []
    for block, derivative in zip(wrt, derivatives, strict=True):
        columns = [factor.solve(sign * derivative[:, k]) for k in range(derivative.size2())]
        matrix = ca.horzcat(*columns) if columns else ca.SX(factor.n, 0)
        outputs.append(port(f"by_{block}", matrix, (factor.n, derivative.size2())))
    return outputs


def _matrix(p: Port) -> ca.SX:
    """The matrix of a port, which stores it by rows."""
    return ca.reshape(p.symbols, p.shape[1], p.shape[0]).T


def regressor(mechanism: Mechanism, columns: ca.SX, loads: Loads | None = None) -> Expression:
    """Y (n, k) with Y p = force: forces are linear in the ``columns`` of the port (moments, friction).

    Of more actuators than degrees of freedom they are the forces of least norm.
    With ``loads``, which then are inputs if friction depends on any, columns may be coefficients of dry friction.
    """
    x = mechanism.inputs()
    if mechanism.platform.elastic:
        raise InputError(
            "regressor: forces of a flexible platform are not linear in its inertias, which also determine how "
            "it vibrates; use model.derivatives"
        )
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, platform, True, loads)
    residual = _Residual(mechanism, x, x.acceleration.symbols, True, loads, columns)
    # A number acts through a wrench of few components: those are multiplied, not every column solved for.
    inverse, determined = _forces_of_wrenches(state.jacobian)
    matrix = inverse @ platform.reduced(ca.jacobian(platform.required_wrench, columns))
    if state.elements.elements:
        matrix = matrix + inverse @ platform.reduced(ca.jacobian(state.elements.required_wrench, columns))
    for one in residual.legs(ca.SX.zeros(len(mechanism.actuators))):
        y = ca.SX.sym("y", one.y.numel())
        put = platform.reduced(ca.jacobian(one.residual(one.leg, y), y))
        matrix = matrix + (inverse @ put) @ one.by_numbers
    quality = mechanism.quality(state.legs, determined)
    outputs = port("regressor", matrix, matrix.shape), port("quality", quality, ())
    given = () if loads is None else loads.ports
    return Expression("regressor", (*x.state, x.acceleration, *given), outputs, mechanism.port)


def _forces_of_wrenches(jacobian: ca.SX) -> tuple[ca.SX, ca.SX]:
    """N (n, m) with f = N w of J^T f = w, of least norm for n > m, and how far it is from undetermined."""
    n, m = jacobian.shape
    factor = GeneralFactor(jacobian.T) if n == m else SymmetricFactor(jacobian.T @ jacobian)
    columns = ca.horzcat(*[factor.solve(ca.densify(ca.SX.eye(m)[:, k])) for k in range(m)])
    return columns if n == m else jacobian @ columns, factor.quality


# ----------------------------------------------------------------------------------------------------------------------
# What a leg adds to the residual of virtual power, and its derivatives by the series of its tip.
#
# A leg enters the residual by the force on its tip alone, a function of the tip's series: its derivatives come from
# one backward sweep a component; of a leg that is closed by iterating, through one step of Newton at the closed place,
# whose derivatives are those of the solution. A leg that states its own axes is differentiated there.


@dataclass(frozen=True)
class LegDerivatives:
    """What a leg adds to r as y (k) of its tip's series z, with dy/dz and dy/d(numbers) at the state.

    y are the generalized force on the leg's inputs and the friction on the platform: force, moment about the tip.
    """

    leg: LegAtState
    y: ca.SX
    by_tip: ca.SX
    by_numbers: ca.SX

    def residual(self, leg: LegAtState, y: ca.SX) -> ca.SX:
        """y as a generalized force (6 + N) on the platform, at a leg that may be displaced."""
        size = self.y.numel() - 6
        on_platform = leg.force(y[size : size + 3]) + leg.platform.moment(leg.number, y[size + 3 :])
        return leg.force(y[:size]) - on_platform

    def on_platform(self, columns: ca.SX) -> ca.SX:
        """Changes (k, m) of y as forces (6, m) on a rigid platform: C^T on the inputs, a moment as it is."""
        size = self.y.numel() - 6
        on_inputs = columns[:size, :]
        on_inputs[:3, :] = on_inputs[:3, :] - columns[size : size + 3, :]
        wrench = tip_map(self.leg.tip)[:size, :].T @ on_inputs
        wrench[3:, :] = wrench[3:, :] - columns[size + 3 :, :]
        return wrench

    @property
    def turned_arms(self) -> ca.SX:
        """Derivatives (3, 3) of the moment by the platform's turn while y stays: sum f~ r~ over point and axes."""
        size = self.y.numel() - 6
        force = self.y[:size]
        force[:3] = force[:3] - self.y[size : size + 3]
        arms = tip_map(self.leg.tip)[:size, 3:]
        return total([-skew(force[k : k + 3]) @ arms[k : k + 3, :] for k in range(0, size, 3)], (3, 3))


class LegContribution:
    """What a leg adds to r, as a function of its tip's series and of the forces of its actuators.

    ``derivatives(force)`` are by the tip and by ``numbers`` of the parameter port.
    """

    def __init__(
        self, mechanism: Mechanism, leg: LegAtState, friction: bool, loads: Loads | None, numbers: ca.SX
    ) -> None:
        self._mechanism, self._leg, self._friction, self._loads = mechanism, leg, friction, loads
        self.actuators = len(leg.model.actuators)
        self._applied = ca.SX.sym("f", self.actuators)
        view = leg_frames(mechanism)[leg.number] if numbers.is_empty() and mechanism.base is None else None
        if view is not None and view.model.unknowns is not None:  # its frame is not differentiated through them
            view = None
        self.derivatives = self._in_base(numbers) if view is None else self._in_leg_frame(view)

    def _y(self, model: LegModel, tip: Tip, gravity: ca.SX) -> ca.SX:
        leg = LegAtState(self._leg.number, model, self._leg.platform, tip)
        joints = JointFriction.of(leg, self._friction, self._loads)
        pull = tip_force(leg, joints, gravity)
        for k, derivative in enumerate(leg.coordinate_gradients):
            pull = pull - (self._applied[k] - joints.at_actuators[k]) * derivative
        on_platform = joints.on_platform
        if pull.numel() > 12 and not tip.total:  # joints that are held take what is along them
            pull = pull[:12]
        return ca.vertcat(pull, on_platform.force, on_platform.moment)

    def _differentiated(self, y: ca.SX, z: ca.SX, values: ca.SX) -> Callable[[ca.SX], tuple[ca.SX, ca.SX]]:
        """y and dy/dz at values of z, as functions of the forces."""
        # three outputs and many inputs: CasADi sweeps backwards
        results = ca.cse([y, ca.jacobian(y, z)])
        own = {x.element_hash() for x in ca.symvar(ca.vertcat(z, self._applied))}
        rest = ca.vertcat(*[x for x in ca.symvar(ca.veccat(*results)) if x.element_hash() not in own], ca.SX(0, 1))
        function = ca.Function("leg", [z, self._applied, rest], results)

        def at(force: ca.SX) -> tuple[ca.SX, ca.SX]:
            own, by_z = function.call([values, force, rest])
            return own, by_z

        return at

    def _in_base(self, numbers: ca.SX) -> Callable[[ca.SX], LegDerivatives]:
        leg = self._leg
        turned = 9 if leg.model.uses_axes else 0
        points = [ca.SX.sym(f"x{k}", 3) for k in range(3)]
        turns = [ca.SX.sym(f"e{k}", turned) if turned else ca.SX(leg.tip.axes_series[k]) for k in range(3)]
        spin = ca.SX.sym("spin", 3)
        axes = ca.reshape(turns[0], 3, 3)
        tip = replace(
            leg.tip,
            axes=axes,
            series=(points[0], points[1], points[2]),
            axes_series=(turns[0], turns[1], turns[2]),
            spin=spin,
        )
        z = ca.vertcat(_in_orders(points, turns if turned else []), spin, numbers)
        y = self._y(leg.model, tip, self._mechanism.gravity)
        at = self._differentiated(y, z, ca.vertcat(tip_numbers(leg), numbers))
        size = z.numel() - numbers.numel()

        def derivatives(force: ca.SX) -> LegDerivatives:
            own, by_all = at(force)
            by_tip = by_all[:, :size]
            if not turned:  # by its acceleration: the leg's inertia
                by_tip[:3, 6:9] = symmetric(by_tip[:3, 6:9])
            return LegDerivatives(leg, own, by_tip, by_all[:, size:])

        return derivatives

    def _in_leg_frame(self, view: LegInLegFrame) -> Callable[[ca.SX], LegDerivatives]:
        """By the equation of ``polypod.mechanism.leg_frame``; z are rate, half acceleration and spin of the tip."""
        leg = self._leg
        axes, q = view.at(leg.model, leg.tip.series[0])
        k = q.numel()
        rates, gravity = [ca.SX.sym(name, 3) for name in ("rate", "half", "spin")], ca.SX.sym("gravity", 3)
        tip = Tip(leg.tip.arm, leg.tip.axes, (view.tip, rates[0], rates[1]), leg.tip.axes_series, rates[2])
        seen = [axes.T @ x for x in (*leg.tip.series[1:], leg.tip.spin, self._mechanism.gravity)]
        y = self._y(view.model, tip, gravity)
        at = self._differentiated(y, ca.vertcat(view.q, *rates, gravity), ca.vertcat(q, *seen))
        turn, moved = ca.substitute([view.turn, view.derivatives], [view.q], [q])

        def derivatives(force: ca.SX) -> LegDerivatives:
            own, by_all = at(force)
            by_tip, whole = ca.SX(own.numel(), 12), []
            for row in range(0, own.numel(), 3):
                here, rows = own[row : row + 3], by_all[row : row + 3, :]
                blocks = [rows[:, k + 3 * i : k + 3 * i + 3] for i in range(4)]
                turning = -skew(here)
                for block, vector in zip(blocks, seen, strict=True):
                    turning = turning + block @ skew(vector)
                if row == 0:  # by its acceleration: the leg's inertia
                    blocks[1] = symmetric(blocks[1])
                for i, block in enumerate([rows[:, :k] @ moved + turning @ turn, *blocks[:3]]):
                    in_base = axes @ block @ axes.T
                    by_tip[row : row + 3, 3 * i : 3 * i + 3] = symmetric(in_base) if (row, i) == (0, 2) else in_base
                whole.append(axes @ here)
            return LegDerivatives(leg, ca.vertcat(*whole), by_tip, ca.SX(own.numel(), 0))

        return derivatives


def tip_numbers(leg: LegAtState) -> ca.SX:
    """The tip's series z as one column: point (and axes) of order 0, 1 and 2, then the spin."""
    turning = leg.tip.axes_series if leg.model.uses_axes else ()
    return ca.vertcat(_in_orders(leg.tip.series, turning), leg.tip.spin)


def _in_orders(points: Sequence[ca.SX], turns: Sequence[ca.SX]) -> ca.SX:
    """Series of a point and, if there are any, of the axes as one column, one order after the other."""
    return ca.vertcat(*[x for order in zip(*([points, turns] if turns else [points]), strict=True) for x in order])
