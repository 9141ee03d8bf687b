"""The robot file that is embedded in an exported robot: import gives the very robot while nothing was changed.

Other programs' formats have no place for leg kinds, cones, ratings, compliances, sources. So a file that polypod writes
has the whole robot file in it as a text that other programs pass over, and a digest of all its elements. Where the
digest is right, the elements say what the robot file says and import gives the robot itself. Where it is not, somebody
changed the file: then the elements are read, and what only the robot file says is named.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from ..description import Robot
from ..errors import PolypodError, short_repr
from ..files import loads
from ..model import Model
from .left_out import left_out

UNCHANGED = "the robot as polypod wrote it: nothing in the file has changed since"


class EmbeddedRobot(NamedTuple):
    """The robot of an embedded robot file, or why it is no robot, and whether all else is as polypod wrote it."""

    robot: Robot | None
    unchanged: bool
    fault: str = ""

    def remarks(self, carried: Collection[str]) -> list[str]:
        """Why the file's own elements are read instead, and what they do not say.

        ``carried`` are fields of joints and drives that the elements do say.
        """
        if self.robot is None:
            return [f"{self.fault}; its elements were read instead"]
        why = "options ask for another robot than the one" if self.unchanged else "it was changed since it was"
        return [
            f"{why} written by polypod, so its elements were read; kinds of legs, title, reference and sources of the "
            "robot file are not in them",
            *left_out(Model(self.robot), carried),
        ]


def embedded_robot(text: Any, unchanged: bool) -> EmbeddedRobot | None:
    """The robot of an embedded text; None without one."""
    if text is None:
        return None
    if not isinstance(text, str):
        return EmbeddedRobot(None, False, f"the robot file in it is no text, got {short_repr(text)}")
    try:
        return EmbeddedRobot(loads(text, "the robot file in it"), unchanged)
    except PolypodError as error:
        return EmbeddedRobot(None, False, " ".join(str(error).split()))


def digest(root: ET.Element, beside: Mapping[str, Any] | None = None) -> str:
    """Digest of all elements and attributes, whatever blanks and comments are between them, and of data beside them."""
    text = ET.canonicalize(ET.tostring(root, encoding="unicode"), strip_text=True)
    return sha256(f"{text}\n{json.dumps(beside, sort_keys=True)}".encode()).hexdigest()
