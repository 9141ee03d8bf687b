"""A robot at a glance: mobility, moving mass, home pose, and every parameter with its unit and source."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel

from ..model import Model
from ..symbols.bounded import MOST_FREE
from ..tables import Table, short, table

if TYPE_CHECKING:
    from ..description import Robot
    from ..model.actuators import ActuatorInfo


# Friction's units by the joint it is in: of a slide, and of a joint that turns.
_FRICTION_UNITS = {
    "viscous": ("N s/m", "N m s/rad"),
    "coulomb": ("1", "m"),  # a coefficient; an arm, since a moment is an arm times the reaction
    "drag": ("N", "N m"),
    "static": ("1", "1"),  # times the friction in motion
    "stribeck_speed": ("m/s", "rad/s"),
}


class Parameter(NamedTuple):
    """One number, vector or tensor of a robot; ``given`` if its file gives it, else it is the schema's default."""

    path: str
    value: Any
    unit: str
    source: str
    given: bool
    is_range: bool = False


def parameters(robot: Robot) -> list[Parameter]:
    """All parameters of a robot; ``legs.*`` stands for a value that every leg has."""
    from ..legs import Leg

    friction_joints = [leg.friction_joints() if isinstance(leg, Leg) else {} for leg in robot.legs]
    alike: dict[str, list[Parameter]] = defaultdict(list)
    for path in robot.numbers():
        one = _parameter(robot, path, friction_joints)
        alike[re.sub(r"^legs\.\d+\.", "legs.*.", path)].append(one)
    listed = []
    for pattern, same in alike.items():
        every = pattern.startswith("legs.*.") and len(same) == len(robot.legs)
        shared = every and len({str(p[1:]) for p in same}) == 1
        listed += [same[0]._replace(path=pattern)] if shared else same
    return listed


def mobility(robot: Robot) -> dict[str, Any]:
    """Degrees of freedom, joints and bodies, and the Gruebler-Kutzbach count 6 (bodies - joints) + sum of joint degrees
    of freedom - couplings.

    The count is below the true mobility where a robot has more constraints than it needs (parallel hinges).
    """
    from ..legs.chain.data import JOINT_DOF
    from ..mechanism import Mechanism

    placements = [leg.placement for leg in Mechanism(robot).legs]
    legs = [placement.joints for placement in placements]
    couplings = sum(len(placement.couplings) for placement in placements)
    joints = [joint for leg in legs for joint in leg]
    bodies = 1 + sum(len({name for j in leg for name in (j.parent, j.child)} - {"base", "platform"}) for leg in legs)
    free = sum(JOINT_DOF[joint.kind] for joint in joints)
    return {
        "dof": [f.name for f in robot.dof] or ["x", "y", "z", "rx", "ry", "rz"],
        "moving_bodies": bodies,
        "joints": len(joints),
        "joint_dof": free,
        **({"couplings": couplings} if couplings else {}),
        "gruebler_kutzbach": 6 * (bodies - len(joints)) + free - couplings,
    }


def _parameter(robot: Robot, path: str, friction_joints: list[dict[str, set[str]]]) -> Parameter:
    """Value, unit and source at a dotted path, and whether the file gives it or anything around it does not."""
    from ..description import Friction
    from ..description.paths import steps
    from ..description.quantities import Range, unit_of

    ordered = next(part for part in get_args(Range) if isinstance(part, AfterValidator))
    value: Any = robot
    unit, given, is_range = "", True, False
    parts = path.split(".")
    for owner, part, value in steps(robot, path):  # noqa: B007  the last is the parameter
        if isinstance(owner, BaseModel):
            field = type(owner).model_fields[part]
            unit, is_range = unit_of(field), ordered in (*field.metadata, *_annotation_metadata(field.annotation))
            given = given and part in owner.model_fields_set
            if isinstance(owner, Friction) and parts[0] == "legs":
                kinds = friction_joints[int(parts[1])].get(parts[2], set())
                both = "prismatic" in kinds and len(kinds) > 1
                unit = _FRICTION_UNITS[part]["prismatic" not in kinds] if kinds and not both else unit
    return Parameter(path, value, "" if unit == "1" else unit, robot.source_of(path) or "", given, is_range)


def _annotation_metadata(annotation: Any) -> list[Any]:
    """Everything an annotation is marked with."""
    inside = [mark for part in get_args(annotation) for mark in _annotation_metadata(part)]
    return [*getattr(annotation, "__metadata__", ()), *inside]


