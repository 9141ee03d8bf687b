"""What a linkage is between its motors and the robot's coordinates, such as a humanoid's ankle: a table over these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..datasets import CONVENTIONS
from ..errors import InputError
from ..model import Model
from .workspace import travel

if TYPE_CHECKING:
    import xarray as xr

POINTS = {1: 181, 2: 41, 3: 15, 4: 9, 5: 6}
"""Points of each coordinate unless given, by the number of coordinates."""


def transmission(
    model: Model,
    axes: Mapping[str, ArrayLike] | None = None,
    wrench: ArrayLike | None = None,
    friction: bool = False,
) -> xr.Dataset:
    """Motors, Jacobian, reflected inertia and holding forces of a robot of fewer than six degrees of freedom.

    With q(x) the motors at the coordinates x, J = dq/dx: qdot = J xdot, forces f of the motors act on the coordinates
    as J^T f, and the kinetic energy is xdot^T I(x) xdot / 2 with the inertia I of the whole robot, rotors included.
    The C function ``transmission`` gives the same at one state (``polypod export c ROBOT transmission``).

    Parameters
    ----------
    model : Model
        Model of the robot.
    axes : mapping of str to array_like, optional
        Values of each coordinate [m, rad], by its name. Default: over its travel from home.
    wrench : array_like, shape (6,), optional
        External wrench on the platform at the origin of {P}, base axes [N, N m].
    friction : bool, optional
        Whether friction in the joints is included in the holding forces.

    Returns
    -------
    xarray.Dataset
        Over the coordinates: ``q`` (actuator), ``jacobian`` (actuator, coordinate), ``inertia`` (coordinate,
        coordinate_), ``force`` (actuator) that holds the robot at rest, ``use`` of the limit that is used most at rest
        and ``limiting``, its name. NaN where the legs do not reach. ``to_dataframe()`` makes a table of it.

    Raises
    ------
    InputError
        If the robot has six degrees of freedom.

    Examples
    --------
    >>> table = transmission(Model("ankle"), {"pitch": [0.0, 0.1], "roll": [0.0]})
    >>> table.jacobian.shape
    (2, 1, 2, 2)
    """
    import xarray as xr

    names = [one.name for one in model.robot.dof]
    if not names:
        raise InputError(
            f"transmission: {model.robot.name!r} has six degrees of freedom; use jacobian and mass_matrix of the model"
        )
    values = {name: np.atleast_1d(np.asarray(v, dtype=float)) for name, v in (axes or {}).items()}
    unknown = [name for name in values if name not in names]
    if unknown:
        raise InputError(f"axes: {unknown[0]!r} is no coordinate of {model.robot.name!r}; there are {', '.join(names)}")
    if len(values) < len(names):
        found = travel(model, combined=[])
        for k, name in enumerate(names):
            low, high = float(found.low[k]), float(found.high[k])
            values.setdefault(name, np.linspace(low, high, POINTS[len(names)]))
    x = np.stack(np.meshgrid(*(values[name] for name in names), indexing="ij"), axis=-1)
    still = np.zeros_like(x)
    state = model.motion(x, still, still, errors="nan")
    good = np.isfinite(state.pose).all(axis=(-2, -1))
    flat = state.pose[good]
    units = [one.unit for one in model.actuators]
    rate = model.rate_map(flat)
    jacobian = model.jacobian(flat, errors="nan") @ rate
    inertia = np.swapaxes(rate, -1, -2) @ model.mass_matrix(flat, errors="nan") @ rate
    rest = np.zeros((len(flat), 6))
    force = model.inverse_dynamics(flat, rest, rest, wrench=wrench, friction=friction, errors="nan")
    report = model.limits(flat, rest, rest, wrench, friction=friction)
    use = np.concatenate([np.zeros((len(flat), 1)), report.use], axis=-1)
    limits = np.array(["", *(": ".join(name) for name in report.names)])
    parts: dict[str, tuple[tuple[str, ...], Any, dict[str, str]]] = {
        "q": (("actuator",), model.inverse_kinematics(flat, errors="nan"), {"long_name": "actuated coordinates"}),
        "jacobian": (("actuator", "coordinate"), jacobian, {"long_name": "dq/dx"}),
        "inertia": (("coordinate", "coordinate_"), inertia, {"long_name": "inertia at the coordinates"}),
        "force": (("actuator",), force, {"long_name": "actuator forces at rest"}),
        "use": ((), np.nanmax(use, axis=-1), {"long_name": "use of the limit used most, at rest", "units": "1"}),
    }
    data: dict[str, Any] = {}
    for name, (dims, rows, about) in parts.items():
        whole = np.full((*good.shape, *rows.shape[1:]), np.nan)
        whole[good] = rows
        data[name] = ((*names, *dims), whole, about)
    limiting = np.full(good.shape, "", dtype=limits.dtype)
    limiting[good] = limits[np.nanargmax(use, axis=-1)]
    data["limiting"] = (tuple(names), limiting, {"long_name": "limit used most, at rest"})
    coordinates = {**values, "actuator": [one.name for one in model.actuators], "coordinate": names}
    coordinates |= {"coordinate_": names, "unit": ("actuator", units)}
    return xr.Dataset(data, coordinates, {"robot": model.robot.name, "conventions": CONVENTIONS})
