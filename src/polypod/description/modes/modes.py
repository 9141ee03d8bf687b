"""Elastic modes of a body: nodes, masses, shapes, stiffness and damping, checked when made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...errors import InputError
from . import checks


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
            raise InputError(f"tolerance: got {self.tolerance}, allowed is a number above zero")
        if self.reach is not None and not self.reach >= 0:
            raise InputError(f"reach: got {self.reach}, allowed is a distance of zero or more [m], or None")
        self._coerce_arrays()
        count = len(self.stiffness)
        checks.not_negative("masses", self.masses, "kg")
        checks.not_negative("stiffness", self.stiffness, "(generalized)")
        for field in ("damping_ratio", "damping"):
            if getattr(self, field) is not None:
                checks.not_negative(field, getattr(self, field), "")
        checks.body(self.nodes, self.masses, count, self.free)
        generalized_mass = self.generalized_mass
        checks.independent(generalized_mass)
        checks.independent_of_rigid(self.nodes, self.masses, self.shapes)
        if self.free:
            checks.orthogonal_to_rigid(self.nodes, self.masses, self.shapes, self.tolerance)
            checks.orthogonal_to_each_other(generalized_mass, self.tolerance)
        checks.on_mesh(self.attachment_names, self.attachments, self.nodes, self.reach)

    def _coerce_arrays(self) -> None:
        """Turn every field into a read-only array of the shape the others ask for."""
        if self.damping is not None and self.damping_ratio is not None:
            raise InputError("damping: got both damping and damping_ratio; allowed is one of the two")
        nodes = checks.array("nodes", self.nodes, ("n", 3))
        shapes = checks.array("shapes", self.shapes, (len(nodes), 3, "N"))
        count = shapes.shape[2]
        if count == 0:
            raise InputError("shapes: got no modes (last axis of length 0); at least one mode is needed")
        points = checks.array("attachments", self.attachments, ("A", 3))
        if len(points) == 0:
            raise InputError("attachments: got no points; at least one is needed")
        names = tuple(map(str, self.attachment_names)) or tuple(f"p{i + 1}" for i in range(len(points)))
        if len(names) != len(points) or len(set(names)) != len(names):
            raise InputError(
                f"attachment_names: got {list(names)}; allowed are {len(points)} different names, one for each point"
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
            arrays[field] = None if value is None and field in _OPTIONAL else checks.array(field, value, wanted)
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

        ``rotations`` (n, 3, N) are the rotation shapes of all nodes; ``others`` are fields of :class:`Modes`.
        """
        where = checks.array("nodes", nodes, ("n", 3))
        shape = checks.array("shapes", shapes, (len(where), 3, "N"))
        turn = None if rotations is None else checks.array("rotations", rotations, shape.shape)
        index = [_index("attachments", i, len(where)) for i in attachments]
        if origin is not None:
            centre = _index("origin", origin, len(where))
            away = float(np.linalg.norm(where[centre]))
            if away > 1e-6 * float(np.abs(where).max()):
                raise InputError(
                    f"origin: node {centre} stands at {where[centre].tolist()}, {away:.3g} m from the origin of {{P}}; "
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
        raise InputError(f"{field}: got node index {value}, allowed is 0 to {count - 1}")
    return int(value)
