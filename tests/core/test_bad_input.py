"""Bad arguments, and robots that cannot be: what is wrong is named, with what was got and what is allowed."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError, RobotFileError, StateError, StateWarning, UnknownNameError
from support import states as sample
from support.refusals import refused, warned
from support.robots.random_robots import symmetric_robot
from support.states import basis, displaced, papers_robots

ZERO = np.zeros(6)
ROBOTS = papers_robots()


@cache
def good_arguments(model: pp.Model) -> dict[str, Any]:
    """A value for every array argument of every method, right for a batch of three."""
    s = sample.easy(model, 3)
    m = basis(model.robot).shape[1]
    arguments = s._asdict() | {"q": model.inverse_kinematics(s.pose), "guess": s.pose}
    arguments |= {name: np.zeros((3, len(model.actuators))) for name in ("qdot", "qddot")}
    return arguments | {name: np.zeros((3, m)) for name in ("x", "xdot", "xddot")}


def array_arguments(method: str) -> list[str]:
    """Names of a method's array arguments."""
    taken = inspect.signature(getattr(pp.Model, method)).parameters
    known = {"pose", "twist", "acceleration", "wrench", "force", "q", "guess", "x", "xdot", "xddot", "qdot", "qddot"}
    return [name for name in taken if name in known]


# Methods of flexible robots have tests of their own, and methods that take names, a robot or a time beside arrays.
ELSEWHERE = {"alike", "step", "deflection", "static_equilibrium", "steady_shape", "kernel", "parameters", "derivatives"}
ELSEWHERE |= {"casadi", "equilibrium", "distribution_inputs", "error_bound", "jax", "kept", "plot", "torch"}
METHODS = [
    name
    for name in dir(pp.Model)
    if not name.startswith("_") and callable(getattr(pp.Model, name)) and array_arguments(name)
]
METHODS = [name for name in METHODS if name not in ELSEWHERE]
SIX = [name for name in METHODS if name not in ("coordinates", "motion", "rate_map")]
# A robot with six degrees of freedom and one with three.
PAIRS = [("lopes", name) for name in SIX] + [("staicu", name) for name in METHODS]
each_method = pytest.mark.parametrize(("robot", "method"), PAIRS, ids=lambda value: value)
WITH_TWO = [(robot, method) for robot, method in PAIRS if len(array_arguments(method)) > 1]


def call(model: pp.Model, method: str, **changed: Any) -> Any:
    """A method with good arguments but for those given."""
    good = good_arguments(model) | changed
    return getattr(model, method)(**{name: good[name] for name in array_arguments(method)})


def wrong_shapes(value: Any) -> dict[str, Any]:
    """A value in shapes that no batch of it has."""
    return {
        "short": value[..., :-1],
        "long": np.concatenate([value, value[..., :1]], axis=-1),
        "number": 1.0,
        "nothing": np.zeros(0),
    }


def wrong_kinds(value: Any) -> dict[str, Any]:
    """A value as what is no array of real numbers."""
    return {
        "texts": value.astype(str).tolist(),
        "words": ["zero"] * value.shape[-1],
        "a word": "zero",
        "complex": value + 0j,
        "truth values": value > 0,
        "objects": [object()] * value.shape[-1],
        "ragged": [[1.0], [1.0, 2.0]],
        "mapping": {"x": 1.0},
    }


# -- arrays ----------------------------------------------------------------------------------------------------------


def test_all_methods_are_here() -> None:
    assert (
        set(METHODS)
        == {name for name in dir(pp.Model) if not name.startswith("_") and callable(getattr(pp.Model, name))}
        - ELSEWHERE
    )


@each_method
def test_shapes_and_kinds(robot: str, method: str, model_of: Any) -> None:
    model = model_of(robot)
    good = good_arguments(model)
    call(model, method)
    for name in array_arguments(method):
        for label, bad in {**wrong_shapes(good[name]), **wrong_kinds(good[name])}.items():
            with refused(InputError, name) as caught:
                call(model, method, **{name: bad})
            assert "needed" in str(caught.value), label
        optional = inspect.signature(getattr(pp.Model, method)).parameters[name].default is None
        if optional and not (method == "limits" and name in ("twist", "acceleration")):
            call(model, method, **{name: None})
        elif optional:  # those after it are given
            with refused(InputError, name):
                call(model, method, **{name: None})
        else:
            with refused(InputError, f"{name} NoneType"):
                call(model, method, **{name: None})


