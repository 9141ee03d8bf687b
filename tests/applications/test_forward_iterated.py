"""Forward kinematics of machines whose legs are closed by iterating: what is found has its coordinates, and is found.

Newton's iteration with legs that were not closed compared errors that did not belong together, so that near guesses
failed, and legs slipped into other working modes unseen. Truth is an engine in maximal coordinates that shares nothing
with polypod, and that inverse kinematics of the answer must give the coordinates asked for.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import StateError
from polypod.model import ForwardKinematicsStatus
from polypod.results.figures import modes_picture
from support.engines.chain_engine import Engine
from support.forward_study import (
    by_c,
    by_javascript,
    found_from,
    hard_states,
    judged,
    pose_of,
    routes,
    side_of,
    workspace,
)
from support.refusals import refused
from support.robots.composed_machines import composed
from support.robots.coupled_chains import COUPLED
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import ROBOTS, as_data
from support.robots.unusual_chains import UNUSUAL
from support.states import mostly_long
from test_export_c import needs_compiler
from test_export_js import evaluated

FOLDER = Path(__file__).parent.parent / "data" / "machines"
GOLDEN = FOLDER.parent / "golden" / "machines"
POSES = {path.stem: json.loads(path.read_text())["states"] for path in sorted(GOLDEN.glob("*.json"))}
GENERATED = {**ROBOTS, **UNUSUAL, **MACHINES}
SAME = 1e-9
"""Difference of poses, in units of the condition, that is rounding of legs near a singularity of theirs."""
GIVEN = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def model_of(name: str) -> pp.Model:
    if name in GENERATED:
        return pp.Model(pp.Robot.model_validate(GENERATED[name](1)))
    return pp.Model(pp.load(FOLDER / f"{name}.yaml" if name in GIVEN else name))


# -- by foreign truth --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(POSES, ("canfield",)))
def test_poses_of_another_engine_are_found(name: str) -> None:
    """Of CaPaMan none was found from home, not even 1 mm away."""
    model = model_of(name)
    pose, home = np.array([state["pose"] for state in POSES[name]]), model.robot.home.matrix
    q = model.inverse_kinematics(home) + np.array([state["q_from_home"] for state in POSES[name]])
    for guess in (home, pose, pose[::-1]):
        found = model.forward_kinematics(q, guess)
        assert np.abs(found - pose).max() < 1e-11


@pytest.mark.parametrize("name", mostly_long(("par4", "delta4", "palletiser"), ("par4",)))
def test_poses_of_the_engine_of_constraints_are_found(name: str) -> None:
    model = model_of(name)
    engine, rng = Engine(as_data(model.robot)), np.random.default_rng(2)
    aims = rng.uniform(-0.1, 0.1, (6, len(engine.chosen)))
    places = [engine.displaced(aim) for aim in aims]
    pose = np.array([engine.pose(place) for place in places])
    found = model.forward_kinematics(np.array([engine.coordinates(place) for place in places]))
    assert np.abs(found - pose).max() < 1e-10


# -- by inverse kinematics ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_long(("par4", "ankle-g1", "palletiser"), ("par4",)))
def test_every_answer_has_its_coordinates_and_all_are_found(name: str) -> None:
    """Of par4 3 % of the answers had other coordinates and 4 % were missing, of the ankle 4.5 % were missing."""
    model = model_of(name)
    space = workspace(model, name, 600)
    assert len(space.q) > 400
    near = pose_of(model, 0.97 * space.x)
    assert found_from(model, space, None) == (len(space.q), 0, 0, 0)
    assert found_from(model, space, near) == (len(space.q), 0, 0, 0)


def test_near_guesses_converge_in_compiled_code_alone() -> None:
    """At 97 % of the way 60 % of CaPaMan's poses were not found; what is exported has no search about the guess."""
    model = model_of("capaman")
    pose, home = np.array([state["pose"] for state in POSES["capaman"]]), model.robot.home.matrix
    start, q = model.inverse_kinematics(home), model.inverse_kinematics(pose)
    kernel = model.kernel("forward_kinematics")
    for part in (0.9, 0.97, 0.999, 0.9999):
        guess = model.forward_kinematics(start + part * (q - start))
        found, residual, _, quality = kernel(q, np.ascontiguousarray(guess))
        assert residual.max() < 1e-13
        assert quality.min() > 1e-7
        assert np.abs(found - pose).max() < 1e-11


