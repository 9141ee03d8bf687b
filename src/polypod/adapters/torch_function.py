"""Functions of a model as PyTorch has them: ``torch.autograd.Function`` around compiled kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from ..errors import InputError, MissingPackageError
from .differentiable import Differentiable
from .poses import displaced

try:
    import torch
except ImportError as error:
    raise MissingPackageError("model.torch", "PyTorch", "torch") from error


class TorchFunction:
    """A function of a model on tensors, differentiable backward once; see ``polypod.Model.torch``."""

    def __init__(self, function: Differentiable) -> None:
        self._function = function

    def __call__(self, *states: Any, parameters: Mapping[str, Any] | None = None, **named: Any) -> Any:
        """The result (..., n) for tensors of states in the function's order, or by name.

        Leading axes are a batch, broadcast. ``parameters`` gives numbers by the paths that were named; those left out
        are the robot's own. The result has the inputs' widest type and lies where they lie; the arithmetic is done in
        double precision by the processor.
        """
        inputs = self._function.gathered(states, named, parameters, torch.as_tensor, _widest)
        for name, tensor in zip(self._function.inputs, inputs, strict=True):
            if tensor.requires_grad and name not in self._function.possible:
                raise self._function.no_derivative(name)
        return _Dynamics.apply(self._function, *inputs)

    @staticmethod
    def displaced(pose: Any, twist: Any) -> Any:
        """Poses (..., 4, 4) displaced by v and turned by omega, base axes, of twists (..., 6): exp(omega~) R, p + v.

        Its gradient by the twist at zero is that by a twist on the left of the pose, as in ``model.derivatives``.
        """
        return displaced(torch, pose, twist)


class _Dynamics(torch.autograd.Function):  # type: ignore[misc]
    """The function; its backward pass is ``_Products``."""

    @staticmethod
    def forward(function: Differentiable, *inputs: Any) -> Any:
        return _like(function([_array(one) for one in inputs]), inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function = inputs[0]
        ctx.save_for_backward(*inputs[1:], output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        *inputs, result = ctx.saved_tensors
        products = _Products.apply(ctx.function, *inputs, result, *grads)
        found = [product.sum_to_size(one.shape) for product, one in zip(products, inputs, strict=True)]
        return (None, *found)

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], function: Differentiable, *inputs: Any) -> tuple[Any, Any]:
        return _Dynamics.apply(function, *_aligned(dims[1:], inputs, function.cores)), 0


class _Products(torch.autograd.Function):  # type: ignore[misc]
    """adjoint^T d(result)/d(input) of every input, with the axes of the whole batch."""

    @staticmethod
    def forward(function: Differentiable, *given: Any) -> tuple[Any, ...]:
        *inputs, result, adjoint = map(_array, given)
        return tuple(_like(product, given) for product in function.products(inputs, result, adjoint))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.name = inputs[0].name

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        raise InputError(
            f"torch: {ctx.name} has first derivatives only; for second derivatives use differences of its gradient",
            code="second_derivatives",
        )

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], function: Differentiable, *given: Any) -> tuple[Any, Any]:
        cores = (*function.cores, function.core, function.core)
        products = _Products.apply(function, *_aligned(dims[1:], given, cores))
        return products, tuple(0 for _ in products)


def _aligned(dims: tuple[Any, ...], tensors: tuple[Any, ...], cores: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Tensors with the axis that is mapped in front, before as many batch axes in each."""
    moved = [one if dim is None else one.movedim(dim, 0) for one, dim in zip(tensors, dims, strict=True)]
    leads = [one.ndim - len(core) - (dim is not None) for one, core, dim in zip(moved, cores, dims, strict=True)]
    most = max(leads)
    return [
        one if dim is None else one.reshape(one.shape[0], *(1,) * (most - lead), *one.shape[1:])
        for one, dim, lead in zip(moved, dims, leads, strict=True)
    ]


def _array(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy().astype(np.float64, copy=False)


def _like(array: Any, tensors: tuple[Any, ...]) -> Any:
    """An array as a tensor of the tensors' widest type, where the first of them is."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device=tensors[0].device, dtype=_widest(*tensors))


def _widest(*tensors: Any) -> Any:
    """The type of floating-point numbers that holds those of all tensors."""
    return reduce(torch.promote_types, (one.dtype for one in tensors), torch.float32)
