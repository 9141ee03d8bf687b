"""A thin plate of any polygon outline: free-free bending modes by finite elements.

Kirchhoff's theory: bending only, no shear, no rotary inertia of the thickness (the mass lies in the middle
plane), and infinite stiffness in the plane. The plate lies in z = 0 of the platform frame.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description.modes import Modes, Plate
from ..description.modes import plate as outline
from ..description.modes.modes import array
from ..errors import InputError
from .bending import unit_modes


def plate_modes(
    plate: Plate,
    attachments: ArrayLike,
    count: int = 10,
    *,
    names: Sequence[str] = (),
    damping_ratio: ArrayLike = 0.0,
    tolerance: float = 1e-3,
    most_triangles: int = 10000,
) -> Modes:
    """The first ``count`` elastic modes of a free plate, of unit generalized mass, with stiffness omega^2.

    The mesh is refined until no frequency changes by more than ``tolerance`` (relative). The result of the finer
    mesh is returned, so its error is well below that. The nodes are the quadrature points of the elements and the
    masses their weights, so mass, inertia and orthogonality hold to rounding. Sign and order within equal
    frequencies are fixed (``.canonical``).

    Parameters
    ----------
    attachments : (A, 2) or (A, 3) points in {P} [m]; one with z not 0 sits on a rigid stub normal to the plate.
        With the deflection w: Phi_d = (-z w_x, -z w_y, w), Phi_r = curl Phi_d / 2 = (w_y, -w_x, 0)
    names : of the attachment points
    damping_ratio : one number or (count,)
    most_triangles : give up beyond; each takes about 1 ms
    """
    if count < 1:
        raise InputError(f"count: got {count}, at least one mode is needed")
    if not 1e-8 <= tolerance < 1:
        raise InputError(f"tolerance: must be at least 1e-8 (rounding) and below 1, got {tolerance}")
    points = _attachment_points(attachments, names, plate.outline)
    centre = outline.centroid(plate.outline)
    size = float(np.linalg.norm(plate.outline - centre, axis=1).max())
    with _progress() as say:
        unit = unit_modes((plate.outline - centre) / size, plate.poisson, count, tolerance, most_triangles, say)
    if unit.splits_pair:
        warnings.warn(
            f"modes: the frequencies of modes {count} and {count + 1} are equal; {count} modes split the pair and "
            f"break the symmetry of the plate; use {count - 1 or 'none'} or {count + 1}",
            stacklevel=2,
        )
    normal = 1.0 / (np.sqrt(plate.surface_density) * size)  # unit generalized mass in kg

    def shapes_at(where: Array) -> tuple[Array, Array]:
        """Displacement and rotation shapes, both (m, 3, count), at points (m, 3)."""
        deflection, slope = unit.at((where[:, :2] - centre) / size)
        w, (w_x, w_y) = normal * deflection, np.moveaxis(slope, 1, 0) * (normal / size)
        height = where[:, 2, None]
        return np.stack([-height * w_x, -height * w_y, w], axis=1), np.stack([w_y, -w_x, 0.0 * w], axis=1)

    shapes = np.zeros((len(unit.weights), 3, count))
    shapes[:, 2] = normal * unit.values
    attachment_shapes, attachment_rotations = shapes_at(points)
    extra: dict[str, Any] = {}
    if outline.distance(np.zeros((1, 2)), plate.outline)[0] <= 1e-9 * size:
        at_origin = shapes_at(np.zeros((1, 3)))
        extra = {"origin_shape": at_origin[0][0], "origin_rotation": at_origin[1][0]}
    return Modes(
        nodes=np.column_stack([centre + size * unit.points, np.zeros(len(unit.points))]),
        masses=plate.surface_density * size**2 * unit.weights,
        shapes=shapes,
        stiffness=unit.frequencies**2 * plate.rigidity / (plate.surface_density * size**4),
        damping_ratio=np.broadcast_to(np.asarray(damping_ratio, dtype=np.float64), (count,)),
        attachments=points,
        attachment_shapes=attachment_shapes,
        attachment_rotations=attachment_rotations,
        attachment_names=tuple(names),
        tolerance=1e-9,
        reach=size * unit.longest_edge + float(np.abs(points[:, 2]).max()),
        title=f"thin plate: {unit.triangles} Argyris triangles, last change of a frequency {unit.change:.1e}",
        **extra,
    )


def _attachment_points(value: ArrayLike, names: Sequence[str], edge: Array) -> Array:
    """Attachment points (A, 3), checked to lie over the plate."""
    points = array("attachments", value, ("A", "2 or 3"))
    if points.shape[1] not in (2, 3) or len(points) == 0:
        raise InputError(f"attachments: must have shape (A, 2) or (A, 3) with A >= 1, got {points.shape}")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    gaps = outline.distance(points[:, :2], edge)
    worst = int(np.argmax(gaps))
    # rounding of a file's coordinates; beyond it the shape would be an extrapolation
    if gaps[worst] > 1e-6 * float(np.ptp(edge, axis=0).max()):
        label = f"{names[worst]!r}" if worst < len(names) else f"[{worst}]"
        raise InputError(
            f"attachments: point {label} at {points[worst].tolist()} is {gaps[worst]:.6g} m outside the "
            "plate; move it, or a vertex of the outline"
        )
    return points


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line of progress on a terminal, nothing elsewhere."""
    from rich.console import Console  # here, as it is slow to import and seldom needed

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("plate modes") as status:
        yield lambda text: status.update(f"plate modes: {text}")
