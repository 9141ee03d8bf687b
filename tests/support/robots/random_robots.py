"""Random robots of UPS and PUS legs, their transformed copies, and their functions without compiling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.formulations import FORMULATIONS, newton_euler, virtual_power
from polypod.friction import Loads
from polypod.friction.laws import Exact
from polypod.mechanism import Mechanism, kinematics
from polypod.model.actuators import actuators_of
from polypod.platforms import DegreesOfFreedom

Array = NDArray[np.float64]


def unit(vector: Any) -> Array:
    return np.asarray(vector) / np.linalg.norm(vector)


def random_body(rng: np.random.Generator, mass: float, size: float) -> pp.Body:
    """A cloud of points: a body that can exist, with a full tensor and its centre of mass anywhere."""
    points, masses = size * rng.normal(size=(6, 3)), mass * rng.dirichlet(np.ones(6))
    centre = masses @ points
    local = points - centre
    tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, local, strict=True))
    return body(masses.sum(), centre, tensor)


def body(mass: float, com: Any, tensor: Any) -> pp.Body:
    tensor = np.asarray(tensor)
    return pp.Body.model_validate({"mass": mass, "com": tuple(com), "inertia": (tensor + tensor.T) / 2})


def random_robot(seed: int, kinds: tuple[str, ...]) -> pp.Robot:
    """A robot whose legs are of some kinds, all its numbers random, every leg closed at a random home."""
    rng = np.random.default_rng(seed)
    around = 2 * np.pi * np.arange(len(kinds)) / 6
    home = Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix()
    position = np.r_[0.2 * rng.normal(size=2), rng.uniform(0.8, 1.2)]
    legs = []
    for k, kind in enumerate(kinds):
        a, b = around[k] + rng.uniform(-0.4, 0.4), around[k] + (-1) ** k * 0.6 + rng.uniform(-0.2, 0.2)
        base = np.r_[np.cos(a), np.sin(a), 0.0] * rng.uniform(0.8, 1.2) + 0.1 * rng.normal(size=3)
        joint = np.r_[np.cos(b), np.sin(b), 0.0] * rng.uniform(0.3, 0.5) + 0.1 * rng.normal(size=3)
        tip = position + home @ joint
        common = {"kind": kind, "name": f"leg{k + 1}", "platform": tuple(joint)}
        if kind == "UPS":
            axis = unit(np.cross(tip - base, rng.normal(size=3)) + 0.3 * rng.normal(size=3))
            own = {"base": tuple(base), "lower": random_body(rng, 2.0, 0.2), "upper": random_body(rng, 1.0, 0.2)}
            own |= {"cross_inertia": rng.uniform(0, 0.2), "rotor_mass": rng.uniform(0, 2)}
        else:
            rail = unit(np.r_[rng.normal(size=2), rng.uniform(0.5, 1.5)])
            off = np.linalg.norm(np.cross(tip - base, rail))
            axis = unit(np.cross(tip - base, rng.normal(size=3)) + 0.3 * rng.normal(size=3))
            own = {"rail_start": tuple(base), "rail_direction": tuple(rail), "length": off / rng.uniform(0.4, 0.85)}
            own |= {"slider": random_body(rng, 1.0, 0.1), "link": random_body(rng, 2.0, 0.3)}
            own |= {"root": str(rng.choice(["lower", "upper"]))}
        legs.append({**common, "axis": tuple(axis), **own})
    return pp.Robot.model_validate(
        {
            "name": f"random {seed}",
            "gravity": tuple(9 * rng.normal(size=3)),
            "platform": random_body(rng, 8.0, 0.2),
            "home": {"position": tuple(position), "rotation": home},
            "legs": legs,
        }
    )


def symmetric_robot() -> dict[str, Any]:
    """6-3 Stewart platform: base hexagon, platform triangle; singular when turned by a quarter about its axis."""
    angles = np.deg2rad([-10, 10, 110, 130, 230, 250])
    corners = np.deg2rad([-60, 60, 60, 180, 180, 300])
    body = {"mass": 1.0, "inertia": [0.0, 0.1, 0.1]}
    legs = [
        {"base": [np.cos(a), np.sin(a), 0.0], "platform": [0.5 * np.cos(c), 0.5 * np.sin(c), 0.0]}
        for a, c in zip(angles, corners, strict=True)
    ]
    defaults = {"kind": "UPS", "axis": [1.0, 0.0, 0.0], "lower": body, "upper": body}
    return {
        "name": "symmetric",
        "platform": {"mass": 5.0, "inertia": [0.1, 0.1, 0.2]},
        "home": {"position": [0.0, 0.0, 1.0]},
        "legs": [{**defaults, **{k: [float(x) for x in v] for k, v in leg.items()}} for leg in legs],
    }


def changed(robot: pp.Robot, platform: Any, leg: Any, **fields: Any) -> pp.Robot:
    """A robot with its platform body and its legs put through functions."""
    new = {"platform": platform(robot.platform), "legs": tuple(leg(one) for one in robot.legs), **fields}
    return robot.model_copy(update=new)


def with_bodies(leg: Any, function: Any, **fields: Any) -> Any:
    """A leg with its bodies put through a function."""
    bodies = {name: function(value) for name, value in leg if isinstance(value, pp.Body)}
    return leg.model_copy(update={**bodies, **fields})


class Interpreted:
    """A robot's functions in CasADi's interpreter, one state at a time, made when first used.

    With ``friction`` forces hold it; dry friction has the exact direction, and the loads of Coulomb friction are given.
    """

    def __init__(self, robot: pp.Robot, simplify: Any = None) -> None:
        self.robot = robot
        self.mechanism = Mechanism(robot, simplify)
        self._functions: dict[Any, Any] = {}

    def call(self, key: Any, build: Callable[[], Any], *values: Any, **named: Any) -> dict[str, Array]:
        """Outputs by name of an expression at values in the order of its inputs, or by their names."""
        if key not in self._functions:
            built = build()
            ports = [*built.inputs, *([built.parameters] if built.parameters else [])]
            # Without merging equal parts (Expression.function), which takes longer than a few evaluations gain.
            function = ca.Function("f", [p.symbols for p in ports], [p.symbols for p in built.outputs])
            self._functions[key] = built, function
        expression, function = self._functions[key]
        names = [p.name for p in expression.inputs]
        default = {p.name: np.ones(p.shape) if p.name == "weights" else np.zeros(p.shape) for p in expression.inputs}
        given = default | dict(zip(names, values, strict=False)) | named
        rows = [np.asarray(given[name], dtype=float).ravel() for name in names]
        rows += [self.mechanism.numbers.values] if expression.parameters else []
        results = function.call(rows)
        return {p.name: np.array(r).reshape(p.shape) for p, r in zip(expression.outputs, results, strict=True)}

    @cached_property
    def loads(self) -> Loads:
        """Loads of joints with Coulomb friction, and the exact direction of dry friction."""
        return Loads.symbols(self.mechanism, Exact())

    def inverse_dynamics(
        self, *state: Any, formulation: str = "virtual-power", friction: bool = False, **named: Any
    ) -> Array:
        """Forces of pose, twist, acceleration and wrench."""

        def build() -> Any:
            return FORMULATIONS[formulation](self.mechanism, friction, self.loads if friction else None)

        return self.call((formulation, friction), build, *state, **named)["force"]

    def reactions(self, *state: Any, friction: bool = False, **named: Any) -> dict[str, Array]:
        """Wrenches (j, 6) of all joints and forces of pose, twist, acceleration and wrench."""

        def build() -> Any:
            return newton_euler.reactions(self.mechanism, friction, self.loads if friction else None)

        return self.call(("reactions", friction), build, *state, **named)

    def direct_dynamics(self, *state: Any, friction: bool = False, **named: Any) -> Array:
        """Acceleration of pose, twist, force and wrench."""

        def build() -> Any:
            return virtual_power.direct_dynamics(self.mechanism, friction, self.loads if friction else None)

        return self.call(("direct", friction), build, *state, **named)["acceleration"]

    def mass_matrix(self, pose: Any) -> Array:
        return self.call("mass", lambda: virtual_power.mass(self.mechanism), pose)["mass_matrix"]

    def bias(self, *state: Any) -> Array:
        return self.call("bias", lambda: virtual_power.bias(self.mechanism, False), *state)["bias"]

    def energy(self, pose: Any, twist: Any) -> float:
        """Kinetic and potential energy together."""
        found = self.call("energy", lambda: virtual_power.energy(self.mechanism), pose, twist)
        return float(found["kinetic"] + found["potential"])

    def jacobian(self, pose: Any) -> Array:
        return self.call("jacobian", lambda: kinematics.jacobian(self.mechanism), pose)["jacobian"]

    def inverse_kinematics(self, pose: Any) -> Array:
        return self.call("q", lambda: kinematics.inverse_kinematics(self.mechanism), pose)["q"]


class Sampled:
    """What :mod:`states` asks of a model, by the interpreter: for a few states nothing is compiled."""

    def __init__(self, functions: Interpreted) -> None:
        self._functions, self.robot = functions, functions.robot
        self.actuators = actuators_of(functions.mechanism)
        self.mobility = DegreesOfFreedom(functions.robot)
        self.size = self.robot.platform_size

    def jacobian(self, poses: Array, errors: str) -> Array:
        """Jacobians (n, k, m) of poses (n, 4, 4)."""
        assert errors == "nan"
        return np.array([self._functions.jacobian(pose) for pose in poses])
