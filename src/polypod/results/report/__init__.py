"""Results on disk: a folder of data, tables, figures and one page to read."""

from ...output.folder import atomic_folder, check_target, provenance
from .output import FILES, write_results
from .page import near_singularity, notes, page

__all__ = [
    "FILES",
    "atomic_folder",
    "check_target",
    "near_singularity",
    "notes",
    "page",
    "provenance",
    "write_results",
]
