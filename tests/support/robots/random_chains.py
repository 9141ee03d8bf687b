"""Robots of chain legs with random numbers, as dictionaries of the file format."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.symbols.vectors import Frame
from support.engines.chain_engine import Engine

Array = NDArray[np.float64]
Data = dict[str, Any]
_KINDS = {"R": "revolute", "P": "prismatic", "C": "cylindrical", "U": "universal", "S": "spherical", "F": "fixed"}


def unit(vector: Any) -> Array:
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)


def numbers(vector: Any) -> list[Any]:
    return np.asarray(vector, dtype=float).tolist()


def random_body(rng: np.random.Generator, mass: float, centre: Any, size: float) -> Data:
    """A cloud of points about a place: a body that can exist, with a full tensor."""
    points, masses = size * rng.normal(size=(6, 3)), mass * rng.dirichlet(np.ones(6))
    middle = masses @ points / mass
    local = points - middle
    tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, local, strict=True))
    return {"mass": mass, "com": numbers(np.asarray(centre) + middle), "inertia": numbers((tensor + tensor.T) / 2)}


def round_body(rng: np.random.Generator, mass: float, start: Any, end: Any) -> Data:
    """A body of revolution about the line between two points."""
    start, end = np.asarray(start), np.asarray(end)
    along = unit(end - start)
    across = mass * rng.uniform(0.01, 0.03)
    tensor = across * np.eye(3) + (mass * 0.01 - across) * np.outer(along, along)
    return {"mass": mass, "com": numbers(start + rng.uniform(0.2, 0.8) * (end - start)), "inertia": numbers(tensor)}


def square_to(rng: np.random.Generator, axis: Array) -> Array:
    return unit(np.cross(axis, rng.normal(size=3)))


def serial(
    rng: np.random.Generator, base: Array, tip: Array, letters: str, driven: int | tuple[int, ...], **numbers_of: Any
) -> Data:
    """A leg of joints in a row from the base to the platform, axes anywhere; ``driven`` are numbers of joints.

    A body between two spherical joints (slides between them run along their line) is one of revolution.
    """
    count = len(letters)
    part = np.linspace(0, 1, count)[:, None] if count > 1 else np.zeros((1, 1))
    bow = 0.25 * np.linalg.norm(tip - base) * np.sin(np.pi * part) * square_to(rng, tip - base)
    points = base + part * (tip - base) + bow + 0.05 * rng.normal(size=(count, 3)) * (part > 0) * (part < 1)
    spins = _spinning(letters)
    for first, last in spins:
        for k in range(first + 1, last):
            points[k] = points[first] + (k - first) / (last - first) * (points[last] - points[first])
    names = ["base", *[f"body{k}" for k in range(1, count)], "platform"]
    bodies, joints = {}, []
    for k in range(1, count):
        spin = next(((a, b) for a, b in spins if a < k <= b), None)
        if spin is not None:
            bodies[names[k]] = round_body(rng, rng.uniform(0.3, 1.5), points[spin[0]], points[spin[1]])
        else:
            bodies[names[k]] = random_body(rng, rng.uniform(0.3, 1.5), (points[k - 1] + points[k]) / 2, 0.1)
    for k, letter in enumerate(letters):
        joint: Data = {"name": f"{letter}{k + 1}", "kind": _KINDS[letter], "between": [names[k], names[k + 1]]}
        joint["at"] = numbers(points[k])
        axis = unit(rng.normal(size=3))
        if any(a < k < b for a, b in spins):
            axis = unit(points[k + 1] - points[k - 1])
        elif letter in "PC":
            ahead = points[min(k + 1, count - 1)] - points[max(k - 1, 0)]
            axis = unit(unit(ahead) + 0.3 * rng.normal(size=3))
        elif letter == "R" and k + 1 < count and np.linalg.norm(points[k + 1] - points[k]) > 1e-9:
            # not towards the next joint: the arm would have no effect
            axis = unit(square_to(rng, points[k + 1] - points[k]) + 0.2 * rng.normal(size=3))
        if letter in "RPC":
            joint["axis"] = numbers(axis)
        if letter == "U":
            ahead = points[min(k + 1, count - 1)] - points[max(k - 1, 0)]
            first = unit(square_to(rng, ahead) + 0.2 * rng.normal(size=3))
            joint["axes"] = [numbers(first), numbers(square_to(rng, first))]
        if k in (driven if isinstance(driven, tuple) else (driven,)):
            joint |= {"actuated": "translation" if letter == "C" else True, **numbers_of}
        if letter == "C":
            joint["frictions"] = {"rotation": {"viscous": 0.3 + 0.2 * k}, "translation": {"viscous": 4.0 - 0.5 * k}}
        elif letter != "F":
            joint["friction"] = {"viscous": float(rng.uniform(0.1, 3.0))}
        joints.append(joint)
    return {"kind": "chain", "bodies": bodies, "joints": joints}


def _spinning(letters: str) -> list[tuple[int, int]]:
    """First and last joint of the parts that spin freely: two spherical joints with nothing but slides between."""
    balls = [k for k, letter in enumerate(letters) if letter == "S"]
    return [(a, b) for a, b in pairwise(balls) if set(letters[a + 1 : b]) <= {"P"}]


def shuffled(rng: np.random.Generator, leg: Data) -> Data:
    """The same leg with joints and bodies in another order and some joints stated the other way round."""
    joints = []
    for joint in leg["joints"]:
        if rng.integers(2):
            turned = {**joint, "between": joint["between"][::-1]}
            if "axis" in joint:
                # b against a about an axis is a against b about the opposite one: coordinates stay the same
                turned["axis"] = [-x for x in joint["axis"]]
            if "axes" in joint:
                turned["axes"] = joint["axes"][::-1]
            joints.append(turned)
        else:
            joints.append(joint)
    order = rng.permutation(len(joints))
    bodies = list(leg["bodies"].items())
    bodies = [bodies[k] for k in rng.permutation(len(bodies))]
    return {**leg, "joints": [joints[k] for k in order], "bodies": dict(bodies)}


def with_fixed(rng: np.random.Generator, leg: Data) -> Data:
    """A leg with one more body fixed to each of its own, to the platform and to the base."""
    bodies, joints = dict(leg["bodies"]), list(leg["joints"])
    for name in [*leg["bodies"], "platform", "base"]:
        at = bodies[name]["com"] if name in bodies else numbers(rng.normal(size=3))
        bodies[f"on_{name}"] = random_body(rng, 0.3, at, 0.1)
        joints.append({"name": f"weld_{name}", "kind": "fixed", "between": [f"on_{name}", name], "at": at})
    return {**leg, "bodies": bodies, "joints": joints}


def robot(rng: np.random.Generator, legs: list[Data], home: Data, dof: Any = (), name: str = "random") -> Data:
    """A robot on legs at home."""
    mass = 4.0
    data = {
        "name": name,
        "gravity": numbers(9 * unit(rng.normal(size=3))),
        "platform": random_body(rng, mass, 0.05 * rng.normal(size=3), 0.15),
        "home": home,
        "legs": legs,
    }
    if dof:
        data["dof"] = list(dof)
    return data


def translation(name: str, axis: Any) -> Data:
    return {"name": name, "motion": "translation", "axis": numbers(axis)}


def rotation(name: str, axis: Any) -> Data:
    return {"name": name, "motion": "rotation", "axis": numbers(axis)}


def hexapod(seed: int, letters: str, driven: int | tuple[int, ...], count: int = 6, **options: Any) -> Data:
    """Legs of one kind around, every joint and axis random; home turned and shifted."""
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix()
    position = np.r_[0.2 * rng.normal(size=2), rng.uniform(0.8, 1.2)]
    change = options.pop("change", None)
    legs = []
    for k in range(count):
        a = 2 * np.pi * k / count + rng.uniform(-0.3, 0.3)
        b = 2 * np.pi * k / count + (-1) ** k * 0.6 + rng.uniform(-0.2, 0.2)
        base = np.r_[np.cos(a), np.sin(a), 0.0] * rng.uniform(0.8, 1.2) + 0.1 * rng.normal(size=3)
        joint = np.r_[np.cos(b), np.sin(b), 0.0] * rng.uniform(0.3, 0.5) + 0.1 * rng.normal(size=3)
        tip = position + turn @ joint
        leg = max((serial(rng, base, tip, letters, driven, **options) for _ in range(20)), key=_firmness)
        legs.append(change(rng, leg) if change else leg)
    home = {"position": numbers(position), "rotation": numbers(turn)}
    return robot(rng, legs, home, name=f"6-{letters}")


def _firmness(leg: Data) -> float:
    """Smallest singular value of a leg's constraints with the platform held, free spins apart."""
    engine = Engine({"platform": {"mass": 1.0}, "legs": [leg]})
    values = engine.held(engine.at_home())
    spins = len(_spinning("".join(joint["name"][0] for joint in leg["joints"])))
    return float(values[len(values) - 1 - spins])


