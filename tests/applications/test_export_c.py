"""Exported C code, compiled with the system's compiler, equals the kernels of the library."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np
import pytest

import polypod as pp
from polypod.errors import UnknownNameError
from polypod.export import EXPORTS, export_c
from polypod.export.code import available_functions, named_expression
from polypod.export.header import ABOUT, INPUTS, OUTPUTS
from polypod.model.kernels import FUNCTIONS
from polypod.motion import make_task
from support.refusals import refused
from support.robots.chains import tripod
from support.robots.hexagon import hexagon_modes
from support.robots.rotary import hexa
from support.robots.unusual_chains import UNUSUAL

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc, clang) on this machine")

# The kernel may fuse products and sums, the C code here may not: a few roundings apart, multiplied by the condition
# number (at most 37 on these paths) and by the length of the computation.
ROUNDING = 1e-11


@cache
def model_of(name: str) -> pp.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.Model(name)


def compiled(folder, name: str, header: str, source: str):
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
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
        "force": random.normal(size=(count, len(model.actuators))) * 100,
        "q": model.inverse_kinematics(motion.pose[pick]),
        "qdot": random.normal(size=(count, len(model.actuators))),
        "qddot": random.normal(size=(count, len(model.actuators))),
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
        ("staicu", "direct_dynamics"),
        ("staicu", "reactions"),  # with numbers that are left open
        ("staicu", "joint_rates"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("kim-ryu", "jacobian"),
                ("kim-ryu", "energy"),
                ("kim-ryu", "conditioning"),
                ("kim-ryu", "twist"),
                ("kim-ryu", "joint_positions"),
                ("lopes", "mass_matrix"),
                ("long", "inverse_kinematics"),
                ("staicu", "bodies"),
            )
        ),
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
def test_c_of_more_actuators_than_dof_shares_their_work(tmp_path):
    """As the model does: by least norm where weights are ones and preloads zeros, else as these say."""
    model = model_of("planar-4-rrr")
    c_function = compiled(tmp_path, *export_c(model, "inverse_dynamics"))
    draw = np.random.default_rng(2)
    motion, wrench = model.motion(*0.01 * draw.normal(size=(3, 3))), draw.normal(size=6)
    weights, preload = draw.uniform(0.5, 3.0, 4), draw.normal(size=4)
    stated = pp.model.Distribution(weights=weights, preload=preload)
    alike = [np.ones(4), np.zeros(4)]
    for given, share in ((alike, None), ([weights, preload], stated)):
        arrays = [np.ascontiguousarray(a) for a in (*motion, wrench, *given)]
        force, _ = call(c_function, arrays, [(4,), ()])
        wanted = model.inverse_dynamics(*motion, wrench, distribution=share)
        assert np.abs(force - wanted).max() <= ROUNDING * np.abs(wanted).max()


@needs_compiler
def test_c_of_forces_within_bounds(tmp_path):
    """As the model does; not numbers where there are no such forces."""
    model = model_of("planar-4-rrr")
    c_function = compiled(tmp_path, *export_c(model, "bounded_inverse_dynamics"))
    motion, wrench = model.motion(*0.01 * np.random.default_rng(2).normal(size=(3, 3))), np.zeros(6)
    plain = model.inverse_dynamics(*motion, wrench)
    largest = plain == plain.max()
    for low, high, exists in (
        (np.full(4, -1e3), np.where(largest, 0.9 * plain.max(), 1e3), True),
        (np.full(4, -1e-3), np.full(4, 1e-3), False),
    ):
        arrays = [np.ascontiguousarray(a) for a in (*motion, wrench, np.ones(4), np.zeros(4), low, high)]
        force, _ = call(c_function, arrays, [(4,), ()])
        within = pp.Distribution(bounds=(low, high))
        wanted = model.inverse_dynamics(*motion, wrench, distribution=within, errors="nan")
        assert np.isfinite(wanted).all() == exists
        np.testing.assert_allclose(force, wanted, rtol=0, atol=ROUNDING * np.abs(plain).max())
    assert "bounded_inverse_dynamics" not in available_functions(model_of("kim-ryu"))


@needs_compiler
def test_c_of_heavy_cables_keeps_their_tensions(tmp_path):
    model = pp.Model(pp.load("planar-4-cable", {"legs.0.linear_density": 0.2, "legs.1.linear_density": 0.2}))
    c_function = compiled(tmp_path, *export_c(model, "inverse_dynamics"))
    for x in np.random.default_rng(2).normal(size=(5, 3, 3)) * 0.2:
        motion, wrench = model.motion(*x), np.zeros(6)
        arrays = [np.ascontiguousarray(a) for a in (*motion, wrench, np.ones(4), np.zeros(4))]
        force, _ = call(c_function, arrays, [(4,), ()])
        wanted = model.inverse_dynamics(*motion, wrench)
        assert wanted.max() <= -10.0  # no least norm of its own: it would push
        np.testing.assert_allclose(force, wanted, rtol=ROUNDING)


@needs_compiler
def test_a_function_with_an_empty_output_compiles_without_warnings(tmp_path):
    """Stiffness of a robot that states no compliances of legs and joints."""
    compiled(tmp_path, *export_c(model_of("planar-4-rrr"), "stiffness"))


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
    for text in ("pose[16]", "twist[6]", "acceleration[6]", "wrench[6]", "force[6]", "quality[1]"):
        assert text in header
    assert 'extern "C"' in header
    includes = re.findall(r"#include [<\"](.*)[>\"]", source)
    assert includes == [f"{name}.h", "math.h", "stdint.h", "string.h"]  # of C itself


@needs_compiler
@pytest.mark.parametrize("robot", ["ankle", pytest.param("delta", marks=pytest.mark.long)])
def test_coordinates_to_motors_and_back_are_one_call_each(robot, tmp_path):
    """(pitch, roll) to motors by ``motion``, motors to (pitch, roll) by ``forward_kinematics``, and by a pose."""
    model = model_of(robot)
    m, n = len(model.dof), len(model.actuators)
    functions = {}
    for name in ("motion", "forward_kinematics", "coordinates"):
        functions[name] = compiled(tmp_path, *export_c(model, name))
    for x in 0.04 * np.random.default_rng(2).uniform(-1, 1, (3, m)):
        still = np.zeros(m)
        wanted = model.motion(x, still, still)
        q = model.inverse_kinematics(wanted.pose)
        pose, _, _, found, quality = call(functions["motion"], [x, still, still], [(4, 4), (6,), (6,), (n,), ()])
        assert quality[0] > 1e-7
        assert np.abs(pose - wanted.pose).max() < ROUNDING
        assert np.abs(found - q).max() < ROUNDING
        home = np.ascontiguousarray(model.robot.home.matrix)
        _, back, residual, _, quality = call(functions["forward_kinematics"], [q, home], [(4, 4), (m,), (), (), ()])
        assert residual[0] < 1e-12
        assert quality[0] > 1e-7
        assert np.abs(back - x).max() < 1e-9
        from_pose, _ = call(functions["coordinates"], [np.ascontiguousarray(wanted.pose)], [(m,), ()])
        assert np.abs(from_pose - x).max() < ROUNDING


def test_an_unknown_function_is_told_all_that_there_are():
    with refused(UnknownNameError, "model function", "nosuch", "control_step", "joint_positions"):
        export_c(model_of("kim-ryu"), "nosuch")


@pytest.mark.long
def test_header_explains_every_array_of_every_function():
    """Each argument is listed with its shape and a text that has its unit; no line is too wide to read."""
    inputs, outputs, about = set(), set(), set()
    # dry friction puts one array into a header, whatever the function; the second and third robot where their arrays
    # or texts differ from those of the first
    models = model_of("lopes"), model_of("staicu"), flexible()
    elastic = ("bias", "jacobian", "mass_matrix", "accelerations", "steady_shape", "energy", "direct_dynamics")
    shown = FUNCTIONS, ("bias", "energy", "stiffness"), elastic
    cases = [
        (model, (function, False))
        for model, own in zip(models, shown, strict=True)
        for function in FUNCTIONS
        if function in own or function not in available_functions(model)
    ]
    cases += [(model_of("kim-ryu"), ("inverse_dynamics", True))]
    cases += [
        (pp.Model(tripod()), (function, True)) for function in ("motion", "coordinates", "follow", "rate_map")
    ]  # it follows its legs
    by_joint = pp.Robot.model_validate({**UNUSUAL["four-bar"](1), "dof": ["leg2.R2"]})
    cases += [(pp.Model(by_joint), ("joint_coordinates", False))]
    for model, (function, friction) in cases:
        if function not in available_functions(model):
            with pytest.raises(UnknownNameError):
                export_c(model, function, friction)
            continue
        _, kernel = named_expression(model, function, friction)
        name, header, _ = export_c(model, function, friction)
        inputs |= {port.name for port in kernel.inputs}
        outputs |= {port.name for port in kernel.outputs}
        about.add(function)
        comment, _, code = header.partition("*/")
        notes = dict(re.findall(r"^ \*   (\w+\[\d+\])\n((?: \*       .*\n)+)", comment, re.MULTILINE))
        declared = re.findall(r"double \*(\w+)", code)
        assert [label.partition("[")[0] for label in notes] == declared
        for label, port in zip(notes, (*kernel.inputs, *kernel.outputs), strict=True):
            assert label.endswith(f"[{prod(port.shape)}]")
            if len(port.shape) > 1:
                assert f"{'x'.join(map(str, port.shape))} by rows: " in notes[label]
            assert re.search(r"\[[^\]]+\]|as the input|laid out as the guess|1 if|units of the mode", notes[label]), (
                function,
                label,
            )
        assert max(map(len, header.splitlines())) <= 120
        assert f"cc -std=c99 -O2 main.c {name}.c -lm" in comment
    # no text without an array, no array without a text; more actuators than degrees of freedom have two inputs beside
    # these, and JavaScript may have the robot's numbers
    own = {"control_step", "limits", "clearance", "bounded_inverse_dynamics"}  # tests of their own
    assert about | {"elements"} == set(ABOUT) - own == set(FUNCTIONS)
    assert inputs == set(INPUTS) - {
        "weights",
        "preload",
        "low",
        "high",
        "parameters",
        "base_twist",
        "base_acceleration",
    }
    assert outputs == set(OUTPUTS) - {
        "use",
        "clearance",
        "loss",
        "displacement",
        "rate",
    }  # of limits, clearance, elements


def test_header_says_when_there_is_no_answer():
    header = " ".join(export_c(model_of("kim-ryu"), "inverse_dynamics")[1].replace("\n *", " ").split())
    for text in (
        "test !(quality[0] > 1e-7)",
        "converged[1] 1 if the iteration",
        "external wrench on the platform at the origin of {P}, base axes: force [N] first, then moment [N m]",
        "positive in the direction of increasing q",
        "4x4 by rows: platform frame {P} in the base frame {B}, homogeneous matrix",
        "All arrays are flat, double[n]",
        "The output converged refers to the dry friction in the joints",
        "with friction in its joints",
    ):
        assert text in header, text
    assert "converged" not in export_c(model_of("kim-ryu"), "inverse_dynamics", friction=False)[1]


@cache
def flexible(**missing: None) -> pp.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.Model(pp.load("long").on_modes(replace(hexagon_modes(2, damping_ratio=0.02), **missing)))


def example(header: str) -> str:
    """The main.c in a header's comment."""
    _, _, after = header.partition(" * Example of a main.c, at home and at rest:\n *\n")
    lines = after.partition("\n */")[0].splitlines()
    assert all(line == " *" or line.startswith(" *     ") for line in lines)
    return "\n".join(line[7:] for line in lines) + "\n"


