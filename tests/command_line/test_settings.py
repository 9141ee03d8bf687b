"""Other numbers for a robot without another file: ``--set``, and robots side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polypod as pp
from polypod.cli import COMMANDS, load_command
from polypod.design import sweep
from polypod.errors import InputError, RobotFileError, UnknownNameError
from polypod.files import load, save
from polypod.files.settings import parse_setting, setting_values
from polypod.results.compare import compare, study_robots
from support.command_line import polypod
from support.refusals import refused, says
from support.robots.slides import MASS, slide


def value_at(data, path):
    """The value at a path of numbers and names, by plain attributes."""
    for part in path.split("."):
        data = data[int(part)] if part.isdecimal() else data[part] if isinstance(data, dict) else getattr(data, part)
    return data


WITHOUT_ROBOT = {"papers", "schema", "list", "new", "import", "cache"}


@pytest.mark.parametrize("name", ["hexapod", "delta", pytest.param("par4", marks=pytest.mark.long)])
def test_a_setting_of_one_leg_is_of_that_leg_alone(name):
    """Legs have mappings of leg_defaults and copies in common: a value of one of them is not that of the others."""
    robot = load(name)
    paths = list(robot.numbers())
    before = [value_at(robot, path) for path in paths]
    inside = [path for path in paths if path.startswith("legs.") and path.count(".") > 2
              and path.rpartition(".")[2] in ("viscous", "drag", "mass")]  # fmt: skip
    for path in np.random.default_rng(3).permutation(inside)[:3].tolist():
        for changed in (robot.with_({path: 0.0375}), load(name, {path: 0.0375})):
            after = [value_at(changed, one) for one in paths]
            assert [one for one, a, b in zip(paths, before, after, strict=True) if a != b] == [path]


def test_settings_are_written_as_in_a_file():
    robot = load("hexapod", dict(map(parse_setting, (
        "platform.mass = 60", "legs.*.base=[300 mm, 0, 0]", "legs.leg2.base=[0, 0.3, 0]", "legs.*.max_force=2 kN",
        "gravity=[0, 0, -1.62]", "legs.*.prismatic_friction.drag=60", "home.position=[0, 0, 410 mm]",
    ))))  # fmt: skip
    assert robot.platform.mass == 60.0
    assert robot.gravity[2] == -1.62
    assert robot.home.position[2] == 0.41
    assert robot.legs[0].base == robot.legs[5].base == (0.3, 0.0, 0.0)
    assert robot.legs[1].base == (0.0, 0.3, 0.0)
    assert {leg.max_force for leg in robot.legs} == {2000.0}
    assert {leg.prismatic_friction.drag for leg in robot.legs} == {60.0}
    assert {leg.prismatic_friction.viscous for leg in robot.legs} == {100.0}  # beside it, as the file has it
    assert robot.source_of("platform.mass") == "set for this run" != robot.source_of("platform.com")
    assert robot.source_of("legs.3.max_force") == "set for this run" == robot.sources["legs.*.max_force"]
    assert "legs.1.base" in robot.sources  # named by its leg
    moon = load("kim-ryu", {"gravity": [0, 0, -1.62]})
    assert moon.source_of("gravity") == "set for this run" != load("kim-ryu").source_of("gravity") is not None


def test_values_of_bodies_whose_names_are_digits():
    data = load("five-bar").model_dump(exclude_unset=True)
    leg = data["legs"][0]
    leg["bodies"] = {"1": leg["bodies"]["crank"], "rod": leg["bodies"]["rod"]}
    for joint in leg["joints"]:
        joint["between"] = ["1" if name == "crank" else name for name in joint["between"]]
    assert setting_values(pp.Robot.model_validate(data), "legs.0.bodies.1.mass") == [0.15]


def test_a_setting_is_the_changed_file(tmp_path):
    path = tmp_path / "hexapod.yaml"
    changed = load("hexapod", {"platform.mass": 60.0})
    save(changed, path)
    assert load(path).platform == changed.platform
    assert load(path).legs == changed.legs
    assert load(path, {"platform.mass": "50 kg"}).platform == load("hexapod").platform


def test_every_number_of_a_robot_can_be_set(model_of):
    """Each parameter set to its own value leaves the robot as it is."""
    model = model_of("hexapod")
    values = {path: np.asarray(value).tolist() for path, value in model.parameters().items()}
    again = load("hexapod", values)
    assert again.model_copy(update={"sources": {}}) == model.robot.model_copy(update={"sources": {}})


@pytest.mark.parametrize(("path", "value", "error", "message"), [
    ("platform.mas", 3, UnknownNameError, 'platform.mas platform.mass'),
    ("legs.*.max_forc", 3, UnknownNameError, 'legs.*.max_force'),
    ("legs.leg9.base", [1, 2, 3], UnknownNameError, 'legs.leg9.base'),
    ("platform.mass", -3, RobotFileError, 'platform.mass -3'),
    ("platform.mass", "3 lb", RobotFileError, 'platform.mass 3 lb kg g t'),
    ("legs.*.base_cone", 3, UnknownNameError, 'legs.*.base_cone'),
])  # fmt: skip
def test_settings_that_cannot_be(path, value, error, message):
    with refused(error, message):
        load("hexapod", {path: value})


@pytest.mark.parametrize("text", ["platform.mass", "=3", "platform.mass=", "platform.mass=[1, 2"])
def test_texts_that_are_no_settings(text):
    with refused(InputError, "settings"):
        parse_setting(text)


def test_every_command_that_takes_a_robot_takes_settings():
    for name in COMMANDS:
        command = load_command(name)
        for one in getattr(command, "commands", {name: command}).values():
            takes = any("--set" in getattr(option, "opts", ()) for option in one.params)
            assert takes == (name not in WITHOUT_ROBOT), name


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A slide and one of a heavier platform, as files."""
    folder = tmp_path_factory.mktemp("robots")
    paths = [folder / "light.yaml", folder / "heavy.yaml"]
    save(slide(max_force=100.0), paths[0])
    heavy = slide(max_force=100.0)
    save(heavy.model_copy(update={"platform": heavy.platform.model_copy(update={"mass": 2 * MASS})}), paths[1])
    return [str(path) for path in paths]


