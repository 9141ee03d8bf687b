"""Stick and slip of actuated joints with drag, event by event: SciPy between events, all cases tried at each.

Shares nothing with polypod's own treatment of friction: of a model it takes the mass matrix, the accelerations without
friction, the Jacobian and the rates of the actuated joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polypod as pp

Array = NDArray[np.float64]
# A difference in time [s] for d(qdot)/dt: rounding 1e-16/1e-6 and curvature 1e-12 are both far below what is compared.
_DT = 1e-6


@dataclass
class EventDriven:
    """A robot whose actuated joints have ``drag`` (n,) [N]; ``force(t)`` and no other friction.

    At rest they hold ``static`` times as much, and in motion it falls over the rate ``stribeck`` (0: at once). The
    robot's twists are ``basis`` (6, m) times its own velocity.
    """

    model: pp.Model
    drag: Array
    force: Callable[[float], Array]
    static: float = 1.0
    stribeck: float = 0.0
    basis: Array = field(default_factory=lambda: np.eye(6))

    def _pose(self, y: Array) -> Array:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = Rotation.from_quat(y[3:7] / np.linalg.norm(y[3:7])).as_matrix(), y[:3]
        return pose

    def _rates(self, y: Array) -> Array:
        return self.model.rates(self._pose(y), y[7:])

    def _drift(self, y: Array) -> Array:
        """d(qdot)/dt at a twist that does not change."""
        moved = []
        for dt in (_DT, -_DT):
            z = y.copy()
            z[:3] += dt * y[7:10]
            z[3:7] = (Rotation.from_rotvec(dt * y[10:]) * Rotation.from_quat(y[3:7])).as_quat()
            moved.append(self._rates(z))
        return (moved[0] - moved[1]) / (2 * _DT)

    def acceleration(self, t: float, y: Array, modes: Array, held: Array) -> tuple[Array, Array, Array]:
        """Acceleration (6,), friction (n,) and joint accelerations (n,); modes are signs, held joints do not move."""
        pose, twist = self._pose(y), y[7:]
        jacobian, mass = self.model.jacobian(pose), self.model.mass_matrix(pose)
        free = self.basis.T @ self.model.direct_dynamics(pose, twist, self.force(t), friction=False)
        fall = np.exp(-((self._rates(y) / self.stribeck) ** 2)) if self.stribeck else 0.0
        friction = np.where(held, 0.0, modes * self.drag * (1 + (self.static - 1) * fall))
        give = np.linalg.solve(mass, jacobian.T)
        drift = self._drift(y)
        if held.any():
            without = jacobian @ (free - give @ friction) + drift
            friction[held] = np.linalg.solve((jacobian @ give)[np.ix_(held, held)], without[held])
        found = free - give @ friction
        return self.basis @ found, friction, jacobian @ found + drift

    def choose(self, t: float, y: Array, resting: Array, modes: Array) -> tuple[Array, Array]:
        """Modes and which joints hold: the one case of those at rest that breaks no law."""
        places = np.flatnonzero(resting)
        for case in sorted(product((0, 1, -1), repeat=len(places)), key=np.count_nonzero):
            trial, held = modes.copy(), np.zeros(len(modes), dtype=bool)
            trial[places] = case
            held[places] = np.array(case) == 0
            _, friction, change = self.acceleration(t, y, trial, held)
            slides = places[np.array(case) != 0]
            enough = np.abs(friction[held]) <= self.static * self.drag[held]
            if enough.all() and (trial[slides] * change[slides] > 0).all():
                return trial, held
        raise AssertionError("no case fits")

    def run(self, pose: Array, twist: Array, duration: float) -> tuple[Array, Array, list[float]]:
        """Pose (4, 4) and twist (6,) after a time, and when joints came to rest or started."""
        y = np.concatenate([pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_quat(), twist])
        t, times = 0.0, []
        rates = self._rates(y)
        modes, resting = np.sign(rates), np.abs(rates) < 1e-12
        while t < duration:
            modes, held = self.choose(t, y, resting, modes)

            def slope(time: float, z: Array, modes: Array = modes, held: Array = held) -> Array:
                omega = z[10:]
                q = z[3:7]
                turn = 0.5 * np.append(q[3] * omega + np.cross(omega, q[:3]), -omega @ q[:3])
                return np.concatenate([z[7:10], turn, self.acceleration(time, z, modes, held)[0]])

            def event(k: int, held: Array = held, modes: Array = modes, t: float = t) -> Callable[..., float]:
                def breaks(time: float, z: Array) -> float:
                    return float(self.static * self.drag[k] - abs(self.acceleration(time, z, modes, held)[1][k]))

                def stops(time: float, z: Array) -> float:
                    # a joint that starts from rest is not at its end yet
                    return float(self._rates(z)[k] * modes[k] + (1e-9 if time - t < 1e-6 else 0.0))

                found: Any = breaks if held[k] else stops
                found.terminal, found.direction = True, -1
                return cast(Callable[..., float], found)

            events = [event(k) for k in range(len(modes))]
            solved = solve_ivp(slope, (t, duration), y, "DOP853", events=events, rtol=1e-10, atol=1e-12)
            y, t = solved.y[:, -1], float(solved.t[-1])
            times.append(t)
            resting = held | np.array([len(found) > 0 for found in solved.t_events])
            if held.all() and t >= duration:
                break
        return self._pose(y), y[7:], times
