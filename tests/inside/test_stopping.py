"""An interrupt is not lost, whatever runs at that moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from polypod import cli
from polypod.cli import stopping
from polypod.kernels import kernel, machine, threads
from polypod.simulation import InterruptedWarning, simulate
from support.little_kernels import kernel_of
from support.refusals import warned

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGPROF)


@pytest.fixture(autouse=True)
def as_before():
    before = [signal.getsignal(number) for number in SIGNALS]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, under which tests may run, has it ignored
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)


def wait(seconds: float = 2.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_an_interrupt_while_casadi_looks_at_its_arguments_arrives(number, error, monkeypatch):
    """CasADi asks for sizes by calling Python and drops what is raised there, which the first half shows."""
    size, left = ca.SX.size1, [1]

    def size1(self, *args):
        if left:
            left.clear()
            os.kill(os.getpid(), number)
        return size(self, *args)

    def raises(*_: object) -> None:
        raise error

    x = ca.SX.sym("x", 3)
    monkeypatch.setattr(ca.SX, "size1", size1)
    signal.signal(number, raises)
    assert ca.cross(x, x).numel() == 3
    assert not left  # the signal came, its exception did not
    left.append(1)
    stopping.install()
    with pytest.raises(error):  # noqa: PT012
        ca.cross(x, x)
        wait()
    assert not left


def test_an_interrupt_elsewhere_comes_at_once_and_ignored_signals_stay_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
    stopping.install()
    os.kill(os.getpid(), signal.SIGHUP)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_does_not_wait_for_what_is_done_aside():
    """LLVM took 3 s of computing for the steps of a simulation and 16 s for those of an excitation, unstoppable."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    go, aside = threading.Event(), threads.BackgroundTask()
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        aside(lambda: go.wait(10.0))
    assert aside.busy
    go.set()
    aside._done.wait(10.0)
    assert aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)


class Left(BaseException):
    """In the place of the end of the process."""


@pytest.fixture
def ended(monkeypatch):
    """Runs a function as the command line; its exit code, and how long the end took after the signal [s]."""

    def run(number, work):
        def leave(code):
            raise Left(code)

        def app(prog_name):
            work(lambda: begun.append(time.monotonic()) or os.kill(os.getpid(), number))

        begun = []
        monkeypatch.setattr(stopping, "_received", None)
        monkeypatch.setattr(cli, "app", app)
        monkeypatch.setattr(os, "_exit", leave)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(Left) as left:
            cli.main()
        return left.value.args[0], time.monotonic() - begun[0]

    return run


ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDS)
def test_a_command_ends_with_the_code_of_its_signal_without_pythons_own_end(number, ended):
    assert ended(number, lambda stop: stop())[0] == 128 + number


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_that_became_another_exception_is_no_traceback(number, ended):
    """What is raised while a class is made Python 3.11 makes a RuntimeError of: 'Error calling __set_name__'."""

    def work(stop):
        try:
            stop()
        except BaseException as error:
            raise RuntimeError("Error calling __set_name__") from error

    assert ended(number, work)[0] == 128 + number


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_whose_exception_was_dropped_is_raised_again(number, ended):
    """What is raised in a destructor or a callback of C code is lost, and the command ran to its end."""

    class Dropped:
        def __init__(self, stop):
            self.stop = stop

        def __del__(self):
            self.stop()
            wait(0.01)

    def work(stop):
        Dropped(stop)
        wait(20.0)

    code, seconds = ended(number, work)
    assert code == 128 + number
    assert seconds < 5.0  # 0.3 s on an idle machine


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_is_cleared_after_a_signal_is_not_interrupted_by_it(number, ended):
    cleared = []

    def work(stop):
        try:
            stop()
        finally:
            wait(1.0)  # the signal would be raised again after 0.3 s
            cleared.append(True)

    assert ended(number, work)[0] == 128 + number
    assert cleared == [True]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_polypod_is_imported_gives_its_exit_code(number, tmp_path):
    """The import of the command line takes a third of a second, in which SIGTERM killed (exit code -15)."""
    (tmp_path / "typer.py").write_text(f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(20)\n")
    folder = Path(cli.__file__).parents[2]
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(folder)])}
    done = subprocess.run([sys.executable, "-m", "polypod", "list"], env={**os.environ, **paths}, check=False)
    assert done.returncode == 128 + number


def test_compiling_is_done_aside(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYPOD_CACHE", str(tmp_path))
    seen, emit = [], machine.llvm.TargetMachine.emit_object
    note = lambda self, module: seen.append(threading.current_thread()) or emit(self, module)  # noqa: E731
    monkeypatch.setattr(machine.llvm.TargetMachine, "emit_object", note)
    assert kernel_of(lambda x: 3.0625 * x, (1,))(np.ones((1, 1))) == 3.0625
    assert seen
    assert threading.main_thread() not in seen


def test_an_interrupt_comes_between_the_parts_of_a_long_call(monkeypatch):
    monkeypatch.setattr(kernel, "OPERATIONS_PER_BLOCK", 100)
    parts, together = [], kernel.run_in_threads
    count = lambda function, blocks, *rest: parts.append(len(blocks)) or together(function, blocks, *rest)  # noqa: E731
    monkeypatch.setattr(kernel, "run_in_threads", count)
    doubled = kernel_of(lambda x: ca.sin(x) + x, (1,))
    x = np.linspace(0.0, 1.0, 1000)[:, None]
    assert np.array_equal(doubled(x, threads=1), doubled(x, threads=3))
    assert np.allclose(doubled(x), np.sin(x) + x, rtol=1e-15, atol=0)
    assert min(parts) >= 10


def test_what_other_threads_still_use_outlives_an_interrupt(monkeypatch):
    """An interrupted call gave its arrays back while other threads wrote to them."""
    pool = ThreadPoolExecutor(1)
    monkeypatch.setattr(threads, "_pool", lambda: pool)
    kept, go, started, calls = np.ones(3), threading.Event(), threading.Event(), []
    alive = weakref.ref(kept)

    def work(address):
        calls.append(address)
        if threading.current_thread() is threading.main_thread():
            started.wait(10.0)
            raise KeyboardInterrupt
        started.set()
        go.wait(10.0)

    with pytest.raises(KeyboardInterrupt):
        threads.run_in_threads(work, [array("q", [k]) for k in range(20)], 2, kept)
    del kept
    assert alive() is not None
    assert len(calls) == 2  # the rest is not begun
    go.set()
    pool.shutdown()


def test_an_interrupt_comes_between_very_many_steps_of_a_simulation(model_of):
    """1e8 steps a sample were one call of the kernel, during which Ctrl-C was not heard."""
    model = model_of("kim-ryu")
    simulate(model, np.zeros(6), duration=0.01, rate=100.0, friction=False)  # compiled
    # after so much time of the processor: on a busy machine real time may pass before the first step
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, 0.3)
    with warned(InterruptedWarning):
        result = simulate(model, np.zeros(6), duration=0.01, rate=100.0, step=1e-10, friction=False)
    assert result.time.values[-1] < 0.01
