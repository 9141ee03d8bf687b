"""Design studies: against robots built one by one, against differences, and what becomes of them when stopped."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import polypod as pp
from polypod.analysis import resonances, stiffness
from polypod.analysis.workspace import constant_orientation, travel
from polypod.design import PATTERNS, QUANTITIES, StudyFileError, loads_study, prepare, run, sweep
from polypod.design.optimise import Optimum, optimise
from polypod.design.page import page
from polypod.design.quantities import share
from polypod.design.results import derivative_table, judged, violations, worst
from polypod.design.sensitivity import _differences, gradients, sobol
from polypod.design.study import designs_of
from polypod.errors import ImplausibleWarning, InputError, PolypodError
from polypod.motion import make_task
from polypod.parameters.design import with_numbers
from polypod.results import study as study_of
from polypod.results import summary
from support.browser import needs_browser
from support.command_line import polypod
from support.refusals import refused, says, warned

TEXT = """
name: sizes
robot: hexapod
rate: 20
vary:
  - {parameters: legs.*.base, pattern: radius, range: [0.28, 340 mm], name: base radius}
  - {parameters: legs.*.base, pattern: angle, range: [5 deg, 0.7], name: base angle, levels: 2}
  - {parameters: platform.mass, values: [20, 40 kg]}
report: [peak force, rms force, peak speed, peak power, total power, stroke, longest, shortest,
  condition, dexterity, moving mass]
