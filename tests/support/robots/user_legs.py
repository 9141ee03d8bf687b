"""Leg kinds that the library does not have, as a user would write them, and robots made of them.

Together they have what the library's legs do not: a spherical joint inside the leg, a platform joint that decides how a
link spins, a driven crank, loops closed by a universal joint and by the base, drives with gears, a body fastened to
another, slides in a row, a slide beside its joint's line, a cross with inertia at the platform, joints stated from the
platform to the base, no actuator, two actuators, more actuators than degrees of freedom.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np

import polypod as pp
from polypod.description import Body, Friction
from polypod.description.quantities import Direction, Length, Moment, Number, Position
from polypod.legs import PRU, UPS, Actuator, Condition, Joint, Leg, PlacedBody, Placement
from polypod.legs.rail import slide
from polypod.symbols.vectors import Frame, columns, cross, dot, norm, unit, vector

EYE = ca.SX(ca.DM.eye(3))
EXAMPLE = Path(__file__).parents[3] / "examples" / "custom_leg.py"


def custom_leg() -> ModuleType:
    """The example that has a leg kind of its own, loaded once (a kind has one class)."""
    if "custom_leg" not in sys.modules:
        spec = spec_from_file_location("custom_leg", EXAMPLE)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["custom_leg"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["custom_leg"])
    return sys.modules["custom_leg"]


class PSU(Leg, kind="PSU"):
    """Slider, spherical joint, link, universal joint whose second axis is the platform's: it makes the link spin."""

    rail_start: Position
    rail_direction: Direction
    length: Length
    platform_axis: Direction
    slider: Body
    link: Body
    friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        rail = vector(self.rail_direction)
        at = slide(tip.origin, self.rail_start, self.rail_direction, self.length, "lower")
        second = tip.axes @ vector(self.platform_axis)
        first = unit(cross(second, at.n))
        link = Frame(at.point, columns(at.n, first, cross(at.n, first)))
        return Placement(
            bodies=(PlacedBody("slider", Frame(at.point, EYE), self.slider), PlacedBody("link", link, self.link)),
            joints=(
                Joint("slider", "prismatic", "base", "slider", at.point, (rail,), "friction"),
                Joint("spherical", "spherical", "slider", "link", at.point, (), "friction"),
                Joint("universal", "universal", "link", "platform", tip.origin, (first, second), "friction"),
            ),
            actuators=(Actuator("drive", "slider", at.q),),
            conditions=(at.condition,),
        )


class CrankLeg(Leg, kind="crank"):
    """A crank driven by a rope, a follower beside it (a loop over the base), a rod with a clamp to the platform.

    The coordinate is the rope's length on a drum of radius ``drum``. The crank also turns a flywheel through a
    universal joint (a loop in space), and the motor's ``rotor`` ``gear`` times as fast.
    """

    base: Position
    axis: Direction
    zero: Direction
    flywheel_axis: Direction
    crank_length: Length
    length: Length
    crank: Body
    flywheel: Body
    rod: Body
    follower: Body
    coupler: Body
    clamp: Body
    rotor: Moment = 0.02
    gear: Number = 7.3
    drum: Length = 0.4
    friction: Friction = Friction()
    coupling_friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        """|b + c (x cos q + y sin q) - p| = l for the crank's angle q."""
        e, x, b = vector(self.axis), vector(self.zero), vector(self.base)
        y = cross(e, x)
        d = tip.origin - b
        along, across = dot(d, x), dot(d, y)
        need = dot(d, d) + self.crank_length**2 - self.length**2
        share = need / (2 * self.crank_length * ca.sqrt(along**2 + across**2))
        q = ca.atan2(across, along) - ca.acos(share)
        arm, ahead = x * ca.cos(q) + y * ca.sin(q), y * ca.cos(q) - x * ca.sin(q)
        elbow = b + self.crank_length * arm
        n = (tip.origin - elbow) * (1 / self.length)
        second = unit(cross(e, n))
        wheel = vector(self.flywheel_axis)
        pin = unit(cross(wheel, ahead))
        side = cross(n, second)
        aside = 0.2 * x - 0.1 * y
        joints = (
            Joint("crank", "revolute", "base", "crank", b, (e,), "friction"),
            Joint("coupler", "revolute", "crank", "coupler", elbow, (e,), "friction"),
            Joint("follower", "revolute", "coupler", "follower", elbow + aside, (e,), "coupling_friction"),
            Joint("follower bearing", "revolute", "base", "follower", b + aside, (e,), "coupling_friction"),
            Joint("coupling", "universal", "crank", "flywheel", b, (ahead, pin), "coupling_friction"),
            Joint("bearing", "revolute", "base", "flywheel", b, (wheel,), "friction"),
            Joint("universal", "universal", "crank", "rod", elbow, (e, second), "friction"),
            Joint("spherical", "spherical", "rod", "platform", tip.origin, (), "friction"),
        )
        bodies = (
            PlacedBody("crank", Frame(b, columns(arm, ahead, e)), self.crank),
            PlacedBody("flywheel", Frame(b + 0.1 * wheel, columns(wheel, pin, cross(wheel, pin))), self.flywheel),
            PlacedBody("rod", Frame(elbow, columns(n, second, side)), self.rod),
            PlacedBody("follower", Frame(b + aside, columns(arm, ahead, e)), self.follower),
            PlacedBody("coupler", Frame(elbow, columns(x, y, e)), self.coupler),
            PlacedBody(
                "clamp",
                Frame(elbow + 0.3 * n, columns(0.6 * side + 0.8 * n, second, 0.8 * side - 0.6 * n)),
                self.clamp,
                on="rod",
            ),
        )
        reach = Condition("the rod does not reach", 1 - share**2, share, "cosine")
        # rotor (gear qdot)^2/2 = m (drum qdot)^2/2
        moving = self.rotor * (self.gear / self.drum) ** 2
        rope = Actuator("rope", "crank", self.drum * q, "m", ratio=self.drum, rotor=moving)
        return Placement(bodies=bodies, joints=joints, actuators=(rope,), conditions=(reach,))


