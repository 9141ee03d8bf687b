"""Dynamics with legs computed in frames that move with them: the same numbers as in base axes, in fewer operations."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.arrays import Array
from polypod.description import Friction
from polypod.formulations.virtual_power import State, at_a_tip, direct_solution, inverse_solution
from polypod.legs import PUS, UPS, Placement
from polypod.mechanism import Mechanism
from polypod.mechanism.leg_frame import leg_frames
from polypod.symbols.linear import solve_general
from polypod.symbols.tape import Tape
from polypod.symbols.vectors import Frame
from support.states import displaced

FRICTION = Friction(viscous=2.0)
UPS_CHANGES = {
    "cross_inertia": 0.05,
    "rotor_mass": 3.0,
    "universal_friction": FRICTION,
    "prismatic_friction": FRICTION,
    "spherical_friction": FRICTION,
}
PUS_CHANGES = {"slider_friction": FRICTION, "universal_friction": FRICTION, "spherical_friction": FRICTION}
ROBOTS = ("pedrammehr", "hexapod", "kim-ryu", "long")
# Both routes round differently; forces are judged by the largest, near singularities by the matrix's quality too.
ROUNDING = 2e-13


def _states(robot: pp.Robot, count: int) -> tuple[Array, ...]:
    """Poses near home, twists, accelerations and wrenches."""
    draw = np.random.default_rng(5)
    moves = np.concatenate(
        [0.05 * robot.platform_size * draw.normal(size=(count, 3)), 0.1 * draw.normal(size=(count, 3))], 1
    )
    poses = np.array([displaced(robot.home.matrix, move) for move in moves])
    return poses, *draw.normal(size=(3, count, 6))


def _changed(name: str) -> pp.Robot:
    """A robot with everything in its legs that a leg of its kind can have."""
    robot = pp.load(name)
    legs = []
    for leg in robot.legs:
        guide = tuple(np.roll(leg.rail_direction, 1)) if isinstance(leg, PUS) else None
        more = {**PUS_CHANGES, "guide_normal": guide} if guide is not None else UPS_CHANGES
        legs.append(leg.model_copy(update=more))
    return robot.model_copy(update={"legs": tuple(legs)})


def _evaluated(mechanism: Mechanism, x: Any, outputs: list[ca.SX], numbers: Array, samples: Any) -> list[Array]:
    """Outputs (n, ...) for the numbers of a robot, by CasADi's interpreter."""
    inputs = [x.pose.symbols, x.twist.symbols, x.acceleration.symbols, x.wrench.symbols, mechanism.numbers.symbols]
    function = ca.Function("both", inputs, [ca.densify(one) for one in outputs])
    rows = [function(s[0].ravel(), *s[1:], numbers) for s in zip(*samples, strict=True)]
    return [np.array([np.array(row[k]) for row in rows]) for k in range(len(outputs))]


def _quantities(mechanism: Mechanism, x: Any, in_frames: bool) -> list[ca.SX]:
    """Wrench that the motion needs, Jacobian, mass matrix, friction of the drives."""
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, platform, True, None, in_frames)
    parts = [state.required_wrench, state.jacobian, state.mass, state.driven_friction]
    return [*parts, state.rest_wrench + state.jacobian.T @ state.direct_force]


@pytest.mark.parametrize("name", ROBOTS)
def test_a_leg_in_its_frame_is_the_leg(name: str) -> None:
    """Needs, Jacobian, mass matrix and friction; for its own numbers and for those of other designs."""
    mechanism = Mechanism(_changed(name))
    assert all(view is not None for view in leg_frames(mechanism))
    x, samples = mechanism.inputs(), _states(mechanism.robot, 5)
    outputs = [*_quantities(mechanism, x, True), *_quantities(mechanism, x, False)]
    for numbers in (mechanism.numbers.values, *(values for values, _ in mechanism.numbers.varied(2, 0.02))):
        found = _evaluated(mechanism, x, outputs, numbers, samples)
        for own, base in zip(found[:5], found[5:], strict=True):
            assert np.isfinite(base).all()
            assert np.abs(own - base).max() <= ROUNDING * np.abs(base).max()


@pytest.mark.parametrize("name", ROBOTS[:3])
def test_forces_at_a_tip_are_forces(name: str) -> None:
    """The platform referred to a leg's tip: equal forces, and the acceleration that they give."""
    mechanism = Mechanism(_changed(name))
    x = mechanism.inputs()
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    at_tip = at_a_tip(mechanism, platform)
    assert at_tip is not platform
    forces = [
        inverse_solution(State.of(mechanism, one, True, None), x.wrench.symbols).force for one in (at_tip, platform)
    ]
    own, base = _evaluated(mechanism, x, forces, mechanism.numbers.values, _states(mechanism.robot, 5))
    assert np.abs(own - base).max() <= 10 * ROUNDING * np.abs(base).max()


