"""Surfaces of shapes as triangles, for files of other programs."""

from __future__ import annotations

import numpy as np
import scipy

from ..arrays import Array

_AROUND, _RINGS = 24, 12


def surface(points: Array, radius: float) -> Array:
    """Triangles (n, 3, 3) around the convex hull of points (k, 3) grown by a radius; corners counter-clockwise.

    Corners are on the true surface; spheres have 24 of them around the axis along which the points lie.

    Examples
    --------
    >>> ball = surface(np.zeros((1, 3)), 0.1)
    >>> bool(np.allclose(np.linalg.norm(ball, axis=2), 0.1))
    True
    """
    corners = (points[:, None] + radius * _sphere(_axis(points))).reshape(-1, 3)
    hull = scipy.spatial.ConvexHull(corners)
    triangles = corners[hull.simplices]
    outward = hull.equations[:, :3]
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inside_out = np.einsum("ij,ij->i", across, outward) < 0.0
    triangles[inside_out] = triangles[inside_out, ::-1]
    return np.asarray(triangles)


def _axis(points: Array) -> Array:
    """Unit vector (3) along the line of points, or across their plane."""
    if len(points) == 1:
        return np.array([0.0, 0.0, 1.0])
    _, _, directions = np.linalg.svd(points - points.mean(axis=0))
    return np.asarray(directions[0 if len(points) == 2 else 2])


def _sphere(axis: Array) -> Array:
    """Points (n, 3) on the unit sphere, in rings about an axis."""
    polar = np.linspace(0.0, np.pi, _RINGS + 1)[1:-1, None]
    around = np.linspace(0.0, 2 * np.pi, _AROUND, endpoint=False)
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    rings = np.cos(polar)[..., None] * axis + np.sin(polar)[..., None] * (
        np.cos(around)[:, None] * side + np.sin(around)[:, None] * np.cross(axis, side)
    )
    return np.concatenate([rings.reshape(-1, 3), [axis, -axis]])
