"""Each leg kind as a chain of Pinocchio joints from the base, closed on the platform.

A chain also guesses its joint coordinates for a platform joint's place; Newton's method on the loops corrects the
guess, so it only has to be on the right branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from bench.peers.pinocchio.closures import Closure, hinge, spherical, universal
from bench.peers.pinocchio.tree import Array, Tree, axial_inertia, inertia, placement, triad


@dataclass
class Chain:
    """Joints of one leg: which is driven, how it closes, and joint coordinates for a platform joint at a point."""

    actuated: int
    joints: tuple[int, ...]
    closures: list[Closure]
    guess: Callable[[Array], list[float]]


def ups(tree: Tree, leg: Any) -> Chain:
    """Revolute about u (x), revolute about v (y), prismatic along n (x)."""
    start = placement(triad(leg.axis, 0), leg.base)
    cross = tree.add(0, "revolute x", start, f"{leg.name} u", axial_inertia(leg.cross_inertia))
    lower = tree.add(cross, "revolute y", placement(), f"{leg.name} v", inertia(leg.lower))
    upper = tree.add(lower, "prismatic x", placement(), f"{leg.name} n", inertia(leg.upper), leg.rotor_mass)

    def guess(tip: Array) -> list[float]:
        # n = Rx(a) Ry(b) e_x = (cos b, sin a sin b, -cos a sin b); v = u x n has the sign of sin b > 0.
        x, y, z = start.actInv(tip)
        return [np.arctan2(y, -z), np.arctan2(np.hypot(y, z), x), float(np.linalg.norm([x, y, z]))]

    return Chain(upper, (cross, lower, upper), spherical(tree, upper, np.zeros(3), 1, leg.platform), guess)


def _slider(tree: Tree, leg: Any) -> tuple[int, pin.SE3, Callable[[Array], tuple[float, Array]]]:
    """The slider's joint, the base axes seen in it, and (q, n) for a tip."""
    start = placement(triad(leg.rail_direction, 0), leg.rail_start)
    base_axes = placement(start.rotation.T)
    joint = tree.add(0, "prismatic x", start, f"{leg.name} rail", base_axes.act(inertia(leg.slider)))
    rail = np.array(leg.rail_direction)

    def reach(tip: Array) -> tuple[float, Array]:
        # |d - q a|^2 = L^2 as a quadratic in q
        d = tip - np.array(leg.rail_start)
        roots = np.roots([1.0, -2.0 * (rail @ d), d @ d - leg.length**2])
        if np.iscomplexobj(roots) and np.abs(roots.imag).max() > 0.0:
            return float("nan"), np.full(3, np.nan)
        q = float(min(roots.real) if leg.root == "lower" else max(roots.real))
        return q, (d - q * rail) / leg.length

    return joint, base_axes, reach


def pus(tree: Tree, leg: Any) -> Chain:
    """Prismatic, revolute about alpha (x), revolute about y; the link lies along z."""
    rail, base_axes, reach = _slider(tree, leg)
    start = triad(leg.axis, 0)
    cross = tree.add(rail, "revolute x", base_axes * placement(start), f"{leg.name} alpha")
    link = tree.add(cross, "revolute y", placement(), f"{leg.name} beta", inertia(leg.link))

    def guess(tip: Array) -> list[float]:
        # n = Rx(a) Ry(b) e_z = (sin b, -sin a cos b, cos a cos b); y = n x alpha has the sign of cos b > 0.
        q, n = reach(tip)
        x, y, z = start.T @ n
        return [q, np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z))]

    return Chain(rail, (rail, cross, link), spherical(tree, link, (0.0, 0.0, leg.length), 1, leg.platform), guess)


def pru(tree: Tree, leg: Any) -> Chain:
    """Prismatic, revolute about the hinge (z); the link lies along x."""
    rail, base_axes, reach = _slider(tree, leg)
    start = triad(leg.axis, 2)
    link = tree.add(rail, "revolute z", base_axes * placement(start), f"{leg.name} hinge", inertia(leg.link))

    def guess(tip: Array) -> list[float]:
        q, n = reach(tip)
        x, y, _ = start.T @ n
        return [q, np.arctan2(y, x)]

    ends = (link, (leg.length, 0.0, 0.0), (0.0, 0.0, 1.0)), (1, leg.platform, leg.platform_axis)
    return Chain(rail, (rail, link), universal(tree, *ends), guess)


def prpar(tree: Tree, leg: Any, home: Array) -> Chain:
    """Prismatic, hinge (x) with the short bar, two long bars (z), second short bar on the first long one (z).

    Closed twice: the second long bar on the second short bar, and that one on the platform.
    """
    rail, base_axes, reach = _slider(tree, leg)
    start = triad(leg.axis, 0)
    x, z = np.eye(3)[0], np.eye(3)[2]
    side, end = leg.half_width * x, leg.length * x
    near = tree.add(rail, "revolute x", base_axes * placement(start), f"{leg.name} hinge", inertia(leg.slider_bar))
    bar1 = tree.add(near, "revolute z", placement(origin=side), f"{leg.name} bar1", inertia(leg.bar))
    # The short bar's frame is at its middle, its hinge on the first long bar half its width along x.
    at_hinge = placement(origin=-side).act(inertia(leg.platform_bar))
    far = tree.add(bar1, "revolute z", placement(origin=end), f"{leg.name} far bar", at_hinge)
    bar2 = tree.add(near, "revolute z", placement(origin=-side), f"{leg.name} bar2", inertia(leg.bar))

    def guess(tip: Array) -> list[float]:
        # n = Rx(a) Rz(g) e_x = (cos g, cos a sin g, sin a sin g); h = e x n has the sign of sin g > 0.
        q, n = reach(tip)
        nx, ny, nz = start.T @ n
        turn, open_angle = np.arctan2(nz, ny), np.arctan2(np.hypot(ny, nz), nx)
        return [q, turn, open_angle, -open_angle, open_angle]

    # The axis is given in the base; the platform carries it as it is seen from home.
    carried = home[:3, :3].T @ np.array(leg.axis)
    on_short_bar = hinge(tree, (bar2, end, z), (far, -2 * side, z))
    on_platform = hinge(tree, (far, -side, x), (1, leg.platform, carried))
    return Chain(rail, (rail, near, bar1, far, bar2), on_short_bar + on_platform, guess)


def chain(tree: Tree, leg: Any, home: Array) -> Chain:
    """The chain of a leg by its kind."""
    if leg.kind == "PRPaR":
        return prpar(tree, leg, home)
    return {"UPS": ups, "PUS": pus, "PRU": pru}[leg.kind](tree, leg)
