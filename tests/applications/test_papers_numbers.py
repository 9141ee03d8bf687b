"""Numbers that no paper states, each by a second computation that shares no code with the one in the study.

What a study takes from a paper's equations (``printed``) is computed here from the library's positions, by differences
and virtual power; what it takes from the library, from the paper's equations, an engine of the tests, or by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod import papers
from polypod.motion import Motion
from polypod.papers.kim_ryu import cases as kim_ryu
from polypod.papers.kim_ryu import printed as kim_ryu_printed
from polypod.papers.long import cases as long
from polypod.papers.long import printed as long_printed
from polypod.papers.lopes import cases as lopes
from polypod.papers.lopes import printed as lopes_printed
from polypod.papers.pedrammehr import cases as pedrammehr
from polypod.papers.shared.contract import CHECKED
from polypod.papers.staicu import cases as staicu
from support.engines import printed_staicu

Array = NDArray[np.float64]
Numbers = dict[str, float]

# First and second derivative of eighth order on nine points.
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


def series(function: Callable[[Array], Array], at: Motion, step: float = 4e-3) -> tuple[Array, Array, Array]:
    """A function of the pose and its two time derivatives, from positions alone.

    R(t) = exp(w t + a t^2/2) R and p(t) = p + v t + a t^2/2 have the motion's first and second derivatives.
    """
    values = []
    for k in range(-4, 5):
        shift = at.twist * (k * step) + 0.5 * at.acceleration * (k * step) ** 2
        pose = at.pose.copy()
        pose[:, :3, 3] += shift[:, :3]
        pose[:, :3, :3] = Rotation.from_rotvec(shift[:, 3:]).as_matrix() @ pose[:, :3, :3]
        values.append(function(pose))
    found = np.array(values)
    return found[4], np.tensordot(FIRST, found, 1) / step, np.tensordot(SECOND, found, 1) / step**2


def units(at: Motion) -> list[Motion]:
    """The same poses with a unit of each component of the twist, and no acceleration."""
    return [Motion(at.time, at.pose, np.eye(6)[j] + 0 * at.twist, 0 * at.twist) for j in range(6)]


def virtual_power(J: Array, rates: Array, moments: Array) -> Array:
    """Actuator forces (T, n) for moments (T, 6, 3) on bodies with angular velocities (T, 6, 3, 6) of unit twists."""
    return np.linalg.solve(np.swapaxes(J, -1, -2), np.einsum("tiaj,tia->tj", rates, moments)[..., None])[..., 0]


def on_platform(J: Array, force: Array, moment: Array) -> Array:
    """Actuator forces (T, n) for a force and a moment (T, 3) about the platform's origin."""
    return np.linalg.solve(np.swapaxes(J, -1, -2), np.concatenate([force, moment], -1)[..., None])[..., 0]


def size(a: Array) -> float:
    return float(np.abs(a).max())


def length(a: Array) -> Array:
    return np.linalg.norm(a, axis=-1)


def point_mass(r: Array) -> Array:
    """Tensors r.r 1 - r r^T (..., 3, 3) of unit masses at r (..., 3)."""
    return np.einsum("...a,...a->...", r, r)[..., None, None] * np.eye(3) - np.einsum("...a,...b->...ab", r, r)


# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu: the paper's slips from the library's positions and reactions.


class Links:
    """Links of the HexaSlide from the library's sliders: n, omega = n x n' and what of them unit twists make."""

    def __init__(self, at: Motion, axes: str = "horizontal") -> None:
        legs = kim_ryu.robot(axes).legs
        self.at, self.model, self.ell = at, kim_ryu.model(axes, "slender"), legs[0].length
        self.a, start, self.platform = (
            np.array([getattr(leg, name) for leg in legs]) for name in ("rail_direction", "rail_start", "platform")
        )
        self.m, link = legs[0].link.mass, legs[0].link.central_inertia
        self.across = link[0, 0]  # a slender link: moments across it alone

        def along(pose: Array) -> Array:
            tip = pose[:, None, :3, 3] + np.einsum("tab,ib->tia", pose[:, :3, :3], self.platform)
            return (tip - start - self.model.inverse_kinematics(pose)[..., None] * self.a) / self.ell

        self.n, self.ndot, self.nddot = series(along, at)
        _, _, self.slide = series(self.model.inverse_kinematics, at)
        self.omega, self.turn = np.cross(self.n, self.ndot), np.cross(self.n, self.nddot)
        self.J = self.model.jacobian(at.pose)
        self.along = along

    def lines(self) -> Array:
        """Columns [n; GB x n] of the links (T, 6, 6)."""
        GB = self.arms()
        return np.swapaxes(np.concatenate([self.n, np.cross(GB, self.n)], -1), -1, -2)

    def arms(self) -> Array:
        """From the platform's centre of mass to the joints (T, 6, 3)."""
        com = np.array(kim_ryu.robot().platform.com)
        return np.einsum("tab,ib->tia", self.at.pose[:, :3, :3], self.platform - com)

    def balanced(self, force: Array, moment: Array) -> Array:
        """Forces along the links (T, 6) that make up for forces and moments about the centre of mass (T, 6, 3)."""
        total = np.concatenate([force.sum(1), moment.sum(1)], -1)[..., None]
        return -np.linalg.solve(self.lines(), total)[..., 0]


