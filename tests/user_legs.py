"""Leg kinds that the library does not have, as a user would write them, and robots made of them.

Together they have what the library's legs do not: a spherical joint inside the leg, a platform joint that decides how a
link spins, a driven crank, loops closed by a universal joint and by the base, drives with gears, a body fastened to
another, slides in a row, a cross with inertia at the platform, joints told backwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import polypod as pp
from polypod.description import Body, Friction
from polypod.description.quantities import Direction, Length, Position
from polypod.legs import PRU, UPS, Condition, Inertance, Joint, Leg, PlacedBody, Placement
from polypod.legs.rail import slide
from polypod.symbols.vectors import Frame, columns, cross, dot, norm, unit, vector

EYE = ca.SX(ca.DM.eye(3))


class PSU(Leg):
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
            coordinate=at.q,
            bodies=(PlacedBody("slider", Frame(at.point, EYE), self.slider), PlacedBody("link", link, self.link)),
            joints=(
                Joint("slider", "prismatic", "base", "slider", at.point, (rail,), "friction"),
                Joint("spherical", "spherical", "slider", "link", at.point, (), "friction"),
                Joint("universal", "universal", "link", "platform", tip.origin, (first, second), "friction"),
            ),
            conditions=(at.condition,),
        )


class CrankLeg(Leg):
    """A crank driven by a rope, a follower beside it (a loop over the base), a rod with a clamp to the platform.

    The crank also turns a flywheel through a universal joint (a loop in space) and a geared rotor.
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
    rotor: float = 0.02
    gear: float = 7.3
    drum: float = 0.4
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
        return Placement(self.drum * q, bodies, joints, (reach,), (), (Inertance("rotor", self.gear * q, self.rotor),))


class Stage(Leg):
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
            coordinate=q,
            bodies=(PlacedBody("slider", Frame(q * a, EYE), self.slider),),
            joints=(
                Joint("driven", "prismatic", "base", "slider", q * a, (a,), "driven_friction"),
                Joint("free", "prismatic", "slider", "platform", tip.origin, (c,), "free_friction"),
            ),
            conditions=(),
        )


class IdleLeg(Leg):
    """A leg between two spherical joints: nothing tells how its strut turns about itself."""

    base: Position
    strut: Body

    def place(self, tip: Frame) -> Placement:
        along = tip.origin - vector(self.base)
        n = unit(along)
        side = unit(cross(n, vector((1.0, 0.0, 0.0))))
        axes = columns(n, side, cross(n, side))
        bodies = [("lower", vector(self.base)), ("upper", tip.origin)]
        return Placement(
            coordinate=norm(along),
            bodies=tuple(PlacedBody(name, Frame(point, axes), self.strut) for name, point in bodies),
            joints=(
                Joint("ball", "spherical", "base", "lower", vector(self.base)),
                Joint("prismatic", "prismatic", "lower", "upper", tip.origin, (n,)),
                Joint("spherical", "spherical", "upper", "platform", tip.origin),
            ),
            conditions=(),
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
        return replace(placed, bodies=(*placed.bodies, spider), joints=(*inner, replace(universal, cross="spider")))


class TurnedUPS(UPS):
    """A UPS leg whose joints are told from the platform to the base."""

    def place(self, tip: Frame) -> Placement:
        placed = super().place(tip)
        turned = [replace(j, parent=j.child, child=j.parent, axes=j.axes[::-1]) for j in reversed(placed.joints)]
        return replace(placed, joints=tuple(turned))


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
    """A stage of two freedoms, x and z, with sliders of 2 and 3 kg and a platform of 5 kg."""
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
    freedoms = tuple({"name": n, "motion": "translation", "axis": a} for n, a in zip("xz", axes, strict=True))
    return pp.Robot.model_validate(
        {"name": "stage", "platform": Body(mass=5.0, com=(0.3, 0.2, 0.1)), "legs": legs, "freedoms": freedoms}
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
            strut=body(k),
        )

    return _six(make, 0.8)
