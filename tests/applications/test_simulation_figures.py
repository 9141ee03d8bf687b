"""Figures and moving pictures of simulations, and the deflection of a flexible platform in their results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import polypod as pp
from polypod.control import ComputedTorque, Springs
from polypod.drawing import posed
from polypod.errors import InputError
from polypod.motion import Published
from polypod.results.figures import animation
from polypod.results.figures import simulation as plots
from polypod.results.figures.style import INK, prefix_power
from polypod.simulation import load_result, save_result, simulate
from support.refusals import refused
from support.robots.hexagon import hexagon_modes

STILL = np.zeros(6)


@pytest.fixture(scope="module")
def flexible() -> xr.Dataset:
    """Long's robot with a flexible platform, swinging on springs."""
    modes = hexagon_modes(3, damping_ratio=0.02)
    model = pp.Model(pp.load("long").on_modes(modes.with_stiffness(4 * modes.stiffness)))
    home = model.robot.home.matrix
    rest = model.static_equilibrium(home)
    hung = Springs(1e6, model.inverse_kinematics(home, elastic=rest.elastic), preload=rest.force)
    return simulate(model, hung, duration=0.1, twist=[0.1, 0.1, 0.2, 0, 0, 0.3], output=2e-3)


@pytest.fixture(scope="module")
def circle() -> xr.Dataset:
    """Kim and Ryu's robot, whose joints turn about; its base frame's z axis points down."""
    model = pp.Model("kim-ryu")
    return simulate(model, ComputedTorque(model, Published(name="kim-ryu-circle")), duration=0.3, rate=1000)


@pytest.fixture(scope="module")
def swing() -> xr.Dataset:
    model = pp.Model("pedrammehr")
    home = model.robot.home.matrix
    hold = model.inverse_dynamics(home, STILL, STILL, friction=False)
    hung = Springs(2e5, model.inverse_kinematics(home), preload=hold)
    return simulate(model, hung, duration=0.05, twist=[0.1, 0.05, 0.1, 0, 0, 0.3], friction=False)


def test_damping_of_modes_is_in_the_balance_of_energies(flexible: xr.Dataset) -> None:
    """What modes lose is counted as friction: without it the balance would be off by all of it."""
    lost = float(flexible.work_friction[-1])
    assert lost > 0.01
    assert float(np.abs(flexible.energy_residual).max()) < 1e-6 * lost  # the integrator's tolerance


# -- the deflection --------------------------------------------------------------------------------------------------


def test_deflection_explains_the_lengths_of_the_legs(flexible: xr.Dataset) -> None:
    """q = |p + R (a + d) - b|: actuated lengths come from the legs' own kinematics, not from the deflection."""
    assert flexible.deflection.dims == ("time", "leg", "axis")
    assert flexible.deflection.attrs["units"] == "m"
    assert flexible.axis.values.tolist() == ["x", "y", "z"]
    robot = pp.loads(flexible.attrs["robot_file"])
    ends = np.array([leg.platform for leg in robot.legs]) + flexible.deflection.values
    pose = flexible.pose.values
    tips = np.einsum("nij,nkj->nki", pose[:, :3, :3], ends) + pose[:, None, :3, 3]
    length = np.linalg.norm(tips - np.array([leg.base for leg in robot.legs]), axis=-1)
    assert np.abs(length - flexible.q.values).max() < 1e-12
    assert np.abs(flexible.deflection).max() > 1e-3


def test_deflection_survives_a_file_and_a_rigid_robot_has_none(
    flexible: xr.Dataset, circle: xr.Dataset, tmp_path: Path
) -> None:
    assert load_result(save_result(flexible, tmp_path / "run.nc")).identical(flexible)
    assert "deflection" not in circle
    assert "axis" not in circle.dims


