"""Staicu's recursive matrix relations: every recursion against differentiated positions, forces against everything.

The formulation shares no derivative with the others: its velocities and accelerations come from joint rates alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from polypod.errors import InputError, StateError
from polypod.formulations import recursive_matrix, virtual_power
from polypod.formulations.recursive_matrix.dynamics import Elimination, RecursiveLeg, TipMotion
from polypod.friction import Loads, Smooth
from polypod.legs import PRU, UPS, Actuator, Placement
from polypod.mechanism import Mechanism
from polypod.symbols.vectors import Frame, dot, skew, vector
from support.compare import assert_close
from support.engines import printed_staicu as printed
from support.engines.oracle import with_random_bodies
from support.refusals import refused
from support.robots import user_legs as user
from support.robots.hexagon import hexagon_modes
from support.robots.random_robots import Interpreted, Sampled
from support.states import States, basis, easy, mostly_long, papers_robots

Array = NDArray[np.float64]

# Both sides round; the condition of J (below 1e3 in these states) magnifies it: 3e-15 is reached.
TOLERANCE = 1e-12
GOLDEN = json.loads((Path(__file__).parent.parent / "data" / "golden" / "staicu.json").read_text(encoding="utf-8"))[
    "states"
]

ROBOTS: dict[str, Callable[[], pp.Robot]] = {
    **{name: (lambda name=name: pp.load(name)) for name in papers_robots()},
    **{
        f"{name}, random bodies": (lambda name=name: with_random_bodies(pp.load(name), seed=7))
        for name in papers_robots()
    },
    "spherical joint inside": user.psu_robot,
    "cranks and flywheels": user.crank_robot,
    "cross at the platform": lambda: user.remade(pp.load("staicu"), PRU, user.CrossedPRU, cross_body=user.body(5)),
    "platform on a PRU leg": lambda: pp.load("staicu").model_copy(update={"legs": pp.load("staicu").legs[::-1]}),
    "joints stated backwards": lambda: user.remade(pp.load("pedrammehr"), UPS, user.TurnedUPS),
}
each_robot = pytest.mark.parametrize("name", ROBOTS)


@cache
def robot_of(name: str) -> pp.Robot:
    return ROBOTS[name]()


@cache
def model_of_robot(name: str) -> pp.Model:
    return pp.Model(robot_of(name))


@cache
def mechanism_of(name: str) -> Mechanism:
    return Mechanism(robot_of(name))


class Forces:
    """Forces of a formulation at a batch of states, interpreted, with the robot's own numbers."""

    def __init__(self, formulation: Any, mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> None:
        graph = formulation.inverse_dynamics(mechanism, friction, loads)
        ports = [*graph.inputs, *([graph.parameters] if graph.parameters else [])]
        # Without merging equal parts (Expression.function), which takes longer than a few evaluations gain.
        self._function = ca.Function("f", [p.symbols for p in ports], [p.symbols for p in graph.outputs])
        self._numbers = [mechanism.numbers.values] if graph.parameters else []

    def __call__(self, *states: Array) -> Array:
        rows = [np.reshape(a, (len(a), -1)) for a in states]
        return np.array(
            [np.array(self._function.call([*row, *self._numbers])[0]).ravel() for row in zip(*rows, strict=True)]
        )


def sampled(robot: pp.Robot, count: int) -> States:
    """Random states around home, by the interpreter."""
    return easy(Sampled(Interpreted(robot)), count)  # type: ignore[arg-type]


@cache
def states_of(name: str) -> States:
    return sampled(robot_of(name), 12)


@cache
def leg_of(name: str, number: int) -> RecursiveLeg:
    mechanism = mechanism_of(name)
    return RecursiveLeg(mechanism, mechanism.legs[number])


# -- forces ----------------------------------------------------------------------------------------------------------

# The papers' robots as published are in the contract suite, users' leg kinds among the actuators, with friction or not.
COVERED = {*papers_robots(), "spherical joint inside", "cranks and flywheels"}


OWN = [name for name in ROBOTS if name not in COVERED]
REPEATED = {f"{name}, random bodies" for name in ("kim-ryu", "lopes", "long")}


@pytest.mark.parametrize("name", mostly_long(OWN, [name for name in OWN if name not in REPEATED]))
def test_forces_equal_virtual_power(name: str) -> None:
    mechanism, s = mechanism_of(name), states_of(name)
    got = Forces(recursive_matrix, mechanism, True)(*s[:4])
    wanted = Forces(virtual_power, mechanism, True)(*s[:4])
    assert_close(got, wanted, TOLERANCE)


def test_forces_are_covered_elsewhere() -> None:
    from test_actuators import ROBOTS as USERS
    from test_contract import CASES

    assert {name for name, formulation, _ in CASES if formulation == "recursive-matrix"} | set(USERS) >= COVERED


SIMPLER = ["slender-links", "no-link-inertia", "massless-links", "point-mass-links"]


@pytest.mark.long
@pytest.mark.parametrize("what", mostly_long(SIMPLER, SIMPLER[:1]))
def test_simplified_links(what: Any) -> None:
    """Weight without inertia, and masses fastened to a link; random bodies where their mass may be anywhere."""
    name = "kim-ryu" if what == "point-mass-links" else "kim-ryu, random bodies"
    mechanism, s = Mechanism(robot_of(name), what), states_of(name)
    got = Forces(recursive_matrix, mechanism, False)(*s[:4])
    assert_close(got, Forces(virtual_power, mechanism, False)(*s[:4]), TOLERANCE)
    full = Forces(recursive_matrix, mechanism_of(name), False)(*s[:4])
    assert np.abs(got - full).max() > 1e-3


def test_slides_in_a_row_by_newton() -> None:
    """f = (platform + own slider) a + friction of the own and of the other leg's parallel slide, less the wrench."""
    robot, g = user.stage_robot(), 9.81
    draw = np.random.default_rng(3)
    n = 5
    pose = np.tile(np.eye(4), (n, 1, 1))
    pose[:, [0, 2], 3] = draw.normal(size=(n, 2))
    v, a, w = (draw.normal(size=(n, 6)) * [1, 0, 1, 0, 0, 0] for _ in range(3))
    got = Forces(recursive_matrix, Mechanism(robot), True)(pose, v, a, w)
    along = 7.0 * a[:, 0] + (1.5 + 0.75) * v[:, 0] - w[:, 0]
    up = 8.0 * (a[:, 2] + g) + (2.5 + 0.25) * v[:, 2] - w[:, 2]
    assert_close(got, np.stack([along, up], axis=-1), 1e-14)


@pytest.mark.long
def test_dry_friction_takes_given_loads() -> None:
    """Coulomb friction by the loads of the joints, here any numbers, equal to virtual power's."""
    mechanism = mechanism_of("kim-ryu")
    loads = Loads.symbols(mechanism, Smooth())
    s = sampled(robot_of("kim-ryu"), 6)
    pressed = np.random.default_rng(0).uniform(10.0, 200.0, (6, loads.ports[0].length))
    got = Forces(recursive_matrix, mechanism, True, loads)(*s[:4], pressed)
    assert_close(got, Forces(virtual_power, mechanism, True, loads)(*s[:4], pressed), TOLERANCE)
    assert np.abs(got - Forces(recursive_matrix, mechanism, True)(*s[:4])).max() > 1.0


# -- actuators -------------------------------------------------------------------------------------------------------


class BentCrank(user.CrankLeg):
    """A crank leg driven in another joint of its loop over the base, all of whose joints turn by the same angle."""

    driven: str

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        # The coupler keeps its direction: it turns back against the crank.
        sense = -1.0 if self.driven == "coupler" else 1.0
        (rope,) = placed.actuators
        return replace(placed, actuators=(replace(rope, joint=self.driven, ratio=sense * rope.ratio),))


class PassiveUPS(UPS):
    """A UPS leg that nothing drives."""

    def place(self, tip: Frame) -> Placement:
        return replace(super().place(tip), actuators=())


class DoubleStage(user.Stage):
    """Both slides of a leg driven, the second through a gear with a rotor; the second one is at the platform."""

    gear: float = 3.0

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        out = dot(tip.origin, vector(self.second))
        second = Actuator("geared", "free", self.gear * out, ratio=self.gear, rotor=0.4)
        return replace(placed, actuators=(*placed.actuators, second))


@pytest.mark.long
@pytest.mark.parametrize("joint", mostly_long(["coupler", "follower", "follower bearing"], ["follower"]))
def test_driven_joint_inside_a_loop(joint: str) -> None:
    """Wherever it stands in its loop, the driven joint is in the tree."""
    robot = user.remade(user.crank_robot(), user.CrankLeg, BentCrank, driven=joint)
    mechanism, s = Mechanism(robot), sampled(robot, 6)
    leg = RecursiveLeg(mechanism, mechanism.legs[0])
    assert joint not in [loop.name for loop in leg.tree.loops]
    got = Forces(recursive_matrix, mechanism, True)(*s[:4])
    assert_close(got, Forces(virtual_power, mechanism, True)(*s[:4]), TOLERANCE)


def with_leg(robot: pp.Robot, kind: type[UPS]) -> pp.Robot:
    """A robot of UPS legs with one more."""
    data = {name: getattr(robot.legs[0], name) for name in UPS.model_fields}
    data |= {"name": "extra", "base": (-0.3, -0.4, 0.1), "platform": (0.05, -0.2, 0.02)}
    return robot.model_copy(update={"legs": (*robot.legs, kind(**data))})


def test_passive_leg() -> None:
    robot = with_leg(robot_of("pedrammehr"), PassiveUPS)
    mechanism, s = Mechanism(robot), sampled(robot_of("pedrammehr"), 6)
    got = Forces(recursive_matrix, mechanism, True)(*s[:4])
    assert got.shape == (6, 6)
    assert_close(got, Forces(virtual_power, mechanism, True)(*s[:4]), TOLERANCE)


def test_more_actuators_than_dof() -> None:
    """The forces nearest to preferred ones, with friction of the driven joints beside them."""
    robot = with_leg(robot_of("pedrammehr"), UPS)
    mechanism, s = Mechanism(robot), sampled(robot_of("pedrammehr"), 6)
    draw = np.random.default_rng(1)
    weights, preload = draw.uniform(0.5, 2.0, (6, 7)), draw.normal(size=(6, 7)) * 100
    got = Forces(recursive_matrix, mechanism, True)(*s[:4], weights, preload)
    assert got.shape == (6, 7)
    assert_close(got, Forces(virtual_power, mechanism, True)(*s[:4], weights, preload), TOLERANCE)


def test_two_actuators_in_a_leg_by_newton() -> None:
    """The first slide carries slider and platform along x, the second the platform along z: f q' = F s', q = 3 s."""
    stage = user.stage_robot()
    legs = user.remade(stage, user.Stage, DoubleStage).legs[:1]
    mechanism = Mechanism(stage.model_copy(update={"legs": legs}))
    draw = np.random.default_rng(3)
    pose = np.tile(np.eye(4), (5, 1, 1))
    pose[:, [0, 2], 3] = draw.normal(size=(5, 2))
    v, a, w = (draw.normal(size=(5, 6)) * [1, 0, 1, 0, 0, 0] for _ in range(3))
    got = Forces(recursive_matrix, mechanism, True)(pose, v, a, w)
    along = 7.0 * a[:, 0] + 1.5 * v[:, 0] - w[:, 0]
    up = (5.0 * (a[:, 2] + 9.81) + 0.25 * v[:, 2] - w[:, 2]) / 3.0 + 0.4 * 3.0 * a[:, 2]
    assert_close(got, np.stack([along, up], axis=-1), 1e-14)


# -- numbers as inputs -----------------------------------------------------------------------------------------------

TILTED = np.array([0.0, 0.28, 0.96])
DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "leaning joint": ("lopes", {"legs.0.axis": TILTED, "legs.0.link.inertia": np.diag([0.1, 0.2, 0.25])}),
    "leaning rail": ("lopes", {"legs.1.rail_direction": TILTED}),
    "link of any shape": ("lopes", {"legs.*.link.com": [0.02, -0.03, 0.8], "legs.*.link.inertia": np.diag([3, 4, 5])}),
    "cross and rotor": ("pedrammehr", {"legs.*.cross_inertia": 0.3, "legs.*.rotor_mass": 2.0}),
    "everything moved": ("kim-ryu", {"legs.*.length": 0.93, "gravity": [1.0, 2.0, 3.0], "home.position": [0, 0.1, 1]}),
    "other axes": ("pedrammehr", {"legs.2.axis": [0.0, 0.6, 0.8], "legs.3.base": [0.2, 0.5, 0.0]}),
    "longer links": ("staicu", {"legs.*.length": 0.45, "platform.mass": 9.0}),
    "wider parallelogram": ("staicu", {"legs.2.half_width": 0.05, "legs.2.slider_bar.mass": 0.4}),
}


