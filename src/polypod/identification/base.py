"""Base parameters: the combinations of numbers that forces show, in names.

The columns of Y T over states of all kinds have rank r < k. r of the numbers, p_I, span them; the others follow,
Y_D = Y_I K, so that forces are Y_I beta with beta = p_I + K p_D: the base parameters. A number is identifiable alone if
no direction that changes no force has a part in it, not at all if it has no effect, else together with others. Where
friction depends on reactions, Y are the derivatives of forces by the numbers, at those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..model import Model
from .linear_model import LinearModel, LinearNumber
from .sampling import random_motion

Identifiability = Literal["alone", "together", "not"]
GAP = 1e-9
"""Singular values below this part of the largest count as zero: columns are scaled to one, rounding is 1e-14."""
_SHOWN = 1e-9
_NOTHING = 1e-10  # columns that are smaller by this much are rounding


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters: the combinations beta = P p of parameters that measurements determine.

    Attributes
    ----------
    numbers : tuple of LinearNumber
        The k parameters p.
    independent : tuple of int
        Columns in which P is the identity.
    matrix : ndarray, shape (r, k)
        P.
    nullspace : ndarray, shape (k, k - r)
        N with P N = 0.
    identifiability : tuple of str
        Whether measurements show each parameter ``alone``, ``together`` with others or ``not``.
    singular_values : ndarray
        Singular values of the regressor.
    """

    numbers: tuple[LinearNumber, ...]
    independent: tuple[int, ...]
    matrix: Array
    nullspace: Array
    identifiability: tuple[Identifiability, ...]
    singular_values: Array

    @property
    def count(self) -> int:
        """Number r of base parameters."""
        return len(self.independent)

    @property
    def with_effect(self) -> int:
        """How many numbers have any effect."""
        return sum(s != "not" for s in self.identifiability)

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter in words: ``platform mass + leg1 upper mass - 2.5 leg1 upper mass x com x``."""
        return tuple(map(self.name, range(self.count)))

    def name(self, k: int) -> str:
        """A base parameter in words.

        Parameters
        ----------
        k : int
            Its index.

        Returns
        -------
        str
            The combination of parameters.
        """
        return combination(self.matrix[k], self.numbers, lead=self.independent[k])

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each base parameter."""
        return tuple(self.numbers[i].unit for i in self.independent)

    def values(self, p: Array) -> Array:
        """Values of the base parameters: beta = P p.

        Parameters
        ----------
        p : ndarray, shape (k,)
            Parameters.

        Returns
        -------
        ndarray, shape (r,)
            beta.
        """
        return self.matrix @ p


def combination(row: Array, numbers: Sequence[Any], lead: int) -> str:
    """A sum in words, the leading number first.

    Two second moments of a body with the same factor are its moment of inertia about the third axis; quantities with
    the same factor stand together.
    """
    size = float(np.abs(row).max())
    shown = np.flatnonzero(np.abs(row) > _SHOWN * size)
    terms: dict[str, list[str]] = {}
    done: set[int] = set()
    by_key = {n.key: int(k) for k, n in enumerate(numbers)}
    digits_of = {int(k): float(f"{abs(row[k]):.9g}") for k in shown}  # equal factors in the order of the file
    for k in (lead, *sorted(digits_of, key=lambda k: -digits_of[k])):
        if k in done:
            continue
        done.add(k)
        words = numbers[k].name
        for axis, (a, b) in zip("zyx", (("Sxx", "Syy"), ("Sxx", "Szz"), ("Syy", "Szz")), strict=True):
            other = {a: b, b: a}.get(getattr(numbers[k], "moment", ""))
            twin = by_key.get(f"{numbers[k].path}.{other}", -1) if other else -1
            if twin >= 0 and twin not in done and abs(row[twin] - row[k]) < _SHOWN * size:
                words = f"{numbers[k].owner} inertia about {axis}"
                done.add(twin)
                break
        terms.setdefault(f"{'-' if row[k] < 0 else '+'} {abs(float(row[k])):.4g}", []).append(words)
    first = terms.pop("+ 1")
    text = " + ".join(first)
    for factor, names in terms.items():
        sign, digits = factor.split()
        joined = " + ".join(names) if len(names) == 1 else f"({' + '.join(names)})"
        if digits == "1":
            text += f" {sign} {f' {sign} '.join(names)}"
        else:
            text += f" {sign} {digits} {joined}"
    return text


