"""Every number is an input: a design given by ``parameters=`` is the model of the changed robot, without compiling.

Equal to 1e-14 of a state's size: both run the same code, and numbers that are derived from a body's fields (its
moments) may differ by a rounding, which the condition of J (below 1e2 here) magnifies in forces.
"""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import Friction
from polypod.description.paths import get, unit_at
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.formulations import FORMULATIONS
from polypod.kernels import Expression, machine
from polypod.model.derivatives import derivative_functions
from polypod.parameters import ParameterVector
from polypod.parameters.chosen import ChosenNumbers
from polypod.parameters.design import Design
from support.chain_functions import Functions
from support.compare import assert_close
from support.refusals import refused, warned
from support.robots import user_legs as user
from support.robots.random_chains import ROBOTS
from support.states import States, easy, mostly_long, papers_robots

TIGHT = 1e-14
SOLVED = 1e-12
METHODS: dict[str, tuple[Callable[..., Any], float]] = {
    "inverse_kinematics": (lambda m, s, **p: m.inverse_kinematics(s.pose, **p), TIGHT),
    "jacobian": (lambda m, s, **p: m.jacobian(s.pose, **p), TIGHT),
    "rates": (lambda m, s, **p: m.rates(s.pose, s.twist, **p), TIGHT),
    "accelerations": (lambda m, s, **p: m.accelerations(*s[:3], **p), TIGHT),
    "mass_matrix": (lambda m, s, **p: m.mass_matrix(s.pose, **p), TIGHT),
    "bias": (lambda m, s, **p: m.bias(s.pose, s.twist, **p), TIGHT),
    "energy": (lambda m, s, **p: np.stack(m.energy(s.pose, s.twist, **p), axis=-1), TIGHT),
    "bodies": (lambda m, s, **p: np.stack(list(m.bodies(s.pose, **p).values())[1:], axis=-3), TIGHT),
    "inverse_dynamics": (lambda m, s, **p: m.inverse_dynamics(*s[:4], **p), SOLVED),
    "direct_dynamics": (lambda m, s, **p: m.direct_dynamics(s.pose, s.twist, s.force, s.wrench, **p), SOLVED),
    "twist": (lambda m, s, **p: m.twist(s.pose, s.force[..., : len(m.actuators)], **p), SOLVED),
    "acceleration": (lambda m, s, **p: m.acceleration(s.pose, s.twist, s.force, **p), SOLVED),
    "conditioning": (lambda m, s, **p: np.stack(m.conditioning(s.pose, **p), axis=-1), SOLVED),
    "reactions": (lambda m, s, **p: m.reactions(*s[:4], **p).force, SOLVED),
}


def changed(robot: pp.Robot, numbers: dict[str, Any]) -> pp.Robot:
    """The robot with other numbers, validated anew."""
    data = robot.model_dump(exclude_none=True, exclude_unset=True)
    for path, value in numbers.items():
        *parents, leaf = path.split(".")
        place: Any = data
        for part in parents:
            place = place[int(part)] if isinstance(place, (list, tuple)) else place[part]
        place[leaf] = np.asarray(value).tolist()
    return pp.Robot.model_validate(data)


def lopes() -> pp.Robot:
    """Lopes' robot with viscous friction in every joint."""
    robot = pp.load("lopes")
    friction = {"slider": 3.0, "universal": 0.2, "spherical": 0.1}
    fields = {f"{joint}_friction": Friction(viscous=value) for joint, value in friction.items()}
    return robot.model_copy(update={"legs": tuple(leg.model_copy(update=fields) for leg in robot.legs)})


@pytest.fixture(scope="module")
def model() -> pp.Model:
    return pp.Model(lopes())


@pytest.fixture(scope="module")
def states(model: pp.Model) -> States:
    return easy(model, 5)


