"""The README as the package index shows it; all else of the package is in pyproject.toml.

Its links and pictures lead to files of the repository. The index has no such files: there they lead below the address
that ``Repository`` of ``[project.urls]`` states, and without one the words stay and the links go.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def published(text: str, repository: str | None) -> str:
    """A text in Markdown whose links to files are absolute, or gone."""
    if repository is not None:
        return re.sub(r"\]\((?!\w+:|#)", f"]({repository.rstrip('/')}/", text)
    without_pictures = re.sub(r"!\[[^\]]*\]\((?!\w+:|#)[^)]*\)\n*", "", text)
    return re.sub(r"\[([^\]]*)\]\((?!\w+:|#)[^)]*\)", r"\1", without_pictures)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=published(readme, project.get("urls", {}).get("Repository")),
        long_description_content_type="text/markdown",
    )
