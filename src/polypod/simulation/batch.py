"""Many runs in one call: states, forces and designs side by side, each period one call of the compiled kernel.

The kernel's numbers tell of every run whether anything can have happened in a period. Only a run of which they do not
is looked at by itself, by the same integrator and event detector as a single run: it then ends where that would end.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..control.contract import ControllerWithMemory, Measurement
from ..control.reference import Reference
from ..datasets import COMPONENTS, dataset
from ..errors import InputError, StateError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..limits import KINDS, left_out_text
from ..mechanism import Mechanism
from ..model import Model
from ..model.arguments import Argument
from ..model.calls import Calls, DesignBatch, States
from ..model.kernels import RowKernels
from . import kernels as graphs
from .arguments import Timing, longest_step, progress_bar, wanted_motion
from .chart import Layout, Snapshot, poses
from .errors import EnergyWarning, InterruptedWarning, SimulationError
from .events import (
    MAX_PARTS,
    MAX_TRAVEL,
    Action,
    ClearanceWatch,
    EventDetector,
    LimitWatch,
    SingularityWatch,
    Watch,
    chosen_actions,
    start_fault,
    watched_limits,
)
from .integrators import FIXED, Integrator, no_answer
from .result import COMPLETE, energy_fault, pose_errors
from .signals import Actuators, AppliedForces, ConstantSignal, Function, Signal
from .system import CompiledDynamics, Graph, Stepper, System

if TYPE_CHECKING:
    import xarray as xr

MAX_ROWS = 5_000_000
"""Rows of a result (runs times output times), of some 500 bytes each."""
_RATE = 1000.0
_WATCHED = ("limit", "singularity")
_ONE_BY_ONE = "not in a batch of runs"
Rows = NDArray[np.int64]


class DesignSystem(System):
    """One design of a robot, as a simulation of it alone asks for it."""

    def __init__(self, system: System, compiled: CompiledDynamics, functions: RowKernels) -> None:
        """``functions`` are those of one row."""
        super().__init__(system.model, system.friction)
        self._compiled, self._functions = compiled, functions
        self.compiled = self  # type: ignore[assignment]

    def kernel(self, graph: Graph) -> Kernel:
        """The compiled form of a function of the dynamics, with the design's numbers."""
        return _with_rows(self._compiled.without_numbers(graph), self._functions.numbers)

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols."""
        return self._functions.mechanism

    @property
    def limit_ranges(self) -> Array:
        """Lowest and highest values (k, 2) of the limited quantities of the design."""
        return self.mechanism.limit_ranges_of(self._functions.numbers)[0]

    @property
    def explained(self) -> Any:
        """Who says why a state has no answer: the functions of the design."""
        return _Explained(self._functions)


class _Explained:
    """Functions of a design under the names that a model has for them."""

    def __init__(self, functions: RowKernels) -> None:
        self.kernels, self.kernel = functions, functions.get


def _with_rows(kernel: Kernel, numbers: Array) -> Kernel:
    return kernel.at(numbers, rows=True) if kernel.parameters else kernel


class RobotsOfRuns:
    """The robots of all runs: one, or the design of each; ``which`` is its number."""

    def __init__(self, system: System, states: States) -> None:
        self.system, self.designs, self.which = system, states.designs, states.which
        self._alone: dict[int, Stepper] = {}
        if self.designs is not None:
            opened, friction, model = self.designs.kernels, system.friction, system.model
            self._compiled = model.kept(
                (__name__, friction, opened), lambda: CompiledDynamics(model.kernels, friction, opened.mechanism)
            )

    def kernel(self, graph: Graph, runs: Rows) -> Kernel:
        """A function of the dynamics, with the numbers of some runs."""
        if self.designs is None:
            return self.system.compiled.kernel(graph)
        return _with_rows(self._compiled.without_numbers(graph), self.designs.numbers[self.which[runs]])

    def function(self, name: str, runs: Rows) -> Kernel:
        """A function of the model, with the numbers of some runs."""
        if self.designs is None:
            return self.system.model.kernels.get(name, verdict=True)
        return RowKernels(self.designs.kernels, self.designs.numbers[self.which[runs]]).get(name, verdict=True)

    def stepper(self, run: int) -> Stepper:
        """What steps one run by itself."""
        number = 0 if self.designs is None else int(self.which[run])
        if number not in self._alone:
            system = self.system
            if self.designs is not None:
                numbers = self.designs.numbers[[number]]
                system = DesignSystem(system, self._compiled, RowKernels(self.designs.kernels, numbers))
            self._alone[number] = Stepper(system)
        return self._alone[number]


class Watcher:
    """Limits and singularities of all runs: what is surely far from them together, the others one by one."""

    def __init__(self, robots: RobotsOfRuns, actions: Mapping[str, Action], threshold: float, starts: Array) -> None:
        self.robots, self._threshold = robots, threshold
        self.limits, self.singularities = (actions[kind] == "stop" for kind in _WATCHED)
        model = robots.system.model
        kinds = watched_limits(model)[0].kinds
        self._clearance = None
        if self.limits and "clearance" in kinds and robots.designs is None:
            self._clearance = ClearanceWatch("stop", model)
        self._side = np.where(starts[:, -1] < 0, -1.0, 1.0)
        self._starts = starts.copy()

    @property
    def any(self) -> bool:
        """Whether anything is watched."""
        return self.limits or self.singularities

    def quiet(self, runs: Rows, rows: Array, alert: Array) -> NDArray[np.bool_]:
        """Whether nothing can have happened to runs at rows of snapshots (n, W), of which ``alert`` tells (n, 3)."""
        limit_margin, distance, determinant = alert[:, :3].T
        quiet = np.ones(len(rows), dtype=bool)
        if self.limits:
            quiet &= limit_margin > 0
        if self.singularities:
            quiet &= distance > self._threshold
            quiet &= self._side[runs] * determinant > 0
        if self._clearance is not None:
            quiet &= (self._clearance.distances(poses(rows)) > 0).all(axis=-1)
        return quiet

    def restart(self, runs: Rows, rows: Array) -> None:
        """Runs start anew at rows of snapshots."""
        self._side[runs] = np.where(rows[:, -1] < 0, -1.0, 1.0)
        self._starts[runs] = rows

    def alone(self, run: int) -> list[Watch]:
        """The watches of one run."""
        watches: list[Watch] = []
        system = self.robots.stepper(run).system
        if self.limits:
            watches.append(LimitWatch("stop", system))
        if self._clearance is not None:
            watches.append(self._clearance)
        if self.singularities:
            start = Snapshot(self._starts[run], np.zeros(0), system.layout, np.zeros(0))
            watches.append(SingularityWatch("stop", self._threshold, start))
        return watches


class _Record:
    """Rows (times, runs, width) of snapshots, commanded and applied forces and energies; NaN where there are none."""

    def __init__(self, layout: Layout, times: Array, runs: int) -> None:
        width, n = layout.row["margins"].start, layout.actuators
        self._parts = dict(layout.row) | {
            "command": slice(width, width + n),
            "force": slice(width + n, width + 2 * n),
            "energy": slice(width + 2 * n, width + 2 * n + 3),
        }
        self.times, self._count = times, 0
        self._rows: Array = np.full((len(times), runs, width + 2 * n + 3), np.nan)

    def add(self, runs: Rows, row: Array, command: Array, force: Array, energy: Array) -> None:
        """The next time, at which ``runs`` are under way."""
        target, parts = self._rows[self._count], self._parts
        whole: Rows | slice = slice(None) if len(runs) == len(target) else runs
        target[whole, : parts["margins"].start] = row[:, : parts["margins"].start]
        for name, values in (("command", command), ("force", force), ("energy", energy)):
            target[whole, parts[name]] = values
        self._count += 1

    def get(self, name: str, shape: tuple[int, ...]) -> Array:
        """What is recorded of a part, (*shape, times, width); a view."""
        return np.moveaxis(self._rows[: self._count, :, self._parts[name]], 0, 1).reshape(
            *shape, self._count, self._parts[name].stop - self._parts[name].start
        )


class BatchRun:
    """Runs side by side; ``runs`` are the numbers of those under way, whose ``row``, ``legs`` and ``inner`` it has."""

    def __init__(
        self,
        robots: RobotsOfRuns,
        shape: tuple[int, ...],
        states: Mapping[str, Array],
        lost: Mapping[int, str],
        integrator: Integrator,
        watching: tuple[Mapping[str, Action], float],
    ) -> None:
        """``states`` are the starts, a row for each run; ``lost`` says why some cannot start."""
        self.robots, self.shape, self.count = robots, shape, prod(shape)
        self.layout, self._integrator = robots.system.layout, integrator
        self.end_time: Array = np.full(self.count, np.nan)
        self.end_reason: list[str] = [COMPLETE] * self.count
        self.runs: Rows = np.arange(self.count)
        kernel = robots.kernel(graphs.snapshot, self.runs)
        base, chart = charts(self.layout, states)
        found = by_name(kernel, base, chart)
        self.row, self.legs = found["row"], found["legs"]
        inner = next((p.length for p in robots.kernel(graphs.period, self.runs).inputs if p.name == "inner"), 0)
        self.inner: Array = np.zeros((self.count, inner))
        if "places" in found:
            self.inner[:, inner - found["places"].shape[1] - 1 : inner - 1] = found["places"]
        self.wrench = states["wrench"]
        self.last: Array = self.row.copy()
        self.watch = Watcher(robots, *watching, self.last)
        self._size = robots.system.robot.platform_size
        self._fastest: Array = np.abs(self.row[:, self.layout.row["twist"]]).max(axis=1)
        self._bind()
        self._begin(lost, (base, chart), ~(found["quality"] > SMALLEST_MARGIN) | ~_finite(self.row, self.legs))

    def _begin(self, lost: Mapping[int, str], charts: tuple[Array, Array], unclosed: NDArray[np.bool_]) -> None:
        """Runs that cannot start end here."""
        reasons = dict(lost)
        for run in np.flatnonzero(unclosed).tolist():
            if run not in reasons:
                reasons[run] = "pose: the robot cannot start there"
                try:
                    self.robots.stepper(run).snapshot(*(part[run] for part in charts))
                except StateError as error:
                    reasons[run] += f": {error.reasons[0]}"
        margin, limit_margin, bound, determinant = self.row[:, -4:].T
        alert = np.stack([limit_margin, np.minimum(bound, margin), determinant], axis=1)
        doubtful = ~self.watch.quiet(self.runs, self.row, alert)
        for run in np.flatnonzero(doubtful).tolist():
            if run not in reasons:
                there = Snapshot(self.row[run], self.legs[run], self.layout, self.inner[run])
                fault = start_fault(self.watch.alone(run), there)
                if fault:
                    reasons[run] = f"pose: {fault}"
        self.last[list(reasons)] = np.nan
        self._end({run: (0.0, reason) for run, reason in reasons.items()})

    def _bind(self) -> None:
        """Functions of the runs under way, and memory for their results."""
        self._period = self.robots.kernel(graphs.period, self.runs)
        self._energy = self.robots.function("energy", self.runs)
        self._spare = tuple(np.empty((len(self.runs), *p.shape)) for p in self._period.outputs)

    def _end(self, ended: Mapping[int, tuple[float, str]]) -> None:
        """Leave out runs that end, with time and reason."""
        if not ended:
            return
        for run, (time, reason) in ended.items():
            self.end_time[run], self.end_reason[run] = time, reason
        keep = ~np.isin(self.runs, list(ended))
        gone = self.runs[~keep]
        started = ~np.isnan(self.last[gone, 0])
        self.last[gone[started]] = self.row[~keep][started]
        self.runs = self.runs[keep]
        for name in ("row", "legs", "inner", "wrench", "_fastest"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[keep]))
        self._bind()

    def mine(self, every: Array) -> Array:
        """Rows of the runs under way, of rows of all runs."""
        return np.ascontiguousarray(every if len(self.runs) == self.count else every[self.runs])

    def measurement(self) -> Measurement:
        """What sensors see of all runs, with the batch's axes: copies."""
        rows, parts = self.rows_of_all(), self.layout.row
        seen = (rows[:, parts[name]].copy() for name in ("q", "qdot", "twist", "elastic", "elastic_rate"))
        q, qdot, *rest = (part.reshape(*self.shape, part.shape[-1]) for part in seen)
        return Measurement(q, qdot, poses(rows).reshape(*self.shape, 4, 4), *rest)

    def rows_of_all(self) -> Array:
        """A row of a snapshot for each run; those that have ended keep their last one."""
        if len(self.runs) == self.count:
            return self.row
        self.last[self.runs] = self.row
        return self.last

    def refuse(self, time: float, command: Array, asked: Function) -> None:
        """Runs whose command is not finite end."""
        good = np.isfinite(self.mine(command) @ np.ones(command.shape[1]))
        bad = [run for run in self.runs[~good].tolist() if not np.isfinite(command[run]).all()]
        self._end({run: (time, asked.not_finite(time, command[run])) for run in bad})

    def energies(self) -> Array:
        """Kinetic, potential and elastic energy (n, 3) of the runs under way."""
        parts = {name: np.ascontiguousarray(self.row[:, part]) for name, part in self.layout.row.items()}
        parts["pose"] = poses(self.row)
        kinetic, potential, elastic, *_ = self._energy(*(parts[p.name] for p in self._energy.inputs))
        return np.stack([kinetic, potential, elastic if self.layout.modes else np.zeros_like(kinetic)], axis=-1)

    def advance(self, start: float, end: float, every: Array) -> None:
        """A span in which the forces (n, m) of all runs are constant."""
        for now, then in self._integrator.spans(start, end):
            if not len(self.runs):
                return
            self._span(now, then, self.mine(every))

    def _span(self, now: float, then: float, force: Array) -> None:
        steps = self._integrator.count(then - now)
        given = self._inputs(np.arange(len(self.runs)), force)
        length, number = np.array([(then - now) / steps]), np.array([float(steps)])
        found = by_name(self._period, *given[:3], length, number, *given[3:], out=self._spare)
        row, legs, inner = found["row"], found["legs"], found.get("inner", self.inner)
        doubtful = ~answered(found)
        fastest = found["alert"][:, -1]
        if self.watch.any:
            doubtful |= ~self.watch.quiet(self.runs, row, found["alert"])
            parts = np.where(doubtful, 0.0, self._parts(row, fastest, then - now))
            doubtful[self._doubtful_within(now, then, force, parts)] = True
        self._fastest = fastest.copy()
        ended: dict[int, tuple[float, str]] = {}
        for place in np.flatnonzero(doubtful).tolist():
            reached = self._alone(place, now, then, force[place])
            if isinstance(reached, Snapshot):
                row[place], legs[place], inner[place] = reached.row, reached.legs, reached.inner
                self._fastest[place] = np.abs(reached["twist"]).max()
            else:
                ended[int(self.runs[place])] = reached
                # a run that has ended keeps the state that it had
                row[place], legs[place], inner[place] = self.row[place], self.legs[place], self.inner[place]
        before = {"row": self.row, "legs": self.legs, "inner": self.inner}
        self.row, self.legs, self.inner = row, legs, inner
        # what was the state is the memory of the next results
        self._spare = tuple(before.get(name, part) for name, part in found.items())
        self._end(ended)

    def _inputs(self, places: Rows, force: Array) -> list[Array]:
        """State, force and wrench, and the inner numbers where there are some, of some of the runs under way."""
        state = self.row[:, : self.layout.state_size]
        given = [state, force, self.wrench, *([self.inner] if self.inner.shape[1] else [])]
        return given if len(places) == len(self.runs) else [part[places] for part in given]

    def _parts(self, row: Array, fastest: Array, span: float) -> Array:
        """In how many parts the span to ``row`` is looked at, as of ``EventDetector``, by the speed at its ends.

        ``fastest`` are the largest components of the twists there.
        """
        largest = max(float(part.max(initial=0.0)) for part in (self._fastest, fastest))
        if 2 * largest * span <= MAX_TRAVEL * min(self._size, 1.0):  # none of them is fast
            return np.zeros(len(row))
        ends = [part[:, self.layout.row["twist"]] for part in (self.row, row)]
        return np.maximum(*(_speeds(twist, self._size) for twist in ends)) * span / MAX_TRAVEL

    def _doubtful_within(self, now: float, then: float, force: Array, parts: Array) -> Rows:
        """Which runs, fast enough to be looked at in ``parts`` of the span, may reach something within."""
        fast = np.flatnonzero(parts > 1)
        if not len(fast):
            return fast
        counts = np.minimum(np.ceil(parts[fast]), MAX_PARTS).astype(np.int64)
        places = np.repeat(fast, counts - 1)
        number = np.concatenate([np.arange(1, count) for count in counts.tolist()])
        span = (then - now) * number / np.repeat(counts, counts - 1)
        steps = np.array([self._integrator.count(one) for one in span.tolist()], dtype=np.float64)
        state, acting, wrench, *inner = (
            np.ascontiguousarray(part[places]) for part in self._inputs(np.arange(len(self.runs)), force)
        )
        kernel = self.robots.kernel(graphs.period, self.runs[places])
        found = by_name(kernel, state, acting, wrench, span / steps, steps, *inner)
        good = answered(found) & self.watch.quiet(self.runs[places], found["row"], found["alert"])
        return np.unique(places[~good])

    def _alone(self, place: int, now: float, then: float, force: Array) -> Snapshot | tuple[float, str]:
        """One run by itself, as a single run: the state reached, or when and why it ends."""
        run = int(self.runs[place])
        stepper = self.robots.stepper(run)
        x = Snapshot(self.row[place].copy(), self.legs[place].copy(), self.layout, self.inner[place].copy())
        detector = EventDetector(self.watch.alone(run), x, self._size)
        applied = AppliedForces(ConstantSignal(force.copy()), ConstantSignal(self.wrench[place].copy()))
        time = now
        try:
            for step in self._integrator.steps(stepper, applied, now, then, x, whole=True):
                for event, _, _ in detector.events(step):
                    where = f"{event.leg}: " if event.leg else ""
                    return event.time, f"{event.kind} at t = {event.time:.6g} s: {where}{event.text}"
                time, x = step.end, step.snapshot
        except StateError as error:
            return time, str(no_answer(time, error))
        except SimulationError as error:
            return error.time, str(error)
        return x