class Stage(Leg, kind="stage"):
    """A slider on the base along ``first``, the platform on it along ``second``."""

    first: Direction
    second: Direction
    slider: Body
    driven_friction: Friction = Friction()
    free_friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        a, c = vector(self.first), vector(self.second)
        q = dot(tip.origin, a)
        return Placement(
            bodies=(PlacedBody("slider", Frame(q * a, EYE), self.slider),),
            joints=(
                Joint("driven", "prismatic", "base", "slider", q * a, (a,), "driven_friction"),
                Joint("free", "prismatic", "slider", "platform", tip.origin, (c,), "free_friction"),
            ),
            actuators=(Actuator("drive", "driven", q),),
        )


class IdleLeg(Leg, kind="idle"):
    """A leg between two spherical joints: nothing says how its strut turns about itself."""

    base: Position
    half: Body

    def place(self, tip: Frame) -> Placement:
        along = tip.origin - vector(self.base)
        n = unit(along)
        side = unit(cross(n, vector((1.0, 0.0, 0.0))))
        axes = columns(n, side, cross(n, side))
        bodies = [("lower", vector(self.base)), ("upper", tip.origin)]
        return Placement(
            bodies=tuple(PlacedBody(name, Frame(point, axes), self.half) for name, point in bodies),
            joints=(
                Joint("ball", "spherical", "base", "lower", vector(self.base)),
                Joint("prismatic", "prismatic", "lower", "upper", tip.origin, (n,)),
                Joint("spherical", "spherical", "upper", "platform", tip.origin),
            ),
            actuators=(Actuator("drive", "prismatic", norm(along)),),
        )


class CrossedPRU(PRU):
    """A PRU leg whose universal joint has a cross with inertia: more conditions than rates once it takes part."""

    cross_body: Body

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        *inner, universal = placed.joints
        first, second = universal.axes
        frame = Frame(tip.origin, columns(second, cross(first, second), first))
        spider = PlacedBody("spider", frame, self.cross_body)
        return replace(
            placed, bodies=(*placed.bodies, spider), joints=(*inner, replace(universal, cross_body="spider"))
        )


class TurnedUPS(UPS):
    """A UPS leg whose joints are stated from the platform to the base: its slide's child moves against the length."""

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        turned = [replace(j, parent=j.child, child=j.parent, axes=j.axes[::-1]) for j in reversed(placed.joints)]
        (drive,) = placed.actuators
        return replace(placed, joints=tuple(turned), actuators=(replace(drive, ratio=-1.0),))


