"""Calls whose checks are compiled: the verdict on a state, the short way of one state, logs, singular values."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

import polypod as pp
from polypod.errors import InputError, StateError
from polypod.kernels import Iteration, Kernel, Port, port
from polypod.mechanism.verdict import BAD_INPUT, NO_ANSWER
from polypod.model import ForwardKinematicsStatus
from polypod.model.calls import Calls, function
from polypod.symbols.linear import MAX_ITERATIONS, extreme_singular_values
from support import states as sample
from support.compare import assert_close
from support.refusals import refused
from support.robots.hexagon import hexagon_modes
from support.states import SmoothMotion

# -- the verdict -----------------------------------------------------------------------------------------------------


def verdict(model: pp.Model, name: str, *rows: Any, friction: bool = False) -> Any:
    kernel = model.kernels.get(name, friction, verdict=True)
    assert kernel.outputs[-1].name == "verdict"
    return kernel(*(np.ascontiguousarray(r) for r in rows))[-1]


def test_the_verdict_on_good_states_is_zero_and_changes_no_answer(model: pp.Model) -> None:
    """The bare kernel's results, whatever its outputs are."""
    s = sample.easy(model, 9)
    for name, rows in (
        ("inverse_kinematics", s[:1]),
        ("mass_matrix", s[:1]),
        ("inverse_dynamics", s[:4]),
        ("reactions", s[:4]),
        ("energy", s[:2]),
    ):
        assert not verdict(model, name, *rows).any(), name
        bare, judged = (model.kernels.get(name, verdict=v)(*rows) for v in (False, True))
        # compilers may fuse a product and a sum in one graph and not in the other: a few last bits
        for a, b in zip(bare, judged, strict=False):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.nanmax(np.abs(a)))


def test_the_verdict_names_every_number_that_is_not_finite(model: pp.Model) -> None:
    """In each number of each input in turn, a NaN or an infinity; the other states' verdicts stay as they are."""
    s = sample.easy(model, 5)
    for which in range(4):
        for k in range(s[which][0].size):
            for number in (np.nan, np.inf, -np.inf):
                rows = [a.copy() for a in s[:4]]
                rows[which].reshape(5, -1)[2, k] = number
                got = verdict(model, "inverse_dynamics", *rows)
                assert got[2] >= BAD_INPUT, (which, k, number)
                assert not np.delete(got, 2).any()


def test_the_verdict_on_poses_that_are_none(model: pp.Model) -> None:
    home = model.robot.home.matrix
    mirrored, scaled, lower, skewed = (home.copy() for _ in range(4))
    mirrored[:3, 0] *= -1
    scaled[:3, :3] *= 1 + 1e-11
    lower[3, 3] = 1 + 1e-9
    skewed[:3, :3] = skewed[:3, :3] @ (np.eye(3) + 1e-9 * np.eye(3, k=1))
    got = verdict(model, "inverse_kinematics", np.array([home, mirrored, scaled, lower, skewed]))
    assert got[0] == 0
    assert (got[1:] >= BAD_INPUT).all()


def test_the_verdict_on_states_without_an_answer(model: pp.Model) -> None:
    pose, _ = sample.singular_pose(model)
    still = np.zeros((1, 6))
    assert verdict(model, "inverse_dynamics", pose[None], still, still, still)[0] == NO_ANSWER
    assert verdict(model, "jacobian", pose[None])[0] == 0
    home = model.robot.home.matrix[None]
    huge = 1e308 * sample.basis(model.robot)[:, :1].T
    assert verdict(model, "inverse_dynamics", home, still, huge, still)[0] % BAD_INPUT == NO_ANSWER


def test_the_verdict_on_motions_that_a_robot_cannot_make(model_of: Any) -> None:
    model = model_of("staicu")
    s = sample.easy(model, 4)
    possible = sample.basis(model.robot)
    impossible = np.linalg.svd(possible)[0][:, possible.shape[1] :].T
    for way in impossible:
        for which in (1, 2):
            for amount, bad in ((1e-3, True), (1e-12, False)):
                rows = [a.copy() for a in s[:4]]
                rows[which][1] += amount * way
                got = verdict(model, "inverse_dynamics", *rows)
                assert (got[1] >= BAD_INPUT) == bad
                assert not np.delete(got, 1).any()
        moved = s.pose.copy()
        moved[1] = sample.displaced(moved[1], 1e-6 * way)
        assert verdict(model, "inverse_kinematics", moved)[1] >= BAD_INPUT
        with refused(InputError, "1", code="not_admissible"):
            model.inverse_kinematics(moved)


