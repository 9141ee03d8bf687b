"""FMUs of a robot, compiled and run by fmpy, equal the model and its simulation."""

from __future__ import annotations

import ctypes
import importlib.util
import io
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.control import JointComputedTorque
from polypod.errors import InputError, UnknownNameError
from polypod.export.fmu import KINDS, export_fmu, usual_parameters
from polypod.export.fmu.description import exponents
from polypod.export.fmu.variables import Variable, Variables, quoted
from polypod.files import dumps, loads
from polypod.motion import make_task
from support.command_line import polypod
from support.refusals import refused, says
from test_export_c import flexible

fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
validate_fmu = pytest.importorskip("fmpy.validation").validate_fmu
instantiate_fmu = pytest.importorskip("fmpy.simulation").instantiate_fmu
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
# Without optimisation: thousands of statements compile in a moment.
FLAGS = ("-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror")
# The same operations in the same order, but for products that are fused with sums in the kernels.
ROUNDING = 1e-13
ROBOT = "staicu"  # three legs, three degrees of freedom
Make = Callable[..., "Unit"]


class Unit:
    """An FMU that fmpy runs."""

    def __init__(self, folder: str, fmi_type: str) -> None:
        description = fmpy.read_model_description(folder)
        self.places = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = instantiate_fmu(folder, description, fmi_type)
        self.new = description.fmiVersion.startswith("3")

    def set(self, **groups: Any) -> Unit:
        """Numbers of groups: ``force`` sets force.leg1 and so on; dots in names are double underlines."""
        for group, values in groups.items():
            name = group.replace("__", ".")
            found = [r for n, r in self.places.items() if n == name or n.startswith(f"{name}.")]
            (self.fmu.setFloat64 if self.new else self.fmu.setReal)(found, np.ravel(values).tolist())
        return self

    def get(self, group: str) -> Any:
        found = [r for n, r in self.places.items() if n.startswith(f"{group}.")]
        return np.array((self.fmu.getFloat64 if self.new else self.fmu.getReal)(found))

    def start(self) -> Unit:
        if not self.new:
            self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        return self

    def step(self, time: float, step: float) -> Unit:
        self.fmu.doStep(time, step)
        return self


@pytest.fixture(scope="module")
def make(model_of: Any, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """An instance of a kind of FMU; each is exported once, checked and compiled with every warning an error."""
    folders: dict[tuple[str, int], str] = {}

    def unit(kind: str, fmi: int, fmi_type: str = "CoSimulation") -> Unit:
        if (kind, fmi) not in folders:
            folder = tmp_path_factory.mktemp(f"{kind}{fmi}")
            path = folder / "model.fmu"
            path.write_bytes(export_fmu(model_of(ROBOT), kind, fmi, flags=FLAGS).content)
            assert validate_fmu(str(path)) == []
            folders[kind, fmi] = fmpy.extract(str(path), str(folder / "open"))
        return Unit(folders[kind, fmi], fmi_type)

    return unit


@pytest.fixture(scope="module")
def pushed(model_of: Any) -> tuple[Any, Any]:
    """Forces a little off those that hold the robot, and the simulation under them."""
    model = model_of(ROBOT)
    force = 1.02 * model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6)) + [0.1, 0.0, -0.2]
    return force, pp.simulate(model, force, duration=0.02, rate=100.0, step=1e-3)


