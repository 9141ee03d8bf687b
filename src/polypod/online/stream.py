"""A stream of lines and arcs with rounded corners, segment by segment, in symbols: bounded operations and memory.

The law is that of ``polypod.motion.feed``: segments are travelled at constant speeds f_i, one after the other, and the
result is averaged over T1 and over T2. A segment in direction u_i from t_i on, for d_i, adds

    f_i u_i (R(t - t_i) - R(t - t_i - d_i)),   R'' = h,  h the trapezoid of area 1 over T = T1 + T2.

When a segment comes in, it must keep all limits, whatever comes later and if nothing does. With F the largest speed,
T1 = max(F/a, (2 F/j)^(1/2)) and T2 = 2 F/(j T1) <= T1 that is so if no two velocities within T1 differ by more than F:

    |acceleration| = |mean of v(t) - v(t - T1)|/T1 <= F/T1 <= a,   |jerk| <= 2 F/(T1 T2) = j.

A corner at t_c, where u turns by du with a pause g, moves the path aside by at most |du| F R((T - g)/2 - |t - t_c|) at
t + T/2: what is travelled beyond it, in the mean, is at most that, and so is what is travelled before it. Corners that
are nearer to each other than T add up, and the sum is largest at one of them. A segment begins as early as both allow;
after T it always may. If the stream runs dry the motion comes to rest at its end.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ..symbols.expression import Expression, Iteration, Port, port

SLOTS = 24
"""Segments that are kept: those whose average is not over, and those to come."""
SIZE = 14
MEMORY = 3 + SLOTS * SIZE
_LONG_AGO = -1e6
"""When segments began that never were [s]."""
_ROUNDS = 14
"""Halvings of the interval of a pause."""
_SAG = 0.05
"""Part of the allowed distance that chords of arcs take."""
_PIECE = 8.0
"""Longest piece of a line, in averages: times stay small numbers."""
_MARGIN = 1e-9


class _Law(NamedTuple):
    """The averages of limits: T1, T2, T, largest speed, allowed distance."""

    long: ca.SX
    short: ca.SX
    whole: ca.SX
    speed: ca.SX
    corner: ca.SX

    @staticmethod
    def of(limits: ca.SX) -> _Law:
        speed, acceleration, jerk, corner = ca.vertsplit(limits)
        long = ca.fmax(speed / acceleration, ca.sqrt(2 * speed / jerk))
        short = 2 * speed / (jerk * long)
        return _Law(long, short, long + short, speed, corner)

    def by_part(self, t: ca.SX, rising: ca.SX, even: ca.SX, falling: ca.SX, after: ca.SX) -> ca.SX:
        """A function of time by the parts of the trapezoid; zero before."""
        found = ca.if_else(t < self.long, even, ca.if_else(t < self.whole, falling, after))
        return ca.if_else(t > 0, ca.if_else(t < self.short, rising, found), 0)

    def response(self, t: ca.SX) -> ca.SX:
        """R."""
        a, b, rest = self.long, self.short, self.whole - t
        late = t - self.whole / 2
        even = (t - b / 2) ** 2 / (2 * a) + b**2 / (24 * a)
        return self.by_part(t, t**3 / (6 * a * b), even, late + rest**3 / (6 * a * b), late)

    def rate(self, t: ca.SX) -> ca.SX:
        """R'."""
        a, b = self.long, self.short
        return self.by_part(t, t**2 / (2 * a * b), (t - b / 2) / a, 1 - (self.whole - t) ** 2 / (2 * a * b), ca.SX(1))

    def window(self, t: ca.SX) -> ca.SX:
        """R'' = h."""
        a, b = self.long, self.short
        return self.by_part(t, t / (a * b), 1 / a, (self.whole - t) / (a * b), ca.SX(0))


class _Slot(NamedTuple):
    """A segment that is kept: when it begins, for how long, velocity, end; the pause before it, its bend |du| F, that
    F, how far corners move the path aside there, its length, its speed (0 for one that never was)."""

    begin: ca.SX
    span: ca.SX
    velocity: ca.SX
    end: ca.SX
    pause: ca.SX
    bend: ca.SX
    fastest: ca.SX
    aside: ca.SX
    length: ca.SX
    speed: ca.SX

    @staticmethod
    def of(x: ca.SX) -> _Slot:
        return _Slot(x[0], x[1], x[2:5], x[5:8], x[8], x[9], x[10], x[11], x[12], x[13])

    @property
    def column(self) -> ca.SX:
        return ca.vertcat(*self)

    @property
    def over(self) -> ca.SX:
        """When it ends."""
        return self.begin + self.span

    @property
    def middle(self) -> ca.SX:
        """The middle of the pause before it."""
        return self.begin - self.pause / 2


