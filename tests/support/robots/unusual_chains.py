"""Robots that are rarely built, as dictionaries of the file format.

Parallelograms, hinges instead of crosses, platforms of several bodies, linkages that move only by their proportions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from support.robots.random_chains import (
    Array,
    Data,
    carried,
    hexapod,
    numbers,
    random_body,
    robot,
    rotation,
    round_body,
    serial,
    shuffled,
    square_to,
    translation,
    unit,
)

X, Y, Z = np.eye(3)
XYZ = [translation(name, axis) for name, axis in zip("xyz", np.eye(3), strict=True)]
LETTERS = {"R": "revolute", "P": "prismatic", "C": "cylindrical", "S": "spherical"}


def linked(
    rng: np.random.Generator, joints: Sequence[tuple[str, str, Any, Any]], driven: str, rate: float = 0.3
) -> Data:
    """A leg of joints (name, bodies, place, axis or axes); the kind of a joint is the first letter of its name.

    ``driven`` names joints, a cylindrical one along its axis or as ``NAME.rotation``. A rod between two balls is round.
    """
    drives = dict((*one.split("."), "translation")[:2] for one in driven.split())
    stated, held = [], {}
    for name, between, at, axis in joints:
        first, second = between.split()
        joint: Data = {"name": name, "kind": LETTERS.get(name[0], "universal"), "between": [first, second]}
        joint["at"] = numbers(at)
        if name[0] == "U":
            joint["axes"] = [numbers(a) for a in axis]
        elif name[0] != "S":
            joint["axis"] = numbers(unit(axis))
        if name in drives:
            joint["actuated"] = drives[name] if name[0] == "C" else True
        if name[0] == "C":
            joint["frictions"] = {"rotation": {"viscous": 0.8 * rate}, "translation": {"viscous": 6.0 * rate}}
        else:
            joint["friction"] = {"viscous": float(rng.uniform(0.3, 1.0) * rate)}
        stated.append(joint)
        for body in (first, second):
            held.setdefault(body, []).append((name[0], np.asarray(at, dtype=float)))
    bodies = {}
    for body, ends in held.items():
        if body in ("base", "platform"):
            continue
        letters, points = zip(*ends, strict=True)
        if letters == ("S", "S"):
            bodies[body] = round_body(rng, rng.uniform(0.3, 1.0), *points)
        else:
            bodies[body] = random_body(rng, rng.uniform(0.3, 1.0), np.mean(points, axis=0), 0.08)
    return {"kind": "chain", "bodies": bodies, "joints": stated}


def around(k: int, count: int = 3, off: float = 0.0) -> tuple[Array, Array]:
    """Outward and sideways directions of a leg."""
    a = 2 * np.pi * k / count + off
    return np.r_[np.cos(a), np.sin(a), 0.0], np.r_[-np.sin(a), np.cos(a), 0.0]


def orthoglide(seed: int) -> Data:
    """3-PRPaR: parallelograms that are no rectangles, bars apart from the fork, joints in any order."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        x, y, z = np.roll(np.eye(3), k, axis=0)
        start = -0.4 * x + 0.01 * rng.normal(size=3)
        rod = 0.36 * x + 0.05 * y + 0.07 * z
        wide = 0.06 * y + 0.02 * x
        wrist = start + rod
        leg = linked(
            rng,
            [
                ("P1", "base slider", start - 0.05 * z, x + 0.1 * y),
                ("R2", "slider near", start + 0.03 * y, y),
                ("R3", "near bar1", start + wide, z),
                ("R4", "near bar2", start - 0.7 * wide + 0.04 * z, -z),
                ("R5", "bar1 far", start + wide + rod + 0.01 * z, z),
                ("R6", "bar2 far", start - 0.7 * wide + rod, z),
                ("R7", "far platform", wrist, y),
            ],
            "P1",
        )
        legs.append(shuffled(rng, leg) if k else leg)
    return robot(rng, legs, {"position": [0.02, 0.01, -0.03]}, XYZ, "3-PRPaR")


