"""``polypod view --live``: a simulation that is watched and pushed in a browser while it runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .options import check_rate
from .overrides import with_overrides
from .run import resolve
from .simulate import simulate
from .terminal import Progress, note

RATE = 1000.0


def serve(
    robot: str | None = None,
    motion: str | None = None,
    port: int = 0,
    speed: float = 1.0,
    rate: float | None = None,
    friction: bool = True,
    settings: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = lambda step: None,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Simulate as ``polypod.cli.simulate.simulate`` with its ``options`` and show it, until Ctrl-C.

    ``started`` is called with the page's address once the first run is under way.
    """
    from ..model import Model
    from ..model.checks import check_wrench
    from ..motion import make_task, with_motion_lines
    from ..simulation import InterruptedWarning, SimulationError
    from ..view.document import streamed_page
    from ..view.stream import Restart, Stream, serving

    check_rate(rate)
    samples = RATE if rate is None else rate
    name, wanted = resolve(robot, motion)
    progress("deriving the model")
    model = Model(with_overrides(name, settings))
    with with_motion_lines(wanted):
        task = make_task(model, wanted)
    trajectory = task.trajectory
    assert trajectory is not None  # a motion that is named or in a file has one
    stream = Stream(
        trajectory.duration,
        samples,
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
                result = simulate(
                    name, wanted, rate=samples, friction=friction, settings=settings, progress=False, stream=stream,
                    **(options or {}),
                )  # fmt: skip
                ended = str(result.attrs["ended"])
            except Restart:
                continue
            except SimulationError as error:
                note(str(error))
                ended = str(error)
            if ended.startswith("interrupted"):
                raise KeyboardInterrupt
            stream.end(f"Ended: {ended}.")
            stream.wait()
