"""Legs without a closed form, closed inside a function: Newton from home, by continuation where one step is too far.

The platform goes from home to its pose, first in one step, then in ever smaller ones if Newton's iteration does not
settle or leaves the drawn working mode (the sign of a leg's closing determinant changes). What a function returns is
computed after one more step of Newton, which makes the legs exact; where they did not close its quality is 0.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import casadi as ca

from ..platforms import PlatformState
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.implicit_function import Equations
from ..symbols.iterations import NEWTON_TOLERANCE, NewtonStep, continuation
from ..symbols.vectors import Frame, axial, cayley
from .leg import LegModel
from .leg_at_state import LegAtState
from .mechanism import Mechanism


def closed(
    mechanism: Mechanism, function: Expression | Iteration, place: tuple[Port, ...] = ()
) -> Expression | Iteration:
    """The same function with its legs closed first; the function itself if they are in closed form.

    ``place`` are the platform's pose, and internal coordinates, as expressions of the inputs, unless they are among
    them. Its sums may be added in any order.
    """
    return replace(_closed(mechanism, function, place), any_order=True)


def _closed(mechanism: Mechanism, function: Expression | Iteration, place: tuple[Port, ...]) -> Expression | Iteration:
    inputs = {p.name: p for p in (*function.inputs, *place)}
    if not mechanism.implicit_legs or "pose" not in inputs or _closes(mechanism, function):
        return function
    closing = LegClosing(mechanism, inputs)
    loop = continuation(mechanism.places, mechanism.home_places, closing.newton)
    if isinstance(function, Expression):
        return Iteration(
            function.name,
            function.inputs,
            function.outputs,
            loop.state,
            loop.start,
            loop.step,
            function.parameters,
            equations=partial(_equations, closing, loop.state, None),
            max_iterations=loop.max_iterations,
        )
    # first the legs, then the function's own iteration
    ready, done, inner = ca.SX.sym("closed"), ca.SX.sym("done"), function.state
    old, new, converged = loop.state[:-1], loop.step[:-1], loop.step[-1]
    first = ca.substitute(function.start, old, new)
    following = ca.if_else(ready, function.step, ca.if_else(converged, first, ca.vertcat(inner[:-1], 0)))
    step = ca.vertcat(
        ca.if_else(ready, old, new),
        ca.logic_or(ready, converged),
        following[:-1],
        ca.logic_and(ready, following[-1]),
    )
    start = ca.vertcat(loop.start[:-1], 0, ca.SX.zeros(inner.numel() - 1), 0)
    state = ca.vertcat(old, ready, inner[:-1], done)
    equations = None if function.equations is None else partial(_equations, closing, state, function)
    total = function.max_iterations and loop.max_iterations + function.max_iterations
    return replace(function, state=state, start=start, step=step, equations=equations, max_iterations=total)


def _equations(closing: LegClosing, state: ca.SX, function: Iteration | None) -> Equations:
    """What closes the legs, and what the ``function`` solves whose legs they are, if it iterates itself."""
    places = closing.places
    move, moved, residual = closing.moved(places)
    step = closing.newton(ca.SX(1), places)
    solved = step.solved
    rest = state[places.numel() :]
    if function is None:
        return Equations(move, ca.vertcat(moved, rest), residual, solved)
    assert function.equations is not None
    own = function.equations().substituted(places, moved)
    inner = function.state.numel() - 1
    after = ca.vertcat(moved, rest[: rest.numel() - inner - 1], own.moved[:-1], rest[-1])
    return Equations(
        ca.vertcat(move, own.move), after, ca.vertcat(residual, own.residual), ca.logic_and(solved, own.solved)
    )


def _closes(mechanism: Mechanism, function: Expression | Iteration) -> bool:
    """Whether a function's own iteration finds where the legs' unknowns are."""
    return isinstance(function, Iteration) and bool(ca.depends_on(function.state, mechanism.places))


def closed_places(mechanism: Mechanism) -> Expression | Iteration:
    """Where the unknowns of all legs that need closing are, to rounding, at a pose (and elastic coordinates)."""
    x = mechanism.inputs()
    _, legs = mechanism.resting(x)
    places = port("places", ca.vertcat(*[legs[number].place for number in mechanism.implicit_legs]))
    inputs = tuple(p for p in x.state if p.name in ("pose", "elastic", "internal"))
    return closed(mechanism, Expression("places", inputs, (places,), mechanism.port))


class LegClosing:
    """Steps of Newton for all legs that need them, on the way of the platform from home to a pose.

    ``inputs`` has the pose, and the elastic coordinates of a flexible platform or the internal ones.
    """

    def __init__(self, mechanism: Mechanism, inputs: dict[str, Port]) -> None:
        self._mechanism, self._inputs = mechanism, inputs
        self._drawn = self._step(ca.SX(0), mechanism.home_places)[2]

    def newton(self, t: ca.SX, places: ca.SX) -> NewtonStep:
        """A step at a part t of the way."""
        return self._judged(*self._step(t, places))

    def step_of(self, legs: list[LegAtState]) -> NewtonStep:
        """The step that takes legs from where they start to their places."""
        own = [leg for leg in legs if leg.model.unknowns is not None]
        gap2, step2 = ca.SX(0), ca.SX(0)
        for leg in own:
            gap2 = ca.fmax(gap2, leg.model.gap2(leg.start_residual))
            step2 = ca.fmax(step2, leg.start_step2)
        determinants = [d for leg in own for d in leg.start_determinants]
        return self._judged(ca.vertcat(*[leg.place for leg in own]), gap2, determinants, step2)

    def _judged(self, moved: ca.SX, gap2: ca.SX, determinants: list[ca.SX], step2: ca.SX) -> NewtonStep:
        same = ca.SX(1)
        for now, then in zip(determinants, self._drawn, strict=True):
            same = ca.logic_and(same, now * then > 0)
        tolerance, exact = self._mechanism.tolerance(NEWTON_TOLERANCE), not self._mechanism.single
        return NewtonStep(moved, gap2, same, tolerance, step2, exact)

    @property
    def places(self) -> ca.SX:
        """Symbols of where the unknowns are."""
        return self._mechanism.places

    def moved(self, places: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Symbols of moves of all unknowns from ``places``, the places they lead to, and what must vanish there."""
        x = self._mechanism.inputs()
        for name in ("pose", "elastic", "internal"):
            setattr(x, name, self._inputs.get(name, getattr(x, name)))
        return moved_places(self._mechanism, self._mechanism.platform.rest(x), places)

    def _step(self, t: ca.SX, places: ca.SX) -> tuple[ca.SX, ca.SX, list[ca.SX], ca.SX]:
        x = self._mechanism.inputs()
        x.at_place(self.place(t))
        x.on_the_way(t)
        x.elastic = self._inputs.get("elastic", x.elastic)
        platform = self._mechanism.platform.rest(x)
        moved, gap2, determinants, step2, at = [], ca.SX(0), [], ca.SX(0), 0
        for number in self._mechanism.implicit_legs:
            leg = self._mechanism.legs[number]
            assert leg.unknowns is not None
            count = leg.unknowns.place.numel()
            tip = platform.tip(number, leg.arm)
            here = ca.vertcat(tip.here, places[at : at + count])
            after, residual, own_step2, *own = _at(leg, here)
            moved.append(after)
            gap2, step2 = ca.fmax(gap2, leg.gap2(residual)), ca.fmax(step2, own_step2)
            determinants += own
            at += count
        return ca.vertcat(*moved), gap2, determinants, step2

    def place(self, t: ca.SX) -> ca.SX:
        """Pose and internal coordinates (16 + k): home for t = 0, those of the inputs for t = 1.

        In between straight, and by Cayley's map.
        """
        home, given = self._mechanism.home, frame_of(self._inputs["pose"].symbols)
        relative = given.axes @ home.axes.T
        # tan(angle/2) along the axis; half a turn from home has none
        half = axial(relative) / (1 + ca.trace(relative))
        pose = pose_of(Frame(home.origin + t * (given.origin - home.origin), cayley(t * half) @ home.axes))
        return ca.vertcat(pose, t * self._inputs["internal"].symbols) if "internal" in self._inputs else pose


