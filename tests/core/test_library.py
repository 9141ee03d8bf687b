"""Every robot of the library that is not a paper's: read, checked, held against its weight, moved along its motion."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from polypod.description import LegData
from polypod.drawing import posed
from polypod.errors import UnphysicalWarning
from polypod.file_kinds import check
from polypod.files import dumps, loads
from polypod.files.robot_files import expanded_document
from polypod.files.suspected_unit_errors import suspicious_numbers
from polypod.legs.chain import ChainJoint
from polypod.motion import default_motion, make_task
from polypod.results.figures import robot_picture
from support.refusals import warned
from support.states import displaced, mostly_long, papers_robots

Array = NDArray[np.float64]
JOINT_DOF = {
    "3-prs": 3, "3-rps": 3, "agile-eye": 3, "ankle": 2, "ankle-g1": 2, "ankle-tiangong": 2, "delta": 3, "delta-4": 4,
    "delta-wrist": 5, "five-bar": 2, "flexure-hexapod": 6, "hexapod": 6, "linear-delta": 3, "motion-platform": 6,
    "orthoglide": 3, "par4": 4, "par4-geared": 4, "planar-3-rrr": 3, "planar-4-rrr": 3, "reachy-mini": 6,
    "screw-hexapod": 6, "spring-ankle": 2, "tricept": 3,
    "cable-camera": 3, "cogiro": 6, "ipanema": 6, "planar-4-cable": 3,
}  # fmt: skip
SPINNING = {"ankle-tiangong": 2, "linear-delta": 6, "reachy-mini": 6}
SPINNING |= {"delta": 6, "delta-4": 6, "delta-wrist": 6, "par4": 8, "par4-geared": 8}
"""Rods between two spherical joints."""
DRIVEN = JOINT_DOF | {"planar-4-rrr": 4, "cogiro": 8, "ipanema": 8, "planar-4-cable": 4}
ROBOTS = tuple(JOINT_DOF)
CABLES = ("cable-camera", "cogiro", "ipanema", "planar-4-cable")
"""Robots whose legs are no chains of joints."""
# One of every way to close a leg, to lead a platform and to share forces.
KINDS = ("3-rps", "agile-eye", "delta", "five-bar", "hexapod", "orthoglide", "planar-4-rrr", "reachy-mini")
# Differences of fourth order over 2e-3 of a size or a radian: their error is 1e-10 of the work, rounding 1e-12.
WORK = 1e-8


@cache
def robot(name: str) -> pp.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of the library is implausible or unphysical
        return pp.load(name)


@cache
def model(name: str) -> pp.Model:
    return pp.Model(robot(name))


def test_these_are_all_robots() -> None:
    assert {*ROBOTS, *papers_robots()} == set(pp.library())


def test_every_leg_kind_is_that_of_a_robot() -> None:
    """The laws that all legs keep are checked on robots."""
    used = {leg["kind"] for name in pp.library() for leg in expanded_document(name)["legs"]}
    assert used == {kind for kind, leg in LegData.registry.items() if leg.__module__.startswith("polypod.")}


@pytest.mark.parametrize("name", ROBOTS)
def test_files_are_whole(name: str) -> None:
    """Every number has a source and every source a number; what is written is what was read; units are plausible."""
    own = robot(name)
    assert own.name == name
    assert own.title
    assert [path for path in own.numbers() if not own.source_of(path)] == []
    assert {own.source_of(path) for path in own.numbers()} == set(own.sources.values())
    assert list(suspicious_numbers(own)) == []


@pytest.mark.parametrize("name", ["hexapod", "five-bar", "tricept"])
def test_load_save_load_is_the_identity(name: str) -> None:
    assert loads(dumps(robot(name))) == robot(name)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, [name for name in ROBOTS if name not in ("delta-wrist", "par4")]))
def test_home_is_healthy(name: str) -> None:
    own = model(name)
    assert len(own.actuators) == DRIVEN[name]
    assert len(own.robot.dof) == JOINT_DOF[name] % 6
    # gears that turn the tool by four times the angle of the plate: four times the 1.58 of par4 on the same plates;
    # ipanema's cables, on arms of 85 mm, hold weakly about z
    most = {"par4-geared": 6.4, "ipanema": 5.5}.get(name, 5.0)
    assert own.conditioning(own.robot.home.matrix).condition < most
    assert own.limits(own.robot.home.matrix).ok


def test_a_tool_on_an_axle_is_as_large_as_what_carries_it() -> None:
    """The only joint on the platform is at its origin: rotations count as arcs at the hinges of the bar it turns in.

    The same plates and arms carry the platform of par4 itself: gears of 4:1 make its rotation four times as weak.
    """
    geared, plain = robot("par4-geared"), robot("par4")
    assert geared.platform_size == pytest.approx(0.07, rel=1e-12)  # of both hinges of the carrier, by its file
    assert plain.platform_size == pytest.approx(0.07, rel=1e-12)


# -- mobility, from joints alone ---------------------------------------------------------------------------------------


def demands(joint: ChainJoint) -> Array:
    """What a joint forbids of the relative twist at the base's origin [v; omega], one row each."""
    axes = np.array([joint.axis] if joint.axis else joint.axes or np.zeros((0, 3)), dtype=float)
    turns, slides = np.zeros((0, 6)), np.zeros((0, 6))
    if joint.kind == "spherical":
        axes = np.eye(3)
    if joint.kind in ("revolute", "universal", "spherical", "cylindrical"):
        turns = np.hstack([-np.cross(axes, joint.at), axes])  # omega = a, v = -a x p
    if joint.kind in ("prismatic", "cylindrical"):
        slides = np.hstack([axes, np.zeros_like(axes)])
    _, sizes, right = np.linalg.svd(np.vstack([turns, slides, np.zeros((6, 6))]))
    return np.asarray(right[np.count_nonzero(sizes > 1e-9) :])


