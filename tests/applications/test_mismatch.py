"""Robots with other masses: every mass counts, in all models; flexible platforms against sums over their nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.control import scaled_masses
from polypod.description import FlexiblePlatform, PlateData, Robot
from support.robots import user_legs
from support.robots.hexagon import hexagon_modes, hexagon_plate
from support.states import mostly_long, papers_robots

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


ROBOTS: dict[str, Callable[[], Robot]] = {name: partial(pp.load, name) for name in papers_robots()}
ROBOTS |= {name: getattr(user_legs, name) for name in ("psu_robot", "crank_robot", "stage_robot", "idle_robot")}


def ratio_of_masses(robot: Robot, changed: Robot, factor: float, **options: Any) -> None:
    """Mass matrix and weight of a changed robot are ``factor`` times a robot's."""
    home, plain, heavy = robot.home.matrix, pp.Model(robot, **options), pp.Model(changed, **options)
    for of in ("mass_matrix", "gravity"):
        wanted = factor * getattr(plain, of)(home)
        # a product is exact to rounding; what is left is the rounding of the sums
        assert np.abs(getattr(heavy, of)(home) - wanted).max() < 1e-13 * np.abs(wanted).max()


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("kim-ryu", "staicu")))
def test_all_masses_scale_the_mass_matrix_and_the_weight(name: str) -> None:
    """Twice every mass is twice the inertia and weight; legs and platform apart add up to the same."""
    robot = ROBOTS[name]()
    double, home = scaled_masses(robot, 2.0, 2.0), robot.home.matrix
    ratio_of_masses(robot, double, 2.0)
    assert scaled_masses(double, 0.5, 0.5) == robot
    mass = pp.Model(robot).mass_matrix(home)
    platform, legs = (pp.Model(scaled_masses(robot, *f)).mass_matrix(home) - mass for f in ((2.0, 1.0), (1.0, 2.0)))
    assert np.abs(platform + legs - mass).max() < 1e-12 * np.abs(mass).max()
    if not robot.dof:
        assert np.abs(platform[:3, :3] - robot.platform.mass * np.eye(3)).max() < 1e-11 * np.abs(mass).max()


@pytest.mark.parametrize("ends", [None, (0.3, 0.5)])
def test_masses_at_the_ends_of_links_scale_too(ends: tuple[float, float] | None) -> None:
    """Where a file gives the two masses that stand for a link, they are masses like all others."""
    robot = pp.load("lopes")
    robot = robot.model_copy(update={"legs": tuple(leg.model_copy(update={"end_masses": ends}) for leg in robot.legs)})
    ratio_of_masses(robot, scaled_masses(robot, 2.0, 2.0), 2.0, simplify="point-mass-links")


def states(robot: Robot, count: int = 5) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(3)
    pose = np.repeat(robot.home.matrix[None], count, axis=0)
    pose[:, :3, 3] += rng.uniform(-0.03, 0.03, (count, 3))
    pose[:, :3, :3] = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (count, 3))).as_matrix() @ pose[:, :3, :3]
    return pose, rng.normal(size=(count, 6)), rng.uniform(-0.02, 0.02, (count, 3)), rng.normal(size=(count, 3))


def test_energies_scale_with_all_masses(robot: Robot) -> None:
    model, heavy = pp.Model(robot), pp.Model(scaled_masses(robot, 1.7, 1.7))
    pose, twist, elastic, rate = states(robot)
    shape = {"elastic": elastic, "elastic_rate": rate}
    plain, scaled = model.energy(pose, twist, **shape), heavy.energy(pose, twist, **shape)
    # masses are all that kinetic and potential energy are linear in: equal but for rounding
    assert np.allclose(scaled.kinetic, 1.7 * plain.kinetic, rtol=1e-12, atol=0)
    assert np.allclose(scaled.potential, 1.7 * plain.potential, rtol=1e-12, atol=0)
    assert np.allclose(scaled.elastic, plain.elastic, rtol=1e-14, atol=0)
    assert (plain.elastic > 0).all()
    assert np.allclose(heavy.modes.generalized_damping, model.modes.generalized_damping, rtol=1e-14, atol=0)
    assert (model.modes.generalized_damping > 0).all()


def test_platform_alone_scales_by_its_nodes(robot: Robot) -> None:
    """What twice the platform's mass adds is sum m J^T J over its nodes, J = [1, -(R a)^, R Phi], a = r + Phi q."""
    model, heavy = pp.Model(robot), pp.Model(scaled_masses(robot, platform=2.0))
    poses, _, shapes, _ = states(robot)
    added = heavy.mass_matrix(poses, elastic=shapes) - model.mass_matrix(poses, elastic=shapes)
    modes = model.modes
    for pose, elastic, got in zip(poses, shapes, added, strict=True):
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
