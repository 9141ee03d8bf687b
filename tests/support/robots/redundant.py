"""Machines with coordinates of their own beside the platform's: carts and cranks under joints, tools that hang on
bodies."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from support.robots.random_chains import Data, numbers, random_body, unit


def redundant(data: Data, seed: int, along: float = 0.5) -> Data:
    """The same machine with one to three more driven joints, which are its internal coordinates.

    A joint gets a new body under it, on a slide or hinge along an axis of the leg (so often: ``along``) or of any
    direction, which overconstrained machines do not take; or a body (the platform too) carries another
    one, which nothing else holds.
    """
    rng = np.random.default_rng(seed)
    data = deepcopy(data)
    names = []
    for number, leg in enumerate(data["legs"]):
        leg.setdefault("name", f"leg{number + 1}")
    for k in range(int(rng.integers(1, 4))):
        leg = data["legs"][rng.integers(len(data["legs"]))]
        held = [joint for joint in leg["joints"] if joint["kind"] != "fixed" and not _spins(leg, joint)]
        carried = rng.random() < 0.3 or not held
        body, name = f"extra{k}", f"inner{k}"
        if carried:
            on = rng.choice(["base", "platform", *(one for one in leg["bodies"] if not _between_balls(leg, one))])
            at = np.array(leg["joints"][0]["at"]) + 0.05 * rng.normal(size=3)
        else:
            joint = held[rng.integers(len(held))]
            side = rng.integers(2)
            on, at = joint["between"][side], np.array(joint["at"]) + 0.03 * rng.normal(size=3)
            joint["between"] = [body if one == on else one for one in joint["between"]]
        leg["bodies"][body] = random_body(rng, rng.uniform(0.2, 0.8), at, 0.05)
        ends = [on, body] if rng.random() < 0.7 or on == "platform" else [body, on]
        kind = "revolute" if rng.random() < 0.5 else "prismatic"
        new = {"name": name, "kind": kind, "between": [str(one) for one in ends], "at": numbers(at)}
        stated = [one["axis"] for one in leg["joints"] if "axis" in one]
        axis = stated[rng.integers(len(stated))] if stated and rng.random() < along else rng.normal(size=3)
        more = {"axis": numbers(unit(axis)), "actuated": True, "rotor": rng.uniform(0, 0.2)}
        leg["joints"].insert(int(rng.integers(len(leg["joints"]) + 1)), {**new, **more})
        names.append(f"{leg['name']}.{name}")
    return {**data, "internal": names}


def _between_balls(leg: Data, body: str) -> bool:
    """Whether a body hangs between two spherical joints, perhaps with slides: it must be one of revolution."""
    return any(joint["kind"] == "spherical" and body in joint["between"] for joint in leg["joints"])


def _spins(leg: Data, joint: Data) -> bool:
    return any(_between_balls(leg, body) for body in joint["between"] if body in leg["bodies"])