@pytest.mark.parametrize("what", mostly_long(DESIGNS, ["leaning rail", "wider parallelogram"]))
def test_other_designs(what: str) -> None:
    """What is zero, one or constant for a robot is so for other designs too, or it is not left out."""
    name, change = DESIGNS[what]
    model, s = model_of_robot(name), states_of(name)
    args: Any = {"friction": False, "parameters": change}
    got = model.inverse_dynamics(*s[:4], formulation="recursive-matrix", **args)
    wanted = model.inverse_dynamics(*s[:4], **args)
    assert_close(got, wanted, TOLERANCE)
    assert np.abs(got - model.inverse_dynamics(*s[:4], friction=False)).max() > 1e-3


def test_design_that_does_not_reach_home() -> None:
    """Constants of a design are taken at its home: one that does not reach it has no answer, and says so."""
    model, zero = model_of_robot("lopes"), np.zeros(6)
    args: Any = {"friction": False, "parameters": {"home.position": [3.0, 0.0, 2.0]}}
    home = model.robot.home.matrix
    for formulation in ("virtual-power", "recursive-matrix"):
        with refused(StateError, "0 leg1", code="design"):
            model.inverse_dynamics(home, zero, zero, formulation=formulation, **args)


# Operations of a state without friction, measured: 2,543, 2,328, 1,640, 2,783, 590 with the robot's numbers built in,
# 2,566, 2,340, 1,784, 2,833, 593 with its numbers as inputs (Lopes' legs share joints, which as inputs they do not).
@pytest.mark.parametrize(
    ("name", "built_in", "as_inputs"),
    [
        pytest.param("kim-ryu", 2600, 2650, marks=pytest.mark.long),
        pytest.param("long", 2400, 2400, marks=pytest.mark.long),
        pytest.param("lopes", 1700, 1850, marks=pytest.mark.long),
        pytest.param("pedrammehr", 2850, 2900, marks=pytest.mark.long),
        ("staicu", 620, 620),
    ],
)
def test_operations(name: str, built_in: int, as_inputs: int) -> None:
    special = Mechanism(robot_of(name), specialise=True)
    assert recursive_matrix.inverse_dynamics(special, False).program.operations <= built_in
    assert recursive_matrix.inverse_dynamics(mechanism_of(name), False).program.operations <= as_inputs


