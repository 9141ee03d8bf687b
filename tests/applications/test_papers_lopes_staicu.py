"""Lopes' and Staicu's equations as written out for their studies, against golden data, differences and each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polypod.formulations import FORMULATIONS
from polypod.motion import Coordinates, Motion, Published
from polypod.papers.kim_ryu import study as kim_ryu_study
from polypod.papers.lopes import cases as lopes_cases
from polypod.papers.lopes import printed as lopes
from polypod.papers.lopes import printed as lopes_printed
from polypod.papers.lopes import study as lopes_operations
from polypod.papers.shared import operations
from polypod.papers.staicu import cases as staicu_cases
from polypod.papers.staicu import printed as staicu
from polypod.papers.staicu import printed as staicu_printed
from support.compare import assert_close, derivative
from support.engines import printed_staicu
from support.engines.lagrangian import Lagrangian

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
# Golden numbers are right to the last digit; the equations round through a 6 x 6 solve.
ROUNDING = 1e-12


def golden(name: str) -> list[dict[str, Any]]:
    return json.loads((GOLDEN / f"{name}.json").read_text())["states"]


def stacked(states: list[dict[str, Any]], *keys: str) -> tuple[Any, ...]:
    return tuple(np.array([state[key] for state in states]) for key in keys)


class TestLopes:
    def motion(self) -> Motion:
        states = golden("lopes")
        return Motion(np.zeros(len(states)), *stacked(states, "pose", "twist", "acceleration"))

    def with_wrench(self, q: lopes.Parameters) -> Any:
        """Forces with the golden wrenches: what they do in Euler coordinates is T^T w."""
        path = lopes.Path.of(self.motion())
        (wrench,) = stacked(golden("lopes"), "wrench")
        pushed = np.einsum("tji,tj->ti", lopes.euler_map(path.x), wrench)
        f_E = lopes_printed.matrices(q, path).force(path) - pushed
        return lopes_printed.actuator_forces(q, path.x, f_E)

    def test_complete_forces_are_golden(self):
        (force,) = stacked(golden("lopes"), "force")
        assert_close(self.with_wrench(lopes_cases.parameters()), force, ROUNDING)

    @pytest.mark.parametrize("links", ["lumped", "shared_out"])
    def test_simplified_forces_are_golden(self, links):
        (variants,) = stacked([state["variants"] for state in golden("lopes")], "simplified")
        assert_close(self.with_wrench(getattr(lopes_cases.parameters(), links)()), variants, ROUNDING)

    def test_coordinates_are_golden(self):
        angles, q = stacked(golden("lopes"), "euler", "q")
        path = lopes.Path.of(self.motion())
        assert_close(path.x[:, 3:], angles, ROUNDING, scale=1.0)
        assert_close(lopes_printed.legs(lopes_cases.parameters(), path.x).travel, q, ROUNDING)

    def test_matrices_are_those_of_the_library(self):
        path = lopes.Path.of(lopes_cases.motion())
        part = lopes.Path(*(values[55:350:25] for values in path))
        mine = lopes_printed.matrices(lopes_cases.parameters(), part)
        theirs = Lagrangian(lopes_cases.model(), "euler").matrices(part.x, part.xdot)
        for ours, wanted in zip(mine, theirs, strict=True):
            assert_close(ours, wanted, ROUNDING)

    def test_rates_and_spin_by_differences(self):
        """Of eighth order with steps of 5 ms on a path of 1 s: far below the tolerance."""
        trajectory, q = Published(name="lopes-there-and-back"), lopes_cases.parameters()
        for start in (0.2, 0.55, 1.3):

            def at(t: float, start: float = start) -> lopes.Path:
                return lopes.Path.of(trajectory.at(np.array([start + t])))

            assert_close(at(0.0).xdot, derivative(lambda t: at(t).x, 5e-3), 1e-11)
            assert_close(at(0.0).xddot, derivative(lambda t: at(t).xdot, 5e-3), 1e-11)
            axes = lopes_printed.link_axes(lopes_printed.legs(q, at(0.0).x))
            rate = derivative(lambda t: lopes_printed.link_axes(lopes_printed.legs(q, at(t).x)), 5e-3)
            turning = rate @ np.swapaxes(axes, -1, -2)
            omega = np.stack([turning[..., 2, 1], turning[..., 0, 2], turning[..., 1, 0]], axis=-1)
            across, spin = lopes_printed.link_turning(q, trajectory.at(np.array([start])))
            assert_close(across + spin, omega, 1e-11)

    def test_the_shared_out_robot_is_the_paper_s(self):
        """(88) by the points of the platform themselves: sum of m_L1 (r.r 1 - r r^T)."""
        q = lopes_cases.parameters()
        added = sum(q.m_l1 * (r @ r * np.eye(3) - np.outer(r, r)) for r in q.p)
        assert_close(np.diag(q.shared_out().I_P), np.diag(q.I_P) + added, 1e-15, scale=1.0)


class TestStaicu:
    def test_corrected_forces_are_golden(self):
        x, xdot, xddot, wrench, jacobian, force = stacked(
            golden("staicu"), "x", "xdot", "xddot", "wrench", "jacobian", "force"
        )
        got = staicu_printed.forces(staicu_cases.parameters(), Coordinates(x, xdot, xddot))
        # (17) has no external wrench; its part in y, z and theta adds -J^-T w.
        held = np.linalg.solve(np.swapaxes(jacobian, 1, 2), wrench[:, [1, 2, 4], None])[..., 0]
        assert_close(got - held, force, ROUNDING)

    def test_rates_are_golden(self):
        x, xdot, xddot, q, qdot, qddot = stacked(golden("staicu"), "x", "xdot", "xddot", "q", "qdot", "qddot")
        p = staicu_cases.parameters()
        k = staicu.geometry(p, x)
        rates = staicu_printed.connectivity(p, k, xdot)
        assert_close(k.sliders, q, ROUNDING, scale=p.L)
        assert_close(rates.sliders, qdot, ROUNDING, scale=1.0)
        assert_close(staicu_printed.second_rates(p, k, rates, xddot).sliders, qddot, ROUNDING, scale=10.0)

    @pytest.mark.parametrize(
        ("ours", "theirs"),
        [
            ((), ()),
            (("(13) line 1",), ("13 line 1",)),
            (("(13) line 3",), ("13 line 3",)),
            (("(14) arm",), ("14 C arm",)),
            (("(14) length",), ("14 C length",)),
            (("(15) A,B",), ("15 A, B",)),
            (("(15) 32",), ("15 C 32",)),
            (("(15) 54",), ("15 C 54",)),
            (("(15) 21 32",), ("15 C 21 32",)),
            (("(15) 21 54",), ("15 C 21 54",)),
            (("(18)",), ("18",)),
        ],
        ids=str,
    )
    def test_printed_lines_are_those_of_another_program(self, ours, theirs):
        """Written twice from the paper, once a state at a time: the same slip costs the same."""
        at = Coordinates(*(values[::100] for values in staicu_cases.path()))
        got = staicu_printed.forces(staicu_cases.parameters(), at, frozenset(ours))
        wanted = np.array([printed_staicu.forces(*state, theirs) for state in zip(*at, strict=True)])
        assert_close(got, wanted, ROUNDING)


class TestOperations:
    @pytest.mark.long
    def test_every_formulation_is_counted_and_timed(self, monkeypatch):
        # the other robots' kernels take half a minute to compile and say nothing more about the table
        monkeypatch.setattr(operations, "ROBOTS", ("lopes", "staicu"))
        found = operations.operations_table()
        assert [row[:2] for row in found.rows] == [
            ("lopes", "complete"),
            ("lopes", "point-mass-links"),
            ("lopes", "massless-links"),
            ("staicu", "complete"),
        ]
        for row in found.rows:
            counts, times = row[2 : 2 + len(FORMULATIONS)], row[2 + len(FORMULATIONS) :]
            assert len(times) == len(FORMULATIONS)
            assert all(100 < count < 100_000 for count in counts)
            assert all(0 < time < 1000 for time in times)

    @pytest.mark.long
    def test_a_part_costs_less_than_the_whole(self):
        *parts, whole = lopes_operations.operations_by_part().rows
        assert [row[0] for row in parts] == list(lopes_operations.TABLE_1)
        for column in (1, 2, 3, 4):
            assert max(row[column] for row in parts) < whole[column] <= sum(row[column] for row in parts)
        assert whole[1:3] == (57765, 4941)

    @pytest.mark.long
    def test_link_inertia_costs_something(self, monkeypatch):
        monkeypatch.setattr(kim_ryu_study, "FORMULATIONS", ("virtual-power", "newton-euler"))
        rows = kim_ryu_study.operations_of_link_inertia().rows
        assert [row[0] for row in rows] == ["virtual-power", "newton-euler"]
        for _, full, weight, none, first, second in rows:
            assert full > weight >= none
            assert (first, second) == (full / weight, full / none)
