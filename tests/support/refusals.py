"""Errors and warnings by class, code and the data they name; their wording is free.

``refused(InputError, "step 0.01", code="too_long")`` asks for the class, for the names and numbers as whole words
anywhere in the message, and for attributes of the error. Data are what the caller gave or what is at fault: arguments,
fields, options, legs, paths, numbers, units; never sentences. How messages read is recorded in one place,
``tests/data/messages.md``. In tables of cases, which hold one text each, ``"step 0.01 #too_long"`` stands for the same.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import Result
from pydantic import ValidationError

from polypod.errors import FileError, InputError, PolypodError, StateError, StateWarning

_GENERAL = {Exception, ValueError, TypeError, RuntimeError, PolypodError, InputError, FileError, StateError}
"""Classes that say too little alone: a test that asks for one of them names a code or something of the case too."""
_GENERAL |= {StateWarning, UserWarning, Warning}
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)(?!\.\d)")
_CODE = re.compile(r"#[a-z][a-z_]*")


def names(text: str, *data: object) -> bool:
    """Whether a message names all data: each word of them, whole.

    Examples
    --------
    >>> names("step: got 0.01 s", "step 0.01"), names("step: got 0.012 s", 0.01), names("legs.10: missing", "legs.1")
    (True, False, False)
    """
    return not missing(text, *data)


def missing(text: str, *data: object) -> list[str]:
    """Words of the data that a message does not have."""
    return [word for word in _words(data) if not _has(text, word)]


def _words(data: tuple[object, ...]) -> list[str]:
    return [word for datum in data for word in str(datum).split()]


def _has(text: str, word: str) -> bool:
    """Whether a word stands in a text, not as part of a longer one; a number also in other digits, 0 as 0.0."""
    if _NUMBER.fullmatch(word) and any(float(found) == float(word) for found in _NUMBER.findall(text)):
        return True
    before = r"(?<![\w-])" if re.match(r"[\w-]", word) else ""
    after = r"(?![\w-])" if re.search(r"\w$", word) else ""
    before += r"(?<!\d\.)" if word[0].isdigit() else ""
    after += r"(?!\.\d)" if word[-1].isdigit() else ""
    return re.search(before + re.escape(word) + after, text) is not None


def _lacks(error: BaseException, data: tuple[object, ...], attributes: dict[str, Any]) -> list[str]:
    """What an error or a warning does not name, and attributes that differ."""
    words = [word for word in _words(data) if not _CODE.fullmatch(word)]
    lost = [f"names no {word!r}" for word in missing(str(error), *words)]
    asked = {word[1:] for word in _words(data) if _CODE.fullmatch(word)}
    lost += [f"its codes are {codes(error)}, not {code!r}" for code in asked - codes(error)]
    for name, wanted in attributes.items():
        got = codes(error) if name == "code" else getattr(error, name, None)
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        if not (set(got) & set(allowed) if isinstance(got, (set, tuple)) else got in allowed):
            lost.append(f"{name} is {got!r}, not {wanted!r}")
    return lost


def codes(error: BaseException) -> set[str]:
    """Codes of an error: its own, those of its faults, and those of the checks of a description."""
    found = {getattr(error, "code", "")} | {fault.code for fault in getattr(error, "faults", ())}
    if isinstance(error, ValidationError):
        found |= {getattr(one.get("ctx", {}).get("error"), "code", "") for one in error.errors()}
    return found - {""}


def _enough(kind: Any, data: tuple[object, ...], attributes: dict[str, Any]) -> None:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    told = bool(attributes) or any(str(datum).split() for datum in data)
    assert told or not _GENERAL & set(kinds), f"{kind} alone does not say which error: name a code or what it is about"


@contextmanager
def refused(kind: Any, *data: object, **attributes: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """The block raises an error of this class that names the data and has the attributes.

    An attribute may be one of several (a tuple); of an attribute that is a tuple itself one is enough:
    ``refused(UnknownNameError, near="tanh")``.
    """
    _enough(kind, data, attributes)
    with pytest.raises(kind) as caught:
        yield caught
    lost = _lacks(caught.value, data, attributes)
    assert not lost, f"{type(caught.value).__name__}: {caught.value}\n" + "\n".join(lost)


@contextmanager
def warned(kind: type[Warning], *data: object, **attributes: Any) -> Iterator[pytest.WarningsRecorder]:
    """The block gives a warning of this class that names the data and has the attributes."""
    _enough(kind, data, attributes)
    with pytest.warns(kind) as caught:
        yield caught
    wanted = [one.message for one in caught if issubclass(one.category, kind)]
    tried = [_lacks(one, data, attributes) for one in wanted if isinstance(one, Warning)]
    assert [] in tried, "\n".join(f"{one}: {lost}" for one, lost in zip(wanted, tried, strict=True))
    for one in caught:  # others are for those around
        if not issubclass(one.category, kind):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def failed(result: Result, *data: object, exit_code: int = 2) -> str:
    """The words of a command that ended with an error which names the data, in one line."""
    said = " ".join(result.stderr.split())
    lost = missing(said, *data)
    assert result.exit_code == exit_code, result.output
    assert not lost, f"{said}\nnames no {lost}"
    return said


def says(text: str, *data: object) -> None:
    """Fail if a text that a command printed does not name the data, whole words in any order."""
    lost = missing(" ".join(text.split()), *data)
    assert not lost, f"{text}\nnames no {lost}"
