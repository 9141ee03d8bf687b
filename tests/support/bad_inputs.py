"""Bad inputs of all packages, for the catalogue of messages (``tests/data/messages.md``).

Each is a section, what was given, and a call that must be refused or warned about. Where a table of cases is tested
for class and data elsewhere, the catalogue takes the same table, so that new cases appear in it.
``POLYPOD_WRITE_MESSAGES=1 python3 -m pytest -n 0 tests/guide/test_messages.py`` writes the catalogue again.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

import polypod as pp
from polypod.errors import PolypodError
from polypod.yaml12 import to_yaml
from support.command_line import polypod
from support.refusals import codes


class BadInput(NamedTuple):
    """What is given, and the call that takes it, in a folder of its own."""

    section: str
    given: str
    call: Callable[[], Any]


class Message(NamedTuple):
    """What is said of a bad input: the class of the error or warning, its codes, the text."""

    section: str
    given: str
    kind: str
    codes: tuple[str, ...]
    text: str


def said(bad: BadInput, folder: Path) -> Message:
    """What a bad input is answered with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        try:
            result = bad.call()
        except (PolypodError, ValidationError, TypeError) as error:
            return Message(*bad[:2], type(error).__name__, tuple(sorted(codes(error))), _plain(str(error), folder))
    if hasattr(result, "exit_code"):
        if result.exit_code:
            return Message(*bad[:2], f"exit code {result.exit_code}", (), _plain(result.stderr, folder))
        return Message(*bad[:2], "note", (), _plain(result.stderr, folder))
    if not caught:
        return Message(*bad[:2], "accepted", (), "")
    (first, *_) = caught
    return Message(*bad[:2], first.category.__name__, (), _plain(str(first.message), folder))


def _plain(text: str, folder: Path) -> str:
    """A text without what differs between machines and versions, and with three names of a list of many."""
    text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), "FOLDER")
    text = re.sub(r"-?\d(?:\.\d+)?e-(?:1[3-9]|[2-9]\d)", "(rounding)", text)
    text = re.sub(r"-?\d\.\d{12,}", lambda found: f"{float(found[0]):.6g}", text)
    text = re.sub(r"(Known: [^,\n]+, [^,\n]+, [^,\n]+), [^\n]*?\.(?= [A-Z\[]|\n|$)", r"\1, ....", text)
    text = re.sub(r"\n\s*For further information visit \S+", "", text)
    return re.sub(r"input_value=.*?, input_type", "input_value=..., input_type", text).strip()


# -- files -------------------------------------------------------------------------------------------------------------

ROBOT = [
    ("mass: 50.0", "mass: heavy"),
    ("mass: 50.0", "mass: -50.0"),
    ("mass: 50.0", "mass: 50 mm"),
    ("mass: 50.0", "mass: 3 lb"),
    ("mass: 50.0", "mass: .nan"),
    ("mass: 50.0", "mass: 1e300"),
    ("mass: 50.0", "mass: [50.0]"),
    ("mass: 50.0", "mass: 1_000"),
    ("mass: 50.0", "mas: 50.0"),
    ("mass: 50.0", "mass: 0"),
    ("mass: 50.0", "mass 50.0"),
    ("mass: 50.0", "mass:50.0"),
    ("mass: 50.0", "mass: 50.0\n  mass: 40.0"),
    ("mass: 50.0", "mass: '50"),
    ("mass: 50.0", "mass: 50.0\n  max_force: 3"),
    ("mass: 50.0", "mass: 50.0\n   com: [0, 0, 0]"),
    ("mass: 50.0", "mass: !!set {a}"),
    ("gravity: [0.0, 0.0, -9.81]", "gravity: [0.0, -9.81]"),
    ("gravity: [0.0, 0.0, -9.81]", "gravity: down"),
    ("gravity: [0.0, 0.0, -9.81]", "gravity: [0.0, 0.0, -9.81"),
    ("name: hexapod", "nam: hexapod"),
    ("name: hexapod", "name: ''"),
    ("name: hexapod", "name: @x"),
    ("kind: UPS", "kind: UPPS"),
    ("kind: UPS", "kind: [UPS]"),
    ("length: [0.37, 0.53]", "length: [0.53, 0.37]"),
    ("length: [0.37, 0.53]", "length: 0.53"),
    ("{viscous: 100.0}", "{viscous: -1}"),
    ("{viscous: 100.0}", "{viscos: 100}"),
    ("{viscous: 100.0}", "{viscous: 20 N m s/rad}"),
    ("{viscous: 100.0}", "100"),
    ("legs:", "legs: {}\nothers:"),
    ("platform:", "plattform:"),
]
TEXTS = ["", "- hexapod", "hexapod", "name: a", "name: a\nname: b", "a: *b", "a: 1\n---\nb: 2", "a: x\x07y"]