@pytest.mark.parametrize(("robot", "method"), WITH_TWO, ids=lambda value: value)
def test_batches_that_do_not_fit(robot: str, method: str, model_of: Any) -> None:
    model = model_of(robot)
    for name in array_arguments(method)[1:]:
        with refused(InputError, name, code="batch_axes"):
            call(model, method, **{name: good_arguments(model)[name][:2]})


@each_method
@pytest.mark.parametrize("number", [np.nan, -np.inf, pytest.param(np.inf, marks=pytest.mark.long)])
def test_numbers_must_be_finite(robot: str, method: str, number: float, model_of: Any) -> None:
    """In any element of any argument, whether or not a result depends on it; the state is named in a batch."""
    model = model_of(robot)
    good = good_arguments(model)
    for name in array_arguments(method):
        for element in range(good[name][0].size):
            bad = good[name].copy()
            bad[1].ravel()[element] = number
            with refused(InputError, name) as caught:
                call(model, method, **{name: bad})
            assert "state 1" in str(caught.value)
        one = {field: value[1] for field, value in good.items()} | {name: bad[1]}
        with refused(InputError, name) as caught:
            call(model, method, **one)
        assert "state" not in str(caught.value)


POSES: dict[str, tuple[Any, str]] = {
    "rotation only": (np.eye(3), "3x3"),
    "SciPy rotation": (Rotation.identity(), "3x3"),
    "mirror": (np.diag([1.0, 1.0, -1.0, 1.0]), "-1 #not_a_rotation"),
    "scaled": (np.diag([1.001, 1.001, 1.001, 1.0]), "1 0.002 #not_a_rotation"),
    "sheared": (np.eye(4) + 1e-3 * np.eye(4, k=1), "1 0.001 #not_a_rotation"),
    "one slip of a sign": (
        np.block([[Rotation.from_euler("xyz", [1, 2, 3]).as_matrix() * [1, 1, -1], np.zeros((3, 1))], [0, 0, 0, 1]]),
        "-1",
    ),
    "zero": (np.diag([0.0, 0.0, 0.0, 1.0]), "1 #not_a_rotation"),
    "last row": (np.eye(4) + np.eye(4, k=-3), "0 0 0 1 #not_a_pose"),
    "last number": (np.diag([1.0, 1.0, 1.0, 2.0]), "0 0 0 1 #not_a_pose"),
    "transposed": (displaced(np.eye(4), np.r_[0.3, 0, 2, 0, 0, 0]).T, "0 0 0 1 #not_a_pose"),
}


@pytest.mark.parametrize("what", POSES)
@pytest.mark.parametrize("robot", ["lopes", "staicu"])
def test_a_pose_must_be_one(robot: str, what: str, model_of: Any) -> None:
    model, (bad, words) = model_of(robot), POSES[what]
    for method in SIX:
        for name in ("pose", "guess"):
            if name in array_arguments(method):
                with refused(InputError, f"{name} {words}"):
                    call(model, method, **{name: bad})
    if np.shape(bad) == (4, 4):
        batch = np.array([model.robot.home.matrix, bad, model.robot.home.matrix])
        with refused(InputError, "1"):
            model.inverse_kinematics(batch)


def test_poses_printed_with_seven_digits_pass(model: pp.Model) -> None:
    """As logs have them; they are made exact, so that dynamics sees a rotation."""
    pose = sample.easy(model, 1).pose[0]
    rounded = pose.round(7)
    np.testing.assert_allclose(model.inverse_kinematics(rounded), model.inverse_kinematics(pose), atol=1e-6)
    with refused(InputError, "pose", code="not_a_rotation"):
        model.inverse_kinematics(pose + 1e-5 * np.eye(4, k=1))


# -- names and options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "near"),
    [("virtual_power", "virtual-power"), ("Newton-Euler", "newton-euler"), ("lagrangian", "lagrange")],
)
def test_unknown_formulation(asked: str, near: str, model_of: Any) -> None:
    model = model_of("lopes")
    with refused(UnknownNameError, what="formulation", name=asked, near=near) as caught:
        model.inverse_dynamics(model.robot.home.matrix, ZERO, ZERO, formulation=asked)
    assert caught.value.name == asked
    assert near in caught.value.known
    with refused(UnknownNameError, what="formulation"):
        model.kernel("inverse_dynamics", formulation=asked)


@pytest.mark.parametrize(
    ("asked", "near"), [("jacobain", "jacobian"), ("mass", "mass_matrix"), ("forward", "forward_kinematics")]
)
def test_unknown_kernel(asked: str, near: str, model_of: Any) -> None:
    with refused(UnknownNameError, what="kernel", name=asked, near=near):
        model_of("lopes").kernel(asked)


