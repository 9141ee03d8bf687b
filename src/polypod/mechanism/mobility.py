"""How a platform can move on its legs, found in numbers: what they constrain, which freedoms are left, what follows.

A leg of fewer than six freedoms keeps constraints c(pose) = 0; their slopes W (k, 6) by the twist leave the platform
m = 6 - rank W freedoms. With m chosen components u = E V of the twist the others follow: [W; E] V = [0; u].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ..description import Freedom, Robot
from ..description.undriven import undriven_motion
from ..errors import Fault, RobotFileError
from ..legs import Chain
from ..symbols.vectors import Frame

Array = NDArray[np.float64]
COMPONENTS = ("x", "y", "z", "roll (about x)", "pitch (about y)", "yaw (about z)")
_RANK = 1e-8
"""Relative size of a singular value of the constraints, rotations scaled by the robot, below which it is rounding."""
_NEARLY = 2e-3
"""The same for numbers that are printed with three digits."""
_SAME = 1e-9
_BROKEN = 1e-9
"""What a constraint [m, rad] that follows from others at home may be off elsewhere."""
_REACH = 0.2
"""How far [sizes, rad] the platform is moved to see what follows."""
_PARTS = (1.0, 0.25, 0.06, 0.015)
"""Parts of that way which are tried one after the other where the robot does not reach so far."""


@dataclass(frozen=True)
class Mobility:
    """``used`` are the numbers (leg, constraint) of independent constraints, ``redundant`` those that follow from them.

    ``basis`` (6, m) is S of twist = S u at home; ``constant`` whether it is so everywhere and turns about one axis at
    most, so that coordinates are displacements. ``follows`` says how much the components that are not chosen move
    within a fifth of the robot's size, or of a radian, or less where it does not reach so far.
    """

    used: tuple[tuple[int, int], ...]
    redundant: tuple[tuple[int, int], ...]
    basis: Array
    constant: bool
    follows: dict[str, float]


_KNOWN: dict[int, tuple[Robot, Mobility | None]] = {}
_MOST_KNOWN = 32


def known_mobility(robot: Robot) -> Mobility | None:
    """The mobility of a robot whose legs state constraints, analysed once; None if none does."""
    if not any(leg.constrains for leg in robot.legs):
        if robot.freedoms and all(isinstance(leg, Chain) for leg in robot.legs):
            raise _other_freedoms(robot, np.eye(6), 1.0)
        return None
    known = _KNOWN.get(id(robot))
    if known is None or known[0] is not robot:
        size = float(np.linalg.norm(robot.attachments, axis=1).mean()) or 1.0
        while len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)))
        known = _KNOWN[id(robot)] = robot, mobility_of(robot, size)
    return known[1]


class NumericLeg:
    """A leg's closing in numbers."""

    def __init__(self, leg: Any, robot: Robot) -> None:
        tip = Frame.symbols("tip")
        placement = leg.place(tip)
        self.arm = np.array(leg.attachment(robot.home.position, robot.home.rotation), dtype=float)
        self.constraints = placement.constraints
        u = placement.unknowns
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        place, move = (u.place, u.move) if u is not None else (ca.SX(0, 1), ca.SX(0, 1))
        equations = u.equations if u is not None else ca.SX(0, 1)
        demands = ca.vertcat(*[c.value for c in self.constraints], ca.SX(0, 1))
        both = ca.vertcat(equations, demands)
        still = ca.SX.zeros(move.numel())
        parts = [both, ca.jacobian(both, move), ca.jacobian(both, x)]
        parts = [ca.densify(part) for part in ca.substitute(parts, [move], [still])]
        self._value = ca.Function("closing", [x, place], parts)
        moved = u.moved if u is not None else ca.SX(0, 1)
        self._moved = ca.Function("moved", [place, move], [ca.densify(moved)])
        self.unknowns = int(move.numel())
        self.home = np.array(ca.DM(u.home)).ravel() if u is not None else np.zeros(0)

    def _tip(self, pose: Array) -> Array:
        """Origin and axes (12) of the tip."""
        axes = pose[:3, :3]
        return np.r_[pose[:3, 3] + axes @ self.arm, axes.T.ravel()]

    def gap_at(self, pose: Array, place: Array) -> tuple[Array, Array]:
        """Equations of the unknowns (k,) at a place, and their slopes (k, k) by moves."""
        rest, by_move, _ = (np.array(part) for part in self._value(self._tip(pose), place))
        return rest[: self.unknowns].ravel(), by_move[: self.unknowns]

    def moved(self, place: Array, step: NDArray[Any]) -> Array:
        """The place after a move."""
        return np.array(self._moved(place, step)).ravel()

    def at(self, pose: Array, place: Array) -> tuple[Array, Array, Array, Array]:
        """Place with the leg closed, largest gap left, constraints (k,) and their slopes by the twist (k, 6)."""
        axes = pose[:3, :3]
        arm = axes @ self.arm
        x = self._tip(pose)
        n = self.unknowns
        for _ in range(20):
            rest, by_move, by_tip = (np.array(v) for v in self._value(x, place))
            if n == 0 or not np.isfinite(rest).all():
                break
            step = -np.linalg.solve(by_move[:n], rest[:n]).ravel() if _regular(by_move[:n]) else np.full(n, np.nan)
            place = self.moved(place, step)
            if np.abs(step).max() < 1e-14 or not np.isfinite(step).all():
                break
        rest, by_move, by_tip = (np.array(v) for v in self._value(x, place))
        carry = np.zeros((12, 6))
        carry[:3, :3], carry[:3, 3:] = np.eye(3), -_skew(arm)
        for k in range(3):
            carry[3 + 3 * k : 6 + 3 * k, 3:] = -_skew(axes[:, k])
        slopes = by_tip @ carry
        rows = slopes[n:] - by_move[n:] @ np.linalg.solve(by_move[:n], slopes[:n]) if n else slopes
        return place, np.abs(rest[:n]).max(initial=0.0), rest[n:].ravel(), rows


