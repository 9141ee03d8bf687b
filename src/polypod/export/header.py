"""The comment of an exported C header: what the function computes, every array with unit and sign, how to compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from ..model import Model
from ..symbols.expression import Port
from .example import LEAST, main_file

if TYPE_CHECKING:
    from ..flexible import FlexibleModel

WITH_FRICTION = ("inverse_dynamics", "direct_dynamics", "bias", "reactions", "path_step")
_WITH_SOLVE = ("inverse_dynamics", "direct_dynamics", "reactions", "forward_kinematics", "path_step")
_WIDTH = 110
_ABOUT = {
    "inverse_kinematics": "actuated coordinates of a pose",
    "jacobian": "the Jacobian of a pose",
    "accelerations": "coordinates, rates and accelerations of the actuators in a motion of the platform",
    "bodies": "poses of all bodies of the legs",
    "margins": "how far each leg is from where it no longer closes",
    "limited": "values of all quantities that the robot limits",
    "forward_kinematics": "the pose with given actuated coordinates, by Newton's iteration from a guess",
    "mass_matrix": "mass matrix of the whole robot",
    "energy": "kinetic and potential energy of the whole robot",
    "bias": "generalized force of all but the acceleration",
    "direct_dynamics": "acceleration of the platform from actuator forces",
    "inverse_dynamics": "actuator forces for a motion of the platform",
    "reactions": "reactions in all joints and actuator forces for a motion of the platform",
    "actuators": "rates and accelerations of the actuators in a motion of the platform that bends",
    "system": "mass matrix, bias and Jacobian of the whole robot, without friction",
    "steady_shape": "the shape that a motion bends the platform to if it does not vibrate, without friction",
    "path_step": "elastic coordinates after a step of classical RK4, the motion of the platform's frame given",
}
_INPUTS = {
    "pose": "platform frame {P} in the base frame {B}, homogeneous matrix: rotation R in columns 0 to 2 of rows 0 to "
    "2, position of the origin of {P} [m] in column 3, last row 0 0 0 1",
    "twist": "velocity of the origin of {P} [m/s], then angular velocity [rad/s], base axes",
    "acceleration": "acceleration of the origin of {P} [m/s^2], then angular acceleration [rad/s^2], base axes",
    "wrench": "external wrench on the platform at the origin of {P}, base axes: force [N] first, then moment [N m], "
    "as they act on the platform; six zeros for none (gravity on the robot is not part of it)",
    "force": "actuator forces [N]; positive pushes towards a growing coordinate q",
    "q": "actuated coordinates [m]: length of a leg, or place of a slider on its rail",
    "elastic": "elastic coordinates, one a mode, in the units of the modes' shapes",
    "elastic_rate": "rates of the elastic coordinates [1/s]",
    "elastic_acceleration": "accelerations of the elastic coordinates [1/s^2]",
    "before": "elastic coordinates, then their rates, at the step's beginning",
    "step": "length of the step [s]",
}
_OUTPUTS = {
    "q": _INPUTS["q"],
    "qdot": "rates of the actuated coordinates [m/s]",
    "qddot": "accelerations of the actuated coordinates [m/s^2]",
    "force": _INPUTS["force"],
    "acceleration": _INPUTS["acceleration"],
    "jacobian": "J with qdot = J u [1 for columns of a translation, m for those of a rotation]; {u}",
    "mass_matrix": "M with kinetic energy u^T M u / 2 [kg, kg m, kg m^2]; {u}",
    "bias": "b in M udot + b = J^T force + wrench [N, then N m]: Coriolis, gravity, friction; {u}",
    "kinetic": "kinetic energy [J]",
    "potential": "potential energy [J], -sum m g.r with r from the origin of {B}",
    "wrenches": "for each joint force [N] and moment [N m] that its parent puts on its child, at the joint's centre, "
    "base axes; not a number where inner stresses leave it open. Rows: {joints}",
    "axes": "for each joint its free directions, two of three numbers [1], base axes; zeros where it has fewer",
    "margins": "for each condition its margin [1], about 1 in a good pose and 0 at the edge, and by how much it is "
    "exceeded [m or 1]. Rows: {conditions}",
    "values": "an unused 0, then {limits} [m; an angle in a joint's cone as its cosine]",
    "pose": "the pose found, laid out as the guess",
    "residual": "largest difference between q and the coordinates of the pose found [m]; above {residual} there "
    "is no answer: test !(residual[0] <= {residual})",
    "steps": "iterations taken [1]",
    "quality": "smallest margin of the state [1]: {margin}. Below "
    f"{LEAST}, or not a number, there is no answer: test !(quality[0] > {LEAST})",
    "elastic": _INPUTS["elastic"],
    "elastic_acceleration": _INPUTS["elastic_acceleration"],
    "elastic_energy": "energy of the bent platform [J]",
    "change": "last change of an elastic coordinate; not small against the largest of them: there is no answer",
    "after": "elastic coordinates, then their rates, at the step's end",
    "converged": "1 if the loads that dry friction depends on repeated, 0 if the iteration gave up: then the other "
    "numbers are not an answer",
}
# What more than one instant, or the platform's bending, makes of the same arrays.
_FLEXIBLE = {
    "jacobian": "J with qdot = J (twist, elastic rates) [1, m, and by the shapes' units]; function jacobian: the twist "
    "alone",
    "mass_matrix": "M of (twist, elastic rates): kinetic energy u^T M u / 2",
    "bias": "b in M udot + b = J^T force, u = (twist, elastic rates): Coriolis, gravity, stiffness, damping",
}
_THREE = "three rows, at the step's beginning, middle and end: "
_CLOSED = "of the legs' conditions, about 1 in a good pose and 0 where a leg no longer closes"
_SOLVED = (
    "of the legs' conditions and of the linear solve, about 1 in a good state and 0 where a leg no longer closes or "
    "the equations are singular"
)
_BODY = "pose of this body's frame in the base frame, as the input"
_CONVERGED = "The output converged is there for the dry friction in the joints; without friction there is none."


def comment(
    model: Model | FlexibleModel, name: str, function: str, friction: bool, inputs: Sequence[tuple[str, Port]],
    outputs: Sequence[tuple[str, Port]],
) -> str:  # fmt: skip
    """The header's comment; ``inputs`` and ``outputs`` are the ports with their C names."""
    known = _facts(model) | {"margin": _SOLVED if function in _WITH_SOLVE else _CLOSED}
    rubbing = f", {'with' if friction else 'without'} friction in its joints" if function in WITH_FRICTION else ""
    lines = [*_wrapped(f"{name}: {_ABOUT[function]}, for one state of the robot '{model.robot.name}'{rubbing}.")]
    lines += ["", "Input:"]
    for label, port in inputs:
        guess = "where the iteration starts, near the pose wanted: " if label == "pose" and "q" in dict(inputs) else ""
        rows = _THREE if function == "path_step" and len(port.shape) > 1 else ""
        lines += _entry(label, port, guess + rows + _INPUTS[port.name] + (_unknown(model) if label == "wrench" else ""))
    lines += ["", "Output:"]
    told = _OUTPUTS if isinstance(model, Model) else _OUTPUTS | _FLEXIBLE
    for label, port in outputs:
        lines += _entry(label, port, told.get(port.name, _BODY).format_map(known))
    for note in (
        *([_CONVERGED] if "converged" in dict(outputs) else []),
        "All arrays are flat, double[n]: matrices by rows without gaps; of a double pose[4][4] pass &pose[0][0]. They "
        f"must not overlap. SI units and radians. Legs: {', '.join(model.legs)}.",
        "Input is not checked: the pose must be one and every number finite. Nothing is kept between calls and no "
        "memory is allocated, so several threads may call at once.",
        "C99 (the header serves C++ too) with the mathematics library. Compile with",
    ):
        lines += ["", *_wrapped(note)]
    lines.append(f"    cc -std=c99 -O2 main.c {name}.c -lm -o main")
    lines += ["", "Example of a main.c, at home and at rest:", ""]
    lines += [f"    {line}" for line in main_file(model, name, inputs, outputs, known["residual"])]
    # a name in the robot's file must not end the comment
    body = "\n".join(f" * {line}".rstrip() for line in lines).replace("*/", "* /")
    return f"/*\n{body}\n */"


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    return (indent + line for line in wrap(text, _WIDTH - len(indent), break_on_hyphens=False))


