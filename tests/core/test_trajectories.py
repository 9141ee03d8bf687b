"""Trajectories: derivatives against differences, closed forms, SciPy's rotations and the numbers of the papers."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from scipy.spatial.transform import RigidTransform, Rotation, Slerp

from polypod import motion as tr
from polypod.errors import InputError
from polypod.motion.arc_length import _quartic
from support.refusals import refused

EPS = np.finfo(float).eps


def poses(*rows):
    """Poses (n, 4, 4) from rows of position and rotation vector."""
    table = np.array(rows)
    return RigidTransform.from_components(table[:, :3], Rotation.from_rotvec(table[:, 3:])).as_matrix()


def difference(f, t, h):
    """First derivative by the central difference of order 8: error h^8 f^(9)/630 plus about eps |f|/h."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (f(t + k * h) - f(t - k * h)) for k, w in weights.items()) / h


def generic_times(duration, joints=(), count=40):
    """Times away from the ends and the joints by more than the reach of the difference, and its step."""
    h = duration / 400
    t = np.random.default_rng(7).uniform(5 * h, duration - 5 * h, count)
    edges = np.array([0.0, *joints])
    return t[(np.abs(t[:, None] - edges) > 5 * h).all(axis=1)], h


def assert_derivatives(path, joints=()):
    """xdot against differences of x, xddot against differences of xdot.

    Relative to the largest derivative rounding gives a few eps/(h/duration) = 1e-13, which is what is seen; the
    truncation (w h)^8/630 of the fastest sine here (4 pi in the duration) is below it. Tolerance 1e-12.
    """
    t, h = generic_times(path.duration, joints)
    assert len(t) > 10
    x, xdot, xddot = path.at(t)
    assert x.shape == xdot.shape == xddot.shape == t.shape + path.shape
    for order, derivative in ((0, xdot), (1, xddot)):
        expected = difference(lambda u, order=order: path.at(u)[order], t, h)
        np.testing.assert_allclose(derivative, expected, rtol=0, atol=1e-12 * max(np.abs(derivative).max(), 1e-2))


PATHS = {
    "constant speed": (tr.Line(start=0, end=1, duration=1.7, law="constant_speed"), ()),
    "quintic law": (tr.Line(start=0, end=1, duration=0.8, law="quintic"), ()),
    "cosine law": (tr.Line(start=0, end=1, duration=1.3, law="cosine"), ()),
    "trapezoid": (tr.Line(start=0, end=1, duration=2.0, law=tr.Trapezoid(ramp=0.6)), (0.6, 1.4)),
    "triangle": (tr.Line(start=0, end=1, duration=2.0, law=tr.Trapezoid(ramp=1.0)), (1.0,)),
    "line": (tr.Line(start=[1.0, -2.0, 0.5], end=[0.2, 1.0, 0.7], duration=1.1, law="quintic"), ()),
    "through": (tr.Through(points=[[0, 1], [2, -1], [1.5, 0.3]], times=[0, 0.7, 2.0]), (0.7,)),
    "through scalars": (tr.Through(points=[0.0, 2.0, 1.0], times=[0, 0.7, 2.0], law="cosine"), (0.7,)),
    "spline": (
        tr.Spline(points=[[0, 1], [2, -1], [1.5, 0.3], [1, 1]], times=[0, 0.7, 1.1, 2], velocities=[[1, 2], [0, -1]]),
        (0.7, 1.1),
    ),
    "hermite": (
        tr.Hermite(
            points=[0.0, 1.0, 0.5], times=[0, 1, 1.5], velocities=[1.0, -2.0, 0.0], accelerations=[3.0, 0.0, 1.0]
        ),
        (1.0,),
    ),
    "circle": (tr.Circle(centre=[0.1, 0.2, 0.3], radius=0.25, normal=[1.0, 2.0, -2.0], rpm=50.0, turns=1.5), ()),
    "polynomial": (tr.Polynomial(coefficients=[[1, 2], [0, -1], [3, 1], [0.5, 0]], duration=1.4), ()),
    "sine": (
        tr.Sine(amplitude=[0.4, 0.2], frequency=2.0, duration=1.0, phase=[0.3, 0.0], offset=[1, 2]),
        (),
    ),
    "accelerations": (
        tr.ConstantAccelerations(
            start=[1.0, 0.0], accelerations=[[1, 2], [0, -3], [-1, 1]], times=[0, 1, 1.5, 3], velocity=0.3
        ),
        (1, 1.5),
    ),
    "stack": (
        tr.Stack(
            parts=[
                tr.Line(start=0, end=1, duration=1.0, law="quintic"),
                tr.Sine(amplitude=0.4, frequency=4.0 / (2 * np.pi), duration=1.0),
                tr.Rest(point=[1.0, 2.0], duration=1.0),
            ]
        ),
        (),
    ),
    "sum": (
        tr.Sum(
            parts=[
                tr.Sine(amplitude=0.4, frequency=4.0 / (2 * np.pi), duration=1.0),
                tr.Polynomial(coefficients=[1.0, 2.0, 3.0], duration=1.0),
            ]
        ),
        (),
    ),
    "piecewise": (
        tr.Piecewise(
            parts=[
                tr.Rest(point=0.0, duration=0.5),
                tr.Line(start=0, end=1, duration=1.0, law="cosine"),
                tr.Rest(point=1.0, duration=0.25),
            ]
        ),
        (0.5, 1.5),
    ),
    "staicu": (tr.PUBLISHED["staicu-path"].trajectory.path, ()),
}


@pytest.mark.parametrize("name", PATHS)
def test_path_derivatives_match_differences(name):
    assert_derivatives(*PATHS[name])


