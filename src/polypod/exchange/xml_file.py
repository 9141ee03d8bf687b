"""XML files of other programs read: whatever is in one, it is a tree of elements, and numbers, or an error with its
place."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..description.quantities import LARGEST_NUMBER
from ..errors import InputError, short_repr

MOST_LEVELS = 200
"""Elements within each other; no robot has so many bodies in a row, and what walks a tree has room for some more."""


def read_xml(path: Path) -> ET.Element:
    """The root element of a file; ``InputError`` for what is no XML, of no known encoding, or too deep."""
    level = 0
    try:
        for event, element in ET.iterparse(path, events=("start", "end")):
            level += 1 if event == "start" else -1
            if level > MOST_LEVELS:
                raise InputError(
                    f"{path}: <{element.tag}> is within {MOST_LEVELS} other elements, which no robot is; is the file "
                    "damaged?"
                )
            root = element
    except InputError:  # which is a ValueError
        raise
    except ET.ParseError as error:
        raise InputError(f"{path}: is not XML: {error}; export it again, or correct that line") from error
    except (LookupError, ValueError) as error:  # a name of an encoding that is none, or one that expat cannot map
        raise InputError(f"{path}: its encoding is unknown ({error}); save it as UTF-8") from error
    return root


def numbers_of(text: str, count: int, where: str) -> Array:
    """So many finite numbers (count,) of a text; ``InputError`` with the place if it has others."""
    try:
        values = np.array([float(part) for part in text.split()])
    except ValueError:
        values = np.zeros(0)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise InputError(f"{where}: {count} numbers are needed, got {short_repr(text)}")
    if np.abs(values).max() > LARGEST_NUMBER:
        raise InputError(f"{where}: at most {LARGEST_NUMBER:g} in SI units, got {short_repr(text)}")
    return values
