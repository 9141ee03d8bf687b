"""``polypod list``: robots, their motions, kinds of legs and platforms."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..tables import table
from .terminal import report_errors, show_json, show_table

EXAMPLE = "Example: polypod list --json"


def catalogue() -> dict[str, Any]:
    """Robots of the library, published motions, kinds of legs and platforms, as data, without reading their files."""
    from .listed import LISTED

    return LISTED


def survey() -> dict[str, Any]:
    """The catalogue as the library's files and classes have it: what ``docs/generated.py`` writes to listed.py."""
    from ..description import Body, FlexiblePlatform, LegData
    from ..description.flexible import KINDS
    from ..files import library
    from ..files.robot_files import written_out
    from ..motion import AROUND_HOME, PUBLISHED

    robots = []
    for name in library():
        robot = written_out(name)  # robots of the library are right, and checking them all takes seconds
        kinds = sorted({leg["kind"] for leg in robot["legs"]})
        robots.append(
            {"name": name, "title": robot.get("title", ""), "legs": len(robot["legs"]), "kinds": kinds,
             "freedoms": len(robot.get("freedoms", ())) or 6, "reference": robot.get("reference", "")}
        )  # fmt: skip
    motions = [{"name": name, "robot": entry.robot, "title": entry.title} for name, entry in PUBLISHED.items()]
    motions.append({"name": AROUND_HOME, "robot": "any", "title": "each freedom in turn, there and back about home"})
    legs = [
        {"kind": kind, "about": _about(leg)}
        for kind, leg in LegData.registry.items()
        if leg.__module__.startswith("polypod.")
    ]
    platforms = [
        {"kind": kind, "about": _about(body)} for kind, body in zip(KINDS, (Body, FlexiblePlatform), strict=True)
    ]
    return {"robots": robots, "motions": motions, "leg_kinds": legs, "platform_kinds": platforms}


def words() -> dict[str, dict[str, str]]:
    """Words that options take, with what each is, by their registry: help and completion need not import it."""
    from ..control import CONTROLLERS
    from ..exchange import READERS
    from ..export import EXPORTS, ROBOT_EXPORTS
    from ..export.fmu import KINDS
    from ..export.header import ABOUT
    from ..papers import MODULES
    from ..view.extras import EXTRAS

    return {
        "controllers": dict.fromkeys(CONTROLLERS, ""),
        "exports": {name: export.about for name, export in EXPORTS.items()},
        "extras": dict.fromkeys(EXTRAS, ""),
        "fmu": {name: kind.about for name, kind in KINDS.items()},
        "formats": {name: reader.about for name, reader in READERS.items()},
        "functions": dict(ABOUT),
        "papers": dict.fromkeys(MODULES, ""),
        "robot exports": {name: export.about for name, export in ROBOT_EXPORTS.items()},
    }


def _about(kind: type) -> str:
    return (kind.__doc__ or "").splitlines()[0].replace("``", "")


@report_errors
def command(json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False) -> None:
    """Robots that come with polypod, published motions, kinds of legs and platforms."""
    data = catalogue()
    if json_:
        show_json(data)
        return
    robots = [
        (r["name"], f"{r['legs']} {'/'.join(r['kinds'])}", str(r["freedoms"]), r["title"]) for r in data["robots"]
    ]
    columns = [("robot", ""), ("legs", ""), ("freedoms", ""), ("what it is", "")]
    show_table(table("Robots", columns, robots))
    print()
    motions = [(m["name"], m["robot"], m["title"]) for m in data["motions"]]
    show_table(table("Motions", [("motion", ""), ("robot", ""), ("what it is", "")], motions))
    print()
    for title, key in (("Leg kinds", "leg_kinds"), ("Platform kinds", "platform_kinds")):
        kinds = [(k["kind"], k["about"]) for k in data[key]]
        show_table(table(title, [("kind", ""), ("what it is", "")], kinds))
        print()