@pytest.mark.parametrize("name", mostly_long(("canfield", "par4"), ("par4",)))
def test_no_row_of_a_log_is_lost(name: str) -> None:
    """Along straight ways of the coordinates between random states 2 of 101 rows were."""
    model = model_of(name)
    corners = workspace(model, name, 40).x[:6]
    parts = np.linspace(0, 1, 30)[:, None]
    x = np.concatenate([a + parts * (b - a) for a, b in pairwise(corners)])
    pose = pose_of(model, x)
    assert np.isfinite(pose).all()
    found = model.forward_kinematics(model.inverse_kinematics(pose), along=True, full_output=True)
    assert np.isin(found.status, (ForwardKinematicsStatus.CONVERGED, ForwardKinematicsStatus.OUTSIDE_LIMITS)).all()
    assert np.abs(found.pose - pose).max() < 1e-9


def test_inverse_kinematics_is_exact_near_a_singularity_of_a_leg() -> None:
    """Coordinates of a pose where a leg is nearly stretched, as an engine of constraints has them.

    The engine's pose is turned out of the plane by 4e-9 rad, which gaps of 1e-13 allow there: by as much as that turn
    moves the drives, 9e-10 rad, it is open which coordinates belong to the pose.
    """
    model = model_of("delta4")
    engine = Engine(as_data(model.robot))
    aim = np.array([0.39396988, -0.14419395, -0.07906851, -0.09811427])
    place = engine.displaced(aim, steps=12)
    assert np.abs(model.inverse_kinematics(engine.pose(place)) - engine.coordinates(place)).max() < 2e-9


def test_coordinates_are_those_of_the_closed_form_where_the_plates_nearly_turn() -> None:
    """The plates of a Par4 do not turn, so that each arm has the closed form of a Delta's. Short of where their rods no
    longer hold them, gaps below the tolerance of Newton's iteration left coordinates off by 3e-7 rad: 4e-12 now."""
    model = model_of("par4-geared")
    x = np.linspace(0.99, 0.9913, 40)[:, None] * [-0.23862853, 0.24571155, 0.1254976, 0.42050389]
    q = model.inverse_kinematics(model.motion(x).pose)
    assert np.abs(q - [coordinates_of_par4(one) for one in x]).max() < 1e-11


def coordinates_of_par4(x: Any) -> list[float]:
    """Angles of the arms: |0.375 (c r - s z) - d| is the rod's length, d from the motor to the wrist."""
    turn, up, q = x[3] / 4, np.array([0.0, 0.0, 1.0]), []
    for angle in np.radians([45, 135, 225, 315]):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        plate = 0.07 * np.sign(out[1]) * np.array([-np.sin(turn), np.cos(turn) - 1, 0.0])
        wrist, elbow = 0.1 * out - 0.615 * up, 0.65 * out
        d = wrist + x[:3] + plate - 0.275 * out
        a, b = -0.75 * d @ out, 0.75 * d @ up
        rest = ((elbow - wrist) ** 2).sum() - 0.375**2 - d @ d
        q.append(np.arctan2(b, a) + np.arccos(rest / np.hypot(a, b)))
    return q


@pytest.mark.long
def test_inverse_kinematics_does_not_slip_between_neighbours() -> None:
    """From home in one leap the legs' unknowns of 1 pose in 700 ended in another working mode, 2 rad away."""
    model = model_of("ankle-g1")
    ends = np.array([[-0.5403628, 0.0999497], [-0.67916661, 0.07865344], [0.36116075, -0.17380119]])
    parts = np.linspace(0.96, 1.0, 5)
    q = model.inverse_kinematics(pose_of(model, (parts[:, None, None] * ends).reshape(-1, 2)))
    assert np.abs(np.diff(q.reshape(5, 3, -1), axis=0)).max() < 0.05


