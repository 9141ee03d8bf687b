"""The quantities of a study as one compiled function, reduced over the states of a motion where they are computed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..analysis.fingerprint import fingerprint
from ..arrays import Array
from ..kernels import port
from ..kernels.reduction import Fold, Folds, ReductionKernel
from ..model.designs import DesignFunctions
from ..model.kernels import FUNCTIONS
from .quantities import SOURCES, Quantity
from .ranges import ranges

_SOURCES = "design/folding.py", "design/quantities.py", "design/ranges.py", "analysis/workspace/quantities.py"
OWN_FUNCTIONS = {"ranges": ranges}
"""Functions of a state that studies have beside those of models."""
_ABOUT: dict[str, Fold] = {"quality": "least", "converged": "least", "verdict": "most"}
"""Outputs that say whether there is an answer, and how the worst of all states is found."""


class _Reduced(NamedTuple):
    """A reduction as folds of functions of a number, and the result from their values."""

    folds: tuple[tuple[Fold, Callable[[ca.SX], ca.SX]], ...]
    finish: Callable[..., Array]


def _itself(value: ca.SX) -> ca.SX:
    return value


_REDUCED = {
    "peak": _Reduced((("most", ca.fabs),), np.positive),
    "rms": _Reduced((("total", lambda value: value * value),), np.sqrt),
    "most": _Reduced((("most", _itself),), np.positive),
    "least": _Reduced((("least", _itself),), np.positive),
    "span": _Reduced((("most", _itself), ("least", _itself)), np.subtract),
}


class Folding:
    """Quantities ``asked`` for, by name, of the functions ``names`` of designs."""

    def __init__(
        self, functions: DesignFunctions, names: Sequence[str], asked: Mapping[str, Quantity], friction: bool
    ) -> None:
        self._asked = dict(asked)
        kernels, mechanism = functions.kernels.kernels, functions.kernels.mechanism
        verdict = mechanism.platform.is_constrained

        def build() -> Folds:
            theirs = [name for name in names if name in FUNCTIONS]
            own = [OWN_FUNCTIONS[name](mechanism) for name in names if name in OWN_FUNCTIONS]
            function = kernels.merged(mechanism, theirs, friction, verdict, own)
            known = {p.name: p.symbols for p in function.outputs}
            outputs, folds = [], []
            for name, quantity in asked.items():
                symbols = SOURCES[quantity.source].symbols
                assert symbols is not None
                for number, (fold, of) in enumerate(_REDUCED[quantity.reduce].folds):
                    outputs.append(port(f"{name} {number}", ca.densify(of(symbols(known)))))
                    folds.append(fold)
            for p in function.outputs:
                fold_ = _ABOUT.get(p.name.rpartition(".")[2])
                if fold_ is not None:
                    outputs.append(p)
                    folds.append(fold_)
            return Folds(replace(function, outputs=tuple(outputs)), tuple(folds))

        what = repr((tuple(names), friction, verdict, [(name, *q[2:4]) for name, q in asked.items()]))
        cache_key = kernels.cache_key(what, mechanism)
        if cache_key is not None:
            cache_key = hashlib.sha256(cache_key + fingerprint(*_SOURCES).encode()).digest()
        self._folded = ReductionKernel(build, functions.varied, cache_key)

    def __call__(self, values: Array, inputs: Mapping[str, Array], shares: Array) -> dict[str, Array]:
        """Quantities (D,) by name, and what is known of the answers (D, 1), of designs (D, k) at states."""
        rows = dict(inputs)
        for p in self._folded.inputs:  # weights are one and a preload is zero
            rows.setdefault(p.name, np.full((1, *p.shape), 1.0 if p.name == "weights" else 0.0))
        found = self._folded(values, rows, shares)
        result = {}
        for name, quantity in self._asked.items():
            reduced = _REDUCED[quantity.reduce]
            parts = [found[f"{name} {number}"] for number in range(len(reduced.folds))]
            result[name] = quantity.worst(reduced.finish(*parts), axis=1)
        return result | {name: found[name][:, None] for name in found if name.rpartition(".")[2] in _ABOUT}