def mobility_of(robot: Robot, size: float) -> Mobility | None:
    """How a robot's platform moves; None if no leg constrains it. A fault where the freedoms stated are not those."""
    numeric = [NumericLeg(leg, robot) for leg in robot.legs]
    owners = [(k, c) for k, leg in enumerate(numeric) for c in range(len(leg.constraints))]
    if not owners:
        return None
    pose = robot.home.matrix
    scale = np.r_[np.ones(3), np.full(3, 1 / size)]
    walk = _Walk(numeric, pose)
    rows = _comparable(walk.slopes, scale)
    rank = int(np.linalg.matrix_rank(rows, tol=_RANK * np.sqrt(len(rows))))
    free = scipy.linalg.null_space(rows, rcond=_RANK)
    chosen = _chosen(robot)
    if len(chosen) != 6 - rank or np.linalg.matrix_rank(chosen @ (free * scale[:, None]), tol=1e-6) < 6 - rank:
        raise _other_freedoms(robot, free * scale[:, None], size, 6 - int(np.linalg.matrix_rank(rows, tol=_NEARLY)))
    order = scipy.linalg.qr(rows.T, pivoting=True)[2]
    used = [int(k) for k in sorted(order[:rank])]
    basis = walk.basis(used, chosen)
    _check_actuators(robot, basis, size)
    constant, follows, broken = walk.explore(used, chosen, basis, size)
    for k, off in enumerate(broken):
        if off > _BROKEN:
            leg, number = owners[k]
            raise _fault(
                robot,
                "legs",
                f"they let the platform move in {6 - rank} ways at home, but not around it: near home "
                f"{robot.legs[leg].name}, {numeric[leg].constraints[number].name}, is off by {off:.3g} m or rad. "
                "Leave out what holds the platform twice, or give its numbers with more digits",
            )
    # a pose is read back from coordinates along fixed axes only where it turns about one of them at most
    constant = constant and sum(freedom.motion == "rotation" for freedom in robot.freedoms) <= 1
    return Mobility(
        tuple(owners[k] for k in used),
        tuple(owner for k, owner in enumerate(owners) if k not in used),
        basis,
        constant,
        follows,
    )


