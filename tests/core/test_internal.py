"""Internal coordinates: degrees of freedom beside the platform's, against the engine of constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.drawing import posed
from polypod.errors import InputError, RobotFileError
from polypod.files import loads
from polypod.motion import loads_motion
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Array, Engine, Motion, OutOfReachError, Place
from support.refusals import refused
from support.robots.internal import PLANAR, planar
from support.robots.machine_chains import MACHINES
from support.robots.redundant import redundant

# Both sides round in double precision, magnified by the condition of legs and Jacobian (below 1e3).
TOLERANCE = 1e-10
SMALL = (("slider-crank", 13), ("3-PUU", 3), ("RSSR", 17))


def reached(engine: Engine, aim: Array) -> Place | None:
    """The place at an aim, or nearer home: some machines stretch their arms there; None for one that cannot move so."""
    for part in (1.0, 0.1, 0.01):
        try:
            return engine.displaced(part * aim)
        except OutOfReachError:
            continue
    return None


def compare(name: str, seed: int, along: float = 0.5) -> bool:
    """Coordinates, rates, forces with friction, accelerations of a machine with joints of its own; False for one whose
    extra joints are refused, since they jam it."""
    data = redundant(MACHINES[name](seed), seed, along)
    engine, rng = Engine(data), np.random.default_rng(seed + 1)
    count, m = engine.coordinate_count, len(engine.chosen)
    place = reached(engine, rng.uniform(-0.03, 0.03, count))
    if place is None:
        with pytest.raises(RobotFileError):
            Functions(loads(to_yaml(data)))
        return False
    velocity = engine.velocity(place, rng.normal(size=count))
    rates = engine._rates_by_twists(place, engine.internal) @ velocity.ravel()
    change = 3 * rng.normal(size=count)
    motion = Motion(velocity, engine.acceleration(place, velocity, change))
    wrench = 5 * rng.normal(size=6)
    given: dict[str, Any] = {
        "pose": engine.pose(place),
        "internal": engine.internal_coordinates(place),
        "twist": np.r_[velocity[0], rates],
        "acceleration": np.r_[motion.acceleration[0], change[m:]],
        "wrench": wrench,
    }
    function = Functions(loads(to_yaml(data)))
    found = function("inverse_kinematics", **given)
    tolerance = TOLERANCE + 1e-13 / float(found["quality"])
    q = engine.coordinates(place)
    assert_close(found["q"][None], q[None], TOLERANCE, max(1.0, np.abs(q).max()))
    assert_close(
        function("rates", **given)["qdot"][None], (engine.drive_rows(place) @ velocity.ravel())[None], tolerance
    )
    if len(q) > count:  # the forces of redundant drives are a choice
        return True
    force = engine.inverse_dynamics(place, motion, wrench, friction=True)
    assert_close(function("inverse_dynamics", friction=True, **given)["force"][None], force[None], tolerance)
    back = function("direct_dynamics", friction=True, **given, force=force)["acceleration"]
    assert_close(back[None], given["acceleration"][None], 100 * tolerance)
    return True


def motions(count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(5)
    return rng.uniform(-0.05, 0.05, (count, 4)), rng.normal(size=(count, 4)), rng.normal(size=(count, 4))


def test_a_model_with_an_internal_coordinate() -> None:
    """Twists end with its rate; forward kinematics finds it; forces are those of the change of energy."""
    model = planar()
    assert (model.dof, model.internal) == (("x", "y", "yaw"), ("rail",))
    x, xdot, xddot = motions(4)
    pose, twist, acceleration = model.motion(x, xdot, xddot)
    s = x[:, 3:]
    assert twist.shape == (4, 7)
    np.testing.assert_array_equal(model.coordinates(pose, internal=s)[:, 3:], s)
    q = model.inverse_kinematics(pose, internal=s)
    np.testing.assert_allclose(q[:, 0], s[:, 0], rtol=1e-14)
    rates = model.rates(pose, twist, internal=s)
    np.testing.assert_allclose((model.jacobian(pose, internal=s) @ xdot[..., None])[..., 0], rates, rtol=1e-12)
    found = model.forward_kinematics(q, full_output=True)
    np.testing.assert_allclose(found.internal, s, atol=1e-13)
    np.testing.assert_allclose(found.pose, pose, atol=1e-13)
    force = model.inverse_dynamics(pose, twist, acceleration, internal=s)
    back = model.direct_dynamics(pose, twist, force, internal=s)
    np.testing.assert_allclose(back, acceleration, rtol=1e-11, atol=1e-11)

    def energy(t: float) -> Array:
        now = x + t * xdot + 0.5 * t * t * xddot
        there, going, _ = model.motion(now, xdot + t * xddot)
        kinetic, potential, _ = model.energy(there, going, internal=now[:, 3:])
        return kinetic + potential

    free = model.inverse_dynamics(pose, twist, acceleration, friction=False, internal=s)
    h = 1e-4  # differences of fourth order: 1e-16 / h and h^4
    power = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    np.testing.assert_allclose((free * rates).sum(axis=-1), power, rtol=1e-9)
    np.testing.assert_allclose(model.joint_positions(pose, internal=s)["leg1.rail"], s, atol=1e-14)


def test_the_regressor_knows_it() -> None:
    """Y p is the force, p that of the file; columns of the cart, which only slides, and of its drive's rotor are
    differences of forces, which are linear in them."""
    model = planar()
    x, xdot, xddot = motions(4)
    motion, s = model.motion(x, xdot, xddot), x[:, 3:]
    found, force = model.regressor(*motion, internal=s), model.inverse_dynamics(*motion, internal=s)
    np.testing.assert_allclose((found.matrix @ found.values), force, rtol=1e-12, atol=1e-13)
    for path, value, name in (
        ("legs.0.bodies.cart.mass", 1.5, "legs.0.bodies.cart.m"),
        ("legs.0.joints.0.rotor", 1.3, "legs.0.joints.0.rotor"),
    ):
        changed = model.inverse_dynamics(*motion, internal=s, parameters={path: value})
        column = found.matrix[..., found.names.index(name)]
        assert np.abs(column[:, 0]).min() > 0.1
        np.testing.assert_allclose(changed - force, column, rtol=1e-11, atol=1e-12)
    with pytest.raises(InputError):
        model.regressor(*motion)


def test_a_coordinate_that_is_held() -> None:
    """The robot with a joint that stands still has the forces and reactions of the one that moves, there."""
    model = planar()
    held = pp.Model(model.robot.with_({"internal.rail.held": "60 mm"}))
    assert held.internal == ()
    assert [one.name for one in held.actuators] == ["leg1", "arm1", "arm2"]
    x, xdot, xddot = (part[:, :3] for part in motions(4))
    pose, twist, acceleration = held.motion(x, xdot, xddot)
    s, still = np.full((4, 1), 0.06), np.zeros((4, 1))
    wide = [np.concatenate([part, still], axis=1) for part in (twist, acceleration)]
    wanted = model.reactions(pose, *wide, internal=s)
    found = held.reactions(pose, twist, acceleration)
    force = model.inverse_dynamics(pose, *wide, internal=s)
    np.testing.assert_allclose(held.inverse_dynamics(pose, twist, acceleration), force[:, 1:], rtol=1e-12)
    np.testing.assert_allclose(found.base, wanted.base, rtol=1e-12, atol=1e-12)
    for joint, one in wanted.legs["leg1"].items():
        np.testing.assert_allclose(found.legs["leg1"][joint].force, one.force, atol=1e-12)
    np.testing.assert_allclose(held.forward_kinematics(held.inverse_kinematics(pose)), pose, atol=1e-13)
    other = held.inverse_kinematics(pose, parameters={"internal.rail.held": 0.01})
    np.testing.assert_allclose(other, model.inverse_kinematics(pose, internal=still + 0.01)[:, 1:], atol=1e-14)


def test_a_motion_file_moves_it() -> None:
    """A study has the forces of the same states; without a path it stays at home; what does not fit is refused."""
    model = planar()
    text = """name: sway
