"""An engine of constraints for robots of chain legs, in plain NumPy, written from the file format alone.

Every body, the platform among them, has six coordinates: where its reference point is and how it is turned from home.
Every joint is a set of constraint equations between two bodies. Positions follow by Gauss and Newton's iteration from
home in small steps, velocities, accelerations and forces by least squares (constraints may be redundant). Nothing of
polypod is used but the robot's data as a dictionary.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from support.engines.elements import EngineElements

Array = NDArray[np.float64]
# Smallest singular value, of rows and columns made comparable in size, that counts as one.
RANK = 1e-7


class Place(NamedTuple):
    """Where all bodies are: reference points (b, 3), turns from home (b, 3, 3), displacements of the drives, and of
    coupled joints (which may turn more than once)."""

    points: Array
    turns: Array
    q: Array
    coupled: Array = np.zeros(0)


class Motion(NamedTuple):
    """Velocities and accelerations (b, 6) of the reference points, base axes."""

    velocity: Array
    acceleration: Array


@dataclass(frozen=True)
class Term:
    """One constraint: a gap along a direction of the first body (or of the base), or two directions perpendicular to
    each other."""

    kind: str
    first: int
    second: int
    at: Array
    one: Array
    two: Array


@dataclass(frozen=True)
class Drive:
    """An actuated joint: coordinate = ratio x displacement from home + offset."""

    first: int
    second: int
    at: Array
    axis: Array
    turns: bool
    ratio: float
    offset: float
    rotor: float


@dataclass(frozen=True)
class Held:
    """Where the constraints of a joint begin and end in the list of all, and what it joins."""

    first: int
    second: int
    at: Array
    begin: int
    end: int
    drive: int | None


@dataclass(frozen=True)
class FrictionPair:
    """Viscous friction of a joint: along its axis for a slide, against the whole relative turning otherwise.

    What spins freely about a line is not braked in it.
    """

    first: int
    second: int
    at: Array
    axis: Array | None
    viscous: float
    drag: float = 0.0
    coulomb: float = 0.0
    joint: tuple[int, str] = (0, "")


@dataclass(frozen=True)
class Coupled:
    """A displacement in a coupling: of which joint, about or along which axis, with which factor of which coupling.

    ``motion``: ``translation`` along ``axis``, ``rotation`` about it; ``first`` about an axis of the first body with
    ``other`` one of the second, ``second`` the other way round.
    """

    coupling: int
    key: tuple[int, str]
    first: int
    second: int
    at: Array
    axis: Array
    other: Array
    motion: str
    factor: float


@dataclass(frozen=True)
class Loss:
    """Friction at the input of a coupling: which coupled displacement rubs, and its numbers.

    It resists with ``coulomb`` times what the coupling applies there, as well as with the others.
    """

    term: int
    viscous: float
    drag: float
    coulomb: float


def coupling_terms(data: dict[str, Any]) -> list[list[tuple[str, float]]]:
    """Joints and factors of each relation of a coupling, from the file format."""
    kind = data.get("kind", "linear")
    if kind == "screw":
        turn, travel = data.get("turn"), data.get("travel")
        if data.get("joint"):
            turn, travel = data["joint"] + ".rotation", data["joint"] + ".translation"
        return [[(travel, 2 * np.pi), (turn, -data["lead"])]]
    if kind == "gear":
        return [[(data["input"], 1.0), (data["output"], -data["ratio"])]]
    if kind == "belt":
        (a, b), (r, s) = data["joints"], data["radii"]
        return [[(a, r), (b, s if data.get("crossed") else -s)]]
    if kind == "mimic":
        return [[(data["joint"], 1.0), (data["of"], -data.get("multiplier", 1.0))]]
    if kind == "differential":
        (a, b), (p, q), r = data["inputs"], data["outputs"], data.get("ratio", 1.0)
        return [[(a, 1.0), (p, -r), (q, -r)], [(b, 1.0), (p, -r), (q, r)]]
    if "joints" in data:
        return [list(zip(data["joints"], data["factors"], strict=True))]
    own = ("kind", "name", "efficiency", "friction")
    return [[(name, factor) for name, factor in data.items() if name not in own]]


class OutOfReachError(Exception):
    """A place that the joints do not let the robot have, or none that is near."""


class Engine:
    """A robot given as its file's data; body 0 is the platform, -1 the base."""

    def __init__(self, robot: dict[str, Any]) -> None:
        home = robot.get("home", {})
        self.home = np.eye(4)
        self.home[:3, 3] = home.get("position", np.zeros(3))
        self.home[:3, :3] = home.get("rotation", np.eye(3))
        self.gravity = np.array(robot.get("gravity", (0.0, 0.0, -9.81)), dtype=float)
        turn = self.home[:3, :3]
        platform = robot["platform"]
        centre = self.home[:3, 3] + turn @ np.array(platform.get("com", np.zeros(3)))
        self.masses = [platform["mass"]]
        self.starts = [self.home[:3, 3]]
        self.centres = [centre]
        self.tensors = [turn @ _tensor(platform) @ turn.T]
        self.terms: list[Term] = []
        self.drives: list[Drive] = []
        self.frictions: list[FrictionPair] = []
        self.joints: dict[tuple[int, str], Held] = {}
        self.coupled: list[Coupled] = []
        self.couplings: list[tuple[int, str]] = []
        self.losses: list[Loss] = []
        self.indices: list[dict[str, int]] = []
        # what stands at robot level comes last, as a leg of its own; bodies of legs have the leg's name before theirs
        shared = {name: self._new_body(body) for name, body in robot.get("bodies", {}).items()}
        legs = robot["legs"]
        owned = [{name: self._new_body(body) for name, body in leg["bodies"].items()} for leg in legs]
        ground = {"base": -1, "platform": 0}
        for leg, own in zip(legs, owned, strict=True):
            shared |= {f"{leg['name']}.{name}": body for name, body in own.items()} if "name" in leg else {}
        for number, (leg, own) in enumerate(zip(legs, owned, strict=True)):
            self._add(number, leg, {**shared, **own, **ground})
        if robot.get("joints"):
            self._add(len(legs), {"joints": robot["joints"]}, {**shared, **ground})
        if robot.get("couplings"):  # by LEG.JOINT, or JOINT of those at robot level
            names = [*(f"{leg['name']}." if "name" in leg else "" for leg in legs), ""]
            every = {f"{names[k]}{joint['name']}": (k, joint)
                     for k, leg in enumerate([*legs, {"joints": robot.get("joints", ())}])
                     for joint in leg["joints"]}  # fmt: skip
            self._add_couplings(len(legs), robot["couplings"], every)
        self.count = len(self.masses)
        points = np.array([*self.starts, *[t.at for t in self.terms]])
        self.size = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        self.internal = [self._internal(robot, name) for name in robot.get("internal", ())]
        self.lines = self._spin_lines()
        self.elements = EngineElements(self, robot, self.indices)
        self.chosen = np.eye(6)
        if robot.get("dof"):
            self.chosen = np.zeros((len(robot["dof"]), 6))
            for row, coordinate in zip(self.chosen, robot["dof"], strict=True):
                axis = np.array(coordinate["axis"], dtype=float)
                row[3 * (coordinate["motion"] == "rotation") :][:3] = axis / np.linalg.norm(axis)

    def _internal(self, robot: dict[str, Any], path: str) -> Drive:
        """A joint whose displacement is a coordinate of the robot beside the platform's, ``leg.joint`` or ``joint``."""
        legs = robot["legs"]
        for (number, name), held in self.joints.items():
            if path in ((f"{legs[number]['name']}.{name}",) if number < len(legs) else (name,)):
                data = legs[number] if number < len(legs) else robot
                joint = next(one for one in data["joints"] if one["name"] == name)
                turns = joint["kind"] == "revolute"
                return Drive(held.first, held.second, held.at, _unit(joint["axis"]), turns, 1.0, 0.0, 0.0)
        raise KeyError(path)

    def _new_body(self, body: dict[str, Any]) -> int:
        self.masses.append(body["mass"])
        com = np.array(body.get("com", np.zeros(3)), dtype=float)
        self.starts.append(com)
        self.centres.append(com)
        self.tensors.append(_tensor(body))
        return len(self.masses) - 1

    def _add(self, number: int, leg: dict[str, Any], index: dict[str, int]) -> None:
        self.indices.append(index)
        for joint in leg["joints"]:
            first, second = (index[name] for name in joint["between"])
            begin, drives = len(self.terms), len(self.drives)
            self._join(joint, first, second, (number, joint["name"]))
            at = np.array(joint.get("at", np.zeros(3)), dtype=float)
            drive = drives if len(self.drives) > drives else None
            self.joints[number, joint["name"]] = Held(first, second, at, begin, len(self.terms), drive)
        own = {joint["name"]: (number, joint) for joint in leg["joints"]}
        self._add_couplings(number, leg.get("couplings", ()), own)

    def _add_couplings(self, number: int, couplings: Any, joints: dict[str, tuple[int, Any]]) -> None:
        for count, coupling in enumerate(couplings, 1):
            for part, relation in zip(("first", "second"), coupling_terms(coupling), strict=False):
                name = coupling.get("name") or f"coupling{count}"
                self.couplings.append((number, f"{name} {part}" if coupling.get("kind") == "differential" else name))
                for place, (path, factor) in enumerate(relation):
                    self._couple(joints, path, factor)
                    if place == (1 if coupling.get("kind") in ("screw", "mimic") else 0):
                        self._add_loss(coupling)

    def _add_loss(self, coupling: dict[str, Any]) -> None:
        """At the displacement that came last: from the efficiency of driving it, T_out/T_in = 1/(1 + coulomb)."""
        given = coupling.get("friction", {})
        numbers = [given.get(name, 0.0) for name in ("viscous", "drag", "coulomb")]
        if "efficiency" in coupling:
            numbers[2] = (1 - coupling["efficiency"]) / coupling["efficiency"]
        if any(numbers):
            self.losses.append(Loss(len(self.coupled) - 1, *numbers))

    def _couple(self, joints: dict[str, tuple[int, Any]], path: str, factor: float) -> None:
        name, motion = (path, "") if path in joints else path.rsplit(".", 1)
        number, joint = joints[name]
        held = self.joints[number, joint["name"]]
        motion = motion or {"revolute": "rotation", "prismatic": "translation"}[joint["kind"]]
        axis = other = _unit(joint.get("axis", (0.0, 0.0, 1.0)))
        if motion in ("first", "second"):
            one, two = (_unit(a) for a in joint["axes"])
            axis, other = (one, two) if motion == "first" else (two, one)
        ends = (number, joint["name"]), held.first, held.second, held.at
        self.coupled.append(Coupled(len(self.couplings) - 1, *ends, axis, other, motion, factor))

    def _join(self, joint: dict[str, Any], first: int, second: int, key: tuple[int, str]) -> None:
        kind, at = joint["kind"], np.array(joint.get("at", np.zeros(3)), dtype=float)
        nothing = np.zeros(3)
        gaps = [Term("gap", first, second, at, axis, nothing) for axis in np.eye(3)]
        axis = _unit(joint["axis"]) if "axis" in joint else None
        if axis is not None:
            p = _unit(_cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
            n = _cross(axis, p)
            tilts = [Term("square", first, second, at, p, axis), Term("square", first, second, at, n, axis)]
            along = [
                Term("carried gap", first, second, at, p, nothing),
                Term("carried gap", first, second, at, n, nothing),
            ]
        if kind == "universal":
            one, two = (_unit(a) for a in joint["axes"])
            gaps.append(Term("square", first, second, at, one, two - (one @ two) * one))
        elif kind == "revolute":
            gaps += tilts
        elif kind == "prismatic":
            gaps = [*along, *tilts, Term("square", first, second, at, p, n)]
        elif kind == "cylindrical":
            gaps = [*along, *tilts]
        elif kind == "fixed":
            e = np.eye(3)
            gaps += [Term("square", first, second, at, e[k], e[(k + 1) % 3]) for k in range(3)]
        self.terms += gaps
        if joint.get("actuated"):
            turns = joint["actuated"] == "rotation" or (joint["actuated"] is True and kind == "revolute")
            numbers = (float(joint.get(name, default)) for name, default in (("ratio", 1), ("offset", 0), ("rotor", 0)))
            self.drives.append(Drive(first, second, at, axis, turns, *numbers))
        both = joint.get("frictions", {})
        turning = joint.get("friction", {}) if kind != "prismatic" else {}
        sliding = joint.get("friction", {}) if kind == "prismatic" else {}
        for line, given in ((None, both.get("rotation", turning)), (axis, both.get("translation", sliding))):
            numbers = [given.get(name, 0.0) for name in ("viscous", "drag", "coulomb")]
            if any(numbers):
                self.frictions.append(FrictionPair(first, second, at, line, *numbers, key))

    # -- positions -----------------------------------------------------------------------------------------------------

    def at_home(self) -> Place:
        turns, still = np.tile(np.eye(3), (self.count, 1, 1)), np.zeros(len(self.coupled))
        return Place(np.array(self.starts), turns, np.zeros(len(self.drives)), still)

    def pose(self, place: Place) -> Array:
        """Pose (4, 4) of the platform."""
        pose = np.eye(4)
        pose[:3, 3], pose[:3, :3] = place.points[0], place.turns[0] @ self.home[:3, :3]
        return pose

    def reach(self, pose: Array, steps: int = 4) -> Place:
        """The place with the platform at a pose, on the way from home that drives the chosen components alone."""
        place = self.at_home()
        for step in range(steps + 8):
            error = np.r_[pose[:3, 3] - place.points[0], _log(pose[:3, :3] @ self.pose(place)[:3, :3].T)]
            move = np.r_[self.chosen @ error, np.zeros(len(self.internal))]
            place = self._driven(place, move / max(steps - step, 1))
        return place

    @property
    def coordinate_count(self) -> int:
        """How many components of the platform's motion are chosen, and internal coordinates after them."""
        return len(self.chosen) + len(self.internal)

    def internal_coordinates(self, place: Place) -> Array:
        """Displacements (k) of the joints that are internal coordinates, angles within half a turn."""
        return self._displacements(place, self.internal)

    def displaced(self, aim: Array, steps: int = 4) -> Place:
        """The place after the chosen components moved by (m), and internal coordinates after them, in small steps."""
        place = self.at_home()
        for _ in range(steps):
            place = self._driven(place, aim / steps)
        return place

    def _driven(self, place: Place, move: Array) -> Place:
        rates, _ = self._solved(place, np.zeros(self.height), move)
        place = self._moved(place, rates)
        for _ in range(12):
            gaps = self.gaps(place)
            if np.abs(gaps).max(initial=0.0) < 2e-15 * self.size:
                break
            correction, _ = self._solved(place, -gaps, np.zeros(self.coordinate_count))
            place = self._moved(place, correction)
            if np.abs(correction).max() < 1e-15:
                break
        gap = np.abs(self.gaps(place)).max(initial=0.0)
        if gap >= 1e-13 * self.size:
            raise OutOfReachError(f"a gap of {gap:.3g} is left")
        q = self._coordinates(place)
        turns = np.array([d.turns for d in self.drives], dtype=bool)
        q[turns] += 2 * np.pi * np.round((place.q[turns] - q[turns]) / (2 * np.pi))
        return place._replace(q=q)

    def _moved(self, place: Place, twist: Array) -> Place:
        turns = Rotation.from_rotvec(twist[:, 3:]).as_matrix() @ place.turns
        left, _, right = np.linalg.svd(turns)
        ratios = np.array([d.ratio for d in self.drives])
        q = place.q + self.drive_rows(place) @ twist.ravel() / ratios
        aim = place.coupled + self._coupled_rows(place) @ twist.ravel()
        return self._counted(place._replace(points=place.points + twist[:, :3], turns=left @ right, q=q), aim)

    def _counted(self, place: Place, aim: Array) -> Place:
        """The place with displacements of coupled joints, whole turns as near to an ``aim`` as can be."""
        values = []
        for c, near in zip(self.coupled, aim, strict=True):
            first, second = self._turn(place, c.first), self._turn(place, c.second)
            if c.motion == "translation":
                gap = self._point(place, c.second, c.at) - self._point(place, c.first, c.at)
                values.append(first @ c.axis @ gap)
                continue
            if c.motion == "rotation":
                p = _unit(_cross(c.axis, np.eye(3)[np.argmin(np.abs(c.axis))]))
                axis, start, now = first @ c.axis, first @ p, second @ p
            elif c.motion == "first":
                axis, start, now = first @ c.axis, first @ c.other, second @ c.other
            else:
                axis, start, now = second @ c.axis, first @ c.other, second @ c.other
            angle = np.arctan2(_cross(axis, start) @ now, start @ now)
            values.append(angle + 2 * np.pi * np.round((near - angle) / (2 * np.pi)))
        return place._replace(coupled=np.array(values))

    def _coordinates(self, place: Place) -> Array:
        return self._displacements(place, self.drives)

    def _displacements(self, place: Place, drives: list[Drive]) -> Array:
        q = []
        for d in drives:
            first = self._turn(place, d.first)
            if d.turns:
                p = _unit(_cross(d.axis, np.eye(3)[np.argmin(np.abs(d.axis))]))
                n = _cross(d.axis, p)
                turned = first.T @ self._turn(place, d.second) @ p
                q.append(np.arctan2(n @ turned, p @ turned))
            else:
                q.append(first @ d.axis @ (self._point(place, d.second, d.at) - self._point(place, d.first, d.at)))
        return np.array(q)

    def coordinates(self, place: Place) -> Array:
        """Actuated coordinates (n), ratio and offset included."""
        return np.array([d.ratio * s + d.offset for d, s in zip(self.drives, place.q, strict=True)])

    # -- constraints ---------------------------------------------------------------------------------------------------

    def _turn(self, place: Place, body: int) -> Array:
        return np.eye(3) if body < 0 else place.turns[body]

    def _arm(self, place: Place, body: int, at: Array) -> Array:
        return np.zeros(3) if body < 0 else place.turns[body] @ (at - self.starts[body])

    def _point(self, place: Place, body: int, at: Array) -> Array:
        return at if body < 0 else place.points[body] + self._arm(place, body, at)

    @property
    def height(self) -> int:
        """How many constraints there are, couplings last."""
        return len(self.terms) + len(self.couplings)

    def _factors(self) -> Array:
        """Factors of coupled displacements by coupling, made comparable in size to lengths by the robot's."""
        matrix = np.zeros((len(self.couplings), len(self.coupled)))
        for k, c in enumerate(self.coupled):
            matrix[c.coupling, k] = c.factor
        sizes = np.array([self.size if c.motion == "translation" else 1.0 for c in self.coupled])
        return matrix / np.abs(matrix * sizes).max(axis=1, initial=1e-300)[:, None]

    def _coupled_axis(self, place: Place, c: Coupled) -> Array:
        return self._turn(place, c.second if c.motion == "second" else c.first) @ c.axis

    def _coupled_rows(self, place: Place) -> Array:
        """Rates of coupled displacements by all twists, (k, 6 b)."""
        rows = np.zeros((len(self.coupled), self.count, 6))
        for row, c in zip(rows, self.coupled, strict=True):
            if c.motion in ("rotation", "translation"):
                self._axis_row(place, row, c.first, c.second, c.at, c.axis, c.motion == "rotation")
                continue
            axis = self._coupled_axis(place, c)
            self._put(row, c.second, np.zeros(3), axis)
            self._put(row, c.first, np.zeros(3), -axis)
        return rows.reshape(len(self.coupled), 6 * self.count)

    def _coupled_drift(self, place: Place, velocity: Array) -> Array:
        """Second derivatives of coupled displacements without accelerations."""
        values = []
        for c in self.coupled:
            w1, w2 = self._spin(velocity, c.first), self._spin(velocity, c.second)
            a = self._coupled_axis(place, c)
            if c.motion != "translation":
                values.append(_cross(w2 if c.motion == "second" else w1, a) @ (w2 - w1))
                continue
            values.append(self._slide_drift(place, velocity, c.first, c.second, c.at, a))
        return np.array(values)

    def gaps(self, place: Place) -> Array:
        """Values of all constraints."""
        values = []
        for t in self.terms:
            gap = self._point(place, t.second, t.at) - self._point(place, t.first, t.at)
            first, second = self._turn(place, t.first), self._turn(place, t.second)
            values.append({"gap": t.one @ gap, "carried gap": first @ t.one @ gap,
                           "square": (first @ t.one) @ (second @ t.two)}[t.kind])  # fmt: skip
        return np.r_[values, self._factors() @ place.coupled]

    def derivatives(self, place: Place) -> Array:
        """Derivatives of the constraints by all twists, (terms, 6 b)."""
        rows = np.zeros((len(self.terms), self.count, 6))
        for row, t in zip(rows, self.terms, strict=True):
            first, second = self._turn(place, t.first), self._turn(place, t.second)
            d, e = (t.one if t.kind == "gap" else first @ t.one), second @ t.two
            if t.kind == "square":
                # (w1 x d).e + d.(w2 x e)
                self._put(row, t.first, np.zeros(3), _cross(d, e))
                self._put(row, t.second, np.zeros(3), _cross(e, d))
                continue
            self._put(row, t.second, d, _cross(self._arm(place, t.second, t.at), d))
            self._put(row, t.first, -d, -_cross(self._arm(place, t.first, t.at), d))
            if t.kind == "carried gap":
                gap = self._point(place, t.second, t.at) - self._point(place, t.first, t.at)
                self._put(row, t.first, np.zeros(3), _cross(d, gap))
        own = rows.reshape(len(self.terms), -1)
        return np.vstack([own, self._factors() @ self._coupled_rows(place)]) if self.couplings else own

    def drift(self, place: Place, velocity: Array) -> Array:
        """Second derivatives of the constraints without accelerations."""
        values = []
        for t in self.terms:
            w1, w2 = self._spin(velocity, t.first), self._spin(velocity, t.second)
            first, second = self._turn(place, t.first), self._turn(place, t.second)
            d, e = first @ t.one, second @ t.two
            if t.kind == "square":
                turning = _cross(w1, _cross(w1, d)) @ e + d @ _cross(w2, _cross(w2, e))
                values.append(turning + 2 * _cross(w1, d) @ _cross(w2, e))
                continue
            r1, r2 = self._arm(place, t.first, t.at), self._arm(place, t.second, t.at)
            change = _cross(w2, _cross(w2, r2)) - _cross(w1, _cross(w1, r1))
            if t.kind == "gap":
                values.append(t.one @ change)
                continue
            gap = self._point(place, t.second, t.at) - self._point(place, t.first, t.at)
            rate = self._velocity(velocity, place, t.second, t.at) - self._velocity(velocity, place, t.first, t.at)
            values.append(_cross(w1, _cross(w1, d)) @ gap + 2 * _cross(w1, d) @ rate + d @ change)
        return np.r_[values, self._factors() @ self._coupled_drift(place, velocity)]

    def _put(self, row: Array, body: int, linear: Array, angular: Array) -> None:
        if body >= 0:
            row[body, :3] += linear
            row[body, 3:] += angular

    def _spin(self, velocity: Array, body: int) -> Array:
        return np.zeros(3) if body < 0 else velocity[body, 3:]

    def _velocity(self, velocity: Array, place: Place, body: int, at: Array) -> Array:
        if body < 0:
            return np.zeros(3)
        return velocity[body, :3] + _cross(velocity[body, 3:], self._arm(place, body, at))

    def _scaled(self, place: Place, rows: Array) -> Array:
        """Constraints and more rows with lengths by the robot's size, so that singular values can be compared."""
        scale = np.tile(np.r_[np.full(3, self.size), np.ones(3)], self.count)
        lengths = self._lengths()
        return np.vstack([self.derivatives(place) * scale / lengths[:, None], rows * scale])

    def _lengths(self) -> Array:
        return np.r_[[self.size if t.kind != "square" else 1.0 for t in self.terms], np.ones(len(self.couplings))]

    def _solved(self, place: Place, right: Array, chosen: Array) -> tuple[Array, Array]:
        """Velocities (b, 6) of least size with constraint rates ``right`` and chosen components of the platform."""
        scale = np.tile(np.r_[np.full(3, self.size), np.ones(3)], self.count)
        lengths = self._lengths()
        slides = [*(np.abs(self.chosen[:, :3]).sum(axis=1) > 0), *(not one.turns for one in self.internal)]
        units = np.where(slides, self.size, 1.0)
        rows = np.zeros((len(self.chosen), 6 * self.count))
        rows[:, :6] = self.chosen
        rows = np.vstack([rows, self._rates_by_twists(place, self.internal)])
        whole = self._scaled(place, rows)
        whole[self.height :] /= units[:, None]
        wanted = np.r_[right / lengths, chosen / units]
        solution = np.linalg.lstsq(whole, wanted, rcond=RANK)[0]
        rest = whole @ solution - wanted
        return (solution * scale).reshape(self.count, 6), rest

    def dof(self, place: Place) -> Array:
        """All velocities (6 b, k) that the constraints allow."""
        scale = np.tile(np.r_[np.full(3, self.size), np.ones(3)], self.count)
        matrix = self._scaled(place, np.zeros((0, 6 * self.count)))
        _, values, right = np.linalg.svd(matrix)
        rank = int((values > RANK * values[0]).sum())
        return right[rank:].T * scale[:, None]

    def free_twists(self, place: Place) -> Array:
        """Twists (6, m) of the platform that the constraints allow, an orthonormal basis; lengths by the size."""
        free = self.dof(place)[:6] / np.r_[np.full(3, self.size), np.ones(3)][:, None]
        left, values, _ = np.linalg.svd(free)
        return left[:, : int((values > 1e-6).sum())] if free.size else np.zeros((6, 0))

    def held(self, place: Place) -> Array:
        """Singular values of the constraints with the platform held, largest first: 0 for what still moves."""
        matrix = self._scaled(place, np.zeros((0, 6 * self.count)))[:, 6:]
        values = np.linalg.svd(matrix, compute_uv=False)[: matrix.shape[1]]
        return np.pad(values, (0, matrix.shape[1] - len(values)))

    # -- motion --------------------------------------------------------------------------------------------------------

    def velocity(self, place: Place, u: Array) -> Array:
        """Velocities (b, 6) of all bodies for rates of the chosen components."""
        velocity, rest = self._solved(place, np.zeros(self.height), u)
        assert np.abs(rest).max() < 1e-11 * (1 + np.abs(u).max()), "the chosen components cannot move so"
        return velocity

    def acceleration(self, place: Place, velocity: Array, change: Array) -> Array:
        """Accelerations (b, 6) of all bodies for those of the chosen components."""
        drift = self.drift(place, velocity)
        m, still = len(self.chosen), np.zeros((self.count, 6))
        change = np.r_[change[:m], change[m:] - self._seconds(place, velocity, still, self.internal)]
        acceleration, rest = self._solved(place, -drift, change)
        assert np.abs(rest).max() < 1e-11 * (1 + np.abs(change).max() + np.abs(drift).max()), "constraints disagree"
        return acceleration

    def drive_rows(self, place: Place) -> Array:
        """Rates of the actuated coordinates by all twists, (n, 6 b)."""
        return self._rates_by_twists(place, self.drives)

    def _rates_by_twists(self, place: Place, drives: list[Drive]) -> Array:
        rows = np.zeros((len(drives), self.count, 6))
        for row, d in zip(rows, drives, strict=True):
            self._axis_row(place, row, d.first, d.second, d.at, d.axis, d.turns)
            row *= d.ratio
        return rows.reshape(len(drives), 6 * self.count)

    def _axis_row(self, place: Place, row: Array, first: int, second: int, at: Array, axis: Array, turns: bool) -> None:
        a = self._turn(place, first) @ axis
        if turns:
            self._put(row, second, np.zeros(3), a)
            self._put(row, first, np.zeros(3), -a)
            return
        gap = self._point(place, second, at) - self._point(place, first, at)
        self._put(row, second, a, _cross(self._arm(place, second, at), a))
        self._put(row, first, -a, -_cross(self._arm(place, first, at), a) + _cross(a, gap))

    def drive_accelerations(self, place: Place, velocity: Array, acceleration: Array) -> Array:
        """Second derivatives of the actuated coordinates."""
        return self._seconds(place, velocity, acceleration, self.drives)

    def _seconds(self, place: Place, velocity: Array, acceleration: Array, drives: list[Drive]) -> Array:
        values = self._rates_by_twists(place, drives) @ acceleration.ravel()
        for k, d in enumerate(drives):
            w1, w2 = self._spin(velocity, d.first), self._spin(velocity, d.second)
            a = self._turn(place, d.first) @ d.axis
            if d.turns:
                values[k] += d.ratio * _cross(w1, a) @ (w2 - w1)
                continue
            values[k] += d.ratio * self._slide_drift(place, velocity, d.first, d.second, d.at, a)
        return values

    def _slide_drift(self, place: Place, velocity: Array, first: int, second: int, at: Array, a: Array) -> float:
        """Second derivative of a travel along a, which the first body carries, without accelerations."""
        w1, w2 = self._spin(velocity, first), self._spin(velocity, second)
        r1, r2 = self._arm(place, first, at), self._arm(place, second, at)
        gap = self._point(place, second, at) - self._point(place, first, at)
        rate = self._velocity(velocity, place, second, at) - self._velocity(velocity, place, first, at)
        change = _cross(w2, _cross(w2, r2)) - _cross(w1, _cross(w1, r1))
        return float(_cross(w1, _cross(w1, a)) @ gap + 2 * _cross(w1, a) @ rate + a @ change)

    # -- forces --------------------------------------------------------------------------------------------------------

    def inertia(self, place: Place) -> Array:
        """Inertia matrix (6 b, 6 b) of all bodies about their reference points."""
        whole = np.zeros((6 * self.count, 6 * self.count))
        for k in range(self.count):
            whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = self._body(place, k)
        return whole

    def _body(self, place: Place, k: int) -> Array:
        m, r = self.masses[k], self._arm(place, k, self.centres[k])
        tilde = _skew(r)
        tensor = place.turns[k] @ self.tensors[k] @ place.turns[k].T
        return np.block([[m * np.eye(3), -m * tilde], [m * tilde, tensor - m * tilde @ tilde]])

    def demand(self, place: Place, velocity: Array) -> Array:
        """What motion takes without acceleration, gravity included: (6 b)."""
        whole = np.zeros((self.count, 6))
        for k in range(self.count):
            m, r, w = self.masses[k], self._arm(place, k, self.centres[k]), velocity[k, 3:]
            tensor = place.turns[k] @ self.tensors[k] @ place.turns[k].T
            force = m * (_cross(w, _cross(w, r)) - self.gravity)
            whole[k] = np.r_[force, _cross(w, tensor @ w) + _cross(r, force)]
        return whole.ravel()

    def _spin_lines(self) -> dict[int, Array]:
        """Bodies that can turn while the platform stands still, with the line about which they do, at home."""
        if self.count == 1:
            return {}
        place = self.at_home()
        matrix = self._scaled(place, self._rates_by_twists(place, self.internal))[:, 6:]
        _, values, right = np.linalg.svd(matrix)
        found = right[int((values > RANK * values.max(initial=1e-300)).sum()) :].reshape(-1, self.count - 1, 6)
        lines: dict[int, Array] = {}
        for body in range(1, self.count):
            left, sizes, _ = np.linalg.svd(found[:, body - 1, 3:].T)
            if sizes.max(initial=0.0) > 1e-6:
                lines[body] = left[:, 0]
        return lines

    def friction(self, place: Place, velocity: Array) -> Array:
        """What overcomes viscous friction and drag: (6 b)."""
        whole = sum((self._braked(place, velocity, f) for f in self.frictions), np.zeros(6 * self.count))
        return whole + sum((self._lost(place, velocity, one) for one in self.losses), np.zeros(6 * self.count))

    def _lost(self, place: Place, velocity: Array, loss: Loss) -> Array:
        """What overcomes the losses of a coupling but for what its load adds: (6 b)."""
        row = self._coupled_rows(place)[loss.term]
        rate = row @ velocity.ravel()
        return (loss.viscous * rate + loss.drag * np.sign(rate)) * row

    def _braked(self, place: Place, velocity: Array, f: FrictionPair) -> Array:
        """What overcomes the friction of one joint but for what its load adds: (6 b)."""
        whole, rate = self._resisted(place, velocity, f)
        return (f.viscous + (f.drag / rate if f.drag else 0.0)) * whole

    def _resisted(self, place: Place, velocity: Array, f: FrictionPair) -> tuple[Array, float]:
        """What overcomes a resistance of 1 times the rate of a joint, (6 b), and the size of that rate."""
        if f.axis is not None:
            row = np.zeros((self.count, 6))
            self._axis_row(place, row, f.first, f.second, f.at, f.axis, False)
            rate = row.ravel() @ velocity.ravel()
            return rate * row.ravel(), abs(rate)
        body = next((b for b in (f.first, f.second) if b in self.lines), None)
        n = np.zeros(3) if body is None else place.turns[body] @ self.lines[body]
        whole, rates = np.zeros(6 * self.count), []
        for direction in np.eye(3) - np.outer(n, n):
            row = np.zeros((self.count, 6))
            self._put(row, f.second, np.zeros(3), direction)
            self._put(row, f.first, np.zeros(3), -direction)
            rates.append(row.ravel() @ velocity.ravel())
            whole += rates[-1] * row.ravel()
        return whole, float(np.linalg.norm(rates))

    def with_coulomb(self, place: Place, motion: Motion, wrench: Array) -> Engine:
        """The engine whose viscous friction is, at this motion, viscous and Coulomb friction together.

        A joint that turns at w resists with k |F|, F its reaction; a slide with k |N|, N the part of F across it. Both
        are viscous friction k |F|/|w|: reactions and these are found by repeating.
        """
        dry, loads = copy(self), np.zeros(len(self.frictions) + len(self.losses))
        rates = np.abs(self._coupled_rows(place) @ motion.velocity.ravel())
        for _ in range(200):
            dry.frictions = [
                replace(f, viscous=f.viscous + f.coulomb * load / self._resisted(place, motion.velocity, f)[1])
                for f, load in zip(self.frictions, loads, strict=False)
            ]
            dry.losses = [
                replace(f, viscous=f.viscous + f.coulomb * load / rates[f.term])
                for f, load in zip(self.losses, loads[len(self.frictions) :], strict=True)
            ]
            force = dry.inverse_dynamics(place, motion, wrench, friction=True)
            wrenches, fresh = dry.reactions(place, motion, wrench, force, friction=True), []
            for f in self.frictions:
                push = wrenches[f.joint][:3]
                across = 0.0 if f.axis is None else self._turn(place, f.first) @ f.axis
                fresh.append(np.linalg.norm(push - (push @ across) * across if f.axis is not None else push))
            if self.losses:
                sizes = dry._multipliers(place, motion, wrench, force, True)[len(self.terms) :] @ self._factors()
                fresh += [abs(sizes[f.term]) for f in self.losses]
            if np.abs(fresh - loads).max() <= 1e-14 * np.max(fresh):
                return dry
            loads = np.array(fresh)
        raise AssertionError("loads do not repeat")

    def _load(self, place: Place, motion: Motion, wrench: Array, friction: bool) -> Array:
        """What the drives must balance, (6 b), rotors left out."""
        load = self.inertia(place) @ motion.acceleration.ravel() + self.demand(place, motion.velocity)
        load[:6] -= wrench
        load += self.elements.overcoming(place, motion.velocity)
        return load + self.friction(place, motion.velocity) if friction else load

    def inverse_dynamics(
        self, place: Place, motion: Motion, wrench: Array, friction: bool = False, relative: Motion | None = None
    ) -> Array:
        """Forces (n) of the drives, of least norm where there are more than degrees of freedom.

        For every motion N that constraints allow: N^T (load - G^T f) = 0. ``relative`` is the motion against the base
        if that moves: rotors turn with it alone.
        """
        free, rows = self.dof(place), self.drive_rows(place)
        load = free.T @ self._load(place, motion, wrench, friction)
        rotors = np.array([d.rotor for d in self.drives])
        load = load + (rows @ free).T @ (rotors * self.drive_accelerations(place, *(relative or motion)))
        force, *_ = np.linalg.lstsq((rows @ free).T, load, rcond=1e-9)
        rest = (rows @ free).T @ force - load
        assert np.abs(rest).max() < 1e-9 * np.abs(load).max(), "the drives cannot balance this"
        return force

    def reactions(
        self, place: Place, motion: Motion, wrench: Array, force: Array, friction: bool = False
    ) -> dict[tuple[int, str], Array]:
        """Wrench (6) of every joint on the second of its bodies, about its point in that body, with what couplings
        apply in it.

        J^T lambda + G^T f = load; only for robots whose joints hold nothing twice, and no rotors.
        """
        derivatives, rows = self.derivatives(place), self.drive_rows(place)
        multipliers = self._multipliers(place, motion, wrench, force, friction)
        coupled = self._coupled_rows(place), multipliers[len(self.terms) :] @ self._factors()
        found = {}
        for key, joint in self.joints.items():
            push = derivatives[joint.begin : joint.end].T @ multipliers[joint.begin : joint.end]
            if joint.drive is not None:
                push = push + rows[joint.drive] * force[joint.drive]
            for k, c in enumerate(self.coupled):
                if c.key == key:
                    push = push + coupled[0][k] * coupled[1][k]
            for f in self.frictions if friction else ():
                if f.joint == key:
                    push = push - self._braked(place, motion.velocity, f)
            for f in self.losses if friction else ():
                if self.coupled[f.term].key == key:
                    push = push - self._lost(place, motion.velocity, f)
            body = joint.second if joint.second >= 0 else joint.first
            own = push.reshape(self.count, 6)[body] * (1 if joint.second >= 0 else -1)
            arm = self._arm(place, body, joint.at)
            found[key] = np.r_[own[:3], own[3:] - _cross(arm, own[:3])]
        return found

    def _multipliers(self, place: Place, motion: Motion, wrench: Array, force: Array, friction: bool) -> Array:
        rest = self._load(place, motion, wrench, friction) - self.drive_rows(place).T @ force
        return np.linalg.lstsq(self.derivatives(place).T, rest, rcond=1e-10)[0]

    def coupling_forces(
        self, place: Place, motion: Motion, wrench: Array, force: Array, friction: bool = False
    ) -> dict[tuple[int, str], float]:
        """What each coupling applies to its first displacement; in the same cases."""
        multipliers = self._multipliers(place, motion, wrench, force, friction)[len(self.terms) :]
        found: dict[tuple[int, str], float] = {}
        for factors, size, name in zip(self._factors(), multipliers, self.couplings, strict=True):
            found[name] = float(size * factors[np.flatnonzero(factors)[0]])
        return found

    def direct_dynamics(self, place: Place, velocity: Array, force: Array, wrench: Array, friction: bool) -> Array:
        """Acceleration (6) of the platform."""
        drift_acceleration = self.acceleration(place, velocity, np.zeros(self.coordinate_count))
        free, rows = self.dof(place), self.drive_rows(place)
        rotors = np.diag([d.rotor for d in self.drives])
        matrix = free.T @ (self.inertia(place) + rows.T @ rotors @ rows) @ free
        load = self._load(place, Motion(velocity, drift_acceleration), wrench, friction)
        load = load + rows.T @ (rotors @ self.drive_accelerations(place, velocity, drift_acceleration))
        change = np.linalg.solve(matrix, free.T @ (rows.T @ force - load))
        return (drift_acceleration.ravel() + free @ change)[:6]

    def mass_matrix(self, place: Place) -> Array:
        """Mass matrix (m, m) in the rates of the chosen components, rotors included."""
        columns = np.array([self.velocity(place, u).ravel() for u in np.eye(self.coordinate_count)]).T
        rates = self.drive_rows(place) @ columns
        rotors = np.diag([d.rotor for d in self.drives])
        return columns.T @ self.inertia(place) @ columns + rates.T @ rotors @ rates

    def kinetic(self, place: Place, velocity: Array) -> float:
        rates = self.drive_rows(place) @ velocity.ravel()
        rotors = np.array([d.rotor for d in self.drives])
        return float(0.5 * velocity.ravel() @ self.inertia(place) @ velocity.ravel() + 0.5 * rotors @ rates**2)

    def potential(self, place: Place) -> float:
        centres = [place.points[k] + self._arm(place, k, self.centres[k]) for k in range(self.count)]
        return float(-sum(m * self.gravity @ c for m, c in zip(self.masses, centres, strict=True)))


def _tensor(body: dict[str, Any]) -> Array:
    tensor = np.array(body.get("inertia", np.zeros((3, 3))), dtype=float)
    return np.diag(tensor) if tensor.ndim == 1 else tensor


def _unit(vector: Any) -> Array:
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)


def _cross(a: Array, b: Array) -> Array:
    # np.cross takes longer than all the rest of a constraint
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _log(turn: Array) -> Array:
    return Rotation.from_matrix(turn).as_rotvec()
