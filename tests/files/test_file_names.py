"""Files that other files name stay below their folder unless allowed; archives are looked at before they are read."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.description import Friction, load_modes
from polypod.description.file_names import ALLOW_PATHS
from polypod.description.modes import files
from polypod.design import StudyFileError, load_study, loads_study
from polypod.errors import FileError, InputError, MotionFileError
from polypod.motion import load_motion, loads_motion
from polypod.motion.paths import Spline
from polypod.motion.resolve import robot_and_motion
from polypod.results.overview import _FRICTION_UNITS
from support.refusals import refused

CSV = "time,x\n0,0.1\n1,0.2\n"
MOTION = "name: a\ntrajectory: {kind: coordinates, path: {kind: spline, csv: %s}}\n"
STUDY = "name: a\nrobot: %s\nmotions: [%s]\nvary: [{parameters: platform.mass, range: [10, 40]}]\n"
ROBOT = "name: a\nplatform: {kind: flexible, modes: %s}\nlegs: []\n"
WRENCH = "name: a\ntrajectory: {kind: published, name: kim-ryu-circle}\nwrench: {csv: %s}\n"
POSES = "name: a\ntrajectory: {kind: poses, csv: %s}\n"
MEANT = "name: a\nrobot: %s\ntrajectory: {kind: published, name: kim-ryu-circle}\n"
FIELDS = {
    "path": ("motion", MOTION, "trajectory.path.csv"),
    "poses": ("motion", POSES, "trajectory.csv"),
    "wrench": ("motion", WRENCH, "wrench.csv"),
    "motion's robot": ("motion", MEANT, "robot"),
    "study's robot": ("study", STUDY.replace("%s]", "hexapod-tour]"), "robot"),
    "study's motion": ("study", STUDY.replace("robot: %s", "robot: hexapod"), "motions.0"),
    "modes": ("robot", ROBOT, "platform.modes"),
}
LOAD = {"motion": load_motion, "study": load_study, "robot": pp.load}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file beside it and one in it, and a link out of it."""
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    for place in (tmp_path, inside, inside / "below"):
        (place / "way.csv").write_text(CSV)
    (inside / "link.csv").symlink_to(tmp_path / "way.csv")
    (inside / "out").symlink_to(tmp_path)
    return inside


def faults(kind: str, text: str, folder: Path) -> list[str]:
    """The faults of a file in a folder, line and field leading."""
    path = folder / "file.yaml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        LOAD[kind](path)
    return [f"{fault.line} {fault.field}: {fault.message}" for fault in caught.value.faults]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ["../way.csv", "{above}/way.csv", "link.csv", "out/way.csv", "below/../../way.csv",
                                  "/etc/passwd", "/dev/zero", "../none.csv"])  # fmt: skip
def test_a_path_out_of_the_folder_is_refused_with_how_to_allow_it(field, name, project):
    kind, text, place = FIELDS[field]
    message = faults(kind, text % name.format(above=project.parent), project)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "%s" in row)
    outside = [fault for fault in message if "outside the folder of the file that names it" in fault]
    assert len(outside) == 1, message
    assert outside[0].startswith(f"{line} {place}: ")
    assert f"set {ALLOW_PATHS} to a list of allowed folders" in outside[0]


def test_paths_within_the_folder_and_allowed_ones_are_read(project, monkeypatch):
    def x(name: str) -> float:
        (project / "file.yaml").write_text(MOTION % name)
        return float(load_motion(project / "file.yaml").trajectory.path.at([1.0]).x.item())

    assert x("way.csv") == x("below/way.csv") == x(str(project / "way.csv")) == x("out/inside/way.csv") == 0.2
    monkeypatch.setenv(ALLOW_PATHS, os.pathsep.join((str(project / "none"), str(project.parent))))
    assert x("../way.csv") == x("link.csv") == 0.2
    monkeypatch.chdir(project.parent)
    monkeypatch.setenv(ALLOW_PATHS, ".")
    assert x("../way.csv") == 0.2
    monkeypatch.setenv(ALLOW_PATHS, "")  # nothing is not the working folder
    with refused(MotionFileError, code="outside_folder"):
        x("../way.csv")


