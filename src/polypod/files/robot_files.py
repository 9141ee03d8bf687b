"""Robot files: YAML in and out, with the line of every fault.

``leg_defaults`` in a file holds what the legs share; each leg overrides it field by field. Short forms (copies of a
leg, rods by two joints) are written out before the file is checked; axes that are parallel or perpendicular to the
digits of the file are made so.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from ..description.flexible import FlexiblePlatform
from ..description.modes import save_modes
from ..description.paths import dotted, place_of
from ..description.robot import Robot
from ..errors import (
    Fault,
    ImplausibleWarning,
    InputError,
    RobotFileError,
    RoundedWarning,
    UnknownNameError,
    UnphysicalWarning,
    short_repr,
)
from ..lazy import lazy
from ..yaml12 import Dumper, to_yaml
from .document_kinds import another_kind
from .documents import parse, read
from .faults import line_of, merge_remarks, structure_faults, validation_faults
from .rounded_axes import align_rounded_axes
from .settings import with_settings
from .short_forms import Expanded, ShortFormError, expand
from .suspected_unit_errors import suspicious_numbers

_LIBRARY = resources.files(__package__) / "robots"
_OF_LIBRARY = "library robot "


def library() -> tuple[str, ...]:
    """Names of the robots that come with polypod.

    Returns
    -------
    tuple of str
        Names, which ``load`` and ``Model`` take.

    Examples
    --------
    >>> "kim-ryu" in library()
    True
    """
    return tuple(sorted(entry.name[:-5] for entry in _LIBRARY.iterdir() if entry.name.endswith(".yaml")))


def load(robot: str | Path, settings: Mapping[str, Any] | None = None) -> Robot:
    """Read a robot from the library by name, or from a file by path.

    Parameters
    ----------
    robot : str or Path
        Name or path. A text with a suffix or a folder in it, or that names a file and no library robot, is a path.
    settings : mapping of str to value, optional
        Values that replace those of the file, by path (``platform.mass``, ``legs.*.base``), as a file would write them
        (``"60 kg"``). ``platform.kind: rigid`` takes a flexible platform as rigid.

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    RobotFileError
        If the file has faults: all of them, with their lines.
    UnknownNameError
        If there is no such robot; names similar ones.

    Examples
    --------
    >>> load("kim-ryu", {"platform.mass": "12 kg"}).platform.mass
    12.0
    """
    text, origin = _source(robot)
    return loads(text, origin, Path(origin).parent, settings)


def _source(robot: str | Path) -> tuple[str, str]:
    """Text of a robot's file, and what messages call it."""
    if not isinstance(robot, (str, Path)):
        raise InputError(f"robot: must be the name of a library robot or the path of a file, got {robot!r}")
    path, known = Path(robot), library()
    is_path = isinstance(robot, Path) or path.suffix or path.name != robot
    if is_path or (robot not in known and os.path.isfile(path)):
        return read(path, RobotFileError), str(path)
    if robot not in known:
        beside = [str(robot) + end for end in (".yaml", ".yml") if os.path.isfile(str(robot) + end)]
        raise UnknownNameError("robot", str(robot), (*beside, *known))
    return (_LIBRARY / f"{robot}.yaml").read_text(encoding="utf-8"), _in_library(robot)


def _in_library(name: str) -> str:
    return f"{_OF_LIBRARY}{name!r}"


def expanded_document(robot: str | Path) -> dict[str, Any]:
    """The document of a robot file with leg defaults and short forms written out, not checked: faster than a robot.

    Examples
    --------
    >>> len(expanded_document("hexapod")["legs"])
    6
    """
    text, origin = _source(robot)
    document, node = parse(text, origin, RobotFileError, "a mapping with name, platform, legs and more")
    return _expanded(document, node, origin).document


@contextmanager
def with_file_lines(robot: str | Path | Robot) -> Iterator[None]:
    """Adds file and lines to the faults of a robot that are noticed after reading it, if it came from a file."""
    try:
        yield
    except RobotFileError as error:
        if isinstance(robot, Robot):
            raise
        text, origin = _source(robot)
        document, node = parse(text, origin, RobotFileError, "a mapping")
        in_file = _expanded(document, node, origin).in_file
        fields = [dotted(in_file(place_of(fault.field))) for fault in error.faults]
        faults = [
            replace(fault, field=field, line=fault.line or line_of(field, node))
            for field, fault in zip(fields, error.faults, strict=True)
        ]
        raise RobotFileError(origin, faults) from error


