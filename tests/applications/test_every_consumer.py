"""Every consumer obeys every kind of element and coupling, or refuses it by name.

The truth is one line of mechanics: of small machines whose mass matrix M and weight w are constant,
R^T f = M a + w - Q(x, v), with the rates of the drives q' = R v and the force Q of the element along the coordinates.
"""

from __future__ import annotations

import inspect
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polypod as pp
from polypod.analysis import bound_motion, linearise, natural_modes
from polypod.arrays import Array
from polypod.couplings import Coupling
from polypod.description import Drive
from polypod.design import Candidate, prepare, run, select_drives
from polypod.elements import Element
from polypod.errors import InputError, StateError
from polypod.exchange import import_robot
from polypod.export import export_c, export_js, export_mjcf, export_sdf, export_st, export_urdf
from polypod.fastest import Limits, fastest
from polypod.formulations import FORMULATIONS
from polypod.motion import loads_motion, make_task
from support.refusals import names
from support.structured_text import Source
from test_export_c import call, compiled, needs_compiler

ROUNDING = 1e-11
"""Relative: other sums, and a ratio of a thousand in between."""
NAME = "halyard"
"""Of the element or coupling; no other word has it in it."""
MASS, GRAVITY, HOME = 2.0, 9.81, 0.3
SLIDE = """
name: slide
dof: [z]
home: {position: [0, 0, 0.3]}
platform: {mass: 2, inertia: [0.01, 0.01, 0.01]}
legs:
  - {kind: chain, name: leg, bodies: {}, joints: [{name: slide, kind: prismatic, between: [base, platform],
     axis: [0, 0, 1], at: [0, 0, 0.3], actuated: true}]}
elements:
  - ELEMENT
"""
LIFT = """
name: lift
home: {position: [0, 0, 0.3]}
platform: {mass: 2, inertia: [0.01, 0.01, 0.01]}
dof: [z]
legs:
- name: leg
  kind: chain
  bodies: {spindle: {mass: 1, com: [0, 0, 0.2], inertia: [0.01, 0.01, 0.003]}}
  joints:
  - {name: motor, kind: revolute, between: [base, spindle], at: [0, 0, 0], axis: [0, 0, 1], actuated: true}
  - {name: guide, kind: prismatic, between: [base, platform], at: [0, 0, 0.3], axis: [0, 0, 1]}
couplings:
- COUPLING
"""
TABLE = """
name: table
home: {position: [0, 0, 0.3]}
platform: {mass: 2, inertia: [0.05, 0.05, 0.04]}
dof: [leg.arm]
legs:
- name: leg
  kind: chain
  bodies: {rotor: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.01, 0.003]}}
  joints:
  - {name: motor, kind: revolute, between: [base, rotor], at: [0.2, 0, 0], axis: [0, 0, 1], actuated: true}
  - {name: arm, kind: revolute, between: [base, platform], at: [0, 0, 0.3], axis: [0, 0, 1]}
couplings:
- COUPLING
"""
CROSS = """
name: cross
home: {position: [0, 0, 0.3]}
platform: {mass: 2, inertia: [0.01, 0.01, 0.01]}
dof: [x, z]
legs:
- name: leg
  kind: chain
  bodies:
    beam: {mass: 1, com: [0, 0, 0], inertia: [0.01, 0.01, 0.01]}
    left: {mass: 0.5, com: [0, 1, 0], inertia: [0.01, 0.01, 0.01]}
    right: {mass: 0.7, com: [0, 2, 0], inertia: [0.01, 0.01, 0.01]}
  joints:
  - {name: along, kind: prismatic, between: [base, beam], at: [0, 0, 0], axis: [1, 0, 0]}
  - {name: up, kind: prismatic, between: [beam, platform], at: [0, 0, 0.3], axis: [0, 0, 1]}
  - {name: one, kind: prismatic, between: [base, left], at: [0, 1, 0], axis: [0, 1, 0], actuated: true}
  - {name: two, kind: prismatic, between: [base, right], at: [0, 2, 0], axis: [0, 1, 0], actuated: true}
couplings:
- COUPLING
"""


def nothing(x: Array, v: Array) -> Array:
    return np.zeros_like(x)


