"""Conditions of connectivity, Staicu (14) and (15) for any leg: the rates of its joints from the platform's motion.

The velocity of the leg's end, by (11)-(12) a linear function of the rates, is that of the platform's joint; both ends
of a loop move together. Rows that are zero in every pose say nothing and drop out. A triangular system is solved as
such: its blocks are found once, from what is zero in every pose.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...arrays import Array
from ...legs import Joint
from ...mechanism import LegModel, Mechanism
from ...symbols.vectors import cross, skew
from .elimination import Elimination
from .link_tree import LinkTree
from .links import hinge_passing
from .recursions import Acceleration, Velocity, velocities
from .samples import Samples


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop: its two bodies, its centre from each, the passing matrix between them.

    ``across`` (3, 0 or 2) are the directions about which the joint does not turn, in the first body's axes.
    """

    ends: tuple[int, int]
    arms: tuple[ca.SX, ca.SX]
    passing: ca.SX
    across: ca.SX

    @staticmethod
    def of(tree: LinkTree, joint: Joint) -> LoopJoint:
        """From the joint between two bodies of the tree; the base is never both."""
        one, two = tree.index[joint.parent], tree.index[joint.child]
        if one < 0:
            one, two = two, one
        axes = [tree.axes_of(k) for k in (one, two)]
        arms = (tree.arm_to(one, joint), tree.arm_to(two, joint))
        if joint.kind == "spherical":
            return LoopJoint((one, two), arms, axes[0].T @ axes[1], ca.SX(3, 0))
        carriers, own = (tree.basis_in(k, joint) for k in (two, one))
        return LoopJoint((one, two), arms, hinge_passing(axes[1], axes[0], carriers, own), own[:, 1:])

    def velocity(self, moving: list[Velocity]) -> ca.SX:
        """Velocity of the first end against the second: of the joint's centre, and of rotation it does not allow."""
        one, two = (moving[k] if k >= 0 else None for k in self.ends)
        assert one is not None
        v, omega = one.v - skew(self.arms[0]) @ one.omega, one.omega
        if two is not None:
            v = v - self.passing @ (two.v - skew(self.arms[1]) @ two.omega)
            omega = omega - self.passing @ two.omega
        return ca.vertcat(v, self.across.T @ omega)

    def acceleration(self, moving: list[Velocity], moved: list[Acceleration], base: ca.SX) -> ca.SX:
        """The time derivative of :meth:`velocity`: eps_1 - eps_2 + omega_1 x omega_2 across the axis."""
        one, two = self.ends
        gamma, epsilon = moved[one].at(self.arms[0]), moved[one].epsilon
        if two < 0:
            return ca.vertcat(gamma - self.passing @ base, self.across.T @ epsilon)
        gamma = gamma - self.passing @ moved[two].at(self.arms[1])
        turned = self.passing @ moving[two].omega
        epsilon = epsilon - self.passing @ moved[two].epsilon + cross(moving[one].omega, turned)
        return ca.vertcat(gamma, self.across.T @ epsilon)