def tricept(seed: int) -> Data:
    """3-UPS and a passive leg UP whose slide is part of the platform: it keeps three degrees of freedom."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        a = 2 * np.pi * k / 3 + rng.uniform(-0.2, 0.2)
        base, tip = np.r_[0.5 * np.cos(a), 0.5 * np.sin(a), 0], np.r_[0.2 * np.cos(a), 0.2 * np.sin(a), 0.9]
        legs.append(serial(rng, base, tip + 0.05 * rng.normal(size=3), "UPS", 1))
    tube = random_body(rng, 2.0, [0, 0, 0.3], 0.1)
    post = random_body(rng, 1.0, [0, 0, 0.7], 0.1)
    axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    passive = {
        "kind": "chain",
        "bodies": {"tube": tube, "post": post},
        "joints": [
            {"name": "cross", "kind": "universal", "between": ["base", "tube"], "at": [0, 0, 0], "axes": axes},
            {"name": "slide", "kind": "prismatic", "between": ["tube", "post"], "at": [0, 0, 0.5], "axis": [0, 0, 1]},
            {"name": "flange", "kind": "fixed", "between": ["post", "platform"], "at": [0, 0, 0.9]},
        ],
    }
    passive["joints"][0]["friction"] = {"viscous": 0.7}
    passive["joints"][1]["friction"] = {"viscous": 11.0}
    dof = [translation("x", [1, 0, 0]), translation("y", [0, 1, 0]), translation("z", [0, 0, 1])]
    return robot(rng, [*legs[:2], passive, legs[2]], {"position": [0.0, 0.0, 0.9]}, dof, "tricept")


def _plane(rng: np.random.Generator) -> tuple[Array, Array]:
    """A tilted plane: axes (3, 3) whose third is perpendicular to it, and a point of it."""
    return Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), rng.normal(size=3)


def _planar_leg(rng: np.random.Generator, points: list[Array], axis: Array, ends: str = "platform") -> Data:
    names = ["base", *[f"link{k}" for k in range(1, len(points))], ends]
    bodies = {
        names[k]: random_body(rng, rng.uniform(0.3, 1.0), (points[k - 1] + points[k]) / 2, 0.1)
        for k in range(1, len(points))
    }
    joints = [
        {
            "name": f"R{k + 1}", "kind": "revolute", "between": [names[k], names[k + 1]], "at": numbers(p),
            "axis": numbers(axis * rng.choice([-1, 1])), "friction": {"viscous": float(rng.uniform(0.1, 1.0))},
        }
        for k, p in enumerate(points)
    ]  # fmt: skip
    joints[0]["actuated"] = True
    return {"kind": "chain", "bodies": bodies, "joints": joints}


def planar(seed: int, count: int = 3) -> Data:
    """Planar RRR legs in a tilted plane, at different heights above it."""
    rng = np.random.default_rng(seed)
    axes, origin = _plane(rng)
    legs = []
    for k in range(count):
        a = 2 * np.pi * k / count + rng.uniform(-0.2, 0.2)
        out = np.array([np.cos(a), np.sin(a)])
        side = np.array([-out[1], out[0]])
        flat = [0.6 * out, 0.4 * out + 0.25 * side, 0.15 * out]
        points = [origin + axes @ np.r_[p + 0.02 * rng.normal(size=2), rng.uniform(-0.1, 0.1)] for p in flat]
        legs.append(_planar_leg(rng, points, axes[:, 2]))
    dof = [translation("a", axes[:, 0]), translation("b", axes[:, 1]), rotation("turn", axes[:, 2])]
    turn = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    home = {"position": numbers(origin), "rotation": numbers(turn)}
    return robot(rng, legs, home, dof, f"planar {count}-RRR")


def five_bar(seed: int) -> Data:
    """Two cranks and two rods in a tilted plane; the platform is the second rod, and how it turns follows."""
    rng = np.random.default_rng(seed)
    axes, origin = _plane(rng)
    flat = [[-0.15, -0.5], [-0.3, -0.25], [0.02, 0.01], [0.17, -0.5], [0.33, -0.2]]
    p = [origin + axes @ np.r_[x, rng.uniform(-0.05, 0.05)] for x in flat]
    legs = [_planar_leg(rng, p[:3], axes[:, 2]), _planar_leg(rng, p[3:], axes[:, 2])]
    dof = [translation("a", axes[:, 0]), translation("b", axes[:, 1])]
    return robot(rng, legs, {"position": numbers(p[2])}, dof, "five-bar")


def spherical(seed: int) -> Data:
    """Spherical 3-RRR (agile eye): all axes meet in one point, three rotations about it."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=3)
    turn = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    legs = []
    for k in range(3):
        e = np.roll(np.eye(3), k, axis=0) @ turn.T
        axes = [unit(x + 0.1 * rng.normal(size=3)) for x in e]
        points = [centre + rng.uniform(0.1, 0.3) * a for a in axes]
        names = ["base", "near", "far", "platform"]
        legs.append({
            "kind": "chain",
            "bodies": {n: random_body(rng, 0.5, centre + 0.2 * unit(rng.normal(size=3)), 0.1) for n in names[1:3]},
            "joints": [
                {"name": f"R{i + 1}", "kind": "revolute", "between": names[i : i + 2], "at": numbers(points[i]),
                 "axis": numbers(axes[i]), "actuated": i == 0, "friction": {"viscous": 0.1 * (i + 1)}}
                for i in range(3)
            ],
        })  # fmt: skip
    dof = [rotation(name, axis) for name, axis in zip(("roll", "pitch", "yaw"), np.eye(3), strict=True)]
    return robot(rng, legs, {"position": numbers(centre)}, dof, "agile eye")


