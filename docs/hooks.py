"""Pages made when the guide is built, from the same data as the library and its tests, so that they cannot drift."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import generated


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for name, make in generated.PAGES.items():
        files.append(File.generated(config, name, content=make()))
    return files
