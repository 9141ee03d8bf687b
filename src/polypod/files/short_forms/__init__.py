"""Short forms of robot files, written out before a file is checked: copies, mirror images, pairs, rods, directions."""

from .expand import Expanded, expand
from .forms import ShortFormError, short_fields

__all__ = ["Expanded", "ShortFormError", "expand", "short_fields"]