def loads(
    text: str, origin: str = "text", folder: str | Path = ".", settings: Mapping[str, Any] | None = None
) -> Robot:
    """Read a robot from YAML text.

    Parameters
    ----------
    text : str
        Text of a robot file.
    origin : str, optional
        What messages call it.
    folder : str or Path, optional
        Folder of the files that the text names.
    settings : mapping of str to value, optional
        Values that replace those of the text, as in ``load``.

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    RobotFileError
        If the text has faults: all of them, with their lines.
    """
    file = (_read_once if origin.startswith(_OF_LIBRARY) else _read)(text, origin, folder)
    if file.whole.remarks:
        warnings.warn(RoundedWarning(file.whole.remarks), stacklevel=3)
    return _with_settings(file, origin, folder, settings)


def _with_settings(file: _File, origin: str, folder: str | Path, settings: Mapping[str, Any] | None) -> Robot:
    """The robot of a file with other values, and what is odd about it as warnings to the caller's caller."""
    robot, settings = file.robot, dict(settings or {})
    kind = settings.pop("platform.kind", None)
    if kind not in (None, "rigid"):
        raise InputError(
            f"platform.kind: can only be set to rigid, for a platform whose file says flexible, got {kind!r}"
        )
    if settings:
        changed = replace(file.whole, document=with_settings(file.whole.document, robot, settings))
        listed = ", ".join(f"{path} = {short_repr(value)}" for path, value in settings.items())
        robot = _checked(changed, file.node, f"{origin} with {listed}", folder)
    robot = robot.rigid if kind else robot
    for text in suspicious_numbers(robot) if kind or settings else file.suspected:
        warnings.warn(text, ImplausibleWarning, stacklevel=4)
    if robot.unphysical:
        names = [leg.name for leg in robot.legs]
        count = f"{len(robot.unphysical)} {'body' if len(robot.unphysical) == 1 else 'bodies'}"
        what = f"robot {robot.name!r} has {count} with a physically impossible inertia"
        lists = ""
        if origin == _in_library(robot.name):
            what += (
                ". These are the values its paper prints, kept as printed; your installation is fine. See the "
                "errata page of the guide (docs/errata.md)"
            )
            lists = f", 'polypod check {robot.name}' lists them"
        else:
            what += ", and its file turns the check off ('check: none')"
        bodies = merge_remarks(((f"{path}.inertia", problem) for path, problem in robot.unphysical.items()), names)
        warnings.warn(UnphysicalWarning(what, what + lists, bodies), stacklevel=4)
    return robot


@dataclass(frozen=True)
class _File:
    """A text's document, written out, its nodes with their lines, and the robot that it states."""

    whole: Expanded
    node: Any
    robot: Robot

    @lazy
    def suspected(self) -> tuple[str, ...]:
        """What ``suspicious_numbers`` says of the robot."""
        return tuple(suspicious_numbers(self.robot))


def _read(text: str, origin: str, folder: str | Path) -> _File:
    """What a text states."""
    document, node = parse(text, origin, RobotFileError, "a mapping with name, platform, legs and more")
    faults = another_kind(document, "robot") or structure_faults(document, node)
    if faults:
        raise RobotFileError(origin, faults)
    whole = _expanded(document, node, origin)
    return _File(whole, node, _checked(whole, node, origin, folder))


_read_once = lru_cache(maxsize=64)(_read)
"""The same for robots of the library, which name no other files: a robot never changes, so all may have the same."""


def _checked(whole: Expanded, node: Any, origin: str, folder: str | Path) -> Robot:
    """A robot from its written-out document; every fault with its line."""
    try:
        return Robot.model_validate(whole.document, context={"folder": Path(folder)})
    except ValidationError as error:
        faults = validation_faults(error, whole.document, node, in_file=whole.in_file)
        raise RobotFileError(origin, faults) from error


def changed(robot: Robot, values: Mapping[str, Any], fields: Mapping[str, Any]) -> Robot:
    """A copy of a robot with other values; see ``Robot.with_``.

    Parameters
    ----------
    robot : Robot
        The robot.
    values : mapping of str to value
        Values by path.
    fields : mapping of str to value
        Values by field, nested as in a file; ``name`` and ``title`` are texts.

    Returns
    -------
    Robot
        The copy.

    Examples
    --------
    >>> heavy = changed(load("hexapod"), {"legs.*.rotor_mass": "2 kg"}, {"platform": {"mass": 60}, "name": "heavy"})
    >>> heavy.name, heavy.platform.mass, heavy.legs[5].rotor_mass
    ('heavy', 60.0, 2.0)
    """
    texts = {name: fields[name] for name in ("name", "title") if name in fields}
    paths = {**values, **dict(_flat({name: value for name, value in fields.items() if name not in texts}))}
    named, origin = robot.model_copy(update=texts), f"robot {robot.name!r} with other values"
    if not paths:
        return loads(dumps(named), origin)
    document, node = parse(dumps(named), origin, RobotFileError, "a mapping")
    return _with_settings(_File(_expanded(document, node, origin), node, named), origin, ".", paths)


