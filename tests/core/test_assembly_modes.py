"""All assembly modes: published postures, closed forms and brute force, none of which shares code with the solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.assembly import SixDistances
from polypod.assembly.chart import Chart
from polypod.assembly.six_distances import polished_extended
from polypod.assembly.spheres import ThreeSpheres
from polypod.errors import InputError, StateWarning
from polypod.legs import Chain
from polypod.legs.contract import Strut
from polypod.model import Completeness, Reachability
from support.command_line import polypod
from support.refusals import refused, says, warned
from support.robots import user_legs as user
from support.robots.unusual_chains import UNUSUAL

DATA = json.loads((Path(__file__).parent.parent / "data" / "dietmaier_40.json").read_text())
BASE, PLATFORM, LENGTHS = (np.array(DATA[k]) for k in ("base_points_a", "platform_points_b", "leg_lengths"))
POSTURES = np.array([p["p"] for p in DATA["postures"]]), np.array([p["R"] for p in DATA["postures"]])
ModelOf = Callable[[str], pp.Model]


@pytest.fixture(scope="module")
def dietmaier() -> SixDistances:
    return SixDistances(BASE, PLATFORM)


def reach(pose: np.ndarray, base: np.ndarray, platform: np.ndarray) -> np.ndarray:
    """Distances of the joints at poses (..., 4, 4)."""
    tips = pose[..., None, :3, 3] + np.einsum("...ij,kj->...ki", pose[..., :3, :3], platform)
    return np.linalg.norm(tips - base, axis=-1)


def random_states(count: int, base: np.ndarray, platform: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses and their leg lengths."""
    pose = np.tile(np.eye(4), (count, 1, 1))
    pose[:, :3, :3] = Rotation.random(count, random_state=9).as_matrix()
    pose[:, :3, 3] = size * np.random.default_rng(5).normal(size=(count, 3))
    return pose, reach(pose, base, platform)


def test_dietmaiers_forty_postures_are_found_and_proven(dietmaier: SixDistances) -> None:
    """Forty real postures (Dietmaier 1998), five of them with a Jacobian's singular value below 2e-4."""
    found = dietmaier.poses(LENGTHS[None])
    assert found.real.sum() == found.certified.sum() == 40
    assert found.complete[0]
    assert found.lost[0] == 0
    off = np.abs(found.pose[0][:, None, :3, 3] - POSTURES[0]).max(axis=2)
    off = off + np.abs(found.pose[0][:, None, :3, :3] - POSTURES[1]).max(axis=(2, 3))
    # each published one is one of them: rounding times a condition number of 7e4
    assert off.min(axis=0).max() < 1e-10
    assert len(set(off.argmin(axis=0).tolist())) == 40
    assert np.abs(reach(found.pose[0], BASE, PLATFORM) - LENGTHS).max() < 1e-14


def test_random_states_of_a_general_platform(dietmaier: SixDistances) -> None:
    """No path is lost, the pose that made the lengths is among the answers, and forty solutions prove completeness."""
    pose, lengths = random_states(20, BASE, PLATFORM, 1.0)
    found = dietmaier.poses(lengths)
    assert found.lost.sum() == 0
    assert found.complete.all()
    assert (found.certified == found.real).all()
    off = np.where(found.real, np.abs(found.pose - pose[:, None]).max(axis=(2, 3)), np.inf)
    assert off.min(axis=1).max() < 1e-9
    assert np.abs(reach(found.pose, BASE, PLATFORM) - lengths[:, None])[found.real].max() < 1e-13
    # complex solutions come in pairs, so real ones are even in number
    assert (found.real.sum(axis=1) % 2 == 0).all()


