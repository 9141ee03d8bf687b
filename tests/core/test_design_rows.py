"""Calls that are more than one function of the mechanics take designs too: each is the model of the changed robot.

Both run the same code with the same numbers, in another order of rows: equal to 1e-12 of a result's size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.description import Friction
from polypod.errors import InputError, RobotFileError, StateError, StateWarning
from polypod.files import dumps, loads
from polypod.model import ClosureStatus
from support.refusals import refused, warned
from support.states import easy, mostly_long
from test_parameters import changed

CLOSE = 1e-12
Call = Callable[..., Any]


def near(model: pp.Model, paths: tuple[str, ...], count: int) -> dict[str, Any]:
    """Values (count, 1, ...) a little beside the robot's."""
    rng, own = np.random.default_rng(3), model.parameters(*paths)
    return {path: value * rng.uniform(1.0, 1.02, (count, 1, *value.shape)) for path, value in own.items()}


def rows(result: Any) -> list[Any]:
    """Arrays of a result, which may be named tuples and dictionaries of them."""
    if isinstance(result, dict):
        return [a for value in result.values() for a in rows(value)]
    if isinstance(result, tuple):
        return [a for value in result for a in rows(value)]
    return [] if isinstance(result, str) else [np.asarray(result)]  # names of joints


def assert_designs(model: pp.Model, call: Call, numbers: dict[str, Any], differ: bool = True) -> None:
    """A result has the designs' axis first, and each design's part is that of a model of the changed robot."""
    count = len(next(iter(numbers.values())))
    got = rows(call(model, parameters=numbers))
    for k in range(count):
        other = pp.Model(changed(model.robot, {path: value[k, 0] for path, value in numbers.items()}))
        wanted = rows(call(other))
        assert len(got) == len(wanted)
        assert wanted
        for one, two in zip(got, wanted, strict=True):
            assert one.shape == (count, *two.shape)
            assert np.array_equal(np.isnan(one[k]), np.isnan(two))
            assert np.nanmax(np.abs(one[k] - two), initial=0.0) <= CLOSE * np.nanmax(np.abs(two), initial=0.0)
    if not differ:
        return
    apart = [np.nanmax(np.abs(one[0] - one[1]), initial=0.0) for one in got if one.dtype.kind == "f"]
    assert max(apart) > 0, "the designs differ"


# Robots with coordinates of their own: on fixed axes, and two that move as their legs let them.
SHIFTS = {
    "planar-3-rrr": {"legs.1.joints.0.at": (0.004, 0.0, -0.003), "home.position": (0.0, 0.0, 0.0)},
    "five-bar": {"legs.0.joints.0.at": (0.002, -0.001, 0.0)},
    "3-rps": {"legs.0.joints.2.at": None, "home.position": (0.0, 0.0, 0.003)},
}


def shifted(model: pp.Model, name: str) -> dict[str, Any]:
    """The robot itself, and one with joints or home moved; (2, 1, 3) each."""
    found = {}
    for path, by in SHIFTS[name].items():
        along = 0.02 * np.array(model.robot.legs[0].joints[1].axis) if by is None else np.array(by)
        found[path] = model.parameters(path)[path] + np.array([0.0, 1.0])[:, None, None] * along
    return found


@pytest.mark.parametrize("name", mostly_long(SHIFTS, ("five-bar",)))
def test_own_coordinates(name: str, model_of: Callable[[str], pp.Model]) -> None:
    """Motions of designs are those of the changed robots, and are taken by other calls with the same numbers."""
    model = model_of(name)
    numbers, x = shifted(model, name), np.random.default_rng(4).uniform(-0.03, 0.03, (3, 3, len(model.dof)))
    assert_designs(model, lambda m, **p: m.motion(*x, **p), numbers, differ=name != "planar-3-rrr")
    moved = model.motion(*x, parameters=numbers)
    assert np.abs(model.coordinates(moved.pose, parameters=numbers) - x[0]).max() < 1e-12
    forces = model.inverse_dynamics(*moved, parameters=numbers)
    drift = model.drift_acceleration(moved.pose, moved.twist, parameters=numbers)
    codes = model.closing(moved.pose, parameters=numbers).status
    assert codes.shape == (2, 3)
    assert (codes == ClosureStatus.CLOSED).all()
    for k in range(2):
        other = pp.Model(changed(model.robot, {path: value[k, 0] for path, value in numbers.items()}))
        wanted = other.inverse_dynamics(*(a[k] for a in moved))
        assert np.abs(forces[k] - wanted).max() < CLOSE * np.abs(wanted).max()
        wanted = other.drift_acceleration(moved.pose[k], moved.twist[k])
        assert np.abs(drift[k] - wanted).max() <= CLOSE * np.abs(wanted).max()


