"""When motions are looked at: their points always, and often enough for their shape."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, MotionFileError, StateError
from polypod.file_kinds import check
from polypod.motion import (
    Circle,
    ConstantAccelerations,
    Euler,
    Hermite,
    IndependentCoordinates,
    Line,
    Piecewise,
    Polynomial,
    Poses,
    Published,
    Rest,
    Sine,
    Spline,
    Stack,
    Sum,
    Through,
    load_motion,
    loads_motion,
    make_task,
    sample_times,
    with_motion_lines,
)
from polypod.results import between, study, verdict
from support.refusals import refused, warned

FAR = """name: far
rate: 0.5
trajectory:
  kind: poses
  relative_to: home
  poses:
    - {time: 0, position: [0, 0, 0]}
    - {time: 1, position: [0, 0, 30]}
    - {time: 2, position: [0, 0, 0]}
"""


@pytest.mark.parametrize("time", ["1", "1000 ms"])
def test_thirty_metres_between_two_samples_are_seen(time, tmp_path):
    """The two samples of this rate are both home; the pose between them is named, whatever the unit of its time."""
    path = tmp_path / "far.yaml"
    path.write_text(FAR.replace("time: 1,", f"time: {time},"))
    report = check(path, "kim-ryu")
    assert not report.ok
    (fault,) = report.faults
    assert (fault.field, fault.line) == ("trajectory.poses.1", 8)
    assert "leaves the reachable range" in fault.message


POINTS = [0.0, 0.123, 0.4567, 1.0]
HEAVE = """name: heave
rate: 1
trajectory:
  kind: euler
  relative_to: home
  path: {kind: sine, amplitude: [0, 0, %s, 0, 0, 0], frequency: 1, duration: 1, phase: 0.19634954}
