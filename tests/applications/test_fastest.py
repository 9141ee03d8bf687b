"""Fastest motions: against closed forms, against toppra, and by the full model between their places."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, MotionFileError, StateError
from polypod.fastest import Limits, fastest, prepare_grid
from polypod.motion import (
    ArcLengthPath,
    AxisTurn,
    Circle,
    Euler,
    IndependentCoordinates,
    Line,
    Piecewise,
    Poses,
    Rest,
    Sine,
    Stack,
    Sum,
    dumps_motion,
    find_motion,
    loads_motion,
)
from support.command_line import polypod
from support.refusals import failed, refused, says

CIRCLE = json.loads((Path(__file__).parent.parent / "data" / "topp_kim_ryu_circle.json").read_text())


@pytest.fixture(scope="module")
def hexaslide(model_of):
    return model_of("kim-ryu")


@pytest.fixture(scope="module")
def circle(hexaslide):
    return prepare_grid(hexaslide, "kim-ryu-circle", 200)


def largest_shares(model, found, limits, friction, inside=21):
    """Shares of the limits that the full model sees along the motion as its file says it.

    At times of its own: next to both ends of every interval, on their sides, and at ``inside`` places within.
    """
    trajectory = found.motion_file("again").trajectory.for_model(model)
    share = np.r_[1e-7, (np.arange(inside) + 0.5) / inside, 1 - 1e-7]
    knots = trajectory.reached
    t = (knots[:-1, None] + np.diff(knots)[:, None] * share).ravel()
    motion = trajectory.at(t)
    at = motion.pose, motion.twist, motion.acceleration
    force, rate = model.inverse_dynamics(*at, friction=friction), model.rates(*at[:2])
    seen = {"force": force, "speed": rate, "acceleration": model.accelerations(*at), "power": force * rate}
    shares = {k: np.abs(v).max() / getattr(limits, k) for k, v in seen.items() if getattr(limits, k) is not None}
    if limits.rms_force is not None:
        shares["rms_force"] = np.sqrt(np.trapezoid(force**2, t, axis=0) / t[-1]).max() / limits.rms_force
    if limits.reaction is not None:
        legs = model.reactions(*at, friction=friction).legs
        sizes = [np.linalg.norm(j.force, axis=1).max() for leg in legs.values() for j in leg.values()]
        shares["reaction"] = max(sizes) / limits.reaction
    if limits.force_speed is not None:
        points = np.array(limits.force_speed, dtype=float)
        shares["force_speed"] = (np.abs(force) / np.interp(np.abs(rate), points[:, 0], points[:, 1])).max()
        shares["speed"] = np.abs(rate).max() / points[-1, 0]
    return shares


# -- against closed forms and toppra -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "duration"),
    [
        # all three slides of a linear Delta move as the platform does along z: from rest to rest over 0.1 m
        (Limits(acceleration=2.0), 2 * np.sqrt(0.1 / 2.0)),
        (Limits(acceleration=2.0, speed=0.25), 0.1 / 0.25 + 0.25 / 2.0),
    ],
)
def test_a_straight_line_is_a_triangle_or_a_trapezoid_of_speed(model_of, limits, duration):
    """2 sqrt(L/a) and L/v + v/a; 1e-3 since the corner of the trapezoid lies between two of 400 places."""
    model = model_of("linear-delta")
    start = model.coordinates(model.robot.home.matrix)
    up = {"kind": "line", "start": start, "end": start + np.array([0, 0, 0.1]), "duration": 7.0}
    found = fastest(model, pp.motion.IndependentCoordinates(path=up), limits, points=400)
    assert found.duration == pytest.approx(duration, rel=1e-3)
    assert found.duration >= duration * (1 - 1e-9)


def test_the_circle_of_kim_and_ryu_as_toppra_times_it(hexaslide, circle):
    """1.7339 s at 200 points, from four digits of another program on the same path by a spline of 201 points."""
    found = fastest(hexaslide, circle, Limits(force=60.0), friction=False)
    assert found.duration == pytest.approx(CIRCLE["T_s"]["N=200"], rel=2e-4)
    assert found.binding["force"] > 0.98


def test_the_speeds_are_those_that_toppra_found(hexaslide, circle):
    """Place by place, as recorded with nine digits from the test below; 3e-6 as there."""
    found = fastest(hexaslide, circle, Limits(force=60.0), friction=False)
    speeds = np.array(CIRCLE["speeds_m_s"]["N=200"])
    np.testing.assert_allclose(found.speeds[1:-1], speeds[1:-1], rtol=3e-6)


def test_the_same_coefficients_give_toppras_speeds(hexaslide, circle):
    """Place by place, with an own evaluation of forces; it starts at a speed of 1e-4 m/s instead of at rest: 3e-6."""
    toppra = pytest.importorskip("toppra")
    toppra.setup_logging("ERROR")
    model, track = hexaslide, circle.path

    class Positions(toppra.interpolator.AbstractGeometricPath):
        dof, path_interval = 1, np.array([0.0, track.length])

        def __call__(self, s, order=0):
            return np.atleast_2d([np.asarray(s), np.ones_like(s), np.zeros_like(s)][order]).T

    places = track.at(circle.length)

    def forces(u, x):
        acceleration = u * places.tangent + x * places.curvature
        return model.inverse_dynamics(places.pose, np.sqrt(x) * places.tangent, acceleration, friction=False)

    c = forces(0.0, 0.0)
    a, b = forces(1.0, 0.0) - c, forces(0.0, 1.0) - c

    class Forces(toppra.constraint.LinearConstraint):
        def __init__(self):
            super().__init__()
            self.identical, self.discretization_type = True, toppra.constraint.DiscretizationType.Interpolation
            self.dof = 1

        def compute_constraint_params(self, path, gridpoints):
            both = np.vstack([np.eye(6), -np.eye(6)])
            parts = toppra.constraint.linear_constraint.canlinear_colloc_to_interpolate(
                a, b, c, both, np.full(12, 60.0), None, None, gridpoints, identical=True
            )
            return parts

    problem = toppra.algorithm.TOPPRA([Forces()], Positions(), gridpoints=circle.length, solver_wrapper="seidel")
    speeds = problem.compute_parameterization(0.0, 0.0)[1]
    found = fastest(model, circle, Limits(force=60.0), friction=False)
    np.testing.assert_allclose(found.speeds[1:-1], speeds[1:-1], rtol=3e-6)


# -- by the full model -------------------------------------------------------------------------------------------------

CASES = {
    "force": Limits(force=85.0),
    "speed": Limits(force=85.0, speed=0.25),
    "power": Limits(force=85.0, power=15.0),
    "power alone": Limits(power=15.0),
    "acceleration": Limits(force=90.0, acceleration=3.0),
    "rms": Limits(force=100.0, rms_force=60.0),
    "reaction": Limits(force=120.0, reaction=120.0),
}


@pytest.mark.parametrize("case", CASES)
def test_limits_are_kept_with_friction_between_the_places_too(hexaslide, circle, case):
    """Viscous and load-dependent dry friction; 0.1 % is what is promised, and something is used to 98 %."""
    limits = CASES[case]
    found = fastest(hexaslide, circle, limits)
    shares = largest_shares(hexaslide, found, limits, friction=True)
    assert max(shares.values()) < 1.001
    assert max(shares.values()) > 0.98
    for kind, share in shares.items():
        assert found.used[kind][0] == pytest.approx(share, rel=5e-3)
    slower = fastest(hexaslide, circle, limits, friction=False)
    assert slower.duration < found.duration


COARSE = {
    "acceleration": Limits(force=90.0, acceleration=3.0),
    "reaction": Limits(force=120.0, reaction=120.0),
    "curve": Limits(force_speed=[[0, 105], [0.15, 100], [0.4, 45]]),
}


@pytest.mark.parametrize("points", [20, 50])
@pytest.mark.parametrize("case", COARSE)
def test_few_places_keep_limits_between_them_too(hexaslide, case, points):
    """Between 20 places of a circle the full model's values swing by percents; 0.1 % above a limit is allowed."""
    limits = COARSE[case]
    found = fastest(hexaslide, "kim-ryu-circle", limits, points=points)
    shares = largest_shares(hexaslide, found, limits, friction=True, inside=101)
    assert 0.98 < max(shares.values()) < 1.001


