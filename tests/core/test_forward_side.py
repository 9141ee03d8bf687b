"""Forward kinematics from home over the workspace: found on the guess's side, or the code says what was found instead.

Poses are joined to home by a straight way (of the platform's displacement) on which det J keeps its sign; all that
forward kinematics is given are their coordinates. Several poses on one side may share them, so that what is asked is a
pose with these coordinates on home's side, not that very pose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import polypod as pp
from polypod.errors import StateError
from polypod.model import ForwardKinematicsStatus
from support.refusals import refused
from support.states import EACH_KIND, Array, basis, displaced, mostly_long

PAPERS = ("pedrammehr", "long", "kim-ryu", "staicu", "lopes")
FEWER = ("3-rps", "planar-4-rrr")
LONGER = ("delta", "3-prs", "agile-eye", "five-bar", "planar-3-rrr", "tricept", "orthoglide", "linear-delta", "ankle")
OTHER_ASSEMBLY = [0.8261108742, 0.7479203677, 0.7143931576, 0.7979173260, 0.6354267051, 0.6836287280]
"""Found by chance: Newton from pedrammehr's home ends beyond a singularity, as the tests see by det J."""


class Workspace(NamedTuple):
    """Poses (n, 4, 4) joined to home, their coordinates, and the sign of det J at home."""

    pose: Array
    q: Array
    side: float


def side_of(model: pp.Model, pose: Array) -> Array:
    """Sign of det J; 0 out of reach; 1 for a robot with more actuators than degrees of freedom, which has no sides."""
    matrix = np.nan_to_num(model.jacobian(pose, errors="nan"))
    if matrix.shape[-2] != matrix.shape[-1]:
        return matrix.any(axis=(-2, -1)).astype(float)
    return np.sign(np.linalg.det(matrix))


def workspace(model: pp.Model, count: int, move: float, turn: float, looks: int = 60) -> Workspace:
    """Random poses up to ``move`` sizes and ``turn`` rad from home that a straight way joins to it."""
    axes, home = basis(model.robot), model.robot.home.matrix
    scale = np.where(np.abs(axes[:3]).sum(axis=0) > 0, move * model.size, turn)
    shift = np.random.default_rng(3).uniform(-1, 1, (count, axes.shape[1])) * scale

    def along(part: float) -> Array:
        x = part * shift
        return displaced(home, x @ axes.T) if not model.robot.dof else model.motion(x).pose

    side, joined = float(side_of(model, home)), np.ones(count, dtype=bool)
    for part in np.linspace(0, 1, looks + 1)[1:]:
        poses = along(part)
        lost = ~np.isfinite(poses).all(axis=(1, 2))
        poses[lost] = home
        joined &= ~lost & (side_of(model, poses) == side)
    pose = along(1.0)[joined]
    return Workspace(pose, model.inverse_kinematics(pose), side)


def found_from_home(model: pp.Model, space: Workspace) -> Array:
    """Whether each state has an answer; those that have are checked: coordinates, side, limits."""
    found = model.forward_kinematics(space.q, full_output=True)
    good = np.isin(found.status, (ForwardKinematicsStatus.CONVERGED, ForwardKinematicsStatus.OUTSIDE_LIMITS))
    assert np.isnan(found.pose[~good]).all()
    pose = found.pose[good]
    assert np.abs(model.inverse_kinematics(pose) - space.q[good]).max() < 1e-11 * (1 + np.abs(space.q).max())
    assert (side_of(model, pose) == space.side).all()
    assert np.array_equal(
        model.limits(pose).inside.all(axis=-1), found.status[good] == ForwardKinematicsStatus.CONVERGED
    )
    return good


@pytest.mark.parametrize("robot", mostly_long(PAPERS, EACH_KIND))
def test_found_from_home_on_its_side(robot: str, model_of: Callable[[str], pp.Model]) -> None:
    """Newton alone finds 64 % of them for pedrammehr, 61 % for long, 81 % for kim-ryu."""
    model = model_of(robot)
    space = workspace(model, 400 if robot != "lopes" else 4000, 2.0, 1.5)
    assert len(space.q) > 80
    assert found_from_home(model, space).mean() >= 0.99


