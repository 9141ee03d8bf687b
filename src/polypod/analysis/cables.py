"""Sag of heavy cables: the catenary of each, and how far the straight cable of the model is from it."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..legs.cable import DRAWN, Cable
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import PoseLike
from ..model.diagnosis import Errors
from ..symbols.expression import Expression, Iteration, port
from .linear import state_rows

_ROUNDS = 100
_EXACT = 1e-15
"""Relative change of the unknown at which it is found."""
_VERTICAL = 1e-9
"""Horizontal distance of the ends of a cable over its length below which it hangs straight down."""


class CableSag(NamedTuple):
    """Cables under their own weight, k of them.

    Attributes
    ----------
    names : tuple of str
        Names of the cables.
    sag : ndarray, shape (..., k)
        Largest vertical distance from the straight line between the ends [m]; NaN where the tension cannot hold the
        cable up.
    length : ndarray, shape (..., k)
        Length of the free part along the catenary, without stretch [m].
    straight : ndarray, shape (..., k)
        Distance of its ends [m].
    tension : ndarray, shape (..., k, 2)
        Tensions at the drum's and at the platform's end [N].
    force : ndarray, shape (..., k, 3)
        Force of the cable on the platform, base axes [N].
    deviation : ndarray, shape (..., k, 3)
        By how much this force differs from that of the straight cable of the same weight and tension at its drum, which
        the dynamics take [N].
    """

    names: tuple[str, ...]
    sag: Array
    length: Array
    straight: Array
    tension: Array
    force: Array
    deviation: Array


def sag(
    model: Model, pose: PoseLike | None = None, force: ArrayLike | None = None, *, errors: Errors | None = None
) -> CableSag:
    """Catenaries of a robot's heavy cables at rest.

    Between ends of the horizontal distance d and the height h, a cable of the weight w per metre with the tension T at
    its upper end (drum) is z = (H/w) cosh(w x/H + c). With u = w d/(2 H) and
    sinh s = (h/d) u/sinh u its tension there is T = H cosh(s + u), its length d cosh(s) sinh(u)/u, and its tension at
    the other end T - w h (Irvine, Cable Structures, 1981). u is the smaller of the two solutions: the taut cable.

    Parameters
    ----------
    model : Model
        Model of a robot with cables.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Poses of the platform frame {P} in the base frame {B}. Default: home.
    force : array_like, shape (..., n), optional
        Actuator forces [N]: minus the tensions at the drums. Default: those that hold the robot at rest.
    errors : str, optional
        ``raise``, ``warn`` or ``nan``: what to do about poses out of reach. Default: raise for one, warn for a batch.

    Returns
    -------
    CableSag
        Sag, lengths, tensions and forces; cables without ``linear_density`` are straight. Over a pulley the catenary
        begins where the straight cable leaves it.

    Raises
    ------
    InputError
        If the robot has no cables, or is flexible.

    Examples
    --------
    >>> import polypod as pp
    >>> model = pp.Model(pp.load("cogiro", {"legs.*.linear_density": 0.07}))
    >>> bool((pp.analysis.sag(model).sag < 0.1).all())
    True
    """
    robot = model.robot
    cables = [(k, leg) for k, leg in enumerate(robot.legs) if isinstance(leg, Cable)]
    if not cables:
        raise InputError(f"model: {robot.name!r} has no cables; only legs of kind 'cable' sag", code="no_cables")
    if robot.flexible:
        raise InputError(f"sag: {robot.name!r} is flexible; {AS_RIGID}", code="flexible")
    still = np.zeros(6)
    if force is None:
        force = model.inverse_dynamics(robot.home.matrix if pose is None else pose, still, still, errors=errors)
    n = len(model.actuators)
    rows, shape = state_rows(robot, pose, [("force", force, n)])
    mechanism = model.kernels.mechanism
    kernel = model.kernels.custom("cable_spans", lambda: closed(mechanism, _spans(mechanism)))
    spans, quality = (np.asarray(part) for part in kernel(np.ascontiguousarray(rows[0])))
    spans = np.where((quality > SMALLEST_MARGIN).reshape(-1, 1, 1), spans.reshape(len(rows[0]), -1, 6), np.nan)
    names = [actuator.name for actuator in model.actuators]
    tension = -rows[1][:, [names.index(leg.name) for _, leg in cables]]
    weight = np.array([leg.linear_density or 0.0 for _, leg in cables]) * np.linalg.norm(robot.gravity)
    found = _catenary(spans[..., :3], spans[..., 3:], tension, weight, np.array(robot.gravity))
    k = len(cables)
    shapes = ((k,), (k,), (k,), (k, 2), (k, 3), (k, 3))
    parts = (part.reshape(*shape, *own) for part, own in zip(found, shapes, strict=True))
    return CableSag(tuple(leg.name for _, leg in cables), *parts)


def _spans(mechanism: Mechanism) -> Expression | Iteration:
    """(pose) -> ends of the free part of every cable (k, 6): where it leaves its pulley or anchor, and its tip."""
    x = mechanism.inputs()
    rows = []
    legs = mechanism.resting(x)[1]
    for leg, data in zip(legs, mechanism.robot.legs, strict=True):
        if isinstance(data, Cable):
            body = next(one for one in leg.model.placement.bodies if one.name == DRAWN)
            rows.append(ca.vertcat(leg.at_tip(body.frame.origin), leg.series[0][:3]).T)
    outputs = port("ends", ca.vertcat(*rows), (len(rows), 6)), port("quality", mechanism.quality(legs), ())
    return Expression("cable_spans", (x.pose,), outputs, mechanism.port)


def _catenary(start: Array, end: Array, tension: Array, weight: Array, gravity: Array) -> tuple[Array, ...]:
    """Sag, length, distance of the ends, tensions, force on the platform and its difference to the straight cable's."""
    along = end - start
    straight = np.linalg.norm(along, axis=-1)
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.array([0.0, 0.0, 1.0])
    h = -(along @ up)  # how far the platform's end is below the other
    level = along + h[..., None] * up
    d = np.linalg.norm(level, axis=-1)
    heavy = np.broadcast_to(weight > 0, d.shape) & (d > _VERTICAL * straight)
    w, dd = np.where(heavy, weight, 1.0), np.where(heavy, d, 1.0)
    u = np.where(heavy, _taut(2 * tension / (w * dd), h / dd), 1.0)
    ratio = u / np.sinh(u)
    s = np.arcsinh(h / dd * ratio)
    pull = w * dd / (2 * u)  # H
    length = np.where(heavy, dd * np.cosh(s) / ratio, straight)
    # below the chord: deepest where the slope is that of the chord, t = asinh(h/d) of the catenary's s - u .. s + u
    t = np.arcsinh(h / dd)
    lowest = (dd * (t - s + u) / (2 * u)) * (h / dd) - (pull / w) * (np.cosh(t) - np.cosh(s - u))
    sag_ = np.where(heavy, lowest, np.where(np.isfinite(tension), 0.0, np.nan))
    at_platform = tension - weight * h
    side = np.where(heavy[..., None], level / dd[..., None], 0.0)
    curved = -pull[..., None] * side + (pull * np.sinh(s - u))[..., None] * up
    unit = along / straight[..., None]
    half = 0.5 * weight
    plain = -(tension - half * h)[..., None] * unit - (half * straight)[..., None] * up
    force = np.where(heavy[..., None], curved, plain)
    ends = np.stack([tension, np.where(np.isfinite(u), at_platform, np.nan)], axis=-1)
    return sag_, np.where(np.isfinite(u), length, np.nan), straight, ends, force, force - plain


def _taut(a: Array, b: Array) -> Array:
    """The smallest u > 0 with a u = cosh(s + u), sinh s = b u/sinh u; NaN where there is none.

    Newton's method from u = 0: left of the first root a u - cosh(s + u) is negative and its slope too large, so that no
    step goes beyond the root.
    """
    u = np.full(np.shape(a), 1e-300)
    lost = ~np.isfinite(a) | (a <= 0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(_ROUNDS):
            small = u < 1e-4
            ratio = np.where(small, 1 - u * u / 6, u / np.sinh(u))
            change = np.where(small, -u / 3, (1 - u / np.tanh(u)) / np.sinh(u))  # of the ratio
            s = np.arcsinh(b * ratio)
            slope = a - np.sinh(s + u) * (1 + b * change / np.cosh(s))
            lost = lost | ~(slope > 0)
            step = (np.cosh(s + u) - a * u) / slope
            step = np.where(lost, 0.0, step)
            u = u + step
            if (np.abs(step) <= _EXACT * u).all():
                break
    return np.where(lost, np.nan, u)
