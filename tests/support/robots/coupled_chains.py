"""Chain legs with couplings: gears, screws, differentials and the like between random joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from support.robots.random_chains import (
    Array,
    Data,
    hexapod,
    numbers,
    random_body,
    robot,
    rotation,
    shuffled,
    square_to,
    translation,
    unit,
)

Change = Callable[[np.random.Generator, Data], Data]


def rotor(rng: np.random.Generator, leg: Data, on: str, name: str, **more: Any) -> Data:
    """A leg with one more body that turns on another about an axis anywhere."""
    bodies = leg["bodies"]
    at = np.array(bodies[on]["com"] if on in bodies else leg["joints"][-1 if on == "platform" else 0]["at"])
    body = random_body(rng, 0.4, at + 0.05 * rng.normal(size=3), 0.08)
    joint = {"name": name, "kind": "revolute", "between": [on, f"{name}_wheel"], "at": numbers(at)}
    joint |= {"axis": numbers(unit(rng.normal(size=3))), "friction": {"viscous": 0.02}, **more}
    return {**leg, "bodies": {**bodies, f"{name}_wheel": body}, "joints": [*leg["joints"], joint]}


def _coupled(leg: Data, *couplings: Data) -> Data:
    return {**leg, "couplings": [*leg.get("couplings", ()), *couplings]}


def geared(rng: np.random.Generator, leg: Data) -> Data:
    """A motor on the base turns the first hinge by gears."""
    leg = rotor(rng, leg, "base", "motor", actuated=True)
    return _coupled(leg, {"kind": "gear", "name": "train", "input": "motor", "output": "R1", "ratio": -7.0})


def spindle(rng: np.random.Generator, leg: Data) -> Data:
    """A screw on the lower body moves the slide: many turns."""
    leg = rotor(rng, leg, "body1", "motor", actuated=True, ratio=2.0, offset=0.3)
    return _coupled(leg, {"kind": "screw", "turn": "motor", "travel": "P2", "lead": 0.005})


def turning_nut(rng: np.random.Generator, leg: Data) -> Data:
    """A screw whose nut turns with the joint above it: travel = lead/(2 pi) (turn of the screw - turn of the nut)."""
    leg = rotor(rng, leg, "body1", "motor", actuated=True)
    return _coupled(leg, {"motor": 0.02, "C2.rotation": -0.02, "C2.translation": -2 * np.pi})


def helical(rng: np.random.Generator, leg: Data) -> Data:
    return _coupled(leg, {"kind": "screw", "joint": "C3", "lead": 0.1})


def mimicking(rng: np.random.Generator, leg: Data) -> Data:
    """Two hinges of the way from base to platform turn together; a belt turns a wheel on the platform with them."""
    leg = _coupled(leg, {"kind": "mimic", "joint": "R3", "of": "R2", "multiplier": -0.6})
    leg = rotor(rng, leg, "platform", "wheel")
    return _coupled(leg, {"kind": "belt", "joints": ["R2", "wheel"], "radii": [0.03, 0.01], "crossed": True})


def crosses(rng: np.random.Generator, leg: Data) -> Data:
    """Two universal joints that bend alike."""
    return _coupled(leg, {"U2.first": 1.0, "U3.second": -0.8}, {"U2.second": 2.0, "U3.first": 1.5})


def differential(rng: np.random.Generator, leg: Data) -> Data:
    """Two motors turn two hinges by sum and difference, one motor on the base, one on the first body."""
    leg = rotor(rng, rotor(rng, leg, "base", "left", actuated=True), "body1", "right", actuated=True)
    ends = {"inputs": ["left", "right"], "outputs": ["R1", "R2"]}
    return _coupled(leg, {"kind": "differential", "name": "hip", **ends, "ratio": 3.0})


def _both(first: Change, rng: np.random.Generator, leg: Data) -> Data:
    return shuffled(rng, first(rng, leg))


def _plane_points(rng: np.random.Generator) -> tuple[Array, Array]:
    axis = unit(rng.normal(size=3))
    p = square_to(rng, axis)
    return axis, np.array([p, np.cross(axis, p)])


def geared_linkage(seed: int, terms: tuple[float, ...]) -> Data:
    """Five hinges in a plane around: the middle link moves as the factors of all hinges' angles let it."""
    rng = np.random.default_rng(seed)
    axis, plane = _plane_points(rng)
    flat = np.array([[0, 0], [-0.2, 0.4], [0.25, 0.75], [0.75, 0.5], [0.7, 0]]) + 0.03 * rng.normal(size=(5, 2))
    points = flat @ plane
    names = ["base", "crank", "platform", "rod", "rocker", "base"]
    bodies = {name: random_body(rng, 0.5, points[k], 0.05) for name, k in (("crank", 0), ("rod", 2), ("rocker", 3))}
    joints = [
        {"name": f"R{k + 1}", "kind": "revolute", "between": names[k : k + 2], "at": numbers(points[k]),
         "axis": numbers(axis), "friction": {"viscous": 0.2}}
        for k in range(5)
    ]  # fmt: skip
    joints[0]["actuated"] = True
    coupling = {f"R{k + 1}": factor for k, factor in enumerate(terms) if factor}
    leg = {"kind": "chain", "bodies": bodies, "joints": joints, "couplings": [coupling]}
    home = {"position": numbers((points[1] + points[2]) / 2)}
    return robot(rng, [leg], home, (rotation("turn", axis),), "geared linkage")