def _entry(label: str, port: Port, text: str) -> Iterator[str]:
    yield f"  {label}[{prod(port.shape)}]"
    rows = f"{'x'.join(map(str, port.shape))} by rows: " if len(port.shape) > 1 else ""
    yield from _wrapped(rows + text, "      ")


def _unknown(model: Model | FlexibleModel) -> str:
    """What a wrench may not have: loads for which the modes of a flexible platform have no shape at its origin."""
    if isinstance(model, Model):
        return ""
    shapes = {"force": model.modes.origin_shape, "moment": model.modes.origin_rotation}
    missing = [part for part, shape in shapes.items() if shape is None]
    if not missing:
        return ""
    return f". The {' and the '.join(missing)} must be zero: the platform's modes have no shape for it at the origin"


def _facts(model: Model | FlexibleModel) -> dict[str, str]:
    """What depends on the robot: its velocity u, its joints, conditions and limits, in the order of the arrays."""
    from ..mechanism import Mechanism

    legs = Mechanism(model.robot.rigid).legs
    arms = [np.linalg.norm(leg.platform) for leg in model.robot.legs]
    size = (float(np.mean(arms)) or 1.0) + float(np.linalg.norm(model.robot.home.position))  # as the library judges
    freedoms = ", ".join(f.name for f in model.robot.freedoms)
    return {
        "P": "{P}", "B": "{B}",
        "residual": f"{1e-12 * size:.2g}",
        "u": f"u are the rates of {freedoms}" if freedoms else "u is the twist: linear velocity, then angular",
        "joints": ", ".join(f"{leg.name} {joint.name}" for leg in legs for joint in leg.placement.joints),
        "conditions": "; ".join(f"{leg.name}: {c.name}" for leg in legs for c in leg.placement.conditions),
        "limits": ", ".join(f"{leg.name} {limit.name}" for leg in legs for limit in leg.placement.limits) or "nothing",
    }  # fmt: skip
