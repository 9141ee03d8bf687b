"""The cache of object code: used by the next process, safe when several write, never fatal."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.kernels import machine, store
from support.little_kernels import kernel_of, run
from support.refusals import refused, warned

pytestmark = pytest.mark.usefixtures("as_shipped")

FORCES = """
import sys, warnings
import numpy as np
import polypod as pp
from polypod.kernels import machine, store

if "no compiler" in sys.argv[1:]:
    def refuse(*arguments):
        raise SystemExit("compiled again")
    machine.compile_module = refuse
model = pp.Model("staicu")
home, zero = model.robot.home.matrix, np.zeros(6)
print(model.inverse_dynamics(home, zero, zero).round(6).tolist())
"""
EMPTY = """
import os
os.environ["POLYPOD_CACHE"] = os.path.join(os.environ["POLYPOD_CACHE"], "none")
pp.Model("five-bar")
"""
WANTED = "[46.785368, 46.785368, 53.556528]"
"""Of a program in 50 digits, as in ``test_recursive_matrix``."""


@pytest.mark.long
def test_a_second_process_uses_the_cache(tmp_path: Path) -> None:
    first = run(FORCES, POLYPOD_CACHE=str(tmp_path))
    assert first.stdout.strip() == WANTED, first.stderr
    files = sorted(tmp_path.iterdir())
    assert files
    assert all(f.suffix == ".kernel" for f in files)
    stamps = [f.stat().st_mtime_ns for f in files]
    without = FORCES.replace('"no compiler" in sys.argv[1:]', "True") + EMPTY
    second = run(without, POLYPOD_CACHE=str(tmp_path))
    assert second.stdout.strip() == WANTED, second.stderr  # and then, from an empty folder:
    assert [f.stat().st_mtime_ns for f in sorted(tmp_path.glob("*.kernel"))] == stamps
    assert second.stderr.strip().endswith("compiled again")


@pytest.mark.long
def test_two_processes_may_write_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", FORCES],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "POLYPOD_CACHE": str(tmp_path), "PYTHONWARNINGS": "error"},
        )
        for _ in range(2)
    ]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out.strip() == WANTED
    assert all(f.suffix == ".kernel" for f in tmp_path.iterdir())
    for file in tmp_path.iterdir():
        monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
        assert machine.load(file.stem) is not None


def twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A little kernel made in a cache folder; its value."""
    monkeypatch.setenv("POLYPOD_CACHE", str(folder))
    kernel = kernel_of(lambda x: 2.0 * x + 0.125, (3,))
    return kernel(np.ones((2, 3)))


