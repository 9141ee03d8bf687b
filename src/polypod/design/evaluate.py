"""Designs against motions: every design at every state, reduced as they are computed."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..analysis.workspace import PoseCoordinates
from ..analysis.workspace.extent import extent
from ..analysis.workspace.pose_coordinates import WorkspaceTest
from ..analysis.workspace.quantities import Quantities
from ..arrays import Array
from ..datasets import units
from ..description import Robot
from ..description.paths import get, unit_at
from ..description.quantities import unit_of
from ..errors import AS_RIGID, InputError, UnknownNameError
from ..fingerprint import fingerprint
from ..formulations.elasticity import springs_of
from ..kernels import CacheKey, Expression, Kernel, Port, port
from ..kernels.reduction import Fold, Folds, ReductionKernel
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..limits import ROUNDING
from ..limits.symbols import range_uses
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..mechanism.dependent_coordinates import motion
from ..mechanism.verdict import BAD_INPUT
from ..model import Model
from ..model.designs import DesignFunctions, Designs
from ..model.kernels import FUNCTIONS
from ..motion import Task
from ..parameters.paths import matching_paths
from .patterns import PATTERNS
from .quantities import QUANTITIES, SOURCES, Quantity, share
from .robot_limits import LimitQuantity, limit_quantities, of_pairs, of_platform
from .study import Study, Varied, Workspace, in_unit, scaled

IN_CACHE = 4096
"""States of all designs of a call together: some hundred kilobytes of results, which stay in the second cache."""
WORK = 2_000_000
"""States of a block of designs, about: some tenths of a second."""
HOME = "home.position"
REASONS = (
    "",
    "no robot",
    "out of reach or singular",
    "friction does not converge",
    "legs do not allow the motion",
    "outside a range or cone in a workspace",
)
"""Why a design has no answer, by its number in results."""


@dataclass(frozen=True)
class Results:
    """Quantities of designs.

    Attributes
    ----------
    values : dict of str to ndarray, shape (D, motions)
        Quantities by name; NaN where there is no answer.
    reason : ndarray of int, shape (D, motions)
        Index in ``REASONS`` of why there is no answer.
    """

    values: dict[str, Array]
    reason: NDArray[np.int8]


class Evaluator:
    """Evaluates the quantities of a study for any values of its varied parameters.

    Parameters
    ----------
    study : Study
        The study.
    model : Model
        Model of the robot.
    tasks : tuple of Task
        Its motions, sampled.
    """

    def __init__(self, study: Study, model: Model, tasks: tuple[Task, ...]) -> None:
        if model.robot.flexible:
            raise InputError(f"robot: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
        model.robot.refuse_internal("design studies")
        self.study, self.model, self.tasks = study, model, tasks
        boxes = [LoadCase.poses(box.name, workspace_poses(model, k, box)) for k, box in enumerate(study.workspaces)]
        self.load_cases = (*(LoadCase.of(task) for task in tasks), *boxes)
        self._paths = varied_paths(study, model.robot)
        self.bounds = [self._bounds(k, varied) for k, varied in enumerate(study.vary)]
        self.own = model.robot_limits
        varied = [path for paths in self._paths for path in paths]
        self.judged = limit_quantities(self.own, varied) if study.robot_limits else {}
        self.limits = {name: self._limit(name, value) for name, value in study.limits.items()}
        self.targets = {name: self._target(name, value) for name, value in study.target.items()}
        check_limits(self.limits, self.targets)
        self.limits |= dict.fromkeys(self.judged, 1.0)
        check_quantities(study, model)
        self._own_buffers = threading.local()

    def _bounds(self, k: int, varied: Varied) -> list[float]:
        try:
            return varied.numbers_of(self.unit(k))
        except InputError as error:
            raise InputError(f"vary.{k}.{error}") from error

    def unit(self, k: int) -> str:
        """Unit of a varied parameter.

        Parameters
        ----------
        k : int
            Its index in the study.

        Returns
        -------
        str
            Unit; empty if it has none.
        """
        own = PATTERNS[self.study.vary[k].pattern].unit
        unit = unit_at(self.model.robot, self._paths[k][0]) if own is None else own
        return "" if unit == "1" else unit

    def quantity_unit(self, name: str) -> str:
        """Unit of a quantity, for this robot's actuators.

        Parameters
        ----------
        name : str
            Name in ``polypod.design.QUANTITIES``.

        Returns
        -------
        str
            Unit; empty if it has none.
        """
        coordinates, forces = units(self.model)
        moving = 3 if not self.model.robot.dof else sum(f.motion != "rotation" for f in self.model.robot.dof)
        volumes = "m" if moving == 1 else f"m^{moving}"
        unit = self.quantity(name).unit.format(f=forces, q=coordinates, v=volumes)
        return "" if unit == "1" else unit

    def quantity(self, name: str) -> Quantity | LimitQuantity:
        """A quantity of the study, or the use of a limit of the robot file.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Quantity or LimitQuantity
            The quantity.
        """
        return self.judged[name] if name in self.judged else QUANTITIES[name]

    @property
    def columns(self) -> tuple[str, ...]:
        """All that is computed of a design: the study's quantities, and uses of the robot file's limits."""
        return (*self.study.quantities, *self.judged)

    def label(self, name: str) -> str:
        """What a limit is called: a quantity of the study, or the verdict's name of one of the robot file.

        Parameters
        ----------
        name : str
            Name of the quantity.

        Returns
        -------
        str
            The label.
        """
        return self.judged[name].label if name in self.judged else name

    def share(self, name: str, value: Array) -> Array:
        """Use of a limit: above 1 it is exceeded. Rounding is taken off, as in the verdict.

        Parameters
        ----------
        name : str
            Name of the quantity.
        value : ndarray, shape (D,)
            Its values.

        Returns
        -------
        ndarray, shape (D,)
            Uses.
        """
        if name not in self.judged:
            return share(name, value, self.limits[name])
        return np.where((value > 1) & (value <= 1 + ROUNDING), 1.0, value)

    @property
    def left_out(self) -> dict[str, str]:
        """Limits of the robot file that the study does not judge, by their quantity, and why."""
        if not self.study.robot_limits:
            return dict.fromkeys(self.own.quantities, "the study says robot_limits: false")
        found = {}
        if "workspace volume" in self.study.quantities and "clearance" in self.own.kinds:
            found["clearance in workspace volume"] = "volumes are those within ranges and cones"
        if any(not case.within for case in self.load_cases):
            return found
        reason = "workspaces are poses at rest; give motions"
        return found | {one.label: reason for one in self.judged.values() if one.of_motion}

    def _limit(self, name: str, value: Any) -> float:
        limit = in_unit(value, self.quantity_unit(name), f"limits.{name}")
        if not limit > 0:
            raise InputError(f"limits.{name}: must be greater than 0, got {value!r}")
        return limit

    def _target(self, name: str, value: Any) -> float:
        return in_unit(value, self.quantity_unit(name), f"target.{name}")

    def nominal(self) -> Array:
        """Values of the varied parameters that the robot itself has.

        Returns
        -------
        ndarray, shape (v,)
            Values.
        """
        result = []
        for varied, paths in zip(self.study.vary, self._paths, strict=True):
            numbers = np.array([get(self.model.robot, path) for path in paths], dtype=np.float64)
            result.append(PATTERNS[varied.pattern].read(numbers))
        return np.array(result)

    def end_faults(self) -> list[str]:
        """Ends of ranges at which the robot cannot be built, the other parameters as in the robot file.

        Returns
        -------
        list of str
            A sentence for each.
        """
        ends = np.array([[min(values), max(values)] for values in self.bounds])
        values = np.tile(np.clip(self.nominal(), *ends.T), (2 * len(ends), 1))
        for k, pair in enumerate(ends):
            values[2 * k : 2 * k + 2, k] = pair
        impossible = self.designs(values).impossible
        return [
            f"vary.{n // 2}: at {self.study.vary[n // 2].label} = {values[n, n // 2]:g} {self.unit(n // 2)} there is "
            f"no robot: {text}"
            for n, text in sorted(impossible.items())
        ]

    def parameters(self, designs: Array) -> dict[str, Array]:
        """Robot parameters of designs, as ``parameters=`` of model functions.

        Parameters
        ----------
        designs : ndarray, shape (D, v)
            Values of the varied parameters.

        Returns
        -------
        dict of str to ndarray, shape (D, ...)
            Values by path.
        """
        numbers: dict[str, Array] = {}
        for k, (varied, paths) in enumerate(zip(self.study.vary, self._paths, strict=True)):
            old = np.stack([numbers.get(path, self._own(path, len(designs))) for path in paths], axis=1)
            new = PATTERNS[varied.pattern].apply(old, designs[:, k])
            numbers |= {path: np.ascontiguousarray(new[:, i]) for i, path in enumerate(paths)}
        return numbers

    def _own(self, path: str, count: int) -> Array:
        value = np.array(get(self.model.robot, path), dtype=np.float64)
        return np.broadcast_to(value, (count, *value.shape))

    @lazy
    def functions(self) -> DesignFunctions:
        """The compiled functions, for numbers anywhere in the ranges."""
        shares = np.vstack([np.zeros(len(self.bounds)), np.ones(len(self.bounds)),
                            np.random.default_rng(1).random((8, len(self.bounds)))])  # fmt: skip
        return DesignFunctions(
            self.model, self._seen_from_home(self.parameters(scaled(self.study, self.bounds, shares)))
        )

    def designs(self, values: Array) -> Designs:
        """Designs with given values of the varied parameters.

        Parameters
        ----------
        values : ndarray, shape (D, v)
            Values of the varied parameters.

        Returns
        -------
        Designs
            The designs.
        """
        return self.functions.designs(self._seen_from_home(self.parameters(values)))

    @property
    def moves_home(self) -> bool:
        """Whether the study varies the home position."""
        return any(HOME in paths for paths in self._paths)

    def _seen_from_home(self, numbers: dict[str, Array]) -> dict[str, Array]:
        """The same designs with the robot's own home: a home moved by d is a base moved by -d.

        Motions and workspaces count from home, so that all designs share their poses.
        """
        if HOME not in numbers:
            return numbers
        home = numbers[HOME]
        moved = {name: value for name, value in numbers.items() if name != HOME}
        away = home - np.array(self.model.robot.home.position)
        for path in base_points(self.model.robot):
            moved[path] = moved.get(path, self._own(path, len(home))) - away
        return moved

    @lazy
    def _sourced(self) -> dict[str, Quantity | LimitQuantity]:
        """The quantities over states by name."""
        return {name: self.quantity(name) for name in self.columns if self.quantity(name).functions}

    @lazy
    def _of_motions(self) -> dict[str, LimitQuantity]:
        """What the motion alone decides: limits of the platform."""
        return {name: one for name, one in self.judged.items() if not one.functions}

    @lazy
    def _foldings(self) -> tuple[Folding, ...]:
        """The quantities that are reduced in machine code: those of motion and force together, and conditioning.

        Conditioning does not say whether the legs close; the first of them does.
        """
        asked = {name: q for name, q in self._sourced.items() if q.symbolic}
        names = dict.fromkeys(function for q in asked.values() for function in q.functions)
        alone = "conditioning"
        first = {name: q for name, q in asked.items() if alone not in q.functions}
        second = {name: q for name, q in asked.items() if name not in first}
        known = (*FUNCTIONS, *OWN_FUNCTIONS)
        motion = [name for name in known if name in names and name != alone] or ["inverse_kinematics"]
        groups = [(motion, first), ([alone], second)] if second else [(motion, first)] if first else []
        return tuple(Folding(self.functions, functions, group, self.study.friction) for functions, group in groups)

    @lazy
    def _others(self) -> dict[str, Quantity | LimitQuantity]:
        """The quantities that arrays are reduced to."""
        return {name: q for name, q in self._sourced.items() if not q.symbolic}

    def evaluate(self, designs: Designs, start: int = 0, stop: int | None = None) -> Results:
        """Quantities of a range of designs; the results do not depend on the range, to the bit.

        Parameters
        ----------
        designs : Designs
            The designs.
        start : int, optional
            First design.
        stop : int, optional
            End of the range, exclusive. Default: all.

        Returns
        -------
        Results
            Quantities by name, and why a design has none.
        """
        stop = designs.count if stop is None else stop
        parts = [self._motion(designs, start, stop, case) for case in self.load_cases]
        values = {name: np.stack([part.values[name][:, 0] for part in parts], axis=1) for name in self._sourced}
        reason = np.stack([part.reason[:, 0] for part in parts], axis=1)
        for number in designs.impossible:
            if start <= number < stop:
                reason[number - start] = 1
        for name, one in self._of_motions.items():
            if one.of_pairs:
                uses = [
                    of_pairs(one, self.model, designs, start, stop, case.inputs["pose"]) for case in self.load_cases
                ]
                values[name] = np.stack(uses, axis=1)
                continue
            rows = [of_platform(one, case.inputs) for case in self.load_cases]
            values[name] = np.broadcast_to(np.array(rows), reason.shape).copy()
        for name in self.study.quantities:
            if name not in self._sourced:
                found = self._of_designs(name, designs.values[start:stop])
                values[name] = np.broadcast_to(found[:, None], reason.shape).copy()
        for value in values.values():
            value[reason > 0] = np.nan
        return Results({name: values[name] for name in self.columns}, reason)

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
        if case.within:  # poses at rest have no mean over time
            for name in columns:
                if name in self.judged and self.judged[name].of_motion:
                    columns[name] = np.zeros_like(columns[name])
        reason = _judged(outputs, stop - start)[:, None]
        if self._others:
            found = self._reduced(designs, start, stop, case)
            columns |= found.values
            if case.within:
                columns |= {n: 0.0 * columns[n] for n in self._others if n in self.judged and self.judged[n].of_motion}
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
        called = dict.fromkeys(function for q in self._others.values() for function in q.functions)
        sources = {q.source: SOURCES[q.source] for q in self._others.values() if isinstance(q, Quantity)}
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
                rows = numbers[quantity.source] if isinstance(quantity, Quantity) else quantity.loads(outputs)
                reductions[name].add(rows, case.shares[first:last], self._space)
        values = {name: _worst(self._others[name], r.finish())[:, None] for name, r in reductions.items()}
        return Results(values, reason[:, None])


def _worst(quantity: Quantity | LimitQuantity, values: Array, ranges: Array | None = None) -> Array:
    """The worst (D,) of values (D, k) of actuators or joints; ``ranges`` (D, all, 2) are those of designs."""
    found = quantity.uses(values, ranges) if isinstance(quantity, LimitQuantity) else values
    return np.asarray(quantity.worst(found, axis=1))


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


# ----------------------------------------------------------------------------------------------------------------------
# Load cases of a study, by which all its designs are judged: motions, and workspaces as poses at rest.

MOST_POSES = 1_000_000
"""More poses of a workspace are a slip rather than a wish."""


@dataclass(frozen=True)
class LoadCase:
    """A motion that all designs must make: name, inputs of functions by name (T, ...), shares of the time (T,).

    Or a workspace, whose poses they must take ``within`` their ranges and cones: at rest, all poses alike.
    """

    name: str
    inputs: dict[str, Array]
    shares: Array
    within: bool = False

    @staticmethod
    def of(task: Task) -> LoadCase:
        """The load case of a sampled motion; shares of the time by the trapezoidal rule."""
        motion, time = task.motion, task.time
        ends = np.concatenate([time[:1], (time[1:] + time[:-1]) / 2, time[-1:]])
        wrench = np.zeros((1, 6)) if task.wrench is None else task.wrench
        inputs = {"pose": motion.pose, "twist": motion.twist, "acceleration": motion.acceleration, "wrench": wrench}
        own = {name: np.empty(value.shape) for name, value in inputs.items()}
        for name, value in inputs.items():
            # not a copy: an array that another process sent has a dtype object of its own, which kernels do not take
            own[name][...] = value
        return LoadCase(task.name, own, np.diff(ends) / (time[-1] - time[0]))

    @staticmethod
    def poses(name: str, poses: Array) -> LoadCase:
        """The states of poses (n, 4, 4) held at rest."""
        still = {name: np.zeros((1, 6)) for name in ("twist", "acceleration", "wrench")}
        return LoadCase(name, {"pose": poses, **still}, np.full(len(poses), 1.0 / len(poses)), within=True)

    def rows(self, kernel: Kernel, states: slice = slice(None)) -> list[Array]:
        """The inputs of a function for some of the states; weights are one and a preload is zero."""
        given = []
        for one in kernel.inputs:
            rows = self.inputs.get(one.name, np.full((1, *one.shape), 1.0 if one.name == "weights" else 0.0))
            given.append(rows if len(rows) == 1 else np.ascontiguousarray(rows[states]))
        return given


def workspace_poses(model: Model, k: int, workspace: Workspace) -> Array:
    """Poses (n, 4, 4) of a workspace: all combinations of the places of each coordinate."""
    field = f"workspaces.{k}"
    try:
        space = PoseCoordinates(model, workspace.pivot)
        levels = {}
        for name, (low, high) in workspace.box.items():
            unit = space.units[space.index(name)]
            ends = [in_unit(value, unit, f"box.{name}") for value in (low, high)]
            if not ends[0] < ends[1]:
                raise InputError(f"box.{name}: the lower limit must come first, got {[low, high]}")
            levels[space.index(name)] = np.linspace(ends[0], ends[1], workspace.points)
    except UnknownNameError as error:
        raise InputError(f"{field}.box: {error}") from error
    except InputError as error:
        raise InputError(f"{field}.{error}") from error
    if workspace.points ** len(levels) > MOST_POSES:
        raise InputError(
            f"{field}.points: {workspace.points} points for {len(levels)} coordinates give more than {MOST_POSES} poses"
        )
    grid = np.meshgrid(*levels.values(), indexing="ij")
    x = np.zeros((grid[0].size, len(space.names)))
    for place, column in zip(levels, grid, strict=True):
        x[:, place] = column.ravel()
    poses = space.poses(x)
    if np.isnan(poses).any():
        raise InputError(f"{field}.box: the legs of {model.robot.name!r} do not allow all of its poses")
    return poses


# ----------------------------------------------------------------------------------------------------------------------
# Poses within ranges and cones of designs: workspaces to hold, and how large workspaces are, in machine code.

POINTS = {1: 2048, 2: 160, 3: 32}
"""Cells a coordinate of the grid, by displacements, on which a workspace is counted: a volume is right to about 1 %."""
_ROOM = 1.25
"""Size of that grid over the workspace of the robot as it is."""
_DOUBLINGS = 5
"""How often the grid is doubled for a design whose workspace meets its edge."""


def ranges(mechanism: Mechanism) -> Expression:
    """Values (1 + k) of ranges and cones at a pose, after a zero, and the largest use, 1 at the edge of one."""
    pose = mechanism.inputs().pose
    found = Quantities.at(mechanism, pose.symbols)
    values = ca.vertcat(*[r.value for r in found.requirements], ca.SX(0, 1))
    uses = range_uses(mechanism, values)
    largest = ca.SX(0)
    for k in range(uses.numel()):
        largest = ca.fmax(largest, uses[k])
    outputs = (port("values", ca.vertcat(0, values)), port("use", largest, ()), port("quality", found.closing, ()))
    return Expression("ranges", (pose,), outputs, mechanism.port)


def _inside(mechanism: Mechanism) -> Folds:
    """Whether a pose is within all ranges and cones, its legs close and det J has a ``sign``; and so at an ``edge``."""
    pose = mechanism.inputs().pose
    given, outputs = _judged_poses(mechanism, pose.symbols)
    function = Expression("inside", (pose, *given), outputs, mechanism.port)
    return Folds(closed(mechanism, function), ("total", "most", "least"))


def _followed(mechanism: Mechanism) -> Folds:
    """The same of coordinates ``x`` of a platform that follows its legs: each design has a pose of its own there."""
    found = motion(mechanism)
    reached = {p.name: p.symbols for p in found.outputs}
    given, outputs = _judged_poses(mechanism, reached["pose"], reached["quality"])
    inputs = (found.inputs[0], *given)
    function = replace(found, name="inside_followed", inputs=inputs, outputs=outputs)
    return Folds(function, ("total", "most", "least"))


def _judged_poses(
    mechanism: Mechanism, pose: ca.SX, quality: ca.SX | None = None
) -> tuple[tuple[Port, Port], tuple[Port, ...]]:
    """Inputs ``sign`` and ``edge`` and outputs of what says whether a pose, of a ``quality``, is inside."""
    sign, edge = (Port(name, ca.SX.sym(name), ()) for name in ("sign", "edge"))
    found = Quantities.at(mechanism, pose)
    closing = found.closing if quality is None else ca.fmin(found.closing, quality)
    inside = ca.logic_and(closing > SMALLEST_MARGIN, found.determinant * sign.symbols > 0)
    for requirement in found.requirements:
        inside = ca.logic_and(inside, requirement.holds)
    return (sign, edge), (port("share", inside, ()), port("met", inside * edge.symbols, ()), port("taken", inside, ()))


class Inside:
    """Workspaces of designs, about the home of the robot as it is."""

    def __init__(self, functions: DesignFunctions) -> None:
        self._functions = functions
        self.space = PoseCoordinates(functions.model)
        mechanism = functions.kernels.mechanism
        self._mechanism = mechanism
        self._sign = np.full(1, self.space.sign)

    @lazy
    def _of_poses(self) -> ReductionKernel:
        return ReductionKernel(lambda: _inside(self._mechanism), self._functions.varied, self._cache_key("inside"))

    @lazy
    def _of_coordinates(self) -> ReductionKernel:
        return ReductionKernel(lambda: _followed(self._mechanism), self._functions.varied, self._cache_key("followed"))

    def _cache_key(self, what: str) -> CacheKey | None:
        cache_key = self._functions.model.kernels.cache_key(f"workspace of designs: {what}", self._mechanism, True)
        return cache_key and cache_key.extended(fingerprint(*_SOURCES))

    def taken(self, values: Array, poses: Array) -> Array:
        """Whether designs (D, k) take all of some poses (n, 4, 4): 1 or 0 (D,)."""
        inputs = {"pose": poses, "sign": self._sign, "edge": np.zeros(1)}
        return self._of_poses(values, inputs, np.zeros(len(poses)))["taken"]

    @lazy
    def box(self) -> Array:
        """Lows and highs (c, 2) of displacements from home within which workspaces are counted first."""
        space = self.space
        names = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
        found = extent(WorkspaceTest(space), names, space.point())
        middle, half = found.mean(axis=1), 0.5 * _ROOM * np.ptp(found, axis=1)
        return np.stack([middle - half, middle + half], axis=1)

    def volumes(self, values: Array) -> Array:
        """Volume (D,) of the positions that designs (D, k) reach in their home orientation; NaN if nothing bounds it.

        [m^3], or m^2 and m of robots of fewer displacements. Positions are cells of a grid; one that a workspace meets
        the edge of is doubled.
        """
        volume, left, box = np.full(len(values), np.nan), np.arange(len(values)), self.box
        for _ in range(_DOUBLINGS + 1):
            if not len(left):
                break
            x, edge, cell = self._grid(box)
            found = self._at(values[left], x, edge, np.full(len(x), cell))
            whole = found["met"] == 0
            volume[left[whole]] = found["share"][whole]
            left = left[~whole]
            middle, half = box.mean(axis=1), np.ptp(box, axis=1)
            box = np.stack([middle - half, middle + half], axis=1)
        return volume

    def _at(self, values: Array, x: Array, edge: Array, weights: Array) -> dict[str, Array]:
        """Folds over coordinates (n, m); each design that follows its legs has poses of its own there."""
        given = {"sign": self._sign, "edge": edge}
        if self._mechanism.platform.is_constrained:
            return self._of_coordinates(values, given | {"x": x}, weights)
        return self._of_poses(values, given | {"pose": self.space.poses(x)}, weights)

    def _grid(self, box: Array) -> tuple[Array, Array, float]:
        """Coordinates (n, m) at the middles of cells, which are at the edge (n,), and the volume of a cell."""
        points = POINTS[len(box)]
        steps = np.ptp(box, axis=1) / points
        axes = [low + step * (np.arange(points) + 0.5) for (low, _), step in zip(box, steps, strict=True)]
        places = np.stack(np.meshgrid(*[np.arange(points)] * len(axes), indexing="ij"), axis=-1).reshape(-1, len(axes))
        x = np.zeros((len(places), len(self.space.names)))
        x[:, ~self.space.turns] = np.stack([axis[places[:, k]] for k, axis in enumerate(axes)], axis=1)
        edge = ((places == 0) | (places == points - 1)).any(axis=1)
        return x, edge.astype(np.float64), float(np.prod(steps))


# ----------------------------------------------------------------------------------------------------------------------
# The quantities of a study as one compiled function, reduced over the states of a motion where they are computed.

_SOURCES = (
    "design/evaluate.py", "design/quantities.py", "design/robot_limits.py", "analysis/workspace/quantities.py",
    "limits/kinds.py", "limits/symbols.py",
)  # fmt: skip
OWN_FUNCTIONS = {"ranges": ranges}
"""Functions of a state that studies have beside those of models."""
_ABOUT: dict[str, Fold] = {"quality": "least", "converged": "least", "verdict": "most"}
"""Outputs that say whether there is an answer, and how the worst of all states is found."""


class _Reduced(NamedTuple):
    """A reduction as folds of functions of a number, and the result from their values."""

    folds: tuple[tuple[Fold, Callable[[ca.SX], ca.SX]], ...]
    finish: Callable[..., Array]


def _itself(value: ca.SX) -> ca.SX:
    return value


_REDUCED = {
    "peak": _Reduced((("most", ca.fabs),), np.positive),
    "rms": _Reduced((("total", lambda value: value * value),), np.sqrt),
    "most": _Reduced((("most", _itself),), np.positive),
    "least": _Reduced((("least", _itself),), np.positive),
    "span": _Reduced((("most", _itself), ("least", _itself)), np.subtract),
}


class Folding:
    """Quantities ``asked`` for, by name, of the functions ``names`` of designs."""

    def __init__(
        self,
        functions: DesignFunctions,
        names: Sequence[str],
        asked: Mapping[str, Quantity | LimitQuantity],
        friction: bool,
    ) -> None:
        self._asked = dict(asked)
        self._ranges = functions.kernels.mechanism.limit_ranges_of
        folded = {q.key: name for name, q in asked.items() if isinstance(q, Quantity)}
        self._shared = {
            name: folded[q.folded_as]
            for name, q in asked.items()
            if isinstance(q, LimitQuantity) and q.folded_as in folded
        }
        for name, q in asked.items():  # limits that fold the same
            if isinstance(q, LimitQuantity) and name not in self._shared:
                first = next(n for n, o in asked.items() if isinstance(o, LimitQuantity) and o.folds == q.folds)
                if first != name:
                    self._shared[name] = self._shared.get(first, first)
        self._ratings = {name: rows for q in asked.values() for name, rows in q.inputs.items()}
        kernels, mechanism = functions.kernels.kernels, functions.kernels.mechanism
        verdict = mechanism.platform.is_constrained

        def build() -> Folds:
            theirs = [name for name in names if name in FUNCTIONS]
            own = [OWN_FUNCTIONS[name](mechanism) for name in names if name in OWN_FUNCTIONS]
            function = kernels.merged(mechanism, theirs, friction, verdict, own)
            known = {p.name: p.symbols for p in function.outputs}
            given = {
                name: Port(name, ca.SX.sym(name.replace(" ", "_"), rows.size), rows.shape)
                for name, rows in self._ratings.items()
            }
            outputs, folds = [], []
            for name, quantity in asked.items():
                if name in self._shared:
                    continue
                value = quantity.expression(known, mechanism, given)
                for number, (fold, of) in enumerate(_REDUCED[quantity.reduce].folds):
                    outputs.append(port(f"{name} {number}", ca.densify(of(value))))
                    folds.append(fold)
            about = [p for p in function.outputs if p.name.rpartition(".")[2] in _ABOUT]
            for k, p in enumerate(about):
                if not any(ca.is_equal(p.symbols, other.symbols) for other in about[:k]):
                    outputs.append(p)
                    folds.append(_ABOUT[p.name.rpartition(".")[2]])
            inputs = (*function.inputs, *given.values())
            return Folds(replace(function, inputs=inputs, outputs=tuple(outputs)), tuple(folds))

        what = repr((tuple(names), friction, verdict, [(name, q.key) for name, q in asked.items()]))
        cache_key = kernels.cache_key(what, mechanism)
        self._folded = ReductionKernel(
            build, functions.varied, cache_key and cache_key.extended(fingerprint(*_SOURCES))
        )

    def __call__(self, values: Array, inputs: Mapping[str, Array], shares: Array) -> dict[str, Array]:
        """Quantities (D,) by name, and what is known of the answers (D, 1), of designs (D, k) at states."""
        rows = dict(inputs) | {name: ratings[None] for name, ratings in self._ratings.items()}
        for p in self._folded.inputs:  # weights are one and a preload is zero
            rows.setdefault(p.name, np.full((1, *p.shape), 1.0 if p.name == "weights" else 0.0))
        found = self._folded(values, rows, shares)
        result = {}
        for name, quantity in self._asked.items():
            reduced = _REDUCED[quantity.reduce]
            own = self._shared.get(name, name)
            parts = [found[f"{own} {number}"] for number in range(len(reduced.folds))]
            folded = reduced.finish(*parts)
            if own != name and isinstance(quantity, LimitQuantity) and isinstance(self._asked[own], Quantity):
                folded = folded[:, np.array([one.index for one in quantity.limits])]
            cones = isinstance(quantity, LimitQuantity) and quantity.kind == "cone" and not quantity.alike
            result[name] = _worst(quantity, folded, self._ranges(values) if cones else None)
        return result | {name: found[name][:, None] for name in found if name.rpartition(".")[2] in _ABOUT}


# ----------------------------------------------------------------------------------------------------------------------
# Reductions over states, in pieces: each is started, fed with arrays (D, T, k) and finished.


def folded(values: Array, combine: Any) -> Array:
    """(D, k) from (D, T, k) by halving T: long inner loops are ten times as fast as sums over the middle of three axes.

    The order is the same whatever D is, and with it every bit. ``values`` is overwritten.
    """
    n = values.shape[1]
    while n > 8:
        half, rest = n // 2, n - n // 2
        combine(values[:, :half], values[:, rest:n], out=values[:, :half])
        n = rest
    return np.asarray(combine.reduce(values[:, :n], axis=1))


class Reduction:
    """One reduction of D designs; ``add`` takes numbers (D, T, k) and the states' shares of the time (T,).

    ``space`` gives an array of a shape to work in, which need not be new each time: new ones cost a third of the time.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._high: Array | None = None
        self._low: Array | None = None

    def add(self, values: Array, shares: Array, space: Callable[[tuple[int, ...]], Array] = np.empty) -> None:
        """Take further states into the reduction."""
        work = space(values.shape)
        if self.kind in ("rms", "mean"):
            np.multiply(values, values if self.kind == "rms" else 1.0, out=work)
            work *= np.repeat(shares, values.shape[2]).reshape(values.shape[1:])  # whole rows: long inner loops
            part = folded(work, np.add)
            self._high = part if self._high is None else self._high + part
            return
        if self.kind in ("most", "span", "peak"):
            high = folded((np.abs if self.kind == "peak" else np.positive)(values, out=work), np.maximum)
            self._high = high if self._high is None else np.maximum(self._high, high)
        if self.kind in ("least", "span"):
            low = folded(np.positive(values, out=work), np.minimum)
            self._low = low if self._low is None else np.minimum(self._low, low)

    def finish(self) -> Array:
        """The reduced values (D, k) of D designs and k columns."""
        if self.kind in ("rms", "mean"):
            assert self._high is not None
            return np.sqrt(self._high) if self.kind == "rms" else self._high
        if self.kind == "span":
            assert self._high is not None
            assert self._low is not None
            return self._high - self._low
        result = self._low if self.kind == "least" else self._high
        assert result is not None
        return result


