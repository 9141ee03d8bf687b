"""The general leg: any bodies and joints between base and platform, stated where they are at home."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
import scipy
from pydantic import BeforeValidator, PrivateAttr, SerializeAsAny, model_serializer, model_validator

from ...arrays import Array
from ...couplings import Coupling, parse_coupling
from ...description import Bearing, Drive
from ...description.quantities import Position
from ...errors import InputError, UnknownNameError
from ...symbols.vectors import Frame, vector
from ..contract import Placement, Strut
from ..leg import Leg
from .coupled import ChainRelation, Displacement, check_relations, relations_of
from .data import JOINT_DOF, Bodies, ChainJoint, home_fault, joint_coordinate
from .patterns import ClosedFormStep, find_closed_forms, find_partial_closed_forms, on_drawn_branch, parallel
from .place import Choices
from .plan import Plan, plan_of
from .solved import SolvedChain
from .strut import strut_of

# Smallest over largest singular value of scaled equations below which unknowns are not determined at home.
_RANK = 1e-9
# How far a body may be from home there, in cosines and metres: roundings grow near the edge of a pattern's reach.
_DRAWN = 1e-7


class Chain(Leg, kind="chain"):
    """Bodies and joints at home in the base frame, as a CAD assembly prints them.

    ``bodies`` have ``com`` in the base frame and ``inertia`` about it in base axes, at home. Everything else of the leg
    (where it is fastened, its unknowns, which equations it closes by) follows from them and from the robot's home.
    ``couplings`` tie displacements of its joints to each other, by their names in this leg.
    """

    platform: Position = (0.0, 0.0, 0.0)
    closing: Literal["auto", "newton"] = "auto"
    bodies: Bodies
    joints: tuple[ChainJoint, ...]
    couplings: tuple[Annotated[SerializeAsAny[Coupling], BeforeValidator(parse_coupling)], ...] = ()
    _plan: Plan = PrivateAttr()
    _choices: Choices = PrivateAttr()
    _home: Any = PrivateAttr(default=None)
    _closed_forms: dict[int, ClosedFormStep] = PrivateAttr(default={})
    _followed: tuple[Displacement, ...] = PrivateAttr(default=())
    _internal: tuple[Displacement, ...] = PrivateAttr(default=())
    _held: frozenset[Displacement] = PrivateAttr(default=frozenset())

    @classmethod
    def file_fields(cls) -> tuple[str, ...]:
        """All but the attachment point, which follows from the joints on the platform."""
        return tuple(name for name in cls.model_fields if name != "platform")

    @model_serializer(mode="wrap")
    def _with_centres(self, handler: Any) -> dict[str, Any]:
        """Centres of mass are always written: one at the base's origin is at a place too."""
        data: dict[str, Any] = handler(self)
        bodies = {name: {**body, "com": list(self.bodies[name].com)} for name, body in data.get("bodies", {}).items()}
        return {**data, "bodies": bodies}

    @model_validator(mode="before")
    @classmethod
    def _no_attachment(cls, value: Any) -> Any:
        if isinstance(value, dict) and "platform" in value:
            raise ValueError(
                "platform: a chain has no such field; write 'between: [..., platform]' and the position in its joints"
            )
        return value

    @model_validator(mode="before")
    @classmethod
    def _helical_written_out(cls, value: Any) -> Any:
        return _without_helical(value) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _check_connected(self) -> Chain:
        try:
            check_relations(self.couplings, self.joints)
            self._plan = plan_of(tuple(self.bodies), self.joints, self.relations)
            self._choices = self._chosen()
        except InputError as error:
            raise ValueError(str(error)) from error
        faults = [*spin_faults(self, self._plan), home_fault(self.joints)]
        if faults[0]:
            raise ValueError(faults[0])
        return self

    @property
    def relations(self) -> tuple[ChainRelation, ...]:
        """Relations of its couplings, their factors as numbers or symbols."""
        return relations_of(self.couplings, self.joints)

    # -- home ----------------------------------------------------------------------------------------------------------

    def at_home(self, position: Any, rotation: Any, like: Chain | None = None) -> Chain:
        """The leg of a robot whose platform is at home in a pose; ``like`` has the choices of the leg in numbers."""
        leg = self.model_copy()
        leg._plan, leg._choices = (self if like is None else like)._plan, (self if like is None else like)._choices
        leg._home = (position, rotation)
        if like is None:
            solving = leg._solving({})
            found = leg._patterns()
            leg._closed_forms = leg._partial_patterns() if found is None else found
            if solving is not None:
                solving = leg._solving(leg._closed_forms) if found is None else leg._left_by_patterns(len(solving))
            leg._choices = replace(leg._choices, solving=solving)
        else:
            leg._closed_forms, leg._followed, leg._internal = like._closed_forms, like._followed, like._internal
            leg._held = like._held
        return leg

    def following(self, joint: str) -> tuple[Chain, str]:
        """The leg that also states the coordinate of a joint, and what that is."""
        found = joint_coordinate(self.joints, joint)
        leg = self.model_copy()
        leg._followed = (*self._followed, found)
        return leg, "translation" if found[1] == "translation" else "rotation"

    def with_internal(self, joints: Sequence[str], held: Sequence[bool]) -> tuple[Chain, tuple[str, ...]]:
        """The leg in which coordinates of joints are given, as the platform's pose is, and what each is."""
        leg = self.model_copy()
        leg._internal = tuple(joint_coordinate(self.joints, joint) for joint in joints)
        for k, (joint, one) in enumerate(zip(joints, leg._internal, strict=True)):
            if one in leg._internal[:k]:
                raise InputError(f"{joint!r} is given twice")
        leg._held = frozenset(one for one, still in zip(leg._internal, held, strict=True) if still)
        leg._plan = plan_of(tuple(self.bodies), self.joints, self.relations, leg._internal)
        leg._choices = leg._chosen()
        return leg, tuple("translation" if motion == "translation" else "rotation" for _, motion in leg._internal)

    @property
    def held(self) -> frozenset[Displacement]:
        """Displacements that are given and stand still."""
        return self._held

    def internal_motions(self) -> list[tuple[str, str]]:
        """The joints whose coordinates are given.

        Returns
        -------
        list of (str, str)
            Name of each joint, and which coordinate of it.
        """
        return [(self.joints[number].name, motion) for number, motion in self._internal]

    def in_general_position(self) -> Chain:
        """The same leg, its closed forms without shortcuts for what its numbers happen to make straight or square.

        Derivatives by those numbers need functions that hold beside the straight position too.
        """
        if any(one.method == "in_line" for one in self._closed_forms.values()):
            return self.model_copy(update={"closing": "newton"}).at_home(*self._home)
        leg = self.model_copy()
        drawn_so = {
            joint
            for joint, one in self._closed_forms.items()
            if one.method in ("hinge_slide", "universal_slide", "rod")
            and not one.alone
            and joint not in self._plan.spins
        }
        found = {joint: replace(one, straight=False, sense=1) if joint in drawn_so else one
                 for joint, one in self._closed_forms.items()}  # fmt: skip
        drawn = on_drawn_branch(found, leg._missed)
        leg._closed_forms = self._closed_forms if drawn is None else drawn
        return leg

    def _patterns(self) -> dict[int, ClosedFormStep] | None:
        """How every joint is solved without iterating, on the branches that are drawn; None if that is not known."""
        found = find_closed_forms(self, self._plan) if self.closing == "auto" else None
        if found is None:
            return None
        edges = {edge.joint: edge for edge in self._plan.tree}
        coupled = [joint for joint in edges if joint not in found]  # they follow from the others
        self._plan = replace(self._plan, tree=tuple(edges[joint] for joint in (*found, *coupled)))
        return on_drawn_branch(found, self._missed)

    def _partial_patterns(self) -> dict[int, ClosedFormStep]:
        """Recipes for joints of a leg that is closed by iterating which need no unknowns."""
        tree, found = find_partial_closed_forms(self, self._plan)
        self._plan = replace(self._plan, tree=tree)
        return on_drawn_branch(found, self._missed, whole=False) or {}

    def _missed(self, trial: dict[int, ClosedFormStep]) -> set[int]:
        """Tree joints whose bodies are elsewhere at home."""
        tip = Frame.symbols("tip")
        chain = self._solved(tip, trial)
        bodies = [(edge.joint, body) for edge in self._plan.tree if (body := chain.bodies[edge.child])]
        if not bodies:
            return set()
        off = [ca.horzcat(body.now.axes - body.home.axes, body.now.origin - body.home.origin) for _, body in bodies]
        far = np.abs(self._value_at_home(chain, tip, ca.horzcat(*off))).max(axis=0).reshape(-1, 4).max(axis=1)
        return {joint for (joint, _), distance in zip(bodies, far, strict=True) if not distance < _DRAWN}

    def _value_at_home(self, chain: SolvedChain, tip: Frame, value: ca.SX) -> Array:
        """An expression of a placed leg at home."""
        parts = chain.unknowns
        place, home, move = (ca.vertcat(*part, ca.SX(0, 1)) for part in (parts.place, parts.home, parts.move))
        inputs = [ca.vertcat(tip.origin, ca.vec(tip.axes)), ca.vertcat(place, chain.internal), move]
        start = np.r_[np.array(ca.DM(home)).ravel(), np.zeros(len(self._internal))]
        return np.array(
            ca.Function("home", inputs, [ca.densify(value)])(self._home_inputs(), start, np.zeros(move.numel()))
        )

    def _left_by_patterns(self, satisfied: int) -> tuple[int, ...]:
        """The equations that patterns satisfy; the others, by their derivatives at home, are left to the platform.

        ``satisfied`` is how many equations find unknowns where none is solved.
        """
        tip = Frame.symbols("tip")
        chain = self._solved(tip, self._closed_forms)
        rows = ca.vertcat(*chain.equations()[0])
        inputs = ca.vertcat(tip.origin, ca.vec(tip.axes), chain.internal)
        derivatives = self._value_at_home(chain, tip, ca.jacobian(rows, inputs)).reshape(rows.numel(), inputs.numel())
        position, axes = (np.array(part, dtype=float) for part in self._home)
        arm = axes @ self.attachment(position, axes)
        turn = np.cross(arm, derivatives[:, :3])
        for k in range(3):
            turn = turn + np.cross(axes[:, k], derivatives[:, 3 + 3 * k : 6 + 3 * k])
        moved = np.concatenate([derivatives[:, :3], turn / self._size(), derivatives[:, 12:]], axis=1)
        whole = sum(6 - JOINT_DOF[self.joints[cut.joint].kind] for cut in self._plan.cuts)
        # what a pattern satisfies changes with nothing; what only repeats others does, and may not be left out
        lengths = np.linalg.norm(moved, axis=1)
        changes = lengths > _RANK * lengths.max(initial=1e-300)
        order = scipy.linalg.qr(moved.T, pivoting=True)[2]
        left = [*order[changes[order]], *order[~changes[order]]][: whole - satisfied]
        return tuple(k for k in range(len(moved)) if k not in left)

    def _home_inputs(self) -> Array:
        """Origin and axes (12) of the tip at home."""
        position, axes = (np.array(part, dtype=float) for part in self._home)
        return np.r_[position + axes @ self.attachment(position, axes), axes.T.ravel()]

    def platform_points(self, position: Any, rotation: Any) -> list[Any]:
        """Its joints on the platform."""
        return self._seen([joint for joint in self.joints if "platform" in self._joined(joint)], position, rotation)

    def carrier_points(self, position: Any, rotation: Any) -> list[Any]:
        """The other joints of the bodies that are joined to the platform."""
        held = [self._joined(joint) for joint in self.joints if "platform" in self._joined(joint)]
        carriers = {name for pair in held for name in pair} - {"platform", "base"}
        others = [
            joint
            for joint in self.joints
            if carriers & set(self._joined(joint)) and "platform" not in self._joined(joint)
        ]
        return self._seen(others, position, rotation)

    def _joined(self, joint: ChainJoint) -> tuple[str, ...]:
        """What a joint is between: bodies that are one, by one name."""
        return tuple(self._plan.group[name] for name in joint.between)

    def _seen(self, joints: list[ChainJoint], position: Any, rotation: Any) -> list[Any]:
        """Where joints are at home, platform frame."""
        axes = rotation if isinstance(rotation, ca.SX) else ca.SX(ca.DM(rotation))
        arms = [axes.T @ (vector(joint.at) - vector(position)) for joint in joints]
        return arms if isinstance(rotation, ca.SX) else [np.array(ca.DM(arm)).ravel() for arm in arms]

    def file_path(self, parts: list[str]) -> list[str]:
        """The path of a field in a robot file, its joint by name."""
        if parts[0] == "joints" and len(parts) > 1 and parts[1].isdigit():
            parts = ["joints", self.joints[int(parts[1])].name, *parts[2:]]
        return ["legs", self.name, *parts]

    def points(self) -> list[tuple[float, float, float]]:
        """Where its joints are at home."""
        return [joint.at for joint in self.joints]

    def spin_lines(self) -> dict[str, tuple[Array, Array]]:
        """Bodies between two spherical joints, with the places of these."""
        found: dict[str, tuple[Array, Array]] = {}
        for joint, other in self._plan.spins.items():
            ends = np.array(self.joints[joint].at), np.array(self.joints[other].at)
            holders = spinning_group(self._plan, joint)
            found |= {name: ends for name in self.bodies if self._plan.group[name] in holders}
        return found

    def reversed_joints(self) -> frozenset[str]:
        """Joints whose second body is nearer to the base."""
        return frozenset(self.joints[edge.joint].name for edge in self._plan.outward if edge.reversed)

    @property
    def constrains(self) -> bool:
        """Whether it has fewer than six degrees of freedom."""
        return self._choices.solving is not None

    @property
    def topology(self) -> str:
        """All that was decided by numbers, for the robot's topology."""
        return repr((self._plan, self._choices, self._closed_forms, self._followed, self._internal, sorted(self._held)))

    def _middle(self) -> ca.SX:
        """Middle of the joints on the platform at home (3), base frame."""
        group = self._plan.group
        points = [
            vector(joint.at)
            for joint in self.joints
            if "platform" in (group[joint.between[0]], group[joint.between[1]]) and JOINT_DOF[joint.kind]
        ]
        if not points:
            raise InputError("joints: no movable joint connects the leg to the platform")
        return points[0] if len(points) == 1 else sum(points[1:], points[0]) * (1 / len(points))

    def attachment(self, position: Any, rotation: Any) -> Any:
        """Middle of the joints on the platform (3), platform frame, from the robot's home."""
        axes = rotation if isinstance(rotation, ca.SX) else ca.SX(ca.DM(rotation))
        arm = axes.T @ (self._middle() - vector(position))
        return arm if isinstance(rotation, ca.SX) else np.array(ca.DM(arm)).ravel()

    def drive(self, actuator: str = "") -> Drive:
        """What a joint's actuator can do, by the joint's name; of the only one without."""
        driven = self._driven(actuator)
        return driven[0].drive_only if len(driven) == 1 else Drive()

    def states_rotor(self, actuator: str = "") -> bool:
        """Whether the file gives the motor's inertia."""
        return any({"rotor_inertia", "rotor"} & joint.model_fields_set for joint in self._driven(actuator))

    def _driven(self, actuator: str) -> list[ChainJoint]:
        return [joint for joint in self.joints if joint.actuated and actuator in ("", joint.name)]

    def bearing(self, joint: str) -> Bearing:
        """The rating of a joint's bearing."""
        data = next((one for one in self.joints if one.name == joint), None)
        if data is None:
            raise UnknownNameError(f"joint of {self.name}", joint, tuple(one.name for one in self.joints))
        return Bearing.model_construct(**{name: getattr(data, name) for name in Bearing.model_fields})

    def place(self, tip: Frame) -> Placement:
        """Every body by a known pattern, or from its joint's unknown coordinates and equations of the cut joints."""
        return self._solved(tip, self._closed_forms).placement(self._followed)

    def strut(self, q: Array) -> Strut | None:
        """A rod between its actuator and the platform, or the leg itself where the actuator lengthens it."""
        free = self._home is not None and not (self.couplings or self._internal)
        return None if not free else strut_of(self.joints, self._plan, self._home, q)

    def _solved(self, tip: Frame, solved: dict[int, ClosedFormStep]) -> SolvedChain:
        return SolvedChain(self, self._plan, self._choices, solved, tip, self._attached())

    def _attached(self) -> Frame:
        """The platform's frame at the attachment point, at home."""
        if self._home is None:
            raise InputError(f"{self.name}: a chain is placed by its robot's home; use it as a leg of a robot")
        rotation = self._home[1]
        return Frame(self._middle(), rotation if isinstance(rotation, ca.SX) else ca.SX(ca.DM(rotation)))

    # -- choices by numbers --------------------------------------------------------------------------------------------

    def _chosen(self) -> Choices:
        return Choices(self._sides(), self._parallels())

    def _sides(self) -> tuple[int, ...]:
        sides = []
        for k, joint in enumerate(self.joints):
            axis = np.array(joint.axis or (joint.axes or ((0.0, 0.0, 1.0),))[0])
            if k in self._plan.spins:
                axis = np.array(self.joints[self._plan.spins[k]].at) - np.array(joint.at)
            sides.append(int(np.argmin(np.abs(axis))))
        return tuple(sides)

    def _parallels(self) -> dict[int, int]:
        """Tree joints whose (first) axis lies along the first axis of their parent's frame, and its sense."""
        first: dict[str, Array] = {}
        found = {}
        for edge in self._plan.tree:
            joint, sense = self.joints[edge.joint], -1.0 if edge.reversed else 1.0
            if joint.kind == "prismatic":
                if edge.parent in first:
                    first[edge.child] = first[edge.parent]
                continue
            if joint.kind == "spherical":
                continue
            axes = [np.array(a) for a in joint.axes[:: -1 if edge.reversed else 1]] if joint.axes else []
            own = sense * (axes[0] if axes else np.array(joint.axis))
            if edge.parent in first and parallel(own, first[edge.parent]):
                found[edge.joint] = 1 if own @ first[edge.parent] > 0 else -1
            first[edge.child] = sense * axes[1] if axes else own
        return found

    def _solving(self, solved: dict[int, ClosedFormStep]) -> tuple[int, ...] | None:
        """The equations that find the unknowns at home, as independent as can be; the others constrain the platform."""
        matrix, names = self._closing_jacobian(solved)
        equations, unknowns = matrix.shape
        smallest = _RANK * np.abs(matrix).max(initial=1e-300)
        rank = int(np.linalg.matrix_rank(matrix, tol=smallest)) if unknowns else 0
        if rank < unknowns:
            chain, tip = self._at_symbols(solved)
            scale = np.array([self._size() if length else 1.0 for _, length in chain.unknowns.labels])
            raise InputError(free_motion(matrix, rank, names, scale, self._gaps(chain, tip)))
        if equations == unknowns:
            return None
        order = scipy.linalg.qr(matrix.T, pivoting=True)[2][:unknowns]
        return tuple(sorted(int(k) for k in order))

    def _at_symbols(self, solved: dict[int, ClosedFormStep]) -> tuple[SolvedChain, Frame]:
        """The leg at a tip of symbols."""
        tip = Frame.symbols("tip")
        return self._solved(tip, solved), tip

    def _gaps(self, chain: SolvedChain, tip: Frame) -> Callable[[Array], tuple[Array, Array]]:
        """All equations, lengths by the leg's size, and their derivatives, of moves of the unknowns from home."""
        rows, equations = chain.equations()
        parts = chain.unknowns
        place, home, move = (ca.vertcat(*part, ca.SX(0, 1)) for part in (parts.place, parts.home, parts.move))
        sizes = [1 / self._size() if name.rpartition(": ")[2].startswith("gap") else 1.0 for name in equations]
        scaled = ca.DM(sizes) * ca.vertcat(*rows)
        inputs = [ca.vertcat(tip.origin, ca.vec(tip.axes)), ca.vertcat(place, chain.internal), move]
        function = ca.Function("gaps", inputs, [ca.densify(scaled), ca.densify(ca.jacobian(scaled, move))])
        at_home, start = self._home_inputs(), np.r_[np.array(ca.DM(home)).ravel(), np.zeros(len(self._internal))]

        def gaps(moves: Array) -> tuple[Array, Array]:
            gap, derivatives = function(at_home, start, moves)
            return np.array(gap).ravel(), np.array(derivatives)

        return gaps

    def _closing_jacobian(self, solved: dict[int, ClosedFormStep]) -> tuple[Array, list[str]]:
        """Derivatives of all equations by the unknowns at home, lengths by the leg's size, and the unknowns' names."""
        chain, tip = self._at_symbols(solved)
        rows, equations = chain.equations()
        parts = chain.unknowns
        move = ca.vertcat(*parts.move, ca.SX(0, 1))
        derivatives = ca.jacobian(ca.vertcat(*rows, ca.SX(0, 1)), move)
        matrix = self._value_at_home(chain, tip, derivatives).reshape(len(rows), move.numel())
        size = self._size()
        # an equation is named joint: what
        gaps = np.array([name.rpartition(": ")[2].startswith("gap") for name in equations], dtype=bool)
        names, slides = [name for name, _ in parts.labels], np.array([length for _, length in parts.labels], dtype=bool)
        matrix[gaps] /= size
        matrix[:, slides] *= size
        return matrix, names

    def _size(self) -> float:
        points = np.array([joint.at for joint in self.joints])
        return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))) or 1.0

    def closure_faults(self, position: Sequence[float], rotation: Any) -> list[str]:
        """None: joints stated at home close there."""
        return []

    def consistency_faults(self, poses: Sequence[Any]) -> list[str]:
        """None: bodies and joints of a chain hang together as they are built."""
        return []