@pytest.mark.parametrize("name", PATHS)
def test_path_takes_any_batch_of_times(name):
    path, _ = PATHS[name]
    t = path.even_times(6)
    flat = path.at(t)
    for whole, block, one, none in zip(flat, path.at(t.reshape(2, 3)), path.at(t[4]), path.at([]), strict=True):
        np.testing.assert_array_equal(block.reshape(whole.shape), whole)
        np.testing.assert_array_equal(one, whole[4])
        assert np.shape(one) == path.shape
        assert none.shape == (0, *path.shape)
    shuffled = [5, 0, 3, 1, 4, 2]
    for whole, other in zip(flat, path.at(t[shuffled]), strict=True):
        np.testing.assert_array_equal(other, whole[shuffled])


@pytest.mark.parametrize(("name", "joint"), [("through", 0.7), ("spline", 0.7), ("spline", 1.1), ("hermite", 1.0)])
def test_smooth_joints_have_continuous_acceleration(name, joint):
    path, _ = PATHS[name]
    # one unit in the last place of time moves the acceleration by eps times the jerk, which is below 1e3 here
    for before, after in zip(path.at(np.nextafter(joint, 0)), path.at(joint), strict=True):
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "joint", "earlier", "later"),
    [
        ("trapezoid", 0.6, 1 / (0.6 * 1.4), 0.0),
        ("trapezoid", 1.4, 0.0, -1 / (0.6 * 1.4)),
        ("triangle", 1.0, 1.0, -1.0),
        ("accelerations", 1.5, [0.0, -3.0], [-1.0, 1.0]),
        ("piecewise", 0.5, 0.0, np.pi**2 / 2),
        ("piecewise", 1.5, -(np.pi**2) / 2, 0.0),
    ],
)
def test_acceleration_jumps_where_it_should_and_nothing_else_does(name, joint, earlier, later):
    path, _ = PATHS[name]
    before, after = path.at(np.nextafter(joint, 0)), path.at(joint)
    for order in range(2):
        np.testing.assert_allclose(after[order], before[order], rtol=0, atol=1e-14)
    # at the joint itself the later piece rules
    np.testing.assert_allclose(before.xddot, earlier, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(after.xddot, later, rtol=1e-13, atol=1e-13)


LAWS = {
    "constant speed": lambda duration: tr.Line(start=0, end=1, duration=duration, law="constant_speed"),
    "quintic": lambda duration: tr.Line(start=0, end=1, duration=duration, law="quintic"),
    "cosine": lambda duration: tr.Line(start=0, end=1, duration=duration, law="cosine"),
    "trapezoid": lambda duration: tr.Line(start=0, end=1, duration=duration, law=tr.Trapezoid(ramp=duration / 3)),
}


@pytest.mark.parametrize(
    ("name", "speed", "acceleration"),
    [
        ("constant speed", 1.0, 0.0),
        ("quintic", 15 / 8, 10 / np.sqrt(3)),
        ("cosine", np.pi / 2, np.pi**2 / 2),
        ("trapezoid", 3 / 2, 9 / 2),
    ],
)
def test_laws_go_from_0_to_1_with_the_known_peaks(name, speed, acceleration):
    duration = 2.3
    law = LAWS[name](duration)
    s, sdot, sddot = law.at(law.even_times(200001))
    np.testing.assert_allclose([s[0], s[-1]], [0.0, 1.0], rtol=0, atol=4 * EPS)
    assert (np.diff(s) > 0).all()
    # 200,001 times catch a smooth peak to (pi/4e5)^2 = 6e-11
    np.testing.assert_allclose(sdot.max(), speed / duration, rtol=2e-10)
    np.testing.assert_allclose(np.abs(sddot).max(), acceleration / duration**2, rtol=2e-10)
    if name != "constant speed":
        np.testing.assert_allclose(sdot[[0, -1]], 0.0, rtol=0, atol=4 * EPS)


def test_quintic_law_is_at_rest_exactly_at_both_ends():
    _, sdot, sddot = tr.Line(start=0, end=1, duration=0.37, law="quintic").at([0.0, 0.37])
    np.testing.assert_array_equal([sdot, sddot], 0.0)


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.02, 0.5))
def test_trapezoid_from_any_two_numbers_is_one_law(distance, duration, share):
    ramp = share * duration
    speed = distance / (duration - ramp)  # the area under the trapezoid
    t = duration * np.linspace(0, 1, 23)
    by_ramp = tr.Line(start=0, end=1, duration=duration, law=tr.Trapezoid(ramp=ramp))
    by_speed = tr.Line(start=0, end=distance, duration=duration, law=tr.Trapezoid(speed=speed))
    by_both = tr.Line(start=0, end=distance, law=tr.Trapezoid(ramp=ramp, speed=speed))
    np.testing.assert_allclose(by_both.duration, duration, rtol=1e-14)
    way = by_speed.at(t).x
    # duration - distance/speed cancels to the ramp, at least 1/50 of the duration: 50 eps, squared by the closed form
    np.testing.assert_allclose(
        distance * by_ramp.at(t).x, by_both.at(np.minimum(t, by_both.duration)).x, rtol=0, atol=1e-13 * distance
    )
    np.testing.assert_allclose(distance * by_ramp.at(t).x, way, rtol=0, atol=1e-13 * distance)
    closed = speed * np.where(t < ramp, t**2 / (2 * ramp), np.where(t > duration - ramp, 0.0, t - ramp / 2)) + np.where(
        t > duration - ramp, distance - speed * (duration - t) ** 2 / (2 * ramp), 0.0
    )
    np.testing.assert_allclose(way, closed, rtol=0, atol=1e-13 * distance)
    np.testing.assert_allclose(way[-1], distance, rtol=1e-14)


