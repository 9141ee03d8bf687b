"""The numbers of a robot in which actuator forces are linear: moments of bodies, other inertias, friction.

f = Y(motion, loads) T p. The entries of the parameter port that forces are linear in are T p: a number p may stand for
one entry, for the same entry of all legs (``same_legs``), or for a moment of a rod that spins freely between its
joints, of which only what is symmetric about its line counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description import Robot
from ..description.paths import get, spoken
from ..elements import Spring
from ..errors import AS_RIGID, InputError
from ..formulations import derivatives as formulas
from ..formulations.dry_friction import DryFriction, converged_loads, load_jacobian
from ..friction import Loads, has_dry_friction, loaded_joints
from ..kernels import Kernel
from ..lazy import lazy
from ..legs.contract import MOTIONS
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..parameters.linear import is_linear_of_element
from ..parameters.vector import MOMENTS, Parameter
from ..symbols.inertia import SECOND_MOMENTS


def with_preloads(robot: Robot) -> Robot:
    """The same robot with springs by their preload, in which forces are linear, instead of their rest.

    -K (s - rest) = -(preload + K (s - s_home)) with preload = K (s_home - rest).
    """
    elements = [_preloaded(one, robot) if isinstance(one, Spring) else one for one in robot.elements]
    return robot.model_copy(update={"elements": tuple(elements)}) if elements else robot


def _preloaded(spring: Spring, robot: Robot) -> Spring:
    stated = spring.length if spring.length is not None else spring.rest
    if stated is None:
        return spring
    count = len(spring.axes_of(robot.legs))
    home = 0.0 if spring.joint else spring.home_length
    force = _stiffness_matrix(spring, count) @ (home - np.broadcast_to(stated, count))
    preload = float(force[0]) if count == 1 else tuple(force.tolist())
    return spring.model_copy(update={"length": None, "rest": None, "preload": preload})


def rest_of(spring: Spring, robot: Robot, stiffness: Any, preload: Any) -> Array:
    """The rest that belongs to a stiffness and a preload, of the spring's shape in the file: s_home - K^-1 preload."""
    count = len(spring.axes_of(robot.legs))
    home = 0.0 if spring.joint else spring.home_length
    matrix = _stiffness_matrix(spring.model_copy(update={"stiffness": stiffness}), count)
    rest = home - np.linalg.lstsq(matrix, np.broadcast_to(preload, count), rcond=None)[0]
    stated = spring.length if spring.length is not None else spring.rest
    return np.asarray(rest[0] if np.ndim(stated) == 0 else rest)  # type: ignore[arg-type]


def _stiffness_matrix(spring: Spring, count: int) -> Array:
    given = np.array(spring.stiffness, dtype=float)
    return given if given.ndim == 2 else np.diag(np.broadcast_to(given, count))


