"""A payload is a body on the platform: equal to one platform by the parallel-axis theorem, and to Pinocchio."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import polypod as pp
from bench.peers.pinocchio.tree import inertia
from polypod.control import scaled_masses
from polypod.errors import InputError, RobotFileError
from polypod.exchange import linkage_of
from polypod.files import dumps, load, loads
from polypod.formulations import FORMULATIONS
from polypod.platforms.modes import modes_of
from polypod.results.report.page import platform_facts
from support.compare import close
from support.engines.oracle import Oracle, State, states
from support.refusals import refused
from support.states import easy

TOOL = {"name": "tool", "mass": 12.0, "com": [0.05, -0.02, 0.2], "inertia": [0.2, 0.25, 0.15]}
PART = {"mass": 5.0, "com": [0.0, 0.1, 0.3], "inertia": [[0.03, 0.005, 0.0], [0.005, 0.04, 0.0], [0.0, 0.0, 0.05]]}
FLEXIBLE = Path(__file__).parents[2] / "examples" / "long-flexible.yaml"
# both sides round in double precision; the condition of J (below 10 here) magnifies it
TIGHT = 1e-12


def with_payload(*bodies):
    return load("hexapod").model_copy(update={"payload": tuple(pp.description.Payload(**body) for body in bodies)})


def by_hand(robot, bodies):
    """One platform: masses add, the centre of mass is their mean, tensors are moved to it (Steiner)."""
    parts = [(b["mass"], np.array(b["com"]), np.array(b["inertia"])) for b in bodies]
    own = robot.platform
    parts.append((own.mass, np.array(own.com), np.array(own.inertia)))
    mass = sum(m for m, _, _ in parts)
    centre = sum(m * c for m, c, _ in parts) / mass
    tensor = np.zeros((3, 3))
    for m, c, i in parts:
        d = c - centre
        tensor += (np.diag(i) if i.ndim == 1 else i) + m * (d @ d * np.eye(3) - np.outer(d, d))
    body = pp.description.Body(mass=mass, com=centre, inertia=0.5 * (tensor + tensor.T))
    return robot.model_copy(update={"platform": body, "payload": None})


@cache
def models():
    loaded = with_payload(TOOL, PART)
    return pp.Model(loaded), pp.Model(by_hand(loaded, (TOOL, PART)))


def test_payload_is_part_of_every_dynamic_result():
    loaded, one = models()
    at = easy(one, 6)
    state = at.pose, at.twist, at.acceleration
    wanted = one.inverse_dynamics(*state)
    close(loaded.inverse_dynamics(*state), wanted, TIGHT)
    close(loaded.direct_dynamics(*state[:2], wanted), one.direct_dynamics(*state[:2], wanted), TIGHT)
    close(loaded.mass_matrix(at.pose), one.mass_matrix(at.pose), TIGHT)
    for got, right in zip(loaded.energy(*state[:2]), one.energy(*state[:2]), strict=True):
        close(got, right, TIGHT)
    reactions, right = loaded.reactions(*state), one.reactions(*state)
    close(reactions.on_platform, right.on_platform, TIGHT)
    assert np.abs(wanted - pp.Model(load("hexapod")).inverse_dynamics(*state)).max() > 10.0  # it matters


@pytest.mark.long
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_payload_by_every_formulation(formulation):
    loaded, one = models()
    at = easy(one, 6)
    state = at.pose, at.twist, at.acceleration
    close(loaded.inverse_dynamics(*state, formulation=formulation), one.inverse_dynamics(*state), TIGHT)


def test_payload_against_pinocchio():
    robot = with_payload(TOOL, PART)
    oracle = Oracle(robot)
    for body in robot.payload:
        oracle.model.appendBodyToJoint(1, inertia(body), pin.SE3.Identity())
    oracle.data = oracle.model.createData()
    sampled = states(robot, oracle, 3, seed=5)
    batch = State(*map(np.array, zip(*sampled, strict=True)))
    got = models()[0].inverse_dynamics(*batch[:3], friction=False)
    close(got, np.array([oracle.inverse_dynamics(*state[:3]) for state in sampled]), TIGHT)


@pytest.mark.long
def test_numbers_of_a_payload_are_parameters():
    loaded = pp.Model(load("hexapod", {"payload.mass": "12 kg", "payload.com": [0.05, -0.02, "200 mm"]}))
    assert {"payload.mass", "payload.com", "payload.inertia"} <= set(loaded.parameters())
    at = easy(loaded, 3)
    state = at.pose, at.twist, at.acceleration
    masses = np.array([[0.0], [20.0]])
    got = loaded.inverse_dynamics(*state, parameters={"payload.mass": masses})
    for row, mass in zip(got, masses.ravel(), strict=True):
        body = {"mass": mass, "com": [0.05, -0.02, 0.2], "inertia": [0.0, 0.0, 0.0]}
        close(row, pp.Model(by_hand(load("hexapod"), (body,))).inverse_dynamics(*state), TIGHT)
    derivatives = loaded.derivatives("inverse_dynamics", *state, wrt=(), parameters=("payload.mass",)).parameters
    close(derivatives[..., 0], (got[1] - got[0]) / 20.0, TIGHT)  # forces are linear in the mass
    unknown = models()[0].parameters("payload.1.mass")
    assert unknown["payload.1.mass"] == 5.0


def test_exports_see_the_platform_with_its_payload():
    loaded, wanted = models()[0].robot, models()[1].robot.platform
    body = loaded.loaded_platform
    assert body.mass == wanted.mass == 67.0
    close(np.array(body.com), np.array(wanted.com), TIGHT)
    close(np.array(body.central_inertia), np.array(wanted.central_inertia), TIGHT)
    assert linkage_of(loaded).bodies["platform"].mass == 67.0


def test_reports_state_the_payload_with_their_inputs():
    """50 kg at the origin, 8 kg at 120 mm and 5 kg at 250 mm: 63 kg at (8*120 + 5*250)/63 = 35.08 mm."""
    bodies = [{"name": "spindle", "mass": 8.0, "com": [0, 0, 0.12]}, {"mass": 5.0, "com": [0.03, 0, 0.25]}]
    robot = pp.load("hexapod", {"platform.mass": 50.0, "platform.com": [0, 0, 0]})
    robot = type(robot).model_validate(robot.model_dump() | {"payload": bodies})
    facts = dict(platform_facts(robot))
    assert facts["Payload spindle"] == "8 kg, centre of mass at 0, 0, 120 mm in platform axes"
    assert facts["Payload 1"].startswith("5 kg")
    assert facts["Platform with payload"] == "63 kg, centre of mass at 2.381, 0, 35.08 mm in platform axes"
    assert list(dict(platform_facts(pp.load("hexapod")))) == ["Platform with payload"]


def test_payload_in_files():
    one = load("hexapod", {"payload.mass": 5})
    assert list(one.payloads) == ["payload"]
    assert loads(dumps(one)) == one
    several = with_payload(TOOL, PART)
    assert list(several.payloads) == ["payload.0", "payload.1"]
    assert loads(dumps(several)) == several
    text = dumps(one)
    for wrong, message in (
        ("payload: 5", "payload 5"),
        ("payload: {mas: 5}", "payload.mas mas mass"),
        ("payload: [{mass: 5}, {mass: -2}]", "payload.1.mass 0 -2"),
        ("payload: {mass: 1, inertia: [1, 1, 9]}", "payload.inertia"),
    ):
        changed = text.replace("payload:\n  mass: 5.0", wrong)
        with refused(RobotFileError, message) as raised:
            loads(changed)
        assert raised.value.faults[0].line == changed.splitlines().index(wrong) + 1


def test_a_flexible_platform_has_its_load_in_its_modes():
    with refused(RobotFileError, "payload"):
        load(FLEXIBLE, {"payload.mass": 1})
    with refused(InputError, code="payload"):
        with_payload(TOOL).on_modes(modes_of(load(FLEXIBLE)))


def test_controllers_misjudge_payload_with_the_platform():
    heavy = scaled_masses(with_payload(TOOL), platform=1.5)
    assert heavy.payload[0].mass == 18.0
    assert heavy.platform.mass == 75.0
    assert heavy.payload[0].inertia[0][0] == pytest.approx(0.3, rel=1e-15)
