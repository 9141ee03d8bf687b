"""What programs, and these tests, know errors by: class, code, data; and the helpers that ask for them."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from _pytest.outcomes import Failed

import polypod as pp
from polypod.errors import (
    Fault,
    InputError,
    Reason,
    RobotFileError,
    StateError,
    StateWarning,
    UnknownNameError,
)
from polypod.simulation import SimulationError
from support.refusals import missing, refused, warned


@pytest.mark.parametrize(
    "error",
    [
        InputError("step: got 0.01", code="too_long"),
        StateError("no answer", [0], [Reason("leg1 is short", "too_long")]),
        StateWarning("no answer", [0], ["plain", Reason("leg1 is short", "too_long")]),
        RobotFileError("a.yaml", [Fault("name", "missing"), Fault("legs", "long", 3, "too_long")]),
        SimulationError("no solution", 0.5, code="too_long"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_codes_survive_copies(error: Exception) -> None:
    for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert one.code == "too_long"
        assert str(one) == str(error)


def test_a_state_says_its_reason() -> None:
    model = pp.Model("lopes")
    far = model.robot.home.matrix.copy()
    far[0, 3] += 9.0
    with refused(StateError, "inverse_kinematics leg1", code="leg") as caught:
        model.inverse_kinematics(far)
    assert [reason.code for reason in caught.value.reasons] == ["leg"]
    with warned(StateWarning, "inverse_kinematics 1 2", code="leg") as told:
        model.inverse_kinematics(np.stack([model.robot.home.matrix, far]))
    assert list(told[0].message.index) == [1]


def test_long_lists_are_cut_in_the_message_only() -> None:
    names = tuple(f"name{k}" for k in range(100))
    error = UnknownNameError("name", "name_7", names)
    assert error.known == names
    assert "name7" in error.near
    assert "name99" not in str(error)
    assert "name37" in str(error)


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        ("step 0.01", []),
        ("step 0.010", []),
        ("step 0.0", ["0.0"]),
        ("ste", ["ste"]),
        ("legs.1", ["legs.1"]),
        ("legs.10", []),
        ("range", []),
        ("--force", []),
        ("-1", ["-1"]),
        ("1", ["1"]),
        ("(2,)", []),
    ],
)
def test_words_are_whole(data: str, lost: list[str]) -> None:
    assert missing("step: got 0.01 s of shape (2,) in legs.10.range; add --force", data) == lost


def test_the_helpers_can_fail() -> None:
    with pytest.raises(AssertionError), refused(InputError, "other"):
        raise InputError("step: is too long")
    with pytest.raises(AssertionError), refused(InputError, "step", code="short"):
        raise InputError("step: is too long", code="long")
    with pytest.raises(AssertionError), refused(InputError):
        raise InputError("step: is too long")
    with pytest.raises(Failed), refused(InputError, "step"):
        pass
    with pytest.raises(InputError), refused(UnknownNameError, "step"):
        raise InputError("step")
    with pytest.raises(AssertionError), warned(UserWarning, "other"):
        warnings.warn("step: is too long", stacklevel=1)
