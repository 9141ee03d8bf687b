"""Clearances against coal on the same shapes, and closed forms."""

from __future__ import annotations

import warnings
from fractions import Fraction

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.clearance import Clearance, ClearanceFunction
from polypod.errors import UnknownNameError
from polypod.files import dumps, loads
from polypod.mechanism.samples import around_home
from support.refusals import refused
from support.states import mostly_long

LONG = sorted({*pp.library()} - {"delta-wrist"})  # which is two robots, one on the other
EXACT, GJK = 1e-12, 1e-6
"""Capsules and spheres are closed forms in coal too; plates are found there by iterating to its tolerance."""


def robot_of(name: str) -> pp.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.load(name)


def measured(robot: pp.Robot, count: int, reach: float = 0.3) -> tuple[ClearanceFunction, Clearance, np.ndarray]:
    """The shapes, the distances at poses around home, and the frames of all bodies there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pp.Model(robot)
        if not any(leg.constrains for leg in robot.legs):
            poses = np.stack(around_home(robot, count, reach, seed=1))
        else:  # the rest of the pose follows from the legs
            scale = [robot.platform_size if one.motion == "translation" else 1.0 for one in robot.dof]
            x = np.random.default_rng(1).uniform(-reach, reach, (count, len(scale))) * scale
            poses = model.motion(x, errors="nan").pose
            poses = poses[np.isfinite(poses).all(axis=(1, 2))]
        found = model.bodies(poses, errors="nan")
        frames = np.stack([np.tile(np.eye(4), (len(poses), 1, 1)), *found.values()], axis=1)
        reached = np.isfinite(frames).all(axis=(1, 2, 3))
        return model.clearances.function, model.clearance(poses[reached], errors="raise"), frames[reached]


def coal_shape(shape, points=None):
    """A core as coal has it, with its pose in the body; of given points, in the base."""
    points = shape.points if points is None else points
    if shape.kind == "sphere":
        return coal.Sphere(shape.radius), coal.Transform3s(np.eye(3), points[0])
    if shape.kind == "capsule":
        along = points[1] - points[0]
        length = np.linalg.norm(along)
        turn = Rotation.align_vectors([along / length], [[0, 0, 1]])[0].as_matrix()
        return coal.Capsule(shape.radius, length), coal.Transform3s(turn, points.mean(axis=0))
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in points:
        corners.append(point)
    for k in range(1, len(points) - 1):
        faces.append(coal.Triangle(0, k, k + 1))
    return coal.Convex(corners, faces), coal.Transform3s.Identity()


def coal_distance(a, frame_a, b, frame_b, made=None) -> float:
    """Distance of two shapes; a plate is its polygon, less its radius. Cables stretch with their frame."""
    parts = []
    for shape, frame in ((a, frame_a), (b, frame_b)):
        if shape.stretches:
            parts.append(coal_shape(shape, shape.points @ frame[:3, :3].T + frame[:3, 3]))
        else:
            body, own = coal_shape(shape) if made is None else made[id(shape)]
            parts.append((body, coal.Transform3s(frame[:3, :3], frame[:3, 3]) * own))
    (one, _), (two, _) = parts
    placed = [pose for _, pose in parts]
    grown = sum(shape.radius for shape in (a, b) if shape.kind == "plate")
    result = coal.DistanceResult()
    coal.distance(one, placed[0], two, placed[1], coal.DistanceRequest(), result)
    return result.min_distance - grown


@pytest.mark.parametrize(
    "name", mostly_long(("hexapod", "ipanema", "kim-ryu", "delta", "agile-eye", "staicu"), ("hexapod", "ipanema"))
)
def test_distances_are_those_of_coal(name):
    robot = robot_of(name)
    function, found, frames = measured(robot, 12)
    assert len(found.names) == len(function.pairs) > 0
    compared = 0
    for k in range(len(frames)):
        for number, pair in enumerate(function.pairs):
            shapes = [[function.shapes[i] for i in part] for part in pair.shapes]
            flat = any(shape.kind == "plate" for part in shapes for shape in part)
            truth = min(coal_distance(a, frames[k, a.body], b, frames[k, b.body]) for a in shapes[0] for b in shapes[1])
            if truth > 0:
                compared += 1
                assert abs(found.distance[k, number] - truth) < (GJK if flat else EXACT), pair.names
            else:
                assert found.distance[k, number] < 1e-6
    assert compared > 100


def by_fractions(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Distance of two lines with ends (2, 3), exact but for one root, and the squared sine of their angle.

    The smallest of those at each end, and of that between the lines if both feet are within.
    """
    (p, p1), (q, q1) = ([[Fraction(float(x)) for x in point] for point in ends] for ends in (a, b))

    def dot(x: list[Fraction], y: list[Fraction]) -> Fraction:
        return sum((i * j for i, j in zip(x, y, strict=True)), Fraction(0))

    u, v, w = ([i - j for i, j in zip(x, y, strict=True)] for x, y in ((p1, p), (q1, q), (p, q)))
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)

    def within(x: Fraction) -> Fraction:
        return min(max(x, Fraction(0)), Fraction(1))

    feet = [(Fraction(s), within((uv * s + vw) / vv)) for s in (0, 1)]
    feet += [(within((uv * t - uw) / uu), Fraction(t)) for t in (0, 1)]
    across = uu * vv - uv * uv
    if across:
        s, t = (uv * vw - vv * uw) / across, (uu * vw - uv * uw) / across
        feet += [(s, t)] if 0 <= s <= 1 and 0 <= t <= 1 else []
    gaps = [[w[i] + u[i] * s - v[i] * t for i in range(3)] for s, t in feet]
    return float(np.sqrt(float(min(dot(gap, gap) for gap in gaps)))), float(across / (uu * vv))


