"""Long computations in blocks, with a bar and the time left on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TypeVar

_EVERY = 0.1  # s between updates
_WORTH = 1.0  # s after which a bar is drawn at all
Item = TypeVar("Item")


def tracked(parts: Sequence[Item], what: str, wanted: bool | None = None) -> Iterator[Item]:
    """The parts one after the other, each about as long as the others; None shows a bar on a terminal only.

    The bar says how much is done and how long the rest will take.
    """
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield from parts
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("left"))
    began = last = monotonic()
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=len(parts), visible=False)
        for done, part in enumerate(parts):
            if monotonic() - last > _EVERY:
                last = monotonic()
                bar.update(task, completed=done, visible=last - began > _WORTH)
            yield part
