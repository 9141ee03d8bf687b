"""Motions that make inertias and friction visible: finite Fourier series within all limits of a robot.

Every coordinate of the platform is x(t) = x_home + sum_k a_k (cos(k w t) - 1) + b_k sin(k w t), k = 1..K, w = 2 pi/T,
with sum k b_k = 0 and sum k^2 a_k = 0: it starts and ends at home at rest, and can be repeated. Sought is the largest
log det of the information Y_I^T Y_I/sigma^2 about the base parameters, by evolution of many series at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..description.quantities import LARGEST_NUMBER
from ..errors import InputError
from ..kernels.threads import one_blas_thread
from ..model import Model
from ..motion import MotionFile
from .base import BaseParameters, base_parameters
from .linear_model import LinearModel
from .prior import Z95
from .search import SAMPLES, Criterion, Search

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Excitation:
    """A motion and what it will show.

    ``deviations`` (r,) are standard deviations of the base parameters after one period sampled at ``rate`` with noise
    ``noise`` [N or N m]; ``invisible`` names those that stay more uncertain than the file's own values.
    """

    motion: MotionFile
    base: BaseParameters
    log_determinant: float
    condition: float
    deviations: Array
    invisible: tuple[str, ...]
    noise: float
    rate: float
    tried: int

    def to_dataset(self) -> xr.Dataset:
        """Standard deviations of the base parameters, labelled."""
        import xarray as xr

        return xr.Dataset(
            {"deviation": ("parameter", self.deviations), "half_width": ("parameter", Z95 * self.deviations)},
            {"parameter": list(self.base.names), "unit": ("parameter", list(self.base.units))},
            {"log_determinant": self.log_determinant, "condition": self.condition, "noise": self.noise},
        )


@one_blas_thread
def excite(
    model: Model | Robot | str | FilePath,
    *,
    duration: float = 10.0,
    harmonics: int = 8,
    noise: float = 1.0,
    rate: float = 1000.0,
    criterion: Criterion = "determinant",
    max_acceleration: float | None = None,
    reach: float = 0.25,
    same_legs: bool = False,
    budget: float = 20.0,
    tries: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> Excitation:
    """A motion of one period ``duration`` [s] with the most information about a robot's inertias and friction.

    Kept are the file's ranges, cones, speeds and forces; conditioning no worse than three times that of home; the
    platform within ``reach`` of the robot's size (and radians) of home; actuators below ``max_acceleration`` [m/s^2 or
    rad/s^2] if given. ``noise`` is that of forces at ``rate`` samples per second. The search takes ``budget`` seconds,
    or ``tries`` motions, which are the same on any machine.
    """
    if not isinstance(model, Model):
        model = Model(model)
    for name, value in (("duration", duration), ("noise", noise), ("rate", rate), ("budget", budget), ("reach", reach)):
        if not 0 < value <= LARGEST_NUMBER:
            raise InputError(f"{name}: a number above 0 and at most {LARGEST_NUMBER:g} is needed, got {value}")
    if tries is not None and not tries > 0:
        raise InputError(f"tries: a number above 0 is needed, got {tries}")
    if harmonics < 3:
        raise InputError(f"harmonics: at least 3 are needed to start at rest, got {harmonics}")
    if criterion not in ("determinant", "condition"):
        raise InputError(f"criterion: 'determinant' or 'condition', got {criterion!r}")
    linear = LinearModel(model, same_legs=same_legs)
    search = Search(linear, base_parameters(linear), duration, harmonics, criterion, max_acceleration, reach)
    best, tried = search.run(budget, tries, np.random.default_rng(seed), progress)
    return _shown(search, search.shrunk_to_limits(best), noise, rate, tried)


def _shown(search: Search, genes: Array, noise: float, rate: float, tried: int) -> Excitation:
    """The motion of a series, and how well one period of it shows the base parameters."""
    triangle = search.information(genes, 4 * SAMPLES) * np.sqrt(search.duration * rate / (4 * SAMPLES)) / noise
    values = np.linalg.svd(triangle, compute_uv=False)
    inverse = np.linalg.pinv(triangle, rcond=1e-14)
    relative = np.linalg.norm(inverse, axis=1)
    relative = np.where(np.abs(triangle).max(axis=0) > 0, relative, np.inf)
    names = search.base.names
    invisible = tuple(name for name, d in zip(names, relative, strict=True) if not d < 1.0)
    return Excitation(
        search.file(genes, rate=rate), search.base, 2 * float(np.log(np.maximum(values, 1e-300)).sum()),
        float(values[0] / max(values[-1], 1e-300)), relative * search.weight, invisible, noise, rate, tried,
    )  # fmt: skip
