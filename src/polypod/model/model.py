"""The numeric face of a robot: checked calls on batches of states, compiled underneath."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..description import Robot
from ..errors import Fault, ImplausibleWarning, InputError, RobotFileError, UnknownNameError
from ..files import load
from ..files.files import located
from ..friction.dry import DryFriction
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import SIMPLIFICATIONS, Freedoms, Simplification
from .arguments import Argument, Batch, PoseLike, batch, first_not_finite, pose_matrix
from .calls import Answer, Calls, first
from .diagnosis import Errors, check_policy, report
from .freedoms import coordinates_of, platform_motion
from .kernels import Kernels, Options
from .reactions import Reactions
from .results import Code, Conditioning, Energy, ForwardKinematics, LimitReport, PlatformMotion

Array = NDArray[np.float64]
_NO_WRENCH = np.zeros(6)
WORST_HOME = 1e3
"""Condition number of the Jacobian above which a home pose is hardly meant."""
_NEAR_SINGULAR = (
    "Are platform and base alike and parallel, or do two legs share both joints? Move or turn home, or move joints"
)


class Model:
    """Kinematics and dynamics of a robot. Immutable, safe in threads; kernels compile when first used.

    Poses are (..., 4, 4) arrays or SciPy ``RigidTransform``; twists, accelerations and wrenches are (..., 6), those of
    the origin of the platform frame in base axes, linear part first; forces and coordinates are (..., n). Leading axes
    are a batch. SI units throughout.

    ``errors`` says what to do about states without an answer (out of reach, singular): ``raise`` a StateError that
    carries the other states' results, ``warn`` and return NaN in their rows, or only return NaN (``nan``). By default
    one state raises and a batch warns.

    ``simplify`` names what a simplified model neglects (:mod:`polypod.mechanism.simplify`). ``friction_width`` is the
    rate [m/s, rad/s] over which dry friction changes sign smoothly; 0 takes the exact sign. ``friction_coupling``
    ``implicit`` solves for friction and reactions together, ``explicit`` takes the reactions without dry friction.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        simplify: Simplification | None = None,
        friction_width: float = 1e-6,
        friction_coupling: Literal["implicit", "explicit"] = "implicit",
    ) -> None:
        options = _options(simplify, friction_width, friction_coupling)
        self.robot = robot if isinstance(robot, Robot) else load(robot)
        if self.robot.flexible:
            raise InputError(
                f"robot: the platform of {self.robot.name!r} is flexible; use polypod.FlexibleModel(robot), or take it "
                "as rigid with polypod.Model(robot.rigid)"
            )
        self.simplify = simplify
        self.legs: tuple[str, ...] = tuple(leg.name for leg in self.robot.legs)
        self._freedoms = Freedoms(self.robot)
        self.freedoms: tuple[str, ...] = self._freedoms.names
        self._kernels = Kernels(self.robot, options)
        arms = [np.linalg.norm(leg.platform) for leg in self.robot.legs]
        self._size = float(np.mean(arms)) or 1.0
        self._calls = Calls(self._kernels, self._freedoms, self._size)
        with located(robot):
            self._refuse_a_singular_home()

    def _refuse_a_singular_home(self) -> None:
        home = self.conditioning(self.robot.home.matrix)
        if home.distance > SMALLEST_MARGIN:
            if home.condition > WORST_HOME:
                warnings.warn(
                    f"robot {self.robot.name!r} is nearly singular at home: condition number {home.condition:.4g}, "
                    f"{WORST_HOME:g} at most is usual; forces there are large and mean little. {_NEAR_SINGULAR}",
                    ImplausibleWarning,
                    stacklevel=3,
                )
            return
        seen: list[dict[str, Any]] = []
        for number, leg in enumerate(self.robot.legs):
            data = leg.model_dump(exclude={"name"})
            if data in seen:
                twin = self.legs[seen.index(data)]
                message = f"{leg.name} is the same as {twin}, so the platform is held by too few legs: move its joints"
                raise RobotFileError(f"robot {self.robot.name!r}", [Fault(f"legs.{number}", message)])
            seen.append(data)
        field = "home" if "home" in self.robot.model_fields_set else "legs"
        message = (
            f"the home pose is singular: at position {list(self.robot.home.position)} the platform can move with all "
            f"actuators locked. {_NEAR_SINGULAR}"
        )
        raise RobotFileError(f"robot {self.robot.name!r}", [Fault(field, message)])

    @property
    def kernels(self) -> Kernels:
        """The compiled functions, and the robot in symbols they are made from."""
        return self._kernels

    @property
    def mobility(self) -> Freedoms:
        """The motions the robot can make: twist = basis u."""
        return self._freedoms

    def __reduce__(self) -> tuple[Any, ...]:
        """A model is its robot and its choices; another process builds it from its cache of kernels."""
        return _rebuilt, (self.robot, self._kernels.options)

    def __repr__(self) -> str:
        return f"Model({self.robot.name!r}, legs={len(self.legs)}, freedoms={self._freedoms.count})"

    # -- kinematics ------------------------------------------------------------------------------------------------

    def inverse_kinematics(self, pose: PoseLike, *, errors: Errors | None = None) -> Array:
        """Actuated coordinates q (..., n) [m] of a pose."""
        q: Array = self._calls.call("inverse_kinematics", [self._pose(pose)], errors)
        return q

    def jacobian(self, pose: PoseLike, *, errors: Errors | None = None) -> Array:
        """J (..., n, m) with qdot = J u; u is the twist, or the m coordinates' rates of a lower-mobility robot."""
        matrix: Array = self._calls.call("jacobian", [self._pose(pose)], errors)
        return matrix

    def rates(self, pose: PoseLike, twist: ArrayLike, *, errors: Errors | None = None) -> Array:
        """Rates qdot (..., n) [m/s] of the actuated coordinates."""
        rates: Array = self._motion("accelerations", pose, twist, np.zeros(6), errors, answer=lambda r: r[1])
        return rates

    def accelerations(
        self, pose: PoseLike, twist: ArrayLike, acceleration: ArrayLike, *, errors: Errors | None = None
    ) -> Array:
        """Accelerations qddot (..., n) [m/s^2] of the actuated coordinates."""
        rates: Array = self._motion("accelerations", pose, twist, acceleration, errors, answer=lambda r: r[2])
        return rates

    def bodies(self, pose: PoseLike, *, errors: Errors | None = None) -> dict[str, Array]:
        """Pose (..., 4, 4) of the frame of every body, by ``leg.body``; ``platform`` itself included."""

        def by_name(placed: list[Array]) -> dict[str, Array]:
            names = [port.name for port in self._kernels.get("bodies").outputs if port.name != "quality"]
            return {"platform": np.array(pose_matrix(pose), dtype=float), **dict(zip(names, placed, strict=True))}

        result: dict[str, Array] = self._calls.call("bodies", [self._pose(pose)], errors, by_name)
        return result

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Any:
        """Pose (..., 4, 4) with the given actuated coordinates, by Newton's iteration from a guess (default: home).

        Of the several poses with the same coordinates the one found is that near the guess. ``full_output`` returns a
        :class:`ForwardKinematics` with a code, the residual and the number of steps of each state. The pose is a
        ``RigidTransform`` if the guess is one and every state has an answer (a RigidTransform cannot be NaN).
        """
        check_policy(errors)
        start = self.robot.home.matrix if guess is None else guess
        arguments = [Argument("q", q, (len(self.legs),)), Argument("guess", start, (4, 4))]
        states = batch(arguments)
        first_not_finite(Batch(states.shape, states.rows[:1]), arguments[:1])
        self._calls.check_pose(states, 1, "guess")
        pose, residual, steps, quality = self._kernels.get("forward_kinematics")(*states.rows)
        scale = self._size + float(np.linalg.norm(self.robot.home.position))
        code = np.full(len(pose), int(Code.CONVERGED))
        code[~(quality > SMALLEST_MARGIN)] = Code.SINGULAR
        code[~(residual <= 1e-12 * scale)] = Code.NOT_CONVERGED
        code[np.isnan(residual) & (quality == 0.0)] = Code.BAD_GUESS
        bad = code != Code.CONVERGED
        pose[bad] = np.nan
        result = ForwardKinematics(
            states.restore(pose),
            code.reshape(states.shape),
            states.restore(residual),
            steps.astype(np.int64).reshape(states.shape),
        )
        if bad.any():
            report(
                "forward_kinematics",
                bad,
                lambda index: [f"{Code(code[k]).advice} (error {residual[k]:.3g} m)" for k in index],
                result,
                bool(states.shape),
                "nan" if full_output and errors is None else errors,
            )
        if full_output:
            return result
        rigid: Any = type(guess)
        return rigid.from_matrix(result.pose) if hasattr(rigid, "from_matrix") and not bad.any() else result.pose

    def limits(self, pose: PoseLike) -> LimitReport:
        """Leg lengths, rail positions and joint cones that the robot limits, by leg and name."""
        states = self._calls.checked([self._pose(pose)])
        values = self._kernels.get("limited")(*states.rows)[:, 1:]
        return LimitReport.of(self._kernels.mechanism, states.restore(values))

    def conditioning(self, pose: PoseLike) -> Conditioning:
        """Condition number of the Jacobian and its distance to singularity, rotations scaled by the platform's size."""
        matrix = self.jacobian(pose, errors="nan")
        scale = np.where(np.abs(self._freedoms.basis[3:]).sum(axis=0) > 0, 1 / self._size, 1.0)
        return Conditioning.of(matrix * scale)

    # -- lower-mobility robots ---------------------------------------------------------------------------------------

    def coordinates(self, pose: PoseLike) -> Array:
        """The robot's own coordinates x (..., m) of a pose (a lower-mobility robot's; see ``freedoms``)."""
        self._needs_freedoms("coordinates")
        states = self._calls.checked([self._pose(pose)])
        return states.restore(coordinates_of(self._freedoms, states.rows[0]))

    def motion(self, x: ArrayLike, xdot: ArrayLike | None = None, xddot: ArrayLike | None = None) -> PlatformMotion:
        """Pose, twist and acceleration of the platform from the robot's own coordinates (..., m) and their rates."""
        self._needs_freedoms("motion")
        m = self._freedoms.count
        values = [x, np.zeros(m) if xdot is None else xdot, np.zeros(m) if xddot is None else xddot]
        arguments = [Argument(name, v, (m,)) for name, v in zip(("x", "xdot", "xddot"), values, strict=True)]
        states = batch(arguments)
        first_not_finite(states, arguments)
        full = [np.broadcast_to(row, (states.size, m)) for row in states.rows]
        return PlatformMotion(*(states.restore(a) for a in platform_motion(self._freedoms, *full)))

    # -- dynamics ----------------------------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        formulation: str = "virtual-power",
        *,
        errors: Errors | None = None,
    ) -> Array:
        """Actuator forces (..., n) [N] for a motion, positive along growing coordinates: J^T f = M udot + bias - w_ext.

        ``wrench`` is the external wrench on the platform at the origin of its frame, base axes.
        """
        force: Array = self._motion(
            "inverse_dynamics", pose, twist, acceleration, errors, wrench, friction=friction, formulation=formulation
        )
        return force

    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        errors: Errors | None = None,
    ) -> Array:
        """Acceleration (..., 6) of the platform from actuator forces (..., n)."""
        arguments = [
            self._pose(pose),
            Argument("twist", twist, (6,)),
            Argument("force", force, (len(self.legs),)),
            Argument("wrench", _NO_WRENCH if wrench is None else wrench, (6,)),
        ]
        acceleration: Array = self._calls.call("direct_dynamics", arguments, errors, friction=friction)
        return acceleration

    def mass_matrix(self, pose: PoseLike, *, errors: Errors | None = None) -> Array:
        """Mass matrix (..., m, m) of the whole robot with respect to u: T = u^T M u / 2."""
        matrix: Array = self._calls.call("mass_matrix", [self._pose(pose)], errors)
        return matrix

    def bias(self, pose: PoseLike, twist: ArrayLike, friction: bool = True, *, errors: Errors | None = None) -> Array:
        """Generalized force (..., m) of all but the acceleration: M udot + bias = J^T f + w_ext."""
        arguments = [self._pose(pose), Argument("twist", twist, (6,))]
        force: Array = self._calls.call("bias", arguments, errors, friction=friction)
        return force

    def gravity(self, pose: PoseLike, *, errors: Errors | None = None) -> Array:
        """The part of the bias (..., m) that is left at rest."""
        return self.bias(pose, np.zeros(6), friction=False, errors=errors)

    def energy(self, pose: PoseLike, twist: ArrayLike, *, errors: Errors | None = None) -> Energy:
        """Kinetic and potential energy [J]."""
        arguments = [self._pose(pose), Argument("twist", twist, (6,))]
        energy: Energy = self._calls.call("energy", arguments, errors, lambda parts: Energy(*parts))
        return energy

    def reactions(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        errors: Errors | None = None,
    ) -> Reactions:
        """Wrench of every joint on its child, by leg and joint, with the actuator forces, by Newton-Euler.

        Numbers that inner stresses of an overconstrained robot leave open are NaN and named in ``indeterminate``.
        """
        reactions: Reactions = self._motion(
            "reactions",
            pose,
            twist,
            acceleration,
            errors,
            wrench,
            answer=lambda parts: Reactions.of(
                self._kernels.mechanism, parts[0], parts[1], parts[2], self._open_reactions
            ),
            friction=friction,
        )
        return reactions

    @cached_property
    def _open_reactions(self) -> NDArray[np.bool_]:
        """Which numbers (joints, 6) of the joints' wrenches inner stresses leave open: the same in all states."""
        rest = np.zeros((1, 6))
        wrenches = self._kernels.get("reactions")(self.robot.home.matrix[None], rest, rest, rest)[0]
        return np.asarray(np.isnan(wrenches[0]))

    def kernel(self, name: str, friction: bool = False, formulation: str = "virtual-power") -> Kernel:
        """The bare compiled function: no checks, arrays (n, ...) in and out, for loops that count microseconds.

        Without friction unless asked for. Outputs end with the quality of each state (below 1e-7: no answer) and,
        where dry friction is iterated, whether it converged.
        """
        return self._kernels.get(name, friction, formulation)

    # -- how calls are made ------------------------------------------------------------------------------------------

    def _pose(self, pose: PoseLike) -> Argument:
        return Argument("pose", pose, (4, 4))

    def _motion(
        self,
        name: str,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        errors: Errors | None,
        wrench: ArrayLike | bool | None = False,
        answer: Answer = first,
        **options: Any,
    ) -> Any:
        arguments = [
            self._pose(pose),
            Argument("twist", twist, (6,)),
            Argument("acceleration", acceleration, (6,)),
        ]
        if wrench is not False:
            arguments.append(Argument("wrench", _NO_WRENCH if wrench is None else wrench, (6,)))
        return self._calls.call(name, arguments, errors, answer, **options)

    def _needs_freedoms(self, name: str) -> None:
        if self._freedoms.full:
            raise InputError(f"{name}: {self.robot.name!r} has six freedoms and takes any pose; it has no coordinates")


def _options(simplify: str | None, width: float, coupling: str) -> Options:
    if simplify is not None and simplify not in SIMPLIFICATIONS:
        raise UnknownNameError("simplification", simplify, SIMPLIFICATIONS)
    return Options(simplify, DryFriction.of(width, coupling))  # type: ignore[arg-type]


def _rebuilt(robot: Robot, options: Options) -> Model:
    dry = options.dry
    return Model(robot, simplify=options.simplify, friction_width=dry.law.width, friction_coupling=dry.coupling)
