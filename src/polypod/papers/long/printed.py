"""Long, Khalil and Martinet, equations (1)-(49): corrected, and as printed where asked, in plain arrays.

What is wrong as printed runs here only. ``printed`` names the equations to take at their word. Arrays have the time
first: (T, 6, 3) for legs. Everything is in base axes; (34) is turned there from platform axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...description import Integrals, Modes
from ...motion import Motion
from ..shared.arrays import cross, rotated_tensor, skew, solve, times

# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet: Tables 3 and 4, and the choices that make Table 4 close.

JOINTS = np.array(
    [
        [-1.671, -1.373, -2.016, -1.958, -1.656, -1.936],
        [1.767, 1.764, 1.814, 1.859, 1.389, 1.345],
        [1.025, 1.039, 1.142, 1.126, 1.0203, 1.099],
    ]
).T
"""Table 4: q_1 [rad], q_2 [rad], q_3 [m] of each leg in the initial pose, (6, 3)."""

BASE = np.array([[0.1, 0.3, 1.3, 1.0, -0.2, -0.7], [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5], np.zeros(6)]).T
"""Table 4: b_j in the world frame [m], (6, 3)."""

_OFFSETS = BASE - BASE[0]
GAMMA = np.arctan2(_OFFSETS[:, 1], _OFFSETS[:, 0])
"""gamma_1i of Table 1 if the base frame sits at b_1 with x towards b_2: the choice that closes Table 4 [rad]."""

GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Link:
    """Inertial parameters of a link about the origin and in the axes of its frame."""

    tensor: Array
    first: Array
    mass: float

    def central(self) -> Array:
        """Its tensor about the centre of mass, which no body can have if a moment is negative."""
        c = self.first / self.mass
        return self.tensor - self.mass * (c @ c * np.eye(3) - np.outer(c, c))


def _tensor(xx: float, yy: float, zz: float, xy: float = 0.0) -> Array:
    return np.array([[xx, xy, 0.0], [xy, yy, 0.0], [0.0, 0.0, zz]])


LINKS = (
    Link(_tensor(0.0, 0.0, 5.11), np.zeros(3), 3.176),
    Link(_tensor(4.823, 0.945, 5.11, 0.215), np.array([4.29, -12.628, 0.0]), 30.176),
    Link(_tensor(1.068, 1.068, 0.0234), np.array([0.0, 0.0, -3.018]), 5.390),
)
"""Table 3."""

ROTOR = 45.89
"""IA of link 3: on a prismatic joint it is a mass [kg]."""


def heavier(number: int, factor: float) -> tuple[Link, ...]:
    """The links with the mass of one changed and all else as it is."""
    return tuple(replace(link, mass=factor * link.mass) if k == number else link for k, link in enumerate(LINKS))


# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet, equations (1)-(49): corrected, and as printed where asked, in plain arrays.

NOTHING: frozenset[str] = frozenset()
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class State:
    """Motion of the platform's frame and its elastic coordinates and rates (T, N)."""

    motion: Motion
    elastic: Array
    rate: Array

    @property
    def shape(self) -> dict[str, Any]:
        """The platform's shape and how it changes, as a model's functions take them."""
        return {"elastic": self.elastic, "elastic_rate": self.rate}


@dataclass(frozen=True)
class System:
    """(41)-(49) at a state: the parts that both problems need."""

    A: Array
    c: Array
    J_sys: Array
    A_ee: Array
    coupling: Array
    J_e: Array
    c_e: Array

    def inverse(self, acceleration: Array) -> tuple[Array, Array]:
        """Actuator forces by (46) and elastic accelerations by (44)."""
        force = solve(self.J_sys, times(self.A, acceleration) + self.c)
        return force, self.bend(force, acceleration)

    def direct(self, force: Array) -> tuple[Array, Array]:
        """Accelerations of the frame by (46) and elastic ones by (44)."""
        acceleration = solve(self.A, times(self.J_sys, force) - self.c)
        return acceleration, self.bend(force, acceleration)

    def bend(self, force: Array, acceleration: Array) -> Array:
        """Elastic accelerations (T, N) from forces and the frame's acceleration, (44)."""
        push = times(self.J_e, force) - times(np.swapaxes(self.coupling, -1, -2), acceleration) - self.c_e
        return solve(self.A_ee, push)


# -- the legs, section 3 ----------------------------------------------------------------------------------------------


def world(columns: Array) -> Array:
    """Matrices (..., 6, 3, k) of the legs' base frames in world axes: Rz(gamma_i)."""
    c, s, zero = np.cos(GAMMA), np.sin(GAMMA), np.zeros(6)
    turn = np.stack([np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.tile(_UP, (6, 1))], -2)
    product: Array = turn @ columns
    return product


def tips(q: Array) -> Array:
    """The legs' ends in the world (..., 6, 3): b_i + q_3 a_3."""
    return BASE + q[..., 2:] * world(jacobian(q))[..., 2]


