"""Legs must hang together, data stay as they are, and joints keep their names whatever order they are stated in."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.spatial.transform import RigidTransform, Rotation

import polypod as pp
from polypod.description import Body
from polypod.description.quantities import Direction, Position
from polypod.errors import InputError, StateError, StateWarning
from polypod.legs import PUS, UPS, Joint, Leg, PlacedBody, Placement
from polypod.model import ForwardKinematicsStatus
from polypod.symbols.vectors import Frame, columns, cross, unit, vector
from support.chain_functions import Functions
from support.refusals import refused, says
from support.robots.user_legs import Stage, body, remade, stage_robot, with_leg
from support.states import easy


class Shuffled(PUS, kind="shuffled PUS"):
    """A PUS leg whose joints are stated in another order."""

    def place(self, tip: Frame) -> Placement:
        placement = super().place(tip)
        slider, universal, spherical = placement.joints
        return replace(placement, joints=(spherical, slider, universal))


class Slanted(PUS, kind="slanted PUS"):
    """A PUS leg whose universal joint's second axis is turned in the link: it is not perpendicular to the first."""

    def place(self, tip: Frame) -> Placement:
        placement = super().place(tip)
        slider, universal, spherical = placement.joints
        link = placement.bodies[1].frame.axes
        turned = 0.8 * link[:, 1] + 0.6 * link[:, 2]
        return replace(placement, joints=(slider, replace(universal, axes=(universal.axes[0], turned)), spherical))


class Turning(UPS, kind="turning UPS"):
    """A UPS leg whose upper body turns about the leg, as its slide does not let it."""

    def place(self, tip: Frame) -> Placement:
        placement = super().place(tip)
        *others, upper = placement.bodies
        n = upper.frame.axes[:, 0]
        side = unit(cross(vector((0.3, 0.4, 0.5)), n))
        turned = replace(upper, frame=Frame(upper.frame.origin, columns(n, side, cross(n, side))))
        return replace(placement, bodies=(*others, turned))


class Swerving(Stage):
    """A stage whose slider moves across its rail too."""

    def place(self, tip: Frame) -> Placement:
        placement = super().place(tip)
        (slider,) = placement.bodies
        aside = 0.1 * placement.actuators[0].coordinate * vector((0.0, 1.0, 0.0))
        return replace(
            placement, bodies=(replace(slider, frame=Frame(slider.frame.origin + aside, slider.frame.axes)),)
        )


class PassiveUCU(Leg, kind="passive UCU"):
    """A universal joint on the base, a cylindrical one along the leg, a universal one on the platform; not driven."""

    base: Position
    axis: Direction
    platform_axis: Direction
    lower: Body
    upper: Body

    def place(self, tip: Frame) -> Placement:
        base, u, w = vector(self.base), vector(self.axis), tip.axes @ vector(self.platform_axis)
        n = unit(tip.origin - base)
        below, above = unit(cross(u, n)), unit(cross(w, n))
        return Placement(
            bodies=(
                PlacedBody("lower", Frame(base, columns(n, below, cross(n, below))), self.lower),
                PlacedBody("upper", Frame(tip.origin, columns(n, above, cross(n, above))), self.upper),
            ),
            joints=(
                Joint("base joint", "universal", "base", "lower", base, (u, below)),
                Joint("cylinder", "cylindrical", "lower", "upper", tip.origin, (n,)),
                Joint("platform joint", "universal", "upper", "platform", tip.origin, (above, w)),
            ),
            actuators=(),
        )


def kim_ryu_with(kind: str) -> pp.Robot:
    data = pp.load("kim-ryu").model_dump()
    for leg in data["legs"]:
        leg["kind"] = kind
    return pp.Robot.model_validate(data)


@pytest.mark.long
def test_reactions_keep_their_names_in_any_order(model_of: Callable[[str], pp.Model]) -> None:
    plain, other = model_of("kim-ryu"), pp.Model(kim_ryu_with("shuffled PUS"))
    state = easy(plain, 1, seed=41).at(0)
    a, b = (m.reactions(state.pose, state.twist, state.acceleration, state.wrench) for m in (plain, other))
    for leg in plain.legs:
        for joint in ("slider", "universal", "spherical"):
            size = np.abs(a.force).max()
            assert np.abs(a.legs[leg][joint].force - b.legs[leg][joint].force).max() <= 1e-12 * size
            assert np.abs(a.legs[leg][joint].moment - b.legs[leg][joint].moment).max() <= 1e-12 * size


def test_normal_force_and_constraint_moment(model_of: Callable[[str], pp.Model]) -> None:
    """What a guide and a cross carry: perpendicular to the slide, and about the blocked axis only."""
    model = model_of("kim-ryu")
    state = easy(model, 3, seed=42)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench)
    for number, leg in enumerate(model.legs):
        rail = np.array(model.robot.legs[number].rail_direction)
        normal = found.legs[leg]["slider"].normal_force
        assert np.abs(normal @ rail).max() <= 1e-12 * np.abs(normal).max()
        cross = found.legs[leg]["universal"]
        blocked = np.cross(cross.axes[:, 0], cross.axes[:, 1])
        moment = cross.constraint_moment
        assert np.abs(np.cross(moment, blocked)).max() <= 1e-12 * np.abs(cross.force).max()
        assert not found.legs[leg]["spherical"].constraint_moment.any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axis": (0.6, 0.8, 0.0)}, "link"),
        ({"platform_axis": (1.0, 0.0, 0.0)}, "universal"),
    ],
)
def test_a_hinge_that_cannot_be_is_refused(change: dict, words: str) -> None:
    data = pp.load("staicu").model_dump()
    data["legs"][0].update(change)
    with refused(ValidationError, words) as caught:
        pp.Robot.model_validate(data)
    says(str(caught.value), "legs.0 A (PRU)")


