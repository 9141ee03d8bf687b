"""Kim and Ryu: the numbers that their equations take."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...description import Friction as JointFriction
from ...description import Robot
from ...legs.pus import PUS
from ..shared.arrays import cross, unit

KINDS = ("slider", "universal", "spherical")


@dataclass(frozen=True)
class FrictionPair:
    """Friction of a kind of joint: a viscous coefficient c, and mu, the factor of the reaction."""

    c: float = 0.0
    mu: float = 0.0

    @staticmethod
    def of(friction: JointFriction) -> FrictionPair:
        """From the friction of a joint in a robot's description."""
        return FrictionPair(friction.viscous, friction.coulomb)


@dataclass(frozen=True)
class Parameters:
    """Appendix A.1: rails A_0, a, joints CB', axes alpha, u, v (6, 3), bodies, friction, gravity."""

    A0: Array
    a: Array
    CB: Array
    alpha: Array
    u: Array
    v: Array
    ell: float
    m: float
    m_l: float
    m_s: float
    CG: Array
    I_p: Array
    I_l: Array
    g: Array
    slider: FrictionPair
    universal: FrictionPair
    spherical: FrictionPair

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of a 6-PUS robot whose legs are alike; u is horizontal and perpendicular to the rail, v = a x
        u."""
        legs = [leg for leg in robot.legs if isinstance(leg, PUS)]
        one, platform = legs[0], robot.platform
        a = np.array([leg.rail_direction for leg in legs])
        u = unit(cross(np.broadcast_to([0.0, 0.0, 1.0], a.shape), a))
        return Parameters(
            A0=np.array([leg.rail_start for leg in legs]),
            a=a,
            CB=np.array([leg.platform for leg in legs]),
            alpha=np.array([leg.axis for leg in legs]),
            u=u,
            v=cross(a, u),
            ell=one.length,
            m=platform.mass,
            m_l=one.link.mass,
            m_s=one.slider.mass,
            CG=np.array(platform.com),
            I_p=platform.central_inertia,
            I_l=one.link.central_inertia,
            g=np.array(robot.gravity),
            slider=FrictionPair.of(one.slider_friction),
            universal=FrictionPair.of(one.universal_friction),
            spherical=FrictionPair.of(one.spherical_friction),
        )

    def only(self, *kinds: str) -> Parameters:
        """The same with friction in the named kinds of joints only."""
        slider, universal, spherical = (getattr(self, kind) if kind in kinds else FrictionPair() for kind in KINDS)
        return replace(self, slider=slider, universal=universal, spherical=spherical)