@pytest.mark.parametrize("robot", mostly_long(FEWER, ("3-rps",)))
def test_robots_of_fewer_dof_and_more_actuators_too(robot: str, model_of: Callable[[str], pp.Model]) -> None:
    model = model_of(robot)
    space = workspace(model, 100, 1.0, 0.7, looks=20)
    assert len(space.q) > 20
    assert found_from_home(model, space).mean() >= 0.99


def test_a_pose_beyond_a_singularity_is_not_taken_for_the_one_near_home(model_of: Callable[[str], pp.Model]) -> None:
    """Newton alone ends beyond a singularity there and calls it converged."""
    model = model_of("pedrammehr")
    pose = model.forward_kinematics(np.array(OTHER_ASSEMBLY))
    assert side_of(model, pose) == side_of(model, model.robot.home.matrix)
    bare = model.kernel("forward_kinematics")(np.array([OTHER_ASSEMBLY]), model.robot.home.matrix[None])
    assert bare[1][0] < 1e-12  # a pose that has these coordinates
    assert bare[3][0] < 0  # on the other side
    assert side_of(model, bare[0][0]) != side_of(model, model.robot.home.matrix)


def test_the_other_side_alone_has_a_code_of_its_own(
    model_of: Callable[[str], pp.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search finds a pose on home's side for nearly all coordinates; without it the code is given."""
    model = model_of("pedrammehr")
    monkeypatch.setattr("polypod.model.forward_search.PoseSearch.run", lambda search: None)
    found = model.forward_kinematics(np.array([OTHER_ASSEMBLY]), full_output=True)
    assert found.status.tolist() == [ForwardKinematicsStatus.OTHER_SIDE]
    assert np.isnan(found.pose).all()
    with refused(StateError, code="other_side"):
        model.forward_kinematics(np.array(OTHER_ASSEMBLY))


def test_what_is_found_does_not_depend_on_the_batch(model_of: Callable[[str], pp.Model]) -> None:
    model = model_of("pedrammehr")
    space = workspace(model, 60, 2.0, 1.5)
    together = model.forward_kinematics(space.q, errors="nan")
    alone = np.array([model.forward_kinematics(q, errors="nan") for q in space.q])
    assert np.array_equal(together, alone, equal_nan=True)


def test_a_row_of_a_log_that_newton_loses_is_found(model_of: Callable[[str], pp.Model]) -> None:
    """A leap in a log: the row after it starts from the last pose found, as a state of its own does."""
    model = model_of("pedrammehr")
    home = model.robot.home.matrix
    q = np.array([model.inverse_kinematics(home), OTHER_ASSEMBLY, model.inverse_kinematics(home)])
    found = model.forward_kinematics(q, along=True, full_output=True)
    assert found.status.tolist() == [ForwardKinematicsStatus.CONVERGED] * 3
    assert np.abs(found.pose[1] - model.forward_kinematics(q[1])).max() < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("robot", [*PAPERS, *FEWER, *LONGER, "hexapod", "reachy-mini"])
def test_the_whole_workspace(robot: str, model_of: Callable[[str], pp.Model]) -> None:
    """The table of tests/RELIABILITY.md; run with -s to see its rows."""
    model = model_of(robot)
    space = workspace(model, 100_000 if robot == "lopes" else 10_000, 2.0, 1.5, looks=150)
    good = found_from_home(model, space)
    newton = model.kernel("forward_kinematics")(space.q, np.tile(model.robot.home.matrix, (len(space.q), 1, 1)))
    scale = model.size + float(np.linalg.norm(model.robot.home.position))
    alone = (newton[1] <= 1e-12 * scale) & (newton[3] > 1e-7)
    print(f"| {robot} | {len(good)} | {100 * alone.mean():.1f} % | {100 * good.mean():.2f} % |")
    assert good.mean() >= 0.99
