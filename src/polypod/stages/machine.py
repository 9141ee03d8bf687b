"""Robots that stand on each other: the base of each is fixed to the platform of the one before.

A rail or turntable under a hexapod, a wrist on a Delta, hexapod on hexapod. A stage knows nothing of the others: going
up, the motion of a platform is that of the next base; going down, what a robot puts on its base is the external wrench
on the platform below.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Robot
from ..errors import InputError, StateError
from ..kernels import Kernel
from ..lazy import lazy
from ..limits import LimitReport
from ..model import Model
from ..model.arguments import PoseLike, pose_matrix
from ..model.results import Reactions
from .compiled import compiled_inverse_dynamics
from .files import is_stages_file, load_stages

CONVERGED = 1e-12
"""Change of the accelerations, relative to their size, at which friction that depends on loads has settled."""
_MOST_ROUNDS = 60


class StageMotion(NamedTuple):
    """Motion of a stage's platform relative to its own base, as ``Model.inverse_dynamics`` takes it."""

    pose: PoseLike
    twist: ArrayLike
    acceleration: ArrayLike


class _Base(NamedTuple):
    """Motion of a stage's base in space: rotation (..., 3, 3) to the axes of the lowest base, and in its own axes
    its origin's velocity and acceleration (..., 3), angular velocity and acceleration."""

    rotation: Array
    velocity: Array
    omega: Array
    acceleration: Array
    alpha: Array


