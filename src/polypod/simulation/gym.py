"""A robot as a Gymnasium vector environment: many of them, simulated side by side, for reinforcement learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..description import Robot
from ..errors import MissingPackageError
from ..model import Model

if TYPE_CHECKING:
    from .environment import RobotEnvironment, Situation


def gym(
    model: Model | Robot | str | Path,
    envs: int = 64,
    *,
    rate: float = 100.0,
    duration: float = 1.0,
    reach: float = 0.1,
    force: ArrayLike | None = None,
    reward: Callable[[Situation], ArrayLike] | None = None,
    observe: Callable[[Situation], ArrayLike] | None = None,
    parameters: Mapping[str, tuple[float, float]] | None = None,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    limits: bool = True,
    singularity: float = 1e-3,
    step: float = 1e-3,
) -> RobotEnvironment:
    """Gymnasium vector environment in which the platform is to reach random poses under actuator forces.

    Each row starts at rest in a random pose and has a random target, both near home. An action in [-1, 1] adds a part
    of ``force`` to the forces that hold the robot at home, for one control period. A row that reaches a limit or a
    singularity, or has no answer, is terminated; after ``duration`` it is truncated. Rows that have ended start anew in
    the same step (``AutoresetMode.SAME_STEP``); ``info["final_obs"]`` has their last observations.

    Parameters
    ----------
    model : Model, Robot, str or Path
        Model of a robot with a rigid platform, or what ``polypod.Model`` takes.
    envs : int, optional
        Number of environments: rows of observations and actions.
    rate : float, optional
        Control periods a second [Hz].
    duration : float, optional
        Length of an episode [s].
    reach : float, optional
        How far starts and targets are from home in each degree of freedom: parts of the platform's size, and rad.
    force : array_like, shape () or (n,), optional
        What an action of 1 adds [N or N m]. Default: half of the largest force that holds the robot, and what
        accelerates it by ``reach`` in 0.1 s.
    reward : callable, optional
        From a ``Situation`` to rewards (envs,). Default: 1/(1 + e^2), e the distance from the target in units of
        ``reach``; 0 for rows that are lost.
    observe : callable, optional
        From a ``Situation`` to observations (envs, k). Default: error of the pose in units of ``reach`` and twist in
        units of ten times ``reach`` a second, along the m degrees of freedom (k = 2 m).
    parameters : mapping of str to (float, float), optional
        Ranges of parameters of the robot, by path, drawn anew for each episode: domain randomisation.
    wrench : array_like, shape (6,), optional
        External wrench at the origin of {P}, base axes [N, N m]. Default: zero.
    friction, limits, singularity, step
        As of ``polypod.simulation.VectorSimulation``.

    Returns
    -------
    gymnasium.vector.VectorEnv
        The environment.

    Raises
    ------
    MissingPackageError
        Without the package gymnasium (extra ``gym``).

    Examples
    --------
    >>> env = gym("five-bar", 4, duration=0.05)
    >>> observations, info = env.reset(seed=1)
    >>> observations, rewards, terminated, truncated, info = env.step(env.action_space.sample() * 0)
    >>> observations.shape, rewards.shape
    ((4, 4), (4,))
    """
    try:
        from .environment import RobotEnvironment
    except ImportError as error:
        raise MissingPackageError("a learning environment", "gymnasium", "gym") from error
    options: dict[str, Any] = {"friction": friction, "limits": limits, "singularity": singularity, "step": step}
    return RobotEnvironment(
        model, envs, rate, duration, reach, force, reward, observe, dict(parameters or {}), wrench, options
    )
