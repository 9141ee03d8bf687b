"""Live pages in a real browser: opened, dragged, played, and compared with the model in Python."""

from __future__ import annotations

import html
import json
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import Payload
from polypod.drawing import Samples
from polypod.drawing.shapes import payload_box
from polypod.errors import InputError
from polypod.files.templates import template
from polypod.motion import make_task
from polypod.viewer import document, live_page
from polypod.viewer.cones import cones
from polypod.viewer.coordinates import coordinates_of
from polypod.viewer.document import javascript
from polypod.viewer.extras import modes, workspace
from polypod.viewer.scene import scene
from support.browser import Browser, needs_browser
from support.command_line import polypod
from support.refusals import failed, refused
from support.robots.chains import planar, tripod
from support.robots.hexagon import hexagon_modes
from support.robots.rotary import hexa
from support.states import mostly_long

# The same operations in the same order, without fused products: a few roundings, times the condition number.
SAME = 1e-9
STILL = np.zeros(6)
SIDES = np.array([0.3, 0.2, 0.1])  # of a box whose longest side is along y of the platform, and the shortest along x
BOX = np.diag(12.0 / 12 * (np.square([0.1, 0.3, 0.2]).sum() - np.square([0.1, 0.3, 0.2]))).tolist()
NAME = "<img src=x onerror=alert(1)> & </script>"


def quiet(robot) -> pp.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.Model(robot)


def with_cones() -> pp.Robot:
    """The healthy hexapod with cones at both ends of its legs, and markup for names."""
    data = pp.loads(template("robot", "hexapod")).model_dump()
    for number, leg in enumerate(data["legs"]):
        leg |= {"kind": "UPS", "name": f"<b>leg</b> {number}"}
        leg["base_cone"] = {"axis": [0, 0, 1], "half_angle": 0.9}
        leg["platform_cone"] = {"axis": [0, 0.6, 0.8], "half_angle": 1.2}
        leg |= {"max_force": 400.0, "max_speed": 0.3}
    data["payload"] = {"name": "<u>load</u>", "mass": 12.0, "com": [0.02, 0.0, 0.05], "inertia": BOX}
    return pp.Robot.model_validate({**data, "name": NAME, "title": "<i>title</i>"})


@pytest.fixture(scope="module")
def models() -> dict[str, pp.Model]:
    """Telescopic legs with cones; sliders with dry friction; three degrees of freedom; cranks of a kind of its own;
    chains."""
    robots = {"cones": with_cones(), "kim-ryu": "kim-ryu", "staicu": "staicu", "hexa": hexa()}
    robots |= {"planar": planar(), "tripod": tripod()}
    return {name: quiet(robot) for name, robot in robots.items()}


class Pages(dict[str, Path]):
    """Pages of models by name, each written when it is first asked for."""

    def __init__(self, models: dict[str, pp.Model], folder: Path) -> None:
        self._models, self._folder = models, folder

    def __missing__(self, name: str) -> Path:
        task = make_task(self._models[name], rate=20.0) if name in ("kim-ryu", "staicu") else None
        show = ("modes", "workspace") if name == "cones" else ()
        self[name] = self._folder / f"{name}.html"
        self[name].write_text(live_page(self._models[name], task, show=show), encoding="utf-8")
        return self[name]


@pytest.fixture(scope="module")
def pages(models, tmp_path_factory) -> Pages:
    return Pages(models, tmp_path_factory.mktemp("pages"))


def opened(browser: Browser, page: Path, graphics: bool = False) -> None:
    browser.open(page, graphics)
    browser.wait_for(lambda: browser.ask("Boolean(window.polypod)"))
    assert browser.ask("polypod.stage.live") is graphics