def run(folder, name: str, header: str, source: str, main: str, name_of_main: str = "main") -> list[str]:
    """What a program prints that calls an exported function."""
    for file, text in ((f"{name}.h", header), (f"{name}.c", source), (f"{name_of_main}.c", main)):
        (folder / file).write_text(text)
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
    files = [str(folder / f"{name_of_main}.c"), str(folder / f"{name}.c")]
    program = str(folder / name_of_main)
    done = subprocess.run([COMPILER, *flags, *files, "-lm", "-o", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()


STILL = np.zeros(6)


@needs_compiler
@pytest.mark.parametrize(
    ("robot", "function", "wanted"),
    [
        pytest.param(
            "kim-ryu",
            "inverse_dynamics",
            lambda m, home: m.inverse_dynamics(home, STILL, STILL),
            marks=pytest.mark.long,  # its numbers are compared above
        ),
        ("pedrammehr", "forward_kinematics", lambda m, home: home),
        ("staicu", "jacobian", lambda m, home: m.jacobian(home)),
        ("lopes", "direct_dynamics", lambda m, home: m.direct_dynamics(home, STILL, STILL)),
        pytest.param(
            "flexible",
            "inverse_dynamics",
            lambda m, home: m.inverse_dynamics(home, STILL, STILL),
            marks=pytest.mark.long,  # the steady shape has its arrays too
        ),
        ("flexible", "steady_shape", lambda m, home: m.steady_shape(home, STILL, STILL).elastic),
    ],
)
def test_the_example_compiles_and_prints_the_answer_at_home(robot, function, wanted, tmp_path):
    model = flexible() if robot == "flexible" else model_of(robot)
    name, header, source = export_c(model, function)
    printed = np.array(run(tmp_path, name, header, source, example(header)), dtype=float)
    assert max(map(len, header.splitlines())) <= 120
    expected = wanted(model, model.robot.home.matrix)
    expected = np.ravel(getattr(expected, "force", expected))
    assert np.abs(printed - expected).max() <= ROUNDING * np.abs(expected).max()


@needs_compiler
def test_a_pose_of_rows_is_passed_as_the_header_says(tmp_path):
    """double pose[4][4] itself is another type, which compilers refuse; &pose[0][0] is the flat array."""
    model = model_of("kim-ryu")
    name, header, source = export_c(model, "inverse_kinematics")
    assert "of a double pose[4][4] pass &pose[0][0]" in " ".join(header.replace("\n *", " ").split())
    main = f"""#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    double pose[4][4] = {{{{1, 0, 0, 0}}, {{0, 1, 0, 0}}, {{0, 0, 1, 0.9}}, {{0, 0, 0, 1}}}}, q[6], quality[1];
    {name}(&pose[0][0], q, quality);
    for (int k = 0; k < 6; k++) printf("%.17g\\n", q[k]);
    return 0;
}}
"""
    printed = np.array(run(tmp_path, name, header, source, main), dtype=float)
    home = np.eye(4)
    home[2, 3] = 0.9
    assert np.abs(printed - model.inverse_kinematics(home)).max() < ROUNDING


def test_header_has_the_bound_of_the_residual():
    """1e-12 of the robot's size, which the library takes as the platform's and the home position's together."""
    model = model_of("pedrammehr")
    _, header, _ = export_c(model, "forward_kinematics")
    (bound,) = set(re.findall(r"residual\[0\] <= ([\d.e+-]+)\)", header))
    size = np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs])
    assert float(bound) == pytest.approx(1e-12 * (size + np.linalg.norm(model.robot.home.position)), rel=0.05)