# -- one state -------------------------------------------------------------------------------------------------------


def test_one_state_is_what_it_is_in_a_batch(model: pp.Model) -> None:
    """Every short way, with and without a wrench, alternating: nothing of one call is left in the next."""
    s = sample.easy(model, 6)
    q = model.inverse_kinematics(s.pose)
    friction = not sample.friction_needs_reactions(model.robot)
    batches = {
        "inverse_dynamics": lambda p: model.inverse_dynamics(p.pose, p.twist, p.acceleration, friction=friction),
        "with a wrench": lambda p: model.inverse_dynamics(*p[:4], friction=friction),
        "direct_dynamics": lambda p: model.direct_dynamics(p.pose, p.twist, p.force, friction=friction),
        "direct with a wrench": lambda p: model.direct_dynamics(p.pose, p.twist, p.force, p.wrench, friction),
        "jacobian": lambda p: model.jacobian(p.pose),
        "mass_matrix": lambda p: model.mass_matrix(p.pose),
    }
    whole = {name: call(s) for name, call in batches.items()}
    found = model.forward_kinematics(q, s.pose)
    for k in (3, 0, 5, 3):
        for name, call in batches.items():
            assert np.array_equal(call(s.at(k)), whole[name][k]), name
        assert np.array_equal(model.forward_kinematics(q[k], s.pose[k]), found[k])


def test_one_state_of_any_layout(model: pp.Model) -> None:
    s = sample.easy(model, 1).at(0)
    wanted = model.inverse_dynamics(s.pose, s.twist, s.acceleration)
    strided = np.zeros(12)
    strided[::2] = s.twist
    for pose in (np.asfortranarray(s.pose), s.pose.tolist(), s.pose[::-1][::-1], s.pose.astype(">f8")):
        for twist in (strided[::2], s.twist.tolist(), s.twist):
            assert np.array_equal(model.inverse_dynamics(pose, twist, s.acceleration), wanted)
    rigid = model.inverse_dynamics(RigidTransform.from_matrix(s.pose), s.twist, s.acceleration)
    assert_close(rigid[None], wanted[None], 1e-12)
    got = model.inverse_dynamics(s.pose, s.twist.astype(np.float32), s.acceleration)
    rounded = model.inverse_dynamics(s.pose, s.twist.astype(np.float32).astype(float), s.acceleration)
    assert np.array_equal(got, rounded)


