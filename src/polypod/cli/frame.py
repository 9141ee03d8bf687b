"""The frame of every command: it parses, computes and returns an ``Answer``; the frame does all else.

It adds ``--json`` and, for commands that take a robot, ``--with``; it writes files whole, prints tables, lines and
notes, turns errors into a sentence and an exit code, and names options where the library names arguments.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, get_args

import typer
from typer.models import OptionInfo

from ..errors import FileError, PolypodError, UnphysicalWarning
from .complete import COMPLETED
from .terminal import INTERRUPTED, err, fail, note, out, shortened, show_json, show_long_work, show_table
from .user_modules import load_module

if TYPE_CHECKING:
    from rich.console import Console

    from ..tables import Table


class Styled(NamedTuple):
    """A line that begins in a style: bold, dim, a colour."""

    text: str
    rest: str = ""
    style: str = "bold"


class Digits(NamedTuple):
    """A table whose numbers have so many significant digits."""

    table: Table
    digits: int


Part: TypeAlias = "Table | Digits | Styled | str"
"""What an answer is printed from. Tables have a blank line around them, lines have none."""


@dataclass(frozen=True)
class Target:
    """A file that a command writes, checked before the work is done; an existing one only with ``force``."""

    path: Path
    force: bool = False

    def __post_init__(self) -> None:
        from ..output.atomic import check_target

        check_target(self.path, self.force)

    def write(self, content: bytes | str) -> None:
        """Write it, whole or not at all."""
        from ..output.atomic import atomic_write

        atomic_write(self.path, content.encode() if isinstance(content, str) else content, self.force)

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    parts : tables and lines that are printed, but not with ``--json``
    data : what ``--json`` prints
    notes : sentences for stderr, but not with ``--json``
    files : contents of files that are written before anything is printed
    after : what follows "Wrote FILES" in that line in place of a full stop
    complaints : lines for stderr, but not with ``--json``
    failure : why the command failed though it has an answer: printed last, exit code 2
    code : exit code
    """

    parts: Sequence[Part] = ()
    data: Any = None
    notes: Sequence[str] = ()
    files: Mapping[Target, bytes | str] = field(default_factory=dict)
    after: str = ""
    complaints: Sequence[str | Styled] = ()
    failure: str = ""
    code: int = 0


REGISTERED: dict[str, Registered] = {}
"""Commands whose modules are loaded, by name; of a group "GROUP NAME"."""


class Registered(NamedTuple):
    """A command as Typer takes it, an example of its use, and a line about it if the table of commands has none."""

    function: Callable[..., None]
    example: str
    about: str | None


_ROBOTS = {"robot", "file", "robots", "study"}
"""Arguments that name a robot: commands with one take ``--with``."""
_JSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
_WITH = Annotated[
    list[Path] | None,
    typer.Option(
        "--with", metavar="FILE", help="Python file with your own leg kinds, motions or controllers; repeatable."
    ),
]


