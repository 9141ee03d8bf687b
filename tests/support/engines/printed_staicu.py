"""Staicu's manipulator in plain NumPy, equation by equation in the paper's own frames, as printed or corrected.

``forces(x, xdot, xddot, printed)`` is the inverse dynamic model (1)-(18) for y, z, theta and their rates; ``printed``
names the lines to take as the paper prints them (keys of :data:`ERRATA`), all others are right. Parameters are the
paper's, with the choices it leaves open: inertia tensors about the joints, centres of mass mid-link and 0.069035 m
from C5 on the platform.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

r, R, L = 0.1, 0.25, 0.4
m1, m2, m3 = 0.9751, 0.9803, 8.1573
g = 9.806
h = np.sqrt(L**2 - (R - r) ** 2)
alpha = np.arcsin((R - r) / L)
b = 0.03  # half length of the short bars: not printed, no force depends on it

u1, u2, u3 = np.eye(3)
tilde3 = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

# name: (equation, printed form, corrected form)
ERRATA = {
    "6 C": ("(6) C", "c20^T r43", "c30^T r43"),
    "13 line 1": ("(13) line 1", "c eps_{k,k-1}", "c eps_{k-1,0}"),
    "13 line 3": ("(13) line 3", "c gamma_{k,k-1} + gamma_{k,k-1}", "c gamma_{k-1,0}"),
    "14 C arm": ("(14), (15) C", "r c20^T u3~ c32^T u2", "r c20^T u3~ c52^T u1"),
    "14 C length": ("(14), (15) C", "omega54 L c50^T u3~ u1", "omega54 r c50^T u3~ u1"),
    "15 A, B": ("(15) A, B", "omega21^2 L a20^T u3~ u1", "omega21^2 L a20^T u3~ u3~ u1"),
    "15 C 32": ("(15) C", "omega32^2 L c30^T u3~ u2", "omega32^2 L c30^T u3~ u3~ u2"),
    "15 C 54": ("(15) C", "omega54^2 r c50^T u3~ u1", "omega54^2 r c50^T u3~ u3~ u1"),
    "15 C 21 32": ("(15) C", "2 omega21 omega32 L c20^T u3~ u2", "2 omega21 omega32 L c20^T u3~ c32^T u3~ u2"),
    "15 C 21 54": (
        "(15) C",
        "2 omega21 omega54 r c20^T u3~ c52^T u1",
        "2 omega21 omega54 r c20^T u3~ c52^T u3~ u1",
    ),
    "18": ("(18)", "serial recursion only", "T6 hangs on T2 too: c62^T F6, c62^T M6 + r62~ c62^T F6"),
}


def tilde(v: Array) -> Array:
    """The matrix v~ with v~ w = v x w."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turn(phi: float) -> Array:
    """a^phi of (2)."""
    c, s = np.cos(phi), np.sin(phi)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


