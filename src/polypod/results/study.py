"""A study: inverse dynamics of a robot along a task, with everything a designer asks of it, as one dataset."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analysis.cables import sag
from ..arrays import Array
from ..datasets import dataset, joint_component_labels
from ..description import Robot
from ..errors import AS_RIGID, InputError, PolypodError, Reason, StateError, UnstableBendingError
from ..friction import has_dry_friction
from ..legs.cable import Cable
from ..limits.limits import reaction_arrays
from ..model import Model
from ..model.results import Reactions
from ..motion import Motion, MotionFile, Task, Trajectory, make_task, with_motion_lines
from ..stages import Series, whole_model
from ..symbols.vectors import absent
from .bearings import joint_travel
from .intersample import judged_between

if TYPE_CHECKING:
    import xarray as xr

    from ..simulation.follow import FlexiblePath


PARTS = ("inertia", "Coriolis", "gravity", "friction", "external")
"""What actuator forces are for; the parts add up to the force."""
BENDING = "bending"
"""The part beside them of a robot whose platform bends: forces for the deformed shape and for its vibration."""


def study(
    model: Model | Robot | str | Path,
    task: Task | MotionFile | Trajectory | str | Path | None = None,
    friction: bool = True,
    progress: Progress = lambda step: None,
    vibration: bool | None = None,
    certify: bool = True,
    certify_seconds: float | None = 60.0,
    rate: float | None = None,
) -> xr.Dataset:
    """Inverse dynamics of a robot along a task, with reactions, limits and energies.

    A motion that leaves the workspace or crosses a singular pose, between samples too, is an error.

    The frame of a flexible platform follows the task exactly while the platform bends (Long et al., section 6): all
    results are those of the deformed robot.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file. Of a machine in stages it is the whole.
    task : Task, MotionFile, Trajectory, str or Path, optional
        The motion: a task, a trajectory, the name of a published motion or a motion file. Default: the robot's own
        motion.
    friction : bool, optional
        Whether friction in the joints is included.
    progress : callable, optional
        Called with the name of each step before it starts.
    vibration : bool, optional
        Whether a flexible platform vibrates. Default: it does, unless its frame could not follow exactly; the attribute
        ``vibration`` of the result says which.
    certify : bool, optional
        Whether to verify limits between samples too, rigorously where possible (``polypod.results.intersample``).
        Without it, result and verdict are those of the samples, and say so.
    certify_seconds : float, optional
        Computing time after which a proof is given up [s]; None for no limit.
    rate : float, optional
        Sampling rate [Hz] of the motion. Default: that of the motion file.

    Returns
    -------
    xarray.Dataset
        Quantities over time with units, see ``polypod.datasets``. ``force_part`` splits the forces as ``PARTS``.
        Reactions that internal stresses of an overconstrained robot leave open are NaN and named in the attribute
        ``indeterminate_reactions``.

    Raises
    ------
    StateError
        If the robot cannot make the motion; names leg, amount and time.

    Examples
    --------
    >>> from polypod.motion import make_task
    >>> model = Model("kim-ryu")
    >>> result = study(model, make_task(model, "kim-ryu-circle", rate=20.0))
    >>> dict(result.force.sizes), result.part.values.tolist()
    ({'time': 31, 'actuator': 6}, ['inertia', 'Coriolis', 'gravity', 'friction', 'external'])
    >>> study("kim-ryu", "kim-ryu-circle", rate=100.0).force.shape
    (151, 6)
    """
    if not isinstance(model, (Model, Series, Robot, str, Path)):
        raise InputError(f"model: must be a polypod.Model, a robot, its name or its file, got {type(model).__name__}")
    known = whole_model(model if isinstance(model, (Model, Series)) else Model(model))
    meant, file = (task, None) if isinstance(task, Task) else (None, task)
    if meant is not None and rate is not None:
        raise InputError("rate: the task has been sampled already; give make_task the rate, or the motion itself here")
    with with_motion_lines(file if isinstance(file, (str, Path)) else None):
        chosen = meant or make_task(known, file, rate, moving_base=True)
        result = _study(known, chosen, friction, progress, vibration)
    # proofs and error bounds are of a base that stands still, and of the pose alone
    if not certify or chosen.base is not None or known.internal:
        return result
    progress("between the samples")
    return judged_between(result, known, chosen, friction, certify_seconds, progress)


def _internal_rates(motion: Motion) -> dict[str, Array]:
    """Rates and accelerations of internal coordinates, if there are any."""
    if motion.internal is None:
        return {}
    return {"internal_rate": motion.twist[:, 6:], "internal_acceleration": motion.acceleration[:, 6:]}


def _study(model: Model, task: Task, friction: bool, progress: Progress, vibration: bool | None) -> xr.Dataset:
    if model.internal and task.motion.internal is None:
        raise InputError(
            f"task: {model.robot.name!r} has the internal coordinates {', '.join(model.internal)}, which the motion of "
            "the task lacks; give the motion itself, or make_task(model, motion)",
            code="internal",
        )
    motion, wrench = task.motion, task.wrench
    inner = motion.place
    at = motion.pose, motion.twist, motion.acceleration
    progress("kinematics")
    _naming_time(task, lambda: model.inverse_kinematics(motion.pose, errors="raise", **inner))
    _no_crossing(model, task)
    progress("actuator forces")
    force, parts = _forces(model.rigid, task, friction)
    bending = Bending()
    bound: dict[str, Array] = {}
    if task.base is not None:
        _refuse_flexible(model)
    elif not model.robot.flexible and not model.internal:
        rounding = model.error_bound("inverse_dynamics", *at, wrench, friction=friction)
        bound = {"force_bound": rounding.bound["force"]}
    elif model.robot.flexible:
        bending = bending_along(model, task, friction, progress, vibration)
        parts[BENDING] = bending.path.force - force
        force = bending.path.force
    position = {**bending.position, **inner}
    q = model.inverse_kinematics(motion.pose, **position)
    qdot = model.rates(*at[:2], **{**bending.velocity, **inner})
    progress("joint reactions")
    reactions = model.reactions(*at, wrench, friction, **{**bending.load, **inner, **task.base_arguments})
    progress("limits and conditioning")
    conditioning = model.conditioning(motion.pose, **position)
    limits = model.joint_ranges(motion.pose, **position)
    values: dict[str, Any] = {
        "pose": motion.pose,
        "twist": motion.twist[:, :6],
        "acceleration": motion.acceleration[:, :6],
        **inner,
        **(
            {"internal_rate": motion.twist[:, 6:], "internal_acceleration": motion.acceleration[:, 6:]} if inner else {}
        ),
        **({} if wrench is None else {"wrench": wrench}),
        "q": q,
        "qdot": qdot,
        "qddot": model.accelerations(*at, **{**bending.acceleration, **inner}),
        "force": force,
        **bound,
        "power": force * qdot,
        "force_part": np.stack(list(parts.values())),
        "condition": conditioning.condition,
        "distance": conditioning.distance,
        **_reaction_arrays(reactions),
        **_foundation(model, task, reactions),
        **_joint_positions(model, motion.pose, position),
        **_travel(model, motion.pose, reactions, position),
        **bending.values(model),
    }
    labels: dict[str, tuple[str, Any]] = {"part": ("part", list(parts)), **_joint_labels(reactions)}
    labels |= joint_component_labels(model)
    if inner:
        labels["internal_coordinate"] = ("internal_coordinate", list(model.internal))
    if limits.names:
        values |= {"limited": limits.value, "limit_low": limits.low, "limit_high": limits.high}
        legs, names = zip(*limits.names, strict=True)
        labels |= {
            "limit": ("limit", [" ".join(pair) for pair in limits.names]),
            "limit_leg": ("limit", list(legs)),
            "limit_name": ("limit", list(names)),
            "limit_unit": ("limit", list(limits.units)),
        }
    if "clearance" in model.robot_limits.kinds:
        values["clearance"] = model.clearances.least(motion.pose, **inner)
        labels["pair"] = ("pair", list(model.clearances.groups))
    about = {
        "title": f"{model.robot.name}: {task.name}",
        "motion": task.name,
        "friction": "yes" if friction else "no",
        "indeterminate_reactions": "; ".join(_indeterminate(reactions)),
        "without_rotor": "; ".join(_without_rotor(model)),
        "held_at_rest": _held_at_rest(model, task) if friction and task.base is None else "",
        "straight_cables": _straight_cables(model, task, force),
        **({} if task.base is None else {"moving_base": "yes"}),
        **bending.about,
    }
    return dataset(model, task.time, values, labels, about)


def _refuse_flexible(model: Model) -> None:
    if model.robot.flexible:
        raise InputError(
            f"base: {model.robot.name!r} has a flexible platform, whose bending on a moving base studies do not "
            f"follow; {AS_RIGID}",
            code="moving_base",
        )


def _forces(model: Model, task: Task, friction: bool) -> tuple[Array, dict[str, Array]]:
    """Forces (n, actuators) of a rigid robot, and the same by what they are for."""
    pose, twist, acceleration = task.motion.pose, task.motion.twist, task.motion.acceleration
    still, inner = np.zeros(twist.shape[-1]), task.motion.place

    def forces(twist: Array, acceleration: Array, wrench: Array | None = None, friction: bool = False) -> Array:
        return _naming_time(
            task,
            lambda: model.inverse_dynamics(
                pose, twist, acceleration, wrench, friction, errors="raise", **inner, **task.base_arguments
            ),
        )

    # on a moving base with what holds the robot while the base moves
    gravity = forces(still, still)
    slow = forces(twist, model.drift_acceleration(pose, twist, **inner))
    free = forces(twist, acceleration)
    loaded = free if task.wrench is None else forces(twist, acceleration, wrench=task.wrench)
    total = forces(twist, acceleration, wrench=task.wrench, friction=True) if friction else loaded
    parts = free - slow, slow - gravity, gravity, total - loaded, loaded - free
    return total, dict(zip(PARTS, parts, strict=True))


def _reaction_arrays(found: Reactions) -> dict[str, Array]:
    """Forces and moments (n, joints, 3) of all joints."""
    joints = [joint for leg in found.legs.values() for joint in leg.values()]
    if not joints:
        return {}
    return {**reaction_arrays(found), "reaction_moment": np.stack([joint.moment for joint in joints], axis=-2)}


def _foundation(model: Model, task: Task, found: Reactions) -> dict[str, Array]:
    """Wrench (n, 6) on the base, the part of it that shakes, and the motion of the base if it moves."""
    still = np.zeros(task.motion.twist.shape[-1])
    if model.robot.flexible:  # what holds a bent platform is another shape
        parts = {"base_wrench": found.base}
    else:
        at_rest = model.base_wrench(task.motion.pose, still, still, task.wrench, friction=False, **task.motion.place)
        parts = {"base_wrench": found.base, "shaking": found.base - at_rest}
    if task.base is None:
        return parts
    return parts | {"base_pose": task.base.pose, "base_twist": task.base.twist}


def _joint_positions(model: Model, pose: Array, position: dict[str, Any]) -> dict[str, Array]:
    """Positions (n, K) of all joints, angles unwrapped along the motion."""
    found = model.joint_positions(pose, unwrap=0, **position)
    return {"joint_position": np.concatenate(list(found.values()), axis=-1)} if found else {}


def _travel(model: Model, pose: Array, found: Reactions, position: dict[str, Any]) -> dict[str, Array]:
    """Travel (n, joints) of every joint, where the robot file rates a bearing."""
    rated = any(
        leg.bearing(joint).dynamic_load_rating is not None for leg in model.robot.legs for joint in found.legs[leg.name]
    )
    if not rated:
        return {}
    return {"joint_travel": joint_travel(model, pose, _reaction_arrays(found)["joint_axes"], **position)}


def _joint_labels(found: Reactions) -> dict[str, tuple[str, list[str]]]:
    """Labels of the joints."""
    pairs = [(leg, joint) for leg, joints in found.legs.items() for joint in joints]
    if not pairs:
        return {}
    return {
        "joint": ("joint", [".".join(pair) for pair in pairs]),
        "joint_leg": ("joint", [leg for leg, _ in pairs]),
        "joint_name": ("joint", [name for _, name in pairs]),
        "joint_kind": ("joint", [found.legs[leg][name].kind for leg, name in pairs]),
    }


def _held_at_rest(model: Model, task: Task) -> str:
    """A sentence on the first dwell of a motion: between which forces dry friction holds the robot; empty if none."""
    motion, mechanism = task.motion, model.rigid.kernels.mechanism
    if not has_dry_friction(mechanism):
        return ""
    still = (np.abs(motion.twist).max(axis=1) == 0) & (np.abs(motion.acceleration).max(axis=1) == 0)
    dwells = np.flatnonzero(still[:-2] & still[1:-1] & still[2:])
    if not len(dwells):
        return ""
    k = int(dwells[0])
    try:
        held = model.static_force_range(motion.pose[k], None if task.wrench is None else task.wrench[k])
    except PolypodError:  # reactions that friction depends on are not known for every robot
        return ""
    least = int(np.argmin(held.upper - held.lower))
    actuator = model.actuators[least]
    return (
        f"At rest (t = {float(task.time[k]):.4g} s) dry friction of {len(held.joints)} joints may hold the robot: "
        f"the force of {actuator.name} is anywhere between {held.lower[least]:.4g} and {held.upper[least]:.4g} "
        f"{actuator.force_unit} (the other actuators as without friction)"
    )


def _straight_cables(model: Model, task: Task, force: Array) -> str:
    """A sentence on what cables are taken to be, and how far heavy ones sag along a motion; empty without cables."""
    cables = [leg for leg in model.robot.legs if isinstance(leg, Cable)]
    if not cables or model.internal or model.robot.flexible:
        return ""
    if all(leg.linear_density is None for leg in cables):
        return "Cables are taken as straight and without weight: the robot file gives no linear_density"
    found = sag(model, task.motion.pose, force, errors="nan")
    text = "Cables are taken as straight, their inertia is neglected"
    if np.isnan(found.sag).any():
        k = int(np.isnan(found.sag).any(axis=0).argmax())
        return f"{text}; {found.names[k]} cannot hold up its own weight with its tension: it would sag to the floor"
    state, k = divmod(int(found.sag.argmax()), len(found.names))
    share = found.sag[state, k] / found.straight[state, k]
    return (
        f"{text}: {found.names[k]} sags most, by {1e3 * found.sag[state, k]:.3g} mm ({100 * share:.2g} % of its "
        f"length) at t = {float(task.time[state]):.4g} s"
    )


def _without_rotor(model: Model) -> list[str]:
    """Actuators whose motor has no inertia, since the robot file says nothing of it."""
    placed = [a for leg in model.kernels.mechanism.placed for a in leg.placement.actuators]
    legs = {leg.name: leg for leg in model.robot.legs}
    return [
        known.name
        for known, actuator in zip(model.actuators, placed, strict=True)
        if absent(actuator.rotor) and not legs[known.leg].states_rotor(actuator.name)
    ]


def _indeterminate(found: Reactions) -> list[str]:
    """The joints whose reactions statics leaves open, and which numbers of them."""
    numbers: dict[str, list[str]] = {}
    for leg, joint, number in found.indeterminate:
        numbers.setdefault(f"{leg} {joint}", []).append(number)
    return [f"{joint} ({'all' if len(listed) == 6 else ', '.join(listed)})" for joint, listed in numbers.items()]


def _no_crossing(model: Model, task: Task) -> None:
    """A determinant of J that changes its sign has passed zero, however well the samples miss it.

    More actuators than degrees of freedom lose a motion only where two singularities meet, which a path does not pass
    through.
    """
    count = len(model.dof) + len(model.internal)
    if len(model.actuators) != count:
        return
    matrix = model.jacobian(task.motion.pose, **task.motion.place)[..., :count]
    determinant = np.linalg.det(matrix)
    crossed = np.flatnonzero(np.sign(determinant[1:]) != np.sign(determinant[:-1]))
    if not len(crossed):
        return
    k = int(crossed[0])
    share = determinant[k] / (determinant[k] - determinant[k + 1])
    time = task.time[k] + share * (task.time[k + 1] - task.time[k])
    # Forces that balance each other on the platform without a load: the actuator that has most of them.
    most = model.actuators[int(np.abs(np.linalg.svd(matrix[k])[0][:, -1]).argmax())].name
    reason = Reason(
        f"the robot is singular there; forces of its legs grow without bound, most in {most}; choose a path around it",
        "singular",
    )
    message = f"motion {task.name!r} crosses a singular pose at t = {time:.6g} s: {reason}"
    raise StateError(message, np.array([k]), [reason], time=float(time))


def _naming_time(task: Task, call: Callable[[], Array]) -> Array:
    """The result of a call; a state without one is an error that names its time."""
    try:
        return call()
    except StateError as error:
        first = int(error.index[0])
        why = error.reasons[0] if error.reasons else str(error)
        count = len(error.index)
        message = (
            f"motion {task.name!r} leaves the reachable range at t = {task.time[first]:.6g} s ({count} of "
            f"{len(task.time)} samples): {why}; shorten or move the motion, or check its units"
        )
        raise StateError(message, error.index, error.reasons, error.result, float(task.time[first])) from error


# ----------------------------------------------------------------------------------------------------------------------
# How a flexible platform bends along a task, as the model's functions and a study's dataset take it.

Progress = Callable[[str], None]


class Bending(NamedTuple):
    """How a flexible platform bends along a task; empty for a rigid one. ``steady`` says why it does not vibrate.

    ``position``, ``velocity``, ``acceleration`` and ``load`` are keywords of the model's functions: elastic coordinates
    and as many of their derivatives as these need.
    """

    path: Any = None
    steady: str = ""

    @property
    def position(self) -> dict[str, Any]:
        """Elastic coordinates."""
        return {} if self.path is None else {"elastic": self.path.elastic}

    @property
    def velocity(self) -> dict[str, Any]:
        """Elastic coordinates and rates."""
        return {} if self.path is None else {**self.position, "elastic_rate": self.path.elastic_rate}

    @property
    def acceleration(self) -> dict[str, Any]:
        """Elastic coordinates, rates and accelerations."""
        return {} if self.path is None else {**self.velocity, "elastic_acceleration": self.path.elastic_acceleration}

    @property
    def load(self) -> dict[str, Any]:
        """Those that forces take: a steady shape has no rates."""
        return self.position if self.steady else self.velocity

    @property
    def about(self) -> dict[str, Any]:
        """Attributes of the result."""
        if self.path is None:
            return {}
        return {"vibration": f"no, {self.steady}" if self.steady else "yes", "step": self.path.step}

    def values(self, model: Model) -> dict[str, Array]:
        """Variables of the result."""
        if self.path is None:
            return {}
        elastic, shape = self.path.elastic, model.modes.origin_shape
        return {
            **self.velocity,
            "frequency": model.modes.frequencies,
            "deflection": model.deflection(elastic),
            **({} if shape is None else {"origin_deflection": elastic @ shape.T}),
        }


def bending_along(model: Model, task: Task, friction: bool, progress: Progress, vibration: bool | None) -> Bending:
    """How the platform bends along the task; where its frame cannot follow exactly, without vibration."""
    from ..simulation.follow import follow

    if task.trajectory is None:
        raise InputError(
            f"motion {task.name!r}: a flexible platform vibrates between the samples; the task needs its trajectory",
            code="no_trajectory",
        )
    progress("bending of the platform")
    duration = float(task.time[-1])
    along: Callable[..., FlexiblePath] = partial(
        follow, model, task.trajectory, task.time, task.load, friction,
        progress=lambda time: progress(f"bending of the platform, {time:.3g} of {duration:.3g} s"),
    )  # fmt: skip
    try:
        return Bending(along(vibration=vibration is not False), "" if vibration is not False else "as requested")
    except UnstableBendingError as error:
        if vibration:
            raise
        return Bending(along(vibration=False), f"since {error}")
    except StateError as error:
        raise StateError(f"motion {task.name!r}: {error}", error.index, error.reasons, time=error.time) from error
