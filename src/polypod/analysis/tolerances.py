"""Tolerances of a robot's parameters, its encoders and joints, and growth by heat, as checked data and files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..description.quantities import Data, Frozen, Number
from ..description.units import in_si
from ..errors import ToleranceFileError
from ..files.documents import read
from ..files.faults import validated

NORMAL_BOUND = 3.0
"""Standard deviations that stand for the largest error of a normal distribution, which has none."""


def _si(value: Any) -> Any:
    """Numbers with a unit of lengths, angles, masses or inertias as SI numbers."""
    for unit in ("m", "rad", "kg", "kg m^2"):
        value = in_si(value, unit)
    return value


Amount = Annotated[Number, BeforeValidator(_si), Field(ge=0, json_schema_extra={"unit": "that of the number"})]


class Tolerance(Data):
    """An error of a number: anywhere ``within`` +- a bound, or normal with standard deviation ``sigma``.

    ``distribution`` must be said: a drawing's tolerance is a bound, a measured scatter is not.
    """

    distribution: Literal["uniform", "normal"]
    within: Amount | None = None
    sigma: Amount | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_distribution(cls, data: Any) -> Any:
        if not isinstance(data, cls) and not (isinstance(data, dict) and "distribution" in data):
            raise ValueError(
                f"a tolerance needs a distribution, got {data!r}: '{{distribution: uniform, within: 0.05 mm}}' "
                f"for a tolerance from a drawing, '{{distribution: normal, sigma: 0.02 mm}}' for a measured "
                "scatter"
            )
        return data

    @model_validator(mode="after")
    def _one_of_both(self) -> Tolerance:
        if self.distribution == "uniform" and (self.within is None or self.sigma is not None):
            raise ValueError("within: a uniform distribution needs a bound, 'within: 0.05 mm', and no sigma")
        if self.distribution == "normal" and (self.sigma is None or self.within is not None):
            raise ValueError("sigma: a normal distribution needs a standard deviation, 'sigma: 0.02 mm', and no bound")
        return self

    @property
    def bound(self) -> float:
        """Largest error; of a normal distribution three standard deviations."""
        return NORMAL_BOUND * float(self.sigma or 0.0) if self.distribution == "normal" else float(self.within or 0.0)

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        return float(self.sigma or 0.0) if self.distribution == "normal" else self.bound / np.sqrt(3.0)

    def sample(self, draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Errors drawn at random.

        Parameters
        ----------
        draw : numpy.random.Generator
            Random generator.
        shape : tuple of int
            Shape of the result.

        Returns
        -------
        ndarray
            Errors, in the unit of the tolerance.
        """
        if self.distribution == "normal":
            return draw.normal(scale=self.deviation, size=shape)
        return draw.uniform(-self.bound, self.bound, size=shape)


class Growth(Data):
    """Lengths that grow together: those of ``parameters`` (paths), and of actuated lengths if ``actuators`` is true.

    All change by ``expansion`` [1/K] times a temperature that is off by ``temperature`` [K], a tolerance of its own.
    """

    name: str = Field(min_length=1)
    parameters: tuple[str, ...] = ()
    actuators: bool = False
    expansion: Annotated[Number, Field(json_schema_extra={"unit": "1/K"})]
    temperature: Tolerance


class Tolerances(Data):
    """What is not exact about a robot.

    ``parameters`` gives the tolerance of parameters by path (``legs.*.base``; every component of a point
    on its own). ``actuators`` is that of every actuated coordinate, ``encoder_step`` the step of its measuring system
    (an error of up to half of it), ``backlash`` its play (up to half of it). ``growth`` is by heat.
    """

    parameters: Annotated[dict[str, Tolerance], Frozen] = Field(default={})
    actuators: Tolerance | None = None
    encoder_step: Amount = 0.0
    backlash: Amount = 0.0
    growth: tuple[Growth, ...] = ()


def load_tolerances(path: str | Path) -> Tolerances:
    """Read a file of tolerances.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Tolerances
        What is not exact about a robot.

    Raises
    ------
    ToleranceFileError
        If the file has faults: all of them, with their lines.
    """
    text = read(Path(path), ToleranceFileError)
    return validated(Tolerances, text, str(path), ToleranceFileError)
