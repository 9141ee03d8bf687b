"""One judge of limits: every consumer gives the same use of the same limit, and says what it leaves out."""

from __future__ import annotations

import dataclasses
import json
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.description import Bearing, Drive, PlatformLimits, Robot
from polypod.design import Evaluator, loads_study, prepare, run
from polypod.errors import InputError
from polypod.export import export_c
from polypod.limits import DRIVE_KINDS, KINDS
from polypod.limits.symbols import state_limits
from polypod.motion import make_task
from polypod.parameters.design import with_numbers
from polypod.results import study, verdict
from polypod.results.verdict import judged_limits
from support.command_line import polypod
from support.refusals import refused
from support.robots.every_field import rich_chain, rich_struts
from test_export_c import call, compiled, needs_compiler

EQUAL = 1e-12
"""Relative: the same formulas in another order of operations."""


ROBOTS = [pytest.param(rich_struts, id="struts"), pytest.param(rich_chain, id="chain", marks=pytest.mark.long)]


def without_dry_friction(robot):
    """Inner stresses of the planar robot leave reactions open, and with them friction that depends on them."""
    if robot.legs[0].kind == "UPS":
        return robot
    data = robot.model_dump(exclude_unset=True)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint["friction"] = {"viscous": 1.5, "drag": 0.7}
    return Robot.model_validate(data)


