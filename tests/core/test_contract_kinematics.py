"""The contract of every library robot's kinematics: derivatives by differences, inverses, bodies that fit together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from scipy.spatial.transform import RigidTransform

import polypod as pp
from polypod.symbols.vectors import Frame
from support import states as sample
from support.compare import assert_close, derivative
from support.states import SmoothMotion, basis, displaced, papers_robots, size_of


def test_jacobian_is_the_derivative_of_inverse_kinematics(model: pp.Model) -> None:
    """To the rounding of the differences, 1e-16 q/step; their truncation is below, also where a leg is almost flat."""
    axes, step = basis(model.robot), 1e-3 * size_of(model.robot)
    for s in (sample.easy(model, 12), sample.large_turns(model, 12)):

        def q_of(h: float, axis: Any, poses: Any = s.pose) -> Any:
            return model.inverse_kinematics(displaced(poses, h * np.tile(axis, (len(poses), 1))))

        wanted = [derivative(lambda h, k=k: q_of(h, axes[:, k]), step) for k in range(axes.shape[1])]
        assert_close(model.jacobian(s.pose), np.stack(wanted, axis=-1), 2e-11)


def test_rates_are_jacobian_times_twist(model: pp.Model) -> None:
    s = sample.easy(model, 24)
    u = s.twist @ np.linalg.pinv(basis(model.robot)).T
    assert_close(model.rates(s.pose, s.twist), np.einsum("nij,nj->ni", model.jacobian(s.pose), u), 1e-13)


def test_accelerations_are_the_derivative_of_rates(model: pp.Model) -> None:
    motion, t = SmoothMotion(model), np.linspace(0, 2, 9)
    pose, twist, acceleration = motion(t)
    wanted = derivative(lambda h: model.rates(*motion(t + h)[:2]), 0.01)
    assert_close(model.accelerations(pose, twist, acceleration), wanted, 1e-10)
    wanted = derivative(lambda h: model.inverse_kinematics(motion(t + h)[0]), 0.01)
    assert_close(model.rates(pose, twist), wanted, 1e-10)


def test_forward_kinematics_inverts_inverse_kinematics(model: pp.Model) -> None:
    rng, axes = np.random.default_rng(10), basis(model.robot)
    for s in (sample.easy(model, 50), sample.large_turns(model, 50)):
        away = rng.uniform(-1, 1, (len(s.pose), axes.shape[1])) @ axes.T
        guess = displaced(s.pose, 0.02 * np.r_[np.full(3, size_of(model.robot)), np.ones(3)] * away)
        reachable = np.isfinite(model.inverse_kinematics(guess, errors="nan")).all(axis=1)
        # Close to a singularity the nearest pose may be the other one.
        chosen = reachable & (model.conditioning(s.pose).condition < 100)
        assert chosen.sum() > 20
        q = model.inverse_kinematics(s.pose[chosen])
        found = model.forward_kinematics(q, guess[chosen], full_output=True)
        assert (found.status == 0).all()
        assert (found.steps < 12).all()
        assert_close(found.pose, s.pose[chosen], 1e-11)
        assert np.abs(model.inverse_kinematics(found.pose) - q).max() < 1e-14 * (1 + np.abs(q).max()) * 10
        turn = found.pose[:, :3, :3]
        assert np.abs(np.swapaxes(turn, 1, 2) @ turn - np.eye(3)).max() < 1e-14


def test_forward_kinematics_from_far_is_found_or_reported(model: pp.Model) -> None:
    """From home, up to 2 rad away: what is called converged has the coordinates; near home nearly all are found."""
    for s, found_at_least in ((sample.easy(model, 200), 0.98), (sample.large_turns(model, 200), 0.2)):
        q = model.inverse_kinematics(s.pose)
        found = model.forward_kinematics(q, full_output=True)
        good = found.status == 0
        assert good.mean() >= found_at_least
        assert np.abs(model.inverse_kinematics(found.pose[good]) - q[good]).max() < 1e-12 * (1 + np.abs(q).max())
        assert np.isnan(found.pose[~good]).all()


def test_forward_kinematics_from_home_by_default_and_from_a_rigid_transform(model: pp.Model) -> None:
    home = model.robot.home.matrix
    near = displaced(home, 0.02 * size_of(model.robot) * basis(model.robot)[:, 0])
    q = model.inverse_kinematics(near)
    assert_close(model.forward_kinematics(q)[None], near[None], 1e-12)
    found = model.forward_kinematics(q, RigidTransform.from_matrix(home))
    assert isinstance(found, RigidTransform)
    assert_close(found.as_matrix()[None], near[None], 1e-12)


def test_bodies_have_frames_and_end_at_the_platform(model: pp.Model) -> None:
    """Frames are right-handed and orthonormal; what each leg kind promises of its ends holds."""
    s = sample.easy(model, 6)
    bodies, q = model.bodies(s.pose), model.inverse_kinematics(s.pose)
    assert np.array_equal(bodies["platform"], s.pose)
    for frame in bodies.values():
        axes = frame[:, :3, :3]
        assert np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max() < 1e-13
        assert (np.linalg.det(axes) > 0).all()
        assert np.array_equal(frame[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (6, 1)))
    for k, leg in enumerate(model.robot.legs):
        tip = s.pose[:, :3, 3] + s.pose[:, :3, :3] @ np.array(leg.platform)
        ends = ENDS[leg.kind](
            leg, {name: bodies[f"{leg.name}.{name}"] for name in BODIES[leg.kind]}, q[:, k, None], tip
        )
        for got, wanted in ends:
            assert np.abs(got - wanted).max() < 1e-13 * (1 + np.abs(tip).max())


def _along(frame: Any, axis: int, length: Any) -> Any:
    return frame[:, :3, 3] + length * frame[:, :3, axis]


def _slider(leg: Any, q: Any) -> Any:
    return np.array(leg.rail_start) + q * np.array(leg.rail_direction)


def _parallelogram(leg: Any, b: Any, q: Any, tip: Any) -> Any:
    side = leg.half_width * np.array(leg.axis)
    yield b["slider"][:, :3, 3], _slider(leg, q)
    yield b["slider_bar"][:, :3, 3], _slider(leg, q)
    yield b["platform_bar"][:, :3, 3], tip
    yield _along(b["bar1"], 0, leg.length), tip + side
    yield _along(b["bar2"], 0, leg.length), tip - side


BODIES = {
    "UPS": ("lower", "upper"),
    "PUS": ("slider", "link"),
    "PRU": ("slider", "link"),
    "PRPaR": ("slider", "slider_bar", "bar1", "bar2", "platform_bar"),
}
# Pairs of points that must coincide: where a body ends, and where the platform's joint or the rail is.
ENDS: dict[str, Callable[..., Any]] = {
    "UPS": lambda leg, b, q, tip: [
        (_along(b["lower"], 0, q), tip),
        (b["upper"][:, :3, 3], tip),
        (b["lower"][:, :3, 3], np.broadcast_to(leg.base, tip.shape)),
    ],
    "PUS": lambda leg, b, q, tip: [(_along(b["link"], 2, leg.length), tip), (b["slider"][:, :3, 3], _slider(leg, q))],
    "PRU": lambda leg, b, q, tip: [(_along(b["link"], 0, leg.length), tip), (b["slider"][:, :3, 3], _slider(leg, q))],
    "PRPaR": _parallelogram,
}


def test_joints_join_their_bodies(model: pp.Model) -> None:
    """Seen from either of its bodies a joint stays where it is, and its axes too: the leg can be built."""
    poses = sample.easy(model, 5).pose
    bodies = model.bodies(poses)
    for leg in model.robot.legs:
        tip = Frame.symbols("tip")
        joints = leg.place(tip).joints
        assert joints[0].parent == "base"
        assert joints[-1].child == "platform"
        for joint in joints:
            row = ca.Function("joint", [tip.origin, tip.axes], [joint.point, *joint.axes])
            seen: dict[str, list[Any]] = {joint.parent: [], joint.child: []}
            for n, pose in enumerate(poses):
                values = row(pose[:3, :3] @ leg.platform + pose[:3, 3], pose[:3, :3])
                point, *axes = (np.array(v).ravel() for v in (values if isinstance(values, tuple) else (values,)))
                assert np.allclose(np.linalg.norm(axes, axis=1) if axes else 1, 1, atol=1e-13)
                for body in seen:
                    fixed = {"base": np.eye(4), "platform": pose}.get(body)
                    frame = bodies[f"{leg.name}.{body}"][n] if fixed is None else fixed
                    seen[body].append([frame[:3, :3].T @ (point - frame[:3, 3]), *(frame[:3, :3].T @ a for a in axes)])
            parent, child = (
                [np.ptp([row[k] for row in seen[b]], axis=0).max() for k in range(1 + len(axes))] for b in seen
            )
            still = {"prismatic": (False, True), "revolute": (True, True), "spherical": (True, True)}
            moves = still.get(joint.kind, (True, True))
            spread = [(parent[0], moves[0]), (child[0], moves[1])]
            if joint.kind in ("prismatic", "revolute"):
                spread += [(parent[1], True), (child[1], True)]
            if joint.kind == "universal":
                spread += [(parent[1], True), (child[2], True)]
                assert abs(axes[0] @ axes[1]) < 1e-13
            for amount, fixed in spread:
                assert (amount < 1e-13) == fixed, f"{leg.name} {joint.name}: moves by {amount:.3g} in a body it joins"


def test_every_leg_kind_of_the_library_is_here() -> None:
    assert set(BODIES) == set(ENDS) == {leg.kind for name in papers_robots() for leg in pp.load(name).legs}


def test_conditioning_is_that_of_the_scaled_jacobian(model: pp.Model) -> None:
    s, axes = sample.easy(model, 6), basis(model.robot)
    size = np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs])
    scaled = model.jacobian(s.pose) / np.where(axes[3:].any(axis=0), size, 1.0)
    got = model.conditioning(s.pose)
    assert_close(got.condition, np.linalg.cond(scaled), 1e-12)
    assert_close(got.distance, 1 / np.linalg.norm(np.linalg.inv(scaled), ord=2, axis=(1, 2)), 1e-11)
