"""What dry friction holds at rest, and how many solutions it has: closed forms, and simulations at both ends."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from fuzz.exact import Exact
from polypod.friction.solutions import solutions
from polypod.model import FrictionStatus
from polypod.motion import make_task
from polypod.results import study
from polypod.simulation import SimulationError, simulate
from support.refusals import refused
from support.states import easy, mostly_long
from test_stick import delta, kim_ryu, slope

STILL = np.zeros(6)


def test_a_mass_on_a_slope_is_held_between_static_limits() -> None:
    """-m g sin(angle) and 1.4 times the drag to both sides."""
    held = slope(0.3, {"drag": 5.0, "static": 1.4}).static_force_range(np.eye(4), [1.0, 0, 0, 0, 0, 0])
    middle = -2.0 * 9.81 * np.sin(0.3) - 1.0
    assert held.force == pytest.approx([middle], rel=1e-14)
    assert [held.lower[0], held.upper[0]] == pytest.approx([middle - 7.0, middle + 7.0], rel=1e-9)
    assert held.joints == (("leg1", "slide"),)
    free = pp.Model("lopes")
    none = free.static_force_range(free.robot.home.matrix)
    assert none.joints == ()
    assert np.array_equal(none.lower, none.upper)


@pytest.mark.parametrize("which", [pytest.param("motors", marks=pytest.mark.long), "all"])
def test_a_robot_stays_just_inside_and_moves_just_outside(which: str) -> None:
    """One force at a time, a thousandth of the interval inside and outside of its ends."""
    if which == "motors":
        model = delta({"drag": 3.0, "static": 1.5})
    else:
        model = kim_ryu({"coulomb": 0.3, "viscous": 0.001}, {"coulomb": 0.0015, "viscous": 0.001})
    home = model.robot.home.matrix
    held = model.static_force_range(home)
    assert len(held.joints) == (3 if which == "motors" else 18)
    for end in (held.upper, held.lower):
        for part, moves in ((0.999, False), (1.001, True)):
            force = held.force.copy()
            force[1] += part * (end[1] - held.force[1])
            result = simulate(model, force, duration=0.01, rate=1000)
            pose = result.pose.values
            off = np.abs(pose[-1] - home).max()
            if moves:
                assert off > 1e-8
                continue
            # Joints that hold a motion in common share it by a law rounded to 1e-9 of what friction brings about, some
            # 10 m/s^2: the first step of 1 ms moves the robot by 1e-14 m. What follows dies away: it does not creep.
            assert off < 1e-13
            assert np.abs(pose[-1] - pose[5]).max() < 0.01 * off + 1e-18


def painleve(angle: float, friction: float, spin: float) -> tuple[float, float]:
    """N = a + b |N| of a uniform rod (1 kg, 2 m) whose end slides in a rough straight guide at an angle to it.

    Across the guide: N (1 + 3 cos^2) - 3 friction sin cos |N| = m (g - spin^2 l sin).
    """
    sine, cosine = np.sin(angle), np.cos(angle)
    whole = 1 + 3 * cosine**2
    return (9.81 - spin**2 * sine) / whole, 3 * friction * sine * cosine / whole


@pytest.mark.parametrize(
    ("friction", "spin", "code", "load"),
    [
        (1.0, 1.0, FrictionStatus.UNIQUE, True),  # b = 0.6
        (2.0, 1.0, FrictionStatus.NONE, False),  # b = 1.2 and a > 0: Painleve's paradox
        (2.0, 4.0, FrictionStatus.SEVERAL, True),  # a < 0: two
    ],
)
def test_painleves_rod(friction: float, spin: float, code: FrictionStatus, load: bool) -> None:
    """b = 1 at friction 4/3 for 60 degrees from the guide's normal: beyond, none or two, by the sign of a."""
    a, b = painleve(np.deg2rad(60.0), friction, spin)
    found = solutions(np.array([[a]]), np.array([[[b]]]), [(1, True)])
    assert found.status[0] == code
    assert found.contraction[0] == pytest.approx(abs(b), rel=1e-12)
    closed = [x for x in (a / (1 - b), -a / (1 + b)) if x >= 0]
    assert len(closed) == {FrictionStatus.UNIQUE: 1, FrictionStatus.NONE: 0, FrictionStatus.SEVERAL: 2}[code]
    assert not load or min(abs(found.loads[0, 0] - x) for x in closed) < 1e-9


