"""Output of commands: tables and JSON on stdout; notes, progress and errors on stderr; exit code 0 or 2.

Texts of users are quoted as they are: markup is escaped, and ``:x:`` stays what it is (``emoji=False``).
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ..tables import Table

Progress = Callable[[str], None]
"""What a command calls with the name of each step before it begins."""
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def out() -> Console:
    """Console of results, a new one each time, since stdout may be redirected. A pipe gets lines of any width."""
    from rich.console import Console  # not at once: 'polypod list' has no use for it

    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """Console of notes, progress and errors."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, emoji=False, soft_wrap=True)


def note(text: str) -> None:
    """Something the user should know, though the command goes on."""
    from rich.markup import escape

    err().print(f"[yellow]note:[/] {escape(text)}")


def fail(text: str) -> NoReturn:
    """End the command: why, on stderr."""
    from rich.markup import escape

    err().print(f"[bold red]error:[/] {escape(text)}")
    raise typer.Exit(2)


def shortened(text: str) -> str:
    """A message without the rest of a very long name."""
    return text if len(text) <= 300 else f"{text[:300]}..."


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Shows what is being done on a terminal, says nothing in a pipe."""
    console = err()
    if not console.is_terminal:
        yield lambda step: None
        return
    with console.status(what) as status:
        yield lambda step: status.update(f"{what}: {step}")


def show_table(table: Table, digits: int = 4) -> None:
    """A table for reading; on a terminal its last column is broken at the right edge, a pipe has none."""
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if _styled() else ("", "", "")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    title, heading, rows, caption = table.lines(width, digits)
    for line in title:
        print(f"{bold}{line}{plain}")
    for line in heading[:-1]:
        print(line)
    with_units = any(column.unit for column in table.columns)
    print(f"{dim}{heading[-1]}{plain}" if with_units else heading[-1])
    for line in rows:
        print(line)
    for line in caption:
        print(f"{dim}{line}{plain}")


def _styled() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_json(data: Any) -> None:
    """Data for a program: one JSON document."""
    print(json.dumps(data, indent=2, default=_plain, allow_nan=False))


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


class _LongWork(logging.Handler):
    """Notes of the library on work that takes long, on a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr.isatty():
            note(record.getMessage())


def show_long_work() -> None:
    """Have the library's notes on long work shown."""
    log = logging.getLogger("polypod")
    if not any(isinstance(handler, _LongWork) for handler in log.handlers):
        log.addHandler(_LongWork())
        log.setLevel(logging.INFO)
