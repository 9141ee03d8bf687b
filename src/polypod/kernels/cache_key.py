"""What determines a function, so that one whose machine code is on disk need not be built in symbols again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from . import machine, store


@dataclass(frozen=True)
class CacheKey:
    """A digest of all that determines a function.

    Robots of one topology have the same functions: their digest names the code. A function that depends on the numbers
    of ``one_robot`` (by which equations it solves, say) may still be that of others: its digest names that of its
    graph, which is kept on disk beside the code.
    """

    digest: bytes
    one_robot: bool = False

    @staticmethod
    def of(*parts: str | bytes, one_robot: bool = False) -> CacheKey:
        """The key of texts and digests."""
        total = hashlib.sha256()
        for part in parts:
            content = part.encode() if isinstance(part, str) else part
            total.update(len(content).to_bytes(8, "little") + content)
        return CacheKey(total.digest(), one_robot)

    def extended(self, *parts: str | bytes) -> CacheKey:
        """The key of a function that more determines."""
        return CacheKey.of(self.digest, *parts, one_robot=self.one_robot)

    def content(self, of_graph: Callable[[], bytes]) -> bytes:
        """What names the code: the digest itself, or that ``of_graph`` as it is known from disk."""
        if not self.one_robot:
            return self.digest
        key = machine.key_of(b"graph\n" + self.digest, 0)
        known = store.load(key)
        if known is None:
            known = of_graph()
            store.keep(key, known)
        return known
