"""A base that moves in motion files and studies, against gravity, closed forms and the rate of momentum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError, MotionFileError
from polypod.motion import loads_motion, make_task
from polypod.results import foundation
from support.command_line import polypod
from support.refusals import refused

PLATFORM = """
name: {name}
robot: hexapod
rate: 50
trajectory: {{kind: euler, relative_to: home, path: {{kind: sine, duration: 2, frequency: 0.5,
  amplitude: [0.02, 0, 0.01, 0, 0.03, 0]}}}}
base: {base}
"""
SHIP = "{kind: euler, path: {kind: sine, duration: 2, frequency: 0.4, amplitude: [0, 0, 0.5, 0.2, 0.1, 0]}}"


def motion_of(base: str, name: str = "ship") -> Any:
    return loads_motion(PLATFORM.format(name=name, base=base))


def test_a_study_on_a_ship_is_what_the_calls_say(model_of: Any) -> None:
    """Base motion in its own axes with gravity turned, against central differences of the file's poses."""
    model = model_of("hexapod")
    task = make_task(model, motion_of(SHIP), moving_base=True)
    h, k, gravity = 1e-3, 40, np.array(model.robot.gravity)
    t = task.time[k] + h * np.arange(-3, 4)
    poses = motion_of(SHIP).base.with_convention("ZYX").at(t).pose
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h)
    seconds = np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * h**2)
    turn, p = poses[3, :3, :3], poses[:, :3, 3]
    rate = np.einsum("k,kij->ij", weights, poses[:, :3, :3]) @ turn.T
    omega = np.array([rate[2, 1], rate[0, 2], rate[1, 0]])
    assert np.abs(task.base.twist[k] - np.r_[turn.T @ (weights @ p), turn.T @ omega]).max() < 1e-9
    linear = turn.T @ (seconds @ p - gravity) + gravity
    assert np.abs(task.base.acceleration[k, :3] - linear).max() < 1e-7
    result = pp.study(model, task)
    at = [np.asarray(part) for part in task.motion[1:]]
    wanted = model.inverse_dynamics(*at, **task.base_arguments)
    np.testing.assert_array_equal(result.force.values, wanted)
    still = pp.study(model, make_task(model, PLATFORM_STILL))
    assert np.abs(result.force.values[0] - still.force.values[0]).max() > 1.0
    assert result.attrs["moving_base"] == "yes"
    assert "upper_bound" not in result
    assert "force_bound" not in result
    table = foundation(result)
    found = model.reactions(*at, **task.base_arguments).base
    np.testing.assert_allclose(result.base_wrench.values, found, rtol=1e-12, atol=1e-9)
    assert [row[0] for row in table.rows][:3] == ["force x", "force y", "force z"]


PLATFORM_STILL = loads_motion(PLATFORM.partition("base:")[0].format(name="still"))


def test_a_base_in_free_fall_and_one_upside_down(model_of: Any) -> None:
    """Falling with gravity a robot at rest needs no force; hung upside down it is the robot with gravity turned."""
    model = model_of("hexapod")
    weight = np.array(model.robot.gravity)
    half = [float(one) for one in 0.5 * weight]
    still = [0.0] * 6
    fall = f"{{kind: euler, path: {{kind: polynomial, coefficients: {[still, still, [*half, 0, 0, 0]]}, duration: 2}}}}"
    rest = "{kind: euler, relative_to: home, path: {kind: rest, point: [0, 0, 0, 0, 0, 0], duration: 2}}"
    text = "name: {}\nrate: 5\ntrajectory: {}\nbase: {}\n"
    falling = make_task(model, loads_motion(text.format("fall", rest, fall)), moving_base=True)
    forces = model.inverse_dynamics(*falling.motion[1:], **falling.base_arguments)
    held = model.inverse_dynamics(*falling.motion[1:])
    assert np.abs(forces).max() < 1e-12 * np.abs(held).max()
    over = "{kind: euler, path: {kind: rest, point: [0, 0, 0, 0, 0, 180 deg], duration: 2}}"
    hung = make_task(model, loads_motion(text.format("hung", rest, over)), moving_base=True)
    turned = model.inverse_dynamics(*hung.motion[1:], parameters={"gravity": weight * [1, -1, -1]})
    assert np.abs(model.inverse_dynamics(*hung.motion[1:], **hung.base_arguments) - turned).max() < 1e-9