def designs_of(model: pp.Model, count: int, seed: int = 1) -> dict[str, Any]:
    """Values (count, ...) of geometry, inertia, friction and gravity a little beside the robot's."""
    rng, numbers = np.random.default_rng(seed), {}
    for path in ("legs.1.rail_start", "legs.*.platform", "legs.2.length", "legs.*.link.mass", "legs.3.slider.mass",
                 "platform.mass", "legs.*.slider_friction.viscous", "legs.0.spherical_friction.viscous"):  # fmt: skip
        for name, value in model.parameters(path).items():
            near = value * rng.uniform(1.0, 1.02, (count, *value.shape))
            numbers[name] = near
    for name, value in model.parameters("legs.*.link.inertia", "platform.inertia").items():
        numbers[name] = value * rng.uniform(1.0, 1.1, (count, 1, 1))
    numbers["gravity"] = model.parameters("gravity")["gravity"] * rng.uniform(0.9, 1.1, (count, 1))
    return numbers


def pick(numbers: dict[str, Any], k: int) -> dict[str, Any]:
    return {path: value[k] for path, value in numbers.items()}


# -- names -----------------------------------------------------------------------------------------------------------


def test_numbers_by_path(model: pp.Model) -> None:
    found = model.parameters("legs.*.rail_start")
    assert list(found) == [f"legs.{k}.rail_start" for k in range(6)]
    for leg, value in zip(model.robot.legs, found.values(), strict=True):
        assert np.array_equal(value, leg.rail_start)
    assert list(model.parameters("legs.leg3.link.mass")) == ["legs.2.link.mass"]
    every = model.parameters()
    assert set(every) >= {"gravity", "platform.mass", "platform.com", "platform.inertia", "legs.0.length", *found}
    assert every["platform.inertia"].shape == (3, 3)
    assert every["legs.0.end_masses"].shape == (2,)
    assert not [path for path in every if ".frames." in path or ".points." in path], "how a tensor is written"


def test_unknown_paths_name_what_is_near(model: pp.Model) -> None:
    with refused(UnknownNameError, name="legs.0.rail_strat", near="legs.0.rail_start"):
        model.parameters("legs.0.rail_strat")
    with refused(UnknownNameError, near="platform.mass"):
        model.inverse_kinematics(model.robot.home.matrix, parameters={"platform.mas": 1.0})
    with refused(UnknownNameError, name="legs.leg9.length"):
        model.parameters("legs.leg9.length")


@pytest.mark.parametrize("name", mostly_long([*papers_robots(), "rotary RUS"], ("lopes", "staicu", "rotary RUS")))
def test_every_listed_number_reaches_the_functions(name: str) -> None:
    """A number that is listed and changed is another number of the port: none is silently left as it was."""
    robot = user.ROBOTS[name]() if name in user.ROBOTS else pp.load(name)
    paths = [path for path in pp.Model(robot).parameters() if not re.match(r"legs\.(?!0)", path)]  # legs are alike
    for path in paths:
        value = np.array(get(robot, path))
        new = value + 0.01 * (1 + np.arange(value.size).reshape(value.shape))
        if np.shape(value) == (3,) and abs(np.linalg.norm(value) - 1) < 1e-12:
            new = new / np.linalg.norm(new)
        design = Design(robot, {path: new})
        numbers = ParameterVector(robot, design.is_free)
        weightless = path.endswith(".com") and get(robot, path.rpartition(".")[0]).mass == 0
        same = np.array_equal(design.rows(numbers)[0], numbers.values)
        assert same == weightless, path
    assert not any(path.endswith(".side") for path in paths), "integers decide"


