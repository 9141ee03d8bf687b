"""Pictures of robots: one scale, gravity down without a mirror, names on the legs, no white edges, instants to see."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread

import polypod as pp
from polypod.drawing import posed
from polypod.files.templates import template
from polypod.motion import Motion, Task, loads_motion, make_task
from polypod.results import figures as plots
from polypod.results import limit_report, robot_of, study
from polypod.results.figures import scene
from polypod.results.figures.curves import draw_curves
from polypod.results.figures.light import decimated
from polypod.results.figures.scene import Solids
from polypod.results.figures.style import figure as figure_of
from polypod.results.figures.view import View, best_view
from support.robots.small_machines import SMALL_MACHINES


def pixels(figure):
    """Rows and columns of the saved figure that are not white."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    image = imread(io.BytesIO(buffer.getvalue()))[..., :3]
    dark = image.min(axis=2) < 0.98
    return dark, np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))


@pytest.fixture(params=["kim-ryu", "staicu"])
def model(request, model_of):
    """A robot with its z axis down, and one of few degrees of freedom."""
    return model_of(request.param)


def test_picture_fills_its_paper(model):
    dark, rows, columns = pixels(plots.robot_picture(model.robot))
    # white edges of at most a fifteenth; nothing is cut off, so the outermost pixels are white
    for used, size in ((rows, dark.shape[0]), (columns, dark.shape[1])):
        assert 0 < used[0] < 0.12 * size
        assert 0.88 * size < used[-1] + 1 < size


def test_every_leg_has_its_name(model):
    figure = plots.robot_picture(model.robot)
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text for text in axes.texts if text.get_text() in model.legs]
    assert [text.get_text() for text in names] == list(model.legs)
    boxes = [text.get_window_extent() for text in names]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1


def test_one_scale_and_one_handedness(model):
    """Directions of the paper are a right-handed rotation of the base axes, gravity points down on it."""
    robot = model.robot
    drawn = posed(robot, robot.home.matrix[None])
    down = robot.gravity[2] > 0
    for view in (best_view(robot, drawn), View.plan(down), View.side(down)):
        matrix = np.stack([view.right, view.up, view.towards])
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(matrix) == pytest.approx(1.0, rel=1e-14)
        assert view.up @ np.array(robot.gravity) <= 1e-12  # things fall towards the lower edge
        point = np.array([0.3, -0.2, 0.7])
        assert np.hypot(*view.project(point)) ** 2 + view.depth(point) ** 2 == pytest.approx(point @ point, rel=1e-14)
    (axes,) = plots.robot_picture(robot).axes
    assert axes.get_aspect() == 1.0
    bar = next(line for line in axes.lines if line.get_linewidth() == 2.0)
    label = next(text.get_text() for text in axes.texts if text.get_text().endswith(" mm"))
    assert 1e3 * np.ptp(bar.get_xdata()) == pytest.approx(float(label.removesuffix(" mm")), rel=1e-9)


def test_cylindrical_joints_slide_on_rails():
    """Legs of 3-CRU start from cylindrical joints: what slides is no fixed joint of the base."""
    robot = pp.Robot.model_validate(SMALL_MACHINES["3-CRU"](1))
    drawn = posed(robot, robot.home.matrix[None])
    assert [leg for leg, _ in drawn.rails()] == [0, 1, 2]
    assert not len(drawn.ground)


def test_what_is_nearer_is_drawn_later():
    solids = Solids(View.plan())
    solids.ball(np.array([0.0, 0.0, 1.0]), 0.1, "#ff0000")
    solids.ball(np.array([0.0, 0.0, 0.0]), 0.1, "#00ff00")
    solids.bar(np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0, 2.0]), 0.1, "#0000ff")
    corners, faces, _, _ = solids.parts()
    assert faces[0][1] > 0 == faces[0][0]  # green, the lowest, first
    assert faces[-1][2] > faces[-1][0]  # the bar, the highest, last
    wide = np.concatenate(corners[-5:])
    assert np.ptp(wide[:, 1]) == pytest.approx(0.2, rel=1e-12)  # as broad as it is thick
    assert np.ptp(wide[:, 0]) == pytest.approx(1.0, rel=1e-12)


