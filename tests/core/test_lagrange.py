"""The Lagrange formulation: its forces, its matrices by part and in both coordinates, and what Lopes prints wrong.

The matrices are compared with what does not share their code: hand formulas of Lopes' paper for his robot, (76) of the
virtual-power mass matrix differentiated by Euler angles, and a platform that carries what a leg carried.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import RigidTransform, Rotation

import polypod as pp
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.formulations import lagrange, virtual_power
from polypod.formulations.lagrange import PARTS, euler_axes
from polypod.legs import UPS, PlacedBody, Placement
from polypod.mechanism import SIMPLIFICATIONS, Mechanism
from polypod.papers.lopes.study import matrices
from polypod.symbols.vectors import Frame
from support import states as sample
from support.compare import assert_close
from support.engines.lagrangian import Lagrangian, ParameterVector, motion_of
from support.engines.oracle import with_random_bodies
from support.refusals import refused
from support.states import mostly_long, papers_robots

Array = NDArray[np.float64]
ROBOTS = papers_robots()
KEPT = ("lopes", "staicu")  # the paper's own robot, and one of few degrees of freedom
SIX_DOF = [name for name in ROBOTS if not pp.load(name).dof]
# Links of variable length are not two masses, and a cross with inertia does not go with a link without spin.
IMPOSSIBLE = {("long", "point-mass-links"), ("pedrammehr", "point-mass-links"), ("long", "no-spin")}
SIMPLIFIED = [(n, "published", what) for n in ROBOTS for what in SIMPLIFICATIONS if (n, what) not in IMPOSSIBLE]
# Without spin it matters how the links' bodies lie.
SIMPLIFIED += [("kim-ryu", "random", "no-spin"), ("lopes", "random", "no-spin")]
# Two ways of double precision, magnified by the condition of J (below 1e3): 4e-15 is reached.
TOLERANCE = 1e-12
# Matrices need no solve: 3e-15 is reached.
MATRICES = 1e-13


class Case(NamedTuple):
    """A robot and random states of it."""

    model: pp.Model
    states: sample.States


@cache
def case(name: str, bodies: str = "published") -> Case:
    """Random bodies have no symmetry that could hide a wrong axis or reference point."""
    robot = pp.load(name) if bodies == "published" else with_random_bodies(pp.load(name), seed=5)
    model = pp.Model(robot)
    return Case(model, sample.easy(model, 16, seed=21))


@cache
def lagrangian(model: pp.Model, coordinates: str = "base") -> Lagrangian:
    """Matrices of a model, made once."""
    return Lagrangian(model, coordinates)


def evaluate(mechanism: Mechanism, expression: Any, *arrays: Array) -> list[Array]:
    """An expression of a robot by CasADi's interpreter, state by state."""
    numbers = [mechanism.numbers.values] if expression.parameters else []
    rows = [expression.function.call([*(a[k].ravel() for a in arrays), *numbers]) for k in range(len(arrays[0]))]
    shapes = [p.shape for p in expression.outputs]
    return [np.array([np.array(row[j]).reshape(shape) for row in rows]) for j, shape in enumerate(shapes)]


def apply(matrix: Array, column: Array) -> Array:
    return np.einsum("...ij,...j->...i", matrix, column)


def solve(matrix: Array, column: Array) -> Array:
    return np.linalg.solve(matrix, column[..., None])[..., 0]


def skew(v: Array) -> Array:
    """(..., 3) -> (..., 3, 3)."""
    return np.cross(np.eye(3), v[..., None, :], axisa=-1, axisb=-1).swapaxes(-1, -2) * -1.0


