"""Programs of machine tools (G-code, RS-274): the lines and arcs of a program as segments.

Words that move the tool are obeyed, words that only switch something (spindle, coolant, tool number) change no motion,
and every other word is an error with its line: nothing that could change the path is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .feed import Segments

_WORD = re.compile(r"\s*([A-Za-z])\s*([+-]?(?:\d+\.?\d*|\.\d+))")
_COMMENT = re.compile(r"\([^()]*\)|;.*$")
_PLANES = {17: (0, 1, 2), 18: (2, 0, 1), 19: (1, 2, 0)}
"""Axes of an arc's plane and the one across it, by G17, G18 and G19."""
_WITHOUT_MOTION = {3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}
_END = {2.0, 30.0}
_MOST_CHORDS = 100_000


class _Line(NamedTuple):
    number: int
    words: dict[str, float]
    codes: list[float]
    switches: list[float]


@dataclass
class _Machine:
    """What a program has set so far."""

    position: Array
    motion: float | None = None
    scale: float = 1e-3
    absolute: bool = True
    plane: tuple[int, int, int] = _PLANES[17]
    feed: float | None = None
    points: list[Array] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)
    radii: list[float] = field(default_factory=list)
    pauses: dict[int, float] = field(default_factory=dict)


def read_gcode(text: str, name: str, start: Array, rapid: float, chord: float) -> Segments:
    """The segments of a program.

    Parameters
    ----------
    text : the program
    name : of its file, for messages
    start : where the tool is before the first line (3,) [m]
    rapid : speed of G0 and largest speed of all others [m/s]
    chord : largest distance of an arc from its chords [m]

    Returns
    -------
    Segments
        Corners, speeds, pauses and radii.
    """
    machine = _Machine(np.array(start, dtype=float))
    machine.points.append(machine.position.copy())
    for line in _lines(text, name):
        _obey(machine, line, name, rapid, chord)
        if _END & set(line.switches):
            break
    if len(machine.points) < 2:
        raise InputError(f"file: {name}: no line moves the tool")
    pauses = np.zeros(len(machine.points))
    for k, seconds in machine.pauses.items():
        pauses[k] += seconds
    return Segments(np.array(machine.points), np.array(machine.speeds), pauses, np.array(machine.radii))


def _lines(text: str, name: str) -> list[_Line]:
    """The words of every line that has any."""
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        rest = _COMMENT.sub("", raw).strip()
        if rest in ("", "%") or rest.startswith("/"):
            continue
        words: dict[str, float] = {}
        codes, switches = [], []
        while rest:
            match = _WORD.match(rest)
            if match is None:
                raise InputError(f"file: {name}: line {number}: {rest!r} is not a letter with a number")
            letter, value = match[1].upper(), float(match[2])
            rest = rest[match.end() :].strip()
            if letter == "G":
                codes.append(value)
            elif letter == "M":
                switches.append(value)
            elif letter in words:
                raise InputError(f"file: {name}: line {number}: {letter} is given twice")
            elif letter not in "XYZIJKRFPNST":
                raise InputError(f"file: {name}: line {number}: word {letter}{value:g} is not known; {_KNOWN}")
            else:
                words[letter] = value
        found.append(_Line(number, words, codes, switches))
    return found


_KNOWN = "known: G0 to G4, G17 to G21, G90, G91, G94, M2 to M9 and M30, X Y Z I J K R F P, and N S T"


