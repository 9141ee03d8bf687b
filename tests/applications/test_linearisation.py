"""Linear models against differences of the numeric model, natural modes against the energy's curvature and time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import linearise, natural_modes
from polypod.analysis.linear import modes_of
from polypod.control import Springs
from polypod.errors import InputError, StateError
from polypod.simulation import simulate
from support import states as sample
from support.compare import derivative
from support.refusals import refused
from support.robots.hexagon import hexagon_modes
from support.states import displaced, mostly_long, papers_robots

Array = NDArray[np.float64]
ModelOf = Callable[[str], pp.Model]
# Rails with dry friction, and few degrees of freedom.
each_robot = pytest.mark.parametrize("name", mostly_long(papers_robots(), ("staicu",)))


def _columns(rates: Callable[[Array], Array], count: int, step: float) -> Array:
    unit = np.eye(count)
    return np.array([derivative(lambda h, k=k: rates(h * unit[k]), step) for k in range(count)]).T


def _differences(model: pp.Model, at: sample.States, friction: bool) -> tuple[Array, Array, Array]:
    """d(acceleration)/d(xi, u), d/d(force), d/d(wrench) in the degrees of freedom, by eighth-order differences."""
    axes = sample.basis(model.robot)
    inverse, m = np.linalg.pinv(axes), axes.shape[1]

    def of_state(x: Array) -> Array:
        pose, twist = displaced(at.pose, axes @ x[:m]), at.twist + axes @ x[m:]
        return inverse @ model.direct_dynamics(pose, twist, at.force, at.wrench, friction)

    def of_inputs(x: Array) -> Array:
        n = len(at.force)
        return inverse @ model.direct_dynamics(at.pose, at.twist, at.force + x[:n], at.wrench + x[n:], friction)

    inputs = _columns(of_inputs, len(at.force) + 6, 1.0)
    return _columns(of_state, 2 * m, 2e-3), inputs[:, : len(at.force)], inputs[:, len(at.force) :]


@each_robot
def test_matrices_are_the_derivatives_of_direct_dynamics(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    at = sample.easy(model, 1).at(0)
    axes = sample.basis(model.robot)
    m = axes.shape[1]
    # with the default width dry friction turns too sharply for differences
    smooth = pp.Model(model.robot, friction_width=0.3)
    linear = linearise(smooth, at.pose, at.twist, at.force, at.wrench)
    a, b, e = _differences(smooth, at, True)
    for got, wanted in ((linear.a[m:], a), (linear.b[m:], b), (linear.e[m:], e)):
        # eighth-order differences with steps of 2e-3 leave about 1e-9
        assert np.abs(got - wanted).max() < 1e-7 * np.abs(wanted).max()
    # xi' = u, and a turning platform carries its local rotation vector: phi' = omega - phi x omega/2
    omega = at.twist[3:]
    tilde = np.array([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
    carried = np.zeros((6, 6))
    carried[3:, 3:] = 0.5 * tilde
    assert np.allclose(linear.a[:m, :m], np.linalg.pinv(axes) @ carried @ axes, atol=1e-13)
    assert np.array_equal(linear.a[:m, m:], np.eye(m))
    assert np.allclose(linear.c, np.hstack([smooth.jacobian(at.pose), np.zeros((len(smooth.legs), m))]), atol=1e-12)
    wanted = np.linalg.pinv(axes) @ smooth.direct_dynamics(at.pose, at.twist, at.force, at.wrench)
    assert np.abs(linear.drift[m:] - wanted).max() < 1e-11 * np.abs(wanted).max()
    assert len(linear.names) == 2 * m


@pytest.mark.long
def test_explicit_friction_is_differentiated_as_explicit(model_of: ModelOf) -> None:
    model = pp.Model(model_of("kim-ryu").robot, friction_width=0.3, friction_coupling="explicit")
    at = sample.easy(model, 1, seed=3).at(0)
    a, b, _ = _differences(model, at, True)
    linear = linearise(model, at.pose, at.twist, at.force, at.wrench)
    assert np.abs(linear.a[6:] - a).max() < 1e-7 * np.abs(a).max()
    assert np.abs(linear.b[6:] - b).max() < 1e-7 * np.abs(b).max()


@each_robot
def test_holding_forces_make_an_equilibrium(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    linear = linearise(model, friction=False)
    assert np.abs(linear.drift).max() < 1e-10


@each_robot
def test_stiffness_is_the_curvature_of_the_energy(name: str, model_of: ModelOf) -> None:
    """K against second differences of gravity's and the springs' energy, at an equilibrium."""
    model = model_of(name)
    home, axes, stiffness = model.robot.home.matrix, sample.basis(model.robot), 3e5
    modes = natural_modes(model, home, stiffness)
    springs = _springs(model, stiffness)

    def energy(x: Array) -> float:
        pose = displaced(home, axes @ x)
        return float(model.energy(pose, np.zeros(6)).potential + springs.energy(model.inverse_kinematics(pose)))

    m, h = axes.shape[1], 1e-3
    curvature = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            d, e = h * np.eye(m)[i], h * np.eye(m)[j]
            curvature[i, j] = (energy(d + e) - energy(d - e) - energy(e - d) + energy(-d - e)) / (4 * h * h)
    # second differences: h^2 of the fourth derivative, and rounding 1e-16 E/h^2
    assert np.abs(modes.stiffness - curvature).max() < 1e-4 * np.abs(curvature).max()
    assert np.allclose(modes.shape.T @ modes.mass @ modes.shape, np.eye(m), atol=1e-9)


def _springs(model: pp.Model, stiffness: float) -> Springs:
    home, still = model.robot.home.matrix, np.zeros(6)
    hold = model.inverse_dynamics(home, still, still, friction=False)
    return Springs(stiffness, model.inverse_kinematics(home), preload=hold)


def test_a_mode_swings_at_its_frequency(model_of: ModelOf) -> None:
    """A small push in the shape of one mode: coordinates are sines of its frequency, in a full simulation."""
    model, stiffness, mode, size = model_of("kim-ryu"), 1e6, 2, 1e-5
    modes = natural_modes(model, stiffness=stiffness)
    omega, shape = 2 * np.pi * modes.frequency[mode], modes.shape[:, mode]
    result = simulate(
        model, _springs(model, stiffness), duration=2.5 * 2 * np.pi / omega, twist=size * omega * shape, friction=False,
        rtol=1e-8, atol=1e-11,
    )  # fmt: skip
    home, pose = model.robot.home.matrix, result.pose.values
    turn = Rotation.from_matrix(pose[:, :3, :3] @ home[:3, :3].T).as_rotvec()
    moved = np.hstack([pose[:, :3, 3] - home[:3, 3], turn]) / size
    wanted = np.sin(omega * result.time.values)[:, None] * shape
    # what is not linear is of the order of the size; two and a half swings multiply an error of frequency by 16
    assert np.abs(moved - wanted).max() < 1e-4 * np.abs(shape).max()


@pytest.mark.long
def test_flexible_robot() -> None:
    """A of the flexible robot against differences, and its rigid limit."""
    warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
    modes = hexagon_modes(3)
    model = pp.Model(pp.load("long").on_modes(modes))
    home, rng = model.robot.home.matrix, np.random.default_rng(0)
    elastic, force = model.static_equilibrium(home)
    twist, rate = 0.2 * rng.normal(size=6), 0.1 * rng.normal(size=3)
    linear = linearise(model, home, twist, force, elastic=elastic, elastic_rate=rate)

    def rates(x: Array) -> Array:
        pose = displaced(home, x[:6])
        shape = {"elastic": elastic + x[6:9], "elastic_rate": rate + x[15:]}
        return np.concatenate(model.direct_dynamics(pose, twist + x[9:15], force, full_output=True, **shape))

    wanted = _columns(rates, 18, 1e-3)
    assert np.abs(linear.a[9:] - wanted).max() < 1e-7 * np.abs(wanted).max()
    stiff = pp.Model(pp.load("long").on_modes(modes.with_stiffness(1e9 * modes.stiffness)))
    rigid = natural_modes(pp.Model("long"), home, 1e6).frequency
    assert np.abs(natural_modes(stiff, home, 1e6).frequency[:6] / rigid - 1).max() < 1e-3


@pytest.mark.long
def test_the_printed_plate_buckles() -> None:
    """K of the flexible robot is the curvature of its energy, with leg lengths by hand; one direction falls."""
    modes, stiffness, h, count = hexagon_modes(5), 1e6, 3e-4, 5
    model = pp.Model(pp.load("long").on_modes(modes))
    home = model.robot.home.matrix
    elastic, force = model.static_equilibrium(home)
    bases = np.array([leg.base for leg in model.robot.legs])  # type: ignore[attr-defined]

    def lengths(pose: Array, shape: Array) -> Array:
        tips = (modes.attachments + modes.attachment_shapes @ shape) @ pose[:3, :3].T + pose[:3, 3]
        return np.linalg.norm(tips - bases, axis=1)

    rest, still = lengths(home, elastic), np.zeros(6)

    def energy(x: Array) -> float:
        pose, shape = displaced(home, x[:6]), elastic + x[6:]
        stretch = lengths(pose, shape) - rest
        stored = model.energy(pose, still, elastic=shape)
        return float(stored.potential + stored.elastic + (0.5 * stiffness * stretch**2 - force * stretch).sum())

    steps = h * np.eye(6 + count)
    curvature = np.array(
        [[energy(d + e) - energy(d - e) - energy(e - d) + energy(-d - e) for e in steps] for d in steps]
    ) / (4 * h * h)
    found = natural_modes(model, home, stiffness)
    assert np.abs(found.stiffness - curvature).max() < 1e-6 * np.abs(curvature).max()
    lowest = eigh(curvature, found.mass, eigvals_only=True)[0]
    assert lowest < -1.0
    assert np.isnan(found.frequency[0])
    assert (found.frequency[1:] > 0).all()


@pytest.mark.parametrize("name", ["3-rps", pytest.param("orthoglide", marks=pytest.mark.long)])
def test_platforms_that_follow_their_legs_and_legs_closed_by_iterating(name: str, model_of: ModelOf) -> None:
    """A and C off home against differences along the robot's generalized coordinates, the platform following."""
    model = model_of(name)
    m = len(model.dof)
    start, still = np.array([0.02, 0.06, -0.05]), np.zeros(m)
    pose = model.motion(start, still, still)[0]
    force = model.inverse_dynamics(pose, np.zeros(6), np.zeros(6), friction=False)
    linear = linearise(model, pose, force=force, friction=False)
    axes = np.linalg.pinv(sample.basis(model.robot))

    def acceleration(x: Array) -> Array:
        moved = model.motion(start + x, still, still)[0]
        return axes @ model.direct_dynamics(moved, np.zeros(6), force, friction=False)

    # rates of the coordinates are not components of the twist where the platform has turned
    rates = np.array([axes @ model.motion(start, e, still)[1] for e in np.eye(m)]).T
    wanted = _columns(acceleration, m, 2e-3) @ np.linalg.inv(rates)
    assert np.abs(linear.a[m:, :m] - wanted).max() < 1e-7 * np.abs(wanted).max()
    assert np.allclose(linear.c[:, :m], model.jacobian(pose), atol=1e-12)


