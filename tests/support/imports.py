"""What the modules of a package import, read from their source: at their top, in functions, and by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "src" / "polypod"


@dataclass(frozen=True)
class Import:
    """One import of a module of the package by another.

    Attributes
    ----------
    importer, imported : modules by their dotted names; ``imported`` ends in * where the name is made at run time
    name : what is taken from the module, empty for the module itself
    line : in the importer
    """

    importer: str
    imported: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}{'.' if self.name else ''}{self.name}"


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """All modules of a package by their dotted names."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = (source.name, *path.relative_to(source).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(source: Path = SOURCE) -> list[Import]:
    """All imports of a package's own modules in its source."""
    known = modules(source)
    found = []
    for importer, path in known.items():
        package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
        for node in _nodes(path.read_text(encoding="utf-8")):
            for base, name in _targets(node, package):
                whole = f"{base}.{name}" if name else base
                module, rest = (whole, "") if whole in known or whole.endswith("*") else (base, name)
                if module.split(".")[0] in (source.name, "*"):
                    found.append(Import(importer, module, rest, node.lineno))
    return found


def _nodes(text: str) -> Iterator[ast.AST]:
    """What may import: the statements of a module, and where it imports by name all that is in them."""
    tree = ast.parse(text)
    if "import_module" in text or "__import__" in text:
        yield from ast.walk(tree)
        return
    open_: list[ast.AST] = [tree]
    while open_:
        node = open_.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            open_ += getattr(node, field, ())


def package_of(module: str) -> str:
    """The folder (or single module) directly below the root that a module is in; empty for the root itself."""
    return [*module.split("."), ""][1]


def _targets(node: ast.AST, package: str) -> list[tuple[str, str]]:
    """Module and name of every import that a node of the source states."""
    if isinstance(node, ast.Import):
        return [(alias.name, "") for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute("." * node.level + (node.module or ""), package)
        return [(base, alias.name) for alias in node.names]
    if isinstance(node, ast.Call):
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in ("import_module", "__import__"):
            return [(_absolute(_text(node.args[0]), package), "")]
    return []


def _text(node: ast.expr) -> str:
    """A constant text, or its constant beginning and a *."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return f"{node.values[0].value}*"
    return "*"


def _absolute(name: str, package: str) -> str:
    """The full name of a module that is given relative to a package by leading dots."""
    tail = name.lstrip(".")
    level = len(name) - len(tail)
    if not level:
        return tail
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([tail] if tail else [])])
