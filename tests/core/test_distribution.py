"""Forces of redundant robots within bounds, against a quadratic program by enumeration and linear programming."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import polypod as pp
from polypod.control import ComputedTorque, JointComputedTorque, Measurement, Reference
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.motion import Poses
from polypod.symbols.bounded import nearest_within
from support.refusals import refused, warned

Array = NDArray[np.float64]
HIGHS = 1e-7
"""To what HiGHS meets its constraints, relative to their size."""


def margin_by_programming(force: Array, free: Array, low: Array, high: Array) -> float:
    """The largest s with low + s <= force + free y <= high - s: negative if no forces are within the bounds."""
    n, r = free.shape
    ones = np.ones((n, 1))
    found = linprog(
        np.r_[np.zeros(r), -1.0],
        A_ub=np.block([[free, ones], [-free, ones]]),
        b_ub=np.r_[high - force, force - low],
        bounds=[(None, None)] * (r + 1),
    )
    return -float(found.fun)


def nearest_by_enumeration(force: Array, free: Array, weights: Array, low: Array, high: Array) -> Array | None:
    """The nearest forces within bounds, from all choices of actuators on their bounds: the best that is feasible."""
    n, r = free.shape
    best, cost = None, np.inf
    hessian = free.T @ (weights[:, None] * free)
    for count in range(r + 1):
        for chosen in combinations(range(n), count):
            rows = free[list(chosen)]
            for ends in product((low, high), repeat=count):
                wanted = np.array([end[i] - force[i] for end, i in zip(ends, chosen, strict=True)])
                system = np.block([[hessian, rows.T], [rows, np.zeros((count, count))]])
                if np.linalg.cond(system) > 1e10:
                    continue
                y = np.linalg.solve(system, np.r_[np.zeros(r), wanted])[:r]
                found = force + free @ y
                slack = 1e-9 * (1 + np.abs(force).max())
                value = float(weights @ (found - force) ** 2)
                if value < cost and (found >= low - slack).all() and (found <= high + slack).all():
                    best, cost = found, value
    return best


def compiled(n: int, m: int) -> ca.Function:
    """``nearest_within`` for robots of n actuators and m degrees of freedom."""
    x, matrix, weights, low, high = (ca.SX.sym("a", *shape) for shape in ((n,), (n, m), (n,), (n,), (n,)))
    return ca.Function("within", [x, matrix, weights, low, high], [nearest_within(x, matrix, weights, low, high)])


@pytest.mark.parametrize(("n", "r"), [(4, 1), (8, 2), pytest.param(7, 3, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["any", "weights", "idle actuators", "a given force"])
def test_no_forces_within_bounds_are_nearer(n: int, r: int, kind: str) -> None:
    """Random robots, and such whose null space leaves an actuator out or moves two alike; feasible ones and others."""
    rng = np.random.default_rng(100 * n + 10 * r + len(kind))
    within, feasible, states = compiled(n, n - r), 0, 30
    for _ in range(states):
        free = rng.normal(size=(n, r))
        if kind == "idle actuators":
            free[0], free[1] = 0.0, free[2]
        matrix = np.linalg.svd(free)[0][:, r:]
        free = np.linalg.svd(matrix)[0][:, n - r :]
        weights = rng.uniform(0.2, 5.0, n) if kind == "weights" else np.ones(n)
        inside = rng.uniform(-1.0, 1.0, n) + free @ rng.normal(size=r) * rng.choice([0.0, 3.0])
        load = matrix.T @ inside
        force = np.linalg.lstsq(matrix.T / np.sqrt(weights), load, rcond=None)[0] / np.sqrt(weights)
        low, high = -rng.uniform(0.3, 1.5, n), rng.uniform(0.3, 1.5, n)
        if kind == "a given force":
            low[-1] = high[-1] = 0.1
        found = np.asarray(within(force, matrix, weights, low, high)).ravel()
        wanted = nearest_by_enumeration(force, free, weights, low, high)
        assert np.isfinite(found).all() == (wanted is not None)
        if wanted is not None:
            feasible += 1
            np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert 3 <= feasible <= states - 3


def eight_struts() -> pp.Model:
    """Long's hexapod with two more legs."""
    robot = pp.load("long")
    more = [
        robot.legs[k].model_copy(update={"name": name, "platform": tuple(-0.5 * np.array(robot.legs[k].platform))})
        for k, name in ((0, "leg7"), (3, "leg8"))
    ]
    return pp.Model(robot.model_copy(update={"name": "long-8", "legs": (*robot.legs, *more)}))


