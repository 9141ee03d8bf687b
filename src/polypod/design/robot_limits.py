"""The limits of a robot file in a study: how much of each a design uses, folded over the states of a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..kernels import Port
from ..limits import KINDS, Limit, RobotLimits
from ..limits.loads import equivalent_load
from ..limits.symbols import OUTPUTS, motor_numbers, range_uses
from ..mechanism import Mechanism
from ..model import Model
from ..model.designs import Designs
from .quantities import QUANTITIES

PREFIX = "use of "
_FUNCTIONS = {
    "q": "inverse_kinematics", "qdot": "rates", "qddot": "accelerations", "force": "inverse_dynamics",
    "limited": "limited", "load": "reactions",
}  # fmt: skip
_REDUCED = {"instant": "peak", "rms": "rms", "span": "span", "mean": "mean"}


@dataclass(frozen=True, eq=False)
class LimitQuantity:
    """Largest use of all limits of one quantity of the verdict, as a quantity of a study.

    Attributes
    ----------
    name : str
        Name of the quantity.
    limits : tuple of Limit
        Its limits.
    own : RobotLimits
        All limits of the robot.
    alike : bool
        Whether all these limits have the same bound, in every design: the largest of their values is then folded alone.
    same_motors : bool
        Whether motors have the same ratios in every design: their speeds are then those of the actuators, times a
        number.
    """

    name: str
    limits: tuple[Limit, ...]
    own: RobotLimits
    alike: bool = False
    same_motors: bool = False

    @property
    def kind(self) -> str:
        """Kind of the limits, as ``polypod.limits.KINDS`` has it."""
        return self.limits[0].kind

    @property
    def text(self) -> str:
        """What it is, in words."""
        return f"largest use of a limit of the robot file: {self.name.removeprefix(PREFIX)}"

    @property
    def label(self) -> str:
        """What the verdict calls it; with a word more where a study has a quantity of the same name."""
        plain = self.name.removeprefix(PREFIX)
        return f"{plain} of the drives" if plain in QUANTITIES else plain

    unit = "1"

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of a state that it needs; none of what the motion alone decides."""
        return tuple(dict.fromkeys(_FUNCTIONS[name] for name in KINDS[self.kind].needs if name in _FUNCTIONS))

    @property
    def symbolic(self) -> bool:
        """Whether it is compiled with the functions; reactions are arrays."""
        return KINDS[self.kind].of in ("actuator", "cable", "range")

    @property
    def of_pairs(self) -> bool:
        """Whether distances between bodies are limited, which need the shapes of every design."""
        return KINDS[self.kind].of == "pair"

    @property
    def of_motion(self) -> bool:
        """Whether only motions use it, not poses at rest."""
        return KINDS[self.kind].over in ("rms", "mean")

    @property
    def reduce(self) -> str:
        """How states are reduced: of cones the least cosine, an angle is then taken once."""
        if self.kind == "cone":
            return "least"
        return _REDUCED[KINDS[self.kind].over]

    @property
    def folded_as(self) -> tuple[str, str] | None:
        """Source and reduction of a quantity of studies that folds the same numbers, of all actuators."""
        return _SAME["speed"] if self._of_speeds else _SAME.get(self.kind)

    @property
    def folds(self) -> tuple[str, bool, tuple[int, ...]]:
        """What is folded; quantities that fold the same do it once."""
        return "speed" if self._of_speeds else self.kind, self.alike, tuple(one.index for one in self.limits)

    @property
    def _of_speeds(self) -> bool:
        """Whether these are speeds of motors that follow from the largest of the actuators."""
        return self.kind == "motor speed" and self.same_motors

    @property
    def inputs(self) -> dict[str, Array]:
        """Ratings that the compiled function takes as inputs, one row each: another rating compiles nothing."""
        index = [one.index for one in self.limits]
        if self.kind == "force at speed":
            return {f"{self.name} curves": self.own.corners(self.limits)}
        if self.kind == "tension":
            return {f"{self.name} range": np.array([(one.low, one.high) for one in self.limits])}
        return {f"{self.name} efficiency": self.own.numbers["efficiency"][index]} if "torque" in self.kind else {}

    @property
    def key(self) -> str:
        """What determines its expression."""
        index = [one.index for one in self.limits]
        shapes = {name: rows.shape for name, rows in self.inputs.items()}
        return repr((self.name, self.kind, self.alike, self.same_motors, index, shapes))

    def expression(self, known: Mapping[str, ca.SX], mechanism: Mechanism, given: Mapping[str, Port]) -> ca.SX:
        """Values that are compared with the bounds: largest uses of ranges, cosines of cones.

        Parameters
        ----------
        known : mapping of str to casadi.SX
            Outputs by name.
        mechanism : Mechanism
            The robot in symbols.
        given : mapping of str to Port
            Further inputs.

        Returns
        -------
        casadi.SX, shape (k,)
            Values.
        """
        index = [one.index for one in self.limits]
        if self.kind == "cone":
            cosines = known["limited.values"][[1 + k for k in index]]
            return ca.mmin(cosines) if self.alike else cosines
        if self.kind == "range":
            uses = range_uses(mechanism, known["limited.values"][1:])
            return ca.mmax(uses[index])
        entry = KINDS["speed" if self._of_speeds else self.kind]
        own: dict[str, Any] = {name: known[OUTPUTS[name]][index] for name in entry.needs}
        own |= {name: numbers[index] for name, numbers in motor_numbers(mechanism).items()}
        ports = [given[name] for name in self.inputs]
        if self.kind == "force at speed":
            (curves,) = ports
            count, corners, _ = curves.shape
            rows = ca.reshape(curves.symbols, 2, count * corners)
            own["curves"] = [
                tuple(ca.vertcat(*[rows[axis, corners * k + i] for k in range(count)]) for axis in (0, 1))
                for i in range(corners)
            ]
        elif self.kind == "tension":
            ends = ca.reshape(ports[0].symbols, 2, len(self.limits)).T
            uses = ca.fabs(entry.value(own) - 0.5 * (ends[:, 0] + ends[:, 1])) / (0.5 * (ends[:, 1] - ends[:, 0]))
            return ca.mmax(uses)
        elif ports:
            own["efficiency"] = ports[0].symbols
        value = entry.value(own)
        return ca.mmax(ca.fabs(value)) if self.alike else value

    def loads(self, outputs: Mapping[str, Array]) -> Array:
        """Loads of joints from reactions, raised to the exponent of the rating life where their mean is needed.

        Parameters
        ----------
        outputs : mapping of str to ndarray
            Outputs of ``reactions``: wrenches and axes (D, T, joints, 6).

        Returns
        -------
        ndarray, shape (D, T, k)
            Loads [N].
        """
        wrenches, axes = outputs["reactions.wrenches"], outputs["reactions.axes"]
        columns = []
        for one in self.limits:
            joint, bearing = self.own.joints[one.index], self.own.joints[one.index].bearing
            force = wrenches[..., one.index, :3]
            free = axes[..., one.index, :].reshape(*force.shape[:-1], 2, 3).copy()
            free[..., _AXES.get(joint.kind, 1) :, :] = np.nan
            if self.kind == "reaction":
                columns.append(np.linalg.norm(force, axis=-1))
            elif self.kind == "bearing, static":
                factors = bearing.static_radial_factor, bearing.static_axial_factor
                columns.append(equivalent_load(force, free, joint.kind, *factors))
            else:
                load = equivalent_load(force, free, joint.kind, bearing.radial_factor, bearing.axial_factor)
                columns.append(load**bearing.life_exponent)
        return np.stack(columns, axis=-1)

    def worst(self, values: Array, axis: int = 1) -> Array:
        """Largest use from reduced values, or over motions.

        Parameters
        ----------
        values : ndarray, shape (D, k)
            Reduced values, or uses over motions.
        axis : int, optional
            Axis to reduce.

        Returns
        -------
        ndarray, shape (D,)
            Largest uses.
        """
        return np.asarray(np.max(values, axis=axis))

    def uses(self, values: Array, ranges: Array | None = None) -> Array:
        """Uses from reduced values; reactions that internal stresses leave open are not judged.

        Parameters
        ----------
        values : ndarray, shape (D, k)
            Reduced values: uses of ranges, least cosines of cones.
        ranges : ndarray, shape (D, all, 2), optional
            Ranges of designs, angles as cosines.

        Returns
        -------
        ndarray, shape (D, k)
            Uses.
        """
        if self.kind in ("range", "tension"):
            return values
        if self.kind == "cone":
            widest: Array | float = self.limits[0].high
            if ranges is not None:
                widest = np.arccos(ranges[:, [one.index for one in self.limits], 0])
            return np.arccos(np.clip(values, -1.0, 1.0)) / widest
        if KINDS[self.kind].of == "joint":
            values = np.nan_to_num(values, nan=0.0)
        if self.kind == "bearing":
            values = values ** (
                1.0 / np.array([self.own.joints[one.index].bearing.life_exponent for one in self.limits])
            )
        if self._of_speeds:
            values = values * self.own.numbers["ratio"][[one.index for one in self.limits]]
        return values / np.array([one.high for one in self.limits])


