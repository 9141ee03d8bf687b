"""Derivatives of robots without compiled ones: flexible platforms, internal coordinates, platforms that move as their
legs let them, more actuators than degrees of freedom, friction by reactions.

The whole graph of a function is differentiated and interpreted by CasADi, all states in one call: some tenths of a
millisecond a state. Loads L = g(x, L) of dry friction follow: f_x + f_L (1 - g_L)^-1 g_x. Legs that close by iterating
are closed first; the graph takes one step of Newton from there, whose derivatives are those of the closed leg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..formulations.derivatives import MOTION
from ..formulations.dry_friction import converged_loads, next_loads
from ..formulations.solution import ForceDistribution
from ..friction import Loads, has_dry_friction, loaded_joints
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..mechanism.closing import closed, closed_places
from ..mechanism.dependent_coordinates import motion_derivatives
from ..platforms import ConstrainedState
from ..platforms.motion import frame_of, pose_of
from ..symbols.expression import Mapped
from ..symbols.vectors import Frame, skew
from .generalized_coordinates import ConstrainedMotion
from .kernels import Kernels, function_of

_OUTPUTS = ("force", "acceleration", "elastic_acceleration")


def needs_interpretation(mechanism: Mechanism, name: str, friction: bool) -> bool:
    """Whether derivatives of a function of a robot are interpreted: there are no compiled ones."""
    loaded = friction and has_dry_friction(mechanism) and bool(loaded_joints(mechanism))
    further = bool(mechanism.platform.elastic or mechanism.platform.internal)
    return further or loaded or (mechanism.redundant and name == "inverse_dynamics")


class InterpretedDerivatives:
    """Derivatives of one function of a robot by blocks of its inputs and by chosen numbers of its port.

    Results are forces or the frame's acceleration, elastic accelerations after them.
    """

    def __init__(
        self,
        kernels: Kernels,
        mechanism: Mechanism,
        name: str,
        blocks: Sequence[str],
        indices: list[int],
        friction: bool,
    ) -> None:
        dry, self._values = kernels.options.dry, mechanism.numbers.values
        loads = Loads.symbols(mechanism, dry.law) if friction and has_dry_friction(mechanism) else None
        self._load_count = 0 if loads is None or loads.port is None else loads.port.length
        self._explicit = dry.coupling == "explicit"
        target = function_of(mechanism, name, friction, loads)
        self.inputs = [p for p in target.inputs if p.name != "loads"]
        symbols = {p.name: ca.SX.sym(p.name, p.length) for p in self.inputs}
        move, given, numbers = ca.SX.sym("move", 6), ca.SX.sym("loads", self._load_count), mechanism.numbers.symbols
        frame = frame_of(symbols["pose"])
        turned = pose_of(Frame(frame.origin + move[:3], frame.axes + skew(move[3:]) @ frame.axes))
        moved = symbols | {"pose": turned, "loads": given}
        found = ca.substitute(
            [p.symbols for p in target.outputs],
            [p.symbols for p in target.inputs],
            [moved[p.name] for p in target.inputs],
        )
        named = {p.name: value for p, value in zip(target.outputs, found, strict=True)}
        result = ca.vertcat(*[named[key] for key in _OUTPUTS if key in named])
        by = {**symbols, "pose": move, "parameters": numbers[indices]}
        derivatives = [ca.jacobian(result, by[block]) for block in blocks]
        self._loads: Kernel | None = None
        if self._load_count:
            x, direct = mechanism.inputs(), name == "direct_dynamics"
            assert loads is not None and loads.port is not None  # noqa: PT018
            distribution = None if direct else ForceDistribution.of(mechanism)
            ports = x.by_name | {p.name: p for p in (distribution.ports if distribution else ())}
            known = [ports[p.name] for p in self.inputs if p.name in ports]
            fresh = ca.substitute(
                ca.densify(next_loads(mechanism, x, loads, direct, distribution=distribution)),
                ca.vertcat(*(p.symbols for p in known), loads.port.symbols),
                ca.vertcat(*(moved[p.name] for p in known), given),
            )
            derivatives += [ca.jacobian(result, given), ca.jacobian(fresh, given)]
            derivatives += [ca.jacobian(fresh, by[block]) for block in blocks]
            self._loads = Kernel(lambda: closed(mechanism, converged_loads(mechanism, dry, direct)))
        self._places = Kernel(lambda: closed_places(mechanism)) if mechanism.implicit_legs else None
        at_rest = [ca.substitute(ca.densify(derivative), move, ca.SX.zeros(6)) for derivative in derivatives]
        self._derivatives = Mapped([*symbols.values(), mechanism.places, given, numbers], at_rest)
        self.blocks, self._count = tuple(blocks), len(blocks)

    def __call__(self, rows: Mapping[str, Array], numbers: Array | None = None) -> list[Array]:
        """Blocks (n, results, k) at n states, rows (n, ...) by the names of the inputs.

        ``numbers`` are those of the port at each state (n, k); the robot's own if not given.
        """
        states = [rows[p.name].reshape(len(rows[p.name]), p.length) for p in self.inputs]
        n = len(states[0])
        own = np.repeat(self._values[None], n, axis=0) if numbers is None else numbers

        def at(kernel: Kernel) -> Any:
            if kernel.parameters is not None:
                kernel = kernel.at(self._values) if numbers is None else kernel.at(numbers, rows=True)
            return kernel(*(np.ascontiguousarray(rows[p.name]) for p in kernel.inputs))

        states.append(np.zeros((n, 0)) if self._places is None else at(self._places))
        if self._loads is None:
            return self._at(states, np.zeros((n, 0)), own)
        loads, *_ = at(self._loads)
        found = self._at(states, loads, own)
        direct, (f_l, g_l), follow = (
            found[: self._count],
            found[self._count : self._count + 2],
            found[self._count + 2 :],
        )
        if self._explicit:
            # the one round that finds the loads starts from none
            follow = self._at(states, np.zeros_like(loads), own)[self._count + 2 :]
            return [f + f_l @ g for f, g in zip(direct, follow, strict=True)]
        unit = np.eye(self._load_count)
        return [f + f_l @ np.linalg.solve(unit - g_l, g) for f, g in zip(direct, follow, strict=True)]

    def _at(self, states: list[Array], loads: Array, numbers: Array) -> list[Array]:
        return self._derivatives(*states, loads, numbers)


class MotionDerivatives:
    """Derivatives of a motion that a platform's legs decide, by the robot's coordinates and by numbers of its port.

    ``count`` coordinates, ``indices`` of the numbers.
    """

    def __init__(self, mechanism: Mechanism, indices: list[int]) -> None:
        inputs, matrices = motion_derivatives(mechanism, mechanism.numbers.symbols[indices])
        self._derivatives, self._values = Mapped(inputs, matrices), mechanism.numbers.values
        self._places = Kernel(lambda: closed_places(mechanism)) if mechanism.implicit_legs else None
        state = mechanism.platform.rest(mechanism.inputs())
        assert isinstance(state, ConstrainedState)
        self._chosen, self._others = np.array(state.chosen), np.array(state.others)
        self.count = mechanism.platform.count

    def __call__(
        self, own: ConstrainedMotion, pose: Array, twist: Array, acceleration: Array, numbers: Array | None
    ) -> dict[str, dict[str, Array]]:
        """d(motion)/d(by) as [motion][by], (n, 6, k) each: pose, twist, acceleration by x, xdot, xddot, parameters.

        ``constraints`` by parameters (n, c, k) are zero for numbers with which the robot still moves.
        """
        x = own.coordinates(pose)
        w = (own.displacements(pose) - x @ self._chosen.T) @ self._others
        places = np.zeros((len(x), 0))
        if self._places is not None:
            kernel = self._places
            if kernel.parameters is not None:
                kernel = kernel.at(self._values) if numbers is None else kernel.at(numbers, rows=True)
            places = np.asarray(kernel(np.ascontiguousarray(pose)))
        port = np.repeat(self._values[None], len(x), axis=0) if numbers is None else numbers
        matrix, broken = self._derivatives(x, w, twist, acceleration, places, port)
        names = ("x", "xdot", "xddot", "parameters")
        columns = np.split(matrix, [k * self.count for k in (1, 2, 3)], axis=2)
        found = {
            motion: {by: column[:, 6 * k : 6 * k + 6] for by, column in zip(names, columns, strict=True)}
            for k, motion in enumerate(MOTION)
        }
        return found | {"constraints": {"parameters": broken}}
