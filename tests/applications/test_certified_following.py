"""What is certain of robots whose platforms follow their legs or whose legs are iterated: against the model's poses."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.analysis import certified_box, certified_volume, certify_motion, nearest_singularity, travel
from polypod.analysis.certified import ImplicitEnclosure, enclosure_of
from polypod.analysis.certified.affine import Affine, evaluate_affine
from polypod.analysis.certified.implicit import Krawczyk
from polypod.analysis.workspace import PoseCoordinates, WorkspaceTest
from polypod.files import dumps, loads
from polypod.motion import make_task
from polypod.symbols.graph import Graph
from test_certified import FUNCTIONS, X


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_of_points_lie_within_the_model(name):
    """Over boxes x + h t, and with a rest of its own: f is within r of c + g t; near points by second order."""
    graph = Graph.of(ca.Function("f", [X], [FUNCTIONS[name]]))
    c, h, r = (ca.SX.sym(n, 2) for n in "chr")
    own = [Affine.exact(c[k], tuple(h[k] if k == j else ca.SX(0) for j in range(2)), r[k]) for k in range(2)]
    ((bounds,),) = evaluate_affine(graph, [own])
    model = ca.Function("model", [c, h, r], [bounds.middle, ca.horzcat(*bounds.derivatives), bounds.remainder])
    function = ca.Function("f", [X], [FUNCTIONS[name]]).map(60)
    rng = np.random.default_rng(1)
    known = 0
    for _ in range(60):
        centre, half = rng.uniform(-2, 2, 2), rng.uniform(0, 0.4, 2) * rng.integers(0, 2, 2)
        wide = rng.uniform(0, 0.1, 2) * rng.integers(0, 2, 2)
        middle, derivatives, rest = (np.array(part) for part in model(centre, half, wide))
        t = rng.uniform(-1, 1, (60, 2))
        t[:4] = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
        values = np.array(function((centre + half * t + wide * rng.uniform(-1, 1, (60, 2))).T))[0]
        if not np.isfinite(rest).all():
            continue
        known += 1
        assert (np.abs(values - middle[0, 0] - t @ derivatives[0]) <= rest[0, 0]).all()
    assert known > 10


@pytest.fixture(scope="module")
def five_bar(model_of):
    return model_of("five-bar")


def judged_inside_out(model, enclosure, centre, half):
    """Verdicts against the model's own poses at corners and points at random."""
    judge, rng = WorkspaceTest(PoseCoordinates(model)), np.random.default_rng(3)
    verdict = enclosure(centre - half, centre + half)
    assert not (verdict.inside & verdict.outside).any()
    for corner in (*rng.choice([-1.0, 1.0], (3, 1, len(half))), *rng.uniform(-1, 1, (3, *centre.shape))):
        inside = judge(centre + half * corner).inside
        assert inside[verdict.inside].all()
        assert not inside[verdict.outside].any()
    return verdict


def test_boxes_of_a_platform_that_follows_hold_only_such_poses(five_bar):
    enclosure = enclosure_of(PoseCoordinates(five_bar))
    assert isinstance(enclosure, ImplicitEnclosure)
    centre = np.random.default_rng(4).uniform([-0.05, -0.12], [0.05, 0.0], (150, 2))
    verdict = judged_inside_out(five_bar, enclosure, centre, np.full(2, 0.003))
    assert verdict.inside.sum() > 50


def test_what_follows_is_where_the_box_says(five_bar):
    """y of the model's own continuation, at points of proven boxes: within ``near`` of the line, and the line alone."""
    space = PoseCoordinates(five_bar)
    solve = Krawczyk(space, "coordinates")
    x, half = np.array([[0.0, -0.04]]), np.full((1, 2), 0.002)
    first = solve.solved(np.zeros((1, 2)), x, np.zeros((1, 4)), None)
    found = solve.boxes(x, half, first, None)
    assert found.proven.all()
    t = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    poses = np.asarray(five_bar.motion(x + half * t).pose)
    relative = poses[:, :3, :3] @ space.home[:3, :3].T
    yaw = np.arctan2(relative[:, 1, 0], relative[:, 0, 0])
    line = found.y[0, 3] + t @ found.swing[0, 3]
    assert (np.abs(yaw - line) <= found.near[0, 3] + 1e-12).all()
    assert np.abs(yaw - line).max() > 0.05 * found.near[0, 3]  # the bound is no more than twenty times too wide
    assert found.reach[0, 3] < 0.2 * np.abs(found.swing[0, 3]).sum()  # of second order


def test_boxes_and_motions_of_a_five_bar(five_bar):
    box = certified_box(five_bar, half={"x": 0.02}, most=10)
    rng = np.random.default_rng(5)
    assert WorkspaceTest(PoseCoordinates(five_bar))(rng.uniform(box.low, box.high, (400, 2))).inside.all()
    assert box.high[0] > 0.01
    found = certify_motion(five_bar, rate=100, most=50)
    assert found.ok
    # of its generalized coordinates the motion's formula is proven; of the platform a tenth more than at samples is
    # reported
    twist = make_task(five_bar, rate=100).motion.twist
    assert found.speed == pytest.approx(1.1 * np.linalg.norm(twist[:, :3], axis=1).max(), rel=1e-14)


@pytest.mark.long
def test_the_volume_of_a_tripod_lies_between_its_bounds(model_of):
    model = model_of("3-rps")
    found = certified_volume(model, gap=0.3, seconds=300)
    x = np.random.default_rng(1).uniform(*found.span.T, (40_000, 3))
    sampled = WorkspaceTest(PoseCoordinates(model))(x).inside.mean() * np.prod(np.diff(found.span))
    assert found.low <= sampled * 1.02
    assert found.high >= sampled * 0.98
    assert found.gap <= 0.3
    for name in ("3-rps", "3-prs", "tricept", "ankle"):
        assert certify_motion(model_of(name), rate=50, most=200).ok


@pytest.mark.long
def test_no_pose_of_a_five_bar_is_singular_before_a_leg_is_stretched(five_bar):
    """Nearer than the singular pose found is where a leg ends: the distance is proven up to there, 0.36 of it."""
    assert nearest_singularity(five_bar, boxes=1500).moving.certain > 0.3


@pytest.mark.long
@pytest.mark.parametrize("name", ["planar-3-rrr", "3-rps"])
def test_iterated_legs_are_decided_as_those_in_closed_form(name):
    robot = pp.load(name)
    own = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    opened = pp.Model(loads(dumps(robot.model_copy(update={"legs": own}))))
    assert len(opened.kernels.mechanism.implicit_legs) == 3
    centre = np.random.default_rng(4).uniform(-0.08, 0.08, (200, 3))
    verdict = judged_inside_out(pp.Model(robot), enclosure_of(PoseCoordinates(opened)), centre, np.full(3, 0.002))
    assert verdict.inside.sum() > 40


@pytest.mark.long
def test_boxes_of_long_formulas_are_nearly_as_large_as_can_be(model_of):
    """Of a 3-RRR nine tenths of the travel that all coordinates have at once; intervals alone prove a quarter."""
    model = model_of("planar-3-rrr")
    together = travel(model).together.values[-1]
    box = certified_box(model, most=1000)
    assert (box.high > 0.85 * together).all()
    x = np.random.default_rng(4).uniform(box.low, box.high, (20_000, 3))
    x[:200] = np.where(x[:200] > 0, box.high, box.low)
    assert WorkspaceTest(PoseCoordinates(model))(x).inside.all()
