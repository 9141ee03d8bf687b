"""The comment of an exported C header: what the function computes, every array with unit and sign, how to compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import signature
from math import prod
from textwrap import wrap

import numpy as np

from ..datasets import units
from ..mechanism.kinematics import body_names
from ..model import Model
from ..symbols.expression import Port
from .example import LEAST, main_file

_WIDTH = 110
ABOUT = {
    "inverse_kinematics": "actuated coordinates of a pose",
    "jacobian": "the Jacobian of a pose",
    "conditioning": "how far a pose is from singular, rotations scaled by the platform's size",
    "accelerations": "coordinates, rates and accelerations of the actuators in a motion of the platform",
    "bodies": "poses of all bodies of the legs",
    "margins": "how far each leg is from where it no longer closes",
    "limited": "values of all quantities that the robot limits",
    "forward_kinematics": "the pose with given actuated coordinates, by Newton's iteration from a guess",
    "forward_kinematics_along": "the same along a log of coordinates, with the guess for its next row",
    "mass_matrix": "mass matrix of the whole robot",
    "energy": "kinetic and potential energy of the whole robot",
    "bias": "generalized force of all but the acceleration",
    "direct_dynamics": "acceleration of the platform from actuator forces",
    "inverse_dynamics": "actuator forces for a motion of the platform",
    "reactions": "reactions in all joints and actuator forces for a motion of the platform",
    "twist": "twist of the platform from the rates of the actuators",
    "acceleration": "acceleration of the platform from the accelerations of the actuators",
    "steady_shape": "the shape that a motion bends the platform to if it does not vibrate, and its actuator forces",
}
INPUTS = {
    "pose": "platform frame {P} in the base frame {B}, homogeneous matrix: rotation R in columns 0 to 2 of rows 0 to "
    "2, position of the origin of {P} [m] in column 3, last row 0 0 0 1",
    "twist": "velocity of the origin of {P} [m/s], then angular velocity [rad/s], base axes",
    "acceleration": "acceleration of the origin of {P} [m/s^2], then angular acceleration [rad/s^2], base axes",
    "wrench": "external wrench on the platform at the origin of {P}, base axes: force [N] first, then moment [N m], "
    "as they act on the platform; six zeros for none (gravity on the robot is not part of it)",
    "force": "actuator forces [{f}]; positive pushes towards a growing coordinate q",
    "q": "actuated coordinates [{q}]",
    "qdot": "rates of the actuated coordinates [{q}/s]",
    "qddot": "accelerations of the actuated coordinates [{q}/s^2]",
    "weights": "weights w [1] of the actuators: their forces f minimise sum w (f - preload)^2; ones for equal shares",
    "preload": "forces p [{f}] that those of the actuators are to be near; zeros for none",
    "elastic": "elastic coordinates, one a mode, in the units of the modes' shapes",
    "elastic_rate": "rates of the elastic coordinates [1/s]",
    "elastic_acceleration": "accelerations of the elastic coordinates [1/s^2]",
}
OUTPUTS = {
    **{name: INPUTS[name] for name in ("q", "qdot", "qddot", "force", "twist", "acceleration")},
    "bodies": "pose of each body's frame in the base frame, laid out as the input. Bodies: {bodies}",
    "jacobian": "J with qdot = J u [unit of the coordinate per m for columns of a translation, per rad for those of a "
    "rotation]; {u}",
    "mass_matrix": "M with kinetic energy u^T M u / 2 [kg, kg m, kg m^2]; {u}",
    "bias": "b in M udot + b = J^T force + wrench [N, then N m]: Coriolis, gravity, friction; {u}",
    "condition": "condition number of the scaled Jacobian [1]; infinite where the legs do not close",
    "distance": "its smallest singular value [1]; 0 where the legs do not close",
    "kinetic": "kinetic energy [J]",
    "potential": "potential energy [J], -sum m g.r with r from the origin of {B}",
    "wrenches": "for each joint force [N] and moment [N m] that its parent puts on its child, at the joint's centre, "
    "base axes; not a number where inner stresses leave it open. Rows: {joints}",
    "axes": "for each joint its free directions, two of three numbers [1], base axes; zeros where it has fewer",
    "margins": "for each condition its margin [1], about 1 in a good pose and 0 at the edge, and by how much it is "
    "exceeded [m or 1]. Rows: {conditions}",
    "values": "an unused 0, then {limits}",
    "pose": "the pose found, laid out as the guess",
    "residual": "largest difference between q and the coordinates of the pose found [{q}]; above {residual} there "
    "is no answer: test !(residual[0] <= {residual})",
    "next": "guess for the next coordinates, laid out as the guess: the pose found, else the guess before",
    "steps": "iterations taken [1]",
    "quality": "smallest margin of the state [1], of the legs' conditions and of linear equations, about 1 in a good "
    "state and 0 where a leg no longer closes or the equations are singular. Below "
    f"{LEAST}, or not a number, there is no answer: test !(quality[0] > {LEAST})",
    "elastic": INPUTS["elastic"],
    "elastic_acceleration": INPUTS["elastic_acceleration"],
    "elastic_energy": "energy of the bent platform [J]",
    "converged": "1 if the iteration (of {iterated}) came to rest, 0 if it gave up: then the other numbers are not an "
    "answer",
}
# What the platform's bending makes of the same arrays.
_FLEXIBLE = {
    "jacobian": "J with qdot = J (twist, elastic rates) [unit of the coordinate per m, per rad, per shapes' units]",
    "mass_matrix": "M of (twist, elastic rates): kinetic energy u^T M u / 2 [kg, kg m, kg m^2, units of the modes]",
    "bias": "b in M udot + b = J^T force, u = (twist, elastic rates), stiffness and damping in it "
    "[N, N m, units of the modes]",
}
_CONVERGED = "The output converged is there for the dry friction in the joints; without friction there is none."


def comment(
    model: Model, name: str, function: str, friction: bool, inputs: Sequence[tuple[str, Port]],
    outputs: Sequence[tuple[str, Port]],
) -> str:  # fmt: skip
    """The header's comment; ``inputs`` and ``outputs`` are the ports with their C names."""
    known = _facts(model) | {
        "iterated": "the shape" if function == "steady_shape" else "loads that dry friction depends on"
    }
    with_friction = f", {'with' if friction else 'without'} friction in its joints" if takes_friction(function) else ""
    lines = [*_wrapped(f"{name}: {ABOUT[function]}, for one state of the robot '{model.robot.name}'{with_friction}.")]
    lines += ["", "Input:"]
    for label, port in inputs:
        guess = "where the iteration starts, near the pose wanted: " if label == "pose" and "q" in dict(inputs) else ""
        text = INPUTS[port.name].format_map(known) + (_unknown(model) if label == "wrench" else "")
        lines += _entry(label, port, guess + text)
    lines += ["", "Output:"]
    texts = OUTPUTS | _FLEXIBLE if model.robot.flexible else OUTPUTS
    for label, port in outputs:
        lines += _entry(label, port, texts[port.name].format_map(known))
    for note in (
        *([_CONVERGED] if "converged" in dict(outputs) and function != "steady_shape" else []),
        "All arrays are flat, double[n]: matrices by rows without gaps; of a double pose[4][4] pass &pose[0][0]. They "
        f"must not overlap. SI units and radians. Actuators: {known['actuators']}.",
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


def _unknown(model: Model) -> str:
    """What a wrench may not have: loads for which the modes of a flexible platform have no shape at its origin."""
    if not model.robot.flexible:
        return ""
    shapes = {"force": model.modes.origin_shape, "moment": model.modes.origin_rotation}
    missing = [part for part, shape in shapes.items() if shape is None]
    if not missing:
        return ""
    return f". The {' and the '.join(missing)} must be zero: the platform's modes have no shape for it at the origin"


def takes_friction(function: str) -> bool:
    """Whether friction in the joints is an option of a function: as its method of the model says."""
    method = getattr(Model, function, None)
    return method is not None and "friction" in signature(method).parameters


def _facts(model: Model) -> dict[str, str]:
    """What depends on the robot: units, its velocity u, and the order of bodies, joints, conditions and limits."""
    mechanism = model.kernels.mechanism
    legs = mechanism.legs
    size = model.size + float(np.linalg.norm(model.robot.home.position))  # as the library judges
    freedoms = ", ".join(f.name for f in model.robot.freedoms)
    limits = [(f"{leg.name} {limit.name}", limit) for leg in legs for limit in leg.placement.limits]
    q, force = units(model)
    return {
        "P": "{P}", "B": "{B}", "q": q, "f": force,
        "residual": f"{1e-12 * size:.2g}",
        "u": f"u are the rates of {freedoms}" if freedoms else "u is the twist: linear velocity, then angular",
        "actuators": ", ".join(f"{a.name} [{a.unit}]" for a in model.actuators),
        "bodies": ", ".join(body_names(mechanism)),
        "joints": ", ".join(f"{leg.name} {joint.name}" for leg in legs for joint in leg.placement.joints),
        "conditions": "; ".join(f"{leg.name}: {c.name}" for leg in legs for c in leg.placement.conditions),
        "limits": ", ".join(f"{name} [{'1, its cosine' if one.angle else one.unit}]" for name, one in limits)
        or "nothing [1]",
    }  # fmt: skip