class _Walk:
    """The whole robot in numbers, at a pose that keeps the constraints."""

    def __init__(self, legs: Sequence[NumericLeg], pose: Array) -> None:
        self._legs, self.pose, self._home = legs, pose.copy(), pose
        self.places = [leg.home for leg in legs]
        self.gap, self.values, self.slopes = self._look()

    def _look(self) -> tuple[float, Array, Array]:
        found = [leg.at(self.pose, place) for leg, place in zip(self._legs, self.places, strict=True)]
        self.places = [place for place, *_ in found]
        gap = max(gap for _, gap, _, _ in found)
        return float(gap), np.concatenate([c for *_, c, _ in found]), np.concatenate([w for *_, w in found])

    def basis(self, used: Sequence[int], chosen: Array) -> Array:
        """S (6, m) of twist = S u."""
        whole = np.vstack([self.slopes[list(used)], chosen])
        return np.linalg.solve(whole, np.vstack([np.zeros((len(used), len(chosen))), np.eye(len(chosen))]))

    def explore(
        self, used: Sequence[int], chosen: Array, home: Array, size: float
    ) -> tuple[bool, dict[str, float], Array]:
        """Whether S is the same in poses around home, how far each component moves that is not chosen, and how far each
        constraint is from being kept there."""
        scale = np.r_[np.full(3, size), np.ones(3)]
        constant, largest, broken, reached = True, np.zeros(6), np.zeros(len(self.values)), 0
        for target in np.random.default_rng(0).uniform(-_REACH, _REACH, (6, len(chosen))):
            if not any(self.go(used, chosen, part * target, size) for part in _PARTS):
                continue
            reached += 1
            constant &= bool(np.abs((self.basis(used, chosen) - home) / scale[:, None]).max() * size < _SAME)
            turned = scipy.spatial.transform.Rotation.from_matrix(self.pose[:3, :3] @ self._home[:3, :3].T).as_rotvec()
            largest = np.maximum(largest, np.abs(np.r_[self.pose[:3, 3] - self._home[:3, 3], turned]))
            broken = np.maximum(broken, np.abs(self.values))
        free = np.abs(chosen).sum(axis=0) == 0
        follows = {COMPONENTS[k]: float(largest[k]) for k in range(6) if free[k] and largest[k] > 1e-9}
        return constant and reached > 0, follows, broken

    def go(self, used: Sequence[int], chosen: Array, target: Array, size: float) -> bool:
        """Move from home by a target (m,) [sizes, rad] in steps that keep the constraints; whether that worked."""
        self.pose, self.places = self._home.copy(), [leg.home for leg in self._legs]
        turns = np.abs(chosen[:, 3:]).sum(axis=1) > 0
        aim = target * np.where(turns, 1.0, size)
        kept = list(used)
        self.gap, self.values, self.slopes = self._look()
        for part in np.diff(np.linspace(0.0, 1.0, 6)):
            if not _regular(np.vstack([self.slopes[kept], chosen])):
                return False
            self._move(self.basis(used, chosen) @ (aim * part))
            for _ in range(8):
                self.gap, self.values, self.slopes = self._look()
                if not (np.isfinite(self.slopes).all() and np.isfinite(self.values).all()):
                    return False
                wanted = np.r_[-self.values[kept], np.zeros(len(chosen))]
                self._move(np.linalg.lstsq(np.vstack([self.slopes[kept], chosen]), wanted, rcond=None)[0])
                if np.abs(self.values[kept]).max(initial=0.0) < 1e-13:
                    break
        self.gap, self.values, self.slopes = self._look()
        off = np.abs(self.values[kept]).max(initial=0.0)
        return bool(self.gap < 1e-9 and off < 1e-12 and np.isfinite(self.slopes).all())

    def _move(self, twist: Array) -> None:
        self.pose[:3, 3] += twist[:3]
        self.pose[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(twist[3:]).as_matrix() @ self.pose[:3, :3]


def way_home(robot: Robot, pose: Array, part: float) -> Array:
    """The pose (4, 4) at a part of the straight way from home to another, turned about one axis."""
    home = robot.home.matrix
    turn = scipy.spatial.transform.Rotation.from_matrix(pose[:3, :3] @ home[:3, :3].T).as_rotvec()
    there = np.eye(4)
    there[:3, 3] = home[:3, 3] + part * (pose[:3, 3] - home[:3, 3])
    there[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(part * turn).as_matrix() @ home[:3, :3]
    return there


def walked(robot: Robot, mobility: Mobility | None, targets: Array, size: float) -> list[tuple[Array, Array]]:
    """Poses (4, 4) at targets (k, m) [sizes, rad] from home that the legs allow, with the places of all unknowns."""
    numeric = [NumericLeg(leg, robot) for leg in robot.legs]
    owners = [(k, c) for k, leg in enumerate(numeric) for c in range(len(leg.constraints))]
    used = [] if mobility is None else [owners.index(owner) for owner in mobility.used]
    chosen, result = _chosen(robot), []
    for target in targets:
        walk = _Walk(numeric, robot.home.matrix)
        if walk.go(used, chosen, target, size):
            result.append((walk.pose, np.concatenate(walk.places)))
    return result


def _chosen(robot: Robot) -> Array:
    """E (m, 6) of u = E V."""
    if not robot.freedoms:
        return np.eye(6)
    rows = np.zeros((len(robot.freedoms), 6))
    for k, freedom in enumerate(robot.freedoms):
        rows[k, 3 * (freedom.motion == "rotation") :][:3] = freedom.axis
    return rows


def proposed_freedoms(robot: Robot) -> tuple[Freedom, ...] | None:
    """Freedoms that the legs of a robot leave its platform at home, as base axes; None if they leave all six."""
    walk = _Walk([NumericLeg(leg, robot) for leg in robot.legs], robot.home.matrix)
    if not len(walk.slopes):
        return None
    size = float(np.linalg.norm(robot.attachments, axis=1).mean()) or 1.0
    scale = np.r_[np.ones(3), np.full(3, 1 / size)]
    free = scipy.linalg.null_space(_comparable(walk.slopes, scale), rcond=_RANK) * scale[:, None]
    return None if free.shape[1] == 6 else _along_base_axes(free, size)


def _comparable(slopes: Array, scale: Array) -> Array:
    """Slopes (k, 6) of constraints by the twist, rotations scaled, every row of length one.

    What a leg's closing satisfies already is rounding, and must not become a constraint by its length.
    """
    rows = slopes * scale
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    there = lengths > _RANK * lengths.max(initial=0.0)
    return np.asarray(np.where(there, rows, 0.0) / np.where(there, lengths, 1.0))


def _along_base_axes(free: Array, size: float) -> tuple[Freedom, ...]:
    """As many components of the platform's motion as determine all of it."""
    m = free.shape[1]
    scaled = free * np.r_[np.ones(3), np.full(3, size)][:, None]
    order = scipy.linalg.qr(scaled.T, pivoting=True)[2][:m] if m else []
    return tuple(
        Freedom(
            name="xyz"[k] if k < 3 else ("roll", "pitch", "yaw")[k - 3],
            motion="translation" if k < 3 else "rotation",
            axis=tuple(np.eye(3)[k % 3].tolist()),
        )
        for k in sorted(int(k) for k in order)
    )


def _other_freedoms(robot: Robot, free: Array, size: float, nearly: int | None = None) -> RobotFileError:
    """The fault of freedoms that the legs do not leave, with ones that they do.

    ``nearly`` is how many there would be if axes and points agreed that differ a little.
    """
    m = free.shape[1]
    proposal = ", ".join(
        f"{{name: {one.name}, motion: {one.motion}, axis: {[int(part) for part in one.axis]}}}"
        for one in _along_base_axes(free, size)
    )
    stated = f"{len(robot.freedoms)} are stated" if robot.freedoms else "none are stated, which means six"
    impossible = [
        f.name
        for f, row in zip(robot.freedoms, _chosen(robot), strict=False)
        if not m or np.abs(row @ free).max() < 1e-9
    ]
    words = f"; the legs do not let it move in {', '.join(impossible)}" if impossible else ""
    if len(robot.freedoms) == m and not impossible:
        words = "; those stated do not determine the others"
    instead = f"write freedoms: [{proposal}]" if m else "the platform cannot move at all"
    instead = "leave freedoms out" if m == 6 else instead
    if nearly is not None and nearly > m:
        instead += (
            f". There would be {nearly} if axes or points that differ by less than {_NEARLY:g} agreed: give them with "
            "more digits"
        )
    return _fault(robot, "freedoms", f"the legs leave the platform {m} freedoms, {stated}{words}; {instead}")


def _check_actuators(robot: Robot, basis: Array, size: float) -> None:
    """Raise if there are fewer actuators than freedoms, with the motion that nothing drives."""
    m, rows = basis.shape[1], np.concatenate([leg.coordinate_rows(robot.home.matrix) for leg in robot.legs])
    if len(rows) < m:
        undriven = undriven_motion(rows @ basis, basis, size)
        raise _fault(robot, "legs", f"a robot of {m} freedoms needs {m} actuators, got {len(rows)}; {undriven}")


def _fault(robot: Robot, field: str, text: str) -> RobotFileError:
    return RobotFileError(f"robot {robot.name!r}", [Fault(field, text)])


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _regular(matrix: Array) -> bool:
    return bool(np.isfinite(matrix).all() and np.linalg.cond(matrix) < 1e14)
