"""``python -m bench.library``: inverse dynamics of every robot of the library beside Pinocchio's rnea on its open tree.

rnea alone, without closing a loop, is less than any inverse dynamics on a tree needs. Both rivals run in one process
and take turns; the tree's answer is compared first: its weight at home, projected through the loops, must be held by
the same forces.
"""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple

import numpy as np

from bench.peers.pinocchio.linkage import LinkageTree
from bench.states import Array, relative_difference
from bench.timing import take_turns
from polypod.errors import UnphysicalWarning
from polypod.files import library
from polypod.model import Model

BATCH = 8192
WRONG = 1e-8


class Compared(NamedTuple):
    """Best times of a state [s], how far both are from each other at home, operations of the kernel."""

    robot: str
    kernel: float
    rnea: float
    difference: float
    operations: int

    @property
    def ratio(self) -> float:
        """How many times faster the kernel is."""
        return self.rnea / self.kernel


def compare(name: str, seconds: float = 2.0) -> Compared:
    """A robot of the library, batch of states around home on one thread against one call of rnea after the other."""
    import pinocchio as pin

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        model = Model(name).rigid
    tree, got, wanted = LinkageTree(model.robot), *_held(model)
    pose, twist, acceleration = around_home(model)
    kernel = model.kernel("inverse_dynamics", False)
    # no external wrench; where there are more actuators than degrees of freedom, equal weights and no preload
    rest = [np.full((1, *p.shape), 1.0 if p.name == "weights" else 0.0) for p in kernel.inputs[3:]]
    outputs = kernel(pose, twist, acceleration, *rest, threads=1)
    random = np.random.default_rng(0)
    v, a = random.normal(size=(2, tree.model.nv))
    q = pin.integrate(tree.model, tree.q, 0.1 * v)
    rivals = {
        "kernel": lambda: kernel(pose, twist, acceleration, *rest, out=outputs, threads=1),
        "rnea": lambda: pin.rnea(tree.model, tree.data, q, v, a),
    }
    times = take_turns(rivals, seconds)
    difference = relative_difference(got, wanted)
    return Compared(name, times["kernel"].best / BATCH, times["rnea"].best, difference, kernel.operations)


def _held(model: Model) -> tuple[Array, Array]:
    """Forces that hold the robot at home by Pinocchio and by polypod; gravity is oblique, so that all have to."""
    oblique = Model(model.robot.model_copy(update={"gravity": (2.0, -3.0, -9.0)}))
    still = np.zeros(6)
    forces = oblique.inverse_dynamics(oblique.robot.home.matrix, still, still, friction=False)
    return LinkageTree(oblique.robot).holding_forces(), forces


def around_home(model: Model) -> tuple[Array, Array, Array]:
    """Poses (n, 4, 4), twists and accelerations (n, 6) that the robot can make, within 2 % of its size of home."""
    random, robot = np.random.default_rng(1), model.robot
    m = len(robot.dof) or 6
    x, xdot, xddot = 0.02 * random.uniform(-1, 1, (BATCH, m)), *random.normal(size=(2, BATCH, m))
    if robot.dof:
        turns = np.array([coordinate.motion == "rotation" for coordinate in robot.dof])
        return tuple(model.motion(x * np.where(turns, 1.0, model.size), xdot, xddot))  # type: ignore[return-value]
    pose = np.tile(robot.home.matrix, (BATCH, 1, 1))
    pose[:, :3, 3] += model.size * x[:, :3]
    return pose, xdot, xddot


def main(names: list[str]) -> None:
    """Print a line for each robot."""
    print(f"{'robot':<14}{'kernel':>10}{'rnea':>10}{'ratio':>9}{'operations':>12}{'difference':>12}")
    for name in names or library():
        row = compare(name)
        kept = f"{row.ratio:8.1f}x" if row.difference < WRONG else "   differs"
        times = f"{1e6 * row.kernel:8.3f}us{1e6 * row.rnea:8.3f}us"
        print(f"{name:<14}{times}{kept}{row.operations:>12,}{row.difference:>12.1e}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
