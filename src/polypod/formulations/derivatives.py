"""Derivatives of dynamics in symbols, by state, wrench and numbers.

The residual r = w(motion) - w_ext - J^T (f - friction) of virtual power vanishes along every motion. With the forces f
solved for, J^T df = dr; with the acceleration, M da = -dr: one factorised matrix serves all directions and nothing is
differentiated through a solve. A leg enters r by the force on its tip alone, a function of the tip's series: its slopes
come from one backward sweep a component; of a leg that is closed by iterating, through one step of Newton at the closed
place, whose slopes are those of the solution. A pose is varied by a twist on its left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..errors import InputError
from ..friction import JointFriction, Loads, has_dry_friction, loaded_joints
from ..mechanism import LegAtState, Mechanism
from ..platforms import Inputs, PlatformState, Tip
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import GeneralFactor, SymmetricFactor
from ..symbols.vectors import Frame, skew, symmetric
from .dry_friction import DryFriction
from .virtual_power import State, direct_solution

BLOCKS = {
    "inverse_dynamics": ("pose", "twist", "acceleration", "wrench"),
    "direct_dynamics": ("pose", "twist", "force", "wrench"),
}
ELASTIC_BLOCKS = ("elastic", "elastic_rate")


@dataclass(frozen=True)
class _LegSlopes:
    """What a leg puts into r as y (k) of its tip's series z, with dy/dz and dy/d(numbers) at the state.

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


def _leg_slopes(
    mechanism: Mechanism, leg: LegAtState, force: ca.SX, friction: bool, loads: Loads | None, numbers: ca.SX
) -> _LegSlopes:
    def fresh(name: str, length: int) -> ca.SX:
        return ca.SX.sym(name, length)

    turned = 9 if leg.model.uses_axes else 0
    points = [fresh(f"x{k}", 3) for k in range(3)]
    turns = [fresh(f"e{k}", turned) if turned else ca.SX(leg.tip.turning[k]) for k in range(3)]
    spin = fresh("spin", 3)
    axes = ca.reshape(turns[0], 3, 3)
    tip = Tip(leg.tip.arm, axes, (points[0], points[1], points[2]), (turns[0], turns[1], turns[2]), spin)
    local = LegAtState(leg.number, leg.model, leg.platform, tip)
    joints = JointFriction.of(local, friction, loads)
    state = State(mechanism, leg.platform, [local], [joints])
    pull = state.tip_force(0)
    driven, applied = joints.at_actuators, fresh("f", len(leg.model.actuators))
    for k, slope in enumerate(local.slopes):
        pull = pull - (applied[k] - driven[k]) * slope
    on_platform = joints.on_platform
    y = ca.vertcat(pull, on_platform.force, on_platform.moment)
    moving = [*points, *(turns if turned else []), spin]
    z = ca.vertcat(*moving, numbers)
    rest = mechanism.numbers.symbols
    chosen = {numbers[k].element_hash() for k in range(numbers.numel())}
    kept = [k for k in range(rest.numel()) if rest[k].element_hash() not in chosen]
    rest = rest[kept]
    given = loads.port.symbols if loads is not None and loads.port is not None else ca.SX(0, 1)
    # three outputs and many inputs: CasADi sweeps backwards
    place = leg.model.unknowns.place if leg.model.unknowns is not None else ca.SX(0, 1)
    function = ca.Function("leg", [z, rest, applied, given, place], ca.cse([y, ca.jacobian(y, z)]))
    values = ca.vertcat(_tip_numbers(leg), numbers)
    slopes = function(values, rest, force, given, place)
    size = values.numel() - numbers.numel()
    by_tip = slopes[1][:, :size]
    if not turned:  # by its acceleration: the leg's inertia
        by_tip[:3, 6:9] = symmetric(by_tip[:3, 6:9])
    return _LegSlopes(leg, slopes[0], by_tip, slopes[1][:, size:])


def _tip_numbers(leg: LegAtState) -> ca.SX:
    """The tip's series z as one column."""
    turning = leg.tip.turning if leg.model.uses_axes else ()
    return ca.vertcat(*leg.tip.series, *turning, leg.tip.spin)


