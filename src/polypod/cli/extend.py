"""What every command gets: ``--with`` for leg kinds of one's own, names that the shell completes."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..errors import InputError
from .terminal import report_errors

_HELP = "Python file with leg kinds (or motions, controllers) of your own that the files name; may be repeated."
_ROBOTS = {"robot", "file"}
"""Arguments that name a robot: commands with one take ``--with``."""


def extended(command: Callable[..., None]) -> Callable[..., None]:
    """A command with ``--with FILE`` if it takes a robot, whose names and those of motions are completed."""
    signature = inspect.signature(command, eval_str=True)
    for name, parameter in signature.parameters.items():
        if name in COMPLETED:
            for info in get_args(parameter.annotation)[1:]:
                info.autocompletion = COMPLETED[name]
    if not _ROBOTS & set(signature.parameters):
        return command
    option = inspect.Parameter(
        "with_", inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[list[Path] | None, typer.Option("--with", help=_HELP)],
    )  # fmt: skip

    @report_errors
    @wraps(command)
    def wrapped(*args: Any, with_: list[Path] | None = None, **kwargs: Any) -> None:
        for path in with_ or ():
            load_module(path)
        command(*args, **kwargs)

    parameters = [p for p in signature.parameters.values() if p.name != "with_"]
    wrapped.__signature__ = signature.replace(parameters=[*parameters, option])  # type: ignore[attr-defined]
    return wrapped


def load_module(path: Path) -> None:
    """Run a Python file once, so that the kinds it defines are known."""
    name = f"polypod_with_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        return
    if path.suffix != ".py" or not path.is_file():
        raise InputError(f"--with {path}: a Python file (.py) is needed, and there is none of this name")
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))  # what lies beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        where = getattr(error, "lineno", None) or _line(error, path)
        raise InputError(f"--with {path}: line {where}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))


def _line(error: Exception, path: Path) -> int | str:
    """The last line of the file that an error passed through."""
    found: int | str = "?"
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _names(kind: str, incomplete: str) -> Iterator[tuple[str, str]]:
    """Names of the library and YAML files here that begin as what is typed, each with what it is."""
    from .listed import LISTED

    for entry in LISTED[kind]:
        if entry["name"].startswith(incomplete):
            yield entry["name"], entry["title"]
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() else ():
        if str(path).startswith(incomplete.removeprefix("./")):
            yield str(path), "file"


def complete_robot(incomplete: str) -> list[tuple[str, str]]:
    """Robots for the shell."""
    return list(_names("robots", incomplete))


def complete_motion(incomplete: str) -> list[tuple[str, str]]:
    """Motions for the shell."""
    return list(_names("motions", incomplete))


def complete_either(incomplete: str) -> list[tuple[str, str]]:
    """Robots and motions for the shell."""
    return list(dict([*_names("robots", incomplete), *_names("motions", incomplete)]).items())


COMPLETED = {"robot": complete_robot, "motion": complete_motion, "file": complete_either}
"""What completes an argument, by its name."""