@dataclass(frozen=True, eq=False)
class Case:
    """A machine, what its numbers are by hand, and what some consumers cannot have of it."""

    kind: str
    name: str
    text: str
    q: Callable[[Array, Array], Array] = nothing
    """Q (n) of the element along the coordinates at x and v."""
    potential: Callable[[float], float] = lambda x: 0.0
    mass: Any = MASS
    weight: Any = MASS * GRAVITY
    rate: Any = 1.0
    """R (n, n)."""
    state: Any = ((0.06,), (0.4,), (1.5,))
    spread: float = 0.0
    """Half width of the forces that hold it at rest: dry friction."""
    reaction: Callable[[Array], float] | None = None
    """Of the coupling, by the accelerations."""
    holds: bool = True
    """Whether the element has a stiffness at the state."""
    named: tuple[str, ...] = ()
    """Formats that have no place for it, and say so by its name."""

    @property
    def size(self) -> int:
        return len(self.state[0])

    def force(self, x: Any, v: Any, a: Any) -> Array:
        matrix = np.atleast_2d(self.rate) * np.ones((self.size, self.size))
        mass, weight = np.broadcast_to(self.mass, (self.size, self.size)), np.broadcast_to(self.weight, self.size)
        need = mass @ np.asarray(a) + weight - self.q(np.asarray(x, float), np.asarray(v, float))
        return np.linalg.solve(matrix.T, need)


def element(kind: str, data: str, q: Any, potential: Any = lambda x: 0.0, **more: Any) -> Case:
    text = f"{{kind: {kind}, name: halyard, {data}}}"
    return Case(kind, NAME, SLIDE.replace("ELEMENT", text), q, potential, **more)


LINE = "between: [base, platform], at: [[0, 0, 0], [0, 0, 0.3]]"
N, J = 2 * pi / 0.02, 0.003
ROTATING = {"state": ((0.2,), (0.4,), (1.5,)), "weight": 0.0}


def coupled(kind: str, text: str, machine: str, turns: float, mass: float, reaction: Any, **more: Any) -> Case:
    return Case(kind, NAME, machine.replace("COUPLING", text), mass=mass + J * turns**2, rate=turns,
                reaction=reaction, holds=False, **more)  # fmt: skip


def lifting(a: Array) -> float:
    return MASS * (GRAVITY + float(a[0]))


CASES = [
    element("spring", "joint: leg.slide, stiffness: 300, damping: 25, rest: 0.02",
            lambda x, v: -300 * (x - 0.02) - 25 * v, lambda x: 150 * (x - 0.02) ** 2),
    element("gas spring", f"{LINE}, force: [[0.2, 60], [0.5, 45]], damping: 8",
            lambda x, v: 60 - 50 * (x + HOME - 0.2) - 8 * v, lambda x: -(60 * x - 25 * ((x + 0.1) ** 2 - 0.01)),
            named=("mjcf", "sdf", "urdf")),
    element("damper", f"{LINE}, damping: 12", lambda x, v: -12 * v, holds=False, named=("sdf", "urdf")),
    element("bushing", "between: [base, platform], at: [0, 0, 0.3], stiffness: [1, 2, 250, 4, 5, 6], "
            "damping: [1, 1, 9, 1, 1, 1]", lambda x, v: -250 * x - 9 * v, lambda x: 125 * x**2,
            named=("mjcf", "sdf", "urdf")),
    element("constant force", f"{LINE}, force: 15, direction: [0, 0, 1]", lambda x, v: 15 + 0 * x, lambda x: -15 * x,
            holds=False, named=("mjcf", "sdf", "urdf")),
    element("stop", "joint: leg.slide, stiffness: 5000, range: [-0.5, 0.05]",
            lambda x, v: -5000 * np.maximum(x - 0.05, 0) - 5000 * np.minimum(x + 0.5, 0),
            lambda x: 2500 * max(x - 0.05, 0) ** 2, named=("mjcf", "sdf", "urdf")),
    element("brake", "joint: leg.slide, force: 7, engaged: true", lambda x, v: -7 * np.sign(v), spread=7.0,
            holds=False, named=("mjcf", "sdf", "urdf")),
    coupled("screw", "{kind: screw, name: halyard, turn: leg.motor, travel: leg.guide, lead: 20 mm}", LIFT, N, MASS,
            lifting, named=("sdf",)),
    coupled("linear", f"{{name: halyard, leg.motor: 1, leg.guide: -{N!r}}}", LIFT, N, MASS,
            lambda a: -lifting(a) / N, named=("sdf",)),
    coupled("gear", "{kind: gear, name: halyard, input: leg.motor, output: leg.arm, ratio: -5}", TABLE, -5, 0.04,
            lambda a: -0.04 * float(a[0]) / -5, named=("sdf",), **ROTATING),
    coupled("belt", "{kind: belt, name: halyard, joints: [leg.motor, leg.arm], radii: [10 mm, 30 mm]}", TABLE, 3, 0.04,
            None, named=("sdf",), **ROTATING),
    coupled("mimic", "{kind: mimic, name: halyard, joint: leg.arm, of: leg.motor, multiplier: 0.25}", TABLE, 4, 0.04,
            None, named=("sdf",), **ROTATING),
    Case("differential", NAME, CROSS.replace("COUPLING", "{kind: differential, name: halyard, "
         "inputs: [leg.one, leg.two], outputs: [leg.along, leg.up], ratio: 1.5}"),
         mass=np.diag([3.0, 2.0]) + 2.25 * np.array([[1.2, -0.2],
         [-0.2, 1.2]]), weight=[0.0, 2 * GRAVITY], rate=1.5 * np.array([[1.0, 1.0], [1.0, -1.0]]),
         state=((0.06, -0.04), (0.4, 0.3), (1.5, -0.7)), holds=False, named=("sdf", "urdf")),
]  # fmt: skip
TASK = """
name: there and back
trajectory: {kind: coordinates, path: {kind: through, times: [0, 0.5, 1], points: POINTS}}
"""