def brief(name: str, terms: int = 3) -> str:
    """The first terms of a combination's name, and how many more there are."""
    parts = re.split(r" (?=[+-] )(?![^(]*\))", name)
    return name if len(parts) <= terms + 1 else f"{' '.join(parts[:terms])} and {len(parts) - terms} more terms"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Some names of combinations in short, and how many more there are."""
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(map(brief, names[:most])) + more


def base_parameters(
    model: Model | LinearModel, *, same_legs: bool = False, friction: bool = True, states: int = 400, seed: int = 0
) -> BaseParameters:
    """Base parameters of a robot's inertias and friction, from its regressor at random states.

    Parameters
    ----------
    model : Model or LinearModel
        Model of the robot, or its linear model.
    same_legs : bool, optional
        Whether all legs share the same parameters.
    friction : bool, optional
        Whether friction in the joints is included.
    states : int, optional
        Number of random states.
    seed : int, optional
        Random seed.

    Returns
    -------
    BaseParameters
        The combinations that forces determine.

    Examples
    --------
    >>> import polypod as pp
    >>> base = base_parameters(pp.Model("five-bar"))
    >>> base.count < len(base.numbers)
    True
    """
    linear = model if isinstance(model, LinearModel) else LinearModel(model, same_legs=same_legs, friction=friction)
    linear.model.robot.refuse_internal("base_parameters")
    motion = random_motion(linear.model, states, seed)
    rows = linear.derivatives(motion, linear.values)
    rows = rows[np.isfinite(rows).all(axis=(1, 2))]
    reached, needed = len(rows), -(-2 * len(linear.numbers) // len(linear.model.actuators))
    if reached < needed:
        raise InputError(
            f"robot: {linear.robot.name!r} reaches only {reached} of {states} random states around home; {needed} "
            f"are needed for its {len(linear.numbers)} parameters"
        )
    return base_of_rows(rows.reshape(-1, len(linear.numbers)), linear.numbers)


def base_of_rows(rows: Array, numbers: tuple[LinearNumber, ...]) -> BaseParameters:
    """The base parameters of rows (N, k): what they show of the numbers, first ones first."""
    scale = np.linalg.norm(rows, axis=0)
    effective = scale > _NOTHING * scale.max()
    columns = np.flatnonzero(effective)
    r: Array = np.asarray(np.linalg.qr(rows[:, columns] / scale[columns], mode="r"))
    values = np.linalg.svd(r, compute_uv=False)
    rank = int((values > GAP * values[0]).sum())
    independent = _first_independent(r, rank)
    dependent = [k for k in range(len(columns)) if k not in set(independent)]
    combine = np.linalg.lstsq(r[:, independent], r[:, dependent], rcond=None)[0]
    chosen, rest = columns[independent], columns[dependent]
    matrix = np.zeros((rank, len(numbers)))
    matrix[np.arange(rank), chosen] = 1.0
    # Y_I / scale_I spans Y_D / scale_D; rounding is far below what any robot's numbers give
    combine = combine * scale[rest] / scale[chosen][:, None]
    size = np.abs(combine) * (scale[chosen][:, None] / scale[rest])
    matrix[:, rest] = np.where(size < 1e-10, 0.0, _whole(combine))
    weight = np.where(effective, scale, scale.max())
    unseen = _nullspace(matrix / weight)
    part = np.linalg.norm(unseen, axis=1)
    identifiability: list[Identifiability] = ["not" if not seen else "alone" if p < 1e-7 else "together"
                          for seen, p in zip(effective, part, strict=True)]  # fmt: skip
    nullspace = unseen / weight[:, None]
    return BaseParameters(
        numbers, tuple(int(c) for c in chosen), matrix, nullspace, tuple(identifiability), values / values[0]
    )


def _whole(values: Array) -> Array:
    """Numbers that are whole to rounding, made so."""
    near = np.round(values)
    return np.where(np.abs(values - near) < 1e-10 * np.maximum(1.0, np.abs(values)), near, values)


def _first_independent(r: Array, rank: int) -> list[int]:
    """The first columns that are independent of those before, by Gram-Schmidt; ``rank`` of them."""
    basis = np.zeros((r.shape[0], 0))
    found: list[int] = []
    for k in range(r.shape[1]):
        rest = r[:, k] - basis @ (basis.T @ r[:, k])
        rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1e-7 and len(found) < rank:
            found.append(k)
            basis = np.column_stack([basis, rest / size])
    if len(found) < rank:
        from scipy.linalg import qr

        found = sorted(qr(r, pivoting=True, mode="economic")[2][:rank].tolist())
    return found


def _nullspace(matrix: Array) -> Array:
    """Orthonormal directions (k, k - r) that a matrix (r, k) of full rank takes to zero."""
    _, _, right = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=1)[:, None])
    return np.asarray(right[len(matrix) :].T)
