"""Dry friction depends on reactions and reactions on friction: the implicit problem, solved by iterating.

Loads L of the joints -> friction -> free bodies -> loads again, until they repeat. Each round changes the reactions by
the small fraction (friction coefficient times arm over leg length), so a few iterations reach rounding; near singular
poses the fraction is not small, and Aitken's relaxation keeps the iterations few. One round from frictionless reactions
is the explicit form of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import casadi as ca

from ..errors import InputError
from ..friction import FrictionLaw, Loads, Smooth, law_of, loaded_pairs
from ..mechanism import LegAtState, Mechanism
from ..mechanism.free_bodies import JointWrenches
from ..platforms import Inputs
from ..symbols.expression import Expression, Iteration, port
from ..symbols.iterations import CHANGE_TOLERANCE, SINGLE_CHANGE_TOLERANCE, fixed_point
from ..symbols.vectors import dot
from . import newton_euler, virtual_power
from .newton_euler import GeneralBalance
from .solution import ForceDistribution, motion_inputs


@dataclass(frozen=True)
class DryFriction:
    """How dry friction is treated: the law of its sign, and whether reactions include friction themselves."""

    law: FrictionLaw = field(default_factory=Smooth)
    coupling: Literal["implicit", "explicit"] = "implicit"

    @staticmethod
    def of(width: float, coupling: str, law: str | None = None) -> DryFriction:
        """From a model's options ``friction_width``, ``friction_coupling`` and ``friction_law``, checked."""
        if not (isinstance(width, (int, float)) and math.isfinite(width) and width >= 0):
            raise InputError(f"friction_width: must be a rate of at least 0 (0 is exact dry friction), got {width}")
        if coupling not in ("implicit", "explicit"):
            raise InputError(f"friction_coupling: must be 'implicit' or 'explicit', got {coupling!r}")
        return DryFriction(law_of(law, float(width)), coupling)  # type: ignore[arg-type]


CouplingForces = dict[tuple[str, int], ca.SX]
"""Reactions of couplings, by leg and number there."""


def load_parts(
    mechanism: Mechanism, wrenches: JointWrenches, legs: list[LegAtState], couplings: CouplingForces | None = None
) -> list[tuple[ca.SX, bool]]:
    """What the load of each joint with Coulomb friction is the size of, and whether sizes of the parts are summed.

    F of rotary joints; of slides N, the force across them, or N.normal where the normals of a guide are stated; of
    couplings what they pass on at their input.
    """
    by_joint = {(leg, joint): w for leg, joint, w in wrenches}
    by_leg = {leg.model.name: leg for leg in legs}
    result = []
    for (leg, _), pair in loaded_pairs(mechanism).items():
        if pair.coupling is not None:
            assert couplings is not None
            result.append((pair.factor * couplings[leg, pair.coupling], False))
            continue
        force, joint = by_joint[leg, pair.of].force, pair.joint
        if joint.kind == "prismatic":
            axis, *normals = (by_leg[leg].at_tip(direction) for direction in (*joint.axes, *joint.normals))
            across = ca.vertcat(*[dot(force, normal) for normal in normals])
            result.append((across, True) if normals else (force - dot(force, axis) * axis, False))
        else:
            result.append((force, False))
    return result


def joint_loads(
    mechanism: Mechanism, wrenches: JointWrenches, legs: list[LegAtState], couplings: CouplingForces | None = None
) -> ca.SX:
    """Loads of the joints with Coulomb friction (k): |F| of rotary joints, |N| of slides, or the sum of |N.normal|."""
    parts = load_parts(mechanism, wrenches, legs, couplings)
    # the derivative of |N| at N = 0, where it has none, is taken as zero, that of |N.normal| too
    sizes = [ca.sum1(ca.fabs(part)) if summed else ca.sqrt(ca.fmax(dot(part, part), 1e-300)) for part, summed in parts]
    return ca.vertcat(*sizes)


