"""pp.pose: position, and roll, pitch, yaw in the order ZYX."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError
from support.refusals import refused


def test_the_order_is_zyx_and_batch_axes_lead():
    rng = np.random.default_rng(0)
    x, y, z, roll, pitch, yaw = rng.uniform(-3, 3, (6, 4, 5))
    poses = pp.pose(x, y, z, roll, pitch, yaw)
    assert poses.shape == (4, 5, 4, 4)
    np.testing.assert_array_equal(poses[..., :3, 3], np.stack([x, y, z], axis=-1))
    np.testing.assert_array_equal(poses[..., 3, :], np.broadcast_to([0, 0, 0, 1], (4, 5, 4)))
    angles = np.stack([yaw, pitch, roll], axis=-1).reshape(-1, 3)
    wanted = Rotation.from_euler("ZYX", angles).as_matrix().reshape(4, 5, 3, 3)
    np.testing.assert_allclose(
        poses[..., :3, :3], wanted, rtol=0, atol=1e-15
    )  # sums of products of rounded sines, eps each
    for k, turn in enumerate(("roll", "pitch", "yaw")):
        one = pp.pose(**{turn: 0.3})[:3, :3]
        np.testing.assert_allclose(one, Rotation.from_rotvec(0.3 * np.eye(3)[k]).as_matrix(), rtol=0, atol=1e-15)


def test_numbers_arrays_and_nothing_broadcast():
    np.testing.assert_array_equal(pp.pose(), np.eye(4))
    assert pp.pose(0.1, yaw=[0.0, 0.1, 0.2]).shape == (3, 4, 4)
    assert pp.pose(x=np.zeros((2, 1)), roll=np.zeros(3)).shape == (2, 3, 4, 4)
    assert pp.pose(x=[]).shape == (0, 4, 4)


def test_models_take_it():
    model = pp.Model("kim-ryu")
    home = model.robot.home
    np.testing.assert_allclose(
        model.inverse_kinematics(pp.pose(*home.position)), model.inverse_kinematics(home.matrix), rtol=1e-15
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": [0, 1], "yaw": [1, 2, 3]}, "pose x (2,) yaw (3,)"),
        ({"roll": "5 mm"}, "roll 5 mm"),
        ({"z": np.nan}, "z"),
    ],
)
def test_what_is_no_pose_is_named(fields, message):
    with refused(InputError, message):
        pp.pose(**fields)
