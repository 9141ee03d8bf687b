"""What a set of elastic modes must be, each broken rule with the field, what was got and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError

_AXES = "xyz"
_LEAST = 1e-10  # below, the generalized mass cannot be inverted with digits to spare


def array(field: str, value: Any, shape: tuple[int | str, ...]) -> Array:
    """A read-only float array of the given shape (a text stands for any length), all entries finite."""
    wanted = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{field}: not an array of numbers ({error}); an array {wanted} is needed") from error
    pairs = zip(shape, result.shape, strict=False)
    if result.ndim != len(shape) or not all(isinstance(wish, str) or wish == got for wish, got in pairs):
        raise InputError(f"{field}: got an array of shape {result.shape}, allowed is {wanted}")
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        number = result[tuple(bad[0])]
        raise InputError(f"{field}: entry [{place}] is {number} ({len(bad)} such entries); only finite numbers allowed")
    result.setflags(write=False)
    return result


def not_negative(field: str, value: Array, unit: str) -> None:
    """Raise if any entry is below zero."""
    worst = int(np.argmin(value)) if value.size else 0
    if value.size and value[worst] < 0:
        raise InputError(f"{field}: entry [{worst}] is {value[worst]:.6g} {unit}; only zero or more is allowed")


def body(nodes: Array, masses: Array, count: int, free: bool) -> None:
    """Raise unless the massed nodes make a body with inertia about every axis and room for ``count`` modes."""
    massed = nodes[masses > 0]
    if len(massed) < 3:
        raise InputError(f"nodes: {len(massed)} nodes have mass; a body in space needs at least 3, not on one line")
    weights = masses[masses > 0]
    arms = massed - weights @ massed / weights.sum()
    second = np.einsum("n,ni,nj->ij", weights, arms, arms)
    spread = np.linalg.eigvalsh(second)
    # the smallest moment of inertia is the sum of the two smaller second moments
    if spread[0] + spread[1] <= 1e-12 * spread[2]:
        raise InputError(
            f"nodes: all {len(massed)} nodes with mass lie on one line (moments of inertia "
            f"{spread[0] + spread[1]:.3g} and {spread[2]:.3g} kg m^2); a body in space needs nodes off that line"
        )
    room = 3 * len(massed) - (6 if free else 0)
    if count > room:
        kind = "free-free modes" if free else "shape functions"
        raise InputError(f"nodes: {len(massed)} nodes with mass carry at most {room} {kind}, got {count}; add nodes")


def independent(generalized_mass: Array) -> None:
    """Raise unless the shapes are linearly independent with respect to the masses."""
    diagonal = np.diag(generalized_mass)
    if (diagonal <= 0).any():
        raise InputError(
            f"shapes: mode [{int(np.argmin(diagonal))}] moves no mass; every mode must move a node with mass"
        )
    scale = np.sqrt(diagonal)
    least = float(np.linalg.eigvalsh(generalized_mass / np.outer(scale, scale))[0])
    if least <= _LEAST:
        raise InputError(
            "shapes: the modes are linearly dependent (smallest eigenvalue of the scaled generalized mass "
            f"{least:.3g}, must exceed {_LEAST:.3g})"
        )


def independent_of_rigid(nodes: Array, masses: Array, shapes: Array) -> None:
    """Raise if a combination of the shapes is a rigid motion: the mass matrix would be singular."""
    arms = nodes - masses @ nodes / masses.sum()
    turns = np.cross(np.eye(3)[None, :, :], arms[:, None, :])  # (n, axis, 3)
    rigid = np.concatenate([np.tile(np.eye(3), (len(nodes), 1, 1)), turns], axis=1).transpose(0, 2, 1)
    columns = (np.sqrt(masses)[:, None, None] * np.concatenate([rigid, shapes], axis=2)).reshape(
        -1, 6 + shapes.shape[2]
    )
    gram = columns.T @ columns
    scale = np.sqrt(np.diag(gram))
    if (scale[:6] > 0).all():
        least = float(np.linalg.eigvalsh(gram / np.outer(scale, scale))[0])
        if least <= _LEAST:
            raise InputError(
                "shapes: a combination of them is a rigid motion of the body (smallest eigenvalue of the scaled masses "
                f"{least:.3g}, must exceed {_LEAST:.3g}); the frame has these motions already, leave them out"
            )


def orthogonal_to_each_other(generalized_mass: Array, tolerance: float) -> None:
    """Raise unless |m_ij| <= tolerance sqrt(m_ii m_jj) for i != j."""
    scale = np.sqrt(np.diag(generalized_mass))
    cosine = np.abs(generalized_mass / np.outer(scale, scale)) - np.eye(len(scale))
    i, j = np.unravel_index(int(np.argmax(cosine)), cosine.shape)
    if cosine[i, j] > tolerance:
        raise InputError(
            f"shapes: modes [{min(i, j)}] and [{max(i, j)}] are not orthogonal with respect to the masses: "
            f"|m_ij| / sqrt(m_ii m_jj) = {cosine[i, j]:.3g}, allowed {tolerance:.3g} (tolerance). {_ADVICE}"
        )


def orthogonal_to_rigid(nodes: Array, masses: Array, shapes: Array, tolerance: float) -> None:
    """Raise unless sum m phi = 0 and sum m r x phi = 0 for every mode, relative to the rigid and modal masses."""
    total = masses.sum()
    arms = nodes - masses @ nodes / total
    modal = np.sqrt(np.einsum("n,nak,nak->k", masses, shapes, shapes))
    linear = np.einsum("n,nak->ak", masses, shapes) / (np.sqrt(total) * modal)
    inertia = np.sqrt(masses @ (arms**2).sum(axis=1))
    angular = np.einsum("n,nak->ak", masses, np.cross(arms[:, :, None], shapes, axis=1)) / (inertia * modal)
    for kind, part in (("translation along", linear), ("rotation about", angular)):
        axis, mode = np.unravel_index(int(np.argmax(np.abs(part))), part.shape)
        if abs(part[axis, mode]) > tolerance:
            raise InputError(
                f"shapes: mode [{mode}] is not orthogonal to the rigid {kind} {_AXES[axis]}: relative product "
                f"{abs(part[axis, mode]):.3g}, allowed {tolerance:.3g} (tolerance). {_ADVICE}"
            )


_ADVICE = "Raise the tolerance if the file was rounded, or say free=False for shape functions that are not free modes"


def on_mesh(names: Sequence[str], points: Array, nodes: Array, reach: float | None) -> None:
    """Raise if a point is farther than ``reach`` [m] from every node; without it, the mesh's widest spacing."""
    from scipy.spatial import KDTree  # type: ignore[import-untyped, unused-ignore]  # here: slow to import

    if reach is None:
        spacing = KDTree(nodes).query(nodes, k=2)[0][:, 1]
        reach = float(spacing.max())
    distance, nearest = KDTree(nodes).query(points)
    for name, point, far, node in zip(names, points, distance, nearest, strict=True):
        if far > reach * (1 + 1e-9):
            raise InputError(
                f"attachments: point {name!r} at {point.tolist()} is off the mesh: {far:.6g} m from the nearest "
                f"node [{node}] at {nodes[node].tolist()}, allowed {reach:.6g} m (reach)"
            )
