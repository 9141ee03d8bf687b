"""A controller's step as C: four functions in one, in double and single precision, against the model's own calls."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.export import EXPORTS, export_c
from support.refusals import refused
from support.states import displaced, mostly_long

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


def compiled(folder: Path, compiler: str, exported: tuple[str, str, str]) -> Any:
    """The C function, compiled with every warning an error."""
    name, header, source = exported
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}-{compiler}.so"
    # without optimisation: thousands of statements compile in a moment
    subprocess.run(
        [compiler, *STRICT, "-O0", "-shared", "-fPIC", f"{name}.c", "-lm", "-o", library], cwd=folder, check=True
    )
    return getattr(ctypes.CDLL(str(library)), name)


def call(function: Any, header: str, number: Any, **given: Any) -> dict[str, Any]:
    """Arrays by name after a call, their sizes read from the header's list."""
    labels = re.findall(r"\*(\w+)[,)]", header.partition("*/")[2])
    sizes = {label: int(size) for label, size in re.findall(r"^ \*   (\w+)\[(\d+)\]$", header, re.MULTILINE)}
    sizes.setdefault("parameters", np.size(given.get("parameters", 0)))  # a struct of these numbers
    arrays = {label: np.zeros(sizes[label], dtype=number) for label in labels}
    for label, value in given.items():
        if label in arrays:
            arrays[label][:] = np.ravel(value)
    function(*[arrays[label].ctypes.data_as(ctypes.c_void_p) for label in labels])
    return arrays


STEPS = [(robot, precision) for robot in ("3-rps", "planar-4-rrr", "kim-ryu") for precision in ("double", "float")]


@pytest.mark.parametrize("case", mostly_long(STEPS, [("3-rps", "float"), ("planar-4-rrr", "double")], "-".join))
def test_a_step_is_the_models_own_calls(case: tuple[str, Any], tmp_path: Path, model_of: Any) -> None:
    """Dry friction, a platform that follows its legs, and more actuators than degrees of freedom."""
    robot, precision = case
    number, tolerance = (np.float64, 1e-12) if precision == "double" else (np.float32, 2e-5)
    model, rng = model_of(robot), np.random.default_rng(3)
    n, home = len(model.actuators), model.robot.home.matrix
    exported = export_c(model, "control_step", True, precision)
    function = compiled(tmp_path, "cc", exported)
    twist = (
        model.twist(home, 0.1 * rng.normal(size=n)) if robot != "planar-4-rrr" else 0.1 * np.array([1, 2, 0, 0, 0, 3.0])
    )
    # a pose near home that exists, also with more actuators than degrees of freedom
    shift = home.copy()
    own = len(model.robot.dof)
    shift = model.motion(0.01 * np.ones(own), np.zeros(own), np.zeros(own)).pose if own else shift
    q, qdot, qddot = (
        model.inverse_kinematics(shift),
        model.rates(shift, follow(model, shift, twist)),
        rng.normal(size=n),
    )
    if robot == "planar-4-rrr":
        qddot = 0 * qddot  # no four accelerations of one's own choice fit three degrees of freedom
    found = call(function, exported[1], number, q=q, qdot=qdot, qddot=qddot, pose=home, weights=np.ones(n))
    pose = model.forward_kinematics(q, home)
    moving = model.twist(pose, qdot)
    force = model.inverse_dynamics(pose, moving, model.acceleration(pose, moving, qddot))
    assert np.abs(found["pose_found"].reshape(4, 4) - pose).max() < tolerance
    assert np.abs(found["twist"] - moving).max() < tolerance * max(1.0, np.abs(moving).max())
    assert np.abs(found["force"] - force).max() < tolerance * max(1.0, np.abs(force).max())
    assert found["quality"][0] > 1e-3
    assert found.get("converged", [1.0])[0] == 1.0


