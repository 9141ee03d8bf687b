"""Dry friction that sticks: a set-valued law, |lambda| <= limit at rest and lambda = limit w/|w| in motion.

The accelerations that it allows solve a convex problem, min |a - a_free|_M^2/2 + sum limit_j |w_j/tau + wdot_j(a)|:
a joint that can come to rest within the time tau does so, and stays there as long as less than its limit holds it.
It is solved by the multiplier method, each round one step of Newton's with a guess of which joints hold: with
r = w/tau + wdot, lambda' = lambda + d r for those that hold and limit y/|y|, y = lambda + e r, for others,
(M + sum G^T D G) delta = -sum G^T (lambda' - lambda), D = dlambda'/dr. The matrix is positive definite whichever joints
hold, however many they are. A joint that slides is tried to hold as soon as r turns against it; one that held with
more than its limit slides (a primal-dual active set).

Where more joints are about to slide than the robot has degrees of freedom, such guesses may go round in circles. Then
the law is smoothed, lambda = limit r/s, s^2 = |r|^2 + width^2, and s lambda = limit r is solved by Newton's method with
r and lambda both unknown while the width shrinks (the interior-point method for sums of norms of Andersen,
Christiansen, Conn and Overton, 2000): D = (limit 1 - (lambda r^T + r lambda^T)/(2 s))/s.

Where friction at rest is more than in motion, a joint at rest holds if it can, with the loads that it has while all
such joints hold. Those that do not hold when all of them have their limit at rest break away; from then on they resist
with what they do in motion, which may break others away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca

from ..symbols.linear import SymmetricFactor
from ..symbols.vectors import absent, norm
from .joints import SlidingJoint

# How much stiffer than the mass it holds a joint's multiplier step is: one round is exact to 1/STIFFNESS of its change.
STIFFNESS = 1e6
# The same for finding the direction of a joint that starts to slide.
TURN_STIFFNESS = 1e3
# Rounds without success, and in all of a stage, after which the law is smoothed; the width shrinks by SHRINK a round.
MAX_GUESSES, MAX_EXACT_ITERATIONS, SHRINK = 6, 40, 0.1
# The least width, so that joints which together hold a motion share it in one way (less is drowned by
# roundings), and the part that the law is off by at most, where a joint is about to slide: LEAST_WIDTH^(2/3).
LEAST_WIDTH, SMOOTHED_TOLERANCE = 1e-9, 1e-6
# After so many iterations of a stage the least width is larger: loads may hang on what a joint does about an axis that
# it hardly turns about (a ball of a 3-RPS at home), which a sharper law decides anew in every round.
MANY_ITERATIONS, LARGER_WIDTH = 150, 1e-7
# Later stages of a step keep what holds at its first, but not with so many times its limit: joints that hold nearly the
# same motion would press against each other without end.
MAX_EXCESS = 2.0
# Rates that hold or slide are exact to this part of what friction can do.
TOLERANCE = 1e-9
# A joint is at rest below the rate that its friction stops within this part of a step.
REST = 1e-3
# In an instant a joint slides along its own rate, whatever its acceleration, if that is so many times faster.
FAST_RATIO = 30.0
SLIDING, STUCK, BREAKING_AWAY, SLIPPED, TRIAL_STICK = 0, 1, 2, 3, 4
"""What a joint does during a step: it slides, is held at rest, or starts to slide from rest in one direction.

A joint whose friction falls when it moves is tried to hold whatever that takes, then with its limit at rest; if it
starts even so, it is broken away and resists as in motion.
"""
INSTANT = -1.0
"""In place of a stage's number: no step to hold to, a law that is continuous in the state."""


@dataclass(frozen=True)
class FrictionIteration:
    """Friction of all joints after a round.

    ``forces`` (r) overcome it, ``modes`` (j) are what each joint does, ``change`` is udot (m + N), ``converged`` says
    whether the law holds for what the joints do, ``final`` whether none must do something else then, ``starting``
    whether one is about to break away, ``max_step`` [s] how long until the first sliding joint comes to rest, and
    ``tries`` how many iterations were in vain.
    """

    forces: ca.SX
    modes: ca.SX
    change: ca.SX
    converged: ca.SX
    final: ca.SX
    starting: ca.SX
    max_step: ca.SX
    tries: ca.SX


