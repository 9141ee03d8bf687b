"""Stiffness from the compliances of a file: published hexapods, differences of equilibria, and sums that must hold."""

from __future__ import annotations

import itertools
import json
import warnings
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
import yaml
from PIL import Image
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import deflection, natural_modes, resonances, stiffness
from polypod.analysis.stiffness import rotors_text
from polypod.design.quantities import SOURCES
from polypod.errors import InputError
from support.command_line import polypod
from support.refusals import failed, refused, says

# github.com/tdehaeze/stewart-simscape (MIT), commit 32330b9: org files of kinematics, dynamics and cubic hexapods
BASE_ANGLES, PLATFORM_ANGLES = [-10, 10, 110, 130, 230, 250], [-50, 50, 70, 170, 190, -70]
MODES_HZ = [780.602, 780.602, 903.888, 1061.429, 1061.429, 1269.663]
CUBIC = [  # H, height of the point above the top, size and centre of the cube, diagonal of K/k, K15/k
    (0.1, -0.05, 0.1, 0.05, [2, 2, 2, 0.015, 0.015, 0.06], 0.0),
    (0.1, 0.02, 0.1, 0.05, [2, 2, 2, 0.025, 0.025, 0.06], -0.14),
    (0.08, -0.03, 0.1, 0.05, [2, 2, 2, 0.015, 0.015, 0.06], 0.0),
    (0.1, -0.05, 0.15, 0.06, [2, 2, 2, 0.034, 0.034, 0.14], 0.02),
    (0.1, 0.02, 0.04, 0.12, [2, 2, 2, 0.0024, 0.0024, 0.0096], None),
    (0.1, 0.02, 0.15, 0.12, [2, 2, 2, 0.034, 0.034, 0.14], None),
    (0.1, 0.02, 0.25, 0.12, [2, 2, 2, 0.094, 0.094, 0.37], None),
]


def stewart(above: float, **leg: Any) -> dict[str, Any]:
    """The hexapod of the study; {P} is ``above`` its top, where the base frame is at rest too."""
    low, high = 0.015 - 0.09 - above, -0.015 - above
    half = {"mass": 0.1, "com": [0.025, 0, 0]}
    across = 0.1 * (3 * 0.005**2 + 0.05**2) / 12
    half["inertia"] = [1e-9, across, across]  # the study's struts do not spin about themselves
    legs = []
    for a, b in zip(np.radians(BASE_ANGLES), np.radians(PLATFORM_ANGLES), strict=True):
        legs.append(
            {
                "kind": "UPS",
                "base": [0.115 * np.cos(a), 0.115 * np.sin(a), low],
                "platform": [0.09 * np.cos(b), 0.09 * np.sin(b), high],
                "axis": [-np.sin(a), np.cos(a), 0.0],
                "lower": half,
                "upper": {**half, "com": [-0.025, 0, 0]},
                "stiffness": "20 N/um",
                **leg,
            }
        )
    disc = [(3 * 0.1**2 + 0.01**2) / 12, (3 * 0.1**2 + 0.01**2) / 12, 0.1**2 / 2]
    platform = {"mass": 1.0, "com": [0, 0, -0.005 - above], "inertia": [float(x) for x in disc]}
    return {"name": "stewart", "gravity": [0, 0, 0], "platform": platform, "legs": legs}


def built(data: dict[str, Any]) -> pp.Model:
    return pp.Model(pp.loads(yaml.safe_dump(json.loads(json.dumps(data)))))


@pytest.fixture(scope="module")
def model() -> pp.Model:
    return built(stewart(0.045))


