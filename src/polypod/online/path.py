"""Motion along a stream of lines and arcs that comes in while it runs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Kernel
from ..motion.gcode import Move
from .stream import MEMORY, SIZE, SLOTS, path_push, path_step


class PathState(NamedTuple):
    """What a motion along a stream is at an instant.

    Attributes
    ----------
    x, xdot, xddot : ndarray, shape (3,)
        Position, velocity and acceleration [m, m/s, m/s^2].
    remaining : float
        Time [s] until it rests at the end of all that has come in.
    memory : ndarray
        Memory for the next period.
    """

    x: Array
    xdot: Array
    xddot: Array
    remaining: float
    memory: Array


class PathStream:
    """Motion along lines and arcs that come in one after another, with rounded corners, within limits.

    The motion is at most ``corner`` away from its path, and speed, acceleration and jerk are within their limits,
    whatever comes in later; where nothing does it comes to rest at the end of the path. Nothing is kept but a
    ``memory``, an array of fixed size: take what a call gives to the next one. The same functions are exported as C
    (``path_push`` and ``path_step``).

    Parameters
    ----------
    speed, acceleration, jerk : float
        Largest norms of velocity, acceleration and jerk [m/s, m/s^2, m/s^3].
    corner : float
        Largest distance from the path [m].

    Examples
    --------
    >>> stream = PathStream(0.1, 2.0, 50.0, 1e-4)
    >>> memory, taken = stream.push(stream.start([0.0, 0.0, 0.0]), [0.02, 0.0, 0.0])
    >>> memory, taken = stream.push(memory, [0.02, 0.03, 0.0], feed=0.05)
    >>> taken, round(stream.step(memory, 0.0).remaining, 3)
    (True, 1.002)
    """

    def __init__(self, speed: float, acceleration: float, jerk: float, corner: float) -> None:
        given = {"speed": speed, "acceleration": acceleration, "jerk": jerk, "corner": corner}
        for name, value in given.items():
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name}: must be finite and greater than 0, got {value!r}")
        self.limits: Array = np.array([speed, acceleration, jerk, corner], dtype=np.float64)
        self._push, self._step = _kernels()

    def start(self, position: ArrayLike) -> Array:
        """The memory of a motion that rests.

        Parameters
        ----------
        position : array_like, shape (3,)
            Where it rests [m].

        Returns
        -------
        ndarray
            Memory for ``push`` and ``step``.
        """
        memory = np.zeros(MEMORY)
        memory[:3] = _vector("position", position)
        return memory

    def push(
        self,
        memory: Array,
        end: ArrayLike,
        feed: float | None = None,
        *,
        centre: ArrayLike | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        rest: float = 0.0,
    ) -> tuple[Array, bool]:
        """Put a line or an arc behind what has come in before.

        Long lines and arcs come in piece by piece: what ``push`` could not take yet (``taken`` is False) is pushed
        again after the next ``step``.

        Parameters
        ----------
        memory : ndarray
            What ``start``, ``push`` or ``step`` gave.
        end : array_like, shape (3,)
            Where the line or arc ends [m].
        feed : float, optional
            Its speed [m/s]; curves and corners may be slower. Default: the largest.
        centre : array_like, shape (3,), optional
            Centre of an arc [m]. Default: a line.
        axis : array_like, shape (3,), optional
            Axis about which an arc turns, by the right hand; along it a helix rises.
        rest : float, optional
            Pause [s] before it, at rest. Default: none.

        Returns
        -------
        memory : ndarray
            The new memory.
        taken : bool
            Whether all of it is in the memory.
        """
        speed = self.limits[0] if feed is None else float(feed)
        if not (np.isfinite(speed) and speed > 0):
            raise InputError(f"feed: must be finite and greater than 0, got {speed!r}")
        if not (np.isfinite(rest) and rest >= 0):
            raise InputError(f"rest: must be finite and not negative, got {rest!r}")
        stop, about, turn = _vector("end", end), np.zeros(3), np.zeros(3)
        if centre is not None:
            about, turn = _vector("centre", centre), _vector("axis", axis)
            if not turn.any():
                raise InputError("axis: the axis of an arc must not be zero")
            self._check_arc(memory, stop, about, turn)
        for _ in range(SLOTS):
            given = (memory, self.limits, stop, about, turn, np.array(speed), np.array(rest))
            new, taken, _ = (one[0] for one in self._push(*(part[None] for part in given)))
            moved = not np.array_equal(new, memory)
            memory, rest = new, 0.0 if moved else rest
            if taken or not moved:
                return memory, bool(taken)
        return memory, False

    def _check_arc(self, memory: Array, end: Array, centre: Array, axis: Array) -> None:
        last, unit = memory[3:].reshape(SLOTS, SIZE)[-1], axis / np.linalg.norm(axis)
        start = last[5:8] if last[-1] else memory[:3]
        sizes = [float(np.linalg.norm(np.cross(unit, point - centre))) for point in (start, end)]
        if min(sizes) == 0.0 or abs(sizes[0] - sizes[1]) > max(1e-3 * sizes[0], 5e-6):
            raise InputError(
                "centre: the centre of an arc must be as far from its start as from its end, got "
                f"{1e3 * sizes[0]:.6g} and {1e3 * sizes[1]:.6g} mm"
            )

    def move(self, memory: Array, move: Move) -> tuple[Array, bool]:
        """Put a line of a program behind what has come in before.

        Parameters
        ----------
        memory : ndarray
            What ``start``, ``push``, ``move`` or ``step`` gave.
        move : Move
            What ``polypod.motion.gcode.Program.read`` gave.

        Returns
        -------
        memory : ndarray
            The new memory.
        taken : bool
            Whether all of it is in the memory; if not, give it again after the next ``step``.
        """
        return self.push(memory, move.end, move.speed, centre=move.centre, axis=move.axis, rest=move.rest)

    def step(self, memory: Array, period: float) -> PathState:
        """The motion one period later.

        Parameters
        ----------
        memory : ndarray
            What ``start``, ``push`` or ``step`` gave.
        period : float
            Time from this cycle to the next [s].

        Returns
        -------
        PathState
            Position, velocity, acceleration, time until rest, memory.
        """
        if not (np.isfinite(period) and period >= 0):
            raise InputError(f"period: must be finite and not negative, got {period!r}")
        given = (memory, self.limits, np.array(float(period)))
        new, x, v, a, remaining, _ = (one[0] for one in self._step(*(part[None] for part in given)))
        return PathState(x, v, a, float(remaining), new)


@cache
def _kernels() -> tuple[Kernel, Kernel]:
    """The compiled functions."""
    key = CacheKey.of("path", fingerprint("online", "symbols"))
    return Kernel(path_push, key.extended("push")), Kernel(path_step, key.extended("step"))


def _vector(name: str, value: ArrayLike) -> Array:
    array = np.array(value, dtype=np.float64)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"{name}: three finite numbers are needed, got {np.asarray(value).tolist()}")
    return array
