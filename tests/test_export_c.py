"""Exported C code, compiled with the system's compiler, equals the kernels of the library."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import warnings
from itertools import product

import numpy as np
import pytest

import polypod as pp
from polypod.errors import UnknownNameError
from polypod.export import export_c
from polypod.model.kernels import FUNCTIONS
from polypod.motions import make_task

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc, clang) on this machine")

# The kernel may fuse products and sums, the C code here may not: a few roundings apart, multiplied by the condition
# number (at most 37 on these paths) and by the length of the computation.
ROUNDING = 1e-11


def model_of(name: str) -> pp.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.Model(name)


def compiled(folder, name: str, header: str, source: str):
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
    command = [COMPILER, *flags, str(folder / f"{name}.c"), "-lm", "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return getattr(ctypes.CDLL(str(library)), name)


def states(model: pp.Model, kernel, count: int = 7) -> list[np.ndarray]:
    """Rows of every input of a kernel, from the robot's own motion and random forces."""
    motion = make_task(model, rate=20.0).motion
    pick = np.linspace(0, len(motion.time) - 1, count).astype(int)
    random = np.random.default_rng(5)
    given = {
        "pose": motion.pose[pick],
        "twist": motion.twist[pick],
        "acceleration": motion.acceleration[pick],
        "wrench": random.normal(size=(count, 6)) * 50,
        "force": random.normal(size=(count, len(model.legs))) * 100,
        "q": model.inverse_kinematics(motion.pose[pick]),
    }
    named = [given.get(port.name) for port in kernel.inputs]
    guess = np.tile(model.robot.home.matrix, (count, 1, 1))
    rows = [guess if kernel.iterative and p.name == "pose" else a for p, a in zip(kernel.inputs, named, strict=True)]
    assert all(a is not None for a in rows), [port.name for port in kernel.inputs]
    return [np.ascontiguousarray(a) for a in rows]


def call(function, arrays, outputs):
    function.restype = None
    results = [np.full(shape or (1,), np.nan) for shape in outputs]
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results)))
    return results


@needs_compiler
@pytest.mark.parametrize(
    ("robot", "function"),
    [
        ("pedrammehr", "inverse_dynamics"),
        ("pedrammehr", "forward_kinematics"),
        ("kim-ryu", "inverse_dynamics"),  # dry friction: an iteration
        ("kim-ryu", "jacobian"),
        ("kim-ryu", "energy"),
        ("lopes", "mass_matrix"),
        ("long", "inverse_kinematics"),
        ("staicu", "direct_dynamics"),
        ("staicu", "bodies"),
        ("staicu", "reactions"),  # with numbers that are left open
    ],
)
def test_compiled_c_equals_the_kernel(robot, function, tmp_path):
    model = model_of(robot)
    kernel = model.kernel(function, friction=True)
    name, header, source = export_c(model, function, friction=True)
    c_function = compiled(tmp_path, name, header, source)
    rows = states(model, kernel)
    expected = kernel(*rows)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for k in range(len(rows[0])):
        got = call(c_function, [np.ascontiguousarray(a[k]) for a in rows], [p.shape for p in kernel.outputs])
        for port, value, wanted in zip(kernel.outputs, got, expected, strict=True):
            if port.name == "residual":  # rounding itself; both are tiny
                assert value[0] < 1e-12
                assert wanted[k] < 1e-12
                continue
            known = np.isfinite(wanted[k])
            assert (np.isfinite(value.reshape(known.shape)) == known).all(), port.name
            off = np.abs(value.reshape(known.shape) - wanted[k])[known].max()
            assert off <= ROUNDING * max(np.abs(wanted[k][known]).max(), 1e-9), port.name


@needs_compiler
def test_a_bad_state_is_no_number_in_c_either(tmp_path):
    model = model_of("kim-ryu")
    name, header, source = export_c(model, "inverse_kinematics")
    c_function = compiled(tmp_path, name, header, source)
    far = np.eye(4)
    far[:3, 3] = [5.0, 0.0, 0.9]  # farther from every rail than the links are long
    q, quality = call(c_function, [far], [(6,), ()])
    assert np.isnan(q).any()
    assert not quality[0] > 0.0  # NaN passes through the minimum, as in the kernel


def test_header_names_every_array():
    name, header, source = export_c(model_of("kim-ryu"), "inverse_dynamics")
    assert name == "kim_ryu_inverse_dynamics"
    for text in ("pose[4][4]", "twist[6]", "acceleration[6]", "wrench[6]", "force[6]", "quality[1]"):
        assert text in header
    assert 'extern "C"' in header
    includes = re.findall(r"#include [<\"](.*)[>\"]", source)
    assert includes == [f"{name}.h", "math.h"]  # self-contained


def test_header_explains_every_array_of_every_function():
    """Each argument is listed with its shape and a text that has its unit; no line is too wide to read."""
    for robot, (function, friction) in product(("kim-ryu", "staicu"), product(FUNCTIONS, (True, False))):
        model = model_of(robot)
        if function == "bias" and friction and robot == "kim-ryu":
            continue  # refused: dry friction needs the acceleration
        kernel = model.kernel(function, friction=friction)
        name, header, _ = export_c(model, function, friction)
        comment, _, code = header.partition("*/")
        told = dict(re.findall(r"^ \*   (\w+(?:\[\d+\])+)\n((?: \*       .*\n)+)", comment, re.MULTILINE))
        declared = re.findall(r"double \*(\w+)", code)
        assert [label.partition("[")[0] for label in told] == declared
        for label, port in zip(told, (*kernel.inputs, *kernel.outputs), strict=True):
            assert label.endswith("".join(f"[{n}]" for n in port.shape or (1,)))
            assert re.search(r"\[[^\]]+\]|as the input|laid out as the guess|1 if", told[label]), (function, label)
        assert max(map(len, header.splitlines())) <= 120
        assert f"cc -std=c99 -O2 main.c {name}.c -lm" in comment


def test_header_says_when_there_is_no_answer():
    header = " ".join(export_c(model_of("kim-ryu"), "inverse_dynamics")[1].replace("\n *", " ").split())
    for text in (
        "there is no answer: test !(quality[0] > 1e-7)",
        "1 if the loads that dry friction depends on repeated, 0 if the iteration gave up: then the other numbers are "
        "not an answer",
        "external wrench on the platform at the origin of {P}, base axes: force [N] first, then moment [N m]",
        "positive pushes towards a growing coordinate q",
        "homogeneous 4x4 matrix by rows",
        "with friction in its joints",
    ):
        assert text in header, text
    assert "converged" not in export_c(model_of("kim-ryu"), "inverse_dynamics", friction=False)[1]


def test_a_name_cannot_end_the_comment():
    data = model_of("kim-ryu").robot.model_dump()
    legs = [{**leg, "kind": "PUS"} for leg in data["legs"]]
    robot = pp.Robot.model_validate({**data, "legs": legs, "name": "evil */ int x;"})
    _, header, _ = export_c(pp.Model(robot), "inverse_kinematics")
    assert header.count("*/") == 1


def test_unknown_function_suggests():
    with pytest.raises(UnknownNameError, match=r"Did you mean .*'mass_matrix'"):
        export_c(model_of("kim-ryu"), "mass_matrx")
