"""Robots whose legs or platforms follow from equations, in symbols: E(x, y) = 0 with y that follows from coordinates x.

y are the platform's displacements w that its legs leave it no choice of, and the unknowns of legs without a closed
form, both zero at home. E are the constraints of the legs and the equations that close them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...fingerprint import fingerprint
from ...kernels import Expression, Kernel, Port, port
from ...legs import Unknowns
from ...mechanism import LegAtState, LegModel, Mechanism
from ...model import Model
from ...platforms import ConstrainedState
from ...platforms.contract import tip_map
from ...symbols.graph import Graph
from .affine import Affine, evaluate_affine
from .displaced import about, displaced, followed, with_twists
from .telescopic_legs import Chart

_SOURCES = tuple(f"analysis/certified/{name}.py" for name in ("equations", "displaced", "affine", "intervals"))


class Followed(NamedTuple):
    """What a pose has in symbols of x and y: ``equations`` E, actuated ``coordinates`` q, limited ``values``, and
    ``margins`` of the legs' own conditions."""

    equations: ca.SX
    coordinates: ca.SX
    values: ca.SX
    margins: ca.SX


def unknown_count(mechanism: Mechanism) -> int:
    """Number k of what follows: w, then the unknowns of the legs."""
    return _displacements(mechanism) + sum(u.move.numel() for u in _unknowns(mechanism))


def turning_rows(mechanism: Mechanism) -> Array | None:
    """Sizes (3, 6) of what x and w add to the rotation vector from home; None where poses do not follow."""
    if not mechanism.platform.is_constrained:
        return None
    state = mechanism.platform.rest(mechanism.inputs())
    assert isinstance(state, ConstrainedState)
    return np.abs(np.hstack([np.array(ca.DM(part)) for part in (state.chosen, state.others)])[3:])


def derivatives_kernel(model: Model, chart: Chart) -> Kernel:
    """(x, y, pose if ``about``, home and pivot, numbers) -> E (k), its derivatives by x (k, m) and by y (k, k)."""
    return _shared(model, chart, "derivatives", _derivatives)


def bounds_kernel(model: Model, chart: Chart) -> Kernel:
    """(x, h, y, S h, reach, pose if ``about``, home and pivot, numbers) -> first-order models over boxes x + h t.

    With y + S h t and, but for the first, +- ``reach``: E; then limited values, margins of the legs' conditions, and
    the derivatives of E and q by [x, y]. Of each the middle, the derivatives by t (m) and the rest.
    """
    return _shared(model, chart, "bounds", _bounds)


def _displacements(mechanism: Mechanism) -> int:
    return 6 - mechanism.platform.count if mechanism.platform.is_constrained else 0


def _unknowns(mechanism: Mechanism) -> list[Unknowns]:
    return [u for leg in mechanism.placed if (u := leg.placement.unknowns) is not None]


class Symbols(NamedTuple):
    x: ca.SX
    y: ca.SX
    pose: ca.SX
    fixed: ca.SX
    numbers: ca.SX
    found: Followed
    derivatives: ca.SX


def symbols_of(mechanism: Mechanism, chart: Chart) -> Symbols:
    """Symbols of x and y, what is found there, and the derivatives of E and q by [x, y]."""
    m = 6 if mechanism.platform.full else len(mechanism.robot.dof)
    x, y = ca.SX.sym("x", m), ca.SX.sym("y", unknown_count(mechanism))
    pose, fixed = ca.SX.sym("pose", 16), ca.SX.sym("fixed", 19)
    first = _displacements(mechanism)
    if chart == "about":
        moved, twists = with_twists(about(x, pose), x)
    elif first:
        moved, twists = followed(mechanism, x, y[:first], fixed)
    else:
        moved, twists = with_twists(displaced(mechanism, x, fixed), x)
    inputs = mechanism.inputs()
    inputs.pose = port("pose", moved, (4, 4))
    legs = mechanism.resting(inputs)[1]
    found, derivatives = _found(mechanism, legs, y[first:], twists)
    return Symbols(x, y, pose, fixed, mechanism.numbers.symbols, found, derivatives)


class LegEquations(NamedTuple):
    """What a leg states of its ``tip`` and of displacements ``z`` of its unknowns, none of legs in closed form.

    ``parts`` are the equations that close it, actuated coordinates, limited values, margins of its own conditions, and
    constraints on the platform.
    """

    tip: ca.SX
    z: ca.SX
    parts: list[ca.SX]

    def at(self, leg: LegAtState, z: ca.SX, what: list[ca.SX]) -> list[ca.SX]:
        """Expressions of tip and z at the tip of a leg and other symbols z."""
        here = leg.tip.here
        column = ca.vertcat(*[z[k] for k in range(z.numel())], ca.SX(0, 1))  # a slice of no symbols is a row
        return list(ca.substitute(what, [self.tip, self.z], [here, column]))


def leg_equations(leg: LegModel, start: ca.SX | None = None) -> LegEquations:
    """A leg with its unknowns, if it has any, displaced by z from ``start``, home if not given."""
    placement, u = leg.placement, leg.unknowns
    parts = [
        ca.SX(0, 1) if u is None else u.equations,
        *(
            ca.vertcat(*of, ca.SX(0, 1))
            for of in (
                [a.coordinate for a in placement.actuators],
                [limit.value for limit in placement.limits],
                [c.margin for c in placement.conditions if c.in_quality],
                [c.value for c in placement.constraints],
            )
        ),
    ]
    z = ca.SX.sym("z", 0 if u is None else u.move.numel())
    if u is not None:
        place = ca.substitute(u.moved, ca.vertcat(u.place, u.move), ca.vertcat(u.home if start is None else start, z))
        parts = ca.substitute(parts, [u.place, u.move], [place, ca.SX.zeros(z.numel())])
    return LegEquations(leg.all_inputs, z, parts)


