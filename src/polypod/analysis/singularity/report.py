"""What a robot does in or near a singularity: which kind it is, and the screw that the platform is free to move by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...kernels import Expression, Iteration, Port, port
from ...mechanism import Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ...model.checks import exact_poses
from ..fingerprint import fingerprint
from ..workspace.quantities import scaled_jacobian

SingularityKind = Literal["actuation", "constraint", "leg"]
_SOURCES = "analysis/singularity/report.py", "analysis/workspace/quantities.py"


class Screw(NamedTuple):
    """An instantaneous motion: ``axis`` (3) through ``point`` (3) [m], base axes, with ``pitch`` [m/rad].

    ``twist`` (6) is that of the platform's origin for one radian about the axis; of a pure translation the pitch is
    infinite, ``axis`` its direction, and the twist that for one metre.
    """

    twist: Array
    axis: Array
    point: Array
    pitch: float


@dataclass(frozen=True)
class SingularityReport:
    """How near a pose is to each kind of singularity: 1 is good, 0 singular.

    ``actuation``: smallest singular value of the scaled Jacobian; there the platform moves by ``screw`` with all
    actuators locked. ``constraint``: that of what the legs constrain (1 where they constrain nothing); there the
    platform gains the degree of freedom ``screw``. ``leg``: smallest margin of a leg's own conditions, ``condition``
    says which; there the leg cannot follow the platform. ``kind`` is the nearest of the three.
    """

    kind: SingularityKind
    actuation: float
    constraint: float
    leg: float
    condition: str
    screw: Screw

    def __str__(self) -> str:
        nearest = {"actuation": self.actuation, "constraint": self.constraint, "leg": self.leg}[self.kind]
        return f"nearest singularity: {self.kind} ({nearest:.4g}); {self.motion}"

    @property
    def motion(self) -> str:
        """What the platform does there, in words."""
        if self.kind == "leg":
            return f"a leg does not follow the platform: {self.condition}"
        locked = "with all actuators locked the platform" if self.kind == "actuation" else "the platform"
        axis, point = (", ".join(f"{v:.3f}" for v in np.round(a, 3) + 0.0) for a in (self.screw.axis, self.screw.point))
        if np.isinf(self.screw.pitch):
            return f"{locked} moves along ({axis})"
        pitch = round(1e3 * self.screw.pitch, 2)  # less is what the pose is off
        along = f", and moves {pitch:.4g} mm a radian along that axis" if pitch else ""
        return f"{locked} turns about ({axis}) through ({point}) m{along}"


def singularity(model: Model, pose: Array | None = None) -> SingularityReport:
    """How a pose (4, 4), home unless given, is near to being singular, and what the platform does there."""
    model = model.rigid
    given = one_pose(model, pose)
    matrix, conditions = _matrices(model, given)
    n = len(model.actuators)
    actuated, constrained = matrix[:n], matrix[n:]
    scale = model.size
    constraint, free = 1.0, np.eye(matrix.shape[1])
    lost = None
    if len(constrained):
        rows = constrained / np.linalg.norm(constrained, axis=1, keepdims=True)
        _, values, vectors = np.linalg.svd(rows)
        constraint, free = float(values[-1]), vectors[len(rows) :].T
        lost = vectors[len(rows) - 1]
    values, vectors = np.linalg.svd(actuated @ free)[1:]
    actuation = float(values[-1])
    names = [f"{leg}: {name}" for leg, name in _condition_names(model)]
    worst = int(np.argmin(np.nan_to_num(conditions, nan=-1.0))) if names else -1
    leg = float(np.nan_to_num(conditions, nan=-1.0)[worst]) if names else 1.0
    found: dict[SingularityKind, float] = {"actuation": actuation, "constraint": constraint, "leg": leg}
    kind = min(found, key=lambda key: found[key])
    own = lost if kind == "constraint" and lost is not None else free @ vectors[-1]
    twist = _twist(model, own, scale)
    return SingularityReport(kind, actuation, constraint, leg, names[worst] if names else "", screw_of(twist, given))


def one_pose(model: Model, pose: Array | None) -> Array:
    """A pose (4, 4), home unless given; an error for what is none."""
    if pose is None:
        return model.robot.home.matrix
    given = np.asarray(pose, dtype=np.float64)
    if given.shape != (4, 4):
        raise InputError(f"pose: one pose (4, 4) is needed, got {given.shape}")
    exact_poses(np.ascontiguousarray(given[None]), "pose", False)  # for its error: the pose stays as it was given
    return given


def screw_of(twist: Array, pose: Array) -> Screw:
    """The screw of a twist (6) of the platform's origin at a pose: h = w.v/w.w, through p + w x v/w.w."""
    v, w = twist[:3], twist[3:]
    turn = float(np.linalg.norm(w))
    origin = pose[:3, 3]
    reach = max(float(np.linalg.norm(origin)), 1e-3)
    if turn * reach < 1e-9 * float(np.linalg.norm(v)):
        along = v / np.linalg.norm(v)
        return Screw(np.r_[along, np.zeros(3)], along, origin.copy(), np.inf)
    sign = np.sign(w[np.abs(w).argmax()])  # of the two directions the one that counts upward
    v, w = sign * v / turn, sign * w / turn
    pitch = float(w @ v)
    return Screw(np.r_[v, w], w, origin + np.cross(w, v), pitch if abs(pitch) > 1e-12 * reach else 0.0)


def _twist(model: Model, own: Array, scale: float) -> Array:
    """Twist (6) of the platform from numbers of the scaled matrix's columns."""
    if model.kernels.mechanism.platform.is_constrained or not model.robot.dof:
        return own * np.r_[np.ones(3), np.full(3, 1 / scale)]
    basis = model.mobility.basis
    return np.asarray(basis @ (own * np.where(np.abs(basis[3:]).sum(axis=0) > 0, 1 / scale, 1.0)))


def _condition_names(model: Model) -> list[tuple[str, str]]:
    placed = model.kernels.mechanism.placed
    return [(leg.leg.name, c.name) for leg in placed for c in leg.placement.conditions if c.in_quality]


def _matrices(model: Model, pose: Array) -> tuple[Array, Array]:
    """Scaled rows of actuators and constraints, and the margins of the legs' conditions."""
    kernels = model.kernels
    cache_key = kernels.cache_key(f"singularity {fingerprint(*_SOURCES)}")
    kernel = kernels.shared(partial(_expression, kernels.mechanism), cache_key)
    bound = kernel.at(kernels.mechanism.numbers.values) if kernel.parameters else kernel
    matrix, margins = bound(np.ascontiguousarray(pose[None]))
    return matrix[0], margins[0, 1:]


def _expression(mechanism: Mechanism) -> Expression | Iteration:
    x = mechanism.inputs()
    legs = mechanism.resting(x)[1]
    matrix = scaled_jacobian(mechanism, legs)
    stated = [leg.at_tip(c.margin) for leg in legs for c in leg.model.placement.conditions if c.in_quality]
    outputs = port("matrix", matrix, matrix.shape), port("margins", ca.vertcat(1, *stated))
    pose = Port("pose", x.pose.symbols, (4, 4))
    return closed(mechanism, Expression("singularity", (pose,), outputs, mechanism.port))
