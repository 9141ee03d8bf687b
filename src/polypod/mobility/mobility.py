"""How a platform can move on its legs, found in numbers: what they constrain, which degrees of freedom are left, what
follows.

A leg of fewer than six degrees of freedom keeps constraints c(pose) = 0; their derivatives W (k, 6) by the twist leave
the platform m = 6 - rank W degrees of freedom. With m chosen components u = E V of the twist the others follow: [W; E]
V = [0; u].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import scipy

from ..arrays import Array
from ..description import DegreeOfFreedom, Robot
from ..description.dof import undriven_motion
from ..errors import Fault, InputError, RobotFileError
from ..legs import Chain, Joint
from ..platforms import DegreesOfFreedom
from ..symbols.vectors import Frame
from .numeric_leg import NumericLeg
from .numeric_robot import NumericRobot

_RANK = 1e-8
"""Relative size of a singular value of the constraints, rotations scaled by the robot, below which it is rounding."""
_NEARLY = 2e-3
"""The same for numbers that are printed with three digits."""
_APART = 1e-3
"""Length of what a row of length one adds to others above which it is taken beside them."""
_MUCH_LESS = 0.05
"""Part of the smallest singular value of the largest rows at home with which rows of few legs are taken."""
_STRAIGHT = 1e-9
"""Part of a motion that is rounding beside it."""
_BROKEN = 1e-9
"""What a constraint [m, rad] that follows from others at home may be off elsewhere."""


@dataclass(frozen=True)
class Mobility:
    """``used`` are the numbers (leg, constraint) of independent constraints, ``redundant`` those that follow from them.

    ``basis`` (6, m) is S of twist = S u at home; ``constant`` whether it is so everywhere and turns about one axis at
    most, so that coordinates are displacements. ``parasitic`` is how far [m, rad] each component that is not
    chosen moves, where it does, within a fifth of the robot's size or of a radian, or less if it does not reach so far.
    """

    used: tuple[tuple[int, int], ...]
    redundant: tuple[tuple[int, int], ...]
    basis: Array
    constant: bool
    parasitic: dict[str, float]


_KNOWN: dict[int, tuple[Robot, Mobility | None]] = {}
_MOST_KNOWN = 32


def known_mobility(robot: Robot) -> Mobility | None:
    """The mobility of a robot whose legs state constraints, analysed once; None if none does."""
    if not any(leg.constrains for leg in robot.legs):
        if robot.dof:
            free = free_platform_motions(robot)
            if free.shape[1] > len(robot.dof):
                raise _other_dof(robot, free, robot.platform_size, DegreesOfFreedom(robot).components.T)
        return None
    known = _KNOWN.get(id(robot))
    if known is None or known[0] is not robot:
        size = robot.platform_size
        while len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)))
        known = _KNOWN[id(robot)] = robot, mobility_of(robot, size)
    return known[1]


def mobility_of(robot: Robot, size: float) -> Mobility | None:
    """How a robot's platform moves; None if no leg constrains it. A fault where the degrees of freedom stated are
    not those."""
    numeric = [NumericLeg(leg, robot) for leg in robot.legs]
    owners = [(k, c) for k, leg in enumerate(numeric) for c in range(len(leg.constraints))]
    if not owners:
        return None
    scale = np.r_[np.ones(3), np.full(3, 1 / size)]
    at_home = NumericRobot(numeric, robot)
    rows = _normalised(at_home.derivatives, scale)
    rank = int(np.linalg.matrix_rank(rows, tol=_RANK * np.sqrt(len(rows))))
    free = scipy.linalg.null_space(rows, rcond=_RANK)
    chosen = at_home.chosen
    if len(chosen) != 6 - rank or np.linalg.matrix_rank(chosen @ (free * scale[:, None]), tol=1e-6) < 6 - rank:
        nearly = 6 - int(np.linalg.matrix_rank(rows, tol=_NEARLY))
        raise _other_dof(robot, free * scale[:, None], size, chosen, nearly)
    used = _independent(rows, [leg for leg, _ in owners], rank)
    basis = at_home.basis(used)
    _check_actuators(robot, basis, size)
    constant, parasitic, broken = at_home.explore(used, basis, size)
    for k, off in enumerate(broken):
        if off > _BROKEN:
            leg, number = owners[k]
            raise _fault(
                robot,
                "legs",
                f"they let the platform move in {6 - rank} directions at home, but not around it: near home "
                f"{robot.legs[leg].name}, {numeric[leg].constraints[number].name}, is violated by {off:.3g} m or "
                "rad. Remove redundant constraints of the platform, or give the geometry with more digits",
            )
    # a pose is read back from coordinates along fixed axes only where it turns about one of them at most
    constant = constant and sum(coordinate.motion == "rotation" for coordinate in robot.dof) <= 1
    constant = constant and not any(coordinate.joint for coordinate in robot.dof)
    constant = constant and _along_stated_axes(basis, DegreesOfFreedom(robot).components, size)
    return Mobility(
        tuple(owners[k] for k in used),
        tuple(owner for k, owner in enumerate(owners) if k not in used),
        basis,
        constant,
        parasitic,
    )


def _along_stated_axes(basis: Array, axes: Array, size: float) -> bool:
    """Whether motions (6, m) are along and about the stated axes (6, m) alone: nothing else follows, even evenly."""
    scale = np.r_[np.full(3, 1 / size), np.ones(3)][:, None]
    beyond = basis - axes @ np.linalg.pinv(axes) @ basis
    return bool(np.abs(scale * beyond).max(initial=0.0) < _STRAIGHT * np.abs(scale * basis).max(initial=0.0))


def _independent(rows: Array, legs: list[int], rank: int) -> list[int]:
    """Numbers of as many rows (k, 6) as determine the others, by the leg that each belongs to.

    As many as can be of one leg: what one leg constrains stays independent wherever it goes, rows of several legs that
    are independent at home may not.
    """
    at_home = sorted(scipy.linalg.qr(rows.T, pivoting=True)[2][:rank].tolist())
    best, largest = at_home, _MUCH_LESS * _smallest_singular_value(rows[at_home])
    for first in dict.fromkeys(legs):
        used: list[int] = []
        for leg in (first, *(k for k in dict.fromkeys(legs) if k != first)):
            own = [k for k, owner in enumerate(legs) if owner == leg]
            span = scipy.linalg.orth(rows[used].T, rcond=_RANK) if used else np.zeros((6, 0))
            left = rows[own] - rows[own] @ span @ span.T
            added, order = scipy.linalg.qr(left.T, mode="r", pivoting=True)
            count = int((np.abs(np.diag(added)) > _APART).sum())
            used += [own[k] for k in order[:count]]
        if len(used) == rank and _smallest_singular_value(rows[used]) > largest:
            best, largest = sorted(used), _smallest_singular_value(rows[used])
    return best


def _smallest_singular_value(rows: Array) -> float:
    return float(np.linalg.svd(rows, compute_uv=False).min(initial=1.0))


def proposed_dof(robot: Robot) -> tuple[DegreeOfFreedom, ...] | None:
    """Degrees of freedom that the legs of a robot leave its platform at home, as base axes; None if they leave all
    six."""
    at_home = NumericRobot([NumericLeg(leg, robot) for leg in robot.legs], robot)
    if not len(at_home.derivatives):
        return None
    size = robot.platform_size
    scale = np.r_[np.ones(3), np.full(3, 1 / size)]
    free = scipy.linalg.null_space(_normalised(at_home.derivatives, scale), rcond=_RANK) * scale[:, None]
    return None if free.shape[1] == 6 else _along_base_axes(free, size)


def nearly_free(robot: Robot, tolerance: float) -> int:
    """Degrees of freedom that the legs leave if constraints count that differ from others by more than ``tolerance``.

    It is a part of the robot's size, or rad.
    """
    at_home = NumericRobot([NumericLeg(leg, robot) for leg in robot.legs], robot)
    rows = _normalised(at_home.derivatives, np.r_[np.ones(3), np.full(3, 1 / robot.platform_size)])
    return 6 - int(np.linalg.matrix_rank(rows, tol=tolerance * np.sqrt(len(rows)))) if len(rows) else 6


def _normalised(derivatives: Array, scale: Array) -> Array:
    """Derivatives (k, 6) of constraints by the twist, rotations scaled, every row of length one.

    What a leg's closing satisfies already is rounding, and must not become a constraint by its length: a gap's slope by
    a displacement is about 1, that of a tilt by a rotation too.
    """
    rows = derivatives * scale
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    there = lengths > _RANK * max(lengths.max(initial=0.0), scale.min())
    return np.asarray(np.where(there, rows, 0.0) / np.where(there, lengths, 1.0))


def _along_base_axes(free: Array, size: float) -> tuple[DegreeOfFreedom, ...]:
    """As many components of the platform's motion as determine all of it."""
    m = free.shape[1]
    scaled = free * np.r_[np.ones(3), np.full(3, size)][:, None]
    order = scipy.linalg.qr(scaled.T, pivoting=True)[2][:m] if m else []
    return tuple(
        DegreeOfFreedom(
            name="xyz"[k] if k < 3 else ("roll", "pitch", "yaw")[k - 3],
            motion="translation" if k < 3 else "rotation",
            axis=tuple(np.eye(3)[k % 3].tolist()),
        )
        for k in sorted(int(k) for k in order)
    )


