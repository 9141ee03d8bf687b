"""Designs against motions: every design at every state, reduced as they are computed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..datasets import units
from ..errors import AS_RIGID, InputError
from ..kernels import Kernel
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.verdict import BAD_INPUT
from ..model import Model
from ..model.designs import DesignFunctions, Designs
from ..model.kernels import FUNCTIONS
from ..motion import Task
from ..parameters.paths import unit_at, value_at
from .checks import check_quantities, varied_paths
from .folding import OWN_FUNCTIONS, Folding
from .load_cases import LoadCase, workspace_poses
from .patterns import PATTERNS
from .quantities import QUANTITIES, SOURCES, Quantity
from .ranges import Inside
from .reduce import Reduction
from .study import Study, Varied, in_unit, scaled

IN_CACHE = 4096
"""States of all designs of a call together: some hundred kilobytes of results, which stay in the second cache."""
WORK = 2_000_000
"""States of a block of designs, about: some tenths of a second."""
REASONS = (
    "",
    "no robot",
    "out of reach or singular",
    "friction does not converge",
    "legs do not allow the motion",
    "beyond a range or cone in a workspace",
)
"""Why a design has no answer, by its number in results."""


@dataclass(frozen=True)
class Results:
    """Quantities (D, motions) by name, and numbers (D, motions) of :data:`REASONS` for what has no answer (NaN)."""

    values: dict[str, Array]
    reason: NDArray[np.int8]


class Evaluator:
    """What a study asks of its designs, ready for any values of its varied numbers."""

    def __init__(self, study: Study, model: Model, tasks: tuple[Task, ...]) -> None:
        if model.robot.flexible:
            raise InputError(f"robot: the platform of {model.robot.name!r} bends; {AS_RIGID}")
        self.study, self.model = study, model
        boxes = [LoadCase.poses(box.name, workspace_poses(model, k, box)) for k, box in enumerate(study.workspaces)]
        self.load_cases = (*(LoadCase.of(task) for task in tasks), *boxes)
        self._paths = varied_paths(study, model.robot)
        self.bounds = [self._bounds(k, varied) for k, varied in enumerate(study.vary)]
        self.limits = {name: self._limit(name, value) for name, value in study.limits.items()}
        check_quantities(study, model)
        self._own_buffers = threading.local()

    def _bounds(self, k: int, varied: Varied) -> list[float]:
        try:
            return varied.numbers_of(self.unit(k))
        except InputError as error:
            raise InputError(f"vary.{k}.{error}") from error

    def unit(self, k: int) -> str:
        """Unit of a varied number."""
        own = PATTERNS[self.study.vary[k].pattern].unit
        unit = unit_at(self.model.robot, self._paths[k][0]) if own is None else own
        return "" if unit == "1" else unit

    def quantity_unit(self, name: str) -> str:
        """Unit of a quantity, of this robot's actuators."""
        coordinates, forces = units(self.model)
        moving = 3 if not self.model.robot.dof else sum(f.motion != "rotation" for f in self.model.robot.dof)
        volumes = "m" if moving == 1 else f"m^{moving}"
        unit = QUANTITIES[name].unit.format(f=forces, q=coordinates, v=volumes)
        return "" if unit == "1" else unit

    def _limit(self, name: str, value: Any) -> float:
        limit = in_unit(value, self.quantity_unit(name), f"limits.{name}")
        if not limit > 0:
            raise InputError(f"limits.{name}: must be greater than 0, got {value!r}")
        return limit

    def nominal(self) -> Array:
        """Values (v,) that the robot itself has."""
        result = []
        for varied, paths in zip(self.study.vary, self._paths, strict=True):
            numbers = np.array([value_at(self.model.robot, path) for path in paths], dtype=np.float64)
            result.append(PATTERNS[varied.pattern].read(numbers))
        return np.array(result)

    def parameters(self, designs: Array) -> dict[str, Array]:
        """Numbers of the robot by path, (D, ...) each, for values (D, v) of the varied ones."""
        numbers: dict[str, Array] = {}
        for k, (varied, paths) in enumerate(zip(self.study.vary, self._paths, strict=True)):
            old = np.stack([numbers.get(path, self._own(path, len(designs))) for path in paths], axis=1)
            new = PATTERNS[varied.pattern].apply(old, designs[:, k])
            numbers |= {path: np.ascontiguousarray(new[:, i]) for i, path in enumerate(paths)}
        return numbers

    def _own(self, path: str, count: int) -> Array:
        value = np.array(value_at(self.model.robot, path), dtype=np.float64)
        return np.broadcast_to(value, (count, *value.shape))

    @lazy
    def functions(self) -> DesignFunctions:
        """The compiled functions, for numbers anywhere in the ranges."""
        shares = np.vstack([np.zeros(len(self.bounds)), np.ones(len(self.bounds)),
                            np.random.default_rng(1).random((8, len(self.bounds)))])  # fmt: skip
        return DesignFunctions(self.model, self.parameters(scaled(self.study, self.bounds, shares)))

    def designs(self, values: Array) -> Designs:
        """Designs with values (D, v) of the varied numbers."""
        return self.functions.designs(self.parameters(values))

    @lazy
    def _sourced(self) -> dict[str, Quantity]:
        """The quantities over states by name."""
        return {name: QUANTITIES[name] for name in self.study.quantities if QUANTITIES[name].source}

    @lazy
    def _foldings(self) -> tuple[Folding, ...]:
        """The quantities that are reduced in machine code: those of motion and force together, and conditioning.

        Conditioning does not say whether the legs close; the first of them does.
        """
        asked = {name: q for name, q in self._sourced.items() if SOURCES[q.source].symbols is not None}
        names = dict.fromkeys(
            name for source in {q.source for q in asked.values()} for name in SOURCES[source].functions
        )
        alone = "conditioning"
        first = {name: q for name, q in asked.items() if alone not in SOURCES[q.source].functions}
        second = {name: q for name, q in asked.items() if name not in first}
        known = (*FUNCTIONS, *OWN_FUNCTIONS)
        motion = [name for name in known if name in names and name != alone] or ["inverse_kinematics"]
        groups = [(motion, first), ([alone], second)] if second else [(motion, first)] if first else []
        return tuple(Folding(self.functions, functions, group, self.study.friction) for functions, group in groups)

    @lazy
    def _others(self) -> dict[str, Quantity]:
        """The quantities that arrays are reduced to."""
        return {name: q for name, q in self._sourced.items() if SOURCES[q.source].of is not None}

    def evaluate(self, designs: Designs, start: int = 0, stop: int | None = None) -> Results:
        """Quantities of designs from ``start`` to before ``stop``; their bits do not depend on which these are."""
        stop = designs.count if stop is None else stop
        parts = [self._motion(designs, start, stop, case) for case in self.load_cases]
        values = {name: np.stack([part.values[name][:, 0] for part in parts], axis=1) for name in self._sourced}
        reason = np.stack([part.reason[:, 0] for part in parts], axis=1)
        for number in designs.impossible:
            if start <= number < stop:
                reason[number - start] = 1
        for name in self.study.quantities:
            if name not in self._sourced:
                found = self._of_designs(name, designs.values[start:stop])
                values[name] = np.broadcast_to(found[:, None], reason.shape).copy()
        for value in values.values():
            value[reason > 0] = np.nan
        return Results({name: values[name] for name in self.study.quantities}, reason)

    def _of_designs(self, name: str, values: Array) -> Array:
        """A quantity (D,) of designs alone."""
        of = QUANTITIES[name].of
        return self._inside.volumes(values) if of is None else of(self.functions.kernels.mechanism, values)

    @lazy
    def _inside(self) -> Inside:
        return Inside(self.functions)

    def _motion(self, designs: Designs, start: int, stop: int, case: LoadCase) -> Results:
        outputs: dict[str, Array] = {}
        if case.within:
            outputs["inside.taken"] = self._inside.taken(designs.values[start:stop], case.inputs["pose"])[:, None]
        for folding in self._foldings:
            outputs |= folding(designs.values[start:stop], case.inputs, case.shares)
        columns = {name: outputs[name][:, None] for name in self._sourced if name not in self._others}
        reason = _judged(outputs, stop - start)[:, None]
        if self._others:
            found = self._reduced(designs, start, stop, case)
            columns |= found.values
            reason = np.where(reason == 0, found.reason, reason)
        return Results(columns, reason)

    def _reduced(self, designs: Designs, start: int, stop: int, case: LoadCase) -> Results:
        """The other quantities, a few designs at a time."""
        chunk = min(len(case.shares), IN_CACHE)
        together = max(1, IN_CACHE // chunk)
        firsts = range(start, stop, together)
        pieces = [self._piece(designs, first, min(first + together, stop), case, chunk) for first in firsts]
        columns = {name: np.concatenate([piece.values[name] for piece in pieces]) for name in self._others}
        return Results(columns, np.concatenate([piece.reason for piece in pieces]))

    def _buffers(self, name: str, kernel: Kernel, count: int, states: int) -> list[Array]:
        """Arrays for a function's outputs, the same for every call of a thread: new ones cost a third of the time."""
        known = self._own_buffers.__dict__
        key = f"{name} {count} {states}"
        if key not in known:
            lead = (count, states) if kernel.parameters is not None else (states,)
            known[key] = [np.empty((*lead, *signature.shape)) for signature in kernel.outputs]
        found: list[Array] = known[key]
        return found

    def _space(self, shape: tuple[int, ...]) -> Array:
        """An array to work in, the same for every call of a thread."""
        known = self._own_buffers.__dict__
        key = f"work {shape}"
        if key not in known:
            known[key] = np.empty(shape)
        found: Array = known[key]
        return found

    def _piece(self, designs: Designs, start: int, stop: int, case: LoadCase, chunk: int) -> Results:
        """A few designs at all states, some states at a time."""
        follows = self.functions.kernels.mechanism.platform.is_constrained
        sources = {q.source: SOURCES[q.source] for q in self._others.values()}
        called = dict.fromkeys(name for source in sources.values() for name in source.functions)
        kernels = {n: designs.kernel(n, self.study.friction, start, stop, verdict=follows) for n in called}
        reductions = {name: Reduction(quantity.reduce) for name, quantity in self._others.items()}
        count, states = stop - start, len(case.shares)
        reason = np.zeros(count, dtype=np.int8)
        for first in range(0, states, chunk):
            last = min(first + chunk, states)
            outputs: dict[str, Array] = {}
            for name, kernel in kernels.items():
                results = self._buffers(name, kernel, count, last - first)
                kernel(*case.rows(kernel, slice(first, last)), out=results, threads=1)
                outputs |= {f"{name}.{p.name}": r for p, r in zip(kernel.outputs, results, strict=True)}
            reason = np.maximum(reason, _judged(outputs, count))
            numbers = {name: source.of(outputs) for name, source in sources.items() if source.of is not None}
            for name, quantity in self._others.items():
                reductions[name].add(numbers[quantity.source], case.shares[first:last], self._space)
        values = {name: self._others[name].worst(r.finish(), axis=1)[:, None] for name, r in reductions.items()}
        return Results(values, reason[:, None])


def _judged(outputs: Mapping[str, Array], count: int) -> NDArray[np.int8]:
    """Numbers (D,) of the reason why designs have no answer in some state; 0 if they have one in all."""
    result = np.zeros(count, dtype=np.int8)
    for name, value in outputs.items():
        kind = name.rpartition(".")[2]
        if kind == "quality":
            lost = ~(value.min(axis=1) > SMALLEST_MARGIN)
            result = np.maximum(result, np.where(lost, np.int8(2), np.int8(0)))
        elif kind == "converged":
            result = np.where((result == 0) & ~(value.min(axis=1) > 0), np.int8(3), result)
        elif kind == "taken":
            result = np.where((result == 0) & ~(value.min(axis=1) > 0), np.int8(5), result)
        elif kind == "verdict":
            result = np.where((result == 0) & (value.max(axis=1) >= BAD_INPUT), np.int8(4), result)
    return result.astype(np.int8)