def test_a_program_and_a_user_name_any_path(project, monkeypatch):
    """Only what a file says is held to its folder."""
    assert Spline(csv=str(project.parent / "way.csv")).at([1.0]).x.item() == 0.2
    (project.parent / "file.yaml").write_text(MOTION % "way.csv")
    monkeypatch.chdir(project)
    assert load_motion("../file.yaml").name == "a"
    with refused(MotionFileError, code="outside_folder"):
        loads_motion(MOTION % "../way.csv")
    assert loads_motion(MOTION % "way.csv", folder=project.parent).name == "a"
    with refused(StudyFileError, code="outside_folder"):
        loads_study(STUDY % ("../robot.yaml", "hexapod-tour"))


def test_a_motion_means_the_robot_beside_it(project, monkeypatch):
    (project / "file.yaml").write_text(MEANT % "mine.yaml")
    monkeypatch.chdir(project.parent)
    assert robot_and_motion("inside/file.yaml", None) == (str(Path("inside/mine.yaml")), "inside/file.yaml")
    (project / "file.yaml").write_text(MEANT % "kim-ryu")
    (project / "kim-ryu").symlink_to(project.parent)  # a folder called like a robot
    assert robot_and_motion("inside/file.yaml", None) == ("kim-ryu", "inside/file.yaml")


# -- archives -------------------------------------------------------------------------------------------------------


def header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """The header of an array that may not be there."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


def packed(path: Path, content: bytes, how: int = zipfile.ZIP_DEFLATED, name: str = "nodes.npy") -> Path:
    with zipfile.ZipFile(path, "w", how) as archive:
        archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header((1_250_000_000,)) + bytes(80), "nodes 10000000128 208"),
        (header((10**12, 10**12)), "nodes"),
        (header((3,)) + bytes(16), "nodes 152 144"),
        (header((3,)) + bytes(32), "nodes 152 160"),
        (header((-1, 8)), "modes.npz"),
        (header((1,), "|O") + b"cos\nsystem\n", "modes.npz Python"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "9.0 1.0 2.0"),
        (b"no array", "#not_an_archive"),
        (b"", "#not_an_archive"),
    ],
)
def test_an_array_that_is_not_what_it_claims_is_refused(content, message, tmp_path):
    with refused(InputError, message):
        load_modes(packed(tmp_path / "modes.npz", content))


def test_what_unpacks_to_much_more_than_it_is_is_refused_unread(tmp_path, monkeypatch):
    path = packed(tmp_path / "modes.npz", header((1_500_000,)) + bytes(12_000_000))
    with refused(InputError, "12 10 MB"):
        load_modes(path)
    monkeypatch.setattr(files, "MAX_BYTES", files.MAX_BYTES // 100)
    with refused(InputError, "12 10 MB"):
        load_modes(path)


def test_a_directory_that_lies_about_the_size_is_found_out(tmp_path):
    """The size in the zip's directory is what zipfile gives out at most, so lies hide no large arrays."""
    content = header((100_000,)) + bytes(800_000)
    path = packed(tmp_path / "modes.npz", content)
    data = path.read_bytes()
    lie = data.replace(struct.pack("<I", len(content)), struct.pack("<I", 208))
    assert lie != data
    path.write_bytes(lie)
    with refused(InputError, "modes.npz"):
        load_modes(path)


def test_other_members_packings_and_damage_are_refused(tmp_path):
    path, good = tmp_path / "modes.npz", header((3,)) + bytes(24)
    for how in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with refused(InputError, code="compression"):
            load_modes(packed(path, good, how))
    with refused(InputError, "evil"):
        load_modes(packed(path, good, name="evil.npy"))
    with refused(InputError, "../nodes"):
        load_modes(packed(path, good, name="../nodes.npy"))
    data = bytearray(packed(path, good).read_bytes())
    start = data.index(zlib.compress(good)[2:-4][:4])
    data[start : start + 20] = b"\xff" * 20
    path.write_bytes(data)
    with refused(InputError, code="not_an_archive"):
        load_modes(path)


def test_every_number_of_friction_has_its_unit():
    """``check`` and ``show`` list them; one without a unit stopped both."""
    assert set(_FRICTION_UNITS) == set(Friction.model_fields)
