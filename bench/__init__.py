"""polypod beside what users would pick instead: same robots, same states, one process, answers compared first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bench import dynamics, functions, growth, published
from bench.peak import peak
from bench.rows import Row, Setting, as_json, setting
from polypod.files import library
from polypod.model import Model

__all__ = ["Row", "Setting", "as_json", "bench", "setting"]

ROBOTS = ("pedrammehr", "kim-ryu")
# Seconds for a group of rivals from which on those that compile for minutes are waited for, once.
_PATIENT = 1.0


def bench(
    robots: Sequence[str] = ROBOTS, seconds: float = 3.0, progress: Callable[[str], None] = lambda step: None
) -> Iterator[Row]:
    """All rows of the table; ``seconds`` is the time given to each group of rivals."""
    progress("floating-point peak")
    top = peak()
    yield Row("this machine", "measured peak of one core", 1 / top, note=f"{top / 1e9:.1f} G operations/s")
    for robot in robots:
        progress(robot)
        for row in dynamics.measure(robot, seconds, patient=robot == robots[0] and seconds >= _PATIENT):
            if row.operations and row.seconds and "kernel" in row.name and not row.note:
                share = row.operations / row.seconds / top
                row = replace(row, note=f"{share:.0%} of peak")
            yield row
    progress("other functions")
    yield from functions.measure(robots[0], seconds)
    for robot in ("delta", "3-rps"):
        yield from functions.checked(robot, seconds)
    progress("the papers' own figures")
    yield from published.rows()
    progress("threads")
    for point in growth.threads(Model(robots[0])):
        yield Row("threads", f"{robots[0]}, {int(point.x)} of them", point.seconds)
    for name in library():
        progress(f"building {name}")
        yield from growth.build_costs((name,))
