"""The symbols of a state, shared by all functions of a model: names, order and shapes of kernel inputs."""

from __future__ import annotations

import casadi as ca

from ..symbols.expression import Port


class Inputs:
    """Fresh symbols of a state; a pose is row-major 4x4, everything else a column.

    A flexible platform's state also has ``elastic`` coordinates and their rates (N each).
    """

    def __init__(self, actuators: int = 6, elastic: int = 0) -> None:
        def column(name: str, length: int) -> Port:
            return Port(name, ca.SX.sym(name, length), (length,))

        self.pose = Port("pose", ca.SX.sym("pose", 16), (4, 4))
        self.twist = column("twist", 6)
        self.elastic = column("elastic", elastic)
        self.elastic_rate = column("elastic_rate", elastic)
        self.acceleration = column("acceleration", 6)
        self.elastic_acceleration = column("elastic_acceleration", elastic)
        self.wrench = column("wrench", 6)
        self.force = column("force", actuators)
        self.q = column("q", actuators)

    @property
    def place(self) -> tuple[Port, ...]:
        """Where the platform is: pose, and elastic coordinates if it has any."""
        return (self.pose, self.elastic) if self.elastic.length else (self.pose,)

    @property
    def state(self) -> tuple[Port, ...]:
        """Pose and twist, with elastic coordinates and their rates on a flexible platform."""
        rigid = (self.pose, self.twist)
        return (*rigid, self.elastic, self.elastic_rate) if self.elastic.length else rigid

    @property
    def by_name(self) -> dict[str, Port]:
        """The symbols of every input under its name."""
        return {port.name: port for port in vars(self).values()}
