"""Errors and warnings of polypod.

Every error carries its data, so that a program can act on it as well as a person: its class, the names and numbers of
what it is about and, where one class has several reasons, a short ``code`` that stays the same when the wording of the
message changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

AS_RIGID = "take its platform as rigid (model.rigid)"
"""What to do with a flexible platform where only rigid ones have an answer."""


def short_repr(value: Any) -> str:
    """A value as a message quotes it: ``repr`` cut to 80 characters, ``nothing`` for None."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _readable(text: str, most: int = 2000) -> str:
    """A text that quotes a file, without words of more than 300 characters; its beginning and end if it is long."""
    text = re.sub(r"\S{301,}", lambda word: f"{word[0][:77]}...", text)
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 4 :]}"


_PLAIN = (
    (r"^Value error, ", ""),
    (r"^(?:Input|String|Tuple|List|Dictionary|Value) should (be|have)\b", r"must \1"),
    (r" after validation, not \d+", ""),
    (r", unable to parse string as an? \w+", ""),
    (r"\ba valid (?:tuple|list)\b", "a list"),
    (r"\ba valid string\b", "a text"),
    (r"\ba valid dictionary\b", "a mapping"),
    (r"\ba valid integer\b", "a whole number"),
    (r"\ba valid number\b", "a number"),
)
"""pydantic's wording, and ours."""


def plain(message: str) -> str:
    """A message of pydantic in the words of the others.

    Examples
    --------
    >>> plain("Tuple should have at least 1 item after validation, not 0")
    'must have at least 1 item'
    """
    for pattern, words in _PLAIN:
        message = re.sub(pattern, words, message)
    return message


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """Up to three known names that a misspelt one may stand for, the nearest first; none if none is really near.

    A name is near if its letters agree to 65 % (twice the common ones over both lengths), or if one contains the
    other; and only if it is nearly as near as the nearest. Words for degrees of freedom stand for ``dof``.

    Examples
    --------
    >>> near_names("masss", ["mass", "com"]), near_names("max_force", ["platform_cone", "mass"])
    (['mass'], [])
    >>> near_names("tour", ["kim-ryu-circle", "hexapod-tour"])
    ['hexapod-tour']
    >>> near_names("degrees_of_freedom", ["mass", "dof"])
    ['dof']
    """
    if "freedom" in name.lower() and "dof" in known:
        return ["dof"]
    wanted, alike = name.lower(), {}
    for k in known:
        other = k.lower()
        inside = min(len(wanted), len(other)) >= 3 and (wanted in other or other in wanted)
        alike[k] = max(SequenceMatcher(None, other, wanted[:200]).ratio(), 0.65 if inside else 0.0)
    least = max(0.65, max(alike.values(), default=0.0) - 0.15)
    return [k for k in sorted(alike, key=lambda k: -alike[k]) if alike[k] >= least][:3]


class PolypodError(Exception):
    """Base of every error raised by polypod.

    Attributes
    ----------
    code : str
        Short name of the reason, such as ``"exists"``, ``"singular"`` or ``"flexible"``; empty where the class and
        the names in the message say enough.
    """

    code: str = ""


class InputError(PolypodError, ValueError):
    """An argument is not what the function takes: which one, what was got, what is allowed."""

    def __init__(self, message: str = "", *, code: str = "") -> None:
        super().__init__(message)
        if code:
            self.code = code


class Reason(str):
    """A sentence that says why a state has no answer, with the short ``code`` of the reason.

    Examples
    --------
    >>> Reason("the pose is singular", "singular").code
    'singular'
    """

    code: str

    def __new__(cls, text: str, code: str) -> Reason:
        """The sentence with its code."""
        reason = super().__new__(cls, text)
        reason.code = code
        return reason

    def __reduce__(self) -> tuple[Any, ...]:
        return Reason, (str(self), self.code)


def _code_of(reasons: Sequence[str]) -> str:
    """The code of the first reason that has one."""
    return next((reason.code for reason in reasons if isinstance(reason, Reason)), "")


class MissingPackageError(InputError, ImportError):
    """An optional package is needed and not installed.

    Attributes
    ----------
    package : str
        The package.
    extra : str
        The extra of polypod that installs it.
    """

    def __init__(self, what: str, package: str, extra: str, instead: str = "") -> None:
        self.package, self.extra = package, extra
        super().__init__(f"{what} needs {package}, which is not installed: pip install 'polypod[{extra}]'{instead}")


class KernelSizeError(InputError):
    """A function of so many operations that compiling it would take a quarter of an hour or more.

    Attributes
    ----------
    name : str
        The function.
    operations : int
        Number of its operations.
    limit : int
        Number that is allowed.
    """

    def __init__(self, name: str, operations: int, limit: int, advice: str = "") -> None:
        super().__init__(
            f"{name}: {operations:,} operations would take very long to compile, {limit:,} are allowed; {advice}"
            "set the environment variable POLYPOD_MAX_OPERATIONS to allow more"
        )
        self.name, self.operations, self.limit, self._advice = name, operations, limit, advice

    def __reduce__(self) -> tuple[type[KernelSizeError], tuple[str, int, int, str]]:
        return KernelSizeError, (self.name, self.operations, self.limit, self._advice)


MOST_LISTED, NEAREST = 60, 10
"""Known names that a message lists in full, and how many of them, the nearest, where there are more."""