def test_both_axes_of_a_universal_joint_are_numbers() -> None:
    """Two directions at one path: each number of the port is the one at its own place, in designs and in symbols."""
    robot = pp.load("tricept")
    path, (cross, slide, _) = "legs.0.joints.0.axes", robot.legs[0].joints
    turned = np.array(cross.axes) @ Rotation.from_rotvec(0.1 * np.array(slide.axis)).as_matrix().T
    design = Design(robot, {path: [turned, 1.0001 * turned, 1.1 * turned, [turned[0], slide.axis + turned[0]]]})
    numbers, other = ParameterVector(robot, design.is_free), changed(robot, {path: turned})
    rows = design.rows(numbers)
    assert_close(rows[:1], ParameterVector(other, design.is_free).values[None], TIGHT)
    assert_close(rows[1], rows[0], TIGHT, scale=1.0)
    assert "length 1, got 1.1, 1.1" in design.reasons.pop(2)
    assert list(design.reasons) == [3]
    unsquare = Design(robot, {path: [turned[0], 0.6 * turned[0] + 0.8 * turned[1]]})
    assert "perpendicular to each other, got a cosine of 0.6" in unsquare.reasons[0]
    chosen = ChosenNumbers(robot, ["all"])
    assert chosen.port is not None
    vector = ParameterVector(robot, chosen.is_free)
    got = ca.Function("port", [chosen.port.symbols], [chosen.expressions(vector)])(chosen.values)
    assert_close(np.array(got).T, vector.values[None], TIGHT)


def test_masses_are_no_limits() -> None:
    """Two masses at the ends of a link may be equal, or fall; limits of a coordinate may not."""
    robot = pp.load("lopes")
    assert Design(robot, {"legs.*.end_masses": [[0.2, 0.2], [0.3, 0.1]]}).reasons == {}
    assert (
        "the lower limit must come first"
        in Design(pp.load("reachy-mini"), {"legs.0.joints.0.range": [0.2, 0.1]}).reasons[0]
    )


# -- equal to the changed robot --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_design_is_the_changed_robot(method: str, model: pp.Model, states: States) -> None:
    call, tolerance = METHODS[method]
    numbers = pick(designs_of(model, 1), 0)
    other = pp.Model(changed(model.robot, numbers))
    got, wanted = call(model, states, parameters=numbers), call(other, states)
    assert_close(got, wanted, tolerance)
    assert np.abs(got - call(model, states)).max() > 1e-4 * np.abs(got).max(), "the design has no effect"


def test_poses_of_designs(model: pp.Model, states: States) -> None:
    """Forward kinematics from coordinates of the robot itself: the poses of the changed robots."""
    numbers = designs_of(model, 2)
    across = {path: value[:, None] for path, value in numbers.items()}
    q = model.inverse_kinematics(states.pose)
    got = model.forward_kinematics(q, states.pose, parameters=across, full_output=True)
    for k in range(2):
        other = pp.Model(changed(model.robot, pick(numbers, k)))
        wanted = other.forward_kinematics(q, states.pose, full_output=True)
        found = np.isfinite(got.pose[k][:, 0, 0])  # designs get Newton's iteration from the guess alone
        assert found.mean() >= 0.8
        assert np.array_equal(got.status[k][found], wanted.status[found])
        assert np.abs(got.pose[k][found] - wanted.pose[found]).max() < 1e-9
    with refused(InputError, "parameters along"):
        model.forward_kinematics(q, along=True, parameters=across)


def test_limits_of_designs(model_of: Callable[[str], pp.Model]) -> None:
    """Lengths, cones and their ranges are those of the changed robots; a design that cannot be has none."""
    model = model_of("hexapod")
    path = next(path for path in model.parameters("legs.*.base"))
    moved = model.parameters(path)[path] * np.array([1.0, 1.05])[:, None]
    pose = easy(model, 3).pose
    limits = model.limits(pose, parameters={path: moved[:, None]})
    for k in range(2):
        own = pp.Model(changed(model.robot, {path: moved[k]})).limits(pose)
        assert limits.names == own.names
        assert len(own.names) > 0
        assert np.abs(limits.value[k] - own.value).max() < 1e-12
        assert np.abs(limits.low[k] - own.low).max() < 1e-12
        assert np.array_equal(limits.inside[k], own.inside)
    with warned(StateWarning, "0", code="design"):
        none = model.limits(pose, parameters={"platform.mass": np.array([[-1.0]])})
    assert np.isnan(none.value).all()


