"""The live page: one HTML file with the robot in three dimensions and its model as JavaScript, without a network."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..datasets import robot_of
from ..description import Robot
from ..errors import InputError
from ..export.js import HELPERS, js_function
from ..fingerprint import fingerprint
from ..kernels import Expression, Iteration, store
from ..limits.symbols import uses_of_outputs
from ..mechanism.closing import closed
from ..model import Model
from ..motion import MotionFile, Task, Trajectory, make_task
from ..output.atomic import atomic_write
from ..pages import html_page, template_text
from ..stages import Series, whole_model
from .coordinates import Coordinates, coordinates_of
from .extras import extras
from .scene import scene

if TYPE_CHECKING:
    import xarray as xr


MOST_SAMPLES = 400
"""Instants of a motion that a page has at most: the browser computes each of them when the page opens."""
_SCRIPTS = (
    "model.js", "camera.js", "solids.js", "stage.js", "sketch.js", "panel.js", "plots.js", "app.js", "overlay.js",
    "share.js", "input.js", "live.js", "start.js",
)  # fmt: skip
"""In the order in which they stand in the page, in one scope."""


@dataclass(frozen=True)
class LivePage:
    """Interactive page as text; a notebook shows it in a frame.

    Attributes
    ----------
    html : str
        The page.
    """

    html: str

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the page as a file that any browser opens.

        Parameters
        ----------
        path : str or Path
            File to write.
        force : bool, optional
            Whether to overwrite an existing file.

        Returns
        -------
        Path
            The file.
        """
        atomic_write(Path(path), self.html.encode(), force)
        return Path(path)

    def __repr__(self) -> str:
        return f"LivePage({len(self.html) / 1e3:.0f} kB)"

    def _repr_html_(self) -> str:
        return framed(self.html)


def view(
    robot: Model | Series | Robot | str | Path | xr.Dataset,
    motion: MotionFile | Trajectory | str | Path | None = None,
    *,
    rate: float | None = None,
    friction: bool = True,
    show: Sequence[str] = (),
) -> LivePage:
    """Interactive 3-D page of a robot, optionally with a motion or a simulation to play.

    Parameters
    ----------
    robot : Model, Series, Robot, str, Path or xarray.Dataset
        The robot: a model, a machine in stages (shown as ``Series.whole``), a robot, a library name or a file; or the
        result of a simulation, which is played with the forces that acted.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion to play, as ``polypod.motion.make_task`` takes it.
    rate : float, optional
        Sampling rate of the motion [Hz]. Default: that of the motion file.
    friction : bool, optional
        Whether friction in the joints is included.
    show : sequence of str, optional
        What else to show, ``modes`` or ``workspace``: names in ``polypod.viewer.extras.EXTRAS``.

    Returns
    -------
    LivePage
        The page, one offline HTML file; a notebook shows it.

    Examples
    --------
    >>> view("staicu").html.splitlines()[0]
    '<!DOCTYPE html>'
    """
    if hasattr(robot, "data_vars"):  # an xarray.Dataset, without loading xarray for all others
        return LivePage(result_page(cast("xr.Dataset", robot)))
    model = whole_model(robot if isinstance(robot, (Model, Series)) else Model(robot))
    return LivePage(live_page(model, None if motion is None else make_task(model, motion, rate), friction, show))


def framed(page: str, height: int = 640) -> str:
    """A page in a frame of another page.

    Parameters
    ----------
    page : str
        HTML of the page.
    height : int, optional
        Height of the frame [px].

    Returns
    -------
    str
        HTML of the frame.
    """
    return (
        f'<iframe title="live view" srcdoc="{escape(page)}" loading="lazy" '
        f'style="width: 100%; height: {height}px; border: 1px solid #dde3e9; border-radius: 8px"></iframe>'
    )


def live_page(model: Model, task: Task | None = None, friction: bool = True, show: Sequence[str] = ()) -> str:
    """HTML of an interactive page: coordinates, forces, limits and conditioning of a robot that the user moves.

    A flexible platform is taken as rigid.

    Parameters
    ----------
    model : Model
        Model of the robot.
    task : Task, optional
        Motion that the page also plays.
    friction : bool, optional
        Whether friction in the joints is included.
    show : sequence of str, optional
        What else to show, names in ``polypod.viewer.extras.EXTRAS``.

    Returns
    -------
    str
        The page.
    """
    title = model.robot.name if task is None else f"{model.robot.name}: {task.name}"
    return _page(model, friction, title, {"motion": _motion(task), **extras(model.rigid, show)})


