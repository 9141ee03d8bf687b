"""C functions that take numbers of the robot in a struct equal the kernels that are given the same numbers."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polypod.cli.options import split_paths
from polypod.errors import UnknownNameError
from polypod.export import export_c
from polypod.export.c import DOUBLE, Struct
from polypod.parameters.chosen import ChosenNumbers
from support.command_line import polypod
from support.refusals import failed, refused

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O0", "-shared", "-fPIC"]
# Both are the same operations; the kernel may fuse products with sums: some roundings of the largest number.
ROUNDING = 1e-14


def compiled(folder: Path, compiler: str, exported: tuple[str, str, str]) -> Any:
    name, header, source = exported
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    subprocess.run([compiler, *STRICT, f"{name}.c", "-lm", "-o", f"{name}-{compiler}.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / f"{name}-{compiler}.so"))


def call(library: Any, header: str, struct: Any, **given: Any) -> dict[str, Any]:
    """Arrays by name after a call, in the order of the prototype."""
    labels = re.findall(r"\*(\w+)[,)]", header.partition("*/")[2])
    sizes = {label: int(size) for label, size in re.findall(r"^ \*   (\w+)\[(\d+)\]$", header, re.MULTILINE)}
    arrays = {label: np.zeros(sizes[label]) for label in labels if label != "parameters"} | {"parameters": struct}
    for label, value in given.items():
        arrays[label][:] = np.ravel(value)
    name = re.search(r"^int (\w+)\(", header, re.MULTILINE)[1]  # type: ignore[index]
    getattr(library, name)(*[arrays[label].ctypes.data_as(ctypes.c_void_p) for label in labels])
    return arrays


def defaults(library: Any, name: str, count: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_double * count).in_dll(library, f"{name}_defaults")).copy()


PATHS = ("platform.*", "gravity", "legs.*.slider.mass", "legs.1.link.com", "legs.0.axis", "legs.*.length")


def changed(numbers: ChosenNumbers) -> tuple[Any, dict[str, Any]]:
    """Other numbers, in the struct's order and by path."""
    values, places, at = numbers.values, {}, 0
    for choice in numbers.choices:
        part = slice(at, at + choice.length)
        at += choice.length
        if choice.unit in ("kg", "kg m^2"):
            values[part] *= 1.3
        elif choice.unit == "1":
            values[part] *= 1.0002  # the digits of a file
        else:
            values[part] += [0.001, -0.002, 0.0005][: choice.length]
        places[choice.path] = values[part].reshape(choice.value.shape)
    return values, places


@needs_compiler
def test_forces_are_those_of_the_kernel_with_the_same_numbers(tmp_path: Path, model_of: Any) -> None:
    """Mass, centre (zeros too) and tensor of a body, lengths, a direction; in a step of a controller, too."""
    model = model_of("staicu")
    numbers = ChosenNumbers(model.robot, PATHS)
    other, places = changed(numbers)
    home, still = model.robot.home.matrix, np.zeros(6)
    twist, acceleration = np.array([[0, 0, 1.0, 0, 0, 0], [0, 0, -2.0, 0, 0, 0]])
    exported = export_c(model, "inverse_dynamics", parameters=PATHS)
    library = compiled(tmp_path, "gcc" if shutil.which("gcc") else "cc", exported)
    own = defaults(library, exported[0], len(numbers.values))
    assert (own == numbers.values).all()
    for values, design in ((own, {}), (other, {"parameters": places})):
        found = call(library, exported[1], values, pose=home, twist=twist, acceleration=acceleration)
        expected = model.inverse_dynamics(home, twist, acceleration, **design)
        assert np.abs(found["force"] - expected).max() <= ROUNDING * np.abs(expected).max()
        assert found["quality"][0] > 1e-3
    step = export_c(model, "control_step", parameters=PATHS)
    q = model.inverse_kinematics(home, parameters=places)
    found = call(compiled(tmp_path, "cc", step), step[1], other, q=q, pose=home)
    expected = model.inverse_dynamics(home, still, still, parameters=places)
    assert np.abs(found["force"] - expected).max() <= 10 * ROUNDING * np.abs(expected).max()


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not on this machine")
def test_clang_has_no_objection(tmp_path: Path, model_of: Any) -> None:
    """Single precision, and functions that depend on none of the numbers."""
    for function, path in (("inverse_dynamics", "all"), ("jacobian", "platform.mass")):
        compiled(tmp_path, "clang", export_c(model_of("staicu"), function, True, "float", [path]))


def test_all_is_every_number_but_zeros(model_of: Any) -> None:
    model = model_of("kim-ryu")
    robot = model.robot
    chosen = ChosenNumbers(robot, ["all"])
    paths = [choice.path for choice in chosen.choices]
    assert set(paths) == {path for path, value in model.parameters().items() if value.any()}
    assert "legs.0.slider.com" not in paths
    assert [c.path for c in ChosenNumbers(robot, ["legs.0.slider.com"]).choices] == ["legs.0.slider.com"]
    assert chosen.choices[0].unit == "m/s^2"


def test_members_have_names_of_their_own(model_of: Any) -> None:
    """Legs whose names are the same in C, or that of something else."""
    robot = model_of("kim-ryu").robot
    names = ["1", "a.b", "a_b", "platform", "x y", "é"]
    legs = tuple(leg.model_copy(update={"name": n}) for leg, n in zip(robot.legs, names, strict=True))
    renamed = robot.model_copy(update={"legs": legs})
    struct = Struct("robot", DOUBLE, ChosenNumbers(renamed, ["legs.*.length", "legs.3.slider.mass", "platform.mass"]))
    members = [name for name, _ in struct.members]
    assert len(set(members)) == len(members) == 8
    assert all(re.fullmatch(r"[A-Za-z]\w*", member, re.ASCII) for member in members)
    assert {"legs_1_length", "legs_2_length", "platform_length", "platform_mass"} <= set(members)
    odd = ["leg-1", "leg_1", "legs_0", "int", "a */ b", 'x" <y> /* z']
    legs = tuple(leg.model_copy(update={"name": n}) for leg, n in zip(robot.legs, odd, strict=True))
    struct = Struct("robot", DOUBLE, ChosenNumbers(robot.model_copy(update={"legs": legs}), ["legs.*.length"]))
    assert [name for name, _ in struct.members] == [
        "legs_0_length_", "legs_1_length", "legs_0_length", "int_length", "a____b_length", "x___y_____z_length"
    ]  # fmt: skip
    assert not re.search(r"\*/|/\*", "".join([*struct.listed(), struct.declaration(), struct.definition()]))


def test_what_cannot_be_an_input(model_of: Any, tmp_path: Path) -> None:
    with refused(UnknownNameError, name="platform.mas", near="platform.mass"):
        export_c(model_of("five-bar"), parameters=["platform.mas"])
    result = polypod("export", "js", "five-bar", "--parameters", "platform.mass", "--out", tmp_path)
    assert result.exit_code == 2
    failed(result, "--parameters")
    assert split_paths(["platform.mass, gravity", "legs.*.base"]) == ("platform.mass", "gravity", "legs.*.base")
    asked = ("export", "c", "staicu", "forward_kinematics", "--parameters", "legs.*.axis", "--float", "--iterations", 7)
    assert polypod(*asked, "--out", tmp_path).exit_code == 0  # options of one format go together
    header = (tmp_path / "staicu_forward_kinematics_float_7_iterations.h").read_text()
    assert re.search(r"float \w+_axis\[3\];", header)
    assert "takes 7 iterations" in " ".join(header.replace("*", " ").split())