limits: {peak force: 150 N, stroke: 92 mm}
sample: {method: grid}
block: 3
"""


@pytest.fixture(scope="module")
def prepared():
    return prepare(loads_study(TEXT))


@pytest.fixture(scope="module")
def swept(prepared):
    return run(*prepared)


# -- designs -----------------------------------------------------------------------------------------------------------


def ring(radius=0.5, gap=0.4, turn=0.1, count=6):
    middle = turn + 2 * np.pi * np.repeat(np.arange(count // 2), 2) / (count // 2)
    azimuth = middle + gap / 2 * np.tile([-1, 1], count // 2)
    return np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), np.full(count, 0.2)])


@pytest.mark.parametrize("turn", [0.0, 0.1, 1.0, 3.0])
def test_patterns_set_rings_as_they_are_built(turn):
    """Against rings made with the number wanted, in any place of the circle; exact but for rounding."""
    points = np.stack([ring(turn=turn)] * 3)
    new = np.array([0.2, 0.5, 0.9])
    for name, expected in (
        ("radius", lambda v: ring(radius=v, turn=turn)),
        ("angle", lambda v: ring(gap=v, turn=turn)),
    ):
        got = PATTERNS[name].apply(points, new)
        np.testing.assert_allclose(got, [expected(v) for v in new], atol=1e-15)
        assert PATTERNS[name].read(got[1]) == pytest.approx(new[1], rel=1e-14)
    np.testing.assert_allclose(PATTERNS["turn"].apply(points, new), [ring(turn=turn + v) for v in new], atol=1e-15)
    np.testing.assert_array_equal(PATTERNS["z"].apply(points, new)[:, :, 2], np.repeat(new[:, None], 6, 1))
    np.testing.assert_allclose(PATTERNS["factor"].apply(points, new), points * new[:, None, None], rtol=1e-14)
    with refused(InputError, "5"):
        PATTERNS["angle"].apply(points[:, :5], new)


def test_every_quantity_is_that_of_the_robot_alone(prepared, swept):
    """Each of some designs as a robot of its own, read from its file, through the labelled study of one robot."""
    evaluator = prepared[1]
    for k in (7, 18):
        numbers = {path: value[0] for path, value in evaluator.parameters(prepared[0].values[k : k + 1]).items()}
        robot = with_numbers(prepared[0].model.robot, numbers)
        model = pp.Model(robot)
        task = make_task(model, "hexapod-tour", 20.0)
        one = study_of(model, task)
        facts = summary(one)
        force, power = one.force.values, one.power.values
        shares = np.diff(np.concatenate([task.time[:1], (task.time[1:] + task.time[:-1]) / 2, task.time[-1:]]))
        expected = {
            "peak force": np.abs(force).max(),
            "rms force": np.sqrt((shares / task.time[-1]) @ force**2).max(),
            "peak speed": np.abs(one.qdot.values).max(),
            "peak power": np.abs(power).max(),
            "total power": np.maximum(power, 0).sum(axis=1).max(),
            "stroke": np.ptp(one.q.values, axis=0).max(),
            "longest": one.q.values.max(),
            "shortest": one.q.values.min(),
            "condition": facts["worst_condition_number"],
            "dexterity": facts["smallest_distance_to_singularity"],
            "moving mass": robot.platform.mass + sum(leg.upper.mass + leg.lower.mass for leg in robot.legs),
        }
        for name, value in expected.items():
            # 1e-9: the robot's file makes directions and tensors exact anew, a condition number amplifies that
            assert worst(swept, name)[k] == pytest.approx(value, rel=1e-9), name


@pytest.mark.long
def test_reactions_and_wrenches_count(tmp_path):
    wrench = "wrench: [10, 0, -200, 0, 0, 0]"
    motion = f"name: push\nrate: 20\ntrajectory: {{kind: published, name: hexapod-tour}}\n{wrench}\n"
    (tmp_path / "push.yaml").write_text(motion)
    text = "{name: a, robot: hexapod, motions: [push.yaml, hexapod-tour], rate: 20, report: peak reaction, "
    (tmp_path / "study.yaml").write_text(text + "vary: [{parameters: platform.mass, values: [20, 30]}]}")
    result = sweep(tmp_path / "study.yaml")
    model = pp.Model("hexapod")
    for k, mass in enumerate((20.0, 30.0)):
        for j, name in enumerate((str(tmp_path / "push.yaml"), "hexapod-tour")):
            task = make_task(model, name, 20.0)
            at = task.motion.pose, task.motion.twist, task.motion.acceleration
            found = model.reactions(*at, task.wrench, parameters={"platform.mass": mass})
            size = max(np.linalg.norm(r.force, axis=-1).max() for leg in found.legs.values() for r in leg.values())
            assert result.peak_reaction.values[k, j] == pytest.approx(size, rel=1e-12)


@pytest.mark.long
def test_stiffness_and_frequencies_are_those_of_the_analysis(tmp_path):
    """Of designs as robots of their own; 1e-9 for two inversions of matrices that differ by rounding."""
    model = pp.Model("hexapod")
    robot = with_numbers(model.robot, {}, "elastic")
    robot = robot.model_copy(update={"legs": tuple(leg.model_copy(update={"stiffness": 2e7}) for leg in robot.legs)})
    pp.save(robot, tmp_path / "elastic.yaml")
    text = "{name: a, robot: elastic.yaml, motions: hexapod-tour, rate: 4, report: [stiffness, natural frequency], "
    text += (
        "vary: [{parameters: legs.*.stiffness, values: [10 N/um, 4e7]}, {parameters: platform.mass, values: [20, 50]}]}"
    )
    (tmp_path / "study.yaml").write_text(text)
    with warned(ImplausibleWarning, "hexapod-tour"):
        result = sweep(tmp_path / "study.yaml")
    task = make_task(model, "hexapod-tour", 4.0)
    for k, (spring, mass) in enumerate(itertools.product([1e7, 4e7], [20.0, 50.0])):
        numbers = {f"legs.{i}.stiffness": spring for i in range(6)} | {"platform.mass": mass}
        one = pp.Model(with_numbers(robot, numbers))
        compliance = stiffness(one, task.motion.pose, preload=False).compliance[:, :3, :3]
        assert worst(result, "stiffness")[k] == pytest.approx(1 / np.linalg.eigvalsh(compliance).max(), rel=1e-9)
        modes = resonances(one, task.motion.pose, preload=False)
        assert worst(result, "natural frequency")[k] == pytest.approx(modes[0].min(), rel=1e-9)
    with refused(InputError, "stiffness", code="no_stiffness"):
        prepare(loads_study(text.replace("elastic.yaml", "hexapod").replace("legs.*.stiffness", "legs.*.rotor_mass")
                            .replace("10 N/um", "1")))  # fmt: skip


def test_limits_bind_by_name_and_are_counted(swept):
    force, stroke = worst(swept, "peak force") / 150, worst(swept, "stroke") / 0.092
    np.testing.assert_array_equal(swept.feasible, (force <= 1) & (stroke <= 1))
    own = swept["share"].values[:, 2:].max(axis=1)  # of the robot file, which are kept
    bound = np.where(force > stroke, "peak force", "stroke")
    np.testing.assert_array_equal(
        swept.binding.values[own < np.maximum(force, stroke)], bound[own < np.maximum(force, stroke)]
    )
    assert (own <= 1).all()
    counts = violations(swept)
    assert counts["peak force"] == ((force > 1).sum(), ((force > 1) & (stroke <= 1)).sum())
    assert counts["stroke"] == ((stroke > 1).sum(), ((stroke > 1) & (force <= 1)).sum())
    assert 0 < swept.feasible.values.sum() < swept.sizes["design"] == 20


def test_a_limit_of_an_unknown_quantity_is_not_kept():
    """A volume that nothing bounds is not a number: no answer about its limit, as for an optimisation."""
    motions = ("design", "motion")
    result = xr.Dataset(
        {
            "peak_force": (motions, [[50.0], [50.0], [np.nan]]),
            "workspace_volume": (motions, [[2.0], [np.nan], [np.nan]]),
            "reason": (motions, np.array([[0], [0], [2]], dtype=np.int8)),
        }
    )
    bounds = {"peak force": 100.0, "workspace volume": 1.0}
    stated = SimpleNamespace(limits=bounds, label=str, share=lambda name, value: share(name, value, bounds[name]))
    found = judged(result, stated)
    assert found.feasible.values.tolist() == [True, False, False]
    assert found.binding.values.tolist() == ["peak force", "workspace volume", "out of reach or singular"]
    assert violations(found) == {"out of reach or singular": (1, 1), "peak force": (0, 0), "workspace volume": (1, 1)}


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_drawn_designs_fill_their_ranges(prepared, method):
    study = loads_study(TEXT.replace("method: grid", f"method: {method}, count: 32, seed: 5"))
    bounds = prepared[1].bounds
    values = designs_of(study, bounds)
    assert values.shape == (32, 3)
    for column, (low, high) in zip(values.T, bounds[:2], strict=False):
        bins = np.floor((column - low) / (high - low) * 32)
        assert len(set(bins)) == 32  # one in every thirty-second of the range
    assert set(values[:, 2]) == {20.0, 40.0}
    np.testing.assert_array_equal(designs_of(study, bounds), values)


# -- blocks, stores, clusters ------------------------------------------------------------------------------------------


def test_bits_do_not_depend_on_blocks_and_threads(prepared, swept):
    other = prepare(loads_study(TEXT.replace("block: 3", "block: 20")))
    again = run(*other, threads=1)
    for name in QUANTITIES:
        if name.replace(" ", "_") in swept:
            np.testing.assert_array_equal(again[name.replace(" ", "_")], swept[name.replace(" ", "_")])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vary:", "vary:\n  - {parameters: platform.mass, range: [1 kg, 2 kg], name: a}", "platform.mass a"),
        ("minimise: [", "minimise: [stroke, stroke, ", "stroke"),
    ],
)
def test_nothing_is_varied_or_minimised_twice(old, new, message):
    """Of two that vary one number the first was shown among the results and lost."""
    vary = "vary:\n  - {parameters: platform.mass, range: [0.1, 0.2], name: b}"
    base = f"name: a\nrobot: five-bar\n{vary}\nminimise: [stroke]\n"
    with refused(PolypodError, message):
        prepare(loads_study(base.replace(old, new)))


@pytest.mark.long
def test_a_stopped_sweep_goes_on_with_the_blocks_that_are_missing(prepared, swept, tmp_path):
    pytest.importorskip("zarr")
    store = tmp_path / "s.zarr"

    class StoppedError(Exception):
        pass

    def stop(done, total, left):
        assert total == 20
        if done >= 9:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(*prepared, store=store, threads=1, progress=stop)
    seen = []
    result = run(*prepared, store=store, progress=lambda done, total, left: seen.append((done, total)))
    assert seen[-1] == (11, 11)  # three of seven blocks were there
    np.testing.assert_array_equal(result.peak_force, swept.peak_force)
    assert result.equals(swept)
    # a block whose mark is missing is computed again, whatever stands in it
    import zarr

    group = zarr.open_group(store, mode="r+", zarr_format=2)
    group["done"][2] = 0
    group["peak_force"][6:9] = -1.0
    again = run(*prepared, store=store, progress=lambda done, total, left: seen.append((done, total)))
    assert seen[-1] == (3, 3)
    np.testing.assert_array_equal(again.peak_force, swept.peak_force)
    # a block that is marked as done and whose file is cut short, as by a full disk, is computed again
    cut = store / "peak_force" / "1.0"
    cut.write_bytes(cut.read_bytes()[:7])
    assert run(*prepared, store=store, progress=lambda done, total, left: seen.append((done, total))).equals(swept)
    assert seen[-1] == (3, 3)
    # and one with a flipped bit: what is read has a checksum
    cut.write_bytes(bytes([*(whole := bytearray(cut.read_bytes()))[:-1], whole[-1] ^ 4]))
    assert run(*prepared, store=store, progress=lambda done, total, left: seen.append((done, total))).equals(swept)
    values = store / "value" / "1.0"
    values.write_bytes(values.read_bytes()[:7])
    with refused(InputError, "store", code="not_a_store"):
        run(*prepared, store=store)
    other = prepare(loads_study(TEXT.replace("0.28", "0.29")))
    with refused(InputError, "store", code="other_inputs"):
        run(*other, store=store)
    shutil.rmtree(store)
    store.mkdir()
    (store / "letter.txt").write_text("dear")
    with refused(InputError, "store", code="not_a_store"):
        run(*prepared, store=store)


def test_a_scheduler_that_is_not_there_is_named(prepared, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(sys.modules["polypod.design.sweep"], "_PATIENCE", 0.5)
    with refused(InputError, "tcp://127.0.0.1:9"):
        run(*prepared, scheduler="tcp://127.0.0.1:9")
    with refused(InputError, "scheduler"):
        run(*prepared, scheduler="no address")


@pytest.mark.long
def test_a_cluster_gives_the_same_bits_and_survives_a_killed_worker(prepared, swept, tmp_path):
    """Two worker processes, one of them killed after the first block."""
    distributed = pytest.importorskip("distributed")
    import os

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        killed_one = []

        def kill(done, total, left):
            if not killed_one:
                os.kill(pids[0], signal.SIGKILL)
                killed_one.append(done)

        result = run(*prepared, scheduler=cluster.scheduler_address, store=tmp_path / "c.zarr", progress=kill)
    assert killed_one
    for name in ("peak_force", "rms_force", "condition"):
        np.testing.assert_array_equal(result[name], swept[name])


@pytest.mark.long
def test_a_killed_sweep_loses_its_unfinished_blocks_only(tmp_path):
    """The process itself killed while it writes; the store then goes on."""
    pytest.importorskip("zarr")
    (tmp_path / "study.yaml").write_text(TEXT.replace("block: 3", "block: 1"))
    program = textwrap.dedent(
        """
        import os, signal
        from polypod.design import sweep
        def stop(done, total, left):
            if done == 6:
                os.kill(os.getpid(), signal.SIGKILL)
        sweep("study.yaml", store="s.zarr", threads=1, progress=stop)
        """
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == -signal.SIGKILL
    seen = []
    sweep(tmp_path / "study.yaml", store=tmp_path / "s.zarr", progress=lambda *step: seen.append(step))
    assert seen[-1][:2] == (14, 14)


# -- sensitivities and optima ------------------------------------------------------------------------------------------


def test_compiled_derivatives_are_those_of_differences(prepared):
    """Central differences of whole evaluations: truncation and rounding at steps of 1e-4 of the range, about 1e-8."""
    evaluator = prepared[1]
    at = np.array([0.312, 0.41, 30.0])
    exact, rough = gradients(evaluator, at), _differences(evaluator, at)
    for name in ("peak force", "rms force"):
        np.testing.assert_allclose(exact[name], rough[name], rtol=1e-6)
    assert exact["moving mass"] == pytest.approx([0, 0, 1], abs=1e-6)


def test_sobol_indices_of_a_number_that_does_everything(prepared):
    found = sobol(prepared[1], 64)
    assert found["moving mass"].first[2] == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(found["moving mass"].total[:2], 0, atol=1e-12)
    assert found["stroke"].total[2] == pytest.approx(0, abs=1e-12)
    with refused(InputError, "count"):
        sobol(prepared[1], 100)


RANGES = TEXT.replace("values: [20, 40 kg]", "range: [20, 40 kg]").replace("rate: 20", "rate: 10")


def brief(text):
    """The study with the quantities that cost little."""
    start, _, rest = text.partition("report: [")
    return f"{start}report: [peak force, stroke]{rest.partition(']')[2]}"


@pytest.mark.long
def test_the_best_design_is_no_worse_than_a_fine_grid():
    """The least stroke with a peak force below 130 N, against 1,000 designs; the polish ends on the limit."""
    text = RANGES.replace("peak force: 150 N, stroke: 92 mm", "peak force: 130 N") + "minimise: stroke\n"
    text = brief(text)
    best = optimise(loads_study(text), generations=12, population=24)
    fine = text.replace("levels: 2", "levels: 10").replace("range: [20", "levels: 10, range: [20")
    grid = run(*prepare(loads_study(fine.replace("name: base radius", "name: base radius, levels: 10"))))
    stroke = worst(grid, "stroke")[grid.feasible.values].min()
    assert best.quantities["stroke"][0] <= stroke
    assert best.quantities["stroke"][0] == pytest.approx(stroke, rel=0.02)
    assert best.quantities["peak force"][0] <= 130.0
    robot = pp.loads(pp.dumps(best.robot(0, "best")))
    assert np.hypot(*np.array(robot.legs[0].base)[:2]) == pytest.approx(best.values[0, 0], rel=1e-12)


@pytest.mark.long
def test_best_compromises_are_a_page_of_robots(tmp_path, monkeypatch):
    pytest.importorskip("pymoo")
    monkeypatch.chdir(tmp_path)
    text = brief(RANGES)
    Path("study.yaml").write_text(text + "minimise: [stroke]\nmaximise: [dexterity]\n")
    ran = polypod("optimise", "study.yaml", "--generations", "4", "--population", "12", "--json")
    assert ran.exit_code == 0, ran.output
    best = json.loads(ran.output)["best"]
    pairs = np.array([[row["stroke"], -row["dexterity"]] for row in best])
    assert len(pairs) > 2
    for one in pairs:  # none is better in both
        assert not ((pairs <= one).all(axis=1) & (pairs < one).any(axis=1)).any()
    folder = tmp_path / "polypod-results" / "optimise" / "sizes"
    assert pp.load(folder / "robots" / f"{best[0]['robot']}.yaml").name == best[0]["robot"]
    html = (folder / "best.html").read_text()
    data = json.loads(html.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])
    assert [p["name"] for p in data["points"]] == [row["robot"] for row in best]
    assert pp.loads(data["points"][0]["file"]).name == best[0]["robot"]
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


HEIGHTS = """{name: high, robot: hexapod, motions: hexapod-tour, rate: 5, report: [peak force, stroke],
minimise: [stroke], vary: [{parameters: home.position, pattern: z, range: [0.4, 0.44], name: height},
  {parameters: legs.*.base, pattern: radius, range: [0.28, 0.34], name: radius}]}"""


@pytest.mark.long
@needs_browser
def test_the_robot_beside_the_best_designs_is_the_one_that_is_chosen(browser, tmp_path):
    """Its lengths, forces and uses along the motion are those of the robot file that the page gives away."""
    _, evaluator = prepare(loads_study(HEIGHTS))
    values = np.array([[0.4, 0.3], [0.44, 0.33]])
    found = evaluator.evaluate(evaluator.designs(values)).values
    best = Optimum(evaluator, values, {name: value[:, 0] for name, value in found.items()}, 2)
    (tmp_path / "best.html").write_text(page(best), encoding="utf-8")
    browser.open(tmp_path / "best.html", False)
    assert browser.ask("data.points.map(p => p.name).join()") == "high-1,high-2"
    frame = "document.getElementById('robot')"
    seen = f"""JSON.stringify((p => ({{name: p.scene.name, instant: p.instant, turn: p.camera.azimuth,
        q: [...p.state.q], force: [...p.state.force],
        uses: p.state.used.map(u => u.share)}}))({frame}.contentWindow.polypod))"""
    for number in range(2):
        if number:  # seen as the one before was, at the same instant
            browser.ask(f"{frame}.contentWindow.polypod.camera.turn(30, 0)")
            browser.ask("document.getElementById('after').click()")
        browser.wait_for(lambda k=number: browser.ask(f"{frame}.dataset.shown") == str(k))
        if not number:
            browser.ask(f"{frame}.contentWindow.polypod.setInstant(7)")
        shown = json.loads(browser.ask(seen))
        model = pp.Model(pp.loads(browser.ask(f"data.points[{number}].file")))
        with warned(ImplausibleWarning, "hexapod-tour"):  # of another robot's name
            motion = make_task(model, "hexapod-tour", 5.0).motion
        state = [part[7] for part in motion[1:]]
        assert (shown["name"], shown["instant"], shown["turn"]) == (f"high-{number + 1}", 7, -55 - 30 * number)
        np.testing.assert_allclose(shown["q"], model.inverse_kinematics(state[0]), rtol=1e-12)
        np.testing.assert_allclose(shown["force"], model.inverse_dynamics(*state), rtol=1e-12)
        np.testing.assert_allclose(shown["uses"], model.limits(*state).use, rtol=1e-12)
    assert browser.complaints == []
    assert browser.requests == []


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("platform.mass", "platform.mas", "line 8 vary.2.parameters platform.mas platform.mass"),
        ("pattern: radius", "pattern: radios", "line 6 radios radius"),
        ("[20, 40 kg]", "[20, 40 mm]", "line 8 vary.2.values kg g t 40 mm"),
        ("[0.28, 340 mm]", "[340 mm, 0.28]", "vary.0.range 340 0.28"),
        ("[0.28, 340 mm]", "[-0.28, 340 mm]", "vary.0.range -0.28"),
        ("legs.*.base, pattern: radius", "platform.mass, pattern: radius", "vary.0.pattern radius"),
        ("peak force: 150", "peek force: 150", "line 11 peek peak"),
        ("[peak force, rms force", "[peek force, rns force", "line 9 peek force peak force rns force rms force"),
        ("peak force: 150 N", "peak force: 150 mm", "line 11 limits.peak force 150 mm N"),
        ("robot: hexapod", "robot: hexapot", "line 3 robot hexapot"),
        ("rate: 20", "motions: [tour]", "line 4 motions tour"),
        ("name: base angle", "name: base radius", "base radius"),
        ("method: grid", "method: grit", "sample.method"),
        ("vary:", "vari:", "vari vary"),
    ],
)
def test_faults_of_studies_have_their_lines(tmp_path, old, new, message):
    (tmp_path / "study.yaml").write_text(TEXT.replace(old, new))
    with refused(StudyFileError, message):
        prepare(tmp_path / "study.yaml")


def test_ranges_that_leave_the_physical_and_limits_that_nothing_keeps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, rate: 5, report: peak force, limits: {peak force: 1 N}, minimise: peak force, "
    Path("study.yaml").write_text(text + "vary: [{parameters: platform.mass, range: [-5 kg, 20 kg], levels: 6}]}")
    ran = polypod("sweep", "study.yaml")
    assert ran.exit_code == 0, ran.output
    says(ran.output, "0 6")
    says(ran.output, "1 peak force")  # a body without mass still has inertia
    assert "no robot" in ran.output
    says(ran.output, "mass -5 kg")
    rows = (tmp_path / "polypod-results" / "sweep" / "a" / "designs.csv").read_text().splitlines()
    assert rows[1].endswith(",,no,no robot")
    with refused(InputError, "limits peak force"):
        optimise("study.yaml", generations=2, population=8)
    far = "{name: a, robot: hexapod, rate: 5, report: peak force, vary: [{parameters: legs.*.base, pattern: z, "
    with refused(InputError, "minimise"):
        optimise(loads_study(far + "range: [0.4, 0.5]}]}"))


def test_a_study_of_one_best_design_has_a_page_too():
    text = "{name: a, robot: hexapod, rate: 5, report: peak force, minimise: moving mass, vary: "
    found = optimise(loads_study(text + "[{parameters: platform.mass, range: [5, 20]}]}"), generations=6, population=8)
    assert found.values[0, 0] == pytest.approx(5.0, rel=1e-6)
    assert '"name":"a"' in page(found)


# -- workspaces --------------------------------------------------------------------------------------------------------

BOXES = """
name: room
robot: hexapod
vary:
  - {parameters: legs.*.base, pattern: radius, values: [0.26, 320 mm], name: base radius}
  - {parameters: legs.*.length, pattern: high, values: [480 mm, 0.52], name: longest leg}