def _robot_files() -> Iterator[BadInput]:
    from polypod.files.robot_files import _source

    text, _ = _source("hexapod")
    for old, new in ROBOT:
        assert old in text, old
        yield BadInput("Robot files", f"{old} -> {new}", partial(pp.loads, text.replace(old, new, 1)))
    for bad in TEXTS:
        yield BadInput("Robot files", repr(bad), partial(pp.loads, bad))
    for path, value in {
        "platform.mas": 3, "legs.leg9.base": [1, 2, 3], "platform.mass": "3 lb", "legs.*.base": 3,
        "legs.0.base": [1, 2], "payload.mass": -2,
    }.items():  # fmt: skip
        yield BadInput("Robot files", f"load('hexapod', {{{path!r}: {value!r}}})",
                       partial(pp.load, "hexapod", {path: value}))  # fmt: skip
    for name in ("hexapot", "none.yaml", ".", "kim-ryu-circle"):
        yield BadInput("Robot files", f"load({name!r})", partial(pp.load, name))


def _tables() -> Iterator[BadInput]:
    """Cases of tests of files, legs, drives and motions."""
    from polypod.files.robot_files import _source
    from test_bad_input import UNUSABLE
    from test_chain_data import FAULTS as CHAINS
    from test_chain_data import changed
    from test_drives import FAULTS as DRIVES
    from test_drives import JOINTS
    from test_hostile import SLIPS
    from test_motion_files import FAULTS as MOTIONS
    from test_motion_files import GOOD
    from test_trajectories import BAD

    hexapod, _ = _source("hexapod")

    def chain(robot: str, change: Any) -> Any:
        return pp.Robot.model_validate(changed(robot, change))

    for name, (old, new, _) in SLIPS.items():
        yield BadInput("Robot files", f"{name}: {new}", partial(pp.loads, hexapod.replace(old, new, 1)))
    for name, (fields, _) in DRIVES.items():
        lines = "".join(f"  {key}: {value}\n" for key, value in fields.items())
        text = "\n".join(line for line in hexapod.splitlines() if line.split(":")[0].strip() not in fields)
        text = text.replace("leg_defaults:\n", f"leg_defaults:\n{lines}")
        yield BadInput("Drives", f"{name}: {fields}", partial(pp.loads, text))
    for name, (make, fields, _) in JOINTS.items():
        yield BadInput("Drives", f"{name}: {fields}", partial(make, **fields))
    for name, (document, _) in UNUSABLE.items():
        yield BadInput("Legs that cannot close", name, partial(pp.loads, to_yaml(document)))
    for name, (robot, change, _) in CHAINS.items():
        if name in BUILT:
            continue
        yield BadInput("Chain legs", f"{robot}: {name}", partial(chain, robot, change))
    for old, new, _, _ in MOTIONS:
        yield BadInput("Motion files", f"{old} -> {new or 'nothing'}",
                       partial(pp.motion.loads_motion, GOOD.replace(old, new, 1), "m.yaml"))  # fmt: skip
    for name, (make, _) in BAD.items():
        yield BadInput("Trajectories", name, make)