@pytest.fixture(scope="module", params=ROBOTS)
def rich(request):
    """Robots with every limit that there is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pp.Model(without_dry_friction(request.param()))


@pytest.fixture(scope="module")
def studied(rich):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = make_task(rich, None, 20.0)
        return task, study(rich, task, certify=False)


def ratings(kind: type) -> set[str]:
    """Fields of the schema that say what a part stands."""
    from polypod.description.quantities import field_schemas

    return {name for name, schema in field_schemas(kind).items() if schema.rating}


def test_every_rating_of_the_schema_is_a_kind_of_limit_or_a_number_that_one_takes():
    taken = {"torque_constant", "efficiency", "rolling_elements", "drive_spring"}
    taken |= {f"{before}{part}_factor" for before in ("", "static_") for part in ("radial", "axial")}
    fields = {kind.field.rpartition(".")[2] for kind in KINDS.values()}
    stated = ratings(Drive) | ratings(Bearing) | ratings(PlatformLimits) | ratings(Robot)
    assert stated - taken <= fields
    assert fields - stated <= {"", "length, range, ranges, travel", "cone, base_cone, platform_cone", "tension"}


def test_these_robots_have_every_limit_of_a_file(rich):
    """All but the tension of cables, which have no joints with the others: core/test_cables.py."""
    assert set(rich.robot_limits.kinds) == {name for name, kind in KINDS.items() if kind.of != "robot"} - {"tension"}


def brute(model, result) -> dict[str, float]:
    """Largest uses by quantity from the arrays of a study, by hand."""
    t, q, qdot, qddot, force = (result[n].values for n in ("time", "q", "qdot", "qddot", "force"))
    found: dict[str, float] = {}

    def put(name, value):
        found[name] = max(found.get(name, 0.0), float(value))

    def rms(values):
        return np.sqrt(((values[1:] ** 2 + values[:-1] ** 2) / 2 * np.diff(t)).sum() / (t[-1] - t[0]))

    for k, actuator in enumerate(model.actuators):
        drive, f, v, a = actuator.drive, force[:, k], qdot[:, k], qddot[:, k]
        word = "torque" if actuator.force_unit == "N m" else "force"
        put(word, np.abs(f).max() / drive.max_force)
        put(f"continuous {word}", rms(f) / drive.rms_force)
        put("speed", np.abs(v).max() / drive.max_speed)
        put("acceleration", np.abs(a).max() / drive.max_acceleration)
        put("power", np.abs(f * v).max() / drive.max_power)
        put("stroke", (q[:, k].max() - q[:, k].min()) / drive.max_stroke)
        for x, y in zip(np.abs(v), np.abs(f), strict=True):  # where the ray meets the curve, by bisection
            low, high = 0.0, 1e6
            for _ in range(200):
                middle = 0.5 * (low + high)
                allowed = np.interp(middle * x, *np.array(drive.force_speed).T, right=0.0)
                low, high = (
                    (middle, high)
                    if middle * y <= allowed and middle * x <= drive.force_speed[-1][0]
                    else (low, middle)
                )
            put(f"{word} at speed", 1 / low if high < 1e6 else 0.0)
        turns = 2 * np.pi * drive.gear / drive.lead if drive.lead else drive.gear
        rotor = drive.rotor_inertia * turns * a
        behind = f / turns - rotor
        torque = rotor + np.where(behind * v >= 0, behind / drive.efficiency, behind * drive.efficiency)
        put("motor torque", np.abs(torque).max() / drive.max_motor_torque)
        put("continuous motor torque", rms(torque) / drive.rms_motor_torque)
        put("motor speed", np.abs(turns * v).max() / drive.max_motor_speed)
    limits = model.robot.platform_limits
    twist, change = result.twist.values, result.acceleration.values
    put("platform speed", np.linalg.norm(twist[:, :3], axis=1).max() / limits.max_speed)
    put("platform angular speed", np.linalg.norm(twist[:, 3:], axis=1).max() / limits.max_angular_speed)
    put("platform acceleration", (np.abs(change[:, :3]).max(axis=0) / limits.max_acceleration).max())
    put("platform angular acceleration", np.linalg.norm(change[:, 3:], axis=1).max() / limits.max_angular_acceleration)
    for k, (leg, name) in enumerate(zip(result.limit_leg.values, result.limit_name.values, strict=True)):
        low, high, value = (result[n].values[..., k] for n in ("limit_low", "limit_high", "limited"))
        if name.endswith("cone"):
            put(name, (value / high).max())
        else:
            put(f"{name} range", (np.abs(2 * value - low - high) / (high - low)).max())
        assert leg
    nearest = model.clearance(result.pose.values).distance.min()
    put("clearance", model.robot.clearance / nearest if nearest > 0 else np.inf)
    legs = {leg.name: leg for leg in model.robot.legs}
    for k, (leg, joint) in enumerate(zip(result.joint_leg.values, result.joint_name.values, strict=True)):
        rated = legs[leg].bearing(joint)
        size = np.linalg.norm(result.reaction_force.values[:, k], axis=1)
        if rated.max_reaction is not None and not np.isnan(size).any():
            put("reaction", size.max() / rated.max_reaction)
    return found


def test_uses_by_hand(rich, studied):
    """Brute force, number by number; the curve by bisection along its ray."""
    _, result = studied
    expected = brute(rich, result)
    largest: dict[str, float] = {}
    for one in verdict(result).uses:
        largest[one.quantity] = max(largest.get(one.quantity, 0.0), one.use)
    for name, value in expected.items():
        assert largest[name] == pytest.approx(value, rel=EQUAL, abs=1e-12), name
    assert set(largest) - set(expected) <= {"bearing", "bearing, static"}


def by_name(report) -> dict[tuple[str, str, str], float]:
    top = report.use.reshape(-1, len(report.names)).max(axis=0)
    return {(q, *n): float(x) for q, n, x in zip(report.quantities, report.names, top, strict=True)}


def test_the_model_judges_as_the_verdict_does(rich, studied):
    task, result = studied
    motion = task.motion
    found = rich.limits(motion.pose, motion.twist, motion.acceleration, task.wrench, time=task.time)
    assert not found.left_out
    expected = by_name(judged_limits(result))
    assert by_name(found).keys() == expected.keys()
    for name, use in by_name(found).items():
        assert use == pytest.approx(expected[name], rel=EQUAL, abs=1e-14, nan_ok=True), name


def test_what_is_not_known_of_states_is_left_out_by_name(rich, studied):
    task, _ = studied
    kinds = rich.robot_limits.kinds
    pose, twist, acceleration = task.motion.pose[:3], task.motion.twist[:3], task.motion.acceleration[:3]
    for given in ((pose,), (pose, twist), (pose, twist, acceleration)):
        found = rich.limits(*given)
        assert {*found.quantities, *found.left_out} == set(rich.robot_limits.quantities)
        assert all(found.left_out.values())
    assert set(rich.limits(pose).kinds) == {"range", "cone", "clearance"} & set(kinds)


def test_compiled_uses_of_a_state_are_those_of_the_judge(rich, studied):
    """What the page and the C code compute."""
    from polypod.limits.symbols import uses_expression

    task, _ = studied
    kernels = rich.kernels
    function = uses_expression(kernels, kernels.mechanism, rich.robot_limits, False, rich.clearances)
    assert {"pose", "twist", "acceleration", "wrench"} <= {p.name for p in function.inputs}
    k = len(task.time) // 3
    state = task.motion.pose[k], task.motion.twist[k], task.motion.acceleration[k]
    call = function.fixed(kernels.mechanism.numbers.values).function
    given = dict(zip(("pose", "twist", "acceleration"), state, strict=True))
    use = np.array(call(*(given.get(p.name, np.zeros(p.length)).ravel() for p in function.inputs))[0]).ravel()
    judged, left = state_limits(rich.robot_limits)
    expected = by_name(rich.limits(*state, friction=False))
    assert use[0] == 0.0
    for value, one in zip(use[1:], judged.limits, strict=True):
        assert value == pytest.approx(expected[one.quantity, one.where, one.name or one.quantity], rel=EQUAL, abs=1e-14)
    assert {*judged.quantities, *left} == set(rich.robot_limits.quantities)


@needs_compiler
def test_exported_c_counts_as_the_judge_does(rich, studied, tmp_path):
    """``limits`` of the C code, compiled and run along the motion, in the order that its header names."""
    task, _ = studied
    name, header, source = export_c(rich, "limits", friction=False)
    function = compiled(tmp_path, name, header, source)
    judged, _ = state_limits(rich.robot_limits)
    text = " ".join(header.replace("*", " ").split())
    places = [text.find(f"{one.quantity} of {one.where}") for one in judged.limits]
    assert min(places) > 0
    for k in range(0, len(task.time), max(1, len(task.time) // 12)):
        state = task.motion.pose[k], task.motion.twist[k], task.motion.acceleration[k]
        wrench = np.array([30.0, -20.0, 50.0, 2.0, -1.0, 3.0])
        found, *_ = call(function, [*map(np.ascontiguousarray, (*state, wrench))], [(1 + len(judged.limits),), ()])
        expected = by_name(rich.limits(*state, wrench, friction=False))
        wanted = [expected[one.quantity, one.where, one.name or one.quantity] for one in judged.limits]
        assert found[0] == 0.0
        np.testing.assert_allclose(found[1:], wanted, rtol=EQUAL, atol=EQUAL)  # small angles come from cosines


def test_a_sweep_judges_as_run_does(rich, studied, tmp_path, monkeypatch):
    """Every limit of the file, of designs whose numbers differ, also those that limits themselves depend on."""
    monkeypatch.chdir(tmp_path)
    robot = rich.robot
    pp.save(robot, "rich.yaml")
    gears = "legs.*.gear" if robot.legs[0].kind == "UPS" else "legs.*.joints.*.gear"
    text = f"""