def three_prs(seed: int) -> Data:
    """3-PRS: slide, hinge across the radius, ball; parasitic motions follow."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        a = 2 * np.pi * k / 3 + rng.uniform(-0.1, 0.1)
        out, side = np.r_[np.cos(a), np.sin(a), 0], np.r_[-np.sin(a), np.cos(a), 0]
        foot, ball = 0.4 * out + 0.03 * rng.normal(size=3), 0.2 * out + [0, 0, 0.6]
        slide = unit(np.r_[0, 0, 1] - 0.3 * out)
        bodies = {
            "slider": random_body(rng, 1.0, foot, 0.05),
            "rod": random_body(rng, 0.6, (foot + ball) / 2, 0.1),
        }
        joints = [
            {"name": "P", "kind": "prismatic", "between": ["base", "slider"], "at": numbers(foot),
             "axis": numbers(slide), "actuated": True, "friction": {"viscous": 5.0}},
            {"name": "R", "kind": "revolute", "between": ["slider", "rod"], "at": numbers(foot), "axis": numbers(side),
             "friction": {"viscous": 0.3}},
            {"name": "S", "kind": "spherical", "between": ["rod", "platform"], "at": numbers(ball),
             "friction": {"viscous": 0.1}},
        ]  # fmt: skip
        legs.append({"kind": "chain", "bodies": bodies, "joints": joints})
    dof = [translation("z", [0, 0, 1]), rotation("roll", [1, 0, 0]), rotation("pitch", [0, 1, 0])]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.6]}, dof, "3-PRS")


def three_upu(seed: int) -> Data:
    """3-UPU that translates: outer axes of both universal joints parallel, inner ones parallel to each other."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        a = 2 * np.pi * k / 3 + rng.uniform(-0.1, 0.1)
        out, side = np.r_[np.cos(a), np.sin(a), 0], np.r_[-np.sin(a), np.cos(a), 0]
        foot, tip = 0.5 * out, 0.2 * out + [0, 0, 0.7]
        along = unit(tip - foot)
        across = unit(np.cross(side, along))
        slide = {"at": numbers(foot + 0.4 * (tip - foot)), "axis": numbers(along)}
        bodies = {
            "tube": random_body(rng, 1.0, foot + 0.3 * (tip - foot), 0.1),
            "rod": random_body(rng, 0.6, foot + 0.7 * (tip - foot), 0.1),
        }
        joints = [
            {"name": "U1", "kind": "universal", "between": ["base", "tube"], "at": numbers(foot),
             "axes": [numbers(side), numbers(across)], "friction": {"viscous": 0.3}},
            {"name": "P", "kind": "prismatic", "between": ["tube", "rod"], **slide, "actuated": True,
             "friction": {"viscous": 5.0}},
            {"name": "U2", "kind": "universal", "between": ["rod", "platform"], "at": numbers(tip),
             "axes": [numbers(across), numbers(side)], "friction": {"viscous": 0.2}},
        ]  # fmt: skip
        legs.append({"kind": "chain", "bodies": bodies, "joints": joints})
    dof = [translation(name, axis) for name, axis in zip("xyz", np.eye(3), strict=True)]
    return robot(rng, legs, {"position": [0.0, 0.0, 0.7]}, dof, "3-UPU")