def joints(ends: Array) -> Array:
    """q_1, q_2, q_3 (..., 6, 3) that place the legs' ends."""
    d = ends - BASE
    c, s = np.cos(GAMMA), np.sin(GAMMA)
    x, y, z = c * d[..., 0] + s * d[..., 1], c * d[..., 1] - s * d[..., 0], d[..., 2]
    length = np.sqrt(x * x + y * y + z * z)
    return np.stack([np.arctan2(-z, x), np.arccos(-y / length), length], axis=-1)


def _direction(q: Array) -> tuple[Array, ...]:
    """a_3 and its derivatives by q_1, q_2: a, a_1, a_2, a_11, a_12, a_22, in the frame of the leg's base."""
    (s1, c1), (s2, c2) = ((np.sin(q[..., k]), np.cos(q[..., k])) for k in (0, 1))
    zero = np.zeros_like(s1)
    rows = (
        (c1 * s2, -c2, -s1 * s2), (-s1 * s2, zero, -c1 * s2), (c1 * c2, s2, -s1 * c2),
        (-c1 * s2, zero, s1 * s2), (-s1 * c2, zero, -c1 * c2), (-c1 * s2, c2, s1 * s2),
    )  # fmt: skip
    return tuple(np.stack(row, axis=-1) for row in rows)


def jacobian(q: Array) -> Array:
    """J_i of (3) in the frame of the leg's base, (..., 3, 3)."""
    a, a1, a2, *_ = _direction(q)
    length = q[..., 2:]
    return np.stack([length * a1, length * a2, a], axis=-1)


def jacobian_rate(q: Array, rate: Array) -> Array:
    """Time derivative of ``jacobian``."""
    _, a1, a2, a11, a12, a22 = _direction(q)
    w1, w2, speed, length = rate[..., :1], rate[..., 1:2], rate[..., 2:], q[..., 2:]
    columns = (
        speed * a1 + length * (a11 * w1 + a12 * w2),
        speed * a2 + length * (a12 * w1 + a22 * w2),
        a1 * w1 + a2 * w2,
    )
    return np.stack(columns, axis=-1)


def leg_torques(q: Array, rate: Array, acceleration: Array, gravity: Array, links: tuple[Link, ...] = LINKS) -> Array:
    """A_i qddot + c_i of a free leg (..., 3): Newton and Euler on the links of Table 3, in the leg's base frame."""
    s1, c1 = np.sin(q[..., 0]), np.cos(q[..., 0])
    zero = np.zeros_like(s1)
    a, *_ = _direction(q)
    z1 = np.broadcast_to(np.array([0.0, 1.0, 0.0]), a.shape)
    z2 = np.stack([s1, zero, c1], axis=-1)
    y2 = -a  # frame 3 is turned by pi/2 about x_2, so that a = z_3 = -y_2
    x2 = cross(y2, z2)
    x1 = np.stack([c1, zero, -s1], axis=-1)
    axes = (np.stack([x1, cross(z1, x1), z1], -1), np.stack([x2, y2, z2], -1), np.stack([x2, z2, a], -1))
    w1 = rate[..., :1] * z1
    w2 = w1 + rate[..., 1:2] * z2
    turn1 = acceleration[..., :1] * z1
    turn2 = turn1 + acceleration[..., 1:2] * z2 + cross(w1, rate[..., 1:2] * z2)
    arm = q[..., 2:] * a
    end = acceleration[..., 2:] * a + 2 * rate[..., 2:] * cross(w2, a) + cross(turn2, arm) + cross(w2, cross(w2, arm))
    motions = ((w1, turn1, 0 * a), (w2, turn2, 0 * a), (w2, turn2, end))
    forces, moments = [], []
    for link, frame, (w, turn, origin) in zip(links, axes, motions, strict=True):
        s, tensor = times(frame, np.broadcast_to(link.first, a.shape)), rotated_tensor(frame, link.tensor)
        pull = origin - gravity
        forces.append(link.mass * pull + cross(turn, s) + cross(w, cross(w, s)))
        moments.append(times(tensor, turn) + cross(w, times(tensor, w)) + cross(s, pull))
    outer = moments[1] + moments[2] + cross(arm, forces[2])
    push = (a * forces[2]).sum(-1) + ROTOR * acceleration[..., 2]
    return np.stack([(z1 * (moments[0] + outer)).sum(-1), (z2 * outer).sum(-1), push], axis=-1)


def leg_inertia(q: Array, links: tuple[Link, ...] = LINKS) -> Array:
    """A_i (..., 3, 3), a column for a unit of each joint acceleration."""
    columns = [leg_torques(q, 0 * q, 0 * q + unit, np.zeros(3), links) for unit in np.eye(3)]
    return np.stack(columns, axis=-1)


# -- the platform, section 4, and the whole, section 5 -----------------------------------------------------------------