a1 = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
a2 = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
a3 = np.diag([-1.0, -1.0, 1.0])
a4 = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
a5 = np.diag([-1.0, 1.0, -1.0])
a6 = np.array([[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])


def trajectory(t: Array | float) -> tuple[Array, Array, Array]:
    """y, z, theta of (5) and their first and second derivatives, (..., 3) each."""
    t = np.asarray(t, dtype=float)
    w = 4 * np.pi
    x = [-(t**4) + 1.3 * t**3 - 0.3 * t**2, 0.4 * t**4 - 0.2 * t**3 - 0.2 * t**2, 0.4 * np.sin(w * t)]
    dx = [-4 * t**3 + 3.9 * t**2 - 0.6 * t, 1.6 * t**3 - 0.6 * t**2 - 0.4 * t, 0.4 * w * np.cos(w * t)]
    ddx = [-12 * t**2 + 7.8 * t - 0.6, 4.8 * t**2 - 1.2 * t - 0.4, -0.4 * w**2 * np.sin(w * t)]
    return np.stack(x, axis=-1), np.stack(dx, axis=-1), np.stack(ddx, axis=-1)


@dataclass(frozen=True)
class Geometry:
    """Displacements and angles that close (6), and the passing matrices (1)."""

    sliders: Array
    phi21_a: float
    phi21_b: float
    phi21_c: float
    phi32: float
    phi54: float

    @staticmethod
    def of(x: Array) -> Geometry:
        """The inverse geometric model in closed form."""
        y, z, theta = x
        s = np.sqrt([L**2 - (R - r + y) ** 2, L**2 - (R - r - y) ** 2, L**2 - y**2 - (R - r * np.cos(theta)) ** 2])
        sliders = z - h + s + np.array([0.0, 0.0, r * np.sin(theta)])
        phi21_c = np.arctan2(R - r * np.cos(theta), s[2]) - alpha
        phi21_a, phi21_b = np.arcsin((R - r + y) / L) - alpha, np.arcsin((R - r - y) / L) - alpha
        return Geometry(sliders, phi21_a, phi21_b, phi21_c, np.arcsin(y / L), phi21_c + theta)

    @property
    def a21(self) -> Array:
        return turn(self.phi21_a) @ turn(alpha) @ a4

    @property
    def b21(self) -> Array:
        return turn(self.phi21_b) @ turn(alpha) @ a4

    @property
    def c(self) -> dict[str, Array]:
        """Passing matrices of leg C by their indices."""
        c21 = turn(self.phi21_c) @ turn(alpha) @ a4
        c32, c43 = turn(self.phi32) @ a4, turn(self.phi32) @ a5
        c54 = turn(self.phi54) @ turn(alpha) @ a6
        c20 = c21 @ a3
        c52 = c54 @ c43 @ c32
        named = {"21": c21, "32": c32, "43": c43, "54": c54, "62": c32, "20": c20, "30": c32 @ c20, "52": c52}
        return named | {"50": c52 @ c20}


def closure(x: Array, printed: Collection[str] = ()) -> tuple[Array, Array, Array]:
    """Left less right side of (6) for the legs A, B, C [m]."""
    geometry = Geometry.of(x)
    y, z, _ = x
    P = np.array([0.0, y, z - h])
    lift = geometry.sliders
    A = np.array([0.0, -R, lift[0]]) + (geometry.a21 @ a1).T @ (L * u1) + r * u2 - P
    B = np.array([0.0, R, lift[1]]) + (geometry.b21 @ a2).T @ (L * u1) - r * u2 - P
    c = geometry.c
    over = c["20"] if "6 C" in printed else c["30"]
    C = np.array([-R, 0.0, lift[2]]) + over.T @ (-L * u2) + c["50"].T @ (r * u1) - P
    return A, B, C


@dataclass(frozen=True)
class Rates:
    """Relative velocities (14) or accelerations (15): sliders v, omega21 of A, B, C, omega32 and omega54."""

    v: Array
    A21: float
    B21: float
    C21: float
    C32: float
    C54: float


def columns_c(c: dict[str, Array], printed: Collection[str]) -> tuple[Array, Array, Array, Array]:
    """Factors of v10, omega21, omega32 and omega54 in (14) for leg C."""
    arm = c["32"].T @ u2 if "14 C arm" in printed else c["52"].T @ u1
    length = L if "14 C length" in printed else r
    on21 = -c["20"].T @ tilde3 @ (L * c["32"].T @ u2 - r * arm)
    return u3, on21, -L * c["30"].T @ tilde3 @ u2, length * c["50"].T @ tilde3 @ u1


def connectivity(
    geometry: Geometry, xdot: Array, printed: Collection[str] = (), rhs: tuple[Array, Array, Array] | None = None
) -> Rates:
    """Relative velocities from the platform's (14), or accelerations with ``rhs`` the further terms of (15)."""
    P = np.array([0.0, xdot[0], xdot[1]])
    zero = (np.zeros(3),) * 3 if rhs is None else rhs
    v, turns = np.zeros(3), []
    for k, matrix in enumerate((geometry.a21 @ a1, geometry.b21 @ a2)):
        system = np.column_stack([u3, L * matrix.T @ tilde3 @ u1])[1:]
        v[k], omega = np.linalg.solve(system, (P + zero[k])[1:])
        turns.append(omega)
    slide, on21, on32, on54 = columns_c(geometry.c, printed)
    system = np.column_stack([slide, on21 + on54, on32])
    v[2], C21, C32 = np.linalg.solve(system, P + zero[2] - on54 * xdot[2])
    return Rates(v, turns[0], turns[1], C21, C32, C21 + xdot[2])


def second_rates(geometry: Geometry, rates: Rates, xddot: Array, printed: Collection[str] = ()) -> Rates:
    """Relative accelerations (15)."""
    twice = tilde3 @ tilde3
    hinge = tilde3 if "15 A, B" in printed else twice
    A = -(rates.A21**2) * L * (geometry.a21 @ a1).T @ hinge @ u1
    B = -(rates.B21**2) * L * (geometry.b21 @ a2).T @ hinge @ u1
    c = geometry.c
    on32 = tilde3 @ u2 if "15 C 32" in printed else twice @ u2
    on54 = tilde3 @ u1 if "15 C 54" in printed else twice @ u1
    both32 = tilde3 @ u2 if "15 C 21 32" in printed else tilde3 @ c["32"].T @ tilde3 @ u2
    both54 = tilde3 @ c["52"].T @ (u1 if "15 C 21 54" in printed else tilde3 @ u1)
    C = rates.C21**2 * c["20"].T @ twice @ (L * c["32"].T @ u2 - r * c["52"].T @ u1)
    C = C + rates.C32**2 * L * c["30"].T @ on32 - rates.C54**2 * r * c["50"].T @ on54
    C = C + 2 * rates.C21 * (rates.C32 * L * c["20"].T @ both32 - rates.C54 * r * c["20"].T @ both54)
    return connectivity(geometry, xddot, printed, (A, B, C))


@dataclass(frozen=True)
class Body:
    """Absolute motion of a body in its axes: omega_k0, eps_k0, gamma_k0, and a_k0."""

    omega: Array
    epsilon: Array
    gamma: Array
    to_base: Array

    @property
    def turning(self) -> Array:
        return tilde(self.omega) @ tilde(self.omega) + tilde(self.epsilon)

    def load(self, mass: float, com: Array, J: Array) -> tuple[Array, Array]:
        """F_k0 and M_k0 of (18)."""
        weight = -g * mass * self.to_base @ u3
        F = mass * (self.gamma + self.turning @ com) - weight
        M = mass * tilde(com) @ self.gamma + J @ self.epsilon + tilde(self.omega) @ J @ self.omega
        return F, M - tilde(com) @ weight


def step(before: Body, c: Array, arm: Array, rate: float, second: float, printed: Collection[str]) -> Body:
    """The next body of leg C by (11), (13)."""
    carried = second * u3 if "13 line 1" in printed else before.epsilon
    epsilon = c @ carried + second * u3 + rate * c @ tilde(before.omega) @ c.T @ u3
    shifted = np.zeros(3) if "13 line 3" in printed else before.gamma
    return Body(c @ before.omega + rate * u3, epsilon, c @ (shifted + before.turning @ arm), c @ before.to_base)


PLATE = 0.069035, np.diag([0.0269, 0.0658, 0.0501])
"""The platform's centre of mass from C5 along T5's x, and its tensor about C5 in the axes of T5."""


def forces(
    x: Array, xdot: Array, xddot: Array, printed: Collection[str] = (), platform: tuple[float, Array] = PLATE
) -> Array:
    """f10 of the actuators A, B, C (17) [N], positive up."""
    geometry = Geometry.of(np.asarray(x))
    rates = connectivity(geometry, xdot, printed)
    second = second_rates(geometry, rates, xddot, printed)
    rod, bar = np.diag([0.0006, 0.0524, 0.0524]), np.diag([0.0524, 0.0006, 0.0524])
    com, plate = platform
    F1, moments = np.zeros((3, 3)), {}
    for k, (a10, a21, name) in enumerate(((a1, geometry.a21, "A21"), (a2, geometry.b21, "B21"))):
        slider = Body(np.zeros(3), np.zeros(3), second.v[k] * u3, a10)
        link = Body(getattr(rates, name) * u3, getattr(second, name) * u3, a21 @ slider.gamma, a21 @ a10)
        F2, M2 = link.load(m2, L / 2 * u1, rod)
        F1[k] = slider.load(m1, np.zeros(3), np.zeros((3, 3)))[0] + a21.T @ F2
        moments[name] = M2[2]
    c = geometry.c
    T1 = Body(np.zeros(3), np.zeros(3), second.v[2] * u3, a3)
    T2 = step(T1, c["21"], np.zeros(3), rates.C21, second.C21, printed)
    T3, T6 = (step(T2, c["32"], side * u3, rates.C32, second.C32, printed) for side in (b, -b))
    T4 = step(T3, c["43"], -L * u2, rates.C32, second.C32, printed)
    T5 = step(T4, c["54"], -b * u1, rates.C54, second.C54, printed)
    F5, M5 = T5.load(m3, com * u1, plate)
    F4, M4 = c["54"].T @ F5, c["54"].T @ M5 + tilde(-b * u1) @ c["54"].T @ F5
    F3, M3 = T3.load(m2, -L / 2 * u2, bar)
    F3, M3 = F3 + c["43"].T @ F4, M3 + c["43"].T @ M4 + tilde(-L * u2) @ c["43"].T @ F4
    F6, M6 = T6.load(m2, -L / 2 * u2, bar)
    F2, M2 = c["32"].T @ F3, c["32"].T @ M3 + tilde(b * u3) @ c["32"].T @ F3
    if "18" not in printed:
        F2, M2 = F2 + c["62"].T @ F6, M2 + c["62"].T @ M6 + tilde(-b * u3) @ c["62"].T @ F6
    F1[2] = T1.load(m1, np.zeros(3), np.zeros((3, 3)))[0] + c["21"].T @ F2
    on32 = M3[2] + M4[2] + M6[2]
    result = np.zeros(3)
    jacobian = np.column_stack([connectivity(geometry, unit, printed).v for unit in np.eye(3)])
    for k, unit in enumerate(np.linalg.inv(jacobian).T):
        virtual = connectivity(geometry, unit, printed)
        result[k] = F1[k, 2] + virtual.A21 * moments["A21"] + virtual.B21 * moments["B21"]
        result[k] += virtual.C21 * M2[2] + virtual.C32 * on32 + virtual.C54 * M5[2]
    return result
