"""A robot as a kinematics module of LinuxCNC: one C file with ``kinematicsForward`` and ``kinematicsInverse``.

World coordinates are displacements of the platform from home in the machine's units, mm and degrees: X, Y, Z along the
base axes and, for robots of six degrees of freedom, A, B, C with R = R_z(C) R_y(B) R_x(A) R_home. Joints are the
actuated coordinates in mm or degrees, zero where these are zero in the robot file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import InputError
from ..model import Model
from .c import export_c
from .code import identifier, named_expression, ports

_LETTERS = "XYZABC"
_WORLD = ("tran.x", "tran.y", "tran.z", "a", "b", "c")
_OWN = {"pose_found": "found"}
"""Outputs that have another name here."""
_MILLI, _DEGREE = "1000.0", "57.29577951308232"
_HEAD = """/*
 * {module}: kinematics of the robot '{robot}' for LinuxCNC (2.9 and later), written by polypod.
 *
 * World coordinates: {axes}: displacements of the platform from home, in mm and degrees{order}.
 * Joints: {joints}, in mm or degrees.
 * Forward kinematics starts from the world coordinates it is given, those of the last cycle, and takes one solution: it
 * cannot jump to another assembly mode. Where there is no answer, both functions return -1.
 *
 * Install with: halcompile --install {module}.c
 * In the INI file: [KINS] KINEMATICS = {module}, JOINTS = {count}; [TRAJ] COORDINATES = {letters}, LINEAR_UNITS = mm.
 */

#include "rtapi.h"
#include "rtapi_app.h"
#include "hal.h"
#include "kinematics.h"
"""
_FULL = r"""
/* Pose of the platform for world coordinates. */
static void pose_of(const double *w, double *pose)
{
    static const double home[16] = {HOME};
    const double a = w[3] / DEGREE, b = w[4] / DEGREE, c = w[5] / DEGREE;
    const double r[9] = {
        cos(c) * cos(b), cos(c) * sin(b) * sin(a) - sin(c) * cos(a), cos(c) * sin(b) * cos(a) + sin(c) * sin(a),
        sin(c) * cos(b), sin(c) * sin(b) * sin(a) + cos(c) * cos(a), sin(c) * sin(b) * cos(a) - cos(c) * sin(a),
        -sin(b), cos(b) * sin(a), cos(b) * cos(a)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            pose[4 * i + j] = r[3 * i] * home[j] + r[3 * i + 1] * home[4 + j] + r[3 * i + 2] * home[8 + j];
        }
        pose[4 * i + 3] = home[4 * i + 3] + w[i] / MILLI;
        pose[12 + i] = 0.0;
    }
    pose[15] = 1.0;
}

/* World coordinates of a pose; angles are those nearest to the given ones. */
static void world_of(const double *pose, double *w)
{
    static const double home[16] = {HOME};
    double r[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r[3 * i + j] = pose[4 * i] * home[4 * j] + pose[4 * i + 1] * home[4 * j + 1]
                + pose[4 * i + 2] * home[4 * j + 2];
        }
        w[i] = (pose[4 * i + 3] - home[4 * i + 3]) * MILLI;
    }
    const double angles[3] = {
        atan2(r[7], r[8]) * DEGREE, atan2(-r[6], sqrt(r[0] * r[0] + r[3] * r[3])) * DEGREE,
        atan2(r[3], r[0]) * DEGREE};
    for (int k = 0; k < 3; k++) {
        w[3 + k] = angles[k] + 360.0 * floor((w[3 + k] - angles[k]) / 360.0 + 0.5);
    }
}

static int inverse(const double *w, double *q)
{
    double pose[16], IK_OUTPUTS;
    pose_of(w, pose);
    return NAME_inverse_kinematics(pose, IK);
}

static int forward(const double *q, double *w)
{
    double pose[16], found[16], FK_OUTPUTS;
    pose_of(w, pose);
    const int status = NAME_forward_kinematics_along(q, pose, FK);
    if (status == POLYPOD_OK) {
        world_of(found, w);
    }
    return status;
}
"""
_LOWER = r"""
/* Pose of the platform for world coordinates. */
static int pose_of(const double *w, double *pose)
{
    static const double rest[COUNT] = {0.0};
    double x[COUNT], MOTION_OUTPUTS;
    static const double scales[COUNT] = {SCALES};
    for (int k = 0; k < COUNT; k++) {
        x[k] = w[k] / scales[k];
    }
    return NAME_motion(x, rest, rest, MOTION);
}