def delta(seed: int) -> Data:
    """Delta with rods between two spherical joints, which spin freely."""
    rng = np.random.default_rng(seed)
    legs = []
    for k in range(3):
        a = 2 * np.pi * k / 3
        out, side = np.r_[np.cos(a), np.sin(a), 0], np.r_[-np.sin(a), np.cos(a), 0]
        motor, elbow, wrist = 0.12 * out, 0.32 * out + [0, 0, -0.05], 0.04 * out + [0, 0, -0.4]
        bodies: Data = {"arm": random_body(rng, 0.4, (motor + elbow) / 2, 0.05)}
        joints: list[Data] = [
            {"name": "motor", "kind": "revolute", "between": ["base", "arm"], "at": numbers(motor),
             "axis": numbers(side), "actuated": True, "friction": {"viscous": 0.02}}
        ]  # fmt: skip
        for n, shift in enumerate((0.05 * side, -0.05 * side), 1):
            bodies[f"rod{n}"] = round_body(rng, 0.1, elbow + shift, wrist + shift)
            joints += [
                {"name": f"elbow{n}", "kind": "spherical", "between": ["arm", f"rod{n}"], "at": numbers(elbow + shift),
                 "friction": {"viscous": 0.03}},
                {"name": f"wrist{n}", "kind": "spherical", "between": [f"rod{n}", "platform"],
                 "at": numbers(wrist + shift), "friction": {"viscous": 0.05}},
            ]  # fmt: skip
        legs.append({"kind": "chain", "bodies": bodies, "joints": joints})
    dof = [translation(name, axis) for name, axis in zip("xyz", np.eye(3), strict=True)]
    return robot(rng, legs, {"position": [0.0, 0.0, -0.4]}, dof, "delta of balls")


