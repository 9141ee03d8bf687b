"""A semi-regular hexapod and its workspace pose by pose in plain NumPy: nothing here is shared with polypod.

Geometry, limits, grid and the share of poses inside at 24^6 and 32^6 points are those of a reference count made by a
program of its own: base radius 1.15 at -10, 10, 110, 130, 230, 250 deg, platform radius 0.9 at -50, 50, 70, 170, 190,
-70 deg, home height 1.2; legs 0.8 to 1.25 of their length at home, 45 deg about their directions at home at the base
and, in the platform frame, at the platform.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import polypod as pp

FRACTION = {24: 0.003433, 32: 0.003663}
HEIGHT = 1.2
SPAN = dict.fromkeys("xyz", (-0.7, 0.7)) | {
    name: (-np.radians(35), np.radians(35)) for name in ("roll", "pitch", "yaw")
}


def _ring(radius, degrees):
    angle = np.radians(degrees)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)


A = _ring(1.15, [-10, 10, 110, 130, 230, 250])
B = _ring(0.9, [-50, 50, 70, 170, 190, -70])
UP = np.array([0.0, 0.0, 1.0])
HOME = B + HEIGHT * UP - A
LENGTH = np.linalg.norm(HOME, axis=1)
DIRECTION = HOME / LENGTH[:, None]


def robot(limits: bool = True, base=A, platform=B, height: float = HEIGHT, name: str = "reference"):
    """The same hexapod as data of polypod."""
    body = {"mass": 1.0, "com": [0, 0, 0], "inertia": (0.01 * np.eye(3)).tolist()}
    legs = []
    for a, b in zip(base, platform, strict=True):
        way = b + height * UP - a
        length = float(np.linalg.norm(way))
        n = way / length
        across = np.cross(n, [0, 0, 1])
        leg = {"kind": "UPS", "base": a.tolist(), "platform": b.tolist(), "axis": across.tolist(), "lower": body}
        leg |= {"upper": body, "axis": (across / np.linalg.norm(across)).tolist()}
        if limits:
            cone = {"axis": n.tolist(), "half_angle": np.pi / 4}
            leg |= {"length": [0.8 * length, 1.25 * length], "base_cone": cone, "platform_cone": cone}
        legs.append(leg)
    top = {"mass": 10.0, "com": [0, 0, 0], "inertia": np.eye(3).tolist()}
    return pp.Robot.model_validate({"name": name, "platform": top, "home": {"position": [0, 0, height]}, "legs": legs})


def rotation(roll, pitch, yaw):
    return Rotation.from_euler("ZYX", np.stack([yaw, pitch, roll], axis=-1)).as_matrix()


def judged(x):
    """Limits kept (n,) and det J (n,) at coordinates (n, 6) from home, one by one in NumPy's own words."""
    turn = rotation(*x[:, 3:].T)
    arms = np.einsum("nij,kj->nki", turn, B)
    ways = x[:, None, :3] + HEIGHT * UP + arms - A
    lengths = np.linalg.norm(ways, axis=2)
    n = ways / lengths[..., None]
    kept = ((lengths >= 0.8 * LENGTH) & (lengths <= 1.25 * LENGTH)).all(axis=1)
    kept &= (np.einsum("nki,ki->nk", n, DIRECTION) >= np.cos(np.pi / 4)).all(axis=1)
    own = np.einsum("nki,nij->nkj", n, turn)
    kept &= (np.einsum("nki,ki->nk", own, DIRECTION) >= np.cos(np.pi / 4)).all(axis=1)
    return kept, np.linalg.det(np.concatenate([n, np.cross(arms, n)], axis=2))


def lengths_kept(x):
    """Whether all lengths are in their ranges (n,) at coordinates (n, 6) from home."""
    ways = x[:, None, :3] + HEIGHT * UP + np.einsum("nij,kj->nki", rotation(*x[:, 3:].T), B) - A
    lengths = np.linalg.norm(ways, axis=2)
    return ((lengths >= 0.8 * LENGTH) & (lengths <= 1.25 * LENGTH)).all(axis=1)


def constant_orientation_volume(points: int = 700) -> float:
    """Volume of positions at the home orientation: columns of the six shells cut exactly in z, summed over x and y.

    Cones do not cut here (checked where it is used): shells alone bound the workspace.
    """
    axis = np.linspace(-0.9, 0.9, points)
    cell = (axis[1] - axis[0]) ** 2
    x, y = (grid.ravel() for grid in np.meshgrid(axis, axis))
    # p + b - a within a shell about the origin: z between roots, minus the hole
    top, bottom = np.full(x.shape, np.inf), np.zeros(x.shape)
    for a, b, length in zip(A, B, LENGTH, strict=True):
        across = (x + b[0] - a[0]) ** 2 + (y + b[1] - a[1]) ** 2
        top = np.minimum(top, np.sqrt(np.maximum((1.25 * length) ** 2 - across, 0.0)))
        bottom = np.maximum(bottom, np.sqrt(np.maximum((0.8 * length) ** 2 - across, 0.0)))
    return float(np.maximum(top - bottom, 0.0).sum() * cell)
