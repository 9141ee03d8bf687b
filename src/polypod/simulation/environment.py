"""The vector environment that ``polypod.gym`` makes; it needs Gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description import Robot
from ..description.poses import rotation_from_vector, rotation_vector
from ..errors import InputError
from ..model import Model
from ..platforms import DegreesOfFreedom
from .vector import VectorSimulation

_REDRAWS = 50
"""How often starts are drawn again where the robot cannot be."""
_QUICK = 0.1
"""Time [s] in which the default force moves the platform by ``reach``."""


class Situation(NamedTuple):
    """What rewards and observations are made of, a row for each environment.

    Attributes
    ----------
    pose, target : ndarray, shape (envs, 4, 4)
        Pose of {P} in {B}, and the one to be reached.
    twist : ndarray, shape (envs, 6)
        Twist [v; omega], base axes.
    q, qdot : ndarray, shape (envs, n)
        Coordinates and rates of the actuators.
    error : ndarray, shape (envs, 6)
        [p_target - p; phi], exp(phi~) = R_target R^T [m, rad].
    relative_error, relative_twist : ndarray, shape (envs, m)
        Error and twist along the robot's degrees of freedom, in units of ``reach`` (lengths: of the platform's size).
    action : ndarray, shape (envs, n)
        Action that led here; zero at the start.
    lost : ndarray of bool, shape (envs,)
        Whether the row has reached a limit or a singularity, or has no answer.
    """

    pose: Array
    target: Array
    twist: Array
    q: Array
    qdot: Array
    error: Array
    relative_error: Array
    relative_twist: Array
    action: Array
    lost: NDArray[np.bool_]


def default_reward(situation: Situation) -> Array:
    """1/(1 + e^2), e the distance from the target in units of ``reach``; 0 for a row that is lost."""
    return np.asarray(np.where(situation.lost, 0.0, 1 / (1 + (situation.relative_error**2).sum(axis=1))))


def default_observation(situation: Situation) -> Array:
    """Error and a tenth of the twist along the degrees of freedom, in units of ``reach`` (envs, 2 m)."""
    return np.concatenate([situation.relative_error, 0.1 * situation.relative_twist], axis=1)


class RobotEnvironment(VectorEnv[Any, Any, Any]):  # type: ignore[misc]
    """Many robots under actuator forces, each with a target pose: see ``polypod.gym``."""

    def __init__(
        self,
        model: Model | Robot | str | Path,
        envs: int,
        rate: float,
        duration: float,
        reach: float,
        force: ArrayLike | None,
        reward: Callable[[Situation], ArrayLike] | None,
        observe: Callable[[Situation], ArrayLike] | None,
        parameters: dict[str, tuple[float, float]],
        wrench: ArrayLike | None,
        options: dict[str, Any],
    ) -> None:
        for name, value in (("duration", duration), ("reach", reach)):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name}: a number greater than 0 is needed, got {value!r}")
        for path, ends in parameters.items():
            if np.shape(ends) != (2,) or not ends[0] <= ends[1]:
                raise InputError(f"parameters: {path}: a range (low, high) is needed, got {ends!r}")
        self._ranges = {path: (float(low), float(high)) for path, (low, high) in parameters.items()}
        middle = {path: np.full(envs, 0.5 * sum(ends)) for path, ends in self._ranges.items()} or None
        self.simulation = VectorSimulation(model, envs, rate=rate, parameters=middle, **options)
        known = self.simulation.model
        self._size, self._reach = known.robot.platform_size, float(reach)
        self._dof, self._full = DegreesOfFreedom(known.robot), not known.robot.dof
        self._wrench = wrench
        self._home = known.robot.home.matrix
        self.hold: Array = known.inverse_dynamics(self._home, np.zeros(6), np.zeros(6), wrench, friction=False)
        self.force = self._default_force() if force is None else np.asarray(force, dtype=np.float64)
        if self.force.shape not in ((), self.hold.shape) or not (np.isfinite(self.force) & (self.force > 0)).all():
            raise InputError(
                f"force: a number greater than 0, or one for each of {len(self.hold)} actuators, is needed, got "
                f"{force!r}"
            )
        self._reward, self._observe = reward or default_reward, observe or default_observation
        self._horizon = max(1, round(duration * rate))
        self._steps = np.zeros(envs, dtype=np.int64)
        self._target = np.tile(self._home, (envs, 1, 1))
        self._action = np.zeros((envs, len(self.hold)))
        self._lost = np.zeros(envs, dtype=bool)
        self.num_envs = envs
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(self.hold),), np.float32)
        shape = self._observed().shape[1:]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)
        self.action_space = batch_space(self.single_action_space, envs)
        self.observation_space = batch_space(self.single_observation_space, envs)

    @property
    def _units(self) -> Array:
        """Displacements (m) in each degree of freedom that count as one: the platform's size, and 1 rad."""
        dof = self.simulation.model.robot.dof
        turns = [one.motion == "rotation" for one in dof] if dof else 3 * [False] + 3 * [True]
        return np.where(turns, 1.0, self._size)

    def _default_force(self) -> Array:
        model, still, m = self.simulation.model, np.zeros(6), self._dof.count
        moves = self._reach / _QUICK**2 * np.diag(self._units)
        if not self._full:
            moves = np.array([model.motion(np.zeros(m), np.zeros(m), row).acceleration for row in moves])
        needed = model.inverse_dynamics(self._home, still, moves, self._wrench, friction=False) - self.hold
        return np.asarray(np.abs(needed).max() + 0.5 * np.abs(self.hold).max())

    def _near_home(self, count: int) -> Array:
        """Random poses (count, 4, 4) that the robot's degrees of freedom allow, NaN where its legs do not reach."""
        draw = self._units * self.np_random.uniform(-self._reach, self._reach, (count, self._dof.count))
        if not self._full:
            return np.asarray(self.simulation.model.motion(draw, errors="nan").pose)
        poses = np.tile(self._home, (count, 1, 1))
        poses[:, :3, 3] += draw[:, :3]
        poses[:, :3, :3] = rotation_from_vector(draw[:, 3:]) @ self._home[:3, :3]
        return poses

    def _begin(self, rows: NDArray[np.int64]) -> None:
        """Start episodes: rows drawn again where the robot cannot be."""
        left = rows
        for _ in range(_REDRAWS):
            pose, target = self._near_home(len(left)), self._near_home(len(left))
            known = np.isfinite(pose).all(axis=(1, 2)) & np.isfinite(target).all(axis=(1, 2))
            pose[~known], target[~known] = self._home, self._home
            designs = {path: self.np_random.uniform(low, high, len(left)) for path, (low, high) in self._ranges.items()}
            lost = self.simulation.place(target, rows=left, parameters=designs or None)
            lost |= self.simulation.place(pose, rows=left) | ~known
            self._target[left] = target
            left = left[lost]
            if not len(left):
                break
        else:
            raise InputError(
                f"reach: of {_REDRAWS} random starts within {self._reach:g} none is within the robot's limits, or the "
                "ranges of parameters make no robot of it; give a smaller reach, or smaller ranges",
                code="limits",
            )
        self._steps[rows], self._action[rows], self._lost[rows] = 0, 0.0, False

    @property
    def situation(self) -> Situation:
        """The situation of all rows."""
        seen = self.simulation.measurement()
        position = self._target[:, :3, 3] - seen.pose[:, :3, 3]
        turn = rotation_vector(self._target[:, :3, :3] @ seen.pose[:, :3, :3].transpose(0, 2, 1))
        error = np.concatenate([position, turn], axis=1)
        along = self._dof.inverse.T / (self._reach * self._units)
        state = seen.pose, self._target, seen.twist, seen.q, seen.qdot
        return Situation(*state, error, error @ along, seen.twist @ along, self._action, self._lost)

    def _observed(self) -> NDArray[np.float32]:
        found = np.asarray(self._observe(self.situation), dtype=np.float32)
        if found.ndim != 2 or len(found) != len(self._steps):
            raise InputError(f"observe: observations ({len(self._steps)}, k) are needed, got shape {found.shape}")
        return found

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start all episodes anew.

        Parameters
        ----------
        seed : int, optional
            Random seed; the same gives the same episodes.
        options : dict, optional
            Not used.

        Returns
        -------
        observations : ndarray, shape (envs, k)
            First observations.
        info : dict
            Empty.
        """
        if isinstance(seed, list):
            raise InputError("seed: one seed for all environments is needed, got a list")
        super().reset(seed=seed, options=options)
        self._begin(np.arange(self.num_envs))
        return self._observed(), {}

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Advance all rows by one control period.

        Parameters
        ----------
        actions : array_like, shape (envs, n)
            Actions; what is beyond [-1, 1] is cut off.

        Returns
        -------
        observations : ndarray, shape (envs, k)
            Observations; of rows that have ended those of the next episode.
        rewards : ndarray, shape (envs,)
            Rewards.
        terminated, truncated : ndarray of bool, shape (envs,)
            Rows that are lost, and rows whose time is over.
        info : dict
            ``final_obs`` and ``_final_obs`` (which rows have one) where rows have ended.
        """
        given = np.asarray(actions, dtype=np.float64)
        if given.shape != self._action.shape or not np.isfinite(given).all():
            raise InputError(
                f"actions: finite numbers of shape {self._action.shape} are needed, got shape {given.shape}"
            )
        self._action = np.clip(given, -1.0, 1.0)
        self._lost = self.simulation.advance(self.hold + self.force * self._action, self._wrench)
        self._steps += 1
        now = self.situation
        rewards = np.asarray(self._reward(now), dtype=np.float64)
        if rewards.shape != (self.num_envs,):
            raise InputError(f"reward: rewards ({self.num_envs},) are needed, got shape {rewards.shape}")
        observations = self._observed()
        terminated, truncated = self._lost.copy(), (self._steps >= self._horizon) & ~self._lost
        ended = terminated | truncated
        info: dict[str, Any] = {}
        if ended.any():
            info = {"final_obs": observations, "_final_obs": ended}
            self._begin(np.flatnonzero(ended))
            observations = self._observed()
        return observations, rewards, terminated, truncated, info