def by_name(kernel: Kernel, *arrays: Array, out: Sequence[Array] | None = None) -> dict[str, Array]:
    return dict(zip((p.name for p in kernel.outputs), kernel(*arrays, out=out), strict=True))


def charts(layout: Layout, states: Mapping[str, Array]) -> tuple[Array, Array]:
    """Base rotations (n, 9) and charts (n, D) of starts, as ``numeric_chart``."""
    pose = states["pose"]
    n = len(pose)
    parts = [pose[:, :3, 3], np.zeros((n, 3)), states["twist"]]
    parts += [states.get(name, np.zeros((n, 0))) for name in ("elastic", "elastic_rate")]
    chart = np.zeros((n, layout.chart_size))
    np.concatenate(parts, axis=1, out=chart[:, : layout.chart["work"].start])
    return np.ascontiguousarray(pose[:, :3, :3]).reshape(n, 9), chart


def _finite(*parts: Array) -> NDArray[np.bool_]:
    """Whether all numbers of rows are finite; sums that overflow do not count as such."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(sum(part.sum() for part in parts)):  # one number tells of all, as a rule
            return np.ones(len(parts[0]), dtype=bool)
        return np.isfinite(sum(part.sum(axis=1) for part in parts))


def answered(found: Mapping[str, Array]) -> NDArray[np.bool_]:
    """Whether rows of a kernel's outputs have an answer."""
    good = (found["quality"] > SMALLEST_MARGIN) & (found["converged"] != 0.0)
    good &= np.isfinite(found["alert"][:, -2])
    return good


