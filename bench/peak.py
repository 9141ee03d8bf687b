"""The machine's floating-point peak, measured by a kernel made the same way: the yardstick for all others."""

from __future__ import annotations

import casadi as ca
import numpy as np

from bench.timing import take_turns
from polypod.kernels import Expression, Kernel, Port, port

_CHAINS, _LENGTH = 100, 16


def _products_and_sums() -> Expression:
    """Many short independent chains x <- x a + b: a core looks ahead over a dozen of them, which hides the latency."""
    inputs = ca.SX.sym("x", 4)
    a, b = inputs[0], inputs[1]
    chains = [inputs[2] + k * inputs[3] for k in range(_CHAINS)]
    for _ in range(_LENGTH):
        chains = [x * a + b for x in chains]
    total = chains[0]
    for x in chains[1:]:
        total = total + x
    return Expression("peak", (Port("x", inputs, (4,)),), (port("total", total, ()),))


def peak(seconds: float = 0.5) -> float:
    """Operations a second of one core, products and sums counted one each."""
    kernel = Kernel(_products_and_sums)
    n = 4096
    x, out = np.full((n, 4), 0.5), [np.empty(n)]
    best = take_turns({"peak": lambda: kernel(x, out=out, threads=1)}, seconds)["peak"].best
    return kernel.operations * n / best
