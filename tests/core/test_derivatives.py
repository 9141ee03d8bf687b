"""Derivatives, regressor and CasADi functions against differences of high order, Pinocchio, and the rules they obey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.description import Friction
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.formulations.derivatives import MOTION
from polypod.identification import LinearModel
from polypod.identification.linear_model import MotionRows
from polypod.model.derivatives import derivative_functions
from polypod.parameters.design import with_numbers
from polypod.platforms.motion import frame_of, pose_of
from polypod.symbols.vectors import Frame, skew
from support import compare
from support.refusals import refused, warned
from support.robots.hexagon import hexagon_modes
from support.states import mostly_long

ROBOTS = ("pedrammehr", "lopes", "staicu")
# Sixth-order differences at steps of 1e-3 leave 1e-16/1e-3 of rounding and 1e-18 of truncation, times condition.
DIFFERENCE = 1e-9
_CACHE: dict[str, Any] = {}


def model(name: str) -> pp.Model:
    """One model a robot, so that kernels are shared by the tests."""
    if name not in _CACHE:
        _CACHE[name] = pp.Model(name)
    return _CACHE[name]


def states(name: str, count: int = 3) -> tuple[Any, ...]:
    """Poses, twists, accelerations and wrenches near home that the robot can make."""
    m, draw = model(name), np.random.default_rng(5)
    wrench = draw.normal(size=(count, 6))
    if not m.mobility.full:
        return *m.motion(*0.05 * draw.normal(size=(3, count, m.mobility.count))), wrench
    pose = np.tile(m.robot.home.matrix, (count, 1, 1))
    pose[:, :3, 3] += 0.05 * m.size * draw.normal(size=(count, 3))
    pose[:, :3, :3] = Rotation.from_rotvec(0.1 * draw.normal(size=(count, 3))).as_matrix() @ pose[:, :3, :3]
    return pose, *draw.normal(size=(2, count, 6)), wrench


def displaced(pose: Any, move: Any) -> Any:
    """Poses moved by v and turned by omega, base axes: a twist on the left."""
    moved = pose.copy()
    moved[:, :3, 3] += move[:3]
    moved[:, :3, :3] = Rotation.from_rotvec(move[3:]).as_matrix() @ pose[:, :3, :3]
    return moved


def derivatives(function: Callable[[Any], Any], count: int, step: float = 1e-3) -> Any:
    """Sixth-order central differences of a function of ``count`` numbers, at zero: (..., count)."""
    columns = []
    for unit in np.eye(count):
        a, b, c = ((function(k * step * unit) - function(-k * step * unit)) / step for k in (1, 2, 3))
        columns.append((45 * a - 9 * b + c) / 60)
    return np.stack(columns, axis=-1)


def close(got: Any, wanted: Any, tolerance: float = DIFFERENCE) -> None:
    compare.close(got, wanted, tolerance, least=1e-9)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("staicu",)))
class TestBlocks:
    """Every block against differences, along motions that the robot can make."""

    def test_inverse_dynamics(self, name: str) -> None:
        """d(force) by pose, twist, acceleration, wrench."""
        m, (pose, twist, acceleration, wrench) = model(name), states(name)
        got = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrench)
        basis = m.mobility.basis
        f, m_count = m.inverse_dynamics, m.mobility.count
        close(
            got.pose @ basis, derivatives(lambda u: f(displaced(pose, basis @ u), twist, acceleration, wrench), m_count)
        )
        close(got.twist @ basis, derivatives(lambda u: f(pose, twist + basis @ u, acceleration, wrench), m_count))
        close(
            got.acceleration @ basis, derivatives(lambda u: f(pose, twist, acceleration + basis @ u, wrench), m_count)
        )
        close(got.wrench, derivatives(lambda w: f(pose, twist, acceleration, wrench + w), 6))
        assert got.force is None
        assert got.parameters is None

    def test_direct_dynamics(self, name: str) -> None:
        """d(acceleration) by pose, twist, force, wrench."""
        m, (pose, twist, acceleration, wrench) = model(name), states(name)
        force = m.inverse_dynamics(pose, twist, acceleration, wrench)
        got = m.derivatives("direct_dynamics", pose, twist, force, wrench)
        basis = m.mobility.basis
        f, count = m.direct_dynamics, m.mobility.count
        close(got.pose @ basis, derivatives(lambda u: f(displaced(pose, basis @ u), twist, force, wrench), count))
        close(got.twist @ basis, derivatives(lambda u: f(pose, twist + basis @ u, force, wrench), count))
        close(got.force, derivatives(lambda u: f(pose, twist, force + u, wrench), force.shape[-1]))
        close(got.wrench, derivatives(lambda w: f(pose, twist, force, wrench + w), 6))

    def test_inverse_and_direct_are_inverse(self, name: str) -> None:
        """df/da da/df = 1: no differences."""
        m, (pose, twist, acceleration, wrench) = model(name), states(name)
        force = m.inverse_dynamics(pose, twist, acceleration, wrench)
        there = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrench).acceleration
        back = m.derivatives("direct_dynamics", pose, twist, force, wrench).force
        assert np.abs(there @ back - np.eye(force.shape[-1])).max() <= 1e-11

    def test_numbers(self, name: str) -> None:
        """By numbers of the robot, a column each, against calls with changed numbers."""
        # steps of an inertia at the edge of the possible lead beyond it: no check here
        free = model(name).robot.platform.model_copy(update={"check": "none"})
        m, state = pp.Model(model(name).robot.model_copy(update={"platform": free})), states(name)
        paths = ("platform.mass", "platform.com", "platform.inertia", "legs.0.platform", "gravity")
        got = m.derivatives("inverse_dynamics", *state, wrt=(), parameters=paths).parameters
        start, numbers = 0, m.parameters(*paths)
        for path, value in numbers.items():
            columns = start + np.arange(value.size).reshape(value.shape)
            for place in np.ndindex(value.shape):
                both = {place, place[::-1]}  # a tensor stays symmetric
                steps = 1e-3 * np.array([1, 2, 3, -1, -2, -3])
                others = np.tile(value, (6, 1, *(1,) * value.ndim))  # designs, each for all states
                for one in both:
                    others[:, 0, *one] += steps
                forces = m.inverse_dynamics(*state, parameters={**numbers, path: others})  # one function for all
                a, b, c = (forces[:3] - forces[3:]) / 1e-3
                wanted, found = (45 * a - 9 * b + c) / 60, sum(got[..., columns[one]] for one in both)
                assert np.abs(found - wanted).max() <= 1e-8 * max(np.abs(wanted).max(), 1.0), (path, place)
            start += value.size
        assert got.shape[-1] == start


@pytest.mark.parametrize("name", mostly_long((*ROBOTS, "planar-4-rrr"), ("staicu", "planar-4-rrr")))
def test_the_regressor_times_its_numbers_is_the_force(name: str) -> None:
    """Y p = f for the robot's numbers, and for others of the same robot."""
    m, (pose, twist, acceleration, _) = model(name), states(name)
    matrix, names, values = m.regressor(pose, twist, acceleration)
    force = m.inverse_dynamics(pose, twist, acceleration)
    assert matrix.shape == (*force.shape, len(names)) == (*force.shape, len(values))
    # rounding of sums of forces that cancel: relative to the largest product
    scale = np.abs(matrix * values).max()
    assert np.abs(matrix @ values - force).max() <= 1e-13 * scale
    heavier = values.copy()
    heavier[names.index("platform.m")] += 2.5
    own = m.parameters("platform.mass", "platform.com", "platform.inertia")
    # a mass at the origin of {P} changes m alone
    mass, com = own["platform.mass"], own["platform.com"]
    central = m.robot.platform.central_inertia
    whole = central + mass * (com @ com * np.eye(3) - np.outer(com, com))
    new_com = mass * com / (mass + 2.5)
    tensor = whole - (mass + 2.5) * (new_com @ new_com * np.eye(3) - np.outer(new_com, new_com))
    changed = m.robot.model_copy(
        update={"platform": pp.Body(mass=mass + 2.5, com=tuple(new_com), inertia=tensor.tolist(), check="none")}
    )
    assert (
        np.abs(matrix @ heavier - pp.Model(changed).inverse_dynamics(pose, twist, acceleration)).max() <= 1e-12 * scale
    )