def test_bending(flexible: xr.Dataset, circle: xr.Dataset) -> None:
    (axes,) = plots.bending(flexible).axes
    assert axes.get_ylabel() == "deflection [mm]"
    assert len(distinct(lines_of(axes))) == 6
    size = np.sqrt((flexible.deflection.values**2).sum(axis=-1))
    drawn = np.stack([line.get_ydata() for line in lines_of(axes)], axis=1)
    np.testing.assert_allclose(drawn, size, rtol=1e-14)
    # the numbers at the ticks are millimetres
    tick = axes.yaxis.get_major_formatter()
    assert tick(0.002, 0) == "2"
    with refused(InputError, "deflection"):
        plots.bending(circle)


# -- figures ---------------------------------------------------------------------------------------------------------


def lines_of(axes: Any) -> list[Any]:
    """Lines of data: not the line of zero and not those of events."""
    return [line for line in axes.lines if len(line.get_xdata()) > 2]


def distinct(lines: list[Any]) -> set[str]:
    """What tells lines apart in a grey print: dashes, or a band's width."""
    return {f"{line._dash_pattern} {line.get_linewidth() > 4}" for line in lines}


@pytest.mark.parametrize("name", ["tracking", "forces", "energies"])
def test_lines_differ_by_more_than_colour_and_axes_have_prefixes(circle: xr.Dataset, name: str) -> None:
    figure: Figure = getattr(plots, name)(circle)
    figure.canvas.draw()
    for axes in figure.axes:
        lines = lines_of(axes)
        assert len(distinct(lines)) == len(lines)
        assert axes.yaxis.get_offset_text().get_text() == ""
        largest = max(float(np.abs(line.get_ydata()).max()) for line in lines)
        prefix = axes.get_ylabel().partition("[")[2][:-1].removesuffix(axes_unit(axes))
        scale = {"": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}[prefix]
        assert 0.1 <= largest / scale < (1e4 if prefix == "" else 100.0)
        texts = [tick.get_text().replace("\N{MINUS SIGN}", "-") for tick in axes.get_yticklabels()]
        np.testing.assert_allclose([float(text) * scale for text in texts], axes.get_yticks(), rtol=1e-5, atol=1e-300)


def axes_unit(axes: Any) -> str:
    label = axes.get_ylabel()
    return next(unit for unit in ("rad", "J", "N", "W", "m") if label.endswith(f"{unit}]"))


def test_powers_of_ten() -> None:
    largest = [0.0, 1e-5, 0.9e-4, 1e-4, 0.09, 0.1, 9999.0, 1e4, 2.5e6, 4e-16, 5e24]
    assert [prefix_power(number) for number in largest] == [0, -6, -6, -3, -3, 0, 0, 3, 6, -15, 24]


def test_nothing_at_all_has_no_scale(circle: xr.Dataset) -> None:
    """Ticks beside a line of zeros would be those of matplotlib's guess."""
    still = circle.assign(force=0.0 * circle.force)
    still.force.attrs.update(circle.force.attrs)
    for axes in plots.forces(still).axes:
        assert axes.get_yticks().tolist() == [0.0]
        assert axes.get_ylabel().endswith(("[N]", "[W]"))


def test_event_lines_are_explained(circle: xr.Dataset, swing: xr.Dataset) -> None:
    times = circle.event_time.values
    above, below = plots.forces(circle).axes
    (text,) = above.get_legend().get_texts()
    assert text.get_text() == f"a joint reverses, {len(times)} times"
    (sample,) = above.get_legend().get_lines()
    for axes in (above, below):
        marks = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] != 0.0]
        assert sorted(mark.get_xdata()[0] for mark in marks) == sorted(times.tolist())
        assert {str(mark._unscaled_dash_pattern) for mark in marks} == {str(sample._unscaled_dash_pattern)}
    assert all(axes.get_legend() is None for axes in plots.forces(swing).axes)