@pytest.mark.long
def test_header_refuses_loads_that_the_modes_have_no_shape_for():
    def words(model):
        return " ".join(export_c(model, "inverse_dynamics")[1].replace("\n *", " ").split())

    assert "must be zero" not in words(flexible())
    assert "The force must be zero: the platform's modes have no shape" in words(flexible(origin_shape=None))
    assert "The moment must be zero" in words(flexible(origin_rotation=None))
    both = flexible(origin_shape=None, origin_rotation=None)
    assert "The force and the moment must be zero" in words(both)
    with refused(pp.errors.InputError, "origin_shape"):  # what the library itself says
        both.inverse_dynamics(both.robot.home.matrix, STILL, STILL, [0, 0, 1, 0, 0, 0])


def test_a_name_cannot_end_the_comment():
    data = model_of("kim-ryu").robot.model_dump()
    legs = [{**leg, "kind": "PUS"} for leg in data["legs"]]
    robot = pp.Robot.model_validate({**data, "legs": legs, "name": "evil */ int x;"})
    _, header, _ = export_c(pp.Model(robot), "inverse_kinematics")
    plain = export_c(model_of("kim-ryu"), "inverse_kinematics")[1]
    assert header.count("*/") == plain.count("*/")
    assert header.count('"') == plain.count('"')