def _speeds(twist: Array, size: float) -> Array:
    """How fast platforms are [1/s], as events ask for it: the larger of speed in sizes and angular speed."""
    linear, angular = (np.einsum("ij,ij->i", part, part) for part in (twist[:, :3], twist[:, 3:]))
    return np.sqrt(np.maximum(linear / size**2, angular))


# ----------------------------------------------------------------------------------------------------------------------
# The call: arguments broadcast and checked, the loop over samples, and the result.


def simulate_batch(
    model: Model,
    states: dict[str, Any],
    parameters: Mapping[str, ArrayLike] | None,
    *,
    duration: float,
    rate: float | None,
    method: str | None,
    step: float | None,
    friction: bool,
    saturation: ArrayLike | str | None,
    delay: float,
    events: Mapping[str, Action] | None,
    singularity: float,
    output: float | None,
    reference: Any,
    progress: bool | None,
    refused: Sequence[str],
) -> xr.Dataset:
    """``polypod.simulate`` of a batch; ``states`` are pose, twist, force, wrench, elastic and elastic_rate as given."""
    force, asked = states["force"], None
    actions = _check_single(method, refused, states, rate, events, singularity)
    rate = _RATE if rate is None else float(rate)
    timing = Timing(duration, rate, (), output)
    system = System(model, friction)
    labels = tuple(a.name for a in system.actuators)
    if callable(force) or isinstance(force, ControllerWithMemory):
        asked = Function("force", force, labels)
    wanted = wanted_motion(reference, force, rate)
    found = _starts(system, states, parameters, wanted, asked is None)
    rows, shape = found.rows, found.shape
    count = prod(shape)
    if not count:
        raise InputError(f"pose: a batch of no runs: the leading axes are {shape}")
    system.check_wrench(rows["wrench"])
    times = _times(timing, rate)
    if count * len(times) > MAX_ROWS:
        raise InputError(
            f"output: {count} runs with {len(times)} rows each are {count * len(times)} rows, the limit is {MAX_ROWS}; "
            "give a longer interval (output=), or fewer runs a call"
        )
    robots = RobotsOfRuns(system, found)
    lost = {int(run): str(found.failure_reason(int(run))) for run in np.flatnonzero(found.lost)}
    integrator = Integrator(FIXED, _step(step, system, rows), 1e-9, 1e-12)
    run = BatchRun(robots, shape, rows, lost, integrator, (actions, singularity))
    actuators = Actuators(system.actuators, saturation, delay)
    record = _Record(system.layout, times, count)
    wrench = rows["wrench"].reshape(*shape, 6)
    about = {
        "method": FIXED,
        "rate": rate,
        "friction": "yes" if friction else "no",
        "not_watched": left_out_text(_not_watched(model, parameters is not None)),
    }

    def result(reached: float) -> xr.Dataset:
        run.end_time[run.runs] = reached
        early = sum(reason != COMPLETE for reason in run.end_reason)
        ended = COMPLETE if not early else f"{early} of {count} runs ended early; see end_time and end_reason"
        return _dataset(system, run, record, wrench, found.designs, force, wanted, {**about, "ended": ended})

    reached = 0.0
    try:
        with progress_bar(timing.duration, progress) as report_time:
            actuators.start_from(_first_force(model, rows, shape, parameters, delay, len(labels)))
            command = rows["force"] if asked is None else np.zeros((count, len(labels)))
            applied = command
            for k in range(int(np.ceil(timing.duration * rate * (1 - 1e-12)))):
                start, end = reached, timing.duration if (k + 1) / rate > timing.duration else (k + 1) / rate
                if asked is not None and len(run.runs):
                    command = asked.at_batch(start, run.measurement()).reshape(count, -1)
                    run.refuse(start, command, asked)
                actuators.command(start, command, run.rows_of_all()[:, system.layout.row["qdot"]])
                pieces = actuators.pieces(start, end)
                applied = pieces[0][2]
                if k % timing.every == 0:
                    record.add(run.runs, run.row, run.mine(command), run.mine(applied), run.energies())
                for a, b, applied in pieces:
                    run.advance(a, b, applied)
                reached = end
                report_time(reached)
            record.add(run.runs, run.row, run.mine(command), run.mine(applied), run.energies())
    except SimulationError as error:
        error.result = result(reached)
        raise
    except KeyboardInterrupt:
        if not reached > 0:
            raise
        for number in run.runs.tolist():
            run.end_reason[number] = f"interrupted at t = {reached:.6g} s"
        text = f"simulate: interrupted at t = {reached:.6g} s; the result ends there"
        warnings.warn(text, InterruptedWarning, stacklevel=3)
        return result(reached)
    whole = result(timing.duration)
    fault = energy_fault(whole)
    if fault:
        warnings.warn(f"simulate: {fault}", EnergyWarning, stacklevel=3)
    return whole


