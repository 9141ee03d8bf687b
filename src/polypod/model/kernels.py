"""The functions of a model by name, built and compiled when first used, shared by all robots of one topology."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Robot
from ..errors import InputError, KernelSizeError, UnknownNameError
from ..fingerprint import fingerprint
from ..formulations import FORMULATIONS, elasticity, newton_euler, steady, virtual_power
from ..formulations.dry_friction import DryFriction, with_loads
from ..friction import Loads, friction_pairs, has_dry_friction, has_friction, loaded_joints
from ..kernels import COMPILING, CacheKey, Expression, Iteration, Kernel, PlainCall
from ..lazy import lazy
from ..mechanism import Mechanism, Simplification, dependent_coordinates, forward_kinematics, joint_motion, kinematics
from ..mechanism.acting_elements import element_states
from ..mechanism.closing import closed
from ..mechanism.verdict import with_verdict
from ..parameters.design import Design, ParameterMap, Place, check_mapping
from ..symbols import expression as symbolic

_PLAIN: dict[str, Callable[[Mechanism], Expression | Iteration]] = {
    "inverse_kinematics": kinematics.inverse_kinematics,
    "jacobian": kinematics.jacobian,
    "sides": kinematics.sides,
    "conditioning": kinematics.conditioning,
    "rates": kinematics.rates,
    "accelerations": kinematics.accelerations,
    "twist": kinematics.twist,
    "acceleration": kinematics.acceleration,
    "bodies": kinematics.bodies,
    "margins": kinematics.margins,
    "limited": kinematics.limited,
    "joint_positions": joint_motion.joint_positions,
    "joint_rates": joint_motion.joint_rates,
    "forward_kinematics": forward_kinematics.forward_kinematics,
    "forward_kinematics_along": forward_kinematics.forward_kinematics_along,
    "motion": dependent_coordinates.motion,
    "coordinates": dependent_coordinates.coordinates,
    "follow": dependent_coordinates.follow,
    "joint_coordinates": dependent_coordinates.joint_coordinates,
    "rate_map": dependent_coordinates.rate_map,
    "mass_matrix": virtual_power.mass,
    "energy": virtual_power.energy,
    "elements": element_states,
    "stiffness": elasticity.stiffness,
}
_WITH_FRICTION = ("base_wrench", "bias", "direct_dynamics", "inverse_dynamics", "reactions", "steady_shape")
_SMALLER = ("virtual-power", "newton-euler")
"""Formulations of few operations."""
FUNCTIONS = (*_PLAIN, *_WITH_FRICTION)
_SOURCES = (
    "symbols",
    "description",
    "legs",
    "elements",
    "parameters",
    "platforms",
    "mobility",
    "mechanism",
    "friction",
    "formulations",
    "model/kernels.py",
)
"""Whose code makes graphs: a change there makes every kernel anew."""
_PACKAGE = __package__.partition(".")[0]
_SHARED: WeakValueDictionary[CacheKey, Kernel] = WeakValueDictionary()


class _Key(NamedTuple):
    """A function of a robot and its choices."""

    name: str
    friction: bool
    formulation: str
    verdict: bool
    moving_base: bool = False
    bounded: bool = False


@dataclass(frozen=True)
class Options:
    """Choices of a model that are not the robot's: what is neglected, how dry friction is treated.

    With ``specialise`` the robot's numbers are constants of its functions, which then are its own.
    """

    simplify: Simplification | None = None
    dry: DryFriction = field(default_factory=DryFriction)
    specialise: bool = False


class Kernels:
    """Compiled functions of one robot, safe in threads."""

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot, self.options = robot, options
        self.mechanism = Mechanism(robot, options.simplify, specialise=options.specialise)
        self.plain = PlainCalls()
        self._known: dict[_Key, Kernel] = {}
        self._custom: dict[str, Kernel] = {}
        self._used: dict[CacheKey, Kernel] = {}  # without numbers: they live as long as one robot that uses them
        self._maps: dict[tuple[str, ...], ParameterMap] = {}
        self._is_free: dict[frozenset[Place], OpenedKernels] = {}
        self._fixed: dict[tuple[str, ...], tuple[list[int], Array, list[Place]]] = {}

    def get(
        self,
        name: str,
        friction: bool = False,
        formulation: str = "virtual-power",
        verdict: bool = False,
        moving_base: bool = False,
        bounded: bool = False,
    ) -> Kernel:
        """The kernel of a function with the robot's numbers; ``friction`` and ``formulation`` where it takes them.

        With ``verdict`` its outputs end with the verdict on each state (``polypod.mechanism.verdict``); with
        ``moving_base`` its inputs end with the motion of the base; with ``bounded`` redundant actuators share their
        work within bounds ``low`` and ``high``, which are inputs.
        """
        key = self._key(name, friction, formulation, verdict, moving_base, bounded)
        if key in self._known:
            return self._known[key]
        with COMPILING:
            if key not in self._known:
                kernel = self._shared(self.mechanism, key)
                self._known[key] = kernel.at(self.mechanism.numbers.values) if kernel.parameters else kernel
            return self._known[key]

    def design(self, parameters: Mapping[str, ArrayLike]) -> Design:
        """Values for other numbers of the robot, by path, checked."""
        if self.options.specialise:
            raise InputError(
                "parameters: the parameters of this model are compiled in (specialise=True); make a model "
                "without that option"
            )
        check_mapping(parameters)
        patterns = tuple(parameters)
        known = self._maps.get(patterns)
        if known is None:
            known = self._maps[patterns] = ParameterMap(self.robot, patterns)
        return known.design(parameters)

    def of_design(self, design: Design) -> OpenedKernels:
        """The functions that take the numbers of a design: made once for the zeros and ones that it replaces."""
        if self.options.specialise:
            raise InputError(
                "parameters: the parameters of this model are compiled in (specialise=True); make a model "
                "without that option"
            )
        columns, own, places = self._constants(design.map)
        different = design.port[:, columns] != own
        key: frozenset[Place] = frozenset()
        if different.any():
            key = frozenset(places[k] for k in np.flatnonzero(different.any(axis=0)).tolist())
        if key not in self._is_free:
            mechanism = self.mechanism
            if key:
                mechanism = Mechanism(self.robot, self.options.simplify, lambda e: (e.path, e.index) in key)
            self._is_free[key] = OpenedKernels(self, mechanism)
        return self._is_free[key]

    def _constants(self, known: ParameterMap) -> tuple[list[int], Array, list[Place]]:
        """The constants of the robot's topology that designs may replace: their places in designs, values and names."""
        if known.patterns not in self._fixed:
            found = [(known.index(e), e) for e in self.mechanism.numbers.constants]
            pairs = [(k, e) for k, e in found if k is not None]
            values = np.array([e.value for _, e in pairs])
            self._fixed[known.patterns] = [k for k, _ in pairs], values, [(e.path, e.index) for _, e in pairs]
        return self._fixed[known.patterns]

    def with_numbers_of(self, mechanism: Mechanism) -> OpenedKernels:
        """The functions that take the numbers which a mechanism of this robot has as inputs."""
        return OpenedKernels(self, mechanism)

    def expression(
        self,
        mechanism: Mechanism,
        name: str,
        friction: bool = False,
        formulation: str = "virtual-power",
        verdict: bool = False,
        moving_base: bool = False,
    ) -> Expression | Iteration:
        """A function of the robot in symbols, not compiled."""
        return self._expression(mechanism, self._key(name, friction, formulation, verdict, moving_base))

    def merged(
        self,
        mechanism: Mechanism,
        names: Sequence[str],
        friction: bool,
        verdict: bool = False,
        others: Sequence[Expression] = (),
    ) -> Expression | Iteration:
        """Several functions of a state, and ``others``, as one, in symbols; outputs are named ``function.output``.

        One of them at most may iterate. With ``verdict`` there is an output ``verdict`` on the inputs.
        """
        friction = friction and has_friction(mechanism)
        keys = [self._key(name, friction, "virtual-power", False) for name in names]
        function = symbolic.merged([*(self._bare(mechanism, key) for key in keys), *others])
        return closed(mechanism, with_verdict(mechanism, function) if verdict else function)

    def _key(
        self,
        name: str,
        friction: bool,
        formulation: str,
        verdict: bool,
        moving_base: bool = False,
        bounded: bool = False,
    ) -> _Key:
        if name not in FUNCTIONS:
            raise UnknownNameError("kernel", name, FUNCTIONS)
        if formulation not in FORMULATIONS:
            raise UnknownNameError("formulation", formulation, tuple(FORMULATIONS))
        if moving_base and formulation not in _SMALLER:
            raise InputError(
                f"base_twist, base_acceleration: the formulation {formulation!r} is of a base that stands still; use "
                f"{' or '.join(_SMALLER)}"
            )
        if self.robot.internal and name == "inverse_dynamics" and formulation not in _SMALLER:
            raise InputError(
                f"formulation: {formulation!r} does not know internal coordinates, which {self.robot.name!r} has; use "
                f"{' or '.join(_SMALLER)}",
                code="internal",
            )
        formulation = formulation if name == "inverse_dynamics" else ""
        if name == "base_wrench" and not self.robot.flexible:
            friction = False  # a force inside the robot
        return _Key(name, bool(friction) and name in _WITH_FRICTION, formulation, verdict, moving_base, bounded)

    def _shared(self, mechanism: Mechanism, key: _Key) -> Kernel:
        """The compiled function, from this process if another robot of the same topology has it."""
        if key.friction and not has_friction(mechanism):
            key = key._replace(friction=False)  # the same function
        try:
            return self.shared(partial(self._expression, mechanism, key), self._cache_key(mechanism, key))
        except KernelSizeError as error:
            others = " and ".join(name for name in _SMALLER if name != key.formulation)
            advice = f"the formulations {others} take fewer than {key.formulation}; " if key.formulation else ""
            raise KernelSizeError(error.name, error.operations, error.limit, advice) from error

    def shared(self, build: Callable[[], Expression | Iteration], cache_key: CacheKey | None) -> Kernel:
        """A function that ``cache_key`` and the module of ``build`` determine, compiled once for all that have it."""
        if cache_key is None:
            return Kernel(build)
        maker = build.func if isinstance(build, partial) else build
        cache_key = cache_key.extended(fingerprint(str(sys.modules[maker.__module__].__file__)))
        with COMPILING:
            kernel = _SHARED.get(cache_key)
            if kernel is None:
                kernel = _SHARED[cache_key] = Kernel(build, cache_key)
            self._used[cache_key] = kernel
            return kernel

    def custom(self, name: str, build: Callable[[], Expression | Iteration]) -> Kernel:
        """A function that is made elsewhere of this robot's symbols, kept by its name, with the robot's numbers."""
        with COMPILING:
            if name not in self._custom:
                kernel = self.shared(build, self.cache_key(name))
                self._custom[name] = kernel.at(self.mechanism.numbers.values) if kernel.parameters else kernel
            return self._custom[name]

    def at(self, rows: Any) -> Kernels:
        """The functions of some rows of states: the same, since all rows have one robot's numbers."""
        return self

    def cache_key(self, what: str, mechanism: Mechanism | None = None, one_robot: bool = False) -> CacheKey | None:
        """All that determines the graph of a function made elsewhere of this robot; None if only the graph tells.

        ``mechanism`` is the robot with other numbers as inputs, if the function is made from that. With ``one_robot``
        the graph depends on the numbers of the robot, not on its topology alone.
        """
        return self._cache_key(mechanism or self.mechanism, _Key(what, True, "", False), one_robot)

    def _cache_key(self, mechanism: Mechanism, key: _Key, one_robot: bool = False) -> CacheKey | None:
        """All that determines a function's graph; None if that is known from the graph itself only.

        Code outside the package cannot be fingerprinted with certainty: it may call anything. Functions that choose by
        the robot's numbers which equations they solve differ between robots of one topology.
        """
        parts = *self.robot.legs, *self.robot.elements
        if any(type(part).__module__.partition(".")[0] != _PACKAGE for part in parts):
            return None
        mobility = mechanism.mobility
        used = None if mobility is None else (mobility.constant, mobility.used)
        choices = repr((tuple(key), self.options, used))
        topology = CacheKey.of(mechanism.numbers.structure, choices, fingerprint(*_SOURCES))
        if one_robot or self.options.specialise or self._chooses(mechanism, key):
            return replace(topology.extended(self._all_numbers), one_robot=True)
        return topology

    @lazy
    def _all_numbers(self) -> str:
        """All that is stated of the robot."""
        return self.robot.model_dump_json(serialize_as_any=True)

    def _chooses(self, mechanism: Mechanism, key: _Key) -> bool:
        if key.formulation == "recursive-matrix":
            return True
        free_bodies = key.name == "reactions" or key.formulation == "newton-euler"
        free_bodies = free_bodies or (key.friction and bool(loaded_joints(mechanism)))
        return free_bodies and not mechanism.platform.elastic and not newton_euler.has_closed_form(mechanism)

    def _expression(self, mechanism: Mechanism, key: _Key) -> Expression | Iteration:
        if key.bounded:
            mechanism = mechanism.with_bounds
        if key.moving_base:
            mechanism = mechanism.on_moving_base
        function = self._bare(mechanism, key)
        if mechanism.base is not None:
            function = replace(function, inputs=(*function.inputs, *mechanism.base.ports))
        return closed(mechanism, with_verdict(mechanism, function) if key.verdict else function)

    def _bare(self, mechanism: Mechanism, key: _Key) -> Expression | Iteration:
        name, friction, formulation, *_ = key
        if name in _PLAIN:
            return _PLAIN[name](mechanism)
        if friction:
            check_rotations(mechanism)
        if name == "steady_shape" and not mechanism.platform.elastic:
            raise InputError(f"steady_shape: {self.robot.name!r} has a rigid platform")
        if name == "steady_shape":
            return steady.steady_shape(mechanism, friction, self.options.dry)
        make = partial(_function, mechanism, name, formulation, friction)
        if not friction or not has_dry_friction(mechanism):
            return make(None)
        if name == "bias":
            if loaded_joints(mechanism):
                raise InputError(
                    "bias: dry friction depends on the reactions, and they on the acceleration; pass friction=False"
                )
            return make(Loads(self.options.dry.law))
        return with_loads(mechanism, self.options.dry, make, direct=name == "direct_dynamics")


