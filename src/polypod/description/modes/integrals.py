"""Inertia integrals of a flexible body, computed once from its modes; exact in the deformation.

Let xi = (1, r, phi_1, ..., phi_N), a vector of length 4 + 3N at each node. The one matrix sum m xi xi^T holds
every integral the motion of the body needs: with T(q) = [[1, 0, 0], [0, 1_3, q (x) 1_3]] the pseudo-inertia of
the deformed body is T (sum m xi xi^T) T^T. Its blocks are the fields below; all other integrals are their
traces and antisymmetric parts. Nothing is dropped: the deformed inertia tensor is quadratic in q.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...errors import InputError
from ...lazy import lazy
from .modes import Modes

_EPS = np.zeros((3, 3, 3))
_EPS[0, 1, 2] = _EPS[1, 2, 0] = _EPS[2, 0, 1] = 1.0
_EPS[0, 2, 1] = _EPS[2, 1, 0] = _EPS[1, 0, 2] = -1.0


@dataclass(frozen=True, eq=False)
class Integrals:
    """Moments of mass of a body and its shapes, about the origin and in the axes of the platform frame {P}.

    The names in brackets are those of Long (34), read with its corrections.

    Attributes
    ----------
    mass : sum m [kg]
    first : (3,) sum m r [kg m] (MS_r0)
    second : (3, 3) sum m r r^T [kg m^2]
    s : (3, N) sum m phi_k (s_k, the columns of MS_de)
    position_shape : (N, 3, 3) sum m r phi_k^T
    shape_shape : (N, N, 3, 3) sum m phi_i phi_j^T
    """

    mass: float
    first: Array
    second: Array
    s: Array
    position_shape: Array
    shape_shape: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def of(cls, modes: Modes) -> Integrals:
        """Integrals of a set of modes: sums over its nodes."""
        count = modes.count
        columns = np.concatenate(
            [np.ones((len(modes.masses), 1)), modes.nodes, modes.shapes.transpose(0, 2, 1).reshape(-1, 3 * count)],
            axis=1,
        )
        moments = columns.T @ (modes.masses[:, None] * columns)
        moments = 0.5 * (moments + moments.T)
        return cls(
            mass=float(moments[0, 0]),
            first=moments[0, 1:4].copy(),
            second=moments[1:4, 1:4].copy(),
            s=moments[0, 4:].reshape(count, 3).T.copy(),
            position_shape=moments[1:4, 4:].reshape(3, count, 3).transpose(1, 0, 2).copy(),
            shape_shape=moments[4:, 4:].reshape(count, 3, count, 3).transpose(0, 2, 1, 3).copy(),
        )

    @lazy
    def inertia(self) -> Array:
        """Inertia tensor of the undeformed body about the origin: sum m (r.r 1 - r r^T), (3, 3) [kg m^2]."""
        return _tensor(self.second)

    @lazy
    def beta(self) -> Array:
        """beta_k = sum m r x phi_k, (3, N); Long, below (34)."""
        return np.asarray(np.einsum("abc,kbc->ak", _EPS, self.position_shape))

    @lazy
    def lam(self) -> Array:
        """lambda_ik = sum m phi_k x phi_i, (N, N, 3), antisymmetric in i, k.

        Long prints a plain product below (34); it is a cross product. With this order of indices the column i
        of MS_re is beta_i + sum_k lambda_ik q_k; the printed lambda_ki has the opposite sign.
        """
        return np.asarray(np.einsum("abc,kibc->ika", _EPS, self.shape_shape))

    @lazy
    def generalized_mass(self) -> Array:
        """m_ee = sum m phi_i . phi_j, (N, N); full, where Long (34) prints its diagonal."""
        return np.asarray(np.einsum("ijaa->ij", self.shape_shape))

    @lazy
    def inertia_linear(self) -> Array:
        """dI/dq_k at q = 0: sum m (2 r.phi_k 1 - r phi_k^T - phi_k r^T), (N, 3, 3) [kg m^2 per unit q]."""
        return _tensor(self.position_shape + self.position_shape.transpose(0, 2, 1))

    @lazy
    def inertia_quadratic(self) -> Array:
        """I_ij of the term sum q_i q_j I_ij: sum m (phi_i.phi_j 1 - sym phi_i phi_j^T), (N, N, 3, 3)."""
        return _tensor(0.5 * (self.shape_shape + self.shape_shape.transpose(0, 1, 3, 2)))

    def deformed_first(self, q: ArrayLike) -> Array:
        """First moment of the deformed body: MS = sum m r + sum_k s_k q_k, (..., 3) [kg m]; MS_r of (34)."""
        return self.first + self._coordinates(q) @ self.s.T

    def deformed_inertia(self, q: ArrayLike) -> Array:
        """Inertia tensor of the deformed body about the origin, linear and quadratic terms kept, (..., 3, 3).

        This is I_0p of Long (34), which the text calls rigid.
        """
        q = self._coordinates(q)
        linear = np.einsum("...k,kab->...ab", q, self.inertia_linear)
        return np.asarray(self.inertia + linear + np.einsum("...i,...j,ijab->...ab", q, q, self.inertia_quadratic))

    def deformed_beta(self, q: ArrayLike) -> Array:
        """MS_re of Long (34): sum m (r + sum_k phi_k q_k) x phi_i = beta_i + sum_k lambda_ik q_k, (..., 3, N)."""
        return np.asarray(self.beta + np.einsum("ika,...k->...ai", self.lam, self._coordinates(q)))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Inertia matrix of Long (34) over (v_p, omega_p, qdot_e) in platform axes, (..., 6 + N, 6 + N).

        [[m 1, -MS^, s], [MS^, I_0p, MS_re], [s^T, MS_re^T, m_ee]] with MS^ x = MS x x; the kinetic energy is
        half its quadratic form.
        """
        q = self._coordinates(q)
        count = len(self.generalized_mass)
        matrix = np.zeros((*q.shape[:-1], 6 + count, 6 + count))
        hat = -np.einsum("abc,...c->...ab", _EPS, self.deformed_first(q))
        coupling = self.deformed_beta(q)
        matrix[..., :3, :3] = self.mass * np.eye(3)
        matrix[..., 3:6, :3] = hat
        matrix[..., :3, 3:6] = -hat
        matrix[..., 3:6, 3:6] = self.deformed_inertia(q)
        matrix[..., :3, 6:] = self.s
        matrix[..., 6:, :3] = self.s.T
        matrix[..., 3:6, 6:] = coupling
        matrix[..., 6:, 3:6] = np.swapaxes(coupling, -1, -2)
        matrix[..., 6:, 6:] = self.generalized_mass
        return matrix

    def _coordinates(self, q: ArrayLike) -> Array:
        value = np.asarray(q, dtype=np.float64)
        count = len(self.generalized_mass)
        if value.shape[-1:] != (count,):
            raise InputError(f"q: must have shape (..., {count}), one coordinate per mode, got {value.shape}")
        return value


def _tensor(second: Array) -> Array:
    """tr(S) 1 - S for a second moment S, (..., 3, 3)."""
    return np.asarray(np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second)
