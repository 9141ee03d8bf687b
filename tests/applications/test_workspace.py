"""Workspaces against brute force in NumPy, closed forms and a published count."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import (
    Requirements,
    constant_orientation,
    dexterous,
    full_workspace,
    orientations_at,
    straight_reach,
    tilt_by_height,
    travel,
    workspace_map,
)
from polypod.analysis.workspace import PoseCoordinates, WorkspaceTest
from polypod.analysis.workspace.extent import extent
from polypod.analysis.workspace.maps import _connected, cell_sizes
from polypod.datasets import load_result, save_result
from polypod.errors import ImplausibleWarning, InputError, UnknownNameError
from polypod.results.figures import WORKSPACE_FIGURES, figures
from support.command_line import polypod
from support.engines import reference_hexapod as ref
from support.refusals import failed, refused, warned
from support.robots import slides

SIGN = -1.0  # of det J at home, rows [n, r x n]


@pytest.fixture(scope="module")
def model():
    return pp.Model(ref.robot())


def test_a_robot_without_limits_is_free_everywhere():
    """A hinge that nothing stops: no operation decides it, and all of its span is in reach."""
    result = full_workspace(pp.Model(slides.hinge()), 9, {"pitch": (-0.5, 0.5)})
    assert float(result.volume) == pytest.approx(1.0)


def grid(result, names):
    parts = np.meshgrid(*(result[name].values for name in names), indexing="ij")
    return np.stack([part.ravel() for part in parts], axis=1)


def test_a_small_grid_is_decided_as_pose_by_pose_in_numpy(model):
    result = full_workspace(model, 6, ref.SPAN)
    x = grid(result, ("x", "y", "z", "roll", "pitch", "yaw"))
    kept, det = ref.judged(x)
    inside = (kept & (SIGN * det > 0)).reshape((6,) * 6)
    assert float(result.fraction) == inside.mean()
    assert float(result.fraction_limits) == kept.mean()
    np.testing.assert_array_equal(result.orientation_share.values, inside.mean(axis=(3, 4, 5)))
    assert float(result.reachable_volume) == pytest.approx(inside.any(axis=(3, 4, 5)).sum() * (1.4 / 5) ** 3, rel=1e-12)
    share = result.position_volume.values / (1.4 / 5) ** 3
    np.testing.assert_allclose(share, inside.sum(axis=(0, 1, 2)), rtol=1e-13)


def test_limits_alone_are_counted_alike_whatever_else_is_asked():
    """Turned by more than a quarter det J has the other sign; limits that are broken there too do not count as kept."""
    free, span = ref.robot(limits=False), ref.SPAN | {"yaw": (-3.0, 3.0)}
    legs = (leg.model_copy(update={"length": (0.6 * n, 1.3 * n)}) for leg, n in zip(free.legs, ref.LENGTH, strict=True))
    model = pp.Model(free.model_copy(update={"legs": tuple(legs)}))
    compiled = full_workspace(model, 5, span, connected=False)
    judged = full_workspace(model, 5, span, requirements=Requirements(distance=1e-12), connected=False)
    assert float(compiled.fraction_limits) == float(judged.fraction_limits)
    assert 0 < float(compiled.fraction) == float(judged.fraction) < float(compiled.fraction_limits)


def test_cells_end_with_the_span():
    """All poses of a box are inside: volumes are those of the box, as maps count them."""
    free = pp.Model(ref.robot(limits=False))
    for asked in (None, Requirements(distance=1e-12)):
        result = full_workspace(free, 3, dict.fromkeys(ref.SPAN, (-0.1, 0.1)), requirements=asked)
        assert float(result.volume) == pytest.approx(0.2**6, rel=1e-12)
        assert float(result.reachable_volume) == pytest.approx(0.2**3, rel=1e-12)
        assert float(result.dexterous_volume) == pytest.approx(0.2**3, rel=1e-12)
        np.testing.assert_allclose(result.position_volume, 0.2**3, rtol=1e-12)


def test_an_extent_that_does_not_hold_home_grows_outward():
    """Intervals on one side of home, of which the grid's ends fall on either side of the edge."""
    space = SimpleNamespace(index=lambda name: 0, turns=np.array([False]), full=False, scale=1.0)
    for low in np.linspace(0.3, 0.34, 41):
        for sign in (1.0, -1.0):
            edges = np.sort(sign * np.array([low, 0.5]))
            judge = JudgeOfInterval(space, edges)
            found = extent(judge, ["x"], np.array([0.4 * sign]))[0]
            assert found[0] <= edges[0] < edges[1] <= found[1]


