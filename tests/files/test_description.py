"""Robot files: what is read is what was written, every number has a source, and bad files say what is wrong where."""

import json
import math
import warnings
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from scipy.spatial.transform import Rotation as Turn

import polypod as pp
from polypod.description import Body
from polypod.description.paths import schema_at
from polypod.description.quantities import Direction, Rotation
from polypod.errors import RobotFileError, UnknownNameError, UnphysicalWarning
from polypod.files import dumps
from polypod.papers.shared import operations
from support.refusals import refused, says
from support.states import papers_robots

ROBOTS = ("kim-ryu", "long", "lopes", "pedrammehr", "staicu")
UNPHYSICAL = {"long": 12, "pedrammehr": 13}  # bodies: two a leg, and pedrammehr's platform
quiet = pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")


def text_of(name):
    return (resources.files("polypod.files") / "robots" / f"{name}.yaml").read_text(encoding="utf-8")


def test_these_are_the_papers():
    """Every robot of a paper is in the tests below; the others are in test_library."""
    assert papers_robots() == ROBOTS == operations.ROBOTS
    assert set(ROBOTS) < set(pp.library())


@quiet
@pytest.mark.parametrize("name", ROBOTS)
def test_load_save_load_is_the_identity(name, tmp_path):
    robot = pp.load(name)
    assert robot.name == name
    path = tmp_path / "copy.yaml"
    pp.save(robot, path)
    again = pp.load(path)
    assert again == robot
    text = path.read_text(encoding="utf-8")
    assert dumps(again) == text
    assert text.startswith(f"name: {name}\n")  # in the order a reader wants, not the alphabet's
    assert list(tmp_path.iterdir()) == [path]


@quiet
def test_a_save_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "robot.yaml").mkdir()
    with pytest.raises(OSError):
        pp.save(pp.load("lopes"), tmp_path / "robot.yaml")
    assert [entry.name for entry in tmp_path.iterdir()] == ["robot.yaml"]


