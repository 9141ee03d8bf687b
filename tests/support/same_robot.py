"""Whether two robots are the same but for names and leg kinds: every body and joint of one is one of the other."""

from __future__ import annotations

import numpy as np

import polypod as pp
from polypod.exchange import linkage_of
from polypod.exchange.simplify import rigid_bodies

# What is written has all digits; products of rotations and sums of halves leave their rounding.
ROUNDING = 1e-13


def assert_same(one: pp.Robot, two: pp.Robot) -> None:
    """Home, gravity, bodies and joints with their numbers, and the order of what is driven, to rounding."""
    np.testing.assert_allclose(two.home.matrix, one.home.matrix, atol=ROUNDING)
    assert two.gravity == one.gravity
    first, second = (rigid_bodies(linkage_of(robot)) for robot in (one, two))
    size = np.abs([joint.at for joint in first.joints]).max()
    assert len(first.bodies) == len(second.bodies)
    assert len(first.joints) == len(second.joints)
    for body in first.bodies.values():
        near = min(
            second.bodies.values(),
            key=lambda other: abs(other.mass - body.mass) + np.abs(np.subtract(other.com, body.com)).max(),
        )
        assert abs(near.mass - body.mass) <= ROUNDING * body.mass
        if body.mass > 0:  # what has no mass has no centre of it
            assert np.abs(np.subtract(near.com, body.com)).max() <= ROUNDING * size
        moments = np.array(body.inertia)
        assert np.abs(near.inertia - moments).max() <= ROUNDING * (np.abs(moments).max() + body.mass * size**2)
    free = list(second.joints)
    for joint in first.joints:
        same = [j for j in free if j.kind == joint.kind and np.abs(np.subtract(j.at, joint.at)).max() < ROUNDING * size]
        assert same, f"no {joint.kind} joint at the place of {joint.name}"
        alike = [j for j in same if _parallel(j, joint)]
        assert alike, f"{joint.name} has other axes"
        other = alike[0]
        free.remove(other)
        assert (other.actuated, other.friction) == (joint.actuated, joint.friction)
        for field in (
            "range",
            "offset",
            "ratio",
            "rotor",
            "max_force",
            "max_speed",
            "rms_force",
            "max_power",
            "force_speed",
        ):
            _assert_close(getattr(other, field), getattr(joint, field), f"{field} of {joint.name}")
    places = [[joint.at for joint in linkage.joints if joint.actuated] for linkage in (first, second)]
    assert np.abs(np.subtract(*places)).max() <= ROUNDING * size, "driven in another order"


def _parallel(one, two) -> bool:
    """Whether two joints have the same axes; those of passive joints have no sense, and universal ones no order."""
    if one.axes is not None:
        pairs = [(one.axes, two.axes), (one.axes[::-1], two.axes)]
        return any(all(np.linalg.norm(np.cross(a, b)) < 1e-12 for a, b in zip(*pair, strict=True)) for pair in pairs)
    if one.axis is None:
        return True
    sense = np.dot(one.axis, two.axis)
    ordered = (one.actuated and one.range is None) or sense > 0 or one.range is None
    return bool(np.linalg.norm(np.cross(one.axis, two.axis)) < 1e-12 and ordered)


def _assert_close(got, wanted, what: str) -> None:
    if wanted is None or got is None:
        assert got is wanted, what
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12, err_msg=what)