def _obey(machine: _Machine, line: _Line, name: str, rapid: float, chord: float) -> None:
    """One line."""

    def refuse(what: str) -> InputError:
        return InputError(f"file: {name}: line {line.number}: {what}")

    for code in line.switches:
        if code not in _WITHOUT_MOTION | _END:
            raise refuse(f"word M{code:g} is not known; {_KNOWN}")
    dwell = False
    for code in line.codes:
        if code in (0, 1, 2, 3):
            machine.motion = code
        elif code == 4:
            dwell = True
        elif code in _PLANES:
            machine.plane = _PLANES[int(code)]
        elif code in (20, 21):
            machine.scale = 0.0254 if code == 20 else 1e-3
        elif code in (90, 91):
            machine.absolute = code == 90
        elif code != 94:
            raise refuse(f"word G{code:g} is not known; {_KNOWN}")
    words = line.words
    if "F" in words:
        if words["F"] <= 0:
            raise refuse(f"the feed F must be greater than 0, got {words['F']:g}")
        machine.feed = words["F"] * machine.scale / 60
    if dwell:
        if "P" not in words or words["P"] < 0:
            raise refuse("G4 needs P, the time of the pause in seconds")
        at = len(machine.points) - 1
        machine.pauses[at] = machine.pauses.get(at, 0.0) + words["P"]
        return
    if not set("XYZIJKR") & set(words):
        return
    if machine.motion is None:
        raise refuse("coordinates without a motion; write G0, G1, G2 or G3 first")
    end = machine.position.copy()
    for k, letter in enumerate("XYZ"):
        if letter in words:
            end[k] = words[letter] * machine.scale + (0.0 if machine.absolute else machine.position[k])
    if machine.motion == 0:
        speed = rapid
    elif machine.feed is None:
        raise refuse(f"G{machine.motion:g} needs a feed; write F before it")
    else:
        speed = min(machine.feed, rapid)
    if machine.motion in (0, 1):
        if set("IJKR") & set(words):
            raise refuse("I, J, K and R are of arcs; write G2 or G3")
        corners, radius = [end], math.inf
    else:
        corners, radius = _arc(machine, line, end, chord, refuse)
    for corner in corners:
        if not np.allclose(corner, machine.points[-1], rtol=0, atol=1e-12):
            machine.points.append(corner)
            machine.speeds.append(speed)
            machine.radii.append(radius)
    machine.position = end


def _arc(
    machine: _Machine, line: _Line, end: Array, chord: float, refuse: Callable[[str], InputError]
) -> tuple[list[Array], float]:
    """Corners of the chords of an arc or a helix, without its start, and its radius."""
    words, (a, b, across) = line.words, machine.plane
    start = machine.position
    offsets = ["IJK"[k] for k in (a, b)]
    if f"{'IJK'[across]}" in words:
        raise refuse(f"{'IJK'[across]} is across the plane of the arc")
    clockwise = machine.motion == 2
    here, there = start[[a, b]], end[[a, b]]
    if "R" in words:
        if set(offsets) & set(words):
            raise refuse("an arc takes R, or a centre by two of I, J and K, not both")
        centre = _centre(here, there, words["R"] * machine.scale, clockwise, refuse)
    elif set(offsets) & set(words):
        centre = here + machine.scale * np.array([words.get(letter, 0.0) for letter in offsets])
    else:
        raise refuse("an arc needs R, or its centre by two of I, J and K")
    radius, other = float(np.linalg.norm(here - centre)), float(np.linalg.norm(there - centre))
    if radius == 0.0 or abs(radius - other) > max(1e-3 * radius, 5e-6):
        raise refuse(
            "the centre of an arc must be as far from its start as from its end, got "
            f"{1e3 * radius:.6g} and {1e3 * other:.6g} mm"
        )
    first, last = (math.atan2(*(point - centre)[::-1]) for point in (here, there))
    sweep = (first - last if clockwise else last - first) % (2 * math.pi)
    if sweep < 1e-9:
        sweep = 2 * math.pi  # a full circle
    step = 2 * math.acos(max(1 - chord / radius, 0.5))
    count = max(math.ceil(sweep / step), 2)
    if count > _MOST_CHORDS:
        raise refuse(f"an arc of {count} chords is too much; allow a larger corner")
    part = np.linspace(0.0, 1.0, count + 1)[1:]
    angle = first + (-sweep if clockwise else sweep) * part
    size = radius + (other - radius) * part
    corners = np.empty((count, 3))
    corners[:, a], corners[:, b] = centre[0] + size * np.cos(angle), centre[1] + size * np.sin(angle)
    corners[:, across] = start[across] + (end[across] - start[across]) * part
    corners[-1] = end
    return list(corners), radius


def _centre(here: Array, there: Array, radius: float, clockwise: bool, refuse: Callable[[str], InputError]) -> Array:
    """Centre of an arc of a radius; a negative one is of the longer arc."""
    half = (there - here) / 2
    length = float(np.linalg.norm(half))
    if length == 0.0 or length > abs(radius) * (1 + 1e-6):
        raise refuse(f"no arc of radius {1e3 * radius:g} mm joins points {2e3 * length:g} mm apart")
    height = math.sqrt(max(radius**2 - length**2, 0.0)) * (-1.0 if clockwise == (radius > 0) else 1.0)
    left = np.array([-half[1], half[0]]) / length
    centre: Array = here + half + height * left
    return centre