def result_page(result: xr.Dataset) -> str:
    """The page of a simulation that was kept: it plays what the robot did, with the forces that acted."""
    if "command" not in result:
        raise InputError("view: needs the result of a simulation; for 'polypod run' open its report.html")
    model = Model(robot_of(result))
    name = str(result.attrs.get("motion", "simulation"))
    missing = {"time", "pose", "twist", "wrench", "force"} - set(result.variables)
    if missing:
        writer = result.attrs.get("polypod_version", "of another version")
        raise InputError(
            f"view: polypod {writer} wrote a result without {', '.join(sorted(missing))}; compute it again"
        )
    chosen = _subsample(len(result.time))
    part = {key: result[key].values[chosen] for key in ("time", "pose", "twist", "wrench", "force")}
    if "internal" in result:
        part["twist"] = np.concatenate([part["twist"], result["internal_rate"].values[chosen]], axis=1)
        part["internal"] = result["internal"].values[chosen]
    motion: dict[str, Any] = {key: _packed(values) for key, values in part.items()}
    if "error" in result:
        motion["error"] = _packed(np.linalg.norm(result["error"].values[chosen, :3], axis=1))
    friction = result.attrs.get("friction", "yes") == "yes"
    shown = {**motion, "name": name, "simulated": True, "acceleration": None}
    return _page(model, friction, f"{model.robot.name}: {name}, simulated", {"motion": shown})


def streamed_page(model: Model, name: str, duration: float, friction: bool = True, speed: float = 1.0) -> str:
    """The page of a simulation that is under way: a server sends its samples, see ``polypod.viewer.stream``."""
    model.robot.refuse_internal("a simulation that a page shows as it runs")
    live = {"duration": duration, "actuators": len(model.actuators), "speed": speed}
    return _page(model, friction, f"{model.robot.name}: {name}, live", {"motion": {"name": name}, "live": live})


def _page(model: Model, friction: bool, title: str, shown: dict[str, Any]) -> str:
    functions, data = _program(model, friction, shown)
    code = "\n".join([*_before(), f"const data = {_json(data)};", functions, *_after()])
    body = Template(_text("body.html")).substitute(title=escape(title), code=_gzipped(code))
    return html_page(title, body, _text("style.css"))