def state(browser: Browser) -> dict:
    """What the page knows of the state it shows."""
    return json.loads(
        browser.ask("""JSON.stringify((s => ({pose: [...s.pose], x: [...s.x], reachable: s.reachable,
        singular: s.singular, condition: s.condition, distance: s.distance, verdict: s.verdict,
        q: s.q && [...s.q], force: s.force && [...s.force], limits: s.limits && s.limits.map(l => l.value),
        used: s.used && s.used.map(u => [u.name, u.where, u.share]),
        frames: s.frames && s.frames.map(f => [...f])}))(polypod.state))""")
    )


def words(browser: Browser) -> str:
    """All that the page says."""
    return browser.ask("document.body.innerText + [...document.querySelectorAll('input')].map(i => i.value).join(' ')")


def agree(model: pp.Model, shown: dict, twist=STILL, acceleration=STILL) -> None:
    """Every number of a state against the compiled functions at the page's own pose."""
    pose = np.reshape(shown["pose"], (4, 4))
    q, force = model.inverse_kinematics(pose), model.inverse_dynamics(pose, twist, acceleration)
    assert np.abs(np.array(shown["q"]) - q).max() <= SAME * np.abs(q).max()
    assert np.abs(np.array(shown["force"]) - force).max() <= SAME * np.abs(force).max()
    bodies = list(model.bodies(pose).values())
    assert np.abs(np.array(shown["frames"][1:]) - np.reshape(bodies, (-1, 16))).max() <= SAME
    limits, how = model.joint_ranges(pose), model.conditioning(pose)
    judged = model.limits(pose, twist, acceleration)
    wanted = sorted((q, n[0], float(u)) for q, n, u in zip(judged.quantities, judged.names, judged.use, strict=True))
    assert [row[:2] for row in sorted(shown["used"])] == [list(row[:2]) for row in wanted]
    for (*_, use), (*_, expected) in zip(sorted(shown["used"]), wanted, strict=True):
        assert use == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert np.abs(np.array(shown["limits"]) - limits.value).max(initial=0.0) <= SAME
    assert shown["condition"] == pytest.approx(float(how.condition), rel=SAME)
    assert shown["distance"] == pytest.approx(float(how.distance), rel=SAME)
    assert (shown["verdict"]["title"] == "Within all limits") == bool(judged.ok and len(judged.names))


@needs_browser
@pytest.mark.parametrize(
    "name",
    mostly_long(("cones", "kim-ryu", "staicu", "hexa", "planar", "tripod"), ("cones", "planar")),
)
def test_a_page_opens_is_dragged_and_agrees_with_the_model(name, browser, pages, models):
    model = models[name]
    opened(browser, pages[name], graphics=True)
    browser.ask("polypod.home(); polypod.draw()")
    home = state(browser)
    assert np.abs(np.reshape(home["pose"], (4, 4)) - model.robot.home.matrix).max() < 1e-15
    agree(model, home)
    # the platform itself is caught and moved across the screen
    at = browser.ask("polypod.stage.project([3, 7, 11].map(k => polypod.state.pose[k]))")
    browser.drag(tuple(at), (at[0] + 12, at[1] - 9))
    moved = state(browser)
    assert np.abs(np.array(moved["pose"]) - home["pose"]).max() > 1e-3 * model.size
    agree(model, moved)
    if model.robot.dof:
        assert np.abs(model.coordinates(np.reshape(moved["pose"], (4, 4))) - moved["x"]).max() < 1e-12
    # what the table shows is what the page knows
    shown = browser.ask("[...document.querySelectorAll('#actuators tr td:nth-child(5)')].map(e => Number(e.innerText))")
    assert np.abs(np.array(shown) - moved["force"]).max() <= 2e-3 * np.abs(moved["force"]).max()
    # an actuator's slider: forward kinematics moves that actuator and no other
    wanted = np.array(moved["q"])
    wanted[1] += 0.02 * np.ptp(browser.ask("[polypod.scene.actuators[1].low, polypod.scene.actuators[1].high]"))
    browser.ask(f"""(i => {{ i.value = {float(wanted[1])!r}; i.dispatchEvent(new Event("input")); }})(
        document.querySelectorAll("#actuators input[type=range]")[1])""")
    slid = state(browser)
    reached = float(browser.ask("document.querySelectorAll('#actuators input[type=range]')[1].value"))
    wanted[1] = reached
    assert np.abs(np.array(slid["q"]) - wanted).max() <= 1e-12 * (1 + np.abs(wanted).max())
    agree(model, slid)
    # beside the robot the view turns and the robot stays
    start = browser.ask("polypod.camera.azimuth")
    browser.drag((30, 120), (80, 120))
    assert browser.ask("polypod.camera.azimuth") != start
    assert state(browser)["pose"] == slid["pose"]
    # out of reach the robot stays where it last could be, beside where it should be
    browser.ask("polypod.setCoordinates(polypod.state.x.map((x, k) => k ? x : 50)); polypod.draw()")
    if name in ("hexa", "kim-ryu"):
        assert not state(browser)["reachable"]
        assert browser.ask("polypod.stage.last.reachable")
    assert browser.complaints == []
    assert browser.requests == []
    assert not re.search(r"NaN|undefined|Infinity|\[object", words(browser))


