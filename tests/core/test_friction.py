"""Friction: what it takes out is what the actuators put in, the implicit problem is solved, the sign makes no noise."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.formulations import FORMULATIONS
from polypod.friction import LAWS, FrictionLaw
from polypod.friction.laws import Exact, Smooth
from support.engines.classical import leg_state
from support.refusals import refused, warned
from support.states import easy, mostly_long

NAMES = {"PUS": ("slider", "universal", "spherical"), "UPS": ("prismatic", "universal", "spherical")}


def dissipation(model: pp.Model, state: object, reactions: object, qdot: np.ndarray) -> float:
    """Power lost in all joints, from the reactions and rates of an exact sign law."""
    robot, lost = model.robot, 0.0
    for number, leg in enumerate(robot.legs):
        truth = leg_state(robot, number, state.pose, state.twist, state.acceleration)
        slide, universal, spherical = NAMES[leg.kind]
        link = "link" if leg.kind == "PUS" else "lower"
        omega = truth.bodies[link].omega
        joints = reactions.legs[leg.name]
        friction = getattr(leg, f"{slide}_friction")
        force, axis = joints[slide].force, truth.axes[slide][0]
        normal = np.linalg.norm(np.cross(axis, force))
        if leg.kind == "PUS" and leg.guide_normal is not None:
            u = np.cross([0, 0, 1], axis)
            u = u / np.linalg.norm(u)
            normal = abs(force @ u) + abs(force @ np.cross(axis, u))
        rate = abs(qdot[number])
        lost += friction.viscous * rate**2 + (friction.coulomb * normal + friction.drag) * rate
        for joint, relative in ((universal, omega), (spherical, omega - state.twist[3:])):
            friction, speed = getattr(leg, f"{joint}_friction"), np.linalg.norm(relative)
            load = np.linalg.norm(joints[joint].force)
            lost += friction.viscous * speed**2 + (friction.coulomb * load + friction.drag) * speed
    return lost


def with_rough_joints(name: str) -> pp.Robot:
    """A library robot with viscous, dry and constant friction in every joint.

    Arms of 1-2 mm: with 1-2 cm the iteration ends without an answer in a third of pedrammehr's states.
    """
    robot = pp.load(name)
    data = robot.model_dump()
    for leg in data["legs"]:
        slide = NAMES[leg["kind"]][0]
        leg[f"{slide}_friction"] = {"viscous": 3.0, "coulomb": 0.15, "drag": 2.0}
        leg["universal_friction"] = {"viscous": 0.2, "coulomb": 0.001, "drag": 0.05}
        leg["spherical_friction"] = {"viscous": 0.1, "coulomb": 0.002, "drag": 0.03}
    return pp.Robot.model_validate(data)


@pytest.fixture(scope="module", params=mostly_long(("kim-ryu", "lopes", "pedrammehr"), ("kim-ryu",)))
def rough(request: pytest.FixtureRequest) -> pp.Model:
    """Models with the exact sign."""
    return pp.Model(with_rough_joints(request.param), friction_width=0.0)


def test_power_balance_with_dry_friction(rough: pp.Model) -> None:
    """f.qdot + w.u = (power without friction) + dissipation, the latter from reactions and rates by another way."""
    batch = easy(rough, 4, seed=21)
    qdot = rough.rates(batch.pose, batch.twist)
    with_it = rough.inverse_dynamics(batch.pose, batch.twist, batch.acceleration, batch.wrench)
    without = rough.inverse_dynamics(batch.pose, batch.twist, batch.acceleration, batch.wrench, friction=False)
    for k in range(4):
        state = batch.at(k)
        reactions = rough.reactions(state.pose, state.twist, state.acceleration, state.wrench)
        lost = dissipation(rough, state, reactions, qdot[k])
        extra = float((with_it[k] - without[k]) @ qdot[k])
        # Difference of two solves of 1e3 N forces: rounding of their power.
        assert extra == pytest.approx(lost, rel=1e-9)
        assert lost > 0


def test_all_formulations_agree_with_dry_friction(rough: pp.Model) -> None:
    batch = easy(rough, 6, seed=22)
    arguments = (batch.pose, batch.twist, batch.acceleration, batch.wrench)
    first = rough.inverse_dynamics(*arguments)
    for name in FORMULATIONS:
        other = rough.inverse_dynamics(*arguments, formulation=name)
        assert np.abs(other - first).max() <= 1e-10 * np.abs(first).max(), name


def test_direct_dynamics_inverts_with_dry_friction(rough: pp.Model) -> None:
    batch = easy(rough, 6, seed=23)
    force = rough.inverse_dynamics(batch.pose, batch.twist, batch.acceleration, batch.wrench)
    back = rough.direct_dynamics(batch.pose, batch.twist, force, batch.wrench)
    # Loads repeat to 1e-13; the inverse of the mass matrix spreads that by its condition.
    assert np.abs(back - batch.acceleration).max() <= 1e-9 * np.abs(batch.acceleration).max()


def test_at_rest_the_smooth_law_makes_no_noise(model_of: Callable[[str], pp.Model]) -> None:
    """Rates that are rounding (1e-17) must not switch on full Coulomb forces of either sign."""
    model = model_of("kim-ryu")
    pose, zero = model.robot.home.matrix, np.zeros(6)
    still = model.inverse_dynamics(pose, zero, zero, friction=False)
    noise = 1e-17 * np.random.default_rng(0).normal(size=(50, 6))
    forces = model.inverse_dynamics(pose, noise, zero)
    assert np.abs(forces - still).max() <= 1e-9 * np.abs(still).max()
    exact = pp.Model("kim-ryu", friction_width=0.0)
    assert np.abs(exact.inverse_dynamics(pose, zero, zero) - still).max() <= 1e-14 * np.abs(still).max()
    assert np.abs(exact.inverse_dynamics(pose, noise, zero) - still).max() > 1.0  # what the smooth law avoids


def test_directions_by_hand() -> None:
    """Of a rate of 0.5 along (3, 0, 4)/5, and of none."""
    rate = ca.SX.sym("rate", 3)
    for law, size in ((Exact(), 1.0), (Smooth(0.5), np.sqrt(0.5)), (Smooth(1e-3), 1 / np.sqrt(1 + 4e-6))):
        direction = ca.Function("direction", [rate], [law.direction(rate)])
        assert np.abs(direction([0.3, 0.0, 0.4]).full().ravel() - size * np.array([0.6, 0.0, 0.8])).max() < 1e-15
        assert not direction([0.0, 0.0, 0.0]).full().any()


@pytest.mark.parametrize("name", LAWS)
def test_every_law_is_a_direction(name: str) -> None:
    """Odd, zero at rest, along the rate and no longer than 1; all of it at a hundred thousand times the width."""
    for size in (1, 3):
        rate, width = ca.SX.sym("rate", size), 1e-6
        direction = ca.Function("direction", [rate], [LAWS[name](width).direction(rate)])
        along = np.eye(size)[-1]
        assert not direction(0 * along).full().any()
        for speed in (1e-7, 1e-6, 1e-1):
            found, back = (direction(sign * speed * along).full().ravel() for sign in (1, -1))
            assert np.array_equal(back, -found)
            assert np.abs(found - found[-1] * along).max() == 0
            assert 0 < found[-1] <= 1 + 1e-15  # rounding
        assert found[-1] > 1 - 1e-4


def test_a_law_of_its_own_is_one_line_and_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """tanh(|w|/width) instead of the smooth sign, by its name; a pickled model keeps it."""

    @dataclass(frozen=True)
    class Tanh(FrictionLaw):
        width: float

        def direction(self, rate: ca.SX) -> ca.SX:
            size = ca.fmax(ca.sqrt(ca.dot(rate, rate)), 1e-150)
            return ca.tanh(size / self.width) * rate / size

    monkeypatch.setitem(LAWS, "tanh", Tanh)
    exact, model = (
        pp.Model("kim-ryu", friction_law="exact"),
        pp.Model("kim-ryu", friction_width=1.0, friction_law="tanh"),
    )
    pose, zero = exact.robot.home.matrix, np.zeros(6)
    twist = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    plain = exact.inverse_dynamics(pose, twist, zero, friction=False)
    full, got = (m.inverse_dynamics(pose, twist, zero) for m in (exact, model))
    assert (np.abs(got - plain) < 0.5 * np.abs(full - plain)).all()  # all joints are slower than half the width
    assert np.array_equal(pickle.loads(pickle.dumps(model)).inverse_dynamics(pose, twist, zero), got)
    with refused(UnknownNameError, what="friction_law", name="tan", near="tanh"):
        pp.Model("kim-ryu", friction_law="tan")


def test_smooth_law_is_as_far_from_exact_as_it_says() -> None:
    """Off by (width/rate)^2/2: a hundred times the rate is 5e-5 of the friction."""
    exact, smooth = pp.Model("kim-ryu", friction_width=0.0), pp.Model("kim-ryu", friction_width=1e-3)
    pose = exact.robot.home.matrix
    twist = np.array([0.3, 0.2, -0.1, 0.2, -0.3, 0.1])
    zero = np.zeros(6)
    plain = exact.inverse_dynamics(pose, twist, zero, friction=False)
    a, b = exact.inverse_dynamics(pose, twist, zero), smooth.inverse_dynamics(pose, twist, zero)
    rate = np.abs(exact.rates(pose, twist)).min()
    assert 0 < np.abs(a - b).max() <= (1e-3 / rate) ** 2 * np.abs(a - plain).max()


def test_explicit_form_takes_frictionless_reactions(model_of: Callable[[str], pp.Model]) -> None:
    """The paper's form: loads from the reactions without dry friction, once."""
    implicit, explicit = model_of("kim-ryu"), pp.Model("kim-ryu", friction_coupling="explicit")
    state = easy(implicit, 5, seed=24)
    arguments = (state.pose, state.twist, state.acceleration)
    difference = np.abs(implicit.inverse_dynamics(*arguments) - explicit.inverse_dynamics(*arguments)).max()
    assert 1e-6 < difference < 5.0