COUPLED: dict[str, Callable[[int], Data]] = {
    "geared motors": partial(hexapod, letters="RUS", driven=(), change=geared),
    "spindles": partial(hexapod, letters="UPS", driven=(), change=spindle),
    "turning nuts": partial(hexapod, letters="UCU", driven=(), change=turning_nut),
    "helical": partial(hexapod, letters="URCU", driven=1, change=helical),
    "mimicking": partial(hexapod, letters="RRRRS", driven=0, change=mimicking),
    "crosses": partial(hexapod, letters="RUUS", driven=0, change=crosses),
    "differentials": partial(hexapod, letters="RRRS", driven=(), count=3, change=differential),
    "shuffled differentials": partial(hexapod, letters="RRRS", driven=(), count=3, change=partial(_both, differential)),
    "shuffled crosses": partial(hexapod, letters="RUUS", driven=0, change=partial(_both, crosses)),
    "geared five-bar": partial(geared_linkage, terms=(1.0, 0.0, 0.0, 0.0, 1.5)),
    "coupled all around": partial(geared_linkage, terms=(1.0, 0.5, -0.7, 0.3, 1.5)),
}
"""Robots with couplings of every kind, by name; of a seed."""


def _named(data: Data) -> Data:
    return {**data, "legs": [{**leg, "name": f"leg{k}"} for k, leg in enumerate(data["legs"], 1)]}


def _five_dof(data: Data) -> Data:
    """A robot of six legs whose turn about z follows from the rest."""
    e = np.eye(3)
    dof = [*(translation(name, e[k]) for k, name in enumerate("xyz")), rotation("rx", e[0]), rotation("ry", e[1])]
    return {**data, "dof": dof}


def differential_of_legs(seed: int) -> Data:
    """Two motors on the base turn the cranks of two legs by sum and difference; the other legs have their motors."""
    data = _named(hexapod(seed, "RUS", 0))
    rng = np.random.default_rng(seed + 100)
    bodies, joints = {}, []
    for name in ("left", "right"):
        at = 0.4 * rng.normal(size=3)
        bodies[f"{name}_rotor"] = random_body(rng, 0.4, at, 0.08)
        joint = {"name": name, "kind": "revolute", "between": ["base", f"{name}_rotor"], "at": numbers(at)}
        joint |= {"axis": numbers(unit(rng.normal(size=3))), "actuated": True, "friction": {"viscous": 0.1}}
        joints.append(joint)
    for leg in data["legs"][4:]:
        del leg["joints"][0]["actuated"]
    ends = {"inputs": ["left", "right"], "outputs": ["leg5.R1", "leg6.R1"]}
    coupling = {"kind": "differential", "name": "hip", **ends, "ratio": 3.0}
    return {**data, "bodies": bodies, "joints": joints, "couplings": [coupling]}


def belt_of_legs(seed: int) -> Data:
    """A belt joins the motors of two geared legs: one degree of freedom less, and one motor more than these."""
    data = _named(hexapod(seed, "RUS", (), change=geared))
    belt = {"kind": "belt", "joints": ["leg5.motor", "leg6.motor"], "radii": [0.02, 0.03]}
    return _five_dof({**data, "couplings": [belt]})


def mimic_of_legs(seed: int) -> Data:
    """A slide that no motor drives follows that of another leg."""
    data = _named(hexapod(seed, "UPS", 1))
    del data["legs"][4]["joints"][1]["actuated"]
    mimic = {"kind": "mimic", "joint": "leg5.P2", "of": "leg6.P2", "multiplier": -0.8}
    return _five_dof({**data, "couplings": [mimic]})


def sum_of_legs(seed: int) -> Data:
    """One motor on the base whose turns are a sum of displacements of three legs of spindles, by pulleys."""
    data = _named(hexapod(seed, "UPS", (), change=spindle))
    rng = np.random.default_rng(seed + 100)
    wheel = random_body(rng, 0.4, np.zeros(3), 0.08)
    joint = {"name": "wheel", "kind": "revolute", "between": ["wheel", "base"], "at": [0.1, 0.0, 0.0],
             "axis": numbers(unit(rng.normal(size=3))), "friction": {"viscous": 0.1}}  # fmt: skip
    terms = {"leg4.P2": 3.0, "leg5.U1.first": 0.5, "leg6.motor": 0.01, "wheel": -1.0}
    return {**data, "bodies": {"wheel": wheel}, "joints": [joint], "couplings": [terms]}


BETWEEN: dict[str, Callable[[int], Data]] = {
    "differential of legs": differential_of_legs,
    "belt of legs": belt_of_legs,
    "mimic of legs": mimic_of_legs,
    "sum of legs": sum_of_legs,
}
"""Robots with couplings between joints of different legs, as files state them; of a seed."""
