"""Pages made from the same data as the library: references of the files from their schema, commands from their help,
errata from the papers' studies. ``python docs/generated.py`` writes them; a test compares them."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from polypod import cli, papers
from polypod.control import CONTROLLERS
from polypod.couplings import Coupling
from polypod.description import (
    Bearing,
    Body,
    ConeLimit,
    DegreeOfFreedom,
    Drive,
    FlexiblePlatform,
    Friction,
    LegData,
    Payload,
    PlateData,
    Pose,
    Robot,
)
from polypod.description.flexible import KINDS as PLATFORM_KINDS
from polypod.description.quantities import Data, unit_of
from polypod.description.shapes import BaseShape, Capsule, Floor, Plate, Sphere
from polypod.description.units import UNITS as ALL_UNITS
from polypod.errors import UnphysicalWarning
from polypod.exchange import READERS
from polypod.export import EXPORTS, ROBOT_EXPORTS
from polypod.export.fmu import KINDS as FMU_KINDS
from polypod.export.header import ABOUT
from polypod.file_kinds.json_schema import schema
from polypod.files import library, load
from polypod.files.robot_files import expanded_document
from polypod.files.short_forms.forms import Copies, Group, Mirror, Pair
from polypod.files.templates import template, template_part
from polypod.files.templates.sizes import DEFAULTS
from polypod.legs.chain import ChainJoint, JointCone, JointFrictions, JointRanges
from polypod.motion import AROUND_HOME, PUBLISHED, MotionFile, PathKind, TimeLaw, TrajectoryKind, Waypoint, Wrench
from polypod.motion.contract import INTERVALS
from polypod.motion.fields import COLUMN_UNITS
from polypod.motion.sampling import MAX_SAMPLES
from polypod.papers import MODULES
from polypod.papers.shared.report import shown
from polypod.viewer.extras import EXTRAS

SINE = """name: heave
trajectory:
  kind: euler
  relative_to: home
  path: {kind: sine, amplitude: [0, 0, 50 mm, 0, 5 deg, 0], frequency: 1 Hz, duration: 10}"""
PICK = """name: pick
rate: 500
trajectory:
  kind: coordinates
  path:
    kind: rounded
    points: [[0, -150 mm, 0], [0, -150 mm, 25 mm], [0, 150 mm, 25 mm], [0, 150 mm, 0]]
    speed: 3 m/s
    acceleration: 40 m/s^2
    jerk: 4000 m/s^3
    corner: 10 mm"""
MILL = """name: mill
trajectory:
  kind: euler
  relative_to: home
  path:
    kind: gcode
    file: part.nc
    speed: 0.1 m/s
    acceleration: 1 m/s^2
    jerk: 50 m/s^3
    corner: 0.05 mm
    angles: [0, 0, 0]"""
CIRCLE = """name: circle
rate: 200 # samples per second
trajectory:
  kind: euler
  relative_to: home # the circle's centre is relative to the robot's home pose
  path:
    kind: stack
    parts:
      # position: 3 coordinates; one turn at 40 rpm takes 60/40 s
      - {kind: circle, centre: [0.0, 0.0, 0.0], radius: 0.05, normal: [0, 0, 1], rpm: 40, turns: 1}
      - {kind: rest, point: [0.0, 0.0, 0.0], duration: 1.5} # 3 constant angles"""
"""A motion file of a circle with a fixed orientation."""
SHORT = """legs:
  - kind: chain # a leg of a Delta robot, three times
    copies: {count: 3, about: [0, 0, 1]}
    bodies:
      arm: {mass: 0.4, inertia: {cylinder: {radius: 15 mm}}}
      rod: {mass: 0.1, inertia: rod, pair: {offset: [0, 50 mm, 0]}} # two rods, rod1 and rod2
    joints:
      - {name: motor, kind: revolute, between: [base, arm], at: [0.12, 0, 0], axis: [0, 1, 0], actuated: true}
      - {name: elbow, kind: spherical, between: [arm, rod], at: [0.32, 0, 0]} # elbow1 and elbow2
      - {name: wrist, kind: spherical, between: [rod, platform], at: [0.05, 0, -0.35]}"""
"""Short forms in a leg."""
_PLAIN = {"number": "number", "string": "text", "integer": "integer", "boolean": "true or false", "null": "nothing"}

