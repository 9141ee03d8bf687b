"""States without an answer: which leg, what and by how much is reported, and no other state is harmed."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

import polypod as pp
from polypod.description import ConeLimit
from polypod.errors import ImplausibleWarning, StateError, StateWarning
from polypod.model import ForwardKinematicsStatus
from support import states as sample
from support.refusals import refused, warned
from support.robots.random_robots import symmetric_robot
from support.states import basis, displaced

ZERO = np.zeros(6)
METHODS = [name for name in dir(pp.Model) if not name.startswith("_") and callable(getattr(pp.Model, name))]


# -- poses out of reach ----------------------------------------------------------------------------------------------


def without_warning(function: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function()


def test_a_pose_out_of_reach_says_which_leg_and_by_how_much(model_of: Any) -> None:
    """Lopes' rails are vertical: the distance from rail to platform joint in the plan, minus the link's length."""
    model = model_of("lopes")
    pose = model.robot.home.matrix.copy()
    pose[0, 3] += 0.9
    excess = {}
    for leg in model.robot.legs:
        joint = pose[:3, 3] + np.array(leg.platform)
        excess[leg.name] = np.hypot(*(joint - leg.rail_start)[:2]) - leg.length
    beyond = {name: value for name, value in excess.items() if value > 0}
    assert 0 < len(beyond) < 6
    for method in ("inverse_kinematics", "jacobian", "mass_matrix", "gravity", "bodies"):
        with refused(StateError, method.replace("gravity", "bias"), code="leg") as caught:
            getattr(model, method)(pose)
        (reason,) = caught.value.reasons
        messages = dict(
            re.findall(
                r"(leg\d): the platform joint is farther from the rail than the link is long \(([\d.e+-]+) m\)", reason
            )
        )
        assert set(messages) == set(beyond)
        for name, value in beyond.items():
            assert float(messages[name]) == pytest.approx(value, rel=1e-5)
    assert np.array_equal(caught.value.index, [0])


def test_staicu_out_of_reach(model_of: Any) -> None:
    """y = 0.28: leg A needs R - r + y = 0.43 m, its link has 0.4."""
    model = model_of("staicu")
    with refused(StateError, "A 0.03", code="leg") as caught:
        model.inverse_kinematics(model.motion([0.28, 0.0, 0.0]).pose)
    assert "B:" not in caught.value.reasons[0]


def test_an_aligned_leg_is_named(model_of: Any) -> None:
    """The leg lies along its universal joint's base axis: everything that turns with the joint has no answer."""
    model = model_of("pedrammehr")
    for leg in (0, 3):
        pose = sample.aligned_pose(model, leg, 1e-9)
        for call_it in (
            lambda p: model.inverse_dynamics(p, np.ones(6), ZERO),
            lambda p: model.direct_dynamics(p, np.ones(6), ZERO),
            model.mass_matrix,
            lambda p: model.bias(p, np.ones(6)),
            lambda p: model.energy(p, np.ones(6)),
            model.bodies,
            lambda p: model.reactions(p, np.ones(6), ZERO),
        ):
            with refused(StateError, f"leg{leg + 1}", code="leg"):
                call_it(pose)


def test_coincident_joints_are_named(model_of: Any) -> None:
    model = model_of("pedrammehr")
    pose = model.robot.home.matrix.copy()
    pose[:3, 3] = np.subtract(model.robot.legs[2].base, model.robot.legs[2].platform)
    with refused(StateError, "leg3", code="leg"):
        model.inverse_kinematics(pose)


def test_a_result_too_large_for_a_number_is_not_called_singular(model_of: Any) -> None:
    model = model_of("pedrammehr")
    with refused(StateError, code="overflow"):
        model.inverse_dynamics(model.robot.home.matrix, ZERO, np.full(6, 1e308))


