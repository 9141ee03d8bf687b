"""Joint reactions: golden values, and every free body closes with forces computed another way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.model.kernels import Options
from support.chain_functions import Functions
from support.compare import close
from support.engines.classical import leg_state
from support.robots.random_robots import random_robot
from support.states import easy

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
# Sums of some thirty products of numbers of like size: a few hundred roundings of the largest force.
ROUNDING = 1e-13
# Golden numbers: those of states in 50 digits, of which the solve keeps these.
SAME = 1e-12


def states_of(name: str) -> list[dict]:
    return json.loads((GOLDEN / f"{name}.json").read_text())["states"]


def stacked(reactions: pp.Model, joint: str, part: str) -> np.ndarray:
    return np.array([getattr(leg[joint], part) for leg in reactions.legs.values()])


@pytest.mark.parametrize("name", ["kim-ryu", "lopes"])
def test_golden_reactions_of_sliders(name: str, model_of: Callable[[str], pp.Model]) -> None:
    model = model_of(name)
    for state in states_of(name):
        found = model.reactions(
            *(np.array(state[k]) for k in ("pose", "twist", "acceleration", "wrench")), friction=False
        )
        wanted = state["reactions"]
        close(found.force, state["force"], SAME)
        close(stacked(found, "universal", "force"), wanted["F_A"], SAME)
        close(-stacked(found, "spherical", "force"), wanted["F_B"], SAME)
        # Moments that are zero in exact arithmetic come out as rounding of force times length.
        scale = np.abs(np.array(wanted["F_A"])).max()
        assert np.abs(stacked(found, "universal", "moment") - wanted["M_A"]).max() <= 1e-12 * scale
        rail = np.array([leg.rail_direction for leg in model.robot.legs])
        total = stacked(found, "slider", "force")
        close(total - np.sum(total * rail, axis=1, keepdims=True) * rail, wanted["N"], SAME)


def test_golden_reactions_of_pods(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("pedrammehr")
    for state in states_of("pedrammehr"):
        found = model.reactions(*(np.array(state[k]) for k in ("pose", "twist", "acceleration", "wrench")))
        pods = state["pods"]
        close(found.force, state["force"], SAME)
        close(stacked(found, "universal", "force"), [pod["F_universal_on_lower"] for pod in pods], SAME)
        close(-stacked(found, "spherical", "force"), [pod["F_spherical_on_upper"] for pod in pods], SAME)
        along_c = np.sum(stacked(found, "universal", "moment") * [pod["c"] for pod in pods], axis=1)
        close(along_c, [pod["m_universal_along_c"] for pod in pods], SAME)


def test_a_joint_whose_place_has_the_numbers_of_its_axis() -> None:
    """A hinge at (0, 0, 1) m about (0, 0, 1): the place was taken for the axis where numbers are part of the code."""

    def leg(name: str, *points: tuple[float, float]) -> dict[str, Any]:
        motor, elbow, wrist = ([*point, 1.0] for point in points)
        ends = {"motor": ("base", "arm"), "elbow": ("arm", "rod"), "wrist": ("rod", "platform")}
        hinge = {"kind": "revolute", "axis": (0, 0, 1)}
        joints = [
            {"name": k, "between": ends[k], "at": at, "actuated": k == "motor", **hinge}
            for k, at in zip(ends, (motor, elbow, wrist), strict=True)
        ]
        inertia = {"mass": 0.5, "inertia": (0.01, 0.02, 0.03)}
        bodies = {"arm": {"com": elbow, **inertia}, "rod": {"com": wrist, **inertia}}
        return {"kind": "chain", "name": name, "bodies": bodies, "joints": joints}

    legs = [leg("a", (0, 0), (0.2, 0.3), (0.15, -0.05)), leg("b", (0.5, 0), (0.5, 0.3), (0.1, 0.1)),
            leg("c", (-0.5, 0.1), (-0.4, 0.4), (-0.1, 0.0))]  # fmt: skip
    platform = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    data = {"name": "high", "platform": platform, "home": {"position": (0, 0, 1)}, "dof": ["x", "y", "yaw"]}
    robot = pp.Robot.model_validate(data | {"legs": legs, "gravity": (1.0, 2.0, -9.81)})
    state = {"pose": robot.home.matrix, "twist": [1.0, 0.5, 0, 0, 0, 2.0], "acceleration": [3.0, -1.0, 0, 0, 0, 1.0]}
    one, other = (Functions(robot, Options(specialise=s))("reactions", **state)["wrenches"] for s in (False, True))
    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("friction", [False, True])
def test_every_free_body_closes(model: pp.Model, friction: bool) -> None:
    """Forces and moments of all joints on a body are its m (a - g) and rate of angular momentum."""
    robot = model.robot
    batch, closed = easy(model, 3, seed=11), 0
    for k in range(3):
        state = batch.at(k)
        found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench, friction=friction)
        open_numbers = {(leg, joint) for leg, joint, _ in found.indeterminate}
        platform_force, platform_moment = state.wrench[:3].copy(), state.wrench[3:].copy()
        for number, leg in enumerate(robot.legs):
            truth = leg_state(robot, number, state.pose, state.twist, state.acceleration)
            joints = found.legs[leg.name]
            for name, body in truth.bodies.items():
                at = [j for j in joints.items() if name in (j[1].parent, j[1].child)]
                if name == "cross" or any((leg.name, j) in open_numbers for j, _ in at):
                    continue
                closed += 1
                force, moment = np.zeros(3), np.zeros(3)
                for joint, reaction in at:
                    sign = 1.0 if reaction.child == name else -1.0
                    lever = truth.points[joint] - body.centre
                    force += sign * reaction.force
                    moment += sign * (reaction.moment + np.cross(lever, reaction.force))
                if robot.name == "long" and name in ("lower", "upper"):
                    # The rotor's and the cross's shares pass through the pod: along n and about u they are not its own.
                    n = truth.axes["prismatic"][0]
                    u = truth.axes["universal"][0]
                    size = np.abs(found.force).max()
                    assert np.abs(np.cross(n, force - body.force)).max() <= ROUNDING * size
                    assert np.abs(np.cross(u, moment - body.moment)).max() <= ROUNDING * size
                    continue
                size = np.abs(found.force).max() + np.abs(body.force).max()
                assert np.abs(force - body.force).max() <= ROUNDING * size
                assert np.abs(moment - body.moment).max() <= ROUNDING * size
            for joint, reaction in joints.items():
                if reaction.child == "platform":
                    platform_force += np.nan_to_num(reaction.force)
                    lever = truth.points[joint] - state.pose[:3, 3]
                    platform_moment += np.nan_to_num(reaction.moment + np.cross(lever, np.nan_to_num(reaction.force)))
        if not found.indeterminate:
            axes, body = state.pose[:3, :3], robot.platform
            com, w, alpha = axes @ np.array(body.com), state.twist[3:], state.acceleration[3:]
            a = state.acceleration[:3] + np.cross(alpha, com) + np.cross(w, np.cross(w, com)) - np.array(robot.gravity)
            tensor = axes @ body.central_inertia @ axes.T
            size = np.abs(found.force).max()
            assert np.abs(platform_force - body.mass * a).max() <= ROUNDING * size
            turn = tensor @ alpha + np.cross(w, tensor @ w) + np.cross(com, body.mass * a)
            assert np.abs(platform_moment - turn).max() <= ROUNDING * size
    # every body of staicu has a joint with numbers that statics leaves open: its reactions have own tests below
    assert closed >= 3 * len(robot.legs) or robot.name == "staicu"


def test_reaction_forces_are_the_inverse_dynamics(model: pp.Model) -> None:
    state = easy(model, 8, seed=12)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench)
    close(found.force, model.inverse_dynamics(state.pose, state.twist, state.acceleration, state.wrench), SAME)


@pytest.mark.long
def test_more_legs_than_six() -> None:
    """Nine legs: the joints at the base carry what momentum asks of the robot as a whole."""
    robot = random_robot(4, ("UPS",) * 9)
    # what the rotor and the cross take is no momentum of a body
    legs = [leg.model_copy(update={"rotor_mass": 0.0, "cross_inertia": 0.0}) for leg in robot.legs]
    model = pp.Model(robot.model_copy(update={"legs": tuple(legs)}))
    state = easy(model, 4, seed=13)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench)
    close(found.force, model.inverse_dynamics(state.pose, state.twist, state.acceleration, state.wrench), SAME)
    carried = np.zeros((4, 6))
    for leg in model.robot.legs:
        reaction = found.legs[leg.name]["universal"]
        carried[:, :3] -= reaction.force
        carried[:, 3:] -= reaction.moment + np.cross(np.array(leg.base), reaction.force)
    close(carried, found.base, SAME)


def test_passive_axes_carry_nothing_without_friction(model: pp.Model) -> None:
    state = easy(model, 1, seed=13).at(0)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench, friction=False)
    size = np.abs(found.force).max()
    for number, leg in enumerate(model.robot.legs):
        truth = leg_state(model.robot, number, state.pose, state.twist, state.acceleration)
        for joint, reaction in found.legs[leg.name].items():
            if reaction.kind == "spherical":
                assert np.abs(reaction.moment).max() <= ROUNDING * size
            if reaction.kind in ("universal", "revolute") and leg.name + joint and model.robot.name != "long":
                for axis in truth.axes[joint]:
                    if np.isfinite(reaction.moment).all():
                        assert abs(axis @ reaction.moment) <= ROUNDING * size


def test_staicu_names_what_statics_leaves_open(model_of: Callable[[str], pp.Model]) -> None:
    """Six inner stresses (13 joints, mobility 3 instead of -3): sideways forces of A and B, the bars of C."""
    model = model_of("staicu")
    state = easy(model, 4, seed=14)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench)
    assert ("A", "slider", "force x") in found.indeterminate
    assert ("A", "slider", "force y") not in found.indeterminate
    assert np.isnan(found.legs["A"]["slider"].force[:, 0]).all()
    assert np.isfinite(found.legs["A"]["slider"].force[:, 1:]).all()
    assert np.isfinite(found.legs["C"]["hinge"].force).all()
    assert {joint for leg, joint, _ in found.indeterminate if leg == "C"} >= {
        "slider hinge of bar1",
        "platform hinge of bar2",
    }
    assert all(
        model_of(name).reactions(*easy(model_of(name), 1).at(0)[:3]).indeterminate == () for name in ("lopes", "long")
    )


def test_staicu_determined_reactions_do_not_depend_on_the_chosen_columns(model_of: Callable[[str], pp.Model]) -> None:
    """The least-norm solution of all free bodies, by numpy, has the same determined numbers."""
    model = model_of("staicu")
    state = easy(model, 1, seed=15).at(0)
    found = model.reactions(state.pose, state.twist, state.acceleration, state.wrench)
    rows, rhs, names = [], [], []
    unknowns: dict[tuple[str, str], int] = {}
    robot = model.robot
    truths = {
        leg.name: leg_state(robot, i, state.pose, state.twist, state.acceleration) for i, leg in enumerate(robot.legs)
    }
    for leg in robot.legs:
        for joint in found.legs[leg.name]:
            unknowns[leg.name, joint] = 6 * len(unknowns)
    count = 6 * len(unknowns)
    for leg in robot.legs:
        truth = truths[leg.name]
        for name, body in truth.bodies.items():
            block = np.zeros((6, count))
            for joint, reaction in found.legs[leg.name].items():
                if name in (reaction.parent, reaction.child):
                    sign, at = (1.0 if reaction.child == name else -1.0), unknowns[leg.name, joint]
                    block[:, at : at + 6] += sign * _carry(truth.points[joint] - body.centre)
            rows.append(block)
            rhs += [*body.force, *body.moment]
            names.append(name)
        for joint, reaction in found.legs[leg.name].items():
            for axis in truth.axes[joint]:
                line = np.zeros((1, count))
                at = unknowns[leg.name, joint] + (0 if reaction.kind == "prismatic" else 3)
                if reaction.kind != "prismatic":
                    line[0, at : at + 3] = axis
                    rows.append(line)
                    rhs.append(0.0)
    block = np.zeros((6, count))
    for leg in robot.legs:
        for joint, reaction in found.legs[leg.name].items():
            if reaction.child == "platform":
                at = unknowns[leg.name, joint]
                block[:, at : at + 6] += _carry(truths[leg.name].points[joint] - state.pose[:3, 3])
    axes, body = state.pose[:3, :3], robot.platform
    com, w, alpha = axes @ np.array(body.com), state.twist[3:], state.acceleration[3:]
    a = state.acceleration[:3] + np.cross(alpha, com) + np.cross(w, np.cross(w, com)) - np.array(robot.gravity)
    tensor = axes @ body.central_inertia @ axes.T
    rows.append(block)
    rhs += [*(body.mass * a - state.wrench[:3])]
    rhs += [*(tensor @ alpha + np.cross(w, tensor @ w) + np.cross(com, body.mass * a) - state.wrench[3:])]
    matrix = np.vstack(rows)
    least, _, rank, _ = np.linalg.lstsq(matrix, np.array(rhs), rcond=1e-10)
    assert count - rank == 6  # the notes' six self-stresses
    assert np.abs(matrix @ least - rhs).max() <= 1e-10 * np.abs(rhs).max()
    for (leg, joint), at in unknowns.items():
        reaction = found.legs[leg][joint]
        got = np.r_[reaction.force, reaction.moment]
        known = np.isfinite(got)
        # Least squares of 66 equations with condition about 1e4.
        assert np.abs(got[known] - least[at : at + 6][known]).max(initial=0.0) <= 1e-10 * np.abs(found.force).max()


def _carry(lever: np.ndarray) -> np.ndarray:
    """A wrench at a point as force and moment at another, ``lever`` away."""
    matrix = np.eye(6)
    matrix[3:, :3] = [[0, -lever[2], lever[1]], [lever[2], 0, -lever[0]], [-lever[1], lever[0], 0]]
    return matrix
