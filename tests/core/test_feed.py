"""Rounded corners and programs of machine tools: limits of speed, acceleration, jerk and corner, by brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.motion import GCode, Rounded, load_motion
from polypod.motion import Path as MotionPath
from support.refusals import refused

LIMITS = {"speed": 2.0, "acceleration": 30.0, "jerk": 3000.0}


def distance_to_lines(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (n,) of points from all of the lines."""
    steps = np.diff(points, axis=0)
    best = np.full(len(x), np.inf)
    for a, d in zip(points, steps, strict=False):
        s = np.clip((x - a) @ d / (d @ d), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(x - a - s[:, None] * d, axis=1))
    return best


def check_limits(path: MotionPath, speed: float, acceleration: float, jerk: float) -> np.ndarray:
    """Speeds by differences of positions, accelerations of speeds, jerks of accelerations, at 4,000 instants."""
    t = np.linspace(0.0, path.duration, 4001)
    x, v, a = path.at(t)
    h = t[1] - t[0]
    largest = np.linalg.norm(np.diff(x, axis=0), axis=1).max() / h  # a mean over h, so not above the largest
    assert largest <= speed * (1 + 1e-9)
    assert np.linalg.norm(v, axis=1).max() <= speed * (1 + 1e-9)
    assert np.linalg.norm(a, axis=1).max() <= acceleration * (1 + 1e-9)
    assert np.linalg.norm(np.diff(a, axis=0), axis=1).max() / h <= jerk * (1 + 1e-6)
    middle = np.abs(np.diff(x, axis=0) / h - (v[1:] + v[:-1]) / 2).max()  # the trapezoidal rule: h^2/12 jerk
    assert middle <= h**2 * jerk / 12 * (1 + 1e-6) + 1e-11 / h
    assert np.allclose(v[[0, -1]], 0, atol=1e-12)
    assert np.allclose(a[[0, -1]], 0, atol=1e-9)
    return x


@pytest.mark.parametrize(("speed", "acceleration", "jerk"), [(1.0, 2.0, 10.0), (1.0, 2.0, 3.0)])
def test_a_straight_line_is_the_profile_of_seven_phases(speed: float, acceleration: float, jerk: float) -> None:
    """Duration in closed form: L/v + v/a + a/j, or L/v + 2 sqrt(v/j) where the acceleration is not reached."""
    length = 4.0
    path = Rounded(points=[[0.0], [length]], speed=speed, acceleration=acceleration, jerk=jerk, corner=0.0)
    reached = speed * jerk >= acceleration**2
    ramp = speed / acceleration + acceleration / jerk if reached else 2 * np.sqrt(speed / jerk)
    assert path.duration == pytest.approx(length / speed + ramp, rel=1e-12)
    assert path.peak == pytest.approx([speed], rel=1e-12)
    assert path.at(np.array(path.duration)).x == pytest.approx([length], rel=1e-12)


@pytest.mark.parametrize("corner", [0.0, 1e-3, 2e-2])
@pytest.mark.parametrize("seed", [1, 2])
def test_limits_hold_along_random_corners(corner: float, seed: int) -> None:
    points = np.cumsum(np.random.default_rng(seed).normal(scale=0.1, size=(12, 3)), axis=0)
    path = Rounded(points=points, corner=corner, **LIMITS)
    x = check_limits(path, **LIMITS)
    assert x[0] == pytest.approx(points[0])
    assert x[-1] == pytest.approx(points[-1], abs=1e-12)
    assert distance_to_lines(x, points).max() <= corner * (1 + 1e-3) + 1e-12
    for point in points:  # every corner is passed
        assert np.linalg.norm(x - point, axis=1).min() <= corner + 2e-3 * LIMITS["speed"]


def test_rounding_saves_time() -> None:
    """A pick-and-place cycle: the more a corner may be cut, the shorter; never longer than with a rest in each."""
    points = [[0.0, 0.0], [0.0, 0.025], [0.305, 0.025], [0.305, 0.0]]
    times = [Rounded(points=points, corner=c, **LIMITS).duration for c in (0.0, 1e-3, 5e-3, 2e-2)]
    assert times == sorted(times, reverse=True)
    assert times[-1] < 0.8 * times[0]