def test_coordinates_that_no_pose_has_are_reported(model_of: Any) -> None:
    """Of one state NaN was returned without a word."""
    model = model_of("3-rps")
    far = [1e300, 0.0, 0.0]
    with refused(StateError, "motion", code="not_converged"):
        model.motion(far)
    with warned(StateWarning, "motion 1 2 0", code="not_converged"):
        moved = model.motion([far, np.zeros(3)])
    np.testing.assert_allclose(moved.pose[1], model.robot.home.matrix, rtol=0, atol=1e-15)
    for some in (moved, model.motion([far, np.zeros(3)], errors="nan")):
        assert all(np.isnan(part[0]).all() for part in some)
    with pytest.raises(StateError) as caught:
        model.motion([far, np.zeros(3)], errors="raise")
    assert list(caught.value.index) == [0]


# -- singular poses --------------------------------------------------------------------------------------------------


def test_a_singular_pose_is_reported(model: pp.Model) -> None:
    """Found as a sign change of det J: forces are not determined there, while motion still is."""
    pose, way = sample.singular_pose(model)
    conditioning = model.conditioning(pose)
    assert conditioning.distance < 1e-9
    assert conditioning.condition > 1e8
    twist = 0.1 * basis(model.robot)[:, 0]
    for solve in (model.inverse_dynamics, model.reactions):
        with refused(StateError, code="singular"):
            solve(pose, twist, ZERO)
    without_warning(lambda: model.jacobian(pose))
    acceleration = without_warning(
        lambda: model.direct_dynamics(pose, twist, np.ones(len(model.actuators)), friction=False)
    )
    assert np.isfinite(acceleration).all()
    # A little aside there is an answer, and the conditioning says how near the singularity is.
    aside = displaced(pose, 1e-4 * way / np.linalg.norm(way))
    assert np.isfinite(model.inverse_dynamics(aside, twist, ZERO, friction=False)).all()
    assert 1e-9 < model.conditioning(aside).distance < 1e-2


def test_dry_friction_that_grows_without_end_is_never_silently_wrong(model_of: Any) -> None:
    """Close to a singular pose reactions and Coulomb friction feed each other: an answer is one, or there is none."""
    model = model_of("kim-ryu")
    pose, way = sample.singular_pose(model)
    steps = np.r_[1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2]
    poses = np.array([displaced(pose, step * way / np.linalg.norm(way)) for step in steps])
    twist = 0.1 * np.eye(6)[0]
    force = model.inverse_dynamics(poses, twist, ZERO, errors="nan")
    answered = np.isfinite(force).all(axis=1)
    assert not answered[0]
    assert answered[-1]
    for one, answer in zip(poses, force, strict=True):
        if np.isnan(answer).any():
            with refused(StateError, code=("friction", "overflow")):
                model.inverse_dynamics(one, twist, ZERO)
        else:
            again = model.direct_dynamics(one, twist, answer)
            assert np.abs(again).max() < 1e-12 * np.abs(answer).max()


def test_a_quarter_turn_of_a_symmetric_robot_is_singular() -> None:
    """Fichter's singularity: exactly 90 degrees about the axis of symmetry, at any height."""
    model = pp.Model(pp.Robot.model_validate(symmetric_robot()))
    for height in (0.6, 1.0):
        pose = displaced(np.eye(4), np.r_[0, 0, height, 0, 0, np.pi / 2])
        assert model.conditioning(pose).distance < 1e-15
        with refused(StateError, code="singular"):
            model.inverse_dynamics(pose, ZERO, ZERO)
        near = displaced(np.eye(4), np.r_[0, 0, height, 0, 0, np.pi / 2 - 0.01])
        assert np.isfinite(model.inverse_dynamics(near, ZERO, ZERO)).all()


# -- one bad state in a batch ----------------------------------------------------------------------------------------


def bad_states(model: pp.Model) -> list[Any]:
    """A singular pose, and one out of reach or with an aligned leg."""
    bad = [sample.singular_pose(model)[0]]
    if model.robot.legs[0].kind == "UPS":
        return [*bad, sample.aligned_pose(model, 1, 0.0)]
    return [*bad, displaced(model.robot.home.matrix, 5.0 * basis(model.robot)[:, 0])]


