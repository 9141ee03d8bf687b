"""Loads of every joint's bearing: largest, axial and radial, basic life by ISO 281, static safety by ISO 76."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy
import xarray as xr

from ..arrays import Array
from ..datasets import robot_of
from ..limits.loads import SLIDES, axial_and_radial, equivalent_load
from ..model import Model
from ..tables import Table, table
from .read import ROUNDING, power_mean, reactions

REACTIONS = (
    "Force and moment of a joint on its child (the body farther from the base; the opposite acts on its parent), in "
    "base axes. The row of an actuated joint includes the actuator's force along, or torque about, its axis. Axial and "
    "radial are the largest components along and perpendicular to the axis of a hinge or slide; for a universal joint, "
    "those of the pivot with the larger value; a spherical joint has no axis. The drive force of a slide is in its "
    "axial component only."
)
LIFE = (
    " Basic rating life (C/P)^p of ISO 281, p = 3 for balls and 10/3 for rollers, in million turns; of ISO 14728 in "
    "100 km for a slide. P is the p-th root of the time average of the equivalent load to the power p: X Fr + Y Fa (or "
    "Fr, if larger) with factors of the robot file, otherwise the total force (for a slide its radial component). "
    "Constant speed is assumed. The life in hours is for the motion repeated without pause: 10^6 (C/P)^p/(60 n) with n "
    "turns per minute, the total angle in both directions over 2 pi; for a slide 10^5 m (C/P)^p over its mean speed."
)
STATIC = (
    " Static safety factor C0/P0 of ISO 76: P0 is the largest equivalent static load, X0 Fr + Y0 Fa (or Fr, if "
    "larger) with factors of the robot file, otherwise as for the life."
)
_STILL = 1e-9
"""A joint that goes less far than this [m or rad] along a motion does not move: that is rounding."""
_COUNTS = {True: ("100 km", 1e5), False: ("million turns", 2e6 * np.pi)}
"""What a basic life counts, of slides and of joints that turn, and how far that is [m or rad]."""


class Life(NamedTuple):
    """Load P and rating C [N] of a joint's bearing, its basic life (C/P)^p (NaN without load) and what that counts.

    ``hours`` is that life at the mean speed of the motion, NaN where the joint does not move.
    """

    leg: str
    joint: str
    load: float
    rating: float
    life: float
    counts: str
    hours: float


def bearing_parts(result: xr.Dataset, joint: int) -> tuple[Array, Array]:
    """Axial and radial force (n,) [N] of a joint's bearing; NaN where it has no axis, the larger of two pivots."""
    return axial_and_radial(result.reaction_force.values[:, joint], result.joint_axes.values[:, joint])


class Static(NamedTuple):
    """Largest equivalent static load P0 and rating C0 [N] of a joint's bearing, and when [s]."""

    leg: str
    joint: str
    load: float
    rating: float
    time: float

    @property
    def safety(self) -> float:
        """C0/P0; NaN without load."""
        return self.rating / self.load if self.load != 0.0 else np.nan


def _equivalent(result: xr.Dataset, joint: int, radial_factor: float | None, axial_factor: float | None) -> Array:
    """Equivalent load (n,) [N] of a bearing, as ``polypod.limits.loads.equivalent_load`` has it."""
    kind = str(result.joint_kind.values[joint])
    force, axes = result.reaction_force.values[:, joint], result.joint_axes.values[:, joint]
    return equivalent_load(force, axes, kind, radial_factor, axial_factor)


def static_loads(result: xr.Dataset) -> list[Static]:
    """Largest static loads of all bearings whose static load rating the robot file gives; NaN where it is open."""
    legs, found = {leg.name: leg for leg in robot_of(result).legs}, []
    for k, (leg, joint) in enumerate(reactions(result)):
        bearing = legs[leg].bearing(joint)
        if bearing.static_load_rating is not None:
            load = _equivalent(result, k, bearing.static_radial_factor, bearing.static_axial_factor)
            at = int(load.argmax())
            found.append(Static(leg, joint, float(load[at]), bearing.static_load_rating, float(result.time[at])))
    return found


def basic_lives(result: xr.Dataset) -> list[Life]:
    """Basic lives of all bearings whose dynamic load rating the robot file gives."""
    legs, found = {leg.name: leg for leg in robot_of(result).legs}, []
    for k, (leg, joint) in enumerate(reactions(result)):
        bearing = legs[leg].bearing(joint)
        if bearing.dynamic_load_rating is None:
            continue
        slides = str(result.joint_kind.values[k]) in SLIDES
        force = _equivalent(result, k, bearing.radial_factor, bearing.axial_factor)
        load = float(power_mean(result.time.values, force[:, None], bearing.life_exponent)[0])
        life = (bearing.dynamic_load_rating / load) ** bearing.life_exponent if load != 0.0 else np.nan
        counts, far = _COUNTS[slides]
        way = float(result.joint_travel[-1, k]) if "joint_travel" in result else np.nan
        hours = life * far / way * float(result.time[-1] - result.time[0]) / 3600 if way > _STILL else np.nan
        found.append(Life(leg, joint, load, bearing.dynamic_load_rating, life, counts, hours))
    return found