def slender_link_on_the_acceleration() -> Numbers:
    """Exact forces by the paper's equations with spin, those of slender links by the library: the other way round."""
    at, found = kim_ryu.motion(0), {}
    for axes, label in (("horizontal", "alpha horizontal"), ("rail", "alpha along the rail")):
        p = kim_ryu.parameters(axes).only()
        exact = kim_ryu_printed.forces(p, at, spin=True, moment="c").tau
        found[label] = size(kim_ryu.exact(0, axes, "slender") - exact)
        found.setdefault("largest force", size(exact))
    return found


def second_derivatives() -> Numbers:
    """Rows 2 and 3 of (3) with first derivatives of the angles where second ones belong."""
    at = kim_ryu.general_state()

    def angles(pose: Array) -> Array:
        theta, psi, phi = Rotation.from_matrix(pose[:, :3, :3]).as_euler("YXZ").T
        return np.stack([psi, theta, phi], -1)

    (place,), (rate,), (second,) = series(angles, at)
    turns = [Rotation.from_euler("Y", place[1]), Rotation.from_euler("YX", [place[1], place[0]])]
    E = np.stack([turns[0].apply([1, 0, 0]), [0, 1, 0], turns[1].apply([0, 0, 1])], -1)
    error = (E @ (rate - second))[1:]
    return {"error": 100 * float(np.linalg.norm(error) / np.linalg.norm(at.acceleration[0, 3:]))}


def moment_of_the_universal_joint() -> Numbers:
    """alpha x beta and n are perpendicular to beta: the angle between them is that of n out of alpha's normal plane."""
    found = {}
    for axes in kim_ryu.AXES:
        links = Links(kim_ryu.motion(20), axes)
        alpha = np.array([leg.axis for leg in kim_ryu.robot(axes).legs])
        off = np.degrees(np.arcsin(np.abs((links.n * alpha).sum(-1))))
        found[f"alpha {axes}: largest angle between alpha x beta and n"] = float(off.max())
    return found


def platform_acceleration() -> Numbers:
    at, body = kim_ryu.general_state(), kim_ryu.robot().platform
    com = at.pose[:, :3, :3] @ np.array(body.com)
    error = body.mass * np.cross(at.twist[:, 3:] - at.acceleration[:, 3:], com)
    return {"change": size(on_platform(kim_ryu.model().jacobian(at.pose), error, np.cross(com, error)))}


def spherical_reaction() -> Numbers:
    links = Links(kim_ryu.general_state())
    bent = np.cross(links.n, links.a)
    error = 0.5 * links.m * links.slide[..., None] * (bent - np.cross(links.n, bent))
    error = error + links.balanced(error, np.cross(links.arms(), error))[..., None] * links.n
    force = links.model.reactions(*links.at[1:], friction=False).on_platform
    return {"error": 100 * size(length(error)) / size(length(force))}


def universal_reaction() -> Numbers:
    links = Links(kim_ryu.general_state())
    found = links.model.reactions(*links.at[1:], friction=False)
    force = np.stack([joints["universal"].force for joints in found.legs.values()], 1)
    error = links.slide[..., None] * links.a - links.nddot / 2
    error = 0.5 * links.ell * links.m * (error + (links.n * error).sum(-1, keepdims=True) * links.n)
    return {"error": 100 * size(length(error)) / size(length(force))}


def actuator_force() -> Numbers:
    links = Links(kim_ryu.general_state())
    error = links.slide[..., None] * links.a - links.nddot
    along = ((links.a + (links.n * links.a).sum(-1, keepdims=True) * links.n) * error).sum(-1)
    force = links.model.inverse_dynamics(*links.at[1:], friction=False)
    return {"error": 100 * 0.25 * links.ell * links.m * size(along) / size(force)}


def link_inertia_share() -> Numbers:
    links = Links(kim_ryu.motion(60))
    bent = np.cross(links.n, links.a)
    push = 0.5 * links.m * links.slide[..., None] * (bent - np.cross(links.n, bent))
    swing = links.across + links.m * links.ell**2 / 4
    row = push + swing * np.cross(links.n, links.omega - links.turn) / links.ell
    error = (links.a * links.n).sum(-1) * links.balanced(push, np.cross(links.arms(), row))
    share = kim_ryu.exact(60, name="slender") - kim_ryu.exact(60, name="no link inertia")
    return {"printed": 100 * size(error) / size(share)}


def direction_of_friction() -> Numbers:
    """Explicit friction does work on the links alone; its loads have viscous friction in them and no dry one."""
    links = Links(kim_ryu.motion(20))
    friction = kim_ryu.robot().legs[0].universal_friction
    rates = np.stack([np.cross(links.n, series(links.along, one)[1]) for one in units(links.at)], -1)
    robot = kim_ryu.robot(friction_in="universal")
    damped = friction.model_copy(update={"coulomb": 0.0})
    legs = tuple(leg.model_copy(update={"universal_friction": damped}) for leg in robot.legs)
    viscous = pp.Model(robot.model_copy(update={"legs": legs}), simplify="slender-links")
    found = viscous.reactions(*links.at[1:], friction=True)
    load = np.stack([length(joints["universal"].force) for joints in found.legs.values()], 1)[..., None]
    right, dry = friction.viscous * links.omega, friction.coulomb * load
    right = right + dry * links.omega / length(links.omega)[..., None]
    slip = dry * (np.ones(3) / np.sqrt(3) - links.omega / length(links.omega)[..., None])
    printed, share = (virtual_power(links.J, rates, moment) for moment in (slip, right))
    return {"change": size(printed) / size(share)}


def notation() -> Numbers:
    links = Links(kim_ryu.motion(40))
    return {"largest |ndot x n|": size(length(np.cross(links.ndot, links.n)))}


