"""Robots whose degrees of freedom are coordinates of joints: the engine drives the joints whose coordinates polypod
is given."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.analysis import linearise, stiffness, travel
from polypod.errors import InputError
from polypod.files import dumps, loads
from polypod.mechanism.closing import closed
from polypod.yaml12 import to_yaml
from support.chain_functions import Functions
from support.compare import assert_close
from support.engines.chain_engine import Array, Engine, Motion
from support.refusals import refused, says
from support.robots.random_chains import ROBOTS as USUAL
from support.robots.unusual_chains import UNUSUAL

ROBOTS = {**USUAL, **UNUSUAL}
# Both sides round in double precision, magnified by the condition of legs and constraints (below 1e3).
TOLERANCE = 1e-10
CASES = {
    "four-bar": ["leg2.R2"],
    "3-PRS": ["z", "leg1.R", "leg3.R"],
    "five-bar": ["leg1.R3", {"name": "elbow", "joint": "legs.1.joints.R2"}],
}


def check(got: Any, wanted: Any, scale: Any = None) -> None:
    assert_close(np.asarray(got, dtype=float)[None], np.asarray(wanted, dtype=float)[None], TOLERANCE, scale)


def with_drives(data: dict[str, Any], dof: list[Any]) -> tuple[Engine, list[int]]:
    """The engine with drives in all joints that are degrees of freedom, and the numbers of these drives."""
    changed, wanted = deepcopy(data), []
    for one in dof:
        path = one["joint"] if isinstance(one, dict) else one
        if "." in path:
            first, name = path.removeprefix("legs.").replace(".joints.", ".").split(".")
            number = int(first) if first.isdecimal() else int(first.removeprefix("leg")) - 1
            joint = next(j for j in changed["legs"][number]["joints"] if j["name"] == name)
            assert not joint.get("actuated")
            joint["actuated"] = True
            wanted.append((number, name))
    engine = Engine(changed)
    return engine, [int(engine.joints[one].drive or 0) for one in wanted]


class State:
    """A state of the engine, and the same in coordinates of joints: x, its rates, and du_components/dx."""

    def __init__(self, name: str, seed: int = 1) -> None:
        data, dof = ROBOTS[name](seed), CASES[name]
        self.engine, drives = with_drives(data, dof)
        self.plain, self.function = Engine(data), Functions(pp.Robot.model_validate({**data, "dof": dof}))
        rng, m = np.random.default_rng(seed + 1), len(self.engine.chosen)
        self.place = self.engine.displaced(rng.uniform(-0.03, 0.03, m))
        self.velocity = self.engine.velocity(self.place, rng.normal(size=m))
        self.acceleration = self.engine.acceleration(self.place, self.velocity, rng.normal(size=m))
        joints = (
            self.engine.coordinates(self.place),
            self.engine.drive_rows(self.place) @ self.velocity.ravel(),
            self.engine.drive_accelerations(self.place, self.velocity, self.acceleration),
        )
        shift = self.engine.pose(self.place)[:3, 3] - self.engine.home[:3, 3]
        components = shift[2], self.velocity[0, 2], self.acceleration[0, 2]
        own = [k for k, one in enumerate(dof) if one != "z"]
        self.x, self.xdot, self.xddot = (np.zeros(m) for _ in range(3))
        for row, driven, plain in zip((self.x, self.xdot, self.xddot), joints, components, strict=True):
            row[:] = plain
            row[own] = driven[drives]
        units = [self.engine.velocity(self.place, e) for e in np.eye(m)]
        rates = np.array([self.engine.drive_rows(self.place)[drives] @ v.ravel() for v in units]).T
        by_components = np.array([[v[0, 2] for v in units]] * m)
        by_components[own] = rates
        self.derivatives = np.linalg.inv(by_components)

    @property
    def given(self) -> dict[str, Array]:
        pose = self.engine.pose(self.place)
        return {"pose": pose, "twist": self.velocity[0], "acceleration": self.acceleration[0]}


each_case = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "four-bar" else pytest.mark.long) for name in CASES]
)


@each_case
def test_the_motion_of_joints_is_the_engines(name: str) -> None:
    s = State(name)
    found = s.function("motion", x=s.x, xdot=s.xdot, xddot=s.xddot)
    for field, wanted in s.given.items():
        check(found[field], wanted)
    own = np.flatnonzero([one != "z" for one in CASES[name]])
    expression = closed(s.function.mechanism, s.function.kernels.expression(s.function.mechanism, "joint_coordinates"))
    check(s.function.evaluate(expression, **s.given)["joints"], s.x[own])


@each_case
def test_forces_and_the_inertia_of_joints(name: str) -> None:
    """Forces do not depend on the coordinates chosen; the mass matrix is that of the joints' rates."""
    s = State(name)
    wrench = np.arange(6.0)
    motion = Motion(s.velocity, s.acceleration)
    force = s.plain.inverse_dynamics(s.place, motion, wrench, friction=True)
    check(s.function("inverse_dynamics", True, **s.given, wrench=wrench)["force"], force)
    found = s.function("direct_dynamics", True, **s.given, wrench=wrench, force=force)["acceleration"]
    check(found, s.given["acceleration"])
    check(
        s.function("mass_matrix", **s.given)["mass_matrix"],
        s.derivatives.T @ s.plain.mass_matrix(s.place) @ s.derivatives,
    )
    allowed = s.function("follow", **s.given)
    check(allowed["possible_twist"], s.given["twist"])
    check(allowed["possible_acceleration"], s.given["acceleration"])


