"""Dry friction does not depend on how the base axes are drawn: library robots stated in turned ones, same forces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError
from polypod.files.short_forms.isometry import Isometry, transformed_leg
from polypod.legs import Chain
from support.refusals import refused
from support.states import easy, mostly_long

Array = NDArray[np.float64]
TURN: Array = Rotation.from_rotvec([0.5, -0.7, 0.9]).as_matrix()
SLIDING, TURNING = {"viscous": 1.0, "coulomb": 0.1}, {"viscous": 0.01, "coulomb": 0.001}
# Without an answer: inner stresses decide the reactions of overconstrained robots.
OVERCONSTRAINED = ("agile-eye", "five-bar", "planar-3-rrr", "planar-4-rrr", "staicu")
STRESSED_BARS = ("orthoglide",)  # they decide those of its parallelograms alone, not those of its slides
ROBOTS = [name for name in pp.library() if name not in OVERCONSTRAINED]


def rough(robot: pp.Robot) -> dict[str, Any]:
    """A robot's data with friction by reaction in every joint."""
    data = robot.model_dump(exclude_unset=True) | {"legs": []}
    for leg in robot.legs:
        own = leg.model_dump(exclude_unset=True) | {"kind": leg.kind, "name": leg.name}
        for name in type(leg).model_fields:
            if name.endswith("_friction"):
                own[name] = SLIDING if name.startswith(("slider", "prismatic")) else TURNING
        for joint in own.get("joints", ()):
            if joint["kind"] == "cylindrical":
                joint["frictions"] = {"rotation": TURNING, "translation": SLIDING}
            elif joint["kind"] == "prismatic":
                joint["friction"] = SLIDING
            elif joint["kind"] != "fixed" and robot.name not in STRESSED_BARS:
                joint["friction"] = TURNING
        data["legs"].append(own)
    return data


def in_turned_axes(robot: pp.Robot, turn: Array) -> pp.Robot:
    """The same robot, stated in base axes in which every direction of the base has other numbers."""
    data = robot.model_dump(exclude_unset=True)
    home = robot.home.matrix
    data["home"] = {"position": turn @ home[:3, 3], "rotation": turn @ home[:3, :3]}
    data["gravity"] = turn @ np.array(robot.gravity)
    if robot.dof:
        data["dof"] = [f.model_dump() | {"axis": turn @ np.array(f.axis)} for f in robot.dof]
    data["legs"] = []
    for leg in robot.legs:
        own = transformed_leg(leg, home, [Isometry(turn, np.zeros(3))])
        if not isinstance(leg, Chain):  # the platform's own axes turn with it
            kept = {name: getattr(leg, name) for name in leg.model_fields_set if name.startswith("platform")}
            own |= {name: value for name, value in leg.model_dump(exclude_unset=True).items() if name in kept}
        data["legs"].append({**own, "name": leg.name})
    return pp.Robot.model_validate(data)


def turned(turn: Array, pose: Array, *vectors: Array) -> tuple[Array, ...]:
    whole = np.eye(4)
    whole[:3, :3] = turn
    return whole @ pose, *(np.concatenate([v[..., :3] @ turn.T, v[..., 3:] @ turn.T], axis=-1) for v in vectors)


def moving(model: pp.Model) -> tuple[Array, Array, Array, Array]:
    """Poses, twists, accelerations and wrenches about home."""
    if model.mobility.full:
        return easy(model, 4, seed=3)[:4]
    rng, m = np.random.default_rng(3), model.mobility.count
    scale = np.where(model.mobility.turns, 0.15, 0.2 * model.size)
    x, xdot, xddot = (factor * scale * rng.uniform(-1, 1, (4, m)) for factor in (1.0, 3.0, 20.0))
    return *model.motion(x, xdot, xddot), 10 * rng.normal(size=(4, 6))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("3-prs",)))