def inner_loop(seed: int) -> Data:
    """Six legs whose arm is driven through a four-bar linkage: crank, coupler, arm, then a universal joint and a ball.

    The coupler hangs between a hinge and a ball, so that the loop is not overconstrained.
    """
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "RUS", 0)
    for leg in data["legs"]:
        arm = leg["joints"][0]
        del arm["actuated"]
        axis, root = np.array(arm["axis"]), np.array(arm["at"])
        across = square_to(rng, axis)
        above = np.cross(axis, across)
        foot = root + 0.3 * across
        knee, end = foot + 0.12 * above + 0.03 * across, root + 0.15 * above
        leg["bodies"]["crank"] = random_body(rng, 0.4, (foot + knee) / 2, 0.05)
        leg["bodies"]["coupler"] = round_body(rng, 0.3, knee, end)
        leg["joints"] += [
            {"name": "motor", "kind": "revolute", "between": ["base", "crank"], "at": numbers(foot),
             "axis": numbers(axis), "actuated": True, "friction": {"viscous": 0.4}},
            {"name": "knee", "kind": "universal", "between": ["crank", "coupler"], "at": numbers(knee),
             "axes": [numbers(axis), numbers(square_to(rng, axis))]},
            {"name": "joint", "kind": "spherical", "between": ["coupler", "body1"], "at": numbers(end)},
        ]  # fmt: skip
    return {**data, "name": "inner loop"}


