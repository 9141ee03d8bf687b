"""Machines of chain legs said in another way: bodies and joints at robot level, in legs, in legs that hang on legs."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from support.robots.random_chains import Data


def divided(data: Data, seed: int) -> Data:
    """The same machine, every body and joint given to robot level or to one of a few legs, by chance.

    Names of joints are those of the file, with the number of their old leg where it has several.
    """
    rng = np.random.default_rng(seed)
    data = deepcopy(data)
    several = len(data["legs"]) > 1
    parts = [f"part{k + 1}" for k in range(rng.integers(1, 4))]
    owners = ["", *parts]
    legs: dict[str, Data] = {name: {"name": name, "kind": "chain", "bodies": {}, "joints": []} for name in parts}
    shared: Data = {"bodies": {}, "joints": []}
    for number, leg in enumerate(data["legs"]):
        tail = f"-{number + 1}" if several else ""
        label = {"base": "base", "platform": "platform"}
        home = {}
        for name, body in leg["bodies"].items():
            owner = owners[rng.integers(len(owners))]
            (legs[owner] if owner else shared)["bodies"][name + tail] = body
            label[name] = f"{owner}.{name}{tail}" if owner else name + tail
            home[name] = owner
        for joint in leg["joints"]:
            owner = owners[rng.integers(len(owners))]
            ends = [f"{name}{tail}" if home.get(name) == owner and owner else label[name] for name in joint["between"]]
            new = {**joint, "name": joint["name"] + tail, "between": ends}
            (legs[owner] if owner else shared)["joints"].append(new)
    used = [leg for leg in legs.values() if leg["bodies"] or leg["joints"]]
    return {**data, **shared, "legs": used}