def test_quintic_paths_reproduce_a_polynomial_of_degree_five():
    exact = Polynomial([0.3, -1.0, 0.5, 2.0, -1.5, 0.4])
    t = np.array([0.0, 0.4, 0.7, 1.6])
    x, v, a = (exact.deriv(k)(t) if k else exact(t) for k in range(3))
    inner = np.linspace(0, 1.6, 41)
    for path in (
        tr.Hermite(points=x, times=t, velocities=v, accelerations=a),
        tr.Spline(points=x, times=t, velocities=v[[0, -1]], accelerations=a[[0, -1]]),
        tr.Polynomial(coefficients=exact.coef, duration=1.6),
    ):
        for order, values in enumerate(path.at(inner)):
            expected = exact.deriv(order)(inner) if order else exact(inner)
            # interpolation conditions amplify rounding by about 1/step^order
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_through_and_spline_meet_their_points():
    points, t = np.array([[0.0, 1.0], [2.0, -1.0], [1.5, 0.3], [0.0, 0.0]]), [0.0, 0.7, 1.1, 2.0]
    for path in (
        tr.Through(points=points, times=t),
        tr.Through(points=points, times=t, law="cosine"),
        tr.Spline(points=points, times=t),
    ):
        np.testing.assert_allclose(path.at(t).x, points, rtol=0, atol=1e-14)
    np.testing.assert_allclose(tr.Through(points=points, times=t).at(t).xdot, 0.0, rtol=0, atol=1e-14)
    ends = tr.Spline(points=points, times=t).at([0.0, 2.0])
    np.testing.assert_allclose([ends.xdot, ends.xddot], 0.0, rtol=0, atol=1e-11)
    assert np.abs(tr.Spline(points=points, times=t).at(0.7).xdot).max() > 0.1  # a spline does not stop


def test_through_keeps_thousands_of_short_lines_apart():
    x = np.random.default_rng(1).normal(size=(3001, 3))
    path = tr.Through(points=x, times=np.arange(3001) * 0.01, law="constant_speed")
    middle = path.at((np.arange(3000) + 0.5) * 0.01)
    # times near 30 s are known to 4e-15 s, 4e-13 of a line; lines are a few units long
    np.testing.assert_allclose(middle.x, (x[1:] + x[:-1]) / 2, rtol=0, atol=1e-11)
    np.testing.assert_allclose(middle.xdot, np.diff(x, axis=0) / 0.01, rtol=1e-11)


@given(
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1), st.sampled_from([-50.0, 3.0, 50.0])
)
def test_circle_keeps_radius_plane_and_speed(normal, rpm):
    path = tr.Circle(centre=[1.0, 2.0, 3.0], radius=0.25, normal=normal, rpm=rpm)
    n, w = np.array(normal) / np.linalg.norm(normal), 2 * np.pi * rpm / 60
    x, v, a = path.at(path.even_times(37))
    r = x - [1.0, 2.0, 3.0]
    np.testing.assert_allclose(path.duration, 60 / abs(rpm), rtol=1e-14)
    # position is known to eps of the centre's 3 m
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), 0.25, rtol=1e-14)
    np.testing.assert_allclose(r @ n, 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(v, w * np.cross(n, r), rtol=0, atol=1e-14 * abs(w))
    np.testing.assert_allclose(a, -(w**2) * r, rtol=0, atol=1e-14 * w**2)
    np.testing.assert_allclose(x[0], x[-1], rtol=0, atol=1e-14)


def test_circle_starts_where_asked():
    np.testing.assert_allclose(
        tr.Circle(centre=[0, 0, 1], radius=0.5, normal=[0, 0, 1], rpm=10).at(0).x, [0.5, 0, 1], atol=1e-16
    )
    np.testing.assert_allclose(
        tr.Circle(centre=[0, 0, 1], radius=0.5, normal=[-2, 0, 0], rpm=10).at(0).x, [0, 0.5, 1], atol=1e-16
    )
    x = tr.Circle(centre=[0, 0, 1], radius=0.5, normal=[0, 0, 1], rpm=10, start=[0, -3, 7]).at(0).x
    np.testing.assert_allclose(x, [0, -0.5, 1], atol=1e-16)


def skew(w):
    """[w]x of vectors (n, 3)."""
    zero = np.zeros(len(w))
    x, y, z = w.T
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)


def assert_motion(trajectory, joints=(), tolerance=1e-12):
    """v, a against differences of p, v; Rdot = [omega]x R and alpha against differences of R and omega.

    Same differences and reasons as for paths; relative to the largest speed and acceleration.
    """
    t, h = generic_times(trajectory.duration, joints)
    time, pose, twist, acceleration = trajectory.at(t)
    np.testing.assert_array_equal(time, t)
    np.testing.assert_array_equal(pose[:, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(t), 4)))
    rotation = pose[:, :3, :3]
    np.testing.assert_allclose(
        rotation.swapaxes(1, 2) @ rotation, np.broadcast_to(np.eye(3), (len(t), 3, 3)), atol=4e-15
    )
    assert (np.linalg.det(rotation) > 0).all()
    moved = difference(lambda u: trajectory.at(u).pose, t, h)
    size = max(np.abs(twist).max(), 0.05)
    np.testing.assert_allclose(twist[:, :3], moved[:, :3, 3], rtol=0, atol=tolerance * size)
    np.testing.assert_allclose(skew(twist[:, 3:]) @ rotation, moved[:, :3, :3], rtol=0, atol=tolerance * size)
    change = difference(lambda u: trajectory.at(u).twist, t, h)
    np.testing.assert_allclose(acceleration, change, rtol=0, atol=tolerance * max(np.abs(acceleration).max(), size))


vectors = st.tuples(*[st.floats(-3, 3)] * 3).map(np.array)


def test_conventions_are_those_of_scipy():
    assert len(set(tr.CONVENTIONS)) == 24
    for name in tr.CONVENTIONS:
        Rotation.from_euler(name, [0.1, 0.2, 0.3])  # raises for a name SciPy does not know


