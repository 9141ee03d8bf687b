"""Everything that uses a model, on a hexapod with springs: against the same robot without them, pushed from outside.

A gas spring between base and platform is an external wrench on the platform, a spring in an actuated slide a force of
its actuator: what the robot without elements needs is known from plain NumPy, whatever the consumer.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.arrays import Array
from polypod.design.results import worst
from polypod.exchange import import_robot, linkage_of
from polypod.export import export_c, export_cpp, export_js, export_mjcf, export_sdf, export_urdf
from polypod.export.mjcf_elements import same_motion
from polypod.export.tree import reversed_joint
from polypod.fastest import Limits, fastest
from polypod.identification import excite, identify, read_log, simulated_log
from polypod.motion import loads_motion, make_task
from polypod.viewer import live_page
from support.browser import needs_browser
from test_export_c import call, compiled
from test_export_js import BROWSER, NODE, evaluated, without_words

K, C = 400.0, 15.0
FOOT = np.array([0.1, 0.0, -0.2])
CURVE = np.array([[0.3, 500.0], [0.7, 400.0], [1.0, 350.0]])
GAS_DAMPING = 30.0
# the same sums in another order, times a condition number below 40
ROUNDING = 1e-12
BASE = {"base_twist": [0.3, -0.2, 0.1, 0.5, -0.4, 0.2], "base_acceleration": [1.0, 2.0, -1.0, 0.3, 0.2, -0.1]}


SLIDE = """
name: slide
dof: [z]
home: {position: [0, 0, 0.3]}
gravity: [0, 0, 0]
platform: {mass: 2, inertia: [0.01, 0.01, 0.01]}
legs:
  - {kind: chain, name: leg, bodies: {}, joints: [{name: slide, kind: prismatic, between: [base, platform],
     axis: [0, 0, 1], at: [0, 0, 0.3], actuated: true}]}
elements:
  - {kind: spring, name: k, joint: leg.slide, stiffness: 300, damping: 25}
