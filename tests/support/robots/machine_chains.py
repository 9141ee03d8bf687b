"""Machines of many trades as robots of chain legs, dictionaries of the file format.

Written from the format alone: suspensions, excavators, lifts, machine tools, wrists, Schoenflies robots, robots whose
platform hangs on other bodies than their legs' last one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from support.robots.random_chains import Data, carried, hexapod, robot, rotation, serial, shuffled, unit
from support.robots.random_chains import translation as moves
from support.robots.small_machines import FAR, SMALL_MACHINES
from support.robots.unusual_chains import XYZ, X, Y, Z, around, linked

# -- machines ----------------------------------------------------------------------------------------------------------


def wishbones(seed: int) -> Data:
    """A wheel on two wishbones: a damper on the lower one and a steering rack drive it."""
    rng = np.random.default_rng(seed)
    low, high = np.array([0.65, 0.0, 0.1]), np.array([0.6, 0.02, 0.45])
    joints = [
        ("R1", "base lower", [0.2, 0.1, 0.12], Y + 0.05 * X),
        ("S2", "lower platform", low, 0),
        ("R3", "base upper", [0.3, 0.0, 0.42], Y - 0.1 * Z),
        ("S4", "upper platform", high, 0),
        ("P5", "base rack", [0.2, -0.15, 0.2], X),
        ("S6", "rack tie", [0.22, -0.15, 0.2], 0),
        ("S7", "platform tie", [0.62, -0.14, 0.22], 0),
        ("U8", "lower tube", [0.45, 0.05, 0.12], (Y, unit([1, 0, -0.3]))),
        ("P9", "tube piston", [0.42, 0.05, 0.4], [-0.1, 0.0, 0.5]),
        ("S10", "base piston", [0.35, 0.05, 0.62], 0),
    ]
    dof = [moves("z", Z), rotation("steer", Z)]
    leg = linked(rng, joints, "P5 P9")
    return robot(rng, [leg], {"position": [0.75, 0.0, 0.28]}, dof, "double wishbone")


def five_rods(seed: int) -> Data:
    """A wheel on five rods: one degree of freedom, a damper drives it; each rod is a leg."""
    rng = np.random.default_rng(seed)
    ends = [
        ([0.2, 0.2, 0.1], [0.6, 0.1, 0.12]),
        ([0.2, -0.2, 0.1], [0.6, -0.1, 0.1]),
        ([0.25, 0.15, 0.45], [0.58, 0.08, 0.42]),
        ([0.25, -0.18, 0.42], [0.58, -0.06, 0.44]),
        ([0.2, -0.3, 0.28], [0.62, -0.18, 0.26]),
    ]
    legs = []
    for k, (start, end) in enumerate(ends):
        if k % 2:
            legs.append(linked(rng, [("S1", "base rod", start, 0), ("S2", "rod platform", end, 0)], ""))
        else:
            axis = unit(np.cross(np.subtract(end, start), [0.1, 0.2, 1.0]))
            square = unit(np.cross(np.subtract(end, start), axis))
            joints = [("U1", "rod base", start, (axis, square)), ("S2", "platform rod", end, 0)]
            legs.append(linked(rng, joints, ""))
    legs.append(serial(rng, np.array([0.4, 0.02, 0.7]), np.array([0.55, 0.0, 0.15]), "UPS", 1))
    return robot(rng, legs, {"position": [0.7, 0.0, 0.28]}, [moves("z", Z)], "five rods")


def excavator(seed: int) -> Data:
    """Boom, stick and bucket: three cylinders, the last on a four-bar linkage, on a turning cab."""
    rng = np.random.default_rng(seed)
    knee, wrist = np.array([0.9, 0, 0.6]), np.array([1.3, 0, 0.2])
    rocker, link = np.array([1.25, 0, 0.32]), np.array([1.38, 0, 0.36])
    joints = [
        ("R0", "base cab", [0, 0, -0.2], Z),
        ("R1", "cab boom", [0.1, 0, 0], -Y),
        ("R2", "cab tube1", [0.2, 0, -0.1], Y),
        ("P3", "tube1 piston1", [0.3, 0, 0.05], [0.2, 0, 0.4]),
        ("R4", "piston1 boom", [0.4, 0, 0.3], Y),
        ("R5", "boom stick", knee, Y),
        ("R6", "boom tube2", [0.5, 0, 0.6], Y),
        ("P7", "tube2 piston2", [0.7, 0, 0.66], [0.35, 0, 0.15]),
        ("R8", "piston2 stick", [0.85, 0, 0.75], -Y),
        ("R9", "stick platform", wrist, Y),
        ("R10", "stick rocker", rocker, Y),
        ("R11", "rocker link", link, Y),
        ("R12", "link platform", [1.42, 0, 0.22], Y),
        ("R13", "stick tube3", [0.95, 0, 0.72], Y),
        ("P14", "tube3 piston3", [1.1, 0, 0.6], link - [0.95, 0, 0.72]),
        ("R15", "piston3 rocker", link, Y),
    ]
    leg = linked(rng, joints, "R0 P3 P7 P14")
    dof = [moves("x", X), moves("y", Y), moves("z", Z), rotation("pitch", Y)]
    return robot(rng, [leg], {"position": [1.5, 0.0, 0.1]}, dof, "excavator")


def palletiser(seed: int) -> Data:
    """An arm whose two parallelograms keep its flange level, on a turning column, the flange driven about z."""
    rng = np.random.default_rng(seed)
    shoulder, up, ahead = np.array([0.1, 0, 0.4]), np.array([0.05, 0, 0.6]), np.array([0.6, 0, -0.1])
    s1, s2 = np.array([-0.12, 0, 0.05]), np.array([0.03, 0, 0.12])
    joints = [
        ("R1", "base column", [0, 0, 0], Z),
        ("R2", "column arm", shoulder, Y),
        ("R3", "column stay1", shoulder + s1, Y),
        ("R4", "arm triangle", shoulder + up, Y),
        ("R5", "stay1 triangle", shoulder + s1 + up, Y),
        ("R6", "arm fore", shoulder + up, Y),
        ("R7", "triangle stay2", shoulder + up + s2, Y),
        ("R8", "fore wrist", shoulder + up + ahead, Y),
        ("R9", "stay2 wrist", shoulder + up + ahead + s2, Y),
        ("R10", "wrist platform", shoulder + up + ahead - [0, 0, 0.05], Z),
    ]
    leg = linked(rng, joints, "R1 R2 R6 R10")
    dof = [*XYZ, rotation("yaw", Z)]
    return robot(rng, [leg], {"position": [0.8, 0.0, 0.8]}, dof, "palletiser")


def arm(seed: int) -> Data:
    """A serial arm of six driven hinges, the second geared."""
    rng = np.random.default_rng(seed)
    points = [[0, 0, 0], [0.1, 0, 0.3], [0.1, 0.05, 0.8], [0.4, 0.05, 0.85], [0.7, 0.05, 0.85], [0.8, 0.05, 0.85]]
    axes = [Z, Y, Y, X, Y, X + 0.1 * Z]
    names = ["base", *"abcde", "platform"]
    joints = [(f"R{k}", f"{names[k]} {names[k + 1]}", points[k], axes[k]) for k in range(6)]
    leg = linked(rng, joints, "R0 R1 R2 R3 R4 R5")
    leg["joints"][1] |= {"ratio": 80.0, "rotor": 1e-4, "offset": -3.0}
    return robot(rng, [leg], FAR | {"position": [0.9, 0.1, 0.8]}, (), "serial arm")


def tricept_with_wrist(seed: int) -> Data:
    """Tricept whose plate carries two driven hinges: the platform is the tool, the plate a body."""
    rng, joints = np.random.default_rng(seed), []
    plate = np.array([0, 0, 0.9])
    for k in range(3):
        out, side = around(k, off=0.2)
        foot, ball = 0.5 * out, 0.2 * out + plate
        across = unit(np.cross(side, ball - foot))
        joints += [
            (f"U{k}", f"base tube{k}", foot, (side, across)),
            (f"P{k}", f"tube{k} piston{k}", 0.5 * (foot + ball), ball - foot),
            (f"S{k}", f"piston{k} plate", ball, 0),
        ]
    joints += [("U4", "base post", [0, 0, 0], (X, Y)), ("P5", "post plate", [0, 0, 0.5], Z)]
    joints += [("R6", "plate fork", plate, Z), ("R7", "fork platform", plate + 0.1 * Z, X + 0.5 * Z)]
    leg = linked(rng, joints, "P0 P1 P2 R6 R7")
    dof = [*XYZ, rotation("roll", X), rotation("yaw", Z)]
    return robot(rng, [leg], {"position": [0.05, 0.0, 1.1]}, dof, "tricept with wrist")


def delta_with_shaft(seed: int) -> Data:
    """Delta with a telescopic shaft that turns the tool: the platform is the tool, the Delta's plate a body."""
    rng, joints = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k)
        motor, elbow, wrist = 0.12 * out, 0.32 * out - 0.05 * Z, 0.05 * out - 0.4 * Z
        joints.append((f"R{k}", f"base arm{k}", motor, side))
        for n, shift in enumerate((0.05 * side, -0.05 * side)):
            joints.append((f"S{k}{n}a", f"arm{k} rod{k}{n}", elbow + shift, 0))
            joints.append((f"S{k}{n}b", f"rod{k}{n} plate", wrist + shift, 0))
    joints += [
        ("R3", "base sleeve", [0, 0, 0], Z),
        ("U4", "sleeve tube", [0, 0, -0.05], (X, Y)),
        ("P5", "tube shaft", [0, 0, -0.2], Z),
        ("U6", "shaft platform", [0, 0, -0.35], (Y, X)),
        ("R7", "plate platform", [0, 0, -0.4], Z),
    ]
    leg = linked(rng, joints, "R0 R1 R2 R3")
    dof = [*XYZ, rotation("yaw", Z)]
    return robot(rng, [leg], {"position": [0.0, 0.0, -0.45]}, dof, "delta with shaft")


