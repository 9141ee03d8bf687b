"""Time laws in a motion file: a name (``quintic``), or a mapping for the trapezoid with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from .. import trajectories as tr
from ..description.quantities import Data, Number
from ..errors import InputError
from .parts import Seconds

_PLAIN: dict[str, tr.Law] = {"quintic": tr.quintic, "cosine": tr.cosine, "constant_speed": tr.constant_speed}


class LawData(Data):
    """Progress from 0 to 1: ``quintic``, ``cosine``, ``constant_speed``, or ``trapezoid`` with a ramp or a speed.

    ``ramp`` [s] is how long the trapezoid accelerates, ``speed`` its cruise in units of the path a second.
    """

    kind: Literal["quintic", "cosine", "constant_speed", "trapezoid"] = "quintic"
    ramp: Annotated[Seconds, Field(gt=0)] | None = None
    speed: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "m/s or rad/s"})] | None = None

    @model_validator(mode="after")
    def _numbers_of_the_trapezoid(self) -> LawData:
        given = [name for name in ("ramp", "speed") if getattr(self, name) is not None]
        if self.kind != "trapezoid" and given:
            raise ValueError(f"{given[0]}: only a trapezoid takes it, got kind {self.kind}")
        if self.kind == "trapezoid" and not given:
            raise ValueError("ramp: missing: a trapezoid needs a ramp or a speed")
        return self

    def path(self, duration: float | None, distance: float) -> tr.Path:
        """The law over a distance; the trapezoid's duration follows from ramp and speed if it is not given."""
        if self.kind == "trapezoid":
            with _blamed():
                return tr.trapezoid(duration=duration, ramp=self.ramp, speed=self.speed, distance=distance)
        if duration is None:
            raise InputError("duration: missing: how long does it take, in seconds?")
        return _PLAIN[self.kind](duration)

    def between(self) -> tr.Law:
        """The law from one point to the next."""
        if self.kind != "trapezoid":
            return _PLAIN[self.kind]
        if self.speed is not None:
            raise InputError("law.speed: the times of the points fix the speeds; give the trapezoid's ramp only")
        return self._trapezoid

    def _trapezoid(self, duration: float) -> tr.Path:
        with _blamed():
            return tr.trapezoid(duration=duration, ramp=self.ramp)


@contextmanager
def _blamed() -> Iterator[None]:
    """What a trapezoid refuses of its numbers is a fault of the law, not of what the law is for."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(("ramp: ", "speed: ")):
            raise InputError(f"law.{error}") from error
        raise


def _by_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


Law = Annotated[LawData, BeforeValidator(_by_name)]
QUINTIC = LawData()
