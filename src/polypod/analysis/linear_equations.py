"""A robot's equations of motion differentiated at states: from its derivatives where it has them by its pose.

Local coordinates are xi (m), the pose displaced by S xi (position, and a turn of rotation vector about base axes),
u (m) the degrees of freedom' rates with twist = S u, elastic coordinates and rates. S is that of the displaced pose
where the platform moves as its legs let it. At a state x' = f(x, force, wrench): A = df/dx, B = df/dforce, E =
df/dwrench.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..control.checked import why_no_answer
from ..errors import StateError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..platforms import DegreesOfFreedom
from ..platforms.constrained import ConstrainedState
from ..simulation.chart import cayley_rate, pose_of
from ..simulation.dynamics import Dynamics
from ..simulation.system import System
from ..symbols.expression import Expression, Port, port
from ..symbols.fixed_point import CHANGE_TOLERANCE, MAX_ITERATIONS
from ..symbols.mapped import Mapped
from ..symbols.vectors import cayley


class States(NamedTuple):
    """States (n, ...) in numbers, forces among them."""

    pose: Array
    twist: Array
    force: Array
    wrench: Array
    elastic: Array
    elastic_rate: Array


class Linearised(NamedTuple):
    """The matrices of :class:`~polypod.analysis.LinearModel` at n states."""

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array


def linearised(system: System, states: States) -> Linearised:
    """Derivatives at states; an error that says why where there is no answer."""
    mechanism = system.mechanism
    if mechanism.platform.is_constrained or mechanism.implicit_legs:
        return _interpreted(system, states)
    return _derived(system, states)


def _derived(system: System, states: States) -> Linearised:
    """From the derivatives of direct dynamics, whose pose is varied by a twist on its left as here."""
    model, dof, count, n = system.model, system.dof, len(states.pose), system.modes
    basis, inverse, m = dof.basis, dof.inverse, dof.count
    shape: dict[str, Any] = {"elastic": states.elastic} if n else {}
    given: dict[str, Any] = {**shape, "elastic_rate": states.elastic_rate} if n else {}
    blocks = ("pose", *(["elastic"] if n else []), "twist", *(["elastic_rate"] if n else []), "force", "wrench")
    inputs = states.pose, states.twist, states.force, states.wrench
    try:
        found = model.derivatives(
            "direct_dynamics", *inputs, wrt=blocks, friction=system.friction, errors="raise", **given
        )
        rates = model.direct_dynamics(*inputs, system.friction, errors="raise", **given)
        c = model.jacobian(states.pose, errors="raise", **shape)
    except StateError as error:
        _refuse(error.reasons[0] if error.reasons else str(error), int(np.ravel(error.index)[0]))
    # rates of [u, elastic rate] from those of the frame and the modes, states from [xi, elastic]
    down = np.zeros((m + n, 6 + n))
    down[:m, :6], down[m:, 6:] = inverse, np.eye(n)
    derivatives = {block: down @ getattr(found, block) for block in blocks}
    k = m + n
    a, omega = np.zeros((count, 2 * k, 2 * k)), states.twist[:, 3:]
    # a turning platform carries its local rotation vector: phi' = omega - phi x omega/2
    carried = np.zeros((count, 6, 6))
    carried[:, 3:, 3:] = 0.5 * np.cross(omega[:, None], np.eye(3), axisb=1, axisc=1)
    a[:, :m, :m], a[:, :k, k:] = inverse @ carried @ basis, np.eye(k)
    a[:, k:, :m], a[:, k:, k : k + m] = derivatives["pose"] @ basis, derivatives["twist"] @ basis
    if n:
        a[:, k:, m:k], a[:, k:, k + m :] = derivatives["elastic"], derivatives["elastic_rate"]
    b, e = (np.concatenate([np.zeros_like(derivatives[f]), derivatives[f]], axis=1) for f in ("force", "wrench"))
    parts = [states.twist @ inverse.T, states.elastic_rate]
    parts += [rates[0] @ inverse.T, rates[1]] if n else [rates @ inverse.T]
    return Linearised(a, b, e, np.concatenate([c, np.zeros_like(c)], axis=2), np.concatenate(parts, axis=1))


class _Equations:
    """A robot's rates in local coordinates about a pose, and their derivatives, as functions of numbers."""

    def __init__(self, dynamics: Dynamics) -> None:
        mechanism, n = dynamics.mechanism, dynamics.modes
        dof = DegreesOfFreedom(mechanism.robot)
        m, self.explicit, self.loads = dof.count, dynamics.explicit, dynamics.load_count
        self.size = 2 * (m + n)
        pose, x, nominal = ca.SX.sym("pose", 16), ca.SX.sym("x", self.size), ca.SX.sym("nominal", 2 * n + 6)
        force, wrench = ca.SX.sym("force", dynamics.actuators), ca.SX.sym("wrench", 6)
        loads, places = ca.SX.sym("loads", dynamics.load_count), ca.SX.sym("places", dynamics.place_count)
        elastic, elastic_rate = nominal[6 : 6 + n] + x[m : m + n], nominal[6 + n :] + x[2 * m + n :]
        # one more step of Newton makes the places exact; a step from there follows the pose to first order
        near = _placed(dynamics, pose, nominal[6 : 6 + n], places)
        at_rest = self._basis(dynamics, pose, near)
        move = at_rest @ x[:m]
        frame = ca.reshape(pose, 4, 4).T
        half = 0.5 * move[3:]
        axes, origin = cayley(half) @ frame[:3, :3], frame[:3, 3] + move[:3]
        moved = pose_of(ca.vec(ca.horzcat(axes, origin).T))
        there = _placed(dynamics, moved, elastic, near)
        rates_of = x[m + n : 2 * m + n]
        if mechanism.platform.is_constrained:
            own = self._reduced_rates(dynamics, pose, near)
            u = own @ nominal[:6] + rates_of
            speed = self._basis(dynamics, moved, there) @ u
        else:
            own = ca.SX(ca.DM(dof.inverse))
            speed = nominal[:6] + at_rest @ rates_of
        rates = dynamics.smooth_rates(moved, speed, elastic, elastic_rate, force, wrench, loads)
        drift = ca.vertcat(speed[:3], 2 * cayley_rate(half, speed[3:]))
        moving, change = own @ drift, own @ rates.acceleration
        if mechanism.coordinate_joints:
            # a joint's coordinate changes by its own rate; E changes from pose to pose, and with it u = E V
            moving = ca.vertcat(*[u[k] if joint else moving[k] for k, joint in enumerate(dof.of_joints)])
            place = mechanism.inputs()
            place.pose, place.twist = Port("pose", moved, (4, 4)), Port("twist", speed, (6,))
            change = self._reduced_rates(dynamics, moved, there) @ (
                rates.acceleration - mechanism.drift_acceleration(place)
            )
        rate = ca.vertcat(moving, elastic_rate, change, rates.elastic_acceleration)
        q = dynamics.sensed(moved, speed, elastic, elastic_rate).q
        rate, q, quality, fresh = ca.substitute(
            [ca.densify(v) for v in (rate, q, rates.quality, rates.loads)], [mechanism.places], [there]
        )
        self._numbers, self.places = mechanism.numbers.values, _places(mechanism)
        inputs = [pose, x, nominal, force, wrench, loads, places, mechanism.numbers.symbols]
        by = [x, force, wrench]
        derivatives = [ca.jacobian(rate, of) for of in by]
        follow = [ca.jacobian(rate, loads)] + [ca.jacobian(fresh, of) for of in (*by, loads)]
        self.find_loads = Mapped(inputs, [fresh])
        self.derivatives = Mapped(inputs, [*derivatives, *follow])
        self.values = Mapped(inputs, [quality, rate, ca.jacobian(q, x)])

    @staticmethod
    def _basis(dynamics: Dynamics, pose: ca.SX, places: ca.SX) -> ca.SX | ca.DM:
        """S (6, m) at a pose, with legs at given places."""
        mechanism = dynamics.mechanism
        if not mechanism.platform.is_constrained:
            return ca.DM(DegreesOfFreedom(mechanism.robot).basis)
        x = mechanism.inputs()
        x.pose = Port("pose", pose, (4, 4))
        state, _ = mechanism.resting(x)
        assert isinstance(state, ConstrainedState)
        return ca.substitute(ca.densify(state.basis), mechanism.places, places)

    @staticmethod
    def _reduced_rates(dynamics: Dynamics, pose: ca.SX, places: ca.SX) -> ca.SX:
        """E (m, 6) of u = E V at a pose, with legs at given places."""
        mechanism, x = dynamics.mechanism, dynamics.mechanism.inputs()
        x.pose = Port("pose", pose, (4, 4))
        _, legs = mechanism.resting(x)
        return ca.substitute(ca.densify(ca.SX(mechanism.reduced_rates(legs))), mechanism.places, places)

    def inputs(self, states: States, loads: Array) -> list[Array]:
        """Numbers of the functions' inputs at n states, (n, k) each."""
        n = len(states.pose)
        nominal = np.concatenate([states.twist, states.elastic, states.elastic_rate], axis=1)
        places = np.zeros((n, 0)) if self.places is None else np.asarray(self.places(states.pose)[0]).reshape(n, -1)
        rows = [
            states.pose.reshape(n, 16),
            np.zeros((n, self.size)),
            nominal,
            states.force,
            states.wrench,
            loads,
            places,
        ]
        return [*rows, np.repeat(self._numbers[None], n, axis=0)]

    def repeated_loads(self, states: States) -> tuple[Array, NDArray[np.bool_]]:
        """Joint loads (n, k) that dry friction repeats itself at, and where there are none."""
        loads = np.zeros((len(states.pose), self.loads))
        for _ in range(1 if self.explicit else MAX_ITERATIONS):
            new = self.find_loads(*self.inputs(states, loads))[0][..., 0]
            change, largest = (np.abs(v).max(axis=1, initial=0.0) for v in (new - loads, new))
            loads, open_states = new, ~(change <= CHANGE_TOLERANCE * largest)
            if not open_states.any():
                break
        return loads, np.zeros_like(open_states) if self.explicit else open_states


