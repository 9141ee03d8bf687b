"""Kinematics for Klipper: compiled against headers of its form, numbers against the model."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from polypod.errors import InputError
from polypod.export import export_klipper
from support.refusals import refused
from test_export_c import model_of

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HEADERS = {
    "compiler.h": "#define __visible __attribute__((externally_visible))\n"
    "#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))\n",
    "itersolve.h": "enum { AF_X = 1, AF_Y = 2, AF_Z = 4 };\nstruct move;\n"
    "struct stepper_kinematics { int active_flags;\n"
    "    double (*calc_position_cb)(struct stepper_kinematics *, struct move *, double); };\n",
    "trapq.h": "struct coord { double x, y, z; };\nstruct move { struct coord at; };\n"
    "static inline struct coord move_get_coord(struct move *m, double t) { (void)t; return m->at; }\n",
}
MAIN = """
#include <stdio.h>
#include "kin_delta_polypod.c"
int main(void) {
    struct move m;
    struct stepper_kinematics *rails[3];
    if (delta_stepper_alloc(3) != NULL) return 1;
    for (int k = 0; k < 3; k++) rails[k] = delta_stepper_alloc(k);
    double xyz[3] = {0.0, 0.0, 0.0};
    while (scanf("%lf %lf %lf", &m.at.x, &m.at.y, &m.at.z) == 3) {
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = rails[k]->calc_position_cb(rails[k], &m, 0.0);
        const int status = delta_forward(at, xyz);
        printf("%.17g %.17g %.17g %.17g %.17g %.17g %d\\n", at[0], at[1], at[2], xyz[0], xyz[1], xyz[2], status);
    }
    return 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_steppers_and_positions_are_those_of_the_model(tmp_path) -> None:
    model = model_of("delta")
    name, source = export_klipper(model)
    for file, text in {**HEADERS, f"{name}.c": source, "main.c": MAIN}.items():
        (tmp_path / file).write_text(text)
    command = [COMPILER, "-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror", "main.c", "-lm", "-o", "main"]
    subprocess.run([*command, "-Wno-attributes"], cwd=tmp_path, check=True)
    points = [[0, 0, 0], [20, -30, 10], [60, 40, -20], [0, 0, 1e5]]
    text = "\n".join(" ".join(map(str, point)) for point in points)
    done = subprocess.run([tmp_path / "main"], input=text, capture_output=True, text=True, check=True)
    found = np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    still = np.zeros(3)
    for row, point in zip(found[:3], points[:3], strict=True):
        q = model.inverse_kinematics(model.motion(np.array(point) / 1e3, still, still).pose)
        assert row[:3] == pytest.approx(q, rel=1e-12)  # rad: motors that turn
        assert row[3:6] == pytest.approx(point, abs=1e-9)  # mm
        assert row[6] == 0
    assert found[3, :3].tolist() == found[2, :3].tolist()  # out of reach: steppers stay


@pytest.mark.parametrize(("robot", "words"), [("hexapod", "klipper x y z"), ("planar-3-rrr", "klipper x y z")])
def test_robots_that_klipper_cannot_move(robot: str, words: str) -> None:
    with refused(InputError, words):
        export_klipper(model_of(robot))
