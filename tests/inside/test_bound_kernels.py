"""Kernels tied to arrays: one state in a call built into Python, rows of any length stored whole and no further."""

from __future__ import annotations

import gc
import sys
import weakref

import casadi as ca
import numpy as np
import pytest

from polypod.kernels import Expression, Kernel, Port, port


def _scaled(length: int) -> Kernel:
    x = ca.SX.sym("x", length)
    factors = ca.DM(list(range(1, length + 1)))
    return Kernel(lambda: Expression("scaled", (Port("x", x, (length,)),), (port("y", factors * x, (length,)),)))


@pytest.mark.parametrize("length", range(1, 8))
def test_rows_of_any_length_are_stored_and_nothing_beside_them(length: int) -> None:
    kernel = _scaled(length)
    for n in (1, 2, 3, 5):
        x = np.arange(1.0, 1 + n * length).reshape(n, length)
        memory = np.full((n + 2) * length, -7.0)
        kernel.bind(x, out=[memory[length : (n + 1) * length].reshape(n, length)])()
        np.testing.assert_array_equal(memory[length:-length].reshape(n, length), x * np.arange(1, length + 1))
        assert (memory[:length] == -7.0).all()
        assert (memory[-length:] == -7.0).all()


def test_a_bound_state_gives_nothing_and_keeps_no_count() -> None:
    """Where None is counted (before Python 3.12) a call that did not count it would end it."""
    x, y = np.ones((1, 3)), np.zeros((1, 3))
    call = _scaled(3).bind(x, out=[y])
    before = sys.getrefcount(None)
    results = [call() for _ in range(1000)]
    assert results == [None] * 1000
    del results
    assert abs(sys.getrefcount(None) - before) < 50  # others of this process count too
    x[:] = 2.0
    call()
    np.testing.assert_array_equal(y, [[2.0, 4.0, 6.0]])


def test_a_bound_state_is_freed() -> None:
    call = _scaled(2).bind(np.ones((1, 2)), out=[np.zeros((1, 2))])
    gone = weakref.ref(call)
    del call
    gc.collect()
    assert gone() is None
