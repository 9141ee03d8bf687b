"""Ctrl-C, SIGTERM and SIGHUP as exceptions that arrive, so that commands end soon and clear what is half-written.

CasADi looks at its arguments by calling back into Python and drops what is raised there: an interrupt at that moment
would be lost and the command run on. There it waits until the call is over. LLVM works in a thread of its own, for
which an interrupted command does not wait.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import PurePath
from types import FrameType

_ALARM = getattr(signal, "SIGALRM", None)
_WAIT = 0.01  # [s]
_pending: BaseException = KeyboardInterrupt()


def install() -> None:
    """Take the signals over for a command; one that is ignored, as by ``nohup``, stays so."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    if _ALARM is not None:
        signal.signal(_ALARM, _stop)


def exit_if_compiling(code: int | str | None) -> None:
    """End the process if a thread still compiles for an interrupted command: Python's own exit would wait for it."""
    machine = sys.modules.get("polypod.kernels.machine")
    if isinstance(code, int) and machine is not None and machine.BACKGROUND.busy:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def clear_pending_interrupt() -> None:
    """Let a command that was interrupted end with its own exit code.

    An interrupt that comes while ``exec`` runs a text, as in the definition of a named tuple, CPython keeps as not
    handled, and ``python -m polypod`` would end by the signal. The next text that runs clears that.
    """
    exec("")


def _stop(number: int, frame: FrameType | None) -> None:
    global _pending
    if number != _ALARM:
        _pending = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
    if _ALARM is not None and _within_casadi(frame):
        signal.setitimer(signal.ITIMER_REAL, _WAIT)
        return
    raise _pending


def _within_casadi(frame: FrameType | None) -> bool:
    """Whether CasADi was called by polypod, or by a program, and has not come back yet."""
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("polypod."):
        if PurePath(frame.f_code.co_filename).parent.name == "casadi":
            return True
        frame = frame.f_back
    return False