def follow(model: pp.Model, pose: Any, twist: Any) -> Any:
    """The twist with the same chosen components that a robot can have at a pose."""
    if not model.kernels.mechanism.platform.is_constrained:
        return twist
    return model.kernels.get("follow")(pose[None], twist[None], np.zeros((1, 6)))[0][0]


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not on this machine")
@pytest.mark.parametrize("precision", ["double", "float"])
def test_clang_has_no_objection(precision: Any, tmp_path: Path, model_of: Any) -> None:
    compiled(tmp_path, "clang", export_c(model_of("staicu"), "control_step", True, precision))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_example_of_single_precision(model_of: Any, tmp_path: Path) -> None:
    """It compiles with all warnings as errors, and finds the pose to the residual that it allows."""
    model = model_of("staicu")
    name, header, source = export_c(model, "forward_kinematics", precision="float")
    (tmp_path / f"{name}.h").write_text(header)
    (tmp_path / f"{name}.c").write_text(source)
    after = header.partition(" * Example of a main.c, at home and at rest:\n *\n")[2]
    (tmp_path / "main.c").write_text("\n".join(line[7:] for line in after.partition("\n */")[0].splitlines()) + "\n")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O0"]
    subprocess.run(["cc", *flags, "main.c", f"{name}.c", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    found = np.array(done.stdout.split(), dtype=float).reshape(4, 4)
    assert np.abs(found - model.robot.home.matrix).max() < 1e-5


def bound_of_residual(header: str) -> float:
    """Above which the header says that there is no answer."""
    found = re.search(r"residual\[0\] <= ([\d.e-]+)\)", " ".join(header.replace("\n *", " ").split()))
    assert found
    return float(found[1])


@pytest.mark.parametrize("robot", mostly_long(("delta", "tricept", "hexapod", "kim-ryu", "reachy-mini"), ("tricept",)))
def test_forward_kinematics_in_single_precision_takes_no_more_steps(robot: str, tmp_path: Path, model_of: Any) -> None:
    """It went on after the error had stopped to fall (15 to 40 steps), and legs closed by iterating never closed."""
    model, rng = model_of(robot), np.random.default_rng(6)
    home, turns = model.robot.home.matrix, model.mobility.turns
    x = rng.uniform(-1, 1, (40, len(turns))) * np.where(turns, 0.15, 0.15 * model.size)
    pose = model.motion(x).pose if model.robot.dof else displaced(home, x)
    steps: dict[Any, Any] = {}
    for number, precision, tolerance in ((np.float64, "double", 1e-12), (np.float32, "float", 1e-5)):
        exported = export_c(model, "forward_kinematics", precision=precision)
        function, bound = compiled(tmp_path, "cc", exported), bound_of_residual(exported[1])
        found = [call(function, exported[1], number, q=q, pose=home) for q in model.inverse_kinematics(pose)]
        assert max(one["residual"][0] for one in found) <= bound
        assert min(one["quality"][0] for one in found) > 1e-3
        away = np.array([one["pose_found"].reshape(4, 4) for one in found]) - pose
        assert np.abs(away).max() < tolerance * (1 + model.size)
        steps[precision] = np.array([one["steps"][0] for one in found])
    assert (steps["float"] <= steps["double"]).all()


CHOICES: list[dict[str, Any]] = [{}, {"iterations": 6}, {"iterations": 6, "parameters": ["platform.mass"]}]


@pytest.mark.parametrize("choices", mostly_long(CHOICES, CHOICES[2:], lambda one: "-".join(one) or "plain"))
def test_friction_in_single_precision_converges(choices: dict[str, Any], tmp_path: Path, model_of: Any) -> None:
    """Loads that had settled were said not to: 11 % of the states, with six iterations 88 %."""
    model, rng = model_of("kim-ryu"), np.random.default_rng(7)
    exported = export_c(model, "inverse_dynamics", True, "float", **choices)
    function, count = compiled(tmp_path, "cc", exported), 200
    pose = displaced(model.robot.home.matrix, rng.uniform(-0.1, 0.1, (count, 6)))
    moving = [rng.uniform(-1, 1, (count, 6)) * scale for scale in (0.5, 3.0, 50.0)]
    force = model.inverse_dynamics(pose, *moving[:2], wrench=moving[2])
    names = ("pose", "twist", "acceleration", "wrench", "parameters")
    mass = np.full(count, model.robot.platform.mass)
    rows = zip(pose, *moving, mass, strict=True)
    found = [call(function, exported[1], np.float32, **dict(zip(names, row, strict=True))) for row in rows]
    assert all(one["converged"][0] == 1.0 for one in found)
    away = np.abs(np.array([one["force"] for one in found]) - force).max(axis=1)
    assert (away < 1e-5 * np.abs(force).max(axis=1)).all()


def test_friction_and_precision_are_in_the_name(model_of: Any) -> None:
    """All can be linked into one program."""
    model = model_of("staicu")
    names = [export_c(model, f, friction, p)[0] for f, friction, p in [
        ("inverse_dynamics", True, "double"), ("inverse_dynamics", False, "double"),
        ("inverse_dynamics", True, "float"), ("control_step", True, "double"),
        ("control_step", False, "double"), ("jacobian", False, "double"),
    ]]  # fmt: skip
    assert names == [
        "staicu_inverse_dynamics",
        "staicu_inverse_dynamics_without_friction",
        "staicu_inverse_dynamics_float",
        "staicu_control_step",
        "staicu_control_step_without_friction",
        "staicu_jacobian",  # no friction in it
    ]


def test_the_header_says_what_it_takes(model_of: Any, tmp_path: Path) -> None:
    """The stack of all functions together, as gcc and clang count it, with and without optimisation."""
    name, header, source = export_c(model_of("staicu"), "control_step")
    words = " ".join(header.replace("\n *", " ").split())
    sizes = re.search(r"the stack takes (\d+) kB at most; with -O1 and above (\d+) kB at most", words)
    (tmp_path / f"{name}.h").write_text(header)
    (tmp_path / f"{name}.c").write_text(source)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for level, most in zip(("-O0", "-O2"), map(int, sizes.groups()), strict=True):  # type: ignore[union-attr]
            flags = ["-std=c99", level, "-fstack-usage", "-c", f"{name}.c"]
            subprocess.run([compiler, *flags], cwd=tmp_path, check=True)
            lines = (tmp_path / f"{name}.su").read_text().splitlines()
            taken = sum(int(line.split("\t")[1]) for line in lines) / 1000
            assert taken <= most, (compiler, level)
            assert level == "-O2" or most < 1.4 * taken, compiler
    assert "-ffast-math" in words
    assert not re.search(r"static (?!inline |void |int )", source)  # nothing is kept between calls


def test_what_cannot_be_exported(model_of: Any) -> None:
    with refused(InputError, "precision half"):
        export_c(model_of("staicu"), "jacobian", True, "half")  # type: ignore[arg-type]
    assert list(EXPORTS["c"].files(model_of("staicu"), "jacobian", True, precision="float")) == [
        "staicu_jacobian_float.h",
        "staicu_jacobian_float.c",
    ]
