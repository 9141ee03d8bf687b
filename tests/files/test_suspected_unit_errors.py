"""Numbers that are allowed but hardly meant are reported, with what to write; numbers of real machines are not."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import ImplausibleWarning
from polypod.file_kinds import check
from polypod.files.suspected_unit_errors import suspicious_numbers
from polypod.files.templates import template
from polypod.platforms.modes import modes_of
from polypod.yaml12 import read_yaml
from support.refusals import says, warned
from support.states import papers_robots

RIGID, BENDY = template("robot", "r"), template("robot", "b", "flexible")
OUTLINE = "[[0.25, -0.30], [0.25, 0.30], [0.05, 0.34], [-0.34, 0.10], [-0.34, -0.10], [0.05, -0.34]]"
LARGE = "[[250, -300], [250, 300], [50, 340], [-340, 100], [-340, -100], [50, -340]]"
SLIDES = "prismatic_friction: {viscous: 50.0}"
BALLS = "spherical_friction: {viscous: 0.05}"


def remarks(text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pp.loads(text)
    assert all(issubclass(w.category, ImplausibleWarning) for w in caught)
    return [str(w.message) for w in caught]


@pytest.mark.parametrize("text", [RIGID, BENDY], ids=["rigid", "flexible"])
def test_the_files_to_start_from_are_plausible(text):
    assert remarks(text) == []


@pytest.mark.parametrize("name", papers_robots())
def test_robots_of_the_papers_are_plausible(name):
    assert list(suspicious_numbers(pp.load(name))) == []


SLIPS = {
    "thickness in mm": (BENDY, "thickness: 0.012", "thickness: 2", "plate.thickness 2 0.002"),
    "outline in mm": (BENDY, OUTLINE, LARGE, "plate 340 0.3 0.34"),
    "young in GPa": (BENDY, "70.0e+9", "70", "young 70 Pa 7e+10 GPa"),
    "young in MPa": (BENDY, "70.0e+9", "2.1e+5", "young 210000 Pa 2.1e+11 MPa"),
    "young in mPa": (BENDY, "70.0e+9", "70.0e+12", "young 7e+13 Pa 210e9"),
    "density in g/cm^3": (BENDY, "2700.0", "2.7", "density 2.7 kg/m^3 2700 g/cm^3"),
    "density in t/mm^3": (BENDY, "2700.0", "2.7e-9", "density 2.7e-09 2700 t/mm^3"),
    "damping in per cent": (BENDY, "ratio: 0.02", "ratio: 2", "damping_ratio 2 0.02"),
    "inertia in kg mm^2": (
        RIGID, "[0.7, 0.7, 1.35]", "[7e5, 7e5, 1.35e6]",
        # sqrt(1.35e6/30) = 212.1; the robot's farthest coordinate is home's 0.6
        "platform.inertia 1.35e+06 30 kg 212.1 0.6 [0.7, 0.7, 1.35]",
    ),
    "inertia in g mm^2": (RIGID, "[0.7, 0.7, 1.35]", "[7e8, 7e8, 1.35e9]", "[0.7, 0.7, 1.35] g mm^2"),
    "inertia with products in kg mm^2": (
        RIGID, "[0.7, 0.7, 1.35]", "[[7e5, 1e4, 0], [1e4, 7e5, 0], [0, 0, 1.35e6]]", "1e-06",
    ),
    "a leg's inertia in kg mm^2": (
        RIGID, "[0.004, 0.055, 0.055]", "[4000, 55000, 55000]",
        "leg1.lower.inertia [0.004, 0.055, 0.055] 5",
    ),
    "a centre of mass in mm": (
        RIGID, "com: [0.2, 0.0, 0.0]", "com: [200, 0, 0]",
        "leg1.lower.com 200 [0.2, 0.0, 0.0] mm 5",
    ),
    "a coefficient for an arm": (
        RIGID, BALLS, "spherical_friction: {coulomb: 0.1}",
        "leg1.spherical_friction.coulomb 0.1 100 mm 5",
    ),
    "a robot in mm": (RIGID, "position: [0.0, 0.0, 0.6]", "position: [0.0, 0.0, 600]", "600 m"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_of_units_are_reported(slip):
    text, old, new, message = SLIPS[slip]
    assert old in text
    (output,) = remarks(text.replace(old, new, 1))
    says(output, message)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (RIGID, SLIDES, "prismatic_friction: {coulomb: 0.1}"),  # a slide's coefficient
        (RIGID, BALLS, "spherical_friction: {coulomb: 0.02}"),
        (BENDY, "70.0e+9", "3.0e+9"),  # plastics
        (BENDY, "2700.0", "60.0"),  # foam
        (BENDY, "ratio: 0.02", "ratio: 0.4"),  # of the paper by Long et al.
        (BENDY, "thickness: 0.012", "thickness: 0.1"),
    ],
)
def test_unusual_numbers_are_not_slips(text, old, new):
    assert old in text
    assert remarks(text.replace(old, new, 1)) == []


def test_suggested_numbers_are_numbers_in_yaml():
    """What is to be written must be read as the number that is meant (YAML 1.1 would take 7e10 for a text)."""
    (output,) = remarks(BENDY.replace("70.0e+9", "70", 1))
    assert read_yaml(re.search(r"write (\S+) if", output)[1])[0] == 70e9


def test_modes_of_a_file_in_millimetres_and_per_cent():
    robot = pp.loads(BENDY)
    modes = modes_of(robot)
    far = replace(modes, nodes=1e3 * modes.nodes, attachments=1e3 * modes.attachments, reach=None)
    stiff = replace(modes, damping_ratio=np.full(modes.count, 2.0))
    for changed, message in (
        (far, "platform.modes m"),  # nodes lie inside the outline
        (stiff, "platform.modes damping_ratio 2 0.02"),
    ):
        platform = robot.platform.model_copy(update={"plate": None, "modes": changed})
        (output,) = suspicious_numbers(robot.model_copy(update={"platform": platform}))
        says(output, message)


def nearly_singular(digits):
    """The template with a platform that is the base at half its size, parallel to it, rounded."""
    document = yaml.safe_load(RIGID)
    for leg in document["legs"]:
        leg["platform"] = np.round(np.multiply(leg["base"], 0.5123), digits).tolist()
    return yaml.safe_dump(document)


def test_a_nearly_singular_home_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("near.yaml")
    path.write_text(nearly_singular(4))
    report = check("near.yaml")
    (output,) = report.warnings
    condition = float(re.search(r"condition number ([\d.e+]+) ", output)[1])
    assert condition > 1e3
    assert "Are platform and base similar and parallel" in output
    with warned(ImplausibleWarning, "home") as caught:
        model = pp.Model("near.yaml")
    assert caught[0].filename == __file__  # reported at the line that made the model
    # the ratio of the singular values of J, rotations in units of the mean joint radius
    size = np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs])
    scaled = model.jacobian(model.robot.home.matrix) / np.r_[np.ones(3), np.full(3, size)]
    assert condition == pytest.approx(np.linalg.cond(scaled), rel=1e-3)  # four digits are printed
    path.write_text(RIGID)
    assert check("near.yaml").warnings == []


@pytest.mark.parametrize("euler", ["ZYX", "xyz", "YXZ", "zxz", "XYX"])
def test_home_by_angles_is_home_by_a_matrix(euler):
    """Angles mean what SciPy means by them; what is written again is the matrix."""
    angles = [0.2, -0.1, 0.3]
    text = RIGID.replace("# euler: ZYX", f"euler: {euler}").replace("# angles: [0.0, 0.0, 30 deg]", f"angles: {angles}")
    robot = pp.loads(text)
    assert robot.home.angles is None
    # three products of rotations of unit size: some roundings
    assert np.abs(robot.home.matrix[:3, :3] - Rotation.from_euler(euler, angles).as_matrix()).max() < 1e-15
    assert pp.loads(pp.dumps(robot)) == robot


def test_limits_in_millimetres_are_reported_with_what_to_write(tmp_path):
    path = tmp_path / "mm.yaml"
    path.write_text(template("robot", "mm").replace("length: [0.45, 0.85]", "length: [450, 850]"), encoding="utf-8")
    report = check(path)
    assert report.ok
    assert not report.clean
    (text,) = [text for text in report.warnings if "450 mm" in text]
    says(text, "450 mm 850 0.45 0.85")


@pytest.mark.parametrize(
    ("element", "field"),
    [
        ("kind: spring, stiffness: 10, at: [[0, 0, 0], [0, 0, 400]]", "elements.e.at"),
        ("kind: spring, stiffness: 10, at: [[0, 0, 0], [0, 0, 0.4]], length: 350", "elements.e.length"),
        ("kind: gas spring, at: [[0, 0, 0], [0, 0, 0.4]], force: [[0.3, 500], [600, 400]]", "elements.e.force"),
        ("kind: gas spring, at: [[0, 0, 0], [0, 0, 0.4]], force: [[0.3, 500], [0.6, 400]]", ""),
    ],
)
def test_elements_in_millimetres(element, field):
    text = f"{RIGID}\nelements: [{{name: e, between: [base, platform], {element}}}]\n"
    found = [remark for remark in remarks(text) if "elements." in remark]
    assert [field in remark and "mm" in remark for remark in found] == ([True] if field else [])