def test_a_small_batch_takes_the_short_way(model: pp.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain rows need no bookkeeping; other layouts go the general way to the same bits, bad ones to an error."""
    s = sample.easy(model, 6)
    friction = not sample.friction_needs_reactions(model.robot)

    def call(pose: Any, twist: Any) -> Any:
        return model.inverse_dynamics(pose, twist, s.acceleration, friction=friction)

    with monkeypatch.context() as patch:
        patch.setattr(Calls, "run", None)
        wanted = call(s.pose, s.twist)
        whole = model.energy(s.pose, s.twist)
    frozen = s.twist.copy()
    frozen.flags.writeable = False
    for twist in (np.asfortranarray(s.twist), frozen, s.twist.tolist(), np.repeat(s.twist, 2, axis=0)[::2]):
        assert np.array_equal(call(s.pose, twist), wanted)
    assert np.array_equal(model.energy(s.pose, frozen), whole)
    assert np.array_equal(call(s.pose[:, None], s.twist[:, None])[0, 0], wanted[0])
    with refused(InputError, "twist nan"):
        call(s.pose, np.where(np.arange(6) == 2, np.nan, s.twist))
    with refused(InputError, code="batch_axes"):
        call(s.pose, s.twist[:5])


@pytest.fixture(scope="module")
def flexible() -> pp.Model:
    return pp.Model(pp.load("long").on_modes(hexagon_modes(3)))


def test_every_function_takes_the_short_way(flexible: pp.Model, model_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One state, rigid or flexible, with other numbers or without: no bookkeeping, and the numbers of the long way."""
    for model in (model_of("lopes"), flexible):
        s = sample.easy(model.rigid, 2)
        shape = {"elastic": np.array([1e-4, -2e-4, 1e-4])} if model.robot.flexible else {}
        one, two = s.at(0), s

        def calls(at: Any, model: pp.Model = model, shape: dict[str, Any] = shape, **how: Any) -> list[Any]:
            return [
                model.inverse_kinematics(at.pose, **shape, **how),
                model.rates(at.pose, at.twist, **shape, **how),
                model.accelerations(at.pose, at.twist, at.acceleration, **shape, **how),
                model.inverse_dynamics(at.pose, at.twist, at.acceleration, friction=False, **shape, **how),
                model.direct_dynamics(at.pose, at.twist, at.force, friction=False, **shape, **how),
                model.bias(at.pose, at.twist, False, **shape, **how),
                *model.energy(at.pose, at.twist, **shape, **how),
                model.reactions(at.pose, at.twist, at.acceleration, friction=False, **shape, **how).force,
            ]

        other = {"gravity": 1.5 * model.parameters("gravity")["gravity"]}
        calls(one)
        calls(one, parameters=other)
        with monkeypatch.context() as patch:
            patch.setattr(Calls, "run", None)
            short, design = calls(one), calls(one, parameters=other)
        for got, wanted in zip(short, calls(sample.States(*(a[None, :1] for a in two))), strict=True):
            assert np.array_equal(got, np.reshape(wanted, np.shape(got)))
        for got, wanted in zip(design, calls(one, parameters={"gravity": other["gravity"][None]}), strict=True):
            assert np.array_equal(got, np.reshape(wanted, np.shape(got)))
        assert not np.array_equal(short[3], design[3])


def test_the_same_plain_values_are_examined_once(model_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop calls with one design state by state; other values, and values that may change in place, are looked at."""
    model = model_of("lopes")
    s = sample.easy(model, 1).at(0)

    def force(mass: Any) -> Any:
        return model.inverse_dynamics(s.pose, s.twist, s.acceleration, parameters={"platform.mass": mass})

    heavy, light = force(60), force("30 kg")
    with monkeypatch.context() as patch:
        patch.setattr(Calls, "designs", None)
        assert np.array_equal(force("30 kg"), light)
        with pytest.raises(TypeError):  # other values are looked at, which this cannot
            force(60)
    assert np.array_equal(force(60), heavy)
    for bad in (True, [60, "x"], "60 m"):
        with refused(InputError, "platform.mass"):
            force(bad)
    force(1.0)
    with refused(InputError, "platform.mass"):
        force(True)
    mass = np.array(60.0)
    force(mass)
    mass[...] = 30.0
    assert np.array_equal(force(mass), light)


def test_inputs_are_known_by_name_and_not_by_their_place(flexible: pp.Model) -> None:
    """Two inputs of one shape in another order, some left out between others: memory of one call is not another's."""
    home, still = flexible.robot.home.matrix, np.zeros(6)
    shape, rate = 1e-4 * np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3])
    given = {
        "pose": home,
        "twist": still,
        "acceleration": still,
        "wrench": None,
        "elastic": shape,
        "elastic_rate": rate,
    }
    wanted = flexible.inverse_dynamics(home, still, still, elastic=shape, elastic_rate=rate)
    assert not np.array_equal(wanted, flexible.inverse_dynamics(home, still, still, elastic=shape))
    assert not np.array_equal(wanted, flexible.inverse_dynamics(home, still, still))
    assert np.array_equal(wanted, flexible.inverse_dynamics(home, still, still, elastic=shape, elastic_rate=rate))
    turned = dict(reversed(given.items()))
    calls = flexible._calls
    got = calls.call(function("inverse_dynamics", *turned), tuple(turned.values()), friction=True)
    assert np.array_equal(got, wanted)


def test_results_have_one_type_for_all_robots(flexible: pp.Model, model_of: Any) -> None:
    for model, count in ((model_of("lopes"), 0), (flexible, 3)):
        at = sample.easy(model.rigid, 2)
        force = model.inverse_dynamics(at.pose, at.twist, at.acceleration)
        full = model.inverse_dynamics(at.pose, at.twist, at.acceleration, full_output=True)
        assert np.array_equal(full.force, force)
        assert full.elastic_acceleration.shape == (2, count)
        moved = model.direct_dynamics(at.pose, at.twist, at.force, full_output=True)
        assert np.array_equal(moved.acceleration, model.direct_dynamics(at.pose, at.twist, at.force))
        assert moved.elastic_acceleration.shape == (2, count)
        assert model.energy(at.pose, at.twist).elastic.shape == (2,)


