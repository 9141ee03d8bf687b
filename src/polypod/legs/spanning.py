"""The spanning tree of bodies and joints: which joints hold them together, and which close loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spanning(
    joints: Sequence[T], ends: Sequence[tuple[str, str]], ground: Sequence[str] = ()
) -> tuple[list[T], list[T]]:
    """Joints that join bodies which those before them leave apart (Kruskal's tree), and the others, which close loops.

    ``joints`` come in the order of preference, ``ends`` are the two bodies of each; bodies of ``ground`` are one.

    Examples
    --------
    >>> spanning(["motor", "rod", "slide"], [("base", "arm"), ("arm", "cart"), ("base", "cart")])
    (['motor', 'rod'], ['slide'])
    """
    part = dict.fromkeys(ground, ground[0]) if ground else {}

    def root(body: str) -> str:
        while part.get(body, body) != body:
            body = part[body]
        return body

    tree: list[T] = []
    closing: list[T] = []
    for joint, (first, second) in zip(joints, ends, strict=True):
        a, b = root(first), root(second)
        part[b] = a
        (closing if a == b else tree).append(joint)
    return tree, closing
