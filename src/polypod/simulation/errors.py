"""What a simulation says when it cannot go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import PolypodError

if TYPE_CHECKING:
    import xarray as xr


class SimulationError(PolypodError, ArithmeticError):
    """A simulation that had to end early: the robot or its controller had no answer.

    Parameters
    ----------
    message : str
        What happened and what to do.
    time : float
        When it happened [s].
    result : xarray.Dataset, optional
        The result so far.

    Attributes
    ----------
    code : str
        Kind of the state without an answer, as in ``polypod.errors.StateError``.
    time : float
        When it happened [s].
    result : xarray.Dataset or None
        The result so far; None if there is none yet.
    """

    def __init__(self, message: str, time: float, result: xr.Dataset | None = None, code: str = "") -> None:
        self.time, self.result = time, result
        if code:
            self.code = code
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.time), vars(self)  # pickle would call it with its message alone


class InterruptedWarning(UserWarning):
    """A simulation was interrupted and returned what it had."""


class EnergyWarning(UserWarning):
    """A simulation whose energies do not add up: its steps do not resolve the motion."""
