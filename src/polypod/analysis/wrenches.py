"""Wrenches that a robot holds with actuator forces within bounds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import AS_RIGID, InputError
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
    bounds: Literal["drives"] | tuple[ArrayLike, ArrayLike] = "drives",
    errors: Errors | None = None,
) -> WrenchFeasibility:
    """Whether actuator forces within bounds hold the robot at rest against every wrench of a box: exact, compiled.

    A pose is wrench-feasible if for every wrench w of the set there are forces f, low <= f <= high, with
    J^T f = g - w, where g are the gravity terms: the set is inside the zonotope of wrenches that the actuators can
    apply. All faces of it are tested.

    Parameters
    ----------
    model : Model
        Model of the robot, with at most three more actuators than degrees of freedom.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of the platform frame {P} in the base frame {B}. Default: home.
    box : array_like, shape (..., 6), optional
        Half widths of the box of external wrenches [f; m] about ``wrench`` [N, N m]. Default: zero.
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
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
    low, high = force_bounds(model.robot_limits, bounds)
    vectors: list[tuple[str, Any, int]] = [("wrench", wrench, 6), ("box", box, 6), ("low", low, n), ("high", high, n)]
    rows, shape = state_rows(model.robot, pose, vectors)
    if (rows[2] < 0).any():
        raise InputError(f"box: half widths must not be negative, got {float(rows[2].min()):g}")
    reached = np.isfinite(model.inverse_kinematics(rows[0].reshape(*shape, 4, 4), errors=errors)).all(axis=-1)
    mechanism = model.kernels.mechanism
    kernel = model.kernels.custom("wrench_margin", lambda: closed(mechanism, wrench_margin(mechanism)))
    margin, limiting, quality = (
        np.asarray(part).reshape(shape) for part in kernel(*(np.ascontiguousarray(row) for row in rows))
    )
    known = reached & (quality > SMALLEST_MARGIN) & np.isfinite(margin)
    return WrenchFeasibility(np.where(known, margin, np.nan), np.where(known, limiting, -1).astype(np.int64))
