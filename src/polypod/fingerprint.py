"""Fingerprints of the code that makes functions: where it changes, they are compiled anew."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def fingerprint(*sources: str) -> bytes:
    """Digest of files and folders of the package, by their paths in it, and of CasADi's version."""
    digest = hashlib.sha256(metadata.version("casadi").encode())
    for source in sources:
        path = _PACKAGE / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.digest()