# ----------------------------------------------------------------------------------------------------------------------
# Lopes: Lagrange's equation again, from the library's Jacobians and differences by the coordinates.


class Euler:
    """Lopes' robot in x = [p, psi, theta, phi]: inertia of its links from the library's kinematics."""

    def __init__(self) -> None:
        self.q, self.at, self.model = lopes.parameters(), lopes.motion(), lopes.model()
        self.x, self.xdot, self.xddot = series(self.coordinates, self.at)

    @staticmethod
    def coordinates(pose: Array) -> Array:
        return np.concatenate([pose[:, :3, 3], Rotation.from_matrix(pose[:, :3, :3]).as_euler("ZYX")], -1)

    @staticmethod
    def pose(x: Array) -> Array:
        found = np.tile(np.eye(4), (len(x), 1, 1))
        found[:, :3, :3], found[:, :3, 3] = Rotation.from_euler("ZYX", x[:, 3:]).as_matrix(), x[:, :3]
        return found

    @staticmethod
    def turning(x: Array) -> Array:
        """omega (T, 3, 3) of unit rates of the angles: about z, then the turned y, then the turned x."""
        first, second = Rotation.from_euler("Z", x[:, 3:4]), Rotation.from_euler("ZY", x[:, 3:5])
        return np.stack([[0.0, 0.0, 1.0] + 0 * x[:, :3], first.apply([0, 1, 0]), second.apply([1, 0, 0])], -1)

    def velocity(self, x: Array) -> Array:
        """Twists (T, 6, 6) of unit rates of the coordinates."""
        T = np.tile(np.eye(6), (len(x), 1, 1))
        T[:, 3:, 3:] = self.turning(x)
        return T

    def links(self, x: Array, first: bool = False) -> dict[str, Array]:
        """Inertia of the links in these coordinates (T, 6, 6); ``first`` moves all actuators as leg 1 does."""
        q, pose = self.q, self.pose(x)
        J = self.model.jacobian(pose)
        slide = np.zeros((len(x), 6, 3, 6))
        slide[:, :, 2] = J[:, :1] if first else J
        p = np.einsum("tab,ib->tia", pose[:, :3, :3], q.p)
        tip = np.zeros_like(slide)
        tip[..., :3] = np.eye(3)
        for k in range(3):
            tip[..., 3 + k] = np.cross(np.eye(3)[k], p)
        a = pose[:, None, :3, 3] + p - q.b - self.model.inverse_kinematics(pose)[..., None] * [0.0, 0.0, 1.0]
        share, T = q.b_cm / q.length, self.velocity(x)
        moved = ((1 - share) * tip + share * slide) @ T[:, None]
        turned = np.cross(a[..., None], tip - slide, axis=-2) / q.length**2 @ T[:, None]
        return {
            "translating links": q.m_l * np.einsum("tiaj,tiak->tjk", moved, moved),
            "rotating links": q.I_L[1] * np.einsum("tiaj,tiak->tjk", turned, turned),
        }

    def whole(self, x: Array, first: bool = False) -> Array:
        pose, T = self.pose(x), self.velocity(x)
        turned, slid = pose[:, :3, :3].swapaxes(-1, -2) @ T[:, 3:], self.model.jacobian(pose) @ T
        rigid = np.einsum("a,taj,tak->tjk", self.q.I_P, turned, turned) + self.q.m_a * slid.swapaxes(-1, -2) @ slid
        rigid[:, :3, :3] += self.q.m_p * np.eye(3)
        return rigid + sum(self.links(x, first).values())

    def coriolis(self, first: bool = False, printed: bool = False, step: float = 1e-2) -> Array:
        """I' x' - d(x'.I x'/2)/dx (T, 6); as printed half of the first."""
        slopes = []
        for unit in np.eye(6):
            values = np.array([self.whole(self.x + k * step * unit, first) for k in range(-4, 5)])
            slopes.append(np.tensordot(FIRST, values, 1) / step)
        rate = np.einsum("tk,ktij,tj->ti", self.xdot, np.array(slopes), self.xdot)
        return rate / 2 if printed else rate - 0.5 * np.einsum("ti,ktij,tj->tk", self.xdot, np.array(slopes), self.xdot)

    def actuators(self, f_E: Array) -> Array:
        J = self.model.jacobian(self.at.pose) @ self.velocity(self.x)
        return np.linalg.solve(J.swapaxes(-1, -2), f_E[..., None])[..., 0]


euler = cache(Euler)


def what_links_are_worth() -> Numbers:
    """By the paper's equations: forces are linear in the links' mass and moments, at rest only their weight is left."""
    q, at = lopes.parameters(), lopes.motion()
    light = replace(q, m_l=0.0, I_L=np.zeros(3))
    still = Motion(at.time, at.pose, 0 * at.twist, 0 * at.acceleration)
    links, weight = (lopes_printed.forces(q, m) - lopes_printed.forces(light, m) for m in (at, still))
    whole = np.linalg.norm(lopes_printed.forces(q, at)) / 100
    parts = {"the same": links, "their weight": weight, "their inertia": links - weight}
    return {name: float(np.linalg.norm(part) / whole) for name, part in parts.items()}


def _link_turns() -> tuple[Array, Array]:
    """omega_L across and along the links (T, 6, 3), from the axes of the library's bodies."""

    def frames(pose: Array) -> Array:
        bodies = lopes.model().bodies(pose)
        return np.stack([bodies[f"{leg}.link"][:, :3, :3] for leg in lopes.model().legs], 1)

    axes, rate, _ = series(frames, lopes.motion())
    omega = turning(axes, rate)
    along = (omega * axes[..., 2]).sum(-1, keepdims=True) * axes[..., 2]
    return omega - along, along


