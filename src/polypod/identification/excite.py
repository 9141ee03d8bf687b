"""Motions that make inertias and friction visible: finite Fourier series within all limits of a robot.

Every coordinate of the platform is x(t) = x_home + sum_k a_k (cos(k w t) - 1) + b_k sin(k w t), k = 1..K, w = 2 pi/T,
with sum k b_k = 0 and sum k^2 a_k = 0: it starts and ends at home at rest, and can be repeated. Sought is the largest
log det(1 + Y_I^T Y_I/sigma^2) in units of the file's uncertainties, of a measurement of ten seconds: what it adds to
the file's values about the base parameters, by evolution of many series at once. Period and number of harmonics are
those that add the most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description import Robot
from ..description.quantities import LARGEST_NUMBER
from ..errors import InputError
from ..kernels.threads import one_blas_thread
from ..limits import KINDS, OPEN, ROUNDING, LimitReport, RobotLimits, judge, within_all
from ..model import Model
from ..motion import Coordinates, Euler, IndependentCoordinates, MotionFile, Path, Rest, Sine, Sum
from .base import BaseParameters, base_parameters
from .linear_model import LinearModel, MotionRows
from .new_robot import Z95, uncertainties

if TYPE_CHECKING:
    import xarray as xr


TRIES = 400
"""Motions that are tried."""
MEASURED = 10.0
"""Time of a measurement [s] by whose information motions are compared."""


@dataclass(frozen=True)
class Excitation:
    """An excitation trajectory and what it will show.

    Attributes
    ----------
    motion : MotionFile
        The motion.
    base : BaseParameters
        The r base parameters.
    log_determinant : float
        log det of the information.
    condition : float
        Condition number of the regressor.
    deviations : ndarray, shape (r,)
        Standard deviations of the base parameters after one period.
    invisible : tuple of str
        Base parameters that stay more uncertain than the file's values.
    noise : float
        Noise of the forces [N or N m].
    rate : float
        Sampling rate [Hz].
    tried : int
        Number of motions tried.
    limits : str
        Within which limits the motion is, in words.
    relative : ndarray, shape (r,)
        Standard deviations by the uncertainty of the file's values.
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
    limits: str = ""
    relative: Array = field(default_factory=lambda: np.zeros(0))

    def shown(self, time: float | None = None) -> int:
        """How many base parameters a measurement shows better than the file's values do.

        Parameters
        ----------
        time : float, optional
            Time of the measurement [s], of repeated periods. Default: one period.

        Returns
        -------
        int
            Their number.
        """
        periods = 1.0 if time is None else time / self.period
        return int((self.relative < np.sqrt(periods)).sum())

    @property
    def period(self) -> float:
        """Period of the motion [s]."""
        return float(self.motion.trajectory.duration)

    def to_dataset(self) -> xr.Dataset:
        """Standard deviations of the base parameters as labelled arrays.

        Returns
        -------
        xarray.Dataset
            The arrays.
        """
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
    duration: float | None = None,
    harmonics: int | None = None,
    noise: float = 1.0,
    rate: float = 1000.0,
    criterion: Criterion = "determinant",
    max_acceleration: float | None = None,
    reach: float = 0.25,
    max_frequency: float = 10.0,
    same_legs: bool = False,
    tries: int = TRIES,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> Excitation:
    """Design an excitation trajectory for identification of inertias and friction, within all limits.

    Kept are all limits of the robot file (``Model.limits``), and conditioning no worse than three times that at home.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file.
    duration : float, optional
        Period of the motion [s]. Default: that which shows the most in ten seconds.
    harmonics : int, optional
        Number of harmonics of the Fourier series. Default: as the period.
    noise : float, optional
        Noise of measured forces [N or N m].
    rate : float, optional
        Sampling rate of the measurement [Hz].
    criterion : str, optional
        What to optimise: ``determinant`` of the information of ten seconds together with the file's, or ``condition``
        number of the regressor.
    max_acceleration : float, optional
        Largest acceleration of an actuated coordinate [m/s^2 or rad/s^2]. Default: no limit.
    reach : float, optional
        Largest distance of the platform from home, in robot sizes and radians.
    max_frequency : float, optional
        Highest frequency of a proposed series [Hz]: what the machine's controllers follow. It does not bound series
        whose ``duration`` and ``harmonics`` are given.
    same_legs : bool, optional
        Whether all legs share the same parameters.
    tries : int, optional
        Number of motions to try, those to find period and harmonics included. The same number gives the same motion.
    seed : int, optional
        Random seed.
    progress : callable, optional
        Called with the name of each step.

    Returns
    -------
    Excitation
        The motion, and the uncertainties to expect.
    """
    if not isinstance(model, Model):
        model = Model(model)
    model.robot.refuse_internal("excite")
    given = {"noise": noise, "rate": rate, "reach": reach, "max_frequency": max_frequency, "tries": tries}
    if duration is not None:
        given["duration"] = duration
    for name, value in given.items():
        if not 0 < value <= LARGEST_NUMBER:
            raise InputError(f"{name}: must be greater than 0 and at most {LARGEST_NUMBER:g}, got {value}")
    if harmonics is not None and harmonics < 3:
        raise InputError(f"harmonics: must be at least 3 to start at rest, got {harmonics}")
    if criterion not in ("determinant", "condition"):
        raise InputError(f"criterion: must be 'determinant' or 'condition', got {criterion!r}")
    linear = LinearModel(model, same_legs=same_legs)
    base = base_parameters(linear)

    def search_of(period: float, count: int) -> Search:
        return Search(linear, base, period, count, criterion, max_acceleration, reach, rate * MEASURED / noise**2)

    if duration is not None and harmonics is not None:
        search, start, tried = search_of(duration, harmonics), None, 0
    else:
        highest = min(max_frequency, rate / SAMPLED)
        search, start, tried = _proposed(search_of, duration, harmonics, highest, tries, seed, progress)
    best, tried = search.run(tries, np.random.default_rng(seed), progress, start, tried)
    return _shown(search, search.shrunk_to_limits(best), noise, rate, tried)