def test_operations() -> None:
    """Of inverse and direct dynamics, for a state, all numbers of the robot being inputs."""
    most = {"pedrammehr": (2100, 2900), "hexapod": (1810, 2320), "kim-ryu": (2230, 3030)}
    for name, allowed in most.items():
        model = pp.Model(pp.load(name))
        functions = model.kernels
        for function, count in zip(("inverse_dynamics", "direct_dynamics"), allowed, strict=True):
            program = functions.expression(functions.mechanism, function).program
            assert program.operations <= count, (name, function)


def test_masses_at_tips_count_once() -> None:
    """Forces of a motion give its acceleration, also of legs that follow the platform's axes and have a body there."""
    m = pp.Model(pp.load("delta-4"))
    draw = np.random.default_rng(2)
    pose, twist, acceleration = m.motion(*0.02 * draw.normal(size=(3, m.mobility.count)))
    force = m.inverse_dynamics(pose, twist, acceleration, friction=False)
    given = m.direct_dynamics(pose, twist, force, friction=False)
    assert np.abs(given - acceleration).max() <= 1e-10 * np.abs(acceleration).max()


def test_another_placement_needs_a_frame_of_its_own() -> None:
    """A kind that states another placement than the one it is derived from is computed in base axes."""

    class Shifted(UPS, kind="shifted UPS"):
        def place(self, tip: Frame) -> Placement:
            return super().place(tip)

    robot = pp.load("hexapod")
    legs = tuple(Shifted.model_validate({**dict(leg), "kind": "shifted UPS"}) for leg in robot.legs)
    mechanism = Mechanism(robot.model_copy(update={"legs": legs}))
    assert leg_frames(mechanism) == [None] * 6
    assert direct_solution(mechanism, mechanism.inputs(), False, None).acceleration.numel() == 6


def test_numbers_are_varied_one_by_one() -> None:
    """Lengths that are one are no directions, and directions keep their length."""
    robot = pp.load("kim-ryu")
    legs = tuple(leg.model_copy(update={"length": 1.0}) for leg in robot.legs)
    numbers = Mechanism(robot.model_copy(update={"legs": legs})).numbers
    lengths = [k for k, entry in enumerate(numbers.entries) if entry.path.endswith(".length")]
    rails = [k for k, entry in enumerate(numbers.entries) if entry.path == "legs.0.rail_direction"]
    assert len(lengths) == 6
    for values, _ in numbers.varied(3):
        assert len({*values[lengths]}) == 6
        assert 1.0 not in values[lengths]
        assert np.isclose(np.linalg.norm(values[rails]), 1.0, rtol=1e-15) or len(rails) < 2


def test_values_that_are_known_are_not_computed() -> None:
    """x/|x| at (size, 0, 0): one, with the derivatives of a direction."""
    x, size = ca.SX.sym("x", 3), ca.SX.sym("size")
    tape = Tape(x, x / ca.norm_2(x))
    at = ca.vertcat(size, 0, 0)
    values = ca.Function("values", [size], [tape.all_values(at)])
    samples = np.array([np.array(values(one)).ravel() for one in (0.3, 0.7, 1.9)])
    known = tape.knowing(samples)
    direction = known.values(at)
    assert ca.is_equal(direction.y, ca.SX([1, 0, 0]))
    assert [bool(entry.is_zero()) for entry in ca.vertsplit(direction.jacobian()[0, :].T)] == [True] * 3
    rate, half = ca.SX.sym("rate", 3), ca.SX.sym("half", 3)
    both = ca.Function(
        "both",
        [size, rate, half],
        [ca.horzcat(*tape.taylor(at, rate, half)), ca.horzcat(*known.taylor(at, rate, half))],
    )
    first, second = (np.array(part) for part in both(0.8, [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]))
    assert np.abs(first - second).max() <= 1e-15
    tiny = np.array([np.array(values(one)).ravel() for one in (3e-9, 7e-9, 1.9e-8)])
    assert tape.knowing(tiny).operations.known == known.operations.known  # what is small is not zero


def test_rows_without_a_part_in_the_first_column() -> None:
    """Elimination that leaves them alone solves the same system."""
    random = np.random.default_rng(4)
    for _ in range(20):
        numbers = random.normal(size=(6, 6))
        numbers[3:, 0] = 0
        symbols = ca.SX.sym("a", 6, 6)
        matrix = ca.SX(symbols)
        matrix[3:, 0] = 0
        right = random.normal(size=6)
        solve = ca.Function("solve", [symbols], [solve_general(matrix, ca.SX(right)).x])
        wanted = np.linalg.solve(numbers, right)
        assert np.abs(np.array(solve(numbers)).ravel() - wanted).max() <= 1e-11 * np.abs(wanted).max()