def test_a_frame_that_points_down_says_so(model_of):
    def words(figure):
        return " ".join(text.get_text() for text in figure.texts)

    assert "z points down" in words(plots.robot_picture(model_of("kim-ryu").robot))
    assert "z points down" not in words(plots.robot_picture(model_of("lopes").robot))


def studied(model, rows=None):
    task = make_task(model, rate=50.0)
    if rows is not None:
        m = task.motion
        task = Task(task.name, Motion(m.time[rows], m.pose[rows], m.twist[rows], m.acceleration[rows]))
    return study(model, task, certify=False)


def test_a_closed_path_does_not_show_its_start_twice(model_of):
    result = studied(model_of("kim-ryu"))
    chosen = plots.key_instants(result)
    last, pose = len(result.time) - 1, result.pose.values
    assert len(chosen) == 3
    assert last not in chosen
    assert chosen[0].startswith("start and end\n")
    peak = int(np.abs(result.force.values).max(axis=1).argmax())
    leg = result.actuator.values[int(np.abs(result.force.values[peak]).argmax())]
    assert chosen[peak] == f"largest force ({leg})\nt = {result.time.values[peak]:.3g} s"
    assert any("worst conditioning" in title for title in chosen.values())
    for k in chosen:
        assert all(np.abs(pose[k] - pose[other]).max() > 1e-6 for other in chosen if other != k)


def test_an_open_path_shows_its_end(model_of):
    result = studied(model_of("kim-ryu"), slice(0, 40))
    chosen = plots.key_instants(result)
    assert chosen[0].startswith("start")
    assert "end" not in chosen[0]
    assert chosen[39].startswith("end")
    assert len(chosen) == 3


def test_figures_of_instants_have_titles_and_the_path(model_of):
    result = studied(model_of("lopes"))
    figure = plots.instants(result)
    titles = [text.get_text() for text in figure.texts]
    assert titles == list(plots.key_instants(result).values())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["path of the platform's origin"]
    dark, _, columns = pixels(figure)
    assert columns[0] > 0
    assert columns[-1] < dark.shape[1] - 1  # nothing cut off


def test_the_vertical_line_of_the_cover_is_explained(model_of):
    figure = plots.cover(studied(model_of("kim-ryu")))
    right = figure.axes[1]
    (line,) = [line for line in right.lines if len(set(line.get_xdata())) == 1]
    (words,) = [text for text in right.texts if text.get_text() == "robot drawn here"]
    assert words.xy[0] == line.get_xdata()[0]


def test_reactions_that_are_open_are_named(model_of):
    figure = plots.reactions(studied(model_of("staicu")))
    (title,) = [text.get_text() for text in figure.texts]
    assert "undetermined by internal stresses and not drawn: slider hinge of bar1" in title.replace("\n", " ")
    assert "the determined part" in title


def test_forces_of_a_joint_along_and_across_its_axis(model_of):
    """A slide's force along the rail and across it, which together are the whole; the worst leg is bold."""
    model = model_of("kim-ryu")
    result = studied(model)
    found = model.reactions(result.pose.values, result.twist.values, result.acceleration.values)
    axes = np.full((len(result.time), result.sizes["joint"], 2, 3), np.nan)
    pairs = zip(result.joint_leg.values, result.joint_name.values, strict=True)
    for k, (leg, joint) in enumerate(pairs):
        given = found.legs[leg][joint].axes
        axes[:, k, : min(given.shape[-2], 2)] = given[:, :2]
    figure = plots.reactions(result.assign(joint_axes=(("time", "joint", "pivot", "axis"), axes)))
    titled = {panel.get_title(loc="left"): panel for panel in figure.axes if panel.get_visible()}
    along, across = titled["slider, along its axis"], titled["slider, across its axis"]
    curves = {line.get_label(): line for line in along.lines if len(line.get_xdata()) > 2}
    leg = next(iter(curves))
    sides = next(line for line in across.lines if line.get_label() == leg)
    whole = np.hypot(curves[leg].get_ydata(), sides.get_ydata())
    np.testing.assert_allclose(whole, np.linalg.norm(found.legs[leg]["slider"].force, axis=-1), rtol=1e-12)
    bold = [line for line in across.lines if line.get_linewidth() > 2]
    assert len(bold) == 1
    assert max(bold[0].get_ydata()) == max(max(line.get_ydata()) for line in across.lines)
    assert "spherical" in titled  # a ball has no axis


