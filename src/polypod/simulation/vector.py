"""Many robots stepped side by side by a loop of one's own: for learning and for controllers that sample."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..control.contract import Measurement
from ..description import Robot
from ..errors import InputError
from ..legs.contract import SMALLEST_MARGIN
from ..model import Model
from ..model.arguments import Argument, batch
from ..model.calls import Calls
from . import kernels as graphs
from .arguments import STEP
from .batch import RobotsOfRuns, Rows, Watcher, answered, by_name, charts
from .chart import poses
from .integrators import FIXED, Integrator
from .system import System, check_model


class VectorSimulation:
    """Many runs of a robot, a row each, stepped together through control periods in which forces are held.

    The mechanics is that of ``polypod.simulate`` with ``rate``, by the same compiled periods of RK4, on all cores.
    There are no records and no events: ``advance`` says which rows have no answer, or are past a limit or too near a
    singularity at the end of the period; these stay where they were until ``place`` puts them elsewhere.

    Parameters
    ----------
    model : Model, Robot, str or Path
        Model of a robot with a rigid platform, or what ``polypod.Model`` takes.
    count : int
        Number of rows.
    rate : float, optional
        Control periods a second [Hz].
    step : float, optional
        Longest step of RK4 [s].
    friction : bool, optional
        Whether friction in the joints is included.
    limits : bool, optional
        Whether ranges, cones and clearances are limits.
    singularity : float, optional
        Distance to singularity (``Model.conditioning``) at which a row is lost.
    parameters : mapping of str to array_like, optional
        Values that replace parameters of the robot, by path: one for all rows or (count, ...), a design for each row.

    Attributes
    ----------
    pose : ndarray, shape (count, 4, 4)
        Poses of {P} in {B}.
    twist : ndarray, shape (count, 6)
        Twists [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    q, qdot : ndarray, shape (count, n)
        Coordinates and rates of the actuators [m or rad, and per second].

    Examples
    --------
    >>> rows = VectorSimulation("five-bar", 3, rate=100.0)
    >>> lost = rows.advance([[0.0, 0.0], [0.1, 0.1], [-0.1, 0.1]])
    >>> lost.tolist(), rows.qdot.shape
    ([False, False, False], (3, 2))
    """

    def __init__(
        self,
        model: Model | Robot | str | Path,
        count: int,
        *,
        rate: float = 100.0,
        step: float = STEP,
        friction: bool = True,
        limits: bool = True,
        singularity: float = 1e-3,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        known = Model(model) if isinstance(model, (Robot, str, Path)) else model
        check_model(known)
        known.robot.refuse_internal("VectorSimulation")
        if known.robot.flexible:
            raise InputError(f"model: {known.robot.name!r} has a flexible platform; use model.rigid", code="flexible")
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise InputError(f"count: a number of rows from 1 on is needed, got {count!r}")
        if not (np.isfinite(rate) and rate > 0):
            raise InputError(f"rate: a number of periods a second greater than 0 is needed, got {rate!r}")
        self.model, self.count, self.rate = known, int(count), float(rate)
        self._system = System(known, friction)
        self._calls = Calls(known.kernels, self._system.dof, known.robot.platform_size)
        self._integrator = Integrator(FIXED, step, 1e-9, 1e-12)
        self._actions: dict[str, Any] = dict.fromkeys(("limit", "singularity"), "stop")
        if not limits:
            self._actions["limit"] = "ignore"
        self._threshold = singularity
        self._every: Rows = np.arange(self.count)
        self._values = {path: np.asarray(value, dtype=np.float64) for path, value in (parameters or {}).items()}
        home = np.tile(known.robot.home.matrix, (self.count, 1, 1))
        self._take_designs(home)
        layout = self._system.layout
        self._parts, self._size = layout.row, layout.state_size
        self._row: Array = np.zeros((self.count, layout.row["margins"].stop))
        kernel = self._period
        self._inner: Array = np.zeros((self.count, next((p.length for p in kernel.inputs if p.name == "inner"), 0)))
        self._spare = tuple(np.empty((self.count, *p.shape)) for p in kernel.outputs)
        self._watch: Watcher | None = None
        lost = self.place(self._designs.homes if self._designs is not None else home)
        if lost.any():
            bad = int(np.argmax(lost))
            reason = self._impossible.get(bad, "the robot cannot start there, or starts past a limit")
            raise InputError(f"parameters: row {bad} of {self.count}: {reason}", code="limits")

    def _take_designs(self, pose: Array) -> None:
        """The designs of all rows from their values."""
        self._designs = None
        if self._values:
            self._designs = self._calls.designs(self._values)
            if self._designs.shape not in ((), (self.count,)):
                raise InputError(
                    f"parameters: one value for all rows or one for each, ({self.count}, ...), is needed, got designs "
                    f"{self._designs.shape}",
                    code="batch_axes",
                )
        states = self._calls.states([Argument("pose", pose, (4, 4))], self._designs)
        self._robots = RobotsOfRuns(self._system, states)
        self._period = self._robots.kernel(graphs.period, self._every)
        self._impossible = {} if self._designs is None else self._designs.impossible

    @property
    def pose(self) -> Array:
        return poses(self._row)

    @property
    def twist(self) -> Array:
        return self._row[:, self._parts["twist"]].copy()

    @property
    def q(self) -> Array:
        return self._row[:, self._parts["q"]].copy()

    @property
    def qdot(self) -> Array:
        return self._row[:, self._parts["qdot"]].copy()

    def measurement(self) -> Measurement:
        """What sensors see of all rows, as controllers of ``polypod.control`` take it.

        Returns
        -------
        Measurement
            Copies, with a row for each robot.
        """
        none = np.zeros((self.count, 0))
        return Measurement(self.q, self.qdot, self.pose, self.twist, none, none)

    def place(
        self,
        pose: ArrayLike,
        twist: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[np.bool_]:
        """Put rows elsewhere, as other designs if wanted.

        Parameters
        ----------
        pose : array_like, shape (4, 4) or (k, 4, 4)
            Poses of {P} in {B}.
        twist : array_like, shape (6,) or (k, 6), optional
            Twists. Default: at rest.
        rows : array_like of int, shape (k,), optional
            Which rows. Default: all of them.
        parameters : mapping of str to array_like, optional
            New values (k, ...) of the parameters that the simulation was made with.

        Returns
        -------
        ndarray of bool, shape (k,)
            Rows that cannot be there: a leg does not close, a limit is passed, or the design can be no robot. They are
            placed all the same, and lost at the next step.
        """
        which = self._every if rows is None else np.asarray(rows, dtype=np.int64)
        k = len(which)
        if not k:
            return np.zeros(0, dtype=bool)
        if parameters is not None:
            self._vary(parameters, which)
        given = [
            Argument("pose", np.broadcast_to(np.asarray(pose, dtype=np.float64), (k, 4, 4)), (4, 4)),
            Argument("twist", np.broadcast_to(0.0 if twist is None else twist, (k, 6)), (6,)),
        ]
        states = self._calls.checked(given) if self._designs is None else batch(given)
        base, chart = charts(self._system.layout, dict(zip(("pose", "twist"), states.rows, strict=True)))
        found = by_name(self._robots.kernel(graphs.snapshot, which), base, chart)
        self._row[which] = found["row"]
        inner = self._inner.shape[1]
        self._inner[which] = 0.0
        if "places" in found:
            self._inner[which, inner - found["places"].shape[1] - 1 : inner - 1] = found["places"]
        if self._watch is None:
            self._watch = Watcher(self._robots, self._actions, self._threshold, self._row)
        self._watch.restart(which, found["row"])
        margin, limit_margin, bound, determinant = found["row"][:, -4:].T
        alert = np.stack([limit_margin, np.minimum(bound, margin), determinant], axis=1)
        lost = ~self._watch.quiet(which, found["row"], alert) | ~(found["quality"] > SMALLEST_MARGIN)
        lost |= ~np.isfinite(found["row"]).all(axis=1)
        return lost | np.isin(which, list(self._impossible))

    def _vary(self, parameters: Mapping[str, ArrayLike], which: Rows) -> None:
        """Other designs for some rows."""
        unknown = [path for path in parameters if path not in self._values]
        if unknown:
            raise InputError(
                f"parameters: {unknown[0]!r} is not varied; name it, with its first values, when the simulation is "
                f"made (it has {', '.join(self._values) or 'none'})"
            )
        for path, value in parameters.items():
            new = np.asarray(value, dtype=np.float64)
            old = self._values[path]
            core = new.shape[1:] if new.shape[:1] == (len(which),) else new.shape
            whole = np.broadcast_to(old, (self.count, *core)).copy()
            whole[which] = new
            self._values[path] = whole
        self._take_designs(np.tile(self.model.robot.home.matrix, (self.count, 1, 1)))
        if self._watch is not None:
            self._watch.robots = self._robots

    def advance(self, force: ArrayLike, wrench: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Advance all rows by one period under forces that are held.

        Parameters
        ----------
        force : array_like, shape (n,) or (count, n)
            Actuator forces [N or N m].
        wrench : array_like, shape (6,) or (count, 6), optional
            External wrench at the origin of {P}, base axes [N, N m]. Default: zero.

        Returns
        -------
        ndarray of bool, shape (count,)
            Rows that are lost: no answer, past a limit, too near a singularity, or a force that is not finite. They
            have not moved.
        """
        acting = self._rows("force", force, len(self._system.actuators))
        push = self._rows("wrench", np.zeros(6) if wrench is None else wrench, 6)
        period = 1.0 / self.rate
        steps = self._integrator.count(period)
        state = self._row[:, : self._size] if self.count > 1 else np.ascontiguousarray(self._row[:, : self._size])
        given = [state, acting, push, np.array([period / steps]), np.array([float(steps)])]
        given += [self._inner] if self._inner.shape[1] else []
        found = by_name(self._period, *given, out=self._spare)
        assert self._watch is not None
        lost = ~(answered(found) & self._watch.quiet(self._every, found["row"], found["alert"]))
        lost[list(self._impossible)] = True
        row, inner = found["row"], found.get("inner", self._inner)
        if lost.any():
            row[lost], inner[lost] = self._row[lost], self._inner[lost]
        before = {"row": self._row, "inner": self._inner}
        self._row, self._inner = row, inner
        self._spare = tuple(before.get(name, part) for name, part in found.items())
        return lost

    def _rows(self, name: str, value: ArrayLike, length: int) -> Array:
        """Numbers (count, length), or (1, length) for all rows."""
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: an array of numbers is needed, got {type(value).__name__}") from error
        if array.shape not in ((length,), (self.count, length)):
            raise InputError(f"{name}: shape ({length},) or ({self.count}, {length}) is needed, got {array.shape}")
        return np.ascontiguousarray(array.reshape(-1, length))
