"""MJCF of robots: MuJoCo's accelerations are as near to polypod's as its loops are stiff; read back it is the robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

import polypod as pp
from polypod.cli import app
from polypod.errors import InputError
from polypod.exchange import import_robot
from polypod.export import ROBOT_EXPORTS, export_mjcf

STATES = 3
# kinds of legs, loops by points, by hinges and by welds of halves, driven joints of all kinds
ROBOTS = ("hexapod", "five-bar", "tricept", "reachy-mini")


@cache
def model(name: str) -> pp.Model:
    return pp.Model(name)


def motions(one: pp.Model, seed: int):
    """Pose, twist and acceleration of a few states near home."""
    random, m = np.random.default_rng(seed), len(one.robot.freedoms) or 6
    x, xdot, xddot = 0.01 * random.uniform(-1, 1, (STATES, m)), *random.normal(size=(2, STATES, m))
    if one.robot.freedoms:
        return one.motion(x, xdot, xddot)
    pose = np.tile(one.robot.home.matrix, (STATES, 1, 1))
    pose[:, :3, 3] += x[:, :3]
    return pose, xdot, xddot


@pytest.mark.parametrize("name", ROBOTS)
def test_export_then_import_is_the_identity(name: str, tmp_path: Path) -> None:
    """To rounding: forces with friction, coordinates, limits."""
    one = model(name)
    path = tmp_path / "robot.xml"
    path.write_text(export_mjcf(one))
    back = pp.Model(import_robot(path).robot)
    pose, twist, acceleration = motions(one, 1)
    wanted = one.inverse_dynamics(pose, twist, acceleration)
    np.testing.assert_allclose(
        back.inverse_dynamics(pose, twist, acceleration), wanted, atol=1e-12 * np.abs(wanted).max()
    )
    np.testing.assert_allclose(back.inverse_kinematics(pose), one.inverse_kinematics(pose), atol=1e-13)
    if name != "hexapod":  # limits of its universal joints' cones have no place in MJCF
        drives = [[j for leg in r.legs for j in leg.joints if j.actuated] for r in (one.robot, back.robot)]
        for mine, theirs in zip(*drives, strict=True):
            assert (mine.range is None) == (theirs.range is None)
            if mine.range:
                assert theirs.range == pytest.approx(mine.range, abs=1e-12)
            assert (theirs.max_force, theirs.rotor) == pytest.approx((mine.max_force, mine.rotor))


def accelerations(one: pp.Model, impedance: float, stiffer: float, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The platform's acceleration at home by MuJoCo and by polypod, moving, under forces that do not hold it.

    MuJoCo's impedance goes up to 0.9999; beyond that its own estimate of a loop's inertia is made ``stiffer``.
    """
    m = mujoco.MjModel.from_xml_string(export_mjcf(one, impedance=impedance))
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.dof_damping[:] = m.dof_frictionloss[:] = 0.0
    m.body_invweight0[:] /= stiffer
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    platform, random = m.body("platform").id, np.random.default_rng(seed)
    force = d.ctrl + 0.3 * np.abs(d.ctrl).max() * random.uniform(-1, 1, m.nu)

    def jacobians(q):
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        mujoco.mj_jacBody(m, d, linear, angular, platform)
        return np.vstack([linear, angular]), d.efc_J.reshape(-1, m.nv)[: d.ne].copy()

    start = d.qpos.copy()
    along, loops = jacobians(start)
    drives = np.eye(m.nv)[[int(m.joint(m.actuator(k).name).dofadr[0]) for k in range(m.nu)]]
    rates = 0.3 * random.uniform(-1, 1, m.nu)
    v = np.linalg.lstsq(np.vstack([drives, loops]), np.r_[rates, np.zeros(len(loops))], rcond=1e-9)[0]

    def moved(step):
        q = start.copy()
        mujoco.mj_integratePos(m, q, v, step)
        return jacobians(q)[0]

    drift = (moved(1e-4) - moved(-1e-4)) / 2e-4 @ v
    d.qpos[:], d.qvel[:], d.ctrl[:] = start, v, force
    mujoco.mj_forward(m, d)
    exact = one.direct_dynamics(one.robot.home.matrix, along @ v, force, friction=False)
    return along @ d.qacc + drift, exact


@pytest.mark.parametrize("name", ["hexapod", "planar-3-rrr"])
def test_mujoco_converges_as_loops_stiffen(name: str) -> None:
    """Tenfold for each nine of the impedance, and on; MuJoCo's solver stops at about 1e-6."""
    errors = []
    for impedance, stiffer in ((0.99, 1.0), (0.999, 1.0), (0.9999, 1.0), (0.9999, 100.0), (0.9999, 1e4)):
        got, exact = accelerations(model(name), impedance, stiffer)
        errors.append(float(np.abs(got - exact).max() / np.abs(exact).max()))
    assert errors[2] < 0.15 * errors[1] < 0.15**2 * 2 * errors[0]
    assert errors[3] < 0.02 * errors[2]
    assert errors[4] < 5e-6


def test_a_simulated_robot_stays_together_and_at_home() -> None:
    """The forces of the keyframe hold the robot against friction-free gravity for a tenth of a second."""
    m = mujoco.MjModel.from_xml_string(export_mjcf(model("five-bar")))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key("home").id)
    assert np.array_equal(d.qpos, m.qpos0)
    mujoco.mj_step(m, d, nstep=200)
    assert np.abs(d.qpos - m.qpos0).max() < 1e-4


def test_the_file_says_what_it_is_and_what_it_leaves_out() -> None:
    text = export_mjcf(model("hexapod"), time_constant=0.004, impedance=0.99)
    root = ET.fromstring(text)
    assert root.find("default/equality").attrib == {"solref": "0.004 1.0", "solimp": "0.99 0.99 0.001"}
    assert [motor.get("joint") for motor in root.findall("actuator/motor")] == [
        f"leg{k}-prismatic" for k in range(1, 7)
    ]
    assert len(root.findall(".//geom[@type='capsule']")) >= 12
    assert "Actuator 1: leg1, force in N." in text
    assert "left out: dry friction by reaction (coulomb) of leg1-" in export_mjcf(model("kim-ryu"))


@pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pedrammehr", "leg1-lower: MuJoCo refuses its inertia, which is not positive definite"),
        ("staicu", "C-slider_bar: it has no mass"),
    ],
)
def test_robots_that_mujoco_cannot_have(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        export_mjcf(pp.Model(name))


def test_bad_numbers() -> None:
    with pytest.raises(InputError, match="impedance: between 0 and 1, got 1"):
        export_mjcf(model("five-bar"), impedance=1.0)
    with pytest.raises(InputError, match="time_constant: must be positive, got 0"):
        export_mjcf(model("five-bar"), time_constant=0.0)


def test_the_commands(tmp_path: Path) -> None:
    for kind in ROBOT_EXPORTS:
        result = CliRunner().invoke(app, ["export", kind, "five-bar", "--out", str(tmp_path)])
        assert result.exit_code == 0, result.output
        assert "Wrote" in result.stdout
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"five-bar.xml", "five-bar.urdf", "five-bar-loops.yaml", "five-bar.sdf"}
    again = CliRunner().invoke(app, ["export", "mjcf", "five-bar", "--out", str(tmp_path)])
    assert "exists; add --force" in again.stderr
