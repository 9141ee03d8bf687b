"""Exported kinematics modules of LinuxCNC, compiled against headers of its form, equal the model."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError
from polypod.export import export_linuxcnc
from support.refusals import refused
from test_export_c import COMPILER, model_of, needs_compiler

HEADERS = {
    "rtapi.h": "",
    "rtapi_app.h": "#define EXPORT_SYMBOL(x) extern int exported_##x\n#define MODULE_LICENSE(x) extern int license\n",
    "hal.h": "static inline int hal_init(const char *n) { return n != 0; }\n"
    "static inline int hal_ready(int k) { return k; }\nstatic inline int hal_exit(int k) { return k; }\n",
    "kinematics.h": """
typedef struct { double x, y, z; } PmCartesian;
typedef struct EmcPose { PmCartesian tran; double a, b, c; double u, v, w; } EmcPose;
typedef enum { KINEMATICS_IDENTITY = 1, KINEMATICS_FORWARD_ONLY, KINEMATICS_INVERSE_ONLY, KINEMATICS_BOTH }
    KINEMATICS_TYPE;
typedef unsigned long int KINEMATICS_FORWARD_FLAGS;
typedef unsigned long int KINEMATICS_INVERSE_FLAGS;
extern int kinematicsForward(const double *, struct EmcPose *, const KINEMATICS_FORWARD_FLAGS *,
    KINEMATICS_INVERSE_FLAGS *);
extern int kinematicsInverse(const struct EmcPose *, double *, const KINEMATICS_INVERSE_FLAGS *,
    KINEMATICS_FORWARD_FLAGS *);
extern KINEMATICS_TYPE kinematicsType(void);
int rtapi_app_main(void);
void rtapi_app_exit(void);
#define KINS_NOT_SWITCHABLE int kinematicsSwitchable(void); int kinematicsSwitchable(void) { return 0; }
""",
}


def module(model, folder):
    for name, text in HEADERS.items():
        (folder / name).write_text(text)
    name, source = export_linuxcnc(model)
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
    command = [COMPILER, *flags, f"-I{folder}", str(folder / f"{name}.c"), "-lm", "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return ctypes.CDLL(str(library))


def call(function, first, second):
    flags = np.zeros(1, dtype=np.uint64)
    pointer = [ctypes.c_void_p(a.ctypes.data) for a in (first, second, flags, flags)]
    return function(*pointer)


def pose_at(model, world):
    """Independent of the exported code: SciPy's rotations about fixed axes."""
    pose = model.robot.home.matrix.copy()
    pose[:3, 3] += world[:3] / 1000
    pose[:3, :3] = Rotation.from_euler("xyz", world[3:6], degrees=True).as_matrix() @ pose[:3, :3]
    return pose


@needs_compiler
@pytest.mark.parametrize("robot", ["hexapod", "delta", pytest.param("par4", marks=pytest.mark.long)])
def test_numbers_of_the_module_are_those_of_the_model(robot, tmp_path):
    model = model_of(robot)
    kinematics = module(model, tmp_path)
    assert kinematics.kinematicsType() == 4
    random = np.random.default_rng(3)
    turns = 6 if not model.robot.dof else 3
    units = np.array([1000.0 if one.unit == "m" else np.degrees(1.0) for one in model.actuators])
    for _ in range(20):
        world = np.zeros(9)  # x y z a b c u v w
        world[:turns] = random.uniform(-8, 8, turns)
        if robot == "par4":
            world[5] = random.uniform(-10, 10)
        wanted = model.inverse_kinematics(pose_at(model, world)) * units
        joints = np.zeros(16)
        assert call(kinematics.kinematicsInverse, world, joints) == 0
        assert np.abs(joints[: len(wanted)] - wanted).max() <= 1e-12 * np.abs(wanted).max()
        guess = 0.9 * world
        assert call(kinematics.kinematicsForward, joints, guess) == 0
        # forward kinematics ends at residuals of 1e-13 of the size: mm and degrees
        assert np.abs(guess - world).max() < 1e-8
    far = np.zeros(9)
    far[0] = 1e5
    reached = robot == "hexapod"  # whose legs have no end
    assert call(kinematics.kinematicsInverse, far, np.zeros(16)) == (0 if reached else -1)
    far[0] = np.nan
    assert call(kinematics.kinematicsInverse, far, np.zeros(16)) == -1


def test_robots_without_such_axes_are_refused():
    with refused(InputError, "linuxcnc", "agile-eye"):
        export_linuxcnc(model_of("agile-eye"))


def test_a_robot_called_like_a_keyword_has_a_module():
    name, source = export_linuxcnc(pp.Model(pp.load("hexapod").with_(name="double")))
    assert (name, "static int double_inverse_kinematics(" in source) == ("doublekins", True)
