"""A robot's linkage as the tree that other programs' files need: which joints are kept, which loops are cut, and how.

Joints with an actuator are kept, then those of few degrees of freedom and near the base; what is cut is a spherical
joint or a hinge where it can be. A cut joint without actuator, friction and range is stated as points that stay
together. Any other cut leaves the joint whole and goes through a body: one half of it hangs on the joint, the other on
the tree, and the halves are fixed together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Body, Friction
from ..description.shapes import FileShape, Plate, mapped
from ..drawing.shapes import plate_normal
from ..drawing.surface import surface
from ..exchange.linkage import BASE, Linkage, LinkedRelation, body, changed, extent, joint_distances
from ..exchange.simplify import rigid_bodies
from ..legs.chain import ChainJoint
from ..legs.spanning import spanning

_CUT_FIRST = ("spherical", "revolute", "universal", "cylindrical", "prismatic")


@dataclass(frozen=True)
class Node:
    """A body, the joint that leads to it from its parent (``between: [parent, child]``), and its frame (4, 4)."""

    body: str
    joint: ChainJoint
    frame: Array

    @property
    def parent(self) -> str:
        """The body that its joint connects it to."""
        return self.joint.between[0]


@dataclass(frozen=True)
class Tree:
    """Nodes, parents before children; ``cuts`` are spherical joints and hinges that close loops, ``welds`` pairs of
    bodies that are halves of one. ``frames`` (4, 4) are the bodies' own at home, base frame: axes of the base, origin
    in the joint before; the platform's is {P}. ``driven`` are the actuated joints in the order of the robot's forces,
    ``reversed`` names joints that the tree states from their second body, ``relations`` are the couplings between
    joints as they are here."""

    name: str
    platform: str
    gravity: tuple[float, ...]
    bodies: Mapping[str, Body]
    nodes: tuple[Node, ...]
    cuts: tuple[ChainJoint, ...]
    welds: tuple[tuple[str, str], ...]
    frames: Mapping[str, Array]
    driven: tuple[ChainJoint, ...]
    reversed: frozenset[str]
    relations: tuple[LinkedRelation, ...] = ()

    def elementary(self, joint: str, motion: str) -> str:
        """Name of the elementary joint with a motion of a joint."""
        whole = next(one for one in (*(node.joint for node in self.nodes), *self.cuts) if one.name == joint)
        return next(part.name for part in elementary_joints(whole) if part.motion == motion)

    def children(self, name: str) -> Iterator[Node]:
        """Nodes that hang on a body."""
        return (node for node in self.nodes if node.parent == name)

    @property
    def size(self) -> float:
        """Diagonal [m] of the bounding box of the joints."""
        return extent(node.joint.at for node in self.nodes)

    def point_in_body(self, name: str, point: Any) -> Array:
        """A point (3) of the base frame in a body's own."""
        frame = self.frames[name]
        return np.asarray(frame[:3, :3].T @ (np.asarray(point, dtype=float) - frame[:3, 3]))

    def direction_in_body(self, name: str, direction: Any) -> Array:
        """A direction (3) of the base frame in a body's own."""
        return np.asarray(self.frames[name][:3, :3].T @ np.asarray(direction, dtype=float))

    def tensor(self, name: str) -> Array:
        """Inertia tensor (3, 3) of a body about its centre of mass in its own axes [kg m^2]."""
        turn = self.frames[name][:3, :3]
        return np.asarray(turn.T @ self.bodies[name].central_inertia @ turn)


def tree_of(
    linkage: Linkage, whole_cuts: bool = False, platform_frame: bool = True, acting: Collection[str] = ()
) -> Tree:
    """The tree of a robot's linkage; joints named in ``acting`` do more than constrain, and stay whole.

    With ``whole_cuts`` no body is halved: cuts are joints of any kind. Without ``platform_frame`` the platform's frame
    is like the others'.
    """
    order = tuple(joint.name for joint in linkage.joints if joint.actuated)
    linkage = rigid_bodies(linkage)
    platform = str(linkage.platform)
    acting = {*acting, *(term.joint for relation in linkage.relations for term in relation.terms)}
    kept, cut = _spanning(linkage.joints, acting)
    bodies = dict(linkage.bodies)
    welds: list[tuple[str, str]] = []
    cuts: list[ChainJoint] = []
    for joint in cut:
        if whole_cuts or (joint.kind in ("spherical", "revolute") and _ideal(joint, acting)):
            cuts.append(joint)
            continue
        first, second = joint.between
        split = second if first == BASE or (second != BASE and bodies[second].mass >= bodies[first].mass) else first
        half = f"{split}-half{sum(weld[0] == split for weld in welds) + 1}"
        one = bodies[split]
        bodies[half] = body(0.5 * one.mass, np.array(one.com), 0.5 * one.central_inertia)
        bodies[split] = bodies[half].model_copy(update={"shapes": one.shapes})
        kept.append(changed(joint, between=tuple(half if name == split else name for name in joint.between)))
        welds.append((split, half))
    joints, turned = _outward(kept)
    home = linkage.marks[platform].pose
    frames = {BASE: np.eye(4)}
    for joint in joints:
        frame = np.eye(4)
        frame[:3, 3] = joint.at
        frames[joint.between[1]] = home if platform_frame and joint.between[1] == platform else frame
    nodes = tuple(Node(joint.between[1], joint, frames[joint.between[1]]) for joint in joints)
    return Tree(
        linkage.name,
        platform,
        linkage.gravity,
        bodies,
        nodes,
        tuple(cuts),
        tuple(welds),
        frames,
        tuple(sorted((j for j in (*joints, *cuts) if j.actuated), key=lambda joint: order.index(joint.name))),
        turned,
        _relations(linkage, turned),
    )


def _relations(linkage: Linkage, turned: Collection[str]) -> tuple[LinkedRelation, ...]:
    """The linkage's relations; a universal joint that is stated from its second body has its angles the other way."""
    other = {"first": "second", "second": "first"}
    return tuple(
        LinkedRelation(
            relation.name,
            tuple(
                term._replace(motion=other.get(term.motion, term.motion)) if term.joint in turned else term
                for term in relation.terms
            ),
        )
        for relation in linkage.relations
    )


def _ideal(joint: ChainJoint, acting: Collection[str]) -> bool:
    """Whether a joint does nothing but constrain: it has no actuator, spring, friction or range."""
    if joint.actuated or joint.name in acting:
        return False
    return all(one == Friction() for one in joint.friction_by_motion.values()) and not (joint.range or joint.ranges)


def _spanning(joints: tuple[ChainJoint, ...], acting: Collection[str]) -> tuple[list[ChainJoint], list[ChainJoint]]:
    """Joints that join all bodies without a loop, and the others."""
    far = joint_distances(joints)
    order = sorted(
        joints,
        key=lambda j: (
            not j.actuated,
            _ideal(j, acting),
            -_CUT_FIRST.index(j.kind),
            min(far[name] for name in j.between),
        ),
    )
    tree, _ = spanning(order, [joint.between for joint in order])
    kept = {joint.name for joint in tree}
    return [j for j in joints if j.name in kept], [j for j in joints if j.name not in kept]


def _outward(joints: list[ChainJoint]) -> tuple[list[ChainJoint], frozenset[str]]:
    """Joints, reversed where needed, so that each leads away from the base, every parent before its children, and the
    names of those reversed."""
    reached, waiting, found, turned = {BASE}, list(joints), [], set()
    while waiting:
        joint = next(j for j in waiting if (j.between[0] in reached) != (j.between[1] in reached))
        waiting.remove(joint)
        outward = joint
        if joint.between[0] not in reached:
            outward = reversed_joint(joint)
            turned.add(joint.name)
        reached.add(outward.between[1])
        found.append(outward)
    return found, frozenset(turned)


def reversed_joint(joint: ChainJoint) -> ChainJoint:
    """The same joint stated from its second body: turning b against a about e is turning a against b about -e."""
    fields: dict[str, Any] = {"between": joint.between[::-1]}
    if joint.axis is not None:
        fields["axis"] = tuple(-x for x in joint.axis)
    if joint.axes is not None:
        fields["axes"] = tuple(tuple(-x for x in axis) for axis in joint.axes[::-1])
        if joint.ranges is not None:
            fields["ranges"] = {"first": joint.ranges.second, "second": joint.ranges.first}
    return changed(joint, **fields)


class ElementaryJoint(NamedTuple):
    """A joint of one degree of freedom, of which formats without universal, spherical or cylindrical joints build
    these.

    ``axis`` (3) is at home, base frame, ``range`` how far it moves from home [m or rad]. One that ``has_coordinate``
    moves by the joint's own coordinate, which an actuator may drive.
    """

    name: str
    kind: str
    axis: Any
    friction: Friction
    range: tuple[float, float] | None
    has_coordinate: bool
    motion: str


def elementary_joints(joint: ChainJoint) -> list[ElementaryJoint]:
    """Elementary joints in series that a joint is equal to, from its first body to its second.

    Those of a spherical joint turn about x, y, z.

    Examples
    --------
    >>> joint = ChainJoint(name="c", kind="cylindrical", between=("a", "b"), at=(0, 0, 0), axis=(0, 0, 1))
    >>> [(part.name, part.kind, part.has_coordinate) for part in elementary_joints(joint)]
    [('c-1', 'prismatic', False), ('c', 'revolute', True)]
    """
    ranges, frictions = joint.ranges_by_motion, joint.friction_by_motion
    axes: list[tuple[str, Any]]
    if joint.kind == "spherical":
        axes = [("", axis) for axis in np.eye(3)]
    elif joint.kind == "universal":
        axes = list(zip(("first", "second"), joint.axes or (), strict=True))
    else:
        motions = ("translation", "rotation") if joint.kind == "cylindrical" else (joint.motion,)
        axes = [(motion, joint.axis) for motion in motions]
    own = "rotation" if joint.kind == "cylindrical" and not joint.actuated else joint.actuated
    found = []
    for number, (motion, axis) in enumerate(axes):
        slides = motion == "translation"
        has_coordinate = len(axes) == 1 or motion == own
        name = joint.name if has_coordinate else f"{joint.name}-{number + 1}"
        kind, friction = ("prismatic", "translation") if slides else ("revolute", "rotation")
        found.append(ElementaryJoint(name, kind, axis, frictions[friction], ranges.get(motion), has_coordinate, motion))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# What exported bodies look like: the shapes of drawings.


def roll_pitch_yaw(turn: Array) -> Array:
    """Angles about fixed axes x, y, z of a rotation (3, 3); yaw is zero where the pitch is a right angle."""
    level = float(np.hypot(turn[0, 0], turn[1, 0]))
    pitch = np.arctan2(-turn[2, 0], level)
    if level < 1e-8:
        return np.array([np.arctan2(-turn[1, 2], turn[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0])])


def shapes_in(tree: Tree, name: str) -> list[FileShape]:
    """Shapes of a body in its own frame."""
    frame = np.linalg.inv(tree.frames[name])
    return [
        mapped(shape, lambda points: points @ frame[:3, :3].T + frame[:3, 3])
        for shape in tree.bodies[name].shapes or ()
    ]


def body_surface(tree: Tree, name: str) -> Array:
    """Triangles (n, 3, 3) around the shapes of a body, in its own frame."""
    found = [surface(np.array(shape.points), shape.radius) for shape in shapes_in(tree, name)]
    return np.concatenate(found) if found else np.zeros((0, 3, 3))


def line_pose(start: Any, end: Any) -> tuple[Array, Array, float]:
    """Middle (3) of a line, roll, pitch and yaw (fixed axes x, y, z) that turn the z axis along it, and its length."""
    a, b = np.array(start), np.array(end)
    length = float(np.linalg.norm(b - a))
    x, y, z = (b - a) / length
    return 0.5 * (a + b), np.array([0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)]), length


def prism(plate: Plate) -> tuple[Array, Array]:
    """Corners (k, 3) of a plate with its edges moved outwards by half its thickness, and its normal (3).

    Formats without rounded plates have the prism of this outline and of the plate's thickness.
    """
    corners = np.array(plate.corners)
    normal = plate_normal(corners)
    edges = np.roll(corners, -1, axis=0) - corners
    along = edges / np.linalg.norm(edges, axis=1)[:, None]
    outward = np.cross(along, normal)  # of the edge after each corner
    before = np.roll(outward, 1, axis=0)
    sharp = 1.0 + np.einsum("ij,ij->i", before, outward)
    return corners + plate.radius * (before + outward) / np.maximum(sharp, 0.3)[:, None], normal
