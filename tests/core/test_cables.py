"""Cables: struts without mass that pull only, over pulleys or not; feasibility by linear programming (HiGHS)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog

import polypod as pp
from polypod.description import Robot
from polypod.errors import RobotFileError, StateWarning
from polypod.files import dumps, loads
from support.refusals import refused, warned

Array = NDArray[np.float64]
NAMES = ["cogiro", "ipanema", "planar-4-cable", "cable-camera"]
HIGHS = 1e-6
"""To what HiGHS decides, relative to the tensions."""


def states(model: pp.Model, count: int, spread: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Poses, twists and accelerations about home."""
    rng, m = np.random.default_rng(seed), model.mobility.count
    scale = spread * np.array([1.0, 2.0, 5.0])[:, None, None] * np.ones(m)
    if m == 6:
        scale[:, :, 3:] *= 0.1 / spread
        x, xdot, xddot = scale * rng.uniform(-1, 1, (3, count, m))
        pose = model.robot.home.matrix @ pp.pose(*np.moveaxis(x, -1, 0))
        return pose, xdot, xddot
    return tuple(model.motion(*(scale * rng.uniform(-1, 1, (3, count, m)))))[:3]


def as_struts(name: str) -> pp.Model:
    """The same robot on UPS legs without mass."""
    robot, nothing = pp.load(name), {"mass": 0.0, "com": [0, 0, 0], "inertia": [0, 0, 0]}
    data = robot.model_dump(exclude_unset=True)
    data["legs"] = [
        {
            "kind": "UPS", "name": leg.name, "base": leg.anchor, "platform": leg.platform, "axis": [0.0, 0.6, 0.8],
            "lower": nothing, "upper": nothing,
        }
        for leg in robot.legs
    ]  # fmt: skip
    return pp.Model(Robot.model_validate(data))


def test_a_cable_is_a_strut_without_mass(model_of: Callable[[str], pp.Model]) -> None:
    cables, struts = model_of("cogiro"), as_struts("cogiro")
    motion = states(cables, 40, 1.5)
    plain = pp.Distribution()
    for function in (
        lambda m: m.inverse_kinematics(motion[0]),
        lambda m: m.jacobian(motion[0]),
        lambda m: m.accelerations(*motion),
        lambda m: m.inverse_dynamics(*motion, distribution=plain),
        lambda m: m.direct_dynamics(*motion[:2], np.full(8, -300.0)),
        lambda m: m.mass_matrix(motion[0]),
        lambda m: m.reactions(*motion, distribution=plain).on_platform,
        lambda m: m.reactions(*motion, distribution=plain).base,
    ):
        found, wanted = function(cables), function(struts)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
    for formulation in ("newton-euler", "lagrange"):
        one = cables.inverse_dynamics(*motion, formulation=formulation, errors="nan")
        np.testing.assert_allclose(one, cables.inverse_dynamics(*motion, errors="nan"), rtol=1e-9)


def shortest_over_pulley(anchor: Array, axis: Array, radius: float, end: Array) -> tuple[float, Array]:
    """Length of a cable over a pulley and where it leaves: the angle at which the whole is stationary, by search.

    The shortest way around the far side of the circle, from where the cable meets it.
    """
    d = end - anchor
    z = d @ axis
    side = d - z * axis
    x = np.linalg.norm(side)

    def point(angle: float) -> Array:
        return np.array([radius * (1 + np.cos(angle)), radius * np.sin(angle)])

    def inwards(angle: float) -> float:  # zero where the free part touches the circle
        return float((np.array([x, z]) - point(angle)) @ np.array([np.cos(angle), np.sin(angle)]))

    best = None
    for start, stop in pairwise(np.linspace(-np.pi, np.pi, 181)):
        if inwards(start) * inwards(stop) < 0:
            found = brentq(inwards, start, stop, xtol=1e-14)
            along = np.array([x, z]) - point(found)
            if along @ np.array([np.sin(found), -np.cos(found)]) > 0:  # as the cable runs round the pulley
                best = found
    assert best is not None
    length = radius * (np.pi - best) + np.linalg.norm(np.array([x, z]) - point(best))
    return length, anchor + point(best)[0] * side / x + point(best)[1] * axis


