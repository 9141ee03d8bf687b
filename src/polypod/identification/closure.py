"""Six equations between a robot's pose, its readings and its geometry, with exact derivatives by all of them."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..platforms.lower_mobility import DegreesOfFreedom
from ..symbols.expression import Expression, Iteration, port


def closure(mechanism: Mechanism, places: list[int]) -> Expression | Iteration:
    """Coordinates q and constraints c of a pose: ``values`` (6 + l), ``by_numbers`` (6 + l, k), ``rows`` (6 + l, 6).

    q first, then the independent constraints of legs of fewer than six degrees of freedom; the last l constraints
    follow from those before. ``places`` (k) are the entries of the parameter port to differentiate by; legs closed by
    iterating move along with them, since what a function returns is computed after a step of Newton. A pose may be any.
    """
    x, mobility = mechanism.inputs(), mechanism.mobility
    _, legs = mechanism.resting(x)
    values = [mechanism.coordinates(legs)]
    rows = [ca.horzcat(*[row for leg in legs for row in leg.rows]).T]
    if mobility is not None:
        for leg, k in (*mobility.used, *mobility.redundant):
            values.append(legs[leg].constraint_values[k])
            rows.append(legs[leg].constraint_rows[k].T)
    elif mechanism.robot.dof:
        # legs state no constraints: the platform keeps to its degrees of freedom whatever the numbers are
        basis = DegreesOfFreedom(mechanism.robot).basis
        still = np.linalg.svd(basis)[0][:, basis.shape[1] :].T
        values.append(ca.SX.zeros(len(still)))
        rows.append(ca.SX(ca.DM(still)))
    value, row = ca.vertcat(*values), ca.densify(ca.vertcat(*rows))
    derivatives = ca.densify(ca.jacobian(value, mechanism.numbers.symbols[places]))
    outputs = (
        port("values", value),
        port("by_numbers", derivatives, derivatives.shape),
        port("rows", row, row.shape),
        port("quality", mechanism.quality(legs), ()),
    )
    return closed(mechanism, Expression("geometry", x.place, outputs, mechanism.port))