PROGRAM = """%
(a plate)
G21 G90 G17
G0 X0 Y0 Z5
G1 Z0 F600 ; down
X30 F3000
{corner}
G1 Y30
G4 P0.25
G91 X-40 Y-30
M30
G1 X1000
"""


def program(tmp_path: Path, text: str, **more: object) -> GCode:
    (tmp_path / "part.nc").write_text(text)
    file = (
        "name: part\ntrajectory:\n  kind: coordinates\n  path: {kind: gcode, file: part.nc, speed: 0.1 m/s, "
        "acceleration: 2 m/s^2, jerk: 100 m/s^3, corner: 0.05 mm"
        + "".join(f", {name}: {value}" for name, value in more.items())
        + "}\n"
    )
    (tmp_path / "part.yaml").write_text(file)
    return load_motion(tmp_path / "part.yaml").trajectory.path  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("corner", ["G3 X40 Y10 I0 J10", "G3 X40 Y10 R10", "G3 X40 Y10 Z0 J10"])
def test_a_program_of_lines_and_arcs(tmp_path: Path, corner: str) -> None:
    """Within 0.05 mm of the lines and of the arc, whose distance is that from its circle; the pause is a rest."""
    path = program(tmp_path, PROGRAM.format(corner=corner))
    x = check_limits(path, 0.1, 2.0, 100.0)
    assert x[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    lines = 1e-3 * np.array([[0, 0, 0], [0, 0, 5], [0, 0, 0], [30, 0, 0], [40, 10, 0], [40, 30, 0], [0, 0, 0]])
    arc = (x[:, 0] > 0.03) & (x[:, 1] < 0.01) & (x[:, 0] > x[:, 1] * 4 / 3 + 1e-3)
    assert arc.sum() > 100
    assert np.abs(np.linalg.norm(x[arc, :2] - [0.03, 0.01], axis=1) - 0.01).max() <= 0.05e-3 * (1 + 1e-3)
    assert distance_to_lines(x[~arc], lines).max() <= 0.05e-3 * (1 + 1e-3)
    at = path.at(np.linspace(0, path.duration, 4001))
    still = np.linalg.norm(at.xdot, axis=1) < 1e-12
    assert still.sum() * path.duration / 4000 == pytest.approx(0.25, abs=0.01)


def test_inches_offsets_and_a_start(tmp_path: Path) -> None:
    path = program(tmp_path, "G20 G1 X1 F10\n", origin="[10 mm, 0, 0]", start="[10 mm, 0, 0]", angles="[0, 0, 5 deg]")
    first, last = path.at(np.array([0.0, path.duration])).x
    assert first == pytest.approx([0.01, 0, 0, 0, 0, np.radians(5)])
    assert last == pytest.approx([0.0354, 0, 0, 0, 0, np.radians(5)])
    assert path.peak[0] == pytest.approx(10 * 0.0254 / 60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("G1 X10", "line 1 feed F"),
        ("G21\nX10 F100", "line 2 G0 G1"),
        ("G1 X10 F100\nG5 X20", "line 2 G5"),
        ("G1 X10 F100\nM98 P100", "line 2 M98"),
        ("G1 X10 A90 F100", "line 1 A90"),
        ("G1 X10 X20 F100", "line 1 X twice"),
        ("G1 X1O F100", "line 1 O"),
        ("G1 X10 F0", "line 1 F"),
        ("G2 X10 F100", "line 1 centre"),
        ("G2 X10 R2 F100", "line 1 radius 2 mm 10 mm"),
        ("G2 X10 I1 F100", "line 1 centre 1 9 mm"),
        ("G1 X10 I1 F100", "line 1 G2"),
        ("G4 X1", "line 1 P"),
        ("(nothing)", "no line moves"),
    ],
)
def test_a_program_that_is_not_understood_names_line_and_word(tmp_path: Path, text: str, words: str) -> None:
    with refused(pp.errors.FileError, words):
        program(tmp_path, text)


def test_points_that_make_no_path() -> None:
    with refused(InputError, "points.1"):
        Rounded(points=[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], corner=0.0, **LIMITS)
    with refused(InputError, "points two 1"):
        Rounded(points=[[0.0, 0.0]], corner=0.0, **LIMITS)
