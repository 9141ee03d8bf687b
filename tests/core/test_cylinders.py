"""Cylindrical joints with friction: by the engine of constraints, and as a hinge and a slide with nothing between."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.exchange import linkage_of
from polypod.exchange.simplify import simplified
from polypod.files import dumps, loads
from polypod.formulations import FORMULATIONS
from polypod.formulations.at_rest import resting_friction
from polypod.formulations.dry_friction import DryFriction
from polypod.friction import dry_joints
from polypod.mechanism.closing import closed
from polypod.model.kernels import Options
from support.chain_functions import Functions
from support.refusals import refused
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import ROBOTS
from support.robots.unusual_chains import UNUSUAL
from support.states import mostly_long
from test_chain import check, moving

# Driven along the cylinders, driven about them, and one whose cylinders nothing drives.
NAMES = ("3-CRU", "6-CRS turning", "6-CRS", "RCCC")
VISCOUS = {"rotation": {"viscous": 0.7}, "translation": {"viscous": 9.0}}
DRY = {"rotation": {"viscous": 0.7, "drag": 0.2}, "translation": {"drag": 3.0, "static": 1.2, "stribeck_speed": 0.1}}


def cylinders(name: str, frictions: dict[str, Any]) -> dict[str, Any]:
    data = (ROBOTS | MACHINES)[name](1)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            if joint["kind"] == "cylindrical":
                joint["frictions"] = frictions
    return data


def hinge_and_slide(data: dict[str, Any]) -> dict[str, Any]:
    """Every cylinder as a hinge and a slide on a body that has no mass."""
    data = deepcopy(data)
    for leg in data["legs"]:
        joints = []
        for joint in leg["joints"]:
            if joint["kind"] != "cylindrical":
                joints.append(joint)
                continue
            name, (first, second), frictions = joint["name"], joint["between"], joint["frictions"]
            leg["bodies"][f"{name} ring"] = {"mass": 0.0, "com": joint["at"], "inertia": [0.0, 0.0, 0.0]}
            rest = {key: value for key, value in joint.items() if key not in ("frictions", "actuated")}
            for kind, motion, between in (
                ("revolute", "rotation", [first, f"{name} ring"]),
                ("prismatic", "translation", [f"{name} ring", second]),
            ):
                own = {"name": f"{name} {motion}", "kind": kind, "between": between, "friction": frictions[motion]}
                driven = {"actuated": True} if joint.get("actuated") == motion else {}
                joints.append(rest | own | driven)
        leg["joints"] = joints
    return data


@pytest.mark.parametrize("name", mostly_long(NAMES, ("RCCC",)))
def test_by_the_engine(name: str) -> None:
    """Forces and accelerations, by every formulation that takes legs closed by iterating."""
    c = moving(cylinders(name, VISCOUS), 2)
    function = Functions(pp.Robot.model_validate(c.data))
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    without = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    assert np.abs(wanted - without).max() > 1e-3 * np.abs(wanted).max()
    for formulation in FORMULATIONS:
        if formulation != "recursive-matrix":
            check(function("inverse_dynamics", True, formulation, **c.given)["force"], wanted)
    check(function("direct_dynamics", True, force=wanted, **c.given)["acceleration"], c.given["acceleration"])


@pytest.mark.parametrize("name", mostly_long(NAMES, ("3-CRU",)))
def test_as_a_hinge_and_a_slide(name: str) -> None:
    """Dry friction too: the same forces, the same accelerations, the same directions to slide in at rest."""
    c = moving(cylinders(name, DRY), 2)
    one, two = (Functions(pp.Robot.model_validate(data)) for data in (c.data, hinge_and_slide(c.data)))
    forces = [f("inverse_dynamics", True, **c.given)["force"] for f in (one, two)]
    check(forces[0], forces[1], 1e-12)
    check(one("inverse_dynamics", True, "newton-euler", **c.given)["force"], forces[1], 1e-12)
    check(one("direct_dynamics", True, force=forces[1], **c.given)["acceleration"], c.given["acceleration"], 1e-11)
    rest = [at_rest(f, c.given["pose"]) for f in (one, two)]
    assert rest[0].keys() == rest[1].keys()
    for key, parts in rest[0].items():
        check(parts, rest[1][key], 1e-12)


def with_coulomb(data: dict[str, Any]) -> dict[str, Any]:
    """Friction by reaction in every joint."""
    turning, sliding = {"viscous": 0.1, "coulomb": 0.01}, {"viscous": 2.0, "coulomb": 0.1}
    for leg in data["legs"]:
        for joint in leg["joints"]:
            if joint["kind"] == "cylindrical":
                joint["frictions"] = {"rotation": turning, "translation": sliding}
            else:
                joint["friction"] = sliding if joint["kind"] == "prismatic" else turning
    return data


# A linkage of cylinders, hinges that do not meet; longer: legs closed by patterns, more drives than degrees of freedom
COULOMB = ("RCCC", "2-UPS+RR", "3-PRS", "delta of balls", "4-UPS+UP", "tricept", "6-CRS")


@pytest.mark.parametrize("name", mostly_long(COULOMB, ("3-PRS",)))
def test_coulomb_friction_by_the_engine(name: str) -> None:
    """Reactions and the friction that depends on them, by every formulation that takes all legs, and back."""
    c = moving(with_coulomb((ROBOTS | MACHINES | UNUSUAL)[name](1)), 2)
    engine = c.engine.with_coulomb(c.place, c.motion, c.given["wrench"])
    wanted = engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    viscous = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    assert np.abs(wanted - viscous).max() > 0.05 * np.abs(wanted).max()
    exact = Options(dry=DryFriction.of(0.0, "implicit"))
    function = Functions(pp.Robot.model_validate(c.data), exact)
    for formulation in FORMULATIONS:
        if formulation != "recursive-matrix":
            found = function("inverse_dynamics", True, formulation, **c.given)
            assert found["converged"] == 1
            check(found["force"], wanted)
    check(function("direct_dynamics", True, force=wanted, **c.given)["acceleration"], c.given["acceleration"])


def test_inner_stresses_leave_coulomb_friction_open() -> None:
    """Parallel hinges of a planar robot press on each other along their axes as they were assembled."""
    function = Functions(pp.Robot.model_validate(with_coulomb(ROBOTS["planar 3-RRR"](1))))
    with refused(InputError, "leg1.R1 leg3.R3", code="overconstrained"):
        function("inverse_dynamics", True)


def at_rest(function: Functions, pose: Any) -> dict[tuple[str, str], Any]:
    """Coefficients of every friction (3) beside G^T G (m, m) of the directions G that it slides in, whatever way."""
    mechanism = function.mechanism
    found = function.evaluate(closed(mechanism, resting_friction(mechanism, DryFriction())), pose=pose)
    parts, start = {}, 0
    for number, (key, size) in enumerate(dry_joints(mechanism)):
        rows = found["rows"][start : start + size]
        parts[key] = np.r_[found["coefficients"][number], (rows.T @ rows).ravel()]
        start += size
    return parts


def test_files_keep_it() -> None:
    """A saved file is the same robot; what a hinge and a slide of another program are together is one cylinder."""
    data = cylinders("6-CRS", DRY)
    robot = pp.Robot.model_validate(data)
    assert loads(dumps(robot)) == robot
    apart = linkage_of(pp.Robot.model_validate(hinge_and_slide(data)))
    for joint in simplified(apart).joints:
        if joint.name.startswith("leg1-C1"):
            assert joint.kind == "cylindrical"
            assert joint.frictions == robot.legs[0].joints[0].frictions
            break
    else:
        pytest.fail("no cylinder was found")
