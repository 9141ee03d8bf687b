"""``polypod list``: robots, their motions, kinds of legs and platforms."""

from __future__ import annotations

from typing import Any

from ..tables import table
from .options import Json
from .terminal import report_errors, show_json, show_table

EXAMPLE = "Example: polypod list --json"


def catalogue() -> dict[str, Any]:
    """Robots of the library, published motions, kinds of legs and platforms, as data, without reading their files."""
    from .catalogue_data import CATALOGUE

    return CATALOGUE


@report_errors
def command(json_: Json = False) -> None:
    """Robots that come with polypod, published motions, kinds of legs and platforms."""
    data = catalogue()
    if json_:
        show_json(data)
        return
    robots = [(r["name"], f"{r['legs']} {'/'.join(r['kinds'])}", str(r["dof"]), r["title"]) for r in data["robots"]]
    columns = [("robot", ""), ("legs", ""), ("dof", ""), ("what it is", "")]
    show_table(table("Robots", columns, robots))
    print()
    motions = [(m["name"], m["robot"], m["title"]) for m in data["motions"]]
    show_table(table("Motions", [("motion", ""), ("robot", ""), ("what it is", "")], motions))
    print()
    for title, key in (("Leg kinds", "leg_kinds"), ("Platform kinds", "platform_kinds")):
        kinds = [(k["kind"], k["about"]) for k in data[key]]
        show_table(table(title, [("kind", ""), ("what it is", "")], kinds))
        print()