def test_python_control_takes_it(model_of: ModelOf) -> None:
    control = pytest.importorskip("control")
    linear = linearise(model_of("lopes"), friction=False)
    space = linear.to_control()
    assert isinstance(space, control.StateSpace)
    wanted = np.sort_complex(np.linalg.eigvals(linear.a))
    assert np.allclose(np.sort_complex(space.poles()), wanted, atol=1e-6 * np.abs(wanted).max())
    assert space.ninputs == space.noutputs == 6
    # a step of one force accelerates the coordinates by J M^-1 J^T from the start
    model, home, h = model_of("lopes"), model_of("lopes").robot.home.matrix, 1e-4
    jacobian = model.jacobian(home)
    wanted = 0.5 * h * h * (jacobian @ np.linalg.solve(model.mass_matrix(home), jacobian.T))[:, 0]
    _, response = control.step_response(space, T=[0.0, h], input=0)
    assert np.abs(response[:, 0, -1] - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_every_state_of_a_batch_must_be_an_equilibrium() -> None:
    """A stiffness matrix is compared with its own size, not with that of a stiffer state beside it."""
    skewed, stiff = np.array([[1.0, 0.5], [-0.5, 1.0]]), 1e9 * np.eye(2)
    with refused(StateError, code="not_an_equilibrium"):
        modes_of(np.stack([skewed, stiff]), np.stack([np.eye(2)] * 2))


@pytest.mark.long
def test_a_batch_is_its_states_one_by_one(model_of: ModelOf) -> None:
    model = pp.Model(model_of("kim-ryu").robot, friction_width=0.3)
    at = sample.easy(model, 4)
    whole = linearise(model, at.pose.reshape(2, 2, 4, 4), at.twist.reshape(2, 2, 6), at.force.reshape(2, 2, 6))
    modes = natural_modes(model, at.pose.reshape(2, 2, 4, 4))
    for k in range(4):
        one = linearise(model, at.pose[k], at.twist[k], at.force[k])
        for name in ("a", "b", "e", "c", "drift"):
            # products of stacked matrices are rounded in another order than those of single ones
            wanted = getattr(one, name)
            assert np.abs(getattr(whole, name)[divmod(k, 2)] - wanted).max() <= 1e-12 * np.abs(wanted).max()
        assert np.allclose(modes.frequency[divmod(k, 2)], natural_modes(model, at.pose[k]).frequency, rtol=1e-9, atol=0)
    empty = linearise(model, np.zeros((0, 4, 4)))
    assert empty.a.shape == (0, 12, 12)
    assert empty.drift.shape == (0, 12)
    with refused(InputError, "to_control"):
        whole.to_control()


def test_what_is_differentiated_is_kept(model_of: ModelOf) -> None:
    """A second state takes a small part of the first one's time, which builds and differentiates the robot."""
    model = pp.Model(model_of("lopes").robot)
    times = []
    for _ in range(4):
        start = time.perf_counter()
        linearise(model, friction=False)
        times.append(time.perf_counter() - start)
    assert min(times[1:]) < 0.1 * times[0]


def test_no_linear_model_where_there_is_no_answer(model_of: ModelOf) -> None:
    model = model_of("lopes")
    away = displaced(model.robot.home.matrix, np.array([0.9, 0, 0, 0, 0, 0]))
    with refused(StateError, "linearise", code="leg"):
        linearise(model, away, force=np.zeros(6))


@pytest.mark.long
def test_no_linear_model_of_friction_that_does_not_converge(model_of: ModelOf) -> None:
    data = model_of("kim-ryu").robot.model_dump()
    for leg in data["legs"]:
        leg["spherical_friction"]["coulomb"] = leg["universal_friction"]["coulomb"] = 3.0  # no other topology
    rough = pp.Model(pp.Robot.model_validate(data))
    with refused(StateError, "linearise", code="friction"):
        linearise(rough, twist=[0.1, 0.2, 0.1, 0.3, 0.2, 0.1])


def test_bad_input(model_of: ModelOf) -> None:
    model = model_of("lopes")
    with refused(InputError, "force 6 (1,)"):
        linearise(model, force=[1.0])
    with refused(InputError, "pose 4x4"):
        linearise(model, np.eye(3))
    with refused(InputError, "wrench nan"):
        linearise(model, wrench=np.full(6, np.nan))
    with refused(InputError, "stiffness"):
        natural_modes(model, stiffness=-1.0)
    with refused(InputError, "stiffness 6 1000000.0"):
        natural_modes(model, stiffness=[1e6] * 5)
