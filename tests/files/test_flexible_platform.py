"""The platform kind ``flexible`` of robot files: read, checked, written, and the body it is when it does not bend."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import polypod as pp
from polypod.description import FlexiblePlatform, Integrals, Modes, PlateData, Robot, save_modes
from polypod.description.modes.files import to_text
from polypod.errors import InputError, RobotFileError, UnphysicalWarning
from polypod.exchange import linkage_of
from polypod.exchange.to_robot import ImportOptions, to_robot
from polypod.plates import plate_modes
from polypod.platforms.modes import _computed
from support.compare import assert_close
from support.refusals import refused, says, warned
from support.robots.hexagon import hexagon_modes, hexagon_points

HEXAGON = {
    "outline": hexagon_points()[:, :2].round(15).tolist(),
    "thickness": 0.015,
    "young": 2e10,
    "poisson": 0.3,
    "density": 7500.0,
    "damping_ratio": 0.4,
}


def text(platform: dict[str, Any]) -> str:
    """The robot file of ``long`` with another platform."""
    document = yaml.safe_load(pp.dumps(pp.load("long")))
    document["platform"] = platform
    return yaml.safe_dump(document, sort_keys=False)


def read(platform: dict[str, Any], folder: Path | str = ".") -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        return pp.loads(text(platform), folder=folder)


def fault(platform: dict[str, Any], folder: Path | str = ".") -> str:
    with pytest.raises(RobotFileError) as caught:
        pp.loads(text(platform), folder=folder)
    return str(caught.value)


# --- reading -------------------------------------------------------------------------------------------------------


def test_plate_of_a_file_has_the_modes_of_that_plate() -> None:
    _computed.cache_clear()  # modes that another test has had computed warn no more
    with warned(UserWarning, "10 9 11"):
        model = pp.Model(read({"kind": "flexible", "plate": HEXAGON}))
    wanted = hexagon_modes(10)
    assert model.modes.count == 10
    assert_close(model.modes.frequencies[None], wanted.frequencies[None], 1e-9)
    assert_close(model.modes.attachments, np.array([leg.platform for leg in model.robot.legs]), 1e-12)
    np.testing.assert_array_equal(model.modes.damping_ratio, 0.4)
    assert pp.Model(read({"kind": "flexible", "plate": {**HEXAGON, "modes": 3}})).modes.count == 3


@pytest.mark.parametrize("suffix", [".yaml", ".npz"])
def test_mode_file_is_found_beside_the_robot_file(tmp_path: Path, suffix: str) -> None:
    modes = hexagon_modes(3)
    save_modes(modes, tmp_path / f"plate{suffix}")
    (tmp_path / "robot.yaml").write_text(text({"kind": "flexible", "modes": f"plate{suffix}"}), encoding="utf-8")
    robot = pp.load(str(tmp_path / "robot.yaml"))
    assert robot.flexible
    assert pp.Model(robot).modes == modes


def test_legs_of_any_kind_hold_a_flexible_platform() -> None:
    """A plate on six UPS legs and on the same legs as chains, whose attachment points follow from their joints."""
    struts = pp.load("hexapod")
    chains = to_robot(linkage_of(struts), ImportOptions()).robot
    assert {leg.kind for leg in chains.legs} == {"chain"}
    edge = 1.2 * np.abs(struts.attachments).max()
    plate = HEXAGON | {"outline": [[-edge, -edge], [edge, -edge], [edge, edge], [-edge, edge]], "modes": 3}
    platform = {"kind": "flexible", "plate": plate}
    one, two = (
        Robot.model_validate(r.model_dump(exclude_unset=True) | {"platform": platform}) for r in (struts, chains)
    )
    first, second = pp.Model(one), pp.Model(two)
    assert first.modes == second.modes == pp.Model(chains.on_modes(first.modes)).modes
    motion = (one.home.matrix, [0.1, -0.2, 0.05, 0.3, 0.1, -0.2], [1.0, 2.0, -1.0, 0.5, 0.2, 1.0])
    forces, same = (
        m.inverse_dynamics(*motion, elastic=[1e-4, -2e-4, 3e-4], friction=False, full_output=True)
        for m in (first, second)
    )
    assert_close(same.force[None], forces.force[None], 1e-12)
    assert_close(same.elastic_acceleration[None], forces.elastic_acceleration[None], 1e-12)
    with refused(InputError, code="flexible"):
        second.parameters("legs.0.joints.2.at")
    assert "legs.0.joints.0.at" in second.parameters("legs.0.joints.*.at")
    narrow = plate | {"outline": [[-0.01, -0.01], [0.01, -0.01], [0.0, 0.01]]}
    with refused(ValueError, "leg1 m"):
        Robot.model_validate(two.model_dump(exclude_unset=True) | {"platform": platform | {"plate": narrow}})


def test_numbers_of_modes_are_written_as_numbers() -> None:
    """1e+16 is a number of YAML 1.2 and a text of 1.1."""
    robot = pp.load("long").on_modes(hexagon_modes(2).with_stiffness([1e16, 2e-5]))
    modes = robot.model_dump()["platform"]["modes"]["modes"]
    assert [mode["stiffness"] for mode in modes] == [1e16, 2e-5]


def test_modes_may_stand_in_the_robot_file_itself() -> None:
    modes = hexagon_modes(2)
    robot = read({"kind": "flexible", "modes": yaml.safe_load(to_text(modes))})
    assert pp.Model(robot).modes == modes


def test_the_kind_rigid_may_be_written() -> None:
    body = {"mass": 3.0, "inertia": [1.0, 1.0, 1.0]}
    assert read({"kind": "rigid", **body}) == read(body)
    assert not read(body).flexible
    assert read(body).rigid == read(body)


def test_example_file_is_the_papers_robot() -> None:
    robot = pp.load(str(Path(__file__).parents[2] / "examples" / "long-flexible.yaml"))
    rigid = pp.load("long")
    assert robot.legs == rigid.legs
    assert robot.home == rigid.home
    assert robot.platform.mass == pytest.approx(rigid.platform.mass, rel=1e-12)
    assert all(robot.source_of(path) for path in robot.numbers())
    _computed.cache_clear()  # modes that another test has had computed warn no more
    with warned(UserWarning, "10"):
        frequencies = pp.Model(robot).modes.frequencies
    # Table 2, modes 7 to 13; 14 to 16 are printed 9 % too high
    printed = [188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814]
    np.testing.assert_allclose(frequencies[:7], printed, rtol=0.01)


# --- writing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["plate", "modes"])
def test_written_and_read_again_is_the_same_robot(tmp_path: Path, source: str) -> None:
    platform = (
        FlexiblePlatform(plate=PlateData.model_validate(HEXAGON))
        if source == "plate"
        else FlexiblePlatform(modes=hexagon_modes(3))
    )
    robot = pp.load("long").model_copy(update={"platform": platform})
    pp.save(robot, tmp_path / "copy.yaml")
    again = pp.load(str(tmp_path / "copy.yaml"))
    assert again == robot
    assert hash(again) == hash(robot)
    assert {f.name for f in tmp_path.iterdir()} == {"copy.yaml", *(["copy-modes.npz"] if source == "modes" else [])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        assert pp.loads(pp.dumps(robot)) == robot


def test_modes_of_namesakes_stay_apart(tmp_path: Path) -> None:
    """a.yaml and a.yml are two robots with a mode file each."""
    platforms = [FlexiblePlatform(modes=hexagon_modes(n)) for n in (1, 3)]
    one, two = (pp.load("long").model_copy(update={"platform": platform}) for platform in platforms)
    pp.save(one, tmp_path / "a.yaml")
    pp.save(two, tmp_path / "a.yml")
    assert pp.load(str(tmp_path / "a.yaml")) == one
    assert pp.load(str(tmp_path / "a.yml")) == two


def test_models_go_to_other_processes() -> None:
    model = pp.Model(read({"kind": "flexible", "plate": {**HEXAGON, "modes": 2}}), friction_width=1e-3)
    again = pickle.loads(pickle.dumps(model))
    home = model.robot.home.matrix
    np.testing.assert_array_equal(again.static_equilibrium(home).force, model.static_equilibrium(home).force)
    assert again.kernels.options == model.kernels.options


# --- the undeformed body -------------------------------------------------------------------------------------------


def test_undeformed_plate_is_the_sum_over_its_elements() -> None:
    """Green's theorem over the outline against the quadrature points of the mesh; an outline without symmetry."""
    outline = [[-0.4, -0.3], [0.5, -0.35], [0.45, 0.2], [0.1, 0.1], [-0.2, 0.5]]
    data = PlateData.model_validate({**HEXAGON, "outline": outline})
    body = FlexiblePlatform(plate=data)
    integrals = Integrals.of(plate_modes(data.plate, [[0.0, 0.0]], 1))
    assert body.mass == pytest.approx(integrals.mass, rel=1e-12)
    assert_close(np.array([body.first_moment]), integrals.first[None], 1e-12)
    assert_close(body.second_moment[None], integrals.second[None], 1e-12)


