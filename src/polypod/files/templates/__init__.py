"""Robot and motion files to start from, commented: a hexapod as it is, or a robot made from a few sizes."""

from __future__ import annotations

import re
from importlib import resources

from ...errors import InputError

_NAME = re.compile(r"[A-Za-z][\w-]*")


def template(kind: str, name: str, platform: str = "rigid") -> str:
    """Text of a file to start from.

    Parameters
    ----------
    kind : "robot", "motion", "study", "tolerances" or "catalogue"
    name : name of the robot, motion or study: letters, digits, - and _ after a letter
    platform : "rigid" or "flexible", of a robot

    Returns
    -------
    str : a valid file with comments

    Examples
    --------
    >>> template("motion", "lift").splitlines()[1][:14]
    '# A motion fil'
    """
    check_name(name)
    if kind == "catalogue":
        return (resources.files(__package__) / "catalogue.csv").read_text(encoding="utf-8").replace("NAME", name)
    text = template_part(kind).replace("PLATFORM", template_part(f"platform-{platform}"))
    return text.replace("NAME", name)


def check_name(name: str) -> None:
    """Raise for a name that a file of one's own cannot have."""
    if not _NAME.fullmatch(name):
        raise InputError(f"name: letters, digits, - and _ after a letter are allowed, got {name!r}")


def template_part(name: str) -> str:
    """Text of a template or of a part that goes into one."""
    return (resources.files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
