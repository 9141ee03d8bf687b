"""The oracle against states computed with 50 digits, and against itself: it must be right before it may judge."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import Body
from support.engines.oracle import ImpossibleError, Oracle, State, states
from support.refusals import refused
from support.states import papers_robots

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
# Reached: 4e-15, a few roundings of doubles.
TIGHT = 1e-13
CASES = [("pedrammehr", 0), ("pedrammehr", 1), ("kim-ryu", 0), ("kim-ryu", 1), ("lopes", 0), ("lopes", 1)]
CASES += [("staicu", number) for number in range(4)]
SIX_DOF = ["kim-ryu", "long", "lopes", "pedrammehr"]

pytestmark = pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")


@cache
def golden(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text())


@cache
def oracle(name: str) -> Oracle:
    return Oracle(pp.load(name))


def error(got: Any, wanted: Any) -> float:
    """Largest difference over the largest wanted value; over 1 where zero is wanted (states at rest)."""
    wanted = np.asarray(wanted, dtype=float)
    largest = float(np.abs(wanted).max())
    return float(np.abs(np.asarray(got) - wanted).max()) / (largest if largest > 1e-12 else 1.0)


def motion(state: dict[str, Any]) -> tuple[Any, Any, Any]:
    return state["pose"], state["twist"], state["acceleration"]


@pytest.mark.parametrize(("name", "number"), CASES)
class TestGolden:
    def test_actuated_coordinates(self, name: str, number: int) -> None:
        state = golden(name)["states"][number]
        if "pods" in state:
            wanted = [[pod[key] for pod in state["pods"]] for key in ("l", "ld", "ldd")]
        else:
            wanted = [state[key] for key in ("q", "qdot", "qddot")]
        for got, answer in zip(oracle(name).actuated(*motion(state)), wanted, strict=True):
            assert error(got, answer) < TIGHT

    def test_jacobian(self, name: str, number: int) -> None:
        state = golden(name)["states"][number]
        assert error(oracle(name).jacobian(state["pose"]), state["jacobian"]) < TIGHT

    def test_forces(self, name: str, number: int) -> None:
        state = golden(name)["states"][number]
        wanted = state.get("force_no_friction", state["force"])
        assert error(oracle(name).inverse_dynamics(*motion(state), state["wrench"]), wanted) < TIGHT

    def test_acceleration_from_forces(self, name: str, number: int) -> None:
        state = golden(name)["states"][number]
        pose, twist, acceleration = motion(state)
        force = state.get("force_no_friction", state["force"])
        got = oracle(name).direct_dynamics(pose, twist, force, state["wrench"])
        # Forces are known to 1e-16 of the largest; what this is in acceleration follows from the mass matrix.
        scale = max(np.abs(acceleration).max(), 9.81)
        assert np.abs(got - acceleration).max() < 1e-12 * scale

    def test_energy(self, name: str, number: int) -> None:
        state = golden(name)["states"][number]
        kinetic, potential = oracle(name).energy(state["pose"], state["twist"])
        assert error(kinetic, state["kinetic"]) < TIGHT
        assert error(potential, state["potential"]) < TIGHT


@pytest.mark.parametrize(("name", "number"), [case for case in CASES if case[0] != "staicu"])
def test_golden_mass_matrix(name: str, number: int) -> None:
    state = golden(name)["states"][number]
    assert error(oracle(name).mass_matrix(state["pose"]), state["mass_matrix"]) < TIGHT


def angular(name: str, state: dict[str, Any], joint: int) -> tuple[list[Any], list[Any]]:
    """Angular velocity and acceleration of each leg's body on its ``joint``-th joint, base axes."""
    tree = oracle(name).open_tree(*motion(state))
    pin.forwardKinematics(tree.model, tree.data, tree.q, tree.v, tree.a)
    bodies = [chain.joints[joint] for chain in oracle(name).chains]
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    velocity = [pin.getVelocity(tree.model, tree.data, body, axes).angular for body in bodies]
    return velocity, [pin.getAcceleration(tree.model, tree.data, body, axes).angular for body in bodies]


