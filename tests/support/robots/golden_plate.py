"""The golden flexible robot: a plate of 127 nodes of another element (DKT) with lumped masses, and states of it."""

from __future__ import annotations

import json
from pathlib import Path

from polypod.description import Modes

GOLDEN = json.loads(
    (Path(__file__).parent.parent.parent / "data" / "golden" / "long-flexible.json").read_text(encoding="utf-8")
)


def golden_modes() -> Modes:
    """Modes of the plate as its file gives them, by nodes."""
    data = GOLDEN["system"]
    return Modes.at_nodes(
        data["nodes"],
        data["mass"],
        data["phi"],
        data["K"],
        data["att_node_index"],
        origin=data["center_node_index"],
        origin_rotation=data["phi_r_center"],
        damping=data["D"],
    )
