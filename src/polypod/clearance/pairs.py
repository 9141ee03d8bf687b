"""Which bodies of a robot can hit each other: all but those that a joint holds together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..arrays import Array
from ..drawing import Samples, Shape
from ..errors import UnknownNameError
from ..legs.cable import DRAWN, ENDS, Cable

FLOOR = "floor"


@dataclass(frozen=True)
class BodyPair:
    """Two bodies by number and name, and the numbers of their shapes; the second is -1 for the floor."""

    first: int
    second: int
    names: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]


def body_pairs(samples: Samples, shapes: tuple[Shape, ...], floor: bool) -> tuple[BodyPair, ...]:
    """Pairs of bodies that may come near each other.

    Left out by rule are neighbours, which a joint holds together, and bodies that hold on to one place of a third:
    the link of a slider and the rail below it, or two legs that meet in one joint of the platform. What stands on the
    base is not compared with the floor. Left out by name are pairs of ``touching`` in the robot's file.
    """
    own: dict[int, tuple[int, ...]] = {}
    for number, shape in enumerate(shapes):
        own[shape.body] = (*own.get(shape.body, ()), number)
    thick = {body: max(shapes[k].radius for k in numbers) for body, numbers in own.items()}
    drawn = _drawn_for(samples)
    joined = [tuple(drawn.get(body, body) for body in samples.joint_bodies(k)) for k in range(len(samples.joints))]
    held = [((pair[0], pair[1]), samples.points[0, k]) for k, pair in enumerate(joined)]
    touching = {frozenset(pair) for pair, _ in held}
    # where on its axis a slide between two moving bodies is stated says nothing
    telescopes = [
        joint.kind in ("prismatic", "cylindrical") and 0 not in pair
        for (_, joint), (pair, _) in zip(samples.joints, held, strict=True)
    ]
    touching |= _at_one_place([one for one, slides in zip(held, telescopes, strict=True) if not slides], thick)
    pairs = []
    for a, b in combinations(sorted(own), 2):
        if frozenset((a, b)) not in touching:
            pairs.append(BodyPair(a, b, (shapes[own[a][0]].name, shapes[own[b][0]].name), (own[a], own[b])))
    if floor:
        standing = {body for pair, _ in held if 0 in pair for body in pair}
        for body in sorted(set(own) - standing):
            pairs.append(BodyPair(body, -1, (shapes[own[body][0]].name, FLOOR), (own[body], ())))
    return _not_named(tuple(pairs), samples, shapes)


def _not_named(pairs: tuple[BodyPair, ...], samples: Samples, shapes: tuple[Shape, ...]) -> tuple[BodyPair, ...]:
    """Pairs without those that the robot's file lets touch: of bodies, or of legs with all their bodies."""
    robot = samples.mechanism.robot
    if not robot.touching:
        return pairs
    known = (
        *dict.fromkeys(shape.name for shape in shapes),
        *(leg.name for leg in robot.legs),
        "base",
        "platform",
        FLOOR,
    )
    for name in (name for pair in robot.touching for name in pair):
        if name not in known:
            raise UnknownNameError("touching", name, known)
    named = [frozenset(pair) for pair in robot.touching]

    def left_out(names: tuple[str, str]) -> bool:
        one, two = ((name, name.partition(".")[0]) for name in names)
        return any(frozenset((a, b)) in named for a in one for b in two)

    return tuple(pair for pair in pairs if not left_out(pair.names))


def _drawn_for(samples: Samples) -> dict[int, int]:
    """Bodies that are drawn by another one: both ends of a cable by the cable."""
    found: dict[int, int] = {}
    names = list(samples.bodies)
    for leg in samples.mechanism.robot.legs:
        if isinstance(leg, Cable):
            own = names.index(leg.label(DRAWN))
            found |= {k: own for k, name in enumerate(names) if name in map(leg.label, ENDS)}
    return found


def grouped(pairs: tuple[BodyPair, ...]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Pairs by what meets, such as ``leg1 against leg2`` or ``leg1 against base``, and the numbers of each.

    Examples
    --------
    >>> pair = BodyPair(2, 5, ("leg1.tube", "leg2.rod"), ((0,), (1,)))
    >>> grouped((pair, pair))
    (('leg1 against leg2', (0, 1)),)
    """
    found: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        who = sorted((name.partition(".")[0] for name in pair.names), key=("platform", "base", FLOOR).__contains__)
        found.setdefault(f"{who[0]} against {who[1]}", []).append(number)
    return tuple((name, tuple(own)) for name, own in found.items())


def _at_one_place(held: list[tuple[tuple[int, int], Array]], thick: dict[int, float]) -> set[frozenset[int]]:
    """Bodies that are joined to one body nearer to each other than they are thick, at home."""
    found = set()
    for (one, at), (two, there) in combinations(held, 2):
        for middle in set(one) & set(two):
            a, b = (next(body for body in pair if body != middle) for pair in (one, two))
            if a != b and np.linalg.norm(at - there) < thick.get(a, 0.0) + thick.get(b, 0.0):
                found.add(frozenset((a, b)))
    return found
