"""Poses within ranges and cones of designs: workspaces to hold, and how large workspaces are, in machine code."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..analysis.workspace.extent import extent
from ..analysis.workspace.quantities import Quantities
from ..analysis.workspace.space import Judge, Space
from ..errors import InputError
from ..kernels import Expression, Port, port
from ..kernels.folded import Folded, Folds
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model.designs import DesignFunctions

Array = NDArray[np.float64]
POINTS = 32
"""Cells a coordinate of the grid on which a workspace is counted: half a cell of its surface cancels to about 1 %."""
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
    sign, edge = (Port(name, ca.SX.sym(name), ()) for name in ("sign", "edge"))
    found = Quantities.at(mechanism, pose.symbols)
    inside = ca.logic_and(found.closing > SMALLEST_MARGIN, found.determinant * sign.symbols > 0)
    for requirement in found.requirements:
        inside = ca.logic_and(inside, requirement.holds)
    outputs = port("share", inside, ()), port("met", inside * edge.symbols, ()), port("held", inside, ())
    function = Expression("inside", (pose, sign, edge), outputs, mechanism.port)
    return Folds(closed(mechanism, function), ("total", "most", "least"))


class Inside:
    """Workspaces of designs, about the home of the robot as it is."""

    def __init__(self, functions: DesignFunctions) -> None:
        self._functions = functions
        self.space = Space(functions.model)
        mechanism = functions.kernels.mechanism
        self._folded = Folded(lambda: _inside(mechanism), functions.varied)

    def _at(self, values: Array, poses: Array, edge: Array, weights: Array) -> dict[str, Array]:
        sign = np.full(1, self.space.sign)
        return self._folded(values, {"pose": poses, "sign": sign, "edge": edge}, weights)

    def held(self, values: Array, poses: Array) -> Array:
        """Whether designs (D, k) take all of some poses (n, 4, 4): 1 or 0 (D,)."""
        return self._at(values, poses, np.zeros(1), np.zeros(len(poses)))["held"]

    @lazy
    def box(self) -> Array:
        """Lows and highs (c, 2) of displacements from home within which workspaces are counted first."""
        space = self.space
        if space.model.kernels.mechanism.platform.follows_legs or space.turns.all():
            raise InputError(
                f"report: workspace volume: the platform of {space.model.robot.name!r} moves as its legs let it; "
                "volumes are counted for robots whose displacements are free"
            )
        names = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
        found = extent(Judge(space), names, space.point())
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
            poses, edge, cell = self._grid(box)
            found = self._at(values[left], poses, edge, np.full(len(poses), cell))
            whole = found["met"] == 0
            volume[left[whole]] = found["share"][whole]
            left = left[~whole]
            middle, half = box.mean(axis=1), np.ptp(box, axis=1)
            box = np.stack([middle - half, middle + half], axis=1)
        return volume

    def _grid(self, box: Array) -> tuple[Array, Array, float]:
        """Poses (n, 4, 4) at the middles of cells, which of them are at the edge (n,), and the volume of a cell."""
        steps = np.ptp(box, axis=1) / POINTS
        axes = [low + step * (np.arange(POINTS) + 0.5) for (low, _), step in zip(box, steps, strict=True)]
        places = np.stack(np.meshgrid(*[np.arange(POINTS)] * len(axes), indexing="ij"), axis=-1).reshape(-1, len(axes))
        x = np.zeros((len(places), len(self.space.names)))
        x[:, ~self.space.turns] = np.stack([axis[places[:, k]] for k, axis in enumerate(axes)], axis=1)
        edge = ((places == 0) | (places == POINTS - 1)).any(axis=1)
        return self.space.poses(x), edge.astype(np.float64), float(np.prod(steps))
