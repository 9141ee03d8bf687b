"""What polypod does with a file: an error that helps, a right answer, or something that must not be.

Accepted robots of the kinds known to :mod:`fuzz.exact` are computed again with fifty digits, those of chain legs by
the constraint engine of the tests; motions are differentiated.
"""

from __future__ import annotations

import io
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import polypod as pp
from polypod.cli.terminal import show_json
from polypod.errors import StateError
from polypod.file_kinds import check
from polypod.model import Model
from support.advice import has_advice
from support.engines.chain_engine import Engine, Motion
from support.robots.random_chains import as_data

from .exact import Exact
from .mutate import Mutant

LONGEST = 20.0
"""Seconds of computing time after which a file counts as hanging."""
LONGEST_MESSAGE = 4000
"""Characters of messages about a file."""
FAULT, FAULT_WITHOUT_LINE, LONG = "error", "error without a line", "error with a long message"
RIGHT, UNCOMPARED, WARNED = "accepted, right", "accepted, not compared", "accepted with a warning"
ABSURD, WRONG, TRACEBACK, HANG = "ABSURD, not warned about", "WRONG", "TRACEBACK", "HANG"
NO_ADVICE, NO_PLACE = "ERROR WITHOUT ADVICE", "ERROR WITHOUT A PLACE"
BAD = (ABSURD, WRONG, TRACEBACK, HANG, LONG, NO_ADVICE, NO_PLACE)


class Verdict(NamedTuple):
    """One of the words above, and why."""

    word: str
    why: str = ""


class _TooLong(BaseException):
    """Not an Exception: nothing may catch it on its way."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(signum: int, frame: Any) -> None:
        raise _TooLong

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def judged(mutant: Mutant, folder: Path, compare: bool = True, as_json: bool = False) -> Verdict:
    """What becomes of a file that is put into ``folder``; with ``compare`` accepted answers are computed again."""
    path = folder / "file.yaml"
    path.write_text(mutant.text, encoding="utf-8", errors="surrogatepass")
    (folder / "table.csv").write_text(mutant.csv, encoding="utf-8")
    try:
        with _limited(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _judged(mutant, path, compare, as_json)
    except _TooLong:
        return Verdict(HANG, mutant.what)
    except Exception:
        return Verdict(TRACEBACK, traceback.format_exc(limit=-3))


def _judged(mutant: Mutant, path: Path, compare: bool, as_json: bool) -> Verdict:
    report = check(str(path))
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        if as_json:
            show_json(report.data())
        else:
            print(*report.warnings, *report.remarks, report.broken, *report.source_lines(), sep="\n")
    if not report.ok:
        longest = max(len(str(fault)) for fault in report.faults)
        if longest > LONGEST_MESSAGE:
            return Verdict(LONG, f"{longest} characters")
        for fault in report.faults:
            if not has_advice(fault.message):
                return Verdict(NO_ADVICE, f"{fault}: {mutant.what}")
            if not fault.field and fault.line is None and "file.yaml" not in report.file:
                return Verdict(NO_PLACE, f"{fault}: {mutant.what}")
        lines = all(fault.line is not None for fault in report.faults)
        return Verdict(FAULT if lines else FAULT_WITHOUT_LINE, str(report.faults[0])[:300])
    raw = next((text for text in ("encountered in", "Warning:") if text in output.getvalue()), "")
    if raw:
        return Verdict(TRACEBACK, f"NumPy's own words: {output.getvalue()[-300:]}")
    if mutant.absurd and report.clean:
        return Verdict(ABSURD, mutant.what)
    warned = WARNED if not report.clean else ""
    if not compare or report.kind != "robot":
        return Verdict(warned or UNCOMPARED)
    error = _difference(Model(str(path)))
    if error is None:
        return Verdict(warned or UNCOMPARED)
    if not error < 1e-8:
        return Verdict(WRONG, f"forces differ by {error:.3g} of the largest: {mutant.what}")
    return Verdict(RIGHT, f"{error:.1e}")


def _difference(model: pp.Model) -> float | None:
    """Largest difference of forces from a separate engine, relative to the largest force; None if none knows it."""
    robot, rng = model.robot, np.random.default_rng(0)
    exact = Exact.knows(robot)
    if not exact and (robot.flexible or any(leg.kind != "chain" for leg in robot.legs)):
        return None
    pose, m, wrench = robot.home.matrix, model.mobility.count, rng.normal(size=6)
    twist, acceleration = rng.normal(size=(2, m))
    if not model.mobility.full:
        _, twist, acceleration = model.motion(np.zeros(m), twist, acceleration)
    try:
        force = model.inverse_dynamics(pose, twist, acceleration, friction=False, wrench=wrench)
    except StateError:
        return None
    wanted = (
        Exact(robot).forces(pose, twist, acceleration, wrench)
        if exact
        else _by_constraints(robot, twist, acceleration, wrench)
    )
    return None if wanted is None else float(np.abs(force - wanted).max() / np.abs(wanted).max())


def _by_constraints(robot: pp.Robot, twist: Any, acceleration: Any, wrench: Any) -> Any:
    """Forces at home by the engine of constraints; None where its own checks say that it lost too many digits."""
    engine = Engine(as_data(robot))
    place = engine.at_home()
    try:
        velocity = engine.velocity(place, engine.chosen @ twist)
        motion = Motion(velocity, engine.acceleration(place, velocity, engine.chosen @ acceleration))
        return engine.inverse_dynamics(place, motion, wrench)
    except (AssertionError, np.linalg.LinAlgError):
        return None
