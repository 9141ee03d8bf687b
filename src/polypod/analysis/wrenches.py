"""Wrenches that a robot holds with actuator forces within bounds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..formulations.wrench_margin import wrench_closure as closure_expression
from ..formulations.wrench_margin import wrench_margin
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import PoseLike
from ..model.diagnosis import Errors
from ..model.distribution import force_bounds
from ..symbols.bounded import MOST_FREE
from .linear import state_rows


class WrenchFeasibility(NamedTuple):
    """Whether forces within bounds hold every wrench of a set.

    Attributes
    ----------
    margin : ndarray, shape (...)
        Force by which all forces can stay away from their bounds, whatever the wrench of the set [N or N m]; negative
        if some wrench cannot be held, and then by how much the bounds are too narrow.
    limiting : ndarray of int, shape (...)
        Index of the actuator that has the largest part in it; -1 where there is no answer.
    """

    margin: Array
    limiting: NDArray[np.int64]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether all wrenches of the set can be held."""
        return np.asarray(self.margin >= 0)


def wrench_feasible(
    model: Model,
    pose: PoseLike | None = None,
    box: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    *,
    ellipsoid: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    bounds: Literal["drives"] | tuple[ArrayLike, ArrayLike] = "drives",
    errors: Errors | None = None,
) -> WrenchFeasibility:
    """Whether actuator forces within bounds hold the robot against every wrench of a box or an ellipsoid, and move it.

    A pose is wrench-feasible if for every wrench w and acceleration a of the sets there are forces f,
    low <= f <= high, with J^T f = M a + g - w, where g are the gravity terms: the set is inside the zonotope of
    wrenches that the actuators can apply. All faces of it are tested: exact, compiled.

    Parameters
    ----------
    model : Model
        Model of the robot, with at most three more actuators than degrees of freedom.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of the platform frame {P} in the base frame {B}. Default: home.
    box : array_like, shape (..., 6), optional
        Half widths of a box of external wrenches [f; m] about ``wrench`` [N, N m]. Default: zero.
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
    ellipsoid : array_like, shape (..., 6), optional
        Semi-axes of an ellipsoid of external wrenches instead of a box [N, N m].
    acceleration : array_like, shape (..., 6), optional
        Half widths of a box of accelerations of the platform [m/s^2, rad/s^2], base axes, from rest, each of which it
        must be able to make under every wrench; semi-axes of an ellipsoid if ``ellipsoid`` is given. Default: none.
    bounds : "drives" or pair of array_like, shape (..., n), optional
        Lowest and highest forces [N or N m], as in ``Distribution``. A cable that pulls with 20 to 400 N on a leg whose
        coordinate is its length has (-400, -20).
    errors : str, optional
        ``raise``, ``warn`` or ``nan``: what to do about poses out of reach. Default: raise for one, warn for a batch.

    Returns
    -------
    WrenchFeasibility
        Margin and limiting actuator of every pose; NaN where it is out of reach or singular.

    Examples
    --------
    >>> import polypod as pp
    >>> model = pp.Model("hexapod")
    >>> found = pp.analysis.wrench_feasible(model, box=[50, 50, 50, 0, 0, 0])
    >>> bool(found.feasible)
    True
    """
    model.robot.refuse_internal("wrench_feasible")
    if model.robot.flexible:
        raise InputError(f"wrench_feasible: {model.robot.name!r} is flexible; {AS_RIGID}", code="flexible")
    n, m = len(model.actuators), model.mobility.count
    if not 0 <= n - m <= MOST_FREE:
        raise InputError(
            f"wrench_feasible: robots with at most {MOST_FREE} more actuators than degrees of freedom are supported, "
            f"and {model.robot.name!r} has {n} actuators for {m}",
            code="redundancy",
        )
    if box is not None and ellipsoid is not None:
        raise InputError("ellipsoid: give a box or an ellipsoid of wrenches, not both", code="two_sets")
    round_, moves = ellipsoid is not None, acceleration is not None
    low, high = force_bounds(model.robot_limits, bounds)
    name = "ellipsoid" if round_ else "box"
    vectors: list[tuple[str, Any, int]] = [("wrench", wrench, 6), (name, ellipsoid if round_ else box, 6)]
    vectors += [("acceleration", acceleration, 6)] if moves else []
    rows, shape = state_rows(model.robot, pose, [*vectors, ("low", low, n), ("high", high, n)])
    for row, (given, _, _) in zip(rows[2:-2], vectors[1:], strict=True):
        if (row < 0).any():
            what = "semi-axes" if round_ else "half widths"
            raise InputError(f"{given}: {what} must not be negative, got {float(row.min()):g}")
    reached = np.isfinite(model.inverse_kinematics(rows[0].reshape(*shape, 4, 4), errors=errors)).all(axis=-1)
    mechanism = model.kernels.mechanism
    known_as = "wrench_margin" + "_ellipsoid" * round_ + "_dynamic" * moves
    kernel = model.kernels.custom(known_as, lambda: closed(mechanism, wrench_margin(mechanism, round_, moves)))
    margin, limiting, quality = (
        np.asarray(part).reshape(shape) for part in kernel(*(np.ascontiguousarray(row) for row in rows))
    )
    known = reached & (quality > SMALLEST_MARGIN) & np.isfinite(margin)
    return WrenchFeasibility(np.where(known, margin, np.nan), np.where(known, limiting, -1).astype(np.int64))