def turning(axes: Array, rate: Array) -> Array:
    """omega (..., 3) of R' R^T."""
    spin = rate @ axes.swapaxes(-1, -2)
    return np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], -1)


def links_do_not_turn() -> Numbers:
    return {"largest omega_L without spin": size(length(_link_turns()[0]))}


def links_that_spin() -> Numbers:
    across, along = _link_turns()
    return {"over the largest omega_L": 100 * size(length(along)) / size(length(across + along))}


def where_the_path_goes() -> Numbers:
    return {"largest force": size(lopes_printed.forces(lopes.parameters(), lopes.motion()))}


def moment_in_base_axes() -> Numbers:
    """M_E = J_A^T M_B, so that J_A^T M_E is J_A^T twice; M_B by the library."""
    robot, back = euler(), euler().turning(euler().x).swapaxes(-1, -2)
    wrench = np.einsum("tji,tj->ti", robot.model.jacobian(robot.at.pose), lopes.exact())
    error = length((back @ back @ wrench[:, 3:, None])[..., 0] - wrench[:, 3:])
    right = length(wrench[:, 3:])
    return {
        "largest in a state": 100 * size(error / right),
        "largest over the largest moment": 100 * size(error) / size(right),
    }


def rows_of_leg_1() -> Numbers:
    robot = euler()
    right, printed = (robot.links(robot.x, first) for first in (False, True))
    found = {n: 100 * float(np.linalg.norm(printed[n] - right[n]) / np.linalg.norm(right[n])) for n in right}
    asked = [
        np.einsum("tij,tj->ti", robot.whole(robot.x, first), robot.xddot) + robot.coriolis(first)
        for first in (False, True)
    ]
    error = robot.actuators(asked[1] - asked[0])
    return found | {"largest force error over the largest force": 100 * size(error) / size(lopes.exact())}


def derivative_of_the_inertia() -> Numbers:
    robot = euler()
    right = robot.actuators(robot.coriolis())
    error = robot.actuators(robot.coriolis(printed=True)) - right
    return {
        "root mean square": 100 * float(np.linalg.norm(error) / np.linalg.norm(right)),
        "largest over the largest": 100 * size(error) / size(right),
        "largest over the largest force": 100 * size(error) / size(lopes.exact()),
    }


# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr et al.: what a slip costs by virtual power on the library's pods.


class PodMotion:
    """Pods of a choice of axes on a path: frames, angular velocities and accelerations of the library's bodies."""

    def __init__(self, axes: str, path: int) -> None:
        self.at, self.model = pedrammehr.motion(path), pedrammehr.model(axes)
        self.robot = pedrammehr.robot(axes)
        legs = self.robot.legs
        self.R, rate, second = series(self.frames, self.at)
        self.omega = turning(self.R, rate)
        # R'' R^T = [alpha]x + [omega]x^2, whose second part is symmetric
        spin = second @ self.R.swapaxes(-1, -2)
        self.alpha = 0.5 * np.stack([spin[..., k, j] - spin[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1))], -1)
        self.n, self.u = self.R[..., 0], np.array([leg.axis for leg in legs])
        v = np.cross(self.u, self.n)
        self.v = v / length(v)[..., None]
        self.c = np.cross(self.u, self.v)
        ends = self.model.inverse_kinematics(self.at.pose)[..., None] * self.n
        self.ell = length(ends)[..., None]
        arms = [self.R @ np.array(com) for com in (legs[0].lower.com, legs[0].upper.com)]
        self.arms = (legs[0].lower.mass, arms[0]), (legs[0].upper.mass, ends + arms[1])

    def frames(self, pose: Array) -> Array:
        bodies = self.model.bodies(pose)
        return np.stack([bodies[f"{leg}.lower"][:, :3, :3] for leg in self.model.legs], 1)

    def brackets(self, as_printed: bool) -> Array:
        """Parallel-axis terms of a pod (T, 6, 3, 3): as they were meant, or as printed, turned once too often."""
        whole = sum(mass * point_mass(arm) for mass, arm in self.arms)
        return self.R @ whole @ self.R.swapaxes(-1, -2) if as_printed else whole

    def pods_cost(self, as_printed: bool) -> Array:
        """Actuator forces (T, 6) that the pods' parallel-axis terms ask for once more."""
        rates = np.stack([turning(self.R, series(self.frames, one)[1]) for one in units(self.at)], -1)
        tensor = self.brackets(as_printed)
        return virtual_power(self.model.jacobian(self.at.pose), rates, gyroscopic(tensor, self.omega, self.alpha))

    def platform_cost(self, as_printed: bool) -> Array:
        """Actuator forces (T, 6) that the platform's parallel-axis term asks for once more."""
        R, body = self.at.pose[:, :3, :3], self.robot.platform
        arm = R @ np.array(body.com)
        term = body.mass * point_mass(arm)
        term = R @ term @ R.swapaxes(-1, -2) if as_printed else term
        moment = gyroscopic(term, self.at.twist[:, 3:], self.at.acceleration[:, 3:])
        return on_platform(self.model.jacobian(self.at.pose), 0 * moment, moment)

    def share(self, error: Array) -> float:
        force = self.model.inverse_dynamics(*self.at[1:])
        return 100 * size(error) / size(force)