@dataclass(frozen=True)
class MotionRows:
    """States of a platform as rows: pose (N, 4, 4), twist and acceleration (N, 6), base axes."""

    pose: Array
    twist: Array
    acceleration: Array

    def __len__(self) -> int:
        return len(self.pose)

    def __getitem__(self, rows: Any) -> MotionRows:
        return MotionRows(*(np.ascontiguousarray(a[rows]) for a in (self.pose, self.twist, self.acceleration)))

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Pose, twist, acceleration."""
        return self.pose, self.twist, self.acceleration


class LinearModel:
    """Actuator forces as a linear function of inertial and friction parameters: f = Y p.

    All ten inertial parameters of every body with mass count, also those that are zero in the file; friction and other
    inertias count where the file states them.

    Parameters
    ----------
    model : Model
        Model of the robot.
    same_legs : bool, optional
        Whether all legs share the same parameters.
    friction : bool, optional
        Whether friction in the joints is included.
    open_ : callable, optional
        Says by path which further parameters count.
    """

    def __init__(
        self,
        model: Model,
        *,
        same_legs: bool = False,
        friction: bool = True,
        open_: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.model, self.robot, self.same_legs = model, with_preloads(model.robot), same_legs
        if self.robot.flexible:
            raise InputError(
                f"robot: {self.robot.name!r} has a flexible platform: its forces depend on the deflection and "
                f"rate of every mode, which actuator coordinates do not show; for slow motions {AS_RIGID}",
                code="flexible",
            )
        self._dry: DryFriction = model.kernels.options.dry

        def is_free(entry: Parameter) -> bool:
            if isinstance(entry.index, str):
                return get(self.robot, entry.path).mass > 0
            owner, _, field = entry.path.rpartition(".")
            return open_(entry.path) or (field == "preload" and isinstance(get(self.robot, owner), Spring))

        self.mechanism = Mechanism(self.robot, model.simplify, is_free)
        if self.redundant and self.loaded:
            raise InputError(
                f"robot: {self.robot.name!r} has more actuators than degrees of freedom and friction that depends "
                "on reactions: these depend on the internal forces, which the file does not give; use friction "
                "without load (drag, viscous)"
            )
        entries = self.mechanism.numbers.entries
        self.chosen = [k for k, e in enumerate(entries) if is_linear(e) and (friction or not is_friction(e))]
        self.entries = [entries[k] for k in self.chosen]
        self.numbers, self.to_entries = Naming(self.mechanism, self.entries, same_legs).numbers()
        self._some: dict[tuple[int, ...], Kernel] = {}

    # -- values ------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers for people."""
        return tuple(n.name for n in self.numbers)

    @property
    def values(self) -> Array:
        """The file's values of p (k,)."""
        return np.array([n.value for n in self.numbers])

    def port_values(self, p: Array) -> Array:
        """Values of the parameter port of functions of ``mechanism``.

        Parameters
        ----------
        p : ndarray, shape (k,) or (D, k)
            Parameters.

        Returns
        -------
        ndarray
            All values of the port.
        """
        port = np.broadcast_to(self.mechanism.numbers.values, (*p.shape[:-1], len(self.mechanism.numbers.entries)))
        port = port.copy()
        port[..., self.chosen] = p @ self.to_entries.T
        return port

    # -- functions ---------------------------------------------------------------------------------------------------

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than degrees of freedom: forces then are those of the least norm."""
        return bool(self.mechanism.redundant)

    @lazy
    def loaded(self) -> bool:
        """Whether friction depends on reactions."""
        return bool(loaded_joints(self.mechanism))

    def _kernel(self, chosen: list[int]) -> Kernel:
        mechanism, columns = self.mechanism, self.mechanism.numbers.symbols[chosen]
        dry = has_dry_friction(mechanism)

        def build() -> Any:
            loads = Loads.symbols(mechanism, self._dry.law) if dry else None
            return closed(mechanism, formulas.regressor(mechanism, columns, loads))

        kernel = self.model.kernels.shared(build, self.model.kernels.cache_key(f"regressor {chosen}", mechanism))
        return kernel.at(mechanism.numbers.values)

    def columns(self, motion: MotionRows, loads: Array, which: tuple[int, ...]) -> Array:
        """Some columns of the regressor, by a function of these alone.

        Parameters
        ----------
        motion : MotionRows
            States (N).
        loads : ndarray, shape (N, l)
            Reactions that joint friction depends on [N].
        which : tuple of int
            Columns.

        Returns
        -------
        ndarray, shape (N, n, c)
            The columns; NaN where there is no answer.
        """
        needed, part = self._needed(which)
        key = tuple(self.chosen[k] for k in needed)
        if key not in self._some:
            self._some[key] = self._kernel(list(key))
        matrix, quality = self._some[key](*motion.arrays, *((loads,) if self.loaded else ()))
        if part is not None:
            matrix = matrix @ part
        bad = ~(quality > 0)
        if bad.any():
            matrix[bad] = np.nan
        return np.asarray(matrix)

    @lazy
    def _loads_kernel(self) -> Kernel:
        mechanism = self.mechanism
        cache_key = self.model.kernels.cache_key("converged_loads", mechanism)
        return self.model.kernels.shared(lambda: closed(mechanism, converged_loads(mechanism, self._dry)), cache_key)

    def loads(self, motion: MotionRows, p: Array) -> Array:
        """Reactions that joint friction depends on.

        Parameters
        ----------
        motion : MotionRows
            States (N).
        p : ndarray, shape (k,)
            Parameters.

        Returns
        -------
        ndarray, shape (N, l)
            Reactions [N]; (N, 0) if none is needed.
        """
        if not self.loaded:
            return np.zeros((len(motion), 0))
        outputs = self._loads_kernel.at(self.port_values(p))(*motion.arrays, np.zeros((len(motion), 6)))
        return np.asarray(outputs[0])

    def _derivatives_kernel(self, chosen: list[int]) -> Kernel:
        mechanism, columns = self.mechanism, self.mechanism.numbers.symbols[chosen]
        cache_key = self.model.kernels.cache_key(f"load_jacobian {chosen}", mechanism)
        return self.model.kernels.shared(
            lambda: closed(mechanism, load_jacobian(mechanism, columns, self._dry)), cache_key
        )

    def derivatives(self, motion: MotionRows, p: Array, which: tuple[int, ...] | None = None) -> Array:
        """Derivatives of forces by parameters: df/dp = Y + df/dL (1 - dg/dL)^-1 dg/dp, where loads L = g(L, p).

        Without friction that depends on reactions it is Y.

        Parameters
        ----------
        motion : MotionRows
            States (N).
        p : ndarray, shape (k,)
            Parameters.
        which : tuple of int, optional
            Parameters to differentiate by. Default: all.

        Returns
        -------
        ndarray, shape (N, n, c)
            Derivatives.
        """
        which = tuple(range(len(self.numbers))) if which is None else which
        loads = self.loads(motion, p)
        columns = self.columns(motion, loads, which)
        if not self.loaded:
            return columns
        needed, part = self._needed(which)
        kernel = self._derivatives_kernel([self.chosen[k] for k in needed]).at(self.port_values(p))
        own, by_numbers, force = kernel(*motion.arrays, np.zeros((1, 6)), loads)
        if part is not None:
            by_numbers = by_numbers @ part
        return np.asarray(columns + force @ np.linalg.solve(np.eye(loads.shape[1]) - own, by_numbers))

    def _needed(self, which: tuple[int, ...]) -> tuple[NDArray[np.int64], Array | None]:
        """Entries that numbers stand for, and their part of T; None if that is the unit matrix."""
        needed = np.flatnonzero(np.abs(self.to_entries[:, list(which)]).max(axis=1) > 0)
        part = self.to_entries[needed][:, list(which)]
        same = part.shape[0] == part.shape[1] and np.array_equal(part, np.eye(len(part)))
        return needed, None if same else part

    def regressor(self, motion: MotionRows, loads: Array) -> Array:
        """Regressor Y at states: f = Y p.

        Parameters
        ----------
        motion : MotionRows
            States (N).
        loads : ndarray, shape (N, l)
            Reactions that joint friction depends on [N].

        Returns
        -------
        ndarray, shape (N, n, k)
            Y; NaN where there is no answer.
        """
        return self.columns(motion, loads, tuple(range(len(self.numbers))))

    @lazy
    def _forces_kernel(self) -> Kernel:
        mechanism, kernels = self.mechanism, self.model.kernels
        cache_key = kernels.cache_key("forces of linear numbers", mechanism)
        return kernels.shared(lambda: kernels.expression(mechanism, "inverse_dynamics", True), cache_key)

    def forces(self, motion: MotionRows, p: Array) -> Array:
        """Actuator forces for parameters: inverse dynamics with friction.

        Parameters
        ----------
        motion : MotionRows
            States (N).
        p : ndarray, shape (k,) or (D, k)
            Parameters.

        Returns
        -------
        ndarray, shape (N, n) or (D, N, n)
            Forces [N or N m].
        """
        given = [*motion.arrays, np.zeros((len(motion), 6))]
        if self.redundant:
            # least norm: all actuators alike, no preload
            actuators = len(self.model.actuators)
            given += [np.ones((1, actuators)), np.zeros((1, actuators))]
        return np.asarray(self._forces_kernel.at(self.port_values(p))(*given)[0])


# ----------------------------------------------------------------------------------------------------------------------
# Numbers in which forces are linear, in words: from entries of the parameter port to numbers of one meaning each.

FRICTION = ("viscous", "coulomb", "drag")
_WORDS = {
    "m": "mass",
    **{f"s{a}": f"mass x com {a}" for a in "xyz"},
    **{f"S{a}": f"second moment {a}" for a in ("xx", "yy", "zz", "xy", "xz", "yz")},
    "mA": "equivalent mass at",
    "mAB": "equivalent mass coupling",
    "mB": "equivalent mass at",
    "Sacross": "second moment across",
}
_UNITS = {"m": "kg", "s": "kg m", "S": "kg m^2"}
ROD_MOMENTS = ("mA", "mAB", "mB", "Sacross")


class LinearNumber(NamedTuple):
    """One number p: its path (of a body with ``moment``, or of a field), name in words, unit and value in the file."""

    path: str
    moment: str
    name: str
    unit: str
    value: float

    @property
    def owner(self) -> str:
        """Whose moment it is, in words; nothing for other numbers."""
        return self.name.removesuffix(f" {_WORDS.get(self.moment, '')}") if self.moment in MOMENTS else ""

    @property
    def key(self) -> str:
        """Its path as the regressor names it, ``legs.0.lower.sx``."""
        return f"{self.path}.{self.moment}" if self.moment else self.path


class Naming:
    """Numbers p and T (entries, numbers) of the entries of a robot's parameter port that forces are linear in.

    A number stands for one entry, for a moment of a body of a chain in its joint frame (``joint_frames``), for an
    equivalent mass of a rod that spins freely, or, with ``same_legs``, for the same of every leg.
    """

    def __init__(self, mechanism: Mechanism, entries: list[Parameter], same_legs: bool) -> None:
        self.mechanism, self.robot, self.entries, self.same_legs = mechanism, mechanism.robot, entries, same_legs
        self._joints: dict[str, dict[str, set[str]]] = {}
        self._spinning = spinning_bodies(mechanism)

    def numbers(self) -> tuple[tuple[LinearNumber, ...], Array]:
        """The numbers p and T (entries, numbers)."""
        place = {(e.path, e.index): k for k, e in enumerate(self.entries)}
        copies = rigid_copies(self.robot) if self.same_legs else None
        rods = {path: rod.basis for path, rod in rods_of(self.mechanism).items()}
        local = {path: (MOMENTS, moment_transform(*frame)) for path, frame in joint_frames(self.robot, copies).items()}
        bases = {**local, **{path: (ROD_MOMENTS, basis) for path, basis in rods.items()}}
        numbers: list[LinearNumber] = []
        columns: list[Array] = []
        for path in dict.fromkeys(e.path for e in self.entries):
            own = [e for e in self.entries if e.path == path]
            if path in bases and isinstance(own[0].index, str):
                names, basis = bases[path]
                moments = np.array([next((e.value for e in own if e.index == m), 0.0) for m in MOMENTS])
                values = np.linalg.lstsq(basis, moments, rcond=None)[0]
                for name, column, value in zip(names, basis.T, values, strict=True):
                    numbers.append(self._number(path, name, float(value)))
                    columns.append(self._column(place, path, column))
                continue
            for e in own:
                if _below_diagonal(e):
                    continue
                moment = e.index if isinstance(e.index, str) else ""
                at = path if moment else ".".join([path, *map(str, e.index)])
                numbers.append(self._number(at, moment, e.value))
                column = np.zeros(len(self.entries))
                column[place[e.path, e.index]] = 1.0
                if _is_matrix(e):
                    column[place[e.path, e.index[::-1]]] = 1.0
                columns.append(column)
        to_entries = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
        if not self.same_legs:
            return tuple(numbers), to_entries
        return self._shared(numbers, to_entries)

    def _column(self, place: dict[tuple[str, Any], int], path: str, moments: Array) -> Array:
        column = np.zeros(len(self.entries))
        for name, value in zip(MOMENTS, moments, strict=True):
            if (path, name) in place:
                column[place[path, name]] = value
        return column

    def _number(self, path: str, moment: str, value: float) -> LinearNumber:
        if path.startswith("elements."):
            return self._of_element(path, value)
        owner, _, field = path.rpartition(".")
        where = spoken(self.robot, path if moment else owner, "every leg" if self.same_legs else "")
        if moment:
            words = _WORDS[moment]
            if moment in ("mA", "mB"):
                words += f" {self._spinning[path][1 if moment == 'mA' else 2]}"
            return LinearNumber(path, moment, f"{where} {words}", _UNITS[moment[0]], value)
        plain = field == "coulomb" and ".couplings." in owner  # a part of what the coupling passes on
        unit = "" if plain else _field_unit(self._kinds(owner), field)
        return LinearNumber(path, "", f"{where} {field.replace('_', ' ')}", unit, value)

    def _of_element(self, path: str, value: float) -> LinearNumber:
        """A number of an element: of the axis that it belongs to, if there are several."""
        _, number, field, *index = path.split(".")
        element = self.robot.elements[int(number)]
        axes = element.axes_of(self.robot.legs)
        places = [int(k) for k in index] if len(axes) > 1 else [0]
        along = [axes[k] for k in places] or list(axes)
        slides = {_slides(element, axis) for axis in along}
        units = [_ELEMENT_UNITS[field][slide] for slide in sorted(slides)]
        which = f" {', '.join(dict.fromkeys(along))}" if len(axes) > 1 and index else ""
        which = f" {index[0]}" if field == "force" and index else which
        return LinearNumber(path, "", f"{element.name} {field}{which}", " or ".join(units), value)

    def _kinds(self, owner: str) -> set[str]:
        """Kinds of the joints that a friction or a joint of the file at a path stands for."""
        if ".joints." in owner:
            joint, _, motion = owner.partition(".frictions.")
            return {MOTIONS[motion] if motion else str(get(self.robot, joint.removesuffix(".friction")).kind)}
        if ".couplings." in owner:
            _, leg_number, _, number, _ = owner.split(".")
            chain: Any = self.robot.legs[int(leg_number)]
            couplings = chain.couplings
            before = sum(len(one.relations()) for one in couplings[: int(number)])
            relation = chain.relations[before]
            slides = relation.displacements[relation.input][1] == "translation"
            return {"prismatic" if slides else "revolute"}
        leg = owner.rpartition(".")[0]
        if leg not in self._joints:
            self._joints[leg] = get(self.robot, leg).friction_joints() if leg.startswith("legs.") else {}
        return self._joints[leg].get(owner.rpartition(".")[2], set())

    def _shared(self, numbers: list[LinearNumber], to_entries: Array) -> tuple[tuple[LinearNumber, ...], Array]:
        """One number for the same number of every leg: moments are in frames that turn with the leg."""
        kept: list[LinearNumber] = [n for n in numbers if not n.path.startswith("legs.")]
        columns = [to_entries[:, k] for k, n in enumerate(numbers) if not n.path.startswith("legs.")]
        first = [(k, n) for k, n in enumerate(numbers) if n.path.startswith("legs.0.")]
        by_key = {n.key: k for k, n in enumerate(numbers)}
        for k, n in first:
            column = to_entries[:, k].copy()
            for leg in range(1, len(self.robot.legs)):
                path = f"legs.{leg}.{n.path.split('.', 2)[2]}"
                twin = n._replace(path=path).key
                if twin not in by_key:
                    raise InputError(f"same_legs: {twin} is missing: the legs of {self.robot.name!r} are not identical")
                column = column + to_entries[:, by_key[twin]]
            kept.append(n)
            columns.append(column)
        return tuple(kept), np.stack(columns, axis=1)


def _is_matrix(entry: Parameter) -> bool:
    """Whether a number is one of a symmetric matrix of an element."""
    field = entry.path.rpartition(".")[2]
    return entry.path.startswith("elements.") and field in ("stiffness", "damping") and len(entry.index) == 2


def _below_diagonal(entry: Parameter) -> bool:
    """Whether a number is stated by its twin above the diagonal."""
    return _is_matrix(entry) and entry.index[0] > entry.index[1]  # type: ignore[operator]


def is_friction(entry: Parameter) -> bool:
    """Whether a number is a coefficient of friction."""
    return entry.path.rpartition(".")[2] in FRICTION


def is_linear(entry: Parameter) -> bool:
    """Whether forces are linear in a number of the port: a moment, an inertia of an actuator or cross, friction."""
    if isinstance(entry.index, str):
        return True
    field = entry.path.rpartition(".")[2]
    if entry.path.startswith("elements."):
        return is_linear_of_element(entry)
    return field in FRICTION or field in ("cross_inertia", "rotor", "rotor_mass", "rotor_inertia")


_FIELD_UNITS = {
    "viscous": ("N s/m", "N m s/rad"),
    "coulomb": ("", "m"),
    "drag": ("N", "N m"),
    "rotor": ("kg", "kg m^2"),
}
_ELEMENT_UNITS = {
    "stiffness": ("N m/rad", "N/m"),
    "damping": ("N m s/rad", "N s/m"),
    "preload": ("N m", "N"),
    "force": ("N m", "N"),
}
"""Units of an element's numbers along what turns, and along what slides."""


