"""Live pages: a robot in three dimensions that is dragged and answers, in one offline HTML file."""

from .document import LivePage, framed, live_page, view

__all__ = ["LivePage", "framed", "live_page", "view"]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
