"""The cache of object code: used by the next process, safe when several write, never fatal."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from little_kernels import kernel_of, run
from polypod.kernels import machine

FORCES = """
import sys, warnings
import numpy as np
import polypod as pp
from polypod.kernels import machine
if "no compiler" in sys.argv[1:]:
    def refuse(module):
        raise SystemExit("compiled again")
    machine.compile_module = refuse
model = pp.Model("staicu")
home, zero = model.robot.home.matrix, np.zeros(6)
print(model.inverse_dynamics(home, zero, zero).round(6).tolist())
"""
WANTED = "[46.785368, 46.785368, 53.556528]"


def test_a_second_process_uses_the_cache(tmp_path: Path) -> None:
    first = run(FORCES, POLYPOD_CACHE=str(tmp_path))
    assert first.stdout.strip() == WANTED, first.stderr
    files = sorted(tmp_path.iterdir())
    assert files
    assert all(f.suffix == ".kernel" for f in files)
    stamps = [f.stat().st_mtime_ns for f in files]
    without = FORCES.replace('"no compiler" in sys.argv[1:]', "True")
    second = run(without, POLYPOD_CACHE=str(tmp_path))
    assert second.stdout.strip() == WANTED, second.stderr
    assert [f.stat().st_mtime_ns for f in sorted(tmp_path.iterdir())] == stamps
    empty = run(without, POLYPOD_CACHE=str(tmp_path / "none"))
    assert empty.stderr.strip().endswith("compiled again")


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", FORCES],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "POLYPOD_CACHE": str(tmp_path), "PYTHONWARNINGS": "error"},
        )
        for _ in range(3)
    ]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out.strip() == WANTED
    assert all(f.suffix == ".kernel" for f in tmp_path.iterdir())
    for file in tmp_path.iterdir():
        assert machine.Compiled.from_bytes(file.read_bytes()) is not None


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
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    file.write_bytes(DAMAGE[how](content))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(twice(tmp_path, monkeypatch), wanted)
    assert [f.read_bytes() for f in tmp_path.iterdir()] == [content]


def test_a_folder_that_cannot_be_written_warns_and_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = twice(tmp_path / "good", monkeypatch)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.warns(UserWarning, match=r"kernels are not kept between runs: .*file"):
        assert np.array_equal(twice(blocked, monkeypatch), wanted)
    assert blocked.read_text() == "not a folder"
    with pytest.warns(UserWarning, match="not kept"):
        twice(blocked / "deeper", monkeypatch)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(machine.os, "replace", full)
    with pytest.warns(UserWarning, match="no space left"):
        twice(tmp_path, monkeypatch)
    assert not list(tmp_path.iterdir())


def test_the_cache_knows_a_robot_by_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another mass is another kernel; another title is not."""
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
    assert more > count
    assert near == pytest.approx(first, rel=1e-14)
    leg = robot.legs[0].model_copy(update={"slider": pp.Body(mass=5.0)})
    heavy, last = energy(robot.model_copy(update={"legs": (leg, *robot.legs[1:])}))
    assert last > more
    # q = 0 at home, so a slider has no potential there whatever its mass; the platform's does count.
    assert heavy == pytest.approx(first, abs=1e-12)
    assert energy(robot.model_copy(update={"gravity": (0.0, 0.0, -1.0)}))[0] == pytest.approx(first / 9.806, rel=1e-14)
