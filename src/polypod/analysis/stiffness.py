"""Stiffness of a robot's platform from the compliances in its file: matrix, deflection by component, resonances.

Displacements u are small, m of them: for six degrees of freedom the platform's [translation; rotation vector] at the
origin of {P}, base axes, as twists are; for fewer its components along the degrees of freedom, as u of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import AS_RIGID, InputError, StateError
from ..formulations.elasticity import mass_on_base, springs_of
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import PoseLike
from ..tables import Table, table
from .linear import NaturalModes, load_stiffness, modes_of, one_or_each, state_rows

_TURNS = ("rotation x", "rotation y", "rotation z")
_NOTHING = 1e-12  # of the roots of two stiffnesses' product
_ROUNDING = 1e-13
"""Part of the platform's size, or of 1, below which the motion for a unit rate is rounding."""


class Stiffness(NamedTuple):
    """Stiffness of the platform: K = elastic + preload.

    Attributes
    ----------
    matrix : ndarray, shape (..., m, m)
        K [N/m, N, N m/rad].
    elastic : ndarray, shape (..., m, m)
        J^T diag(1/c) J, plus springs and other elements.
    preload : ndarray, shape (..., m, m)
        What the forces that hold the pose add as the legs rotate and the weights shift.
    compliance : ndarray, shape (..., m, m)
        Inverse of K, plus the compliance of the base: displacements along u by forces along u.
    springs : tuple of str
        Names of the s springs, ``leg.part``.
    spring_compliance : ndarray, shape (..., s)
        Compliance of each spring at the coordinate of its actuator [m/N or rad/(N m)].
    actuator : ndarray of int, shape (s,)
        Index of that actuator; -1 for those that are not in series with one.
    motions : ndarray, shape (..., 6, m)
        Twists of the platform for a unit of each component of u.
    """

    matrix: Array
    elastic: Array
    preload: Array
    compliance: Array
    springs: tuple[str, ...]
    spring_compliance: Array
    actuator: NDArray[np.int64]
    motions: Array

    def table(self, names: Sequence[str]) -> Table:
        """The matrix of one pose; entries that are rounding beside the diagonal are shown as zero.

        Parameters
        ----------
        names : sequence of str
            Names of the robot's coordinates (``model.dof``).

        Returns
        -------
        Table
            The matrix [N/m, N, N m/rad].
        """
        own = np.sqrt(np.abs(np.diag(self.matrix)))
        shown = np.where(np.abs(self.matrix) <= _NOTHING * np.outer(own, own), 0.0, self.matrix)
        rows = [(name, *map(float, row)) for name, row in zip(names, shown, strict=True)]
        columns = [("by", ""), *((name, "") for name in names)]
        caption = "Entry (i, j): load along i per unit displacement along j."
        return table("Stiffness [N/m, N, N m/rad]", columns, rows, caption)


class Deflection(NamedTuple):
    """Displacement of the platform under a wrench, and the contribution of each part.

    Attributes
    ----------
    displacement : ndarray, shape (..., 6)
        Displacement [translation; rotation vector], base axes [m, rad].
    parts : ndarray, shape (..., p, 6)
        Contribution of each part [m, rad].
    names : tuple of str
        Names of the p parts.
    share : ndarray, shape (..., p)
        Contributions along the direction of the displacement, rotations weighted by the platform's size: they add up to
        1, or are zero where nothing moves.
    """

    displacement: Array
    parts: Array
    names: tuple[str, ...]
    share: Array

    @property
    def table(self) -> Table:
        """The displacement of one pose by component, largest share first."""
        order = np.argsort(-np.abs(self.share))
        # zeros without a sign
        whole, parts, share = (np.asarray(part) + 0.0 for part in (self.displacement, self.parts, self.share))
        rows = [("whole", *map(float, whole * 1e6), float(100 * share.sum()))]
        rows += [(self.names[k], *map(float, parts[k] * 1e6), float(100 * share[k])) for k in order]
        columns = [("component", ""), ("x", "um"), ("y", "um"), ("z", "um"), *((name, "urad") for name in _TURNS)]
        return table("Deflection", [*columns, ("share", "%")], rows)