_SECTIONS = {
    "Body": "[body](#body)",
    "Payload": "[payload](#payload)",
    "Sphere": "[sphere](#sphere)",
    "Capsule": "[capsule](#capsule)",
    "Plate": "[rounded plate](#rounded-plate)",
    "BaseShape": "[base](#base)",
    "Floor": "[floor](#floor)",
    "Bearing": "[bearing](#bearing)",
    "FlexiblePlatform": "[flexible platform](#flexible-platform)",
    "PlateData": "[plate](#plate)",
    "Pose": "[pose](#pose)",
    "DegreeOfFreedom": "[degree of freedom](#degree-of-freedom)",
    "Friction": "[friction](#friction)",
    "ConeLimit": "[cone limit](#cone-limit)",
    "ChainJoint": "[joint of a chain](#joint-of-a-chain)",
    "JointCone": "[joint cone](#joint-cone)",
    "JointFrictions": "[joint frictions](#joint-frictions)",
    "JointRanges": "[joint ranges](#joint-ranges)",
    "LegData": "[leg](#legs)",
    "Coupling": "[coupling](#couplings)",
    "trajectory": "[trajectory](#trajectories)",
    "path": "[path](#paths)",
    "wrench": "[wrench](#wrenches), or six numbers",
    "time law": "[time law](#time-laws), or its kind",
    "Waypoint": "[waypoint](#waypoint)",
}
"""What readers call the classes of the schema, and where they stand."""


def robot_files() -> str:
    """Reference of robot files."""
    kinds = [section(f"Leg kind {name}", kind, 3, name) for name, kind in LegData.registry.items() if is_ours(kind)]
    return "\n".join(
        [
            "# Robot files\n",
            "A robot file is YAML 1.2, in SI units and radians; a value may also have a unit, such as "
            f"`60 mm`, `15 deg` or `2 kg` (units: {', '.join(f'`{unit}`' for unit in ALL_UNITS)}). "
            "Fields common to all legs go to `leg_defaults`; each leg may override them. `polypod check FILE` lists "
            "every error with its line number. This page is generated from the schema that validates the files.\n",
            "## A file to start from\n",
            "`polypod new my-hexapod` writes:\n",
            "```yaml",
            template("robot", "my-hexapod"),
            "```\n",
            "## Fields\n",
            section("Robot", Robot, 3),
            section("Body", Body, 3),
            section("Payload", Payload, 3),
            section("Sphere", Sphere, 3, "sphere"),
            section("Capsule", Capsule, 3, "capsule"),
            section("Rounded plate", Plate, 3, "plate"),
            section("Base", BaseShape, 3),
            section("Floor", Floor, 3),
            section("Flexible platform", FlexiblePlatform, 3, "flexible"),
            "`polypod new my-hexapod --flexible` writes one:\n",
            "```yaml",
            template_part("platform-flexible"),
            "```\n",
            section("Plate", PlateData, 3),
            section("Pose", Pose, 3),
            section("Degree of freedom", DegreeOfFreedom, 3),
            section("Friction", Friction, 3),
            section("Cone limit", ConeLimit, 3),
            section("Drive", Drive, 3),
            "Legs of the short kinds and actuated joints of chains have these fields too. [Limits and "
            "verdicts](limits.md) describes how they are used.\n",
            section("Bearing", Bearing, 3),
            section("Joint of a chain", ChainJoint, 3),
            section("Joint cone", JointCone, 3),
            section("Joint ranges", JointRanges, 3),
            section("Joint frictions", JointFrictions, 3),
            "## Legs\n",
            *kinds,
            "## Couplings\n",
            "`couplings` of a robot name joints as `LEG.JOINT`, those of a leg of kind chain as `JOINT`; a joint "
            "of two displacements with `.rotation`, `.translation`, `.first` or `.second`. [Gears, belts and "
            "screws](couplings.md) describes how they are used.\n",
            *[
                section(f"Coupling {name}", kind, 3, name)
                for name, kind in sorted(Coupling.registry.items())
                if is_ours(kind)
            ],
            "## Short forms\n",
            "Short forms are expanded when a file is read; `polypod.save` writes robots without them.\n",
            "```yaml",
            SHORT,
            "```\n",
            section("Group of `groups`", Group, 3),
            "`bodies`, `joints` and `groups` at robot level belong to all legs, see [machines of several "
            "parts](machines.md).\n",
            section("`copies` of a leg or group", Copies, 3),
            section("`mirror` of a leg of kind chain", Mirror, 3),
            section("`pair` of a body of a chain", Pair, 3),
            "### `inertia` of a body of a chain\n",
            "`rod` is a uniform slender rod between the body's two joints, `{cylinder: {radius: 0.02}}` a solid "
            "cylinder, `{revolution: {along: 1.0e-4, across: 0.02}}` any body of revolution with these moments of "
            "inertia [kg m^2] about its centre of mass. The default of `com` is the midpoint of the two joints.\n",
            "### Directions of a joint of a chain\n",
            "`{to: JOINT}` is the direction at home from this joint to another joint of the leg, for `axis`, `axes` "
            "and the directions of a `cone`. `{across: JOINT}`, as the second of a universal joint's `axes`, is "
            "perpendicular to the first and to the direction to that joint.\n",
        ]
    )


