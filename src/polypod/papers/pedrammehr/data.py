"""Pedrammehr, Mahboubkhah and Khani: the numbers that their equations take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...legs.ups import UPS


@dataclass(frozen=True)
class Parameters:
    """Appendix 2: joints a, b (6, 3), universal joint axes u (6, 3), bodies, viscous coefficients, gravity G."""

    a: Array
    b: Array
    u: Array
    m_d: float
    m_u: float
    m_p: float
    L_do: Array
    L_uo: Array
    r_o: Array
    I_do: Array
    I_uo: Array
    I_po: Array
    C_u: float
    C_p: float
    C_s: float
    G: Array

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of a 6-UPS robot whose pods are alike."""
        pods = [leg for leg in robot.legs if isinstance(leg, UPS)]
        pod, platform = pods[0], robot.platform
        return Parameters(
            a=np.array([leg.platform for leg in pods]),
            b=np.array([leg.base for leg in pods]),
            u=np.array([leg.axis for leg in pods]),
            m_d=pod.lower.mass,
            m_u=pod.upper.mass,
            m_p=platform.mass,
            L_do=np.array(pod.lower.com),
            L_uo=np.array(pod.upper.com),
            r_o=np.array(platform.com),
            I_do=pod.lower.central_inertia,
            I_uo=pod.upper.central_inertia,
            I_po=platform.central_inertia,
            C_u=pod.universal_friction.viscous,
            C_p=pod.prismatic_friction.viscous,
            C_s=pod.spherical_friction.viscous,
            G=np.array(robot.gravity),
        )