# -- the recursions, against positions differentiated ----------------------------------------------------------------


class Compared(NamedTuple):
    """A leg's bodies at one state: by the recursions, and from the frames of its placement; (bodies, 3) base axes."""

    recursive: dict[str, Array]
    differentiated: dict[str, Array]


def _path(tip: ca.SX, motion: list[Array]) -> tuple[ca.SX, ca.SX]:
    """A time and the tip (12) along a path with the given velocities and accelerations at time zero."""
    t = ca.SX.sym("t")
    v, omega, a, alpha = (ca.SX(ca.DM(x)) for x in motion)
    turned = ca.SX.eye(3) + t * skew(omega) + t**2 / 2 * (skew(alpha) + skew(omega) @ skew(omega))
    origin = tip[:3] + t * v + t**2 / 2 * a
    return t, ca.vertcat(origin, ca.vec(turned @ ca.reshape(tip[3:], 3, 3)))


def compared(name: str, number: int) -> Compared:
    """One leg at a random state near home, of its own: omega, v, epsilon, gamma of every body and joint."""
    mechanism, leg = mechanism_of(name), leg_of(name, number)
    model, draw = mechanism.legs[number], np.random.default_rng(number)
    tip = leg.tree.samples.tips[number % 4]
    carry = leg.tree.samples.twists[number % 4]
    dof = basis(mechanism.robot).shape[1]
    speed, push = carry @ draw.normal(size=dof), carry @ (5 * draw.normal(size=dof))
    # The tip's own acceleration: that of the platform's origin and rotation, with what turning adds at the arm.
    arm = np.reshape(tip[3:], (3, 3), order="F") @ mechanism.numbers.evaluate(model.arm).ravel()
    motion = [speed[:3], speed[3:], push[:3] + np.cross(speed[3:], np.cross(speed[3:], arm)), push[3:]]

    symbols = TipMotion.symbols()
    moved = leg.motion(symbols)
    lift, own = mechanism.numbers.evaluate(-mechanism.gravity).ravel(), mechanism.numbers.values
    t, path = _path(model.all_inputs, motion)
    got: dict[str, list[Array]] = {key: [] for key in ("omega", "v", "epsilon", "gamma")}
    wanted: dict[str, list[Array]] = {key: [] for key in got}
    for link, velocity, acceleration in zip(leg.tree.links, moved.velocities, moved.accelerations, strict=True):
        local = ca.horzcat(velocity.omega, velocity.v, acceleration.epsilon, acceleration.gamma)
        inputs = [model.all_inputs, symbols.v, symbols.omega, symbols.a, symbols.alpha, mechanism.numbers.symbols]
        values = np.array(ca.Function("motion", inputs, [link.frame.axes @ local])(tip, *motion, own)).T
        for key, value in zip(got, values - np.outer([0, 0, 0, 1], lift), strict=True):
            got[key].append(value)
        frame = ca.substitute(ca.horzcat(link.frame.axes, link.frame.origin), model.all_inputs, path)
        first = ca.reshape(ca.jacobian(ca.vec(frame), t), 3, 4)
        second = ca.reshape(ca.jacobian(ca.vec(first), t), 3, 4)
        given = [model.all_inputs, t, mechanism.numbers.symbols]
        at_zero = ca.Function("frame", given, [frame, first, second])(tip, 0.0, own)
        x, dx, ddx = (np.array(value) for value in at_zero)
        spin = dx[:, :3] @ x[:, :3].T
        omega = _axial(spin)
        wanted["omega"].append(omega)
        wanted["v"].append(dx[:, 3])
        wanted["epsilon"].append(_axial(ddx[:, :3] @ x[:, :3].T - spin @ spin))
        wanted["gamma"].append(ddx[:, 3])
    return Compared({k: np.array(v) for k, v in got.items()}, {k: np.array(v) for k, v in wanted.items()})


