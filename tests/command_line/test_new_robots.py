"""``polypod new --hexapod`` and its like: files that are right, of the sizes given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, UnknownNameError
from polypod.file_kinds import check
from polypod.files.templates.sizes import DEFAULTS, robot_text
from support.command_line import polypod
from support.refusals import refused
from support.states import mostly_long

JOINT_DOF = {"hexapod": 6, "delta": 3, "servo-hexapod": 6, "tripod": 3}


@pytest.mark.parametrize("kind", mostly_long(DEFAULTS, ("tripod", "hexapod")))
def test_a_robot_of_each_kind_is_right_and_healthy(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert polypod("new", "--kind", kind).exit_code == 0
    path = tmp_path / f"my-{kind}.yaml"
    report = check(path)
    assert (report.ok, report.clean) == (True, True), report
    robot = pp.load(path)
    assert (len(robot.dof) or 6) == JOINT_DOF[kind]
    assert pp.Model(robot).conditioning(robot.home.matrix).condition < 5.0
    assert f"# Written by: polypod new my-{kind} --kind {kind}\n" in path.read_text()


def test_sizes_are_in_the_robot():
    sizes = {"base_radius": 0.5, "platform_radius": 0.25, "base_angle": 30.0, "platform_angle": 20.0, "height": 0.7,
             "stroke": 0.3, "mass": 12.0, "leg_mass": 3.0}  # fmt: skip
    robot = pp.loads(robot_text("hexapod", "h", sizes))
    base = np.array([leg.base for leg in robot.legs])
    platform = np.array([leg.platform for leg in robot.legs])
    assert np.linalg.norm(base, axis=1) == pytest.approx(0.5, rel=1e-8)
    assert np.linalg.norm(platform, axis=1) == pytest.approx(0.25, rel=1e-8)
    angles = np.rad2deg(np.arctan2(base[:, 1], base[:, 0])) % 360
    assert sorted((angles[1::2] - angles[::2]) % 360) == pytest.approx([30.0] * 3, rel=1e-7)
    turned = np.sort(np.rad2deg(np.arctan2(platform[:, 1], platform[:, 0])) % 360)
    assert sorted(np.diff(turned)) == pytest.approx([20, 20, 20, 100, 100], rel=1e-7)
    lengths = np.linalg.norm(platform + np.array([0, 0, 0.7]) - base, axis=1)
    assert [leg.length[1] - leg.length[0] for leg in robot.legs] == pytest.approx([0.3] * 6, rel=1e-8)
    assert [sum(leg.length) / 2 for leg in robot.legs] == pytest.approx(lengths, rel=1e-8)
    assert robot.platform.mass == 12.0
    assert robot.legs[0].lower.mass + robot.legs[0].upper.mass == pytest.approx(3.0, rel=1e-12)
    delta = pp.loads(robot_text("delta", "d", {"arm": 0.25, "height": 0.5})).legs[0].joints
    assert math.dist(delta[0].at, [0.15, 0, 0]) == 0.0
    assert delta[1].at[0] == pytest.approx(0.15 + 0.25, rel=1e-12)
    assert delta[3].at[2] == -0.5
    servo = pp.loads(robot_text("servo-hexapod", "s", {"arm": 0.05})).legs
    assert [math.dist(leg.joints[0].at, leg.joints[1].at) for leg in servo] == pytest.approx([0.05] * 6, rel=1e-8)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("x", "--kind", "delta", "--stroke", 0.1), "--stroke: is a size of kind hexapod or tripod, not of delta"),
        (("x", "--height", 0.1), "--height: requires --kind hexapod, delta"),
        (("x", "--kind", "dleta"), "unknown kind of robot 'dleta'. Did you mean 'delta'?"),
        (("x", "--kind", "tripod", "--mass", -1), "--mass: must be greater than 0 and at most 1e+09, got -1"),
        (
            ("x", "--kind", "tripod", "--stroke", 2),
            "--stroke: must be less than the leg's length at home, 0.6185 m, got 2",
        ),
        (
            ("x", "--kind", "hexapod", "--base-angle", 130),
            "--base-angle: two joints of a pair are less than 120 deg apart",
        ),
        (("x", "--kind", "delta", "--platform-radius", 1), "--platform-radius: --base-radius and --arm reach 0.35 m"),
        (("x", "--kind", "tripod", "--flexible"), "--kind: makes a robot with a rigid platform; leave out --flexible"),
        (("x y", "--kind", "tripod"), "name: letters, digits"),
        (("hexapod", "--kind", "hexapod"), "name: 'hexapod' is a robot of the library"),
    ],
)
def test_faults_of_sizes_say_what_to_do(asked, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = polypod("new", *asked)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_unknown_kinds_and_sizes():
    with refused(UnknownNameError, near="tripod"):
        robot_text("tripodd", "t", {})
    with refused(InputError, "arm delta servo-hexapod tripod"):
        robot_text("tripod", "t", {"arm": 0.1})
