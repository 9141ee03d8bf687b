"""Mutated robot and motion files: each is refused with a reason, or answered right; ``python -m fuzz`` does thousands.

Seeds: the same every time, and some that nobody has tried; a failure names the seed, and
``cd tests && python -m fuzz --show --seed SEED`` shows the file and what becomes of it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from fuzz.exact import Exact
from fuzz.judge import BAD, RIGHT, WARNED, judged
from fuzz.mutate import mutated
from support import states as sample

FIXED, FRESH = range(200), 20
COMPARED = 2


def judged_many(seeds: range, folder: Path) -> list[str]:
    """Words of verdicts; the first accepted robots are computed again with fifty digits."""
    words: list[str] = []
    for seed in seeds:
        compare = sum(word == RIGHT for word in words) < COMPARED
        verdict = judged(mutated(seed), folder, compare, as_json=seed % 2 == 1)
        assert verdict.word not in BAD, f"seed {seed}: {verdict.word}: {verdict.why}"
        words.append(verdict.word)
    return words


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 8))])
def test_mutated_files_are_refused_or_answered_right(part: int, tmp_path: Path) -> None:
    words = judged_many(FIXED[part::8], tmp_path)
    assert words.count(RIGHT) >= 1
    assert WARNED in words


@pytest.mark.long  # a fault it finds is no fault of the change that is tested
def test_files_that_nobody_has_tried(tmp_path: Path) -> None:
    first = int(os.environ.get("POLYPOD_FUZZ_SEED") or secrets.randbelow(10**9))
    print(f"seeds from {first}; POLYPOD_FUZZ_SEED={first} repeats them")
    judged_many(range(first, first + FRESH), tmp_path)


@pytest.mark.parametrize("robot", ["hexapod", "kim-ryu"])
def test_the_judge_is_right(robot: str) -> None:
    """Fifty digits and polypod agree to rounding, so that what differs is wrong."""
    model = pp.Model(robot)
    s = sample.easy(model, 1).at(0)
    force = model.inverse_dynamics(s.pose, s.twist, s.acceleration, friction=False, wrench=s.wrench)
    exact = Exact(model.robot).forces(s.pose, s.twist, s.acceleration, s.wrench)
    assert np.abs(force - exact).max() < 3e-15 * np.abs(exact).max()


def test_a_leg_whose_name_is_a_list_is_refused() -> None:
    """Where legs are looked up by name before the file is checked."""
    data = pp.Model("hexapod").robot.model_dump(mode="json", exclude_none=True)
    for name in ([1, 2], {"a": 1}, None, 3):
        data["legs"][2]["name"] = name
        with pytest.raises(pp.errors.PolypodError) as refused:
            pp.load(data)
        assert "legs" in str(refused.value)
        assert "name" in str(refused.value)


def test_a_seed_is_a_file() -> None:
    assert mutated(17) == mutated(17)
    assert mutated(17).text != mutated(18).text
