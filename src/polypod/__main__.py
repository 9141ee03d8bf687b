"""``python -m polypod`` and ``polypod``: the command line."""

from __future__ import annotations

import sys


def run() -> None:
    """Entry point of ``polypod``; Ctrl-C while it is still being imported ends it without a traceback."""
    try:
        from .cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