@needs_compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_steps_are_those_of_the_simulation(fmi: int, make: Make, pushed: Any) -> None:
    """Ten steps of RK4 in each of two communication steps; a stored state goes the same way again."""
    force, expected = pushed
    unit = make("plant", fmi).set(force=force).start()
    state = unit.fmu.getFMUState() if fmi == 3 else unit.fmu.getFMUstate()
    stored = unit.fmu.serializeFMUState(state) if fmi == 3 else unit.fmu.serializeFMUstate(state)
    for k in range(2):
        unit.step(0.01 * k, 0.01)
        at = expected.isel(time=k + 1)
        for group, wanted in (("position", at.pose[:3, 3]), ("twist", at.twist), ("q", at.q), ("qdot", at.qdot)):
            assert np.abs(unit.get(group) - wanted.values).max() <= ROUNDING * max(1.0, np.abs(wanted.values).max())
    end = unit.get("position"), unit.get("orientation")
    assert np.linalg.norm(end[1]) == pytest.approx(1.0, abs=1e-15)
    other = make("plant", fmi).set(force=force).start()
    back = other.fmu.deserializeFMUState(stored) if fmi == 3 else other.fmu.deSerializeFMUstate(stored)
    for one, kept in ((unit, state), (other, back)):
        (one.fmu.setFMUState if fmi == 3 else one.fmu.setFMUstate)(kept)
        one.step(0.0, 0.01).step(0.01, 0.01)
        assert (one.get("position") == end[0]).all()
        assert (one.get("orientation") == end[1]).all()


@needs_compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_an_importer_integrates_the_states(fmi: int, make: Make, pushed: Any) -> None:
    """CVode of fmpy on pose and twist; both integrators are exact to some 1e-9 of a motion of 1 mm."""
    force, expected = pushed
    make("plant", fmi)
    unit = make("plant", fmi, "ModelExchange")
    unit.fmu.freeInstance()
    result = fmpy.simulate_fmu(
        unit.fmu.unzipDirectory, stop_time=0.02, solver="CVode", relative_tolerance=1e-10, fmi_type="ModelExchange",
        start_values=dict(zip([n for n in unit.places if n.startswith("force")], force, strict=True)),
        output=["position.x", "position.y", "position.z", "twist.y"],
    )  # fmt: skip
    end = [float(result[-1][k]) for k in range(1, 5)]
    at = expected.isel(time=-1)
    assert np.abs(np.array(end) - [*at.pose[:3, 3].values, float(at.twist[1])]).max() < 1e-9


@needs_compiler
def test_parameters_are_the_robots_numbers(make: Make, model_of: Any, pushed: Any) -> None:
    """Another mass, against a robot of that mass."""
    robot = model_of(ROBOT).robot
    heavy = pp.Model(robot.model_copy(update={"platform": robot.platform.model_copy(update={"mass": 9.5})}))
    force = pushed[0]
    expected = pp.simulate(heavy, force, duration=0.01, rate=100.0, step=1e-3).isel(time=-1)
    unit = make("plant", 2).set(force=force, platform__mass=9.5).start().step(0.0, 0.01)
    assert np.abs(unit.get("twist") - expected.twist.values).max() <= ROUNDING
    assert np.abs(expected.twist.values - pushed[1].isel(time=1).twist.values).max() > 1e-4


@needs_compiler
def test_inverse_dynamics_and_forward_kinematics_are_the_models(make: Make, model_of: Any) -> None:
    model = model_of(ROBOT)
    x, xdot, xddot = np.array([[0.01, 0.02, 0.1], [0.1, -0.2, 0.3], [1.0, 2.0, -3.0]])
    motion = model.motion(x, xdot, xddot)
    wrench = [0.0, 3.0, 4.0, 0.0, 0.5, 0.0]
    wanted = model.inverse_dynamics(motion.pose, motion.twist, motion.acceleration, wrench)
    unit = make("inverse-dynamics", 3).start().set(x=x, xdot=xdot, xddot=xddot, wrench=wrench)
    assert np.abs(unit.get("force") - wanted).max() <= ROUNDING * np.abs(wanted).max()
    assert np.abs(unit.step(0.0, 0.1).get("force") - wanted).max() <= ROUNDING * np.abs(wanted).max()
    forward = make("forward-kinematics", 2).start()
    forward.set(q=model.inverse_kinematics(motion.pose), qdot=model.rates(motion.pose, motion.twist))
    forward.step(0.0, 0.01)
    assert np.abs(forward.get("position") - motion.pose[:3, 3]).max() <= ROUNDING
    assert np.abs(forward.get("twist") - motion.twist).max() <= ROUNDING
    joints = np.concatenate(list(model.joint_positions(motion.pose).values()))
    assert np.abs(forward.get("joint") - joints).max() <= ROUNDING


