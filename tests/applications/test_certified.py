"""What is certified: intervals against exact fractions and samples, boxes against samples inside them."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction
from math import factorial

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.analysis import certified_box, certified_volume, certify_motion
from polypod.analysis.certified import Enclosure
from polypod.analysis.certified.intervals import Interval, evaluate_intervals, midpoint_radius, regular_sign
from polypod.analysis.certified.telescopic_legs import LEG, leg_at, leg_numbers
from polypod.analysis.certified.volume import Columns, _Difference, averages, mirrored
from polypod.analysis.workspace import PoseCoordinates
from polypod.errors import InputError
from polypod.symbols.graph import Graph
from support.engines import reference_hexapod as ref
from support.refusals import refused


@pytest.fixture(scope="module")
def model():
    return pp.Model(ref.robot())


def bounds(function, low, high):
    """Ends of f(x, y) over a box, by CasADi's interpreter."""
    graph = Graph.of(function)
    a, b = ca.SX.sym("a", 2), ca.SX.sym("b", 2)
    ((enclosure,),) = evaluate_intervals(graph, [[Interval(a[0], b[0]), Interval(a[1], b[1])]])
    ends = ca.Function("ends", [a, b], [enclosure.low, enclosure.high])
    return [float(end) for end in ends(low, high)]