def _slides(element: Any, axis: str) -> bool:
    """Whether a displacement of an element is a length; x, y and z are those of a bushing, or turns of a ball."""
    return axis in ("length", "translation") or (not element.joint and not axis.startswith("about"))


_OTHER_UNITS = {"cross_inertia": "kg m^2", "rotor_mass": "kg", "rotor_inertia": "kg m^2"}


def _field_unit(kinds: set[str], field: str) -> str:
    """Unit of friction or of an inertia, of joints of these kinds: those that slide or those that turn."""
    if field in _OTHER_UNITS:
        return _OTHER_UNITS[field]
    slides, turns = _FIELD_UNITS[field]
    if kinds <= {"prismatic"}:
        return slides
    return f"{slides or '1'} or {turns}" if kinds & {"prismatic", "cylindrical"} else turns


# ----------------------------------------------------------------------------------------------------------------------
# Moments of bodies as linear functions of fewer numbers: rods that spin freely, legs that are copies of each other.

_ALIKE = 1e-6
Frame = tuple[Array, Array]
"""Axes R (3, 3) and origin t (3,) of a frame: x -> R x + t."""


def ten_moments(mass: float, first: Array, second: Array) -> Array:
    """Ten moments (10,) from m, s (3,) and Sigma (3, 3)."""
    return np.array([mass, *first, *(second[i, j] for i, j in SECOND_MOMENTS)])