def friction_iteration(
    joints: list[SlidingJoint],
    limits: list[ca.SX],
    mass: ca.SX,
    push: ca.SX,
    forces: ca.SX,
    modes: ca.SX,
    stage: ca.SX,
    iterations: ca.SX,
    tries: ca.SX,
    tau: ca.SX,
) -> FrictionIteration:
    """One round: from forces (r) and modes (j) to better ones, at a mass matrix and a push (m + N) without friction.

    At stage 0 of a step of length tau the modes are found; later stages keep them, so that a step sees smooth forces.
    ``tries`` counts the iterations since the law last held, and goes on where it was smoothed then.
    """
    tries = ca.if_else(iterations < 0.5, 0, tries)
    # guesses may fit at every load and yet never come to rest: joints that hold a motion in common share it anew
    tries = ca.if_else(iterations > MAX_EXACT_ITERATIONS - 0.5, ca.fmax(tries, MAX_GUESSES), tries)
    least_width = ca.if_else(iterations > MANY_ITERATIONS - 0.5, LARGER_WIDTH, LEAST_WIDTH)
    when = _Stage(
        instant=stage < -0.5,
        first=ca.logic_and(stage > -0.5, stage < 0.5),
        later=stage > 0.5,
        begins=iterations < 0.5,
        law_held=ca.logic_and(iterations > 0.5, tries < 0.5),
        tau=tau,
        smoothed=ca.logic_and(stage < 0.5, tries > MAX_GUESSES - 0.5),
        width=_width(tries, least_width),
    )
    # elastic coordinates first: their matrix is nearly diagonal
    order = [*range(6, mass.size1()), *range(min(6, mass.size1()))]
    back = [order.index(k) for k in range(len(order))]

    def solved(matrix: ca.SX, right: ca.SX) -> ca.SX:
        return SymmetricFactor(matrix[order, order]).solve(right[order])[back]

    rows = ca.vertcat(*[joint.rows for joint in joints])
    free = solved(mass, push - rows.T @ forces)
    inverse_masses = ca.vertcat(*[1 / mass[k, k] for k in range(mass.size1())])
    floor = 1e-14 * ca.sum1(inverse_masses)
    matrix, right = mass, ca.SX.zeros(mass.size1())
    joint_iterations: list[_JointIteration] = []
    start = 0
    for number, joint in enumerate(joints):
        old = forces[start : start + joint.size]
        start += joint.size
        inverse_mass = floor + ca.sum1(ca.sum2(joint.rows**2 * ca.repmat(inverse_masses.T, joint.size, 1))) / joint.size
        one = _JointIteration.of(joint, limits[number], old, modes[number], free, inverse_mass, when, rows.size1())
        matrix = matrix + joint.rows.T @ one.stiffness @ joint.rows
        right = right - joint.rows.T @ (one.projected - old)
        joint_iterations.append(one)
    change = solved(matrix, right)
    udot = free + change
    converged, longest, waiting, starting = ca.SX(1), ca.SX(1e300), ca.SX(0), ca.SX(0)
    modes_found = [one.mode for one in joint_iterations]
    found = [p.projected + p.stiffness @ (j.rows @ change) for j, p in zip(joints, joint_iterations, strict=True)]
    # all forces as one number in N/sqrt(kg), which those of slides and of joints that turn have in common
    strength = sum(
        (length(v) * ca.sqrt(p.inverse_mass) for v, p in zip(found, joint_iterations, strict=True)), ca.SX(0)
    )
    for number, (joint, one, value) in enumerate(zip(joints, joint_iterations, found, strict=True)):
        wdot = joint.rows @ udot + joint.drift
        fits = one.fits(value, wdot, strength)
        too_much = ca.logic_and(when.later, one.exceeds(value))
        found[number] = ca.if_else(too_much, one.clipped, value)
        modes_found[number] = ca.if_else(too_much, BREAKING_AWAY, one.mode)
        converged = ca.logic_and(converged, ca.if_else(when.later, ca.logic_not(too_much), fits))
        if joint.friction.static_exceeds_kinetic:
            waiting = ca.logic_or(waiting, one.waits(value))
            starting = ca.logic_or(starting, one.mode == BREAKING_AWAY)
        closing = -ca.dot(joint.rate, wdot)
        time = ca.dot(joint.rate, joint.rate) / ca.fmax(closing, 1e-300)
        longest = ca.if_else(ca.logic_and(one.moving, closing > 0), ca.fmin(longest, time), longest)
    converged = ca.logic_and(converged, ca.logic_or(ca.logic_not(when.smoothed), when.width <= least_width))
    tries = ca.if_else(converged, ca.if_else(when.smoothed, tries, 0), tries + 1)
    final = ca.logic_not(ca.logic_and(when.first, waiting))
    modes = ca.vertcat(*modes_found)
    starting = ca.logic_and(when.first, starting)
    return FrictionIteration(ca.vertcat(*found), modes, udot, converged, final, starting, longest, tries)


