"""What a model of a flexible robot gives beside its dynamics: modes, deflections, shapes that a motion keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description.modes import Modes
from ..errors import InputError, Reason, StateError
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from .arguments import Argument, PoseLike, batch
from .checks import check_wrench
from .design_rows import Failures, failure_reason
from .diagnosis import reasons
from .model_part import ModelPart, Parameters
from .results import Equilibrium
from .row_kernels import Functions

_REST = np.zeros(6)
_NO_SHAPE = "no equilibrium shape of the platform"
_TOO_SOFT = Reason(
    "the platform is too flexible for its load: it would bend by more than its own size, or buckle", "too_flexible"
)


class ElasticCalls(ModelPart):
    """The part of ``polypod.Model`` that only robots with a flexible platform have."""

    @lazy
    def modes(self) -> Modes:
        """The modes that the platform bends in."""
        from ..platforms.modes import modes_of  # finite elements, for flexible platforms only

        return modes_of(self.robot)

    def deflection(self, elastic: ArrayLike) -> Array:
        """Displacement of the attachment points (..., n, 3) [m], platform axes: Phi_d(i) q_e of Long (12)."""
        rows = batch([Argument("elastic", elastic, (self.modes.count,))])
        return rows.restore(np.einsum("iak,nk->nia", self.modes.attachment_shapes, rows.rows[0]))

    def static_equilibrium(
        self, pose: PoseLike, wrench: ArrayLike | None = None, *, parameters: Parameters | None = None
    ) -> Equilibrium:
        """The platform's shape at rest and the forces that hold it: start simulations here, not at zero."""
        return self._steady("static_equilibrium", pose, _REST, _REST, wrench, False, parameters)

    def steady_shape(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        parameters: Parameters | None = None,
    ) -> Equilibrium:
        """The shape that a motion bends the platform to if it does not vibrate (no elastic rate or acceleration)."""
        return self._steady("steady_shape", pose, twist, acceleration, wrench, friction, parameters)

    def _steady(
        self,
        name: str,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None,
        friction: bool,
        parameters: Parameters | None,
    ) -> Equilibrium:
        if not np.all(self.modes.stiffness > 0):
            raise InputError(f"{name}: every mode needs a positive stiffness", code="no_stiffness")
        if self._kernels.mechanism.redundant:
            raise InputError(
                f"{name}: with more actuators than degrees of freedom the deflection depends on how they share "
                "the load, which is not determined; use one actuator per degree of freedom",
                code="redundant",
            )
        check_wrench(self.robot, wrench)
        kernels: Functions = self._kernels
        kernel = kernels.get("steady_shape", friction)
        given = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        arguments = self._calls.arguments(kernel, given)
        failures: Failures = []
        if parameters is None:
            states = self._calls.checked(arguments)
        else:
            found = self._calls.rows_of_designs(arguments, parameters)
            states, kernels, failures = found.batch, found.kernels, found.failures
            kernel = kernels.get("steady_shape", friction)
        elastic, force, converged, _ = kernel(*states.rows)
        # a shape larger than the platform solves the equations of small deflections and means nothing
        with np.errstate(invalid="ignore"):
            small = np.linalg.norm(self.deflection(elastic), axis=-1).max(axis=-1) < self.size
        bad = ~((converged != 0) & small)
        for impossible, _ in failures:
            bad |= impossible
            elastic[impossible] = force[impossible] = np.nan
        result = Equilibrium(states.restore(elastic), states.restore(force))
        if bad.any():
            index = np.flatnonzero(bad)
            poses = np.ascontiguousarray(np.broadcast_to(states.rows[0], (states.size, 4, 4))[index])
            texts = self._no_shape(kernels.at(index), poses)
            texts = [failure_reason(failures, int(k)) or text for k, text in zip(index, texts, strict=True)]
            many = states.size > 1
            head = (
                f"no equilibrium shape of the platform for {len(index)} of {states.size} poses" if many else _NO_SHAPE
            )
            raise StateError(f"{name}: {head}: {texts[0]}", index, texts, result)
        return result

    def _no_shape(self, kernels: Functions, poses: Array) -> list[str]:
        """Why there is no shape: the undeformed robot is out of reach, or the platform is too soft."""
        flat = np.zeros((len(poses), self.modes.count))
        margins = np.asarray(kernels.get("margins")(poses, flat))
        closed = [bool((state[:, 0] > SMALLEST_MARGIN).all()) for state in margins]
        open_ = reasons(kernels.mechanism, margins)
        return [_TOO_SOFT if holds else text for holds, text in zip(closed, open_, strict=True)]