def test_bad_states_spoil_no_others(model: pp.Model) -> None:
    """In every place of a vector the others are bit for bit what they are without it."""
    s = sample.easy(model, 20)
    wanted = model.inverse_dynamics(*s[:4])
    for bad in bad_states(model):
        for place in (0, 3, 8, 19):
            poses = s.pose.copy()
            poses[place] = bad
            with warned(StateWarning, f"inverse_dynamics 1 20 {place}"):
                got = model.inverse_dynamics(poses, *s[1:4])
            assert np.isnan(got[place]).all()
            others = np.delete(np.arange(20), place)
            assert np.array_equal(got[others], wanted[others])


def test_policies(model: pp.Model) -> None:
    s = sample.easy(model, 6)
    poses = s.pose.copy()
    poses[2] = poses[4] = bad_states(model)[1]
    wanted = model.inverse_dynamics(*s[:4])
    with refused(StateError, "2 6 4") as caught:
        model.inverse_dynamics(poses, *s[1:4], errors="raise")
    error = caught.value
    assert np.array_equal(error.index, [2, 4])
    assert len(error.reasons) == 2
    quiet = without_warning(lambda: model.inverse_dynamics(poses, *s[1:4], errors="nan"))
    assert np.array_equal(error.result, quiet, equal_nan=True)
    assert np.isnan(quiet[[2, 4]]).all()
    assert np.array_equal(quiet[[0, 1, 3, 5]], wanted[[0, 1, 3, 5]])
    with warned(StateWarning, "2 6"):
        loud = model.inverse_dynamics(poses, *s[1:4], errors="warn")
    assert np.array_equal(loud, quiet, equal_nan=True)
    # One state raises, unless asked otherwise.
    one = (poses[2], s.twist[2], s.acceleration[2])
    with refused(StateError, "inverse_dynamics"):
        model.inverse_dynamics(*one)
    assert np.isnan(without_warning(lambda: model.inverse_dynamics(*one, errors="nan"))).all()
    with pytest.warns(StateWarning):
        assert np.isnan(model.inverse_dynamics(*one, errors="warn")).all()


@pytest.mark.parametrize("robot", sample.mostly_long(("pedrammehr", "kim-ryu", "staicu"), ("staicu",)))
def test_the_error_carries_what_the_call_would_return(robot: str, model_of: Any) -> None:
    """For every method with a policy: the same as with ``nan``, in the same form."""
    model = model_of(robot)
    s = sample.easy(model, 4)
    pose = s.pose.copy()
    pose[1] = bad_states(model)[1]
    arguments = s._asdict() | {"pose": pose, "friction": False, "qdot": s.force, "qddot": s.force}
    for method in METHODS:
        parameters = inspect.signature(getattr(model, method)).parameters
        # without elements "elements" has nothing to say of any state
        others = ("forward_kinematics", "derivatives", "elements", "regressor", "jax", "torch")
        if "errors" not in parameters or "pose" not in parameters or method in others:
            continue
        taken = {name: value for name, value in arguments.items() if name in parameters}
        quiet = without_warning(lambda m=method, t=taken: getattr(model, m)(**t, errors="nan"))
        with pytest.raises(StateError) as caught:
            getattr(model, method)(**taken, errors="raise")
        assert type(caught.value.result) is type(quiet), method
        assert repr(caught.value.result) == repr(quiet), method


def test_many_bad_states_are_reported_in_few_words(model_of: Any) -> None:
    model = model_of("lopes")
    far = np.tile(model.robot.home.matrix, (1000, 1, 1))
    far[:, 0, 3] = 5.0
    with refused(StateError, "1000") as caught:
        model.inverse_kinematics(far, errors="raise")
    assert len(str(caught.value)) < 3000
    assert len(caught.value.index) == 1000


def test_conditioning_of_a_pose_out_of_reach(model_of: Any) -> None:
    model = model_of("lopes")
    poses = np.array([model.robot.home.matrix, displaced(model.robot.home.matrix, np.r_[5.0, 0, 0, 0, 0, 0])])
    got = without_warning(lambda: model.conditioning(poses))
    assert got.distance[0] > 0.1
    assert got.distance[1] == 0.0
    assert got.condition[1] == np.inf