class TestForces:
    @pytest.mark.parametrize("name", mostly_long(ROBOTS, KEPT))
    def test_are_those_of_virtual_power(self, name: str) -> None:
        model, s = case(name)
        got, wanted = (
            model.inverse_dynamics(*s[:4], friction=False, formulation=f) for f in ("lagrange", "virtual-power")
        )
        assert_close(got, wanted, TOLERANCE)

    @pytest.mark.parametrize("name", mostly_long(ROBOTS, KEPT))
    def test_of_random_bodies(self, name: str) -> None:
        model, s = case(name, "random")
        mechanism = Mechanism(model.robot)
        got, wanted = (
            evaluate(mechanism, f.inverse_dynamics(mechanism, False), *s[:4])[0] for f in (lagrange, virtual_power)
        )
        assert_close(got, wanted, TOLERANCE)

    @pytest.mark.parametrize("name", mostly_long(("kim-ryu", "pedrammehr"), ("kim-ryu",)))
    def test_with_viscous_friction(self, name: str) -> None:
        model, s = case(name)
        mechanism = Mechanism(model.robot)
        got, wanted, without = (
            evaluate(mechanism, module.inverse_dynamics(mechanism, friction), *s[:4])[0]
            for module, friction in ((lagrange, True), (virtual_power, True), (lagrange, False))
        )
        assert_close(got, wanted, TOLERANCE)
        assert np.abs(got - without).max() > 1e-5 * np.abs(without).max(), "friction has no part in it"

    @pytest.mark.parametrize(
        ("name", "bodies", "simplify"),
        [c if c[0] in KEPT else pytest.param(*c, marks=pytest.mark.long) for c in SIMPLIFIED],
    )
    def test_of_simplified_models(self, name: str, bodies: str, simplify: Any) -> None:
        model, s = case(name, bodies)
        mechanism = Mechanism(model.robot, simplify)
        got, wanted = (
            evaluate(mechanism, f.inverse_dynamics(mechanism, False), *s[:4])[0] for f in (lagrange, virtual_power)
        )
        assert_close(got, wanted, TOLERANCE)

    def test_no_orientation_is_singular(self) -> None:
        """The platform's axes named anew so that home is at theta = 90 deg of R = Rz Ry Rx: the same forces."""
        model, s = case("lopes")
        turn = Rotation.from_euler("ZYX", [0.3, np.pi / 2, 0.0]).as_matrix()
        robot = model.robot
        home, body = robot.home, robot.platform
        legs = tuple(leg.model_copy(update={"platform": tuple(turn.T @ leg.platform)}) for leg in robot.legs)
        tensor = turn.T @ np.array(body.inertia) @ turn
        new = {
            "home": home.model_copy(update={"rotation": tuple(map(tuple, np.array(home.rotation) @ turn))}),
            "platform": body.model_copy(update={"inertia": tuple(map(tuple, tensor))}),
            "legs": legs,
        }
        pose = s.pose.copy()
        pose[:, :3, :3] = pose[:, :3, :3] @ turn
        # Home itself is exactly at the singular orientation, the others are near it.
        pose[0], again = robot.home.matrix, s.pose.copy()
        again[0] = robot.home.matrix
        pose[0, :3, :3] = pose[0, :3, :3] @ turn
        got = pp.Model(robot.model_copy(update=new)).inverse_dynamics(pose, *s[1:4], formulation="lagrange")
        assert_close(got, model.inverse_dynamics(again, *s[1:4]), TOLERANCE)

    @pytest.mark.long
    def test_of_a_leg_that_carries_platform_axes(self) -> None:
        """A body fixed to the platform but stated by a leg, so that the leg depends on the platform's axes."""
        model, s = case("long")
        robot = model.robot
        knob = pp.Body(mass=1.3, com=(0.05, -0.02, 0.08), inertia=(0.02, 0.03, 0.04))

        class Knob(UPS):
            def place(self, tip: Frame) -> Placement:
                placed = super().place(tip)
                return Placement(
                    **{**vars(placed), "bodies": (*placed.bodies, PlacedBody("knob", tip, knob))}  # type: ignore[arg-type]
                )

        carrying = robot.model_copy(update={"legs": (Knob(**dict(robot.legs[0])), *robot.legs[1:])})
        mechanism = Mechanism(carrying)
        assert mechanism.legs[0].uses_axes
        body, at = robot.platform, np.array(robot.legs[0].platform) + knob.com
        mass = body.mass + knob.mass
        com = (body.mass * np.array(body.com) + knob.mass * at) / mass
        tensor = body.central_inertia + knob.central_inertia
        for m, r in ((body.mass, body.com - com), (knob.mass, at - com)):
            tensor += m * (r @ r * np.eye(3) - np.outer(r, r))
        whole = pp.Body(mass=mass, com=tuple(com), inertia=tuple(map(tuple, tensor)))
        other = pp.Model(robot.model_copy(update={"platform": whole}))
        (got, _) = evaluate(mechanism, lagrange.inverse_dynamics(mechanism, False), *s[:4])
        assert_close(got, other.inverse_dynamics(*s[:4], friction=False), TOLERANCE)
        inertia, coriolis, gravity = evaluate(mechanism, matrices(mechanism), s.pose, s.twist)
        assert_close(inertia, other.mass_matrix(s.pose), MATRICES)
        assert_close(apply(coriolis, s.twist) + gravity, other.bias(s.pose, s.twist, friction=False), MATRICES)