@needs_browser
def test_rotations_turn_about_the_pivot(browser, pages, models):
    """The point of the platform stays; angles are those of the robot's Euler convention."""
    model = models["cones"]
    opened(browser, pages["cones"])
    x = [0.02, -0.01, 0.62, 0.1, 0.15, -0.2]
    browser.ask(f"polypod.setPivot(2, 0.15); polypod.setPivot(0, -0.05); polypod.setCoordinates({x})")
    pose = np.reshape(state(browser)["pose"], (4, 4))
    assert np.abs(pose @ [-0.05, 0, 0.15, 1] - [*x[:3], 1]).max() < 1e-14
    assert np.abs(pose[:3, :3] - Rotation.from_euler(model.robot.euler, x[3:]).as_matrix()).max() < 1e-14


@needs_browser
def test_a_motion_is_played(browser, pages, models):
    model = models["kim-ryu"]
    task = make_task(model, rate=20.0)
    opened(browser, pages["kim-ryu"], graphics=True)
    for k in (0, 7, len(task.time) - 1):
        browser.ask(f"polypod.setInstant({k})")
        shown = state(browser)
        assert shown["pose"] == task.motion.pose[k].ravel().tolist()
        agree(model, shown, task.motion.twist[k], task.motion.acceleration[k])
    lines = np.array(browser.ask("polypod.motion.force.map(f => [...f])"))
    expected = model.inverse_dynamics(task.motion.pose, task.motion.twist, task.motion.acceleration)
    assert np.abs(lines - expected).max() <= SAME * np.abs(expected).max()
    browser.ask("document.getElementById('stage').focus()")
    browser.press(",", number=188)
    assert browser.ask("document.querySelector('#play input').value") == str(len(task.time) - 2)
    browser.press(" ", "PoseCoordinates", 32)  # plays to the end
    browser.wait_for(lambda: browser.ask("document.querySelector('#play input').value") == str(len(task.time) - 1))
    # a click on the first plot goes to that instant
    place = browser.ask(
        "(b => [b.left + 46, b.top + 60])(document.querySelector('#plots canvas').getBoundingClientRect())"
    )
    browser.drag(tuple(place), tuple(place), steps=1)
    assert browser.ask("document.querySelector('#play input').value") == "0"
    # arrows in the list of speeds choose a speed, and move nothing
    before = state(browser)["x"]
    browser.ask("document.querySelector('#play select').focus()")
    browser.press("ArrowDown", number=40)
    assert state(browser)["x"] == before
    assert browser.complaints == []