def test_a_bend_within_one_interval_is_seen(model_of):
    """The published path of Staicu turns within a thousandth of its length: 1.3 % above if an interval hides it."""
    model, limits = model_of("staicu"), Limits(force=900.0)
    for points in (20, 1000):
        found = fastest(model, "staicu-path", limits, points=points)
        assert 0.98 < largest_shares(model, found, limits, friction=True, inside=31)["force"] < 1.001


def test_corners_are_left_on_their_own_side(model_of):
    """Next to a stop the length is rounded to that of the corner: the tangent is that of the time's own side."""
    model, limits = model_of("hexapod"), Limits(acceleration=0.5)
    found = fastest(model, "hexapod-tour", limits, points=200)
    assert 0.98 < largest_shares(model, found, limits, friction=False, inside=5)["acceleration"] < 1.001


def test_a_way_serves_again_until_its_motion_changes(hexaslide, tmp_path):
    """By the name of a motion, its object or its file; a file, a table or an object that changed is another way."""
    file, table, rows = (tmp_path / name for name in ("file.yaml", "table.yaml", "rows.csv"))
    turn = "name: a\ntrajectory: {kind: axis, axis: [0, 0, 1], %s, angle: {kind: rest, point: 0, duration: 1}}\n"
    circle = turn % "position: {kind: circle, centre: [0, 0, 0.9], radius: %s, normal: [0, 0, 1], rpm: 60}"
    table.write_text(turn % "position: {kind: through, csv: rows.csv}")

    def places(motion):
        return prepare_grid(hexaslide, motion, 20).samples.pose

    def reached(motion):
        return np.ptp(places(motion)[:, 0, 3])

    file.write_text(circle % 0.02)
    for motion in ("kim-ryu-circle", find_motion(hexaslide, "kim-ryu-circle").trajectory, file):
        assert places(motion) is places(motion)
    for reach in (0.02, 0.03):
        file.write_text(circle % reach)
        rows.write_text(f"time,x,y,z\n0,0,0,0.9\n1,{reach},0,0.9\n")
        assert reached(file) == pytest.approx(2 * reach, rel=1e-12)
        assert reached(table) == pytest.approx(reach, rel=1e-12)

    class Up(pp.motion.Trajectory):
        duration, reach = 1.0, 0.02

        def evaluate(self, t):
            inner = Euler(path=Line(start=[0.0] * 6, end=[self.reach] + [0.0] * 5, duration=1), convention="ZYX")
            return inner.at(t)

    own = Up()
    for own.reach in (0.02, 0.03):
        assert reached(own) == pytest.approx(own.reach, rel=1e-12)