class TestMatrices:
    @pytest.mark.parametrize("name", mostly_long(ROBOTS, KEPT))
    @pytest.mark.parametrize("bodies", ["published", "random"])
    def test_make_the_equation_of_motion(self, name: str, bodies: str) -> None:
        model, s = case(name, bodies)
        mechanism = Mechanism(model.robot)
        inertia, coriolis, gravity = evaluate(mechanism, matrices(mechanism), s.pose, s.twist)
        rate = s.twist @ np.linalg.pinv(sample.basis(model.robot)).T
        bias = virtual_power.bias(mechanism, False)
        weight, whole = (evaluate(mechanism, bias, s.pose, twist)[0] for twist in (0 * s.twist, s.twist))
        assert_close(inertia, evaluate(mechanism, virtual_power.mass(mechanism), s.pose)[0], MATRICES)
        assert_close(gravity, weight, MATRICES)
        assert_close(apply(coriolis, rate) + gravity, whole, MATRICES)

    @pytest.mark.parametrize("name", mostly_long(ROBOTS, KEPT))
    @pytest.mark.parametrize("bodies", ["published", "random"])
    def test_inertia_rate_less_twice_coriolis_is_skew(self, name: str, bodies: str) -> None:
        """Idot of the virtual-power mass matrix along the motion, by CasADi."""
        model, s = case(name, bodies)
        mechanism = Mechanism(model.robot)
        mass = virtual_power.mass(mechanism).fixed(mechanism.numbers.values)
        pose, change = mass.inputs[0].symbols, ca.SX.sym("change", 16)
        along = ca.Function("along", [pose, change], [ca.jtimes(mass.outputs[0].symbols, pose, change)])
        moving = np.zeros_like(s.pose)
        moving[:, :3, :3], moving[:, :3, 3] = skew(s.twist[:, 3:]) @ s.pose[:, :3, :3], s.twist[:, :3]
        coriolis = evaluate(mechanism, matrices(mechanism), s.pose, s.twist)[1]
        change_rate = np.array(
            [
                np.array(along(p.ravel(), d.ravel())).reshape(coriolis.shape[1:])
                for p, d in zip(s.pose, moving, strict=True)
            ]
        )
        rest = change_rate - 2 * coriolis
        size = np.abs(coriolis).max(axis=(1, 2))
        assert_close(rest, -rest.swapaxes(1, 2), MATRICES, scale=size)
        assert np.abs(rest).max() > 1e-3 * size.max(), "V is not merely half of Idot"

    @pytest.mark.parametrize("name", mostly_long(ROBOTS, KEPT))
    def test_parts_sum_to_the_whole(self, name: str) -> None:
        model, s = case(name, "random")
        mechanism = Mechanism(model.robot)
        whole, *parts = (evaluate(mechanism, matrices(mechanism, part), s.pose, s.twist) for part in (None, *PARTS))
        for k in range(3):
            assert_close(sum(part[k] for part in parts), whole[k], MATRICES)
        assert all(np.abs(part[0]).max() > 0 for part in parts)
        assert np.abs(parts[3][2]).max() == 0.0, "what turns about its centre of mass has no weight"

    def test_only_what_moves_along_the_coordinate_is_actuator(self) -> None:
        """m J^T J of the moving mass, in every pose: sliders and rotors; the pods of pedrammehr have neither."""
        for name, mass in (
            ("kim-ryu", None),
            ("lopes", 0.123),
            ("staicu", 0.9751),
            ("long", None),
            ("pedrammehr", 0.0),
        ):
            model, s = case(name)
            leg = model.robot.legs[0]
            moving = leg.rotor_mass if hasattr(leg, "rotor_mass") else leg.slider.mass
            assert mass is None or moving == mass
            jacobian = model.jacobian(s.pose)
            mechanism = Mechanism(model.robot)
            (got, *_) = evaluate(mechanism, matrices(mechanism, "actuators"), s.pose, s.twist)
            wanted = moving * jacobian.swapaxes(1, 2) @ jacobian
            assert_close(got, wanted, MATRICES, scale=np.abs(model.mass_matrix(s.pose)).max(axis=(1, 2)))


