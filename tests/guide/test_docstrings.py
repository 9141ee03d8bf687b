"""Docstrings of the public face: what users call says what it takes and what it returns, in NumPy style.

The face is found by ``__all__``, so that what is added later is held to the same. A method that overrides another has
that one's sections unless it states its own; validators of pydantic models, which nobody calls, need none.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

import polypod
import polypod.model

SECTIONS = ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Examples", "Notes")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
_NOTHING = (None, "None", "NoReturn", "Never", inspect.Signature.empty)


def modules() -> list[ModuleType]:
    """The packages that are public, and what ``Model`` returns."""
    named = [getattr(polypod, name) for name in polypod.__all__]
    return [polypod, polypod.model, *(module for module in named if isinstance(module, ModuleType))]


def public() -> dict[str, Any]:
    """Functions and classes of the public face by name."""
    found = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if (inspect.isfunction(value) or inspect.isclass(value)) and is_ours(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    for value in [value for value in found.values() if inspect.isfunction(value)]:
        found |= returned(value)
    for value in [value for value in found.values() if inspect.isclass(value)]:
        for _, function in methods(value):
            found |= returned(function)
    return found


def is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("polypod.")


def returned(function: Callable[..., Any]) -> dict[str, type]:
    """Classes of results that a function's annotation names."""
    names = re.findall(r"\w+", str(function.__annotations__.get("return", "")))
    known = [vars(sys.modules[function.__module__]).get(name) for name in names]
    return {f"{one.__module__}.{one.__qualname__}": one for one in known if inspect.isclass(one) and is_data(one)}


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods of a class that polypod wrote, its bases' among them, each as the class has it."""
    validators: set[str] = {"model_post_init"}
    if issubclass(kind, BaseModel):
        made = kind.__pydantic_decorators__
        validators.update(*(getattr(made, part.name) for part in dataclasses.fields(made)))
    for name in dict.fromkeys(name for base in kind.__mro__ if is_ours(base) for name in vars(base)):
        value = inspect.getattr_static(kind, name)
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if inspect.isfunction(function) and is_ours(function) and not name.startswith("_") and name not in validators:
            yield name, function


def is_data(kind: type) -> bool:
    """Whether a class is a record of results: a data class or a named tuple. Fields of pydantic models say themselves
    what they are."""
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return is_ours(kind) and (dataclasses.is_dataclass(kind) or named) and not issubclass(kind, BaseModel)


def sections(text: str | None) -> dict[str, str]:
    """Sections of a docstring by heading."""
    _, *parts = _HEADING.split(inspect.cleandoc(text or ""))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def documented(section: str) -> list[str]:
    """Names that a section explains: those of its lines without indent, before the type."""
    lines = [line for line in section.splitlines() if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for line in lines for name in line.partition(" : ")[0].split(",")]


def taken(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


@cache
def returns_something(function: Callable[..., Any]) -> bool:
    return inspect.signature(function).return_annotation not in _NOTHING


def faults_of(name: str, function: Callable[..., Any], texts: list[str | None]) -> list[str]:
    """What is missing in or too much for a function's docstring; ``texts`` are its own and those that it overrides."""
    if not inspect.cleandoc(texts[0] or ""):
        return [f"{name}: no docstring"]
    parts = next((found for text in texts if (found := sections(text))), {})
    faults = []
    if documented(parts.get("Parameters", "")) != taken(function):
        faults.append(f"{name}: takes {taken(function)}, documents {documented(parts.get('Parameters', ''))}")
    if returns_something(function) and not {"Returns", "Yields"} & set(parts):
        faults.append(f"{name}: says not what it returns")
    return faults


def faults_of_class(name: str, kind: type) -> list[str]:
    """What the docstrings of a class and its methods lack."""
    parts, faults = sections(kind.__doc__), []
    if is_data(kind):
        fields = getattr(kind, "_fields", None) or [f.name for f in dataclasses.fields(kind) if f.name[0] != "_"]
        if sorted(documented(parts.get("Attributes", ""))) != sorted(fields):
            faults.append(f"{name}: has {list(fields)}, documents {documented(parts.get('Attributes', ''))}")
    elif (
        "__init__" in vars(kind)
        and not getattr(kind, "_is_protocol", False)
        and not issubclass(kind, (BaseModel, Exception))
    ):
        made = taken(kind.__init__)
        if documented(parts.get("Parameters", "")) != made:
            faults.append(f"{name}: takes {made}, documents {documented(parts.get('Parameters', ''))}")
    for method, function in methods(kind):
        texts = [getattr(vars(base).get(method), "__doc__", None) for base in kind.__mro__ if method in vars(base)]
        faults += faults_of(f"{name}.{method}", function, [function.__doc__ or next(filter(None, texts), None), *texts])
    return faults


PUBLIC = public()


def test_the_face_is_found():
    assert {"polypod.model.model.Model", "polypod.simulation.simulate.simulate"} <= set(PUBLIC)
    assert {"polypod.model.results.Reactions", "polypod.analysis.singularity.SingularityReport"} <= set(PUBLIC)
    assert "inverse_dynamics" in dict(methods(polypod.Model))


@pytest.mark.parametrize("name", PUBLIC)
def test_says_what_it_takes_and_returns(name: str) -> None:
    value = PUBLIC[name]
    assert not (faults_of(name, value, [value.__doc__]) if inspect.isfunction(value) else faults_of_class(name, value))


def own_docstrings(name: str) -> Iterator[tuple[str, str]]:
    """Docstrings of a public name and of its methods, those that a base has aside."""
    value = PUBLIC[name]
    yield name, inspect.cleandoc(value.__doc__ or "")
    for method, function in methods(value) if inspect.isclass(value) else ():
        if function.__doc__ and method in vars(value):
            yield f"{name}.{method}", inspect.cleandoc(function.__doc__)


@pytest.mark.parametrize("name", PUBLIC)
def test_starts_with_one_sentence(name: str) -> None:
    for where, text in own_docstrings(name):
        first, _, rest = text.partition("\n")
        assert first.endswith("."), (where, first)
        assert not rest or rest.startswith("\n"), (where, "a blank line follows the first")


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_are_in_order(name: str) -> None:
    order = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples"]
    for where, text in own_docstrings(name):
        found = [order.index(heading) for heading in sections(text)]
        assert found == sorted(found), (where, list(sections(text)))


def test_a_wrong_docstring_is_found() -> None:
    def told(a: int, b: int = 0) -> int:
        """Sum of numbers.

        Parameters
        ----------
        a, c : int
            Numbers.
        """
        return a + b

    assert [fault.split(": ", 1)[0] for fault in faults_of("told", told, [told.__doc__])] == ["told", "told"]
