"""What a run of tests shares: one folder of compiled kernels, code compiled unoptimised, little collecting of
garbage."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

# One process a core: threads of linear algebra would wait for each other. Workers inherit it, and read it at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Where Python is told to keep no bytecode, each interpreter that a test starts would compile the package anew, for
# one or two seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


SAMPLED, SECONDS, WALL = 6, 4.0, 20.0
"""Long tests that run by default, and the time of processor and clock that each may take."""


_IN_SAMPLE = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part 3/8``: the third of eight parts of the tests selected, for long ones in several runs."""
    parser.addoption("--part", metavar="K/N", help="run the K-th of N parts of the tests selected")


def _sampled(config: pytest.Config) -> bool:
    """Whether this is a run of all default tests, of which a sample of the long ones is part."""
    plain = config.getoption("markexpr") == "not long" and not config.getoption("keyword")
    timers = hasattr(signal, "setitimer")  # Windows has none
    return bool(os.environ["POLYPOD_LONG_SAMPLE"]) and plain and timers and config.args == config.getini("testpaths")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The seed with which the same long tests are chosen again."""
    if _sampled(config):
        seed = os.environ["POLYPOD_LONG_SAMPLE"]
        terminalreporter.write_line(f"{SAMPLED} long tests were chosen by POLYPOD_LONG_SAMPLE={seed} (empty: none)")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Some long tests, chosen by a seed, are part of a run of all default ones; of ``--part`` the tests selected.

    By a digest of the seed and their names: tests that come or go leave the choice of the others as it is.
    """
    sampled = []
    if _sampled(config):
        long = [item for item in items if item.get_closest_marker("long")]
        seed = os.environ["POLYPOD_LONG_SAMPLE"]
        sampled = sorted(long, key=lambda item: zlib.crc32(f"{seed} {item.nodeid}".encode()))[:SAMPLED]
        items[:] = [item for item in items if item not in sampled]
    yield  # what is not selected goes
    for item in sampled:
        item.stash[_IN_SAMPLE] = True
        items.append(item)
    if config.getoption("part"):
        k, n = map(int, config.getoption("part").split("/"))
        items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % n == k - 1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A long test of the sample that takes more than its processor time is given up."""
    if _IN_SAMPLE not in item.stash:
        return (yield)

    def stop(*_: Any) -> None:
        pytest.skip(f"a long test of the sample: takes more than {SECONDS:g} s of processor time, or {WALL:g} s")

    clocks = {signal.ITIMER_PROF: (signal.SIGPROF, SECONDS), signal.ITIMER_REAL: (signal.SIGALRM, WALL)}
    before = {number: signal.signal(number, stop) for number, _ in clocks.values()}
    for clock, (_, seconds) in clocks.items():
        signal.setitimer(clock, seconds)
    try:
        return (yield)
    finally:
        for clock, (number, _) in clocks.items():
            signal.setitimer(clock, 0.0)
            signal.signal(number, before[number])


def pytest_configure(config: pytest.Config) -> None:
    """One cache for this run: the workers of pytest-xdist start later and inherit the variable.

    Most tests call a kernel once or twice: code that is compiled in a tenth of the time is enough for them, and
    those of the kernels themselves ask for the code that users get (``as_shipped``). Collecting garbage after
    every few hundred objects takes a fifth of the time that symbols take.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # shells start what runs in the background so; tests that interrupt commands would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("POLYPOD_OPTIMISE", "0")
    os.environ.setdefault("POLYPOD_LONG_SAMPLE", "1")
    gc.set_threshold(300_000, 20, 100)
    if "POLYPOD_CACHE" not in os.environ:
        folder = os.environ["POLYPOD_CACHE"] = tempfile.mkdtemp(prefix="polypod-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.add_cleanup(gc.freeze)  # else pytest and the interpreter go through all that is left, for seconds, to end
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", 0):
        # polypod is imported by those who run tests; who only hands them out starts them two seconds sooner
        config.addinivalue_line("filterwarnings", "ignore::polypod.errors.UnphysicalWarning")
        config.pluginmanager.import_plugin("support.shared_models")
