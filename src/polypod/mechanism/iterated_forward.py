"""Forward kinematics of robots with legs that are closed by iterating.

Every pose that Newton's iteration judges has its legs closed, so that error and Jacobian belong together: near guesses
converge quadratically. Legs follow the platform from pose to pose, and over a long step their unknowns may slip into
another working mode. The pose found is therefore asked as inverse kinematics asks it, its legs closed anew from home;
it is an answer if these have the coordinates. If not, or if the iteration fails, the coordinates go from those of the
guess to those asked for in steps. If these fail too the iteration may begin again at poses about the guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from ..legs.contract import SMALLEST_MARGIN
from ..platforms import Inputs
from ..platforms.motion import frame_of, long_place, pose_of, short_place
from ..symbols.expression import Iteration, Port, port
from ..symbols.implicit import ImplicitReplay
from ..symbols.iterations import NEWTON_TOLERANCE, NewtonStep, continuation, is_lost
from ..symbols.linear import Solution
from ..symbols.vectors import Frame, orthonormalised
from .closing import LegClosing
from .kinematics import side_of, solve_jacobian, solve_whole
from .leg_at_state import LegAtState
from .mechanism import Mechanism
from .restarts import start_about

_EXACT, _NEAR = 1e-10, 1e-6
"""Errors of coordinates, relative to the platform's size: that which one more step takes to rounding, and that of
poses on the line of coordinates."""
_SMALLEST_DAMPING = 2.0**-6
_SMALLEST_STEP = 2e-3
"""Step along the line of coordinates below which it counts as blocked, as a fraction of it."""
_CLOSED = 1e-10
"""Relative gap of legs from which one step of Newton leads to rounding even near a singularity of theirs."""
_MAX_ITERATIONS = 900
_BLUNT = 0.01
"""Quality of a leg's closing below which its coordinates are no sharper than rounding over that quality; the residual
is then measured in proportion."""
_LOOP = ("t", "t_kept", "dt", "iterations", "before", "total")
"""Numbers of a continuation's state after its unknowns."""


def iterated_forward_kinematics(mechanism: Mechanism, starts: int) -> Iteration:
    """Pose with q(pose) = q and the legs in home's working mode, from a guess and from ``starts`` about it."""
    return _ForwardKinematics(mechanism, starts).iteration()


