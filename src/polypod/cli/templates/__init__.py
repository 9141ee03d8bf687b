"""Files to start from, and parts of them."""

from __future__ import annotations

from importlib import resources


def template_part(name: str) -> str:
    """Text of a template or of a part that goes into one."""
    return (resources.files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
