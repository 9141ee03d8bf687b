"""How large a function may be: its operations are counted before CasADi and LLVM are asked to work on them.

Both take time that grows faster than the operations: of half a million it is a quarter of an hour and more.
"""

from __future__ import annotations

import logging
import os

import casadi as ca

from ..errors import InputError, KernelSizeError
from ..symbols.expression import Expression, Iteration

MAX_OPERATIONS = 400_000
"""Operations of a function, before common ones are shared, beyond which it is refused."""
_LONG = 5.0
"""Seconds of compiling that are announced."""
_PER_SECOND = {0: 20_000.0, 1: 2_000.0}
"""Operations that LLVM compiles in a second, without and with optimisation: about."""
_LOG = logging.getLogger("polypod")


def max_operations() -> int:
    """The limit: ``MAX_OPERATIONS``, or what ``POLYPOD_MAX_OPERATIONS`` says."""
    chosen = os.environ.get("POLYPOD_MAX_OPERATIONS")
    if not chosen:
        return MAX_OPERATIONS
    if not chosen.isdecimal() or int(chosen) < 1:
        raise InputError(f"POLYPOD_MAX_OPERATIONS: a whole number from 1 on is needed, got {chosen!r}")
    return int(chosen)


def operations_of(function: Expression | Iteration) -> int:
    """Operations of a function in symbols, before common ones are shared."""
    parts = [p.symbols for p in function.outputs]
    if isinstance(function, Iteration):
        parts += [function.start, function.step]
    return int(ca.n_nodes(ca.SX(ca.veccat(*parts))))


def within_budget(function: Expression | Iteration) -> Expression | Iteration:
    """The same function; raises if it has more operations than there may be."""
    count, limit = operations_of(function), max_operations()
    if count > limit:
        raise KernelSizeError(function.name, count, limit)
    return function


def announce(name: str, operations: int, level: int) -> None:
    """Say that compiling will take long, by Python's logging: logger ``polypod``, level INFO."""
    seconds = operations / _PER_SECOND[min(level, 1)]
    if seconds >= _LONG:
        _LOG.info(
            "compiling %s: %s operations, about %.0f s; the code is kept for the next time",
            name, f"{operations:,}", seconds,
        )  # fmt: skip