def test_the_published_compliance(model: pp.Model) -> None:
    """Printed with two digits; with all of them C^-1 = k sum s s^T, s = (n, b x n) of each strut."""
    c = stiffness(model, preload=False).compliance
    legs = stewart(0.045)["legs"]
    low, high = (np.array([leg[end] for leg in legs]) for end in ("base", "platform"))
    n = (high - low) / np.linalg.norm(high - low, axis=1, keepdims=True)
    s = np.column_stack([n, np.cross(high, n)])
    assert np.abs(c - np.linalg.inv(20e6 * s.T @ s)).max() < 1e-14 * np.abs(c).max()
    printed = np.diag([4.7e-8, 4.7e-8, 2.1e-8, 5.2e-6, 5.2e-6, 1.7e-6])
    printed[0, 4] = printed[4, 0] = 3.2e-7
    printed[1, 3] = printed[3, 1] = -3.2e-7
    # half of the second digit, or 1e-15 for what is printed as rounding
    digits = 10.0 ** np.floor(np.log10(np.abs(printed), where=printed != 0, out=np.full((6, 6), -14.0)))
    assert (np.abs(c - printed) <= 0.051 * digits).all()


def test_the_published_resonances() -> None:
    model = built(stewart(0.05))
    assert np.allclose(resonances(model, preload=False).frequency, MODES_HZ, atol=2e-3)


@pytest.mark.long
def test_linearised_equations_of_motion_have_the_same_resonances() -> None:
    """Springs at the actuators of a heavy robot in its gravity: the other way to the same matrices."""
    model = built(stewart(0.05) | {"gravity": [0, 0, -9.81]})
    assert np.allclose(resonances(model).frequency, natural_modes(model, stiffness=20e6).frequency, rtol=1e-9, atol=0)


@pytest.mark.parametrize("case", CUBIC)
def test_the_published_cubic_hexapods(case: Any) -> None:
    """Legs along the edges of a cube: K over the leg's stiffness, printed with two digits, about any point."""
    _, above, size, centre, diagonal, coupling = case
    top = case[0]
    # six edges of a cube on its corner that meet neither the lowest nor the highest corner
    turn = np.array([[2, -1, -1], [0, np.sqrt(3), -np.sqrt(3)], [np.sqrt(2), np.sqrt(2), np.sqrt(2)]]) / np.sqrt(6)
    corners = {
        (i, j, k): turn @ (np.array([i, j, k]) - 0.5) * np.sqrt(3) * size
        for i in (0, 1)
        for j in (0, 1)
        for k in (0, 1)
    }
    edges = [((1, 0, 0), (1, 1, 0)), ((1, 0, 0), (1, 0, 1)), ((0, 1, 0), (1, 1, 0)), ((0, 1, 0), (0, 1, 1)),
             ((0, 0, 1), (1, 0, 1)), ((0, 0, 1), (0, 1, 1))]  # fmt: skip
    shift = np.array([0, 0, centre - top - above])
    data = stewart(above)
    for leg, (low, high) in zip(data["legs"], edges, strict=True):
        leg["base"], leg["platform"] = (corners[low] + shift).tolist(), (corners[high] + shift).tolist()
        along = corners[high] - corners[low]
        across = np.cross(along, [0.0, 0.0, 1.0])
        leg["axis"] = (across / np.linalg.norm(across)).tolist()
        leg["stiffness"] = 1.0
    k = stiffness(built(data), preload=False).matrix
    digits = 10.0 ** (np.floor(np.log10(diagonal)) - 1)  # the last printed one
    assert (np.abs(np.diag(k) - diagonal) <= 0.5 * digits + 1e-9).all()
    if coupling is not None:
        assert abs(abs(k[0, 4]) - abs(coupling)) <= 5e-3
        assert k[1, 3] == pytest.approx(-k[0, 4], abs=1e-12)


