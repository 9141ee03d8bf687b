"""Programs of machine tools (G-code, RS-274): the lines and arcs of a program as segments.

Words that move the tool are obeyed, words that only switch something (spindle, coolant, tool number) change no motion,
and every other word is an error with its line: nothing that could change the path is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

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


class Move(NamedTuple):
    """A line or an arc of a program.

    Attributes
    ----------
    start, end : ndarray, shape (3,)
        Where it begins and ends [m].
    speed : float
        Its feed [m/s].
    centre : ndarray, shape (3,), or None
        Centre of an arc [m]; None for a line.
    axis : ndarray, shape (3,)
        Axis about which an arc turns, by the right hand.
    rest : float
        Pause [s] before it.
    """

    start: Array
    end: Array
    speed: float
    centre: Array | None
    axis: Array
    rest: float


class Program:
    """A program of a machine tool, read line by line as it comes in.

    Parameters
    ----------
    start : array_like, shape (3,)
        Where the tool is before the first line [m].
    rapid : float
        Speed of G0 and largest speed of all others [m/s].
    name : str, optional
        Of its file, for messages.

    Attributes
    ----------
    over : bool
        Whether M2 or M30 was read.

    Examples
    --------
    >>> program = Program([0.0, 0.0, 0.0], rapid=0.2)
    >>> program.read("G1 X10 F600 (a comment)").end
    array([0.01, 0.  , 0.  ])
    >>> program.read("M3 S1000") is None
    True
    """

    def __init__(self, start: ArrayLike, rapid: float, name: str = "program") -> None:
        self._machine = _Machine(np.array(start, dtype=float))
        self._name, self._rapid, self._number = name, rapid, 0
        self.over = False

    def read(self, text: str) -> Move | None:
        """The next line.

        Parameters
        ----------
        text : str
            The line.

        Returns
        -------
        Move or None
            What it moves; None if it does not.

        Raises
        ------
        InputError
            For a word that is not known, with the number of the line.
        """
        self._number += 1
        line = None if self.over else _line(text, self._number, self._name)
        if line is None:
            return None
        move = _obey(self._machine, line, self._name, self._rapid)
        self.over = bool(_END & set(line.switches))
        return move

    @property
    def rest(self) -> float:
        """Pause [s] that was read since the last line that moves."""
        return self._machine.rest


@dataclass
class _Machine:
    """What a program has set so far."""

    position: Array
    motion: float | None = None
    scale: float = 1e-3
    absolute: bool = True
    plane: tuple[int, int, int] = _PLANES[17]
    feed: float | None = None
    rest: float = 0.0


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
    program = Program(start, rapid, name)
    points, speeds, radii, pauses = [np.array(start, dtype=float)], [], [], {0: 0.0}
    for raw in text.splitlines():
        move = program.read(raw)
        if move is None:
            continue
        pauses[len(points) - 1] = pauses.get(len(points) - 1, 0.0) + move.rest
        corners, radius = _chords(move, chord, name)
        for corner in corners:
            if not np.allclose(corner, points[-1], rtol=0, atol=1e-12):
                points.append(corner)
                speeds.append(move.speed)
                radii.append(radius)
    if len(points) < 2:
        raise InputError(f"file: {name}: no line moves the tool")
    pauses[len(points) - 1] = pauses.get(len(points) - 1, 0.0) + program.rest
    rests = np.zeros(len(points))
    for k, seconds in pauses.items():
        rests[k] = seconds
    return Segments(np.array(points), np.array(speeds), rests, np.array(radii))


def _line(raw: str, number: int, name: str) -> _Line | None:
    """The words of a line; None if it has none."""
    rest = _COMMENT.sub("", raw).strip()
    if rest in ("", "%") or rest.startswith("/"):
        return None
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
    return _Line(number, words, codes, switches)


_KNOWN = "known: G0 to G4, G17 to G21, G90, G91, G94, M2 to M9 and M30, X Y Z I J K R F P, and N S T"


def _obey(machine: _Machine, line: _Line, name: str, rapid: float) -> Move | None:
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
        machine.rest += words["P"]
        return None
    if not set("XYZIJKR") & set(words):
        return None
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
    centre: Array | None
    if machine.motion in (0, 1):
        if set("IJKR") & set(words):
            raise refuse("I, J, K and R are of arcs; write G2 or G3")
        centre, axis = None, np.zeros(3)
    else:
        centre, axis = _arc(machine, line, end, refuse)
    move = Move(machine.position, end, speed, centre, axis, machine.rest)
    machine.position, machine.rest = end, 0.0
    return move


def _arc(machine: _Machine, line: _Line, end: Array, refuse: Callable[[str], InputError]) -> tuple[Array, Array]:
    """Centre of an arc or a helix, at the height of its start, and the axis about which it turns."""
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
    middle = start.copy()
    middle[[a, b]] = centre
    return middle, (-1.0 if clockwise else 1.0) * np.eye(3)[across]


def _chords(move: Move, chord: float, name: str) -> tuple[list[Array], float]:
    """Corners of the chords of an arc or a helix, without its start, and its radius; the end of a line."""
    if move.centre is None:
        return [move.end], math.inf
    n = move.axis
    here, there = move.start - move.centre, move.end - move.centre
    rise = float(n @ (there - here))
    here, there = here - (n @ here) * n, there - (n @ there) * n
    radius, other = float(np.linalg.norm(here)), float(np.linalg.norm(there))
    x = here / radius
    y = np.cross(n, x)
    sweep = math.atan2(y @ there, x @ there) % (2 * math.pi)
    if sweep < 1e-9:
        sweep = 2 * math.pi  # a full circle
    step = 2 * math.acos(max(1 - chord / radius, 0.5))
    count = max(math.ceil(sweep / step), 2)
    if count > _MOST_CHORDS:
        raise InputError(f"file: {name}: an arc of {count} chords is too much; allow a larger corner")
    part = np.linspace(0.0, 1.0, count + 1)[1:, None]
    turned = np.cos(sweep * part) * x + np.sin(sweep * part) * y
    corners = move.centre + (radius + (other - radius) * part) * turned + (rise * part) * n
    corners[-1] = move.end
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