class Series:
    """Stages in series, bottom to top; see ``series``.

    Attributes
    ----------
    stages : tuple of Model
        The robots, bottom to top.
    mounts : (k, 4, 4) array
        Frame of each base in the platform frame of the stage below; that of the lowest base is the identity.
    actuators : tuple of str
        ``stage.actuator`` in the order of forces.
    """

    def __init__(
        self, *stages: Model | Robot | str | Path, mounts: Sequence[PoseLike | None] | None = None, name: str = ""
    ) -> None:
        self._functions: dict[tuple[bool, bool], Kernel | None] = {}
        self.stages = tuple(stage if isinstance(stage, Model) else Model(stage) for stage in stages)
        if len(self.stages) < 2:
            raise InputError(f"series: two stages or more are needed, got {len(self.stages)}")
        self.names = tuple(model.robot.name for model in self.stages)
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise InputError(
                f"series: stages need names of their own, {', '.join(map(repr, repeated))} occurs more than once; "
                "load it again with another name"
            )
        flexible = [model.robot.name for model in self.stages[:-1] if model.robot.flexible]
        if flexible:
            raise InputError(
                f"series: only the highest stage may have a flexible platform, {flexible[0]!r} carries another one"
            )
        given = [None] * (len(self.stages) - 1) if mounts is None else list(mounts)
        if len(given) != len(self.stages) - 1:
            raise InputError(
                f"mounts: one pose for each stage but the lowest is needed ({len(self.stages) - 1}), got {len(given)}"
            )
        frames = [np.eye(4), *(np.eye(4) if m is None else np.asarray(pose_matrix(m), dtype=float) for m in given)]
        wrong = [k for k, m in enumerate(frames) if m.shape != (4, 4)]
        if wrong:
            raise InputError(f"mounts.{wrong[0] - 1}: one pose (4, 4) is needed, got {frames[wrong[0]].shape}")
        self.mounts = np.array(frames)
        self.actuators = tuple(
            f"{name}.{actuator.name}"
            for name, model in zip(self.names, self.stages, strict=True)
            for actuator in model.actuators
        )

        self.name = name or " and ".join(self.names)

    def __repr__(self) -> str:
        return f"Series({', '.join(map(repr, self.names))})"

    def __getattr__(self, name: str) -> Any:
        """Refuse by name what single robots have: studies, simulations and pages take one robot each."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError(
            f"{self.name!r} is a machine in stages, which has no {name!r}: use its 'whole', the model of all stages as "
            f"one robot, its stages ({', '.join(self.names)}), or the calls of polypod.stages.Series",
            code="stages",
        )

    @lazy
    def whole(self) -> Model:
        """Model of all stages as one robot, for studies, films and exports; see ``polypod.exchange.whole_robot``.

        Its platform is the highest one, its base that of the lowest stage; what the machine can do beyond six degrees
        of freedom are internal coordinates.
        """
        from ..exchange import whole_robot

        return Model(whole_robot(self))

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity (3) in the axes of the lowest base: that of its robot."""
        return np.asarray(self.stages[0].robot.gravity, dtype=float)

    def platform_poses(self, poses: Sequence[PoseLike]) -> list[Array]:
        """Poses of the platforms in space.

        Parameters
        ----------
        poses : sequence of (..., 4, 4)
            Pose of each stage's platform relative to its base.

        Returns
        -------
        list of (..., 4, 4) array
            Pose of each platform in the frame of the lowest base; the last is that of the tool.
        """
        below, found = np.eye(4), []
        for pose, mount in zip(self._one_each("poses", poses), self.mounts, strict=True):
            below = below @ mount @ np.asarray(pose_matrix(pose), dtype=float)
            found.append(below)
        return found

    def inverse_kinematics(self, poses: Sequence[PoseLike]) -> list[Array]:
        """Actuated coordinates of each stage, bottom to top, (..., n) each [m or rad]."""
        pairs = zip(self.stages, self._one_each("poses", poses), strict=True)
        return [model.inverse_kinematics(pose) for model, pose in pairs]

    def forward_kinematics(self, q: Sequence[ArrayLike]) -> list[Array]:
        """Pose (..., 4, 4) of each stage's platform relative to its base, from its actuated coordinates."""
        pairs = zip(self.stages, self._one_each("q", q), strict=True)
        return [model.forward_kinematics(one) for model, one in pairs]

    def joint_positions(self, poses: Sequence[PoseLike], unwrap: int | None = None) -> dict[str, Array]:
        """Positions (..., k) of all joints of all stages, by ``stage.leg.joint``, as ``Model.joint_positions``.

        Parameters
        ----------
        poses : sequence of (..., 4, 4)
            Pose of each stage's platform relative to its base.
        unwrap : int, optional
            Batch axis along which angles do not jump by whole turns.

        Returns
        -------
        dict of str to ndarray, shape (..., k)
            Positions [m, rad].
        """
        pairs = zip(self.names, self.stages, self._one_each("poses", poses), strict=True)
        return {
            f"{name}.{joint}": value
            for name, model, pose in pairs
            for joint, value in model.joint_positions(pose, unwrap=unwrap).items()
        }

    def jacobian(self, poses: Sequence[PoseLike]) -> Array:
        """Jacobian J (..., 6, n) of the highest platform: its twist in space is J qdot.

        Parameters
        ----------
        poses : sequence of (..., 4, 4)
            Pose of each stage's platform relative to its base.

        Returns
        -------
        ndarray, shape (..., 6, n)
            Columns for the rates of all actuators, in the order of ``actuators``; axes of the lowest base, at the
            origin of the highest platform. Rates of redundant actuators must be possible ones.
        """
        frames = self.platform_poses(poses)
        columns, below = [], np.eye(4)
        for model, pose, frame, mount in zip(self.stages, poses, frames, self.mounts, strict=True):
            base = below @ mount
            own = np.asarray(pose_matrix(pose), dtype=float)
            units = np.eye(len(model.actuators)).reshape(-1, *(1,) * (own.ndim - 2), len(model.actuators))
            twists = np.moveaxis(
                model.twist(own, np.broadcast_to(units, (len(units), *own.shape[:-2], len(units)))), 0, -1
            )
            turn = base[..., :3, :3]
            linear, angular = turn @ twists[..., :3, :], turn @ twists[..., 3:, :]
            arm = (frames[-1][..., :3, 3] - frame[..., :3, 3])[..., None]
            linear = linear + np.cross(angular, arm, axis=-2)
            columns.append(np.concatenate([linear, angular], axis=-2))
            below = frame
        shape = np.broadcast_shapes(*(one.shape[:-2] for one in columns))
        return np.concatenate([np.broadcast_to(one, (*shape, *one.shape[-2:])) for one in columns], axis=-1)

    def limits(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        time: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
    ) -> dict[str, LimitReport]:
        """Use of every limit of every stage, by stage, as ``Model.limits`` gives it.

        Parameters
        ----------
        motions, wrench, friction, base_twist, base_acceleration
            As of ``inverse_dynamics``.
        time : array_like, shape (T,), optional
            Times [s] of states along the last axis of the batch: adds limits of whole motions.

        Returns
        -------
        dict of str to LimitReport
            By the names of the stages.
        """
        stages = self._stages(motions, base_twist, base_acceleration)
        external = self._external(stages, self._wrenches(stages, wrench), wrench)
        return {
            name: model.limits(
                *motion, load, time=time, friction=friction, base_twist=twist, base_acceleration=acceleration
            )
            for name, model, (motion, twist, acceleration), load in zip(
                self.names, self.stages, stages, external, strict=True
            )
        }

    def twists(self, poses: Sequence[PoseLike], twists: Sequence[ArrayLike]) -> list[Array]:
        """Twist (..., 6) of each platform in space, axes of the lowest base."""
        still = [StageMotion(p, t, np.zeros(6)) for p, t in zip(poses, twists, strict=True)]
        bases = self._bases(still, None, None)
        found = []
        for base, motion in zip(bases, still, strict=True):
            pose, twist = np.asarray(pose_matrix(motion.pose), dtype=float), np.asarray(motion.twist, dtype=float)
            velocity = base.velocity + np.cross(base.omega, pose[..., :3, 3]) + twist[..., :3]
            turned = [_turned(base.rotation, v) for v in (velocity, base.omega + twist[..., 3:])]
            found.append(np.concatenate(np.broadcast_arrays(*turned), axis=-1))
        return found

    def inverse_dynamics(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
    ) -> list[Array]:
        """Actuator forces of all stages for motions of all of them.

        Parameters
        ----------
        motions : sequence of (pose, twist, acceleration)
            Motion of each platform relative to its own base, bottom to top, as of ``Model.inverse_dynamics``.
        wrench : (..., 6), optional
            External wrench on the highest platform at its origin, in the axes of its own base.
        friction : bool, optional
            Whether friction acts.
        base_twist, base_acceleration : (..., 6), optional
            Motion of the lowest base in space, in its own axes.

        Returns
        -------
        list of (..., n) array
            Forces [N or N m] of each stage, bottom to top.
        """
        given = [StageMotion(*motion) for motion in self._one_each("motions", motions)]
        found = self._compiled(given, wrench, friction, base_twist, base_acceleration)
        if found is not None:
            return found
        return [forces for forces, _ in self._solved(given, wrench, friction, base_twist, base_acceleration)]

    def _compiled(
        self,
        motions: Sequence[StageMotion],
        wrench: ArrayLike | None,
        friction: bool,
        base_twist: ArrayLike | None,
        base_acceleration: ArrayLike | None,
    ) -> list[Array] | None:
        """Forces by the one function of all stages; None where there is none, or an answer needs a closer look."""
        if any(model.robot.flexible for model in self.stages):
            return None
        moving = base_twist is not None or base_acceleration is not None
        key = bool(friction), moving
        if key not in self._functions:
            self._functions[key] = compiled_inverse_dynamics(self.stages, self.mounts, *key)
        kernel = self._functions[key]
        if kernel is None:
            return None
        still = np.zeros(6)
        given: list[ArrayLike | None] = [
            part for m in motions for part in (pose_matrix(m.pose), m.twist, m.acceleration)
        ]
        given += [wrench, *((base_twist, base_acceleration) if moving else ())]
        try:
            arrays = [np.asarray(still if one is None else one, dtype=np.float64) for one in given]
            sizes = [2 if k < 3 * len(motions) and k % 3 == 0 else 1 for k in range(len(arrays))]
            batch = np.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in zip(arrays, sizes, strict=True)))
            shapes = [(4, 4) if n == 2 else (6,) for n in sizes]
            rows = [
                np.ascontiguousarray(a.reshape(1, *own) if a.shape == own
                                     else np.broadcast_to(a, (*batch, *own)).reshape(-1, *own))
                for a, own in zip(arrays, shapes, strict=True)
            ]  # fmt: skip
        except (TypeError, ValueError):
            return None  # the stages say what is wrong
        *forces, verdict = kernel(*rows)
        if np.asarray(verdict).any():
            return None
        return [one.reshape(*batch, one.shape[-1]) for one in forces]

    def base_wrench(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        wrench: ArrayLike | None = None,
        *,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
    ) -> Array:
        """Wrench (..., 6) of the whole on the lowest base, at its origin and in its axes."""
        stages = self._stages(motions, base_twist, base_acceleration)
        return self._wrenches(stages, wrench)[0]

    def reactions(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
    ) -> list[Reactions]:
        """Reactions of all joints, stage by stage; the ``base`` of the first is what the foundation carries."""
        stages = self._stages(motions, base_twist, base_acceleration)
        external = self._external(stages, self._wrenches(stages, wrench), wrench)
        return [
            model.reactions(*motion, load, friction, base_twist=twist, base_acceleration=acceleration)
            for model, (motion, twist, acceleration), load in zip(self.stages, stages, external, strict=True)
        ]

    def direct_dynamics(
        self,
        states: Sequence[tuple[PoseLike, ArrayLike]],
        forces: Sequence[ArrayLike],
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
    ) -> list[Array]:
        """Accelerations (..., 6) of all platforms, each relative to its base, from all actuator forces.

        With u all independent velocities, J^T f = M udot + h: M and h are what ``inverse_dynamics`` says of unit
        accelerations and of none, all of them in one call. Friction that depends on loads is iterated.

        Parameters
        ----------
        states : sequence of (pose, twist)
            State of each platform relative to its own base, bottom to top.
        forces : sequence of (..., n)
            Actuator forces of each stage.
        wrench, friction, base_twist, base_acceleration
            As of ``inverse_dynamics``.

        Returns
        -------
        list of (..., 6) array
            Accelerations of each platform relative to its base.
        """
        given = self._one_each("states", states)
        poses = [np.asarray(pose_matrix(pose), dtype=float) for pose, _ in given]
        twists = [np.asarray(twist, dtype=float) for _, twist in given]
        asked = [np.asarray(f, dtype=float) for f in self._one_each("forces", forces)]
        jacobians = [model.jacobian(pose) for model, pose in zip(self.stages, poses, strict=True)]
        # directions S of each stage: twist = S u, and what its acceleration is at udot = 0
        maps = [
            np.stack([model.twist(pose, j[..., :, k]) for k in range(j.shape[-1])], axis=-2)
            for model, pose, j in zip(self.stages, poses, jacobians, strict=True)
        ]
        drifts = [model.drift_acceleration(p, t) for model, p, t in zip(self.stages, poses, twists, strict=True)]
        counts = [j.shape[-1] for j in jacobians]
        total, starts = sum(counts), np.cumsum([0, *counts])

        def needed(accelerations: list[Array], rough: bool) -> Array:
            motions = [StageMotion(p, t, a) for p, t, a in zip(poses, twists, accelerations, strict=True)]
            found = self.inverse_dynamics(
                motions, wrench, rough, base_twist=base_twist, base_acceleration=base_acceleration
            )
            parts = [np.einsum("...ik,...i->...k", j, f) for j, f in zip(jacobians, found, strict=True)]
            return np.concatenate(parts, axis=-1)

        def of(udot: Array) -> list[Array]:
            parts = [udot[..., starts[k] : starts[k + 1]] for k in range(len(counts))]
            return [d + np.einsum("...ki,...k->...i", m, part) for d, m, part in zip(drifts, maps, parts, strict=True)]

        shape = np.broadcast_shapes(*(p.shape[:-2] for p in poses), *(t.shape[:-1] for t in twists),
                                    *(f.shape[:-1] for f in asked))  # fmt: skip
        units = np.eye(total).reshape(total, *(1,) * len(shape), total) * np.ones((*shape, 1))
        nothing = np.zeros((*shape, total))
        bias = needed(of(nothing), False)
        matrix = np.moveaxis(needed(of(units), False) - bias, 0, -1)  # columns are unit accelerations
        push = np.concatenate(
            [np.broadcast_to(np.einsum("...ik,...i->...k", j, f), (*shape, j.shape[-1]))
             for j, f in zip(jacobians, asked, strict=True)],
            axis=-1,
        )  # fmt: skip
        udot = _solved(matrix, push - bias)
        for _ in range(_MOST_ROUNDS if friction else 0):
            step = _solved(matrix, push - needed(of(udot), True))
            udot = udot + step
            # states without an answer are no numbers, and not waited for
            moving = np.abs(step).max(axis=-1) > CONVERGED * (1 + np.abs(udot).max(axis=-1))
            if not moving.any():
                break
        else:
            if friction:
                lost = np.flatnonzero(moving)
                raise StateError(
                    f"direct_dynamics: friction and joint loads of the stages do not converge in {len(lost)} of "
                    f"{moving.size} states; lower the friction coefficients or pass friction=False",
                    lost,
                    code="friction",
                )
        return of(udot)

    # -- going up and down ---------------------------------------------------------------------------------------------

    def _one_each(self, name: str, given: Sequence[object]) -> list:  # type: ignore[type-arg]
        parts = list(given)
        if len(parts) != len(self.stages):
            raise InputError(f"{name}: one for each of the {len(self.stages)} stages is needed, got {len(parts)}")
        return parts

    def _bases(
        self, motions: Sequence[StageMotion], twist: ArrayLike | None, acceleration: ArrayLike | None
    ) -> list[_Base]:
        """Motion of every base in space, gravity not counted."""
        first = np.zeros(6) if twist is None else np.asarray(twist, dtype=float)
        change = np.zeros(6) if acceleration is None else np.asarray(acceleration, dtype=float)
        base = _Base(np.eye(3), first[..., :3], first[..., 3:], change[..., :3], change[..., 3:])
        found = []
        for k, motion in enumerate(motions):
            found.append(base)
            if k + 1 == len(motions):
                break
            pose = np.asarray(pose_matrix(motion.pose), dtype=float)
            t, a = np.asarray(motion.twist, dtype=float), np.asarray(motion.acceleration, dtype=float)
            omega = base.omega + t[..., 3:]
            alpha = base.alpha + a[..., 3:] + np.cross(base.omega, t[..., 3:])
            mount = self.mounts[k + 1]
            here = pose[..., :3, 3]
            arm = _turned(pose[..., :3, :3], mount[:3, 3])
            velocity = base.velocity + np.cross(base.omega, here) + t[..., :3] + np.cross(omega, arm)
            drawn = np.cross(base.alpha, here) + np.cross(base.omega, np.cross(base.omega, here))
            carried = drawn + 2 * np.cross(base.omega, t[..., :3]) + a[..., :3]
            point = base.acceleration + carried + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
            axes = pose[..., :3, :3] @ mount[:3, :3]
            back = np.swapaxes(axes, -1, -2)
            base = _Base(base.rotation @ axes, *(_turned(back, vector) for vector in (velocity, omega, point, alpha)))
        return found

    def _stages(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        twist: ArrayLike | None,
        acceleration: ArrayLike | None,
    ) -> list[tuple[StageMotion, Array, Array]]:
        """Motion of every stage, and twist and acceleration of its base as its model takes them.

        A model counts gravity as its own file gives it: the lowest stage's, in its axes, comes in as acceleration.
        """
        given = [StageMotion(*motion) for motion in self._one_each("motions", motions)]
        found = []
        for model, base, motion in zip(self.stages, self._bases(given, twist, acceleration), given, strict=True):
            weight = _turned(np.swapaxes(base.rotation, -1, -2), self.gravity)
            linear = base.acceleration - weight + np.asarray(model.robot.gravity, dtype=float)
            found.append((motion, _stacked(base.velocity, base.omega), _stacked(linear, base.alpha)))
        return found

    def _wrenches(self, stages: list[tuple[StageMotion, Array, Array]], wrench: ArrayLike | None) -> list[Array]:
        """Wrench of every stage, and all above it, on its base, at its origin and in its axes."""
        found: list[Array] = []
        load = wrench
        for k in range(len(self.stages) - 1, -1, -1):
            motion, twist, acceleration = stages[k]
            own = self.stages[k].base_wrench(*motion, load, base_twist=twist, base_acceleration=acceleration)
            found.insert(0, own)
            if k:
                load = self._on_platform(k, stages[k - 1][0], own)
        return found

    def _on_platform(self, stage: int, below: StageMotion, wrench: Array) -> Array:
        """What a stage puts on its base, as the external wrench on the platform below, at its origin."""
        pose = np.asarray(pose_matrix(below.pose), dtype=float)
        mount = self.mounts[stage]
        axes, arm = pose[..., :3, :3] @ mount[:3, :3], _turned(pose[..., :3, :3], mount[:3, 3])
        force, moment = _turned(axes, wrench[..., :3]), _turned(axes, wrench[..., 3:])
        return _stacked(force, moment + np.cross(arm, force))

    def _external(
        self, stages: list[tuple[StageMotion, Array, Array]], wrenches: list[Array], wrench: ArrayLike | None
    ) -> list[ArrayLike | None]:
        """External wrench on every platform."""
        loads: list[ArrayLike | None] = [
            self._on_platform(k, stages[k - 1][0], wrenches[k]) for k in range(1, len(self.stages))
        ]
        return [*loads, wrench]

    def _solved(
        self,
        motions: Sequence[StageMotion | tuple[PoseLike, ArrayLike, ArrayLike]],
        wrench: ArrayLike | None,
        friction: bool,
        base_twist: ArrayLike | None,
        base_acceleration: ArrayLike | None,
    ) -> list[tuple[Array, Array]]:
        """Forces of every stage, and its wrench on its base."""
        stages = self._stages(motions, base_twist, base_acceleration)
        wrenches = self._wrenches(stages, wrench)
        external = self._external(stages, wrenches, wrench)
        return [
            (model.inverse_dynamics(*motion, load, friction, base_twist=twist, base_acceleration=change), own)
            for model, (motion, twist, change), load, own in zip(self.stages, stages, external, wrenches, strict=True)
        ]