def gyroscopic(tensor: Array, omega: Array, alpha: Array) -> Array:
    """I alpha + omega x I omega."""
    turned = (tensor @ omega[..., None])[..., 0]
    return (tensor @ alpha[..., None])[..., 0] + np.cross(omega, turned)


pods = cache(PodMotion)


def fast() -> list[PodMotion]:
    return [pods(axes, 3) for axes in pedrammehr.AXES]


def accuracy_on_the_fast_path() -> Numbers:
    """The printed model by its two parallel-axis terms, the classic one by the library's Newton-Euler without spin."""
    worse = 0
    for one in fast():
        classic = pp.Model(one.robot, simplify="no-spin").inverse_dynamics(*one.at[1:], formulation="newton-euler")
        error = classic - one.model.inverse_dynamics(*one.at[1:])
        worse += one.share(one.pods_cost(True) + one.platform_cost(True)) > one.share(error)
    return {"choices of axes where the printed model is the worse one": worse}


def pods_that_agree() -> Numbers:
    one = pods("tangential", 1)
    along, whole = np.abs((one.omega * one.n).sum(-1)).max(0), length(one.omega).max(0)
    return {f"axial part, pod {pod}, tangential u": 100 * along[pod - 1] / whole[pod - 1] for pod in (1, 2, 4, 6)}


def tensors_of_real_bodies() -> Numbers:
    """Roots of the characteristic polynomials of Appendix 2's tensors."""

    def principal(tensor: Any) -> Array:
        m = np.array(tensor)
        minors = sum(m[i, i] * m[j, j] - m[i, j] ** 2 for i, j in ((0, 1), (0, 2), (1, 2)))
        volume = m[0] @ np.cross(m[1], m[2])
        return np.sort(np.roots([1.0, -np.trace(m), minors, -volume]).real)

    leg, platform = pedrammehr.robot("tangential").legs[0], pedrammehr.robot("tangential").platform
    lower, upper, plate = (principal(body.inertia) for body in (leg.lower, leg.upper, platform))
    return {
        "smallest principal moment of I_doi": lower[0],
        "I_uoi: largest moment less the other two": upper[2] - upper[1] - upper[0],
        "I_p: largest moment less the other two": plate[2] - plate[1] - plate[0],
    }


def pod_parallel_axis() -> Numbers:
    errors = [one.share(one.pods_cost(False)) for one in fast()]
    return {"alone, smallest": min(errors), "alone, largest": max(errors)}


def platform_parallel_axis() -> Numbers:
    errors = [one.share(one.platform_cost(False)) for one in fast()]
    return {"alone, smallest": min(errors), "alone, largest": max(errors)}


def components_in_the_bracket() -> Numbers:
    one, leg = pods("tangential", 3), pedrammehr.robot("tangential").legs[0]
    own = np.array(leg.lower.inertia) + np.array(leg.upper.inertia)
    meant = one.R @ own @ one.R.swapaxes(-1, -2) + one.brackets(False)
    error = one.brackets(True) - one.brackets(False)
    return {"largest": 100 * float((np.linalg.norm(error, axis=(-2, -1)) / np.linalg.norm(meant, axis=(-2, -1))).max())}


def spin_acceleration() -> Numbers:
    errors = []
    for one in fast():
        right, un = (one.alpha * one.n).sum(-1), (one.u * one.n).sum(-1)
        across = ((one.alpha - right[..., None] * one.n) * one.u).sum(-1)
        product = (one.omega * one.u).sum(-1) * (one.omega * one.v).sum(-1)
        errors.append(100 * size(across * un / (1 - un**2) - product - right) / size(right))
    return {"smallest": min(errors), "largest": max(errors)}


def missing_axis() -> Numbers:
    """The term l omega_u omega_v n for c x n in (21) moves alpha along u and v by its parts along v and u."""
    one = pods("tangential", 3)
    product = ((one.omega * one.u).sum(-1) * (one.omega * one.v).sum(-1))[..., None]
    slip = product * (np.cross(one.c, one.n) - one.n) / (one.n * one.c).sum(-1, keepdims=True)
    error = -(slip * one.v).sum(-1, keepdims=True) * one.u + (slip * one.u).sum(-1, keepdims=True) * one.v
    return {"printed": 100 * size(error) / size(one.alpha)}


# ----------------------------------------------------------------------------------------------------------------------
# Staicu et al.: the engine that was written from the paper apart from the study.


def around(peaks: Array) -> list[int]:
    """Samples where the engine, which is slow, looks for a largest value: all over the path, and next to some."""
    close = {min(max(int(k) + j, 0), staicu.SAMPLES - 1) for k in peaks for j in (-1, 0, 1)}
    return sorted({*range(0, staicu.SAMPLES, 50), *close})


def engine(samples: list[int], platform: Any = printed_staicu.PLATE) -> Array:
    states = zip(*printed_staicu.trajectory(np.linspace(0.0, 1.0, staicu.SAMPLES)[samples]), strict=True)
    return np.array([printed_staicu.forces(*state, platform=platform) for state in states])


def forces_of_the_figures() -> Numbers:
    found = np.abs(engine(around(np.abs(staicu.exact()).argmax(0)))).max(0)
    return {f"largest on (5), {leg}": force for leg, force in zip("ABC", found, strict=True)}


