"""The page of best designs: points to choose from, each a robot to look at and a robot file to take away, offline."""

from __future__ import annotations

import json
from html import escape
from string import Template
from typing import Any

import numpy as np

from ..description import Robot
from ..drawing import posed
from ..files import dumps
from ..pages import html_page, template_text
from ..tables import practical_unit
from .optimise import Optimum, goals
from .quantities import QUANTITIES

_DIGITS = 4


def page(found: Optimum) -> str:
    """The page as one HTML text, without a network; robots are drawn as lines and turned by dragging."""
    study, evaluator = found.evaluator.study, found.evaluator
    sought = {one.name: one.better for one in goals(evaluator)}
    names = [*sought, *(name for name in study.quantities if name not in sought)]
    varied = [practical_unit(evaluator.unit(i)) for i in range(len(study.vary))]
    measured = {name: practical_unit(evaluator.quantity_unit(name)) for name in names}
    points = []
    for k in range(len(found.values)):
        robot = found.robot(k, found.point_name(k))
        points.append(
            {
                "name": robot.name,
                "values": [_short(f * v) for v, (f, _) in zip(found.values[k], varied, strict=True)],
                "quantities": [_short(f * found.quantities[name][k]) for name, (f, _) in measured.items()],
                "lines": _lines(robot),
                "file": dumps(robot),
            }
        )
    data = {
        "varied": [[one.label, unit] for one, (_, unit) in zip(study.vary, varied, strict=True)],
        "quantities": [[name, unit] for name, (_, unit) in measured.items()],
        "better": [sought.get(name, "larger" if QUANTITIES[name].more_is_better else "smaller") for name in names],
        "limits": {
            name: _short(practical_unit(evaluator.quantity_unit(name))[0] * limit)
            for name, limit in evaluator.limits.items()
            if name not in evaluator.judged
        },
        "points": points,
    }
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    title = f"{study.title or study.name}: {len(points)} best designs of {evaluator.model.robot.name}"
    body = Template(_text("body.html")).substitute(title=escape(title), data=text, code=_text("best.js"))
    return html_page(title, body, _text("style.css"))


def _text(name: str) -> str:
    return template_text(__package__, f"page_files/{name}")


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _lines(robot: Robot) -> list[Any]:
    """Lines of the robot at home, [kind, x1, y1, z1, x2, y2, z2]: base, leg, platform."""
    drawn = posed(robot, robot.home.matrix[None])
    lines = [("leg", *ends[0]) for _, ends in drawn.lines()]
    lines += [("base", *ends) for _, ends in drawn.rails()]
    for kind, ring in (("platform", drawn.platform[0]), ("base", drawn.roots[0])):
        middle = ring.mean(axis=0)
        order = np.argsort(np.arctan2(ring[:, 1] - middle[1], ring[:, 0] - middle[0]))
        around = ring[order]
        lines += [(kind, a, b) for a, b in zip(around, np.roll(around, -1, axis=0), strict=True)]
    return [[kind, *(round(float(x), 5) for x in (*a, *b))] for kind, a, b in lines]