rate: 50
trajectory: {kind: coordinates, path: {kind: sine, amplitude: [30 mm, 20 mm, 10 deg], frequency: 1, duration: 1}}
internal: {kind: sine, amplitude: [40 mm], frequency: 2, duration: 1}
"""
    result = pp.study(model, loads_motion(text))
    t = result.time.values
    s = 0.04 * np.sin(4 * np.pi * t)[:, None]
    np.testing.assert_allclose(result.internal.values, s, atol=1e-15)
    assert not pp.results.verdict(result).note  # a drive of an internal coordinate is not one too many
    x = np.array([0.03, 0.02, np.radians(10)]) * np.sin(2 * np.pi * t)[:, None]
    xdot = np.array([0.03, 0.02, np.radians(10)]) * 2 * np.pi * np.cos(2 * np.pi * t)[:, None]
    rate = 0.04 * 4 * np.pi * np.cos(4 * np.pi * t)[:, None]
    xddot, change = -((2 * np.pi) ** 2) * x, -((4 * np.pi) ** 2) * s
    whole = [np.concatenate(pair, axis=1) for pair in ((x, s), (xdot, rate), (xddot, change))]
    pose, twist, acceleration = model.motion(*whole)
    force = model.inverse_dynamics(pose, twist, acceleration, internal=s)
    np.testing.assert_allclose(result.force.values, force, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(result.force_part.sum("part").values, force, rtol=1e-10, atol=1e-10)
    drawn = posed(model.robot, pose[[5]], internal=s[[5]])
    cart = model.bodies(pose[5], internal=s[5])["leg1.cart"]
    np.testing.assert_allclose(drawn.frames[0, 2, :3, 3], cart[:3, 3], atol=1e-14)
    lines = text.splitlines(keepends=True)
    assert not pp.study(model, loads_motion("".join(lines[:3]))).internal.values.any()
    for wrong in ("amplitude: [1 mm, 2 mm], frequency: 2, duration: 1", "amplitude: [1 mm], frequency: 2, duration: 3"):
        with pytest.raises(InputError):
            pp.study(model, loads_motion("".join(lines[:3]) + f"internal: {{kind: sine, {wrong}}}\n"))


def motors(x: Array) -> Array:
    """Coordinates (..., 4) of PLANAR at [x, y, yaw, rail] (..., 4), from circles of crank and rod."""
    found = [x[..., 3]]
    for k in range(3):
        turn = np.radians(120 * k)
        turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        base, elbow, wrist = (turned @ np.array(at) for at in ([0.5, 0.0], [0.4, 0.2], [0.1, 0.0]))
        c, s = np.cos(x[..., 2]), np.sin(x[..., 2])
        there = np.stack([c * wrist[0] - s * wrist[1] + x[..., 0], s * wrist[0] + c * wrist[1] + x[..., 1]], axis=-1)
        away = there - base - (np.stack([0 * x[..., 3], x[..., 3]], axis=-1) if k == 0 else 0.0)
        crank, rod = np.linalg.norm(elbow - base), np.linalg.norm(wrist - elbow)

        def motor(v: Array, crank: float = float(crank), rod: float = float(rod)) -> Array:
            length2 = (v**2).sum(axis=-1)
            inner = np.arccos((crank**2 + length2 - rod**2) / (2 * crank * np.sqrt(length2)))
            return np.asarray(np.arctan2(v[..., 1], v[..., 0]) - inner)

        found.append((motor(away) - motor(wrist - base) + np.pi) % (2 * np.pi) - np.pi)
    return np.stack(found, axis=-1)


def test_a_criterion_chooses_it() -> None:
    """The best of a fine grid around home, for the condition number and for joints in the middle of their ranges.

    Both by the robot's circles alone: rotations are arcs at the wrists, 0.1 m from the platform's middle.
    """
    text = PLANAR.replace("rotor: 0.3}", "rotor: 0.3, range: [-80 mm, 120 mm]}")
    text = text.replace("at: [0.5, 0, 0], axis: [0, 0, 1], actuated: true}", "at: [0.5, 0, 0], axis: [0, 0, 1], "
                        "actuated: true, range: [-60 deg, 90 deg]}")  # fmt: skip
    model = pp.Model(loads(text))
    x = np.c_[motions(3)[0][:, :3], np.zeros(3)]
    pose = model.motion(x).pose
    np.testing.assert_allclose(motors(x), model.inverse_kinematics(pose, internal=np.zeros((3, 1))), atol=1e-14)
    grid = np.linspace(-0.08, 0.12, 401)
    low, high = np.array([-0.08, *3 * [-np.radians(60)]]), np.array([0.12, *3 * [np.radians(90)]])

    def value(criterion: str, x: Array) -> Array:
        q, h = motors(x), 1e-6
        if criterion == "middle":
            found = ((2 * (q - low) / (high - low) - 1) ** 2).sum(axis=-1)
        else:
            rows = np.stack([(motors(x + h * e) - motors(x - h * e)) / (2 * h) for e in np.eye(4)], axis=-1)
            found = np.linalg.cond(np.array([1.0, 0.1, 0.1, 0.1])[:, None] * rows / np.array([1.0, 1.0, 0.1, 1.0]))
        return np.where(((q >= low) & (q <= high)).all(axis=-1), found, np.inf)

    for criterion in ("conditioning", "middle"):
        found = pp.analysis.internal_coordinates(model, pose, criterion)  # type: ignore[arg-type]
        best = value(criterion, np.c_[x[:, :3], found])
        for k in range(3):
            every = value(criterion, np.c_[np.tile(x[k, :3], (401, 1)), grid])
            # a step of 0.5 mm off the optimum: curvature makes the grid's best no better than the one found
            assert best[k] <= every.min() * (1 + 1e-8)
            assert abs(grid[every.argmin()] - found[k, 0]) <= 0.0005
    with refused(InputError, "five-bar", code="no_internal"):
        pp.analysis.internal_coordinates(pp.Model("five-bar"), pp.Model("five-bar").home)
    with refused(InputError, "planar", code="no_ranges"):
        pp.analysis.internal_coordinates(planar(), pose, "middle")


def test_refusals() -> None:
    """What is missing, or of no robot like this, is named."""
    model = planar()
    pose, rest = model.home, np.zeros(7)
    for call in (
        lambda: model.inverse_kinematics(pose),
        lambda: model.limits(pose, rest, rest),
        lambda: model.derivatives("inverse_dynamics", pose=pose, twist=rest, acceleration=rest),
        lambda: pp.analysis.travel(model),
    ):
        with pytest.raises(InputError):
            call()
    with refused(InputError, "five-bar", code="no_internal"):
        pp.Model("five-bar").inverse_kinematics(pp.Model("five-bar").home, internal=[0.0])
    for field, text in (
        ("joint: leg1.rail}", "joint: leg1.rails}"),  # no such joint
        ("actuated: true, rotor: 0.3", "rotor: 0.3"),  # nothing drives it
        ("internal: [{name: rail, joint: leg1.rail}]", "internal: [arm1.motor, leg1.rail]"),  # more than it has
        ("internal: [{name: rail, joint: leg1.rail}]", ""),  # a leg that moves on its own
        ("name: rail, joint", "name: yaw, joint"),
    ):
        assert field in PLANAR
        with pytest.raises(RobotFileError):
            pp.Model(loads(PLANAR.replace(field, text, 1)))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_many_random_internal_coordinates(seed: int) -> None:
    """A machine whose extra joints jam it does not count: the next of its kind is taken."""
    names = list(MACHINES)
    assert any(compare(names[seed % len(names)], 100 + seed + 60 * k) for k in range(20))


@pytest.mark.parametrize(("name", "seed"), SMALL)
def test_random_internal_coordinates(name: str, seed: int) -> None:
    assert compare(name, seed)