def _check_single(
    method: str | None,
    refused: Sequence[str],
    states: Mapping[str, Any],
    rate: float | None,
    events: Mapping[str, Action] | None,
    singularity: float,
) -> dict[str, Action]:
    """The actions of a batch; an error for what only a single run has."""
    if method not in (None, FIXED):
        raise InputError(f"method: a batch of runs takes {FIXED}, got {method!r}; run them one by one", code="batch")
    for name in refused:
        raise InputError(f"{name}: only a single run takes it; leave it out of a batch of runs", code="batch")
    if callable(states["wrench"]) or isinstance(states["wrench"], (Signal, ControllerWithMemory)):
        raise InputError(
            "wrench: in a batch of runs it is constant, (..., 6); for one that changes run one by one", code="batch"
        )
    if isinstance(states["force"], Signal):
        raise InputError("force: numbers (..., n), a function or a controller is needed in a batch", code="batch")
    if rate is None and (callable(states["force"]) or isinstance(states["force"], ControllerWithMemory)):
        raise InputError("rate: required by a batch of runs under a function or controller (samples per second)")
    actions = chosen_actions(events, singularity)
    for kind, action in (events or {}).items():
        allowed = ("stop", "ignore") if kind in _WATCHED else ("ignore",)
        if action not in allowed:
            raise InputError(
                f"events[{kind!r}]: in a batch of runs {' or '.join(allowed)} is possible, got {action!r}; run them "
                "one by one",
                code="batch",
            )
    return actions