class TestEulerCoordinates:
    @pytest.mark.parametrize("name", mostly_long(SIX_DOF, KEPT))
    def test_coriolis_is_76_of_the_inertia_matrix(self, name: str) -> None:
        """(76)-(79) with derivatives by x of I_E = T^T M T, M by virtual power, R and T by (4), (9), (29)."""
        model, s = case(name, "random")
        mechanism = Mechanism(model.robot.model_copy(update={"euler": "ZYX"}))
        x, xdot = euler_states(s)
        place = ca.SX.sym("x", 6)
        psi, theta, phi = (place[k] for k in (3, 4, 5))
        rotation = _about(2, psi) @ _about(1, theta) @ _about(0, phi)
        turning = ca.vertcat(
            ca.horzcat(0, -ca.sin(psi), ca.cos(theta) * ca.cos(psi)),
            ca.horzcat(0, ca.cos(psi), ca.cos(theta) * ca.sin(psi)),
            ca.horzcat(1, 0, -ca.sin(theta)),
        )
        carry = ca.diagcat(ca.SX.eye(3), turning)
        pose = ca.vertcat(ca.horzcat(rotation, place[:3]), ca.horzcat(0, 0, 0, 1))
        mass = virtual_power.mass(mechanism).fixed(mechanism.numbers.values).function.call([ca.vec(pose.T)])[0]
        inertia = carry.T @ ca.reshape(mass, 6, 6) @ carry
        function = ca.Function("derivatives", [place], [inertia, ca.jacobian(ca.vec(inertia), place)])
        got = ParameterVector(*evaluate(mechanism, matrices(mechanism, None, "euler"), x, xdot))
        for k in range(len(x)):
            matrix, slope = (np.array(value) for value in function(x[k]))
            derivatives = slope.reshape(6, 6, 6).transpose(2, 0, 1)
            u = np.einsum("j,ijk->ik", xdot[k], derivatives)
            change = np.einsum("kij,k->ij", derivatives, xdot[k])
            coriolis = 0.5 * (change + u.T - u)
            assert_close(got.inertia[k][None], matrix[None], MATRICES)
            assert_close(got.coriolis[k][None], coriolis[None], MATRICES)
            rest = change - 2 * got.coriolis[k]
            assert_close(rest[None], -rest.T[None], MATRICES, scale=np.abs(coriolis).max())

    @pytest.mark.parametrize("part", mostly_long([None, *PARTS], (None, "actuators")))
    def test_are_the_base_matrices_carried_by_t(self, part: str | None) -> None:
        """I_E = T^T I_B T (28); V_B = T^-T (V_E - T^T I_B Tdot) T^-1; G_E = T^T G_B."""
        model, s = case("lopes", "random")
        x, xdot = euler_states(s)
        t, tdot = _transformations(x, xdot)
        euler = lagrangian(model, "euler").matrices(x, xdot, part)
        base = lagrangian(model).matrices(_poses(x), apply(t, xdot), part)
        back = t.swapaxes(1, 2)
        scale = np.abs(lagrangian(model).matrices(_poses(x), apply(t, xdot)).inertia).max(axis=(1, 2))
        assert_close(euler.inertia, back @ base.inertia @ t, MATRICES, scale)
        assert_close(euler.coriolis, back @ (base.coriolis @ t + base.inertia @ tdot), MATRICES, scale)
        assert_close(euler.gravity, apply(back, base.gravity), MATRICES, 9.81 * scale)

    def test_equations_70_to_72_give_the_forces(self) -> None:
        """tau = J_E^-T (I xddot + V xdot + G), (14) corrected, and by M_B = J_A^-T M_E, (13) corrected."""
        path = lopes_path()
        model, _ = case("lopes")
        wanted = model.inverse_dynamics(path.pose, path.twist, path.acceleration)
        assert_close(solve(path.jacobian_e.swapaxes(1, 2), path.force_e), wanted, TOLERANCE)
        base = np.concatenate([path.force_e[:, :3], solve(path.turning.swapaxes(1, 2), path.force_e[:, 3:])], axis=1)
        assert_close(solve(path.jacobian_c.swapaxes(1, 2), base), wanted, TOLERANCE)

    @pytest.mark.parametrize("convention", ["ZYX", "XYZ", "ZXZ", "YXY", "xyz", "zyx", "zxz"])
    def test_any_convention(self, convention: str) -> None:
        """R as SciPy turns; J_A from the derivative of R: omega~ = dR/dt R^T."""
        draw = np.random.default_rng(3)
        angles, rates = draw.normal(size=(2, 3))
        symbols = ca.SX.sym("angles", 3)
        rotation, turning = euler_axes(convention, symbols)
        slope = ca.jtimes(rotation, symbols, ca.DM(rates))
        values = ca.Function("euler", [symbols], [rotation, turning, slope])(angles)
        r, j, dr = (np.array(value) for value in values)
        assert_close(r[None], Rotation.from_euler(convention, angles).as_matrix()[None], 1e-14)
        assert_close((dr @ r.T)[None], skew(j @ rates)[None], 1e-14)

    def test_follow_the_robots_convention(self) -> None:
        model, s = case("lopes")
        robot = model.robot.model_copy(update={"euler": "XYZ"})
        angles = Rotation.from_matrix(s.pose[:, :3, :3]).as_euler("XYZ")
        x, xdot = np.concatenate([s.pose[:, :3, 3], angles], axis=1), s.twist
        mechanism = Mechanism(robot)
        pose, twist = evaluate(mechanism, motion_of(mechanism), x, xdot)
        assert_close(pose, s.pose, 1e-14)
        kinetic = model.energy(pose, twist).kinetic
        inertia = lagrangian(pp.Model(robot), "euler").matrices(x, xdot).inertia
        assert_close(0.5 * np.einsum("ni,nij,nj->n", xdot, inertia, xdot), kinetic, MATRICES)


