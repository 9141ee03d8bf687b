"""Live pages: a robot in three dimensions that is dragged and answers, in one offline HTML file."""

from .document import LivePage, LiveRobot, framed, frames_script, live_page, packed_robots, view

__all__ = ["LivePage", "LiveRobot", "framed", "frames_script", "live_page", "packed_robots", "view"]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
