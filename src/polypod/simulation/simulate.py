"""Direct dynamics forward in time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..control import CONTROLLERS, default_controller, scaled_masses
from ..control import controller as controller_of
from ..control.contract import Controller, ControllerWithMemory
from ..control.law import Compensation
from ..control.reference import Reference
from ..datasets import COMPONENTS
from ..description import Robot
from ..errors import InputError, StateError
from ..limits import left_out_text
from ..model import Model
from ..model.arguments import PoseLike, check_wrench, exact_poses, pose_matrix
from ..motion import BaseTrajectory, MotionFile, Task, Trajectory, make_task, with_motion_lines
from ..stages import whole_model
from .arguments import STEP, Timing, longest_step, progress_bar, wanted_motion
from .batch import simulate_batch
from .brakes import Brakes, BrakeSchedule, Switch
from .chart import Snapshot, numeric_chart
from .errors import EnergyWarning, InterruptedWarning, SimulationError
from .events import Action, Event, EventDetector, Watch, make_watches, start_fault, watched_limits
from .integrators import FIXED, Integrator, Step, no_answer
from .machine import Machine, MachineRun
from .result import Record, Sample, annotate, energy_fault, external_wrench, needed_force, result_dataset
from .signals import (
    Actuators,
    AppliedForces,
    ConstantSignal,
    Saturated,
    Signal,
    SignalLike,
    finite_numbers,
    signal,
)
from .system import Stepper, System, check_model

if TYPE_CHECKING:
    import xarray as xr


def simulate(
    model: Any,
    force: SignalLike | MotionFile | Trajectory | Task | str | Path = None,
    *,
    duration: float | None = None,
    pose: PoseLike | None = None,
    twist: ArrayLike | None = None,
    elastic: ArrayLike | None = None,
    elastic_rate: ArrayLike | None = None,
    internal: ArrayLike | None = None,
    wrench: SignalLike = None,
    rate: float | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    friction: bool = True,
    saturation: ArrayLike | str | None = None,
    delay: float = 0.0,
    events: Mapping[str, Action] | None = None,
    singularity: float = 1e-3,
    breaks: Sequence[float] = (),
    brakes: Brakes | None = None,
    machine: Machine | None = None,
    output: float | None = None,
    reference: Reference | Trajectory | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    base: Trajectory | None = None,
    progress: bool | None = None,
    observe: Callable[[Sample], None] | None = None,
) -> xr.Dataset:
    """Simulate a robot from an initial state under actuator forces and an external wrench, or along a motion.

    Integrates M udot = J^T f + w_ext - bias, where udot comes from direct dynamics. Leading axes of states, forces,
    wrenches and parameters, which broadcast, are a batch of runs: all in one call, RK4 in compiled periods.

    Parameters
    ----------
    model : Model, Series, Robot, str or Path
        Model of the robot, or what ``polypod.Model`` takes. Of a machine in stages it is ``Series.whole``.
    force : array_like, callable, controller or motion, optional
        Actuator forces (..., n) [N or N m]: constant, a function ``(time, measurement) -> (n,)`` or a controller of
        ``polypod.control``. Default: zero. A motion (its name, its file, a trajectory, a task) stands for the robot's
        default controller that follows it at 1 kHz, as ``polypod simulate``; ``simulation.simulate_tracking`` has more
        options.
    duration : float, optional
        Simulated time [s], from 0. Default: that of the motion.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Initial pose of {P} in {B}. Default: start of the controller's reference if it has one, else home.
    twist : array_like, shape (..., 6), optional
        Initial twist [v; omega] of the origin of {P}, base axes; (6 + k,) with the rates of internal coordinates.
        Default: that of the reference, else zero.
    elastic, elastic_rate : array_like, shape (..., N), optional
        Initial state of a flexible platform. Default: static equilibrium, at rest.
    internal : array_like, shape (k,), optional
        Initial internal coordinates [m, rad]. Default: those of the reference, else home.
    wrench : array_like, callable, optional
        External wrench (..., 6) on the platform at the origin of {P}, base axes, given like ``force``; in a batch it
        is constant. Default: zero.
    rate : float, optional
        Sampling rate [Hz] at which the force is computed and then held, as on a machine. Default: at every instant.
    method : str, optional
        ``RK4`` (fixed step; compiled where force and wrench are held), ``RK45``, ``DOP853``, ``Radau``, ``BDF`` or
        ``LSODA``. Default: RK4 if there is a rate, else DOP853.
    step : float, optional
        Longest step of RK4 [s]. Default: 1 ms, or less if the fastest mode of a flexible platform needs it.
    rtol, atol : float, optional
        Tolerances of the methods with variable steps.
    friction : bool, optional
        Whether friction in the joints is included. Dry friction holds joints at rest (``friction_width`` of the model
        is for its other functions): steps of RK4 end where a joint comes to rest; other methods stop it within 0.1 ms.
    saturation : float, array_like or 'drives', optional
        Largest force [N or N m]: one number, (n,), or (n, 2) lower and upper; ``drives`` takes the limits of the robot.
    delay : float, optional
        Time [s] from a sample to its force; the forces that hold the start act until the first arrives.
    events : mapping of str to str, optional
        Action (``stop``, ``log``, ``ignore``) by kind of event. By default ``limit`` (ranges, cones and clearances) and
        ``singularity`` stop; ``overload`` (all other limits of the robot file that a state has, each once),
        ``reversal`` (of joints with dry friction), ``contact`` (with a stop at the end of its range; a joint's own
        range is then no limit) and ``brake`` are logged. The attribute ``not_watched`` of the result says which limits
        are not watched.
    singularity : float, optional
        Distance to singularity (``Model.conditioning``) below which the event ``singularity`` occurs.
    breaks : sequence of float, optional
        Times [s] at which force or wrench jump; the integrator restarts there (without a rate).
    brakes : mapping of str to float or sequence of float, optional
        Times [s] at which brakes of the robot file (elements of kind ``brake``) are switched, by their name: engaged
        first, unless the file says ``engaged: true``; then released, and so on. Each is an event ``brake``, as is an
        actuated joint with an engaged brake that comes to rest.
    machine : simulation.Machine, optional
        Encoder steps, lag and ripple of the drives, jitter of the controller's clock; needs a rate.
    output : float, optional
        Interval [s] of the rows of the result. Default: every sample, or every accepted step.
    reference : Reference or Trajectory, optional
        Desired motion, for the tracking error. Default: that of the controller.
    parameters : mapping of str to array_like, optional
        Values that replace parameters of the robot, by path; leading axes are a batch of designs.
    base : Trajectory, optional
        Motion of {B} in space, at least as long as the simulation: a ship, a truck, a centrifuge. Everything else stays
        relative to {B}; gravity is that of the robot file where the pose of the base is the identity. Default: the base
        stands still, or moves as the motion file says.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.
    observe : callable, optional
        Called with every row, a ``Sample``, as it is recorded. It may wait; an exception from it ends the run.

    Returns
    -------
    xarray.Dataset
        State, forces, energies and events over time, with units. A run interrupted from the keyboard warns and returns
        what it has. Of a batch the dimension ``run`` (``run_1``, ``run_2``, ... if it has several axes) comes first;
        ``end_time`` and ``end_reason`` say how each run ended, and what follows its end is NaN.

    Raises
    ------
    SimulationError
        If the simulation cannot go on; carries the time and the result so far.

    Notes
    -----
    In a batch a function or controller is asked once a sample for all runs: its measurement has the batch's axes, and
    runs that have ended keep their last state there. A run that reaches a limit or a singularity, has no start, or has
    a design that can be no robot is marked, and the others go on. Every run is, to the bit, what it is alone.

    On a base that moves energies and the work of the external wrench are those in space; ``work_base`` is the work of
    the base: the wrench on the robot, from the rate of its momentum, times the twist of the base.

    An energy balance that is off by more than 1e-4 of the energy exchanged is an ``EnergyWarning``: the steps are too
    long.
    """
    if isinstance(model, (Robot, str, Path)):
        model = Model(model)
    model = whole_model(model)
    check_model(model)
    if isinstance(force, (str, Path, MotionFile, Trajectory, Task)):
        given: dict[str, Any] = {
            "duration": duration, "pose": pose, "twist": twist, "elastic": elastic, "elastic_rate": elastic_rate,
            "internal": internal,
            "wrench": wrench, "method": method, "step": step, "rtol": rtol, "atol": atol, "events": events,
            "singularity": singularity, "breaks": breaks, "output": output, "reference": reference, "observe": observe,
            "parameters": parameters, "base": base, "brakes": brakes,
            "machine": machine,
        }  # fmt: skip
        return simulate_tracking(
            model,
            force,
            rate=1000.0 if rate is None else rate,
            delay=delay,
            saturation=saturation,  # type: ignore[arg-type]
            friction=friction,
            progress=progress,
            **given,
        )
    if duration is None:
        raise InputError("duration: the simulated time [s] is needed, such as duration=1.0, or a motion to follow")
    numbers = {"pose": 2, "twist": 1, "force": 1, "wrench": 1, "elastic": 1, "elastic_rate": 1}
    states = dict(zip(numbers, (pose, twist, force, wrench, elastic, elastic_rate), strict=True))
    if parameters is not None or any(_axes(states[name]) > axes for name, axes in numbers.items()):
        single = {"observe": observe is not None, "breaks": len(breaks) > 0, "base": base is not None}
        alone = {**single, "brakes": bool(brakes), "machine": machine is not None, "internal": bool(model.internal)}
        refused = [name for name, given in alone.items() if given]
        return simulate_batch(
            model, states, parameters, duration=duration, rate=rate, method=method, step=step, friction=friction,
            saturation=saturation, delay=delay, events=events, singularity=singularity, output=output,
            reference=reference, progress=progress, refused=refused,
        )  # fmt: skip
    schedule = BrakeSchedule(model, brakes)
    if schedule.switches and not friction:
        raise InputError("brakes: a brake is friction of its joint; pass friction=True, or leave brakes out")
    timing = Timing(duration, rate, [*breaks, *(schedule.times if rate is None else ())], output)
    model = schedule.model_after(-1.0)
    system = System(model, friction, base is not None)
    carrier = None if base is None else make_carrier(model, base, timing.duration)
    stepper = Stepper(system)
    actuators = Actuators(system.actuators, saturation, delay)
    wanted = wanted_motion(reference, force, rate)
    start = _start(model, stepper, pose, twist, elastic, elastic_rate, wanted, internal)
    how = method or (FIXED if rate is not None else "DOP853")
    longest = longest_step(step, system, start) if how == FIXED else STEP if step is None else step
    integrator = Integrator(how, longest, rtol, atol)
    forces = signal("force", force, tuple(a.name for a in system.actuators))
    wrenches = signal("wrench", wrench, COMPONENTS, system.check_wrench)
    check_sampling(forces, wrenches, rate, delay)
    if machine is not None and rate is None:
        raise InputError("machine: encoders, clock and drives are those of a sampled controller; give its rate")
    size = model.robot.platform_size
    watches = make_watches(events, system, friction, singularity, start)
    fault = start_fault(watches, start)
    if fault:
        raise InputError(f"pose: {fault}", code="limits")
    record = Record(system.layout, observe)
    about = {
        "method": integrator.method,
        "rate": 0.0 if rate is None else float(rate),
        "friction": "yes" if friction else "no",
        "not_watched": left_out_text(watched_limits(model)[1]),
    }

    def result(ended: str) -> xr.Dataset:
        found = result_dataset(system, record, force, wanted, {**about, "ended": ended}, carrier)
        fault = energy_fault(found)
        if fault:
            warnings.warn(f"simulate: {fault}", EnergyWarning, stacklevel=3)
        return found

    with progress_bar(timing.duration, progress) as report_time:
        detector = EventDetector(watches, start, size)
        run = SimulationRun(
            stepper, integrator, forces, wrenches, actuators, detector, record, start, report_time, base=carrier
        )
        run.brakes = BrakeSwitching(
            schedule, lambda system, at: make_watches(events, system, friction, singularity, at)
        )
        run.switch_brakes()
        if machine is not None and rate is not None:
            run.machine = MachineRun(machine, len(system.actuators), float(rate))
        if delay or machine is not None:
            moving = None if carrier is None else carrier.arguments(0.0)
            held = system.static_equilibrium(start.pose, base=moving, internal=start["internal"])[1]
            actuators.start_from(held)
            if run.machine is not None:
                run.machine.start_from(held)
        else:
            actuators.start_from(np.zeros(len(system.actuators)))
        try:
            if rate is None:
                run.run_continuous(timing.ends, output)
            else:
                run.run_sampled(timing.duration, float(rate), timing.every)
        except StoppedError as stop:
            event = stop.event
            where = f"{event.leg}: " if event.leg else ""
            return result(f"{event.kind} at t = {event.time:.6g} s: {where}{event.text}")
        except (SimulationError, StateError) as error:
            run.record_last()
            ended = no_answer(run.time, error) if isinstance(error, StateError) else error
            ended.result = result(str(ended))
            raise ended from error.__cause__
        except KeyboardInterrupt:
            if not run.time > 0:  # still compiling: there is nothing to keep
                raise
            run.record_last()
            text = f"interrupted at t = {run.time:.6g} s"
            warnings.warn(f"simulate: {text}; the result ends there", InterruptedWarning, stacklevel=2)
            return result(text)
    return result("duration reached")


# ----------------------------------------------------------------------------------------------------------------------
# A robot under a controller that follows a motion, with what the motion itself needs beside it.


class Stream(Protocol):
    """Who watches a simulation as it goes on, and may push the platform, see ``polypod.viewer.stream.Stream``."""

    @property
    def push(self) -> Any:
        """The wrench on the platform, (time, measurement) -> (6,)."""

    def begin(self, own: Controller | None) -> None:
        """A run starts, with the wrench of its motion."""

    def observe(self, sample: Sample) -> None:
        """A sample of the run is there."""


def simulate_tracking(
    model: Model,
    motion: MotionFile | Trajectory | Task | str | Path | None = None,
    controller: str | None = None,
    rate: float = 1000.0,
    mass: float = 1.0,
    delay: float = 0.0,
    saturation: float | str | None = None,
    friction: bool = True,
    compensation: Compensation = True,
    progress: bool | None = None,
    stream: Stream | None = None,
    base_known: bool = True,
    **options: Any,
) -> xr.Dataset:
    """Simulate a robot that follows a motion under a controller.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : MotionFile, Trajectory, Task, str or Path, optional
        Motion, as ``polypod.motion.make_task`` takes it. The wrench of a motion file acts on the platform, unknown to
        the controller. Default: the robot's own motion.
    controller : str, optional
        Name in ``polypod.control.CONTROLLERS``. Default: ``polypod.control.default_controller``.
    rate : float, optional
        Sampling rate of the controller [Hz].
    mass : float, optional
        Factor by which the controller misjudges all masses, 0.1 to 10.
    delay : float, optional
        Delay of the actuators [s].
    saturation : float or 'drives', optional
        Largest actuator force [N or N m]; ``drives`` takes the limits of the robot file. Default: no limit.
    friction : bool, optional
        Whether friction in the joints is included.
    compensation : bool or 'reference', optional
        Whether the controller compensates friction: at the measured speed, at that of the reference, which moves while
        a joint still sticks, or not.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.
    stream : Stream, optional
        Observer of the run, see ``polypod.viewer.stream``.
    base_known : bool, optional
        Whether a controller that computes torques knows how the base moves, as from an inertial sensor on it; without
        it, the controller takes the base to stand still. ``joint-pd`` never knows.
    **options
        Further keywords of ``polypod.simulate``, such as ``duration`` (default: that of the motion), ``pose``,
        ``wrench``, ``events`` or ``step``.

    Returns
    -------
    xarray.Dataset
        Result of ``polypod.simulate`` with ``needed_force``, the largest forces that the motion itself needs.

    Raises
    ------
    SimulationError
        If the robot cannot go on; carries the result so far.
    """
    rigid = model.rigid
    with with_motion_lines(motion if isinstance(motion, (str, Path)) else None):
        task = motion if isinstance(motion, Task) else make_task(model, motion, moving_base=True)
        check_wrench(model.robot, task.wrench)
    trajectory, wrench = task.trajectory, external_wrench(task)
    options = {name: value for name, value in options.items() if value is not None}
    if task.base is not None and "base" in options:
        raise InputError(f"base: the motion {task.name!r} has a base that moves already; leave base out", code="twice")
    base = options.pop("base", task.base_trajectory)
    if trajectory is None or (task.base is not None and base is None):
        raise InputError("motion: a motion that is known between its samples is needed: a file, a name or a trajectory")
    if not 0.1 <= mass <= 10.0:
        raise InputError(
            "mass: a factor of all masses that the controller assumes is needed, 0.1 to 10, such as 1.2; got "
            f"{mass:g}. For another platform set its platform.mass"
        )
    if delay >= trajectory.duration:
        raise InputError(
            f"delay: {delay:g} s is as long as the motion ({trajectory.duration:g} s); write {delay / 1e3:g} if "
            "milliseconds are meant"
        )
    assumed = model if mass == 1.0 else Model(scaled_masses(model.robot, mass, mass))
    stepped = options.get("machine") is not None and bool(np.any(options["machine"].encoder))
    law = controller or default_controller(model.robot.flexible or stepped)
    about = {"motion": task.name, "controller": law, "duration": trajectory.duration}
    about["wrench"] = "none" if wrench is None else "of the motion"
    about["compensation"] = "reference" if compensation == "reference" else "measured" if compensation else "none"
    if stepped and law in CONTROLLERS and not CONTROLLERS[law].encoders:
        raise InputError(
            f"machine: {law} measures the platform itself, which an encoder's step does not reach; use a controller "
            f"of encoders: {', '.join(name for name, kind in CONTROLLERS.items() if kind.encoders)}"
        )
    carrier = None
    if base is not None:
        carrier = make_carrier(model, base, min(trajectory.duration, options.get("duration", np.inf)))
        knows = base_known and CONTROLLERS[law].base if law in CONTROLLERS else False
        about["moving_base"] = "known" if knows else "unknown"

    def whole(result: xr.Dataset) -> xr.Dataset:
        until = float(result.time[-1]) if len(result.time) else 0.0
        return annotate(result, rigid, needed_force(rigid, trajectory, wrench, until, friction, carrier), about)

    if stream is not None:
        stream.begin(wrench)
    steps = controller_of(law, assumed, trajectory, rate, compensation, base if base_known else None)
    run: dict[str, Any] = {
        "base": base,
        "duration": trajectory.duration,
        "reference": getattr(steps, "reference", trajectory),
        "wrench": wrench if stream is None else stream.push,
        "observe": None if stream is None else stream.observe,
    }
    known: dict[str, Any] = {
        "rate": rate,
        "delay": delay,
        "saturation": saturation,
        "friction": friction,
        "progress": progress,
    }
    try:
        result = simulate(model, steps, **{**run, **options}, **known)
    except SimulationError as error:
        if error.result is not None:
            error.result = whole(error.result)
        raise
    return whole(result)


def _axes(value: Any) -> int:
    """How many axes numbers have; 0 of what is none."""
    if value is None or callable(value) or isinstance(value, (Signal, ControllerWithMemory)):
        return 0
    try:
        return np.ndim(value.as_matrix() if hasattr(value, "as_matrix") else value)
    except ValueError:  # rows of different lengths
        return 0


def check_sampling(force: Signal, wrench: Signal, rate: float | None, delay: float) -> None:
    """Raise for what needs samples and has none."""
    if wrench.has_memory:
        raise InputError("wrench: must be a function (time, measurement), got a controller with memory")
    if rate is None and force.has_memory:
        raise InputError("rate: required by a controller with memory (samples per second)")
    if rate is None and delay:
        raise InputError(
            f"delay: only sampled forces can be delayed; give a rate, got a delay of {delay} s without one"
        )


def make_carrier(model: Model, base: Trajectory, duration: float) -> BaseTrajectory:
    """The motion of a base, checked."""
    if not isinstance(base, Trajectory):
        raise InputError(f"base: a polypod.motion.Trajectory of the base in space is needed, got {type(base).__name__}")
    if model.robot.flexible:
        raise InputError(
            f"base: {model.robot.name!r} has a flexible platform, whose energies are those on a base that stands "
            "still; simulate model.rigid",
            code="flexible",
        )
    if base.duration < duration * (1 - 1e-9):
        raise InputError(
            f"base: its motion ends after {base.duration:.6g} s, before the simulation does ({duration:.6g} s); make "
            "it longer, or shorten the duration",
            code="too_short",
        )
    return BaseTrajectory(base, model.robot)


def _start(
    model: Any,
    stepper: Stepper,
    pose: PoseLike | None,
    twist: ArrayLike | None,
    elastic: ArrayLike | None,
    elastic_rate: ArrayLike | None,
    reference: Reference | None,
    internal: ArrayLike | None,
) -> Snapshot:
    """The start state, checked: a pose the robot can take, motions it can make, legs that close."""
    system = stepper.system
    first = None if reference is None else reference.at(0.0)
    home: Array = model.robot.home.matrix if first is None else first.pose
    matrix = finite_numbers("pose", home if pose is None else pose_matrix(pose), (4, 4))
    matrix = exact_poses(matrix[None], "pose", False)[0]
    k = len(model.internal)
    if not k and internal is not None:
        raise InputError(
            f"internal: {system.robot.name!r} has no internal coordinates; leave it out", code="no_internal"
        )
    given = (np.zeros(6 + k) if first is None else first.twist) if twist is None else twist
    velocity = finite_numbers("twist", given, (6 + k,))
    own = (np.zeros(k) if first is None else first.internal) if internal is None else internal
    inner = finite_numbers("internal", own, (k,))
    place = {name: value[None] for name, value in system.place(inner).items()}
    if not system.dof.full:
        matrix = model.generalized_coordinates.exact_poses(matrix[None], "pose", False, *place.values())[0]
        model.generalized_coordinates.check_motion({"pose": matrix[None], "twist": velocity[None], **place}, False)
    n = system.modes
    if not n and (elastic is not None or elastic_rate is not None):
        raise InputError(
            f"elastic: {system.robot.name!r} has a rigid platform without elastic coordinates; leave it out",
            code="rigid",
        )
    try:
        at_rest = system.static_equilibrium(matrix)[0] if n and elastic is None else np.zeros(n)
        shape = finite_numbers("elastic", at_rest if elastic is None else elastic, (n,))
        shape_rate = finite_numbers("elastic_rate", np.zeros(n) if elastic_rate is None else elastic_rate, (n,))
        return stepper.snapshot(*numeric_chart(system.layout.state(matrix, velocity, shape, shape_rate, inner)))
    except StateError as error:
        raise InputError(f"pose: the robot cannot start there: {error}", code=error.code) from error


# ----------------------------------------------------------------------------------------------------------------------
# The loop of a simulation: controller, actuators, integrator, events and record, one sample or step after another.


class StoppedError(Exception):
    """An event that ends the simulation."""

    def __init__(self, event: Event) -> None:
        self.event = event
        super().__init__(event.text)


class BrakeSwitching:
    """Brakes of a simulation under way: which are due at a time, and who watches the robot from then on."""

    def __init__(self, schedule: BrakeSchedule, watches: Callable[[System, Snapshot], list[Watch]]) -> None:
        self.schedule, self.watches = schedule, watches
        self._left = list(schedule.switches)

    def due(self, time: float) -> list[Switch]:
        """What is to be switched up to a time; each once."""
        slack = 1e-12 * max(1.0, time)
        found = [one for one in self._left if one.time <= time + slack]
        self._left = self._left[len(found) :]
        return found

    def cut(self, pieces: Sequence[tuple[float, float, Array]]) -> Iterator[tuple[float, float, Array]]:
        """Pieces of time, cut where a brake is switched."""
        for start, end, applied in pieces:
            times = [start, *(time for time in self.schedule.times if start < time < end), end]
            for low, high in pairwise(times):
                yield low, high, applied


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
    base: BaseTrajectory | None = None
    brakes: BrakeSwitching | None = None
    machine: MachineRun | None = None

    def __post_init__(self) -> None:
        self._continuous = False
        self._commanded = self._force_acting = np.zeros(len(self.stepper.system.actuators))
        self._wrench_acting = np.zeros(6)
        self.detector.acts(self._acting, self.base)

    def _acting(self, time: float, snapshot: Snapshot) -> tuple[Array, Array]:
        """Actuator forces and external wrench that act at a time and state."""
        if self.wrench.constant is not None and not self._continuous:
            return self._force_acting, self.wrench.constant
        seen = snapshot.measurement()
        force = self._force_acting
        if self._continuous:
            force = self.actuators.saturated(self.force.at(time, seen), seen.qdot)
        return force, self.wrench.at(time, seen)

    def switch_brakes(self) -> None:
        """Engage and release the brakes whose time has come: the same state goes on with another friction."""
        due = [] if self.brakes is None else self.brakes.due(self.time)
        if self.brakes is None or not due:
            return
        before = self.stepper.system
        system = System(self.brakes.schedule.model_after(self.time), before.friction, before.moving_base)
        self.stepper = Stepper(system)
        self.snapshot = self.stepper.snapshot(*numeric_chart(self.snapshot.row[: system.layout.state_size]))
        self.detector = EventDetector(self.brakes.watches(system, self.snapshot), self.snapshot, system.model.size)
        self.detector.acts(self._acting, self.base)
        for one in due:
            self.record.events.append(Event(self.time, "brake", one.joint.partition(".")[0], one.text))

    def run_sampled(self, duration: float, rate: float, every: int) -> None:
        """The controller is asked ``rate`` times a second; its answer is held until the next."""
        count = int(np.ceil(duration * rate * (1 - 1e-12)))
        force, wrench = self.force.constant, self.wrench.constant
        even = self.machine is None
        instants = None if self.machine is None else self.machine.instants(count, duration)
        for k in range(count):
            start, end = k / rate, min((k + 1) / rate, duration)
            if instants is not None:
                start, end = float(instants[k]), float(instants[k + 1])
            if force is not None and wrench is not None:  # nobody measures
                self._commanded, self._wrench_acting = force, wrench
            else:
                seen = self.snapshot.measurement()
                shown = seen if self.machine is None else self.machine.measured(seen)
                told = start if even else k / rate  # a controller takes its samples to be even
                self._commanded, self._wrench_acting = self.force.at(told, shown), self.wrench.at(start, seen)
            self.actuators.command(start, self._commanded, self.snapshot["qdot"])
            pieces = self.actuators.pieces(start, end)
            if self.machine is not None:
                pieces = list(self.machine.applied(pieces))
            self._force_acting = self._rippled(pieces[0][2])
            if k % every == 0:
                self.record.add(start, self.snapshot, self._commanded, self._force_acting, self._wrench_acting)
            for a, b, applied in pieces if self.brakes is None else self.brakes.cut(pieces):
                applied = self._rippled(applied)
                self._force_acting = applied
                self.switch_brakes()
                inputs = AppliedForces(ConstantSignal(applied), self.wrench, base=self.base)
                for step in self.integrator.steps(self.stepper, inputs, a, b, self.snapshot, whole=True):
                    self._accept(step, None)
        self._record_end()

    def _rippled(self, force: Array) -> Array:
        """A force with the ripple of its drive where it is."""
        return force if self.machine is None else force + self.machine.ripples(self.snapshot["q"])

    def run_continuous(self, ends: list[float], output: float | None) -> None:
        """Force and wrench act as functions of time and state, from each of ``ends`` to the next."""
        self._continuous = True
        saturated = Saturated(self.force, self.actuators)
        self._record_row(self.time, self.snapshot)
        for end in ends:
            # what jumps at the ends of a span must not be seen from within
            slack = 1e-12 * max(1.0, end)
            self.switch_brakes()
            inputs = AppliedForces(saturated, self.wrench, (self.time + slack, end - slack), self.base)
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