def numeric_leaves(value, path=""):
    """Paths of numbers and lists of numbers in plain data, found without the library's walk."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numeric_leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from numeric_leaves(item, f"{path}.{number}")
    elif isinstance(value, float) or (isinstance(value, list) and value):
        yield path


@quiet
@pytest.mark.parametrize("name", ROBOTS)
def test_every_number_has_a_source(name):
    robot = pp.load(name)
    paths = sorted(numeric_leaves(json.loads(robot.model_dump_json())))
    assert sorted(robot.numbers()) == paths
    assert [path for path in paths if not robot.source_of(path)] == []
    # no pattern without a number: a source for what is not there would be a misspelling
    assert {robot.source_of(path) for path in paths} == set(robot.sources.values())


@pytest.mark.parametrize("name", ROBOTS)
def test_opting_out_of_the_physical_check_is_visible(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pp.load(name)
    output = [str(one.message) for one in caught if issubclass(one.category, UnphysicalWarning)]
    if name not in UNPHYSICAL:
        assert output == []
    else:
        (message,) = output
        assert f"{name!r} has {UNPHYSICAL[name]} bodies" in message
        says(message, "leg1.lower.inertia")


# Derived numbers of the files, from the definitions in their comments


@quiet
def test_pedrammehr_axes_are_tangential():
    for leg in pp.load("pedrammehr").legs:
        x, y, _ = leg.base
        assert leg.axis == pytest.approx(np.array([-y, x, 0.0]) / math.hypot(x, y), abs=1e-15)


def test_kim_ryu_axes_are_level_and_square_to_the_rails():
    for leg in pp.load("kim-ryu").legs:
        a = np.array(leg.rail_direction)
        u = np.cross([0.0, 0.0, 1.0], a)
        # rail_direction carries the rounding of four printed digits' differences, a few units in the last place
        assert leg.axis == pytest.approx(u / np.linalg.norm(u), abs=1e-15)
        assert leg.travel == (0.0, pytest.approx(0.7, abs=2e-5))  # a 0.7 m rail, printed to 1e-4 m


def test_lopes_layout():
    base, platform = (45, 75, 165, 195, 285, 315), (0, 120, 120, 240, 240, 0)
    robot = pp.load("lopes")
    for leg, at_base, at_platform in zip(robot.legs, np.deg2rad(base), np.deg2rad(platform), strict=True):
        assert leg.rail_start == pytest.approx([1.5 * np.cos(at_base), 1.5 * np.sin(at_base), 0], abs=1e-15)
        assert leg.platform == pytest.approx([0.75 * np.cos(at_platform), 0.75 * np.sin(at_platform), 0], abs=1e-15)
        # centre of mass b_cm from the platform end; slender along the link, the third axis of the link frame
        assert leg.length - leg.link.com[2] == pytest.approx(0.918, abs=1e-15)
        assert leg.link.central_inertia == pytest.approx(np.diag([0.1, 0.1, 0.0]), abs=0)


def test_staicu_platform_about_its_corner():
    robot = pp.load("staicu")
    assert robot.home.position[2] == pytest.approx(-math.sqrt(0.4**2 - 0.15**2), rel=1e-15, abs=0)
    # printed tensor about C5, its second axis down and its third along y; centre of mass 0.069035 m from C5 along x
    shift = 8.1573 * 0.069035**2
    assert robot.platform.central_inertia == pytest.approx(
        np.diag([0.0269, 0.0501 - shift, 0.0658 - shift]), rel=1e-14, abs=0
    )


@quiet
def test_long_plate_is_the_hexagon():
    """Polygon formulas over the corners (the legs' points), not the closed form of the file's comment."""
    robot = pp.load("long")
    x, y = np.array([leg.platform for leg in robot.legs])[:, :2].T
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    cross = x * y1 - x1 * y
    mass = 7500 * 0.015 * cross.sum() / 2
    about_x = 7500 * 0.015 * (cross * (y * y + y * y1 + y1 * y1)).sum() / 12
    about_y = 7500 * 0.015 * (cross * (x * x + x * x1 + x1 * x1)).sum() / 12
    thickness = mass * 0.015**2 / 12
    expected = np.diag([about_x + thickness, about_y + thickness, about_x + about_y])
    assert robot.platform.mass == pytest.approx(mass, rel=1e-14, abs=0)
    assert robot.platform.central_inertia == pytest.approx(expected, rel=1e-14, abs=0)


@quiet
def test_long_links_are_those_of_its_denavit_hartenberg_chain():
    """Table 3 in the frames of Table 1, walked joint by joint with the joint values of Table 4."""
    q1, q2 = (-1.671, -1.373, -2.016, -1.958, -1.656, -1.936), (1.767, 1.764, 1.814, 1.859, 1.389, 1.345)
    robot = pp.load("long")
    first = np.array(robot.legs[0].base)
    for leg, one, two in zip(robot.legs, q1, q2, strict=True):
        b = np.array(leg.base) - first
        frame1 = Turn.from_euler("ZXZ", [math.atan2(b[1], b[0]), -math.pi / 2, one]).as_matrix()
        frame2 = frame1 @ Turn.from_euler("XZ", [math.pi / 2, two]).as_matrix()
        frame3 = frame2 @ Turn.from_euler("X", math.pi / 2).as_matrix()
        assert leg.axis == pytest.approx(frame1[:, 2], abs=1e-15)
        n = frame3[:, 2]
        # the chain with the printed joint values points at the platform joint (values rounded to 5e-4 rad)
        reach = np.add(robot.home.position, leg.platform) - leg.base
        assert n == pytest.approx(reach / np.linalg.norm(reach), abs=1e-3)
        v = np.cross(leg.axis, n) / np.linalg.norm(np.cross(leg.axis, n))
        pod = np.column_stack([n, v, np.cross(n, v)])
        assert pod @ leg.lower.frames["link2"] == pytest.approx(frame2, abs=1e-15)
        assert pod @ leg.upper.frames["link3"] == pytest.approx(frame3, abs=1e-15)
        lower = frame2 @ [[4.823, 0.215, 0], [0.215, 0.945, 0], [0, 0, 5.11]] @ frame2.T
        upper = frame3 @ np.diag([1.068, 1.068, 0.0234]) @ frame3.T
        assert pod @ leg.lower.first_moment == pytest.approx(frame2 @ [4.29, -12.628, 0], abs=1e-14)
        assert pod @ leg.upper.first_moment == pytest.approx(frame3 @ [0, 0, -3.018], abs=1e-14)
        # 1e-14: rounding of tensors of size 5 turned twice
        assert pod @ leg.lower.origin_inertia @ pod.T == pytest.approx(lower, abs=1e-14)
        assert pod @ leg.upper.origin_inertia @ pod.T == pytest.approx(upper, abs=1e-14)


# Bodies and quantities


def inertia_of(masses, points, about):
    """Sum over point masses: m (r.r 1 - r r^T)."""
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - about, strict=True))


@given(st.integers(0, 2**32 - 1))
def test_inertia_about_a_named_point_in_a_named_frame(seed):
    """A cloud of point masses, its tensor summed about the point in turned axes; moments summed directly."""
    random = np.random.default_rng(seed)
    masses, points = random.uniform(0.1, 1, 6), random.uniform(-1, 1, (6, 3))
    com, corner = masses @ points / masses.sum(), random.uniform(-1, 1, 3)
    axes = Turn.random(rng=random).as_matrix()
    tensor = axes.T @ inertia_of(masses, points, corner) @ axes
    body = Body(
        mass=masses.sum(),
        com=com,
        inertia=(tensor + tensor.T) / 2,
        about="corner",
        frame="tilted",
        points={"corner": corner},
        frames={"tilted": axes},
    )
    # tensors about the corner reach 6 x 1 kg x 12 m^2, so some roundings of that size stay below 1e-13
    assert body.central_inertia == pytest.approx(inertia_of(masses, points, com), abs=1e-13)
    assert body.origin_inertia == pytest.approx(inertia_of(masses, points, np.zeros(3)), abs=1e-13)
    assert body.first_moment == pytest.approx(masses @ points, abs=1e-13)
    assert body.second_moment == pytest.approx((points.T * masses) @ points, abs=1e-13)
    moved = Body(mass=masses.sum(), com=com, inertia=inertia_of(masses, points, np.zeros(3)), about="origin")
    assert moved.central_inertia == pytest.approx(body.central_inertia, abs=1e-13)


@given(st.integers(0, 2**32 - 1))
def test_directions_and_rotations_are_the_same_when_read_again(seed):
    """What is off by the rounding of three digits is made exact once; reading the result changes no bit of it."""
    random = np.random.default_rng(seed)
    direction, rotation = TypeAdapter(Direction), TypeAdapter(Rotation)
    v = random.normal(size=3)
    exact = v / np.linalg.norm(v)
    axis = direction.validate_python(exact.round(3))
    assert axis == pytest.approx(exact, abs=2e-3)
    assert direction.validate_python(axis) == axis
    assert math.hypot(*axis) == pytest.approx(1.0, abs=1e-15)
    matrix = Turn.random(rng=random).as_matrix()
    turn = rotation.validate_python(matrix.round(3))
    assert rotation.validate_python(turn) == turn
    assert np.transpose(turn) @ turn == pytest.approx(np.eye(3), abs=1e-14)
    assert turn == pytest.approx(matrix, abs=2e-3)
    # two digits are not enough: what changes a length by more than 1e-3 may be a slip
    with refused(ValidationError, "1"):
        direction.validate_python(1.0011 * exact)
    with refused(ValidationError, "determinant"):
        rotation.validate_python(1.0011 * matrix)


def test_a_body_without_mass_has_no_inertia():
    with refused(ValidationError, "inertia 0"):
        Body(mass=0.0, inertia=(1.0, 1.0, 1.0))
    assert Body(mass=0.0).unphysical == ""


# Bad files: each is a library file with one edit. The fault must be at `field`, its line the one that holds `mark`,
# and its message contain all `words`.

CONE = "  lower:\n    mass: 3.0", "  base_cone: {axis: [0.0, 0.0, 1.0], half_angle: %s}\n  lower:\n    mass: 3.0"
LINK = "[0.1402837, 0.1402837, 0.0001087]"
BAD = {
    "missing field of a leg": (
        "kim-ryu",
        ("    axis: [1.0, 0.0, 0.0]\n", ""),
        ("legs.2.axis", "name: leg3", ["missing", "required"]),
    ),
    "missing field of the defaults": (
        "kim-ryu",
        ("    mass: 2.1729\n", ""),
        ("leg_defaults.link.mass", "  link:", ["missing"]),
    ),
    "missing field of a leg that overrides the defaults": (
        "kim-ryu",
        ("  - name: leg3\n", "  - name: leg3\n    link: {com: [0.0, 0.0, 0.4]}\n"),
        ("legs.2.link.mass", "link: {com: [0.0, 0.0, 0.4]}", ["missing"]),
    ),
    "missing field in all legs": (
        "kim-ryu",
        ("  length: 0.9\n", ""),
        ("legs.0.length", "name: leg1", ["missing", "and in 5 other legs"]),
    ),
    "missing field of the robot": (
        "staicu",
        (text_of("staicu")[text_of("staicu").index("platform:") : text_of("staicu").index("leg_defaults:")], ""),
        ("platform", "name: staicu", ["missing"]),
    ),
    "unknown field of the robot": (
        "lopes",
        ("gravity: [", "gravitas: ["),
        ("gravitas", "gravitas: [", ["unknown field", "Did you mean 'gravity'?", "Known: name, title"]),
    ),
    "unknown field of a leg": (
        "kim-ryu",
        ("  root: lower\n", "  root: lower\n  traval: [0.0, 0.7]\n"),
        ("leg_defaults.traval", "traval", ["unknown field", "Did you mean 'travel'?", "Known: kind, name, platform"]),
    ),
    "unknown field of a body": (
        "staicu",
        ("slider: {mass: 0.9751}", "slider: {mass: 0.9751, center: [0.0, 0.0, 0.0]}"),
        ("leg_defaults.slider.center", "slider: {", ["unknown field", "Known: mass, com, inertia, about"]),
    ),
    "wrong shape of a vector": (
        "kim-ryu",
        ("platform: [0.1615, 0.0337, 0.0]", "platform: [0.1615, 0.0337]"),
        ("legs.4.platform", "platform: [0.1615, 0.0337]", ["must be 3 numbers, got [0.1615, 0.0337]"]),
    ),
    "wrong shape of a tensor": (
        "kim-ryu",
        ("inertia: [0.1181489, 0.1181488, 0.2258968]", "inertia: [[1, 0], [0, 1]]"),
        ("platform.inertia", "inertia: [[1, 0]", ["3 principal moments or 3 rows of 3", "got [[1, 0], [0, 1]]"]),
    ),
    "a text for a number": (
        "kim-ryu",
        ("mass: 10.7673", "mass: heavy"),
        ("platform.mass", "heavy", ["must be a number, got 'heavy'"]),
    ),
    "a truth value for a number": (
        "kim-ryu",
        ("mass: 10.7673", "mass: true"),
        ("platform.mass", "mass: true", ["must be a number, got True"]),
    ),
    "NaN": (
        "kim-ryu",
        ("com: [0.0, 0.0, 0.45]", "com: [0.0, .nan, 0.45]"),
        ("leg_defaults.link.com.1", ".nan", ["must be a finite number, got nan"]),
    ),
    "infinity": (
        "kim-ryu",
        ("gravity: [0.0, 0.0, 9.81]", "gravity: [0.0, 0.0, .inf]"),
        ("gravity.2", ".inf", ["must be a finite number, got inf"]),
    ),
    "negative mass": (
        "pedrammehr",
        ("mass: 3.0", "mass: -3.0"),
        ("leg_defaults.lower.mass", "mass: -3.0", ["must be greater than or equal to 0, got -3.0"]),
    ),
    "massless platform": (
        "long",
        ("mass: 73.070893444312\n  inertia: [3.8071457794766648, 3.8071457794766648, 7.611551400449168]", "mass: 0"),
        ("platform.mass", "  mass: 0", ["must be positive, got 0"]),
    ),
    "tensor not positive definite": (
        "kim-ryu",
        (LINK, "[0.1402837, 0.1402837, -0.0001087]"),
        ("leg_defaults.link.inertia", "-0.0001087", ["not positive definite", "-0.0001087, 0.140284", "'check: none'"]),
    ),
    "triangle inequality broken": (
        "kim-ryu",
        (LINK, "[0.1402837, 0.1402837, 0.3]"),
        (
            "leg_defaults.link.inertia",
            "0.1402837, 0.3]",
            ["breaks the triangle inequality", "0.140284, 0.140284, 0.3 kg"],
        ),
    ),
    "unsymmetric tensor": (
        "kim-ryu",
        ("inertia: [0.1181489, 0.1181488, 0.2258968]", "inertia: [[0.1, 0.01, 0], [0, 0.1, 0], [0, 0, 0.1]]"),
        ("platform.inertia", "0.01", ["must be symmetric, got [[0.1, 0.01, 0.0], [0.0, 0.1, 0.0]"]),
    ),
    "unknown point": (
        "staicu",
        ("about: C5", "about: C4"),
        ("platform.about", "about: C4", ["unknown name 'C4'", "known: com, origin, C5"]),
    ),
    "non-unit axis": (
        "long",
        ("axis: [-0.8, 0.6, 0.0]", "axis: [-0.8, 0.7, 0.0]"),
        ("legs.3.axis", "0.7, 0.0]", ["must have length 1, got [-0.8, 0.7, 0.0], which has length 1.06301458"]),
    ),
    "zero axis": (
        "long",
        ("axis: [-0.8, 0.6, 0.0]", "axis: [0, 0, 0]"),
        ("legs.3.axis", "axis: [0, 0, 0]", ["must have length 1, got [0.0, 0.0, 0.0], which is zero"]),
    ),
    "rotation matrix that is none": (
        "lopes",
        ("[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]", "[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]"),
        ("leg_defaults.link.frames.lopes", "lopes: [[", ["not a rotation matrix", "determinant +1", "[0.0, 1.0, 0.0]"]),
    ),
    "unknown leg kind": (
        "kim-ryu",
        ("  - name: leg3\n", "  - name: leg3\n    kind: PUZ\n"),
        (
            "legs.2.kind",
            "kind: PUZ",
            [
                "unknown leg kind 'PUZ'",
                "Did you mean",
                "'PUS'",
                "Known: cable, chain",
                "import its module",
            ],
        ),
    ),
    "no leg kind": (
        "kim-ryu",
        ("  kind: PUS\n", ""),
        ("legs.0.kind", "name: leg1", ["missing", "PRPaR, PRU, PUS, UPS", "and in 5 other legs"]),
    ),
    "malformed YAML": (
        "kim-ryu",
        ("com: [0.0, 0.0, 0.45]", "com: [0.0, 0.0, 0.45"),
        (
            "",
            f"inertia: {LINK}",
            ["not YAML", "a bracket or brace opened in line", "is not closed"],
        ),  # the line after, where the list must end
    ),
    "repeated key": (
        "kim-ryu",
        ("  length: 0.9\n", "  length: 0.9\n  length: 0.8\n"),
        ("leg_defaults.length", "length: 0.8", ["given twice, here and in line 17"]),
    ),
    "wrong number of legs": (
        "staicu",
        (text_of("staicu")[text_of("staicu").index("  - name: C") : text_of("staicu").index("sources:")], ""),
        ("legs", "legs:", ["3 degrees of freedom needs 3 actuators, got 2"]),
    ),
    "no legs": (
        "staicu",
        (text_of("staicu")[text_of("staicu").index("legs:\n") : text_of("staicu").index("sources:")], "legs: []\n"),
        ("legs", "legs: []", ["3 degrees of freedom needs 3 actuators, got 0"]),
    ),
    "two legs of the same name": (
        "kim-ryu",
        ("name: leg6", "name: leg5"),
        ("legs.5.name", "rail_start: [0.7380", ["must be unique", "'leg5', 'leg5'"]),
    ),
    "limits out of order": (
        "pedrammehr",
        ("  - name: leg2\n", "  - name: leg2\n    length: [0.9, 0.4]\n"),
        ("legs.1.length", "length: [0.9, 0.4]", ["the lower limit must come first, got [0.9, 0.4]"]),
    ),
    "angle in an unknown unit": (
        "pedrammehr",
        (CONE[0], CONE[1] % "15 degrees"),
        (
            "leg_defaults.base_cone.half_angle",
            "15 degrees",
            ["a number in radians or a text such as '15 deg'", "'15 degrees'"],
        ),
    ),
    "angle without a number": (
        "pedrammehr",
        (CONE[0], CONE[1] % "fifteen deg"),
        ("leg_defaults.base_cone.half_angle", "fifteen", ["a text such as '15 deg'", "got 'fifteen deg'"]),
    ),
    "angle too wide": (
        "pedrammehr",
        (CONE[0], CONE[1] % "181 deg"),
        ("leg_defaults.base_cone.half_angle", "181 deg", ["less than or equal to 3.14", "got '181 deg'"]),
    ),
    "legs that are no list": (
        "kim-ryu",
        (text_of("kim-ryu")[text_of("kim-ryu").index("legs:\n") : text_of("kim-ryu").index("sources:")], "legs: 6\n"),
        ("legs", "legs: 6", ["must be a list, got 6"]),
    ),
    "defaults that are no mapping": (
        "lopes",
        (
            text_of("lopes")[text_of("lopes").index("leg_defaults:") : text_of("lopes").index("# Pl")],
            "leg_defaults: 6\n",
        ),
        ("leg_defaults", "leg_defaults: 6", ["must be a mapping", "got 6"]),
    ),
    "euler angles of no convention": (
        "lopes",
        ("euler: ZYX", "euler: ZyX"),
        ("euler", "euler: ZyX", ["xyz (fixed axes) or XYZ (moving axes)", "got 'ZyX'"]),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file(case, tmp_path):
    name, (old, new), (field, mark, words) = BAD[case]
    text = text_of(name)
    assert old in text
    text = text.replace(old, new, 1)
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RobotFileError) as caught:
        pp.load(path)
    (fault,) = caught.value.faults  # one mistake, one fault: six equal legs do not say it six times
    line = next(number for number, row in enumerate(text.splitlines(), 1) if mark in row)
    if case == "two legs of the same name":
        line -= 1  # the mark is the line below the name, which occurs twice
    assert (fault.field, fault.line) == (field, line)
    assert all(word in fault.message for word in words), fault.message
    output = f"line {line}: {field}: {fault.message}" if field else f"line {line}: {fault.message}"
    assert str(caught.value) == f"{path} is not a valid robot:\n  {output}"


def test_defaults_of_legs_of_two_kinds_name_the_cause() -> None:
    post = "  - {name: post, kind: chain, bodies: {}, joints: []}\nsources:"
    with pytest.raises(RobotFileError) as caught:
        pp.loads(text_of("kim-ryu").replace("sources:", post, 1))
    (fault,) = [one for one in caught.value.faults if one.field == "leg_defaults.length"]
    assert all(word in fault.message for word in ("post", "chain", "PUS"))


def test_a_bound_that_is_broken_is_not_advised() -> None:
    with pytest.raises(RobotFileError) as caught:
        pp.load("hexapod", {"legs.*.max_force": "-5 N"})
    assert "-5 N" in caught.value.faults[0].message
    assert "write -5" not in caught.value.faults[0].message


def test_a_robot_of_the_library_is_no_missing_study() -> None:
    from polypod.design.study import StudyFileError, load_study

    with pytest.raises(StudyFileError) as caught:
        load_study("hexapod")
    assert "library" in str(caught.value)


def test_rail_ends_that_coincide():
    text = text_of("kim-ryu").replace("rail_end: [-0.1100, 0.3095, 0.3500]", "rail_end: [-0.1100, 0.9157, 0.0]")
    output = "line 44 legs.2.rail_end rail_start [-0.11, 0.9157, 0.0]"
    with refused(RobotFileError, output) as caught:
        pp.loads(text)
    assert "coincide" in str(caught.value)
    assert "rail_end" in text.splitlines()[43]


def test_all_faults_are_reported_at_once():
    text = text_of("kim-ryu").replace("mass: 10.7673", "mass: -1").replace("axis: [1.0", "axis: [2.0")
    with pytest.raises(RobotFileError) as caught:
        pp.loads(text, "my robot")
    assert [fault.field for fault in caught.value.faults] == ["platform.mass", "legs.2.axis", "legs.3.axis"]
    assert str(caught.value).startswith("my robot is not a valid robot:")


@quiet
@pytest.mark.parametrize(("written", "radians"), [("15 deg", math.pi / 12), ("0.25 rad", 0.25), ("0.25", 0.25)])
def test_angles_in_degrees_and_radians(written, radians):
    robot = pp.loads(text_of("pedrammehr").replace(CONE[0], CONE[1] % written))
    assert robot.legs[5].base_cone.half_angle == pytest.approx(radians, rel=1e-15, abs=0)
    assert pp.loads(dumps(robot)) == robot


@pytest.mark.parametrize(("text", "got"), [("", "nothing"), ("- lopes", "a list"), ("lopes", "a text")])
def test_a_text_that_is_no_mapping(text, got):
    with refused(RobotFileError, f"line 1 {got}"):
        pp.loads(text)


@pytest.mark.parametrize(("asked", "near"), [("kimryu", "'kim-ryu'"), ("Pedramehr", "'pedrammehr'")])
def test_unknown_robot_names_what_comes_near(asked, near):
    with pytest.raises(UnknownNameError) as caught:
        pp.load(asked)
    known = ", ".join(pp.library())
    assert str(caught.value) == f"unknown robot {asked!r}. Did you mean {near}? Known: {known}."
    assert (caught.value.name, caught.value.known) == (asked, pp.library())


def test_files_that_cannot_be_read(tmp_path):
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, reason in (
        (tmp_path / "absent.yaml", "no such file"),
        (tmp_path, "it is a folder"),
        (binary, "not UTF-8 text; save it as UTF-8"),
    ):
        for given_as in (path, str(path)):
            with pytest.raises(RobotFileError) as caught:
                pp.load(given_as)
            line = "line 1: " if path == binary else ""
            text = f"{path} is not a valid robot:\n  {line}the file cannot be read: {reason}"
            assert str(caught.value).startswith(text)


def test_a_file_needs_no_suffix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text(text_of("lopes"), encoding="utf-8")
    assert pp.load("mine") == pp.load("lopes")
    (tmp_path / "staicu").write_text("not a robot", encoding="utf-8")
    assert pp.load("staicu").name == "staicu"  # a library name stays one


@pytest.mark.parametrize(
    ("slip", "line", "words"),
    [
        (("[0.0, 0.0, 9.81]", "[0.0, 0.0, 9.81"), 0, "opened in line {} is not closed"),
        (("  mass: 10.7673", "\tmass: 10.7673"), 0, "indent with spaces"),
        (("  mass: 10.7673", "     mass: 10.7673"), 1, "indented differently"),
    ],
)
def test_slips_of_syntax_are_explained_in_plain_words(slip, line, words):
    text = text_of("kim-ryu")
    assert slip[0] in text
    at = text[: text.index(slip[0])].count("\n") + 1
    with pytest.raises(RobotFileError) as caught:
        pp.loads(text.replace(*slip, 1))
    assert words.format(at) in str(caught.value)
    assert caught.value.faults[0].line in (at, at + 1, at + line)


def test_an_angle_where_a_cone_is_meant_does_not_ask_for_a_number():
    with pytest.raises(RobotFileError) as caught:
        pp.loads(text_of("pedrammehr").replace(CONE[0], "  base_cone: 40 deg\n" + CONE[0], 1))
    says(str(caught.value), "axis half_angle 40 deg")
    assert "plain number" not in str(caught.value)


def test_a_place_that_no_file_has_is_of_no_class():
    document = {"platform": {"engine": {}}, "legs": [{"kind": "chain", "bodies": {"crank": {}}}]}
    assert schema_at(pp.Robot, ("legs", 0, "bodies", "crank"), document) is Body
    with refused(KeyError, "engine"):
        schema_at(pp.Robot, ("platform", "engine"), document)
