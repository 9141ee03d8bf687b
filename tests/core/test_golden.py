"""Golden states: answers computed once with 50 digits by equations of their own, kept in ``data/golden``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polypod.formulations import FORMULATIONS
from support.compare import assert_close, derivative
from support.states import displaced

FOLDER = Path(__file__).parent.parent / "data" / "golden"
ROBOTS = ("kim-ryu", "lopes", "pedrammehr", "staicu")
STATES = {name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["states"] for name in ROBOTS}
# The answers are exact; what is computed is off by rounding times the condition of J (up to 40 here): 1e-14 is reached.
TOLERANCE = 1e-12

each_state = pytest.mark.parametrize(
    ("robot", "state"),
    [pytest.param(name, state, id=f"{name}-{k}") for name in ROBOTS for k, state in enumerate(STATES[name])],
)


def check(got: Any, wanted: Any, tolerance: float = TOLERANCE, scale: Any = None) -> None:
    """One state's answer: largest difference over the largest wanted value."""
    assert_close(np.asarray(got, dtype=float)[None], np.array(wanted, dtype=float)[None], tolerance, scale)


def motion_of(state: dict[str, Any]) -> list[Any]:
    return [np.array(state[field], dtype=float) for field in ("pose", "twist", "acceleration", "wrench")]


def test_every_golden_file_is_here() -> None:
    """The flexible platform's file is for another kind of model."""
    assert {path.stem for path in FOLDER.glob("*.json")} == {*ROBOTS, "long-flexible"}
    assert all(len(states) >= 2 for states in STATES.values())


@pytest.mark.parametrize(
    ("robot", "state", "formulation"),
    [
        # the graphs of these two on six legs take longest to build, and the contract suite compares formulations
        pytest.param(name, state, formulation, id=f"{formulation}-{name}-{k}", marks=pytest.mark.long if large else ())
        for name in ROBOTS
        for formulation in FORMULATIONS
        for large in [name in ("pedrammehr", "kim-ryu") and formulation in ("lagrange", "recursive-matrix")]
        for k, state in enumerate(STATES[name])
    ],
)
def test_forces(robot: str, state: dict[str, Any], formulation: str, model_of: Any) -> None:
    model = model_of(robot)

    def call(friction: bool) -> Any:
        return model.inverse_dynamics(*motion_of(state), friction=friction, formulation=formulation)

    check(call(False), state.get("force_no_friction", state["force"]))
    if robot == "pedrammehr":
        check(call(True), state["force"])
        assert np.abs(np.subtract(state["force"], state["force_no_friction"])).max() > 1e-6


@each_state
def test_direct_dynamics(robot: str, state: dict[str, Any], model_of: Any) -> None:
    pose, twist, acceleration, wrench = motion_of(state)
    model = model_of(robot)
    force = np.array(state.get("force_no_friction", state["force"]))
    # A static state's acceleration is zero: relative to gravity.
    scale = max(np.abs(acceleration).max(), 9.81)
    check(model.direct_dynamics(pose, twist, force, wrench, friction=False), acceleration, 1e-11, scale)
    if robot == "pedrammehr":
        check(model.direct_dynamics(pose, twist, state["force"], wrench), acceleration, 1e-11, scale)


@each_state
def test_kinematics(robot: str, state: dict[str, Any], model_of: Any) -> None:
    pose, twist, acceleration, _ = motion_of(state)
    model = model_of(robot)
    check(model.jacobian(pose), state["jacobian"])
    if robot == "pedrammehr":
        q, qdot, qddot = ([pod[field] for pod in state["pods"]] for field in ("l", "ld", "ldd"))
    else:
        q, qdot, qddot = state["q"], state["qdot"], state["qddot"]
    # Coordinates may be zero by cancellation: relative to the robot's size, and to the motion.
    check(model.inverse_kinematics(pose), q, scale=1.0)
    check(model.rates(pose, twist), qdot, scale=1.0)
    check(model.accelerations(pose, twist, acceleration), qddot, scale=max(1.0, np.abs(qddot).max()))
    check(model.forward_kinematics(q), pose, scale=1.0)


@each_state
def test_energies_and_mass_matrix(robot: str, state: dict[str, Any], model_of: Any) -> None:
    pose, twist, _, _ = motion_of(state)
    energy = model_of(robot).energy(pose, twist)
    check(energy.kinetic, state["kinetic"], scale=max(state["kinetic"], 1e-3))
    check(energy.potential, state["potential"])
    if "mass_matrix" in state:
        check(model_of(robot).mass_matrix(pose), state["mass_matrix"])


@pytest.mark.parametrize("state", STATES["pedrammehr"], ids=lambda s: s["name"])
def test_pods_of_pedrammehr(state: dict[str, Any], model_of: Any) -> None:
    """Pod axes (n, v, c') and centres of mass."""
    model = model_of("pedrammehr")
    bodies = model.bodies(np.array(state["pose"]))
    for leg, pod in zip(model.robot.legs, state["pods"], strict=True):
        axes = np.array([pod["n"], pod["v"], pod["c_prime"]]).T
        for name in ("lower", "upper"):
            frame = bodies[f"{leg.name}.{name}"]
            check(frame[:3, :3], axes)
            centre = frame[:3, :3] @ getattr(leg, name).com + frame[:3, 3]
            check(centre, pod[f"r_com_{name}"])


@pytest.mark.parametrize("robot", ["kim-ryu", "lopes", "pedrammehr"])
def test_angular_velocities_of_links(robot: str, model_of: Any) -> None:
    """By differences of the bodies' frames along the golden twist, eighth order: 1e-11 is reached."""
    model = model_of(robot)
    for state in STATES[robot]:
        pose, twist, _, _ = motion_of(state)
        wanted = state["link_omega"] if "link_omega" in state else [pod["omega"] for pod in state["pods"]]
        body = "lower" if robot == "pedrammehr" else "link"

        def frame(t: float, pose: Any = pose, twist: Any = twist) -> Any:
            return model.bodies(displaced(pose, t * twist))

        for leg, omega in zip(model.legs, wanted, strict=True):
            turn = derivative(lambda h, name=f"{leg}.{body}": frame(h)[name][:3, :3], 0.005)
            turn = turn @ frame(0.0)[f"{leg}.{body}"][:3, :3].T
            check([turn[2, 1], turn[0, 2], turn[1, 0]], omega, 1e-9, max(1.0, np.abs(omega).max()))


@pytest.mark.parametrize("state", STATES["staicu"], ids=range(4))
def test_staicu_coordinates_and_passive_angles(state: dict[str, Any], model_of: Any) -> None:
    """Angles from the bodies' frames: x along the link, as the robot's notes define them."""
    model = model_of("staicu")
    motion = model.motion(state["x"], state["xdot"], state["xddot"])
    for got, field in zip(motion, ("pose", "twist", "acceleration"), strict=True):
        check(got, state[field], scale=1.0)
    check(model.coordinates(np.array(state["pose"])), state["x"], scale=1.0)
    n = {name: frame[:3, 0] for name, frame in model.bodies(np.array(state["pose"])).items()}
    start = np.arcsin(0.15 / 0.4)
    c = np.arctan2(n["C.bar1"][0], -n["C.bar1"][2]) - start
    angles = [np.arcsin(n["A.link"][1]) - start, np.arcsin(-n["B.link"][1]) - start, c, np.arcsin(n["C.bar1"][1])]
    check([*angles, c + state["x"][2]], state["passive_angles"], scale=1.0)