def test_derivatives_of_a_lone_platform_are_pinocchios() -> None:
    """Massless legs leave J^T f = w of one free body, whose derivatives computeRNEADerivatives gives."""
    m = pp.Model("pedrammehr", simplify="massless-links")
    pose, twist, acceleration, _ = states("pedrammehr")
    body = m.robot.platform
    tree = pin.Model()
    tree.gravity.linear = np.array(m.robot.gravity)
    joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    tree.appendBodyToJoint(joint, pin.Inertia(body.mass, np.array(body.com), body.central_inertia), pin.SE3.Identity())
    data = tree.createData()
    got = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrt=("twist", "acceleration"), friction=False)
    jacobian = m.jacobian(pose)
    for k in range(len(pose)):
        rotation = pose[k, :3, :3]
        turn = np.kron(np.eye(2), rotation)
        q = np.concatenate([pose[k, :3, 3], Rotation.from_matrix(rotation).as_quat()])
        v = turn.T @ twist[k]
        # Pinocchio's acceleration is spatial: the point's own less omega x v, in the body's axes
        a = turn.T @ acceleration[k]
        a[:3] -= np.cross(v[3:], v[:3])
        pin.computeRNEADerivatives(tree, data, q, v, a)
        by_v, by_a = data.dtau_dv.copy(), data.M.copy()
        by_a = np.triu(by_a) + np.triu(by_a, 1).T
        drift = np.zeros((6, 6))
        drift[:3, :3], drift[:3, 3:] = -pin.skew(v[3:]), pin.skew(v[:3])
        wanted = np.linalg.solve(jacobian[k].T, turn @ (by_v + by_a @ drift) @ turn.T)
        assert np.abs(got.twist[k] - wanted).max() <= 1e-11 * np.abs(wanted).max()
        wanted = np.linalg.solve(jacobian[k].T, turn @ by_a @ turn.T)
        assert np.abs(got.acceleration[k] - wanted).max() <= 1e-11 * np.abs(wanted).max()


