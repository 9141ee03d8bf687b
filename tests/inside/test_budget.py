"""Functions too large to compile are refused before CasADi and LLVM work on them, long work is announced."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, KernelSizeError
from polypod.kernels import budget
from support.refusals import refused
from support.robots import machine_chains


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A new folder for kernels: those of other tests are not found."""
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path / "kernels"))


@pytest.mark.usefixtures("nothing_kept")
def test_a_large_formulation_is_refused_and_a_smaller_one_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is the user's; what it does not let through says how many operations there are."""
    m = pp.Model("lopes", specialise=True)
    home, still = m.robot.home.matrix, np.zeros(6)
    sizes = [
        budget.operations_of(m.kernels.expression(m.kernels.mechanism, "inverse_dynamics", False, formulation))
        for formulation in ("virtual-power", "lagrange")
    ]
    small, large = sizes
    limit = (small + large) // 2
    monkeypatch.setenv("POLYPOD_MAX_OPERATIONS", str(limit))
    with refused(KernelSizeError, "virtual-power newton-euler lagrange") as caught:
        m.inverse_dynamics(home, still, still, formulation="lagrange")
    assert caught.value.operations > caught.value.limit == limit
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert np.isfinite(m.inverse_dynamics(home, still, still)).all()
    monkeypatch.setenv("POLYPOD_MAX_OPERATIONS", "many")
    with refused(InputError, "POLYPOD_MAX_OPERATIONS 1 many"):
        m.inverse_dynamics(home, still, still, formulation="lagrange")


@pytest.mark.long
@pytest.mark.usefixtures("nothing_kept")
def test_lagrange_of_iterated_legs_is_refused_in_seconds() -> None:
    """It took a quarter of an hour and did not end; the other formulations answer."""
    m = pp.Model(pp.Robot.model_validate(machine_chains.ucu(1)))
    home, still = m.robot.home.matrix, np.zeros(6)
    with refused(KernelSizeError, "inverse_dynamics"):
        m.inverse_dynamics(home, still, still, formulation="lagrange")
    assert np.isfinite(m.inverse_dynamics(home, still, still)).all()


@pytest.mark.usefixtures("nothing_kept")
def test_long_work_is_announced(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """By Python's logging, before LLVM begins."""
    monkeypatch.setattr(budget, "_LONG", 0.0)
    m = pp.Model("lopes", specialise=True)
    with caplog.at_level(logging.INFO, "polypod"):
        m.mass_matrix(m.robot.home.matrix)
    assert any(r.message.startswith("compiling mass_matrix: ") and "operations, about" in r.message
               for r in caplog.records)  # fmt: skip
