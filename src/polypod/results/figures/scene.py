"""A robot on paper: base, rails, legs as round bars with their names, platform, axes, a scale in mm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...description.shapes import hull_in_plane
from ...drawing import COLOURS, PosedRobot, Shape, posed
from ...drawing.shapes import plate_normal
from ...errors import InputError
from ...model import Model
from ...model.arguments import Argument, PoseLike, batch, exact_poses
from .style import INK, add_name, add_polygons, figure
from .view import View, best_view, points_down

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PATH_STYLE: dict[str, Any] = {"color": "#B00020", "linewidth": 1.0}
AXIS_COLOURS = ("#C0392B", "#2E7D32", "#1F5FA8")
STEEL, PLATE, GROUND, RAIL, PISTON, LOAD = "#5B6670", "#7FB2D9", "#A8A8A8", "#B8B8B8", "#C9CED3", "#E0B060"
_PAD = 0.08  # inch
_TRIAD = 0.18  # length of the axes, of the robot
_LETTER = 1.18 * _TRIAD  # where their letters are


def robot_picture(
    robot: Robot | Model, pose: PoseLike | None = None, title: str | None = None, size: float = 5.2
) -> Figure:
    """The robot at a pose, without white margins.

    Parameters
    ----------
    robot : Robot or Model
        The robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.
    title : str, optional
        Title. Default: the robot's name.
    size : float, optional
        Largest width and height [in].

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    robot = robot.robot if isinstance(robot, Model) else robot
    poses = robot.home.matrix[None] if pose is None else _checked(pose)
    drawn = posed(robot, poses)
    view = best_view(robot, drawn)
    head = " ".join(text for text in (robot.name if title is None else title, note(robot)) if text)
    low, high = extent(robot, drawn, poses, view)
    wide, tall = high - low
    room = 0.3 if head else 0.0
    scale = min((size - 2 * _PAD) / wide, (size - 2 * _PAD - room) / tall)
    fig = figure(scale * wide + 2 * _PAD, scale * tall + 2 * _PAD + room, fitted=False)
    width, height = scale * wide + 2 * _PAD, scale * tall + 2 * _PAD + room
    axes = fig.add_axes((_PAD / width, _PAD / height, scale * wide / width, scale * tall / height))
    draw(axes, robot, drawn, 0, poses[0], view)
    frame(axes, low, high)
    fig.text(0.02, 1.0 - _PAD / height, head, va="top", fontsize=10, color=INK)
    return fig


def _checked(pose: PoseLike) -> Array:
    """One pose as (1, 4, 4)."""
    found = batch([Argument("pose", pose, (4, 4))])
    if found.shape:
        raise InputError(f"pose: one matrix (4, 4) is needed, got shape {(*found.shape, 4, 4)}")
    return exact_poses(found.rows[0], "pose", False)


def note(robot: Robot) -> str:
    """What must be said of the base frame."""
    return "(z points down)" if points_down(robot) else ""


def extent(
    robot: Robot, drawn: PosedRobot, poses: Array, view: View, path: Array | None = None, bare: bool = False
) -> tuple[Array, Array]:
    """Corners (2) on paper of the robot at all poses with its axes and, unless ``bare``, its names and scale."""
    corners = []
    for k in range(len(poses)):
        corners += [*solids(drawn, k, view).box]
    if path is not None:
        corners += [*view.project(path)]
    size = drawn.size
    for name, point in [] if bare else _names(robot, drawn, view):
        half = size * np.array([0.016 * len(name), 0.025])  # of a name in a small picture
        corners += [point - half, point + half]
    triad = view.project(0.2 * size * np.eye(3))
    low, high = np.min([*corners, *triad], axis=0), np.max([*corners, *triad], axis=0)
    return low - size * np.array([0.05, 0.05 if bare else 0.15]), high + size * np.array([0.05, 0.03])


def frame(axes: Any, low: Array, high: Array, scale: bool = True) -> None:
    """Equal scales, no box, and, unless a picture beside it has one, a bar that says how long something is."""
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_axis_off()
    if not scale:
        return
    length = _step(0.6 * float((high - low)[0]))
    y = low[1] + 0.02 * (high - low)[1]
    x = high[0] - 0.02 * (high - low)[0]
    axes.plot([x - length, x], [y, y], color=INK, linewidth=2.0, solid_capstyle="butt")
    axes.annotate(f"{1e3 * length:g} mm", (x - 0.5 * length, y), (0, 2.5), textcoords="offset points", ha="center",
                  va="bottom", fontsize=7, color=INK)  # fmt: skip