def test_a_wrench_pushes_at_the_places_it_was_given_for(hexaslide):
    """A table by the time of the motion given: in the faster one's file it is by that one's time."""
    text = """
    name: pushed
    trajectory: {kind: published, name: kim-ryu-circle}
    wrench: {kind: table, times: [0, 0.7, 1.5], values: [[0, 0, 0, 0, 0, 0], [0, 9, -30, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}
    """
    given = loads_motion(text)
    found = fastest(hexaslide, given, Limits(force=100.0), points=50)
    again = loads_motion(dumps_motion(found.motion_file("quick")))
    quick, slow = (file.trajectory.for_model(hexaslide) for file in (again, given))
    t = np.linspace(1e-6, 1 - 1e-6, 2001) * quick.duration
    motion = quick.at(t)
    wrench = again.wrench.at(motion)
    force = hexaslide.inverse_dynamics(motion.pose, motion.twist, motion.acceleration, wrench)
    assert 0.98 < np.abs(force).max() / 100.0 < 1.001
    times = np.linspace(0, slow.duration, 4001)
    nearest = np.linalg.norm(slow.at(times).pose[None, :, :3, 3] - motion.pose[::400, None, :3, 3], axis=-1).argmin(1)
    place = slow.at(times[nearest])
    np.testing.assert_allclose(wrench[::400], given.wrench.at(place), atol=0.05)  # places are 0.16 mm apart


def test_platforms_that_follow_their_legs_keep_limits(model_of):
    """Where a motion starts from rest its tangent is read further inside; the parasitic motion must fit the pose."""
    model, limits = model_of("3-rps"), Limits(speed=0.3, acceleration=4.0)
    found = fastest(model, "3-rps-tilt", limits, points=50)
    assert 0.98 < max(largest_shares(model, found, limits, friction=True).values()) < 1.001


