"""``polypod simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError, PolypodError
from .frame import Answer, Styled, command
from .options import (
    Controller,
    Delay,
    MassError,
    MotionName,
    Replace,
    RobotOrDefault,
    Saturation,
    Settings,
    check_rate,
    load_model,
    measured,
    parse_saturation,
)
from .terminal import INTERRUPTED, working

_COMPENSATION: dict[str, Any] = {"measured": True, "reference": "reference", "none": False}
_KNOWN = {"known": "that the controller knows", "unknown": "that the controller does not know"}


@command("simulate", "simulate pedrammehr pedrammehr-path-3 --mass 1.2 --out heavy")
def simulate(
    robot: RobotOrDefault = None,
    motion: MotionName = None,
    controller: Controller = None,
    rate: Annotated[float, typer.Option(help="Sampling rate of the controller.", **measured("Hz"))] = 1000.0,
    mass: MassError = 1.0,
    delay: Delay = 0.0,
    saturation: Saturation = None,
    friction: Annotated[bool, typer.Option(help="Include friction in the robot.")] = True,
    compensation: Annotated[
        str,
        typer.Option(help="Friction in the controller: at the measured speed, at that of the reference, or none."),
    ] = "measured",
    encoder: Annotated[float, typer.Option(help="Step of the encoders [m or rad].", **measured("m", "rad"))] = 0.0,
    lag: Annotated[float, typer.Option(help="Time constant of drives and current loops.", **measured("s"))] = 0.0,
    jitter: Annotated[float, typer.Option(help="Standard deviation of sampling instants.", **measured("s"))] = 0.0,
    ripple: Annotated[
        float, typer.Option(help="Amplitude of the force ripple of the drives.", **measured("N", "N m"))
    ] = 0.0,
    ripple_pitch: Annotated[
        float | None, typer.Option(help="Way in which the ripple repeats.", **measured("m", "rad"))
    ] = None,
    base_known: Annotated[
        bool,
        typer.Option("--base-known/--base-unknown", help="Tell the controller how a base that moves does so."),
    ] = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results and figures.")] = None,
    animation: Annotated[bool, typer.Option("--animation", help="Also write an animation, motion.gif.")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="Write the animation as motion.mp4 (needs ffmpeg).")] = False,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..motion.resolve import robot_and_motion
    from ..output.folder import check_target, provenance
    from ..results.simulated import (
        FILES,
        event_notes,
        extent,
        tracking_summary,
        tracking_tables,
        tracking_text,
        write_simulation,
    )
    from ..simulation import Machine, SimulationError, simulate_tracking

    check_rate(rate)
    machine = {"encoder": encoder, "lag": lag, "jitter": jitter, "ripple": ripple, "ripple_pitch": ripple_pitch}
    if compensation not in _COMPENSATION:
        raise InputError(f"--compensation: must be {', '.join(_COMPENSATION)}, got {compensation!r}")
    inputs = {
        "robot": provenance(robot), "motion": provenance(motion), "controller": controller, "rate": rate, "mass": mass,
        "delay": delay, "saturation": saturation, "friction": friction, "compensation": compensation,
        **({} if base_known else {"base_known": False}),
        **{name: value for name, value in machine.items() if value},
        **({"set": list(settings)} if settings else {}),
    }  # fmt: skip
    film = "mp4" if mp4 else "gif" if animation else None
    if film is not None and out is None:
        raise InputError(f"--{'mp4' if mp4 else 'animation'}: requires --out FOLDER")
    if out is not None:
        check_target(out, force, FILES, inputs)
    stopped: PolypodError | None = None
    most = parse_saturation(saturation)
    name, wanted = robot_and_motion(robot, motion)
    try:
        result = simulate_tracking(
            load_model(name, settings),
            wanted,
            controller,
            rate,
            mass,  # type: ignore[arg-type]
            delay,  # type: ignore[arg-type]
            most,
            friction,
            _COMPENSATION[compensation],
            base_known=base_known,
            machine=Machine(**machine) if any(machine.values()) else None,  # type: ignore[arg-type]
        )
    except SimulationError as error:
        if error.result is None:
            raise
        stopped, result = error, error.result
    if out is not None:
        with working("writing") as progress:
            write_simulation(result, out, force, film, progress, inputs)
    facts = tracking_summary(result, None if isinstance(most, str) else most)
    how = f": {facts['controller']} at {facts['rate']:g} Hz, {'with' if facts['friction'] else 'without'} friction"
    how += ", with the motion's wrench, which the controller does not know" if facts["wrench"] else ""
    how += f", on a moving base {_KNOWN[facts['moving_base']]}" if facts.get("moving_base") else ""
    ended = Styled(extent(facts).capitalize(), f": {facts['ended']}", "bold yellow")
    interrupted = facts["ended"].startswith("interrupted")
    if stopped is None and not facts["completed"] and not interrupted:
        stopped = PolypodError(f"the simulation {extent(facts)}: {facts['ended']}")
    return Answer(
        [
            Styled(facts["robot"], f" on {facts['motion']}{how}"),
            f"{extent(facts)}, the whole motion".capitalize() if facts["completed"] else ended,
            *tracking_tables(facts),
            tracking_text(facts),
            facts["limits"],
            f"Results: {out}" if out is not None else "Nothing was written; --out FOLDER keeps results and figures.",
        ],
        facts,
        [*event_notes(facts), *facts["notes"]],
        failure="" if stopped is None or interrupted else str(stopped),
        code=INTERRUPTED if interrupted else 0,
    )
