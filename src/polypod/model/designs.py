"""Many designs of one robot, for functions that are called in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError
from ..formulations.derivatives import derivatives
from ..kernels import Kernel
from ..lazy import lazy
from ..mechanism.closing import closed
from ..parameters.design import Design
from . import calls
from .kernels import OpenedKernels

if TYPE_CHECKING:
    from .model import Model


class DesignFunctions:
    """The functions of a model for designs that change the numbers of ``parameters``.

    Which zeros of the robot are inputs is decided once, by the values given here: they must vary as all later ones do.
    ``varied`` are the places of their numbers in the parameter port.
    """

    def __init__(self, model: Model, parameters: Mapping[str, ArrayLike]) -> None:
        self.model = model
        self._paths = frozenset(parameters)
        self._known: dict[tuple[str, bool, bool], Kernel] = {}
        self._derivatives: dict[tuple[tuple[int, ...], bool], Kernel] = {}
        design = model.kernels.design(parameters)
        self.kernels: OpenedKernels = model.kernels.of_design(design)
        self.varied = design.places(self.kernels.mechanism.numbers)

    def function(self, name: str, friction: bool, verdict: bool) -> Kernel:
        """A function without numbers; kept, since finding it takes longer than some calls of it."""
        key = name, friction, verdict
        if key not in self._known:
            self._known[key] = self.kernels.get(name, friction, verdict=verdict)
        return self._known[key]

    def force_jacobian(self, columns: tuple[int, ...], friction: bool) -> Kernel:
        """d(actuator forces)/d(numbers of the parameter port), (n, k) a state, for the numbers in these ``columns``."""
        if (columns, friction) not in self._derivatives:
            mechanism, dry = self.kernels.mechanism, self.model.kernels.options.dry
            symbols = mechanism.numbers.symbols[list(columns)]
            every = self.model.kernels
            self._derivatives[columns, friction] = every.shared(
                lambda: closed(
                    mechanism, derivatives(mechanism, "inverse_dynamics", ("parameters",), symbols, friction, dry)
                ),
                every.cache_key(repr(("force_jacobian", columns, friction)), mechanism),
            )
        return self._derivatives[columns, friction]

    def designs(self, parameters: Mapping[str, ArrayLike]) -> Designs:
        """Designs (D, ...) of the same numbers."""
        if frozenset(parameters) != self._paths:
            raise InputError(f"parameters: designs of {', '.join(sorted(self._paths))} are needed")
        return Designs(self, self.model.kernels.design(parameters))


class Designs:
    """D designs: their rows of the parameter port, and why some can be no robot."""

    def __init__(self, functions: DesignFunctions, design: Design) -> None:
        self._functions, self._design = functions, design
        self.count = design.count
        self.values: Array = functions.kernels.rows(design)

    @property
    def parameters(self) -> Mapping[str, Array]:
        """Values (D, ...) of the designs by path."""
        return {path: self._design.flat(path) for path in self._design.values}

    @lazy
    def impossible(self) -> dict[int, str]:
        """Why designs, by number, can be no robot: bodies that cannot be, legs that do not close at home."""
        found = calls.DesignBatch(self._design, self._functions.kernels).impossible
        return {number: text.lstrip(": ") for number, text in found.items()}

    def force_jacobian(self, columns: tuple[int, ...], friction: bool) -> Kernel:
        """``DesignFunctions.force_jacobian`` of these designs."""
        return self._functions.force_jacobian(columns, friction).at(self.values)

    def kernel(self, name: str, friction: bool, start: int, stop: int, verdict: bool = False) -> Kernel:
        """A function of some of the designs; every one at every state."""
        kernel = self._functions.function(name, friction, verdict)
        return kernel.at(self.values[start:stop]) if kernel.parameters else kernel