# -- forward kinematics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["kim-ryu", "lopes", "staicu"])
def test_forward_kinematics_codes(robot: str, model_of: Any) -> None:
    """Converged, coordinates that no pose has, a guess where no leg closes; each reported, none harming the others.

    Robots with links of fixed length: legs that extend close everywhere.
    """
    model = model_of(robot)
    home = model.robot.home.matrix
    q = np.tile(model.inverse_kinematics(home), (4, 1))
    q[1] += 40.0 * (1 + np.arange(len(model.actuators)))
    guess = np.tile(home, (4, 1, 1))
    guess[2] = bad_states(model)[1]
    found = without_warning(lambda: model.forward_kinematics(q, guess, full_output=True))
    assert [ForwardKinematicsStatus(c) for c in found.status] == [
        ForwardKinematicsStatus.CONVERGED,
        ForwardKinematicsStatus.NOT_CONVERGED,
        ForwardKinematicsStatus.BAD_GUESS,
        ForwardKinematicsStatus.CONVERGED,
    ]
    assert np.isnan(found.pose[1:3]).all()
    assert np.abs(found.pose[[0, 3]] - home).max() < 1e-12
    assert not found.residual[1] < 1e-3
    with warned(StateWarning, "2 4 1", code="not_converged"):
        poses = model.forward_kinematics(q, guess)
    assert np.array_equal(poses, found.pose, equal_nan=True)
    with pytest.raises(StateError) as caught:
        model.forward_kinematics(q, guess, errors="raise")
    assert np.array_equal(caught.value.result.status, found.status)
    with refused(StateError, code="not_converged"):
        model.forward_kinematics(q[1])
    assert all(ForwardKinematicsStatus(c).message for c in ForwardKinematicsStatus)


def test_forward_kinematics_from_a_singular_guess_is_never_silently_wrong(model: pp.Model) -> None:
    pose, _ = sample.singular_pose(model)
    q = model.inverse_kinematics(np.array([pose, model.robot.home.matrix]))
    found = model.forward_kinematics(q, pose, full_output=True)
    assert found.status[0] in (ForwardKinematicsStatus.SINGULAR, ForwardKinematicsStatus.CONVERGED)
    assert (
        found.status[0] == ForwardKinematicsStatus.SINGULAR
        or np.abs(model.inverse_kinematics(found.pose[0]) - q[0]).max() < 1e-10
    )
    for code, got, wanted in zip(found.status, found.pose, q, strict=True):
        if code == ForwardKinematicsStatus.CONVERGED:
            assert np.abs(model.inverse_kinematics(got) - wanted).max() < 1e-10
        else:
            assert np.isnan(got).all()


def test_forward_kinematics_of_a_rigid_transform_that_is_not_found(model_of: Any) -> None:
    model = model_of("lopes")
    with refused(StateError, code="not_converged"):
        model.forward_kinematics(50.0 * np.arange(6), RigidTransform.from_matrix(model.robot.home.matrix))


# -- limits ----------------------------------------------------------------------------------------------------------


def test_rails_are_limited_by_name_and_leg(model_of: Any) -> None:
    """Kim and Ryu's rails are as long as their ends are apart."""
    model = model_of("kim-ryu")
    poses = np.tile(model.robot.home.matrix, (3, 1, 1))
    poses[1, 2, 3] += 0.35
    q = model.inverse_kinematics(poses)
    report = model.limits(poses)
    assert report.names == tuple((f"leg{k}", "rail") for k in range(1, 7))
    assert report.units == ("m",) * 6
    assert np.array_equal(report.value, q)
    length = np.linalg.norm(np.subtract([-0.2130, -0.2500, 0.3500], [-0.7380, -0.5531, 0.0]))
    assert report.high[0] == pytest.approx(length, rel=1e-15)
    assert not report.low.any()
    assert report.inside[[0, 2]].all()
    assert np.array_equal(report.inside[1], q[1] <= report.high)
    assert not report.ok
    sentences = report.violations()
    assert len(sentences) == (~report.inside[1]).sum()
    assert sentences[0] == f"leg1: rail {q[1, 0]:.6g} m is outside 0 to {length:.6g} m (state 1)"
    assert model.limits(poses[0]).ok
    assert model.limits(poses[0]).violations() == []
    assert "(state" not in model.limits(poses[1]).violations()[0]