def test_angles_of_a_cross() -> None:
    """The platform of an ankle turns about the first axis of its cross, and then about the second."""
    data = ROBOTS["ankle"](1)
    data["legs"][2]["joints"][0]["between"] = ["base", "platform"]
    first, second = (np.array(axis) for axis in data["legs"][2]["joints"][0]["axes"])
    function = Functions(pp.Robot.model_validate({**data, "dof": ["leg3.pivot.first", "leg3.pivot.second"]}))
    x = np.array([0.2, -0.15])
    pose = function("motion", x=x)["pose"]
    turn = Rotation.from_rotvec(x[0] * first) * Rotation.from_rotvec(x[1] * second)
    check(pose[:3, :3], turn.as_matrix() @ data["home"]["rotation"])


@pytest.fixture(scope="module")
def crank() -> pp.Model:
    """A four-bar linkage whose degree of freedom is the angle of its crank, which goes round."""
    data = ROBOTS["four-bar"](1)
    return pp.Model(loads(to_yaml({**data, "dof": ["leg1.R1"]})))


def test_a_crank_goes_round(crank: pp.Model) -> None:
    """No component of the coupler's motion could be the coordinate: each turns back somewhere."""
    x = np.linspace(0.0, 2 * np.pi, 25)[:, None]
    found = crank.motion(x, np.ones_like(x), np.zeros_like(x))
    assert np.isfinite(found.pose).all()
    check(found.pose[-1], crank.robot.home.matrix)
    difference = crank.coordinates(found.pose) - x
    assert np.abs(np.sin(difference)).max() < 1e-12
    assert (np.sign(found.twist[:, :2]).min(axis=0) == -1).all()
    assert (np.sign(found.twist[:, :2]).max(axis=0) == 1).all()
    # the crank is driven: its coordinate is q, and forces are power-conjugate to it
    assert_close(np.asarray(crank.jacobian(found.pose)), np.ones((25, 1, 1)), 1e-12)
    step = 1e-5
    ahead, behind = (crank.motion(x + s, np.ones_like(x), 0 * x) for s in (step, -step))
    slope = (ahead.twist - behind.twist) / (2 * step)
    # differences of numbers of about 1 over 1e-5, which also leave a third derivative
    assert_close(found.acceleration, slope, 1e-8)


def test_simulation_and_linear_model(crank: pp.Model) -> None:
    """The linear model's derivatives are differences of direct dynamics along the crank; energy stays in a swing."""
    pose = crank.motion([0.4]).pose
    at = linearise(crank, pose, friction=False)

    def change(x: float, rate: float) -> float:
        there = crank.motion([x], [rate], [0.0])
        force = crank.inverse_dynamics(pose, np.zeros(6), np.zeros(6), friction=False)
        found = crank.direct_dynamics(there.pose, there.twist, force, friction=False)
        # twist = S u: with x'' = 1 more the acceleration is S more
        unit = crank.motion([x], [rate], [1.0]).acceleration - there.acceleration
        return float(unit @ (found - there.acceleration) / (unit @ unit))

    step = 1e-4
    derivatives = [
        (change(0.4 + step, 0.0) - change(0.4 - step, 0.0)) / (2 * step),
        (change(0.4, step) - change(0.4, -step)),
    ]
    assert_close(at.a[1][None], np.array([[derivatives[0], derivatives[1] / (2 * step)]]), 1e-6)
    # the crank's own spring: q is the coordinate
    assert stiffness(crank, pose, drive=70.0, preload=False).matrix.item() == pytest.approx(70.0, rel=1e-12)
    result = pp.simulate(crank, duration=0.2, pose=pose, friction=False)
    total = result.energy_kinetic + result.energy_potential
    # the step of the integrator is chosen for 1e-8 or so
    assert float(result.energy_kinetic[-1]) > 0.01
    assert float(abs(total - total[0]).max()) < 1e-7 * float(result.energy_kinetic[-1])


@pytest.mark.long
def test_travel_of_one_dof(crank: pp.Model) -> None:
    """A robot of one degree of freedom has no coordinates that move together."""
    found = travel(crank)
    assert found.together.shape == (0, 1)
    assert float(found.high[0] - found.low[0]) > 3.0  # a crank


def test_files_and_faults() -> None:
    data = ROBOTS["3-PRS"](1)
    robot = pp.Robot.model_validate({**data, "dof": ["z", "leg1.R", {"name": "b", "joint": "leg2.R"}]})
    assert [f.name for f in robot.dof] == ["z", "leg1_R", "b"]
    assert [f.motion for f in robot.dof] == ["translation", "rotation", "rotation"]
    assert loads(dumps(robot)).dof == robot.dof

    def fault(*dof: Any) -> str:
        with pytest.raises((InputError, ValueError)) as caught:
            pp.Model(pp.Robot.model_validate({**data, "dof": list(dof)}))
        return str(caught.value)

    says(fault("z", "leg1.r", "leg2.R"), "dof.1.joint r R")
    says(fault("z", "foot.R", "leg2.R"), "dof.1.joint foot")
    says(fault("z", "leg1.S", "leg2.R"), "spherical")
    says(fault("leg1.R", "leg1.R.rotation", "z"), "dof: [")
    assert "motion: missing" in fault("z", {"name": "a", "axis": [0, 0, 1]}, "leg2.R")
    says(fault("z", {"name": "a", "joint": "leg1.R", "axis": [0, 0, 1]}, "leg2.R"), "joint axis")
    short = pp.load("kim-ryu")
    with refused(ValueError, "PUS"):
        pp.Robot.model_validate({**short.model_dump(), "legs": short.legs, "dof": ["leg1.slide"]})
