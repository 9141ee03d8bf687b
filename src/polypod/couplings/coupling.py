"""What every coupling's data share, and the register of coupling kinds.

A coupling is one or more linear relations between displacements of joints from home, sum_k factor_k s_k = 0. A kind
registers itself by subclassing ``Coupling`` with ``kind="..."`` and states its relations; all else follows.

What a coupling loses is dry friction by its own reaction, at the input of each relation: with the torque T that it
passes on there, the input needs T (1 + k) to drive and gives T (1 - k) where it is driven, k = 1/efficiency - 1. The
efficiency backwards is then 2 - 1/efficiency, as makers of screws print it: a screw of less than one half locks itself.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, NamedTuple

from pydantic import Field, PrivateAttr, model_validator

from ..description.leg import Friction
from ..description.quantities import KindData, Number
from ..description.units import unit_mismatch


class Term(NamedTuple):
    """A displacement in a relation.

    Attributes
    ----------
    joint : str
        Joint, with ``.rotation`` or the like where it has several displacements.
    factor : float or casadi.SX
        Factor of the displacement.
    motion : str
        ``rotation`` or ``translation`` if the kind needs one of them; empty if it may be any.
    """

    joint: str
    factor: Any
    motion: str = ""


class Relation(NamedTuple):
    """sum of factor times displacement is zero; ``field`` is the one that names the joints.

    Attributes
    ----------
    terms : tuple of Term
        Displacements with their factors; the relation's reaction is conjugate to the first.
    part : str
        What tells it from the other relations of its coupling; empty if it is the only one.
    input : int
        Which of the terms is the side of the motor, where the coupling's friction acts.
    """

    terms: tuple[Term, ...]
    part: str = ""
    input: int = 0


class Coupling(KindData, family="coupling"):
    """Joints whose displacements from home belong together: gears, belts, screws.

    Subclass with ``kind="NAME"``, add the data as fields, and state the ``relations``. Numeric fields are symbols where
    functions are derived: use arithmetic only. ``name`` is what results call its reaction; the leg fills it in if
    absent. ``efficiency`` is that of power from the input, and ``friction`` resists at the input as that of a joint
    does: its ``coulomb`` is a part of the torque or force that the coupling passes on there, 1/efficiency - 1.
    """

    default_kind = "linear"
    name: str = ""
    efficiency: Annotated[Number, Field(gt=0, le=1, json_schema_extra={"unit": "1"})] | None = None
    friction: Friction | None = None
    _written: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _with_units(cls, value: Any, handler: Any) -> Any:
        """Keep the texts of a file until it is known whether the input turns or slides."""
        coupling = handler(value)
        given = value.get("friction") if isinstance(value, dict) else None
        if isinstance(given, dict):
            coupling._written = {f"friction.{name}": text for name, text in given.items()}
        return coupling

    @model_validator(mode="after")
    def _one_loss(self) -> Coupling:
        if self.efficiency is not None and self.friction is not None and self.friction.coulomb != 0.0:
            raise ValueError(
                f"efficiency: {self.efficiency:g} and friction.coulomb {self.friction.coulomb:g} say the same twice "
                "(1/efficiency - 1); give one of them"
            )
        return self

    @property
    def loses(self) -> bool:
        """Whether it takes power by the robot's topology."""
        return self.efficiency is not None or self.friction is not None

    def loss(self) -> Friction:
        """What resists at the input of each relation.

        Returns
        -------
        Friction
            Numbers or symbols: ``coulomb`` times the torque or force that the coupling passes on at the input.
        """
        given = Friction() if self.friction is None else self.friction
        if self.efficiency is None:
            return given
        return Friction.model_construct(**{**dict(given), "coulomb": 1 / self.efficiency - 1})

    def unit_fault(self, slides: bool) -> str:
        """Which text of its friction has the unit of the other kind of motion; empty if none.

        Parameters
        ----------
        slides : bool
            Whether the joint at the input slides.

        Returns
        -------
        str
            The fault.
        """
        if isinstance(self._written.get("friction.coulomb"), str):
            return (
                "friction.coulomb: of a coupling it is a part of what it passes on, a plain number such as 0.1; got "
                f"{self._written['friction.coulomb']!r}"
            )
        return unit_mismatch(self._written, slides)

    @abstractmethod
    def relations(self) -> tuple[Relation, ...]:
        """The relations between its joints.

        Returns
        -------
        tuple of Relation
            Relations, independent of each other.
        """

    def joints_of(self) -> tuple[str, ...]:
        """The joints it couples, each once.

        Returns
        -------
        tuple of str
            Joints as its data name them.
        """
        return tuple(dict.fromkeys(term.joint for relation in self.relations() for term in relation.terms))

    @classmethod
    def joint_fields(cls) -> tuple[str, ...]:
        """Names of the fields that hold joints, or lists of them.

        Returns
        -------
        tuple of str
            Names.
        """
        return tuple(name for name in cls.model_fields if name in _JOINT_FIELDS)


_JOINT_FIELDS = ("joint", "joints", "of", "input", "output", "inputs", "outputs", "turn", "travel")


def parse_coupling(value: Any) -> Coupling:
    """A coupling from its mapping, by its ``kind``; without one it is joints with their factors.

    Parameters
    ----------
    value : mapping or Coupling
        Its data.

    Returns
    -------
    Coupling
        The coupling.
    """
    return Coupling.parse(
        value,
        "a mapping: joints with their factors, such as {leg1.nut: 1, leg1.screw: -1256.6}, or one with a 'kind'",
    )