class UnknownNameError(PolypodError, KeyError):
    """A name that is not known, with those that are and those that are similar.

    Attributes
    ----------
    what : str
        The kind of thing that was asked for.
    name : str
        What was asked for.
    known : sequence of str
        The names there are.
    near : sequence of str
        Those of them that may have been meant.
    """

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        self.near = tuple(near_names(str(name), known))
        hint = f" Did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        listed = f"Known: {', '.join(known) or 'none'}."
        if len(known) > MOST_LISTED:
            nearest = sorted(
                known, key=lambda k: -SequenceMatcher(None, str(k).lower(), str(name).lower()[:200]).ratio()
            )
            listed = f"The {NEAREST} nearest of {len(known)}: {', '.join(nearest[:NEAREST])}."
        super().__init__(f"unknown {what} {short_repr(name)}.{hint} {listed}")

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.name, self.known), vars(self)  # pickle would call it with its message alone


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file.

    Attributes
    ----------
    field : str
        Dotted path of the field.
    message : str
        What was got and what is allowed.
    line : int or None
        Line of the file.
    code : str
        Kind of fault, as in ``PolypodError``.
    """

    field: str
    message: str
    line: int | None = None
    code: str = ""

    def __post_init__(self) -> None:
        for name in ("field", "message"):
            object.__setattr__(self, name, _readable(getattr(self, name)))

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{place}{self.field}: {self.message}" if self.field else f"{place}{self.message}"


class FileError(PolypodError, ValueError):
    """A file that cannot be used.

    Attributes
    ----------
    origin : str
        The file.
    faults : tuple of Fault
        Each reason, with its line.
    """

    what = "file"

    def __init__(self, origin: str, faults: Sequence[Fault]) -> None:
        self.origin, self.faults = origin, tuple(faults)
        self.code = next((fault.code for fault in self.faults if fault.code), "")
        super().__init__("\n".join([f"{origin} is not a valid {self.what}:", *(f"  {f}" for f in faults)]))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.origin, self.faults), vars(self)


class RobotFileError(FileError):
    """A robot file or description that cannot be used."""

    what = "robot"


class MotionFileError(FileError):
    """A motion file, or a table it names, that cannot be used."""

    what = "motion"


class ToleranceFileError(FileError):
    """A file of tolerances that cannot be used."""

    what = "tolerance file"


class StateError(PolypodError, ArithmeticError):
    """States without an answer (out of reach, singular, not converged).

    Attributes
    ----------
    code : str
        Kind of the first reason: ``singular``, ``leg`` (out of reach, or itself singular), ``overflow``, ``friction``
        (its iteration did not converge), ``bounds`` (no forces within theirs), ``not_converged`` and other names of
        ``polypod.model.ForwardKinematicsStatus``.
    index : ndarray of int
        Positions of these states in the flattened batch.
    reasons : sequence of str
        One sentence for each of them.
    result : object
        What the call computed: NaN in these states, correct in all others.
    time : float or None
        When a motion first has no answer [s]; None if the states are not a motion.
    """

    def __init__(
        self,
        message: str,
        index: Any = (),
        reasons: Sequence[str] = (),
        result: Any = None,
        time: float | None = None,
        code: str = "",
    ) -> None:
        self.index, self.reasons, self.result, self.time = index, tuple(reasons), result, time
        self.code = code or _code_of(self.reasons)
        super().__init__(message)


class UnstableBendingError(StateError):
    """Prescribing the motion of a flexible platform's frame exactly is unstable.

    The steady shape of each instant (``vibration=False``) exists all the same.
    """


class UnphysicalWarning(UserWarning):
    """A robot was loaded whose inertia no real body can have (the file opted out of the check).

    Attributes
    ----------
    what : str
        The fault in one sentence.
    head : str
        The same, with the command that lists the bodies.
    bodies : sequence of str
        Each body, and which of its values are impossible.
    """

    def __init__(self, what: str, head: str = "", bodies: Sequence[str] = ()) -> None:
        self.what, self.head, self.bodies = what, head or what, tuple(bodies)
        super().__init__(what, self.head, self.bodies)

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.head, "; ".join(self.bodies[:3]))))


class ImplausibleWarning(UserWarning):
    """A number that is allowed but hardly intended, such as a robot of a kilometre, or a nearly singular home."""


class RoundedWarning(UserWarning):
    """Axes that are parallel or perpendicular to within the digits of a file were made exactly so.

    Attributes
    ----------
    axes : sequence of str
        Which axes, by how much each was rotated, and what for.
    """

    def __init__(self, axes: Sequence[str]) -> None:
        self.axes = tuple(axes)
        super().__init__(self.axes)

    def __str__(self) -> str:
        more = f" and {len(self.axes) - 3} more" if len(self.axes) > 3 else ""
        return (
            "axes that are parallel or perpendicular within the precision of the file were made exactly so: "
            f"{'; '.join(self.axes[:3])}{more}"
        )


class StateWarning(UserWarning):
    """Some states of a batch have no answer; their rows are NaN.

    Attributes
    ----------
    index : ndarray of int
        Positions of these states in the flattened batch.
    reasons : tuple of str
        One sentence for each of the first of them.
    code : str
        Kind of the first reason, as in ``StateError``.
    """

    def __init__(self, message: str, index: Any = (), reasons: Sequence[str] = ()) -> None:
        self.index, self.reasons = index, tuple(reasons)
        self.code = _code_of(self.reasons)
        super().__init__(message)


__all__ = [
    "Fault",
    "FileError",
    "ImplausibleWarning",
    "InputError",
    "KernelSizeError",
    "MissingPackageError",
    "MotionFileError",
    "PolypodError",
    "Reason",
    "RobotFileError",
    "RoundedWarning",
    "StateError",
    "StateWarning",
    "ToleranceFileError",
    "UnknownNameError",
    "UnphysicalWarning",
    "UnstableBendingError",
]