def _axial(matrix: Array) -> Array:
    return np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]) / 2


PLAIN = [name for name in ROBOTS if "random" not in name]


@pytest.mark.parametrize(
    "name", mostly_long(PLAIN, ("staicu", "spherical joint inside", "a passive leg", "two actuators a leg"))
)
def test_recursions_are_differentiated_positions(name: str) -> None:
    """(10)-(13) with (14), (15): angular velocities, joint velocities and both accelerations of every body."""
    for number in range(len(robot_of(name).legs)):
        state = compared(name, number)
        for key, values in state.recursive.items():
            wanted = state.differentiated[key]
            assert np.isfinite(wanted).all()
            # Rounding of second derivatives of square roots, relative to the leg's largest: 9e-14 is reached.
            assert np.abs(values - wanted).max() <= 1e-12 * np.abs(wanted).max(), f"{key} of leg {number}"


def test_turning_recursion_of_the_paper() -> None:
    """(13) line 2, right as printed: B_k = w^2 u~u~ + eps u~ + a B a^T + 2 w a omega~ a^T u~, for the parallelogram."""
    mechanism = mechanism_of("staicu")
    leg, symbols = leg_of("staicu", 2), TipMotion.symbols()
    moved, tree = leg.motion(symbols), leg.tree
    motion = [[0.0, 0.3, -0.5], [0.0, 1.3, 0.0], [0.0, 2.0, 1.0], [0.0, -4.0, 0.0]]
    numbers = mechanism.numbers
    inputs = [leg.model.all_inputs, symbols.v, symbols.omega, symbols.a, symbols.alpha, numbers.symbols]
    checked = 0
    for k, link in enumerate(tree.links):
        if link.slides or link.parent < 0:
            continue
        a, u = link.passing, link.free
        rate, second = moved.rates[link.first_rate], moved.second[link.first_rate]
        before = moved.accelerations[link.parent].turning
        omega = moved.velocities[link.parent].omega
        line = rate**2 * skew(u) @ skew(u) + second * skew(u) + a @ before @ a.T
        line = line + 2 * rate * a @ skew(omega) @ a.T @ skew(u)
        function = ca.Function("both", inputs, [line, moved.accelerations[k].turning])
        both = function(tree.samples.tips[1], *motion, numbers.values)
        got, wanted = (np.array(value) for value in both)
        assert np.abs(got - wanted).max() < 1e-13 * np.abs(wanted).max()
        checked += 1
    assert checked == 4


