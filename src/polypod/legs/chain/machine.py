"""Legs that share bodies, as one: all their bodies and joints between base and platform."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from .leg import Chain

WITHIN = "/"
"""Between a leg's name and that of its body, in the names of a machine's bodies."""


class Machine(Chain, kind="machine"):
    """Legs that share bodies or hang on each other, with these bodies and the joints between them.

    Robot files state it by ``bodies``, ``joints`` and ``groups`` beside ``legs``. Bodies of a leg are ``leg/body`` and
    its joints ``leg.joint``; those that belong to no leg have their name alone. Results call them ``leg.body`` and
    ``leg.joint``, as if the legs were on their own.
    """

    @model_validator(mode="after")
    def _clear_names(self) -> Machine:
        for body in self.bodies:
            if "." in body:
                raise ValueError(f"bodies.{body.replace('.', WITHIN)}: names of bodies have no dot, got {body!r}")
        return self

    def label(self, part: str) -> str:
        """What results call a body or joint: its own name, after that of its leg."""
        return part.replace(WITHIN, ".")

    def joint_of(self, label: str) -> str | None:
        """The joint, or coordinate of a joint, that a label is of; None if it is of no joint here."""
        names = [joint.name for joint in self.joints]
        return label if any(label == name or label.startswith(f"{name}.") for name in names) else None

    def actuator_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """A leg's name for its only actuator, else the joint's."""
        owners = [self._owner(name) for name in names]
        return tuple(
            owner if owner and owners.count(owner) == 1 else self.label(name)
            for owner, name in zip(owners, names, strict=True)
        )

    def _owner(self, joint: str) -> str:
        """The leg that a joint is of; empty for one that belongs to no leg."""
        legs = {body.partition(WITHIN)[0] for body in self.bodies if WITHIN in body}
        return max((leg for leg in legs if joint.startswith(f"{leg}.")), key=len, default="")

    def file_path(self, parts: list[str]) -> list[str]:
        """Where the file of the legs states a field: ``legs.LEG.bodies.BODY...`` or ``bodies.BODY...``."""
        what, name, *rest = parts if len(parts) > 1 else ("", "")
        if what == "bodies":
            leg, within, body = name.rpartition(WITHIN)
            return ["legs", leg, what, body, *rest] if within else [what, name, *rest]
        if what == "joints" and name.isdigit():
            joint: Any = self.joints[int(name)].name
            leg = self._owner(joint)
            return ["legs", leg, what, joint[len(leg) + 1 :], *rest] if leg else [what, joint, *rest]
        return ["legs", self.name, *parts]
