"""Machines by chance, against the engine of constraints: shared bodies, inner loops, internal coordinates, stages, on a
base that moves.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

import polypod as pp
from polypod.errors import RobotFileError
from polypod.files import loads
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Engine, Motion, Place
from support.engines.moving_machines import BaseMotion, order, random_motion, state_of, without_spin
from support.robots.divided import divided
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import Data
from support.robots.redundant import redundant

# Both sides round in double precision, magnified by the condition of legs and Jacobian (below 1e3).
TOLERANCE = 1e-10
NAMES = [name for name in MACHINES if len(MACHINES[name](1)["legs"]) <= 3]


def compare(name: str, seed: int, extra: bool) -> str:
    """Forces of a machine on a base that moves; what became of it."""
    data = MACHINES[name](seed)
    data = redundant(data, seed, along=0.8) if extra else data
    data = _named(divided(data, seed))
    engine, rng = Engine(data), np.random.default_rng(seed + 1)
    found = random_motion(engine, rng)
    if found is None:
        with pytest.raises(RobotFileError):
            Functions(loads(to_yaml(data)))
        return "jammed"
    place, motion, change = found
    base = BaseMotion(np.eye(4), rng.normal(size=6), 3 * rng.normal(size=6))
    wrench = 5 * rng.normal(size=6)
    given = {**state_of(engine, place, motion, change), "wrench": wrench}
    function, own = Functions(loads(to_yaml(data))), order(data, engine)
    met = function("inverse_kinematics", **given)
    tolerance = TOLERANCE + 1e-13 / float(met["quality"])
    q = engine.coordinates(place)[own]
    assert_close(met["q"][None], q[None], TOLERANCE, max(1.0, np.abs(q).max()))
    if len(own) > engine.coordinate_count:
        return "redundant drives"
    expression = function.kernels.expression(function.mechanism, "inverse_dynamics", moving_base=True)
    force = function.evaluate(expression, **given, base_twist=base.twist, base_acceleration=base.acceleration)["force"]
    there, moving = base.carried(place, motion)
    wanted = engine.inverse_dynamics(there, without_spin(engine, there, moving), wrench, relative=motion)[own]
    assert_close(force[None], wanted[None], tolerance)
    expression = function.kernels.expression(function.mechanism, "energy", moving_base=True)
    energy = function.evaluate(expression, **given, base_twist=base.twist, base_acceleration=base.acceleration)
    seen = without_spin(engine, there, moving).velocity
    rates = engine.drive_rows(place) @ motion.velocity.ravel()
    rotors = np.array([d.rotor for d in engine.drives])
    kinetic = 0.5 * seen.ravel() @ engine.inertia(there) @ seen.ravel() + 0.5 * rotors @ rates**2
    np.testing.assert_allclose(energy["kinetic"], kinetic, rtol=tolerance)
    np.testing.assert_allclose(energy["potential"], engine.potential(place), rtol=tolerance, atol=1e-10)
    still = engine.inverse_dynamics(place, motion, wrench)[own]
    assert_close(function("inverse_dynamics", **given)["force"][None], still[None], tolerance)
    return "compared"


def _named(data: Data) -> Data:
    """Internal coordinates of a divided machine, by the names that their joints have now."""
    if not data.get("internal"):
        return data
    places = [(leg["name"], joint["name"]) for leg in data["legs"] for joint in leg["joints"]]
    places += [("", joint["name"]) for joint in data.get("joints", ())]
    names = []
    for path in data["internal"]:
        old = path.partition(".")[2]
        leg, joint = next(one for one in places if one[1] == old or one[1].startswith(f"{old}-"))
        names.append(f"{leg}.{joint}" if leg else joint)
    return {**data, "internal": names}


# -- stages ------------------------------------------------------------------------------------------------------------


def stacked(low: Data, high: Data) -> Data:
    """Two machines as one: the platform of the lower is a body that carries the joints of the higher."""
    low, high = deepcopy(low), deepcopy(high)
    carrier = Engine(low)
    turn, at = carrier.home[:3, :3], carrier.home[:3, 3]
    first = low["platform"]
    bodies = {
        "carrier": {
            "mass": first["mass"],
            "com": carrier.centres[0].tolist(),
            "inertia": carrier.tensors[0].tolist(),
        }
    }
    legs = []
    for number, leg in enumerate(low["legs"]):
        for joint in leg["joints"]:
            joint["between"] = ["carrier" if one == "platform" else one for one in joint["between"]]
        legs.append({**leg, "name": f"low{number}"})
    for number, leg in enumerate(high["legs"]):
        for body in leg["bodies"].values():
            inertia = np.array(body.get("inertia", np.zeros((3, 3))), dtype=float)
            inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
            body["com"] = (at + turn @ np.array(body.get("com", np.zeros(3)))).tolist()
            body["inertia"] = (turn @ inertia @ turn.T).tolist()
        for joint in leg["joints"]:
            joint["between"] = ["carrier" if one == "base" else one for one in joint["between"]]
            joint["at"] = (at + turn @ np.array(joint.get("at", np.zeros(3)))).tolist()
            for field in ("axis", "axes"):
                if field in joint:
                    joint[field] = (np.array(joint[field], dtype=float) @ turn.T).tolist()
        legs.append({**leg, "name": f"high{number}"})
    home = np.eye(4)
    home[:3, 3] = at + turn @ np.array(high.get("home", {}).get("position", np.zeros(3)))
    home[:3, :3] = turn @ np.array(high.get("home", {}).get("rotation", np.eye(3)))
    gravity = {"gravity": low["gravity"]} if "gravity" in low else {}
    place = {"position": home[:3, 3].tolist(), "rotation": home[:3, :3].tolist()}
    return {"platform": high["platform"], "home": place, "bodies": bodies, "legs": legs, **gravity}


def compare_stages(names: tuple[str, str], seed: int) -> str:
    """Forces of two machines, one on the other, on a base that moves: the engine has one machine of all bodies."""
    low, high = (MACHINES[name](seed + k) for k, name in enumerate(names))
    rng = np.random.default_rng(seed)
    engines = [Engine(low), Engine(high)]
    found = [random_motion(engine, rng) for engine in engines]
    robots = [loads(to_yaml({**data, "name": f"stage {k}"})) for k, data in enumerate((low, high))]
    models = [pp.Model(robot) for robot in robots]
    if any(one is None for one in found) or any(len(m.actuators) > len(m.dof) for m in models):
        return "not compared"
    (low_place, low_motion, _), (high_place, high_motion, _) = (one for one in found if one is not None)
    base = BaseMotion(np.eye(4), rng.normal(size=6), 3 * rng.normal(size=6))
    wrench = 5 * rng.normal(size=6)
    motions = [
        (engine.pose(place), motion.velocity[0], motion.acceleration[0])
        for engine, place, motion in zip(engines, (low_place, high_place), (low_motion, high_motion), strict=True)
    ]
    machine = pp.series(*models)
    forces = machine.inverse_dynamics(
        motions, wrench, friction=False, base_twist=base.twist, base_acceleration=base.acceleration
    )
    below, moving = base.carried(low_place, low_motion)
    between = BaseMotion(engines[0].pose(below), moving.velocity[0], moving.acceleration[0])
    above, going = between.carried(high_place, high_motion)
    below, moving = _at_its_centre(engines[0], below, moving)
    # the platform of all is the higher one; the lower is the first of the shared bodies
    places = Place(
        np.concatenate([above.points[:1], below.points, above.points[1:]]),
        np.concatenate([above.turns[:1], below.turns, above.turns[1:]]),
        np.r_[below.q, above.q],
    )
    parts = [np.concatenate([b[:1], a, b[1:]]) for a, b in zip(moving, going, strict=True)]
    whole = Engine(stacked(low, high))
    places, start = _as_drawn(whole, engines, places), engines[0].home[:3, :3]
    whole.lines = {1 + body: line for body, line in engines[0].lines.items()}
    whole.lines |= {engines[0].count + body: start @ line for body, line in engines[1].lines.items()}
    # the wrench is in the axes of the base of its stage
    turned = np.r_[between.pose[:3, :3] @ wrench[:3], between.pose[:3, :3] @ wrench[3:]]
    own = zip(engines, (low_place, high_place), (low_motion, high_motion), strict=True)
    seconds = np.concatenate([engine.drive_accelerations(at, *motion) for engine, at, motion in own])
    whole.drive_accelerations = lambda *_: seconds  # type: ignore[method-assign]  # rotors turn with their coordinates
    wanted = whole.inverse_dynamics(places, without_spin(whole, places, Motion(*parts)), turned)
    assert_close(np.concatenate(forces)[None], wanted[None], 100 * TOLERANCE)
    return "compared"


def _at_its_centre(engine: Engine, place: Place, motion: Motion) -> tuple[Place, Motion]:
    """The same with the motion of the platform's centre of mass in place of its origin's: it is a body like others."""
    points, velocity, acceleration = place.points.copy(), motion.velocity.copy(), motion.acceleration.copy()
    arm, w, change = place.turns[0] @ (engine.centres[0] - engine.starts[0]), velocity[0, 3:], acceleration[0, 3:]
    points[0] += arm
    velocity[0, :3] += np.cross(w, arm)
    acceleration[0, :3] += np.cross(change, arm) + np.cross(w, np.cross(w, arm))
    return place._replace(points=points), Motion(velocity, acceleration)


def _as_drawn(whole: Engine, engines: list[Engine], place: Place) -> Place:
    """Turns from home of all bodies: those of the higher stage are drawn where the lower carries them at home."""
    turns = place.turns.copy()
    start = engines[0].home[:3, :3]
    high = [0, *range(1 + engines[0].count, whole.count)]
    turns[high] = turns[high] @ start.T
    return place._replace(turns=turns)


@pytest.mark.parametrize("seed", [3, 8])
def test_machines_on_a_moving_base(seed: int) -> None:
    assert compare(("slider-crank", "double wishbone")[seed % 2], seed, extra=bool(seed % 2)) == "compared"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_many_machines_on_a_moving_base(seed: int) -> None:
    """A machine that is jammed at home does not count: the next one of its kind is taken."""
    name = NAMES[seed % len(NAMES)]
    assert "compared" in (compare(name, 1000 + seed + 200 * k, extra=seed % 3 == 0) for k in range(20))


def test_stages_are_one_machine() -> None:
    assert compare_stages(("slider-crank", "double wishbone"), 4) == "compared"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_many_stages_are_one_machine(seed: int) -> None:
    """A pair of which one is jammed at home does not count."""
    rng = np.random.default_rng(seed)
    pairs = [(NAMES[rng.integers(len(NAMES))], NAMES[rng.integers(len(NAMES))]) for _ in range(20)]
    assert "compared" in (compare_stages(pair, 2000 + seed + 40 * k) for k, pair in enumerate(pairs))


def test_a_part_at_robot_level_that_hangs_on_the_base_alone() -> None:
    """A driven wheel beside everything else, as an internal coordinate: once refused, as no joint of it holds the
    platform."""
    assert compare("2-UPR+RPU", 1042, extra=True) == "compared"


def test_an_internal_coordinate_that_opens_a_loop_is_refused() -> None:
    """A slide across the plane of a planar robot: what only repeated other constraints at home had been left out, and
    inverse kinematics answered with a loop open by the slide's travel."""
    assert compare("planar 3-RPR", 1872, extra=True) == "jammed"