def _other_dof(robot: Robot, free: Array, size: float, chosen: Array, nearly: int | None = None) -> RobotFileError:
    """The fault of degrees of freedom that the legs do not leave, with ones that they do.

    ``free`` (6, m) are motions of the platform at home, ``chosen`` (k, 6) the derivatives of the coordinates stated.
    ``nearly`` is how many there would be if axes and points agreed that differ a little.
    """
    m = free.shape[1]
    proposal = ", ".join(one.name for one in _along_base_axes(free, size))
    stated = f"{len(robot.dof)} are stated" if robot.dof else "none are stated, which means six"
    impossible = [f.name for f, row in zip(robot.dof, chosen, strict=False) if not m or np.abs(row @ free).max() < 1e-9]
    words = f"; the legs do not let it move in {', '.join(impossible)}" if impossible else ""
    if len(robot.dof) == m and not impossible:
        words = "; those stated do not determine the others"
    instead = f"write dof: [{proposal}]" if m else "the platform cannot move at all"
    instead = "leave dof out" if m == 6 else instead
    drives = sum(len(leg.actuator_names()) for leg in robot.legs)
    if drives < m and robot.dof:
        instead = f"{drives} drives hold {drives} of them, so let joints hold the others or drive more"
    if nearly is not None and nearly > m:
        instead += (
            f". There would be {nearly} if axes or points that differ by less than {_NEARLY:g} agreed: give them with "
            "more digits"
        )
    instead += _nearly_parallel(robot) + _locking_couplings(robot, m) if m < (len(robot.dof) or 6) else ""
    return _fault(robot, "dof", f"the legs leave the platform {m} degrees of freedom, {stated}{words}; {instead}")


