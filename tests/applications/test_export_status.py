"""Exported C says whether its answer is one: a status for every kind of failure, bounds, stamps, and the safe step."""

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
from polypod.export import export_c
from polypod.files import digest
from support.refusals import refused
from support.states import displaced, mostly_long
from test_export_c import flexible
from test_export_step import STRICT

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
OK, INVALID_INPUT, NO_SOLUTION, NOT_CONVERGED, NEAR_SINGULAR, OUT_OF_RANGE, NOT_FINITE = range(7)
UNWRITTEN = -77.0


class Exported:
    """An exported function, compiled with all warnings as errors; a call gives its status and arrays by name."""

    def __init__(self, folder: Path, model: pp.Model, function: str, *flags: str, **choices: Any) -> None:
        name, self.header, self.source = export_c(model, function, **choices)
        (folder / f"{name}.h").write_text(self.header)
        (folder / f"{name}.c").write_text(self.source)
        library = folder / f"{name}-{len(list(folder.iterdir()))}.so"  # each is loaded once
        flags = flags or ("-O0",)
        subprocess.run(["cc", *STRICT, "-pedantic", *flags, "-fPIC", "-c", f"{name}.c"], cwd=folder, check=True)
        # linked without flags: -ffast-math would make the whole process take subnormal numbers for zero
        subprocess.run(["cc", "-shared", f"{name}.o", "-lm", "-o", library], cwd=folder, check=True)
        self.library = ctypes.CDLL(str(library))
        self.name, self.function = name, getattr(self.library, name)
        self.number = np.float32 if choices.get("precision") == "float" else np.float64
        declared = self.header.partition("*/")[2]
        self.inputs = re.findall(r"const \w+ \*(\w+)[,)]", declared)
        self.outputs = re.findall(r"(?<!const )(?:double|float) \*(\w+)[,)]", declared)
        pairs = re.findall(r"^ \*   (\w+)\[(\d+)\]$", self.header, re.MULTILINE)
        self.sizes = {label: int(size) for label, size in pairs}

    def __call__(self, **given: Any) -> tuple[int, dict[str, Any]]:
        arrays = {label: np.zeros(self.sizes[label], self.number) for label in self.inputs}
        arrays |= {label: np.full(self.sizes[label], UNWRITTEN, self.number) for label in self.outputs}
        for label, value in given.items():
            arrays[label][:] = np.ravel(value)
        return self.function(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays.values())), arrays

    def macro(self, name: str) -> float:
        """A number that the header defines."""
        found = re.search(rf"#define {self.name.upper()}_{name} (\S+)", self.header)
        assert found
        return float(found[1].rstrip("fU"))


@pytest.fixture(scope="module")
def five_bar() -> pp.Model:
    return pp.Model("five-bar")


@pytest.mark.parametrize("precision", ["double", "float"])
def test_every_input_that_is_not_a_number_is_refused(precision: str, tmp_path: Path, five_bar: pp.Model) -> None:
    """Each number of each input, NaN and infinite; tests by bits hold with -ffast-math, which lets compilers drop
    others. Outputs are not touched."""
    home = five_bar.robot.home.matrix
    step = Exported(tmp_path, five_bar, "control_step", "-O1", "-ffast-math", precision=precision)
    given = {"q": five_bar.inverse_kinematics(home), "pose": home}
    assert step(**given)[0] == OK
    for label in step.inputs:
        for k in range(step.sizes[label]):
            for bad in (np.nan, np.inf, -np.inf):
                values = np.array(given.get(label, np.zeros(step.sizes[label]))).ravel()
                values[k] = bad
                status, found = step(**{**given, label: values})
                assert status == INVALID_INPUT, (label, k, bad)
                assert all((found[one] == UNWRITTEN).all() for one in step.outputs)


def test_a_pose_that_is_none_is_refused(tmp_path: Path, five_bar: pp.Model) -> None:
    kinematics = Exported(tmp_path, five_bar, "inverse_kinematics")
    home = five_bar.robot.home.matrix
    mirrored, scaled, row, still = home.copy(), home.copy(), home.copy(), home.copy()
    mirrored[:3, 2] *= -1
    scaled[0, 0] += 3e-6
    row[3, 3] = 0.0
    still[0, 0] += 3e-8  # digits of a file
    assert [kinematics(pose=pose)[0] for pose in (mirrored, scaled, row, np.zeros((4, 4)), still, home)] == [
        *[INVALID_INPUT] * 4, OK, OK
    ]  # fmt: skip


