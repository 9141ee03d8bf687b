"""Loops of a file closed: bodies moved as little as possible until the two halves of every joint meet.

The unknowns are the displacements of all bodies. Each joint gives constraints, and Gauss-Newton iteration takes the
least-norm step that satisfies their linearisation; redundant constraints do no harm. Joints given a value are held
there. What rounded numbers leave open is reported. Loops that do not close at once are closed by decreasing their
gaps in steps, then from other positions, drawn at random where that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from ..legs.chain import ChainJoint
from .linkage import BASE, Linkage, changed, extent, moved, seats_of
from .tree_closing import JointTree, moved_by

_STEP = 0.1
"""Radians, or part of the linkage's size, by which a given joint is moved at once."""
_MOST_STEPS = 10_000
# Tolerances: gaps over the linkage's size, and angles [rad].
_CLOSED, _ON_THE_WAY = 1e-13, 1e-3
"""Where the iteration ends: in the last step of given joints, and in those before."""
_ROUNDED = 1e-4
"""What rounded numbers may leave open."""
_UNASKED = 0.02
"""What is closed without being asked for."""
_GAP_STEPS = (20, 200)
"""Steps in which gaps are decreased to zero, more where few lose the way."""
_LISTED = 12
"""Bodies whose displacements are listed."""
_STARTS, _TOGETHER, _ENOUGH = 60, 10, 3
"""Random positions that are tried, so many at once, and closed ones that are enough."""
_TURNS = ("revolute", "cylindrical")


class Closed(NamedTuple):
    """A linkage with all joints closed, and the gap [m] and angle [rad] that its file's digits leave open."""

    linkage: Linkage
    gap: float
    tilt: float


def close_loops(linkage: Linkage, values: Mapping[str, float], far: bool = False) -> Closed:
    """The linkage with all joints closed and those of ``values`` moved by so much [m or rad] from where they are.

    Where the joints given close all loops as they are, that position is taken. Else they are moved there in steps, and
    with ``far`` positions drawn at random are tried as well, of which the one nearest to the file's is taken.
    Coordinates, ranges and offsets stay those of the file. ``InputError`` with the joint that is open and by how
    much, where no closed position was found, or where the file's is far from closed and neither ``values`` nor ``far``
    say that it may move.
    """
    for name in values:
        known = [joint.name for joint in linkage.joints if joint.kind in (*_TURNS, "prismatic")]
        if name not in known:
            raise InputError(f"at: no joint {name!r} with one coordinate; there are {', '.join(known)}")
    if not linkage.seats and not values:
        return Closed(linkage, 0.0, 0.0)
    solver = LoopSolver(linkage)
    wide = solver.opening(solver.still)
    if not (far or values) and max(wide[0] / solver.size, wide[1]) > _UNASKED:
        raise InputError(
            f"loops: {wide[2]} is open by {_open(*wide[:2])} in the file's "
            "drawing, so that is no home. Say where joints are at home (at={'JOINT': 0.5}), or have bodies moved "
            "until all loops close (close=True)"
        )
    found = solver.position(values, far)
    result = solver.moved(found, values)
    left, tilt, worst = solver.opening(found)
    if wide[0] > 1e-9 * solver.size or wide[1] > 1e-9:
        text = f"loops were open by up to {_open(*wide[:2])} ({wide[2]}) and were closed by moving bodies"
        if left > 1e-9 * solver.size or tilt > 1e-9:
            text += f"; the remaining {_open(left, tilt)} ({worst}) were distributed"
        result = result.with_remarks(text)
        if max(wide[0] / solver.size, wide[1]) >= _ROUNDED:
            result = result.with_remarks(solver.moved_text(found))
    rounded = max(wide[0] / solver.size, wide[1]) < _ROUNDED
    return Closed(result, *(wide[:2] if rounded else (left, tilt)))


def _open(gap: float, tilt: float) -> str:
    """How far a joint is open [m, rad], in words; rounding is none.

    Examples
    --------
    >>> _open(0.0012, 1e-16)
    '1.2 mm and 0 deg'
    """
    return f"{round(1e3 * gap, 9):.4g} mm and {round(float(np.degrees(tilt)), 9):.4g} deg"