def motion_files() -> str:
    """Reference of motion files."""
    return "\n".join(
        [
            "# Motion files\n",
            "A motion file defines the motion of the platform, the sampling rate and the external wrench. "
            "`polypod run ROBOT MOTION` computes forces along it, `polypod check MOTION --robot ROBOT` reports whether "
            "the robot can follow it.\n",
            "## A file to start from\n",
            "`polypod new lift --motion` writes:\n",
            "```yaml",
            template("motion", "lift"),
            "```\n",
            "## A circle\n",
            "Paths of coordinates (a circle, a line, a spline) are parts of a trajectory. With `euler`, a `stack` "
            "combines a position and three angles to six coordinates; both must have the same duration. Here the "
            "angles are constant:\n",
            "```yaml",
            CIRCLE,
            "```\n",
            "To rotate the platform as well, replace the rest by another path of three angles.\n",
            "## A sine\n",
            "Heave of 50 mm and pitch of 5 degrees at 1 Hz about home, for ten periods:\n",
            "```yaml",
            SINE,
            "```\n",
            "## Rounded corners, and programs of machine tools\n",
            "A path `rounded` goes along straight lines without a stop, as fast as limits of speed, acceleration and "
            "jerk allow, and rounds each corner: `corner` is the largest distance from the lines. A pick-and-place "
            "cycle of a Delta robot:\n",
            "```yaml",
            PICK,
            "```\n",
            "A path `gcode` follows the lines and arcs of a program (G0 to G4, G17 to G21, G90, G91) in the same way, "
            "with look-ahead over all of it; a word that is not understood is an error with its line. For a robot of "
            "six degrees of freedom, `angles` adds a constant orientation:\n",
            "```yaml",
            MILL,
            "```\n",
            "## Tables\n",
            "A `csv` file has a header that names its columns, in any order. They are separated by commas, or by "
            "semicolons or tabs, which also allow decimal commas:\n",
            "| table | columns after `time` |\n|---|---|\n"
            "| poses | `x`, `y`, `z` and `a1`, `a2`, `a3` (in the order of the convention), or `roll`, `pitch`, `yaw` "
            "(R = Rz(yaw) Ry(pitch) Rx(roll)) |\n"
            "| path in `euler` | `x`, `y`, `z`, `a1`, `a2`, `a3`, or those of its part of a `stack` |\n"
            "| path in `axis` | `x`, `y`, `z` of the position; `angle` |\n"
            "| path in `coordinates` | the names of the robot's degrees of freedom |\n"
            "| wrench | `fx`, `fy`, `fz`, `mx`, `my`, `mz` |\n",
            "A column may state its unit in brackets; without a unit it is in SI units: "
            f"{'; '.join(f'{quantity} {_code(units)}' for quantity, units in COLUMN_UNITS.items())}. "
            "Any other name, or a unit of the wrong quantity, is an error.\n",
            "All tables of a motion share one clock: the motion starts at the first row of the path's table, whatever "
            "the time in that row, and the table of a wrench is shifted by the same time. Tables of a `stack` must "
            "start at the same time. A wrench that lies entirely outside the motion is an error.\n",
            "## Samples\n",
            "A motion is evaluated at uniform samples, `rate` per second, both ends included. Whatever the rate, the "
            "samples include the points of the motion (poses, points of a path, junctions of pieces) and the rows of a "
            f"wrench's table, and a curve has at least {INTERVALS} intervals between samples ({INTERVALS} per period "
            "of a sine or a circle; fewer if the points are dense). Where the rate gives fewer, samples are "
            f"added locally. A motion that needs more than {MAX_SAMPLES:,} samples is an error.\n",
            "`polypod check` and `polypod run` also verify the limits between the samples, forces and drives included; "
            "where that is not possible, they report which limits and when "
            "([how](reliability.md#motions-between-their-samples)).\n",
            "## Published motions\n",
            "| name | robot | what it is |\n|---|---|---|",
            *(f"| `{name}` | `{entry.robot}` | {entry.title} |" for name, entry in PUBLISHED.items()),
            f"| `{AROUND_HOME}` | any | each degree of freedom in turn, there and back about home (not from a paper) |",
            "\n## Fields\n",
            section("Motion", MotionFile, 3),
            section("Waypoint", Waypoint, 3),
            "## Trajectories\n",
            *(section(f"Trajectory kind {name}", kind, 3, name) for name, kind in kinds(TrajectoryKind)),
            "## Paths\n",
            *(section(f"Path kind {name}", kind, 3, name) for name, kind in kinds(PathKind)),
            "## Time laws\n",
            "A law is given by its kind alone (`law: cosine`), or as a mapping if it has parameters.\n",
            *(section(f"Time law {name}", kind, 3, name) for name, kind in kinds(TimeLaw)),
            "## Wrenches\n",
            "The `kind` is optional: `value` gives a constant wrench, `values` or `csv` a table.\n",
            *(section(f"Wrench kind {name}", kind, 3, name) for name, kind in kinds(Wrench)),
        ]
    )


