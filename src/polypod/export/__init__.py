"""Model functions for other programs."""

from .c import export_c

__all__ = ["export_c"]