def describe(robot: Robot) -> dict[str, Any]:
    """What a robot is, as data.

    Parameters
    ----------
    robot : a robot, see ``polypod.load``

    Returns
    -------
    dict : names, actuators with their drives, mobility, platform, moving mass, home pose and all parameters with their
        sources, as ``polypod show --json`` prints them
    """
    model = Model(robot)
    home = robot.home.matrix
    conditioning = model.conditioning(home)
    listed = parameters(robot)
    return {
        "name": robot.name,
        "title": robot.title,
        "reference": robot.reference,
        "legs": [{"name": leg.name, "kind": leg.kind} for leg in robot.legs],
        "actuators": [
            {"name": a.name, "leg": a.leg, "joint": a.joint, "unit": a.unit, **_drive(a)} for a in model.actuators
        ],
        "mobility": mobility(robot),
        "platform": _platform(model),
        "moving_mass_kg": _moving_mass(model),
        "home": {
            "coordinates": model.inverse_kinematics(home),
            "condition_number": float(conditioning.condition),
            "distance_to_singularity": float(conditioning.distance),
        },
        **_cables(model),
        "euler": {
            "convention": robot.euler,
            "meaning": euler(robot.euler),
            "given": "euler" in robot.model_fields_set,
        },
        "unphysical": robot.unphysical,
        "parameters": [p._asdict() for p in listed],
        "parameters_default": sum(not p.given for p in listed),
        "parameters_assumed": sum(p.source.startswith("assumed") for p in listed),
        "parameters_without_source": sum(not p.source for p in listed),
    }


def _drive(actuator: ActuatorInfo) -> dict[str, Any]:
    """What the file says of an actuator's drive."""
    return {name: value for name, value in actuator.drive.model_dump().items() if value is not None}


def _platform(model: Model) -> dict[str, Any]:
    """Kind and mass of the platform; modes of a flexible one."""
    robot = model.robot
    platform: dict[str, Any] = {"kind": "flexible" if robot.flexible else "rigid", "mass_kg": robot.platform.mass}
    if robot.flexible:
        modes = model.modes
        platform |= {
            "modes_from": modes.title,
            "frequencies_Hz": (modes.frequencies / (2 * np.pi)).tolist(),
            "generalized_stiffness": modes.stiffness.tolist(),
            "damping_ratio": None if modes.damping_ratio is None else modes.damping_ratio.tolist(),
        }
    return platform


def _moving_mass(model: Model) -> float:
    """Mass of all moving bodies [kg]."""
    import casadi as ca

    mechanism = model.kernels.mechanism
    bodies = (body.moments.mass for leg in mechanism.placed for body in leg.placement.bodies)
    loads = sum(body.mass for body in model.robot.payloads.values())
    return float(model.robot.platform.mass + loads + mechanism.numbers.evaluate(sum(bodies, ca.SX(0)))[0, 0])


def overview(data: dict[str, Any]) -> list[str]:
    """What ``describe`` found, in sentences."""
    count, home, angles = data["mobility"], data["home"], data["euler"]
    kinds: dict[str, list[str]] = {}
    for leg in data["legs"]:
        kinds.setdefault(leg["kind"], []).append(leg["name"])
    legs = "; ".join(f"{', '.join(names)} ({kind})" for kind, names in kinds.items())
    default = "" if angles["given"] else " (default)"
    lines = [
        f"Legs: {legs}. Moving mass {data['moving_mass_kg']:.5g} kg.",
        f"Mobility: {len(count['dof'])} ({', '.join(count['dof'])}); {count['moving_bodies']} moving bodies, "
        f"{count['joints']} joints with {count['joint_dof']} degrees of freedom"
        f"{', ' + str(count['couplings']) + ' couplings' if 'couplings' in count else ''}, Gruebler-Kutzbach count "
        f"{count['gruebler_kutzbach']}.",
        f"At home: coordinates {_coordinates(data)}, condition number {home['condition_number']:.4g}, distance to "
        f"singularity {home['distance_to_singularity']:.4g} mm/mm.",
    ]
    if "cables" in data:
        lines.append(_cables_text(data["cables"], len(count["dof"])))
    if data["platform"]["kind"] == "flexible":
        listed = " ".join(f"{f:.4g}" for f in data["platform"]["frequencies_Hz"])
        lines.append(f"Flexible platform of {data['platform']['mass_kg']:.5g} kg; its free modes: {listed} Hz.")
    return [*lines, f"Euler angles {angles['convention']}{default}: {angles['meaning']}."]


def _cables(model: Model) -> dict[str, Any]:
    """How many cables a robot has, and whether they hold any wrench at home; nothing for other robots."""
    from ..analysis import wrench_closure

    count = sum(leg.kind == "cable" for leg in model.robot.legs)
    if not count or count < len(model.actuators) or model.robot.flexible or model.internal:
        return {}
    if count - model.mobility.count > MOST_FREE:
        return {}
    found = wrench_closure(model)
    return {"cables": {"count": count, "wrench_closure_at_home": bool(found.closed), "factor": float(found.factor)}}


