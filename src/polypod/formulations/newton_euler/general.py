"""Newton-Euler for any legs: all free bodies at once, with reactions that statics alone cannot determine.

The unknowns x are the constraint forces and moments of the joints that close loops (the platform's, and one in each
loop inside a leg). The wrench any other joint passes on follows from the bodies beyond it; its passive axes pass on
nothing. These conditions and the platform's six equations are A x = b. An overconstrained robot has more unknowns
than equations: any solution gives the same actuator forces, so a fixed choice of columns of A is solved, and a
reaction is determined if no solution of A x = 0 changes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ...friction import JointFriction, Loads
from ...legs import Actuator, Joint
from ...mechanism import LegAtState, Mechanism
from ...mechanism.free_bodies import FreeBodies, JointWrench, JointWrenches
from ...mechanism.samples import closed_around_home
from ...platforms import Inputs, PlatformState
from ...symbols.linear import solve_general
from ...symbols.vectors import cross, dot
from .. import virtual_power


@dataclass(frozen=True)
class GeneralBalance:
    """A solved state: wrench on the child of every joint, actuator forces, quality, and which numbers are determined.

    ``determined`` is (joints, 6); the others depend on inner stresses that no motion or load decides.
    """

    wrenches: JointWrenches
    force: ca.SX
    quality: ca.SX
    determined: NDArray[np.bool_]


class _LegUnknowns:
    """One leg with the unknowns of its loop-closing joints."""

    def __init__(self, leg: LegAtState, gravity: ca.SX, friction: JointFriction) -> None:
        self.bodies, self.friction = FreeBodies(leg, gravity), friction
        self.leg, self.tree = leg, self.bodies.tree
        self.x: list[ca.SX] = []
        self.driving: dict[str, ca.SX] = {}
        self.cut: dict[str, JointWrench] = {joint.name: self._constraint(joint) for joint in self.tree.cuts}

    def _constraint(self, joint: Joint) -> JointWrench:
        """The wrench a joint can pass on to its child: forces, moments about the axes it blocks, its drive."""
        slides = joint.kind in ("prismatic", "cylindrical")
        x = ca.SX.sym("force", 2 if slides else 3)
        self.x.append(x)
        given = self.friction.joint(joint.name)
        force = given.force + (ca.SX.zeros(3) if slides else x)
        moment = given.moment
        axes = [self.bodies.at_tip(axis) for axis in joint.axes]
        blocked: list[ca.SX] = []
        if joint.kind == "universal":
            blocked = [cross(axes[0], axes[1])]
            moment = moment - self._of_cross(joint) * axes[0]
        elif joint.kind in ("revolute", "cylindrical"):
            one = cross(axes[0], _not_along(axes[0]))
            blocked = [one, cross(axes[0], one)]
        if slides:
            # a slide passes no force along itself but friction
            side = cross(axes[0], _not_along(axes[0]))
            force = given.force + x[0] * side + x[1] * cross(axes[0], side)
        if joint.kind == "prismatic":
            blocked = [ca.SX.eye(3)[:, k] for k in range(3)]
        if blocked:
            sizes = ca.SX.sym("moment", len(blocked))
            self.x.append(sizes)
            for k, direction in enumerate(blocked):
                moment = moment + sizes[k] * direction
        actuator = self.leg.model.placement.actuator_of(joint.name)
        if actuator is not None:
            drive = self.driving[joint.name] = ca.SX.sym("drive")
            self.x.append(drive)
            if _turns(joint, actuator):
                moment = moment + drive * axes[0]
            else:
                force = force + drive * axes[0]
        return JointWrench(force, moment)

    def _of_cross(self, joint: Joint) -> ca.SX:
        """Moment about a universal joint's first axis that its cross takes before anything reaches the child."""
        if not joint.cross_body:
            return ca.SX(0)
        need = self.bodies.required_wrench([joint.cross_body], self.bodies.at_tip(joint.point))
        return dot(self.bodies.at_tip(joint.axes[0]), need.moment)

    def passed_on(self, joint: Joint) -> JointWrench:
        """Wrench on a tree joint's child, moment about the joint's point."""
        point = self.bodies.at_tip(joint.point)
        beyond = self.tree.beyond(joint)
        need = self.bodies.required_wrench(beyond, point)
        force, moment = need.force, need.moment
        for cut in self.tree.cuts:
            sign = float(cut.child in beyond) - float(cut.parent in beyond)
            if sign:
                wrench = self.cut[cut.name].about(self.bodies.at_tip(cut.point), point)
                force, moment = force - sign * wrench.force, moment - sign * wrench.moment
        return JointWrench(force, moment)

    def conditions(self) -> list[ca.SX]:
        """Passive directions of tree joints pass on friction only."""
        rows = []
        for joint in self.tree.tree:
            actuator, passed = self.leg.model.placement.actuator_of(joint.name), self._along_free(joint)
            driven = None if actuator is None else _driven_direction(joint, actuator)
            rows += [row for k, row in enumerate(passed) if k != driven]
        return rows

    def _along_free(self, joint: Joint) -> list[ca.SX]:
        """What a tree joint passes on along its free directions, without friction."""
        passed, friction = self.passed_on(joint), self.friction.joint(joint.name)
        axes = [self.bodies.at_tip(axis) for axis in joint.axes]
        along = dot(axes[0], passed.force - friction.force) if axes else ca.SX(0)
        if joint.kind == "prismatic":
            return [along]
        if joint.kind == "cylindrical":
            return [along, dot(axes[0], passed.moment - friction.moment)]
        directions = axes if joint.kind != "spherical" else [ca.SX.eye(3)[:, k] for k in range(3)]
        if joint.kind == "universal" and self.leg.model.without_spin(joint.child):
            # the moment of a joint whose link does not spin is along the link
            link = self.leg.model.vectors.bodies[joint.child]
            assert link.along is not None
            directions = [self.bodies.vector(link.refs[(link.along + k) % 3]) for k in (1, 2)]
        moments = [dot(axis, passed.moment - friction.moment) for axis in directions]
        return [moments[0] + self._of_cross(joint), *moments[1:]]

    def actuator_forces(self) -> list[ca.SX]:
        """Force along each driven joint, with what the rotor and friction take, conjugate to the coordinate."""
        forces, rotors = [], self.leg.rotor_forces
        for k, actuator in enumerate(self.leg.model.actuators):
            passed = self.driving.get(actuator.joint)
            if passed is None:
                joint = self.leg.model.placement.joint(actuator.joint)
                passed = self._along_free(joint)[_driven_direction(joint, actuator)]
            forces.append(passed / actuator.ratio + rotors[k] + self.friction.at_actuators[k])
        return forces

    def on_platform(self) -> JointWrench:
        """Sum over the joints at the platform, moment about the origin of {P}."""
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for joint in self.tree.cuts:
            if joint.child == "platform":
                arm = self.bodies.at_tip(joint.point) - (self.leg.series[0][:3] - self.leg.arm)
                wrench = self.cut[joint.name]
                force, moment = force + wrench.force, moment + wrench.moment + cross(arm, wrench.force)
        return JointWrench(force, moment)

    def fixed_to_platform(self) -> ca.SX:
        """What the motion of bodies fixed to the platform takes (6), moment about the origin of {P}."""
        origin = self.leg.series[0][:3] - self.leg.arm
        need = self.bodies.required_wrench(self.tree.on_platform, origin)
        return ca.vertcat(need.force, need.moment)

    def wrenches(self) -> JointWrenches:
        """(leg, joint, wrench on its child) in the order of the leg's joints."""
        known = {joint.name: self.passed_on(joint) for joint in self.tree.tree} | self.cut
        return [(self.leg.model.name, joint.name, known[joint.name]) for joint in self.tree.joints]


