"""Robots of six freedoms on six struts with balls at the platform (UPS, PUS, RUS): forty solutions at most."""

from __future__ import annotations

import numpy as np

from ..legs.strut import Strut
from .contract import Machine, Pattern, Solved, stacked
from .six_distances import SixDistances


class SixStruts(Pattern):
    """Paths to base joints that move with the coordinates start from joints of no meaning."""

    def __init__(self, struts: list[Strut]) -> None:
        platform, base = np.array([s.joint for s in struts]), np.array([s.point for s in struts])
        self._moving = bool((base[:, 0] != base[:, 1]).any())
        size = float(np.ptp(platform, axis=0).max() + np.ptp(base[:, 0], axis=0).max())
        anywhere = size * np.random.default_rng(6).normal(size=(6, 3))
        self._solver = SixDistances(anywhere if self._moving else base[:, 0], platform)

    @staticmethod
    def of(machine: Machine) -> SixStruts | None:
        """Six struts that are not hinged."""
        struts = machine.struts
        free = machine.freedoms.full and len(struts) == 6
        return SixStruts(struts) if free and all(s.axis is None and s.ball for s in struts) else None

    def solve(self, struts: list[Strut]) -> Solved:
        """Followed from a system solved once, each proven."""
        found = self._solver.poses(stacked(struts, "length"), stacked(struts, "point") if self._moving else None)
        pose = np.where(found.real[..., None, None], found.pose, np.nan)
        return Solved(pose, found.certified, found.lost == 0, found.complete)
