"""Positions and rates of all joints: MuJoCo and Pinocchio put the bodies of the exported files where the model does,
and their loops close; rates are the differences of positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError
from polypod.export import export_mjcf, mjcf_positions, urdf_files, urdf_positions
from polypod.model.joints import unwrapped
from support.engines.pinocchio_tree import PinocchioTree
from support.refusals import refused
from support.states import displaced

# rods that spin, universal joints with a cross, motors with an offset, joints halved, cylinders; in long runs all
CHOSEN = ("hexapod", "delta", "kim-ryu", "3-rps", "five-bar")
MUJOCO_REFUSES = {"pedrammehr", "staicu", "long"}
LIBRARY = [pytest.param(name, marks=() if name in CHOSEN else pytest.mark.long) for name in pp.library()]
TURNTABLE = """
name: turntable
dof: [yaw]
platform: {mass: 1, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
legs:
  - kind: chain
    bodies: {}
    joints:
      - {name: turn, kind: revolute, between: [base, platform], at: [0, 0, 0], axis: [0, 0, 1], actuated: true}
"""
pytestmark = pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")


def motion(model: pp.Model, t: Array) -> tuple[Array, Array]:
    """Poses and twists along a smooth motion about home, all degrees of freedom at once."""
    m, rng = len(model.dof), np.random.default_rng(5)
    frequencies, phases = rng.uniform(1.0, 2.0, m), rng.uniform(0.5, 2.5, m)
    scale = np.where(model.mobility.turns, 0.08, 0.08 * model.size)
    x = scale * np.sin(frequencies * t[:, None] + phases)
    xdot = scale * frequencies * np.cos(frequencies * t[:, None] + phases)
    if not model.mobility.full:
        pose, twist, _ = model.motion(x, xdot, np.zeros_like(x))
        return pose, twist
    shift = x.copy()
    shift[:, 3:] = 0.0
    turn = np.array([0.48, 0.6, 0.64])
    angle, rate = 0.15 * np.sin(t + 1.0), 0.15 * np.cos(t + 1.0)
    shift[:, 3:] = angle[:, None] * turn
    return displaced(model.robot.home.matrix, shift), np.concatenate([xdot[:, :3], rate[:, None] * turn], axis=1)


@pytest.mark.parametrize("name", LIBRARY)
def test_positions_are_zero_at_home_but_for_offsets_and_rates_are_their_differences(
    name: str, model_of: Callable[[str], pp.Model]
) -> None:
    model = model_of(name)
    home = model.joint_positions(model.robot.home.matrix)
    assert list(home) == [f"{leg}.{joint.name}" for leg, placed in zip(model.legs, model.kernels.mechanism.placed,
                          strict=True) for joint in placed.placement.joints]  # fmt: skip
    for leg in model.robot.legs:
        joints = {joint.name: joint for joint in getattr(leg, "joints", ())}
        for key, value in home.items():
            if key.startswith(f"{leg.name}."):
                joint = joints.get(key.removeprefix(f"{leg.name}."))
                wanted = joint.offset / joint.ratio if joint is not None else 0.0
                assert abs(np.abs(value).max() - abs(wanted)) < 1e-9, key
    # sixth-order differences of 1e-3 s leave rounding: 1e-15/1e-3 of positions of about one
    h = 1e-3
    t = 0.4 + h * np.arange(-3, 4)
    poses, twists = motion(model, t)
    values, rates = model.joint_positions(poses, unwrap=0), model.joint_rates(poses[3], twists[3])
    largest = max(np.abs(rate).max() for rate in rates.values())
    for key, value in values.items():
        wanted = np.array([-1, 9, -45, 0, 45, -9, 1]) @ value / (60 * h)
        assert np.abs(rates[key] - wanted).max() < 1e-9 * max(largest, 1.0), key


def body_poses(model: pp.Model, pose: Array) -> dict[str, Array]:
    """Displacement from home (4, 4) of every body, by its name in exported files."""
    home, here = model.bodies(model.robot.home.matrix), model.bodies(pose)
    return {name.replace(".", "-", 1): here[name] @ np.linalg.inv(home[name]) for name in here}


@pytest.mark.parametrize("name", [p for p in LIBRARY if p.values[0] not in MUJOCO_REFUSES])
def test_mujoco_puts_the_bodies_there(name: str, model_of: Callable[[str], pp.Model]) -> None:
    model = model_of(name).rigid
    mj = mujoco.MjModel.from_xml_string(export_mjcf(model))
    data = mujoco.MjData(mj)
    poses, _ = motion(model, np.linspace(0.0, 2.0, 4))
    positions = mjcf_positions(model, poses)
    home = mjcf_positions(model, model.robot.home.matrix)
    np.testing.assert_allclose(home, mj.key_qpos[0], atol=1e-9)

    def placed(q: Array) -> Array:
        data.qpos[:] = q
        mujoco.mj_forward(mj, data)
        return np.concatenate([np.concatenate([data.xmat.reshape(-1, 3, 3), data.xpos[:, :, None]], axis=2),
                               np.tile([0.0, 0, 0, 1], (mj.nbody, 1, 1))], axis=1)  # fmt: skip

    start = placed(home)
    for pose, q in zip(poses, positions, strict=True):
        there, wanted = placed(q), body_poses(model, pose)
        if mj.neq:  # six digits of the file
            assert np.abs(data.efc_pos[: data.ne]).max(initial=0.0) < 1e-6 * model.size
        for k in range(1, mj.nbody):
            label = mj.body(k).name.partition("-half")[0]
            if label == "base":  # the one root of the file
                assert np.array_equal(there[k], start[k])
                continue
            moved = there[k] @ np.linalg.inv(start[k])
            np.testing.assert_allclose(moved, wanted[label], atol=2e-6, err_msg=label)


@pytest.mark.parametrize("name", LIBRARY)
def test_pinocchio_puts_the_bodies_there(name: str, model_of: Callable[[str], pp.Model], tmp_path: Path) -> None:
    model = model_of(name).rigid
    for file, text in urdf_files(model).items():
        (tmp_path / file).write_text(text)
    tree = PinocchioTree(tmp_path / f"{name}.urdf", tmp_path / f"{name}-loops.yaml", "platform-frame")
    frames = {frame.name: k for k, frame in enumerate(tree.model.frames) if frame.type == pin.FrameType.BODY}
    poses, _ = motion(model, np.linspace(0.0, 2.0, 4))
    states = urdf_positions(model, poses)
    data = tree.model.createData()

    def placed(at: int | None) -> tuple[Array, dict[str, Array]]:
        q = pin.neutral(tree.model)
        for label, values in states.items():
            joint = tree.model.joints[tree.model.getJointId(label)]
            value = 0.0 if at is None else values[at]
            q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        pin.framesForwardKinematics(tree.model, data, q)
        return q, {key: data.oMf[k].homogeneous.copy() for key, k in frames.items()}

    _, start = placed(None)
    for number, pose in enumerate(poses):
        q, there = placed(number)
        assert np.abs(tree.gap(q)).max(initial=0.0) < 1e-8 * max(model.size, 1.0)
        np.testing.assert_allclose(there["platform-frame"], pose, atol=1e-9)
        for label, moved in body_poses(model, pose).items():
            if label in there:
                np.testing.assert_allclose(there[label] @ np.linalg.inv(start[label]), moved, atol=1e-9, err_msg=label)


def test_angles_go_on_along_a_motion() -> None:
    """A platform turned once round: angles and rotation vectors that would jump go on; designs keep their axes."""
    model = pp.Model(pp.loads(TURNTABLE))
    t = np.linspace(0.0, 1.0, 201)
    angle = 4.5 * np.pi * t
    pose, _, _ = model.motion(angle[:, None], np.zeros((201, 1)), np.zeros((201, 1)))
    jumping, going = model.joint_positions(pose), model.joint_positions(pose, unwrap=0)
    (key,) = going
    np.testing.assert_allclose(going[key][:, 0], angle, atol=1e-12)
    assert np.abs(jumping[key]).max() <= np.pi + 1e-12
    both = model.joint_positions(np.stack([pose, pose[::-1]]), unwrap=1)[key]
    np.testing.assert_allclose(both[0, :, 0], angle, atol=1e-12)
    with refused(InputError, "unwrap", 1):
        model.joint_positions(pose, unwrap=1)


def test_rotation_vectors_go_on() -> None:
    axis, angle = np.array([0.6, 0.0, 0.8]), np.linspace(-7.0, 9.0, 300)
    short = (angle + np.pi) % (2 * np.pi) - np.pi
    found = unwrapped(short[:, None] * axis, {"leg.ball": ("x", "y", "z")}, 0)
    turns = np.round((found[0] @ axis - angle[0]) / (2 * np.pi)) * 2 * np.pi
    np.testing.assert_allclose(found @ axis, angle + turns, atol=1e-12)
    np.testing.assert_allclose(found, (found @ axis)[:, None] * axis, atol=1e-12)


def test_positions_of_designs_are_those_of_their_robots(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("delta")
    pose = model.motion(np.array([0.02, -0.03, 0.04]), np.zeros(3), np.zeros(3)).pose
    masses = np.array([1.0, 2.0])
    found = model.joint_positions(pose, parameters={"platform.mass": masses})
    for key, value in model.joint_positions(pose).items():
        np.testing.assert_allclose(found[key], np.broadcast_to(value, (2, *value.shape)), atol=1e-15)