def _starts(
    system: System,
    given: Mapping[str, Any],
    parameters: Mapping[str, ArrayLike] | None,
    wanted: Reference | None,
    constant_force: bool,
) -> States:
    """The starts with wrenches and constant forces, broadcast and checked, a row for each run."""
    model = system.model
    calls = Calls(model.kernels, system.dof, model.robot.platform_size)
    calls.refuse_elastic("simulate", {name: given[name] for name in ("elastic", "elastic_rate")})
    designs = None if parameters is None else calls.designs(parameters)
    first = None if wanted is None else wanted.at(0.0)
    pose, twist = given["pose"], given["twist"]
    if pose is None:
        pose = model.robot.home.matrix if first is None else first.pose
        if first is None and designs is not None and any(path.startswith("home.") for path in designs.design.values):
            pose = designs.homes.reshape(*designs.shape, 4, 4)
    if twist is None:
        twist = np.zeros(6) if first is None else first.twist
    arguments = [Argument("pose", pose, (4, 4)), Argument("twist", twist, (6,))]
    others = [("wrench", (6,)), *([("force", (len(system.actuators),))] if constant_force else [])]
    if system.modes:
        if given["elastic"] is None:
            shape = model.static_equilibrium(pose, parameters=parameters).elastic
            arguments.append(Argument("elastic", shape, (system.modes,)))
        else:
            others.append(("elastic", (system.modes,)))
        others.append(("elastic_rate", (system.modes,)))
    for name, core in others:
        value = given[name]
        arguments.append(Argument(name, np.zeros(core) if value is None else value, core))
    return calls.states(arguments, designs)