def test_undeformed_hexagon_in_closed_form() -> None:
    """Regular hexagon of circumradius a: m = rho t 3 sqrt(3)/2 a^2, Izz = 5 m a^2/12, Ixx = Iyy = half of it."""
    body = FlexiblePlatform(plate=PlateData.model_validate(HEXAGON))
    mass = 7500 * 0.015 * 1.5 * np.sqrt(3) * 0.25
    assert body.mass == pytest.approx(mass, rel=1e-12)
    assert_close(body.origin_inertia[None], 5 * mass * 0.25 / 12 * np.diag([0.5, 0.5, 1.0])[None], 1e-12)


def test_rigid_robot_is_the_stiff_limit() -> None:
    start = hexagon_modes(3)
    stiff = pp.Model(pp.load("long").on_modes(start.with_stiffness(1e8 * start.stiffness)))
    home = stiff.robot.home.matrix
    rigid = stiff.rigid.inverse_dynamics(home, np.zeros(6), np.zeros(6))
    assert_close(stiff.static_equilibrium(home).force[None], rigid[None], 1e-8)
    with refused(InputError, "elastic long", code="rigid"):
        stiff.rigid.mass_matrix(home, elastic=np.zeros(3))
    with refused(InputError, "long", code="rigid"):
        _ = stiff.rigid.modes


