"""Singularities that are known: Fichter's quarter turn, the platform in the base's plane, similar hexagons."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import architecture, nearest_singularity, singularity
from polypod.analysis.singularity import screw_of, section
from polypod.errors import InputError, RobotFileError
from polypod.results.figures.singularity import loci
from support.command_line import polypod
from support.engines import reference_hexapod as ref
from support.refusals import refused
from support.robots.slides import hinge


@pytest.fixture(scope="module")
def model():
    return pp.Model(ref.robot())


@pytest.fixture(scope="module")
def nearest(model):
    return nearest_singularity(model, boxes=12_000)


def test_a_quarter_turn_about_the_axis_is_singular(model):
    """Fichter (1986): a semi-regular hexapod turned by 90 deg about its axis is singular at every height."""
    for height in (0.8, 1.2):
        pose = np.eye(4)
        pose[:3, :3], pose[2, 3] = Rotation.from_euler("z", 90, degrees=True).as_matrix(), height
        report = singularity(model, pose)
        assert report.kind == "actuation"
        assert report.actuation < 1e-14
        # the platform moves along a screw about its own axis: rows of J times its twist vanish
        np.testing.assert_allclose(np.abs(report.screw.axis), [0, 0, 1], atol=1e-9)
        assert np.abs(model.jacobian(pose) @ report.screw.twist).max() < 1e-13
    assert singularity(model).actuation == pytest.approx(
        float(model.conditioning(model.robot.home.matrix).distance), rel=1e-12
    )


def test_the_nearest_by_displacing_is_the_plane_of_the_base(model, nearest):
    """All six legs in one plane: the platform can leave it, and nothing nearer is singular."""
    assert nearest.moving.distance == pytest.approx(ref.HEIGHT, rel=1e-9)
    assert nearest.moving.angle == 0.0
    assert not nearest.moving.inside
    for way in nearest:
        report = singularity(model, way.pose)
        assert report.actuation < 1e-7
        assert np.abs(model.jacobian(way.pose) @ report.screw.twist).max() < 1e-6
    assert nearest.turning.angle < np.pi / 2
    by_both = np.hypot(nearest.both.distance, model.size * nearest.both.angle)
    assert by_both < min(nearest.moving.distance, model.size * nearest.turning.angle)


def test_no_pose_nearer_than_the_nearest_is_singular(model, nearest):
    """det J keeps its sign on 20,000 poses at random inside the ball, by NumPy's own formula."""
    rng = np.random.default_rng(0)
    way = rng.normal(size=(20_000, 3))
    radius = 0.995 * nearest.turning.angle * rng.uniform(size=(20_000, 1)) ** (1 / 3)
    turn = Rotation.from_rotvec(way / np.linalg.norm(way, axis=1, keepdims=True) * radius)
    yaw, pitch, roll = turn.as_euler("ZYX").T
    x = np.stack([np.zeros_like(yaw)] * 3 + [roll, pitch, yaw], axis=1)
    assert (ref.judged(x)[1] < 0).all()
    # and boxes prove it, but for the last parts of the way
    assert nearest.moving.certain > 0.97
    assert nearest.turning.certain > 0.9
    assert 0 <= nearest.both.certain <= 0.99


def test_a_screw_gives_its_twist_back():
    rng = np.random.default_rng(1)
    pose = np.eye(4)
    pose[:3, 3] = [0.1, 0.2, 0.3]
    for twist in rng.normal(size=(20, 6)):
        screw = screw_of(twist, pose)
        # velocity of the origin: along the axis by the pitch, and around it
        v = screw.pitch * screw.axis + np.cross(screw.axis, pose[:3, 3] - screw.point)
        same = np.r_[v, screw.axis] * np.linalg.norm(twist[3:])
        np.testing.assert_allclose(same * np.sign(same @ twist), twist, atol=1e-12)
    slide = screw_of(np.array([0, 2.0, 0, 0, 0, 0]), pose)
    assert np.isinf(slide.pitch)
    np.testing.assert_array_equal(slide.axis, [0, 1, 0])


