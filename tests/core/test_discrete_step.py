"""The discrete step: that of the simulation, with matrices that differences of it confirm."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError, UnknownNameError
from polypod.export import export_c
from support.refusals import refused
from support.states import mostly_long
from test_export_status import INVALID_INPUT, OK, Exported

DT = 0.01


def state(model: pp.Model, seed: int = 1) -> tuple[Any, Any, Any]:
    """A moving state off home, and forces that accelerate it."""
    draw = np.random.default_rng(seed)
    pose = np.asarray(pp.pose(0.02, -0.01, 0.015, 0.1, -0.05, 0.08) @ model.robot.home.matrix)
    twist = draw.normal(size=6) * [0.2, 0.2, 0.2, 1, 1, 1]
    force = model.inverse_dynamics(pose, twist, np.zeros(6), friction=False)
    return pose, twist, force * (1 + 0.2 * draw.normal(size=len(force)))


def moved(pose: Any, change: Any) -> Any:
    pose = pose.copy()
    pose[:3, 3] += change[:3]
    pose[:3, :3] = Rotation.from_rotvec(change[3:6]).as_matrix() @ pose[:3, :3]
    return pose


@pytest.mark.parametrize("robot", mostly_long(("hexapod", "lopes", "kim-ryu"), ("hexapod",)))
def test_it_is_a_step_of_the_simulation_with_its_derivatives(robot: str, model_of: Any) -> None:
    """The state of ``simulate`` after a step; A and B by differences of fourth order of runs of ``simulate``."""
    model = model_of(robot)
    pose, twist, force = state(model)
    found = model.step(pose, twist, force, DT, friction=False)

    def after(change: Any) -> Any:
        start = {"pose": moved(pose, change), "twist": twist + change[6:12]}
        given = {"duration": DT, "rate": 1 / DT, "step": DT, "friction": False}
        return pp.simulate(model, force + change[12:], **start, **given).isel(time=-1)

    end = after(np.zeros(18))
    assert np.abs(found.pose - end.pose.values).max() < 1e-14
    assert np.abs(found.twist - end.twist.values).max() < 1e-13 * np.abs(found.twist).max()
    for k in (1, 4, 9, 15):
        length = 1e-3 if k < 12 else 1e-2 * np.abs(force).max()
        change = np.zeros((12,))
        for point, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            other = after(point * length * np.eye(18)[k])
            turn = Rotation.from_matrix(other.pose.values[:3, :3] @ found.pose[:3, :3].T).as_rotvec()
            shift = other.pose.values[:3, 3] - found.pose[:3, 3]
            change += weight * np.r_[shift, turn, other.twist.values - found.twist] / (12 * length)
        exact = found.a[:, k] if k < 12 else found.b[:, k - 12]
        assert np.abs(exact - change).max() < 1e-8 * max(1e-3, np.abs(exact).max()), k


def test_its_order_is_four(model_of: Any) -> None:
    """Errors of pose, twist, A and B fall by 16 with half the step, against 64 steps."""
    model = model_of("hexapod")
    given = (*state(model), 0.04)
    exact = model.step(*given, substeps=64, friction=False)
    errors = []
    for substeps in (2, 4, 8):
        found = model.step(*given, substeps=substeps, friction=False)
        errors.append([np.abs(one - other).max() for one, other in zip(found, exact, strict=True)])
    ratios = np.array(errors)[:-1] / np.array(errors)[1:]
    assert (ratios > 12).all()
    assert (ratios < 24).all()


def test_batches_are_single_states(model_of: Any) -> None:
    model = model_of("hexapod")
    pose, twist, force = state(model)
    forces = force * np.linspace(0.9, 1.1, 3)[:, None]
    many = model.step(pose, twist, forces, DT, substeps=2, friction=False)
    assert many.a.shape == (3, 12, 12)
    for k in range(3):
        one = model.step(pose, twist, forces[k], DT, substeps=2, friction=False)
        for whole, single in zip(many, one, strict=True):
            assert np.abs(whole[k] - single).max() < 1e-13
    bare = model.step(pose, twist, forces, DT, substeps=2, friction=False, sensitivities=False)
    assert (bare.pose == many.pose).all()
    assert bare.a is None


def test_what_has_no_such_step(model_of: Any) -> None:
    home, still = model_of("hexapod").robot.home.matrix, np.zeros(6)
    for dt in (0.0, -0.01, float("nan")):
        with refused(InputError, "dt"):
            model_of("hexapod").step(home, still, still, dt)
    with refused(InputError, "substeps"):
        model_of("hexapod").step(home, still, still, DT, substeps=0)
    with refused(InputError, "coordinates"):
        model_of("staicu").step(home, still, np.zeros(3), DT)
    with refused(InputError, "friction"):
        model_of("kim-ryu").step(home, still, still, DT)


def test_in_casadi_it_has_derivatives(model_of: Any) -> None:
    """CasADi's own derivative by the forces is B; pose and twist are those of the step."""
    model = model_of("hexapod")
    pose, twist, force = state(model)
    wanted = model.step(pose, twist, force, DT, friction=False)
    function = model.casadi("discrete_step", friction=False)
    given = (pose.ravel(), twist, force, np.zeros(6), DT)
    found = function(*given)
    assert np.abs(np.array(found[0]).ravel() - wanted.pose.ravel()).max() < 1e-14
    assert np.abs(np.array(found[1]).ravel() - wanted.twist).max() < 1e-13
    f = ca.MX.sym("f", 6)
    by_force = ca.Function("b", [f], [ca.jacobian(function(*given[:2], f, *given[3:])[1], f)])(force)
    assert np.abs(np.array(by_force) - wanted.b[6:]).max() < 1e-12


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_in_c_it_is_the_same(model_of: Any, tmp_path: Path) -> None:
    """The four rounds are those of the method: a number of iterations that is chosen does not change them."""
    model = model_of("hexapod")
    step = Exported(tmp_path, model, "discrete_step", friction=False, iterations=2)
    pose, twist, force = state(model)
    wanted = model.step(pose, twist, force, DT, friction=False)
    status, found = step(pose=pose, twist=twist, force=force, time=DT)
    assert status == OK
    for name, one in zip(("pose_found", "twist_found", "a", "b"), wanted, strict=True):
        assert np.abs(found[name] - one.ravel()).max() < 1e-12 * max(1.0, np.abs(one).max()), name
    assert step(pose=pose, twist=np.full(6, np.nan), force=force, time=DT)[0] == INVALID_INPUT


def test_what_has_no_discrete_step_in_c(model_of: Any) -> None:
    with refused(InputError, "friction"):
        export_c(model_of("kim-ryu"), "discrete_step")
    with refused(UnknownNameError, "discrete_step"):
        export_c(model_of("staicu"), "discrete_step")