def bearings(result: xr.Dataset) -> Table:
    """Load cases of every joint's bearing: largest reaction force and moment, when, and the force's components then.

    The cubic mean force, (mean of |F|^3 over time)^(1/3), is what life ratings of rolling bearings need at constant
    speed. Components are those on the joint's child, base axes. What internal stresses of an overconstrained robot
    leave open is NaN; the times are then those of the largest determined part. Where the robot file gives dynamic load
    ratings, columns of basic rating lives follow; where static ones, the static safety factor.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Table
        One row for each joint.
    """
    columns = [
        ("leg", ""), ("joint", ""), ("peak force", "N"), ("at", "s"), ("fx", "N"), ("fy", "N"), ("fz", "N"),
        ("axial force", "N"), ("radial force", "N"), ("cubic mean force", "N"), ("peak moment", "N m"),
        ("moment peak at", "s"),
    ]  # fmt: skip
    rated = {(one.leg, one.joint): one for one in basic_lives(result)}
    if rated:
        columns += [("load rating", "N"), ("mean load", "N"), ("basic life", ""), ("life counts", ""), ("life", "h")]
    still = {(one.leg, one.joint): one for one in static_loads(result)}
    if still:
        columns += [("static rating", "N"), ("static load", "N"), ("static safety", "1")]
    rows, time = [], result.time.values
    found = reactions(result)
    rounding = ROUNDING * max((float(np.nanmax(np.abs(m), initial=0.0)) for _, m in found.values()), default=0.0)
    for k, ((leg, joint), (force, moment)) in enumerate(found.items()):
        size, turn = np.linalg.norm(force, axis=-1), np.linalg.norm(moment, axis=-1)
        top, twist = (int(np.linalg.norm(np.nan_to_num(a), axis=-1).argmax()) for a in (force, moment))
        axial, radial = (float(values.max()) for values in bearing_parts(result, k))
        cubic = float(power_mean(time, size[:, None], 3.0)[0])
        when = np.nan if turn[twist] <= rounding else time[twist]  # a moment that is none has no instant
        numbers = (size[top], time[top], *force[top], axial, radial, cubic, turn[twist], when)
        row: tuple[object, ...] = (leg, joint, *map(float, numbers))
        if rated:
            one = rated.get((leg, joint))
            none = (np.nan, np.nan, np.nan, "", np.nan)
            row += none if one is None else (one.rating, one.load, one.life, one.counts, one.hours)
        if still:
            held = still.get((leg, joint))
            row += (np.nan,) * 3 if held is None else (held.rating, held.load, held.safety)
        rows.append(row)
    return table("Joint bearings", columns, rows, REACTIONS + (LIFE if rated else "") + (STATIC if still else ""))


# ----------------------------------------------------------------------------------------------------------------------
# Travel of joints along a motion: angles turned and distances slid, back and forth added up.


def joint_travel(model: Model, pose: Array, axes: Array, **shape: Any) -> Array:
    """Travel (n, joints) of every joint since the first of n poses: sum of |step| [rad], of a slide [m].

    ``axes`` (n, joints, 2, 3) are the joints' free directions in base axes, NaN for those that a joint does not have. A
    step is the rotation of the child against the parent from one sample to the next: about the axis of a hinge, about
    that pivot of a universal joint which turns more in all, the whole angle of a spherical joint; of a slide the
    displacement along its axis. A turn back between two samples is not seen. ``shape`` is ``elastic`` of a flexible
    platform.
    """
    bodies = model.bodies(pose, **shape) | {"base": np.broadcast_to(np.eye(4), (len(pose), 4, 4))}
    joints = [(leg.leg.name, joint) for leg in model.kernels.mechanism.placed for joint in leg.placement.joints]
    travel = []
    for k, (leg, joint) in enumerate(joints):
        names = (body if body in ("base", "platform") else f"{leg}.{body}" for body in (joint.parent, joint.child))
        parent, child = (bodies[name] for name in names)
        steps = _steps(parent, child, axes[:, k], joint.kind)
        total = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(np.abs(steps), axis=0)])
        travel.append(total[:, int(total[-1].argmax())])
    return np.stack(travel, axis=1)


def _steps(parent: Array, child: Array, axes: Array, kind: str) -> Array:
    """Steps (n - 1, pivots) of one joint between poses (n, 4, 4) of its bodies."""
    turned = np.swapaxes(parent[:, :3, :3], 1, 2)  # from base axes into those of the parent
    known = np.flatnonzero(~np.isnan(axes).any(axis=(0, 2)))
    own = np.einsum("nij,nkj->nki", turned, axes[:, known])
    middle = 0.5 * (own[1:] + own[:-1])
    if kind in SLIDES:
        place = np.einsum("nij,nj->ni", turned, child[:, :3, 3] - parent[:, :3, 3])
        return np.einsum("nki,ni->nk", middle[:, :1], np.diff(place, axis=0))
    rotation = scipy.spatial.transform.Rotation.from_matrix(turned @ child[:, :3, :3])
    step = (rotation[1:] * rotation[:-1].inv()).as_rotvec()
    return np.einsum("nki,ni->nk", middle, step) if len(known) else np.linalg.norm(step, axis=1)[:, None]
