"""Every command with a robot whose platform bends."""

from __future__ import annotations

import ctypes
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from scipy.linalg import eigh

import polypod as pp
from polypod.export import export_c
from polypod.export.code import available_functions
from polypod.file_kinds import check
from polypod.files.templates import template
from polypod.motion import make_task
from polypod.platforms.modes import large_deflection
from polypod.results import robot_of
from polypod.results.brief import study_data
from polypod.simulation import simulate_tracking
from polypod.simulation.elastic_spectrum import spectral_radius
from support.command_line import polypod
from support.compare import assert_close
from support.refusals import failed, refused, says
from support.states import mostly_long


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``polypod new --flexible`` writes, with two modes instead of six."""
    path = tmp_path_factory.mktemp("bendy") / "bendy.yaml"
    text = template("robot", "bendy", "flexible")
    assert "modes: 6 #" in text
    path.write_text(text.replace("modes: 6 #", "modes: 2 #"), encoding="utf-8")
    return path


def output(*arguments: str) -> str:
    result = polypod(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_check_tells_modes_and_sag(robot: Path) -> None:
    report = check(robot)
    assert report.clean
    model = pp.Model(robot)
    deflection = model.deflection(model.static_equilibrium(model.robot.home.matrix).elastic)
    sag = 1e3 * np.linalg.norm(deflection, axis=-1).max()
    low, high = model.modes.frequencies / (2 * np.pi)
    wanted = f"flexible platform: 2 modes of {low:.4g} to {high:.4g} Hz; static deflection at home up to {sag:.4g} mm"
    assert report.remarks[-1] == wanted


def test_check_of_a_platform_too_soft(robot: Path, tmp_path: Path) -> None:
    soft = tmp_path / "soft.yaml"
    soft.write_text(robot.read_text(encoding="utf-8").replace("young: 70.0e+9", "young: 1.0e+5"), encoding="utf-8")
    report = check(soft)
    assert report.ok
    assert not report.clean
    says(report.warnings[-1], "load")


def test_check_of_a_plate_that_bends_by_more_than_it_is_thick(robot: Path, tmp_path: Path) -> None:
    thin = tmp_path / "thin.yaml"
    thin.write_text(
        robot.read_text(encoding="utf-8").replace("thickness: 0.012", "thickness: 0.0005"), encoding="utf-8"
    )
    report = check(thin)
    assert report.ok
    says(report.warnings[-1], "thickness 0.5 mm")
    model = pp.Model(robot)
    assert large_deflection(model.robot, np.zeros((6, 3)), model.size) == []
    assert "% of its size" in large_deflection(model.robot.rigid, np.full((6, 3), 0.1), model.size)[0]


@pytest.mark.long
def test_run_writes_how_the_platform_bends(robot: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = polypod("run", robot, "--out", folder, "--rate", 20, "--no-certify")
    assert done.exit_code == 0, done.output
    assert "Platform: flexible, 2 modes" in done.stdout
    result = pp.study(robot, make_task(pp.Model(robot), rate=20.0), certify=False)
    with xr.open_dataset(folder / "results.nc") as data:
        assert data["deflection"].dims == ("time", "leg", "axis")
        assert data["deflection"].attrs["units"] == "m"
        np.testing.assert_array_equal(data["elastic"], result.elastic)
        assert pp.loads(data.attrs["robot_file"]) == robot_of(result)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert '<figure id="bending">' in page
    assert "flexible, 2 modes" in page
    assert (folder / "figures" / "bending.svg").stat().st_size > 10_000
    size = np.linalg.norm(result.deflection.values, axis=-1).max()
    assert study_data(result)["summary"]["largest_deflection_m"] == pytest.approx(size, rel=1e-12)
    rigid = make_task(pp.Model("kim-ryu"), rate=20.0)
    assert study_data(pp.study("kim-ryu", rigid, certify=False))["summary"]["largest_deflection_m"] is None


def test_show_lists_the_plate_and_its_modes(robot: Path, tmp_path: Path) -> None:
    data = json.loads(output("show", str(robot), "--json", "--picture", str(tmp_path / "a.png")))
    assert data["platform"]["kind"] == "flexible"
    wanted = pp.Model(robot).modes.frequencies / (2 * np.pi)
    assert data["platform"]["frequencies_Hz"] == pytest.approx(wanted.tolist(), rel=1e-12)
    paths = {p["path"]: p for p in data["parameters"]}
    assert paths["platform.plate.young"]["unit"] == "Pa"
    assert paths["platform.plate.modes"]["value"] == 2
    assert "platform.mass" not in paths  # it follows from the plate
    assert "Flexible platform of" in output("show", str(robot), "--no-draw")


@pytest.mark.parametrize("controller", mostly_long(["elastic-computed-torque", "joint-pd", None], [None]))
def test_simulate(robot: Path, tmp_path: Path, controller: str | None) -> None:
    motion = tmp_path / "nod.yaml"
    motion.write_text(
        "name: nod\ntrajectory:\n  kind: poses\n  relative_to: home\n  poses:\n"
        "  - {time: 0.0, position: [0.0, 0.0, 0.0]}\n  - {time: 0.1, position: [0.0, 0.0, 0.01]}\n",
        encoding="utf-8",
    )
    exact = controller == "elastic-computed-torque"
    result = simulate_tracking(pp.Model(robot), motion, controller, rate=20_000.0 if exact else 1000.0)
    assert result.attrs["ended"] == "duration reached"
    assert result["elastic"].shape[1] == 2
    # the elastic state measured: an error of sampling only; else the platform counts as rigid, which joint-pd ignores
    bound = {"elastic-computed-torque": 5e-6, None: 1e-4, "joint-pd": 2e-3}[controller]
    assert np.abs(result["error"].values[:, :3]).max() < bound
    assert np.abs(result["energy_residual"]).max() < 1e-6 * np.abs(result["work_actuators"]).max()


@pytest.mark.long
def test_simulation_writes_how_the_platform_bends(robot: Path, tmp_path: Path) -> None:
    output("simulate", str(robot), "around-home", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "bending.png").stat().st_size > 10_000
    result = polypod("simulate", "kim-ryu", "--controller", "elastic-computed-torque")
    assert result.exit_code == 2
    says(result.stderr, "elastic-computed-torque kim-ryu")


def test_step_too_long_for_the_fastest_mode(robot: Path) -> None:
    model = pp.Model(robot)
    rate = spectral_radius(model, model.robot.home.matrix, np.zeros(2))
    # K q = w^2 M q of frame and modes by SciPy; a damping ratio of 0.02 hardly changes the size of a rate
    mass = model.mass_matrix(model.robot.home.matrix)
    stiffness = np.diag(np.r_[np.zeros(6), model.modes.stiffness])
    assert rate == pytest.approx(np.sqrt(eigh(stiffness, mass, eigvals_only=True)[-1]), rel=1e-3)
    with refused(pp.errors.InputError, "step 0.01"):
        pp.simulate(model, duration=0.1, rate=100.0, step=0.01)
    assert pp.simulate(model, np.zeros(6), duration=0.001, rate=1000.0).attrs["ended"] == "duration reached"


@pytest.mark.long
def test_run_of_a_frame_that_cannot_be_prescribed_exactly(robot: Path, tmp_path: Path) -> None:
    """Platform joints 5 cm above the plate: run says that the platform is taken not to vibrate, and why."""
    document = yaml.safe_load(robot.read_text(encoding="utf-8"))
    document["leg_defaults"]["length"] = [0.3, 1.2]
    document["platform"]["plate"]["modes"] = 6
    for leg in document["legs"]:
        leg["platform"][2] = 0.05
    stub = tmp_path / "stub.yaml"
    stub.write_text(yaml.safe_dump(document), encoding="utf-8")
    assert "it cannot follow a motion exactly" in check(stub).remarks[-1]
    assert "follow a motion exactly" not in check(robot).remarks[-1]
    result = polypod("run", stub, "--rate", "50", "--no-files", "--no-certify")
    assert result.exit_code == 0, result.output
    says(result.stderr, "Vibration")
    result = polypod("run", stub, "--rate", "50", "--no-files", "--no-certify", "--vibration")
    assert result.exit_code == 2
    says(result.stderr, "vibration")
    result = polypod("run", robot, "--rate", "50", "--no-files", "--no-certify", "--no-vibration")
    assert result.exit_code == 0, result.output
    says(result.stderr, "Vibration")


@pytest.mark.long
def test_wrench_where_the_modes_have_no_shape(robot: Path) -> None:
    """A simulation refuses it as the model does, at the start or when it comes."""
    model = pp.Model(robot)
    bare = pp.Model(model.robot.on_modes(replace(model.modes, origin_shape=None)))
    push = np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
    with refused(pp.errors.InputError, "wrench origin_shape"):
        pp.simulate(bare, duration=0.01, rate=1000.0, wrench=push)
    with refused(pp.errors.PolypodError, "origin_shape"):
        pp.simulate(bare, duration=0.01, rate=1000.0, wrench=lambda t, m: push if t > 0.0045 else 0 * push)


@pytest.mark.long
def test_exported_c_is_the_kernel(robot: Path, tmp_path: Path) -> None:
    model = pp.Model(robot)
    rng = np.random.default_rng(0)
    pose = model.robot.home.matrix
    state = [pose, 0.3 * rng.normal(size=6), 1e-4 * rng.normal(size=2), 1e-2 * rng.normal(size=2)]
    state += [rng.normal(size=6), rng.normal(size=6)]
    for function in ("inverse_dynamics", "direct_dynamics", "reactions"):
        name, header, source = export_c(model, function)
        (tmp_path / f"{name}.h").write_text(header, encoding="utf-8")
        (tmp_path / f"{name}.c").write_text(source, encoding="utf-8")
        built = tmp_path / f"{name}.so"
        command = ["cc", "-std=c99", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(built)]
        subprocess.run([*command, str(tmp_path / f"{name}.c"), "-lm"], check=True)
        kernel = model.kernel(function, True)
        outputs = [np.zeros(p.shape or (1,)) for p in kernel.outputs]
        arrays = [np.ascontiguousarray(a) for a in (*state, *outputs)]
        call = getattr(ctypes.CDLL(str(built)), name)
        call(*(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in arrays))
        for got, wanted in zip(arrays[6:], kernel(*(a[None] for a in state)), strict=True):
            assert_close(got.reshape(1, -1), wanted.reshape(1, -1), 1e-12)


@pytest.mark.long
def test_every_flexible_function_can_be_exported(robot: Path) -> None:
    model = pp.Model(robot)
    for function in available_functions(model):
        _, header, _ = export_c(model, function)
        assert "Output:" in header
    with refused(pp.errors.UnknownNameError, near="steady_shape"):
        export_c(model, "steady_shap")


def test_motions_have_no_platform(tmp_path: Path) -> None:
    refused = polypod("new", "lift", "--motion", "--flexible", "--out", tmp_path / "lift.yaml")
    assert refused.exit_code == 2
    failed(refused, "--flexible --motion")
    assert not list(tmp_path.iterdir())