@pytest.mark.long
def test_panels_show_something(model_of):
    """A robot in a plane: no panel of zeros along its hinges' axes, of a motion that does not turn none of turning."""
    planar = plots.reactions(studied(model_of("five-bar")))
    assert [panel.get_title(loc="left") for panel in planar.axes if panel.get_visible()] == [
        f"{joint}, across its axis" for joint in ("motor", "elbow", "tip")
    ]
    (title,) = [text.get_text() for text in planar.texts]
    assert "none: motor, along its axis" in title.replace("\n", " ")
    sliding = plots.motion(studied(model_of("delta")))
    assert [panel.get_ylabel() for panel in sliding.axes] == ["position from home [mm]", "speed [mm/s]"]


def test_a_curve_that_turns_back_is_drawn_whole():
    """Force over speed: thinning by pieces of its width would cut its corners."""
    turn = np.linspace(0.0, 2 * np.pi, 2001)
    assert len(decimated(np.cos(turn), np.sin(turn))[0]) == len(turn) > len(decimated(turn, np.sin(turn))[0])


@pytest.mark.parametrize("name", ["kim-ryu", "lopes", "staicu"])
def test_names_are_at_the_same_places_in_all_panels(model_of, name):
    figure = plots.instants(studied(model_of(name)))
    legs = model_of(name).legs
    places = [[text.get_position() for text in axes.texts if text.get_text() in legs] for axes in figure.axes]
    assert len(places) > 1
    assert len(places[0]) == len(legs)
    for other in places[1:]:
        np.testing.assert_allclose(other, places[0], rtol=1e-12)


def test_a_plate_is_drawn_by_its_outline():
    robot = pp.loads(template("robot", "bendy", "flexible"))
    corners = np.array(robot.platform.plate.outline)
    turned = np.array([[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.6], [0.0, 0.0, 0.0, 1.0]])
    drawn = posed(robot, turned[None])
    wanted = np.column_stack([0.1 - corners[:, 1], 0.2 + corners[:, 0], np.full(len(corners), 0.6)])
    ((plate, points),) = [one for one in drawn.placed(0) if one[0].role == "platform"]
    assert sorted(points.round(12).tolist()) == sorted(wanted.round(12).tolist())
    assert drawn.platform.shape == (1, 6, 3)  # the joints, as before
    # from above it reaches its radius beyond its corners
    flat = scene.solids(drawn, 0, View.plan())._polygons
    outline = max((ring for _, ring, face, _ in flat if face[3] == 0.75), key=lambda ring: np.ptp(ring[:, 0]))
    np.testing.assert_allclose(np.ptp(outline, axis=0), np.ptp(wanted[:, :2], axis=0) + 2 * plate.radius, rtol=1e-9)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coned():
    """A hexapod that leaves some of its lengths and cones, and one kind of limit only."""
    text = template("robot", "hexapod")
    cones = (
        "  base_cone: {axis: [0, 0, 1], half_angle: 31 deg}\n  platform_cone: {axis: [0, 0, 1], half_angle: 35 deg}\n"
    )
    both = text.replace("  length: [0.45, 0.85]", f"{cones}  length: [0.45, 0.8]")
    pictures = []
    for document in (both, text):
        model = pp.Model(pp.loads(document))
        motion = template("motion", "up").replace("[0.05, 0.0, 0.02]", "[0.05, 0.0, 0.2]")
        pictures.append(study(model, loads_motion(motion).task(model, 100.0), certify=False))
    return pictures


@pytest.mark.long
def test_travel_shows_coordinates_between_their_stops(coned):
    """Lengths in mm between both stops, cones in deg below theirs."""
    figure = plots.travel(coned[0])
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["coordinate [mm]", "universal joint cone [deg]", "spherical joint cone [deg]"]
    limits = limit_report(coned[0])
    for axes, stops in zip(figure.axes, ([450.0, 800.0], [31.0], [35.0]), strict=True):
        words = [text.get_text() for text in axes.texts if text.get_text().startswith("stop")]
        assert words == [f"stop {stop:g}" for stop in stops]
        level = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_color() == "#D55E00"]
        np.testing.assert_allclose([line.get_ydata()[0] for line in level], stops, rtol=1e-12)
    drawn = max(line.get_ydata().max() for line in figure.axes[0].lines if len(line.get_xdata()) > 2)
    lengths = [k for k, (_, name) in enumerate(limits.names) if name == "length"]
    assert drawn == pytest.approx(1e3 * limits.value[:, lengths].max(), rel=1e-12)


