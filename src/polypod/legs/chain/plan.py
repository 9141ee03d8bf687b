"""How a chain closes, decided once from its data: rigid groups, tree joints and cut joints, free spins, equations.

Base and platform are given; a forest from both reaches every body through tree joints, whose coordinates are the
unknowns. The other joints are cut: each gives as many equations as it has constraints. Joints of few degrees of freedom
are kept and those of many cut, so that unknowns and equations are few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...errors import InputError, UnknownNameError
from ..spanning import spanning
from .coupled import ChainRelation, Displacement
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
    ones that would leave a rod free to spin, the joint at its other end. Of couplings, ``follows`` gives the relation
    from which a displacement of a tree joint follows, ``needs`` the bodies that are placed before the child of such a
    joint, and ``relations`` those that are equations like the cut joints', since no displacement can follow.
    ``internal`` are displacements of tree joints that are given, as the platform's pose is. ``alike`` are pairs of
    hinges of a coupled leg whose axes are within 45 degrees of each other's line at home, with their sense, and
    ``screws``, for tree joints whose turn is unknown, the joints like them in a row that turn as they travel."""

    group: dict[str, str]
    tree: tuple[Edge, ...]
    cuts: tuple[Edge, ...]
    outward: tuple[Edge, ...]
    spins: dict[int, int]
    follows: dict[Displacement, int] = field(default_factory=dict)
    needs: dict[str, frozenset[str]] = field(default_factory=dict)
    relations: tuple[int, ...] = ()
    internal: tuple[Displacement, ...] = ()
    alike: dict[tuple[int, int], int] = field(default_factory=dict)
    screws: dict[int, tuple[Edge, ...]] = field(default_factory=dict)

    def is_coupled(self, joint: int) -> bool:
        """Whether a displacement of a joint follows from others."""
        return any(number == joint for number, _ in self.follows)

    def is_internal(self, joint: int) -> bool:
        """Whether a displacement of a joint is given."""
        return any(number == joint for number, _ in self.internal)


def plan_of(
    bodies: Sequence[str],
    joints: Sequence[ChainJoint],
    relations: Sequence[ChainRelation] = (),
    internal: Sequence[Displacement] = (),
) -> Plan:
    """The plan of a leg; ``InputError`` with the field at fault where its joints do not hang together.

    ``internal`` are displacements that are given: their joints come first into the tree.
    """
    _check_names(bodies, joints)
    group = _rigid_groups(bodies, joints)
    moving = [k for k, j in enumerate(joints) if JOINT_DOF[j.kind]]
    ends = {k: (group[joints[k].between[0]], group[joints[k].between[1]]) for k in moving}
    for k, (a, b) in ends.items():
        if a == b:
            raise InputError(f"joints.{k}: {joints[k].name} connects {a!r} to itself through fixed joints")
    far = _distances(ends)
    coupled = {number for relation in relations for number, _ in relation.displacements}
    given = {number for number, _ in internal}
    order = sorted(
        moving,
        key=lambda k: (
            k not in given,
            not (joints[k].actuated or k in coupled),
            JOINT_DOF[joints[k].kind],
            far[k],
            k,
        ),
    )
    kept, _ = spanning(order, [ends[k] for k in order], GROUND)
    tree = _outward(kept, ends, GROUND)
    for number in sorted(given - {*kept}):
        raise InputError(
            f"{joints[number].name} closes a loop of joints that are internal coordinates; leave one of them out"
        )
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
    hung = [k for k in moving if not {*ends[k]} & {*depth} - {"platform"}]  # only the platform carries their bodies
    carried = _outward(spanning(hung, [ends[k] for k in hung], ("platform",))[0], ends, ("platform",))
    for edge in carried:
        depth[edge.child] = depth[edge.parent] + 1
    rest = [k for k in moving if k not in {*from_base, *(edge.joint for edge in carried)}]
    others = [
        Edge(k, *ends[k]) if depth.get(ends[k][0], 0) <= depth.get(ends[k][1], 0) else Edge(k, *ends[k][::-1], True)
        for k in rest
    ]
    spins = _spins(joints, tree, cuts)
    plan = Plan(group, tuple(tree), tuple(cuts), (*reached, *others, *carried), spins, internal=tuple(internal))
    return _coupled(replace(plan, alike=_alike(joints)), ends, relations) if relations else plan


