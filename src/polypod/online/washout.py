"""The classical washout filter: from specific force and angular velocity of a vehicle to the pose of a platform.

Structure of Reid and Nahon (UTIAS report 296, 1985, and 307, 1986). With the specific force f in axes of the cab, whose
excess over rest is scaled, and R the attitude of the cab,

    translation    p = s/((s^2 + 2 zeta w s + w^2)(s + w_b)) a,    a = R f + g         (its acceleration: high pass)
    tilt           sin(theta) = -f_x/g, sin(phi) = f_y/g of f through w^2/(s^2 + 2 zeta w s + w^2), at a limited rate
    rotation       beta = s/(s^2 + 2 zeta w s + w^2) E(beta) omega                         (its rate: high pass)

and the attitude is roll, pitch and yaw of tilt and rotation together. A steady force ends in a tilt, in which gravity
stands for it, and everything else returns to zero. Inputs are held over a period, over which the linear filters are
integrated by their Taylor series: to rounding for periods below a tenth of 1/w.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Kernel
from ..model.arguments import Argument, batch, check_finite
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Expression, Port, port
from ..symbols.vectors import Frame, axis_rotation

TERMS = 8
"""Of the Taylor series of a period."""
COEFFICIENTS = {
    "force_scale": 3, "rate_scale": 3, "translation_frequency": 3, "translation_damping": 3, "translation_washout": 3,
    "tilt_frequency": 2, "tilt_damping": 2, "rotation_frequency": 3, "rotation_damping": 3, "tilt_rate": 1,
    "gravity": 1,
}  # fmt: skip
"""Coefficients of the filter, and how many of each: of x, y and z."""
_MEMORY = 21
_STEEPEST = 0.99
"""Largest sine of a tilt."""


def _held(
    system: Callable[[Sequence[ca.SX], ca.SX | float], list[ca.SX]], x: list[ca.SX], u: ca.SX, h: ca.SX
) -> list[ca.SX]:
    """States after a period h of the linear system x' = system(x, u), its input held."""
    change = [h * part for part in system(x, u)]
    total = [a + b for a, b in zip(x, change, strict=True)]
    for k in range(2, TERMS + 1):
        change = [h / k * part for part in system(change, 0.0)]
        total = [a + b for a, b in zip(total, change, strict=True)]
    return total


