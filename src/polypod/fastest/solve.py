"""The fastest motion along a path: limits linearised about the last answer, in iterations, until the full model
agrees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..friction import has_friction
from ..lazy import lazy
from ..limits import LimitReport, LimitUse, left_out_text, within_all
from ..motion import ArcLengthPath, MotionFile, Retimed, Trajectory, Wrench, WrenchTable, find_motion
from ..motion.kinds import same_parts
from ..tables import Table, called, table
from .limits import OF_FORCES, PLATFORM, TENSION, Limits, not_held
from .path_grid import PathGrid
from .problem import LimitShares, Problem
from .reach import fastest_profile
from .sharing import Sharing
from .smooth import JerkLimitedLaw, bounded_jerk

if TYPE_CHECKING:
    from ..model import Model

TOLERANCE = 1e-3
"""Share by which a limit may be exceeded, by the full model between the places too."""
_MAX_ITERATIONS, _CONVERGED = 40, 1e-4
_ROWS = 1000
"""Rows of a table of wrenches at least."""
_MAX_LOWERINGS, _MIN_EXPONENT = 40, 0.2
"""How often peaks are lowered for an rms force, and the least exponent p of rms ~ peak^p that is believed."""
_JUDGED = 2001
"""Times at which all limits of the robot file are judged along the motion that was found."""
_KEEP_AFTER = 4
"""Round from which the friction of earlier iterations counts too: answers that oscillate then settle."""
_KEPT, _KEPT_SAMPLES = 4, 20_000
"""Ways kept for each model, and the most places of one that is kept (1 MB for 4,000)."""
_LISTED = 6
"""Stops whose times are listed."""


@dataclass(frozen=True, eq=False)
class Fastest:
    """The fastest motion along a path.

    Attributes
    ----------
    grid : PathGrid
        The path and its grid points.
    lengths : ndarray
        Arc lengths [m].
    speeds : ndarray
        Speeds along the path there [m/s].
    duration : float
        Duration of the motion [s].
    used : dict of str to (float, str, float)
        Largest use of each kind of limit (1: at the limit), by the full model at and between grid points, with the
        actuator or joint and the time [s].
    binding : dict of str to float
        Share of the time in which each kind of limit, or none, limits the motion.
    iterations : int
        Number of iterations.
    smooth : JerkLimitedLaw or None
        Time law if the jerk is limited.
    force_unit : str
        Unit of the forces: N, or N m of actuators that turn.
    """

    grid: PathGrid
    lengths: Array
    speeds: Array
    duration: float
    used: dict[str, tuple[float, str, float]]
    binding: dict[str, float]
    iterations: int
    smooth: JerkLimitedLaw | None = None
    force_unit: str = "N"

    @lazy
    def trajectory(self) -> Retimed:
        """The motion, as a trajectory of a motion file."""
        turn_length = self.grid.path.turn_length
        times, accelerations = (None, None) if self.smooth is None else (self.smooth.times, self.smooth.accelerations)
        return Retimed(
            along=self.grid.along,
            turn_length=turn_length,
            lengths=self.lengths,
            speeds=self.speeds,
            times=times,
            accelerations=accelerations,
        )

    def _named(self, kind: str) -> str:
        """A kind of limit in words: a torque of actuators that turn."""
        return called(kind.replace("_", " "), self.force_unit)

    @property
    def stops_note(self) -> str:
        """Where a motion of bounded jerk stops because the curvature of its path jumps; empty if nowhere."""
        if self.smooth is None or not self.grid.path.bends.any():
            return ""
        law, breakpoints = self.smooth, self.grid.path.breakpoints[self.grid.path.bends]
        when = ", ".join(f"{law.times[int(np.abs(law.lengths - b).argmin())]:.4g}" for b in breakpoints[:_LISTED])
        more = f" and {len(breakpoints) - _LISTED} more" if len(breakpoints) > _LISTED else ""
        return (
            f"The motion stops where the curvature of the path jumps, as jerk would be unbounded: at {when} s{more}."
            " A path with blends, such as a spline, needs no stops."
        )

    @property
    def table(self) -> Table:
        """How much of each kind of limit is used, by what and when, and how long it holds the motion back."""
        columns = [("limit", ""), ("most used", "%"), ("by", ""), ("at", "s"), ("limiting", "% of the time")]
        rows = [
            (
                self._named(kind),
                100 * share,
                who,
                at,
                100 * self.binding.get(kind, float("nan")),
            )
            for kind, (share, who, at) in self.used.items()
        ]
        return table("Limits", columns, rows)

    def motion_file(self, name: str, robot: str | None = None) -> MotionFile:
        """The motion, with the wrench of the one it follows, as the content of a motion file.

        Parameters
        ----------
        name : str
            Name of the motion.
        robot : str, optional
            Name of the robot it is for.

        Returns
        -------
        MotionFile
            The content; ``polypod.motion.dumps_motion`` writes it.
        """
        return MotionFile(name=name, robot=robot, trajectory=self.trajectory, wrench=self._wrench())

    def _wrench(self) -> Wrench | None:
        """The external wrench by this motion's own time: a table follows the places it was given for."""
        given = self.grid.wrench
        if not isinstance(given, WrenchTable):
            return given
        reached, law = self.trajectory.reached, self.trajectory
        time = np.union1d(reached, np.linspace(0.0, self.duration, _ROWS))
        time = time[np.insert(np.diff(time) > 1e-9 * self.duration, 0, True)]
        values = given.components(self.grid.path.time(law.progress(time)[0]))
        return WrenchTable(times=time.tolist(), values=values.tolist(), point=given.point, frame=given.frame)


