"""Drive catalogues: every drive against a robot file that has it, life by hand, and catalogues that are none."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.design import CatalogueFileError, load_catalogue, select_drives
from polypod.design.drives import life_hours
from polypod.errors import InputError
from polypod.files.templates import template
from polypod.limits import DRIVE_KINDS
from polypod.motion import make_task
from polypod.results import study
from polypod.results.verdict import judged_limits
from support.command_line import polypod
from support.refusals import failed, refused

RATE = 25.0
FIELDS = {"force [N]": "max_force", "rms [N]": "rms_force", "speed [mm/s]": "max_speed", "power [W]": "max_power",
          "lead [mm]": "lead", "inertia [kg cm^2]": "rotor_inertia"}  # fmt: skip


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    path = tmp_path_factory.mktemp("drives") / "drives.csv"
    path.write_text(template("catalogue", "drives"), encoding="utf-8")
    return path


def rows(path):
    """The catalogue as texts with units, read by nothing of polypod."""
    lines = [line.split(",") for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def settings(row, legs="*"):
    """What a robot file says of a drive."""
    units = {name: name.partition("[")[2].rstrip("]") for name in FIELDS}
    found = {f"legs.{legs}.{field}": f"{row[name]} {units[name]}" for name, field in FIELDS.items()}
    mass = 3.0 + float(row["mass [kg]"])  # the lower body of the library's hexapod has 3 kg
    return found | {f"legs.{legs}.rotor_mass": 0.0, f"legs.{legs}.lower.mass": mass}


def largest(robot, motion):
    """Largest use of a limit of the drives by actuator, with the drives in the robot file."""
    model = pp.Model(robot)
    report = judged_limits(study(model, make_task(model, motion, RATE), certify=False))
    found: dict[str, float] = {}
    for use, kind in zip(report.uses(), report.kinds, strict=True):
        if kind in DRIVE_KINDS:
            found[use.where] = max(found.get(use.where, 0.0), use.use)
    return np.array([found[a.name] for a in model.actuators])


def test_a_drive_is_judged_as_in_the_robot_file(catalogue):
    """Motor and mass by kernels of a robot that has them: another path than one added term; to rounding."""
    given = rows(catalogue)
    model = pp.Model("hexapod")
    motions = ["hexapod-tour", "around-home"]
    found = select_drives(model, motions, catalogue, body="lower", rate=RATE)
    (note,) = found.notes  # what is no limit of a drive
    assert "length range" in note
    for row in (given[0], given[2]):
        fit = next(one for one in found.fits if one.candidate.name == row["name"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = pp.load("hexapod", settings(row))
            expected = np.max([largest(robot, motion) for motion in motions], axis=0)
        assert fit.by_actuator == pytest.approx(expected, rel=1e-9)
        assert fit.use == pytest.approx(expected.max(), rel=1e-9)
        assert fit.fits == (expected.max() <= 1)
    fitting = [one.candidate.price for one in found.fits if one.fits]
    assert fitting == sorted(fitting)
    assert [one.fits for one in found.fits] == [True] * len(fitting) + [False] * (len(given) - len(fitting))
    assert 0 < len(fitting) < len(given)


def test_drives_per_leg_fit_together(catalogue, tmp_path):
    """Each leg has the cheapest that fits it; the mixture, with its masses, is judged as in a robot file."""
    text = catalogue.read_text().replace("small,200,110", "small,200,118")
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    found = select_drives(
        pp.Model("hexapod"), ["hexapod-tour"], tmp_path / "a.csv", body="lower", rate=RATE, per_leg=True
    )
    assert found.chosen is not None
    assert found.mixed is not None
    names = [one.name for one in found.chosen]
    assert set(names) == {"small", "medium"}
    by_name = {row["name"]: row for row in rows(tmp_path / "a.csv")}
    mixed = {}
    for k, name in enumerate(names):
        mixed |= settings(by_name[name], str(k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = largest(pp.load("hexapod", mixed), "hexapod-tour")
    assert found.mixed.by_actuator == pytest.approx(expected, rel=1e-9)
    assert expected.max() <= 1
    assert found.mixed.candidate.price == sum(float(by_name[name]["price"]) for name in names)


def test_life_by_hand():
    """Two loads for equal turns: F_m^3 = (1 + 8)/2; motion and rest; no load and no turn last for ever."""
    time = np.linspace(0.0, 4.0, 4001)
    speed = np.where((time < 1) | ((time > 2) & (time < 3)), 0.1, 0.0)  # moves half of the time
    force = np.where(time < 1.5, 1e3, -2e3)
    turns = 0.1 / 5e-3 * 0.5  # a second, on average
    expected = (10e3**3 / (1e9 * 4.5)) * 1e6 / turns / 3600
    assert life_hours(10e3, force, speed, time, 5e-3) == pytest.approx(expected, rel=2e-3)
    assert math.isinf(life_hours(10e3, force, 0 * speed, time, 5e-3))
    assert math.isinf(life_hours(10e3, 0 * force, speed, time, 5e-3))
    assert life_hours(20e3, force, speed, time, 5e-3) == pytest.approx(8 * expected, rel=2e-3)


BAD = {
    "wrong unit": ("force [N]", "force [kg]", "force kg N kN"),
    "no unit": ("speed [mm/s]", "speed", "speed mm/s"),
    "unknown column": ("rms [N]", "rsm [N]", "rsm rms"),
    "no name": ("name,", "nmae,", "nmae name"),
    "not a number": ("medium,1200", "medium,much", "much force"),
    "decimal comma": ("medium,1200,520", "medium,1200,5,20", "11 12"),
    "efficiency": ("efficiency [%]", "efficiency", "efficiency 90"),
    "twice": ("medium,", "small,", "small"),
    "two columns": ("rms [N]", "max_force [N]", "max_force"),
    "no limit": ("medium,1200,520,350,300", "medium,,,,", "medium"),
    "rating without lead": ("medium,1200,520,350,300,5", "medium,1200,520,350,300,", "medium lead"),
    "negative price": ("9.6,560", "9.6,-560", "medium price"),
}


@pytest.mark.parametrize("name", BAD)
def test_catalogues_that_are_none(name, catalogue, tmp_path):
    old, new, said = BAD[name]
    text = catalogue.read_text()
    head, _, body = text.partition("name,force")  # comments name columns too
    changed = ("name,force" + body).replace(old, new, 1)
    assert changed != "name,force" + body
    (tmp_path / "a.csv").write_text(head + changed, encoding="utf-8")
    with refused(CatalogueFileError, said):
        load_catalogue(tmp_path / "a.csv")


def test_a_catalogue_without_limits_or_rows(tmp_path):
    (tmp_path / "a.csv").write_text("name;price\na;1\n", encoding="utf-8")
    with refused(CatalogueFileError, "force speed"):
        load_catalogue(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("name;force [N]\n", encoding="utf-8")
    with refused(CatalogueFileError, "name new"):
        load_catalogue(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("name;force [kN];efficiency [%]\na;1.5;90\n", encoding="utf-8")
    (one,) = load_catalogue(tmp_path / "a.csv")
    assert one.drive.max_force == 1500.0
    assert one.drive.efficiency == 0.9


def test_drives_that_do_not_suit_the_robot(catalogue, tmp_path):
    (tmp_path / "a.csv").write_text("name,force [N]\na,100\n", encoding="utf-8")
    with refused(InputError, "max_force N m"):
        select_drives(pp.Model("delta"), [], tmp_path / "a.csv")
    with refused(InputError, "lead"):
        select_drives(pp.Model("delta"), [], catalogue)
    (tmp_path / "a.csv").write_text("name,motor_torque [N m],gear\na,1,5\n", encoding="utf-8")
    with refused(InputError, "leg1 lead"):
        select_drives(pp.Model("hexapod"), [], tmp_path / "a.csv")
    with refused(InputError, "planar-4-rrr"):
        select_drives(pp.Model("planar-4-rrr"), [], catalogue)
    with refused(InputError, "lowr lower upper"):
        select_drives(pp.Model("hexapod"), [], catalogue, body="lowr")


def test_the_command(catalogue, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert polypod("new", "--catalogue").exit_code == 0
    assert Path("drives.csv").read_text() == catalogue.read_text()
    done = polypod("drives", "hexapod", "hexapod-tour", "--catalogue", "drives.csv", "--rate", "25", "--out", "d.png")
    assert done.exit_code == 0, done.output
    assert Path("d.png").stat().st_size > 10_000
    data = json.loads(polypod("drives", "hexapod", "--catalogue", "drives.csv", "--rate", "25", "--json").stdout)
    assert data["best"] == next(one["drive"] for one in data["drives"] if one["fits"])
    assert len(data["drives"]) == 4
    failed(polypod("drives", "hexapod"), "--catalogue")
    failed(polypod("drives", "hexapod", "--catalogue", "none.csv"), "none.csv")