class WrenchClosure(NamedTuple):
    """Whether cables can hold any wrench if their tensions may be as large as needed.

    Attributes
    ----------
    factor : ndarray, shape (...)
        Tension factor: the largest ratio of lowest to highest tension that tensions in balance with each other can
        have, from 0 (some cable cannot be under tension) to 1 (all equal).
    limiting : ndarray of int, shape (...)
        Index of the cable that has the largest part in it; -1 where there is no answer.
    """

    factor: Array
    limiting: NDArray[np.int64]

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Whether any wrench can be held."""
        return np.asarray(self.factor > _CLOSED)


_CLOSED = 1e-9
"""Tension factor below which rounding decides."""


def wrench_closure(model: Model, pose: PoseLike | None = None, *, errors: Errors | None = None) -> WrenchClosure:
    """Whether a robot's cables can hold any wrench at poses (wrench closure): exact, compiled.

    There are tensions t > 0 with J^T t = 0, and J has full rank. A suspended robot, which gravity keeps under tension,
    has no wrench closure anywhere (use ``wrench_feasible``).

    Parameters
    ----------
    model : Model
        Model of a robot that only cables drive, with at most three more of them than degrees of freedom.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of the platform frame {P} in the base frame {B}. Default: home.
    errors : str, optional
        ``raise``, ``warn`` or ``nan``: what to do about poses out of reach. Default: raise for one, warn for a batch.

    Returns
    -------
    WrenchClosure
        Tension factor and limiting cable of every pose; NaN where it is out of reach or singular.

    Examples
    --------
    >>> import polypod as pp
    >>> bool(pp.analysis.wrench_closure(pp.Model("ipanema")).closed)
    True
    """
    model.robot.refuse_internal("wrench_closure")
    if model.robot.flexible:
        raise InputError(f"wrench_closure: {model.robot.name!r} is flexible; {AS_RIGID}", code="flexible")
    others = [actuator.name for actuator in model.actuators if actuator.drive.tension_range is None]
    if others:
        raise InputError(
            f"wrench_closure: {others[0]} of {model.robot.name!r} is not a cable; closure is of robots that only "
            "cables drive, use wrench_feasible with bounds",
            code="no_cables",
        )
    if len(model.actuators) - model.mobility.count > MOST_FREE:
        raise InputError(
            f"wrench_closure: at most {MOST_FREE} more cables than degrees of freedom are supported, and "
            f"{model.robot.name!r} has {len(model.actuators)} for {model.mobility.count}",
            code="redundancy",
        )
    rows, shape = state_rows(model.robot, pose, [])
    reached = np.isfinite(model.inverse_kinematics(rows[0].reshape(*shape, 4, 4), errors=errors)).all(axis=-1)
    mechanism = model.kernels.mechanism
    kernel = model.kernels.custom("wrench_closure", lambda: closed(mechanism, closure_expression(mechanism)))
    margin, limiting, quality = (np.asarray(part).reshape(shape) for part in kernel(np.ascontiguousarray(rows[0])))
    known = reached & (quality > SMALLEST_MARGIN) & np.isfinite(margin)
    margin = np.where(known, np.clip(margin, 0.0, 0.5), np.nan)
    return WrenchClosure(margin / (1 - margin), np.where(known, limiting, -1).astype(np.int64))
