"""The motions of the five papers, with their numbers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation  # type: ignore[import-untyped, unused-ignore]

from ..errors import InputError
from .checks import positive
from .contract import Path, Trajectory
from .elementary import circle, constant_accelerations, polynomial, rest, sine
from .laws import constant_speed, cosine, trapezoid
from .motions import euler_motion, pose_motion
from .paths import line, stack, through


def pedrammehr_path(number: int) -> Trajectory:
    """Paths 1, 2 and 3 of Pedrammehr, Mahboubkhah and Khani, Appendix 2; R = Rz Ry Rx.

    1: (0.1, 0, 0.5) to (0.6, 0, 0.5) m in 6 s without turning, at constant speed. That needs 0.0833 m/s;
    the printed 0.08 m/s would reach 0.48 m only.
    2: (0.1, 0, 0.4) to (0.3, 0, 0.6) m and -0.2 to 0.2 rad about z in 6 s, trapezoidal speeds of at most
    0.08 m/s and 0.08 rad/s, hence ramps of 2.4645 s and 1 s.
    3: the same ten times as fast: 0.6 s, 0.8 m/s, 0.8 rad/s.
    """
    if number not in (1, 2, 3):
        raise InputError(f"number: must be 1, 2 or 3, got {number!r}")
    if number == 1:
        slide = line([0.1, 0.0, 0.5], [0.6, 0.0, 0.5], constant_speed(6.0))
        return euler_motion(stack(slide, rest([0.0, 0.0, 0.0], 6.0)), "xyz")
    duration, speed = (6.0, 0.08) if number == 2 else (0.6, 0.8)
    linear = trapezoid(duration=duration, speed=speed, distance=float(np.hypot(0.2, 0.2)))
    angular = trapezoid(duration=duration, speed=speed, distance=0.4)
    slide = line([0.1, 0.0, 0.4], [0.3, 0.0, 0.6], linear)
    return euler_motion(stack(slide, line([0.0, 0.0, -0.2], [0.0, 0.0, 0.2], angular)), "xyz")


def kim_ryu_circle(rpm: float = 40.0, turns: float = 1.0) -> Trajectory:
    """Horizontal circle of Kim and Ryu, figures 7, 9 and 10: radius 0.1 m at 40, 20 and 60 rpm, level platform.

    The paper gives no centre: (0, 0, 0.9) m, z down. From +x, right-handed about z, at 2 pi rpm/60 rad/s.
    """
    around = circle([0.0, 0.0, 0.9], 0.1, [0.0, 0.0, 1.0], rpm, turns)
    return euler_motion(stack(around, rest([0.0, 0.0, 0.0], around.duration)), "YXZ")


def kim_ryu_acceleration() -> Trajectory:
    """Kim and Ryu (33): second derivatives of [x y z Psi theta phi] constant for 1.5 s, then opposite for 1.5 s.

    They are (0.1, 0.1, 0.1) m/s^2 and (0.05, 0.05, 0.1) rad/s^2. The paper gives no start: at rest in
    (0, 0, 0.7) m, z down, level. R = Ry(theta) Rx(Psi) Rz(phi), eq (1), so the angles are taken as
    [theta Psi phi]. It ends at rest, 0.225 m further in each direction, turned by (0.1125, 0.1125, 0.225) rad.
    """
    acceleration = np.array([0.1, 0.1, 0.1, 0.05, 0.05, 0.1])[[0, 1, 2, 4, 3, 5]]
    start = [0.0, 0.0, 0.7, 0.0, 0.0, 0.0]
    return euler_motion(constant_accelerations(start, [acceleration, -acceleration], [0.0, 1.5, 3.0]), "YXZ")


def lopes_there_and_back(half: float = 1.0) -> Trajectory:
    """Lopes, section 4: P1 to P2 and back, ``half`` s each way, [x y z psi theta phi], R = Rz Ry Rx, eq (4).

    P1 = (0, 0, 2) m, level; P2 = (-0.1, -0.2, 2.5) m and (15, -15, 15) deg. The paper names a trigonometric
    spline but gives neither formula nor time: here s = (1 - cos(pi t/half))/2.
    """
    span = positive("half", half, "s")
    home = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    away = np.concatenate(([-0.1, -0.2, 2.5], np.deg2rad([15.0, -15.0, 15.0])))
    return euler_motion(through([home, away, home], [0.0, span, 2 * span], cosine), "ZYX")


def staicu_path() -> Path:
    """Staicu et al. (5) for 1 s: coordinates (y, z, theta) (3,) of the lower-mobility robot, m and rad.

    y = -t^2 (t^2 - 1.3 t + 0.3), z = 0.2 t^2 (2 t^2 - t - 1), theta = 0.4 sin(4 pi t). It does not start
    from rest: thetadot(0) = 1.6 pi = 5.03 rad/s.
    """
    y = polynomial([0.0, 0.0, -0.3, 1.3, -1.0], 1.0)
    z = polynomial([0.0, 0.0, -0.2, -0.2, 0.4], 1.0)
    return stack(y, z, sine(0.4, 4 * np.pi, 1.0))


def long_example() -> Trajectory:
    """A motion as Long, Khalil and Martinet describe theirs in section 6.2, whose numbers they do not give.

    Rest for 0.2 s in the pose of their Table 4, (0.25, sqrt(3)/4, 1) m and level; quintic through three poses
    within 0.05 m an axis and 0.1 rad an axis of it and back, 0.5 s each; rest for 0.3 s. Acceleration is continuous.
    """
    home = np.zeros(6)
    first = np.array([0.05, -0.02, 0.03, 0.08, -0.05, 0.04])
    second = np.array([-0.03, 0.05, -0.04, -0.06, 0.08, -0.05])
    third = np.array([-0.04, -0.03, 0.05, 0.05, 0.06, 0.1])
    offsets = np.array([home, home, first, second, third, home, home])
    positions = np.array([0.25, np.sqrt(3) / 4, 1.0]) + offsets[:, :3]
    poses = RigidTransform.from_components(positions, Rotation.from_rotvec(offsets[:, 3:]))
    return pose_motion(poses, [0.0, 0.2, 0.7, 1.2, 1.7, 2.2, 2.5])