def test_numbers_of_direct_dynamics() -> None:
    """Accelerations follow from the numbers themselves: what is differentiated is the residual at given ones."""
    m, (pose, twist, acceleration, wrench) = model("staicu"), states("staicu")
    force, mass = m.inverse_dynamics(pose, twist, acceleration, wrench), m.robot.platform.mass
    state = pose, twist, force, wrench
    got = m.derivatives("direct_dynamics", *state, wrt=(), parameters=("platform.mass",)).parameters
    close(got, derivatives(lambda u: m.direct_dynamics(*state, parameters={"platform.mass": mass + u[0]}), 1))


@pytest.mark.parametrize(
    "name", mostly_long(("planar-3-rrr", "delta", "linear-delta", "orthoglide"), ("planar-3-rrr",))
)
def test_legs_that_take_the_axes_of_the_platform(name: str) -> None:
    """Point and axes of a tip, their rates and accelerations: every one is differentiated by its own."""
    m, draw = model(name), np.random.default_rng(6)
    k, basis = m.mobility.count, m.mobility.basis
    pose, twist, acceleration = m.motion(0.02 * draw.normal(size=(2, k)), *draw.normal(size=(2, 2, k)))
    f = m.inverse_dynamics
    got = m.derivatives("inverse_dynamics", pose, twist, acceleration)
    close(got.pose @ basis, derivatives(lambda u: f(displaced(pose, basis @ u), twist, acceleration), k, 3e-4))
    close(got.twist @ basis, derivatives(lambda u: f(pose, twist + basis @ u, acceleration), k))
    close(got.acceleration @ basis, derivatives(lambda u: f(pose, twist, acceleration + basis @ u), k))