def _program(model: Model, friction: bool, shown: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What is a robot's own in its page: its functions as JavaScript, and its data with what else is ``shown``."""
    rigid = model.rigid
    own = coordinates_of(model.robot, rigid.kernels.mechanism.platform.is_constrained)
    functions, ports = javascript(rigid, own, friction)
    numbers = rigid.kernels.mechanism.numbers.values.tolist()
    return functions, {"scene": scene(rigid, own, model.robot, friction), "numbers": numbers, "ports": ports, **shown}


def _before() -> list[str]:
    return [_text("three.min.js"), "(() => {", '"use strict";']


def _after() -> list[str]:
    return [*map(_text, _SCRIPTS), "})();"]


def _json(data: Any) -> str:
    """Data as JSON, a subset of JavaScript; all of it is packed, so no name of a robot file ever is markup."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def _gzipped(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


# ----------------------------------------------------------------------------------------------------------------------
# Many robots in one page: each is its own interactive page in a frame, of which texts that are alike stand once.


class LiveRobot(NamedTuple):
    """A robot of a page of several.

    Attributes
    ----------
    functions : str
        Its functions as JavaScript.
    data : dict of str to object
        Its scene, numbers and motion, as its interactive page has them.
    """

    functions: str
    data: dict[str, Any]

    @staticmethod
    def of(model: Model, task: Task | None = None, friction: bool = True) -> LiveRobot:
        """A robot with a motion that its page also plays.

        Parameters
        ----------
        model : Model
            Model of the robot.
        task : Task, optional
            The motion.
        friction : bool, optional
            Whether friction in the joints is included.

        Returns
        -------
        LiveRobot
            The robot.
        """
        return LiveRobot(*_program(model, friction, {"motion": _motion(task)}))


def packed_robots(robots: Sequence[LiveRobot]) -> str:
    """Pages of several robots, packed for ``liveFrames`` of ``frames_script``; what they have in common stands once.

    Parameters
    ----------
    robots : sequence of LiveRobot
        The robots.

    Returns
    -------
    str
        Text for a page, in base64.
    """
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    programs = []
    for functions, data in robots:
        parts = {key: number(_json(value)) for key, value in data.items()}
        programs.append({"functions": number(functions), "data": parts})
    common = {"before": "\n".join(_before()), "after": "\n".join(_after()), "style": _text("style.css")}
    return _gzipped(_json({**common, "texts": list(texts), "robots": programs}))


def frames_script() -> str:
    """JavaScript that defines ``liveFrames``: it shows one of ``packed_robots`` at a time in a frame.

    Returns
    -------
    str
        The script.
    """
    return _text("frames.js")


def _text(name: str) -> str:
    return template_text(__package__, f"page/{name}")


def _motion(task: Task | None) -> dict[str, Any] | None:
    """A motion's name and its samples as packed doubles, at most ``MOST_SAMPLES`` of them."""
    if task is None:
        return None
    chosen, motion = _subsample(len(task.time)), task.motion
    return {
        "name": task.name,
        "time": _packed(task.time[chosen]),
        "pose": _packed(motion.pose[chosen]),
        "twist": _packed(motion.twist[chosen]),
        "acceleration": _packed(motion.acceleration[chosen]),
        **({} if motion.internal is None else {"internal": _packed(motion.internal[chosen])}),
        "wrench": None if task.wrench is None else _packed(task.wrench[chosen]),
    }


def _subsample(count: int) -> NDArray[np.int64]:
    """Numbers of at most ``MOST_SAMPLES`` of so many samples, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_SAMPLES)).round().astype(np.int64))


def _packed(values: ArrayLike) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()


# ----------------------------------------------------------------------------------------------------------------------
# The model of a robot as JavaScript for a page: its functions, and the names and sizes of what they take and give.

FUNCTIONS = (
    "inverse_kinematics",
    "rates",
    "accelerations",
    "forward_kinematics",
    "bodies",
    "margins",
    "limited",
    "conditioning",
    "inverse_dynamics",
)
"""Functions of a model that the page calls."""
_PRINTERS = ("export/code.py", "export/js.py", "viewer/document.py")


def javascript(model: Model, own: Coordinates, friction: bool) -> tuple[str, dict[str, Any]]:
    """A script that defines ``model``, an object of functions, and their ports: ``[name, numbers]`` in order.

    The robot's numbers are an input ``parameters``, so robots of one topology have one text, which is kept on disk
    beside their compiled functions.
    """
    text, ports = _functions(model, friction)
    uses = uses_of_outputs(model.kernels.mechanism, model.robot_limits)
    apart = None
    if "clearance" in model.robot_limits.kinds:
        mechanism = model.kernels.mechanism
        apart = closed(mechanism, model.clearances.function.constant_expression(mechanism))
    here = [e for e in (own.place, own.read, uses, apart) if e is not None]
    text += "".join(js_function(e.name, e) for e in here)
    ports = ports | {e.name: _ports(e) for e in here}
    return f"const model = (() => {{\n{HELPERS}{text}return {{ {', '.join(ports)} }};\n}})();\n", ports


def _functions(model: Model, friction: bool) -> tuple[str, dict[str, Any]]:
    """Text and ports of the robot's functions, from disk if a robot of the same topology had them before."""
    kernels = model.kernels
    cache_key = kernels.cache_key(f"live page {'with' if friction else 'without'} friction")
    key = "" if cache_key is None else cache_key.extended(fingerprint(*_PRINTERS)).digest.hex()
    kept = store.load(key) if key else None
    if kept is not None:
        text, ports = json.loads(gzip.decompress(kept))
        return text, ports
    names = (*FUNCTIONS, *(["motion"] if kernels.mechanism.platform.is_constrained else []))
    names = (*names, *(["joint_coordinates"] if kernels.mechanism.coordinate_joints else []))
    expressions = [kernels.expression(kernels.mechanism, name, friction) for name in names]
    text, ports = "".join(js_function(e.name, e) for e in expressions), {e.name: _ports(e) for e in expressions}
    if key:
        store.keep(key, gzip.compress(json.dumps([text, ports]).encode(), mtime=0))
    return text, ports


def _ports(expression: Expression | Iteration) -> dict[str, list[list[Any]]]:
    given = [p for p in (*expression.inputs, expression.parameters) if p is not None]
    return {
        "inputs": [[p.name, p.length] for p in given],
        "outputs": [[p.name, p.length] for p in expression.outputs],
    }