def _slots(memory: ca.SX) -> list[_Slot]:
    """All slots; those that never were ended long ago where the path begins."""
    slots = [_Slot.of(memory[3 + SIZE * k : 3 + SIZE * (k + 1)]) for k in range(SLOTS)]
    return [
        slot._replace(
            begin=ca.if_else(slot.speed > 0, slot.begin, _LONG_AGO),
            end=ca.if_else(slot.speed > 0, slot.end, memory[:3]),
        )
        for slot in slots
    ]


def path_step() -> Expression:
    """The motion one period later: memory, position, velocity, acceleration, time until it rests, room."""
    memory, h, limits = ca.SX.sym("memory", MEMORY), ca.SX.sym("time"), ca.SX.sym("path_limits", 4)
    law, slots = _Law.of(limits), _slots(memory)
    x, v, a = memory[:3], ca.SX.zeros(3), ca.SX.zeros(3)
    moved, room, rests = [], ca.SX(0), ca.SX(0)
    for k, slot in enumerate(slots):
        begin = ca.fmax(slot.begin - h, -(slot.span + 2 * law.whole))
        now, then = -begin, -begin - slot.span
        before = memory[:3] if k == 0 else slots[k - 1].end
        done = then >= law.whole
        part = slot.velocity * (law.response(now) - law.response(then))
        x = x + ca.if_else(done, slot.end - before, part)
        v = v + ca.if_else(done, 0, slot.velocity * (law.rate(now) - law.rate(then)))
        a = a + ca.if_else(done, 0, slot.velocity * (law.window(now) - law.window(then)))
        moved.append(slot._replace(begin=begin).column)
        room = room + done
        rests = ca.fmax(rests, law.whole - then)
    outputs = (
        port("next_memory", ca.vertcat(memory[:3], *moved), (MEMORY,)),
        port("x_path", x),
        port("xdot_path", v),
        port("xddot_path", a),
        port("remaining", rests, ()),
        port("room", room, ()),
    )
    inputs = Port("memory", memory, (MEMORY,)), Port("path_limits", limits, (4,)), Port("time", h, ())
    return Expression("path_step", inputs, outputs)


class _Piece(NamedTuple):
    """What is added of a segment: its end, whether that is the segment's, and the radius of its curve."""

    end: ca.SX
    whole: ca.SX
    radius: ca.SX


def _piece(start: ca.SX, end: ca.SX, centre: ca.SX, axis: ca.SX, speed: ca.SX, law: _Law) -> _Piece:
    """The first piece of a line, or the first chord of an arc about an axis through its centre."""
    step = end - start
    length = ca.norm_2(step)
    longest = _PIECE * law.whole * speed
    line = ca.if_else(length > longest, start + step * (longest / ca.fmax(length, 1e-300)), end)
    size = ca.norm_2(axis)
    arc = size > 0
    n = axis / ca.if_else(arc, size, 1)
    from_, to = start - centre, end - centre
    along, there = ca.dot(from_, n), ca.dot(to, n)
    from_, to = from_ - along * n, to - there * n
    radius, last = ca.norm_2(from_), ca.norm_2(to)
    x = from_ / ca.if_else(arc, radius, 1)
    y = ca.cross(n, x)
    angle = ca.atan2(ca.dot(to, y), ca.dot(to, x))
    angle = ca.if_else(angle < 1e-6, angle + 2 * ca.pi, angle)  # a full circle
    most = ca.fmin(ca.sqrt(8 * _SAG * law.corner / ca.if_else(arc, radius, 1)), 1.0)
    part = 1 / ca.fmax(ca.ceil(angle / most - 1e-6), 1)
    turned = ca.cos(angle * part) * x + ca.sin(angle * part) * y
    chord = centre + (radius + (last - radius) * part) * turned + (along + (there - along) * part) * n
    whole = ca.if_else(arc, part > 0.999, length <= longest)
    found = ca.if_else(whole, end, ca.if_else(arc, chord, line))
    return _Piece(found, whole, ca.if_else(arc, radius, 0))