def test_legs_differentiated_in_their_own_axes() -> None:
    """Pods with a cross, a rotor and dry friction: CasADi differentiates the whole function in base axes."""
    friction = Friction(viscous=0.3, drag=2.0)
    named = dict.fromkeys(("universal_friction", "prismatic_friction", "spherical_friction"), friction)
    robot = pp.load("pedrammehr")
    legs = tuple(leg.model_copy(update={"cross_inertia": 0.05, "rotor_mass": 3.0, **named}) for leg in robot.legs)
    m, (pose, twist, acceleration, wrench) = pp.Model(robot.model_copy(update={"legs": legs})), states("pedrammehr", 1)
    got = m.derivatives("inverse_dynamics", pose[0], twist[0], acceleration[0], wrench[0])
    by = [ca.SX.sym(name, 6) for name in ("move", "twist", "acceleration")]
    frame = frame_of(ca.SX(pose[0].ravel()))
    moved = pose_of(Frame(frame.origin + by[0][:3], frame.axes + skew(by[0][3:]) @ frame.axes))
    force = m.casadi("inverse_dynamics")(moved, by[1], by[2], wrench[0])[0]
    wanted = ca.Function("derivatives", by, [ca.jacobian(force, one) for one in by])(
        np.zeros(6), twist[0], acceleration[0]
    )
    for block, slope in zip((got.pose, got.twist, got.acceleration), wanted, strict=True):
        close(block, np.array(slope), 1e-13)


def test_operations_of_derivatives() -> None:
    """Of 108 derivatives, without friction and with it. Times are the benchmark's."""
    m = model("pedrammehr")
    for friction, most in ((False, 11_700), (True, 14_600)):
        kernel = derivative_functions(m)._kernel("inverse_dynamics", MOTION, (), friction)[1]
        assert kernel.operations <= most


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("staicu",)))
def test_casadi_functions_are_the_model(name: str) -> None:
    """Symbols in and out, the robot's numbers inside."""
    m, (pose, twist, acceleration, wrench) = model(name), states(name)
    function = m.casadi("inverse_dynamics")
    assert isinstance(function, ca.Function)
    force, quality = function(pose[0].ravel(), twist[0], acceleration[0], wrench[0])
    wanted = m.inverse_dynamics(pose[0], twist[0], acceleration[0], wrench[0])
    assert np.abs(np.array(force).ravel() - wanted).max() <= 1e-13 * np.abs(wanted).max()
    assert float(quality) > 0
    x = ca.SX.sym("a", 6)
    slope = ca.jacobian(function(pose[0].ravel(), twist[0], x, wrench[0])[0], x)
    got = m.derivatives("inverse_dynamics", pose[0], twist[0], acceleration[0], wrench[0], wrt=("acceleration",))
    numbers = np.array(ca.Function("slope", [x], [slope])(acceleration[0]))
    assert np.abs(got.acceleration - numbers).max() <= 1e-11 * np.abs(numbers).max()


def iterated_with_friction() -> tuple[pp.Model, tuple[Any, ...]]:
    """Delta with one leg that closes by iterating and whose motor has Coulomb friction, and two motions."""
    data = pp.load("delta").model_dump(exclude_unset=True, mode="json")
    data["legs"][0] |= {"closing": "newton"}
    data["legs"][0]["joints"][0] |= {"friction": {"coulomb": 0.02}}
    m = pp.Model(pp.Robot.model_validate(data), friction_width=0.3)
    return m, m.motion(*0.05 * np.random.default_rng(3).normal(size=(3, 2, 3)))