@pytest.mark.parametrize("method", ["inverse_dynamics", "jacobian", "reactions", "energy"])
def test_designs_against_states(method: str, model: pp.Model, states: States) -> None:
    """(D, 1, ...) against (n, ...) gives (D, n, ...), to the bit what each design gives alone."""
    call, _ = METHODS[method]
    numbers = designs_of(model, 3)
    got = call(model, states, parameters={path: value[:, None] for path, value in numbers.items()})
    assert got.shape[:2] == (3, 5)
    for k in range(3):
        assert np.array_equal(got[k], call(model, states, parameters=pick(numbers, k)))
    one = call(model, states.at(2), parameters=numbers)
    assert one.shape[0] == 3
    # one state is evaluated by code of its own, which may fuse products otherwise
    assert_close(one, got[:, 2], 1e-13)


def test_a_design_for_each_state(model: pp.Model, states: States) -> None:
    """Designs along the states' own axis: row k is design k at state k."""
    numbers = designs_of(model, 5)
    for call, tolerance in (METHODS["inverse_dynamics"], METHODS["mass_matrix"]):
        got = call(model, states, parameters=numbers)
        for k in range(5):
            assert_close(got[k][None], call(model, states.at(k), parameters=pick(numbers, k))[None], 10 * tolerance)


def test_other_batches(model: pp.Model, states: States) -> None:
    """Designs inside the states' axes, several axes of designs, a design all share, none at all."""
    numbers = designs_of(model, 5)
    grid = States(*(np.stack([a, a[::-1]]) for a in states))
    got = model.inverse_dynamics(*grid[:4], parameters=numbers)
    assert got.shape == (2, 5, 6)
    assert_close(got[1], model.inverse_dynamics(*(a[1] for a in grid[:4]), parameters=numbers), 1e-13)
    six = {path: np.stack([v[:3], v[2:5]]) for path, v in numbers.items()}
    got = model.inverse_kinematics(states.pose[:4], parameters={p: v[:, :, None] for p, v in six.items()})
    assert got.shape == (2, 3, 4, 6)
    assert np.array_equal(got[1, 2], model.inverse_kinematics(states.pose[:4], parameters=pick(numbers, 4)))
    mixed = {"platform.mass": np.linspace(1.0, 2.0, 4)[:, None], "gravity": [0.0, 0.0, -1.62]}
    assert model.inverse_dynamics(*states[:4], parameters=mixed).shape == (4, 5, 6)
    assert model.inverse_dynamics(*states[:4], parameters={"platform.mass": np.zeros((0, 1))}).shape == (0, 5, 6)
    assert np.array_equal(model.inverse_dynamics(*states[:4], parameters={}), model.inverse_dynamics(*states[:4]))


def test_a_scalar_for_many_numbers(model: pp.Model, states: States) -> None:
    """A pattern gives its value to all that it names."""
    got = model.inverse_dynamics(*states[:4], parameters={"legs.*.link.mass": 0.7})
    numbers = {f"legs.{k}.link.mass": 0.7 for k in range(6)}
    assert_close(got, pp.Model(changed(model.robot, numbers)).inverse_dynamics(*states[:4]), SOLVED)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_platform_and_gravity_in_every_formulation(formulation: str, model: pp.Model, states: States) -> None:
    """Platform points, platform mass and gravity, which were constants of a graph or nothing at all."""
    numbers = {"gravity": [1.0, -2.0, -8.0], "platform.mass": 2.2, "platform.com": [0.01, -0.02, 0.03]}
    numbers |= {"legs.4.platform": np.add(model.robot.legs[4].platform, [0.01, 0.02, -0.015])}
    other = pp.Model(changed(model.robot, numbers))
    got, wanted = (
        m.inverse_dynamics(*states[:4], formulation=formulation, parameters=p)
        for m, p in ((model, numbers), (other, None))
    )
    assert_close(got, wanted, SOLVED)