@cache
def model_of(case: Case) -> pp.Model:
    # forces of dry friction jump at rest instead of growing over a width
    return pp.Model(pp.loads(case.text), friction_width=0.0)


def motion_of(case: Case) -> tuple[Any, ...]:
    return tuple(model_of(case).motion(*(np.array(part, float) for part in case.state)))


def task_text(case: Case) -> str:
    points = [[0.0] * case.size, list(case.state[0]), [0.0] * case.size]
    return TASK.replace("POINTS", str(points))


def along(case: Case) -> Any:
    return loads_motion(task_text(case))


def by_hand(case: Case, task: Any) -> Array:
    """Forces (T, n) along the task, whose coordinates are read from its poses."""
    motion, turns = task.motion, case.text.startswith(TABLE[:12])
    if turns:
        x = np.arctan2(motion.pose[:, 1, 0], motion.pose[:, 0, 0])[:, None]
        v, a = motion.twist[:, [5]], motion.acceleration[:, [5]]
    else:
        rows = [2] if case.size == 1 else [0, 2]
        x = motion.pose[:, rows, 3] - [HOME] if case.size == 1 else motion.pose[:, rows, 3] - [0.0, HOME]
        v, a = motion.twist[:, rows], motion.acceleration[:, rows]
    return np.array([case.force(*row) for row in zip(x, v, a, strict=True)])


def close(found: Any, wanted: Any, tolerance: float = ROUNDING) -> None:
    size = max(float(np.abs(wanted).max(initial=0.0)), 1e-3)
    np.testing.assert_allclose(np.squeeze(found), np.squeeze(wanted), rtol=0, atol=tolerance * size)


# ----------------------------------------------------------------------------------------------------------------------
# The consumers: each gets a case and a folder.


def in_formulations(case: Case, folder: Path) -> None:
    for formulation in FORMULATIONS:
        try:
            found = model_of(case).inverse_dynamics(*motion_of(case), formulation=formulation)
        except InputError as error:
            assert formulation == "recursive-matrix"
            assert "recursive-matrix" in str(error)  # noqa: PT017
            continue
        close(found, case.force(*case.state))


def in_reactions(case: Case, folder: Path) -> None:
    """The element's force by its name, the coupling's own reaction, and what the base carries."""
    model, (pose, twist, acceleration) = model_of(case), motion_of(case)
    found = model.reactions(pose, twist, acceleration)
    close(found.force, case.force(*case.state))
    if "elements" in case.text:
        wanted = case.q(np.array(case.state[0]), np.array(case.state[1]))
        if case.kind != "brake":  # which is friction of its joint
            own = found.elements[case.name]
            close(own[2] if case.kind == "bushing" else own, wanted)
        close(found.base[2], -MASS * (GRAVITY + case.state[2][0]))
        close(model.base_wrench(pose, twist, acceleration)[2], -MASS * (GRAVITY + case.state[2][0]))
    elif case.reaction is not None:
        close(found.couplings["leg"][case.name], case.reaction(np.array(case.state[2])))


