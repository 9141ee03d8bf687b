"""CaPaMan, Canfield's joint and an Eclipse: answers of an engine in maximal coordinates, kept in ``data/golden``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from support.states import Array

DATA = Path(__file__).parent.parent / "data"
FILES = sorted((DATA / "golden" / "machines").glob("*.json"))
# Rounding times the condition of J and of the legs' own loops: 1e-13 is reached but for one leg of CaPaMan, 3e-11,
# whose four-bar is a parallelogram, and for accelerations from forces, 1e-11.
TOLERANCE = 1e-10


def close(found: Array, wanted: Array) -> None:
    assert np.abs(found - wanted).max() < TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_answers_of_another_program(file: Path) -> None:
    states: list[dict[str, Any]] = json.loads(file.read_text())["states"]
    assert len(states) == 8
    at = {key: np.array([one[key] for one in states]) for key in states[0] if not key.startswith("reactions")}
    model = pp.Model(pp.load(DATA / "machines" / f"{file.stem}.yaml"))
    pose, twist, acceleration, wrench = given = [at[key] for key in ("pose", "twist", "acceleration", "wrench")]
    close(model.inverse_kinematics(pose) - model.inverse_kinematics(model.robot.home.matrix), at["q_from_home"])
    close(model.rates(pose, twist), at["qdot"])
    close(model.jacobian(pose), at["jacobian_in_dof_rates"])
    close(model.mass_matrix(pose), at["mass_matrix_in_dof_rates"])
    energy = model.energy(pose, twist)
    close(energy.kinetic, at["kinetic"])
    close(energy.potential, at["potential"])
    close(model.inverse_dynamics(*given, friction=False), at["force"])
    close(model.inverse_dynamics(*given, friction=True), at["force_viscous"])
    close(model.direct_dynamics(pose, twist, at["force"], wrench, friction=False), acceleration)
    if len(model.dof) < 6:
        close(model.coordinates(pose), at["dof_coordinates"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_reactions_of_another_program(file: Path) -> None:
    """Forces across and moments about what each joint leaves free; what statics leaves open is NaN, and no more."""
    states: list[dict[str, Any]] = json.loads(file.read_text())["states"]
    model = pp.Model(pp.load(DATA / "machines" / f"{file.stem}.yaml"))
    given = [np.array([one[key] for one in states]) for key in ("pose", "twist", "acceleration", "wrench")]
    found = model.reactions(*given, friction=True)
    for name in states[0]["reactions_viscous"]:
        leg, joint = name.split(".")
        own = found.legs[leg][joint]
        wanted = np.array([one["reactions_viscous"][name] for one in states], dtype=float)
        got = np.concatenate([own.normal_force, own.constraint_moment], axis=-1)
        assert (np.isnan(got) == np.isnan(wanted)).all(), name
        assert np.nanmax(np.abs(got - wanted)) < TOLERANCE * np.nanmax(np.abs(wanted)), name
