"""What a state costs: arithmetic operations and time, by robot, formulation and how links are modelled."""

from __future__ import annotations

import time
import warnings
from functools import cache

import numpy as np

from ..errors import UnphysicalWarning
from ..files import library, load
from ..formulations import FORMULATIONS
from ..formulations.lagrange import matrices
from ..formulations.lagrange.parts import PARTS
from ..kernels import Expression
from ..mechanism import Mechanism, Simplification
from ..model import Model
from ..results.tables import Table, table
from .contract import Measure
from .lopes import cases as lopes_cases

STATES = 4096
REWRITTEN = "recorded here; a rewritten formulation may move it a little"
TABLE_1 = {
    "platform": ((310, 590, 0), (36, 90, 0)),
    "actuators": ((3028, 4403, 30), (297, 384, 12)),
    "translating links": ((4506, 9474, 36), (378, 1038, 30)),
    "rotating links": ((13080, 22266, 42), (900, 1758, 18)),
}
"""Lopes, Table 1: additions, multiplications and divisions for V and for I, by part."""

LINKS: dict[str, tuple[Simplification, ...]] = {
    "lopes": ("point-mass-links", "massless-links"),
    "kim-ryu": ("no-link-inertia", "massless-links"),
}
"""Simplifications of the links that the papers count or time."""


@cache
def model(robot: str, simplify: Simplification | None = None) -> Model:
    """A model of a library robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        return Model(load(robot), simplify=simplify)


@cache
def operations(robot: str, formulation: str, simplify: Simplification | None = None) -> int:
    """Operations for the actuator forces of one state, without friction."""
    return model(robot, simplify).kernel("inverse_dynamics", formulation=formulation).operations


@cache
def duration(robot: str, formulation: str, simplify: Simplification | None = None) -> float:
    """Time for one state in a batch on one core, the best of five [us]."""
    chosen = model(robot, simplify)
    kernel = chosen.kernel("inverse_dynamics", formulation=formulation)
    # Arithmetic takes the same time whatever the numbers are: the home pose does.
    pose, zero = np.tile(chosen.robot.home.matrix, (STATES, 1, 1)), np.zeros((STATES, 6))
    out = tuple(np.empty((STATES, *port.shape)) for port in kernel.outputs)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        kernel(pose, zero, zero, zero[:1], out=out, threads=1)
        taken.append(time.perf_counter() - start)
    return 1e6 * min(taken) / STATES


@cache
def matrix_operations(part: str | None = None, shared_out: bool = False) -> tuple[int, int, int, int]:
    """Lopes' robot: operations for I, for V, for G, and for I and V together, in Euler coordinates.

    ``shared_out`` takes its simplified form (86)-(91).
    """
    robot = lopes_cases.shared_out() if shared_out else load("lopes")
    whole = matrices(Mechanism(robot), part, "euler")
    inertia, coriolis, gravity = whole.outputs
    chosen = ((inertia,), (coriolis,), (gravity,), (inertia, coriolis))
    first, second, third, both = (Expression(whole.name, whole.inputs, outputs).graph.count for outputs in chosen)
    return first, second, third, both


def counted(label: str, value: float, expected: float, unit: str = "operations") -> Measure:
    """A measure of a count or of a ratio of counts, which moves a little when a formulation is rewritten."""
    return Measure(label, float(value), unit, expected, 0.05, REWRITTEN)


def operations_table() -> Table:
    """Operations and time for the forces of one state, without friction."""
    columns = [("robot", ""), ("links", ""), *((f"{name}, operations", "") for name in FORMULATIONS)]
    columns += [(f"{name}, time", "us") for name in FORMULATIONS]
    rows = []
    for robot in library():
        for links in (None, *LINKS.get(robot, ())):
            counts = [operations(robot, name, links) for name in FORMULATIONS]
            rows.append((robot, links or "complete", *counts, *(duration(robot, name, links) for name in FORMULATIONS)))
    return table("Actuator forces of one state: operations, and time on one core, by formulation", columns, rows)


def lopes_table() -> Table:
    """Lopes' Table 1 beside the library's matrices in the same coordinates."""
    printed = {part: [sum(numbers) for numbers in both] for part, both in TABLE_1.items()}
    printed["all"] = [sum(numbers) for numbers in zip(*printed.values(), strict=True)]
    rows = []
    for part in (*PARTS, "all"):
        inertia, coriolis, _, _ = matrix_operations(None if part == "all" else part)
        rows.append((part, *printed[part], coriolis, inertia))
    columns = [("part", ""), ("V, Table 1", ""), ("I, Table 1", ""), ("V, library", ""), ("I, library", "")]
    return table("Operations for V and I in Euler coordinates, a part alone; all together share work", columns, rows)


def link_inertia_table() -> Table:
    """What link inertia costs on Kim and Ryu's robot."""
    rows = []
    for name in FORMULATIONS:
        full, weight, none = (operations("kim-ryu", name, s) for s in (None, *LINKS["kim-ryu"]))
        rows.append((name, full, weight, none, full / weight, full / none))
    heads = ("formulation", "complete", "no link inertia", "massless links", "complete / first", "complete / second")
    title = "kim-ryu: operations with and without link inertia; the paper's ratio of times is 1.95"
    return table(title, [(head, "") for head in heads], rows)