def test_cones_and_lengths_are_limited_where_given(model_of: Any) -> None:
    """A robot given limits: a length, a cone on the base and one on the platform, checked against their geometry."""
    robot = model_of("pedrammehr").robot
    cone = ConeLimit.model_validate({"axis": [0.0, 0.0, 1.0], "half_angle": "20 deg"})
    legs = list(robot.legs)
    legs[1] = legs[1].model_copy(update={"base_cone": cone, "length": (0.3, 0.4)})
    legs[4] = legs[4].model_copy(update={"platform_cone": ConeLimit(axis=(0.0, 0.6, 0.8), half_angle=1.0)})
    model = pp.Model(pp.Robot.model_validate(robot.model_copy(update={"legs": tuple(legs)}).model_dump()))
    pose = displaced(robot.home.matrix, np.r_[0.1, 0, 0, 0.2, -0.3, 0.4])
    report = model.limits(pose)
    assert report.names == (("leg2", "length"), ("leg2", "universal joint cone"), ("leg5", "spherical joint cone"))
    assert report.units == ("m", "rad", "rad")

    def direction(leg: Any) -> Any:
        line = pose[:3, 3] + pose[:3, :3] @ leg.platform - leg.base
        return line / np.linalg.norm(line)

    angles = [np.arccos(direction(legs[1])[2]), np.arccos(direction(legs[4]) @ pose[:3, :3] @ [0.0, 0.6, 0.8])]
    np.testing.assert_allclose(report.value, [model.inverse_kinematics(pose)[1], *angles], rtol=1e-12)
    np.testing.assert_allclose(report.low, [0.3, 0.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(report.high, [0.4, np.deg2rad(20), 1.0], rtol=1e-12)
    assert np.array_equal(report.inside, (report.value <= report.high) & (report.value >= report.low))
    assert any(sentence.startswith("leg2: universal joint cone") for sentence in report.violations())


def test_a_robot_without_limits_reports_none(model_of: Any) -> None:
    model = model_of("lopes")
    for pose in (model.robot.home.matrix, np.tile(model.robot.home.matrix, (2, 1, 1)), np.zeros((0, 4, 4))):
        report = model.limits(pose)
        assert report.ok
        assert report.violations() == []
        assert report.value.shape == (*pose.shape[:-2], 0)


def test_limits_out_of_reach_are_not_kept(model_of: Any) -> None:
    model = model_of("kim-ryu")
    report = model.limits(displaced(model.robot.home.matrix, np.r_[5.0, 0, 0, 0, 0, 0]))
    assert not report.inside.any()
    assert len(report.violations()) == 6


# -- coordinates in millimetres ----------------------------------------------------------------------------------------


def test_coordinates_in_millimetres_are_suspected(model_of: Any) -> None:
    """The pose has them, so it is an answer: the platform is as far away as legs of 485 m, in every form of call."""
    model = model_of("hexapod")
    q, high = np.full(6, 485.2), model.robot.home.matrix.copy()
    near = model.inverse_kinematics(high)
    high[2, 3] += 9.5 * model.robot.farthest  # high legs, but not yet ten times the size away
    for given, options in (
        (q, {}),
        ([485.2] * 6, {}),
        (np.array([near, q, near]), {}),
        (np.tile(q, (2, 40, 1)), {}),
        (q, {"full_output": True}),
        (np.array([near, q]), {"along": True}),
        (q, {"parameters": {"platform.mass": 2.0}}),
        (q, {"guess": RigidTransform.from_matrix(model.robot.home.matrix)}),
    ):
        with warned(ImplausibleWarning, "484.8", "1000") as caught:
            found = model.forward_kinematics(given, **options)
        assert caught[0].filename == __file__
        found = found.pose if hasattr(found, "pose") else found
        found = found.as_matrix() if isinstance(found, RigidTransform) else found
        away = np.linalg.norm(found[..., :3, 3], axis=-1).max()
        assert 484.0 < away < 486.0
    for pose in (model.robot.home.matrix, high):
        found = without_warning(lambda pose=pose: model.forward_kinematics(model.inverse_kinematics(pose)))
        assert np.abs(found - pose).max() < 1e-9