def _placed(dynamics: Dynamics, pose: ca.SX, elastic: ca.SX, places: ca.SX) -> ca.SX:
    """Places of legs without a closed form after one step of Newton at a pose."""
    if not dynamics.place_count:
        return places
    return ca.substitute(ca.densify(dynamics.closing(pose, elastic).moved), dynamics.mechanism.places, places)


def _places(mechanism: Mechanism) -> Kernel | None:
    """Places of the legs closed by iterating, as a function of the pose; None if all are in closed form."""
    if not mechanism.implicit_legs:
        return None
    x = mechanism.inputs()
    outputs = port("places", mechanism.places), port("quality", mechanism.quality(mechanism.resting(x)[1]), ())
    kernel = Kernel(lambda: closed(mechanism, Expression("places", (x.pose,), outputs, mechanism.port)))
    return kernel.at(mechanism.numbers.values) if kernel.parameters else kernel


def _interpreted(system: System, states: States) -> Linearised:
    """Joint loads L = g(x, L) of dry friction follow: f_x + f_L (1 - g_L)^-1 g_x."""
    equations, n = system.compiled.derived(_Equations), len(states.pose)
    k, count = equations.size, len(system.actuators)
    if not n:
        return Linearised(*(np.zeros((0, *s)) for s in ((k, k), (k, count), (k, 6), (count, k), (k,))))
    loads, open_states = equations.repeated_loads(states)
    at = equations.inputs(states, loads)
    quality, drift, c = equations.values(*at)
    # CasADi's minimum skips what is not a number, so the quality alone does not show it
    lost = ~(quality[:, 0, 0] > SMALLEST_MARGIN) | ~np.isfinite(drift).all(axis=(1, 2))
    if lost.any():
        first = int(np.argmax(lost))
        place = {"pose": states.pose[first], "elastic": states.elastic[first]}
        _refuse(why_no_answer(system.model, place), first)
    if open_states.any():
        reason = "the friction iteration did not converge: friction coefficients too large for this state"
        _refuse(reason, int(np.argmax(open_states)))
    *derivatives, f_l, g_x, g_f, g_w, g_l = equations.derivatives(*at)
    follow = [g_x, g_f, g_w]
    if equations.explicit:
        # the one round that finds the loads starts from none
        start = equations.derivatives(*equations.inputs(states, np.zeros_like(loads)))
        follow, g_l = start[4:7], np.zeros_like(g_l)
    if equations.loads:
        unit = np.eye(equations.loads)
        derivatives = [f + f_l @ np.linalg.solve(unit - g_l, g) for f, g in zip(derivatives, follow, strict=True)]
    a, b, e = derivatives
    return Linearised(a, b, e, c, drift[..., 0])


def _refuse(reason: str, state: int) -> NoReturn:
    raise StateError(f"linearise: no answer. {reason}", np.array([state]), [reason])
