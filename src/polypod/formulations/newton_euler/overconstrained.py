"""Newton-Euler for any legs: all free bodies at once, with reactions that statics alone cannot determine.

The unknowns x are the constraint forces and moments of the joints that close loops (the platform's, and one in each
loop inside a leg). The wrench any other joint passes on follows from the bodies beyond it; its passive axes pass on
nothing. These conditions and the platform's six equations are A x = b. An overconstrained robot has more unknowns
than equations: any solution gives the same actuator forces, so a fixed choice of columns of A is solved, and a
reaction is determined if no solution of A x = 0 changes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...errors import InputError
from ...friction.joints import JointFriction, Loads
from ...legs import Joint
from ...mechanism import Attached, Mechanism, Motion
from ...mechanism.free_bodies import FreeBodies, Wrench
from ...symbols.linear import solve_general
from ...symbols.vectors import cross, dot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GeneralBalance:
    """A solved state: wrench on the child of every joint, actuator forces, quality, and which numbers are determined.

    ``determined`` is (joints, 6); the others depend on inner stresses that no motion or load decides.
    """

    wrenches: list[tuple[str, str, Wrench]]
    force: ca.SX
    quality: ca.SX
    determined: NDArray[np.bool_]


class _LegUnknowns:
    """One leg with the unknowns of its loop-closing joints."""

    def __init__(self, leg: Attached, gravity: ca.SX, friction: JointFriction) -> None:
        self.bodies, self.friction = FreeBodies(leg, gravity), friction
        self.leg, self.tree = leg, self.bodies.tree
        self.x: list[ca.SX] = []
        self.cut: dict[str, Wrench] = {joint.name: self._constraint(joint) for joint in self.tree.cuts}

    def _constraint(self, joint: Joint) -> Wrench:
        """The wrench a joint can pass on to its child: three forces, and moments about the axes it blocks."""
        force = ca.SX.sym(f"{self.leg.model.name}_{joint.name}_force", 3)
        self.x.append(force)
        axes = [self.bodies.at_tip(axis) for axis in joint.axes]
        blocked: list[ca.SX] = []
        if joint.kind == "universal":
            blocked = [cross(axes[0], axes[1])]
        elif joint.kind == "revolute":
            one = cross(axes[0], _not_along(axes[0]))
            blocked = [one, cross(axes[0], one)]
        moment = self.friction.by_joint.get(joint.name, ca.SX.zeros(3))
        if blocked:
            sizes = ca.SX.sym(f"{self.leg.model.name}_{joint.name}_moment", len(blocked))
            self.x.append(sizes)
            for k, direction in enumerate(blocked):
                moment = moment + sizes[k] * direction
        return Wrench(force, moment)

    def passed_on(self, joint: Joint) -> Wrench:
        """Wrench on a tree joint's child, moment about the joint's point."""
        point = self.bodies.at_tip(joint.point)
        beyond = self.tree.beyond(joint)
        need = self.bodies.demand(beyond, point)
        force, moment = need.force, need.moment
        for cut in self.tree.cuts:
            sign = float(cut.child in beyond) - float(cut.parent in beyond)
            if sign:
                wrench = self.cut[cut.name].about(self.bodies.at_tip(cut.point), point)
                force, moment = force - sign * wrench.force, moment - sign * wrench.moment
        return Wrench(force, moment)

    def conditions(self) -> list[ca.SX]:
        """Passive axes of tree joints pass on friction only."""
        rows = []
        for joint in self.tree.tree:
            if joint.kind == "prismatic":
                continue
            moment = self.passed_on(joint).moment - self.friction.by_joint.get(joint.name, ca.SX.zeros(3))
            rows += [dot(self.bodies.at_tip(axis), moment) for axis in joint.axes]
        return rows

    def actuator_force(self) -> ca.SX:
        """Force along the slide, with what the rotor and friction take."""
        joint = next((j for j in self.tree.tree if j.kind == "prismatic"), None)
        if joint is None:
            raise InputError(
                f"{self.leg.model.name}: an overconstrained leg without a slide has no newton-euler form here"
            )
        masses = sum(inertance.mass for inertance in self.leg.model.placement.inertances)
        rotor = 2 * masses * self.leg.model.coordinate_tape.taylor(*self.leg.series)[2] if masses else ca.SX(0)
        return dot(self.bodies.at_tip(joint.axes[0]), self.passed_on(joint).force) + rotor + self.friction.at_actuator

    def on_platform(self) -> Wrench:
        """Sum over the joints at the platform, moment about the origin of {P}."""
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for joint in self.tree.cuts:
            if joint.child == "platform":
                arm = self.bodies.at_tip(joint.point) - (self.leg.series[0][:3] - self.leg.arm)
                wrench = self.cut[joint.name]
                force, moment = force + wrench.force, moment + wrench.moment + cross(arm, wrench.force)
        return Wrench(force, moment)

    def wrenches(self) -> list[tuple[str, str, Wrench]]:
        """(leg, joint, wrench on its child) in the order of the leg's joints."""
        known = {joint.name: self.passed_on(joint) for joint in self.tree.tree} | self.cut
        return [(self.leg.model.name, joint.name, known[joint.name]) for joint in self.tree.joints]