@needs_browser
def test_keys_and_views(browser, pages):
    opened(browser, pages["planar"])
    browser.ask("polypod.home(); document.getElementById('stage').focus()")
    before = state(browser)["x"]
    low, high = browser.ask("[polypod.scene.coordinates[0].low, polypod.scene.coordinates[0].high]")
    browser.press("ArrowRight", number=39)
    assert state(browser)["x"][0] == pytest.approx(before[0] + (high - low) / 100, rel=1e-12)
    browser.press("Home", number=36)
    assert state(browser)["x"] == before
    views = []
    for key in "1234":
        browser.press(key, f"Digit{key}", ord(key))
        views.append(tuple(browser.ask("[polypod.camera.azimuth, polypod.camera.elevation]")))
    assert views == [(-55, 20), (-90, 0), (0, 0), (-90, 90)]
    assert state(browser)["x"] == before


@needs_browser
def test_out_of_reach_and_singular_are_shown_in_words(browser, pages, models):
    """Kim-Ryu's links are too short for x = 2 m; the hexapod turned by a quarter is singular."""
    opened(browser, pages["kim-ryu"])
    sliders = "[...document.querySelectorAll('#actuators input[type=range]')].map(i => i.value)"
    before = browser.ask(sliders)
    browser.ask("polypod.setCoordinates([2, 0, 0.9, 0, 0, 0])")
    assert browser.ask(sliders) == before  # no actuator moves where no coordinates are known
    shown = state(browser)
    assert not shown["reachable"]
    assert shown["verdict"]["level"] == "bad"
    (first, *_) = shown["verdict"]["lines"]
    with refused(pp.errors.StateError, first.partition(" (by")[0]):
        models["kim-ryu"].inverse_kinematics(np.reshape(shown["pose"], (4, 4)))
    assert "Out of reach" in words(browser)
    assert not re.search(r"NaN|undefined|Infinity", words(browser))
    browser.ask("polypod.home()")
    assert state(browser)["reachable"]
    opened(browser, pages["tripod"])
    browser.ask("polypod.setCoordinates([1e300, 0, 0])")  # squares of it are no numbers
    assert np.isnan(models["tripod"].motion([1e300, 0, 0], errors="nan").pose).all()
    assert "No pose with these coordinates was found near this one." in words(browser)
    assert not re.search(r"NaN|undefined|Infinity", words(browser))
    opened(browser, pages["cones"])
    browser.ask("polypod.setCoordinates([0, 0, 0.6, Math.PI / 2, 0, 0])")
    shown = state(browser)
    assert shown["singular"]
    assert shown["force"] is None
    assert "Singular" in words(browser)
    assert not re.search(r"NaN|undefined|Infinity|e\+\d\d", words(browser))
    assert browser.complaints == []


@needs_browser
def test_names_are_never_markup(browser, pages):
    text = pages["cones"].read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("</script>") == 2
    opened(browser, pages["cones"])
    assert browser.ask("document.querySelectorAll('b, i:not(.gauge i), img').length") == 0
    assert browser.ask("document.querySelector('h1').textContent") == NAME
    assert browser.ask("document.title") == NAME
    assert "<b>leg</b> 0" in words(browser)


@needs_browser
def test_without_webgl_the_robot_is_drawn_in_lines(browser, pages, models):
    opened(browser, pages["hexa"], graphics=False)
    browser.ask("polypod.setCoordinates([0.02, 0.01, -0.45, 0.05, 0, 0]); polypod.draw()")
    agree(models["hexa"], state(browser))
    assert browser.ask("document.querySelectorAll('#stage svg line').length") >= 12
    assert browser.ask("[...document.querySelectorAll('#stage svg *')].every(e => !e.outerHTML.includes('NaN'))")
    assert "no WebGL" in words(browser)
    assert browser.complaints == []