def test_force_amplification_is_what_a_load_needs(model_of):
    """No load of 1 N needs more, and one direction needs as much: by trying loads in all directions."""
    model = model_of("lopes")
    result = studied(model)
    figure = plots.amplification(result)
    shown = figure.axes[0].lines[0].get_ydata()
    k = int(shown.argmax())
    matrix = model.jacobian(result.pose.values[k])
    loads = np.random.default_rng(1).normal(size=(20000, 6))
    loads /= np.linalg.norm(loads, axis=1)[:, None]
    loads[:, 3:] *= model.size
    needed = np.linalg.norm(np.linalg.solve(matrix.T, loads.T), axis=0).max()
    assert 0.8 * shown[k] < needed <= shown[k] * (1 + 1e-9)


# -- curves ------------------------------------------------------------------------------------------------------------


def test_equal_curves_are_one_and_the_peak_is_marked():
    t = np.linspace(0.0, 1.0, 50)
    axes = figure_of(4.0, 3.0).subplots()
    draw_curves(axes, t, ["a", "b", "c"], np.stack([t, t, -3 * t], axis=1), "N")
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in named] == ["a = b", "c"]
    assert [line.get_linewidth() > 2 for line in named] == [False, True]
    assert [text.get_text() for text in axes.texts] == ["peak \N{MINUS SIGN}3 N, c"]


def test_motion_is_drawn_against_home(model_of):
    result = studied(model_of("kim-ryu"))
    figure = plots.motion(result)
    place, speed = figure.axes  # the circle keeps its orientation
    assert [axes.get_ylabel() for axes in figure.axes] == ["position from home [mm]", "speed [mm/s]"]
    (title,) = [text.get_text() for text in figure.texts]
    assert title.endswith("(no rotation, no angular speed)")
    x = next(line for line in place.lines if line.get_label() == "x")
    home = robot_of(result).home.matrix
    np.testing.assert_allclose(x.get_ydata(), 1e3 * (result.pose.values[:, 0, 3] - home[0, 3]), atol=1e-9)
    # speeds are derivatives of what stands above them
    vx = next(line for line in speed.lines if line.get_label() == "vx")
    slope = np.gradient(x.get_ydata(), result.time.values, edge_order=2)
    assert np.abs(vx.get_ydata() - slope).max() < 0.02 * np.abs(slope).max()  # differences of 50 samples per second


def test_dimensions_are_those_of_the_file(model_of):
    figure = plots.dimensions(pp.load("hexapod"))
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"R 300", "R 200", "400"} <= set(words)  # base and platform joints, height


@pytest.mark.long
def test_deflections_are_drawn_in_the_prefix_of_simulations(tmp_path):
    path = tmp_path / "bendy.yaml"
    path.write_text(template("robot", "bendy", "flexible"), encoding="utf-8")
    model = pp.Model(path)
    result = study(model, make_task(model, rate=50.0), certify=False)
    figure = plots.bending(result)
    above, below = figure.axes
    assert above.get_ylabel() == "attachment points [µm]"
    assert below.get_ylabel() == "platform's origin [µm]"
    assert below.get_legend().get_title().get_text() == "x and y: zero, not drawn"
    assert [line.get_label() for line in below.lines if len(line.get_xdata()) > 2] == ["z"]
    largest = np.linalg.norm(result.deflection.values, axis=-1).max()
    assert max(line.get_ydata().max() for line in above.lines) == largest
    assert above.yaxis.get_major_formatter()(2e-6, 0) == "2"
    title = plots.shares(result).texts[0].get_text()
    assert "not drawn, below 0.5 % of the largest force: " in title
    for name in map(str, result.part.values):
        peak = float(np.abs(result.force_part.sel(part=name)).max())
        assert (f"{name} (" in title) == (peak <= 5e-3 * float(np.abs(result.force).max())), name
