"""Arguments of a robot's functions as checked rows, and what a kernel gave for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..platforms import DegreesOfFreedom
from .arguments import Argument, Batch, batch, check_finite, default_value, is_given
from .checks import exact_poses
from .generalized_coordinates import generalized_coordinates
from .kernels import Kernels


@dataclass(frozen=True)
class BatchResult:
    """Outputs of a kernel by name, rows first, of a batch of states, and what explains states without an answer.

    ``margins`` gives margins and excesses (i, k, 2) of the legs' conditions at some rows, ``why_unconverged`` the
    reasons why friction did not converge there. ``numbers`` (D, k) are the robot's numbers of designs and ``which()``
    (n) the design of each row, if there are any.
    """

    shape: tuple[int, ...]
    outputs: dict[str, Array]
    margins: Callable[[NDArray[np.int64]], Array]
    mechanism: Mechanism
    numbers: Array | None = None
    which: Callable[[], NDArray[np.int64]] | None = None
    why_unconverged: Callable[[NDArray[np.int64]], list[str]] | None = None

    def restored(self, name: str) -> Array:
        """An output with the batch's axes."""
        return self.outputs[name].reshape(self.shape + self.outputs[name].shape[1:])


class ArgumentChecks:
    """Checks of arguments for the compiled functions of one robot; ``size`` is its platform's [m]."""

    def __init__(self, kernels: Kernels, dof: DegreesOfFreedom, size: float) -> None:
        self._kernels, self._dof, self._size = kernels, dof, size
        self.own = generalized_coordinates(dof, size, kernels)

    def arguments(self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}) -> list[Argument]:
        """The kernel's inputs in order, under the caller's own ``names``; what is not given is zero (weights: one)."""
        result = []
        for port in kernel.inputs:
            value = given[port.name] if is_given(port.name, given) else default_value(port.name, port.shape)
            result.append(Argument(names.get(port.name, port.name), value, port.shape))
        return result

    def checked(self, arguments: list[Argument]) -> Batch:
        """Arguments as rows; an error for what is no pose, not finite, or no motion of the robot."""
        return self._examined(batch(arguments), arguments)

    def _examined(self, states: Batch, arguments: list[Argument]) -> Batch:
        states = self._rigid_and_finite(states, arguments)
        rows = list(states.rows)
        if not self._dof.full:
            batched = bool(states.shape)
            for k, argument in enumerate(arguments):
                if argument.shape == (4, 4):
                    rows[k] = self.own.exact_poses(rows[k], argument.name, batched)
            named = {argument.name: row for argument, row in zip(arguments, rows, strict=True)}
            if "twist" in named:
                self.own.check_motion(named["pose"], named["twist"], named.get("acceleration"), batched)
        return Batch(states.shape, tuple(rows))

    def _rigid_and_finite(self, states: Batch, arguments: list[Argument]) -> Batch:
        """Rows of which all poses are exact; an error for what is no pose or not finite."""
        rows = list(states.rows)
        for k, argument in enumerate(arguments):
            if argument.shape == (4, 4):
                rows[k] = exact_poses(rows[k], argument.name, bool(states.shape))
        # A number that no result depends on (a force that does no work, a speed along all rails) leaves no trace later.
        others = [k for k, a in enumerate(arguments) if a.shape != (4, 4)]
        check_finite(Batch(states.shape, tuple(rows[k] for k in others)), [arguments[k] for k in others])
        return Batch(states.shape, tuple(rows))

    def exact_pose(self, rows: Array, name: str, batched: bool) -> Array:
        """Poses (n, 4, 4) that the robot can take, the rounding of printed digits removed; an error for others."""
        poses = exact_poses(rows, name, batched)
        if not self._dof.full:
            return self.own.exact_poses(poses, name, batched)
        return poses