def path_push() -> Iteration:
    """A segment, or a piece of it, after those in memory: new memory, whether the segment is whole in it, room."""
    memory, limits = ca.SX.sym("memory", MEMORY), ca.SX.sym("path_limits", 4)
    end, centre, axis = (ca.SX.sym(name, 3) for name in ("segment_end", "centre", "axis"))
    feed, rest = ca.SX.sym("feed"), ca.SX.sym("rest")
    law, slots = _Law.of(limits), _slots(memory)
    last, oldest = slots[-1], slots[0]
    speed = ca.fmin(feed, law.speed)
    piece = _piece(last.end, end, centre, axis, speed, law)
    step = piece.end - last.end
    length = ca.norm_2(step)
    some = length > 1e-12
    u = step / ca.if_else(some, length, 1)
    was = last.speed > 0
    bend = ca.norm_2(u - last.velocity / ca.if_else(was, last.speed, 1))
    # curves are slower than lines: their sum of corners, and the turn of their velocity
    estimated = ca.fmin(length, ca.if_else(was, last.length, length)) / ca.fmax(bend, 1e-9)
    curved = ca.logic_or(piece.radius > 0, ca.logic_and(length < speed * law.whole, bend > 1e-9))
    radius = ca.if_else(piece.radius > 0, piece.radius, estimated)
    slow = ca.fmin(law.speed / law.long, 22 * law.corner / (law.long**2 + law.short**2)) * radius
    speed = ca.if_else(curved, ca.fmin(speed, 0.9 * ca.sqrt(slow)), speed)
    speed = ca.fmin(speed, length * SLOTS / (2 * law.whole))
    for slot in slots:  # what a corner was found to allow
        near = ca.logic_and(slot.bend > 1e-12 * law.speed, slot.middle + law.whole / 2 > ca.fmax(last.over, 0))
        speed = ca.if_else(near, ca.fmin(speed, slot.fastest), speed)
    fastest = speed
    for slot in slots:
        fastest = ca.fmax(fastest, ca.if_else(slot.over > last.over - law.whole / 2, slot.speed, 0))
    velocity, weight = speed * u, ca.if_else(was, bend, 0) * fastest
    allowed = (1 - _SAG) * law.corner * (1 + _MARGIN)

    def begins(pause: ca.SX) -> ca.SX:
        return ca.fmax(last.over + pause, 0)

    def corner(pause: ca.SX) -> tuple[ca.SX, list[ca.SX]]:
        """How far the path is moved aside here, and by how much more at the corners before."""
        real = begins(pause) - last.over
        middle, most = last.over + real / 2, (law.whole - real) / 2
        here, there = weight * law.response(most), []
        for slot in slots[1:]:
            off = ca.fabs(middle - slot.middle)
            here = here + slot.bend * law.response((law.whole - slot.pause) / 2 - off)
            there.append(weight * law.response(most - off))
        return ca.if_else(weight * law.response(most) > 0, here, 0), there

    def holds(pause: ca.SX) -> ca.SX:
        here, there = corner(pause)
        good = here <= allowed
        for slot, more in zip(slots[1:], there, strict=True):
            good = ca.logic_and(good, slot.aside + more <= ca.fmax(allowed, slot.aside))
        for slot in slots:
            differs = ca.norm_2(velocity - slot.velocity) > law.speed * (1 + _MARGIN)
            good = ca.logic_and(good, ca.logic_or(ca.logic_not(differs), begins(pause) >= slot.over + law.long))
        return good

    low, high, first = ca.SX.sym("low"), ca.SX.sym("high"), ca.SX.sym("first")
    middle = ca.if_else(first > 0, 0, (low + high) / 2)
    good = holds(middle)
    rounds, done = ca.SX.sym("rounds"), ca.SX.sym("done")
    state = ca.vertcat(low, high, first, rounds, done)
    start = ca.vertcat(0, law.whole, 1, 0, 0)
    halved = ca.if_else(good, low, middle), ca.if_else(good, middle, high)
    following = ca.vertcat(*halved, 0, rounds + 1, rounds + 1 >= _ROUNDS)
    pause = ca.fmax(high, ca.if_else(rest > 0, law.whole + rest, 0))
    begin = begins(pause)
    real = begin - last.over
    here, there = corner(pause)
    span = length / ca.fmax(speed, 1e-300)
    new = _Slot(begin, span, velocity, piece.end, real, weight, fastest, here, length, speed)
    kept = [slot._replace(aside=slot.aside + more).column for slot, more in zip(slots[1:], there, strict=True)]
    free = -oldest.over >= law.whole
    added = ca.logic_and(free, some)
    shifted = ca.vertcat(oldest.end, *kept, new.column)
    room = sum((-slot.over >= law.whole for slot in slots), ca.SX(0))
    outputs = (
        port("next_memory", ca.if_else(added, shifted, memory), (MEMORY,)),
        port("taken", ca.logic_or(ca.logic_not(some), ca.logic_and(free, piece.whole)), ()),
        port("room", room - added, ()),
    )
    inputs = (
        Port("memory", memory, (MEMORY,)), Port("path_limits", limits, (4,)), Port("segment_end", end, (3,)),
        Port("centre", centre, (3,)), Port("axis", axis, (3,)), Port("feed", feed, ()), Port("rest", rest, ()),
    )  # fmt: skip
    return Iteration("path_push", inputs, outputs, state, start, following, max_iterations=_ROUNDS, counted=True)