workspaces:
  - {name: work, box: {x: [-30 mm, 30 mm], z: [-0.02, 0.02], pitch: [-4 deg, 4 deg]}, points: 3, pivot: [0, 0, 50 mm]}
report: [workspace volume, dexterity, peak force, range use]
"""


@pytest.fixture(scope="module")
def room():
    prepared = prepare(loads_study(BOXES))
    return prepared, run(*prepared)


def test_a_design_without_an_answer_has_no_derivative():
    """A base far wider than the hexapod's legs reach."""
    text = "{name: a, robot: hexapod, report: [peak force, rms force], workspaces: [{name: w, box: {x: [0, 1 mm]}}], "
    text += "vary: [{parameters: legs.*.base, pattern: radius, range: [2, 3]}]}"
    _, evaluator = prepare(loads_study(text))
    derivatives = gradients(evaluator, np.array([2.5]))
    assert all(np.isnan(slope).all() for slope in derivatives.values())


@pytest.mark.long
def test_what_is_counted_has_no_derivative():
    """A volume of counted points jumps: a difference of it is zero or anything; it is left out and named."""
    _, evaluator = prepare(loads_study(BOXES.replace("dexterity, peak force, range use", "dexterity")))
    derivatives = gradients(evaluator, np.array([0.3, 0.5]))
    assert list(derivatives) == ["dexterity"]
    assert "Without workspace volume" in derivative_table(derivatives, evaluator).caption