def _cables_text(cables: dict[str, Any], dof: int) -> str:
    """What cables do at home, in a sentence."""
    many = f"{cables['count']} cables for {dof} degrees of freedom"
    if cables["wrench_closure_at_home"]:
        return f"Fully constrained: {many} hold any wrench at home (tension factor {cables['factor']:.3g})."
    return (
        f"Suspended: {many} cannot pull against each other at home; weight or a load keeps them under tension, and "
        "they cannot hold every wrench."
    )


def parameters_table(data: dict[str, Any]) -> Table:
    """Every parameter of what ``describe`` found: what it belongs to, its value and where that comes from."""
    names = [leg["name"] for leg in data["legs"]], data["mobility"]["dof"]
    rows = []
    for p in data["parameters"]:
        value, source = quantity(p["value"], p["unit"], p["is_range"]), source_text(p["source"], p["given"])
        rows.append((*owner_and_name(p["path"], *names), value, source))
    caption = (
        f"{len(rows)} parameters, {data['parameters_default']} of them defaults; "
        f"{data['parameters_assumed']} assumed, {data['parameters_without_source']} without a source."
    )
    return table("Parameters", [("of", ""), ("parameter", ""), ("value", ""), ("source", "")], rows, caption)


def _coordinates(data: dict[str, Any]) -> str:
    """Coordinates at home with their unit, once if all have the same."""
    texts, units = [f"{q:.4f}" for q in data["home"]["coordinates"]], [a["unit"] for a in data["actuators"]]
    if len(set(units)) == 1:
        return f"{' '.join(texts)} {units[0]}"
    return ", ".join(map(" ".join, zip(texts, units, strict=True)))


def owner_and_name(path: str, legs: list[str], dof: list[str]) -> tuple[str, str]:
    """What a parameter belongs to and its name there, by the names of the robot's legs and degrees of freedom.

    Examples
    --------
    >>> [owner_and_name(path, ["A", "B"], []) for path in ("legs.0.slider.mass", "legs.*.length", "gravity")]
    [('A', 'slider.mass'), ('all legs', 'length'), ('robot', 'gravity')]
    """
    part = re.fullmatch(r"(legs|dof)\.(\d+|\*)\.(.+)", path)
    if part and part[1] == "dof":
        return f"degree of freedom {dof[int(part[2])]}", part[3]
    if part:
        return "all legs" if part[2] == "*" else legs[int(part[2])], part[3]
    owner, _, name = path.partition(".")
    return (owner, name) if name else ("robot", owner)


def quantity(value: Any, unit: str, is_range: bool = False) -> str:
    """A value with its unit; a range from its low to its high end, an angle in degrees too.

    Examples
    --------
    >>> quantity((0.7, 1.2), "m", is_range=True), quantity(np.pi / 6, "rad")
    ('0.7 to 1.2 m', '0.5236 rad (30 deg)')
    """
    texts = [_numbers(value, is_range), unit]
    if unit == "rad":
        texts.append(f"({_numbers(np.degrees(value).tolist(), is_range)} deg)")
    return " ".join(text for text in texts if text)


def source_text(text: str, given: bool) -> str:
    """Where a value comes from; one that the file does not give is the schema's default, whatever else is said."""
    return text if given else f"default; {text}" if text else "default"


def euler(convention: str) -> str:
    """What an Euler convention in SciPy's spelling means: the order of turns and the rotation matrix.

    Examples
    --------
    >>> euler("ZYX")
    'about the moving z, then y, then x axis, R = Rz Ry Rx'
    >>> euler("xyz")
    'about the fixed x, then y, then z axis, R = Rz Ry Rx'
    """
    moving = convention.isupper()
    first, second, third = list(convention.lower())
    factors = convention.lower() if moving else convention[::-1]
    product = " ".join(f"R{axis}" for axis in factors)
    return f"about the {'moving' if moving else 'fixed'} {first}, then {second}, then {third} axis, R = {product}"


def _numbers(value: Any, is_range: bool) -> str:
    if np.ndim(value) == 2:
        matrix = np.array(value, dtype=float)
        if np.array_equal(matrix, np.eye(3)):
            return "identity"
        if len(matrix) == 3 == len(matrix.T) and not np.any(matrix - np.diag(np.diag(matrix))):
            return f"diag({', '.join(short(float(v)) for v in np.diag(matrix))})"
        return "; ".join(" ".join(short(float(v)) for v in row) for row in matrix)
    if np.ndim(value) == 1:
        return (" to " if is_range else " ").join(short(float(v)) for v in value)
    return short(value)