class _Listed(NamedTuple):
    """Constraints of some joints as arrays (k,): numbers of the joints, axes i and j of their halves.

    First those of two axes at a right angle (see ``_constraints_of``), then the gaps along a base axis, then the gaps
    along an axis of the first half.
    """

    joint: NDArray[np.int64]
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    squares: int
    gaps: int


class LoopSolver:
    """Constraints of all joints on the displacements (b, 4, 4) of the b bodies from where they are at home."""

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.index = {name: k for k, name in enumerate(name for name in linkage.bodies if name != BASE)}
        self.seats = [linkage.seats.get(joint.name) or seats_of(joint) for joint in linkage.joints]
        self.size = extent(seat[:3, 3] for pair in self.seats for seat in pair)
        self.still = np.tile(np.eye(4), (len(self.index), 1, 1))
        last = len(self.index)  # the base comes after the bodies
        self._ends = np.array([[self.index.get(name, last) for name in joint.between] for joint in linkage.joints])
        self._halves = np.array(self.seats).reshape(-1, 2, 4, 4)
        self._lists: dict[Any, _Listed] = {}
        self.tree = JointTree(linkage.joints, self.seats, self.index, self.size, linkage.seats)

    def scale(self, name: str) -> float:
        """What a joint's coordinate is measured by: 1 rad, or the linkage's size [m]."""
        return 1.0 if self.linkage.joint(name).kind in _TURNS else self.size

    def position(self, values: Mapping[str, float], far: bool) -> Array:
        """Displacements at which all joints are closed and those of ``values`` moved by so much.

        First the position that the values give, then steps towards it, then, with ``far``, random positions.
        """
        given = self.tree.placed(self.tree.moves(values))
        gap, tilt, _ = self.opening(given, values)
        if max(gap / self.size, tilt) < _UNASKED:
            near = self._closed(given, values, _CLOSED)
            if self._is_closed(near, values):
                return near
        steps = int(max((np.ceil(abs(v) / _STEP / self.scale(name)) for name, v in values.items()), default=1)) or 1
        if steps > _MOST_STEPS:
            far_off = max(values, key=lambda name: abs(values[name]) / self.scale(name))
            raise InputError(f"at: {far_off} = {values[far_off]:g} is too far away; wrong units?")
        held = {joint.name: 0.0 for joint in self.linkage.joints if joint.actuated and joint.name not in values}
        try:
            return self.reach(self.still, held | dict(values), steps)
        except InputError:  # the loops do not close with the other actuated joints where they are: these move too
            try:
                return self.reach(self.still, dict(values), steps)
            except InputError:
                found = self._continued(values)
                if found is None and far:
                    found = self._from_random(values)
                if found is None:
                    raise
                return found

    def _continued(self, values: Mapping[str, float]) -> Array | None:
        """The closed position that a continuous decrease of all gaps leads to; None if it leads to none."""
        for steps in _GAP_STEPS:
            _, gaps = self.constraints(self.still, values)
            displacements = self.still
            for step in range(1, steps + 1):
                left = (1.0 - step / steps) * gaps
                displacements = self._closed(
                    displacements, values, _ON_THE_WAY / steps if step < steps else _CLOSED, left
                )
                off = np.abs(self.constraints(displacements, values)[1] - left).max(initial=0.0)
                if not off < _ON_THE_WAY:
                    break
            if self._is_closed(displacements, values):
                return displacements
        return None

    def _from_random(self, values: Mapping[str, float]) -> Array | None:
        """Of closed positions from random ones, the one whose bodies are turned least; None if none was found."""
        draw, found = np.random.default_rng(0), list[Array]()

        def beside(displacements: Array) -> tuple[Array, Array]:
            return self.constraints(displacements, values, self.tree.loops)

        for _ in range(0, _STARTS, _TOGETHER):
            starts = np.array([self.tree.moves(values, draw) for _ in range(_TOGETHER)])
            ends = self.tree.closed(starts, values, beside)
            found += [self._closed(end, values, _CLOSED) for end in ends if self._is_closed(end, values)]
            if len(found) >= _ENOUGH:
                break
        turned = [float(np.trace(end, axis1=1, axis2=2).sum()) for end in found]  # of a rotation 1 + 2 cos, and 1
        return found[int(np.argmax(turned))] if found else None

    def _is_closed(self, displacements: Array, values: Mapping[str, float]) -> bool:
        gap, tilt, _ = self.opening(displacements, values)
        return gap < _ROUNDED * self.size and tilt < _ROUNDED

    def reach(self, displacements: Array, values: Mapping[str, float], steps: int) -> Array:
        """Displacements at which all joints are closed and those of ``values`` moved by so much, in some steps."""
        for step in range(1, steps + 1):
            part = {name: value * step / steps for name, value in values.items()}
            displacements = self._closed(displacements, part, _ON_THE_WAY if step < steps else _CLOSED)
        if not self._is_closed(displacements, values):
            gap, tilt, worst = self.opening(displacements, values)
            raise InputError(
                f"loops: {worst} stays open by {_open(gap, tilt)}; no position near the "
                "file's closes all loops. Say where joints are in one that does, such as at={'JOINT': 0.5}, or "
                "have positions tried at random (close=True)"
            )
        return displacements

    def _closed(
        self, displacements: Array, values: Mapping[str, float], tolerance: float, left: Array | float = 0.0
    ) -> Array:
        """Displacements from which on all constraints hold but for the residuals that are to be ``left``."""
        before = np.inf
        for _ in range(60):
            jacobian, residual = self.constraints(displacements, values)
            residual = residual - left
            error = float(np.abs(residual).max(initial=0.0))
            if error < tolerance or (error < 1e-7 and error > 0.5 * before):
                break
            before = error
            step = np.asarray(np.linalg.lstsq(jacobian, -residual, rcond=1e-10)[0], dtype=float).reshape(-1, 6)
            longest = np.abs(step).max(initial=0.0)
            step = step * min(1.0, 0.3 / longest) if longest else step
            displacements = _displacements(step, self.size) @ displacements
        return displacements

    def _seats(self, displacements: Array, number: int) -> tuple[Array, Array]:
        joint = self.linkage.joints[number]
        first, second = (
            seat if name == BASE else displacements[self.index[name]] @ seat
            for name, seat in zip(joint.between, self.seats[number], strict=True)
        )
        return first, second

    def constraints(
        self, displacements: Array, values: Mapping[str, float], only: Sequence[int] | None = None
    ) -> tuple[Array, Array]:
        """Jacobian (..., k, 6 b) and residual (..., k) of all constraints or those of some joints.

        Displacements are (..., b, 4, 4). The Jacobian is by the bodies' twists about the base's origin; residuals and
        linear parts of twists are over the size.
        """
        listed = self._listed(values, only)
        residual, one, two = self._gradients(displacements, values, listed)
        one[..., listed.squares :, 3:] /= self.size
        two[..., listed.squares :, 3:] /= self.size
        residual[..., listed.squares :] /= self.size
        count = len(self.index)
        rows = np.zeros((*residual.shape, count + 1, 6))
        number, ends = np.arange(len(listed.joint)), self._ends[listed.joint].reshape(-1, 2)
        rows[..., number, ends[:, 0], :] += one
        rows[..., number, ends[:, 1], :] += two
        return rows[..., :count, :].reshape(*residual.shape, 6 * count), residual

    def _listed(self, values: Mapping[str, float], only: Sequence[int] | None = None) -> _Listed:
        key = frozenset(values), None if only is None else tuple(only)
        if key not in self._lists:
            joints = self.linkage.joints
            found: dict[str, list[tuple[int, int, int]]] = {"square": [], "gap": [], "across": []}
            for number in range(len(joints)) if only is None else only:
                for kind, i, j in _constraints_of(joints[number], joints[number].name in values):
                    found[kind].append((number, i, j))
            table = np.array([one for kind in found.values() for one in kind], dtype=np.int64).reshape(-1, 3)
            numbers, ones, others = table.T
            self._lists[key] = _Listed(numbers, ones, others, len(found["square"]), len(found["gap"]))
        return self._lists[key]

    def _gradients(
        self, displacements: Array, values: Mapping[str, float], listed: _Listed
    ) -> tuple[Array, Array, Array]:
        """Residuals (..., k), and their gradients (..., k, 6) by the twists (about the base's origin) of the first and
        the second body; displacements (..., b, 4, 4)."""
        base = np.broadcast_to(np.eye(4), (*displacements.shape[:-3], 1, 4, 4))
        at = np.concatenate([displacements, base], axis=-3)
        first, second = (at[..., self._ends[:, k], :, :] @ self._halves[:, k] for k in (0, 1))
        for number, joint in enumerate(self.linkage.joints):
            if joint.name in values:
                first[..., number, :, :] = first[..., number, :, :] @ moved_by(joint, values[joint.name])
        columns = [np.swapaxes(half[..., :3, :], -1, -2) for half in (first, second)]  # axes x, y, z and the origin
        one, two = (half[..., listed.joint, axis, :] for half, axis in zip(columns, listed[1:3], strict=True))
        p, q = (half[..., listed.joint, 3, :] for half in columns)
        squares, across = slice(0, listed.squares), slice(listed.squares + listed.gaps, None)
        one[..., listed.squares : across.start, :] = np.eye(3)[listed.i[listed.squares : across.start]]
        gap = q - p
        residual = np.sum(one * gap, axis=-1)
        of_first, of_second = (np.concatenate([one, _cross(end, one)], axis=-1) for end in (-p, q))
        of_first[..., :3] *= -1.0
        of_first[..., across, 3:] += _cross(one[..., across, :], gap[..., across, :])
        turn = _cross(one[..., squares, :], two[..., squares, :])
        residual[..., squares] = np.sum(one[..., squares, :] * two[..., squares, :], axis=-1)
        for gradient, way in ((of_first, 1.0), (of_second, -1.0)):
            gradient[..., squares, :3], gradient[..., squares, 3:] = 0.0, way * turn
        return residual, of_first, of_second

    def opening(self, displacements: Array, values: Mapping[str, float] | None = None) -> tuple[float, float, str]:
        """Largest gap [m] and angle [rad] between two halves of a joint, and the joint that is open most."""
        joints = self.linkage.joints
        if not joints:
            return 0.0, 0.0, ""
        listed = self._listed(values or {})
        residual, _, _ = self._gradients(displacements, values or {}, listed)
        parts = slice(0, listed.squares), slice(listed.squares, None)
        squared = [np.bincount(listed.joint[part], residual[part] ** 2, len(joints)) for part in parts]
        turn, gap = np.arcsin(np.minimum(1.0, np.sqrt(squared[0]))), np.sqrt(squared[1])
        worst = int(np.argmax(np.maximum(gap / self.size, turn)))
        return float(gap[worst]), float(turn[worst]), joints[worst].name

    def moved_text(self, displacements: Array) -> str:
        """How far every body was moved, the one that was moved farthest first."""
        found = []
        for name, k in self.index.items():
            held = [j.at for j in self.linkage.joints if name in j.between] or [self.linkage.bodies[name].com]
            middle = np.append(np.mean(held, axis=0), 1.0)
            shift = float(np.linalg.norm((displacements[k] @ middle - middle)[:3]))
            angle = float(scipy.spatial.transform.Rotation.from_matrix(displacements[k, :3, :3]).magnitude())
            found.append((shift / self.size + angle, f"{name} by {_open(shift, angle)}"))
        found.sort(key=lambda one: -one[0])
        more = f", and {len(found) - _LISTED} others by less" if len(found) > _LISTED else ""
        return f"moved from the file's position: {', '.join(text for _, text in found[:_LISTED])}{more}"

    def moved(self, displacements: Array, values: Mapping[str, float]) -> Linkage:
        """The linkage after its bodies were displaced; every joint at the middle of its halves."""
        at = {BASE: np.eye(4)} | {name: displacements[k] for name, k in self.index.items()}
        joints, shifts, elements = [], dict[str, float](), [dict(one) for one in self.linkage.elements]
        for number, joint in enumerate(self.linkage.joints):
            first, second = self._seats(displacements, number)
            slides = joint.kind in ("prismatic", "cylindrical")
            here = second[:3, 3] if slides else 0.5 * (first[:3, 3] + second[:3, 3])
            fields: dict[str, object] = {"at": tuple(here.tolist())}
            if joint.axis is not None:
                mean = first[:3, 0] + second[:3, 0]
                fields["axis"] = tuple((mean / np.linalg.norm(mean)).tolist())
            if joint.axes is not None:
                fields["axes"] = (tuple(first[:3, 0].tolist()), tuple(second[:3, 0].tolist()))
            springs = joint.stiffness is not None and not joint.actuated and joint.kind in ("revolute", "prismatic")
            if joint.actuated or joint.range is not None or springs or joint.name in self.linkage.sprung:
                value = values.get(joint.name)
                if value is None:
                    value = _coordinate(joint, first, second) - _coordinate(joint, *self._seats(self.still, number))
                if abs(value) > 1e-12:
                    shifts[joint.name] = value
                    if springs:  # relaxed where the file has the joint
                        spring = {"kind": "spring", "name": joint.name, "joint": joint.name, "rest": 0.0}
                        elements.append(spring | {"stiffness": joint.stiffness})
                        fields["stiffness"] = None
                    if joint.actuated:
                        fields["offset"] = joint.offset + joint.ratio * value
                    elif joint.range is not None:  # a driven joint's range counts from where its coordinate is zero
                        fields["range"] = (joint.range[0] - value, joint.range[1] - value)
            joints.append(changed(joint, **fields))
        bodies = {name: moved(one, at[name]) for name, one in self.linkage.bodies.items()}
        marks = {name: mark._replace(pose=at[mark.body] @ mark.pose) for name, mark in self.linkage.marks.items()}
        for one in elements:
            if one.get("joint") in shifts:
                one["rest"] = one["rest"] - shifts[one["joint"]]
        return replace(
            self.linkage, bodies=bodies, joints=tuple(joints), marks=marks, seats={}, elements=tuple(elements)
        )