def test_passing_matrices_are_rotations_between_the_placed_frames() -> None:
    for name in ("kim-ryu", "long", "pedrammehr", "staicu", "spherical joint inside", "cranks and flywheels"):
        for number in (0, 1, 2):  # all kinds of legs are among the first three
            tree = leg_of(name, number).tree
            assert tree.links
            for link in tree.links:
                before = tree.axes_of(link.parent)
                off = tree.samples.values(link.passing - link.frame.axes.T @ before)
                assert np.abs(off).max() < 1e-14


def test_parallelogram_turns_as_one() -> None:
    """Both long bars have one rate, the far short bar the opposite: omega62 = omega32 = omega43 of the paper."""
    leg = leg_of("staicu", 2)
    index = leg.tree.index
    rates = leg.connectivity.unit_rates
    one, two, far = (rates[:, leg.tree.links[index[name]].first_rate] for name in ("bar1", "bar2", "platform_bar"))
    assert np.abs(one).max() > 1
    assert np.abs(one - two).max() < 1e-13 * np.abs(one).max()
    assert np.abs(one + far).max() < 1e-13 * np.abs(one).max()
    assert [joint.name for joint in leg.tree.loops] == ["platform hinge of bar2"]


# -- Staicu's robot --------------------------------------------------------------------------------------------------


def staicu_forces(x: Any, xdot: Any, xddot: Any, wrench: Any = None) -> Array:
    model = model_of_robot("staicu")
    motion = model.motion(x, xdot, xddot)
    return model.inverse_dynamics(
        motion.pose, motion.twist, motion.acceleration, wrench, formulation="recursive-matrix"
    )


# Link and joint of each passive angle phi21A, phi21B, phi21C, phi32, phi54 of the golden file, and its sense: the
# hinges' axes of the description against the paper's u3, z2 = x for A, -x for B, -y for C, and z3 = -(e x n).
PASSIVE = [("A", "link", 1), ("B", "link", -1), ("C", "slider_bar", -1), ("C", "bar1", -1)]


