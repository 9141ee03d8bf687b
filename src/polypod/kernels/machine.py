"""From LLVM code to a callable address: compiled once, kept on disk, loaded again in milliseconds."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
from llvmlite import binding as llvm

from ..errors import InputError
from ..fingerprint import fingerprint
from . import quiescence, store
from .emit import Module
from .threads import BackgroundTask

COMPILING = threading.RLock()
"""Held while functions are built, compiled or linked. One lock for all, which a fork waits for: a child has none of the
threads that would give back what they hold."""
BACKGROUND = BackgroundTask()
"""LLVM at work, which takes seconds for the largest functions and cannot be stopped."""


def _before_fork() -> None:
    COMPILING.acquire()
    llvm.ffi.lib._lock.__enter__()  # LLVM's own, which threads hold that free code
    quiescence.settle()  # mutexes of CasADi


def _after_fork() -> None:
    quiescence.resume()
    llvm.ffi.lib._lock.__exit__()
    COMPILING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


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


@cache
def narrow_width() -> int | None:
    """Doubles in the vectors of a second code for a state or two; None where it would gain less than a tenth.

    Operations on vectors of 8 take twice the time of narrower ones, divisions and roots four times; on vectors of 4
    most take the same time as on one number.
    """
    return 2 if vector_width() == 8 else None


_EMITTER = ("kernels", *(f"symbols/{name}.py" for name in ("split", "expression", "graph", "program")))
"""The code that writes machine code."""


def optimisation() -> int:
    """How much work goes into machine code: 1, or what ``POLYPOD_OPTIMISE`` says, from 0 to 3.

    0 takes a tenth of the time to compile, for code that takes ten times as long to run: for trials and tests.
    More than 1 gains nothing measurable.
    """
    chosen = os.environ.get("POLYPOD_OPTIMISE") or "1"
    if chosen not in ("0", "1", "2", "3"):
        raise InputError(f"POLYPOD_OPTIMISE: 0, 1, 2 or 3 is needed, got {chosen!r}")
    return int(chosen)


def key_of(content: bytes, width: int, level: int | None = None) -> str:
    """Name of a kernel in the cache: what it computes, how (the ``level`` of optimisation), with what, on what."""
    digest = hashlib.sha256(fingerprint(*_EMITTER))
    effort = str(optimisation() if level is None else level)
    for part in (content, str(width), effort, llvmlite.__version__, repr(llvm.llvm_version_info), *host()):
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()


@dataclass(frozen=True)
class Compiled:
    """Object code of a kernel and what a caller must know of it (arrays and operations), as JSON data."""

    about: dict[str, Any]
    code: bytes

    def to_bytes(self) -> bytes:
        """Length of the description, description, code."""
        text = json.dumps(self.about).encode()
        return len(text).to_bytes(8, "little") + text + self.code

    @staticmethod
    def from_bytes(content: bytes) -> Compiled:
        """From what ``to_bytes`` gave."""
        length = int.from_bytes(content[:8], "little")
        return Compiled(json.loads(content[8 : 8 + length]), content[8 + length :])


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Without Python's search for garbage, which takes a fifth of the time that symbols take and finds none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def compiled(key: str, make: Callable[[], Compiled]) -> Compiled:
    """The code that a key of ``key_of`` names: kept on disk from an earlier run, or made and kept."""
    content = store.load(key)
    if content is not None:
        return Compiled.from_bytes(content)
    with _without_collecting():
        made = make()
    store.keep(key, made.to_bytes())
    return made


def _target_machine(level: int | None = None) -> llvm.TargetMachine:
    triple, cpu, features = host()
    effort = optimisation() if level is None else level
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=effort, jit=True)


def compile_module(module: Module, level: int | None = None) -> bytes:
    """Object code of an LLVM module for this machine, by a ``level`` of optimisation (see ``optimisation``)."""
    triple = host()[0]

    def compiled() -> bytes:
        parsed = llvm.parse_assembly(f'target triple = "{triple}"\n{module}')
        parsed.verify()
        return bytes(_target_machine(level).emit_object(parsed))

    with COMPILING:
        return BACKGROUND(compiled)


class Linked:
    """Object code linked into this process, for as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        with COMPILING:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is. Keep this object as long as it is used."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str) -> Callable[[int], None]:
        """A function ``void name(int64 *block)``, called with the block's address while other threads run."""
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address(name))


def name_address(name: str, function: Any) -> None:
    """Let code that is linked from now on call a C function that ``ctypes`` has found by this name."""
    with COMPILING:
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
