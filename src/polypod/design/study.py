"""Study files: what to vary of a robot, which motions it must make, what to report, limit and minimise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from ..description.file_names import FileName
from ..description.quantities import Data, Number, Position
from ..description.units import UNITS, in_si
from ..errors import Fault, FileError, InputError, UnknownNameError
from ..files.documents import parse, read
from ..files.faults import line_of, validated
from .patterns import PATTERNS
from .quantities import QUANTITIES

MOST_DESIGNS = 10_000_000
"""More are a slip of a digit rather than a wish."""


class StudyFileError(FileError):
    """A study file that cannot be used."""

    what = "study"


def _quantities(names: Iterable[str]) -> None:
    """A ValueError that names every unknown quantity."""
    unknown = [UnknownNameError("quantity", name, tuple(QUANTITIES)) for name in names if name not in QUANTITIES]
    if unknown:
        *some, last = map(str, unknown)
        texts = [*(text.partition(" Known: ")[0] for text in some), last]
        raise ValueError(" ".join([texts[0], *(text[0].upper() + text[1:] for text in texts[1:])]))


class Varied(Data):
    """A number to vary: ``parameters`` names those of the robot (a path with ``*``) that its ``pattern`` sets.

    It has ``values``, or a ``range`` from which designs are drawn; a grid takes ``levels`` of a range.
    """

    parameters: str = Field(min_length=1)
    pattern: str = "value"
    name: str = ""
    range: tuple[Any, Any] | None = None
    values: tuple[Any, ...] | None = None
    levels: Annotated[int, Field(ge=2, le=100_000)] = 5

    @field_validator("pattern")
    @classmethod
    def _known(cls, pattern: str) -> str:
        if pattern not in PATTERNS:
            raise ValueError(str(UnknownNameError("pattern", pattern, tuple(PATTERNS))))
        return pattern

    @model_validator(mode="after")
    def _one_of_both(self) -> Varied:
        if (self.range is None) == (self.values is None):
            raise ValueError("range: give either a range or values")
        if self.values is not None and not self.values:
            raise ValueError("values: at least one value is needed")
        return self

    @property
    def label(self) -> str:
        """The name of this number in results."""
        return self.name or (self.parameters if self.pattern == "value" else f"{self.parameters} {self.pattern}")

    def numbers_of(self, unit: str) -> list[float]:
        """The two ends of the range, or the values, in SI units; an InputError for what is no number of this unit."""
        given, field = (self.values, "values") if self.values is not None else (self.range, "range")
        assert given is not None
        result = [in_unit(value, unit, field) for value in given]
        if field == "range" and not result[0] < result[1]:
            raise InputError(f"range: the lower limit must come first, got {list(given)}")
        if self.pattern == "radius" and not min(result) > 0:
            raise InputError(f"{field}: a radius must be greater than 0 m, got {list(given)}")
        return result


def in_unit(value: Any, unit: str, field: str) -> float:
    """A finite number in an SI unit, or of a text with a unit of its kind; an InputError of ``field`` otherwise."""
    number = in_si(value, unit)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        others = [name for name, (_, si) in UNITS.items() if si == unit]
        with_unit = f", or a text with one of the units {', '.join(others)}" if others else ""
        raise InputError(f"{field}: must be a finite number in {unit or 'SI units'}{with_unit}, got {value!r}")
    return float(number)


class Sampling(Data):
    """Which designs: the full ``grid``, or ``count`` of them by a Latin hypercube or a Sobol sequence."""

    method: Literal["grid", "latin", "sobol"] = "grid"
    count: Annotated[int, Field(ge=1, le=MOST_DESIGNS)] = 256
    seed: Annotated[int, Field(ge=0)] = 0


class Workspace(Data):
    """Poses that every design must take: a ``box`` of coordinates from home, each from low to high, others at home.

    Displacements and turns are those of the platform's ``pivot``, a point in its own frame. The box is looked at in
    ``points`` places of each coordinate, corners included.
    """

    name: str = Field(min_length=1)
    box: dict[str, tuple[Any, Any]] = Field(min_length=1)
    pivot: Position | None = None
    points: Annotated[int, Field(ge=2, le=1000)] = 5


class Study(Data):
    """A study file.

    Designs are judged along ``motions``, and at rest in all poses of ``workspaces``, which are within their ranges and
    cones or the design is none. ``limits`` are the largest values allowed (of condition, force and so on), the least of
    dexterity, shortest, stiffness, natural frequency and workspace volume. ``minimise`` and ``maximise`` name
    quantities, ``target`` gives values that quantities should have; of several goals the best compromises are found.
    Limits of the robot file (drives, ranges, cones, bearings, platform) are judged too, unless ``robot_limits`` is
    false.
    """

    name: str = Field(min_length=1)
    title: str = ""
    robot: FileName
    motions: tuple[FileName, ...] = ()
    workspaces: tuple[Workspace, ...] = ()
    rate: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1/s"})] | None = None
    friction: bool = True
    vary: tuple[Varied, ...]
    sample: Sampling = Sampling()
    report: tuple[str, ...] = ("peak force", "rms force", "peak speed", "peak power", "stroke", "condition")
    limits: dict[str, Any] = Field(default_factory=dict)
    robot_limits: bool = True
    minimise: tuple[str, ...] = ()
    maximise: tuple[str, ...] = ()
    target: dict[str, Any] = Field(default_factory=dict)
    block: Annotated[int, Field(ge=1, le=1_000_000)] | None = None

    @field_validator("motions", "workspaces", "minimise", "maximise", "report", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, (str, dict)) else value

    @field_validator("report", "minimise", "maximise")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        _quantities(names)
        return names

    @field_validator("minimise", "maximise")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is given twice; objectives must be different")
        return names

    @field_validator("minimise")
    @classmethod
    def _smaller_is_better(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if QUANTITIES[name].more_is_better:
                raise ValueError(
                    f"{name!r} is better the larger it is ({QUANTITIES[name].text}); write maximise: {name}"
                )
        return names

    @field_validator("maximise")
    @classmethod
    def _larger_is_better(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not QUANTITIES[name].more_is_better:
                raise ValueError(
                    f"{name!r} is better the smaller it is ({QUANTITIES[name].text}); write minimise: {name}, or give "
                    "a target for it"
                )
        return names

    @field_validator("limits", "target")
    @classmethod
    def _known_limits(cls, limits: dict[str, Any]) -> dict[str, Any]:
        _quantities(limits)
        return limits

    @model_validator(mode="after")
    def _own_names(self) -> Study:
        sought = (*self.minimise, *self.maximise, *self.target)
        again = [name for name in sought if sought.count(name) > 1]
        if again:
            raise ValueError(
                f"{again[0]!r} is minimised, maximised or given a target twice; objectives must be different"
            )
        if not self.vary:
            raise ValueError("vary: at least one parameter to vary is needed")
        labels = [varied.label for varied in self.vary]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise ValueError(f"vary: names must be unique, {twice[0]!r} appears twice")
        return self

    @property
    def quantities(self) -> tuple[str, ...]:
        """All that must be known of a design: reported, limited, sought."""
        return tuple(dict.fromkeys((*self.report, *self.limits, *self.minimise, *self.maximise, *self.target)))


def load_study(path: str | Path) -> Study:
    """Read a study file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    StudyFileError
        If the file has faults: all of them, with their lines.
    """
    path = Path(path)
    return loads_study(read(path, StudyFileError), str(path), path.parent)


def loads_study(text: str, origin: str = "text", folder: str | Path = ".") -> Study:
    """Read a study from YAML text.

    Parameters
    ----------
    text : str
        Text of a study file.
    origin : str, optional
        What messages call it.
    folder : str or Path, optional
        Folder of the files that the text names.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    StudyFileError
        If the text has faults: all of them, with their lines.

    Examples
    --------
    >>> text = "{name: heavy, robot: hexapod, vary: [{parameters: platform.mass, range: [10 kg, 40 kg]}]}"
    >>> loads_study(text).vary[0].numbers_of("kg")
    [10.0, 40.0]
    """
    return validated(Study, text, origin, StudyFileError, folder)


def study_fault(path: str | Path, field: str, message: str) -> StudyFileError:
    """What shows when a study meets its robot, with the line of the field."""
    _, node = parse(read(Path(path), StudyFileError), str(path), StudyFileError, "a mapping")
    return StudyFileError(str(path), [Fault(field, message, line_of(field, node))])


def designs_of(study: Study, bounds: list[list[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values (D, v) of the varied numbers: all combinations, or those drawn; ``bounds`` in SI units."""
    if study.sample.method == "grid":
        levels = [
            np.linspace(values[0], values[1], varied.levels) if varied.values is None else np.array(values)
            for varied, values in zip(study.vary, bounds, strict=True)
        ]
        count = math.prod(len(level) for level in levels)
        if count > MOST_DESIGNS:
            raise InputError(
                f"vary: the full grid has {count} designs; the limit is {MOST_DESIGNS}: sample latin or sobol"
            )
        return np.stack(np.meshgrid(*levels, indexing="ij"), axis=-1).reshape(count, -1)
    from scipy.stats import qmc  # type: ignore[import-untyped, unused-ignore]

    kinds = {"latin": qmc.LatinHypercube, "sobol": qmc.Sobol}
    draw = kinds[study.sample.method](len(study.vary), rng=np.random.default_rng(study.sample.seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # any count is allowed, though powers of two spread best
        return scaled(study, bounds, draw.random(study.sample.count))


def scaled(study: Study, bounds: list[list[float]], shares: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values (D, v) of shares (D, v) from 0 to 1 of each range; listed values have equal parts of it."""
    columns = []
    for k, (varied, values) in enumerate(zip(study.vary, bounds, strict=True)):
        if varied.values is None:
            columns.append(values[0] + shares[:, k] * (values[1] - values[0]))
        else:
            place = np.minimum((shares[:, k] * len(values)).astype(int), len(values) - 1)
            columns.append(np.array(values)[place])
    return np.stack(columns, axis=-1)