def _without_helical(data: dict[str, Any]) -> dict[str, Any]:
    """A leg's data with cylindrical joints and screws for helical joints."""
    joints, screws = list(data.get("joints") or ()), []
    for number, given in enumerate(joints):
        joint = given.model_dump(exclude_defaults=True) if isinstance(given, ChainJoint) else given
        if not isinstance(joint, dict) or joint.get("kind") != "helical":
            continue
        if "lead" not in joint:
            raise ValueError(f"joints.{number}.lead: a helical joint needs its travel a turn, e.g. lead: 5 mm")
        name = joint.get("name")
        screws.append({"kind": "screw", "name": name, "joint": name, "lead": joint["lead"]})
        joints[number] = {key: value for key, value in joint.items() if key != "lead"} | {"kind": "cylindrical"}
    couplings = data.get("couplings") or ()
    return {**data, "joints": joints, "couplings": [*couplings, *screws]} if screws else data


# ----------------------------------------------------------------------------------------------------------------------
# What cannot be in a chain: degrees of freedom of its own, rods that feel their spin.

# How far a spinning rod may be from a body of revolution, relative to its size and moments: numbers of four digits.
_ROUND = 2e-4
# A leg that is not at a dead point moves on by this angle, or part of its size, with gaps no larger than these.
_STEP, _CLOSED, _ITERATIONS = 0.05, 1e-9, 30


