"""The comment of an exported function: what it computes, every array with unit and sign, how to use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from textwrap import wrap

import numpy as np

from ..arrays import Array
from ..datasets import units
from ..fastest import Limits
from ..legs.contract import SMALLEST_MARGIN
from ..limits import left_out_text
from ..limits.symbols import state_limits
from ..mechanism.acting_elements import placed_elements
from ..mechanism.forward_kinematics import largest_residual
from ..mechanism.kinematics import body_names
from ..model import Model
from ..model.joints import component_names
from ..online import Washout, actuator_ranges
from ..online.washout import COEFFICIENTS
from ..symbols.expression import Expression, Iteration, Port
from .code import identifier, namespace, ports, takes_friction

# ----------------------------------------------------------------------------------------------------------------------
# Programs that call an exported function, for the comment of its header.

LEAST = f"{SMALLEST_MARGIN:g}".replace("e-0", "e-")
Ports = Sequence[tuple[str, Port]]
_A_LINE = 4  # numbers


def main_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a main.c: the robot at home and at rest, the first output printed, the status returned if it is not OK.

    ``inputs`` and ``outputs`` are the ports with their C names. ``number`` is the type of numbers.
    """
    first, port = outputs[0]
    arguments = [(f"&{name}_defaults" if label == "parameters" else label, p) for label, p in inputs]
    inputs = [(label, p) for label, p in inputs if label != "parameters"]
    return [
        "#include <stdio.h>",
        f'#include "{name}.h"',
        "",
        "int main(void)",
        "{",
        *(f"    {line}" for label, given in inputs for line in _declared(model, label, given, number)),
        *(f"    {number} {label}[{prod(output.shape)}];" for label, output in outputs),
        f"    const int status = {name}(",
        *(f"        {line}" for line in _arguments(arguments, outputs)),
        "    if (status != POLYPOD_OK) {",
        "        return status;",
        "    }",
        f"    for (int k = 0; k < {prod(port.shape)}; k++) {{",
        f'        printf("%.17g\\n", {first}[k]);',
        "    }",
        "    return 0;",
        "}",
    ]


def cpp_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a main.cpp that does the same with the function of a C++ header."""
    _, port = outputs[0]
    inputs = [(label, p) for label, p in inputs if label != "parameters"]  # by default the robot's own
    fields = [f"found.{label}" for label, _ in outputs]
    function = name.removeprefix(f"{identifier(model.robot.name)}_")
    shown = fields[0] if port.shape else f"{{{fields[0]}}}"
    return [
        "#include <cstdio>",
        f'#include "{name}.hpp"',
        "",
        "int main()",
        "{",
        *(f"    {line}" for label, given in inputs for line in _array(model, label, given, number)),
        f"    const auto found = polypod::{namespace(model)}::{function}(",
        f"        {', '.join(label for label, _ in inputs)});",
        "    if (found.status != POLYPOD_OK) return found.status;",
        f'    for (const double value : {shown}) std::printf("%.17g\\n", value);',
        "    return 0;",
        "}",
    ]


def script_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a script in JavaScript that does the same."""
    bad = _no_answer(outputs, residual)
    own = [label for label, _ in inputs if label == "parameters"]
    return [
        f'import {{ {", ".join([name, *own])} }} from "./{name}.js";',
        "",
        *(line for label, given in inputs if label not in own for line in _constant(model, label, given)),
        *(f"const {label} = new Float64Array({prod(output.shape)});" for label, output in outputs),
        f"{name}(",
        *(f"    {line}" for line in _arguments(inputs, outputs)),
        *([f'if ({bad}) throw new Error("no answer");'] if bad else []),
        f"for (const value of {outputs[0][0]}) console.log(value);",
    ]


def _no_answer(outputs: Ports, residual: str) -> str:
    """What holds where there is no answer, alike in C and JavaScript; empty for a function that always has one."""
    tests = {
        "residual": f"!(residual[0] <= {residual})",
        "quality": f"!(quality[0] > {LEAST})",
        "converged": "converged[0] == 0",
    }
    return " || ".join(test for label, test in tests.items() if label in dict(outputs))


