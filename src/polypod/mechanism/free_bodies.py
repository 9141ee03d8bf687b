"""Free bodies of a leg: what inertia and gravity ask of each, and how a leg's joints hang together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca

from ..errors import InputError
from ..lazy import lazy
from ..legs import Joint, Placement
from ..symbols.vectors import cross, total
from .leg import VectorRef
from .leg_at_state import LegAtState


@dataclass(frozen=True)
class JointWrench:
    """A force and a moment about a stated point, base axes."""

    force: ca.SX
    moment: ca.SX

    def about(self, old: ca.SX, new: ca.SX) -> JointWrench:
        """The same wrench with its moment about another point."""
        return JointWrench(self.force, self.moment + cross(old - new, self.force))


JointWrenches = list[tuple[str, str, JointWrench]]
"""(leg, joint, wrench on the joint's child at the joint's point) of joints, in the order of the legs' joints."""


class JointTree:
    """The joints of a leg as a tree from the base, and those that close loops (at least the platform's)."""

    def __init__(self, placement: Placement) -> None:
        self.joints, self._bodies, self._actuators = placement.joints, placement.bodies, placement.actuators
        self._coupled = bool(placement.couplings)
        reached = {"base"}
        self.tree: list[Joint] = []
        self.cuts: list[Joint] = []
        waiting = list(placement.joints)
        while waiting:
            joint = next((j for j in waiting if j.parent in reached), None)
            carried = any(j.parent == "platform" for j in waiting) and all(j.child != "base" for j in waiting)
            if joint is None and carried and "platform" not in reached:  # what hangs on the platform alone
                reached.add("platform")
                continue
            if joint is None:
                raise InputError(
                    f"joints {[j.name for j in waiting]} are not connected to the base: the parent of each joint "
                    "must be the body nearer to the base; swap parent and child of those joints, or use virtual-power",
                    code="joint_order",
                )
            waiting.remove(joint)
            if joint.child == "platform" or joint.child in reached:
                self.cuts.append(joint)
            else:
                self.tree.append(joint)
                reached.add(joint.child)

    def beyond(self, joint: Joint) -> tuple[str, ...]:
        """Bodies that a joint of the tree carries; its own cross is on the parent's side."""
        carried = [joint.child]
        for body in carried:
            carried += [j.child for j in self.tree if j.parent == body]
            carried += [b.name for b in self._bodies if b.on == body]
            carried += [j.cross_body for j in self.joints if j.parent == body and j.cross_body]
        return tuple(carried)

    @property
    def on_platform(self) -> tuple[str, ...]:
        """Bodies that are fixed to the platform, and those that it alone carries."""
        fixed = tuple(body.name for body in self._bodies if body.on == "platform")
        return fixed + tuple(b for joint in self.tree if joint.parent == "platform" for b in self.beyond(joint))

    @lazy
    def single_universal(self) -> bool:
        """Whether the leg is a driven joint and a universal one in a row with a spherical joint at its tip.

        Its tip force then has one unknown component.
        """
        if self.on_platform or self._coupled:
            return False
        kinds = [joint.kind for joint in self.tree]
        chain = all(a.child == b.parent for a, b in zip(self.tree, self.tree[1:], strict=False))
        tip = [joint.kind for joint in self.cuts] == ["spherical"]
        if not (chain and tip and kinds.count("universal") == 1 and len(kinds) == 2):
            return False
        driven = next(joint for joint in self.tree if joint.kind != "universal")
        return [actuator.joint for actuator in self._actuators] == [driven.name]