@pytest.mark.parametrize("number", [0, 1])
def test_pods_turn_with_their_universal_joints(number: int) -> None:
    state = golden("pedrammehr")["states"][number]
    velocity, acceleration = angular("pedrammehr", state, 1)
    assert error(velocity, [pod["omega"] for pod in state["pods"]]) < TIGHT
    assert error(acceleration, [pod["alpha"] for pod in state["pods"]]) < TIGHT


def test_links_turn_with_their_universal_joints() -> None:
    state = golden("kim-ryu")["states"][1]
    assert error(angular("kim-ryu", state, 2)[0], state["link_omega"]) < TIGHT


@pytest.mark.parametrize("number", [0, 1])
def test_universal_joint_axis_is_a_parameter(number: int) -> None:
    robot, state = pp.load("kim-ryu"), golden("kim-ryu")["states"][number]
    legs = tuple(leg.model_copy(update={"axis": leg.rail_direction}) for leg in robot.legs)
    got = Oracle(robot.model_copy(update={"legs": legs})).inverse_dynamics(*motion(state), state["wrench"])
    assert error(got, state["variants"]["full_alpha_along_rail"]) < TIGHT


def test_long_is_the_rigid_part_of_its_flexible_golden_state() -> None:
    """Undeformed and at rest, the flexible robot's rigid rows are a rigid robot with the plate's lumped masses."""
    system, state = golden("long-flexible")["system"], golden("long-flexible")["states"][0]
    mass, nodes = np.array(system["mass"]), np.array(system["nodes"])
    spread = np.einsum("n,ni,nj->ij", mass, nodes, nodes)
    tensor = np.trace(spread) * np.eye(3) - spread
    com = tuple(float(x) for x in mass @ nodes / mass.sum())
    plate = Body(mass=float(mass.sum()), com=com, inertia=tensor.tolist(), about="origin")
    rigid = Oracle(pp.load("long").model_copy(update={"platform": plate}))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = state["R"], state["p"]
    assert error(rigid.actuated(pose)[0], np.array(state["q_joint"])[:, 2]) < TIGHT
    assert error(rigid.jacobian(pose), np.array(state["J_q3_over_velocity"])[:, :6]) < TIGHT
    assert error(rigid.mass_matrix(pose), np.array(state["mass_matrix"])[:6, :6]) < TIGHT
    assert error(rigid.jacobian(pose).T @ rigid.inverse_dynamics(pose), state["bias"][:6]) < TIGHT
    assert error(rigid.energy(pose)[1], state["potential_gravity"]) < TIGHT


@pytest.mark.parametrize("name", papers_robots())
def test_mobility(name: str) -> None:
    """The loops leave exactly the degrees of freedom; staicu has its six redundant equations, no other robot has
    any."""
    robot = pp.load(name)
    assert oracle(name).mobility(robot.home.matrix) == ((3, 6) if name == "staicu" else (6, 0))


def test_impossible_motions_and_poses_are_refused() -> None:
    home = pp.load("staicu").home.matrix
    for component in (0, 3, 5):
        with refused(ImpossibleError, "allow"):
            oracle("staicu").actuated(home, np.eye(6)[component])
    aside, away = home.copy(), home.copy()
    aside[0, 3] += 0.01
    away[1, 3] += 1.0
    with refused(ImpossibleError, "close"):
        oracle("staicu").actuated(aside)
    with refused(ImpossibleError, "reach"):
        oracle("staicu").actuated(away)


@pytest.mark.parametrize("name", papers_robots())
def test_inverse_then_direct(name: str) -> None:
    judge = oracle(name)
    for state in states(pp.load(name), judge, 10, seed=5):
        pose, twist, acceleration, wrench, force = state
        needed = judge.inverse_dynamics(pose, twist, acceleration, wrench)
        # Rounding of the forces and of the mass matrix, magnified by the condition of J (up to 1e3).
        assert error(judge.direct_dynamics(pose, twist, needed, wrench), acceleration) < 1e-11
        caused = judge.direct_dynamics(pose, twist, force, wrench)
        assert error(judge.inverse_dynamics(pose, twist, caused, wrench), force) < 1e-11


