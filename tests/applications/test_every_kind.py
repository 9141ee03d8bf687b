"""Every kind of element and of coupling with every consumer: right numbers, or a refusal that names it.

A kind that is registered and has no example here fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.couplings import Coupling
from polypod.elements import Element
from polypod.errors import InputError
from polypod.export import export_c, export_js, export_mjcf, export_sdf, export_urdf
from polypod.files import loads
from support.chain_functions import EXACT, Functions
from support.refusals import refused
from support.states import mostly_long

ARM = """
name: arm
home: {position: [0.5, 0, 0.1]}
platform: {mass: 2, com: [0.05, 0.02, 0.01], inertia: [0.02, 0.03, 0.04]}
dof: [all.hip, all.wrist]
legs:
- name: all
  kind: chain
  bodies: {BODIES}
  joints:
  - {name: hip, kind: revolute, between: [base, link], at: [0, 0, 0.1], axis: [0, 0, 1]HIP}
  - {name: wrist, kind: revolute, between: [link, platform], at: [0.4, 0, 0.1], axis: [0, 1, 0]WRIST}
  MORE
"""
LINK = "link: {mass: 1, com: [0.2, 0, 0.1], inertia: [0.01, 0.02, 0.02]}"
DRIVEN = ", actuated: true"
ELEMENTS = {
    "spring": "joint: all.hip, stiffness: 30, rest: 0.1",
    "gas spring": "between: [base, platform], at: [[0.1, 0.3, 0.4], [0.5, 0, 0.1]], force: [[0.4, 300], [0.9, 200]]",
    "damper": "joint: all.hip, damping: 5",
    "bushing": "between: [base, all.link], at: [0.1, 0, 0.1], stiffness: [200, 300, 400, 5, 6, 7]",
    "constant force": "between: [base, platform], at: [[0.1, 0.3, 0.4], [0.5, 0, 0.1]], force: -60",
    "stop": "joint: all.hip, range: [-0.1, 0.1], stiffness: 900, damping: 0.001",
    "brake": "joint: all.hip, force: 4, engaged: true",
}
ROTOR = "WHEEL: {mass: 0.5, com: [0, PLACE, 0], inertia: [0.001, 0.001, 0.002]}"
MOTOR = "- {name: NAME, kind: revolute, between: [base, WHEEL], at: [0, PLACE, 0], axis: [0, 0.6, 0.8], actuated: true}"
BLOCK = "- {name: block, kind: prismatic, between: [base, wheel], at: [0, 0.2, 0], axis: [0.6, 0, 0.8], actuated: true}"
COUPLINGS = {
    "gear": "input: all.motor, output: all.hip, ratio: -7",
    "belt": "joints: [all.motor, all.hip], radii: [10 mm, 30 mm]",
    "mimic": "joint: all.motor, of: all.hip, multiplier: 4",
    "linear": "all.motor: 1, all.hip: -3, all.wrist: 2",
    "screw": "turn: all.hip, travel: all.block, lead: 0.4",
    "differential": "inputs: [all.motor, all.motor2], outputs: [all.hip, all.wrist], ratio: 2",
}
X, V, A = np.array([0.3, -0.2]), np.array([0.7, 0.5]), np.array([1.1, -0.6])


def bare(bodies: str = LINK, hip: str = DRIVEN, wrist: str = DRIVEN, more: str = "") -> str:
    pairs = (("BODIES", bodies), ("HIP", hip), ("WRIST", wrist), ("MORE", more))
    text = ARM
    for name, value in pairs:
        text = text.replace(name, value)
    return text


def wheel(name: str, body: str, place: float) -> tuple[str, str]:
    pairs = (("NAME", name), ("WHEEL", body), ("PLACE", str(place)))
    parts = [ROTOR, MOTOR]
    for old, new in pairs:
        parts = [part.replace(old, new) for part in parts]
    return parts[0], parts[1]


def sprung(kind: str) -> str:
    return f"{bare()}elements: [{{name: it, kind: {kind}, {ELEMENTS[kind]}}}]\n"


def coupled(kind: str) -> str:
    body, joint = wheel("motor", "wheel", 0.2)
    if kind == "screw":
        joint = BLOCK
    wrist = DRIVEN
    if kind == "differential":
        more, second = wheel("motor2", "wheel2", -0.2)
        body, joint, wrist = f"{body}, {more}", f"{joint}\n  {second}", ""
    given = f"couplings: [{{name: it, kind: {kind}, {COUPLINGS[kind]}}}]\n"
    return bare(f"{LINK}, {body}", "", wrist, joint) + given


@cache
def model(text: str) -> pp.Model:
    return pp.Model(loads(text))


@cache
def functions(text: str) -> Functions:
    return Functions(loads(text), EXACT)


def state(text: str, time: float = 0.0) -> dict[str, Any]:
    """The state at a time of a motion with constant accelerations, which all these robots make alike."""
    moved = model(bare()).motion([X + time * V + 0.5 * time**2 * A], [V + time * A], [A])
    return dict(zip(("pose", "twist", "acceleration"), (np.asarray(one)[0] for one in moved), strict=True))


def energy(text: str, time: float) -> float:
    found = functions(text)("energy", **state(text, time))
    return float(found["kinetic"] + found["potential"])


def every(kind: str) -> str:
    return sprung(kind) if kind in ELEMENTS else coupled(kind)


def test_every_kind_has_an_example() -> None:
    assert set(Element.registry) == set(ELEMENTS)
    assert set(Coupling.registry) == set(COUPLINGS)


@pytest.mark.parametrize("kind", mostly_long([*ELEMENTS, *COUPLINGS], ("bushing", "brake", "differential")))
def test_dynamics(kind: str) -> None:
    """Formulations agree, accelerations come back, and power goes into energy, or is lost where it can be."""
    text = every(kind)
    given, function = state(text), functions(text)
    force = function("inverse_dynamics", True, **given)["force"]
    if kind in COUPLINGS:
        with refused(InputError, "recursive-matrix", code="couplings"):
            function("inverse_dynamics", True, "recursive-matrix", **given)
    for formulation in ("newton-euler", "lagrange"):
        again = function("inverse_dynamics", True, formulation, **given)["force"]
        assert np.abs(again - force).max() < 1e-11 * np.abs(force).max(), formulation
    found = function("direct_dynamics", True, force=force, **given)["acceleration"]
    assert np.abs(found - given["acceleration"]).max() < 1e-10 * np.abs(given["acceleration"]).max()
    step = 1e-5
    gained = (energy(text, step) - energy(text, -step)) / (2 * step)
    power = float(force @ function("rates", **given)["qdot"])
    lost = {"damper": 5 * V[0] ** 2, "brake": 4 * abs(V[0]), "stop": 0.001 * V[0] ** 2}.get(kind, 0.0)
    assert power - gained == pytest.approx(lost, abs=1e-7 * (abs(power) + abs(gained)))  # of differences
    plain = functions(bare())("inverse_dynamics", True, **given)["force"]
    if kind in ELEMENTS:
        assert np.abs(force - plain).max() > 1e-3 * np.abs(plain).max()  # it acts


@pytest.mark.parametrize("kind", mostly_long([*ELEMENTS, *COUPLINGS], ("bushing", "brake", "differential")))
def test_reactions_balance_the_robot(kind: str) -> None:
    """The base feels the rate of momentum alone: what is inside the robot has no part in it, but rotors that turn."""
    text = every(kind)
    given = state(text)
    base = functions(text)("reactions", True, **given)["base"]
    if kind in ELEMENTS:
        plain = functions(bare())("reactions", True, **given)["base"]
        assert np.abs(base - plain).max() < 1e-11 * np.abs(plain).max()
    else:
        found = functions(text)("reactions", True, **given)
        assert np.isfinite(found["couplings"]).all()


EXPORTS: dict[str, Callable[[pp.Model], Any]] = {
    "mjcf": export_mjcf,
    "urdf": lambda one: export_urdf(one)[0],
    "sdf": export_sdf,
    "c": lambda one: export_c(one, "inverse_dynamics")[2],
    "javascript": lambda one: export_js(one, "inverse_dynamics")[1],
}


def written(name: str, kind: str) -> str:
    """The file of a format, or the words with which it is refused."""
    try:
        return str(EXPORTS[name](model(every(kind))))
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("kind", mostly_long([*ELEMENTS, *COUPLINGS], ("bushing", "brake", "differential")))
def test_formats_hold_it_or_name_it(kind: str) -> None:
    """Code has all of them; a file of another program has the kind, names what it leaves out, or refuses by name."""
    for name in ("mjcf", "urdf", "sdf"):
        text = written(name, kind)
        if kind in COUPLINGS:
            assert any(
                word in text for word in ("<mimic", "<coupling", "polycoef", "<fixed", "it'", "it first'", "it second'")
            )
        else:
            held = {"spring": ("stiffness=", "spring_stiffness"), "damper": ("damping=", "<damping>")}.get(kind, ())
            assert (
                any(word in text for word in held)
                or f"it ({kind})" in text
                or any(word in text for word in ("spring of all-hip", "it: ", '"it', "'it'"))
            )


@pytest.mark.parametrize("kind", ["gas spring", "differential"])
def test_code_of_other_languages_is_written(kind: str) -> None:
    for name in ("c", "javascript"):
        assert "inverse_dynamics" in EXPORTS[name](model(every(kind)))
