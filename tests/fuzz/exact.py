"""Inverse dynamics of robots of UPS and PUS legs with fifty digits: body poses, differences, virtual power.

Written from the guide's definition of the leg kinds. Velocities and accelerations are differences of poses over steps
so small that fifty digits hide their error (1e-24); nothing of polypod is used but the robot's data.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vector = list[Any]
DIGITS = 50
_STEP = mp.mpf(10) ** -12


class OutOfReachError(Exception):
    """A leg does not reach."""


def _numbers(values: Any) -> Vector:
    return [mp.mpf(float(x)) for x in values]


def _matrix(values: Any) -> list[Vector]:
    return [_numbers(row) for row in values]


def _dot(a: Vector, b: Vector) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), mp.mpf(0))


def _cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _plus(a: Vector, b: Vector, factor: Any = 1) -> Vector:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def _times(m: list[Vector], v: Vector) -> Vector:
    return [_dot(row, v) for row in m]


def _product(a: list[Vector], b: list[Vector]) -> list[Vector]:
    columns = list(map(list, zip(*b, strict=True)))
    return [[_dot(row, column) for column in columns] for row in a]


def _transposed(a: list[Vector]) -> list[Vector]:
    return list(map(list, zip(*a, strict=True)))


def _unit(a: Vector) -> Vector:
    size = mp.sqrt(_dot(a, a))
    if size == 0:
        raise OutOfReachError
    return [x / size for x in a]


def _turn(v: Vector) -> list[Vector]:
    """exp(v~)."""
    angle = mp.sqrt(_dot(v, v))
    eye = [[mp.mpf(i == j) for j in range(3)] for i in range(3)]
    if angle == 0:
        return eye
    k = [x / angle for x in v]
    tilde = [[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]]
    square = _product(tilde, tilde)
    s, c = mp.sin(angle), 1 - mp.cos(angle)
    return [[eye[i][j] + s * tilde[i][j] + c * square[i][j] for j in range(3)] for i in range(3)]


class Rigid:
    """A body's data: mass, centre of mass, tensor about it; all in its frame."""

    def __init__(self, body: Any) -> None:
        self.mass, self.com = mp.mpf(float(body.mass)), _numbers(body.com)
        axes = _matrix(body.frames[body.frame]) if body.frame != "body" else _matrix(np.eye(3))
        tensor = _product(_product(axes, _matrix(body.inertia)), _transposed(axes))
        if body.about != "com":
            point = [mp.mpf(0)] * 3 if body.about == "origin" else _numbers(body.points[body.about])
            d = _plus(self.com, point, -1)
            square = _dot(d, d)
            for i in range(3):
                for j in range(3):
                    tensor[i][j] -= self.mass * (square * (i == j) - d[i] * d[j])
        self.tensor = tensor