class ScrewUPS(UPS, kind="screw UPS"):
    """A UPS leg behind a screw: the coordinate is the motor's angle 2 pi (l - ``shortest``)/``lead``.

    ``rotor`` is the inertia that turns with the motor.
    """

    lead: Length
    shortest: Length
    rotor: Moment = 0.0

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        (slide,) = placed.actuators
        ratio = 2 * math.pi / self.lead
        motor = Actuator("motor", slide.joint, ratio * (slide.coordinate - self.shortest), "rad", ratio, self.rotor)
        return replace(placed, actuators=(motor,))


class PassiveUPS(UPS, kind="passive UPS"):
    """A UPS leg that nothing drives."""

    def place(self, tip: Frame) -> Placement:
        return replace(super().place(tip), actuators=())


class SwingLeg(Leg, kind="swing leg"):
    """A universal joint in two hinges with a fork between them, a telescope, a spherical joint.

    A motor swings the fork about ``axis`` from ``zero``; another drives the telescope.
    """

    base: Position
    axis: Direction
    zero: Direction
    fork: Body
    lower: Body
    upper: Body
    friction: Friction = Friction()
    free_friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        u, x, base = vector(self.axis), vector(self.zero), vector(self.base)
        along = tip.origin - base
        n = unit(along)
        v = unit(cross(u, n))
        pod = columns(n, v, cross(n, v))
        swing = ca.atan2(dot(v, cross(u, x)), dot(v, x))
        return Placement(
            bodies=(
                PlacedBody("fork", Frame(base, columns(u, v, cross(u, v))), self.fork),
                PlacedBody("lower", Frame(base, pod), self.lower),
                PlacedBody("upper", Frame(tip.origin, pod), self.upper),
            ),
            joints=(
                Joint("swing", "revolute", "base", "fork", base, (u,), "friction"),
                Joint("tilt", "revolute", "fork", "lower", base, (v,), "free_friction"),
                Joint("telescope", "prismatic", "lower", "upper", tip.origin, (n,), "friction"),
                Joint("spherical", "spherical", "upper", "platform", tip.origin, (), "free_friction"),
            ),
            actuators=(
                Actuator("swing", "swing", swing, "rad", rotor=0.03),
                Actuator("telescope", "telescope", norm(along), rotor=1.5),
            ),
            conditions=(Condition("the telescope is in line with the fork", norm(cross(u, n)), dot(u, n), "cosine"),),
        )


class OffsetUPS(Leg, kind="offset UPS"):
    """A UPS leg whose slide runs ``offset`` beside the line from its universal joint to its tip.

    s^2 = |p - b|^2 - offset^2; with x = n along the slide and y the joint's second axis, p - b = s n + offset n x y.
    """

    base: Position
    axis: Direction
    offset: Length
    lower: Body
    upper: Body
    friction: Friction = Friction()

    def place(self, tip: Frame) -> Placement:
        u, base = vector(self.axis), vector(self.base)
        d = tip.origin - base
        y = unit(cross(u, d))
        across = cross(d, y)
        s = ca.sqrt(dot(d, d) - self.offset * self.offset)
        # in the plane perpendicular to y: d turned back by the angle whose tangent is offset/s
        n = (s * d - self.offset * across) * (1 / dot(d, d))
        axes = columns(n, y, cross(n, y))
        return Placement(
            bodies=(
                PlacedBody("lower", Frame(base, axes), self.lower),
                PlacedBody("upper", Frame(tip.origin, axes), self.upper),
            ),
            joints=(
                Joint("universal", "universal", "base", "lower", base, (u, y), "friction"),
                Joint("slide", "prismatic", "lower", "upper", tip.origin, (n,), "friction", (y, cross(n, y))),
                Joint("spherical", "spherical", "upper", "platform", tip.origin, (), "friction"),
            ),
            actuators=(Actuator("slide", "slide", s),),
            conditions=(Condition("the tip is nearer than the offset", s / norm(d), s, "m"),),
        )


def body(seed: int, mass: float = 0.7) -> Body:
    """A body without symmetry: a cloud of points."""
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(6, 3)) * 0.1
    tensor = sum(mass / 6 * (x @ x * np.eye(3) - np.outer(x, x)) for x in points)
    return Body.model_validate({"mass": mass, "com": tuple(points.mean(axis=0)), "inertia": tensor, "about": "origin"})


