"""Results as labelled datasets (xarray): one list of quantities for studies and simulations, and files of them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array
from .description import Robot
from .errors import InputError, RobotFileError
from .files import dumps, loads
from .output.atomic import atomic_write
from .output.netcdf import Variable, netcdf

if TYPE_CHECKING:
    import xarray as xr

    from .model import Model

AXES = ("x", "y", "z")
"""Coordinate ``axis``: of a point or vector."""
COMPONENTS = (*AXES, "rx", "ry", "rz")
"""Coordinate ``component``: of a twist, a wrench or a pose's error; linear part first."""
_DIGEST = "sha256"
CONVENTIONS = "SI units, radians; base axes; twist and wrench at the platform origin, linear part first"


class Quantity(NamedTuple):
    """A variable of results.

    Attributes
    ----------
    dims : tuple of str
        Dimensions.
    text : str
        What it is.
    unit : str
        Its unit; ``{q}`` and ``{f}`` stand for those of coordinates and forces.
    """

    dims: tuple[str, ...]
    text: str
    unit: str


_ACTUATOR, _COMPONENT, _POSE = ("time", "actuator"), ("time", "component"), ("time", "row", "column")
_JOINT = ("time", "joint", "axis")
QUANTITIES = {
    "pose": Quantity(_POSE, "pose of the platform in the base", "1, m"),
    "twist": Quantity(_COMPONENT, "twist of the platform", "m/s, rad/s"),
    "acceleration": Quantity(_COMPONENT, "acceleration of the platform", "m/s^2, rad/s^2"),
    "wrench": Quantity(_COMPONENT, "external wrench on the platform", "N, N m"),
    "q": Quantity(_ACTUATOR, "actuated coordinate", "{q}"),
    "qdot": Quantity(_ACTUATOR, "actuator speed", "{q}/s"),
    "qddot": Quantity(_ACTUATOR, "actuator acceleration", "{q}/s^2"),
    "force": Quantity(_ACTUATOR, "actuator force; a sampled force is held until the next sample", "{f}"),
    "force_bound": Quantity(("time",), "bound of the rounding error of the actuator force", "{f}"),
    "power": Quantity(_ACTUATOR, "actuator power, positive where it drives", "W"),
    "command": Quantity(_ACTUATOR, "force asked of the actuator", "{f}"),
    "needed_force": Quantity(("actuator",), "largest force that the motion needs of the actuator", "{f}"),
    "upper_bound": Quantity(("drive_limit", "actuator"), "guaranteed upper bound at any instant", "SI"),
    "force_part": Quantity(("part", *_ACTUATOR), "share of the actuator force", "{f}"),
    "condition": Quantity(("time",), "condition number of the scaled Jacobian", "1"),
    "distance": Quantity(("time",), "distance to singularity: joints' motion for the platform's least felt one", "1"),
    "limited": Quantity(("time", "limit"), "limited quantity, in its limit_unit", "{limit}"),
    "limit_low": Quantity(("limit",), "least value allowed of a limited quantity", "{limit}"),
    "limit_high": Quantity(("limit",), "greatest value allowed of a limited quantity", "{limit}"),
    "clearance": Quantity(("time", "pair"), "smallest distance of bodies that are kept apart", "m"),
    "reaction_force": Quantity(_JOINT, "reaction on the joint's child, base axes", "N"),
    "reaction_moment": Quantity(_JOINT, "moment of the reaction about the joint's centre, base axes", "N m"),
    "joint_axes": Quantity(
        ("time", "joint", "pivot", "axis"), "free directions of the joint, base axes; NaN where it has fewer", "1"
    ),
    "joint_position": Quantity(
        ("time", "joint_component"), "position of a joint, zero at home unless the file says otherwise", "rad or m"
    ),
    "base_wrench": Quantity(_COMPONENT, "wrench of the robot on its base at the origin of {B}", "N, N m"),
    "shaking": Quantity(
        _COMPONENT, "part of the wrench on the base that motion causes: less what it is at rest in the pose", "N, N m"
    ),
    "base_pose": Quantity(_POSE, "pose of the base in space", "1, m"),
    "base_twist": Quantity(_COMPONENT, "twist of the base in space, base axes", "m/s, rad/s"),
    "joint_travel": Quantity(("time", "joint"), "distance travelled by the joint, forward and back", "rad or m"),
    "internal": Quantity(("time", "internal_coordinate"), "internal coordinate, zero at home", "rad or m"),
    "internal_rate": Quantity(("time", "internal_coordinate"), "rate of an internal coordinate", "rad/s or m/s"),
    "internal_acceleration": Quantity(
        ("time", "internal_coordinate"), "acceleration of an internal coordinate", "rad/s^2 or m/s^2"
    ),
    "internal_error": Quantity(("time", "internal_coordinate"), "desired minus actual internal coordinate", "rad or m"),
    "elastic": Quantity(("time", "mode"), "elastic coordinate", "generalized"),
    "elastic_rate": Quantity(("time", "mode"), "rate of the elastic coordinate", "generalized, 1/s"),
    "frequency": Quantity(("mode",), "natural frequency of the free platform's mode", "rad/s"),
    "deflection": Quantity(
        ("time", "leg", "axis"), "displacement of a leg's attachment point on the platform, platform axes", "m"
    ),
    "origin_deflection": Quantity(
        ("time", "axis"), "displacement of the platform's point at its origin, platform axes", "m"
    ),
    "reference_pose": Quantity(_POSE, "pose wanted", "1, m"),
    "error": Quantity(_COMPONENT, "wanted less actual pose (rotation vector)", "m, rad"),
    "energy_kinetic": Quantity(("time",), "kinetic energy", "J"),
    "energy_potential": Quantity(("time",), "potential energy of gravity", "J"),
    "energy_elastic": Quantity(("time",), "elastic energy of the platform", "J"),
    "energy_springs": Quantity(("time",), "energy of springs in place of actuators", "J"),
    "energy_residual": Quantity(("time",), "energy not accounted for by work and losses", "J"),
    "work_actuators": Quantity(("time",), "work of the actuators", "J"),
    "work_external": Quantity(("time",), "work of the external wrench", "J"),
    "work_base": Quantity(("time",), "work of the moving base on the robot, in space", "J"),
    "work_friction": Quantity(("time",), "energy lost in friction and damping", "J"),
    "end_time": Quantity((), "time at which the run ended", "s"),
    "end_reason": Quantity((), "why the run ended, in words", ""),
    "event_time": Quantity(("event",), "time of the event", "s"),
    "event_kind": Quantity(("event",), "kind of the event", ""),
    "event_leg": Quantity(("event",), "leg or actuator of the event", ""),
    "event_text": Quantity(("event",), "the event in words", ""),
}
"""Every variable that a result can have; new ones are a line here."""