def test_motion_gives_no_pose_with_a_leg_left_open() -> None:
    """Just beyond a singularity of a leg Newton stays at a gap of 1e-9; the pose was given, and refused as an input."""
    model = model_of("capaman")
    x = np.array([-0.020490875426031768, -0.266282750831961, -0.20949062593436835])
    assert np.isnan(model.motion(x, errors="nan").pose).all()
    near = model.motion(0.99 * x).pose
    assert np.abs(model.forward_kinematics(model.inverse_kinematics(near), near) - near).max() < 1e-12


@pytest.mark.parametrize(
    "name", mostly_long(("6-SPU", "6-RUS", "6-PSS", "hexapod", "delta", "reachy-mini"), ("6-SPU",))
)
def test_no_pose_is_an_answer_where_a_leg_does_not_close(name: str) -> None:
    """The formula of a leg beyond its own singularity has coordinates too: such poses counted as found."""
    model = model_of(name)
    m, rng = len(model.mobility.turns), np.random.default_rng(4)
    pose = pose_of(model, rng.uniform(-1, 1, (300, m)) * np.where(model.mobility.turns, 1.5, 2 * model.size))
    pose = pose[np.isfinite(pose).all(axis=(1, 2))]
    q, quality = model.kernel("inverse_kinematics")(np.ascontiguousarray(pose))
    beyond = (quality < 0) & np.isfinite(q).all(axis=1)
    q, pose = q[beyond], pose[beyond]
    assert name != "6-SPU" or len(q) > 20
    found = model.forward_kinematics(q, pose, errors="nan")
    there = np.isfinite(found).all(axis=(1, 2))
    back = model.inverse_kinematics(found[there])
    assert (np.abs(back - q[there]) <= SAME * (1 + np.abs(q).max(initial=0.0))).all()


GEARED = [("five-bar", 1e6, "all"), ("planar-4-rrr", 1e4, "one"), ("delta", 1e6, "all"), ("3-rps", 1e7, "one")]


@pytest.mark.parametrize("case", mostly_long(GEARED, GEARED[:2], str))
def test_gears_make_no_pose_harder_to_find(case: tuple[str, float, str]) -> None:
    """Errors of coordinates were judged as they are: behind gears rounding alone was too much, nothing was found."""
    name, ratio, which = case
    robot = pp.load(name)
    driven = [(i, k) for i, leg in enumerate(robot.legs) for k, joint in enumerate(leg.joints) if joint.actuated]
    chosen = driven if which == "all" else driven[:1]
    model = pp.Model(robot.with_({f"legs.{i}.joints.{k}.ratio": ratio for i, k in chosen}))
    space = workspace(model, name, 200)
    assert found_from(model, space, None) == (len(space.q), 0, 0, 0)
    pose, residual, _, _ = model.kernel("forward_kinematics")(space.q, np.ascontiguousarray(space.pose))
    assert residual.max() < 1e-14
    assert np.abs(pose - space.pose).max() < 1e-9


@pytest.mark.long
def test_what_is_found_about_the_guess_is_on_its_side() -> None:
    """Beyond a place where y, z, roll and pitch do not say how this machine moves, Newton's matrix keeps its sign."""
    model = pp.Model(pp.loads(json.dumps(composed(15))))
    q = np.array(
        [[-0.67400104, 0.33101879, 0.38290134, -0.02082269], [-0.22058327, 0.66363842, 0.10455544, -0.1504943]]
    )
    found = model.forward_kinematics(q)
    assert np.abs(model.inverse_kinematics(found) - q).max() < 1e-12
    assert (side_of(model, found) == side_of(model, model.robot.home.matrix)).all()