def _found(mechanism: Mechanism, legs: list[LegAtState], moves: ca.SX, twists: ca.SX) -> tuple[Followed, ca.SX]:
    """Everything at the legs' tips, with legs' unknowns displaced from home; the derivatives of E and q by [x, y].

    Derivatives go from the tip by the twist to the coordinates, so that those of rotations are written once.
    """
    parts: list[list[ca.SX]] = [[] for _ in range(5)]
    derivatives: list[list[ca.SX]] = [[] for _ in range(5)]
    at = 0
    for leg in legs:
        own = leg_equations(leg.model)
        count = own.z.numel()
        by_tip, by_z = ([ca.jacobian(part, of) for part in own.parts] for of in (own.tip, own.z))
        found = own.at(leg, moves[at : at + count], [*own.parts, *by_tip, *by_z])
        ways = tip_map(leg.tip) @ twists
        for k in range(5):
            across = ca.SX(found[k].numel(), moves.numel())
            across[:, at : at + count] = found[10 + k]
            parts[k].append(found[k])
            derivatives[k].append(ca.horzcat(found[5 + k] @ ways, across))
        at += count
    equations, leaning = parts[0], derivatives[0]
    if mechanism.platform.is_constrained:
        assert mechanism.mobility is not None
        used = mechanism.mobility.used
        equations = [*(parts[4][leg][k] for leg, k in used), *equations]
        leaning = [*(derivatives[4][leg][k, :] for leg, k in used), *leaning]
    followed = Followed(
        *(ca.vertcat(*part, ca.SX(0, 1)) for part in (equations, parts[1], parts[2], [ca.SX(1), *parts[3]]))
    )
    return followed, ca.vertcat(*leaning, *derivatives[1])


def _ports(s: Symbols, chart: Chart, first: tuple[tuple[str, ca.SX], ...]) -> tuple[Port, ...]:
    named = [*first, *([("pose", s.pose)] if chart == "about" else []), ("fixed", s.fixed), ("numbers", s.numbers)]
    return tuple(Port(name, of, (4, 4) if name == "pose" else (of.numel(),)) for name, of in named)


def _derivatives(mechanism: Mechanism, chart: Chart) -> Expression:
    s = symbols_of(mechanism, chart)
    k, m = s.y.numel(), s.x.numel()
    outputs = (
        port("equations", s.found.equations),
        port("by_x", ca.densify(s.derivatives[:k, :m]), (k, m)),
        port("by_y", ca.densify(s.derivatives[:k, m:]), (k, k)),
    )
    return Expression(f"followed_{chart}", _ports(s, chart, (("x", s.x), ("y", s.y))), outputs)


def _bounds(mechanism: Mechanism, chart: Chart) -> Expression:
    s = symbols_of(mechanism, chart)
    m, k = s.x.numel(), s.y.numel()
    over = ca.vertcat(s.found.values, s.found.margins, ca.vec(s.derivatives.T))
    parts = ca.cse([ca.densify(part) for part in (s.found.equations, over)])
    every = ca.vertcat(s.x, s.y)
    graph = Graph.of(ca.Function("followed", [every, s.pose, s.fixed, s.numbers], parts))
    half, swing, reach = ca.SX.sym("half", m), ca.SX.sym("swing", k, m), ca.SX.sym("reach", k)
    none = (ca.SX(0),) * m
    own = [Affine.exact(s.x[i], tuple(half[i] if i == j else ca.SX(0) for j in range(m))) for i in range(m)]
    line = [Affine.exact(s.y[i], tuple(swing[i, j] for j in range(m))) for i in range(k)]
    wide = [Affine.exact(s.y[i], tuple(swing[i, j] for j in range(m)), reach[i]) for i in range(k)]
    rest = [[Affine.exact(of[i], none) for i in range(of.numel())] for of in (s.pose, s.fixed, s.numbers)]
    (equations,) = evaluate_affine(graph.only([0]), [[*own, *line], *rest])
    (found,) = evaluate_affine(graph.only([1]), [[*own, *wide], *rest])
    models = [*equations, *found]
    derivatives = ca.SX(ca.vertcat(*[ca.horzcat(*model.derivatives) for model in models]))
    outputs = (
        port("middle", ca.vertcat(*[model.middle for model in models])),
        port("derivatives", ca.densify(derivatives), (len(models), m)),
        port("rest", ca.vertcat(*[model.remainder for model in models])),
    )
    first = (("x", s.x), ("half", half), ("y", s.y), ("swing", ca.vec(swing.T)), ("reach", reach))
    return Expression(f"followed_bounds_{chart}", _ports(s, chart, first), outputs)


def _shared(model: Model, chart: Chart, name: str, build: Callable[[Mechanism, Chart], Expression]) -> Kernel:
    kernels = model.kernels
    cache_key = kernels.cache_key(f"{name} of what follows {chart} {fingerprint(*_SOURCES).hex()} {model.robot.dof!r}")
    return kernels.shared(partial(build, kernels.mechanism, chart), cache_key)
