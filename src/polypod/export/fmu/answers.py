"""C code that says why there is no answer: which leg, what, by how much, when."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..example import LEAST

_SINGULAR = "the state is singular or out of reach within the step"
LARGEST = """static double largest(const double *q)
{
    double result = 1.0;
    for (int k = 0; k < ACTUATORS; k++)
        result = fabs(q[k]) > result ? fabs(q[k]) : result;
    return result;
}
"""
NOT_CONVERGED = """static Outcome not_converged(Instance *m)
{
    snprintf(m->message, sizeof m->message,
             "no answer at t = %.6g s: dry friction did not settle; its coefficients are too large for this state",
             m->values[0]);
    return NO_ANSWER;
}
"""


def c_function(head: str, lines: Sequence[str], storage: str = "") -> str:
    """A C function that returns an outcome."""
    return f"{storage}Outcome {head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def failed_function(conditions: Sequence[tuple[str, str]], arguments: Sequence[str]) -> str:
    """The C function that says which leg has no answer at a pose, or is nearest to having none.

    ``conditions`` are texts and units of the legs' margins, ``arguments`` the inputs of ``robot_margins``.
    """
    if not conditions:
        return c_function("failed(Instance *m, const double *pose)", [
            "(void)pose;",
            f'snprintf(m->message, sizeof m->message, "no answer at t = %.6g s: {_SINGULAR}", m->values[0]);',
            "return NO_ANSWER;",
        ], "static ")  # fmt: skip
    texts = ",\n    ".join(
        f"{{{json.dumps(text, ensure_ascii=False)}, {json.dumps(unit)}}}" for text, unit in conditions
    )
    lines = [
        f"double margins_found[{2 * len(conditions)}];",
        "int least = 0;",
        f"robot_margins({', '.join([*arguments, 'margins_found'])});",
        f"for (int k = 0; k < {len(conditions)}; k++) {{",
        "    const double margin = margins_found[2 * k];",
        f"    if (!(margin > {LEAST})) {{",
        '        snprintf(m->message, sizeof m->message, "no answer at t = %.6g s: %s (%.6g %s)", m->values[0],',
        "                 conditions[k][0], margins_found[2 * k + 1], conditions[k][1]);",
        "        return NO_ANSWER;",
        "    }",
        "    if (margin < margins_found[2 * least])",
        "        least = k;",
        "}",
        "snprintf(m->message, sizeof m->message,",
        f'         "no answer at t = %.6g s: {_SINGULAR}; nearest to its limit is %s (margin %.2g)",',
        "         m->values[0], conditions[least][0], margins_found[2 * least]);",
        "return NO_ANSWER;",
    ]
    return f"static const char *const conditions[][2] = {{\n    {texts},\n}};\n\n" + c_function(
        "failed(Instance *m, const double *pose)", lines, "static "
    )