def test_other_numbers_build_the_robot_once(model_of: Any) -> None:
    """Functions of designs are made once for the zeros they replace, not for their values."""
    kernels = model_of("lopes").kernels
    made = [kernels.of_design(kernels.design({"platform.mass": mass})) for mass in (1.0, 2.0)]
    tilted = [kernels.of_design(kernels.design({"gravity": [x, 0.0, -9.0]})) for x in (0.0, 1.0, 2.0)]
    assert made[0] is made[1] is tilted[0]
    assert made[0].mechanism is kernels.mechanism
    assert tilted[1] is tilted[2] is not tilted[0]


def test_a_state_with_printed_digits_is_made_exact(model_of: Any) -> None:
    """Seven digits: what is printed is used as the rotation next to it, in one state as in a batch."""
    model = model_of("lopes")
    s = sample.easy(model, 3)
    printed = s.pose.round(7)
    batch = model.inverse_dynamics(printed, s.twist, s.acceleration)
    for k in range(3):
        assert np.array_equal(model.inverse_dynamics(printed[k], s.twist[k], s.acceleration[k]), batch[k])
    near = np.tile(np.eye(4), (3, 1, 1))
    near[:, :3, 3], near[:, :3, :3] = printed[:, :3, 3], Rotation.from_matrix(printed[:, :3, :3]).as_matrix()
    assert_close(batch, model.inverse_dynamics(near, s.twist, s.acceleration), 1e-11)


# -- logs ------------------------------------------------------------------------------------------------------------


def test_a_log_is_followed_as_a_loop_would(model: pp.Model) -> None:
    """Row after row from the pose before: the same poses as calls one by one, to the bit, and those of the motion."""
    pose = SmoothMotion(model)(np.linspace(0, 2, 41))[0]
    q = model.inverse_kinematics(pose)
    found = model.forward_kinematics(q, pose[0], along=True, full_output=True)
    assert (found.status == ForwardKinematicsStatus.CONVERGED).all()
    assert_close(found.pose, pose, 1e-11)
    guess = pose[0]
    for row, got in zip(q, found.pose, strict=True):
        guess = model.forward_kinematics(row, guess)
        assert np.array_equal(guess, got)
    # far from home a row of its own would not be found in as few steps
    assert found.steps.mean() < model.forward_kinematics(q, full_output=True).steps.mean()


def test_logs_side_by_side(model_of: Any) -> None:
    model = model_of("kim-ryu")
    pose = SmoothMotion(model)(np.linspace(0, 2, 60))[0].reshape(2, 3, 10, 4, 4)
    q = model.inverse_kinematics(pose)
    found = model.forward_kinematics(q, pose[..., 0, :, :], along=True)
    assert found.shape == (2, 3, 10, 4, 4)
    for i, j in np.ndindex(2, 3):
        assert np.array_equal(found[i, j], model.forward_kinematics(q[i, j], pose[i, j, 0], along=True))
    # one guess for all logs, one log from several guesses, no rows, no logs
    home = model.robot.home.matrix
    assert_close(model.forward_kinematics(q, home, along=True), pose, 1e-11)
    assert model.forward_kinematics(q[0, 0], pose[:, :, 0], along=True).shape == (2, 3, 10, 4, 4)
    assert model.forward_kinematics(q[:, :, :0], along=True).shape == (2, 3, 0, 4, 4)
    assert model.forward_kinematics(q[:0], along=True).shape == (0, 3, 10, 4, 4)


def test_a_row_without_a_pose_does_not_end_the_log(model_of: Any) -> None:
    model = model_of("lopes")
    pose = SmoothMotion(model)(np.linspace(0, 1, 12))[0]
    q = model.inverse_kinematics(pose)
    q[5] += 40.0 * (1 + np.arange(6))
    found = model.forward_kinematics(q, pose[0], along=True, full_output=True)
    assert found.status[5] == ForwardKinematicsStatus.NOT_CONVERGED
    assert np.isnan(found.pose[5]).all()
    others = np.delete(np.arange(12), 5)
    assert (found.status[others] == ForwardKinematicsStatus.CONVERGED).all()
    assert_close(found.pose[others], pose[others], 1e-11)
    with refused(StateError, "1 12 5", code="not_converged"):
        model.forward_kinematics(q, pose[0], along=True, errors="raise")


