"""Robot files and the library: YAML in and out, with the line of every fault."""

from .. import (  # noqa: F401  kinds register themselves when imported, and a file may name any of them
    elements,
    legs,
)
from .robot_files import changed, digest, dumps, library, load, loads, save

__all__ = ["changed", "digest", "dumps", "library", "load", "loads", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