def draw(
    axes: Any, robot: Robot, drawn: PosedRobot, k: int, pose: Array, view: View, path: Array | None = None,
    names: bool = True, letters: float = 7.5,
) -> None:  # fmt: skip
    """The robot at its pose k, which is ``pose`` (4, 4), and the path (n, 3) of its platform's origin."""
    add_polygons(axes, *solids(drawn, k, view).parts())
    if path is not None:
        axes.plot(*view.project(path).T, zorder=3, **PATH_STYLE)
    size = drawn.size
    _triad(axes, view, np.zeros(3), np.eye(3), _TRIAD * size)
    _centre_of_mass(axes, view.project(pose[:3, :3] @ np.array(robot.platform.com) + pose[:3, 3]))
    if names:
        for name, place in _names(robot, drawn, view):
            add_name(axes, place, name, ha="center", va="center", fontsize=letters, color=INK, zorder=20)


def solids(drawn: PosedRobot, k: int, view: View) -> Solids:
    """The polygons of pose k."""
    on_paper, size = Solids(view), drawn.size
    placed = list(drawn.placed(k))
    tubes = {shape.leg: float(view.depth(points).mean()) for shape, points in placed if shape.role == "tube"}
    for shape, points in placed:
        colour, alpha = _paint(shape)
        if shape.kind == "sphere":
            on_paper.ball(points[0], shape.radius, colour)
        elif shape.kind == "capsule":
            # what slides in a tube is hidden by it
            hidden = tubes.get(shape.leg, np.inf) - 1e-6 * size if shape.role == "rod" else np.inf
            on_paper.bar(points[0], points[1], shape.radius, colour, not shape.flat, hidden)
        else:
            # a base that is looked at from above is behind all that stands on it
            behind = shape.role == "base" and abs(float(view.towards @ plate_normal(points))) > 0.05
            depth = float(view.depth(drawn.joints[k]).min()) - size if behind else None
            on_paper.plate(points, shape.radius, colour, alpha, depth)
    return on_paper


def _paint(shape: Shape) -> tuple[str, float]:
    """Colour and opacity of a shape: a leg has its own, what stands still is grey."""
    own = {"joint": STEEL, "rail": RAIL, "rod": PISTON, "base": GROUND, "platform": PLATE, "payload": LOAD}
    if shape.role in ("link", "tube", "carriage"):
        return COLOURS[shape.leg % len(COLOURS)], 1.0
    return own[shape.role], {"base": 0.35, "platform": 0.75, "payload": 0.5}.get(shape.role, 1.0)


def _names(robot: Robot, drawn: PosedRobot, view: View) -> list[tuple[str, Array]]:
    """Name of every leg and its place on paper: beside where the leg starts, away from the others' middle."""
    roots = np.stack([_root(drawn, number) for number in range(len(robot.legs))])
    flat, size = view.project(roots), drawn.size
    middle = flat.mean(axis=0)
    away = flat - middle
    far = np.linalg.norm(away, axis=1)
    turns = 2 * np.pi * np.arange(len(flat)) / len(flat)
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    ways = np.where(far[:, None] > 0.05 * size, away / np.maximum(far, 1e-12)[:, None], around)
    places = flat + 0.075 * size * ways
    room = np.array([0.11, 0.05]) * size
    letters = list(view.project(_LETTER * size * np.eye(3)))
    for k in range(len(places)):  # names go apart from axes' letters, and from neighbours that are behind each other
        for other in [*letters, *places[:k].copy()]:
            gap = places[k] - other
            if (np.abs(gap) < room).all():
                places[k, 1] += (room[1] - abs(gap[1])) * (1.0 if gap[1] >= 0 else -1.0)
    return [(leg.name, place) for leg, place in zip(robot.legs, places, strict=True)]


def _root(drawn: PosedRobot, number: int) -> Array:
    rail = next((ends for leg, ends in drawn.rails() if leg == number), None)
    if rail is None:
        return drawn.roots[0, number]
    middle = drawn.platform.mean(axis=(0, 1))
    end: Array = max(rail, key=lambda point: float(np.linalg.norm(point - middle)))
    return end


def _triad(axes: Any, view: View, origin: Array, directions: Array, length: float) -> None:
    """Axes of a frame, named, those that point at the reader left out."""
    for name, direction, colour in zip("xyz", directions.T, AXIS_COLOURS, strict=True):
        start, end = view.project(np.stack([origin, origin + length * direction]))
        if np.linalg.norm(end - start) < 0.15 * length:
            continue
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0,
                                                  "shrinkB": 0, "mutation_scale": 7}, zorder=6)  # fmt: skip
        axes.text(*(start + _LETTER / _TRIAD * (end - start)), name, fontsize=7, color=colour, ha="center", va="center",
                  zorder=6)  # fmt: skip


def _centre_of_mass(axes: Any, place: Array) -> None:
    axes.plot(*place[:, None], marker="o", markersize=6, markerfacecolor="white", markeredgecolor=INK, zorder=8)
    axes.plot(*place[:, None], marker="+", markersize=6, color=INK, markeredgewidth=1.0, zorder=9)


def _step(length: float) -> float:
    """1, 2 or 5 times a power of ten, a fifth to a half of a length."""
    power = 10.0 ** np.floor(np.log10(length / 2))
    return float(max(f * power for f in (1.0, 2.0, 5.0) if f * power <= length / 2))


