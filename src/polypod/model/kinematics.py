"""The kinematic part of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..limits import LimitReport, RobotLimits, judge
from ..mechanism.kinematics import body_names
from .arguments import Argument, PoseLike, batch, check_finite, pose_matrix
from .closing import closing_codes, closing_of_designs
from .diagnosis import Errors, check_policy, reasons, report
from .forward import forward_kinematics, forward_kinematics_of_designs
from .generalized_coordinates import GeneralizedCoordinates
from .model_part import ModelPart, Parameters
from .results import Closure, Conditioning, PlatformMotion

_NO_POSE = "no pose with these coordinates was found along the path from home; stay closer to home"


class KinematicCalls(ModelPart):
    """Coordinates, rates, Jacobian, poses of bodies, limits, conditioning; coordinates of lower-mobility robots."""

    def inverse_kinematics(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Actuated coordinates q (..., n) [m or rad] of a pose."""
        if errors is None and parameters is None and elastic is None:
            answer = self._calls.single((pose,), "inverse_kinematics")
            if answer is not None:
                return answer
        return self._call("inverse_kinematics", errors, parameters, pose=pose, elastic=elastic)

    def jacobian(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """J (..., n, m) with qdot = J u; u is the twist, or its m components along a lower-mobility robot's degrees of
        freedom.

        Components about axes of rotation are those of the angular velocity; a degree of freedom that is a joint's
        coordinate has the joint's rate. ``rate_map`` gives u from the rates of the coordinates that ``motion``
        takes. Of a flexible robot J is (..., n, 6 + N).
        """
        if errors is None and parameters is None and elastic is None:
            answer = self._calls.single((pose,), "jacobian")
            if answer is not None:
                return answer
        return self._call("jacobian", errors, parameters, pose=pose, elastic=elastic)

    def rates(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Rates qdot (..., n) [m/s or rad/s] of the actuated coordinates."""
        state = {"pose": pose, "twist": twist, "elastic": elastic, "elastic_rate": elastic_rate}
        return self._call("rates", errors, parameters, **state)

    def accelerations(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        elastic_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Accelerations qddot (..., n) [m/s^2 or rad/s^2] of the actuated coordinates."""
        state = {"pose": pose, "twist": twist, "acceleration": acceleration, "elastic": elastic}
        state |= {"elastic_rate": elastic_rate, "elastic_acceleration": elastic_acceleration}
        self._check_elastic("accelerations", elastic_acceleration)
        return self._call("accelerations", errors, parameters, answer=lambda r: r[2], **state)

    def twist(
        self, pose: PoseLike, qdot: ArrayLike, *, parameters: Parameters | None = None, errors: Errors | None = None
    ) -> Array:
        """Twist (..., 6) of the platform from the rates qdot (..., n) of the actuated coordinates: J u = qdot."""
        self._needs_rigid("twist")
        return self._call("twist", errors, parameters, pose=pose, qdot=qdot)

    def acceleration(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        qddot: ArrayLike,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Acceleration (..., 6) of the platform from accelerations of the coordinates: J udot = qddot - Jdot u."""
        self._needs_rigid("acceleration")
        return self._call("acceleration", errors, parameters, pose=pose, twist=twist, qddot=qddot)

    def bodies(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, Array]:
        """Pose (..., 4, 4) of the frame of every body, by ``leg.body``; ``platform`` itself included."""

        def by_name(placed: list[Array]) -> dict[str, Array]:
            names = body_names(self._kernels.mechanism)
            found = {name: placed[0][..., k, :, :] for k, name in enumerate(names)}
            own = np.broadcast_to(np.asarray(pose_matrix(pose), dtype=float), (*placed[0].shape[:-3], 4, 4))
            return {"platform": own.copy(), **found}

        return self._call("bodies", errors, parameters, answer=by_name, pose=pose, elastic=elastic)

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        along: bool = False,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Any:
        """Pose (..., 4, 4) with the given actuated coordinates, by Newton's iteration from a guess (default: home).

        Several poses have the same coordinates. The one found is on the guess's side of the singularities (det J has
        the guess's sign) and near it: where Newton fails or crosses a singularity, the coordinates' way from those of
        the guess is followed in steps, then Newton starts from poses about the guess. Inverse kinematics of the pose
        gives the coordinates: legs that are closed by iterating are closed anew, from home. A state without an answer
        takes about a millisecond, with such legs about 0.1 s; a pose that was not found may exist. ``full_output``
        returns a ``ForwardKinematics`` with a code (also whether the pose is outside the robot's limits), the
        residual and the number of steps of each state. The pose is a ``RigidTransform`` if the guess is one and every
        state has an answer (a RigidTransform cannot be NaN).

        With ``along`` the rows of q (..., T, n) are a log: the pose of a row is the guess of the next, all in compiled
        code. ``guess`` (..., 4, 4) then is that of the first rows. A row without an answer is skipped: the next starts
        from the last pose found. Logs of one batch are followed side by side.

        With ``parameters`` designs are broadcast against states; Newton's iteration from the guess is all they get.
        """
        start = self.robot.home.matrix if guess is None else guess
        if elastic is not None:
            self._check_elastic("forward_kinematics", elastic)
        if parameters is not None:
            return forward_kinematics_of_designs(self, q, start, elastic, along, parameters, errors, full_output)
        if errors is None and elastic is None and not along and not full_output:
            pose = self._calls.single((q, start), "forward_kinematics")
            if pose is not None:
                return pose
        return forward_kinematics(self, q, start, elastic, along, errors, full_output)

    @lazy
    def robot_limits(self) -> RobotLimits:
        """All limits of the robot file as data: of drives, legs, joints and the platform."""
        return RobotLimits.of_robot(self.robot, self._kernels.mechanism, self.actuators)

    def limits(
        self,
        pose: PoseLike,
        twist: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
        friction: bool = True,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> LimitReport:
        """Use of every limit of the robot, by name: 1 where a limit is reached.

        Parameters
        ----------
        pose : poses (..., 4, 4): judged are ranges and cones of legs and joints
        twist, acceleration : motion (..., 6) of the platform; a twist adds speeds of drives, motors and platform, an
            acceleration forces, powers, accelerations and joint loads
        wrench : external wrench (..., 6) on the platform
        time : times (T,) of states along the last axis of the batch: adds limits of whole motions (continuous force,
            stroke, bearing life)
        friction : whether joints have friction
        elastic : elastic coordinates (..., N) of a flexible platform; its poses are judged, not its motion
        parameters : other values of the robot's numbers, designs along leading axes

        Returns
        -------
        LimitReport : names, values, bounds and uses (..., k), and the limits that were left out, with the reason
        """
        if elastic is None and not self.robot.flexible:
            return judge(self, pose, twist, acceleration, wrench, time=time, friction=friction, parameters=parameters)
        if twist is not None:
            raise InputError(f"limits: {self.robot.name!r} has a flexible platform; {AS_RIGID}, or judge a study of it")
        return self.joint_ranges(pose, elastic=elastic, parameters=parameters)

    def joint_ranges(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> LimitReport:
        """Leg lengths, rail positions and joint cones that the robot limits, by leg and name."""
        self._check_elastic("joint_ranges", elastic)
        if parameters is not None:
            run = self._calls.of_possible_designs(
                "limited", {"pose": pose, "elastic": elastic}, parameters, ("values",)
            )
            assert run.numbers is not None
            assert run.which is not None
            ranges = run.mechanism.limit_ranges_of(run.numbers)[run.which()].reshape(*run.shape, -1, 2)
            return LimitReport.of(run.mechanism, run.restored("values")[..., 1:], ranges)
        kernel = self._kernels.get("limited", verdict=True)
        states, outputs = self._calls.evaluated(kernel, {"pose": pose, "elastic": elastic})
        return LimitReport.of(self._kernels.mechanism, states.restore(outputs["values"][:, 1:]))

    def closing(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Closure:
        """Whether the legs close at a pose and which does not, by how much: a code a state instead of an error.

        Poses that a platform cannot take by the legs of a design are out of reach of all of them (leg -1).
        """
        self._check_elastic("closing", elastic)
        given = {"pose": pose, "elastic": elastic}
        if parameters is not None:
            return closing_of_designs(self, given, parameters)
        states, outputs = self._calls.evaluated(self._kernels.get("margins", verdict=True), given)
        _, values = self._calls.evaluated(self._kernels.get("conditioning", verdict=True), given)
        matrices = np.broadcast_to(states.rows[0], (states.size, 4, 4))
        found = closing_codes(self._kernels.mechanism, matrices, outputs["margins"], values["condition"])
        shape = states.shape
        return Closure(found.status.reshape(shape), found.leg.reshape(shape), found.excess.reshape(shape))

    def conditioning(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Conditioning:
        """Condition number of the Jacobian in lengths, and its smallest singular value, the distance to singularity.

        Gears and screws do not count, rotations are arcs at the platform's size (``Conditioning``).
        """
        self._check_elastic("conditioning", elastic)
        if parameters is not None:
            given, results = {"pose": pose, "elastic": elastic}, ("condition", "distance")
            run = self._calls.of_possible_designs("conditioning", given, parameters, results)
            return Conditioning(run.restored("condition"), run.restored("distance"))
        kernel = self._kernels.get("conditioning", verdict=True)
        states, outputs = self._calls.evaluated(kernel, {"pose": pose, "elastic": elastic})
        return Conditioning(states.restore(outputs["condition"]), states.restore(outputs["distance"]))

    def null_space(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """Actuator forces (..., n, n - m) that do not move the platform: J^T f = 0, orthonormal.

        Of a flexible robot they do not bend it either: m is 6 + N, and there are none unless n is larger.
        """
        matrix = self.jacobian(pose, parameters=parameters)
        lost = np.isnan(matrix).any(axis=(-2, -1), keepdims=True)
        vectors = np.linalg.svd(np.where(lost, 0.0, matrix), full_matrices=True)[0]
        return np.where(lost, np.nan, vectors[..., :, matrix.shape[-1] :])

    def drift_acceleration(self, pose: PoseLike, twist: ArrayLike, *, parameters: Parameters | None = None) -> Array:
        """Acceleration (..., 6) of the platform at constant u (as of ``jacobian``): zero but for what follows."""
        arguments = [Argument("pose", pose, (4, 4)), Argument("twist", twist, (6,))]
        if parameters is not None:
            return self._drift_of_designs(arguments, parameters)
        states = self._calls.checked(arguments)
        if not self._kernels.mechanism.platform.is_constrained:
            return np.zeros((*states.shape, 6))
        rows = [np.ascontiguousarray(np.broadcast_to(row, (states.size, *row.shape[1:]))) for row in states.rows]
        _, drift, quality = self._kernels.get("follow")(*rows, np.zeros((states.size, 6)))
        lost = ~(quality > SMALLEST_MARGIN)
        drift[lost] = np.nan
        result = states.restore(drift)
        if lost.any():
            mechanism, ask = self._kernels.mechanism, self._kernels.get("margins")

            def explain(index: NDArray[np.int64]) -> list[str]:
                return reasons(mechanism, np.asarray(ask(np.ascontiguousarray(rows[0][index]))))

            report("drift_acceleration", lost, explain, result, bool(states.shape), None)
        return result

    def _drift_of_designs(self, arguments: list[Argument], parameters: Parameters) -> Array:
        still = Argument("acceleration", np.zeros(6), (6,))
        found = self._calls.rows_of_designs([*arguments, still], parameters)
        drift = np.zeros((found.batch.size, 6))
        if found.kernels.mechanism.platform.is_constrained:
            drift = found.evaluated(found.kernels.get("follow"))["possible_acceleration"]
        found = self._calls.refused_motions(found)
        answer: Array = found.finalise("drift_acceleration", [drift], lambda a: a)
        return answer

    @property
    def generalized_coordinates(self) -> GeneralizedCoordinates:
        """The motions of a robot of fewer than six degrees of freedom, on rows of states."""
        return self._calls.own

    def coordinates(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """The robot's generalized coordinates x (..., m) of a pose (a lower-mobility robot's; see ``dof``)."""
        self._needs_dof("coordinates")
        if parameters is not None:
            found = self._calls.rows_of_designs([Argument("pose", pose, (4, 4))], parameters)
            x = found.own.coordinates(found.batch.rows[0])
            result: Array = found.finalise("coordinates", [x], lambda a: a)
            return result
        states = self._calls.checked([Argument("pose", pose, (4, 4))])
        return states.restore(self._calls.own.coordinates(states.rows[0]))

    def rate_map(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """E (..., m, m) with u = E xdot: from rates of the robot's generalized coordinates to u of Jacobian and mass
        matrix.

        Parameters
        ----------
        pose : (..., 4, 4) or RigidTransform
            Poses that the robot can take.
        parameters : mapping, optional
            Parameters of the robot that differ from its file's.

        Returns
        -------
        (..., m, m) array
            With J and M of ``jacobian`` and ``mass_matrix``, J E and E^T M E are those of the coordinates'
            rates: qdot = J E xdot, T = xdot^T E^T M E xdot / 2. The unit matrix where no more than one coordinate is a
            rotation of the platform.

        Examples
        --------
        >>> import numpy as np, polypod as pp
        >>> model = pp.Model("agile-eye")
        >>> x, xdot = np.array([0.2, -0.1, 0.3]), np.array([1.0, 2.0, 3.0])
        >>> pose, twist, _ = model.motion(x, xdot)
        >>> u = model.rate_map(pose) @ xdot
        >>> bool(np.allclose(model.jacobian(pose) @ u, model.rates(pose, twist)))
        True
        """
        self._needs_dof("rate_map")
        m = self._dof.count
        if self._kernels.mechanism.platform.is_constrained:
            return self._call("rate_map", None, parameters, pose=pose)
        arguments = [Argument("pose", pose, (4, 4))]
        if parameters is None:
            return np.broadcast_to(np.eye(m), (*self._calls.checked(arguments).shape, m, m)).copy()
        found = self._calls.rows_of_designs(arguments, parameters)
        unit = np.broadcast_to(np.eye(m), (found.batch.size, m, m)).copy()
        answer: Array = found.finalise("rate_map", [unit], lambda a: a)
        return answer

    def motion(
        self,
        x: ArrayLike,
        xdot: ArrayLike | None = None,
        xddot: ArrayLike | None = None,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> PlatformMotion:
        """Pose, twist and acceleration of the platform from the robot's generalized coordinates (..., m) and their
        rates.

        Coordinates of rotations are components of the rotation vector from home, and ``xdot``, ``xddot`` their time
        derivatives: with two or more rotations not components of the angular velocity (``rate_map``).
        """
        self._needs_dof("motion")
        check_policy(errors)
        m = self._dof.count
        values = [x, np.zeros(m) if xdot is None else xdot, np.zeros(m) if xddot is None else xddot]
        arguments = [Argument(name, v, (m,)) for name, v in zip(("x", "xdot", "xddot"), values, strict=True)]
        if parameters is not None:
            found = self._calls.rows_of_designs(arguments, parameters)
            rows = found.own.motion(*found.batch.rows)
            found.failures.append((_lost(rows), _NO_POSE))
            result: PlatformMotion = found.finalise("motion", rows, PlatformMotion, errors)
            return result
        states = batch(arguments)
        check_finite(states, arguments)
        full = [np.broadcast_to(row, (states.size, m)) for row in states.rows]
        rows = self._calls.own.motion(*full)
        moved = PlatformMotion(*(states.restore(a) for a in rows))
        lost = _lost(rows)
        if lost.any():
            report("motion", lost, lambda index: [_NO_POSE] * len(index), moved, bool(states.shape), errors)
        return moved


def _lost(rows: tuple[Array, ...]) -> NDArray[np.bool_]:
    """States (n) of which some result (n, ...) is not finite."""
    return ~np.logical_and.reduce([np.isfinite(row).all(axis=tuple(range(1, row.ndim))) for row in rows])
