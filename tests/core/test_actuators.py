"""What is actuated is stated: forces of any actuators obey d'Alembert's principle in every formulation, with friction.

The principle is evaluated by CasADi's own differentiation of what legs state (``classical``), so that a force that is
not power-conjugate to its coordinate, or friction at the wrong rate, cannot pass. Functions run interpreted where
several formulations are compared; that compiled ones are equal is tested with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

import polypod as pp
from polypod.description import Friction
from polypod.description.modes import Modes
from polypod.errors import InputError, RobotFileError, StateWarning
from polypod.formulations import FORMULATIONS
from polypod.legs import UPS, Actuator, Placement
from polypod.model import Distribution
from polypod.symbols.vectors import Frame, dot, vector
from support.compare import assert_close, derivative
from support.engines.classical import Balance, dalembert, friction_law, leg_state
from support.refusals import refused, says, warned
from support.robots import user_legs as user
from support.robots.random_robots import Interpreted, Sampled
from support.states import basis, displaced, easy, mostly_long, papers_robots, with_friction

# Two ways of double precision; the condition of J (below 1e3 in these states) magnifies rounding: 2e-15 is reached.
TOLERANCE = 1e-12
# Residuals of balances that no solve magnifies, over the sum of their parts: 1e-15 is reached.
BALANCE = 1e-13
ROBOTS: dict[str, Callable[[], pp.Robot]] = {
    **{name: (lambda name=name: pp.load(name)) for name in papers_robots()},
    **user.ROBOTS,
}
# (formulation, robot): why it does not apply.
REFUSED = {
    ("newton-euler", "joints from the platform"): "#joint_order",
    ("newton-euler", "spinning struts"): "#idle_motion",
    ("recursive-matrix", "spinning struts"): "#idle_motion",
}
REFUSED_ROBOTS: dict[str, Callable[[], pp.Robot]] = {
    "joints from the platform": lambda: user.remade(pp.load("pedrammehr"), UPS, user.TurnedUPS),
    "spinning struts": user.idle_robot,
}
# Six degrees of freedom, and loops inside their legs that are overconstrained.
INNER_LOOPS = {"cranks and flywheels"}
ALL_FRICTION = {"viscous": 2.0, "coulomb": 0.02, "drag": 3.0}


@cache
def robot_of(name: str) -> pp.Robot:
    return {**ROBOTS, **REFUSED_ROBOTS}[name]()


@cache
def model_of_robot(name: str) -> pp.Model:
    return pp.Model(robot_of(name))


@cache
def states_of(name: str) -> Any:
    return easy(Sampled(functions_of(name)), 2)  # type: ignore[arg-type]


@cache
def functions_of(name: str, friction: bool = False) -> Interpreted:
    """Every joint that can have friction has some of every kind."""
    robot = robot_of(name)
    return Interpreted(with_friction(robot, **ALL_FRICTION) if friction else robot)


@cache
def plain_functions() -> Interpreted:
    """Six plain UPS legs."""
    return Interpreted(user.ups_robot())


def given_loads(functions: Interpreted) -> dict[tuple[str, str], float]:
    """Loads for Coulomb friction: any numbers will do where all sides take the same."""
    return {key: 5.0 + 3.0 * k for k, key in enumerate(functions.loads.values)}


def named_loads(functions: Interpreted) -> dict[str, Any]:
    loads = given_loads(functions)
    return {"loads": np.array(list(loads.values()))} if loads else {}


@cache
def balance_of(name: str, friction: bool, k: int) -> Balance:
    """What d'Alembert's principle asks in a state; the same for every formulation."""
    functions = functions_of(name, friction)
    return dalembert(functions.robot, states_of(name).at(k), friction_law(given_loads(functions)) if friction else None)


# Robots of users have every kind of leg that papers' robots have, but for rails with friction.
USUAL = ("kim-ryu", *user.ROBOTS)
# The forces of virtual power are balanced for them all, those of other formulations, which equal them, for these.
SOME = ("cranks and flywheels", "a passive leg", "spherical joint inside")
each_robot = pytest.mark.parametrize("name", mostly_long(ROBOTS, (*SOME, "kim-ryu", "seven actuators")))
each_formulation = pytest.mark.parametrize("formulation", FORMULATIONS)


# -- forces ----------------------------------------------------------------------------------------------------------


# Without friction library robots are compared with Pinocchio and, in all formulations, in the contract suite.
BALANCED = [
    (formulation, name, friction)
    for formulation in FORMULATIONS
    for name in ROBOTS
    for friction in (False, True)
    if friction or name in user.ROBOTS
]
# Every robot by one formulation, every formulation on legs with loops or passive joints; all of them in long runs.
KEPT_ROBOTS = dict.fromkeys(FORMULATIONS, SOME[1:2])
KEPT_ROBOTS |= {"virtual-power": USUAL, "newton-euler": SOME[1:]}
KEPT = [
    (formulation, name, friction)
    for formulation, name, friction in BALANCED
    if friction and name in KEPT_ROBOTS[formulation]
]


@pytest.mark.parametrize(
    "case", mostly_long(BALANCED, KEPT, lambda c: f"{c[0]}-{c[1]}-{'friction' if c[2] else 'smooth'}")
)
def test_forces_balance_every_virtual_motion(case: tuple[str, str, bool]) -> None:
    """J^T f = inertia, weight, rotors, friction of every joint at its own rate, less the wrench."""
    formulation, name, friction = case
    functions = functions_of(name, friction)
    loads = named_loads(functions) if friction else {}
    for k in range(2):
        s = states_of(name).at(k)
        if formulation == "newton-euler" and friction:  # the same expression, once
            force = functions.reactions(*s[:4], friction=True, **loads)["force"]
        else:
            force = functions.inverse_dynamics(*s[:4], formulation=formulation, friction=friction, **loads)
        asked = balance_of(name, friction, k)
        size = np.abs(asked.rows).T @ np.abs(force) + asked.size
        assert np.abs((asked.rows.T @ force - asked.demand) / size).max() < BALANCE
        wanted = functions.inverse_dynamics(*s[:4], friction=friction, **loads)
        assert_close(force[None], wanted[None], TOLERANCE)


@each_robot
def test_power_of_the_actuators_is_the_rate_of_energy_and_friction(name: str) -> None:
    """f . qdot + w . twist = d(T + V)/dt by differences of the energy + sum of resistance times rate of every joint."""
    functions = functions_of(name, True)
    robot, s = functions.robot, states_of(name).at(0)
    force = functions.inverse_dynamics(*s[:4], friction=True, **named_loads(functions))
    law, lost = friction_law(given_loads(functions)), 0.0
    for number, leg in enumerate(robot.legs):
        rates = leg_state(robot, number, s.pose, s.twist, s.acceleration).rates
        placed = leg.place(Frame.symbols("tip"))
        lost += sum(float(law(leg, joint, rates[joint.name]) @ rates[joint.name]) for joint in placed.joints)

    def energy(t: float) -> float:
        # a path with the state's twist and acceleration: central differences see nothing beyond
        shift, rate = s.twist * t + s.acceleration * t**2 / 2, s.twist + s.acceleration * t
        turn = np.cross(shift[3:], rate[3:]) / 2
        return functions.energy(displaced(s.pose, shift), np.r_[rate[:3], rate[3:] + turn])

    qdot = functions.jacobian(s.pose) @ (np.linalg.pinv(basis(robot)) @ s.twist)
    power = force @ qdot + s.wrench @ s.twist
    size = np.abs(force) @ np.abs(qdot) + np.abs(s.wrench) @ np.abs(s.twist)
    assert lost > 0 or not any(leg.friction_joints() for leg in robot.legs)
    # rounding of the differences: 1e-16 E/step
    assert abs(power - lost - derivative(energy, 3e-4)) < 1e-9 * size


@each_robot
def test_direct_dynamics_inverts(name: str) -> None:
    functions = functions_of(name, True)
    for k in range(2):
        s = states_of(name).at(k)
        force = functions.inverse_dynamics(*s[:4], friction=True, **named_loads(functions))
        again = functions.direct_dynamics(s.pose, s.twist, force, s.wrench, friction=True, **named_loads(functions))
        able = np.linalg.inv(functions.mass_matrix(s.pose)) @ np.abs(functions.jacobian(s.pose)).T @ np.abs(force)
        assert np.abs(again - s.acceleration).max() < TOLERANCE * np.abs(able).max()


@each_robot
def test_mass_matrix_and_jacobian(name: str) -> None:
    """M symmetric, positive definite and that of d'Alembert's principle; J against differences of the coordinates."""
    functions, s = functions_of(name), states_of(name).at(1)
    axes, zero = basis(functions.robot), np.zeros(6)
    mass, jacobian = functions.mass_matrix(s.pose), functions.jacobian(s.pose)
    assert np.abs(mass - mass.T).max() <= 1e-15 * np.abs(mass).max()
    assert (np.linalg.eigvalsh(mass) > 0).all()
    still = s._replace(twist=zero, wrench=zero)
    rest = dalembert(functions.robot, still._replace(acceleration=zero))
    columns = [dalembert(functions.robot, still._replace(acceleration=a)).demand - rest.demand for a in axes.T]
    assert_close(np.stack(columns, axis=-1)[None], mass[None], TOLERANCE, np.abs(mass).max() + rest.size.max())
    assert_close(rest.rows[None], jacobian[None], 1e-13)
    step = 1e-3 * robot_of(name).platform_size
    derivatives = [
        derivative(lambda h, u=u: functions.inverse_kinematics(displaced(s.pose, h * u)), step) for u in axes.T
    ]
    # rounding of the differences, 1e-16 q/step; geared coordinates are large and so are their derivatives
    assert_close(jacobian[None], np.stack(derivatives, axis=-1)[None], 3e-10)


@each_robot
def test_reactions_close_every_free_body_and_give_the_forces(name: str) -> None:
    """Joint by joint: bodies, crosses and platform in balance; an actuator's force is what its joint passes on."""
    functions = functions_of(name, True)
    robot, s, law = functions.robot, states_of(name).at(0), friction_law(given_loads(functions))
    found = functions.reactions(*s[:4], friction=True, **named_loads(functions))
    force, rows = found["force"], iter(found["wrenches"])
    assert_close(force[None], functions.inverse_dynamics(*s[:4], friction=True, **named_loads(functions))[None], 1e-12)
    size, forces, closed = np.abs(found["wrenches"][np.isfinite(found["wrenches"])]).max(), iter(force), 0
    platform = s.wrench.copy()
    for number, leg in enumerate(robot.legs):
        now, placed = leg_state(robot, number, *s[:3]), leg.place(Frame.symbols("tip"))
        wrenches = {joint.name: next(rows) for joint in placed.joints}
        totals = {
            body.name: np.r_[-now.bodies[body.name].force, -now.bodies[body.name].moment] for body in placed.bodies
        }
        for joint in placed.joints:
            wrench, point = wrenches[joint.name], now.points[joint.name]
            cross = now.bodies.get(joint.cross_body)
            for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                if body == "platform":
                    platform += _carried(sign * wrench, point - s.pose[:3, 3])
                elif body != "base":
                    totals[body] += _carried(sign * wrench, point - now.bodies[body].centre)
                if cross is not None and sign < 0 and body not in ("base", "platform"):
                    # what the cross itself takes comes from the parent too
                    need = np.r_[cross.force, cross.moment]
                    totals[body] += -_carried(need, cross.centre - now.bodies[body].centre)
        crosses = {joint.cross_body for joint in placed.joints}
        for body in placed.bodies:
            if body.on:
                held = now.bodies[body.on].centre
                totals[body.on] += _carried(totals[body.name], now.bodies[body.name].centre - held)
        for body in placed.bodies:
            if body.name not in crosses and not body.on:
                # numbers that inner stresses leave open are NaN, in overconstrained robots only
                known = np.isfinite(totals[body.name])
                assert known.all() or robot.dof or name in INNER_LOOPS
                assert np.abs(totals[body.name][known]).max(initial=0.0) < TOLERANCE * size, (leg.name, body.name)
                closed += int(known.sum())
        for k, actuator in enumerate(placed.actuators):
            joint = next(j for j in placed.joints if j.name == actuator.joint)
            axis, ratio = now.axes[joint.name][0], float(actuator.ratio)
            passed = axis @ wrenches[joint.name][slice(0, 3) if joint.kind == "prismatic" else slice(3, 6)]
            resists = axis @ law(leg, joint, now.rates[joint.name])
            wanted = (passed + resists) / ratio + float(actuator.rotor) * now.coordinates[2, k]
            got = next(forces)
            if np.isfinite(passed):
                assert abs(got - wanted) < TOLERANCE * (size / abs(ratio) + abs(got))
    assert closed >= 2 * len(robot.legs)
    if np.isfinite(platform).all():
        body, turn = robot.platform, s.pose[:3, :3]
        com, tensor = turn @ np.array(body.com), turn @ body.central_inertia @ turn.T
        omega, alpha = s.twist[3:], s.acceleration[3:]
        lift = s.acceleration[:3] + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com)) - robot.gravity
        need = tensor @ alpha + np.cross(omega, tensor @ omega) + np.cross(com, body.mass * lift)
        assert np.abs(platform - np.r_[body.mass * lift, need]).max() < TOLERANCE * size