@pytest.mark.long
def test_workspaces_are_held_and_measured_as_those_of_robots_of_their_own(room):
    """Each design as a robot through its own checks; volumes against another grid of the same shells, to 2 %."""
    (prepared, evaluator), result = room
    poses = evaluator.load_cases[0].inputs["pose"]
    assert len(poses) == 27
    assert result.motion.values.tolist() == ["work"]
    held = []
    for k in range(4):
        numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
        model = pp.Model(with_numbers(prepared.model.robot, numbers))
        inside = bool(model.limits(poses).inside.all())
        held.append(inside)
        assert (result.reason.values[k, 0] == 0) == inside
        if not inside:
            assert np.isnan(result.peak_force.values[k, 0])
            continue
        still = np.zeros((27, 6))
        force = model.inverse_dynamics(poses, still, still)
        assert result.peak_force.values[k, 0] == pytest.approx(np.abs(force).max(), rel=1e-9)
        assert result.dexterity.values[k, 0] == pytest.approx(model.conditioning(poses).distance.min(), rel=1e-9)
        assert 0 < result.range_use.values[k, 0] <= 1
        volume = float(constant_orientation(model, points=33).volume)
        assert result.workspace_volume.values[k, 0] == pytest.approx(volume, rel=0.02)
    assert held == [True, True, False, True]
    assert violations(judged(result, evaluator))["outside a range or cone in a workspace"][0] == 1