@pytest.mark.parametrize("name", SIX_DOF)
def test_projection_equals_the_solver_of_pinocchio(name: str) -> None:
    judge = oracle(name)
    for pose, twist, _, wrench, force in states(pp.load(name), judge, 10, seed=6):
        projected = judge.direct_dynamics(pose, twist, force, wrench)
        assert error(judge.constraint_dynamics(pose, twist, force, wrench), projected) < 1e-11


def energy_along(judge: Oracle, state: State, t: float) -> float:
    """Energy on a path that leaves the state with its twist and acceleration (only first rates at t = 0 count)."""
    shift, rates = state.twist * t + state.acceleration * t * t / 2, state.twist + state.acceleration * t
    pose = state.pose.copy()
    pose[:3, 3] += shift[:3]
    pose[:3, :3] = Rotation.from_rotvec(shift[3:]).as_matrix() @ pose[:3, :3]
    return sum(judge.energy(pose, rates))


@pytest.mark.parametrize("name", papers_robots())
def test_power_balance(name: str) -> None:
    """f.qdot + wrench.twist is the rate of the energy, by central differences of fourth order."""
    judge, step = oracle(name), 3e-4
    for state in states(pp.load(name), judge, 5, seed=7):
        near, far = (energy_along(judge, state, k * step) - energy_along(judge, state, -k * step) for k in (1, 2))
        rate = (8 * near - far) / (12 * step)
        powers = judge.inverse_dynamics(*state[:4]) * judge.actuated(state.pose, state.twist)[1]
        # The differences err by step^4 times a fifth derivative; reached: 4e-11, and 100 times more for step 1e-3.
        assert abs(powers.sum() + state.wrench @ state.twist - rate) < 1e-9 * np.abs(powers).sum()


def forces_of_staicu(seed: int, platform: dict[str, Any] | None = None, **leg_c: Any) -> Any:
    """Forces over a few states of staicu with some data of its platform and of leg C changed."""
    robot = pp.load("staicu")
    legs = (*robot.legs[:2], robot.legs[2].model_copy(update=leg_c))
    body = robot.platform.model_copy(update=platform or {})
    judge = Oracle(robot.model_copy(update={"legs": legs, "platform": body}))
    return [judge.inverse_dynamics(*state[:4]) for state in states(robot, oracle("staicu"), 5, seed)]


def test_width_of_the_parallelogram_drops_out() -> None:
    assert error(forces_of_staicu(8, half_width=0.07), forces_of_staicu(8)) < TIGHT * 10


def test_mass_of_a_short_bar_is_carried_by_its_neighbour() -> None:
    """A mass point in the middle of a short bar is one at the slider, or at C5 of the platform."""
    point = Body(mass=0.5)
    at_slider = forces_of_staicu(9, slider=Body(mass=0.9751 + 0.5))
    assert error(forces_of_staicu(9, slider_bar=point), at_slider) < TIGHT * 10
    # The file gives the platform's inertia about C5: mass there does not change it.
    body = pp.load("staicu").platform
    com = (np.array(body.com) * body.mass + 0.5 * np.array(body.points["C5"])) / (body.mass + 0.5)
    heavier = {"mass": body.mass + 0.5, "com": tuple(com)}
    assert error(forces_of_staicu(9, platform_bar=point), forces_of_staicu(9, platform=heavier)) < TIGHT * 10


def test_short_bars_turn_together() -> None:
    """The tensor of one short bar may as well be the other's."""
    turning = Body(mass=0.0, inertia=((0.3, 0.02, 0.01), (0.02, 0.2, 0.03), (0.01, 0.03, 0.4)), check="none")
    wanted = forces_of_staicu(10, slider_bar=turning)
    assert error(forces_of_staicu(10, platform_bar=turning), wanted) < TIGHT * 10
    assert error(forces_of_staicu(10), wanted) > 1e-3
