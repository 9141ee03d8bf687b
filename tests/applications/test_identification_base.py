"""Base parameters: counts of published studies, Pinocchio's regressor through the loops, what is seen and in names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.identification import LinearModel, base_parameters
from polypod.identification.base import base_of_rows
from polypod.identification.linear_model import moment_transform, parts_of
from polypod.identification.sampling import random_motion
from support.engines.oracle import Oracle
from support.refusals import names
from support.states import mostly_long

COUNTS = json.loads((Path(__file__).parent.parent / "data" / "base_parameters_6ups.json").read_text())["counts"]
MOMENTS = ("m", "sx", "sy", "sz", "Sxx", "Syy", "Szz", "Sxy", "Sxz", "Syz")


@cache
def pedrammehr() -> pp.Model:
    return pp.Model("pedrammehr")


def test_counts_of_6_ups_robots() -> None:
    """130 numbers of independent legs have 82 base parameters, 30 of identical legs 22."""
    free = base_parameters(pedrammehr(), friction=False)
    known = COUNTS["pods without cross inertia, independent legs"]
    assert (len(free.numbers), free.with_effect, free.count) == tuple(known.values())
    alike = base_parameters(pedrammehr(), friction=False, same_legs=True)
    known = COUNTS["same, identical legs"]
    assert (len(alike.numbers), alike.count) == (known["standard"], known["base"])
    # the rank is clear: nothing between what is seen and rounding
    assert free.singular_values[81] > 1e-4
    assert free.singular_values[82] < 1e-13


def pods() -> tuple[pp.Robot, list[dict[str, Any]]]:
    """pedrammehr with crosses as bodies of their own, as chains; and the frames of the bodies, by leg."""
    robot = pedrammehr().robot
    home, legs, frames = robot.home.matrix, [], []
    body = {"mass": 1.0, "com": [0.1, 0.2, 0.3], "inertia": [0.2, 0.3, 0.4]}
    for leg in robot.legs:
        base, axis = np.array(leg.base), np.array(leg.axis)
        tip = home[:3, :3] @ np.array(leg.platform) + home[:3, 3]
        along = (tip - base) / np.linalg.norm(tip - base)
        across = np.cross(axis, along) / np.linalg.norm(np.cross(axis, along))
        pod = np.column_stack([along, across, np.cross(along, across)])
        spider = np.column_stack([axis, across, np.cross(axis, across)])
        frames.append({"cross": (spider, base), "lower": (pod, base), "upper": (pod, tip)})
        joints = [
            {"name": "first", "kind": "revolute", "between": ["base", "cross"], "at": base, "axis": axis},
            {"name": "second", "kind": "revolute", "between": ["cross", "lower"], "at": base, "axis": across},
            {"name": "drive", "kind": "prismatic", "between": ["lower", "upper"], "at": base, "axis": along,
             "actuated": True, "offset": float(np.linalg.norm(tip - base))},
            {"name": "ball", "kind": "spherical", "between": ["upper", "platform"], "at": tip},
        ]  # fmt: skip
        for joint in joints:
            joint |= {k: np.asarray(joint[k]).tolist() for k in ("at", "axis") if k in joint}
        legs.append({"kind": "chain", "bodies": dict.fromkeys(frames[-1], body), "joints": joints})
    document = {"name": "pods", "platform": body, "home": {"position": robot.home.position}, "legs": legs}
    return pp.Robot.model_validate(document), frames


@pytest.mark.long
def test_counts_with_crosses() -> None:
    """190 numbers with crosses have 88 base parameters, 40 of identical legs 23 (24 listed elsewhere: one moves)."""
    robot, frames = pods()
    linear = LinearModel(pp.Model(robot))
    motion = random_motion(linear.model, 300)
    rows = linear.derivatives(motion, linear.values).reshape(-1, 190)
    assert base_of_rows(rows, linear.numbers).count == COUNTS["with cross inertia, independent"]["base"]
    # moments in the body's own frame, which is the same in every leg, as moments in the base frame at home
    place = {n.key: k for k, n in enumerate(linear.numbers)}
    platform = rows[:, [place[f"platform.{m}"] for m in MOMENTS]]
    local = [
        rows[:, [place[f"legs.{k}.bodies.{name}.{m}"] for m in MOMENTS]] @ moment_transform(*own[name])
        for k, own in enumerate(frames)
        for name in own
    ]
    base = base_of_rows(np.hstack([platform, *local]), linear.numbers)
    known = COUNTS["with cross inertia, independent"]
    assert (len(base.numbers), base.count) == (known["standard"], known["base"])
    # a cross turns about its first axis: its tensor shows xx there, its second moments show yy and zz
    assert base.with_effect == known["with_effect"] + 6
    same = np.hstack([platform, *(sum(local[k::3]) for k in range(3))])
    known = COUNTS["with cross inertia, identical"]
    assert base_of_rows(same, linear.numbers[:40]).count == known["base"]
    assert same.shape[1] == known["standard"]


def test_names_are_words_of_engineers() -> None:
    base = base_parameters(pedrammehr(), friction=False)
    assert base.names[0] == "platform mass" + "".join(f" + leg{k} upper mass" for k in range(1, 7))
    assert "leg1 lower second moment xx + leg1 upper second moment xx" in base.names
    # the mass of a lower body at its universal joint moves nothing; its first moments are seen alone
    identifiability = dict(zip((n.name for n in base.numbers), base.identifiability, strict=True))
    assert identifiability["leg1 lower mass"] == "not"
    assert identifiability["leg1 lower mass x com x"] == "alone"
    assert identifiability["platform mass"] == "together"
    # directions that change no force
    assert np.abs(base.matrix @ base.nullspace).max() < 1e-9 * np.abs(base.nullspace).max()


def test_columns_are_pinocchios_through_the_loops() -> None:
    """Each body's ten columns span what Pinocchio's joint torque regressor does, projected on the closed loops.

    f = (N_a^T)^-1 N^T Y_tree pi, N the motions that the loops allow. Frames of bodies differ by rigid motions, which
    mix the ten numbers: spans are compared, to 1e-10 of their size.
    """
    model = pedrammehr()
    linear, tree = LinearModel(model, friction=False), Oracle(model.robot)
    motion = random_motion(model, 12)
    rows = linear.derivatives(motion, linear.values)
    projected = []
    for pose, twist, acceleration in zip(*motion.arrays, strict=True):
        state = tree.open_tree(pose, twist, acceleration)
        torque = pin.computeJointTorqueRegressor(state.model, state.data, state.q, state.v, state.a)
        basis = tree.motions(pose, state.q)
        projected.append(np.linalg.solve(basis[tree.drives].T, basis.T @ torque))
    theirs = np.stack(projected)
    carriers = [k for k, body in enumerate(tree.model.inertias) if k and body.mass > 0]
    bodies = list(dict.fromkeys(n.path for n in linear.numbers))
    assert len(carriers) == len(bodies) == 13
    place = {n.key: k for k, n in enumerate(linear.numbers)}
    matched = set()
    for path in bodies:
        ours = rows[:, :, [place[f"{path}.{m}"] for m in MOMENTS]].reshape(-1, 10)
        for joint in carriers:
            other = theirs[:, :, 10 * (joint - 1) : 10 * joint].reshape(-1, 10)
            scale = np.linalg.norm(other, axis=0)
            other = other[:, scale > 0] / scale[scale > 0]
            left = ours - other @ np.linalg.lstsq(other, ours, rcond=1e-13)[0]
            if np.abs(left).max() < 1e-10 * np.abs(ours).max():
                matched.add(joint)
                break
        else:
            raise AssertionError(f"{path}: no body of Pinocchio's tree has these columns")
    assert matched == set(carriers)


def test_rods_that_spin_count_by_what_is_symmetric(model_of: Any) -> None:
    """A Delta's rod has four numbers, and forces are those of inverse dynamics."""
    linear = LinearModel(model_of("delta"))
    assert sum(n.path == "legs.0.bodies.rod1" for n in linear.numbers) == 4
    motion = random_motion(linear.model, 5)
    wanted = linear.model.inverse_dynamics(*motion.arrays)
    assert np.abs(linear.forces(motion, linear.values) - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_moments_move_with_their_points() -> None:
    """Ten moments of a cloud of points, before and after a rigid motion."""
    draw = np.random.default_rng(0)
    points, masses = draw.normal(size=(7, 3)), draw.uniform(0.1, 1, 7)
    turn, shift = np.linalg.qr(draw.normal(size=(3, 3)))[0], draw.normal(size=3)

    def moments(x: Any) -> Any:
        second = np.einsum("n,ni,nj->ij", masses, x, x)
        return np.array([masses.sum(), *(masses @ x), *(second[i, j] for i, j in
                         ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))])  # fmt: skip

    assert moment_transform(turn, shift) @ moments(points) == pytest.approx(moments(points @ turn.T + shift), rel=1e-13)
    mass, first, _ = parts_of(moments(points))
    assert mass == masses.sum()
    assert first == pytest.approx(masses @ points, rel=1e-12)


@pytest.mark.parametrize("name", mostly_long(pp.library(), kept=("delta", "orthoglide", "3-rps")))
def test_numbers_of_equal_legs_are_those_of_the_file(name: str, model_of: Any) -> None:
    """A rod's numbers are about its own joints and turn with the leg; a rod of a Delta ended in a KeyError."""
    model = model_of(name)
    each = LinearModel(model)
    try:
        shared = LinearModel(model, same_legs=True)
    except InputError as error:
        assert names(str(error), "same_legs")  # noqa: PT017
        assert name in ("ankle", "five-bar", "reachy-mini", "staicu", "tricept")
        return
    assert len(shared.values) < len(each.values)
    expected = each.port_values(each.values)
    assert np.abs(shared.port_values(shared.values) - expected).max() <= 1e-14 * np.abs(expected).max()