@needs_compiler
def test_names_that_are_no_c_names_give_valid_c(tmp_path):
    """A robot's name that starts with a digit, a leg named 1, legs a.b and a_b."""
    home = model_of("kim-ryu").robot
    legs = ["1", "a.b", "a_b", "int", "x y", "é"]
    renamed = tuple(leg.model_copy(update={"name": name}) for leg, name in zip(home.legs, legs, strict=True))
    model = pp.Model(home.model_copy(update={"name": "6-ups", "legs": renamed}))
    for function in ("bodies", "inverse_kinematics"):
        name, header, source = export_c(model, function)
        assert name == f"robot_6_ups_{function}"
        c_function = compiled(tmp_path, name, header, source)
        kernel = model.kernel(function)
        expected = kernel(home.home.matrix[None])
        got = call(c_function, [home.home.matrix], [p.shape for p in kernel.outputs])
        for value, wanted in zip(got, expected, strict=True):
            np.testing.assert_allclose(value.reshape(wanted[0].shape), wanted[0], rtol=0, atol=ROUNDING)
    assert "Bodies: 1.slider, 1.link, a.b.slider, a.b.link, a_b.slider" in " ".join(
        export_c(model, "bodies")[1].replace("\n *", " ").split()
    )


def test_c_has_the_units_of_the_actuators():
    header = " ".join(export_c(pp.Model(hexa()), "inverse_dynamics")[1].replace("\n *", " ").split())
    assert "actuator forces [N m]; positive in the direction of increasing q" in header
    assert "leg1 [rad]" in header


def test_every_export_writes_files(tmp_path):
    for kind, export in EXPORTS.items():
        assert export.about.endswith("."), kind
        files = export.files(model_of("kim-ryu"), "jacobian", True)
        assert files
        assert all(files.values())


def test_unknown_function_suggests():
    with refused(UnknownNameError, near="mass_matrix"):
        export_c(model_of("kim-ryu"), "mass_matrx")
