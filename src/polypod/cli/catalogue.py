"""What the library has, without loading it: help, completion and 'polypod list' need it at once.

``python docs/generated.py`` writes catalogue.json from the library's files and registries. To ask them instead takes
2 s of imports, which a cache would save from the second call on only.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

_DATA = json.loads((resources.files(__package__) / "catalogue.json").read_text(encoding="utf-8"))

CATALOGUE: dict[str, list[dict[str, Any]]] = _DATA["catalogue"]
"""Robots, motions, kinds of legs and platforms."""
CHOICES: dict[str, dict[str, str]] = _DATA["choices"]
"""Words that options take, with what each is, by their registry."""