"""


@cache
def plain() -> pp.Model:
    return pp.Model("hexapod")


@cache
def eye() -> Array:
    """Where the gas spring holds the platform, in its frame."""
    return np.array([0.05, 0.02, 0.0])


@cache
def sprung() -> pp.Model:
    robot = plain().robot
    top = robot.home.matrix[:3, 3] + robot.home.matrix[:3, :3] @ eye()
    gas = {"kind": "gas spring", "name": "gas", "between": ["base", "platform"], "at": [FOOT.tolist(), top.tolist()],
           "force": CURVE.tolist(), "damping": GAS_DAMPING}  # fmt: skip
    slides = [
        {"kind": "spring", "name": f"slide{k}", "joint": f"leg{k}.prismatic", "stiffness": K, "damping": C}
        for k in range(1, 7)
    ]
    return pp.Model(pp.Robot.model_validate({**robot.model_dump(), "elements": [gas, *slides]}))


def push(pose: Array, twist: Array) -> Array:
    """The gas spring as a wrench on the platform."""
    arm = pose[..., :3, :3] @ eye()
    line = pose[..., :3, 3] + arm - FOOT
    length = np.linalg.norm(line, axis=-1)
    along = line / length[..., None]
    speed = (along * (twist[..., :3] + np.cross(twist[..., 3:], arm))).sum(axis=-1)
    force = (np.interp(length, *CURVE.T) - GAS_DAMPING * speed)[..., None] * along
    return np.concatenate([force, np.cross(arm, force)], axis=-1)


def needed(pose: Array, twist: Array, acceleration: Array, wrench: Any = 0.0, **more: Any) -> Array:
    """Forces of the robot with springs by the robot without."""
    model = plain()
    force = model.inverse_dynamics(pose, twist, acceleration, wrench + push(pose, twist), **more)
    stretch = model.inverse_kinematics(pose) - model.inverse_kinematics(model.robot.home.matrix)
    return np.asarray(force + K * stretch + C * model.rates(pose, twist))


@cache
def states() -> tuple[Array, Array, Array]:
    motion = make_task(plain(), rate=2.0).motion
    return motion.pose, motion.twist + 0.01, motion.acceleration + 0.02


WRENCH = np.array([20.0, -30.0, 50.0, 3.0, -2.0, 1.0])


def close(found: Any, wanted: Any, tolerance: float = ROUNDING) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def moved(pose: Array, twist: Array) -> Array:
    result = np.array(pose)
    result[:3, 3] += twist[:3]
    result[:3, :3] = Rotation.from_rotvec(twist[3:]).as_matrix() @ result[:3, :3]
    return result


def slopes(function: Any, step: float = 1e-5) -> Array:
    """Central differences by six directions, as columns."""
    return np.array([(function(step * e) - function(-step * e)) / (2 * step) for e in np.eye(6)]).T


# ----------------------------------------------------------------------------------------------------------------------
# The model's own functions.


def test_dynamics_both_ways() -> None:
    pose, twist, acceleration = states()
    force = needed(pose, twist, acceleration, WRENCH)
    close(sprung().inverse_dynamics(pose, twist, acceleration, WRENCH), force)
    close(sprung().direct_dynamics(pose, twist, force, WRENCH), acceleration)


def test_a_moving_base_and_the_wrench_on_it() -> None:
    """Springs stand on the base they push: what the robot as a whole does to it is that of its motion alone."""
    pose, twist, acceleration = states()
    force = needed(pose, twist, acceleration, WRENCH, **BASE)
    close(sprung().inverse_dynamics(pose, twist, acceleration, WRENCH, **BASE), force)
    close(sprung().direct_dynamics(pose, twist, force, WRENCH, **BASE), acceleration)
    wanted = plain().base_wrench(pose, twist, acceleration, WRENCH, **BASE)
    close(sprung().base_wrench(pose, twist, acceleration, WRENCH, **BASE), wanted)


def test_bias_and_what_holds_at_rest() -> None:
    pose, twist, _ = states()
    jacobian, still = plain().jacobian(pose), np.zeros((len(pose), 6))
    close(sprung().bias(pose, twist), np.einsum("nij,ni->nj", jacobian, needed(pose, twist, still)))
    close(sprung().gravity(pose), np.einsum("nij,ni->nj", jacobian, needed(pose, still, still)))


def test_every_state_with_a_design_of_its_own() -> None:
    pose, twist, acceleration = states()
    stiffness = np.linspace(100.0, 900.0, len(pose))
    found = sprung().inverse_dynamics(pose, twist, acceleration, parameters={"elements.slide1.stiffness": stiffness})
    stretch = plain().inverse_kinematics(pose) - plain().inverse_kinematics(plain().robot.home.matrix)
    wanted = needed(pose, twist, acceleration)
    wanted[:, 0] += (stiffness - K) * stretch[:, 0]
    close(found, wanted)


def test_a_payload_changes_what_it_weighs_and_no_spring() -> None:
    pose, twist, acceleration = states()
    load = {"mass": 5.0, "com": [0.1, 0.0, 0.05], "inertia": [0.1, 0.1, 0.1]}
    loaded = [pp.Model(pp.Robot.model_validate({**one.robot.model_dump(), "payload": load}))
              for one in (plain(), sprung())]  # fmt: skip
    more = [model.inverse_dynamics(pose, twist, acceleration) for model in loaded]
    close(more[1] - more[0], needed(pose, twist, acceleration) - plain().inverse_dynamics(pose, twist, acceleration))


@pytest.mark.long
def test_a_stage_on_another() -> None:
    """A hexapod with springs on a slide: below, nothing of these springs is felt."""
    slide = pp.Model(pp.loads(SLIDE))
    below = slide.motion([0.02], [0.1], [1.0])
    motions = [below, tuple(part[1] for part in states())]
    mount = [pp.pose(z=0.1, yaw=0.3)]
    with_springs = pp.series(slide, sprung(), mounts=mount).inverse_dynamics(motions, WRENCH)
    without = pp.series(slide, plain(), mounts=mount).inverse_dynamics(motions, WRENCH)
    close(with_springs[0], without[0])
    added = needed(*motions[1]) - plain().inverse_dynamics(*motions[1])
    close(with_springs[1], without[1] + added)


def test_casadi() -> None:
    pose, twist, acceleration = (part[0] for part in states())
    own = sprung().casadi("inverse_dynamics")
    found = own(pose.ravel(), twist, acceleration, np.zeros(6))[0]
    close(np.array(found).ravel(), needed(pose, twist, acceleration))


@pytest.mark.long
def test_torch_with_gradients() -> None:
    pose, twist, acceleration = (part[:2] for part in states())
    wanted = needed(pose, twist, acceleration)
    torch = pytest.importorskip("torch")
    rows = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in (pose, twist, acceleration)]
    force = sprung().torch("inverse_dynamics")(*rows)
    close(force.detach().numpy(), wanted)
    (by_twist,) = torch.autograd.grad(force.sum(), rows[1:2])
    step = 1e-4  # forces are of second degree in the twist: differences are exact but for rounding
    for k, axis in enumerate(np.eye(6)):
        ahead, behind = (needed(pose, twist + s * step * axis, acceleration) for s in (1, -1))
        slope = (ahead - behind).sum(axis=-1) / (2 * step)
        np.testing.assert_allclose(by_twist.numpy()[:, k], slope, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_linear_models_and_natural_modes() -> None:
    home, still = plain().robot.home.matrix, np.zeros(6)
    model, drive = sprung(), 1e6
    linear = pp.analysis.linearise(model, friction=False)
    force = needed(home, still, still, friction=False)

    def acceleration(pose: Array, twist: Array) -> Array:
        """Of the robot without springs, under the same forces."""
        stretch = plain().inverse_kinematics(pose) - plain().inverse_kinematics(home)
        own = force - K * stretch - C * plain().rates(pose, twist)
        return np.asarray(plain().direct_dynamics(pose, twist, own, push(pose, twist), friction=False))

    mass = plain().mass_matrix(home)
    by_pose = slopes(lambda e: acceleration(moved(home, e), still))
    by_twist = slopes(lambda e: acceleration(home, e))
    # differences of 1e-5 are off by their square times third derivatives
    close(linear.a[6:, :6], by_pose, 1e-7)
    close(linear.a[6:, 6:], by_twist, 1e-7)
    jacobian = plain().jacobian(home)
    found = pp.analysis.natural_modes(model, stiffness=drive).frequency
    square = np.linalg.eigvals(np.linalg.solve(mass, drive * jacobian.T @ jacobian) - by_pose).real
    close(np.sort(found), np.sqrt(np.sort(square)) / (2 * np.pi), 1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# Motions.


def test_bounds_between_samples_hold_and_are_close() -> None:
    """Forces at 2,000 instants stay within what is proven from 20, and come close to it."""
    model = sprung()
    coarse = make_task(model, rate=20.0)
    bounds = pp.analysis.bound_motion(model, coarse)
    fine = make_task(model, rate=500.0).motion
    largest = np.abs(needed(fine.pose, fine.twist, fine.acceleration)).max(axis=0)
    assert (largest <= bounds.upper_bound["force"] * (1 + 1e-9)).all()
    assert (bounds.upper_bound["force"] <= 1.05 * largest).all()


def test_a_workspace_by_forces_at_rest() -> None:
    axes = {"x": np.linspace(-0.05, 0.05, 3), "z": np.linspace(-0.04, 0.04, 3)}
    home = plain().robot.home.matrix
    poses = np.tile(home, (9, 1, 1))
    grid = np.stack(np.meshgrid(*axes.values(), indexing="ij"), axis=-1).reshape(-1, 2)
    poses[:, 0, 3] += grid[:, 0]
    poses[:, 2, 3] += grid[:, 1]
    still = np.zeros((9, 6))
    size = np.abs(needed(poses, still, still, friction=False)).max(axis=1)
    limit = float(np.median(size)) * (1 + 1e-6)
    found = pp.analysis.workspace_map(
        sprung(), axes, requirements=pp.analysis.Requirements(max_force=limit), progress=False
    )
    np.testing.assert_array_equal(found.inside.values.ravel(), size <= limit)


UP = """
name: up
trajectory: {kind: coordinates, path: {kind: through, times: [0, 1], points: [[0], [0.1]]}}
"""


def test_the_fastest_motion_against_a_spring_and_a_damper() -> None:
    """From rest to rest with |f| <= F: full force ahead until the curve of full braking, in the phase plane."""
    model, way, most = pp.Model(pp.loads(SLIDE)), 0.1, 60.0
    path = loads_motion(UP)
    found = fastest(model, path.trajectory, Limits(force=most), friction=False, points=1600)
    # x = v^2 over the way: dx/ds = 2 (f - 300 s - 25 v)/2, up from the start and down from the end
    steps = 40_000
    h = way / steps

    def squares(places: Array, force: float, step: float) -> Array:
        x, found = 0.0, [0.0]
        for place in places[:-1]:
            middle = max(x + 0.5 * step * (force - 300 * place - 25 * np.sqrt(x)), 0.0)
            x = max(x + step * (force - 300 * (place + 0.5 * step) - 25 * np.sqrt(middle)), 0.0)
            found.append(x)
        return np.array(found)

    places = np.linspace(0, way, steps + 1)
    x = np.minimum(squares(places, most, h), squares(places[::-1], -most, -h)[::-1])
    speed = np.sqrt(x)
    time = (2 * h / (speed[1:] + speed[:-1])).sum()
    # both grids have errors of about their steps at the ends, where the speed is a root of the way
    assert found.duration == pytest.approx(time, rel=2e-3)
    fine = found.trajectory.for_model(model).at(np.linspace(0, found.duration, 5000))
    force = 2 * fine.acceleration[:, 2] + 300 * (fine.pose[:, 2, 3] - 0.3) + 25 * fine.twist[:, 2]
    assert np.abs(force).max() < 1.01 * most


def test_fastest_keeps_the_limits_of_a_hexapod_with_dampers() -> None:
    home, still = plain().robot.home.matrix, np.zeros(6)
    limit = 1.6 * np.abs(needed(home, still, still)).max()
    found = fastest(sprung(), "around-home", Limits(force=limit), points=100)
    motion = found.trajectory.at(np.linspace(0, found.duration, 2000))
    size = np.abs(needed(motion.pose, motion.twist, motion.acceleration)).max()
    assert 0.95 * limit < size < 1.02 * limit


def test_a_sweep_of_the_spring(tmp_path: Path) -> None:
    """Root mean squares over designs are those of the robot without, with each spring by hand."""
    (tmp_path / "sprung.yaml").write_text(pp.files.dumps(sprung().robot))
    text = (
        "{name: springs, robot: sprung.yaml, motions: [hexapod-tour], rate: 20, report: [rms force, peak force], "
        "vary: [{parameters: elements.slide*.stiffness, values: [100, 400, 900]}]}"
    )
    (tmp_path / "study.yaml").write_text(text)
    found = pp.design.sweep(tmp_path / "study.yaml")
    task = make_task(plain(), "hexapod-tour", 20.0)
    motion = task.motion
    stretch = plain().inverse_kinematics(motion.pose) - plain().inverse_kinematics(plain().robot.home.matrix)
    shares = np.diff(np.concatenate([task.time[:1], (task.time[1:] + task.time[:-1]) / 2, task.time[-1:]]))
    for k, stiffness in enumerate((100.0, 400.0, 900.0)):
        force = needed(motion.pose, motion.twist, motion.acceleration) + (stiffness - K) * stretch
        rms = np.sqrt((shares / task.time[-1]) @ force**2).max()
        # the file's digits of directions and points
        assert worst(found, "rms force")[k] == pytest.approx(rms, rel=1e-9)
        assert worst(found, "peak force")[k] == pytest.approx(np.abs(force).max(), rel=1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# Other languages.


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_exported_c(tmp_path: Path) -> None:
    pose, twist, acceleration = states()
    name, header, source = export_c(sprung(), "inverse_dynamics")
    function = compiled(tmp_path, name, header, source)
    outputs = [port.shape for port in sprung().kernel("inverse_dynamics").outputs]
    for k in range(2):
        given = [np.ascontiguousarray(part[k]) for part in (pose, twist, acceleration)]
        close(call(function, [*given, WRENCH], outputs)[0], needed(*given, WRENCH))


@pytest.mark.skipif(NODE is None and BROWSER is None, reason="neither Node.js nor Chromium is installed")
def test_exported_javascript(tmp_path: Path) -> None:
    """The live page has the same functions."""
    state = [part[1] for part in states()]
    name, source = export_js(sprung(), "inverse_dynamics")
    given = ", ".join(json.dumps(part.ravel().tolist()) for part in (*state, WRENCH))
    asked = f"function main() {{ const f = [0, 0, 0, 0, 0, 0]; {name}({given}, f, [0]); return JSON.stringify(f); }}"
    close(json.loads(evaluated(f"{without_words(source)}\n{asked}", tmp_path)), needed(*state, WRENCH))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
def test_exported_cpp(tmp_path: Path) -> None:
    given = [part[1] for part in states()]
    name, header = export_cpp(sprung(), "inverse_dynamics")
    (tmp_path / f"{name}.hpp").write_text(header)
    rows = ["{" + ", ".join(map(repr, part.ravel().tolist())) + "}" for part in (*given, WRENCH)]
    program = f'#include "{name}.hpp"\n#include <cstdio>\nint main() {{\n'
    program += f"const auto found = polypod::{sprung().robot.name}::inverse_dynamics({', '.join(rows)});\n"
    program += 'for (double value : found.force) std::printf("%.17g\\n", value);\n}\n'
    (tmp_path / "main.cpp").write_text(program)
    subprocess.run(["g++", "-std=c++17", "-O0", "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    close(np.array(printed.split(), dtype=float), needed(*given, WRENCH))


@needs_browser
def test_the_interactive_page(browser: Any, tmp_path: Path) -> None:
    """Forces at rest at home and beside it."""
    page = tmp_path / "page.html"
    page.write_text(live_page(sprung()), encoding="utf-8")
    browser.open(page, False)
    browser.wait_for(lambda: browser.ask("Boolean(window.polypod)"))
    still = np.zeros(6)
    for at in ([0.0, 0.0, 0.4, 0.0, 0.0, 0.0], [0.02, -0.01, 0.42, 0.05, 0.0, 0.1]):
        browser.ask(f"polypod.setCoordinates({at})")
        shown = json.loads(browser.ask("JSON.stringify([[...polypod.state.pose], [...polypod.state.force]])"))
        close(np.array(shown[1]), needed(np.reshape(shown[0], (4, 4)), still, still), 1e-9)


def test_an_fmu(tmp_path: Path) -> None:
    """A slide with a spring and a damper: m a + k x + c v."""
    fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on this machine")
    from polypod.export.fmu import export_fmu
    from test_export_fmu import FLAGS, Unit

    path = tmp_path / "slide.fmu"
    path.write_bytes(export_fmu(pp.Model(pp.loads(SLIDE)), "inverse-dynamics", 3, flags=FLAGS).content)
    unit = Unit(fmpy.extract(str(path), str(tmp_path / "open")), "CoSimulation").start()
    unit.set(x=[0.02], xdot=[0.3], xddot=[-1.5])
    close(unit.get("force"), np.array([2 * -1.5 + 300 * 0.02 + 25 * 0.3]))


def test_sdf_holds_springs_of_joints_and_urdf_their_damping() -> None:
    """What a format has no place for is named."""
    own = plain().robot.legs[0].prismatic_friction.viscous  # type: ignore[attr-defined]
    root = ET.fromstring(export_sdf(sprung()))
    slides = [joint for joint in root.iter("joint") if joint.get("type") == "prismatic"]
    assert len(slides) == 6
    for slide in slides:
        given = {part.tag: float(part.text or "nan") for part in slide.find("axis/dynamics") or ()}
        assert given == {"damping": own + C, "friction": 0.0, "spring_reference": 0.0, "spring_stiffness": K}
    tree = export_urdf(sprung())[0]
    damped = [joint for joint in ET.fromstring(tree).iter("joint") if joint.get("type") == "prismatic"]
    assert [float(joint.find("dynamics").get("damping")) for joint in damped] == [own + C] * 6  # type: ignore
    assert "gas (gas spring)" in export_sdf(sprung())
    assert "spring of leg1-prismatic" in tree


@pytest.mark.parametrize("lift", [0.0, pytest.param(0.03, marks=pytest.mark.long)])
def test_mjcf_without_its_robot_file_has_springs_and_tendons(tmp_path: Path, lift: float) -> None:
    """Joints with springref, driven ones too, and tendons of two sites; also where joints are moved at import."""
    robot = pp.load("3-rps")
    home = robot.home.matrix[:3, 3]
    elements = [
        {"kind": "spring", "name": "line", "between": ["base", "platform"], "stiffness": 900.0, "length": 0.2,
         "at": [[0.1, 0.05, 0.0], np.add(home, [0.02, 0.03, 0]).tolist()], "damping": 20.0},
        {"kind": "damper", "name": "oil", "between": ["base", "platform"], "damping": 7.0,
         "at": [[0.0, 0.05, 0.0], np.add(home, [0.02, -0.03, 0]).tolist()]},
        {"kind": "spring", "name": "drive", "joint": "leg1.drive", "stiffness": 700.0, "rest": 0.02, "damping": 4.0},
        {"kind": "spring", "name": "hinge", "joint": "leg1.hinge", "stiffness": 9.0, "rest": 0.1},
        {"kind": "spring", "name": "relaxed", "joint": "leg2.hinge", "stiffness": 8.0},
    ]  # fmt: skip
    model = pp.Model(pp.loads(f"{pp.files.dumps(robot)}\nelements: {json.dumps(elements)}\n"))
    root = ET.fromstring(export_mjcf(model))
    custom = root.find("custom")
    assert custom is not None
    for text in [one for one in custom if one.get("name") in ("polypod_robot", "polypod_digest")]:
        custom.remove(text)
    (tmp_path / "robot.xml").write_text(ET.tostring(root, encoding="unicode"))
    at = {f"leg{k}-drive": lift for k in (1, 2, 3)} if lift else None
    found = pp.Model(import_robot(tmp_path / "robot.xml", at=at).robot)
    pose, twist, acceleration = model.motion([0.02, 0.05, 0.04], [0.1, 0.2, 0.1], [1.0, 2.0, 1.0])
    close(found.inverse_dynamics(pose, twist, acceleration), model.inverse_dynamics(pose, twist, acceleration), 1e-9)


def test_tendons_that_are_no_springs_are_named(tmp_path: Path) -> None:
    text = export_mjcf(pp.Model("3-rps"))
    sites = (
        '<site name="one" pos="0 0 0"/><site name="two" pos="0.1 0 0"/><site name="three" pos="0 0.1 0"/></worldbody>'
    )
    lines = (
        '<spatial name="bent" stiffness="3"><site site="one"/><site site="two"/><site site="three"/></spatial>'
        '<spatial name="slack" stiffness="3" springlength="0.1 0.2"><site site="one"/><site site="two"/></spatial>'
    )
    text = text.replace("</worldbody>", sites).replace("</mujoco>", f"<tendon>{lines}</tendon></mujoco>")
    (tmp_path / "robot.xml").write_text(text)
    remarks = "\n".join(import_robot(tmp_path / "robot.xml").remarks)
    assert "tendon bent" in remarks
    assert "tendon slack" in remarks


def test_axes_of_a_universal_joint_that_is_reversed_keep_their_springs() -> None:
    linkage = linkage_of(plain().robot)
    joint = linkage.joint("leg1-universal")
    for motion, other in (("first", "second"), ("second", "first")):
        assert same_motion(linkage, joint, motion) == motion
        assert same_motion(linkage, reversed_joint(joint), motion) == other


# ----------------------------------------------------------------------------------------------------------------------
# Identification.


def five_bar(stiffness: float, length: float, damping: float, turning: float, rest: float) -> pp.Model:
    robot = pp.load("five-bar")
    at = [[0.05, -0.1, 0.0], robot.home.matrix[:3, 3].tolist()]
    elements = [
        {"kind": "spring", "name": "pull", "between": ["base", "platform"], "at": at, "stiffness": stiffness,
         "length": length, "damping": damping},
        {"kind": "spring", "name": "turn", "joint": "right.motor", "stiffness": turning, "rest": rest},
    ]  # fmt: skip
    return pp.Model(pp.loads(f"{pp.files.dumps(robot)}\nelements: {json.dumps(elements)}\n"))


TRUE = (800.0, 0.2, 6.0, 5.0, 0.2)
PATHS = ("0.stiffness", "0.length", "0.damping", "1.stiffness", "1.rest")


@cache
def excited() -> Any:
    return excite(five_bar(600.0, 0.25, 4.0, 4.0, 0.1), duration=1.0, harmonics=4, reach=1.0, tries=60, noise=0.002)


def by_hand(tmp_path: Path) -> Any:
    """A log of the robot without springs, whose forces have those of the springs added in NumPy, as a CSV file."""
    model = pp.Model("five-bar")
    log = simulated_log(model, excited().motion, rate=500.0, repeats=2)
    at = excited().motion.trajectory.for_model(model).at(log.time % 1.0)
    stiffness, length, damping, turning, rest = TRUE
    line = at.pose[:, :3, 3] - np.array([0.05, -0.1, 0.0])
    size = np.linalg.norm(line, axis=1)
    along = line / size[:, None]
    pull = stiffness * (size - length) + damping * (along * at.twist[:, :3]).sum(axis=1)
    held = np.concatenate([-pull[:, None] * along, np.zeros_like(along)], axis=1)
    force = model.inverse_dynamics(at.pose, at.twist, at.acceleration, held)
    home = model.inverse_kinematics(model.robot.home.matrix)
    force[:, 0] += turning * (log.q[:, 0] - home[0] - rest)
    draw = np.random.default_rng(3)
    q, force = (x + s * draw.standard_normal(x.shape) for x, s in ((log.q, 1e-6), (force, 0.002)))
    names = [a.name for a in model.actuators]
    head = ",".join(["time [s]", *(f"{n}.q [rad]" for n in names), *(f"{n}.force [N m]" for n in names)])
    table = np.column_stack([log.time, q, force])
    np.savetxt(tmp_path / "log.csv", table, delimiter=",", header=head, comments="", fmt="%.17g")
    return tmp_path / "log.csv"


@pytest.mark.parametrize("foreign", [pytest.param(False, marks=pytest.mark.long), True])
def test_identification_finds_stiffness_damping_and_rest(tmp_path: Path, foreign: bool) -> None:
    """From a file that is off by a quarter and more: intervals hold the truth, and are narrow."""
    file = five_bar(600.0, 0.25, 4.0, 4.0, 0.1)
    noise = {"noise_q": 1e-6, "noise_force": 0.002}
    log = (
        read_log(file, by_hand(tmp_path))
        if foreign
        else (simulated_log(five_bar(*TRUE), excited().motion, rate=500.0, repeats=2, **noise))
    )
    found = identify(file, [log])
    changes = {change.path: change for change in found.changes}
    for path, true in zip(PATHS, TRUE, strict=True):
        change = changes[f"elements.{path}"]
        # five intervals of 95 %: twice their half is 4 standard deviations
        assert abs(float(change.after) - true) < 2 * float(change.half)
        assert float(change.half) < 0.01 * true
    assert found.robot.elements[0].length == pytest.approx(0.2, rel=1e-3)  # type: ignore[attr-defined]
    assert found.robot.elements[0].preload is None  # type: ignore[attr-defined]