class Exact:
    """A robot of UPS and PUS legs."""

    def __init__(self, robot: Any) -> None:
        mp.mp.dps = DIGITS
        self.gravity, self.legs = _numbers(robot.gravity), robot.legs
        self._bodies = [Rigid(robot.platform)]
        for leg in robot.legs:
            self._bodies += (
                [Rigid(leg.lower), Rigid(leg.upper)] if leg.kind == "UPS" else [Rigid(leg.slider), Rigid(leg.link)]
            )

    @staticmethod
    def knows(robot: Any) -> bool:
        """Whether the robot is of the kinds known here."""
        plain = all(leg.kind in ("UPS", "PUS") for leg in robot.legs)
        return plain and not robot.dof and not robot.flexible and len(robot.legs) == 6

    def _at(self, p: Vector, turn: list[Vector]) -> tuple[list[tuple[Vector, list[Vector]]], Vector, Vector]:
        """Frames (origin, axes by rows of the matrix) of all bodies, actuated coordinates, turn of the crosses."""
        frames, q, spiders = [(p, turn)], [], []
        for leg in self.legs:
            tip = _plus(p, _times(turn, _numbers(leg.platform)))
            if leg.kind == "UPS":
                base, u = _numbers(leg.base), _unit(_numbers(leg.axis))
                along = _plus(tip, base, -1)
                n = _unit(along)
                v = _unit(_cross(u, n))
                axes = _transposed([n, v, _cross(n, v)])
                frames += [(base, axes), (tip, axes)]
                q.append(mp.sqrt(_dot(along, along)))
                # a turn about u of a cross whose second axis is v: the angle of v in the plane perpendicular to u
                spiders.append((u, v))
                continue
            start, a, length = _numbers(leg.rail_start), _unit(_numbers(leg.rail_direction)), mp.mpf(float(leg.length))
            alpha = _unit(_numbers(leg.axis))
            d = _plus(tip, start, -1)
            along = _dot(a, d)
            off = _plus(d, a, -along)
            left = length**2 - _dot(off, off)
            if left < 0:
                raise OutOfReachError
            coordinate = along + mp.sqrt(left) * (1 if leg.root == "upper" else -1)
            slider = _plus(start, a, coordinate)
            n = _unit(_plus(tip, slider, -1))
            y = _unit(_cross(n, alpha))
            frames += [(slider, _matrix(np.eye(3))), (slider, _transposed([_cross(y, n), y, n]))]
            q.append(coordinate)
            spiders.append(None)
        return frames, q, spiders

    def forces(self, pose: Array, twist: Array, acceleration: Array, wrench: Array) -> Array:
        """Actuator forces (6,) of a state, as doubles; numbers of the state are taken as they are."""
        mp.mp.dps = DIGITS
        p, turn = _numbers(pose[:3, 3]), _matrix(pose[:3, :3])
        v, w = _numbers(twist[:3]), _numbers(twist[3:])
        a, alpha = _numbers(acceleration[:3]), _numbers(acceleration[3:])
        h = _STEP

        def moved(t: Any) -> Any:
            angle = _plus([t * x for x in w], alpha, t * t / 2)
            return self._at(_plus(_plus(p, v, t), a, t * t / 2), _product(_turn(angle), turn))

        before, now, after = moved(-h), moved(mp.mpf(0)), moved(h)
        directions = []
        for k in range(6):
            step = [mp.mpf(0)] * 6
            ends = []
            for sign in (1, -1):
                step[k] = sign * h
                ends.append(self._at(_plus(p, step[:3]), _product(_turn(step[3:]), turn)))
            directions.append(ends)
        jacobian = [[(ends[0][1][i] - ends[1][1][i]) / (2 * h) for ends in directions] for i in range(len(self.legs))]
        demand = []
        for ends in directions:
            power = mp.mpf(0)
            for number, body in enumerate(self._bodies):
                power += self._power(number, body, before, now, after, ends)
            for i, leg in enumerate(self.legs):
                power += self._drive(i, leg, before, now, after, ends)
            demand.append(power)
        right = [d - x for d, x in zip(demand, _numbers(wrench), strict=True)]
        solved = mp.lu_solve(mp.matrix(_transposed(jacobian)), mp.matrix(right))
        return np.array([float(x) for x in solved])

    def _power(self, number: int, body: Rigid, before: Any, now: Any, after: Any, ends: Any) -> Any:
        """What a body takes of a virtual motion: m (a - g).v' + (I alpha + w x I w).w'."""
        h = _STEP

        def centre(place: Any) -> Vector:
            origin, axes = place[0][number]
            return _plus(origin, _times(axes, body.com))

        first, middle, last = centre(before), centre(now), centre(after)
        a = [(x - 2 * y + z) / h**2 for x, y, z in zip(first, middle, last, strict=True)]
        shift = [(x - y) / (2 * h) for x, y in zip(centre(ends[0]), centre(ends[1]), strict=True)]
        power = body.mass * _dot(_plus(a, self.gravity, -1), shift)
        if all(x == 0 for row in body.tensor for x in row):
            return power
        axes = now[0][number][1]
        w, alpha = _spin(before[0][number][1], axes, after[0][number][1])
        turn = _axial(_product(_slope(ends[1][0][number][1], ends[0][0][number][1]), _transposed(axes)))
        tensor = _product(_product(axes, body.tensor), _transposed(axes))
        return power + _dot(_plus(_times(tensor, alpha), _cross(w, _times(tensor, w))), turn)

    def _drive(self, i: int, leg: Any, before: Any, now: Any, after: Any, ends: Any) -> Any:
        """A drive's rotor and motor, and the cross of a universal joint that turns about its base axis."""
        h = _STEP
        rate = (after[1][i] - 2 * now[1][i] + before[1][i]) / h**2
        moving = mp.mpf(float(getattr(leg, "rotor_mass", 0.0)))
        if leg.rotor_inertia:  # a motor on a screw turns by 2 pi gear/lead a metre
            moving += mp.mpf(leg.rotor_inertia) * (2 * mp.pi * mp.mpf(leg.gear or 1.0) / mp.mpf(leg.lead)) ** 2
        power = moving * rate * (ends[0][1][i] - ends[1][1][i]) / (2 * h)
        if leg.kind == "UPS" and leg.cross_inertia:
            (u, v), (_, last), (_, first) = now[2][i], after[2][i], before[2][i]
            other = _cross(u, v)

            def angle(direction: Vector) -> Any:
                return mp.atan2(_dot(direction, other), _dot(direction, v))

            turned = (angle(last) + angle(first)) / h**2
            swung = (angle(ends[0][2][i][1]) - angle(ends[1][2][i][1])) / (2 * h)
            power += mp.mpf(float(leg.cross_inertia)) * turned * swung
        return power


def _slope(low: list[Vector], high: list[Vector]) -> list[Vector]:
    return [[(y - x) / (2 * _STEP) for x, y in zip(a, b, strict=True)] for a, b in zip(low, high, strict=True)]


def _axial(m: list[Vector]) -> Vector:
    return [(m[2][1] - m[1][2]) / 2, (m[0][2] - m[2][0]) / 2, (m[1][0] - m[0][1]) / 2]


def _spin(before: list[Vector], now: list[Vector], after: list[Vector]) -> tuple[Vector, Vector]:
    """Angular velocity and acceleration of axes, base frame."""
    back = _transposed(now)
    second = [
        [(x - 2 * y + z) / _STEP**2 for x, y, z in zip(*rows, strict=True)]
        for rows in zip(before, now, after, strict=True)
    ]
    return _axial(_product(_slope(before, after), back)), _axial(_product(second, back))