def _carried(wrench: Any, lever: Any) -> Any:
    """A wrench at a point as one about another, ``lever`` before it."""
    return np.r_[wrench[:3], wrench[3:] + np.cross(lever, wrench[:3])]


@pytest.mark.parametrize(("formulation", "name"), REFUSED)
def test_what_does_not_apply_says_why(formulation: str, name: str) -> None:
    functions, s = functions_of(name), states_of(name).at(0)
    with refused(InputError, REFUSED[formulation, name]):
        functions.inverse_dynamics(*s[:4], formulation=formulation)


def test_every_kind_of_leg_and_refusal_is_here() -> None:
    """No kind of leg that users' robots are made of is left out of these tests."""
    kinds = {type(leg) for name in (*ROBOTS, *REFUSED_ROBOTS) for leg in robot_of(name).legs}
    written = {kind for kind in vars(user).values() if isinstance(kind, type) and kind.__module__ == user.__name__}
    assert len(written) > 8
    assert {user.custom_leg().RUS, *written} <= kinds
    assert {name for _, name in REFUSED} == set(REFUSED_ROBOTS)
    for name in REFUSED_ROBOTS:
        applies = [f for f in FORMULATIONS if (f, name) not in REFUSED]
        s, functions = states_of(name).at(0), functions_of(name)
        for formulation in applies:
            wanted = functions.inverse_dynamics(*s[:4])
            assert_close(functions.inverse_dynamics(*s[:4], formulation=formulation)[None], wanted[None], TOLERANCE)