class OpenedKernels:
    """Functions without numbers of a robot, that take those of designs, and the robot in their symbols."""

    def __init__(self, kernels: Kernels, mechanism: Mechanism) -> None:
        self.kernels, self.mechanism = kernels, mechanism
        self.plain = PlainCalls()
        self._own: Array = mechanism.numbers.values
        self._known: dict[_Key, Kernel] = {}
        self._columns: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}

    def get(
        self,
        name: str,
        friction: bool = False,
        formulation: str = "virtual-power",
        verdict: bool = False,
        moving_base: bool = False,
        bounded: bool = False,
    ) -> Kernel:
        """The kernel of a function, as ``Kernels.get`` names it."""
        key = self.kernels._key(name, friction, formulation, verdict, moving_base, bounded)
        if key not in self._known:
            self._known[key] = self.kernels._shared(self.mechanism, key)
        return self._known[key]

    def rows(self, design: Design) -> Array:
        """The parameter port (D, k) of every design."""
        if design.map.patterns not in self._columns:
            found = [(k, design.map.index(e)) for k, e in enumerate(self.mechanism.numbers.entries)]
            pairs = [(k, column) for k, column in found if column is not None]
            self._columns[design.map.patterns] = [k for k, _ in pairs], [column for _, column in pairs]
        places, columns = self._columns[design.map.patterns]
        rows = np.empty((design.count, len(self._own)))
        rows[...] = self._own
        rows[:, places] = design.port[:, columns]
        return rows


