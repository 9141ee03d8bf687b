"""Robots of chain legs with one, two or three degrees of freedom, dictionaries of the file format: linkages, wrists,
tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from support.robots.random_chains import Data, numbers, robot, rotation, serial, shuffled, unit
from support.robots.random_chains import translation as moves
from support.robots.unusual_chains import XYZ, X, Y, Z, around, linked

TILTS = [moves("z", Z), rotation("roll", X), rotation("pitch", Y)]
PLANE = [moves("x", X), moves("y", Y), rotation("yaw", Z)]
TURNS = [rotation("roll", X), rotation("pitch", Y), rotation("yaw", Z)]
FAR = {"position": [0.7, -0.4, 1.3], "rotation": numbers(Rotation.from_rotvec([0.4, -0.8, 1.1]).as_matrix())}


# -- three legs --------------------------------------------------------------------------------------------------------


def upu_wrist(seed: int) -> Data:
    """3-UPU whose outer axes meet in one point: three rotations about it."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, _ = around(k, off=0.1)
        first, last = unit(out - 0.2 * Z), unit(around(k, off=0.9)[0] + 0.9 * Z)
        foot, tip = 0.5 * first, 0.3 * last
        across = unit(np.cross(first, last))
        along = unit(tip - foot)
        joints = [
            ("U1", "base tube", foot, (first, across)),
            ("P2", "tube rod", 0.5 * (foot + tip), along),
            ("U3", "platform rod", tip, (last, across)),
        ]
        legs.append(linked(rng, joints, "P2"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, TURNS, "3-UPU wrist")


def rsr(seed: int) -> Data:
    """3-RSR: crank, ball, crank; the platform mirrors the base."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k)
        joints = [
            ("R1", "base low", 0.2 * out, side),
            ("S2", "low high", 0.5 * out + 0.3 * Z, 0),
            ("R3", "high platform", 0.2 * out + 0.6 * Z, side),
        ]
        legs.append(linked(rng, joints, "R1"))
    return robot(rng, legs, {"position": [0.03, 0.0, 0.62]}, TILTS, "3-RSR")


def puu(seed: int) -> Data:
    """3-PUU that translates."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.2)
        foot, tip = 0.5 * out + 0.1 * Z, 0.15 * out + 0.6 * Z
        across = unit(np.cross(side, tip - foot))
        joints = [
            ("P1", "slider base", foot - 0.1 * out, Z + 0.2 * out),
            ("U2", "slider rod", foot, (side, across)),
            ("U3", "platform rod", tip, (side, across)),
        ]
        legs.append(shuffled(rng, linked(rng, joints, "P1")))
    return robot(rng, legs, {"position": [0.0, 0.1, 0.6]}, XYZ, "3-PUU")


def ruu(seed: int) -> Data:
    """Delta of one rod a leg between two crosses."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k)
        motor, elbow, wrist = 0.15 * out, 0.4 * out - 0.1 * Z, 0.05 * out - 0.5 * Z
        across = unit(np.cross(side, wrist - elbow))
        joints = [
            ("R1", "base arm", motor, side),
            ("U2", "arm rod", elbow, (side, across)),
            ("U3", "rod platform", wrist, (across, side)),
        ]
        legs.append(linked(rng, joints, "R1"))
    return robot(rng, legs, {"position": [0.0, 0.0, -0.5]}, XYZ, "3-RUU")


def urs_of_cylinders(seed: int) -> Data:
    """3-CRU: driven along cylindrical joints perpendicular to each other."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        x, y, z = np.roll(np.eye(3), k, axis=0)
        base, elbow, wrist = -0.5 * y - 0.2 * x, -0.25 * y + 0.25 * z - 0.1 * x, 0.05 * y - 0.1 * x
        joints = [
            ("C1", "base arm", base, x),
            ("R2", "arm rod", elbow, x),
            ("U3", "rod platform", wrist, (x, y)),
        ]
        legs.append(linked(rng, joints, "C1"))
    return robot(rng, legs, {"position": [0.05, 0.0, 0.1]}, XYZ, "3-CRU")


def isoglide(seed: int) -> Data:
    """3-PRRR: slides along x, y and z, three hinges parallel to each."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        x, y, z = np.roll(np.eye(3), k, axis=0)
        base, elbow, wrist = -0.5 * y - 0.2 * x, -0.25 * y + 0.2 * z - 0.1 * x, 0.05 * y - 0.1 * x
        joints = [
            ("P1", "base slider", base - 0.1 * z, x),
            ("R2", "arm slider", base, x),
            ("R3", "arm rod", elbow, x),
            ("R4", "platform rod", wrist, x),
        ]
        legs.append(linked(rng, joints, "P1"))
    return robot(rng, legs, {"position": [0.4, 0.1, -0.2]}, XYZ, "3-PRRR")


def rpr(seed: int) -> Data:
    """Planar 3-RPR, driven in its slides, slides beside the line of the hinges; home turned, origin far away."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.3)
        foot, tip = 0.6 * out, 0.15 * around(k, off=0.7)[0]
        along = unit(tip - foot)
        joints = [
            ("R1", "base tube", foot, Z),
            ("P2", "rod tube", foot + 0.05 * side, along),
            ("R3", "rod platform", tip + 0.1 * Z, -Z),
        ]
        legs.append(linked(rng, joints, "P2"))
    turn = Rotation.from_rotvec(0.7 * Z).as_matrix()
    home = {"position": [1.5, -1.2, 0.4], "rotation": numbers(turn)}
    return robot(rng, legs, home, PLANE, "planar 3-RPR")


def rrp(seed: int) -> Data:
    """Planar 3-RRP: driven cranks, slides in the platform."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.3)
        foot, elbow = 0.5 * out, 0.3 * out + 0.15 * side
        joints = [
            ("R1", "base crank", foot, Z),
            ("R2", "crank shoe", elbow, Z),
            ("P3", "shoe platform", elbow - 0.05 * out, side + 0.3 * out),
        ]
        legs.append(linked(rng, joints, "R1"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, PLANE, "planar 3-RRP")


def ppr(seed: int) -> Data:
    """Planar 3-PPR: all degrees of freedom are slides and one hinge a leg; redundant with a fourth."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(4):
        out, side = around(k, 4, off=0.2)
        joints = [
            ("P1", "base rail", 0.5 * out, side),
            ("P2", "rail shoe", 0.5 * out, out + 0.2 * side),
            ("R3", "shoe platform", 0.2 * out + 0.05 * Z, Z),
        ]
        legs.append(linked(rng, joints, "P1"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, PLANE, "planar 4-PPR")


def prs_horizontal(seed: int) -> Data:
    """3-PRS on horizontal rails, driven by screws with rotors."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.05)
        foot, ball = 0.5 * out, 0.2 * out + 0.4 * Z
        joints = [
            ("P1", "base slider", foot, out),
            ("R2", "rod slider", foot, side),
            ("S3", "rod platform", ball, 0),
        ]
        leg = linked(rng, joints, "P1")
        leg["joints"][0] |= {"ratio": -400.0 * np.pi, "offset": 12.0, "rotor": 2e-6}
        legs.append(leg)
    return robot(rng, legs, {"position": [0.0, 0.0, 0.4]}, TILTS, "3-PRS on screws")


def upr_rpu(seed: int) -> Data:
    """2-UPR and RPU: overconstrained, one translation and two rotations."""
    rng, legs = np.random.default_rng(seed), []
    for sign in (1.0, -1.0):
        base, tip = 0.5 * sign * X, 0.2 * sign * X + 0.8 * Z
        joints = [
            ("U1", "base tube", base, (X, Y)),
            ("P2", "tube rod", (base + tip) / 2, tip - base),
            ("R3", "rod platform", tip, Y),
        ]
        legs.append(linked(rng, joints, "P2"))
    base, tip = 0.4 * Y, 0.2 * Y + 0.8 * Z
    joints = [
        ("R1", "base tube", base, X),
        ("P2", "tube rod", (base + tip) / 2, tip - base),
        ("U3", "rod platform", tip, (X, Y)),
    ]
    legs.append(linked(rng, joints, "P2"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.8]}, TILTS, "2-UPR+RPU")


def uru(seed: int) -> Data:
    """3-URU that translates, driven at the base by the first hinge of the cross, which is stated as two hinges."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.2)
        foot, elbow, tip = 0.4 * out, 0.55 * out + 0.25 * Z, 0.2 * out + 0.5 * Z
        outer = unit(out + 0.3 * Z)
        joints = [
            ("R1", "base ring", foot, outer),
            ("R2", "ring low", foot, side),
            ("R3", "low high", elbow, side),
            ("U4", "high platform", tip, (side, outer)),
        ]
        legs.append(linked(rng, joints, "R2"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.5]}, XYZ, "3-URU")


# -- one or two degrees of freedom
# -----------------------------------------------------------------------------------------------


def slider_crank(seed: int) -> Data:
    """The platform is a piston, driven by its crank with a flywheel."""
    rng = np.random.default_rng(seed)
    joints = [("R1", "base crank", [0, 0, 0], Z), ("R2", "crank rod", [0.05, 0.1, 0], Z)]
    joints += [("R3", "rod platform", [0.4, 0.02, 0.01], -Z)]
    leg = linked(rng, joints, "R1")
    leg["joints"][0] |= {"rotor": 0.3, "offset": 0.5}
    guide = linked(rng, [("P1", "platform base", [0.6, 0.02, 0.0], X)], "")
    return robot(rng, [leg, guide], {"position": [0.45, 0.0, 0.0]}, [moves("x", X)], "slider-crank")


def six_bar(seed: int) -> Data:
    """Watt's six-bar linkage: the platform is the last coupler, a loop inside the leg drives it."""
    rng = np.random.default_rng(seed)
    joints = [
        ("R1", "base crank", [0, 0, 0], Z),
        ("R2", "crank coupler", [0.05, 0.12, 0], Z),
        ("R3", "coupler rocker", [0.4, 0.25, 0], Z),
        ("R4", "rocker base", [0.45, 0, 0], Z),
        ("R5", "rocker platform", [0.55, 0.2, 0], Z),
        ("R6", "platform arm", [0.9, 0.3, 0], Z),
        ("R7", "arm base", [0.95, 0.02, 0], Z),
    ]
    leg = linked(rng, joints, "R1")
    return robot(rng, [shuffled(rng, leg)], {"position": [0.7, 0.3, 0.0]}, [rotation("turn", Z)], "Watt")


def spherical_four_bar(seed: int) -> Data:
    """The coupler of a spherical four-bar linkage: all axes meet."""
    rng = np.random.default_rng(seed)
    a = [unit(v) for v in ([1, 0, 0.2], [0.7, 0.6, 0.4], [-0.1, 1, 0.7], [0.1, 0.9, -0.2])]
    legs = [
        linked(rng, [("R1", "base crank", 0.3 * a[0], a[0]), ("R2", "crank platform", 0.2 * a[1], a[1])], "R1"),
        linked(rng, [("R1", "base rocker", 0.4 * a[3], a[3]), ("R2", "rocker platform", 0.3 * a[2], a[2])], ""),
    ]
    return robot(rng, legs, {"position": [0.1, 0.2, 0.3]}, [rotation("turn", Z)], "spherical four-bar")


def rccc(seed: int) -> Data:
    """RCCC: a spatial four-bar linkage of one hinge and three cylindrical joints."""
    rng = np.random.default_rng(seed)
    legs = [
        linked(rng, [("R1", "base crank", [0, 0, 0], Z), ("C2", "crank platform", [0.3, 0, 0.1], [0.2, 1, 0.3])], "R1"),
        linked(
            rng,
            [
                ("C1", "base rocker", [0, 0.6, 0], [1, 0.2, 0.3]),
                ("C2", "platform rocker", [0.3, 0.5, 0.3], [0, -0.4, 1]),
            ],
            "",
        ),
    ]
    return robot(rng, legs, {"position": [0.2, 0.3, 0.2]}, [rotation("turn", Z)], "RCCC")


def rssr(seed: int) -> Data:
    """RSSR: a rod with balls between crank and rocker; the platform is the rocker."""
    rng = np.random.default_rng(seed)
    joints = [
        ("R1", "base crank", [0, 0, 0], X),
        ("S2", "crank rod", [0.05, 0.1, 0.05], 0),
        ("S3", "rod platform", [0.4, 0.2, 0.4], 0),
    ]
    hinge = linked(rng, [("R1", "platform base", [0.45, 0.4, 0.3], [0.1, 0.3, 1])], "")
    axis = [rotation("swing", Z)]
    return robot(rng, [linked(rng, joints, "R1"), hinge], {"position": [0.4, 0.3, 0.3]}, axis, "RSSR")


def remote_centre(seed: int) -> Data:
    """Two parallelograms that turn an instrument about a point in which there is no joint."""
    rng = np.random.default_rng(seed)
    a, b = 0.3 * X + 0.05 * Y, 0.3 * (0.3 * X + Y)
    origin = -1.0 * X
    pivots = [origin, origin + 0.3 * a]
    joints = [
        ("R1", "base crank", pivots[0], Z),
        ("R2", "base follower", pivots[1], Z),
        ("R3", "crank bar", pivots[0] + b, Z),
        ("R4", "follower bar", pivots[1] + b, Z),
        ("R5", "follower top", pivots[1] + 1.6 * b, Z),
        ("R6", "bar platform", pivots[0] + b + 2.0 * a, Z),
        ("R7", "top platform", pivots[0] + 1.6 * b + 2.0 * a, Z),
    ]
    leg = linked(rng, joints, "R1")
    return robot(rng, [leg], {"position": [-0.5, 0.2, 0.0]}, [rotation("turn", Z)], "remote centre")


def scissor(seed: int) -> Data:
    """A scissor lift of two storeys, driven by a cylinder between its arms."""
    rng = np.random.default_rng(seed)
    w, h = 0.8, 0.25
    joints = [
        ("R1", "base a1", [0, 0, 0], Y),
        ("P2", "base shoe1", [w, 0, 0], X),
        ("R3", "shoe1 b1", [w, 0, 0], Y),
        ("R4", "a1 b1", [w / 2, 0, h / 2], Y),
        ("R5", "a1 b2", [w, 0, h], Y),
        ("R6", "b1 a2", [0, 0, h], Y),
        ("R7", "a2 b2", [w / 2, 0, 1.5 * h], Y),
        ("R8", "b2 platform", [0, 0, 2 * h], Y),
        ("R9", "a2 shoe2", [w, 0, 2 * h], Y),
        ("P10", "shoe2 platform", [w, 0, 2 * h], X),
        ("R11", "base tube", [0.1, 0.1, -0.1], Y),
        ("P12", "tube piston", [0.2, 0.1, 0.0], [0.5, 0, 0.1 + 0.25 * h]),
        ("R13", "piston b1", [0.6, 0.1, 0.25 * h], Y),
    ]
    leg = linked(rng, joints, "P12")
    return robot(rng, [leg], {"position": [0.4, 0.0, 2 * h]}, [moves("z", Z)], "scissor lift")


def pantograph(seed: int) -> Data:
    """Two bars driven about one axis and a tie parallel to one of them: how the platform's bar turns follows."""
    rng = np.random.default_rng(seed)
    a, b = np.array([-0.2, 0.3, 0.0]), np.array([0.15, 0.2, 0.0])
    joints = [
        ("R1", "base left", 0 * a, Z),
        ("R2", "base right", 0.05 * Z, Z),
        ("R3", "left platform", a, Z),
        ("R4", "right tie", b, Z),
        ("R5", "tie platform", a + b, Z),
    ]
    leg = linked(rng, joints, "R1 R2")
    return robot(rng, [leg], {"position": numbers(a + 3 * b)}, [moves("x", X), moves("y", Y)], "pantograph")


def diamond(seed: int) -> Data:
    """Diamond: two arms, each of two parallelograms; the platform moves in a plane without turning."""
    rng, legs = np.random.default_rng(seed), []
    for sign in (1.0, -1.0):
        motor, elbow, wrist = 0.1 * sign * X, (0.35 * sign * X - 0.1 * Z), 0.05 * sign * X - 0.6 * Z
        s1, s2 = 0.07 * Z + 0.02 * sign * X, 0.06 * sign * X + 0.03 * Z
        joints = [
            ("R1", "base arm", motor, Y),
            ("R2", "base tie", motor + s1, Y),
            ("R3", "arm knee", elbow, Y),
            ("R4", "tie knee", elbow + s1, Y),
            ("R5", "knee rod", elbow, Y),
            ("R6", "knee stay", elbow + s2, Y),
            ("R7", "rod platform", wrist, Y),
            ("R8", "stay platform", wrist + s2, Y),
        ]
        legs.append(linked(rng, joints, "R1"))
    return robot(rng, legs, {"position": [0.0, 0.0, -0.65]}, [moves("x", X), moves("z", Z)], "Diamond")


def ups_rr(seed: int) -> Data:
    """2-UPS and a column of two hinges that do not meet."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(2):
        a = 0.4 + 1.5 * k
        out = np.r_[np.cos(a), np.sin(a), 0]
        legs.append(serial(rng, 0.5 * out, 0.2 * out + 0.7 * Z, "UPS", 1))
    column = [("R1", "base ring", [0, 0, 0.5], X), ("R2", "platform ring", [0, 0.0, 0.55], Y)]
    dof = [rotation("roll", X), rotation("pitch", Y)]
    return robot(rng, [linked(rng, column, ""), *legs], {"position": [0, 0, 0.7]}, dof, "2-UPS+RR")


def sps_ball(seed: int) -> Data:
    """3-SPS and a ball between base and platform: a wrist."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.4)
        legs.append(serial(rng, 0.5 * out, 0.25 * out + 0.2 * side + 0.6 * Z, "SPS", 1))
    centre = linked(rng, [("S1", "platform base", [0.02, 0.01, 0.45], 0)], "")
    return robot(rng, [*legs, centre], {"position": [0, 0, 0.6]}, TURNS, "3-SPS+S")


def spherical_five_bar(seed: int) -> Data:
    """A spherical linkage of five hinges whose axes meet: two rotations, the third follows."""
    rng = np.random.default_rng(seed)
    a = [unit(v) for v in ([1, 0, 0], [0.8, 0.3, 0.7], [0.1, 0.1, 1], [-0.3, 0.8, 0.6], [0, 1, 0])]
    near = [
        ("R1", "base left", 0.3 * a[0], a[0]),
        ("R2", "left mid", 0.3 * a[1], a[1]),
        ("R3", "mid platform", a[2], a[2]),
    ]
    right = [("R1", "base right", 0.3 * a[4], a[4]), ("R2", "right platform", 0.2 * a[3], a[3])]
    legs = [linked(rng, near, "R1"), linked(rng, right, "R1")]
    dof = [rotation("roll", X), rotation("pitch", Y)]
    return robot(rng, legs, {"position": [0.1, 0, 0.2]}, dof, "spherical five-bar")


SMALL_MACHINES: dict[str, Callable[[int], Data]] = {
    "3-UPU wrist": upu_wrist,
    "3-RSR": rsr,
    "3-PUU": puu,
    "3-RUU": ruu,
    "3-CRU": urs_of_cylinders,
    "3-PRRR": isoglide,
    "planar 3-RPR": rpr,
    "planar 3-RRP": rrp,
    "planar 4-PPR": ppr,
    "3-PRS on screws": prs_horizontal,
    "2-UPR+RPU": upr_rpu,
    "3-URU": uru,
    "slider-crank": slider_crank,
    "Watt": six_bar,
    "spherical four-bar": spherical_four_bar,
    "RCCC": rccc,
    "RSSR": rssr,
    "remote centre": remote_centre,
    "scissor lift": scissor,
    "pantograph": pantograph,
    "Diamond": diamond,
    "2-UPS+RR": ups_rr,
    "3-SPS+S": sps_ball,
    "spherical five-bar": spherical_five_bar,
}
"""Robots by name, each a function of a seed."""
