"""XML files of other programs read: whatever is in one, it is a tree of elements or an error that names the file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from ..errors import InputError

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
