"""Machines in stages as one robot: against the recursion through the stages, and MuJoCo and Pinocchio on exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError
from polypod.exchange import whole_robot
from polypod.export import export_mjcf
from polypod.motion import loads_motion
from polypod.stages import Series, series
from support.command_line import polypod
from support.refusals import refused
from support.states import mostly_long

SHIFT = """
name: shift
rate: 20
trajectory: {kind: euler, relative_to: home, path: {kind: sine, frequency: 1, duration: 1,
  amplitude: [30 mm, 0, 10 mm, 0, 0, 5 deg]}}
internal: {kind: sine, amplitude: [40 mm], frequency: 1, duration: 1}
"""
MACHINES = mostly_long(("hexapod-on-rail", "reachy-mini-with-body", "tricept-with-wrist"), ("hexapod-on-rail",))


def motions_of(machine: Series, seed: int) -> list[tuple[Array, Array, Array]]:
    """A motion of each stage near home, relative to its base."""
    rng, found = np.random.default_rng(seed), []
    for stage in machine.stages:
        if stage.robot.dof:
            motion = stage.motion(*(0.05 * rng.normal(size=(3, len(stage.dof)))))
            found.append((motion.pose, motion.twist, motion.acceleration))
        else:
            pose = stage.home.copy()
            pose[:3, 3] += 0.02 * rng.uniform(-1, 1, 3)
            found.append((pose, 0.3 * rng.normal(size=6), 2 * rng.normal(size=6)))
    return found


def as_one(machine: Series, motions: list[tuple[Array, Array, Array]]) -> dict[str, Any]:
    """The same motion of the whole: pose, twist and acceleration of the highest platform by its own joints."""
    whole = machine.whole
    q, rates, changes = (
        np.concatenate(
            [getattr(stage, name)(*motion[:count]) for stage, motion in zip(machine.stages, motions, strict=True)]
        )
        for name, count in (("inverse_kinematics", 1), ("rates", 2), ("accelerations", 3))
    )
    found = whole.forward_kinematics(q, full_output=True)
    inner = {"internal": found.internal} if whole.internal else {}
    twist = whole.twist(found.pose, rates, **inner)
    return {
        "pose": found.pose,
        "twist": twist,
        "acceleration": whole.acceleration(found.pose, twist, changes, **inner),
        **inner,
    }


@pytest.mark.parametrize("name", MACHINES)
def test_the_whole_is_the_recursion_through_its_stages(name: str) -> None:
    """Pose and twist of the highest platform, forces with friction, the wrench on the lowest base."""
    machine = series(name)
    motions, wrench = motions_of(machine, 2), np.array([3.0, -2.0, 5.0, 0.2, 0.1, -0.3])
    state = as_one(machine, motions)
    poses, twists = [m[0] for m in motions], [m[1] for m in motions]
    np.testing.assert_allclose(state["pose"], machine.platform_poses(poses)[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state["twist"][:6], machine.twists(poses, twists)[-1], rtol=0, atol=1e-11)
    # the wrench on the highest platform is in the axes of the base of its stage, and of the lowest base
    axes = machine.platform_poses(poses)[-2][:3, :3] @ machine.mounts[-1][:3, :3]
    turned = np.r_[axes @ wrench[:3], axes @ wrench[3:]]
    force, wanted = machine.whole.inverse_dynamics(wrench=turned, **state), machine.inverse_dynamics(motions, wrench)
    assert np.abs(force - np.concatenate(wanted)).max() < 1e-11 * np.abs(force).max()
    base = machine.whole.base_wrench(wrench=turned, **state)
    assert np.abs(base - machine.base_wrench(motions, wrench)).max() < 1e-11 * np.abs(base).max()


def test_mujoco_holds_the_exported_whole_where_the_recursion_says() -> None:
    """Forces at rest of all seven motors at home: virtual power in MuJoCo's tree along motions that keep its loops."""
    mujoco = pytest.importorskip("mujoco")
    machine = series("hexapod-on-rail")
    model = mujoco.MjModel.from_xml_string(export_mjcf(machine.whole))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    still = [(stage.home, np.zeros(6), np.zeros(6)) for stage in machine.stages]
    forces = np.concatenate(machine.inverse_dynamics(still, friction=False))
    assert model.nu == len(forces) == 7
    mujoco.mj_forward(model, data)
    loops = data.efc_J.reshape(-1, model.nv)[: data.ne]
    _, sizes, ways = np.linalg.svd(loops)
    free = ways[int((sizes > 1e-9 * sizes[0]).sum()) :]
    assert len(free) == 7
    moments = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(moments, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    np.testing.assert_allclose(
        free @ moments.T @ forces, free @ data.qfrc_bias, rtol=0, atol=1e-9 * np.abs(forces).max()
    )


def test_studies_and_commands_take_files_with_stages(tmp_path: Path) -> None:
    """A study of the whole has the forces of the recursion; ``run`` and ``export`` work on the file's name."""
    machine, motion = series("hexapod-on-rail"), loads_motion(SHIFT)
    result = pp.study(machine, motion, friction=False, certify=False)
    k = 7
    task = pp.motion.make_task(machine.whole, motion)
    pose, twist, acceleration, s = (
        part[k] for part in (task.motion.pose, task.motion.twist, task.motion.acceleration, task.motion.internal)
    )
    slide = machine.stages[0].motion(s, twist[6:], acceleration[6:])
    # what the rail does is no motion of the hexapod relative to its base
    base = machine.platform_poses([slide.pose, machine.stages[1].home])[0] @ machine.mounts[1]
    own = np.linalg.inv(base) @ pose
    moved = np.r_[slide.twist[:3], np.zeros(3)], np.r_[slide.acceleration[:3], np.zeros(3)]
    motions = [tuple(slide[:3]), (own, twist[:6] - moved[0], acceleration[:6] - moved[1])]
    wanted = np.concatenate(machine.inverse_dynamics(motions, friction=False))  # type: ignore[arg-type]
    assert np.abs(result.force.values[k] - wanted).max() < 1e-11 * np.abs(wanted).max()
    done = polypod("export", "mjcf", "hexapod-on-rail", "--out", str(tmp_path / "whole"))
    assert done.exit_code == 0, done.output


def test_what_cannot_be_one_robot_is_refused(model_of: Any) -> None:
    with refused(InputError, "two stacked 3-PRS", code="stages"):
        whole_robot(series("two-3-prs"))
    with refused(InputError, "whole", code="stages"):
        _ = series("hexapod-on-rail").mass_matrix