class TestInterpreted:
    """Robots without compiled derivatives, against differences."""

    @pytest.mark.long
    @pytest.mark.parametrize("coupling", ["implicit", "explicit"])
    def test_friction_that_depends_on_reactions(self, coupling: Any) -> None:
        """Smooth over 0.3 m/s: differences do not follow the usual width."""
        m = pp.Model("kim-ryu", friction_width=0.3, friction_coupling=coupling)
        pose, twist, acceleration, wrench = (v[:2] for v in states("kim-ryu"))
        got = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrench, parameters=("platform.mass",))
        f, mass = m.inverse_dynamics, m.parameters("platform.mass")["platform.mass"]
        # loads of slides are sizes of forces, which have a kink at zero: differences must not reach one
        close(got.pose, derivatives(lambda u: f(displaced(pose, u), twist, acceleration, wrench), 6, 1e-4), 1e-8)
        close(got.twist, derivatives(lambda u: f(pose, twist + u, acceleration, wrench), 6, 1e-4), 1e-8)
        close(got.acceleration, derivatives(lambda u: f(pose, twist, acceleration + u, wrench), 6))
        by_mass = derivatives(
            lambda p: f(pose, twist, acceleration, wrench, parameters={"platform.mass": mass + p[0]}), 1, 1e-2
        )
        close(got.parameters, by_mass)
        force = f(pose, twist, acceleration, wrench)
        direct = m.derivatives("direct_dynamics", pose, twist, force, wrench)
        if coupling == "explicit":  # loads without friction are not the same in both
            return
        # a force that changes with the acceleration it makes
        close(direct.force @ got.acceleration, np.broadcast_to(np.eye(6), (2, 6, 6)))
        close(direct.pose, -direct.force @ got.pose, 1e-8)

    @pytest.mark.long
    def test_friction_of_a_leg_that_closes_by_iterating(self) -> None:
        """Neither the closing nor the loads of friction are differentiated through their iterations."""
        m, (pose, twist, acceleration) = iterated_with_friction()
        assert m.kernels.mechanism.implicit_legs == [0]
        got = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrt=("pose", "twist"))
        basis, f = m.mobility.basis, m.inverse_dynamics
        close(got.pose @ basis, derivatives(lambda u: f(displaced(pose, basis @ u), twist, acceleration), 3))
        close(got.twist @ basis, derivatives(lambda u: f(pose, twist + basis @ u, acceleration), 3))

    @pytest.mark.long
    def test_derivatives_by_friction_are_those_of_identification(self) -> None:
        """Which has equations of its own for them."""
        m, motion = iterated_with_friction()
        path, linear = "legs.0.joints.0.friction.coulomb", LinearModel(m)
        which = tuple(k for k, number in enumerate(linear.numbers) if number.path == path)
        found = linear.derivatives(MotionRows(*motion), linear.values, which)
        close(m.derivatives("inverse_dynamics", *motion, wrt=(), parameters=(path,)).parameters, found, 1e-12)

    def test_more_actuators_than_dof(self) -> None:
        """Least-norm forces: d(force) has a part along what holds the platform still."""
        m, draw = model("planar-4-rrr"), np.random.default_rng(5)
        pose, twist, acceleration = m.motion(*0.01 * draw.normal(size=(3, 2, 3)))
        wrench = draw.normal(size=(2, 6))
        weights = np.array([1.0, 2.0, 3.0, 0.5])
        given = {"weights": weights, "preload": np.array([1.0, 0.0, -2.0, 3.0])}
        got = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrench, **given)
        share = pp.model.Distribution(**given)
        basis, f = m.mobility.basis, lambda *a: m.inverse_dynamics(*a, distribution=share)
        close(got.pose @ basis, derivatives(lambda u: f(displaced(pose, basis @ u), twist, acceleration, wrench), 3))
        close(got.twist @ basis, derivatives(lambda u: f(pose, twist + basis @ u, acceleration, wrench), 3))
        direct = m.derivatives("direct_dynamics", pose, twist, f(pose, twist, acceleration, wrench), wrench)
        close(direct.force @ got.acceleration @ basis, np.broadcast_to(basis, (2, 6, 3)))

    def test_a_flexible_platform(self) -> None:
        """Accelerations of the frame and of its two modes."""
        m = pp.Model(pp.load("long").on_modes(hexagon_modes(2)))
        draw, (pose, twist, _, _) = np.random.default_rng(2), states("long", 2)
        shape, rate, force = 1e-3 * draw.normal(size=(2, 2)), 0.1 * draw.normal(size=(2, 2)), draw.normal(size=(2, 6))
        wrt = ("pose", "force", "elastic", "elastic_rate")
        at = {"elastic": shape, "elastic_rate": rate}
        got = m.derivatives("direct_dynamics", pose, twist, force, wrt=wrt, **at)

        def f(pose: Any, force: Any, **at: Any) -> Any:
            return np.concatenate(m.direct_dynamics(pose, twist, force, full_output=True, **at), axis=-1)

        close(got.pose, derivatives(lambda u: f(displaced(pose, u), force, **at), 6))
        close(got.force, derivatives(lambda u: f(pose, force + u, **at), 6))
        close(got.elastic, derivatives(lambda u: f(pose, force, elastic=shape + u, elastic_rate=rate), 2, 1e-4), 1e-8)
        close(got.elastic_rate, derivatives(lambda u: f(pose, force, elastic=shape, elastic_rate=rate + u), 2), 1e-8)

    def test_states_without_an_answer_are_marked(self) -> None:
        """As those of the function itself."""
        m = model("planar-4-rrr")
        away = m.robot.home.matrix.copy()
        away[0, 3] += 5.0
        with refused(StateError, "inverse_dynamics"):
            m.derivatives("inverse_dynamics", away, np.zeros(6), np.zeros(6))


