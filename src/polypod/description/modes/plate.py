"""A thin plate of any polygon outline as data, and the rigid body it is when it does not bend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from . import outline


@dataclass(frozen=True, eq=False)
class Plate:
    """A plate of uniform thickness in the plane z = 0 of the platform frame {P}.

    Attributes
    ----------
    outline : (n, 2) vertices of a simple polygon [m] in {P}, in either sense, the first not repeated
    thickness : [m]
    young : Young's modulus [Pa]
    poisson : Poisson's ratio, above -1 and below 0.5
    density : [kg/m^3]
    """

    outline: Any
    thickness: float
    young: float
    poisson: float
    density: float

    def __post_init__(self) -> None:
        vertices = outline.polygon(self.outline)
        vertices.setflags(write=False)
        object.__setattr__(self, "outline", vertices)
        for field in ("thickness", "young", "density"):
            if not 0 < getattr(self, field) < np.inf:
                raise InputError(f"{field}: got {getattr(self, field)}, allowed is a finite number above zero")
        if not -1 < self.poisson < 0.5:
            raise InputError(f"poisson: got {self.poisson}, allowed is above -1 and below 0.5")

    @property
    def rigidity(self) -> float:
        """Bending stiffness D = E h^3 / (12 (1 - nu^2)) [N m]."""
        return self.young * self.thickness**3 / (12.0 * (1.0 - self.poisson**2))

    @property
    def surface_density(self) -> float:
        """Mass of a unit of area [kg/m^2]."""
        return self.density * self.thickness

    def moments(self) -> tuple[float, Array, Array]:
        """Mass, first moment (3,) and second moment (3, 3) of the mass in the middle plane, about the origin of {P}.

        Integrals over a polygon by Green's theorem: each edge from p to q adds c/2 of area, c (p + q)/6 and
        c (p p^T + q q^T + (p + q)(p + q)^T)/24 with c = p x q.
        """
        p, q = self.outline, np.roll(self.outline, -1, axis=0)
        c = self.surface_density * (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])
        both = p + q
        first, second = np.zeros(3), np.zeros((3, 3))
        first[:2] = c @ both / 6
        squares = [a[:, :, None] * a[:, None, :] for a in (p, q, both)]
        second[:2, :2] = np.tensordot(c, squares[0] + squares[1] + squares[2], 1) / 24
        return float(c.sum() / 2), first, second