def test_a_pulley_lets_the_cable_leave_at_its_tangent(model_of: Callable[[str], pp.Model]) -> None:
    """Length by search, and the force along the free part: dl/dx by central differences of the pose."""
    model = model_of("ipanema")
    pose = states(model, 3, 0.4)[0]
    length, rows = model.inverse_kinematics(pose), model.jacobian(pose)
    for k, leg in enumerate(model.robot.legs):
        for state in range(3):
            end = pose[state, :3, 3] + pose[state, :3, :3] @ np.array(leg.platform)
            anchor, axis = np.array(leg.anchor), np.array(leg.pulley.axis)
            wanted, point = shortest_over_pulley(anchor, axis, leg.pulley.radius, end)
            assert length[state, k] == pytest.approx(wanted, rel=1e-12)
            along = (end - point) / np.linalg.norm(end - point)
            np.testing.assert_allclose(rows[state, k, :3], along, atol=1e-10)
    step = 1e-6
    for axis_ in range(3):
        moved = np.stack([pose, pose])
        moved[0, :, axis_, 3] -= step
        moved[1, :, axis_, 3] += step
        low, high = model.inverse_kinematics(moved)
        np.testing.assert_allclose((high - low) / (2 * step), rows[:, :, axis_], atol=1e-8)


def least_excess(model: pp.Model, plain: Array, free: Array) -> float:
    """The least s with tensions from low - s to high + s, by HiGHS; zero where there are tensions within bounds."""
    low, high = model.robot_limits.force_range_at_rest
    n, r = free.shape
    ones = np.ones((n, 1))
    found = linprog(
        np.r_[np.zeros(r), 1.0],
        A_ub=np.block([[free, -ones], [-free, -ones]]),
        b_ub=np.r_[high - plain, plain - low],
        bounds=[(None, None)] * r + [(0, None)],
    )
    return float(found.fun)


