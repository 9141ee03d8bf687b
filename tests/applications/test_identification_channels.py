"""Errors of measurement and effects that a robot file lacks, found in logs: injected by hand, so known exactly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.interpolate import CubicSpline

import polypod as pp
from polypod.identification import LinearModel, Log, excite, identify, simulated_log
from support.engines.oracle import Oracle

FIVE_BAR = {"noise_q": 1e-6, "noise_force": 0.002}
RATE = 500.0


@cache
def five_bar() -> pp.Model:
    return pp.Model("five-bar")


@cache
def five_bar_log(seed: int) -> Log:
    motion = excite(five_bar(), duration=1.0, harmonics=4, reach=1.0, tries=100, noise=0.002, seed=seed).motion
    return simulated_log(five_bar(), motion, rate=RATE, repeats=2, seed=seed, **FIVE_BAR)


def late(log: Log, delay: Any) -> Log:
    """Forces that are recorded so much later [s], by cubic splines."""
    at = [np.clip(log.time - d, log.time[0], None) for d in np.broadcast_to(delay, 2)]
    return replace(log, force=np.stack([CubicSpline(log.time, f)(t) for f, t in zip(log.force.T, at, strict=True)], 1))


def speeds(log: Log) -> Any:
    return CubicSpline(log.time, log.q)(log.time, 1)


def dragged(log: Log) -> Log:
    return replace(log, force=log.force + np.sign(speeds(log)) * [0.0, 0.05])


@pytest.mark.parametrize(
    ("change", "kind", "actuator", "value"),
    [
        (lambda log: replace(log, force=log.force + np.array([0.0, 0.2])), "offset", 1, 0.2),
        (lambda log: late(log, 0.0006), "delay", None, 0.0006),
        (lambda log: late(log, [0.0, 0.0012]), "delay", 1, 0.0012),
        (lambda log: late(log, -0.001), "delay", None, -0.001),
        (dragged, "drag", 1, 0.05),
    ],
    ids=["offset", "delay of all", "delay of one", "hold", "drag"],
)
def test_what_measurement_adds_is_found_with_its_interval(change: Any, kind: str, actuator: Any, value: float) -> None:
    result = identify(five_bar(), change(five_bar_log(0)), change(five_bar_log(1)))
    (found,) = result.channels
    name = "" if actuator is None else five_bar().actuators[actuator].name
    assert (found.kind, found.actuator) == (kind, name)
    assert found.value == pytest.approx(value, abs=1.5 * found.half)
    assert found.half < 0.3 * abs(value)
    assert result.verdict.explained
    assert result.verdict.held_out
    # the file is the machine: base parameters stay where they are but for noise
    off = np.abs(result.beta - result.base.values(result.linear.values)) / result.half_widths
    assert off.max() < 1.5  # three standard deviations


def test_nothing_is_found_where_nothing_is() -> None:
    result = identify(five_bar(), five_bar_log(0), five_bar_log(1))
    assert result.channels == ()
    assert result.verdict.explained


def test_friction_that_the_file_lacks_is_proposed_by_its_path() -> None:
    notes = identify(five_bar(), dragged(five_bar_log(0))).notes
    (leg,) = [k for k, one in enumerate(five_bar().robot.legs) if one.name == five_bar().actuators[1].leg]
    assert any(f"legs.{leg}.joints.0.friction.drag" in note for note in notes)


# ----------------------------------------------------------------------------------------------------------------------
# A machine that polypod's equations did not move: a hexapod of Pinocchio with loop closures, friction by hand.

VISCOUS, DRAG = np.array([110, 118, 125, 131, 137, 140.0]), np.array([9, 10, 11, 12, 13, 14.0])
ONE = np.eye(6)


@cache
def nominal() -> pp.Robot:
    data = yaml.safe_load(pp.dumps(pp.load("hexapod")))
    for leg in [data.get("leg_defaults", {}), *data["legs"]]:
        leg.pop("universal_friction", None)
        leg.pop("spherical_friction", None)
    return pp.loads(yaml.safe_dump(data))


@cache
def machine() -> pp.Robot:
    """Heavier by 10 to 15 %, its centre of mass elsewhere; other friction in every drive."""
    robot, draw = nominal(), np.random.default_rng(5)
    body = robot.platform
    values: dict[str, Any] = {
        "platform.mass": 1.12 * body.mass,
        "platform.com": np.add(body.com, (0.004, -0.003, 0.006)).tolist(),
        "platform.inertia": (1.15 * np.array(body.inertia)).tolist(),
    }
    for k, leg in enumerate(robot.legs):
        values[f"legs.{k}.prismatic_friction.viscous"] = float(VISCOUS[k])
        for name in ("lower", "upper"):
            part, factor = getattr(leg, name), 1.10 + 0.05 * draw.random()
            values[f"legs.{k}.{name}.mass"] = factor * part.mass
            values[f"legs.{k}.{name}.inertia"] = (factor * np.array(part.inertia)).tolist()
    return robot.with_(values)


@cache
def driven(seed: int) -> tuple[Any, Any, Any, Any]:
    """Times, coordinates, their rates and forces without friction (n, 6) of Pinocchio along two periods."""
    model, samples = pp.Model(nominal()), 1000
    best = excite(model, duration=2.0, harmonics=6, tries=200, noise=1.0, seed=seed)
    way = best.motion.trajectory.for_model(model).at(np.arange(samples) / RATE)
    judge = Oracle(machine())
    moved = [judge.actuated(*state)[:2] for state in zip(way.pose, way.twist, way.acceleration, strict=True)]
    force = [judge.inverse_dynamics(*state, np.zeros(6))
             for state in zip(way.pose, way.twist, way.acceleration, strict=True)]  # fmt: skip
    q, rate = np.moveaxis(np.array(moved), 1, 0)
    return np.arange(2 * samples) / RATE, *(np.concatenate([x, x]) for x in (q, rate, np.array(force)))


def plant(seed: int, delay: Any = 0.0, gain: Any = 0.0, bias: Any = 0.0, encoder: Any = 0.0, step: float = 0.0) -> Log:
    """A log of the machine with errors of its channels, noise of 1 um and 1 N."""
    time, q, rate, force = driven(seed)
    draw = np.random.default_rng(seed + 10)
    delay = np.broadcast_to(delay, 6)
    found = np.empty_like(force)
    for k in range(6):
        at = np.clip(time - delay[k], 0.0, time[-1])
        smooth, moving = (CubicSpline(time, x[:, k])(at) for x in (force, rate))
        found[:, k] = smooth + VISCOUS[k] * moving + DRAG[k] * np.sign(moving)
    found = (1 + np.asarray(gain)) * found + bias + draw.standard_normal(found.shape)
    found = np.round(found / step) * step if step else found
    return Log(f"plant{seed}", time, q + encoder + 1e-6 * draw.standard_normal(q.shape), found)


NAMED = ("legs.*.prismatic_friction.drag",)


@pytest.mark.long
@pytest.mark.parametrize(
    ("errors", "friction", "kinds"),
    [
        ({}, NAMED, set()),
        ({"bias": 20 * ONE[2]}, NAMED, {("offset", "leg3")}),
        ({"delay": 0.5e-3}, NAMED, {("delay", "")}),
        ({"delay": 2e-3}, NAMED, {("delay", "")}),
        ({"delay": 5e-3}, NAMED, {("delay", "")}),
        ({"delay": -1e-3}, NAMED, {("delay", "")}),
        ({"delay": 0.6e-3 * ONE[1]}, NAMED, {("delay", "leg2")}),
        ({"gain": 0.1 * ONE[1]}, NAMED, {("gain", "leg2")}),
        ({"encoder": 2e-3 * ONE[0]}, NAMED, {("encoder", "leg1")}),
        ({"step": 5.0}, NAMED, set()),
        ({}, (), {("drag", f"leg{k}") for k in range(1, 7)}),
        ({"bias": 20 * ONE[2], "delay": 1e-3, "gain": 0.1 * ONE[4]}, NAMED,
         {("offset", "leg3"), ("delay", ""), ("gain", "leg5")}),
    ],
    ids=["none", "offset", "0.5 ms", "2 ms", "5 ms", "hold", "0.6 ms of one", "gain", "encoder", "steps of 5 N",
         "drag not named", "three at once"],
)  # fmt: skip
def test_intervals_hold_the_truth_of_a_foreign_machine(errors: Any, friction: Any, kinds: Any) -> None:
    """95 % intervals hold the machine's base parameters in 90 % or more, and what measurement added is named."""
    result = identify(pp.Model(nominal()), plant(0, **errors), plant(1, **errors), friction=friction)
    assert {(e.kind, e.actuator) for e in result.channels} == kinds
    assert result.verdict.explained
    holds_the_truth(result)