def general_balance(
    mechanism: Mechanism,
    x: Inputs,
    platform: PlatformState,
    friction: bool,
    loads: Loads | None,
    shared: ca.SX | None,
) -> GeneralBalance:
    """Solve the free bodies of a robot with legs of any kind.

    Statics leaves the forces of more actuators than degrees of freedom open: ``shared`` (n) are what they apply.
    """
    attached = mechanism.attach(platform)
    legs = [_LegUnknowns(leg, mechanism.gravity, JointFriction.of(leg, friction, loads)) for leg in attached]
    unknowns = ca.vertcat(*[part for leg in legs for part in leg.x])
    rows = [row for leg in legs for row in leg.conditions()]
    rest = platform.required_wrench - platform.external(x.wrench.symbols)
    for leg in legs:
        pull = leg.on_platform()
        rest = rest + leg.fixed_to_platform() - ca.vertcat(pull.force, pull.moment)
    forces = ca.vertcat(*[force for leg in legs for force in leg.actuator_forces()])
    if shared is not None:
        rows.append(forces - shared)
    residual = ca.vertcat(*rows, rest)
    zero = ca.SX.zeros(unknowns.numel())
    matrix, right = ca.jacobian(residual, unknowns), -ca.substitute(residual, unknowns, zero)
    named = [item for leg in legs for item in leg.wrenches()]
    stacked = ca.vertcat(*[ca.vertcat(w.force, w.moment) for _, _, w in named])
    samples = _samples(mechanism, x, [matrix, ca.jacobian(stacked, unknowns)])
    used = _rows([a for a, _ in samples])
    if len(used) < matrix.size1():
        owners = [leg.leg.model.name for leg in legs for row in leg.conditions()]
        _refuse_contradictions(mechanism, x, matrix, right, owners)
    chosen = _columns([a[used] for a, _ in samples])
    solution = solve_general(ca.densify(matrix[used, chosen]), right[used])
    values = ca.SX.zeros(unknowns.numel())
    values[chosen] = solution.x
    solved_forces, solved = ca.substitute([forces, stacked], [unknowns], [values])
    wrenches = [
        (leg, joint, JointWrench(solved[6 * k : 6 * k + 3], solved[6 * k + 3 : 6 * k + 6]))
        for k, (leg, joint, _) in enumerate(named)
    ]
    if mechanism.simplify == "no-spin" and shared is None:
        _refuse_spin(mechanism, x, platform, solved_forces, friction, loads)
    quality = mechanism.quality(attached, solution.quality)
    return GeneralBalance(wrenches, solved_forces, quality, _determined(samples))