Measure = Callable[..., Any]
"""What is asked of the joints' wrenches and the couplings' reactions: loads, or the parts of these."""


def next_loads(
    mechanism: Mechanism,
    x: Inputs,
    loads: Loads,
    direct: bool,
    measure: Measure = joint_loads,
    distribution: ForceDistribution | None = None,
) -> Any:
    """Loads (k) that follow from assumed ones: at the motion of the inputs, or at that of their forces (``direct``).

    ``distribution`` says how more actuators than degrees of freedom share the work of a motion.
    """
    if direct:
        moved = virtual_power.direct_solution(mechanism, x, True, loads)
        return loads_in_motion(mechanism, x, loads, moved.acceleration, moved.elastic, measure, x.force.symbols)
    acceleration = x.acceleration.symbols
    if not (mechanism.platform.elastic or distribution):
        return loads_in_motion(mechanism, x, loads, acceleration, ca.SX(0, 1), measure)
    platform = mechanism.platform.at(x, x.twist.symbols, acceleration)
    state = virtual_power.State.of(mechanism, platform, True, loads)
    solution = virtual_power.inverse_solution(state, x.wrench.symbols, distribution)
    if not mechanism.platform.elastic:
        shared = solution.force + state.driven_friction
        return loads_in_motion(mechanism, x, loads, acceleration, ca.SX(0, 1), measure, shared)
    wrenches = newton_euler.flexible_wrenches(mechanism, x, acceleration, solution.elastic, solution.force, True, loads)
    return measure(mechanism, wrenches, mechanism.attach(platform))


def loads_in_motion(
    mechanism: Mechanism,
    x: Inputs,
    loads: Loads,
    acceleration: ca.SX,
    elastic: ca.SX,
    measure: Measure = joint_loads,
    shared: ca.SX | None = None,
) -> Any:
    """Loads (k) at an acceleration (6, base axes; elastic N) that forces and wrench of the inputs bring about.

    ``shared`` are the forces of the actuators, which a robot that has more of them than degrees of freedom does not
    determine.
    """
    platform = mechanism.platform.at(x, x.twist.symbols, acceleration)
    couplings: CouplingForces = {}
    if mechanism.platform.elastic:
        state = virtual_power.State.of(mechanism, platform, True, loads)
        force = x.force.symbols - state.driven_friction
        wrenches = newton_euler.flexible_wrenches(mechanism, x, acceleration, elastic, force, True, loads)
    elif newton_euler.has_closed_form(mechanism):
        solved = newton_euler.balance(mechanism, platform, x.wrench.symbols, True, loads)
        wrenches = newton_euler.joint_wrenches(solved.legs, solved.mu)
    elif mechanism.redundant and shared is None:
        raise InputError(
            f"friction: {mechanism.robot.name!r} has more actuators than degrees of freedom, and how they share "
            "decides the "
            "reactions that Coulomb friction depends on; ask for inverse_dynamics, direct_dynamics or a simulation, "
            "which know it, or pass friction=False"
        )
    else:
        general = newton_euler.general_balance(
            mechanism, x, platform, True, loads, shared if mechanism.redundant else None
        )
        _refuse_undetermined(mechanism, general)
        wrenches = general.wrenches
        couplings = coupling_forces(mechanism, general)
    return measure(mechanism, wrenches, mechanism.attach(platform), couplings)


def coupling_forces(mechanism: Mechanism, solved: GeneralBalance) -> CouplingForces:
    """Reactions of couplings by leg and number; NaN where inner stresses leave them open."""
    keys = [(leg.name, k) for leg in mechanism.legs for k in range(len(leg.placement.couplings))]
    return {key: solved.couplings[k] for k, key in enumerate(keys)}


def _is_nan(value: ca.SX) -> bool:
    return bool(value.is_constant()) and math.isnan(float(value))