@pytest.mark.long
@pytest.mark.parametrize("stamped", [True, False])
def test_intervals_hold_the_truth_with_a_clock_that_jitters(stamped: bool) -> None:
    """Samples 0.1 ms off in the mean, with their true times or even ones."""
    logs = []
    for seed in range(2):
        log = plant(seed)
        off = 1e-4 * np.random.default_rng(100 + seed).standard_normal(len(log.time))
        at = np.clip(log.time + off, log.time[0], log.time[-1])
        moved = {"q": CubicSpline(log.time, log.q)(at), "force": CubicSpline(log.time, log.force)(at)}
        logs.append(replace(log, **moved, time=at if stamped else log.time))
    holds_the_truth(identify(pp.Model(nominal()), *logs, friction=NAMED))


def holds_the_truth(result: Any) -> None:
    """95 % intervals of base parameters hold those of the machine in 90 % or more."""
    dragged = machine().with_({f"legs.{k}.prismatic_friction.drag": float(DRAG[k]) for k in range(6)})
    true = {n.name: n.value for n in LinearModel(pp.Model(dragged)).numbers}
    wanted = result.base.values(np.array([true[n.name] for n in result.linear.numbers]))
    off = np.abs(result.beta - wanted) / result.half_widths
    assert (off <= 1).mean() >= 0.9
    assert off.max() < 2.0  # of a hundred intervals the worst by chance


def test_a_sample_beyond_a_reversal_is_no_lack_of_the_model() -> None:
    """One sample in a thousand may be off by a hundred times the noise, one in twenty not."""
    fit, held = five_bar_log(0), five_bar_log(1)
    for every, explained in ((1000, True), (20, False)):
        off = np.zeros_like(held.force)
        off[10::every, 0] = 100 * FIVE_BAR["noise_force"]
        assert identify(five_bar(), fit, replace(held, force=held.force + off)).verdict.explained is explained
