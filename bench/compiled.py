"""What an expert would build from the same equations: C by CasADi or by our export, compiled for this machine.

Each function is called with whole batches through one loop in C, so that no rival pays for Python: one state at a
time, and with several states side by side in a vector type of the compiler, as our kernels do it, also with fast
arithmetic (-ffast-math), which ours does not take: it would believe that no result is without an answer.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np

from bench.states import Array
from polypod.export import export_c
from polypod.kernels import Expression, Port, machine
from polypod.model import Model

_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-fPIC")
_FAST = ("-ffast-math",)


class Rival(NamedTuple):
    """A compiled function."""

    name: str
    batch: Callable[..., None]

    def bound(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], None]:
        """A call on inputs (n or 1, *shape) and outputs (n, *shape), prepared and as cheap as ctypes has it."""
        x, y = ((ctypes.c_void_p * len(part))(*(a.ctypes.data for a in part)) for part in (inputs, outputs))
        strides = (ctypes.c_long * len(inputs))(*(0 if len(a) == 1 else int(np.prod(a.shape[1:])) for a in inputs))
        arguments = ctypes.c_long(len(outputs[0])), x, strides, y
        return partial(_call, self.batch, arguments, (inputs, outputs))


def _call(batch: Callable[..., None], arguments: tuple[object, ...], kept: object) -> None:
    """Addresses do not keep their arrays; ``kept`` does."""
    batch(*arguments)


def rivals(model: Model, function: str) -> Iterator[Rival]:
    """Of every C compiler that is installed; nothing of a function that iterates."""
    kernel = model.kernel(function, friction=False)
    expression = kernel.expression
    if not isinstance(expression, Expression):
        return
    if kernel.values is not None:
        expression = expression.fixed(kernel.values)
    label, exported = computing(*export_c(model, function, friction=False))
    ports = expression.inputs, expression.outputs
    for c, cpp in (("gcc", "g++"), ("clang", "clang++")):
        if shutil.which(c):
            casadi = _casadi(expression) + _loop(_calling_casadi(expression), *ports)
            yield Rival(f"C by CasADi, {c}", library(c, casadi))
            yield Rival(f"exported C, {c}", library(c, exported + _loop(f"{label}({_rows(*ports)});", *ports)))
        if shutil.which(cpp):
            width = machine.vector_width()
            vectors = in_vectors(exported, label, width, *ports)
            columns = in_vectors(casadi_rows(expression), "casadi_rows", width, *ports)
            yield Rival(f"exported C, {cpp}, {width} states side by side", library(cpp, vectors))
            yield Rival(f"exported C, {cpp} fast, {width} states side by side", library(cpp, vectors, _FAST))
            yield Rival(f"C by CasADi, {cpp} fast, {width} states side by side", library(cpp, columns, _FAST))


def _casadi(expression: Expression) -> str:
    generator = ca.CodeGenerator("rival.c")
    generator.add(expression.function)
    return str(generator.dump())


def casadi_rows(expression: Expression) -> str:
    """CasADi's own code in the form of ours: every step a constant, arguments by name."""
    f = expression.function
    body = re.search(r"static int casadi_f0\(.*?\{\n(.*?)\n\s*return 0;", _casadi(expression), re.DOTALL)
    if body is None:
        raise ValueError("CasADi writes its functions in another form than before")
    lines = []
    for line in body.group(1).splitlines():
        line = re.sub(r"arg\[(\d+)\]\? ?arg\[\d+\]\[(\d+)\] : 0", r"x\1[\2]", line)
        line = re.sub(r"if \(res\[\d+\]!=0\) res\[(\d+)\]", r"y\1", line)
        line = re.sub(r"=\s*(-?\d[\d.]*(?:e[-+]?\d+)?);", r"=v{} + \1;", line)
        line = re.sub(r"\((a\d+)\?(a\d+):0\)", r"((\1 != 0) ? \2 : v{})", line)
        line = re.sub(r"\((a\d+<=?a\d+)\)", r"((\1) ? v{} + 1.0 : v{})", line)
        line = re.sub(r"\(!(a\d+)\)", r"((\1 == 0) ? v{} + 1.0 : v{})", line)
        lines.append(line.replace("casadi_real", "v").replace("casadi_fabs", "fabs"))
    for name, new in (("casadi_sq", "square"), ("casadi_fmin", "smaller"), ("casadi_fmax", "larger")):
        lines = [line.replace(name, new) for line in lines]
    given = [f"const v *x{k}" for k in range(f.n_in())] + [f"v *y{k}" for k in range(f.n_out())]
    head = "static inline v square(v a) { return a * a; }\n"
    return f"{head}void casadi_rows({', '.join(given)})\n{{\n" + "\n".join(lines) + "\n}\n"


def _calling_casadi(expression: Expression) -> str:
    f = expression.function
    inputs = ", ".join(f"x{k}" for k in range(f.n_in()))
    outputs = ", ".join(f"y{k}" for k in range(f.n_out()))
    return (
        f"const double *arg[{f.sz_arg()}] = {{{inputs}}}; double *res[{f.sz_res()}] = {{{outputs}}};\n"
        f"    casadi_int iw[{f.sz_iw() + 1}]; double w[{f.sz_w() + 1}]; {f.name()}(arg, res, iw, w, 0);"
    )