def commands() -> str:
    """Help of every command."""
    parts = [
        "# Commands\n",
        "Results go to stdout, notes and errors to stderr; the exit code is 0, or 2 after an error.\n",
    ]
    for group, names in cli.GROUPS.items():
        parts += [f"## {group}\n"]
        for name in names:
            command = cli.load_command(name)
            inner = getattr(command, "commands", None)
            for label, one in {f"{name} {k}": c for k, c in inner.items()}.items() if inner else [(name, command)]:
                parts += [f"### polypod {label}\n", f"{one.help}\n", f"`{one.epilog.removeprefix('Example: ')}`\n"]
                parts += ["| argument or option | what it is |\n|---|---|"]
                parts += [f"| {_spelling(p)} | {getattr(p, 'help', '') or ''} |" for p in one.params]
                parts += [""]
    return "\n".join(parts)


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def errata() -> str:
    """What is wrong in the papers as printed, from the same data as the tests of their reproductions."""
    parts = [
        "# Errata of the papers\n",
        "The library never uses an equation that is wrong as printed. This page lists each error found, its "
        "correction, a short proof, and its effect, computed when this page was generated.\n",
        "The sources are machine-read texts of the papers: dots, primes, signs and indices may have been lost in "
        "recognition. *Printed* refers to those texts; compare with the paper before quoting.\n",
    ]
    parts += _inertias()
    for name in papers.names():
        study = papers.study(name)
        parts += [f"## {name}\n", f"{study.reference}\n"]
        for make in study.errata:
            erratum = make()
            parts += [f"### {erratum.equation}\n"]
            parts += [f"- **Printed:** {erratum.printed}", f"- **Right:** {erratum.corrected}"]
            parts += [f"- **Proof:** {erratum.proof}", f"- **Effect:** {erratum.effect}"]
            parts += [f"- {m.label}: {shown(m)} {m.unit}" for m in erratum.measured]
            parts += [""]
    return "\n".join(parts)


