"""A machine in stages as one robot: bodies and joints of all stages at home, the highest platform as its platform.

Degrees of freedom that the machine has beyond six are internal coordinates: driven joints of the stages below, the
lowest first. A machine of fewer has the positions of its driven joints as degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..files import loads
from ..legs.chain import ChainJoint
from ..stages import Series
from ..yaml12 import to_yaml
from .linkage import BASE, PLATFORM, changed, linkage_of, moved
from .to_robot import body_data, coupling_data

LEG = "machine"
"""Name of the leg that has all bodies."""


def whole_robot(machine: Series) -> Robot:
    """The robot that a machine in stages is.

    Parameters
    ----------
    machine : Series
        The machine.

    Returns
    -------
    Robot
        One robot with the names ``stage-leg-body`` and ``stage-leg-joint``, ``stage-platform`` for the platforms below
        the highest; its base frame is that of the lowest stage, its platform frame that of the highest.

    Raises
    ------
    InputError
        If a stage has what this robot cannot have: a flexible platform, cables, elements, internal coordinates.

    Examples
    --------
    >>> from polypod.stages import series
    >>> robot = whole_robot(series("hexapod-on-rail"))
    >>> [one.name for one in robot.internal], len(robot.legs[0].joints)
    (['rail-axis-slide'], 19)
    """
    bodies: dict[str, Any] = {}
    joints: list[dict[str, Any]] = []
    couplings: list[dict[str, Any]] = []
    below, carrier, driven = np.eye(4), BASE, []
    for k, (name, model, mount) in enumerate(zip(machine.names, machine.stages, machine.mounts, strict=True)):
        robot = model.robot
        _check(robot)
        label, last = _label(name), k + 1 == len(machine.stages)
        linkage, frame = linkage_of(robot), below @ mount
        names = {one: f"{label}-{one}" for one in linkage.bodies} | {BASE: carrier}
        names[PLATFORM] = PLATFORM if last else names[PLATFORM]
        for one, own in linkage.bodies.items():
            if one != BASE and names[one] != PLATFORM:
                bodies[names[one]] = body_data(moved(own, frame))
        for joint in linkage.joints:
            data = _carried(joint, frame, names, label)
            joints.append(data.model_dump(exclude_defaults=True))
            driven += [f"{LEG}.{data.name}"] if joint.actuated else []
        couplings += [_renamed(coupling_data(one), label) for one in linkage.relations]
        below, carrier = frame @ robot.home.matrix, names[PLATFORM]
    counts = [len(model.dof) for model in machine.stages]
    _check_mobility(machine, sum(counts))
    document: dict[str, Any] = {
        "name": machine.name,
        "gravity": machine.gravity.tolist(),
        "home": {"position": below[:3, 3].tolist(), "rotation": below[:3, :3].tolist()},
        "platform": body_data(machine.stages[-1].robot.loaded_platform),
        "legs": [{"name": LEG, "kind": "chain", "bodies": bodies, "joints": joints, "couplings": couplings}],
    }
    if sum(counts) < 6:
        document["dof"] = driven[: sum(counts)]
    elif sum(counts) > 6:
        document["internal"] = [{"name": one.partition(".")[2], "joint": one} for one in driven[: sum(counts) - 6]]
    return loads(to_yaml(document), machine.name)


def _check(robot: Robot) -> None:
    for what, there in (("elements", robot.elements), ("internal coordinates", robot.internal)):
        if there:
            raise InputError(
                f"stages: {robot.name!r} has {what}, which the whole machine as one robot does not take; use the "
                "calls of polypod.stages.Series",
                code="stages",
            )


def _check_mobility(machine: Series, count: int) -> None:
    """Raise where the stages move the highest platform alike: its pose then does not say where they are."""
    if count > 6:
        return  # as many driven joints as are too many are internal coordinates
    jacobian = machine.jacobian([model.home for model in machine.stages])
    size = machine.stages[-1].robot.platform_size
    scale = np.array([1.0, 1.0, 1.0, size, size, size])[:, None]
    lost = count - np.linalg.matrix_rank(scale * jacobian, tol=1e-6 * np.linalg.norm(scale * jacobian, 2))
    if lost > 0:
        raise InputError(
            f"stages: at home the stages of {machine.name!r} move its platform in only {count - lost} ways with "
            f"{count} degrees of freedom, so one robot of all of them is singular there; mount them otherwise, or "
            "use the calls of polypod.stages.Series",
            code="stages",
        )


def _label(name: str) -> str:
    """A stage's name as the first part of other names."""
    return "_".join(name.split()).replace(".", "_")


def _carried(joint: ChainJoint, frame: Array, names: Mapping[str, str], label: str) -> ChainJoint:
    """A joint of a stage whose base is at ``frame`` (4, 4) in the lowest one."""
    turn, shift = frame[:3, :3], frame[:3, 3]
    fields: dict[str, Any] = {
        "name": f"{label}-{joint.name}",
        "between": tuple(names[one] for one in joint.between),
        "at": (turn @ np.array(joint.at) + shift).tolist(),
    }
    for field in ("axis", "guide_normal"):
        if getattr(joint, field) is not None:
            fields[field] = (turn @ np.array(getattr(joint, field))).tolist()
    if joint.cone is not None:
        cone = joint.cone.model_dump(exclude_none=True)
        ways = {field: (turn @ np.array(cone[field])).tolist() for field in ("axis", "direction") if field in cone}
        fields["cone"] = cone | ways
    if joint.axes is not None:
        fields["axes"] = [(turn @ np.array(axis)).tolist() for axis in joint.axes]
    return changed(joint, **fields)


def _renamed(coupling: dict[str, Any], label: str) -> dict[str, Any]:
    joints = [f"{label}-{joint}" for joint in coupling["joints"]]
    return {**coupling, "name": f"{label}-{coupling['name']}", "joints": joints}
