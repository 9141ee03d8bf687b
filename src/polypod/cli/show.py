"""``polypod show``: one robot's parameters, sources, mobility and picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..tables import table
from .options import Json, RobotName
from .overrides import Settings, with_overrides
from .parameters import mobility, parameters
from .pictures import write_picture
from .show_format import euler, owner_and_name, quantity, source_text
from .terminal import out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    from ..description import Robot
    from ..model import Model
    from ..model.actuators import ActuatorInfo

EXAMPLE = "Example: polypod show kim-ryu --picture kim-ryu.png"


def describe(robot: Robot) -> dict[str, Any]:
    """What a robot is, as data: mobility, home, parameters with sources."""
    from ..model import Model

    model = Model(robot)
    home = robot.home.matrix
    conditioning = model.conditioning(home)
    listed = parameters(robot)
    return {
        "name": robot.name,
        "title": robot.title,
        "reference": robot.reference,
        "legs": [{"name": leg.name, "kind": leg.kind} for leg in robot.legs],
        "actuators": [
            {"name": a.name, "leg": a.leg, "joint": a.joint, "unit": a.unit, **_drive(a)} for a in model.actuators
        ],
        "mobility": mobility(robot),
        "platform": _platform(model),
        "moving_mass_kg": _moving_mass(model),
        "home": {
            "coordinates": model.inverse_kinematics(home),
            "condition_number": float(conditioning.condition),
            "distance_to_singularity": float(conditioning.distance),
        },
        "euler": {
            "convention": robot.euler,
            "meaning": euler(robot.euler),
            "given": "euler" in robot.model_fields_set,
        },
        "unphysical": robot.unphysical,
        "parameters": [p._asdict() for p in listed],
        "parameters_default": sum(not p.given for p in listed),
        "parameters_assumed": sum(p.source.startswith("assumed") for p in listed),
        "parameters_without_source": sum(not p.source for p in listed),
    }


def _drive(actuator: ActuatorInfo) -> dict[str, Any]:
    """What the file says of an actuator's drive."""
    return {name: value for name, value in actuator.drive.model_dump().items() if value is not None}


def _platform(model: Model) -> dict[str, Any]:
    """Kind and mass of the platform; modes of a flexible one."""
    robot = model.robot
    platform: dict[str, Any] = {"kind": "flexible" if robot.flexible else "rigid", "mass_kg": robot.platform.mass}
    if robot.flexible:
        modes = model.modes
        platform |= {
            "modes_from": modes.title,
            "frequencies_Hz": (modes.frequencies / (2 * np.pi)).tolist(),
            "generalized_stiffness": modes.stiffness.tolist(),
            "damping_ratio": None if modes.damping_ratio is None else modes.damping_ratio.tolist(),
        }
    return platform


def _moving_mass(model: Model) -> float:
    """Mass of all moving bodies [kg]."""
    import casadi as ca

    mechanism = model.kernels.mechanism
    bodies = (body.moments.mass for leg in mechanism.placed for body in leg.placement.bodies)
    loads = sum(body.mass for body in model.robot.payloads.values())
    return float(model.robot.platform.mass + loads + mechanism.numbers.evaluate(sum(bodies, ca.SX(0)))[0, 0])


def picture(robot: Robot, path: Path, force: bool = False) -> None:
    """Write a picture of the robot at home (PNG, SVG or PDF by the name's ending).

    An existing file is replaced with ``force``, or if it is a picture that polypod wrote.
    """
    from ..results.figures import robot_picture

    write_picture(path, robot_picture, robot, force=force)


@report_errors
def command(
    robot: RobotName,
    picture_file: Annotated[
        Path | None,
        typer.Option("--picture", "-p", help="Where the picture goes; polypod-results/ROBOT.png if not given."),
    ] = None,
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Make the 3-D picture.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that polypod did not write.")] = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Parameters with their sources, mobility and a 3-D picture of a robot."""
    from ..description import Robot
    from ..files import load
    from ..files.robot_files import with_file_lines
    from ..output.safe_names import file_name

    with working("showing") as progress:
        progress("compiling the robot")
        meant = with_overrides(robot, settings)
        described = meant if isinstance(meant, Robot) else load(meant)
        with with_file_lines(meant):
            data = describe(described)
        target = picture_file or Path("polypod-results") / f"{file_name(described.name)}.png"
        if draw:
            progress("drawing")
            picture(described, target, force)
    if json_:
        show_json(data | {"picture": str(target) if draw else None})
        return
    _print(data)
    if draw:
        out().print(f"\nPicture: {escape(str(target))}")


def _coordinates(data: dict[str, Any]) -> str:
    """Coordinates at home with their unit, once if all have the same."""
    texts, units = [f"{q:.4f}" for q in data["home"]["coordinates"]], [a["unit"] for a in data["actuators"]]
    if len(set(units)) == 1:
        return f"{' '.join(texts)} {units[0]}"
    return ", ".join(map(" ".join, zip(texts, units, strict=True)))


def _print(data: dict[str, Any]) -> None:
    console = out()
    count, home, angles = data["mobility"], data["home"], data["euler"]
    kinds: dict[str, list[str]] = {}
    for leg in data["legs"]:
        kinds.setdefault(leg["kind"], []).append(leg["name"])
    legs = "; ".join(f"{', '.join(names)} ({kind})" for kind, names in kinds.items())
    console.print(f"[bold]{escape(data['name'])}[/]: {escape(data['title'])}")
    if data["reference"]:
        console.print(escape(data["reference"]), style="dim")
    console.print(f"\nLegs: {escape(legs)}. Moving mass {data['moving_mass_kg']:.5g} kg.")
    console.print(
        f"Mobility: {len(count['dof'])} ({escape(', '.join(count['dof']))}); {count['moving_bodies']} moving "
        f"bodies, {count['joints']} joints with {count['joint_dof']} degrees of freedom, Gruebler-Kutzbach count "
        f"{count['gruebler_kutzbach']}."
    )
    console.print(
        f"At home: coordinates {_coordinates(data)}, condition number "
        f"{home['condition_number']:.4g}, distance to singularity {home['distance_to_singularity']:.4g} mm/mm."
    )
    if data["platform"]["kind"] == "flexible":
        listed = " ".join(f"{f:.4g}" for f in data["platform"]["frequencies_Hz"])
        console.print(f"Flexible platform of {data['platform']['mass_kg']:.5g} kg; its free modes: {listed} Hz.")
    default = "" if angles["given"] else " (default)"
    console.print(f"Euler angles {angles['convention']}{default}: {angles['meaning']}.\n")
    names = [leg["name"] for leg in data["legs"]], count["dof"]
    rows = []
    for p in data["parameters"]:
        value, source = quantity(p["value"], p["unit"], p["is_range"]), source_text(p["source"], p["given"])
        rows.append((*owner_and_name(p["path"], *names), value, source))
    show_table(table("Parameters", [("of", ""), ("parameter", ""), ("value", ""), ("source", "")], rows))
    console.print(
        f"\n{len(rows)} parameters, {data['parameters_default']} of them defaults that the file does not give; "
        f"{data['parameters_assumed']} assumed, {data['parameters_without_source']} without a source."
    )