def corners(way: float, turn: float) -> np.ndarray:
    """Poses (32, 4, 4) of all combinations of +-way in x, y and z and +-turn about x and then y."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=5)))
    poses = np.tile(np.eye(4), (32, 1, 1))
    poses[:, :3, 3] = way * signs[:, :3]
    poses[:, :3, :3] = Rotation.from_euler("xy", turn * signs[:, 3:]).as_matrix()
    return poses


def test_published_strokes_and_bending_of_joints() -> None:
    """Struts for +-50 um and +-30 urad, one at a time and all at once, 76.1 and 177.2 um; joints bend by 1.1704 mrad.

    Joints for +-60 um about a point 150 mm above the top. Printed with as many digits (kinematic-study.org).
    """
    model = built(stewart(0.045))
    alone = np.abs(model.jacobian(np.eye(4))[:, :5] * np.array([50.0, 50.0, 50.0, 30.0, 30.0])).max()
    assert 2 * alone == pytest.approx(76.1, abs=0.05)
    stroke = 1e6 * (model.inverse_kinematics(corners(50e-6, 30e-6)) - model.inverse_kinematics(np.eye(4)))
    assert stroke.max() - stroke.min() == pytest.approx(177.2, abs=0.05)
    # derivatives of a strut's length by displacements are its direction
    high = built(stewart(0.15))
    there, here = (high.jacobian(poses)[..., :3] for poses in (corners(60e-6, 30e-6), np.eye(4)))
    bending = 2e3 * np.arcsin(0.5 * np.linalg.norm(there - here, axis=-1))
    assert bending.max() == pytest.approx(1.1704, abs=5e-5)


def test_the_published_mobility_is_an_erratum() -> None:
    """A sphere of strokes of +-50 um has a radius of 50.0 um; the repository multiplies where it must divide: 31.5."""
    derivatives = built(stewart(0.15)).jacobian(np.eye(4))[:, :3]
    directions = Rotation.random(4000, random_state=1).as_matrix()[:, 0]
    largest = np.abs(directions @ derivatives.T).max(axis=1)
    radius = (50.0 / largest).min()
    assert radius == pytest.approx(50.0, abs=0.3)
    assert abs(radius - 31.5) > 10


def test_stiffness_with_preload_is_the_slope_of_the_forces_that_hold(model: pp.Model) -> None:
    """Forces of springs that hold a heavy platform, differentiated by displacing it: exact to differences."""
    data = stewart(0.045) | {"gravity": [0, 0, -9.81]}
    data["platform"]["mass"] = 400.0
    model = built(data)
    pose = pp.pose(0.004, -0.003, 0.002, 0.03, -0.02, 0.05)
    load = np.array([300.0, -200.0, 900.0, 0.0, 0.0, 0.0])
    answer = stiffness(model, pose, load)
    assert np.abs(answer.preload).max() > 1e-4 * np.abs(answer.elastic).max()
    q0, f0 = model.inverse_kinematics(pose), model.inverse_dynamics(pose, np.zeros(6), np.zeros(6), load)

    def pull(x: np.ndarray) -> np.ndarray:
        moved = pose.copy()
        moved[:3, 3] += x[:3]
        moved[:3, :3] = Rotation.from_rotvec(x[3:]).as_matrix() @ pose[:3, :3]
        springs = f0 - 20e6 * (model.inverse_kinematics(moved) - q0)
        needed = model.inverse_dynamics(moved, np.zeros(6), np.zeros(6), load)
        # what is missing at the actuators, as a wrench on the platform
        return np.asarray(model.jacobian(moved).T @ (needed - springs))

    h = 1e-6
    by_differences = np.stack([(pull(h * e) - pull(-h * e)) / (2 * h) for e in np.eye(6)], axis=1)
    assert np.abs(answer.matrix - by_differences).max() < 1e-7 * np.abs(answer.matrix).max()


def test_stiffness_of_a_platform_that_follows_its_legs_is_the_energys_second_difference() -> None:
    """3-RPS: weights, springs and a constant force have an energy over z, roll and pitch; x, y and yaw follow."""
    model, spring, pull = pp.Model("3-rps"), 1e3, np.array([6.0, -4.0, 40.0])
    at, still = np.array([0.01, 0.1, -0.07]), np.zeros(6)

    def pose(u: np.ndarray) -> np.ndarray:
        return np.asarray(model.motion(u).pose)

    here, load = pose(at), np.r_[pull, still[:3]]
    q0, f0 = model.inverse_kinematics(here), model.inverse_dynamics(here, still, still, load)

    def energy(u: np.ndarray) -> np.ndarray:
        there = pose(u)
        longer = model.inverse_kinematics(there) - q0
        springs = 0.5 * spring * (longer**2).sum(axis=-1) - longer @ f0
        return np.asarray(model.energy(there, np.zeros((len(u), 6))).potential + springs - there[:, :3, 3] @ pull)

    h, unit = 2e-4, np.eye(3)
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    points = np.array([[[at + h * (a * i + b * j) for a, b in signs] for j in unit] for i in unit])
    corners = energy(points.reshape(-1, 3)).reshape(3, 3, 4)
    second = corners @ np.array([1, -1, -1, 1]) / (4 * h**2)
    moved = model.inverse_kinematics(pose(np.concatenate([at + h * unit, at - h * unit])))
    # from rates of these coordinates to those of the platform's degrees of freedom
    rates = np.linalg.solve(model.jacobian(here), (moved[:3] - moved[3:]).T / (2 * h))
    answer = stiffness(model, here, load, drive=spring)
    assert np.abs(answer.preload).max() > 1e-3 * np.abs(answer.elastic).max()
    wanted = np.linalg.solve(rates.T, np.linalg.solve(rates.T, second).T)
    assert np.abs(answer.matrix - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert np.abs(answer.matrix - wanted).max() < 1e-3 * np.abs(answer.preload).max()


@pytest.mark.parametrize(("name", "at"), [("3-rps", [0.03, 0.2, -0.15]), ("five-bar", [0.01, -0.02])])
def test_platforms_that_follow_their_legs_give_way_in_six_components(name: str, at: list[float], model_of: Any) -> None:
    """Virtual work along motions by differences: forces across the degrees of freedom work too, where the platform
    follows."""
    model, spring, h = model_of(name), 1e5, 1e-6
    load = np.array([100.0, 50.0, -200.0, 5.0, 6.0, 7.0])
    steps = h * np.eye(len(at))
    ends = [np.asarray(model.motion(np.array(at) + sign * steps).pose) for sign in (1, -1)]
    turn = Rotation.from_matrix(ends[0][:, :3, :3] @ ends[1][:, :3, :3].transpose(0, 2, 1)).as_rotvec()
    motions = np.concatenate([ends[0][:, :3, 3] - ends[1][:, :3, 3], turn], axis=1).T / (2 * h)
    longer = (model.inverse_kinematics(ends[0]) - model.inverse_kinematics(ends[1])).T / (2 * h)
    compliance = motions @ np.linalg.solve(spring * longer.T @ longer, motions.T)
    wanted, pose = compliance @ load, np.asarray(model.motion(np.array(at)).pose)
    found = deflection(model, load, pose, drive=spring, preload=False)
    assert np.abs(wanted[[0, 5]]).min() > 1e-3 * np.abs(wanted).max()
    assert np.abs(found.displacement - wanted).max() < 1e-8 * np.abs(wanted).max()  # what differences leave
    assert np.abs(found.parts.sum(axis=0) - wanted).max() < 1e-8 * np.abs(wanted).max()
    # perpendicular to all that it can do at home, up to the rounding of its constraints
    across = (
        np.array([100.0, 0.0, 0.0, 0.0, 0.0, 7.0]) if name == "3-rps" else np.array([0.0, 0.0, 50.0, 3.0, 0.0, 0.0])
    )
    still = deflection(model, across, drive=spring, preload=False)
    assert not still.displacement.any()
    assert not still.share.any()
    # what studies report of a design at one state
    kernel = model.kernel("stiffness")
    results = zip(kernel.outputs, kernel(pose[None], np.full((1, len(model.actuators)), 1 / spring)), strict=True)
    least = SOURCES["stiffness"].of({f"stiffness.{p.name}": r[None] for p, r in results})
    assert least.item() * np.linalg.eigvalsh(compliance[:3, :3])[-1] == pytest.approx(1, rel=1e-8)


def test_a_base_that_gives_way_carries_the_whole_robot() -> None:
    """3-RPS, tilted: masses of all bodies by differences of where they are, moved by legs or with the base."""
    robot, base, spring, h = pp.load("3-rps"), np.array([1e5, 2e5, 3e5, 1e4, 2e4, 3e4]), 1e6, 1e-6
    model = pp.Model(robot.model_copy(update={"base_stiffness": tuple(base)}))
    at, home = np.array([0.03, 0.2, -0.15]), model.bodies(robot.home.matrix)
    heavy = {f"{leg.name}.{name}": body for leg in robot.legs for name, body in leg.bodies.items()}

    def places(x: np.ndarray) -> dict[str, np.ndarray]:
        """Where the bodies are, by the robot's coordinates and then the base's displacement."""
        moved = np.eye(4)
        moved[:3, 3], moved[:3, :3] = x[3:6], Rotation.from_rotvec(x[6:]).as_matrix()
        return {name: moved @ pose for name, pose in model.bodies(np.asarray(model.motion(x[:3]).pose)).items()}

    steps = [(places(np.r_[at, np.zeros(6)] + h * e), places(np.r_[at, np.zeros(6)] - h * e)) for e in np.eye(9)]
    here, whole = places(np.r_[at, np.zeros(6)]), np.zeros((9, 9))
    for name, pose in here.items():
        body = robot.platform if name == "platform" else heavy[name]
        own = np.eye(4) if name == "platform" else np.linalg.inv(home[name])  # chains' bodies are drawn at home
        centre, tensor = own @ np.r_[body.com, 1.0], np.array(body.inertia)
        tensor = np.diag(tensor) if tensor.ndim == 1 else tensor
        turned = pose[:3, :3] @ own[:3, :3] @ tensor @ own[:3, :3].T @ pose[:3, :3].T
        velocity = np.array([(a[name] @ centre - b[name] @ centre)[:3] for a, b in steps]).T / (2 * h)
        turns = [Rotation.from_matrix(a[name][:3, :3] @ b[name][:3, :3].T).as_rotvec() for a, b in steps]
        rate = np.array(turns).T / (2 * h)
        whole += body.mass * velocity.T @ velocity + rate.T @ turned @ rate
    ends = [np.asarray(model.motion(at + sign * h * np.eye(3)).pose) for sign in (1, -1)]
    longer = (model.inverse_kinematics(ends[0]) - model.inverse_kinematics(ends[1])).T / (2 * h)
    springs = np.zeros((9, 9))
    springs[:3, :3], springs[3:, 3:] = spring * longer.T @ longer, np.diag(base)
    wanted = np.sqrt(scipy.linalg.eigh(springs, whole)[0]) / (2 * np.pi)
    found = resonances(model, np.asarray(model.motion(at).pose), drive=spring, preload=False).frequency
    assert np.abs(found / wanted - 1).max() < 1e-7  # what differences leave


def test_a_base_under_legs_without_mass_adds_its_compliance() -> None:
    """Six frequencies of the platform on both compliances in series, and six of what has no mass."""
    data = stewart(0.045) | {"base_stiffness": [1e8, 1e8, 2e8, 1e6, 1e6, 3e6]}
    for leg in data["legs"]:
        leg["lower"], leg["upper"] = ({**leg[part], "mass": 0.0, "inertia": [0, 0, 0]} for part in ("lower", "upper"))
    model = built(data)
    found = resonances(model, preload=False)
    matrix = np.linalg.inv(stiffness(model, preload=False).compliance)
    wanted = np.sqrt(scipy.linalg.eigh(matrix, model.mass_matrix(np.eye(4)), eigvals_only=True)) / (2 * np.pi)
    assert np.allclose(found.frequency[:6], wanted, rtol=1e-10, atol=0)
    assert np.isposinf(found.frequency[6:]).all()
    one = found.shape[:, :6].T @ found.mass @ found.shape[:, :6]
    assert np.allclose(one, np.eye(6), atol=1e-9)


def test_parts_of_a_deflection_add_up(model: pp.Model) -> None:
    data = stewart(0.045, link_stiffness=5e7, universal_stiffness=94e6, spherical_stiffness=94e6)
    soft = built(data | {"base_stiffness": [1e8, 1e8, 1e8, 1e6, 1e6, 1e6]})
    wrench = np.array([10.0, -4.0, 30.0, 0.2, 0.1, -0.3])
    poses = np.stack([np.eye(4), pp.pose(0.001, 0.002, 0.0, 0.01, 0.0, 0.02)])
    found = deflection(soft, wrench, poses, preload=False)
    assert np.allclose(found.parts.sum(axis=-2), found.displacement, rtol=1e-12, atol=0)
    assert np.allclose(found.share.sum(axis=-1), 1.0, rtol=1e-12, atol=0)
    whole = stiffness(soft, poses, preload=False)
    assert np.allclose(np.einsum("kij,j->ki", whole.compliance, wrench), found.displacement, rtol=1e-9, atol=0)
    # in series: the stiffest parts take least, and all legs' drives the ratio of their compliances
    drive, link = (found.parts[0, found.names.index(f"leg1.{name}")] for name in ("drive", "link"))
    assert np.allclose(drive, link * 5e7 / 20e6, rtol=1e-9, atol=0)
    rigid = stiffness(model, preload=False).compliance
    assert (np.diag(whole.compliance[0]) > np.diag(rigid)).all()
    assert found.names[-1] == "base"


def test_a_slider_carries_the_part_of_the_links_force_along_its_rail() -> None:
    """A soft link of a PUS robot counts as a spring along the link, seen from the platform."""
    robot = pp.load("kim-ryu")
    soft = robot.model_copy(
        update={"legs": tuple(leg.model_copy(update={"link_stiffness": 1e6}) for leg in robot.legs)}
    )
    model = pp.Model(soft)
    home = robot.home.matrix
    rows = []
    q = model.inverse_kinematics(home)
    for leg, slide in zip(robot.legs, q, strict=True):
        point = np.array(leg.rail_start) + slide * np.array(leg.rail_direction)
        tip = home[:3, 3] + np.array(leg.platform)
        n = (tip - point) / np.linalg.norm(tip - point)
        rows.append(np.r_[n, np.cross(tip - home[:3, 3], n)])
    wanted = 1e6 * np.array(rows).T @ np.array(rows)
    assert np.allclose(stiffness(model, preload=False).elastic, wanted, rtol=1e-9, atol=1e-6)


def test_flexures_of_passive_joints_act_beside_the_drives() -> None:
    """A planar 3-RRR whose wrists are flexures: each resists the turn of the platform against its rod."""
    robot = pp.load("planar-3-rrr")

    def with_springs(wrist: float | None) -> pp.Model:
        legs = []
        for leg in robot.legs:
            joints = [j.model_copy(update={"stiffness": 1e3 if j.actuated else wrist if j.name == "wrist" else None})
                      for j in leg.joints]  # fmt: skip
            legs.append(leg.model_copy(update={"joints": tuple(joints)}))
        return pp.Model(robot.model_copy(update={"legs": tuple(legs)}))

    plain, sprung = (stiffness(with_springs(k), preload=False) for k in (None, 7.0))
    added = sprung.elastic - plain.elastic
    # the rod's turn from the geometry: its elbow moves with the crank, its wrist with the platform
    model, h, derivatives = pp.Model(robot), 1e-6, []
    for k in range(3):
        turns = []
        for sign in (1, -1):
            x = np.zeros(3)
            x[k] = sign * h
            bodies = model.bodies(model.motion(x).pose)
            turns.append([np.arctan2(bodies[f"leg{i}.rod"][1, 1], bodies[f"leg{i}.rod"][0, 1]) for i in (1, 2, 3)])
        derivatives.append((np.array(turns[0]) - np.array(turns[1])) / (2 * h))
    wrist = np.array([0.0, 0.0, 1.0])[None] - np.array(derivatives).T
    assert np.allclose(added, 7.0 * wrist.T @ wrist, rtol=1e-6, atol=1e-6)


def test_errors_teach(model: pp.Model) -> None:
    with refused(InputError, "stiffness 20 N/um"):
        stiffness(pp.Model("lopes"))
    with refused(InputError, "drive"):
        stiffness(model, drive=-1.0)
    assert stiffness(model, np.zeros((0, 4, 4)) + np.eye(4), preload=False).matrix.shape == (0, 6, 6)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "stewart.yaml"
    file.write_text(yaml.safe_dump(json.loads(json.dumps(stewart(0.05)))), encoding="utf-8")
    result = polypod("stiffness", file, "--wrench", "0 0 10 0 0 0", "--no-preload", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert np.allclose(data["frequencies_Hz"], MODES_HZ, atol=2e-3)
    assert data["deflection"][0]["component"] == "whole"
    assert len(data["deflection"]) == 7


def test_a_map_without_a_pose_is_refused(model_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from polypod.results.figures import stiffness as maps

    monkeypatch.setattr(maps, "_usable", lambda model, pose: np.zeros(pose.shape[:2], dtype=bool))
    with refused(InputError, "hexapod", code="no_poses"):
        maps.stiffness_map(model_of("hexapod"), drive=1e7)


@pytest.mark.long
def test_maps_of_robots_of_fewer_dof_are_over_their_own_coordinates(model_of: Any) -> None:
    from polypod.results.figures.stiffness import stiffness_map

    left, right, *_ = stiffness_map(model_of("linear-delta"), drive=1e7).axes
    assert (left.get_xlabel(), left.get_ylabel()) == ("x [mm]", "y [mm]")
    assert "along z [N/um]" in right.get_title(loc="left") + right.get_title()


def spring_file(folder: Path, joint: str, field: str) -> Path:
    """The five-bar with a field more in one of its passive joints."""
    text = (resources.files("polypod.files") / "robots" / "five-bar.yaml").read_text(encoding="utf-8")
    text = text.replace(f"name: {joint}, kind:", f"name: {joint}, {field}, kind:")
    path = folder / "spring.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_springs_of_passive_joints_act_in_dynamics(tmp_path: Path) -> None:
    """A hinge with 5 N m/rad adds the torques whose power is that of its moment: -5 angle rate."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sprung, plain = pp.Model(spring_file(tmp_path, "tip", "stiffness: 5")), pp.Model("five-bar")
    x, rates = plain.robot.home.matrix[:2, 3] * 0.0 + [0.02, -0.03], np.array([[1.0, 0.0], [0.0, 1.0]])
    motion = plain.motion(x)
    still = np.zeros(6)
    more = sprung.inverse_dynamics(motion.pose, still, still) - plain.inverse_dynamics(motion.pose, still, still)
    element = sprung.elements(motion.pose)["right.tip"]
    assert element.force == pytest.approx(-5 * element.displacement, rel=1e-12)
    for rate in rates:
        moving = plain.motion(x, rate)
        power = more @ plain.rates(moving.pose, moving.twist)
        spin = sprung.elements(moving.pose, moving.twist)["right.tip"].rate
        assert power == pytest.approx(float(5 * element.displacement @ spin), rel=1e-9)