def stiffness(
    model: Model,
    pose: PoseLike | None = None,
    wrench: ArrayLike | None = None,
    *,
    drive: ArrayLike | None = None,
    preload: bool = True,
) -> Stiffness:
    """Stiffness of the platform at poses under a constant external wrench: K = J^T diag(1/c) J + K_g.

    K_g = J^T (df/dx), with f the forces that hold the pose under gravity and wrench (equivalent to Chen and Kao 2000),
    along the motions that the legs allow.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
    drive : array_like, optional
        Stiffness of the drives [N/m or N m/rad], one number or (n,), in series with the compliances of the robot file.
    preload : bool, optional
        Whether to include the stiffness of the preload, from gravity and wrench.

    Returns
    -------
    Stiffness
        Stiffness, its parts and its inverse.

    Raises
    ------
    InputError
        If the platform is flexible.
    StateError
        If a pose is singular or out of reach.
    """
    model.robot.refuse_internal("stiffness")
    if model.robot.flexible:
        raise InputError(f"stiffness: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    rows, shape = _states(model, pose, wrench)
    poses, loads = rows
    kernel = model.kernel("stiffness")
    found, parts, motions, beside, quality = kernel(poses, _drives(model, drive))
    lost = ~(quality > SMALLEST_MARGIN)
    if lost.any():
        first = int(np.flatnonzero(lost)[0])
        raise StateError(
            f"stiffness: no answer at state {first}: the pose is out of reach or a leg is singular",
            np.flatnonzero(lost),
        )
    # forces that hold the pose change by the elements' own stiffness too, which is counted already
    held = _preload(model, poses, loads) - beside if preload else np.zeros_like(found)
    matrix = found + held
    compliance = np.linalg.inv(matrix) + _base(model, poses)
    names = springs_of(model.kernels.mechanism)
    m = found.shape[-1]
    square = (*shape, m, m)
    return Stiffness(
        matrix.reshape(square),
        found.reshape(square),
        held.reshape(square),
        compliance.reshape(square),
        tuple(name for name, _ in names),
        parts.reshape(*shape, len(names)),
        np.array([-1 if actuator is None else actuator for _, actuator in names], dtype=np.int64),
        motions.reshape(*shape, 6, m),
    )


def deflection(
    model: Model,
    wrench: ArrayLike,
    pose: PoseLike | None = None,
    *,
    drive: ArrayLike | None = None,
    preload: bool = True,
) -> Deflection:
    """Displacement of the platform under an additional wrench, and which part causes it: T u with K u = T^T w.

    T (6, m) are the motions that the legs allow. The springs of an actuator carry its force f = (J u)/c, so a spring of
    compliance c_s contributes T J^-1 (c_s f); the base's contribution is added.

    Parameters
    ----------
    model : Model
        Model of the robot.
    wrench : array_like, shape (..., 6)
        Additional wrench [f; m] at the origin of {P}, base axes [N, N m].
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.
    drive : array_like, optional
        Stiffness of the drives [N/m or N m/rad], one number or (n,), in series with the compliances of the robot file.
    preload : bool, optional
        Whether to include the stiffness of the preload, from gravity and wrench.

    Returns
    -------
    Deflection
        Displacement, contributions and shares.

    Raises
    ------
    InputError
        If the robot has more actuators than degrees of freedom: the contributions are not unique.
    """
    model.robot.refuse_internal("deflection")
    if len(model.actuators) != model.mobility.count:
        raise InputError(
            f"deflection: {model.robot.name!r} has more actuators than degrees of freedom, so the contributions "
            "are not unique"
        )
    (poses, loads), shape = _states(model, pose, wrench)
    answer = stiffness(model, poses, drive=drive, preload=preload)
    derivatives = np.asarray(model.jacobian(poses))
    # a motion that follows by rounding alone takes no force, and a force across all motions moves nothing
    size = np.where(np.arange(6) < 3, model.size, 1.0)[:, None]
    allowed = np.where(np.abs(answer.motions) > _ROUNDING * size, answer.motions, 0.0)
    moved = np.linalg.solve(answer.matrix, np.swapaxes(allowed, 1, 2) @ loads[..., None])[..., 0]
    elongation = np.einsum("kij,kj->ki", derivatives, moved)
    extra = _drives(model, drive)[0]
    names, lengths = _parts(model, answer, extra)
    belongs = np.array([[k == i for i in range(derivatives.shape[1])] for _, k in names], dtype=np.float64)
    total = lengths @ belongs
    by_actuators = allowed @ np.linalg.inv(derivatives)
    amounts = [lengths[:, p] * elongation[:, k] / total[:, k] for p, (_, k) in enumerate(names)]
    parts = [amount[:, None] * by_actuators[:, :, k] for amount, (_, k) in zip(amounts, names, strict=True)]
    labels = [name for name, _ in names]
    if model.robot.base_stiffness is not None:
        parts.append(np.einsum("kij,kj->ki", _base_whole(model, poses), loads))
        labels.append("base")
    listed = np.stack(parts, axis=1)
    whole = listed.sum(axis=1)
    weight = np.r_[np.ones(3), np.full(3, model.size)] ** 2
    along = (listed * (weight * whole)[:, None]).sum(axis=2)
    total_along = along.sum(axis=1, keepdims=True)
    share = along / np.where(total_along > 0, total_along, 1.0)
    p = len(labels)
    return Deflection(whole.reshape(*shape, 6), listed.reshape(*shape, p, 6), tuple(labels), share.reshape(*shape, p))


def rotor_inertias(model: Model) -> Array:
    """Inertia of the rotors at the coordinates of all actuators, as the robot file gives them.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    ndarray, shape (n,)
        Inertias [kg or kg m^2], J n^2 of a motor behind a ratio n.
    """
    mechanism = model.kernels.mechanism
    rotors = [actuator.rotor for leg in mechanism.placed for actuator in leg.placement.actuators]
    return np.array([float(mechanism.numbers.evaluate(rotor).item()) for rotor in rotors])


def held_motors(model: Model) -> NDArray[np.bool_]:
    """Which actuators have a motor that stands still behind the spring of the drive (``drive_spring: held motor``).

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the rotor does not move.
    """
    return np.array([actuator.drive.drive_spring == "held motor" for actuator in model.actuators], dtype=bool)


def rotors_text(model: Model, pose: PoseLike | None = None, **given: Any) -> str:
    """On which side of the drives' springs the rotors are, and the lowest frequency if it were the other; or nothing.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.
    **given
        Further arguments of ``resonances``.

    Returns
    -------
    str
        Sentences; empty if the robot file gives no rotors.
    """
    rotors = rotor_inertias(model)
    if not rotors.any():
        return ""
    held, stated = held_motors(model), [a.drive.drive_spring is not None for a in model.actuators]
    largest = float(rotors.max())
    unit = "kg" if model.actuators[int(rotors.argmax())].unit == "m" else "kg m^2"
    size = f"motors ({largest:.4g} {unit} at the actuator)"
    other = resonances(model, pose, held=~held, **given).frequency[0]
    if held.all():
        text = f"Held {size} stand still: the stiffness is that of screw and gear."
        return f"{text} With 'drive_spring: servo loop' they move with the actuators: lowest frequency {other:.4g} Hz."
    if not held.any():
        text = f"The {size} move with the actuators: the stiffness is that of the servo loop."
        said = "" if all(stated) else " State drive_spring in the robot file to choose."
        return f"{text} With 'drive_spring: held motor': lowest frequency {other:.4g} Hz.{said}"
    names = ", ".join(a.name for a, still in zip(model.actuators, held, strict=True) if still)
    return f"Motors of {names} are held; the others move with their actuators."


def resonances(
    model: Model,
    pose: PoseLike | None = None,
    wrench: ArrayLike | None = None,
    *,
    drive: ArrayLike | None = None,
    preload: bool = True,
    held: ArrayLike | None = None,
) -> NaturalModes:
    """Undamped natural frequencies and shapes at poses, from the file's compliances and all inertias.

    Rotors move with the coordinates of their actuators, M = M0 + J^T diag(rotor) J, on the platform's side of the
    drives' springs, which are then those of the servo loops. Rotors of ``held`` motors stand still behind the spring.

    A compliant base carries the whole robot: its displacement [translation; rotation vector] at its origin then follows
    the robot's coordinates u in shapes and matrices (m + 6 in all), with the base's springs taken as unloaded. The base
    has no mass of its own: frequencies are infinite where nothing heavy moves with it.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
    drive : array_like, optional
        Stiffness of the drives [N/m or N m/rad], one number or (n,), in series with the compliances of the robot file.
    preload : bool, optional
        Whether to include the stiffness of the preload, from gravity and wrench.
    held : array_like of bool, shape (n,), optional
        Which motors are held. Default: as ``drive_spring`` of the robot file says, else none.

    Returns
    -------
    NaturalModes
        Frequencies, shapes and matrices.
    """
    model.robot.refuse_internal("resonances")
    answer = stiffness(model, pose, wrench, drive=drive, preload=preload)
    where = model.robot.home.matrix if pose is None else pose
    still = held_motors(model) if held is None else np.broadcast_to(np.asarray(held, dtype=bool), len(model.actuators))
    standing: Array | float = 0.0
    if still.any():
        derivatives = np.asarray(model.jacobian(where))
        standing = np.swapaxes(derivatives, -1, -2) @ ((rotor_inertias(model) * still)[:, None] * derivatives)
    if model.robot.base_stiffness is None:
        return modes_of(answer.matrix, np.broadcast_to(model.mass_matrix(where) - standing, answer.matrix.shape))
    (poses, _), shape = _states(model, pose, wrench)
    mechanism, m = model.kernels.mechanism, answer.matrix.shape[-1]
    kernel = model.kernels.custom("mass_on_base", lambda: closed(mechanism, mass_on_base(mechanism)))
    whole = np.zeros((*shape, m + 6, m + 6))
    whole[..., :m, :m], whole[..., m:, m:] = answer.matrix, np.diag(model.robot.base_stiffness)
    mass = kernel(poses)[0].reshape(whole.shape).copy()
    mass[..., :m, :m] -= standing
    return modes_of(whole, mass)


def _states(
    model: Model, pose: PoseLike | None, wrench: ArrayLike | None
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """Poses (k, 4, 4) and wrenches (k, 6), and the batch's shape."""
    rows, shape = state_rows(model.robot, pose, [("wrench", wrench, 6)])
    return (np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1])), shape