static int inverse(const double *w, double *q)
{
    double pose[16], IK_OUTPUTS;
    const int status = pose_of(w, pose);
    return status == POLYPOD_OK ? NAME_inverse_kinematics(pose, IK) : status;
}

static int forward(const double *q, double *w)
{
    double pose[16], found[16], FK_OUTPUTS, x[COUNT];
    static const double scales[COUNT] = {SCALES};
    int status = pose_of(w, pose);
    if (status == POLYPOD_OK) {
        status = NAME_forward_kinematics_along(q, pose, FK);
    }
    if (status == POLYPOD_OK) {
        status = NAME_coordinates(found, COORDINATES);
    }
    for (int k = 0; k < COUNT && status == POLYPOD_OK; k++) {
        w[k] = x[k] * scales[k];
    }
    return status;
}
"""
_MODULE = r"""
int kinematicsForward(const double *joint, EmcPose *world, const KINEMATICS_FORWARD_FLAGS *fflags,
    KINEMATICS_INVERSE_FLAGS *iflags)
{
    double w[COUNT] = {READ}, q[DRIVES];
    static const double units[DRIVES] = {UNITS};
    (void)fflags;
    (void)iflags;
    for (int k = 0; k < DRIVES; k++) {
        q[k] = joint[k] / units[k];
    }
    if (forward(q, w) != POLYPOD_OK) {
        return -1;
    }
WRITE    return 0;
}

int kinematicsInverse(const EmcPose *world, double *joint, const KINEMATICS_INVERSE_FLAGS *iflags,
    KINEMATICS_FORWARD_FLAGS *fflags)
{
    const double w[COUNT] = {READ};
    static const double units[DRIVES] = {UNITS};
    double q[DRIVES];
    (void)iflags;
    (void)fflags;
    if (inverse(w, q) != POLYPOD_OK) {
        return -1;
    }
    for (int k = 0; k < DRIVES; k++) {
        joint[k] = q[k] * units[k];
    }
    return 0;
}

KINEMATICS_TYPE kinematicsType(void) { return KINEMATICS_BOTH; }

KINS_NOT_SWITCHABLE
EXPORT_SYMBOL(kinematicsType);
EXPORT_SYMBOL(kinematicsForward);
EXPORT_SYMBOL(kinematicsInverse);
MODULE_LICENSE("GPL");

static int component;

int rtapi_app_main(void)
{
    component = hal_init("MODULE");
    if (component < 0) {
        return component;
    }
    hal_ready(component);
    return 0;
}

void rtapi_app_exit(void) { hal_exit(component); }
"""


def export_linuxcnc(model: Model) -> tuple[str, str]:
    """A robot as a kinematics module of LinuxCNC.

    World coordinates are displacements of the platform from home in mm and degrees: X, Y, Z, and A, B, C (turns about
    the base axes x, then y, then z) of robots of six degrees of freedom. Robots of fewer need degrees of freedom along
    the base axes, with at most one rotation. Joints are the actuated coordinates in mm or degrees.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    name : str
        Name of the module.
    source : str
        Text of its C file, to compile with ``halcompile --install``.

    Examples
    --------
    >>> name, source = export_linuxcnc(Model("delta"))
    >>> name, "COORDINATES = XYZ," in source
    ('deltakins', True)
    """
    name = identifier(model.robot.name)
    module = f"{name}kins"
    axes, texts, code = world_functions(model, "linuxcnc", "LinuxCNC")
    full = len(axes) == 6
    texts |= {
        "MODULE": module,
        "UNITS": ", ".join(_MILLI if one.unit == "m" else _DEGREE for one in model.actuators),
        "READ": ", ".join(f"world->{_WORLD[k]}" for k in axes),
        "WRITE": "".join(f"    world->{_WORLD[axis]} = w[{k}];\n" for k, axis in enumerate(axes)),
    }
    code += replaced(_MODULE, texts)
    letters = "".join(_LETTERS[k] for k in axes)
    head = _HEAD.format(
        module=module,
        robot=re.sub(r"\*/|/\*", " ", model.robot.name),
        axes=", ".join(letters),
        order=" (turned about the base axes x by A, then y by B, then z by C)" if full else "",
        joints=", ".join(f"{k} {re.sub(r'[*/]', ' ', one.name)}" for k, one in enumerate(model.actuators)),
        count=len(model.actuators),
        letters=letters,
    )
    return module, f"{head}\n{code}"


def linuxcnc_files(model: Model) -> dict[str, str]:
    """Kinematics module of LinuxCNC.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, source = export_linuxcnc(model)
    return {f"{name}.c": source}