@needs_compiler
def test_the_controller_is_computed_torque_in_the_joints(make: Make, model_of: Any) -> None:
    """Three samples of a loop of two FMUs against the simulation with polypod's own controller."""
    model = model_of(ROBOT)
    trajectory = make_task(model, rate=20.0).trajectory
    start = trajectory.at(0.0)
    expected = pp.simulate(
        model, JointComputedTorque(model, trajectory, rate=500.0), duration=0.006, rate=500.0, step=1e-3,
        pose=model.motion(own(model, start)[0] + 1e-4, *own(model, start)[1:]).pose, twist=start.twist,
    )  # fmt: skip
    x, xdot, _ = own(model, start)
    control, robot = make("controller", 3).start(), make("plant", 2).set(start__x=x + 1e-4, start__xdot=xdot).start()
    for k in range(3):
        for name, values in zip(("x", "xdot", "xddot"), own(model, trajectory.at(k / 500.0)), strict=True):
            control.set(**{f"reference__{name}": values})
        control.set(q=robot.get("q"), qdot=robot.get("qdot"))
        force = control.get("force")
        wanted = expected.force.isel(time=k).values
        assert np.abs(force - wanted).max() <= 1e-11 * np.abs(wanted).max()  # gains multiply roundings of the state
        control.step(k / 500.0, 1 / 500.0)
        robot.set(force=force).step(k / 500.0, 1 / 500.0)
    assert np.abs(robot.get("q") - expected.q.isel(time=3).values).max() <= ROUNDING


def own(model: pp.Model, motion: Any) -> Any:
    """The robot's generalized coordinates of a motion along fixed axes."""
    dof = model.generalized_coordinates.dof
    x = model.generalized_coordinates.coordinates(motion.pose[None])[0]
    return x, dof.inverse @ motion.twist, dof.inverse @ motion.acceleration


@needs_compiler
def test_what_has_no_answer_is_an_error_with_the_reason(make: Make, capsys: Any) -> None:
    """Never a number that is none: outputs stay what they were."""
    inverse = make("inverse-dynamics", 3).start()
    before = inverse.get("force")
    inverse.set(x=[5.0, 0.0, 0.0])
    with refused(Exception, "status 3"):
        inverse.step(0.0, 0.1)
    output = capsys.readouterr().out
    says(output, "t = 0 s:")
    assert "leg" in output.lower() or "rail" in output
    inverse.set(x=np.zeros(3))
    assert (inverse.get("force") == before).all()
    with refused(Exception, "status 3"):
        inverse.set(x=[np.nan, 0.0, 0.0])
    assert "a finite number is needed" in capsys.readouterr().out
    forward = make("forward-kinematics", 2).start().set(q=[9.0, 9.0, -9.0])
    with refused(Exception, "status 3"):
        forward.step(0.0, 0.01)
    assert np.isfinite(make("forward-kinematics", 2).start().get("position")).all()
    plant = make("plant", 2).set(start__x=[5.0, 0.0, 0.0])
    with refused(Exception, "status 3"):
        plant.start()
    assert "no solution" in capsys.readouterr().out
    with refused(Exception, "status 3"):
        make("plant", 2).start().set(platform__mass=3.0)
    assert "platform.mass is a parameter: set it before" in capsys.readouterr().out
    with refused(Exception, "status 3"):
        make("plant", 2).set(platform__mass=-3.0)
    assert "platform.mass: at least 0 is needed, got -3" in capsys.readouterr().out