def _step(step: float | None, system: System, rows: Mapping[str, Array]) -> float:
    """The step of all runs: a flexible platform's fastest mode is that of the first run."""
    if not system.modes:
        return longest_step(step, system, None)
    state = system.layout.state(rows["pose"][0], rows["twist"][0], rows["elastic"][0], rows["elastic_rate"][0])
    row = np.concatenate([state, np.zeros(2 * len(system.actuators) + 4)])
    return longest_step(step, system, Snapshot(row, np.zeros(0), system.layout, np.zeros(0)))


def _first_force(
    model: Model,
    rows: Mapping[str, Array],
    shape: tuple[int, ...],
    parameters: Mapping[str, ArrayLike] | None,
    delay: float,
    actuators: int,
) -> Array:
    """Forces (n, m) until the first command arrives: those that hold the start."""
    if not delay:
        return np.zeros((prod(shape), actuators))
    pose, still = rows["pose"].reshape(*shape, 4, 4), np.zeros(6)
    if model.robot.flexible:
        force = model.static_equilibrium(pose, parameters=parameters).force
    else:
        force = model.inverse_dynamics(pose, still, still, friction=False, parameters=parameters, errors="nan")
    return np.asarray(force).reshape(-1, actuators)


def _times(timing: Timing, rate: float) -> Array:
    """Output times [s]: samples, thinned, and the end."""
    count = int(np.ceil(timing.duration * rate * (1 - 1e-12)))
    return np.append(np.arange(0, count, timing.every) / rate, timing.duration)