def test_zeros_of_the_topology_may_be_opened(model: pp.Model, states: States) -> None:
    """A zero is a constant of the functions; a design that changes it has its own, equal to the robot's."""
    base = np.array(model.robot.legs[0].rail_start)
    assert base[2] == 0.0
    tilted = np.array([0.1, 0.0, np.sqrt(0.99)])
    numbers = {"legs.0.rail_start": np.add(base, [0.0, 0.0, 0.05]), "legs.1.rail_direction": tilted}
    other = pp.Model(changed(model.robot, numbers))
    assert_close(model.inverse_dynamics(*states[:4], parameters=numbers), other.inverse_dynamics(*states[:4]), SOLVED)
    assert_close(model.jacobian(states.pose, parameters=numbers), other.jacobian(states.pose), TIGHT)
    # some designs keep the zero
    some = {path: np.stack([np.array(get(model.robot, path)), value]) for path, value in numbers.items()}
    got = model.jacobian(states.pose, parameters={path: value[:, None] for path, value in some.items()})
    assert_close(got[0], model.jacobian(states.pose), TIGHT)
    assert_close(got[1], other.jacobian(states.pose), TIGHT)


@pytest.mark.long
def test_bodies_with_reference_points_and_frames() -> None:
    """Tensors about named points in named axes mean the same in a design as in a file."""
    robot = pp.load("staicu")
    assert robot.platform.about not in ("com", "origin")
    model = pp.Model(robot)
    numbers = {
        "platform.mass": 1.3 * robot.platform.mass,
        "platform.com": np.add(robot.platform.com, [0.01, 0.002, -0.001]),
        "platform.inertia": 1.5 * np.array(robot.platform.inertia),
        "legs.0.link.mass": 0.9 * robot.legs[0].link.mass,
        "legs.0.link.com": 0.9 * np.array(robot.legs[0].link.com),
    }
    s, other = easy(model, 4), pp.Model(changed(robot, numbers))
    assert_close(model.mass_matrix(s.pose, parameters=numbers), other.mass_matrix(s.pose), TIGHT)
    assert_close(model.inverse_dynamics(*s[:4], parameters=numbers), other.inverse_dynamics(*s[:4]), SOLVED)
    one, two = model.reactions(*s[:4], parameters=numbers), other.reactions(*s[:4])
    assert one.indeterminate == two.indeterminate
    assert_close(one.force, two.force, SOLVED)


def test_dry_friction_as_an_input() -> None:
    """Coulomb coefficients and drags of a robot that has them; loads are iterated anew for every design."""
    robot = pp.load("lopes")
    rough = Friction(viscous=1.0, coulomb=0.1, drag=2.0)
    legs = tuple(leg.model_copy(update={"slider_friction": rough}) for leg in robot.legs)
    model = pp.Model(robot.model_copy(update={"legs": legs}), friction_width=0.0)
    s = easy(model, 4)
    coefficients = np.array([0.05, 0.2])
    got = model.inverse_dynamics(*s[:4], parameters={"legs.*.slider_friction.coulomb": coefficients[:, None]})
    for k, value in enumerate(coefficients):
        numbers = {f"legs.{leg}.slider_friction.coulomb": float(value) for leg in range(6)}
        other = pp.Model(changed(model.robot, numbers), friction_width=0.0)
        # loads repeat to 1e-13
        assert_close(got[k], other.inverse_dynamics(*s[:4]), 1e-11)
    without = model.inverse_dynamics(*s[:4], parameters={"legs.*.slider_friction.coulomb": 0.0})
    assert np.abs(got[1] - without).max() > 10 * np.abs(got[0] - without).max() / 5


# -- what cannot be --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("legs.0.rail_start", [0.0, 1.0], "legs.0.rail_start 3 2"),
        ("platform.inertia", np.ones(3), "platform.inertia 3"),
        ("platform.mass", "heavy", "platform.mass heavy"),
        ("platform.mass", True, "platform.mass True"),
        ("legs.0.rail_start", 3.0, "legs.0.rail_start 3 ()"),
    ],
)
def test_wrong_shapes(path: str, value: Any, words: str, model: pp.Model, states: States) -> None:
    with refused(InputError, words):
        model.inverse_kinematics(states.pose, parameters={path: value})


