"""Axes with few digits: parallel and square where the digits allow it, kept where they do not."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from polypod.errors import RobotFileError, RoundedWarning
from polypod.files import loads
from polypod.mobility.mobility import known_mobility
from polypod.yaml12 import to_yaml
from support.refusals import refused, warned
from support.robots.random_chains import planar
from support.robots.unusual_chains import rails

DIGITS = 5


def rounded(data: dict[str, Any], noise: float = 0.4) -> dict[str, Any]:
    """A robot whose joints' axes are printed with few digits, each off by less than half a unit of the last."""
    data, rng = copy.deepcopy(data), np.random.default_rng(3)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            if "axis" in joint:
                off = noise * 10.0**-DIGITS * rng.uniform(-1, 1, 3)
                joint["axis"] = np.round(np.array(joint["axis"]) + off, DIGITS).tolist()
    return data


def tilted(data: dict[str, Any]) -> dict[str, Any]:
    """Rails in a plane that is no coordinate plane."""
    from scipy.spatial.transform import Rotation

    from support.robots.random_chains import carried

    return carried(data, Rotation.from_rotvec([0.4, -0.7, 0.2]).as_matrix())


def test_a_planar_robot_of_few_digits_moves() -> None:
    data = planar(1)
    with warned(RoundedWarning, "dof.2.axis"):
        robot = loads(to_yaml(rounded(data)))
    mobility = known_mobility(robot)
    assert mobility is not None
    assert mobility.constant
    normal = np.array(data["dof"][2]["axis"])
    for leg in robot.legs:
        for joint in leg.joints:
            assert np.linalg.norm(np.cross(joint.axis, normal)) < 1e-15


def test_slides_of_few_digits_stay_in_the_plane() -> None:
    with warned(RoundedWarning):
        robot = loads(to_yaml(rounded(tilted(rails(1)))))
    mobility = known_mobility(robot)
    assert mobility is not None
    assert mobility.constant


def test_what_has_all_its_digits_or_is_off_by_more_is_kept() -> None:
    """A tilt of one unit of the last digit is meant; so is any of axes that are written in full."""
    data = planar(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(to_yaml(data))
    joint = data["legs"][0]["joints"][1]
    tilt = np.cross(joint["axis"], [0.3, -0.5, 0.8])
    joint["axis"] = (np.array(joint["axis"]) + 1e-6 * tilt).tolist()
    joint["axis"] = (np.array(joint["axis"]) / np.linalg.norm(joint["axis"])).tolist()
    robot = loads(to_yaml(data))
    with refused(RobotFileError, "2 3"):
        known_mobility(robot)
