"""``polypod list``."""

from __future__ import annotations

from ..tables import table
from .catalogue import CATALOGUE
from .frame import Answer, command


@command("list", "list --json")
def list_() -> Answer:
    robots = [
        (r["name"], f"{r['legs']} {'/'.join(r['kinds'])}", str(r["dof"]), r["title"]) for r in CATALOGUE["robots"]
    ]
    motions = [(m["name"], m["robot"], m["title"]) for m in CATALOGUE["motions"]]
    tables = [
        table("Robots", [("robot", ""), ("legs", ""), ("dof", ""), ("what it is", "")], robots),
        table("Motions", [("motion", ""), ("robot", ""), ("what it is", "")], motions),
    ]
    for title, key in (("Leg kinds", "leg_kinds"), ("Platform kinds", "platform_kinds")):
        kinds = [(k["kind"], k["about"]) for k in CATALOGUE[key]]
        tables.append(table(title, [("kind", ""), ("what it is", "")], kinds))
    return Answer(tables, CATALOGUE)
