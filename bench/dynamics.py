"""Inverse and direct dynamics and forward kinematics beside what users would pick instead.

Answers are compared before times are taken: our forces with Pinocchio's closed loop, other engines' with ours, and
accelerations with those the forces were made from; a difference above ``WRONG`` gets no ratio. Pinocchio's `rnea` on
the open tree alone is a lower bound of what any tree-based inverse dynamics needs; the closed loop is written as well
as a Python user would, and as a C++ user would with the legs' coordinates given. C compiled for this machine
(:mod:`bench.compiled`), numba and JAX (:mod:`bench.generated`) are what an expert would build instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from bench.compiled import rivals as rivals_in_c
from bench.generated import rivals as generated
from bench.rows import Row
from bench.states import States, relative_difference, states
from bench.timing import Timing, on_one_thread, take_turns
from polypod.errors import InputError
from polypod.formulations import FORMULATIONS
from polypod.model import Model

BATCH = 8192
# A soft loop or a loose solver is not the same answer.
WRONG = 1e-6


def measure(robot: str, seconds: float, patient: bool = True) -> Iterator[Row]:
    """All rows of one robot; where ``patient``, those of numba, JAX and C++ too, which compile for a minute each."""
    model = Model(robot)
    at = states(model, BATCH)
    peers = Peers(model, at)
    yield from peers.missing(robot)
    yield from _inverse(model, at, peers, seconds, patient)
    yield from _direct(model, at, peers, seconds)
    yield from _forward(model, at, seconds)


class Peers:
    """Pinocchio and MuJoCo on the same robot and states, as far as they are installed."""

    def __init__(self, model: Model, at: States) -> None:
        self.notes: list[tuple[str, str]] = []
        self.oracle = self.mujoco = None
        try:
            from bench.peers.pinocchio import Oracle

            self.oracle = Oracle(model.robot)
            self.tree = self.oracle.open_tree(at.pose[0], at.twist[0], at.acceleration[0])
        except ImportError:
            self.notes.append(("Pinocchio", "not installed (pip install 'polypod[bench]')"))
            return
        try:
            from bench.peers.mujoco import MujocoRobot

            self.mujoco = MujocoRobot(model.robot)
            self.mujoco.set_state(
                at.pose[0], at.twist[0], at.acceleration[0], self.tree.q[7:], self.tree.v[6:], self.tree.a[6:]
            )
        except ImportError:
            self.notes.append(("MuJoCo", "not installed (pip install 'polypod[bench]')"))
        except ValueError as error:
            self.notes.append(("MuJoCo", str(error)))

    def missing(self, robot: str) -> Iterator[Row]:
        """A row for every peer that is not there."""
        for name, note in self.notes:
            yield Row(f"{robot}", name, note=note)


def _inverse(model: Model, at: States, peers: Peers, seconds: float, patient: bool) -> Iterator[Row]:
    group = f"{model.robot.name}: inverse dynamics"
    pose, twist, acceleration = at.pose, at.twist, at.acceleration
    none = np.zeros((1, 6))
    rivals: dict[str, Callable[[], object]] = {}
    per_call: dict[str, int] = {}
    counts: dict[str, int] = {}
    off: dict[str, float] = {}

    def add(
        name: str, call: Callable[[], object], states_: int, operations: int = 0, difference: float | None = None
    ) -> None:
        rivals[name], per_call[name], counts[name] = call, states_, operations
        if difference is not None:  # a row that was not compared must not look as if it had been
            off[name] = difference

    # Ours are compared with an answer that shares no code with them: Pinocchio's, where it is installed.
    truth = (
        at.force[:1]
        if peers.oracle is None
        else peers.oracle.inverse_dynamics(pose[0], twist[0], acceleration[0])[None]
    )

    one = [np.ascontiguousarray(a[:1]) for a in (pose, twist, acceleration)]
    for formulation in FORMULATIONS:
        try:
            kernel = model.kernel("inverse_dynamics", False, formulation)
        except InputError as error:
            yield Row(group, f"kernel, {formulation}", note=str(error))
            continue
        out = [np.empty((BATCH, 6)), np.empty(BATCH)]
        kernel(pose, twist, acceleration, none, out=out, threads=1)
        add(
            f"kernel, {formulation}, 1 thread",
            lambda k=kernel, o=out: k(pose, twist, acceleration, none, out=o, threads=1),  # type: ignore[misc]
            BATCH,
            kernel.operations,
            relative_difference(out[0][:1], truth),
        )
        both = kernel(pose, twist, acceleration, none, threads=2)[0]
        add(
            f"kernel, {formulation}, 2 threads",
            lambda k=kernel, o=out: k(pose, twist, acceleration, none, out=o, threads=2),  # type: ignore[misc]
            BATCH,
            difference=relative_difference(both[:1], truth),
        )
        alone = [np.empty((1, 6)), np.empty(1)]
        bound = kernel.bind(*one, none, out=alone)
        bound()
        add(f"bound kernel, {formulation}, one state", bound, 1, difference=relative_difference(alone[0], truth))
    fixed = Model(model.robot, specialise=True).kernel("inverse_dynamics", False)
    for arrays, size in (([pose, twist, acceleration], BATCH), (one, 1)):
        out = [np.empty((size, 6)), np.empty(size)]
        call = fixed.bind(*arrays, none, out=out)
        call()
        name = f"kernel, numbers built in, {'1 thread' if size > 1 else 'one state'}"
        add(name, call, size, fixed.operations, relative_difference(out[0][:1], truth))
    for name, bound in generated(model, "inverse_dynamics") if patient else ():
        for arrays, size in (([pose, twist, acceleration], BATCH), (one, 1)):
            call = bound([*arrays, none])
            label = f"{name}, {'1 thread' if size > 1 else 'one state'}"
            add(label, call, size, difference=relative_difference(np.asarray(call()[0])[:1], truth))
    for rival in rivals_in_c(model, "inverse_dynamics"):
        many, single = [np.empty((BATCH, 6)), np.empty(BATCH)], [np.empty((1, 6)), np.empty(1)]
        for arrays, out, count in (([pose, twist, acceleration, none], many, BATCH), ([*one, none], single, 1)):
            call = rival.bound(arrays, out)
            call()
            size = "1 thread" if count > 1 else "one state"
            add(f"{rival.name}, {size}", call, count, difference=relative_difference(out[0][:1], truth))
    checked = partial(model.inverse_dynamics, pose, twist, acceleration, friction=False)
    add(
        "checked call, batch, 1 thread",
        lambda: on_one_thread(checked),
        BATCH,
        difference=relative_difference(checked()[:1], truth),
    )
    add("checked call, batch", checked, BATCH, difference=relative_difference(checked()[:1], truth))
    add(
        "checked call, one state",
        lambda: model.inverse_dynamics(pose[0], twist[0], acceleration[0], friction=False),
        1,
        difference=relative_difference(
            model.inverse_dynamics(pose[0], twist[0], acceleration[0], friction=False)[None], truth
        ),
    )
    reference = None
    if peers.oracle is not None:
        import pinocchio as pin

        tree, oracle = peers.tree, peers.oracle
        reference = "Pinocchio rnea, open tree only"
        add(reference, lambda: pin.rnea(tree.model, tree.data, tree.q, tree.v, tree.a), 1)
        mine = oracle.inverse_dynamics(pose[0], twist[0], acceleration[0])
        add(
            "Pinocchio, closed loop in Python",
            lambda: oracle.inverse_dynamics(pose[0], twist[0], acceleration[0]),
            1,
            difference=relative_difference(mine, at.force[0]),
        )
        try:
            from bench.peers.pinocchio.closed_loop import ClosedLoop, MissingError

            if not patient:
                raise MissingError("only of the first robot, not in a quick run: it compiles for minutes")
            loop, found = ClosedLoop(oracle).bound([tree])
            loop()
            add(
                "Pinocchio, closed loop in C++, legs given", loop, 1, difference=relative_difference(found[0], truth[0])
            )
        except MissingError as error:
            yield Row(group, "Pinocchio, closed loop in C++", note=str(error))
    if peers.mujoco is not None:
        import mujoco

        robot = peers.mujoco
        mujoco.mj_inverse(robot.model, robot.data)
        soft = robot.data.qfrc_inverse[robot.drives].copy()
        add(
            "MuJoCo mj_inverse, drive joints only",
            lambda: mujoco.mj_inverse(robot.model, robot.data),
            1,
            difference=relative_difference(soft, at.force[0]),
        )
    yield from _rows(group, take_turns(rivals, seconds), per_call, counts, off, reference)


def _direct(model: Model, at: States, peers: Peers, seconds: float) -> Iterator[Row]:
    group = f"{model.robot.name}: direct dynamics"
    kernel = model.kernel("direct_dynamics", False)
    none = np.zeros((1, 6))
    out = [np.empty((BATCH, 6)), np.empty(BATCH)]
    kernel(at.pose, at.twist, at.force, none, out=out, threads=1)
    checked = partial(model.direct_dynamics, at.pose, at.twist, at.force, friction=False)
    rivals: dict[str, Callable[[], object]] = {
        "kernel, 1 thread": lambda: kernel(at.pose, at.twist, at.force, none, out=out, threads=1),
        "checked call, batch, 1 thread": lambda: on_one_thread(checked),
        "checked call, batch": checked,
    }
    per_call = dict.fromkeys(rivals, BATCH)
    counts, off = (
        {"kernel, 1 thread": kernel.operations},
        {"kernel, 1 thread": relative_difference(out[0], at.acceleration)},
    )
    off |= {name: relative_difference(checked(), at.acceleration) for name in rivals if name.startswith("checked")}
    for rival in rivals_in_c(model, "direct_dynamics"):
        other = [np.empty((BATCH, 6)), np.empty(BATCH)]
        name = f"{rival.name}, 1 thread"
        rivals[name], per_call[name] = rival.bound([at.pose, at.twist, at.force, none], other), BATCH
        rivals[name]()
        off[name] = relative_difference(other[0], at.acceleration)
    reference = None
    if peers.oracle is not None:
        import pinocchio as pin

        models, datas = peers.oracle.contacts()
        tree = peers.tree
        pin.initConstraintDynamics(tree.model, tree.data, models, datas)
        torque = np.zeros(tree.model.nv)
        torque[peers.oracle.drives] = at.force[0]
        settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 10)
        reference = "Pinocchio constraintDynamics"
        rivals[reference] = lambda: pin.constraintDynamics(
            tree.model, tree.data, tree.q, tree.v, torque, models, datas, settings
        )
        per_call[reference] = 1
        a = pin.constraintDynamics(tree.model, tree.data, tree.q, tree.v, torque, models, datas, settings)
        turn, twist = at.pose[0, :3, :3], at.twist[0]
        # Pinocchio's acceleration of a free joint is the derivative of its local twist.
        got = np.r_[turn @ a[:3] + np.cross(twist[3:], twist[:3]), turn @ a[3:6]]
        off[reference] = relative_difference(got, at.acceleration[0])
    if peers.mujoco is not None:
        import mujoco

        robot = peers.mujoco
        robot.data.qfrc_applied[:] = 0.0
        robot.data.qfrc_applied[robot.drives] = at.force[0]
        mujoco.mj_forward(robot.model, robot.data)
        turn = at.pose[0, :3, :3]
        got = np.r_[robot.data.qacc[:3], turn @ robot.data.qacc[3:6]]
        name = "MuJoCo mj_forward (soft loops)"
        rivals[name], per_call[name] = lambda: mujoco.mj_forward(robot.model, robot.data), 1
        off[name] = relative_difference(got, at.acceleration[0])
    yield from _rows(group, take_turns(rivals, seconds), per_call, counts, off, reference)


def _forward(model: Model, at: States, seconds: float) -> Iterator[Row]:
    group = f"{model.robot.name}: forward kinematics"
    kernel = model.kernel("forward_kinematics")
    q = model.inverse_kinematics(at.pose)
    home = model.robot.home.matrix[None]
    found = kernel(q, home, threads=1)
    rivals: dict[str, Callable[[], object]] = {
        "kernel, from home, 1 thread": lambda: kernel(q, home, threads=1),
        "checked call, batch": lambda: model.forward_kinematics(q),
    }
    steps = f"{found[2].mean():.1f} steps on average"
    for row in _rows(group, take_turns(rivals, seconds), dict.fromkeys(rivals, BATCH), {}, {}, None):
        off = relative_difference(found[0], at.pose) if row.name.startswith("kernel") else None
        yield replace(row, operations=kernel.operations, difference=off, note=steps)


def _rows(
    group: str,
    times: dict[str, Timing],
    per_call: dict[str, int],
    counts: dict[str, int],
    off: dict[str, float],
    reference: str | None,
) -> Iterator[Row]:
    base = times[reference].best / per_call[reference] if reference else None
    for name, timing in times.items():
        each = timing.best / per_call[name]
        wrong = off.get(name, 0.0)
        note = f"answer differs by {wrong:.1e}: no ratio" if wrong > WRONG else ""
        ratio = base / each if base and not note else None
        middle = timing.median / per_call[name]
        yield Row(group, name, each, counts.get(name) or None, ratio, wrong if name in off else None, note, middle)