name: rich
robot: rich.yaml
rate: 20
report: [peak force, condition]
vary:
  - {{parameters: platform.mass, values: [60 kg]}}
  - {{parameters: {gears}, values: [1.5, 3]}}
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared, evaluator = prepare(loads_study(text))
        result = run(prepared, evaluator, threads=1)
        assert not evaluator.left_out
        for k in range(len(prepared.values)):
            numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
            one = pp.Model(with_numbers(robot, numbers))
            judged = verdict(study(one, prepared.tasks[0], certify=False))
            expected: dict[str, float] = {}
            for use in judged.uses:
                expected[use.quantity] = max(expected.get(use.quantity, 0.0), use.use)
            for name, own in evaluator.judged.items():
                found = float(result[name.replace(" ", "_")].values[k, 0])
                wanted = expected.get(name.removeprefix("use of "), 0.0)
                assert found == pytest.approx(wanted, rel=EQUAL, abs=1e-13), (name, own.kind)
            assert bool(result.feasible[k]) == judged.ok


def test_drives_that_are_too_weak_are_not_within_all_limits(tmp_path, monkeypatch):
    """A study without limits of its own said that all designs keep all limits, at 438 % of the drives' force."""
    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, motions: hexapod-tour, rate: 20, "
    text += "vary: [{parameters: platform.mass, values: [20 kg, 60 kg]}]}"
    weak = run(*prepare(loads_study(text), {"legs.*.max_force": "50 N"}))
    assert not weak.feasible.values.any()
    assert set(weak.binding.values.tolist()) == {"force"}
    short = run(*prepare(loads_study(text), {"legs.*.length": ["0.43 m", "0.45 m"]}))
    assert not short.feasible.values.any()
    assert set(short.binding.values.tolist()) == {"length range"}
    off = loads_study(text[:-1] + ", robot_limits: false}")
    prepared, evaluator = prepare(off, {"legs.*.max_force": "50 N"})
    assert run(prepared, evaluator).feasible.values.all()
    assert set(evaluator.left_out) == set(evaluator.own.quantities)