def test_batches_that_do_not_fit(model: pp.Model, states: States) -> None:
    two_sizes = {"platform.mass": np.ones(2), "legs.0.length": np.ones(3)}
    with refused(InputError, "parameters platform.mass (2,) legs.0.length"):
        model.inverse_kinematics(states.pose, parameters=two_sizes)
    with refused(InputError, "parameters (3,) (5,)", code="batch_axes"):
        model.inverse_kinematics(states.pose, parameters={"platform.mass": np.ones(3)})


def test_a_design_that_no_robot_can_have_is_named(model: pp.Model, states: States) -> None:
    """Its rows are NaN and the reason names it; the others are what they are without it."""
    inertia = np.stack([np.diag([0.2, 0.2, 0.4]), np.diag([0.1, 0.1, 0.4]), np.diag([0.2, 0.2, 0.3])])
    good = model.inverse_dynamics(*states[:4], parameters={"platform.inertia": inertia[[0, 2], None]})
    with warned(StateWarning, "5 1 platform 0.1 0.4", code="design"):
        got = model.inverse_dynamics(*states[:4], parameters={"platform.inertia": inertia[:, None]})
    assert np.isnan(got[1]).all()
    assert np.array_equal(got[[0, 2]], good)
    length = np.array([1.837, 0.2])
    with refused(StateError, "1 leg1", code="design") as caught:
        model.inverse_kinematics(states.pose, parameters={"legs.0.length": length[:, None]}, errors="raise")
    assert np.array_equal(caught.value.index, np.arange(5, 10))
    assert np.isnan(caught.value.result[1]).all()
    assert np.array_equal(caught.value.result[0], model.inverse_kinematics(states.pose))
    for value, words in (
        ([[0.0, 0.0, 0.5]], "1 0.5"),
        ([[0.0, 0.0, 0.0]], "1 0"),
        ([[0.0, np.nan, 1.0]], "1e+15"),
    ):
        with refused(StateError, f"0 legs.2.rail_direction {words}", code="design"):
            model.inverse_kinematics(states.pose[0], parameters={"legs.2.rail_direction": value}, errors="raise")
    for bad in (np.nan, np.inf):
        broken = np.stack([inertia[0], np.full((3, 3), bad)])[:, None]
        with warned(StateWarning, "5 1 platform.inertia", code="design") as seen:
            got = model.inverse_dynamics(*states[:4], parameters={"platform.inertia": broken})
        assert [warning.category for warning in seen] == [StateWarning]
        assert np.isnan(got[1]).all()
        assert np.array_equal(got[0], good[0])
    uneven = np.diag([0.2, 0.2, 0.4]) + 0.01 * np.eye(3, k=1)
    with refused(StateError, "0 platform.inertia", code="design"):
        model.inverse_dynamics(*states.at(0)[:4], parameters={"platform.inertia": uneven})
    unchecked = model.robot.model_copy(update={"platform": model.robot.platform.model_copy(update={"check": "none"})})
    assert list(Design(unchecked, {"platform.inertia": uneven}).reasons) == [0]  # whatever a body may be
    with refused(StateError, "0 platform -1", code="design"):
        model.inverse_dynamics(*states.at(0)[:4], parameters={"platform.mass": -1.0})
    with refused(StateError, "5 1 leg1", code="design"):
        model.forward_kinematics(
            model.inverse_kinematics(states.pose), parameters={"legs.0.length": length[:, None]}, errors="raise"
        )


def test_designs_that_cannot_be_take_no_memory_of_their_own(model: pp.Model, states: States) -> None:
    """Half of 1,000 designs at 500 states: a flag a state for each of those designs would be 250 MB."""
    mass = np.where(np.arange(1000) % 2, -1.0, 2.0)
    poses = np.tile(states.pose, (100, 1, 1))
    tracemalloc.start()
    got = model.inverse_kinematics(poses, parameters={"platform.mass": mass[:, None]}, errors="nan")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isnan(got[1::2]).all()
    assert not np.isnan(got[::2]).any()
    # coordinates, quality and verdict are 8 doubles a state of which 6 are given back; flags and numbers of designs
    assert peak < 2.5 * got.nbytes


