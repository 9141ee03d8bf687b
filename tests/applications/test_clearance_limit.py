"""A clearance as a limit of a robot file: every consumer judges it, by distances that other tests compare with coal."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import polypod as pp
from polypod.analysis import certified_box, certified_volume
from polypod.analysis.workspace import constant_orientation, full_workspace, workspace_map
from polypod.clearance import ClearanceFunction
from polypod.description.robot import Floor
from polypod.design import loads_study, prepare, run
from polypod.design.results import limits_text
from polypod.export import export_c, export_js
from polypod.identification import plan
from polypod.motion import loads_motion, make_task
from polypod.parameters.design import with_numbers
from polypod.results import study, verdict
from polypod.viewer import live_page
from support.browser import BROWSER, needs_browser
from test_export_c import call, compiled, needs_compiler
from test_export_js import NODE, evaluated, without_words

EQUAL = 1e-12
HEAVE = """
name: heave
trajectory:
  kind: euler
  relative_to: home
  path: {kind: sine, amplitude: [0, 0, 0.02, 0.05, 0, 0], frequency: 1.0, duration: 1.0, phase: 0.2}
"""
"""Its highest point is between samples, which a motion has every sixteenth of a period at least."""


@pytest.fixture(scope="module")
def model():
    return pp.Model(pp.load("hexapod", {"clearance": "73 mm"}))


def below_a_ceiling(clearance: float) -> pp.Model:
    """A hexapod below a plane 90 mm above its platform: that distance is the platform's height, less its tilt."""
    robot = pp.load("hexapod")
    ceiling = Floor(at=(0.0, 0.0, robot.home.position[2] + 0.09), normal=(0.0, 0.0, -1.0))
    return pp.Model(robot.model_copy(update={"floor": ceiling, "clearance": clearance}))


def test_poses_to_measure_at_keep_their_distances_and_holding_forces(model):
    """Poses of a calibration plan, among them those that only a clearance or a drive at rest rules out."""
    robot = pp.load("hexapod", {"clearance": "71 mm", "legs.*.max_force": "180 N"})
    close = pp.Model(robot)
    still = np.zeros(6)
    found = plan(close, 12, candidates=80, seed=3)
    assert close.clearance(found.poses).distance.min() >= 0.071
    assert np.abs(close.inverse_dynamics(found.poses, still, still, friction=False)).max() <= 180
    assert "clearance" not in found.limits
    assert "speed (poses are at rest)" in found.limits
    free = plan(pp.Model("hexapod"), 12, candidates=80, seed=3).poses
    assert close.clearance(free).distance.min() < 0.071
    assert np.abs(close.inverse_dynamics(free, still, still, friction=False)).max() > 180


def of_clearance(result):
    return [one for one in verdict(result).uses if one.quantity == "clearance"]


@pytest.mark.long
def test_the_verdict_names_who_comes_near_and_when(model):
    task = make_task(model, "hexapod-tour", 20.0)
    result = study(model, task, certify=False)
    distance = model.clearance(task.motion.pose).distance
    worst = min(of_clearance(result), key=lambda one: one.value)
    state, pair = np.unravel_index(distance.argmin(), distance.shape)
    names = [name.partition(".")[0] for name in model.clearance(model.robot.home.matrix).names[pair]]
    assert worst.where == " against ".join(names)
    assert worst.value == distance.min()
    assert worst.use == pytest.approx(0.073 / distance.min(), rel=EQUAL)
    assert worst.time == task.time[state]
    assert not worst.kept
    assert not verdict(result).ok


