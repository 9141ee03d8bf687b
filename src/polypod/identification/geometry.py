"""The numbers of a robot's geometry, and how its pose depends on them.

With readings q + offset = ik(pose, p) of the actuators, J dxi + dq/dp dp = d(offset): a pose moves with the numbers by
dxi = J^-1 (d(offset) - dq/dp dp), exactly; poses themselves are found by Newton's method with the same matrices. Of a
robot with fewer than six degrees of freedom the constraints of its legs, c(pose, p) = 0, stand below q: the platform
then tilts and shifts as its geometry has it, also where a perfect one would only move along its degrees of freedom.
With more actuators than degrees of freedom there are more than six equations: the pose is that of their least squares,
J^-1 the pseudo-inverse.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description.drive import Drive
from ..description.paths import get, spoken
from ..description.quantities import unit_of
from ..errors import AS_RIGID, InputError
from ..kernels import Kernel
from ..lazy import lazy
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..parameters.paths import known_paths
from ..platforms.degrees_of_freedom import DegreesOfFreedom
from ..platforms.rigid import RigidPlatform
from ..symbols.expression import Expression, Iteration, port
from .linear_model import LinearNumber, moments_between_moved_joints
from .new_robot import body_fields
from .sampling import random_poses

_NEWTON = 30
FRAMES = tuple(f"{frame} frame {axis}" for frame in ("base", "tool") for axis in ("x", "y", "z", "rx", "ry", "rz"))
"""Numbers of the frames of the measuring device and of its target."""


class Geometry:
    """Points, lengths and directions of a robot, offsets of its readings, frames of base and tool, as numbers p.

    ``patterns`` choose among the paths of the file; default: all points, lengths and directions of the legs that the
    coordinates depend on. A direction counts as two small turns. With ``offsets`` every actuator has one, unless its
    joint states one in the file, which then counts itself. ``frames`` adds twelve numbers for where the measuring
    device's frame is and where on the platform it measures. ``jamming`` names numbers that are left out: legs of an
    overconstrained robot could not close if they changed alone.
    """

    def __init__(
        self, model: Model, patterns: tuple[str, ...] = (), *, offsets: bool = True, frames: bool = False
    ) -> None:
        self.model, self.robot = model, model.robot
        self.readings = len(model.actuators)
        if model.robot.flexible:
            raise InputError(
                f"calibrate: {self.robot.name!r} has a flexible platform: its pose depends on its deflection, "
                f"which actuator readings do not show; {AS_RIGID}"
            )
        self.equations = self.readings + 6 - model.mobility.count
        self.paths = self._paths(patterns)
        wanted = set(self.paths)
        # joints that are drawn in line need not be so: a machine is never exactly as drawn
        legs: Any = self.robot.legs
        general = self.robot.model_copy(update={"legs": tuple(leg.in_general_position() for leg in legs)})
        self.mechanism = Mechanism(general, None, lambda entry: entry.path in wanted)
        if not model.mobility.full:
            # a pose is what legs make of it: none of its six components is fixed beforehand
            self.mechanism.platform = RigidPlatform(self.mechanism.numbers)
        entries = self.mechanism.numbers.entries
        self._places = {path: [k for k, e in enumerate(entries) if e.path == path] for path in self.paths}
        self.numbers: list[LinearNumber] = []
        self._blocks: list[tuple[str, slice, Array]] = []
        for path in self.paths:
            self._add(path)
        self.jamming: tuple[str, ...] = ()
        if self.mechanism.mobility is not None and self.mechanism.mobility.redundant and self.numbers:
            self._leave_out_jamming()
        self.own = len(self.numbers)
        self.offsets: list[int] = []
        if offsets:
            self._add_offsets()
        self.frames = frames
        if frames:
            self.numbers += [LinearNumber("frames", "", name, "m" if k % 6 < 3 else "rad", 0.0)
                             for k, name in enumerate(FRAMES)]  # fmt: skip

    @property
    def count(self) -> int:
        """How many numbers are sought."""
        return len(self.numbers)

    def _paths(self, patterns: tuple[str, ...]) -> list[str]:
        known = [
            p for p in known_paths(self.robot) if p.startswith("legs.") and _kind(self.robot, p) in ("m", "1", "q")
        ]
        if not patterns:
            return known
        for pattern in patterns:
            if not any(fnmatchcase(path, pattern) for path in known):
                raise InputError(f"parameters: {pattern} matches no point, length or direction; known: "
f"{', '.join(known[:8])}, ...")  # fmt: skip
        return [path for path in known if any(fnmatchcase(path, pattern) for pattern in patterns)]

    def _add(self, path: str) -> None:
        value = np.array(get(self.robot, path), dtype=float)
        name = spoken(self.robot, path)
        start = len(self.numbers)
        if _kind(self.robot, path) == "1":
            basis = np.linalg.svd(value.reshape(1, 3))[2][1:].T
            self.numbers += [LinearNumber(path, "", f"{name} turn {k}", "rad", 0.0) for k in (1, 2)]
        elif value.ndim == 0:
            basis = np.ones((1, 1))
            unit = "m" if _kind(self.robot, path) == "m" else self._unit_of(path)
            self.numbers.append(LinearNumber(path, "", name, unit, float(value)))
        else:
            basis = np.eye(3)
            self.numbers += [
                LinearNumber(path, "", f"{name} {a}", "m", float(v)) for a, v in zip("xyz", value, strict=True)
            ]
        self._blocks.append((path, slice(start, len(self.numbers)), basis))

    def _unit_of(self, path: str) -> str:
        """Unit of the actuator whose joint states an offset."""
        joint = get(self.robot, path.rpartition(".")[0])
        return "rad" if joint.kind == "revolute" else "m"

    def _add_offsets(self) -> None:
        number = 0
        for k, leg in enumerate(self.robot.legs):
            for name in leg.actuator_names():
                stated = any(
                    path.startswith(f"legs.{k}.joints.")
                    and path.endswith(".offset")
                    and get(self.robot, path.rpartition(".")[0]).name == name
                    for path in self.paths
                )
                actuator = self.model.actuators[number]
                if not stated:
                    self.offsets.append(number)
                    self.numbers.append(LinearNumber("offsets", name, f"{actuator.name} offset", actuator.unit, 0.0))
                number += 1

    # -- values ------------------------------------------------------------------------------------------------------

    def values_at(self, p: Array) -> dict[str, Array]:
        """Values of the file's numbers by path, for steps p (count,) from those of the file."""
        found = {}
        for path, where, basis in self._blocks:
            value = np.array(get(self.robot, path), dtype=float)
            moved = value + (basis @ p[where]).reshape(value.shape)
            found[path] = moved / np.linalg.norm(moved) if _kind(self.robot, path) == "1" else moved
        return found

    def port_values(self, p: Array) -> Array:
        """The parameter port for steps p."""
        port_ = self.mechanism.numbers.values.copy()
        for path, value in self.values_at(p).items():
            for place in self._places[path]:
                index: Any = self.mechanism.numbers.entries[place].index
                port_[place] = value[index] if index else value
        return port_

    def following(self, values: dict[str, Array]) -> dict[str, Array]:
        """What follows from new values of the file's numbers: bodies that spin between joints stay on their line."""
        found: dict[str, Array] = {}
        for path, moments in moments_between_moved_joints(self.mechanism, values).items():
            fields = body_fields(get(self.robot, path), moments)
            found |= {f"{path}.{name}": fields[name] for name in ("com", "inertia")}
        return found

    def reading_offsets(self, p: Array) -> Array:
        """What readings are short of the coordinates (a,)."""
        result = np.zeros(self.readings)
        result[self.offsets] = p[self.own : self.own + len(self.offsets)]
        return result

    # -- functions -----------------------------------------------------------------------------------------------------

    @lazy
    def _kernel(self) -> Kernel:
        places = [k for path in self.paths for k in self._places[path]]
        return Kernel(lambda: closure(self.mechanism, places))

    def at(self, pose: Array, p: Array) -> tuple[Array, Array, Array]:
        """Coordinates and constraints (n, e), their derivatives by the numbers (n, e, own) and by the pose (n, e, 6).

        e is 6, or more by the actuators that are more than degrees of freedom.
        """
        values, derivatives, rows, _ = self._kernel.at(self.port_values(p))(np.ascontiguousarray(pose))
        by_numbers = self._by_numbers(derivatives, p)
        e = self.equations
        return values[:, :e], by_numbers[:, :e], rows[:, :e]

    def _by_numbers(self, derivatives: Array, p: Array) -> Array:
        """Derivatives (n, k, own) by the numbers from those by entries of the parameter port."""
        columns, start = [], 0
        for path, where, basis in self._blocks:
            size = len(self._places[path])
            turn = basis
            if _kind(self.robot, path) == "1":
                value = np.array(get(self.robot, path)) + basis @ p[where]
                length = np.linalg.norm(value)
                turn = (np.eye(3) - np.outer(value, value) / length**2) @ basis / length
            columns.append(derivatives[:, :, start : start + size] @ turn)
            start += size
        return np.concatenate(columns, axis=2) if columns else np.zeros((*derivatives.shape[:2], 0))

    def _leave_out_jamming(self) -> None:
        """Leave out numbers that alone would break a constraint that other legs repeat: the robot would jam.

        A repeated constraint changes by dc/dp + W dxi/dp while the pose follows the others.
        """
        poses = random_poses(self.model, 8, 0)
        zero = np.zeros(self.count)
        _, derivatives, rows, _ = self._kernel.at(self.port_values(zero))(poses)
        own = self._by_numbers(derivatives, zero)
        e = self.equations
        off = own[:, e:] - rows[:, e:] @ _solved(rows[:, :e], own[:, :e])
        jams = np.abs(off).max(axis=(0, 1)) > 1e-7
        kept: list[LinearNumber] = []
        blocks = []
        for path, where, basis in self._blocks:
            stay = np.flatnonzero(~jams[where]) + where.start
            if len(stay):
                blocks.append((path, slice(len(kept), len(kept) + len(stay)), basis[:, stay - where.start]))
                kept += [self.numbers[k] for k in stay]
            else:
                del self._places[path]
        self.jamming = tuple(n.name for n, j in zip(self.numbers, jams, strict=True) if j)
        self.numbers, self._blocks = kept, blocks
        self.paths = [path for path, _, _ in blocks]
        self.__dict__.pop("_kernel", None)

    def poses(self, readings: Array, p: Array, guess: Array) -> Array:
        """Poses (n, 4, 4) with readings (n, a), by Newton's method from ``guess``; NaN where there is none."""
        wanted, pose = np.zeros((len(readings), self.equations)), np.array(guess)
        wanted[:, : self.readings] = readings + self.reading_offsets(p)
        for _ in range(_NEWTON):
            values, _, rows = self.at(pose, p)
            step = _solved(rows, (wanted - values)[..., None])[..., 0]
            pose[:, :3, 3] += step[:, :3]
            pose[:, :3, :3] = Rotation.from_rotvec(np.nan_to_num(step[:, 3:])).as_matrix() @ pose[:, :3, :3]
            if not np.nanmax(np.abs(step), initial=0.0) > 1e-13:
                break
        values, _, rows = self.at(pose, p)
        left = wanted - values
        # of more equations than six only what a pose can mend must be gone
        off = left if self.equations == 6 else _solved(rows, left[..., None])[..., 0]
        pose[~(np.abs(off).max(axis=1) < 1e-9)] = np.nan
        return pose

    def derivatives(self, pose: Array, p: Array) -> Array:
        """d(pose)/dp (n, 6, count without frames): displacement of the origin and turn, base axes, readings fixed."""
        _, by_numbers, rows = self.at(pose, p)
        columns = [-by_numbers]
        if self.offsets:
            columns.append(
                np.broadcast_to(np.eye(rows.shape[1])[:, self.offsets], (*rows.shape[:2], len(self.offsets)))
            )
        return _solved(rows, np.concatenate(columns, axis=2))