def delta_of_hinges(seed: int) -> Data:
    """3-RRPaR: a Delta whose parallelograms have hinges instead of balls."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, side = around(k)
        motor, elbow, wrist = 0.2 * out, 0.45 * out - 0.1 * Z, 0.08 * out - 0.6 * Z
        along = unit(wrist - elbow)
        normal = np.cross(along, side)
        joints = [
            ("R1", "base arm", motor, side),
            ("R2", "arm near", elbow, side),
            ("R7", "far platform", wrist, side),
        ]
        for n, shift in enumerate((0.05 * side, -0.05 * side)):
            joints += [
                (f"R{3 + n}", f"near bar{n}", elbow + shift, normal),
                (f"R{5 + n}", f"bar{n} far", wrist + shift, normal),
            ]
        legs.append(linked(rng, joints, "R1"))
    return robot(rng, legs, {"position": [0.0, 0.0, -0.6]}, XYZ, "3-RRPaR")


def hinges_for_crosses(seed: int) -> Data:
    """6-PRRS: a slide, two hinges whose axes meet inclined and a ball."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "PUS", 0)
    for leg in data["legs"]:
        slide, cross, ball = leg["joints"]
        at, first = np.array(cross["at"]), np.array(cross["axes"][0])
        second = unit(np.array(cross["axes"][1]) + 0.3 * first)
        leg["bodies"]["ring"] = random_body(rng, 0.2, at, 0.05)
        hinges = [
            {"name": "R2", "kind": "revolute", "between": ["body1", "ring"], "at": numbers(at - 0.1 * first),
             "axis": numbers(first), "friction": {"viscous": 0.4}},
            {"name": "R3", "kind": "revolute", "between": ["ring", "body2"], "at": numbers(at + 0.07 * second),
             "axis": numbers(second), "friction": {"viscous": 0.6}},
        ]  # fmt: skip
        leg["joints"] = [slide, *hinges, ball]
    return {**data, "name": "6-PRRS"}


def offset_crosses(seed: int) -> Data:
    """6-RRPS: hexapod whose lower crosses are two hinges that do not meet."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "UPS", 1)
    for leg in data["legs"]:
        cross, slide, ball = leg["joints"]
        at, (first, second) = np.array(cross["at"]), (np.array(a) for a in cross["axes"])
        leg["bodies"]["ring"] = random_body(rng, 0.2, at, 0.05)
        hinges = [
            {"name": "R1", "kind": "revolute", "between": ["base", "ring"], "at": numbers(at), "axis": numbers(first)},
            {"name": "R2", "kind": "revolute", "between": ["ring", "body1"], "axis": numbers(second),
             "at": numbers(at + 0.05 * np.cross(first, second)), "friction": {"viscous": 0.6}},
        ]  # fmt: skip
        leg["joints"] = [*hinges, slide, ball]
    return {**data, "name": "6-RRPS"}


def three_rrs(seed: int) -> Data:
    """3-RRS: two hinges that are not parallel and a ball; every leg leaves a constraint to the platform."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, side = around(k, off=0.1)
        base, elbow, ball = 0.4 * out, 0.55 * out + 0.3 * Z, 0.25 * out + 0.6 * Z
        tilted = unit(side + 0.2 * rng.normal(size=3))
        joints = [("R1", "base crank", base, tilted), ("R2", "crank rod", elbow, side), ("S3", "rod platform", ball, 0)]
        legs.append(linked(rng, joints, "R1"))
    dof = [translation("z", Z), rotation("roll", X), rotation("pitch", Y)]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.6]}, dof, "3-RRS")