def _turns(joint: Joint, actuator: Actuator) -> bool:
    """Whether an actuator turns its joint: of a cylindrical one its unit says so, of others their kind.

    A slide behind a screw has a coordinate in rad all the same.
    """
    return joint.kind == "revolute" or (joint.kind == "cylindrical" and actuator.unit == "rad")


def _driven_direction(joint: Joint, actuator: Actuator) -> int:
    """Which of a joint's free directions its actuator drives; a cylindrical joint slides along the first."""
    return int(joint.kind == "cylindrical" and _turns(joint, actuator))


def _not_along(axis: ca.SX) -> ca.SX:
    """A direction that is not along an axis (a constant one for hinges that do not move)."""
    zeros = [k for k in range(3) if axis[k].is_zero()]
    if zeros:
        return ca.SX.eye(3)[:, zeros[0]]
    return ca.vertcat(axis[1], axis[2], axis[0]) + ca.DM([0.3, 0.5, 0.7])


def _samples(mechanism: Mechanism, x: Inputs, expressions: list[ca.SX]) -> list[tuple[Array, Array]]:
    """The matrices at a few poses around home, for choices that must hold in all of them."""
    inputs = [x.pose.symbols, mechanism.places, mechanism.numbers.symbols]
    function = ca.Function("sample", inputs, [ca.densify(e) for e in expressions])
    result = []
    for pose, places in closed_around_home(mechanism, 8, 0.3):
        a, b = (np.array(value) for value in function(pose.ravel(), places, mechanism.numbers.values))
        if np.isfinite(a).all() and np.isfinite(b).all():
            result.append((a, b))
    if not result:
        raise InputError(f"{mechanism.robot.name!r}: no pose near home closes; its free bodies cannot be analysed")
    return result


