"""Every study that a test here evaluates is judged again as ``run`` does (``support.study_reruns``).

In quick runs once for each robot, motion and set of limits; in long ones (``-m long``, or all) every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from polypod.design import Evaluator
from polypod.errors import PolypodError
from support.study_reruns import agrees_with_run, is_new


@pytest.fixture(autouse=True)
def studies_agree_with_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The last that each evaluator found in a test is asked."""
    always = request.config.getoption("markexpr") != "not long"
    last: dict[int, tuple[Evaluator, Any, int, Any]] = {}
    own = Evaluator.evaluate

    def evaluate(self: Evaluator, designs: Any, start: int = 0, stop: int | None = None) -> Any:
        found = own(self, designs, start, stop)
        last[id(self)] = (self, designs, start, found)
        return found

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    yield
    for evaluator, designs, start, found in last.values():
        if not (is_new(evaluator) or always):
            continue
        try:
            agrees_with_run(evaluator, designs, start, found)
        except PolypodError as error:
            raise AssertionError("a design of a study is no robot that can be run") from error