def test_names_that_are_no_identifiers_are_quoted(model_of: Any, tmp_path: Path) -> None:
    """A robot 6-"ups" */, legs 1.b, é and ü: valid XML, valid names, one each; the same bytes again."""
    robot = model_of(ROBOT).robot
    names = ["1.b", "é", "ü"]
    legs = tuple(leg.model_copy(update={"name": n}) for leg, n in zip(robot.legs, names, strict=True))
    odd = pp.Model(robot.model_copy(update={"name": '6-"ups" */', "legs": legs}))
    for fmi in (2, 3):
        fmu = export_fmu(
            odd, "forward-kinematics", fmi, sources_only=True, parameters=["legs.*.length", "platform.com"]
        )
        path = tmp_path / fmu.name
        path.write_bytes(fmu.content)
        assert validate_fmu(str(path)) == []
        listed = [v.name for v in fmpy.read_model_description(str(path)).modelVariables]
        assert {"q.'1.b'", "q.'_'", "q.'_ 2'", "legs[2].length", "platform.com[2]"} <= {*listed}
        inside = zipfile.ZipFile(io.BytesIO(fmu.content)).namelist()
        assert fmu.compiler is None
        assert {"sources/model.c", "sources/instance.c", f"sources/fmi{fmi}.c", "modelDescription.xml"} <= {*inside}
        assert not any(name.startswith("binaries") for name in inside)
    assert fmu == export_fmu(odd, "forward-kinematics", 3, ["legs.*.length", "platform.com"], sources_only=True)
    usual = usual_parameters(model_of("kim-ryu"))
    assert usual[:3] == ("platform.mass", "platform.com", "legs.0.slider_friction.viscous")


def test_parameters_have_the_least_values_of_a_robot_file(tmp_path: Path) -> None:
    """What a robot file refuses of friction, an FMU refuses too."""
    laws = {"viscous": 0.0, "drag": 0.0, "static": 1.0, "stribeck_speed": 0.0}
    own = dict.fromkeys(laws, 0.1) | {"static": 1.5}
    data = pp.load("five-bar").model_dump(exclude_unset=True)
    data["legs"][0]["joints"][0]["friction"] = own
    wanted = [f"legs.0.joints.0.friction.{law}" for law in laws]
    fmu = export_fmu(pp.Model(pp.Robot.model_validate(data)), "inverse-dynamics", 3, wanted, sources_only=True)
    (tmp_path / fmu.name).write_bytes(fmu.content)
    listed = fmpy.read_model_description(str(tmp_path / fmu.name)).modelVariables
    least = {v.name.rpartition(".")[2]: float(v.min) for v in listed if v.name.startswith("legs[0]")}
    assert least == laws


def test_names_that_differ_in_odd_characters_only(tmp_path: Path) -> None:
    """Legs x" and x' and x_, names with markup and letters beyond ASCII: one variable each, valid XML."""
    robot = pp.load("planar-3-rrr")
    legs = []
    for leg, (name, body) in zip(robot.legs, [('x"', "a'"), ("x'", 'a"'), ("x_", "a_")], strict=True):
        first, second = leg.bodies
        called = {first: body, second: "<b> & \u00f6\u20ac]]>"}
        joints = tuple(j.model_copy(update={"between": tuple(called.get(b, b) for b in j.between)}) for j in leg.joints)
        bodies = {called[key]: one for key, one in leg.bodies.items()}
        legs.append(leg.model_copy(update={"name": name, "bodies": bodies, "joints": joints}))
    odd = pp.Model(loads(dumps(robot.model_copy(update={"name": "<r> & \u00f6 --> */", "legs": tuple(legs)}))))
    fmu = export_fmu(odd, "inverse-dynamics", 3, sources_only=True, parameters=["legs.*.bodies.*.mass"])
    (tmp_path / fmu.name).write_bytes(fmu.content)
    assert validate_fmu(str(tmp_path / fmu.name)) == []
    listed = [v.name for v in fmpy.read_model_description(str(tmp_path / fmu.name)).modelVariables]
    assert len(listed) == len(set(listed))
    assert {"force.'x_'", "force.'x_ 2'", "force.x_"} <= {*listed}
    assert {"legs[0].bodies.'a_'.mass", "legs[2].bodies.a_.mass", "legs[0].bodies.'<b> & __]]>'.mass"} <= {*listed}
    two = Variables()
    names = [f"bodies.{quoted(name)}.mass" for name in ("a'", 'a"', "a_")]
    two.add_named("robot", [Variable(name, "parameter", "kg", "") for name in names])
    assert [v.name for v in two][1:] == ["bodies.'a_'.mass", "bodies.'a_ 2'.mass", "bodies.a_.mass"]