def _refuse_contradictions(mechanism: Mechanism, x: Inputs, matrix: ca.SX, right: ca.SX, owners: list[str]) -> None:
    """Raise if equations that follow from others ask for something else: at random motions A x = b has no solution.

    ``owners`` are the legs of the first equations.
    """
    for a, b in _at_random_motions(mechanism, x, [matrix, right]):
        left = np.abs(a @ np.linalg.lstsq(a, b, rcond=1e-9)[0] - b).ravel()
        if left.max() > 1e-9 * np.abs(b).max():
            worst = int(left.argmax())
            leg = owners[worst] if worst < len(owners) else mechanism.robot.name
            raise InputError(
                f"newton-euler: {leg}: place() prescribes a motion that its joints leave free (a strut between two "
                "spherical joints that turns about itself), and nothing gives the moment for it"
            )


def _refuse_spin(
    mechanism: Mechanism, x: Inputs, platform: PlatformState, forces: ca.SX, friction: bool, loads: Loads | None
) -> None:
    """Raise if links that are taken not to spin have no free bodies: forces are not those of virtual power then."""
    state = virtual_power.State.of(mechanism, platform, friction, loads)
    wanted = virtual_power.inverse_solution(state, x.wrench.symbols).force + state.driven_friction
    for found, known in _at_random_motions(mechanism, x, [forces, wanted]):
        if np.abs(found - known).max() > 1e-9 * np.abs(known).max():
            raise InputError(
                f"newton-euler: no-spin: joints of {mechanism.robot.name!r} make its links spin otherwise than a "
                "universal joint does, and no free body has such a motion; use virtual-power or lagrange"
            )


def _at_random_motions(mechanism: Mechanism, x: Inputs, expressions: list[ca.SX]) -> Iterator[list[Array]]:
    """Expressions at random motions in a few poses around home, where all are finite."""
    motion = [x.twist.symbols, x.acceleration.symbols, x.wrench.symbols]
    given = [x.pose.symbols, *motion, mechanism.places, mechanism.numbers.symbols]
    # loads, weights and preloads: their values do not matter
    others = [s for s in ca.symvar(ca.veccat(*expressions)) if not ca.depends_on(ca.vertcat(*given), s)]
    function = ca.Function("sample", [*given, ca.vertcat(*others)], [ca.densify(e) for e in expressions])
    draw = np.random.default_rng(1)
    for pose, places in closed_around_home(mechanism, 8, 0.3)[:4]:
        numbers = [*(draw.normal(size=6) for _ in range(3)), places, mechanism.numbers.values, np.ones(len(others))]
        values = [np.array(v) for v in function(pose.ravel(), *numbers)]
        if all(np.isfinite(value).all() for value in values):
            yield values


def _rows(matrices: list[Array]) -> list[int]:
    """Rows that are independent at all samples; the others follow from them."""
    rank = max(int(np.linalg.matrix_rank(a, tol=1e-9 * np.abs(a).max())) for a in matrices)
    if rank == matrices[0].shape[0]:
        return list(range(rank))
    picks = [sorted(scipy.linalg.qr(a.T, pivoting=True)[2][:rank].tolist()) for a in matrices]
    worst = [min(np.linalg.svd(a[p], compute_uv=False)[-1] for a in matrices) for p in picks]
    return picks[int(np.argmax(worst))]


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
