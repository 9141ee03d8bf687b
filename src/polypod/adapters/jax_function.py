"""Functions of a model as JAX has them: ``jax.custom_vjp`` around compiled kernels, called from its programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import MissingPackageError
from .differentiable import Differentiable
from .poses import displaced

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise MissingPackageError("model.jax", "JAX", "jax") from error


class JaxFunction:
    """A function of a model on JAX arrays, differentiable backward once; see ``polypod.Model.jax``."""

    def __init__(self, function: Differentiable) -> None:
        self._function = function
        self._call = _with_products(function)

    def __call__(self, *states: Any, parameters: Mapping[str, Any] | None = None, **named: Any) -> Any:
        """The result (..., n) for arrays of states in the function's order, or by name; in ``jit``, ``vmap``, ``grad``.

        Leading axes are a batch, broadcast. ``parameters`` gives numbers by the paths that were named; those left out
        are the robot's own. The result has the inputs' widest type; the arithmetic is done in double precision.
        """
        inputs = self._function.gathered(states, named, parameters, jnp.asarray, _widest)
        cores = self._function.cores
        leads = [one.shape[: one.ndim - len(core)] for one, core in zip(inputs, cores, strict=True)]
        most = max(map(len, leads))
        # as many batch axes in each, so that an axis that is mapped may come before them
        aligned = [one.reshape(*(1,) * (most - len(lead)), *one.shape) for one, lead in zip(inputs, leads, strict=True)]
        return self._call(*aligned)

    @staticmethod
    def displaced(pose: Any, twist: Any) -> Any:
        """Poses (..., 4, 4) displaced by v and turned by omega, base axes, of twists (..., 6): exp(omega~) R, p + v.

        Its gradient by the twist at zero is that by a twist on the left of the pose, as in ``model.derivatives``.
        """
        return displaced(jnp, jnp.asarray(pose), jnp.asarray(twist))


def _with_products(function: Differentiable) -> Any:
    """The function of aligned arrays, with its backward pass."""

    def lead_of(inputs: tuple[Any, ...]) -> tuple[int, ...]:
        leads = [one.shape[: one.ndim - len(core)] for one, core in zip(inputs, function.cores, strict=True)]
        return np.broadcast_shapes(*leads)

    def evaluated(*inputs: Any) -> Any:
        kind = _widest(*inputs)
        shape = jax.ShapeDtypeStruct((*lead_of(inputs), *function.core), kind)

        def host(*arrays: Any) -> Any:
            return function([np.asarray(a, dtype=np.float64) for a in arrays]).astype(kind)

        return jax.pure_callback(host, shape, *inputs, vmap_method="expand_dims")

    def forward(*inputs: Any) -> tuple[Any, Any]:
        result = evaluated(*inputs)
        return result, (inputs, result)

    def backward(kept: tuple[Any, Any], adjoint: Any) -> tuple[Any, ...]:
        inputs, result = kept
        kind, lead = _widest(*inputs), lead_of(inputs)
        shapes = [jax.ShapeDtypeStruct((*lead, *core), kind) for core in function.cores]

        def host(*arrays: Any) -> Any:
            *given, found, weight = (np.asarray(a, dtype=np.float64) for a in arrays)
            return tuple(a.astype(kind) for a in function.products(given, found, weight))

        products = jax.pure_callback(host, tuple(shapes), *inputs, result, adjoint, vmap_method="expand_dims")
        return tuple(_summed(product, one) for product, one in zip(products, inputs, strict=True))

    call = jax.custom_vjp(evaluated)
    call.defvjp(forward, backward)
    return call


def _summed(product: Any, like: Any) -> Any:
    """A product of the whole batch as one of an input that all or some states share."""
    axes = tuple(k for k, (n, own) in enumerate(zip(product.shape, like.shape, strict=True)) if n != own)
    return product.sum(axis=axes, keepdims=True).astype(like.dtype)


def _widest(*arrays: Any) -> Any:
    """The type of floating-point numbers that holds those of all arrays."""
    return jnp.result_type(jnp.float32, *arrays)
