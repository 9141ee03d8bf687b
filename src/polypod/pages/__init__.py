"""Pages of HTML from template files: one frame for all, one style for reports; each opens from disk, without a network.

A template is a file with ``$names`` (``string.Template``) in the package that uses it.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template

from ..tables import Table

__all__ = ["figure_html", "html_page", "report_page", "table_html", "template_text"]

_DIGITS = 3


def template_text(package: str, name: str) -> str:
    """Text of a template file of a package."""
    return (resources.files(package) / name).read_text(encoding="utf-8")


def html_page(title: str, body: str, style: str) -> str:
    """A whole page; the title is plain text, the body is HTML and the style CSS."""
    return Template(template_text(__name__, "page.html")).substitute(title=escape(title), style=style, body=body)


def report_page(title: str, lead: Sequence[str], sections: Sequence[str], footer: str = "", style: str = "") -> str:
    """A report to read and print: a title and lines below it as plain text, sections as HTML, a footer.

    ``style`` is CSS in addition to that of all reports.
    """
    from .. import __version__

    body = Template(template_text(__name__, "report.html")).substitute(
        title=escape(title),
        lead="\n".join(f'<p class="lead">{escape(text)}</p>' for text in lead if text),
        sections="\n".join(filter(None, sections)),
        footer=escape(footer),
        version=escape(__version__),
    )
    return html_page(title, body, template_text(__name__, "report.css") + style)


def table_html(table: Table) -> str:
    """A table under its title, in units that people use and three digits."""
    shown = table.practical().html(_DIGITS).replace("<table>", f"<table id='{escape(table.title.lower())}'>", 1)
    caption = f"<p class='caption'>{escape(table.caption)}</p>" if table.caption else ""
    return f"<section><h2>{escape(table.title)}</h2><div class='wide'>{shown}</div>{caption}</section>"


def figure_html(name: str, caption: str, image: bytes, media_type: str = "image/svg+xml") -> str:
    """A figure with its caption; as a picture of its own, so that names inside it cannot clash or run."""
    data = base64.b64encode(image).decode()
    return (
        f'<figure id="{escape(name)}"><div><img alt="{escape(caption)}" src="data:{media_type};base64,{data}"></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