# -- geared coordinates, rotary units ----------------------------------------------------------------------------------


SCREWS = [(formulation, friction) for formulation in FORMULATIONS for friction in (False, True)]


@pytest.mark.parametrize(
    "case",
    mostly_long(
        SCREWS,
        [("virtual-power", False), *((formulation, True) for formulation in FORMULATIONS)],
        lambda c: f"{c[0]}-{'friction' if c[1] else 'smooth'}",
    ),
)
def test_a_screw_divides_the_force_by_its_ratio(case: tuple[str, bool]) -> None:
    """The motor's torque behind a screw is the plain leg's force times lead/2 pi; in reactions too."""
    formulation, friction = case
    plain, geared = plain_functions(), functions_of("UPS behind screws")
    ratio = 2 * math.pi / user.LEAD
    s = states_of("UPS behind screws").at(0)
    force = plain.inverse_dynamics(*s[:4], friction=friction)
    torque = geared.inverse_dynamics(*s[:4], friction=friction, formulation=formulation)
    assert_close(ratio * torque[None], force[None], TOLERANCE)
    if formulation == "newton-euler":
        assert_close(ratio * geared.reactions(*s[:4], friction=friction)["force"][None], force[None], TOLERANCE)
        one, two = (f.reactions(*s[:4], friction=friction)["wrenches"] for f in (plain, geared))
        assert_close(two[None], one[None], TOLERANCE)
    assert_close(geared.jacobian(s.pose)[None], ratio * plain.jacobian(s.pose)[None], 1e-13)