def parts_of(moments: Array) -> tuple[Array, Array, Array]:
    """m (...), s (..., 3) and Sigma (..., 3, 3) from ten moments (..., 10)."""
    second = np.zeros((*moments.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(SECOND_MOMENTS):
        second[..., i, j] = second[..., j, i] = moments[..., 4 + k]
    return moments[..., 0], moments[..., 1:4], second


def moment_transform(turn: Array, shift: Array) -> Array:
    """A (10, 10): moments of a body after x -> R x + t, in the same frame.

    m' = m, s' = R s + m t, Sigma' = R Sigma R^T + R s t^T + t (R s)^T + m t t^T.
    """
    columns = []
    for unit in np.eye(10):
        mass, first, second = parts_of(unit)
        s = turn @ first
        across = np.outer(s, shift)
        columns.append(
            ten_moments(
                float(mass),
                s + mass * shift,
                turn @ second @ turn.T + across + across.T + mass * np.outer(shift, shift),
            )
        )
    return np.stack(columns, axis=1)


def spinning_bodies(mechanism: Mechanism) -> dict[str, tuple[int, str, str]]:
    """Bodies that spin freely about the line of two spherical joints: leg and names of the joints, by path."""
    found: dict[str, tuple[int, str, str]] = {}
    for number, placed in enumerate(mechanism.placed):
        leg: Any = mechanism.robot.legs[number]
        for joint in placed.placement.joints:
            if joint.spins_about is None:
                continue
            for body in leg.bodies.keys() & {joint.parent, joint.child}:
                ends = [j for j in placed.placement.joints if body in (j.parent, j.child)]
                if len(ends) == 2 and all(j.spins_about is not None for j in ends):
                    found[f"legs.{number}.bodies.{body}"] = number, ends[0].name, ends[1].name
    return found


def _ends(robot: Any, number: int, *names: str) -> list[Array]:
    """Where joints of a leg are (3,) each."""
    at = {j.name: np.array(j.at) for j in robot.legs[number].joints}
    return [at[name] for name in names]


class Rod(NamedTuple):
    """A body that spins freely between two spherical joints: its length and its moments from four numbers (10, 4)."""

    length: float
    basis: Array


def rod_numbers(length: float) -> Array:
    """C (4, 4): m, m c, second moments along and across a rod's line, about its first joint A, from ``ROD_MOMENTS``.

    The kinetic energy of a thin rod with ends at velocities vA and vB is (mA vA^2 + 2 mAB vA vB + mB vB^2)/2, with
    mB = J/L^2, mAB = m c/L - mB and mA = m - 2 mAB - mB, J the moment of inertia about A: equivalent masses at its
    ends, and their coupling.
    """
    return np.array([[1, 2, 1, 0], [0, length, length, 0], [0, 0, length**2, -1], [0, 0, 0, 1]], dtype=float)


def rods_of(mechanism: Mechanism) -> dict[str, Rod]:
    """Every body that spins freely about the line of its two spherical joints, by path."""
    found: dict[str, Rod] = {}
    for path, place in spinning_bodies(mechanism).items():
        start, end = _ends(mechanism.robot, *place)
        length = float(np.linalg.norm(end - start))
        line = (end - start) / length
        along = np.outer(line, line)
        local = [
            ten_moments(1.0, np.zeros(3), np.zeros((3, 3))),
            ten_moments(0.0, line, np.zeros((3, 3))),
            ten_moments(0.0, np.zeros(3), along),
            ten_moments(0.0, np.zeros(3), np.eye(3) - along),
        ]
        about = moment_transform(np.eye(3), start) @ np.stack(local, axis=1)
        found[path] = Rod(length, about @ rod_numbers(length))
    return found


def moments_between_moved_joints(mechanism: Mechanism, joints: dict[str, Array]) -> dict[str, Array]:
    """Moments (10,) by path of bodies that spin between joints which have moved: they stay on the line of these.

    ``joints`` are the new places by path, ``legs.0.joints.2.at``. A body turns with the line between its joints, and
    its centre of mass stays at the same part of it.
    """
    robot: Any = mechanism.robot
    found = {}
    for path, (number, *names) in spinning_bodies(mechanism).items():
        order = [j.name for j in robot.legs[number].joints]
        old = _ends(robot, number, *names)
        new = [joints.get(f"legs.{number}.joints.{order.index(n)}.at", o) for n, o in zip(names, old, strict=True)]
        if all(np.array_equal(a, b) for a, b in zip(old, new, strict=True)):
            continue
        body: Any = get(robot, path)
        com = np.array(body.com)
        before, after = old[1] - old[0], new[1] - new[0]
        part = float((com - old[0]) @ before / (before @ before))
        turn = Rotation.align_vectors(after[None], before[None])[0].as_matrix()
        moments = ten_moments(body.mass, body.mass * com, np.array(body.second_moment))
        found[path] = moment_transform(turn, new[0] + part * after - turn @ (old[0] + part * before)) @ moments
    return found


def joint_frames(robot: Any, copies: dict[int, Frame] | None = None) -> dict[str, Frame]:
    """The joint frame of every body of legs that are drawn at home (``chain``), by path.

    The origin is the body's first joint, z the axis of that joint, x towards the body's next joint; y completes them.
    Moments about it are what a manual calls moments of a link. Legs that are ``copies`` of the first (rigid motions by
    number) have its frames, moved.
    """
    found: dict[str, Frame] = {}
    for number, leg in enumerate(robot.legs):
        for body in leg.bodies if hasattr(leg, "joints") else ():
            path = f"legs.{number}.bodies.{body}"
            if copies and number in copies:
                turn, origin = found[f"legs.0.bodies.{body}"]
                found[path] = copies[number][0] @ turn, copies[number][0] @ origin + copies[number][1]
            else:
                found[path] = _joint_frame([j for j in leg.joints if body in j.between], body)
    return found


def _joint_frame(joints: list[Any], body: str) -> Frame:
    first = next((j for j in joints if j.between[1] == body), joints[0])
    origin = np.array(first.at, dtype=float)
    axes = first.axes or ((first.axis,) if first.axis is not None else ())
    towards = [np.array(j.at, dtype=float) - origin for j in joints if j is not first]
    other = [np.array(axis, dtype=float) for j in joints if j is not first for axis in (j.axes or ())]
    z = np.array(axes[0], dtype=float) if axes else next((d for d in towards if np.linalg.norm(d) > 0), np.eye(3)[2])
    z = z / np.linalg.norm(z)
    # x by the first direction that is not along z; the last ones always are there
    for direction in (*towards, *other, *np.eye(3)):
        x = direction - z * (z @ direction)
        if np.linalg.norm(x) > _ALIKE * max(float(np.linalg.norm(direction)), 1e-300):
            x = x / np.linalg.norm(x)
            break
    return np.stack([x, np.cross(z, x), z], axis=1), origin


def rigid_copies(robot: Any) -> dict[int, Frame] | None:
    """The rigid motion (R, t) from the first leg to every other; None if bodies have frames that turn with the legs.

    Legs that are drawn at home (``chain``) are turned into each other by their joints.
    """
    legs = robot.legs
    kinds = {leg.kind for leg in legs}
    if len(kinds) > 1:
        raise InputError(f"same_legs: the legs of {robot.name!r} have different kinds: {', '.join(sorted(kinds))}")
    if not hasattr(legs[0], "joints"):
        return None
    first = _marks(legs[0])
    result = {}
    for number, leg in enumerate(legs[1:], 1):
        own = _marks(leg)
        if own.shape != first.shape:
            raise InputError(f"same_legs: {leg.name} has different joints from {legs[0].name}")
        a, b = first - first.mean(axis=0), own - own.mean(axis=0)
        left, _, right = np.linalg.svd(b.T @ a)
        turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
        shift = own.mean(axis=0) - turn @ first.mean(axis=0)
        off = float(np.abs(first @ turn.T + shift - own).max())
        if off > _ALIKE * float(np.abs(own).max()):
            raise InputError(
                f"same_legs: {leg.name} is not a copy of {legs[0].name}, its joints differ by up to {off:.3g} m; "
                "identify the legs one by one"
            )
        result[number] = turn, shift
    return result


def _marks(leg: Any) -> Array:
    """Points of a leg's joints and the ends of their axes (k, 3)."""
    points = []
    for joint in leg.joints:
        at = np.array(joint.at)
        axes = joint.axes or ((joint.axis,) if joint.axis is not None else ())
        points += [at, *(at + np.array(axis) for axis in axes)]
    return np.array(points)
