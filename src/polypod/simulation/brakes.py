"""Brakes that are switched during a simulation: which are engaged when, and the model that belongs to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..elements import Brake
from ..errors import InputError, UnknownNameError
from ..model import Model

Brakes = Mapping[str, ArrayLike]
"""Times [s] at which each brake is switched, by its name: engaged first, unless it is engaged from the start."""


@dataclass(frozen=True)
class Switch:
    """A brake that is engaged or released: when, which, the joint that it is in."""

    time: float
    brake: str
    engages: bool
    joint: str

    @property
    def text(self) -> str:
        """What happens, in words."""
        return f"{self.brake} {'engages' if self.engages else 'is released'}"


class BrakeSchedule:
    """When the brakes of a robot are switched, checked."""

    def __init__(self, model: Model, brakes: Brakes | None) -> None:
        known = {one.name: one for one in model.robot.elements if isinstance(one, Brake)}
        self._model, self._engaged = model, {name for name, one in known.items() if one.engaged}
        switches: list[Switch] = []
        for name, given in (brakes or {}).items():
            if name not in known:
                raise UnknownNameError("brake", name, tuple(known))
            times = np.atleast_1d(np.asarray(given, dtype=float)).tolist()
            if not all(0 <= time < np.inf for time in times) or not all(a < b for a, b in pairwise(times)):
                raise InputError(
                    f"brakes[{name!r}]: times from 0 on are needed, each later than the one before [s], got {times}"
                )
            on = known[name].engaged
            for time in times:
                on = not on
                switches.append(Switch(time, name, on, known[name].joint))
        self.switches = sorted(switches, key=lambda one: one.time)
        self._models: dict[frozenset[str], Model] = {frozenset(self._engaged): model}

    @property
    def times(self) -> list[float]:
        """When something is switched [s]."""
        return sorted({one.time for one in self.switches})

    def at(self, time: float) -> list[Switch]:
        """What is switched at a time."""
        return [one for one in self.switches if one.time == time]

    def model_after(self, time: float) -> Model:
        """The model with the brakes that are engaged from a time on."""
        engaged = set(self._engaged)
        for one in self.switches:
            if one.time <= time:
                (engaged.add if one.engages else engaged.discard)(one.brake)
        key = frozenset(engaged)
        if key not in self._models:
            elements: Any = [
                one.model_copy(update={"engaged": one.name in key}) if isinstance(one, Brake) else one
                for one in self._model.robot.elements
            ]
            self._models[key] = self._model.alike(self._model.robot.model_copy(update={"elements": tuple(elements)}))
        return self._models[key]