@pytest.mark.long
def test_a_geared_model_by_its_public_face() -> None:
    """Names, units, torques with dry friction by every formulation and by reactions: those of the plain robot."""
    dry = {"viscous": 3.0, "coulomb": 0.002, "drag": 2.0}
    plain, geared = (
        pp.Model(with_friction(r, **dry), friction_width=0.0) for r in (user.ups_robot(), user.screw_robot())
    )
    assert [a.unit for a in geared.actuators] == ["rad"] * 6
    assert [a.force_unit for a in geared.actuators] == ["N m"] * 6
    assert [a.force_unit for a in plain.actuators] == ["N"] * 6
    ratio, s = 2 * math.pi / user.LEAD, easy(plain, 6)
    wanted = plain.inverse_dynamics(*s[:4]) / ratio
    assert_close(geared.inverse_dynamics(*s[:4]), wanted, TOLERANCE)
    assert_close(geared.reactions(*s[:4]).force, wanted, TOLERANCE)
    assert_close(geared.direct_dynamics(s.pose, s.twist, wanted, s.wrench), s.acceleration, 1e-9)
    assert_close(ratio * (plain.inverse_kinematics(s.pose) - 0.5), geared.inverse_kinematics(s.pose), 1e-13)
    found = geared.forward_kinematics(geared.inverse_kinematics(s.pose), s.pose)
    assert_close(found, s.pose, 1e-12)


@pytest.mark.long
def test_coulomb_friction_behind_a_screw() -> None:
    """Friction of the slide by its load, found with the reactions: the plain robot's over the ratio."""
    fields = user.RODS | {"prismatic_friction": Friction(coulomb=0.1)}
    plain, geared = (pp.Model(make(**fields), friction_width=0.0) for make in (user.ups_robot, user.screw_robot))
    s = easy(plain, 6)
    force, without = (plain.inverse_dynamics(*s[:4], friction=on) for on in (True, False))
    assert np.abs(force - without).max() > 1e-3 * np.abs(force).max()
    # loads are iterated to 1e-13 of the largest
    assert_close(2 * math.pi / user.LEAD * geared.inverse_dynamics(*s[:4]), force, 1e-11)


# -- passive slides ----------------------------------------------------------------------------------------------------


