"""Whether a message helps: says what is allowed, or what to do."""

from __future__ import annotations

import re

_ALLOWED = (
    r"must|needs?|needed|required|allowed|at most|at least|the limit is|known|one of|takes|greater than|"
    r"expected|such as|requires?|only"
)
_DO = (
    r"write|use|give|name|set|remove|leave|choose|add|pass|check|install|fill|move|make|start|save|export|compute|put|"
    r"change|state|shorten|lower|raise|increase|reduce|widen|allow|try|take|connect|close|rename|replace|indent|keep|"
    r"define|include|list|swap|stay|fix|say|load|open|measure|correct|query|Did you mean|are .* meant"
)
_BEFORE = r"(?:^|[;.:,(?]\s*(?:or |and |then )?|\bor )"
_ADVICE = re.compile(rf"\b(?:{_ALLOWED})\b|{_BEFORE}(?:{_DO})\b", re.IGNORECASE | re.MULTILINE)


def has_advice(message: str) -> bool:
    """Whether a sentence states what is allowed, or tells in the imperative what to do.

    Examples
    --------
    >>> [has_advice(text) for text in ("mass: is wrong", "mass: must be positive", "mass: got 3 lb; write it in kg")]
    [False, True, True]
    """
    return _ADVICE.search(message) is not None
