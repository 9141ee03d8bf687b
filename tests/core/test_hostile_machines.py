"""Machines that nobody had in mind, as files: against the engine of constraints, on a base that moves too.

Legs on legs, inner loops, shared bodies, a jointed platform, a driven jaw in it, gears on a carried body, linkages that
move by their proportions alone, a spinning wheel in the platform, a screw and a spline on one shaft.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import polypod as pp
from polypod.files import loads
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Array, Engine, Motion
from support.engines.moving_machines import BaseMotion, order, random_motion, state_of, without_spin

# Both sides round in double precision, magnified by the condition of legs and Jacobian (below 1e3).
TOLERANCE = 1e-11
FILES = sorted((Path(__file__).parents[1] / "data/hostile_machines").glob("*.yaml"))
NAMES = [file.stem for file in FILES]
QUICK = ("excavator", "hanging", "sarrus")
EVERY = [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in NAMES]


@cache
def data_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(next(file for file in FILES if file.stem == name).read_text())
    return found


def on_base(engine: Engine, place: Any, motion: Motion, wrench: Array) -> Array:
    """Wrench on the base: what the motion of all bodies needs, in total, the other way round."""
    need = engine._load(place, motion, wrench, False).reshape(-1, 6)
    force, moment = need[:, :3], need[:, 3:] + np.cross(place.points, need[:, :3])
    return -np.r_[force.sum(axis=0), moment.sum(axis=0)]


@pytest.mark.parametrize("name", EVERY)
def test_forces_and_foundation_loads(name: str) -> None:
    data = data_of(name)
    engine, rng = Engine(data), np.random.default_rng(4)
    found = random_motion(engine, rng)
    assert found is not None
    place, motion, change = found
    base = BaseMotion(np.eye(4), rng.normal(size=6), 3 * rng.normal(size=6))
    wrench, own = 5 * rng.normal(size=6), order(data, engine)
    function = Functions(loads(to_yaml(data)))
    given = {**state_of(engine, place, motion, change), "wrench": wrench}
    q = engine.coordinates(place)[own]
    assert_close(function("inverse_kinematics", **given)["q"][None], q[None], TOLERANCE, 1.0)
    free = without_spin(engine, place, motion)
    wanted = engine.inverse_dynamics(place, free, wrench)[own]
    assert_close(function("inverse_dynamics", **given)["force"][None], wanted[None], TOLERANCE)
    given |= {"base_twist": base.twist, "base_acceleration": base.acceleration}
    there, moving = base.carried(place, motion)
    free = without_spin(engine, there, moving)
    expected = {
        "inverse_dynamics": ("force", engine.inverse_dynamics(there, free, wrench, relative=motion)[own]),
        "base_wrench": ("base", on_base(engine, there, free, wrench)),
    }
    for what, (output, value) in expected.items():
        expression = function.kernels.expression(function.mechanism, what, moving_base=True)
        assert_close(function.evaluate(expression, **given)[output][None], value[None], TOLERANCE)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name: str) -> None:
    """Forward kinematics finds the engine's pose, direct dynamics its acceleration, reactions the same forces."""
    data = data_of(name)
    model, engine = pp.Model(loads(to_yaml(data))), Engine(data)
    for seed in range(3):
        found = random_motion(engine, np.random.default_rng(seed))
        assert found is not None
        place, motion, change = found
        state, q = state_of(engine, place, motion, change), engine.coordinates(place)[order(data, engine)]
        inner = {"internal": state["internal"]} if len(state["internal"]) else {}
        at = state["pose"], state["twist"]
        met = model.forward_kinematics(q, full_output=True)
        np.testing.assert_allclose(met.pose, state["pose"], atol=1e-12)
        force = model.inverse_dynamics(*at, state["acceleration"], **inner)
        np.testing.assert_allclose(model.reactions(*at, state["acceleration"], **inner).force, force, rtol=1e-10)
        found_again = model.direct_dynamics(*at, force, **inner)
        np.testing.assert_allclose(found_again, state["acceleration"], atol=1e-10 * np.abs(state["acceleration"]).max())


@pytest.mark.long
def test_derivatives_by_internal_coordinates() -> None:
    """Against differences of fourth order of the engine's forces: 1e-4 to the fourth and rounding over the step."""
    data = data_of("h4")
    model, engine, rng = pp.Model(loads(to_yaml(data))), Engine(data), np.random.default_rng(1)
    found = random_motion(engine, rng)
    assert found is not None
    place, motion, change = found
    state, own, wrench = state_of(engine, place, motion, change), order(data, engine), rng.normal(size=6)
    at = state["pose"], state["twist"]
    inner = {"internal": state["internal"]}
    blocks = ("x", "xdot", "xddot")
    met = model.derivatives("inverse_dynamics", *at, state["acceleration"], wrench, wrt=blocks, **inner)
    rates = np.r_[engine.chosen @ motion.velocity[0], state["twist"][6:]]
    changes, n, h = np.r_[engine.chosen @ motion.acceleration[0], state["acceleration"][6:]], len(rates), 1e-4

    def force(moved: Array) -> Array:
        there = engine._driven(place, moved[0]) if moved[0].any() else place
        velocity = engine.velocity(there, rates + moved[1])
        going = Motion(velocity, engine.acceleration(there, velocity, changes + moved[2]))
        return engine.inverse_dynamics(there, going, wrench)[own]

    for number, block in enumerate(blocks):
        steps = np.zeros((n, 3, n))
        steps[np.arange(n), number, np.arange(n)] = h
        wanted = np.array([(8 * (force(s) - force(-s)) - (force(2 * s) - force(-2 * s))) / (12 * h) for s in steps]).T
        assert_close(getattr(met, block)[None], wanted[None], 1e-9)
    forces = model.inverse_dynamics(*at, state["acceleration"], wrench, **inner)
    back = model.derivatives("direct_dynamics", *at, forces, wrench, wrt=("x", "force"), **inner)
    assert met.x is not None and met.xddot is not None and back.x is not None  # noqa: PT018
    rows = np.r_[engine.chosen @ back.x[:6], back.x[6:]]
    assert_close(rows[None], -np.linalg.solve(met.xddot, met.x)[None], 1e-10)