def _drives(model: Model, drive: ArrayLike | None) -> Array:
    """Compliances (1, n) of drives beyond those of the file; an error for an actuator that nothing lets deflect."""
    n = len(model.actuators)
    if drive is None:
        stated = {k for _, k in springs_of(model.kernels.mechanism) if k is not None}
        rigid = [a.name for k, a in enumerate(model.actuators) if k not in stated]
        if rigid:
            raise InputError(
                f"no stiffness given for {', '.join(rigid)}: set 'stiffness: 20 N/um' in the leg (or in its actuated "
                "joint) of the robot file, or pass drive="
            )
        return np.zeros((1, n))
    values = one_or_each("drive", drive, n)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"drive: must be greater than 0 N/m, got {values.tolist()}")
    return np.ascontiguousarray(1 / values[None])


def _preload(model: Model, poses: Array, wrench: Array) -> Array:
    """J^T df/dx (k, m, m) at rest: what the forces f that hold the pose change by as it moves."""
    if model.kernels.mechanism.platform.is_constrained:
        # forces that hold neighbouring poses are known along what the legs allow only
        return load_stiffness(model, poses, wrench)
    still = np.zeros((len(poses), 6))
    derivatives = model.derivatives("inverse_dynamics", poses, still, still, wrench, wrt=("pose",), friction=False).pose
    assert derivatives is not None
    jacobian = np.asarray(model.jacobian(poses))
    by_own = derivatives if derivatives.shape[-1] == jacobian.shape[-1] else derivatives @ model.mobility.basis
    return np.asarray(np.swapaxes(jacobian, -1, -2) @ by_own)