def redundant_post(seed: int) -> Data:
    """4-UPS+UP: four driven legs and a passive post of three degrees of freedom."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(4):
        out, _ = around(k, 4, 0.3)
        legs.append(serial(rng, 0.6 * out, 0.2 * out + 0.9 * Z + 0.05 * rng.normal(size=3), "UPS", 1))
    post = linked(rng, [("U1", "base tube", 0 * Z, (X, Y)), ("P2", "tube platform", 0.4 * Z, Z)], "")
    dof = [rotation("roll", X), rotation("pitch", Y), translation("z", Z)]
    return robot(rng, [*legs, post], {"position": [0.0, 0.0, 0.9]}, dof, "4-UPS+UP")


def five_dof(seed: int) -> Data:
    """4-UPS and one driven RPS leg, whose hinge keeps its ball in a plane: five degrees of freedom."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "UPS", 1, count=5)
    position = np.array(data["home"]["position"])
    base, ball = np.r_[0.9, 0.1, 0.0], position + 0.3 * X + 0.1 * Z
    along = unit(ball - base)
    hinge = unit(np.cross(along, [0.2, 0.1, 1.0]))
    joints = [
        ("R1", "base tube", base, hinge),
        ("P2", "tube rod", (base + ball) / 2, along),
        ("S3", "rod platform", ball, 0),
    ]
    dof = [*XYZ, rotation("roll", X), rotation("yaw", Z)]
    return {**data, "legs": [*data["legs"][1:], linked(rng, joints, "P2")], "dof": dof, "name": "4-UPS+RPS"}


def exechon(seed: int) -> Data:
    """2-UPR and SPR: hinges on the platform, overconstrained; one translation and two rotations with parasitic ones."""
    rng = np.random.default_rng(seed)
    height = 0.8
    legs = []
    for sign in (1.0, -1.0):
        base, tip = 0.5 * sign * X, 0.2 * sign * X + height * Z
        joints = [
            ("U1", "base tube", base, (X, Y)),
            ("P2", "tube rod", (base + tip) / 2, tip - base),
            ("R3", "rod platform", tip, Y),
        ]
        legs.append(linked(rng, joints, "P2"))
    base, tip = 0.5 * Y, 0.2 * Y + height * Z
    joints = [
        ("S1", "base tube", base, 0),
        ("P2", "tube rod", (base + tip) / 2, tip - base),
        ("R3", "rod platform", tip, X),
    ]
    legs.append(linked(rng, joints, "P2"))
    dof = [translation("z", Z), rotation("roll", X), rotation("pitch", Y)]
    return robot(rng, legs, {"position": [0.0, 0.0, height]}, dof, "Exechon")


def capaman(seed: int) -> Data:
    """3-PaPS: a driven parallelogram on the base, a slide on its coupler, a ball."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, side = around(k)
        foot, bar, wide = 0.3 * out, 0.25 * Z + 0.12 * side, 0.1 * side
        joints = [
            ("R1", "base crank", foot - wide, out),
            ("R2", "base follower", foot + wide, out),
            ("R3", "crank coupler", foot - wide + bar, out),
            ("R4", "follower coupler", foot + wide + bar, out),
            ("P5", "coupler slider", foot + bar, out),
            ("S6", "slider platform", foot + bar + 0.1 * Z, 0),
        ]
        legs.append(linked(rng, joints, "R1"))
    dof = [translation("z", Z), rotation("roll", X), rotation("pitch", Y)]
    home = {"position": numbers(0.35 * Z)}
    return robot(rng, legs, home, dof, "CaPaMan")


def tripteron(seed: int) -> Data:
    """3-CRR: a cylindrical joint driven along its axis and two hinges parallel to it, legs along x, y and z."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        x, y, z = np.roll(np.eye(3), k, axis=0)
        base, elbow, wrist = -0.5 * y - 0.2 * x, -0.25 * y + 0.2 * z - 0.1 * x, 0.05 * y - 0.1 * x
        joints = [("C1", "base arm", base, x), ("R2", "arm rod", elbow, x), ("R3", "rod platform", wrist, x)]
        legs.append(linked(rng, joints, "C1"))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, XYZ, "3-CRR")


def four_bar(seed: int) -> Data:
    """The coupler of a planar four-bar linkage: one degree of freedom, two components follow."""
    rng = np.random.default_rng(seed)
    legs = [
        linked(rng, [("R1", "base crank", 0 * Y, Z), ("R2", "crank platform", [0.1, 0.25, 0], Z)], "R1"),
        linked(rng, [("R1", "base rocker", 0.6 * X, Z), ("R2", "rocker platform", [0.7, 0.4, 0], Z)], ""),
    ]
    return robot(rng, legs, {"position": [0.3, 0.4, 0.05]}, [translation("x", X)], "four-bar")


