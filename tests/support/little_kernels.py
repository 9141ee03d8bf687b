"""Small kernels to test with, and scripts in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import casadi as ca
import numpy as np

from polypod.kernels import Expression, Kernel, Port, machine, port

WIDTH = machine.vector_width()
SIZES = sorted({1, 7, 8, 9, 17, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH + 1})


def kernel_of(outputs: Any, *shapes: tuple[int, ...]) -> Kernel:
    """A kernel of ``outputs(*columns)`` with inputs of some shapes."""
    columns = [ca.SX.sym(f"x{k}", int(np.prod(shape, dtype=int))) for k, shape in enumerate(shapes)]
    inputs = tuple(Port(f"x{k}", column, shape) for k, (column, shape) in enumerate(zip(columns, shapes, strict=True)))
    values = outputs(*columns)
    values = values if isinstance(values, tuple) else (values,)
    return Kernel(lambda: Expression("test", inputs, tuple(port(f"y{k}", v) for k, v in enumerate(values))))


def spread(x: Any, y: Any) -> Any:
    """Nine numbers and one, of inputs of four (2 x 2) and three: more and fewer than a vector holds."""
    return ca.vertcat(*[x[i] * y[j] + i for i in range(3) for j in range(3)]), ca.sqrt(ca.dot(y, y)) + x[3]


def wanted_spread(x: Any, y: Any) -> Any:
    x = x.reshape(len(x), 4)
    nine = np.stack([x[:, i] * y[:, j] + i for i in range(3) for j in range(3)], axis=1)
    return nine, (np.linalg.norm(y, axis=1) + x[:, 3])[:, None]


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "error", **environment},
    )