def test_what_has_no_derivative_is_refused() -> None:
    """With what to do instead."""
    hexaslide = model("kim-ryu")
    home, still = hexaslide.robot.home.matrix, np.zeros(6)
    with refused(UnknownNameError, "inverse_dynamics"):
        hexaslide.derivatives("inverse_dynamic", home, still, still)
    with refused(UnknownNameError, "acceleration"):
        hexaslide.derivatives("inverse_dynamics", home, still, still, wrt=("accelerations",), friction=False)
    with refused(UnknownNameError, "platform.mass"):
        hexaslide.derivatives("inverse_dynamics", home, still, still, parameters=("platform.mas",), friction=False)


@pytest.mark.parametrize(
    ("name", "friction", "paths"),
    [
        ("staicu", False, ("platform.mass", "legs.*.length", "platform.com")),
        pytest.param("lopes", False, ("platform.mass", "legs.*.length", "platform.com"), marks=pytest.mark.long),
        pytest.param("3-rps", False, ("platform.mass", "legs.1.bodies.piston.com"), marks=pytest.mark.long),
        pytest.param("kim-ryu", True, ("platform.mass", "legs.2.slider_friction.coulomb"), marks=pytest.mark.long),
    ],
)
def test_derivatives_at_designs_are_those_of_robots_made_so(name: str, friction: bool, paths: tuple[str, ...]) -> None:
    """Compiled, of a platform that follows its legs, and interpreted (friction that depends on reactions)."""
    m, (pose, twist, acceleration, wrench) = model(name), states(name, 2)
    if friction:
        twist, acceleration = 0.1 * twist, 0.1 * acceleration
    scale = np.random.default_rng(2).uniform(1.0, 1.05, (2, 1))
    own = m.parameters(*paths)
    numbers = {path: value * scale.reshape(2, 1, *(1,) * value.ndim) for path, value in own.items()}
    given = pose, twist, acceleration, wrench
    got = m.derivatives("inverse_dynamics", *given, friction=friction, parameters=numbers)
    assert got.parameters is not None
    assert got.parameters.shape == (2, 2, len(m.actuators), sum(value.size for value in own.values()))
    for k in range(2):
        other = pp.Model(with_numbers(m.robot, {path: value[k, 0] for path, value in numbers.items()}))
        wanted = other.derivatives("inverse_dynamics", *given, friction=friction, parameters=tuple(own))
        for block, one, two in zip(got._fields, got, wanted, strict=True):
            assert (one is None) == (two is None), block
            if two is not None:
                assert np.abs(one[k] - two).max() < 1e-11 * np.abs(two).max(), block
    only = m.derivatives("inverse_dynamics", *given, friction=friction, parameters=numbers, wrt=("wrench",))
    assert only.parameters is None
    assert np.array_equal(only.wrench, got.wrench)
    assert np.abs(got.wrench[0] - got.wrench[1]).max() > 0 or not any("length" in path for path in paths)