def _flat(fields: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Values of nested mappings by dotted path."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value.tolist() if isinstance(value, np.ndarray) else value


def dumps(robot: Robot, modes: str | None = None) -> str:
    """Write a robot as YAML text; what all legs share goes to ``leg_defaults``.

    Parameters
    ----------
    robot : Robot
        The robot.
    modes : str, optional
        Name of the file that holds the modes of a flexible platform. Default: the modes are written out.

    Returns
    -------
    str
        The text; ``loads`` reads it back to the same robot.
    """
    data = robot.model_dump(mode="json", exclude_defaults=True)
    if modes is not None:
        data["platform"] = {"kind": "flexible", "modes": modes}
    legs = [{"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True)} for leg in robot.legs]
    shared = {key: value for key, value in legs[0].items() if all(key in leg and leg[key] == value for leg in legs)}
    data["legs"] = [{key: value for key, value in leg.items() if key not in shared} for leg in legs]
    first = ["name", "title", "reference", "gravity", "euler", "home", "dof", "platform", "payload"]
    document = {key: data[key] for key in first if key in data}
    document |= {"leg_defaults": shared, "legs": data["legs"]}
    document |= {key: value for key, value in data.items() if key not in document}
    return to_yaml(document, dumper=_Dumper)


def digest(robot: Robot) -> str:
    """Digest of all data of a robot, by which an exported binary says which one it holds.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    str
        The first 16 hexadecimal digits of the SHA-256 of ``dumps(robot)``: comments and units of its file do not count.

    Examples
    --------
    >>> digest(load("hexapod")) == digest(loads(dumps(load("hexapod"))))
    True
    """
    return hashlib.sha256(dumps(robot).encode()).hexdigest()[:16]


def save(robot: Robot, path: str | Path) -> None:
    """Write a robot file that ``load`` reads back to the same robot; the file is written completely or not at all.

    Parameters
    ----------
    robot : Robot
        The robot.
    path : str or Path
        File to write. Modes of a flexible platform go to a mode file beside it, ``NAME-modes.npz`` for ``NAME.yaml``.
    """
    path = Path(path)
    own = robot.platform.modes if isinstance(robot.platform, FlexiblePlatform) else None
    # the whole name where it ends otherwise: NAME.yml must not take the modes of NAME.yaml
    beside = f"{path.stem if path.suffix == '.yaml' else path.name}-modes.npz"
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(dumps(robot, None if own is None else beside), encoding="utf-8")
        if own is not None:
            save_modes(own, path.with_name(beside))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _vector(dumper: Any, value: list[Any]) -> Any:
    """Vectors on one line, mappings as blocks."""
    flow = not any(isinstance(item, dict) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


class _Dumper(Dumper):
    """Robot files as people write them."""


_Dumper.add_representer(list, _vector)


def _expanded(document: dict[str, Any], node: Any, origin: str) -> Expanded:
    """A document with the legs' defaults spread and all short forms written out."""
    document, remarks = align_rounded_axes(_spread_defaults(document))
    try:
        return replace(expand(document), remarks=tuple(remarks))
    except ShortFormError as error:
        location, form = error.location, error.form
        if isinstance(error.problem, ValidationError) and form is not None:
            faults = validation_faults(error.problem, error.value, node, form, lambda place: location + place)
        else:
            field = dotted(location)
            faults = [Fault(field, str(error.problem), line_of(field, node))]
        raise RobotFileError(origin, faults) from error


def _spread_defaults(document: dict[str, Any]) -> dict[str, Any]:
    defaults, legs = document.get("leg_defaults") or {}, document.get("legs")
    rest = {key: value for key, value in document.items() if key != "leg_defaults"}
    if isinstance(legs, list):
        rest["legs"] = [{**defaults, **leg} if isinstance(leg, dict) else leg for leg in legs]
    if isinstance(rest.get("groups"), list):
        rest["groups"] = [
            _spread_defaults({**group, "leg_defaults": defaults}) if isinstance(group, dict) else group
            for group in rest["groups"]
        ]
    return rest