DAMAGE = {
    "empty": lambda content: b"",
    "shorter than its head": lambda content: content[:9],
    "head only": lambda content: content[:57],
    "truncated": lambda content: content[:-100],
    "one byte short": lambda content: content[:-1],
    "one bit wrong": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    "another format": lambda content: b"polypod-kernel-0\n" + content[17:],
    "something else": lambda content: b"\x00" * 5000,
    "longer": lambda content: content + b"tail",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_is_made_anew(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = twice(tmp_path, monkeypatch)
    contents = {file: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(contents) == 2  # what a caller must know, and the code
    for file, content in contents.items():
        file.write_bytes(DAMAGE[how](content))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(twice(tmp_path, monkeypatch), wanted)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == contents


def test_a_folder_that_cannot_be_written_warns_and_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = twice(tmp_path / "good", monkeypatch)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with warned(UserWarning, "file POLYPOD_CACHE"):
        assert np.array_equal(twice(blocked, monkeypatch), wanted)
    assert blocked.read_text() == "not a folder"
    with warned(UserWarning, "POLYPOD_CACHE"):
        twice(blocked / "deeper", monkeypatch)


def test_a_folder_that_is_read_only_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of use cannot be noted there; the code is good all the same."""

    def read_only(*_: Any, **__: Any) -> None:
        raise OSError("read-only file system")

    wanted = twice(tmp_path, monkeypatch)
    monkeypatch.setattr(store.os, "utime", read_only)
    monkeypatch.setattr(machine, "compile_module", lambda module: pytest.fail("compiled again"))
    assert np.array_equal(twice(tmp_path, monkeypatch), wanted)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(store.os, "replace", full)
    with warned(UserWarning, "space"):
        twice(tmp_path, monkeypatch)
    assert not list(tmp_path.iterdir())


def test_the_cache_knows_a_robot_by_its_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another mass or title shares the kernels; a body whose moments vanish where others' do not is another one."""
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    robot = pp.load("staicu")

    def energy(changed: pp.Robot) -> tuple[float, int]:
        model = pp.Model(changed)
        value = float(model.energy(robot.home.matrix, np.zeros(6)).potential)
        return value, len(list(tmp_path.glob("*.kernel")))

    first, count = energy(robot)
    assert energy(robot.model_copy(update={"title": "another", "sources": {}})) == (first, count)
    body = robot.platform.model_copy(update={"mass": robot.platform.mass * (1 + 1e-15)})
    near, more = energy(robot.model_copy(update={"platform": body}))
    assert more == count
    assert near == pytest.approx(first, rel=1e-14)
    leg = robot.legs[0].model_copy(update={"slider": pp.Body(mass=5.0, com=(0.0, 0.1, 0.0))})
    heavy, last = energy(robot.model_copy(update={"legs": (leg, *robot.legs[1:])}))
    assert last > more
    # q = 0 at home, so a slider has no potential there whatever its mass; the platform's does count.
    assert heavy == pytest.approx(first, abs=1e-12)
    assert energy(robot.model_copy(update={"gravity": (0.0, 0.0, -1.0)}))[0] == pytest.approx(first / 9.806, rel=1e-14)


def test_code_compiled_in_haste_is_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file for each degree of optimisation, the same answers to rounding, and no other degrees."""
    wanted = twice(tmp_path, monkeypatch)
    count = len(list(tmp_path.iterdir()))
    monkeypatch.setenv("POLYPOD_OPTIMISE", "0")
    np.testing.assert_allclose(twice(tmp_path, monkeypatch), wanted, rtol=1e-15)
    assert len(list(tmp_path.iterdir())) == 2 * count
    monkeypatch.setenv("POLYPOD_OPTIMISE", "")
    assert machine.optimisation() == 1
    monkeypatch.setenv("POLYPOD_OPTIMISE", "fast")
    with refused(InputError, "POLYPOD_OPTIMISE 0 1 2 3 fast"):
        twice(tmp_path, monkeypatch)


def test_code_is_compiled_when_it_is_first_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kernel is is known without its code; a batch of any size then needs no more than its own part."""
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    kernel = kernel_of(lambda x: 2.0 * x + 0.375, (3,))
    assert kernel.operations == 6
    assert len(list(tmp_path.iterdir())) == 1
    kernel(np.ones((100, 3)))
    assert len(list(tmp_path.iterdir())) == 2
    kernel.bind(np.ones((1, 3)), out=[np.empty((1, 3))])()
    assert len(list(tmp_path.iterdir())) == (3 if machine.narrow_width() else 2)


# --- where the cache is --------------------------------------------------------------------------------------

ONLY_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither XDG_CACHE_HOME nor user ids")


@pytest.fixture
def no_cache_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own, no POLYPOD_CACHE, and a working folder that carries a ``polypod``."""
    for name in ("POLYPOD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    here = tmp_path / "downloaded"
    (here / "polypod").mkdir(parents=True)
    monkeypatch.chdir(here)
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return tmp_path


@pytest.fixture
def no_home(no_cache_set: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither HOME nor an entry of the user in passwd, as in a container started with a bare user id."""
    import pwd

    def unknown(user: int) -> Any:
        raise KeyError(user)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    return no_cache_set


@ONLY_POSIX
def test_polypod_cache_goes_first(no_cache_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(no_cache_set / "xdg"))
    assert store.store_folder() == no_cache_set / "xdg" / "polypod" or sys.platform == "darwin"
    monkeypatch.setenv("POLYPOD_CACHE", str(no_cache_set / "chosen"))
    assert store.store_folder() == no_cache_set / "chosen"
    monkeypatch.setenv("POLYPOD_CACHE", "")
    assert "chosen" not in str(store.store_folder())


@ONLY_POSIX
@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("value", ["", ".", "caches", "./", "../downloaded"])
def test_code_is_never_loaded_from_the_working_folder(
    variable: str, value: str, no_cache_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    folder = store.store_folder()
    assert folder.is_absolute()
    assert not folder.resolve().is_relative_to(Path.cwd())


@ONLY_POSIX
def test_a_user_without_a_home_keeps_kernels_in_a_folder_of_its_own(
    no_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = no_home / "temporary" / f"polypod-{os.getuid()}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel_of(lambda x: 2.0 * x + 0.125, (3,))
    assert store.store_folder() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.suffix for file in folder.iterdir()] == [".kernel"]


def _open_to_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _elsewhere(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


@ONLY_POSIX
@pytest.mark.parametrize("prepare", [_open_to_all, _elsewhere])
def test_a_temporary_folder_that_others_may_write_is_not_used(prepare: Any, no_home: Path) -> None:
    folder = no_home / "temporary" / f"polypod-{os.getuid()}"
    prepare(folder)
    with warned(UserWarning, "POLYPOD_CACHE"):
        doubled = kernel_of(lambda x: 2.0 * x + 0.125, (3,))
    assert np.array_equal(doubled(np.ones((1, 3))), np.full((1, 3), 2.125))
    assert not list(folder.iterdir())


@ONLY_POSIX
def test_a_temporary_folder_of_another_user_is_not_used(no_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    folder = no_home / "temporary" / f"polypod-{other}"
    folder.mkdir(mode=0o700)
    with warned(UserWarning, "user"):
        kernel_of(lambda x: 2.0 * x + 0.125, (3,))
    assert not list(folder.iterdir())


def _forged(file: Path) -> None:
    """Other code under the same name, signed by somebody who has not the secret."""
    content = file.read_bytes()
    rest = content[17 + 32 :] + b"other code"
    file.write_bytes(content[:17] + hashlib.sha256(rest).digest() + rest)


def _writable_by_others(file: Path) -> None:
    file.chmod(0o666)


def _linked(file: Path) -> None:
    moved = file.parent / f"{file.stem}.moved"
    file.rename(moved)
    file.symlink_to(moved)


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@ONLY_POSIX
@pytest.mark.parametrize("change", [_forged, _writable_by_others, _linked, _pipe])
def test_code_that_others_may_have_written_is_not_run(
    change: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = twice(tmp_path, monkeypatch)
    for file in list(tmp_path.iterdir()):
        assert store.load(file.stem) is not None
        change(file)
        assert store.load(file.stem) is None
    assert np.array_equal(twice(tmp_path, monkeypatch), wanted)


@ONLY_POSIX
def test_a_folder_from_elsewhere_does_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose files were signed with the secret of its maker."""
    twice(tmp_path, monkeypatch)
    files = list(tmp_path.iterdir())
    assert all(store.load(file.stem) is not None for file in files)
    monkeypatch.setattr(store, "_secret", lambda: b"the reader's own secret")
    assert [store.load(file.stem) for file in files] == [None, None]


def test_what_was_used_longest_ago_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    for age, name in enumerate(("new", "old", "oldest")):
        store.keep(name, b"x" * 1000)
        os.utime(tmp_path / f"{name}.kernel", (1e9 - age, 1e9))
    (tmp_path / "cut-off.partial").write_bytes(b"half")
    os.utime(tmp_path / "cut-off.partial", (1e9, 1e9))
    (tmp_path / "mine.txt").write_text("not a kernel")
    assert store.load("old") == b"x" * 1000  # used now
    store.prune(tmp_path, 2500)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["mine.txt", "new.kernel", "old.kernel"]
    assert store.contents().kernels == 2
    assert store.clear().kernels == 2
    assert [f.name for f in tmp_path.iterdir()] == ["mine.txt"]
