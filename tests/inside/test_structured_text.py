"""Functions that structured text lacks, as exported code has them."""

from __future__ import annotations

import math

from polypod.export.st import helper_function
from support.structured_text import Source


def test_functions_that_the_language_lacks():
    """Against Python's mathematics, at the places where formulas change and at what is not a number."""
    points = [0.0, 1e-12, 0.01, 0.0199999, 0.0200001, 0.3, 1.0, 2.5, 3.0, 17.0]
    points += [-x for x in points]
    for helper, rule in {
        "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh, "floor": math.floor, "ceil": math.ceil,
        "sign": lambda a: math.copysign(1.0, a) if a else 0.0,
    }.items():  # fmt: skip
        unit = Source(helper_function("f", helper)).units["F"]

        def call(*x, unit=unit):
            own = unit.fresh() | dict(zip(unit.variables, x, strict=True))
            unit.run(own)
            return own["F"]

        for x in points:
            assert abs(call(x) - rule(x)) <= 4e-15 * abs(rule(x)), (helper, x)
        assert math.isnan(call(math.nan)), helper
    for helper, rule in {"atan2": math.atan2, "copysign": math.copysign, "smaller": min, "larger": max}.items():
        unit = Source(helper_function("f", helper)).units["F"]
        for a in points:
            for b in points:
                own = unit.fresh() | {"A": a + 0.0, "B": b + 0.0}
                unit.run(own)
                assert abs(own["F"] - rule(a + 0.0, b + 0.0)) <= 4e-15, (helper, a, b)
        if helper != "copysign":
            for a, b in ((math.nan, 1.0), (1.0, math.nan)):
                own = unit.fresh() | {"A": a, "B": b}
                unit.run(own)
                assert math.isnan(own["F"]), (helper, a, b)
