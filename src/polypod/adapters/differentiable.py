"""Inverse and direct dynamics with their vector-Jacobian products on arrays: what PyTorch and JAX are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description.paths import get
from ..errors import InputError, UnknownNameError
from ..formulations.adjoint import RESULTS, products
from ..formulations.derivatives import BLOCKS, ELASTIC_BLOCKS
from ..kernels import Kernel, designs_of_states
from ..mechanism.closing import closed
from ..model.arguments import check_wrench
from ..model.derivatives import derivative_functions
from ..model.diagnosis import Errors, check_policy, report
from ..parameters.design import Design, ParameterMap, port_jacobians
from ..parameters.paths import matching_paths
from .by_jacobian import JacobianProducts, needs_jacobians


class Differentiable:
    """A function of a model on arrays with leading batch axes, and what its backward pass needs.

    ``inputs`` are the arrays of a state in their order, then the numbers that ``parameters`` names, by path or pattern;
    ``cores`` their shapes for one state. ``result`` names the result, ``core`` is its shape for one state; that of a
    flexible robot has the elastic accelerations after it. ``possible`` are the inputs by which there are derivatives.
    """

    def __init__(
        self, model: Any, name: str, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = None
    ) -> None:
        if name not in RESULTS:
            raise UnknownNameError("function with derivatives", name, tuple(RESULTS))
        if isinstance(parameters, str):
            raise InputError(f"parameters: a tuple of paths is needed, got {parameters!r}; write ({parameters!r},)")
        check_policy(errors)
        self.name, self.friction, self.errors = name, friction, errors
        self.parameters = tuple(dict.fromkeys(parameters))
        self._model, self._robot = model, model.robot
        self._own = {p: self._own_value(p) for p in self.parameters}
        elastic = bool(model.kernels.mechanism.platform.elastic)
        self.state = (*BLOCKS[name], *(ELASTIC_BLOCKS if elastic else ()))
        self.inputs = (*self.state, *self.parameters)
        self._map = ParameterMap(self._robot, self.parameters)
        self.result = RESULTS[name]
        kernels, functions = model.kernels, derivative_functions(model)
        functions.refuse_geometry(self.parameters)
        parametric = functions.parametric(self.parameters)
        mechanism, self._indices = parametric.mechanism, parametric.indices
        self._numbers = mechanism.numbers
        self._fixed: dict[str, Kernel] = {}
        possible = tuple(block for block in functions.possible(name) if block in self.state)
        self.possible = (*possible, *self.parameters)
        self._blocks = (*possible, *(("parameters",) if self._indices else ()))
        columns = self._numbers.symbols[self._indices] if self._indices else ca.SX(0, 1)
        dry = kernels.options.dry
        self._product: Kernel | JacobianProducts
        if needs_jacobians(mechanism, name, friction):
            self._product = JacobianProducts(kernels, mechanism, name, self._blocks, self._indices, friction)
        else:
            cache_key = kernels.cache_key(repr((name, "products", self._blocks, self.parameters, friction)), mechanism)
            self._product = kernels.shared(
                lambda: closed(mechanism, products(mechanism, name, self._blocks, columns, friction, dry)), cache_key
            )
        self._function = kernels.with_numbers_of(mechanism).get(name, friction, verdict=True)
        shapes = {p.name: p.shape for p in (*self._function.inputs, *self._function.outputs)}
        self.core = shapes[self.result]
        if elastic:
            self.core = (self.core[0] + shapes["elastic_acceleration"][0],)
        self.cores = (*(shapes[n] for n in self.state), *(np.shape(self._own[p]) for p in self.parameters))

    def _own_value(self, pattern: str) -> Array:
        values = [np.array(get(self._robot, path), dtype=float) for path in matching_paths(self._robot, pattern)]
        if any(value.shape != values[0].shape for value in values):
            raise InputError(f"parameters: {pattern} matches parameters of different shapes; name them one by one")
        return values[0]

    def default(self, name: str) -> Array:
        """What an input is that is not given: a number of the robot, or zero (a wrench)."""
        if name in self.parameters:
            paths = matching_paths(self._robot, name)
            if any(not np.array_equal(get(self._robot, path), self._own[name]) for path in paths):
                raise InputError(
                    f"parameters: {name} matches parameters with different values; give one value for all of them"
                )
            return self._own[name]
        if name in ("wrench", *ELASTIC_BLOCKS):
            return np.zeros(self.cores[self.inputs.index(name)])
        raise InputError(f"{self.name}: {name} is needed; it takes {', '.join(self.state)}")

    def gathered(
        self,
        states: Sequence[Any],
        named: Mapping[str, Any],
        parameters: Mapping[str, Any] | None,
        convert: Callable[..., Any],
        widest: Callable[..., Any],
    ) -> list[Any]:
        """All inputs in order as arrays of a library, their last axes checked; those left out by default.

        ``convert`` makes an array, ``widest`` finds the type of several, which what is left out gets.
        """
        if len(states) > len(self.state):
            raise InputError(f"{self.name} takes {', '.join(self.state)}, got {len(states)} arrays")
        given = dict(zip(self.state, states, strict=False)) | dict(named)
        for name in given:
            if name not in self.state:
                raise UnknownNameError(f"input of {self.name}", name, self.state)
        for path in parameters or {}:
            if path not in self.parameters:
                raise UnknownNameError(f"number that {self.name} was made for (parameters=)", path, self.parameters)
        given |= parameters or {}
        arrays = {name: convert(value) for name, value in given.items() if value is not None}
        kept = []
        for name, core in zip(self.inputs, self.cores, strict=True):
            if name not in arrays:
                arrays[name] = convert(self.default(name), dtype=widest(*arrays.values()))
            array = arrays[name]
            if tuple(array.shape[array.ndim - len(core) :]) != core or array.ndim < len(core):
                wanted = ", ".join(["...", *map(str, core)])
                raise InputError(f"{name}: shape ({wanted}) is needed, got {tuple(array.shape)}")
            kept.append(array)
        return kept

    def no_derivative(self, name: str) -> InputError:
        """That an input has none, and why."""
        return derivative_functions(self._model).no_derivative(self.name, self.name, name)

    def __call__(self, arrays: Sequence[Array]) -> Array:
        """The result (..., n) for all inputs; NaN for states without an answer, which ``errors`` also says."""
        check_wrench(self._robot, arrays[self.state.index("wrench")])
        if not self.parameters:
            return self._answer(self._bound(self._function, None), arrays)
        design, lead = self._design(arrays)
        answer = self._answer(self._bound(self._function, (design, lead)), self._spread(arrays, lead))
        if design.reasons:
            which = designs_of_states(design.shape, lead)
            bad = np.isin(which, list(design.reasons))
            answer.reshape(-1, *self.core)[bad] = np.nan
            report(
                self.name, bad, lambda index: [design.reasons[which[k]] for k in index], answer, bool(lead), self.errors
            )
        return answer

    def products(self, arrays: Sequence[Array], result: Array, adjoint: Array) -> list[Array]:
        """adjoint^T d(result)/d(input) for every input, each (..., *core) with the axes of the whole batch.

        The one by a pose is (..., 4, 4): G of ``polypod.formulations.adjoint.products``. NaN where the result is.
        """
        design, lead = self._design(arrays, result.shape[:-1], adjoint.shape[:-1])
        size = int(np.prod(lead, dtype=int))
        if isinstance(self._product, JacobianProducts):
            found = self._by_jacobian(self._product, arrays, adjoint, design, lead)
        else:
            found = self._by_sweep(self._product, arrays, result, adjoint, design, lead)
        lost = np.isnan(_rows(result, self.core, lead)).any(axis=-1)
        if lost.any():
            for block in found.values():
                block[np.broadcast_to(lost, size)] = np.nan
        if self.parameters:
            found |= self._by_file(found.pop("parameters", None), design, designs_of_states(design.shape, lead))
        unknown = np.full(size, np.nan)
        return [
            (found[name] if name in found else _spread_over(unknown, core)).reshape((*lead, *core))
            for name, core in zip(self.inputs, self.cores, strict=True)
        ]

    def _by_sweep(
        self,
        product: Kernel,
        arrays: Sequence[Array],
        result: Array,
        adjoint: Array,
        design: Design,
        lead: tuple[int, ...],
    ) -> dict[str, Array]:
        kernel = self._bound(product, (design, lead))
        given = dict(zip(self.inputs, arrays, strict=True)) | {self.result: result, "adjoint": adjoint}
        rows = [_rows(given[p.name], p.shape, lead) for p in kernel.inputs]
        size = int(np.prod(lead, dtype=int))
        if all(len(row) == 1 for row in rows) and size != 1:
            rows[0] = np.repeat(rows[0], size, axis=0)
        outputs = kernel(*rows)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return dict(zip(self._blocks, outputs, strict=True))

    def _by_jacobian(
        self,
        product: JacobianProducts,
        arrays: Sequence[Array],
        adjoint: Array,
        design: Design,
        lead: tuple[int, ...],
    ) -> dict[str, Array]:
        named = zip(self.state, arrays, self.cores, strict=False)
        rows = {name: _rows(array, core, lead) for name, array, core in named}
        values = design.rows(self._numbers) if self.parameters else self._numbers.values[None]
        numbers = values[0] if len(values) == 1 else values[designs_of_states(design.shape, lead)]
        weight = np.broadcast_to(adjoint, (*lead, *self.core)).reshape(-1, *self.core)
        return product(rows, numbers, weight)

    # -- numbers of the robot ------------------------------------------------------------------------------------------

    def _design(self, arrays: Sequence[Array], *more: tuple[int, ...]) -> tuple[Design, tuple[int, ...]]:
        """Values of the named numbers, and the axes of the whole batch."""
        given = dict(zip(self.parameters, arrays[len(self.state) :], strict=True))
        design = self._map.design(given)
        leads = [a.shape[: a.ndim - len(core)] for a, core in zip(arrays, self.cores, strict=True)]
        try:
            return design, np.broadcast_shapes(*leads, *more)
        except ValueError as error:
            listed = ", ".join(f"{name} {a.shape}" for name, a in zip(self.inputs, arrays, strict=True))
            raise InputError(
                f"batch axes do not fit together: {listed}; give equal leading axes, or one state", code="batch_axes"
            ) from error

    def _bound(self, kernel: Kernel, of: tuple[Design, tuple[int, ...]] | None) -> Kernel:
        """A kernel with the numbers of the robot or of designs."""
        if kernel.parameters is None:
            return kernel
        if of is None or not self.parameters:
            if kernel.name not in self._fixed:
                self._fixed[kernel.name] = kernel.at(self._numbers.values)
            return self._fixed[kernel.name]
        design, lead = of
        values = design.rows(self._numbers)
        return (
            kernel.at(values[0])
            if design.count == 1
            else kernel.at(values[designs_of_states(design.shape, lead)], rows=True)
        )

    def _spread(self, arrays: Sequence[Array], lead: tuple[int, ...]) -> list[Array]:
        """The arrays of a state, one of which has the axes of the whole batch."""
        pose, *others = arrays[: len(self.state)]
        return [np.broadcast_to(pose, (*lead, *self.cores[0])), *others]

    def _answer(self, kernel: Kernel, arrays: Sequence[Array]) -> Array:
        given: Mapping[str, Array] = dict(zip(self.state, arrays, strict=False))
        states = self._model._calls.run(kernel, given)
        return np.asarray(states.results(self.name, self.errors, _concatenated))

    def _by_file(self, by_port: Array | None, design: Design, which: NDArray[np.int64]) -> dict[str, Array]:
        """Products by the numbers as they are named, from those by the numbers of the port (n, k).

        ``which`` (n) is the number of the design of every state.
        """
        sizes = [np.size(self._own[path]) for path in self.parameters]
        if by_port is None:  # numbers on which nothing depends
            whole = np.zeros((len(which), sum(sizes)))
        else:
            ports = port_jacobians(self._numbers, design)[:, self._indices]
            whole = by_port @ ports[0] if len(ports) == 1 else np.einsum("np,npk->nk", by_port, ports[which])
        parts = np.split(whole, np.cumsum(sizes)[:-1], axis=1)
        return dict(zip(self.parameters, parts, strict=True))


def _concatenated(parts: list[Array]) -> Array:
    """Results in one array; elastic accelerations come after the others."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _rows(array: Array, core: tuple[int, ...], lead: tuple[int, ...]) -> Array:
    """Rows (n or 1, *core) of an array whose leading axes broadcast to those of a batch."""
    own = array.shape[: array.ndim - len(core)]
    if own != lead and int(np.prod(own, dtype=int)) != 1:
        array = np.broadcast_to(array, (*lead, *core))
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1, *core)


def _spread_over(column: Array, core: tuple[int, ...]) -> Array:
    return np.broadcast_to(column.reshape(-1, *(1,) * len(core)), (len(column), *core))
