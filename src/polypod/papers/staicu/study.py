"""Staicu, Li, Liu, Wang and Wang: recursive matrix relations for a manipulator of three degrees of freedom.

A function of a claim's or an erratum's name in ``paper.yaml`` gives its numbers.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...formulations import FORMULATIONS
from ...results.figures.style import COLOURS, DASHES, INK, TIME, dress, figure, legend
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import norm, peak, peak_ratio
from ..shared.contract import Values, read_study
from . import cases
from . import printed as eq
from .cases import exact, model, parameters

# ----------------------------------------------------------------------------------------------------------------------
# Figs. 3-5 again.

SLIPS = ("(13) line 1", "(13) line 3")


def force(leg: int) -> Figure:
    """Force of one actuator: exact, and by the equations with (13) as printed."""
    name = "ABC"[leg]
    curves = {
        "exact; equations corrected": exact()[:, leg],
        "(13) as printed": eq.forces(parameters(), cases.path(), frozenset(SLIPS))[:, leg],
    }
    drawn = figure(7.2, 3.4)
    axes = drawn.subplots()
    for number, (label, values) in enumerate(curves.items()):
        style = {"color": COLOURS[number], "linestyle": DASHES[number], "linewidth": 1.6}
        axes.plot(cases.times(), values, label=label, **style)
    axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(axes, TIME, "force [N]", f"Force of actuator {name} on one second of (5)")
    legend(drawn, axes)
    return drawn


# ----------------------------------------------------------------------------------------------------------------------
# Errata.


def base_triangle() -> Values:
    A, B, C = (np.array(leg.rail_start) for leg in model().robot.legs)  # type: ignore[attr-defined]
    R = parameters().R
    area = 0.5 * np.sqrt(max(0.0, R**2 - float(np.linalg.norm(A - B) / 2) ** 2)) * 2 * R
    return {
        "A2C2": float(np.linalg.norm(A - C)),
        "B2C2": float(np.linalg.norm(B - C)),
        "area as printed": area,
    }


def closure() -> Values:
    p, x = parameters(), cases.path().x
    right, printed = (eq.closure(p, x, s) for s in (eq.NOTHING, frozenset({"(6) C"})))
    gap = norm(printed[2])
    return {
        "smallest": float(gap.min()),
        "largest": float(gap.max()),
        "corrected, all legs": max(peak(leg) for leg in right),
    }


def _slip(name: str) -> Values:
    """Largest force error on (5) with one line as printed [N]."""
    return {"error": cases.error(name)}


ALONE = {
    f"equation_{name.translate(str.maketrans(' ,', '__', '()'))}": partial(_slip, name)
    for name in (
        *SLIPS, "(14) arm", "(14) length", "(15) A,B", "(15) 32", "(15) 54", "(15) 21 32", "(15) 21 54", "(18)"
    )
}  # fmt: skip
"""Errata that a single line of the recursions is."""


# ----------------------------------------------------------------------------------------------------------------------
# Claims.


def corrected_recursions() -> Values:
    right = eq.forces(parameters(), cases.path())
    return {f"less {name}": peak_ratio(exact(name) - right, right) for name in FORMULATIONS}


def forces_of_the_figures() -> Values:
    zero = np.zeros(3)
    home = model().inverse_dynamics(*model().motion(zero, zero, zero))
    parts = {"at rest at home": home, "at t = 0 of (5)": exact()[0], "largest on (5)": np.abs(exact()).max(axis=0)}
    return {f"{name}, {leg}": float(f) for name, part in parts.items() for leg, f in zip("ABC", part, strict=True)}


def start_and_end() -> Values:
    lift = model().inverse_kinematics(cases.motion().pose)
    return {
        "|lambda| at t = 0 s": peak(lift[0]),
        "|lambda| at t = 1 s": peak(lift[-1]),
        "thetadot at t = 0": float(cases.path().xdot[0, 2]),
    }


def virtual_power() -> Values:
    pose, twist, _ = cases.motion()
    kinetic, potential, _ = model().energy(pose[[0, -1]], twist[[0, -1]])
    gained = float(np.diff(kinetic + potential)[0])
    work = cases.work()
    return {"work less energy gained": abs(work / gained - 1), "work of the actuators over (5)": work}


def symmetry() -> Values:
    mirror = np.array([-1.0, 1.0, 1.0])
    turned = model().inverse_dynamics(*model().motion(*(mirror * part for part in cases.path())))
    return {"y -> -y swaps A and B: difference": peak_ratio(turned[:, [1, 0, 2]] - exact(), turned)}


def dof() -> Values:
    wrenches = dict(zip(("f_x", "f_y", "f_z", "m_x", "m_y", "m_z"), np.eye(6), strict=True))
    forces = {name: model().inverse_dynamics(*cases.motion(), wrench) for name, wrench in wrenches.items()}
    return {f"unit {name} on the platform": peak(force - exact()) for name, force in forces.items()}


def efficiency() -> Values:
    counts = {name: cost.operations("staicu", name) for name in FORMULATIONS}
    own = counts["recursive-matrix"]
    six = cost.operations("lopes", "newton-euler") / cost.operations("lopes", "recursive-matrix")
    return {
        "Newton-Euler over recursive": counts["newton-euler"] / own,
        "Lagrange over recursive": counts["lagrange"] / own,
        "Newton-Euler over recursive on lopes": six,
        "virtual power, derived, over recursive": counts["virtual-power"] / own,
        "time for a state, slowest formulation": max(cost.duration("staicu", name) for name in FORMULATIONS),
    }


def all_reactions() -> Values:
    found = cases.reactions()
    joints = [(leg, joint) for leg, joints in found.legs.items() for joint in joints.values()]
    bodies = {(leg, joint.child) for leg, joint in joints if joint.child != "platform"} | {("", "platform")}
    held = sum(6 - {"universal": 2, "spherical": 3}.get(joint.kind, 1) for _, joint in joints)
    return {
        "left open": len(found.indeterminate),
        "mobility by Gruebler, 10 moving bodies": 6.0 * len(bodies) - held,
        "numbers of 13 joints": 6 * len(joints),
        "of these in the parallelogram's hinges": sum("hinge of bar" in joint for _, joint, _ in found.indeterminate),
        "forces less virtual power": peak_ratio(found.force - exact(), found.force),
    }


def tensor_of_the_links() -> Values:
    p = parameters()
    across, bar = float(p.J2[1, 1]), p.m2 * p.L**2
    return {
        "over m L^2/3, a thin bar about its end": across / (bar / 3),
        "over m L^2/12, about its centre": across / (bar / 12),
    }


def tensor_of_the_platform() -> Values:
    readings = {
        "about C5, centre of mass at the triangle's centroid": ((-1 / 30, 0.0, 0.0), "C5", "T5"),
        "about P, the centre of mass, axes of T5": ((0.0, 0.0, 0.0), "com", "T5"),
        "about P, the centre of mass, axes of the platform": ((0.0, 0.0, 0.0), "com", "body"),
    }
    return {f"{name}: largest change": peak(cases.other_platform(*r) - exact()) for name, r in readings.items()}


# ----------------------------------------------------------------------------------------------------------------------
# Tables, and the whole.


def open_reactions() -> Table:
    """Joints and what of their reactions statics leaves open."""
    found = cases.reactions()
    rows = []
    for leg, joints in found.legs.items():
        for joint, reaction in joints.items():
            lost = [number for at, name, number in found.indeterminate if (at, name) == (leg, joint)]
            rows.append((leg, joint, reaction.kind, ", ".join(lost) or "none"))
    columns = [("leg", ""), ("joint", ""), ("kind", ""), ("open (base axes)", "")]
    return table("Joint reactions on (5) that inner stresses leave open", columns, rows)


STUDY = read_study(
    __package__,
    globals() | ALONE,
    tables=(open_reactions,),
    figures={f"fig-0{3 + leg}": partial(force, leg) for leg in range(3)},
)