def in_energies(case: Case, folder: Path) -> None:
    """Kinetic, potential from home on, and what is lost."""
    model, (pose, twist, _) = model_of(case), motion_of(case)
    x, v = (np.array(part) for part in case.state[:2])
    home = model.energy(model.robot.home.matrix, np.zeros(6))
    here = model.energy(pose, twist)
    close(here.kinetic, 0.5 * v @ (np.broadcast_to(case.mass, (case.size,) * 2) @ v))
    level = np.broadcast_to(case.weight, case.size) @ x
    if case.size == 1:
        level = level + case.potential(float(x[0])) - case.potential(0.0)
    close(here.potential - home.potential, level)
    if "elements" in case.text and case.kind != "brake":
        lost = sum(one.loss for one in model.elements(pose, twist).values())
        close(lost, -(case.q(x, v) - case.q(x, 0 * v)) @ v)


def in_direct_dynamics(case: Case, folder: Path) -> None:
    model, (pose, twist, acceleration) = model_of(case), motion_of(case)
    close(model.direct_dynamics(pose, twist, case.force(*case.state)), acceleration, 1e-9)


def in_equations_of_motion(case: Case, folder: Path) -> None:
    model, (pose, twist, _) = model_of(case), motion_of(case)
    x, v = (np.array(part) for part in case.state[:2])
    mass, weight = np.broadcast_to(case.mass, (case.size,) * 2), np.broadcast_to(case.weight, case.size)
    close(model.mass_matrix(pose), mass)
    smooth = case.kind != "brake"
    close(model.gravity(pose), weight - (case.q(x, 0 * v) if smooth else 0.0))
    close(model.bias(pose, twist), weight - case.q(x, v))
    close(model.drift_acceleration(pose, twist), 0.0)


def in_holding_forces(case: Case, folder: Path) -> None:
    model, (pose, *_) = model_of(case), motion_of(case)
    found = model.static_force_range(pose)
    middle = case.force(case.state[0], np.zeros(case.size), np.zeros(case.size))
    close(found.lower, middle - case.spread, 1e-7)
    close(found.upper, middle + case.spread, 1e-7)


def slope(case: Case, of: int) -> Array:
    """dQ/dx or dQ/dv (n, n), by differences of a law that is linear about the state."""
    x, v = (np.array(part) for part in case.state[:2])
    columns = []
    for step in 1e-4 * np.eye(case.size):
        ends = [case.q(x + s * step, v) if of == 0 else case.q(x, v + s * step) for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / 2e-4)
    return np.array(columns).T


def unit_twists(case: Case) -> Array:
    """Twists (6, n) of unit rates."""
    if case.size == 2:
        return np.eye(6)[:, [0, 2]]
    return np.eye(6)[:, [5 if case.text.startswith(TABLE[:12]) else 2]]


def in_derivatives(case: Case, folder: Path) -> None:
    model, state, basis = model_of(case), motion_of(case), unit_twists(case)
    back = np.linalg.inv(np.broadcast_to(case.rate, (case.size,) * 2).T)
    found = model.derivatives("inverse_dynamics", *state, friction=case.kind != "brake")
    by = (found.pose, found.twist, found.acceleration)
    rows = (found.x, found.xdot, found.xddot) if found.pose is None else tuple(one @ basis for one in by)
    close(rows[0], -back @ slope(case, 0), 1e-7)  # differences by hand
    close(rows[1], -back @ slope(case, 1), 1e-7)
    close(rows[2], back @ np.broadcast_to(case.mass, (case.size,) * 2))


def in_linear_models(case: Case, folder: Path) -> None:
    model, (pose, twist, _) = model_of(case), motion_of(case)
    force, n = case.force(case.state[0], case.state[1], np.zeros(case.size)), case.size
    if case.kind == "brake":
        force = force - case.spread * np.sign(np.array(case.state[1]))  # left out with all friction
    found = linearise(model, pose, twist, force, friction=case.kind != "brake")
    inverse = np.linalg.inv(np.broadcast_to(case.mass, (n, n)))
    close(found.a[n:, :n], inverse @ slope(case, 0), 1e-6)
    close(found.a[n:, n:], inverse @ slope(case, 1), 1e-6)
    close(found.b[n:], inverse @ np.broadcast_to(case.rate, (n, n)).T, 1e-9)


