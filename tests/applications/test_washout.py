"""The classical washout filter: against SciPy's linear systems, its steady states, and the same in C."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import polypod as pp
from polypod.errors import InputError
from polypod.online import Washout
from support.refusals import refused
from test_export_status import INVALID_INPUT, OK, Exported

G = 9.81
H = 1e-3
REST = np.array([0.0, 0.0, G])
NEUTRAL = pp.pose(z=0.4)


def run(filter_: Washout, force: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses and twists after each period."""
    memory, poses, twists = filter_.start(), [], []
    for f, w in zip(force, rate, strict=True):
        pose, twist, memory = filter_.step(memory, f, w, H)
        poses.append(pose)
        twists.append(twist)
    return np.array(poses), np.array(twists)


def test_heave_is_the_linear_filter_of_its_acceleration() -> None:
    """Without tilt all is linear: position s/((s^2 + 2 z w s + w^2)(s + b)), by SciPy."""
    w, z, b, scale = 2.0, 0.8, 0.3, 0.4
    filter_ = Washout(NEUTRAL, force_scale=scale, translation_frequency=w, translation_damping=z, translation_washout=b)
    t = H * np.arange(4000)
    push = np.where(t < 1.0, np.sin(3 * t), 0.0)
    pose, twist = run(filter_, REST + push[:, None] * [0, 0, 1], np.zeros((len(t), 3)))
    system = signal.cont2discrete(signal.tf2ss([1, 0], np.polymul([1, 2 * z * w, w**2], [1, b])), H, "zoh")
    expected = signal.dlsim(system, np.append(scale * push, 0.0))[1][1:, 0]
    assert np.abs(pose[:, 2, 3] - 0.4 - expected).max() < 1e-12
    assert np.abs(np.diff(pose[:, 2, 3]) / H - (twist[1:, 2] + twist[:-1, 2]) / 2).max() < 1e-6
    assert np.abs(pose[:, :3, :3] - np.eye(3)).max() < 1e-15


def test_yaw_is_the_linear_filter_of_its_rate() -> None:
    w, z = 1.2, 0.7
    filter_ = Washout(NEUTRAL, rate_scale=1.0, rotation_frequency=w, rotation_damping=z)
    rate = np.where(np.arange(3000) < 700, 0.3, 0.0)
    pose, twist = run(filter_, np.tile(REST, (3000, 1)), rate[:, None] * [0, 0, 1])
    system = signal.cont2discrete(signal.tf2ss([1, 0], [1, 2 * z * w, w**2]), H, "zoh")
    expected = signal.dlsim(system, np.append(rate, 0.0))[1][1:, 0]
    yaw = np.arctan2(pose[:, 1, 0], pose[:, 0, 0])
    assert np.abs(yaw - expected).max() < 1e-12
    assert np.abs(twist[:, [0, 1, 2, 3, 4]]).max() < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("axis", [0, 1])
def test_a_steady_force_ends_in_a_tilt_that_stands_for_it(axis: int) -> None:
    """The cab feels the scaled force: R^T (0, 0, g) has its components across the vertical; the position is neutral."""
    wanted, scale = 1.5, 0.6
    push = wanted * np.eye(3)[axis]
    pose, twist = run(Washout(NEUTRAL, force_scale=scale), np.tile(REST + push, (40000, 1)), np.zeros((40000, 3)))
    felt = pose[-1, :3, :3].T @ REST
    assert felt[axis] == pytest.approx(scale * wanted, rel=1e-6)
    assert np.abs(pose[-1, :3, 3] - [0, 0, 0.4]).max() < 0.02 * np.abs(pose[:, :3, 3] - [0, 0, 0.4]).max() + 1e-3
    rate = np.linalg.norm(twist[:, 3:], axis=1)
    assert rate.max() <= np.deg2rad(3.0) * (1 + 1e-9)
    assert rate[: len(rate) // 40].max() == pytest.approx(np.deg2rad(3.0))


@pytest.mark.long
def test_it_returns_to_neutral() -> None:
    rng = np.random.default_rng(1)
    force, rate = np.tile(REST, (60000, 1)), np.zeros((60000, 3))
    force[:500] += rng.normal(size=(500, 3))
    rate[:500] = 0.3 * rng.normal(size=(500, 3))
    pose, _ = run(Washout(NEUTRAL), force, rate)
    assert np.abs(pose - NEUTRAL).max() > 1e-3
    assert np.abs(pose[-1] - NEUTRAL).max() < 1e-5


def test_bad_coefficients_and_periods_are_refused() -> None:
    with refused(InputError, "tilt_frequency 0"):
        Washout(NEUTRAL, tilt_frequency=0.0)
    with refused(InputError, "force_scale"):
        Washout(NEUTRAL, force_scale=[1.0, 2.0])
    with refused(InputError, "period 0.1"):
        Washout(NEUTRAL).step(np.zeros(21), REST, [0, 0, 0], 0.2)
    with refused(InputError, "specific_force"):
        Washout(NEUTRAL).step(np.zeros(21), [np.nan, 0, 0], [0, 0, 0], H)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_same_in_c(tmp_path: Path) -> None:
    step = Exported(tmp_path, pp.Model("hexapod"), "washout_step")
    filter_, rng = Washout(NEUTRAL), np.random.default_rng(2)
    memory = filter_.start()
    for _ in range(50):
        force, rate = REST + rng.normal(size=3), rng.normal(size=3)
        given = {"memory": memory, "specific_force": force, "angular_velocity": rate, "neutral": NEUTRAL, "time": H}
        status, found = step(**given, coefficients=filter_.coefficients)
        state = filter_.step(memory, force, rate, H)
        assert status == OK
        assert np.abs(found["pose"] - state.pose.ravel()).max() < 1e-14
        assert np.abs(found["next_memory"] - state.memory).max() < 1e-14
        memory = state.memory
    assert step(**{**given, "specific_force": [np.inf, 0, 0]}, coefficients=filter_.coefficients)[0] == INVALID_INPUT
