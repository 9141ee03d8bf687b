"""Sweeps and fastest motions: ``python -m bench.sweep`` prints what design studies cost beside the bare kernels.

``--cluster`` also compares one and two worker processes of a Dask cluster; ``--quick`` takes a tenth of the designs.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

from bench.states import states
from bench.timing import best_time
from polypod.design import Evaluator, loads_study
from polypod.design.prepared import Prepared, prepare
from polypod.design.sweep import run
from polypod.fastest import Limits, fastest, prepare_grid
from polypod.kernels.threads import cores
from polypod.model import Model

_STUDY = """
name: sizes
robot: hexapod
rate: {rate}
friction: false
vary:
  - {{parameters: legs.*.base, pattern: radius, range: [0.28, 0.34], name: base radius}}
  - {{parameters: legs.*.base, pattern: angle, range: [5 deg, 40 deg], name: base angle}}
  - {{parameters: platform.mass, range: [10, 60]}}
sample: {{method: latin, count: {count}}}
report: [peak force, rms force]
robot_limits: {judged}
"""
_RATED = {
    "legs.*.rms_force": 500.0, "legs.*.max_acceleration": 10.0, "legs.*.max_power": 100.0, "legs.*.max_stroke": 0.15,
    "legs.*.force_speed": [[0, 1000], [0.1, 1000], [0.25, 500]], "legs.*.lead": 0.005, "legs.*.rotor_inertia": 1e-5,
    "legs.*.max_motor_torque": 2.0, "legs.*.rms_motor_torque": 1.0, "legs.*.max_motor_speed": 400.0,
    "legs.*.efficiency": 0.9,
}  # fmt: skip
"""Every rating that a drive may have."""


def _study(
    designs: int, states_: int, judged: bool = True, settings: dict[str, Any] | None = None
) -> tuple[Prepared, Evaluator]:
    # the tour lasts 4 s: the rate gives the states
    text = _STUDY.format(rate=(states_ - 1) / 4.0, count=designs, judged=str(judged).lower())
    return prepare(loads_study(text), settings)


def sweeps(designs: int, count: int) -> None:
    """Designs x states of inverse dynamics with peak and rms, against the bare kernel on as many threads."""
    prepared, evaluator = _study(designs, count)
    run(*_study(4, count))  # compiled
    start, used = time.perf_counter(), time.process_time()
    run(prepared, evaluator)
    taken, used = time.perf_counter() - start, (time.process_time() - used) / cores()
    case = evaluator.load_cases[0]
    some = min(designs, 200)
    kernel = evaluator.designs(prepared.values).kernel("inverse_dynamics", False, 0, some)
    rows = case.rows(kernel)
    out = [np.empty((some, len(rows[0]), *signature.shape)) for signature in kernel.outputs]
    # by the processor's time of each core, which other programs do not change much
    bare = best_time(lambda: kernel(*rows, out=out), 5, time.process_time) / cores() / (some * len(rows[0]))
    each = used / (designs * len(rows[0]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{designs} designs x {len(rows[0])} states, {cores()} threads: {taken:.2f} s, {used:.2f} s a core, "
        f"{1e9 * each:.1f} ns a state; "
        f"bare kernel {1e9 * bare:.1f} ns: {bare / each:.2f} of its speed; at most {peak:.0f} MB"
    )


def judged(designs: int, count: int) -> None:
    """What judging limits costs in a sweep, in processor time of one thread: of the file's own, and of every kind."""
    cases: dict[str, tuple[bool, dict[str, Any]]] = {
        "none": (False, {}), "of the file": (True, {}), "of every kind": (True, _RATED),
    }  # fmt: skip
    made = {name: _study(designs, count, *case) for name, case in cases.items()}
    for case in cases.values():
        run(*_study(4, count, *case), threads=1)  # compiled
    taken = {name: best_time(lambda s=one: run(*s, threads=1), 3, time.process_time) for name, one in made.items()}  # type: ignore[misc]
    for name, (_, evaluator) in made.items():
        print(
            f"{designs} designs x {count} states, limits judged {name} ({len(evaluator.judged)} quantities): "
            f"{taken[name]:.2f} s, {taken[name] / taken['none']:.2f} times without"
        )


def one_call(designs: int = 10_000, count: int = 1_000) -> None:
    """The time a state of many designs in one call against that of one design."""
    model = Model("pedrammehr")
    at = states(model, count)
    mass = np.linspace(0.9, 1.1, designs)[:, None] * model.robot.platform.mass
    single = [np.tile(a, (100,) + (1,) * (a.ndim - 1)) for a in at[:3]]
    alone = best_time(lambda: model.inverse_dynamics(*single, friction=False), 5, time.process_time) / (100 * count)
    parameters = {"platform.mass": mass}
    many = best_time(
        lambda: model.inverse_dynamics(*at[:3], friction=False, parameters=parameters), 2, time.process_time
    ) / (designs * count)
    print(
        f"pedrammehr, {designs} designs x {count} states in one call: {1e9 * many:.1f} ns a state, one design "
        f"{1e9 * alone:.1f} ns: {many / alone:.2f}"
    )


def fastest_motions(points: int = 1000) -> None:
    """The fastest motion along the circle of Kim and Ryu on a prepared way, without and with friction."""
    model = Model("kim-ryu")
    circle = prepare_grid(model, "kim-ryu-circle", points)
    prepared = best_time(lambda: prepare_grid(model, "kim-ryu-circle", points), 10, time.process_time)
    for friction, force in ((False, 60.0), (True, 85.0)):
        limits = Limits(force=force)
        found = fastest(model, circle, limits, friction=friction)
        taken = best_time(lambda f=friction, a=limits: fastest(model, circle, a, friction=f), 20, time.process_time)  # type: ignore[misc]
        print(
            f"fastest motion, {points} points, {'with' if friction else 'without'} friction: {found.duration:.4f} s in "
            f"{1e3 * taken:.2f} ms of CPU, {found.iterations} rounds (the way itself {1e3 * prepared:.2f} ms)"
        )


def clusters(designs: int = 2000, count: int = 2000) -> None:
    """One worker process against two."""
    from distributed import LocalCluster

    prepared, evaluator = _study(designs, count)
    taken = []
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            address = cluster.scheduler_address
            run(prepared, evaluator, scheduler=address)  # every worker has its kernels
            start = time.perf_counter()
            run(prepared, evaluator, scheduler=address)
            taken.append(time.perf_counter() - start)
    gain = taken[0] / taken[1]
    print(f"{designs} designs x {count} states: one worker {taken[0]:.2f} s, two {taken[1]:.2f} s: {gain:.2f}")


if __name__ == "__main__":
    fastest_motions()
    one_call()
    judged(1_000, 10_000)
    sweeps(*((1_000, 10_000) if "--quick" in sys.argv else (10_000, 10_000)))
    if "--cluster" in sys.argv:
        clusters()