@pytest.mark.parametrize(
    "field",
    ["stiffness: 5", "friction: {viscous: 1.0}", "cone: {axis: [0, 0, 1], half_angle: 1}", "static_load_rating: 9"],
)
def test_what_a_fixed_joint_cannot_have_is_refused(field: str, tmp_path: Path) -> None:
    done = polypod("stiffness", spring_file(tmp_path, "tool", field), "--drive", "1e6")
    assert done.exit_code == 2
    assert f"{field.partition(':')[0]}: a fixed joint does not move" in " ".join(done.output.split())


def test_one_stiffness_of_a_cylinder_is_refused(tmp_path: Path) -> None:
    path = spring_file(tmp_path, "tip", "stiffness: 5")
    path.write_text(path.read_text().replace("stiffness: 5, kind: revolute", "stiffness: 5, kind: cylindrical"))
    assert "stiffness: a cylindrical joint turns and slides" in " ".join(polypod("check", path).output.split())


# -- rotors and mode shapes --------------------------------------------------------------------------------------------


def _held(robot: pp.Robot, which: tuple[int, ...]) -> pp.Robot:
    """The robot with held motors in some legs, as its file would say."""
    data = robot.model_dump(exclude_unset=True)
    for k in which:
        data["legs"][k]["drive_spring"] = "held motor"
    return pp.Robot.model_validate(data)


