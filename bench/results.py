"""Measures this machine and writes bench/RESULTS.md and its figure: run it on a quiet machine, look, commit."""

from __future__ import annotations

import datetime
import os
import warnings
from pathlib import Path

from bench import bench, growth, setting
from bench.plots import growth_figure
from bench.rows import Row
from polypod.errors import UnphysicalWarning
from polypod.kernels.threads import cores
from polypod.model import Model

HERE = Path(__file__).parent
_INTRODUCTION = """# Benchmarks

In a checkout `python -m bench` measures all of this on your machine: every rival in one process, taking turns, best of
many iterations, and answers compared first: a faster wrong answer gets no ratio, and a row without a difference is a
part of the work whose answer cannot be compared (`rnea` on the open tree). `mj_inverse` loads passive joints too, so
what it gives the drives is not the actuators' force of the robot. Ratios are to Pinocchio on the same robot (`rnea` on
the open tree alone, without the loops; `constraintDynamics` with them); above 1 is faster. Operations count products,
sums, divisions, roots, comparisons and choices one each; the peak is that of one core, measured by a kernel made the
same way. Builds are in processor time. Where other programs ran too, as the load says, medians, rows of two threads and
the largest batches are theirs as much as polypod's.
"""


def main() -> None:
    """Measure and write."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    rows = list(bench(progress=print))
    where = setting()
    lines = [_INTRODUCTION]
    versions = ", ".join(f"{name} {version}" for name, version in where.versions.items())
    lines.append(
        f"Measured on {datetime.date.today().isoformat()}: {where.processor}, {where.features}, vectors of "
        f"{where.vector_width}; Python {where.python}; {versions}. Load at the end: {os.getloadavg()[0]:.1f} on "
        f"{cores()} cores.\n"
    )
    for group in dict.fromkeys(row.group for row in rows):
        lines.append(f"## {group[0].upper()}{group[1:]}\n")
        lines.append("| what | best time | median | operations | ratio | difference | note |")
        lines.append("|---|---|---|---|---|---|---|")
        lines += [_line(row) for row in rows if row.group == group]
        lines.append("")
    lines += ["## Growth\n", "![Time against batch size, modes and graph size](growth.png)\n"]
    (HERE / "RESULTS.md").write_text("\n".join(lines), encoding="utf-8")
    model = Model("pedrammehr")
    picture = growth_figure(
        growth.batch_growth(model), growth.mode_growth(), growth.compile_growth(model), "pedrammehr"
    )
    picture.savefig(HERE / "growth.png", dpi=110)


def _line(row: Row) -> str:
    cells = (
        row.name,
        "" if row.seconds is None else _time(row.seconds),
        "" if row.median is None else _time(row.median),
        "" if row.operations is None else f"{row.operations:,}",
        "" if row.ratio is None else f"{row.ratio:.3g}",
        "" if row.difference is None else f"{row.difference:.1e}",
        row.note,
    )
    return "| " + " | ".join(cells) + " |"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e12:.3g} ps"


if __name__ == "__main__":
    main()
