"""A robot as an FMU (Functional Mock-up Unit), FMI 2.0 and 3.0, with its C sources inside."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from ...errors import AS_RIGID, InputError, UnknownNameError
from ...model import Model
from ...parameters.paths import known_paths, value_at
from ..code import identifier
from ..text import file_name
from .build import Build
from .compiler import FLAGS, binary, binary_path, find_compiler
from .description import Description
from .kinds import KINDS

VERSIONS = (2, 3)
_GLUE = ("instance.h", "instance.c")


class Fmu(NamedTuple):
    """An FMU: its file's name and bytes, and the compiler of its binary (None: sources only)."""

    name: str
    content: bytes
    compiler: str | None


def export_fmu(
    model: Model,
    kind: str = "plant",
    fmi: int = 2,
    parameters: Sequence[str] | None = None,
    friction: bool = True,
    *,
    compiler: str | None = None,
    sources_only: bool = False,
    flags: Sequence[str] = FLAGS,
) -> Fmu:
    """A robot as an FMU of a kind of :data:`KINDS`, of FMI 2.0 or 3.0.

    ``parameters`` are paths of the robot's numbers that are parameters of the FMU (``all`` for every one that is not
    zero); those of :func:`usual_parameters` unless given. Its sources are compiled with ``compiler`` (CC, or the first
    of cc, gcc and clang) and ``flags``, unless there is none or ``sources_only``. The same robot gives the same bytes.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of FMU", kind, tuple(KINDS))
    if fmi not in VERSIONS:
        raise InputError(f"fmi: {' or '.join(map(str, VERSIONS))} is needed, got {fmi!r}")
    if model.robot.flexible and not KINDS[kind].flexible:
        able = ", ".join(name for name, one in KINDS.items() if one.flexible)
        raise InputError(
            f"fmu: the platform of {model.robot.name!r} is flexible: its motion and forces do not follow from the "
            f"variables of {kind} alone; export {able}, its functions with 'polypod export c', or {AS_RIGID}"
        )
    found = None if sources_only else find_compiler(compiler)
    build = Build(model, usual_parameters(model) if parameters is None else parameters, friction)
    code = KINDS[kind].make(build)
    glue = (*_GLUE, f"fmi{fmi}.c")
    texts = {name: (resources.files(__package__) / "c" / name).read_text(encoding="utf-8") for name in glue}
    texts["model.c"] = build.source(code)
    names = ("model.c", "instance.c", f"fmi{fmi}.c")
    joined = "".join(texts.values()) + "".join(map(repr, build.variables))
    token = f"{{{hashlib.sha256(joined.encode()).hexdigest()[:32]}}}"
    texts["model.h"] = build.header(code, token)
    robot = model.robot
    about = f"{robot.title or robot.name}: {KINDS[kind].about}. SI units and radians."
    own = identifier(f"{robot.name}_{kind}")
    description = Description(f"{robot.name} {kind}", own, about, token, build.variables, KINDS[kind].exchange, names)
    files = {"modelDescription.xml": description.xml(fmi).encode()}
    files |= {f"sources/{name}": text.encode() for name, text in sorted(texts.items())}
    if fmi == 3:
        files["sources/buildDescription.xml"] = description.build().encode()
    if found is not None:
        files[binary_path(own, fmi)] = binary(found, texts, names, flags)
    return Fmu(f"{file_name(model)}-{kind}.fmu", _zipped(files), found)


def usual_parameters(model: Model) -> tuple[str, ...]:
    """Paths of what changes most: mass and centre of platform and payload, friction of the actuated joints."""
    robot = model.robot
    wanted = [f"{body}.{field}" for body in ("platform", *robot.payloads) for field in ("mass", "com")]
    for a in model.actuators:
        leg = next(k for k, one in enumerate(robot.legs) if one.name == a.leg)
        joints = {j.name: (k, j) for k, j in enumerate(getattr(robot.legs[leg], "joints", ()))}
        friction = f"{a.joint}_friction"
        if a.joint in joints:
            number, joint = joints[a.joint]
            own = f"frictions.{joint.actuated}" if joint.frictions is not None else "friction"
            friction = f"joints.{number}.{own}"
        wanted += [f"legs.{leg}.{friction}.{law}" for law in ("viscous", "coulomb")]
    known = set(known_paths(robot))
    stated = [path for path in wanted if path in known]
    # friction that the robot does not have would only cost time
    return tuple(path for path in stated if not path.endswith(("viscous", "coulomb")) or value_at(robot, path))


def _zipped(files: dict[str, bytes]) -> bytes:
    """The files as an archive that depends on nothing else."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


__all__ = ["KINDS", "Fmu", "export_fmu", "usual_parameters"]
