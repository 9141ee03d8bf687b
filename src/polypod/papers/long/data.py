"""Long, Khalil and Martinet: Tables 3 and 4, and the choices that make Table 4 close."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array

JOINTS = np.array(
    [
        [-1.671, -1.373, -2.016, -1.958, -1.656, -1.936],
        [1.767, 1.764, 1.814, 1.859, 1.389, 1.345],
        [1.025, 1.039, 1.142, 1.126, 1.0203, 1.099],
    ]
).T
"""Table 4: q_1 [rad], q_2 [rad], q_3 [m] of each leg in the initial pose, (6, 3)."""

BASE = np.array([[0.1, 0.3, 1.3, 1.0, -0.2, -0.7], [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5], np.zeros(6)]).T
"""Table 4: b_j in the world frame [m], (6, 3)."""

_OFFSETS = BASE - BASE[0]
GAMMA = np.arctan2(_OFFSETS[:, 1], _OFFSETS[:, 0])
"""gamma_1i of Table 1 if the base frame sits at b_1 with x towards b_2: the choice that closes Table 4 [rad]."""

GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Link:
    """Inertial parameters of a link about the origin and in the axes of its frame."""

    tensor: Array
    first: Array
    mass: float

    def central(self) -> Array:
        """Its tensor about the centre of mass, which no body can have if a moment is negative."""
        c = self.first / self.mass
        return self.tensor - self.mass * (c @ c * np.eye(3) - np.outer(c, c))


def _tensor(xx: float, yy: float, zz: float, xy: float = 0.0) -> Array:
    return np.array([[xx, xy, 0.0], [xy, yy, 0.0], [0.0, 0.0, zz]])


LINKS = (
    Link(_tensor(0.0, 0.0, 5.11), np.zeros(3), 3.176),
    Link(_tensor(4.823, 0.945, 5.11, 0.215), np.array([4.29, -12.628, 0.0]), 30.176),
    Link(_tensor(1.068, 1.068, 0.0234), np.array([0.0, 0.0, -3.018]), 5.390),
)
"""Table 3."""

ROTOR = 45.89
"""IA of link 3: on a prismatic joint it is a mass [kg]."""


def heavier(number: int, factor: float) -> tuple[Link, ...]:
    """The links with the mass of one changed and all else as it is."""
    return tuple(replace(link, mass=factor * link.mass) if k == number else link for k, link in enumerate(LINKS))