@cache
def rough_stage(kind: str) -> pp.Model:
    """Two slides in a row in each of two legs, without weight; each slide with its own friction of a kind."""
    names = ("driven_friction", "free_friction")
    legs = tuple(
        leg.model_copy(update={field: Friction(**{kind: value}) for field, value in zip(names, values, strict=True)})
        for leg, values in zip(user.stage_robot().legs, ((1.5, 0.25), (2.5, 0.75)), strict=True)
    )
    robot = user.stage_robot().model_copy(update={"legs": legs, "gravity": (0.0, 0.0, 0.0)})
    return pp.Model(robot, friction_width=0.0)


@each_formulation
@pytest.mark.parametrize("kind", ["viscous", "drag"])
def test_passive_slides_have_their_own_friction(formulation: str, kind: str) -> None:
    """f = mass a + friction of the own slide and of the other leg's parallel one: [2.25, 5.5] for rates 1 and 2."""
    model = rough_stage(kind)
    force = model.inverse_dynamics(np.eye(4), [1.0, 0, 2.0, 0, 0, 0], np.zeros(6), formulation=formulation)
    wanted = [1.5 + 0.75, 2 * (2.5 + 0.25)] if kind == "viscous" else [1.5 + 0.75, 2.5 + 0.25]
    assert_close(force[None], np.array([wanted]), 1e-14)
    found = model.reactions(np.eye(4), [1.0, 0, 2.0, 0, 0, 0], np.zeros(6))
    assert_close(found.force[None], np.array([wanted]), 1e-14)
    assert_close(model.direct_dynamics(np.eye(4), [1.0, 0, 2.0, 0, 0, 0], wanted)[None], np.zeros((1, 6)), 1e-14, 1.0)


class ScrewedStage(user.Stage):
    """A stage whose second slide, that of the platform, is driven by a screw of 0.01 m; the first is free."""

    def place(self, tip: Frame) -> Placement:
        ratio = 2 * math.pi / 0.01
        motor = Actuator("motor", "free", ratio * dot(tip.origin, vector(self.second)), "rad", ratio)
        return replace(super().place(tip), actuators=(motor,))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_slide_at_the_platform_behind_a_screw(formulation: str) -> None:
    """The force on 5 kg + 2 or 3 kg of slider times lead/(2 pi): it slides, whatever its coordinate's unit."""
    robot = user.remade(user.stage_robot(), user.Stage, ScrewedStage)
    state = np.eye(4), np.zeros(6), np.r_[1.0, 0, 2.0, np.zeros(3)], np.zeros(6)
    force = Interpreted(robot).inverse_dynamics(*state, formulation=formulation)
    assert_close(np.array(force), np.array([(5 + 3) * (9.81 + 2.0), (5 + 2) * 1.0]) * 0.01 / (2 * math.pi), 1e-13)


def test_coulomb_friction_that_inner_stresses_decide_says_so() -> None:
    robot = with_friction(user.stage_robot(), coulomb=0.1)
    words = "friction stage #overconstrained"
    with refused(InputError, words):
        pp.Model(robot).inverse_dynamics(np.eye(4), np.zeros(6), np.zeros(6))


def test_a_slide_is_loaded_by_the_force_across_it() -> None:
    """A slide that states no normals of its guide: its friction is the coefficient times |N|."""
    robot = user.ups_robot(**user.RODS | {"prismatic_friction": Friction(coulomb=0.1)})
    model = pp.Model(robot, friction_width=0.0)
    s = easy(model, 3)
    found, rates = model.reactions(*s[:4]), model.rates(s.pose, s.twist)
    load = np.stack([np.linalg.norm(leg["prismatic"].normal_force, axis=1) for leg in found.legs.values()], axis=1)
    smooth = tuple(leg.model_copy(update={"prismatic_friction": Friction()}) for leg in robot.legs)
    without = Interpreted(model.robot.model_copy(update={"legs": smooth}))
    for k in range(3):
        plain = without.inverse_dynamics(*s.at(k)[:4], friction=True)
        # loads are iterated to 1e-13 of the largest
        assert_close(found.force[k][None], (plain + 0.1 * load[k] * np.sign(rates[k]))[None], 1e-11)
        assert (load[k] > 0.01).all()


# -- more actuators than degrees of freedom, none in a leg, two in a leg
# ---------------------------------------------------------


@pytest.fixture(scope="module")
def redundant() -> pp.Model:
    return pp.Model(user.redundant_robot(**user.RODS))