def command(
    name: str, example: str, *, about: str | None = None, json: bool = True, without: Sequence[str] = ()
) -> Callable[[Callable[..., Answer | None]], Callable[..., None]]:
    """Make a function with annotated arguments that returns an ``Answer`` the command of a name.

    Parameters
    ----------
    name : as in the table of commands, or "GROUP NAME"
    example : a call, without the word Example
    about : a line for help where the table of commands has none
    json : whether it has ``--json``
    without : arguments that are not offered and keep their defaults
    """

    def made(function: Callable[..., Answer | None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        parameters = [p for p in signature.parameters.values() if p.name not in without]
        for parameter in parameters:
            for info in get_args(parameter.annotation)[1:]:
                info.autocompletion = COMPLETED.get(parameter.name)
        own = {p.name for p in parameters}
        if own & _ROBOTS:
            parameters.append(_option("with_", _WITH, None))
        if json:
            parameters.append(_option("json_", _JSON, False))
        spelled = spellings(parameters)

        @wraps(function)
        def wrapped(*args: Any, with_: Sequence[Path] | None = None, json_: bool = False, **kwargs: Any) -> None:
            with _reported(spelled):
                for path in with_ or ():
                    load_module(path)
                answer = function(*args, **kwargs)
                if answer is not None:
                    _give(answer, json_, spelled)

        wrapped.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=parameters, return_annotation=None
        )
        REGISTERED[name] = Registered(wrapped, f"Example: polypod {example}", about)
        return wrapped

    return made


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _give(answer: Answer, json: bool, spelled: Mapping[str, str]) -> None:
    """Write the files, print, and end with the code of an answer."""
    for target, content in answer.files.items():
        target.write(content)
    if json:
        show_json(_named(answer.data, spelled))
    else:
        parts = list(answer.parts)
        if answer.files:
            written = " and ".join(map(str, answer.files))
            parts.append(f"Wrote {written}{answer.after or '.'}")
        show_parts([_spoken(part, spelled) for part in parts])
        show_parts([_spoken(part, spelled) for part in answer.complaints], err)
        for text in answer.notes:
            note(with_options(text, spelled))
    if answer.failure:
        fail(with_options(answer.failure, spelled))
    if answer.code:
        raise typer.Exit(answer.code)


def _spoken(part: Part, spelled: Mapping[str, str]) -> Part:
    """A part of an answer that names options: a line, or the caption of a table."""
    if isinstance(part, str):
        return with_options(part, spelled)
    if isinstance(part, Styled):
        return part
    if isinstance(part, Digits):
        return part._replace(table=_captioned(part.table, spelled))
    return _captioned(part, spelled)


def _captioned(table: Table, spelled: Mapping[str, str]) -> Table:
    return replace(table, caption=with_options(table.caption, spelled))


def show_parts(parts: Sequence[Part], console: Callable[[], Console] = out) -> None:
    """Print tables and lines, with a blank line around tables."""
    before = None
    for part in parts:
        line = isinstance(part, (str, Styled))
        if before is not None and not (line and before):
            print()
        if isinstance(part, (str, Styled)):
            _show_line(part if isinstance(part, Styled) else Styled("", part), console())
        else:
            show_table(*part if isinstance(part, Digits) else (part,))
        before = line


def _show_line(line: Styled, console: Console) -> None:
    from rich.markup import escape

    styled = f"[{line.style}]{escape(line.text)}[/]" if line.text else ""
    console.print(f"{styled}{escape(line.rest)}")


# -- errors ------------------------------------------------------------------------------------------------------------


@contextmanager
def _reported(spelled: Mapping[str, str]) -> Iterator[None]:
    """Errors end the command with a sentence, not a traceback, and warnings are notes, each once."""
    with warnings.catch_warnings():
        once = cache(note)
        warnings.showwarning = lambda message, *rest, **more: once(with_options(_first_part(message), spelled))
        warnings.simplefilter("default")
        show_long_work()
        try:
            yield
        except FileError as error:
            fail(_instead(str(error), spelled))  # arguments are none of a file's business
        except PolypodError as error:
            fail(with_options(str(error), spelled))
        except MemoryError as error:
            fail(f"not enough memory ({error}); ask for less at a time")
        except BrokenPipeError:  # the reader (head, less) has seen enough
            sys.stderr.close()
            raise typer.Exit(0) from None
        except OSError as error:  # a disk that is full, a name too long, a folder nobody may write
            fail(shortened(f"{error.strerror}: {error.filename}" if error.filename else str(error)))
        except KeyboardInterrupt:
            err().print("interrupted; nothing was left half-written")
            raise typer.Exit(INTERRUPTED) from None


def report_errors(function: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a plain function: errors end it with a sentence, not a traceback, and warnings are notes."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        with _reported({}):
            function(*args, **kwargs)

    return wrapped


def _first_part(warning: Warning | str) -> str:
    """A warning without the list of a robot's odd bodies, which 'polypod check' and the report give in full."""
    return warning.head if isinstance(warning, UnphysicalWarning) else str(warning)


# -- options for arguments ---------------------------------------------------------------------------------------------

_ARGUMENT = re.compile(
    r"(?<![\w.'\"\[{/-])([a-z]\w*)=(?:(True|False)\b|(\[[^\]]*\]|\{[^}]*\})|('[^']*'|[-+]?\d[\w.+-]*\w|\d)|(?![\w'\"]))"
)
_PHRASES = {
    "settings": ("(model.rigid)", "(--set platform.kind=rigid)"),
    "with": ("import its module first", "load its module with --with FILE.py"),
}
"""What a user of Python does, and what one of a command that has the option does instead."""
_SENTENCES = {"notes", "remarks", "warnings", "faults"}
"""Keys of data whose texts are those that are printed."""


def spellings(parameters: Sequence[inspect.Parameter]) -> dict[str, str]:
    """Options of a command by the names of arguments of the library: their own, and those of its Python parameters."""
    by_option: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for parameter in parameters:
        kind, *infos = get_args(parameter.annotation) or (parameter.annotation,)
        for info in infos:
            if isinstance(info, OptionInfo):
                name = parameter.name.strip("_")
                words = (info.default, *(info.param_decls or ()))  # Typer takes the first word for a default
                given = [word.split("/")[0] for word in words if isinstance(word, str) and word.startswith("--")]
                option = given[0] if given else f"--{name.replace('_', '-')}"
                several = ["s"] if "list[" in str(kind) else []  # repeated on the command line, several in Python
                for end in ("", *several):
                    by_option[option.strip("-").replace("-", "_") + end] = by_name[name + end] = option
    return by_option | by_name


def with_options(text: str, spelled: Mapping[str, str]) -> str:
    """A sentence of the library for the command line: ``drive=`` is ``--drive``, ``friction=False`` ``--no-friction``.

    Examples
    --------
    >>> with_options("rate: pass delay=0.01 or hold=['a', 'b']", {n: f"--{n}" for n in ("rate", "delay", "hold")})
    '--rate: pass --delay 0.01 or --hold a --hold b'
    """

    def option(found: re.Match[str]) -> str:
        name, flag, several, value = found.groups()
        if name not in spelled:
            return found[0]
        spelling = spelled[name]
        if flag:
            return spelling if flag == "True" else f"--no-{spelling[2:]}"
        if several:
            values = literal_eval(several)
            texts = [f"{k}={v}" for k, v in values.items()] if isinstance(values, dict) else values
            return " ".join(f"{spelling} {text}" for text in texts)
        return f"{spelling} {value.strip(chr(39))}" if value else spelling

    first, colon, _ = text.partition(": ")
    if colon and first in spelled:
        text = spelled[first] + text[len(first) :]
    return _ARGUMENT.sub(option, _instead(text, spelled))


def _instead(text: str, spelled: Mapping[str, str]) -> str:
    for option, phrases in _PHRASES.items():
        text = text.replace(*phrases) if option in spelled else text
    return text


def _named(data: Any, spelled: Mapping[str, str]) -> Any:
    """Data whose notes name options, as those that are printed."""

    def sentences(value: Any) -> Any:
        if isinstance(value, list):
            return [sentences(one) for one in value]
        if isinstance(value, dict):
            return {key: sentences(one) for key, one in value.items()}
        return with_options(value, spelled) if isinstance(value, str) else value

    if not isinstance(data, dict):
        return data
    return {key: sentences(value) if key in _SENTENCES else value for key, value in data.items()}