def _inertias() -> list[str]:
    """Bodies of the library robots that cannot be, as their papers print them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        robots = [load(name) for name in library()]
    rows = [(robot.name, path, text) for robot in robots for path, text in robot.unphysical.items()]
    return [
        "## Physically impossible inertias\n",
        "The principal moments of inertia of a real body are not negative, and none exceeds the sum of the other two. "
        "Some papers print values that violate this, by mistake or as grouped parameters. The library keeps them "
        "as printed (`check: none` in the robot file), since the papers' results depend on them, and warns when the "
        "robot is used. The equations hold for any values, but do not use these for a real machine.\n",
        "| robot | body | what is wrong |\n|---|---|---|",
        *(
            f"| `{robot}` | `{path}` | {text} |"
            for robot, path, text in rows
            if not path.startswith("leg") or path.startswith("leg1.")
        ),
        "\nThe other legs are like the first.\n",
    ]


def section(title: str, model: type[BaseModel], level: int, kind: str = "") -> str:
    """A class of the schema: its docstring, then a table of its fields; ``kind`` is what that field must say."""
    lines = [f"{'#' * level} {title}\n", _prose(model), "", "| field | value | unit | default |", "|---|---|---|---|"]
    schema = model.model_json_schema()
    has_drive = model is not Drive and issubclass(model, Drive)
    listed = [*(model.file_fields() if issubclass(model, Data) else model.model_fields)]
    for name in [name for name in listed if not (has_drive and name in Drive.model_fields)]:
        field = model.model_fields[name]
        default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        value = type_name(schema["properties"][name], schema)
        if kind and name == "kind":
            default, value = "required", f"`{kind}`"
        lines.append(f"| `{name}` | {value} | {unit_of(field).replace('|', '/')} | {default} |")
    if has_drive:
        lines.append("| all of a [drive](#drive) | | | none |")
    return "\n".join(lines) + "\n"


def type_name(part: dict[str, Any], schema: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "form" in part:
        return _SECTIONS.get(str(part["form"]), str(part["form"]))
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return _SECTIONS.get(name, name)
    if "anyOf" in part:
        return " or ".join(type_name(p, schema) for p in part["anyOf"] if p.get("type") != "null")
    if "enum" in part or "const" in part:
        return " or ".join(f"`{v}`" for v in part.get("enum", [part.get("const")]))
    if part.get("type") == "array":
        inner = part.get("prefixItems")
        if inner:
            return f"{len(inner)} x {type_name(inner[0], schema)}"
        return f"list of {type_name(part.get('items', {}), schema)}"
    if part.get("type") == "object":
        return f"mapping of {type_name(part.get('additionalProperties', {}), schema)}"
    return _PLAIN.get(str(part.get("type")), "numbers")


def _default(value: Any) -> str:
    if value is None or value in ("", (), {}):
        return "none"
    if isinstance(value, BaseModel):
        given = value.model_dump(exclude_defaults=True)
        return f"`{given}`" if given else "none" if isinstance(value, Friction) else "its defaults"
    return f"`{value}`"


def _prose(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "").replace("``", "`").replace("|", "\\|")


def kinds(family: type[Any]) -> list[tuple[str, type[Any]]]:
    """The kinds of a family that come with the library."""
    return [(name, kind) for name, kind in sorted(family.registry.items()) if is_ours(kind)]


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def is_ours(kind: type[Any]) -> bool:
    """Whether a leg kind comes with the library."""
    return kind.__module__.startswith("polypod.")


REFERENCE: dict[str, tuple[str, tuple[str, ...]]] = {
    "model": ("Model", ("model.Model", "model")),
    "robots": (
        "Robots and files",
        ("files", "description.Robot", "description.Body", "description.poses.pose", "legs", "errors"),
    ),
    "motion": ("Motions", ("motion",)),
    "analysis": ("Analysis", ("analysis",)),
    "simulation": ("Simulation and control", ("simulation", "control")),
    "studies": (
        "Studies and design",
        ("results", "results.figures", "design", "fastest", "online", "viewer", "tables", "datasets"),
    ),
    "identification": ("Identification and calibration", ("identification",)),
    "exchange": ("Export and import", ("export", "exchange")),
}
"""Pages of the Python reference: a title, and the packages (all their public names) or names that are on it."""


def reference(page: str) -> str:
    """A page of the Python reference: every public name, whose docstring the site's builder sets."""
    title, names = REFERENCE[page]
    parts = [f"# {title}\n"]
    for name in names:
        try:
            module = importlib.import_module(f"polypod.{name}")
        except ModuleNotFoundError:
            package, _, single = name.rpartition(".")
            parts += [_entry(getattr(importlib.import_module(f"polypod.{package}"), single), 2)]
            continue
        parts += [f"## {'pp.plots' if name == 'results.figures' else f'pp.{name}'}\n"]
        parts += [f"{inspect.cleandoc(module.__doc__ or '').splitlines()[0]}\n"]
        public = [getattr(module, one) for one in module.__all__ if f"{name}.{one}" not in names]
        parts += [_entry(one, 3) for one in public if inspect.isclass(one) or inspect.isfunction(one)]
    return "\n".join(parts)


