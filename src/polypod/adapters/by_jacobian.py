"""Vector-Jacobian products from whole Jacobians: for robots whose products are not one compiled backward sweep.

These are flexible robots, those with more actuators than degrees of freedom, friction that depends on reactions, legs
that close by iterating: all that ``model.derivatives`` has. v^T J costs a Jacobian a state instead of a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..formulations.derivatives import derivatives
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model.interpreted_derivatives import InterpretedDerivatives, needs_interpretation
from ..model.kernels import Kernels


def needs_jacobians(mechanism: Mechanism, name: str, friction: bool) -> bool:
    """Whether products of a function of a robot are made of Jacobians: there is no compiled sweep."""
    return bool(mechanism.implicit_legs) or needs_interpretation(mechanism, name, friction)


class JacobianProducts:
    """v^T d(result)/d(block) for blocks of inputs; by the port's numbers at some indices for ``parameters``."""

    def __init__(
        self,
        kernels: Kernels,
        mechanism: Mechanism,
        name: str,
        blocks: tuple[str, ...],
        indices: list[int],
        friction: bool,
    ) -> None:
        self.blocks = blocks
        self._derivatives: InterpretedDerivatives | Kernel
        if needs_interpretation(mechanism, name, friction):
            self._derivatives = InterpretedDerivatives(kernels, mechanism, name, blocks, indices, friction)
        else:
            columns = mechanism.numbers.symbols[indices] if indices else ca.SX(0, 1)
            dry = kernels.options.dry
            self._derivatives = kernels.shared(
                lambda: closed(mechanism, derivatives(mechanism, name, blocks, columns, friction, dry)),
                kernels.cache_key(repr(("derivatives", name, blocks, indices, friction)), mechanism),
            )

    def __call__(self, given: Mapping[str, Array], numbers: Array, adjoint: Array) -> dict[str, Array]:
        """Products by block, (n, *shape of the input), of n states.

        ``given`` are rows (n or 1, ...) by the names of the inputs, ``adjoint`` is (n, results), ``numbers`` are (k,)
        or (n, k) of the port. That by a pose is G (n, 4, 4) of ``polypod.formulations.adjoint.products``.
        """
        n, one = len(adjoint), numbers.ndim == 1
        rows = {p.name: self._row(p, given, n) for p in self._derivatives.inputs}
        if isinstance(self._derivatives, Kernel):
            kernel = self._derivatives
            if kernel.parameters is not None:
                kernel = kernel.at(numbers) if one else kernel.at(numbers, rows=True)
            found = kernel(*(rows[p.name] for p in kernel.inputs))[: len(self.blocks)]
        else:
            found = self._derivatives(rows, np.broadcast_to(numbers, (n, numbers.shape[-1])))
        by = {
            block: np.einsum("ni,nij->nj", adjoint, jacobian)
            for block, jacobian in zip(self.blocks, found, strict=True)
        }
        if "pose" in by:
            by["pose"] = _pose_gradient(rows["pose"], by["pose"])
        return by

    def _row(self, port: Any, given: Mapping[str, Array], n: int) -> Array:
        """Rows (n, *shape) of an input; forces of redundant actuators are those of least norm."""
        value = given.get(port.name, np.ones(1) if port.name == "weights" else np.zeros(1))
        if port.name not in given:
            value = value.reshape(1, *(1,) * len(port.shape))
        return np.ascontiguousarray(np.broadcast_to(value, (n, *port.shape)))


def _pose_gradient(poses: Array, by_twist: Array) -> Array:
    """[1/2 g~ R, h] (n, 4, 4), zero in its last row, of products [h; g] (n, 6) by a twist on the left of poses."""
    found = np.zeros_like(poses)
    found[:, :3, :3] = 0.5 * np.cross(by_twist[:, None, 3:], poses[:, :3, :3], axisb=1).transpose(0, 2, 1)
    found[:, :3, 3] = by_twist[:, :3]
    return found