def check_states(model: pp.Model, count: int, spread: float) -> None:
    """Every answer of a batch: feasible as HiGHS says, within bounds, the same load, and no nearer forces (KKT)."""
    rng, n = np.random.default_rng(1), len(model.actuators)
    if model.mobility.count == 6:
        pose = np.tile(model.robot.home.matrix, (count, 1, 1))
        pose[:, :3, 3] += spread * rng.normal(size=(count, 3))
        motion = pose, np.zeros((count, 6)), rng.normal(size=(count, 6))
    else:
        motion = tuple(model.motion(*(spread * rng.normal(size=(3, count, model.mobility.count)))))
    wrench = np.zeros((count, 6))
    plain = model.inverse_dynamics(*motion, wrench, friction=False)
    middle, half = np.median(plain, axis=0), 0.8 * np.std(plain, axis=0)
    low, high = middle - half, middle + half
    found = model.inverse_dynamics(
        *motion, wrench, friction=False, distribution=pp.Distribution(bounds=(low, high)), errors="nan"
    )
    free = model.null_space(motion[0])
    given, size = np.isfinite(found).all(axis=1), np.abs(plain).max()
    assert 0.1 < given.mean() < 0.97
    assert (found[given] >= low).all()
    assert (found[given] <= high).all()
    change = (found - plain)[given]
    inside = np.einsum("kir,kjr,kj->ki", free[given], free[given], change)
    np.testing.assert_allclose(inside, change, atol=1e-10 * size)
    for k in range(count):
        margin = margin_by_programming(plain[k], free[k], low, high)
        assert given[k] == (margin >= 0) or abs(margin) < HIGHS * size
    # N^T f = N^T (multipliers): those of bounds that are met push inwards, all others are zero
    for k in np.flatnonzero(given).tolist():
        f, at_low, at_high = found[k], found[k] <= low + 1e-9 * size, found[k] >= high - 1e-9 * size
        signs = np.where(at_low, 1.0, 0.0) - np.where(at_high, 1.0, 0.0)
        active = free[k][signs != 0] * signs[signs != 0][:, None]
        gradient = free[k].T @ f
        if not len(active):
            assert np.abs(gradient).max() < 1e-9 * size
            continue
        rest = linprog(
            np.zeros(len(active)), A_eq=active.T, b_eq=gradient, bounds=[(-HIGHS * size, None)] * len(active)
        )
        assert rest.status == 0 or np.abs(gradient).max() < HIGHS * size
    assert n == found.shape[1]


