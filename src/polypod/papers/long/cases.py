"""Long, Khalil and Martinet: the plate, the robot on it, and the simulations of section 6, computed once each.

Along the desired path the N elastic coordinates are all there is to integrate: Runge and Kutta's method of fourth
order with fixed steps; half the step changes the elastic coordinates by 2e-8 of their size.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...description import Body, Integrals, Modes, Robot
from ...description.modes import Plate
from ...errors import InputError, UnphysicalWarning
from ...files import load
from ...model import Model
from ...motion import Motion, Published
from ...plates.plate import plate_modes
from ...simulation import follow
from ...symbols.integration import RK4
from ..shared.arrays import peak_ratio, skew, times
from . import printed as eq

Stiffness = Literal["table-2", "computed"]
Start = Literal["equilibrium", "zero"]
SAMPLE = 2.5e-3
"""Between two rows of a result [s]."""

THICKNESS = 0.015
_STEP = 0.5e-3
_NO_WRENCH = np.zeros((1, 6))


@cache
def robot() -> Robot:
    """The robot of Tables 3 and 4."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        return load("long")


@cache
def modes(stiffness: Stiffness = "table-2", damping_ratio: float = 0.4) -> Modes:
    """Ten modes of the hexagon, with Table 2's stiffness or that computed with them."""
    found = replace(_computed(), damping_ratio=np.full(10, damping_ratio))
    return found if stiffness == "computed" else found.with_stiffness(TABLE_2_STIFFNESS)


@cache
def _computed() -> Modes:
    return hexagon_modes(10)


@cache
def model(stiffness: Stiffness = "table-2", damping_ratio: float = 0.4, times_stiffer: float = 1.0) -> Model:
    """The robot on them."""
    found = modes(stiffness, damping_ratio)
    return Model(robot().on_modes(found.with_stiffness(times_stiffer * found.stiffness)))


@cache
def rigid() -> Model:
    """The same robot on the same plate, which does not bend."""
    plate = Integrals.of(modes())
    data = {"mass": plate.mass, "inertia": tuple(map(tuple, plate.inertia)), "about": "origin"}
    return Model(robot().model_copy(update={"platform": Body.model_validate(data)}))


def home() -> Array:
    """The pose of Table 4 (4, 4)."""
    return robot().home.matrix


@dataclass(frozen=True)
class PlateRun:
    """A simulation: the desired motion, elastic coordinates and rates (T, N), actuator forces (T, 6)."""

    motion: Motion
    elastic: Array
    rate: Array
    force: Array

    @property
    def time(self) -> Array:
        """Times (T,) [s]."""
        return self.motion.time

    @property
    def shape(self) -> dict[str, Any]:
        """The platform's shape and how it changes, as the model's functions take them."""
        return self.every(1).shape

    def every(self, count: int) -> eq.State:
        """One state in ``count``, for the paper's equations."""
        return eq.State(Motion(*(part[::count] for part in self.motion)), self.elastic[::count], self.rate[::count])


@cache
def run(
    stiffness: Stiffness = "table-2", start: Start = "equilibrium", damping_ratio: float = 0.4, step: float = _STEP
) -> PlateRun:
    """Fig. 3 with the inverse model: forces and elastic coordinates for the desired motion."""
    trajectory = Published(name="long-example")
    times = trajectory.even_times(round(trajectory.duration / SAMPLE) + 1)
    elastic = None if start == "equilibrium" else np.zeros(modes().count)
    found = follow(model(stiffness, damping_ratio), trajectory, times, friction=False, elastic=elastic, step=step)
    return PlateRun(found.motion, found.elastic, found.elastic_rate, found.force)


def path(count: int) -> Motion:
    """The desired motion at evenly spaced times."""
    trajectory = Published(name="long-example")
    return trajectory.at(trajectory.even_times(count))


@dataclass(frozen=True)
class Followed:
    """What the direct model did: the frame's pose (T, 4, 4), acceleration (T, 6) and elastic coordinates (T, N)."""

    pose: Array
    acceleration: Array
    elastic: Array