def test_where_two_loads_have_no_solution_it_is_proven() -> None:
    """Of 58 in 150 with strong friction nothing was reported. The other proof is a fine grid over seven decades."""
    rng = np.random.default_rng(5)
    own, derivatives = rng.normal(size=(40, 6)), rng.normal(size=(40, 6, 2)) * rng.uniform(0.5, 1.6, size=(40, 1, 1))
    found = solutions(own, derivatives, [(3, False), (3, False)])
    assert not (found.status == FrictionStatus.UNKNOWN).any()
    angle, size = np.linspace(0.0, np.pi / 2, 200), 10 ** np.linspace(-3.0, 4.0, 300)
    loads = np.stack([np.outer(size, np.cos(angle)).ravel(), np.outer(size, np.sin(angle)).ravel()], axis=1)
    none = found.status == FrictionStatus.NONE
    assert 20 < none.sum() < 40
    for a, b in zip(own[none], derivatives[none], strict=True):
        sizes = np.linalg.norm((a + loads @ b.T).reshape(-1, 2, 3), axis=2)
        lacking = np.abs(loads - sizes).max(axis=1) / (np.linalg.norm(loads, axis=1) + np.abs(a).max())
        assert lacking.min() > 1e-3
    for a, b, load in zip(own[~none], derivatives[~none], found.loads[~none], strict=True):
        assert np.linalg.norm((a + b @ load).reshape(2, 3), axis=1) == pytest.approx(load, rel=1e-9)


def counted(own: np.ndarray, derivatives: np.ndarray) -> int:
    """Solutions of two loads t (cos, sin) of an angle, by sign changes: the first is a quadratic equation in t."""
    angle = np.linspace(0.0, np.pi / 2, 20_001)
    along = np.stack([np.cos(angle), np.sin(angle)])
    b = (derivatives @ along).reshape(2, 3, -1)
    a = own.reshape(2, 3, 1)
    square, middle, last = ((b * b).sum(1) - along**2), (a * b).sum(1), (a * a).sum(1)
    count = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(middle[0] ** 2 - square[0] * last[0])
        for sign in (-1.0, 1.0):
            t = (-middle[0] + sign * root) / square[0]
            other = square[1] * t**2 + 2 * middle[1] * t + last[1]
            good = (t[1:] > 0) & (t[:-1] > 0) & (np.abs(np.diff(np.log(np.abs(t)))) < 0.1)
            count += int((good & (other[1:] * other[:-1] < 0)).sum())
    return count


def test_solutions_do_not_depend_on_the_batch() -> None:
    """The last of these states has several solutions, alone and among others."""
    rng = np.random.default_rng(3)
    own, derivatives = rng.normal(size=(3000, 9))[[0, 611, 851, 861]], rng.normal(size=(3000, 9, 3))[[0, 611, 851, 861]]
    groups = [(3, False)] * 3
    together = solutions(own, 0.35 * derivatives, groups, cells=0)
    for k in range(4):
        alone = solutions(own[k : k + 1], 0.35 * derivatives[k : k + 1], groups, cells=0)
        assert (alone.status[0], *alone.loads[0]) == (together.status[k], *together.loads[k])
    assert together.status[3] == FrictionStatus.SEVERAL