_SAME = {
    "force": ("force", "peak"), "continuous force": ("force", "rms"), "speed": ("speed", "peak"),
    "power": ("power", "peak"), "stroke": ("length", "span"),
}  # fmt: skip
_STATES = 50_000
"""States of designs whose distances are computed together: some ten megabytes."""
_AXES = {"spherical": 0, "fixed": 0, "universal": 2}
"""Free directions of joints of other kinds than one."""


def limit_quantities(limits: RobotLimits, varied: Sequence[str] = ()) -> dict[str, LimitQuantity]:
    """The uses that a study computes, by name, in the order of the verdict; ``varied`` are paths of its numbers."""
    cones_vary = any("cone" in path for path in varied)
    motors_vary = any(path.rpartition(".")[2] in ("lead", "gear") for path in varied)
    found = {}
    for quantity in limits.quantities:
        chosen = tuple(one for one in limits.limits if one.quantity == quantity)
        kind, name = chosen[0].kind, f"{PREFIX}{quantity}"
        ratios = limits.numbers["ratio"][[one.index for one in chosen]] if kind == "motor speed" else ()
        alike = len({one.high for one in chosen}) == 1 and len({*ratios}) <= 1
        if kind == "cone":
            alike = alike and not cones_vary
        elif KINDS[kind].of != "actuator" or KINDS[kind].over != "instant":
            alike = False
        found[name] = LimitQuantity(name, chosen, limits, alike, kind == "motor speed" and not motors_vary)
    return found


