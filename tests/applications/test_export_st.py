"""Exported structured text, run by an interpreter of the language, equals the kernels of the library."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, UnknownNameError
from polypod.export import export_st
from support.refusals import refused
from support.structured_text import MATIEC, RESERVED, Source, compiled_by_matiec
from test_export_c import model_of, states

# Kernels fuse products and sums, the interpreter does not: a few roundings, times the condition number (37 at most).
ROUNDING = 1e-12
CASES = [
    ("pedrammehr", "forward_kinematics"),  # an iteration
    ("kim-ryu", "inverse_dynamics"),  # dry friction: an iteration
    ("delta", "inverse_kinematics"),  # atan2
    ("staicu", "reactions"),  # with numbers that are left open
    ("kim-ryu", "joint_positions"),
]
MORE = [("hexapod", "inverse_dynamics"), ("delta", "forward_kinematics"), ("lopes", "mass_matrix"),
        ("par4", "forward_kinematics"), ("par4", "inverse_dynamics"), ("kim-ryu", "conditioning"),
        ("reachy-mini", "direct_dynamics"), ("kim-ryu", "limited")]  # fmt: skip


def expected(model, function, count=3):
    kernel = model.kernel(function, friction=True)
    rows = states(model, kernel, count=count)
    results = kernel(*rows)
    return kernel, rows, results if isinstance(results, tuple) else (results,)


def compare(where, outputs, wanted):
    for name, value in wanted.items():
        got = outputs[name].reshape(value.shape)
        if name == "residual":  # rounding itself
            assert got < 1e-12, where
            continue
        known = np.isfinite(value)
        assert (np.isfinite(got) == known).all(), (where, name)
        off = np.abs(got - value)[known].max(initial=0.0)
        assert off <= ROUNDING * max(np.abs(value[known]).max(initial=0.0), 1e-9), (where, name, off)


def labels(kernel):
    taken = {p.name for p in kernel.inputs}
    return [(p.name, f"{p.name}_found" if p.name in taken else p.name) for p in kernel.outputs]


@pytest.mark.parametrize(
    ("robot", "function"), [*CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE)]
)
def test_structured_text_equals_the_kernel(robot, function):
    model = model_of(robot)
    name, source = export_st(model, function)
    program = Source(source)
    kernel, rows, results = expected(model, function)
    for k in range(3):
        outputs = program.call(name, {p.name: a[k] for p, a in zip(kernel.inputs, rows, strict=True)})
        assert outputs["status"] == 0, (robot, function)
        named = {label: outputs[own] for label, own in labels(kernel)}
        wanted = {p.name: r[k] for p, r in zip(kernel.outputs, results, strict=True)}
        compare((robot, function), named, wanted)


@pytest.mark.long
@pytest.mark.skipif(MATIEC is None, reason="matiec (iec2c) is not installed")
@pytest.mark.parametrize(("robot", "function"), [*CASES, *MORE])
def test_a_compiler_of_plcs_gives_the_same_numbers(robot, function, tmp_path):
    model = model_of(robot)
    name, source = export_st(model, function)
    kernel, rows, results = expected(model, function, count=7)
    own = labels(kernel)
    shapes = {p.name: p for p in kernel.outputs}
    inputs = {p.name: p.length for p in kernel.inputs}
    outputs = {label: shapes[n].length if shapes[n].shape else 0 for n, label in own} | {"status": 0}
    run = compiled_by_matiec(tmp_path, name, source, inputs, outputs)
    found = run(np.hstack([a.reshape(7, -1) for a in rows]))
    assert found.shape[0] == 7
    for k, row in enumerate(found):
        parts = np.split(row, np.cumsum([max(size, 1) for size in outputs.values()])[:-1])
        assert parts[-1] == 0
        named = {n: part for (n, _), part in zip(own, parts[:-1], strict=True)}
        compare((robot, function), named, {p.name: r[k] for p, r in zip(kernel.outputs, results, strict=True)})


def test_a_bad_state_has_a_status():
    model = model_of("delta")
    name, source = export_st(model, "inverse_kinematics")
    program = Source(source)
    home = model.robot.home.matrix
    assert program.call(name, {"pose": home})["status"] == 0
    far = home.copy()
    far[0, 3] = 5.0
    assert program.call(name, {"pose": far})["status"] == 4
    for entry, value in (((0, 3), math.nan), ((0, 0), math.inf), ((0, 0), 1.001), ((3, 3), 0.0)):
        bad = home.copy()
        bad[entry] = value
        outputs = program.call(name, {"pose": bad})
        assert (outputs["status"], *outputs["q"]) == (1, 0.0, 0.0, 0.0), entry
    name, source = export_st(model, "forward_kinematics", iterations=20)
    nowhere = Source(source).call(name, {"q": np.array([3.0, -2.0, 1.0]), "pose": home})
    assert nowhere["status"] == 2


def test_a_fixed_number_of_iterations():
    model = model_of("pedrammehr")
    q = model.inverse_kinematics(model.robot.home.matrix) + 0.01
    few, enough = (export_st(model, "forward_kinematics", iterations=n) for n in (1, 8))
    inputs = {"q": q, "pose": model.robot.home.matrix}
    assert Source(few[1]).call(few[0], inputs)["status"] == 2
    found = Source(enough[1]).call(enough[0], inputs)
    assert found["status"] == 0
    assert np.abs(model.inverse_kinematics(found["pose_found"].reshape(4, 4)) - q).max() < 1e-12


def test_names_are_those_of_the_language():
    """Names of robots that are keywords, or not names at all."""
    robot = pp.load("hexapod")
    for name in ("if", "End", "REPEAT", "6__ups--", "while", "int"):
        model = pp.Model(robot.with_(name=name))
        own, source = export_st(model, "inverse_kinematics")
        Source(source)  # which refuses keywords and double underscores
        assert own.upper() not in RESERVED


def test_mistakes_are_refused():
    model = model_of("delta")
    with refused(UnknownNameError):
        export_st(model, "nosuch")
    with refused(InputError, "iterations", 0):
        export_st(model, "inverse_kinematics", iterations=0)
    with refused(InputError, "precision", "single"):
        export_st(model, "inverse_kinematics", precision="single")


def test_the_example_is_a_program_of_the_language():
    """Its values are those of home; by matiec it is compiled whole."""
    model = model_of("delta")
    _, source = export_st(model, "inverse_kinematics")
    _, _, after = source.partition("Example of a program, at home and at rest:\n *\n")
    example = "\n".join(line[2:].strip() for line in after.partition("\n *)")[0].splitlines())
    numbers = [float(x) for x in re.findall(r"LREAL#([-\d.E]+)", example)]
    assert np.abs(np.array(numbers).reshape(4, 4) - model.robot.home.matrix).max() == 0.0
    assert "block(pose := pose);" in example