def world_functions(model: Model, who: str, program: str) -> tuple[list[int], dict[str, str], str]:
    """World coordinates that are the robot's degrees of freedom, words of templates, and C functions between them and
    the actuated coordinates: ``inverse(w, q)`` and ``forward(q, w)``, w in mm and degrees, which return a status."""
    axes = _axes(model, who, program)
    full = not model.robot.dof
    functions = ["forward_kinematics_along", "inverse_kinematics", *([] if full else ["motion", "coordinates"])]
    parts = {function: export_c(model, function, friction=False) for function in functions}
    calls = {
        word: _outputs(model, function)
        for word, function in zip(("FK", "IK", "MOTION", "COORDINATES"), functions, strict=False)
    }
    texts = {
        "NAME": identifier(model.robot.name),
        "HOME": ", ".join(map(repr, model.robot.home.matrix.ravel().tolist())),
        "COUNT": str(len(axes)),
        "DRIVES": str(len(model.actuators)),
        "SCALES": ", ".join(_MILLI if k < 3 else _DEGREE for k in axes),
        "MILLI": _MILLI,
        "DEGREE": _DEGREE,
    }
    for word, outputs in calls.items():
        texts[word] = ", ".join(_OWN.get(label, label) for label in outputs)
        texts[f"{word}_OUTPUTS"] = ", ".join(
            f"{label}[{length}]"
            for label, length in outputs.items()
            if label not in (*_OWN, "pose", *(["q"] if word == "IK" else []))
        )
    code = "".join(_merged(list(parts.values()))) + replaced(_FULL if full else _LOWER, texts)
    return axes, texts, code


def _axes(model: Model, who: str, program: str) -> list[int]:
    """World coordinates of a machine controller that are the robot's degrees of freedom, or why it has none."""
    robot = model.robot
    if robot.flexible:
        raise InputError(f"{who}: the platform of {robot.name!r} is flexible; {program} moves rigid machines")
    if model.internal:
        raise InputError(
            f"{who}: {robot.name!r} has internal coordinates {', '.join(model.internal)}, for which {program} has no "
            "axis; state them as held in the robot file"
        )
    if not robot.dof:
        return list(range(6))
    found = []
    for one in robot.dof:
        along = [k for k, part in enumerate(one.axis or ()) if abs(part - 1.0) < 1e-12 and not one.joint]
        if not along:
            raise InputError(
                f"{who}: degree of freedom {one.name!r} of {robot.name!r} is not along a base axis; {program} has "
                "axes X, Y, Z and turns about them"
            )
        found.append(along[0] + (3 if one.motion == "rotation" else 0))
    if sum(k >= 3 for k in found) > 1:
        raise InputError(
            f"{who}: {robot.name!r} turns about more than one axis without all six degrees of freedom; its "
            f"coordinates are not A, B, C of {program}"
        )
    return found


def _outputs(model: Model, function: str) -> dict[str, int]:
    """Outputs of an exported function, with their lengths."""
    return {label: port.length for label, port in ports(named_expression(model, function, False)[1])[1]}


def _merged(parts: list[tuple[str, str, str]]) -> Iterator[str]:
    """Headers and sources of C functions as one file: what several have, once."""
    seen: set[str] = set()
    for name, header, source in parts:
        text = header[header.index("*/") + 2 :] + source.replace(f'#include "{name}.h"\n', "")
        text = re.sub(r"^(static inline .*)$", r"\1\n", text, flags=re.MULTILINE)
        text = re.sub(rf"^int {name}\(", f"static int {name}(", text, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\n+", text):
            if paragraph.strip() and (paragraph not in seen or paragraph.startswith("#")):
                seen.add(paragraph)
                yield f"{paragraph}\n\n"


def replaced(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\b(?:" + "|".join(words) + r")\b|NAME(?=_)", lambda found: words[found[0]], text)
