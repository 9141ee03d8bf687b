"""Rotations in numbers, which polypod computes itself: SciPy's take a tenth of a second to import."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from polypod.description.poses import rotation_from_angles, rotation_from_vector, rotation_vector


def test_rotations_are_those_of_scipy() -> None:
    """Vectors and angles to matrices and back: SciPy's to rounding; turns of zero, of 1e-200 and of nearly pi too."""
    draw = np.random.default_rng(2)
    vectors = draw.normal(size=(400, 3))
    vectors *= (np.pi * draw.random(400) / np.linalg.norm(vectors, axis=1))[:, None]
    vectors[:5] = [[0, 0, 0], [1e-200, 0, 0], [0, 1e-9, 1e-12], [np.pi - 1e-9, 0, 0], [0, -2.0, 2.4]]
    known = Rotation.from_rotvec(vectors)
    np.testing.assert_allclose(rotation_from_vector(vectors), known.as_matrix(), rtol=0, atol=2e-15)
    np.testing.assert_allclose(rotation_vector(known.as_matrix()), vectors, rtol=0, atol=4e-15)
    assert rotation_vector(known.as_matrix()[:0]).shape == (0, 3)
    for order in ("xyz", "ZYX", "ZYZ", "yxz"):
        found = rotation_from_angles(order, vectors)
        np.testing.assert_allclose(found, Rotation.from_euler(order, vectors).as_matrix(), rtol=0, atol=2e-15)
