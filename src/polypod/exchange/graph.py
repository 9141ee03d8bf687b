"""Which body is the platform, what is between it and the base, and which legs that makes."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import InputError, UnknownNameError
from ..legs.chain import ChainJoint
from .linkage import BASE, Linkage, Mark


def choose_platform(linkage: Linkage, wanted: str | None) -> tuple[Mark, str]:
    """Body and frame of the platform, by the name of a body or of a frame on one, and how it was chosen."""
    name = wanted or linkage.platform
    if name is not None:
        if name not in linkage.marks:
            raise UnknownNameError("platform", name, tuple(linkage.marks))
        mark = linkage.marks[name]
        if mark.body == BASE:
            raise InputError(f"platform: {name!r} does not move; choose a body that loops hold")
        return mark, "given" if wanted else "named by the file"
    candidates = [body for body in linkage.bodies if body != BASE]
    if not candidates:
        raise InputError("no body moves: all are fixed to the base")
    named = {mark.body: name for name, mark in reversed(list(linkage.marks.items())) if mark.only}
    far, loops = joint_distances(linkage.joints), _in_loops(linkage.joints)
    measure = {
        body: (
            len([joint for joint in loops if body in joint.between]),
            far.get(body, -1),
            body in named,
            linkage.bodies[body].mass,
        )
        for body in candidates
    }
    best = max(candidates, key=lambda body: measure[body])
    why = (
        f"proposed: {measure[best][0]} joints of loops are on it and it is {measure[best][1]} joints away from the base"
        + (f", with the frame {named[best]} on it" if best in named else "")
        + "; --platform NAME chooses another body or frame"
    )
    return linkage.marks[named.get(best, best)], why


def _in_loops(joints: Iterable[ChainJoint]) -> list[ChainJoint]:
    """Joints that are part of a loop: their two bodies stay connected without them."""
    listed = list(joints)
    pairs = [joint.between for joint in listed]
    return [
        joint
        for number, joint in enumerate(listed)
        if joint.between[1] in _reached(pairs[:number] + pairs[number + 1 :], {joint.between[0]})
    ]


def dangling_joints(joints: Iterable[ChainJoint], platform: str) -> list[ChainJoint]:
    """Joints on no path between base and platform: taking one body away cuts their bodies off from both."""
    listed = list(joints)
    ends = {BASE, platform}
    bodies = {name for joint in listed for name in joint.between}
    kept = bodies - ends
    for cut in bodies:
        rest = [joint.between for joint in listed if cut not in joint.between]
        kept &= _reached(rest, ends - {cut}) | {cut}
    return [joint for joint in listed if not set(joint.between) <= kept | ends]


def _reached(pairs: list[tuple[str, str]], start: set[str]) -> set[str]:
    """Bodies connected by joints (``pairs`` of bodies) to those of ``start``, which are among them."""
    found, size = set(start), -1
    while len(found) != size:
        size = len(found)
        for a, b in pairs:
            if a in found or b in found:
                found |= {a, b}
    return found


def legs_between(joints: Iterable[ChainJoint], platform: str) -> list[list[ChainJoint]]:
    """Joints by leg: a leg is a connected component of what is left without base and platform."""
    legs: list[tuple[set[str], list[ChainJoint]]] = []
    for joint in joints:
        inner = set(joint.between) - {BASE, platform}
        touched = [leg for leg in legs if leg[0] & inner]
        merged = (inner.union(*(leg[0] for leg in touched)), [j for leg in touched for j in leg[1]] + [joint])
        place = min((legs.index(leg) for leg in touched), default=len(legs))
        legs = [leg for leg in legs if leg not in touched]
        legs.insert(place, merged)
    order = {joint.name: k for k, joint in enumerate(joints)}
    return [sorted(leg, key=lambda joint: order[joint.name]) for _, leg in legs]


def joint_distances(joints: Iterable[ChainJoint]) -> dict[str, int]:
    """For every body connected to the base the number of joints on the shortest path to it."""
    listed, found, front = list(joints), {BASE: 0}, [BASE]
    while front:
        after = []
        for joint in listed:
            for here, there in (joint.between, joint.between[::-1]):
                if here in front and there not in found:
                    found[there] = found[here] + 1
                    after.append(there)
        front = after
    return found
