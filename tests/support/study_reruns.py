"""Every study that a test evaluates is judged again as ``run`` does: one design of it, built as a robot of its own.

``tests/applications/conftest.py`` asks it of all studies there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.design import Evaluator
from polypod.design.evaluate import Results
from polypod.parameters.design import with_numbers
from polypod.results import study, verdict

EQUAL = 1e-9
"""Relative: a robot of its own has its numbers as constants, and its geometry is the file's to fewer digits."""


def most_used(evaluator: Evaluator, found: Results) -> int | None:
    """The design that uses its limits most of those that have an answer; None if none has."""
    good = (found.reason == 0).all(axis=1)
    if not good.any() or not evaluator.judged:
        return None
    worst = np.max([found.values[name].max(axis=1) for name in evaluator.judged], axis=0)
    return int(np.where(good & np.isfinite(worst), worst, -1.0).argmax())


def agrees_with_run(evaluator: Evaluator, designs: Any, start: int, found: Results) -> None:
    """Uses of all limits of a design along all motions of its study, and whether it fits, by the verdict of a run."""
    k = most_used(evaluator, found)
    if k is None or evaluator.moves_home:  # motions from home move with it: test_one_judge
        return
    numbers = {path: value[start + k] for path, value in designs.parameters.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pp.Model(with_numbers(evaluator.model.robot, numbers))
        for case, task in enumerate(evaluator.tasks):
            said = verdict(study(model, task, evaluator.study.friction, certify=False))
            uses: dict[str, float] = {}
            for use in said.uses:
                uses[use.quantity] = max(uses.get(use.quantity, 0.0), use.use)
            for name in evaluator.judged:
                wanted = uses.get(name.removeprefix("use of "), 0.0)
                assert found.values[name][k, case] == pytest.approx(wanted, rel=EQUAL, abs=1e-12), name
            kept = all(found.values[name][k, case] <= 1 + 1e-12 for name in evaluator.judged)
            assert kept == said.ok


_SEEN: set[tuple[object, ...]] = set()


def is_new(evaluator: Evaluator) -> bool:
    """Whether no test has asked a study of this robot along these motions with these limits."""
    key = (evaluator.model.robot.name, *(case.name for case in evaluator.load_cases), *evaluator.judged)
    new = key not in _SEEN
    _SEEN.add(key)
    return new