def _refuse_undetermined(mechanism: Mechanism, solved: GeneralBalance) -> None:
    """Raise if inner stresses of an overconstrained robot decide a reaction that Coulomb friction depends on."""
    rows = zip(solved.wrenches, solved.determined, strict=True)
    known = {(leg, joint) for (leg, joint, _), row in rows if row[:3].all()}
    forces = coupling_forces(mechanism, solved)
    names = [
        f"{leg}.{pair.of if pair.coupling is None else pair.joint.name}"
        for (leg, _), pair in loaded_pairs(mechanism).items()
        if ((leg, pair.of) not in known if pair.coupling is None else _is_nan(forces[leg, pair.coupling]))
    ]
    if names:
        raise InputError(
            f"friction: {mechanism.robot.name!r} is overconstrained: inner stresses, which no motion decides, are part "
            f"of the reactions that Coulomb friction of {', '.join(names)} depends on; give these joints viscous "
            "friction and drag (a force or moment of its own), or pass friction=False",
            code="overconstrained",
        )


def with_loads(
    mechanism: Mechanism, dry: DryFriction, make: Callable[[Loads], Expression], direct: bool
) -> Expression | Iteration:
    """A function of loads as a function of the state alone.

    ``make`` builds the function with loads among its inputs; ``direct`` says that its motion follows from forces.
    Outputs gain ``converged`` (1 or 0).
    """
    loads = Loads.symbols(mechanism, dry.law)
    target = make(loads)
    if loads.port is None:
        return target
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    known = x.by_name | {p.name: p for p in (distribution.ports if distribution else ())}
    inputs = tuple(known[p.name] for p in target.inputs if p.name != "loads")
    fresh = next_loads(mechanism, x, loads, direct, distribution=distribution)
    tolerance = SINGLE_CHANGE_TOLERANCE if mechanism.single else CHANGE_TOLERANCE
    return fixed_point(target, loads.port, inputs, fresh, dry.coupling == "explicit", tolerance)


def converged_loads(mechanism: Mechanism, dry: DryFriction, direct: bool = False) -> Expression | Iteration:
    """Loads (k) of the joints with Coulomb friction, friction and reactions solved together: at a motion, or at that of
    given forces (``direct``)."""

    def found(loads: Loads) -> Expression:
        x = mechanism.inputs()
        assert loads.port is not None
        _, legs = mechanism.resting(x)
        outputs = port("converged_loads", loads.port.symbols), port("quality", mechanism.quality(legs), ())
        distribution = None if direct else ForceDistribution.of(mechanism)
        inputs = (*x.state, x.force, x.wrench, loads.port) if direct else motion_inputs(x, distribution, loads.ports)
        return Expression("converged_loads", inputs, outputs, mechanism.port)

    return with_loads(mechanism, dry, found, direct)


def load_jacobian(mechanism: Mechanism, columns: ca.SX, dry: DryFriction) -> Expression:
    """How loads L = g(L, p) and forces f(L, p) change: dg/dL (k, k), dg/dp (k, c) and df/dL (n, k).

    ``columns`` p (c) are numbers of the port. With f linear in p at given loads, f's whole derivative by p is
    df/dp + df/dL (1 - dg/dL)^-1 dg/dp.
    """
    loads = Loads.symbols(mechanism, dry.law)
    assert loads.port is not None
    x, symbols = mechanism.inputs(), loads.port.symbols
    fresh = next_loads(mechanism, x, loads, direct=False)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = virtual_power.State.of(mechanism, platform, True, loads)
    force = virtual_power.inverse_solution(state, x.wrench.symbols).force + state.driven_friction
    derivatives = {
        "loads_by_loads": ca.jacobian(fresh, symbols),
        "loads_by_numbers": ca.jacobian(fresh, columns),
        "force_by_loads": ca.jacobian(force, symbols),
    }
    outputs = tuple(port(name, ca.densify(matrix), matrix.shape) for name, matrix in derivatives.items())
    return Expression("load_jacobian", (*x.state, x.acceleration, x.wrench, loads.port), outputs, mechanism.port)