def _entry(value: Any, level: int) -> str:
    return f"::: {value.__module__}.{value.__qualname__}\n    options:\n      heading_level: {level}\n"


def reference_index() -> str:
    """The start of the Python reference."""
    rows = [f"| [{title}]({page}.md) | {_code(names)} |" for page, (title, names) in REFERENCE.items()]
    return (
        "# Python\n\nAfter `import polypod as pp`. SI units and radians; poses are (..., 4, 4), twists, accelerations "
        "and wrenches (..., 6), linear part first, in base axes at the origin of {P}; leading axes are a batch "
        "and may be absent.\n\n| page | of `polypod` |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def survey() -> dict[str, Any]:
    """The catalogue as the library's files and classes have it: what ``docs/generated.py`` writes to catalogue.json."""
    robots = []
    for name in library():
        robot = expanded_document(name)  # robots of the library are right, and checking them all takes seconds
        kinds = sorted({leg["kind"] for leg in robot["legs"]})
        robots.append(
            {"name": name, "title": robot.get("title", ""), "legs": len(robot["legs"]), "kinds": kinds,
             "dof": len(robot.get("dof", ())) or 6, "reference": robot.get("reference", "")}
        )  # fmt: skip
    motions = [{"name": name, "robot": entry.robot, "title": entry.title} for name, entry in PUBLISHED.items()]
    motions.append(
        {"name": AROUND_HOME, "robot": "any", "title": "each degree of freedom in turn, there and back about home"}
    )
    legs = [
        {"kind": kind, "about": _about(leg)}
        for kind, leg in LegData.registry.items()
        if leg.__module__.startswith("polypod.")
    ]
    platforms = [
        {"kind": kind, "about": _about(body)}
        for kind, body in zip(PLATFORM_KINDS, (Body, FlexiblePlatform), strict=True)
    ]
    return {"robots": robots, "motions": motions, "leg_kinds": legs, "platform_kinds": platforms}


def choices() -> dict[str, dict[str, str]]:
    """Words that options take, with what each is, by their registry: help and completion need not import it."""
    return {
        "controllers": dict.fromkeys(CONTROLLERS, ""),
        "export options": {name: " ".join(export.options) for name, export in EXPORTS.items()},
        "exports": {name: export.about for name, export in EXPORTS.items()},
        "extras": dict.fromkeys(EXTRAS, ""),
        "fmu": {name: kind.about for name, kind in FMU_KINDS.items()},
        "formats": {name: reader.about for name, reader in READERS.items()},
        "functions": dict(ABOUT),
        "papers": dict.fromkeys(MODULES, ""),
        "robot kinds": dict.fromkeys(DEFAULTS, ""),
        "robot exports": {name: export.about for name, export in ROBOT_EXPORTS.items()},
        "robot export options": {name: " ".join(export.options) for name, export in ROBOT_EXPORTS.items()},
    }


def _about(kind: type) -> str:
    return (kind.__doc__ or "").splitlines()[0].replace("``", "")


def catalogue() -> str:
    """The file that 'polypod list', help and the shell's completion read: they need not import the library."""
    return json.dumps({"catalogue": survey(), "choices": choices()}, indent=1, ensure_ascii=False) + "\n"


NOTE = "<!-- Made by 'python docs/generated.py': change what it is made from, not this page. -->\n\n"
PAGES: dict[str, Callable[[], str]] = {
    "robot-files.md": robot_files,
    "motion-files.md": motion_files,
    "commands.md": commands,
    "errata.md": errata,
    "reference/index.md": reference_index,
    **{f"reference/{page}.md": functools.partial(reference, page) for page in REFERENCE},
}


SOURCES: dict[str, Callable[[], str]] = {
    "src/polypod/cli/catalogue.json": catalogue,
    **{
        f"docs/{kind}.schema.json": (lambda kind=kind: json.dumps(schema(kind), indent=2) + "\n")
        for kind in ("robot", "motion", "study", "tolerances")
    },
}
"""Files of the package that are generated too."""


def text_of(name: str) -> str:
    """A page or file as its file holds it."""
    return SOURCES[name]() if name in SOURCES else NOTE + PAGES[name]().rstrip("\n") + "\n"


def main() -> None:
    """Write the pages beside this file, and what the package has of this kind."""
    here = Path(__file__).parent
    for name in (*SOURCES, *PAGES):
        (here.parent / name if name in SOURCES else here / name).write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