def washout_step() -> Expression:
    """One period of the filter.

    Inputs: its ``memory`` (21), ``specific_force`` (3) and ``angular_velocity`` (3) of the vehicle in its axes, z
    upward, the ``coefficients`` in the order of ``COEFFICIENTS``, the ``neutral`` pose and the ``time`` of a period.
    Outputs: the memory after it, and the platform's ``pose`` and ``twist`` then.
    """
    memory, force, rate = ca.SX.sym("memory", _MEMORY), ca.SX.sym("force", 3), ca.SX.sym("rate", 3)
    count = sum(COEFFICIENTS.values())
    numbers, neutral, h = ca.SX.sym("coefficients", count), ca.SX.sym("neutral", 16), ca.SX.sym("time")
    given: dict[str, ca.SX] = {}
    start = 0
    for name, size in COEFFICIENTS.items():
        given[name] = numbers[start : start + size]
        start += size
    g, tilt_rate = given["gravity"], given["tilt_rate"]
    slow = [memory[9 + 2 * k : 11 + 2 * k] for k in range(2)]
    tilt, turning = memory[13:15], [memory[15 + 2 * k : 17 + 2 * k] for k in range(3)]
    upward = ca.vertcat(0, 0, g)
    felt = given["force_scale"] * (force - upward) + upward
    beta = ca.vertcat(*(turning[k][1] + (tilt[k] if k < 2 else 0) for k in range(3)))
    attitude = axis_rotation(2, beta[2]) @ axis_rotation(1, beta[1]) @ axis_rotation(0, beta[0])
    push = attitude @ felt - upward
    new: list[ca.SX] = []
    for k in range(3):
        w, z, b = (given[f"translation_{name}"][k] for name in ("frequency", "damping", "washout"))
        c0, c1, c2 = w**2 * b, w**2 + 2 * z * w * b, 2 * z * w + b
        new += _held(
            lambda x, u, c0=c0, c1=c1, c2=c2: [x[1], x[2], u - c2 * x[2] - c1 * x[1] - c0 * x[0]],  # type: ignore[misc]
            [memory[3 * k + i] for i in range(3)], push[k], h,
        )  # fmt: skip
    wanted = []
    for k in range(2):
        w, z = given["tilt_frequency"][k], given["tilt_damping"][k]
        passed = _held(
            lambda x, u, w=w, z=z: [x[1], w**2 * (u - x[0]) - 2 * z * w * x[1]],  # type: ignore[misc]
            [slow[k][0], slow[k][1]], felt[k], h,
        )  # fmt: skip
        new += passed
        sine = ca.fmax(-_STEEPEST, ca.fmin(_STEEPEST, passed[0] / g))
        wanted.append(ca.atan2(sine, ca.sqrt(1 - sine**2)))
    goal = (wanted[1], -wanted[0])  # roll by the force along y, pitch by that along x
    moved = [ca.fmax(-tilt_rate * h, ca.fmin(tilt_rate * h, goal[k] - tilt[k])) for k in range(2)]
    new += [tilt[k] + moved[k] for k in range(2)]
    p, q, r = (given["rate_scale"][k] * rate[k] for k in range(3))
    sr, cr, sp, cp = ca.sin(beta[0]), ca.cos(beta[0]), ca.sin(beta[1]), ca.cos(beta[1])
    yawing = (q * sr + r * cr) / cp
    euler = (p + yawing * sp, q * cr - r * sr, yawing)
    rates = []
    for k in range(3):
        w, z = given["rotation_frequency"][k], given["rotation_damping"][k]
        turned = _held(
            lambda x, u, w=w, z=z: [x[1], u - 2 * z * w * x[1] - w**2 * x[0]],  # type: ignore[misc]
            [turning[k][0], turning[k][1]], euler[k], h,
        )  # fmt: skip
        new += turned
        rates.append(euler[k] - 2 * z * w * turned[1] - w**2 * turned[0] + (moved[k] / h if k < 2 else 0))
    angles = [new[16 + 2 * k] + (new[13 + k] if k < 2 else 0) for k in range(3)]
    yaw, pitch, roll = axis_rotation(2, angles[2]), axis_rotation(1, angles[1]), axis_rotation(0, angles[0])
    home = frame_of(neutral)
    offset = ca.vertcat(*(new[3 * k + 1] for k in range(3)))
    pose = pose_of(Frame(home.origin + offset, yaw @ pitch @ roll @ home.axes))
    spin = yaw @ (pitch @ ca.vertcat(rates[0], 0, 0) + ca.vertcat(0, rates[1], 0)) + ca.vertcat(0, 0, rates[2])
    twist = ca.vertcat(*(new[3 * k + 2] for k in range(3)), spin)
    inputs = (
        Port("memory", memory, (_MEMORY,)),
        Port("specific_force", force, (3,)),
        Port("angular_velocity", rate, (3,)),
        Port("coefficients", numbers, (count,)),
        Port("neutral", neutral, (4, 4)),
        Port("time", h, ()),
    )
    outputs = (
        port("next_memory", ca.vertcat(*new), (_MEMORY,)),
        port("pose", pose, (4, 4)),
        port("twist", twist, (6,)),
    )
    return Expression("washout_step", inputs, outputs)


@cache
def washout_kernel() -> Kernel:
    """The compiled step."""
    return Kernel(washout_step, CacheKey.of("washout step", fingerprint("online", "symbols", "platforms/motion.py")))


class WashoutState(NamedTuple):
    """What a washout filter gives after a period.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Pose of {P} in {B}.
    twist : ndarray, shape (..., 6)
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    memory : ndarray, shape (..., 21)
        Memory of the filter, for the next period.
    """

    pose: Array
    twist: Array
    memory: Array