FRICTION = Friction(viscous=0.3)


def _around(angle: float, radius: float, height: float = 0.0) -> Any:
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


def _six(make: Any, home: float) -> pp.Robot:
    """Six legs around a platform, in pairs at the base and at the platform."""
    legs = []
    for k in range(6):
        side = 1 if k % 2 else -1
        centre = 2 * np.pi / 3 * (k // 2)
        legs.append(make(k, centre + 0.9 * side, centre + 0.3 * side))
    data = {"name": "user", "home": {"position": (0.0, 0.0, home)}, "platform": body(99, 3.0), "legs": tuple(legs)}
    return pp.Robot.model_validate(data)


def psu_robot() -> pp.Robot:
    """Six PSU legs on vertical rails."""

    def make(k: int, at_base: float, at_platform: float) -> PSU:
        return PSU(
            kind="PSU",
            name=f"leg{k}",
            platform=tuple(_around(at_platform, 0.3)),
            rail_start=tuple(_around(at_base, 0.8)),
            rail_direction=(0.0, 0.0, 1.0),
            length=1.1,
            platform_axis=tuple(_around(at_platform + 0.4, 1.0)),
            slider=body(k),
            link=body(10 + k),
            friction=FRICTION,
        )

    return _six(make, 1.2)


def crank_robot() -> pp.Robot:
    """Six crank legs with flywheels tilted by 0.5 rad."""

    def make(k: int, at_base: float, at_platform: float) -> CrankLeg:
        axis = _around(at_base + np.pi / 2 + 0.2 * (-1) ** k, 1.0)
        tilted = np.cos(0.5) * axis + np.sin(0.5) * np.array([0.0, 0.0, 1.0])
        return CrankLeg(
            kind="crank",
            name=f"leg{k}",
            platform=tuple(_around(at_platform, 0.3)),
            base=tuple(_around(at_base, 0.6)),
            axis=tuple(axis),
            zero=tuple(np.cross(axis, [0.0, 0.0, 1.0])),
            flywheel_axis=tuple(tilted),
            crank_length=0.3,
            length=0.9,
            crank=body(k),
            flywheel=body(20 + k, 2.0),
            rod=body(10 + k),
            follower=body(30 + k),
            coupler=body(40 + k),
            clamp=body(50 + k),
            friction=FRICTION,
            coupling_friction=Friction(viscous=0.17),
        )

    return _six(make, 0.9)


def stage_robot() -> pp.Robot:
    """A stage of two degrees of freedom, x and z, with sliders of 2 and 3 kg and a platform of 5 kg."""
    axes = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    names = ("driven_friction", "free_friction")
    legs = tuple(
        Stage(
            kind="stage",
            name=name,
            platform=(0.1, 0.0, 0.2),
            first=axes[k],
            second=axes[1 - k],
            slider=Body(mass=2.0 + k),
            **{field: Friction(viscous=v) for field, v in zip(names, ((1.5, 0.25), (2.5, 0.75))[k], strict=True)},
        )
        for k, name in enumerate(("along", "up"))
    )
    dof = tuple({"name": n, "motion": "translation", "axis": a} for n, a in zip("xz", axes, strict=True))
    return pp.Robot.model_validate(
        {"name": "stage", "platform": Body(mass=5.0, com=(0.3, 0.2, 0.1)), "legs": legs, "dof": dof}
    )


def remade(robot: pp.Robot, kind: type[Leg], new: type[Leg], **fields: Any) -> pp.Robot:
    """A robot whose legs of one kind are of another with the same data and more."""
    legs = tuple(
        new(**{name: getattr(leg, name) for name in kind.model_fields}, **fields) if isinstance(leg, kind) else leg
        for leg in robot.legs
    )
    return robot.model_copy(update={"legs": legs})


def idle_robot() -> pp.Robot:
    """Six legs between spherical joints."""

    def make(k: int, at_base: float, at_platform: float) -> IdleLeg:
        return IdleLeg(
            kind="idle",
            name=f"leg{k}",
            platform=tuple(_around(at_platform, 0.3)),
            base=tuple(_around(at_base, 0.6)),
            half=body(k),
        )

    return _six(make, 0.8)


def ups_fields(k: int, at_base: float, at_platform: float) -> dict[str, Any]:
    """Data of the k-th UPS leg around a platform, without symmetry."""
    return {
        "name": f"leg{k + 1}",
        "platform": tuple(_around(at_platform, 0.3, 0.02 * (k % 3))),
        "base": tuple(_around(at_base, 0.6, 0.03 * (k % 2))),
        "axis": tuple(_around(at_base + 1.3, 1.0)),
        "lower": body(k),
        "upper": body(10 + k),
        "cross_inertia": 0.04,
        "universal_friction": Friction(viscous=0.07),
        "prismatic_friction": Friction(viscous=1.7),
        "spherical_friction": Friction(viscous=0.05),
    }


# Rods with a point mass: functions of robots with such legs compile in a fraction of the time.
RODS = {
    "lower": Body(mass=1.5, com=(0.2, 0.0, 0.0)),
    "upper": Body(mass=0.9, com=(-0.25, 0.0, 0.0)),
    "cross_inertia": 0.0,
    "universal_friction": Friction(),
    "spherical_friction": Friction(),
}


@cache
def ups_robot(**fields: Any) -> pp.Robot:
    """Six UPS legs with rotors of 6 kg."""
    return _six(lambda *at: UPS(kind="UPS", rotor_mass=6.0, **ups_fields(*at) | fields), 0.8)


LEAD = 0.012


def screw_robot(**fields: Any) -> pp.Robot:
    """The same with the motors' angles as coordinates: rotors of 6 (lead/2 pi)^2 kg m^2."""
    rotor = 6.0 * (LEAD / (2 * math.pi)) ** 2
    geared = {"kind": "screw UPS", "lead": LEAD, "shortest": 0.5, "rotor": rotor}
    return _six(lambda *at: ScrewUPS(**geared, **ups_fields(*at) | fields), 0.8)


def offset_robot() -> pp.Robot:
    """Six legs with slides beside their line."""

    def make(*at: Any) -> OffsetUPS:
        fields = {k: v for k, v in ups_fields(*at).items() if k in OffsetUPS.model_fields}
        return OffsetUPS(kind="offset UPS", offset=0.11, friction=FRICTION, **fields)

    return _six(make, 0.8)


def with_leg(robot: pp.Robot, leg: Leg) -> pp.Robot:
    """A robot with one more leg."""
    fields = {name: getattr(robot, name) for name in type(robot).model_fields}
    return pp.Robot.model_validate(fields | {"legs": (*robot.legs, leg)})


def passive_robot() -> pp.Robot:
    """Six driven UPS legs and one that nothing drives."""
    return with_leg(ups_robot(), PassiveUPS(kind="passive UPS", **ups_fields(6, 2.1, 1.4)))


def redundant_robot(**fields: Any) -> pp.Robot:
    """Seven driven UPS legs."""
    return with_leg(ups_robot(**fields), UPS(kind="UPS", **ups_fields(6, 2.1, 1.4) | fields))


def swing_robot() -> pp.Robot:
    """Three legs with two actuators each."""
    legs = []
    for k in range(3):
        at = 2 * np.pi / 3 * k
        legs.append(
            SwingLeg(
                kind="swing leg",
                name=f"leg{k + 1}",
                platform=tuple(_around(at, 0.3)),
                base=tuple(_around(at + 0.2, 0.7)),
                axis=tuple(_around(at + 1.9, 1.0)),
                zero=(0.0, 0.0, 1.0),
                fork=body(k),
                lower=body(10 + k),
                upper=body(20 + k),
                friction=FRICTION,
                free_friction=Friction(viscous=0.09),
            )
        )
    return pp.Robot.model_validate(
        {"name": "swing", "home": {"position": (0.0, 0.0, 0.9)}, "platform": body(99, 3.0), "legs": legs}
    )


ROBOTS: dict[str, Callable[[], pp.Robot]] = {
    "rotary RUS": lambda: custom_leg().hexa(),
    "UPS behind screws": screw_robot,
    "slides beside their lines": offset_robot,
    "spherical joint inside": psu_robot,
    "cranks and flywheels": crank_robot,
    "slides in a row": stage_robot,
    "two actuators a leg": swing_robot,
    "a passive leg": passive_robot,
    "seven actuators": redundant_robot,
    "overconstrained": lambda: remade(pp.load("staicu"), PRU, CrossedPRU, cross_body=body(5)),
}