def _arguments(inputs: Ports, outputs: Ports) -> list[str]:
    return wrap(f"{', '.join(label for label, _ in (*inputs, *outputs))});", 90)


def _declared(model: Model, label: str, port: Port, number: str) -> Iterator[str]:
    """An input of C with its numbers, four to a line unless they are all zero."""
    texts = _texts(model, port, number)
    if texts is None:
        yield f"{number} {label}[{port.length}] = {{0}};"
    elif len(texts) == 1:
        yield f"{number} {label}[1] = {{{texts[0]}}};"
    else:
        yield from (f"{number} {label}[{port.length}] = {{", *_lines(texts), "};")


def _array(model: Model, label: str, port: Port, number: str) -> Iterator[str]:
    """The same in C++."""
    texts = _texts(model, port, number)
    if texts is None:
        yield f"const std::array<{number}, {port.length}> {label}{{}};"
    else:
        yield from (f"const std::array<{number}, {port.length}> {label}{{", *_lines(texts), "};")


def _constant(model: Model, label: str, port: Port) -> Iterator[str]:
    """The same in JavaScript."""
    texts = _texts(model, port)
    if texts is None:
        yield f"const {label} = new Float64Array({port.length});"
    else:
        yield from (f"const {label} = Float64Array.of(", *_lines(texts), ");")


def _texts(model: Model, port: Port, number: str = "double") -> list[str] | None:
    """Numbers of an input as texts; None if all are zero."""
    values = np.ravel(home_value(model, port))
    if not values.any():
        return None
    texts = [repr(value + 0.0).removesuffix(".0") for value in values.tolist()]
    return texts if number == "double" else [text if text.lstrip("-").isdigit() else f"{text}f" for text in texts]


def _lines(texts: list[str]) -> Iterator[str]:
    return (f"    {', '.join(texts[start : start + _A_LINE])}," for start in range(0, len(texts), _A_LINE))


def home_value(model: Model, port: Port) -> Array:
    """An input at home and at rest."""
    home = model.robot.home.matrix
    if port.name in ("pose", "neutral"):
        return np.broadcast_to(home, port.shape)
    if port.name == "q":
        return np.asarray(model.inverse_kinematics(home))
    if port.name in ("low", "high"):
        low, high = model.robot_limits.force_range_at_rest
        return np.asarray(np.clip(low if port.name == "low" else high, -_WIDE, _WIDE))
    if port.name == "specific_force":
        return np.array([0.0, 0.0, 9.81])
    if port.name == "coefficients":
        return Washout(home).coefficients
    if port.name == "target":
        return np.asarray(model.inverse_kinematics(home))
    if port.name in ("lowest", "highest"):
        return np.clip(actuator_ranges(model)[port.name == "highest"], -_WIDE, _WIDE)
    if port.name in _LIMITS:
        found = Limits().of(model).get(_LIMITS[port.name], np.ones(port.shape))
        return np.where(np.isfinite(found), found, 1.0)
    return np.ones(port.shape) if port.name == "weights" else np.zeros(port.shape)


# ----------------------------------------------------------------------------------------------------------------------
# The comment of an exported function: what it computes, every array with unit and sign, how to use it.