def least_norm(points: np.ndarray) -> float:
    """Distance of the origin from the convex hull of points (k, 3), by Wolfe's algorithm: finite, exact to rounding.

    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976): a corral of affinely
    independent points, whose affine hull's nearest point is inside its convex hull, grows until no point is nearer.
    """
    chosen, weights = [int((points**2).sum(axis=1).argmin())], np.ones(1)
    for _ in range(200):
        x = weights @ points[chosen]
        best = int((points @ x).argmin())
        if points[best] @ x > x @ x - 1e-15 * (points**2).sum(axis=1).max() or best in chosen:
            break
        chosen, weights = [*chosen, best], np.append(weights, 0.0)
        while True:
            corral = points[chosen]
            system = np.block(
                [[np.zeros((1, 1)), np.ones((1, len(chosen)))], [np.ones((len(chosen), 1)), corral @ corral.T]]
            )
            affine = np.linalg.lstsq(system, np.r_[1.0, np.zeros(len(chosen))], rcond=None)[0][1:]
            if (affine > -1e-14).all():
                weights = affine
                break
            down = affine < weights
            theta = np.min((weights / np.where(down, weights - affine, 1.0))[down & (affine <= 0)])
            weights = np.maximum(weights + theta * (affine - weights), 0.0)
            keep = weights > 1e-14
            chosen, weights = [c for c, kept in zip(chosen, keep, strict=True) if kept], weights[keep]
    return float(np.linalg.norm(weights @ points[chosen]))


def test_plates_are_exact_by_the_nearest_point_of_a_polytope():
    """coal iterates to 1e-6; the origin's distance from all differences of corners is finite and exact to rounding."""
    function, found, frames = measured(robot_of("hexapod"), 4)
    compared = 0
    for k in range(len(frames)):
        for number, pair in enumerate(function.pairs):
            shapes = [[function.shapes[i] for i in part] for part in pair.shapes]
            if not any(shape.kind == "plate" for part in shapes for shape in part):
                continue
            truth = min(
                least_norm((a.at(frames[k, a.body])[:, None] - b.at(frames[k, b.body])).reshape(-1, 3))
                - a.radius
                - b.radius
                for a in shapes[0]
                for b in shapes[1]
            )
            assert found.distance[k, number] == pytest.approx(truth, abs=EXACT), pair.names
            compared += 1
    assert compared == 13 * len(frames)


def test_points_are_on_the_cores_and_as_far_apart(model_of):
    robot = robot_of("hexapod")
    function, found, _ = measured(robot, 5)
    apart = np.linalg.norm(found.points[..., 0, :] - found.points[..., 1, :], axis=-1)
    for number, pair in enumerate(function.pairs):
        radii = {function.shapes[a].radius + function.shapes[b].radius for a in pair.shapes[0] for b in pair.shapes[1]}
        gaps = np.abs(apart[:, number, None] - np.array(sorted(radii)) - found.distance[:, number, None])
        assert gaps.min(axis=1).max() < 1e-12


@pytest.mark.parametrize("thick", [{}, {"legs.0.lower.radius": 0.06, "legs.1.upper.radius": 0.03}])
def test_least_distances_of_groups_are_those_of_their_pairs(thick):
    """One root a group, of the pair that is nearest: which one is decided without roots."""
    robot = pp.load("hexapod", thick)
    model = pp.Model(robot)
    poses = np.stack(around_home(robot, 500, 0.5, seed=2))
    every, function = model.clearance(poses).distance, model.clearances.function
    wanted = np.stack([every[:, list(own)].min(axis=1) for _, own in function.groups], axis=1)
    nearest = [every[:, list(own)].argmin(axis=1) for _, own in function.groups]
    assert sum(len(set(one.tolist())) > 1 for one in nearest) >= 6  # now this half of a leg is nearest, now that one
    np.testing.assert_allclose(model.clearances.least(poses), wanted, rtol=0, atol=1e-13)


def test_neighbours_are_left_out_and_the_rest_is_compared():
    """A hexapod: 4 pairs of halves for each of 15 pairs of legs, tubes and the platform, rods and the base, both
    plates."""
    names = [set(pair.names) for pair in ClearanceFunction(robot_of("hexapod")).pairs]
    assert len(names) == 4 * 15 + 6 + 6 + 1
    assert {"leg1.lower", "leg1.upper"} not in names
    assert {"leg1.lower", "base"} not in names
    assert {"leg1.lower", "platform"} in names


