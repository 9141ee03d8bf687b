"""Random robots of UPS and PUS legs, their transformed copies, and their functions without compiling."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.formulations import FORMULATIONS, virtual_power
from polypod.mechanism import Mechanism, kinematics

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
    around = 2 * np.pi * np.arange(6) / 6
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
    """A robot's functions in CasADi's interpreter, one state at a time, made when first used."""

    def __init__(self, robot: pp.Robot) -> None:
        self.robot = robot
        self.mechanism = Mechanism(robot)

    def _call(self, expression: Any, *values: Any) -> Any:
        results = expression.function.call([np.asarray(v, dtype=float).ravel() for v in values])
        outputs = [np.array(r).reshape(p.shape) for r, p in zip(results, expression.outputs, strict=True)]
        return outputs[0] if len([p for p in expression.outputs if p.name != "quality"]) == 1 else outputs

    @cached_property
    def _forces(self) -> dict[str, Any]:
        return {}

    def inverse_dynamics(self, *state: Any, formulation: str = "virtual-power") -> Array:
        """Forces without friction of pose, twist, acceleration and wrench."""
        if formulation not in self._forces:
            self._forces[formulation] = FORMULATIONS[formulation](self.mechanism, False, None)
        return self._call(self._forces[formulation], *state)

    @cached_property
    def _direct(self) -> Any:
        return virtual_power.direct_dynamics(self.mechanism, False)

    def direct_dynamics(self, *state: Any) -> Array:
        """Acceleration without friction of pose, twist, force and wrench."""
        return self._call(self._direct, *state)

    @cached_property
    def _mass(self) -> Any:
        return virtual_power.mass(self.mechanism)

    def mass_matrix(self, pose: Any) -> Array:
        return self._call(self._mass, pose)

    @cached_property
    def _energy(self) -> Any:
        return virtual_power.energy(self.mechanism)

    def energy(self, pose: Any, twist: Any) -> float:
        """Kinetic and potential energy together."""
        kinetic, potential, *_ = self._call(self._energy, pose, twist)
        return float(kinetic + potential)

    @cached_property
    def _jacobian(self) -> Any:
        return kinematics.jacobian(self.mechanism)

    def jacobian(self, pose: Any) -> Array:
        return self._call(self._jacobian, pose)
