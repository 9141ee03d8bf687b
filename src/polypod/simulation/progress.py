"""A progress bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

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
