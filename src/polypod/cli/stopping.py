"""Ctrl-C, SIGTERM and SIGHUP as exceptions that arrive, so that commands end soon and clear what is half-written.

CasADi looks at its arguments by calling back into Python and drops what is raised there: an interrupt at that moment
would be lost and the command run on. There it waits until the call is over. LLVM works in a thread of its own, for
which an interrupted command does not wait.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import PurePath
from types import FrameType
from typing import NoReturn

_ALARM = getattr(signal, "SIGALRM", None)
_WAIT = 0.01  # [s]
_AGAIN = 0.3  # [s]
_pending: BaseException = KeyboardInterrupt()
_received: int | None = None


def install() -> None:
    """Take the signals over for a command; one that is ignored, as by ``nohup``, stays so."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    if _ALARM is not None:
        signal.signal(_ALARM, _stop)


def received() -> int | None:
    """The signal that asked the command to end, if one did."""
    return _received


def leave(code: int) -> NoReturn:
    """End the process now: neither threads that still compile nor what other packages do at the end is waited for."""
    if _ALARM is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a reader that has gone
            stream.flush()
    os._exit(code)


def _stop(number: int, frame: FrameType | None) -> None:
    global _pending, _received
    if number != _ALARM:
        _received = number
        _pending = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
    if _ALARM is not None and _within_casadi(frame):
        signal.setitimer(signal.ITIMER_REAL, _WAIT)
        return
    if _ALARM is not None and _received != signal.SIGINT:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        if number == _ALARM and _under_way():
            return
    raise _pending


def _under_way() -> bool:
    """Whether the exception has arrived and what was begun is being cleared: then it must not come again."""
    error = sys.exc_info()[1]
    while error is not None and error is not _pending:
        error = error.__context__
    return error is not None


def _within_casadi(frame: FrameType | None) -> bool:
    """Whether CasADi was called by polypod, or by a program, and has not come back yet."""
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("polypod."):
        if PurePath(frame.f_code.co_filename).parent.name == "casadi":
            return True
        frame = frame.f_back
    return False
