"""Sweeps and fastest motions: ``python -m bench.sweep`` prints what design studies cost beside the bare kernels.

``--cluster`` also compares one and two worker processes of a Dask cluster; ``--quick`` takes a tenth of the designs.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from bench.states import states
from bench.timing import best_time
from polypod.design import loads_study
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
"""


def _study(designs: int, states_: int) -> tuple[Prepared, object]:
    # the tour lasts 4 s: the rate gives the states
    return prepare(loads_study(_STUDY.format(rate=(states_ - 1) / 4.0, count=designs)))


def sweeps(designs: int, count: int) -> None:
    """Designs x states of inverse dynamics with peak and rms, against the bare kernel on as many threads."""
    prepared, evaluator = _study(designs, count)
    run(*_study(4, count))  # type: ignore[arg-type]  # compiled
    start, used = time.perf_counter(), time.process_time()
    run(prepared, evaluator)  # type: ignore[arg-type]
    taken, used = time.perf_counter() - start, (time.process_time() - used) / cores()
    case = evaluator.load_cases[0]  # type: ignore[attr-defined]
    some = min(designs, 200)
    kernel = evaluator.designs(prepared.values).kernel("inverse_dynamics", False, 0, some)  # type: ignore[attr-defined]
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
            run(prepared, evaluator, scheduler=address)  # type: ignore[arg-type]  # every worker has its kernels
            start = time.perf_counter()
            run(prepared, evaluator, scheduler=address)  # type: ignore[arg-type]
            taken.append(time.perf_counter() - start)
    gain = taken[0] / taken[1]
    print(f"{designs} designs x {count} states: one worker {taken[0]:.2f} s, two {taken[1]:.2f} s: {gain:.2f}")


if __name__ == "__main__":
    fastest_motions()
    one_call()
    sweeps(*((1_000, 10_000) if "--quick" in sys.argv else (10_000, 10_000)))
    if "--cluster" in sys.argv:
        clusters()
