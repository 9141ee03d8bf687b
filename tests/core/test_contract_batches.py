"""The contract of batches: any shape, any layout, any number of threads gives for each state what it gives alone."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform

import polypod as pp
from polypod.model import LimitReport, Reactions
from support import states as sample
from support.compare import assert_close
from support.states import friction_needs_reactions

# Every public method that takes states, with the fields of a state it takes. A method not here fails the test below.
METHODS: dict[str, Callable[[pp.Model, sample.States], Any]] = {
    "inverse_kinematics": lambda m, s: m.inverse_kinematics(s.pose),
    "jacobian": lambda m, s: m.jacobian(s.pose),
    "rates": lambda m, s: m.rates(s.pose, s.twist),
    "drift_acceleration": lambda m, s: m.drift_acceleration(s.pose, s.twist),
    "accelerations": lambda m, s: m.accelerations(s.pose, s.twist, s.acceleration),
    "twist": lambda m, s: m.twist(s.pose, s.force),
    "acceleration": lambda m, s: m.acceleration(s.pose, s.twist, s.force),
    "null_space": lambda m, s: m.null_space(s.pose),
    "bodies": lambda m, s: m.bodies(s.pose),
    "base_wrench": lambda m, s: m.base_wrench(*s[:4]),
    "forward_kinematics": lambda m, s: m.forward_kinematics(m.inverse_kinematics(s.pose), s.pose, full_output=True),
    "limits": lambda m, s: m.limits(s.pose) if m.robot.flexible else m.limits(*s[:4]),
    "joint_ranges": lambda m, s: m.joint_ranges(s.pose),
    "conditioning": lambda m, s: m.conditioning(s.pose),
    "inverse_dynamics": lambda m, s: m.inverse_dynamics(*s[:4]),
    "direct_dynamics": lambda m, s: m.direct_dynamics(s.pose, s.twist, s.force, s.wrench),
    "mass_matrix": lambda m, s: m.mass_matrix(s.pose),
    "bias": lambda m, s: m.bias(s.pose, s.twist, friction=not friction_needs_reactions(m.robot)),
    "gravity": lambda m, s: m.gravity(s.pose),
    "energy": lambda m, s: m.energy(s.pose, s.twist),
    "closing": lambda m, s: m.closing(s.pose)[:2],
    "reactions": lambda m, s: m.reactions(*s[:4]),
    "friction_solutions": lambda m, s: m.friction_solutions(*s[:4]).status,
}
LOWER_MOBILITY = {
    "coordinates": lambda m, s: m.coordinates(s.pose),
    "rate_map": lambda m, s: m.rate_map(s.pose),
    "motion": lambda m, s: m.motion(m.coordinates(s.pose), m.coordinates(s.pose), m.coordinates(s.pose)),
}
# Large or slow functions, of two small robots only.
LARGE = {
    "static_force_range": lambda m, s: m.static_force_range(s.pose, s.wrench)[:3],
    "derivatives": lambda m, s: m.derivatives("inverse_dynamics", *s[:4], friction=False)[:3],
    "regressor": lambda m, s: m.regressor(*s[:3]).matrix,
}
# This goes through LAPACK, which is not of this package.
ROUNDED = {"static_force_range"}
FLEXIBLE = {"deflection", "static_equilibrium", "steady_shape"}
NOT_OF_STATES = {"casadi", "error_bound", "jax", "kept", "kernel", "parameters", "torch"}
# Of robots with springs and the like (tests/core/test_elements.py).
OF_ELEMENTS = {"elements", "equilibrium"}
# tests/core/test_clearance.py
OF_SHAPES = {"clearance"}
# As many rows as a state has modes: a batch has those of its largest state (tests/core/test_assembly_modes.py).
RAGGED = {"assembly_modes"}


ELSEWHERE = {"joint_positions", "joint_rates", "plot", "distribution_inputs", "step", "alike"}
"""Of all robots in ``test_joint_positions.py``; a picture of one pose; what controllers give a kernel; a step in time
(``test_discrete_step.py``); another robot with the same options."""


def test_every_method_of_a_model_is_here() -> None:
    public = {
        name for name in dir(pp.Model) if not name.startswith("_") and inspect.isfunction(getattr(pp.Model, name))
    }
    assert public == {
        *METHODS,
        *LOWER_MOBILITY,
        *LARGE,
        *FLEXIBLE,
        *NOT_OF_STATES,
        *OF_ELEMENTS,
        *OF_SHAPES,
        *RAGGED,
        *ELSEWHERE,
    }


def methods_of(model: pp.Model) -> dict[str, Callable[[pp.Model, sample.States], Any]]:
    large = LARGE if model.robot.name in ("lopes", "staicu") else {}
    return {**METHODS, **(LOWER_MOBILITY if model.robot.dof else {}), **large}


def leaves(result: Any) -> list[Any]:
    """All arrays of a result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, LimitReport):
        return [result.value]
    if isinstance(result, Reactions):
        joints = [joint for leg in result.legs.values() for joint in leg.values()]
        return [result.force, *(part for joint in joints for part in (joint.force, joint.moment))]
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


