"""C++ headers, C of a fixed number of iterations, and the loop around it, compiled with all warnings as errors."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.export import EXPORTS, export_c, export_cpp
from support.refusals import refused
from test_export_step import call, compiled

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
STRICT = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
ROUNDING = 1e-12  # as many operations in another order, times condition numbers below 100
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler (g++, clang++) on this machine")
EXAMPLES = Path(__file__).parents[2] / "examples"


def renamed(model: pp.Model, name: str) -> pp.Model:
    return pp.Model(model.robot.model_copy(update={"name": name}))


def example(header: str) -> str:
    """The main.cpp in a header's comment."""
    after = header.partition(" * Example of a main.cpp, at home and at rest:\n *\n")[2]
    return "\n".join(line[7:] for line in after.partition("\n */")[0].splitlines()) + "\n"


@needs_compiler
def test_headers_compile_together_and_give_the_models_numbers(model_of: Any, tmp_path: Path) -> None:
    """Two functions of one robot, called like a word of the language, in one program; the example of one prints."""
    model = renamed(model_of("staicu"), "int")
    home, still = model.robot.home.matrix, np.zeros(6)
    printed, wanted = [], [model.inverse_dynamics(home, still, still), model.energy(home, still)[:2]]
    includes = []
    for function in ("inverse_dynamics", "energy", "control_step"):
        ((file, text),) = EXPORTS["c++"].files(model, function, True).items()
        (tmp_path / file).write_text(text)
        includes.append(f'#include "{file}"\n')
    name, header = export_cpp(model, "inverse_dynamics")
    assert name == "int_inverse_dynamics"
    assert "new " not in header.partition("*/")[2]
    (tmp_path / "example.cpp").write_text("".join(includes) + example(header))
    pose = ", ".join(map(repr, home.ravel().tolist()))
    body = f"""
int main() {{
    const std::array<double, 16> pose{{{pose}}};
    const auto found = polypod::int_robot::energy(pose, {{}});
    std::printf("%.17g\\n%.17g\\n", found.kinetic, found.potential);
    return found.quality > 1e-7 ? 0 : 1;
}}
"""
    (tmp_path / "energy.cpp").write_text("#include <cstdio>\n" + "".join(includes) + body)
    for compiler, program in [(COMPILERS[0], "energy"), *((compiler, "example") for compiler in COMPILERS)]:
        command = [compiler, *STRICT, f"{program}.cpp", "-o", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        run = subprocess.run([tmp_path / program], capture_output=True, text=True, check=True)
        printed.append(np.array(run.stdout.split(), dtype=float))
    energy, *forces = printed
    assert energy == pytest.approx([float(x) for x in wanted[1]], rel=ROUNDING)
    for force in forces:
        assert np.abs(force - wanted[0]).max() <= ROUNDING * np.abs(wanted[0]).max()


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_single_precision_and_numbers_as_parameters(precision: str, model_of: Any, tmp_path: Path) -> None:
    """The robot's numbers by default and others, in the type of the header; its own example runs."""
    model = model_of("staicu")
    home, still = model.robot.home.matrix, np.zeros(6)
    chosen = ("platform.mass", "gravity")
    ((file, text),) = EXPORTS["c++"].files(model, "inverse_dynamics", True, chosen, precision).items()
    end = "" if precision == "double" else "_float"
    assert file == f"staicu_inverse_dynamics{end}.hpp"
    (tmp_path / file).write_text(text)
    (tmp_path / "example.cpp").write_text(example(text))
    pose = ", ".join(f"{precision}({value!r})" for value in home.ravel().tolist())
    name = f"inverse_dynamics{end}"
    (tmp_path / "other.cpp").write_text(f"""#include <cstdio>
#include "{file}"
int main() {{
    const std::array<{precision}, 16> pose{{{pose}}};
    polypod::staicu::{name}_parameters heavy = polypod::staicu::{name}_defaults;
    heavy.platform_mass = 7;
    heavy.gravity[2] = -2;
    for (const {precision} value : polypod::staicu::{name}(pose, {{}}, {{}}, {{}}, heavy).force)
        std::printf("%.17g\\n", static_cast<double>(value));
    return 0;
}}
""")
    wanted = {
        "example": model.inverse_dynamics(home, still, still),
        "other": model.inverse_dynamics(
            home, still, still, parameters={"platform.mass": 7.0, "gravity": [*model.robot.gravity[:2], -2.0]}
        ),
    }
    for compiler, program in zip((COMPILERS * 2)[:2], wanted, strict=True):
        command = [compiler, *STRICT, f"{program}.cpp", "-o", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        run = subprocess.run([tmp_path / program], capture_output=True, text=True, check=True)
        printed = np.array(run.stdout.split(), dtype=float)
        allowed = ROUNDING if precision == "double" else 1e-5
        assert np.abs(printed - wanted[program]).max() <= allowed * np.abs(wanted[program]).max()
    with refused(InputError, "precision double float half"):
        export_cpp(model, precision="half")  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_a_fixed_number_of_iterations(model_of: Any, tmp_path: Path) -> None:
    """Enough rounds give what the iteration gives, too few say so; no loop is left that depends on the state."""
    model = model_of("kim-ryu")
    home = model.robot.home.matrix
    moved = home.copy()
    moved[:3, 3] += [0.004, -0.003, 0.002]
    q = model.inverse_kinematics(moved)
    found = {}
    for iterations in (None, 2, 8):
        exported = export_c(model, "forward_kinematics", iterations=iterations)
        assert exported[0] == "kim_ryu_forward_kinematics" + (f"_{iterations}_iterations" if iterations else "")
        assert ("while" in exported[2]) == (iterations is None)
        found[iterations] = call(compiled(tmp_path, "cc", exported), exported[1], np.float64, q=q, pose=home)
    assert np.array_equal(found[8]["pose_found"], found[None]["pose_found"])
    assert np.abs(found[8]["pose_found"].reshape(4, 4) - moved).max() < 1e-13
    assert found[8]["residual"] < 1e-14 < 1e-12 < found[2]["residual"]
    assert "Every loop takes 12 iterations" in " ".join(
        EXPORTS["c"]
        .files(model, "forward_kinematics", True, iterations=12)["kim_ryu_forward_kinematics_12_iterations.h"]
        .split()
    )
    assert export_c(model, "jacobian", iterations=3) == export_c(model, "jacobian")  # it does not iterate
    with refused(InputError, "iterations 1 0"):
        export_c(model, "forward_kinematics", iterations=0)


def test_names_with_marks_of_comments(model_of: Any) -> None:
    """Neither a beginning nor an end of a comment: compilers warn of one within another."""
    model = renamed(model_of("staicu"), "a /* b */ c -- d // e")
    for text in (export_c(model, "inverse_kinematics")[1], export_cpp(model, "inverse_kinematics")[1]):
        comments = re.findall(r"/\*.*?\*/", text, re.DOTALL)
        assert text.count("/*") == text.count("*/") == len(comments)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_example_of_a_control_loop(tmp_path: Path) -> None:
    """It keeps both rates for a moment; times are positive, and a step is far shorter than a period."""
    spec = importlib.util.spec_from_file_location("control_loop", EXAMPLES / "control_loop.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    times = module.run("hexapod", 10000.0, 0.02, tmp_path)
    assert set(times) == {"step", "wake"}
    median, worst, jitter = times["step"]
    assert 0.0 < median <= worst
    assert jitter <= worst
    assert median < 100.0
    assert len(module.draw({10000.0: times}).axes[0].get_yticklabels()) == 2