def _solved(matrix: Array, right: Array) -> Array:
    """x of matrix x = right for a batch, by least squares if it is tall; NaN where it is singular or not finite."""
    if matrix.shape[1] > matrix.shape[2]:
        matrix, right = (np.swapaxes(matrix, 1, 2) @ x for x in (matrix, right))
    good = np.isfinite(matrix).all(axis=(1, 2)) & (np.abs(np.linalg.det(np.nan_to_num(matrix))) > 0)
    result = np.full(right.shape, np.nan)
    result[good] = np.linalg.solve(matrix[good], right[good])
    return result


def _kind(robot: Any, path: str) -> str:
    """``m`` for a point or length, ``1`` for a direction, ``q`` for an actuator's offset, else empty."""
    owner, _, field = path.rpartition(".")
    parent = get(robot, owner)
    fields = getattr(type(parent), "model_fields", {})
    if field not in fields or field in ("com", "range", "travel", "stroke", "guide_normal"):
        return ""
    if field == "lead" and isinstance(parent, Drive):
        return ""  # of the screw between motor and leg: readings are those of the leg
    value = getattr(parent, field)
    if field == "offset" and getattr(parent, "actuated", False):
        return "q"
    unit = unit_of(fields[field])
    if isinstance(value, tuple) and (len(value) != 3 or not all(isinstance(v, float) for v in value)):
        return ""
    if ".cone" in path or "_cone" in path or "friction" in path:
        return ""
    return {"m": "m", "1": "1"}.get(unit, "") if unit != "1" or isinstance(value, tuple) else ""