def test_a_clearance_that_is_lost_between_samples_is_found():
    """Samples so coarse that the nearest approach is between them: a look at 20,000 instants is the truth."""
    heave = loads_motion(HEAVE)
    model = below_a_ceiling(1e-3)
    coarse, fine = make_task(model, heave, 3.0), make_task(model, heave, 2000.0)
    at_samples, truth = (model.clearance(task.motion.pose).distance.min() for task in (coarse, fine))
    assert truth < at_samples * (1 - 1e-4)
    bound = 0.5 * (at_samples + truth)
    tight = below_a_ceiling(bound)
    result = study(tight, make_task(tight, heave, 3.0))
    assert all(one.kept for one in of_clearance(result))
    assert not verdict(result).ok
    assert "clearance" in result.attrs["broken_between_samples"]
    loose = below_a_ceiling(0.99 * truth)
    kept = study(loose, make_task(loose, heave, 3.0))
    assert verdict(kept).ok
    assert "Smallest clearance between samples" in kept.attrs["between_samples"]


def test_workspaces_end_where_bodies_come_too_near():
    model = below_a_ceiling(0.03)
    found = constant_orientation(model, points=11)
    inside = found.inside.values
    axes = np.meshgrid(*(found[name].values for name in ("x", "y", "z")), indexing="ij")
    poses = np.tile(model.robot.home.matrix, (*inside.shape, 1, 1))
    poses[..., :3, 3] += np.stack(axes, axis=-1)
    free = model.clearance(poses, errors="nan").least >= 0.03
    within = workspace_map(pp.Model("hexapod"), {name: found[name].values for name in ("x", "y", "z")})
    np.testing.assert_array_equal(inside, within.inside.values & free)
    assert (within.inside.values & ~free).any()
    shares = dict(zip(found.limit.values.tolist(), found.share.values.tolist(), strict=True))
    assert sum(share for name, share in shares.items() if name.endswith("clearance")) > 0
    assert any("against" in name for name in shares)


@pytest.mark.long
def test_a_sweep_judges_each_design_with_its_own_shapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, motions: hexapod-tour, rate: 10, report: [peak force], "
    text += "vary: [{parameters: legs.*.platform, pattern: factor, values: [0.9, 1.1]}]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared, evaluator = prepare(loads_study(text), {"clearance": "50 mm"})
        result = run(prepared, evaluator, threads=1)
        for k in range(len(prepared.values)):
            numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
            one = pp.Model(with_numbers(prepared.model.robot, numbers))
            truth = one.clearance(prepared.tasks[0].motion.pose).distance.min()
            assert float(result["use_of_clearance"].values[k, 0]) == pytest.approx(0.05 / truth, rel=EQUAL)


def test_designs_have_the_distances_of_robots_that_are_built():
    model = pp.Model("hexapod")
    robot = model.robot
    moved = np.array(robot.legs[0].platform) + np.array([[0.0, 0.0, 0.0], [0.01, 0.0, 0.004]])
    masses = np.array([1.0, 2.0])
    found = model.clearance(robot.home.matrix, parameters={"legs.0.platform": moved, "platform.mass": masses})
    for k in range(2):
        built = pp.Model(with_numbers(robot, {"legs.0.platform": moved[k], "platform.mass": masses[k]}))
        np.testing.assert_allclose(found.distance[k], built.clearance(robot.home.matrix).distance, rtol=0, atol=1e-14)
    assert np.abs(found.distance[0] - found.distance[1]).max() > 1e-3


def test_a_clearance_must_be_a_length():
    with pytest.raises(pp.errors.RobotFileError):
        pp.load("hexapod", {"clearance": "20 N"})
    with pytest.raises(pp.errors.RobotFileError):
        pp.load("hexapod", {"clearance": 0.0})


def least_by_hand(model, pose) -> dict[str, float]:
    """The least distance of every two that are kept apart, by the names of their bodies."""
    found: dict[str, float] = {}
    answer = model.clearance(pose)
    for names, distance in zip(answer.names, answer.distance.tolist(), strict=True):
        who = sorted((name.partition(".")[0] for name in names), key=("platform", "base", "floor").__contains__)
        name = " against ".join(who)
        found[name] = min(found.get(name, np.inf), distance)
    return found


