"""Numbers in which forces are linear, in words: from entries of the parameter port to numbers of one meaning each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..legs.contract import MOTIONS
from ..mechanism import Mechanism
from ..parameters.paths import value_at
from ..parameters.vector import MOMENTS, Parameter
from .moments import rod_moments, turned_moments

FRICTION = ("viscous", "coulomb", "drag")
_WORDS = {
    "m": "mass",
    **{f"s{a}": f"mass x com {a}" for a in "xyz"},
    **{f"S{a}": f"second moment {a}" for a in ("xx", "yy", "zz", "xy", "xz", "yz")},
    "along": "mass x com along",
    "Salong": "second moment along",
    "Sacross": "second moment across",
}
_UNITS = {"m": "kg", "s": "kg m", "S": "kg m^2", "a": "kg m"}


class LinearNumber(NamedTuple):
    """One number p: its path (of a body with ``moment``, or of a field), name in words, unit and value in the file."""

    path: str
    moment: str
    name: str
    unit: str
    value: float

    @property
    def key(self) -> str:
        """Its path as the regressor names it, ``legs.0.lower.sx``."""
        return f"{self.path}.{self.moment}" if self.moment else self.path


class Naming:
    """Numbers p and T (entries, numbers) of the entries of a robot's parameter port that forces are linear in.

    A number stands for one entry, for a moment of a rod that spins freely, or, with ``same_legs``, for the same of
    every leg.
    """

    def __init__(self, mechanism: Mechanism, entries: list[Parameter], same_legs: bool) -> None:
        self.mechanism, self.robot, self.entries, self.same_legs = mechanism, mechanism.robot, entries, same_legs
        self._joints: dict[str, dict[str, set[str]]] = {}

    def numbers(self) -> tuple[tuple[LinearNumber, ...], Array]:
        """The numbers p and T (entries, numbers)."""
        place = {(e.path, e.index): k for k, e in enumerate(self.entries)}
        rods = rod_moments(self.mechanism)
        numbers: list[LinearNumber] = []
        columns: list[Array] = []
        for path in dict.fromkeys(e.path for e in self.entries):
            own = [e for e in self.entries if e.path == path]
            if path in rods and isinstance(own[0].index, str):
                basis = rods[path]
                moments = np.array([next((e.value for e in own if e.index == m), 0.0) for m in MOMENTS])
                values = np.linalg.lstsq(basis, moments, rcond=None)[0]
                for name, column, value in zip(("m", "along", "Salong", "Sacross"), basis.T, values, strict=True):
                    numbers.append(self._number(path, name, float(value)))
                    columns.append(self._column(place, path, column))
                continue
            for e in own:
                moment = e.index if isinstance(e.index, str) else ""
                numbers.append(self._number(path, moment, e.value))
                column = np.zeros(len(self.entries))
                column[place[e.path, e.index]] = 1.0
                columns.append(column)
        to_entries = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
        if not self.same_legs:
            return tuple(numbers), to_entries
        return self._shared(numbers, to_entries)

    def _column(self, place: dict[tuple[str, Any], int], path: str, moments: Array) -> Array:
        column = np.zeros(len(self.entries))
        for name, value in zip(MOMENTS, moments, strict=True):
            if (path, name) in place:
                column[place[path, name]] = value
        return column

    def _number(self, path: str, moment: str, value: float) -> LinearNumber:
        owner, _, field = path.rpartition(".")
        where = self._spoken(path if moment else owner)
        if moment:
            return LinearNumber(path, moment, f"{where} {_WORDS[moment]}", _UNITS[moment[0]], value)
        unit = _field_unit(self._kinds(owner), field)
        return LinearNumber(path, "", f"{where} {field.replace('_', ' ')}", unit, value)

    def _kinds(self, owner: str) -> set[str]:
        """Kinds of the joints that a friction or a joint of the file at a path stands for."""
        if ".joints." in owner:
            joint, _, motion = owner.partition(".frictions.")
            return {MOTIONS[motion] if motion else str(value_at(self.robot, joint.removesuffix(".friction")).kind)}
        leg = owner.rpartition(".")[0]
        if leg not in self._joints:
            self._joints[leg] = value_at(self.robot, leg).friction_joints() if leg.startswith("legs.") else {}
        return self._joints[leg].get(owner.rpartition(".")[2], set())

    def _spoken(self, path: str) -> str:
        """A path as people say it: ``legs.0.prismatic_friction`` is ``leg1 prismatic friction``."""
        parts = path.split(".")
        if parts[0] == "legs":
            leg = self.robot.legs[int(parts[1])]
            parts = ["every leg" if self.same_legs else leg.name, *parts[2:]]
            if "joints" in parts:
                joint = value_at(self.robot, ".".join(path.split(".")[:4]))
                parts[1:3] = [joint.name]
        return " ".join(part.replace("_", " ") for part in parts if part != "bodies")

    def _shared(self, numbers: list[LinearNumber], to_entries: Array) -> tuple[tuple[LinearNumber, ...], Array]:
        """One number for the same number of every leg; legs drawn at home are turned into each other."""
        turns = turned_moments(self.robot)
        kept: list[LinearNumber] = [n for n in numbers if not n.path.startswith("legs.")]
        columns = [to_entries[:, k] for k, n in enumerate(numbers) if not n.path.startswith("legs.")]
        first = [(k, n) for k, n in enumerate(numbers) if n.path.startswith("legs.0.")]
        by_key = {n.key: k for k, n in enumerate(numbers)}
        for k, n in first:
            column = to_entries[:, k].copy()
            for leg in range(1, len(self.robot.legs)):
                path = f"legs.{leg}.{n.path.split('.', 2)[2]}"
                if n.moment in MOMENTS and turns is not None:
                    for moment, factor in zip(MOMENTS, turns[leg][:, MOMENTS.index(n.moment)], strict=True):
                        column = column + factor * to_entries[:, by_key[f"{path}.{moment}"]]
                    continue
                twin = n._replace(path=path).key
                if twin not in by_key:
                    raise InputError(f"same_legs: {twin} is missing: the legs of {self.robot.name!r} are not alike")
                column = column + to_entries[:, by_key[twin]]
            kept.append(n)
            columns.append(column)
        return tuple(kept), np.stack(columns, axis=1)


def is_friction(entry: Parameter) -> bool:
    """Whether a number is a coefficient of friction."""
    return entry.path.rpartition(".")[2] in FRICTION


def is_linear(entry: Parameter) -> bool:
    """Whether forces are linear in a number of the port: a moment, an inertia of an actuator or cross, friction."""
    if isinstance(entry.index, str):
        return True
    field = entry.path.rpartition(".")[2]
    return field in FRICTION or field in ("cross_inertia", "rotor", "rotor_mass", "rotor_inertia")


_FIELD_UNITS = {
    "viscous": ("N s/m", "N m s/rad"),
    "coulomb": ("", "m"),
    "drag": ("N", "N m"),
    "rotor": ("kg", "kg m^2"),
}
_OTHER_UNITS = {"cross_inertia": "kg m^2", "rotor_mass": "kg", "rotor_inertia": "kg m^2"}


def _field_unit(kinds: set[str], field: str) -> str:
    """Unit of friction or of an inertia, of joints of these kinds: those that slide or those that turn."""
    if field in _OTHER_UNITS:
        return _OTHER_UNITS[field]
    slides, turns = _FIELD_UNITS[field]
    if kinds <= {"prismatic"}:
        return slides
    return f"{slides or '1'} or {turns}" if kinds & {"prismatic", "cylindrical"} else turns