def _constraints_of(joint: ChainJoint, held: bool) -> list[tuple[str, int, int]]:
    """Constraints of a joint as kind and axes: no gap along a base axis (``gap``) or along an axis of the first half
    (``across``), an axis of the first half perpendicular to one of the second (``square``)."""
    gaps = [("gap", k, 0) for k in range(3)]
    across = [("across", 1, 0), ("across", 2, 0)]
    tilts = [("square", 1, 0), ("square", 2, 0)]
    if held and joint.kind == "cylindrical":
        return [*gaps, *tilts] if joint.actuated == "translation" else [*across, *tilts, ("square", 2, 1)]
    kind = "fixed" if held else joint.kind
    return {
        "spherical": gaps,
        "universal": [*gaps, ("square", 0, 0)],
        "revolute": [*gaps, *tilts],
        "cylindrical": [*across, *tilts],
        "prismatic": [*across, *tilts, ("square", 2, 1)],
        "fixed": [*gaps, *tilts, ("square", 2, 1)],
    }[kind]


def _cross(a: Array, b: Array) -> Array:
    """Cross products (..., 3); that of NumPy takes longer than all the rest of a constraint."""
    x, y, z = (a[..., k] * b[..., n] - a[..., n] * b[..., k] for k, n in ((1, 2), (2, 0), (0, 1)))
    return np.stack([x, y, z], axis=-1)


def _coordinate(joint: ChainJoint, first: Array, second: Array) -> float:
    """The joint's coordinate [m or rad] between the frames of its halves."""
    if joint.kind == "prismatic" or joint.actuated == "translation":
        return float(first[:3, 0] @ (second[:3, 3] - first[:3, 3]))
    y = second[:3, 1]
    return float(np.arctan2(first[:3, 2] @ y, first[:3, 1] @ y))


def _displacements(twists: Array, size: float) -> Array:
    """Displacements (b, 4, 4) by twists (b, 6): lengths over the size, and rotation vectors about the base's origin."""
    result = np.tile(np.eye(4), (len(twists), 1, 1))
    result[:, :3, :3] = scipy.spatial.transform.Rotation.from_rotvec(twists[:, 3:]).as_matrix()
    result[:, :3, 3] = size * twists[:, :3]
    return result
