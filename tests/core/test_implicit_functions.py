"""Functions that iterate, differentiated at their solution: in CasADi, and by generalized coordinates and geometry.

Truth are differences of sixth order of the compiled functions, which know nothing of derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, RobotFileError, StateError
from polypod.parameters.design import with_numbers
from support import compare
from support.refusals import refused
from support.robots import machine_chains, small_machines, unusual_chains
from support.states import mostly_long

DATA = Path(__file__).parent.parent / "data" / "machines"
MADE: dict[str, Callable[[int], Any]] = {
    "tripteron": unusual_chains.tripteron,
    "isoglide": small_machines.isoglide,
    "3-cru": small_machines.urs_of_cylinders,
    "h4": unusual_chains.four_arms,
    "quattro": machine_chains.quattro,
    "6-ucu": machine_chains.ucu,
    "exechon": unusual_chains.exechon,
    "3-rsr": small_machines.rsr,
    "wishbones": machine_chains.wishbones,
    "capaman": unusual_chains.capaman,
}
ITERATED = mostly_long(("tripteron", "isoglide", "3-cru", "h4", "quattro", "par4"), ("tripteron",))
PARASITIC = mostly_long(
    ("3-rps", "3-prs", "tricept", "agile-eye", "five-bar", "exechon", "3-rsr", "wishbones", "capaman"), ("3-rps",)
)
DIFFERENCE = 1e-8  # steps of 3e-4 leave 1e-16/3e-4 of rounding, times what second derivatives of loops amplify
_CACHE: dict[str, pp.Model] = {}


def model(name: str) -> pp.Model:
    """One model a robot."""
    if name not in _CACHE:
        if name in MADE:
            robot = pp.Robot.model_validate(MADE[name](1))
        else:
            robot = pp.load(DATA / "par4.yaml") if name == "par4" else pp.load(name)
        _CACHE[name] = pp.Model(robot)
    return _CACHE[name]


def coordinates(m: pp.Model, count: int = 2) -> tuple[Any, Any, Any, Any]:
    """Coordinates near home, their rates and accelerations, and wrenches."""
    draw, k = np.random.default_rng(4), m.mobility.count
    return 0.02 * draw.normal(size=(count, k)), *draw.normal(size=(2, count, k)), draw.normal(size=(count, 6))


def differences(function: Callable[[Any], Any], count: int, step: float = 3e-4) -> Any:
    """Sixth-order central differences of a function of ``count`` numbers, at zero: (..., count)."""
    columns = []
    for unit in np.eye(count):
        a, b, c = ((function(k * step * unit) - function(-k * step * unit)) / step for k in (1, 2, 3))
        columns.append((45 * a - 9 * b + c) / 60)
    return np.stack(columns, axis=-1)


def composed(m: pp.Model, wrench: Any) -> ca.Function:
    """Forces (n) of x, xdot, xddot in one column, in CasADi."""
    k = m.mobility.count
    c = ca.MX.sym("c", 3 * k)
    pose, twist, acceleration = m.casadi("motion")(c[:k], c[k : 2 * k], c[2 * k :])[:3]
    return ca.Function("f", [c], [m.casadi("inverse_dynamics", friction=False)(pose, twist, acceleration, wrench)[0]])


@pytest.mark.parametrize("name", [*ITERATED, *PARASITIC])
def test_casadi_functions_have_derivatives_of_first_and_second_order(name: str) -> None:
    """Forces of generalized coordinates: values, Jacobian and Hessian."""
    m = model(name)
    x, xdot, xddot, wrench = (row[0] for row in coordinates(m))
    function, at, k = composed(m, wrench), np.r_[x, xdot, xddot], m.mobility.count

    def force(change: Any) -> Any:
        c = at + change
        return m.inverse_dynamics(*m.motion(c[:k], c[k : 2 * k], c[2 * k :]), wrench, friction=False)

    compare.close(np.array(function(at)).ravel(), force(0 * at), 1e-12)
    c = ca.MX.sym("c", 3 * k)
    jacobian = ca.Function("jacobian", [c], [ca.jacobian(function(c), c)])
    compare.close(np.array(jacobian(at)), differences(force, 3 * k), DIFFERENCE)
    weight = np.random.default_rng(1).normal(size=len(m.actuators))
    hessian = ca.Function("hessian", [c], [ca.hessian(ca.dot(weight, function(c)), c)[0]])
    slope = differences(lambda change: weight @ np.array(jacobian(at + change)), 3 * k)
    compare.close(np.array(hessian(at)), slope, DIFFERENCE)


@pytest.mark.long
def test_casadi_functions_of_six_degrees_of_dof() -> None:
    """Six iterated legs; derivatives by a pose agree with the compiled ones, which have another way."""
    m, draw = model("6-ucu"), np.random.default_rng(2)
    pose, (twist, acceleration, wrench) = m.robot.home.matrix.copy(), draw.normal(size=(3, 6))
    pose[:3, 3] += 0.01
    function = m.casadi("inverse_dynamics", friction=False)
    p = ca.MX.sym("p", 16)
    jacobian = ca.Function("j", [p], [ca.jacobian(function(p, twist, acceleration, wrench)[0], p)])
    by_numbers = np.array(jacobian(pose.ravel()))
    wanted = m.derivatives("inverse_dynamics", pose, twist, acceleration, wrench, wrt=("pose",), friction=False).pose
    for k, move in enumerate(np.eye(6)):
        change = np.zeros((4, 4))
        change[:3, 3] = move[:3]
        change[:3, :3] = np.cross(move[3:], pose[:3, :3], axisb=0).T
        compare.close(by_numbers @ change.ravel(), wanted[:, k], 1e-11, least=np.abs(wanted).max())


@pytest.mark.long
def test_friction_that_depends_on_reactions_is_a_casadi_function() -> None:
    """A fixed point of the reactions; compiled derivatives solve it by other equations."""
    data = pp.load("delta").model_dump(exclude_unset=True, mode="json")
    data["legs"][0] |= {"closing": "newton"}
    data["legs"][0]["joints"][0] |= {"friction": {"coulomb": 0.02}}
    m = pp.Model(pp.Robot.model_validate(data), friction_width=0.3)
    pose, twist, acceleration = m.motion(*0.05 * np.random.default_rng(3).normal(size=(3, 3)))
    function = m.casadi("inverse_dynamics")
    compare.close(
        np.array(function(pose.ravel(), twist, acceleration, 0)[0]).ravel(),
        m.inverse_dynamics(pose, twist, acceleration),
        1e-12,
    )
    t = ca.MX.sym("t", 6)
    jacobian = ca.Function("j", [t], [ca.jacobian(function(pose.ravel(), t, acceleration, 0)[0], t)])
    wanted = differences(lambda v: m.inverse_dynamics(pose, twist + np.r_[v, 0, 0, 0], acceleration), 3)
    compare.close(np.array(jacobian(twist))[:, :3], wanted, DIFFERENCE)


def test_a_state_without_an_answer_has_none_in_casadi_either() -> None:
    """Newton's iteration goes no further where the compiled one gave up: quality says so, as the kernel's."""
    m = model("tripteron")
    pose = m.robot.home.matrix.copy()
    pose[:3, 3] += 5.0
    found = m.casadi("inverse_dynamics", friction=False)(pose.ravel(), np.zeros(6), np.zeros(6), np.zeros(6))
    assert not float(found[1]) > 1e-7


def test_casadi_functions_that_iterate_can_be_kept_and_mapped() -> None:
    """No Python inside: they are saved as text, and evaluated for many states in one call."""
    m = model("3-rps")
    x, xdot, xddot, _ = coordinates(m, 3)
    function = ca.Function.deserialize(m.casadi("motion").serialize())
    pose = np.array(function.map(3)(x.T, xdot.T, xddot.T)[0]).T.reshape(3, 4, 4)
    compare.close(pose, m.motion(x, xdot, xddot).pose, 1e-14)


@pytest.mark.parametrize("name", [*PARASITIC, *mostly_long(("delta", "planar-3-rrr"), ())])
def test_derivatives_by_generalized_coordinates(name: str) -> None:
    """Inverse and direct dynamics by x, xdot, xddot, at motions of the robot."""
    m = model(name)
    x, xdot, xddot, wrench = coordinates(m)
    k, motion = m.mobility.count, m.motion(x, xdot, xddot)
    got = m.derivatives("inverse_dynamics", *motion, wrench, wrt=("x", "xdot", "xddot", "wrench"), friction=False)

    def force(u: Any) -> Any:
        moved = m.motion(x + u[:k], xdot + u[k : 2 * k], xddot + u[2 * k :])
        return m.inverse_dynamics(*moved, wrench, friction=False)

    wanted = np.split(differences(force, 3 * k), 3, axis=-1)
    for block, by in zip((got.x, got.xdot, got.xddot), wanted, strict=True):
        compare.close(block, by, DIFFERENCE)
    by_wrench = differences(lambda w: m.inverse_dynamics(*motion, wrench + w, friction=False), 6, 1e-2)
    compare.close(got.wrench, by_wrench, DIFFERENCE)
    assert got.pose is None
    forces = m.inverse_dynamics(*motion, wrench, friction=False)
    back = m.derivatives("direct_dynamics", *motion[:2], forces, wrench, wrt=("x", "xdot"), friction=False)
    wanted = np.split(
        differences(
            lambda u: m.direct_dynamics(*m.motion(x + u[:k], xdot + u[k:])[:2], forces, wrench, friction=False), 2 * k
        ),
        2,
        axis=-1,
    )
    for block, by in zip((back.x, back.xdot), wanted, strict=True):
        compare.close(block, by, DIFFERENCE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("3-rps", ("legs.0.joints.2.at", "home.position", "platform.mass")),
        pytest.param("tricept", ("legs.1.joints.2.at", "platform.com"), marks=pytest.mark.long),
        pytest.param("3-rsr", ("legs.1.joints.1.at",), marks=pytest.mark.long),
        pytest.param("five-bar", ("legs.0.joints.1.at",), marks=pytest.mark.long),
    ],
)
def test_derivatives_by_geometry_keep_the_generalized_coordinates(name: str, paths: tuple[str, ...]) -> None:
    """The platform moves on with its legs; against robots made with other numbers."""
    m = model(name)
    x, xdot, xddot, wrench = coordinates(m)
    motion, own = m.motion(x, xdot, xddot), m.parameters(*paths)
    got = m.derivatives("inverse_dynamics", *motion, wrench, wrt=(), parameters=paths, friction=False).parameters
    along = {path: np.random.default_rng(7).normal(size=value.shape) for path, value in own.items()}

    def force(u: Any) -> Any:
        other = pp.Model(with_numbers(m.robot, {path: value + u[0] * along[path] for path, value in own.items()}))
        return other.inverse_dynamics(*other.motion(x, xdot, xddot), wrench, friction=False)

    direction = np.concatenate([move.ravel() for move in along.values()])
    compare.close(got @ direction, differences(force, 1, 1e-3)[..., 0], DIFFERENCE)


@pytest.mark.long
def test_derivatives_at_designs_of_other_geometry() -> None:
    """By generalized coordinates and by geometry, at designs: those of robots made so."""
    m, path = model("3-rps"), "legs.0.joints.2.at"
    x, xdot, xddot, wrench = coordinates(m)
    values = m.parameters(path)[path] + np.array([[[0.0, 0.0, 0.0]], [[0.004, -0.002, 0.003]]])
    motion = m.motion(x, xdot, xddot, parameters={path: values})
    got = m.derivatives("inverse_dynamics", *motion, wrench, friction=False, parameters={path: values})
    for k in range(2):
        other = pp.Model(with_numbers(m.robot, {path: values[k, 0]}))
        state = other.motion(x, xdot, xddot)
        wanted = other.derivatives("inverse_dynamics", *state, wrench, friction=False, parameters=(path,))
        for block in ("x", "xdot", "xddot", "wrench", "parameters"):
            compare.close(getattr(got, block)[k], getattr(wanted, block), 1e-10)


def test_numbers_that_cannot_change_alone_have_no_derivative() -> None:
    """Axes of agile-eye meet in one point: joints may move along their axes alone, as designs do."""
    m, path = model("agile-eye"), "legs.0.joints.0.at"
    motion = m.motion(*(row[0] for row in coordinates(m)[:3]))
    got = m.derivatives("inverse_dynamics", *motion, wrt=(), parameters=(path,), friction=False).parameters
    for k, unit in enumerate(np.eye(3)):
        other = {path: m.parameters(path)[path] + 1e-3 * unit}
        moved = m.motion(*(row[0] for row in coordinates(m)[:3]), parameters=other, errors="nan")
        if np.isnan(moved.pose).any():  # the robot comes apart
            assert np.isnan(got[:, k]).all()
            continue
        force = m.inverse_dynamics(*moved, friction=False, parameters=other, errors="nan")
        assert np.isnan(got[:, k]).all() == np.isnan(force).all()
    assert np.isnan(got).any()


def test_what_is_refused_is_refused_by_name() -> None:
    """With the reason, and what there is instead."""
    m = model("3-rps")
    motion = m.motion(*(row[0] for row in coordinates(m)[:3]))
    with refused(InputError, "pose x xdot xddot"):
        m.derivatives("inverse_dynamics", *motion, wrt=("pose",))
    six = pp.Model("pedrammehr")
    home, still = six.robot.home.matrix, np.zeros(6)
    with refused(InputError, "derivatives x pedrammehr"):
        six.derivatives("inverse_dynamics", home, still, still, wrt=("x",))
    with refused(InputError, "motion pedrammehr"):
        six.casadi("motion")
    with refused(InputError, "conditioning jacobian"):
        six.casadi("conditioning")


def test_ipopt_plans_a_motion_of_a_parasitic_robot_in_its_own_coordinates() -> None:
    """Least effort of 3-RPS from rest to rest over piecewise constant accelerations: less than the straight way's."""
    m, steps, time = model("3-rps"), 8, 0.4
    k, h = m.mobility.count, time / steps
    goal = np.array([0.03, 0.1, -0.05])
    wrench = np.zeros(6)
    force = composed(m, wrench)
    opti = ca.Opti()
    a = opti.variable(k, steps)
    x, v, cost = ca.MX.zeros(k), ca.MX.zeros(k), ca.MX(0)
    for j in range(steps):
        middle, rate = x + v * (h / 2) + a[:, j] * (h**2 / 8), v + a[:, j] * (h / 2)
        cost = cost + h * ca.sumsqr(force(ca.vertcat(middle, rate, a[:, j])))
        x, v = x + v * h + a[:, j] * (h**2 / 2), v + a[:, j] * h
    opti.subject_to(x == goal)
    opti.subject_to(v == 0)
    opti.minimize(1e-3 * cost)
    straight = np.outer(4 * goal / time**2, np.r_[np.ones(steps // 2), -np.ones(steps // 2)])
    opti.set_initial(a, straight)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    found = opti.solve()

    def effort(accelerations: Any) -> tuple[float, Any]:
        """The cost by the compiled functions, and where the motion ends."""
        x, v, total = np.zeros(k), np.zeros(k), 0.0
        for one in accelerations.T:
            motion = m.motion(x + v * h / 2 + one * h**2 / 8, v + one * h / 2, one)
            total += h * float(np.sum(m.inverse_dynamics(*motion, wrench, friction=False) ** 2))
            x, v = x + v * h + one * h**2 / 2, v + one * h
        return total, np.r_[x, v]

    plan = np.array(found.value(a))
    least, end = effort(plan)
    assert found.stats()["success"]
    compare.close(end, np.r_[goal, 0 * goal], 1e-8)
    compare.close(1e3 * found.value(opti.f), least, 1e-10)
    assert least < 0.999 * effort(straight)[0]
    # no change that keeps the ends makes it less
    keep = np.vstack([np.ones(steps), np.arange(steps)[::-1]])
    free = np.linalg.svd(keep)[2][2:]
    gradient = [
        compare.derivative(lambda s, d=d, c=c: effort(plan + s * np.outer(np.eye(k)[c], d))[0], 1e-2)
        for d in free
        for c in range(k)
    ]
    assert np.abs(gradient).max() <= 1e-6 * least / np.abs(plan).max() * 1e2


def test_a_design_that_comes_apart_is_refused_as_such() -> None:
    """A hinge of the agile eye moved off the common point: a robot built so has two degrees of freedom, not three."""
    robot = pp.load("agile-eye")
    model, path = pp.Model(robot), "legs.0.joints.0.at"
    moved = model.parameters(path)[path] + 2e-3 * np.eye(3)[1]
    assert np.isfinite(model.motion([0.02, 0.03, 0.01]).pose).all()
    with refused(StateError, code="overconstrained"):
        model.motion([0.02, 0.03, 0.01], parameters={path: moved})
    with refused(RobotFileError):
        pp.Model(with_numbers(robot, {path: moved}))