@pytest.mark.parametrize("robot", ["lopes", "staicu"])
def test_logs_that_are_none(robot: str, model_of: Any) -> None:
    model = model_of(robot)
    home = model.robot.home.matrix
    q = np.tile(model.inverse_kinematics(home), (4, 1))
    with refused(InputError, "q along"):
        model.forward_kinematics(q[0], along=True)
    q[2, 1] = np.nan
    with refused(InputError, "q nan [1] 2"):
        model.forward_kinematics(q, along=True)
    scaled = home.copy()
    scaled[:3, :3] *= 1.001
    with refused(InputError, "guess", code="not_a_rotation"):
        model.forward_kinematics(q[:2], scaled, along=True)
    assert_close(model.forward_kinematics(q[:2], home.round(9), along=True), np.array([home, home]), 1e-11)


# -- singular values -------------------------------------------------------------------------------------------------


def extremes(matrices: Any) -> tuple[Any, Any, Any]:
    """Smallest and largest singular values of matrices (k, n, m), and the iterations they took."""
    _, n, m = matrices.shape
    a = ca.SX.sym("a", n * m)
    values = extreme_singular_values(ca.reshape(a, m, n).T)
    outputs = port("s", values.smallest, ()), port("l", values.largest, ()), port("r", values.state[2], ())
    iteration = Iteration("extremes", (Port("a", a, (n, m)),), outputs, values.state, values.start, values.step)
    return Kernel(lambda: iteration)(np.ascontiguousarray(matrices))  # type: ignore[no-any-return]


@pytest.mark.parametrize("shape", [(6, 6), (8, 6), (3, 3), (4, 2), (1, 1)])
def test_singular_values_are_those_of_lapack(shape: tuple[int, int]) -> None:
    """Both to a few roundings of the largest, 2e-15, as LAPACK's own are: random, of any condition, equal, lost.

    Where some are equal the last steps are noise, of a size that depends on how the machine rounds the matrices:
    2.4e-14 in two million matrices, most below 2e-15.
    """
    n, m = shape
    rng = np.random.default_rng(0)
    left, s, right = np.linalg.svd(rng.normal(size=(500, n, m)), full_matrices=False)
    separate = [s, 10.0 ** rng.uniform(-14, 0, s.shape), 1e-9 * s, np.ones_like(s)]
    equal = []
    for k in (1, 2, 3):  # the k smallest equal, the k largest equal, the k smallest zero but for rounding
        if k < m:
            low, high, none = s.copy(), s.copy(), s.copy()
            low[:, -k:], high[:, :k], none[:, -k:] = low[:, -1:], high[:, :1], 0.0
            (separate if k == 1 else equal).extend([low, high])
            separate.append(none)
    for spectra, tolerance in ((separate, 2e-15), (equal, 1e-14)):
        for spectrum in spectra:
            matrices = (left * spectrum[:, None, :]) @ right
            wanted = np.linalg.svd(matrices, compute_uv=False)
            smallest, largest, iterations = extremes(matrices)
            for got, value in ((smallest, wanted[:, -1]), (largest, wanted[:, 0])):
                error = np.abs(got - value) / wanted[:, 0]
                assert error.max() <= tolerance
                assert np.median(error) <= 1e-15
            assert iterations.max() <= MAX_ITERATIONS
    assert extremes(left * s[:, None, :] @ right)[2].mean() < 6


def test_conditioning_is_that_of_the_jacobian(model: pp.Model) -> None:
    """Near home, with large turns and near a singular pose: within roundings of the largest singular value."""
    near = sample.near_singular(model, aside=1e-7).pose
    turns = np.abs(sample.basis(model.robot)[3:]).sum(axis=0) > 0
    for poses in (sample.easy(model, 40).pose, sample.large_turns(model, 40).pose, near):
        scaled = model.jacobian(poses) * np.where(turns, 1 / model.size, 1.0)
        wanted = np.linalg.svd(scaled, compute_uv=False)
        got = model.conditioning(poses)
        # Jacobians of the two kernels differ by roundings themselves
        assert (np.abs(got.distance - wanted[:, -1]) <= 1e-14 * wanted[:, 0]).all()
        ratio = wanted[:, 0] / wanted[:, -1]
        assert (np.abs(got.condition / ratio - 1) <= 3e-14 * ratio).all()
