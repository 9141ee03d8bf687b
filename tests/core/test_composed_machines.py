"""Machines composed at random (`support/robots/composed_machines.py`) against the engine of constraints: joints in any
order, struts and gears within legs, bodies that legs share, any number of degrees of freedom, drives anywhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polypod as pp
from polypod.files import loads
from support.robots.composed_machines import composed
from support.states import mostly_long
from test_chain import Functions, check, moving
from test_machines import order


@pytest.mark.parametrize("seed", mostly_long(range(200), (3,)))
def test_coordinates_rates_and_forces(seed: int) -> None:
    data = composed(seed)
    function, c = Functions(loads(json.dumps(data))), moving(data, seed, 0.05)
    own = order(data, c.engine)
    found = function("inverse_kinematics", **c.given)
    # a leg that is nearly stretched turns the rounding of the engine's pose into that over its margin
    tolerance = 1e-10 + 1e-13 / float(found["quality"])
    q = c.engine.coordinates(c.place)[own]
    check(found["q"], q, scale=max(1.0, np.abs(q).max()))
    qdot = (c.engine.drive_rows(c.place) @ c.motion.velocity.ravel())[own]
    check(function("rates", **c.given)["qdot"], qdot, tolerance)
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)[own]
    check(function("inverse_dynamics", friction=True, **c.given)["force"], wanted, tolerance)


@pytest.mark.long
def test_a_way_from_home_may_meet_a_dead_point_of_a_leg() -> None:
    """Of this machine one does: its mobility ended in an error of linear algebra."""
    assert pp.Model(loads(json.dumps(composed(55)))).mobility.count == 2