def dataset(
    model: Model,
    time: Array,
    values: Mapping[str, ArrayLike],
    labels: Mapping[str, tuple[str, ArrayLike]] | None = None,
    about: Mapping[str, Any] | None = None,
    lead: tuple[str, ...] = (),
) -> xr.Dataset:
    """A labelled result: variables of ``QUANTITIES`` over time, with units.

    Dimensions are labelled: ``actuator`` (with ``actuator_leg`` and the units ``actuator_unit`` and ``force_unit`` of
    each), ``leg``, ``component``, ``axis``, ``mode``.

    Parameters
    ----------
    model : Model
        Model of the robot.
    time : ndarray, shape (n,)
        Times [s].
    values : mapping of str to array_like
        Variables by name.
    labels : mapping of str to (str, array_like), optional
        Dimension and values of further labels, by name.
    about : mapping of str to value, optional
        Further attributes.
    lead : tuple of str, optional
        Dimensions of a batch, which come first; variables without these axes are those of all.

    Returns
    -------
    xarray.Dataset
        The result.
    """
    import xarray as xr

    q, force = units(model)
    limit = " or ".join(dict.fromkeys(map(str, np.ravel((labels or {}).get("limit_unit", ("", []))[1]))))
    variables = {}
    for name, value in values.items():
        known = QUANTITIES[name]
        unit = known.unit.format(q=q, f=force, limit=limit)
        dims = (*lead, *known.dims) if np.ndim(value) > len(known.dims) else known.dims
        variables[name] = (dims, value, {"long_name": known.text, **({"units": unit} if unit else {})})
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    actuators = model.actuators
    coordinates: dict[str, Any] = {
        "time": ("time", time, {"long_name": "time", "units": "s"}),
        "actuator": [actuator.name for actuator in actuators],
        "actuator_leg": ("actuator", [actuator.leg for actuator in actuators]),
        "actuator_unit": ("actuator", [actuator.unit for actuator in actuators]),
        "force_unit": ("actuator", [actuator.force_unit for actuator in actuators]),
        "component": list(COMPONENTS),
        "leg": list(model.legs),
    }
    if "axis" in used:
        coordinates["axis"] = list(AXES)
    if "mode" in used:
        coordinates["mode"] = np.arange(1, model.modes.count + 1)
    attributes = {"robot": model.robot.name, "conventions": CONVENTIONS, **(about or {})}
    attributes["robot_file"] = _robot_text(model.robot)
    attributes["polypod_version"] = _version()
    return xr.Dataset(variables, {**coordinates, **(labels or {})}, attributes)


def joint_component_labels(model: Model) -> dict[str, tuple[str, ArrayLike]]:
    """Labels of ``joint_position``: ``leg.joint`` (``leg.joint.component`` where it has several) and its unit.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to (str, list of str)
        Dimension and values by name.
    """
    from .model.joints import component_names, component_units

    if not model.joints:
        return {}
    return {
        "joint_component": ("joint_component", list(component_names(model.joints))),
        "joint_component_unit": ("joint_component", list(component_units(model.joints))),
    }


def units(model: Model) -> tuple[str, str]:
    """Units of actuated coordinates and of forces; both kinds where a robot has both.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    coordinates : str
        Unit of the coordinates, such as ``m`` or ``m or rad``.
    forces : str
        Unit of the forces.
    """
    coordinates = dict.fromkeys(actuator.unit for actuator in model.actuators)
    forces = dict.fromkeys(actuator.force_unit for actuator in model.actuators)
    return " or ".join(coordinates), " or ".join(forces)


