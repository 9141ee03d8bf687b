"""Streams of lines and arcs: limits by differences, distances from the path, durations of other methods, C."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.motion import Rounded
from polypod.motion.gcode import Move, Program
from polypod.online import PathStream
from support.refusals import refused
from test_export_status import INVALID_INPUT, OK, Exported

SPEED, ACCELERATION, JERK, CORNER = LIMITS = (0.1, 2.0, 50.0, 1e-4)
PERIOD = 1e-3


def travelled(moves: list[Move], start: Any, every: int = 1) -> dict[str, np.ndarray]:
    """Position, velocity, acceleration at each cycle; all that fits comes in, or one move ``every`` so many cycles."""
    stream = PathStream(*LIMITS)
    memory, waiting, found = stream.start(start), list(moves), []
    for cycle in range(1_000_000):
        taken = cycle % every == 0
        while waiting and taken:
            memory, taken = stream.move(memory, waiting[0])
            waiting = waiting[1:] if taken else waiting
            taken = taken and every == 1
        state = stream.step(memory, PERIOD)
        memory = state.memory
        found.append(state)
        if not waiting and state.remaining <= 0:
            break
    return {name: np.array([getattr(one, name) for one in found]) for name in ("x", "xdot", "xddot")}


def lines(corners: Any, feed: Any = SPEED) -> list[Move]:
    feeds = np.broadcast_to(feed, len(corners) - 1)
    return [Move(a, b, f, None, np.zeros(3), 0.0) for (a, b), f in zip(pairwise(corners), feeds, strict=True)]


def keeps_its_limits(way: dict[str, np.ndarray]) -> None:
    """Samples that belong together by Taylor's remainder of the largest jerk, within speed and acceleration."""
    x, v, a = way["x"], way["xdot"], way["xddot"]
    assert np.linalg.norm(v, axis=1).max() <= SPEED * (1 + 1e-9)
    assert np.linalg.norm(a, axis=1).max() <= ACCELERATION * (1 + 1e-9)
    h = PERIOD
    assert np.linalg.norm(np.diff(a, axis=0), axis=1).max() <= JERK * h * (1 + 1e-9)
    assert np.linalg.norm(np.diff(v, axis=0) - a[:-1] * h, axis=1).max() <= JERK * h**2 / 2 * (1 + 1e-9)
    remainder = np.diff(x, axis=0) - v[:-1] * h - a[:-1] * h**2 / 2
    assert np.linalg.norm(remainder, axis=1).max() <= JERK * h**3 / 6 * (1 + 1e-6) + 1e-15


def apart(x: np.ndarray, corners: np.ndarray) -> float:
    """Largest distance of points from a polyline."""
    found = np.full(len(x), np.inf)
    for a, b in pairwise(corners):
        way = b - a
        part = np.clip((x - a) @ way / (way @ way), 0, 1)
        found = np.minimum(found, np.linalg.norm(x - a - part[:, None] * way, axis=1))
    return float(found.max())


def random_corners(seed: int, count: int) -> np.ndarray:
    """Long and short lines, sharp corners and nearly straight ones."""
    rng = np.random.default_rng(seed)
    length = 10 ** rng.uniform(-4, -1.3, count)
    turns = np.cumsum(rng.normal(size=(count, 3)) * 10 ** rng.uniform(-2, 0.5, count)[:, None], axis=0)
    steps = np.stack([np.cos(turns[:, 0]), np.sin(turns[:, 0]), 0.3 * np.sin(turns[:, 1])], axis=1)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(length[:, None] * steps, axis=0)])


@pytest.mark.parametrize(
    ("seed", "count", "every"),
    [(0, 20, 1), (1, 12, 90), *(pytest.param(k, 150, 1 + 40 * (k % 2), marks=pytest.mark.long) for k in range(2, 10))],
)
def test_limits_hold_on_any_path_however_late_it_comes(seed: int, count: int, every: int) -> None:
    """With one segment in many cycles the stream runs dry again and again: it then brakes, within the same limits."""
    corners = random_corners(seed, count)
    feeds = np.random.default_rng(seed).uniform(0.03, 0.2, count)  # some above the largest speed
    way = travelled(lines(corners, feeds), corners[0], every)
    keeps_its_limits(way)
    assert apart(way["x"], corners) <= CORNER
    assert np.abs(way["x"][-1] - corners[-1]).max() < 1e-12
    assert not way["xdot"][-1].any()


def test_a_line_takes_its_closed_form() -> None:
    """L/v + T1 + T2, with T1 T2 = 2 v/j and T1 >= v/a."""
    stream = PathStream(0.5, 2.0, 50.0, CORNER)
    memory, _ = stream.push(stream.start([0.1, 0, 0]), [0.6, 0, 0])
    assert stream.step(memory, 0.0).remaining == pytest.approx(0.5 / 0.5 + 0.5 / 2 + 2 * 2 / 50, rel=1e-12)


