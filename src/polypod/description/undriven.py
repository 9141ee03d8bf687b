"""Which motion of a platform its actuators drive least, in words."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

_NAMES = ("x", "y", "z", "about x", "about y", "about z")


def undriven_motion(rows: Array, basis: Array, size: float) -> str:
    """A sentence on the velocity u that moves the coordinates least: the last right singular vector of J.

    ``rows`` are J (n, m) with qdot = J u, ``basis`` is S (6, m) with twist = S u, ``size`` the platform's [m].
    """
    if not np.isfinite(rows).all():
        return "a leg does not close there"
    scale = np.where(np.abs(basis[3:]).sum(axis=0) > 0, 1 / size, 1.0)
    twist = basis @ (np.linalg.svd(rows * scale, full_matrices=True)[2][-1] * scale)
    twist = twist / twist[np.abs(twist).argmax()]
    parts = [f"{x:.3g} {name}" for x, name in zip(twist, _NAMES, strict=True) if abs(x) > 1e-6]
    return f"nothing drives the motion {', '.join(parts)} (m and rad) of the platform's origin"
