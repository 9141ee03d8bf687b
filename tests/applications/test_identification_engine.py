"""Identification of a machine that polypod's equations did not move: logs of an engine of constraints."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from threadpoolctl import threadpool_limits

import polypod as pp
from polypod.identification import LinearModel, Log, excite, identify
from support.engines.chain_engine import Engine
from support.engines.chain_engine import Motion as Moved

SAMPLES = 250
FORCE, COORDINATE = 0.002, 1e-6
"""Noise of torques [N m] and of coordinates [rad]."""


@cache
def machine() -> pp.Robot:
    """A five-bar whose tool is heavier, elsewhere and thicker than the file's; motors with more friction."""
    data = yaml.safe_load(pp.dumps(pp.load("five-bar")))
    data["platform"] |= {"mass": 0.3, "com": [0.004, -0.006, 0.0], "inertia": [2e-4, 2e-4, 1e-4]}
    for leg in data["legs"]:
        leg["joints"][0]["friction"] = {"viscous": 0.008}
    return pp.loads(yaml.safe_dump(data))


@cache
@threadpool_limits.wrap(limits=1)
def driven(seed: int) -> tuple[Any, Any, Any]:
    """A lively second: the platform's motion, coordinates and torques of the engine (n, 2), without noise."""
    model = pp.Model("five-bar")
    best = excite(model, duration=1.0, harmonics=3, reach=0.3, tries=600, noise=FORCE, seed=seed)
    way = best.motion.trajectory.for_model(model).at(np.arange(SAMPLES) / SAMPLES)
    engine = Engine(machine().model_dump(mode="json", exclude_none=True))
    place, rows = engine.at_home(), []
    for pose, twist, acceleration in zip(way.pose, way.twist, way.acceleration, strict=True):
        for _ in range(2):  # Newton's steps towards the pose: what is left is far below the noise of coordinates
            place = engine._driven(place, engine.chosen @ np.r_[pose[:3, 3] - place.points[0], 0, 0, 0])
        velocity = engine.velocity(place, engine.chosen @ twist)
        moved = Moved(velocity, engine.acceleration(place, velocity, engine.chosen @ acceleration))
        rows.append((engine.coordinates(place), engine.inverse_dynamics(place, moved, np.zeros(6), friction=True)))
    q, force = np.moveaxis(np.array(rows), 1, 0)
    return way, q, force


def log(seed: int) -> Log:
    _, q, force = driven(seed)
    noise = np.random.default_rng(seed).standard_normal((2, *q.shape))
    return Log(f"engine{seed}", np.arange(SAMPLES) / SAMPLES, q + COORDINATE * noise[0], force + FORCE * noise[1])


@pytest.mark.long
def test_logs_of_another_engine_give_its_numbers() -> None:
    """Numbers within their intervals, held-out torques to the noise, a file that foretells the engine's torques."""
    result = identify("five-bar", log(0), log(1))
    judged = result.validation[0]
    assert (judged.error(judged.before) > 3 * FORCE).all()
    # the noise of 250 samples is known to 4.5 %: three times that and what is left of the numbers' errors
    assert judged.error(judged.after) == pytest.approx(np.full(2, FORCE), rel=0.15)
    true = LinearModel(pp.Model(machine()))
    off = np.abs(result.beta - result.base.values(true.values)) / result.half_widths
    assert (off < 1).all(), off
    file = np.abs(result.base.values(result.linear.values) - result.base.values(true.values)) / result.half_widths
    assert file.max() > 10  # the file the identification began with is far outside
    # what is written is read again, and foretells torques without noise far below the noise it was found under
    way, _, force = driven(1)
    written = pp.Model(pp.loads(pp.dumps(result.robot)))
    before, error = (
        np.sqrt(((model.inverse_dynamics(way.pose, way.twist, way.acceleration) - force) ** 2).mean(axis=0))
        for model in (result.model, written)
    )
    assert (error < 0.4 * FORCE).all()
    assert (before > 20 * error).all()
