"""Robots that stand on each other: against bodies followed through space, and against the same machine as one chain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError
from polypod.stages import Series
from support.engines.through_space import (
    TIMES,
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

RAIL = """
name: rail
dof: [x]
home: {position: [0, 0, 0.2]}
platform: {mass: 3, com: [0.01, 0.02, 0.03], inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
legs:
  - kind: chain
    bodies:
      carriage: {mass: 5, com: [0, 0, 0.1], inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
    joints:
      - {name: slide, kind: prismatic, between: [base, carriage], axis: [1, 0, 0], actuated: true}
      - {name: flange, kind: fixed, between: [carriage, platform]}
"""
ARM = """
name: arm
dof: [x, y]
home: {position: [0.5, 0.3, 0.1]}
platform: {mass: 1, com: [0.01, 0.02, 0.03], inertia: [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.03]]}
legs:
  - kind: chain
    bodies:
      upper: {mass: 2, com: [0.25, 0.05, 0.1], inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
    joints:
      - {name: shoulder, kind: revolute, between: [base, upper], at: [0, 0, 0.1], axis: [0, 0, 1], actuated: true}
      - {name: elbow, kind: revolute, between: [upper, platform], at: [0.5, 0, 0.1], axis: [0, 0, 1], actuated: true}
"""
# The arm on the rail, 0.2 m higher, written as one chain whose carriage has the mass of carriage and flange:
# 8 kg at (5 (0, 0, 0.1) + 3 (0.01, 0.02, 0.23))/8.
ONE_CHAIN = """
name: rail and arm
dof: [x, y, yaw]
home: {position: [0.5, 0.3, 0.3]}
platform: {mass: 1, com: [0.01, 0.02, 0.03], inertia: [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.03]]}
legs:
  - kind: chain
    bodies:
      carriage: {mass: 8, com: [0.00375, 0.0075, 0.14875], inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
      upper: {mass: 2, com: [0.25, 0.05, 0.3], inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
    joints:
      - {name: slide, kind: prismatic, between: [base, carriage], axis: [1, 0, 0], actuated: true}
      - {name: shoulder, kind: revolute, between: [carriage, upper], at: [0, 0, 0.3], axis: [0, 0, 1], actuated: true}
      - {name: elbow, kind: revolute, between: [upper, platform], at: [0.5, 0, 0.3], axis: [0, 0, 1], actuated: true}
"""


@pytest.fixture(scope="module")
def tower(model_of: Any) -> Series:
    """A Delta that hangs inclined from a hexapod."""
    return pp.series(model_of("hexapod"), model_of("delta"), mounts=[pp.pose(z=0.05, roll=0.4, yaw=0.2)])


def frames_of(tower: Series, paths: list[Array], base: Array) -> dict[str, Array]:
    """All bodies in space, (7, 4, 4) each, from the platforms' paths and that of the lowest base."""
    found: dict[str, Array] = {}
    for model, path, mount in zip(tower.stages, paths, tower.mounts, strict=True):
        base = base @ mount
        found |= {f"{model.robot.name}.{name}": base @ frame for name, frame in model.bodies(path).items()}
        base = base @ path
    return found


def test_forces_are_those_of_bodies_followed_through_space(tower: Series) -> None:
    """On a moving base, with a wrench on the tool: forces of both stages and the wrench on the lowest base."""
    rng = np.random.default_rng(8)
    base_twist, base_acceleration, wrench = rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)
    states = [state_of(model, 5 + k) for k, model in enumerate(tower.stages)]
    motions, paths = [state[1:] for state in states], [state[0] for state in states]
    base = np.array([moved(base_twist, base_acceleration, t) for t in TIMES])
    matrices = {
        f"{model.robot.name}.{name}": value for model in tower.stages for name, value in inertias(model).items()
    }
    frames = frames_of(tower, paths, base)
    need = needed(frames, matrices, tower.gravity)
    given = {"base_twist": base_twist, "base_acceleration": base_acceleration}
    forces = tower.inverse_dynamics(motions, wrench, False, **given)

    poses = [motion[0] for motion in motions]
    tool = tower.platform_poses(poses)[-1]
    axes = tool[:3, :3] @ poses[-1][:3, :3].T  # of the highest stage's base, in which the wrench is given
    outside = np.r_[axes @ wrench[:3], axes @ wrench[3:]]
    for k, (model, force) in enumerate(zip(tower.stages, forces, strict=True)):
        push = []
        for one in virtual_paths(model, poses[k]):
            still = [np.repeat(pose[None], 7, axis=0) for pose in poses]
            still[k] = one
            here = frames_of(tower, still, np.repeat(np.eye(4)[None], 7, axis=0))
            push.append(power(here, need) - outside @ platform_twist(here[f"{tower.names[-1]}.platform"]))
        rotors = rotor_inertias(model) * model.accelerations(*motions[k])
        assert np.abs(rate_matrix(model, poses[k]).T @ (force - rotors) - push).max() < 1e-8 * np.abs(push).max()

    total = total_wrench(frames, need) - np.r_[outside[:3], outside[3:] + np.cross(tool[:3, 3], outside[:3])]
    assert np.abs(tower.base_wrench(motions, wrench, **given) + total).max() < 1e-8 * np.abs(total).max()
    reactions = tower.reactions(motions, wrench, False, **given)
    assert np.abs(reactions[0].base + total).max() < 1e-8 * np.abs(total).max()
    for force, reaction in zip(forces, reactions, strict=True):
        assert np.abs(reaction.force - force).max() < 1e-10 * np.abs(force).max()


@pytest.mark.long
def test_direct_dynamics_inverts_with_friction_that_depends_on_loads(model_of: Any) -> None:
    """kim-ryu's slides rub by their loads, which the robot above decides; a batch of states."""
    tower = pp.series(model_of("kim-ryu"), model_of("hexapod"))
    rng = np.random.default_rng(3)
    motions = []
    for model in tower.stages:
        _, pose, twist, _ = state_of(model, 2)
        motions.append((pose, twist, rng.normal(size=(4, 6))))
    wrench = rng.normal(size=(4, 6))
    forces = tower.inverse_dynamics(motions, wrench)
    found = tower.direct_dynamics([motion[:2] for motion in motions], forces, wrench)
    for one, motion in zip(found, motions, strict=True):
        assert np.abs(one - motion[2]).max() < 1e-9 * np.abs(motion[2]).max()
    alone = tower.inverse_dynamics([(p, t, a[1]) for p, t, a in motions], wrench[1])
    assert all(np.abs(one - many[1]).max() < 1e-12 * np.abs(one).max() for one, many in zip(alone, forces, strict=True))


@pytest.mark.long
def test_stages_are_the_same_machine_as_one_chain() -> None:
    """An arm on a rail: forces, accelerations, poses and twists."""
    rail, arm, whole = (pp.Model(pp.loads(text)) for text in (RAIL, ARM, ONE_CHAIN))
    tower = pp.series(rail, arm)
    rng = np.random.default_rng(1)
    low = rail.motion([0.07], [0.4], [1.3])
    x, xdot, xddot = (
        arm.coordinates(arm.robot.home.matrix) + np.array([0.03, -0.05]),
        np.array([0.5, -0.3]),
        np.array([2.0, 1.0]),
    )
    high = arm.motion(x, xdot, xddot)
    pose, base = tower.platform_poses([low[0], high[0]])[-1], low[0]
    twist = tower.twists([low[0], high[0]], [low[1], high[1]])[-1]
    assert np.abs(base[:3, 3] - [0.07, 0, 0.2]).max() < 1e-15
    acceleration = high[2] + np.r_[1.3, np.zeros(5)]
    wrench = np.r_[rng.normal(size=6)]
    q = np.concatenate(tower.inverse_kinematics([low[0], high[0]]))
    assert np.abs(q - whole.inverse_kinematics(pose)).max() < 1e-12
    forces = np.concatenate(tower.inverse_dynamics([low, high], wrench, False))
    wanted = whole.inverse_dynamics(pose, twist, acceleration, wrench, False)
    assert np.abs(forces - wanted).max() < 1e-11 * np.abs(wanted).max()
    found = tower.direct_dynamics([low[:2], high[:2]], [forces[:1] + 1.0, forces[1:] - 0.5], wrench, False)
    both = whole.direct_dynamics(pose, twist, wanted + np.array([1.0, -0.5, -0.5]), wrench, False)
    assert np.abs(found[0] + found[1] - both).max() < 1e-10 * np.abs(both).max()


def test_what_is_refused(model_of: Any) -> None:
    """Names that repeat, motions of other stages, poses that are none."""
    hexapod, delta = model_of("hexapod"), model_of("delta")
    with pytest.raises(InputError):
        pp.series(hexapod)
    with pytest.raises(InputError):
        pp.series(hexapod, hexapod)
    with pytest.raises(InputError):
        pp.series(hexapod, delta, mounts=[None, None])
    tower = pp.series(hexapod, delta)
    still = (hexapod.robot.home.matrix, np.zeros(6), np.zeros(6))
    with pytest.raises(InputError):
        tower.inverse_dynamics([still])
    with pytest.raises(InputError):
        tower.inverse_dynamics([still, (np.zeros((4, 4)), np.zeros(6), np.zeros(6))])
