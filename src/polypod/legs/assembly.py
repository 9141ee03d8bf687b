"""Does a leg's statement hang together: do its bodies stay rigid and its joints stay in them when the platform moves?

A hinge that cannot turn so, or freedoms the joints do not allow, would give numbers all the same; here they are faults.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..symbols.vectors import Frame
from .contract import SMALLEST_MARGIN, Joint, Placement

Array = NDArray[np.float64]
# Positions and directions of order one, a few roundings each.
_SAME = 1e-9
_KINDS = {"prismatic": 1, "revolute": 1, "universal": 2, "spherical": 0}


class Assembly:
    """A leg's bodies and joints as numbers at several poses of the platform."""

    def __init__(self, placement: Placement, tip: Frame) -> None:
        self.placement = placement
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        frames = [ca.densify(ca.horzcat(b.frame.axes, b.frame.origin)) for b in placement.bodies]
        joints = [ca.densify(ca.horzcat(*(j.axes or (ca.SX.zeros(3),)), j.point)) for j in placement.joints]
        margins = ca.vertcat(*[c.margin for c in placement.conditions], 1)
        self._function = ca.Function("assembly", [x], [margins, *frames, *joints])

    def faults(self, tips: Sequence[tuple[Array, Array]]) -> list[str]:
        """What moves in a body that should not, over the tips (origin, axes) that the leg reaches."""
        kinds = [f"joint {j.name!r} has the unknown kind {j.kind!r}; known: {', '.join(_KINDS)}"
                 for j in self.placement.joints if j.kind not in _KINDS]  # fmt: skip
        counts = [
            f"joint {j.name!r} ({j.kind}) needs {_KINDS[j.kind]} axes, got {len(j.axes)}"
            for j in self.placement.joints
            if j.kind in _KINDS and len(j.axes) != _KINDS[j.kind]
        ]
        if kinds or counts:
            return kinds + counts
        seen: dict[str, list[Array]] = {}
        faults: list[str] = []
        for origin, axes in tips:
            margins, *parts = (np.array(v) for v in self._function(np.r_[origin, axes.T.ravel()]))
            if not (margins > SMALLEST_MARGIN).all():
                continue
            frames = {"base": np.eye(3, 4), "platform": np.column_stack([axes, origin])}
            frames |= dict(zip((b.name for b in self.placement.bodies), parts, strict=False))
            faults += [
                f"body {name!r} does not stay rigid: its axes are not square to each other"
                for name, frame in frames.items()
                if np.abs(frame[:, :3].T @ frame[:, :3] - np.eye(3)).max() > _SAME
            ]
            for joint, numbers in zip(self.placement.joints, parts[len(self.placement.bodies) :], strict=True):
                if joint.kind == "universal" and abs(numbers[:, 0] @ numbers[:, 1]) > _SAME:
                    faults.append(f"the axes of the universal joint {joint.name!r} are not square to each other")
                for key, value in _fixed(joint, numbers, frames):
                    seen.setdefault(key, []).append(value)
        faults += [
            f"{key} moves when the platform does; such a joint does not allow the robot's freedoms"
            for key, values in seen.items()
            if np.abs(np.array(values) - values[0]).max() > _SAME * max(1.0, np.abs(values[0]).max())
        ]
        return list(dict.fromkeys(faults))


def _fixed(joint: Joint, numbers: Array, frames: dict[str, Array]) -> list[tuple[str, Array]]:
    """What of a joint must not move in its parent or its child: name and value there."""
    axes, point = numbers[:, :-1].T, numbers[:, -1]
    result = []
    for role, body in (("parent", joint.parent), ("child", joint.child)):
        if body not in frames:
            continue
        rotation, origin = frames[body][:, :3], frames[body][:, 3]
        inside = [rotation.T @ axis for axis in axes]
        where = f"of the {joint.kind} joint {joint.name!r} in {body!r}"
        if joint.kind == "prismatic":
            result.append((f"the slide {where}", inside[0]))
        else:
            result.append((f"the centre {where}", rotation.T @ (point - origin)))
        if joint.kind == "revolute":
            result.append((f"the axis {where}", inside[0]))
        if joint.kind == "universal":
            result.append((f"the axis {where}", inside[0 if role == "parent" else 1]))
    return result
