"""A robot under a controller that follows a motion, with what the motion itself needs beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..control import controller as controller_of
from ..control import default_controller, scaled_masses
from ..control.contract import Controller
from ..errors import InputError
from ..model import Model
from ..model.arguments import check_wrench
from ..motion import MotionFile, Task, Trajectory, make_task, with_motion_lines
from .errors import SimulationError
from .result import Sample, annotate, external_wrench, needed_force
from .simulate import simulate

if TYPE_CHECKING:
    import xarray as xr


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
    compensation: bool = True,
    progress: bool | None = None,
    stream: Stream | None = None,
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
    compensation : bool, optional
        Whether the controller compensates friction.
    progress : bool, optional
        Whether to show a progress bar. Default: on a terminal only.
    stream : Stream, optional
        Observer of the run, see ``polypod.viewer.stream``.

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
        task = motion if isinstance(motion, Task) else make_task(model, motion)
        check_wrench(model.robot, task.wrench)
    trajectory, wrench = task.trajectory, external_wrench(task)
    if trajectory is None:
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
    law = controller or default_controller(model.robot.flexible)
    about = {"motion": task.name, "controller": law, "duration": trajectory.duration}
    about["wrench"] = "none" if wrench is None else "of the motion"

    def whole(result: xr.Dataset) -> xr.Dataset:
        until = float(result.time[-1]) if len(result.time) else 0.0
        return annotate(result, rigid, needed_force(rigid, trajectory, wrench, until, friction), about)

    if stream is not None:
        stream.begin(wrench)
    steps = controller_of(law, assumed, trajectory, rate, compensation)
    try:
        result = simulate(
            model,
            steps,
            duration=trajectory.duration,
            reference=getattr(steps, "reference", trajectory),
            wrench=wrench if stream is None else stream.push,
            rate=rate,
            delay=delay,
            saturation=saturation,
            friction=friction,
            progress=progress,
            observe=None if stream is None else stream.observe,
        )
    except SimulationError as error:
        if error.result is not None:
            error.result = whole(error.result)
        raise
    return whole(result)
