"""Motions of machines for the engine of constraints, on a base that moves.

The engine sees the motion of every body in space, in axes that coincide with those of the base: what the base does is
added to positions, velocities and accelerations by the rules of a rotating frame, and nothing else is known of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polypod.files import loads
from polypod.yaml12 import to_yaml
from support.engines.chain_engine import Array, Engine, Motion, OutOfReachError, Place
from support.robots.random_chains import Data


class BaseMotion(NamedTuple):
    """Pose, twist and acceleration of a base at its origin, in the axes of what it stands on."""

    pose: Array
    twist: Array
    acceleration: Array

    def carried(self, place: Place, motion: Motion) -> tuple[Place, Motion]:
        """Bodies of the base, seen from where it stands."""
        turn, (v0, spin), (a0, change) = self.pose[:3, :3], np.split(self.twist, 2), np.split(self.acceleration, 2)
        points = place.points @ turn.T
        velocity, acceleration = (
            np.concatenate([part[:, :3] @ turn.T, part[:, 3:] @ turn.T], axis=1) for part in motion
        )
        v, w, a = velocity[:, :3], velocity[:, 3:], acceleration[:, :3]
        seen = np.concatenate([v0 + v + np.cross(spin, points), spin + w], axis=1)
        there = a0 + a + 2 * np.cross(spin, v) + np.cross(change, points) + np.cross(spin, np.cross(spin, points))
        turning = change + acceleration[:, 3:] + np.cross(spin, w)
        return (
            place._replace(points=self.pose[:3, 3] + points, turns=turn @ place.turns),
            Motion(seen, np.concatenate([there, turning], axis=1)),
        )


def without_spin(engine: Engine, place: Place, motion: Motion) -> Motion:
    """Bodies of revolution between two spherical joints do not turn about their line in space: nothing drives them."""
    velocity, acceleration = (part.copy() for part in motion)
    for body, line in engine.lines.items():
        n = place.turns[body] @ line
        w, change = velocity[body, 3:], acceleration[body, 3:]
        change -= (change @ n) * n + (w @ n) * np.cross(w, n)
        w -= (w @ n) * n
    return Motion(velocity, acceleration)


def random_motion(engine: Engine, rng: np.random.Generator) -> tuple[Place, Motion, Array] | None:
    """A place near home, a motion there, and accelerations of the coordinates; None for machines that are jammed."""
    count = engine.coordinate_count
    aim = rng.uniform(-0.03, 0.03, count)
    for part in (1.0, 0.1, 0.01):
        try:
            place = engine.displaced(part * aim)
            break
        except OutOfReachError:  # some machines stretch their arms near home
            continue
    else:
        return None
    velocity, change = engine.velocity(place, rng.normal(size=count)), 3 * rng.normal(size=count)
    return place, Motion(velocity, engine.acceleration(place, velocity, change)), change


def order(data: Data, engine: Engine) -> list[int]:
    """Numbers of the engine's drives in the order of the model's actuators."""
    legs = data["legs"]
    names = {
        held.drive: f"{legs[number]['name']}.{joint}" if number < len(legs) else joint
        for (number, joint), held in engine.joints.items()
        if held.drive is not None
    }
    labels = [leg.label(name) for leg in loads(to_yaml(data)).legs for name in leg.actuator_names()]
    return [next(k for k, name in names.items() if name == label) for label in labels]


def state_of(engine: Engine, place: Place, motion: Motion, change: Array) -> dict[str, Any]:
    """The same motion as polypod is asked about it."""
    rates = engine._rates_by_twists(place, engine.internal) @ motion.velocity.ravel()
    return {
        "pose": engine.pose(place),
        "internal": engine.internal_coordinates(place),
        "twist": np.r_[motion.velocity[0], rates],
        "acceleration": np.r_[motion.acceleration[0], change[len(engine.chosen) :]],
    }
