"""Simplified models: golden variants, what each neglects, and that forms agree on them too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, UnknownNameError
from polypod.legs import Placement
from polypod.mechanism import SIMPLIFICATIONS
from polypod.model.kernels import Options
from polypod.symbols.vectors import Frame
from support.chain_functions import Functions
from support.refusals import refused
from support.robots.user_legs import PSU, RODS, PassiveUPS, body, psu_robot, remade, ups_fields, ups_robot, with_leg
from support.states import easy, mostly_long

REFUSED = {("pedrammehr", "point-mass-links")}
GOLDEN = Path(__file__).parent.parent / "data" / "golden"


@pytest.mark.parametrize(
    ("robot", "simplify", "variant"),
    [
        ("kim-ryu", "no-link-inertia", "no_link_inertia_weight_kept"),
        ("kim-ryu", "massless-links", "massless_links"),
        ("kim-ryu", "slender-links", "paper_slender_no_spin"),
        ("lopes", "point-mass-links", "simplified"),
    ],
)
def test_golden_variants(robot: str, simplify: str, variant: str) -> None:
    model = pp.Model(robot, simplify=simplify)  # type: ignore[arg-type]
    for state in json.loads((GOLDEN / f"{robot}.json").read_text())["states"]:
        arguments = (np.array(state[k]) for k in ("pose", "twist", "acceleration", "wrench"))
        wanted = np.array(state["variants"][variant])
        assert np.abs(model.inverse_dynamics(*arguments, friction=False) - wanted).max() <= 1e-12 * np.abs(wanted).max()


AGREEING = [(robot, simplify) for robot in ("pedrammehr", "kim-ryu", "lopes") for simplify in SIMPLIFICATIONS]
# Rails on one robot, legs that change their length on another where simplifying differs for them.
USUAL = [(r, s) for r, s in AGREEING if r == "lopes" or (r, s) in REFUSED or (r, s) == ("pedrammehr", "no-spin")]


@pytest.mark.parametrize("case", mostly_long(AGREEING, USUAL, "-".join))
def test_newton_euler_and_virtual_power_agree(case: tuple[str, str]) -> None:
    robot, simplify = case
    if case in REFUSED:
        with refused(InputError, code="no_links"):
            pp.Model(robot, simplify=simplify).inverse_dynamics(pp.load(robot).home.matrix, np.zeros(6), np.zeros(6))
        return
    model = pp.Model(robot, simplify=simplify)  # type: ignore[arg-type]
    state = easy(model, 5, seed=31)
    arguments = (state.pose, state.twist, state.acceleration, state.wrench)
    a, b = (
        model.inverse_dynamics(*arguments, friction=False, formulation=f) for f in ("virtual-power", "newton-euler")
    )
    assert np.abs(a - b).max() <= 1e-12 * np.abs(a).max()
    back = model.direct_dynamics(state.pose, state.twist, a, state.wrench, friction=False)
    assert np.abs(back - state.acceleration).max() <= 1e-9 * np.abs(state.acceleration).max()


def test_links_that_do_not_spin_equal_the_exact_ones_where_spin_has_no_inertia() -> None:
    """lopes' links have no moment about themselves: the exact and the classic model are one."""
    exact, classic = pp.Model("lopes"), pp.Model("lopes", simplify="no-spin")
    state = easy(exact, 5, seed=32)
    a, b = (m.inverse_dynamics(state.pose, state.twist, state.acceleration) for m in (exact, classic))
    assert np.abs(a - b).max() <= 1e-13 * np.abs(a).max()


def test_point_masses_are_part_of_platform_and_sliders() -> None:
    """Lopes (86)-(91): lumping equals a heavier platform and heavier sliders."""
    robot = pp.load("lopes")
    data = robot.model_dump()
    near, far = robot.legs[0].end_masses  # type: ignore[attr-defined]
    points = np.array([leg.platform for leg in robot.legs])
    added = far * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
    data["platform"]["mass"] += 6 * far
    data["platform"]["inertia"] = (np.array(data["platform"]["inertia"]) + added).tolist()
    for leg in data["legs"]:
        leg["slider"]["mass"] += near
        leg["link"] = {"mass": 0.0}
    heavier, lumped = pp.Model(pp.Robot.model_validate(data)), pp.Model("lopes", simplify="point-mass-links")
    state = easy(lumped, 5, seed=33)
    a, b = (m.inverse_dynamics(state.pose, state.twist, state.acceleration) for m in (heavier, lumped))
    assert np.abs(a - b).max() <= 1e-13 * np.abs(a).max()


class SpunLink(PSU):
    """A link whose spin the platform decides, stated as one: without spin it does not follow the platform's axes."""

    def place(self, tip: Frame) -> Placement:
        placement = super().place(tip)
        slider, link = placement.bodies
        return replace(placement, bodies=(slider, replace(link, along=0)))


def _functions_and_state(robot: pp.Robot) -> tuple[Functions, dict[str, np.ndarray]]:
    draw = np.random.default_rng(0)
    state = {name: draw.normal(size=6) for name in ("twist", "acceleration", "wrench")} | {"pose": robot.home.matrix}
    return Functions(robot, Options(simplify="no-spin")), state


def test_links_that_do_not_spin_in_robots_of_any_number_of_legs() -> None:
    """Seven legs have all free bodies at once; the moment of their universal joints is along the links there too."""
    rods = RODS | {"lower": body(3), "upper": body(4)}
    seventh = PassiveUPS(kind="passive UPS", **ups_fields(6, 2.1, 1.4) | rods)
    functions, state = _functions_and_state(with_leg(ups_robot(**rods), seventh))
    a, b = (functions("inverse_dynamics", False, f, **state)["force"] for f in ("virtual-power", "newton-euler"))
    assert np.abs(a - b).max() <= 1e-12 * np.abs(a).max()


def test_links_that_do_not_spin_on_a_platform_that_would_spin_them() -> None:
    """Inverse then direct dynamics is the identity; free bodies of such links there are none."""
    functions, state = _functions_and_state(remade(psu_robot(), PSU, SpunLink))
    force = functions("inverse_dynamics", **state)["force"]
    back = functions("direct_dynamics", force=force, **{k: state[k] for k in ("pose", "twist", "wrench")})
    assert np.abs(back["acceleration"] - state["acceleration"]).max() <= 1e-12
    with refused(InputError, "newton-euler no-spin user"):
        functions("inverse_dynamics", False, "newton-euler", **state)


def test_refused() -> None:
    with refused(UnknownNameError, "slender-links"):
        pp.Model("lopes", simplify="slender-link")  # type: ignore[arg-type]
    with refused(InputError, code="cross_inertia"):
        pp.Model("long", simplify="no-spin")
    with refused(InputError, "delta"):
        pp.Model("delta", simplify="massless-links")