X = ca.SX.sym("x", 2)
FUNCTIONS = {
    "sum": X[0] + X[1],
    "difference": X[0] - X[1],
    "product": X[0] * X[1],
    "quotient": X[0] / (3 + X[1]),
    "square": X[0] ** 2 - X[1],
    "root": ca.sqrt(X[0] * X[0] + X[1] * X[1]),
    "sine": ca.sin(3 * X[0]) * ca.cos(2 * X[1]),
    "angle": ca.atan2(X[1], X[0] + 0.5),
    "arcs": ca.acos(0.4 * X[0]) + ca.asin(0.4 * X[1]) + ca.atan(X[0]),
    "choices": ca.if_else(X[0] <= X[1], X[0] * X[1], 2 - X[0])
    + ca.if_else(ca.logic_and(X[0] < 1, X[1] > -1), X[1], 0)
    - ca.if_else(ca.logic_or(ca.logic_not(X[0] < 0.2), X[1] < 0.3), 0.5, X[0]),
    "sizes": ca.fabs(X[0]) - ca.fmin(X[0], X[1]) * ca.fmax(2 * X[1], -X[0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_of_points_lie_within_the_interval(name):
    function = ca.Function("f", [X], [FUNCTIONS[name]])
    rng, known = np.random.default_rng(1), 0
    for _ in range(40):
        centre, half = rng.uniform(-2, 2, 2), rng.uniform(0, 1.5, 2) * rng.integers(0, 2, 2)
        if name == "angle" and abs(centre[1]) < half[1] and centre[0] + 0.5 < half[0]:
            continue  # every angle is possible
        low, high = bounds(function, centre - half, centre + half)
        points = centre + half * rng.uniform(-1, 1, (60, 2))
        points[:4] = centre + half * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
        values = [float(function(p)) for p in points]
        values = [v for v in values if np.isfinite(v)]
        if values:
            assert low <= min(values)
            assert max(values) <= high
            known += np.isfinite([low, high]).all()
    assert known > 5


def test_legs_of_boxes_are_those_of_the_poses_about_a_pivot(model):
    """From base joint to platform joint by the pose's own matrix: p + R b - a."""
    space, x = PoseCoordinates(model, [0.05, -0.1, 0.2]), 0.2 * np.random.default_rng(3).normal(size=(4, 6))
    home, symbols, numbers = model.robot.home.matrix, ca.SX.sym("x", 6), ca.SX.sym("leg", LEG)
    way = ca.Function("way", [symbols, numbers], [leg_at(symbols, numbers, ca.SX(ca.DM(home.ravel())))[1]])
    for at, pose in zip(x, space.poses(x), strict=True):
        for leg, row in zip(model.robot.legs, leg_numbers(space), strict=True):
            wanted = pose[:3, 3] + pose[:3, :3] @ leg.platform - leg.base
            np.testing.assert_allclose(np.array(way(at, row)).ravel(), wanted, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["sum", "difference", "product"])
def test_the_exact_result_of_rounded_arithmetic_lies_within(name):
    function = ca.Function("f", [X], [FUNCTIONS[name]])
    exact = {"sum": Fraction.__add__, "difference": Fraction.__sub__, "product": Fraction.__mul__}[name]
    rng = np.random.default_rng(2)
    for x, y in rng.normal(size=(200, 2)) * 10.0 ** rng.integers(-8, 8, (200, 2)):
        low, high = bounds(function, [x, y], [x, y])
        truth = exact(Fraction(x), Fraction(y))
        assert Fraction(low) <= truth <= Fraction(high)
        assert high - low <= 1e-14 * abs(float(truth)) + 1e-290


def test_a_matrix_is_called_regular_only_if_all_between_are():
    rng = np.random.default_rng(3)
    middle = rng.normal(size=(300, 3, 3))
    radius = rng.uniform(0, 0.2, (300, 1, 1)) * rng.uniform(size=(300, 3, 3))
    sign = regular_sign(middle, radius)
    assert 0.2 < (sign != 0).mean() < 0.95
    for _ in range(50):
        det = np.linalg.det(middle + radius * rng.choice([-1.0, 1.0], size=middle.shape))
        assert (np.sign(det) == sign)[sign != 0].all()
    assert regular_sign(*midpoint_radius(np.full((1, 2, 2), -np.inf), np.full((1, 2, 2), np.inf))).tolist() == [0.0]
    # more rows than columns: full rank
    tall, radius = rng.normal(size=(300, 4, 3)), 0.3 * rng.uniform(size=(300, 4, 3))
    ranked = regular_sign(tall, radius) == 1
    assert 0.2 < ranked.mean() < 0.95
    for _ in range(50):
        least = np.linalg.svd(tall + radius * rng.choice([-1.0, 1.0], size=tall.shape), compute_uv=False)[:, 2]
        assert (least[ranked] > 0.0).all()


@pytest.mark.long
def test_boxes_that_are_decided_hold_only_such_poses(model):
    enclosure = Enclosure(PoseCoordinates(model))
    rng = np.random.default_rng(4)
    centre = rng.uniform(-1, 1, (600, 6)) * [0.45, 0.45, 0.3, 0.35, 0.35, 0.5]
    half = rng.uniform(0.0, 0.06, (600, 1)) * rng.uniform(size=(600, 6))
    verdict = enclosure(centre - half, centre + half)
    assert verdict.inside.sum() > 20
    assert verdict.outside.sum() > 200
    assert not (verdict.inside & verdict.outside).any()
    for corner in (*rng.choice([-1.0, 1.0], (20, 1, 6)), *rng.uniform(-1, 1, (20, 600, 6))):
        kept, det = ref.judged(centre + half * corner)
        good = kept & (det < 0)
        assert good[verdict.inside].all()
        assert not good[verdict.outside].any()


@pytest.mark.long
def test_the_volume_lies_between_its_bounds(model):
    exact = ref.constant_orientation_volume()
    found = certified_volume(model, ["x", "y", "z"], gap=0.35, seconds=60)
    # the quadrature is right to 1e-5
    assert found.low <= exact * (1 + 1e-5)
    assert found.high >= exact * (1 - 1e-5)
    assert found.gap <= 0.35
    # six coordinates, a part of the workspace around home: against 200,000 poses at random, right to 3e-3
    span = dict.fromkeys(("x", "y", "roll", "pitch", "yaw"), (-0.12, 0.12)) | {"z": (-0.6, 0.6)}
    whole = certified_volume(model, span=span, seconds=60, gap=0.08)
    x = np.random.default_rng(1).uniform(-1, 1, (200_000, 6)) * [0.12, 0.12, 0.6, 0.12, 0.12, 0.12]
    kept, det = ref.judged(x)
    sampled = (kept & (det < 0)).mean() * 0.24**5 * 1.2
    assert whole.low <= sampled * 1.005
    assert whole.high >= sampled * 0.995
    assert whole.gap <= 0.08
    little = certified_volume(model, seconds=0.05)  # the whole takes longer, and the result says so
    assert little.low <= 0.00443 * 1.4**3 * np.radians(70) ** 3 <= little.high
    assert little.open > 0
    with refused(InputError, "gap 0.0"):
        certified_volume(model, gap=0.0)


def test_seconds_of_a_volume_do_not_count_compiling(model, monkeypatch):
    """A first call that takes longer than all the time there is, as one that compiles does, ends no search."""
    from polypod.analysis.certified.volume import _ColumnBounds

    bounds, calls = _ColumnBounds.__call__, []

    def slow_at_first(self, boxes):
        if not calls:
            time.sleep(0.8)
        calls.append(len(boxes.low))
        return bounds(self, boxes)

    monkeypatch.setattr(_ColumnBounds, "__call__", slow_at_first)
    span = {"x": (-0.3, 0.3), "y": (-0.3, 0.3), "z": (-0.6, 0.6)}
    assert certified_volume(model, ["x", "y", "z"], span, gap=0.001, seconds=0.4).boxes > 20


@pytest.mark.long
def test_half_of_a_robot_that_is_its_own_mirror_image_tells_of_all(model):
    signs = mirrored(PoseCoordinates(model))
    assert signs.tolist() == [1, -1, 1, -1, 1, -1]
    x = np.random.default_rng(6).uniform(-0.3, 0.3, (4000, 6))
    (kept, det), (kept_there, det_there) = ref.judged(x), ref.judged(signs * x)
    assert 0.02 < kept.mean() < 0.9
    assert (kept == kept_there).all()
    np.testing.assert_allclose(det_there, det, rtol=1e-9, atol=1e-12)
    base = ref.A.copy()
    base[3, 1] += 1e-6
    assert mirrored(PoseCoordinates(pp.Model(ref.robot(base=base)))) is None
    assert mirrored(PoseCoordinates(model, [0, 0.1, 0])) is None
    turn = ref.rotation(*np.radians([[0], [0], [90]]))[0]
    turned = pp.Model(ref.robot(base=ref.A @ turn.T, platform=ref.B @ turn.T))
    assert mirrored(PoseCoordinates(turned)).tolist() == [-1, 1, 1, 1, -1, -1]
    # over half of the plane twice, over a plane that is not even once: both hold what is counted
    for at in (0.0, 0.1):
        found = certified_volume(
            model, ["y", "z"], span={"y": (-0.8, 0.8), "z": (-0.5, 0.5)}, at={"roll": at}, gap=0.02
        )
        y, z = (part.ravel() for part in np.meshgrid(np.linspace(-0.8, 0.8, 801), np.linspace(-0.5, 0.5, 501)))
        poses = np.zeros((len(y), 6))
        poses[:, 1], poses[:, 2], poses[:, 3] = y, z, at
        counted = ref.judged(poses)[0].mean() * 1.6
        assert found.low * 0.995 < counted < found.high * 1.005
        assert found.gap <= 0.02


@pytest.mark.long
@pytest.mark.parametrize("with_cones", [False, True])
def test_columns_are_as_long_as_their_bounds_say(model, with_cones):
    """Mean length of what lengths (and cones) leave along z, over boxes half in the workspace, by sampling."""
    rng = np.random.default_rng(7)
    space = PoseCoordinates(model)
    centre = rng.uniform(-1, 1, (3000, 6)) * [0.3, 0.3, 0.2, 0.3, 0.3, 0.3]
    centre = centre[ref.judged(centre)[0]][:30]
    for half in (0.01, 0.03):
        e = np.array([half, half, 0.4, half, half, half])
        low, high = centre - e, centre + e
        found = averages(Columns(space, with_cones)(low, high), low, high)
        x = rng.uniform(low, high, (4000, len(centre), 6)).reshape(-1, 6)
        kept, lengths = ref.judged(x)[0], ref.lengths_kept(x)
        part = (kept if with_cones else lengths).reshape(4000, -1).mean(axis=0)
        # the sample's own scatter: four deviations of a mean of 4000
        slack = 4 * 0.8 * np.sqrt(0.25 / 4000)
        assert (found.least <= 0.8 * part + slack).all()
        assert (found.most >= 0.8 * part - slack).all()
        assert (found.heights[:, 0] <= found.heights[:, 1]).all()
        if half == 0.01 and not with_cones:
            assert (found.most - found.least).mean() < 0.01 * found.most.mean()


def test_the_box_around_home_is_free(model):
    half = {"x": 0.2, "z": 0.1, "pitch": 0.1}
    box = certified_box(model, half=half, most=300)
    assert (box.low < 0).tolist() == [True, False, True, False, True, False]
    rng = np.random.default_rng(5)
    x = rng.uniform(box.low, box.high, (4000, 6))
    x[:64] = np.where(rng.integers(0, 2, (64, 6)) == 1, box.low, box.high)
    kept, det = ref.judged(x)
    assert (kept & (det < 0)).all()
    # and about the largest: corners of what was not certified, a tenth farther out, are not all inside
    corners = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T * box.beyond
    assert not ref.judged(1.1 * corners)[0].all()


def test_a_motion_is_certified_between_its_samples(model):
    found = certify_motion(model, rate=20)
    assert found.ok
    assert len(found.open) == 0
    slow = certify_motion(model, rate=10, speed=3.0, turning=6.0, most=20)  # what a faster motion could reach is not
    assert not slow.ok
    with refused(InputError, code="exceeds_bounds"):
        certify_motion(model, rate=40, speed=1e-3)


def test_the_volume_of_a_delta_on_rails_ends_where_its_rods_do_not_reach(model_of):
    """Nothing but the sliders' ranges and the rods bounds it: what no rod reaches is outside for certain."""
    robot = model_of("linear-delta")
    enclosure = Enclosure(PoseCoordinates(robot))
    rng = np.random.default_rng(6)
    centre = rng.uniform(-0.3, 0.3, (400, 3))
    verdict = enclosure(centre - 0.01, centre + 0.01)
    poses = robot.motion(centre).pose
    closed = np.isfinite(robot.inverse_kinematics(poses, errors="nan")).all(axis=1)
    assert verdict.outside[~closed].any()
    assert not verdict.inside[~closed].any()
    assert robot.limits(poses[verdict.inside]).ok
    assert verdict.inside.any()


def test_means_of_sums_of_uniform_numbers_are_within_their_bounds():
    """E max(0, delta + sum a_k s_k) in closed form: the sixth antiderivative of |x| at the corners of the box."""
    rng = np.random.default_rng(3)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=5)))
    derivatives = rng.uniform(0.2, 1.0, (400, 5)) ** rng.integers(1, 4, (400, 1))
    sigma = np.sqrt((derivatives**2).sum(axis=1) / 3)
    delta = rng.uniform(-1.5, 1.5, 400) * sigma * (np.arange(400) % 3 > 0)
    ends = delta[:, None] + derivatives @ signs.T
    terms = signs.prod(axis=1) * ends**5 * np.abs(ends) / factorial(6)
    absolute = terms.sum(axis=1) / (2**5 * derivatives.prod(axis=1))
    for d, a, s, mean in zip(delta, derivatives, sigma, absolute, strict=True):
        found = _Difference(d, d, d, s, a.sum(), 0.0)
        exact = 0.5 * (d + mean)
        assert float(found.excess_least) <= exact * (1 + 1e-6)
        assert float(found.excess_most) >= exact * (1 - 1e-6)
        # without an offset the bound is that of normal numbers: no more than 8.6 % low, of one uniform number
        assert d != 0 or float(found.excess_least) > 0.92 * exact