def check_tensions(name: str, count: int, spread: float) -> None:
    """Default tensions are within bounds where there are any, and the judge and the map say so."""
    model = pp.Model(name)
    motion = states(model, count, spread, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        force = model.inverse_dynamics(*motion, errors="nan")
        plain = model.inverse_dynamics(*motion, distribution=pp.Distribution(), errors="nan")
    kept, free = model.limits(*motion)["tension"].max(axis=-1) <= 1 + 1e-12, model.null_space(motion[0])
    still = np.zeros((count, 6))
    at_rest = model.inverse_dynamics(motion[0], still, still, distribution=pp.Distribution(), errors="nan")
    held = pp.analysis.wrench_feasible(model, motion[0], errors="nan").feasible
    size, feasible = np.abs(plain).max(axis=1), 0
    for k in np.flatnonzero(np.isfinite(plain).all(axis=1)).tolist():
        change = force[k] - plain[k]
        np.testing.assert_allclose(free[k] @ (free[k].T @ change), change, atol=1e-9 * size[k])
        for answer, forces in ((kept[k], plain[k]), (held[k], at_rest[k])):
            excess = least_excess(model, forces, free[k])
            assert answer == (excess <= HIGHS * size[k]) or excess < 10 * HIGHS * size[k]
        feasible += int(kept[k])
    assert 0.05 * count < feasible < 0.98 * count


def test_tensions_are_within_bounds_where_any_are() -> None:
    check_tensions("cogiro", 100, 5.0)


@pytest.mark.long
@pytest.mark.parametrize(("name", "spread"), [("cogiro", 5.0), ("ipanema", 1.0), ("planar-4-cable", 0.9)])
def test_tensions_of_many_states(name: str, spread: float) -> None:
    check_tensions(name, 3400, spread)


def test_a_cable_that_would_have_to_push_is_named(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("cable-camera")
    still, down = np.zeros(6), np.array([0, 0, -40.0, 0, 0, 0])
    with warned(StateWarning, "cable1"):
        model.inverse_dynamics(model.robot.home.matrix, still, down)
    assert not model.limits(model.robot.home.matrix, still, down).ok
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.inverse_dynamics(model.robot.home.matrix, still, still)


def test_stiffness_is_that_of_cables_and_of_their_tension(model_of: Callable[[str], pp.Model]) -> None:
    """Wrench of stretched cables at neighbouring poses, drums held: by differences; E A/l of each and its tension."""
    model = model_of("cogiro")
    home, still = model.robot.home.matrix, np.zeros(6)
    force, length = model.inverse_dynamics(home, still, still), model.inverse_kinematics(home)
    stiffness = np.array([leg.stiffness for leg in model.robot.legs]) / length
    weight = model.robot.platform.mass * 9.81
    com = np.array(model.robot.platform.com)

    def wrench(pose: Array) -> Array:
        pulls = model.jacobian(pose).T @ (force - stiffness * (model.inverse_kinematics(pose) - length))
        arm = pose[:3, :3] @ com
        return pulls + np.r_[0, 0, -weight, np.cross(arm, [0, 0, -weight])]

    found = pp.analysis.stiffness(model).matrix
    step, wanted = 1e-5, np.zeros((6, 6))
    for k in range(6):
        ends = []
        for sign in (-1, 1):
            moved = home.copy()
            if k < 3:
                moved[k, 3] += sign * step
            else:
                turn = pp.pose(**{("roll", "pitch", "yaw")[k - 3]: sign * step})
                moved[:3, :3] = turn[:3, :3] @ home[:3, :3]
            ends.append(wrench(moved))
        wanted[:, k] = -(ends[1] - ends[0]) / (2 * step)
    np.testing.assert_allclose(found, wanted, atol=2e-8 * np.abs(wanted).max())
    alone = pp.analysis.stiffness(model, preload=False).matrix
    assert np.abs(found - alone).max() > 1e-3 * np.abs(found).max()


def test_drums_count_in_the_dynamics(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("ipanema")
    without = pp.Model(pp.load("ipanema", {"legs.*.drum.inertia": 0.0}))
    pose = states(model, 3, 0.3)[0]
    rows = model.jacobian(pose)
    added = 0.002 / 0.04**2 * np.swapaxes(rows, 1, 2) @ rows
    np.testing.assert_allclose(model.mass_matrix(pose) - without.mass_matrix(pose), added, rtol=1e-9, atol=1e-10)
    assert model.actuators[0].drive.motor_ratio == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tension": ["400 N", "20 N"]}, "tension"),
        ({"tension": ["-5 N", "20 N"]}, "tension"),
        ({"tension": ["20 mm", "40 N"]}, "tension"),
        ({"tension": [20]}, "tension"),
        ({"pulley": {"radius": 0, "axis": [0, 0, 1]}}, "pulley.radius"),
        ({"anchor": [-0.06, 0.06, 1.0]}, "cable1"),
        ({"anchor": [-0.06, 0.06, 1.01], "pulley": {"radius": "30 mm", "axis": [1, 0, 0]}}, "cable1"),
        ({"lead": "5 mm"}, "lead"),
        ({"drum": {"radius": 0}}, "drum.radius"),
        ({"drum": None, "rotor_inertia": 0.001}, "rotor_inertia"),
        ({"tension": None}, "tension"),
    ],
)
def test_cables_that_cannot_be(change: dict[str, Any], named: str) -> None:
    data = yaml.safe_load(dumps(pp.load("ipanema")))
    every = data.pop("leg_defaults", {})
    legs = [{**every, **leg} for leg in data["legs"]]
    legs[0] |= change
    data["legs"] = [{key: value for key, value in leg.items() if value is not None} for leg in legs]
    with refused(RobotFileError, *named.split()):
        loads(yaml.safe_dump(data))


def test_fewer_cables_than_degrees_of_freedom_are_refused() -> None:
    data = yaml.safe_load(dumps(pp.load("cogiro")))
    data["legs"] = data["legs"][:5]
    with refused(RobotFileError, "5", "6"):
        loads(yaml.safe_dump(data))
