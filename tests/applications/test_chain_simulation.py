"""Simulations of legs that are closed by iterating: the same motion as with the same legs in closed form."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import Friction
from polypod.files import dumps, loads
from polypod.friction import sliding_joints
from polypod.kernels import Expression, port
from polypod.mechanism.closing import closed
from support.chain_functions import Functions
from support.robots.machine_chains import MACHINES

# Steps are the same and legs are closed to rounding, which some hundred evaluations add up.
TOLERANCE = 1e-12


@cache
def _both(name: str, drag: float = 0.0) -> tuple[pp.Model, pp.Model]:
    """The robot with its legs in closed form, and closed by iterating."""
    robot = pp.load(name)
    legs = robot.legs
    if drag:
        first = [leg.joints[0].model_copy(update={"friction": Friction(viscous=0.01, drag=drag)}) for leg in legs]
        legs = tuple(
            leg.model_copy(update={"joints": (joint, *leg.joints[1:])}) for leg, joint in zip(legs, first, strict=True)
        )
    texts = []
    for closing in ("auto", "newton"):
        own = tuple(leg.model_copy(update={"closing": closing}) for leg in legs)
        texts.append(dumps(robot.model_copy(update={"legs": own})))
    closed, opened = (pp.Model(loads(text)) for text in texts)
    assert not closed.kernels.mechanism.implicit_legs
    assert len(opened.kernels.mechanism.implicit_legs) == len(legs)
    return closed, opened


def _simulated(model: pp.Model, how: dict[str, Any], push: float) -> Any:
    still = np.zeros(6)
    hold = model.inverse_dynamics(model.robot.home.matrix, still, still, friction=False)
    force = hold + push * np.arange(1, len(hold) + 1)
    return pp.simulate(model, force, duration=0.06, events={"limit": "ignore"}, **how)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("planar-3-rrr", {"rate": 500.0}),
        pytest.param("3-rps", {"rate": 500.0}, marks=pytest.mark.long),
        pytest.param("3-rps", {}, marks=pytest.mark.long),
    ],
    ids=["planar-3-rrr RK4", "3-rps RK4", "3-rps DOP853"],
)
def test_legs_closed_by_iterating_move_as_in_closed_form(name: str, how: dict[str, Any]) -> None:
    closed, opened = _both(name)
    one, other = (_simulated(model, how, push=0.5) for model in (closed, opened))
    assert one.attrs["ended"] == other.attrs["ended"] == "duration reached"
    assert np.abs(one.q.values[-1] - one.q.values[0]).max() > 1e-4  # it moves
    for quantity in ("q", "qdot", "pose", "twist"):
        a, b = one[quantity].values[-1], other[quantity].values[-1]
        assert np.abs(a - b).max() <= TOLERANCE * max(1.0, np.abs(a).max()), quantity


@pytest.mark.long
def test_friction_holds_legs_closed_by_iterating() -> None:
    """A drag that sticks at first and lets one leg go later: friction is solved after the legs are closed."""
    closed, opened = _both("planar-3-rrr", drag=0.9)
    one, other = (_simulated(model, {"rate": 500.0}, push=0.4) for model in (closed, opened))
    assert np.abs(one.qdot.values[-1]).max() > 1e-3  # the strongest push moves it
    a, b = one.q.values[-1], other.q.values[-1]
    assert np.abs(a - b).max() <= 1e-10  # loads of friction are iterated to 1e-8 of themselves
    held = _simulated(opened, {"rate": 500.0}, push=0.1)
    assert np.abs(held.q.values[-1] - held.q.values[0]).max() < 1e-9


@pytest.mark.long
def test_energy_is_kept_without_a_closed_form() -> None:
    """Falling freely, no friction: what is lost in height is motion. Independent of any closed form."""
    _, opened = _both("3-rps")
    found = pp.simulate(opened, np.zeros(3), duration=0.1, friction=False, events={"limit": "ignore"}, rtol=1e-11)
    total = found.energy_kinetic + found.energy_potential
    assert float(found.energy_kinetic[-1]) > 1.0
    assert float(abs(total - total[0]).max()) < 1e-8 * float(found.energy_kinetic[-1])


def test_rates_of_passive_joints_of_legs_closed_by_iterating() -> None:
    """w = G u, and its drift is how w changes while the platform keeps its velocity: by differences along the path."""
    data = MACHINES["planar 3-RRP"](1)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint["friction"] = {"drag": 1.0}
    function = Functions(pp.Robot.model_validate(data))
    mechanism = function.mechanism
    assert len(mechanism.implicit_legs) == 3
    x = mechanism.inputs()
    joints = sliding_joints(
        mechanism.attach(mechanism.platform.at(x, x.twist.symbols, mechanism.drift_acceleration(x)))
    )
    rows = ca.vertcat(*[joint.rows for joint in joints])
    parts = ca.vertcat(*[joint.rate for joint in joints]), ca.vertcat(*[joint.drift for joint in joints])
    outputs = [port(name, ca.densify(part)) for name, part in zip(("rate", "drift"), parts, strict=True)]
    sliding = Expression("sliding", x.state, (*outputs, port("rows", ca.densify(rows), rows.shape)), mechanism.port)
    expression, velocity = closed(mechanism, sliding), np.array([0.3, -0.2, 0.0, 0.0, 0.0, -0.9])

    def at(time: float) -> Any:
        pose = np.array(function.kernels.robot.home.matrix)
        pose[:3, 3] += (0.01 + time) * velocity[:3]
        pose[:3, :3] = Rotation.from_rotvec((0.01 + time) * velocity[3:]).as_matrix() @ pose[:3, :3]
        return function.evaluate(expression, pose=pose, twist=velocity)

    here, step = at(0.0), 1e-5
    assert np.abs(here["drift"]).max() > 0.1
    assert np.abs(here["rows"] @ velocity[[0, 1, 5]] - here["rate"]).max() < 1e-13
    # the third derivative times the step's square over 6, and rounding over the step
    slope = (at(step)["rate"] - at(-step)["rate"]) / (2 * step)
    assert np.abs(slope - here["drift"]).max() < 1e-7 * max(1.0, np.abs(slope).max())
