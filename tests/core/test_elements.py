"""Springs and other elements against the engine of constraints, closed forms, energies, and bad input."""

from __future__ import annotations

from functools import cache

import pytest

import polypod as pp
from core.test_chain import ROBOTS, Case, check, moving
from support.chain_functions import Functions
from support.robots.sprung_chains import with_elements
from support.states import mostly_long

# One of every kind of closing: closed forms, Newton, constrained platforms, reversed joints, rods that spin.
DEFAULT = ("five-bar", "3-PRS turned", "hinge", "straight shuffled UPS", "slider-crank", "ankle")


@cache
def case(name: str, seed: int = 1) -> Case:
    return moving(with_elements(ROBOTS[name](seed), seed), seed + 1)


@cache
def functions(name: str, seed: int = 1) -> Functions:
    return Functions(pp.Robot.model_validate(case(name, seed).data))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, DEFAULT))
def test_forces_are_the_engines(name: str) -> None:
    c, function = case(name), functions(name)
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    margin = float(function("inverse_kinematics", **c.given)["quality"])
    check(function("inverse_dynamics", True, **c.given)["force"], wanted, 1e-10 + 1e-13 / margin)
