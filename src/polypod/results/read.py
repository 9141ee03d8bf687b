"""Parts of a study's dataset as objects: its limits, its joints' reactions, what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..datasets import robot_of
from ..description import Drive
from ..limits import LimitReport
from ..tables import called

if TYPE_CHECKING:
    import xarray as xr


class Reaction(NamedTuple):
    """Wrench of a joint on its child over time, about the joint's centre, base axes.

    Attributes
    ----------
    force : ndarray, shape (n, 3)
        Force [N].
    moment : ndarray, shape (n, 3)
        Moment [N m].
    """

    force: Array
    moment: Array


def limit_report(result: xr.Dataset) -> LimitReport:
    """Limited quantities along the motion.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    LimitReport
        Values and ranges; without names if the robot limits nothing.
    """
    if "limited" not in result:
        return LimitReport((), np.zeros((len(result.time), 0)), np.zeros(0), np.zeros(0), ())
    names = zip(result.limit_leg.values.tolist(), result.limit_name.values.tolist(), strict=True)
    value, low, high = (result[name].values for name in ("limited", "limit_low", "limit_high"))
    return LimitReport(tuple(names), value, low, high, tuple(result.limit_unit.values.tolist()))


def violations(result: xr.Dataset) -> list[str]:
    """One sentence for each limit that the motion exceeds, with the time of its worst value.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    list of str
        The sentences.
    """
    report = limit_report(result)
    return report.violations(lambda k: f"t = {float(result.time[k]):.6g} s") if report.names else []


def reactions(result: xr.Dataset) -> dict[tuple[str, str], Reaction]:
    """Reactions by leg and joint.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    dict of (str, str) to Reaction
        Force and moment over time.
    """
    if "reaction_force" not in result:
        return {}
    names = zip(result.joint_leg.values.tolist(), result.joint_name.values.tolist(), strict=True)
    force, moment = (result[name].values for name in ("reaction_force", "reaction_moment"))
    return {name: Reaction(force[:, k], moment[:, k]) for k, name in enumerate(names)}


def open_reactions(result: xr.Dataset) -> list[str]:
    """Joints whose reactions internal stresses of an overconstrained robot leave open.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    list of str
        The joints and which components of their reactions.
    """
    text = str(result.attrs.get("indeterminate_reactions", ""))
    return text.split("; ") if text else []


def actuator_names(result: xr.Dataset) -> list[str]:
    """Names of the actuators."""
    return list(map(str, result.actuator.values))


def drives(result: xr.Dataset) -> list[Drive]:
    """What each actuator can do, as the robot file of the result states it."""
    stated: dict[tuple[str, str], Drive] = {}
    for leg in robot_of(result).legs:
        own = leg.actuator_names()
        stated |= {
            (leg.name, label): leg.drive(name) for name, label in zip(own, leg.actuator_labels(own), strict=True)
        }
    return [stated[key] for key in zip(result.actuator_leg.values.tolist(), actuator_names(result), strict=True)]


def actuators_by_unit(result: xr.Dataset) -> dict[tuple[str, str], list[int]]:
    """Numbers of the actuators by their units, of coordinate and force: those that one scale may show."""
    found: dict[tuple[str, str], list[int]] = {}
    for k, pair in enumerate(zip(result.actuator_unit.values, result.force_unit.values, strict=True)):
        found.setdefault((str(pair[0]), str(pair[1])), []).append(k)
    return found


def forces_or_torques(result: xr.Dataset, one: bool = False) -> str:
    """What the actuators exert: forces, torques, or both; ``one`` of them."""
    kinds = dict.fromkeys(called("force" if one else "forces", push) for _, push in actuators_by_unit(result))
    return " and ".join(kinds)


# ----------------------------------------------------------------------------------------------------------------------
# Means over time by the trapezoidal rule.


def mean(time: Array, values: Array) -> Array:
    """Average over time (k,) of values (n, k) at times (n,), linear between samples."""
    result: Array = np.trapezoid(values, time, axis=0) / (time[-1] - time[0])
    return result


def rms(time: Array, values: Array) -> Array:
    """Root mean square over time (k,) of values (n, k) at times (n,).

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 1001)
    >>> rms(t, np.sin(2 * np.pi * t)[:, None]).round(6)
    array([0.707107])
    """
    result: Array = np.sqrt(mean(time, values**2))
    return result


def power_mean(time: Array, values: Array, power: float) -> Array:
    """Power mean over time (k,), (average of |values|^p)^(1/p): the constant load that wears a bearing as much."""
    result: Array = mean(time, np.abs(values) ** power) ** (1 / power)
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Rounding in results: what is negligible beside the largest value of its kind.

ROUNDING = 1e-9
"""Relative to the largest value that a quantity has or could have; less is rounding."""


def without_rounding(values: Array, largest: float) -> Array:
    """Values with those that are rounding beside the largest as zeros.

    Examples
    --------
    >>> without_rounding(np.array([-2e-15, 0.0, 30.0]), 30.0)
    array([ 0.,  0., 30.])
    """
    return np.where(np.abs(values) > ROUNDING * largest, values, 0.0)