def test_cables_are_capsules_between_their_ends():
    """Over pulleys from where they leave them; ends on one corner of the platform touch and are left out."""
    robot = robot_of("ipanema")
    function, found, frames = measured(robot, 3)
    cables = [shape for shape in function.shapes if shape.name.endswith(".cable")]
    assert [shape.name for shape in cables] == [f"cable{k}.cable" for k in range(1, 9)]
    length = pp.Model(robot).inverse_kinematics(np.stack(around_home(robot, 3, 0.3, seed=1)))
    for k, leg in enumerate(robot.legs):
        start, end = np.moveaxis([cables[k].at(frame[cables[k].body]) for frame in frames], 1, 0)
        poses = np.stack(around_home(robot, 3, 0.3, seed=1))
        np.testing.assert_allclose(end, poses[:, :3, 3] + poses[:, :3, :3] @ np.array(leg.platform), atol=1e-12)
        side = start - np.array(leg.anchor)
        above = side @ np.array(leg.pulley.axis)
        across = np.linalg.norm(side - above[:, None] * np.array(leg.pulley.axis), axis=1) - leg.pulley.radius
        np.testing.assert_allclose(np.hypot(above, across), leg.pulley.radius, rtol=1e-12)  # on the pulley
        assert (np.linalg.norm(end - start, axis=1) < length[:, k]).all()
    names = [set(pair) for pair in found.names]
    assert {"cable1.cable", "cable2.cable"} in names
    assert {"cable1.cable", "cable5.cable"} not in names  # both are fastened at one corner


def test_pairs_are_left_out_by_name():
    robot = robot_of("hexapod")
    every, text = ClearanceFunction(robot).names, dumps(robot)
    some = ClearanceFunction(loads(text + "touching: [[leg1, leg2], [platform, leg3.lower]]\n")).names
    gone = {frozenset(pair) for pair in every} - {frozenset(pair) for pair in some}
    halves = [(f"leg1.{a}", f"leg2.{b}") for a in ("lower", "upper") for b in ("lower", "upper")]
    assert gone == {frozenset(pair) for pair in (*halves, ("platform", "leg3.lower"))}
    with refused(UnknownNameError, "touching leg9"):
        ClearanceFunction(loads(text + "touching: [[leg1, leg9]]\n"))


@pytest.mark.long
def test_the_floor():
    """The height of the lowest point of a platform's plate and of its tool above a plane."""
    robot = robot_of("delta").model_copy(
        update={"floor": pp.description.robot.Floor(at=(0, 0, -1.0), normal=(0, 0, 1))}
    )
    function, found, _ = measured(robot, 4, 0.05)
    number = [pair.names for pair in function.pairs].index(("platform", "floor"))
    plate = next(shape for shape in function.shapes if shape.name == "platform")
    poses = np.stack(around_home(robot, 4, 0.05, seed=1))
    heights = np.array([(plate.at(pose)[:, 2] + 1.0).min() - plate.radius for pose in poses])
    assert np.abs(found.distance[:, number] - heights).max() < 1e-12


def test_poses_out_of_reach_have_no_distance():
    model = pp.Model("kim-ryu")
    poses = np.stack([model.robot.home.matrix] * 2)
    poses[1, 0, 3] += 5.0
    found = model.clearance(poses, errors="nan")
    assert np.isfinite(found.distance[0]).all()
    assert np.isnan(found.distance[1]).all()
    assert found.distance.shape == (2, len(found.names))


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_ten_thousand_poses_of_every_robot(name):
    """Capsules and spheres against coal, to 1e-12, in 10,000 poses and every pair of bodies."""
    robot = robot_of(name)
    function, found, frames = measured(robot, 10_000, 0.3 if name not in ("cogiro", "cable-camera") else 3.0)
    worst, compared, parallel = 0.0, 0, 0
    for number, pair in enumerate(function.pairs):
        shapes = [[function.shapes[i] for i in part] for part in pair.shapes]
        if any(shape.kind == "plate" for part in shapes for shape in part):
            continue
        made = {id(one): coal_shape(one) for part in shapes for one in part}
        for k in range(number % 7, len(frames), 7):  # every pair in other poses, all poses by some pair
            truth = min(
                coal_distance(a, frames[k, a.body], b, frames[k, b.body], made) for a in shapes[0] for b in shapes[1]
            )
            if truth > 0:
                off = abs(found.distance[k, number] - truth)
                if off > EXACT * max(1.0, robot.farthest):  # coal loses digits where capsules are nearly parallel
                    (a,), (b,) = shapes
                    exact, sine = by_fractions(a.at(frames[k, a.body]), b.at(frames[k, b.body]))
                    assert sine < 1e-3
                    off, parallel = abs(found.distance[k, number] - (exact - a.radius - b.radius)), parallel + 1
                worst, compared = max(worst, off), compared + 1
    print(parallel, "of nearly parallel capsules by fractions")
    print(name, len(frames), "poses", compared, "distances, largest difference", worst)
    size = max(1.0, robot.farthest)
    assert worst < EXACT * size
    if not compared:
        pytest.skip("its pairs of bodies are all of plates, or overlap at home")