def test_dof_the_joints_do_not_allow_are_refused() -> None:
    """staicu's legs on a platform stated to move along x too."""
    data = pp.load("staicu").model_dump()
    sideways = {"name": "x", "motion": "translation", "axis": (1.0, 0.0, 0.0)}
    data["dof"] = [sideways, *data["dof"][1:]]
    with refused(ValidationError, "A (PRU) link hinge revolute"):
        pp.Robot.model_validate(data)


def test_a_joint_that_wanders_in_its_body_is_refused() -> None:
    with refused(ValidationError, "universal"):
        kim_ryu_with("slanted PUS")


def test_a_slide_that_does_more_than_slide_is_refused() -> None:
    """Its axis stays in both bodies all the same; formulations would give different forces."""
    data = pp.load("pedrammehr").model_dump()
    data["legs"][2]["kind"] = "turning UPS"
    words = "legs.2 leg3 turning UPS"
    with refused(ValidationError, words):
        pp.Robot.model_validate(data)
    swerving = remade(stage_robot(), Stage, Swerving)
    words = "slider base driven"
    with refused(ValidationError, words):
        pp.Robot.model_validate(dict(swerving))


def test_a_leg_kind_may_have_cylindrical_joints() -> None:
    """A passive leg, free bodies against virtual power."""
    fields = {"platform": (0.0, 0.0, 0.0), "base": (0.05, -0.1, 0.0), "axis": (1.0, 0.0, 0.0)}
    leg = PassiveUCU(
        kind="passive UCU", name="mast", platform_axis=(0.0, 1.0, 0.0), lower=body(1), upper=body(2), **fields
    )
    robot = with_leg(pp.load("pedrammehr"), leg)
    functions, draw = Functions(robot), np.random.default_rng(0)
    pose = robot.home.matrix
    pose[:3, :3] = Rotation.from_rotvec([0.1, -0.05, 0.2]).as_matrix() @ pose[:3, :3]
    given = {name: draw.normal(size=6) for name in ("twist", "acceleration", "wrench")} | {"pose": pose}
    one, other = (functions("inverse_dynamics", False, f, **given)["force"] for f in ("virtual-power", "newton-euler"))
    assert np.abs(one - other).max() <= 1e-11 * np.abs(one).max()


def test_a_kind_cannot_be_taken_over() -> None:
    with refused(TypeError, "PUS"):
        type("Mine", (PUS,), {"__module__": "elsewhere", "__annotations__": {}}, kind="PUS")
    with refused(ValidationError, "PUS UPS"):
        PUS.model_validate(pp.load("kim-ryu").legs[0].model_dump() | {"kind": "UPS"})


def test_data_cannot_be_changed() -> None:
    robot = pp.load("staicu")
    with refused(TypeError, "model_copy"):
        robot.platform.points["C5"] = (0.3, 0.0, 0.0)
    with refused(InputError, "mass", code="frozen"):
        robot.platform.mass = 1.0
    assert hash(robot) == hash(pp.load("staicu"))


def test_euler_orders_that_are_none() -> None:
    for wrong in ("ZZX", "zz", "XyZ"):
        with refused(ValidationError, "euler"):
            pp.Robot.model_validate(pp.load("lopes").model_dump() | {"euler": wrong})


def test_models_travel_to_other_processes(model_of: Callable[[str], pp.Model]) -> None:
    model = pp.Model("lopes", simplify="massless-links")
    again = pickle.loads(pickle.dumps(model))
    state = easy(model, 2)
    a, b = (m.inverse_dynamics(state.pose, state.twist, state.acceleration) for m in (model, again))
    assert np.array_equal(a, b)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("lopes")
    kernel = model.kernel("inverse_kinematics")
    poses = np.tile(model.robot.home.matrix, (5000, 1, 1))
    kernel(poses, threads=2)
    child = os.fork()
    if child == 0:  # pragma: no cover
        kernel(poses, threads=2)
        os._exit(7)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child's batch never came back")
    assert os.waitstatus_to_exitcode(status) == 7


def test_one_bad_state_does_not_loosen_forward_kinematics(model_of: Callable[[str], pp.Model]) -> None:
    """A row with coordinates of 1e14 m must not make another row's failure look converged."""
    model = model_of("pedrammehr")
    q = model.inverse_kinematics(model.robot.home.matrix)
    wrong, huge = q.copy(), q.copy()
    wrong[0] *= 3
    huge[0] = 1e14
    found = model.forward_kinematics(np.array([wrong, huge, q]), full_output=True)
    assert found.status.tolist() == [
        ForwardKinematicsStatus.NOT_CONVERGED,
        ForwardKinematicsStatus.NOT_CONVERGED,
        ForwardKinematicsStatus.CONVERGED,
    ]


def test_rigid_transform_guesses_keep_the_good_states(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("lopes")
    home = model.robot.home.matrix
    q = model.inverse_kinematics(home)
    both = np.array([q, q + 5.0 * np.eye(6)[0]])
    guess = RigidTransform.from_matrix(home)
    assert isinstance(model.forward_kinematics(q, guess), RigidTransform)
    with pytest.warns(StateWarning):
        found = model.forward_kinematics(both, guess)
    assert np.abs(found[0] - home).max() < 1e-12
    assert np.isnan(found[1]).all()


def test_energies_too_large_for_a_number(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("lopes")
    with refused(StateError, code="overflow"):
        model.energy(model.robot.home.matrix, np.full(6, 1e200))
