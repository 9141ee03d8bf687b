"""The dynamic part of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..formulations import newton_euler
from ..lazy import lazy
from ..mechanism.acting_elements import has_elements, placed_elements
from .arguments import Argument, PoseLike, batch
from .diagnosis import Errors
from .model_part import ModelPart, Parameters
from .reactions import Reactions
from .resting_pose import RestingPose, resting_pose
from .results import DirectDynamics, Distribution, ElementState, Energy, FlexibleEnergy, InverseDynamics


class DynamicCalls(ModelPart):
    """Inverse and direct dynamics, mass matrix, bias, energies, reactions."""

    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        formulation: str = "virtual-power",
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Any:
        """Actuator forces (..., n) [N or N m] for a motion, positive along growing coordinates.

        J^T f = M udot + bias - w_ext. ``wrench`` is the external wrench on the platform at the origin of its frame,
        base axes. Of more actuators than degrees of freedom the forces of least norm are given, unless ``distribution``
        says otherwise. A flexible robot's answer is an ``InverseDynamics``.
        """
        if errors is None and parameters is None and distribution is None and elastic is None and elastic_rate is None:
            motion = (pose, twist, acceleration) if wrench is None else (pose, twist, acceleration, wrench)
            force = self._calls.single(motion, "inverse_dynamics", friction, formulation)
            if force is not None:
                return force
        state = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        state |= {"elastic": elastic, "elastic_rate": elastic_rate, **self._distribution_inputs(distribution)}
        answer = (lambda r: InverseDynamics(*r)) if self.robot.flexible else None
        return self._call("inverse_dynamics", errors, parameters, answer, friction, formulation, **state)

    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Any:
        """Acceleration (..., 6) of the platform from actuator forces (..., n); a flexible robot's: DirectDynamics."""
        if errors is None and parameters is None and elastic is None and elastic_rate is None:
            given = (pose, twist, force) if wrench is None else (pose, twist, force, wrench)
            acceleration = self._calls.single(given, "direct_dynamics", friction)
            if acceleration is not None:
                return acceleration
        state = {"pose": pose, "twist": twist, "force": force, "wrench": wrench}
        state |= {"elastic": elastic, "elastic_rate": elastic_rate}
        answer = (lambda r: DirectDynamics(*r)) if self.robot.flexible else None
        return self._call("direct_dynamics", errors, parameters, answer, friction, **state)

    def mass_matrix(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Mass matrix (..., m, m) of the whole robot with respect to u: T = u^T M u / 2; (6 + N) of a flexible one.

        u is that of ``jacobian``; ``rate_map`` gives it from the rates of a robot's generalized coordinates.
        """
        if errors is None and parameters is None and elastic is None:
            answer = self._calls.single((pose,), "mass_matrix")
            if answer is not None:
                return answer
        return self._call("mass_matrix", errors, parameters, pose=pose, elastic=elastic)

    def bias(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Generalized force (..., m) of all but the acceleration: M udot + bias = J^T f + w_ext."""
        state = {"pose": pose, "twist": twist, "elastic": elastic, "elastic_rate": elastic_rate}
        return self._call("bias", errors, parameters, None, friction, **state)

    def gravity(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """The part of the bias (..., m) that is left at rest."""
        return self.bias(pose, np.zeros(6), False, elastic=elastic, parameters=parameters, errors=errors)

    def energy(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Any:
        """Kinetic and potential energy [J]; of a flexible robot elastic energy too."""
        state = {"pose": pose, "twist": twist, "elastic": elastic, "elastic_rate": elastic_rate}
        kind: Any = FlexibleEnergy if self.robot.flexible else Energy
        return self._call("energy", errors, parameters, lambda r: kind(*r), **state)

    def elements(
        self,
        pose: PoseLike,
        twist: ArrayLike | None = None,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, ElementState]:
        """Springs, dampers and other elements by name: length or displacement, rate, force, potential, loss.

        Parameters
        ----------
        pose, twist : state of the platform; at rest unless a twist is given

        Returns
        -------
        An ``ElementState`` for each element of the file, then for each passive joint with a stiffness (``LEG.JOINT``);
        empty for a robot without.
        """
        placed = placed_elements(self._kernels.mechanism)
        if not placed:
            return {}
        state = {"pose": pose, "twist": np.zeros(6) if twist is None else twist}
        state |= {"elastic": elastic, "elastic_rate": elastic_rate}

        def by_name(parts: list[Array]) -> dict[str, ElementState]:
            found, start = {}, 0
            for number, one in enumerate(placed):
                own = slice(start, start := start + len(one.axes))
                s, rate, force = (part[..., own] for part in parts[:3])
                found[one.name] = ElementState(one.axes, s, rate, force, parts[3][..., number], parts[4][..., number])
            return found

        found: dict[str, ElementState] = self._call("elements", errors, parameters, by_name, **state)
        return found

    def equilibrium(
        self, force: ArrayLike | None = None, wrench: ArrayLike | None = None, start: PoseLike | None = None
    ) -> RestingPose:
        """Where the robot rests: gravity, springs, actuator forces and an external wrench balance.

        Parameters
        ----------
        force : (..., n) of the actuators; zero (they are free) unless given
        wrench : (..., 6) on the platform; zero unless given
        start : poses (..., 4, 4) from which the nearest resting pose is sought; home unless given

        Returns
        -------
        Poses and whether each is stable. A ``StateError`` where nothing holds some motion of the platform. Friction,
        which may hold the robot elsewhere, is left out.
        """
        return resting_pose(self, force, wrench, start)

    def reactions(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Reactions:
        """Wrench of every joint on its child, by leg and joint, with the actuator forces, by Newton-Euler.

        Numbers that inner stresses of an overconstrained robot leave open are NaN and named in ``indeterminate``. What
        springs and other elements apply is in ``elements``, also of those in joints: it is not part of a joint's
        reaction.
        """
        state = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        state |= {"elastic": elastic, "elastic_rate": elastic_rate, **self._distribution_inputs(distribution)}

        def by_name(parts: list[Array]) -> Reactions:
            return Reactions.of(self._kernels.mechanism, parts[0], parts[1], parts[2], self._open_reactions, friction)

        found: Reactions = self._call("reactions", errors, parameters, by_name, friction, **state)
        if not has_elements(self._kernels.mechanism):
            return found
        moving = {"elastic": elastic, "elastic_rate": elastic_rate, "parameters": parameters, "errors": "nan"}
        acting = self.elements(pose, twist, **moving)  # type: ignore[arg-type]
        return replace(found, elements={name: one.force for name, one in acting.items()})

    @lazy
    def _open_reactions(self) -> NDArray[np.bool_]:
        """Which numbers (joints, 6) of the joints' wrenches inner stresses leave open: the same in all states."""
        mechanism = self._kernels.mechanism
        if mechanism.platform.elastic or newton_euler.has_closed_form(mechanism):
            return np.zeros((sum(len(leg.placement.joints) for leg in mechanism.placed), 6), dtype=bool)
        kernel = self._kernels.get("reactions")
        still = [Argument(a.name, a.value if a.name != "pose" else self.robot.home.matrix, a.shape)
                 for a in self._calls.arguments(kernel, {})]  # fmt: skip
        wrenches = kernel(*batch(still).rows)[0]
        return np.asarray(np.isnan(wrenches[0]))
