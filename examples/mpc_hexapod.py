"""Model-predictive control of a hexapod: 12 states, 15 periods of 10 ms, bounded forces, one QP a period.

    python mpc_hexapod.py [FOLDER]

Each period linearises the discrete step of the model (``model.step``: A and B, rotations included) along the last
prediction and solves one quadratic program with OSQP (the real-time iteration). The plant is heavier than the model.
Prints the tracking error, how much of the force bound is used, and processor times of linearisation and QP. Needs the
package ``osqp``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import osqp
import scipy.sparse as sparse
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import polypod as pp

HORIZON, PERIOD, MOST = 15, 0.01, 240.0  # periods, s, N
NX, NU = 12, 6
UNIT = np.r_[np.full(6, 1e-3), np.full(6, 1e-2)]  # mm, mrad and their rates: a QP of numbers of one size
FORCE = 100.0  # N
WEIGHT = np.r_[np.full(3, 4.0), np.full(3, 0.4), np.full(3, 0.02), np.full(3, 0.002)]
EFFORT = 1e-3


def difference(pose: Any, twist: Any, other: Any, other_twist: Any) -> Any:
    """[dp; dtheta; dtwist] (..., 12) that leads from another state to this one, as ``model.step`` counts it."""
    turn = Rotation.from_matrix(pose[..., :3, :3] @ np.swapaxes(other[..., :3, :3], -1, -2)).as_rotvec()
    return np.concatenate([pose[..., :3, 3] - other[..., :3, 3], turn, twist - other_twist], axis=-1)


def displaced(pose: Any, change: Any) -> Any:
    """A pose moved by [dp; dtheta]."""
    moved = pose.copy()
    moved[..., :3, 3] += change[..., :3]
    moved[..., :3, :3] = Rotation.from_rotvec(change[..., 3:6]).as_matrix() @ pose[..., :3, :3]
    return moved


class Controller:
    """Predicts, linearises and solves."""

    def __init__(self, model: pp.Model) -> None:
        self.model, home, still = model, model.robot.home.matrix, np.zeros(6)
        self.force = np.tile(model.inverse_dynamics(home, still, still), (HORIZON, 1))
        self.pose, self.twist = np.tile(home, (HORIZON + 1, 1, 1)), np.zeros((HORIZON + 1, 6))
        self.times: list[tuple[float, float]] = []
        self._solver: Any = None
        # unknowns: dx_0 ... dx_N, df_0 ... df_(N-1); rows: dx_0, dynamics, bounds of forces
        rows, columns = [np.arange((HORIZON + 1) * NX)], [np.arange((HORIZON + 1) * NX)]
        for k in range(HORIZON):
            below = (k + 1) * NX + np.arange(NX)
            for first, count in ((k * NX, NX), ((HORIZON + 1) * NX + k * NU, NU)):
                rows.append(np.repeat(below, count))
                columns.append(np.tile(first + np.arange(count), NX))
        rows.append((HORIZON + 1) * NX + np.arange(HORIZON * NU))
        columns.append((HORIZON + 1) * NX + np.arange(HORIZON * NU))
        self._rows, self._columns = np.concatenate(rows), np.concatenate(columns)
        size = (HORIZON + 1) * NX + HORIZON * NU
        order = sparse.csc_matrix((np.arange(1, len(self._rows) + 1), (self._rows, self._columns)), (size, size))
        self._order, self._size = order.data.astype(int) - 1, size
        self._cost = sparse.diags(np.r_[np.tile(WEIGHT, HORIZON + 1), np.full(HORIZON * NU, EFFORT)]).tocsc()

    def __call__(self, pose: Any, twist: Any, wanted: Any, wanted_twist: Any) -> Any:
        """Forces for the next period, from the measured state and the motion wanted (N + 1 states)."""
        begin = time.process_time()
        step = self.model.step(self.pose[:-1], self.twist[:-1], self.force, PERIOD)
        gap = difference(step.pose, step.twist, self.pose[1:], self.twist[1:])
        error = difference(self.pose, self.twist, wanted, wanted_twist)
        start = difference(pose, twist, self.pose[0], self.twist[0])
        middle = time.process_time()
        parts = [np.r_[np.ones(NX), -np.ones(HORIZON * NX)]]
        for k in range(HORIZON):
            parts += [(step.a[k] * UNIT / UNIT[:, None]).ravel(), (step.b[k] * FORCE / UNIT[:, None]).ravel()]
        values = np.concatenate([*parts, np.ones(HORIZON * NU)])[self._order]
        fixed = np.concatenate([start / UNIT, -(gap / UNIT).ravel()])
        low = np.concatenate([fixed, (-MOST - self.force).ravel() / FORCE])
        high = np.concatenate([fixed, (MOST - self.force).ravel() / FORCE])
        linear = np.concatenate([(WEIGHT * error / UNIT).ravel(), np.zeros(HORIZON * NU)])
        if self._solver is None:
            matrix = sparse.csc_matrix((np.ones(len(self._rows)), (self._rows, self._columns)), (self._size,) * 2)
            matrix.data[:] = values
            self._solver = osqp.OSQP()
            self._solver.setup(self._cost, linear, matrix, low, high, verbose=False, eps_abs=1e-3, eps_rel=1e-3,
                               max_iter=300, rho=1.0, adaptive_rho_interval=50)  # fmt: skip
        else:
            self._solver.update(Ax=values, q=linear, l=low, u=high)
        found = self._solver.solve().x
        self.times.append((middle - begin, time.process_time() - middle))
        change = UNIT * found[: (HORIZON + 1) * NX].reshape(-1, NX)
        moved = FORCE * found[(HORIZON + 1) * NX :].reshape(-1, NU)
        force = np.clip(self.force + moved, -MOST, MOST)
        # the next period starts one later; its last is predicted as the one before
        self.pose, self.twist = displaced(self.pose, change), self.twist + change[:, 6:]
        last = self.model.step(self.pose[-1], self.twist[-1], force[-1], PERIOD, sensitivities=False)
        self.pose = np.concatenate([self.pose[1:], last.pose[None]])
        self.twist = np.concatenate([self.twist[1:], last.twist[None]])
        self.force = np.concatenate([force[1:], force[-1:]])
        return force[0]


def reference(home: Any, t: Any) -> tuple[Any, Any]:
    """Poses and twists of a lateral wave of 20 mm and 1.5 Hz with a heave of 5 mm, from rest."""
    rate, rise = 2 * np.pi * 1.5, 1 - np.exp(-4 * t)
    slope = 4 * np.exp(-4 * t)
    pose, twist = np.tile(home, (len(t), 1, 1)), np.zeros((len(t), 6))
    for axis, amplitude, phase in ((0, 0.02, 0.0), (2, 0.005, 0.5)):
        wave, own = np.sin(rate * t + phase) - np.sin(phase), rate * np.cos(rate * t + phase)
        pose[:, axis, 3] += amplitude * rise * wave
        twist[:, axis] = amplitude * (slope * wave + rise * own)
    return pose, twist


def run(periods: int = 150, mass_error: float = 1.05) -> dict[str, Any]:
    """The closed loop: forces, errors [m] and times [s] of every period."""
    robot = pp.load("hexapod")
    model = pp.Model(robot)
    plant = pp.Model(robot.with_(**{"platform.mass": mass_error * robot.platform.mass}))
    controller, home = Controller(model), robot.home.matrix
    pose, twist, forces, errors = home.copy(), np.zeros(6), [], []
    for k in range(periods):
        wanted = reference(home, PERIOD * (k + np.arange(HORIZON + 1)))
        force = controller(pose, twist, *wanted)
        errors.append(np.linalg.norm(pose[:3, 3] - wanted[0][0, :3, 3]))
        forces.append(force)
        after = plant.step(pose, twist, force, PERIOD, substeps=2, sensitivities=False)
        pose, twist = after.pose, after.twist
    return {"force": np.array(forces), "error": np.array(errors), "times": np.array(controller.times)}


def main(folder: Path | None = None) -> dict[str, Any]:
    """Print and, given a folder, plot."""
    found = run()
    linearise, solve = 1e3 * np.median(found["times"], axis=0)
    print(
        f"tracking error: {1e3 * found['error'][50:].mean():.2f} mm mean, {1e3 * found['error'].max():.2f} mm largest"
    )
    print(f"largest force: {np.abs(found['force']).max():.1f} N of {MOST:.0f} N")
    print(f"a period: {linearise:.2f} ms to linearise, {solve:.2f} ms for the QP (processor time, medians)")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        figure = Figure(figsize=(8, 4), layout="constrained", dpi=150)
        above, below = figure.subplots(2, 1, sharex=True)
        t = PERIOD * np.arange(len(found["force"]))
        above.plot(t, found["force"])
        above.axhline(MOST, color="0.6")
        above.set(ylabel="forces [N]")
        below.plot(t, 1e3 * found["error"])
        below.set(xlabel="time [s]", ylabel="error [mm]")
        figure.savefig(folder / "mpc-hexapod.png")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