class RowKernels:
    """Functions of n rows of states, each with its own numbers (n, k) of the parameter port."""

    def __init__(self, kernels: OpenedKernels, numbers: Array) -> None:
        self._kernels, self.numbers = kernels, numbers
        self.mechanism, self.options = kernels.mechanism, kernels.kernels.options

    def get(
        self,
        name: str,
        friction: bool = False,
        formulation: str = "virtual-power",
        verdict: bool = False,
        moving_base: bool = False,
        bounded: bool = False,
    ) -> Kernel:
        """The kernel of a function for the n rows, as ``Kernels.get`` names it."""
        return self._bound(self._kernels.get(name, friction, formulation, verdict, moving_base, bounded))

    def custom(self, name: str, build: Callable[[], Expression | Iteration]) -> Kernel:
        """A function that is made elsewhere of the symbols of ``mechanism``, as ``Kernels.custom``."""
        all_robots = self._kernels.kernels
        return self._bound(all_robots.shared(build, all_robots.cache_key(name, self.mechanism)))

    def at(self, rows: Any) -> RowKernels:
        """The same for some of the rows, chosen as an array's are."""
        return RowKernels(self._kernels, self.numbers[rows])

    def _bound(self, kernel: Kernel) -> Kernel:
        return kernel.at(self.numbers, rows=True) if kernel.parameters else kernel