def test_a_turn_of_all_drives_is_no_other_pose() -> None:
    """Encoders of a wrist that turns on and on pass half a turn, where inverse kinematics begins anew."""
    model = pp.Model(pp.Robot.model_validate(UNUSUAL["coaxial eye"](1)))
    turn = np.linspace(0.0, 6.0, 61)
    pose = model.robot.home.matrix @ pp.pose(yaw=turn)
    found = model.forward_kinematics(np.repeat(turn[:, None], 3, axis=1), along=True)
    assert np.abs(found - pose).max() < 1e-12
    with refused(StateError, code="not_converged"):  # degrees
        model.forward_kinematics([30.0, 30.0, 30.0])


def test_a_robot_far_from_its_origin_loses_no_pose() -> None:
    """Rounding of its positions is that of the distance."""
    data = ROBOTS["6-RUS"](1)
    away = np.array([1e5, 0.0, 0.0])
    data["home"]["position"] = (np.array(data["home"]["position"]) + away).tolist()
    for leg in data["legs"]:
        for part in (*leg["joints"], *leg["bodies"].values()):
            for field in {"at", "com"} & set(part):
                part[field] = (np.array(part[field]) + away).tolist()
    model = pp.Model(pp.Robot.model_validate(data))
    space = workspace(model, "far", 100)
    assert len(space.q) > 30
    found = model.forward_kinematics(space.q)
    assert np.abs(found - space.pose).max() < 1e-8


GANTRY = """name: gantry
platform: {mass: 1.0, inertia: [0.01, 0.01, 0.01]}
dof: [x, y, z]
legs:
- name: gantry
  kind: chain
  bodies: {one: {mass: 1.0}, two: {mass: 1.0}}
  joints:
  - {name: x, kind: prismatic, between: [base, one], at: AT, axis: [1, 0, 0], actuated: true}
  - {name: y, kind: prismatic, between: [one, two], at: AT, axis: [0, 0.8, 0.6], actuated: true}
  - {name: z, kind: prismatic, between: [two, platform], at: [0.0, 0.0, 0.0], axis: [0, 0, 1], actuated: true}
"""


@pytest.mark.filterwarnings("ignore::polypod.errors.ImplausibleWarning")
@pytest.mark.parametrize("apart", ["[0.0, 0.0, 0.0]", "[0.002, 0.0, 0.0]"])
def test_slides_drawn_in_one_point_travel_far(apart: str) -> None:
    """A leg's size was the distance of its joints, a millimetre here: forward kinematics took a step of 0.4 mm at a
    time and gave up (cable-camera: 2,553 of 2,700 poses). Closed form: x = a, y = 0.8 b, z = 0.6 b + c."""
    model = pp.Model(pp.loads(GANTRY.replace("AT", apart)))
    q = np.random.default_rng(3).uniform(-8.0, 8.0, (50, 3))
    found = model.forward_kinematics(q, full_output=True)
    wanted = np.stack([q[:, 0], 0.8 * q[:, 1], 0.6 * q[:, 1] + q[:, 2]], axis=1)
    np.testing.assert_allclose(found.pose[:, :3, 3], wanted, rtol=0, atol=1e-13)
    assert found.steps.max() < 30


def scaled(data: Any, size: float, field: str = "") -> Any:
    """A robot of chain legs with all its lengths times a number."""
    if isinstance(data, dict):
        return {name: scaled(value, size, name) for name, value in data.items()}
    if field in ("at", "com", "position", "inertia"):
        return (np.asarray(data) * size ** (2 if field == "inertia" else 1)).tolist()
    return [scaled(value, size, field) for value in data] if isinstance(data, list) else data


@pytest.mark.filterwarnings("ignore::polypod.errors.ImplausibleWarning")
@pytest.mark.parametrize("seed", mostly_long((7, 15, 21, 30), (21,)))
def test_machines_of_a_millimetre_lose_no_pose(seed: int) -> None:
    """Newton's matrix mixed lengths and angles: of these 14 of 277, 20 of 63, 15 of 246 were lost at a thousandth."""
    model = pp.Model(pp.loads(json.dumps(scaled(composed(seed), 1e-3))))
    assert model.size < 1e-3
    space = workspace(model, f"composed {seed}", 200)
    assert len(space.q) > 30
    assert found_from(model, space, None)[1:3] == (0, 0)
    assert found_from(model, space, pose_of(model, 0.97 * space.x))[1:3] == (0, 0)


