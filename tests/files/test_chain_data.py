"""Chain legs that cannot be: every fault names what was got, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml

import polypod as pp
from polypod.legs.chain import ChainJoint
from polypod.mechanism import Mechanism
from support.chain_functions import Functions
from support.refusals import refused
from support.robots.random_chains import ROBOTS, numbers, random_body, rotation, square_to, translation, unit
from test_chain import compare, moving

Change = Callable[[dict[str, Any]], Any]


@cache
def _robot(name: str) -> dict[str, Any]:
    return ROBOTS[name](1)


def changed(name: str, change: Change) -> dict[str, Any]:
    data = deepcopy(_robot(name))
    change(data)
    return data


def leg(change: Callable[[dict[str, Any]], Any]) -> Change:
    return lambda data: change(data["legs"][0])


def joint(number: int, drop: str = "", **fields: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        found = data["legs"][0]["joints"][number]
        found.update(fields)
        if drop:
            del found[drop]

    return change


def tilt(one: dict[str, Any], degrees: float) -> None:
    """Turn a joint's axis."""
    axis = np.array(one["axis"])
    side = unit(np.cross(axis, [0.3, 0.4, 0.5]))
    one["axis"] = numbers(np.cos(np.radians(degrees)) * axis + np.sin(np.radians(degrees)) * side)


def body(name: str, **fields: Any) -> Change:
    return leg(lambda one: one["bodies"][name].update(fields))


def test_names_of_joints_decide_nothing() -> None:
    """Equations are told by what they say, not by the name of their joint."""
    data = _robot("3-UPU")
    plain = pp.legs.Chain.model_validate(data["legs"][0])
    named = deepcopy(data["legs"][0])
    for one in named["joints"]:
        one["name"] = f"gap {one['name']}"
    home = data["home"]["position"], np.eye(3)
    one, other = (leg.at_home(*home)._closing_jacobian({})[0] for leg in (plain, pp.legs.Chain.model_validate(named)))
    assert np.array_equal(one, other)


def new_body(at: Any = (0.0, 0.0, 0.0)) -> dict[str, Any]:
    return random_body(np.random.default_rng(0), 1.0, at, 0.1)


def island(one: dict[str, Any]) -> None:
    one["bodies"] |= {"near": new_body(), "far": new_body()}
    hinge = {"name": "idle", "kind": "revolute", "between": ["near", "far"], "at": [0, 0, 0], "axis": [0, 0, 1]}
    one["joints"].append(hinge)


