"""The house holds together: every package imports only from packages below it, no module another in a circle."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support.imports import SOURCE, Import, imports, modules, package_of
from support.layers import KNOWN, ORDER, between_packages

# Narrower than their place in the order: these may import nothing of polypod but what is named.
ONLY = {
    "arrays": set(),
    "errors": set(),
    "lazy": set(),
    "symbols": {"arrays", "errors", "lazy"},
    "kernels": {"arrays", "errors", "lazy", "fingerprint", "symbols"},
}
MAX_LINES = 1200

# Known circles of modules within packages, in the same way.
KNOWN_CIRCLES: set[tuple[str, ...]] = set()


@pytest.fixture(scope="module")
def found() -> list[Import]:
    return imports()


def breaches(found: list[Import]) -> list[Import]:
    """Imports that go up."""
    rank = {name: place for place, name in enumerate(ORDER)}
    top = len(ORDER)
    return [
        i
        for i in between_packages(found)
        if rank.get(package_of(i.imported), top) >= rank.get(package_of(i.importer), -1)
    ]


def test_the_order_names_every_package() -> None:
    there = {package_of(name) for name in modules()} - {""}
    assert there <= set(ORDER), "a new package needs its place in ORDER"
    assert set(ORDER) <= there, "a package that is gone leaves ORDER too"
    assert len(set(ORDER)) == len(ORDER)


def test_imports_go_down(found: list[Import]) -> None:
    up = breaches(found)
    new = [str(i) for i in up if (package_of(i.importer), package_of(i.imported)) not in KNOWN]
    assert not new, "imports against the order of packages"
    mended = KNOWN - {(package_of(i.importer), package_of(i.imported)) for i in up}
    assert not mended, "no longer breached: take these out of KNOWN"


@pytest.mark.parametrize("package", ONLY)
def test_narrow_packages_stay_narrow(package: str, found: list[Import]) -> None:
    wide = [i for i in between_packages(found) if package_of(i.importer) == package]
    assert not [str(i) for i in wide if package_of(i.imported) not in ONLY[package]]


def test_names_made_at_run_time_stay_in_their_package(found: list[Import]) -> None:
    """import_module of a name that only the running program knows can hide any import."""
    hidden = [i for i in found if i.imported.endswith("*") and package_of(i.importer)]
    allowed = [i for i in hidden if i.imported.startswith(f"polypod.{package_of(i.importer)}.")]
    assert hidden == allowed


def circles(found: list[Import]) -> set[tuple[str, ...]]:
    """Groups of modules of which each can be reached from each by imports. An __init__ only collects names."""
    files = {name for name, path in modules().items() if path.name != "__init__.py"}
    below: dict[str, set[str]] = {name: set() for name in files}
    for i in found:
        if i.importer in files and i.imported in files:
            below[i.importer].add(i.imported)
    for name in files:
        reached, new = set(below[name]), set(below[name])
        while new:
            new = set().union(*(below[other] for other in new)) - reached
            reached |= new
        below[name] = reached
    groups = {frozenset(other for other in below[name] if name in below[other]) for name in files}
    return {tuple(sorted(name.removeprefix("polypod.") for name in group)) for group in groups if group}


def test_modules_do_not_import_each_other_in_a_circle(found: list[Import]) -> None:
    """Also within packages, and also in functions."""
    assert circles(found) - KNOWN_CIRCLES == set(), "modules that need each other are one idea, or lack a third below"
    assert KNOWN_CIRCLES - circles(found) == set(), "no longer there: take these out of KNOWN_CIRCLES"


NARROW = """
import sys, types

class Refuse:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in sys.stdlib_module_names and root not in ("polypod", "casadi", "_casadi", "numpy"):
            raise ModuleNotFoundError(f"not installed here: {name}", name=name)

sys.meta_path.insert(0, Refuse())
root = types.ModuleType("polypod")  # in place of the package's own __init__, which loads the model
root.__path__ = [sys.argv[1]]
sys.modules["polypod"] = root
import polypod.symbols
import importlib, pathlib
for file in (pathlib.Path(sys.argv[1]) / "symbols").glob("*.py"):
    importlib.import_module(f"polypod.symbols.{file.stem}")
print(sorted(name for name in sys.modules if name.startswith("polypod.")))
"""


def test_a_module_gives_a_name_once() -> None:
    """A second constant, function or class of the same name would take the place of the first without a word."""
    twice = []
    for module, path in modules().items():
        names = [name for node in ast.parse(path.read_text(encoding="utf-8")).body for name in _given(node)]
        twice += [f"{module}.{name}" for name in dict.fromkeys(names) if names.count(name) > 1]
    assert not twice, twice


def _given(node: ast.stmt) -> list[str]:
    """Names that a statement of a module gives."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        overload = isinstance(node, ast.FunctionDef) and bool(node.decorator_list)
        return [] if overload else [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_symbols_need_casadi_and_numpy_only() -> None:
    ran = subprocess.run([sys.executable, "-c", NARROW, str(SOURCE)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "polypod.symbols.tape" in ran.stdout
    assert "polypod.model" not in ran.stdout


def test_the_reader_sees_every_way_of_importing(tmp_path: Path) -> None:
    """The tests above are worth no more than what reads the source."""
    source = tmp_path / "pack"
    (source / "low" / "deep").mkdir(parents=True)
    (source / "high").mkdir()
    for empty in ("__init__.py", "low/__init__.py", "low/deep/__init__.py", "low/a.py", "low/deep/b.py"):
        (source / empty).write_text("")
    (source / "high" / "__init__.py").write_text("from importlib import import_module\nimport_module(f'.{x}', y)\n")
    (source / "high" / "c.py").write_text(
        "import numpy\nimport pack.low.a\nfrom ..low import a, other\nfrom . import d\nfrom .. import __version__\n"
        "def later():\n    from ..low.deep.b import thing\n    import importlib\n"
        "    importlib.import_module('..low.deep', __package__)\n    importlib.import_module(name)\n"
        "    __import__('pack.low')\n"
    )
    (source / "high" / "d.py").write_text("if TYPE_CHECKING:\n    from pack.low.deep import b\n")
    seen = {(i.importer, i.line, i.imported, i.name) for i in imports(source)}
    assert seen == {
        ("pack.high", 2, "pack.high.*", ""),
        ("pack.high.c", 2, "pack.low.a", ""),
        ("pack.high.c", 3, "pack.low.a", ""),
        ("pack.high.c", 3, "pack.low", "other"),
        ("pack.high.c", 4, "pack.high.d", ""),
        ("pack.high.c", 5, "pack", "__version__"),
        ("pack.high.c", 7, "pack.low.deep.b", "thing"),
        ("pack.high.c", 9, "pack.low.deep", ""),
        ("pack.high.c", 10, "*", ""),
        ("pack.high.c", 11, "pack.low", ""),
        ("pack.high.d", 2, "pack.low.deep.b", ""),
    }
