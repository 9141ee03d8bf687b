"""Bundles the parts of three.js that live pages use, with its licence: python docs/make_three.py (needs npm)."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

THREE, BUNDLER = "three@0.187.0", "esbuild@0.28.2"
PAGE = Path(__file__).resolve().parents[1] / "src" / "polypod" / "viewer" / "page"


def used() -> list[str]:
    """Names of three.js in the page's scripts."""
    texts = [(PAGE / name).read_text(encoding="utf-8") for name in ("solids.js", "stage.js")]
    return sorted(set(re.findall(r"\bT\.([A-Z]\w+)", "".join(texts))))


def main() -> None:
    """Write three.min.js and three.LICENSE."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "entry.js").write_text(f'export {{ {", ".join(used())} }} from "three";\n', encoding="utf-8")
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", THREE, BUNDLER], cwd=folder, check=True)
        flags = ["--bundle", "--minify", "--format=iife", "--global-name=THREE", "--legal-comments=inline"]
        subprocess.run(["npx", "esbuild", "entry.js", *flags, "--outfile=three.min.js"], cwd=folder, check=True)
        shutil.copy(folder / "three.min.js", PAGE / "three.min.js")
        shutil.copy(folder / "node_modules" / "three" / "LICENSE", PAGE / "three.LICENSE")


if __name__ == "__main__":
    main()