def in_stiffness_and_frequencies(case: Case, folder: Path) -> None:
    model, (pose, *_) = model_of(case), motion_of(case)
    rate = np.broadcast_to(case.rate, (case.size,) * 2)
    drive = 1e4 / np.abs(rate).max() ** 2
    whole = rate.T @ (drive * rate) - slope(case, 0)
    square = np.linalg.eigvals(np.linalg.solve(np.broadcast_to(case.mass, (case.size,) * 2), whole)).real
    close(natural_modes(model, pose, stiffness=drive).frequency, np.sqrt(np.sort(square)) / (2 * pi), 1e-7)
    basis = unit_twists(case)
    found = np.asarray(pp.analysis.stiffness(model, pose, drive=drive).matrix)
    close(basis.T @ found @ basis if found.shape == (6, 6) else found, whole, 1e-7)


def in_equilibrium(case: Case, folder: Path) -> None:
    """Where it rests under the forces that hold it at the state; nothing holds what has no stiffness."""
    model, (pose, *_) = model_of(case), motion_of(case)
    still = np.zeros(case.size)
    force = case.force(case.state[0], still, still)
    if case.holds:
        found = model.equilibrium(force, start=pose)
        close(found.pose, pose, 1e-8)
        assert found.stable
        return
    with pytest.raises(StateError):
        model.equilibrium(force, start=pose)


def in_regressor(case: Case, folder: Path) -> None:
    """Y p is the force; dry friction, which it leaves out, is that of the brake."""
    model = model_of(case)
    found = model.regressor(*motion_of(case))
    wanted = case.force(*case.state) - case.spread * np.sign(np.array(case.state[1]))
    close(found.matrix @ found.values, wanted, 1e-9)


def in_the_discrete_step(case: Case, folder: Path) -> None:
    model, (pose, twist, _) = model_of(case), motion_of(case)
    force = case.force(*case.state)
    try:
        found = model.step(pose, twist, force, 1e-3, substeps=4, friction=case.kind != "brake", sensitivities=False)
    except InputError as error:
        assert model.robot.dof  # of robots with generalized coordinates of their own
        assert "generalized" in str(error)  # noqa: PT017
        return
    close(found.twist - twist, 1e-3 * motion_of(case)[2], 1e-2)


def in_casadi(case: Case, folder: Path) -> None:
    model, (pose, twist, acceleration) = model_of(case), motion_of(case)
    found = model.casadi("inverse_dynamics")(np.ravel(pose), twist, acceleration, np.zeros(6))[0]
    close(found, case.force(*case.state))


def in_simulation(case: Case, folder: Path) -> None:
    """Single runs, batches and sampled controllers, against SciPy's integrator."""
    model, (pose, twist, _) = model_of(case), motion_of(case)
    force = case.force(case.state[0], case.state[1], np.array(case.state[2]))
    n = case.size
    rate, mass = np.broadcast_to(case.rate, (n, n)), np.broadcast_to(case.mass, (n, n))

    def change(_: float, y: Array) -> Array:
        push = rate.T @ force - np.broadcast_to(case.weight, n) + case.q(y[:n], y[n:])
        return np.concatenate([y[n:], np.linalg.solve(mass, push)])

    start = np.concatenate([case.state[0], case.state[1]])
    wanted = solve_ivp(change, (0, 0.02), start, rtol=1e-11, atol=1e-13).y[:, -1]
    basis = unit_twists(case)
    single = pp.simulate(model, force, duration=0.02, pose=pose, twist=twist)
    close(basis.T @ single.twist.values[-1], wanted[n:], 1e-7)
    many = pp.simulate(model, np.array([force, force]), duration=0.02, rate=2000.0,
                       pose=np.array([pose, pose]), twist=np.array([twist, twist]))  # fmt: skip
    close(basis.T @ many.twist.values[1, -1], wanted[n:], 1e-6)


