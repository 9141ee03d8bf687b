"""Your own leg kind: RUS, a motor crank and a rod, six of which make a Hexa robot.

This file defines the leg: its data as fields, and in ``place`` the positions of its crank, rod and joints for a pose of
the platform, and which joint the motor drives. Everything else is derived: speeds and torques of the motors, the mass
matrix, simulation. Robot files can use ``kind: RUS`` once this class is defined.

    python custom_leg.py [FOLDER]
"""

import sys
from pathlib import Path
from typing import Literal

import casadi as ca
import numpy as np

import polypod as pp
from polypod.description import Body, Friction
from polypod.description.quantities import Direction, Length, Moment, Position
from polypod.legs import Actuator, Condition, Joint, Leg, PlacedBody, Placement
from polypod.symbols.vectors import Frame, columns, cross, dot, norm, vector


class RUS(Leg, kind="RUS"):
    """A crank rotating about ``axis`` at ``base``, and a rod from its end (universal joint) to the platform (ball).

    The actuated coordinate is the crank's angle from ``start``, a direction perpendicular to ``axis``. ``side`` 1 or -1
    selects one of the two angles that reach a point. ``rotor`` is the motor's inertia, rotating with the crank. Crank
    frame: origin at the motor, x along the crank, z = axis. Rod frame: origin at the universal joint, x along the rod
    n, y = axis x n/|axis x n|.
    """

    base: Position
    axis: Direction
    start: Direction
    crank_length: Length
    rod_length: Length
    crank: Body
    rod: Body
    side: Literal[1, -1] = 1
    rotor: Moment = 0.0
    motor_friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        """The end of the crank is the intersection of a circle about the motor and a sphere about the tip.

        With (x, y, z) the tip relative to the motor in axes (start, axis x start, axis) and c the crank's direction,
        x cos q + y sin q = k with k = (x^2 + y^2 + z^2 + a^2 - l^2)/(2a), so with w = sqrt(x^2 + y^2 - k^2)
        (x^2 + y^2) (cos q, sin q) = k (x, y) +- w (-y, x).
        """
        h, e, a, l = vector(self.axis), vector(self.start), self.crank_length, self.rod_length  # noqa: E741
        f = cross(h, e)
        d = tip.origin - vector(self.base)
        x, y, z = dot(d, e), dot(d, f), dot(d, h)
        reach2 = x * x + y * y
        k = (reach2 + z * z + a * a - l * l) / (2 * a)
        w = self.side * ca.sqrt(reach2 - k * k)
        cosine, sine = (k * x - w * y) / reach2, (k * y + w * x) / reach2
        c = cosine * e + sine * f
        elbow = vector(self.base) + a * c
        n = (tip.origin - elbow) * (1 / l)
        across = cross(h, n)
        y_rod = across * (1 / norm(across))
        reach = ca.sqrt(reach2)
        too_far = ca.sqrt((reach - a) ** 2 + z * z) - l
        too_near = l - ca.sqrt((reach + a) ** 2 + z * z)
        return Placement(
            bodies=(
                PlacedBody("crank", Frame(vector(self.base), columns(c, cross(h, c), h)), self.crank),
                PlacedBody("rod", Frame(elbow, columns(n, y_rod, cross(n, y_rod))), self.rod, 0, tip.origin, l),
            ),
            joints=(
                Joint("motor", "revolute", "base", "crank", vector(self.base), (h,), "motor_friction"),
                Joint("universal", "universal", "crank", "rod", elbow, (h, y_rod)),
                Joint("spherical", "spherical", "rod", "platform", tip.origin),
            ),
            actuators=(Actuator("motor", "motor", ca.atan2(sine, cosine), "rad", rotor=self.rotor),),
            conditions=(
                Condition(
                    "the platform joint is out of reach of crank and rod",
                    self.side * w / reach,
                    ca.fmax(too_far, too_near),
                    "m",
                ),
                Condition("the rod is in line with the motor's axis", norm(across), dot(h, n), "cosine"),
            ),
        )


def hexa() -> pp.Robot:
    """Six motors in pairs on a circle, cranks outwards, with a platform half as large below them."""
    legs = []
    for number in range(6):
        turn = np.deg2rad(120 * (number // 2) + (-1) ** number * 15)
        corner = np.deg2rad(120 * (number // 2) + (-1) ** number * 45)
        outwards = np.array([np.cos(turn), np.sin(turn), 0.0])
        legs.append(
            {
                "kind": "RUS",
                "base": tuple(0.3 * outwards),
                "axis": tuple(np.cross(outwards, [0.0, 0.0, 1.0])),
                "start": tuple(outwards),
                "crank_length": 0.2,
                "rod_length": 0.5,
                "platform": (0.12 * np.cos(corner), 0.12 * np.sin(corner), 0.0),
                "crank": {"mass": 0.5, "com": (0.08, 0.0, 0.0), "inertia": (1e-4, 2e-3, 2e-3)},
                "rod": {"mass": 0.2, "com": (0.25, 0.0, 0.0), "inertia": (1e-5, 4.2e-3, 4.2e-3)},
                "rotor": 2e-3,
                "motor_friction": {"viscous": 0.01},
            }
        )
    return pp.Robot.model_validate(
        {
            "name": "hexa",
            "title": "Six cranks and rods",
            "platform": {"mass": 1.0, "inertia": (2e-3, 2e-3, 4e-3)},
            "home": {"position": (0.0, 0.0, -0.45)},
            "legs": legs,
        }
    )


def main(folder: Path) -> None:
    """Torques of six motors while the platform moves on a circle at 2 Hz, tilting; a picture of the robot."""
    model = pp.Model(hexa())
    t = np.linspace(0.0, 0.5, 6)
    rate, radius, tilt = 4 * np.pi, 0.05, 0.2
    cosine, sine, zero = np.cos(rate * t), np.sin(rate * t), 0 * t
    angle = tilt * sine
    pose = np.tile(np.eye(4), (len(t), 1, 1))
    pose[:, :3, 3] = np.stack([radius * cosine, radius * sine, zero - 0.45], axis=1)
    pose[:, 1, 1] = pose[:, 2, 2] = np.cos(angle)
    pose[:, 2, 1], pose[:, 1, 2] = np.sin(angle), -np.sin(angle)
    twist = np.stack([-radius * rate * sine, radius * rate * cosine, zero, tilt * rate * cosine, zero, zero], axis=1)
    acceleration = -(rate**2) * np.stack([radius * cosine, radius * sine, zero, tilt * sine, zero, zero], axis=1)
    torque = model.inverse_dynamics(pose, twist, acceleration)
    crank = np.rad2deg(model.inverse_kinematics(pose))
    print("   t [s] | crank angles [deg]                          | torques [N m]")
    for row in range(len(t)):
        angles = " ".join(f"{value:7.2f}" for value in crank[row])
        torques = " ".join(f"{value:7.3f}" for value in torque[row])
        print(f"{t[row]:8.2f} | {angles} | {torques}")
    folder.mkdir(parents=True, exist_ok=True)
    pp.plots.dimensions(model.robot).savefig(folder / "custom-leg.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("custom-leg"))
