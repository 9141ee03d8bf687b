"""``python -m polypod`` and ``polypod``: the command line."""

from __future__ import annotations

import os
import signal


def run() -> None:
    """Entry point of ``polypod``; a signal while it is still being imported ends it without a traceback."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, lambda number, frame: os._exit(128 + number))
    from .cli import main

    main()


if __name__ == "__main__":
    run()
