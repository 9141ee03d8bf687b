"""Elastic modes of a body: nodes, masses, shapes, stiffness and damping, checked when made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """N elastic modes of a body of n nodes, all in the axes and from the origin of the platform frame {P}.

    A node at r in the undeformed body stands at r + sum_k phi_k q_k (Long (12), with q_e, not its rate).
    Any shape functions can be brought to a diagonal stiffness by a change of basis, so the stiffness is a
    vector; the generalized mass may be full.

    Attributes
    ----------
    nodes : (n, 3) positions [m]; they may be the nodes of a mesh or the points of a quadrature rule
    masses : (n,) [kg], zero allowed
    shapes : (n, 3, N) displacement of each node for a unit of each elastic coordinate
    stiffness : (N,) generalized stiffness; omega^2 for modes of unit generalized mass
    damping_ratio : (N,) modal damping ratio; or
    damping : (N,) generalized damping (at most one of the two; neither means none)
    attachment_names : one text for each of the A attachment points
    attachments : (A, 3) their positions [m], in the order of the legs
    attachment_shapes : (A, 3, N) displacement shapes there, Phi_d(i) of Long (12)
    attachment_rotations : (A, 3, N) rotation shapes there, Phi_r(i), or None
    origin_shape, origin_rotation : (3, N) Phi_d(p) and Phi_r(p) of Long (15), (16) at the origin of {P}, or None
    free : the shapes are free-free modes: checked to be orthogonal to rigid motion and to each other
    tolerance : relative bound of that check
    reach : farthest an attachment point may be from a node [m]; None: the widest spacing of the nodes
    title : where the modes come from
    """

    nodes: Array
    masses: Array
    shapes: Array
    stiffness: Array
    attachments: Array
    attachment_shapes: Array
    attachment_names: tuple[str, ...] = ()
    attachment_rotations: Array | None = None
    origin_shape: Array | None = None
    origin_rotation: Array | None = None
    damping_ratio: Array | None = None
    damping: Array | None = None
    free: bool = True
    tolerance: float = 1e-6
    reach: float | None = None
    title: str = ""

    def __post_init__(self) -> None:
        if not self.tolerance > 0:
            raise InputError(f"tolerance: must be positive, got {self.tolerance}")
        if self.reach is not None and not self.reach >= 0:
            raise InputError(f"reach: must be a distance of at least 0 [m], or None, got {self.reach}")
        self._coerce_arrays()
        count = len(self.stiffness)
        not_negative("masses", self.masses, "kg")
        not_negative("stiffness", self.stiffness, "(generalized)")
        for field in ("damping_ratio", "damping"):
            if getattr(self, field) is not None:
                not_negative(field, getattr(self, field), "")
        body(self.nodes, self.masses, count, self.free)
        generalized_mass = self.generalized_mass
        independent(generalized_mass)
        independent_of_rigid(self.nodes, self.masses, self.shapes)
        if self.free:
            orthogonal_to_rigid(self.nodes, self.masses, self.shapes, self.tolerance)
            orthogonal_to_each_other(generalized_mass, self.tolerance)
        on_mesh(self.attachment_names, self.attachments, self.nodes, self.reach)

    def _coerce_arrays(self) -> None:
        """Turn every field into a read-only array of the shape the others ask for."""
        if self.damping is not None and self.damping_ratio is not None:
            raise InputError("damping: give damping or damping_ratio, not both")
        nodes = array("nodes", self.nodes, ("n", 3))
        shapes = array("shapes", self.shapes, (len(nodes), 3, "N"))
        count = shapes.shape[2]
        if count == 0:
            raise InputError(
                "shapes: got no modes (last axis of length 0); at least one mode is needed", code="no_modes"
            )
        points = array("attachments", self.attachments, ("A", 3))
        if len(points) == 0:
            raise InputError("attachments: got no points; at least one is needed", code="no_points")
        names = tuple(map(str, self.attachment_names)) or tuple(f"p{i + 1}" for i in range(len(points)))
        if len(names) != len(points) or len(set(names)) != len(names):
            raise InputError(
                f"attachment_names: must be {len(points)} different names, one per point, got {list(names)}"
            )
        shape: dict[str, tuple[int | str, ...]] = {
            "masses": (len(nodes),),
            "stiffness": (count,),
            "damping_ratio": (count,),
            "damping": (count,),
            "attachment_shapes": (len(points), 3, count),
            "attachment_rotations": (len(points), 3, count),
            "origin_shape": (3, count),
            "origin_rotation": (3, count),
        }
        arrays: dict[str, Any] = {"nodes": nodes, "shapes": shapes, "attachments": points, "attachment_names": names}
        for field, wanted in shape.items():
            value = getattr(self, field)
            arrays[field] = None if value is None and field in _OPTIONAL else array(field, value, wanted)
        for field, value in arrays.items():
            object.__setattr__(self, field, value)

    @classmethod
    def at_nodes(
        cls,
        nodes: ArrayLike,
        masses: ArrayLike,
        shapes: ArrayLike,
        stiffness: ArrayLike,
        attachments: Sequence[int],
        *,
        rotations: ArrayLike | None = None,
        origin: int | None = None,
        **others: Any,
    ) -> Modes:
        """Modes whose attachment points (and origin) are nodes, given by index.

        ``rotations`` (n, 3, N) are the rotation shapes of all nodes; ``others`` are fields of ``Modes``.
        """
        where = array("nodes", nodes, ("n", 3))
        shape = array("shapes", shapes, (len(where), 3, "N"))
        turn = None if rotations is None else array("rotations", rotations, shape.shape)
        index = [_index("attachments", i, len(where)) for i in attachments]
        if origin is not None:
            centre = _index("origin", origin, len(where))
            away = float(np.linalg.norm(where[centre]))
            if away > 1e-6 * float(np.abs(where).max()):
                raise InputError(
                    f"origin: node {centre} is at {where[centre].tolist()}, {away:.3g} m from the origin of {{P}}; "
                    "give the node at the origin, or none"
                )
            others.setdefault("origin_shape", shape[centre])
            others.setdefault("origin_rotation", None if turn is None else turn[centre])
        return cls(
            nodes=where,
            masses=masses,  # type: ignore[arg-type]
            shapes=shape,
            stiffness=stiffness,  # type: ignore[arg-type]
            attachments=where[index],
            attachment_shapes=shape[index],
            attachment_rotations=None if turn is None else turn[index],
            **others,
        )

    @property
    def count(self) -> int:
        """Number of modes N."""
        return len(self.stiffness)

    @property
    def generalized_mass(self) -> Array:
        """m_ee = sum m phi_i . phi_j, (N, N), full (Long (34), where only the diagonal is printed)."""
        weighted = self.shapes * self.masses[:, None, None]
        return np.asarray(np.tensordot(weighted, self.shapes, axes=([0, 1], [0, 1])))

    @property
    def frequencies(self) -> Array:
        """Circular frequency sqrt(k / m_kk) of each mode by itself, (N,) [rad/s]."""
        return np.sqrt(self.stiffness / np.diag(self.generalized_mass))

    @property
    def generalized_damping(self) -> Array:
        """D_ee: the damping given, or 2 d sqrt(k m_kk), which is Long's 2 d sqrt(k) for unit mass, (N,)."""
        if self.damping is not None:
            return self.damping
        if self.damping_ratio is None:
            return np.zeros(self.count)
        return 2.0 * self.damping_ratio * np.sqrt(self.stiffness * np.diag(self.generalized_mass))

    def with_stiffness(self, stiffness: ArrayLike) -> Modes:
        """The same shapes with another generalized stiffness, (N,)."""
        return replace(self, stiffness=stiffness)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Modes):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash((self.nodes.shape, self.stiffness.tobytes(), self.attachments.tobytes()))


