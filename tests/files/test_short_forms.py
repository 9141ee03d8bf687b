"""Short forms of robot files equal what they stand for, written by hand; faults point at what the user wrote."""

import math
from copy import deepcopy

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description.leg import parse_leg
from polypod.errors import RobotFileError
from polypod.files import dumps, loads
from polypod.files.short_forms import expand
from polypod.files.short_forms.isometry import Isometry, transformed_joint
from polypod.legs.chain import ChainJoint
from support.refusals import refused

DELTA = """name: small-delta
platform: {mass: 0.7, com: [0, 0, -0.01], inertia: [0.0004, 0.0004, 0.00075]}
home: {position: [0, 0, -0.41]}
dof:
  - {name: x, motion: translation, axis: [1, 0, 0]}
  - {name: y, motion: translation, axis: [0, 1, 0]}
  - {name: z, motion: translation, axis: [0, 0, 1]}
legs:
  - kind: chain
    copies: {count: 3, about: [0, 0, 1]}
    bodies:
      arm: {mass: 0.41, com: [0.2, 3 mm, -0.01], inertia: {cylinder: {radius: 20 mm}}}
      rod: {mass: 0.13, inertia: rod, pair: {offset: [0, 50 mm, 0]}}
    joints:
      - {name: motor, kind: revolute, between: [base, arm], at: [0.12, 0, 0], axis: [0, 1, 0], actuated: true}
      - {name: elbow, kind: spherical, between: [arm, rod], at: [0.313, 0, -0.0518]}
      - {name: wrist, kind: spherical, between: [rod, platform], at: [0.04, 0, -0.41]}
"""
ONE = yaml.safe_load(DELTA)["legs"][0]


def read(legs, **changes):
    """The robot of a document with other legs."""
    document = yaml.safe_load(DELTA) | changes
    document["legs"] = legs
    return loads(yaml.safe_dump(document, sort_keys=False))


def legs_of(legs, **changes):
    """The legs of a document, written out and checked one by one; much faster than a robot."""
    return [parse_leg(leg) for leg in expand({**yaml.safe_load(DELTA), **changes, "legs": legs}).document["legs"]]


def fault(text):
    with pytest.raises(RobotFileError) as caught:
        loads(text)
    (found,) = caught.value.faults
    return found


@pytest.mark.parametrize("euler", ["5", "[Z, Y, X]"])
def test_an_order_of_angles_that_is_no_text_is_a_fault(euler):
    """The copies need the home pose before the file is checked."""
    text = DELTA.replace("home: {position: [0, 0, -0.41]}", f"home: {{angles: [0, 0, 10 deg]}}\neuler: {euler}")
    found = fault(text)
    assert (found.field, found.line) == ("euler", 4)


def test_rods_and_cylinders_lie_between_their_joints():
    leg = legs_of([ONE])[0]
    start, end = np.array([0.313, 0.0, -0.0518]), np.array([0.04, 0.0, -0.41])
    for number, sign in ((1, 1.0), (2, -1.0)):
        rod = leg.bodies[f"rod{number}"]
        assert rod.com == pytest.approx(0.5 * (start + end) + [0, sign * 0.05, 0], abs=1e-16)
        # integral over points of the rod, Simpson's rule: exact for the squares in it
        points = np.array([start, 0.5 * (start + end), end]) - 0.5 * (start + end)
        second = sum(w * np.outer(p, p) for w, p in zip((1 / 6, 4 / 6, 1 / 6), points, strict=True)) * 0.13
        assert rod.central_inertia == pytest.approx(np.trace(second) * np.eye(3) - second, rel=1e-14, abs=1e-18)
    arm, length = leg.bodies["arm"], math.hypot(0.193, 0.0518)
    along = np.array([0.193, 0, -0.0518]) / length
    assert arm.com == (0.2, 0.003, -0.01)  # as given: only a centre that is left out is the middle
    assert along @ arm.central_inertia @ along == pytest.approx(0.5 * 0.41 * 0.02**2, rel=1e-13)
    across = 0.41 * (3 * 0.02**2 + length**2) / 12
    assert np.linalg.eigvalsh(arm.central_inertia)[1:] == pytest.approx([across, across], rel=1e-13)