def euler_states(s: sample.States) -> tuple[Array, Array]:
    """x = [p, psi, theta, phi] of the poses, and rates of the size of the twists."""
    angles = Rotation.from_matrix(s.pose[:, :3, :3]).as_euler("ZYX")
    return np.concatenate([s.pose[:, :3, 3], angles], axis=1), s.twist


def _about(number: int, angle: ca.SX) -> ca.SX:
    c, s, i, j = ca.cos(angle), ca.sin(angle), (number + 1) % 3, (number + 2) % 3
    matrix = ca.SX.eye(3)
    matrix[i, i], matrix[j, j], matrix[i, j], matrix[j, i] = c, c, -s, s
    return matrix


def _poses(x: Array) -> Array:
    pose = np.tile(np.eye(4), (len(x), 1, 1))
    pose[:, :3, 3], pose[:, :3, :3] = x[:, :3], Rotation.from_euler("ZYX", x[:, 3:]).as_matrix()
    return pose


def _turning(angles: Array) -> Array:
    """J_A (9) for angles (n, 3), real or complex."""
    psi, theta, zero = angles[:, 0], angles[:, 1], 0 * angles[:, 0]
    rows = [
        [zero, -np.sin(psi), np.cos(theta) * np.cos(psi)],
        [zero, np.cos(psi), np.cos(theta) * np.sin(psi)],
        [zero + 1, zero, -np.sin(theta)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=1)


def _transformations(x: Array, xdot: Array) -> tuple[Array, Array]:
    """T (29) and its time derivative, by a complex step."""
    t, tdot = np.zeros((2, len(x), 6, 6))
    t[:, :3, :3], t[:, 3:, 3:] = np.eye(3), _turning(x[:, 3:])
    tdot[:, 3:, 3:] = _turning(x[:, 3:] + 1e-30j * xdot[:, 3:]).imag / 1e-30
    return t, tdot


class Motion(NamedTuple):
    """States of Lopes' example, P1 -> P2 -> P1 in 2 s, in both coordinates."""

    x: Array
    xdot: Array
    pose: Array
    twist: Array
    acceleration: Array
    turning: Array
    jacobian_c: Array
    jacobian_e: Array
    matrices: ParameterVector
    force_e: Array


@cache
def lopes_path() -> Motion:
    """s(t) = (1 - cos(pi t))/2 on position and Euler angles; the paper prints no timing."""
    t = np.linspace(0.0, 2.0, 401)[:, None]
    way = np.array([-0.1, -0.2, 0.5, *np.deg2rad([15.0, -15.0, 15.0])])
    x = np.array([0, 0, 2.0, 0, 0, 0]) + 0.5 * (1 - np.cos(np.pi * t)) * way
    xdot, xddot = 0.5 * np.pi * np.sin(np.pi * t) * way, 0.5 * np.pi**2 * np.cos(np.pi * t) * way
    transform, change = _transformations(x, xdot)
    model, _ = case("lopes")
    pose = _poses(x)
    jacobian = model.jacobian(pose)
    matrices = lagrangian(model, "euler").matrices(x, xdot)
    force = apply(matrices.inertia, xddot) + apply(matrices.coriolis, xdot) + matrices.gravity
    twist, acceleration = apply(transform, xdot), apply(transform, xddot) + apply(change, xdot)
    return Motion(
        x, xdot, pose, twist, acceleration, transform[:, 3:, 3:], jacobian, jacobian @ transform, matrices, force
    )


class Links(NamedTuple):
    """a_i (6, n, 3) from actuator to platform joint, and inertia matrices of the links, (n, 6, 6) each."""

    along: list[Array]
    translating: Array
    rotating: Array


def lopes_links(path: Motion, row: Callable[[int], int] = lambda i: i) -> Links:
    """(44)-(48) and (58)-(62) written out: J_B and J_D with the ``row`` of J_C that a link is given."""
    model, _ = case("lopes")
    length, b_cm, mass, moments = 1.837, 0.918, 0.389, np.diag([0.0, 0.1, 0.1])
    q = model.inverse_kinematics(path.pose)
    translating, rotating = np.zeros((2, len(q), 6, 6))
    along = []
    for i, leg in enumerate(model.robot.legs):
        arm = apply(path.pose[:, :3, :3], np.array(leg.platform))
        a = path.x[:, :3] + arm - np.array(leg.rail_start)
        a[:, 2] -= q[:, i]
        tip = np.concatenate([np.tile(np.eye(3), (len(q), 1, 1)), -skew(arm)], axis=2)
        slide = np.zeros((len(q), 3, 6))
        slide[:, 2] = path.jacobian_c[:, row(i)]
        j_b = (1 - b_cm / length) * tip + b_cm / length * slide
        j_d = skew(a) @ (tip - slide) / length**2
        x_l = a / length
        y_l = np.stack([-a[:, 1], a[:, 0], 0 * a[:, 0]], axis=1) / np.hypot(a[:, 0], a[:, 1])[:, None]
        axes = np.stack([x_l, y_l, np.cross(x_l, y_l)], axis=-1)
        translating += mass * j_b.swapaxes(1, 2) @ j_b
        rotating += j_d.swapaxes(1, 2) @ axes @ moments @ axes.swapaxes(1, 2) @ j_d
        along.append(a)
    return Links(along, translating, rotating)


class TestLopesByHand:
    def test_platform(self) -> None:
        """(18)-(23), and V = -I omega~ + (S omega)~ with S = tr(I)/2 1 - I, whose V omega is omega x I omega."""
        path, (model, _) = lopes_path(), case("lopes")
        got = lagrangian(model).matrices(path.pose, path.twist, "platform")
        rotation, omega = path.pose[:, :3, :3], path.twist[:, 3:]
        tensor = rotation @ np.diag([0.2, 0.2, 0.4]) @ rotation.swapaxes(1, 2)
        inertia, coriolis = np.zeros((2, len(omega), 6, 6))
        inertia[:, :3, :3], inertia[:, 3:, 3:] = 1.43 * np.eye(3), tensor
        coriolis[:, 3:, 3:] = skew(0.4 * omega - apply(tensor, omega)) - tensor @ skew(omega)
        assert_close(got.inertia, inertia, MATRICES)
        assert_close(got.coriolis, coriolis, MATRICES, scale=1.0)
        assert_close(got.gravity, np.broadcast_to([0, 0, 1.43 * 9.81, 0, 0, 0], got.gravity.shape), MATRICES)

    def test_actuators(self) -> None:
        """(40), and (68): G = m_A g Sum of the rows of J_C."""
        path, (model, _) = lopes_path(), case("lopes")
        got = lagrangian(model).matrices(path.pose, path.twist, "actuators")
        assert_close(got.inertia, 0.123 * path.jacobian_c.swapaxes(1, 2) @ path.jacobian_c, MATRICES)
        assert_close(got.gravity, 0.123 * 9.81 * path.jacobian_c.sum(axis=1), MATRICES)

    def test_links(self) -> None:
        """(46)-(48) and (62)-(63) with every link's own row of J_C."""
        path, (model, _) = lopes_path(), case("lopes")
        links, numbers = lopes_links(path), lagrangian(model)
        assert_close(numbers.matrices(path.pose, path.twist, "translating links").inertia, links.translating, MATRICES)
        assert_close(numbers.matrices(path.pose, path.twist, "rotating links").inertia, links.rotating, MATRICES)

    def test_golden_forces(self) -> None:
        """Forces computed elsewhere with 50 digits."""
        file = Path(__file__).parent.parent / "data" / "golden" / "lopes.json"
        for state in json.loads(file.read_text())["states"]:
            motion = (np.array(state[key]) for key in ("pose", "twist", "acceleration", "wrench"))
            got = case("lopes").model.inverse_dynamics(*motion, formulation="lagrange")
            assert_close(got[None], np.array(state["force"])[None], 1e-13)


class TestErrata:
    """Equations as printed, run here only: how far off they are along Lopes' example path.

    Sizes are of the largest difference over the largest right value on the path, or root mean squares. They are
    recorded here: nobody else has printed them. They say how much an erratum matters, not what is right.
    """

    def test_13_moment_from_euler_to_base(self) -> None:
        """Printed M_B = J_A^T M_E for J_A^-T M_E: up to 26 % of the moment in a state; none where angles are zero."""
        path = lopes_path()
        moment = path.force_e[:, 3:]
        right, printed = solve(path.turning.swapaxes(1, 2), moment), apply(path.turning.swapaxes(1, 2), moment)
        off = np.linalg.norm(printed - right, axis=1) / np.linalg.norm(right, axis=1)
        assert off.max() == pytest.approx(0.259, abs=5e-4)
        assert off[0] < 1e-14

    def test_14_forces_of_the_actuators(self) -> None:
        """Printed tau = J_E^T f for J_E^-T f: the largest force is five times too large."""
        path = lopes_path()
        right, printed = (
            solve(path.jacobian_e.swapaxes(1, 2), path.force_e),
            apply(path.jacobian_e.swapaxes(1, 2), path.force_e),
        )
        assert np.abs(printed).max() / np.abs(right).max() == pytest.approx(4.81, abs=5e-3)

    def test_46_63_indices_of_the_jacobian(self) -> None:
        """Printed J_C1j for every link in place of J_Cij: 77 % and 46 % of the links' inertia matrices (rms)."""
        path = lopes_path()
        right, printed = lopes_links(path), lopes_links(path, lambda i: 0)
        off = [np.linalg.norm(p - r) / np.linalg.norm(r) for p, r in zip(printed[1:], right[1:], strict=True)]
        assert off == pytest.approx([0.772, 0.459], abs=5e-4)

    def test_63_entry_2_3(self) -> None:
        """Printed -a_z(1 - J_C13) for -a_x(1 - J_C13): no effect, as J_Ci3 = 1 with vertical actuators."""
        assert_close(lopes_path().jacobian_c[:, :, 2], np.ones((401, 6)), 1e-14)

    def test_77_78_derivatives_by_rates(self) -> None:
        """Printed dI/d(xdot) = 0 leaves V = Idot/2: the Coriolis forces are off by 93 % (rms), 88 % at the peak."""
        path = lopes_path()
        numbers, step = lagrangian(case("lopes").model, "euler"), 1e-5
        ahead, behind = (numbers.matrices(path.x + h * path.xdot, path.xdot).inertia for h in (step, -step))
        printed = apply((ahead - behind) / (4 * step), path.xdot)
        right = apply(path.matrices.coriolis, path.xdot)
        right, printed = (solve(path.jacobian_e.swapaxes(1, 2), force) for force in (right, printed))
        assert np.linalg.norm(printed - right) / np.linalg.norm(right) == pytest.approx(0.928, abs=5e-4)
        assert np.abs(printed - right).max() / np.abs(right).max() == pytest.approx(0.882, abs=5e-4)

    def test_58_to_60_links_do_spin(self) -> None:
        """Printed omega_L . n = 0; the universal joint spins the link at up to 0.52 rad/s, 80 % of the largest omega_L.

        The spin is taken from the link frame's turning between two poses of the model.
        """
        path, (model, _) = lopes_path(), case("lopes")
        step = 1e-6
        ahead, behind = (model.bodies(_poses(path.x + h * path.xdot)) for h in (step, -step))
        spin, size = [], []
        for leg in model.legs:
            turn = ahead[f"{leg}.link"][:, :3, :3] @ behind[f"{leg}.link"][:, :3, :3].swapaxes(1, 2)
            omega = Rotation.from_matrix(turn).as_rotvec() / (2 * step)
            spin.append(np.einsum("ni,ni->n", omega, ahead[f"{leg}.link"][:, :3, 2]))
            size.append(np.linalg.norm(omega, axis=1))
        assert np.abs(spin).max() == pytest.approx(0.518, abs=5e-4)
        assert np.abs(spin).max() / np.max(size) == pytest.approx(0.799, abs=5e-4)


class TestCost:
    @pytest.mark.parametrize(
        ("name", "most"),
        [
            ("lopes", 3_400),
            ("staicu", 850),
            pytest.param("kim-ryu", 14_000, marks=pytest.mark.long),
            pytest.param("long", 17_000, marks=pytest.mark.long),
            pytest.param("pedrammehr", 18_000, marks=pytest.mark.long),
        ],
    )
    def test_operations_of_the_forces(self, name: str, most: int) -> None:
        kernel = case(name).model.kernel("inverse_dynamics", formulation="lagrange")
        assert kernel.operations < most

    def test_operations_beside_lopes_table_1(self) -> None:
        """62,706 operations for I and V in Table 1; leg by leg in three coordinates it is a sixteenth of that."""
        mechanism = Mechanism(case("lopes").model.robot)
        assert matrices(mechanism, coordinates="euler").graph.count < (57_765 + 4_941) / 15


class TestNumbers:
    def test_batches(self) -> None:
        model, s = case("lopes")
        numbers = lagrangian(model)
        whole = numbers.matrices(s.pose, s.twist)
        grid = numbers.matrices(s.pose.reshape(2, 8, 4, 4), s.twist.reshape(2, 8, 6))
        one = numbers.matrices(RigidTransform.from_matrix(s.pose[3]), s.twist[3])
        assert grid.coriolis.shape == (2, 8, 6, 6)
        assert np.array_equal(grid.coriolis.reshape(16, 6, 6), whole.coriolis)
        # SciPy keeps a quaternion.
        assert_close(one.coriolis[None], whole.coriolis[3][None], 1e-14)
        assert np.array_equal(numbers.matrices(s.pose[3], s.twist).coriolis[3], whole.coriolis[3])
        assert numbers.matrices(s.pose[:0], s.twist[:0]).gravity.shape == (0, 6)
        euler = lagrangian(model, "euler")
        x, xdot = euler_states(s)
        assert euler.matrices(x.reshape(4, 4, 6), xdot[0]).inertia.shape == (4, 4, 6, 6)

    def test_lower_mobility_has_its_own_coordinates(self) -> None:
        model, s = case("staicu")
        assert lagrangian(model).matrices(s.pose, s.twist).inertia.shape == (16, 3, 3)
        with refused(InputError, "staicu y z theta base"):
            lagrangian(model, "euler")

    def test_bad_arguments(self) -> None:
        model, s = case("lopes")
        with refused(UnknownNameError, what="part", name="links", known="actuators"):
            lagrangian(model).matrices(s.pose, s.twist, "links")
        with refused(UnknownNameError, what="coordinates", name="quaternion", known="euler"):
            lagrangian(model, "quaternion")
        with refused(InputError, "twist 6 5"):
            lagrangian(model).matrices(s.pose[0], np.zeros(5))
        with refused(InputError, "x 6 3"):
            lagrangian(model, "euler").matrices(np.zeros(3), np.zeros(6))
        with refused(InputError, code="batch_axes"):
            lagrangian(model, "euler").matrices(np.zeros((2, 6)), np.zeros((3, 6)))

    def test_out_of_reach(self) -> None:
        """No part is given for a pose the robot cannot take, not even the platform's own."""
        model, s = case("lopes")
        far = s.pose[:2].copy()
        far[1, 0, 3] = 9.0
        with pytest.warns(StateWarning):
            got = lagrangian(model).matrices(far, s.twist[:2], "platform")
        assert np.isfinite(got.inertia[0]).all()
        assert np.isnan(got.inertia[1]).all()
        with refused(StateError, code="leg"):
            lagrangian(model).matrices(far[1], s.twist[1])
