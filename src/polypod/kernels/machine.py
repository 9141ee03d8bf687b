"""From LLVM code to a callable address: compiled once, kept on disk, loaded again in milliseconds."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import threading
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding as llvm
from llvmlite import ir

_MAGIC = b"polypod-kernel-3\n"
_ENGINES: list[llvm.ExecutionEngine] = []  # machine code lives as long as the process
_LOCK = threading.Lock()


@cache
def host() -> tuple[str, str, str]:
    """Triple, CPU name and features of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def vector_width() -> int:
    """Doubles in the machine's widest vector: the number of states evaluated side by side."""
    features = host()[2].split(",")
    if "+avx512f" in features:
        return 8
    return 4 if "+avx" in features else 2


def cache_folder() -> Path:
    """Where object code is kept: ``POLYPOD_CACHE`` or the user's cache folder."""
    chosen = os.environ.get("POLYPOD_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "polypod" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "polypod"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "polypod"


@cache
def _emitter_digest() -> bytes:
    """Changes when the code that writes machine code changes."""
    folder = Path(__file__).parent
    files = [*folder.glob("*.py"), folder.parent / "symbols" / "graph.py", folder.parent / "symbols" / "expression.py"]
    return b"".join(hashlib.sha256(file.read_bytes()).digest() for file in sorted(files))


def key_of(content: bytes, width: int) -> str:
    """Name of a kernel in the cache: what it computes, how, with what, on what."""
    digest = hashlib.sha256(_emitter_digest())
    for part in (content, str(width), llvmlite.__version__, repr(llvm.llvm_version_info), *host()):
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


@dataclass(frozen=True)
class Compiled:
    """Object code of a kernel and what a caller must know of it (arrays and operations), as JSON data."""

    about: dict[str, Any]
    code: bytes

    def to_bytes(self) -> bytes:
        """A file's content: magic, digest of the rest, length of the description, description, code."""
        text = json.dumps(self.about).encode()
        rest = len(text).to_bytes(8, "little") + text + self.code
        return _MAGIC + hashlib.sha256(rest).digest() + rest

    @staticmethod
    def from_bytes(content: bytes) -> Compiled | None:
        """None unless the content is whole."""
        start = len(_MAGIC) + 32
        rest = content[start:]
        if content[: len(_MAGIC)] != _MAGIC or hashlib.sha256(rest).digest() != content[len(_MAGIC) : start]:
            return None
        length = int.from_bytes(rest[:8], "little")
        return Compiled(json.loads(rest[8 : 8 + length]), rest[8 + length :])


def load(key: str) -> Compiled | None:
    """A kernel from the cache; None if absent or damaged (then it is made anew)."""
    try:
        return Compiled.from_bytes((cache_folder() / f"{key}.kernel").read_bytes())
    except OSError:
        return None


def keep(key: str, compiled: Compiled) -> None:
    """Write a kernel to the cache: complete under another name first, so no reader sees half a file."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, partial = tempfile.mkstemp(dir=folder, prefix=key[:16], suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(compiled.to_bytes())
            os.replace(partial, folder / f"{key}.kernel")
        except OSError:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        warnings.warn(f"kernels are not kept between runs: {folder} cannot be written ({error})", stacklevel=2)


def _target_machine() -> llvm.TargetMachine:
    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=1, jit=True)


def compile_module(module: ir.Module) -> bytes:
    """Object code of an LLVM module for this machine."""
    module.triple = host()[0]
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    return bytes(_target_machine().emit_object(parsed))


def address(code: bytes, name: str) -> int:
    """Address of a function in object code, linked into this process."""
    with _LOCK:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _ENGINES.append(engine)
        return int(engine.get_function_address(name))
