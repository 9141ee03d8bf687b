"""A simulation that is watched and pushed in a browser while it runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..model import Model
from ..model.arguments import check_wrench
from ..motion import MotionFile, Trajectory, make_task, with_motion_lines
from ..simulation import InterruptedWarning, SimulationError, simulate_tracking
from .document import streamed_page
from .stream import Restart, Stream, serving


def serve_simulation(
    model: Model,
    motion: MotionFile | Trajectory | str | Path | None = None,
    *,
    port: int = 0,
    speed: float = 1.0,
    rate: float = 1000.0,
    friction: bool = True,
    progress: Callable[[str], None] = lambda step: None,
    started: Callable[[str], None] = lambda address: None,
    **options: Any,
) -> None:
    """Simulate a robot that follows a motion and serve a page that shows it, until Ctrl-C.

    Parameters
    ----------
    model : the robot
    motion : as for ``polypod.simulation.simulate_tracking``, to which ``options`` go too
    port : port of 127.0.0.1; any free one if 0
    speed : playback speed relative to real time
    rate : sampling rate of the controller [Hz]
    friction : whether the robot has friction
    progress : called with the name of each step before it begins
    started : called with the page's address once the first run is under way
    """
    with with_motion_lines(motion):
        task = make_task(model, motion)
    trajectory = task.trajectory
    if trajectory is None:
        raise InputError("motion: a motion that is known between its samples is needed: a file, a name or a trajectory")
    stream = Stream(
        trajectory.duration,
        rate,
        lambda times: trajectory.at(times).pose[:, :3, 3],
        lambda push: check_wrench(model.robot, push),
        lambda: started(address),
        speed,
    )
    progress("writing the page")
    page = streamed_page(model, task.name, trajectory.duration, friction, speed)
    with serving(page, stream, port) as address, warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        while True:
            progress("simulating")
            try:
                result = simulate_tracking(
                    model, motion, rate=rate, friction=friction, progress=False, stream=stream, **options
                )
                ended = str(result.attrs["ended"])
            except Restart:
                continue
            except SimulationError as error:
                warnings.warn(str(error), stacklevel=2)
                ended = str(error)
            if ended.startswith("interrupted"):
                raise KeyboardInterrupt
            stream.end(f"Ended: {ended}.")
            stream.wait()