def resumed_tries(tries: ca.SX, change: ca.SX) -> ca.SX:
    """Tries from which to go on at loads that change by a part: as many as smooth the law over that part."""
    enough = MAX_GUESSES + ca.log(ca.fmin(ca.fmax(change, LEAST_WIDTH), 1)) / math.log(SHRINK)
    return ca.if_else(tries > MAX_GUESSES - 0.5, ca.fmin(tries, enough), tries)


def next_modes(joints: list[SlidingJoint], modes: ca.SX) -> ca.SX:
    """Modes (j) of joints once the law holds for what they do: what they are to do next."""
    following = []
    for number, joint in enumerate(joints):
        mode = modes[number]
        if joint.friction.static_exceeds_kinetic:
            mode = ca.if_else(mode == TRIAL_STICK, STUCK, ca.if_else(mode == BREAKING_AWAY, SLIPPED, mode))
        following.append(mode)
    return ca.vertcat(*following)


@dataclass(frozen=True)
class _Stage:
    """Where in a step a round is: in none (``instant``), at its first stage or a later one; whether it begins one.

    ``law_held`` says that it did in the last round, at other loads; ``smoothed`` that it is smoothed, over
    ``width`` of the acceleration that friction brings about.
    """

    instant: ca.SX
    first: ca.SX
    later: ca.SX
    begins: ca.SX
    law_held: ca.SX
    tau: ca.SX
    smoothed: ca.SX
    width: ca.SX