class _Residual:
    """r and its slopes at a state of the inputs, for given accelerations and forces."""

    def __init__(
        self,
        mechanism: Mechanism,
        x: Inputs,
        acceleration: ca.SX,
        force: ca.SX,
        friction: bool,
        loads: Loads | None,
        numbers: ca.SX,
    ) -> None:
        self.mechanism, self.x, self.numbers = mechanism, x, numbers
        self.acceleration = ca.densify(acceleration)
        here = mechanism.platform.at(x, x.twist.symbols, acceleration)
        self.platform = here
        self.legs = []
        place = 0
        for leg in mechanism.attach(here):
            own = force[place : place + len(leg.model.actuators)]
            place += len(leg.model.actuators)
            self.legs.append(_leg_slopes(mechanism, leg, own, friction, loads, numbers))

    def slopes(self, blocks: Sequence[str]) -> list[ca.SX]:
        """dr/d(block), (m, k) each; blocks among pose, twist, acceleration, wrench, parameters."""
        mechanism, x = self.mechanism, self.x
        move, twist, change = (ca.SX.sym(name, 6) for name in ("move", "twist", "change"))
        moved = mechanism.inputs()
        frame = frame_of(x.pose.symbols)
        turned = Frame(frame.origin + move[:3], frame.axes + skew(move[3:]) @ frame.axes)
        moved.pose = Port("pose", pose_of(turned), (4, 4))
        platform = mechanism.platform.at(moved, twist, change)
        legs = mechanism.attach(platform)
        directions = {"pose": move, "twist": twist, "acceleration": change}
        wanted = [b for b in blocks if b in directions]
        u = ca.vertcat(*[directions[b] for b in wanted])
        total = _jacobian(platform.required_wrench - platform.external(x.wrench.symbols), u)
        for slopes, leg in zip(self.legs, legs, strict=True):
            y = ca.SX.sym("y", slopes.y.numel())
            put = slopes.residual(leg, y)
            by_y, by_u = _jacobian(put, y), _jacobian(put, u)
            through = by_y @ (slopes.by_tip @ _jacobian(_tip_numbers(leg), u))
            total = total + ca.substitute(by_u, y, slopes.y) + through
        here = [ca.SX.zeros(6), x.twist.symbols, self.acceleration]
        reduced = self.platform.reduced(ca.substitute([total], [move, twist, change], here)[0])
        found = {b: reduced[:, 6 * k : 6 * k + 6] for k, b in enumerate(wanted)}
        if "wrench" in blocks:
            w = ca.SX.sym("w", 6)
            found["wrench"] = -self.platform.reduced(_jacobian(self.platform.external(w), w))
        if "parameters" in blocks:
            found["parameters"] = self._by_numbers(platform, [move, twist, change], here)
        return [ca.densify(found[b]) for b in blocks]

    def _by_numbers(self, platform: PlatformState, symbols: list[ca.SX], here: list[ca.SX]) -> ca.SX:
        """dr/d(numbers): the platform's own, those of the attachment points, and the legs'."""
        total = _jacobian(platform.required_wrench - platform.external(self.x.wrench.symbols), self.numbers)
        for slopes, leg in zip(self.legs, self.mechanism.attach(platform), strict=True):
            y = ca.SX.sym("y", slopes.y.numel())
            put = slopes.residual(leg, y)
            inner = slopes.by_numbers + slopes.by_tip @ _jacobian(_tip_numbers(leg), self.numbers)
            total = total + ca.substitute(_jacobian(put, self.numbers), y, slopes.y) + _jacobian(put, y) @ inner
        return self.platform.reduced(ca.substitute([total], symbols, here)[0])


def _jacobian(expression: ca.SX, by: ca.SX) -> ca.SX:
    return ca.jacobian(expression, by)


def _refuse(mechanism: Mechanism, direct: bool = False) -> None:
    """Raise for robots whose derivatives are not compiled."""
    if mechanism.platform.elastic:
        raise InputError("derivatives: those of robots with a flexible platform are not compiled")
    if mechanism.redundant and not direct:
        raise InputError("derivatives: forces of more actuators than freedoms have no compiled ones")


def differentiable_loads(mechanism: Mechanism, friction: bool, dry: DryFriction, direct: bool = False) -> Loads | None:
    """What dry friction takes of the state alone, for robots and friction that have compiled derivatives."""
    _refuse(mechanism, direct)
    if not friction or not has_dry_friction(mechanism):
        return None
    if loaded_joints(mechanism):
        raise InputError(
            "derivatives: those of dry friction that depends on reactions are not compiled; pass friction=False"
        )
    return Loads(dry.law)


