"""Short kinds of legs: a few points and directions instead of bodies and joints, written out as a general leg.

Points and directions are those at home in the base frame, but for ``platform``, the joint on the platform in the
platform frame. ``bodies`` and ``joints`` give masses, frictions and limits by name, with the fields of a general leg. A
body with a mass alone is a uniform rod between its joints; one at a single joint is a point mass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from ...arrays import Array
from ...description.leg import SHORT_KINDS, LegData
from ...description.paths import Location
from ...description.quantities import Data, Length, Position
from ...errors import UnknownNameError
from .forms import AnyDirection, home_matrix, read_form


class ShortKind(Data):
    """What all short kinds have: masses by body and fields by joint, both by name."""

    BODIES: ClassVar[tuple[str, ...]] = ()
    JOINTS: ClassVar[tuple[str, ...]] = ()

    kind: str
    name: str | None = None
    closing: str = "auto"
    platform: Position
    bodies: dict[str, dict[str, Any]] = Field(default_factory=dict)
    joints: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known_names(self) -> ShortKind:
        for what, given, known in (("body", self.bodies, self.BODIES), ("joint", self.joints, self.JOINTS)):
            for name in given:
                if name not in known:
                    raise ValueError(
                        f"{'bodies' if what == 'body' else 'joints'}: {UnknownNameError(what, name, known)}"
                    )
        return self

    @abstractmethod
    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Its joints in the order of JOINTS, the platform's joint at ``tip`` (3) [m] at home, base frame."""

    def default_body(self, body: str) -> dict[str, Any]:
        """What a body is unless its numbers say more."""
        return {"inertia": "rod"}


def _joint(kind: str, first: str, second: str, at: Any, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "between": [first, second], "at": [float(x) for x in at], **fields}


def _unit(direction: Any) -> list[float]:
    way = np.array(direction, dtype=float)
    return [float(x) for x in way / np.linalg.norm(way)]


class _Cranked(ShortKind):
    """A body turned by a motor at ``base`` about ``axis``, up to ``elbow``."""

    base: Position
    axis: AnyDirection
    elbow: Position

    def _motor(self) -> dict[str, Any]:
        return _joint("revolute", "base", self.BODIES[0], self.base, axis=_unit(self.axis), actuated=True)


class RUS(_Cranked):
    """A crank turned at ``base`` about ``axis``, a universal joint at its end ``elbow``, a rod to the platform."""

    BODIES = ("crank", "rod")
    JOINTS = ("motor", "elbow", "ball")

    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Motor, elbow, ball; the elbow's first axis is that of the motor."""
        yield self._motor()
        yield _joint("universal", "crank", "rod", self.elbow, axes=[_unit(self.axis), {"across": "ball"}])
        yield _joint("spherical", "rod", "platform", tip)


class RSS(_Cranked):
    """The same with a ball at the elbow: the rod spins freely."""

    BODIES = ("crank", "rod")
    JOINTS = ("motor", "elbow", "ball")

    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Motor and two balls."""
        yield self._motor()
        yield _joint("spherical", self.BODIES[0], "rod", self.elbow)
        yield _joint("spherical", "rod", "platform", tip)


class Delta(RSS):
    """An arm turned at ``base`` about ``axis``, and two rods side by side, ``spacing`` [m] apart along the axis."""

    BODIES = ("arm", "rod")
    JOINTS = ("motor", "elbow", "wrist")

    spacing: Length

    def default_body(self, body: str) -> dict[str, Any]:
        """Rods, that of the two balls twice: their joints go with it."""
        half = [0.5 * self.spacing * x for x in _unit(self.axis)]
        return {"inertia": "rod", **({"pair": {"offset": half}} if body == "rod" else {})}


class RPS(ShortKind):
    """A leg of variable length, hinged at ``base`` about ``axis``; its coordinate is the length."""

    BODIES = ("lower", "upper")
    JOINTS = ("hinge", "drive", "ball")

    base: Position
    axis: AnyDirection

    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Hinge, drive half way, ball."""
        start = np.array(self.base)
        yield _joint("revolute", "base", "lower", start, axis=_unit(self.axis))
        middle, length = 0.5 * (start + tip), float(np.linalg.norm(tip - start))
        yield _joint("prismatic", "lower", "upper", middle, axis={"to": "ball"}, actuated=True, offset=length)
        yield _joint("spherical", "upper", "platform", tip)


