"""The numbers the library set out to reach, measured side by side with Pinocchio in one process: goal and result.

python bench/foundation.py
"""

from __future__ import annotations

import warnings

from bench import growth
from bench.dynamics import measure
from polypod.errors import UnphysicalWarning
from polypod.model import Model


def main() -> None:
    """Print each goal beside what this machine gives."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    rows = {(row.group.partition(": ")[2], row.name): row for row in measure("pedrammehr", 5.0)}
    inverse, direct = "inverse dynamics", "direct dynamics"
    one = rows[inverse, "Pinocchio rnea, open tree only"].seconds
    bound = rows[inverse, "bound kernel, virtual-power, one state"].seconds
    threads = growth.threads(Model("pedrammehr"))
    goals = [
        ("inverse dynamics, kernel, times rnea", ">= 15", rows[inverse, "kernel, virtual-power, 1 thread"].ratio),
        ("inverse dynamics, checked call, times rnea", ">= 10", rows[inverse, "checked call, batch, 1 thread"].ratio),
        ("derived form, operations", "<= 5400", rows[inverse, "kernel, virtual-power, 1 thread"].operations),
        ("direct dynamics, kernel, times constraintDynamics", ">= 25", rows[direct, "kernel, 1 thread"].ratio),
        ("direct dynamics, checked call", ">= 18", rows[direct, "checked call, batch, 1 thread"].ratio),
        ("one state, bound kernel over rnea", "<= 0.7", _over(bound, one)),
        ("one state, checked call over rnea", "<= 6", _over(rows[inverse, "checked call, one state"].seconds, one)),
        ("two threads over one", ">= 1.7", threads[0].seconds / threads[1].seconds if len(threads) > 1 else None),
    ]
    for name, goal, value in goals:
        print(f"{name:52s} goal {goal:8s} measured {value:.4g}" if value is not None else f"{name}: not measured")
    for row in growth.build_costs(("pedrammehr", "kim-ryu", "lopes", "long", "staicu")):
        goal = "<= 2 s" if "cold" in row.name else "<= 0.2 s"
        print(f"{'model ready: ' + row.name:52s} goal {goal:8s} measured {row.seconds:.3g} s")


def _over(a: float | None, b: float | None) -> float | None:
    return a / b if a and b else None


if __name__ == "__main__":
    main()
