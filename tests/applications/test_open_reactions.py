"""Reactions that inner stresses leave open: ``normal_force`` and ``constraint_moment`` are blank there only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polypod as pp
from polypod.results.bearings import bearing_parts
from support.engines.chain_engine import Engine
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import ROBOTS
from support.robots.unusual_chains import UNUSUAL
from support.states import mostly_long
from test_chain import moving

NAMES = ("3-PRRR", "planar 3-RRR", "agile eye", "Sarrus", "Bennett", "3-PRPaR")


@pytest.mark.parametrize("name", mostly_long(NAMES, ("Sarrus",)))
def test_numbers_that_are_determined_are_given(name: str) -> None:
    """Off home: no number is blank that its force or moment has, and the others are those of the engine's solution,
    one of many that differ by inner stresses."""
    data = (ROBOTS | MACHINES | UNUSUAL)[name](1)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint.pop("rotor", None)
    c = moving(data, 2)
    engine = Engine(data)
    force = engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    wanted = engine.reactions(c.place, c.motion, c.given["wrench"], force)
    scale = max(np.abs(wrench).max() for wrench in wanted.values())
    model = pp.Model(pp.Robot.model_validate(data))
    found = model.reactions(*(c.given[key] for key in ("pose", "twist", "acceleration", "wrench")), friction=False)
    assert found.indeterminate
    blank = 0
    for number, leg in enumerate(model.kernels.mechanism.legs):
        stated = {joint["name"]: joint for joint in data["legs"][number]["joints"]}
        for name_, joint in found.legs[leg.name].items():
            second = leg.leg._plan.group[stated[name_]["between"][1]]
            truth = (1 if second == joint.child else -1) * wanted[number, name_]
            across = np.eye(3) - joint.axes.T @ joint.axes
            slides, turns = joint.kind in ("prismatic", "cylindrical"), joint.kind not in ("prismatic", "spherical")
            for got, own, whole, projected in (
                (joint.normal_force, joint.force, truth[:3], slides),
                (joint.constraint_moment, joint.moment, truth[3:], turns),
            ):
                assert not (np.isnan(got) & ~np.isnan(own)).any() or not joint.idle
                blank += int(np.isnan(got).sum())
                if joint.kind == "spherical" and own is joint.moment:
                    assert (got == 0).all()
                    continue
                expected = across @ whole if projected else whole
                known = ~np.isnan(got)
                np.testing.assert_allclose(got[known], expected[known], rtol=0, atol=1e-7 * scale)
    assert blank <= len(found.indeterminate)


@pytest.mark.long
def test_bearings_have_the_radial_load_that_open_axial_forces_leave(model_of: Callable[[str], pp.Model]) -> None:
    """Hinges of a planar robot press along their axes as they were assembled; across them their load is known."""
    model = model_of("planar-3-rrr")
    result = pp.study(model, pp.motion.make_task(model, "around-home", rate=20.0), certify=False)
    for joint in range(result.sizes["joint"]):
        axial, radial = bearing_parts(result, joint)
        force = result.reaction_force.values[:, joint]
        assert np.isnan(axial).all()
        np.testing.assert_allclose(radial, np.hypot(force[:, 0], force[:, 1]), rtol=1e-12)