BUILT = {
    "two drives of three", "degrees of freedom not stated", "one degree of freedom too few",
    "a degree of freedom that legs do not leave", "one axis of a planar robot is off",
    "degrees of freedom of a robot of six",
}  # fmt: skip
"""Chain legs that are refused only when a model is built, which takes half a second each."""
CSV = [
    "x,y\n1,2\n", "time,x\n0,1\n1,b\n", "time,x\n0,1\n1\n", "time,x\n0,1\n0,2\n", "time,x [inch]\n0,1\n1,1\n",
    "time,x\n",
    "time,x\n0,nan\n1,1\n", 'time,x\n0,"1,5"\n1,1\n', "time;x\n0;1,5\n1;1.5\n", "time [m],x\n0,1\n1,2\n",
    "time,x,x\n0,1,1\n1,2,2\n", "",
]  # fmt: skip


def _csv_files() -> Iterator[BadInput]:
    from polypod.motion.tables import read_table

    def read(content: str) -> Any:
        Path("t.csv").write_text(content)
        return read_table(Path(), "t.csv")

    for content in CSV:
        yield BadInput("Tables", repr(content), partial(read, content))


def _mode_files() -> Iterator[BadInput]:
    from polypod.description import load_modes
    from test_flexible_modes import SMALL, test_bad_files_name_the_field

    def read(text: str) -> Any:
        Path("modes.yaml").write_text(text)
        return load_modes("modes.yaml")

    for old, new, _ in test_bad_files_name_the_field.pytestmark[0].args[1]:
        yield BadInput("Mode files", f"{old.strip()} -> {new.strip() or 'nothing'}",
                       partial(read, SMALL.replace(old, new, 1)))  # fmt: skip


# -- functions ---------------------------------------------------------------------------------------------------------


def _arguments() -> Iterator[BadInput]:
    model, planar = pp.Model("lopes"), pp.Model("staicu")
    home, still = model.robot.home.matrix, np.zeros(6)
    away = home.copy()
    away[0, 3] += 9.0
    mirror = np.diag([1.0, 1.0, -1.0, 1.0])
    for given, call in {
        "Model(3)": lambda: pp.Model(3),
        "Model('lopes', simplify='none')": lambda: pp.Model("lopes", simplify="none"),
        "Model('lopes', friction_width=-1)": lambda: pp.Model("lopes", friction_width=-1),
        "Model('lopes', friction_law='tan')": lambda: pp.Model("lopes", friction_law="tan"),
        "inverse_kinematics('home')": lambda: model.inverse_kinematics("home"),
        "inverse_kinematics(eye(3))": lambda: model.inverse_kinematics(np.eye(3)),
        "inverse_kinematics(mirror)": lambda: model.inverse_kinematics(mirror),
        "inverse_kinematics(nan)": lambda: model.inverse_kinematics(home * np.nan),
        "inverse_kinematics(2 eye(4))": lambda: model.inverse_kinematics(2 * np.eye(4)),
        "inverse_kinematics(away)": lambda: model.inverse_kinematics(away),
        "inverse_kinematics(home, errors='stop')": lambda: model.inverse_kinematics(home, errors="stop"),
        "inverse_dynamics(home, 5 numbers, 0)": lambda: model.inverse_dynamics(home, np.zeros(5), still),
        "inverse_dynamics(home, nan, 0)": lambda: model.inverse_dynamics(home, still * np.nan, still),
        "inverse_dynamics(home, 1j, 0)": lambda: model.inverse_dynamics(home, still + 1j, still),
        "inverse_dynamics(batches of 2 and 3)": lambda: model.inverse_dynamics(
            home, np.zeros((2, 6)), np.zeros((3, 6))
        ),
        "inverse_dynamics(formulation='lagrangian')": lambda: model.inverse_dynamics(
            home, still, still, formulation="lagrangian"
        ),
        "inverse_dynamics(elastic=[0])": lambda: model.inverse_dynamics(home, still, still, elastic=[0.0]),
        "inverse_dynamics(parameters={'platform.mas': 1})": lambda: model.inverse_dynamics(
            home, still, still, parameters={"platform.mas": 1}
        ),
        "inverse_dynamics(parameters={'platform.mass': 'heavy'})": lambda: model.inverse_dynamics(
            home, still, still, parameters={"platform.mass": "heavy"}
        ),
        "inverse_dynamics(parameters=3)": lambda: model.inverse_dynamics(home, still, still, parameters=3),
        "kernel('jacobain')": lambda: model.kernel("jacobain"),
        "coordinates(home) of six degrees of freedom": lambda: model.coordinates(home),
        "motion([0]) of six degrees of freedom": lambda: model.motion(np.zeros(6)),
        "derivatives('inverse_dynamics', home)": lambda: model.derivatives("inverse_dynamics", home),
        "planar robot, pose off its plane": lambda: planar.inverse_kinematics(
            planar.robot.home.matrix + 0.1 * np.eye(4, k=3)
        ),
        "planar robot, twist off its plane": lambda: planar.inverse_dynamics(
            planar.robot.home.matrix, np.eye(6)[0], still
        ),
        "forward_kinematics(2 numbers)": lambda: model.forward_kinematics(np.zeros(2)),
        "static_equilibrium of a rigid platform": lambda: model.static_equilibrium(home),
        "pose(roll='5 mm')": lambda: pp.pose(roll="5 mm"),
        "pose(z=nan)": lambda: pp.pose(z=np.nan),
        "pose(x of 2, yaw of 3)": lambda: pp.pose(x=[0, 1], yaw=[1, 2, 3]),
        "study(3, 'around-home')": lambda: pp.study(3, "around-home"),
        "study('lopes', 3)": lambda: pp.study("lopes", 3),
        "make_task(model, 'kim-ryu-circel')": lambda: pp.motion.make_task(model, "kim-ryu-circel"),
    }.items():
        yield BadInput("Functions of a model", given, call)


