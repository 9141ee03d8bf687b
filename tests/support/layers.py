"""The order of the packages, and imports between them."""

from __future__ import annotations

from support.imports import Import, package_of

# Bottom to top: a package may import those before it, and no others.
ORDER = (
    "arrays",
    "errors",
    "lazy",
    "fingerprint",
    "output",
    "yaml12",
    "symbols",
    "description",
    "couplings",
    "legs",
    "elements",
    "files",
    "tables",
    "pages",
    "plates",
    "parameters",
    "platforms",
    "mobility",
    "mechanism",
    "drawing",
    "friction",
    "formulations",
    "kernels",
    "assembly",
    "clearance",
    "limits",
    "model",
    "adapters",
    "stages",
    "motion",
    "datasets",
    "control",
    "simulation",
    "analysis",
    "exchange",
    "fastest",
    "online",
    "identification",
    "export",
    "viewer",
    "results",
    "design",
    "file_kinds",
    "papers",
    "cli",
    "__main__",
)


# What the root, which collects the public names and may import all, gives to packages.
FROM_THE_ROOT = {"__version__"}


# Known breaches of the order, (importer, imported). Exactly those that occur: mend one and its line must go.
# Faces of a robot hand over to what is built on them, imported when it is asked for: adapters of other libraries,
# a picture (``Model.plot``), a copy with other values, checked as a file is (``Robot.with_``), machines in stages
# where a file has them, and the whole of these as one robot (``Series.whole``).
KNOWN: set[tuple[str, str]] = {
    ("model", "adapters"),
    ("model", "results"),
    ("model", "stages"),
    ("stages", "exchange"),
    ("description", "files"),
}


def between_packages(found: list[Import]) -> list[Import]:
    """Imports of one package by another; the root imports what it likes and gives its version."""
    own = [i for i in found if package_of(i.importer) != package_of(i.imported) and package_of(i.importer)]
    return [i for i in own if not (package_of(i.imported) == "" and i.name in FROM_THE_ROOT)]
