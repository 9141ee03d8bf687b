"""What every coupling's data share, and the register of coupling kinds.

A coupling is one or more linear relations between displacements of joints from home, sum_k factor_k s_k = 0. A kind
registers itself by subclassing ``Coupling`` with ``kind="..."`` and states its relations; all else follows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

from ..description.quantities import KindData


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
    """

    terms: tuple[Term, ...]
    part: str = ""


class Coupling(KindData, family="coupling"):
    """Joints whose displacements from home belong together: gears, belts, screws.

    Subclass with ``kind="NAME"``, add the data as fields, and state the ``relations``. Numeric fields are symbols where
    functions are derived: use arithmetic only. ``name`` is what results call its reaction; the leg fills it in if
    absent.
    """

    default_kind = "linear"
    name: str = ""

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