def straight(seed: int, letters: str, change: Any = None) -> Data:
    """Legs as they are built: slides along the line between their ends, crosses perpendicular to the rods they
    carry."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, letters, 1 if letters[0] == "U" else 0)
    for k, leg in enumerate(data["legs"]):
        joints = {joint["name"][0]: joint for joint in leg["joints"]}
        root, tip = np.array(joints["U"]["at"]), np.array(joints["S"]["at"])
        if letters == "UPS":
            joints["P"] |= {"axis": numbers(unit(tip - root)), "at": numbers(root + 0.4 * (tip - root))}
        second = square_to(rng, tip - root)
        joints["U"]["axes"] = [
            numbers(unit(np.cross(second, unit(tip - root) + 0.5 * rng.normal(size=3)))),
            numbers(second),
        ]
        data["legs"][k] = change(rng, leg) if change else leg
    return data


def hinge(seed: int) -> Data:
    """The platform turns about one hinge on the base, and that is driven."""
    rng = np.random.default_rng(seed)
    axis = unit(rng.normal(size=3))
    joint = {"name": "R", "kind": "revolute", "between": ["base", "platform"], "at": numbers(rng.normal(size=3))}
    joint |= {"axis": numbers(axis), "actuated": True, "friction": {"viscous": 0.7}, "rotor": 0.2, "ratio": 3.0}
    legs = [{"kind": "chain", "bodies": {}, "joints": [joint]}]
    return robot(rng, legs, {"position": numbers(rng.normal(size=3))}, [rotation("turn", axis)], "hinge")


def ankle(seed: int) -> Data:
    """2-RUS and a universal joint between base and platform: two rotations."""
    rng = np.random.default_rng(seed)
    data = hexapod(seed, "RUS", 0, count=2)
    at = numbers(np.array(data["home"]["position"]) + 0.05 * rng.normal(size=3))
    first = square_to(rng, np.r_[0, 0, 1])
    axes = [numbers(first), numbers(np.cross([0, 0, 1], first))]
    pivot = {"name": "pivot", "kind": "universal", "between": ["platform", "base"], "at": at, "axes": axes}
    legs = [*data["legs"], {"kind": "chain", "bodies": {}, "joints": [{**pivot, "friction": {"viscous": 0.3}}]}]
    dof = [rotation("roll", [1, 0, 0]), rotation("pitch", [0, 1, 0])]
    return {**data, "legs": legs, "dof": dof, "name": "ankle"}


def all_driven(seed: int) -> Data:
    """A planar arm whose three hinges are all driven: each closes the loop of the others."""
    data = planar(seed, 1)
    for joint in data["legs"][0]["joints"]:
        joint["actuated"] = True
    return {**data, "name": "all driven"}


def carried(data: Data, turn: Array, shift: Any = (0.0, 0.0, 0.0)) -> Data:
    """The same robot turned and shifted in the base, gravity with it."""

    def place(point: Any) -> list[Any]:
        return numbers(turn @ point + shift)

    def direction(axis: Any) -> list[Any]:
        return numbers(turn @ axis)

    def tensor(matrix: Any) -> list[Any]:
        turned = turn @ np.array(matrix) @ turn.T
        return numbers((turned + turned.T) / 2)

    legs = []
    for leg in data["legs"]:
        bodies = {
            name: {**body, "com": place(body["com"]), "inertia": tensor(body["inertia"])}
            for name, body in leg["bodies"].items()
        }
        joints = [{**joint, "at": place(joint["at"])} for joint in leg["joints"]]
        joints = [{**joint, "axis": direction(joint["axis"])} if "axis" in joint else joint for joint in joints]
        joints = [{**j, "axes": [direction(a) for a in j["axes"]]} if "axes" in j else j for j in joints]
        legs.append({**leg, "bodies": bodies, "joints": joints})
    rotation_at_home = np.array(data["home"].get("rotation", np.eye(3)))
    home = {"position": place(data["home"]["position"]), "rotation": numbers(turn @ rotation_at_home)}
    dof = [{**f, "axis": direction(f["axis"])} for f in data.get("dof", ())]
    return {**data, "gravity": direction(data["gravity"]), "legs": legs, "home": home, "dof": dof}


def turned(seed: int) -> Data:
    """3-PRS carried to another place and attitude in the base: degrees of freedom along axes that are no base axes."""
    turn = Rotation.from_rotvec([0.7, -0.4, 1.1]).as_matrix()
    return {**carried(three_prs(seed), turn, np.r_[0.3, -0.2, 0.5]), "name": "3-PRS turned"}


def as_chains(robot: pp.Robot) -> Data:
    """A robot of six degrees of freedom whose legs are of short kinds, as bodies and joints at home."""
    home = robot.home.matrix
    legs = []
    for leg in robot.legs:
        at = home @ np.r_[leg.platform, 1.0]
        tip = Frame(ca.SX(ca.DM(at[:3])), ca.SX(ca.DM(home[:3, :3])))
        placement = leg.place(tip)
        bodies, joints = {}, []
        for body in placement.bodies:
            axes, origin = _number(body.frame.axes), _number(body.frame.origin).ravel()
            inertia = axes @ body.inertia.central_inertia @ axes.T
            com = numbers(origin + axes @ body.inertia.com)
            tensor = numbers((inertia + inertia.T) / 2)
            bodies[body.name] = {"mass": body.inertia.mass, "com": com, "inertia": tensor, "check": "none"}
        for joint in placement.joints:
            axes = [unit(_number(axis).ravel()) for axis in joint.axes]
            stated: Data = {"name": joint.name, "kind": joint.kind, "between": [joint.parent, joint.child]}
            stated["at"] = numbers(_number(joint.point).ravel())
            if len(axes) == 1:
                stated["axis"] = numbers(axes[0])
            elif axes:
                stated["axes"] = [numbers(axis) for axis in axes]
            friction = getattr(leg, joint.friction)
            stated["friction"] = {"viscous": friction.viscous, "coulomb": friction.coulomb, "drag": friction.drag}
            if joint.kind == "prismatic" and getattr(leg, "guide_normal", None) is not None:
                stated["guide_normal"] = numbers(np.array(leg.guide_normal))
            actuator = placement.actuator_of(joint.name)
            if actuator is not None:
                offset = float(_number(actuator.coordinate).item())
                stated |= {"actuated": True, "offset": offset, "rotor": float(actuator.rotor)}
            joints.append(stated)
        legs.append({"kind": "chain", "bodies": bodies, "joints": joints})
    platform = robot.platform
    body = {"mass": platform.mass, "com": numbers(platform.com), "inertia": numbers(platform.central_inertia)}
    return {
        "name": f"{robot.name} of chains",
        "gravity": numbers(robot.gravity),
        "platform": {**body, "check": "none"},
        "home": {"position": numbers(home[:3, 3]), "rotation": numbers(home[:3, :3])},
        "legs": legs,
    }


def as_data(robot: pp.Robot) -> Data:
    """A robot of chain legs as plain data, every tensor about its body's centre of mass."""

    def body(one: pp.Body) -> Data:
        return {"mass": one.mass, "com": numbers(one.com), "inertia": numbers(one.central_inertia)}

    data = robot.model_dump(exclude_none=True)
    for leg, stated in zip(robot.legs, data["legs"], strict=True):
        stated["bodies"] = {name: body(one) for name, one in leg.bodies.items()}
    return {**data, "platform": body(robot.platform)}


