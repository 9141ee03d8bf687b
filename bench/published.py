"""The papers' own timings beside ours, on the papers' own motions."""

from __future__ import annotations

from collections.abc import Iterator

from bench.rows import Row
from bench.timing import take_turns
from polypod.model import Model
from polypod.motion import Published


def rows(seconds: float = 0.5) -> Iterator[Row]:
    """Kim-Ryu's 601 steps with and without link inertia, Pedrammehr's three paths, Lopes' Table 1."""
    group = "the papers' own figures"
    circle = Published(name="kim-ryu-circle")
    at = circle.at(circle.even_times(601))
    full, light = Model("kim-ryu"), Model("kim-ryu", simplify="massless-links")
    calls = {
        "Kim-Ryu, 601 steps with link inertia": lambda: full.inverse_dynamics(
            at.pose, at.twist, at.acceleration, friction=False
        ),
        "Kim-Ryu, 601 steps, massless links": lambda: light.inverse_dynamics(
            at.pose, at.twist, at.acceleration, friction=False
        ),
    }
    times = take_turns(calls, seconds)
    printed = dict(zip(calls, ("16.59 s", "8.52 s"), strict=True))
    for (name, timing), model in zip(times.items(), (full, light), strict=True):
        count = model.kernel("inverse_dynamics", False).operations
        yield Row(group, name, timing.best, count, note=f"the paper: {printed[name]} (MATLAB, Pentium III 650)")
    pods = Model("pedrammehr")
    moves = [Published(name=f"pedrammehr-path-{k}") for k in (1, 2, 3)]
    motions = [move.at(move.even_times(601)) for move in moves]
    all_paths = {
        "path": lambda: [pods.inverse_dynamics(m.pose, m.twist, m.acceleration) for m in motions],
    }
    yield Row(
        group,
        "Pedrammehr, three paths of 601 steps",
        take_turns(all_paths, seconds)["path"].best,
        pods.kernel("inverse_dynamics", friction=True).operations,
        note="the paper: 1.58 s (MATLAB, Core 2 Duo 2.5 GHz)",
    )
    lopes = Model("lopes")
    for formulation in ("lagrange", "newton-euler", "virtual-power"):
        yield Row(
            group,
            f"Lopes, complete model, {formulation}",
            operations=lopes.kernel("inverse_dynamics", False, formulation).operations,
            note="the paper's Table 1: 62,706 operations for I and V",
        )
