"""MJCF with loops of points in Drake: all constraints, and the forces that hold the robot at home. Needs the wheel of
Drake."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from polypod.export import export_mjcf
from test_export_c import model_of

pytest.importorskip("pydrake.multibody.plant", reason="Drake is not installed (pip install drake)")
pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", ["delta", "planar-3-rrr", "ankle-g1"])
def test_drake_closes_the_loops_and_finds_the_static_forces(name: str) -> None:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import JacobianWrtVariable

    model = model_of(name)
    text = export_mjcf(model, loops="connect")
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "xml")
    plant.mutable_gravity_field().set_gravity_vector(model.robot.gravity)
    plant.Finalize()
    here, world = plant.CreateDefaultContext(), plant.world_frame()
    loops = list(ET.fromstring(text).iter("connect"))
    assert plant.num_constraints() == len(loops) > 0
    rows = []
    for loop in loops:
        first, second = (plant.GetBodyByName(loop.get(key) or "world").body_frame() for key in ("body1", "body2"))
        anchor = np.array([float(x) for x in loop.get("anchor").split()])
        point = plant.CalcPointsPositions(here, first, anchor, world).ravel()
        other = plant.CalcPointsPositions(here, world, point, second).ravel()
        one, two = (
            plant.CalcJacobianTranslationalVelocity(here, JacobianWrtVariable.kV, frame, at, world, world)
            for frame, at in ((first, anchor), (second, other))
        )
        rows.append(one - two)
    drives = plant.MakeActuationMatrix()
    gravity = plant.CalcGravityGeneralizedForces(here)
    found = np.linalg.lstsq(np.hstack([drives, np.vstack(rows).T]), -gravity, rcond=1e-10)[0]
    still = np.zeros(6)
    wanted = model.inverse_dynamics(model.robot.home.matrix, still, still, friction=False)
    assert found[: len(wanted)] == pytest.approx(wanted, rel=1e-11)