def test_force_speed_curves_are_kept_and_are_what_they_stand_for(hexaslide, circle):
    """A box is a limit of force and one of speed, a fine hyperbola one of power; others by the full model."""
    box = fastest(hexaslide, circle, Limits(force=60.0, speed=0.3), friction=False)
    same = fastest(hexaslide, circle, Limits(force_speed=[[0, 60], [0.3, 60]]), friction=False)
    assert same.duration == pytest.approx(box.duration, rel=1e-14)  # sums of the same times, rounded otherwise
    power = fastest(hexaslide, circle, Limits(force=200.0, power=12.0), friction=False)
    speed = np.r_[0.0, np.geomspace(0.06, 2.0, 200)]
    points = np.column_stack([speed, np.r_[200.0, 12.0 / speed[1:]]])
    curve = fastest(hexaslide, circle, Limits(force_speed=points), friction=False)
    assert curve.duration == pytest.approx(power.duration, rel=1e-4)  # chords of 2 % lie 1e-4 above a hyperbola
    fine = prepare_grid(hexaslide, "kim-ryu-circle", 1000)
    for points in ([[0, 105], [0.15, 100], [0.4, 45]], [[0, 115], [0.1, 110], [0.2, 85], [0.5, 50]]):
        found = fastest(hexaslide, fine, Limits(force_speed=points))
        motion = found.trajectory.for_model(hexaslide)
        at = motion.at(np.linspace(1e-9, 1 - 1e-9, 4001) * motion.duration)
        force = hexaslide.inverse_dynamics(at.pose, at.twist, at.acceleration)
        most = np.interp(np.abs(hexaslide.rates(at.pose, at.twist)), *np.transpose(points))
        assert 0.98 < (np.abs(force) / most).max() < 1.001
    with refused(InputError, "force_speed"):
        fastest(hexaslide, circle, Limits(force_speed=[[0, 10], [0.1, 20]]))


def test_no_other_speed_is_faster(hexaslide, circle):
    """Speeds one percent higher anywhere break a limit, or cannot be reached or left in time."""
    limits = Limits(force=85.0)
    found = fastest(hexaslide, circle, limits, friction=False)
    rng = np.random.default_rng(3)
    for k in rng.integers(3, len(found.lengths) - 3, 6):
        bump = 1 + 0.01 * np.exp(-(((np.arange(len(found.lengths)) - k) / 2.0) ** 2))
        faster = pp.motion.Retimed(
            along=circle.along, turn_length=circle.path.turn_length, lengths=found.lengths,
            speeds=found.speeds * bump,
        ).for_model(hexaslide)  # fmt: skip
        motion = faster.at(np.linspace(0, faster.duration, 8001)[1:-1])
        force = hexaslide.inverse_dynamics(motion.pose, motion.twist, motion.acceleration, friction=False)
        assert np.abs(force).max() > 85.0 * 1.002


