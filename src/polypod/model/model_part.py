"""What the parts of a model share: its robot, its compiled functions, and one way to call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from numpy.typing import ArrayLike

from ..description import Robot
from ..errors import InputError, short_repr
from ..platforms import DegreesOfFreedom
from .actuators import ActuatorInfo
from .arguments import Argument, batch
from .calls import Calls
from .checks import check_wrench
from .diagnosis import Errors
from .kernels import Kernels
from .results import Distribution

Parameters = Mapping[str, ArrayLike]


class ModelPart:
    """Base of the parts that ``polypod.Model`` is made of."""

    robot: Robot
    size: float
    actuators: tuple[ActuatorInfo, ...]
    rigid: Any
    _dof: DegreesOfFreedom
    _kernels: Kernels
    _calls: Calls

    def _call(
        self,
        name: str,
        errors: Errors | None,
        parameters: Parameters | None,
        answer: Any = None,
        friction: bool | None = None,
        formulation: str | None = None,
        **given: Any,
    ) -> Any:
        """A function of states given by name; ``answer`` makes the result of its outputs, default the first of them."""
        if self.robot.flexible:
            check_wrench(self.robot, given.get("wrench"))
        elif given.get("elastic") is not None or given.get("elastic_rate") is not None:
            self._refuse_elastic(name)
        options: dict[str, Any] = {} if friction is None else {"friction": friction}
        if formulation is not None:
            options["formulation"] = formulation
        if answer is None:
            return self._calls.call(name, given, errors, parameters=parameters, **options)
        return self._calls.call(name, given, errors, answer, parameters, **options)

    def _check_elastic(self, name: str, elastic: ArrayLike | None) -> None:
        """Raise for elastic coordinates of a robot that has none."""
        if elastic is not None and not self.robot.flexible:
            self._refuse_elastic(name)

    def _refuse_elastic(self, name: str) -> NoReturn:
        raise InputError(f"{name}: elastic: {self.robot.name!r} has a rigid platform; leave it out", code="rigid")

    def _distribution_inputs(self, distribution: Distribution | None) -> dict[str, Any]:
        if distribution is None:
            return {}
        if len(self.actuators) == self._dof.count:
            raise InputError(
                f"distribution: {self.robot.name!r} has as many actuators as degrees of freedom, so its forces "
                "are unique",
                code="not_redundant",
            )
        if not isinstance(distribution, Distribution):
            raise InputError(
                "distribution: expected polypod.model.Distribution(weights=..., preload=...), got "
                f"{short_repr(distribution)}"
            )
        weights = distribution.weights
        if weights is not None and (batch([Argument("weights", weights, (len(self.actuators),))]).rows[0] <= 0).any():
            raise InputError(
                f"distribution: weights must be positive, got {short_repr(weights)}; an actuator with a small "
                "weight carries more"
            )
        return {"weights": weights, "preload": distribution.preload}

    def _needs_dof(self, name: str) -> None:
        if self._dof.full:
            raise InputError(
                f"{name}: {self.robot.name!r} has six degrees of freedom and no generalized coordinates; use poses",
                code="six_dof",
            )

    def _needs_rigid(self, name: str) -> None:
        if self.robot.flexible:
            raise InputError(
                f"{name}: the generalized coordinates of {self.robot.name!r} do not determine how its platform vibrates"
            )
