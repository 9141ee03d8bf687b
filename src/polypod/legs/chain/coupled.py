"""Couplings of a chain in its joints' numbers: relations that are resolved by one displacement, or close with loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...couplings import Coupling
from ...errors import InputError, UnknownNameError
from .data import ChainJoint, joint_coordinate

Displacement = tuple[int, str]
"""A joint's number and which of its motions."""
_SAME = 1e-9


class CoupledTerm(NamedTuple):
    """A displacement of a relation with its factor."""

    displacement: Displacement
    factor: Any


@dataclass(frozen=True)
class ChainRelation:
    """sum of factor times displacement is zero; ``name`` is that of its reaction.

    ``loss`` is what resists at the displacement of the term ``input``, if anything does.
    """

    name: str
    terms: tuple[CoupledTerm, ...]
    input: int = 0
    loss: Any = None

    @property
    def displacements(self) -> tuple[Displacement, ...]:
        """What it couples."""
        return tuple(term.displacement for term in self.terms)

    def factor(self, displacement: Displacement) -> Any:
        """The factor of a displacement."""
        return next(term.factor for term in self.terms if term.displacement == displacement)


def relations_of(couplings: Sequence[Coupling], joints: tuple[ChainJoint, ...]) -> tuple[ChainRelation, ...]:
    """The relations of a chain; ``InputError`` with the coupling at fault where they cannot be."""
    found: list[ChainRelation] = []
    for number, coupling in enumerate(couplings):
        own = coupling.name or f"coupling{number + 1}"
        for relation in coupling.relations():
            name = f"{own} {relation.part}" if relation.part else own
            terms = tuple(
                CoupledTerm(_displacement(number, joints, term.joint, term.motion), term.factor)
                for term in relation.terms
            )
            found.append(ChainRelation(name, terms, relation.input, coupling.loss() if coupling.loses else None))
    return tuple(found)


def check_relations(couplings: Sequence[Coupling], joints: tuple[ChainJoint, ...]) -> None:
    """Raise for couplings in numbers that cannot be: a joint with itself, one that follows from others, names twice."""
    relations = relations_of(couplings, joints)
    owners = [number for number, coupling in enumerate(couplings) for _ in coupling.relations()]
    columns = list(dict.fromkeys(d for relation in relations for d in relation.displacements))
    rows = np.zeros((len(relations), len(columns)))
    for k, (number, relation) in enumerate(zip(owners, relations, strict=True)):
        where = f"couplings.{number}"
        if len(relation.terms) < 2:
            raise InputError(
                f"{where}: a coupling needs two displacements, got {len(relation.terms)}; a joint that does not move "
                "is fixed",
                code="one_joint",
            )
        twice = next((d for i, d in enumerate(relation.displacements) if d in relation.displacements[:i]), None)
        if twice is not None:
            raise InputError(f"{where}: {joints[twice[0]].name} is coupled to itself", code="coupled_to_itself")
        if relation.name in [other.name for other in relations[:k]]:
            raise InputError(f"{where}.name: names of couplings must be unique, got {relation.name!r} twice")
        fault = couplings[number].unit_fault(relation.displacements[relation.input][1] == "translation")
        if fault:
            raise InputError(f"{where}.{fault}", code="unit")
        for term in relation.terms:
            rows[k, columns.index(term.displacement)] = term.factor
        rows[k] /= np.abs(rows[k]).max()
        if np.linalg.matrix_rank(rows[: k + 1], tol=_SAME) <= k:
            raise InputError(
                f"{where}: {relation.name} follows from the couplings before it, or contradicts them in nothing; "
                "leave it out",
                code="repeated_coupling",
            )


def _displacement(number: int, joints: tuple[ChainJoint, ...], path: str, wanted: str) -> Displacement:
    where = f"couplings.{number}"
    try:
        joint, motion = joint_coordinate(joints, path)
    except UnknownNameError as error:
        raise InputError(f"{where}: {error}", code="unknown_joint") from error
    except InputError as error:
        raise InputError(f"{where}: {error}", code="which_motion") from error
    turns = motion != "translation"
    if wanted and turns != (wanted == "rotation"):
        does, needs = ("turns", "slides") if turns else ("slides", "turns")
        raise InputError(
            f"{where}: {path} {does}, and here a joint that {needs} is needed; a screw couples a turn with a travel, "
            "joints with their factors couple any two",
            code="other_motion",
        )
    return joint, motion