# ----------------------------------------------------------------------------------------------------------------------
# Whether a study makes sense for its robot: the numbers it varies, and the quantities it asks for.


def varied_paths(study: Study, robot: Robot) -> list[list[str]]:
    """Paths of the robot's numbers that each varied one sets; errors for what its pattern is not about."""
    for k, varied in enumerate(study.vary):
        _check_home(robot, k, varied.parameters)
    paths = [_matching(robot, k, varied.parameters) for k, varied in enumerate(study.vary)]
    for k, varied in enumerate(study.vary):
        _check_pattern(robot, k, paths[k], varied.parameters, varied.pattern)
    _check_overlaps(study, paths)
    return paths


def _check_home(robot: Robot, k: int, numbers: str) -> None:
    """Raise for a home that cannot vary: its angles, and where legs or elements are drawn at home."""
    if numbers.partition(".")[0] != "home":
        return
    field = f"vary.{k}.parameters"
    if numbers != HOME:
        raise InputError(
            f"{field}: {numbers!r}: of home only {HOME!r} can vary, with the pattern x, y or z: motions are the same "
            "for all designs, and a turned home would turn them; to turn the platform at home vary 'legs.*.platform' "
            "with the pattern turn, or make a robot file for each home and compare them"
        )
    drawn = [leg.name for leg in robot.legs if hasattr(leg, "joints")]
    drawn += [element.name for element in robot.elements if getattr(element, "at", None) is not None]
    if drawn:
        raise InputError(
            f"{field}: {numbers!r}: {', '.join(drawn[:3])}{' and others' if len(drawn) > 3 else ''} of {robot.name!r} "
            "are drawn where they are at home, so another home is another drawing; make a robot file for each home and "
            "compare them"
        )