def test_poses_that_only_another_design_can_take(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("3-rps")
    numbers = {path: value[1, 0] for path, value in shifted(model, "3-rps").items()}
    pose = model.motion([0.01, 0.1, 0.2], parameters=numbers).pose
    for call in (model.coordinates, model.inverse_kinematics):
        with refused(InputError, code="not_admissible"):
            call(pose)
    own = model.motion([[0.01, 0.1, 0.2]]).pose
    with warned(StateWarning, code="not_admissible"):
        assert np.isnan(model.coordinates(own, parameters=numbers)).all()
    found = model.closing(own, parameters=numbers)
    assert (found.status, found.leg) == (ClosureStatus.OUT_OF_REACH, -1)
    assert model.closing(pose, parameters=numbers).status == ClosureStatus.CLOSED


@pytest.mark.long
def test_codes_of_closing() -> None:
    """Legs closed by iterating: what is out of reach of one design is not of another, by the same lengths."""
    robot = pp.load("planar-3-rrr")
    legs = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    model = pp.Model(loads(dumps(robot.model_copy(update={"legs": legs}))))
    x = np.array([[0.02, 0.01, 0.1], [0.13, 0.0, 0.0]])
    pose, own = model.motion(x).pose, model.parameters("legs.*.joints.0.at")
    numbers = {path: value * np.array([1.0, 0.95])[:, None, None] for path, value in own.items()}
    got = model.closing(pose, parameters=numbers)
    assert set(got.status.ravel().tolist()) >= {ClosureStatus.CLOSED, ClosureStatus.OUT_OF_REACH}
    assert (got.status[0] != got.status[1]).any()
    assert_designs(model, lambda m, **p: m.closing(pose, **p), numbers, differ=False)


def test_friction() -> None:
    """What friction holds, and how many solutions it has where it depends on reactions."""
    robot = pp.load("lopes")
    friction = {"slider_friction": Friction(coulomb=0.02, drag=3.0)}
    model = pp.Model(robot.model_copy(update={"legs": tuple(leg.model_copy(update=friction) for leg in robot.legs)}))
    s = easy(model, 2)
    numbers = near(model, ("legs.*.slider_friction.coulomb", "legs.*.slider.mass", "legs.2.length"), 2)
    assert_designs(model, lambda m, **p: m.static_force_range(s.pose, s.wrench, **p), numbers)
    assert_designs(model, lambda m, **p: m.friction_solutions(*s[:4], **p), numbers)


def test_error_bounds(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("lopes")
    s, numbers = easy(model, 3), near(model, ("legs.*.length", "platform.mass"), 2)
    assert_designs(model, lambda m, **p: m.error_bound("inverse_dynamics", *s[:4], **p), numbers)
    numbers["platform.mass"][1] = -1.0
    bound = model.error_bound("inverse_dynamics", *s[:4], parameters=numbers)
    assert np.isinf(bound.bound["force"][1]).all()
    assert np.isfinite(bound.bound["force"][0]).all()


def test_flexible_platforms() -> None:
    model = pp.Model("examples/long-flexible.yaml")
    home = model.robot.home.matrix
    numbers = near(model, ("gravity", "legs.*.upper.mass", "legs.2.base"), 2)
    numbers["gravity"][0] *= 2.0
    poses = np.stack([home, home])
    poses[1, :3, 3] += [0.02, -0.01, 0.03]
    rest = np.zeros(6)
    assert_designs(model, lambda m, **p: m.static_equilibrium(poses, **p), numbers)
    assert_designs(model, lambda m, **p: m.steady_shape(poses, rest, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], **p), numbers)
    with refused(StateError, "1 legs.1.upper", code="design") as caught:
        model.static_equilibrium(poses, parameters={"legs.1.upper.mass": np.array([[1.0], [-1.0]])})
    assert np.isnan(caught.value.result.force[1]).all()
    assert np.isfinite(caught.value.result.force[0]).all()


def test_designs_that_do_not_fit_or_cannot_be(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("five-bar")
    x = np.zeros((3, 2))
    with refused(InputError, "parameters (2,) (3,)", code="batch_axes"):
        model.motion(x, parameters={"platform.mass": np.ones(2)})
    with refused(InputError, "legs.0.joints.0.at 3"):
        model.motion(x, parameters={"legs.0.joints.0.at": np.ones(2)})
    with warned(StateWarning, "motion 1 platform -1", code="design"):
        got = model.motion(x, parameters={"platform.mass": np.array([[1.0], [-1.0]])})
    assert np.isnan(got.pose[1]).all()
    assert np.array_equal(got.pose[0], model.motion(x).pose)


def test_designs_that_come_apart_have_no_motion(model_of: Callable[[str], pp.Model]) -> None:
    """Poses broke the constraints that follow from others: all axes of an agile eye must meet in one point."""
    model = model_of("agile-eye")
    x, path = np.random.default_rng(0).uniform(-0.3, 0.3, (4, 3)), "legs.0.joints.1"
    own = model.parameters(f"{path}.*")
    at, axis = own[f"{path}.at"], own[f"{path}.axis"]
    tilted = axis + 1e-4 * np.array([0.3, 0.5, -0.2])
    with pytest.raises(RobotFileError):
        pp.Model(changed(model.robot, {f"{path}.axis": tilted}))
    assert np.isnan(model.motion(x, parameters={f"{path}.axis": tilted}, errors="nan").pose).all()
    along = model.motion(x, parameters={f"{path}.at": at + 0.01 * axis})  # still through the point
    assert np.abs(along.pose - model.motion(x).pose).max() < CLOSE
