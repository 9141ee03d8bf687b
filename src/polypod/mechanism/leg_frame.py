"""A leg in a frame that moves with the leg: few numbers move there and many are zero.

The leg's laws know no direction of the base but those its numbers and gravity state. Turned together with all of them
it needs the turned forces: y = E Y(q, E^T z, E^T g) with its own axes E(x) and the numbers q(x) that it has there. So
with E moving by phi = Omega dx and q by Q dx, both in these axes,

    dy = E (Y_q Q + Y_z z~ Omega + Y_g g~ Omega - y~ Omega) E^T dx + E Y_z E^T dz.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import InputError
from ..legs.contract import LegFrame
from ..symbols.vectors import Frame
from .leg import LegModel, PlacedLeg
from .mechanism import Mechanism


@dataclass(frozen=True)
class LegInLegFrame:
    """A leg in a frame that moves with it: ``model`` and ``tip`` (3) are functions of the numbers ``q`` (k).

    ``turn`` (3, 3) is Omega and ``derivatives`` (k, 3) is Q, functions of q.
    """

    model: LegModel
    q: ca.SX
    tip: ca.SX
    turn: ca.SX
    derivatives: ca.SX

    @staticmethod
    def of(mechanism: Mechanism, leg: LegModel) -> LegInLegFrame | None:
        """Of a leg that states its own axes."""
        here = Frame.symbols("tip")
        own = leg.leg.leg_frame(here)
        if own is None:
            return None
        parts = [own.tip, *own.fields.values()]
        moving = _moving(own)
        q = ca.SX.sym("q", len(moving))
        seen = iter([ca.sqrt(q[k]) if root else q[k] for k, (_, root) in enumerate(moving)])
        tip, *fields = (ca.vertcat(*[x if x.is_constant() else next(seen) for x in ca.vertsplit(p)]) for p in parts)
        twin = leg.leg.model_copy(update=dict(zip(own.fields, fields, strict=True)))
        again = twin.leg_frame(here)
        axes = again.axes
        tilt = ca.vertcat(axes[2, 1], axes[0, 2], axes[1, 0])
        derivatives = ca.jacobian(ca.vertcat(tilt, *[value for value, _ in _moving(again)]), here.origin)
        derivatives = ca.substitute(derivatives, here.origin, tip)
        model = LegModel(PlacedLeg.of(twin), mechanism.numbers, mechanism.simplify, seen=q)
        view = LegInLegFrame(model, q, tip, derivatives[:3, :], derivatives[3:, :])
        view._check(mechanism, leg)
        return view

    def _check(self, mechanism: Mechanism, leg: LegModel) -> None:
        """Raise if near home the leg's vectors and coordinates do not move as seen from its own axes."""
        home = mechanism.home
        point = home.origin + home.axes @ leg.arm + 0.01 * ca.DM([1, 2, 3]) * ca.norm_2(leg.arm)
        axes, q = LegInLegFrame.at(leg, point)
        seen = ca.substitute(self.model.at(self.tip).jacobian(), self.q, q) @ axes.T
        turning = {ref for body in leg.vectors.bodies.values() for ref in body.refs if isinstance(ref, int)}
        blocks = [axes if k in turning else ca.SX.eye(3) for k in range(len(leg.columns))]
        turned = ca.diagcat(*blocks, ca.SX.eye(seen.size1() - 3 * len(blocks)))
        own, there = (mechanism.numbers.evaluate(part) for part in (leg.at(point).jacobian(), turned @ seen))
        if not np.abs(own - there).max() <= 1e-9 * np.abs(own).max():
            raise InputError(
                f"{leg.name}: leg_frame() of {type(leg.leg).__name__} does not describe the same leg as place(): "
                "transformed into its frame the leg moves differently; express every quantity of the base frame "
                "in it"
            )

    @staticmethod
    def at(leg: LegModel, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The axes (3x3) and the numbers q of a leg whose tip is at a point."""
        own = leg.leg.leg_frame(Frame(point, ca.SX.eye(3)))
        return own.axes, ca.vertcat(*[value for value, _ in _moving(own)])


def _moving(own: LegFrame) -> list[tuple[ca.SX, bool]]:
    """The numbers that are not constant, and whether they stand for their roots."""
    every = ca.vertsplit(ca.vertcat(own.tip, *own.fields.values()))
    return [(x.dep(0), True) if x.is_op(ca.OP_SQRT) else (x, False) for x in every if not x.is_constant()]
