"""What every command gets: errors as sentences, ``--with`` for kinds of one's own, words that the shell completes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from .complete import COMPLETED
from .terminal import report_errors
from .user_modules import load_module

_HELP = "Python file with leg kinds (or motions, controllers) of your own that the files name; may be repeated."
_ROBOTS = {"robot", "file", "robots", "study"}
"""Arguments that name a robot: commands with one take ``--with``."""


def extended(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose words the shell completes and whose errors are told, with ``--with FILE`` if it takes a robot."""
    signature = inspect.signature(command, eval_str=True)
    for name, parameter in signature.parameters.items():
        if name in COMPLETED:
            for info in get_args(parameter.annotation)[1:]:
                info.autocompletion = COMPLETED[name]
    if not _ROBOTS & set(signature.parameters):
        return report_errors(command)
    option = inspect.Parameter(
        "with_", inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[list[Path] | None, typer.Option("--with", metavar="FILE", help=_HELP)],
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
