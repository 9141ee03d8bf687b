"""A robot as an FMU (Functional Mock-up Unit), FMI 2.0 and 3.0, with its C sources inside."""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from ...description.paths import get
from ...errors import AS_RIGID, InputError, UnknownNameError
from ...model import Model
from ...parameters.paths import known_paths
from ..code import identifier
from ..text import file_name
from .build import Build
from .description import Description
from .kinds import KINDS

# ----------------------------------------------------------------------------------------------------------------------
# The binary of an FMU: its sources compiled with the C compiler of this machine.

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O2", "-fno-math-errno")
_ALWAYS = ("-std=c99", "-fPIC", "-shared", "-fvisibility=hidden")


def find_compiler(name: str | None = None) -> str | None:
    """The compiler of a name (CC's unless given), or the first of the usual ones; None if there is none.

    A name may have arguments: ``zig cc -target x86_64-windows-gnu``.
    """
    wanted = name or os.environ.get("CC")
    if not wanted:
        return next(filter(None, map(shutil.which, COMPILERS)), None)
    program, *arguments = shlex.split(wanted) or [""]
    found = shutil.which(program)
    if found is None:
        raise InputError(
            f"compiler: {program!r} is not on this machine; name one that is ({', '.join(COMPILERS)}), install gcc or "
            "clang, or leave it out for an FMU of sources, which importers can compile"
        )
    return shlex.join([found, *arguments])


def binary(compiler: str, sources: Mapping[str, str], names: Sequence[str], flags: Sequence[str] = FLAGS) -> bytes:
    """The shared library of the sources; ``names`` are those that are compiled."""
    with tempfile.TemporaryDirectory(prefix="polypod-fmu-") as folder:
        for name, text in sources.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [*shlex.split(compiler), *_ALWAYS, *flags, *names, "-lm", "-o", "model.bin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InputError(f"compiler: {' '.join(command[:-2])} failed:\n{done.stderr.strip()[-2000:]}")
        return (Path(folder) / "model.bin").read_bytes()


_ELF = {0x03: "x86", 0x3E: "x86_64", 0xB7: "aarch64", 0x28: "aarch32", 0xF3: "riscv64"}
_PE = {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64"}
_MACH = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
_FMI2 = {
    "x86_64-linux": "linux64", "x86-linux": "linux32", "x86_64-darwin": "darwin64", "x86_64-windows": "win64",
    "x86-windows": "win32",
}  # fmt: skip
_SUFFIX = {"linux": "so", "darwin": "dylib", "windows": "dll"}


def platform_of(content: bytes) -> str:
    """For which machine and system a shared library is, as FMI 3.0 writes it (``x86_64-linux``): its own head says so,
    whatever the compiler is called."""

    def word(at: int, size: int) -> int:
        return int.from_bytes(content[at : at + size], "little")

    machine, system = "", ""
    if content[:4] == b"\x7fELF":
        machine, system = _ELF.get(word(18, 2), ""), "linux"
    elif content[:2] == b"MZ" and content[word(0x3C, 4) :][:4] == b"PE\0\0":
        machine, system = _PE.get(word(word(0x3C, 4) + 4, 2), ""), "windows"
    elif content[:4] == b"\xcf\xfa\xed\xfe":
        machine, system = _MACH.get(word(4, 4), ""), "darwin"
    if not machine:
        raise InputError(
            "compiler: made a file that is no shared library for Linux, Windows or macOS on a known processor; use "
            "another compiler, or export sources only"
        )
    return f"{machine}-{system}"


def binary_path(identifier: str, fmi: int, content: bytes) -> str:
    """The path of a binary within an FMU, by what it is."""
    name = platform_of(content)
    folder = _FMI2.get(name, name) if fmi == 2 else name
    return f"binaries/{folder}/{identifier}.{_SUFFIX[name.partition('-')[2]]}"


# ----------------------------------------------------------------------------------------------------------------------
# A robot as an FMU (Functional Mock-up Unit), FMI 2.0 and 3.0, with its C sources inside.

VERSIONS = (2, 3)
_GLUE = ("instance.h", "instance.c")


class Fmu(NamedTuple):
    """An FMU: its file's name and bytes, compilers of its binaries (None: sources only), and their platforms."""

    name: str
    content: bytes
    compiler: str | None
    platforms: tuple[str, ...] = ()


def export_fmu(
    model: Model,
    kind: str = "plant",
    fmi: int = 2,
    parameters: Sequence[str] | None = None,
    friction: bool = True,
    *,
    compiler: str | Sequence[str] | None = None,
    sources_only: bool = False,
    flags: Sequence[str] = FLAGS,
) -> Fmu:
    """A robot as an FMU of a kind of ``KINDS``, of FMI 2.0 or 3.0.

    ``parameters`` are paths of the robot's numbers that are parameters of the FMU (``all`` for every one that is not
    zero); those of ``usual_parameters`` unless given. Its sources are compiled with ``compiler`` (CC, or the first
    of cc, gcc and clang) and ``flags``, unless there is none or ``sources_only``; several compilers make binaries for
    several systems, each in the folder of what it is. The same robot gives the same bytes.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of FMU", kind, tuple(KINDS))
    if fmi not in VERSIONS:
        raise InputError(f"fmi: {' or '.join(map(str, VERSIONS))} is needed, got {fmi!r}")
    if model.robot.flexible and not KINDS[kind].flexible:
        able = ", ".join(name for name, one in KINDS.items() if one.flexible)
        raise InputError(
            f"fmu: the platform of {model.robot.name!r} is flexible: its motion and forces do not follow from the "
            f"variables of {kind} alone; export {able}, its functions with 'polypod export c', or {AS_RIGID}",
            code="flexible",
        )
    asked = (compiler,) if compiler is None or isinstance(compiler, str) else tuple(compiler)
    found = [] if sources_only else [one for one in map(find_compiler, asked) if one is not None]
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
    platforms = []
    for one in found:
        content = binary(one, texts, names, flags)
        platforms.append(platform_of(content))
        files[binary_path(own, fmi, content)] = content
    return Fmu(f"{file_name(model)}-{kind}.fmu", _zipped(files), ", ".join(found) or None, tuple(platforms))


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
    return tuple(path for path in stated if not path.endswith(("viscous", "coulomb")) or get(robot, path))


def _zipped(files: dict[str, bytes]) -> bytes:
    """The files as an archive that depends on nothing else."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


__all__ = ["KINDS", "Fmu", "export_fmu", "usual_parameters"]
