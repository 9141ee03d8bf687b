"""Processes that fork while they compile, many robots in one process, writes that fail at every place."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import Fault, InputError, RobotFileError, StateError, UnknownNameError
from polypod.files.templates import template
from polypod.output.atomic import atomic_write
from polypod.results.report import FILES, atomic_folder
from support.little_kernels import kernel_of

MAPS = Path("/proc/self/maps")


def mappings() -> int:
    return MAPS.read_bytes().count(b"\n")


def linked_and_dropped(count: int) -> None:
    """Kernels of their own object code each, called once and let go."""
    for k in range(count):
        kernel = kernel_of(lambda x, k=k: x * (k + 0.5), (3,))
        assert kernel(np.ones((1, 3)))[0, 0] == k + 0.5


@pytest.mark.long
@pytest.mark.skipif(not MAPS.exists(), reason="mappings are counted on Linux")
def test_object_code_is_freed_with_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four mappings a robot ended a process near 16,000 robots."""
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    linked_and_dropped(5)
    gc.collect()
    before = mappings()
    linked_and_dropped(60)
    gc.collect()
    assert mappings() < before + 60


@pytest.mark.long
@pytest.mark.skipif(not MAPS.exists(), reason="mappings are counted on Linux")
def test_twenty_thousand_kernels_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    linked_and_dropped(20_000)
    assert mappings() < 5_000


@pytest.mark.long
def test_five_hundred_robots_in_one_process() -> None:
    """Robots of one topology share functions: later ones compile nothing, and none stays."""
    text = template("robot", "mine")
    for k in range(500):
        robot = pp.loads(text.replace("mass: 30.0", f"mass: {30 + k / 100}"))
        model = pp.Model(robot)
        assert np.isfinite(model.inverse_kinematics(robot.home.matrix)).all()
    assert not MAPS.exists() or mappings() < 5_000


_FORKS = """
import itertools, os, sys, threading, time
sys.path.insert(0, sys.argv[1])
from support.little_kernels import kernel_of
import numpy as np

compiled = threading.Event()

def compile_one(k):
    kernel_of(lambda x: x * (k + 0.25), (3,))(np.ones((1, 3)))

def compile_on():
    for k in itertools.count():
        compile_one(k)
        compiled.set()  # by this thread alone: a fork may leave its lock locked

threading.Thread(target=compile_on, daemon=True).start()
compiled.wait()
wrong, children = 0, []
for k in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        compile_one(1000_000 + k)
        os._exit(0)
    children.append((child, time.monotonic() + 120))
    while len(children) > (0 if k + 1 == int(sys.argv[2]) else 3):
        child, end = children.pop(0)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            wrong += status != 0
        elif time.monotonic() < end:
            children.append((child, end))
            time.sleep(1e-3)
        else:
            os.kill(child, 9)
            os.waitpid(child, 0)
            wrong += 1
print(wrong)
os._exit(0)
"""


@pytest.mark.parametrize("count", [8, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_compiles(count: int, tmp_path: Path) -> None:
    """Of 3000 children 4 waited for ever, for mutexes that the other thread held in CasADi."""
    import subprocess

    environment = {**os.environ, "POLYPOD_CACHE": str(tmp_path), "POLYPOD_OPTIMISE": "0"}
    run = subprocess.run(
        [sys.executable, "-c", _FORKS, str(Path(__file__).parent.parent), str(count)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert run.stdout == "0\n", run.stderr


_LOCKED = """
import ctypes, os, sys, threading
from polypod.kernels.emit import Module
from polypod.kernels.machine import Linked, compile_module

# A library that computes with a mutex locked while other threads of Python run, as CasADi does.
module = Module()
module.add('''
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
define void @compute(ptr %mutex) {
  call i32 @pthread_mutex_lock(ptr %mutex)
  %place = alloca i64
  br label %loop
loop:
  %k = phi i64 [0, %0], [%next, %loop]
  store volatile i64 %k, ptr %place
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 200000
  br i1 %more, label %loop, label %end
end:
  call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}
''')
linked = Linked(compile_module(module))
compute, mutex = linked.function("compute"), ctypes.create_string_buffer(64)
address = ctypes.addressof(mutex)

def forever():
    while True:
        compute(address)

threading.Thread(target=forever, daemon=True).start()
locked = 0
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(ctypes.PyDLL(None).pthread_mutex_trylock(mutex) != 0)
    locked += os.waitpid(child, 0)[1] != 0
print(locked, sys.getswitchinterval())
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what threads do")
def test_no_thread_is_inside_a_library_at_a_fork() -> None:
    """Nearly every child found the mutex locked by a thread that it does not have."""
    import subprocess

    run = subprocess.run([sys.executable, "-c", _LOCKED], capture_output=True, text=True, check=False)
    assert run.stdout == f"0 {sys.getswitchinterval()}\n", run.stderr


# -- writes that fail ------------------------------------------------------------------------------------------------


class FailAt:
    """Counts calls that touch a disk and lets one of them fail."""

    NAMES = ("write", "replace", "rename", "mkdir", "chmod", "open")

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number, self.count = -1, 0
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count - 1 == self.number:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*args, **kwargs)

        return counted


def write_folder(target: Path) -> None:
    with atomic_folder(target, True, FILES) as folder:
        (folder / "figures").mkdir()
        (folder / "figures" / "a.png").write_bytes(b"new")
        atomic_write(folder / "report.html", b"new")


def write_file(target: Path) -> None:
    atomic_write(target / "report.html", b"new")


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


@pytest.mark.parametrize("write", [write_folder, write_file])
def test_a_write_that_fails_anywhere_leaves_all_or_nothing(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call to the system fails once: what was there is there as before, or the new is there whole."""
    target = tmp_path / "results"
    target.mkdir()
    (target / "report.html").write_bytes(b"old")
    old = dict(contents(target))
    write(target)
    new = dict(contents(target))
    assert new != old
    outcomes = []
    for number in range(40):
        for path in sorted(target.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (target / "report.html").write_bytes(b"old")
        with monkeypatch.context() as patch:
            fault = FailAt(patch)
            fault.number = number
            try:
                write(target)
            except InputError as error:
                outcomes.append("refused" if "No space left" in str(error) else str(error))
            else:
                outcomes.append("written")
            reached = fault.count > number
        there = dict(contents(target))
        assert there == {"refused": old, "written": new}[outcomes[-1]], number
        beside = [entry for entry in tmp_path.iterdir() if entry != target]
        # results that were replaced and could not be removed wait for the next run, which clears them
        assert all(entry.suffix == ".old" for entry in beside), number
        assert not beside or outcomes[-1] == "written"
        for entry in beside:
            shutil.rmtree(entry)
        if not reached:
            break
    assert "refused" in outcomes
    assert outcomes[-1] == "written"


@pytest.mark.parametrize(
    "error",
    [
        InputError("twist: 6 numbers are needed, got 5"),
        UnknownNameError("formulation", "lagrangian", ("lagrange", "newton-euler")),
        RobotFileError("arm.yaml", [Fault("legs.0", "missing", 3), Fault("gravity", "three numbers are needed")]),
        StateError("no answer", (2,), ["singular"], None, 0.5),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_whole_from_other_processes(error: Any) -> None:
    """As a sweep on a cluster gets them: pickled, with their data."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