class Connectivity:
    """The leg's small linear system: A rates = what the platform's joint and the loops ask for."""

    def __init__(self, tree: LinkTree) -> None:
        self.tree = tree
        last = tree.last
        self._axes = tree.axes_of(last)
        self.arm = ca.SX.zeros(3) if tree.welded else tree.arm_to(last, tree.tip)
        self._loops = [LoopJoint.of(tree, joint) for joint in tree.loops]
        unit = velocities(tree.links, ca.SX.eye(tree.count))
        end = [unit[last].v - skew(self.arm) @ unit[last].omega] + ([unit[last].omega] if tree.welded else [])
        matrix = tree.samples.fold_constants(ca.vertcat(*end, *[loop.velocity(unit) for loop in self._loops]))
        self._height = int(matrix.size1())
        self._rows = [i for i in range(self._height) if not matrix[i, :].is_zero()]
        self._matrix = matrix[self._rows, :]
        self.unit_rates = self._solve_samples()
        self._elimination = Elimination(self._matrix) if self.determined else None

    def _solve_samples(self) -> Array:
        """Rates (S, n, m) for unit degrees of freedom of the platform at the samples; NaN where they are not
        determined."""
        samples = self.tree.samples
        matrices, axes = samples.values(self._matrix), samples.values(self._axes)
        found = np.full((len(axes), self.tree.count, samples.twists.shape[2]), np.nan)
        for k, (matrix, turn, twist) in enumerate(zip(matrices, axes, samples.twists, strict=True)):
            scale = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
            sizes = np.linalg.svd(matrix / scale, compute_uv=False)
            if len(sizes) < self.tree.count or sizes[-1] < 1e-6:
                continue
            right = np.zeros((self._height, twist.shape[1]))
            right[:3] = turn.T @ twist[:3]
            if self.tree.welded:
                right[3:6] = turn.T @ twist[3:]
            found[k] = np.linalg.lstsq(matrix, right[self._rows], rcond=None)[0]
        return found

    @property
    def determined(self) -> bool:
        """Whether the platform's motion gives every rate."""
        return bool(np.isfinite(self.unit_rates).all())

    @staticmethod
    def of(model: LegModel, mechanism: Mechanism) -> Connectivity:
        """The conditions of a leg: by the place of its end alone if that is enough, else by its rotation too."""
        samples = Samples(model, mechanism)
        for welded in (False, True):
            tree = LinkTree(model, samples, welded)
            # A slide at the platform, or a driven joint there, has its rate in the tree only.
            if welded or not (tree.tip.kind == "prismatic" or tree.tip.name in tree.driven):
                conditions = Connectivity(tree)
                if conditions.determined:
                    return conditions
        raise tree.error(
            "the platform's motion does not determine the rates of its joints (can a body turn idly?); let a "
            "joint hold the body"
        )

    def drives(self) -> list[int]:
        """The number of the rate that each actuator drives; checked against its coordinate at the samples."""
        tree, samples = self.tree, self.tree.samples
        turned = [ca.horzcat(ca.SX.zeros(3, 3), -skew(samples.inputs[k : k + 3])) for k in (3, 6, 9)]
        carry = samples.values(ca.vertcat(ca.SX(np.eye(3, 6)), *turned))
        kinds = {joint.name: joint.kind for joint in tree.model.placement.joints}
        result = []
        for actuator in tree.model.actuators:
            if kinds.get(actuator.joint) not in ("prismatic", "revolute"):
                driven = [name for name, kind in kinds.items() if kind in ("prismatic", "revolute")]
                raise tree.error(
                    f"actuator {actuator.name!r} acts in {actuator.joint!r}; it must name a prismatic or revolute "
                    f"joint, one of {driven}"
                )
            (number,) = tree.rates_of(actuator.joint)
            rate = samples.values(ca.jacobian(actuator.coordinate, samples.inputs)) @ carry @ samples.twists
            own = samples.values(ca.SX(actuator.ratio)) * self.unit_rates[:, [number]]
            if not np.abs(rate - own).max() <= 1e-9 * max(np.abs(rate).max(), np.abs(own).max()):
                raise tree.error(
                    f"the coordinate of actuator {actuator.name!r} does not change by its ratio times the displacement "
                    f"of joint {actuator.joint!r}; state the ratio dq/ds and the joint that it drives"
                )
            result.append(number)
        return result

    def rates(self, v: ca.SX, omega: ca.SX) -> ca.SX:
        """Relative velocities of all joints (14) from the tip's velocity and the platform's omega, base axes."""
        return self._solved(self._end(v, omega), ca.SX.zeros(self._height))

    def second_rates(
        self, a: ca.SX, alpha: ca.SX, moving: list[Velocity], bias: list[Acceleration], base: ca.SX
    ) -> ca.SX:
        """Relative accelerations (15); ``bias`` are the leg's accelerations (13) for none."""
        last = self.tree.last
        known = [bias[last].at(self.arm)] + ([bias[last].epsilon] if self.tree.welded else [])
        known += [loop.acceleration(moving, bias, base) for loop in self._loops]
        return self._solved(self._end(a, alpha), ca.vertcat(*known))

    def _end(self, linear: ca.SX, angular: ca.SX) -> ca.SX:
        """A motion of the platform at the tip in the last link's axes, zeros for the loops."""
        parts = [self._axes.T @ linear] + ([self._axes.T @ angular] if self.tree.welded else [])
        short = sum(int(part.size1()) for part in parts)
        return ca.vertcat(*parts, ca.SX.zeros(self._height - short))

    def _solved(self, wanted: ca.SX, known: ca.SX) -> ca.SX:
        assert self._elimination is not None
        return self._elimination.solve((wanted - known)[self._rows])

    def at_platform(self, joint_forces: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force at the tip and moment on the platform (base axes) of the same virtual power as the joints' forces."""
        assert self._elimination is not None
        force = ca.SX.zeros(self._height)
        force[self._rows] = self._elimination.solve_transposed(joint_forces)
        moment = self._axes @ force[3:6] if self.tree.welded else ca.SX.zeros(3)
        return self._axes @ force[:3], moment