def test_pairs_have_all_their_joints_twice():
    leg = legs_of([ONE])[0]
    assert [joint.name for joint in leg.joints] == ["motor", "elbow1", "elbow2", "wrist1", "wrist2"]
    assert [joint.between for joint in leg.joints][1:] == [
        ("arm", "rod1"), ("arm", "rod2"), ("rod1", "platform"), ("rod2", "platform")
    ]  # fmt: skip
    assert [joint.at[1] for joint in leg.joints] == [0.0, 0.05, -0.05, 0.05, -0.05]


def turned(leg, angle):
    """A leg written by hand about z: every vector and tensor turned by SciPy, no code of the short forms."""
    turn = Rotation.from_rotvec([0, 0, angle])
    leg = deepcopy(leg)
    for body in leg["bodies"].values():
        body["com"] = turn.apply(body["com"]).tolist()
        body["inertia"] = (turn.as_matrix() @ np.array(body["inertia"]) @ turn.as_matrix().T).tolist()
    for joint in leg["joints"]:
        for key in ("at", "axis"):
            if key in joint:
                joint[key] = turn.apply(joint[key]).tolist()
    return leg


def plain(leg):
    """A leg of a robot as the mapping of a file."""
    return {"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True, exclude={"name"})}


def tensors(leg):
    return [np.array(x) for body in leg.bodies.values() for x in (body.com, body.central_inertia)]


def test_copies_equal_legs_written_by_hand():
    short = loads(DELTA)
    first = plain(short.legs[0])
    hand = read([turned(first, 2 * math.pi * k / 3) for k in range(3)])
    assert [leg.name for leg in short.legs] == ["leg1", "leg2", "leg3"]
    for ours, theirs in zip(short.legs, hand.legs, strict=True):
        for a, b in zip(tensors(ours), tensors(theirs), strict=True):
            assert a == pytest.approx(b, rel=1e-14, abs=1e-15)
        for a, b in zip(ours.joints, theirs.joints, strict=True):
            assert (a.name, a.kind, a.between, a.actuated) == (b.name, b.kind, b.between, b.actuated)
            assert a.at == pytest.approx(b.at, abs=1e-15)
            assert (a.axis or (0, 0, 0)) == pytest.approx(b.axis or (0, 0, 0), abs=1e-15)
    states = pp.Model(short), pp.Model(hand)
    pose = pp.pose(0.03, -0.02, -0.4)
    forces = [model.inverse_dynamics(pose, [0.2, 0.1, -0.3, 0, 0, 0], [3, -2, 1, 0, 0, 0]) for model in states]
    assert forces[0] == pytest.approx(forces[1], rel=1e-12)


def test_copies_about_any_line():
    copies = {"angles": [0, "40 deg"], "about": [1, 2, 2], "through": [0.1, "20 mm", 0]}
    leg = legs_of([{**ONE, "copies": copies}])[1]
    turn = Rotation.from_rotvec(np.deg2rad(40) * np.array([1, 2, 2]) / 3)
    point = np.array([0.1, 0.02, 0])
    assert leg.joints[0].at == pytest.approx(turn.apply([0.12, 0, 0] - point) + point, abs=1e-15)
    assert leg.joints[0].axis == pytest.approx(turn.apply([0, 1, 0]), abs=1e-15)


def test_zeros_stay_zeros_in_copies():
    """Exact zeros belong to a robot's topology: rounding must not fill them in."""
    legs = legs_of([{**ONE, "copies": {"count": 4, "about": [0, 0, 1]}}])
    assert [leg.joints[0].at for leg in legs] == [(0.12, 0, 0), (0, 0.12, 0), (-0.12, 0, 0), (0, -0.12, 0)]
    diagonal = [{**ONE, "copies": {"count": 3, "about": [1, 1, 1]}}]
    assert [leg.joints[0].axis for leg in legs_of(diagonal)] == [(0, 1, 0), (0, 0, 1), (1, 0, 0)]


def test_neighbours_with_the_same_copies_are_copied_together():
    other = {**deepcopy(ONE), "name": "b"}
    legs = legs_of([{**ONE, "name": "a"}, other])
    assert [leg.name for leg in legs] == ["a1", "b1", "a2", "b2", "a3", "b3"]


MIRRORED = {
    "kind": "chain",
    "bodies": {
        "carriage": {"mass": 1.0, "com": [0.3, 0.11, 0.02],
                     "inertia": [[2e-3, 3e-4, 1e-4], [3e-4, 3e-3, 2e-4], [1e-4, 2e-4, 4e-3]]},
        "crank": {"mass": 0.4, "inertia": "rod"},
        "rod": {"mass": 0.2, "inertia": "rod"},
    },
    "joints": [
        {"name": "slide", "kind": "prismatic", "between": ["base", "carriage"], "at": [0.3, 0.1, 0],
         "axis": [0.6, 0.8, 0], "actuated": True},
        {"name": "hinge", "kind": "revolute", "between": ["carriage", "crank"], "at": [0.3, 0.1, 0.05],
         "axis": [0, 0.6, 0.8], "actuated": True},
        {"name": "elbow", "kind": "universal", "between": ["crank", "rod"], "at": [0.4, 0.2, 0.1],
         "axes": [[0, 0.6, 0.8], [1, 0, 0]], "ranges": {"first": [-0.5, 0.7]}},
        {"name": "ball", "kind": "universal", "between": ["rod", "platform"], "at": [0.1, 0.2, 0.5],
         "axes": [[0.8, 0, 0.6], [0, 1, 0]],
         "cone": {"axis": {"to": "elbow"}, "half_angle": "40 deg"}},
    ],
}  # fmt: skip


def test_a_mirrored_leg_moves_as_the_mirror_image():
    """Actuated coordinates of the mirrored leg at mirrored poses are those of the leg: positions, tensors, forces."""
    home = {"position": [0, 0, 0.5]}
    robot = read([{**MIRRORED, "mirror": {"plane": [0, 2, 0]}}, {**MIRRORED, "mirror": {"plane": [1, 0, 0]}}],
                 home=home, dof=[])  # fmt: skip
    assert len(robot.legs) == 4
    left, right = robot.legs[:2]
    flip = np.diag([1.0, -1.0, 1.0])
    for a, b in zip(left.bodies.values(), right.bodies.values(), strict=True):
        assert b.com == pytest.approx(flip @ a.com, abs=1e-16)
        assert b.central_inertia == pytest.approx(flip @ a.central_inertia @ flip, abs=1e-16)
    assert right.joints[0].axis == pytest.approx([0.6, -0.8, 0], rel=1e-12)  # a slide's direction
    assert right.joints[1].axis == pytest.approx(
        [0, 0.6, -0.8], rel=1e-12
    )  # the axis of a turn, whose sense is a screw's
    assert right.joints[3].cone.axis == pytest.approx(flip @ left.joints[3].cone.axis, rel=1e-12)
    model = pp.Model(robot)
    pose = pp.pose(0.004, 0.006, 0.497, 0.02, -0.01, 0.014)
    image = np.eye(4)
    image[:3, 3], image[:3, :3] = flip @ pose[:3, 3], flip @ pose[:3, :3] @ flip
    here, there = model.inverse_kinematics(pose), model.inverse_kinematics(image)
    assert there[2:4] == pytest.approx(here[:2], rel=1e-12)
    assert np.abs(here[:4]).min() > 1e-3  # far from home, where all are zero
    assert right.joints[2].ranges == left.joints[2].ranges
    here, there = (np.ravel(model._kernels.get("limited")(x[None])[0])[1:] for x in (pose, image))
    assert there[2:4] == pytest.approx(here[:2], rel=1e-12)
    assert abs(here[0]) > 1e-3


def test_ranges_in_a_mirror():
    """A turn about a polar direction, and a way along the axis of a turn, are the other way round."""
    common = {"name": "joint", "between": ("base", "arm"), "at": (0.1, 0.2, 0.3)}
    image = Isometry(np.diag([1.0, -1.0, 1.0]), np.zeros(3))
    ball = ChainJoint(kind="spherical", cone={"axis": (0, 0.6, 0.8), "half_angle": 0.5}, ranges={"twist": (-0.1, 0.3)},
                      **common)  # fmt: skip
    assert transformed_joint(ball, image)["ranges"] == {"twist": [-0.3, 0.1]}
    both = {"rotation": (-0.1, 0.3), "translation": (-0.2, 0.4)}
    slide = ChainJoint(kind="cylindrical", axis=(0, 0.6, 0.8), actuated="translation", ranges=both, **common)
    assert transformed_joint(slide, image)["axis"] == pytest.approx([0, -0.6, 0.8], rel=1e-12)
    assert transformed_joint(slide, image)["ranges"] == {"rotation": [-0.3, 0.1], "translation": [-0.2, 0.4]}
    hinge = ChainJoint(kind="cylindrical", axis=(0, 0.6, 0.8), actuated="rotation", ranges=both, **common)
    assert transformed_joint(hinge, image)["axis"] == pytest.approx([0, 0.6, -0.8], rel=1e-12)
    assert transformed_joint(hinge, image)["ranges"] == {"rotation": [-0.1, 0.3], "translation": [-0.4, 0.2]}


def test_copies_of_short_kinds():
    """Points of a UPS leg turn in the base frame, those on the platform in its own frame, which may be turned."""
    leg = {"kind": "UPS", "base": [0.5, 0.1, 0.0], "platform": [0.2, -0.1, 0.02], "axis": [0, 1, 0],
           "lower": {"mass": 1.0, "com": [0.1, 0, 0]}, "upper": {"mass": 0.5, "com": [-0.1, 0, 0]},
           "copies": {"count": 3, "about": [0, 0, 1]}}  # fmt: skip
    other = {**leg, "base": [0.3, -0.5, 0.0], "platform": [0.2, -0.2, 0.02]}
    robot = read([leg, other], home={"position": [0, 0, 0.6], "angles": ["30 deg", 0, 0]}, dof=[])
    turn = Rotation.from_rotvec([0, 0, 2 * math.pi / 3])
    for a, b in zip(robot.legs[:-2], robot.legs[2:], strict=True):
        assert b.base == pytest.approx(turn.apply(a.base), abs=1e-15)
        assert b.platform == pytest.approx(turn.apply(a.platform), abs=1e-15)
        assert b.axis == pytest.approx(turn.apply(a.axis), abs=1e-15)
    lengths = pp.Model(robot).inverse_kinematics(robot.home.matrix)
    assert lengths == pytest.approx(np.tile(lengths[:2], 3), rel=1e-13)


def test_directions_to_joints():
    leg = deepcopy(MIRRORED)
    leg["joints"][2]["axes"] = [[0, 0.6, 0.8], {"across": "ball"}]
    leg["joints"][0]["axis"] = {"to": "ball"}
    joints = legs_of([leg])[0].joints
    way = np.array([-0.2, 0.1, 0.5])
    assert joints[0].axis == pytest.approx(way / np.linalg.norm(way), abs=1e-15)
    assert np.dot(joints[2].axes[1], [0, 0.6, 0.8]) == pytest.approx(0, abs=1e-15)
    assert np.dot(joints[2].axes[1], [-0.3, 0.0, 0.4]) == pytest.approx(0, abs=1e-15)


def test_saved_files_are_written_out():
    robot = loads(DELTA)
    assert loads(dumps(robot)) == robot
    assert "copies" not in dumps(robot)


FAULTS = {
    "misspelt field": ("count: 3", "cuont: 3", 10, "legs.0.copies.cuont", "Did you mean 'count'"),
    "no count": ("count: 3, ", "", 10, "legs.0.copies.count", "give either count"),
    "no mapping": ("{count: 3, about: [0, 0, 1]}", "3", 10, "legs.0.copies", "mapping of count, angles"),
    "no axis": ("about: [0, 0, 1]", "about: [0, 0, 0]", 10, "legs.0.copies.about", "a direction must not be zero"),
    "misspelt form": ("copies:", "copie:", 10, "legs.0.copie", "Did you mean 'copies'?"),
    "a word": ("inertia: rod", "inertia: tube", 13, "legs.0.bodies.rod.inertia", "rod (slender) .* or {revolution"),
    "a shape": ("cylinder", "sphere", 12, "legs.0.bodies.arm.inertia", "rod (slender) .* or {revolution"),
    "radius": ("20 mm", "-1", 12, "legs.0.bodies.arm.inertia.cylinder.radius", "must be greater than 0, got -1"),
    "one joint": ("[rod, platform]", "[arm, platform]", 12, "legs.0.bodies.arm.inertia", "at 3 points (motor"),
    "no mass": ("mass: 0.13, ", "", 13, "legs.0.bodies.rod.mass", "missing"),
    "offset": ("offset: [0, 50 mm, 0]", "offset: 50 mm", 13, "legs.0.bodies.rod.pair.offset", "must be 3 numbers"),
    "driven pair": ("[arm, rod],", "[arm, rod], actuated: true,", 16, "legs.0.joints.1.actuated", "pair 'rod'"),
    "unknown joint": ("axis: [0, 1, 0], ac", "axis: {to: elbw}, ac", 15, "legs.0.joints.0.axis.to", "mean 'elbow'"),
    "no way": ("axis: [0, 1, 0], ac", "axis: {to: motor}, ac", 15, "legs.0.joints.0.axis.to", "at the point of this"),
    "bad direction": ("axis: [0, 1, 0], ac", "axis: {from: elbow}, ac", 15, "legs.0.joints.0.axis", "{to: JOINT}"),
    "no position": (", at: [0.04, 0, -0.41]", "", 13, "legs.0.bodies.rod.inertia", "'wrist', which has no position"),
    "no centre": (
        "com: [0.2, 3 mm, -0.01], inertia: {cylinder: {radius: 20 mm}}", "inertia: [1.0e-3, 1.0e-3, 1.0e-3]", 12,
        "legs.0.bodies.arm", "com: missing: the centre of mass at home"
    ),
    # what is wrong with a part that stands twice is reported once, where the user wrote it
    "kind in a pair": ("elbow, kind: spherical", "elbow, kind: ball", 16, "legs.0.joints.1.kind", "must be 'revolute'"),
    "point in a pair": ("at: [0.04, 0, -0.41]", "at: [0.04, x, -0.41]", 17, "legs.0.joints.2.at.1", "number, got 'x'"),
    "no bodies of a pair": ("[arm, rod]", "7", 16, "legs.0.joints.1.between", "must be the names of two bodies, got 7"),
    "list as a body": ("[arm, rod]", "[arm, [rod]]", 16, "legs.0.joints.1.between", "got ['arm', ['rod']]"),
    "body of a pair": ("[arm, rod]", "[arm, rood]", 16, "legs.0.joints.1.between", "unknown body 'rood'. Did you"),
    "unknown field": ("mass: 0.41,", "mass: 0.41, colour: red,", 12, "legs.0.bodies.arm.colour", "unknown field"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_faults_point_at_what_the_user_wrote(case):
    old, new, line, field, message = FAULTS[case]
    assert DELTA.count(old) >= 1
    found = fault(DELTA.replace(old, new, 1))
    assert (found.line, found.field) == (line, field), found
    parts = message.split(" .* ")
    assert all(part in found.message for part in parts), found.message


def test_mirror_images_are_for_general_legs():
    text = dumps(pp.load("lopes")).replace("leg_defaults:\n", "leg_defaults:\n  mirror: {plane: [0, 1, 0]}\n")
    with refused(RobotFileError, "chain"):
        loads(text)


def test_faults_of_a_written_out_robot_point_at_its_leg():
    """What shows in the whole robot only: the degrees of freedom are at their line, a leg's at the leg that was
    copied."""
    named = DELTA.replace("copies:", "name: a\n    copies:") + DELTA.split("legs:\n")[1]
    same = named.replace("  - kind: chain\n    copies", "  - kind: chain\n    name: a\n    copies")
    found = fault(same)
    assert found.field.startswith("legs.1")
    assert "must be unique" in found.message
