"""Time that a certified volume may take is time of its search: all is compiled before."""

from __future__ import annotations

from typing import Any

import pytest

import polypod as pp
from polypod.analysis.certified import volume


def test_nothing_is_compiled_while_a_volume_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns with cones are asked late in the search, and then took the time that it had been given."""
    events: list[Any] = []
    kernel, goes_on = volume._kernel, volume._Refinement.goes_on

    def made(with_cones: bool) -> Any:
        events.append(with_cones)
        return kernel(with_cones)

    def searched(self: Any, gap: float) -> bool:
        events.append("search")
        return goes_on(self, gap)

    monkeypatch.setattr(volume, "_kernel", made)
    monkeypatch.setattr(volume._Refinement, "goes_on", searched)
    found = volume.certified_volume(pp.Model("hexapod"), ["x", "y", "z"], gap=0.5, seconds=0.2)
    assert 0 < found.low <= found.high
    assert events[:3] == [False, True, "search"]
    assert set(events[2:]) == {"search"}