def bennett(seed: int) -> Data:
    """Bennett's linkage: four skew hinges that move because sin(a)/a of opposite links are equal."""
    rng = np.random.default_rng(seed)
    a, alpha, b = 0.4, 0.6, 0.25
    beta = np.arcsin(b * np.sin(alpha) / a)

    def link(theta: float, length: float, twist: float) -> Array:
        at = np.eye(4)
        at[:3, :3] = (Rotation.from_rotvec(theta * Z) * Rotation.from_rotvec(twist * X)).as_matrix()
        at[:3, 3] = length * np.r_[np.cos(theta), np.sin(theta), 0.0]
        return at

    first = 1.1
    # tan(first/2) tan(second/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2)
    second = 2 * np.arctan2(np.sin((beta + alpha) / 2), np.sin((beta - alpha) / 2) * np.tan(first / 2))
    frames = [np.eye(4)]
    for theta, (length, twist) in zip((first, second, -first), ((a, alpha), (b, beta), (a, alpha)), strict=True):
        frames.append(frames[-1] @ link(theta, length, twist))
    closed = frames[-1] @ link(-second, b, beta)
    assert np.abs(closed - np.eye(4)).max() < 1e-12, closed
    at, axis = [f[:3, 3] for f in frames], [f[:3, 2] for f in frames]
    legs = [
        linked(rng, [("R1", "base crank", at[0], axis[0]), ("R2", "crank platform", at[1], axis[1])], "R1"),
        linked(rng, [("R1", "base rocker", at[3], axis[3]), ("R2", "rocker platform", at[2], axis[2])], ""),
    ]
    home = (at[1] + at[2]) / 2
    return robot(rng, legs, {"position": numbers(home)}, [rotation("turn", Z)], "Bennett")


def sarrus(seed: int) -> Data:
    """Sarrus' linkage: two legs of three parallel hinges in different planes: one translation."""
    rng = np.random.default_rng(seed)
    legs = []
    for k, driven in ((0, "R1"), (1, "")):
        out, side = (X, Y) if k == 0 else (Y, -X)
        points = [0.2 * out, 0.45 * out + 0.25 * Z, 0.2 * out + 0.5 * Z]
        names = ["base low", "low high", "high platform"]
        joints = [(f"R{n + 1}", names[n], points[n], side) for n in range(3)]
        legs.append(linked(rng, joints, driven))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.5]}, [translation("z", Z)], "Sarrus")