def test_all_stored_shows_beside_the_line_of_zero(swing: xr.Dataset) -> None:
    """Energy is kept, so that the sum lies on zero: a broad band under a thin line is seen at both its sides."""
    above = plots.energies(swing).axes[0]
    (band,) = [line for line in above.lines if line.get_label() == "all stored"]
    (zero,) = [line for line in above.lines if np.array_equal(line.get_ydata(), [0.0, 0.0])]
    assert np.abs(band.get_ydata()).max() < 1e-6 * np.abs(lines_of(above)[1].get_ydata()).max()
    assert band.get_zorder() < zero.get_zorder() < min(line.get_zorder() for line in lines_of(above)[1:])
    assert band.get_linewidth() > 5 * zero.get_linewidth()
    assert to_hex(zero.get_color()).upper() == INK
    assert to_hex(band.get_color()).upper() != INK


def test_energies_that_are_too_small_to_see_are_named(swing: xr.Dataset) -> None:
    little = swing.assign(work_friction=1e-6 * swing.energy_springs)
    first = plots.energies(little, "swing").axes[0]
    assert first.get_title(loc="left") == "swing\nnot drawn, below 0.01 % of the largest: lost in friction"
    assert "lost in friction" not in [line.get_label() for line in first.lines]
    assert plots.energies(swing, "swing").axes[0].get_title(loc="left") == "swing"


# -- moving pictures -------------------------------------------------------------------------------------------------