_OPTIONAL = ("damping_ratio", "damping", "attachment_rotations", "origin_shape", "origin_rotation")


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return np.array_equal(one, two)
    return bool(type(one) is type(two) and one == two)


def _index(field: str, value: int, count: int) -> int:
    if not 0 <= value < count:
        raise InputError(f"{field}: node index must be 0 to {count - 1}, got {value}")
    return int(value)


# ----------------------------------------------------------------------------------------------------------------------
# What a set of elastic modes must be, each broken rule with the field, what was got and what is allowed.

_AXES = "xyz"
_LEAST = 1e-10  # below, the generalized mass cannot be inverted with digits to spare


def array(field: str, value: Any, shape: tuple[int | str, ...]) -> Array:
    """A read-only float array of the given shape (a text stands for any length), all entries finite."""
    wanted = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{field}: not an array of numbers ({error}); must have shape {wanted}", code="not_numbers"
        ) from error
    pairs = zip(shape, result.shape, strict=False)
    if result.ndim != len(shape) or not all(isinstance(wish, str) or wish == got for wish, got in pairs):
        raise InputError(f"{field}: must have shape {wanted}, got {result.shape}")
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        number = result[tuple(bad[0])]
        raise InputError(f"{field}: entry [{place}] is {number} ({len(bad)} such entries); must be finite")
    result.setflags(write=False)
    return result


