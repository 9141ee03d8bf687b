"""What a study reports of each design: one line a quantity.

A quantity is a source, k numbers of a design at a state, reduced over the states and then over its k actuators or
joints; or a function of the designs alone. States are reduced as they are computed, so that memory grows with the
designs, not with the states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Outputs = Mapping[str, Array]


class Source(NamedTuple):
    """Numbers of a state from the outputs of functions, named ``function.output``.

    Either as an expression (k) of ``symbols``, which is compiled with the functions and reduced as it is computed, or
    ``of`` arrays (D, T, ...), as (D, T, k).
    """

    functions: tuple[str, ...]
    symbols: Callable[[Mapping[str, ca.SX]], ca.SX] | None = None
    of: Callable[[Outputs], Array] | None = None


SOURCES = {
    "force": Source(("inverse_dynamics",), lambda o: o["inverse_dynamics.force"]),
    "speed": Source(("rates",), lambda o: o["rates.qdot"]),
    "length": Source(("inverse_kinematics",), lambda o: o["inverse_kinematics.q"]),
    "power": Source(("inverse_dynamics", "rates"), lambda o: o["inverse_dynamics.force"] * o["rates.qdot"]),
    "total power": Source(
        ("inverse_dynamics", "rates"), lambda o: ca.sum1(ca.fmax(o["inverse_dynamics.force"] * o["rates.qdot"], 0))
    ),
    "condition": Source(("conditioning",), lambda o: o["conditioning.condition"]),
    "distance": Source(("conditioning",), lambda o: o["conditioning.distance"]),
    "range": Source(("ranges",), lambda o: o["ranges.use"]),
    "reaction": Source(("reactions",), of=lambda o: _sizes(o["reactions.wrenches"])),
    "stiffness": Source(
        ("stiffness",), of=lambda o: _least_stiffness(o["stiffness.stiffness"], o["stiffness.motions"])
    ),
    "frequency": Source(
        ("stiffness", "mass_matrix"), of=lambda o: _frequencies(o["stiffness.stiffness"], o["mass_matrix.mass_matrix"])
    ),
}
"""Numbers of each state that quantities reduce: the kernels they need, and how they follow from these."""


def _sizes(wrench: Array) -> Array:
    """Sizes (D, T, joints) of the joints' forces; what statics leaves open counts as zero."""
    return np.linalg.norm(np.nan_to_num(wrench[..., :3], nan=0.0), axis=-1)


def _least_stiffness(matrix: Array, motions: Array) -> Array:
    """Stiffness (D, T, 1) against a force in the softest direction: 1 over the largest eigenvalue of its compliance.

    T K^-1 T^T with T (3, m) the platform's velocity by u, that of the Jacobian.
    """
    moving = motions[..., :3, :]
    compliance = moving @ np.linalg.inv(matrix) @ np.swapaxes(moving, -1, -2)
    return np.asarray(1.0 / np.linalg.eigvalsh(compliance)[..., -1:], dtype=np.float64)


def _frequencies(stiffness: Array, mass: Array) -> Array:
    """Natural frequencies (D, T, m) [Hz] of the whole robot on the springs of its legs."""
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), dtype=np.float64)


class Quantity(NamedTuple):
    """A quantity that a study evaluates.

    Attributes
    ----------
    text : str
        What it is.
    unit : str
        Its unit; ``{f}`` stands for that of forces, ``{q}`` of coordinates, ``{v}`` of volumes.
    source : str
        Function that it comes from; empty for a quantity of the design alone.
    reduce : str
        Reduction over states: peak (largest magnitude), mean square, most, least or span.
    of : callable or None
        Computes a quantity of the design alone from its parameters.
    """

    text: str
    unit: str
    source: str = ""
    reduce: str = ""
    of: Callable[[Mechanism, Array], Array] | None = None

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of a state that it needs; none of a quantity of designs alone."""
        return SOURCES[self.source].functions if self.source else ()

    @property
    def symbolic(self) -> bool:
        """Whether it is compiled with the functions."""
        return bool(self.source) and SOURCES[self.source].symbols is not None

    @property
    def inputs(self) -> dict[str, Array]:
        """Further inputs of the compiled function: none."""
        return {}

    @property
    def key(self) -> tuple[str, str]:
        """What determines its expression."""
        return self.source, self.reduce

    def expression(self, known: Mapping[str, ca.SX], mechanism: Mechanism, given: Mapping[str, Any]) -> ca.SX:
        """Values at a state in symbols, from the outputs of its functions.

        Parameters
        ----------
        known : mapping of str to casadi.SX
            Outputs by name.
        mechanism : Mechanism
            The robot in symbols.
        given : mapping of str to object
            Further inputs.

        Returns
        -------
        casadi.SX, shape (k,)
            Values.
        """
        symbols = SOURCES[self.source].symbols
        assert symbols is not None
        return symbols(known)

    @property
    def more_is_better(self) -> bool:
        """Whether it should be large: what is reduced to the least."""
        return self.reduce == "least"

    @property
    def worst(self) -> Any:
        """How the worst of several is found: the least of what should be large."""
        return np.min if self.more_is_better else np.max


def _moving_mass(mechanism: Mechanism, values: Array) -> Array:
    """Mass (D,) of all moving bodies, from rows (D, k) of the parameter port."""
    numbers = mechanism.numbers
    bodies = [body.moments.mass for leg in mechanism.placed for body in leg.placement.bodies]
    mass = ca.Function("mass", [numbers.symbols], [numbers.platform.mass + sum(bodies, ca.SX(0))])
    return np.asarray(mass.map(len(values))(values.T)).ravel() if len(values) else np.empty(0)


QUANTITIES = {
    "peak force": Quantity("largest actuator force", "{f}", "force", "peak"),
    "rms force": Quantity("largest root mean square of an actuator's force", "{f}", "force", "rms"),
    "peak speed": Quantity("largest actuator speed", "{q}/s", "speed", "peak"),
    "peak power": Quantity("largest power of an actuator, driving or braking", "W", "power", "peak"),
    "total power": Quantity("largest driving power of all actuators together", "W", "total power", "most"),
    "stroke": Quantity("largest stroke of an actuator", "{q}", "length", "span"),
    "longest": Quantity("largest actuated coordinate", "{q}", "length", "most"),
    "shortest": Quantity("least actuated coordinate", "{q}", "length", "least"),
    "peak reaction": Quantity("largest force in a joint", "N", "reaction", "peak"),
    "condition": Quantity("largest condition number of the scaled Jacobian", "1", "condition", "most"),
    "dexterity": Quantity("least distance to singularity (joints' motion, mm/mm)", "1", "distance", "least"),
    "stiffness": Quantity("least stiffness against a force on the platform", "N/m", "stiffness", "least"),
    "natural frequency": Quantity("lowest natural frequency", "Hz", "frequency", "least"),
    "range use": Quantity("largest use of a range or cone, 1 at its edge", "1", "range", "most"),
    "workspace volume": Quantity("volume of the positions reached in the home orientation", "{v}", reduce="least"),
    "moving mass": Quantity("mass of all moving bodies", "kg", of=_moving_mass),
}
"""Every quantity of a study by name."""


def share(name: str, value: Array, limit: float) -> Array:
    """How much of a limit a quantity uses: above 1 it is broken."""
    with np.errstate(divide="ignore"):
        return limit / value if QUANTITIES[name].more_is_better else value / limit