class _ForwardKinematics:
    """The iteration's rounds.

    While ``homing`` the legs are closed on the platform's path from home to ``frame``, first the guess and in the end
    the pose found (a :mod:`~..symbols.continuation`). Else a pose displaced from ``frame`` by t ``delta`` is tried, and
    accepted if the legs close near their ``kept`` places and the error falls. The coordinates asked for are at a
    ``part`` of the line from ``start``, those of the guess: the whole of it first, and after a failure a ``part_step``
    beyond ``base_part``, the last that was reached (at ``base_frame``). From the ``number``-th start about the guess
    the whole line alone is tried. The last start is the guess again, so that a failure is reported for it.
    """

    def __init__(self, mechanism: Mechanism, starts: int) -> None:
        self._starts = starts
        self._mechanism, self._platform, self._x = mechanism, mechanism.platform, mechanism.inputs()
        k = int(mechanism.places.numel())
        sizes = {
            "frame": 12 + self._platform.internal,
            "delta": 6 + self._platform.internal if self._platform.is_constrained else self._platform.count,
            "start": len(mechanism.actuators),
            "base_frame": 12 + self._platform.internal,
            "base_places": k,
        }
        flags = ("homing", "begun", "answered", "steps")
        counts = ("since_start", "number")
        numbers = ("error2", "quality", "side", "part", "base_part", "part_step", *counts, *flags)
        self._own = {name: ca.SX.sym(name, size) for name, size in (sizes | dict.fromkeys(numbers, 1)).items()}
        self._trial, self._legs, self._closing = ca.SX(), list[LegAtState](), LegClosing(mechanism, self._target())
        self._loop = continuation(ca.SX.sym("now", k), mechanism.home_places, self._follow)
        old = self._loop.state
        loop = dict(zip(_LOOP, ca.vertsplit(old[2 * k : -1]), strict=True))
        self._old = {"at_guess": mechanism.places, "now": old[:k], "kept": old[k : 2 * k], **loop, **self._own}

    def _begin(self, frame: ca.SX) -> dict[str, ca.SX | float]:
        """The state where the iteration begins at a frame."""
        zero: dict[str, ca.SX | float] = {name: ca.SX.zeros(symbols.numel()) for name, symbols in self._old.items()}
        home = self._mechanism.home_places
        first: dict[str, ca.SX | float] = {
            "at_guess": home,
            "now": home,
            "kept": home,
            "t": 1,
            "dt": 1,
            "frame": frame,
            "error2": 1e300,
        }
        return {**zero, **first, "part": 1, "part_step": 1, "homing": 1}

    @property
    def _guess(self) -> ca.SX:
        return short_place(self._platform.projected(self._x.place_symbols))

    def iteration(self) -> Iteration:
        """The whole function."""
        x, done = self._x, self._loop.state[-1]
        start = self._begin(self._guess)
        state, step = ca.vertcat(*self._old.values(), done), self._step()
        return Iteration(
            "forward_kinematics",
            (x.q, *x.place),
            self._outputs(),
            state,
            ca.vertcat(*start.values(), 0),
            step,
            self._mechanism.port,
            max_iterations=_MAX_ITERATIONS * (self._starts + 2 if self._starts else 1),
        )

    def _target(self) -> dict[str, Port]:
        x: Inputs = self._mechanism.inputs()
        x.at_place(long_place(self._own["frame"]))
        return {"pose": x.pose, "elastic": self._x.elastic, "internal": x.internal}

    def _at(self, pose: ca.SX, places: ca.SX) -> list[LegAtState]:
        """The legs at rest in a pose of symbols, with internal coordinates after it, closed near ``places``."""
        x: Inputs = self._mechanism.inputs()
        x.at_place(pose)
        x.elastic = self._x.elastic
        return self._mechanism.attach(self._platform.rest(x), places)

    def _follow(self, t: ca.SX, places: ca.SX) -> NewtonStep:
        """A step of Newton for the legs' unknowns: on the path from home to the frame, or at the pose tried."""
        trial = self._platform.displaced(long_place(self._own["frame"]), t * self._own["delta"])
        self._trial = ca.if_else(self._own["homing"], self._closing.place(t), trial)
        self._legs = self._at(self._trial, places)
        return self._closing.step_of(self._legs)

    def _judged(self) -> tuple[ca.SX, ca.SX, Solution]:
        """Coordinates of the legs, squared error of coordinates and constraints, and Newton's step from there."""
        mechanism, legs, asked = self._mechanism, self._legs, self._x.q.symbols
        q = mechanism.coordinates(legs)
        way = mechanism.coordinate_errors(asked, self._own["start"])
        error = mechanism.coordinate_errors(asked - (1 - self._own["part"]) * way, q)
        error2 = ca.sumsqr(mechanism.joint_errors(legs, error))
        if not self._platform.is_constrained:
            return q, error2, solve_jacobian(mechanism, legs, error)
        value = mechanism.constraint_values(legs)
        gap2 = ca.sumsqr(mechanism.constraint_scale(mechanism.size) * value)
        return q, error2 + gap2, solve_whole(mechanism, legs, error, -value)

    def _step(self) -> ca.SX:
        old, k = self._old, self._old["now"].numel()
        q, error2, solution = self._judged()
        joint_coordinates = self._closing.step_of(self._legs)
        near, closed = (joint_coordinates.within(self._mechanism.tolerance(gap)) for gap in (NEWTON_TOLERANCE, _CLOSED))
        lost = is_lost(joint_coordinates.gap2, old["before"], old["iterations"])
        homing, newton, begun = old["homing"], _no(old["homing"]), old["begun"]

        # what has happened in this round
        ended = _both(homing, self._loop.step[-1])
        arrived = _both(_both(homing, closed), old["t"] >= 1)
        adrift = _both(ended, _no(near))
        better = _both(newton, _both(closed, error2 < old["error2"]))
        worse = _both(newton, _both(_no(better), _either(closed, lost)))
        begins, from_guess = _both(arrived, _no(begun)), old["number"] < 1
        here = side_of(self._legs, solution)
        side = ca.if_else(_both(begins, from_guess), here, old["side"])
        quality = ca.if_else(here == side, solution.quality, -solution.quality)
        near_enough, exact_enough = map(self._mechanism.tolerance, (_NEAR, _EXACT))
        small = ca.if_else(old["part"] < 1, near_enough, exact_enough) * (self._mechanism.size + 1e-3)
        exact = error2 <= small**2
        answered = _both(arrived, exact)
        reached = _both(_both(better, exact), quality > -SMALLEST_MARGIN)
        blocked = _either(
            # Newton is damped on the whole line only: steps along it are short
            _both(worse, _either(old["part_step"] < 1, old["t"] <= _SMALLEST_DAMPING)),
            _either(
                _both(_both(better, exact), _no(reached)),  # beyond a singularity
                _either(adrift, _both(arrived, _no(exact))),  # other coordinates with legs closed from home
            ),
        )
        late = old["since_start"] + 1 >= _MAX_ITERATIONS
        failed = _both(begun, _both(_either(blocked, late), _no(answered)))
        found, onward = (_both(reached, at) for at in (old["part"] >= 1, old["part"] < 1))
        longer = ca.fmin(2 * old["part_step"], 1 - old["part"])
        after = ca.if_else(failed, 0.25 * old["part_step"], ca.if_else(onward, longer, old["part_step"]))

        # the continuation's own step, or that of Newton while legs are not closed
        moved = joint_coordinates.moved
        new = {**old, "before": joint_coordinates.gap2}
        new |= {name: old[name] + 1 for name in ("total", "steps", "since_start")}
        own = {"now": self._loop.step[:k], "kept": self._loop.step[k : 2 * k]}
        own |= {name: self._loop.step[2 * k + i] for i, name in enumerate(_LOOP[:4])}
        _set(new, homing, own)
        _set(new, newton, {"now": moved, "iterations": old["iterations"] + 1})
        _set(new, worse, {"t": 0.5 * old["t"], "now": old["kept"], "iterations": 0})
        tried: dict[str, Any] = {"frame": short_place(self._trial), "delta": solution.x, "error2": error2}
        tried |= {"quality": quality}
        again = {"t": 0, "iterations": 0, "homing": 0, "error2": 1e300}
        tried |= {"now": moved, "kept": moved, "t": 1, "iterations": 0, "homing": 0}
        _set(new, _either(arrived, better), tried)
        base = {"base_frame": short_place(self._trial), "base_places": moved}
        _set(new, begins, {**base, "at_guess": moved, "start": q, "side": side, "begun": 1})
        rest = {"part": old["part"] + after, "part_step": after, "base_part": old["part"]}
        _set(new, onward, {**base, **again, **rest})
        _set(new, answered, {"answered": 1})
        home = self._mechanism.home_places
        _set(new, found, {"homing": 1, "now": home, "kept": home, "t": 1, "t_kept": 0, "dt": 1, "total": 0})
        back = {"frame": old["base_frame"], "now": old["base_places"], "kept": old["base_places"]}
        still = ca.SX.zeros(old["delta"].numel())
        _set(new, failed, {**again, **back, "delta": still, "part": old["base_part"] + after, "part_step": after})
        over = _both(failed, _either(_either(after < _SMALLEST_STEP, late), _no(from_guess)))
        lost = _either(over, _both(adrift, _no(begun)))
        if not self._starts:
            return ca.vertcat(*new.values(), _either(answered, lost))
        # at a guess where legs do not close there is no side to look on
        anew = _both(_both(lost, _no(answered)), _both(old["number"] <= self._starts, _either(begun, _no(from_guess))))
        number = old["number"] + 1
        there = short_place(start_about(self._mechanism, long_place(self._guess), number, self._starts))
        kept = {"number": number, "steps": new["steps"], "side": side}
        _set(new, anew, {**self._begin(there), **kept})
        return ca.vertcat(*new.values(), _both(_either(answered, lost), _no(anew)))

    def _outputs(self) -> tuple[Port, ...]:
        """The pose after one more step, its largest error with the legs closed there, rounds and quality.

        The quality is 0 while the pose is not confirmed from home: rounds may be cut short.
        """
        old, x = self._old, self._x
        # in a singularity the last step would go anywhere
        regular = ca.fabs(old["quality"]) > SMALLEST_MARGIN
        ended_at = self._platform.displaced(long_place(old["frame"]), ca.if_else(regular, old["delta"], 0))
        end = frame_of(ended_at)
        last = pose_of(Frame(end.origin, orthonormalised(end.axes)))
        legs = self._at(ca.vertcat(last, ended_at[16:]), old["now"])
        residual = self._mechanism.joint_errors(
            legs, self._mechanism.coordinate_errors(x.q.symbols, self._mechanism.coordinates(legs))
        )
        if self._platform.is_constrained:
            gaps = self._mechanism.constraint_scale(self._mechanism.size) * self._mechanism.constraint_values(legs)
            residual = ca.vertcat(residual, gaps)
        worst, sharp = ca.SX(0), ca.SX(1)
        for number in ca.vertsplit(residual):
            worst = ca.fmax(worst, ca.fabs(number))
        every = [(leg.model.unknowns, leg.values) for leg in legs]
        own = [(unknowns, values) for unknowns, values in every if isinstance(values, ImplicitReplay)]
        for _, values in own:
            sharp = ca.fmin(sharp, values.factor.quality / _BLUNT)
        worst = worst * sharp
        for unknowns, values in own:
            assert unknowns is not None
            worst = ca.fmax(worst, ca.sqrt(unknowns.gap2(values.residual, self._mechanism.size)))
        quality = ca.if_else(old["quality"] < 0, 0, self._mechanism.quality(legs, old["quality"]))
        return (
            port("pose", last, (4, 4)),
            *((port("internal", ended_at[16:]),) if self._platform.internal else ()),
            port("residual", ca.if_else(old["begun"], worst, ca.SX.nan()), ()),
            port("steps", old["steps"], ()),
            port("quality", ca.if_else(old["answered"], quality, 0), ()),
        )


def _set(state: dict[str, ca.SX], event: ca.SX, values: Mapping[str, ca.SX | float]) -> None:
    """New values of some numbers of the state where an event has happened."""
    for name, value in values.items():
        state[name] = ca.if_else(event, value, state[name])


def _both(a: ca.SX, b: ca.SX) -> ca.SX:
    return ca.logic_and(a, b)


def _either(a: ca.SX, b: ca.SX) -> ca.SX:
    return ca.logic_or(a, b)


def _no(a: ca.SX) -> ca.SX:
    return ca.logic_not(a)
