"""The binary of an FMU: its sources compiled with the C compiler of this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...errors import InputError

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O2", "-fno-math-errno")
_ALWAYS = ("-std=c99", "-fPIC", "-shared", "-fvisibility=hidden")


def find_compiler(name: str | None = None) -> str | None:
    """The compiler of a name (CC's unless given), or the first of the usual ones; None if there is none."""
    wanted = name or os.environ.get("CC")
    if not wanted:
        return next(filter(None, map(shutil.which, COMPILERS)), None)
    found = shutil.which(wanted)
    if found is None:
        raise InputError(
            f"compiler: {wanted!r} is not on this machine; name one that is ({', '.join(COMPILERS)}), install gcc or "
            "clang, or leave it out for an FMU of sources, which importers can compile"
        )
    return found


def binary(compiler: str, sources: Mapping[str, str], names: Sequence[str], flags: Sequence[str] = FLAGS) -> bytes:
    """The shared library of the sources; ``names`` are those that are compiled."""
    with tempfile.TemporaryDirectory(prefix="polypod-fmu-") as folder:
        for name, text in sources.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [compiler, *_ALWAYS, *flags, *names, "-lm", "-o", "model.bin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InputError(f"compiler: {' '.join(command[:-2])} failed:\n{done.stderr.strip()[-2000:]}")
        return (Path(folder) / "model.bin").read_bytes()


def binary_path(identifier: str, fmi: int) -> str:
    """The path of the binary for this machine within an FMU."""
    system = {"linux": "linux", "darwin": "darwin"}.get(sys.platform, "windows")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = f"{machine}-{system}"
    if fmi == 2 and machine == "x86_64":
        folder = {"linux": "linux64", "darwin": "darwin64", "windows": "win64"}[system]
    suffix = {"linux": "so", "darwin": "dylib", "windows": "dll"}[system]
    return f"binaries/{folder}/{identifier}.{suffix}"