_WIDTH = 110
_WIDE = 1e6
"""Bound of a force or a coordinate in an example where the robot file has none."""
_LIMITS = {"max_speed": "speed", "max_acceleration": "acceleration", "max_jerk": "jerk"}
"""Limits of online motion by their names in ``polypod.fastest``; in an example 1 where the robot file has none."""
ABOUT = {
    "inverse_kinematics": "actuated coordinates of a pose",
    "jacobian": "the Jacobian of a pose",
    "conditioning": "distance of a pose from singularity: gear ratios have no effect, rotations are arcs at the "
    "platform's size",
    "sides": "the side of all singularities that a pose is on",
    "rates": "rates of the actuators for a twist of the platform",
    "accelerations": "coordinates, rates and accelerations of the actuators for a motion of the platform",
    "bodies": "poses of all bodies of the legs",
    "margins": "margins of each leg to where it no longer closes",
    "limited": "values of all quantities that the robot limits",
    "limits": "the use of every limit of a state, 1 where it is reached",
    "clearance": "smallest distances between bodies of the robot, and above its floor",
    "forward_kinematics": "the pose for given actuated coordinates, by Newton's method from a guess, "
    "and from poses about it if that finds none",
    "forward_kinematics_along": "the pose for given actuated coordinates, by Newton's method from a guess, "
    "with the guess for the next row of a log",
    "motion": "pose, twist and acceleration of the platform from the robot's generalized coordinates, and its actuated "
    "coordinates there",
    "coordinates": "the robot's generalized coordinates at a pose",
    "joint_positions": "positions of all joints, passive ones too, at a pose",
    "joint_rates": "rates of all joints, passive ones too, for a twist of the platform",
    "elements": "displacements, rates and forces of springs, dampers and other elements",
    "follow": "the components of a motion that the constraints allow at a pose",
    "joint_coordinates": "joint coordinates among the generalized coordinates, at a pose",
    "rate_map": "the map from rates of the robot's generalized coordinates to u of Jacobian and mass matrix",
    "mass_matrix": "mass matrix of the whole robot",
    "energy": "kinetic and potential energy of the whole robot",
    "bias": "generalized bias force: all terms without acceleration",
    "direct_dynamics": "acceleration of the platform from actuator forces",
    "inverse_dynamics": "actuator forces for a motion of the platform; redundant actuators share them within the "
    "limits of their drives",
    "bounded_inverse_dynamics": "actuator forces within bounds for a motion of the platform; not numbers where there "
    "are none",
    "base_wrench": "wrench of the robot on its base for a motion of the platform",
    "reactions": "reactions in all joints and actuator forces for a motion of the platform",
    "twist": "twist of the platform from the rates of the actuators",
    "acceleration": "acceleration of the platform from the accelerations of the actuators",
    "safe_step": "forces for a controller, as of control_step, with the use of every limit of a state, the distance to "
    "a singularity and those between bodies; forces are written only if all of them hold",
    "transmission": "a linkage between motors and the robot's coordinates, such as an ankle: coordinates, rates and "
    "forces of the motors, Jacobian, inertia at the coordinates, use of limits",
    "control_step": "forces for a controller: pose and twist of the platform from measured coordinates and rates, and "
    "the actuator forces that give the commanded accelerations of the coordinates (computed torque in the joints)",
    "discrete_step": "the state of the platform after a time at constant forces, one step of RK4, and its derivatives "
    "by the state and the forces before: dx = A dx + B df, for predictive control",
    "online_step": "the state of all actuated coordinates some time after another, on the shortest jerk-limited motion "
    "to a target that may change every cycle; all come to it at the same time",
    "washout_step": "the platform of a motion simulator one period later, by the classical washout filter, from "
    "specific force and angular velocity of a vehicle",
    "path_push": "a line or an arc put behind those that a motion along a stream of them has in its memory; the motion "
    "keeps its limits whatever comes later",
    "path_step": "the motion along a stream of lines and arcs one period later, with rounded corners; it comes to rest "
    "at the end of what path_push has put into its memory",
    "stiffness": "stiffness of the platform from those of drives, legs and joints, without preload",
    "steady_shape": "quasi-static deflection of the platform along a motion (no vibration), and its actuator forces",
}
INPUTS = {
    "pose": "platform frame {P} in the base frame {B}, homogeneous matrix: rotation R in columns 0 to 2 of rows 0 to "
    "2, position of the origin of {P} [m] in column 3, last row 0 0 0 1",
    "twist": "velocity of the origin of {P} [m/s], then angular velocity [rad/s], base axes",
    "acceleration": "acceleration of the origin of {P} [m/s^2], then angular acceleration [rad/s^2], base axes",
    "wrench": "external wrench on the platform at the origin of {P}, base axes: force [N] first, then moment [N m], "
    "as they act on the platform; six zeros for none (gravity on the robot is not part of it)",
    "force": "actuator forces [{f}]; positive in the direction of increasing q",
    "q": "actuated coordinates [{q}]",
    "qdot": "rates of the actuated coordinates [{q}/s]",
    "qddot": "accelerations of the actuated coordinates [{q}/s^2]",
    "target": "where the coordinates are to come to rest [{q}]",
    "target_velocity": "rates at which the target moves [{q}/s], slower than max_speed; zeros for a target at rest",
    "max_speed": "largest rates [{q}/s], greater than 0",
    "max_acceleration": "largest accelerations [{q}/s^2], greater than 0",
    "max_jerk": "largest jerks [{q}/s^3], greater than 0",
    "lowest": "lowest targets [{q}], may be -INFINITY; those of the robot file are in the example",
    "highest": "highest targets [{q}], may be INFINITY",
    "memory": "memory: what the call before gave; at first zeros, but for a path its position at rest in 0 to 2 [m]",
    "path_limits": "largest speed [m/s], acceleration [m/s^2] and jerk [m/s^3], largest distance from the path [m]; "
    "all greater than 0",
    "segment_end": "where the line or the arc ends [m]",
    "centre": "centre of the arc [m]; not looked at for a line",
    "axis": "axis about which the arc turns, by the right hand; along it a helix rises; zeros for a line",
    "feed": "its speed [m/s], greater than 0; curves and corners may be slower",
    "rest": "pause before it [s]; 0 for none",
    "specific_force": "acceleration of the vehicle minus gravity, in its axes, z upward: 0, 0, 9.81 at rest [m/s^2]",
    "angular_velocity": "angular velocity of the vehicle in its axes [rad/s]",
    "neutral": "pose to which the platform returns, laid out as a pose: rotation in columns 0 to 2 of rows 0 to 2, "
    "position [m] in column 3, last row 0 0 0 1",
    "coefficients": "coefficients of the filter one after another, {coefficients}; those of polypod.online.Washout are "
    "in the example",
    "time": "time [s] after the state that goes in: the controller's period, not negative",
    "weights": "weights w [1] of the actuators: their forces f minimise sum w (f - preload)^2; ones for equal weights",
    "preload": "preload forces p [{f}]; zeros for none",
    "low": "lowest forces [{f}] of the actuators",
    "high": "highest forces [{f}] of the actuators",
    "parameters": "parameters of the robot (geometry [m], directions [1], inertial parameters [kg, kg m, kg m^2] and "
    "so on); those of the file, with their names, are listed below",
    "drive": "stiffness of every actuator [{f}/{q}]; infinite if rigid",
    "x": "the robot's generalized coordinates [m or rad]: components of the displacement from home",
    "xdot": "their rates [m/s or rad/s]",
    "xddot": "their accelerations [m/s^2 or rad/s^2]",
    "base_twist": "velocity [m/s] of the base frame's origin in space and its angular velocity [rad/s], base axes",
    "base_acceleration": "acceleration [m/s^2] of the base frame's origin in space and angular acceleration [rad/s^2], "
    "base axes",
    "internal": "internal coordinates [m or rad], zero at home: {internal}. Twist and acceleration end with their "
    "rates and accelerations",
    "elastic": "elastic coordinates, one per mode, in the units of the mode shapes",
    "elastic_rate": "rates of the elastic coordinates [1/s]",
    "elastic_acceleration": "accelerations of the elastic coordinates [1/s^2]",
}
OUTPUTS = {
    **{name: INPUTS[name] for name in ("q", "qdot", "qddot", "force", "twist", "acceleration")},
    "stiffness": "K with wrench = K times a small displacement u [N/m, N/rad, N m/m, N m/rad]; {u}",
    "compliances": "compliance of every spring of the legs, in order, along its own axis [m/N or rad/(N m)]",
    "beside": "part of K by springs and other elements that act beside the drives [units of K]",
    "motions": "twists of the platform for a unit of each of u, [m/s; rad/s] in columns; {u}",
    "bodies": "pose of each body's frame in the base frame, laid out as the input. Bodies: {bodies}",
    "jacobian": "J with qdot = J u [unit of the coordinate per m for columns of a translation, per rad for those of a "
    "rotation]; {u}",
    "mass_matrix": "M with kinetic energy u^T M u / 2 [kg, kg m, kg m^2]; {u}",
    "rate_map": "E with u = E xdot, xdot the rates of the robot's generalized coordinates [1]: J E and E^T M E "
    "are Jacobian "
    "and mass matrix in those; {u}",
    "transmission": "J of the motors by the robot's coordinates: qdot = J xdot [unit of q per m or rad]; forces of the "
    "motors give J^T force at the coordinates",
    "inertia": "inertia of the whole robot, rotors included, at the coordinates: kinetic energy is "
    "xdot^T inertia xdot / 2 [kg, kg m, kg m^2]",
    "bias": "b in M udot + b = J^T force + wrench [N, then N m]: Coriolis, gravity, friction; {u}",
    "condition": "condition number of the scaled Jacobian [1]; infinite where the legs do not close",
    "distance": "its smallest singular value [1, m of the joints per m of the platform]; 0 where the legs do not close",
    "side": "a number that two poses share where no singularity separates them by the sign of a determinant [1]",
    "kinetic": "kinetic energy [J]",
    "potential": "potential energy [J], -sum m g.r with r from the origin of {B}",
    "wrenches": "for each joint force [N] and moment [N m] that its parent puts on its child, at the joint's centre, "
    "base axes; NaN where internal forces leave it undetermined. Rows: {joints}",
    "base": "wrench of the whole robot on its base: force [N] and moment [N m] about the origin of {B}, base axes",
    "axes": "for each joint its two axes, three components each [1], base axes; zeros if it has fewer",
    "margins": "for each condition its margin [1], about 1 in a good pose and 0 at the edge, and by how much it is "
    "exceeded [m or 1]. Rows: {conditions}",
    "values": "an unused 0, then {limits}",
    "clearance": "smallest distances of shapes [m], negative where they overlap: {pairs}",
    "use": "an unused 0, then shares of what is allowed [1] of: {uses}. {not_judged}",
    "pose": "the pose found, laid out as the guess",
    "residual": "largest difference between q and the coordinates of the pose found, as motions of the actuated joints "
    "without their gears [m, turns as arcs at the platform's size]; above {residual} there "
    "is no solution: test !(residual[0] <= {residual})",
    "next": "guess for the next coordinates, laid out as the guess: the pose found, or the previous guess",
    "steps": "iterations taken [1]",
    "quality": "smallest margin of the state [1], of the legs' conditions and of linear equations, about 1 in a good "
    "state and 0 where a leg no longer closes or the equations are singular. Below "
    f"{LEAST}, or NaN, there is no solution: test !(quality[0] > {LEAST})",
    "possible_twist": "the nearest possible twist, by its independent components [m/s, then rad/s]",
    "possible_acceleration": "the nearest possible acceleration likewise [m/s^2, then rad/s^2]",
    "joints": "joint coordinates among the generalized coordinates [m or rad], displacements from home",
    "x": INPUTS["x"],
    "joint_positions": "positions of the joints [m or rad]: displacements from home, with what the robot file adds "
    "there; a rotation vector for a spherical joint. In turn: {positions}",
    "joint_rates": "derivatives in time of the positions of the joints [m/s or rad/s]. In turn: {positions}",
    "displacement": "displacements of the elements one after another [m or rad]: {elements}",
    "rate": "rates of these displacements [m/s or rad/s]",
    "duration": "time [s] in which all coordinates come to the target, from the state that goes in",
    "durations": "shortest time [s] of each coordinate alone",
    "outside": "by how much the target is outside its range [{q}]; then the nearest inside is taken. Zero inside",
    "next_memory": "memory for the next call",
    "taken": "1 if all of it is in the memory; 0 if not: if room is not 0 call again at once, else after the next "
    "period, with the same arc or line (without its pause if the memory has changed)",
    "room": "how many lines, or pieces of arcs and lines, there is room for [1]",
    "x_path": "position [m]",
    "xdot_path": "velocity [m/s]",
    "xddot_path": "acceleration [m/s^2]",
    "remaining": "time [s] until the motion rests at the end of all that has come in",
    "a": "A of dx_found = A dx + B df with dx = [dp; dtheta; dtwist]: displacement [m], rotation vector [rad] on the "
    "left of the pose, velocities; base axes",
    "b": "B, by the actuator forces",
    "loss": "power that each element takes [W]",
    "internal": INPUTS["internal"],
    "elastic": INPUTS["elastic"],
    "elastic_acceleration": INPUTS["elastic_acceleration"],
    "elastic_energy": "energy of the deformed platform [J]",
    "converged": "1 if the iteration (of {iterated}) converged, 0 if not: the other outputs are then invalid",
}
# What the platform's bending makes of the same arrays.
_FLEXIBLE = {
    "jacobian": "J with qdot = J (twist, elastic rates) [unit of the coordinate per m, per rad, per shapes' units]",
    "mass_matrix": "M of (twist, elastic rates): kinetic energy u^T M u / 2 [kg, kg m, kg m^2, units of the modes]",
    "bias": "b in M udot + b = J^T force, u = (twist, elastic rates), stiffness and damping in it "
    "[N, N m, units of the modes]",
}
_ITERATED = {"steady_shape": "the deflection", "online_step": "the search for the shortest time"}
_CONVERGED = "The output converged refers to the dry friction in the joints; without friction it is absent."

