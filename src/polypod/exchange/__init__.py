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
from .whole import whole_robot


class Reader(NamedTuple):
    """A format that robots can be imported from.

    Attributes
    ----------
    module : str
        Module of ``polypod.exchange`` with ``read``, ``read_embedded`` and ``CARRIED``.
    suffixes : tuple of str
        Suffixes of its files.
    about : str
        What they are.
    """

    module: str
    suffixes: tuple[str, ...]
    about: str

    @property
    def read(self) -> Callable[[Path, Path | None], Linkage]:
        """Its function, loaded when it is needed."""
        function: Callable[[Path, Path | None], Linkage] = import_module(f".{self.module}", __name__).read
        return function

    def embedded(self, path: Path, loops: Path | None) -> tuple[EmbeddedRobot | None, tuple[str, ...]]:
        """The robot file embedded in a file that polypod wrote.

        Parameters
        ----------
        path : Path
            The file.
        loops : Path or None
            File with the loops of a URDF.

        Returns
        -------
        robot : EmbeddedRobot or None
            The robot; None if the file has none.
        carried : tuple of str
            Names of fields that the elements of the file state too.
        """
        module = import_module(f".{self.module}", __name__)
        return module.read_embedded(path, loops), module.CARRIED


READERS = {
    "mjcf": Reader("mjcf", (".xml", ".mjcf"), "MuJoCo's MJCF; loops by connect and weld equalities"),
    "urdf": Reader(
        "urdf", (".urdf",), "URDF; loops in a file robot.yaml next to it, or as elements (loop, constraint, loop_joint)"
    ),
    "sdf": Reader("sdf", (".sdf", ".world"), "SDF of Gazebo; loops are joints like the others"),
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
    limb: Sequence[str] = (),
    dof: Sequence[str] = (),
) -> Imported:
    """Convert an MJCF, URDF or SDF model to a robot with legs of kind ``chain``.

    An unchanged file that polypod wrote gives the robot that was exported, unless one of the options is given.

    Parameters
    ----------
    path : str or Path
        The file.
    platform : str, optional
        Body, or frame on one, that becomes {P}. Default: the body with most joints of loops, of several the farthest
        from the base.
    format : str, optional
        Name in ``polypod.exchange.READERS``. Default: by the file's suffix.
    loops : str or Path, optional
        File with the loops of a URDF. Default: ``robot.yaml`` beside it.
    hold : sequence of str, optional
        Joints that are fixed where they are.
    actuated : sequence of str, optional
        Driven joints, if the file does not say.
    at : mapping of str to float, optional
        Displacements of joints at home [m or rad].
    close : bool, optional
        Whether to close loops that are far open at home by moving bodies; loops that are slightly open are always
        closed.
    limb : sequence of str, optional
        Two bodies or frames of a larger robot, such as shank and foot of a humanoid: what is between them is the
        robot, the first its base.
    dof : sequence of str, optional
        Joints whose positions are the robot's coordinates. Default: components of the platform's motion in base axes;
        of a limb with a passive leg of hinges in a row (an ankle, a waist) the positions of these.

    Returns
    -------
    Imported
        The robot, and remarks on what was changed or left out.

    Raises
    ------
    InputError
        If the file gives no robot; says why.
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
    options = ImportOptions(platform, tuple(hold), tuple(actuated), dict(at or {}), close, tuple(limb), tuple(dof))
    own, carried = reader.embedded(path, beside)
    if own is not None and own.robot is not None and own.unchanged and options == ImportOptions():
        return Imported(own.robot, (UNCHANGED,))
    linkage = reader.read(path, beside)
    return to_robot(linkage if own is None else linkage.with_remarks(*own.remarks(carried)), options)


__all__ = ["READERS", "Imported", "Linkage", "Reader", "import_robot", "linkage_of", "whole_robot"]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
