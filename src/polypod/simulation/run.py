"""The loop of a simulation: controller, actuators, integrator, events and record, one sample or step after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .actuators import Actuators
from .events import Event, EventDetector
from .integrators import Integrator, Step
from .record import Record
from .signals import AppliedForces, ConstantSignal, Saturated, Signal
from .snapshot import Snapshot
from .system import Stepper


class StoppedError(Exception):
    """An event that ends the simulation."""

    def __init__(self, event: Event) -> None:
        self.event = event
        super().__init__(event.text)


@dataclass
class SimulationRun:
    """One simulation under way; ``snapshot`` is the state reached at ``time``."""

    stepper: Stepper
    integrator: Integrator
    force: Signal
    wrench: Signal
    actuators: Actuators
    detector: EventDetector
    record: Record
    snapshot: Snapshot
    report_time: Callable[[float], None]
    time: float = 0.0

    def __post_init__(self) -> None:
        self._continuous = False
        self._commanded = self._force_acting = np.zeros(len(self.stepper.system.actuators))
        self._wrench_acting = np.zeros(6)

    def run_sampled(self, duration: float, rate: float, every: int) -> None:
        """The controller is asked ``rate`` times a second; its answer is held until the next."""
        count = int(np.ceil(duration * rate * (1 - 1e-12)))
        for k in range(count):
            start, end = k / rate, min((k + 1) / rate, duration)
            seen = self.snapshot.measurement()
            self._commanded = self.force.at(start, seen)
            self.actuators.command(start, self._commanded, seen.qdot)
            pieces = self.actuators.pieces(start, end)
            self._force_acting = pieces[0][2]
            self._wrench_acting = self.wrench.at(start, seen)
            if k % every == 0:
                self.record.add(start, self.snapshot, self._commanded, self._force_acting, self._wrench_acting)
            for a, b, applied in pieces:
                self._force_acting = applied
                inputs = AppliedForces(ConstantSignal(applied), self.wrench)
                for step in self.integrator.steps(self.stepper, inputs, a, b, self.snapshot, whole=True):
                    self._accept(step, None)
        self._record_end()

    def run_continuous(self, ends: list[float], output: float | None) -> None:
        """Force and wrench act as functions of time and state, from each of ``ends`` to the next."""
        self._continuous = True
        saturated = Saturated(self.force, self.actuators)
        self._record_row(self.time, self.snapshot)
        for end in ends:
            # what jumps at the ends of a span must not be seen from within
            slack = 1e-12 * max(1.0, end)
            inputs = AppliedForces(saturated, self.wrench, (self.time + slack, end - slack))
            for step in self.integrator.steps(self.stepper, inputs, self.time, end, self.snapshot):
                self._accept(step, output)
                if output is None:
                    self._record_row(self.time, self.snapshot)
        self._record_end()

    def _accept(self, step: Step, output: float | None) -> None:
        """Events, then the step's end as the new state."""
        events = self.detector.events(step)
        end = next((event.time for event, action, _ in events if action == "stop"), step.end)
        if output is not None:
            # a row at a step's very end is that step's, not the next one's too
            first, last = (int(np.floor(time / output * (1 + 1e-12))) for time in (step.start, end))
            for k in range(first + 1, last + 1):
                self._record_row(k * output, step.within(min(k * output, step.end)))
        for event, action, snapshot in events:
            self.record.events.append(event)
            if action == "stop":
                self.time, self.snapshot = event.time, snapshot
                self._record_end()
                raise StoppedError(event)
        self.time, self.snapshot = step.end, step.snapshot
        self.report_time(self.time)

    def _record_row(self, time: float, snapshot: Snapshot) -> None:
        """A row of a continuous simulation: force and wrench at its time and state."""
        seen = snapshot.measurement()
        self._commanded = self.force.at(time, seen)
        self._force_acting = self.actuators.saturated(self._commanded, seen.qdot)
        self._wrench_acting = self.wrench.at(time, seen)
        self.record.add(time, snapshot, self._commanded, self._force_acting, self._wrench_acting)

    def _record_end(self) -> None:
        """The state reached, if it is not in the record yet, with what acts there; a sampled force is still held."""
        if self._continuous and self._unrecorded:
            self._record_row(self.time, self.snapshot)
        elif self._unrecorded:
            self._wrench_acting = self.wrench.at(self.time, self.snapshot.measurement())
            self.record_last()

    def record_last(self) -> None:
        """The state reached, if it is not in the record yet, with what acted last: force and wrench are not asked."""
        if self._unrecorded:
            self.record.add(self.time, self.snapshot, self._commanded, self._force_acting, self._wrench_acting)

    @property
    def _unrecorded(self) -> bool:
        return self.time > self.record.last_time + 1e-12 * max(1.0, self.time)