def test_the_status_names_the_failure(tmp_path: Path, five_bar: pp.Model, model_of: Any) -> None:
    """No solution, a leg that does not reach, numbers that overflow, friction that has not converged."""
    home = five_bar.robot.home.matrix
    step = Exported(tmp_path, five_bar, "control_step")
    q = five_bar.inverse_kinematics(home)
    assert step(q=q, pose=home)[0] == OK
    assert step(q=q + np.array([2.5, -2.5]), pose=home)[0] == NO_SOLUTION  # links that are too short
    assert step(q=q, pose=home, qdot=[1e200, 1e200])[0] == NOT_FINITE
    far = home.copy()
    far[:3, 3] += [9.0, 0.0, 0.0]
    assert Exported(tmp_path, five_bar, "inverse_kinematics")(pose=far)[0] == NEAR_SINGULAR
    model = model_of("kim-ryu")  # dry friction
    moving = {"pose": model.robot.home.matrix, "twist": [0.3, -0.2, 0.1, 0.4, 0.2, 0.3]}
    assert Exported(tmp_path, model, "inverse_dynamics")(**moving)[0] == OK
    assert Exported(tmp_path, model, "inverse_dynamics", iterations=1)(**moving)[0] == NOT_CONVERGED


def test_parameters_are_inputs_too(tmp_path: Path, five_bar: pp.Model) -> None:
    dynamics = Exported(tmp_path, five_bar, "inverse_dynamics", parameters=["platform.mass", "legs.0.bodies.*.mass"])
    dynamics.sizes["parameters"] = len(re.findall(r"^    double \w+;$", dynamics.header, re.MULTILINE))
    masses = np.ones(dynamics.sizes["parameters"])
    assert len(masses) > 1
    home = five_bar.robot.home.matrix
    assert dynamics(pose=home, parameters=masses)[0] == OK
    for k in range(len(masses)):
        bad = masses.copy()
        bad[k] = np.nan
        assert dynamics(pose=home, parameters=bad)[0] == INVALID_INPUT


def test_limits_have_their_bounds_inside(tmp_path: Path, five_bar: pp.Model) -> None:
    """Out of range where, and only where, the model's own judge says that a limit is exceeded."""
    limits, draw = Exported(tmp_path, five_bar, "limits"), np.random.default_rng(4)
    statuses = []
    for _ in range(60):
        motion = five_bar.motion(*draw.uniform(-1, 1, (3, 2)) * [[0.01], [0.3], [8.0]])
        wrench = np.r_[draw.normal(size=2) * 20, np.zeros(4)]
        state = dict(zip(("pose", "twist", "acceleration"), motion, strict=True)) | {"wrench": wrench}
        use = five_bar.limits(*motion, wrench).use.max()
        status, found = limits(**state)
        assert found["use"].max() == pytest.approx(use, rel=1e-9)
        assert status == (OUT_OF_RANGE if use > 1 else OK)
        statuses.append(status)
    assert {OK, OUT_OF_RANGE} == set(statuses)


def test_a_safe_step_gives_forces_within_all_limits_only(tmp_path: Path, five_bar: pp.Model) -> None:
    """Forces of the control step to the bit; beyond a limit, near a singularity or with bodies that touch none."""
    home, draw = five_bar.robot.home.matrix, np.random.default_rng(5)
    step, safe = (Exported(tmp_path, five_bar, name) for name in ("control_step", "safe_step"))
    least = safe.macro("MIN_DISTANCE")
    assert least == pytest.approx(0.1 * float(five_bar.conditioning(home).distance), rel=0.05)
    statuses = []
    for _ in range(80):
        motion = five_bar.motion(*draw.uniform(-1, 1, (3, 2)) * [[0.01], [0.3], [8.0]])
        wrench = np.r_[draw.normal(size=2) * 10, np.zeros(4)]
        q, qdot = five_bar.inverse_kinematics(motion.pose), five_bar.rates(motion.pose, motion.twist)
        qddot = five_bar.accelerations(*motion)
        given = {"q": q, "qdot": qdot, "qddot": qddot, "pose": home, "wrench": wrench}
        status, found = safe(**given)
        plain, expected = step(**given)
        use = five_bar.limits(*motion, wrench).use.max()
        distance = float(five_bar.conditioning(motion.pose).distance)
        apart = five_bar.clearances.least(motion.pose)
        wanted = plain
        if plain == OK:
            touching = "clearance" in safe.outputs and apart.min() < 0
            wanted = NEAR_SINGULAR if distance < least else OUT_OF_RANGE if use > 1 or touching else OK
            assert found["distance"][0] == pytest.approx(distance, rel=1e-9)
            assert found["use"].max() == pytest.approx(use, rel=1e-9)
        assert status == wanted
        assert (found["force"] == (expected["force"] if status == OK else UNWRITTEN)).all()
        statuses.append(status)
    assert {OK, OUT_OF_RANGE} <= set(statuses)


