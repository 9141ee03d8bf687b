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
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import Requirements
from polypod.analysis.workspace import PoseCoordinates, WorkspaceTest
from polypod.description import Robot
from polypod.errors import InputError, RobotFileError, StateWarning
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


def tension_factor(rows: Array) -> float:
    """The largest lowest tension of tensions up to 1 in balance, by HiGHS."""
    n = len(rows)
    found = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-np.eye(n), np.ones(n)],
        b_ub=np.zeros(n),
        A_eq=np.c_[rows.T / np.abs(rows).max(axis=0)[:, None], np.zeros(rows.shape[1])],
        b_eq=np.zeros(rows.shape[1]),
        bounds=[(0, 1)] * (n + 1),
    )
    return float(-found.fun)


def check_closure(name: str, count: int, spread: float, angle: float) -> None:
    model, rng = pp.Model(name), np.random.default_rng(5)
    m = model.mobility.count
    x = rng.uniform(-1, 1, (count, m)) * np.r_[np.full(m - m // 2, spread), np.full(m // 2, angle)]
    pose = model.robot.home.matrix @ pp.pose(*x.T) if m == 6 else model.motion(x).pose
    found, rows = pp.analysis.wrench_closure(model, pose, errors="nan"), model.jacobian(pose, errors="nan")
    known = np.flatnonzero(np.isfinite(found.factor))
    assert len(known) > 0.9 * count
    wanted = np.array([tension_factor(rows[k]) for k in known])
    np.testing.assert_allclose(found.factor[known], wanted, atol=1e-7)
    assert 0.02 < found.closed.mean() < 0.99


def test_wrench_closure_is_that_of_linear_programs(model_of: Callable[[str], pp.Model]) -> None:
    check_closure("ipanema", 60, 1.2, 0.8)
    suspended = model_of("cogiro")
    assert not pp.analysis.wrench_closure(suspended, states(suspended, 20, 1.0)[0]).closed.any()
    with refused(InputError, "leg1", code="no_cables"):
        pp.analysis.wrench_closure(model_of("hexapod"))


@pytest.mark.long
@pytest.mark.parametrize(("name", "spread", "angle"), [("ipanema", 1.2, 0.8), ("planar-4-cable", 0.9, 1.0)])
def test_wrench_closure_of_many_poses(name: str, spread: float, angle: float) -> None:
    check_closure(name, 5000, spread, angle)


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


# ----------------------------------------------------------------------------------------------------------------------
# Cables with mass.

HEAVY = 0.5
"""kg/m: a hundred times what such cables weigh, so that nothing hides."""


def heavy(name: str) -> pp.Model:
    return pp.Model(pp.load(name, {"legs.*.linear_density": HEAVY}))


def moved(pose: Array, twist: Array, step: float) -> Array:
    found = pose.copy()
    found[:, :3, 3] += step * twist[:, :3]
    found[:, :3, :3] = Rotation.from_rotvec(step * twist[:, 3:]).as_matrix() @ found[:, :3, :3]
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", ["cogiro", pytest.param("ipanema", marks=pytest.mark.long)])
def test_cables_weigh(name: str, model_of: Callable[[str], pp.Model]) -> None:
    """Potential by the integral of height along the cable, forces by the power that changes energies, base by sums."""
    model, light = heavy(name), model_of(name)
    pose, twist, acceleration = states(light, 3, 0.3)
    found = model.energy(pose, twist).potential - light.energy(pose, twist).potential
    for state in range(3):
        height = 0.0
        for leg in model.robot.legs:
            end, anchor = pose[state, :3, 3] + pose[state, :3, :3] @ np.array(leg.platform), np.array(leg.anchor)
            start = anchor
            if leg.pulley is not None:
                axis, radius = np.array(leg.pulley.axis), leg.pulley.radius
                whole, start = shortest_over_pulley(anchor, axis, radius, end)
                wrap = (whole - np.linalg.norm(end - start)) / radius
                turn, weights = np.polynomial.legendre.leggauss(20)
                angle = 0.5 * wrap * (turn + 1)  # from where the cable meets the pulley, at angle pi
                rise = axis[2] * radius * np.sin(np.pi - angle)
                height += radius * 0.5 * wrap * float(weights @ rise)
            height += float(np.linalg.norm(end - start) * (0.5 * (start + end) - anchor)[2])
        assert found[state] == pytest.approx(HEAVY * 9.81 * height, rel=1e-12)
    plain, step = pp.Distribution(), 1e-5
    force = model.inverse_dynamics(pose, twist, acceleration, distribution=plain)
    ends = [model.energy(moved(pose, twist, s * step), twist + s * step * acceleration) for s in (-1, 1)]
    change = sum((s * (one.kinetic + one.potential) for s, one in zip((-1, 1), ends, strict=True)), np.zeros(3))
    power = (force * (model.jacobian(pose) @ twist[..., None])[..., 0]).sum(axis=1)
    np.testing.assert_allclose(change / (2 * step), power, rtol=1e-6)
    weight = HEAVY * 9.81 * model.inverse_kinematics(pose).sum(axis=1)
    reactions = [one.reactions(pose, twist, acceleration, distribution=plain).base for one in (light, model)]
    np.testing.assert_allclose((reactions[0] - reactions[1])[:, 2], weight, rtol=1e-12)
    np.testing.assert_allclose(model.direct_dynamics(pose, twist, force), acceleration, atol=1e-10)
    for formulation in ("newton-euler", "lagrange"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, two = (
                model.inverse_dynamics(pose, twist, acceleration, formulation=f, errors="nan")
                for f in (formulation, "virtual-power")
            )
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_a_heavy_cable_is_a_catenary(model_of: Callable[[str], pp.Model]) -> None:
    """y = (H/w) cosh(w x/H + c) through both ends, c and the place of the largest sag by search."""
    model = heavy("cogiro")
    rng = np.random.default_rng(3)
    pose = states(model, 1, 0.8)[0][0]
    pulls = rng.uniform(60, 2000, 8)  # horizontal
    w, tensions, wanted = HEAVY * 9.81, np.zeros(8), []
    for k, leg in enumerate(model.robot.legs):
        along = np.array(leg.anchor) - (pose[:3, 3] + pose[:3, :3] @ np.array(leg.platform))
        d, h, a = np.hypot(*along[:2]), along[2], pulls[k] / w
        c = brentq(lambda c, a=a, d=d, h=h: a * (np.cosh(d / a + c) - np.cosh(c)) - h, -60, 60, xtol=1e-14)
        tensions[k] = w * a * np.cosh(d / a + c)
        length = a * (np.sinh(d / a + c) - np.sinh(c))
        x = brentq(lambda x, a=a, c=c, d=d, h=h: np.sinh(x / a + c) - h / d, 0, d, xtol=1e-14)
        sag = h * x / d - a * (np.cosh(x / a + c) - np.cosh(c))
        side = along[:2] / d
        force = np.r_[pulls[k] * side, pulls[k] * np.sinh(c)]
        wanted.append([length, sag, w * a * np.cosh(c), *force])
    found = pp.analysis.sag(model, pose, -tensions)
    rows = np.c_[found.length, found.sag, found.tension[:, 1], found.force]
    np.testing.assert_allclose(rows, np.array(wanted), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(found.tension[:, 0], tensions)
    # a tension below the least at which a cable can hang has no catenary; one without weight is straight
    assert np.isnan(pp.analysis.sag(model, pose, np.full(8, -10.0)).sag).all()
    assert not pp.analysis.sag(model_of("cogiro"), pose, -tensions).sag.any()


def test_the_straight_cable_is_the_catenary_to_first_order() -> None:
    """Forces of straight cables hold the platform; the catenary's differ by the square of weight over tension."""
    model = heavy("cogiro")
    found, weight = pp.analysis.sag(model), model.robot.platform.mass * 9.81
    total = (found.force - found.deviation).sum(axis=0)
    np.testing.assert_allclose(total, [0, 0, weight], atol=1e-10 * weight)
    some = pp.load("cogiro", {"legs.*.linear_density": HEAVY / 10})
    lighter = pp.analysis.sag(pp.Model(some), force=-found.tension[:, 0])
    ratio = np.linalg.norm(found.deviation, axis=1) / np.linalg.norm(lighter.deviation, axis=1)
    np.testing.assert_allclose(ratio, 100, rtol=0.05)
    with refused(InputError, code="no_cables"):
        pp.analysis.sag(pp.Model("hexapod"))


# ----------------------------------------------------------------------------------------------------------------------
# Workspaces that are known: a point on cables.

POINT = """
name: point
home: {{position: [0.1, -0.1, 0]}}
gravity: [0, 0, -9.81]
dof: [x, y]
platform: {{mass: 1.0, inertia: [0.01, 0.01, 0.01]}}
legs:
{cables}
  - kind: chain
    name: table
    bodies: {{slide: {{mass: 0, shapes: []}}}}
    joints:
      - {{name: x, kind: prismatic, between: [base, slide], at: [0, 0, 0], axis: [1, 0, 0]}}
      - {{name: y, kind: prismatic, between: [slide, platform], at: [0, 0, 0], axis: [0, 1, 0]}}
"""


def inside_hull(corners: Array, points: Array) -> NDArray[np.bool_]:
    """Whether points are inside a convex polygon with corners in counterclockwise order."""
    sides = np.roll(corners, -1, axis=0) - corners
    apart = points[:, None] - corners
    return np.asarray((sides[:, 0] * apart[..., 1] - sides[:, 1] * apart[..., 0] > 0).all(axis=1))


def test_a_point_on_cables_has_wrench_closure_between_its_anchors() -> None:
    """In the interior of the anchors' polygon and nowhere else (Gouttefarde, Gosselin, 2006)."""
    corners = np.array([[-1.0, -0.8], [1.2, -0.6], [0.9, 1.0], [-0.7, 0.9]])
    text = "  - {{kind: cable, name: cable{k}, anchor: [{x}, {y}, 0], platform: [0, 0, 0], tension: [1 N, 100 N]}}"
    lines = [text.format(k=k + 1, x=x, y=y) for k, (x, y) in enumerate(corners)]
    model = pp.Model(loads(POINT.format(cables="\n".join(lines))))
    axis = np.linspace(-1.3, 1.3, 14) + 0.013
    places = np.array([(x, y) for x in axis for y in axis])
    judged = WorkspaceTest(PoseCoordinates(model), Requirements(closure=True))
    found = judged(places - [0.1, -0.1])
    np.testing.assert_array_equal(found.inside, inside_hull(corners, places))
    assert {judged.limits[k][1] for k in found.binding[~found.inside]} == {"wrench closure"}


def test_a_camera_on_three_cables_works_below_the_triangle_of_its_anchors(model_of: Callable[[str], pp.Model]) -> None:
    """Without lowest and highest tensions: inside the triangle, and below it."""
    model = model_of("cable-camera")
    corners = np.array([leg.anchor for leg in model.robot.legs[:3]])[[0, 1, 2], :2]
    rng = np.random.default_rng(0)
    x = rng.uniform([-16, -11, -5], [16, 21, 9], (300, 3))
    pose = model.motion(x).pose
    still = np.zeros(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tension = -model.inverse_dynamics(pose, still, still)
    below = inside_hull(corners, pose[:, :2, 3]) & (pose[:, 2, 3] < 15)
    np.testing.assert_array_equal((tension >= 0).all(axis=1), below)
    assert 0.2 < below.mean() < 0.8