def test_jerk_is_bounded_on_request_and_other_limits_hold(hexaslide, circle):
    """Differences of the actuators' accelerations over 200,000 times; more jerk allows a shorter motion."""
    limits = Limits(force=85.0, speed=0.3, jerk=30.0)
    found = fastest(hexaslide, circle, limits, friction=False)
    trajectory = loads_motion(dumps_motion(found.motion_file("smooth"))).trajectory.for_model(hexaslide)
    t = np.linspace(0.0, trajectory.duration, 200_001)
    motion = trajectory.at(t)
    change = hexaslide.accelerations(motion.pose, motion.twist, motion.acceleration)
    jerks = np.abs(np.diff(change, axis=0) / t[1])
    jerk = jerks.max()
    assert 30.0 * 0.95 < jerk < 30.0 * 1.001
    # what limits is named: which kind, which actuator (by the largest jerk within its rounding), how often
    share, who, _ = found.used["jerk"]
    assert share == pytest.approx(jerk / 30.0, rel=2e-3)
    assert jerks.max(axis=0)[[a.name for a in hexaslide.actuators].index(who)] == pytest.approx(jerk, rel=2e-3)
    assert found.binding["jerk"] == pytest.approx((jerks.max(axis=1) > 0.98 * 30.0).mean(), abs=0.01)
    assert sum(found.binding.values()) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(motion.acceleration[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.twist[[0, -1]], 0.0, atol=1e-9)
    shares = largest_shares(hexaslide, found, limits, friction=False)
    assert max(shares.values()) < 1.001
    assert {kind: found.used[kind][0] for kind in shares} == pytest.approx(shares, rel=2e-3)
    free = fastest(hexaslide, circle, Limits(force=85.0, speed=0.3), friction=False)
    softer = fastest(hexaslide, circle, Limits(force=85.0, speed=0.3, jerk=60.0), friction=False)
    assert free.duration < softer.duration < found.duration < 2 * free.duration


def stadium(centre, radius=0.03, straight=0.05):
    """A line into a half circle, back and round: the tangent is continuous, the curvature jumps four times."""
    x, y, z = centre

    def arc(side, start):
        middle = [x + side * straight / 2, y, z]
        return Circle(centre=middle, radius=radius, normal=[0, 0, 1], rpm=30.0, turns=0.5, start=start)

    def line(start, end):
        at = [[x + side * straight / 2, y + up * radius, z] for side, up in (start, end)]
        return Line(start=at[0], end=at[1], duration=straight / (np.pi * radius))

    parts = [line((-1, -1), (1, -1)), arc(1, [0, -1, 0]), line((1, 1), (-1, 1)), arc(-1, [0, 1, 0])]
    path = Piecewise(parts=parts, continuity=0)
    return Euler(path=Stack(parts=[path, Rest(point=[0, 0, 0], duration=path.duration)]), convention="ZYX")


def test_the_curvature_of_a_line_into_an_arc_jumps(hexaslide):
    along = prepare_grid(hexaslide, stadium(hexaslide.robot.home.position), 60)
    assert along.path.bends.tolist() == [False, True, True, True, False]
    assert along.path.stops.tolist() == [True, False, False, False, True]
    marks = along.resting_at_bends().length[along.resting_at_bends().stops]
    np.testing.assert_allclose(np.unique(marks.round(9)), along.path.breakpoints, rtol=1e-9, atol=1e-9)


@pytest.mark.long
def test_jerk_is_bounded_where_the_curvature_of_a_path_jumps(hexaslide):
    """Accelerations jumped there, so that the jerk had no bound: 8 times the limit at 40,001 times, 85 at 400,001."""
    path = stadium(hexaslide.robot.home.position)
    limits = Limits(speed=0.3, acceleration=3.0, jerk=60.0)
    along = prepare_grid(hexaslide, path, 60)
    found = fastest(hexaslide, along, limits, friction=False)
    trajectory = found.trajectory.for_model(hexaslide)
    marks = along.path.breakpoints[along.path.bends]
    there = found.smooth.times[np.abs(found.smooth.lengths - marks[:, None]).argmin(axis=1)]
    # everywhere, and ever closer to where parts meet
    spans = [(0.0, trajectory.duration), *((t - d, t + d) for t in there for d in (1e-2, 1e-4))]
    for start, end in spans:
        t = np.linspace(start, end, 2001)
        motion = trajectory.at(t)
        change = hexaslide.accelerations(motion.pose, motion.twist, motion.acceleration)
        assert np.abs(np.diff(change, axis=0) / (t[1] - t[0])).max() < 60.0 * 1.002
    assert found.used["jerk"][0] <= 1.001
    # without a limit of the jerk nothing stops there
    free = fastest(hexaslide, along, Limits(speed=0.3, acceleration=3.0), friction=False)
    assert free.speeds[1:-1].min() > 0.0


@pytest.mark.parametrize("law", ["constant_speed", "quintic"])
def test_a_curvature_that_does_not_jump_is_no_stop(law, hexaslide):
    """A circle in two arcs, and a line in two halves that rest where they meet."""
    x, y, z = hexaslide.robot.home.position
    halves = [((0.0, 0.02), 1.0), ((0.02, 0.05), 1.0)]
    lines = [Line(start=[x + a, y, z], end=[x + b, y, z], duration=t, law=law) for (a, b), t in halves]
    arcs = [
        Circle(centre=[x, y, z], radius=0.03, normal=[0, 0, 1], rpm=30.0, turns=turns, start=start)
        for turns, start in ((0.25, [1, 0, 0]), (0.5, [0, 1, 0]))
    ]
    for parts in (lines, arcs):
        path = Piecewise(parts=parts, continuity=0)
        whole = Stack(parts=[path, Rest(point=[0, 0, 0], duration=path.duration)])
        assert not ArcLengthPath(Euler(path=whole, convention="ZYX"), 0.1).bends.any()


@pytest.mark.long
def test_bounded_jerk_between_stops_is_no_slower_for_more_places(model_of):
    """Peaks of acceleration beside a stop, higher the closer the places are, do not slow the whole motion down."""
    model = model_of("3-rps")
    limits = Limits(force=2 * np.abs(model.inverse_dynamics(model.robot.home.matrix, [0] * 6, [0] * 6)).max(),
                    speed=0.3, jerk=200.0)  # fmt: skip
    few, found = (fastest(model, "3-rps-tilt", limits, points=points) for points in (50, 100))
    assert found.duration < few.duration < 1.25 * fastest(model, "3-rps-tilt", replace(limits, jerk=None)).duration
    for one in (few, found):
        trajectory = one.trajectory.for_model(model)
        t = np.linspace(0.0, trajectory.duration, 50_001)
        motion = trajectory.at(t)
        change = model.accelerations(motion.pose, motion.twist, motion.acceleration)
        assert 0.998 < np.abs(np.diff(change, axis=0) / t[1]).max() / 200.0 < 1.001
        assert max(largest_shares(model, one, limits, friction=True).values()) < 1.001


# -- ways --------------------------------------------------------------------------------------------------------------


def test_a_track_is_parametrised_by_its_length():
    """A circle with a turn: known length, unit tangents, curvatures as their differences."""
    path = Stack(parts=[Circle(centre=[0, 0, 0], radius=0.2, normal=[0, 0, 1], rpm=30, turns=1),
                        Rest(point=[0, 0, 0], duration=2.0)])  # fmt: skip
    track = ArcLengthPath(Euler(path=path, convention="ZYX"), 0.3)
    assert track.length == pytest.approx(0.4 * np.pi, rel=1e-12)
    spin = AxisTurn(position=Rest(point=[0, 0, 1], duration=1), axis=[0, 0, 1],
                    angle=Line(start=0.0, end=0.5, duration=1, law="quintic"))  # fmt: skip
    assert ArcLengthPath(spin, 0.3).length == pytest.approx(0.15, rel=1e-12)
    at, h = np.linspace(0.1, 0.9, 7) * track.length, 1e-5
    change = (track.at(at + h).tangent - track.at(at - h).tangent) / (2 * h)
    np.testing.assert_allclose(track.at(at).curvature, change, atol=1e-8)


def test_corners_and_turns_back_are_stops_and_rests_on_a_line_are_not():
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[1:, 0, 3], poses[3, 1, 3] = [0.1, 0.2, 0.2], 0.1  # two steps along x, one along y
    track = ArcLengthPath(Poses.through(poses, [0.0, 1.0, 3.0, 4.0]), 0.1)
    np.testing.assert_array_equal(track.stops, [True, False, True, True])
    np.testing.assert_allclose(track.breakpoints, [0, 0.1, 0.2, 0.3], rtol=1e-12)
    back = Stack(parts=[Sine(offset=[0, 0, 0], amplitude=[0.1, 0, 0], frequency=1.0, duration=1.0),
                        Rest(point=[0, 0, 0], duration=1.0)])  # fmt: skip
    swing = ArcLengthPath(Euler(path=back, convention="ZYX"), 0.1)
    assert swing.length == pytest.approx(0.4, rel=1e-9)
    np.testing.assert_allclose(swing.breakpoints[swing.stops], [0, 0.1, 0.3, 0.4], atol=1e-9)


def line_and_wave(amplitude, law):
    """A slow line, then a fast wave."""
    line = Line(start=[0, 0], end=[0.1, 0], duration=10.0)
    wave = Sine(amplitude=[0, amplitude], frequency=40, duration=1.0)
    waving = Sum(parts=[Line(start=[0.1, 0], end=[0.2, 0], duration=1.0, law=law), wave])
    path = Stack(parts=[Piecewise(parts=[line, waving], continuity=0), Rest(point=[1, 0, 0, 0], duration=11.0)])
    return Euler(path=path, convention="ZYX")


def test_a_way_of_many_periods_has_cells_for_each_of_them():
    """Tangents against differences of the pose, which leave 1e-6 here; with two cells a period they were 4e-3 off."""
    track, middle, h = ArcLengthPath(line_and_wave(1e-4, "constant_speed"), 0.1), np.linspace(0.11, 0.19, 501), 1e-7
    early, now, late = (track.at(middle + shift) for shift in (-h, 0.0, h))
    np.testing.assert_allclose((late.pose - early.pose)[:, :2, 3] / (2 * h), now.tangent[:, :2], atol=1e-6)


def test_turns_as_sharp_as_corners_are_found_once():
    """A wave at the ends of a line that starts and ends at rest: its first and last turn are stops, others are curves.

    Stops beside are both ends, and where the wave begins.
    """
    track = ArcLengthPath(line_and_wave(1e-3, "quintic"), 0.1)
    assert track.stops.sum() == 5
    assert (np.diff(track.breakpoints) > 0).all()


def test_limits_are_kept_in_turns_of_next_to_no_radius(hexaslide):
    """A wave on a line that starts at rest: in its first turn intervals halved twelve times took 27 % too much."""
    swing = Sine(amplitude=[0, 1e-3], frequency=20, duration=1.0)
    wave = Sum(parts=[Line(start=[0, 0], end=[0.05, 0], duration=1.0), swing])
    path = Stack(parts=[wave, Rest(point=[0, 0, 0, 0], duration=1.0)])
    limits = Limits(force=85.0)
    found = fastest(hexaslide, Euler(path=path, relative_to="home"), limits, friction=False)
    assert largest_shares(hexaslide, found, limits, False, inside=5)["force"] < 1.005


def test_a_retimed_motion_is_one_and_reads_back(hexaslide, circle):
    """Twist and acceleration against central differences of the pose, away from the knots; then the file."""
    found = fastest(hexaslide, circle, Limits(force=85.0, speed=0.25))
    text = dumps_motion(found.motion_file("quick", "kim-ryu"))
    again = loads_motion(text).trajectory.for_model(hexaslide)
    assert again.duration == found.duration
    used = loads_motion(text).trajectory
    used.at(0.1)
    assert used == loads_motion(text).trajectory  # what it has worked out meanwhile is no field of it
    t = (found.trajectory.reached[1:] + found.trajectory.reached[:-1])[5::20] / 2
    h = 1e-5
    early, now, late = (again.at(t + shift) for shift in (-h, 0.0, h))
    moved = (late.pose - early.pose)[:, :3, 3] / (2 * h)
    np.testing.assert_allclose(now.twist[:, :3], moved, atol=1e-8)
    np.testing.assert_allclose(now.acceleration, (late.twist - early.twist) / (2 * h), atol=1e-5)
    ends = again.at([0.0, again.duration])
    np.testing.assert_allclose(ends.twist, 0.0, atol=1e-12)
    given = find_motion(hexaslide, "kim-ryu-circle").trajectory.for_model(hexaslide)
    np.testing.assert_allclose(ends.pose, given.at([0.0, given.duration]).pose, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_an_rms_force_may_be_limited_of_one_actuator(model_of):
    model = model_of("delta")
    free = fastest(model, "delta-pick-and-place", Limits(force=200.0), friction=False, points=100)
    limits = Limits(force=200.0, rms_force=[60.0, np.inf, np.inf])
    found = fastest(model, "delta-pick-and-place", limits, friction=False, points=100)
    assert found.used["rms_force"][:2] == (pytest.approx(1.0, abs=0.03), "leg1")
    assert found.duration > 1.2 * free.duration


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(), "force speed acceleration power reaction #missing"),
        (
            Limits(rms_force=50.0),
            "force speed acceleration power reaction #missing",
        ),
        (Limits(force=-1.0), "force -1"),
        (Limits(force=[1.0, 2.0]), "limits.force 6 2"),
        (Limits(force=30.0), "limits.force 30 N"),
        (Limits(force=85.0, rms_force=10.0), "limits.rms_force"),
        (Limits(force=300.0, reaction=20.0), "limits"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(hexaslide, circle, limits, message):
    with refused(InputError, message):
        fastest(hexaslide, circle, limits)


def test_ways_that_cannot_be_gone_are_refused(hexaslide, model_of):
    home = hexaslide.robot.home.matrix
    far = home.copy()
    far[:3, 3] += [5.0, 0.0, 0.0]
    with refused(StateError, "trajectory"):
        fastest(hexaslide, Poses.through([home, far], [0.0, 1.0]), Limits(force=60.0), points=50)
    tilted = IndependentCoordinates(path=Line(start=[0, 0, 0], end=[0, 2.0, 2.0], duration=1.0))
    with refused(StateError, "trajectory"):
        ArcLengthPath(tilted.for_model(model_of("3-prs")), 0.1)
    with refused(InputError, "trajectory", code="no_motion"):
        fastest(hexaslide, Poses.through([home, home], [0.0, 1.0]), Limits(force=60.0), points=50)
    with refused(InputError, "points"):
        fastest(hexaslide, None, Limits(force=60.0), points=3)


def test_files_of_retimed_motions_are_checked():
    along = "{{kind: published, name: kim-ryu-circle}}"
    text = f"{{{{name: a, trajectory: {{{{kind: retimed, turn_length: 0.1, along: {along}, {{}}}}}}}}}}"
    with refused(MotionFileError, "speeds 0"):
        loads_motion(text.format("lengths: [0, 1, 2], speeds: [0, 0, 1]"))
    with refused(MotionFileError, "lengths"):
        loads_motion(text.format("lengths: [0, 1, 1], speeds: [0, 1, 1]"))
    smooth = "lengths: [0, 0.33333333, 1.33333333], speeds: [0, 1, 0], times: [0, 1, 2], accelerations: [0, 2, %s]"
    assert loads_motion(text.format(smooth % -4)).trajectory.duration == 2.0
    with refused(MotionFileError, "1.5 0.5 1.33333333"):
        loads_motion(text.format(smooth % -3))
    short = loads_motion(text.format("lengths: [0, 0.3, 0.5], speeds: [0, 1, 0]"))
    with refused(InputError, "0.628318531 0.5"):
        short.trajectory.for_model(pp.Model("kim-ryu")).at(0.1)


def test_a_robot_of_three_dof_writes_its_motion_about_home(tmp_path, monkeypatch):
    """Its generalized coordinates, which the file states: read again it takes as long."""
    monkeypatch.chdir(tmp_path)
    result = polypod("fastest", "linear-delta", "around-home", "--points", "50", "--json")
    assert result.exit_code == 0, result.output
    text = Path("around-home-fastest.yaml").read_text()
    assert "kind: coordinates" in text
    assert loads_motion(text).trajectory.duration == pytest.approx(json.loads(result.stdout)["duration_s"], rel=1e-12)


def test_the_command_writes_a_motion_that_run_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["fastest", "kim-ryu", "kim-ryu-circle", "--max-force", "0.085 kN", "--points", "100"]
    ran_once = polypod(*asked)
    assert ran_once.exit_code == 0, ran_once.output
    says(ran_once.output, "1.5")
    assert polypod(*asked).exit_code == 2  # never over a file automatically
    data = json.loads(polypod(*asked, "--force", "--json").output)
    ran = polypod("run", "kim-ryu", data["motion_file"], "--no-files", "--no-certify", "--json")
    peaks = [abs(row["peak_force"]) for row in json.loads(ran.output)["actuators"]]
    assert 85 * 0.98 < max(peaks) < 85 * 1.001
    wrong = polypod("fastest", "kim-ryu", "--max-force", "2 mm")
    assert wrong.exit_code == 2
    failed(wrong, "--max-force N kN")


@pytest.mark.parametrize(
    ("settings", "kind", "quantity"),
    [
        ({"platform_limits.max_speed": "60 mm/s"}, "platform_speed", "platform speed"),
        ({"platform_limits.max_acceleration": "0.3 m/s^2"}, "platform_acceleration", "platform acceleration"),
        ({"platform_limits.max_acceleration": [0.3, 0.4, 0.2]}, "platform_acceleration", "platform acceleration"),
        ({"platform_limits.max_angular_acceleration": "0.4 rad/s^2"}, "platform_angular_acceleration", None),
        (
            {
                "legs.*.lead": "5 mm", "legs.*.rotor_inertia": 2e-5, "legs.*.efficiency": 0.8,
                "legs.*.max_motor_torque": "0.25 N m",
            },
            "motor_torque",
            "motor torque",
        ),
        ({}, "reaction", "reaction"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("jerk", [None, pytest.param(200.0, marks=pytest.mark.long)])
def test_every_limit_of_the_robot_file_holds_a_fastest_motion(settings, kind, quantity, jerk):
    """The judge finds the limit used in full, and not exceeded; nothing else holds the motion back so much."""
    from polypod.fastest.solve import TOLERANCE, judged

    loose = {"legs.*.max_force": "100 kN", "legs.*.max_speed": "100 m/s"}
    robot = pp.load("hexapod", {**loose, **settings})
    if kind == "reaction":
        data = robot.model_dump(exclude_unset=True)
        for leg in data["legs"]:
            leg["bearings"] = {"spherical": {"max_reaction": 260.0}}
        robot = pp.Robot.model_validate(data)
    model = pp.Model(robot)
    found = fastest(model, "hexapod-tour", Limits(jerk=jerk), points=120, friction=False)
    report = judged(model, found, friction=False)
    use = report.largest()[quantity or kind.replace("_", " ")]
    assert use <= 1 + 2 * TOLERANCE
    assert found.used[kind][0] == pytest.approx(use, rel=0.05)
    if jerk is None:
        assert use > 0.9
        assert found.binding[kind] > 0.05