def test_least_norm(redundant: pp.Model) -> None:
    """f = J (J^T J)^-1 w plus friction of the actuated joints: no part along forces that cancel each other."""
    s = easy(redundant, 8)
    force = redundant.inverse_dynamics(*s[:4], friction=False)
    idle = redundant.null_space(s.pose)
    assert idle.shape == (8, 7, 1)
    jacobian = redundant.jacobian(s.pose)
    assert np.abs(np.einsum("nij,nik->njk", jacobian, idle)).max() < 1e-14 * np.abs(jacobian).max() * 10
    assert_close(np.linalg.norm(idle, axis=1), np.ones((8, 1)), 1e-14)
    assert (np.abs(np.einsum("nik,ni->nk", idle, force)) < 1e-12 * np.abs(force).max(axis=1, keepdims=True)).all()
    demand = np.einsum("nij,ni->nj", jacobian, force)
    wanted = np.einsum("nij,nj->ni", np.swapaxes(np.linalg.pinv(jacobian), 1, 2), demand)
    assert_close(force, wanted, TOLERANCE)
    by_hand = redundant.mass_matrix(s.pose) @ s.acceleration[..., None]
    by_hand = by_hand[..., 0] + redundant.bias(s.pose, s.twist, friction=False) - s.wrench
    size = np.einsum("nij,ni->nj", np.abs(jacobian), np.abs(force)).max(axis=1)
    assert_close(demand, by_hand, TOLERANCE, size)


@each_formulation
def test_weights_and_preload(formulation: str) -> None:
    """min sum w (f - p)^2 with J^T f = demand: w (f - p) has no part along forces that cancel; reactions agree."""
    functions, s, rng = functions_of("seven actuators"), states_of("seven actuators").at(0), np.random.default_rng(4)
    shared = {"weights": rng.uniform(0.2, 5.0, 7), "preload": 100 * rng.normal(size=7)}
    force = functions.inverse_dynamics(*s[:4], formulation=formulation, **shared)
    plain = functions.inverse_dynamics(*s[:4])
    idle = np.linalg.svd(functions.jacobian(s.pose))[0][:, 6]
    assert abs(idle @ (shared["weights"] * (force - shared["preload"]))) < 1e-11 * np.abs(force).max()
    along = idle @ (force - plain)
    assert abs(along) > 1.0
    assert_close(force[None], (plain + along * idle)[None], 1e-11)
    if formulation == "newton-euler":
        assert_close(functions.reactions(*s[:4], **shared)["force"][None], force[None], TOLERANCE)


def test_distribution_of_a_model(redundant: pp.Model) -> None:
    """Weights for all states, a preload for each: what the interpreter gives; the platform moves the same."""
    s, rng, functions = easy(redundant, 5), np.random.default_rng(4), Interpreted(redundant.robot)
    weights, preload = rng.uniform(0.2, 5.0, 7), 100 * rng.normal(size=(5, 7))
    force = redundant.inverse_dynamics(*s[:4], distribution=Distribution(weights, preload))
    for k in range(5):
        given = {"weights": weights, "preload": preload[k]}
        wanted = functions.inverse_dynamics(*s.at(k)[:4], friction=True, **given)
        assert_close(force[k][None], wanted[None], TOLERANCE)
    assert_close(redundant.direct_dynamics(s.pose, s.twist, force, s.wrench), s.acceleration, 1e-10)


def test_internal_forces_of_some_states_and_of_a_flexible_platform(redundant: pp.Model) -> None:
    """A pose out of reach spoils no other; eight generalized velocities leave no force of seven without work."""
    planar = pp.Model(pp.load("planar-4-rrr"))
    home = planar.robot.home.matrix
    away = home.copy()
    away[0, 3] += 5.0
    with warned(StateWarning, "1 2", code="leg"):
        idle = planar.null_space(np.array([home, away]))
    assert np.isnan(idle).all(axis=(1, 2)).tolist() == [False, True]
    assert (idle[0] == planar.null_space(home)).all()
    points = [leg.platform for leg in redundant.robot.legs]
    shapes = np.random.default_rng(0).normal(size=(7, 3, 2))
    modes = Modes.at_nodes(points, np.ones(7), shapes, np.full(2, 1e6), list(range(7)), free=False)
    flexible = pp.Model(redundant.robot.on_modes(modes))
    assert flexible.null_space(redundant.robot.home.matrix).shape == (7, 0)


def test_preload_stays_where_it_holds_the_platform_still(redundant: pp.Model) -> None:
    """A preload among the forces that cancel each other is added as it is."""
    s = easy(redundant, 1).at(0)
    idle = redundant.null_space(s.pose)[:, 0]
    plain = redundant.inverse_dynamics(*s[:4])
    got = redundant.inverse_dynamics(*s[:4], distribution=Distribution(preload=70.0 * idle))
    assert_close(got[None], (plain + 70.0 * idle)[None], TOLERANCE)


def test_a_redundant_robots_kinematics(redundant: pp.Model) -> None:
    s = easy(redundant, 6)
    q, qdot = redundant.inverse_kinematics(s.pose), redundant.rates(s.pose, s.twist)
    assert q.shape == qdot.shape == (6, 7)
    assert_close(redundant.twist(s.pose, qdot), s.twist, TOLERANCE)
    qddot = redundant.accelerations(*s[:3])
    assert_close(redundant.acceleration(s.pose, s.twist, qddot), s.acceleration, TOLERANCE)
    assert_close(redundant.forward_kinematics(q, s.pose), s.pose, 1e-11)