def test_a_steady_centrifuge_is_the_closed_form() -> None:
    """A mass on a slide at radius r of a table that turns steadily: it is held against m omega^2 r, whatever g does."""
    model = pp.Model(pp.loads(SLIDE))
    task = make_task(model, loads_motion(CENTRIFUGE), moving_base=True)
    forces = model.inverse_dynamics(*task.motion[1:], **task.base_arguments)
    np.testing.assert_allclose(forces[:, 0], -2.0 * 4.0**2 * (0.5 + 0.3), rtol=1e-12)


CENTRIFUGE = """
name: spin
rate: 5
trajectory: {kind: coordinates, path: {kind: rest, point: [0.3], duration: 2}}
base: {kind: axis, position: {kind: rest, point: [0, 0, 0], duration: 2}, axis: [0, 0, 1],
  angle: {kind: polynomial, coefficients: [0, 4], duration: 2}}
"""
SLIDE = """
name: slide
gravity: [0, 0, -9.81]
dof: [x]
home: {position: [0.5, 0, 0]}
platform: {mass: 2, inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
legs:
  - kind: chain
    bodies: {}
    joints:
      - {name: slide, kind: prismatic, between: [base, platform], at: [0, 0, 0], axis: [1, 0, 0], actuated: true}
"""


def test_the_shaking_force_is_the_rate_of_momentum(model_of: Any) -> None:
    """Sum of m r'' of all bodies by differences of their poses; joints' positions are in the result too."""
    model = model_of("five-bar")
    task = make_task(model, "around-home", rate=100.0)
    result = pp.study(model, task, certify=False)
    k, h = 33, 1e-3
    t = task.time[k] + h * np.arange(-3, 4)
    poses = task.trajectory.at(t).pose
    seconds = np.array([2, -27, 270, -490, 270, -27, 2]) / (180 * h**2)
    total = np.zeros(3)
    bodies = model.bodies(poses)
    for leg in model.kernels.mechanism.placed:
        for body in leg.placement.bodies:
            mass, com = mass_of(model, leg, body)
            frame = bodies[f"{leg.leg.name}.{body.name}"]
            total += mass * (seconds @ (frame[:, :3, 3] + frame[:, :3, :3] @ com))
    platform = model.robot.loaded_platform
    total += platform.mass * (seconds @ (poses[:, :3, 3] + poses[:, :3, :3] @ np.array(platform.com)))
    assert np.abs(result.shaking.values[k, :3] + total).max() < 1e-6 * np.abs(total).max()
    names = result.joint_component.values.tolist()
    values = model.joint_positions(task.motion.pose, unwrap=0)
    np.testing.assert_array_equal(
        result.joint_position.values[:, names.index("left.motor")], values["left.motor"][:, 0]
    )


def mass_of(model: pp.Model, leg: Any, body: Any) -> tuple[float, Array]:
    numbers = model.kernels.mechanism.numbers
    moments = body.moments
    return float(numbers.evaluate(moments.mass).item()), numbers.evaluate(moments.com).ravel()


def test_what_is_refused(model_of: Any, tmp_path: Path) -> None:
    jump = """{kind: euler, path: {kind: piecewise, continuity: 0, parts: [
      {kind: rest, point: [0, 0, 0, 0, 0, 0], duration: 1}, {kind: rest, point: [0, 0, 0.1, 0, 0, 0], duration: 1}]}}"""
    model = model_of("hexapod")
    with refused(MotionFileError, "base.path", "0.1"):
        motion_of(jump)
    with refused(MotionFileError, "base", "relative_to"):
        motion_of(SHIP.replace("kind: euler,", "kind: euler, relative_to: home,"))
    with refused(MotionFileError, "base", "2 s"):
        motion_of(SHIP.replace("duration: 2", "duration: 3"))
    with refused(InputError, "base", code="moving_base"):
        make_task(model, motion_of(SHIP))


def test_run_writes_foundation_loads(tmp_path: Path) -> None:
    file = tmp_path / "ship.yaml"
    file.write_text(PLATFORM.format(name="ship", base=SHIP))
    done = polypod("run", "hexapod", file, "--rate", "20", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "foundation.csv").read_text().count("\n") == 7
    assert (tmp_path / "out" / "figures" / "foundation.svg").is_file() or list(
        (tmp_path / "out" / "figures").glob("foundation*")
    )
    assert polypod("check", file).exit_code == 0