def passive(state: dict[str, Any]) -> tuple[Array, Array]:
    """Passive angles from home and their rates, by passing matrices and (14)."""
    mechanism = mechanism_of("staicu")
    angles, rates = [], []
    for name, body, sense in PASSIVE:
        leg = next(leg_of("staicu", k) for k, model in enumerate(mechanism.legs) if model.name == name)
        link = leg.tree.links[leg.tree.index[body]]
        numbers = mechanism.numbers
        arm = numbers.evaluate(leg.model.arm).ravel()
        tips = []
        for pose in (np.array(state["pose"]), mechanism.robot.home.matrix):
            tips.append(np.concatenate([pose[:3, 3] + pose[:3, :3] @ arm, pose[:3, :3].ravel(order="F")]))
        passing = ca.Function("passing", [leg.model.all_inputs, numbers.symbols], [link.passing])
        now, home = (np.array(passing(tip, numbers.values)) for tip in tips)
        axis = numbers.evaluate(link.free).ravel()
        # a = a^phi a(home): the axial vector of a(home) a^T is sin(phi) u.
        change = home @ now.T
        angles.append(sense * np.arctan2(_axial(change) @ axis, (np.trace(change) - 1) / 2))
        symbols = TipMotion.symbols()
        twist = np.array(state["twist"], dtype=float)
        v = twist[:3] + np.cross(twist[3:], np.array(state["pose"])[:3, :3] @ arm)
        rate = ca.Function(
            "rate",
            [leg.model.all_inputs, symbols.v, symbols.omega, numbers.symbols],
            [leg.connectivity.rates(symbols.v, symbols.omega)],
        )(tips[0], v, twist[3:], numbers.values)
        rates.append(sense * float(rate[link.first_rate]))
    return np.array(angles), np.array(rates)


@pytest.mark.parametrize("state", GOLDEN, ids=range(len(GOLDEN)))
def test_passive_angles_and_rates(state: dict[str, Any]) -> None:
    angles, rates = passive(state)
    x, xdot = np.array(state["x"]), np.array(state["xdot"])
    # phi54 = phi21C + theta.
    assert np.abs(np.append(angles, angles[2] + x[2]) - state["passive_angles"]).max() < 1e-14
    wanted = printed.connectivity(printed.Geometry.of(x), xdot)
    assert np.abs(rates - [wanted.A21, wanted.B21, wanted.C21, wanted.C32]).max() < 1e-13 * (1 + np.abs(xdot).max())
    # The rates are the derivatives of the closed-form angles.
    ahead, back = (printed.Geometry.of(x + sign * 1e-5 * xdot) for sign in (1, -1))
    derivatives = [(getattr(ahead, n) - getattr(back, n)) / 2e-5 for n in ("phi21_a", "phi21_b", "phi21_c", "phi32")]
    assert np.abs(rates - derivatives).max() < 1e-7


@pytest.mark.parametrize("state", GOLDEN, ids=range(len(GOLDEN)))
def test_golden_forces(state: dict[str, Any]) -> None:
    got = staicu_forces(state["x"], state["xdot"], state["xddot"], state["wrench"])
    assert_close(got[None], np.array(state["force"])[None], 1e-14)


# The numbers of these three tests are those of the program in 50 digits that made the golden states.


def test_static_forces_at_home() -> None:
    zero = np.zeros(3)
    assert np.abs(staicu_forces(zero, zero, zero) - [46.785368, 46.785368, 53.556528]).max() < 5e-7


def test_forces_at_the_start_of_the_trajectory() -> None:
    assert np.abs(staicu_forces(*printed.trajectory(0.0)) - [52.21422, 37.53964, 49.37333]).max() < 5e-6


def test_energy_balance_of_the_trajectory() -> None:
    """Work of the actuators over (5), by Gauss' quadrature; 40 nodes give it to rounding too."""
    model = model_of_robot("staicu")
    nodes, weights = np.polynomial.legendre.leggauss(60)
    motion = model.motion(*printed.trajectory(0.5 + 0.5 * nodes))
    force = staicu_forces(*printed.trajectory(0.5 + 0.5 * nodes))
    work = 0.5 * weights @ np.sum(force * model.rates(motion.pose, motion.twist), axis=1)
    assert abs(work - 6.771799486) < 5e-10
    ends = model.motion(*printed.trajectory(np.array([0.0, 1.0])))
    energy = model.energy(ends.pose, ends.twist)
    total = energy.kinetic + energy.potential
    assert abs(work - (total[1] - total[0])) < 1e-13 * 33  # 33 J go to and fro


def test_mirrored_motion_swaps_a_and_b() -> None:
    x, xdot, xddot = printed.trajectory(np.linspace(0, 1, 7))
    mirror = np.array([-1.0, 1.0, 1.0])
    assert_close(
        staicu_forces(x * mirror, xdot * mirror, xddot * mirror), staicu_forces(x, xdot, xddot)[:, [1, 0, 2]], 1e-13
    )


def test_wrenches_that_do_no_work() -> None:
    x, xdot, xddot = printed.trajectory(np.linspace(0, 1, 7))
    idle = np.array([40.0, 0.0, 0.0, 7.0, 0.0, -9.0])
    assert_close(staicu_forces(x, xdot, xddot, idle), staicu_forces(x, xdot, xddot), 1e-14)