def series(
    *stages: Model | Robot | str | Path, mounts: Sequence[PoseLike | None] | None = None, **choices: Any
) -> Series:
    """Robots that stand on each other, bottom to top: the base of each is fixed to the platform of the one before.

    Parameters
    ----------
    *stages : Model, Robot, name or file
        Robots of any kind, bottom to top; gravity is that of the lowest. Or one file with ``stages``, or the name of
        one of ``polypod.stages.staged_library()``.
    mounts : sequence of poses, optional
        Base frame of each stage but the lowest in the platform frame below it. By default they coincide, or are those
        of the file.
    **choices
        Choices of all models, as ``polypod.Model`` takes them.

    Returns
    -------
    Series
        Kinematics and dynamics of the whole.

    Examples
    --------
    >>> import numpy as np, polypod as pp
    >>> tower = pp.series("hexapod", "delta", mounts=[pp.pose(z=0.05)])
    >>> still = [(model.robot.home.matrix, np.zeros(6), np.zeros(6)) for model in tower.stages]
    >>> [forces.shape for forces in tower.inverse_dynamics(still)]
    [(6,), (3,)]
    """
    if len(stages) == 1 and isinstance(stages[0], (str, Path)) and is_stages_file(stages[0]):
        if mounts is not None:
            raise InputError("mounts: a file with stages states its own; leave them out")
        file, robots = load_stages(stages[0])
        frames = [None if one.mount is None else one.mount.with_rotation("xyz").matrix for one in file.stages[1:]]
        return Series(*(Model(robot, **choices) for robot in robots), mounts=frames, name=file.name)
    whole = [one if isinstance(one, Model) else Model(one, **choices) for one in stages]
    return Series(*whole, mounts=mounts)


def whole_model(model: Any) -> Model:
    """The model of a robot, or of all stages of a machine as one robot.

    Parameters
    ----------
    model : Model or Series
        A model, or a machine in stages.

    Returns
    -------
    Model
        The model itself, or ``Series.whole``.
    """
    found: Model = model.whole if isinstance(model, Series) else model
    return found


def _turned(rotation: Array, vector: Array) -> Array:
    """R v for rotations (..., 3, 3) and vectors (..., 3)."""
    return np.asarray(np.einsum("...ij,...j->...i", rotation, vector))


def _stacked(linear: Array, angular: Array) -> Array:
    return np.concatenate(np.broadcast_arrays(linear, angular), axis=-1)


def _solved(matrix: Array, right: Array) -> Array:
    """x (..., n) of A x = b."""
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0], dtype=np.float64)