def test_brute_force_finds_no_other_pose(dietmaier: SixDistances) -> None:
    """Least squares by another library from random starts ends in poses that were found."""
    lengths = random_states(3, BASE, PLATFORM, 0.7)[1][2]
    found = dietmaier.poses(lengths[None])
    known = found.pose[0][found.real[0]]
    draw, hits = np.random.default_rng(1), set()
    for _ in range(12):
        start = np.r_[draw.normal(size=3), Rotation.random(random_state=draw.integers(1 << 30)).as_rotvec()]

        def gap(x: np.ndarray) -> np.ndarray:
            tips = x[:3] + Rotation.from_rotvec(x[3:]).apply(PLATFORM)
            return np.linalg.norm(tips - BASE, axis=1) - lengths

        end = least_squares(gap, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if np.abs(end.fun).max() > 1e-12:
            continue
        turn = Rotation.from_rotvec(end.x[3:]).as_matrix()
        off = np.abs(known[:, :3, 3] - end.x[:3]).max(axis=1) + np.abs(known[:, :3, :3] - turn).max(axis=(1, 2))
        assert off.min() < 1e-7
        hits.add(int(off.argmin()))
    assert len(hits) >= 2


def test_the_certificate_holds_and_refuses(dietmaier: SixDistances) -> None:
    """Near a solution it bounds the true distance; at a point that is none it does not pass."""
    chart = Chart.of(BASE - BASE[0], PLATFORM - PLATFORM[0], 0)
    x = dietmaier.start.solutions[:8]
    lengths = chart.lengths(dietmaier.start.squares)[None]
    assert dietmaier.size != 1.0  # the start is in sizes of the robot: here its chart is another
    own = dietmaier._charts[0]
    exact, alpha, radius = own.certify(x, lengths := own.lengths(dietmaier.start.squares)[None])
    assert (alpha < 1e-3).all()
    again = own.certify(exact * (1 + 1e-5), lengths)[0]
    assert (np.abs(again - exact).max(axis=1) <= radius).all()
    far = polished_extended(own, np.ones((1, 7), dtype=complex) * 50.0, np.full((1, 6), 1e-6))
    assert not far.alpha[0] < 0.15


def test_ordinary_hexapods_have_28_solutions_in_mirrored_pairs(model_of: ModelOf) -> None:
    """Base and platform flat: each pose has its image in the base's plane. A symmetric home has four of each."""
    model = model_of("hexapod")
    q = model.inverse_kinematics(model.robot.home.matrix)
    modes = model.assembly_modes(q, reach=False)
    assert len(modes.pose) == 8
    assert modes.certified.all()
    assert np.abs(model.inverse_kinematics(modes.pose) - q).max() < 1e-14
    flip = np.diag([1.0, 1.0, -1.0])
    images = modes.pose.copy()
    images[:, :3, 3] = modes.pose[:, :3, 3] @ flip
    images[:, :3, :3] = flip @ modes.pose[:, :3, :3] @ flip
    off = np.abs(images[:, None] - modes.pose).max(axis=(2, 3)).min(axis=1)
    assert off.max() < 1e-12
    assert modes.complete == Completeness.ALL_FOUND  # no theorem says that there are 28
    assert modes.within_limits.tolist() == [True] + 7 * [False]
    assert modes.reachable[0] != Reachability.NO
    assert (modes.reachable == Reachability.NO).sum() == 4


def test_batches_give_what_states_give_alone(model_of: ModelOf) -> None:
    model = model_of("pedrammehr")
    home = model.inverse_kinematics(model.robot.home.matrix)
    q = home + 0.01 * np.random.default_rng(2).normal(size=(2, 3, 6))
    whole = model.assembly_modes(q, reach=False)
    assert whole.pose.shape[:2] == (2, 3)
    assert whole.complete.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            one = model.assembly_modes(q[i, j], reach=False)
            count = len(one.pose)
            assert np.isfinite(one.pose).all()
            assert np.abs(whole.pose[i, j, :count] - one.pose).max() < 1e-12
            assert np.isnan(whole.pose[i, j, count:]).all()
            assert whole.certified[i, j, :count].all()
            assert whole.complete[i, j] == one.complete == Completeness.PROVEN
    assert model.assembly_modes(np.zeros((0, 6))).pose.shape == (0, 0, 4, 4)


@pytest.mark.parametrize(("robot", "count"), [("kim-ryu", 16), pytest.param("reachy-mini", 16, marks=pytest.mark.long)])
def test_struts_that_actuators_carry(robot: str, count: int, model_of: ModelOf) -> None:
    """Sliders and cranks move the base joints; every pose of the model's own branch has the coordinates asked for."""
    model = model_of(robot)
    home = model.inverse_kinematics(model.robot.home.matrix)
    q = home + 0.01 * np.random.default_rng(1).normal(size=len(home))
    modes = model.assembly_modes(q, reach=False)
    assert len(modes.pose) == count
    assert modes.certified.all()
    own = modes.pose[modes.own_branch]
    assert np.abs(model.inverse_kinematics(own) - q).max() < 1e-10
    assert len(own) >= 4


@pytest.mark.parametrize(
    ("robot", "most"),
    [
        ("planar-3-rrr", 6),
        ("3-rps", 16),
        pytest.param("agile-eye", 8, marks=pytest.mark.long),
        pytest.param("orthoglide", 2, marks=pytest.mark.long),
        pytest.param("delta", 2, marks=pytest.mark.long),
        pytest.param("linear-delta", 2, marks=pytest.mark.long),
        pytest.param("3-prs", 16, marks=pytest.mark.long),
    ],
)
def test_robots_with_equations_of_their_own(robot: str, most: int, model_of: ModelOf) -> None:
    """Poses of the own branch repeat the coordinates, all are proven, and Newton from many starts finds no others."""
    model = model_of(robot)
    home = model.inverse_kinematics(model.robot.home.matrix)
    q = home + 0.02 * np.random.default_rng(1).normal(size=(2, len(home)))
    modes = model.assembly_modes(q, reach=False)
    assert 1 <= modes.pose.shape[1] <= most
    assert (modes.complete == Completeness.PROVEN).all()
    assert (modes.certified == np.isfinite(modes.pose[..., 0, 0])).all()
    for k in range(2):
        own = modes.pose[k][modes.own_branch[k]]
        assert np.abs(model.inverse_kinematics(own) - q[k]).max() < 1e-9
        others = model._assembly._multistart(q[k : k + 1]).pose[0]
        off = np.abs(others[:, None] - modes.pose[k][None]).max(axis=(2, 3))
        assert np.nanmin(off, axis=1).max() < 1e-6


def test_a_leg_kind_with_another_coordinate_is_no_strut() -> None:
    """Coordinates of legs behind screws are angles, not lengths: all solutions for lengths of 200 m were none."""
    model = pp.Model(user.screw_robot(**user.RODS))
    home = model.robot.home.matrix
    modes = model.assembly_modes(model.inverse_kinematics(home), reach=False)
    assert modes.complete == 0
    assert np.abs(modes.pose - home).max(axis=(1, 2)).min() < 1e-9


def test_parallelograms_are_struts_however_they_are_stated() -> None:
    """Of bars hinged to arm and platform, in either order, with a body fixed to one: the middle between them."""
    at = {"e1": (0.5, 0.0, -0.2), "e2": (0.55, 0.0, -0.18), "w1": (0.1, 0.0, -0.6), "w2": (0.15, 0.0, -0.58)}
    between = {"e1": ("arm", "bar1"), "e2": ("sleeve", "arm"), "w1": ("platform", "bar1"), "w2": ("bar2", "platform")}
    mass = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
    motor = {"name": "motor", "between": ("base", "arm"), "at": (0.3, 0.0, 0.0), "actuated": True}
    joints = [motor, *({"name": name, "between": between[name], "at": at[name]} for name in at)]
    joints = [{"kind": "revolute", "axis": (0.0, 1.0, 0.0), **joint} for joint in joints]
    joints.append({"name": "clamp", "kind": "fixed", "between": ("sleeve", "bar2")})
    bodies = dict.fromkeys(("arm", "bar1", "bar2", "sleeve"), mass)
    leg = Chain.model_validate({"kind": "chain", "name": "leg", "bodies": bodies, "joints": joints})
    strut = leg.at_home((0.0, 0.0, -0.6), np.eye(3)).strut(np.zeros(1))
    assert strut is not None
    np.testing.assert_allclose(strut.point, [[0.525, 0.0, -0.19]], atol=1e-15)
    np.testing.assert_allclose(strut.joint, [0.125, 0.0, 0.01], atol=1e-15)
    np.testing.assert_allclose(strut.length, [np.hypot(0.4, 0.4)], rtol=1e-15)


def test_the_agile_eye_has_eight_orientations(model_of: ModelOf) -> None:
    """Four of them for all coordinates, where the last hinges lie along the motors (Bonev, Chablat and Wenger 2006)."""
    q = np.array([[0.3, -0.2, 0.5], [0.0, 0.0, 0.0]])
    modes = model_of("agile-eye").assembly_modes(q, reach=False)
    assert modes.certified.all()
    assert modes.pose.shape == (2, 8, 4, 4)
    motor, elbow, hinge = np.eye(3), -np.roll(np.eye(3), 2, axis=1), -np.roll(np.eye(3), 1, axis=1)
    elbows = Rotation.from_rotvec((q[..., None] * motor).reshape(-1, 3)).apply(np.tile(elbow, (2, 1))).reshape(2, 3, 3)
    hinges = np.einsum("skij,lj->skli", modes.pose[..., :3, :3], hinge)
    assert np.abs((elbows[:, None] * hinges).sum(axis=-1)).max() < 1e-14
    apart = np.abs(modes.pose[:, :, None] - modes.pose[:, None]).max(axis=(3, 4))
    assert (apart + np.eye(8)).min() > 0.1
    along = np.abs(np.einsum("skli,li->skl", hinges, motor)).min(axis=2) > 1 - 1e-12
    assert (along.sum(axis=1) == 4).all()


def test_spheres_that_touch_leave_doubt_and_those_apart_none() -> None:
    """Three centres 1 from their middle: no point has the distance 0.99 from all, one 1 and two 1.01."""
    corners = np.array([[1.0, 0.0, 0.0], [-0.5, 0.75**0.5, 0.0], [-0.5, -(0.75**0.5), 0.0]])
    r = np.array([0.99, 1.0, 1.01])
    struts = [Strut(np.tile(c, (3, 1)), r, np.zeros(3)) for c in corners]
    found = ThreeSpheres(np.eye(3)).solve(struts)
    assert found.proven.tolist() == [True, False, True]
    assert not found.certified[:2].any()
    assert found.certified[2].all()
    height = np.sqrt(1.01**2 - 1)
    assert np.sort(found.pose[2, :, 2, 3]) == pytest.approx([-height, height], rel=1e-14)
    assert np.isnan(found.pose[0]).all()


HIGH = 0.08905616207866226
"""Height [m] of the five-bar's elbows at home, as its file has it: sqrt(0.09^2 - 0.013^2) to ten digits."""


def test_a_five_bar_has_the_points_where_two_circles_meet(model_of: ModelOf) -> None:
    """Elbows at 90 mm from motors at +-59 mm, the tool 90 mm from both; a rod turns with it. No point is proven too."""
    model = model_of("five-bar")
    up, rod_at_home = HIGH, 0.072 + 1j * 0.054
    q = np.random.default_rng(2).uniform(-3, 3, size=(200, 2))
    modes = model.assembly_modes(q, reach=False)
    # coordinates are zero at home
    right, left = (side * 0.059 + (side * 0.013 + 1j * up) * np.exp(1j * q[:, k]) for k, side in enumerate((1, -1)))
    apart = right - left
    meet = np.abs(apart) < 0.18
    assert 20 < meet.sum() < 180
    np.testing.assert_array_equal(np.isfinite(modes.pose[..., 0, 0]).sum(axis=1), np.where(meet, 2, 0))
    assert (modes.complete == Completeness.PROVEN).all()
    assert modes.certified[meet].all()
    assert not modes.certified[~meet].any()
    # a rhombus: half of the way between the elbows, and across
    across = 1j * apart / np.abs(apart) * np.sqrt(0.09**2 - np.abs(apart / 2) ** 2 + 0j)
    tool = ((left + apart / 2)[:, None] + across[:, None] * np.array([1, -1]))[meet]
    found = (modes.pose[..., 0, 3] + 1j * modes.pose[..., 1, 3])[meet]
    off = np.abs(found[:, :, None] - tool[:, None])
    # rounding, larger by 0.09/across where the circles nearly touch
    doubt = (1e-15 * 0.09 / np.abs(across[meet]))[:, None]
    assert (off.min(axis=2) < doubt).all()
    assert (off.min(axis=1) < doubt).all()
    turn = (modes.pose[..., 0, 0] + 1j * modes.pose[..., 1, 0])[meet]
    assert np.abs(left[meet][:, None] + turn * rod_at_home - found).max() < 1e-14


def test_modes_of_designs_are_those_of_their_own_circles(model_of: ModelOf) -> None:
    """The right motor elsewhere, its elbow drawn where it was: rods of 90 mm meet on circles about the elbows."""
    model = model_of("five-bar")
    path, q = "legs.0.joints.0.at", np.array([[0.1, 0.05], [0.3, -0.1]])
    own = model.parameters(path)[path]
    places = own + np.array([[0.0, 0.0, 0.0], [0.012, -0.007, 0.0], [np.nan, 0.0, 0.0]])
    with warned(StateWarning, "4 2 legs.0.joints.0.at", code="design"):
        modes = model.assembly_modes(q, reach=False, parameters={path: places[:, None]})
    assert modes.pose.shape == (3, 2, 2, 4, 4)
    assert np.isnan(modes.pose[2]).all()
    np.testing.assert_array_equal(modes.pose[0], model.assembly_modes(q, reach=False).pose)
    assert (modes.complete[:2] == Completeness.PROVEN).all()
    motor, elbow = places[:2, 0] + 1j * places[:2, 1], 0.072 + 1j * HIGH
    right = motor[:, None] + (elbow - motor)[:, None] * np.exp(1j * q[:, 0])
    left = -0.059 + (-0.013 + 1j * HIGH) * np.exp(1j * q[:, 1])
    tool = modes.pose[:2, ..., 0, 3] + 1j * modes.pose[:2, ..., 1, 3]
    np.testing.assert_allclose(np.abs(tool - right[..., None]), 0.09, rtol=1e-13)
    np.testing.assert_allclose(np.abs(tool - left[:, None]), 0.09, rtol=1e-13)


def test_the_3_rps_at_its_own_home_has_sixteen_poses(model_of: ModelOf) -> None:
    """All real, in pairs above and below the base (Nanua, Waldron and Murthy 1990: sixteen at most)."""
    model = model_of("3-rps")
    modes = model.assembly_modes(model.inverse_kinematics(model.robot.home.matrix), reach=False)
    heights = modes.pose[:, 2, 3]
    assert len(heights) == 16
    assert np.allclose(np.sort(heights), np.sort(-heights), atol=1e-12)


def test_other_robots_say_that_they_are_not_proven_complete(model_of: ModelOf) -> None:
    model = model_of("staicu")
    modes = model.assembly_modes(model.inverse_kinematics(model.robot.home.matrix))
    assert modes.complete == Completeness.NOT_PROVEN
    assert "may be more" in Completeness.NOT_PROVEN.meaning
    assert not modes.certified.any()
    assert len(modes.pose) >= 1
    assert modes.reachable[0] == Reachability.YES


def test_reach_is_a_way_without_singularities(model_of: ModelOf) -> None:
    """The other mode of a Delta robot is beyond its singularity, home itself is reached, opposite signs never are."""
    model = model_of("hexapod")
    q = model.inverse_kinematics(model.robot.home.matrix) + 0.003 * np.arange(6)
    modes = model.assembly_modes(q)
    signs = np.sign(np.linalg.det(model.jacobian(modes.pose)))
    home = np.sign(np.linalg.det(model.jacobian(model.robot.home.matrix)))
    assert modes.reachable[0] == Reachability.YES
    assert ((modes.reachable == Reachability.NO) == (signs != home)).all()


def test_modes_that_are_one_another_turned_are_reached_alike(model_of: ModelOf) -> None:
    """Home and its coordinates are the same after a third of a turn about z: so is what is reached from there."""
    model = model_of("hexapod")
    modes = model.assembly_modes(model.inverse_kinematics(model.robot.home.matrix))
    third = np.eye(4)
    third[:3, :3] = Rotation.from_rotvec([0, 0, 2 * np.pi / 3]).as_matrix()
    turned = third @ modes.pose @ third.T
    off = np.abs(turned[:, None] - modes.pose).max(axis=(2, 3))
    assert off.min(axis=1).max() < 1e-6  # joints are given to nine digits
    others = off.argmin(axis=1)
    assert (others != np.arange(len(others))).sum() == 6
    assert (modes.reachable[others] == modes.reachable).all()


def test_a_flexible_robot_is_sent_to_its_rigid_model() -> None:
    from support.robots.hexagon import hexagon_modes

    model = pp.Model(pp.load("long").on_modes(hexagon_modes(1)))
    with refused(InputError, "model.rigid"):
        model.assembly_modes(np.ones(6))


@pytest.mark.long
def test_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "modes.png"
    result = polypod("modes", "delta", "--picture", picture)
    assert result.exit_code == 0, result.output
    assert picture.stat().st_size > 10_000


def test_the_command() -> None:
    result = polypod("modes", "delta", "--no-draw")
    assert result.exit_code == 0, result.output
    says(result.output, "2")
    assert "another working mode" in result.output
    wrong = polypod("modes", "delta", "--q", "1 2", "--no-draw")
    assert wrong.exit_code == 2


@pytest.mark.long
def test_no_path_is_lost_in_20_000_states(dietmaier: SixDistances) -> None:
    """800,000 paths of a general platform and 280,000 of the ordinary hexapod."""
    hexapod = pp.load("hexapod")
    base, platform = (np.array([getattr(leg, name) for leg in hexapod.legs]) for name in ("base", "platform"))
    for struts, a, b, size in ((dietmaier, BASE, PLATFORM, 1.0), (SixDistances(base, platform), base, platform, 0.3)):
        pose, lengths = random_states(20_000, a, b, size)
        found = struts.poses(lengths)
        assert found.lost.sum() == 0
        assert (found.real == found.certified).all()
        off = np.where(found.real, np.abs(found.pose - pose[:, None]).max(axis=(2, 3)), np.inf)
        assert off.min(axis=1).max() < 1e-6
        assert struts is not dietmaier or found.complete.all()


def test_a_spherical_five_bar_has_the_mode_that_its_elbows_mirror() -> None:
    """Motors hold both elbows; the wrist is where two cones about them meet, so once more behind their plane."""
    data = UNUSUAL["spherical five-bar"](1)
    model = pp.Model(pp.Robot.model_validate(data))
    home = model.robot.home.matrix
    found = model.assembly_modes(model.inverse_kinematics(home), reach=False).pose
    one, two, wrist = (np.array(data["legs"][leg]["joints"][k]["axis"]) for leg, k in ((0, 1), (1, 1), (1, 2)))
    normal = np.cross(one, two) / np.linalg.norm(np.cross(one, two))
    mirrored = wrist - 2 * (wrist @ normal) * normal
    assert len(found) == 2
    for pose, wanted in zip(found, (wrist, mirrored), strict=True):
        turn = pose[:3, :3] @ home[:3, :3].T
        assert np.abs(turn @ one - one).max() < 1e-12
        assert np.abs(turn @ wrist - wanted).max() < 1e-12
        assert np.abs(pose[:3, 3] - home[:3, 3]).max() < 1e-12
