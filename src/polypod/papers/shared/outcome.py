"""What a study of a paper came to."""

from __future__ import annotations

from dataclasses import dataclass

from ...tables import Table
from .contract import Claim, Erratum, PaperStudy


@dataclass(frozen=True)
class Image:
    """A figure by file name and caption, as PNG and SVG."""

    name: str
    caption: str
    png: bytes
    svg: bytes


@dataclass(frozen=True)
class Outcome:
    """Results of a study; claims, errata and tables by the names of their functions."""

    study: PaperStudy
    claims: dict[str, Claim]
    errata: dict[str, Erratum]
    tables: dict[str, Table]
    images: tuple[Image, ...]
