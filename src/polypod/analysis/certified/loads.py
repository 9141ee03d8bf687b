"""Loads of joints with Coulomb friction along a motion, in models of time: friction and reactions found together.

Reactions are linear in loads and in the legs' forces mu along their lines, and mu is linear in loads by the platform's
balance A mu = b: F = F0 + B L. A load is the size of its reaction, L_j = |F_j|.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...formulations.dry_friction import load_parts
from ...formulations.newton_euler import has_closed_form, joint_wrenches, platform_balance
from ...friction import Loads
from ...mechanism import Mechanism
from ...platforms import Inputs, PlatformState
from ...symbols.graph import Graph
from ...symbols.vectors import norm
from .affine import Affine, evaluate_affine
from .linear_models import LinearModels, majorant, solve

_ITERATIONS = 8
"""Rounds in which loads are looked for; what they are off after that counts in their bounds."""


class LoadedJoints:
    """The loads (k) of one robot; ``parts`` are the symbols of which :meth:`found` takes the models."""

    def __init__(
        self, mechanism: Mechanism, x: Inputs, platform: PlatformState, loads: Loads, explicit: bool = False
    ) -> None:
        if not has_closed_form(mechanism):
            raise InputError(
                "there are no bounds of friction that depends on reactions in legs other than those of one universal "
                "joint and a spherical tip"
            )
        assert loads.port is not None
        self._explicit = explicit
        legs, lines, need = platform_balance(mechanism, platform, x.wrench.symbols, True, loads)
        mu, symbols = ca.SX.sym("mu", 6), loads.port.symbols
        attached = [leg.leg for leg in legs]
        reactions = load_parts(mechanism, joint_wrenches(legs, mu), attached)
        self._kinds = [(part.numel(), summed) for part, summed in reactions]
        whole = ca.vertcat(*[part for part, _ in reactions])
        still = [ca.SX.zeros(symbols.numel()), ca.SX.zeros(6)]
        need0, whole0 = ca.substitute([need, whole], [symbols, mu], still)
        parts = [lines, need0, ca.jacobian(need, symbols), whole0, ca.jacobian(whole, mu), ca.jacobian(whole, symbols)]
        self.parts = [ca.vec(ca.densify(part).T) for part in parts]
        self._shapes = [part.shape for part in parts]
        given, sizes, at = ca.SX.sym("reactions", whole.numel()), [], 0
        for count, summed in self._kinds:
            own, at = given[at : at + count], at + count
            sizes.append(ca.sum1(ca.fabs(own)) if summed else norm(own))
        self._sizes = Graph.of(ca.Function("sizes", [given], [ca.vertcat(*sizes)]))

    @property
    def count(self) -> int:
        """Number k of loads."""
        return len(self._kinds)

    def found(self, parts: list[list[Affine]]) -> list[Affine]:
        """Loads from the models of ``parts``; without a bound where it is not proven that there is one solution.

        With a line a + b s near L and N the model of what follows from it, |N - a - b s| + |B| r < r proves that there
        is one L, and that it is within r of the line.
        """
        lines, need, by_loads, first, by_mu, own = (
            LinearModels.stacked(part).reshape(*shape) for part, shape in zip(parts, self._shapes, strict=True)
        )
        n = max(len(one.middle) for one in (lines, need, first))
        lines, need, by_loads, first, by_mu, own = (
            one.repeated(n) for one in (lines, need, by_loads, first, by_mu, own)
        )
        mu = solve(lines, need)[0]
        first = (first + by_mu @ mu)[..., 0]
        if self._explicit:
            return self._sizes_of(first)
        derivatives = by_mu @ solve(lines, by_loads)[0] + own
        k = self.count
        a, b, none = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k))
        for _ in range(_ITERATIONS):
            after = LinearModels.stacked(self._sizes_of(first + derivatives.times(LinearModels(a, b, none)))).repeated(
                n
            )
            off = (np.abs(after.middle - a) + np.abs(after.slope - b) + after.remainder) * (1 + 1e-12) + 1e-300
            before, a, b = (a, b), after.middle, after.slope
        reach, sure = majorant(self._by_loads(derivatives.upper_bound), off[..., None])
        reach = np.where(sure[:, None], reach[..., 0], np.inf)
        return LinearModels(*before, reach).affine

    def _sizes_of(self, reactions: LinearModels) -> list[Affine]:
        return evaluate_affine(self._sizes, [reactions.affine])[0]

    def _by_loads(self, derivatives: Array) -> Array:
        """Bounds (n, k, k) of the derivatives of loads by loads, from those (n, parts, k) of reactions."""
        found, at = [], 0
        for count, summed in self._kinds:
            own = derivatives[:, at : at + count]
            found.append(own.sum(axis=1) if summed else np.sqrt((own**2).sum(axis=1)))
            at += count
        return np.stack(found, axis=1) * (1 + 1e-12)