IN_LINE = "drive: its axis stays in line with {} and ball in all designs of this robot; make another robot"


def test_slides_in_line_stay_in_line(model_of: Callable[[str], pp.Model]) -> None:
    """Of legs whose slide runs from hinge to ball: designs that keep it so are the changed robot.

    Those that move a ball aside or turn a slide round have no answer.
    """
    model = model_of("3-rps")
    numbers = model.parameters("legs.*.joints.2.at", "legs.*.joints.1.axis")
    numbers = {path: np.tile(value, (3, 1)) for path, value in numbers.items()}
    (hinge, slide, _), (other, _, ball), (beside, _, _) = (leg.joints for leg in model.robot.legs)
    numbers["legs.0.joints.2.at"][0] += 0.02 * np.array(slide.axis)
    inward = 0.05 * np.array([*ball.at[:2], 0.0])
    reach = np.array(ball.at) + inward - np.array(other.at)
    numbers["legs.1.joints.2.at"][0] += inward
    numbers["legs.1.joints.1.axis"][0] = reach / np.linalg.norm(reach)
    numbers["legs.2.joints.2.at"][0] += 0.01 * np.array(beside.axis)  # along the hinge, which it does not turn
    numbers["legs.1.joints.2.at"][1] += inward
    numbers["legs.0.joints.1.axis"][2] *= -1.0
    pose, upward = model.robot.home.matrix, np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    pose[2, 3] += 0.05
    text = IN_LINE.format(hinge.name)
    with warned(StateWarning, f"2 3 1 leg2 leg1 {text}", code="design"):
        got = np.array(model.energy(pose, upward, parameters=numbers)[:2]).T
    assert np.isnan(got[1:]).all()
    wanted = Functions(changed(model.robot, pick(numbers, 0)))("energy", pose=pose, twist=upward)
    assert_close(got[0], [wanted["kinetic"], wanted["potential"]], TIGHT)


def test_struts_on_crosses_stay_in_line() -> None:
    """The same of a universal joint and a slide, by the margin of the leg alone."""
    robot = pp.load("tricept")
    cross, slide, ball = robot.legs[0].joints
    at, axis, across = np.array(ball.at), np.array(slide.axis), np.array(cross.axes[0])
    turned = at + 0.01 * across - np.array(cross.at)
    points = np.array([at + 0.02 * axis, at + 0.01 * across, at + 0.01 * across, at])
    axes = np.array([axis, turned / np.linalg.norm(turned), axis, -axis])
    design = Design(robot, {"legs.0.joints.2.at": points, "legs.0.joints.1.axis": axes})
    mechanism = Functions(robot).kernels.of_design(design).mechanism
    name = IN_LINE.format(cross.name)
    condition = next(c for c in mechanism.legs[0].placement.conditions if c.name == name)
    margins = [mechanism.numbers.evaluate(condition.margin, row).item() for row in design.rows(mechanism.numbers)]
    assert margins == [1.0, 1.0, 0.0, 0.0]


def test_derivatives_are_of_functions_that_hold_beside_the_line() -> None:
    """What is differentiated by the place of a strut's ball, drawn in line with it, is the changed robot's nearby."""
    robot = pp.Robot.model_validate(ROBOTS["straight UPS"](2))
    path = "legs.0.joints.2.at"
    model = pp.Model(robot)
    mechanism = derivative_functions(model).parametric((path,)).mechanism
    design = Design(robot, {path: np.add(get(robot, path), [0.01, -0.02, 0.015])})
    given = {"pose": robot.home.matrix, "twist": np.array([0.1, 0.2, -0.1, 0.3, -0.2, 0.1])}
    given["pose"][:3, 3] += [0.03, -0.02, 0.05]
    expression = model.kernels.expression(mechanism, "energy")
    assert isinstance(expression, Expression)
    rows = [given[p.name].ravel() for p in expression.inputs]
    got = expression.function.call([*rows, design.rows(mechanism.numbers)[0]])
    wanted = Functions(changed(robot, design.values))("energy", **given)
    for port, value in zip(expression.outputs, got, strict=True):
        assert_close(np.array(value).ravel(), wanted[port.name].ravel(), SOLVED)


