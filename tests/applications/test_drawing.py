"""Shapes of bodies: where the joints are, as files state them, and the same in drawings, pages and exports."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from importlib import resources
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description.shapes import Plate
from polypod.drawing import PLATFORM, posed, shapes_of
from polypod.drawing.shapes import samples_of
from polypod.export import export_mjcf, export_urdf
from polypod.files import dumps
from polypod.files.short_forms.isometry import reflection, transformed_leg
from polypod.mechanism.samples import around_home
from support.refusals import refused
from support.states import mostly_long

ROBOTS = ("hexapod", "kim-ryu", "staicu", "delta", "3-rps", "tricept", "orthoglide", "five-bar")
SPHERE = {"kind": "sphere", "center": [0.1, 0.02, 0.3], "radius": 0.03}
CAPSULE = {"kind": "capsule", "ends": [[0.1, 0.0, 0.3], [0.2, 0.05, 0.35]], "radius": 0.02}
PLATE = {"kind": "plate", "corners": [[0, 0, 0.1], [0.2, 0, 0.1], [0.2, 0.1, 0.1], [0, 0.1, 0.1]], "thickness": 0.02}


def quiet(name: str) -> pp.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return pp.load(name)


def distance(point: Any, points: Any) -> float:
    """From a point to a line or polygon (k, 3), by its nearest edge."""
    ring = np.concatenate([points, points[:1]]) if len(points) > 2 else points
    far = []
    for a, b in pairwise(ring) if len(points) > 1 else [(points[0], points[0])]:
        along = float(np.clip((point - a) @ (b - a) / max((b - a) @ (b - a), 1e-30), 0, 1))
        far.append(np.linalg.norm(point - a - along * (b - a)))
    return float(min(far))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ROBOTS[:4]))
def test_shapes_are_where_the_model_has_the_bodies(name):
    """Frames are those of the compiled function; legs reach their joints, in poses beside home too."""
    robot = quiet(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        model = pp.Model(robot)
    poses = np.stack([robot.home.matrix, *around_home(robot, 2, 0.05)])
    drawn = posed(robot, poses)
    bodies = model.bodies(poses)
    for number, body in enumerate(bodies.values()):
        assert np.abs(drawn.frames[:, PLATFORM + number] - body).max() < 1e-12
    size = drawn.size
    for k in range(len(poses)):
        parts = [(shape, at) for shape, at in drawn.placed(k) if shape.role not in ("joint", "rail", "base", "payload")]
        for number, (_, joint) in enumerate(samples_of(robot).joints):
            if joint.kind not in ("prismatic", "cylindrical", "fixed"):
                near = [distance(drawn.joints[k, number], at) for _, at in parts]
                assert min(near) < 1e-9 * size, joint.name


@pytest.mark.parametrize("stroke", [(0.3, 0.45), (0.35, 0.6)])
def test_a_telescope_reaches_over_its_stroke(stroke):
    """At no length is there a gap between tube and rod, or one that comes out at the other end."""
    low, high = stroke
    data = pp.load("hexapod").model_dump()
    for leg in data["legs"]:
        leg |= {"kind": "UPS", "length": stroke}
    data["home"]["position"] = [0.0, 0.0, 0.35]
    robot = pp.Robot.model_validate(data)
    halves = {shape.name: shape for shape in shapes_of(robot) if shape.role in ("tube", "rod")}
    assert len(halves) == 12
    for k in range(1, 7):
        tube = np.ptp(halves[f"leg{k}.lower"].points[:, 0])  # x is along the leg in both bodies
        rod = np.ptp(halves[f"leg{k}.upper"].points[:, 0])
        assert tube + rod > high
        assert tube < low
        assert rod < low
        assert halves[f"leg{k}.lower"].points[0] == pytest.approx(np.zeros(3), abs=1e-12)
        assert halves[f"leg{k}.upper"].points[0] == pytest.approx(np.zeros(3), abs=1e-12)


def test_radius_of_bodies():
    data = pp.load("hexapod").model_dump()
    for leg in data["legs"]:
        leg["kind"] = "UPS"
        leg["lower"]["radius"], leg["upper"]["radius"] = "30 mm", 0.012
    data["platform"]["radius"], data["base"] = 0.02, {"radius": 0.007}
    robot = pp.Robot.model_validate(data)
    found = {shape.name: shape.radius for shape in shapes_of(robot)}
    assert found["base"] == 0.007
    assert found["platform"] == 0.02
    assert {found[f"leg{k}.lower"] for k in range(1, 7)} == {0.03}
    assert {found[f"leg{k}.upper"] for k in range(1, 7)} == {0.012}
    assert pp.loads(dumps(robot)) == robot


def shaped_chain() -> pp.Robot:
    """A robot of general legs, the first body of the first with shapes."""
    document = yaml.safe_load(dumps(pp.load("delta")))
    bodies = document["legs"][0]["bodies"]
    bodies[next(iter(bodies))]["shapes"] = [SPHERE, CAPSULE, PLATE]
    return pp.loads(yaml.safe_dump(document))


def test_shapes_of_a_chain_are_stated_where_they_are_at_home():
    robot = shaped_chain()
    drawn = posed(robot, robot.home.matrix[None])
    name = f"{robot.legs[0].name}.{next(iter(robot.legs[0].bodies))}"
    found = [(shape, points) for shape, points in drawn.placed(0) if shape.name == name and shape.role != "joint"]
    assert [shape.kind for shape, _ in found] == ["sphere", "capsule", "plate"]
    for (shape, points), stated in zip(found, (SPHERE, CAPSULE, PLATE), strict=True):
        wanted = np.array(stated.get("ends", stated.get("corners", [stated.get("center")])))
        assert np.abs(np.sort(points, axis=0) - np.sort(wanted, axis=0)).max() < 1e-12
        assert shape.radius == stated.get("radius", 0.01)


def test_copies_mirrors_and_pairs_move_shapes():
    """Copies turn about z, a pair goes its offset both ways, a mirror across x negates x."""
    text = (resources.files("polypod") / "files/robots/delta.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    bodies = document["legs"][0]["bodies"]
    bodies["arm"]["shapes"] = [{"kind": "sphere", "center": [0.3, 0.1, 0.2], "radius": "10 mm"}]
    bodies["rod"]["shapes"] = [{"kind": "capsule", "ends": [[0.4, 0, 0], [0.1, 0, 0.5]], "radius": "4 mm"}]
    robot = pp.loads(yaml.safe_dump(document))
    rods = [leg.bodies[name].shapes[0] for leg in robot.legs for name in ("rod1", "rod2")]
    apart = np.array(rods[0].ends) - np.array(rods[1].ends)
    assert np.abs(0.5 * (np.array(rods[0].ends) + np.array(rods[1].ends)) - [[0.4, 0, 0], [0.1, 0, 0.5]]).max() < 1e-12
    joints = {joint.name: np.array(joint.at) for joint in robot.legs[0].joints}
    assert np.abs(apart - (joints["elbow1"] - joints["elbow2"])).max() < 1e-12
    for k, leg in enumerate(robot.legs):
        turn = Rotation.from_rotvec([0, 0, 2 * np.pi * k / 3]).as_matrix()
        assert np.abs(turn @ [0.3, 0.1, 0.2] - leg.bodies["arm"].shapes[0].center).max() < 1e-12
        assert leg.bodies["arm"].shapes[0].radius == 0.01
        assert np.abs(np.array(rods[0].ends) @ turn.T - leg.bodies["rod1"].shapes[0].ends).max() < 1e-12
    mirrored = transformed_leg(robot.legs[0], robot.home.matrix, [reflection([1, 0, 0], [0, 0, 0])])
    assert mirrored["bodies"]["arm"]["shapes"][0]["center"] == [-0.3, 0.1, 0.2]


@pytest.mark.parametrize(
    ("shape", "field"),
    [
        ({"kind": "cone", "radius": 0.1}, "shapes"),
        ({"kind": "sphere", "radius": 0.0}, "radius"),
        ({"kind": "capsule", "ends": [[0, 0, 0], [0, 0, 0]], "radius": 0.1}, "ends"),
        ({"kind": "plate", "corners": [[0, 0, 0], [1, 0, 0]], "thickness": 0.1}, "corners"),
        ({"kind": "plate", "corners": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "thickness": 0.1}, "corners"),
        ({"kind": "plate", "corners": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.2]], "thickness": 0.1}, "corners"),
    ],
)
def test_shapes_that_are_none(shape, field):
    with refused(ValueError, field):
        pp.description.Body(mass=1.0, shapes=[shape])


def test_radius_or_shapes():
    with refused(ValueError, "radius"):
        pp.description.Body(mass=1.0, radius=0.1, shapes=[SPHERE])
    assert pp.description.Body(mass=1.0, shapes=[]).shapes == ()


def test_corners_of_a_plate_go_around_it():
    square = [[0, 0, 1], [1, 1, 1], [1, 0, 1], [0.5, 0.5, 1], [0, 1, 1]]
    plate = Plate(corners=square, thickness=0.1)
    assert plate.corners == ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))


def test_exports_have_the_shapes_of_drawings():
    """Where MuJoCo and the text of URDF have them at home, base frame."""
    robot = shaped_chain()
    model = pp.Model(robot)
    spec = mujoco.MjModel.from_xml_string(export_mjcf(model))
    data = mujoco.MjData(spec)
    mujoco.mj_resetDataKeyframe(spec, data, 0)
    mujoco.mj_forward(spec, data)
    drawn = [
        (shape, points) for shape, points in posed(robot, robot.home.matrix[None]).placed(0) if shape.role != "joint"
    ]
    spheres = [points[0] for shape, points in drawn if shape.kind == "sphere"]
    capsules = [(points, shape.radius) for shape, points in drawn if shape.kind == "capsule"]
    kinds = {mujoco.mjtGeom.mjGEOM_SPHERE: [], mujoco.mjtGeom.mjGEOM_CAPSULE: [], mujoco.mjtGeom.mjGEOM_MESH: []}
    for number in range(spec.ngeom):
        kinds[mujoco.mjtGeom(spec.geom_type[number])].append(number)
    assert [len(found) for found in kinds.values()] == [
        len(spheres),
        len(capsules),
        len(drawn) - len(spheres) - len(capsules),
    ]
    for number in kinds[mujoco.mjtGeom.mjGEOM_SPHERE]:
        assert min(np.abs(data.geom_xpos[number] - point).max() for point in spheres) < 1e-9
    for number in kinds[mujoco.mjtGeom.mjGEOM_CAPSULE]:
        axis = data.geom_xmat[number].reshape(3, 3)[:, 2] * spec.geom_size[number, 1]
        ends = np.stack([data.geom_xpos[number] - axis, data.geom_xpos[number] + axis])
        near = [min(np.abs(ends - points).max(), np.abs(ends - points[::-1]).max()) for points, _ in capsules]
        assert min(near) < 1e-9
        assert spec.geom_size[number, 0] == pytest.approx(capsules[int(np.argmin(near))][1], rel=1e-12)
    # corners of a plate: those of a prism that is its radius larger to all sides
    plates = [(shape, points) for shape, points in drawn if shape.kind == "plate"]
    for number in kinds[mujoco.mjtGeom.mjGEOM_MESH]:
        mesh = spec.geom_dataid[number]
        start, count = spec.mesh_vertadr[mesh], spec.mesh_vertnum[mesh]
        turn = data.geom_xmat[number].reshape(3, 3)
        corners = spec.mesh_vert[start : start + count] @ turn.T + data.geom_xpos[number]
        shape, points = next(
            one for one in plates if np.abs(one[1].mean(axis=0) - corners.mean(axis=0)).max() < 0.1 * one[0].radius
        )
        heights = (corners - points[0]) @ (
            shape.normal @ posed(robot, robot.home.matrix[None]).frames[0, shape.body, :3, :3].T
        )
        assert np.abs(np.abs(heights) - shape.radius).max() < 1e-6  # MuJoCo keeps vertices in single precision
    visuals = ET.fromstring(export_urdf(model)[0]).findall(".//visual")
    expected = sum({"sphere": 1, "capsule": 3}.get(shape.kind, 2 * len(shape.points)) for shape, _ in drawn)
    assert len(visuals) == expected
