"""A leg in a frame that moves with the leg: few numbers move there and many are zero.

The leg's laws know no direction of the base but those its numbers and gravity state. Turned together with all of them
it needs the turned forces: y = E Y(q, E^T z, E^T g) with its own axes E(x) and the numbers q(x) that it has there; its
inertia is E A(q) E^T. So with E moving by phi = Omega dx and q by Q dx, both in these axes,

    dy = E (Y_q Q + Y_z z~ Omega + Y_g g~ Omega - y~ Omega) E^T dx + E Y_z E^T dz.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..lazy import lazy
from ..legs.contract import LegFrame
from ..platforms import Tip
from ..platforms.motion import Turning
from ..symbols.implicit import ImplicitTape, SolvedTape
from ..symbols.tape import Tape
from ..symbols.vectors import Frame, norm
from .leg import LegModel, PlacedLeg
from .leg_at_state import LegAtState
from .mechanism import Mechanism

_SAMPLES = 8
"""Robots of varied numbers in which values of a leg that are the same are so by an identity."""
_STEPS = (0.01, -0.01, 1e-3, -1e-3, 0.0)
"""Displacements from home, relative to the platform's arm, at one of which a leg is compared with itself there."""
_ALIKE = 1e-6
"""Difference of their derivatives, relative to the largest, that may be rounding near the edge of a leg's reach."""
_REACH = 0.1
"""How far their tips are from home, relative to the platform's arm."""


