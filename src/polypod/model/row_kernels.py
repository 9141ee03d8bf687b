"""Functions on rows of states that each have numbers of their own, called as those of one robot are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..arrays import Array
from ..kernels import Expression, Iteration, Kernel
from ..mechanism import Mechanism
from .kernels import DesignKernels, Options


class Functions(Protocol):
    """What is needed to work on rows of states: ``.kernels.Kernels`` of one robot, or ``RowKernels``."""

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols."""

    @property
    def options(self) -> Options:
        """Choices that are not the robot's."""

    def get(
        self, name: str, friction: bool = False, formulation: str = "virtual-power", verdict: bool = False
    ) -> Kernel:
        """A function by name."""

    def custom(self, name: str, build: Callable[[], Expression | Iteration]) -> Kernel:
        """A function that is made elsewhere."""

    def at(self, rows: Any) -> Functions:
        """The functions of some of the rows."""


class RowKernels:
    """Functions of n rows of states, each with its own numbers (n, k) of the parameter port."""

    def __init__(self, kernels: DesignKernels, numbers: Array) -> None:
        self._kernels, self.numbers = kernels, numbers
        self.mechanism, self.options = kernels.mechanism, kernels.kernels.options

    def get(
        self, name: str, friction: bool = False, formulation: str = "virtual-power", verdict: bool = False
    ) -> Kernel:
        """The kernel of a function for the n rows, as ``Kernels.get`` names it."""
        return self._bound(self._kernels.get(name, friction, formulation, verdict))

    def custom(self, name: str, build: Callable[[], Expression | Iteration]) -> Kernel:
        """A function that is made elsewhere of the symbols of ``mechanism``, as ``Kernels.custom``."""
        all_robots = self._kernels.kernels
        return self._bound(all_robots.shared(build, all_robots.cache_key(name, self.mechanism)))

    def at(self, rows: Any) -> RowKernels:
        """The same for some of the rows, chosen as an array's are."""
        return RowKernels(self._kernels, self.numbers[rows])

    def _bound(self, kernel: Kernel) -> Kernel:
        return kernel.at(self.numbers, rows=True) if kernel.parameters else kernel