def base_points(robot: Robot) -> list[str]:
    """Paths of the points of legs that are fixed in the base: lengths in the base frame, not in the platform's.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    list of str
        Their paths.
    """
    return [
        f"legs.{k}.{name}"
        for k, leg in enumerate(robot.legs)
        for name, field in type(leg).model_fields.items()
        if not name.startswith("platform") and unit_of(field) == "m" and np.shape(getattr(leg, name)) == (3,)
    ]


def _matching(robot: Robot, k: int, pattern: str) -> list[str]:
    """The numbers that a pattern names; an error lists what all legs have once."""
    try:
        return matching_paths(robot, pattern)
    except UnknownNameError as error:
        alike = dict.fromkeys(re.sub(r"^legs\.\d+\.", "legs.*.", path) for path in error.known)
        raise InputError(f"vary.{k}.parameters: {UnknownNameError('parameter', pattern, tuple(alike))}") from error


def _check_pattern(robot: Robot, k: int, paths: list[str], numbers: str, pattern: str) -> None:
    shapes = {np.shape(get(robot, path)) for path in paths}
    wanted = PATTERNS[pattern].shape
    if wanted is not None and shapes != {wanted}:
        what = "points" if wanted == (3,) else "ranges"
        raise InputError(f"vary.{k}.pattern: {pattern} is for {what}; {numbers!r} matches others, use pattern: value")
    if len(shapes) != 1:
        raise InputError(f"vary.{k}.parameters: {numbers!r} matches parameters of several shapes {sorted(shapes)}")


