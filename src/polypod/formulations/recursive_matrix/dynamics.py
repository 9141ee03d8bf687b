"""Recursive matrix relations: Staicu et al. (10)-(18), corrected, for legs of any joints.

Outwards along every leg: relative rates from the conditions of connectivity (14), (15), then absolute velocities and
accelerations (10)-(13). Backwards: forces and moments (18). The actuators' forces (17) have the power of all joints,
sum of virtual rate times force or moment, in every virtual motion of the platform: with J by the same virtual rates,
J^T f = w. The platform is the last body of the last leg; the other legs end at their platform joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...friction import FrictionPair, Loads, friction_pairs
from ...legs import Joint
from ...mechanism import LegAtState, LegModel, Mechanism
from ...mechanism.acting_elements import ActingElements, Push
from ...platforms import PlatformState
from ...platforms.motion import pose_of
from ...symbols.expression import Expression, port
from ...symbols.vectors import Frame, cross, dot, skew, total
from ..solution import ForceDistribution, actuator_forces, motion_inputs
from .links import (
    Acceleration,
    LinkTree,
    Load,
    Velocity,
    accelerations,
    hinge_passing,
    inertia_load,
    joint_forces,
    own_load,
    turning,
    velocities,
)
from .samples import Samples

_ZERO = ca.SX.zeros(3)


def platform_load(mechanism: Mechanism, platform: PlatformState, leg: LegAtState, wrench: ca.SX) -> Load:
    """What the platform needs at a leg's tip, base axes: (18) in its own axes, about the tip, less the wrench on it."""
    motion, inertia, arm = platform.motion, mechanism.numbers.platform, leg.model.arm
    axes = motion.frame.axes
    first = inertia.first - inertia.mass * arm
    second = inertia.second - inertia.first @ arm.T - arm @ inertia.first.T + inertia.mass * arm @ arm.T
    tensor = ca.trace(second) * ca.SX.eye(3) - second
    omega, epsilon = axes.T @ motion.omega, axes.T @ motion.alpha
    lift = axes.T @ (2 * leg.tip.series[2] - mechanism.gravity)
    load = inertia_load(inertia.mass, first, tensor, omega, Acceleration(epsilon, lift, turning(omega, epsilon)))
    force = axes @ load.force - wrench[:3]
    return Load(force, axes @ load.moment - wrench[3:] + cross(leg.arm, wrench[:3]))


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w, all from the recursions."""
    if mechanism.platform.elastic:
        raise InputError(
            "recursive-matrix: not available for a flexible platform; use virtual-power or newton-euler",
            code="flexible",
        )
    if mechanism.simplify == "no-spin":
        raise InputError("recursive-matrix: no-spin contradicts the joint rates that this formulation is based on")
    if mechanism.has_couplings:
        raise InputError(
            f"recursive-matrix: joints of {mechanism.robot.name!r} are coupled, but this formulation takes the "
            "rate of each joint as its own; use virtual-power, newton-euler or lagrange",
            code="couplings",
        )
    if mechanism.implicit_legs:
        names = ", ".join(mechanism.robot.legs[k].name for k in mechanism.implicit_legs)
        raise InputError(
            f"recursive-matrix: {names} of {mechanism.robot.name!r} are closed iteratively, but this formulation "
            "needs their angles in closed form; use virtual-power, newton-euler or lagrange",
            code="iterated",
        )
    if mechanism.platform.is_constrained:
        raise InputError(
            f"recursive-matrix: the constrained directions of the platform of {mechanism.robot.name!r} change "
            "with the pose, but this formulation chooses its joints once; use virtual-power, newton-euler or "
            "lagrange",
            code="varying_constraints",
        )
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(platform)
    rows, required, at_actuators = [], ca.SX.zeros(6), []
    elements = ActingElements.of(mechanism, platform, attached)
    if elements.overcoming_platform is not None:
        required = required + elements.overcoming_platform
    for leg in attached:
        last = leg is attached[-1]
        carried = platform_load(mechanism, platform, leg, x.wrench.symbols) if last else None
        pushes = elements.on_bodies(leg.number)
        forces = _LegForces.at(mechanism, leg, platform, carried, friction, loads, pushes)
        required = required + _at_origin(leg, forces.force, forces.moment)
        rows += [_at_origin(leg, *row) for row in forces.rows]
        at_actuators.append(forces.driven_friction)
    jacobian, driven = platform.reduced(ca.horzcat(*rows)).T, ca.vertcat(*at_actuators)
    solution = actuator_forces(jacobian, platform.reduced(required), distribution, driven, attached)
    quality = mechanism.quality(attached, solution.quality)
    if mechanism.port is not None:
        quality = ca.fmin(quality, _quality_at_home(mechanism))
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", solution.x + ca.vertcat(*at_actuators)), port("quality", quality, ())),
        mechanism.port,
    )


@dataclass(frozen=True)
class _LegForces:
    """A leg at a state: force and moment that it needs at its tip, those of its actuators' unit forces, friction."""

    force: ca.SX
    moment: ca.SX
    rows: list[tuple[ca.SX, ca.SX]]
    driven_friction: ca.SX

    @staticmethod
    def at(
        mechanism: Mechanism,
        leg: LegAtState,
        platform: PlatformState,
        carried: Load | None,
        friction: bool,
        loads: Loads | None,
        pushes: dict[str, list[Push]],
    ) -> _LegForces:
        """The leg's recursions in the symbols of its placement, then at the state.

        ``pushes`` are what elements do to its bodies.
        """
        recursive, tip = RecursiveLeg(mechanism, leg.model), TipMotion.symbols()
        need = Load(ca.SX.sym("F", 3), ca.SX.sym("M", 3))
        moved = recursive.motion(tip)
        applied = {body: Load(ca.SX.sym("f", 3), ca.SX.sym("m", 3)) for body in pushes}
        power = recursive.power(tip, moved, need if carried is not None else None, friction, loads, applied)
        rows = [part for row in recursive.rows() for part in row]
        symbols = [leg.model.all_inputs, tip.v, tip.omega, tip.a, tip.alpha, need.force, need.moment]
        point, velocity, half = leg.tip.series
        motion, load = platform.motion, carried if carried is not None else Load(_ZERO, _ZERO)
        here = ca.vertcat(point, ca.vec(leg.axes))
        values = [here, velocity, motion.omega, 2 * half, motion.alpha, load.force, load.moment]
        for body, given in pushes.items():
            parts = [push.about(point) for push in given]
            symbols += [applied[body].force, applied[body].moment]
            values += [total([force for force, _ in parts], (3, 1)), total([m for _, m in parts], (3, 1))]
        outputs = [*power, recursive.driven_friction(moved, friction, loads), *rows]
        force, moment, driven, *flat = ca.substitute(outputs, symbols, [ca.densify(value) for value in values])
        return _LegForces(force, moment, list(zip(flat[::2], flat[1::2], strict=True)), driven)