def dof() -> Numbers:
    """J^T f = -w for the columns of the sliders' rates, which the engine has in closed form."""
    x, _, _ = printed_staicu.trajectory(np.linspace(0.0, 1.0, staicu.SAMPLES))
    inverse = np.abs(np.linalg.inv(staicu.model().jacobian(staicu.motion().pose)))
    found = []
    for state in x[around(inverse.reshape(len(x), -1).argmax(0))]:
        geometry = printed_staicu.Geometry.of(state)
        J = np.column_stack([printed_staicu.connectivity(geometry, unit).v for unit in np.eye(3)])
        found.append(np.linalg.inv(J))
    largest = np.abs(found).max(axis=(0, 2))
    return {f"unit {name} on the platform": f for name, f in zip(("f_y", "f_z", "m_y"), largest, strict=True)}


def tensor_of_the_platform() -> Numbers:
    """J_3 about C5, or about the centre of mass and moved to C5 by m r^2; T5's z is the platform's -y, its y is z."""
    r, m, J = printed_staicu.r, printed_staicu.m3, printed_staicu.PLATE[1]
    shift = m * r**2 * np.diag([0.0, 1.0, 1.0])
    readings = {
        "about C5, centre of mass at the triangle's centroid": (r - 1 / 30, J),
        "about P, the centre of mass, axes of T5": (r, J + shift),
        "about P, the centre of mass, axes of the platform": (r, np.diag(np.diag(J)[[0, 2, 1]]) + shift),
    }
    found, changed = {}, staicu.other_platform
    places = ((-1 / 30, 0.0, 0.0), "C5", "T5"), ((0.0, 0.0, 0.0), "com", "T5"), ((0.0, 0.0, 0.0), "com", "body")
    for (name, platform), place in zip(readings.items(), places, strict=True):
        samples = around(np.abs(changed(*place) - staicu.exact()).argmax(0))
        found[f"{name}: largest change"] = size(engine(samples, platform) - engine(samples))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet: the library's matrices with the paper's slips in them, and the paper's equations at rest.


class Whole:
    """M [v'; q_e''] + h = J^T f along the path by the library, and the plate's part of M by sums over its nodes."""

    def __init__(self) -> None:
        self.s, self.model, self.modes = long.states(), long.model(), long.modes()
        at = self.s.motion
        self.M = self.model.mass_matrix(at.pose, elastic=self.s.elastic)
        self.back = self.model.jacobian(at.pose, elastic=self.s.elastic).swapaxes(-1, -2)
        found = self.model.inverse_dynamics(
            at.pose, at.twist, at.acceleration, friction=False, full_output=True, **self.s.shape
        )
        self.force = found.force
        full = np.concatenate([at.acceleration, found.elastic_acceleration], -1)
        self.h = times(self.back, found.force) - times(self.M, full)

    def plate(self) -> tuple[Array, Array]:
        """Nodes of the bent plate (T, n, 3) and shapes (T, n, 3, N), base axes, from the origin."""
        R = self.s.motion.pose[:, None, :3, :3]
        bent = self.modes.nodes + np.einsum("nak,tk->tna", self.modes.shapes, self.s.elastic)
        return times(R, bent), R @ self.modes.shapes

    def solved(self, M: Array, h: Array) -> Array:
        """Forces for the desired accelerations: J^T f - M_e q_e'' = M_r v' + h, unknown f and q_e''."""
        system = np.concatenate([self.back, -M[..., 6:]], -1)
        return np.linalg.solve(system, (times(M[..., :6], self.s.motion.acceleration) + h)[..., None])[:, :6, 0]

    def error(self, M: Array, h: Array) -> Numbers:
        return {"error": 100 * size(self.solved(M, h) - self.force) / size(self.force)}


def times(matrix: Array, a: Array) -> Array:
    return (matrix @ a[..., None])[..., 0]


whole = cache(Whole)


def base_parameters() -> Numbers:
    """Table 3 by hand: 1.068 - 3.018^2/5.390, and the smaller root of a symmetric 2 x 2 matrix."""
    mass, x, y = 30.176, 4.29, -12.628
    xx, yy, xy = 4.823 - y**2 / mass, 0.945 - x**2 / mass, 0.215 + x * y / mass
    lower = 0.5 * (xx + yy) - np.hypot(0.5 * (xx - yy), xy)
    return {"smallest central moment, link 2": lower, "smallest central moment, link 3": 1.068 - 3.018**2 / 5.390}


@cache
def at_rest() -> tuple[Array, Array]:
    """Elastic coordinates (N,) and forces (6,) of static equilibrium by the paper's equations: Newton's method."""
    modes, step = long.modes(), 1e-6
    q, moves = np.zeros(modes.count), np.vstack([np.zeros(modes.count), step * np.eye(modes.count)])
    still = np.zeros((len(moves), 6))
    motion = Motion(still[:, 0], np.broadcast_to(long.home(), (len(moves), 4, 4)), still, still)
    for _ in range(20):
        state = long_printed.State(motion, q + moves, 0 * moves)
        force, bending = long_printed.system(modes, state).inverse(still)
        change = np.linalg.solve((bending[1:] - bending[0]).T / step, -bending[0])
        q = q + change
        if size(change) < 1e-12 * size(q):
            return q, force[0]
    raise AssertionError("no static equilibrium")


class Bent(NamedTuple):
    """Elastic coordinates and rates (T, N) on the path, and actuator forces (T, 6)."""

    elastic: Array
    rate: Array
    force: Array