def derivatives(
    mechanism: Mechanism, name: str, wrt: tuple[str, ...], numbers: ca.SX, friction: bool, dry: DryFriction
) -> Expression:
    """One output a block: d(force or acceleration)/d(input), (n, k); ``numbers`` are symbols of the parameter port."""
    loads, x = differentiable_loads(mechanism, friction, dry, name == "direct_dynamics"), mechanism.inputs()
    if name == "direct_dynamics":
        return _direct(mechanism, x, wrt, numbers, friction, loads)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, platform, friction, loads)
    factor = GeneralFactor(state.jacobian.T)
    need = state.required_wrench - state.external(x.wrench.symbols)
    force = factor.solve(need) + (state.driven_friction if friction else 0)
    residual = _Residual(mechanism, x, x.acceleration.symbols, force, friction, loads, numbers)
    outputs = _solved(factor, wrt, residual.slopes(wrt), 1.0)
    quality = port("quality", mechanism.quality(state.legs, factor.quality), ())
    inputs = (*x.state, x.acceleration, x.wrench)
    return Expression("inverse_dynamics_derivatives", inputs, (*outputs, quality), mechanism.port)


def _direct(
    mechanism: Mechanism, x: Inputs, wrt: tuple[str, ...], numbers: ca.SX, friction: bool, loads: Loads | None
) -> Expression:
    solution = direct_solution(mechanism, x, friction, loads)
    rest = State.of(mechanism, mechanism.platform.rest(x), False, None)
    factor = SymmetricFactor(rest.mass)
    residual = _Residual(mechanism, x, solution.acceleration, x.force.symbols, friction, loads, numbers)
    blocks = [b for b in wrt if b != "force"]
    slopes = dict(zip(blocks, residual.slopes(blocks), strict=True)) | {"force": -rest.jacobian.T}
    columns = _solved(factor, wrt, [slopes[b] for b in wrt], -1.0)
    outputs = [port(p.name, rest.platform.acceleration(_matrix(p)), None) for p in columns]
    inputs = (*x.state, x.force, x.wrench)
    quality = port("quality", solution.quality, ())
    return Expression("direct_dynamics_derivatives", inputs, (*outputs, quality), mechanism.port)


def _solved(
    factor: GeneralFactor | SymmetricFactor, wrt: Sequence[str], slopes: Sequence[ca.SX], sign: float
) -> list[Port]:
    """A^-1 (sign * slopes) for every block."""
    outputs = []
    for block, slope in zip(wrt, slopes, strict=True):
        columns = [factor.solve(sign * slope[:, k]) for k in range(slope.size2())]
        matrix = ca.horzcat(*columns) if columns else ca.SX(factor.n, 0)
        outputs.append(port(f"by_{block}", matrix, (factor.n, slope.size2())))
    return outputs


def _matrix(p: Port) -> ca.SX:
    """The matrix of a port, which stores it by rows."""
    return ca.reshape(p.symbols, p.shape[1], p.shape[0]).T


def regressor(mechanism: Mechanism, columns: ca.SX, loads: Loads | None = None) -> Expression:
    """Y (n, k) with Y p = force: forces are linear in the ``columns`` of the port (moments, friction).

    Of more actuators than freedoms they are the forces of least norm.
    With ``loads``, which then are inputs if friction depends on any, columns may be coefficients of dry friction.
    """
    x = mechanism.inputs()
    if mechanism.platform.elastic:
        raise InputError(
            "regressor: forces of a robot with a flexible platform are not linear in its inertias, which decide how it "
            "vibrates too; model.derivatives has their slopes"
        )
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, platform, True, loads)
    zero = ca.SX.zeros(len(mechanism.actuators))
    residual = _Residual(mechanism, x, x.acceleration.symbols, zero, True, loads, columns)
    # A number acts through a wrench of few components: those are multiplied, not every column solved for.
    inverse, determined = _forces_of_wrenches(state.jacobian)
    matrix = inverse @ platform.reduced(_jacobian(platform.required_wrench, columns))
    for slopes in residual.legs:
        y = ca.SX.sym("y", slopes.y.numel())
        put = platform.reduced(_jacobian(slopes.residual(slopes.leg, y), y))
        matrix = matrix + (inverse @ put) @ slopes.by_numbers
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
