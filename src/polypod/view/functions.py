"""The model of a robot as JavaScript for a page: its functions, and the names and sizes of what they take and give."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

from ..export.js import HELPERS, js_function
from ..kernels import Expression, Iteration, store
from ..model import Model
from .coordinates import Coordinates

FUNCTIONS = (
    "inverse_kinematics",
    "rates",
    "forward_kinematics",
    "bodies",
    "margins",
    "limited",
    "conditioning",
    "inverse_dynamics",
)
"""Functions of a model that the page calls."""
_PRINTERS = ("export/code.py", "export/js.py", "view/functions.py")


def javascript(model: Model, own: Coordinates, friction: bool) -> tuple[str, dict[str, Any]]:
    """A script that defines ``model``, an object of functions, and their ports: ``[name, numbers]`` in order.

    The robot's numbers are an input ``parameters``, so robots of one topology have one text, which is kept on disk
    beside their compiled functions.
    """
    text, ports = _functions(model, friction)
    here = [e for e in (own.place, own.read) if e is not None]
    text += "".join(js_function(e.name, e) for e in here)
    ports = ports | {e.name: _ports(e) for e in here}
    return f"const model = (() => {{\n{HELPERS}{text}return {{ {', '.join(ports)} }};\n}})();\n", ports


def _functions(model: Model, friction: bool) -> tuple[str, dict[str, Any]]:
    """Text and ports of the robot's functions, from disk if a robot of the same topology had them before."""
    kernels = model.kernels
    cache_key = kernels.cache_key(f"live page {'with' if friction else 'without'} friction")
    key = "" if cache_key is None else hashlib.sha256(cache_key + _printed_by()).hexdigest()
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


@cache
def _printed_by() -> bytes:
    """Fingerprint of the code that prints functions."""
    root = resources.files(__package__.partition(".")[0])
    return hashlib.sha256(b"".join((root / name).read_bytes() for name in _PRINTERS)).digest()