class PRS(ShortKind):
    """A slider along ``direction`` that carries a link's hinge, at home at ``base``, about ``axis``."""

    BODIES = ("slider", "link")
    JOINTS = ("drive", "hinge", "ball")

    base: Position
    direction: AnyDirection
    axis: AnyDirection

    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Drive, hinge, ball."""
        yield _joint("prismatic", "base", "slider", self.base, axis=_unit(self.direction), actuated=True)
        yield _joint("revolute", "slider", "link", self.base, axis=_unit(self.axis))
        yield _joint("spherical", "link", "platform", tip)

    def default_body(self, body: str) -> dict[str, Any]:
        """The slider is a point, as it does not turn."""
        return {"com": list(self.base)} if body == "slider" else {"inertia": "rod"}


class UP(ShortKind):
    """A passive leg: a universal joint at ``base`` with ``axis`` fixed to the base, a slide rigid with the platform."""

    BODIES = ("tube", "rod")
    JOINTS = ("universal", "slide", "flange")

    base: Position
    axis: AnyDirection

    def home_joints(self, tip: Array) -> Iterator[dict[str, Any]]:
        """Universal joint, slide half way, and the flange that fixes the rod to the platform."""
        start = np.array(self.base)
        yield _joint("universal", "base", "tube", start, axes=[_unit(self.axis), {"across": "flange"}])
        yield _joint("prismatic", "tube", "rod", 0.5 * (start + tip), axis={"to": "flange"})
        yield _joint("fixed", "rod", "platform", tip)


KINDS: dict[str, type[ShortKind]] = {form.__name__: form for form in (RUS, RSS, Delta, RPS, PRS, UP)}
"""Short kinds by name."""
SHORT_KINDS += [name for name in KINDS if name not in SHORT_KINDS]
_KEPT = ("copies", "mirror", "name", "closing")


def as_chain(leg: Any, location: Location, document: dict[str, Any]) -> tuple[Any, dict[Location, Location]]:
    """A leg of a short kind as a general one, and where its parts stand in the file (within the leg); others stay."""
    if not isinstance(leg, dict) or not isinstance(leg.get("kind"), str):
        return leg, {}
    # a user's own kind goes before a short one of the same name; the check of the file says what is none
    if leg["kind"] in LegData.registry or leg["kind"] not in KINDS:
        return leg, {}
    given = {key: value for key, value in leg.items() if key not in ("copies", "mirror")}
    form = read_form(KINDS[leg["kind"]], given, location)
    home = home_matrix(document)  # where it is no pose the check of the whole file says so
    tip = (np.eye(4) if home is None else home) @ np.r_[np.array(form.platform), 1.0]
    places: dict[Location, Location] = {("joints",): (), ("bodies",): ()}
    joints = []
    for number, (name, joint) in enumerate(zip(form.JOINTS, form.home_joints(tip[:3]), strict=True)):
        places["joints", number] = ("joints", name)
        joints.append({"name": name, **joint, **form.joints.get(name, {})})
    bodies = {}
    for name in form.BODIES:
        own = form.bodies.get(name, {"mass": 0.0})
        usual = form.default_body(name)
        if "com" in own or "inertia" in own:  # a body by its own numbers
            usual = {key: value for key, value in usual.items() if key == "pair"}
        bodies[name] = {**usual, **own}
    kept = {key: leg[key] for key in _KEPT if key in leg}
    return {"kind": "chain", **kept, "bodies": bodies, "joints": joints}, places
