"""Elements, numbers and comments of exported robots."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from ..model import Model
from ..output import safe_names


def numbers(values: Any) -> str:
    """Numbers with all their digits, blanks between; no minus on a zero."""
    listed = np.asarray(values, dtype=float) + 0.0
    return " ".join(repr(float(value)) for value in listed.ravel())


def add(above: ET.Element, tag: str, text: Any = None, **attributes: Any) -> ET.Element:
    """A new element within another; its text and attributes are texts, numbers or arrays of numbers."""
    element = ET.SubElement(above, tag, {key: _written(value) for key, value in attributes.items()})
    if text is not None:
        element.text = _written(text)
    return element


def _written(value: Any) -> str:
    return value if isinstance(value, str) else numbers(value)


def file_name(model: Model) -> str:
    """The robot's name with what a file's name may hold."""
    return safe_names.file_name(model.robot.name)


def mesh_name(body: str) -> str:
    """File of a body's mesh, without suffix."""
    return safe_names.file_name(body)


def document(root: ET.Element, model: Model, remarks: list[str]) -> str:
    """The text of a file: its elements, indented, with a comment on top."""
    root.insert(0, ET.Comment(_comment(model, remarks)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _comment(model: Model, remarks: list[str]) -> str:
    """The comment on top of a file: what it is, what is driven, what was left out; no double hyphens, as XML wants."""
    lines = [f"{model.robot.title or model.robot.name}: written by polypod from its robot file, SI units and radians."]
    lines += [f"Actuator {k + 1}: {a.name}, force in {a.force_unit}." for k, a in enumerate(model.actuators)]
    text = "\n  ".join([*lines, *dict.fromkeys(remarks)])
    return f" {re.sub('-(?=-)', '- ', text)} "