def quattro(seed: int) -> Data:
    """Quattro: four arms, eight rods on an articulated plate of four bars; the tool sits on one bar."""
    rng, joints = np.random.default_rng(seed), []
    corners = {"p1": (1, 1), "p2": (-1, 1), "p3": (-1, -1), "p4": (1, -1)}
    hold = {0: "long1", 1: "long1", 2: "long2", 3: "long2"}
    for k, (a, b) in enumerate(corners.values()):
        out = unit([a, b, 0.0])
        side = np.cross(Z, out)
        motor, elbow, wrist = 0.25 * out, 0.55 * out - 0.1 * Z, np.array([0.07 * a, 0.1 * b, -0.7])
        joints.append((f"R{k}", f"base arm{k}", motor, side))
        for n, shift in enumerate((0.05 * side, -0.05 * side)):
            joints.append((f"S{k}{n}a", f"arm{k} rod{k}{n}", elbow + shift, 0))
            joints.append((f"S{k}{n}b", f"rod{k}{n} {hold[k]}", wrist + shift, 0))
    joints += [
        ("R5", "long1 platform", [0.06, 0.08, -0.7], Z),
        ("R6", "long2 platform", [0.06, -0.08, -0.7], Z),
        ("R7", "long1 short", [-0.06, 0.08, -0.7], Z),
        ("R8", "long2 short", [-0.06, -0.08, -0.7], Z),
    ]
    leg = linked(rng, joints, "R0 R1 R2 R3")
    dof = [*XYZ, rotation("yaw", Z)]
    return robot(rng, [leg], {"position": [0.06, 0.0, -0.75]}, dof, "quattro")