def same(one: Any, other: Any, name: str = "") -> bool:
    """Equal to the bit, or to rounding; what an overconstrained robot leaves open is not a number in both."""
    if name in ROUNDED:
        return np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max(initial=0.0), equal_nan=True)
    return np.array_equal(one, other, equal_nan=True)


def test_batches_of_any_size_and_shape(model: pp.Model) -> None:
    """A batch of 0, 1, n and of several leading axes gives for each state what the state alone gives, to the bit."""
    s = sample.easy(model, 18)
    for name, call in methods_of(model).items():
        whole = leaves(call(model, s))
        for k in (0, 17):
            for got, part in zip(leaves(call(model, s.at(k))), whole, strict=True):
                assert np.shape(got) == part.shape[1:], name
                assert same(got, part[k], name), name
        for shape in ((0,), (1,), (2, 9), (3, 0), (1, 2, 1), (18,)):
            n = int(np.prod(shape))
            some = sample.States(*(a[:n].reshape(*shape, *a.shape[1:]) for a in s))
            for got, part in zip(leaves(call(model, some)), whole, strict=True):
                assert got.shape == shape + part.shape[1:], name
                assert same(got, part[:n].reshape(got.shape), name), name


def test_leading_axes_are_broadcast(model: pp.Model) -> None:
    s = sample.easy(model, 6)
    some = s.at(slice(0, 3))
    got = model.inverse_dynamics(some.pose[:, None], s.twist[:2], s.acceleration[5], s.wrench[3:5])
    assert got.shape == (3, 2, len(model.actuators))
    for i in range(3):
        for j in range(2):
            one = model.inverse_dynamics(s.pose[i], s.twist[j], s.acceleration[5], s.wrench[3 + j])
            assert np.array_equal(got[i, j], one)
    assert model.inverse_dynamics(s.pose[0], s.twist, s.acceleration[:1]).shape == (6, len(model.actuators))
    assert model.inverse_dynamics(s.pose[0], np.zeros((0, 6)), s.acceleration[:1]).shape == (0, len(model.actuators))


def test_arrays_of_any_layout_and_rigid_transforms(model: pp.Model) -> None:
    """Lists, transposed, strided, pickled, single and read-only arrays are taken; inputs are left as they were."""
    s = sample.easy(model, 6)
    wanted = model.inverse_dynamics(*s[:4])
    before = [a.copy() for a in s]
    strided = np.zeros((12, 8))
    strided[::2, 1:7] = s.twist
    frozen = s.acceleration.copy()
    frozen.flags.writeable = False
    poses = np.asfortranarray(s.pose)
    got = model.inverse_dynamics(poses, strided[::2, 1:7], frozen, s.wrench.tolist())
    assert np.array_equal(got, wanted)
    assert np.array_equal(model.inverse_kinematics(RigidTransform.from_matrix(s.pose)).shape, (6, len(model.actuators)))
    assert_close(model.inverse_kinematics(RigidTransform.from_matrix(s.pose)), model.inverse_kinematics(s.pose), 1e-13)
    pickled = [pickle.loads(pickle.dumps(a)) for a in s[:4]]  # whose types equal NumPy's float64 and are not it
    assert np.array_equal(model.inverse_dynamics(*pickled), wanted)
    assert np.array_equal(model.inverse_dynamics(*(a[0] for a in pickled)), wanted[0])
    single = model.inverse_dynamics(s.pose, s.twist.astype(np.float32), s.acceleration, s.wrench)
    rounded = model.inverse_dynamics(s.pose, s.twist.astype(np.float32).astype(float), s.acceleration, s.wrench)
    assert np.array_equal(single, rounded)
    for a, b in zip(s, before, strict=True):
        assert np.array_equal(a, b)


def test_results_are_the_callers_own(model: pp.Model) -> None:
    """Writing into a result changes neither an input nor a later result."""
    s = sample.easy(model, 3)
    for name, call in methods_of(model).items():
        before, kept = [a.copy() for a in leaves(call(model, s))], [a.copy() for a in s]
        for leaf in leaves(call(model, s)):
            leaf[...] = 0
        assert all(np.array_equal(a, b) for a, b in zip(s, kept, strict=True)), f"{name} gives out its input"
        assert all(same(a, b) for a, b in zip(leaves(call(model, s)), before, strict=True)), name


def test_threads_give_the_same(model: pp.Model) -> None:
    """Threads inside a kernel, and calls from several threads of a program."""
    s = sample.easy(model, 301)
    kernel = model.kernel("inverse_dynamics")
    for n in (1, 7, 16, 301):
        arrays = [a[:n] for a in s[:4]]
        alone = kernel(*arrays, threads=1)
        for threads in (2, 3):
            assert all(np.array_equal(a, b) for a, b in zip(kernel(*arrays, threads=threads), alone, strict=True))
        shared = [s.pose[:1], *arrays[1:]]
        one, two = (kernel(*shared, threads=k)[0] for k in (1, 2))
        assert np.array_equal(one, two)
    fresh = pp.Model(model.robot)
    wanted = model.inverse_dynamics(*s[:4])
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda k: fresh.inverse_dynamics(*s.at(slice(k, None))[:4]), range(16)))
    assert all(np.array_equal(got, wanted[k:]) for k, got in enumerate(results))