WELD = {"name": "weld", "kind": "fixed", "between": ["base", "platform"]}
FAULTS: dict[str, tuple[str, Change, str]] = {
    "a body in no joint": (
        "6-RUS",
        leg(lambda one: one["bodies"].update(extra=new_body())),
        "bodies.extra",
    ),
    "bodies apart from the leg": ("6-RUS", leg(island), "bodies.near"),
    "an unknown body": (
        "6-RUS",
        joint(1, between=["body1", "bodyX"]),
        "joints.1.between bodyX body1",
    ),
    "a body called base": (
        "6-RUS",
        leg(lambda one: one["bodies"].update(base=new_body())),
        "bodies.base base",
    ),
    "axes not perpendicular": (
        "6-RUS",
        joint(1, axes=[[1, 0, 0], [0.6, 0.8, 0]]),
        "axes 0.6",
    ),
    "an axis of another length": ("6-RUS", joint(0, axis=[1, 1, 0]), "1 0.707106781"),
    "no axis": ("6-RUS", joint(0, drop="axis"), "axis"),
    "no position": ("6-RUS", joint(1, drop="at"), "at"),
    "a name twice": ("6-RUS", joint(1, name="R1"), "joints.1.name R1"),
    "a leg's name twice": (
        "6-RUS",
        lambda data: [one.update(name="A") for one in data["legs"]],
        "legs.1.name",
    ),
    "one body twice": ("6-RUS", joint(1, between=["body1", "body1"]), "between"),
    "a skew tensor": (
        "6-RUS",
        body("body1", inertia=[[0.1, 0.05, 0], [-0.05, 0.1, 0], [0, 0, 0.1]]),
        "inertia 0.05 -0.05",
    ),
    "a negative moment": ("6-RUS", body("body1", inertia=[-0.1, 0.1, 0.1]), "inertia -0.1"),
    "an impossible tensor": ("6-RUS", body("body1", inertia=[0.1, 0.1, 0.5]), "inertia 0.1 0.5"),
    "nothing at the platform": (
        "6-RUS",
        joint(2, between=["body2", "body1"]),
        "joints platform",
    ),
    "a platform fixed to the base": (
        "6-RUS",
        leg(lambda one: one["joints"].append(WELD)),
        "joints.3",
    ),
    "a place on the platform": (
        "6-RUS",
        leg(lambda one: one.update(platform=[1, 0, 0])),
        "platform",
    ),
    "a driven cross": (
        "6-RUS",
        joint(1, actuated=True),
        "actuated universal",
    ),
    "a hinge driven in words": ("6-RUS", joint(0, actuated="rotation"), "actuated true"),
    "a cylinder driven anyhow": ("6-CRS", joint(0, actuated=True), "actuated cylindrical"),
    "friction of a cylinder": ("6-CRS", joint(0, friction={"viscous": 1.0}), "frictions"),
    "frictions of a hinge": (
        "6-RUS",
        joint(0, frictions={"rotation": {"viscous": 1.0}}),
        "frictions",
    ),
    "friction of turning in units of sliding": (
        "6-CRS",
        joint(0, frictions={"rotation": {"viscous": "2 N s/m"}}),
        "frictions.rotation.viscous 2 N s/m",
    ),
    "friction of sliding in units of turning": (
        "6-CRS",
        joint(0, frictions={"translation": {"drag": "2 N m"}}),
        "frictions.translation.drag",
    ),
    "a way in degrees": (
        "6-CRS",
        joint(0, ranges={"translation": ["-3 deg", 1]}),
        "ranges.translation",
    ),
    "a cross with a range": ("6-RUS", joint(1, range=[-1, 1]), "range cone ranges universal"),
    "a range from large to small": ("6-RUS", joint(0, range=[1, -1]), "range [1.0, -1.0]"),
    "a rotor that nothing drives": ("6-RUS", joint(1, rotor=1.0), "rotor"),
    "a leg that moves by itself": (
        "6-RUS",
        joint(1, drop="axes", kind="spherical"),
        "bodies.body2 U2 S3",
    ),
    "a hinge too many": (
        "6-RRRS",
        joint(1, drop="axis", kind="spherical"),
        "joints R1 R2 R3",
    ),
    "a rod that is not round": (
        "delta of balls",
        body("rod1", inertia=[0.01, 0.02, 0.025]),
        "rod1 elbow1 wrist1",
    ),
    "a rod with its mass beside it": ("delta of balls", body("rod1", com=[1, 1, 1]), "rod1 958.2 mm"),
    "five drives": (
        "6-RUS",
        joint(0, drop="actuated"),
        "6 5",
    ),
    "two drives of three": (
        "tricept",
        joint(1, drop="actuated"),
        "3 2",
    ),
    "degrees of freedom not stated": (
        "delta of balls",
        lambda data: data.pop("dof"),
        "3 dof [x, y, z]",
    ),
    "one degree of freedom too few": (
        "delta of balls",
        lambda data: data["dof"].pop(),
        "3 2",
    ),
    "a degree of freedom that legs do not leave": (
        "delta of balls",
        lambda data: data["dof"].__setitem__(0, rotation("roll", [1, 0, 0])),
        "roll dof",
    ),
    "one axis of a planar robot is off": (
        "planar 3-RRR",
        lambda data: tilt(data["legs"][1]["joints"][2], 1.1),
        "legs.1.joints.2.axis leg2.R3 1.1 leg1.R1",
    ),
    "degrees of freedom of a robot of six": (
        "6-RUS",
        lambda data: data.update(dof=[translation("z", [0, 0, 1])]),
        "6 1",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault: str) -> None:
    name, change, text = FAULTS[fault]
    with refused((ValueError, pp.errors.PolypodError), text):
        Mechanism(pp.Robot.model_validate(changed(name, change)))


def test_what_moves_at_home_only_is_a_fault() -> None:
    """A third crank, parallel to two others at home but shorter, leaves a parallelogram an instant of motion."""

    def crank(x: float, length: float, driven: bool) -> dict[str, Any]:
        ends = [[x, 0, 0], [x, length, 0]]
        joints = [
            {"name": f"R{k + 1}", "kind": "revolute", "between": between, "at": at, "axis": [0, 0, 1]}
            for k, (between, at) in enumerate(zip([["base", "crank"], ["crank", "platform"]], ends, strict=True))
        ]
        joints[0]["actuated"] = driven
        return {"kind": "chain", "bodies": {"crank": new_body()}, "joints": joints}

    data = {
        "name": "parallelogram",
        "platform": new_body(),
        "home": {"position": [0.0, 0.5, 0.0]},
        "dof": [translation("x", [1, 0, 0])],
        "legs": [crank(0.0, 0.5, True), crank(0.3, 0.5, False), crank(0.7, 0.5, False)],
    }
    compare(Functions(pp.Robot.model_validate(data)), moving(data, 1))
    data["legs"][2] = crank(0.7, 0.4, False)
    with refused(pp.errors.PolypodError, "1 R2"):
        Mechanism(pp.Robot.model_validate(data))


def test_axes_square_to_their_digits_are_made_square() -> None:
    def tilt(data: dict[str, Any]) -> None:
        first, second = (np.array(axis) for axis in data["legs"][0]["joints"][0]["axes"])
        data["legs"][0]["joints"][0]["axes"][1] = numbers(unit(second + 5e-4 * first))

    data = changed("6-UPS", tilt)
    robot = pp.Robot.model_validate(data)
    one, two = (np.array(axis) for axis in robot.legs[0].joints[0].axes)
    assert abs(one @ two) < 1e-15
    compare(Functions(robot), moving(data, 3))  # the engine makes them square in its own way
    for joint in robot.legs[0].joints:
        assert ChainJoint.model_validate(joint.model_dump()) == joint


def test_axes_that_are_nearly_parallel_are_taken_as_they_are() -> None:
    """A hinge tilted by 1e-6 against the one before it moves forces by 4e-6 of their size."""
    data, rng = ROBOTS["two drives"](1), np.random.default_rng(0)
    for one in data["legs"]:
        first, second = one["joints"][:2]
        second["axis"] = numbers(unit(np.array(first["axis"]) + 1e-6 * square_to(rng, np.array(first["axis"]))))
    compare(Functions(pp.Robot.model_validate(data)), moving(data, 3))


def test_hinges_along_the_one_before_are_known_with_their_sense() -> None:
    """They turn in one plane: a rotation by the sum of two angles takes fewer operations than two rotations."""
    robot = pp.load("planar-3-rrr")
    data = yaml.safe_load(pp.dumps(robot))
    for one in data["legs"]:
        one["joints"][1]["axis"] = [0.0, 0.0, -1.0]
    for legs, sense in ((robot.legs, 1), (pp.loads(yaml.safe_dump(data)).legs, -1)):
        assert [leg._parallels() for leg in legs] == [{1: sense}] * 3


def test_unphysical_bodies_of_chains_are_listed() -> None:
    robot = pp.Robot.model_validate(changed("6-RUS", body("body1", inertia=[0.1, 0.1, 0.5], check="none")))
    assert list(robot.unphysical) == ["leg1.bodies.body1"]


def test_units_of_a_joints_numbers() -> None:
    """Friction, inertia and stiffness may have units, and those of the way that the joint moves."""
    data = ROBOTS["3-PRS"](1)
    slide, hinge = data["legs"][0]["joints"][:2]
    slide |= {"friction": {"viscous": "0.01 N s/mm", "drag": "0.2 kN", "stribeck_speed": "5 mm/s", "static": 1.2}}
    slide |= {"stiffness": "50 N/um", "rotor": "300 g"}
    hinge |= {"friction": {"viscous": "20 N mm s/rad", "coulomb": "3 mm", "drag": "15 N mm"}, "stiffness": "2 N m/rad"}
    one, two = pp.Robot.model_validate(data).legs[0].joints[:2]
    assert (one.friction.viscous, one.friction.drag, one.friction.stribeck_speed) == (10.0, 200.0, 0.005)
    assert (one.stiffness, one.rotor) == (50e6, 0.3)
    assert (two.friction.viscous, two.friction.coulomb, two.friction.drag, two.stiffness) == (0.02, 0.003, 0.015, 2.0)
    hinge["friction"]["viscous"] = "20 N s/m"
    with refused(ValueError, "friction.viscous 20 N s/m"):
        pp.Robot.model_validate(data)
    short = pp.load("kim-ryu").model_dump(exclude_none=True)
    short["legs"] = [{**leg, "slider_friction": {"viscous": "1 N m s/rad"}} for leg in short["legs"]]
    with refused(ValueError, "slider_friction.viscous"):
        pp.Robot.model_validate(short)