# ----------------------------------------------------------------------------------------------------------------------
# Solids on paper: cylinders, balls and plates as shaded polygons, those farther away first.

# Strips of a round bar across its width, from one edge (-1) to the other (1), and how light each is (0 black, 1 its
# colour, 2 white): light falls from the upper left.
_STRIPS = ((-1.0, -0.55, 0.62), (-0.55, 0.0, 0.86), (0.0, 0.45, 1.18), (0.45, 0.75, 1.42), (0.75, 1.0, 1.0))
_BALL = np.stack([np.cos(np.linspace(0, 2 * np.pi, 17)[:-1]), np.sin(np.linspace(0, 2 * np.pi, 17)[:-1])], axis=1)


class Solids:
    """Polygons of one view, collected and then drawn as one artist; sizes in the unit of the points [m]."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._polygons: list[tuple[float, Array, tuple[float, ...], float]] = []

    def polygon(
        self, points: Array, colour: str, alpha: float = 1.0, light: float = 1.0, depth: float | None = None
    ) -> None:
        """A flat face (m, 3) with a thin edge."""
        near = float(self.view.depth(points).mean()) if depth is None else depth
        self._polygons.append((near, self.view.project(points), (*_tone(colour, light), alpha), 0.6))

    def bar(
        self, start: Array, end: Array, radius: float, colour: str, round_ends: bool = True, most: float = np.inf
    ) -> None:
        """A round bar from start to end (3), with round ends or flat ones, at most as near as ``most``."""
        a, b = self.view.project(np.stack([start, end]))
        along = b - a
        length = float(np.linalg.norm(along))
        depth = min(float(self.view.depth(0.5 * (start + end))), most)
        if length < 1e-3 * radius:  # seen from its end
            self.ball(0.5 * (start + end), radius, colour)
            return
        across = np.array([-along[1], along[0]]) / length * radius
        if across @ [-0.5, 1.0] < 0:
            across = -across
        for at, middle in ((start, a), (end, b)) if round_ends else ():
            near = float(self.view.depth(at)) if abs(float(self.view.depth(at)) - depth) < radius else depth
            self._polygons.append((near - 1e-9, middle + radius * _BALL, (*_tone(colour, 0.86), 1.0), 0.0))
        for low, high, light in _STRIPS:
            strip = np.array([a + low * across, b + low * across, b + high * across, a + high * across])
            self._polygons.append((depth, strip, (*_tone(colour, light), 1.0), 0.0))

    def ball(self, centre: Array, radius: float, colour: str) -> None:
        """A round joint, before what it joins."""
        disc = self.view.project(centre) + radius * _BALL
        shine = self.view.project(centre) + radius * np.array([-0.3, 0.35]) + 0.35 * radius * _BALL
        depth = float(self.view.depth(centre)) + radius
        self._polygons.append((depth, disc, (*_tone(colour, 0.8), 1.0), 0.4))
        self._polygons.append((depth + 1e-9, shine, (*_tone(colour, 1.5), 1.0), 0.0))

    def plate(self, ring: Array, radius: float, colour: str, alpha: float, depth: float | None = None) -> None:
        """A plate (m, 3), its corners in order, grown by ``radius``: its outline on paper, and its face above it."""
        normal = plate_normal(ring)
        normal = normal if normal @ self.view.towards > 0 else -normal
        flat = (self.view.project(ring)[:, None] + radius * _BALL).reshape(-1, 2)
        near = float(self.view.depth(ring).mean()) if depth is None else depth
        face = (*_tone(colour, 0.75), alpha)
        self._polygons.append((near - 1e-9, flat[hull_in_plane(flat)], face, 0.6))
        if abs(float(normal @ self.view.towards)) > 0.02:
            self._polygons.append((near, self.view.project(ring + radius * normal), (*_tone(colour, 1.1), alpha), 0.3))

    def parts(self) -> tuple[list[Array], Array, Array, list[float]]:
        """Corners (m, 2) of all polygons, the nearest last; colours (n, 4) of faces and edges; widths of the edges."""
        ordered = sorted(self._polygons, key=lambda polygon: polygon[0])
        faces = np.array([face for _, _, face, _ in ordered])
        widths = [width for _, _, _, width in ordered]
        edges = np.where(
            np.array(widths)[:, None] > 0, [0.13, 0.13, 0.13, 0.7], np.append(faces[:, :3], 0 * faces[:, 3:], 1)
        )
        return [polygon for _, polygon, _, _ in ordered], faces, edges, widths

    @property
    def box(self) -> tuple[Array, Array]:
        """Lower left and upper right corner of all polygons on paper (2)."""
        points = np.concatenate([polygon for _, polygon, _, _ in self._polygons])
        return points.min(axis=0), points.max(axis=0)


def _tone(colour: str, light: float) -> tuple[float, float, float]:
    """A colour, darker below 1 and towards white above it."""
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    r, g, b = rgb * light if light <= 1 else rgb + (1 - rgb) * min(light - 1.0, 1.0)
    return float(r), float(g), float(b)