class Washout:
    """The classical washout filter of motion platforms, after Reid and Nahon.

    Every coefficient is one number or one for each axis. The defaults are round values of the size that texts on the
    classical algorithm print for a platform of half a metre of travel; tune them for the machine and the vehicle.

    Parameters
    ----------
    neutral : array_like, shape (4, 4)
        Pose to which the platform returns, such as the robot's home.
    force_scale, rate_scale : array_like, shape (3,), optional
        Factors of the specific force beyond rest, and of angular velocities, along x, y and z [1].
    translation_frequency, translation_damping, translation_washout : array_like, shape (3,), optional
        w [rad/s], zeta [1] and w_b [rad/s] of the high pass of translations.
    tilt_frequency, tilt_damping : array_like, shape (2,), optional
        w [rad/s] and zeta [1] of the low pass of forces along x and y, for which the cab tilts.
    tilt_rate : float, optional
        Largest rate of the tilt [rad/s]; 3 deg/s is about what is not felt.
    rotation_frequency, rotation_damping : array_like, shape (3,), optional
        w [rad/s] and zeta [1] of the high pass of rotations about x, y and z.
    gravity : float, optional
        Acceleration of gravity [m/s^2], against z.

    Examples
    --------
    >>> import polypod as pp
    >>> filter = Washout(pp.pose(z=0.4))
    >>> state = filter.step(filter.start(), [0.0, 0.0, 9.81], [0.0, 0.0, 0.0], 1e-3)  # a vehicle at rest
    >>> bool(abs(state.pose - pp.pose(z=0.4)).max() < 1e-15)
    True
    """

    def __init__(
        self,
        neutral: ArrayLike,
        *,
        force_scale: ArrayLike = 0.5,
        rate_scale: ArrayLike = 0.5,
        translation_frequency: ArrayLike = 2.5,
        translation_damping: ArrayLike = 1.0,
        translation_washout: ArrayLike = 0.25,
        tilt_frequency: ArrayLike = 5.0,
        tilt_damping: ArrayLike = 1.0,
        tilt_rate: float = float(np.deg2rad(3.0)),
        rotation_frequency: ArrayLike = 1.0,
        rotation_damping: ArrayLike = 1.0,
        gravity: float = 9.81,
    ) -> None:
        values = {
            "force_scale": force_scale, "rate_scale": rate_scale, "translation_frequency": translation_frequency,
            "translation_damping": translation_damping, "translation_washout": translation_washout,
            "tilt_frequency": tilt_frequency, "tilt_damping": tilt_damping, "rotation_frequency": rotation_frequency,
            "rotation_damping": rotation_damping, "tilt_rate": tilt_rate, "gravity": gravity,
        }  # fmt: skip
        parts = []
        for name, size in COEFFICIENTS.items():
            array = np.asarray(values[name], dtype=np.float64)
            if array.shape not in ((), (size,)) or not (np.isfinite(array) & (array >= 0)).all():
                raise InputError(f"{name}: a number of at least 0, or {size} of them, is needed, got {array.tolist()}")
            if not name.endswith("_scale") and not (array > 0).all():
                raise InputError(f"{name}: must be greater than 0, got {array.tolist()}")
            parts.append(np.broadcast_to(array, (size,)))
        self.coefficients: Array = np.concatenate(parts)
        self.neutral: Array = np.array(neutral, dtype=np.float64)
        self._fastest = max(float(np.max(values[name])) for name in values if name.endswith("_frequency"))

    def start(self) -> Array:
        """The memory of a vehicle at rest.

        Returns
        -------
        ndarray, shape (21,)
            Memory for ``step``.
        """
        return np.zeros(_MEMORY)

    def step(
        self, memory: ArrayLike, specific_force: ArrayLike, angular_velocity: ArrayLike, period: float
    ) -> WashoutState:
        """The platform one period later.

        Parameters
        ----------
        memory : array_like, shape (..., 21)
            ``start()``, or the memory of the period before.
        specific_force : array_like, shape (..., 3)
            Acceleration of the vehicle minus gravity, in its axes, z upward: (0, 0, 9.81) at rest [m/s^2].
        angular_velocity : array_like, shape (..., 3)
            Angular velocity of the vehicle in its axes [rad/s].
        period : float
            Time of the period [s].

        Returns
        -------
        WashoutState
            Pose, twist and memory.
        """
        if not 0 < period * self._fastest < 0.5:
            raise InputError(
                f"period: must be above 0 and below {0.5 / self._fastest:.3g} s, half of 1 over the highest frequency, "
                f"got {period:g} s"
            )
        kernel = washout_kernel()
        values = (memory, specific_force, angular_velocity, self.coefficients, self.neutral, period)
        arguments = [Argument(p.name, value, p.shape) for p, value in zip(kernel.inputs, values, strict=True)]
        rows = batch(arguments)
        check_finite(rows, arguments)
        new, pose, twist = (rows.restore(one) for one in kernel(*rows.rows))
        return WashoutState(pose, twist, new)