LIFT = "{name: lift, trajectory: {kind: euler, relative_to: home, path: {kind: through, points: [[0, 0, 0, 0, 0, 0], "
LIFT += "[0.02, 0, 0.03, 0.1, 0, 0], [0, 0, 0, 0, 0, 0]], times: [0, 0.5, 1]}}}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "heights"),
    [("hexapod", (0.36, 0.44)), pytest.param("kim-ryu", (0.88, 0.9, 0.92), marks=pytest.mark.long)],
)
def test_a_home_that_varies_is_that_of_robots_built_one_by_one(name, heights, tmp_path, monkeypatch):
    """Motions from home, and workspaces about it, move with it; slides, whose rails stay, too."""
    monkeypatch.chdir(tmp_path)
    Path("lift.yaml").write_text(LIFT, encoding="utf-8")
    text = f"""
name: height
robot: {name}
motions: lift.yaml
rate: 20
workspaces: [{{name: work, box: {{z: [-5 mm, 5 mm], pitch: [-1 deg, 1 deg]}}, points: 3}}]
vary:
  - {{parameters: home.position, pattern: z, values: {list(heights)}}}
  - {{parameters: legs.*.base, pattern: factor, values: [1, 1.02]}}
report: [peak force, rms force, stroke, longest, condition, peak reaction, range use, workspace volume]
"""
    if name == "kim-ryu":
        text = text.replace("legs.*.base,", "legs.*.platform,").replace(", workspace volume", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared, evaluator = prepare(loads_study(text))
        result = run(prepared, evaluator, threads=1)
        assert np.ptp(result.longest.values[::2, 0]) > 0.01
        for k in range(len(prepared.values)):
            numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
            robot = with_numbers(evaluator.model.robot, numbers)
            assert robot.home.position[2] == heights[k // 2]
            model = pp.Model(robot)
            own = loads_study(re.sub(r"vary:.*?report", _SAME_MASS + "report", text, flags=re.S))
            alone = Evaluator(own, model, (make_task(model, "lift.yaml", 20.0),))
            found = alone.evaluate(alone.designs(np.array([[robot.platform.mass]])))
            for quantity in evaluator.columns:
                a, b = result[quantity.replace(" ", "_")].values[k], found.values[quantity][0]
                counted = quantity == "workspace volume"  # on a grid whose size is that of the robot itself
                assert a == pytest.approx(b, rel=0.03 if counted else 1e-9, abs=1e-12, nan_ok=True), quantity
            seen = study(model, make_task(model, "lift.yaml", 20.0), certify=False)
            assert float(np.abs(seen.force).max()) == pytest.approx(float(result.peak_force[k, 0]), rel=1e-9)


_SAME_MASS = "vary: [{parameters: platform.mass, range: [1 g, 1000 kg]}]\n"


@pytest.mark.parametrize(
    ("robot", "numbers", "motion", "said"),
    [
        ("hexapod", "home.rotation", "lift.yaml", "home.rotation legs.*.platform"),
        ("hexapod", "home.*", "lift.yaml", "home.position"),
        ("planar-3-rrr", "home.position", "planar-3-rrr-square", "planar-3-rrr"),
        ("hexapod", "home.position", "fixed.yaml", "lift relative_to"),
        ("hexapod", "home.position", "around-home", "around-home"),
    ],
)
def test_a_home_that_cannot_vary_is_refused(robot, numbers, motion, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lift.yaml").write_text(LIFT, encoding="utf-8")
    Path("fixed.yaml").write_text(LIFT.replace("relative_to: home", "relative_to: base"), encoding="utf-8")
    text = f"{{name: a, robot: {robot}, motions: {motion}, vary: [{{parameters: {numbers}, pattern: z, "
    with refused(InputError, said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepare(loads_study(text + "range: [350 mm, 550 mm]}]}"))


def test_between_samples_every_kind_of_drives_is_bounded(rich, studied):
    from polypod.analysis import bound_motion

    task, _ = studied
    bounds = bound_motion(rich, task, friction=False)
    assert set(bounds.upper_bound) == set(DRIVE_KINDS)
    motion = task.motion
    judged = rich.limits(motion.pose, motion.twist, motion.acceleration, time=task.time, friction=False)
    for name in DRIVE_KINDS:
        for limit in rich.robot_limits.of_kind(name):
            at = [k for k, n in enumerate(judged.names) if n[0] == limit.where and judged.kinds[k] == name]
            use = judged.use[:, at].max()
            assert not bounds.upper_bound[name][limit.index] / limit.high < use * (1 - 1e-9), name  # nan: unknown


def quantities_of(texts) -> set[str]:
    """What limits are of: ``force of leg1`` and the like are of ``force``."""
    return {text.partition(" of leg")[0].partition(" of platform")[0] for text in texts}


def in_verdict(model, task, result):
    judged = verdict(result)
    return {one.quantity for one in judged.uses}, judged.left_out


def in_bounds(model, task, result):
    """What is not proven between samples is marked so in the verdict, limit by limit."""
    from polypod.analysis import bound_motion

    proven = {*bound_motion(model, task, friction=False).upper_bound, "range", "cone"}
    uses = verdict(result).uses
    named = {one.quantity: one.kind for one in model.robot_limits.limits}
    open_ = {one.quantity: "at the samples" for one in uses if not one.proven and named[one.quantity] not in proven}
    return {quantity for quantity, kind in named.items() if kind in proven}, open_


def in_fastest(model, task, result):
    from polypod.fastest.limits import HELD, not_held

    own = model.robot_limits
    assert not set(own.quantities) - {one.quantity for one in own.limits}
    return {one.quantity for one in own.limits if one.kind in HELD}, not_held(model)


def in_fastest_motion(model, task, result):
    """A motion that is found: held within what can be held, judged by all."""
    from polypod.fastest import fastest
    from polypod.fastest.limits import HELD
    from polypod.fastest.solve import judged, limits_text

    report = judged(model, fastest(model, points=20))
    held = [use for use, kind in zip(report.use.max(axis=0), report.kinds, strict=True) if kind in HELD]
    assert 0.99 < max(held) <= 1.001
    assert f"{len(report.names)} limits" in limits_text(model, report) or report.use.max() > 1.001
    return set(report.quantities), report.left_out


def in_excitation(model, task, result):
    """A motion that is found keeps all limits, by the verdict."""
    from polypod.identification import excite

    found = excite(model, duration=10.0, harmonics=8, tries=8)
    said = verdict(study(model, make_task(model, found.motion, 100.0), certify=False))
    assert said.ok
    assert f"within all {len(said.uses)} limits" in found.limits
    return {one.quantity for one in said.uses}, said.left_out


def in_comparison(model, task, result):
    from polypod.results.compare import compare

    one, other = compare({"one": result, "other": result}).verdicts
    assert one.uses == other.uses == verdict(result).uses
    return {use.quantity for use in one.uses}, one.left_out


def in_studies(model, task, result):
    """Sweep and optimise."""
    text = "{name: a, robot: rich.yaml, rate: 20, vary: [{parameters: platform.mass, values: [20 kg, 60 kg]}]}"
    pp.save(model.robot, "rich.yaml")
    _, evaluator = prepare(loads_study(text))
    return {one.limits[0].quantity for one in evaluator.judged.values()}, evaluator.left_out


def moved_about(model, count=60):
    """Poses about home that the robot can take, some beyond its limits."""
    from polypod.analysis.workspace import PoseCoordinates

    space = PoseCoordinates(model)
    reach = np.where(space.turns, 0.5, 0.3 * model.size)
    poses = space.poses(reach * np.random.default_rng(3).uniform(-1, 1, (count, len(space.names))))
    return poses[np.isfinite(model.inverse_kinematics(poses, errors="nan")).all(axis=-1)]


def test_margins_of_workspaces_are_what_the_judge_leaves(rich):
    """1 - use of ranges; of cones the same by cosines, which maps take since an arc cosine takes longer."""
    from polypod.analysis.workspace.quantities import margins

    poses = moved_about(rich)
    found, judged = margins(rich, poses).limits, rich.joint_ranges(poses)
    assert len(poses) > 20
    assert (~judged.inside).any()
    for k, kind in enumerate(judged.kinds):
        left, wide = 1 - judged.use[:, k], judged.high[k]
        if kind == "cone":
            left = (np.cos(judged.use[:, k] * wide) - np.cos(wide)) / (1 - np.cos(wide))
        np.testing.assert_allclose(found[:, k], left, rtol=EQUAL, atol=EQUAL)
        np.testing.assert_array_equal(found[:, k] >= 0, judged.inside[:, k])


def in_workspace(model, task, result):
    from polypod.analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest

    test = WorkspaceTest(PoseCoordinates(model), Requirements(drives=True))
    poses = np.concatenate([task.motion.pose[:: len(task.time) // 40], moved_about(model)])
    still, own = np.zeros(6), model.robot_limits
    said = model.limits(poses, still, still, friction=False)
    asked = [q not in test.left_out for q in said.quantities]
    np.testing.assert_array_equal(
        test.poses(poses).inside, (said.inside[:, asked]).all(axis=1) & test.poses(poses).kept
    )
    assert {said.quantities[k] for k in np.flatnonzero(asked)} == set(own.quantities) - set(test.left_out)
    return set(own.quantities) - set(test.left_out), test.left_out


def in_events(model, task, result):
    from polypod.simulation.events import watched_limits

    watched, left = watched_limits(model)
    return set(watched.quantities), left


def in_page(model, task, result):
    from polypod.viewer.coordinates import coordinates_of
    from polypod.viewer.scene import scene

    shown = scene(model, coordinates_of(model.robot), model.robot)
    left = [name for name in model.robot_limits.quantities if name in shown["not_judged"]]
    return {one["name"] for one in shown["uses"]}, dict.fromkeys(left, shown["not_judged"])


def in_c(model, task, result):
    from polypod.export import c_files

    header = next(text for name, text in c_files(model, "limits", False).items() if name.endswith(".h"))
    text = " ".join(header.replace("*", " ").split())
    said, _, left = text.partition("Not judged: ")
    own = model.robot_limits.quantities
    return {q for q in own if f"{q} of " in said}, {q: left for q in own if q in left.partition("limits(")[0]}


def in_drives(model, task, result):
    """Which limits of drives a catalogue is judged by: test_drive_catalogue; here what else the file limits."""
    from polypod.design.drives import Candidate, select_drives

    kinds = {one.quantity: one.kind for one in model.robot_limits.limits}
    found = select_drives(model, [None], [Candidate("own", model.actuators[0].drive)], rate=20.0)
    (left,) = [note for note in found.notes if note.startswith("not judged: ")]
    assert found.fits[0].limit in kinds
    return {q for q in kinds if kinds[q] in DRIVE_KINDS}, {q: left for q in kinds if q in left}


def in_calibration_plan(model, task, result):
    from polypod.identification import plan

    own, left = model.robot_limits.at_rest()
    text = plan(model, 6, candidates=12).limits
    assert f"{len(own.limits)} limits" in text
    assert all(q in text for q in left)
    return set(own.quantities), left


CONSUMERS = {
    "drives": in_drives, "calibration plan": in_calibration_plan,
    "verdict": in_verdict, "bounds": in_bounds, "fastest": in_fastest, "compare": in_comparison,
    "sweep, optimise": in_studies, "workspace": in_workspace, "simulate": in_events, "page": in_page, "C": in_c,
    "a fastest motion": in_fastest_motion, "excite": in_excitation,
}  # fmt: skip
SLOW = ("a fastest motion", "excite")
"""Searches, which compile for half a minute; quick tests ask them of a plain hexapod below."""


@pytest.mark.parametrize(
    "consumer", [pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in CONSUMERS]
)
def test_every_kind_is_judged_by_every_consumer_or_named_with_the_reason(
    consumer, rich, studied, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    task, result = studied
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged, left = CONSUMERS[consumer](rich, task, result)
    named = {one.quantity: one.kind for one in rich.robot_limits.limits}
    judged, left = quantities_of(judged), {name: reason for q, reason in left.items() for name in quantities_of([q])}
    for kind in rich.robot_limits.kinds:
        for quantity in (q for q, k in named.items() if k == kind):
            known = {quantity, f"{quantity} of the drives"}
            assert known & (judged | set(left)), f"{consumer} knows nothing of {kind}"
            assert all(left[name] for name in known & set(left))


def test_a_limit_is_data():
    limit = pp.Model("hexapod").robot_limits.limits[0]
    assert dataclasses.asdict(limit) == {
        "kind": "force", "quantity": "force", "where": "leg1", "low": -1000.0, "high": 1000.0, "unit": "N", "index": 0,
        "name": "",
    }  # fmt: skip


def test_limits_that_a_command_states():
    model = pp.Model("hexapod")
    stated = model.robot_limits.stated(condition_number=50.0, distance_to_singularity=0.2)
    conditioning = model.conditioning(model.robot.home.matrix)
    found = stated.only(lambda one: one.where == "robot").evaluate(conditioning._asdict())
    np.testing.assert_allclose(found.use, [conditioning.condition / 50.0, 0.2 / conditioning.distance], rtol=1e-15)
    with pytest.raises(InputError):
        model.robot_limits.stated(condition_number=-1.0)


def test_run_agrees_with_every_best_design(tmp_path, monkeypatch):
    """All best designs of an optimisation fit along its motion: each is written, read again and judged."""
    from polypod.design.optimise import optimise

    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, motions: hexapod-tour, rate: 20, report: [peak force], minimise: moving mass, "
    text += "vary: [{parameters: platform.mass, range: [20 kg, 90 kg]}]}"
    weak = {"legs.*.max_force": "200 N"}
    found = optimise(
        loads_study(text.replace("target: {peak force: 200 N}, ", "")), settings=weak, generations=4, population=8
    )
    pp.save(found.robot(0, "best"), "best.yaml")
    model = pp.Model("best.yaml")
    assert verdict(study(model, make_task(model, "hexapod-tour", 20.0), certify=False)).ok
    near = loads_study(text.replace("minimise: moving mass", "target: {peak force: 170 N}"))
    reached = optimise(near, settings=weak, generations=12, population=16).quantities["peak force"][0]
    assert reached == pytest.approx(170.0, rel=1e-3)
    with pytest.raises(InputError):  # no mass is light enough for these
        optimise(loads_study(text), settings={"legs.*.max_force": "20 N"}, generations=2, population=8)


def test_run_agrees_with_every_robot_file_of_an_optimisation(tmp_path, monkeypatch):
    """Best compromises of a study that varies home: every file is read again and judged, with the same use."""
    pytest.importorskip("pymoo")
    monkeypatch.chdir(tmp_path)
    Path("lift.yaml").write_text(LIFT, encoding="utf-8")
    Path("study.yaml").write_text(
        "{name: a, robot: hexapod, motions: lift.yaml, rate: 20, report: [peak force], minimise: [peak force, stroke], "
        "vary: [{parameters: home.position, pattern: z, range: [360 mm, 440 mm], name: height}, "
        "{parameters: legs.*.base, pattern: radius, range: [260 mm, 340 mm], name: radius}]}",
        encoding="utf-8",
    )
    done = polypod("optimise", "study.yaml", "--generations", 3, "--population", 12, "--json")
    assert done.exit_code == 0, done.output
    best = json.loads(done.stdout)["best"]
    files = sorted(Path("polypod-results/optimise/a/robots").glob("*.yaml"))
    assert len(files) == len(best) > 1
    heights = set()
    for row in best:
        model = pp.Model(f"polypod-results/optimise/a/robots/{row['robot']}.yaml")
        heights.add(model.robot.home.position[2])
        result = study(model, make_task(model, "lift.yaml", 20.0), certify=False)
        judged = verdict(result)
        assert judged.ok
        assert max(use.use for use in judged.uses) == pytest.approx(row["use"], rel=1e-9)
        assert float(np.abs(result.force).max()) == pytest.approx(row["peak_force"], rel=1e-9)
    assert len(heights) > 1
    first = polypod("run", f"{files[0]}", "lift.yaml", "--rate", 20, "--no-files", "--strict")
    assert first.exit_code == 0, first.output


@pytest.mark.parametrize("goal", ["minimise: dexterity", "maximise: peak force"])
def test_a_goal_in_the_wrong_direction_is_refused(goal):
    from polypod.design import StudyFileError

    with pytest.raises(StudyFileError):
        loads_study("{name: a, robot: hexapod, " + goal + ", vary: [{parameters: platform.mass, range: [20, 60]}]}")


def test_an_excitation_keeps_limits_of_power_and_acceleration():
    """Its search knew force and speed only: the motion it wrote was at 824 % of the power."""
    from polypod.identification import excite

    model = pp.Model(pp.load("hexapod", {"legs.*.max_power": "5 W", "legs.*.max_acceleration": "0.5 m/s^2"}))
    found = excite(model, duration=10.0, harmonics=8, tries=8)
    judged = verdict(study(model, make_task(model, found.motion, 100.0), certify=False))
    assert judged.ok
    assert {"power", "acceleration"} <= {one.quantity for one in judged.uses}


def test_a_fastest_motion_is_judged_by_what_it_is_not_held_within():
    from polypod.fastest import fastest
    from polypod.fastest.solve import judged, limits_text

    model = pp.Model(pp.load("hexapod", {"legs.*.max_stroke": "1 mm"}))
    found = fastest(model, "hexapod-tour", points=100)
    report = judged(model, found)
    assert report["stroke"].max() > 1
    assert "stroke" in limits_text(model, report)
    assert report["speed"].max() <= 1 + 1e-3


def test_a_workspace_names_what_it_leaves_out(rich):
    from polypod.analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest

    test = WorkspaceTest(PoseCoordinates(rich), Requirements(drives=True))
    judged = {one.quantity for one in rich.robot_limits.limits} - set(test.left_out)
    kinds = {one.kind for one in rich.robot_limits.limits if one.quantity in judged}
    at_rest = {"range", "cone", "clearance", "force", "force at speed", "motor torque"}
    assert kinds == at_rest & set(rich.robot_limits.kinds)
    at_rest = rich.robot_limits.forces_at_rest
    still = {"qdot": np.zeros(len(at_rest)), "qddot": np.zeros(len(at_rest)), "force": at_rest}
    wanted = rich.robot_limits.only(lambda one: one.kind in ("force", "force at speed", "motor torque"))
    use = wanted.evaluate(still).use
    most = [max(u for u, o in zip(use, wanted.limits, strict=True) if o.index == k) for k in range(len(at_rest))]
    np.testing.assert_allclose(most, 1.0, rtol=EQUAL)


def test_a_proof_that_takes_too_long_is_given_up():
    model = pp.Model("hexapod")
    result = study(model, make_task(model, "hexapod-tour", 20.0), certify_seconds=0.0)
    assert result.attrs["certified"] == "not tried"
    assert not verdict(result).proven
    assert verdict(result).ok


def test_a_proof_is_given_up_between_its_parts(monkeypatch):
    """Of a robot so large that its intervals are gone through in parts, each of which takes long."""
    from polypod.analysis.certified import bounds

    parts, rows = [], bounds._MotionBounder._rows

    def slow(self, low, high):
        parts.append(len(low))
        time.sleep(0.6)
        return rows(self, low, high)

    monkeypatch.setattr(bounds._MotionBounder, "_rows", slow)
    monkeypatch.setattr(bounds, "_WORK", 0)
    monkeypatch.setattr(bounds, "_BUDGETED", 10)
    model = pp.Model("hexapod")
    result = study(model, make_task(model, "hexapod-tour", 20.0), certify_seconds=1.0)
    assert 1 <= len(parts) <= 2
    assert set(parts) == {10}
    assert result.attrs["certified"] == "not tried"
    assert verdict(result).ok


def test_names_of_joints_and_torques_are_paths():
    robot = pp.load("planar-3-rrr", {"legs.*.joints.motor.max_torque": "40 N m"})
    assert [leg.joints[0].max_force for leg in robot.legs] == [40.0] * 3
    assert set(pp.Model(robot).parameters("legs.*.joints.elbow.at")) == {f"legs.{k}.joints.1.at" for k in range(3)}
    with pytest.raises(pp.errors.UnknownNameError) as unknown:
        pp.load("planar-3-rrr", {"legs.*.joints.motr.max_torque": 1.0})
    assert len(str(unknown.value)) < 1000 < len(", ".join(unknown.value.known))
    with pytest.raises(pp.errors.UnknownNameError) as unknown:
        pp.load("planar-3-rrr", {"legs.*.joints.motor.max_torqe": 1.0})
    assert unknown.value.near[0] == "legs.*.joints.motor.max_torque"


@pytest.mark.parametrize(
    "settings", [{"legs.*.lead": "5 m"}, {"legs.*.rotor_inertia": "1 kg m^2", "legs.*.lead": "5 mm"}]
)
def test_screws_and_rotors_beyond_anything_built_warn(settings):
    with pytest.warns(pp.errors.ImplausibleWarning) as caught:
        pp.load("hexapod", settings)
    assert any(path.rpartition(".")[2] in str(one.message) for one in caught for path in settings)


def test_springs_too_soft_for_the_load_have_no_frequencies():
    from polypod.analysis import resonances

    with pytest.raises(pp.errors.StateError):
        resonances(pp.Model("hexapod"), drive=20.0)


def test_a_home_outside_its_own_limits_is_said():
    from polypod.file_kinds import check

    found = check("hexapod", settings={"home.position": [0.0, 0.0, 0.3]})
    assert found.within_limits is False
    assert any("length" in text and "home" in text for text in found.warnings)


def test_torques_are_limits_of_fastest_motions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    times = {}
    for option in ("--max-force", "--max-torque"):
        done = polypod("fastest", "planar-3-rrr", option, "40 N m", "--points", 20, "--json", "--force")
        assert done.exit_code == 0, done.output
        times[option] = json.loads(done.stdout)["duration_s"]
    assert times["--max-force"] == times["--max-torque"]