"""Residual of forward kinematics, over the robot's size, above which there is no answer."""
_STRUCT = (
    "parameters of the robot, a struct {name}_parameters. The values of the file are in {name}_defaults: copy it and "
    "change what differs. All other parameters are constants. Directions need not be of length 1. Members:"
)


@dataclass(frozen=True)
class Target:
    """What the comment says of a language: its arrays, calls, how a program uses the function, and such a program.

    ``command`` is a line that has the function's ``{name}``; empty for none. ``members`` are lines that say what a
    struct of parameters has, ``struct`` is what its name begins with if that is not the function's. ``precision`` is
    the type of numbers. ``checked`` says what is tested, ``returned`` what statuses mean, ``stamp`` which robot and
    code it is. ``apart`` says what arrays must not do, ``brackets`` begin and end a comment.
    """

    arrays: str
    input: str
    use: str
    command: str
    example: str
    program: Callable[[Model, str, Ports, Ports, str, str], list[str]]
    notes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    struct: str = ""
    precision: str = "double"
    checked: str = "Inputs are not checked: the pose must be valid and all numbers finite."
    returned: tuple[str, ...] = ()
    stamp: str = ""
    apart: str = " They must not overlap."
    brackets: tuple[str, str] = ("/*", "*/")


def comment(model: Model, name: str, expression: Expression | Iteration, friction: bool, target: Target) -> str:
    """The comment of a function for a language."""
    function = expression.name
    inputs, outputs = ports(expression)
    known = _facts(model, target.precision) | {
        "iterated": _ITERATED.get(function, "the joint loads that dry friction depends on")
    }
    has_friction = takes_friction(function) or function in ("control_step", "safe_step", "transmission")
    with_friction = f", {'with' if friction else 'without'} friction in its joints" if has_friction else ""
    lines = [*_wrapped(f"{name}: {ABOUT[function]}, for one state of the robot '{model.robot.name}'{with_friction}.")]
    lines += ["", *_wrapped(target.stamp)] if target.stamp else []
    lines += ["", "Input:"]
    for label, port in inputs:
        if label == "parameters" and target.members:
            lines += ["  parameters", *_wrapped(_STRUCT.format(name=target.struct or name), "      ")]
            lines += (line for member in target.members for line in _wrapped(member, "        "))
            continue
        guess = "initial guess, near the expected pose: " if label == "pose" and "q" in dict(inputs) else ""
        text = INPUTS[port.name].format_map(known) + (_unknown(model) if label == "wrench" else "")
        lines += _entry(label, port, guess + text)
    lines += ["", "Output:"]
    texts = OUTPUTS | _FLEXIBLE if model.robot.flexible else OUTPUTS
    if function in ("discrete_step", "washout_step"):
        texts = {**texts, "pose": "the pose then, laid out as the one that goes in"}
    for label, port in outputs:
        lines += _entry(label, port, texts[port.name].format_map(known))
    if target.returned:
        lines += ["", "Returns a status; unless it is POLYPOD_OK the outputs are not an answer:"]
        lines += (line for text in target.returned for line in _hanging(text))
    for note in (
        *([_CONVERGED] if "converged" in dict(outputs) and function not in _ITERATED else []),
        f"{target.arrays}{target.apart} SI units and radians. Actuators: {known['actuators']}.",
        f"{target.checked} {target.input}",
        *target.notes,
        target.use,
    ):
        lines += ["", *_wrapped(note)]
    lines += [f"    {target.command.format(name=name)}"] if target.command else []
    lines += ["", target.example, ""]
    lines += [
        f"    {line}" for line in target.program(model, name, inputs, outputs, known["residual"], target.precision)
    ]
    # a name in the robot's file must not end the comment, nor seem to begin one
    body = "\n".join(f" * {line}".rstrip() for line in lines)
    for bracket in target.brackets:
        body = body.replace(bracket, " ".join(bracket))
    return f"{target.brackets[0]}\n{body}\n {target.brackets[1]}"


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    return (indent + line for line in wrap(text, _WIDTH - len(indent), break_on_hyphens=False))