@cache
def followed(feedback: bool, step: float = 1e-3) -> Followed:
    """Fig. 3 with both models: the direct one is integrated, driven by the inverse one's forces.

    With ``feedback`` the inverse model takes the simulated state, as in Fig. 3; without it the desired one, so that
    nothing holds the simulated robot on its path.
    """
    robot_, n = model(), modes().count
    inverse, direct = robot_.kernel("inverse_dynamics"), robot_.kernel("direct_dynamics")
    trajectory = Published(name="long-example")
    steps = round(trajectory.duration / step)
    _, pose, twist, acceleration = map(np.ascontiguousarray, trajectory.at(trajectory.even_times(2 * steps + 1)))
    rest = robot_.static_equilibrium(home()).elastic
    accelerations: dict[int, Array] = {}

    def slope(time: float, y: Array) -> Array:
        at = round(2 * time / step)
        now, speed = y[None, :16].reshape(1, 4, 4), y[None, 16:22].copy()
        elastic, rate = y[None, 22 : 22 + n].copy(), y[None, 22 + n : 22 + 2 * n].copy()
        rows = slice(at, at + 1)
        if feedback:
            state = now.copy(), speed, elastic, rate
        else:
            desired = y[None, 22 + 2 * n :]
            state = pose[rows], twist[rows], desired[:, :n].copy(), desired[:, n:].copy()
        force, wanted, _ = inverse(*state, acceleration[rows], _NO_WRENCH)
        moved, bending, _ = direct(now.copy(), speed, elastic, rate, force, _NO_WRENCH)
        accelerations[at] = moved[0]  # the last call at a time is that of the state kept
        turn = np.zeros((4, 4))
        turn[:3, :3], turn[:3, 3] = skew(speed[0, 3:]) @ now[0, :3, :3], speed[0, :3]
        return np.concatenate([turn.ravel(), moved[0], rate[0], bending[0], y[22 + 3 * n :], wanted[0]])

    y = np.concatenate([pose[0].ravel(), twist[0], rest, np.zeros(n), rest, np.zeros(n)])
    rows = [y]
    for k in range(steps):
        y = RK4.advance(slope, k * step, y, step)
        frame = y[:16].reshape(4, 4)  # a view: the rotation stays one, to rounding
        frame[:3, :3] = frame[:3, :3] @ (1.5 * np.eye(3) - 0.5 * frame[:3, :3].T @ frame[:3, :3])
        rows.append(y)
    slope(steps * step, y)
    found = np.array(rows)
    felt = np.array([accelerations[2 * k] for k in range(steps + 1)])
    return Followed(found[:, :16].reshape(-1, 4, 4), felt, found[:, 22 : 22 + n])


@dataclass(frozen=True)
class Fall:
    """The robot let go: times (T,) and kinetic, gravity's and elastic energy (T,) [J]."""

    time: Array
    kinetic: Array
    potential: Array
    elastic: Array

    @property
    def drift(self) -> Array:
        """Change of the sum over the largest kinetic energy, (T,)."""
        total = self.kinetic + self.potential + self.elastic
        drift: Array = (total - total[0]) / self.kinetic.max()
        return drift


@cache
def fall(duration: float = 0.2, tolerance: float = 1e-10) -> Fall:
    """No damping and no actuation: from static equilibrium in the pose of Table 4 the robot falls and vibrates."""
    robot_, n = model(damping_ratio=0.0), modes().count
    kernel = robot_.kernel("direct_dynamics")

    def slope(t: float, y: Array) -> Array:
        now, speed = y[None, :16].reshape(1, 4, 4), y[None, 16:22].copy()
        elastic, rate = y[None, 22 : 22 + n].copy(), y[None, 22 + n :].copy()
        moved, bending, _ = kernel(now.copy(), speed, elastic, rate, _NO_WRENCH, _NO_WRENCH)
        turn = np.zeros((4, 4))
        turn[:3, :3], turn[:3, 3] = skew(speed[0, 3:]) @ now[0, :3, :3], speed[0, :3]
        return np.concatenate([turn.ravel(), moved[0], rate[0], bending[0]])

    start = np.concatenate([home().ravel(), np.zeros(6), robot_.static_equilibrium(home()).elastic, np.zeros(n)])
    found = solve_ivp(slope, (0.0, duration), start, method="DOP853", rtol=tolerance, atol=tolerance, first_step=1e-4)
    y = found.y.T
    shape: dict[str, Any] = {"elastic": y[:, 22 : 22 + n], "elastic_rate": y[:, 22 + n :]}
    energy = robot_.energy(y[:, :16].reshape(-1, 4, 4), y[:, 16:22], **shape)
    return Fall(found.t, *energy)