@pytest.mark.long
def test_derivatives_at_designs_by_numbers_that_are_zero_in_the_robot() -> None:
    """A centre of mass at the origin: second moments do not change with it there, and do at the design."""
    m, (pose, twist, acceleration, _) = model("lopes"), states("lopes")
    own, com = m.parameters("platform.com")["platform.com"], np.array([0.05, -0.03, 0.02])
    assert not own.any()
    state = pose, twist, acceleration
    got = m.derivatives("inverse_dynamics", *state, parameters={"platform.com": com}, friction=False)

    def force(shift: Any) -> Any:
        return m.inverse_dynamics(*state, friction=False, parameters={"platform.com": com + shift})

    close(got.parameters, derivatives(force, 3))


def test_designs_of_derivatives_that_cannot_be() -> None:
    m, given = model("lopes"), states("lopes", 2)
    with warned(StateWarning, "1 platform -1", code="design"):
        got = m.derivatives(
            "inverse_dynamics", *given, friction=False, wrt=("wrench",), parameters={"platform.mass": [[9.0], [-1.0]]}
        )
    assert np.isnan(got.wrench[1]).all()
    assert np.isfinite(got.wrench[0]).all()
    with refused(InputError, "parameters (3,) (2,)", code="batch_axes"):
        m.derivatives("inverse_dynamics", *given, friction=False, parameters={"platform.mass": np.ones(3)})
    with refused(InputError, "parameters platform.mass"):
        m.derivatives("inverse_dynamics", *given, friction=False, parameters="platform.mass")


@pytest.mark.long
def test_the_regressor_of_designs_is_that_of_robots_made_so() -> None:
    """Against models of the changed robots, and Y p = force by design; a design that cannot be has no answer."""
    m, at = model("pedrammehr"), states("pedrammehr")[:3]
    robot = m.robot
    bases = np.array([np.multiply(robot.legs[0].platform, factor) for factor in (1.0, 1.1)])
    masses = np.array([1.0, 2.0]) * robot.platform.mass
    given = {"legs.0.platform": bases[:, None], "platform.mass": masses[:, None]}
    found = m.regressor(*at, parameters=given)
    assert found.matrix.shape[:2] == (2, 3)
    force = m.inverse_dynamics(*at, parameters=given)
    terms = found.matrix * found.values[..., None, :]
    assert np.abs(terms.sum(axis=-1) - force).max() <= 1e-13 * np.abs(terms).max()  # rounding of sums that cancel
    legs = (robot.legs[0].model_copy(update={"platform": tuple(bases[1])}), *robot.legs[1:])
    other = pp.Model(robot.model_copy(update={"legs": legs}))
    np.testing.assert_array_equal(found.matrix[1], other.regressor(*at).matrix)
    with warned(UserWarning, "1 platform.mass 0 -1"):
        bad = m.regressor(*at, parameters={"platform.mass": [[masses[0]], [-1.0]]})
    assert np.isfinite(bad.matrix[0]).all()
    assert np.isnan(bad.matrix[1]).all()
