"""Controllers by name: a new one is a file with a function ``follow`` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import InputError, UnknownNameError
from ..motion import Trajectory
from . import computed_torque, joint_computed_torque, joint_pd
from .law import Compensation

Follow = Callable[..., Any]
"""(model, trajectory, rate [1/s], friction compensated) -> controller; with ``base`` if its kind says so."""


class ControllerKind(NamedTuple):
    """How a controller is made, whether it measures the elastic state of a flexible platform, whether it can know
    the motion of a base, and whether encoders are all that it measures by.

    The others take a flexible platform as rigid, and the base to stand still. ``follow`` of those that can know it
    takes ``base``, the trajectory of the base in space.
    """

    follow: Follow
    elastic: bool = False
    base: bool = False
    encoders: bool = False


CONTROLLERS: dict[str, ControllerKind] = {
    "computed-torque": ControllerKind(computed_torque.follow, base=True),
    "joint-computed-torque": ControllerKind(joint_computed_torque.follow, base=True, encoders=True),
    "joint-pd": ControllerKind(joint_pd.follow, encoders=True),
    "elastic-computed-torque": ControllerKind(computed_torque.follow, elastic=True),
}


def default_controller(flexible: bool) -> str:
    """Name of the controller that is used if none is given.

    For a flexible platform it is one in the joints: feedback of the platform's pose acts through what bends between it
    and the actuators, and soon excites vibration.

    Parameters
    ----------
    flexible : bool
        Whether the platform is flexible.

    Returns
    -------
    str
        Name in ``polypod.control.CONTROLLERS``.
    """
    return "joint-computed-torque" if flexible else "computed-torque"


def controller(
    name: str,
    model: Any,
    trajectory: Trajectory,
    rate: float = 1000.0,
    friction: Compensation = True,
    base: Trajectory | None = None,
) -> Any:
    """A controller by name that follows a trajectory.

    Parameters
    ----------
    name : str
        Name in ``polypod.control.CONTROLLERS``.
    model : Model
        Model of the robot that the controller uses.
    trajectory : Trajectory
        Desired motion.
    rate : float, optional
        Sampling rate of the controller [Hz].
    friction : bool or 'reference', optional
        Whether friction is compensated: at the measured speed, at that of the reference, or not; ``joint-pd`` does not.
    base : Trajectory, optional
        Motion of the base in space that the controller knows; ``joint-pd`` does not use it. Default: the base stands
        still.

    Returns
    -------
    controller
        A function ``(time, measurement) -> (n,)`` or a ``ControllerWithMemory``, for ``polypod.simulate``.

    Raises
    ------
    UnknownNameError
        If there is no such controller.
    """
    if name not in CONTROLLERS:
        raise UnknownNameError("controller", name, tuple(CONTROLLERS))
    kind = CONTROLLERS[name]
    if not kind.elastic:
        known = {} if base is None or not kind.base else {"base": base}
        return kind.follow(model.rigid, trajectory, rate, friction, **known)
    if not model.robot.flexible:
        raise InputError(
            f"controller: {name} is for a flexible platform; {model.robot.name!r} has a rigid one", code="rigid"
        )
    return kind.follow(model, trajectory, rate, friction)