def free_motion(
    matrix: Array, rank: int, names: list[str], scale: Array, gaps: Callable[[Array], tuple[Array, Array]]
) -> str:
    """The message for a leg whose joints can move while base and platform stand still: for good, or a little at home.

    ``matrix`` are derivatives of the closing equations by the unknowns, of some ``rank``, ``names`` those of the
    unknowns, ``scale`` the units of its columns; ``gaps`` are the equations and their derivatives at other unknowns.
    """
    loose = np.linalg.svd(matrix)[2][rank:]
    motion = np.linalg.norm(loose, axis=0)
    moving = ", ".join(name for name, size in zip(names, motion / motion.max(), strict=True) if size > 1e-6)
    if not any(_leads_on(direction, scale, gaps) for direction in loose):
        return (
            f"joints: the leg is at a dead point at home: with the platform fixed there, {moving} can move a little "
            "(in line or folded), but not on. Choose another home, or another body as the platform"
        )
    return (
        f"joints: the leg has a degree of freedom of its own: with the platform fixed, {moving} can still move. If it "
        "is meant to, name the joint as an internal coordinate (internal: [LEG.JOINT]) and drive it; else fix one of "
        "these joints, couple it to another (couplings), or replace one by a joint of fewer degrees of freedom"
    )


def _leads_on(direction: Array, scale: Array, gaps: Callable[[Array], tuple[Array, Array]]) -> bool:
    """Whether a leg with its platform held closes some way along a motion that leaves it closed to first order."""
    along = direction / np.abs(direction).max()
    for step in (_STEP, -_STEP):
        move = step * along
        for _ in range(_ITERATIONS):
            gap, derivatives = gaps(move * scale)
            rows = np.vstack([derivatives * scale, along])
            off = np.r_[gap, along @ move - step * (along @ along)]
            if not np.isfinite(rows).all() or not np.isfinite(off).all():
                break
            move = move - np.linalg.lstsq(rows, off, rcond=1e-9)[0]
        gap = gaps(move * scale)[0]
        if np.isfinite(gap).all() and np.abs(gap).max(initial=0.0) <= _CLOSED and np.abs(move).max() <= 1.0:
            return True
    return False