class JudgeOfInterval:
    """Inside is one coordinate between two edges."""

    def __init__(self, space, edges):
        self.space, self.edges = space, edges

    def __call__(self, x):
        return SimpleNamespace(inside=((x >= self.edges[0]) & (x <= self.edges[1])).all(axis=1))


def test_the_published_share_of_24_to_the_sixth(model):
    result = full_workspace(model, 24, ref.SPAN, connected=False)
    assert float(result.poses) == 24**6
    assert round(float(result.fraction), 6) == ref.FRACTION[24]
    assert float(result.fraction_limits) == float(result.fraction)  # det J has one sign everywhere inside


@pytest.mark.long
def test_the_published_share_of_32_to_the_sixth(model, as_shipped):
    result = full_workspace(model, 32, ref.SPAN)
    assert round(float(result.fraction), 6) == ref.FRACTION[32]
    assert float(result.fraction_connected) > 0.99 * float(result.fraction)


def test_poses_that_hang_together_are_counted_as_by_a_flood_fill(model):
    from scipy.ndimage import label

    span = ref.SPAN | {"z": (-0.35, 0.4)}
    result = full_workspace(model, 5, span)
    kept, _ = ref.judged(grid(result, ("x", "y", "z", "roll", "pitch", "yaw")))
    parts, _ = label(kept.reshape((5,) * 6))
    home = parts[2, 2, 2, 2, 2, 2]
    assert home > 0
    assert float(result.fraction_connected) == (parts == home).mean()


def test_positions_at_one_orientation_have_the_volume_of_the_shells(model):
    result = constant_orientation(model, points=33)
    exact = ref.constant_orientation_volume()
    # cells of a 33rd of the box: half a cell of the surface is 5 %, which cancels but for a tenth
    assert float(result.volume) == pytest.approx(exact, rel=0.01)
    assert {str(n) for n, s in zip(result.limit_name.values, result.share.values, strict=True) if s} == {"length"}
    assert float(result.share.sum()) == pytest.approx(1.0, rel=1e-12)
    x = np.zeros((33**3, 6))
    x[:, :3] = grid(result, "xyz")
    kept, det = ref.judged(x)
    np.testing.assert_array_equal(result.inside.values.ravel(), kept & (SIGN * det > 0))
    # seen from home along straight ways it is nearly all of it: it is nearly star-shaped
    assert 0.95 * exact < float(straight_reach(model, directions=24).volume) < 1.01 * exact


def test_orientations_that_nothing_but_singularities_bounds_count_once():
    """Legs without limits: the map goes round once, its part of all orientations that of random ones.

    det J of random orientations, all alike probable, is NumPy's. 20000 of them have a deviation of 0.0035; three.
    """
    model = pp.Model(ref.robot(limits=False))
    result = orientations_at(model, points=25)
    assert np.allclose(
        [result[n].values[-1] for n in ("roll", "pitch", "yaw")], np.pi * np.array([1, 0.5, 1]), rtol=1e-12, atol=0
    )
    random = Rotation.random(20000, random_state=1).as_matrix()
    arm = random @ ref.B.T
    rows = arm + ref.HEIGHT * ref.UP[:, None] - ref.A.T
    det = np.linalg.det(np.concatenate([rows, np.cross(arm, rows, axis=1)], axis=1))
    assert float(result.all_orientations) == pytest.approx((SIGN * det > 0).mean(), abs=0.0105)
    assert float(result.volume_all) <= 4 * np.pi**3
    bounded = {str(n) for n, s in zip(result.limit_name.values, result.share.values, strict=True) if s}
    assert bounded == {"singularity"}


def test_a_region_hangs_together_across_half_a_turn():
    """Ends of a whole turn are one orientation; ends of less are not."""
    inside = np.array([True, True, False, False, True, True, False, True])
    turn = {"yaw": np.linspace(-np.pi, np.pi, 8)}
    assert _connected(inside, turn, np.array([-3.0]), [True]).tolist() == [1, 1, 0, 0, 0, 0, 0, 1]
    assert _connected(inside, turn, np.array([-3.0]), [False]).tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert not _connected(inside, turn, np.array([-0.4]), [True]).any()
    assert cell_sizes(turn | {"x": np.array([0.0, 1.0, 4.0])}).sum() == pytest.approx(8 * np.pi, rel=1e-12)


