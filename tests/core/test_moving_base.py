"""Robots whose base moves: against bodies followed through space by brute force, and against changes of gravity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError
from support.engines.through_space import (
    TIMES,
    derivative,
    inertias,
    moved,
    needed,
    platform_twist,
    power,
    rate_matrix,
    rotor_inertias,
    state_of,
    total_wrench,
    virtual_paths,
)
from support.robots.hexagon import hexagon_modes
from support.states import mostly_long

ROBOTS = mostly_long(("hexapod", "delta", "planar-3-rrr", "tricept", "3-prs"), ("hexapod", "planar-3-rrr"))


@pytest.mark.parametrize("robot", ROBOTS)
def test_forces_are_those_of_bodies_followed_through_space(robot: str, model_of: Any) -> None:
    """Inverse dynamics by two formulations, bias, direct dynamics and the wrench on the base."""
    model = model_of(robot)
    rng = np.random.default_rng(5)
    path, pose, twist, acceleration = state_of(model, 3)
    base_twist, base_acceleration, wrench = rng.normal(size=6), 3 * rng.normal(size=6), rng.normal(size=6)
    base = np.array([moved(base_twist, base_acceleration, t) for t in TIMES])
    given = {"base_twist": base_twist, "base_acceleration": base_acceleration}
    frames = {name: base @ frame for name, frame in model.bodies(path).items()}
    need = needed(frames, inertias(model), np.asarray(model.robot.gravity))

    force = model.inverse_dynamics(pose, twist, acceleration, wrench, False, **given)
    paths = virtual_paths(model, pose)
    push = [power(model.bodies(one), need) - wrench @ platform_twist(one) for one in paths]
    rotors = rotor_inertias(model) * model.accelerations(pose, twist, acceleration)
    size = np.abs(push).max()
    assert np.abs(rate_matrix(model, pose).T @ (force - rotors) - push).max() < 1e-8 * size

    other = model.inverse_dynamics(pose, twist, acceleration, wrench, False, "newton-euler", **given)
    assert np.abs(other - force).max() < 1e-11 * np.abs(force).max()
    assert np.abs(other - model.inverse_dynamics(pose, twist, acceleration, wrench, False)).max() > 1e-2 * size
    back = model.direct_dynamics(pose, twist, force, wrench, False, **given)
    assert np.abs(back - acceleration).max() < 1e-9 * np.abs(acceleration).max()

    found = model.reactions(pose, twist, acceleration, wrench, False, **given)
    total = total_wrench(frames, need) - np.r_[wrench[:3], wrench[3:] + np.cross(pose[:3, 3], wrench[:3])]
    assert np.abs(found.base + total).max() < 1e-8 * np.abs(total).max()


def test_the_base_carries_what_its_joints_carry(model_of: Any) -> None:
    """With friction and a base that moves, the sum over the joints on the base is the wrench on it."""
    model = model_of("kim-ryu")
    rng = np.random.default_rng(2)
    _, pose, twist, acceleration = state_of(model, 1)
    given = {"base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6)}
    found = model.reactions(pose, twist, acceleration, rng.normal(size=6), True, **given)
    total = np.zeros(6)
    for leg in model.kernels.mechanism.placed:
        for joint in leg.placement.joints:
            if joint.parent == "base":
                one = found.legs[leg.leg.name][joint.name]
                point = _point(model, leg, joint, pose)
                total -= np.r_[one.force, one.moment + np.cross(point, one.force)]
    assert np.abs(total - found.base).max() < 1e-11 * np.abs(total).max()


def _point(model: pp.Model, leg: Any, joint: Any, pose: Array) -> Array:
    """The point of a joint of a leg in closed form, by its own stated place."""
    mechanism = model.kernels.mechanism
    arm = leg.leg.attachment(mechanism.numbers.home_position, ca.densify(mechanism.numbers.home_rotation))
    symbols, values = mechanism.numbers.symbols, mechanism.numbers.values
    arm = np.array(ca.Function("arm", [symbols], [ca.densify(ca.SX(arm))])(values)).ravel()
    inputs = [ca.vertcat(leg.tip.origin, ca.vec(leg.tip.axes)), symbols]
    place = ca.Function("point", inputs, [ca.densify(ca.SX(joint.point))])
    tip = np.r_[pose[:3, 3] + pose[:3, :3] @ arm, pose[:3, :3].T.ravel()]
    return np.array(place(tip, values)).ravel()


@pytest.mark.parametrize(
    "robot", mostly_long(("lopes", "kim-ryu", "long", "planar-4-rrr", "reachy-mini"), ("planar-4-rrr",))
)
def test_a_base_that_does_not_turn_is_a_change_of_gravity(robot: str, model_of: Any) -> None:
    """To rounding, with friction, on flexible platforms and with more actuators than degrees of freedom."""
    model = model_of(robot)
    _, pose, twist, acceleration = state_of(model, 7)
    push = np.array([0.7, -1.1, 2.0])
    given = {"base_twist": np.r_[3.0, 2.0, 1.0, 0, 0, 0], "base_acceleration": np.r_[push, 0, 0, 0]}
    other = {"gravity": np.asarray(model.robot.gravity) - push}
    for moving, standing in (
        (
            model.inverse_dynamics(pose, twist, acceleration, **given),
            model.inverse_dynamics(pose, twist, acceleration, parameters=other),
        ),
        (
            model.direct_dynamics(pose, twist, np.ones(len(model.actuators)), **given),
            model.direct_dynamics(pose, twist, np.ones(len(model.actuators)), parameters=other),
        ),
        (model.bias(pose, twist, False, **given), model.bias(pose, twist, False, parameters=other)),
    ):
        assert np.abs(moving - standing).max() < 1e-12 * np.abs(standing).max()


def test_a_flexible_platform_on_a_turning_base() -> None:
    """All its nodes followed through space: forces on the frame and on the modes; legs weigh next to nothing.

    Forces and elastic accelerations go forth and back.
    """
    modes = hexagon_modes(3)
    model = pp.Model(pp.load("long").on_modes(modes))
    light = {f"legs.*.{body}.{field}": value * 1e-10 for body in ("lower", "upper")
             for field, value in (("mass", 1.0), ("com", np.zeros(3)), ("inertia", np.eye(3)))}  # fmt: skip
    light |= {"legs.*.rotor_mass": 1e-10, "legs.*.cross_inertia": 1e-10}
    rng = np.random.default_rng(4)
    pose = model.robot.home.matrix @ moved(0.03 * rng.normal(size=6), np.zeros(6), 1.0)
    twist, base_twist, base_acceleration = rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)
    bend, rate = 1e-3 * rng.normal(size=3), 0.1 * rng.normal(size=3)
    given = {"base_twist": base_twist, "base_acceleration": base_acceleration, "elastic": bend, "elastic_rate": rate}
    nodes = []
    for time in TIMES:
        step = moved(twist, np.zeros(6), time)
        local = modes.nodes + modes.shapes @ (bend + rate * time)
        inside = pose[:3, 3] + step[:3, 3] + local @ (step[:3, :3] @ pose[:3, :3]).T
        base = moved(base_twist, base_acceleration, time)
        nodes.append(base[:3, 3] + inside @ base[:3, :3].T)
    push = np.asarray(modes.masses)[:, None] * (derivative(np.array(nodes), 2) - np.asarray(model.robot.gravity))
    arm = nodes[3] - pose[:3, 3]
    shapes = np.einsum("ij,njk->nik", pose[:3, :3], modes.shapes)
    elastic = np.einsum("nik,ni->k", shapes, push) + np.asarray(modes.stiffness) * bend
    elastic = elastic + np.asarray(modes.generalized_damping) * rate
    wanted = np.r_[push.sum(axis=0), np.cross(arm, push).sum(axis=0), elastic]
    found = model.bias(pose, twist, False, parameters=light, **given)
    assert np.abs(found - wanted)[:6].max() < 1e-8 * np.abs(wanted[:6]).max()
    assert np.abs(found - wanted)[6:].max() < 1e-8 * np.abs(wanted[6:]).max()

    acceleration = rng.normal(size=6)
    forth = model.inverse_dynamics(pose, twist, acceleration, friction=False, full_output=True, **given)
    back = model.direct_dynamics(pose, twist, forth.force, friction=False, full_output=True, **given)
    assert np.abs(back.acceleration - acceleration).max() < 1e-8
    assert (
        np.abs(back.elastic_acceleration - forth.elastic_acceleration).max()
        < 1e-8 * np.abs(forth.elastic_acceleration).max()
    )


def test_batches_designs_and_what_is_refused(model_of: Any) -> None:
    """Motions of the base broadcast like any input; formulations of a base that stands still say so."""
    model = model_of("hexapod")
    home, still = model.robot.home.matrix, np.zeros(6)
    base = np.random.default_rng(0).normal(size=(5, 6))
    masses = {"platform.mass": np.array([[3.0], [4.0]])}
    found = model.inverse_dynamics(home, still, still, base_twist=base, base_acceleration=base, parameters=masses)
    assert found.shape == (2, 5, 6)
    one = model.inverse_dynamics(
        home, still, still, base_twist=base[3], base_acceleration=base[3], parameters={"platform.mass": 4.0}
    )
    assert np.abs(found[1, 3] - one).max() < 1e-13 * np.abs(one).max()
    with pytest.raises(InputError):
        model.inverse_dynamics(home, still, still, formulation="lagrange", base_twist=base)
    with pytest.raises(InputError):
        model.inverse_dynamics(home, still, still, base_twist=np.full(6, np.nan))
    with pytest.raises(InputError):
        model.inverse_dynamics(home, still, still, base_twist=np.zeros(3))


def test_a_spring_on_a_moving_base_pulls_as_on_one_that_stands_still(model_of: Any) -> None:
    """Its force is that of its length and rate, worked out by hand; inside the robot it adds nothing to the base."""
    plain = model_of("hexapod")
    spring = {"kind": "spring", "name": "lift", "between": ["base", "platform"], "at": [[0, 0, 0], [0, 0, 0.4]],
              "stiffness": 2000.0, "length": 0.5, "damping": 50.0}  # fmt: skip
    data = plain.robot.model_dump(exclude_unset=True) | {"elements": [spring]}
    sprung = pp.Model(pp.Robot.model_validate(data))
    home, rng = plain.robot.home.matrix, np.random.default_rng(0)
    twist, acceleration = 0.2 * rng.normal(size=6), rng.normal(size=6)
    given = {"base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6), "friction": False}
    end = np.array([0.0, 0.0, 0.4])
    arm, line, length = end - home[:3, 3], end / 0.4, 0.4
    speed = line @ (twist[:3] + np.cross(twist[3:], arm))
    force = -(2000.0 * (length - 0.5) + 50.0 * speed) * line
    wrench = np.r_[force, np.cross(arm, force)]
    found, without = (m.reactions(home, twist, acceleration, **given) for m in (sprung, plain))
    asked = plain.jacobian(home).T @ (found.force - without.force)
    assert np.abs(asked + wrench).max() < 1e-12 * np.abs(wrench).max()
    assert np.abs(found.base - without.base).max() < 1e-12 * np.abs(without.base).max()


@pytest.mark.parametrize("robot", mostly_long(("delta", "3-rps"), ("3-rps",)))
def test_answers_of_another_program(robot: str) -> None:
    """Forces and wrenches on the base, still and moving, and with springs, computed by a program of its own: bodies in
    maximal coordinates with constraints, without friction; within 1e-10 of the largest number of each answer."""
    folder = Path(__file__).parents[1] / "data" / "golden"
    text = (folder / "general" / f"{robot}.yaml").read_text()
    plain = pp.Model(pp.loads(text))
    springs = pp.Model(pp.loads(text + (folder / "extended" / f"{robot}-springs.yaml").read_text()))
    states = json.loads((folder / "extended" / f"{robot}.json").read_text())["states"]
    at = {key: np.array([one[key] for one in states]) for key in states[0]}
    given = at["pose"], at["twist"], at["acceleration"], at["wrench"]
    moving = {"base_twist": at["base_twist"], "base_acceleration": at["base_acceleration"]}

    def same(found: Array, wanted: Array) -> None:
        assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()

    same(plain.inverse_dynamics(*given, False), at["force"])
    same(plain.inverse_dynamics(*given, False, **moving), at["force_moving_base"])
    same(plain.reactions(*given, False).base, at["base_wrench"])
    same(plain.reactions(*given, False, **moving).base, at["base_wrench_moving"])
    same(springs.inverse_dynamics(*given, False), at["force_springs"])
    same(np.stack([-one.force[..., 0] for one in springs.elements(at["pose"]).values()], axis=-1), at["tension"])
    same(springs.energy(at["pose"], at["twist"]).potential - plain.energy(at["pose"], at["twist"]).potential,
         at["spring_energy"])  # fmt: skip
