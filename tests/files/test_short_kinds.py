"""Short kinds of legs equal general legs written by hand, of the same points; faults point at what the user wrote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import LegData
from polypod.description.leg import parse_leg
from polypod.errors import RobotFileError
from polypod.files import loads
from polypod.files.short_forms import expand
from polypod.files.short_forms.kinds import KINDS

HOME = {"position": [0.01, -0.02, 0.5], "angles": [0.3, 0.0, 0.1]}
POINTS = {"base": [0.3, 0.1, 0.0], "platform": [0.1, 0.02, -0.01]}
TIP = HOME["position"] + Rotation.from_euler("ZYX", HOME["angles"]).apply(POINTS["platform"])


def joint(name: str, kind: str, between: str, at: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "between": between.split(), "at": [float(x) for x in at], **fields}


def rod(mass: float, start: Any, end: Any) -> dict[str, Any]:
    """A slender uniform rod by the textbook."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    way = end - start
    tensor = mass / 12 * (way @ way * np.eye(3) - np.outer(way, way))
    return {"mass": mass, "com": (0.5 * (start + end)).tolist(), "inertia": tensor.tolist()}


def unit(way: Any) -> list[float]:
    return (np.array(way, dtype=float) / np.linalg.norm(way)).tolist()


ELBOW, AXIS = [0.35, 0.12, 0.05], [0.0, 0.6, 0.8]
BASE = np.array(POINTS["base"])
MIDDLE, ALONG = 0.5 * (BASE + TIP), unit(TIP - BASE)
ACROSS = unit(np.cross(AXIS, TIP - np.array(ELBOW)))
MOTOR = joint("motor", "revolute", "base crank", BASE, axis=AXIS, actuated=True)
HALF = 0.05 * np.array(AXIS)
CRANKED = {"axis": AXIS, "elbow": ELBOW, "bodies": {"crank": {"mass": 0.2}, "rod": {"mass": 0.3}}}
BODIES = {"crank": rod(0.2, BASE, ELBOW), "rod": rod(0.3, ELBOW, TIP)}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]] = {
    "RUS": (
        CRANKED,
        BODIES,
        [
            MOTOR,
            joint("elbow", "universal", "crank rod", ELBOW, axes=[AXIS, ACROSS]),
            joint("ball", "spherical", "rod platform", TIP),
        ],
    ),
    "RSS": (
        CRANKED,
        BODIES,
        [MOTOR, joint("elbow", "spherical", "crank rod", ELBOW), joint("ball", "spherical", "rod platform", TIP)],
    ),
    "Delta": (
        {"axis": AXIS, "elbow": ELBOW, "spacing": 0.1, "bodies": {"arm": {"mass": 0.2}, "rod": {"mass": 0.3}}},
        {
            "arm": rod(0.2, BASE, ELBOW),
            "rod1": rod(0.3, ELBOW + HALF, TIP + HALF),
            "rod2": rod(0.3, ELBOW - HALF, TIP - HALF),
        },
        [
            {**MOTOR, "between": ["base", "arm"]},
            joint("elbow1", "spherical", "arm rod1", ELBOW + HALF),
            joint("elbow2", "spherical", "arm rod2", ELBOW - HALF),
            joint("wrist1", "spherical", "rod1 platform", TIP + HALF),
            joint("wrist2", "spherical", "rod2 platform", TIP - HALF),
        ],
    ),
    "RPS": (
        {"axis": AXIS, "bodies": {"lower": {"mass": 0.5}, "upper": {"mass": 0.4}}},
        {"lower": rod(0.5, BASE, MIDDLE), "upper": rod(0.4, MIDDLE, TIP)},
        [
            joint("hinge", "revolute", "base lower", BASE, axis=AXIS),
            joint(
                "drive", "prismatic", "lower upper", MIDDLE, axis=ALONG, actuated=True,
                offset=float(np.linalg.norm(TIP - BASE)),
            ),
            joint("ball", "spherical", "upper platform", TIP),
        ],
    ),
    "PRS": (
        {"axis": AXIS, "direction": [0.0, 0.0, 2.0], "bodies": {"slider": {"mass": 0.5}, "link": {"mass": 0.4}}},
        {"slider": {"mass": 0.5, "com": POINTS["base"]}, "link": rod(0.4, BASE, TIP)},
        [
            joint("drive", "prismatic", "base slider", BASE, axis=[0.0, 0.0, 1.0], actuated=True),
            joint("hinge", "revolute", "slider link", BASE, axis=AXIS),
            joint("ball", "spherical", "link platform", TIP),
        ],
    ),
    "UP": (
        {"axis": AXIS, "bodies": {"tube": {"mass": 0.5}, "rod": {"mass": 0.4}}},
        {"tube": rod(0.5, BASE, MIDDLE), "rod": rod(0.4, MIDDLE, TIP)},
        [
            joint("universal", "universal", "base tube", BASE, axes=[AXIS, unit(np.cross(AXIS, TIP - BASE))]),
            joint("slide", "prismatic", "tube rod", MIDDLE, axis=ALONG),
            joint("flange", "fixed", "rod platform", TIP),
        ],
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_kinds_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples in other tests register leg kinds of their own with such names."""
    known = {name: kind for name, kind in LegData.registry.items() if name not in KINDS}
    monkeypatch.setattr(LegData, "registry", known)


def written(leg: dict[str, Any]) -> Any:
    """A leg of a document, written out and checked."""
    return parse_leg(expand({"home": HOME, "legs": [leg]}).document["legs"][0])


def numbers(value: Any) -> Any:
    """A leg as nested lists and names, numbers to twelve digits."""
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [numbers(part) for part in value]
    return round(value, 12) + 0.0 if isinstance(value, float) else value


def test_every_kind_has_a_case() -> None:
    assert set(CASES) == set(KINDS)


@pytest.mark.parametrize("kind", CASES)
def test_a_short_kind_is_the_leg_written_by_hand(kind: str) -> None:
    fields, bodies, joints = CASES[kind]
    short = written({"kind": kind, **POINTS, **fields})
    whole = parse_leg({"kind": "chain", "bodies": bodies, "joints": joints})
    assert numbers(short.model_dump()) == numbers(whole.model_dump())


def test_joints_take_any_field_of_a_joint() -> None:
    drive = {"rotor": 0.01, "friction": {"viscous": 3.0}, "ratio": 2.0}
    leg = written({"kind": "RUS", **POINTS, **CRANKED, "joints": {"motor": drive, "ball": {"friction": {"drag": 1.0}}}})
    assert (leg.joints[0].rotor, leg.joints[0].friction.viscous, leg.joints[0].ratio) == (0.01, 3.0, 2.0)
    assert leg.joints[2].friction.drag == 1.0


def test_a_body_by_its_own_numbers() -> None:
    own = {"mass": 1.0, "com": [0.1, 0.2, 0.3], "inertia": [0.1, 0.1, 0.1]}
    leg = written({"kind": "Delta", **POINTS, **CASES["Delta"][0], "bodies": {"arm": own, "rod": {"mass": 0.0}}})
    assert leg.bodies["arm"].com == (0.1, 0.2, 0.3)
    assert {"rod1", "rod2"} <= set(leg.bodies)


@pytest.mark.parametrize(
    ("change", "line", "text"),
    [
        ("elbow: [0.12, 0.07, 0]=elbo: [0.12, 0.07, 0]", 9, "Did you mean 'elbow'"),
        ("rotor: 1.0e-4=rotr: 1.0e-4", 12, "unknown field 'rotr'"),
        ("crank: {mass=crunk: {mass", 11, "unknown body 'crunk'"),
        ("motor: {=engine: {", 12, "unknown joint 'engine'"),
        ("mass: 0.05=mass: -0.05", 11, "greater than or equal to 0"),
        ("kind: RUS=kind: RUP", 5, "unknown leg kind 'RUP'"),
    ],
)
def test_faults_point_at_what_is_written(change: str, line: int, text: str) -> None:
    old, new = change.split("=")
    with pytest.raises(RobotFileError) as caught:
        loads(SERVO.replace(old, new))
    found = [fault for fault in caught.value.faults if text in fault.message]
    assert [fault.line for fault in found] == [line]


SERVO = """name: servo
home: {position: [0, 0, 0.2]}
platform: {mass: 1.0, inertia: [0.01, 0.01, 0.02]}
legs:
  - kind: RUS
    copies: {count: 3, about: [0, 0, 1]}
    base: [0.12, 0.03, 0]
    axis: [1, 0, 0]
    elbow: [0.12, 0.07, 0]
    platform: [0.08, 0.02, 0]
    bodies: {crank: {mass: 0.05}, rod: {mass: 0.08}}
    joints: {motor: {rotor: 1.0e-4, friction: {viscous: 0.01}}}
"""


def test_a_servo_hexapod_in_a_dozen_lines() -> None:
    """Six motors balance the weight: J^T f = weight of everything, by the work of a lift of the platform."""
    data = yaml.safe_load(SERVO)
    other = {**data["legs"][0], "base": [0.12, -0.03, 0], "elbow": [0.12, -0.07, 0], "platform": [0.08, -0.02, 0]}
    robot = loads(yaml.safe_dump({**data, "legs": [*data["legs"], other]}))
    assert len(robot.legs) == 6
    model, still = pp.Model(robot), np.zeros(6)
    home, lifted = robot.home.matrix, robot.home.matrix.copy()
    force = model.inverse_dynamics(home, still, still, friction=False)
    step = 1e-5
    energies = []
    for sign in (1, -1):
        lifted[2, 3] = home[2, 3] + sign * step
        energies.append(model.energy(lifted, still).potential)
    rise = (energies[0] - energies[1]) / (2 * step)
    assert (model.jacobian(home).T @ force)[2] == pytest.approx(rise, rel=1e-8)
