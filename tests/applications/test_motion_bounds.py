"""What a motion asks of a robot at every instant, between its samples too: proven bounds, tried by dense sampling."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import MotionBounds, bound_motion
from polypod.analysis.certified.affine import LinearModels, constant, majorant, solve
from polypod.analysis.certified.bounds import _pushed
from polypod.analysis.certified.motion import certify_samples
from polypod.errors import InputError
from polypod.motion import MotionFile, Through, WrenchTable, make_task
from polypod.motion.trajectories import IndependentCoordinates, Poses
from polypod.results import between, study, verdict
from polypod.results.intersample import _bounded
from support.command_line import polypod
from support.engines import reference_hexapod as ref
from support.refusals import refused

TIGHT = 1.011
"""Intervals are cut until bounds are within 1 % of what is reached."""


def asked(model, task, count):
    """The largest of everything at many instants, by functions that the bounds do not use; rms by trapezoids."""
    time = np.linspace(0.0, task.trajectory.duration, count)
    motion = task.trajectory.at(time)
    wrench = None if task.load is None else task.load(motion)
    force = model.inverse_dynamics(*motion[1:], wrench)
    speed, q = model.rates(*motion[1:3]), model.inverse_kinematics(motion.pose)
    sizes = {"force": force, "speed": speed, "acceleration": model.accelerations(*motion[1:]), "power": force * speed}
    found = {name: np.abs(values).max(axis=0) for name, values in sizes.items()}
    found["continuous force"] = np.sqrt(np.trapezoid(force**2, time, axis=0) / time[-1])
    return found | {"stroke": np.ptp(q, axis=0)}


def held(model, task, count):
    """Bounds hold at all these instants, and peaks are near them."""
    bounds = bound_motion(model, task)
    assert bounds.certain
    for name, largest in asked(model, task, count).items():
        assert (largest <= bounds.upper_bound[name] * (1 + 1e-12)).all(), name
        if name != "continuous force":
            assert (bounds.upper_bound[name] <= TIGHT * largest + 1e-9).all(), name
    return bounds


NAMES = ["lopes", "kim-ryu", "five-bar"]  # six legs; friction that depends on reactions; a platform that follows
# legs that iterate; a platform that bends; pulleys
WITHOUT = {"tricept", "long", "cable-camera", "planar-4-cable", "ipanema"}
OTHERS = sorted(set(pp.library()) - {*NAMES, *WITHOUT})


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)])
def test_no_instant_asks_for_more_than_the_bounds(name, model_of):
    """100,001 instants, some 300 in each interval between samples."""
    model = model_of(name)
    held(model, make_task(model), 100_001)


def test_dry_friction_that_depends_on_no_reaction_is_bounded():
    model = pp.Model(pp.load("five-bar", {f"legs.{leg}.joints.0.friction.drag": 0.1 for leg in range(2)}))
    held(model, make_task(model), 20_001)


FALLING = {"drag": 2.0, "static": 1.5, "stribeck_speed": 0.05}
STRIBECK = {f"legs.*.slider_friction.{name}": value for name, value in FALLING.items()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "settings"),
    [({"friction_width": 0.0}, {}), ({"friction_coupling": "explicit"}, {}), ({}, STRIBECK)],
    ids=["exact-sign", "explicit", "stribeck"],
)
def test_friction_of_every_kind_is_bounded(options, settings):
    model = pp.Model(pp.load("kim-ryu", settings), **options)
    held(model, make_task(model), 100_001)


def test_bounds_of_few_samples_are_those_of_many(model_of):
    """Intervals are cut where the samples leave them too long."""
    model = model_of("lopes")
    few, many = (bound_motion(model, make_task(model, rate=rate)) for rate in (1.0, 200.0))
    assert few.certain
    np.testing.assert_allclose(few.upper_bound["force"], many.upper_bound["force"], rtol=0.011)


def test_a_wrench_that_changes_is_counted(model_of):
    """A table in platform axes at a point off the origin, with a corner between two samples."""
    model = model_of("lopes")
    rows = [[0, 0, -50, 0, 0, 0], [300, 0, -900, 5, 0, 9], [0, 10, 0, 0, 0, 0]]
    wrench = WrenchTable(times=[0.0, 0.1234, 0.9], values=rows, frame="platform", point=(0.05, 0.02, 0.1))
    trajectory = make_task(model).trajectory
    task = MotionFile(name="pushed", trajectory=trajectory, wrench=wrench).task(model, 20.0)
    bounds = held(model, task, 50_001)
    free = bound_motion(model, make_task(model, trajectory))
    assert (bounds.upper_bound["force"] > 1.2 * free.upper_bound["force"]).any()


def swings(model):
    """There and back at a low rate: samples are the poses, and half-way between two of them nothing accelerates."""
    home = np.array(model.robot.home.matrix)
    poses = np.tile(home, (19, 1, 1))
    poses[1::2, 2, 3] += 0.02
    return MotionFile(name="swings", trajectory=Poses.through(poses, 0.1 * np.arange(19)), rate=1.0)


@pytest.mark.parametrize("share", [1.05, 0.95])
def test_a_peak_that_samples_and_half_way_points_miss(share, model_of):
    """The quintic law accelerates most at 0.211 and 0.789 of the way. Samples alone were 'Fits' with both limits."""
    model = model_of("lopes")
    task = make_task(model, swings(model))
    still = np.abs(study(model, task, certify=False).force.values).max()
    half_way = task.trajectory.at(0.5 * (task.time[1:] + task.time[:-1]))
    assert np.abs(model.inverse_dynamics(*half_way[1:])).max() < 1.01 * still
    peak = asked(model, task, 100_001)["force"].max()
    assert peak > 1.5 * still
    limited = pp.Model(pp.load("lopes", {"legs.*.max_force": share * peak}))
    assert verdict(study(limited, task, certify=False)).ok
    judged = verdict(study(limited, task))
    assert judged.ok is judged.proven is (share > 1)
    if share < 1:
        assert "limits are violated between samples: force of leg" in judged.headline
    else:
        assert "limits at every instant (verified)" in judged.headline


def test_too_few_samples_are_said_of_the_actuator_that_shows_it():
    """Not of the one with the loosest bound: here the second is 20 % above its samples, the first may be 30 %."""
    model = SimpleNamespace(actuators=[SimpleNamespace(name="a"), SimpleNamespace(name="b")])
    most, seen = {"force": np.array([1.3, 1.2])}, {"force": np.array([1.0, 1.2])}
    bounds = MotionBounds(most, seen, {}, True, np.zeros(0), 1)
    text, rough = _bounded(np.ones((3, 2)), model, bounds)
    assert text.startswith("Peak forces between samples: at most 30 % higher")
    assert rough.startswith("Between samples the force of b is 20 % higher: samples are too few")


def test_a_limit_as_near_as_a_hundred_thousandth(model_of):
    """Of a limit that the peak nearly reaches it is proven which side the peak is on."""
    model = model_of("lopes")
    task = make_task(model, swings(model))
    peak = asked(model, task, 100_001)["force"].max()  # to 1e-8: an instant is 1e-4 of a swing from the peak at most
    for share, kept in ((1 + 1e-5, True), (1 - 1e-5, False)):
        limited = pp.Model(pp.load("lopes", {"legs.*.max_force": share * peak}))
        found = between(limited, task)
        assert bool(found.broken) is not kept
        assert not found.warnings


def test_python_and_command_give_one_verdict(model_of):
    mine = study(model_of("hexapod"), make_task(model_of("hexapod")))
    command = json.loads(polypod("run", "hexapod", "--no-files", "--json").stdout)
    assert command["verdict"] == json.loads(json.dumps(verdict(mine).data()))
    assert verdict(mine).proven
    assert command["between_samples"] == mine.attrs["between_samples"]
    samples = study(model_of("hexapod"), certify=False)
    assert "limits at the samples; the most used" in verdict(samples).headline
    assert "upper_bound" not in samples


def test_what_has_no_bounds_is_said(model_of):
    """A function of a program's own: samples and half-way points are all that is looked at."""
    inner = make_task(model_of("lopes")).trajectory

    class Own(pp.motion.Trajectory):
        duration = inner.duration

        def evaluate(self, t):
            return inner.evaluate(t)

    result = study(model_of("lopes"), make_task(model_of("lopes"), Own()))
    assert (
        "Forces are checked at samples and midpoints only: the motion is a function" in result.attrs["between_samples"]
    )
    assert "upper_bound" not in result
    with refused(InputError, code="iterated"):
        bound_motion(pp.Model("tricept"), make_task(pp.Model("tricept")))


