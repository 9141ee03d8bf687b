"""Accuracy: first order against differences and robots drawn at random, bounds against the worst robots."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import Growth, Tolerance, Tolerances, budget, load_tolerances, scatter, worst_case
from polypod.analysis.accuracy.sources import Solver, closures_of, sources_of
from polypod.description.poses import displace, displacement
from polypod.errors import InputError, ToleranceFileError, UnknownNameError
from support.command_line import polypod
from support.refusals import refused, says

ModelOf = Callable[[str], pp.Model]
FILE = """
parameters:
  legs.*.base: {distribution: uniform, within: 0.05 mm}
  legs.leg2.platform: {distribution: normal, sigma: 20 um}
encoder_step: 1 um
backlash: 5 um
growth:
  - {name: base plate, parameters: [legs.*.base], expansion: 12e-6, temperature: {distribution: uniform, within: 10}}
  - {name: legs, actuators: true, expansion: 12e-6, temperature: {distribution: uniform, within: 5}}
"""


@pytest.fixture(scope="module")
def tolerances(tmp_path_factory: pytest.TempPathFactory) -> Tolerances:
    path = tmp_path_factory.mktemp("tolerances") / "tolerances.yaml"
    path.write_text(FILE, encoding="utf-8")
    return load_tolerances(path)


def uniform(within: float) -> Tolerance:
    return Tolerance(distribution="uniform", within=within)


def test_first_order_is_the_slope_of_forward_kinematics(model_of: ModelOf) -> None:
    """One coordinate of one joint is off: the displacement of the exact pose, by differences."""
    model = model_of("pedrammehr")
    pose = model.robot.home.matrix
    found = budget(model, Tolerances(parameters={"legs.3.base": uniform(1e-5)}), pose)
    assert found.names == ("legs.3.base",)
    q, moved = model.inverse_kinematics(pose), []
    base = np.array(model.robot.legs[3].base)
    directions = np.array([[0.6, -0.48, 0.64]])
    for axis in directions:
        ends = []
        for sign in (1, -1):
            legs = list(model.robot.legs)
            legs[3] = legs[3].model_copy(update={"base": tuple((base + sign * 1e-5 * axis).tolist())})
            other = pp.Model(model.robot.model_copy(update={"legs": tuple(legs)}))
            ends.append(other.forward_kinematics(q, pose))
        moved.append(displacement(ends[1], ends[0][None])[0] / 2e-5)
    off = Tolerances(parameters={"legs.3.base": uniform(1e-5)})
    source = sources_of(model, off, pose[None])[0]
    derivatives = np.linalg.inv(model.jacobian(pose)) @ source.columns[0]
    assert np.allclose(derivatives @ directions[0], moved[0], rtol=1e-6, atol=1e-9)
    assert np.allclose(found.bound, np.abs(derivatives).sum(axis=1) * 1e-5, rtol=1e-9, atol=0)
    assert np.allclose(found.deviation, np.linalg.norm(derivatives, axis=1) * 1e-5 / np.sqrt(3), rtol=1e-9, atol=0)


def test_encoders_and_growth_in_closed_form(model_of: ModelOf) -> None:
    """All legs too long by one part in 1000 at a symmetric home raise the platform; encoders act through J^-1."""
    model = model_of("hexapod")
    home = model.robot.home.matrix
    q, inverse = model.inverse_kinematics(home), np.linalg.inv(model.jacobian(home))
    grown = Growth(name="legs", actuators=True, expansion=1e-5, temperature=uniform(2.0))
    found = budget(model, Tolerances(growth=(grown,)))
    assert np.allclose(found.bound, np.abs(inverse @ (2e-5 * q)), rtol=1e-10, atol=1e-18)
    assert np.argmax(found.bound[:3]) == 2
    stepped = budget(model, Tolerances(encoder_step=2e-6))
    assert np.allclose(stepped.bound, np.abs(inverse).sum(axis=1) * 1e-6, rtol=1e-12, atol=0)
    assert len(stepped.names) == 6
    # base and platform that grow with the legs make the robot larger: its height grows by the same part
    whole = Growth(name="all", parameters=("legs.*.base", "legs.*.platform"), actuators=True, expansion=1e-5,
                   temperature=uniform(1.0))  # fmt: skip
    larger = budget(model, Tolerances(growth=(whole,)))
    assert np.allclose(larger.bound, [0, 0, 0.4e-5, 0, 0, 0], atol=1e-12)
    # what one warm base moves along z alone to first order has a bound too, of second order in the others
    warm = Tolerances(growth=(Growth(name="base", parameters=("legs.*.base",), actuators=True, expansion=12e-6,
                                     temperature=uniform(10.0)),))  # fmt: skip
    bound, first = worst_case(model, warm).bound, budget(model, warm).bound
    assert first[2] < bound[2] < 1.001 * first[2]
    assert (np.delete(bound, 2) < 0.01 * bound[2]).all()


def test_robots_drawn_at_random_scatter_as_first_order_says(model_of: ModelOf, tolerances: Tolerances) -> None:
    model = model_of("hexapod")
    found, drawn = budget(model, tolerances), scatter(model, tolerances, samples=1500)
    assert drawn.lost == 0
    # 1500 samples tell a standard deviation to 2 %: four of that
    assert np.allclose(drawn.deviation, found.deviation, rtol=0.08, atol=0)
    assert found.share.sum() == pytest.approx(1.0, rel=1e-12)
    assert (np.diff(found.share) <= 0).all()
    assert found.parts.shape == (len(found.names), 6)


def test_no_robot_within_the_tolerances_exceeds_the_bound(model_of: ModelOf) -> None:
    """Corners of the box, the worst of first order among them, solved exactly: bounds hold and are not idle."""
    model = model_of("hexapod")
    wide = Tolerances(parameters={"legs.*.base": uniform(1e-4), "legs.*.platform": uniform(1e-4)}, backlash=1e-4)
    bound, first = worst_case(model, wide).bound, budget(model, wide).bound
    assert (bound > first).all()
    assert (bound < 1.5 * first).all()
    home = model.robot.home.matrix
    q, inverse = model.inverse_kinematics(home), np.linalg.inv(model.jacobian(home))
    points = {name: np.array([getattr(leg, name) for leg in model.robot.legs]) for name in ("base", "platform")}
    along = points["platform"] + home[:3, 3] - points["base"]
    n = along / np.linalg.norm(along, axis=1)[:, None]
    worst = np.zeros(6)
    for k in range(6):
        for sign in (1, -1):
            # errors that first order says are worst for component k
            push = sign * np.sign(inverse[k])
            base, platform = points["base"] + 1e-4 * np.sign(push[:, None] * n), points["platform"].copy()
            platform = platform - 1e-4 * np.sign(push[:, None] * n)
            x = np.zeros(6)
            goal = q + 5e-5 * push
            for _ in range(20):
                pose = displace(home[None], x[None])[0]
                reach = pose[:3, 3] + platform @ pose[:3, :3].T - base
                x = x + inverse @ (goal - np.linalg.norm(reach, axis=1))
            assert np.abs(goal - np.linalg.norm(reach, axis=1)).max() < 1e-12
            worst = np.maximum(worst, np.abs(x))
    assert (worst <= bound).all()
    assert (worst > 0.8 * first).all()


def test_what_cannot_be_answered_is_an_error_that_says_why(model_of: ModelOf) -> None:
    with refused(InputError, "staicu", code="no_effect"):
        budget(model_of("staicu"), Tolerances(parameters={"legs.*.length": uniform(1e-5)}))
    assert budget(model_of("delta"), Tolerances(encoder_step=1e-5)).bound[:3].min() > 0
    with refused(InputError, "direction"):
        budget(model_of("hexapod"), Tolerances(parameters={"legs.*.axis": uniform(1e-5)}))
    with refused(UnknownNameError, "legs.*.bass"):
        budget(model_of("hexapod"), Tolerances(parameters={"legs.*.bass": uniform(1e-5)}))
    with refused(InputError, "tolerances", code="missing"):
        budget(model_of("hexapod"), Tolerances())


@pytest.mark.parametrize(
    ("name", "at", "components"),
    [
        ("five-bar", [0.01, -0.02], 3),
        pytest.param("agile-eye", [0.1, -0.2, 0.15], 3, marks=pytest.mark.long),
        pytest.param("tricept", [0.1, -0.15, -0.1], 6, marks=pytest.mark.long),
    ],
)
def test_actuators_that_are_off_move_platforms_held_more_than_once_or_by_iterated_legs(
    name: str, at: list[float], components: int, model_of: ModelOf
) -> None:
    """Forward kinematics at all corners of what encoders leave open: bounds hold, and the worst corner is near them."""
    model, step = model_of(name), 1e-4
    pose = np.asarray(model.motion(np.array(at)).pose)
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=len(at)))) * step
    moved = np.asarray(model.forward_kinematics(model.inverse_kinematics(pose) + corners, pose))
    turns = Rotation.from_matrix(moved[:, :3, :3] @ pose[:3, :3].T).as_rotvec()
    worst = np.abs(np.concatenate([moved[:, :3, 3] - pose[:3, 3], turns], axis=1)).max(axis=0)
    bound = worst_case(model, Tolerances(encoder_step=step), pose).bound
    assert (worst <= bound).all()
    moving = worst > 1e-12
    assert moving.sum() == components
    assert (worst[moving] > 0.95 * bound[moving]).all()


@pytest.mark.long
def test_bounds_of_all_orders_hold_for_other_legs(model_of: ModelOf) -> None:
    """Robots on rails drawn at random, and one of fewer degrees of freedom: within the bound, which is near first
    order."""
    off = Tolerances(parameters={"legs.*.platform": uniform(5e-5), "legs.*.length": uniform(5e-5)}, encoder_step=2e-5)
    model = model_of("lopes")
    bound, first = worst_case(model, off).bound, budget(model, off).bound
    drawn = np.abs(scatter(model, off, samples=300).displacement).max(axis=0)
    assert (drawn <= bound).all()
    assert (drawn > 0.2 * bound).all()
    assert ((first < bound) & (bound < 1.3 * first)).all()
    steps = Tolerances(encoder_step=1e-4)
    delta = model_of("linear-delta")
    bound, first = worst_case(delta, steps).bound, budget(delta, steps).bound
    assert (bound[:3] >= first[:3]).all()
    assert (bound[:3] < 1.01 * first[:3]).all()
    assert (bound[3:] == 0).all()
    places = Tolerances(parameters={"legs.*.joints.*.at": uniform(1e-5)})
    pose = np.asarray(delta.motion(np.array([0.03, 0.02, -0.05])).pose)
    bound, first = worst_case(delta, places, pose).bound, budget(delta, places, pose).bound
    drawn = np.abs(scatter(delta, places, pose, samples=300).displacement).max(axis=0)
    assert ((drawn <= bound) & (drawn > 0.2 * bound)).all()
    assert ((first < bound) & (bound < 1.5 * first)).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parameters: {legs.*.base: {within: 0.05 mm}}", "line 1 distribution"),
        ("parameters:\n  legs.*.base: {distribution: uniform, sigma: 1 um}", "line 2 within"),
        ("parameters:\n  legs.*.base: {distribution: normal, within: 1 um}", "line 2 sigma"),
        ("parameters: {legs.*.base: 0.05 mm}", "distribution uniform normal"),
        ("encoder: 1 um", "encoder_step"),
    ],
)
def test_files_without_a_distribution_or_with_slips(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "tolerances.yaml"
    path.write_text(text, encoding="utf-8")
    with refused(ToleranceFileError, words):
        load_tolerances(path)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "tolerances.yaml"
    path.write_text(FILE, encoding="utf-8")
    result = polypod("accuracy", "hexapod", path, "--samples", "0", "--most", "3", "--at", "z=5mm")
    assert result.exit_code == 0, result.output
    says(result.output, "z=5mm")
    says(result.output, "orders")
    says(result.output, "18")


def test_robots_whose_platforms_follow_are_drawn_at_random_too(model_of: ModelOf) -> None:
    off = Tolerances(encoder_step=1e-4)
    model = model_of("five-bar")
    drawn = scatter(model, off, samples=400)
    assert drawn.lost == 0
    assert drawn.deviation[:2] == pytest.approx(budget(model, off).deviation[:2], rel=0.15)  # 400 draws: 3.5 % each
    assert drawn.deviation[5] > 0  # the link that carries the tool turns


def _with_joint_at(robot: pp.Robot, leg: int, joint: int, at: np.ndarray) -> pp.Robot:
    legs = list(robot.legs)
    joints = list(legs[leg].joints)
    joints[joint] = joints[joint].model_copy(update={"at": tuple(at.tolist())})
    legs[leg] = legs[leg].model_copy(update={"joints": tuple(joints)})
    return robot.model_copy(update={"legs": tuple(legs)})


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("3-rps", [0.03, 0.2, -0.15]),
        pytest.param("3-prs", [0.03, 0.2, -0.15], marks=pytest.mark.long),
        pytest.param("tricept", [0.1, -0.15, -0.1], marks=pytest.mark.long),
    ],
)
def test_platforms_that_follow_are_displaced_in_six_components(model_of: ModelOf, name: str, x: list[float]) -> None:
    """Against forward kinematics of robots with another number, and with another coordinate: whole poses."""
    model = model_of(name)
    pose = np.asarray(model.motion(np.array(x)).pose)
    q, step = model.inverse_kinematics(pose), 1e-6
    leg, joint = 1, len(model.robot.legs[1].joints) - 1
    at = np.array(model.robot.legs[leg].joints[joint].at)
    direction = np.array([0.48, 0.6, 0.64])
    off = Tolerances(parameters={f"legs.{leg}.joints.{joint}.at": uniform(1e-5)}, encoder_step=2 * step)
    solver = Solver(model, closures_of(model, off).at(pose[None]).rows)
    place, *encoders = sources_of(model, off, pose[None])
    linear = solver(place.columns @ direction[:, None])[0][0, :, 0]
    ends = [
        np.asarray(pp.Model(_with_joint_at(model.robot, leg, joint, at + s * direction)).forward_kinematics(q, pose))
        for s in (step, -step)
    ]
    exact = displacement(ends[1], ends[0][None])[0] / (2 * step)
    assert np.abs(exact).min() > 1e-4  # no component stays
    assert np.allclose(linear, exact, rtol=1e-4, atol=1e-7)
    # robots drawn at random: 600 tell a standard deviation to 3 %
    drawn, found = scatter(model, off, pose, samples=600), budget(model, off, pose)
    assert drawn.lost == 0
    assert np.allclose(drawn.deviation, found.deviation, rtol=0.12, atol=0)
    # encoders, q by q
    moved = [np.asarray(model.forward_kinematics(q + step * np.eye(3)[i], pose)) for i in range(3)]
    linear = np.array([step * solver(source.columns)[0][0, :, 0] for source in encoders])
    assert np.allclose(linear, displacement(pose, np.array(moved)), rtol=1e-4, atol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize(("name", "x"), [("3-rps", [0.03, 0.2, -0.15]), ("tricept", [0.1, -0.15, -0.1])])
def test_bounds_of_all_orders_hold_for_platforms_that_follow(model_of: ModelOf, name: str, x: list[float]) -> None:
    """Rebuilt with all balls where first order says that x and yaw are worst; an exact 3-RPS leaves these at zero.

    The tricept's middle leg is closed by iterating.
    """
    model = model_of(name)
    pose = np.asarray(model.motion(np.array(x)).pose)
    off = Tolerances(parameters={"legs.*.joints.2.at": uniform(1e-4)})
    bound, first = worst_case(model, off, pose).bound, budget(model, off, pose).bound
    assert (bound > first).all()
    assert (bound < 1.1 * first).all()
    solver = Solver(model, closures_of(model, off).at(pose[None]).rows)
    derivatives = [solver(source.columns)[0][0] for source in sources_of(model, off, pose[None])]
    q = model.inverse_kinematics(pose)
    for k in (0, 5):
        robot = model.robot
        for leg, slope in enumerate(derivatives):
            at = np.array(robot.legs[leg].joints[2].at)
            robot = _with_joint_at(robot, leg, 2, at + 1e-4 * np.sign(slope[k]))
        rebuilt = pp.Model(robot)
        found = np.asarray(rebuilt.forward_kinematics(q, rebuilt.motion(np.array(x)).pose))
        exact = displacement(pose, found[None])[0]
        assert (np.abs(exact) <= bound).all()
        assert abs(exact[k]) > 0.9 * first[k]


@pytest.mark.long
@pytest.mark.parametrize("name", ["planar-3-rrr", "reachy-mini", "delta"])
def test_bounds_of_legs_forced_to_iterate_are_those_of_their_closed_forms(name: str) -> None:
    """Two ways to the same bound: both hold it, neither by more than a twentieth."""
    robot = pp.load(name)
    legs = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    forced = pp.Model(pp.loads(pp.dumps(robot.model_copy(update={"legs": legs}))))
    assert forced.kernels.mechanism.implicit_legs
    steps = Tolerances(encoder_step=1e-4)
    bounds = [worst_case(model, steps).bound for model in (pp.Model(robot), forced)]
    first = budget(forced, steps).bound
    moving = first > 1e-12
    for bound in bounds:
        assert ((first <= bound) & (bound < 1.05 * first))[moving].all()


@pytest.mark.parametrize(
    ("name", "at"),
    [("planar-3-rrr", [0.02, -0.03, 0.1]), pytest.param("five-bar", [0.01, -0.02], marks=pytest.mark.long)],
)
def test_bounds_of_geometry_that_overconstrained_legs_take_without_strain(
    model_of: ModelOf, name: str, at: list[float]
) -> None:
    """Hinges with parallel axes, each off in the plane where first order says that the turn is worst, rebuilt."""
    model = model_of(name)
    pose = np.asarray(model.motion(np.array(at)).pose)
    off = Tolerances(parameters={"legs.*.joints.1.at": uniform(1e-5)})
    bound, first = worst_case(model, off, pose).bound, budget(model, off, pose).bound
    moving = first > 1e-12
    assert list(np.flatnonzero(moving)) == [0, 1, 5]
    assert ((first < bound) & (bound < 1.1 * first))[moving].all()
    assert (bound[~moving] < 1e-12).all()
    solver = Solver(model, closures_of(model, off).at(pose[None]).rows)
    robot = model.robot
    for source in sources_of(model, off, pose[None]):
        _, leg, _, joint, _ = source.name.split(".")
        push = 1e-5 * np.sign(np.round(solver(source.columns)[0][0, 5], 9)) * [1, 1, 0]
        robot = _with_joint_at(robot, int(leg), int(joint), np.array(robot.legs[int(leg)].joints[int(joint)].at) + push)
    rebuilt = pp.Model(pp.loads(pp.dumps(robot)))
    guess = rebuilt.motion(np.array(at)).pose
    found = np.asarray(rebuilt.forward_kinematics(model.inverse_kinematics(pose), guess))
    exact = displacement(pose, found[None])[0]
    assert (np.abs(exact) <= bound).all()
    assert abs(exact[5]) > 0.95 * first[5]


def test_errors_that_strain_legs_are_refused(model_of: ModelOf) -> None:
    """Nine constraints hold three degrees of freedom: an axis beside the common point is no robot, a larger robot is
    one."""
    model = model_of("agile-eye")
    pose = np.asarray(model.motion(np.array([0.1, 0.2, -0.1])).pose)
    with refused(InputError, code="strain"):
        budget(model, Tolerances(parameters={"legs.0.joints.1.at": uniform(1e-5)}), pose)
    assert (budget(model, Tolerances(encoder_step=1e-5), pose).bound[3:] > 0).all()


@pytest.mark.long
def test_bounds_are_refused_where_legs_may_be_strained(model_of: ModelOf) -> None:
    """An agile eye with an axis beside the common point; one that is larger as a whole stays where it is."""
    model = model_of("agile-eye")
    pose = np.asarray(model.motion(np.array([0.1, 0.2, -0.1])).pose)
    with refused(InputError, code="strain_unproven"):
        worst_case(model, Tolerances(parameters={"legs.0.joints.1.at": uniform(1e-5)}), pose)
    larger = Growth(name="g", parameters=("legs.*.joints.*.at",), expansion=1.2e-5, temperature=uniform(10.0))
    assert (worst_case(model, Tolerances(growth=(larger,)), pose).bound < 1e-13).all()
