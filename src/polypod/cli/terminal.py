"""Output of commands: tables and JSON on stdout; notes, progress and errors on stderr; exit code 0 or 2.

Texts of users are quoted as they are: markup is escaped, and ``:x:`` stays what it is (``emoji=False``).
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

from ..errors import PolypodError, UnphysicalWarning

if TYPE_CHECKING:
    from rich.console import Console

    from ..results.verdict import Verdict
    from ..tables import Table

Arguments = ParamSpec("Arguments")
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


def report_errors(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Decorator of a command: errors end it with a sentence, not a traceback, and warnings are notes, each once."""

    @wraps(command)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with warnings.catch_warnings():
            once = cache(note)
            warnings.showwarning = lambda message, *rest, **more: once(_first_part(message))
            warnings.simplefilter("default")
            _show_long_work()
            try:
                command(*args, **kwargs)
            except PolypodError as error:
                fail(str(error))
            except MemoryError as error:
                fail(f"there is not enough memory for what was asked ({error}); ask for less at once")
            except BrokenPipeError:  # the reader (head, less) has seen enough
                sys.stderr.close()
                raise typer.Exit(0) from None
            except OSError as error:  # a disk that is full, a name too long, a place nobody may write
                fail(shortened(f"{error.strerror}: {error.filename}" if error.filename else str(error)))
            except KeyboardInterrupt:
                err().print("interrupted; nothing was left half-written")
                raise typer.Exit(INTERRUPTED) from None

    return wrapped


class _LongWork(logging.Handler):
    """Notes of the library on work that takes long, on a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr.isatty():
            note(record.getMessage())


def _show_long_work() -> None:
    log = logging.getLogger("polypod")
    if not any(isinstance(handler, _LongWork) for handler in log.handlers):
        log.addHandler(_LongWork())
        log.setLevel(logging.INFO)


def shortened(text: str) -> str:
    """A message without the rest of a very long name."""
    return text if len(text) <= 300 else f"{text[:300]}..."


def _first_part(warning: Warning | str) -> str:
    """A warning without the list of a robot's odd bodies, which 'polypod check' and the report give in full."""
    return warning.head if isinstance(warning, UnphysicalWarning) else str(warning)


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


def show_verdict(found: Verdict) -> None:
    """The verdict on a motion: a sentence, green or red, and the worst of each limit."""
    from rich.markup import escape

    style = "yellow" if not found.uses else "bold green" if found.ok else "bold red"
    out().print(f"[{style}]{escape(found.headline)}[/]\n")
    if found.uses:
        show_table(found.table)
        out().print()


def show_json(data: Any) -> None:
    """Data for a program: one JSON document."""
    print(json.dumps(data, indent=2, default=_plain, allow_nan=False))


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