def quadrupteron(seed: int) -> Data:
    """3-PRRU and PRRR: translations and a rotation about z."""
    rng, legs = np.random.default_rng(seed), []
    for k, (x, y) in enumerate(((X, Z), (Y, Z), (X, Z))):
        side = np.cross(y, x)
        sign = -1.0 if k == 2 else 1.0
        base = sign * (-0.5 * side) - 0.1 * x + 0.05 * k * y
        wrist = sign * (-0.1 * side) + 0.1 * x * (1 - k) + 0.02 * y
        elbow = (base + wrist) / 2 + 0.2 * y
        joints = [
            ("P1", "base slider", base, x),
            ("R2", "slider arm", base, x),
            ("R3", "arm rod", elbow, x),
            ("U4", "rod platform", wrist, (x, Z)),
        ]
        legs.append(linked(rng, joints, "P1"))
    joints = [
        ("P1", "base slider", [0.5, 0.5, 0.0], Z),
        ("R2", "slider arm", [0.5, 0.5, 0.1], Z),
        ("R3", "arm rod", [0.1, 0.5, 0.1], Z),
        ("R4", "rod platform", [0.1, 0.1, 0.1], Z),
    ]
    legs.append(linked(rng, joints, "P1"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, [*XYZ, rotation("yaw", Z)], "quadrupteron")


def tau(seed: int) -> Data:
    """Gantry-Tau: three rails carry three, two and one rods; how the platform turns follows."""
    rng, legs = np.random.default_rng(seed), []
    plan = [
        ([0.5, 0.5, 0.2], [[0.2, 0.2, 0.2], [0.2, -0.2, 0.2], [0.2, 0.1, -0.3]]),
        ([-0.5, 0.4, 0.3], [[-0.2, 0.1, 0.2], [-0.2, 0.3, -0.2]]),
        ([0.35, -0.6, 0.6], [[0.0, -0.1, 0.0]]),
    ]
    for rail, wrists in plan:
        slider = np.array(rail)
        joints: list[Any] = [("P1", "base cart", slider, X + 0.1 * Z)]
        for n, wrist in enumerate(np.array(wrists)):
            start = slider + wrist - wrists[0] + 0.003 * rng.normal(size=3)
            joints += [(f"S{n}a", f"cart rod{n}", start, 0), (f"S{n}b", f"rod{n} platform", wrist, 0)]
        legs.append(linked(rng, joints, "P1"))
    home = {"position": [0.02, 0.01, -0.05]}
    return robot(rng, legs, home, XYZ, "Gantry-Tau")


# -- six degrees of freedom
# ------------------------------------------------------------------------------------------------------


def eclipse(seed: int) -> Data:
    """Eclipse: carts on one ring, driven columns, hinge and ball: two drives a leg."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.2)
        foot, ball = 0.6 * out + 0.3 * Z, 0.2 * out + 0.7 * Z
        joints = [
            ("R1", "base cart", 0.0 * Z, Z),
            ("P2", "cart column", 0.6 * out, Z),
            ("R3", "column rod", foot, side),
            ("S4", "platform rod", ball, 0),
        ]
        legs.append(linked(rng, joints, "R1 P2"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.7]}, (), "Eclipse")


def ppsr(seed: int) -> Data:
    """3-PPSR: legs on planar motors, a ball, a hinge in the platform."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.1)
        foot, tip = 0.6 * out, 0.25 * out + 0.5 * Z
        joints = [
            ("P1", "base bridge", foot, X),
            ("P2", "bridge mover", foot, Y),
            ("S3", "mover rod", foot, 0),
            ("R4", "rod platform", tip, side),
        ]
        legs.append(linked(rng, joints, "P1 P2"))
    return robot(rng, legs, FAR | {"position": [0.0, 0.0, 0.5]}, (), "3-PPSR")


def octahedron(seed: int) -> Data:
    """6-SPS whose balls coincide in threes on platform and base: an octahedron."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(6):
        low, high = around((k + 1) // 2)[0], around(k // 2, off=np.pi / 3)[0]
        legs.append(serial(rng, 0.6 * low, 0.3 * high + 0.6 * Z, "SPS", 1))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.6]}, (), "octahedron")


def ucu(seed: int) -> Data:
    """6-UCU: the cylinder's slide is driven, its turning is free."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(6):
        a, b = around((k + 1) // 2, off=(-1) ** k * 0.2)[0], around(k // 2, off=np.pi / 3 - (-1) ** k * 0.3)[0]
        foot, tip = 0.6 * a, 0.3 * b + 0.7 * Z
        along = unit(tip - foot)
        one, two = unit(np.cross(along, Z)), unit(np.cross(along, X))
        joints = [
            ("U1", "base tube", foot, (one, unit(np.cross(one, along)))),
            ("C2", "tube rod", foot + 0.4 * (tip - foot), along),
            ("U3", "platform rod", tip, (two, unit(np.cross(two, along)))),
        ]
        legs.append(linked(rng, joints, "C2"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.7]}, (), "6-UCU")


def turning_cylinders(seed: int) -> Data:
    """6-CRS: cylindrical joints driven in rotation, free along their axes."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(6):
        out, side = around(k, 6, off=(-1) ** k * 0.2)
        foot, elbow, tip = 0.5 * out, 0.65 * out + 0.1 * side + 0.15 * Z, 0.3 * out + 0.5 * Z
        joints = [
            ("C1", "base crank", foot, side + (-1) ** k * 0.5 * Z),
            ("R2", "crank rod", elbow, unit(np.cross(tip - elbow, side))),
            ("S3", "rod platform", tip, 0),
        ]
        legs.append(linked(rng, joints, "C1.rotation"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.5]}, (), "6-CRS turning")


def shared_rails(seed: int) -> Data:
    """Hexaglide: two carts on each of three skew rails."""
    rng, legs = np.random.default_rng(seed), []
    for k in range(6):
        out, side = around(k // 2)
        rail = unit(side + 0.3 * Z)
        foot = 0.6 * out + (-1) ** k * 0.35 * rail  # rods that are not perpendicular to their rails
        tip = 0.2 * around(k // 2, off=(-1) ** k * 0.5)[0] + 0.4 * Z
        one = unit(np.cross(tip - foot, out))
        joints = [
            ("P1", "cart base", foot, rail),
            ("U2", "rod cart", foot + 0.02 * out, (one, unit(np.cross(tip - foot, one)))),
            ("S3", "platform rod", tip, 0),
        ]
        legs.append(shuffled(rng, linked(rng, joints, "P1")))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.4]}, (), "hexaglide")


def seven_legs(seed: int) -> Data:
    """6-UPS with a driven seventh leg RRRS and a passive SPS one; geared, redundant, carried elsewhere."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "UPS", 1, ratio=2.0, offset=0.7, rotor=0.4)
    extra = [hexapod(seed, "RRRS", 0)["legs"][2], hexapod(seed, "SPS", ())["legs"][4]]
    # drawn by the same seed, base and platform points are where those of the first six are
    turn = Rotation.from_rotvec([0.3, 1.2, -0.7]).as_matrix()
    order = rng.permutation(8)
    legs = [*data["legs"], *extra]
    return {**carried({**data, "legs": [legs[k] for k in order]}, turn, np.r_[1.0, 2.0, -1.0]), "name": "seven legs"}


def branched(seed: int) -> Data:
    """One leg that is the whole robot: three driven arms with driven shoes, two rods from each to the platform."""
    rng, joints = np.random.default_rng(seed), []
    for k in range(3):
        out, side = around(k, off=0.1)
        motor, elbow = 0.3 * out, 0.5 * out + 0.15 * Z
        joints += [(f"R{k}", f"base arm{k}", motor, Z), (f"P{k}", f"arm{k} shoe{k}", elbow, out + 0.5 * Z)]
        for n, sign in enumerate((1.0, -1.0)):
            start, end = elbow + sign * 0.06 * side, 0.2 * around(k, off=0.1 + sign * 0.5)[0] + 0.6 * Z
            joints += [(f"S{k}{n}a", f"shoe{k} rod{k}{n}", start, 0), (f"S{k}{n}b", f"rod{k}{n} platform", end, 0)]
    leg = linked(rng, joints, "R0 R1 R2 P0 P1 P2")
    return robot(rng, [shuffled(rng, leg)], {"position": [0.0, 0.0, 0.6]}, (), "cranks and shoes")


def different_leg(seed: int) -> Data:
    """Five telescopic legs and one of three driven hinges: eight drives."""
    data = hexapod(seed, "UPS", 1)
    different = hexapod(seed, "RRRS", (0, 1, 2))["legs"][0]
    return {**data, "legs": [different, *data["legs"][1:]], "name": "5-UPS+RRRS"}


MACHINES: dict[str, Callable[[int], Data]] = {
    **SMALL_MACHINES,
    "double wishbone": wishbones,
    "five rods": five_rods,
    "excavator": excavator,
    "palletiser": palletiser,
    "serial arm": arm,
    "tricept with wrist": tricept_with_wrist,
    "delta with shaft": delta_with_shaft,
    "quattro": quattro,
    "quadrupteron": quadrupteron,
    "Gantry-Tau": tau,
    "Eclipse": eclipse,
    "3-PPSR": ppsr,
    "octahedron": octahedron,
    "6-UCU": ucu,
    "6-CRS turning": turning_cylinders,
    "hexaglide": shared_rails,
    "seven legs": seven_legs,
    "cranks and shoes": branched,
    "5-UPS+RRRS": different_leg,
}
"""Robots by name, each a function of a seed."""