@pytest.mark.parametrize("count", [60, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["planar-4-rrr", "eight struts"])
def test_robots_within_bounds(model_of: Callable[[str], pp.Model], name: str, count: int) -> None:
    model = eight_struts() if name == "eight struts" else model_of(name)
    check_states(model, count, 0.02)


def test_friction_reactions_and_formulations_know_the_bounds(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("planar-4-rrr")
    motion = model.motion(*(0.02 * np.random.default_rng(0).normal(size=(3, 3))))
    plain = model.inverse_dynamics(*motion)
    share = pp.Distribution(bounds=(-np.inf, np.where(np.arange(4) == plain.argmax(), 0.9 * plain.max(), np.inf)))
    found = model.inverse_dynamics(*motion, distribution=share)
    assert found[plain.argmax()] == pytest.approx(0.9 * plain.max(), rel=1e-14)
    for formulation in ("newton-euler", "lagrange"):
        other = model.inverse_dynamics(*motion, formulation=formulation, distribution=share)
        np.testing.assert_allclose(other, found, rtol=1e-9)
    np.testing.assert_allclose(model.reactions(*motion, distribution=share).force, found, rtol=1e-9)
    pose, twist, acceleration = motion
    moved = model.direct_dynamics(pose, twist, found)
    np.testing.assert_allclose(moved, acceleration, atol=1e-8 * (1 + np.abs(acceleration).max()))


def test_forces_within_bounds_are_continuous_along_a_motion(model_of: Callable[[str], pp.Model]) -> None:
    """Where bounds become active or inactive, the forces bend and do not jump: steps shrink with the sampling."""
    model = model_of("planar-4-rrr")
    steps = []
    for count in (2_001, 20_001):
        s = np.linspace(-1, 1, count)
        x = np.stack([0.05 * s, 0.03 * np.cos(3 * s), 0.1 * s], axis=1)
        pose, still = model.motion(x).pose, np.zeros(6)
        plain = model.inverse_dynamics(pose, still, still, friction=False)
        most = 0.95 * np.abs(plain).max()
        found = model.inverse_dynamics(
            pose, still, still, friction=False, distribution=pp.Distribution(bounds=(-most, most))
        )
        active = np.abs(found) >= most
        assert 0 < active.any(axis=1).mean() < 1
        steps.append(np.abs(np.diff(found, axis=0)).max())
    assert steps[1] < 0.15 * steps[0]


@pytest.mark.parametrize("criterion", ["middle", "lowest", "highest"])
def test_a_criterion_is_a_preload(model_of: Callable[[str], pp.Model], criterion: str) -> None:
    model = model_of("planar-4-rrr")
    home, still = model.robot.home.matrix, np.zeros(6)
    low, high = np.array([-3.0, -3.0, -5.0, -3.0]), np.array([4.0, 5.0, 6.0, 7.0])
    preload = {"middle": (low + high) / 2, "lowest": low, "highest": high}[criterion]
    found = model.inverse_dynamics(
        home, still, still, distribution=pp.Distribution(bounds=(low, high), criterion=criterion)
    )
    wanted = model.inverse_dynamics(
        home, still, still, distribution=pp.Distribution(preload=preload, bounds=(low, high))
    )
    assert (found == wanted).all()
    other = model.inverse_dynamics(home, still, still, distribution=pp.Distribution(bounds=(low, high)))
    assert ((found - preload) ** 2).sum() < 0.999 * ((other - preload) ** 2).sum()


def test_states_without_forces_within_bounds_name_the_actuators(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("planar-4-rrr")
    home, still = model.robot.home.matrix, np.zeros(6)
    plain = model.inverse_dynamics(home, still, still, [0, -50.0, 0, 0, 0, 0])
    share = pp.Distribution(bounds=(-0.1, 0.1))
    with refused(StateError, "0.1", code="bounds"):
        model.inverse_dynamics(home, still, still, [0, -50.0, 0, 0, 0, 0], distribution=share)
    wrench = np.array([[0, 0.0, 0, 0, 0, 0], [0, -50.0, 0, 0, 0, 0]])
    wide = pp.Distribution(bounds=(-0.5 * np.abs(plain).max(), 0.5 * np.abs(plain).max()))
    with warned(StateWarning, "1 2", code="bounds"):
        found = model.inverse_dynamics(home, still, still, wrench, distribution=wide)
    assert np.isnan(found).all(axis=1).tolist() == [False, True]


def test_bounds_that_are_none_are_refused(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("planar-4-rrr")
    home, still = model.robot.home.matrix, np.zeros(6)

    def ask(**given: object) -> None:
        model.inverse_dynamics(home, still, still, distribution=pp.Distribution(**given))  # type: ignore[arg-type]

    name = model.actuators[2].name
    with refused(InputError, f"{name} 1 -1", code="bounds"):
        ask(bounds=([-1, -1, 1, -1], [1, 1, -1, 1]))
    with refused(InputError, "bounds drives motors"):
        ask(bounds="motors")
    with refused(InputError, "bounds"):
        ask(bounds=([1, 2, 3], 4))
    with refused(InputError, "nan", code="bounds"):
        ask(bounds=(np.nan, 4.0))
    with refused(InputError, "criterion bounds"):
        ask(criterion="middle")
    with refused(InputError, "middle", code="bounds"):
        ask(bounds=(-np.inf, 4.0), criterion="middle")
    with refused(InputError, "middle preload"):
        ask(bounds=(-4.0, 4.0), criterion="middle", preload=np.ones(4))
    with refused(UnknownNameError, "criterion"):
        ask(bounds=(-4.0, 4.0), criterion="best")


@pytest.mark.parametrize("controller", [ComputedTorque, JointComputedTorque])
def test_controllers_share_within_bounds(model_of: Callable[[str], pp.Model], controller: type) -> None:
    """At rest on its reference a controller asks for the forces that hold the robot; without any it says why."""
    model = model_of("planar-4-rrr")
    pose, still = model.motion([0.02, 0.01, 0.1]).pose, np.zeros(6)
    plain, q = model.inverse_dynamics(pose, still, still), model.inverse_kinematics(pose)
    reference = Reference(Poses.through([pose, pose], [0.0, 1.0]))
    seen = Measurement(q, np.zeros(4), pose, still, np.zeros(0), np.zeros(0))
    share = pp.Distribution(bounds=(-0.99 * np.abs(plain).max(), 0.99 * np.abs(plain).max()))

    def force(given: pp.Distribution) -> Array:
        law = controller(model, reference, distribution=given)
        return np.asarray(law.step(law.start(0.0, seen), 0.0, seen)[0] if hasattr(law, "step") else law(0.0, seen))

    wanted = model.inverse_dynamics(pose, still, still, distribution=share)
    np.testing.assert_allclose(force(share), wanted, atol=1e-9 * np.abs(plain).max())
    with refused(StateError, "inverse_dynamics", code="bounds"):
        force(pp.Distribution(bounds=(-1e-3, 1e-3)))


@pytest.mark.parametrize("name", ["planar-4-rrr", "eight struts", "hexapod"])
def test_margins_of_wrench_boxes_are_those_of_their_corners(model_of: Callable[[str], pp.Model], name: str) -> None:
    """The zonotope is convex: a box is inside if its corners are, and the margin is the smallest of theirs (HiGHS)."""
    model, rng, poses = eight_struts() if name == "eight struts" else model_of(name), np.random.default_rng(3), 6
    if model.mobility.count == 6:
        pose = np.tile(model.robot.home.matrix, (poses, 1, 1))
        pose[:, :3, 3] += 0.01 * rng.normal(size=(poses, 3))
    else:
        pose = model.motion(0.02 * rng.normal(size=(poses, 3))).pose
    still = np.zeros(6)
    plain, free = model.inverse_dynamics(pose, still, still, friction=False), model.null_space(pose)
    size = np.abs(plain).max()
    half, wrench = size * np.array([0.2, 0.1, 0, 0, 0, 0.05]), size * np.array([0.1, 0, 0, 0, 0, 0.02])
    low, high = plain.min(axis=0) - 0.3 * size, plain.max(axis=0) + rng.uniform(0.1, 0.5, plain.shape[1]) * size
    high[-1] = np.inf
    found = pp.analysis.wrench_feasible(model, pose, half, wrench, bounds=(low, high))
    corners = np.array(list(product(*((-h, h) if h else (0.0,) for h in half)))) + wrench
    held = model.inverse_dynamics(pose[:, None], still, still, corners, friction=False)
    for k in range(poses):
        margins = [margin_by_programming(f, free[k], low, np.minimum(high, 1e4 * size)) for f in held[k]]
        assert found.margin[k] == pytest.approx(min(margins), rel=1e-6, abs=HIGHS * size)
    assert (found.limiting >= 0).all()
    one = pp.analysis.wrench_feasible(model, pose[0], half, wrench, bounds=(low, high))
    assert one.margin == pytest.approx(found.margin[0], rel=1e-12)


def test_ellipsoids_and_accelerations_are_held_at_their_worst_points(model_of: Callable[[str], pp.Model]) -> None:
    """Points of the sets hold the margin from above (HiGHS); the worst of many comes near it."""
    model, rng = model_of("planar-4-rrr"), np.random.default_rng(4)
    pose, still = model.motion(0.02 * rng.normal(size=3)).pose, np.zeros(6)
    plain, free = model.inverse_dynamics(pose, still, still, friction=False), model.null_space(pose)
    size = np.abs(plain).max() + 1.0
    low, high = plain - size, plain + rng.uniform(0.5, 1.5, 4) * size
    axes = size * np.array([0.4, 0.2, 0, 0, 0, 0.03])
    reach = np.array([2.0, 3.0, 0, 0, 0, 5.0])
    where = rng.normal(size=(400, 6)) * (axes > 0)
    where /= np.linalg.norm(where, axis=1)[:, None]
    corners = np.array(list(product(*((-r, r) if r else (0.0,) for r in reach))))

    def margins(wrench: Array, acceleration: Array) -> Array:
        held = model.inverse_dynamics(pose, still, acceleration, wrench, friction=False, distribution=pp.Distribution())
        return np.array([margin_by_programming(f, free, low, high) for f in held])

    found = pp.analysis.wrench_feasible(model, pose, ellipsoid=axes, bounds=(low, high)).margin
    tried = margins(where * axes, np.zeros((400, 6)))
    assert (tried >= found - HIGHS * size).all()
    assert tried.min() - found < 0.02 * size
    moving = pp.analysis.wrench_feasible(model, pose, acceleration=reach, bounds=(low, high)).margin
    assert moving == pytest.approx(margins(np.zeros((len(corners), 6)), corners).min(), rel=1e-6, abs=HIGHS * size)
    both = pp.analysis.wrench_feasible(model, pose, box=axes, acceleration=reach, bounds=(low, high)).margin
    sides = np.array(list(product(*((-a, a) if a else (0.0,) for a in axes))))
    every = [np.repeat(sides, len(corners), axis=0), np.tile(corners, (len(sides), 1))]
    assert both == pytest.approx(margins(*every).min(), rel=1e-6, abs=HIGHS * size)
    with refused(InputError, code="two_sets"):
        pp.analysis.wrench_feasible(model, pose, box=axes, ellipsoid=axes, bounds=(low, high))
    with refused(InputError, "acceleration -1"):
        pp.analysis.wrench_feasible(model, pose, acceleration=[-1, 0, 0, 0, 0, 0], bounds=(low, high))


def test_wrench_boxes_that_are_none_are_refused(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("planar-4-rrr")
    with refused(InputError, "box -1"):
        pp.analysis.wrench_feasible(model, box=[-1, 0, 0, 0, 0, 0], bounds=(-5, 5))
    with refused(InputError, "bounds 5 -5", code="bounds"):
        pp.analysis.wrench_feasible(model, bounds=(5, -5))
    away = model.robot.home.matrix.copy()
    away[0, 3] += 5.0
    found = pp.analysis.wrench_feasible(model, away, bounds=(-5, 5), errors="nan")
    assert np.isnan(found.margin)
    assert (found.limiting, found.feasible) == (-1, False)


def test_eight_cables_are_struts_without_mass_that_pull() -> None:
    """A box hung in its middle: lower cables at 20 N, the upper ones carry these and the weight, by its balance."""
    anchors = np.array([(x, y, z) for z in (-2.0, 2.0) for x, y in ((-3, -3), (3, -3), (3, 3), (-3, 3))])
    points = np.sign(anchors) * [0.2, 0.3, -0.2]
    none = {"mass": 0.0, "com": (0, 0, 0), "inertia": (0, 0, 0)}
    legs = [
        {"kind": "UPS", "name": f"cable{k + 1}", "base": tuple(a), "platform": tuple(p), "axis": (0.0, 0.0, 1.0)}
        for k, (a, p) in enumerate(zip(anchors.tolist(), points.tolist(), strict=True))
    ]
    platform = {"mass": 10.0, "inertia": (0.5, 0.5, 0.5)}
    home = {"position": (0.0, 0.0, 0.0)}
    legs = [{**leg, "lower": none, "upper": none} for leg in legs]
    model = pp.Model(pp.Robot.model_validate({"name": "cables", "platform": platform, "home": home, "legs": legs}))
    pose, still = model.robot.home.matrix, np.zeros(6)
    force = model.inverse_dynamics(pose, still, still, distribution=pp.Distribution(bounds=(-400, -20)))
    rise = abs((anchors - points)[0, 2]) / np.linalg.norm((anchors - points)[0])
    weight = 10.0 * abs(model.robot.gravity[2])
    np.testing.assert_allclose(force, -np.repeat([20.0, 20.0 + weight / (4 * rise)], 4), rtol=1e-12)
    with refused(StateError, "-20", code="bounds"):
        # pulled upwards by twice the most that four cables hold
        lift = [0, 0, 2 * 4 * 400 * rise, 0, 0, 0]
        model.inverse_dynamics(pose, still, still, lift, distribution=pp.Distribution(bounds=(-400, -20)))
