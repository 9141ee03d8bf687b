"""No other thread is inside a library when a process forks.

A child of ``fork`` has one thread. A lock that another thread held stays locked in the child, which waits for ever when
it needs it. Locks of Python can be taken before a fork; those inside libraries cannot: every call of CasADi, and every
release of one of its objects, lets other threads run while it holds mutexes of its own (one for all sparsity patterns,
one for each pattern), and a fork by such a thread leaves them locked.

Threads leave a library by waiting for Python's interpreter lock. The thread that forks therefore keeps that lock until
all others sleep, and forks without giving it back:

1. A thread that runs Python code and no library holds the interpreter lock: there is none but the one that forks.
2. A thread inside a library runs, or waits for a mutex that another one holds that runs. When all sleep at one instant,
   none is inside: each waits for the interpreter lock, for a lock of Python, for a file or a time. Two looks that find
   all asleep, and no thread switched to in between, have such an instant between them.
3. The interpreter lock is given away only when asked for, and a thread asks when nobody gave it away for the switch
   interval. That is set to ``_INTERVAL`` until the fork is done; a look counts within half of it.

Threads that compute in a library for longer than ``_PATIENCE`` (a solver, linear algebra) are not waited for: what
CasADi does under its mutexes takes microseconds. Linux says what threads do; elsewhere the interpreter lock is kept for
``_PAUSE``, in which a thread leaves such a section unless it gets no processor.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time

_INTERVAL = 0.2
"""Switch interval around a fork, in seconds."""
_PATIENCE = 1.0
"""Longest wait for other threads, in seconds."""
_PAUSE = 0.005
_LINUX = sys.platform == "linux"
_libc = None if sys.platform == "win32" else ctypes.PyDLL(None)
"""C functions that are called with the interpreter lock held, which those of Python's modules give back."""
_normal: list[float] = []


def settle() -> None:
    """Wait until no other thread is inside a library, and keep the interpreter lock; ``resume`` ends it."""
    interval = sys.getswitchinterval()
    _normal.append(interval)
    if _libc is None or threading.active_count() == 1:
        return
    sys.setswitchinterval(_INTERVAL)
    # Threads that wait by the old interval ask for the lock once more, get it, and wait by the new one from then on.
    _libc.usleep(int(1.2e6 * interval))
    time.sleep(1e-6)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        kept_since = time.monotonic()
        while time.monotonic() - kept_since < 0.5 * _INTERVAL:
            first = _others()
            if first is not None and first == _others():
                return
            _libc.usleep(100)
        time.sleep(1e-3)  # the others go on


def resume() -> None:
    """Let threads take turns as before ``settle``."""
    sys.setswitchinterval(_normal.pop())


def _others() -> list[tuple[int, bytes]] | None:
    """All other threads of Python and how often each was switched to; None if one of them runs."""
    assert _libc is not None
    if not _LINUX:
        _libc.usleep(int(1e6 * _PAUSE))
        return []
    own, seen = threading.get_native_id(), []
    buffer = ctypes.create_string_buffer(4096)
    for thread in list(threading._active.values()):  # type: ignore[attr-defined]  # enumerate() may give the lock back
        if thread.native_id in (own, None):
            continue
        file = _libc.open(b"/proc/self/task/%d/status" % thread.native_id, os.O_RDONLY | os.O_CLOEXEC)
        if file < 0:
            continue  # it has ended
        length = _libc.read(file, buffer, ctypes.sizeof(buffer))
        _libc.close(file)
        text = buffer.raw[: max(length, 0)]
        state = text.partition(b"\nState:\t")[2][:1]
        if state in (b"R", b"D"):
            return None
        seen.append((thread.native_id, text.partition(b"ctxt_switches:")[2]))
    return seen
