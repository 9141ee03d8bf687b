"""Remarks that hold for several legs, said once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def merge_remarks(remarks: Iterable[tuple[str, str]], legs: Collection[str]) -> list[str]:
    """Remarks as sentences ``field: text``; one that several legs share names the first of them and counts the others.

    ``remarks`` are dotted fields (``leg1.link.mass``) with their texts, ``legs`` the names of the legs.

    >>> merge_remarks([("a.mass", "is zero"), ("b.mass", "is zero"), ("com", "is far")], ["a", "b"])
    ['a.mass: is zero (and in 1 other leg)', 'com: is far']
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for field, text in remarks:
        owner, _, rest = field.partition(".")
        alike.setdefault((rest if owner in legs else field, text), []).append(field)
    return [f"{fields[0]}: {text}{and_others(len(fields) - 1)}" for (_, text), fields in alike.items()]


def merge_sentences(broken: Sequence[str]) -> list[str]:
    """Sentences ``leg: text``; those that differ in the leg only are one, which counts the others.

    >>> merge_sentences(["leg1: length 0.3 m is outside 1 to 2 m", "leg2: length 0.3 m is outside 1 to 2 m"])
    ['leg1: length 0.3 m is outside 1 to 2 m (and in 1 other leg)']
    """
    first: dict[str, list[str]] = {}
    for sentence in broken:
        first.setdefault(sentence.partition(": ")[2], []).append(sentence)
    return [f"{same[0]}{and_others(len(same) - 1)}" for same in first.values()]


def and_others(count: int) -> str:
    """How a message goes on that holds for ``count`` other legs; empty for none."""
    return f" (and in {count} other leg{'s' if count > 1 else ''})" if count else ""
