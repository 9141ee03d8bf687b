"""What a leg adds to the residual of virtual power, and its derivatives by the series of its tip.

A leg enters the residual by the force on its tip alone, a function of the tip's series: its derivatives come from
one backward sweep a component; of a leg that is closed by iterating, through one step of Newton at the closed place,
whose derivatives are those of the solution. A leg that states its own axes is differentiated there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..friction import JointFriction, Loads
from ..mechanism import LegAtState, LegModel, Mechanism
from ..mechanism.leg_frame import LegInLegFrame
from ..platforms import Tip
from ..platforms.contract import tip_map
from ..symbols.vectors import skew, symmetric, total
from .virtual_power import tip_force


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
        view = LegInLegFrame.of(mechanism, leg.model) if numbers.is_empty() else None
        self.derivatives = self._in_base(numbers) if view is None else self._in_leg_frame(view)

    def _y(self, model: LegModel, tip: Tip, gravity: ca.SX) -> ca.SX:
        leg = LegAtState(self._leg.number, model, self._leg.platform, tip)
        joints = JointFriction.of(leg, self._friction, self._loads)
        pull = tip_force(leg, joints, gravity)
        for k, slope in enumerate(leg.coordinate_gradients):
            pull = pull - (self._applied[k] - joints.at_actuators[k]) * slope
        on_platform = joints.on_platform
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
        tip = Tip(leg.tip.arm, axes, (points[0], points[1], points[2]), (turns[0], turns[1], turns[2]), spin)
        z = ca.vertcat(*points, *(turns if turned else []), spin, numbers)
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
        """By the equation of :mod:`polypod.mechanism.leg_frame`; z are rate, half acceleration and spin of the tip."""
        leg = self._leg
        axes, q = LegInLegFrame.at(leg.model, leg.tip.series[0])
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
    """The tip's series z as one column."""
    turning = leg.tip.axes_series if leg.model.uses_axes else ()
    return ca.vertcat(*leg.tip.series, *turning, leg.tip.spin)