def test_compare_by_hand(two):
    """Twice the mass: twice the force, reaction and power; the same speed, stroke and conditioning."""
    studies = study_robots(dict(zip(("light", "heavy"), two, strict=True)), "around-home", rate=40.0)
    found = compare(studies)
    assert found.names == ("light", "heavy")
    assert list(studies) == ["light", "heavy"]
    values = {one.name: one.values for one in found.measures}
    for name in ("force", "rms force", "total power", "joint reaction"):
        assert values[name][1] == pytest.approx(2 * values[name][0], rel=1e-10)
    for name in ("speed", "stroke", "condition number", "distance to singularity (least)"):
        assert values[name][1] == pytest.approx(values[name][0], rel=1e-12)
    assert values["force"][0] == np.abs(studies["light"].force.values).max()
    assert [one.ok for one in found.verdicts] == [True, False]
    assert [one.best for one in found.measures if one.name in ("force", "speed")] == [0, None]
    assert found.sentences[0].startswith("light: best in force, rms force")
    assert found.table.records()[0]["change"] == "+100.0 %"
    data = json.loads(json.dumps(found.data()))
    assert data["robots"] == ["light", "heavy"]
    assert [one["ok"] for one in data["verdicts"]] == [True, False]
    assert found.table.records()[0]["best"] == "light"
    studies["heavy"].reaction_force.values[0, 0, 0] = np.nan  # of one joint that statics leaves open
    (reaction,) = (one for one in compare(studies).measures if one.name == "joint reaction")
    assert reaction.values[0] == values["joint reaction"][0]
    assert np.isnan(reaction.values[1])
    assert reaction.best is None


@pytest.mark.long
def test_compare_says_which_files_have_no_motor(two):
    motor = load(two[0], {"legs.drive.joints.lift.rotor": 1.0})
    found = compare(study_robots({"plain": two[0], "driven": motor}, "around-home", rate=20.0))
    assert any("rotor_inertia" in note and "plain" in note and "driven" in note for note in found.notes)
    same = compare(study_robots({"plain": two[0], "heavy": two[1]}, "around-home", rate=20.0))
    assert not any("rotor_inertia" in note for note in same.notes)


def test_joints_go_by_their_names(two):
    """Only joints of that name are set, whatever their numbers: the passive guide is the first joint of its leg too."""
    robot = load(two[0], {"legs.*.joints.lift.max_speed": "2 m/s", "legs.drive.joints.0.max_power": 9})
    assert robot.legs[0].drive().max_speed == 2.0
    assert robot.legs[0].drive().max_power == 9.0
    assert robot.legs[1].joints[0].max_speed is None


def test_robots_of_one_topology_share_their_functions(two):
    models = [pp.Model(path) for path in two]
    kernels = [model.kernel("inverse_dynamics") for model in models]
    assert kernels[0].__dict__.get("_code") is kernels[1].__dict__.get("_code") is not None


def test_compare_command(two, tmp_path):
    picture = tmp_path / "both.png"
    args = ["compare", two[0], "around-home", "--rate", "20", "--set", "platform.mass=16"]
    done = polypod(*args, "--out", picture)
    assert done.exit_code == 0, done.output
    says(done.output, "light platform.mass=16")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "+100.0 %" in done.output
    assert "does not fit" in done.output
    assert "exists; add --force" in polypod(*args, "--out", picture).output
    for wrong, message in (
        (["compare", two[0]], "name two robots or more, or one with --set"),
        (["compare", two[0], two[0]], "is named twice"),
        (["compare", "around-home", "--set", "gravity.2=1"], "name two robots or more"),
        (["compare", two[0], "arond-home"], "unknown file, robot or motion 'arond-home'. Did you mean 'around-home'?"),
        ([*args, "--rate", "-1"], "rate: must be greater than 0"),
    ):
        failed = polypod(*wrong)
        assert failed.exit_code == 2
        assert message in " ".join(failed.output.split())


def test_settings_of_studies_are_those_of_their_robot(tmp_path):
    """A study of a robot with a number set is that of a file which has it; what varies has no other value."""
    study = tmp_path / "study.yaml"
    study.write_text(
        "{name: a, robot: hexapod, rate: 5, report: peak force, "
        "vary: [{parameters: legs.*.base, pattern: radius, values: [0.3]}]}"
    )
    save(load("hexapod", {"platform.mass": 60.0}), tmp_path / "heavy.yaml")
    (tmp_path / "heavy-study.yaml").write_text(study.read_text().replace("robot: hexapod", "robot: heavy.yaml"))
    found = sweep(study, settings={"platform.mass": "60 kg"}).peak_force.values
    np.testing.assert_array_equal(found, sweep(tmp_path / "heavy-study.yaml").peak_force.values)
    with refused(UnknownNameError, name="platform.mas"):
        sweep(study, settings={"platform.mas": 1})
    study.write_text("{name: a, robot: hexapod, vary: [{parameters: platform.mass, range: [1, 2]}]}")
    with refused(InputError, "platform.mass"):
        sweep(study, settings={"platform.*": 1})