# -- what is compiled ------------------------------------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> list[str]:
    """Modules compiled from here on, with an empty cache."""
    done: list[str] = []
    compile_module = machine.compile_module

    def counted(*arguments: Any) -> bytes:
        done.append("module")
        return compile_module(*arguments)

    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    monkeypatch.setattr(machine, "compile_module", counted)
    return done


@pytest.mark.filterwarnings("error::polypod.errors.StateWarning")
@pytest.mark.parametrize("make", [lopes, user.stage_robot], ids=["library legs", "a user's legs"])
def test_a_second_robot_of_the_same_topology_compiles_nothing(
    make: Callable[[], pp.Robot], compilations: list[str]
) -> None:
    robot = make()
    width = 0.0123  # a choice that no other test makes: nothing is shared with them
    first = pp.Model(robot, friction_width=width)
    s = easy(first, 3)
    first.inverse_dynamics(*s[:4])
    first.mass_matrix(s.pose)
    assert compilations
    compilations.clear()
    other = changed(robot, {"platform.mass": 1.1 * robot.platform.mass, "gravity": (0.0, 0.0, -1.62)})
    second = pp.Model(other, friction_width=width)
    second.inverse_dynamics(*s[:4])
    second.mass_matrix(s.pose)
    designs = np.linspace(1.0, 2.0, 4)[:, None]
    first.mass_matrix(s.pose, parameters={"platform.mass": designs, "gravity": [0.0, 0.0, -3.7]})
    # telling whether designs close at home asks for the legs' margins, each with its own numbers: two functions once
    del compilations[:2]
    first.inverse_dynamics(*s[:4], parameters={"platform.mass": designs})
    # at most the part of the same function for many states, compiled when first asked for
    assert len(compilations) <= 1
    compilations.clear()
    second.inverse_dynamics(*s[:4], parameters={"platform.mass": 1.5 * designs})
    assert compilations == []


def test_numbers_built_in(model: pp.Model, states: States) -> None:
    """``specialise`` gives the same with constants, and refuses other numbers."""
    own = pp.Model(model.robot, specialise=True)
    assert own.kernel("mass_matrix").parameters is None
    assert model.kernel("mass_matrix").parameters is not None
    assert own.kernel("mass_matrix").operations < model.kernel("mass_matrix").operations
    for method in ("inverse_kinematics", "jacobian", "mass_matrix", "energy"):
        call, _ = METHODS[method]
        # constants are folded before the machine rounds
        assert_close(call(own, states), call(model, states), 1e-14)
    assert_close(own.inverse_dynamics(*states[:4]), model.inverse_dynamics(*states[:4]), 1e-13)
    with refused(InputError, "parameters specialise"):
        own.inverse_dynamics(*states[:4], parameters={"platform.mass": 1.0})


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("platform.mass", -1.0, "0 -1"),
        ("legs.0.prismatic_friction.viscous", -2.0, "0 -2"),
        ("legs.0.universal_friction.static", 0.5, "1 0.5"),
    ],
)
def test_designs_keep_to_what_files_are_asked(path, value, reason):
    """Also of a robot whose printed inertias are kept as they are."""
    model = pp.Model("pedrammehr")
    still = np.zeros(6)
    with warned(UserWarning, f"1 {path} {reason}", code="design"):
        force = model.inverse_dynamics(model.robot.home.matrix, still, still, parameters={path: [1.0, value]})
    assert np.isfinite(force[0]).all()
    assert np.isnan(force[1]).all()


def test_units_of_numbers_by_their_paths() -> None:
    """Of the field itself, of a component of it, and of a body that a leg names."""
    robot = pp.load("five-bar")
    units = {"platform.mass": "kg", "platform.com.0": "m", "gravity": "m/s^2", "legs.0.bodies.crank.mass": "kg"}
    assert {path: unit_at(robot, path) for path in units} == units
