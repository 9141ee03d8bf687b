"""Machines composed at random: nobody chose their joints, their drives or what they share.

Legs of any joints in any order, some with a strut or a gear within, some on a body that they share; driven where it
moves the platform best. What such a machine can do is found by linear algebra of its joints at home alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.spatial.transform import Rotation

from support.robots.random_chains import (
    Array,
    Data,
    numbers,
    random_body,
    rotation,
    round_body,
    square_to,
    translation,
    unit,
)

FREEDOMS = {"R": 1, "P": 1, "C": 2, "U": 2, "S": 3}
KINDS = {"R": "revolute", "P": "prismatic", "C": "cylindrical", "U": "universal", "S": "spherical"}
AXES = ("x", "y", "z", "roll", "pitch", "yaw")
WELL = 0.12
"""Smallest singular value of the rates of drives by motions of the platform, of a machine of size one, to be kept."""


def _letters(rng: np.random.Generator, freedoms: int) -> str:
    """Joints in a row with so many degrees of freedom; at most one ball, no three slides."""
    while True:
        word = "".join(rng.choice(list("RRRRPPCUUS"), size=rng.integers(2, 6)))
        slides = word.count("P") + word.count("C")
        if sum(FREEDOMS[c] for c in word) == freedoms and word.count("S") <= 1 and slides <= 2 and word[0] != "S":
            return word


def _joint(rng: np.random.Generator, kind: str, name: str, between: tuple[str, str], at: Array, ahead: Array) -> Data:
    """A joint whose axes are not along the way to the next one, slides apart."""
    joint: Data = {"name": name, "kind": KINDS[kind], "between": list(between), "at": numbers(at)}
    along = unit(ahead)
    across = unit(square_to(rng, along) + 0.3 * rng.normal(size=3))
    if kind in "PC":
        joint["axis"] = numbers(unit(along + 0.4 * rng.normal(size=3)))
    if kind == "R":
        joint["axis"] = numbers(across)
    if kind == "U":
        joint["axes"] = [numbers(across), numbers(square_to(rng, across))]
    return joint


def _leg(rng: np.random.Generator, word: str, start: str, base: Array, tip: Array, number: int) -> Data:
    """A row of joints from a body to the platform, bent, with offsets; perhaps a strut across one of them."""
    count = len(word)
    part = np.linspace(0, 1, count)[:, None] if count > 1 else np.array([[0.5]])
    bow = rng.uniform(0.2, 0.5) * np.linalg.norm(tip - base) * np.sin(np.pi * part) * square_to(rng, tip - base)
    points = base + part * (tip - base) + bow + 0.06 * rng.normal(size=(count, 3)) * (part > 0) * (part < 1)
    names = [start, *[f"link{k}" for k in range(1, count)], "platform"]
    bodies: Data = {}
    joints: list[Data] = []
    for k in range(1, count):
        bodies[names[k]] = random_body(rng, rng.uniform(0.3, 1.5), (points[k - 1] + points[k]) / 2, 0.1)
    for k, letter in enumerate(word):
        ahead = points[min(k + 1, count - 1)] - points[max(k - 1, 0)] + 1e-3 * rng.normal(size=3)
        joints.append(_joint(rng, letter, f"{letter}{k + 1}", (names[k], names[k + 1]), points[k], ahead))
    hinges = [k for k in range(1, count) if word[k] == "R" and k + 1 < count]
    if hinges and rng.random() < 0.25:  # a cylinder drives a hinge
        k = int(rng.choice(hinges))
        axis = np.array(joints[k]["axis"])
        side = square_to(rng, axis)
        ends = [points[k] - 0.2 * unit(points[k] - points[k - 1] + 0.1 * side) + 0.08 * side]
        ends += [points[k] + 0.2 * unit(points[k + 1] - points[k] + 0.1 * side) + 0.1 * side]
        along = unit(ends[1] - ends[0])
        bodies["tube"], bodies["rod"] = (round_body(rng, 0.4, *ends) for _ in range(2))
        joints += [
            {"name": "U8", "kind": "universal", "between": [names[k], "tube"], "at": numbers(ends[0]),
             "axes": [numbers(a := square_to(rng, along)), numbers(np.cross(along, a))]},
            {"name": "P8", "kind": "prismatic", "between": ["tube", "rod"], "at": numbers(ends.copy()[0]),
             "axis": numbers(along)},
            {"name": "S8", "kind": "spherical", "between": ["rod", names[k + 1]], "at": numbers(ends[1])},
        ]  # fmt: skip
    return {"kind": "chain", "name": f"leg{number + 1}", "bodies": bodies, "joints": joints}


def _turning(word: str) -> list[str]:
    return [f"{letter}{k + 1}" for k, letter in enumerate(word) if letter == "R"]


def _draw(rng: np.random.Generator) -> Data:
    constraints = int(rng.choice([0, 0, 0, 1, 2, 3, 4, 5]))
    count = int(rng.integers(max(2, -(-constraints // 2)), 7))
    taken = np.zeros(count, dtype=int)
    while taken.sum() < constraints:
        taken[rng.choice(np.flatnonzero(taken < 3))] += 1
    turn = Rotation.from_rotvec(0.4 * rng.normal(size=3)).as_matrix()
    position = np.r_[0.15 * rng.normal(size=2), rng.uniform(0.6, 1.1)]
    carrier = rng.random() < 0.25 and count >= 3  # a body on the base that some legs stand on
    legs = []
    for k in range(count):
        a, b = 2 * np.pi * (k + rng.uniform(-0.2, 0.2)) / count, 2 * np.pi * (k + rng.uniform(-0.3, 0.3)) / count
        base = np.r_[np.cos(a), np.sin(a), 0.0] * rng.uniform(0.5, 1.0) + 0.1 * rng.normal(size=3)
        tip = position + turn @ (np.r_[np.cos(b), np.sin(b), 0.0] * rng.uniform(0.2, 0.5) + 0.1 * rng.normal(size=3))
        on_carrier = carrier and k < 2
        geared = rng.random() < 0.15 and not on_carrier
        word = _letters(rng, 6 - int(taken[k]) + geared)
        turning = _turning(word)
        if geared and len(turning) < 2:
            word = _letters(rng, 6 - int(taken[k]))
            geared = False
        leg = _leg(rng, word, "carrier" if on_carrier else "base", base, tip, k)
        if geared:
            pair = rng.choice(turning, 2, replace=False)
            leg["couplings"] = [
                {"kind": "gear", "input": str(pair[0]), "output": str(pair[1]),
                 "ratio": float(rng.choice([-2.0, -0.7, 0.5, 1.5, 3.0]))}
            ]  # fmt: skip
        legs.append(leg)
    data: Data = {
        "name": "composed",
        "gravity": numbers(9.81 * unit(rng.normal(size=3))),
        "platform": random_body(rng, 4.0, 0.05 * rng.normal(size=3), 0.15),
        "home": {"position": numbers(position), "rotation": numbers(turn)},
        "legs": legs,
    }
    if carrier:
        at = np.r_[0.5 * rng.normal(size=2), -0.1]
        data["bodies"] = {"carrier": random_body(rng, 2.0, at, 0.2)}
        data["joints"] = [
            _joint(rng, str(rng.choice(["R", "P"])), "stand", ("base", "carrier"), at, rng.normal(size=3))
        ]
    return data


# -- what it can do: linear algebra at home ----------------------------------------------------------------------------


def _rows(joint: Data, index: dict[str, int], size: int) -> tuple[list[Array], dict[str, Array]]:
    """Constraints of a joint on the bodies' twists about the origin [v; omega], and rates of its displacements."""
    at = np.asarray(joint["at"])
    first, second = (index.get(name) for name in joint["between"])

    def row(moment: Any, force: Any) -> Array:
        """Rate of the second body against the first: force . (v + omega x at) + moment . omega."""
        line = np.r_[force, np.cross(at, force) + np.asarray(moment)]
        out = np.zeros(size)
        if second is not None:
            out[6 * second : 6 * second + 6] += line
        if first is not None:
            out[6 * first : 6 * first + 6] -= line
        return out

    zero, kind, rates = np.zeros(3), joint["kind"], {}
    moves, turns = np.eye(3), np.eye(3)
    if "axis" in joint:
        axis = np.asarray(joint["axis"])
        others = np.linalg.svd(axis[None])[2][1:]
        if kind in ("prismatic", "cylindrical"):
            moves, rates["translation"] = others, row(zero, axis)
        if kind in ("revolute", "cylindrical"):
            turns, rates["rotation"] = others, row(axis, zero)
    if kind == "universal":
        turns = np.cross(*np.asarray(joint["axes"]))[None]
    if kind == "spherical":
        turns = np.zeros((0, 3))
    return [*(row(zero, m) for m in moves), *(row(t, zero) for t in turns)], rates


