"""Robots with other masses, on flexible platforms: their energies and mass matrices against sums over nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.control import scaled_masses
from polypod.description import FlexiblePlatform, PlateData, Robot
from polypod.flexible import FlexibleModel
from polypod.papers.long.hexagon import hexagon_modes, hexagon_plate

Array = NDArray[np.float64]


@pytest.fixture(scope="module", params=["modes", "plate"])
def robot(request: pytest.FixtureRequest) -> Robot:
    """Long's robot on its plate, which is given by its modes, or as a plate."""
    if request.param == "modes":
        platform = FlexiblePlatform(modes=hexagon_modes(3))
    else:
        plate = hexagon_plate()
        outline = tuple((float(x), float(y)) for x, y in plate.outline)
        numbers = {name: getattr(plate, name) for name in ("thickness", "young", "poisson", "density")}
        platform = FlexiblePlatform(plate=PlateData(outline=outline, modes=3, damping_ratio=0.05, **numbers))
    return pp.load("long").model_copy(update={"platform": platform})


def states(robot: Robot, count: int = 5) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(3)
    pose = np.repeat(robot.home.matrix[None], count, axis=0)
    pose[:, :3, 3] += rng.uniform(-0.03, 0.03, (count, 3))
    pose[:, :3, :3] = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (count, 3))).as_matrix() @ pose[:, :3, :3]
    return pose, rng.normal(size=(count, 6)), rng.uniform(-0.02, 0.02, (count, 3)), rng.normal(size=(count, 3))


def test_energies_scale_with_all_masses(robot: Robot) -> None:
    model, heavy = FlexibleModel(robot), FlexibleModel(scaled_masses(robot, 1.7, 1.7))
    at = states(robot)
    plain, scaled = model.energy(*at), heavy.energy(*at)
    # masses are all that kinetic and potential energy are linear in: equal but for rounding
    assert np.allclose(scaled.kinetic, 1.7 * plain.kinetic, rtol=1e-12)
    assert np.allclose(scaled.potential, 1.7 * plain.potential, rtol=1e-12)
    assert np.allclose(scaled.elastic, plain.elastic, rtol=1e-14)
    assert (plain.elastic > 0).all()
    assert np.allclose(heavy.modes.generalized_damping, model.modes.generalized_damping, rtol=1e-14)
    assert (model.modes.generalized_damping > 0).all()


def test_platform_alone_scales_by_its_nodes(robot: Robot) -> None:
    """What twice the platform's mass adds is sum m J^T J over its nodes, J = [1, -(R a)^, R Phi], a = r + Phi q."""
    model, heavy = FlexibleModel(robot), FlexibleModel(scaled_masses(robot, platform=2.0))
    at = states(robot)
    added = heavy.system(*at).mass_matrix - model.system(*at).mass_matrix
    modes = model.modes
    for pose, elastic, got in zip(at[0], at[2], added, strict=True):
        turn = pose[:3, :3]
        total = np.zeros_like(got)
        for place, mass, shape in zip(modes.nodes, modes.masses, modes.shapes, strict=True):
            x, y, z = turn @ (place + shape @ elastic)
            cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            row = np.hstack([np.eye(3), -cross, turn @ shape])
            total += mass * row.T @ row
        # a difference of matrices of the same size as itself: some digits of rounding are lost
        assert np.abs(got - total).max() < 1e-11 * np.abs(total).max()


def test_legs_alone_keep_the_platform(robot: Robot) -> None:
    changed = scaled_masses(robot, legs=3.0)
    assert changed.platform == robot.platform
    rigid = scaled_masses(robot.rigid, legs=3.0)
    assert changed.rigid.legs == rigid.legs
    assert changed.legs != robot.legs


def test_undamped_modes_stay_undamped() -> None:
    """Neither of the two ways to give damping is made up, and the scaled robot's file says the same."""
    modes = replace(hexagon_modes(2), damping_ratio=None, damping=None)
    bare = pp.load("long").model_copy(update={"platform": FlexiblePlatform(modes=modes)})
    scaled = scaled_masses(bare, platform=0.5)
    assert isinstance(scaled.platform, FlexiblePlatform)
    assert scaled.platform.modes is not None
    assert scaled.platform.modes.damping is None
    assert scaled.platform.modes.damping_ratio is None
    assert abs(scaled.platform.mass - 0.5 * bare.platform.mass) < 1e-12 * bare.platform.mass
    assert pp.loads(pp.dumps(scaled)) == scaled