def moved_places(mechanism: Mechanism, platform: PlatformState, places: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Symbols of moves of the legs' unknowns from ``places``, the places they lead to, and the legs' gaps there."""
    moves, moved, residuals, at = [], [], [], 0
    for number in mechanism.implicit_legs:
        leg = mechanism.legs[number]
        u = leg.unknowns
        assert u is not None
        tip, count = platform.tip(number, leg.arm), u.place.numel()
        move = ca.SX.sym("move", u.move.numel())
        old = ca.vertcat(leg.all_inputs, u.place, u.move)
        new = ca.densify(ca.vertcat(tip.here, places[at : at + count], move))
        after, residual = ca.substitute([u.moved, u.equations], [old], [new])
        moves.append(move)
        moved.append(after)
        residuals.append(residual)
        at += count
    return tuple(ca.vertcat(*parts, ca.SX(0, 1)) for parts in (moves, moved, residuals))  # type: ignore[return-value]


def _at(leg: LegModel, here: ca.SX) -> list[ca.SX]:
    """Place after a step of Newton; residual before it, its squared size, determinants, at inputs and a place."""
    assert leg.unknowns is not None
    moved, residual, factor, step2 = leg.newton_step
    symbols = ca.vertcat(leg.all_inputs, leg.unknowns.place)
    return list(ca.substitute([moved, residual, step2, *factor.determinants], [symbols], [ca.densify(here)]))
