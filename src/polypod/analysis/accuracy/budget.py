"""The error budget: standard deviations and bounds by cause, to first order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import InputError, StateError
from ...model import Model
from ...model.arguments import PoseLike
from ...tables import Table, table
from ..tolerances import Tolerances
from .sources import Solver, Source, closures_of, pose_batch, sources_of

AXES = [("x", "um"), ("y", "um"), ("z", "um"), ("turn x", "urad"), ("turn y", "urad"), ("turn z", "urad")]
_STRAIN = 1e-8
"""Part of an error that legs which hold the platform more than once must not take up."""


class Budget(NamedTuple):
    """Errors of the platform by cause, to first order; causes in the order of their share at the first pose.

    Attributes
    ----------
    deviation : ndarray, shape (..., 6)
        Standard deviation of each component [m, rad].
    bound : ndarray, shape (..., 6)
        Largest possible error [m, rad]; three standard deviations for normal distributions.
    parts : ndarray, shape (..., s, 6)
        Standard deviations by cause [m, rad].
    share : ndarray, shape (..., s)
        Share of each cause of the variance of the displacement, rotations weighted by the platform's size.
    names : tuple of str
        Names of the s causes.
    """

    deviation: Array
    bound: Array
    parts: Array
    share: Array
    names: tuple[str, ...]

    def table(self, most: int | None = None) -> Table:
        """Standard deviations at one pose by cause, the largest share of the variance first.

        Parameters
        ----------
        most : int, optional
            Number of causes to list. Default: all.

        Returns
        -------
        Table
            Standard deviations [um, urad] and shares [%].
        """
        rows = [
            (name, *map(float, 1e6 * part), float(100 * share))
            for name, part, share in zip(self.names[:most], self.parts, self.share, strict=False)
        ]
        left = len(self.names) - len(rows)
        caption = "Standard deviations; share of the variance, rotations weighted by the platform's size."
        caption += f" {left} more causes are not listed; most= sets how many are." if left > 0 else ""
        return table("Causes", [("cause", ""), *AXES, ("share", "%")], rows, caption)


def errors_table(rows: Mapping[str, Array], where: str = "home") -> Table:
    """Errors (6,) [m, rad] of the whole platform, by how they were found."""
    listed = [(name, *map(float, 1e6 * np.asarray(values))) for name, values in rows.items()]
    return table(f"Errors of the platform at {where}", [("", ""), *AXES], listed)


def budget(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Budget:
    """Error budget of the platform: F_x dx = [dq; 0] - F_p dp.

    F are the actuated coordinates and the constraints of the legs, x the pose and p the robot's parameters. Platforms
    of fewer than six degrees of freedom are displaced in all six components: along their degrees of freedom and in
    directions that exact legs would block.

    Parameters
    ----------
    model : Model
        Model of the robot.
    tolerances : Tolerances
        What is not exact about the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.

    Returns
    -------
    Budget
        Standard deviations, bounds and shares by cause.

    Raises
    ------
    StateError
        If a pose is singular or out of reach.
    """
    poses, shape = pose_batch(model, pose)
    closures = closures_of(model, tolerances)
    sources = sources_of(model, tolerances, poses)
    held = closures.at(poses)
    solver = Solver(model, held.rows)
    bad = np.flatnonzero(~held.good | solver.singular)
    if len(bad):
        raise StateError(f"accuracy: no answer at state {bad[0]}: the pose is singular or out of reach", bad)
    weight = np.r_[np.ones(3), np.full(3, model.size)] ** 2
    parts, bounds = [], []
    for source in sources:
        moved, left = solver(source.columns)
        _refuse_strain(model, source, left)
        parts.append(np.sqrt((moved * moved).sum(axis=2)) * source.tolerance.deviation)
        bounds.append(np.abs(moved).sum(axis=2) * source.tolerance.bound)
    listed = np.stack(parts, axis=1)
    variance = (listed * listed * weight).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = variance / variance.sum(axis=1, keepdims=True)
    order = np.argsort(-share[0], kind="stable") if len(share) else np.arange(len(sources))
    names = tuple(sources[k].name for k in order)
    deviation = np.sqrt((listed * listed).sum(axis=1))
    s = len(sources)
    return Budget(
        deviation.reshape(*shape, 6),
        np.sum(bounds, axis=0).reshape(*shape, 6),
        listed[:, order].reshape(*shape, s, 6),
        share[:, order].reshape(*shape, s),
        names,
    )


def _refuse_strain(model: Model, source: Source, left: Array) -> None:
    """Raise where legs hold the platform more than once and a cause sets them against each other."""
    amounts = [np.abs(scale).max(initial=0.0) for scale in (source.at_actuators, *source.scales.values())]
    if np.abs(left).max(initial=0.0) > _STRAIN * (np.abs(source.columns).max(initial=0.0) + max(amounts)):
        raise InputError(
            f"tolerances: {source.name}: the legs of {model.robot.name!r} overconstrain its platform, and with "
            "this error they cannot be assembled without strain; the platform's position then depends on their "
            "stiffness",
            code="strain",
        )
