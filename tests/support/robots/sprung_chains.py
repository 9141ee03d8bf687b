"""Random robots of chain legs with elements of every kind between random bodies and in random joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.engines.chain_engine import Engine

Data = dict[str, Any]
_AXES = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3}


def _positive(rng: np.random.Generator, count: int, size: float) -> list[list[float]]:
    square = rng.normal(size=(count, count))
    matrix = size * (square @ square.T + 0.1 * np.eye(count))
    return ((matrix + matrix.T) / 2).tolist()  # type: ignore[no-any-return]


def with_elements(data: Data, seed: int, everywhere: bool = True) -> Data:
    """A robot's data with a spring, perhaps damped, in every joint but those of rods that spin, and more elements.

    Without ``everywhere`` there is one of each way to state an element.
    """
    rng, engine, elements = np.random.default_rng(seed), Engine(data), []
    bodies = ["base", "platform"]
    for number, leg in enumerate(data["legs"]):
        name = leg.get("name", f"leg{number + 1}")
        bodies += [f"{name}.{body}" for body in leg["bodies"] if engine.indices[number][body] not in engine.lines]
        for joint in leg["joints"]:
            count = _AXES.get(joint["kind"], 0)
            ends = [engine.indices[number][body] for body in joint["between"]]
            if not count or any(end in engine.lines and engine.masses[end] > 0 for end in ends if end >= 0):
                if joint["kind"] == "spherical" and (everywhere or len(elements) < 3):
                    where = f"{name}.{joint['name']}"
                    elements.append({"kind": "spring", "name": where, "joint": where, "stiffness": 7.0, "damping": 0.4})
                continue
            kinds = {element["name"].partition(" ")[0] for element in elements}
            if not everywhere and joint["kind"] in kinds:
                continue
            where, label = f"{name}.{joint['name']}", f"{joint['kind']} {name}.{joint['name']}"
            elements.append({
                "kind": "spring", "name": label, "joint": where, "stiffness": _positive(rng, count, 20.0),
                "damping": rng.uniform(0.1, 2.0, count).tolist(), "rest": rng.uniform(-0.2, 0.2, count).tolist(),
            })  # fmt: skip
            if count == 1:
                low = float(rng.uniform(-0.02, 0.001))
                elements.append({
                    "kind": "stop", "name": f"stop {where}", "joint": where, "stiffness": 900.0, "damping": 3.0,
                    "range": [low, low + 0.002],
                })  # fmt: skip
            if count == 2:
                elements.append({
                    "kind": "stop", "name": f"stop {where}", "joint": where, "stiffness": [900.0, 700.0],
                    "damping": [3.0, 2.0], "range": [[-0.02, -0.001], [0.001, 0.02]],
                })  # fmt: skip
    pairs = [("base", "platform"), *[tuple(rng.choice(bodies, 2, replace=False)) for _ in range(4)]]
    kinds = ("bushing", "spring", "gas spring", "damper", "constant force")
    for (first, second), kind in zip(pairs, kinds, strict=True):
        points = rng.uniform(-0.5, 0.5, (2, 3)) + engine.home[:3, 3] / 2
        element: Data = {"kind": kind, "name": f"{kind} of bodies", "between": [str(first), str(second)]}
        element["at"] = points[0].tolist() if kind == "bushing" else points.tolist()
        if kind == "bushing":
            axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            element |= {"stiffness": _positive(rng, 6, 30.0), "damping": _positive(rng, 6, 1.0)}
            element["axes"] = (axes * np.linalg.det(axes)).tolist()
        elif kind == "spring":
            element |= {"stiffness": 300.0, "length": 0.2, "damping": 9.0}
        elif kind == "gas spring":
            element |= {"force": [[0.2, 90.0], [0.4, 70.0], [0.6, 65.0]], "damping": 4.0, "temperature_factor": 1.1}
        elif kind == "damper":
            element["force"] = [[0.0, 0.0], [0.1, 3.0], [1.0, 5.0]]
        else:
            element |= {"force": -40.0, "direction": [0.6, 0.0, 0.8]}
        elements.append(element)
    return {**data, "elements": elements}