@pytest.mark.long
@needs_compiler
def test_a_pose_is_a_quaternion(model_of: Any, tmp_path: Path) -> None:
    """Six degrees of freedom: forward kinematics from a start near by; the glue's rotations against SciPy's, half
    turns too."""
    model = model_of("hexapod")
    path = tmp_path / "model.fmu"
    path.write_bytes(export_fmu(model, "forward-kinematics", 2, ["platform.mass"], flags=FLAGS).content)
    pose = pp.pose(0.01, 0.02, model.robot.home.position[2] + 0.01, 0.1, -0.05, 0.2)
    turn = Rotation.from_matrix(pose[:3, :3]).as_quat()
    unit = Unit(fmpy.extract(str(path), str(tmp_path / "open")), "CoSimulation")
    unit.set(start__position=pose[:3, 3] + 0.001, start__orientation=1.0005 * turn).start()
    unit.set(q=model.inverse_kinematics(pose)).step(0.0, 0.01)
    assert np.abs(unit.get("position") - pose[:3, 3]).max() <= ROUNDING
    assert np.abs(unit.get("orientation") - turn).max() <= ROUNDING
    (tmp_path / "stub.c").write_text(
        '#include "instance.h"\nconst Variable variables[1];\n'
        "Outcome model_start(Instance *m) { (void)m; return FINE; }\n"
        "Outcome model_evaluate(Instance *m) { (void)m; return FINE; }\n"
        "Outcome model_step(Instance *m, double h) { (void)m, (void)h; return FINE; }\n"
    )
    sizes = ("VARIABLES", "STATES", "FIRST_STATE", "FIRST_DERIVATIVE", "MEMORY")
    (tmp_path / "model.h").write_text("".join(f"#define {name} 1\n" for name in sizes) + '#define TOKEN ""\n')
    glue = ["-I.", "stub.c", "open/sources/instance.c", "-iquote", ".", "-shared", "-fPIC", "-lm", "-o", "glue.so"]
    (tmp_path / "open" / "sources" / "model.h").unlink()
    subprocess.run(["cc", "-std=c99", "-Iopen/sources", *glue], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "glue.so"))
    half = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.6, 0.8, 0, 0], [0, 0, 0, 1]]
    for q in np.concatenate([Rotation.random(20, rng=np.random.default_rng(1)).as_quat(), half]):
        matrix, again = np.zeros(16), q + 0.01
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (np.zeros(3), q, matrix, again)]
        assert library.pose_of(None, b"", *pointers[:3]) == 0
        assert np.abs(matrix.reshape(4, 4)[:3, :3] - Rotation.from_quat(q).as_matrix()).max() < 1e-15
        library.orientation_of(*pointers[2:])
        assert np.abs(again - q).max() < 1e-15


def test_units_are_products_of_base_units() -> None:
    assert exponents("N m s/rad") == {"kg": 1, "m": 2, "s": -1, "rad": -1}
    assert exponents("1/s^2") == {"s": -2}
    assert exponents("parsec") is None