@pytest.mark.parametrize("weight", [0.0, -2.0])
def test_weights_are_positive(weight: float, redundant: pp.Model) -> None:
    """With negative ones the forces would be the largest, not the least."""
    home, still = redundant.robot.home.matrix, np.zeros(6)
    with refused(InputError, "distribution weights 1"):
        redundant.inverse_dynamics(home, still, still, distribution=Distribution(weights=[1, 1, 1, 1, 1, 1, weight]))


def test_a_distribution_is_one(redundant: pp.Model) -> None:
    home, still, given = redundant.robot.home.matrix, np.zeros(6), {"weights": np.ones(7)}
    with refused(InputError, "distribution pp.Distribution weights"):
        redundant.inverse_dynamics(home, still, still, distribution=given)  # type: ignore[arg-type]


def test_a_distribution_needs_something_to_share() -> None:
    model = model_of_robot("a passive leg")
    with refused(InputError, "distribution", code="not_redundant"):
        model.inverse_dynamics(np.eye(4), np.zeros(6), np.zeros(6), distribution=Distribution(np.ones(6)))


def test_a_passive_leg_is_carried_by_the_others() -> None:
    """Six actuators; the seventh leg's weight and inertia are in the forces, and not those of a leg without mass."""
    model = model_of_robot("a passive leg")
    assert [a.leg for a in model.actuators] == [f"leg{k}" for k in range(1, 7)]
    s = states_of("a passive leg").at(0)
    assert model.inverse_kinematics(s.pose).shape == (6,)
    with_it, without = (f.inverse_dynamics(*s[:4]) for f in (functions_of("a passive leg"), plain_functions()))
    assert np.abs(with_it - without).max() > 1.0


def test_a_leg_with_two_actuators() -> None:
    """Names distinguish them, units are their own; each turns or slides its joint alone."""
    model = model_of_robot("two actuators a leg")
    assert [a.name for a in model.actuators[:2]] == ["leg1.swing", "leg1.telescope"]
    assert [(a.unit, a.force_unit, a.rate_unit) for a in model.actuators[:2]] == [
        ("rad", "N m", "rad/s"),
        ("m", "N", "m/s"),
    ]
    s = states_of("two actuators a leg")
    q = model.inverse_kinematics(s.pose)
    bodies = model.bodies(s.pose)
    for k, leg in enumerate(model.robot.legs):
        tip = s.pose[:, :3, 3] + s.pose[:, :3, :3] @ np.array(leg.platform)
        assert_close(q[:, 2 * k + 1], np.linalg.norm(tip - leg.base, axis=1), 1e-14)
        v = bodies[f"{leg.name}.fork"][:, :3, 1]
        zero, side = np.array(leg.zero), np.cross(leg.axis, leg.zero)
        assert_close(v, np.outer(np.cos(q[:, 2 * k]), zero) + np.outer(np.sin(q[:, 2 * k]), side), 1e-13)


# -- statements that cannot be -----------------------------------------------------------------------------------------


def changed_leg(change: Callable[[Placement], Placement]) -> Callable[[], pp.Robot]:
    """A robot whose first leg's placement is changed."""

    class Changed(UPS):
        def place(self, tip: Frame) -> Placement:
            return change(super().place(tip))

    def make() -> pp.Robot:
        first, *others = user.ups_robot().legs
        fields = dict(user.ups_robot()) | {"legs": (Changed(**dict(first)), *others)}
        return pp.Robot.model_validate(fields)

    return make


def actuated(**changes: Any) -> Callable[[Placement], Placement]:
    return lambda placed: replace(placed, actuators=(replace(placed.actuators[0], **changes),))


def twice(**changes: Any) -> Callable[[Placement], Placement]:
    def change(placed: Placement) -> Placement:
        (first,) = placed.actuators
        return replace(placed, actuators=(first, replace(first, **changes)))

    return change


def geared(ratio: float, stated: float) -> Callable[[Placement], Placement]:
    def change(placed: Placement) -> Placement:
        (first,) = placed.actuators
        return replace(placed, actuators=(replace(first, coordinate=ratio * first.coordinate, ratio=stated),))

    return change


def squared(placed: Placement) -> Placement:
    (first,) = placed.actuators
    return replace(placed, actuators=(replace(first, coordinate=first.coordinate**2),))