def _rows(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    return ", ".join([*(f"x{k}" for k in range(len(inputs))), *(f"y{k}" for k in range(len(outputs)))])


def _loop(body: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """void batch(long n, double **x, long *stride, double **y): ``body`` for the rows x0, x1, ... and y0, y1, ..."""
    rows = [f"const double *x{k} = x[{k}] + i * stride[{k}];" for k in range(len(inputs))]
    rows += [f"double *y{k} = y[{k}] + i * {p.length};" for k, p in enumerate(outputs)]
    return (
        "\nvoid batch(long n, double **x, long *stride, double **y)\n{\n  for (long i = 0; i < n; i++) {\n    "
        + "\n    ".join([*rows, body])
        + "\n  }\n}\n"
    )


def computing(name: str, header: str, source: str) -> tuple[str, str]:
    """Name and code of the static function that computes, without the tests of inputs and outputs around it."""
    label = f"{name}_compute"
    helpers = "".join(re.findall(r"static inline .*\n", source))
    body = re.search(rf"static void {label}\(.*?\n}}\n", source, re.DOTALL)
    assert body is not None
    return label, f"#include <math.h>\n{helpers}{body[0]}"


def in_vectors(exported: str, label: str, width: int, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The exported function on vectors: its numbers become vectors, its rows are gathered and scattered around it."""
    vectors = re.sub(r"\bdouble\b", "v", exported).replace("#include <math.h>", "")
    # a whole helper at a time: conditions of vectors are chosen from, not branched on
    vectors = re.sub(r"static inline v (smaller|larger|sign)\(.*\n", "", vectors)
    head = f"""#include <math.h>
typedef double v __attribute__((vector_size({8 * width})));
static inline v smaller(v a, v b) {{ return ((a != a) | (a < b)) ? a : b; }}
static inline v larger(v a, v b) {{ return ((a != a) | (a > b)) ? a : b; }}
static inline v smaller(double a, v b) {{ return smaller(v{{}} + a, b); }}
static inline v smaller(v a, double b) {{ return smaller(a, v{{}} + b); }}
static inline v larger(double a, v b) {{ return larger(v{{}} + a, b); }}
static inline v larger(v a, double b) {{ return larger(a, v{{}} + b); }}
static inline v sqrt(v a) {{ for (int k = 0; k < {width}; k++) a[k] = sqrt(a[k]); return a; }}
static inline v fabs(v a) {{ return a < 0 ? -a : a; }}
"""
    # 1.0 and 0.0 beside a condition of vectors must be vectors themselves
    vectors = vectors.replace("? 1.0 : 0.0", "? (v{} + 1.0) : (v{} + 0.0)")
    lines = [f"long row[{width}];", f"for (int k = 0; k < {width}; k++) row[k] = i + k < n ? i + k : n - 1;"]
    for k, p in enumerate(inputs):
        lines.append(f"v x{k}[{p.length}]; for (int e = 0; e < {p.length}; e++) for (int k = 0; k < {width}; k++)")
        lines.append(f"  x{k}[e][k] = x[{k}][row[k] * stride[{k}] + e];")
    lines += [f"v y{k}[{p.length}];" for k, p in enumerate(outputs)]
    lines.append(f"{label}({_rows(inputs, outputs)});")
    for k, p in enumerate(outputs):
        lines.append(f"for (int e = 0; e < {p.length}; e++) for (int k = 0; k < {width}; k++)")
        lines.append(f"  y[{k}][row[k] * {p.length} + e] = y{k}[e][k];")
    loop = 'extern "C" void batch(long n, double **x, long *stride, double **y)\n{\n'
    loop += f"  for (long i = 0; i < n; i += {width}) {{\n    " + "\n    ".join(lines) + "\n  }\n}\n"
    return head + vectors + loop


def library(compiler: str, source: str, flags: tuple[str, ...] = ()) -> Callable[..., None]:
    """The function ``batch`` of a source file, compiled and loaded."""
    folder = Path(tempfile.mkdtemp(prefix="polypod-bench-"))
    try:
        file = folder / ("rival.cpp" if compiler.endswith("++") else "rival.c")
        file.write_text(source)
        # Linked on its own: gcc links into a library with -ffast-math a start that takes subnormal numbers for zero in
        # the whole process, for all who compute after it (SciPy's KDTree then never ends).
        subprocess.run([compiler, *_FLAGS, *flags, "-c", str(file), "-o", str(folder / "rival.o")], check=True)
        parts = ["-shared", str(folder / "rival.o"), "-o", str(folder / "rival.so"), "-lm"]
        subprocess.run([compiler, *parts], check=True)
        batch: Callable[..., None] = ctypes.CDLL(str(folder / "rival.so")).batch
    finally:
        shutil.rmtree(folder)
    return batch
