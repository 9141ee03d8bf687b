"""One u: qdot = J u and T = u M u/2 with the u that the public map makes of the rates that ``motion`` takes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from polypod.errors import InputError
from polypod.export import export_c
from support.refusals import refused
from support.robots.unusual_chains import UNUSUAL
from support.states import mostly_long

Array = NDArray[np.float64]
FILES = resources.files("polypod.files") / "robots"
# by their texts: to load all robots takes seconds of every process that collects tests
LOWER = tuple(name for name in pp.library() if "\ndof:" in (FILES / f"{name}.yaml").read_text(encoding="utf-8"))
TURNING = ("3-prs", "3-rps", "agile-eye", "ankle")  # two rotations or three


def moving(model: pp.Model) -> tuple[Array, Array]:
    """Coordinates well off home, and their rates."""
    rng, scale = np.random.default_rng(1), np.where(model.mobility.turns, 0.3, 0.15 * model.size)
    shape = 6, model.mobility.count
    return scale * rng.uniform(-1, 1, shape), scale * rng.normal(size=shape)


@pytest.mark.parametrize("name", mostly_long(LOWER, ("agile-eye", "3-rps", "planar-3-rrr")))
def test_jacobian_and_mass_matrix_are_of_the_u_that_the_map_gives(
    name: str, model_of: Callable[[str], pp.Model]
) -> None:
    model = model_of(name)
    x, xdot = moving(model)
    pose, twist, _ = model.motion(x, xdot)
    matrix = model.rate_map(pose)
    u = (matrix @ xdot[..., None])[..., 0]
    qdot = (model.jacobian(pose) @ u[..., None])[..., 0]
    h = 1e-5
    after, before = (model.inverse_kinematics(model.motion(x + s * h * xdot)[0]) for s in (1, -1))
    # central differences: h^2 of third derivatives and rounding over h
    np.testing.assert_allclose(qdot, (after - before) / (2 * h), rtol=0, atol=1e-8 * np.abs(qdot).max())
    energy = 0.5 * np.einsum("ki,kij,kj->k", u, model.mass_matrix(pose), u)
    np.testing.assert_allclose(energy, model.energy(pose, twist).kinetic, rtol=1e-12)
    off = np.abs(matrix - np.eye(matrix.shape[-1])).max()
    assert off > 1e-2 if name in TURNING else off < 1e-14
    assert np.abs(model.rate_map(model.robot.home.matrix) - np.eye(matrix.shape[-1])).max() < 1e-14
    changed = model.rate_map(pose[0], parameters={"platform.mass": 2 * np.ones(2)})
    np.testing.assert_allclose(changed, np.broadcast_to(matrix[0], changed.shape), rtol=0, atol=1e-14)


@pytest.mark.long
def test_a_joint_among_the_dof_has_its_own_rate() -> None:
    model = pp.Model(pp.Robot.model_validate({**UNUSUAL["four-bar"](1), "dof": ["leg2.R2"]}))
    pose, twist, _ = model.motion([0.2], [1.5])
    assert model.rate_map(pose) == pytest.approx(1.0, rel=1e-13)
    assert model.jacobian(pose) @ [1.5] == pytest.approx(model.rates(pose, twist), rel=1e-12)


def test_six_dof_have_no_coordinates(model_of: Callable[[str], pp.Model]) -> None:
    with refused(InputError, "rate_map"):
        model_of("hexapod").rate_map(np.eye(4))


def words(header: str) -> str:
    return " ".join(header.replace(" * ", " ").split())


def test_headers_say_what_u_is(model_of: Callable[[str], pp.Model]) -> None:
    def header(model: Any, function: str) -> str:
        return words(export_c(model, function, False)[1])

    turning = "u are components of the twist along roll, pitch, yaw, of the angular velocity where they turn: not rates"
    assert all(turning in header(model_of("agile-eye"), f) for f in ("jacobian", "mass_matrix", "rate_map"))
    assert "E with u = E xdot" in header(model_of("agile-eye"), "rate_map")
    plain = header(model_of("planar-3-rrr"), "jacobian")
    names = ", ".join(coordinate.name for coordinate in pp.load("planar-3-rrr").dof)
    assert f"u are components of the twist along {names}" in plain
    assert "where they turn" not in plain
    assert "u is the twist: linear velocity, then angular" in header(model_of("lopes"), "jacobian")
