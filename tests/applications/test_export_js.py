"""Exported JavaScript, run by Node.js or a browser, equals the kernels of the library."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import polypod as pp
from polypod.errors import UnknownNameError
from polypod.export import export_js, js_function
from polypod.export.code import ports
from polypod.export.js import MAX_ITERATIONS
from support.browser import BROWSER, Browser
from support.refusals import refused
from test_export_c import states

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None and BROWSER is None, reason="neither Node.js nor Chromium is installed")
# Kernels fuse products and sums, JavaScript does not: a few roundings, multiplied by the condition number (at most 37
# on these paths).
ROUNDING = 1e-12
CASES = [
    ("pedrammehr", "inverse_dynamics"),
    ("pedrammehr", "forward_kinematics"),  # an iteration
    ("kim-ryu", "inverse_dynamics"),  # dry friction: an iteration
    ("kim-ryu", "limited"),
    ("kim-ryu", "conditioning"),
    ("lopes", "mass_matrix"),
    ("kim-ryu", "joint_positions"),
    ("staicu", "bodies"),
    ("staicu", "reactions"),  # with numbers that are left open
]


def model_of(name: str) -> pp.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.Model(name)


def evaluated(program: str, folder) -> str:
    """What a script returns from its function ``main``."""
    if NODE is not None:
        (folder / "main.mjs").write_text(f"{program}\nconsole.log(main());\n")
        done = subprocess.run([NODE, str(folder / "main.mjs")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    with Browser(folder) as browser:
        return browser.ask(f"{program}\nmain()")


def without_words(source: str) -> str:
    """A module as a plain script."""
    return source.replace("export function", "function").replace("export const", "const")


def test_javascript_equals_the_kernel(tmp_path):
    """All cases in one process, each with the robot's numbers inside it and as an input."""
    program, calls, wanted = [], [], []
    for robot, function in CASES:
        model = model_of(robot)
        kernel = model.kernel(function, friction=True)
        rows = states(model, kernel, count=3)
        results = kernel(*rows)
        results = results if isinstance(results, tuple) else (results,)
        for inside in (True, False):
            name, source = export_js(model, function, friction=True, parameters=not inside)
            label = f"{name}_{inside}"
            # every module in a scope of its own: they share the names of their helpers
            names = name if inside else f"{name}, parameters"
            program.append(f"const {label} = (() => {{ {without_words(source)}; return [{names}]; }})();")
            for k in range(3):
                given = [a[k].ravel().tolist() for a in rows]
                sizes = [p.length for p in kernel.outputs]
                calls.append(f"[{label}, {json.dumps(given)}, {sizes}]")
                wanted.append(
                    (robot, function, inside, {p.name: r[k] for p, r in zip(kernel.outputs, results, strict=True)})
                )
    program.append("const calls = [" + ",\n".join(calls) + "];")
    program.append("""function main() {
      return JSON.stringify(calls.map(([[f, p], given, sizes]) => {
        const outputs = sizes.map(n => new Float64Array(n).fill(NaN));
        f(...given.map(a => Float64Array.from(a)), ...(p ? [p] : []), ...outputs);
        return outputs.map(a => Array.from(a, x => Number.isFinite(x) ? x : String(x)));
      }));
    }""")
    answers = json.loads(evaluated("\n".join(program), tmp_path))
    assert len(answers) == len(wanted) == 6 * len(CASES)
    for outputs, (robot, function, inside, expected) in zip(answers, wanted, strict=True):
        for (name, value), numbers in zip(expected.items(), outputs, strict=True):
            got = np.array([float(x) for x in numbers]).reshape(value.shape)
            where = robot, function, "numbers inside" if inside else "numbers as input", name
            if name == "residual":  # rounding itself
                assert got < 1e-12, where
                continue
            known = np.isfinite(value)
            assert (np.isfinite(got) == known).all(), where
            off = np.abs(got - value)[known].max(initial=0.0)
            assert off <= ROUNDING * max(np.abs(value[known]).max(initial=0.0), 1e-9), (*where, off)


def test_the_example_prints_the_answer_at_home(tmp_path):
    model = model_of("kim-ryu")
    name, source = export_js(model, "inverse_dynamics")
    _, _, after = source.partition(" * Example of a script, at home and at rest:\n *\n")
    lines = [line[7:] for line in after.partition("\n */")[0].splitlines()]
    assert lines[0] == f'import {{ {name} }} from "./{name}.js";'
    printed = [line.replace("console.log(value)", "printed_values.push(value)") for line in lines[1:]]
    program = f"{without_words(source)}\nfunction main() {{ const printed_values = [];\n" + "\n".join(printed)
    got = np.array(json.loads(evaluated(f"{program}\nreturn JSON.stringify(printed_values); }}", tmp_path)))
    expected = model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6))
    assert np.abs(got - expected).max() <= ROUNDING * np.abs(expected).max()


def test_a_bad_state_is_no_number_in_javascript_either(tmp_path):
    model = model_of("kim-ryu")
    name, source = export_js(model, "inverse_kinematics")
    program = f"""{without_words(source)}
    function main() {{
      const far = Float64Array.of(1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0.9, 0, 0, 0, 1);
      const q = new Float64Array(6), quality = new Float64Array(1);
      {name}(far, q, quality);
      return JSON.stringify([q.some(Number.isNaN), quality[0] > 0]);
    }}"""
    assert json.loads(evaluated(program, tmp_path)) == [True, False]


def test_an_iteration_that_never_ends_is_stopped(tmp_path):
    """The page of a browser would hang: iterations are bounded whatever the iteration says."""
    import casadi as ca

    from polypod.kernels import Iteration, Port, port

    x, state = ca.SX.sym("x"), ca.SX.sym("state", 2)
    endless = Iteration(
        "endless", (Port("x", x, ()),), (port("y", state[0], ()),), state, ca.vertcat(x, 0),
        ca.vertcat(state[0] + 1, 0),
    )  # fmt: skip
    program = js_function("endless", endless)
    script = "const y = new Float64Array(1); endless(Float64Array.of(2), y); return JSON.stringify(y[0]);"
    assert json.loads(evaluated(f"{program} function main() {{ {script} }}", tmp_path)) == MAX_ITERATIONS + 2


def test_numbers_of_the_robot_are_exported_with_their_names():
    model = model_of("kim-ryu")
    _, source = export_js(model, "inverse_kinematics", parameters=True)
    block = source.partition("export const parameters = Float64Array.of(\n")[2].partition("\n);")[0]
    pairs = [re.fullmatch(r'    (\S+), // "(.*)"', line).groups() for line in block.splitlines()]
    values = model.kernels.mechanism.numbers.values
    assert [float(value) for value, _ in pairs] == values.tolist()
    assert "legs.0.rail_start [0]" in [name for _, name in pairs]
    inputs, _ = ports(model.kernels.expression(model.kernels.mechanism, "inverse_kinematics"))
    assert [name for name, _ in inputs] == ["pose", "parameters"]


def test_a_name_cannot_end_a_comment():
    robot = model_of("kim-ryu").robot.model_copy(update={"name": "evil */ alert(1); /*"})
    _, source = export_js(pp.Model(robot), "inverse_kinematics")
    assert source.count("*/") == 1


def test_unknown_function_suggests():
    with refused(UnknownNameError, near="mass_matrix"):
        export_js(model_of("kim-ryu"), "mass_matrx")