@pytest.mark.parametrize(
    "name", [name for name in ROBOTS if not name.endswith(("hexapod", "-platform")) and name not in CABLES]
)
def test_joints_leave_the_dof_stated(name: str) -> None:
    """Twists of all bodies that all joints allow: as many as degrees of freedom and idly spinning rods; no code of
    the legs."""
    own = robot(name)
    bodies = ["platform", *((number, body) for number, leg in enumerate(own.legs) for body in leg.bodies)]
    rows = []
    for number, leg in enumerate(own.legs):
        for joint in leg.joints:
            wanted = demands(joint)
            row = np.zeros((len(wanted), 6 * len(bodies)))
            for body, sign in zip(joint.between, (-1.0, 1.0), strict=True):
                if body != "base":
                    k = bodies.index("platform" if body == "platform" else (number, body))
                    row[:, 6 * k : 6 * k + 6] += sign * wanted
            rows.append(row)
    free = 6 * len(bodies) - int(np.linalg.matrix_rank(np.vstack(rows), tol=1e-8))
    free -= sum(len(leg.relations) for leg in own.legs)
    assert free == JOINT_DOF[name] + SPINNING.get(name, 0)


# -- statics -----------------------------------------------------------------------------------------------------------


def beside_home(own: pp.Model, steps: Array) -> Array:
    """Poses (k, m, 4, 4) with each coordinate of the robot off home by steps (k)."""
    size = float(np.linalg.norm(own.robot.attachments, axis=1).mean())
    count = len(own.robot.dof) or 6
    turning = [f.motion == "rotation" for f in own.robot.dof] or [False] * 3 + [True] * 3
    offsets = steps[:, None, None] * np.diag(np.where(turning, 1.0, size))
    if not own.robot.dof:
        return displaced(own.robot.home.matrix, offsets)
    return own.motion(offsets.reshape(-1, count)).pose.reshape(len(steps), count, 4, 4)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, KINDS))
def test_forces_at_home_hold_the_weight(name: str) -> None:
    """Virtual work, sum of f dq = dV, along every coordinate, by differences of actuated coordinates and potential."""
    own, home, h = model(name), robot(name).home.matrix, 1e-3
    force = own.inverse_dynamics(home, np.zeros(6), np.zeros(6))
    poses = beside_home(own, h * np.array([-2.0, -1.0, 1.0, 2.0]))
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12 * h)
    derivatives = np.einsum("k,kma->ma", weights, own.inverse_kinematics(poses))
    work = np.einsum("k,km->m", weights, own.energy(poses, np.zeros(6)).potential)
    scale = np.abs(derivatives) @ np.abs(force) + np.abs(work)
    assert np.abs(derivatives @ force - work).max() <= WORK * max(scale.max(), 1e-3)
    level = name == "five-bar"  # gravity is perpendicular to its plane
    assert (np.abs(work).max() < 1e-12) == level


# -- motions and pictures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(ROBOTS, KINDS))
def test_its_motion_is_within_reach_and_limits(name: str) -> None:
    own = model(name)
    task = make_task(own, rate=50.0)
    assert task.name == default_motion(name) != "around-home"
    pose, twist, acceleration = task.motion.pose, task.motion.twist, task.motion.acceleration
    assert np.isfinite(own.inverse_dynamics(pose, twist, acceleration)).all()
    assert own.limits(pose).ok
    least = 2e-5 if name == "flexure-hexapod" else 0.01
    assert np.linalg.norm(pose[:, :3] - robot(name).home.matrix[:3], axis=(1, 2)).max() > least  # it does move


