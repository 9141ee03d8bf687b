"""The page of best designs: points to choose from, each an interactive robot and a robot file to take away, offline."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from html import escape
from string import Template

import numpy as np

from ..description import Robot
from ..files import dumps
from ..model import Model
from ..motion import Task
from ..pages import html_page, template_text
from ..tables import practical_unit
from ..viewer import LiveRobot, frames_script, packed_robots
from .optimise import Optimum, goals
from .quantities import QUANTITIES
from .results import limits_text

_DIGITS = 4


def page(found: Optimum) -> str:
    """The page as one HTML text, without a network: a point is chosen, its robot is the interactive page beside it.

    The robot moves along the first motion of the study.
    """
    study, evaluator = found.evaluator.study, found.evaluator
    sought = {one.name: one.better for one in goals(evaluator)}
    names = [*sought, *(name for name in study.quantities if name not in sought)]
    varied = [practical_unit(evaluator.unit(i)) for i in range(len(study.vary))]
    measured = {name: practical_unit(evaluator.quantity_unit(name)) for name in names}
    points, robots = [], []
    for k in range(len(found.values)):
        robot = found.robot(k, found.point_name(k))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # given of the study's robot
            robots.append(LiveRobot.of(Model(robot), _motion(found, robot), study.friction))
        points.append(
            {
                "name": robot.name,
                "values": [_short(f * v) for v, (f, _) in zip(found.values[k], varied, strict=True)],
                "quantities": [_short(f * found.quantities[name][k]) for name, (f, _) in measured.items()],
                "verdict": _verdict(found, k),
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
    many = len(points) > 1
    title = f"{study.title or study.name}: {len(points)} best designs of {evaluator.model.robot.name}"
    lead = "No other design is better in all objectives." if many else "The best design."
    body = Template(_text("body.html")).substitute(
        title=escape(title if many else title.replace("1 best designs", "best design")),
        lead=escape(f"{lead} Click a point, or use the arrow keys." if many else lead),
        data=text,
        robots=packed_robots(robots),
        code=_text("best.js") + frames_script(),
    )
    return html_page(title, body, _text("style.css"))


def _motion(found: Optimum, robot: Robot) -> Task | None:
    """The study's first motion, moved with the home of a design where that varies; None if it has workspaces alone."""
    tasks, own = found.evaluator.tasks, found.evaluator.model.robot
    if not tasks:
        return None
    motion = tasks[0].motion
    pose = motion.pose.copy()
    pose[:, :3, 3] += np.array(robot.home.position) - np.array(own.home.position)
    return replace(tasks[0], motion=motion._replace(pose=pose))


def _verdict(found: Optimum, k: int) -> str:
    """What the design keeps, and which limit it uses most."""
    evaluator = found.evaluator
    uses = {name: float(evaluator.share(name, found.quantities[name][k])) for name in evaluator.limits}
    said = f"{limits_text(evaluator)}, at the samples"
    most = max(uses, key=lambda name: uses[name], default="")
    used = f"; most used: {evaluator.label(most)} {100 * uses[most]:.0f} %" if most else ""
    return f"{said[:1].upper()}{said[1:]}{used}."


def _text(name: str) -> str:
    return template_text(__package__, f"page_files/{name}")


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