def test_a_name_far_from_all_gives_the_list_only(model_of: Any) -> None:
    with refused(UnknownNameError, what="kernel", name="xyzzy") as caught:
        model_of("lopes").kernel("xyzzy")
    assert "mean" not in str(caught.value)


@pytest.mark.parametrize("bad", [3, None, ["lopes"], np.eye(4)])
def test_a_robot_is_a_robot_a_name_or_a_path(bad: Any) -> None:
    with refused(InputError, "robot"):
        pp.Model(bad)


@pytest.mark.parametrize("policy", ["riase", "ignore", "", True])
def test_unknown_error_policy(policy: Any, model_of: Any) -> None:
    """Told even when no state is bad: a policy that is only misread on bad days is worse."""
    model = model_of("lopes")
    home = model.robot.home.matrix
    with refused(InputError, "errors raise warn nan"):
        model.inverse_kinematics(home, errors=policy)
    with refused(InputError, "errors"):
        model.forward_kinematics(model.inverse_kinematics(home), errors=policy)


def test_options_of_a_model() -> None:
    with refused(InputError, "friction_width"):
        pp.Model("lopes", friction_width=-1.0)
    with refused(InputError, "friction_width"):
        pp.Model("lopes", friction_width=np.nan)
    with refused(InputError, "friction_coupling"):
        pp.Model("lopes", friction_coupling="both")  # type: ignore[arg-type]
    with refused(UnknownNameError, what="simplification"):
        pp.Model("lopes", simplify="no-mass")  # type: ignore[arg-type]


def test_six_dof_have_no_coordinates(model_of: Any) -> None:
    model = model_of("lopes")
    with refused(InputError, "coordinates lopes", code="six_dof"):
        model.coordinates(model.robot.home.matrix)
    with refused(InputError, "motion lopes", code="six_dof"):
        model.motion(np.zeros(6))


def test_inputs_of_named_functions(model_of: Any) -> None:
    """Misspelt and missing states are not taken for zeros, nor elastic coordinates of a rigid robot for nothing."""
    model = model_of("lopes")
    home = model.robot.home.matrix
    with refused(UnknownNameError, near="wrench"):
        model.derivatives("inverse_dynamics", home, ZERO, ZERO, wrech=np.ones(6), friction=False)
    with refused(InputError, "derivatives acceleration"):
        model.derivatives("inverse_dynamics", home, ZERO, friction=False)
    with refused(InputError, "direct_dynamics force"):
        model.error_bound("direct_dynamics", home, ZERO)
    for call in (model.limits, model.closing, model.conditioning, model.mass_matrix):
        with refused(InputError, "elastic lopes", code="rigid"):
            call(home, elastic=np.zeros(3))
    with refused(InputError, "forward_kinematics elastic lopes", code="rigid"):
        model.forward_kinematics(model.inverse_kinematics(home), elastic=np.zeros(3))


# -- motions a robot cannot make -------------------------------------------------------------------------------------

IMPOSSIBLE = {0: ("x", "m"), 3: ("rotation about x", "rad"), 5: ("rotation about z", "rad")}


@pytest.mark.parametrize("component", IMPOSSIBLE)
def test_staicu_says_what_it_cannot_do(component: int, model_of: Any) -> None:
    model = model_of("staicu")
    name, unit = IMPOSSIBLE[component]
    bad = np.zeros((3, 6))
    bad[2, component] = 0.25
    home = model.robot.home.matrix
    for argument, suffix in (("twist", "/s"), ("acceleration", "/s^2")):
        motion = {"pose": home, "twist": ZERO, "acceleration": ZERO, argument: bad}
        data = f"{argument} {name} 0.25 {unit}{suffix} 2 y z theta"
        with refused(InputError, data, code="not_admissible"):
            model.inverse_dynamics(**motion)
        with refused(InputError, argument, code="not_admissible"):
            model.accelerations(**motion)
    with refused(InputError, "twist", code="not_admissible"):
        model.direct_dynamics(home, bad, np.zeros(3))
    poses = displaced(home, bad)
    with refused(InputError, f"pose {name} 0.25 {unit} 2", code="not_admissible"):
        model.inverse_kinematics(poses)
    with refused(InputError, f"guess {name}", code="not_admissible"):
        model.forward_kinematics(np.zeros(3), poses[2])