"""


def highest(model):
    """How far up the rails of a robot let its platform go from home [m], by bisection of the limits alone."""
    low, high = 0.0, 0.5
    for _ in range(40):
        pose = model.robot.home.matrix
        pose[2, 3] += (middle := 0.5 * (low + high))
        low, high = (middle, high) if model.limits(pose).ok else (low, middle)
    return low


@pytest.mark.parametrize(
    ("part", "certified", "remark"),
    [
        pytest.param(1 - 1e-7, True, "meets its kinematic limits, verified between samples", marks=pytest.mark.long),
        (1 + 1e-7, False, "violates limits between samples: leg"),
    ],
)
def test_a_peak_between_two_samples_is_judged(part, certified, remark, tmp_path, model_of):
    """The 16 samples a period are pi/16 from the peak, so that they see 98 % of it: 'can make it' before."""
    path, top = tmp_path / "heave.yaml", highest(model_of("kim-ryu"))
    path.write_text(HEAVE % f"{part * top:.12f}")
    report = check(path, "kim-ryu")
    assert report.ok
    assert report.certified is certified
    assert remark in report.remarks[0]
    assert report.within_limits is (part < 1)
    assert report.clean is certified


@pytest.mark.long
def test_run_breaks_with_a_peak_between_two_samples(tmp_path, model_of):
    """The same sine: the verdict of a run was that of its samples alone."""
    path, top = tmp_path / "heave.yaml", highest(model_of("kim-ryu"))
    path.write_text(HEAVE % f"{1.01 * top:.12f}")
    model = model_of("kim-ryu")
    task = make_task(model, path)
    result = study(model, task, certify=False)
    assert verdict(result).ok
    assert "at the samples" in verdict(result).headline
    judged = verdict(study(model, task))
    assert not judged.ok
    assert judged.headline.startswith("Does not fit: limits are violated between samples: leg")


SHAPES = {
    "sine": Sine(amplitude=[1.0, 2.0], frequency=[1.0, 7.0], phase=0.3, duration=1.0),
    "circle": Circle(centre=[0, 0, 0], radius=0.3, normal=[1, 2, 3], rpm=40),
    "quintic": Line(start=[0, 1], end=[1, -3], duration=0.7),
    "cosine": Line(start=0, end=1, duration=0.7, law="cosine"),
    "constant": Line(start=0, end=1, duration=0.7, law="constant_speed"),
    "trapezoid": Line(start=0, end=1, duration=0.7, law={"kind": "trapezoid", "ramp": 0.2}),
    "through": Through(points=[0, 1, -2, 2], times=POINTS),
    "spline": Spline(points=[[0, 0], [1, 2], [-1, 5], [0, 0]], times=POINTS),
    "polynomial": Polynomial(coefficients=[0.1, -1.0, 2.0, 3.0, -4.0, 0.5, 0.25], duration=1.3),
    "polynomial of degree 0": Polynomial(coefficients=[[0.1, 0.2, 0.3]], duration=1.0),
    "hermite": Hermite(points=[0, 1, 0], times=[0, 0.3, 1.0], velocities=[0, 4, -1], accelerations=[0, 0, 9]),
    "accelerations": ConstantAccelerations(start=0, accelerations=[3, -5, 1], times=[0, 0.2, 0.9, 1.0], velocity=-1),
    "sum": Sum(parts=[Sine(amplitude=1, frequency=3, duration=1.0), Through(points=[0, 1, 0, 2], times=POINTS)]),
    "piecewise": Piecewise(parts=[Rest(point=0.0, duration=0.3), Line(start=0, end=1, duration=0.1)]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_no_instant_is_faster_than_the_bound_of_its_formula(name):
    """20,001 instants; single curves come within 2 % of their bounds, a sum need not reach that of its parts."""
    path = SHAPES[name]
    rates = np.abs(path.at(path.even_times(20_001)).xdot).reshape(20_001, -1).max(axis=0)
    assert path.peak.shape == (path.count,)
    assert (rates <= path.peak * (1 + 1e-12)).all()
    if name != "sum":
        assert (rates >= 0.98 * path.peak - 1e-12).all()


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_of_paths_are_bounded(name):
    """Within +-h of a time accelerations are as the third derivative says, to h^2/2 times the bound of the fourth."""
    path = SHAPES[name]
    ends = np.unique(path.pieces[:, :2])
    t = np.concatenate([np.linspace(a, b, 12)[1:-1] for a, b in pairwise(ends)])
    half = 0.9 * np.min(np.abs(t[:, None] - ends), axis=1)
    x, xdot, xddot, third, fourth = path.expansion(t, half)
    scale = np.abs(xddot).max() + 1e-12
    for share in np.linspace(-1.0, 1.0, 21):
        step = (share * half)[:, None]
        there = path.at(t + step[:, 0])
        for value, terms in ((there.xddot, (xddot, third)), (there.xdot, (xdot, xddot, third / 2))):
            rest = np.abs(np.reshape(value, x.shape) - sum(term * step**k for k, term in enumerate(terms)))
            order = len(terms)
            bound = fourth * np.abs(step) ** order / (2 if order == 2 else 6)
            assert (rest <= bound * (1 + 1e-9) + 1e-12 * scale).all()


def test_a_turn_is_no_faster_than_its_angles_allow():
    """All three angles at once in an order whose first and last axes may coincide."""
    path = Stack(parts=[Rest(point=[0, 0, 0], duration=1.0), Sine(amplitude=[1, 0.3, 1], frequency=1, duration=1.0)])
    motion = Euler(path=path, convention="ZXZ")
    turning = np.linalg.norm(motion.at(motion.even_times(2001)).twist[:, 3:], axis=1).max()
    assert 0.95 * motion.peak.turning < turning <= motion.peak.turning * (1 + 1e-12)


@pytest.mark.long
def test_functions_of_a_program_have_no_bound_of_their_own(model_of):
    """What is taken for granted of them is reported."""
    inner = make_task(model_of("kim-ryu"), "kim-ryu-circle").trajectory

    class Own(pp.motion.Trajectory):
        duration = inner.duration

        def evaluate(self, t):
            return inner.evaluate(t)

    task = make_task(model_of("kim-ryu"), Own())
    found = between(model_of("kim-ryu"), task)
    assert found.certified
    # a tenth more than its speed between samples, 0.1 m at 40 rpm
    assert f"assuming speeds of at most {1.1 * 0.1 * 40 * np.pi / 30:.3f} m/s" in found.text
    assert "granted" not in between(model_of("kim-ryu"), make_task(model_of("kim-ryu"), "kim-ryu-circle")).text


def test_a_rate_of_almost_nothing_still_moves(model_of):
    task = make_task(model_of("lopes"), rate=1e-9)
    fine = make_task(model_of("lopes"))
    for few, many in zip(task.motion[2:], fine.motion[2:], strict=True):
        assert np.abs(few).max() > 0.97 * np.abs(many).max()


def coordinates(path):
    return IndependentCoordinates(path=path)


@pytest.mark.parametrize("rate", [1e-6, 0.7, 10.0, 200.0, 1234.5])
def test_points_are_among_the_samples(rate):
    through = Through(points=[0, 1, 0, 2], times=POINTS)
    later = Piecewise(parts=[Rest(point=0.0, duration=0.3), through])
    for path, wanted in (
        (through, POINTS),
        (Stack(parts=[Line(start=0, end=1, duration=1.0), through]), POINTS),
        (Sum(parts=[Sine(amplitude=1, frequency=1, duration=1.0), through]), POINTS),
        (later, [0.0, *(0.3 + np.array(POINTS))]),
    ):
        times = sample_times(coordinates(path), rate)
        assert (np.diff(times) > 0).all()
        assert (times[0], times[-1]) == (0.0, path.duration)
        assert np.abs(times[:, None] - wanted).min(axis=0).max() <= 1e-12 * path.duration
        assert len(times) >= 17


def test_an_ordinary_rate_is_even():
    """What the shape needs is there already, points on the grid are not doubled by rounding."""
    circle = Circle(centre=[0, 0, 0], radius=1, normal=[0, 0, 1], rpm=40)
    np.testing.assert_array_equal(sample_times(coordinates(circle), 100.0), np.linspace(0, 1.5, 151))
    through = Through(points=[0, 1, 0, 2], times=[0, 0.1, 0.7, 1.1])
    np.testing.assert_array_equal(sample_times(coordinates(through), 100.0), np.linspace(0, 1.1, 111))


@pytest.mark.parametrize("rate", [1e-3, 1.0, 7.0])
def test_periods_are_seen_whatever_the_rate(rate):
    """16 samples a period meet every peak to 1 - cos(pi/16) = 2 %."""
    path = Sine(amplitude=1.0, frequency=7.0, duration=3.0, phase=0.4)
    times = sample_times(coordinates(path), rate)
    for k, size in enumerate((1.0, 14 * np.pi, (14 * np.pi) ** 2)):
        for start in np.arange(21) / 7:
            period = times[(times >= start) & (times <= start + 1 / 7)]
            assert np.abs(path.at(period)[k]).max() > (1 - 0.02) * size


def test_samples_are_added_only_where_they_lack():
    """A dash of 10 ms in a motion of 10 s does not make the rest finer."""
    dash = Through(points=[0, 0, 1, 1], times=[0, 5, 5.01, 10.0])
    times = sample_times(coordinates(dash), 10.0)
    assert len(times) < 101 + 16
    assert np.count_nonzero((times > 5) & (times < 5.01)) >= 5


def test_many_points_do_not_multiply():
    dense = Through(points=np.zeros(5001), times=np.linspace(0, 5, 5001))
    assert len(sample_times(coordinates(dense), 200.0)) == 5001


def test_rows_of_a_wrench_are_among_the_samples(model_of):
    """A peak of 1 ms between two samples at 10 a second."""
    text = (
        "name: a\nrate: 10\n"
        "trajectory: {kind: euler, relative_to: home, path: {kind: rest, point: [0, 0, 0, 0, 0, 0], duration: 1}}\n"
        "wrench:\n  times: [0.5501, 0.5511, 0.5521]\n"
        "  values: [[0, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]\n"
    )
    assert loads_motion(text).task(model_of("long")).wrench[:, 0].max() == 9


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, np.inf, 1.7e308])
def test_rates_that_are_none(rate):
    with refused(InputError, "rate"):
        sample_times(Published(name="kim-ryu-circle"), rate)


def test_shapes_that_need_too_many_samples_are_refused():
    fast = Sine(amplitude=1.0, frequency=1e6, duration=1.0)
    with refused(InputError, "trajectory 1.6e+07 2000000"):
        sample_times(coordinates(fast), 200.0)


# -- tasks -------------------------------------------------------------------------------------------------------------


def test_a_task_from_what_was_read_and_from_python(tmp_path, model_of):
    model = model_of("kim-ryu")
    path = tmp_path / "a.yaml"
    path.write_text(FAR.replace("30]", "0.03]").replace("0.5", "50"))
    from_file = make_task(model, path)
    from_data = make_task(model, load_motion(path))
    for a, b in zip(from_file.motion, from_data.motion, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (from_data.name, len(from_data.time)) == ("far", 101)
    up = model.robot.home.matrix
    up[2, 3] += 0.03
    home = model.robot.home.matrix
    task = make_task(model, Poses.through([home, up, home], [0, 1, 2]), rate=50)
    for a, b in zip(from_file.motion, task.motion, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-15)
    six = Through(points=[[0] * 6, [0, 0, 0.03, 0, 0, 0], [0] * 6], times=[0, 1, 2])
    task = make_task(model, Euler(path=six, relative_to="home"), rate=50)
    np.testing.assert_allclose(task.motion.pose, from_file.motion.pose, rtol=0, atol=1e-15)
    assert np.isfinite(study(model, task, certify=False).force).all()


def test_a_fault_of_the_robot_does_not_blame_the_motion(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(FAR)
    for error in (InputError("formulation: 'delta' has no newton-euler form here"), InputError("leg2: no")):
        with pytest.raises(InputError) as caught, with_motion_lines(path):
            raise error
        assert caught.value is error
        assert pp.motion.motion_fault(path, error) == pp.errors.Fault("robot", str(error), 1)  # no line names it
    named = tmp_path / "named.yaml"
    named.write_text(FAR.replace("rate: 0.5", "rate: 0.5\nrobot: delta"))
    assert pp.motion.motion_fault(named, error).line == 3
    robot = tmp_path / "robot.yaml"
    robot.write_text(pp.dumps(pp.load("hexapod")) + "\ncolour: red\n")
    report = check(path, str(robot))
    assert (report.file, [fault.field for fault in report.faults]) == (str(robot), ["colour"])
    with refused(MotionFileError, "3 trajectory twist"), with_motion_lines(path):
        raise InputError("twist: the robot cannot move along x")
    with refused(StateError, "a.yaml 8 trajectory.poses.1"), with_motion_lines(path):
        raise StateError("out of reach", time=0.5)


def test_millimetres_in_metres_are_pointed_out(model_of):
    """50 for 50 mm: whatever else is reported, the distance is."""
    text = (
        "name: heave\ntrajectory:\n  kind: euler\n  relative_to: home\n"
        "  path: {kind: sine, amplitude: [0, 0, %s, 0, 0, 0], frequency: 1, duration: 1}\n"
    )
    with warned(pp.errors.ImplausibleWarning, "heave 50 mm"):
        make_task(model_of("kim-ryu"), loads_motion(text % 50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_task(model_of("kim-ryu"), loads_motion(text % 0.05))