def test_the_forces_are_those_of_any_base_axes(name: str) -> None:
    """|N| of every slide, or the sum over the faces that the file states: both turn with the robot."""
    one = pp.Robot.model_validate(rough(pp.load(name)))
    model, other = (pp.Model(robot, friction_width=0.0) for robot in (one, in_turned_axes(one, TURN)))
    pose, twist, acceleration, wrench = moving(model)
    force = model.inverse_dynamics(pose, twist, acceleration, wrench)
    turned_state = turned(TURN, pose, twist, acceleration, wrench)
    found, scale = other.inverse_dynamics(*turned_state), np.abs(force).max()
    # loads are iterated to 1e-13 of the largest, which poses of a condition of 1e3 amplify
    np.testing.assert_allclose(found, force, rtol=0, atol=1e-9 * scale)
    assert (
        np.abs(force - model.inverse_dynamics(pose, twist, acceleration, wrench, friction=False)).max() > 1e-3 * scale
    )
    back = other.direct_dynamics(*turned_state[:2], found, turned_state[3])
    assert np.abs(back - turned_state[2]).max() < 1e-7 * np.abs(acceleration).max()


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in OVERCONSTRAINED])
def test_other_robots_say_that_inner_stresses_decide(name: str) -> None:
    model = pp.Model(pp.Robot.model_validate(rough(pp.load(name))), friction_width=0.0)
    with refused(InputError, code="overconstrained"):
        model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6))


def slide(**fields: Any) -> pp.Model:
    """A platform of 1 kg on a vertical slide with a coefficient of friction of 0.5."""
    joint = {"name": "slide", "kind": "prismatic", "between": ["base", "platform"], "axis": [0, 0, 1], "actuated": True}
    joint |= {"friction": {"coulomb": 0.5}, **fields}
    data = {
        "name": "slide", "dof": ["z"], "gravity": [0, 0, -9.81], "platform": {"mass": 1.0, "inertia": [1, 1, 1]},
        "legs": [{"kind": "chain", "name": "leg", "bodies": {}, "joints": [joint]}],
    }  # fmt: skip
    return pp.Model(pp.Robot.model_validate(data), friction_width=0.0)


def pushed(**fields: Any) -> tuple[float, float]:
    """Mean and half the difference of what lifts and lowers the slide, pushed across by 3 N and 4 N."""
    model = slide(**fields)
    twist, wrench = np.array([0, 0, 0.1, 0, 0, 0]), np.array([3.0, 4.0, 0, 0, 0, 0])
    up, down = (model.inverse_dynamics(np.eye(4), s * twist, np.zeros(6), wrench)[0] for s in (1, -1))
    return float(up + down) / 2, float(up - down) / 2


def test_the_faces_of_a_guide_are_stated_or_the_whole_force_counts() -> None:
    """N = (3, 4), mu = 0.5: mu |N| = 2.5, mu (|N.u| + |N.v|) is 3.5 with u along x, 2.5 with u along N, (7 + 1)/sqrt 8
    with u at 45 degrees. A normal is taken across the slide."""
    assert pushed() == pytest.approx((9.81, 2.5), rel=1e-12)
    assert pushed(guide_normal=[1, 0, 0]) == pytest.approx((9.81, 3.5), rel=1e-12)
    assert pushed(guide_normal=[0.6, 0.8, 0]) == pytest.approx((9.81, 2.5), rel=1e-12)
    assert pushed(guide_normal=[2 / 3, 2 / 3, 1 / 3]) == pytest.approx((9.81, 4 / math.sqrt(2)), rel=1e-12)


def test_a_slide_without_side_load_has_derivatives() -> None:
    """|N| has none where N vanishes; zero is taken, as between those of a push to either side, mu and -mu."""
    twist = np.array([0, 0, 0.1, 0, 0, 0])
    found = slide().derivatives("inverse_dynamics", np.eye(4), twist, np.zeros(6), wrt=("wrench",)).wrench
    np.testing.assert_allclose(found, [[0, 0, -1, 0, 0, 0]], atol=1e-12)


def test_a_guide_that_cannot_be_is_refused() -> None:
    with refused(ValueError, "guide_normal"):
        pushed(guide_normal=[0, 0, 1])
    joint = {"name": "hinge", "kind": "revolute", "at": [0, 0, 0], "guide_normal": [1, 0, 0]}
    with refused(ValueError, "guide_normal revolute"):
        pushed(**joint)
    data = pp.load("lopes").model_dump(exclude_unset=True)
    data["legs"] = [leg.model_dump(exclude_unset=True) | {"kind": leg.kind, "guide_normal": leg.rail_direction}
                    for leg in pp.load("lopes").legs]  # fmt: skip
    with refused(ValueError, "guide_normal"):
        pp.Robot.model_validate(data)