_robots: dict[str, Robot] = {}
_MAX_ROBOTS = 32


def internal_of(result: xr.Dataset, rows: Any) -> Array | None:
    """Internal coordinates (n, k) at some rows of a result; None for a robot without."""
    return result["internal"].values[rows] if "internal" in result else None


def robot_of(result: xr.Dataset) -> Robot:
    """The robot of a result, as its attributes describe it.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study`` or ``polypod.simulate``.

    Returns
    -------
    Robot
        The robot.
    """
    text = result.attrs.get("robot_file", "")
    robot = _robots.get(text)
    if robot is None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # whoever computed the result was warned
                robot = loads(text)
        except RobotFileError as error:
            writer = result.attrs.get("polypod_version", "another version")
            raise InputError(
                f"result: polypod {writer} wrote it, and polypod {_version()} cannot read its robot (for a leg "
                f"kind of your own import its module first); otherwise make it again. {error.faults[0]}"
            ) from error
        _remember(text, robot)
    return robot


def _robot_text(robot: Robot) -> str:
    """The file of a robot as text, written once and remembered: ``robot_of`` need not read it."""
    known = next((text for text, own in tuple(_robots.items()) if own is robot), None)
    text = dumps(robot) if known is None else known
    _remember(text, robot)
    return text


def _remember(text: str, robot: Robot) -> None:
    _robots[text] = robot
    for oldest in tuple(_robots)[:-_MAX_ROBOTS]:  # of a copy: other threads may change it
        _robots.pop(oldest, None)


def save_result(result: xr.Dataset, path: str | Path, force: bool = False) -> Path:
    """Write a result as netCDF 3, which any reader of the format opens.

    The attribute ``sha256`` is a digest of all values and texts, by which ``load_result`` verifies it.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study`` or ``polypod.simulate``.
    path : str or Path
        File to write.
    force : bool, optional
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The file.
    """
    labels = {str(name): set(result[name].dims) for name in result.coords if name not in result.dims}
    variables, unclaimed = {}, set(labels)
    for name, array in result.variables.items():
        # the CF convention for labels beside a dimension's own: whoever has their dimensions names them
        own = [] if name in result.coords else [label for label, dims in labels.items() if dims <= set(array.dims)]
        unclaimed -= set(own)
        about = {**array.attrs, **({"coordinates": " ".join(own)} if own else {})}
        variables[str(name)] = Variable([str(dim) for dim in array.dims], array.values, about)
    rest = {"coordinates": " ".join(sorted(unclaimed))} if unclaimed else {}
    atomic_write(Path(path), netcdf(variables, {**result.attrs, _DIGEST: digest(result), **rest}), force)
    return Path(path)


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result from a file.

    Parameters
    ----------
    path : str or Path
        File that ``save_result`` wrote.

    Returns
    -------
    xarray.Dataset
        The result.

    Raises
    ------
    InputError
        If the file is truncated or was changed since it was written.
    """
    import xarray as xr

    damaged = f"{path}: not a polypod result, or damaged; compute it again"
    try:
        with xr.open_dataset(path, engine="scipy", decode_times=False) as opened:
            result = opened.load()
        for name in [name for name in result.variables if result[name].dtype.kind in "SO"]:
            result[name] = result[name].astype(str)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}; check its name and folder") from error
    except Exception as error:  # SciPy's reader fails in many ways on bytes that are no netCDF
        raise InputError(damaged, code="damaged") from error
    written = result.attrs.pop(_DIGEST, None)
    if written is not None and written != digest(result):
        raise InputError(
            f"{path}: was changed after polypod wrote it (its sha256 differs); compute it again", code="damaged"
        )
    return result


def digest(result: xr.Dataset) -> str:
    """SHA-256 of the names, numbers and texts of a result, whatever types a file stores them as.

    Parameters
    ----------
    result : xarray.Dataset
        The result.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    total = hashlib.sha256()
    for name in sorted(map(str, result.variables)):
        variable = result[name]
        total.update(f"{name} {variable.dims} {variable.shape}\n".encode())
        values = variable.values
        if values.dtype.kind in "biuf":
            total.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        else:
            total.update("\0".join(map(str, values.ravel().tolist())).encode())
        total.update(_attribute_bytes(variable.attrs))
    total.update(_attribute_bytes(result.attrs))
    return total.hexdigest()


def _attribute_bytes(attributes: Mapping[Any, Any]) -> bytes:
    """Attributes in the order of their names, numbers as doubles, without the digest itself."""
    lines = []
    for key in sorted(map(str, attributes)):
        if key != _DIGEST:
            values = np.ravel(attributes[key]).tolist()
            lines.append(f"{key}={[float(x) if isinstance(x, (bool, int, float)) else str(x) for x in values]}")
    return "\n".join(lines).encode()


def _version() -> str:
    from . import __version__

    return __version__


__all__ = [
    "QUANTITIES",
    "Quantity",
    "dataset",
    "digest",
    "load_result",
    "robot_of",
    "save_result",
    "units",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