def test_orientations_at_a_point_are_those_of_numpy(model):
    result = orientations_at(model, (0.05, 0.0, 0.02), points=15)
    x = np.tile([0.05, 0, 0.02, 0, 0, 0.0], (15**3, 1))
    x[:, 3:] = grid(result, ("roll", "pitch", "yaw"))
    kept, det = ref.judged(x)
    np.testing.assert_array_equal(result.inside.values.ravel(), kept & (SIGN * det > 0))
    assert 0.05 < result.inside.mean() < 0.9


def test_travel_ends_where_numpy_says_and_names_what_stops_it(model):
    result = travel(model)
    for k, name in enumerate(result.coordinate.values):
        for end, limit in (("high", "high_limit"), ("low", "low_limit")):
            x = np.zeros((2, 6))
            x[:, k] = float(result[end][k]) * np.array([1 - 1e-7, 1 + 1e-7])
            assert ref.judged(x)[0].tolist() == [True, False], (name, end)
            assert str(result[limit].values[k]).endswith(": length")
    # several at once: half of that is inside wherever it is, a tenth more is not everywhere
    both = result.together.sel(group="all").values
    corners = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T * both
    assert ref.judged(0.999999 * corners)[0].all()
    assert not ref.judged(1.1 * corners)[0].all()
    assert np.isnan(result.together.sel(group="displacements").values[3:]).all()


def test_a_pivot_stays_where_it_is_when_the_platform_turns(model):
    space = PoseCoordinates(model, [0.1, 0.0, 0.3])
    poses = space.poses(np.array([[0, 0, 0, 0.2, -0.1, 0.3], [0.01, 0, 0, 0, 0, 0.0]]))
    np.testing.assert_allclose(poses[0, :3, :3] @ space.pivot + poses[0, :3, 3], [0.1, 0, 1.5], atol=1e-15)
    np.testing.assert_allclose(poses[1, :3, 3], [0.01, 0, 1.2], atol=1e-15)
    higher = travel(model, pivot=[0, 0, 0.3])
    plain = travel(model)
    np.testing.assert_allclose(higher.high[:3], plain.high[:3], rtol=1e-6)
    assert abs(float(higher.high[3] - plain.high[3])) > 0.01
    # the sieve turns about it too
    span = dict.fromkeys(ref.SPAN, (-0.2, 0.2))
    counted = full_workspace(model, 4, span, pivot=[0.1, 0, 0.3], connected=False)
    judged = full_workspace(model, 4, span, pivot=[0.1, 0, 0.3], requirements=Requirements(distance=1e-12))
    np.testing.assert_array_equal(counted.orientation_share, judged.orientation_share)


def test_tilt_at_each_height_ends_at_the_edge(model):
    result = tilt_by_height(model, [-0.2, 0.0, 0.5], directions=4)
    assert np.isnan(result.tilt.values[2]).all()  # too high
    roll = float(result.tilt[1, 0])  # about x
    pitch = float(result.tilt[1, 1])
    for k, angle in ((3, roll), (4, pitch)):
        x = np.zeros((2, 6))
        x[:, k] = angle * np.array([1 - 1e-6, 1 + 1e-6])
        assert ref.judged(x)[0].tolist() == [True, False]
    assert float(result.tilt_any[0]) < float(result.tilt_any[1])


def test_dexterous_positions_have_every_orientation(model):
    result = dexterous(model, np.radians(8), 5)
    assert 0 < float(result.dexterous_volume) < float(result.reachable_volume)
    positions = grid(result, "xyz")[result.dexterous.values.ravel()]
    angles = np.radians(8) * np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T
    x = np.concatenate([np.repeat(positions, len(angles), axis=0), np.tile(angles, (len(positions), 1))], axis=1)
    assert ref.judged(x)[0].all()