def coaxial_eye(seed: int) -> Data:
    """A spherical 3-RRR wrist whose motors share one axis."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, _ = around(k)
        a, b, c = Z, unit(out - 0.4 * Z), unit(0.7 * around(k, off=0.9)[0] + 0.6 * Z)
        points = [(0.1 + 0.03 * k) * a, 0.2 * b, 0.15 * c]
        joints = [
            ("R1", "base low", points[0], a),
            ("R2", "low high", points[1], b),
            ("R3", "high platform", points[2], c),
        ]
        legs.append(linked(rng, joints, "R1"))
    dof = [rotation("roll", X), rotation("pitch", Y), rotation("yaw", Z)]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, dof, "coaxial eye")


def spherical_five_bar(seed: int) -> Data:
    """Five hinges whose axes meet in one point: two rotations, the third follows; the platform is a link."""
    rng = np.random.default_rng(seed)
    centre = np.r_[0.0, 0.0, 0.2]
    motors = unit(np.r_[1.0, 0.0, 0.07]), unit(np.r_[-0.13, 1.0, -0.03])
    elbows = unit(np.r_[0.74, -0.4, 0.54]), unit(np.r_[-0.52, 0.58, 0.62])
    wrist = unit(np.r_[0.09, 0.12, 0.99])
    one = [
        ("R1", "base crank", centre + 0.15 * motors[0], motors[0]),
        ("R2", "crank platform", centre + 0.12 * elbows[0], elbows[0]),
    ]
    two = [
        ("R1", "base crank", centre + 0.14 * motors[1], motors[1]),
        ("R2", "crank link", centre + 0.15 * elbows[1], elbows[1]),
        ("R3", "link platform", centre + 0.1 * wrist, wrist),
    ]
    legs = [linked(rng, one, "R1", 0.05), linked(rng, two, "R1", 0.05)]
    dof = [rotation("roll", X), rotation("pitch", Y)]
    return robot(rng, legs, {"position": numbers(centre)}, dof, "spherical five-bar")


def mixed(seed: int) -> Data:
    """Six legs of six kinds."""
    kinds = [("RSS", 0), ("PUS", 0), ("UPS", 1), ("CRS", 0), ("SPU", 1), ("RRRS", 1)]
    robots = [hexapod(seed, letters, driven) for letters, driven in kinds]
    legs = [one["legs"][k] for k, one in enumerate(robots)]
    home = robots[0]["home"]
    moved = []
    for one, leg in zip(robots, legs, strict=True):
        turn = np.array(home["rotation"]) @ np.array(one["home"]["rotation"]).T
        shift = np.array(home["position"]) - turn @ np.array(one["home"]["position"])
        moved.append(_carried_leg(leg, turn, shift))
    return {**robots[0], "legs": moved, "name": "mixed legs"}


def _carried_leg(leg: Data, turn: Array, shift: Array) -> Data:
    data = {"gravity": numbers(Z), "home": {"position": numbers(0 * Z)}, "legs": [leg]}
    return dict(carried(data, turn, shift)["legs"][0])


def four_arms(seed: int) -> Data:
    """H4: one leg of four slides and eight rods; two side plates turn on the platform: a fourth degree of freedom."""
    rng = np.random.default_rng(seed)
    bodies: Data = {}
    joints: list[Data] = []

    def add(kind: str, name: str, between: list[str], at: Any, **more: Any) -> None:
        joints.append({"name": name, "kind": kind, "between": between, "at": numbers(at), **more})

    plates = {"left": -0.1 * X, "right": 0.1 * X}
    for name, at in plates.items():
        bodies[name] = random_body(rng, 0.5, at, 0.05)
        add("revolute", f"turn_{name}", [name, "platform"], at, axis=numbers(Z), friction={"viscous": 0.1})
    for k, (plate, foot, ball) in enumerate(
        (
            ("left", [-0.5, -0.3, 0.6], [-0.15, -0.06, 0.0]),
            ("left", [-0.6, 0.25, 0.6], [-0.16, 0.08, 0.0]),
            ("right", [0.5, 0.3, 0.6], [0.15, 0.07, 0.0]),
            ("right", [0.4, -0.5, 0.6], [0.12, -0.1, 0.0]),
        )
    ):
        foot_at, ball_at = np.array(foot), np.array(ball)
        wide = 0.05 * unit(np.cross(ball_at - foot_at, Z))
        slider = f"slider{k}"
        bodies[slider] = random_body(rng, 0.6, foot_at, 0.05)
        add(
            "prismatic",
            f"drive{k}",
            ["base", slider],
            foot_at,
            axis=numbers(Z),
            actuated=True,
            friction={"viscous": 3.0},
        )
        for n, shift in enumerate((wide, -wide)):
            rod = f"rod{k}{n}"
            bodies[rod] = round_body(rng, 0.15, foot_at + shift, ball_at + shift)
            add("spherical", f"top{k}{n}", [slider, rod], foot_at + shift)
            add("spherical", f"low{k}{n}", [rod, plate], ball_at + shift)
    legs = [{"kind": "chain", "bodies": bodies, "joints": joints}]
    dof = [*XYZ, rotation("yaw", Z)]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, dof, "H4")


def rails(seed: int) -> Data:
    """3-PRR in a plane."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, side = around(k, off=0.2)
        foot, wrist = 0.5 * out, 0.15 * side + 0.05 * out
        joints = [
            ("P1", "base slider", foot, out + 0.3 * side),
            ("R2", "slider rod", foot, Z),
            ("R3", "rod platform", wrist, Z),
        ]
        legs.append(linked(rng, joints, "P1"))
    dof = [translation("x", X), translation("y", Y), rotation("yaw", Z)]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.0]}, dof, "3-PRR")


