"""Studies, sizing tables, results on disk, and the report in a real browser."""

from __future__ import annotations

import csv
import html
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr

import polypod as pp
from polypod.errors import InputError, StateError
from polypod.files.templates import template
from polypod.motion import Task, loads_motion, make_task
from polypod.output.atomic import atomic_write
from polypod.output.netcdf import Variable, netcdf
from polypod.results import PARTS, bearings, load_result, open_reactions, reactions, robot_of, sizing, study, violations
from polypod.results import figures as plots
from polypod.results.figures import light
from polypod.results.figures.light import decimated
from polypod.results.report import FILES, atomic_folder, notes, provenance, write_results
from polypod.results.report.output import draw_figures
from polypod.tables import table
from support.browser import needs_browser
from support.refusals import refused


def moving(result):
    """Pose, twist and acceleration of a result."""
    return tuple(result[name].values for name in ("pose", "twist", "acceleration"))


def studied(name, motion=None, rate=50.0, friction=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        model = pp.Model(name)
    return study(model, make_task(model, motion, rate), friction, certify=False)


@pytest.fixture(scope="module")
def result():
    return studied("kim-ryu")


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    target = tmp_path_factory.mktemp("out") / "results"
    write_results(result, target)
    return target


def test_a_path_near_a_singularity_is_noted(result):
    near = result.assign(condition=result.condition.copy(data=np.linspace(2.0, 123.4, len(result.time))))
    added = set(notes(near)) - set(notes(result))
    assert added == {"The path passes near a singularity: condition number up to 123."}


def test_parts_add_up(result):
    assert tuple(result.part.values) == PARTS
    # five differences of forces of up to 100 N
    assert np.abs(result.force_part.sum("part") - result.force).max() < 1e-12
    assert np.abs(result.force_part.sel(part="friction")).max() > 1.0  # sliders with a friction coefficient of 0.2
    assert (result.force_part.sel(part="external") == 0.0).all()


def test_power_is_the_rate_of_energy():
    """Without friction the actuators' power is d(T + V)/dt, here by central differences along the motion."""
    done = studied("lopes", rate=400.0, friction=False)
    energy = pp.Model(robot_of(done)).energy(done.pose.values, done.twist.values)
    total = energy.kinetic + energy.potential
    time = done.time.values
    rate = (total[2:] - total[:-2]) / (time[2:] - time[:-2])
    power = done.power.values.sum(axis=1)[1:-1]
    # differences err by h^2/6 times the third derivative, (pi/1 s)^2 and its double near the ends: 2e-4 of the largest;
    # the acceleration of the there-and-back law jumps at nothing but the ends and half-way
    inner = np.ones(len(power), dtype=bool)
    inner[len(power) // 2 - 1 : len(power) // 2 + 2] = False
    assert np.abs(rate - power)[inner].max() < 2e-4 * np.abs(power).max()


def test_actuator_table_against_closed_forms():
    t = np.linspace(0.0, 1.0, 4001)
    wave = 3.0 * np.sin(2 * np.pi * 5 * t)[:, None]
    assert sizing.rms(t, wave)[0] == pytest.approx(3.0 / np.sqrt(2), rel=1e-6)  # trapezoidal rule, 800 samples a period
    assert sizing.mean(t, np.abs(wave))[0] == pytest.approx(6.0 / np.pi, rel=1e-5)


def test_actuator_table_of_a_study(result):
    rows = sizing.actuators(result).records()
    assert [row["actuator"] for row in rows] == result.actuator.values.tolist()
    for k, row in enumerate(rows):
        at = round(row["at"] * 50)
        assert abs(row["peak_force"]) == np.abs(result.force[:, k]).max()
        assert row["peak_force"] == result.force[at, k]
        assert 0 < row["rms_force"] <= abs(row["peak_force"])
        assert row["braking_power"] <= 0 <= row["mean_driving_power"] <= row["peak_power"]
        assert row["stroke"] == row["highest_coordinate"] - row["lowest_coordinate"] > 0


def test_driving_and_braking_power_of_all_actuators(result):
    """Forces with and against the speeds: all driving, all braking, and first one, then the other."""
    force, speed = result.force.values, result.qdot.values
    along = np.abs(force) * np.sign(speed)
    total = (along * speed).sum(axis=1)
    turned = np.where(np.arange(len(total)) < len(total) // 2, 1.0, -1.0)

    def peaks(force):
        facts = sizing.summary(result.assign(power=(result.power.dims, force * speed)))
        return facts["peak_total_power_W"], facts["peak_total_braking_power_W"]

    assert peaks(along) == (total.max(), 0.0)
    assert peaks(-along) == (0.0, -total.max())
    assert peaks(turned[:, None] * along) == ((turned * total).max(), (turned * total).min())


def test_limits_that_a_motion_leaves(tmp_path):
    """Against the legs' lengths themselves: the distances between their joints, sample by sample."""
    Path(tmp_path / "r.yaml").write_text(template("robot", "hexapod"))
    model = pp.Model(tmp_path / "r.yaml")
    task = loads_motion(template("motion", "up").replace("[0.05, 0.0, 0.02]", "[0.05, 0.0, 0.2]")).task(model)
    done = study(model, task)
    rows = {row["leg"]: row for row in sizing.limits(done).records()}
    pose = task.motion.pose
    for leg in model.robot.legs:
        ends = pose[:, :3, :3] @ leg.platform + pose[:, :3, 3] - leg.base
        length = np.linalg.norm(ends, axis=-1)
        outside = (length < 0.45) | (length > 0.85)
        assert (leg.name in rows) == outside.any()
        if outside.any():
            row = rows[leg.name]
            assert (row["limit"], row["unit"], row["allowed_low"], row["allowed_high"]) == ("length", "m", 0.45, 0.85)
            assert row["worst_value"] == pytest.approx(length.max(), rel=1e-14)
            assert row["at"] == task.time[length.argmax()]
            # evenly spaced samples: the share of samples, half of one apart at each border
            assert row["share_of_time_outside"] == pytest.approx(outside.mean(), abs=1.5 / len(length))
    assert 0 < len(rows) < 6
    assert "t = 0.8 s" in violations(done)[0]
    write_results(done, tmp_path / "out")
    lines = list(csv.reader((tmp_path / "out" / "limits.csv").read_text().splitlines()))
    assert len(lines) == 1 + len(rows)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Limits exceeded by the motion" in page
    assert f"The motion exceeds {len(rows)} of 6 limits" in page


def test_captions_tell_signs_and_axes(result, folder):
    """What the captions say is so: a leg that carries weight pushes, and a slide's reaction holds the drive's force."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    for one in (sizing.actuators(result), bearings(result)):
        assert one.caption
        assert html.escape(one.caption) in page
    hexapod = pp.Model(pp.loads(template("robot", "hexapod")))
    still = np.zeros(6)
    force = hexapod.inverse_dynamics(hexapod.robot.home.matrix, still, still)
    assert (force > 0).all()  # platform above the base: every leg is pressed
    model = pp.Model(robot_of(result))
    found = model.reactions(*moving(result), friction=False)
    for k, leg in enumerate(model.robot.legs):
        slide = found.legs[leg.name]["slider"]
        assert (slide.parent, slide.child) == ("base", "slider")
        along = slide.force @ np.array(leg.rail_direction)
        # without friction nothing but the drive acts along the rail
        assert np.abs(along - found.force[:, k]).max() < 1e-12 * np.abs(found.force).max()


def test_bearing_table(result):
    rows = {(row["leg"], row["joint"]): row for row in bearings(result).records()}
    assert set(rows) == {(leg, joint) for leg in result.leg.values for joint in ("slider", "universal", "spherical")}
    found = pp.Model(robot_of(result)).reactions(*moving(result))
    for (leg, joint), row in rows.items():
        size = np.linalg.norm(found.legs[leg][joint].force, axis=-1)
        assert row["peak_force"] == pytest.approx(size.max(), rel=1e-14)
        assert np.hypot(np.hypot(row["fx"], row["fy"]), row["fz"]) == pytest.approx(size.max(), rel=1e-14)
        assert size.min() <= row["cubic_mean_force"] <= size.max()
        turn = np.linalg.norm(found.legs[leg][joint].moment, axis=-1)
        # what is rounding has no instant
        assert row["moment_peak_at"] == (
            None if turn.max() < 1e-9 else pytest.approx(result.time.values[turn.argmax()], rel=1e-12)
        )


def test_open_reactions_stay_open():
    done = studied("staicu")
    table_ = bearings(done)
    row = next(r for r in table_.records() if (r["leg"], r["joint"]) == ("A", "slider"))
    assert row["peak_force"] is None
    assert row["fz"] is not None
    assert "A slider (force x" in open_reactions(done)[0]
    line = next(line for line in csv.reader(table_.csv().splitlines()) if line[:2] == ["A", "slider"])
    assert line[2] == ""
    assert plots.reactions(done).axes  # drawn from what is determined


def test_unreachable_motion_tells_leg_and_time():
    model = pp.Model("kim-ryu")
    text = (
        "name: far\ntrajectory: {kind: poses, relative_to: home, "
        "poses: [{time: 0, position: [0, 0, 0]}, {time: 1, position: [0, 0, 3]}]}"
    )
    task = loads_motion(text).task(model)
    with refused(StateError, "far", code="leg"):
        study(model, task)


def test_external_wrench_is_a_part():
    model = pp.Model("kim-ryu")
    base = make_task(model, rate=20.0)
    wrench = np.tile([5.0, 0.0, 20.0, 0.0, 1.0, 0.0], (len(base.time), 1))
    done = study(model, Task("pushed", base.motion, wrench), friction=False, certify=False)
    free = study(model, base, friction=False, certify=False)
    # J^T f = -w for the external part
    share = np.einsum("nji,nj->ni", model.jacobian(base.motion.pose), done.force_part.sel(part="external"))
    assert np.abs(share + wrench).max() < 1e-12 * 20 * 4  # condition number below 4
    assert np.abs((done.force_part - free.force_part).sel(part="inertia")).max() == 0.0


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, np.iinfo(np.int64).min])
def test_netcdf_refuses_integers_beyond_four_bytes(number):
    with refused(ValueError, number):
        netcdf({"count": Variable((), number, {})}, {})


def test_netcdf_holds_everything(result, folder):
    with xr.open_dataset(folder / "results.nc") as data:
        assert data.attrs["robot"] == "kim-ryu"
        assert pp.loads(data.attrs["robot_file"]) == robot_of(result)
        assert np.array_equal(data.force.values, result.force)
        assert np.array_equal(data.force.sel(actuator="leg3").values, result.force[:, 2])
        assert np.array_equal(data.pose.values, result.pose.values)
        for name, variable in data.variables.items():
            assert variable.attrs.get("units") or variable.dtype.kind in "SUO", name  # only texts have none
        joint = data.reaction_force.sel(joint="leg2.spherical")
        assert np.array_equal(joint.values, reactions(result)["leg2", "spherical"].force)
    assert set(result.sizes) >= {"time", "actuator", "leg", "part", "component", "joint", "limit"}
    again = load_result(folder / "results.nc")
    xr.testing.assert_identical(again, result)


def test_csv_tables(result, folder):
    rows = list(csv.reader((folder / "forces.csv").read_text().splitlines()))
    assert rows[0] == ["time [s]", *(f"{leg} [N]" for leg in result.actuator.values)]
    numbers = np.array(rows[1:], dtype=float)
    assert np.array_equal(numbers[:, 0], result.time)  # written in full precision
    assert np.array_equal(numbers[:, 1:], result.force)
    for name in ("actuators.csv", "bearings.csv", "verdict.csv"):
        assert len((folder / name).read_text().splitlines()) > 6


def test_figures_are_pictures(folder):
    pictures = sorted((folder / "figures").iterdir())
    assert [p.stem for p in pictures] == sorted(set(plots.FIGURES) - {"bending"})  # its platform is rigid
    for picture in pictures:
        assert picture.suffix == ".svg"
        root = ElementTree.fromstring(picture.read_bytes())
        assert root.tag.endswith("svg")
        assert 2_000 < picture.stat().st_size < 300_000


def test_every_axis_has_a_unit(result):
    for name, _, figure in plots.figures(result):
        for axes in figure.axes:
            shown = [label for label in (axes.get_xlabel(), axes.get_ylabel()) if label]
            assert shown or not axes.get_visible() or name in ("shares", "geometry", "robot"), (
                name
            )  # a robot has a bar for its scale
            assert all(re.search(r"\[.+\]", label) for label in shown), (name, shown)


def words_of(svg):
    """All texts of an SVG, one line each."""
    return [text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}tspan")]


def test_light_figures_say_what_matplotlib_figures_say(result):
    """One function draws both: all words of the Matplotlib figure but numbers of ticks are in the SVG, and no more."""
    light = {name: svg for name, _, svg in draw_figures(result)}
    for name, _, figure in plots.figures(result):
        wanted = [t.get_text() for t in figure.texts]
        for axes in figure.axes:
            if axes.get_visible():
                wanted += [axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")]
                wanted += [t.get_text() for t in axes.texts]
                wanted += [t.get_text() for t in axes.get_legend().get_texts()] if axes.get_legend() else []
        wanted += [t.get_text() for legend in figure.legends for t in legend.get_texts()]
        lines = sorted(line for text in wanted for line in text.split("\n") if line)
        found = sorted(line for line in words_of(light[name]) if not re.fullmatch(r"\N{MINUS SIGN}?[\d.]+", line))
        assert found == [line for line in lines if not re.fullmatch(r"\N{MINUS SIGN}?[\d.]+", line)], name


def test_light_lines_are_where_the_numbers_are():
    """The path of a line goes back to its data by the ticks of the axes, to the tenth of a point that SVG states."""
    figure = light.LightFigure(4.0, 3.0)
    axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    x, y = np.linspace(0.0, 2.0, 30), np.sin(np.linspace(0.0, 6.0, 30))
    axes.plot(x, y, color="#123456")
    root = ElementTree.fromstring(figure.svg())
    (drawn,) = [path for path in root.iter() if path.get("stroke") == "#123456"]
    points = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn.get("d")), dtype=float)
    places = {float(t[0].text.replace("\N{MINUS SIGN}", "-")): t for t in root.iter("{http://www.w3.org/2000/svg}text")}
    level = {v: float(t[0].get("x")) for v, t in places.items() if t.get("text-anchor") == "middle"}
    (a, xa), (b, xb) = sorted(level.items())[0], sorted(level.items())[-1]
    assert np.abs(a + (points[:, 0] - xa) * (b - a) / (xb - xa) - x).max() < 0.2 * (b - a) / abs(xb - xa)
    upright = {v: float(t[0].get("y")) for v, t in places.items() if t.get("text-anchor") == "end"}
    (a, ya), (b, yb) = sorted(upright.items())[0], sorted(upright.items())[-1]
    back = a + (points[:, 1] - (ya - 0.36 * 8)) * (b - a) / (yb - ya)  # numbers stand 0.36 of their height below
    assert np.abs(back - y).max() < 0.2 * (b - a) / abs(yb - ya)


def test_a_light_panel_without_a_curve_has_the_times_of_the_panel_it_shares_them_with():
    figure = light.LightFigure(4.0, 3.0)
    above = figure.add_axes((0.2, 0.6, 0.7, 0.3))
    above.plot([2.0, 5.0], [0.0, 1.0])
    below = figure.add_axes((0.2, 0.1, 0.7, 0.3), sharex=above)
    below.axhline(0.0)
    assert [corner[0] for corner in below._limits()] == [corner[0] for corner in above._limits()]


def test_a_line_of_many_points_keeps_its_peaks():
    x = np.linspace(0.0, 1.0, 5000)
    y = np.sin(200 * x)
    y[1234] = 7.0
    few = decimated(x, y)
    assert len(few[0]) < 700
    assert few[1].max() == 7.0
    assert few[0][-1] == 1.0


class _Outside(HTMLParser):
    """What a page would fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for key, value in attributes if key in ("src", "href", "srcset", "action", "data")]


def test_report_asks_nothing_of_the_network(folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    parser = _Outside()
    parser.feed(text)
    assert parser.found
    assert all(value.startswith("data:") for value in parser.found)
    assert "@import" not in text
    assert "url(" not in text


@needs_browser
def test_report_in_a_browser(browser, folder):
    """Chromium opens the page from disk; the page itself is asked what it shows."""
    browser.open(folder / "report.html")
    shown = browser.ask("""({
        images: [...document.images].map(i => i.naturalWidth),
        tables: [...document.querySelectorAll("table")].map(t => [t.id, t.tBodies[0].rows.length]),
        heading: document.querySelector("h1").innerText,
        fetched: performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:")),
        wide: document.documentElement.scrollWidth - innerWidth,
      })""")
    assert shown["heading"] == "kim-ryu: kim-ryu-circle"
    assert len(shown["images"]) == len(plots.FIGURES) - 1  # a rigid platform has no figure of its bending
    assert min(shown["images"]) > 500  # pixels
    tables = dict(shown["tables"])
    assert tables["actuators"] == 6
    assert tables["joint bearings"] == 18
    assert tables["sources"] > 5
    assert shown["fetched"] == []
    assert shown["wide"] <= 0  # nothing sticks out of the window
    assert browser.requests == []
    assert browser.complaints == []


# -- folders and files ---------------------------------------------------------------------------------------------


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_failure_leaves_nothing_and_keeps_what_was(tmp_path):
    target = tmp_path / "new" / "results"

    def fail(force: bool, how: BaseException) -> None:
        with atomic_folder(target, force, FILES) as partial:
            (partial / "report.html").write_text("half")
            raise how

    with pytest.raises(RuntimeError):
        fail(False, RuntimeError())
    assert names_in(tmp_path) == []  # not even the parent that was made for it
    target.mkdir(parents=True)
    (target / "report.html").write_text("whole")
    with pytest.raises(KeyboardInterrupt):
        fail(True, KeyboardInterrupt())
    assert (target / "report.html").read_text() == "whole"
    assert names_in(target.parent) == ["results"]


def test_a_folder_is_replaced_only_with_force_and_only_if_ours(tmp_path):
    target = tmp_path / "results"
    target.mkdir()
    with atomic_folder(target, False, FILES) as partial:  # an empty folder may be used
        (partial / "report.html").write_text("first")
    with refused(InputError, "force", code="exists"), atomic_folder(target, False, FILES):
        pass
    with atomic_folder(target, True, FILES) as partial:
        (partial / "report.html").write_text("second")
    assert (target / "report.html").read_text() == "second"
    (target / "thesis.tex").write_text("years of work")
    with refused(InputError, "thesis.tex", code="foreign_file"), atomic_folder(target, True, FILES):
        pass
    assert (target / "thesis.tex").read_text() == "years of work"
    assert names_in(tmp_path) == ["results"]


def test_results_of_the_same_inputs_are_replaced_and_others_kept(tmp_path):
    robot = tmp_path / "robot.yaml"
    robot.write_text("first")
    target = tmp_path / "results"

    def write(inputs, text="page"):
        with atomic_folder(target, False, FILES, inputs) as partial:
            (partial / "report.html").write_text(text)

    inputs = {"robot": provenance(robot), "motion": provenance("kim-ryu-circle"), "rate": 20.0}
    write(inputs)
    robot.write_text("edited")  # the same file: what is worked on
    write({**inputs, "robot": provenance(robot)}, "again")
    assert (target / "report.html").read_text() == "again"
    with refused(InputError, "rate 20.0 force", code="other_inputs"):
        write({**inputs, "rate": None})
    other = tmp_path / "other.yaml"
    other.write_text("edited")
    with refused(InputError, "robot.yaml other.yaml", code="other_inputs"):
        write({**inputs, "robot": provenance(other)})
    (target / "report.html").write_text("with my own remarks")
    with refused(InputError, "report.html", code="changed_file"):
        write(inputs)
    (target / "report.html").write_text("again")
    (target / "manifest.json").write_text("{")  # of another version, or broken: nothing is known
    with refused(InputError, "force", code="exists"):
        write(inputs)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "results").write_text("a file")
    with refused(InputError, code="not_a_folder"), atomic_folder(tmp_path / "results", True, FILES):
        pass
    with refused(InputError, code="cannot_write"), atomic_folder(tmp_path / "results" / "x", True, FILES):
        pass
    with refused(InputError, "force", code="exists"):
        atomic_write(tmp_path / "results", b"new", force=False)
    assert (tmp_path / "results").read_text() == "a file"


def test_table_texts():
    rows = table(
        "T", [("a b", "N"), ("c", "")], [(1234.5678, "x"), (float("nan"), "y"), (0.000123456, "z"), (52345.6, "w")]
    )
    assert [row[0] for row in rows.texts()] == ["1235", "-", "0.0001235", "52346"]
    assert rows.csv().splitlines()[0] == "a b [N],c"
    assert rows.records()[1] == {"a_b": None, "c": "y"}