def test_what_cannot_be_an_fmu(model_of: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    model = model_of(ROBOT)
    with refused(UnknownNameError, name="plnt", near="plant"):
        export_fmu(model, "plnt")
    with refused(InputError, "fmi 1"):
        export_fmu(model, fmi=1)
    with refused(InputError, "no-such-cc"):
        export_fmu(model, compiler="no-such-cc")
    with refused(InputError, "plant", code="flexible"):
        export_fmu(flexible(), "controller")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert polypod("export", "fmu", ROBOT, "inverse-dynamics", "--fmi", 3, "--out", tmp_path).exit_code == 0
    assert (tmp_path / "staicu-inverse-dynamics.fmu").is_file()
    output = polypod("export", "fmu", ROBOT, "forward-kinematics", "--out", tmp_path).stdout
    assert "FMI 2.0, sources only. No C compiler (cc, gcc, clang) was found" in " ".join(output.split())


def test_every_kind_says_what_it_does() -> None:
    assert list(KINDS) == ["plant", "inverse-dynamics", "forward-kinematics", "controller"]
    assert all(kind.about for kind in KINDS.values())


OVERHEAD = r"""
#define _POSIX_C_SOURCE 199309L
#include "model.c"
#include <stdlib.h>
#include <time.h>

void *fmi2Instantiate(const char *, int, const char *, const char *, const void *, int, int);
int fmi2EnterInitializationMode(void *), fmi2ExitInitializationMode(void *);
int fmi2DoStep(void *, double, double, int);
int fmi2SetReal(void *, const unsigned *, size_t, const double *);
int fmi2GetReal(void *, const unsigned *, size_t, double *);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

int main(void)
{
    enum { ROUNDS = 400, STEPS = 100 };
    static double bare[ROUNDS], whole[ROUNDS];
    Instance *m = fmi2Instantiate("x", 1, TOKEN, "", NULL, 0, 0); /* the instance comes first in it */
    if (!m || fmi2EnterInitializationMode(m) || fmi2ExitInitializationMode(m))
        return 1;
    unsigned inputs[ACTUATORS + 6], outputs[13 + 2 * ACTUATORS];
    double force[ACTUATORS + 6] = {0}, found[13 + 2 * ACTUATORS];
    for (unsigned k = 0; k < ACTUATORS + 6; k++)
        inputs[k] = 1 + k;
    for (unsigned k = 0; k < 13 + 2 * ACTUATORS; k++)
        outputs[k] = FIRST_STATE + k;
    for (int k = 0; k < ACTUATORS; k++)
        force[k] = HOLD[k];
    double state[21], row[21 + 2 * ACTUATORS], quality[1], converged[1];
    const double length = 1e-3, count = 1.0;
    memcpy(state, m->memory, sizeof state);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(m->memory, state, sizeof state);
        double begun = now();
        for (int k = 0; k < STEPS; k++) {
            robot_period(m->memory, force, force + ACTUATORS, &length, &count, m->values + PARAMETERS, row, quality,
                         converged);
            memcpy(m->memory, row, sizeof state);
        }
        bare[round] = (now() - begun) / STEPS;
        memcpy(m->memory, state, sizeof state);
        begun = now();
        for (int k = 0; k < STEPS; k++)
            if (fmi2SetReal(m, inputs, ACTUATORS + 6, force) || fmi2DoStep(m, 1e-3 * k, 1e-3, 1)
                || fmi2GetReal(m, outputs, 13 + 2 * ACTUATORS, found))
                return 2;
        whole[round] = (now() - begun) / STEPS;
    }
    qsort(bare, ROUNDS, sizeof *bare, by_size);
    qsort(whole, ROUNDS, sizeof *whole, by_size);
    printf("%.4f %.4f\n", bare[ROUNDS / 2], whole[ROUNDS / 2]);
    return 0;
}
"""


@pytest.mark.long
@needs_compiler
def test_a_step_costs_little_more_than_its_function(model_of: Any, tmp_path: Path) -> None:
    """Inputs set, one step of RK4, outputs read: less than 2 us more than the step itself."""
    model = model_of("hexapod")
    fmu = export_fmu(model, "plant", 2, sources_only=True)
    zipfile.ZipFile(io.BytesIO(fmu.content)).extractall(tmp_path)
    hold = model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6))
    folder = tmp_path / "sources"
    text = (folder / "model.c").read_text()
    first = next(k for k, line in enumerate(text.partition("= {\n")[2].splitlines()) if '"platform.mass"' in line)
    head = f"#define PARAMETERS {first}\nstatic const double HOLD[] = {{{', '.join(map(repr, hold.tolist()))}}};\n"
    (folder / "main.c").write_text(head + OVERHEAD)
    build = ["cc", "-std=c99", "-O2", "-fno-math-errno", "main.c", "instance.c", "fmi2.c", "-lm", "-o", "main"]
    subprocess.run(build, cwd=folder, check=True)
    bare, whole = map(
        float, subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout.split()
    )
    print(f"bare {bare:.3f} us, FMU {whole:.3f} us")
    assert whole - bare < 2.0


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("robot", ["hexapod", "3-rps", "kim-ryu", "delta", "planar-4-rrr"])
def test_all_sorts_of_robots_step_as_the_simulation_does(robot: str, model_of: Any, tmp_path: Path) -> None:
    """Six degrees of freedom, platforms that follow their legs, dry friction, chains, more actuators than degrees of
    freedom."""
    model = model_of(robot)
    force = 1.02 * model.inverse_dynamics(model.robot.home.matrix, np.zeros(6), np.zeros(6), friction=False) + 0.1
    expected = pp.simulate(model, force, duration=0.02, rate=100.0, step=1e-3).isel(time=-1)
    path = tmp_path / "model.fmu"
    path.write_bytes(export_fmu(model, "plant", 3, flags=FLAGS).content)
    assert validate_fmu(str(path)) == []
    unit = Unit(fmpy.extract(str(path), str(tmp_path / "open")), "CoSimulation").set(force=force).start()
    unit.step(0.0, 0.01).step(0.01, 0.01)
    assert np.abs(unit.get("position") - expected.pose[:3, 3].values).max() <= ROUNDING
    assert np.abs(unit.get("twist") - expected.twist.values).max() <= 10 * ROUNDING