@pytest.mark.long
@pytest.mark.parametrize("which", [(1, 4), pytest.param((0, 1, 2, 3, 4, 5), marks=pytest.mark.long)])
@pytest.mark.parametrize("base", [pytest.param(None, marks=pytest.mark.long), [2e8, 2e8, 5e8, 4e7, 4e7, 6e7]])
def test_held_motors_are_motors_that_are_not_there(base, which):
    """Against robots without these rotors, by kernels that never had them; to rounding."""
    more = {} if base is None else {"base_stiffness": base}
    robot = pp.load("hexapod", more)
    pose = np.array(robot.home.matrix)
    pose[:3, 3] += [0.02, -0.01, 0.015]
    gone = pp.Model(pp.load("hexapod", more | {f"legs.{k}.rotor_mass": 0.0 for k in which}))
    found = resonances(pp.Model(_held(robot, which)), pose, drive=2e7).frequency
    assert found == pytest.approx(resonances(gone, pose, drive=2e7).frequency, rel=1e-9)
    assert found[0] > 1.005 * resonances(pp.Model(robot), pose, drive=2e7).frequency[0]


def test_the_output_says_where_rotors_are():
    robot = pp.load("hexapod")
    servo, held = pp.Model(robot), pp.Model(_held(robot, (0, 1, 2, 3, 4, 5)))
    low, high = (float(resonances(model, drive=2e7).frequency[0]) for model in (servo, held))
    says(rotors_text(servo, drive=2e7), f"drive_spring held servo {high:.4g} 30")
    says(rotors_text(held, drive=2e7), f"drive_spring servo {low:.4g} 30")
    says(rotors_text(pp.Model(_held(robot, (1,))), drive=2e7), "leg2")
    assert not rotors_text(pp.Model(pp.load("hexapod", {"legs.*.rotor_mass": 0.0})), drive=2e7)