def _hanging(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)


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


def _u_text(model: Model) -> str:
    """What u is, the velocity that Jacobian and mass matrix are with respect to."""
    dof = model.robot.dof
    inner = f", then the rates of {', '.join(model.internal)}" if model.internal else ""
    if not dof:
        return f"u is the twist: linear velocity, then angular{inner}"
    along = ", ".join(f.name for f in dof if not f.joint)
    joints = ", ".join(f.name for f in dof if f.joint)
    parts = [f"components of the twist along {along}"] if along else []
    parts += [f"rates of the joints {joints}"] if joints else []
    order = f" (in the order {', '.join(f.name for f in dof)})" if along and joints else ""
    turns = sum(f.motion == "rotation" and not f.joint for f in dof) > 1
    other = ", of the angular velocity where they turn: not rates of rotation-vector components (rate_map)"
    return f"u are {' and '.join(parts)}{order}{inner}{other if turns else ''}"


def _uses(model: Model) -> dict[str, str]:
    """Which limits ``limits`` judges, in their order, and which it does not."""
    judged, left = state_limits(model.robot_limits)
    names = ", ".join(f"{one.quantity} of {one.where}" for one in judged.limits) or "nothing"
    return {"uses": names, "not_judged": f"Not judged: {left_out_text(left)}" if left else "These are all limits"}