def system(modes: Modes, s: State, printed: frozenset[str] = NOTHING, links: tuple[Link, ...] = LINKS) -> System:
    """Matrices of the whole robot in given states, (11)-(49); ``printed`` names equations taken as printed."""
    count, n = len(s.elastic), modes.count
    R, omega = s.motion.pose[:, :3, :3], s.motion.twist[:, 3:]
    shape = R[:, None] @ modes.attachment_shapes
    bend = s.rate if "(12)" in printed else s.elastic
    arm = times(R[:, None], modes.attachments) + times(shape, bend[:, None])  # (12)
    flow, w = times(shape, s.rate[:, None]), omega[:, None]
    velocity = s.motion.twist[:, None, :3] + cross(w, arm) + flow  # (18)
    h = cross(w, cross(w, arm)) + 2 * cross(w, flow)  # (24)
    q = joints(s.motion.pose[:, None, :3, 3] + arm)  # (11)
    J = world(jacobian(q))
    rate = solve(J, velocity)  # (2)
    back = np.linalg.inv(J)
    A_x = np.swapaxes(back, -1, -2) @ leg_inertia(q, links) @ back
    drift = velocity if "(36)" in printed else times(world(jacobian_rate(q, rate)), rate)
    c_x = times(np.swapaxes(back, -1, -2), leg_torques(q, rate, 0 * rate, GRAVITY, links)) - times(A_x, drift)
    W_p = np.concatenate([np.broadcast_to(np.eye(3), (*arm.shape, 3)), skew(arm)], axis=-2)  # (31)
    W_e = np.swapaxes(shape, -1, -2)
    a = J[..., 2]
    J_p, J_e = times(W_p, a), times(W_e, a)  # (33), a leg in each row
    mass, c_r, c_e = platform(modes, s, printed)
    if "(40)" in printed:
        h, carried = h + flow, np.zeros_like(shape)
    else:
        carried = A_x @ shape
    load = times(A_x, h) + c_x
    total = np.zeros((count, 6 + n, 6 + n))
    total[:, :6, :6] = mass[:, :6, :6] + (W_p @ A_x @ np.swapaxes(W_p, -1, -2)).sum(1)
    total[:, :6, 6:] = mass[:, :6, 6:] + (W_p @ carried).sum(1)
    total[:, 6:, :6] = mass[:, 6:, :6] + (W_e @ A_x @ np.swapaxes(W_p, -1, -2)).sum(1)
    total[:, 6:, 6:] = mass[:, 6:, 6:] + (W_e @ carried).sum(1)
    c_r, c_e = c_r + times(W_p, load).sum(1), c_e + times(W_e, load).sum(1)
    J_p, J_e = np.swapaxes(J_p, -1, -2), np.swapaxes(J_e, -1, -2)
    spread = total[:, :6, 6:] @ np.linalg.inv(total[:, 6:, 6:])  # (A_re + W_p A_x W_e^T) A_ee^-1
    return System(
        A=total[:, :6, :6] - spread @ total[:, 6:, :6],  # (47)
        c=c_r - times(spread, c_e),  # (49)
        J_sys=J_p - spread @ J_e,  # (48)
        A_ee=total[:, 6:, 6:],  # (45)
        coupling=np.swapaxes(total[:, 6:, :6], -1, -2),
        J_e=J_e,
        c_e=c_e,
    )


def platform(modes: Modes, s: State, printed: frozenset[str] = NOTHING) -> tuple[Array, Array, Array]:
    """(34) in base axes: the inertia matrix (T, 6 + N, 6 + N), and what is left of force and moment and elastic forces.

    Centrifugal and Coriolis parts, which the paper does not write out, are summed over the nodes.
    """
    R = s.motion.pose[:, :3, :3]
    integrals = Integrals.of(modes)
    mass = integrals.mass_matrix(s.elastic)
    if "(34) I_0p" in printed:
        mass[:, 3:6, 3:6] = integrals.inertia
    if "(34) lambda" in printed:
        product = np.einsum("kiaa->ika", integrals.shape_shape)
        coupling = integrals.beta + np.einsum("ika,tk->tai", product, s.elastic)
        mass[:, 3:6, 6:], mass[:, 6:, 3:6] = coupling, np.swapaxes(coupling, -1, -2)
    back = np.swapaxes(R, -1, -2)
    w = times(back, s.motion.twist[:, 3:])[:, None]
    rho = modes.nodes + np.einsum("nak,tk->tna", modes.shapes, s.elastic)
    flow = np.einsum("nak,tk->tna", modes.shapes, s.rate)
    pull = cross(w, cross(w, rho)) + 2 * cross(w, flow) - times(back, np.broadcast_to(GRAVITY, (len(R), 3)))[:, None]
    pull = modes.masses[:, None] * pull
    force, moment = times(R, pull.sum(1)), times(R, cross(rho, pull).sum(1))
    elastic = np.einsum("nak,tna->tk", modes.shapes, pull)
    elastic = elastic + modes.stiffness * s.elastic + modes.generalized_damping * s.rate
    turn = np.zeros_like(mass)
    turn[:, :3, :3] = turn[:, 3:6, 3:6] = R
    turn[:, 6:, 6:] = np.eye(modes.count)
    return turn @ mass @ np.swapaxes(turn, -1, -2), np.concatenate([force, moment], axis=-1), elastic
