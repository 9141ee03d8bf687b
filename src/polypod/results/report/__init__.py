"""Results on disk: a folder of data, tables, figures and one page to read."""

from .folder import check_target, whole_folder
from .manifest import provenance
from .output import FILES, write_results
from .page import near_singularity, notes, page

__all__ = [
    "FILES",
    "check_target",
    "near_singularity",
    "notes",
    "page",
    "provenance",
    "whole_folder",
    "write_results",
]