def composed(seed: int, redundant: float = 0.15) -> Data:
    """A machine that moves as its file says: drawn until it is well driven at home."""
    rng = np.random.default_rng([seed, 77])
    while True:
        data = _draw(rng)
        joints = [(f"{leg['name']}.", joint, leg) for leg in data["legs"] for joint in leg["joints"]]
        joints += [("", joint, None) for joint in data.get("joints", ())]
        bodies = ["platform", *data.get("bodies", {})]
        bodies += [f"{leg['name']}.{name}" for leg in data["legs"] for name in leg["bodies"]]
        index = {name: k for k, name in enumerate(bodies)}
        lines, rates = [], {}
        for prefix, joint, leg in joints:
            named = {**joint, "between": [prefix + n if leg and n in leg["bodies"] else n for n in joint["between"]]}
            held, moving = _rows(named, index, 6 * len(bodies))
            lines += held
            rates |= {(prefix + joint["name"], motion): line for motion, line in moving.items()}
        for leg in data["legs"]:
            for coupling in leg.get("couplings", ()):
                ends = [rates[f"{leg['name']}.{coupling[end]}", "rotation"] for end in ("input", "output")]
                lines.append(ends[0] - coupling["ratio"] * ends[1])
        _, values, vectors = np.linalg.svd(np.array(lines), full_matrices=True)
        rank = int((values > 1e-9 * values[0]).sum())
        if rank < len(values) and values[rank - 1] < 1e-3 * values[0]:
            continue
        motions = vectors[rank:].T
        # the platform's twist at its own origin
        shift = np.eye(6)
        p = np.asarray(data["home"]["position"])
        shift[:3, 3:] = [[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]]
        twists = shift @ motions[:6]
        m = motions.shape[1]
        if not 1 <= m <= 6 or np.linalg.svd(twists)[1].min() < 0.03:
            continue
        motions = motions @ np.linalg.pinv(np.linalg.qr(twists)[1])  # unit twists of the platform
        names = list(rates)
        slopes = np.array([rates[name] for name in names]) @ motions
        norms = np.linalg.norm(slopes, axis=1)
        weight = rng.uniform(0.5, 1.0, len(names)) / np.maximum(norms, 0.2)
        order = qr((weight[:, None] * slopes).T, pivoting=True, mode="r")[1]
        chosen = order[: m + int(rng.random() < redundant and len(order) > m)]
        if len(chosen) < m or np.linalg.svd(slopes[chosen], compute_uv=False)[-1] < WELL:
            continue
        driven = {names[k] for k in chosen}
        if any((name, "rotation") in driven and (name, "translation") in driven for name, _ in driven):
            continue
        for prefix, joint, _ in joints:
            for motion in ("rotation", "translation"):
                if (prefix + joint["name"], motion) in driven:
                    joint["actuated"] = motion if joint["kind"] == "cylindrical" else True
                    if rng.random() < 0.2:
                        joint["ratio"] = float(rng.choice([-30.0, 5.0, 80.0]))
        if m < 6:
            basis = np.linalg.qr(twists @ np.linalg.pinv(np.linalg.qr(twists)[1]))[0]
            best = qr(basis.T, pivoting=True, mode="r")[1][:m]
            if np.linalg.svd(basis[best], compute_uv=False)[-1] < 0.25:
                continue
            motions_of = (translation, rotation)
            data["dof"] = [motions_of[k // 3](AXES[k], np.eye(3)[k % 3]) for k in sorted(best.tolist())]
        return data
