"""Brakes and stops as contacts of a simulation: closed forms, events, and energy that goes nowhere else."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, RobotFileError, UnknownNameError
from polypod.files import dumps, loads
from support.chain_functions import Functions
from support.refusals import refused

SLIDE = """
name: slide
gravity: [0, 0, 0]
home: {position: [0, 0, 0.3]}
platform: {mass: 2, inertia: [0.1, 0.1, 0.1]}
dof: [z]
legs:
- kind: chain
  name: all
  bodies: {}
  joints: [{name: guide, kind: prismatic, between: [base, platform], at: [0, 0, 0], axis: [0, 0, 1], actuated: true}]
elements:
- {name: holding, kind: brake, joint: all.guide, force: 30 N}
- {name: buffer, kind: stop, joint: all.guide, range: [-1 m, 250 mm], stiffness: 20 N/mm, damping: 30 N s/m}
"""


@cache
def slide() -> pp.Model:
    return pp.Model(loads(SLIDE))


def events(run: Any) -> list[tuple[str, float, str]]:
    rows = zip(run.event_kind.values, run.event_time.values, run.event_text.values, strict=True)
    return [(str(kind), float(time), str(text)) for kind, time, text in rows]


def test_a_brake_stops_holds_and_lets_go() -> None:
    """v^2/(2 F/m) from where it engages, between two samples; held against 10 N; then 10 N/2 kg again."""
    run = pp.simulate(
        slide(), [10.0], duration=0.55, rate=1000.0, twist=[0, 0, 1.0, 0, 0, 0], brakes={"holding": [0.0203, 0.4]}
    )
    begin = 0.0203 + 0.5 * 5 * 0.0203**2
    speed = 1.0 + 5 * 0.0203
    stop, way = 0.0203 + speed / 10, begin + speed**2 / 20  # 30 N less the 10 N that drive
    found = events(run)
    assert [kind for kind, _, _ in found] == ["brake"] * 3
    assert [time for _, time, _ in found] == pytest.approx([0.0203, stop, 0.4], rel=1e-5)
    place = run.pose.values[:, 2, 3] - 0.3
    still = (run.time.values > stop) & (run.time.values < 0.4)
    assert place[still] == pytest.approx(way, rel=1e-9)
    assert place[-1] == pytest.approx(way + 0.5 * 5 * 0.15**2, rel=1e-9)
    assert run.work_friction.values[-1] == pytest.approx(30 * (way - begin), rel=1e-9)
    assert np.abs(run.energy_residual).max() < 1e-9


def test_a_stop_with_a_range_of_its_own_is_an_event() -> None:
    """It is reached at 250 mm and left with less speed; what is missing is what its damping took."""
    run = pp.simulate(slide(), [0.0], duration=0.5, rate=2000.0, twist=[0, 0, 1.0, 0, 0, 0])
    (first,) = events(run)
    assert first[0] == "contact"
    assert first[1] == pytest.approx(0.25, rel=1e-9)
    speed = float(run.twist[-1, 2])
    assert -1.0 < speed < -0.2
    lost = 0.5 * 2 * (1 - speed**2)
    assert run.work_friction.values[-1] == pytest.approx(lost, rel=1e-4)  # of fixed steps that meet a corner


def test_forces_with_an_engaged_brake() -> None:
    """Of a short leg kind, in a passive joint too: all formulations, and the force of a brake against its rate."""
    text = dumps(pp.load("hexapod"))
    rng = np.random.default_rng(1)
    given = {"pose": pp.load("hexapod").home.matrix, "twist": rng.normal(size=6), "acceleration": rng.normal(size=6)}
    free = Functions(loads(text))("inverse_dynamics", False, **given)["force"]
    rates = Functions(loads(text))("rates", **given)["qdot"]
    viscous = Functions(loads(text))("inverse_dynamics", True, **given)["force"]
    brake = "\nelements: [{name: hold, kind: brake, joint: leg2.prismatic, force: 40 N, engaged: ENGAGED}]\n"
    held = Functions(loads(text + brake.replace("ENGAGED", "true")))
    for formulation in ("virtual-power", "newton-euler", "lagrange", "recursive-matrix"):
        force = held("inverse_dynamics", True, formulation, **given)["force"]
        wanted = viscous + 40 * np.sign(rates) * (np.arange(6) == 1)
        assert np.abs(force - wanted).max() < 1e-6 * np.abs(wanted).max()  # the smooth law's width
        assert np.abs(held("inverse_dynamics", False, formulation, **given)["force"] - free).max() < 1e-9
    released = Functions(loads(text + brake.replace("ENGAGED", "false")))
    assert np.array_equal(released("inverse_dynamics", True, **given)["force"], viscous)


def test_a_brake_in_a_passive_joint_takes_its_torque() -> None:
    """A hinge of a leg: virtual power of the brake's moment at the joint's rate."""
    text = dumps(pp.load("five-bar"))
    brake = "\nelements: [{name: hold, kind: brake, joint: right.JOINT, force: 2 N m, engaged: true}]\n"
    joints = pp.load("five-bar").legs[0].joints  # type: ignore[attr-defined]
    name = next(joint.name for joint in joints if joint.kind == "revolute" and not joint.actuated)
    whole, model = pp.Model("five-bar"), Functions(loads(text))
    pose, twist, acceleration = (np.asarray(one)[0] for one in whole.motion([[0.01, 0.02]], [[0.3, -0.2]], [[0, 0]]))
    given = {"pose": pose, "twist": twist, "acceleration": acceleration}
    held = Functions(loads(text + brake.replace("JOINT", name)))
    more = held("inverse_dynamics", True, **given)["force"] - model("inverse_dynamics", True, **given)["force"]
    power = more @ model("rates", **given)["qdot"]
    rate = whole.joint_rates(pose, twist)[f"right.{name}"][0]
    assert power == pytest.approx(2 * abs(rate), rel=1e-6)
    for formulation in ("newton-euler", "lagrange"):
        again = held("inverse_dynamics", True, formulation, **given)["force"]
        assert again == pytest.approx(held("inverse_dynamics", True, **given)["force"], rel=1e-9)


def test_bad_brakes_are_refused() -> None:
    for wrong in ("force: 30 N m", "force: 0", "force: 30 N, at: [0, 0, 0]"):
        with pytest.raises(RobotFileError) as caught:
            loads(SLIDE.replace("force: 30 N}", f"{wrong}}}"))
        assert caught.value.faults[0].field.startswith("elements.0")
    with pytest.raises(RobotFileError):
        loads(SLIDE.replace("joint: all.guide, force", "between: [base, platform], at: [[0, 0, 0], [0, 0, 1]], force"))
    with refused(UnknownNameError, "holding parking"):
        pp.simulate(slide(), duration=0.1, brakes={"parking": 0.1})
    with refused(InputError, "holding"):
        pp.simulate(slide(), duration=0.1, brakes={"holding": [0.2, 0.1]})
    with refused(InputError, "friction"):
        pp.simulate(slide(), duration=0.1, friction=False, brakes={"holding": 0.1})
