"""Poses within ranges and cones of designs: workspaces to hold, and how large workspaces are, in machine code."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..analysis.workspace.extent import extent
from ..analysis.workspace.pose_coordinates import PoseCoordinates, WorkspaceTest
from ..analysis.workspace.quantities import Quantities
from ..arrays import Array
from ..kernels import Expression, Port, port
from ..kernels.reduction import Folds, ReductionKernel
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..mechanism.dependent_coordinates import motion
from ..model.designs import DesignFunctions

POINTS = {1: 2048, 2: 160, 3: 32}
"""Cells a coordinate of the grid, by displacements, on which a workspace is counted: a volume is right to about 1 %."""
_ROOM = 1.25
"""Size of that grid over the workspace of the robot as it is."""
_DOUBLINGS = 5
"""How often the grid is doubled for a design whose workspace meets its edge."""


def ranges(mechanism: Mechanism) -> Expression:
    """Largest use of a range or cone of a pose: 0 in the middle of all, 1 at the edge of one."""
    pose = mechanism.inputs().pose
    found = Quantities.at(mechanism, pose.symbols)
    use = ca.SX(0)
    for requirement in found.requirements:
        use = ca.fmax(use, 1 - requirement.margin)
    outputs = port("use", use, ()), port("quality", found.closing, ())
    return Expression("ranges", (pose,), outputs, mechanism.port)


def _inside(mechanism: Mechanism) -> Folds:
    """Whether a pose is within all ranges and cones, its legs close and det J has a ``sign``; and so at an ``edge``."""
    pose = mechanism.inputs().pose
    given, outputs = _judged(mechanism, pose.symbols)
    function = Expression("inside", (pose, *given), outputs, mechanism.port)
    return Folds(closed(mechanism, function), ("total", "most", "least"))


def _followed(mechanism: Mechanism) -> Folds:
    """The same of coordinates ``x`` of a platform that follows its legs: each design has a pose of its own there."""
    found = motion(mechanism)
    reached = {p.name: p.symbols for p in found.outputs}
    given, outputs = _judged(mechanism, reached["pose"], reached["quality"])
    inputs = (found.inputs[0], *given)
    function = replace(found, name="inside_followed", inputs=inputs, outputs=outputs)
    return Folds(function, ("total", "most", "least"))


def _judged(
    mechanism: Mechanism, pose: ca.SX, quality: ca.SX | None = None
) -> tuple[tuple[Port, Port], tuple[Port, ...]]:
    """Inputs ``sign`` and ``edge`` and outputs of what says whether a pose, of a ``quality``, is inside."""
    sign, edge = (Port(name, ca.SX.sym(name), ()) for name in ("sign", "edge"))
    found = Quantities.at(mechanism, pose)
    closing = found.closing if quality is None else ca.fmin(found.closing, quality)
    inside = ca.logic_and(closing > SMALLEST_MARGIN, found.determinant * sign.symbols > 0)
    for requirement in found.requirements:
        inside = ca.logic_and(inside, requirement.holds)
    return (sign, edge), (port("share", inside, ()), port("met", inside * edge.symbols, ()), port("taken", inside, ()))


class Inside:
    """Workspaces of designs, about the home of the robot as it is."""

    def __init__(self, functions: DesignFunctions) -> None:
        self._functions = functions
        self.space = PoseCoordinates(functions.model)
        mechanism = functions.kernels.mechanism
        self._mechanism = mechanism
        self._sign = np.full(1, self.space.sign)

    @lazy
    def _of_poses(self) -> ReductionKernel:
        return ReductionKernel(lambda: _inside(self._mechanism), self._functions.varied)

    @lazy
    def _of_coordinates(self) -> ReductionKernel:
        return ReductionKernel(lambda: _followed(self._mechanism), self._functions.varied)

    def taken(self, values: Array, poses: Array) -> Array:
        """Whether designs (D, k) take all of some poses (n, 4, 4): 1 or 0 (D,)."""
        inputs = {"pose": poses, "sign": self._sign, "edge": np.zeros(1)}
        return self._of_poses(values, inputs, np.zeros(len(poses)))["taken"]

    @lazy
    def box(self) -> Array:
        """Lows and highs (c, 2) of displacements from home within which workspaces are counted first."""
        space = self.space
        names = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
        found = extent(WorkspaceTest(space), names, space.point())
        middle, half = found.mean(axis=1), 0.5 * _ROOM * np.ptp(found, axis=1)
        return np.stack([middle - half, middle + half], axis=1)

    def volumes(self, values: Array) -> Array:
        """Volume (D,) of the positions that designs (D, k) reach in their home orientation; NaN if nothing bounds it.

        [m^3], or m^2 and m of robots of fewer displacements. Positions are cells of a grid; one that a workspace meets
        the edge of is doubled.
        """
        volume, left, box = np.full(len(values), np.nan), np.arange(len(values)), self.box
        for _ in range(_DOUBLINGS + 1):
            if not len(left):
                break
            x, edge, cell = self._grid(box)
            found = self._at(values[left], x, edge, np.full(len(x), cell))
            whole = found["met"] == 0
            volume[left[whole]] = found["share"][whole]
            left = left[~whole]
            middle, half = box.mean(axis=1), np.ptp(box, axis=1)
            box = np.stack([middle - half, middle + half], axis=1)
        return volume

    def _at(self, values: Array, x: Array, edge: Array, weights: Array) -> dict[str, Array]:
        """Folds over coordinates (n, m); each design that follows its legs has poses of its own there."""
        given = {"sign": self._sign, "edge": edge}
        if self._mechanism.platform.is_constrained:
            return self._of_coordinates(values, given | {"x": x}, weights)
        return self._of_poses(values, given | {"pose": self.space.poses(x)}, weights)

    def _grid(self, box: Array) -> tuple[Array, Array, float]:
        """Coordinates (n, m) at the middles of cells, which are at the edge (n,), and the volume of a cell."""
        points = POINTS[len(box)]
        steps = np.ptp(box, axis=1) / points
        axes = [low + step * (np.arange(points) + 0.5) for (low, _), step in zip(box, steps, strict=True)]
        places = np.stack(np.meshgrid(*[np.arange(points)] * len(axes), indexing="ij"), axis=-1).reshape(-1, len(axes))
        x = np.zeros((len(places), len(self.space.names)))
        x[:, ~self.space.turns] = np.stack([axis[places[:, k]] for k, axis in enumerate(axes)], axis=1)
        edge = ((places == 0) | (places == points - 1)).any(axis=1)
        return x, edge.astype(np.float64), float(np.prod(steps))
