"""A robot's kinematics for Klipper: one C file for ``klippy/chelper`` with a stepper for each actuator, and the pose.

Klipper has three axes: robots are those with degrees of freedom among x, y, z. Coordinates are displacements of the
platform from home in mm, positions of steppers the actuated coordinates in mm or rad.
"""

from __future__ import annotations

import re

from ..errors import InputError
from ..model import Model
from .code import identifier
from .linuxcnc import replaced, world_functions

_HEAD = """// Kinematics of the robot '{robot}' for Klipper, written by polypod.
//
// Coordinates {axes} are displacements of the platform from home in mm. Steppers: {joints}, in mm or rad.
//
// Put this file into klippy/chelper and name it in SOURCE_FILES of chelper/__init__.py, with these definitions:
//     struct stepper_kinematics *{name}_stepper_alloc(int actuator);
//     int {name}_forward(const double *stepper, double *xyz);
// In a kinematics module of klippy/kinematics, for rail k: rail.setup_itersolve('{name}_stepper_alloc', k); rails of
// rotary actuators have units_in_radians=True. calc_position: {name}_forward with xyz near the answer, such as the
// last position; it returns 0, or a status of polypod where there is no answer. A position that a leg does not reach
// makes no steps: check moves in check_move against the range of the machine.

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "compiler.h"
#include "itersolve.h"
#include "trapq.h"
"""
_STEPPERS = r"""
struct NAME_stepper {
    struct stepper_kinematics sk;
    int actuator;
    double last;
};

static const double NAME_units[DRIVES] = {UNITS};

static double NAME_calc_position(struct stepper_kinematics *sk, struct move *m, double move_time)
{
    struct NAME_stepper *own = container_of(sk, struct NAME_stepper, sk);
    const struct coord c = move_get_coord(m, move_time);
    const double xyz[3] = {c.x, c.y, c.z};
    double w[COUNT] = {READ}, q[DRIVES];
    if (inverse(w, q) == POLYPOD_OK) {
        own->last = q[own->actuator] * NAME_units[own->actuator];
    }
    return own->last;
}

struct stepper_kinematics * __visible NAME_stepper_alloc(int actuator)
{
    if (actuator < 0 || actuator >= DRIVES) {
        return NULL;
    }
    struct NAME_stepper *own = malloc(sizeof(*own));
    memset(own, 0, sizeof(*own));
    own->actuator = actuator;
    own->sk.calc_position_cb = NAME_calc_position;
    own->sk.active_flags = FLAGS;
    return &own->sk;
}

int __visible NAME_forward(const double *stepper, double *xyz)
{
    double w[COUNT] = {READ}, q[DRIVES];
    for (int k = 0; k < DRIVES; k++) {
        q[k] = stepper[k] / NAME_units[k];
    }
    const int status = forward(q, w);
    if (status == POLYPOD_OK) {
WRITE    }
    return status;
}
"""


def export_klipper(model: Model) -> tuple[str, str]:
    """Kinematics of a robot for Klipper: steppers from x, y, z, and back.

    Parameters
    ----------
    model : Model
        Model of a robot whose degrees of freedom are among x, y and z.

    Returns
    -------
    name : str
        Name of the file, without suffix.
    source : str
        Text of a C file for ``klippy/chelper``; its comment says how it is registered and called.

    Raises
    ------
    InputError
        If the robot has other degrees of freedom.

    Examples
    --------
    >>> name, source = export_klipper(Model("delta"))
    >>> name, "delta_stepper_alloc(int actuator)" in source
    ('kin_delta_polypod', True)
    """
    name = identifier(model.robot.name)
    axes, texts, code = world_functions(model, "klipper", "Klipper")
    if max(axes) > 2:
        found = ", ".join(one.name for one in model.robot.dof) or "all six"
        raise InputError(
            f"klipper: {model.robot.name!r} has the degrees of freedom {found}; Klipper moves along x, y and z only"
        )
    texts |= {
        "FLAGS": " | ".join(f"AF_{'XYZ'[axis]}" for axis in axes),
        "UNITS": ", ".join("1000.0" if one.unit == "m" else "1.0" for one in model.actuators),
        "READ": ", ".join(f"xyz[{axis}]" for axis in axes),
        "WRITE": "".join(f"        xyz[{axis}] = w[{k}];\n" for k, axis in enumerate(axes)),
    }
    listed = (re.sub(r"\s+", " ", one.name) for one in model.actuators)
    joints = ", ".join(f"{k} {one}" for k, one in enumerate(listed))
    head = _HEAD.format(
        robot=re.sub(r"\s+", " ", model.robot.name),
        name=name,
        joints=joints,
        axes=", ".join("xyz"[axis] for axis in axes),
    )
    return f"kin_{name}_polypod", f"{head}\n{code}{replaced(_STEPPERS, texts)}"


def klipper_files(model: Model) -> dict[str, str]:
    """C file for Klipper.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, source = export_klipper(model)
    return {f"{name}.c": source}