def test_similar_hexagons_on_circles_are_singular_in_every_pose(tmp_path):
    """Base and platform similar, joints on a conic: architecturally singular; by rank of (1, a, b, a b^T)."""
    alike = ref.robot(platform=0.6 * ref.A, name="alike")
    found = architecture(alike)
    assert found.singular
    assert found.proven
    assert found.largest < 1e-12
    weights = found.dependence
    rng = np.random.default_rng(2)
    for turn in Rotation.random(5, rng=rng).as_matrix():
        arms = 0.6 * ref.A @ turn.T
        ways = rng.normal(size=3) + arms - ref.A
        rows = np.concatenate([ways, np.cross(arms, ways)], axis=1)
        np.testing.assert_allclose(weights @ rows, 0.0, atol=1e-12)
    plain = architecture(ref.robot())
    assert not plain.singular
    assert plain.largest > 1e-3
    moved = 0.6 * ref.A + np.where(np.arange(6)[:, None] == 0, [0.05, 0, 0], 0.0)
    assert not architecture(ref.robot(platform=moved, name="moved")).proven
    with refused(RobotFileError, code="singular"):
        pp.Model(alike)
    path = tmp_path / "alike.yaml"
    pp.save(alike, path)
    done = polypod("singularity", path)
    assert done.exit_code == 2
    assert "architecturally singular (proven)" in " ".join(done.output.split())


@pytest.mark.long
def test_kinds_of_other_robots_are_distinguished(model_of):
    planar = model_of("planar-3-rrr")
    found = nearest_singularity(planar, boxes=2000)
    assert found.turning.angle > 0.1
    report = singularity(planar, found.turning.pose)
    assert report.kind == "actuation"
    assert (
        np.abs(planar.jacobian(found.turning.pose) @ np.linalg.pinv(planar.mobility.basis) @ report.screw.twist).max()
        < 1e-6
    )
    # as far as legs reach: one is stretched
    y = np.linspace(0.0, 0.3, 4001)
    poses = planar.motion(np.stack([0 * y, y, 0 * y], axis=1)).pose
    closed = np.isfinite(planar.inverse_kinematics(poses, errors="nan")).all(axis=1)
    stretched = singularity(planar, poses[int(closed.argmin()) - 1])
    assert stretched.kind == "leg"
    tripod = singularity(model_of("3-rps"))
    assert 0 < tripod.constraint <= 1
    with refused(InputError, "planar-4-rrr", code="redundant"):
        nearest_singularity(model_of("planar-4-rrr"))
    with refused(InputError, "architecture UPS"):
        architecture(model_of("3-rps").robot)


def test_what_is_no_pose_has_no_singularity(model):
    stretched, unknown = np.diag([1.0, 1.0, 1.1, 1.0]), np.full((4, 4), np.nan)
    for ask in (singularity, nearest_singularity):
        for pose, words in (
            (stretched, "pose #not_a_rotation"),
            (unknown, "pose nan"),
            (np.eye(3), "pose 4 3"),
        ):
            with refused(InputError, words):
                ask(model, pose)


def test_a_robot_of_one_dof_has_a_curve_of_its_determinant():
    """A parallelogram turns its platform as it turns itself: det J is that at home until it is flat, at a quarter."""
    (axes,) = loci(section(pp.Model(hinge()), {}, points=11)).axes
    angle, determinant = axes.lines[0].get_data()
    assert axes.get_xlabel() == "pitch [deg]"
    assert (angle[0], angle[-1]) == pytest.approx((-90.0, 90.0))
    assert determinant[1:-1] == pytest.approx(np.ones(9), rel=1e-6)  # maps are of single precision


@pytest.mark.long
def test_the_command_says_how_far_and_draws_the_screw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = polypod("singularity", "planar-3-rrr", "--out", "s", "--json")
    assert result.exit_code == 0, result.output
    assert {"loci.nc", "loci.png", "screw.png"} <= {p.name for p in (tmp_path / "s").iterdir()}
    turning = json.loads(result.stdout)["nearest"]["turning alone"]
    assert turning["kind"] == "actuation"
    least, most = turning["angle_rad"]
    assert 0.9 * most < least < most