def _not_watched(model: Model, designs: bool) -> dict[str, str]:
    """Limits that a batch does not watch, with the reason."""
    watched, left = watched_limits(model)
    found = dict(left)
    for one in watched.limits:
        kind = KINDS[one.kind].of
        if kind not in ("range", "pair") or (kind == "pair" and designs):
            found[one.quantity] = _ONE_BY_ONE
    return found


def _dataset(
    system: System,
    run: BatchRun,
    record: _Record,
    wrench: Array,
    designs: DesignBatch | None,
    force: Any,
    wanted: Reference | None,
    about: dict[str, Any],
) -> xr.Dataset:
    """What was recorded, with the batch's axes first."""
    shape = run.shape
    parts = {name: record.get(name, shape) for name in ("frame", "twist", "q", "qdot", "command", "force")}
    pose = poses(parts.pop("frame"))
    ended = np.isnan(pose[..., 0, 0])
    pose[ended] = np.nan
    times = record.times[: pose.shape[len(shape)]]
    values: dict[str, Any] = {"pose": pose, **parts}
    values["wrench"] = np.where(ended[..., None], np.nan, wrench[..., None, :])
    if system.modes:
        values |= {name: record.get(name, shape) for name in ("elastic", "elastic_rate")}
        values["deflection"] = system.deflection(values["elastic"])
    energy, work = record.get("energy", shape), record.get("work", shape)
    stored = energy.sum(axis=-1)
    done = work[..., 0] + work[..., 1] - work[..., 2]
    names = ("energy_kinetic", "energy_potential", "energy_elastic")
    values |= {name: energy[..., k] for k, name in enumerate(names)}
    values |= {f"work_{name}": work[..., k] for k, name in enumerate(("actuators", "external", "friction"))}
    values["energy_residual"] = stored - stored[..., :1] - done
    if hasattr(force, "energy"):
        values["energy_springs"] = force.energy(parts["q"])
    if wanted is not None and len(times):
        motion = wanted.sampled(times)
        every = np.ascontiguousarray(np.broadcast_to(motion.pose, pose.shape)).reshape(-1, 4, 4)
        error = pose_errors(every, pose.reshape(-1, 4, 4)).reshape(*pose.shape[:-2], len(COMPONENTS))
        values |= {"reference_pose": motion.pose, "error": error}
    values |= {"end_time": run.end_time.reshape(shape), "end_reason": np.array(run.end_reason).reshape(shape)}
    lead = ("run",) if len(shape) == 1 else tuple(f"run_{k + 1}" for k in range(len(shape)))
    coordinates: dict[str, tuple[Any, ArrayLike]] = {}
    if designs is not None:
        for path in designs.design.values:
            value = designs.design.flat(path)
            if value.ndim == 1:
                coordinates[path] = (lead, value[run.robots.which].reshape(shape))
    return dataset(system.model, times, values, coordinates, about, lead)