def some_poses(model) -> list[np.ndarray]:
    """A pose at home, one displaced and one turned."""
    motion = make_task(model, "hexapod-tour", 20.0).motion.pose
    return [np.ascontiguousarray(motion[k]) for k in (0, len(motion) // 3, len(motion) // 2)]


@needs_compiler
def test_exported_c_has_the_distances(tmp_path):
    model = below_a_ceiling(0.05)
    name, header, source = export_c(model, "clearance")
    function = compiled(tmp_path, name, header, source)
    for pose in some_poses(model):
        wanted = least_by_hand(model, pose)
        assert re.sub(r"\s*\*?\s+", " ", header).count(", ".join(wanted)) == 1  # in this order
        found, quality = call(function, [pose], [(len(wanted),), ()])
        np.testing.assert_allclose(found, list(wanted.values()), rtol=EQUAL, atol=EQUAL)
        assert quality > 0


@pytest.mark.long
@pytest.mark.skipif(NODE is None and BROWSER is None, reason="neither Node.js nor Chromium is installed")
def test_exported_javascript_has_the_distances(tmp_path):
    model = below_a_ceiling(0.05)
    name, source = export_js(model, "clearance")
    poses = some_poses(model)
    wanted = [list(least_by_hand(model, pose).values()) for pose in poses]
    program = f"""{without_words(source)}
    function main() {{
      return JSON.stringify({json.dumps([pose.ravel().tolist() for pose in poses])}.map(pose => {{
        const found = new Float64Array({len(wanted[0])}), quality = new Float64Array(1);
        {name}(Float64Array.from(pose), found, quality);
        return [...found];
      }}));
    }}"""
    np.testing.assert_allclose(json.loads(evaluated(program, tmp_path)), wanted, rtol=EQUAL, atol=EQUAL)


@pytest.mark.long
@needs_browser
def test_the_page_shows_who_is_too_near_in_red_with_the_distance(browser, tmp_path):
    """At home nothing is nearer than 60 mm; raised by 40 mm the platform is 50 mm below the ceiling less its half
    thickness."""
    model = below_a_ceiling(0.06)
    page = tmp_path / "page.html"
    page.write_text(live_page(model), encoding="utf-8")
    browser.open(page, True)
    browser.wait_for(lambda: browser.ask("Boolean(window.polypod)"))
    shown = """JSON.stringify((s => ({pose: [...s.pose], verdict: s.verdict, clearance: [...s.clearance],
        legs: [...s.overLegs], colour: getComputedStyle(document.getElementById('status')).borderLeftColor,
        text: document.getElementById('status').innerText}))(polypod.state))"""
    raised = model.robot.home.position[2] + 0.04
    seen = []
    for height in (model.robot.home.position[2], raised):
        browser.ask(f"polypod.setCoordinates([0, 0, {height}, 0, 0, 0])")
        seen.append(json.loads(browser.ask(shown)))
        wanted = least_by_hand(model, np.reshape(seen[-1]["pose"], (4, 4)))
        np.testing.assert_allclose(seen[-1]["clearance"], list(wanted.values()), rtol=0, atol=EQUAL)
    free, near = seen
    too_near = {name: gap for name, gap in wanted.items() if gap < 0.06}
    assert "platform against floor" in too_near
    assert free["verdict"]["title"] == "Within all limits"
    assert near["verdict"]["level"] == "bad"
    red, green, blue = map(int, re.findall(r"\d+", near["colour"])[:3])
    assert red > 2 * max(green, blue)
    assert free["colour"] != near["colour"]
    for name, gap in list(too_near.items())[:4]:
        assert f"{name}: clearance {1e3 * gap:.4g}"[:-1] in near["text"]
    assert {f"leg{k + 1}" for k in near["legs"]} == {who for name in too_near for who in name.split() if "leg" in who}
    assert browser.complaints == []


def test_proofs_over_boxes_say_that_they_leave_clearances_out():
    for model in (below_a_ceiling(0.03), pp.Model("hexapod")):
        apart = model.robot.clearance is not None
        bounds = certified_volume(model, ["z"], {"z": (-0.01, 0.01)}, gap=0.9, seconds=0.1)
        box = certified_box(model, half={"z": 0.01}, most=50)
        for found in (bounds, box):
            assert ("clearance" in found.left_out) == apart
            assert {"speed", "length range"} & set(found.left_out) == {"speed"}
            assert all(found.left_out.values())


def test_a_study_says_that_its_volumes_leave_clearances_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, rate: 5, report: [workspace volume], "
    text += "vary: [{parameters: platform.mass, values: [20 kg, 30 kg]}]}"
    for settings in ({"clearance": "20 mm"}, {}):
        _, evaluator = prepare(loads_study(text), settings)
        assert ("clearance in workspace volume" in evaluator.left_out) == bool(settings)
        assert ("clearance in workspace volume" in limits_text(evaluator)) == bool(settings)


@pytest.mark.long
def test_assembly_modes_are_judged_by_clearances_too():
    """Of all modes only that at home is on the robot's own branch and far enough from the ceiling, or none is."""
    for bound, kept in ((0.02, True), (0.089, False)):
        model = below_a_ceiling(bound)
        home = model.robot.home.matrix
        modes = model.assembly_modes(model.inverse_kinematics(home), reach=False)
        free = np.array([min(least_by_hand(model, pose).values()) >= bound for pose in modes.pose[modes.own_branch]])
        ranges = model.joint_ranges(modes.pose[modes.own_branch]).inside.all(axis=-1)
        np.testing.assert_array_equal(modes.within_limits[modes.own_branch], free & ranges)
        assert modes.within_limits[0] == kept


def test_the_compiled_count_is_that_of_the_poses_one_by_one():
    """Grids over all coordinates, counted in machine code with a ceiling, against the judge of single poses."""
    model = below_a_ceiling(0.03)
    span = dict.fromkeys(("x", "y", "roll", "yaw"), (-0.1, 0.1)) | {"z": (-0.05, 0.09), "pitch": (-0.3, 0.3)}
    points = {"x": 3, "y": 2, "z": 9, "roll": 2, "pitch": 5, "yaw": 2}
    found = full_workspace(model, points, span, progress=False)
    with_ceiling = workspace_map(model, {name: found[name].values for name in points}).inside.values
    free = workspace_map(pp.Model("hexapod"), {name: found[name].values for name in points}).inside.values
    assert with_ceiling.sum() < free.sum()
    assert float(found.fraction) * with_ceiling.size == pytest.approx(with_ceiling.sum(), abs=1e-6)
    by_place = with_ceiling.mean(axis=(3, 4, 5))
    np.testing.assert_allclose(found.orientation_share.transpose("x", "y", "z").values, by_place, rtol=0, atol=1e-12)


SCALES = (1.0, 1.03, 1.07)


@pytest.mark.long
def test_all_designs_of_a_sweep_share_one_compiled_function():
    """Rounding moves numbers of shapes off 0 in some designs; a kernel for each took a minute of compiling apiece."""
    model = pp.Model("hexapod")
    points = [np.array(leg.base) for leg in model.robot.legs]
    scaled = {f"legs.{k}.base": np.array([factor * point for factor in SCALES]) for k, point in enumerate(points)}
    robots = [with_numbers(model.robot, {path: value[n] for path, value in scaled.items()}) for n in range(len(SCALES))]
    functions = [ClearanceFunction(robot, model.clearances.function).of_a_design for robot in robots]
    assert len({function.structure for function in functions}) == 1
    assert len({tuple(function.values) for function in functions}) == len(SCALES)
    pose = make_task(model, "hexapod-tour", 20.0).motion.pose[::9]
    found = model.clearances.least(pose, {path: value[:, None] for path, value in scaled.items()})
    wanted = [pp.Model(robot).clearances.least(pose) for robot in robots]
    np.testing.assert_allclose(found, wanted, rtol=EQUAL, atol=EQUAL)