def test_arcs_and_helices_are_round() -> None:
    """At most the allowed distance from the circle; a large one is as fast as it can be."""
    program = Program([0.05, 0, 0], rapid=SPEED)
    read = [program.read(text) for text in ("G3 X-50 Y0 I-50 J0 Z5 F6000", "G2 X-40 Y10 R10 F6000")]
    way = travelled([move for move in read if move is not None], [0.05, 0, 0])
    keeps_its_limits(way)
    rising = way["x"][:, 2] < 0.005 - 1e-6
    radius = np.hypot(way["x"][:, 0], way["x"][:, 1])
    assert np.abs(radius[rising] - 0.05).max() <= CORNER
    assert np.abs(way["x"][-1] - [-0.04, 0.01, 0.005]).max() < 1e-12
    first = np.hypot(np.pi * 0.05, 0.005) / SPEED
    assert first < rising.sum() * PERIOD < first + 0.2


def test_it_takes_little_longer_than_with_the_whole_program_known() -> None:
    """A square and a polygon of arcs against the offline motion of the same limits and corners."""
    square = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0], [0, 0, 0]])
    angle = np.linspace(0, 1, 40)
    curve = np.stack([0.1 * angle, 0.02 * np.sin(6 * angle), 0 * angle], axis=1)
    for corners, most in ((square, 1.05), (curve, 1.6)):
        offline = Rounded(points=corners, speed=SPEED, acceleration=ACCELERATION, jerk=JERK, corner=CORNER)
        assert len(travelled(lines(corners), corners[0])["x"]) * PERIOD < most * offline.duration


def test_pauses_are_kept() -> None:
    program = Program([0, 0, 0], rapid=SPEED)
    read = [program.read(text) for text in ("G1 X10 F3000", "G4 P0.5", "X20")]
    way = travelled([move for move in read if move is not None], [0, 0, 0])
    still = np.linalg.norm(way["xdot"], axis=1) < 1e-12
    resting = still & (np.abs(way["x"][:, 0] - 0.01) < 1e-12)
    assert resting.sum() * PERIOD == pytest.approx(0.5, abs=2 * PERIOD)


def test_what_is_refused() -> None:
    with refused(InputError, "corner"):
        PathStream(0.1, 2.0, 50.0, 0.0)
    stream = PathStream(*LIMITS)
    memory = stream.start([0, 0, 0])
    for arguments, named in (
        ({"end": [np.nan, 0, 0]}, "end"),
        ({"end": [1, 0, 0], "feed": 0.0}, "feed"),
        ({"end": [1, 0, 0], "rest": -1.0}, "rest"),
        ({"end": [1, 0, 0], "centre": [0.3, 0, 0]}, "centre"),
        ({"end": [1, 0, 0], "centre": [0.5, 0, 0], "axis": [0, 0, 0]}, "axis"),
    ):
        with refused(InputError, named):
            stream.push(memory, **arguments)
    with refused(InputError, "period"):
        stream.step(memory, -1.0)
    program = Program([0, 0, 0], rapid=SPEED)
    program.read("G1 X10 F600")
    with refused(InputError, "line 2 G41"):
        program.read("G41 X5")


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_same_in_c(tmp_path: Path) -> None:
    model = pp.Model("five-bar")
    push, step = (Exported(tmp_path, model, name) for name in ("path_push", "path_step"))
    stream = PathStream(*LIMITS)
    memory = stream.start([0, 0, 0])
    here = np.zeros(push.sizes["memory"])
    assert (memory == here).all()
    for end, centre, axis in (([0.02, 0, 0], None, None), ([0.025, 0.005, 0], [0.02, 0.005, 0], [0, 0, 1.0])):
        memory, taken = stream.push(memory, end, centre=centre, axis=axis or [0, 0, 1.0])
        assert taken
        given = {"path_limits": LIMITS, "segment_end": end, "feed": SPEED, "centre": centre or [0, 0, 0]}
        for _ in range(24):
            status, found = push(memory=here, **given, axis=axis or [0, 0, 0])
            assert status == OK
            here = found["next_memory"]
            if found["taken"][0]:
                break
    for _ in range(300):
        state = stream.step(memory, PERIOD)
        status, found = step(memory=here, path_limits=LIMITS, time=PERIOD)
        assert status == OK
        memory, here = state.memory, found["next_memory"]
        assert np.abs(found["x_path"] - state.x).max() < 1e-15
        assert np.abs(found["xddot_path"] - state.xddot).max() < 1e-12
    assert np.linalg.norm(state.xdot) > 0.01
    assert push(memory=here, **{**given, "feed": 0.0})[0] == INVALID_INPUT
    assert push(memory=here, **{**given, "path_limits": [np.nan, 1, 1, 1]})[0] == INVALID_INPUT
