"""What polypod says when it has no answer.

Every error carries the data it speaks of, so a program can act on it as well as a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


class PolypodError(Exception):
    """Base of every error raised by polypod."""


class InputError(PolypodError, ValueError):
    """An argument is not what the function takes: which one, what was got, what is allowed."""


class UnknownNameError(PolypodError, KeyError):
    """A name that is not registered, with what is and what comes near.

    Attributes
    ----------
    name : what was asked for
    known : the names there are
    """

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        near = get_close_matches(str(name).lower(), [k.lower() for k in known], n=3, cutoff=0.5)
        close = [k for k in known if k.lower() in near]
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        super().__init__(f"unknown {what} {name!r}.{hint} Known: {', '.join(known) or 'none'}.")

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where, what was got, what is allowed."""

    field: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{place}{self.field}: {self.message}" if self.field else f"{place}{self.message}"


class FileError(PolypodError, ValueError):
    """A file that cannot be used; ``faults`` lists each reason."""

    what = "file"

    def __init__(self, origin: str, faults: Sequence[Fault]) -> None:
        self.origin, self.faults = origin, tuple(faults)
        super().__init__("\n".join([f"{origin} is not a valid {self.what}:", *(f"  {f}" for f in faults)]))


class RobotFileError(FileError):
    """A robot file or description that cannot be used."""

    what = "robot"


class MotionFileError(FileError):
    """A motion file, or a table it names, that cannot be used."""

    what = "motion"


class StateError(PolypodError, ArithmeticError):
    """States without an answer (out of reach, singular, not converged).

    Attributes
    ----------
    index : positions of the bad states in the flattened batch
    reasons : one sentence for each of them
    result : what the call computed; NaN in the bad states, right in all others
    """

    def __init__(self, message: str, index: Any = (), reasons: Sequence[str] = (), result: Any = None) -> None:
        self.index, self.reasons, self.result = index, tuple(reasons), result
        super().__init__(message)


class UnphysicalWarning(UserWarning):
    """A robot was loaded whose inertia no real body can have (the file opted out of the check)."""


class ImplausibleWarning(UserWarning):
    """Numbers that are allowed but hardly meant, such as a robot of a kilometre (millimetres?)."""


class StateWarning(UserWarning):
    """Some states of a batch have no answer; their rows are NaN."""
