"""Lopes, Table 1: operations for I and V, beside the library's matrices in the same coordinates."""

from __future__ import annotations

from functools import cache

from ...files import load
from ...formulations.lagrange import PARTS
from ...kernels import Expression
from ...mechanism import Mechanism
from ...tables import Table, table
from . import cases
from .matrices import matrices

TABLE_1 = {
    "platform": ((310, 590, 0), (36, 90, 0)),
    "actuators": ((3028, 4403, 30), (297, 384, 12)),
    "translating links": ((4506, 9474, 36), (378, 1038, 30)),
    "rotating links": ((13080, 22266, 42), (900, 1758, 18)),
}
"""Additions, multiplications and divisions for V and for I, by part."""


@cache
def matrix_operations(part: str | None = None, shared_out: bool = False) -> tuple[int, int, int, int]:
    """Lopes' robot: operations for I, for V, for G, and for I and V together, in Euler coordinates.

    ``shared_out`` takes its simplified form (86)-(91).
    """
    robot = cases.shared_out() if shared_out else load("lopes")
    whole = matrices(Mechanism(robot, specialise=True), part, "euler")
    inertia, coriolis, gravity = whole.outputs
    chosen = ((inertia,), (coriolis,), (gravity,), (inertia, coriolis))
    first, second, third, both = (Expression(whole.name, whole.inputs, outputs).graph.count for outputs in chosen)
    return first, second, third, both


def operations_by_part() -> Table:
    """Lopes' Table 1 beside the library's matrices in the same coordinates."""
    printed = {part: [sum(numbers) for numbers in both] for part, both in TABLE_1.items()}
    printed["all"] = [sum(numbers) for numbers in zip(*printed.values(), strict=True)]
    rows = []
    for part in (*PARTS, "all"):
        inertia, coriolis, _, _ = matrix_operations(None if part == "all" else part)
        rows.append((part, *printed[part], coriolis, inertia))
    columns = [("part", ""), ("V, Table 1", ""), ("I, Table 1", ""), ("V, library", ""), ("I, library", "")]
    return table("Operations for V and I in Euler coordinates, a part alone; all together share work", columns, rows)