def _at_origin(leg: LegAtState, force: ca.SX, moment: ca.SX) -> ca.SX:
    """A force at a leg's tip and a moment as a wrench at the origin of {P}, base axes."""
    return ca.vertcat(force, cross(leg.arm, force) + moment)


def _quality_at_home(mechanism: Mechanism) -> ca.SX:
    """The smallest margin of the legs at home, where constants of a design are computed: a design must reach it."""
    numbers = mechanism.numbers
    x = mechanism.inputs()
    x.pose = port("pose", pose_of(Frame(numbers.home_position, ca.densify(numbers.home_rotation))), (4, 4))
    return mechanism.quality(mechanism.resting(x)[1])


# ----------------------------------------------------------------------------------------------------------------------
# One leg by Staicu's relations: its joints' rates, its bodies' motions, and the virtual power of its joints (17).

_ZERO_VECTOR = ca.SX.zeros(3)


@dataclass(frozen=True)
class TipMotion:
    """Motion of the platform at a leg's tip: v, a of the tip, omega, alpha, all in base axes."""

    v: ca.SX
    omega: ca.SX
    a: ca.SX
    alpha: ca.SX

    @staticmethod
    def symbols() -> TipMotion:
        """A motion of free symbols."""
        return TipMotion(*(ca.SX.sym(name, 3) for name in ("v", "omega", "a", "alpha")))


@dataclass(frozen=True)
class LegMotion:
    """Relative rates and accelerations of a leg's joints; absolute ones of its bodies, the base accelerated by -g."""

    rates: ca.SX
    second: ca.SX
    velocities: list[Velocity]
    accelerations: list[Acceleration]