def test_a_pose_with_a_leg_near_its_own_singularity_is_found() -> None:
    """At a margin of 5e-4 one step of Newton from a gap of 1e-10 left more than what counts as found."""
    model = pp.Model("delta-4")
    pose = model.motion([0.40014105009518897, 0.4580963706827952, 0.27122740478283247, -0.0037241617787783]).pose
    q, quality = model.kernel("inverse_kinematics")(pose[None])
    assert quality[0] < 1e-3
    found = model.forward_kinematics(q[0], pose, full_output=True)
    assert found.status == ForwardKinematicsStatus.OUTSIDE_LIMITS
    assert np.abs(found.pose - pose).max() < 1e-12


def test_coordinates_without_a_pose_are_said_to_have_none_found() -> None:
    model = model_of("ankle-g1")
    q = model.inverse_kinematics(model.robot.home.matrix)
    with refused(StateError, code="not_converged"):
        model.forward_kinematics(q + np.array([2.5, -2.5]))


@pytest.mark.long
def test_assembly_modes_hold_the_pose_that_they_come_from(tmp_path: Path) -> None:
    """CaPaMan had no mode in 5 of 8 states; a mode in another working mode could not be drawn."""
    model = model_of("capaman")
    pose = np.array([state["pose"] for state in POSES["capaman"][:3]])
    q = model.inverse_kinematics(pose)
    modes = model.assembly_modes(q, reach=False)
    assert (np.abs(modes.pose - pose[:, None]).max(axis=(2, 3)) < 1e-9).any(axis=1).all()
    assert modes.own_branch[np.isfinite(modes.pose[..., 0, 0])].all()
    one = model.assembly_modes(q[0], reach=False)
    modes_picture(model.robot, q[0], one).savefig(tmp_path / "modes.png")


# -- exported ----------------------------------------------------------------------------------------------------------


SEARCHED = [("pedrammehr", 60)]
EVERY = [("par4", 60)] + [(name, 300) for name in (*pp.library(), *GIVEN)]


@needs_compiler
@pytest.mark.parametrize("case", mostly_long([*SEARCHED, *EVERY], SEARCHED, lambda case: "{}-{}".format(*case)))
def test_c_and_javascript_check_their_answers_and_look_about_the_guess(case: tuple[str, int], tmp_path: Path) -> None:
    """From home, by exported code alone: of pedrammehr 1.3 % of the poses were not found, of eclipse 5.7 %."""
    name, count = case
    model = model_of(name)
    space = hard_states(model, name, count)
    for found in (by_c(model, space.q, tmp_path), by_javascript(model, space.q, tmp_path, evaluated)):
        assert judged(model, space, found)[:3] == (len(space.q), 0, 0)


# -- the whole ---------------------------------------------------------------------------------------------------------


def study(model: pp.Model, name: str, count: int) -> None:
    """By every route (`support/forward_study.py`): nothing wrong, 99.9 % found."""
    for route, row in routes(model, name, count).items():
        assert row.wrong == 0, route
        assert row.none <= 1e-3 * row.states + 1, route


@pytest.mark.long
@pytest.mark.parametrize("name", dict.fromkeys([*pp.library(), *GIVEN]))
def test_the_whole_workspace_of_library_and_files(name: str) -> None:
    study(model_of(name), name, 10_000)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", [*GENERATED, *COUPLED])
def test_the_whole_workspace_of_random_machines(name: str, seed: int) -> None:
    study(pp.Model(pp.Robot.model_validate((GENERATED | COUPLED)[name](seed))), name, 4_000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100))
def test_the_whole_workspace_of_composed_machines(seed: int) -> None:
    study(pp.Model(pp.loads(json.dumps(composed(seed)))), "composed", 2_000)