def _facts(model: Model, precision: str) -> dict[str, str]:
    """What depends on the robot: units, its velocity u, and the order of bodies, joints, conditions and limits."""
    mechanism = model.kernels.mechanism
    legs = mechanism.legs
    limits = [(f"{leg.name} {limit.name}", limit) for leg in legs for limit in leg.placement.limits]
    q, force = units(model)
    return {
        "P": "{P}", "B": "{B}", "q": q, "f": force,
        "residual": f"{largest_residual(model.size, model.robot, precision == 'float'):.2g}",
        "u": _u_text(model),
        "internal": ", ".join(model.internal),
        "actuators": ", ".join(f"{a.name} [{a.unit}]" for a in model.actuators),
        "coefficients": ", ".join(f"{name} ({size})" for name, size in COEFFICIENTS.items()),
        "bodies": ", ".join(body_names(mechanism)),
        "joints": ", ".join(f"{leg.name} {joint.name}" for leg in legs for joint in leg.placement.joints),
        "positions": ", ".join(component_names(model.joints)),
        "elements": ", ".join(f"{one.name} {axis}" for one in placed_elements(mechanism) for axis in one.axes),
        "conditions": "; ".join(f"{leg.name}: {c.name}" for leg in legs for c in leg.placement.conditions),
        "limits": ", ".join(f"{name} [{'1, its cosine' if one.angle else one.unit}]" for name, one in limits)
        or "nothing [1]",
        "pairs": "" if model.robot.flexible else ", ".join(model.clearances.groups),
        **_uses(model),
    }  # fmt: skip