def _base_whole(model: Model, poses: Array) -> Array:
    """Displacements (k, 6, 6) of the platform by wrenches on it, from the base that deflects at its origin."""
    arm = poses[:, :3, 3]
    carry = np.tile(np.eye(6), (len(poses), 1, 1))
    # a turn omega of the base moves the platform's origin by omega x p
    carry[:, :3, 3:] = np.cross(np.eye(3)[None], arm[:, None, :]).swapaxes(1, 2)
    return np.asarray(carry / np.array(model.robot.base_stiffness) @ carry.swapaxes(1, 2))


def _base(model: Model, poses: Array) -> Array:
    """The same in the robot's generalized coordinates (k, m, m): what forces along them move along them."""
    if model.robot.base_stiffness is None:
        return np.zeros((len(poses), model.mobility.count, model.mobility.count))
    inverse = model.mobility.inverse
    return np.asarray(inverse @ _base_whole(model, poses) @ inverse.T)


def _parts(model: Model, answer: Stiffness, extra: Array) -> tuple[list[tuple[str, int]], Array]:
    """Springs in series with their actuator, drives that were given among them, and their compliances (k, p)."""
    chosen = np.flatnonzero(answer.actuator >= 0)
    names = [(answer.springs[k], int(answer.actuator[k])) for k in chosen]
    lengths = [answer.spring_compliance[:, k] for k in chosen]
    for k in np.flatnonzero(extra > 0).tolist():
        names.append((f"{model.actuators[k].name} (drive as given)", k))
        lengths.append(np.full(len(answer.matrix), extra[k]))
    return names, np.stack(lengths, axis=1)