@pytest.mark.parametrize("axis", [[1.0, 0, 0], [0, 0, 1.0], [1.0, 1.0, 0]])
@pytest.mark.parametrize("angle", [1e-6, 1.0, np.pi - 1e-6, np.pi])
def test_staicu_cannot_turn_about_other_axes_by_any_angle(axis: list[float], angle: float, model_of: Any) -> None:
    """A half turn too, whose matrix is symmetric."""
    model = model_of("staicu")
    turned = displaced(model.robot.home.matrix, np.r_[0, 0, 0, angle * np.array(axis) / np.linalg.norm(axis)])
    with refused(InputError, "pose", code="not_admissible"):
        model.inverse_kinematics(turned)


def test_poses_that_no_motion_from_home_reaches_are_refused_too(model_of: Any) -> None:
    """A 3-PRS that only rolls would break its legs' planes. By 1.2 rad the pose with its coordinates is known; by 1.6
    rad there is none, and the legs' constraints themselves say so. By 2.5 rad legs do not even reach."""
    model = model_of("3-prs")
    home = model.robot.home.matrix
    poses = [displaced(home, np.array([0, 0, 0, angle, 0, 0])) for angle in (0.0, 1.2, 1.6, 2.5)]
    with refused(InputError, "pose x 2", code="not_admissible"):
        model.inverse_kinematics(np.array([poses[3], home, poses[1]]))
    with refused(InputError, "pose 1", code="not_admissible"):
        model.inverse_kinematics(np.array([poses[3], poses[2], home]))
    with refused(InputError, "pose", code="not_admissible"):
        model.inverse_dynamics(poses[2], ZERO, ZERO)
    rolling = np.array([0, 0, 0, 1.0, 0, 0])
    with refused(InputError, "twist x 2", code="not_admissible"):
        model.rates(np.array([poses[3], home, home]), np.array([rolling, 0 * rolling, np.eye(6)[0]]))
    for call in (model.inverse_kinematics, lambda pose: model.drift_acceleration(pose, ZERO)):
        with refused(StateError, "leg2 slide", code="leg"):
            call(poses[3])
    with warned(StateWarning, "drift_acceleration 1 2", code="leg"):
        assert np.isnan(model.drift_acceleration(np.array([home, poses[3]]), ZERO)).all(axis=1).tolist() == [
            False,
            True,
        ]


def test_rounding_is_not_an_impossible_motion(model_of: Any) -> None:
    model = model_of("staicu")
    s = sample.easy(model, 20)
    noise = 1e-14 * np.random.default_rng(0).normal(size=(20, 6))
    pose = displaced(s.pose, noise)
    wanted = model.inverse_dynamics(s.pose, s.twist, s.acceleration)
    got = model.inverse_dynamics(pose, s.twist * (1 + noise) + noise, s.acceleration + noise)
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)


# -- robots that cannot be -------------------------------------------------------------------------------------------


def changed(number: int, **fields: Any) -> dict[str, Any]:
    document = symmetric_robot()
    document["legs"][number] |= fields
    return document


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "coincident joints": (
        changed(2, base=[0.25, 0.4330127018922193, 1.0]),
        "leg3 home",
    ),
    "aligned axis": (
        changed(1, base=[0.25, 0.4330127018922193, 0.0], axis=[0.0, 0.0, 1.0]),
        "leg2 home",
    ),
    "rail out of reach": (
        changed(
            4,
            kind="PUS",
            rail_start=[-3.0, 0.0, 0.0],
            rail_direction=[0.0, 0.0, 1.0],
            length=1.0,
            slider={"mass": 1.0},
            link={"mass": 1.0},
        ),
        "leg5 home 1.5",
    ),
}
for _field in ("base", "lower", "upper"):
    UNUSABLE["rail out of reach"][0]["legs"][4].pop(_field)


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_leg_that_cannot_close_is_refused_at_load(what: str) -> None:
    document, words = UNUSABLE[what]
    with refused(RobotFileError, words) as caught:
        pp.loads(yaml.safe_dump(document))
    (fault,) = caught.value.faults
    assert fault.field.startswith("legs.")
    assert fault.line is not None


def test_duplicate_legs_are_refused_by_the_model() -> None:
    """Each leg closes, but two are one: the home pose is singular, and these are why."""
    document = symmetric_robot()
    document["legs"][3] = {**document["legs"][2]}
    robot = pp.loads(yaml.safe_dump(document))
    with refused(RobotFileError, "legs.3 leg4 leg3"):
        pp.Model(robot)


def test_an_architecture_singularity_is_refused_by_the_model() -> None:
    """Platform and base similar hexagons: singular in every pose."""
    document = symmetric_robot()
    for leg in document["legs"]:
        leg["platform"] = [0.5 * x for x in leg["base"]]
    with refused(RobotFileError, code="singular"):
        pp.Model(pp.loads(yaml.safe_dump(document)))