@pytest.mark.parametrize("convention", tr.CONVENTIONS)
@settings(max_examples=4, deadline=None)
@given(angle=vectors, rate=vectors, curvature=vectors)
def test_euler_motion_in_every_convention(convention, angle, rate, curvature):
    place = tr.Polynomial(coefficients=[[1.0, 2.0, 3.0], [0.1, -0.2, 0.3], [1.0, 0.0, -1.0]], duration=0.5)
    trajectory = tr.Euler(
        path=tr.Stack(parts=[place, tr.Polynomial(coefficients=[angle, rate, curvature / 2], duration=0.5)]),
        convention=convention,
    )
    t = trajectory.even_times(11)
    angles = angle + np.multiply.outer(t, rate) + np.multiply.outer(t**2, curvature / 2)
    motion = trajectory.at(t)
    expected = Rotation.from_euler(convention, angles).as_matrix()
    np.testing.assert_allclose(motion.pose[:, :3, :3], expected, rtol=0, atol=4e-15)
    np.testing.assert_array_equal(motion.pose[:, :3, 3], place.at(t).x)
    # three angles at up to 4.5 rad/s each turn at 13.5 rad/s: (w h)^8/630 = 1e-17 with h = 1.25e-3 s;
    # rounding of the differences eps/h = 2e-13, several terms of it
    assert_motion(trajectory, tolerance=1e-11)


@given(angle=vectors, rate=vectors, acc=vectors)
def test_euler_rates_of_kim_and_ryu(angle, rate, acc):
    """Kim and Ryu (2) and (3), the latter with second derivatives in all rows, [theta, Psi, phi] as YXZ."""
    path = tr.Polynomial(coefficients=np.concatenate([np.zeros((3, 3)), [angle, rate, acc / 2]], axis=1), duration=1.0)
    motion = tr.Euler(path=path, convention="YXZ").at(0.0)
    (th, ps, _), (thd, psd, phd), (thdd, psdd, phdd) = angle, rate, acc
    c, s, C, S = np.cos(th), np.sin(th), np.cos(ps), np.sin(ps)
    omega = [psd * c + phd * s * C, thd - phd * S, -psd * s + phd * c * C]
    alpha = [
        psdd * c - thd * psd * s + phdd * s * C - phd * psd * s * S + phd * thd * c * C,
        thdd - phdd * S - phd * psd * C,
        -psdd * s - psd * thd * c + phdd * c * C - phd * thd * s * C - phd * psd * c * S,
    ]
    np.testing.assert_allclose(motion.twist[3:], omega, rtol=0, atol=1e-14)
    np.testing.assert_allclose(motion.acceleration[3:], alpha, rtol=0, atol=1e-13)


def test_axis_motion_is_a_turn_about_the_base_axis():
    place = tr.Line(start=[0.0, 0.0, 1.0], end=[0.2, 0.1, 0.9], duration=1.2, law="quintic")
    start = Rotation.from_rotvec([0.3, -0.8, 0.4]).as_matrix()
    angle = tr.Line(start=-0.4, end=1.1, duration=1.2, law="cosine")
    tilted = tr.AxisTurn(position=place, axis=[1.0, -2.0, 0.5], angle=angle, rotation=start)
    assert_motion(tilted)
    t = tilted.even_times(9)
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    expected = Rotation.from_rotvec(np.multiply.outer(angle.at(t).x, axis)).as_matrix() @ start
    np.testing.assert_allclose(tilted.at(t).pose[:, :3, :3], expected, rtol=0, atol=4e-15)
    np.testing.assert_allclose(tilted.at(t).twist[:, 3:], np.multiply.outer(angle.at(t).xdot, axis), rtol=0, atol=1e-15)


STATIONS = poses(
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [0.1, -0.2, 1.1, 0.3, -0.8, 0.4],
    [0.1, -0.2, 1.1, 0.3, -0.8, 0.4],
    [-0.3, 0.2, 0.8, -1.2, 0.5, 2.0],
)