class Applied(Protocol):
    """A force and a moment on a body."""

    def about(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force, and moment about a point, base axes."""


class FreeBodies:
    """The bodies of one leg at one motion: forces that inertia and gravity ask for."""

    def __init__(self, leg: LegAtState, gravity: ca.SX, applied: Mapping[str, Sequence[Applied]] | None = None) -> None:
        """``applied`` are further forces on its bodies, by their names."""
        self.leg, self._gravity, self._applied = leg, gravity, applied or {}
        model = leg.model
        self.values, self.rates, self._half = leg.absolute_vectors
        self.tree = JointTree(model.placement)
        # The attachment point itself as a moving vector, if a body's origin lies there.
        self._tip = next((k for k, c in enumerate(model.columns) if ca.is_equal(c, model.inputs[:3], 1)), None)

    def required_wrench(self, bodies: Sequence[str], point: ca.SX) -> JointWrench:
        """Sum over bodies of m (a - g) and of the rate of angular momentum about a point less the weight's moment.

        A body's axes e_k and origin o need the forces W_k = sum_l J_kl cddot_l - gamma_k g; the moment about the point
        is sum e_k x W_k + (o - point) x W_o.
        """
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for _, vector, need, is_origin in self._inertial_forces(bodies):
            force = force + need if is_origin else force
            moment = moment + cross(vector - point if is_origin else vector, need)
        for own_force, own_moment in self._applied_about(bodies, point):
            force, moment = force - own_force, moment - own_moment
        return JointWrench(force, moment)

    def _applied_about(self, bodies: Sequence[str], point: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
        """Further forces on bodies and their moments about a point."""
        return [push.about(point) for body in bodies for push in self._applied.get(body, ())]

    def force(self, bodies: Sequence[str]) -> ca.SX:
        """Sum over bodies of m (a - g), less further forces on them."""
        needs = [force for _, _, force, is_origin in self._inertial_forces(bodies) if is_origin]
        return total([*needs, *(-push for push, _ in self._applied_about(bodies, ca.SX.zeros(3)))], (3, 1))

    def inertial_forces(
        self, bodies: Sequence[str], axes: Sequence[VectorRef], point: ca.SX, scale: Any = 1.0
    ) -> tuple[list[ca.SX], ca.SX, ca.SX]:
        """Forces on given axes, at the tip, and the moment about a point of all others; times ``scale``."""
        keys = [self._key(axis) for axis in axes]
        on_axes = [ca.SX.zeros(3) for _ in keys]
        at_tip, rest = ca.SX.zeros(3), ca.SX.zeros(3)
        for key, vector, need, is_origin in self._inertial_forces(bodies, scale):
            if not is_origin and key in keys:
                on_axes[keys.index(key)] = need
            elif is_origin and key == self._tip:
                at_tip = need
            else:
                rest = rest + cross(vector - point if is_origin else vector, need)
        for _, moment in self._applied_about(bodies, point):
            rest = rest - scale * moment
        return on_axes, at_tip, rest

    def _inertial_forces(self, bodies: Sequence[str], scale: Any = 1.0) -> Iterator[tuple[object, ca.SX, ca.SX, bool]]:
        """(key, vector, force W on it, whether it is an origin) for the distinct vectors of some bodies."""
        vectors: dict[tuple[object, bool], tuple[ca.SX, ca.SX]] = {}
        weights: dict[tuple[object, object], ca.SX] = {}
        loads: dict[object, ca.SX] = {}
        for name in bodies:
            body = self.leg.model.vectors.bodies[name]
            # an origin that stands still may have the numbers of an axis: (0, 0, 1)
            keys = [(self._key(ref), k == 3) for k, ref in enumerate(body.refs)]
            for k, (key, ref) in enumerate(zip(keys, body.refs, strict=True)):
                vectors[key] = (self.vector(ref), self._half_acceleration(ref))
                loads[key] = loads.get(key, ca.SX(0)) + body.load[k]
                for j, other in enumerate(keys):
                    weights[key, other] = weights.get((key, other), ca.SX(0)) + body.weight[k, j]
        for key, (vector, _) in vectors.items():
            force = -(scale * loads[key]) * self._gravity
            for other, (_, half) in vectors.items():
                weight = weights.get((key, other), ca.SX(0))
                if not weight.is_zero():
                    force = force + (2 * scale * weight) * half
            yield key[0], vector, force, key[1]

    def link_length(self, name: str) -> Any:
        """Length of a link if it is fixed, else 0."""
        return next(body.length for body in self.leg.model.placement.bodies if body.name == name)

    def vector(self, ref: VectorRef) -> ca.SX:
        """A vector of a body at this state."""
        return self.values[:, ref] if isinstance(ref, int) else ref

    def _half_acceleration(self, ref: VectorRef) -> ca.SX:
        return self._half[:, ref] if isinstance(ref, int) else ca.SX.zeros(3)

    def _key(self, ref: VectorRef) -> object:
        if isinstance(ref, ca.SX):
            return tuple(ref[i].element_hash() if not ref[i].is_constant() else float(ref[i]) for i in range(3))
        return ref

    def at_tip(self, expression: ca.SX) -> ca.SX:
        """An expression of the leg's placement at this state."""
        return self.leg.at_tip(expression)
