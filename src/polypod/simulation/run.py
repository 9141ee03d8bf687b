"""The loop of a simulation: controller, actuators, integrator, events and record, one sample or step after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .actuators import Actuators
from .events import Event, Watchman
from .integrators import Field, Integrator, Leap
from .record import Record
from .sources import Source, measured
from .system import Place, Stepper

Array = NDArray[np.float64]


class StoppedError(Exception):
    """An event that ends the simulation."""

    def __init__(self, event: Event) -> None:
        self.event = event
        super().__init__(event.text)


@dataclass
class Run:
    """One simulation under way; ``place`` is the state reached at ``time``."""

    stepper: Stepper
    integrator: Integrator
    force: Source
    wrench: Source
    actuators: Actuators
    watchman: Watchman
    record: Record
    place: Place
    advanced: Callable[[float], None]
    time: float = 0.0

    def __post_init__(self) -> None:
        self._command = self._applied = np.zeros(len(self.stepper.system.legs))
        self._pushed = np.zeros(6)

    def sampled(self, duration: float, rate: float, every: int) -> None:
        """The controller is asked ``rate`` times a second; its answer is held until the next."""
        legs = self.stepper.system.legs
        held = Source("force", np.zeros(len(legs)), legs)
        held_field = Field(self.stepper, held, self.wrench)
        count = int(np.ceil(duration * rate * (1 - 1e-12)))
        for k in range(count):
            start, end = k / rate, min((k + 1) / rate, duration)
            sensed = measured(self.place, self.stepper.modes)
            self._command = self.force.at(start, sensed)
            self.actuators.command(start, self._command)
            pieces = self.actuators.pieces(start, end)
            self._applied = pieces[0][2]
            self._pushed = self.wrench.at(start, sensed)
            if k % every == 0:
                self.record.add(start, self.place, self._command, self._applied, self._pushed)
            for a, b, applied in pieces:
                held.constant = self._applied = applied
                for leap in self.integrator.leaps(held_field, a, b, self.place.state):
                    self._accept(leap, None)
        self.keep()

    def continuous(self, ends: list[float], output: float | None) -> None:
        """Force and wrench act as functions of time and state, from each of ``ends`` to the next."""
        saturated = _Saturated(self.force, self.actuators)
        self._note(self.time, self.place)
        for end in ends:
            # what jumps at the ends of a span must not be seen from within
            slack = 1e-12 * max(1.0, end)
            free = Field(self.stepper, saturated, self.wrench, (self.time + slack, end - slack))
            for leap in self.integrator.leaps(free, self.time, end, self.place.state):
                self._accept(leap, output)
                if output is None:
                    self._note(self.time, self.place)
        self.keep()

    def _accept(self, leap: Leap, output: float | None) -> None:
        """Events, then the leap's end as the new state."""
        events = self.watchman.events(leap)
        end = next((event.time for event, action, _ in events if action == "stop"), leap.end)
        if output is not None:
            first, last = int(np.floor(leap.start / output)) + 1, int(np.floor(end / output * (1 + 1e-12)))
            for k in range(first, last + 1):
                self._note(k * output, leap.within(min(k * output, leap.end)))
        for event, action, place in events:
            self.record.events.append(event)
            if action == "stop":
                self.time, self.place = event.time, place
                self.keep()
                raise StoppedError(event)
        self.time, self.place = leap.end, leap.place
        self.advanced(self.time)

    def _note(self, time: float, place: Place) -> None:
        """A row of a continuous simulation."""
        sensed = measured(place, self.stepper.modes)
        self._command = self.force.at(time, sensed)
        self._applied = self.actuators.saturated(self._command)
        self._pushed = self.wrench.at(time, sensed)
        self.record.add(time, place, self._command, self._applied, self._pushed)

    def keep(self) -> None:
        """The state reached, if it is not in the record yet, with what acted last."""
        if self.time > self.record.last_time + 1e-12 * max(1.0, self.time):
            self.record.add(self.time, self.place, self._command, self._applied, self._pushed)


class _Saturated(Source):
    """A force source as actuators give it."""

    def __init__(self, source: Source, actuators: Actuators) -> None:
        self._source, self._actuators = source, actuators
        self.name, self.remembers = source.name, source.remembers
        self.constant = None if source.constant is None else actuators.saturated(source.constant)

    def at(self, time: float, measurement: object) -> Array:
        """The saturated value at a time."""
        return self._actuators.saturated(self._source.at(time, measurement))  # type: ignore[arg-type]