def test_forces_under_a_payload_and_distance_to_singularity_limit_too(model):
    home = float(
        np.abs(model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6), friction=False)).max()
    )
    loaded = Requirements(max_force=3 * home, payload=(10.0, (0.1, 0.0, 0.0)))
    result = workspace_map(
        model, {"x": np.linspace(-0.6, 0.6, 25), "z": np.linspace(-0.3, 0.3, 9)}, requirements=loaded
    )
    assert {str(result.limit_name.values[k]) for k in np.unique(result.binding)} >= {"length", "actuator force"}
    # the same forces by statics alone: J^T f = weights at the platform and of the legs' bodies as at the model
    x = np.zeros((9, 6))
    x[:, 2] = result.z
    poses = PoseCoordinates(model).poses(x)
    weight = np.array([0, 0, -9.81 * 10.0])
    wrench = np.r_[weight, np.cross([0.1, 0, 0], weight)]
    force = model.inverse_dynamics(poses, np.zeros((9, 6)), np.zeros((9, 6)), np.tile(wrench, (9, 1)), friction=False)
    expected = np.abs(force).max(axis=1) <= 3 * home
    kept, _ = ref.judged(x)
    np.testing.assert_array_equal(result.inside.sel(x=0.0).values, kept & expected)
    # the same from the drives' own numbers, where a robot states them
    limited = model.robot.model_dump()
    for leg in limited["legs"]:
        leg["max_force"] = 3 * home
    driven = pp.Model(pp.Robot.model_validate(limited))
    own = Requirements(drives=True, payload=(10.0, (0.1, 0.0, 0.0)))
    again = workspace_map(driven, {"x": [0.0, 0.01], "z": result.z.values}, requirements=own)
    np.testing.assert_array_equal(again.inside.sel(x=0.0).values, kept & expected)
    assert WorkspaceTest(PoseCoordinates(driven), own).criteria[-1] == "actuator force at rest (max_force)"
    # a force-speed curve holds with its force at zero speed, whichever of both is less
    for leg in limited["legs"]:
        leg |= {"max_force": 30 * home, "force_speed": [[0.0, 3 * home], [1.0, 0.0]]}
    curved = pp.Model(pp.Robot.model_validate(limited))
    again = workspace_map(curved, {"x": [0.0, 0.01], "z": result.z.values}, requirements=own)
    np.testing.assert_array_equal(again.inside.sel(x=0.0).values, kept & expected)
    names = WorkspaceTest(PoseCoordinates(curved), own).criteria
    assert names[-1] == "actuator force at rest (max_force, force_speed at zero speed)"
    assert names[:1] + names[-3:-1] == ("length", "legs close", "singularity")
    with refused(InputError, "reference max_force"):
        workspace_map(model, {"z": 3}, requirements=Requirements(drives=True))
    near = model.conditioning(poses).distance
    least = float(np.median(near))
    asked = workspace_map(model, {"z": result.z.values}, requirements=Requirements(distance=least))
    np.testing.assert_array_equal(asked.inside.values, kept & (near >= least))


@pytest.mark.parametrize("name", ["linear-delta", "3-rps", "planar-4-rrr"])
def test_robots_of_fewer_dof_have_maps_of_their_own_coordinates(model_of, name):
    robot = model_of(name)
    names = robot.dof
    result = workspace_map(robot, dict.fromkeys(names, 7))
    x = grid(result, names)
    motion = robot.motion(x)
    poses = np.where(np.isfinite(motion.pose), motion.pose, robot.robot.home.matrix)
    good = np.isfinite(motion.pose).all(axis=(1, 2)) & np.isfinite(robot.inverse_kinematics(poses, errors="nan")).all(1)
    at_home = np.linalg.det(robot.jacobian(robot.robot.home.matrix)) if len(robot.actuators) == len(names) else 1.0
    matrices = robot.jacobian(poses, errors="nan")
    det = np.linalg.det(np.nan_to_num(matrices)) if len(robot.actuators) == len(names) else np.ones(len(x))
    expected = good & robot.limits(poses).inside.all(axis=-1) & (det * at_home > 0)
    np.testing.assert_array_equal(result.inside.values.ravel(), expected)
    counted = full_workspace(robot, 7, {n: (float(result[n][0]), float(result[n][-1])) for n in names})
    assert float(counted.fraction) == pytest.approx(expected.mean(), abs=2 / len(x))  # ends may round either way