def fastest(
    model: Model,
    motion: PathGrid | MotionFile | Trajectory | str | Path | None = None,
    limits: Limits | None = None,
    *,
    points: int = 1000,
    friction: bool = True,
) -> Fastest:
    """The fastest motion from rest to rest along the path of a motion, within limits of actuators and joints.

    Speed and acceleration along the path are found by reachability analysis (``polypod.fastest.reach``); limits are
    kept by the full model to 0.1 %. Corners of the path are stops and, with a limit of the jerk, so are points where
    its curvature jumps, as from a line into an arc.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : PathGrid, MotionFile, Trajectory, str or Path, optional
        Motion that says where the platform goes; the wrench of its file acts at the same positions. Default: the
        robot's own motion.
    limits : Limits, optional
        Limits. Default for each that is not given: that of the robot's actuators.
    points : int, optional
        Number of grid points.
    friction : bool, optional
        Whether friction in the joints is included.

    Returns
    -------
    Fastest
        The motion, and what limits it.

    Raises
    ------
    InputError
        If there are no limits, or the platform is flexible.

    Examples
    --------
    >>> import polypod as pp
    >>> from polypod.fastest import Limits, fastest
    >>> found = fastest(pp.Model("kim-ryu"), "kim-ryu-circle", Limits(force=60.0), friction=False, points=200)
    >>> round(found.duration, 2)
    1.73
    """
    model.robot.refuse_internal("fastest")
    if model.robot.flexible:
        raise InputError(f"fastest: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    bounds = (limits or Limits()).of(model)
    if not set(bounds) - {"rms_force", "jerk"}:
        raise InputError(
            "no limits given: pass at least one of force=, speed=, acceleration=, power= and reaction= (an rms force "
            "alone does not limit peaks), or set max_force and others in the robot file",
            code="missing",
        )
    samples = motion if isinstance(motion, PathGrid) else prepare_grid(model, motion, points)
    if "jerk" in bounds:
        samples = samples.resting_at_bends()
    problem = Problem(model, samples, bounds, friction and has_friction(model.kernels.mechanism))
    x, use, iterations = _within_rms(problem)
    found = _result(model, problem, x, use, iterations)
    if "jerk" not in bounds:
        return found

    def squares(within: dict[str, Array]) -> Array:
        return x if within is bounds else _within_rms(Problem(model, samples, within, problem.friction))[0]

    law, times, shares = bounded_jerk(model, samples, squares, bounds, problem.friction)
    used, held = {}, {}
    for kind, share in shares.items():
        row, who = np.unravel_index(int(share.argmax()), share.shape)
        at = times[-1] if kind == "rms_force" else times[row]
        used[kind] = float(share[row, who]), _names(model, kind)[who], float(at)
        each = share.max(axis=1)
        if kind != "rms_force":  # in every stretch between two times
            held[kind] = each if kind == "jerk" else np.maximum(each[1:], each[:-1])
    return replace(
        found,
        lengths=law.lengths,
        speeds=law.speeds,
        smooth=law,
        duration=float(law.times[-1]),
        used=used,
        binding=_binding(held, np.diff(times)),
    )


def judged(model: Model, found: Fastest, friction: bool = True) -> LimitReport:
    """Use of every limit of the robot file along a fastest motion: also of those that it is not held within."""
    time = np.linspace(0.0, found.duration, _JUDGED)
    motion = found.trajectory.for_model(model).at(time)
    wrench = None if found.grid.wrench is None else found.motion_file("judged").wrench
    acting = None if wrench is None else wrench.at(motion)
    return model.limits(motion.pose, motion.twist, motion.acceleration, acting, time=time, friction=friction)


def sharing_text(model: Model, found: Fastest) -> str:
    """Which limits the search holds for forces of least norm where actuators are redundant; empty where for none.

    Limits of forces and tensions hold for the best distribution. Others need one distribution while the speed is
    sought, and forces of least norm are affine in acceleration and squared speed.
    """
    if model.robot_limits.redundancy <= 0:
        return ""
    best = {"force", TENSION} if Sharing.applies(model) else set()
    names = [found._named(kind) for kind in found.used if kind in OF_FORCES and kind not in best]
    if not names:
        return ""
    return (
        f"While the speed was sought, limits of {', '.join(names)} held for forces of least norm, not for the best "
        "distribution: a faster motion may exist."
    )


def limits_text(model: Model, report: LimitReport) -> str:
    """A sentence on the robot file's own limits along a fastest motion: within all of them, or which it exceeds."""
    beyond = [one for one in report.uses() if not (one.use <= 1 + TOLERANCE or np.isnan(one.use))]
    own, after = model.robot_limits, not_held(model)
    tail = f"; {own.sharing}" if own.sharing else ""
    if not own.limits:
        return ""
    if not beyond:
        judged_after = f" Judged afterwards: {left_out_text(after)}." if after else ""
        sentence = within_all(len(own.limits), own.not_given, report.left_out)
        return f"The motion is {sentence}, to 0.1 %{tail}.{judged_after}"
    worst: dict[str, LimitUse] = {}
    for one in sorted(beyond, key=lambda one: -one.use):
        worst.setdefault(one.quantity, one)
    texts = [f"{q} {100 * one.use:.4g} % in {one.where}" for q, one in worst.items()]
    loose = {quantity: after[quantity] for quantity in worst if quantity in after}
    why = f" It is not held within limits of {left_out_text(loose)}, which are judged afterwards." if loose else ""
    return f"The motion exceeds limits of the robot file: {'; '.join(texts)}.{why}{tail}"


def prepare_grid(
    model: Model, motion: MotionFile | Trajectory | str | Path | None = None, points: int = 1000
) -> PathGrid:
    """Grid points on the path of a motion, for repeated calls of ``fastest``.

    The last few grids are kept with the model, and reused for a motion that is the same object or has the same fields.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion: a motion file or its path, a trajectory, the name of a published motion, or ``around-home``. Default:
        the robot's own motion.
    points : int, optional
        Number of grid points.

    Returns
    -------
    PathGrid
        The grid.
    """
    if not isinstance(points, int) or isinstance(points, bool) or not 10 <= points <= 1_000_000:
        raise InputError(f"points: must be an integer from 10 to 1000000, got {points!r}")
    file = find_motion(model, motion)
    kept: list[tuple[int, PathGrid]] = model.kept(__name__, list)
    for count, old in kept:
        if count == points and same_parts(old.along, file.trajectory):
            return replace(old, wrench=file.wrench)
    found = PathGrid.of(
        ArcLengthPath(file.trajectory.for_model(model), model.size), points, file.trajectory, file.wrench
    )
    if found.between.time.size <= _KEPT_SAMPLES:
        kept[:] = [(points, found), *kept[: _KEPT - 1]]
    return found


def _solve(problem: Problem) -> tuple[Array, LimitShares, int]:
    """Squares of speeds (N + 1,) that keep all limits but rms, what the full model says of them, and iterations
    taken."""
    x: Array | None = None
    last, worst = np.inf, np.inf
    for count in range(1, _MAX_ITERATIONS + 1):
        found = fastest_profile(problem.lines(x), problem.grid.step, problem.max_squares())
        if found.infeasible is not None and x is None and "force_speed" in problem.limits and not problem.slow_start:
            problem.slow_start = True
            continue
        if found.infeasible is not None:
            raise InputError(_no_speed(problem, found.infeasible))
        x = found.x
        if x.max() > 1e25:
            raise InputError("limits: nothing bounds the speed along this path; give a force, speed or power limit too")
        duration = float(problem.grid.times(x)[-1])
        converged = problem.linear or abs(duration - last) < _CONVERGED * duration
        use = problem.at_ends(x)
        if converged:
            worst = use.worst()
            if worst <= 1 + TOLERANCE:
                use = problem.everywhere(x, use)
                worst = use.worst()
            if worst <= 1 + TOLERANCE:
                return x, use, count
            problem.tighten(use)  # the grid's own error, or an answer that oscillates
        problem.update(use, x, keep=count > _KEEP_AFTER)
        last = duration
    raise InputError(
        f"points: after {_MAX_ITERATIONS} rounds a limit is still broken by {worst - 1:.2%}; use more points or a "
        "smoother "
        "path"
    )


def _within_rms(problem: Problem) -> tuple[Array, LimitShares, int]:
    """The same with the rms of each force within its limit, by lower peaks where they would be too high."""
    limit = problem.limits.get("rms_force")
    x, use, iterations = _solve(problem)
    if limit is None:
        return x, use, iterations
    share = _rms(problem, x, use) / limit
    exponent = np.ones(len(limit))  # p of rms ~ peak^p, from the last two iterations
    for _ in range(_MAX_LOWERINGS):
        if share.max() <= 1 + TOLERANCE / 2:
            return x, use, iterations
        peak = np.abs(use.force).max(axis=(0, 1))
        allowed = peak if problem.force_limit is None else np.minimum(peak, problem.force_limit)
        over = share > 1
        lowered = allowed / np.where(over, share, 1.0) ** (1.02 / exponent)
        changed, before = np.log(lowered / allowed), share
        problem.force_limit = np.where(over, lowered, np.inf if problem.force_limit is None else problem.force_limit)
        try:
            x, use, more = _solve(problem)
        except InputError as error:
            k = int(share.argmax())
            raise InputError(
                f"limits.rms_force: {problem.model.actuators[k].name} needs {share[k]:.3g} times its limit, and "
                f"lower peaks do not help: {error}"
            ) from error
        iterations += more
        share = _rms(problem, x, use) / limit
        less = changed < 0
        exponent[less] = np.clip(np.log(share[less] / before[less]) / changed[less], _MIN_EXPONENT, 1.0)
    raise InputError("limits.rms_force: no peak limits were found that keep it; allow more, or choose another path")


def _rms(problem: Problem, x: Array, use: LimitShares) -> Array:
    """Root mean squares (n,) of the forces over time, by trapezia between the places at which they were seen."""
    grid = problem.grid
    speed = np.sqrt(x[:-1] + grid.shares[:, None] * np.diff(x))
    both = speed[1:] + speed[:-1]
    spent = np.where(both > 0, 2 * grid.step * np.diff(grid.shares)[:, None] / np.where(both > 0, both, 1.0), 0.0)
    square = use.force**2
    total = (spent[..., None] * (square[1:] + square[:-1]) / 2).sum(axis=(0, 1))
    return np.asarray(np.sqrt(total / spent.sum()))


def _no_speed(problem: Problem, interval: int) -> str:
    """Why no speed is possible at a place."""
    path, grid = problem.dynamics, problem.grid
    where = f"{grid.length[interval]:.4g} m along the path (t = {grid.samples.time[interval]:.4g} s of the motion)"
    if problem.force_limit is not None and not Sharing.applies(problem.model):
        low, high = problem.friction_bounds
        hold = np.maximum(np.abs(path.force_0[:-1] + low[0]), np.abs(path.force_0[:-1] + high[0]))
        share = hold / problem.force_limit
        worst = np.unravel_index(int(share.argmax()), share.shape)
        if share[worst] > 1:
            actuator = problem.model.actuators[worst[1]]
            place = (
                f"{grid.length[worst[0]]:.4g} m along the path (t = {grid.samples.time[worst[0]]:.4g} s of the motion)"
            )
            unit, allowed = actuator.force_unit, problem.force_limit[worst[1]]
            return (
                f"limits.force: {actuator.name} needs {hold[worst]:.4g} {unit} to move slowly at {place}; "
                f"{allowed:.4g} {unit} are allowed: allow more, or take another path"
            )
    return f"limits: no speed satisfies all limits at {where}: allow more there, or take another path"


def _result(model: Model, problem: Problem, x: Array, use: LimitShares, iterations: int) -> Fastest:
    grid = problem.grid
    times = grid.times(x)
    single = np.concatenate([[True], grid.step > 0])  # of the two places where parts meet, the first
    used, held = {}, {}
    for kind, share in use.kinds.items():
        place = np.unravel_index(int(share.argmax()), share.shape)
        at = float(times[place[1]]) + grid.time_inside(x, int(place[1]), float(grid.shares[place[0]]))
        used[kind] = float(share[place]), _names(model, kind)[place[2]], at
        held[kind] = share.max(axis=(0, 2))
    if "rms_force" in problem.limits:
        share = _rms(problem, x, use) / problem.limits["rms_force"]
        k = int(share.argmax())
        used["rms_force"] = float(share[k]), model.actuators[k].name, float(times[-1])
    binding = _binding(held, np.diff(times))
    return Fastest(grid, grid.length[single], np.sqrt(x[single]), float(times[-1]), used, binding, iterations,
                   force_unit=model.actuators[0].force_unit)  # fmt: skip


def _names(model: Model, kind: str) -> list[str]:
    """Who may use a kind of limit: actuators, joints, or the platform."""
    if kind in PLATFORM:
        return ["platform", *(f"platform {axis}" for axis in "xyz")]
    if kind in ("force", TENSION) and Sharing.applies(model):
        return Sharing.names(model)
    if kind != "reaction":
        return [actuator.name for actuator in model.actuators]
    return [f"{leg.leg.name} {j.name}" for leg in model.kernels.mechanism.placed for j in leg.placement.joints]


def _binding(held: dict[str, Array], spent: Array) -> dict[str, float]:
    """The share of the time in which each kind, or none, holds the motion back, by shares (n,) in times spent (n,)."""
    level = np.stack(list(held.values()))
    first = np.where(level.max(axis=0) > 0.98, level.argmax(axis=0), -1)
    binding = {kind: float(spent[first == k].sum() / spent.sum()) for k, kind in enumerate(held)}
    return {**binding, "none": float(spent[first == -1].sum() / spent.sum())}