def _locking_couplings(robot: Robot, m: int) -> str:
    """A sentence on couplings without each of which the platform would have more degrees of freedom than m."""
    found = []
    for number, leg in enumerate(robot.legs):
        for k in range(len(leg.couplings)) if isinstance(leg, Chain) else ():
            assert isinstance(leg, Chain)
            others = leg.couplings[:k] + leg.couplings[k + 1 :]
            try:
                data = {**leg.model_dump(), "couplings": others, "bodies": leg.bodies, "joints": leg.joints}
                del data["platform"]
                free = type(leg).model_validate(data).at_home(robot.home.position, robot.home.rotation)
            except (ValueError, InputError):
                continue  # without it the leg has a mobility of its own: it does not lock
            legs = [free if place == number else one for place, one in enumerate(robot.legs)]
            at_home = NumericRobot([NumericLeg(one, robot) for one in legs], robot)
            rows = _normalised(at_home.derivatives, np.r_[np.ones(3), np.full(3, 1 / robot.platform_size)])
            left = 6 - int(np.linalg.matrix_rank(rows, tol=_RANK * np.sqrt(len(rows)))) if len(rows) else 6
            if left > m:
                found.append(f"{leg.couplings[k].name or f'couplings.{k}'} of {leg.name} ({left})")
    return f". There would be more without the coupling {' or '.join(found)}" if found else ""