def test_questions_that_make_no_sense_are_refused_with_the_reason(model, model_of):
    free = pp.Model(ref.robot(limits=False))
    with refused(InputError, "x y z span"):
        constant_orientation(free, points=5)
    spanned = full_workspace(free, np.int64(3), dict.fromkeys(ref.SPAN, (-0.1, 0.1)))
    assert float(spanned.fraction) == 1.0
    with refused(InputError, "full_workspace"):
        workspace_map(model, {name: np.linspace(-1, 1, 4000) for name in "xyz"})
    with warned(ImplausibleWarning, "300"):
        PoseCoordinates(model, [0, 0, 300.0])
    for pivot in ([0, 0], [0, 0, np.nan]):
        with refused(InputError, "pivot"):
            PoseCoordinates(model, pivot)
    with refused(InputError, "linear-delta", code="not_six_dof"):
        PoseCoordinates(model_of("linear-delta"), [0, 0, 0.1])
    with refused(UnknownNameError, what="coordinate", name="q"):
        workspace_map(model, {"q": 5})
    with refused(InputError, "at z length", code="outside_workspace"):
        travel(model, {"z": 2.0})
    with refused(InputError, "max_force drives"):
        Requirements(payload=(1.0, (0, 0, 0)))
    with refused(InputError, "wrench"):
        Requirements(max_force=1.0, wrench=(0, 0, np.nan, 0, 0, 0))
    with refused(InputError, "wrench"):
        Requirements(max_force=1.0, wrench=(0, 0, 1))
    with refused(InputError, "payload"):
        Requirements(max_force=1.0, payload=(1.0, (0, np.inf, 0)))
    for ask in (straight_reach, tilt_by_height):
        with refused(InputError, "directions"):
            ask(model, directions=0)
    for axes, words in (
        ({}, "axes"),
        ({"x": 1}, "x 2"),
        ({"x": [1.0, 0.0]}, "axes x [1.0, 0.0]"),
    ):
        with refused(InputError, words):
            workspace_map(model, axes)


def test_the_command_prints_travel_and_writes_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = polypod("workspace", "3-rps", "--points", "5", "--at", "z=2mm", "--out", "w")
    assert result.exit_code == 0, result.output
    for words in ("Travel from home", "+- with all", "Limiting constraints"):
        assert words in result.stdout
    assert sorted(p.name for p in (tmp_path / "w" / "figures").iterdir()) == ["orientations.png", "surface.png"]
    kept = load_result(tmp_path / "w" / "orientations.nc")
    assert kept.attrs["robot"] == "3-rps"
    refused = polypod("workspace", "3-rps", "--at", "z=2kg")
    assert refused.exit_code == 2
    failed(refused, "--at z m")


def test_the_command_gives_numbers_to_programs(tmp_path):
    path = tmp_path / "reference.yaml"
    pp.save(ref.robot(), path)
    given = ["workspace", str(path), "--points", "3", "--pivot", "0", "0", "0.05", "--json"]
    data = json.loads(polypod(*given).stdout)
    assert [row["coordinate"] for row in data["travel"]] == ["x", "y", "z", "roll", "pitch", "yaw"]
    assert data["positions"]["unit"] == "m^3"
    assert max(data["tilt"]["tilt_rad"]) > 0.1


def test_results_are_kept_in_files_and_drawn(model, tmp_path):
    result = full_workspace(model, 4, ref.SPAN)
    save_result(result, tmp_path / "full.nc")
    again = load_result(tmp_path / "full.nc")
    np.testing.assert_array_equal(again.orientation_share, result.orientation_share)
    assert [name for name, _, _ in figures(result, WORKSPACE_FIGURES)] == ["dexterity"]


def test_orientations_beyond_half_a_turn_are_not_counted_again(model_of):
    """A rotation vector of more than half a turn is an orientation that a shorter one has."""
    space = PoseCoordinates(model_of("agile-eye"))
    x = np.array([[0.3, 0.2, 0.1], [0.0, 0.0, 3.2], [2.0, 2.0, 2.0]])
    assert space.repeated(x).tolist() == [False, True, True]
    assert np.isfinite(space.poses(x)).all(axis=(1, 2)).tolist() == [True, False, False]


def test_angles_that_nothing_stops_end_without_a_limit(model_of):
    """Agile eye: all orientations, of rotation vectors a ball of radius pi, which no limit of the robot ends."""
    free = model_of("agile-eye")
    found = workspace_map(free, dict.fromkeys(free.dof, 25))
    assert found.limit.values[found.share.values > 0].tolist() == ["whole range: no limit"]
    # a ball of 24 cells across, counted by cells
    assert abs(float(found.volume) / (4 / 3 * np.pi**4) - 1) < 0.02
    stops = travel(free)
    assert {*stops.low_limit.values, *stops.high_limit.values} == {"whole range: no limit"}
    np.testing.assert_allclose(stops.high, np.pi, rtol=1e-12)
    reach = straight_reach(free, directions=8)
    assert (reach.limit.values[reach.surface_binding.values] == "whole range: no limit").all()
    np.testing.assert_allclose(np.linalg.norm(reach.surface, axis=-1), np.pi, rtol=1e-8)
    assert "no limit" not in WorkspaceTest(PoseCoordinates(free)).criteria
