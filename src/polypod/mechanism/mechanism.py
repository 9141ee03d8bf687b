"""A whole robot in symbols: platform and legs, joined at the attachment points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ..description import Robot
from ..errors import InputError
from ..legs import Leg
from ..symbols.tape import Replay
from ..symbols.vectors import cross, skew
from .leg import LegModel
from .platform import Freedoms, Inertia, Motion
from .simplify import Simplification


@dataclass(frozen=True)
class Attached:
    """A leg at one state: the arm from {P}'s origin to its tip in base axes, its input series and its values."""

    model: LegModel
    arm: ca.SX
    series: tuple[ca.SX, ca.SX, ca.SX]
    axes: ca.SX

    @cached_property
    def values(self) -> Replay:
        """Values of the leg's vectors at the tip, for first derivatives."""
        return self.model.at(self.series[0])

    @cached_property
    def along(self) -> ca.SX:
        """dq/d(inputs) as a column: the direction in which a force at the tip drives the actuator."""
        return self.model.coordinate_row(self.values)

    @cached_property
    def row(self) -> ca.SX:
        """dq/d(twist), a column of six: the leg's row of the Jacobian."""
        return self.wrench(self.along)

    @cached_property
    def rate(self) -> ca.SX:
        """Rate of the actuated coordinate along the tip's motion."""
        return ca.dot(self.along, self.series[1])

    @cached_property
    def margins(self) -> list[ca.SX]:
        """Margins of the leg's watched conditions at this tip."""
        return [self.at_tip(condition.margin) for condition in self.model.placement.conditions if condition.watched]

    def at_tip(self, expression: ca.SX) -> ca.SX:
        """Any expression of the leg's placement, at this tip."""
        here = ca.vertcat(self.series[0][:3], ca.vec(self.axes))
        return ca.substitute(expression, self.model.all_inputs, here)

    def wrench(self, force: ca.SX) -> ca.SX:
        """Generalized force on the leg's inputs as a wrench at the origin of {P}, base axes."""
        f = force[:3]
        moment = cross(self.arm, f)
        if self.model.uses_axes:
            g = ca.reshape(force[3:], 3, 3)
            for k in range(3):
                moment = moment + cross(self.axes[:, k], g[:, k])
        return ca.vertcat(f, moment)

    def twist_map(self) -> ca.SX:
        """d(inputs)/d(twist): [1, -arm~], and for the axes [0, -axis_k~]."""
        rows = [ca.horzcat(ca.SX.eye(3), -skew(self.arm))]
        if self.model.uses_axes:
            rows += [ca.horzcat(ca.SX(3, 3), -skew(self.axes[:, k])) for k in range(3)]
        return ca.vertcat(*rows)

    def transported(self, inertia: ca.SX) -> ca.SX:
        """An inertia matrix of the leg's inputs, with respect to the twist (6, 6)."""
        if self.model.uses_axes:
            carry = self.twist_map()
            return carry.T @ inertia @ carry
        # [A, -A r~; r~ A, -r~ A r~] with A symmetric: three products of 3x3 matrices are all it takes.
        arm = skew(self.arm)
        across = arm @ inertia
        turn = -across @ arm
        for i in range(3):
            for j in range(i):
                turn[i, j] = turn[j, i]
        return ca.vertcat(ca.horzcat(inertia, across.T), ca.horzcat(across, turn))


class Mechanism:
    """Symbols of a robot; formulations read it, kernels never see it."""

    def __init__(self, robot: Robot, simplify: Simplification | None = None) -> None:
        self.robot, self.simplify = robot, simplify
        self.freedoms = Freedoms(robot)
        self.platform = Inertia.of(robot)
        self.gravity = ca.SX(ca.DM(robot.gravity))
        for leg in robot.legs:
            if not isinstance(leg, Leg):
                raise InputError(f"{leg.name}: the kind {leg.kind!r} has no place(); derive it from polypod.legs.Leg")
        self.legs = [LegModel(leg, simplify) for leg in robot.legs if isinstance(leg, Leg)]

    def attach(self, motion: Motion) -> list[Attached]:
        """Every leg at the platform's motion."""
        attached = []
        for leg in self.legs:
            arm = motion.frame.axes @ leg.arm
            series = motion.series(arm)
            if leg.uses_axes:
                turned = motion.axes_series()
                zero, first, half = (ca.vertcat(s, t) for s, t in zip(series, turned, strict=True))
                series = zero, first, half
            attached.append(Attached(leg, arm, series, motion.frame.axes))
        return attached

    def jacobian(self, attached: list[Attached]) -> ca.SX:
        """J with qdot = J u, (n, m)."""
        rows = ca.horzcat(*[leg.row for leg in attached]).T
        return rows if self.freedoms.full else rows @ ca.DM(self.freedoms.basis)

    def quality(self, attached: list[Attached], solve: ca.SX) -> ca.SX:
        """The smallest margin of a state: of its linear solve and of every leg's conditions; 1 is good, 0 is lost."""
        smallest = solve
        for leg in attached:
            for margin in leg.margins:
                smallest = ca.fmin(smallest, margin)
        return smallest

    def in_freedoms(self, wrench: ca.SX) -> ca.SX:
        """Generalized force of the m freedoms from a wrench: S^T w."""
        return wrench if self.freedoms.full else ca.DM(self.freedoms.basis.T) @ wrench
