"""Robots of six degrees of freedom on six struts, spherical at the platform (UPS, PUS, RUS): forty solutions at
most."""

from __future__ import annotations

import numpy as np

from ..legs.contract import Strut
from .contract import Candidate, Pattern, Solutions, stacked
from .six_distances import SixDistances


class SixStruts(Pattern):
    """Six distances; paths to base joints that move with the coordinates start from random joints."""

    def __init__(self, struts: list[Strut]) -> None:
        platform, base = np.array([s.joint for s in struts]), np.array([s.point for s in struts])
        self._moving = bool((base[:, 0] != base[:, 1]).any())
        size = float(np.ptp(platform, axis=0).max() + np.ptp(base[:, 0], axis=0).max())
        random = size * np.random.default_rng(6).normal(size=(6, 3))
        self._solver = SixDistances(random if self._moving else base[:, 0], platform)

    @staticmethod
    def match(candidate: Candidate) -> SixStruts | None:
        """Six struts that are not hinged."""
        struts = candidate.struts
        free = candidate.dof.full and len(struts) == 6
        return SixStruts(struts) if free and all(s.axis is None and s.ball for s in struts) else None

    def solve(self, struts: list[Strut]) -> Solutions:
        """Tracked from a start system solved once, each proven."""
        found = self._solver.poses(stacked(struts, "length"), stacked(struts, "point") if self._moving else None)
        pose = np.where(found.real[..., None, None], found.pose, np.nan)
        return Solutions(pose, found.certified, found.lost == 0, found.complete)
