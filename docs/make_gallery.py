"""Draws the gallery's figures by running the page's own programs: ``python docs/make_gallery.py``."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "gallery.md"
IMAGES = PAGE.parent / "images" / "gallery"


def programs() -> list[str]:
    """The Python blocks of the page, which share their names."""
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def main() -> None:
    """Run the programs in an empty folder and keep what they draw."""
    import matplotlib

    matplotlib.rcParams.update({"svg.hashsalt": "polypod", "svg.fonttype": "none"})
    IMAGES.mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            namespace: dict[str, object] = {"__name__": "gallery"}
            for text in programs():
                exec(compile(text, PAGE.name, "exec", dont_inherit=True), namespace)
            for path in sorted(Path(folder).glob("*.svg")):
                shutil.copy(path, IMAGES / path.name)
        finally:
            os.chdir(here)


if __name__ == "__main__":
    main()
