"""Dry friction on a flexible platform against Pinocchio trees, the rigid model, and the power it takes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from polypod.description import Friction, Robot
from polypod.errors import StateError, StateWarning
from support.compare import assert_close
from support.engines.flexible_oracle import FlexibleState, LumpedRobot
from support.refusals import refused, warned
from support.states import mostly_long
from test_flexible_dynamics import COUNT, random_modes, random_states, rigid, stacked, steady_elastic

Array = NDArray[np.float64]
ROBOTS = ("kim-ryu", "lopes", "pedrammehr")
# Loads repeat to 1e-13 of the largest on both sides; solves magnify that by the condition of J.
ROUNDING = 1e-10


def rough(name: str) -> Robot:
    """Viscous, dry and constant friction in every joint; kim-ryu as published."""
    robot = pp.load(name)
    if name == "kim-ryu":
        return robot
    slide = "prismatic_friction" if robot.legs[0].kind == "UPS" else "slider_friction"
    friction = {
        slide: Friction(viscous=3.0, coulomb=0.15, drag=2.0),
        "universal_friction": Friction(viscous=0.2, coulomb=0.001, drag=0.05),
        "spherical_friction": Friction(viscous=0.1, coulomb=0.002, drag=0.03),
    }
    legs = tuple(leg.model_copy(update=friction) for leg in robot.legs)
    return robot.model_copy(update={"legs": legs})


@pytest.mark.long
@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("lopes",)))
def test_dry_friction_as_point_masses(name: str) -> None:
    """Forces, elastic accelerations and pushes where loads, found on the tree, repeat."""
    robot = rough(name)
    model = pp.Model(robot.on_modes(random_modes(robot)), friction_width=1e-6)
    oracle = LumpedRobot(robot, model.modes)
    for s in random_states(robot, COUNT, 4):
        force, elastic_acceleration, pushes = oracle.dry_inverse(s)
        motion = s.pose, s.twist, s.acceleration, s.wrench
        answer = model.inverse_dynamics(*motion, full_output=True, **s.shape)
        assert_close(answer.force[None], force[None], ROUNDING)
        assert_close(answer.elastic_acceleration[None], elastic_acceleration[None], ROUNDING)
        found = model.reactions(*motion, **s.shape)
        assert_close(found.on_platform[None], pushes[None], ROUNDING)
        assert_close(found.force[None], force[None], ROUNDING)
        without = model.inverse_dynamics(*motion, friction=False, full_output=True, **s.shape)
        assert np.abs(answer.force - without.force).max() > 1e-3 * np.abs(force).max()  # it is worth something
        # the same loads, found from the forces
        direct = model.direct_dynamics(s.pose, s.twist, force, s.wrench, full_output=True, **s.shape)
        both = np.concatenate(direct)
        assert_close(both[None], oracle.direct(s._replace(force=force), True)[None], ROUNDING)
        assert_close(direct.acceleration[None], s.acceleration[None], 1e-9)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("lopes",)))
def test_joint_wrenches_as_on_the_tree(name: str) -> None:
    """The loads of every joint, from wrenches that the library gives by name."""
    robot = rough(name)
    model = pp.Model(robot.on_modes(random_modes(robot)), friction_width=1e-6)
    oracle = LumpedRobot(robot, model.modes)
    for s in random_states(robot, COUNT, 2, seed=5):
        oracle.dry_inverse(s)
        found = model.reactions(s.pose, s.twist, s.acceleration, s.wrench, **s.shape).legs
        for leg, loads in zip(robot.legs, oracle.loads, strict=True):
            joints = found[leg.name]
            assert np.linalg.norm(joints["universal"].force) == pytest.approx(loads[1], rel=ROUNDING)
            assert np.linalg.norm(joints["spherical"].force) == pytest.approx(loads[2], rel=ROUNDING)
            slide = joints["prismatic" if leg.kind == "UPS" else "slider"]
            # |a| + |b| of a force in a plane lies between its length and sqrt(2) times that
            across = np.linalg.norm(slide.normal_force)
            assert across * (1 - ROUNDING) <= loads[0] <= np.sqrt(2) * across * (1 + ROUNDING)


def calm_shape(model: pp.Model, s: FlexibleState) -> Array:
    """Elastic coordinates that friction, too, leaves as they are: K q takes up what would accelerate them."""
    elastic = steady_elastic(model, s)
    for _ in range(10):
        mass, jacobian = model.mass_matrix(s.pose, elastic=elastic), model.jacobian(s.pose, elastic=elastic)
        answer = model.inverse_dynamics(s.pose, s.twist, s.acceleration, elastic=elastic, full_output=True)
        # the actuators balance what bending takes of the frame's six equations
        held = np.linalg.solve(np.swapaxes(jacobian[..., :6], 1, 2), mass[..., :6, 6:])
        own = mass[..., 6:, 6:] - np.swapaxes(jacobian[..., 6:], 1, 2) @ held
        elastic = elastic + (own @ answer.elastic_acceleration[..., None])[..., 0] / model.modes.stiffness
    return elastic


@pytest.mark.long
def test_stiff_platform_has_the_rigid_friction() -> None:
    """Friction forces and every joint's wrench approach the rigid model's as one over the stiffness."""
    robot = rough("kim-ryu")
    start = pp.Model(robot.on_modes(random_modes(robot)))
    s = stacked(random_states(robot, COUNT, 4))
    reference = rigid(start)
    wanted = reference.reactions(s.pose, s.twist, s.acceleration)
    errors = []
    for factor in (1e4, 1e6):
        stiff = start.modes.with_stiffness(factor * start.modes.stiffness)
        model = pp.Model(robot.on_modes(stiff), friction_width=1e-6)  # as the rigid model's
        found = model.reactions(s.pose, s.twist, s.acceleration, elastic=calm_shape(model, s))
        errors.append([np.abs(found.force - wanted.force).max() / np.abs(wanted.force).max()])
        for leg, joints in wanted.legs.items():
            for joint, reaction in joints.items():
                for part in ("force", "moment"):
                    mine, own = (getattr(r, part) for r in (found.legs[leg][joint], reaction))
                    errors[-1].append(np.abs(mine - own).max() / max(np.abs(own).max(), 1.0))
    assert max(errors[1]) < 1e-5
    assert max(errors[1]) < 0.02 * max(errors[0])


@pytest.mark.long
def test_power_that_dry_friction_takes() -> None:
    """A simulation's energy balance: actuators' work = change of energies + friction and damping, to integration."""
    robot = rough("kim-ryu")
    model = pp.Model(robot.on_modes(random_modes(robot)), friction_width=1e-3)
    hold = model.static_equilibrium(robot.home.matrix)
    start = np.array([0.2, -0.1, 0.15, 0.3, 0.2, -0.2])  # moving, so that friction has its full size
    result = pp.simulate(model, hold.force, duration=0.02, twist=start, rtol=1e-10, atol=1e-12)
    lost = float(result["work_friction"][-1])
    assert lost > 0.01 * float(result["energy_kinetic"][0])
    assert float(np.abs(result["energy_residual"]).max()) < 1e-7 * lost


@pytest.mark.long
def test_a_flexible_robot_is_held_by_friction() -> None:
    """Forces that are short of equilibrium by less than friction can take; the steps are those of its modes alone."""
    robot = rough("kim-ryu")
    model = pp.Model(robot.on_modes(random_modes(robot)), friction_width=0.0)
    hold = model.static_equilibrium(robot.home.matrix).force
    result = pp.simulate(model, 0.97 * hold, duration=0.3, rate=500.0)
    # the joints stay where they are while the platform's own vibration dies away; 3 % of the weight would move it 13 mm
    assert np.abs(result["qdot"].values[-1]).max() < 1e-9
    assert np.abs(result["pose"].values[-1] - result["pose"].values[0]).max() < 1e-4
    assert float(np.abs(result["energy_residual"]).max()) < 1e-6


@pytest.mark.long
def test_friction_too_strong_gives_no_force() -> None:
    """Arms of metres: loads grow without end, and no force is returned."""
    robot = pp.load("kim-ryu")
    jam = {"spherical_friction": Friction(coulomb=3.0), "universal_friction": Friction(coulomb=3.0)}
    robot = robot.model_copy(update={"legs": tuple(leg.model_copy(update=jam) for leg in robot.legs)})
    model = pp.Model(robot.on_modes(random_modes(robot)))
    s = stacked(random_states(robot, COUNT, 3))
    with warned(StateWarning, code="friction"):
        answer = model.inverse_dynamics(s.pose, s.twist, s.acceleration, full_output=True, **s.shape)
    assert np.isnan(answer.force).any()
    with refused(StateError, code="friction"):
        model.inverse_dynamics(
            s.pose[0], s.twist[0], s.acceleration[0], elastic=s.elastic[0], elastic_rate=s.rate[0], full_output=True
        )