def _simulation() -> Iterator[BadInput]:
    model = pp.Model("kim-ryu")
    for arguments in (
        {"duration": -1.0}, {"duration": "1"}, {"duration": 1.0, "rate": 0.0},
        {"duration": 1.0, "reference": "kim-ryu-circle"}, {"duration": 1.0, "delay": -1.0},
        {"duration": 1.0, "delay": 0.01}, {"duration": 1.0, "breaks": [2.0]}, {"duration": 1.0, "force": [1.0, 2.0]},
        {"duration": 1.0, "twist": [1.0]}, {"duration": 1.0, "elastic": [0.0]}, {"duration": 1.0, "saturation": [1, 2]},
        {"duration": 1.0, "events": {"limit": "panic"}}, {"duration": 1.0, "events": {"limits": "stop"}},
        {"duration": 1.0, "method": "RK54"}, {"duration": 1e9, "rate": 1e6},
    ):  # fmt: skip
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        yield BadInput("Simulation", f"simulate(model, {given})",
                       partial(pp.simulation.simulate, model, **arguments))  # fmt: skip


def _studies() -> Iterator[BadInput]:
    from polypod.design import loads_study, prepare

    def asked(text: str) -> Any:
        return prepare(loads_study(text))

    from test_design import TEXT, test_faults_of_studies_have_their_lines

    for old, new, _ in test_faults_of_studies_have_their_lines.pytestmark[0].args[1]:
        yield BadInput("Studies of designs", f"{old} -> {new}",
                       partial(asked, TEXT.replace(old, new)))  # fmt: skip


def _imports() -> Iterator[BadInput]:
    from test_import import four_bar, test_faults_of_the_file_beside_a_urdf, test_faults_of_urdf

    def urdf(change: tuple[str, str]) -> Any:
        path = four_bar(Path())
        path.write_text(path.read_text().replace(*change, 1))
        return pp.exchange.import_robot(path)

    def beside(change: dict[str, Any]) -> Any:
        path = four_bar(Path())
        right = {"closed_loop": [["coupler", "rocker"]], "type": ["3d"], "name_mot": ["motor"]}
        Path("robot.yaml").write_text(json.dumps(right | change))
        return pp.exchange.import_robot(path, "coupler")

    for change, _ in test_faults_of_urdf.pytestmark[0].args[1]:
        yield BadInput("Imports", " -> ".join(change), partial(urdf, change))
    for change, _ in test_faults_of_the_file_beside_a_urdf.pytestmark[0].args[1]:
        yield BadInput("Imports", f"file of loops: {change}", partial(beside, change))

    def read(name: str) -> Any:
        Path("t.txt").write_text("")
        return pp.exchange.import_robot(name)

    for name in ("none.urdf", ".", "t.txt"):
        yield BadInput("Imports", f"import_robot({name!r})", partial(read, name))