# ----------------------------------------------------------------------------------------------------------------------
# Six equations between a robot's pose, its readings and its geometry, with exact derivatives by all of them.


def closure(mechanism: Mechanism, places: list[int]) -> Expression | Iteration:
    """Coordinates q and constraints c of a pose: ``values`` (6 + l), ``by_numbers`` (6 + l, k), ``rows`` (6 + l, 6).

    q first, then the independent constraints of legs of fewer than six degrees of freedom; the last l constraints
    follow from those before. ``places`` (k) are the entries of the parameter port to differentiate by; legs closed by
    iterating move along with them, since what a function returns is computed after a step of Newton. A pose may be any.
    """
    x, mobility = mechanism.inputs(), mechanism.mobility
    _, legs = mechanism.resting(x)
    values = [mechanism.coordinates(legs)]
    rows = [ca.horzcat(*[row for leg in legs for row in leg.rows]).T]
    if mobility is not None:
        for leg, k in (*mobility.used, *mobility.redundant):
            values.append(legs[leg].constraint_values[k])
            rows.append(legs[leg].constraint_rows[k].T)
    elif mechanism.robot.dof:
        # legs state no constraints: the platform keeps to its degrees of freedom whatever the numbers are
        basis = DegreesOfFreedom(mechanism.robot).basis
        still = np.linalg.svd(basis)[0][:, basis.shape[1] :].T
        values.append(ca.SX.zeros(len(still)))
        rows.append(ca.SX(ca.DM(still)))
    value, row = ca.vertcat(*values), ca.densify(ca.vertcat(*rows))
    derivatives = ca.densify(ca.jacobian(value, mechanism.numbers.symbols[places]))
    outputs = (
        port("values", value),
        port("by_numbers", derivatives, derivatives.shape),
        port("rows", row, row.shape),
        port("quality", mechanism.quality(legs), ()),
    )
    return closed(mechanism, Expression("geometry", x.place, outputs, mechanism.port))