@pytest.mark.long
@needs_browser
def test_uses_of_drives_and_assembly_modes(browser, pages, models):
    """Shares of the drives' limits at rest and pushed beyond them; a mode is shown at a click."""
    model = models["cones"]
    opened(browser, pages["cones"], graphics=True)
    uses = browser.ask("polypod.home(); polypod.state.uses.map(u => u.share)")
    force = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL)
    assert np.abs(np.array(uses) - np.abs(force) / 400.0).max() <= SAME
    browser.ask("polypod.setLoad(2, -6000)")
    assert "More than is allowed" in words(browser)
    assert browser.ask("document.querySelectorAll('#actuators td.broken').length") == 6
    twist = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    home = model.robot.home.matrix
    rate = browser.ask(f"""[...polypod.evaluate({{...polypod.state, twist: {twist.tolist()}}}).rate]""")
    assert np.abs(np.array(rate) - model.rates(home, twist)).max() <= SAME
    buttons = browser.ask("document.querySelectorAll('#modes button').length")
    assert buttons > 1
    browser.ask(f"polypod.setLoad(2, 0); document.querySelectorAll('#modes button')[{buttons - 1}].click()")
    shown = state(browser)
    assert np.abs(np.reshape(shown["pose"], (4, 4)) - home).max() > 0.01
    if shown["reachable"]:
        assert np.abs(np.array(shown["q"]) - model.inverse_kinematics(home)).max() <= 1e-9
    browser.ask("polypod.home(); polypod.draw()")
    assert browser.complaints == []


@needs_browser
def test_a_simulation_that_was_kept_is_played(browser, tmp_path):
    """Poses and forces of the file, not what the motion would need; the command takes the folder."""
    model = pp.Model("hexapod")
    pose = model.robot.home.matrix
    force = 1.1 * model.inverse_dynamics(pose, STILL, STILL)  # a little too much: it rises
    result = pp.simulate(model, force, duration=0.05, rate=200.0)
    pp.simulation.save_result(result, tmp_path / "simulation.nc")
    page = tmp_path / "page.html"
    assert polypod("view", tmp_path, "--out", page).exit_code == 0
    assert pp.view(result).html == page.read_text(encoding="utf-8")
    opened(browser, page)
    last = len(result.time) - 1
    browser.ask(f"polypod.setInstant({last})")
    shown = state(browser)
    assert shown["pose"] == result.pose.values[-1].ravel().tolist()
    assert shown["force"] == result.force.values[-1].tolist()
    assert "forces of the simulation at this instant" in words(browser)
    assert browser.complaints == []
    failed(polypod("view", tmp_path, "lift.yaml", "--out", tmp_path / "other.html"), "MOTION")
    failed(polypod("view", tmp_path / "none.nc"), "none.nc")
    # as other versions may have written it
    strange = result.assign_attrs(robot_file="name: x\nwheels: 4\n", polypod_version="9.9")
    with refused(InputError, "result 9.9"):
        pp.view(strange)
    with refused(InputError, "force twist"):
        pp.view(result.drop_vars(["twist", "force"]))


def test_a_simulation_that_was_kept_has_its_friction(tmp_path):
    (tmp_path / "simulation.nc").touch()
    refused = polypod("view", tmp_path, "--no-friction")
    assert refused.exit_code == 2
    failed(refused, "MOTION --rate --set --show --no-friction")


@needs_browser
def test_a_step_is_quick(browser, pages):
    """A picture takes 17 ms; all numbers of a state are to take a small part of it (about 0.3 ms here)."""
    opened(browser, pages["kim-ryu"])
    script = """(() => { const s = polypod.state, start = performance.now();
      for (let k = 0; k < 200; k++) polypod.evaluate(s);
      return (performance.now() - start) / 200; })()"""
    browser.ask(script)
    assert browser.ask(script) < 8.0


# -- what is drawn, without a browser ----------------------------------------------------------------------------------


def test_cones_are_found_from_the_limits_alone(models):
    model = models["cones"]
    found = cones(Samples(model.robot))
    assert len(found) == 12
    for cone in found:
        leg = model.robot.legs[cone["leg"]]
        base = cone["body"] == 0
        stated = leg.base_cone if base else leg.platform_cone
        side = 1 if base else -1  # at the platform the leg lies on the other side of the joint
        assert np.abs(side * np.array(cone["axis"]) - stated.axis).max() < 1e-7
        assert cone["half_angle"] == pytest.approx(stated.half_angle, rel=1e-12)