def _check_overlaps(study: Study, paths: list[list[str]]) -> None:
    """Two that vary the same number must both count: the second must not put its own in the place of the first."""
    vary = study.vary
    for j, k in combinations(range(len(vary)), 2):
        second = vary[k].pattern
        replaces = second == "value" or (second == vary[j].pattern and second not in ("factor", "turn"))
        both = sorted(set(paths[k]) & set(paths[j]))
        if replaces and both:
            raise InputError(f"vary.{k}.parameters: {both[0]} is already varied by {vary[j].label!r}; vary it once")


def check_limits(limits: Mapping[str, float], targets: Mapping[str, float]) -> None:
    """Raise for limits that no design can keep, or that exclude a target."""
    longest, shortest = limits.get("longest", np.inf), limits.get("shortest", -np.inf)
    if not longest > shortest:
        raise InputError(
            f"limits.longest: at most {longest:g} and shortest at least {shortest:g} exclude each other; exchange "
            "them, or give one of them",
            code="exclusive",
        )
    if limits.get("condition", np.inf) < 1:
        raise InputError(
            f"limits.condition: a condition number is never below 1, got {limits['condition']:g}; give a larger limit",
            code="exclusive",
        )
    for name in sorted(set(limits) & set(targets)):
        if share(name, np.array(targets[name]), limits[name]) > 1:
            raise InputError(
                f"target.{name}: {targets[name]:g} is beyond its limit of {limits[name]:g}; change one of them",
                code="exclusive",
            )