@pytest.mark.parametrize("name", ["hexapod", "3-rps"])
def test_mode_shapes_are_those_of_the_eigenvectors(name, model_of):
    """Platform joints move by what the mode's twist says, to first order; by a fifth of the platform's size."""
    from polypod.analysis.workspace import PoseCoordinates
    from polypod.results.figures.mode_shapes import displaced

    model = model_of(name)
    modes = resonances(model, drive=1e6)
    at = PoseCoordinates(model).point()
    points = model.robot.attachments
    for k in range(model.mobility.count):
        step = 1e-4
        ahead, rest, behind = displaced(model, modes, at, k, np.array([step, 0.0, -step]))
        assert rest == pytest.approx(model.robot.home.matrix, abs=1e-12)
        moved = (points @ (ahead - behind)[:3, :3].T + (ahead - behind)[:3, 3]) / (2 * step)
        twist = stiffness(model, drive=1e6).motions @ modes.shape[: model.mobility.count, k]
        arms = points @ model.robot.home.matrix[:3, :3].T
        wanted = twist[:3] + np.cross(twist[3:], arms)
        scale = np.linalg.norm(moved) / np.linalg.norm(wanted)
        assert moved == pytest.approx(scale * wanted, abs=1e-4 * np.abs(moved).max())
        assert np.linalg.norm(moved, axis=1).max() == pytest.approx(0.2 * model.size, rel=1e-3)


@pytest.mark.long
def test_the_command_takes_a_pose_and_draws_modes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = polypod("stiffness", "hexapod", "--drive", "20 N/um", "--at", "z=10mm", "--modes", "modes.png", "--json")
    assert done.exit_code == 0, done.output
    model = pp.Model("hexapod")
    pose = np.array(model.robot.home.matrix)
    pose[2, 3] += 0.01
    found = json.loads(done.stdout)["frequencies_Hz"]
    assert found == pytest.approx(resonances(model, pose, drive=2e7).frequency, rel=1e-12)
    assert Path("modes.png").stat().st_size > 30_000
    assert polypod("stiffness", "five-bar", "--drive", "2000", "--modes", "modes.gif").exit_code == 0
    with Image.open("modes.gif") as film:
        assert film.n_frames == 2 * 24
    failed(polypod("stiffness", "hexapod", "--drive", "20"), "N/um")