@cache
def bent() -> Bent:
    """The simulation of section 6 by the paper's equations, from static equilibrium.

    q'' = G(t, q, q') is iterated over the whole path: q'' + D q' + K q = G + D q' + K q, with D and K of the start, is
    solved exactly for a right side that is a cubic spline between the corners of the motion.
    """
    motion, modes = long.run().motion, long.modes()
    n, dt = modes.count, long.SAMPLE

    def paper(at: Motion, q: Array, rate: Array) -> tuple[Array, Array]:
        return long_printed.system(modes, long_printed.State(at, q, rate)).inverse(at.acceleration)

    moves = 1e-6 * np.vstack([0 * np.eye(2 * n)[:1], np.eye(2 * n)])
    start = Motion(*(np.broadcast_to(part[:1], (2 * n + 1, *part.shape[1:])) for part in motion))
    slopes = paper(start, at_rest()[0] + moves[:, :n], moves[:, n:])[1]
    K, D = np.split(-(slopes[1:] - slopes[0]).T / 1e-6, 2, axis=1)
    chain = np.zeros((6 * n, 6 * n))  # q, q', and the right side with three derivatives
    chain[:n, n : 2 * n] = np.eye(n)
    chain[n : 2 * n, : 3 * n] = np.hstack([-K, -D, np.eye(n)])
    chain[2 * n : 5 * n, 3 * n :] = np.eye(3 * n)
    step = expm(chain * dt)[: 2 * n]
    corners = np.round(np.array([0.0, 0.2, 0.7, 1.2, 1.7, 2.2, motion.time[-1]]) / dt).astype(int)
    y = np.tile(np.append(at_rest()[0], np.zeros(n)), (len(motion.time), 1))
    for _ in range(60):
        q, rate = y[:, :n], y[:, n:]
        force, second = paper(motion, q, rate)
        right, after = second + q @ K.T + rate @ D.T, y.copy()
        for first, last in pairwise(corners):
            part = CubicSpline(motion.time[first : last + 1], right[first : last + 1])
            pushes = np.hstack([part(motion.time[first:last], k) for k in range(4)])
            for k, push in zip(range(first, last), pushes, strict=True):
                after[k + 1] = step @ np.append(after[k], push)
        change, y = size((after - y)[:, :n]), after
        if change < 1e-7 * size(y[:, :n]):
            return Bent(q, rate, force)
    raise AssertionError("the iteration over the path does not settle")


def deflection(shapes: Array, elastic: Array) -> Array:
    """Largest size of each component of what shapes (..., 3, N) make of elastic coordinates (T, N)."""
    return np.abs(np.einsum("...ak,tk->t...a", shapes, elastic)).reshape(-1, 3).max(0)


def directions() -> Numbers:
    plate, q = long.modes(), bent().elastic
    shift, turn, ends = (
        1e3 * deflection(shapes, q) for shapes in (plate.origin_shape, plate.origin_rotation, plate.attachment_shapes)
    )
    return {
        "origin, along z": shift[2],
        "origin, about x": turn[0],
        "origin, about y": turn[1],
        "attachment points, along z": ends[2],
    }


def small_deformations() -> Numbers:
    """A plate of 15 mm."""
    found = deflection(long.modes().attachment_shapes, bent().elastic)
    return {"largest on the path over the thickness": size(found) / 0.015}


def start_at_rest() -> Numbers:
    """Forces at q_e = 0 are the largest of a start there."""
    flat, still = np.zeros((1, long.modes().count)), np.zeros((1, 6))
    state = long_printed.State(Motion(np.zeros(1), long.home()[None], still, still), flat, flat)
    force, _ = long_printed.system(long.modes(), state).inverse(still)
    return {
        "largest force at rest, static equilibrium": size(at_rest()[1]),
        "the same over the largest force on the path": size(force) / size(bent().force),
    }


def velocity_of_the_origin() -> Numbers:
    at, shape = long.run().motion, np.array(long.modes().origin_shape)
    axes = at.pose[:, :3, :3]
    missing = np.cross(at.twist[:, 3:], times(axes, bent().elastic @ shape.T))
    return {"missing": 100 * size(missing) / size(times(axes, bent().rate @ shape.T))}


def energy() -> Numbers:
    return {"elastic energy at the start": float(0.5 * long.modes().stiffness @ at_rest()[0] ** 2)}


def invertible() -> Numbers:
    """Schur complements of the library's matrices."""
    M, back = whole().M, whole().back
    spread = M[:, :6, 6:] @ np.linalg.inv(M[:, 6:, 6:])
    A, J_sys = M[:, :6, :6] - spread @ M[:, 6:, :6], back[:, :6] - spread @ back[:, 6:]
    return {
        "condition of J_sys": float(np.linalg.cond(J_sys).max()),
        "condition of A": float(np.linalg.cond(A).max()),
    }


def deformed_tensor() -> Numbers:
    one, R = whole(), whole().s.motion.pose[:, :3, :3]
    flat = np.einsum("n,nab->ab", one.modes.masses, point_mass(one.modes.nodes))
    M = one.M.copy()
    bent = np.einsum("n,tnab->tab", one.modes.masses, point_mass(one.plate()[0]))
    M[:, 3:6, 3:6] += R @ flat @ R.swapaxes(-1, -2) - bent
    return one.error(M, one.h)


def cross_product() -> Numbers:
    """Products of components in platform axes for the cross products of shapes."""
    one, R = whole(), whole().s.motion.pose[:, :3, :3]
    shapes = one.modes.shapes
    bent = np.einsum("nak,tk->tna", shapes, one.s.elastic)[..., None]
    slip = np.einsum("n,tnak->tak", one.modes.masses, bent * shapes - np.cross(bent, shapes[None], axis=2))
    M = one.M.copy()
    M[:, 3:6, 6:] += R @ slip
    M[:, 6:, 3:6] += (R @ slip).swapaxes(-1, -2)
    return one.error(M, one.h)