# --- faults --------------------------------------------------------------------------------------------------------


def test_faults_of_a_plate_name_field_and_line() -> None:
    lines = text({"kind": "flexible", "plate": HEXAGON}).splitlines()

    def line(field: str) -> int:
        return next(k for k, row in enumerate(lines, 1) if row.strip().startswith(f"{field}:"))

    def of(**change: Any) -> str:
        return fault({"kind": "flexible", "plate": {**HEXAGON, **change}})

    assert f"line {line('thickness')}: platform.plate.thickness" in of(thickness=-1.0)
    assert "platform.plate.poisson" in of(poisson=0.6)
    assert "platform.plate.modes" in of(modes=0)
    assert "platform.plate.outline" in of(outline=[[0, 0], [1, 1], [1, 0], [0, 1]])
    assert "must be a simple polygon" in of(outline=[[0, 0], [1, 1], [1, 0], [0, 1]])
    assert "Did you mean 'thickness'" in of(thicknes=0.01)
    small = of(outline=(0.9 * np.array(HEXAGON["outline"])).tolist())
    assert "platform.plate: the platform joint [-0.25, -0.4330127018922193, 0.0] of leg1 is 0.05 m outside" in small


def test_faults_of_a_mode_file_name_it(tmp_path: Path) -> None:
    says(fault({"kind": "flexible", "modes": "none.yaml"}, tmp_path), "platform.modes none.yaml")
    (tmp_path / "bad.yaml").write_text(to_text(hexagon_modes(2)).replace("stiffness: ", "stiffness: -", 1), "utf-8")
    message = fault({"kind": "flexible", "modes": "bad.yaml"}, tmp_path)
    assert "bad.yaml" in message
    says(message, "stiffness [0]")
    five = hexagon_modes(2)
    few = Modes(**{**five.__dict__, **{n: getattr(five, n)[:5] for n in five.__dict__ if n.startswith("attach")}})
    save_modes(few, tmp_path / "few.npz")
    message = fault({"kind": "flexible", "modes": "few.npz"}, tmp_path)
    says(message, "platform.modes 6 5")


def test_faults_of_the_kind() -> None:
    says(fault({"kind": "flexibel", "plate": HEXAGON}).lower(), "flexibel")
    says(fault({"kind": "flexibel", "plate": HEXAGON}), "flexible")
    says(fault({"kind": "flexible"}), "plate modes")
    message = fault({"kind": "flexible", "plate": HEXAGON, "mass": 3.0})
    says(message, "platform.mass")


def test_lower_mobility_robots_cannot_have_one() -> None:
    document = yaml.safe_load(pp.dumps(pp.load("staicu")))
    document["platform"] = {"kind": "flexible", "plate": HEXAGON}
    with refused(RobotFileError, "platform.kind"):
        pp.loads(yaml.safe_dump(document))


def test_more_actuators_than_dof_leave_the_shape_undecided() -> None:
    """An answer with a reason, not an error of the solver: a seventh strut beside the sixth."""
    document = yaml.safe_load(text({"kind": "flexible", "plate": {**HEXAGON, "modes": 1}}))
    document["legs"].append({**document["legs"][-1], "name": "seventh"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        model = pp.Model(pp.loads(yaml.safe_dump(document)))
    with refused(InputError, "static_equilibrium", code="redundant"):
        model.static_equilibrium(model.robot.home.matrix)
