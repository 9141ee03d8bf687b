"""Output of commands: tables and JSON on stdout; notes, progress and errors on stderr; exit code 0 or 2.

Texts of users are quoted as they are: markup is escaped, and ``:x:`` stays what it is (``emoji=False``).
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ..errors import PolypodError, UnphysicalWarning

if TYPE_CHECKING:
    from ..results.tables import Table
    from ..results.verdict import Verdict

Arguments = ParamSpec("Arguments")
Step = Callable[[str], None]
_PIPE_WIDTH = 500  # a pipe has no right edge: no line of a table is broken
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def out() -> Console:
    """Console of results, a new one each time, since stdout may be redirected. A pipe gets lines of any width."""
    return Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """Console of notes, progress and errors."""
    return Console(file=sys.stderr, highlight=False, emoji=False, soft_wrap=True)


def note(text: str) -> None:
    """Something the user should know, though the command goes on."""
    err().print(f"[yellow]note:[/] {escape(text)}")


def fail(text: str) -> NoReturn:
    """End the command: why, on stderr."""
    err().print(f"[bold red]error:[/] {escape(text)}")
    raise typer.Exit(2)


def report_errors(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Decorator of a command: errors end it with a sentence, not a traceback, and warnings are printed as notes."""

    @wraps(command)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *rest, **more: note(_first_part(message))
            warnings.simplefilter("default")
            try:
                command(*args, **kwargs)
            except PolypodError as error:
                fail(str(error))
            except KeyboardInterrupt:
                err().print("interrupted; nothing was left half-written")
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:  # the reader (head, less) has seen enough
                sys.stderr.close()
                raise typer.Exit(0) from None

    return wrapped


def _first_part(warning: Warning | str) -> str:
    """A warning without the list of a robot's odd bodies, which 'polypod check' and the report give in full."""
    return warning.head if isinstance(warning, UnphysicalWarning) else str(warning)


@contextmanager
def working(what: str) -> Iterator[Step]:
    """Shows what is being done on a terminal, says nothing in a pipe."""
    console = err()
    if not console.is_terminal:
        yield lambda step: None
        return
    with console.status(what) as status:
        yield lambda step: status.update(f"{what}: {step}")


def show_table(table: Table) -> None:
    """A table for reading; columns that are all texts are left-aligned."""
    drawn = RichTable(title=escape(table.title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    with_units = any(column.unit for column in table.columns)
    for k, column in enumerate(table.columns):
        numbers = any(isinstance(row[k], float) for row in table.rows)
        # one word a line keeps columns of numbers narrow enough for a terminal of 80
        head = escape(column.name).replace(" ", "\n" if numbers and out().is_terminal else " ")
        head += f"\n[dim]{escape(column.unit)}[/]" if with_units else ""
        justify: Literal["left", "right"] = "right" if numbers else "left"
        drawn.add_column(head, justify=justify, no_wrap=numbers or k == 0, vertical="bottom" if with_units else "top")
    for row in table.texts():
        drawn.add_row(*map(escape, row))
    if out().is_terminal:
        out().print(drawn)
    else:
        text = io.StringIO()
        Console(file=text, width=_PIPE_WIDTH, highlight=False, emoji=False).print(drawn)
        print("\n".join(line.rstrip() for line in text.getvalue().splitlines()))
    if table.caption:
        out().print(escape(table.caption), style="dim")


def show_verdict(found: Verdict) -> None:
    """The verdict on a motion: a sentence, green or red, and the worst of each limit."""
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
