"""Robot files and the library: YAML in and out, with the line of every fault."""

from .. import (  # noqa: F401  kinds register themselves when imported, and a file may name any of them
    elements,
    legs,
)
from .robot_files import dumps, library, load, loads, save

__all__ = ["dumps", "library", "load", "loads", "save"]