def balance(
    mechanism: Mechanism, pose: ca.SX, motion: Motion, wrench: ca.SX, friction: bool, loads: Loads | None
) -> GeneralBalance:
    """Solve the free bodies of a robot with legs of any kind."""
    attached = mechanism.attach(motion)
    legs = [
        _LegUnknowns(leg, mechanism.gravity, JointFriction.of(leg, motion, loads) if friction else JointFriction.none())
        for leg in attached
    ]
    x = ca.vertcat(*[part for leg in legs for part in leg.x])
    rows = [row for leg in legs for row in leg.conditions()]
    platform = mechanism.platform.force(motion, mechanism.gravity) - wrench
    for leg in legs:
        pull = leg.on_platform()
        platform = platform - ca.vertcat(pull.force, pull.moment)
    residual = ca.vertcat(*rows, platform)
    matrix, right = ca.jacobian(residual, x), -ca.substitute(residual, x, ca.SX.zeros(x.numel()))
    named = [item for leg in legs for item in leg.wrenches()]
    stacked = ca.vertcat(*[ca.vertcat(w.force, w.moment) for _, _, w in named])
    samples = _samples(mechanism, pose, [matrix, ca.jacobian(stacked, x)])
    chosen = _columns([a for a, _ in samples])
    solution = solve_general(ca.densify(matrix[:, chosen]), right)
    values = ca.SX.zeros(x.numel())
    values[chosen] = solution.x
    forces = ca.vertcat(*[leg.actuator_force() for leg in legs])
    solved_forces, solved = ca.substitute([forces, stacked], [x], [values])
    wrenches = [
        (leg, joint, Wrench(solved[6 * k : 6 * k + 3], solved[6 * k + 3 : 6 * k + 6]))
        for k, (leg, joint, _) in enumerate(named)
    ]
    quality = mechanism.quality(attached, solution.quality)
    return GeneralBalance(wrenches, solved_forces, quality, _determined(samples))


def _not_along(axis: ca.SX) -> ca.SX:
    """A direction that is not along an axis (a constant one for hinges that do not move)."""
    if axis.is_constant():
        a = np.abs(np.array(ca.DM(axis)).ravel())
        return ca.SX(ca.DM(np.eye(3)[int(a.argmin())]))
    return ca.vertcat(axis[1], axis[2], axis[0]) + ca.DM([0.3, 0.5, 0.7])


def _samples(mechanism: Mechanism, pose: ca.SX, expressions: list[ca.SX]) -> list[tuple[Array, Array]]:
    """The matrices at a few poses around home, for choices that must hold in all of them."""
    function = ca.Function("sample", [pose], [ca.densify(e) for e in expressions])
    random = np.random.default_rng(0)
    size = float(np.mean([np.linalg.norm(leg.leg.platform) for leg in mechanism.legs]))
    result = []
    for _ in range(8):
        move = mechanism.freedoms.basis @ random.uniform(-0.3, 0.3, mechanism.freedoms.count)
        matrix = mechanism.freedoms.home.copy()
        matrix[:3, 3] += size * move[:3]
        turn = np.array([[0, -move[5], move[4]], [move[5], 0, -move[3]], [-move[4], move[3], 0]])
        matrix[:3, :3] = scipy.linalg.expm(turn) @ matrix[:3, :3]
        a, b = (np.array(value) for value in function(matrix.ravel()))
        if np.isfinite(a).all() and np.isfinite(b).all():
            result.append((a, b))
    if not result:
        raise InputError(f"{mechanism.robot.name!r}: no pose near home closes; its free bodies cannot be analysed")
    return result


def _columns(matrices: list[Array]) -> list[int]:
    """As many columns as there are rows, as independent as can be at all samples."""
    rows = matrices[0].shape[0]
    candidates = [sorted(scipy.linalg.qr(a, pivoting=True)[2][:rows].tolist()) for a in matrices]
    worst = [min(np.linalg.svd(a[:, c], compute_uv=False)[-1] for a in matrices) for c in candidates]
    return candidates[int(np.argmax(worst))]


def _determined(samples: list[tuple[Array, Array]]) -> NDArray[np.bool_]:
    """Which numbers of the joints' wrenches (joints, 6) no inner stress changes, at any sample."""
    moved = np.zeros(samples[0][1].shape[0])
    for matrix, dependence in samples:
        stresses = scipy.linalg.null_space(matrix, rcond=1e-9)
        if stresses.size:
            moved = np.maximum(moved, np.abs(dependence @ stresses).max(axis=1))
    return (moved < 1e-9).reshape(-1, 6)
