"""The numbers of a robot's geometry, and how its pose depends on them.

With readings q + offset = ik(pose, p) of the actuators, J dxi + dq/dp dp = d(offset): a pose moves with the numbers by
dxi = J^-1 (d(offset) - dq/dp dp), exactly; poses themselves are found by Newton's method with the same matrices.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..description.quantities import unit_of
from ..errors import InputError
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..parameters.paths import known_paths, value_at
from ..symbols.expression import Expression, port
from .numbers import LinearNumber

Array = NDArray[np.float64]
_NEWTON = 30
FRAMES = tuple(f"{frame} frame {axis}" for frame in ("base", "tool") for axis in ("x", "y", "z", "rx", "ry", "rz"))
"""Numbers of the frames of the measuring device and of its target."""


class Geometry:
    """Points, lengths and directions of a robot, offsets of its readings, frames of base and tool, as numbers p.

    ``patterns`` choose among the paths of the file; default: all points, lengths and directions of the legs that the
    coordinates depend on. A direction counts as two small turns. With ``offsets`` every actuator has one, unless its
    joint states one in the file, which then counts itself. ``frames`` adds twelve numbers for where the measuring
    device's frame is and where on the platform it measures.
    """

    def __init__(
        self, model: Model, patterns: tuple[str, ...] = (), *, offsets: bool = True, frames: bool = False
    ) -> None:
        if not model.mobility.full or model.robot.flexible:
            raise InputError(f"calibrate: a rigid robot of six freedoms is needed, {model.robot.name!r} is none")
        if len(model.actuators) != 6:
            raise InputError(f"calibrate: six actuators are needed, {model.robot.name!r} has {len(model.actuators)}")
        self.model, self.robot = model, model.robot
        self.paths = self._paths(patterns)
        wanted = set(self.paths)
        self.mechanism = Mechanism(self.robot, None, lambda entry: entry.path in wanted)
        entries = self.mechanism.numbers.entries
        self._places = {path: [k for k, e in enumerate(entries) if e.path == path] for path in self.paths}
        self.numbers: list[LinearNumber] = []
        self._blocks: list[tuple[str, slice, Array]] = []
        for path in self.paths:
            self._add(path)
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
        """How many numbers."""
        return len(self.numbers)

    def _paths(self, patterns: tuple[str, ...]) -> list[str]:
        known = [
            p for p in known_paths(self.robot) if p.startswith("legs.") and _kind(self.robot, p) in ("m", "1", "q")
        ]
        if not patterns:
            return known
        for pattern in patterns:
            if not any(fnmatchcase(path, pattern) for path in known):
                raise InputError(f"numbers: {pattern} fits no point, length or direction; there are "
                                 f"{', '.join(known[:8])}, ...")  # fmt: skip
        return [path for path in known if any(fnmatchcase(path, pattern) for pattern in patterns)]

    def _add(self, path: str) -> None:
        value = np.array(value_at(self.robot, path), dtype=float)
        parts = path.split(".")
        leg = self.robot.legs[int(parts[1])].name
        rest = parts[2:]
        if rest[0] == "joints":
            rest = [value_at(self.robot, ".".join(parts[:4])).name, *rest[2:]]
        name = " ".join([leg, *rest]).replace("_", " ")
        start = len(self.numbers)
        if _kind(self.robot, path) == "1":
            basis = np.linalg.svd(value.reshape(1, 3))[2][1:].T
            self.numbers += [LinearNumber(path, "", f"{name} turn {k}", "rad", 0.0) for k in (1, 2)]
        elif value.ndim == 0:
            basis = np.ones((1, 1))
            unit = "m" if _kind(self.robot, path) == "m" else self.model.actuators[int(parts[1])].unit
            self.numbers.append(LinearNumber(path, "", name, unit, float(value)))
        else:
            basis = np.eye(3)
            self.numbers += [
                LinearNumber(path, "", f"{name} {a}", "m", float(v)) for a, v in zip("xyz", value, strict=True)
            ]
        self._blocks.append((path, slice(start, len(self.numbers)), basis))

    def _add_offsets(self) -> None:
        number = 0
        for k, leg in enumerate(self.robot.legs):
            for name in leg.actuator_names():
                stated = any(path.startswith(f"legs.{k}.") and path.endswith(".offset") for path in self.paths)
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
            value = np.array(value_at(self.robot, path), dtype=float)
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

    def reading_offsets(self, p: Array) -> Array:
        """What readings are short of the coordinates (6,)."""
        result = np.zeros(6)
        result[self.offsets] = p[self.own : self.own + len(self.offsets)]
        return result

    # -- functions -----------------------------------------------------------------------------------------------------

    @cached_property
    def _kernel(self) -> Kernel:
        mechanism = self.mechanism
        places = [k for path in self.paths for k in self._places[path]]

        def build() -> Any:
            x = mechanism.inputs()
            state, legs = mechanism.resting(x)
            q = mechanism.coordinates(legs)
            slopes = ca.densify(ca.jacobian(q, mechanism.numbers.symbols[places]))
            jacobian = ca.densify(state.to_base(mechanism.jacobian(legs).T).T)
            outputs = (port("q", q), port("by_numbers", slopes, slopes.shape), port("jacobian", jacobian, (6, 6)),
                       port("quality", mechanism.quality(legs), ()))  # fmt: skip
            return closed(mechanism, Expression("geometry", x.place, outputs, mechanism.port))

        return Kernel(build)

    def at(self, pose: Array, p: Array) -> tuple[Array, Array, Array]:
        """Coordinates (n, 6), their slopes by the numbers (n, 6, own) and the Jacobian (n, 6, 6) at poses."""
        q, slopes, jacobian, _ = self._kernel.at(self.port_values(p))(np.ascontiguousarray(pose))
        columns, start = [], 0
        for path, where, basis in self._blocks:
            size = len(self._places[path])
            turn = basis
            if _kind(self.robot, path) == "1":
                value = np.array(value_at(self.robot, path)) + basis @ p[where]
                length = np.linalg.norm(value)
                turn = (np.eye(3) - np.outer(value, value) / length**2) @ basis / length
            columns.append(slopes[:, :, start : start + size] @ turn)
            start += size
        by_numbers = np.concatenate(columns, axis=2) if columns else np.zeros((len(pose), 6, 0))
        return q, by_numbers, jacobian

    def poses(self, readings: Array, p: Array, guess: Array) -> Array:
        """Poses (n, 4, 4) with readings (n, 6), by Newton's method from ``guess``; NaN where there is none."""
        wanted, pose = readings + self.reading_offsets(p), np.array(guess)
        for _ in range(_NEWTON):
            q, _, jacobian = self.at(pose, p)
            with np.errstate(all="ignore"):
                step = np.linalg.solve(jacobian, (wanted - q)[..., None])[..., 0]
            pose[:, :3, 3] += step[:, :3]
            pose[:, :3, :3] = Rotation.from_rotvec(np.nan_to_num(step[:, 3:])).as_matrix() @ pose[:, :3, :3]
            if np.abs(step).max() < 1e-13:
                break
        off = np.abs(self.at(pose, p)[0] - wanted).max(axis=1)
        pose[~(off < 1e-9)] = np.nan
        return pose

    def slopes(self, pose: Array, p: Array) -> Array:
        """d(pose)/dp (n, 6, count without frames): displacement of the origin and turn, base axes, readings fixed."""
        _, by_numbers, jacobian = self.at(pose, p)
        columns = [-by_numbers]
        if self.offsets:
            columns.append(np.broadcast_to(np.eye(6)[:, self.offsets], (len(pose), 6, len(self.offsets))))
        return np.asarray(np.linalg.solve(jacobian, np.concatenate(columns, axis=2)))


def _kind(robot: Any, path: str) -> str:
    """``m`` for a point or length, ``1`` for a direction, ``q`` for an actuator's offset, else empty."""
    owner, _, field = path.rpartition(".")
    parent = value_at(robot, owner)
    fields = getattr(type(parent), "model_fields", {})
    if field not in fields or field in ("com", "range", "travel", "stroke"):
        return ""
    value = getattr(parent, field)
    if field == "offset" and getattr(parent, "actuated", False):
        return "q"
    unit = unit_of(fields[field])
    if isinstance(value, tuple) and (len(value) != 3 or not all(isinstance(v, float) for v in value)):
        return ""
    if ".cone" in path or "_cone" in path or "friction" in path:
        return ""
    return {"m": "m", "1": "1"}.get(unit, "") if unit != "1" or isinstance(value, tuple) else ""
