"""SDF of robots, against the format's own description, and its numbers against the robot's."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.exchange import linkage_of
from polypod.export import export_sdf
from support.refusals import refused

DESCRIPTION = Path(__file__).parent.parent / "data" / "sdf-1.9"
COUNTS = {"double": 1, "vector2d": 2, "vector3": 3, "pose": 6}
SHAPES = {  # elements of other shapes that SDFormat 1.9 has, with the types of their own: + for one or more
    "sphere": {"radius": ("double", "1")},
    "capsule": {"radius": ("double", "1"), "length": ("double", "1")},
    "polyline": {"point": ("vector2d", "+"), "height": ("double", "1")},
}


@cache
def described(name: str) -> ET.Element:
    return ET.parse(DESCRIPTION / name).getroot()


def shape_rule(name: str) -> ET.Element:
    """The description of a shape."""
    rule = ET.Element("element", name=name)
    for inner, (type_, required) in SHAPES[name].items():
        ET.SubElement(rule, "element", name=inner, type=type_, required=required)
    return rule


def faults(element: ET.Element, rule: ET.Element, where: str = "") -> list[str]:
    """What of an element the description does not allow, or demands."""
    where = f"{where}/{element.tag}"
    found = []
    allowed = {a.get("name"): a for a in rule.findall("attribute")}
    found += [f"{where}: no attribute {key}" for key in element.attrib if key not in allowed]
    found += [
        f"{where}: needs {key}" for key, a in allowed.items() if a.get("required") == "1" and key not in element.attrib
    ]
    rules = {e.get("name"): (e, e.get("required")) for e in rule.findall("element")}
    for include in rule.findall("include"):
        if (DESCRIPTION / include.get("filename")).is_file():  # the others hold what no exported robot has
            inner = described(include.get("filename"))
            rules[inner.get("name")] = (inner, include.get("required"))
    if rule.get("name") == "geometry":
        rules |= {name: (shape_rule(name), "0") for name in SHAPES}
    for name, (_, required) in rules.items():
        count = len(element.findall(name))
        if (required == "1" and count != 1) or (required == "0" and count > 1):
            found.append(f"{where}: {count} of {name}")
    size = COUNTS.get(rule.get("type"))
    if size is not None and len([float(x) for x in (element.text or "").split()]) != size:
        found.append(f"{where}: {size} numbers, got {element.text}")
    for child in element:
        if isinstance(child.tag, str) and not child.tag.startswith("{"):  # elements of a namespace are anybody's
            found += faults(child, rules[child.tag][0], where) if child.tag in rules else [f"{where}: no {child.tag}"]
    return found


@pytest.mark.parametrize("name", ["hexapod", "3-prs", "lopes"])  # a joint and a body of lopes have one name
def test_every_element_is_one_of_the_format(name: str) -> None:
    root = ET.fromstring(export_sdf(pp.Model(name)))
    assert faults(root, described("root.sdf")) == []
    links = {link.get("name") for link in root.findall("model/link")}
    joints = root.findall("model/joint")
    assert {joint.get("type") for joint in joints} <= {"revolute", "prismatic", "universal", "ball"}
    for joint in joints:
        assert joint.find("parent").text in links | {"world"}
        assert joint.find("child").text in links
    names = [e.get("name") for e in root.find("model") if e.get("name")]
    assert len(set(names)) == len(names), "names are unique within a model"


def test_the_checker_finds_faults() -> None:
    root = ET.fromstring(export_sdf(pp.Model("five-bar")))
    link = root.find("model/link")
    link.attrib.pop("name")
    ET.SubElement(link, "colour")
    link.find("pose").text = "0 0 0"
    assert len(faults(root, described("root.sdf"))) == 3


def test_numbers_are_the_robots() -> None:
    """All joints, loops too, at their places at home; masses and moments about centres in base axes."""
    model = pp.Model("hexapod")
    linkage, root = linkage_of(model.robot), ET.fromstring(export_sdf(model))
    read = lambda element: np.array([float(x) for x in element.text.split()])  # noqa: E731
    frames = {link.get("name"): read(link.find("pose")) for link in root.findall("model/link")}
    assert len(root.findall("model/joint")) == len(linkage.joints) == 18
    for joint in root.findall("model/joint"):
        wanted = linkage.joint(joint.get("name"))
        at = frames[joint.find("child").text][:3] + read(joint.find("pose"))[:3]
        np.testing.assert_allclose(at, wanted.at, atol=1e-15)
        if wanted.kind == "prismatic":
            np.testing.assert_allclose(read(joint.find("axis/xyz")), wanted.axis, atol=1e-15)
            limits = [float(joint.find(f"axis/limit/{which}").text) for which in ("lower", "upper")]
            assert limits == pytest.approx(wanted.displacement_range, rel=1e-12)
    for link in root.findall("model/link"):
        body = linkage.bodies[link.get("name")]
        assert float(link.find("inertial/mass").text) == body.mass
        centre = frames[link.get("name")][:3] + read(link.find("inertial/pose"))[:3]
        np.testing.assert_allclose(centre, body.com, atol=1e-15)
        moments = [float(link.find(f"inertial/inertia/{key}").text) for key in ("ixx", "ixy", "izz")]
        assert moments == pytest.approx([body.inertia[i][j] for i, j in ((0, 0), (0, 1), (2, 2))], abs=1e-18)


def test_what_sdf_cannot_say() -> None:
    with refused(InputError, "C-slider_bar", code="no_mass"):
        export_sdf(pp.Model("staicu"))
