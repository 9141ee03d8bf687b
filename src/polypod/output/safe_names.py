"""Texts of users where they mean something to others: names of files, cells of tables."""

from __future__ import annotations

import hashlib
import unicodedata

LONGEST = 80
"""Bytes of a file's name that is made of a text; file systems take 255."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(1, 10))}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def file_name(text: str, otherwise: str = "robot") -> str:
    """A name that every file system takes and that stays in its folder: letters, digits, ``.``, ``_`` and ``-``.

    A longer text is cut, and a digest of it keeps different texts apart.

    Examples
    --------
    >>> file_name("../../etc/passwd"), file_name("a b"), file_name("..", "motion"), file_name("CON")
    ('etc-passwd', 'a-b', 'motion', 'con_')
    """
    plain = unicodedata.normalize("NFC", text)
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in plain).strip(".-") or otherwise
    if name.partition(".")[0].lower() in _RESERVED:
        name = f"{name.lower()}_"
    if len(name.encode()) > LONGEST:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{name.encode()[: LONGEST - 9].decode('utf-8', 'ignore').rstrip('.-')}-{digest}"
    return name


def cell(text: str) -> str:
    """A text as a table's cell that no spreadsheet takes for a formula: a leading apostrophe, as they write it.

    Examples
    --------
    >>> cell("=1+1"), cell("leg1")
    ("'=1+1", 'leg1')
    """
    return f"'{text}" if len(text) > 1 and text.startswith(_FORMULA) else text