@dataclass(frozen=True)
class _JointIteration:
    """One joint in a round: its new force (s) before udot changes, the force's derivative by wdot (s, s), its mode, and
    what they were computed from."""

    projected: ca.SX
    stiffness: ca.SX
    mode: ca.SX
    moving: ca.SX
    limit: ca.SX
    inverse_mass: ca.SX
    pull: ca.SX
    share: ca.SX
    smoothed: ca.SX
    old: ca.SX
    clipped: ca.SX

    @staticmethod
    def of(
        joint: SlidingJoint,
        limit: ca.SX,
        old: ca.SX,
        mode: ca.SX,
        free: ca.SX,
        inverse_mass: ca.SX,
        when: _Stage,
        count: int,
    ) -> _JointIteration:
        """``inverse_mass`` [1/kg or 1/(kg m^2)] is that of what a force in the joint moves, ``free`` udot at the old
        forces, ``count`` how many components all joints have."""
        later, instant = when.later, when.instant
        w, size = joint.rate, joint.size
        kinetic = limit
        if joint.friction.static_exceeds_kinetic:
            limit = kinetic * _stribeck(joint, when, when.tau * kinetic * inverse_mass)
        speed, reach = length(w), when.tau * limit * inverse_mass
        # what is at rest in one round must not slide in the next because its load is less
        sliding = ca.logic_and(speed > REST * reach, ca.logic_or(when.begins, mode == SLIDING))
        moving = ca.if_else(instant, speed > FAST_RATIO * reach, ca.if_else(when.first, sliding, mode == SLIDING))
        # in an instant, what is far from rest must slide along its own rate, not along that within tau
        share = ca.if_else(ca.logic_and(instant, speed > reach), (reach / ca.fmax(speed, 1e-300)) ** 2, 1)
        broken, unlimited = ca.SX(0), ca.SX(0)
        if joint.friction.static_exceeds_kinetic:
            broken = ca.logic_and(mode == SLIPPED, ca.logic_or(later, ca.logic_not(when.begins)))
            in_motion = ca.logic_or(ca.logic_or(instant, moving), broken)
            limit = ca.if_else(in_motion, limit, kinetic * joint.friction.static)
            trying = ca.logic_and(when.first, ca.logic_or(when.begins, mode == TRIAL_STICK))
            unlimited = ca.logic_and(trying, ca.logic_not(moving))
        pull, d = w / when.tau, STIFFNESS / inverse_mass
        rest = pull + share * (joint.rows @ free + joint.drift)
        # a step so short that all joints together do not overshoot
        before = ca.fmax(length(old), 1e-300)
        clipped = old * ca.fmin(1, limit / before)
        tried = (ca.if_else(mode == BREAKING_AWAY, clipped, old) if size > 1 else old) + rest / (
            4 * count * inverse_mass
        )
        slow = length(rest) <= SMOOTHED_TOLERANCE * limit * inverse_mass
        guess = ca.if_else(when.smoothed, slow, length(tried) <= limit)
        stuck = ca.logic_or(unlimited, ca.if_else(later, mode == STUCK, guess))
        holds = ca.logic_and(ca.logic_not(moving), stuck)
        y = tried if size == 1 else clipped + (TURN_STIFFNESS / inverse_mass) * rest
        reached = ca.fmax(length(y), 1e-300)
        # a joint that comes to rest at a step's end must not turn about within the step
        onward = ca.logic_and(later, ca.dot(w, old) <= 0) if size > 1 else later
        ahead = ca.if_else(onward, old / before, w / ca.fmax(speed, 1e-300))
        along = ca.if_else(moving, ahead, ca.if_else(later, old / before, y / reached))
        # where the law held in the last round, joints that hold nearly the same motion must not share it anew
        projected = ca.if_else(holds, old + ca.if_else(when.law_held, 0, d * rest), limit * along)
        stiffness = ca.if_else(holds, d * share, 0) * ca.SX.eye(size)
        if size > 1:
            fixed = ca.logic_or(ca.logic_or(moving, holds), later)
            turning = ca.if_else(fixed, 0, (TURN_STIFFNESS / inverse_mass) * share * limit / reached)
            stiffness = stiffness + turning * (ca.SX.eye(size) - (y / reached) @ (y / reached).T)
        smoothed = ca.logic_and(when.smoothed, ca.logic_not(ca.logic_or(unlimited, moving)))
        about = ca.fmax(ca.sqrt(ca.sumsqr(rest) + (when.width * limit * inverse_mass) ** 2), 1e-300)
        both = clipped @ rest.T + rest @ clipped.T
        projected = ca.if_else(smoothed, limit * rest / about, projected)
        stiffness = ca.if_else(smoothed, share * (limit * ca.SX.eye(size) - both / (2 * about)) / about, stiffness)
        found = ca.if_else(moving, SLIDING, ca.if_else(stuck, STUCK, BREAKING_AWAY))
        if joint.friction.static_exceeds_kinetic:
            found = ca.if_else(
                unlimited, TRIAL_STICK, ca.if_else(ca.logic_and(broken, found == BREAKING_AWAY), SLIPPED, found)
            )
        return _JointIteration(
            projected, stiffness, found, moving, limit, inverse_mass, pull, share, smoothed, old, clipped
        )

    def fits(self, value: ca.SX, wdot: ca.SX, strength: ca.SX) -> ca.SX:
        """Whether a force obeys the law at an acceleration: at rest it stays so, or it slides with the whole limit.

        ``strength`` are all forces that hold, for joints that hold with whatever it takes.
        """
        rest = self.pull + self.share * wdot
        y = value + (TURN_STIFFNESS / self.inverse_mass) * rest
        slow = length(rest) <= TOLERANCE * self.limit * self.inverse_mass
        holds = ca.logic_and(slow, self._within(value))
        off = length(value - self.limit * y / ca.fmax(length(y), 1e-300))
        slides = ca.logic_and(length(y) >= self.limit, off <= TOLERANCE * self.limit)
        still = length(rest) <= TOLERANCE * (self.limit * self.inverse_mass + strength * ca.sqrt(self.inverse_mass))
        repeats = length(value - self.old) <= SMOOTHED_TOLERANCE * self.limit
        fits = ca.if_else(self.mode == STUCK, holds, ca.if_else(self.mode == TRIAL_STICK, still, slides))
        return ca.logic_or(self.moving, ca.if_else(self.smoothed, repeats, fits))

    def waits(self, value: ca.SX) -> ca.SX:
        """Whether the joint must do something else once the law holds for what it does."""
        over = ca.logic_and(self.mode == TRIAL_STICK, ca.logic_not(self._within(value)))
        return ca.logic_or(over, self.mode == BREAKING_AWAY)

    def exceeds(self, value: ca.SX) -> ca.SX:
        """Whether a joint that is held takes far more than it can."""
        return ca.logic_and(self.mode == STUCK, length(value) > MAX_EXCESS * self.limit)

    def _within(self, value: ca.SX) -> ca.SX:
        return length(value) <= self.limit * (1 + TOLERANCE)


def _stribeck(joint: SlidingJoint, when: _Stage, reach: ca.SX) -> ca.SX:
    """How many times its limit in motion the friction of a joint is at its rate.

    In an instant, where nothing is known of the step before, it falls over a tenth of the rate that friction stops
    within tau.
    """
    friction, narrow = joint.friction, not absent(joint.friction.stribeck)
    least = 1e-300 + (0.1 * reach) ** 2
    spread = friction.stribeck_factor(joint.rate, friction.stribeck**2 + least)
    own = friction.stribeck_factor(joint.rate, friction.stribeck**2) if narrow else ca.SX(1)
    return ca.if_else(when.instant, spread, own)


def _width(tries: ca.SX, least: ca.SX) -> ca.SX:
    """Over which part of the acceleration that friction brings about the law is smoothed, at least ``least``."""
    return ca.fmax(SHRINK ** (tries - MAX_GUESSES), least)


def length(vector: ca.SX) -> ca.SX:
    """|v| of a vector or number."""
    return ca.fabs(vector) if vector.numel() == 1 else norm(vector)
