"""An interrupt is not lost, whatever runs at that moment."""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

from polypod.cli import stopping
from polypod.kernels import kernel, machine, threads
from polypod.simulation import InterruptedWarning, simulate
from support.little_kernels import kernel_of

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGPROF)


@pytest.fixture(autouse=True)
def as_before():
    before = [signal.getsignal(number) for number in SIGNALS]
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


def test_an_interrupt_does_not_wait_for_what_is_done_aside(monkeypatch):
    """LLVM took 3 s of computing for the steps of a simulation and 16 s for those of an excitation, unstoppable."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    go, aside, ended = threading.Event(), threads.BackgroundTask(), []
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        aside(lambda: go.wait(10.0))
    assert aside.busy
    monkeypatch.setattr(machine, "BACKGROUND", aside)
    monkeypatch.setattr(os, "_exit", ended.append)
    stopping.exit_if_compiling(130)  # Python's own end would wait for the thread
    go.set()
    aside._done.wait(10.0)
    stopping.exit_if_compiling(130)
    assert ended == [130]
    assert aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)


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
    with pytest.warns(InterruptedWarning, match="interrupted at t = "):
        result = simulate(model, np.zeros(6), duration=0.01, rate=100.0, step=1e-10, friction=False)
    assert result.time.values[-1] < 0.01