@dataclass(frozen=True)
class LegInLegFrame:
    """A leg in a frame that moves with it: ``model`` and ``tip`` (3) are functions of the numbers ``q`` (k).

    ``turn`` (3, 3) is Omega and ``derivatives`` (k, 3) is Q, functions of q.
    """

    model: LegModel
    q: ca.SX
    tip: ca.SX
    moves: tuple[bool, ...]

    @staticmethod
    def of(mechanism: Mechanism, leg: LegModel, checked: bool = False) -> LegInLegFrame | None:
        """Of a leg that states its own axes; None also if the leg does not reach the tips at which it is checked.

        A leg that differs from another one in its numbers alone need not be ``checked`` again.
        """
        here = Frame.symbols("tip")
        own = leg.leg.leg_frame(here) if leg.leg.frame_is_of_placement() else None
        if own is None:
            return None
        parts = [own.tip, *own.fields.values()]
        moves = tuple(bool(ca.depends_on(x, here.origin)) for x in _entries(own))
        moving = [_inside_root(x) for x, moved in zip(_entries(own), moves, strict=True) if moved]
        q = ca.SX.sym("q", len(moving))
        seen = iter([ca.sqrt(q[k]) if root else q[k] for k, (_, root) in enumerate(moving)])
        mask = iter(moves)
        tip, *fields = (ca.vertcat(*[next(seen) if next(mask) else x for x in ca.vertsplit(p)]) for p in parts)
        twin = leg.leg.as_in_leg_frame(dict(zip(own.fields, fields, strict=True)))
        placed = PlacedLeg.of(twin)
        for friction in leg.placement.frictions:
            if not friction.coupling:  # brakes of the robot, which the leg's own data do not have
                placed = placed.with_friction(friction)
        carried = mechanism.base is not None
        model = LegModel(placed, mechanism.numbers, mechanism.simplify, seen=q, moving_base=carried)
        view = LegInLegFrame(model, q, tip, moves)
        if not (checked or view._checked(mechanism, leg)):
            return None
        view._simplify(mechanism, leg)
        return view

    @lazy
    def _derivatives(self) -> ca.SX:
        """[Omega; Q] (3 + k, 3)."""
        here = Frame.symbols("tip")
        axes, q = self.at(self.model, here.origin)
        tilt = ca.vertcat(axes[2, 1], axes[0, 2], axes[1, 0])
        return ca.substitute(ca.jacobian(ca.vertcat(tilt, q), here.origin), here.origin, self.tip)

    @property
    def turn(self) -> ca.SX:
        """Omega (3, 3)."""
        return self._derivatives[:3, :]

    @property
    def derivatives(self) -> ca.SX:
        """Q (k, 3)."""
        return self._derivatives[3:, :]

    def at(self, leg: LegModel, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The axes (3x3) and the numbers q of a leg whose tip is at a point."""
        own = leg.leg.leg_frame(Frame(point, ca.SX.eye(3)))
        q = [_inside_root(x)[0] for x, moved in zip(_entries(own), self.moves, strict=True) if moved]
        return own.axes, ca.vertcat(*q, ca.SX(0, 1))

    def _simplify(self, mechanism: Mechanism, leg: LegModel) -> None:
        """Let the leg's functions know the values that are the same in its frame wherever it is, of any numbers."""
        point, numbers = ca.SX.sym("point", 3), mechanism.numbers
        _, q = self.at(leg, point)
        tapes = [tape for tape in (self.model.tape, self.model.coordinate_tape) if not isinstance(tape, ImplicitTape)]
        values = ca.substitute([ca.densify(tape.all_values(self.tip)) for tape in tapes], [self.q], [q])
        home = mechanism.home.origin + mechanism.home.axes @ leg.arm
        function = ca.Function("values", [point, numbers.symbols], [home, norm(leg.arm), *values])
        samples: list[list[Array]] = []
        for varied, move in numbers.varied(_SAMPLES):
            where, size, *_ = (np.array(part).ravel() for part in function(np.zeros(3), varied))
            found = [np.array(part).ravel() for part in function(where + _REACH * size * move, varied)[2:]]
            if all(np.isfinite(row).all() for row in found):
                samples.append(found)
        if 2 * len(samples) >= _SAMPLES:
            rows = [np.array(column) for column in zip(*samples, strict=True)]
            self.model.tape, self.model.coordinate_tape = map(_knowing, tapes, rows)

    def _checked(self, mechanism: Mechanism, leg: LegModel) -> bool:
        """Raise if near home the leg's vectors and coordinates do not move as seen from its own axes.

        False if the leg does not reach there: nothing can be compared.
        """
        if mechanism.base is not None and not self._same_place(mechanism, leg):
            return False
        home, step = mechanism.home, ca.SX.sym("step")
        point = home.origin + home.axes @ leg.arm + step * ca.DM([1, 2, 3]) * ca.norm_2(leg.arm)
        axes, q = self.at(leg, point)
        seen = ca.substitute(self.model.at(self.tip).jacobian(), self.q, q) @ axes.T
        turning = {ref for body in leg.vectors.bodies.values() for ref in body.refs if isinstance(ref, int)}
        blocks = [axes if k in turning else ca.SX.eye(3) for k in range(len(leg.columns))]
        turned = ca.diagcat(*blocks, ca.SX.eye(seen.size1() - 3 * len(blocks)))
        both = ca.Function("both", [step, mechanism.numbers.symbols], [leg.at(point).jacobian(), turned @ seen])
        # home may be at the edge of the leg's reach
        found = [[np.array(part) for part in both(one, mechanism.numbers.values)] for one in _STEPS]
        reached = [pair for pair in found if np.isfinite(pair[0]).all()]
        if not reached:
            return False
        own, there = reached[0]
        if not np.abs(own - there).max() <= _ALIKE * np.abs(own).max():
            raise InputError(
                f"{leg.name}: leg_frame() of {type(leg.leg).__name__} does not describe the same leg as place(): "
                "transformed into its frame the leg moves differently; express every quantity of the base frame "
                "in it"
            )
        return True

    def _same_place(self, mechanism: Mechanism, leg: LegModel) -> bool:
        """Whether all bodies of the leg are in its frame where they are in the base, those that stand still too.

        A base that moves carries these; where it stands still, a kind may place them as suits it.
        """
        home, step = mechanism.home, ca.SX.sym("step")
        point = home.origin + home.axes @ leg.arm + step * ca.DM([1, 2, 3]) * ca.norm_2(leg.arm)
        axes, q = self.at(leg, point)
        seen, origin = (ca.substitute(part, self.q, q) for part in (self.model.at(self.tip).y, self.tip))
        there, here = axes @ self.model.vectors_of(seen), leg.vectors_of(leg.at(point).y)
        gaps = [ca.SX(0)]
        for name, body in leg.vectors.bodies.items():
            own = self.model.vectors.bodies[name]
            gaps += [ca.norm_2(there[:, own.refs[k]] - here[:, body.refs[k]]) for k in range(3)]
            arm = there[:, own.refs[3]] - axes @ origin - (here[:, body.refs[3]] - point)
            gaps.append(ca.norm_2(arm) / ca.norm_2(leg.arm))
        function = ca.Function("same", [step, mechanism.numbers.symbols], [ca.mmax(ca.vertcat(*gaps))])
        found = [float(function(one, mechanism.numbers.values)) for one in _STEPS]
        return any(gap <= _ALIKE for gap in found)


@dataclass(frozen=True)
class SeenLeg:
    """A leg at a state as seen in its own frame: ``leg`` has symbols for what moves, ``gravity`` (3) is one of them.

    ``axes`` (3, 3) are those of the frame at the state and ``origin`` (3) is where it is, in the base; ``at`` gives
    expressions of the symbols their values there. On a base that moves the acceleration of ``origin`` is in gravity.
    """

    leg: LegAtState
    gravity: ca.SX
    axes: ca.SX
    origin: ca.SX
    gravity_in_base: ca.SX
    symbols: ca.SX
    values: ca.SX

    @staticmethod
    def of(view: LegInLegFrame, leg: LegAtState, gravity: ca.SX) -> SeenLeg:
        """A leg in the frame of ``view``."""
        axes, q = view.at(leg.model, leg.tip.series[0])
        names = ("rate", "half", "spin", "gravity")
        rate, half, spin, down = (ca.SX.sym(name, 3) for name in names)
        origin, base, turning = leg.tip.series[0] - axes @ ca.substitute(view.tip, view.q, q), leg.platform.base, None
        vectors, symbols = [*leg.tip.series[1:], leg.tip.spin, gravity], [view.q, rate, half, spin, down]
        if base is not None:
            turning = Turning(ca.SX.sym("omega", 3), ca.SX.sym("alpha", 3))
            vectors[-1] = gravity - base.acceleration_at(origin)
            vectors, symbols = [*vectors, base.omega, base.alpha], [*symbols, turning.omega, turning.alpha]
        values = ca.vertcat(q, *[axes.T @ vector for vector in vectors])
        tip = Tip(leg.tip.arm, leg.tip.axes, (view.tip, rate, half), leg.tip.axes_series, spin)
        own = LegAtState(leg.number, view.model, leg.platform, tip, turning=turning)
        return SeenLeg(own, down, axes, origin, vectors[3 if base is None else -3], ca.vertcat(*symbols), values)

    def at(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions of the leg in its frame, at the state."""
        return [ca.densify(x) for x in ca.substitute(expressions, [self.symbols], [self.values])]


def _knowing(tape: Tape | SolvedTape, samples: Array) -> Tape | SolvedTape:
    return tape.knowing(samples)


def _entries(own: LegFrame) -> list[ca.SX]:
    """Every number of a leg in its frame."""
    return list(ca.vertsplit(ca.vertcat(own.tip, *own.fields.values())))


def _inside_root(x: ca.SX) -> tuple[ca.SX, bool]:
    """A number, or what it is the root of, and whether it is one."""
    return (x.dep(0), True) if x.is_op(ca.OP_SQRT) else (x, False)


def leg_frames(mechanism: Mechanism) -> list[LegInLegFrame | None]:
    """Every leg of a mechanism in its own frame; None for those that have none."""

    def found() -> list[LegInLegFrame | None]:
        checked: set[object] = set()
        views = []
        for leg in mechanism.legs:
            kind = (type(leg.leg), leg.tape.operations) if isinstance(leg.tape, Tape) else None
            views.append(LegInLegFrame.of(mechanism, leg, kind in checked))
            if kind is not None and views[-1] is not None:
                checked.add(kind)
        return views

    return mechanism.kept((__name__, "frames"), found)
