"""Arguments that single runs and batches share: times, steps, the motion that is wanted; and a bar of progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

import numpy as np

from ..control.reference import Reference, reference_of
from ..errors import InputError
from ..motion import Trajectory
from ..symbols.integration import MAX_PHASE, MAX_STABLE
from .chart import Snapshot
from .signals import SignalLike
from .system import System

# More rows than these are a slip of a digit rather than a wish.
MAX_SAMPLES = 20_000_000
STEP = 1e-3


class Timing:
    """Times of a simulation, checked."""

    def __init__(self, duration: float, rate: float | None, breaks: Sequence[float], output: float | None) -> None:
        for name, value in (("duration", duration), ("rate", rate), ("output", output)):
            if value is None and name != "duration":
                continue
            real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if value is None or not (real and np.isfinite(value) and value > 0):
                raise InputError(f"{name}: a number greater than 0 is needed, got {value!r}")
        self.duration = float(duration)
        density = max(1 / output if output else 0.0, rate or 0.0)
        if duration * density > MAX_SAMPLES:
            raise InputError(
                f"duration: {duration:g} s give {duration * density:.3g} samples; the limit is {MAX_SAMPLES}"
            )
        times = np.asarray(list(breaks), dtype=np.float64)
        if times.size and not ((times >= 0) & (times <= duration)).all():
            raise InputError(f"breaks: must be times in [0, {duration:g}] s, got {times.tolist()}")
        if times.size and rate is not None:
            raise InputError("breaks: with a rate the integrator restarts at every sample; leave breaks out")
        self.ends = sorted({*times[(times > 0) & (times < duration)].tolist(), self.duration})
        self.every = 1
        if output is not None and rate is not None:
            self.every = round(output * rate)
            if self.every < 1 or abs(output * rate - self.every) > 1e-6:
                raise InputError(
                    f"output: must be a multiple of {1 / rate:g} s at {rate:g} samples per second, got {output}"
                )


def longest_step(step: float | None, system: System, start: Snapshot | None) -> float:
    """The step of RK4; one at which a flexible platform's fastest mode would blow up is refused."""
    if not system.modes:
        return STEP if step is None else step
    assert start is not None
    mode = system.fastest_rate(start.pose, start["elastic"])
    if step is None:
        return min(STEP, MAX_PHASE / mode)
    if mode * step > MAX_STABLE:
        raise InputError(
            f"step: got {step:g} s, but the platform's fastest mode ({mode:.4g} 1/s) needs at most "
            f"{MAX_STABLE / mode:.3g} s with RK4; leave step out"
        )
    return step


def wanted_motion(reference: Reference | Trajectory | None, force: SignalLike, rate: float | None) -> Reference | None:
    """The motion that is wanted, for the tracking error; None if none is known."""
    if reference is not None and not isinstance(reference, (Reference, Trajectory)):
        raise InputError(
            "reference: a polypod.motion.Trajectory or a polypod.control.Reference is needed, got "
            f"{type(reference).__name__}"
        )
    found = getattr(force, "reference", None) if reference is None else reference
    # a function of a program's own may have something else by that name
    return reference_of(found, rate or 1000.0) if isinstance(found, (Reference, Trajectory)) else None


# ----------------------------------------------------------------------------------------------------------------------
# A progress bar on a terminal, nothing elsewhere.

_EVERY = 0.1  # s between updates: drawing costs more than simulating


@contextmanager
def progress_bar(duration: float, wanted: bool | None) -> Iterator[Callable[[float], None]]:
    """A function to call with the simulated time; None shows the bar on a terminal only."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda time: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.completed:.3g} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("simulating", total=duration)
        last = monotonic()

        def update(time: float) -> None:
            nonlocal last
            if monotonic() - last > _EVERY:
                last = monotonic()
                bar.update(task, completed=time)

        yield update
