"""Model functions for other programs: one file and one line in :data:`EXPORTS` for each kind of program."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..model import Model
from .c import c_files, export_c
from .js import export_js, js_files, js_function


class Export(NamedTuple):
    """Files by name of a model function, for ``(model, function, friction)``; what they are; what to do with them."""

    files: Callable[[Model, str, bool], dict[str, str]]
    about: str
    hint: str


EXPORTS = {
    "c": Export(
        c_files,
        "A self-contained C99 file and header of a model function; needs only the C mathematics library.",
        "The header says what goes in and out. Compile with: cc -std=c99 -O2 main.c {source} -lm",
    ),
    "js": Export(
        js_files,
        "A self-contained JavaScript module of a model function, for browsers and Node.js.",
        "The comment on top of {source} says what goes in and out, and has an example.",
    ),
}
"""Kinds of export by name. The last file is the one that a hint calls ``source``."""

__all__ = ["EXPORTS", "Export", "c_files", "export_c", "export_js", "js_files", "js_function"]
