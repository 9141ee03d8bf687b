"""The numbers of a robot that an exported C or C++ function takes: a struct with readable names, and its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..lazy import lazy
from ..parameters.chosen import Choice, ChosenNumbers
from .code import Dialect, identifier, literal


@dataclass(frozen=True)
class Struct:
    """A C type ``NAME_parameters`` and a constant ``NAME_defaults`` of it."""

    name: str
    dialect: Dialect
    numbers: ChosenNumbers

    @property
    def type(self) -> str:
        """The type's name."""
        return f"{self.name}_parameters"

    @lazy
    def members(self) -> list[tuple[str, Choice]]:
        """Names of the members, each once: legs by their names, where that is enough."""
        choices = self.numbers.choices
        short = [identifier(self._named(c.path)) for c in choices]
        often = Counter(short)
        used = {name for name in short if often[name] == 1}
        names = []
        for name, choice in zip(short, choices, strict=True):
            if often[name] > 1:  # the path instead, longer where a leg is called like it
                name = identifier(choice.path)
                while name in used:
                    name += "_"
                used.add(name)
            names.append(name)
        return list(zip(names, choices, strict=True))

    def _named(self, path: str) -> str:
        parts = path.split(".")
        if parts[0] != "legs":
            return path
        return ".".join([self.numbers.robot.legs[int(parts[1])].name, *parts[2:]])

    @lazy
    def _places(self) -> list[str]:
        return [f"{name}[{k}]" if c.value.shape else name for name, c in self.members for k in range(c.length)]

    def access(self, k: int) -> str:
        """The k-th number in C code."""
        return f"parameters->{self._places[k]}"

    def declaration(self) -> str:
        """The type and the constant, for the header of C."""
        return f"typedef struct {{\n{self._fields()}}} {self.type};\n\nextern const {self.type} {self.name}_defaults;\n"

    def definition(self) -> str:
        """The constant, for the source of C."""
        return f"const {self.type} {self.name}_defaults = {{\n{self._values()}}};\n"

    def cpp(self) -> str:
        """The type and the constant in C++."""
        constant = f"inline constexpr {self.type} {self.name}_defaults = {{\n{self._values()}}};\n"
        return f"struct {self.type} {{\n{self._fields()}}};\n\n{constant}"

    def _fields(self) -> str:
        number = "float" if self.dialect.suffix else "double"
        return "".join(f"    {number} {name}{f'[{c.length}]' if c.value.shape else ''};\n" for name, c in self.members)

    def _values(self) -> str:
        lines = []
        for _, choice in self.members:
            texts = [literal(self.dialect, value) for value in choice.value.ravel().tolist()]
            lines.append(f"    {{{', '.join(texts)}}},\n" if choice.value.shape else f"    {texts[0]},\n")
        return "".join(lines)

    def listed(self) -> Iterator[str]:
        """What every member is, for the header's comment."""
        for name, choice in self.members:
            rows = f"{'x'.join(map(str, choice.value.shape))} by rows, " if choice.value.ndim > 1 else ""
            size = f"[{choice.length}]" if choice.value.shape else ""
            yield f"{name}{size}: {rows}{choice.path} [{choice.unit or '1'}]"