COMMANDS = """\
polypod
chek hexapod
check hexapot
check none.yaml
check .
check kim-ryu-circel
check hexapod --set platform.mas=3
check hexapod --set platform.mass=3lb
check hexapod --set platform.mass
check hexapod --draw a.png --set platform.mass=3
check hexapod --with none.py
run hexapod none.yaml
run hexapod kim-ryu-circel
run kim-ryu-circle hexapod
run hexapod around-home --rate 0
run hexapod around-home --rate fast
run hexapod around-home --no-such-option
show hexapot
new hexapod
new mine --kind hexapot
new mine --motion --flexible
new mine --kind tripod --arm 3
new mine --kind delta --arm -3
new mine --kind delta --arm 3kg
compare hexapod hexapod
calibrate hexapod
calibrate hexapod none.csv
identify hexapod none.csv
simulate hexapod around-home --controller pd
simulate hexapod around-home --animation
simulate hexapod around-home --rate -1
view hexapod --speed 3
view none.nc
workspace hexapod --at q=3
workspace hexapod --at z=2kg
workspace hexapod --at z
workspace hexapod --full 0
stiffness hexapod --wrench "0 0 1"
stiffness hexapod --drive 20mm
modes
fastest hexapod around-home --max-force 3mm
fastest hexapod around-home --max-speed 1kg
accuracy hexapod
accuracy hexapod none.yaml
excite hexapod --duration 0
export c hexapod jacobain
export fmu hexapod plnt
export mjcf hexapot
import none.urdf
import t.txt
sweep none.yaml
optimise none.yaml
papers kim-ruy
schema robots
"""


def _commands() -> Iterator[BadInput]:
    for line in COMMANDS.splitlines()[1:]:
        yield BadInput("Commands", f"polypod {line}", partial(polypod, *shlex.split(line)))


def _exports() -> Iterator[BadInput]:
    from polypod.export import export_c, export_mjcf
    from polypod.export.fmu import export_fmu

    model = pp.Model("lopes")
    for given, call in {
        "export_c(model, 'jacobain')": lambda: export_c(model, "jacobain"),
        "export_c(model, 'jacobian', precision='half')": lambda: export_c(model, "jacobian", precision="half"),
        "export_c(model, 'forward_kinematics', iterations=0)": lambda: export_c(
            model, "forward_kinematics", iterations=0
        ),
        "export_c(model, parameters=['platform.mas'])": lambda: export_c(model, parameters=["platform.mas"]),
        "export_mjcf(model, impedance=1)": lambda: export_mjcf(model, impedance=1),
        "export_mjcf(model, time_constant=0)": lambda: export_mjcf(model, time_constant=0),
        "export_fmu(model, 'plnt')": lambda: export_fmu(model, "plnt"),
        "export_fmu(model, 'plant', fmi=1)": lambda: export_fmu(model, "plant", fmi=1),
        "export_fmu(model, 'plant', compiler='no-such-cc')": lambda: export_fmu(model, "plant", compiler="no-such-cc"),
    }.items():
        yield BadInput("Exports", given, call)


def bad_inputs() -> list[BadInput]:
    """All of them, by section."""
    parts = (_robot_files, _tables, _csv_files, _mode_files, _arguments, _simulation, _studies, _imports, _exports)
    found = [bad for part in (*parts, _commands) for bad in part()]
    return sorted(found, key=lambda bad: list(dict.fromkeys(one.section for one in found)).index(bad.section))
