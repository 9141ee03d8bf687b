"""Steps of a controller in C: functions of a model chained, each given what those before it have found.

From measured coordinates and rates: the pose (Newton from the last one), the twist J u = qdot; from commanded
accelerations of the coordinates that of the platform, J udot = qddot - Jdot u, and the forces that give it. A safe step
also judges the state: the use of every limit, the distance to a singularity and that between bodies. A transmission has
all that a linkage between motors and coordinates is, such as an ankle: coordinates, Jacobian, inertia, forces, limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..errors import InputError
from ..kernels import Expression
from ..model import Model
from ..parameters.chosen import ChosenNumbers
from ..platforms import DegreesOfFreedom
from ..symbols.expression import Iteration, Port
from ..symbols.expression import port as made_port
from .code import CLEARANCE, LIMIT_USES, named_expression, ports

CONTROL, SAFE, TRANSMISSION = "control_step", "safe_step", "transmission"
_MOTION = ("forward_kinematics", "twist", "acceleration", "inverse_dynamics")
_FOUND = ("pose", "twist", "force", "use", "clearance", "distance", "residual", "quality", "converged")
"""What a step gives, in order, where its parts have it."""
_OF_TRANSMISSION = ("pose", "q", "qdot", "force", "transmission", "inertia", "use", "quality", "converged")
_RENAMED = {"limited": {"values": "limited"}}
"""Outputs of parts by the names under which later parts take them."""


@dataclass(frozen=True)
class Step:
    """A chain of functions: its parts by name, in order, and its own arrays.

    ``guarded`` is an output that is written only if all tests hold; ``distance`` and ``clearance`` say whether it tests
    those.
    """

    name: str
    parts: dict[str, Expression | Iteration]
    expression: Expression
    guarded: str = ""
    distance: bool = False
    clearance: bool = False

    def code(self, name: str, number: str, prototype: str) -> str:
        """The C function that calls the parts; theirs are called ``NAME_PART``."""
        given = {port.name for port in self.expression.inputs}
        own = {label for label, _ in ports(self.expression)[1]}
        local, calls, qualities = {}, [], []
        known: dict[str, str] = {}
        for k, (part, expression) in enumerate(self.parts.items()):
            inputs, outputs = ports(expression)
            arguments = [known.get(label, label) for label, _ in inputs]
            for _, port in outputs:
                label = _RENAMED.get(part, {}).get(port.name, port.name)
                if label == "quality":
                    qualities.append(f"quality_{k}")
                    place = qualities[-1]
                else:
                    place = f"{label}_found" if label in given else label
                    known[label] = place
                if place not in own:
                    local[place] = port.length
                arguments.append(place)
            calls.append(f"    {name}_{part}({', '.join(arguments)});")
        smallest = f"{qualities[0]}[0]"
        for one in qualities[1:]:
            smallest = f"smaller({smallest}, {one}[0])"
        lines = [
            prototype,
            "{",
            *(f"    {number} {place}[{length}];" for place, length in local.items()),
            *calls,
            f"    quality[0] = {smallest};",
            "}",
            "",
        ]
        return "\n".join(lines)


def _chained(
    name: str,
    parts: dict[str, Expression | Iteration],
    numbers: ChosenNumbers | None,
    wanted: tuple[str, ...] = _FOUND,
) -> Expression:
    """The arrays of a chain: inputs that no earlier part finds, and those ``wanted`` that some part does."""
    taken: dict[str, Port] = {}
    given: dict[str, Port] = {}
    for part, one in parts.items():
        for port in one.inputs:
            if port.name not in taken:
                given.setdefault(port.name, port)
        for port in one.outputs:
            taken.setdefault(_RENAMED.get(part, {}).get(port.name, port.name), port)
    found = tuple(taken[label] for label in wanted if label in taken)
    return Expression(name, tuple(given.values()), found, None if numbers is None else numbers.port)


def _parts(
    model: Model, names: tuple[str, ...], step: str, friction: bool, numbers: ChosenNumbers | None, single: bool
) -> dict[str, Expression | Iteration]:
    if model.robot.flexible:
        raise InputError(
            f"{step}: the coordinates of {model.robot.name!r} do not tell how its flexible platform moves; export "
            "inverse_dynamics"
        )
    if model.internal:
        raise InputError(
            f"{step}: drives of {model.robot.name!r} do not tell its internal coordinates {', '.join(model.internal)}; "
            "state them as held in the robot file, or export inverse_dynamics"
        )
    return {
        part: named_expression(model, part, friction, numbers or False, search=False, single=single)[1]
        for part in names
    }


def control_step(model: Model, friction: bool, numbers: ChosenNumbers | None, single: bool) -> Step:
    """Forward kinematics from the last pose, twist, acceleration, inverse dynamics."""
    parts = _parts(model, _MOTION, CONTROL, friction, numbers, single)
    return Step(CONTROL, parts, _chained(CONTROL, parts, numbers))


def safe_step(model: Model, friction: bool, numbers: ChosenNumbers | None, single: bool) -> Step:
    """A control step with limits, distance to a singularity and clearance; forces only where all hold."""
    # bodies that are drawn into each other say nothing when they touch
    stated = "clearance" in model.robot_limits.kinds
    apart = bool(model.clearances.groups) and bool((model.clearances.least(model.robot.home.matrix) > 0).all())
    names = (*_MOTION, "limited", *((CLEARANCE,) if apart or stated else ()), "conditioning", LIMIT_USES)
    parts = _parts(model, names, SAFE, friction, numbers, single)
    return Step(SAFE, parts, _chained(SAFE, parts, numbers), "force", True, apart and not stated)


def transmission(model: Model, friction: bool, numbers: ChosenNumbers | None, single: bool) -> Step:
    """From generalized coordinates and their derivatives: motors, Jacobian, inertia, forces, use of limits."""
    if DegreesOfFreedom(model.robot).full:
        raise InputError(
            f"{TRANSMISSION}: {model.robot.name!r} has six degrees of freedom, whose rates are no coordinates' rates; "
            "export jacobian and mass_matrix"
        )
    mapped = ("rate_map",) if model.kernels.mechanism.platform.is_constrained else ()
    before = ("motion", "accelerations", "jacobian", *mapped, "mass_matrix")
    parts = _parts(model, (*before, "inverse_dynamics", "limited"), TRANSMISSION, friction, numbers, single)
    parts["products"] = _products(len(model.actuators), model.mobility.count, bool(mapped))
    parts |= _parts(model, (LIMIT_USES,), TRANSMISSION, friction, numbers, single)
    return Step(TRANSMISSION, parts, _chained(TRANSMISSION, parts, numbers, _OF_TRANSMISSION))


def _products(n: int, m: int, mapped: bool) -> Expression:
    """Jacobian J E and inertia E^T M E by rates of coordinates, of those by components of the twist."""
    jacobian, mass, rates = ca.SX.sym("j", n, m), ca.SX.sym("m", m, m), ca.SX.sym("e", m, m)

    def taken(name: str, matrix: ca.SX) -> Port:
        return Port(name, ca.vec(matrix.T), matrix.shape)  # by rows

    inputs = [taken("jacobian", jacobian), taken("mass_matrix", mass)]
    by = ca.SX.eye(m)
    if mapped:
        inputs.append(taken("rate_map", rates))
        by = rates
    found = made_port("transmission", ca.densify(jacobian @ by), (n, m)), made_port("inertia", by.T @ mass @ by, (m, m))
    return Expression("products", tuple(inputs), found)


STEPS: dict[str, Callable[[Model, bool, ChosenNumbers | None, bool], Step]] = {
    CONTROL: control_step,
    SAFE: safe_step,
    TRANSMISSION: transmission,
}
"""Steps of a controller by name."""
