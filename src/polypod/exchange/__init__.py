"""Robots of other programs: one reader a format and one line in ``READERS``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, UnknownNameError
from .embedded import UNCHANGED, EmbeddedRobot
from .linkage import Linkage, linkage_of
from .to_robot import Imported, ImportOptions, to_robot


class Reader(NamedTuple):
    """The module here with ``read``, ``read_embedded`` and ``CARRIED``; suffixes of its files; what they are."""

    module: str
    suffixes: tuple[str, ...]
    about: str

    @property
    def read(self) -> Callable[[Path, Path | None], Linkage]:
        """Its function, loaded when it is needed."""
        function: Callable[[Path, Path | None], Linkage] = import_module(f".{self.module}", __name__).read
        return function

    def embedded(self, path: Path, loops: Path | None) -> tuple[EmbeddedRobot | None, tuple[str, ...]]:
        """The robot file that is embedded in a file, and the names of fields that the file's elements carry too."""
        module = import_module(f".{self.module}", __name__)
        return module.read_embedded(path, loops), module.CARRIED


READERS = {
    "mjcf": Reader("mjcf", (".xml", ".mjcf"), "MuJoCo's MJCF; loops by connect and weld equalities"),
    "urdf": Reader("urdf", (".urdf",), "URDF; loops in a file robot.yaml next to it, or as loop elements (URDF+)"),
}
"""Formats that robots are read from."""


def import_robot(
    path: str | Path,
    platform: str | None = None,
    *,
    format: str | None = None,
    loops: str | Path | None = None,
    hold: Sequence[str] = (),
    actuated: Sequence[str] = (),
    at: Mapping[str, float] | None = None,
    close: bool = False,
) -> Imported:
    """A robot from another program's file, as legs of kind ``chain``.

    ``platform`` names a body, or a frame on one, which then is {P}; without it the body is proposed that most joints of
    loops are on, of several the farthest from the base. ``loops`` is the file with the loops of a URDF if it is not
    ``robot.yaml`` beside it. Joints in ``hold`` are fixed where they are. ``actuated`` are the driven joints, if the
    file does not say. ``at`` says by how much [m or rad] joints are moved to where they are at home. Loops that are a
    little open there are closed by moving bodies, any with ``close``. A file that polypod wrote and nobody changed
    gives the very robot that was exported, unless one of these is given. Returns the robot and remarks on what was
    changed or left out; ``polypod.errors.InputError`` says why there is no robot.
    """
    path = Path(path)
    if format is not None and format not in READERS:
        raise UnknownNameError("format", format, tuple(READERS))
    if not path.is_file():
        if path.exists():
            raise InputError(f"{path}: is a folder, a device or a pipe; name a file", code="not_a_file")
        raise InputError(f"{path}: file not found; check its name and folder", code="not_found")
    known = {suffix: name for name, reader in READERS.items() for suffix in reader.suffixes}
    chosen = format or known.get(path.suffix.lower())
    if chosen is None:
        raise InputError(f"{path}: unknown file type {path.suffix!r}; expected {', '.join(known)}, or pass format=")
    reader, beside = READERS[chosen], None if loops is None else Path(loops)
    options = ImportOptions(platform, tuple(hold), tuple(actuated), dict(at or {}), close)
    own, carried = reader.embedded(path, beside)
    if own is not None and own.robot is not None and own.unchanged and options == ImportOptions():
        return Imported(own.robot, (UNCHANGED,))
    linkage = reader.read(path, beside)
    return to_robot(linkage if own is None else linkage.with_remarks(*own.remarks(carried)), options)


__all__ = ["READERS", "Imported", "Linkage", "Reader", "import_robot", "linkage_of"]
