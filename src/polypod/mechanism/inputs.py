"""The symbols of a state, shared by all functions of a model: names, order and shapes of kernel inputs."""

from __future__ import annotations

import casadi as ca

from ..symbols.expression import Port


class Inputs:
    """Fresh symbols for a state; pose is row-major 4x4, everything else a column."""

    def __init__(self, actuators: int = 6, freedoms: int = 6) -> None:
        self.pose = Port("pose", ca.SX.sym("pose", 16), (4, 4))
        self.twist = Port("twist", ca.SX.sym("twist", 6), (6,))
        self.acceleration = Port("acceleration", ca.SX.sym("acceleration", 6), (6,))
        self.wrench = Port("wrench", ca.SX.sym("wrench", 6), (6,))
        self.force = Port("force", ca.SX.sym("force", actuators), (actuators,))
        self.q = Port("q", ca.SX.sym("q", actuators), (actuators,))

    @property
    def by_name(self) -> dict[str, Port]:
        """All of them."""
        return {port.name: port for port in vars(self).values()}