@cache
def system(*equations: str) -> eq.System:
    """(41)-(49) along the path, with equations taken at their word."""
    return eq.system(modes(), states(), frozenset(equations))


def states() -> eq.State:
    """States of the run, 20 ms apart."""
    return run().every(8)


@cache
def forces(*equations: str) -> Array:
    """Actuator forces along the path by the paper's equations (T, 6) [N]."""
    return system(*equations).inverse(states().motion.acceleration)[0]


def error(*equations: str) -> float:
    """Largest force error along the path over the largest force if equations are taken at their word [%]."""
    return 100 * peak_ratio(forces(*equations) - forces(), forces())


def at_points(shapes: Array, elastic: Array) -> Array:
    """Deformation (T, ..., 3) in platform axes at points with shapes (..., 3, N)."""
    return np.moveaxis(times(shapes[..., None, :, :], elastic), -2, 0)


# ----------------------------------------------------------------------------------------------------------------------
# The hexagonal plate of Long, Khalil and Martinet (section 6.1), and its modes beside those of their Table 2.

TABLE_2_STIFFNESS: tuple[float, ...] = (
    35625.55, 35625.63, 99677.16, 160816.0, 225384.5, 503473.4, 503505.8, 686059.1, 686091.1, 1717622.0,
)  # fmt: skip
TABLE_2_FREQUENCY: tuple[float, ...] = (
    188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814, 828.2868, 828.3062, 1310.581,
)  # fmt: skip
_FIRST_ELASTIC = 7  # the table counts the six rigid modes


def hexagon_points() -> Array:
    """Attachment points p_1 to p_6, (6, 3) [m]: corners of the hexagon of circumradius 0.5 m, p_1 at -120 deg."""
    angles = np.radians(60.0 * np.arange(6) - 120.0)
    return np.column_stack([0.5 * np.cos(angles), 0.5 * np.sin(angles), np.zeros(6)])


def hexagon_plate() -> Plate:
    """The plate of section 6.1: E 2e10 Pa, thickness 15 mm, 7500 kg/m^3; Poisson's ratio 0.3 is not in the paper."""
    return Plate(hexagon_points()[:, :2], thickness=0.015, young=2e10, poisson=0.3, density=7500.0)


def hexagon_modes(
    count: int = 10,
    stiffness: Literal["computed", "table-2"] = "computed",
    damping_ratio: float = 0.4,
    tolerance: float = 1e-3,
) -> Modes:
    """Modes of the hexagon, with the stiffness computed with them or that of Table 2 (at most ten modes).

    Ten modes, as in the paper, cut the pair 16, 17; nine or eleven keep the symmetry. Table 2 gives the damping
    ratio 0.4, far above a bare metal plate.
    """
    if stiffness not in ("computed", "table-2"):
        raise InputError(f"stiffness: got {stiffness!r}, allowed are 'computed' and 'table-2'")
    if stiffness == "table-2" and count > len(TABLE_2_STIFFNESS):
        raise InputError(f"count: got {count}, but Table 2 has {len(TABLE_2_STIFFNESS)} modes")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="modes: the frequencies of modes", category=UserWarning)
        modes = plate_modes(hexagon_plate(), hexagon_points(), count, damping_ratio=damping_ratio, tolerance=tolerance)
    return modes if stiffness == "computed" else modes.with_stiffness(TABLE_2_STIFFNESS[:count])


class Row(NamedTuple):
    """One mode: its number, frequency in Table 2 and computed [rad/s], and table / computed - 1."""

    mode: int
    table_2: float
    computed: float
    deviation: float


def compare_table_2(modes: Modes | None = None) -> tuple[Row, ...]:
    """Table 2 beside computed frequencies, one row for each of its modes (computes ten modes if none are given).

    Modes 14 to 16 of the table lie 9 % above the converged plate; the others agree within 1 %.
    """
    computed = (hexagon_modes() if modes is None else modes).frequencies
    pairs = zip(TABLE_2_FREQUENCY, computed.tolist(), strict=False)
    return tuple(Row(_FIRST_ELASTIC + i, table, own, table / own - 1.0) for i, (table, own) in enumerate(pairs))
