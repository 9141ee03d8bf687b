"""A model function as a self-contained C99 file and header, from the same list of operations that is compiled."""

from __future__ import annotations

from ..kernels import Expression
from ..model import Model
from ..symbols.expression import Iteration
from .code import Dialect, body, exported, ports
from .example import main_file
from .header import Target, comment

_C = Dialect("C", "const double", "double state[{}]", "NAN", "INFINITY")
# Minimum and maximum pass on what is not a number, unlike C's fmin and fmax: a bad state must stay visible.
_HELPERS = """\
static inline double smaller(double a, double b) { return a != a || a < b ? a : b; }
static inline double larger(double a, double b) { return a != a || a > b ? a : b; }
static inline double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }
"""
_TARGET = Target(
    arrays="All arrays are flat, double[n]: matrices by rows without gaps; of a double pose[4][4] pass &pose[0][0].",
    input="Nothing is kept between calls and no memory is allocated, so several threads may call at once.",
    use="C99 (the header serves C++ too) with the mathematics library. Compile with",
    command="cc -std=c99 -O2 main.c {name}.c -lm -o main",
    example="Example of a main.c, at home and at rest:",
    program=main_file,
)


def export_c(model: Model, function: str = "inverse_dynamics", friction: bool = True) -> tuple[str, str, str]:
    """Name, header and source of a model function in C99.

    The C function takes a pointer to each input and output of one state, arrays by rows, SI units, and needs nothing
    but the mathematics library. The robot's numbers are constants in it. Every function of
    :data:`polypod.model.kernels.FUNCTIONS` that the robot has can be exported.

    >>> name, header, source = export_c(Model("kim-ryu"), "inverse_kinematics")
    >>> name, source.splitlines()[0]
    ('kim_ryu_inverse_kinematics', '#include "kim_ryu_inverse_kinematics.h"')
    """
    name, expression = exported(model, function, friction)
    prototype = _prototype(name, expression)
    guard = f"{name.upper()}_H"
    header = "\n".join(
        [
            comment(model, name, expression, friction, _TARGET),
            f"#ifndef {guard}\n#define {guard}\n",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            f"{prototype};\n",
            "#ifdef __cplusplus\n}\n#endif\n",
            "#endif\n",
        ]
    )
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{_HELPERS}\n{prototype}\n{{\n{body(expression, _C)}}}\n'
    return name, header, source


def c_files(model: Model, function: str, friction: bool) -> dict[str, str]:
    """Header and source of a model function by file name."""
    name, header, source = export_c(model, function, friction)
    return {f"{name}.h": header, f"{name}.c": source}


def _prototype(name: str, expression: Expression | Iteration) -> str:
    inputs, outputs = ports(expression)
    arguments = [*(f"const double *{label}" for label, _ in inputs), *(f"double *{label}" for label, _ in outputs)]
    line = f"void {name}({', '.join(arguments)})"
    return line if len(line) < 110 else "void {}(\n    {})".format(name, ",\n    ".join(arguments))