class RecursiveLeg:
    """The recursions of one leg, in the symbols of its placement (``model.all_inputs``)."""

    def __init__(self, mechanism: Mechanism, model: LegModel) -> None:
        self.model = model
        self.connectivity = Connectivity.of(model, mechanism)
        self.tree = self.connectivity.tree
        self._lift = -mechanism.gravity
        self.drives = self.connectivity.drives()

    def motion(self, tip: TipMotion) -> LegMotion:
        """(14), (11)-(12), (15) and (13), in this order."""
        links, known = self.tree.links, self.connectivity
        rates = known.rates(tip.v, tip.omega)
        moving = velocities(links, rates)
        bias = accelerations(links, moving, rates, ca.SX.zeros(self.tree.count), self._lift)
        second = known.second_rates(tip.a + self._lift, tip.alpha, moving, bias, self._lift)
        return LegMotion(rates, second, moving, accelerations(links, moving, rates, second, self._lift))

    def power(
        self,
        tip: TipMotion,
        moved: LegMotion,
        carried: Load | None,
        friction: bool,
        loads: Loads | None,
        applied: dict[str, Load] | None = None,
    ) -> tuple[ca.SX, ca.SX]:
        """Force at the tip and moment on the platform, base axes, with the virtual power of all joints of the leg (17).

        ``carried`` is what the platform needs at the tip, if it hangs on this leg. Of its moment the leg holds what
        the platform's joint does not let turn; the rest works on the platform's own rotation. Friction of the driven
        joints is not among it. ``applied`` are forces on its bodies and their moments about the tip, base axes.
        """
        links, on_platform = self.tree.links, _ZERO_VECTOR
        needs = [own_load(*item, self._lift) for item in zip(links, moved.velocities, moved.accelerations, strict=True)]
        if carried is not None:
            held = carried.moment if self.tree.welded else _held(self.tree.tip, carried.moment)
            on_platform = carried.moment - held
            self._push(needs, self.tree.last, carried.force, held)
        for name, load in (applied or {}).items():
            self._take_off(needs, name, load)
        forces = self._rotors(moved)
        if friction:
            resisting, moment = self._friction(loads, needs, moved, tip.omega)
            forces, on_platform = forces + resisting, on_platform + moment
        force, moment = self.connectivity.at_platform(forces + joint_forces(links, needs))
        return force, moment + on_platform

    def rows(self) -> list[tuple[ca.SX, ca.SX]]:
        """Each actuator's unit force as force at the tip and moment: its row of J, from (14)."""
        result = []
        for number, actuator in zip(self.drives, self.model.actuators, strict=True):
            unit = ca.SX.zeros(self.tree.count)
            unit[number] = actuator.ratio
            result.append(self.connectivity.at_platform(unit))
        return result

    def driven_friction(self, moved: LegMotion, friction: bool, loads: Loads | None) -> ca.SX:
        """What overcomes friction in the driven joints (a), as forces of their actuators."""
        result = ca.SX.zeros(len(self.drives))
        for pair in friction_pairs(self.model) if friction else ():
            if pair.actuator is not None:
                rate, ratio = moved.rates[self.drives[pair.actuator]], self.model.actuators[pair.actuator].ratio
                own = self._resistance(pair, rate, loads) / ratio
                before = result[pair.actuator]
                result[pair.actuator] = own if before.is_zero() else before + own
        return result

    def _push(self, needs: list[Load], place: int, force: ca.SX, moment: ca.SX) -> None:
        """Add a force at the platform's joint and a moment, base axes, to what a body needs."""
        if place < 0:
            return
        axes, need = self.tree.links[place].frame.axes, needs[place]
        own = axes.T @ force
        needs[place] = Load(need.force + own, need.moment + axes.T @ moment + cross(self.connectivity.arm, own))

    def _take_off(self, needs: list[Load], name: str, load: Load) -> None:
        """What is applied to a body, which needs that much less of its joint."""
        body = next(b for b in self.model.placement.bodies if b.name == name)
        place = self.tree.index[body.on or body.name]
        if place < 0:
            return
        frame, need = self.tree.links[place].frame, needs[place]
        moment = load.moment + cross(self.model.all_inputs[:3] - frame.origin, load.force)
        needs[place] = Load(need.force - frame.axes.T @ load.force, need.moment - frame.axes.T @ moment)

    def _rotors(self, moved: LegMotion) -> ca.SX:
        """What the actuators' rotors need of their joints: rotor ratio^2 times the joint's acceleration."""
        forces = ca.SX.zeros(self.tree.count)
        for number, actuator in zip(self.drives, self.model.actuators, strict=True):
            forces[number] = forces[number] + ca.SX(actuator.rotor) * actuator.ratio**2 * moved.second[number]
        return forces

    def _friction(self, loads: Loads | None, needs: list[Load], moved: LegMotion, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Passive joints: forces of those in the tree on their rates; of the others, moments on both their bodies.

        The free directions of a joint are perpendicular to each other, so its rates are components of its relative
        velocity.
        """
        forces, on_platform = ca.SX.zeros(self.tree.count), _ZERO_VECTOR
        for pair in friction_pairs(self.model):
            joint = pair.joint
            if pair.actuator is not None:
                continue
            places = self.tree.rates_of(pair.of if pair.beside else joint.name)
            if len(places) == _JOINT_DOF[joint.kind]:
                own = self._resistance(pair, moved.rates[places], loads)
                forces[places] = own if forces[places].is_zero() else forces[places] + own
                continue
            parent, child = (self._spin(name, moved, omega) for name in (joint.parent, joint.child))
            if pair.along is None:
                moment = self._resistance(pair, child - parent, loads)
            else:
                axis = ca.SX(pair.along)
                moment = self._resistance(pair, ca.dot(axis, child - parent), loads) * axis
            for name, part in ((joint.parent, -moment), (joint.child, moment)):
                if name == "platform":
                    on_platform = on_platform + part
                else:
                    self._push(needs, self.tree.index[name], _ZERO_VECTOR, part)
        return forces, on_platform

    def _resistance(self, pair: FrictionPair, rate: ca.SX, loads: Loads | None) -> ca.SX:
        """Force or moment that overcomes a joint's friction, along every component of its rate."""
        return pair.friction.resistance(rate, (self.model.name, pair.joint.name), loads)

    def _spin(self, name: str, moved: LegMotion, omega: ca.SX) -> ca.SX:
        """Angular velocity of a body, base axes."""
        if name == "platform":
            return omega
        place = self.tree.index[name]
        return self.tree.links[place].frame.axes @ moved.velocities[place].omega if place >= 0 else _ZERO_VECTOR


_JOINT_DOF = {"prismatic": 1, "revolute": 1, "universal": 2, "spherical": 3}


def _held(joint: Joint, moment: ca.SX) -> ca.SX:
    """The part of a moment (base axes) that a joint does not let turn."""
    if joint.kind == "spherical":
        return _ZERO_VECTOR
    if joint.kind == "universal":
        normal = cross(*joint.axes)
        return dot(normal, moment) * normal
    return moment - dot(joint.axes[0], moment) * joint.axes[0]


# ----------------------------------------------------------------------------------------------------------------------
# Conditions of connectivity, Staicu (14) and (15) for any leg: the rates of its joints from the platform's motion.
#
# The velocity of the leg's end, by (11)-(12) a linear function of the rates, is that of the platform's joint; both
# ends
# of a loop move together. Rows that are zero in every pose say nothing and drop out. A triangular system is solved as
# such: its blocks are found once, from what is zero in every pose.


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
        """The time derivative of ``velocity``: eps_1 - eps_2 + omega_1 x omega_2 across the axis."""
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
            "the platform's motion does not determine the rates of its joints (can a body spin freely?); "
            "constrain that body by a joint",
            "idle_motion",
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
                    f"joint, one of {driven}",
                    "joint_kind",
                )
            (number,) = tree.rates_of(actuator.joint)
            rate = samples.values(ca.jacobian(actuator.coordinate, samples.inputs)) @ carry @ samples.twists
            own = samples.values(ca.SX(actuator.ratio)) * self.unit_rates[:, [number]]
            if not np.abs(rate - own).max() <= 1e-9 * max(np.abs(rate).max(), np.abs(own).max()):
                raise tree.error(
                    f"the coordinate of actuator {actuator.name!r} does not change by its ratio times the "
                    f"displacement of joint {actuator.joint!r}; set the ratio dq/ds and the joint that it drives",
                    "ratio",
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


# ----------------------------------------------------------------------------------------------------------------------
# A small linear system in symbols solved block by block, for columns of rates and, transposed, of forces.


class Elimination:
    """A x = b with A square or taller (then consistent), of full column rank.

    A square matrix is brought to block lower triangular form by its zeros; every block is factored by Householder's
    reflections, Q R. A taller one is a single block.
    """

    def __init__(self, matrix: ca.SX) -> None:
        self._matrix = matrix
        height, self._width = matrix.shape
        self._blocks: list[tuple[list[int], list[int], _Reflections]] = []
        parts = [(list(range(height)), list(range(self._width)))]
        if height == self._width:
            count, rows, columns, row_cuts, column_cuts, _, _ = ca.sparsify(matrix).sparsity().btf()
            cuts = [(row_cuts[k], row_cuts[k + 1], column_cuts[k], column_cuts[k + 1]) for k in range(count)]
            parts = [(list(rows[a:b]), list(columns[c:d])) for a, b, c, d in cuts]
        for chosen_rows, chosen_columns in parts:
            block = _Reflections(matrix[chosen_rows, chosen_columns])
            self._blocks.append((chosen_rows, chosen_columns, block))

    def solve(self, right: ca.SX) -> ca.SX:
        """x of A x = b."""
        x = ca.SX.zeros(self._width)
        known: list[int] = []
        for rows, columns, block in self._blocks:
            rest = right[rows] - (self._matrix[rows, known] @ x[known] if known else 0)
            x[columns] = block.solve(rest)
            known += columns
        return x

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """The smallest y of A^T y = b."""
        y = ca.SX.zeros(self._matrix.size1())
        known: list[int] = []
        for rows, columns, block in reversed(self._blocks):
            rest = right[columns] - (self._matrix[known, columns].T @ y[known] if known else 0)
            y[rows] = block.solve_transposed(rest)
            known += rows
        return y


class _Reflections:
    """A = Q R by Householder; a single number is only inverted."""

    def __init__(self, matrix: ca.SX) -> None:
        self._height, self._width = matrix.shape
        columns = [[matrix[i, j] for i in range(self._height)] for j in range(self._width)]
        self._reflectors: list[tuple[list[ca.SX], ca.SX]] = []
        self._inverse: list[ca.SX] = []
        for k in range(self._width):
            head = columns[k][k:]
            if len(head) == 1:
                self._inverse.append(1 / head[0])
                continue
            alpha = ca.copysign(ca.sqrt(sum((entry * entry for entry in head), ca.SX(0))), head[0])
            # The reflector is v = x + alpha e_1 with beta = 1/(alpha v_1); R's diagonal is -alpha.
            reflector = [head[0] + alpha, *head[1:]]
            beta = 1 / (alpha * reflector[0])
            self._reflectors.append((reflector, beta))
            self._inverse.append(-(reflector[0] * beta))
            for column in columns[k + 1 :]:
                self._reflect(k, column)
        self._upper = columns

    def _reflect(self, k: int, column: list[ca.SX]) -> None:
        reflector, beta = self._reflectors[k]
        product = sum((v * x for v, x in zip(reflector, column[k:], strict=True)), ca.SX(0)) * beta
        for i, v in enumerate(reflector, k):
            column[i] = column[i] - product * v

    def solve(self, right: ca.SX) -> ca.SX:
        """x of R x = Q^T b."""
        column = [right[i] for i in range(self._height)]
        for k in range(len(self._reflectors)):
            self._reflect(k, column)
        x: list[ca.SX] = [ca.SX(0)] * self._width
        for i in range(self._width - 1, -1, -1):
            rest = column[i]
            for j in range(i + 1, self._width):
                rest = rest - self._upper[j][i] * x[j]
            x[i] = rest * self._inverse[i]
        return ca.vertcat(*x)

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """y = Q z with R^T z = b."""
        z: list[ca.SX] = []
        for i in range(self._width):
            rest = right[i]
            for j in range(i):
                rest = rest - self._upper[i][j] * z[j]
            z.append(rest * self._inverse[i])
        column = z + [ca.SX(0)] * (self._height - self._width)
        for k in range(len(self._reflectors) - 1, -1, -1):
            self._reflect(k, column)
        return ca.vertcat(*column)