def of_pairs(quantity: LimitQuantity, model: Model, designs: Designs, start: int, stop: int, pose: Array) -> Array:
    """Largest uses (D,) of clearances at poses (T, 4, 4) of a range of designs, judged as for a single robot.

    A few designs and poses at a time: memory does not grow with their numbers.
    """
    chosen = quantity.own.only(lambda one: one.kind == quantity.kind)
    together = max(1, _STATES // len(pose))
    found = []
    for first in range(start, stop, together):
        last = min(first + together, stop)
        parameters = {path: value[first:last, None] for path, value in designs.parameters.items()}
        parts = [
            chosen.evaluate({"clearance": model.clearances.least(pose[k : k + _STATES], parameters)}).use
            for k in range(0, len(pose), _STATES)
        ]
        found.append(np.max([part.max(axis=(-2, -1), initial=0.0) for part in parts], axis=0))
    return np.concatenate(found)


def of_platform(quantity: LimitQuantity, inputs: Mapping[str, Array]) -> float:
    """Largest use of a limit of the platform along a motion, the same for all designs."""
    given = {name: inputs[name] for name in ("twist", "acceleration")}
    chosen = quantity.own.only(lambda one: one.kind == quantity.kind)
    return float(np.max(chosen.evaluate(given).use, initial=0.0))