def in_bounds_between_samples(case: Case, folder: Path) -> None:
    model = model_of(case)
    motion = along(case)
    try:
        bounds = bound_motion(model, make_task(model, motion, 20.0))
    except InputError as error:  # runs are judged at the samples then, and say so
        assert names(str(error), "bounds available")  # noqa: PT017
        assert case.kind in ("gear", "belt", "mimic", "differential")
        return
    most = np.abs(by_hand(case, make_task(model, motion, 1000.0))).max(axis=0)
    upper = np.asarray(bounds.upper_bound["force"])
    assert (most <= upper * (1 + 1e-9)).all()
    assert (upper <= 1.2 * most).all()


def in_fastest_motions(case: Case, folder: Path) -> None:
    """The forces of what is found, by hand, reach the limit and keep it."""
    model = model_of(case)
    still = np.zeros(case.size)
    hold = max(np.abs(case.force(k * np.array(case.state[0]), still, still)).max() for k in np.linspace(0, 1, 21))
    most = 1.3 * (hold + case.spread) + 2.0 / np.abs(case.rate).max()
    found = fastest(model, along(case), Limits(force=most), points=100)
    task = make_task(model, found.motion_file("own"), 2000.0)
    assert 0.97 * most < np.abs(by_hand(case, task)[5:-5]).max() < 1.03 * most


def in_sweeps(case: Case, folder: Path) -> None:
    """Peaks of a study and of drives from a catalogue, with limits of the file."""
    model = model_of(case)
    (folder / "own.yaml").write_text(case.text)
    (folder / "motion.yaml").write_text(task_text(case))
    text = "{name: halyard, robot: own.yaml, motions: motion.yaml, rate: 50, report: [peak force], "
    text += "vary: [{parameters: platform.mass, values: [1 kg, 2 kg]}]}"
    (folder / "study.yaml").write_text(text)
    prepared, evaluator = prepare(folder / "study.yaml")
    found = run(prepared, evaluator, threads=1)
    wanted = by_hand(case, prepared.tasks[0])
    close(found.peak_force.values[1, 0], np.abs(wanted).max(), 1e-6 if case.kind == "brake" else 1e-9)
    drive = Candidate("own", Drive(max_force=1e6))
    (chosen,) = select_drives(model, [along(case)], [drive], rate=50.0).fits
    close(chosen.force, np.abs(wanted).max(), 1e-6 if case.kind == "brake" else 1e-9)


def in_limits(case: Case, folder: Path) -> None:
    """The judge, on drives that give 80 N or N m."""
    model = model_of(case)
    rated = model.robot_limits.with_bounds("force", np.full(case.size, 80.0))
    from polypod.limits import judge

    found = judge(model, *motion_of(case), limits=rated)
    close(found["force"], np.abs(case.force(*case.state)) / 80.0)


def in_workspaces(case: Case, folder: Path) -> None:
    """Forces at rest on both sides of a bound."""
    from polypod.analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest

    model, still = model_of(case), np.zeros(case.size)
    pose = np.asarray(motion_of(case)[0])[None]
    hold = np.abs(case.force(case.state[0], still, still))
    for part, inside in ((1.001, True), (0.999, False)):
        asked = Requirements(max_force=tuple(np.maximum(part * hold, 1e-9)))
        if hold.min() > 1e-6:
            assert WorkspaceTest(PoseCoordinates(model), asked).poses(pose).inside[0] == inside


@needs_compiler
def in_exported_c(case: Case, folder: Path) -> None:
    name, header, source = export_c(model_of(case), "inverse_dynamics")
    function = compiled(folder, name, header, source)
    outputs = [port.shape for port in model_of(case).kernel("inverse_dynamics", friction=True).outputs]
    given = [np.ascontiguousarray(part) for part in (*motion_of(case), np.zeros(6))]
    close(call(function, given, outputs)[0], case.force(*case.state), 1e-9)


def in_structured_text(case: Case, folder: Path) -> None:
    name, source = export_st(model_of(case), "inverse_dynamics")
    inputs = dict(zip(("pose", "twist", "acceleration"), motion_of(case), strict=True)) | {"wrench": np.zeros(6)}
    close(Source(source).call(name, inputs)["force"], case.force(*case.state), 1e-9)


def in_javascript(case: Case, folder: Path) -> None:
    """The text; that it runs is asked of one robot with elements elsewhere."""
    name, source = export_js(model_of(case), "inverse_dynamics")
    assert f"function {name}" in source