# -- the paper's equations as printed --------------------------------------------------------------------------------

TIMES = np.linspace(0.0, 1.0, 126)  # every fourth of 501
# Largest change of a force over the trajectory (5) if one line is taken as printed [N]. Recorded by this very program
# at 501 times; the 126 taken here find them to 6e-3. They say how much an erratum matters, not what is right.
SIZES = {
    "13 line 1": 38.18,
    "13 line 3": 57.51,
    "14 C arm": 17.46,
    "14 C length": 327.3,
    "15 A, B": 2.639,
    "15 C 32": 16.54,
    "15 C 54": 16.54,
    "15 C 21 32": 1.492,
    "15 C 21 54": 1.676,
    "18": 17.09,
}


@cache
def along_trajectory(*lines: str) -> Array:
    return np.array([printed.forces(*state, printed=lines) for state in zip(*printed.trajectory(TIMES), strict=True)])


def test_paper_corrected_equals_the_library() -> None:
    """(1)-(18) corrected, in the paper's own frames, against the library: two programs with nothing in common."""
    assert_close(along_trajectory(), staicu_forces(*printed.trajectory(TIMES)), 1e-13)


def test_every_erratum_has_a_size() -> None:
    assert {*SIZES, "6 C"} == set(printed.ERRATA)


@pytest.mark.parametrize("line", SIZES)
def test_errata_sizes(line: str) -> None:
    change = np.abs(along_trajectory(line) - along_trajectory()).max()
    assert abs(change - SIZES[line]) < 6e-3 * SIZES[line]


def test_closure_as_printed() -> None:
    """(6) for leg C is open by L sqrt(2) in every pose, 0.525 m in x at most (recorded); corrected all legs close."""
    x = printed.trajectory(TIMES)[0]
    corrected = np.array([printed.closure(state) for state in x])
    assert np.abs(corrected).max() < 1e-15
    gap = np.array([printed.closure(state, ["6 C"])[2] for state in x])
    assert np.abs(np.linalg.norm(gap, axis=1) - printed.L * np.sqrt(2)).max() < 1e-15
    assert abs(np.abs(gap).max() - 0.525) < 5e-4


def test_base_triangle_as_printed_is_flat() -> None:
    """A2C2 = B2C2 = R with A2B2 = 2R is no triangle; the sliders are R sqrt(2) apart."""
    starts = {leg.name: np.array(leg.rail_start) for leg in pp.load("staicu").legs}
    sides = [np.linalg.norm(starts[a] - starts[b]) for a, b in ("AB", "AC", "BC")]
    assert np.allclose(sides, printed.R * np.array([2.0, np.sqrt(2), np.sqrt(2)]), rtol=1e-15, atol=0)
    # With two sides of R the third, 2 R, leaves no height.
    assert sides[0] == 2 * printed.R


# -- the linear system -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [1, 2, 5, 6, 8])
def test_elimination_against_lapack(height: int) -> None:
    """Square, block triangular, full and taller systems; the transposed one has the smallest solution."""
    draw, solved = np.random.default_rng(height), 0
    for density in (0.2, 0.5, 1.0):
        width = min(height, 5)
        for _ in range(5):
            numbers = draw.normal(size=(height, width)) * (draw.random((height, width)) < density)
            numbers[draw.permutation(height)[:width], np.arange(width)] = 1 + draw.random(width)
            if np.linalg.cond(numbers) > 100:
                continue
            symbols = ca.SX.sym("a", height, width)
            mask = ca.SX(ca.DM((numbers != 0).astype(float)))
            system = Elimination(symbols * mask)
            b, c = ca.SX.sym("b", height), ca.SX.sym("c", width)
            solve = ca.Function("solve", [symbols, b, c], [system.solve(b), system.solve_transposed(c)])
            x = draw.normal(size=width)
            y = draw.normal(size=width)
            got, transposed = (np.array(value).ravel() for value in solve(numbers, numbers @ x, y))
            assert np.abs(got - x).max() < 1e-12
            assert np.abs(transposed - np.linalg.pinv(numbers).T @ y).max() < 1e-12
            solved += 1
    assert solved > 10


# -- what it refuses -------------------------------------------------------------------------------------------------


def check(change: Callable[[Any], Any], *data: str, code: str, robot: str = "pedrammehr") -> None:
    """A robot whose first leg's placement is changed is refused for the reason, with the names."""
    mechanism = Mechanism(robot_of(robot))
    leg = mechanism.legs[0]
    leg.placement = change(leg.placement)
    leg.actuators = leg.placement.actuators
    with refused(InputError, "recursive-matrix", leg.name, *data, code=code):
        recursive_matrix.inverse_dynamics(mechanism, False)


def changed_joint(name: str, **fields: Any) -> Callable[[Any], Any]:
    return lambda placed: replace(
        placed, joints=tuple(replace(j, **fields) if j.name == name else j for j in placed.joints)
    )


