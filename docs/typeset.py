"""Formulas of the guide: TeX between dollar signs becomes MathML when the site is built, so that pages need no script.

A Markdown extension; ``$...$`` stands within a paragraph, ``$$...$$`` on lines of its own.
"""

from __future__ import annotations

from re import Match
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def _formula(tex: str, display: str) -> Element:
    """The formula as an element; HTML's parser knows the namespace by the tag alone."""
    formula = fromstring(convert(tex.strip(), display=display))
    for part in formula.iter():
        part.tag = part.tag.removeprefix(_NAMESPACE)
    return formula


class _Inline(InlineProcessor):
    def handleMatch(self, m: Match[str], data: str) -> tuple[Element, int, int]:
        return _formula(m[1], "inline"), m.start(0), m.end(0)


class _Block(BlockProcessor):
    def test(self, parent: Element, block: str) -> bool:
        return block.strip().startswith("$$") and block.strip().endswith("$$")

    def run(self, parent: Element, blocks: list[str]) -> None:
        parent.append(_formula(blocks.pop(0).strip().strip("$"), "block"))


class Typeset(Extension):
    """Both kinds of formulas; code keeps its dollar signs, since it is read before."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(_Inline(r"(?<![\\$\w])\$(?!\s)([^$]+?)(?<!\s)\$(?![\w$])", md), "formula", 185)
        md.parser.blockprocessors.register(_Block(md.parser), "formula", 95)


def makeExtension(**options: Any) -> Typeset:
    return Typeset(**options)
