"""Springs and other elements for the engine of constraints, in plain NumPy, written from the file format alone.

Every element has displacements s and rows B with sdot = B v, v all twists; it applies f(s, sdot) along them, so what
overcomes it is -B^T f. Rotation vectors have B from the matrix exponential.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]


class EngineElements:
    """All elements of a robot's data, passive joints with a stiffness among them."""

    def __init__(self, engine: Any, robot: dict[str, Any], bodies: list[dict[str, int]]) -> None:
        self._engine, self._bodies = engine, bodies
        self._legs = [leg.get("name", f"leg{k}") for k, leg in enumerate(robot["legs"], 1)]
        self._joints = [{joint["name"]: joint for joint in leg["joints"]} for leg in robot["legs"]]
        self.data = list(robot.get("elements", ()))
        for name, joints in zip(self._legs, self._joints, strict=True):
            for joint in joints.values():
                if "stiffness" in joint and not joint.get("actuated"):
                    where = f"{name}.{joint['name']}"
                    self.data.append({"kind": "spring", "name": where, "joint": where, "stiffness": joint["stiffness"]})

    def _body(self, name: str) -> int:
        if name in ("base", "platform"):
            return -1 if name == "base" else 0
        leg = next(k for k, own in enumerate(self._legs) if name.startswith(f"{own}."))
        return self._bodies[leg][name[len(self._legs[leg]) + 1 :]]

    def measured(self, place: Any, element: dict[str, Any]) -> tuple[Array, Array, Array]:
        """Displacements (k), rows (k, 6 b) of their rates, and rows along which forces act."""
        engine = self._engine
        if "joint" in element:
            return self._in_joint(place, element)
        first, second = (self._body(name) for name in element["between"])
        if element["kind"] == "bushing":
            return self._bushing(place, element, first, second)
        at = [np.array(point, dtype=float) for point in element["at"]]
        x1, x2 = engine._point(place, first, at[0]), engine._point(place, second, at[1])
        row = np.zeros((engine.count, 6))
        if "direction" in element:
            along = engine._turn(place, first) @ np.array(element["direction"])
            engine._put(row, second, along, np.cross(engine._arm(place, second, at[1]), along))
            arm = engine._arm(place, first, at[0]) + x2 - x1 if first >= 0 else np.zeros(3)
            engine._put(row, first, -along, -np.cross(arm, along))
            rows = row.reshape(1, -1)
            return np.array([along @ (x2 - x1)]), rows, rows
        along = (x2 - x1) / np.linalg.norm(x2 - x1)
        engine._put(row, second, along, np.cross(engine._arm(place, second, at[1]), along))
        engine._put(row, first, -along, -np.cross(engine._arm(place, first, at[0]), along))
        return np.array([np.linalg.norm(x2 - x1)]), row.reshape(1, -1), row.reshape(1, -1)

    def _turns(self, place: Any, first: int, second: int) -> tuple[Array, Array, Array]:
        """Rotation vector in the first body's axes, rows of omega there, and rows of the rotation vector's rate."""
        engine = self._engine
        f, s = engine._turn(place, first), engine._turn(place, second)
        r = Rotation.from_matrix(f.T @ s).as_rotvec()
        rows = np.zeros((3, engine.count, 6))
        for row, axis in zip(rows, f.T, strict=True):
            engine._put(row, second, np.zeros(3), axis)
            engine._put(row, first, np.zeros(3), -axis)
        spin = rows.reshape(3, -1)
        tilde = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        # the integral of exp(t r~) over t from 0 to 1 takes rdot to omega
        left = expm(np.block([[tilde, np.eye(3)], [np.zeros((3, 6))]]))[:3, 3:]
        return r, spin, np.linalg.solve(left, spin)

    def _bushing(self, place: Any, element: dict[str, Any], first: int, second: int) -> tuple[Array, Array, Array]:
        engine, at = self._engine, np.array(element["at"], dtype=float)
        axes = np.array(element.get("axes", np.eye(3)))
        f = engine._turn(place, first) @ axes
        x1, x2 = engine._point(place, first, at), engine._point(place, second, at)
        rows = np.zeros((3, engine.count, 6))
        arm = engine._arm(place, first, at) + x2 - x1 if first >= 0 else np.zeros(3)
        for row, axis in zip(rows, f.T, strict=True):
            engine._put(row, second, axis, np.cross(engine._arm(place, second, at), axis))
            engine._put(row, first, -axis, -np.cross(arm, axis))
        r, spin, change = self._turns(place, first, second)
        moved = rows.reshape(3, -1)
        s = np.r_[f.T @ (x2 - x1), axes.T @ r]
        return s, np.vstack([moved, axes.T @ spin]), np.vstack([moved, axes.T @ change])

    def _in_joint(self, place: Any, element: dict[str, Any]) -> tuple[Array, Array, Array]:
        engine = self._engine
        leg = next(k for k, own in enumerate(self._legs) if element["joint"].startswith(f"{own}."))
        joint = self._joints[leg][element["joint"][len(self._legs[leg]) + 1 :]]
        first, second = (self._bodies[leg][name] for name in joint["between"])
        at, kind = np.array(joint.get("at", np.zeros(3)), dtype=float), joint["kind"]
        f, s = engine._turn(place, first), engine._turn(place, second)
        if kind == "spherical":
            body = next((b for b in (first, second) if b in engine.lines), None)
            r, spin, change = self._turns(place, first, second)
            if body is None:
                return r, spin, change
            start = engine.lines[body]
            a, b = f @ start, s @ start
            sine = np.cross(a, b)
            size = np.linalg.norm(sine)
            r = f.T @ sine * (np.arctan2(size, a @ b) / size if size > 1e-12 else 1.0)
            n = f.T @ place.turns[body] @ start
            across = (np.eye(3) - np.outer(n, n)) @ spin
            return r, across, across
        if kind == "universal":
            one, two = (np.array(axis) / np.linalg.norm(axis) for axis in joint["axes"])
            two = two - (one @ two) * one
            two = two / np.linalg.norm(two)
            turn = f.T @ s  # Rot(one, first) Rot(two, second)
            normal = np.cross(one, two)
            angle = np.arctan2(turn[:, :] @ two @ normal, turn @ two @ two)
            rest = Rotation.from_rotvec(-angle * one).as_matrix() @ turn
            other = two @ Rotation.from_matrix(rest).as_rotvec()
            rows = np.zeros((2, engine.count, 6))
            for row, axis in zip(rows, (f @ one, s @ two), strict=True):
                engine._put(row, second, np.zeros(3), axis)
                engine._put(row, first, np.zeros(3), -axis)
            rows = rows.reshape(2, -1)
            return np.array([angle, other]), rows, rows
        axis = np.array(joint["axis"]) / np.linalg.norm(joint["axis"])
        values, rows = [], []
        for turns in {"revolute": (True,), "prismatic": (False,), "cylindrical": (True, False)}[kind]:
            row = np.zeros((engine.count, 6))
            engine._axis_row(place, row, first, second, at, axis, turns)
            rows.append(row.ravel())
            if turns:
                values.append(axis @ Rotation.from_matrix(f.T @ s).as_rotvec())
            else:
                values.append(f @ axis @ (engine._point(place, second, at) - engine._point(place, first, at)))
        return np.array(values), np.array(rows), np.array(rows)

    # -- laws ----------------------------------------------------------------------------------------------------------

    def _stretch(self, element: dict[str, Any], s: Array) -> Array:
        home = np.zeros(len(s))
        if "between" in element and element["kind"] != "bushing":
            home = np.array([np.linalg.norm(np.subtract(*element["at"]))])
        rest = element.get("length", element.get("rest"))
        return np.asarray(s - (home if rest is None else rest))

    def static(self, element: dict[str, Any], s: Array) -> tuple[Array, float]:
        """Force (k) at rest and potential."""
        kind = element["kind"]
        if kind in ("spring", "bushing"):
            k, x = _matrix(element["stiffness"], len(s)), self._stretch(element, s)
            preload = np.broadcast_to(element.get("preload", 0.0), s.shape)
            return -k @ x - preload, float(0.5 * x @ k @ x + preload @ x)
        if kind == "gas spring":
            points = np.array(element["force"])
            return np.array([element.get("temperature_factor", 1.0) * _line(points, s[0])]), np.nan
        if kind == "constant force":
            return np.array([element["force"]]), -element["force"] * s[0]
        if kind == "stop":
            low, high = np.reshape(element["range"], (-1, 2)).T
            beyond = np.maximum(s - high, 0.0) + np.minimum(s - low, 0.0)
            return -np.array(element["stiffness"]) * beyond, float(0.5 * (element["stiffness"] * beyond**2).sum())
        return np.zeros(len(s)), 0.0

    def damped(self, element: dict[str, Any], s: Array, rate: Array) -> Array:
        """Force (k) by the rates."""
        kind = element["kind"]
        if kind == "damper" and "force" in element:
            points = np.array(element["force"])
            return -np.sign(rate) * _line(points, abs(rate[0]))
        if kind == "stop":
            push = self.static(element, s)[0]
            side = -np.sign(push)
            full = np.minimum(abs(push) / np.array(element["stiffness"]) / element.get("ramp", 1e-4), 1.0)
            return side * np.minimum(-side * rate * np.array(element.get("damping", 0.0)) * full, abs(push))
        return -_matrix(element.get("damping", 0.0), len(s)) @ rate

    def overcoming(self, place: Any, velocity: Array) -> Array:
        """What overcomes all of them (6 b)."""
        whole = np.zeros(6 * self._engine.count)
        for element in self.data:
            s, rows, conjugate = self.measured(place, element)
            whole -= conjugate.T @ self.static(element, s)[0]
            whole -= rows.T @ self.damped(element, s, rows @ velocity.ravel())
        return whole


def _line(points: Array, x: float) -> float:
    """Straight lines between points, and on beyond the ends."""
    k = int(np.clip(np.searchsorted(points[:, 0], x) - 1, 0, len(points) - 2))
    (x0, y0), (x1, y1) = points[k], points[k + 1]
    return float(y0 + (y1 - y0) * (x - x0) / (x1 - x0))


def _matrix(value: Any, count: int) -> Array:
    given = np.array(value, dtype=float)
    return given * np.eye(count) if given.ndim == 0 else np.diag(given) if given.ndim == 1 else given