def sideways(placed: Placement) -> Placement:
    """A coordinate that is not the slide's at all."""
    (first,) = placed.actuators
    return replace(placed, actuators=(replace(first, coordinate=dot(placed.joints[2].point, vector((1.0, 0, 0)))),))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            actuated(joint="slide"),
            "prismatic slide universal",
        ),
        (actuated(joint="universal"), "universal revolute"),
        (actuated(joint="spherical"), "spherical revolute"),
        (actuated(unit="mm"), "m rad mm"),
        (twice(name="second"), "prismatic second"),
        (twice(), "prismatic"),
        (
            geared(0.4, 1.0),
            "legs.0 leg1 UPS prismatic",
        ),
        (geared(-1.0, 1.0), "-1 prismatic ratio"),
        (geared(1.0, 1.0001), "1 prismatic ratio 1.0001"),
        (squared, "prismatic ratio"),
        (sideways, "prismatic ratio"),
    ],
)
def test_an_actuator_that_cannot_be_is_refused(change: Any, words: str) -> None:
    with refused(ValidationError, words) as caught:
        changed_leg(change)()
    says(str(caught.value), "legs.0 leg1 (UPS)")


def test_a_right_ratio_is_taken() -> None:
    robot = changed_leg(geared(0.4, 0.4))()
    functions = Interpreted(robot)
    s = easy(Sampled(functions), 1).at(0)  # type: ignore[arg-type]
    force, plain = (one.inverse_dynamics(*s[:4]) for one in (functions, plain_functions()))
    asked = dalembert(robot, s)
    size = np.abs(asked.rows).T @ np.abs(force) + asked.size
    assert np.abs((asked.rows.T @ force - asked.demand) / size).max() < BALANCE
    # the rotor of 6 kg moves with the coordinate: 0.16 of it is left, in its own actuator only
    qddot = leg_state(robot, 0, *s[:3]).coordinates[2, 0]
    assert_close(
        (0.4 * force[0] - plain[0])[None], (0.4 * 6.0 * qddot - 6.0 * qddot / 0.4)[None], TOLERANCE, plain.max()
    )
    assert_close(force[None, 1:], plain[None, 1:], TOLERANCE)


def test_a_hinge_near_half_a_turn_is_not_mistaken_for_a_wrong_ratio() -> None:
    """The crank's angle by atan2 leaps from pi to -pi among the poses at which ratios are measured."""
    example = user.custom_leg()
    robot = example.hexa()
    q = pp.Model(robot).inverse_kinematics(robot.home.matrix)
    legs = []
    for leg, angle in zip(robot.legs, q, strict=True):
        # turned so that the crank's angle at home is pi
        e, f = np.array(leg.start), np.cross(leg.axis, leg.start)
        new = -(np.cos(angle) * e + np.sin(angle) * f)
        legs.append(leg.model_copy(update={"start": tuple(new)}))
    turned = pp.Robot.model_validate(dict(robot) | {"legs": tuple(legs)})
    assert np.abs(np.abs(pp.Model(turned).inverse_kinematics(robot.home.matrix)) - np.pi).max() < 1e-7


def test_joints_on_bodies_that_are_not_there_are_refused() -> None:
    def lost(placed: Placement) -> Placement:
        first, *rest = placed.joints
        return replace(placed, joints=(replace(first, child="pod"), *rest))

    with refused(ValidationError, "universal pod base"):
        changed_leg(lost)()


def test_too_few_actuators_name_the_motion_that_nothing_drives() -> None:
    """Without the leg that drives it: the stage's other direction; of six degrees of freedom one that no leg's
    length changes."""
    stage = user.stage_robot()
    with refused(ValidationError, "2 1 z") as one:
        pp.Robot.model_validate(dict(stage) | {"legs": stage.legs[:1]})
    says(str(one.value), "m rad")
    robot = user.ups_robot()
    short = robot.model_copy(update={"legs": robot.legs[:5]})
    lopes = yaml.safe_load(pp.dumps(pp.load("lopes")))
    lopes["legs"] = lopes["legs"][:5]
    with refused(RobotFileError, "line 50 legs 6 5"):
        pp.loads(yaml.safe_dump(lopes))
    # a copy is not validated: the model refuses it
    with refused(RobotFileError, code="undriven") as caught:
        pp.Model(short)
    numbers = [float(x.split()[0]) for x in str(caught.value).split("the motion ")[1].split(" (m and")[0].split(", ")]
    twist = np.array(numbers)
    assert len(twist) == 6
    rows = np.concatenate([leg.coordinate_rows(robot.home.matrix) for leg in robot.legs[:5]])
    # printed with three digits
    assert np.abs(rows @ twist).max() < 5e-3 * np.abs(twist).max()


def test_a_seventh_leg_without_actuator_does_not_help_five() -> None:
    robot = robot_of("a passive leg")
    with refused(ValidationError, "6 5"):
        pp.Robot.model_validate(dict(robot) | {"legs": robot.legs[1:]})
