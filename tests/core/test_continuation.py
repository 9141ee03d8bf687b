"""Newton's iteration from home over a whole workspace: no state is lost that the closed form has."""

from __future__ import annotations

import numpy as np
import pytest

import polypod as pp
from polypod.files import dumps, loads


def iterated(robot: pp.Robot) -> pp.Model:
    """The same robot with its legs closed by iterating."""
    legs = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    return pp.Model(loads(dumps(robot.model_copy(update={"legs": legs}))))


@pytest.mark.long
@pytest.mark.parametrize("name", ["delta", "linear-delta", "reachy-mini"])
def test_continuation_loses_no_state_of_the_workspace(name: str) -> None:
    """Wherever all motors are within their ranges by the closed form, the legs close by iterating, and there.

    Beyond the ranges there are poses to which no straight way leads: a leg does not reach in between.
    """
    robot = pp.load(name)
    known, model, rng = pp.Model(robot), iterated(robot), np.random.default_rng(0)
    low, high = np.array([joint.range for leg in robot.legs for joint in leg.joints if joint.actuated]).T
    pose = np.tile(robot.home.matrix, (400_000, 1, 1))
    pose[:, :3, 3] += 0.7 * robot.farthest * rng.uniform(-1, 1, (len(pose), 3))
    wanted = known.inverse_kinematics(pose, errors="nan")
    inside = ((wanted >= low) & (wanted <= high)).all(axis=1)
    assert inside.sum() > 2000
    found = model.inverse_kinematics(pose[inside], errors="nan")
    lost = ~np.isfinite(found).all(axis=1)
    assert lost.sum() == 0, f"{lost.sum()} of {inside.sum()} lost"
    assert np.abs(found - wanted[inside]).max() < 1e-9
