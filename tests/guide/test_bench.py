"""The benchmark's own honesty: answers compared, missing peers named, operations within their goals."""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polypod as pp
from bench import dynamics, functions
from bench.compiled import library
from bench.rows import BUILDING, Row, as_json, setting
from bench.timing import take_turns


def test_rivals_take_turns_and_the_slower_is_slower() -> None:
    order: list[str] = []
    small, large = np.ones(10), np.ones(200_000)
    rivals = {
        "small": lambda: (order.append("small"), small.sum()),
        "large": lambda: (order.append("large"), large.sum()),
    }
    times = take_turns(rivals, 0.1, 3)
    assert times["small"].best < times["large"].best
    assert times["small"].best <= times["small"].median
    switches = sum(a != b for a, b in pairwise(order))
    assert switches >= 5


def test_a_wrong_answer_gets_no_ratio() -> None:
    timing = take_turns({"right": lambda: None, "wrong": lambda: None}, 0.01, 2)
    rows = list(dynamics._rows("g", timing, {"right": 1, "wrong": 1}, {}, {"right": 1e-14, "wrong": 0.1}, "right"))
    assert rows[0].ratio == pytest.approx(1.0, rel=1e-12)
    assert rows[1].ratio is None
    assert "differs by 1.0e-01" in rows[1].note


def test_a_peer_that_is_not_installed_is_a_row(
    model_of: Callable[[str], pp.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("kim-ryu")
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("pinocchio", "mujoco") or "peers" in name:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    peers = dynamics.Peers(model, dynamics.states(model, 4))
    rows = list(peers.missing("kim-ryu"))
    assert [row.name for row in rows] == ["Pinocchio"]
    assert "not installed" in rows[0].note


def test_a_build_is_printed_in_seconds_a_state_in_microseconds() -> None:
    from bench.command import _table

    build, state = _table(BUILDING, [Row(BUILDING, "a", 1.5)]), _table("g", [Row("g", "b", 1.5e-6, median=2e-6)])
    assert [(c.name, c.unit) for c in build.columns[1:3]] == [("best time a build", "s"), ("median", "s")]
    assert [(c.name, c.unit) for c in state.columns[1:3]] == [("best time a state", "us"), ("median", "us")]
    assert (build.rows[0][1], state.rows[0][1:3]) == ("1.5", ("1.5", "2"))


def test_setting_and_json() -> None:
    data = as_json([Row("g", "n", 1e-6, 10, 2.0, 1e-15)], setting())
    assert data["setting"]["vector_width"] in (2, 4, 8)
    assert data["rows"][0] == {
        "group": "g", "name": "n", "seconds": 1e-6, "operations": 10, "ratio": 2.0, "difference": 1e-15, "note": "",
        "median": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("robot", "formulation", "most"),
    [
        ("pedrammehr", "virtual-power", 3_000),
        # the platform's wrench is found in its own axes: a few more here than in base axes, fewer in virtual power
        ("pedrammehr", "newton-euler", 3_110),
        ("pedrammehr", "recursive-matrix", 2_800),
        ("lopes", "newton-euler", 1_105),
    ],
)
def test_operations(robot: str, formulation: str, most: int, model_of: Callable[[str], pp.Model]) -> None:
    model = pp.Model(robot, specialise=True)
    assert model.kernel("inverse_dynamics", False, formulation).operations <= most


@pytest.mark.long
def test_no_difference_is_claimed_where_nothing_was_compared(model_of: Callable[[str], pp.Model]) -> None:
    """rnea on the open tree gives no actuator forces; all of ours are compared with Pinocchio's closed loop."""
    rows = {row.name: row for row in dynamics.measure("kim-ryu", 0.02) if "inverse" in row.group}
    assert rows["Pinocchio rnea, open tree only"].difference is None
    ours = [row for name, row in rows.items() if "kernel" in name or "checked" in name]
    assert len(ours) >= 10
    # Rounding of two unlike computations: never exactly zero for all, never above 1e-12.
    assert all(row.difference is not None and row.difference < 1e-12 for row in ours)
    assert any(row.difference > 0 for row in ours)


@pytest.mark.long
def test_other_functions_are_compared_with_others() -> None:
    """Differences of sixth order at steps of 1e-3 leave 1e-12, times the condition of the Jacobian."""
    rows = {row.name: row for row in functions.measure("pedrammehr", 0.05)}
    assert len(rows) >= 5
    assert all(row.difference is None or row.difference < 1e-9 for row in rows.values())
    assert all(
        "of its kernel" in row.note for row in functions.checked("3-rps", 0.05) if row.name.startswith("checked")
    )


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc links the start in question")
def test_fast_rivals_leave_the_arithmetic_of_the_process_as_it_is() -> None:
    library("gcc", "void batch(void) {}", ("-ffast-math",))
    assert np.float64(5e-324) * np.float64(1.0) > 0  # subnormal numbers are still numbers