def not_negative(field: str, value: Array, unit: str) -> None:
    """Raise if any entry is below zero."""
    worst = int(np.argmin(value)) if value.size else 0
    if value.size and value[worst] < 0:
        raise InputError(f"{field}: entry [{worst}] is {value[worst]:.6g} {unit}; must not be negative")


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
            f"{spread[0] + spread[1]:.3g} and {spread[2]:.3g} kg m^2); a body in space needs nodes off that line",
            code="on_one_line",
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
            f"shapes: mode [{int(np.argmin(diagonal))}] moves no mass; every mode must move a node with mass",
            code="massless_mode",
        )
    scale = np.sqrt(diagonal)
    least = float(np.linalg.eigvalsh(generalized_mass / np.outer(scale, scale))[0])
    if least <= _LEAST:
        raise InputError(
            "shapes: the modes are linearly dependent (smallest eigenvalue of the scaled generalized mass "
            f"{least:.3g}, must exceed {_LEAST:.3g})",
            code="dependent_modes",
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
                f"{least:.3g}, must exceed {_LEAST:.3g}); the frame has these motions already, leave them out",
                code="rigid_motion",
            )


def orthogonal_to_each_other(generalized_mass: Array, tolerance: float) -> None:
    """Raise unless |m_ij| <= tolerance sqrt(m_ii m_jj) for i != j."""
    scale = np.sqrt(np.diag(generalized_mass))
    cosine = np.abs(generalized_mass / np.outer(scale, scale)) - np.eye(len(scale))
    i, j = np.unravel_index(int(np.argmax(cosine)), cosine.shape)
    if cosine[i, j] > tolerance:
        raise InputError(
            f"shapes: modes [{min(i, j)}] and [{max(i, j)}] are not orthogonal with respect to the masses: "
            f"|m_ij| / sqrt(m_ii m_jj) = {cosine[i, j]:.3g}, allowed {tolerance:.3g} (tolerance). {_ADVICE}",
            code="not_orthogonal",
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
                f"{abs(part[axis, mode]):.3g}, allowed {tolerance:.3g} (tolerance). {_ADVICE}",
                code="not_orthogonal",
            )


_ADVICE = (
    "Increase the tolerance if the file was rounded, or set free=False for shape functions that are not free modes"
)


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
                f"node [{node}] at {nodes[node].tolist()}, at most {reach:.6g} m are allowed (reach)",
                code="off_mesh",
            )
