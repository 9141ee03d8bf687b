"""An interrupt is not lost, whatever runs at that moment."""

from __future__ import annotations

import os
import signal
import time

import casadi as ca
import pytest

from polypod.cli import stopping

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


@pytest.fixture(autouse=True)
def as_before():
    before = [signal.getsignal(number) for number in SIGNALS]
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
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