def elastic_accelerations() -> Numbers:
    """The legs feel elastic rates where (23) has elastic accelerations: their part of M_e goes, times rates, to h."""
    one = whole()
    rho, shapes = one.plate()
    parts = [shapes, np.cross(rho[..., None], shapes, axis=2)]
    rigid = np.concatenate([np.einsum("n,tnak->tak", one.modes.masses, part) for part in parts], 1)
    elastic = np.einsum("n,nai,naj->ij", one.modes.masses, one.modes.shapes, one.modes.shapes)
    plate = np.concatenate([rigid, np.broadcast_to(elastic, (len(rigid), *elastic.shape))], 1)
    legs, M = one.M[..., 6:] - plate, one.M.copy()
    M[..., 6:] = plate
    return one.error(M, one.h + times(legs, one.s.rate))


def desired_acceleration() -> Numbers:
    one, at = whole(), whole().s.motion
    wrong = one.model.inverse_dynamics(at.pose, at.twist, at.twist, friction=False, **one.s.shape)
    return {"error": 100 * size(wrong - one.force) / size(one.force)}


def elastic_rates_in_32() -> Numbers:
    at = long.run().motion
    shape = np.einsum("tab,ibk->tika", at.pose[::8, :3, :3], long.modes().attachment_shapes)
    return {"printed": size(np.cross(at.twist[::8, None, None, 3:], shape)) / size(shape)}


def column_of_the_jacobian() -> Numbers:
    """A leg's end in its base frame is q_3 (cos q_1 sin q_2, -cos q_2, -sin q_1 sin q_2): derivatives of the last."""
    one, two, three = long_printed.JOINTS.T
    (s1, c1), (s2, c2) = (np.sin(one), np.cos(one)), (np.sin(two), np.cos(two))
    row = np.stack([-three * c1 * s2, -three * s1 * c2, -s1 * s2], -1)
    return {"printed": size(length(row - np.stack([c1 * s2, -c2, -s1 * s2], -1)))}


# ----------------------------------------------------------------------------------------------------------------------
# All of them.

SOURCES: dict[str, tuple[Callable[[], Numbers], ...]] = {
    "kim-ryu": (
        slender_link_on_the_acceleration,
        second_derivatives,
        moment_of_the_universal_joint,
        platform_acceleration,
        spherical_reaction,
        universal_reaction,
        actuator_force,
        link_inertia_share,
        direction_of_friction,
        notation,
    ),
    "long": (
        base_parameters,
        directions,
        small_deformations,
        start_at_rest,
        energy,
        invertible,
        deformed_tensor,
        cross_product,
        elastic_accelerations,
        desired_acceleration,
        elastic_rates_in_32,
        velocity_of_the_origin,
        column_of_the_jacobian,
    ),
    "lopes": (
        what_links_are_worth,
        links_do_not_turn,
        links_that_spin,
        where_the_path_goes,
        moment_in_base_axes,
        rows_of_leg_1,
        derivative_of_the_inertia,
    ),
    "pedrammehr": (
        accuracy_on_the_fast_path,
        pods_that_agree,
        tensors_of_real_bodies,
        pod_parallel_axis,
        platform_parallel_axis,
        components_in_the_bracket,
        spin_acceleration,
        missing_axis,
    ),
    "staicu": (forces_of_the_figures, dof, tensor_of_the_platform),
}
# Seconds each: many kernels to compile, or the slow engine over a path.
SLOW = {
    "kim-ryu": ("slender_link_on_the_acceleration",),
    "long": ("base_parameters", "energy"),
    "lopes": ("rows_of_leg_1",),
    "pedrammehr": ("accuracy_on_the_fast_path",),
    "staicu": ("tensor_of_the_platform",),
}
# Half a minute each: the simulation once more.
SIMULATED = ("directions", "small_deformations", "start_at_rest", "velocity_of_the_origin")
CASES = [
    pytest.param(
        paper,
        source,
        id=f"{paper}-{source.__name__}",
        marks=pytest.mark.long if source.__name__ in (*SLOW[paper], *SIMULATED) else (),
    )
    for paper in SOURCES
    for source in SOURCES[paper]
]


def checked(paper: str, line: str) -> Numbers:
    """Numbers of a line that a second computation answers for."""
    study = papers.study(paper)
    (found,) = [make() for make in (*study.claims, *study.errata) if make.__name__ == line]
    return {measure.label: measure.value for measure in found.measured if measure.reason == CHECKED}


@pytest.mark.parametrize(("paper", "source"), CASES)
def test_a_second_computation_gives_the_number(paper, source):
    wanted = source()
    found = checked(paper, source.__name__)
    assert set(found) == set(wanted)
    # Differences of eighth order and solves leave eight digits; the simulations, in steps and by splines, four or more.
    tolerance = 1e-4 if source.__name__ in SIMULATED else 1e-7
    for label, value in found.items():
        assert value == pytest.approx(wanted[label], rel=tolerance), label


@pytest.mark.parametrize("paper", SOURCES)
def test_no_number_is_without_a_second_computation(paper):
    from polypod.pages import template_text
    from polypod.yaml12 import read_yaml

    text = read_yaml(template_text(f"polypod.papers.{papers.MODULES[paper]}", "paper.yaml"))[0]
    lines = {**text["claims"], **text["errata"]}
    names = {name for name, line in lines.items() if any("checked" in m for m in line.get("measured", ()))}
    assert names == {source.__name__ for source in SOURCES[paper]}
    assert not any("checked" in m for line in lines.values() for m in line.get("asked", ()))