@pytest.mark.long
def test_solutions_are_counted_where_nothing_contracts() -> None:
    """Nothing was proven in 14 of 80; sign changes along a line are the other proof."""
    rng = np.random.default_rng(11)
    own, derivatives = rng.normal(size=(80, 6)), rng.normal(size=(80, 6, 2)) * rng.uniform(0.3, 0.9, size=(80, 1, 1))
    found = solutions(own, derivatives, [(3, False), (3, False)])
    assert not np.isin(found.status, [FrictionStatus.FOUND, FrictionStatus.UNKNOWN]).any()
    hard = found.contraction >= 1
    assert {FrictionStatus.UNIQUE, FrictionStatus.SEVERAL, FrictionStatus.NONE} == set(found.status[hard].tolist())
    number = {FrictionStatus.NONE: 0, FrictionStatus.UNIQUE: 1, FrictionStatus.SEVERAL: 2}
    for code, a, b in zip(found.status.tolist(), own, derivatives, strict=True):
        assert min(counted(a, b), 2) == number[code]


@pytest.mark.long
def test_the_loads_of_a_robot_are_proven_unique_or_not_to_be() -> None:
    """Few millimetres of arm: one solution, that of inverse dynamics; ten centimetres: none for most motions."""
    usual = kim_ryu({"coulomb": 0.1, "viscous": 0.001}, {"coulomb": 0.004, "viscous": 0.001})
    batch = easy(usual, 4, seed=3)
    found = usual.friction_solutions(*batch[:4])
    assert (found.status == FrictionStatus.UNIQUE).all()
    reactions = usual.reactions(*batch[:4])
    arm = reactions.legs["leg1"]["spherical"].force
    assert found.loads[:, 2] == pytest.approx(np.linalg.norm(arm, axis=-1), rel=1e-9)
    strong = kim_ryu({"coulomb": 0.1, "viscous": 0.001}, {"coulomb": 0.3, "viscous": 0.001})
    jammed = strong.friction_solutions(*batch[:4])
    assert (jammed.status == FrictionStatus.NONE).sum() >= 3


@pytest.mark.long
def test_steps_of_variable_length_go_past_joints_about_to_stick() -> None:
    """Thrown upwards, joints come to rest one after another: DOP853 ended there; now it ends as fixed steps do."""
    model = pp.Model("kim-ryu")
    hold = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL, friction=False)
    how = {"twist": [0, 0, 0.3, 0.1, 0, 0], "duration": 0.2}
    found = simulate(model, hold, method="DOP853", **how)
    fixed = simulate(model, hold, method="RK4", step=5e-4, **how)
    assert np.abs(found.pose.values[-1] - fixed.pose.values[-1]).max() < 1e-7
    assert float(abs(found.energy_residual).max()) < 1e-9


def test_steps_that_come_nowhere_are_refused() -> None:
    """A spring of 1e12 N/m on a slide: explicit steps would be some hundred million."""
    model = slope(0.0, {"viscous": 0.001})
    with refused(SimulationError, "DOP853 rate"):
        simulate(model, lambda t, m: -1e12 * (m.q - 1e-3), duration=10.0)


@pytest.mark.parametrize("name", mostly_long(("kim-ryu", "long"), ("kim-ryu",)))
def test_errors_are_below_their_bounds_and_bounds_not_far_above(name: str) -> None:
    """Against fifty digits, in ordinary states and where the wrench cancels all the rest."""
    model = pp.Model(name).rigid
    batch, wrench = easy(model, 3, seed=8), np.zeros((3, 6))
    exact = Exact(model.robot)
    need = np.array([exact.forces(*(a[k] for a in batch[:3]), wrench[0]) for k in range(3)], dtype=float)
    wrench[2] = np.linalg.solve(np.eye(6), model.jacobian(batch.pose[2]).T @ need[2])
    for k in range(3):
        at = [a[k] for a in batch[:3]]
        bound = model.error_bound("inverse_dynamics", *at, wrench[k], friction=False)
        force = model.inverse_dynamics(*at, wrench[k], friction=False)
        truth = np.array(exact.forces(*at, wrench[k]), dtype=float)
        error = np.abs(force - truth).max()
        assert error <= bound.bound["force"]
        # less than a rounding of the largest force is luck
        assert bound.bound["force"] <= 1000 * max(error, np.finfo(float).eps * np.abs(need[k]).max())
        back = model.direct_dynamics(at[0], at[1], truth, wrench[k], friction=False)
        limit = model.error_bound("direct_dynamics", at[0], at[1], truth, wrench[k], friction=False)
        assert np.abs(back - at[2]).max() <= limit.bound["acceleration"]
        assert 10.0 < limit.digits < 16.0
        found = model.error_bound("reactions", *at, wrench[k], friction=False).bound["force"]
        assert np.abs(model.reactions(*at, wrench[k], friction=False).force - truth).max() <= found