def test_the_payload_is_the_box_of_its_inertia(models):
    """The plate that rounds the edges of the box is as long, wide and thick as the box."""
    (load,) = [
        one
        for one in scene(models["cones"], coordinates_of(models["cones"].robot), models["cones"].robot)["shapes"]
        if one["role"] == "payload"
    ]
    points = np.array(load["points"])
    assert load["radius"] == pytest.approx(SIDES[2] / 2, rel=1e-12)
    assert np.ptp(points, axis=0) + 2 * load["radius"] == pytest.approx([0.1, 0.3, 0.2], rel=1e-12)
    assert points.mean(axis=0) == pytest.approx([0.02, 0.0, 0.05], rel=1e-12, abs=1e-15)
    # a mass in a point has no such box: a ball of steel, of which a litre weighs 7.85 kg
    point = Payload(name="point", mass=7.85, com=[0, 0, 0.1], inertia=np.zeros((3, 3)).tolist())
    at, radius = payload_box(point, 1e-3, 1.0)
    assert at.tolist() == [[0, 0, 0.1]]
    assert 4 / 3 * np.pi * radius**3 == pytest.approx(1e-3, rel=1e-12)


def test_modes_and_workspace_are_those_of_the_model(models):
    """Modes have home's actuated coordinates; the surface is where the limits end: inside it, and not beyond."""
    model = models["cones"]
    home = model.robot.home.matrix
    poses = np.array([one["pose"] for one in modes(model)]).reshape(-1, 4, 4)
    assert np.abs(poses[0] - home).max() < 1e-9
    assert np.abs(model.inverse_kinematics(poses) - model.inverse_kinematics(home)).max() < 1e-9
    points = np.array(workspace(model)).reshape(-1, 3)
    chosen = points[np.random.default_rng(1).choice(len(points), 40)]
    for part, inside in ((0.999, True), (1.001, False)):
        there = np.tile(home, (40, 1, 1))
        there[:, :3, 3] = home[:3, 3] + part * (chosen - home[:3, 3])
        found = model.limits(there)
        within = ((found.value >= found.low) & (found.value <= found.high)).all(axis=1)
        assert (within == inside).all()
    with refused(InputError, "workspace"):
        workspace(models["planar"])
    with refused(pp.errors.PolypodError, name="mode"):
        live_page(model, show=["mode"])


def test_joints_are_where_their_legs_say(models):
    """Points and directions fixed in bodies, moved with the bodies, against the mechanism itself at other poses."""
    for model in models.values():
        samples = Samples(model.robot)
        for k in range(len(samples.joints)):
            for n in (0, 3, 9):
                place = samples.joint_points[k]
                frame = samples.frames[n, place.body]
                point = frame[:3, :3] @ place.local + frame[:3, 3]
                assert np.abs(point - samples.points[n, k]).max() < 1e-12
                for number, axis in enumerate(samples.joint_axes(k)):
                    turned = samples.frames[n, axis.body, :3, :3] @ axis.local
                    assert np.abs(turned - samples.axes[n, k, number]).max() < 1e-12


def test_every_body_is_connected(models):
    """Telescopic legs have a tube each, cranks and rods a bar each, sliders a carriage on a rail of their travel."""
    own = {name: coordinates_of(model.robot, name == "tripod") for name, model in models.items()}
    scenes = {name: scene(model, own[name], model.robot) for name, model in models.items()}
    roles = {
        name: Counter(shape["role"] for shape in one["shapes"] if shape["role"] != "joint")
        for name, one in scenes.items()
    }
    assert roles["cones"] == {"base": 1, "platform": 1, "payload": 1, "tube": 6, "rod": 6}
    assert roles["hexa"] == {"base": 1, "platform": 1, "link": 12}
    assert roles["planar"]["link"] == 6
    assert (roles["tripod"]["tube"], roles["tripod"]["rod"]) == (3, 3)  # cylinder and piston
    assert (roles["kim-ryu"]["carriage"], roles["kim-ryu"]["rail"]) == (6, 6)
    rails = [shape for shape in scenes["kim-ryu"]["shapes"] if shape["role"] == "rail"]
    for rail, leg in zip(rails, models["kim-ryu"].robot.legs, strict=True):
        low, high = leg.travel
        ends = [np.array(leg.rail_start) + value * np.array(leg.rail_direction) for value in (low, high)]
        assert np.abs(np.array(rail["points"]) - ends).max() < 1e-12
    for one in scenes.values():
        assert json.loads(json.dumps(one, allow_nan=False)) == one