@pytest.mark.long
@needs_compiler
def test_a_flexible_plant_bends_as_in_the_simulation(tmp_path: Path) -> None:
    """Elastic coordinates are states; the step is the one that the fastest mode allows. CVode agrees to its error."""
    model = flexible()
    force = 1.01 * model.static_equilibrium(model.robot.home.matrix).force + 0.1
    expected = pp.simulate(model, force, duration=0.004, rate=500.0).isel(time=-1)
    path = tmp_path / "model.fmu"
    path.write_bytes(export_fmu(model, "plant", 3, flags=FLAGS).content)
    assert validate_fmu(str(path)) == []
    folder = fmpy.extract(str(path), str(tmp_path / "open"))
    unit = Unit(folder, "CoSimulation").set(force=force).start().step(0.0, 0.002).step(0.002, 0.002)
    assert np.abs(unit.get("twist") - expected.twist.values).max() <= ROUNDING
    assert np.abs(unit.get("elastic") - expected.elastic.values).max() <= ROUNDING
    start = dict(zip([n for n in unit.places if n.startswith("force")], force, strict=True))
    result = fmpy.simulate_fmu(
        folder, stop_time=0.004, fmi_type="ModelExchange", relative_tolerance=1e-10, start_values=start,
        output=["twist.z", "elastic.mode1"],
    )  # fmt: skip
    assert abs(result[-1][1] - float(expected.twist[2])) < 1e-9
    assert abs(result[-1][2] - float(expected.elastic[0])) < 1e-9


