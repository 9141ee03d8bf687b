"""Tensions of cables: verdict, symbols, workspaces and fastest motions judge them alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polypod as pp
from polypod.analysis.workspace import PoseCoordinates, WorkspaceTest
from polypod.fastest import fastest
from polypod.fastest.solve import judged
from polypod.limits.symbols import uses_expression
from polypod.results import study, verdict


def test_everyone_judges_tensions_alike(model_of: Callable[[str], pp.Model]) -> None:
    """Verdict, model, compiled uses, workspace and fastest motion."""
    model = model_of("planar-4-cable")
    result = study(model, "planar-4-cable-square", rate=20, certify=False)
    found = verdict(result)
    assert found.ok
    row = next(one for one in found.rows if one.quantity == "tension")
    assert row.use == pytest.approx(1.0, abs=1e-12)  # the lower cables are as slack as they may be
    kernels, k = model.kernels, 15
    function = uses_expression(kernels, kernels.mechanism, model.robot_limits, True, model.clearances)
    state = {name: result[name].values[k] for name in ("pose", "twist", "acceleration")}
    given = state | {"weights": np.ones(4)}
    call = function.fixed(kernels.mechanism.numbers.values).function
    use = np.array(call(*(given.get(p.name, np.zeros(p.length)).ravel() for p in function.inputs))[0]).ravel()
    np.testing.assert_allclose(use[1:5], model.limits(**state)["tension"], rtol=1e-12)
    ends = np.linspace(-0.9, 0.9, 9)
    x = np.array([(a, b, 0.0) for a in ends for b in ends])
    pose, still = model.motion(x).pose, np.zeros(6)
    inside = WorkspaceTest(PoseCoordinates(model))(x).inside
    assert (inside == model.limits(pose, still, still).inside.all(axis=-1)).all()
    assert 0 < inside.sum() < len(x)
    fast = fastest(model, "planar-4-cable-square", points=100)
    assert max(one.use for one in judged(model, fast).uses()) <= 1.001
    assert fast.duration < 2.0