def test_a_study_carries_the_bound_of_its_forces() -> None:
    """Above the error against fifty digits at every sample, and no more than a thousand times."""
    model = pp.Model("lopes")
    task = make_task(model, None, rate=1.0)
    result = study(model, task, friction=False, certify=False)
    exact = Exact(model.robot)
    still = np.zeros(6)
    for k in range(0, len(result.time), 3):
        at = [result[name].values[k] for name in ("pose", "twist", "acceleration")]
        truth = np.array(exact.forces(*at, still), dtype=float)
        error, bound = np.abs(result.force.values[k] - truth).max(), float(result.force_bound[k])
        assert error <= bound <= 1000 * max(error, 1e-16 * np.abs(truth).max())


@pytest.mark.long
def test_energies_and_bias_of_a_mass_on_a_slope_are_within_their_bounds() -> None:
    """m v^2 / 2, -m g.r and m g sin(angle), with a bound of some roundings."""
    model, pose, twist = slope(0.3, {"viscous": 0.0}), np.eye(4), np.array([0.7, 0, 0, 0, 0, 0])
    pose[0, 3] = 0.2
    bound = model.error_bound("energy", pose, twist).bound
    energy = model.energy(pose, twist)
    weight = 2.0 * 9.81 * np.sin(0.3)
    assert abs(energy.kinetic - 0.5 * 2.0 * 0.49) <= bound["kinetic"] < 1e-13
    rise = model.energy(np.eye(4), twist).potential
    assert abs(energy.potential - rise - 0.2 * -weight) <= 2 * bound["potential"] < 1e-12
    assert abs(abs(model.bias(pose, twist)[0]) - weight) <= model.error_bound("bias", pose, twist).bound["bias"] < 1e-12


@pytest.mark.long
def test_of_420_motions_friction_has_none_one_or_several_solutions_with_proof() -> None:
    """kim-ryu, Coulomb friction in 18 joints from usual to absurd; Newton's iteration agrees where there is one."""
    rng = np.random.default_rng(420)
    counts = dict.fromkeys(FrictionStatus, 0)
    longest = 0.0
    for coefficient in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        for arm in (0.004, 0.03, 0.1, 0.3):
            model = kim_ryu({"coulomb": coefficient}, {"coulomb": arm})
            home = model.robot.home.matrix
            for _ in range(15):
                pose = home.copy()
                pose[:3, 3] += rng.uniform(-0.05, 0.05, 3)
                pose[:3, :3] = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, 3)).as_matrix() @ home[:3, :3]
                motion = pose, rng.uniform(-0.5, 0.5, 6), rng.uniform(-5, 5, 6)
                start = time.process_time()
                code = FrictionStatus(int(model.friction_solutions(*motion).status))
                longest = max(longest, time.process_time() - start)
                counts[code] += 1
                answered = np.isfinite(model.inverse_dynamics(*motion, errors="nan")).all()
                assert not (answered and code is FrictionStatus.NONE)
    print({code.name: number for code, number in counts.items()}, f"longest {longest:.1f} s")
    assert counts[FrictionStatus.FOUND] == counts[FrictionStatus.UNKNOWN] == 0