Functions = Kernels | RowKernels
"""Functions on rows of states: with the numbers of one robot, or with those of each row."""


class PlainCalls(threading.local):
    """The short ways (``polypod.kernels.PlainCall``) into functions, those of one thread, by what is called.

    ``last_design`` is the one called last, if it is one robot by plain values: these, the short ways into its
    functions, and its numbers (k,). A loop calls with the same values state by state.
    """

    def __init__(self) -> None:
        self.known: dict[Any, PlainCall] = {}
        self.last_design: tuple[Mapping[str, Any], dict[Any, PlainCall], Array] | None = None

    def of_last_design(self, given: Any, key: Any) -> tuple[PlainCall | None, Array | None]:
        """The short way into a function with the numbers of the last design, if these values are its own."""
        if self.last_design is None:
            return None, None
        values, known, numbers = self.last_design
        try:
            same = given == values and all(type(value) is type(values[path]) for path, value in given.items())
        except (ValueError, AttributeError):  # arrays, which are not compared as a whole; no mapping
            return None, None
        return (known.get(key), numbers) if same else (None, None)


def function_of(mechanism: Mechanism, name: str, friction: bool, loads: Loads | None) -> Expression:
    """Inverse or direct dynamics in symbols, loads of dry friction among its inputs if there are any."""
    return _function(mechanism, name, "virtual-power", friction, loads)


def _function(mechanism: Mechanism, name: str, formulation: str, friction: bool, loads: Loads | None) -> Expression:
    if name == "bias":
        return virtual_power.bias(mechanism, friction, loads)
    if name == "direct_dynamics":
        return virtual_power.direct_dynamics(mechanism, friction, loads)
    if name == "base_wrench":
        return newton_euler.base_wrench(mechanism, friction, loads)
    if name == "reactions":
        return newton_euler.reactions(mechanism, friction, loads)
    return FORMULATIONS[formulation](mechanism, friction, loads)


def check_rotations(mechanism: Mechanism) -> None:
    """Raise if joints on a flexible platform have friction and nothing is known of how it turns there."""
    if not mechanism.platform.elastic or mechanism.platform.knows_rotations:
        return
    legs = [
        leg.name
        for leg in mechanism.legs
        for pair in friction_pairs(leg)
        if "platform" in (pair.joint.parent, pair.joint.child)
    ]
    if legs:
        raise InputError(
            f"friction: that of the platform's joints ({', '.join(legs)}) needs the rotation shapes at the "
            "attachment points (attachment_rotations, or rotation in a mode file); give them or pass friction=False"
        )
