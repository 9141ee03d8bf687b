"""How a chain closes, decided once from its data: rigid groups, tree joints and cut joints, free spins, equations.

Base and platform are given; a forest from both reaches every body through tree joints, whose coordinates are the
unknowns. The other joints are cut: each gives as many equations as it has constraints. Joints of few degrees of freedom
are kept and those of many cut, so that unknowns and equations are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import InputError, UnknownNameError
from ..spanning import spanning
from .data import JOINT_DOF, ChainJoint

GROUND = ("base", "platform")


@dataclass(frozen=True)
class Edge:
    """A joint as a directed edge of the graph of bodies, from ``parent`` to ``child``; ``joint`` is its number.

    ``reversed`` says that the file states its two bodies in the other order.
    """

    joint: int
    parent: str
    child: str
    reversed: bool = False


@dataclass(frozen=True)
class Plan:
    """``group`` gives the representative of the rigid group of each body. ``tree`` are edges outward from base and
    platform in the order in which bodies are reached, ``cuts`` the joints that close loops. ``outward`` are all joints
    from the base outward (the platform last), for free bodies. ``spins`` gives, for a tree joint between two spherical
    ones that would leave a rod free to spin, the joint at its other end."""

    group: dict[str, str]
    tree: tuple[Edge, ...]
    cuts: tuple[Edge, ...]
    outward: tuple[Edge, ...]
    spins: dict[int, int]


def plan_of(bodies: Sequence[str], joints: Sequence[ChainJoint]) -> Plan:
    """The plan of a leg; ``InputError`` with the field at fault where its joints do not hang together."""
    _check_names(bodies, joints)
    group = _rigid_groups(bodies, joints)
    moving = [k for k, j in enumerate(joints) if JOINT_DOF[j.kind]]
    ends = {k: (group[joints[k].between[0]], group[joints[k].between[1]]) for k in moving}
    for k, (a, b) in ends.items():
        if a == b:
            raise InputError(f"joints.{k}: {joints[k].name} connects {a!r} to itself through fixed joints")
    far = _distances(ends)
    order = sorted(moving, key=lambda k: (not joints[k].actuated, JOINT_DOF[joints[k].kind], far[k], k))
    kept, _ = spanning(order, [ends[k] for k in order], GROUND)
    tree = _outward(kept, ends, GROUND)
    held = {*GROUND, *(edge.child for edge in tree)}
    for body in bodies:
        if group[body] not in held:
            raise InputError(
                f"bodies.{body}: no joints connect this body to the base or the platform; add a joint, or remove it"
            )
    cuts = [Edge(k, *ends[k]) for k in moving if k not in kept]
    inner = [k for k in order if "platform" not in ends[k]]
    from_base, _ = spanning(inner, [ends[k] for k in inner])
    reached = _outward(from_base, ends, ("base",))
    depth = {"base": 0, "platform": len(joints) + 1}
    for edge in reached:
        depth[edge.child] = depth[edge.parent] + 1
    rest = [k for k in moving if k not in from_base]
    others = [
        Edge(k, *ends[k]) if depth.get(ends[k][0], 0) <= depth.get(ends[k][1], 0) else Edge(k, *ends[k][::-1], True)
        for k in rest
    ]
    return Plan(group, tuple(tree), tuple(cuts), (*reached, *others), _spins(joints, tree, cuts))


def _check_names(bodies: Sequence[str], joints: Sequence[ChainJoint]) -> None:
    known = (*GROUND, *bodies)
    for body in bodies:
        if body in GROUND:
            raise InputError(f"bodies.{body}: {body!r} is a reserved name; use another one")
        if not any(body in j.between for j in joints):
            raise InputError(
                f"bodies.{body}: no joint connects this body; name it in the between of a joint, or leave it out"
            )
    for k, joint in enumerate(joints):
        for name in joint.between:
            if name not in known:
                raise InputError(f"joints.{k}.between: {UnknownNameError('body', name, known)}")
        if joint.name in [j.name for j in joints[:k]]:
            raise InputError(f"joints.{k}.name: joint names of a leg must be unique, got {joint.name!r} twice")
    if not any("platform" in j.between for j in joints):
        raise InputError("joints: none connects the leg to the platform; a leg must end in 'between: [..., platform]'")


def _rigid_groups(bodies: Sequence[str], joints: Sequence[ChainJoint]) -> dict[str, str]:
    """Representative of every body: bodies fixed to each other are one; base and platform represent their group."""
    group = {name: name for name in (*GROUND, *bodies)}
    for k, joint in enumerate(joints):
        if joint.kind != "fixed":
            continue
        first, second = (group[name] for name in joint.between)
        if {first, second} == set(GROUND):
            raise InputError(
                f"joints.{k}: {joint.name} fixes the platform to the base; use a joint that moves, or other bodies"
            )
        keep, drop = (second, first) if second in GROUND else (first, second)
        group = {name: keep if to == drop else to for name, to in group.items()}
    return group


def _distances(ends: dict[int, tuple[str, str]]) -> dict[int, int]:
    """How many joints are between the base and each joint, on the shortest way that does not lead over the platform."""
    far: dict[int, int] = {}
    reached, steps = {"base"}, 0
    while True:
        new = [k for k, pair in ends.items() if k not in far and reached & ({*pair} - {"platform"})]
        if not new:
            return {k: far.get(k, steps) for k in ends}
        far |= dict.fromkeys(new, steps)
        reached |= {name for k in new for name in ends[k]}
        steps += 1


def _outward(kept: Sequence[int], ends: dict[int, tuple[str, str]], ground: tuple[str, ...]) -> list[Edge]:
    """The kept joints as edges outward from the ground, every parent before its children."""
    edges: list[Edge] = []
    reached, waiting = set(ground), list(kept)
    while True:
        k = next((k for k in waiting if (ends[k][0] in reached) != (ends[k][1] in reached)), None)
        if k is None:
            return edges
        waiting.remove(k)
        a, b = ends[k]
        edges.append(Edge(k, a, b) if a in reached else Edge(k, b, a, True))
        reached.add(edges[-1].child)


def _spins(joints: Sequence[ChainJoint], tree: Sequence[Edge], cuts: Sequence[Edge]) -> dict[int, int]:
    """Spherical tree joints beyond which one other spherical joint is all that holds: what is between spins freely."""
    found = {}
    for edge in tree:
        if joints[edge.joint].kind != "spherical":
            continue
        beyond = {edge.child}
        for other in tree:
            if other.parent in beyond:
                beyond.add(other.child)
        inside = [other for other in tree if other.child in beyond and other is not edge]
        holding = [cut for cut in cuts if (cut.parent in beyond) != (cut.child in beyond)]
        within = [cut for cut in cuts if cut.parent in beyond and cut.child in beyond]
        straight = all(joints[other.joint].kind == "prismatic" for other in inside)
        if len(holding) == 1 and not within and straight and joints[holding[0].joint].kind == "spherical":
            found[edge.joint] = holding[0].joint
    return found
