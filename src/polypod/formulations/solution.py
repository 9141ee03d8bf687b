"""From generalized forces to actuator forces: what every formulation ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from ..mechanism import LegAtState, Mechanism
from ..mechanism.drive_bounds import DriveBounds
from ..platforms import Inputs
from ..symbols.bounded import nearest_within
from ..symbols.expression import Port
from ..symbols.linear import Solution, solve_general, solve_least_norm


@dataclass(frozen=True)
class ForceDistribution:
    """How more actuators than degrees of freedom share their work: near to preferred forces, in a weighted norm.

    f minimises sum w_i (f_i - p_i)^2 among the forces, friction of the actuated joints included, that move the robot
    as asked, and that the ``drives`` give; where there are none, among those that exceed their ranges least. Of a
    mechanism with ``bounded_forces`` it does so among those from ``low`` to ``high``, and is NaN if there are none.
    """

    weights: Port
    preferred: Port
    bounds: tuple[Port, ...] = ()
    drives: DriveBounds | None = None

    @staticmethod
    def of(mechanism: Mechanism) -> ForceDistribution | None:
        """Inputs of a robot with more actuators than degrees of freedom; None for others."""
        if not mechanism.redundant:
            return None
        n = len(mechanism.actuators)
        weights, preferred = ca.SX.sym("weights", n), ca.SX.sym("preload", n)
        names = ("low", "high") if mechanism.bounded_forces else ()
        bounds = tuple(Port(name, ca.SX.sym(name, n), (n,)) for name in names)
        drives = None if mechanism.bounded_forces else mechanism.drive_bounds
        return ForceDistribution(Port("weights", weights, (n,)), Port("preload", preferred, (n,)), bounds, drives)

    @property
    def ports(self) -> tuple[Port, ...]:
        """The inputs it adds to a function."""
        return (self.weights, self.preferred, *self.bounds)


def motion_inputs(x: Inputs, distribution: ForceDistribution | None, loads: tuple[Port, ...]) -> tuple[Port, ...]:
    """Inputs of inverse dynamics in order: state, acceleration, wrench, distribution, loads of dry friction."""
    return (*x.state, x.acceleration, x.wrench, *(distribution.ports if distribution else ()), *loads)


def actuator_forces(
    jacobian: ca.SX,
    need: ca.SX,
    distribution: ForceDistribution | None,
    friction: ca.SX,
    legs: Sequence[LegAtState],
) -> Solution:
    """f of J^T f = w for J (n, m): the only one for n = m; for n > m the one whose sum with what overcomes ``friction``
    in the actuated joints (n), which is what actuators apply, is nearest to the preferred forces, within bounds if
    there are any; those of drives depend on the motion of the ``legs``."""
    if distribution is None:
        return solve_general(jacobian.T, need)
    weights = distribution.weights.symbols
    nearest = solve_least_norm(jacobian, need, weights, distribution.preferred.symbols - friction)
    if distribution.bounds:
        low, high = (bound.symbols - friction for bound in distribution.bounds)
        return replace(nearest, x=nearest_within(nearest.x, jacobian, weights, low, high))
    if distribution.drives is None:
        return nearest
    low, high, size = distribution.drives.at(legs)
    return replace(nearest, x=nearest_within(nearest.x, jacobian, weights, low - friction, high - friction, size))
