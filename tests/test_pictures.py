"""Pictures of robots: one scale, gravity down without a mirror, names on the legs, no white edges, instants to see."""

from __future__ import annotations

import io
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.image import imread
from mpl_toolkits.mplot3d import proj3d

import polypod as pp
from polypod.cli.new import template
from polypod.motion import Motion, Task, loads_motion, make_task
from polypod.results import figures as plots
from polypod.results import limit_report, study
from polypod.results.figures import scene
from polypod.results.figures.reactions import without_dips
from polypod.results.figures.skeleton import skeleton
from polypod.results.figures.style import figure as figure_of


def pixels(figure):
    """Rows and columns of the saved figure that are not white."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    image = imread(io.BytesIO(buffer.getvalue()))[..., :3]
    dark = image.min(axis=2) < 0.98
    return dark, np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))


def on_paper(axes, points):
    x, y, _ = proj3d.proj_transform(*np.array(points, dtype=float).T, axes.get_proj())
    return axes.transData.transform(np.stack([x, y], axis=1))


@pytest.fixture(params=["kim-ryu", "staicu"])
def model(request, model_of):
    """A robot with its z axis down, and one of few freedoms."""
    return model_of(request.param)


def test_picture_fills_its_paper(model):
    dark, rows, columns = pixels(plots.robot_picture(model.robot))
    # white edges of at most 0.12 inch, that is 10 pixels; nothing is cut off, so the outermost pixels are white
    for used, size in ((rows, dark.shape[0]), (columns, dark.shape[1])):
        assert 0 < used[0] < 10
        assert size - 10 < used[-1] + 1 < size


def test_every_leg_has_its_name(model):
    figure = plots.robot_picture(model.robot)
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text for text in axes.texts if text.get_text()]
    assert [text.get_text() for text in names] == list(model.legs)
    boxes = [text.get_window_extent() for text in names]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1
    # few points of the robot's lines lie under names: less than one in fifty
    lines = skeleton(model.robot, model.robot.home.matrix[None])
    share = np.linspace(0, 1, 100)[:, None]
    points = np.concatenate([b.ends[0, 0] + share * (b.ends[0, 1] - b.ends[0, 0]) for b in lines.bones])
    flat = on_paper(axes, points)
    under = sum(box.count_contains(flat) for box in boxes)
    assert under < 0.02 * len(flat)


def test_one_scale_and_one_handedness(model):
    """A unit step along each axis is as long on every axis, and the frame on paper is right-handed, seen from outside.

    The view's matrix is 4x4 and homogeneous; orthographic, so its last row does not depend on the point. mplot3d's own
    view of a right-handed frame has a positive determinant or a negative one; an axis turned alone changes its sign.
    """
    (axes,) = plots.robot_picture(model.robot).axes
    matrix = axes.get_proj()
    assert np.abs(matrix[3, :3]).max() < 1e-12  # no perspective
    turned = matrix[:3, :3]
    # x and y on paper; for an orthographic view of scale s the two rows are orthogonal and of length s each
    rows = turned[:2]
    assert abs(rows[0] @ rows[1]) < 1e-9 * (rows[0] @ rows[0])
    assert rows[0] @ rows[0] == pytest.approx(rows[1] @ rows[1], rel=1e-9)
    # rows x and y of a rotation: their cross product points to the viewer; what is nearer must be drawn nearer
    viewer = np.cross(rows[0], rows[1])
    assert viewer @ turned[2] < 0  # mplot3d's depth grows away from the viewer
    down = np.array([0.0, 0.0, np.sign(model.robot.gravity[2])])
    assert rows[1] @ down < 0  # things fall towards the lower edge
    steps = {float(np.diff(axis.get_majorticklocs())[0]) for axis in (axes.xaxis, axes.yaxis, axes.zaxis)
             if len(axis.get_majorticklocs()) > 1}  # fmt: skip
    assert len({round(step, 9) for step in steps}) == 1
    for name in "xyz":
        assert getattr(axes, f"get_{name}label")() == f"{name} [m]"


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
    return study(model, task)


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


def test_reactions_that_are_zero_or_open_say_so(model_of):
    def words(name):
        figure = plots.reactions(studied(model_of(name)))
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        return texts, figure._suptitle.get_text(), [axes.get_ylabel() for axes in figure.axes]

    texts, _, _ = words("lopes")  # no friction: its joints pass on no moment
    assert texts == ["zero"] * 3
    texts, title, _ = words("staicu")
    assert "left open by inner stresses" in texts
    assert "slider hinge of bar1" in title.replace("\n", " ")
    _, _, labels = words("pedrammehr")
    assert "moment [µN m]" in labels  # in place of a power of ten above the panel


# -- labels ------------------------------------------------------------------------------------------------------------


def test_names_stay_off_the_numbers_of_the_axes(model):
    figure = plots.robot_picture(model.robot)
    figure.canvas.draw()
    (axes,) = figure.axes
    numbers = [t.label1 for axis in (axes.xaxis, axes.yaxis, axes.zaxis) for t in axis.get_major_ticks()]
    boxes = [text.get_window_extent() for text in numbers if text.get_text()]
    assert len(boxes) > 3
    for name in axes.texts:
        assert not any(name.get_window_extent().overlaps(box) for box in boxes), name.get_text()


@pytest.mark.parametrize("name", ["kim-ryu", "lopes", "staicu"])
def test_names_are_at_the_same_places_in_all_panels(model_of, name):
    figure = plots.instants(studied(model_of(name)))
    figure.canvas.draw()
    places = []
    for axes in figure.axes:
        corner = axes.transAxes.transform((0.0, 0.0))
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        places.append([0.5 * (box.min + box.max) - corner for box in boxes])
    for other in places[1:]:
        # pixels; the panels are of one size
        np.testing.assert_allclose(other, places[0], atol=1.0)


def test_a_box_has_all_its_edges(model):
    (axes,) = plots.robot_picture(model.robot).axes
    assert all(axis.pane.get_closed() for axis in (axes.xaxis, axes.yaxis, axes.zaxis))


def test_a_plate_is_drawn_by_its_outline():
    robot = pp.loads(template("robot", "bendy", "flexible"))
    corners = np.array(robot.platform.plate.outline)
    turned = np.array([[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.6], [0.0, 0.0, 0.0, 1.0]])
    lines = skeleton(robot, turned[None])
    wanted = np.column_stack([0.1 - corners[:, 1], 0.2 + corners[:, 0], np.full(len(corners), 0.6)])
    np.testing.assert_allclose(lines.outline[0], wanted, atol=1e-15)
    assert lines.platform.shape == (1, 6, 3)  # the joints, as before
    assert skeleton(robot.rigid, turned[None]).outline is None
    axes = figure_of(5.0, 5.0, fitted=False).add_subplot(projection="3d")
    with patch.object(scene, "Poly3DCollection", wraps=scene.Poly3DCollection) as polygons:
        scene.draw(axes, robot, lines, 0, None, 7.0)
    assert any(np.array_equal(call.args[0][0], lines.outline[0]) for call in polygons.call_args_list)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coned():
    """A hexapod that leaves some of its lengths and cones, and one kind of limit only."""
    text = template("robot", "hexapod")
    cones = (
        "  base_cone: {axis: [0, 0, 1], half_angle: 31 deg}\n  platform_cone: {axis: [0, 0, 1], half_angle: 35 deg}\n"
    )
    both = text.replace("  length: [0.45, 0.85]", f"{cones}  length: [0.45, 0.8]")
    made = []
    for document in (both, text):
        model = pp.Model(pp.loads(document))
        motion = template("motion", "up").replace("[0.05, 0.0, 0.02]", "[0.05, 0.0, 0.2]")
        made.append(study(model, loads_motion(motion).task(model, 100.0)))
    return made


def test_limits_of_several_kinds_are_bands_and_those_that_are_left_are_named(coned):
    result = coned[0]
    figure = plots.conditioning(result)
    axes = figure.axes[2]
    kinds = ["length", "universal joint cone", "spherical joint cone"]
    entries = {text.get_text() for text in figure.legends[0].get_texts()}
    assert entries == {f"{kind}, all legs" for kind in kinds}
    limits = limit_report(result)
    used = 100 * (limits.value - limits.low) / (limits.high - limits.low)
    left = {name for k, name in enumerate(limits.names) if (used[:, k] > 100).any() or (used[:, k] < 0).any()}
    assert 1 < len(left) < 18
    named = set()
    for text in axes.texts:
        legs, _, rest = text.get_text().partition(": ")
        kind = next(kind for kind in kinds if rest.startswith(kind))
        of_kind = {leg for leg, name in limits.names if name == kind}
        named |= {(leg, kind) for leg in (of_kind if legs == "all legs" else legs.split(", "))}
    assert named == left
    # the parts outside are thick
    thick = [line for line in axes.lines if line.get_linewidth() == 3.0]
    assert len(thick) == len(left)
    for line in thick:
        drawn = line.get_ydata()[np.isfinite(line.get_ydata())]
        assert len(drawn)
        assert ((drawn > 100) | (drawn < 0)).all()
    assert "distance to" in figure.axes[1].get_ylabel()


@pytest.mark.parametrize("case", [0, 1])
def test_words_of_the_conditioning_are_on_the_paper_and_apart(coned, case):
    figure = plots.conditioning(coned[case])
    figure.canvas.draw()
    (told,) = figure.legends
    texts = [*figure.axes[2].texts, *told.get_texts(), *(axes.yaxis.label for axes in figure.axes)]
    boxes = [text.get_window_extent() for text in texts]
    for k, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, texts[k].get_text()
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, texts[k].get_text()
        assert not any(box.overlaps(other) for other in boxes[:k]), texts[k].get_text()


# -- curves ------------------------------------------------------------------------------------------------------------


def test_single_samples_of_dry_friction_are_gaps():
    size = np.array([0.0, 1.0, 1.1, 0.02, 1.2, 1.3, 0.9, 0.5, 0.1, 0.0, 0.1, 0.4, 1.0, 0.0])
    shown = without_dips(size)
    assert np.flatnonzero(np.isnan(shown)).tolist() == [0, 3, 13]  # what passes zero in several samples stays
    assert np.array_equal(shown[~np.isnan(shown)], size[~np.isnan(shown)])
    smooth = np.abs(np.sin(np.linspace(0, 6.3, 200)))
    assert np.array_equal(without_dips(smooth), smooth)


def test_a_bent_platform_in_the_prefix_of_simulations(tmp_path):
    path = tmp_path / "bendy.yaml"
    path.write_text(template("robot", "bendy", "flexible"), encoding="utf-8")
    model = pp.Model(path)
    result = study(model, make_task(model, rate=50.0))
    figure = plots.bending(result)
    above, below = figure.axes
    assert above.get_ylabel() == "attachment points [µm]"
    assert below.get_ylabel() == "platform's origin [µm]"
    assert below.get_legend().get_title().get_text() == "x and y: zero, not drawn"
    assert [line.get_label() for line in below.lines if len(line.get_xdata()) > 2] == ["z"]
    largest = np.linalg.norm(result.deflection.values, axis=-1).max()
    assert max(line.get_ydata().max() for line in above.lines) == largest
    assert above.yaxis.get_major_formatter()(2e-6, 0) == "2"
    title = plots.shares(result)._suptitle.get_text()
    assert "not drawn, below 0.5 % of the largest force: " in title
    for name in ("bending", "external"):
        peak = np.abs(result.force_part.sel(part=name)).max()
        assert peak < 5e-3 * np.abs(result.force).max()
        assert f"{name} (" in title