def drawn(result: xr.Dataset, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A moving picture, at its last frame."""
    kept: list[Any] = []
    make = animation.AnimatedRobot
    monkeypatch.setattr(animation, "AnimatedRobot", lambda *a: kept.append(make(*a)) or kept[-1])
    animation.animate(result, folder / "run.gif", fps=20, force=True)
    return kept[0]


def title(picture: Any) -> str:
    return str(picture.figure.texts[0].get_text())


def test_no_robot_is_drawn_as_in_a_mirror(
    circle: xr.Dataset, swing: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view turns right-handed axes into right-handed axes or not, alike whichever way z points."""
    views = [drawn(result, tmp_path, monkeypatch) for result in (circle, swing)]
    for picture in views:
        matrix = np.stack([picture.view.right, picture.view.up, picture.view.towards])
        assert np.linalg.det(matrix) == pytest.approx(1.0, rel=1e-14)
    assert views[0].view.up[2] < 0 < views[1].view.up[2]
    assert title(views[0]) == "t = 0.300 s (z points down)"
    assert title(views[1]) == "t = 0.050 s"


def test_a_bending_platform_is_drawn_where_it_is(
    flexible: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    robot = pp.loads(flexible.attrs["robot_file"]).rigid
    pose, moved = flexible.pose.values, flexible.deflection.values
    plain, still = posed(robot, pose), posed(robot, pose, 0 * moved)
    for (leg, ends), (same, equal) in zip(plain.lines(), still.lines(), strict=True):
        assert leg == same
        assert np.array_equal(ends, equal)
    for name in ("joints", "platform", "ground", "roots"):
        assert np.array_equal(getattr(plain, name), getattr(still, name)), name
    bent = posed(robot, pose, moved)
    assert np.abs(np.linalg.norm(bent.platform - bent.roots, axis=-1) - flexible.q.values).max() < 1e-12
    for k, tips in enumerate(np.moveaxis(bent.platform, 1, 0)):
        ends = np.concatenate([ends for leg, ends in bent.lines() if leg == k], axis=1)
        # the leg's lines reach the point that the platform's outline goes through
        assert np.abs(ends - tips[:, None]).max(axis=-1).min(axis=1).max() < 1e-12
    assert title(drawn(flexible, tmp_path, monkeypatch)) == "t = 0.100 s"
    with Image.open(tmp_path / "run.gif") as picture:
        assert picture.n_frames == 3


def test_an_mp4_is_a_film_of_the_robot(circle: xr.Dataset, tmp_path: Path) -> None:
    """Decoded again: as many frames as were drawn, of their size, each with the robot in it, and it moves."""
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    calls: list[tuple[int, int]] = []
    path = animation.animate(
        circle, tmp_path / "run.mp4", fps=20, width=400, progress=lambda k, n: calls.append((k, n))
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.mp4"]
    reader = imageio_ffmpeg.read_frames(str(path))
    about = next(reader)
    width, height = about["size"]
    assert about["fps"] == 20
    assert width == 400
    frames = [np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3) for data in reader]
    assert calls == [(k + 1, 7) for k in range(7)]
    assert len(frames) == 7
    drawn_on = [frame.min(axis=2) < 200 for frame in frames]
    for dark in drawn_on:
        rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
        assert np.ptp(rows) > 0.85 * height  # no white third
        assert np.ptp(columns) > 0.75 * width
    colours = [frame[dark].reshape(-1, 3) for frame, dark in zip(frames, drawn_on, strict=True)]
    assert all(((c[:, 2].astype(int) - c[:, 0]) > 60).sum() > 200 for c in colours)  # a blue leg, not a thin line
    assert np.abs(frames[-1].astype(int) - frames[0]).max() > 100
    with refused(InputError, "force", code="exists"):
        animation.animate(circle, path)


def test_a_motion_is_filmed_at_the_times_of_its_frames(tmp_path: Path) -> None:
    """In as many frames as its duration and speed ask for, with the robot in front of nothing."""
    from PIL import Image

    model = pp.Model("staicu")
    times: list[tuple[int, int]] = []
    path = pp.animate(model, tmp_path / "slow.webp", speed=0.2, fps=4, width=200, camera=(30, 20), transparent=True,
                      progress=lambda k, n: times.append((k, n)))  # fmt: skip
    duration = pp.motion.make_task(model).time[-1]
    assert len(times) == int(duration / 0.2 * 4) + 1
    with Image.open(path) as film:
        assert film.n_frames == len(times)
        assert film.width == 200
        opacity = np.asarray(film.convert("RGBA"))[..., 3]
    assert (opacity == 0).mean() > 0.3  # around the robot
    assert (opacity > 128).mean() > 0.02  # the robot


def test_a_transparent_gif_shows_what_is_behind_it(circle: xr.Dataset, tmp_path: Path) -> None:
    from PIL import Image

    with Image.open(pp.animate(circle, tmp_path / "run.gif", fps=10, width=200, transparent=True)) as film:
        for k in range(film.n_frames):
            film.seek(k)
            opacity = np.asarray(film.convert("RGBA"))[..., 3]
            assert 0.3 < (opacity == 0).mean() < 0.98


def test_a_page_that_plays(tmp_path: Path) -> None:
    page = pp.animate("staicu", tmp_path / "staicu.html").read_text()
    assert "<title>staicu: staicu-path</title>" in page
    assert page == pp.view("staicu", "staicu-path").html


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("run.avi", {}, ".gif .webp .mp4 .html"),
        ("run.html", {"fps": 10}, "fps"),
        ("run.html", {"speed": 0.1}, "speed"),
        ("run.mp4", {"transparent": True}, "transparent .webp"),
        ("run.gif", {"camera": "above"}, "camera plan"),
        ("run.gif", {"camera": (0, 120)}, "camera -90"),
        ("run.gif", {"width": 10}, "width 64"),
        ("run.gif", {"speed": 0.0}, "speed"),
        ("run.gif", {"speed": 1e-4}, "frames 2000"),
        ("run.gif", {"motion": "staicu-path"}, "motion"),
    ],
)
def test_films_that_cannot_be_made(
    circle: xr.Dataset, tmp_path: Path, name: str, options: dict[str, Any], words: str
) -> None:
    with refused(InputError, words):
        pp.animate(circle, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_an_mp4_says_what_to_do(
    circle: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr(animation.shutil, "which", lambda name: None)
    with refused(InputError, "polypod[video] .gif"):
        animation.animate(circle, tmp_path / "run.mp4")
    monkeypatch.setattr(animation, "find_ffmpeg", lambda: sys.executable)  # a program that does not take the frames
    with refused(InputError, "run.partial.mp4 ffmpeg"):
        animation.animate(circle, tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []
