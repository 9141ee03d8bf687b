"""A chain in symbols: where its bodies are for coordinates of its tree joints, and the residuals of its cut joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import casadi as ca

from ...symbols.inertia import Inertia
from ...symbols.vectors import Frame, absent, axial, cross, dot, norm, skew, total, unit, vector
from ..contract import (
    Actuator,
    Condition,
    Constraint,
    CoupledJoint,
    Joint,
    Limit,
    PlacedBody,
    PlacedCoupling,
    PlacedFriction,
    Placement,
    Spring,
    Unknowns,
)
from ..rail import guide
from .coupled import ChainRelation
from .data import JOINT_DOF, JointKind
from .plan import Edge, Plan


@dataclass(frozen=True)
class Choices:
    """What the numbers of a leg decide once, for all designs that share its functions.

    ``side``: for each joint, the base axis least parallel to the joint's axis. ``along``: tree joints whose axis lies
    along the first axis of their parent's frame, with its sense (1 or -1). ``solving``: which equations determine the
    unknowns; the others constrain the platform. None if all do.
    """

    side: tuple[int, ...]
    along: dict[int, int]
    solving: tuple[int, ...] | None = None


@dataclass(frozen=True)
class ChainBody:
    """A body (one of each rigid group): its frame at home and for the tip at hand (``now``), both in the base.

    ``fixed`` marks the base, whose two frames are one.
    """

    home: Frame
    now: Frame
    fixed: bool = False

    def vector(self, at_home: ca.SX) -> ca.SX:
        """A direction fixed in the body, from where it is at home."""
        return at_home if self.fixed else self.now.axes @ (self.home.axes.T @ at_home)

    def point(self, at_home: ca.SX) -> ca.SX:
        """A point fixed in the body, from where it is at home."""
        if self.fixed:
            return at_home
        return self.now.origin + self.now.axes @ (self.home.axes.T @ (at_home - self.home.origin))


class PlacedChain:
    """A chain for one tip: ``bodies`` by the representatives of their rigid groups, ``unknowns`` of its tree joints."""

    def __init__(self, leg: Any, plan: Plan, choices: Choices, tip: Frame, attached: Frame) -> None:
        """``tip`` is the platform's frame at the attachment point, ``attached`` the same at home."""
        self.leg, self.plan, self.choices = leg, plan, choices
        self.unknowns = UnknownCoordinates()
        base = Frame(ca.SX.zeros(3), ca.SX.eye(3))
        self.bodies = {"base": ChainBody(base, base, True), "platform": ChainBody(attached, tip)}
        self.internal = ca.SX.sym("internal", len(plan.internal))
        self.displacement: dict[tuple[int, str], ca.SX] = {one: self.internal[k] for k, one in enumerate(plan.internal)}
        self.spinning: dict[str, ca.SX] = {}
        self.assumptions: list[Condition] = []
        self.reaches: list[Condition] = []
        self.relations = leg.relations
        self._counted: set[tuple[int, str]] = set()
        self._turning = {d for relation in self.relations for d in relation.displacements} - {*plan.follows}
        self._turning |= {(joint, "rotation") for joint in plan.screws}
        for edge in plan.tree:
            self._place_child(edge)

    # -- tree ----------------------------------------------------------------------------------------------------------

    def _place_child(self, edge: Edge) -> None:
        """The child of a tree joint, from its parent and new unknowns."""
        joint = self.leg.joints[edge.joint]
        parent, at = self.bodies[edge.parent], vector(joint.at)
        kind: JointKind = joint.kind
        sense = -1 if edge.reversed else 1
        if kind == "spherical" and edge.joint in self.plan.spins:
            self._spinning_rod(edge, parent, at)
        elif kind == "spherical":
            turn = self.unknowns.rotation(joint.name)
            axes = parent.now.axes @ parent.home.axes.T @ turn if not parent.fixed else turn
            self._set(edge, at, ca.SX.eye(3), parent.point(at), axes)
        elif kind == "universal":
            first, second = (vector(axis) for axis in (joint.axes[::-1] if edge.reversed else joint.axes))
            self._universal(edge, parent, at, sense * first, sense * second)
        elif kind == "revolute":
            self._hinge(edge, parent, at, sense * vector(joint.axis))
        elif kind == "prismatic":
            self._slide(edge, parent, at, sense * vector(joint.axis))
        else:
            self._hinge(edge, parent, at, sense * vector(joint.axis), slides=True)

    def _set(self, edge: Edge, at: ca.SX, start: ca.SX, origin: ca.SX, axes: ca.SX) -> None:
        self.bodies[edge.child] = ChainBody(Frame(at, start), Frame(origin, axes))

    def _hinge(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX, slides: bool = False) -> None:
        joint = self.leg.joints[edge.joint]
        start, (a, p, n) = self._axes_about(edge, parent, axis)
        if slides and (edge.joint, "rotation") in self.plan.follows:  # it may follow from the travel
            self._length((edge.joint, "translation"), f"{joint.name}_slide")
        c, s = self._angle((edge.joint, "rotation"), joint.name)
        origin = parent.point(at)
        if slides:
            origin = origin + self._length((edge.joint, "translation"), f"{joint.name}_slide") * a
        self._set(edge, at, start, origin, ca.horzcat(a, c * p + s * n, c * n - s * p))

    def _angle(
        self, displacement: tuple[int, str], name: str, cosine: Any = 1.0, sine: Any = 0.0
    ) -> tuple[ca.SX, ca.SX]:
        """Cosine and sine of a joint's angle from its frame's second axis: unknown, or as a coupling has it.

        ``cosine`` and ``sine`` are those at home. The angle of a coupled joint may be more than a turn.
        """
        known = displacement in self.displacement  # an internal coordinate, or one in closed form
        following = self.displacement[displacement] if known else self._following(displacement)
        if following is None and displacement not in self._turning:
            c, s, size = self.unknowns.angle(name, cosine, sine)
            if displacement[1] == "rotation":
                self.displacement[displacement] = size
            return c, s
        angle = self.unknowns.turn(name) - self._threaded(displacement) if following is None else following
        self.displacement[displacement] = angle
        self._counted.add(displacement)
        c, s = ca.cos(angle), ca.sin(angle)
        return (c, s) if absent(sine) else (c * cosine - s * sine, s * cosine + c * sine)

    def _threaded(self, displacement: tuple[int, str]) -> ca.SX:
        """The turns of a screw in a row with a joint whose turn is unknown, about the joint's own axis [rad].

        The unknown is then the turn of both together: that of a nut behind its motor, which is small while the turns of
        the screw are many for a small travel, and which Newton's iteration finds from afar.
        """
        number, motion = displacement
        found = [ca.SX(0)]
        for edge in self.plan.screws.get(number, ()) if motion == "rotation" else ():
            self._length((edge.joint, "translation"), f"{self.leg.joints[edge.joint].name}_slide")
            turn = self._following((edge.joint, "rotation"))
            assert turn is not None
            own = next(one for one in self.plan.tree if one.joint == number)
            alike = self.plan.alike[edge.joint, number] * (1 if edge.reversed == own.reversed else -1)
            found.append(alike * turn)
        return total(found, (1, 1))

    def _length(self, displacement: tuple[int, str], name: str) -> ca.SX:
        """How far a joint has slid from home: given, unknown, or as a coupling has it."""
        if displacement not in self.displacement:
            following = self._following(displacement)
            self.displacement[displacement] = self.unknowns.length(name) if following is None else following
        return self.displacement[displacement]

    def _following(self, displacement: tuple[int, str]) -> ca.SX | None:
        """A displacement that follows from others by a coupling: s = -sum of others' factor times s, by its factor."""
        number = self.plan.follows.get(displacement)
        if number is None:
            return None
        relation = self.relations[number]
        others = [term for term in relation.terms if term.displacement != displacement]
        scale = -1 / relation.factor(displacement)
        return total([(scale * term.factor) * self._displacement(*term.displacement) for term in others], (1, 1))

    def _axes_about(self, edge: Edge, parent: ChainBody, axis: ca.SX) -> tuple[ca.SX, tuple[ca.SX, ca.SX, ca.SX]]:
        """Axes (a, p, n) with a along a joint's axis: at home (3, 3), and carried by the parent."""
        sense = self.choices.along.get(edge.joint)
        if sense is not None:
            start, now = parent.home.axes, parent.now.axes
            self._assume(edge, "its axis stays along that of the joint before", cross(axis, start[:, 0]))
            turned = ca.horzcat(sense * start[:, 0], start[:, 1], sense * start[:, 2])
            return turned, (sense * now[:, 0], now[:, 1], sense * now[:, 2])
        p = unit(cross(ca.SX.eye(3)[:, self.choices.side[edge.joint]], axis))
        n = cross(axis, p)
        a_now, p_now = parent.vector(axis), parent.vector(p)
        return ca.horzcat(axis, p, n), (a_now, p_now, n if parent.fixed else cross(a_now, p_now))

    def _slide(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX) -> None:
        shift = self._length((edge.joint, "translation"), self.leg.joints[edge.joint].name)
        self._shift(edge, parent, at, parent.vector(axis), shift)

    def _shift(self, edge: Edge, parent: ChainBody, at: ca.SX, along: ca.SX, shift: ca.SX) -> None:
        """Place the child of a slide, which moves by ``shift`` along its axis and does not turn."""
        self.displacement[edge.joint, "translation"] = shift
        origin = parent.point(at) + shift * along
        if parent.fixed:
            self.bodies[edge.child] = ChainBody(Frame(at, ca.SX.eye(3)), Frame(origin, ca.SX.eye(3)))
        else:
            self._set(edge, at, parent.home.axes, origin, parent.now.axes)

    def _universal(self, edge: Edge, parent: ChainBody, at: ca.SX, first: ca.SX, second: ca.SX) -> None:
        """Two hinges through one point; the frame of the child is (second, first x second, first) at home."""
        sense = self.choices.along.get(edge.joint)
        cosine, sine = ca.SX(1), ca.SX(0)
        if sense is None:
            a_now, p_now = parent.vector(first), parent.vector(second)
            n_now = cross(first, second) if parent.fixed else cross(a_now, p_now)
        else:
            start, now = parent.home.axes, parent.now.axes
            self._assume(edge, "its first axis stays along that of the joint before", cross(first, start[:, 0]))
            a_now, p_now, n_now = sense * now[:, 0], now[:, 1], sense * now[:, 2]
            cosine, sine = dot(start[:, 1], second), sense * dot(start[:, 2], second)
        own = ca.horzcat(second, cross(first, second), first)
        name = self.leg.joints[edge.joint].name
        inner, outer = ("second", "first") if edge.reversed else ("first", "second")
        if (edge.joint, inner) in self.plan.follows:  # it may follow from the other one
            c2, s2 = self._angle((edge.joint, outer), f"{name} second angle")
            c, s = self._angle((edge.joint, inner), f"{name} first angle", cosine, sine)
        else:
            c, s = self._angle((edge.joint, inner), f"{name} first angle", cosine, sine)
            c2, s2 = self._angle((edge.joint, outer), f"{name} second angle")
        across, normal = c * p_now + s * n_now, c * n_now - s * p_now
        axes = ca.horzcat(across, c2 * normal + s2 * a_now, c2 * a_now - s2 * normal)
        self._set(edge, at, own, parent.point(at), axes)

    def _spinning_rod(self, edge: Edge, parent: ChainBody, at: ca.SX) -> None:
        """Between two spherical joints: a universal one perpendicular to the rod does, if nothing feels the rod's
        spin."""
        other = vector(self.leg.joints[self.plan.spins[edge.joint]].at)
        along = unit(other - at)
        first = unit(cross(ca.SX.eye(3)[:, self.choices.side[edge.joint]], along))
        self._universal(edge, parent, at, first, cross(along, first))
        beyond = [edge.child]
        for tree in self.plan.tree:
            if tree.parent in beyond:
                beyond.append(tree.child)
        self.spinning |= dict.fromkeys(beyond, along)

    def _assume(self, edge: Edge, what: str, off: ca.SX) -> None:
        """Add the condition that ``off`` (3) stays zero in all designs, since the leg's functions rely on it."""
        size = norm(off)
        text = f"{self.leg.joints[edge.joint].name}: {what} in all designs of this robot; make another robot"
        self.assumptions.append(Condition(text, ca.if_else(size <= _ALIKE, 1, 0), size, "1", in_quality=False))

    # -- what follows --------------------------------------------------------------------------------------------------

    def equations(self) -> tuple[list[ca.SX], list[str]]:
        """Residuals of the cut joints [m, rad], zero where the leg closes, and a name ``joint: what`` for each."""
        rows: list[tuple[ca.SX, str]] = []
        demands = sum(6 - self._dof(cut) for cut in self.plan.cuts)
        demands += len(self.plan.relations) + len(self.plan.follows) + len(self.plan.internal)
        square = demands == sum(self._dof(edge) for edge in self.plan.tree) - len(self.plan.spins)
        for cut in self.plan.cuts:
            rows += [(row, f"{self.leg.joints[cut.joint].name}: {what}") for row, what in self._closed(cut, square)]
        rows += [self._coupled(self.relations[number]) for number in self.plan.relations]
        return [row for row, _ in rows], [name for _, name in rows]

    def _coupled(self, relation: ChainRelation) -> tuple[ca.SX, str]:
        """The residual of a relation: as a displacement of its first joint, or as an angle that the bodies' poses give
        but for whole turns."""
        uncounted = [
            t for t in relation.terms if t.displacement[1] != "translation" and not self._is_counted(t.displacement)
        ]
        first = uncounted[0] if uncounted else relation.terms[0]
        rows = [(term.factor / first.factor) * self._displacement(*term.displacement) for term in relation.terms]
        off = total(rows, (1, 1))
        if uncounted:
            off = ca.atan2(ca.sin(off), ca.cos(off))
        slides = first.displacement[1] == "translation"
        return off, f"{relation.name}: {'gap' if slides else 'turn'} of a coupling"

    def _is_counted(self, displacement: tuple[int, str]) -> bool:
        """Whether an angle is known with its whole turns."""
        number, motion = displacement
        if displacement in self._counted:
            return True
        return motion == "rotation" and displacement not in self.displacement and self._whole_turns(number) is not None

    def _dof(self, edge: Edge) -> int:
        return JOINT_DOF[self.leg.joints[edge.joint].kind]

    def _closed(self, cut: Edge, square: bool) -> list[tuple[ca.SX, str]]:
        joint, rows = self.leg.joints[cut.joint], self._gap(cut, square)
        first, second = self.bodies[cut.parent], self.bodies[cut.child]
        if joint.kind == "universal":
            one, two = (vector(axis) for axis in joint.axes)
            rows.append((dot(first.vector(one), second.vector(two)), "axes not perpendicular"))
        if joint.kind in ("spherical", "universal"):
            return rows
        a, p, n = self._triad(cut.joint)
        p_1, n_1, a_2 = first.vector(p), first.vector(n), second.vector(a)
        rows += [(dot(p_1, a_2), "axis tilted"), (dot(n_1, a_2), "axis tilted")]
        if joint.kind == "prismatic":
            rows.append((dot(n_1, second.vector(p)), "rotated about the slide"))
        return rows

    def _gap(self, cut: Edge, square: bool) -> list[tuple[ca.SX, str]]:
        """Residuals of the points that a cut joint holds together [m]."""
        joint, at = self.leg.joints[cut.joint], vector(self.leg.joints[cut.joint].at)
        first, second = self.bodies[cut.parent], self.bodies[cut.child]
        gap = second.point(at) - first.point(at)
        if joint.kind in ("spherical", "universal"):
            holder = first if not first.fixed else second
            return [(gap[k] if square else dot(holder.now.axes[:, k], gap), f"gap {k + 1}") for k in range(3)]
        a, p, n = (first.vector(axis) for axis in self._triad(cut.joint))
        rows = [(dot(p, gap), "gap across"), (dot(n, gap), "gap across")]
        return [*rows, (dot(a, gap), "gap along the axis")] if joint.kind == "revolute" else rows

    def _triad(self, number: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """A joint's axis at home and two directions across it."""
        a = vector(self.leg.joints[number].axis)
        p = unit(cross(ca.SX.eye(3)[:, self.choices.side[number]], a))
        return a, p, cross(a, p)

    def placement(self, joint_coordinates: tuple[tuple[int, str], ...] = ()) -> Placement:
        """All that the leg states; ``joint_coordinates`` are coordinates of joints, by number and motion."""
        rows, names = self.equations()
        solving = range(len(rows)) if self.choices.solving is None else self.choices.solving
        parts = self.unknowns
        unknowns = (
            None
            if not parts.move
            else Unknowns(
                ca.vertcat(*parts.place, ca.SX(0, 1)),
                ca.vertcat(*parts.home, ca.SX(0, 1)),
                ca.vertcat(*parts.move, ca.SX(0, 1)),
                ca.vertcat(*parts.moved, ca.SX(0, 1)),
                ca.vertcat(*[rows[k] for k in solving], ca.SX(0, 1)),
                self._size(),
                tuple(_turns(names[k]) for k in solving),
                tuple(length for _, length in parts.labels),
                ca.vertcat(*parts.travels, ca.SX(0, 1)),
            )
        )
        held = [k for k in range(len(rows)) if k not in solving]
        constraints = tuple(Constraint(names[k], rows[k], _turns(names[k])) for k in held)
        couplings = [self._placed_coupling(relation) for relation in self.relations]
        losing = [
            PlacedFriction(
                f"coupling {one.name}",  # a joint may have the name alone
                (term := one.joints[relation.input]).joint,
                term.direction,
                relation.loss,
                one.name,
            )
            for one, relation in zip(couplings, self.relations, strict=True)
            if relation.loss is not None
        ]
        return Placement(
            self._bodies(),
            self._joints(),
            self._actuators(),
            (*self.assumptions, *self.reaches),
            self._limits(),
            unknowns,
            constraints,
            self._springs(),
            tuple(self._displacement(*one) for one in joint_coordinates),
            tuple(couplings),
            self.internal,
            tuple(
                Actuator(name := self.leg.joints[number].name, name, ca.SX(0), _UNIT.get(motion, "rad"))  # type: ignore[arg-type]
                for number, motion in sorted(self.leg.held)
            ),
            frictions=tuple(losing),
        )

    def _placed_coupling(self, relation: ChainRelation) -> PlacedCoupling:
        """A relation by its joints, scaled so that its reaction is conjugate to the first displacement."""
        reversed_joints = {edge.joint for edge in self.plan.outward if edge.reversed}
        terms = []
        for (number, motion), factor in relation.terms:
            direction = _DIRECTIONS[motion]
            if self.leg.joints[number].kind == "universal" and number in reversed_joints:
                direction = 1 - direction
            elif self.leg.joints[number].kind != "cylindrical" and motion in ("rotation", "translation"):
                direction = 0
            terms.append(CoupledJoint(self.leg.joints[number].name, direction, factor / relation.terms[0].factor))
        slides = relation.terms[0].displacement[1] == "translation"
        return PlacedCoupling(relation.name, tuple(terms), "m" if slides else "rad")

    def _size(self) -> ca.SX:
        """Way from joint to joint and a millimetre [m]; a metre for legs whose joints meet in one point."""
        points = [vector(joint.at) for joint in self.leg.joints]
        way = sum((norm(b - a) for a, b in pairwise(points) if not (b - a).is_zero()), ca.SX(0))
        return ca.if_else(way > _ALIKE, way + 1e-3, 1)

    def _bodies(self) -> tuple[PlacedBody, ...]:
        bodies = []
        for name, body in self.leg.bodies.items():
            holder = self.plan.group[name]
            held = self.bodies[holder]
            inertia = in_frame(Inertia.of(body), held.home)
            if holder in self.spinning:
                inertia = without_spin(inertia, held.home.axes.T @ self.spinning[holder])
            on = holder if holder != name else ""
            bodies.append(PlacedBody(name, held.now, inertia, on=on))
        return tuple(bodies)

    def _joints(self) -> tuple[Joint, ...]:
        joints = []
        for edge in self.plan.outward:
            data = self.leg.joints[edge.joint]
            parent, child, at = self.bodies[edge.parent], self.bodies[edge.child], vector(data.at)
            sense = -1 if edge.reversed else 1
            axes: tuple[ca.SX, ...] = ()
            normals: tuple[ca.SX, ...] = ()
            if data.kind == "universal":
                first, second = data.axes[::-1] if edge.reversed else data.axes
                axes = (sense * parent.vector(vector(first)), sense * child.vector(vector(second)))
            elif data.kind != "spherical":
                a = vector(data.axis)
                axes = (sense * parent.vector(a),)
                normals = tuple(parent.vector(normal) for normal in guide(data.guide_normal, a))
            holder = child if data.kind in ("prismatic", "cylindrical") or edge.child == "platform" else parent
            friction = f"joints.{edge.joint}.friction"
            if data.kind == "cylindrical":
                friction = f"{friction}s" if data.frictions is not None else ""
            ends = (edge.parent, edge.child, holder.point(at), axes, friction, normals)
            start = self._start(data)
            counted = data.kind in ("revolute", "cylindrical") and self._is_counted((edge.joint, "rotation"))
            turn = self._displacement(edge.joint, "rotation") if counted else None
            joints.append(Joint(data.name, data.kind, *ends, spins_about=self._spin_line(edge), start=start, turn=turn))
        return tuple(joints)

    def _start(self, joint: Any) -> Any:
        """Position of a joint at home: what the file adds to its displacement, without the ratio."""
        if absent(joint.offset):
            return 0.0
        start = joint.offset / joint.ratio
        if joint.kind != "cylindrical":
            return start
        return ca.vertcat(0, start) if joint.motion == "translation" else ca.vertcat(start, 0)

    def _spin_line(self, edge: Edge) -> ca.SX | None:
        """The line of a rod that spins in this joint; None if what it joins does not spin."""
        if self.leg.joints[edge.joint].kind != "spherical":
            return None
        for body in (edge.parent, edge.child):
            if body in self.spinning:
                return self.bodies[body].vector(self.spinning[body])
        return None

    def _displacement(self, number: int, motion: str) -> ca.SX:
        """How far a joint has turned [rad] or moved [m] from home; if not known yet, from where its bodies are."""
        if (number, motion) in self.displacement:
            return self.displacement[number, motion]
        first, second = (self.bodies[self.plan.group[name]] for name in self.leg.joints[number].between)
        if motion in ("first", "second"):
            return self._universal_angle(number, motion, first, second)
        at, (a, p, n) = vector(self.leg.joints[number].at), self._triad(number)
        if motion == "translation":
            return dot(first.vector(a), second.point(at) - first.point(at))
        turned = second.vector(p)
        x, y = dot(turned, first.vector(p)), dot(turned, first.vector(n))
        whole = self._whole_turns(number)
        if whole is None:
            return ca.atan2(y, x)
        c, s = ca.cos(whole), ca.sin(whole)
        return whole + ca.atan2(y * c - x * s, x * c + y * s)

    def _whole_turns(self, number: int) -> ca.SX | None:
        """What counted turns of other joints about an axis like its own turn a joint's bodies apart [rad].

        Its angle is within half a turn of that; None if no counted turns lie between them.
        """
        holders = {edge.child: edge for edge in self.plan.tree}
        ways: dict[Edge, int] = {}
        for name, sign in zip(self.leg.joints[number].between, (-1, 1), strict=True):
            body = self.plan.group[name]
            while body in holders:
                ways[holders[body]] = ways.get(holders[body], 0) + sign
                body = holders[body].parent
        found = []
        for edge, sign in ways.items():
            alike = self.plan.alike.get((edge.joint, number), 0)
            if sign and alike and edge.joint != number and (edge.joint, "rotation") in self._counted:
                sense = sign * alike * (-1 if edge.reversed else 1)
                found.append(sense * self.displacement[edge.joint, "rotation"])
        return total(found, (1, 1)) if found else None

    def _universal_angle(self, number: int, which: str, first: ChainBody, second: ChainBody) -> ca.SX:
        """How far the second body of a universal joint has turned about its first axis, then about its second [rad]."""
        one, two = (vector(axis) for axis in self.leg.joints[number].axes)
        a, b = first.vector(one), second.vector(two)
        axis, start, now = (a, first.vector(two), b) if which == "first" else (b, a, second.vector(one))
        return ca.atan2(dot(cross(axis, start), now), dot(start, now))

    def _twist(self, number: int) -> ca.SX:
        """Turn of a joint's second body about its cone's axis a [rad]: 2 atan(a . v/w) of the quaternion (v, w)."""
        joint = self.leg.joints[number]
        first, second = (self.bodies[self.plan.group[name]] for name in joint.between)
        turn = first.vector(ca.SX.eye(3)).T @ second.vector(ca.SX.eye(3))
        return 2 * ca.atan2(dot(vector(joint.cone.axis), axial(turn)), 1 + ca.trace(turn))

    def _actuators(self) -> tuple[Actuator, ...]:
        actuators = []
        for number, joint in enumerate(self.leg.joints):
            if not joint.actuated or (number, joint.motion) in self.leg.held:
                continue
            unit, coordinate = _UNIT[joint.motion], self._coordinate(number)
            rotor = joint.rotor + joint.reflected
            actuators.append(Actuator(joint.name, joint.name, coordinate, unit, joint.ratio, rotor))  # type: ignore[arg-type]
        return tuple(actuators)

    def _coordinate(self, number: int) -> ca.SX:
        """A joint's coordinate as the file counts it: ratio times its displacement from home, plus offset."""
        joint = self.leg.joints[number]
        size = self._displacement(number, joint.motion)
        return size if absent(joint.offset) and _is_one(joint.ratio) else joint.ratio * size + joint.offset

    def _springs(self) -> tuple[Spring, ...]:
        """Of drives in series with their coordinate, at the joint's side of the gear; of passive joints about them."""
        driven = [actuator.name for actuator in self._actuators()]
        stiff = [joint for joint in self.leg.joints if joint.stiffness is not None]
        return tuple(
            Spring(joint.name, joint.stiffness, joint.ratio, driven.index(joint.name))
            if joint.actuated
            else Spring(joint.name, joint.stiffness, joint=joint.name)
            for joint in stiff
            if joint.name in driven or not joint.actuated
        )

    def _limits(self) -> tuple[Limit, ...]:
        limits = []
        for edge in (*self.plan.tree, *self.plan.cuts):
            joint = self.leg.joints[edge.joint]
            if joint.range is not None:
                low, high = joint.range
                value, motion = self._coordinate(edge.joint), joint.motion if joint.kind == "cylindrical" else ""
                own = {"joint": joint.name, "ratio": joint.ratio, "motion": motion}
                limits.append(Limit(joint.name, value, low, high, _UNIT[joint.motion], **own))
            for motion in joint.ranges.stated if joint.ranges is not None else ():
                value = self._twist(edge.joint) if motion == "twist" else self._displacement(edge.joint, motion)
                low, high = getattr(joint.ranges, motion)
                own = {"joint": "" if motion == "twist" else joint.name, "motion": motion}
                limits.append(Limit(f"{joint.name} {motion}", value, low, high, _UNIT.get(motion, "rad"), **own))
            if joint.cone is not None:
                first, second = (self.bodies[self.plan.group[name]] for name in joint.between)
                axis = vector(joint.cone.axis)
                direction = axis if joint.cone.direction is None else vector(joint.cone.direction)
                cosine = dot(first.vector(axis), second.vector(direction))
                limits.append(Limit.of_angle(f"{joint.name} cone", cosine, joint.cone.half_angle))
        return tuple(limits)


_ALIKE = 1e-6
_DIRECTIONS = {"translation": 0, "rotation": 1, "first": 0, "second": 1}
"""Places of a joint's motions among its free directions: a cylindrical joint slides along the first."""
_UNIT = {"rotation": "rad", "translation": "m"}


def _is_one(value: Any) -> bool:
    return bool(ca.SX(value).is_one())


# ----------------------------------------------------------------------------------------------------------------------
# Coordinates of tree joints that are unknown: where they are, and small displacements from there.


@dataclass
class UnknownCoordinates:
    """The parts of ``polypod.legs.Unknowns``, collected joint by joint; ``labels``: name, whether a length.

    Symbols have names of their own, not those of joints: CasADi takes one that starts with a bracket for several.
    """

    place: list[ca.SX] = field(default_factory=list)
    home: list[ca.SX] = field(default_factory=list)
    move: list[ca.SX] = field(default_factory=list)
    moved: list[ca.SX] = field(default_factory=list)
    labels: list[tuple[str, bool]] = field(default_factory=list)
    travels: list[ca.SX] = field(default_factory=list)

    def angle(self, name: str, cosine: Any = 1.0, sine: Any = 0.0) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Cosine and sine of an unknown angle and its size from home [rad]; exact to second order in its move."""
        c, s, d = ca.SX.sym("cosine"), ca.SX.sym("sine"), ca.SX.sym("move")
        self.labels.append((name, False))
        self.travels.append(ca.SX(0))
        self.place += [c, s]
        self.home += [ca.SX(cosine), ca.SX(sine)]
        self.move.append(d)
        half = 0.5 * d
        scale = 1 / (1 + half * half)
        turn_c, turn_s = (1 - half * half) * scale, d * scale
        new_c, new_s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        shorter = 1.5 - 0.5 * (new_c * new_c + new_s * new_s)
        self.moved += [new_c * shorter, new_s * shorter]
        near = 1 - 0.5 * d * d
        size = ca.atan2(s, c) if absent(sine) else ca.atan2(s * cosine - c * sine, c * cosine + s * sine)
        return c * near - s * d, s * near + c * d, size + d

    def length(self, name: str) -> ca.SX:
        """An unknown length from home [m]."""
        x, d = ca.SX.sym("length"), ca.SX.sym("move")
        self.labels.append((name, True))
        self.travels.append(x + d)
        self.place.append(x)
        self.home.append(ca.SX(0))
        self.move.append(d)
        self.moved.append(x + d)
        return x + d

    def turn(self, name: str) -> ca.SX:
        """An unknown angle from home that may be more than a turn [rad]."""
        x, d = ca.SX.sym("turn"), ca.SX.sym("move")
        self.labels.append((name, False))
        self.travels.append(ca.SX(0))
        self.place.append(x)
        self.home.append(ca.SX(0))
        self.move.append(d)
        self.moved.append(x + d)
        return x + d

    def rotation(self, name: str) -> ca.SX:
        """An unknown rotation (3, 3) from home; exact to second order in its move, a rotation vector."""
        q, d = ca.SX.sym("turn", 3, 3), ca.SX.sym("move", 3)
        self.labels += [(f"{name} about {axis}", False) for axis in "xyz"]
        self.travels.append(ca.SX(3, 1))
        self.place.append(ca.vec(q))
        self.home.append(ca.vec(ca.SX.eye(3)))
        self.move.append(d)
        tilde = skew(d)
        half = 0.5 * tilde
        scale = 1 / (1 + 0.25 * dot(d, d))
        turned = q @ (ca.SX.eye(3) + scale * (tilde + half @ tilde))
        self.moved.append(ca.vec(turned @ (1.5 * ca.SX.eye(3) - 0.5 * (turned.T @ turned))))
        return q @ (ca.SX.eye(3) + tilde + half @ tilde)


# ----------------------------------------------------------------------------------------------------------------------
# Moments of bodies that are stated at home in the base, in the frames of a chain.


def in_frame(inertia: Inertia, frame: Frame) -> Inertia:
    """Moments about the base's origin in base axes as those about a frame's origin in its axes.

    m, s' = E^T (s - m o), Sigma' = E^T (Sigma - o s^T - s o^T + m o o^T) E.
    """
    o, s, m = frame.origin, inertia.first, inertia.mass
    second = inertia.second - o @ s.T - s @ o.T + m * (o @ o.T)
    return Inertia(m, frame.axes.T @ (s - m * o), frame.axes.T @ second @ frame.axes)


def without_spin(inertia: Inertia, along: ca.SX) -> Inertia:
    """A body of revolution about a line through its origin without its moment of inertia about that line.

    I' = I - J n n^T with J = n.I n: what does not spin about the line has the same momentum.
    """
    moment = ca.trace(inertia.second) - dot(along, inertia.second @ along)
    second = inertia.second - 0.5 * moment * ca.SX.eye(3) + moment * (along @ along.T)
    return Inertia(inertia.mass, inertia.first, second)


def _turns(name: str) -> bool:
    """Whether a residual is an angle, by its name ``joint: what``."""
    return not name.rpartition(": ")[2].startswith("gap")