def check_quantities(study: Study, model: Model) -> None:
    """Raise for quantities that the robot does not have: stiffness without springs, a volume without displacements."""
    robot = model.robot
    elastic = [name for name in study.quantities if QUANTITIES[name].source in ("stiffness", "frequency")]
    if elastic and not springs_of(model.kernels.mechanism):
        raise InputError(
            f"report: {elastic[0]}: the legs of {robot.name!r} have no stiffness; add it to its file",
            code="no_stiffness",
        )
    if elastic and robot.base_stiffness is not None:
        raise InputError(f"report: {elastic[0]}: the base of {robot.name!r} deflects, which studies do not include")
    held = [a.name for a in model.actuators if a.drive.drive_spring == "held motor"]
    if held and "natural frequency" in study.quantities:
        raise InputError(
            f"report: natural frequency: motors of {', '.join(held)} are held (drive_spring), which studies do not "
            "include; leave drive_spring out, or use 'polypod stiffness'"
        )
    turning = bool(robot.dof) and all(coordinate.motion == "rotation" for coordinate in robot.dof)
    if turning and "workspace volume" in study.quantities:
        raise InputError(
            f"report: workspace volume: the platform of {robot.name!r} only rotates, about {', '.join(model.dof)}; "
            "require a box of its angles instead (workspaces)"
        )