def spinning_group(plan: Plan, joint: int) -> set[str]:
    """Representatives of the bodies that spin with the child of a spherical joint."""
    holders = {edge.child for edge in plan.tree if edge.joint == joint}
    for edge in plan.tree:
        if edge.parent in holders:
            holders.add(edge.child)
    return holders


def spin_faults(leg: Any, plan: Plan) -> list[str]:
    """Bodies between two spherical joints that are no bodies of revolution about the line through these."""
    faults = []
    for joint, other in plan.spins.items():
        start, end = np.array(leg.joints[joint].at), np.array(leg.joints[other].at)
        length = float(np.linalg.norm(end - start))
        for k in (joint, other):
            if leg.joints[k].ranges is not None:
                faults.append(
                    f"joints.{k}.ranges: the body on {leg.joints[k].name} spins freely, so its twist cannot be limited"
                )
        if length == 0.0:
            faults.append(
                f"joints.{other}.at: {leg.joints[joint].name} and {leg.joints[other].name} are at the same point"
            )
            continue
        along = (end - start) / length
        holders = spinning_group(plan, joint)
        for name, body in leg.bodies.items():
            if plan.group[name] not in holders or body.mass == 0.0:
                continue
            arm = np.array(body.com) - start
            off = float(np.linalg.norm(arm - (arm @ along) * along))
            tensor = np.array(body.central_inertia)
            axial = float(along @ tensor @ along)
            across = 0.5 * (float(np.trace(tensor)) - axial)
            rest = tensor - axial * np.outer(along, along) - across * (np.eye(3) - np.outer(along, along))
            uneven = float(np.abs(rest).max())
            if off > _ROUND * length or uneven > _ROUND * max(across, axial, 1e-300):
                ends = f"{leg.joints[joint].name} and {leg.joints[other].name}"
                faults.append(
                    f"bodies.{name}: it spins freely between {ends} but is not a body of revolution about the "
                    f"line between them (centre of mass {1000.0 * off:.4g} mm off it, moments differ by "
                    f"{uneven:.4g} kg m^2); make one of the joints universal, or the body axisymmetric"
                )
    return faults