@pytest.mark.parametrize("name", ["kim-ryu", "lopes", "staicu"])
def test_coordinates_and_poses_are_inverse(name):
    model = quiet(name)
    own = coordinates_of(model.robot)
    x = np.random.default_rng(3).uniform(-0.4, 0.4, len(own.names))
    pose = np.array(own.place.function(x)).reshape(4, 4)
    assert np.abs(np.array(own.read.function(pose.ravel())).ravel() - x).max() < 1e-14
    if model.robot.dof:
        assert np.abs(pose - model.motion(x).pose).max() < 1e-15
    else:
        assert np.abs(pose[:3, :3] - Rotation.from_euler(model.robot.euler, x[3:]).as_matrix()).max() < 1e-15


@pytest.mark.parametrize("order", ["XYZ", "zyx", "xzy", "YZX"])
def test_every_order_of_angles(order):
    robot = quiet("lopes").robot.model_copy(update={"euler": order})
    own = coordinates_of(robot)
    x = np.array([0.1, 0.2, 0.3, 0.7, -0.5, 0.9])
    pose = np.array(own.place.function(x)).reshape(4, 4)
    assert np.abs(pose[:3, :3] - Rotation.from_euler(order, x[3:]).as_matrix()).max() < 1e-15
    assert np.abs(np.array(own.read.function(pose.ravel())).ravel() - x).max() < 1e-14


# -- the command and notebooks -----------------------------------------------------------------------------------------


def test_the_command_writes_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert polypod("view", "staicu").stdout.startswith("Wrote staicu.html (")
    # a motion alone brings its robot
    assert polypod("view", "staicu-path").stdout.startswith("Wrote staicu-staicu-path.html (")
    failed(polypod("view", "staicu"), "staicu.html --force")
    failed(polypod("view", "staicu", "--out", tmp_path), "robot.html")
    text = Path("staicu.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
    assert len(text) < 400_000


def test_a_flexible_platform_is_shown_as_rigid():
    robot = quiet("long").robot.on_modes(hexagon_modes(2, damping_ratio=0.02))
    shown = scene(quiet(robot).rigid, coordinates_of(robot), robot)
    assert shown["notes"] == ["The platform is flexible; this page treats it as rigid."]
    assert live_page(quiet(robot)).startswith("<!DOCTYPE html>")


def test_a_notebook_shows_the_page_in_a_frame(models):
    page = pp.view(models["staicu"])
    shown = page._repr_html_()
    assert repr(page) == f"LivePage({len(page.html) / 1e3:.0f} kB)"
    assert shown.count("<") == 2  # the frame and nothing else: the page inside is escaped
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1]) == page.html


def test_friction_is_left_out_when_asked(models):
    """The page's functions without friction: what the text of inverse dynamics iterates with it."""
    own = coordinates_of(models["kim-ryu"].robot)
    with_, without = (javascript(models["kim-ryu"], own, friction) for friction in (True, False))
    assert "converged" in dict(with_[1]["inverse_dynamics"]["outputs"])
    assert "converged" not in dict(without[1]["inverse_dynamics"]["outputs"])
    assert scene(models["kim-ryu"], own, models["kim-ryu"].robot, False)["notes"] == ["Friction is not included."]