def named_or(case: Case, kind: str, export: Callable[[], str], holds: Callable[[str], None]) -> None:
    """The format names what it has no place for; else it holds it."""
    try:
        text = export()
    except InputError as error:
        assert kind in case.named
        assert case.name in str(error)  # noqa: PT017
        return
    if kind in case.named:
        assert case.name in text, f"{kind} says nothing of {case.kind}"
    else:
        holds(text)


def in_mjcf(case: Case, folder: Path) -> None:
    """MuJoCo's forces of the file at the state, of elements; couplings come back by import."""

    def holds(text: str) -> None:
        if "elements" in case.text:
            import mujoco

            m = mujoco.MjModel.from_xml_string(text)
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
            d = mujoco.MjData(m)
            d.qpos[:], d.qvel[:], d.qacc[:] = (part[0] for part in case.state)
            mujoco.mj_inverse(m, d)
            close(d.qfrc_inverse, case.force(*case.state), 1e-9)
            return
        root = ET.fromstring(text)
        custom = root.find("custom")
        assert custom is not None
        for part in [one for one in custom if one.get("name") in ("polypod_robot", "polypod_digest")]:
            custom.remove(part)
        (folder / "own.xml").write_text(ET.tostring(root, encoding="unicode"))
        back = pp.Model(import_robot(folder / "own.xml").robot)
        close(np.sort(np.abs(back.inverse_dynamics(*motion_of(case)))), np.sort(np.abs(case.force(*case.state))), 1e-6)

    named_or(case, "mjcf", lambda: export_mjcf(model_of(case)), holds)


def in_urdf(case: Case, folder: Path) -> None:
    def holds(text: str) -> None:
        if "elements" in case.text:  # a spring in a joint: its damping, and a remark
            damping = [float(one.get("damping", 0)) for one in ET.fromstring(text).iter("dynamics")]
            assert damping == [25.0]
            assert "spring of leg-slide" in text
        else:
            assert "mimic" in text or "coupling" in text

    named_or(case, "urdf", lambda: export_urdf(model_of(case))[0], holds)


def in_sdf(case: Case, folder: Path) -> None:
    def holds(text: str) -> None:
        found = {one.tag: float(one.text or "nan") for one in ET.fromstring(text).iter() if "spring_" in one.tag}
        assert found == {"spring_reference": 0.02, "spring_stiffness": 300.0}

    named_or(case, "sdf", lambda: export_sdf(model_of(case)), holds)


CONSUMERS = {name.removeprefix("in_"): value for name, value in globals().items() if name.startswith("in_")}


COMPILING = ("formulations", "reactions", "sweeps", "simulation", "fastest_motions", "mjcf", "exported_c")
"""Consumers that compile for a second: of three kinds in quick runs."""
QUICK = ("spring", "brake", "screw")


@pytest.mark.parametrize(
    ("consumer", "case"),
    [
        pytest.param(consumer, case, id=f"{consumer}-{case.kind.replace(' ', '-')}",
                     marks=[pytest.mark.long] if consumer in COMPILING and case.kind not in QUICK else [])
        for consumer in CONSUMERS
        for case in CASES
    ],
)  # fmt: skip
def test_every_consumer_obeys_or_names(consumer: str, case: Case, tmp_path: Path) -> None:
    CONSUMERS[consumer](case, tmp_path)


def test_every_kind_is_asked_of_every_dynamic_function() -> None:
    """A new kind, or a new function of a model that takes forces or motions, must come here."""
    kinds = {kind for kind, one in (*Element.registry.items(), *Coupling.registry.items())
             if one.__module__.startswith("polypod.")}  # fmt: skip
    assert {case.kind for case in CASES} == kinds
    text = Path(__file__).read_text(encoding="utf-8")
    taken = {
        name
        for name in dir(pp.Model)
        if not name.startswith("_")
        and callable(getattr(pp.Model, name))
        and {"force", "wrench", "acceleration", "twist"} & set(inspect.signature(getattr(pp.Model, name)).parameters)
    }
    kinematic = {"rates", "accelerations", "joint_rates", "clearance", "acceleration", "twist", "coordinates"}
    flexible = {"deflection", "static_equilibrium", "steady_shape"}
    for name in taken - kinematic - flexible - {"friction_solutions", "error_bound", "limits"}:
        assert f".{name}(" in text, name