@pytest.mark.long
def test_platforms_that_follow_their_legs_have_a_volume_of_their_own():
    """How far a 3-RPS heaves, by each design's own parasitic motion: as bisected for a robot with its numbers."""
    text = (
        "{name: a, robot: 3-rps, rate: 5, report: workspace volume, vary: [{parameters: legs.*.joints.1.range, "
        "pattern: high, values: [0.76, 0.72]}, {parameters: legs.*.joints.2.cone.half_angle, values: [40 deg]}]}"
    )
    prepared, evaluator = prepare(loads_study(text))
    result = run(prepared, evaluator)
    assert evaluator.quantity_unit("workspace volume") == "m"
    for k in range(2):
        numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
        found = travel(pp.Model(with_numbers(prepared.model.robot, numbers)))
        width = float((found.high - found.low).sel(coordinate="z"))
        assert result.workspace_volume.values[k, 0] == pytest.approx(width, rel=1e-3)  # two cells of 2,048
    turning = (
        "{name: a, robot: agile-eye, report: workspace volume, vary: [{parameters: platform.mass, range: [1, 2]}]}"
    )
    with refused(InputError, "agile-eye", code="no_coordinates"):
        prepare(loads_study(turning))


def test_limits_the_wrong_way_round_are_no_robot():
    """A longest leg below the shortest one has no coordinate, whatever forces would be."""
    text = "{name: a, robot: hexapod, rate: 5, report: peak force, vary: [{parameters: legs.*.length, pattern: high, "
    prepared, evaluator = prepare(loads_study(text + "values: [0.1, 0.52]}]}"))
    assert run(prepared, evaluator).reason.values[:, 0].tolist() == [1, 0]
    assert "the lower limit must come first" in evaluator.designs(prepared.values).impossible[0]