def test_thresholds_are_the_programs_own(tmp_path: Path, five_bar: pp.Model) -> None:
    home = five_bar.robot.home.matrix
    q = five_bar.inverse_kinematics(home)
    distance = float(five_bar.conditioning(home).distance)
    for factor, status in ((0.99, OK), (1.01, NEAR_SINGULAR)):
        flag = f"-DFIVE_BAR_SAFE_STEP_MIN_DISTANCE={factor * distance!r}"
        assert Exported(tmp_path, five_bar, "safe_step", "-O0", flag)(q=q, pose=home)[0] == status


@pytest.mark.parametrize("robot", mostly_long(("five-bar", "tricept", "3-rps", "hexapod"), ("five-bar", "tricept")))
def test_loops_have_bounds_that_are_never_reached_by_a_solution(robot: str, tmp_path: Path, model_of: Any) -> None:
    """The compiled kernel loops until it is done; C ends at its bound. Coordinates that no pose has need most steps."""
    model = model_of(robot)
    kinematics = Exported(tmp_path, model, "forward_kinematics")
    assert not re.search(r"\bdo\b|\bwhile\b", kinematics.source)
    bound, home = int(kinematics.macro("MAX_ITERATIONS")), model.robot.home.matrix
    q = model.inverse_kinematics(home)
    near = model.inverse_kinematics(model.motion([0.01] * len(model.dof)).pose if model.dof else displaced(home, 0.01))
    steps = []
    for asked in (q, near, q + 0.5 * np.abs(q).max() * (-1.0) ** np.arange(len(q)), 20 * q + 1):
        status, found = kinematics(q=asked, pose=home)
        solved = found["residual"][0] <= kinematics.macro("MAX_RESIDUAL")
        assert (status == OK) <= solved
        steps.append(found["steps"][0])
    assert max(steps) <= bound
    assert steps[0] < 10


def test_the_stamp_says_which_robot_a_binary_holds(tmp_path: Path, five_bar: pp.Model) -> None:
    one = Exported(tmp_path, five_bar, "inverse_kinematics")
    heavier = pp.Model(five_bar.robot.with_(**{"platform.mass": 0.07}))
    stamp = ctypes.c_char_p(ctypes.addressof(ctypes.c_char.in_dll(one.library, f"{one.name}_stamp"))).value
    assert stamp is not None
    text = stamp.decode()
    assert f"polypod {pp.__version__}" in text
    assert f"robot five-bar, sha256 {digest(five_bar.robot)}" in text
    assert one.name in text
    assert text in " ".join(one.header.replace("\n *", " ").split())
    assert digest(heavier.robot) != digest(five_bar.robot)
    # the header of one export with the source of another is refused by the compiler
    name, header, _ = export_c(five_bar, "inverse_dynamics")
    _, _, source = export_c(heavier, "inverse_dynamics")
    (tmp_path / f"{name}.h").write_text(header)
    (tmp_path / f"{name}.c").write_text(source)
    done = subprocess.run(["cc", "-c", f"{name}.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "different exports" in done.stderr


@pytest.mark.long
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not on this machine")
@pytest.mark.parametrize("function", ["inverse_dynamics", "control_step"])
def test_the_stack_that_a_header_promises(function: str, tmp_path: Path, model_of: Any) -> None:
    """Single precision of dry friction takes most beside its numbers: clang vectorises."""
    name, header, source = export_c(model_of("kim-ryu"), function, precision="float")
    words = " ".join(header.replace("\n *", " ").split())
    promised = re.search(r"with -O1 and above (\d+) kB at most", words)
    assert promised
    (tmp_path / f"{name}.h").write_text(header)
    (tmp_path / f"{name}.c").write_text(source)
    for compiler in ("gcc", "clang"):
        for level in ("-O1", "-O2", "-Os"):
            subprocess.run([compiler, "-std=c99", level, "-fstack-usage", "-c", f"{name}.c"], cwd=tmp_path, check=True)
            lines = (tmp_path / f"{name}.su").read_text().splitlines()
            assert sum(int(line.split("\t")[1]) for line in lines) <= 1000 * int(promised[1]), (compiler, level)


def test_a_flexible_platform_has_no_step() -> None:
    with refused(InputError, "safe_step"):
        export_c(flexible(), "safe_step")
