"""Arithmetic operations and time for one state, by robot, formulation and how links are modelled."""

from __future__ import annotations

import time
import warnings
from functools import cache

import numpy as np

from ...errors import UnphysicalWarning
from ...files import load
from ...formulations import FORMULATIONS
from ...mechanism import Simplification
from ...model import Model
from ...tables import Table, table

STATES = 4096
ROBOTS = ("kim-ryu", "long", "lopes", "pedrammehr", "staicu")
"""The papers' robots, which the tables compare."""
LINKS: dict[str, tuple[Simplification, ...]] = {
    "lopes": ("point-mass-links", "massless-links"),
    "kim-ryu": ("no-link-inertia", "massless-links"),
}
"""Simplifications of the links that the papers count or time."""


@cache
def model(robot: str, simplify: Simplification | None = None) -> Model:
    """A model of a library robot with its numbers built in, as the papers count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        return Model(load(robot), simplify=simplify, specialise=True)


@cache
def operations(robot: str, formulation: str, simplify: Simplification | None = None) -> int:
    """Operations for the actuator forces of one state, without friction."""
    return model(robot, simplify).kernel("inverse_dynamics", False, formulation).operations


@cache
def duration(robot: str, formulation: str, simplify: Simplification | None = None) -> float:
    """Time for one state in a batch on one core, the best of five [us]."""
    chosen = model(robot, simplify)
    kernel = chosen.kernel("inverse_dynamics", False, formulation)
    # Arithmetic takes the same time whatever the numbers are: the home pose does.
    pose, zero = np.tile(chosen.robot.home.matrix, (STATES, 1, 1)), np.zeros((STATES, 6))
    out = tuple(np.empty((STATES, *port.shape)) for port in kernel.outputs)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        kernel(pose, zero, zero, zero[:1], out=out, threads=1)
        taken.append(time.perf_counter() - start)
    return 1e6 * min(taken) / STATES


def operations_table() -> Table:
    """Operations and time for the forces of one state of the papers' robots, without friction."""
    columns = [("robot", ""), ("links", ""), *((f"{name}, operations", "") for name in FORMULATIONS)]
    columns += [(f"{name}, time", "us") for name in FORMULATIONS]
    rows = []
    for robot in ROBOTS:
        for links in (None, *LINKS.get(robot, ())):
            counts = [operations(robot, name, links) for name in FORMULATIONS]
            rows.append((robot, links or "complete", *counts, *(duration(robot, name, links) for name in FORMULATIONS)))
    return table("Actuator forces of one state: operations, and time on one core, by formulation", columns, rows)
