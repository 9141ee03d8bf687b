"""What controllers and designers ask for beside forces: derivatives, regressor, conditioning, designs, small batches.

Times are of one state, and notes set them beside inverse dynamics. Answers are compared with others: derivatives with
differences of sixth order along one direction, the regressor with the forces of its numbers, conditioning with LAPACK,
designs with the robot itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from bench.rows import Row
from bench.states import Array, States, relative_difference, states
from bench.timing import on_one_thread, take_turns
from polypod.kernels import Kernel
from polypod.model import Model
from polypod.model.derivatives import derivative_functions

# Outputs of a state stay in the cache: 108 and 888 numbers, beside six of inverse dynamics.
BATCH = 1024
DESIGNS = 1000
_STEPS, _WEIGHTS = np.array([-3, -2, -1, 1, 2, 3]), np.array([-1, 9, -45, 45, -9, 1]) / 60
_STEP = 1e-3


def measure(robot: str, seconds: float) -> Iterator[Row]:
    """Rows of one robot of six degrees of freedom, of its kernels in one thread."""
    model = Model(robot)
    at = states(model, BATCH)
    state = at.pose, at.twist, at.acceleration
    none = np.zeros((1, 6))
    plain = model.kernel("inverse_dynamics", False)
    functions, mechanism = derivative_functions(model), model.kernels.mechanism
    derivatives = functions._kernel("inverse_dynamics", ("pose", "twist", "acceleration"), (), False)[1]
    linear = functions._regressor(mechanism).at(mechanism.numbers.values)
    matrix, _, values = model.regressor(*state)
    spread = model.kernel("conditioning")
    several = _of_designs(model, at)
    group, pinocchio = f"{robot}: other functions", _pinocchio(model, at)
    rows = {
        "inverse dynamics": (_bound(plain, *state, none), BATCH, plain.operations, None),
        "derivatives by pose, twist, acceleration (6 x 18)": (
            _bound(derivatives, *state, none),
            BATCH,
            derivatives.operations,
            relative_difference(_along(derivatives(*state, none)), _difference(model, at)),
        ),
        f"regressor (6 x {matrix.shape[-1]})": (
            _bound(linear, *state),
            BATCH,
            linear.operations,
            relative_difference(matrix @ values, model.inverse_dynamics(*state)),
        ),
        "conditioning": (
            _bound(spread, at.pose),
            BATCH,
            None,
            relative_difference(spread(at.pose)[0], np.linalg.cond(_scaled_jacobian(model, at.pose))),
        ),
        f"inverse dynamics of {DESIGNS} designs, checked call": (
            several,
            BATCH * DESIGNS,
            None,
            relative_difference(several()[0], at.force),
        ),
    }
    times = take_turns({name: row[0] for name, row in rows.items()} | pinocchio, seconds)
    base = times["inverse dynamics"].best / BATCH
    for name, (_, count, operations, difference) in rows.items():
        each, middle = times[name].best / count, times[name].median / count
        slower = [times[other].best / each for other in pinocchio if name.startswith("derivatives")]
        note = "" if name == "inverse dynamics" else f"{each / base:.2f} of inverse dynamics"
        yield Row(group, name, each, operations, slower[0] if slower else None, difference, note, middle)
    for name in pinocchio:
        yield Row(group, name, times[name].best, ratio=1.0, median=times[name].median)


def checked(robot: str, seconds: float) -> Iterator[Row]:
    """The checked call of a robot of fewer degrees of freedom beside its kernel, in one thread, at some sizes of the
    batch."""
    model, none = Model(robot), np.zeros((1, 6))
    kernel, m = model.kernel("inverse_dynamics", False), model.mobility.count
    for size in (64, BATCH, 8 * BATCH):
        x, rate, change = np.random.default_rng(0).normal(size=(3, size, m))
        at = model.motion(0.05 * model.size * x / max(1.0, float(np.abs(x).max())), rate, change)
        rivals = {
            f"kernel, {size} states": _bound(kernel, *at, none),
            f"checked call, {size} states": lambda at=at: on_one_thread(
                lambda: model.inverse_dynamics(*at, friction=False)
            ),
        }
        times = take_turns(rivals, seconds / 3)
        bare, whole = (times[name] for name in rivals)
        group = f"{robot}: checked calls"
        yield Row(group, f"kernel, {size} states", bare.best / size, kernel.operations, median=bare.median / size)
        note = f"{whole.best / bare.best:.2f} of its kernel"
        yield Row(group, f"checked call, {size} states", whole.best / size, note=note, median=whole.median / size)


def _bound(kernel: Kernel, *arrays: Array) -> Callable[[], object]:
    results = kernel(*arrays, threads=1)
    return kernel.bind(*arrays, out=list(results) if isinstance(results, tuple) else [results])


def _of_designs(model: Model, at: States) -> Callable[[], Array]:
    """Designs that differ in the platform's mass, the first the robot itself."""
    masses = model.robot.platform.mass * np.linspace(1.0, 1.5, DESIGNS)
    given = {"platform.mass": masses[:, None]}
    return lambda: on_one_thread(lambda: model.inverse_dynamics(*at[:3], friction=False, parameters=given))


def _pinocchio(model: Model, at: States) -> dict[str, Callable[[], object]]:
    """Pinocchio's derivatives on the open tree, if it is installed."""
    try:
        import pinocchio as pin

        from bench.peers.pinocchio import Oracle
    except ImportError:
        return {}
    tree = Oracle(model.robot).open_tree(at.pose[0], at.twist[0], at.acceleration[0])
    return {
        "Pinocchio computeRNEADerivatives, open tree only": lambda: pin.computeRNEADerivatives(
            tree.model, tree.data, tree.q, tree.v, tree.a
        )
    }


def _along(blocks: tuple[Array, ...]) -> Array:
    """Derivatives along one direction of all 18 inputs."""
    return np.asarray(np.concatenate(blocks[:3], axis=-1).sum(axis=-1))


def _difference(model: Model, at: States) -> Array:
    """The same from forces on both sides: all inputs moved alike, the pose by a translation and a rotation vector."""
    total = np.zeros_like(at.force)
    for step, weight in zip(_STEP * _STEPS, _WEIGHTS, strict=True):
        pose = at.pose.copy()
        pose[:, :3, 3] += step
        pose[:, :3, :3] = Rotation.from_rotvec(np.full(3, step)).as_matrix() @ pose[:, :3, :3]
        total += weight * model.inverse_dynamics(pose, at.twist + step, at.acceleration + step, friction=False)
    return total / _STEP


def _scaled_jacobian(model: Model, pose: Array) -> Array:
    scale = np.array([1.0, 1.0, 1.0, *[1 / model.size] * 3])
    return np.asarray(model.jacobian(pose) * scale)