def test_workspaces_that_are_none_are_refused(tmp_path):
    for old, new, text in (
        ("x: [-30 mm, 30 mm]", "w: [1, 2]", "w x y z"),
        ("x: [-30 mm, 30 mm]", "x: [30 mm, -30 mm]", "x 30 -30"),
        ("x: [-30 mm, 30 mm]", "x: [-30 kg, 30 mm]", "x m -30 kg"),
        ("points: 3", "points: 200", "1000000"),
    ):
        (tmp_path / "study.yaml").write_text(BOXES.replace(old, new))
        with refused(StudyFileError, text) as caught:
            prepare(tmp_path / "study.yaml")
        assert "line 8" in str(caught.value)


@pytest.mark.long
def test_figures_of_a_sweep_say_what_its_table_says(swept, prepared, tmp_path, monkeypatch):
    """Main effects of a sum of functions of one parameter each are these functions; bars are the counts."""
    from polypod.design.figures import SWEEP_FIGURES, _effects, _grouped, sweep_limits

    rng = np.random.default_rng(3)
    x = rng.random((400, 2))
    x[:, 1] = np.round(2 * np.minimum(0.7 * x[:, 0] + 0.3 * x[:, 1], 1.0)) / 2  # levels that depend on the other
    groups = [_grouped(column) for column in x.T]
    steps = np.array([3.0, -1.0, 2.0])
    values = 5.0 + groups[0][0][groups[0][1]] ** 2 / 1e3 + steps[groups[1][1]]
    first, second = _effects(groups, values)
    assert np.diff(second) == pytest.approx(np.diff(steps), abs=1e-9)
    assert np.diff(first) == pytest.approx(np.diff(groups[0][0] ** 2 / 1e3), abs=1e-9)
    counts = violations(swept)
    bars = sweep_limits(swept, prepared[1]).axes[0].patches
    assert sorted(round(bar.get_width()) for bar in bars) == sorted(n for pair in counts.values() for n in pair)
    for name, draw in SWEEP_FIGURES.items():
        draw(swept, prepared[1]).savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