def _number(value: Any) -> Array:
    return np.array(ca.DM(ca.SX(value)))


def geared(seed: int) -> Data:
    return hexapod(seed, "RUS", 0, ratio=-7.5, offset=0.4, rotor=0.003)


def two_drives(seed: int) -> Data:
    """Three legs of six degrees of freedom with two drives each."""
    return {**hexapod(seed, "RRRS", (0, 1), count=3), "name": "two drives"}


ROBOTS: dict[str, Callable[[int], Data]] = {
    "6-UPS": lambda seed: hexapod(seed, "UPS", 1),
    "6-RUS": lambda seed: hexapod(seed, "RUS", 0),
    "6-PUS": lambda seed: hexapod(seed, "PUS", 0),
    "6-SPS": lambda seed: hexapod(seed, "SPS", 1),
    "6-RSS": lambda seed: hexapod(seed, "RSS", 0),
    "6-PSS": lambda seed: hexapod(seed, "PSS", 0),
    "6-CRS": lambda seed: hexapod(seed, "CRS", 0),
    "6-URS": lambda seed: hexapod(seed, "URS", 1),
    "6-SPU": lambda seed: hexapod(seed, "SPU", 1),
    "6-SUR": lambda seed: hexapod(seed, "SUR", 2),
    "6-SRU": lambda seed: hexapod(seed, "SRU", 1),
    "6-RRRS": lambda seed: hexapod(seed, "RRRS", 0),
    "6-PPPS": lambda seed: hexapod(seed, "PPPS", 0),
    "6-RRRRRR": lambda seed: hexapod(seed, "RRRRRR", 0),
    "6-PRUC": lambda seed: hexapod(seed, "PRUC", 0),
    "shuffled RUS": lambda seed: hexapod(seed, "RUS", 0, change=shuffled),
    "shuffled UPS": lambda seed: hexapod(seed, "UPS", 1, change=shuffled),
    "shuffled CRS": lambda seed: hexapod(seed, "CRS", 0, change=shuffled),
    "welded PUS": lambda seed: hexapod(seed, "PUS", 0, change=with_fixed),
    "geared RUS": geared,
    "two drives": two_drives,
    "straight UPS": lambda seed: straight(seed, "UPS"),
    "straight RUS": lambda seed: straight(seed, "RUS"),
    "straight PUS": lambda seed: straight(seed, "PUS"),
    "straight shuffled UPS": lambda seed: straight(seed, "UPS", shuffled),
    "straight shuffled RUS": lambda seed: straight(seed, "RUS", shuffled),
    "hinge": hinge,
    "ankle": ankle,
    "all driven": all_driven,
    "3-PRS turned": turned,
    "inner loop": inner_loop,
    "tricept": tricept,
    "planar 3-RRR": planar,
    "planar 4-RRR": lambda seed: planar(seed, 4),
    "five-bar": five_bar,
    "agile eye": spherical,
    "3-PRS": three_prs,
    "3-UPU": three_upu,
    "delta of balls": delta,
}
"""Robots by name, each a function of a seed."""
