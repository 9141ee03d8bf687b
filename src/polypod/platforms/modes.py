"""Which modes a robot's platform bends in, and by how much it may."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..arrays import Array
from ..description import FlexiblePlatform, PlateData, Robot
from ..description.modes import Modes
from ..errors import InputError


def modes_of(robot: Robot) -> Modes:
    """The modes of a robot's flexible platform: those it names, or those of its plate, computed."""
    if not isinstance(robot.platform, FlexiblePlatform):
        raise InputError(
            f"modes: {robot.name!r} has a rigid platform; add modes (robot.on_modes(modes)), or 'kind: flexible' "
            "to the platform in its file",
            code="rigid",
        )
    if robot.platform.modes is not None:
        return robot.platform.modes
    assert robot.platform.plate is not None
    joints = tuple((leg.name, tuple(point)) for leg, point in zip(robot.legs, robot.attachments.tolist(), strict=True))
    return _computed(robot.platform.plate, joints)


@cache
def _computed(data: PlateData, joints: tuple[tuple[str, tuple[float, float, float]], ...]) -> Modes:
    from ..plates import plate_modes  # finite elements, for plates only

    names, points = zip(*joints, strict=True)
    return plate_modes(data.plate, points, data.modes, names=names, damping_ratio=data.damping_ratio)


def large_deflection(robot: Robot, deflection: Array, size: float) -> list[str]:
    """A sentence if deflections (..., n, 3) [m] are larger than linear shapes hold for; none if they are small.

    A plate stiffens from about its thickness on, since its middle plane must stretch; any body is another one when
    deflected by a tenth of its size.
    """
    most = float(np.linalg.norm(deflection, axis=-1).max())
    plate = robot.platform.plate if isinstance(robot.platform, FlexiblePlatform) else None
    if plate is not None and plate.thickness < min(most, 0.1 * size):
        limit = f"more than the plate's thickness of {1000.0 * plate.thickness:.4g} mm, where plates start to stiffen"
    elif most > 0.1 * size:
        limit = f"{100 * most / size:.3g} % of its size"
    else:
        return []
    return [f"The platform bends by {1000.0 * most:.3g} mm, {limit}: outside the range of its linear shapes."]
