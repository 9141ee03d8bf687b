"""Kim and Ryu: how much link inertia and joint friction matter in a HexaSlide manipulator.

A function of a claim's or an erratum's name in ``paper.yaml`` gives its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...arrays import Array
from ...formulations import FORMULATIONS
from ...model import Model
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import Platform, cross, dot, norm, norm_ratio, outer, peak, peak_ratio, skew
from ..shared.contract import Values, read_study
from ..shared.panels import all_legs
from . import cases
from . import printed as eq
from .cases import ANGLES, AXES, SPEEDS, exact, general_state, motion, paper, parameters, share
from .printed import KINDS, angular_acceleration, euler_accelerations, euler_rates, link_inertia_force, rotation

# ----------------------------------------------------------------------------------------------------------------------
# Figs. 7-11 again.


def slender_link(rpm: int) -> Figure:
    """Actuator forces by the exact model and what the slender link leaves out."""
    what = f"circle at {rpm} rpm" if rpm else "motion (33)"
    micro = 1e6 * (paper(rpm) - exact(rpm))
    milli = 1e3 * (paper(rpm, "rail") - exact(rpm, "rail"))
    blocks = (
        (exact(rpm), "force [N]", "(a) exact model (the slender-link model's curves lie on these)"),
        (micro, "difference [µN]", "(b) slender link, (21)-(29) corrected, less exact; alpha horizontal"),
        (milli, "difference [mN]", "(c) the same with alpha along the rail"),
    )
    return all_legs(motion(rpm).time, blocks, f"Actuator forces, {what}, no friction")


def link_inertia(rpm: int) -> Figure:
    """Total actuator forces and the share of link inertia."""
    blocks = (
        (exact(rpm), "force [N]", "(a) total"),
        (cases.link_inertia(rpm), "force [N]", "(b) link inertia"),
    )
    return all_legs(motion(rpm).time, blocks, f"Actuator forces, circle at {rpm} rpm, no friction")


def friction() -> Figure:
    """What friction in each kind of joint adds."""
    heads = {"slider": "(a) sliders", "universal": "(b) universal joints", "spherical": "(c) spherical joints"}
    blocks = tuple((cases.friction_force(20, kind), "force [N]", heads[kind]) for kind in KINDS)
    return all_legs(motion(20).time, blocks, "Additional actuator forces due to friction, circle at 20 rpm")


# ----------------------------------------------------------------------------------------------------------------------
# Errata.


def euler_angles() -> Values:
    right = rotation(ANGLES)
    return {"error": 100 * norm_ratio(rotation(ANGLES, printed=True) - right, right)}


def second_derivatives() -> Values:
    state, angles = general_state(), np.array([-0.12, 0.05, -0.1])
    rates = euler_rates(angles, state.twist[0, 3:])
    accelerations = euler_accelerations(angles, rates, state.acceleration[0, 3:])
    right, printed = (angular_acceleration(angles, rates, accelerations, printed=p) for p in (False, True))
    return {"error": 100 * norm_ratio(printed - right, right)}


def slider_acceleration() -> Values:
    printed, right = _both(lambda s: eq.legs(parameters(), Platform.of(motion(20)), printed=s).acceleration, "(10)")
    return {"error": 100 * peak_ratio(printed - right, right)}


def second_derivative_of_k() -> Values:
    at = Platform.of(general_state())
    printed, right = _both(lambda s: eq.legs(parameters(), at, printed=s).acceleration, "(10) kddot")
    return {"error": peak_ratio(printed - right, right)}


def sign_of_friction() -> Values:
    printed, right = _both(partial(_explicit, parameters().only("universal"), 20), "(23)")
    return {"change": peak_ratio(printed - right, right - paper(20))}


def moment_of_the_universal_joint() -> Values:
    found = {}
    for axes in AXES:
        k = cases.legs(20, axes)
        off = np.degrees(np.arccos(np.clip(np.abs(dot(k.c, k.n)), 0.0, 1.0)))
        along, square = (eq.forces(parameters(axes), motion(20), spin=True, moment=m).tau for m in ("n", "c"))
        found[f"alpha {axes}: largest angle between alpha x beta and n"] = float(off.max())
        found[f"alpha {axes}: largest change of an actuator force"] = peak(along - square)
    return found


def platform_acceleration() -> Values:
    printed, right = _both(lambda s: _general_forces(s).tau, "(25)")
    return {"change": peak(printed - right)}


def spherical_reaction() -> Values:
    printed, right = _both(lambda s: _general_forces(s).F_B, "(27)")
    return {"error": 100 * peak_ratio(norm(printed - right), norm(right))}


def universal_reaction() -> Values:
    k = eq.legs(parameters().only(), Platform.of(general_state()))
    error = _doubled(k, k.acceleration * parameters().a) - _doubled(k, k.nddot) / 2
    return {"error": 100 * peak_ratio(norm(error), norm(_general_forces().F_A))}


def actuator_force() -> Values:
    k, a = eq.legs(parameters().only(), Platform.of(general_state())), parameters().a
    error = dot(a, _doubled(k, k.acceleration * a) - _doubled(k, k.nddot)) / 2
    return {"error": 100 * peak_ratio(error, _general_forces().tau)}


def slider_friction() -> Values:
    found = {}
    for rpm in (20, 60):
        printed, right = _both(partial(_explicit, parameters(), rpm), "(30)")
        found[f"{rpm} rpm"] = peak(printed - right)
    return found


def link_inertia_share() -> Values:
    p, at, k = parameters(), Platform.of(motion(60)), cases.legs(60)
    right, printed = link_inertia_force(p, at, k), link_inertia_force(p, at, k, printed=True)
    difference = exact(60, name="slender") - exact(60, name="no link inertia")
    return {
        "printed": 100 * peak_ratio(printed - right, right),
        "corrected": peak_ratio(right - difference, difference),
    }


def direction_of_friction() -> Values:
    printed, right = _both(partial(_explicit, parameters().only("universal"), 20), "appendix")
    return {"change": peak_ratio(printed - right, right - paper(20))}


def notation() -> Values:
    k = cases.legs(40)
    tilde = skew(k.n)
    return {
        "1 + n~ n~ - n n^T": peak(np.eye(3) + tilde @ tilde - outer(k.n, k.n)),
        "largest |ndot x n|": peak(norm(cross(k.ndot, k.n))),
    }


def _both(function: Callable[[frozenset[str]], Array], slip: str) -> tuple[Array, Array]:
    """A function of the slips taken as printed: with one, and with none."""
    return function(frozenset({slip})), function(eq.NOTHING)


def _explicit(p: eq.Parameters, rpm: int, printed: frozenset[str]) -> Array:
    """Actuator forces on the circle with explicit friction."""
    return eq.forces(p, motion(rpm), explicit=True, printed=printed).tau


def _general_forces(printed: frozenset[str] = eq.NOTHING) -> eq.Forces:
    return eq.forces(parameters().only(), general_state(), printed=printed)


def _doubled(k: eq.Legs, a: Array) -> Array:
    """(l/2) m_l (1 + n n^T) a."""
    result: Array = 0.5 * parameters().ell * parameters().m_l * (a + dot(k.n, a) * k.n)
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Claims.


def slender_link_on_the_circle(rpm: int = 40) -> Values:
    off = {axes: peak(paper(rpm, axes) - exact(rpm, axes)) for axes in AXES}
    over = {f"alpha {axes}, over the largest force": off[axes] / peak(exact(rpm, axes)) for axes in AXES}
    parts = {"alpha horizontal": off["horizontal"], "alpha along the rail": off["rail"]}
    return {**over, **parts, "largest force": peak(exact(rpm))}


def slender_link_on_the_acceleration() -> Values:
    return slender_link_on_the_circle(0)


def what_the_slender_link_is() -> Values:
    pairs = [(rpm, axes) for rpm in (*SPEEDS, 0) for axes in AXES]
    worst = max(peak_ratio(paper(rpm, axes) - exact(rpm, axes, "slender"), exact(rpm)) for rpm, axes in pairs)
    return {"largest difference over the largest force": worst}


def link_inertia_grows_with_speed() -> Values:
    shares = {rpm: share(cases.link_inertia(rpm), rpm) for rpm in SPEEDS}
    more = {f"{a} rpm over {b} rpm": shares[a] / shares[b] for a, b in ((40, 20), (60, 40))}
    return more | {f"{rpm} rpm": value for rpm, value in shares.items()}


def cost_of_link_inertia() -> Values:
    complete, without = (
        Model(cases.robot("horizontal", "all"), **cases.MODELS[name], specialise=True)  # type: ignore[arg-type]
        .kernel("inverse_dynamics", False, "newton-euler")
        .operations
        for name in ("exact", "no link inertia")
    )
    return {"ratio": complete / without, "complete": complete, "without": without}


def friction_by_joint() -> Values:
    shares = {kind: share(cases.friction_force(20, kind), 20) for kind in KINDS}
    over = {f"{kind} joints over sliders": shares[kind] / shares["slider"] for kind in ("universal", "spherical")}
    return over | {f"{kind} joints": value for kind, value in shares.items()}


def explicit_friction() -> Values:
    off = {rpm: peak(exact(rpm, friction=True) - exact(rpm, name="explicit", friction=True)) for rpm in SPEEDS}
    worst = max(value / peak(exact(rpm, friction=True)) for rpm, value in off.items())
    return {"largest difference over the largest force": worst} | {f"{rpm} rpm": value for rpm, value in off.items()}


def where_the_motions_are() -> Values:
    found: Values = {}
    for name, rpm in (("circle", 40), ("(33)", 0)):
        place = cases.legs(rpm).place
        found |= {f"{name}: smallest lambda": float(place.min()), f"{name}: largest lambda": float(place.max())}
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Tables, and the whole.


def shares_by_speed() -> Table:
    """Link inertia and friction at every speed."""
    columns = [("part", ""), *((f"{rpm} rpm", "%") for rpm in SPEEDS)]
    rows = [("link inertia", *(share(cases.link_inertia(rpm), rpm) for rpm in SPEEDS))]
    rows += [
        (f"friction, {kind} joints", *(share(cases.friction_force(rpm, kind), rpm) for rpm in SPEEDS)) for kind in KINDS
    ]
    return table("Largest part of an actuator force over the largest frictionless force", columns, rows)


def operations_of_link_inertia() -> Table:
    """What link inertia costs on Kim and Ryu's robot."""
    rows = []
    for name in FORMULATIONS:
        full, weight, none = (cost.operations("kim-ryu", name, s) for s in (None, *cost.LINKS["kim-ryu"]))
        rows.append((name, full, weight, none, full / weight, full / none))
    heads = ("formulation", "complete", "no link inertia", "massless links", "complete / first", "complete / second")
    title = "kim-ryu: operations with and without link inertia; the paper's ratio of times is 1.95"
    return table(title, [(head, "") for head in heads], rows)


STUDY = read_study(
    __package__,
    globals(),
    tables=(shares_by_speed, operations_of_link_inertia),
    figures={
        "fig-07": partial(slender_link, 40),
        "fig-08": partial(slender_link, 0),
        "fig-09": partial(link_inertia, 20),
        "fig-10": partial(link_inertia, 60),
        "fig-11": friction,
    },
)