@pytest.mark.parametrize("name", mostly_long(["hexapod", "3-rps"], ["3-rps"]))
def test_check_takes_robot_and_motion(name: str) -> None:
    for what in (name, default_motion(name)):
        report = check(str(what))
        assert (report.ok, report.clean) == (True, True), report


@pytest.mark.parametrize("name", mostly_long(ROBOTS, KINDS))
def test_every_body_has_a_line(name: str) -> None:
    drawn = posed(robot(name), robot(name).home.matrix[None])
    # the cross of a universal joint lies in one point
    legs_with_bodies = {
        k for k, leg in enumerate(robot(name).legs) if getattr(leg, "bodies", True) and len(set(leg.points())) > 1
    }
    assert {leg for leg, _ in drawn.lines()} == legs_with_bodies
    points = np.array([joint.at for leg in robot(name).legs for joint in getattr(leg, "joints", ())]).reshape(-1, 3)
    for point in points:
        if name not in ("tricept", "five-bar"):  # a fixed joint moves nothing and is not drawn
            assert np.linalg.norm(drawn.joints[0] - point, axis=1).min() < 1e-12


@pytest.mark.long
def test_a_leg_of_one_joint_is_in_the_picture() -> None:
    figure = robot_picture(robot("ankle"))
    assert {text.get_text() for text in figure.axes[0].texts} >= {"joint", "left", "right"}


def test_a_five_bar_keeps_its_elbows(model_of: Any) -> None:
    """Poses of its generalized coordinates over the whole plane against two circles a leg, on the elbows drawn at
    home."""
    model = model_of("five-bar")
    motors, rod, home = np.array([[-0.059, 0.0], [0.059, 0.0]]), 0.09, model.robot.home.matrix
    grid = np.stack(np.meshgrid(np.linspace(-0.12, 0.12, 17), np.linspace(-0.28, 0.03, 17), indexing="ij"), -1)
    x = grid.reshape(-1, 2)

    def elbow(point: Any, motor: Any, side: float) -> Any:
        reach = point - motor
        length = np.linalg.norm(reach, axis=-1, keepdims=True)
        with np.errstate(invalid="ignore"):
            height = np.sqrt(rod**2 - length**2 / 4)
        return motor + reach / 2 + side * height * np.stack([-reach[..., 1], reach[..., 0]], -1) / length

    def angles(x: Any) -> Any:
        """Of the rod that carries the platform, for each side of its elbow; not a number out of reach."""
        point = home[:2, 3] + x
        left = [point - elbow(point, motors[0], side) for side in (1.0, -1.0)]
        reached = elbow(point, motors[1], 1.0).sum(axis=-1, keepdims=True)
        return np.stack([np.arctan2(v[..., 1], v[..., 0]) + 0 * reached[..., 0] for v in left])

    at_home, wanted = angles(np.zeros(2)), angles(x)
    got = model.motion(x).pose
    yaw = np.arctan2(got[:, 1, 0], got[:, 0, 0]) - np.arctan2(home[1, 0], home[0, 0])
    off = np.abs(np.exp(1j * (wanted - at_home[:, None])) - np.exp(1j * yaw))
    side = int(np.isnan(off[0]).all() or np.nanmedian(off[0]) > 1e-6)
    found = np.isfinite(yaw)
    assert np.array_equal(found, np.isfinite(wanted[side]))
    assert found.sum() > 50
    # near the rim of its reach an angle is as uncertain as the root of the rounding
    assert off[side][found].max() < 1e-7


def test_a_library_robot_is_read_once_and_warns_every_time() -> None:
    for _ in range(2):
        with warned(UnphysicalWarning, "inertia"):
            robot = pp.load("pedrammehr")
    assert pp.load("delta") is pp.load("delta")
    heavier = pp.load("delta", {"platform.mass": "3 kg"})
    assert (heavier.platform.mass, pp.load("delta").platform.mass == 3.0) == (3.0, False)
    assert pp.loads(pp.dumps(robot)) is not robot


def test_a_model_compiles_no_function_for_one_pose() -> None:
    """Home is judged by its Jacobian, which most other functions are needed with."""
    model = pp.Model("3-rps")
    assert {key.name for key in model.kernels._known} == {"jacobian"}
    home = model.conditioning(model.robot.home.matrix)
    assert np.allclose(model._conditioning_at_home(), home, rtol=1e-12, atol=0)