def inclined_rails(seed: int) -> Data:
    """6-PSS on inclined rails; eight of them would be redundant."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "PSS", 0, count=8)
    return {**data, "name": "8-PSS", "gravity": numbers(9.81 * square_to(rng, X))}


def five_bar_legs(seed: int) -> Data:
    """3-R(RRRRR)S: planar five-bars with two drives each swing on hinges and carry the platform by balls."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        out, side = around(k, off=0.1)
        foot, up = 0.5 * out, unit(Z - 0.2 * out)
        normal = np.cross(side, up)
        points = {(x, y): foot + x * side + y * up for x in (-0.2, -0.1, 0.0, 0.1, 0.2) for y in (-0.05, 0.0, 0.2, 0.4)}
        joints = [
            ("R0", "base frame", points[0.0, -0.05], side),
            ("R1", "frame crank1", points[-0.1, 0.0], normal),
            ("R2", "crank1 rod1", points[-0.2, 0.2], normal),
            ("R3", "frame crank2", points[0.1, 0.0], normal),
            ("R4", "crank2 rod2", points[0.2, 0.2], normal),
            ("R5", "rod1 rod2", points[0.0, 0.4], normal),
            ("S6", "rod2 platform", points[0.0, 0.4] + 0.02 * normal, 0),
        ]
        leg = linked(rng, joints, "R1")
        leg["joints"][3]["actuated"] = True
        legs.append(shuffled(rng, leg))
    return robot(rng, legs, {"position": [0.0, 0.0, 0.5]}, (), "3-R(RRRRR)S")


def rod_post(seed: int) -> Data:
    """5-UPS+US: a passive rod, its cross askew, keeps a point of the platform at a distance."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "UPS", 1, count=5)
    ball = np.array(data["home"]["position"]) - 0.1 * Z
    post = serial(rng, np.array([0.1, 0.05, 0.1]), ball, "US", ())
    dof = [translation("x", X), translation("y", Y), rotation("roll", X), rotation("pitch", Y), rotation("yaw", Z)]
    return {**data, "legs": [post, *data["legs"]], "dof": dof, "name": "5-UPS+US"}


def inclined_slides(seed: int) -> Data:
    """2-UPS+PP: slides in an inclined plane; of the chosen x and z the third translation follows, evenly."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "UPS", 1, count=2)
    at = np.array(data["home"]["position"]) - 0.1 * Z
    post = linked(
        rng, [("P1", "base slider", at, [1.0, 0.2, 0.1]), ("P2", "slider platform", at, [0.1, -0.3, 1.0])], ""
    )
    dof = [translation("x", X), translation("z", Z)]
    return {**data, "legs": [post, *data["legs"]], "dof": dof, "name": "2-UPS+PP"}


UNUSUAL: dict[str, Callable[[int], Data]] = {
    "3-PRPaR": orthoglide,
    "3-RRPaR": delta_of_hinges,
    "6-PRRS": hinges_for_crosses,
    "6-RRPS": offset_crosses,
    "3-RRS": three_rrs,
    "4-UPS+UP": redundant_post,
    "4-UPS+RPS": five_dof,
    "Exechon": exechon,
    "CaPaMan": capaman,
    "3-CRR": tripteron,
    "four-bar": four_bar,
    "Bennett": bennett,
    "Sarrus": sarrus,
    "coaxial eye": coaxial_eye,
    "spherical five-bar": spherical_five_bar,
    "mixed legs": mixed,
    "H4": four_arms,
    "3-PRR": rails,
    "8-PSS": inclined_rails,
    "3-R(RRRRR)S": five_bar_legs,
    "5-UPS+US": rod_post,
    "2-UPS+PP": inclined_slides,
}
"""Robots by name, each a function of a seed."""