def _alike(joints: Sequence[ChainJoint]) -> dict[tuple[int, int], int]:
    axes = {k: joint.axis for k, joint in enumerate(joints) if joint.kind in ("revolute", "cylindrical")}
    found = {}
    for one, first in axes.items():
        for two, second in axes.items():
            cosine = sum(x * y for x, y in zip(first or (), second or (), strict=True))
            if one != two and cosine * cosine > 0.5:
                found[one, two] = 1 if cosine > 0 else -1
    return found


def _coupled(plan: Plan, ends: dict[int, tuple[str, str]], relations: Sequence[ChainRelation]) -> Plan:
    """The plan with a displacement that follows from each relation where one can, after those it follows from.

    Best are bodies that hold nothing else (rotors), then turns: a turn from a travel may be many, a travel from a turn
    must know how many.
    """
    edges = {edge.joint: edge for edge in plan.tree}
    holding = {body for cut in plan.cuts for body in (cut.parent, cut.child)}
    for edge in reversed(_outward(list(edges), ends, GROUND)):
        if edge.child in holding:
            holding.add(edge.parent)
    for number, relation in enumerate(relations):
        known = {*plan.follows, *plan.internal}
        free = [d for d in relation.displacements if d[0] in edges and d not in known]
        free.sort(key=lambda d: (edges[d[0]].child in holding, d[1] == "translation"))
        for displacement in free:
            child = edges[displacement[0]].child
            others = [k for k, _ in relation.displacements if k != displacement[0]]
            wanted = {body for k in others for body in ends[k]} - set(GROUND) - {edges[displacement[0]].parent}
            own = [d for d in relation.displacements if d[0] == displacement[0] and d != displacement]
            needs = {**plan.needs, child: plan.needs.get(child, frozenset()) | wanted}
            tree = ordered(plan.tree, needs)
            if tree is not None and not any(d in plan.follows for d in own):
                follows = {**plan.follows, displacement: number}
                plan = replace(plan, tree=tree, follows=follows, needs=needs)
                break
        else:
            plan = replace(plan, relations=(*plan.relations, number))
    return replace(plan, screws=_screws(plan, relations))


def _screws(plan: Plan, relations: Sequence[ChainRelation]) -> dict[int, tuple[Edge, ...]]:
    """Tree joints that turn as they travel, by the joint nearest in a row with them whose turn is unknown."""
    edges, holders = {edge.joint: edge for edge in plan.tree}, {edge.child: edge for edge in plan.tree}

    def above(body: str) -> list[int]:
        return [] if body not in holders else [holders[body].joint, *above(holders[body].parent)]

    found: dict[int, tuple[Edge, ...]] = {}
    for (number, motion), relation in plan.follows.items():
        if motion == "rotation" and {k for k, _ in relations[relation].displacements} == {number}:
            beyond = [edge.joint for edge in plan.tree if number in above(edge.parent)]
            row = [k for k in (*above(edges[number].parent), *beyond)
                   if (number, k) in plan.alike and (k, "rotation") not in {*plan.follows, *plan.internal}]  # fmt: skip
            if row:
                found[row[0]] = (*found.get(row[0], ()), edges[number])
    return found


def ordered(tree: Sequence[Edge], needs: Mapping[str, frozenset[str]]) -> tuple[Edge, ...] | None:
    """The tree with every body after its parent and after those that it needs; None for circular needs."""
    known, left, order = set(GROUND), list(tree), []
    while left:
        edge = next((one for one in left if one.parent in known and needs.get(one.child, known) <= known), None)
        if edge is None:
            return None
        left.remove(edge)
        known.add(edge.child)
        order.append(edge)
    return tuple(order)


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