def test_friction_too_strong_gives_no_force() -> None:
    """Arms of metres on a link of 0.9 m: loads grow without end, and no force is returned."""
    data = pp.load("kim-ryu").model_dump()
    for leg in data["legs"]:
        leg["spherical_friction"]["coulomb"] = leg["universal_friction"]["coulomb"] = 3.0
    model = pp.Model(pp.Robot.model_validate(data))
    state = easy(model, 3, seed=25)
    one = state.at(0)
    with refused(StateError, code="friction"):
        model.inverse_dynamics(one.pose, one.twist, one.acceleration)
    with warned(StateWarning, code="friction"):
        forces = model.inverse_dynamics(state.pose, state.twist, state.acceleration)
    assert np.isnan(forces).any(axis=1).all()


def test_bad_friction_choices() -> None:
    with refused(InputError, "friction_width"):
        pp.Model("kim-ryu", friction_width=-1.0)
    with refused(InputError, "friction_coupling"):
        pp.Model("kim-ryu", friction_coupling="loose")  # type: ignore[arg-type]
    data = pp.load("staicu").model_dump()
    data["legs"][0]["hinge_friction"] = {"coulomb": 0.01}
    model = pp.Model(pp.Robot.model_validate(data))
    state = easy(model, 1).at(0)
    with refused(InputError, "A.hinge friction", code="overconstrained"):
        model.inverse_dynamics(state.pose, state.twist, state.acceleration)
    with refused(InputError, "bias friction"):
        pp.Model("kim-ryu").bias(pp.load("kim-ryu").home.matrix, np.zeros(6))
