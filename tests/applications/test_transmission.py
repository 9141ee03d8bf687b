"""The table of a linkage between motors and coordinates, and the C function with the same: an ankle."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import polypod as pp
from polypod.analysis import transmission
from polypod.errors import InputError
from polypod.export import export_c
from support.refusals import refused
from test_export_c import model_of

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
PITCH, ROLL = [-0.3, 0.0, 0.2], [0.05, 0.15]


def test_the_table_is_what_differences_and_energies_say() -> None:
    model = model_of("ankle")
    wrench = [5.0, -3.0, -200.0, 4.0, 6.0, 0.0]
    table = transmission(model, {"pitch": PITCH, "roll": ROLL}, wrench)
    assert table.jacobian.shape == (3, 2, 2, 2)
    step, still = 1e-4, np.zeros(2)
    q = lambda x: model.inverse_kinematics(model.motion(x, still, still).pose)  # noqa: E731
    potential = lambda x: float(model.energy(model.motion(x, still, still).pose, np.zeros(6)).potential)  # noqa: E731
    for i, pitch in enumerate(PITCH):
        for j, roll in enumerate(ROLL):
            x = np.array([pitch, roll])
            near, far = ([q(x + k * step * e) - q(x - k * step * e) for e in np.eye(2)] for k in (1, 2))
            steps = [(8 * one - two) / (12 * step) for one, two in zip(near, far, strict=True)]
            jacobian = np.stack(steps, axis=-1)
            assert table.q.values[i, j] == pytest.approx(q(x), abs=1e-14)
            assert table.jacobian.values[i, j] == pytest.approx(jacobian, abs=1e-9)
            inertia, directions = table.inertia.values[i, j], [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
            for xdot in map(np.array, directions):  # kinetic energy, off-diagonal parts too
                state = model.motion(x, xdot, still)
                kinetic = float(model.energy(state.pose, state.twist).kinetic)
                assert xdot @ inertia @ xdot / 2 == pytest.approx(kinetic, rel=1e-12)
            # motors, weight and the wrench do no work on any small motion
            down = [(potential(x + step * e) - potential(x - step * e)) / (2 * step) for e in np.eye(2)]
            moved = [wrench @ model.motion(x, e, still).twist for e in np.eye(2)]
            work = jacobian.T @ table.force.values[i, j] - np.array(down) + np.array(moved)
            assert np.abs(work).max() < 1e-6 * np.abs(moved).max()


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_the_c_function_gives_the_same(tmp_path) -> None:
    """Coordinates, rates and accelerations in; the model's own functions one after another are the reference."""
    model = model_of("ankle")
    name, header, source = export_c(model, "transmission")
    sizes = {"pose": 16, "q": 2, "qdot": 2, "force": 2, "transmission": 4, "inertia": 4}
    arrays = re.findall(r"^ \*   (\w+)\[(\d+)\]$", header, re.MULTILINE)
    lengths = {label: int(length) for label, length in arrays[4:]}
    labels = list(lengths)
    shown = "".join(f'for (int k = 0; k < {sizes[one]}; k++) printf("%.17g ", {one}[k]);\n' for one in sizes)
    main = f"""#include <stdio.h>
#include "{name}.h"
int main(void) {{
    double x[2] = {{0.2, 0.15}}, xdot[2] = {{1.5, -0.7}}, xddot[2] = {{20.0, 30.0}};
    double wrench[6] = {{5.0, -3.0, -200.0, 4.0, 6.0, 0.0}};
    {"".join(f"double {label}[{length}]; " for label, length in lengths.items())}
    const int status = {name}(x, xdot, xddot, wrench, {", ".join(labels)});
    {shown}
    return status;
}}
"""
    for file, text in {"main.c": main, f"{name}.h": header, f"{name}.c": source}.items():
        (tmp_path / file).write_text(text)
    command = [COMPILER, "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "main.c", f"{name}.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0  # POLYPOD_OK
    parts = np.split(np.array(done.stdout.split(), dtype=float), np.cumsum(list(sizes.values()))[:-1])
    found = dict(zip(sizes, parts, strict=True))
    state = model.motion([0.2, 0.15], [1.5, -0.7], [20.0, 30.0])
    table = transmission(model, {"pitch": [0.2], "roll": [0.15]})
    wrench = [5.0, -3.0, -200.0, 4.0, 6.0, 0.0]
    wanted = {
        "pose": state.pose,
        "q": model.inverse_kinematics(state.pose),
        "qdot": model.rates(state.pose, state.twist),
        "force": model.inverse_dynamics(state.pose, state.twist, state.acceleration, wrench=wrench),
        "transmission": table.jacobian.values[0, 0],
        "inertia": table.inertia.values[0, 0],
    }
    for label, value in wanted.items():
        assert found[label] == pytest.approx(np.ravel(value), rel=1e-11, abs=1e-13), label


def test_what_has_no_transmission() -> None:
    model = model_of("hexapod")
    with refused(InputError, "hexapod six"):
        transmission(model)
    with refused(InputError, "transmission hexapod six"):
        export_c(model, "transmission")
    with refused(InputError, "yaw pitch roll"):
        transmission(model_of("ankle"), {"yaw": [0.0]})


def test_the_table_spans_the_travel() -> None:
    table = transmission(model_of("ankle"), {"roll": [0.0]})
    assert len(table.pitch) > 10
    ranges = [joint.range for leg in pp.load("ankle").legs for joint in leg.joints if joint.range]
    assert np.isfinite(table.jacobian).all()
    assert float(table.use.max()) <= 1.0 + 1e-9 or not ranges
    frame = table.q.to_dataframe()
    assert len(frame) == len(table.pitch) * 2