def _nearly_parallel(robot: Robot) -> str:
    """A sentence on axes that are nearly parallel to others, and by how much; empty for none."""
    odd = nearly_parallel_axes(robot)
    listed = [f"{one.path} ({one.joint}) is {np.degrees(one.angle):.3g} deg off that of {one.other}" for one in odd[:3]]
    more = f" (and {len(odd) - 3} more)" if len(odd) > 3 else ""
    return f". Axes that are nearly parallel: {'; '.join(listed)}{more}" if odd else ""


def _check_actuators(robot: Robot, basis: Array, size: float) -> None:
    """Raise if there are fewer actuators than degrees of freedom, with the motion that nothing drives."""
    m, rows = basis.shape[1], np.concatenate([leg.coordinate_rows(robot.home.matrix) for leg in robot.legs])
    if len(rows) < m:
        undriven = undriven_motion(rows @ basis, basis, size)
        raise _fault(
            robot, "legs", f"a robot of {m} degrees of freedom needs {m} actuators, got {len(rows)}; {undriven}"
        )


def _fault(robot: Robot, field: str, text: str) -> RobotFileError:
    return RobotFileError(f"robot {robot.name!r}", [Fault(field, text)])


# ----------------------------------------------------------------------------------------------------------------------
# How a platform can move at home by its legs' joints alone, whatever their ``place`` says of the motions stated.

_SMALL = 1e-9
"""Relative size of a singular value that is rounding, lengths over the robot's size."""


def free_platform_motions(robot: Robot) -> Array:
    """Twists (6, m) of the platform at home that its legs' joints leave it, drives free; about the home position.

    Joint j lets its bodies' twists differ by its own motions only: N_j (V_child - V_parent) = 0 with N_j perpendicular
    to them. Motions of the platform are those of the null space of all rows. Internal coordinates stand still.
    """
    parts: list[tuple[Array, list[Any]]] = []
    coupled: list[list[tuple[Array, list[Any]]]] = []
    for number, leg in enumerate(robot.legs):
        rates: dict[tuple[str, int], tuple[Array, list[Any]]] = {}
        for joint, numbers in _at_home(leg, robot):
            ends = [name if name in ("base", "platform") else (number, name) for name in (joint.parent, joint.child)]
            point = (numbers[:, -1] - np.array(robot.home.position)) / robot.platform_size
            held = scipy.linalg.null_space(_motions(joint.kind, numbers[:, :-1]), rcond=_SMALL).T
            there = np.eye(6)  # the twist at the joint's point: v + w x p
            there[:3, 3:] = [[0, point[2], -point[1]], [-point[2], 0, point[0]], [point[1], -point[0], 0]]
            parts.append((held @ there, ends))
            for direction, motion in enumerate(_motions(joint.kind, numbers[:, :-1])):
                scale = robot.platform_size if motion[:3].any() else 1.0
                rates[joint.name, direction] = scale * motion @ there, ends
        turned_round = leg.reversed_joints() if isinstance(leg, Chain) else frozenset()
        for name, motion in leg.internal_motions() if isinstance(leg, Chain) else ():
            held = [rates[name, direction] for direction in range(2) if (name, direction) in rates]
            direction = int(motion in ("rotation", "second")) if len(held) > 1 else 0
            turned = motion in ("first", "second") and name in turned_round
            coupled.append([held[1 - direction if turned else direction]])
        for coupling in leg.place(Frame.symbols("tip")).couplings if isinstance(leg, Chain) and leg.couplings else ():
            terms = [(float(term.factor), *rates[term.joint, term.direction]) for term in coupling.joints]
            coupled.append([(factor * row, ends) for factor, row, ends in terms])
    bodies = list(dict.fromkeys(["base", "platform", *(end for _, ends in parts for end in ends)]))
    held_by = []
    for along in coupled:  # the sum of the rates of joints
        row = np.zeros((len(bodies), 6))
        for part, ends in along:
            row[bodies.index(ends[0])] -= part
            row[bodies.index(ends[1])] += part
        held_by.append(row[1:].reshape(1, -1) / np.abs(row).max())
    for part, ends in parts:
        rows = np.zeros((len(part), len(bodies), 6))
        rows[:, bodies.index(ends[0])] -= part
        rows[:, bodies.index(ends[1])] += part
        held_by.append(rows[:, 1:].reshape(len(part), -1))  # the base stands still
    free = scipy.linalg.orth(scipy.linalg.null_space(np.concatenate(held_by), rcond=_SMALL)[:6], rcond=_SMALL)
    return np.asarray(free * np.r_[np.full(3, robot.platform_size), np.ones(3)][:, None])