@pytest.mark.long
@needs_compiler
def test_the_example_follows_its_motion(tmp_path: Path) -> None:
    """A platform 5 % too light in the controller: an error below 0.05 g over its gain, 0.2 mm."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "fmu_loop.py"))
    assert 0.5e-4 < example["main"](tmp_path) < 0.05 * 9.81 / 2500
    assert (tmp_path / "fmu-loop.png").is_file()


@needs_compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_directional_derivatives_are_those_of_the_model(fmi: int, make: Make, pushed: Any, model_of: Any) -> None:
    """Accelerations by forces, twist and position against the compiled derivatives; differences of fourth order."""
    model, (force, _) = model_of(ROBOT), pushed
    unit = make("plant", fmi, "ModelExchange").set(force=force).start()
    home, still = model.robot.home.matrix, np.zeros(6)
    exact = model.derivatives("direct_dynamics", home, still, force, wrt=("pose", "twist", "force"))
    rates = [r for name, r in unit.places.items() if name.startswith("der(twist.")]
    wanted = {"force": exact.force, "twist": exact.twist, "position": exact.pose[:, :3]}
    for group, matrix in wanted.items():
        knowns = [r for name, r in unit.places.items() if name.startswith(f"{group}.")]
        for k in range(3):  # of a twist the translations, which this robot has
            seed = np.eye(len(knowns))[k].tolist()
            if fmi == 2:
                found = unit.fmu.getDirectionalDerivative(rates, knowns, seed)
            else:
                found = unit.fmu.getDirectionalDerivative(rates, knowns, seed, len(rates))
            scale = max(1.0, np.abs(matrix).max())
            assert np.abs(np.array(found) - matrix[:, k]).max() < 1e-8 * scale, (group, k)
    if fmi == 3:  # and the product from the other side
        knowns = [r for name, r in unit.places.items() if name.startswith("force.")]
        seed = np.arange(1.0, 7.0)
        found = unit.fmu.getAdjointDerivative(rates, knowns, seed.tolist(), len(knowns))
        assert np.allclose(found, seed @ exact.force, rtol=1e-8, atol=1e-8)


HEADS = {
    b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\x3e\0": ("x86_64-linux", "linux64", "so"),
    b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\xb7\0": ("aarch64-linux", "aarch64-linux", "so"),
    b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\x86": ("x86_64-windows", "win64", "dll"),
    b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x4c\x01": ("x86-windows", "win32", "dll"),
    b"\xcf\xfa\xed\xfe\x07\0\0\x01": ("x86_64-darwin", "darwin64", "dylib"),
    b"\xcf\xfa\xed\xfe\x0c\0\0\x01": ("aarch64-darwin", "aarch64-darwin", "dylib"),
}


def test_a_binary_is_put_where_its_system_looks_for_it(model_of: Any, tmp_path: Path) -> None:
    """By its own first bytes (as the formats define them), whatever the compiler is called; several in one FMU."""
    compilers = []
    for k, head in enumerate(HEADS):
        (tmp_path / f"head{k}").write_bytes(head)
        script = tmp_path / f"cross{k}"
        script.write_text(f"#!/bin/sh\nfor last; do :; done\ncp {tmp_path}/head{k} $last\n")
        script.chmod(0o755)
        compilers.append(f"{script} -target any")
    for fmi in (2, 3):
        made = export_fmu(model_of(ROBOT), "inverse-dynamics", fmi, compiler=compilers)
        files = {name for name in zipfile.ZipFile(io.BytesIO(made.content)).namelist() if name.startswith("binaries")}
        assert files == {
            f"binaries/{own if fmi == 3 else old}/staicu_inverse_dynamics.{suffix}"
            for own, old, suffix in HEADS.values()
        }
        assert made.platforms == tuple(own for own, _, _ in HEADS.values())
    (tmp_path / "head0").write_text("#!/bin/sh\n")
    with refused(InputError, "shared library"):
        export_fmu(model_of(ROBOT), "inverse-dynamics", compiler=compilers[0])


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="the package ziglang is not installed")
def test_cross_compilers(model_of: Any) -> None:
    """Windows and macOS by zig's C compiler; every function of FMI is among what the library exports."""
    zig = f"{sys.executable} -m ziglang cc -target"
    targets = {
        "x86_64-windows-gnu": "x86_64-windows",
        "aarch64-macos": "aarch64-darwin",
        "x86_64-macos": "x86_64-darwin",
    }
    for fmi in (2, 3):
        compilers = [f"{zig} {target}" for target in targets]
        made = export_fmu(model_of(ROBOT), "inverse-dynamics", fmi, compiler=compilers, flags=("-O0",))
        assert made.platforms == tuple(targets.values())
        archive = zipfile.ZipFile(io.BytesIO(made.content))
        binaries = [name for name in archive.namelist() if name.startswith("binaries")]
        assert len(binaries) == 3
        for name in binaries:
            assert f"fmi{fmi}GetDirectionalDerivative".encode() in archive.read(name)