def test_a_motion_through_poses_rests_in_each():
    times = [0.0, 0.5, 0.7, 1.6]
    trajectory = tr.Poses.through(STATIONS, times)
    assert_motion(trajectory, joints=times[1:-1])
    motion = trajectory.at(times)
    np.testing.assert_allclose(motion.pose, STATIONS, rtol=0, atol=4e-15)
    np.testing.assert_allclose(motion.twist, 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(motion.acceleration, 0.0, rtol=0, atol=1e-12)
    between = trajectory.at(np.linspace(0.5, 0.7, 5))
    np.testing.assert_array_equal(between.twist, 0.0)  # the same pose twice is a rest
    as_transform = tr.Poses.through(RigidTransform.from_matrix(STATIONS), times)
    np.testing.assert_allclose(as_transform.at([0.2, 1.0]).pose, trajectory.at([0.2, 1.0]).pose, rtol=0, atol=4e-15)


def test_poses_at_constant_speed_are_scipys_slerp():
    times = [0.0, 0.5, 0.7, 1.6]
    t = np.linspace(0, 1.6, 33)
    motion = tr.Poses.through(STATIONS, times, "constant_speed").at(t)
    expected = Slerp(times, Rotation.from_matrix(STATIONS[:, :3, :3]))(t).as_matrix()
    np.testing.assert_allclose(motion.pose[:, :3, :3], expected, rtol=0, atol=1e-14)


MOTIONS = {
    "pedrammehr 1": ("pedrammehr-path-1", ()),
    "pedrammehr 2": ("pedrammehr-path-2", (1.0, 5.0, 6 - 2.5 * 2**0.5, 2.5 * 2**0.5)),
    "pedrammehr 3": ("pedrammehr-path-3", (0.1, 0.5, 0.6 - 0.25 * 2**0.5, 0.25 * 2**0.5)),
    "kim-ryu circle": ("kim-ryu-circle", ()),
    "kim-ryu acceleration": ("kim-ryu-acceleration", (1.5,)),
    "lopes": ("lopes-there-and-back", ()),
    "long": ("long-example", (0.2, 0.7, 1.2, 1.7, 2.2)),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_published_motions(name):
    published, joints = MOTIONS[name]
    trajectory = tr.Published(name=published)
    # sines of quintics that last a fifth of the whole have large ninth derivatives: 4e-12 seen, order 8 confirmed
    assert_motion(trajectory, joints, tolerance=1e-11 if name == "long" else 1e-12)
    t = trajectory.even_times(6)
    whole = trajectory.at(t)
    again = pickle.loads(pickle.dumps(trajectory)).at(t.reshape(2, 3))
    for field, block, one, none in zip(whole, again, trajectory.at(t[4]), trajectory.at([]), strict=True):
        np.testing.assert_array_equal(block.reshape(field.shape), field)
        # a single 3x3 product may be summed in another order than a batch of them
        np.testing.assert_allclose(one, field[4], rtol=0, atol=1e-15)
        assert none.shape == (0, *field.shape[1:])


def test_pedrammehr_path_1_needs_a_little_more_than_the_printed_speed():
    trajectory = tr.Published(name="pedrammehr-path-1")
    motion = trajectory.at([0.0, 2.5, 6.0])
    np.testing.assert_allclose(motion.twist, np.broadcast_to([0.5 / 6, 0, 0, 0, 0, 0], (3, 6)), rtol=1e-14)
    assert round(motion.twist[0, 0], 4) == 0.0833
    np.testing.assert_allclose(motion.pose[:, 0, 3], [0.1, 0.1 + 2.5 / 12, 0.6], rtol=1e-14)
    np.testing.assert_array_equal(motion.acceleration, 0.0)


@pytest.mark.parametrize(("number", "scale"), [(2, 1.0), (3, 0.1)])
def test_pedrammehr_paths_2_and_3_have_ramps_of_2_4645_and_1_s(number, scale):
    trajectory = tr.Published(name=f"pedrammehr-path-{number}")
    assert trajectory.duration == pytest.approx(6.0 * scale, rel=1e-15)
    around = np.array([0.9999, 1.0001, 2.4644, 2.4646]) * scale
    linear, angular = np.moveaxis(trajectory.at(around).acceleration[:, [0, 5]], 1, 0) * scale**2
    np.testing.assert_allclose(angular, [0.08, 0, 0, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(linear, [0.08 / 2**0.5 / (6 - 2.5 * 2**0.5)] * 3 + [0], rtol=0, atol=1e-14)
    cruise = trajectory.at(3.0 * scale)
    np.testing.assert_allclose(np.linalg.norm(cruise.twist[:3]) * scale, 0.08, rtol=1e-14)
    np.testing.assert_allclose(cruise.twist[5] * scale, 0.08, rtol=1e-14)
    ends = trajectory.at([0.0, trajectory.duration])
    np.testing.assert_allclose(ends.pose[:, :3, 3], [[0.1, 0.0, 0.4], [0.3, 0.0, 0.6]], rtol=1e-14)
    yaw = np.arctan2(ends.pose[:, 1, 0], ends.pose[:, 0, 0])
    np.testing.assert_allclose(yaw, [-0.2, 0.2], rtol=1e-14)


@pytest.mark.parametrize(("number", "t", "side"), [(2, "0.5", 1), (3, "0.52", -1)])
def test_pedrammehr_states_in_50_digits(number, t, side):
    """In the first ramp of path 2, the last of path 3 (path 2 in a tenth of the time), from the start and to the end.

    The line of 0.2 sqrt(2) m takes 6 s at a cruise of 0.08 m/s, the turn of 0.4 rad at 0.08 rad/s: ramps of
    6 - 2.5 sqrt(2) s and of 1 s.
    """
    with mpmath.workdps(50):
        pace = mpmath.mpf(1 if number == 2 else 10)
        since = mpmath.mpf(t) if side == 1 else mpmath.mpf("0.6") - mpmath.mpf(t)
        speed = mpmath.mpf("0.08")
        line = speed / mpmath.sqrt(2) / (6 - mpmath.mpf("2.5") * mpmath.sqrt(2)) * pace**2
        turn = speed * pace**2
        x = mpmath.mpf("0.2") - side * (mpmath.mpf("0.1") - line * since**2 / 2)
        yaw = -side * (mpmath.mpf("0.2") - turn * since**2 / 2)
        cosine, sine = float(mpmath.cos(yaw)), float(mpmath.sin(yaw))
        twist, acceleration = np.array([line, turn]) * since, side * np.array([line, turn])
        pose = [[cosine, -sine, 0, x], [sine, cosine, 0, 0], [0, 0, 1, x + mpmath.mpf("0.3")], [0, 0, 0, 1]]
    motion = tr.Published(name=f"pedrammehr-path-{number}").at(float(t))
    # a few roundings; the ramp of 2.46 s is a difference of numbers twice as large
    np.testing.assert_allclose(motion.pose, np.array(pose, dtype=float), rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(motion.twist[[0, 2, 5]], np.array(twist[[0, 0, 1]], dtype=float), rtol=1e-14)
    np.testing.assert_allclose(
        motion.acceleration[[0, 2, 5]], np.array(acceleration[[0, 0, 1]], dtype=float), rtol=1e-14
    )


def hexaslide_sliders(pose):
    """Slider positions of Kim and Ryu (8), lambda = a.d - sqrt((a.d)^2 - d.d + l^2), from their appendix."""
    low = np.array(
        [[-0.738, -0.5531], [-0.848, -0.3625], [-0.11, 0.9157], [0.11, 0.9157], [0.848, -0.3625], [0.738, -0.5531]]
    )
    high = np.array(
        [[-0.213, -0.25], [-0.323, -0.0594], [-0.11, 0.3095], [0.11, 0.3095], [0.323, -0.0594], [0.213, -0.25]]
    )
    joints = np.array(
        [[-0.0515, -0.1567], [-0.1615, 0.0337], [-0.11, 0.1229], [0.11, 0.1229], [0.1615, 0.0337], [0.0515, -0.1567]]
    )
    rail = np.column_stack([high - low, np.full(6, 0.35)])
    rail /= np.linalg.norm(rail, axis=1)[:, None]
    platform = np.column_stack([joints, np.zeros((6, 1)), np.ones((6, 1))])
    d = np.einsum("nij,kj->nki", pose, platform)[..., :3] - np.column_stack([low, np.zeros((6, 1))])
    along = (d * rail).sum(axis=-1)
    return along - np.sqrt(along**2 - (d**2).sum(axis=-1) + 0.9**2)


@pytest.mark.parametrize("rpm", [20.0, 40.0, 60.0])
def test_kim_ryu_circle(rpm):
    trajectory = tr.Published(name="kim-ryu-circle", pace=rpm / 40)
    motion = trajectory.at(trajectory.even_times(1001))
    np.testing.assert_allclose(trajectory.duration, 60 / rpm, rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(motion.twist[:, :3], axis=1), 0.1 * rpm * np.pi / 30, rtol=1e-14)
    np.testing.assert_array_equal(motion.twist[:, 3:], 0.0)
    sliders = hexaslide_sliders(motion.pose)
    np.testing.assert_allclose([sliders.min(), sliders.max()], [0.261, 0.387], rtol=0, atol=5e-4)


def test_kim_ryu_acceleration():
    trajectory = tr.Published(name="kim-ryu-acceleration")
    motion = trajectory.at(trajectory.even_times(1001))
    np.testing.assert_allclose(motion.acceleration[0], [0.1, 0.1, 0.1, 0.05, 0.05, 0.1], rtol=1e-15)
    np.testing.assert_allclose(motion.pose[-1, :3, 3], [0.225, 0.225, 0.925], rtol=1e-14)
    np.testing.assert_allclose(motion.twist[[0, -1]], 0.0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(motion.twist[500, :3], 0.15, rtol=1e-14)
    psi, theta, phi = 0.1125, 0.1125, 0.225
    turn = Rotation.from_rotvec([0, theta, 0]) * Rotation.from_rotvec([psi, 0, 0]) * Rotation.from_rotvec([0, 0, phi])
    np.testing.assert_allclose(motion.pose[-1, :3, :3], turn.as_matrix(), rtol=0, atol=2e-15)
    sliders = hexaslide_sliders(motion.pose)
    np.testing.assert_allclose([sliders.min(), sliders.max()], [0.160, 0.560], rtol=0, atol=5e-4)


@pytest.mark.parametrize("half", [0.5, 1.0, 4.0])
def test_lopes_there_and_back(half):
    trajectory = tr.Published(name="lopes-there-and-back", pace=1 / half)
    t = trajectory.even_times(2001)
    motion = trajectory.at(t)
    s = (1 - np.cos(np.pi * t / half)) / 2  # there and back is one smooth function
    expected = np.array([0.0, 0.0, 2.0]) + np.multiply.outer(s, [-0.1, -0.2, 0.5])
    np.testing.assert_allclose(motion.pose[:, :3, 3], expected, rtol=0, atol=1e-14)
    far = Rotation.from_euler("ZYX", [15, -15, 15], degrees=True).as_matrix()
    np.testing.assert_allclose(motion.pose[1000, :3, :3], far, rtol=0, atol=2e-15)
    np.testing.assert_allclose(motion.pose[-1], motion.pose[0], rtol=0, atol=2e-15)
    at_p, at_b = np.deg2rad([0, 120, 120, 240, 240, 0]), np.deg2rad([45, 75, 165, 195, 285, 315])
    tip = 0.75 * np.column_stack([np.cos(at_p), np.sin(at_p), np.zeros(6)])
    reach = np.einsum("nij,kj->nki", motion.pose[:, :3, :3], tip) + motion.pose[:, None, :3, 3]
    reach -= 1.5 * np.column_stack([np.cos(at_b), np.sin(at_b), np.zeros(6)])
    length = reach[..., 2] - np.sqrt(1.837**2 - (reach[..., :2] ** 2).sum(axis=-1))
    np.testing.assert_allclose([length.min(), length.max()], [0.533, 1.580], rtol=0, atol=5e-4)


def test_staicu_path():
    path = tr.PUBLISHED["staicu-path"].trajectory.path
    x, xdot, xddot = path.at([0.0, 0.25, 1.0])
    assert round(xdot[0, 2], 2) == 5.03
    np.testing.assert_allclose(xdot[:2], [[0, 0, 1.6 * np.pi], [0.03125, -0.1125, -1.6 * np.pi]], atol=1e-14)
    np.testing.assert_allclose(x[1], [-0.00234375, -0.0140625, 0.0], rtol=0, atol=1e-15)
    # sin(pi) is 1e-16, times 0.4 (4 pi)^2
    np.testing.assert_allclose(xddot[:2], [[-0.6, -0.4, 0.0], [0.6, -0.4, 0.0]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(x[2], 0.0, rtol=0, atol=1e-15)  # all sliders are back at lambda = 0


def test_long_example_rests_moves_and_rests():
    trajectory = tr.Published(name="long-example")
    motion = trajectory.at(np.array([0.0, 0.1, 0.2, 2.2, 2.3, 2.5]))
    home = np.eye(4)
    home[:3, 3] = 0.25, np.sqrt(3) / 4, 1.0
    np.testing.assert_allclose(motion.pose, np.broadcast_to(home, (6, 4, 4)), rtol=0, atol=2e-15)
    np.testing.assert_allclose(motion.twist, 0.0, rtol=0, atol=1e-14)
    moving = trajectory.at(trajectory.even_times(2501))
    away = moving.pose[:, :3, 3] - home[:3, 3]
    turned = Rotation.from_matrix(moving.pose[:, :3, :3]).as_rotvec()
    assert np.abs(away).max() == pytest.approx(0.05, rel=1e-12)
    assert 0.09 < np.abs(turned).max() < 0.1 + 1e-12
    # acceleration is continuous: no step of 1 ms changes it by more than the largest jerk, 60 d/T^3, allows
    jerk = 60 * np.array([0.09, 0.2]) / 0.5**3
    steps = np.abs(np.diff(moving.acceleration, axis=0)).reshape(-1, 2, 3).max(axis=(0, 2))
    assert (steps <= jerk * 1e-3 * 1.001).all()


def test_times_a_rounding_late_are_the_end_and_later_ones_are_errors():
    path = tr.Line(start=0, end=1, duration=0.3, law="quintic")
    assert path.at(0.1 + 0.2).x == 1.0  # 0.30000000000000004
    with refused(InputError, "t [0, 0.3] 0.31 1 3"):
        path.at([0.0, 0.3, 0.31])
    with refused(InputError, "t nan"):
        path.at(np.nan)
    with refused(InputError, "t -0.1"):
        tr.Published(name="lopes-there-and-back").at(-0.1)


PLACE, TURN = tr.Rest(point=[0.0, 0.0, 1.0], duration=1.0), tr.Line(start=0, end=1, duration=1.0, law="quintic")

SIX = tr.Rest(point=np.zeros(6), duration=1.0)
CIRCLE = {"centre": [0, 0, 0], "radius": 0.1, "normal": [0, 0, 1], "rpm": 1}


def line(**fields):
    """From 0 to 1, unless asked otherwise."""
    return tr.Line(**{"start": 0.0, "end": 1.0, **fields})


BAD = {
    "negative duration": (lambda: line(duration=-1.0), "duration 0 -1"),
    "zero duration": (lambda: line(duration=0.0, law="cosine"), "duration 0"),
    "infinite duration": (lambda: line(duration=np.inf), "duration"),
    "no duration": (lambda: line(), "duration"),
    "duration of two": (
        lambda: tr.Rest(point=1.0, duration=[1.0, 2.0]),
        "duration [1.0, 2.0]",
    ),
    "text": (
        lambda: tr.Polynomial(coefficients="a", duration=1.0),
        "coefficients 15 deg a",
    ),
    "no coefficients": (lambda: tr.Polynomial(coefficients=[], duration=1.0), "coefficients 0"),
    "long ramp": (
        lambda: line(duration=2.0, law=tr.Trapezoid(ramp=1.1)),
        "law.ramp 2 1.1",
    ),
    "no ramp": (lambda: tr.Trapezoid(ramp=0.0), "ramp 0"),
    "ramp for speed": (
        lambda: line(end=2.0, law=tr.Trapezoid(ramp=3.0, speed=1.0)),
        "law.ramp 2 3",
    ),
    "slow": (
        lambda: line(end=0.5, duration=6.0, law=tr.Trapezoid(speed=0.08)),
        "law.speed 0.08",
    ),
    "fast": (
        lambda: line(duration=2.0, law=tr.Trapezoid(speed=1.1)),
        "law.speed 1 1.1",
    ),
    "one number": (
        lambda: line(law=tr.Trapezoid(ramp=0.5)),
        "duration",
    ),
    "no number": (lambda: tr.Trapezoid(), "ramp missing"),
    "three numbers": (
        lambda: line(duration=2.0, law=tr.Trapezoid(ramp=0.5, speed=1.0)),
        "law speed",
    ),
    "speed through points": (
        lambda: tr.Through(points=[0, 1], times=[0, 2], law=tr.Trapezoid(speed=1.0)),
        "law.speed",
    ),
    "knots fall": (
        lambda: tr.Through(points=[0, 1, 2], times=[0, 2, 1]),
        "times [0.0, 2.0, 1.0]",
    ),
    "knots late": (lambda: tr.Spline(points=[0, 1], times=[1, 2]), "times 0"),
    "knots few": (lambda: tr.Spline(points=[0, 1], times=[0]), "times 2 1"),
    "one point": (lambda: tr.Through(points=[0], times=[0]), "times 2 1"),
    "no times": (lambda: tr.Through(points=[0, 1]), "times missing"),
    "no law": (
        lambda: tr.Through(points=[0, 1], times=[0, 1], law="septic"),
        "law.kind septic",
    ),
    "a path for a law": (lambda: line(duration=1.0, law=PLACE), "law kind"),
    "line ends": (lambda: line(start=[0, 1], end=[0, 1, 2], duration=1.0), "end"),
    "zero radius": (lambda: tr.Circle(**CIRCLE | {"radius": 0.0}), "radius 0"),
    "zero normal": (lambda: tr.Circle(**CIRCLE | {"normal": [0, 0, 0]}), "normal"),
    "zero rpm": (lambda: tr.Circle(**CIRCLE | {"rpm": 0}), "rpm 0"),
    "flat centre": (lambda: tr.Circle(**CIRCLE | {"centre": [0, 0]}), "centre 3 [0, 0]"),
    "start": (lambda: tr.Circle(**CIRCLE | {"start": [0, 0, 2]}), "start"),
    "unknown field": (lambda: tr.Circle(**CIRCLE | {"center": [0, 0, 0]}), "center centre"),
    "sine sizes": (
        lambda: tr.Sine(amplitude=[1, 2], frequency=[1, 2, 3], duration=1.0),
        "amplitude 2 3",
    ),
    "start size": (
        lambda: tr.ConstantAccelerations(start=0.0, accelerations=[[1, 2]], times=[0, 1]),
        "start 2",
    ),
    "hermite sizes": (
        lambda: tr.Hermite(points=[0, 1], times=[0, 1], velocities=[0, 0], accelerations=[0]),
        "accelerations 2 1",
    ),
    "spline ends": (
        lambda: tr.Spline(points=[0, 1], times=[0, 1], velocities=[0, 0, 0]),
        "velocities 3",
    ),
    "stack of none": (lambda: tr.Stack(parts=[]), "parts 1"),
    "stack durations": (
        lambda: tr.Stack(parts=[TURN, line(duration=2.0)]),
        "parts [1.0, 2.0]",
    ),
    "sum shapes": (
        lambda: tr.Sum(parts=[PLACE, TURN]),
        "parts (3,) ()",
    ),
    "position jump": (
        lambda: tr.Piecewise(parts=[TURN, TURN]),
        "parts.1 1 0 1.0",
    ),
    "velocity jump": (
        lambda: tr.Piecewise(parts=[line(duration=2.0, law="constant_speed"), tr.Rest(point=1.0, duration=1.0)]),
        "parts.1 velocity 0.5",
    ),
    "acceleration jump": (
        lambda: tr.Piecewise(parts=[line(duration=1.0, law="cosine"), tr.Rest(point=1.0, duration=1.0)], continuity=2),
        "parts.1 acceleration",
    ),
    "continuity": (lambda: tr.Piecewise(parts=[TURN], continuity=3), "continuity 0 1 2 3"),
    "convention": (lambda: tr.Euler(path=SIX, convention="XyZ"), "convention ZYZ XyZ"),
    "no convention": (lambda: tr.Euler(path=SIX).at(0.0), "convention missing"),
    "no home": (
        lambda: tr.Euler(path=SIX, convention="ZYX", relative_to="home").at(0.0),
        "relative_to for_model",
    ),
    "no robot": (lambda: tr.IndependentCoordinates(path=SIX).at(0.0), "path"),
    "five coordinates": (
        lambda: tr.Euler(path=tr.Rest(point=np.zeros(5), duration=1.0), convention="xyz"),
        "path x y z 5",
    ),
    "axis": (
        lambda: tr.AxisTurn(position=PLACE, axis=[0, 0, 0], angle=TURN),
        "axis",
    ),
    "axis position": (lambda: tr.AxisTurn(position=TURN, axis=[0, 0, 1], angle=TURN), "position"),
    "axis angle": (lambda: tr.AxisTurn(position=PLACE, axis=[0, 0, 1], angle=PLACE), "angle 3"),
    "axis start": (
        lambda: tr.AxisTurn(position=PLACE, axis=[0, 0, 1], angle=TURN, rotation=-np.eye(3)),
        "rotation",
    ),
    "pose shape": (lambda: tr.Poses.through(np.eye(4), [0, 1]), "poses (n, 4, 4)"),
    "pose row": (
        lambda: tr.Poses.through([np.eye(4), np.ones((4, 4))], [0, 1]),
        "poses 0 0 0 1",
    ),
    "pose skewed": (
        lambda: tr.Poses.through([np.eye(4), np.diag([1, 2, 1, 1])], [0, 1]),
        "poses.1.rotation",
    ),
    "half turn": (lambda: tr.Poses.through([np.eye(4), np.diag([1, -1, -1, 1])], [0, 1]), "poses 0 1"),
    "two rotations": (
        lambda: tr.Poses(poses=[{"time": 0, "position": [0, 0, 0], "angles": [0, 0, 1], "rotation_vector": [0, 0, 1]}]),
        "poses.0.rotation_vector rotation_vector",
    ),
    "path 4": (lambda: tr.Published(name="pedrammehr-path-4"), "name pedrammehr-path-4"),
    "backwards": (lambda: tr.Published(name="lopes-there-and-back", pace=-1.0), "pace 0"),
    "count": (lambda: TURN.even_times(0), "count 1 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    make, message = BAD[name]
    with refused(InputError, message):
        make()


def test_a_corner_at_speed_can_be_asked_for():
    corner = tr.Piecewise(
        parts=[tr.Line(start=0, end=1, duration=2.0, law="constant_speed"), tr.Rest(point=1.0, duration=1.0)],
        continuity=0,
    )
    np.testing.assert_array_equal(corner.at([1.0, 2.0, 2.5]).xdot, [0.5, 0.0, 0.0])


def test_what_a_path_is_made_from_cannot_be_changed_later():
    points = np.array([[0.0, 1.0], [2.0, 3.0]])
    path = tr.Through(points=points, times=[0.0, 1.0])
    points[:] = 9.0
    np.testing.assert_array_equal(path.at(0.0).x, [0.0, 1.0])


def test_the_integral_of_a_quartic_from_its_values_and_derivatives():
    """c0 + c1 z + ... + c4 z^4, known at 0, 1/2 and 1 with the derivatives at both ends: the integral has c_k/(k +
    1)."""
    c = np.random.default_rng(4).normal(size=(5, 7))
    z = np.array([0.0, 0.5, 1.0])
    start, middle, end = (c * z[:, None, None] ** np.arange(5)[:, None]).sum(axis=1)
    found = _quartic(start, middle, end, c[1], c[1] + 2 * c[2] + 3 * c[3] + 4 * c[4])
    np.testing.assert_allclose(found, c / np.arange(1, 6)[:, None], rtol=0, atol=1e-13)