def _at_home(leg: Any, robot: Robot) -> list[tuple[Joint, Array]]:
    """The leg's joints with their axes and point as columns (3, k + 1), in base axes."""
    axes = np.array(robot.home.rotation, dtype=float)
    arm = axes @ np.array(leg.attachment(robot.home.position, robot.home.rotation), dtype=float)
    tip = Frame(ca.SX(ca.DM(np.array(robot.home.position) + arm)), ca.SX(ca.DM(axes)))
    placement = leg.place(tip)
    found = ca.horzcat(*[ca.horzcat(*joint.axes, joint.point) for joint in placement.joints])
    found = ca.substitute(found, placement.internal, ca.SX.zeros(placement.internal.numel()))
    u = placement.unknowns
    if u is not None:
        found = ca.substitute(found, ca.vertcat(u.place, u.move), ca.vertcat(u.home, ca.SX.zeros(u.move.numel())))
    numbers = np.array(ca.evalf(ca.densify(found)))
    ends = np.cumsum([len(joint.axes) + 1 for joint in placement.joints])
    return list(zip(placement.joints, np.split(numbers, ends[:-1], axis=1), strict=True))


def _motions(kind: str, axes: Array) -> Array:
    """Relative twists (k, 6) at its point that a joint leaves its bodies."""
    still = np.zeros_like(axes)
    slides, turns = np.concatenate([axes, still]).T, np.concatenate([still, axes]).T
    if kind == "spherical":
        return np.eye(6)[3:]
    if kind == "cylindrical":
        return np.concatenate([slides, turns])
    return slides if kind == "prismatic" else turns


# ----------------------------------------------------------------------------------------------------------------------
# Axes of a robot's joints that are nearly parallel to others: a likely slip where a robot cannot move as stated.

_SAME = 1e-6
"""Sine of the angle between axes that count as parallel."""
_NEARLY_PARALLEL = np.sin(np.radians(5.0))
"""The same for axes that were hardly meant to differ."""


class NearlyParallelAxis(NamedTuple):
    """A joint's axis, the joint that has it, and how far [rad] it is from the axis of ``other``, which more have."""

    path: str
    joint: str
    other: str
    angle: float


def nearly_parallel_axes(robot: Robot) -> list[NearlyParallelAxis]:
    """Axes that are within five degrees of parallel to one that more joints have, the nearest first."""
    groups: list[list[tuple[str, str, Array]]] = []
    for path, joint, axis in _axes(robot):
        group = next((g for g in groups if _sine(g[0][2], axis) < _SAME), None)
        if group is None:
            groups.append([(path, joint, axis)])
        else:
            group.append((path, joint, axis))
    found = []
    for group in groups:
        near = [g for g in groups if len(g) > len(group) and _sine(g[0][2], group[0][2]) < _NEARLY_PARALLEL]
        for path, joint, axis in group if near else ():
            most = max(near, key=len)
            found.append(NearlyParallelAxis(path, joint, most[0][1], float(np.arcsin(_sine(most[0][2], axis)))))
    return sorted(found, key=lambda one: one.angle)


def _axes(robot: Robot) -> Iterator[tuple[str, str, Array]]:
    for number, leg in enumerate(robot.legs):
        for k, joint in enumerate(leg.joints) if isinstance(leg, Chain) else ():
            path, name = f"legs.{number}.joints.{k}", leg.label(joint.name)
            if joint.axis is not None:
                yield f"{path}.axis", name, np.array(joint.axis)
            for axis, direction in enumerate(joint.axes or ()):
                yield f"{path}.axes.{axis}", name, np.array(direction)


def _sine(one: Array, other: Array) -> float:
    return float(np.linalg.norm(np.cross(one, other)))