def test_idle_leg() -> None:
    with refused(InputError, "leg0", code="idle_motion"):
        recursive_matrix.inverse_dynamics(Mechanism(user.idle_robot()), False)


def test_axis_that_moves_in_its_body() -> None:
    check(changed_joint("prismatic", axes=(ca.SX([1.0, 0.0, 0.0]),)), "prismatic", code="moving_axis")


def test_centre_that_moves_in_its_body() -> None:
    # The middle of the leg stays in neither of its bodies.
    half = lambda placed: 0.5 * (placed.joints[0].point + placed.joints[1].point)  # noqa: E731
    check(lambda p: changed_joint("universal", point=half(p))(p), "universal", code="moving_centre")


def test_slide_that_does_not_slide() -> None:
    """A revolute joint called prismatic: the body turns on its carrier."""
    check(changed_joint("hinge", kind="prismatic"), "hinge slider", code="moving_body", robot="staicu")


def test_body_without_joint() -> None:
    def loose(placed: Any) -> Any:
        return replace(placed, bodies=(*placed.bodies, replace(placed.bodies[0], name="loose")))

    check(loose, "loose", code="loose_body")


def test_leg_that_does_not_hang_on_the_base() -> None:
    check(changed_joint("universal", parent="upper"), "prismatic universal base", code="unconnected")


def test_universal_joint_askew() -> None:
    def askew(placed: Any) -> Any:
        u, v = placed.joints[0].axes
        return changed_joint("universal", axes=(u, 0.8 * v + 0.6 * u))(placed)

    check(askew, "universal", code="not_perpendicular")


def test_platform_joint_whose_axis_moves() -> None:
    """The platform turns about y; a universal joint there whose second axis is along its x tells something else."""

    def other(placed: Any) -> Any:
        first = placed.joints[-1].axes[0]
        return changed_joint("universal", axes=(first, ca.SX([0.0, 0.0, 1.0])))(placed)

    check(other, "universal platform", code="moving_axis", robot="staicu")


def test_loop_of_slides() -> None:
    def looped(placed: Any) -> Any:
        slider = placed.joints[0]
        return replace(placed, joints=(*placed.joints, replace(slider, name="again")))

    check(looped, "again", code="driven_loop", robot="staicu")


def test_platform_joint_missing_or_twice() -> None:
    check(lambda p: replace(p, joints=p.joints[:-1]), "platform", code="platform_joints")
    twice = lambda p: replace(p, joints=(*p.joints, replace(p.joints[-1], name="second")))  # noqa: E731
    check(twice, "spherical second", code="platform_joints")


def test_platform_joint_elsewhere() -> None:
    check(changed_joint("spherical", point=ca.SX([0.0, 0.0, 1.0])), "spherical", code="attachment")


def changed_actuator(**fields: Any) -> Callable[[Any], Any]:
    return lambda placed: replace(placed, actuators=(replace(placed.actuators[0], **fields),))


def test_coordinate_of_another_joint() -> None:
    moved = lambda p: changed_actuator(coordinate=p.actuators[0].coordinate + p.joints[-1].point[0])(p)  # noqa: E731
    check(moved, "prismatic", code="ratio")


def test_wrong_ratio() -> None:
    check(changed_actuator(ratio=-1.0), "prismatic", code="ratio")


@pytest.mark.parametrize("joint", ["universal", "motor"])
def test_actuator_that_drives_no_slide_or_hinge(joint: str) -> None:
    check(changed_actuator(joint=joint), joint, "['prismatic']", code="joint_kind")


def test_loop_of_driven_joints() -> None:
    def all_driven(placed: Any) -> Any:
        (rope,) = placed.actuators
        joints = ("crank", "coupler", "follower", "follower bearing")
        return replace(placed, actuators=tuple(replace(rope, name=name, joint=name) for name in joints))

    check(all_driven, "follower bearing", code="driven_loop", robot="cranks and flywheels")


def test_flexible_platform() -> None:
    mechanism = Mechanism(robot_of("long").on_modes(hexagon_modes(2)))
    with refused(InputError, code="flexible"):
        recursive_matrix.inverse_dynamics(mechanism, False)


def test_hinge_for_a_universal_joint() -> None:
    """A leg that hinges on the base cannot follow six degrees of freedom: its own axis does not stay in it."""

    def stiff(placed: Any) -> Any:
        first, *rest = placed.joints
        return replace(placed, joints=(replace(first, kind="revolute", axes=first.axes[:1]), *rest))

    check(stiff, "universal lower", code="moving_axis")


def test_links_without_spin() -> None:
    mechanism = Mechanism(pp.load("kim-ryu"), "no-spin")
    with refused(InputError, "recursive-matrix no-spin"):
        recursive_matrix.inverse_dynamics(mechanism, False)
