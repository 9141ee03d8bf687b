"""Units of polypod's texts as FMI writes them: exponents of base units."""

from __future__ import annotations

_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_DERIVED = {"N": {"kg": 1, "m": 1, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}}


def exponents(unit: str) -> dict[str, int] | None:
    """Exponents of base units, those that are not zero; None for a text that is no product of known units.

    >>> exponents("N m s/rad"), exponents("kg m^2")
    ({'kg': 1, 'm': 2, 's': -1, 'rad': -1}, {'kg': 1, 'm': 2})
    """
    above, _, below = unit.partition("/")
    total = dict.fromkeys(_BASE, 0)
    for text, sign in ((above, 1), (below.strip("()"), -1)):
        for token in text.split():
            symbol, _, power = token.partition("^")
            parts = _DERIVED.get(symbol, {symbol: 1})
            if symbol == "1":
                continue
            if any(part not in total for part in parts) or not (power or "1").lstrip("-").isdigit():
                return None
            for part, own in parts.items():
                total[part] += sign * own * int(power or 1)
    return {base: value for base, value in total.items() if value}
