"""Distances between the bodies of a robot, called like every function of a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array
from ..clearance import ClearanceFunction
from ..fingerprint import fingerprint
from ..kernels import Kernel
from ..lazy import lazy
from ..parameters.design import with_numbers
from .calls import Calls, DesignBatch, Parameters, Result, States, first
from .diagnosis import Errors

_SOURCES = "clearance", "drawing"


class Clearances:
    """Distances between the bodies of a rigid robot; ``points`` says whether those of all bodies, or of groups."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    @lazy
    def function(self) -> ClearanceFunction:
        """Shapes, pairs and groups of the robot."""
        return ClearanceFunction(self._calls.kernels.robot)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, such as ``leg1 against leg2``."""
        return tuple(name for name, _ in self.function.groups)

    def kernel(self, points: bool = False) -> Kernel:
        """(pose) -> distances (P) and nearest points of all pairs of bodies, or least distances (G) of all groups."""
        return self._with_points if points else self._by_groups

    @lazy
    def _with_points(self) -> Kernel:
        return self._compiled(self.function, self._calls.kernels, True)

    @lazy
    def _by_groups(self) -> Kernel:
        return self._compiled(self.function, self._calls.kernels, False)

    def least(
        self, pose: Any, parameters: Parameters | None = None, errors: Errors | None = "nan", internal: Any = None
    ) -> Array:
        """The least distance (..., G) [m] of every group at poses (..., 4, 4)."""
        return self(pose, errors, parameters, False, first, internal)

    def __call__(
        self,
        pose: Any,
        errors: Errors | None,
        parameters: Parameters | None,
        points: bool,
        answer: Callable[[list[Array]], Result],
        internal: Any = None,
    ) -> Result:
        """``answer`` of the outputs of the kernel at poses (..., 4, 4), of designs if there are any."""
        place = {"pose": pose} if internal is None else {"pose": pose, "internal": internal}
        if not self.function.pairs:
            count = len(np.shape(pose)) - 2 if not hasattr(pose, "as_matrix") else 0
            lead = np.shape(pose)[:count] if count > 0 else ()
            return answer([np.zeros((*lead, 0)), np.zeros((*lead, 0, 2, 3))])
        if parameters is None:
            return self._calls.of_kernel("clearance", self.kernel(points), place, errors, answer)
        designs = self._calls.designs(parameters)
        return self._of_designs(designs, place, points).results("clearance", errors, answer)

    def _compiled(self, function: ClearanceFunction, kernels: Any, points: bool) -> Kernel:
        """The compiled function with the numbers of the robot and of its shapes."""
        kernel = self._shared(function, kernels.mechanism, points)
        numbers = kernels.mechanism.numbers.values
        return kernel.at(np.concatenate([numbers, function.values])) if kernel.parameters else kernel

    def _shared(self, function: ClearanceFunction, mechanism: Any, points: bool) -> Kernel:
        kernels = self._calls.kernels
        what = f"clearance {points} {function.structure} {fingerprint(*_SOURCES).hex()}"
        build = partial(function.expression, mechanism, points)
        return kernels.shared(build, kernels.cache_key(what, mechanism))

    def _of_designs(self, designs: DesignBatch, place: dict[str, Any], points: bool) -> States:
        """States of designs: each has its own shapes where its joints are elsewhere."""
        functions = self.functions_of(designs)
        made: dict[str, tuple[Kernel, list[int], list[Array]]] = {}
        for number, function in enumerate(functions):
            key = function.structure
            if key not in made:
                made[key] = self._shared(function, designs.kernels.mechanism, points), [], []
            made[key][1].append(number)
            made[key][2].append(function.values)
        if len(made) == 1:
            ((kernel, _, values),) = made.values()
            return self._calls.run(kernel, place, _WithShapes(designs, np.stack(values)))
        states: States | None = None
        for kernel, numbers, values in made.values():
            rows = np.zeros((designs.count, len(values[0])))
            rows[numbers] = values
            found = self._calls.run(kernel, place, _WithShapes(designs, rows))
            own = np.isin(found.which, numbers)
            if states is None:
                states = found
                continue
            for name, output in found.outputs.items():
                states.outputs[name][own] = output[own]
        assert states is not None
        return states

    def functions_of(self, designs: DesignBatch) -> list[ClearanceFunction]:
        """Shapes of every design; those of the robot where its joints stay, or where there is no such robot."""
        own = self.function
        if not designs.design.map.moves_legs:
            return [own] * designs.count
        found = []
        for number in range(designs.count):
            if number in designs.impossible:
                found.append(own.of_a_design)
                continue
            values = {path: designs.design.flat(path)[number] for path in designs.design.values}
            found.append(ClearanceFunction(with_numbers(self._calls.kernels.robot, values), own).of_a_design)
        return found


class _WithShapes(DesignBatch):
    """Designs of a kernel whose parameters end with the numbers of their shapes."""

    def __init__(self, designs: DesignBatch, shapes: Array) -> None:
        self.__dict__.update(designs.__dict__)
        self._shapes = shapes

    @property
    def rows(self) -> Array:
        return np.concatenate([self.numbers, self._shapes], axis=1)