@needs_browser
def test_plots_of_values_that_differ_by_rounding_alone_are_drawn(browser, tmp_path):
    """Six legs of one length: steps of an axis of 1e-16 m were so small that counting them up never ended."""
    script = (Path(document.__file__).parent / "page" / "plots.js").read_text(encoding="utf-8")
    page = tmp_path / "plots.html"
    page.write_text(
        "<body><div id='host' style='width: 400px'></div><style>canvas {width: 400px; height: 120px}</style><script>"
        "const element = (tag, fields) => Object.assign(document.createElement(tag), fields);"
        "const text = (v, digits) => v.toFixed(digits);" + script + "</script></body>",
        encoding="utf-8",
    )
    browser.open(page)
    length = 0.4 * (1 + np.finfo(float).eps * np.arange(6))
    lines = [{"colour": "#000", "values": [value, value]} for value in length]
    browser.ask(f"""makePlot(document.getElementById("host"), "lengths", [0, 1e-3], {json.dumps(lines)}).paint()""")
    rng = np.random.default_rng(0)
    size = rng.uniform(-1, 1, 300) * 10.0 ** rng.uniform(-12, 12, 300)
    wide = np.abs(size) * 10.0 ** rng.uniform(-18, 3, 300)
    cases = np.column_stack([size, size + wide, rng.integers(2, 12, 300)]).tolist()
    found = browser.ask(f"{json.dumps(cases)}.map(([low, high, count]) => ticks(low, high, count))")
    for (low, high, count), made in zip(cases, found, strict=True):
        room = 1e-9 * (high - low) + 4 * np.spacing(max(abs(low), abs(high)))
        assert len(made) <= count + 1
        assert all(low - room <= value <= high + room for value in made)
        if high - low > 1e-9 * abs(low):
            assert len(made) >= int(count / 2.5)  # a step is at most 2.5 times as wide as asked for
    assert browser.complaints == []


@needs_browser
def test_a_link_has_the_pose_and_a_picture_is_drawn(browser, pages, models):
    """The page opened with its own link shows the same pose from the same side; links that are none are refused."""
    opened(browser, pages["planar"])
    home = models["planar"].robot.home.matrix
    at = [0.012, -0.02, 0.15]
    browser.ask(f"polypod.setCoordinates({at}); polypod.camera.turn(30, -10)")
    link, pose = browser.ask("polypod.shownAs()"), state(browser)["pose"]
    assert np.abs(np.reshape(pose, (4, 4)) - models["planar"].motion(at, STILL[:3], STILL[:3]).pose).max() < 1e-12
    eye = browser.ask("[polypod.camera.azimuth, polypod.camera.elevation]")
    for wrong in ("#x=1,2", "#x=a,b,c", "#at=3&x="):
        assert browser.ask(f"polypod.openLink({wrong!r})") is False
        assert state(browser)["pose"] == pose
    # colours of the drawing on white: more than one, of the size of the picture
    colours = """(async () => { const c = await polypod.picture();
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, found = new Set();
        for (let k = 0; k < d.length; k += 4) found.add(d[k] + "," + d[k + 1] + "," + d[k + 2]);
        return [c.width, c.height, found.size, found.has("255,255,255")]; })()"""
    width, height, count, white = browser.ask(colours)
    assert (width, height) == tuple(
        browser.ask('(e => [e.clientWidth, e.clientHeight])(document.getElementById("stage"))')
    )
    assert count > 10
    assert white
    browser.send("Page.navigate", url="about:blank")
    opened(browser, f"{pages['planar'].as_uri()}{link}")
    assert np.abs(np.array(state(browser)["pose"]) - pose).max() < 1e-11
    assert browser.ask("[polypod.camera.azimuth, polypod.camera.elevation]") == pytest.approx(eye, abs=1e-9)
    browser.ask("location.hash = '#x=0,0,0'")
    browser.wait_for(lambda: np.abs(np.reshape(state(browser)["pose"], (4, 4)) - home).max() < 1e-12)
    assert not browser.complaints
