"""Rows of the benchmark's table, and the machine they were measured on."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from polypod.kernels import machine

BUILDING = "building a model"
"""The group of rows whose time is that of a build, not of a state."""


@dataclass(frozen=True)
class Row:
    """One measurement: best time for each state, its ratio to the reference row, how far its answer is from ours.

    In the group :data:`BUILDING` the time is that of a build.
    ``note`` says why there is no time (a peer that is not installed, an answer that differs too much).
    """

    group: str
    name: str
    seconds: float | None = None
    operations: int | None = None
    ratio: float | None = None
    difference: float | None = None
    note: str = ""
    median: float | None = None


@dataclass(frozen=True)
class Setting:
    """What was measured on what."""

    processor: str
    features: str
    python: str
    versions: dict[str, str]
    vector_width: int


def setting() -> Setting:
    """This machine and the versions that matter."""
    triple, cpu, features = machine.host()
    wide = ",".join(f for f in ("+avx512f", "+avx2", "+fma", "+neon") if f in features.split(","))
    versions = {}
    for name in ("polypod", "casadi", "llvmlite", "numpy", "pin", "mujoco"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return Setting(f"{cpu} ({triple})", wide, platform.python_version(), versions, machine.vector_width())


def as_json(rows: Sequence[Row], where: Setting) -> dict[str, Any]:
    """All of it as plain data."""
    return {"setting": asdict(where), "rows": [asdict(row) for row in rows]}