def test_a_formula_that_is_not_what_a_motion_does_proves_nothing(model_of):
    inner = make_task(model_of("lopes")).trajectory

    class Wrong(pp.motion.Trajectory):
        duration, pieces = inner.duration, inner.pieces

        def evaluate(self, t):
            return inner.evaluate(t)

        def expansion(self, t, half):
            exact = inner.expansion(t, half)
            return exact._replace(derivatives=1.001 * exact.derivatives)

    with refused(InputError, code="contradiction"):
        bound_motion(model_of("lopes"), make_task(model_of("lopes"), Wrong()))


def test_a_motion_of_own_coordinates(model_of):
    """A robot whose platform moves along fixed axes, through points."""
    model = model_of("staicu")
    points = np.array([[0.0, 0, 0], [0.02, 0.01, -0.02], [0.0, 0, 0]])
    held(
        model, make_task(model, IndependentCoordinates(path=Through(points=points, times=[0, 0.4, 1.0])), 50.0), 50_001
    )


def test_a_matrix_that_may_be_singular_has_no_bounded_solution():
    """1/A over A in [-1, 3]: u = 2 u + b has the solution -b, which is no majorant."""
    vague = LinearModels(np.ones((1, 1, 1)), np.zeros((1, 1, 1)), np.full((1, 1, 1), 2.0))
    x, sign = solve(vague, constant(np.ones((1, 1))))
    assert sign[0] == 0
    assert np.isinf(x.remainder).all()
    size = np.random.default_rng(0).uniform(0, 1, (200, 3, 3))
    most, sure = majorant(size, np.ones((200, 3, 1)))
    radius = np.abs(np.linalg.eigvals(size)).max(axis=1)
    np.testing.assert_array_equal(sure, radius < 1)
    assert 0 < sure.sum() < 200
    assert (most[sure] > 0).all()


