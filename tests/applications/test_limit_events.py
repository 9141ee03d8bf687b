"""Events of a simulation: every limit of the robot file that a state has is watched, located, or named as left out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import polypod as pp
from polypod.description.robot import Floor
from polypod.limits import KINDS
from polypod.simulation import events
from polypod.simulation.events import watched_limits
from support.robots.every_field import rich_struts

STILL = {"limit": "ignore", "singularity": "ignore", "reversal": "ignore"}


def fallen(settings: dict, watch: str = "overload", force=0.0):
    model = pp.Model(pp.load("hexapod", settings))
    actions = {**STILL, watch: "stop"}
    count = len(model.actuators)
    return model, pp.simulate(model, np.full(count, force), duration=0.2, events=actions, friction=False)


def used(model, result, force=0.0):
    """Uses at the last state, by the judge from pose, twist, force and the acceleration that these give."""
    pose, twist = (result[name].values[-1] for name in ("pose", "twist"))
    forces = np.full(len(model.actuators), force)
    acceleration = model.direct_dynamics(pose, twist, forces, friction=False)
    return model.limits(pose, twist, acceleration, friction=False)


@pytest.mark.parametrize(
    ("settings", "quantity"),
    [
        ({"legs.*.max_speed": "0.3 m/s"}, "speed"),
        ({"platform_limits.max_speed": "0.1 m/s", "legs.*.max_speed": "9 m/s"}, "platform speed"),
        ({"legs.*.max_speed": "9 m/s", "legs.*.max_power": "3 W"}, "power"),
    ],
)
def test_a_limit_is_located_where_its_use_is_one(settings, quantity):
    """A robot falls, with little force in its drives: the event is where the judge counts a use of 1."""
    force = -20.0 if quantity == "power" else 0.0
    model, result = fallen(settings, force=force)
    (event,) = events(result)
    assert event.kind == "overload"
    assert event.text.startswith(f"{quantity} exceeds")
    found = used(model, result, force)
    largest = {q: u for q, u in found.largest().items() if q == quantity}
    assert largest[quantity] == pytest.approx(1.0, abs=1e-7)
    assert event.time == pytest.approx(float(result.time[-1]), abs=1e-12)


def test_what_is_exceeded_from_the_start_is_an_event_of_the_start():
    model, result = fallen({"legs.*.max_force": "10 N"}, force=40.0)
    (event,) = events(result)
    assert (event.time, event.kind) == (0.0, "overload")
    model, result = fallen({"platform_limits.max_acceleration": "0.1 g"})
    (event,) = events(result)
    assert event.time == 0.0
    assert "platform acceleration" in event.text
    assert used(model, result)["platform acceleration"].max() > 1


def test_each_is_logged_once_and_the_run_goes_on():
    model = pp.Model(pp.load("hexapod", {"legs.*.max_speed": "0.1 m/s", "platform_limits.max_speed": "0.1 m/s"}))
    result = pp.simulate(model, np.zeros(6), duration=0.1, events=STILL, friction=False)
    names = [(event.leg, event.text.partition(" exceeds")[0]) for event in events(result)]
    assert len(names) == len(set(names)) == 7
    assert float(result.time[-1]) == 0.1


def test_a_clearance_stops_the_run_where_it_is_reached():
    robot = pp.load("hexapod")
    ceiling = Floor(at=(0.0, 0.0, robot.home.position[2] + 0.09), normal=(0.0, 0.0, -1.0))
    robot = robot.model_copy(update={"floor": ceiling, "clearance": 0.05})
    model = pp.Model(robot)
    actions = {"singularity": "ignore", "reversal": "ignore"}
    result = pp.simulate(model, np.full(6, 200.0), duration=0.5, events=actions, friction=False)
    (event,) = [one for one in events(result) if one.kind == "limit"]
    assert " against " in event.leg
    least = model.clearance(result.pose.values[-1]).least
    assert least == pytest.approx(robot.clearance, abs=1e-9)


def test_every_limit_is_watched_or_left_out_with_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pp.Model(rich_struts())
    watched, left = watched_limits(model)
    assert {*watched.quantities, *left} == set(model.robot_limits.quantities)
    assert all(left.values())
    of_motions = {one.quantity for one in model.robot_limits.limits if KINDS[one.kind].over != "instant"}
    of_joints = {one.quantity for one in model.robot_limits.limits if KINDS[one.kind].of == "joint"}
    assert set(left) == of_motions | of_joints