SAMPLED = 20.0
"""Samples of the fastest harmonic, at least: accelerations are differences of samples."""
COUNTS = (4, 6, 8, 12, 16)
"""Numbers of harmonics to choose from."""
STEP = float(np.sqrt(2.0))
"""Factor between frequencies to choose from."""


def _proposed(
    search_of: Callable[[float, int], Search],
    duration: float | None,
    harmonics: int | None,
    highest: float,
    tries: int,
    seed: int,
    progress: Callable[[str], None],
) -> tuple[Search, Array | None, int]:
    """The search of the best period and number of harmonics, its best series so far and the motions tried.

    By steps from one choice to a better neighbour, first of the highest frequency, then of the number of harmonics,
    each judged by a few motions.
    """
    each = max(1, tries // 25)
    seen: dict[tuple[int, int], tuple[float, Search, Array | None]] = {}
    tried = 0

    def period(choice: tuple[int, int]) -> float:
        if duration is not None:
            return duration
        return float(f"{(harmonics or COUNTS[choice[1]]) / (highest * STEP ** choice[0]):.2g}")

    def value(choice: tuple[int, int]) -> float:
        nonlocal tried
        if choice not in seen:
            search = search_of(period(choice), harmonics or COUNTS[choice[1]])
            best, top = search.tried(each, seed)
            tried += each
            progress(f"{tried} motions tried")
            seen[choice] = top, search, best
        return seen[choice][0]

    # frequencies from the highest down; numbers of harmonics around the middle
    here = (0 if duration is not None else -2 * round(np.log(max(highest, 1e-9)) / np.log(2.0)), len(COUNTS) // 2)
    here = min(here, (0, here[1]))
    directions = [] if duration is not None else [(2, 0), (-2, 0), (1, 0), (-1, 0)]
    directions += [] if harmonics is not None else [(0, 1), (0, -1)]
    better = True
    while better and 2 * tried < tries:
        better = False
        for step in directions:
            there = here[0] + step[0], here[1] + step[1]
            while there[0] <= 0 and 0 <= there[1] < len(COUNTS) and value(there) > value(here) and 2 * tried < tries:
                here, better = there, True
                there = here[0] + step[0], here[1] + step[1]
    value(here)
    return seen[here][1], seen[here][2], tried


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
        search.sentence(search.motion(genes, CHECKED)), relative,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# The search for a motion: finite Fourier series made larger up to a limit, the better of neighbours kept.

Criterion = Literal["determinant", "condition"]
SAMPLES = 120
"""Instants of a period at which limits and information are looked at while searching."""
CHECKED = 2000
"""Instants at which limits of the final motion are looked at."""
ROOM = 1e-3
"""Share of every limit that the final motion leaves, for what may be between those instants."""
FAMILY = 8
"""Fourier series that are tried before the step size is adapted."""


@dataclass(frozen=True, eq=False)
class Series(Path):
    """x = offset + sum_k a_k cos(k w t) + b_k sin(k w t), a and b (m, K): what the file says, unchecked."""

    offset: Array
    a: Array
    b: Array
    duration: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.offset.shape

    def evaluate(self, t: Array) -> Coordinates:
        w = 2 * np.pi * np.arange(1, self.a.shape[1] + 1) / self.duration
        c, s = np.cos(np.multiply.outer(t, w)), np.sin(np.multiply.outer(t, w))
        x = self.offset + c @ self.a.T + s @ self.b.T
        return Coordinates(x, (c * w) @ self.b.T - (s * w) @ self.a.T, -(c * w**2) @ self.a.T - (s * w**2) @ self.b.T)


class Search:
    """Series of one period within all limits of a robot, and the information of each about the base parameters."""

    def __init__(
        self,
        linear: LinearModel,
        base: BaseParameters,
        duration: float,
        harmonics: int,
        criterion: Criterion,
        max_acceleration: float | None,
        reach: float,
        samples: float,
    ) -> None:
        self.samples = samples  # of a measurement, each of noise one
        self.linear, self.model, self.base = linear, linear.model, base
        self.duration, self.harmonics, self.criterion = duration, harmonics, criterion
        self.series = _rest_to_rest(harmonics)
        m = self.model.mobility.count
        size = max(self.model.size, 0.05)
        turns = [f.motion == "rotation" for f in self.model.robot.dof] or [False] * 3 + [True] * 3
        self.scale = reach * np.where(turns, 1.0, size)
        self.shape = (m, self.series.shape[1])
        home = self.model.robot.home.matrix
        self.worst = 3.0 * float(self.model.conditioning(home).condition)
        self.convention, self.home = _angles(self.model.robot)
        self.limits = _with_acceleration(self.model.robot_limits, max_acceleration).stated(condition_number=self.worst)
        self.weight = np.maximum(uncertainties(linear, None)[list(base.independent)], 1e-300)

    # -- motions -----------------------------------------------------------------------------------------------------

    def coefficients(self, genes: Array) -> tuple[Array, Array]:
        """a and b (..., m, K) of genes (..., m, g), the largest excursion of a coordinate being its scale."""
        both = genes @ self.series.T
        k = self.harmonics
        return both[..., :k] * self.scale[:, None], both[..., k:] * self.scale[:, None]

    def motion(self, genes: Array, samples: int) -> MotionRows:
        """States of one series at even instants of its period."""
        a, b = self.coefficients(genes)
        path = Series(self.home - a.sum(axis=-1), a, b, self.duration)
        found = self._trajectory(path).for_model(self.model).at(np.linspace(0, self.duration, samples, endpoint=False))
        return MotionRows(found.pose, found.twist, found.acceleration)

    def _trajectory(self, path: Path) -> Euler | IndependentCoordinates:
        return (
            Euler(path=path, convention=self.convention)
            if self.model.mobility.full
            else IndependentCoordinates(path=path)
        )

    def file(self, genes: Array, name: str = "excitation", rate: float = 1000.0) -> MotionFile:
        """The series as a motion file: sines at once with a rest at home."""
        a, b = self.coefficients(genes)
        parts: list[Any] = [Rest(point=(self.home - a.sum(axis=-1)).tolist(), duration=self.duration)]
        for k in range(self.harmonics):
            amplitude = np.hypot(a[:, k], b[:, k])
            parts.append(
                Sine(
                    amplitude=amplitude.tolist(),
                    frequency=(k + 1) / self.duration,
                    phase=np.arctan2(a[:, k], b[:, k]).tolist(),
                    duration=self.duration,
                )
            )
        trajectory = self._trajectory(Sum(parts=tuple(parts)))
        title = f"{self.harmonics} harmonics of {1 / self.duration:g} Hz that excite inertias and friction"
        return MotionFile(name=name, title=title, robot=self.model.robot.name, rate=rate, trajectory=trajectory)

    # -- limits and information ----------------------------------------------------------------------------------------

    def within_limits(self, motion: MotionRows, room: float = 0.0) -> bool:
        """Whether a motion keeps all limits, with ``room`` to spare as a share of each."""
        if not np.isfinite(motion.pose).all():
            return False
        model = self.model
        quality = model.kernel("inverse_kinematics")(np.ascontiguousarray(motion.pose))[1]
        if not (quality > 1e-3).all():
            return False
        found = self.judged(motion)
        open_ = np.array([KINDS[kind].of == "joint" for kind in found.kinds], dtype=bool) & np.isnan(found.use).any(
            axis=0
        )
        # forces that are shared within limits stay at them where they must
        shared = [bool(self.limits.sharing) and "force" in KINDS[kind].needs for kind in found.kinds]
        most = np.where(shared, 1 + ROUNDING, 1 - room)
        return bool((found.use <= most)[:, ~open_].all())

    def judged(self, motion: MotionRows) -> LimitReport:
        """Use of every limit along one period, its start repeated as its end."""
        closed = [np.concatenate([rows, rows[:1]]) for rows in motion.arrays]
        time = np.linspace(0.0, self.duration, len(closed[0]))
        return judge(self.model, *closed, time=time, limits=self.limits)

    def sentence(self, motion: MotionRows) -> str:
        """Within how many limits the motion is, what is not given and what was not judged."""
        found = self.judged(motion)
        own = self.model.robot_limits
        open_ = {
            f"{found.quantities[k]} of {found.names[k][0]}": OPEN
            for k in np.flatnonzero(np.isnan(found.use).any(axis=0)).tolist()
        }
        text = within_all(len(own.limits) - len(open_), own.not_given, {**found.left_out, **open_})
        return f"{text}; {own.sharing}" if own.sharing else text

    def grown_to_limits(self, genes: Array, samples: int = SAMPLES) -> Array | None:
        """The series scaled up as far as all limits allow, by bisection; None if no size keeps them."""
        genes = genes / max(_extent(self.series, genes), 1e-300)
        low, high = 0.0, 1.0
        if self.within_limits(self.motion(genes, samples)):
            return genes
        for _ in range(6):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.within_limits(self.motion(middle * genes, samples)) else (low, middle)
        return low * genes if low > 0 else None

    def information(self, genes: Array, samples: int = SAMPLES) -> Array:
        """Triangle R (r, r) of the base regressor over a period, in units of the file's uncertainties."""
        motion = self.motion(genes, samples)
        rows = self.linear.derivatives(motion, self.linear.values, self.base.independent) * self.weight
        return np.asarray(np.linalg.qr(np.nan_to_num(rows).reshape(-1, self.base.count), mode="r"))

    def score(self, genes: Array) -> float:
        """What is to be large: the information that ``MEASURED`` seconds add, or minus the log of the condition."""
        values = np.linalg.svd(self.information(genes), compute_uv=False)
        if self.criterion == "condition":
            return -float(np.log(values[0] / max(values[-1], 1e-300)))
        return float(np.log1p(values**2 * self.samples / SAMPLES).sum())

    def tried(self, tries: int, seed: int) -> tuple[Array | None, float]:
        """The best of a few motions, None if the robot can follow none, and its score."""
        best, top, _ = self._evolved(tries, np.random.default_rng(seed), lambda step: None, None, 0)
        return best, top

    def run(
        self,
        tries: int,
        rng: np.random.Generator,
        progress: Callable[[str], None],
        start: Array | None = None,
        tried: int = 0,
    ) -> tuple[Array, int]:
        """The best series after ``tries`` motions, of which some were tried before: from ``start``, if there is one."""
        best, _, tried = self._evolved(tries, rng, progress, start, tried)
        if best is None:
            raise InputError(
                f"robot: {self.model.robot.name!r} can follow none of {tried} motions around home within its "
                "limits; is home at the edge of its workspace? Try a smaller reach"
            )
        return best, tried

    def _evolved(
        self, tries: int, rng: np.random.Generator, progress: Callable[[str], None], best: Array | None, tried: int
    ) -> tuple[Array | None, float, int]:
        """Evolution: the best of random series, then better neighbours of it, steps that shrink when none is found."""
        top, step = -np.inf if best is None else self.score(best), 0.5
        drawn = 0 if best is None else 2 * FAMILY
        while tried < tries and step > 1e-3:
            better = False
            for _ in range(min(FAMILY, tries - tried)):
                draw = rng.standard_normal(self.shape)
                spread = np.linalg.norm(best) / np.sqrt(draw.size) if best is not None else 1.0
                genes = self.grown_to_limits(
                    draw if best is None or drawn < 2 * FAMILY else best + step * spread * draw
                )
                tried, drawn = tried + 1, drawn + 1
                if genes is None:
                    continue
                value = self.score(genes)
                if value > top:
                    best, top, better = genes, value, True
            step = min(1.3 * step, 1.0) if better else 0.7 * step
            progress(f"{tried} motions tried")
        return best, top, tried

    def shrunk_to_limits(self, genes: Array) -> Array:
        """The same series, made smaller until a close look finds no limit broken."""
        for _ in range(30):
            if self.within_limits(self.motion(genes, CHECKED), ROOM):
                return genes
            genes = 0.97 * genes
        raise InputError("robot: the motion violates limits between its samples; use fewer harmonics")


def _rest_to_rest(harmonics: int) -> Array:
    """Directions (2 K, g) of [a, b] with sum k b_k = 0 and sum k^2 a_k = 0; higher harmonics are smaller."""
    k = np.arange(1, harmonics + 1)
    conditions = np.zeros((2, 2 * harmonics))
    conditions[0, harmonics:] = k
    conditions[1, :harmonics] = k**2
    scale = np.tile(1.0 / k, 2)
    _, _, right = np.linalg.svd(conditions * scale)
    return np.asarray(right[2:].T * scale[:, None])


def _extent(series: Array, genes: Array) -> float:
    """Largest excursion of any coordinate over a period, in units of its scale."""
    both = genes @ series.T
    k = series.shape[0] // 2
    angle = np.outer(np.arange(1, k + 1), np.linspace(0, 2 * np.pi, 200))
    x = both[:, :k] @ (np.cos(angle) - 1) + both[:, k:] @ np.sin(angle)
    return float(np.abs(x).max())


def _angles(robot: Robot) -> tuple[str, Array]:
    """An order of angles that is far from its singular pose at home, and the coordinates of home in it."""
    if robot.dof:
        return "", np.zeros(len(robot.dof))
    turn = Rotation.from_matrix(np.array(robot.home.rotation))
    for order in (robot.euler, "XYZ", "ZYX", "ZXY"):
        if len(set(order.lower())) == 3:
            angles = turn.as_euler(order)
            if abs(angles[1]) < 1.0:
                return order, np.concatenate([robot.home.position, angles])
    raise InputError("robot: no Euler angle convention describes motions around home at its orientation")


def _with_acceleration(limits: RobotLimits, most: float | None) -> RobotLimits:
    """Limits with another largest acceleration of all actuators, where that is less than the file's."""
    if most is None:
        return limits
    return limits.with_bounds("acceleration", np.minimum(limits.bounds("acceleration"), most))