def test_a_motion_past_a_singular_pose_has_no_bounds():
    """Fichter's quarter turn: no proof where the matrix may be singular, and no blame for the motion."""
    model = pp.Model(ref.robot(limits=False))
    poses = np.tile(model.robot.home.matrix, (3, 1, 1))
    poses[1, :3, :3] = Rotation.from_euler("z", 90.5, degrees=True).as_matrix()
    trajectory = Poses.through(poses, np.array([0.0, 1.0, 2.0]))
    bounds = bound_motion(model, make_task(model, MotionFile(name="past", trajectory=trajectory, rate=20.0)))
    assert not bounds.certain
    assert np.isinf(bounds.upper_bound["force"]).any()
    assert (np.abs(bounds.open - 1.0) < 0.2).all()


def test_a_wrench_table_is_enclosed_however_steep_its_steps_are():
    """Steps of 1e-5 s and less, of which an interval reaches over a corner by rounding, contradicted their bounds."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        duration, height = 10 ** rng.uniform(0, 2.5), 10 ** rng.uniform(-3, 4, 6)
        width = 10 ** rng.uniform(-14, -4) * duration
        at = rng.uniform(0.1, 0.9) * duration
        times = np.unique([0.0, at, at + width, at + 2 * width, duration])
        rows = [np.zeros(6), np.zeros(6), height, -height, np.zeros(6)][: len(times)]
        table = WrenchTable(times=times.tolist(), values=[row.tolist() for row in rows])
        edges = np.unique([*times, *rng.uniform(0, duration, 5), *(at + width * rng.uniform(-2, 4, 5))])
        middle = 0.5 * (edges[1:] + edges[:-1])
        half = np.maximum(edges[1:] - middle, middle - edges[:-1]) * (1 + 1e-12) + 1e-12 * duration
        found = _pushed(table, middle, half)
        for e in (-1.0, -0.999, 0.0, 0.3, 1.0):
            seen = table.components(np.clip(middle + e * half, middle - half, middle + half))
            for k, form in enumerate(found):
                line = form.middle + e * form.derivatives[0]
                # a time within is rounded to eps of itself, which the steepest part turns into a force
                steep = 2 * height[k] / width * np.spacing(duration) if e else 0.0
                assert (np.abs(seen[:, k] - line) <= form.remainder * (1 + 1e-9) + 1e-12 * height[k] + steep).all()


@pytest.mark.long
def test_a_proof_that_cannot_succeed_is_given_up_early(monkeypatch):
    """Of par4 all boxes were halved and halved again until the minute was over; a few small ones tell that in time."""
    seen = []

    def counted(model, task, samples):
        seen.append(len(np.asarray(task.time)[samples]))
        return certify_samples(model, task, samples)

    monkeypatch.setattr("polypod.analysis.certified.motion.certify_samples", counted)
    model = pp.Model("par4")
    task = make_task(model, "par4-pick-and-place", 20.0)
    found = between(model, task, seconds=60.0)
    assert found.certified is False
    assert sum(seen) <= 2 * len(task.time)  # one halving, not hundreds of boxes
