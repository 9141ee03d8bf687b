"""What an FMU says of itself: modelDescription.xml of FMI 2.0 and 3.0, and how its sources are built."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .variables import LOWEST, Variable, Variables

_CAUSALITY = {
    "time": "independent", "input": "input", "parameter": "parameter", "state": "output", "output": "output",
    "derivative": "local",
}  # fmt: skip
_CALCULATED = ("state", "output", "derivative")


@dataclass(frozen=True)
class Description:
    """All that is said: of the model, its variables, and whether it is for model exchange too."""

    name: str
    identifier: str
    about: str
    token: str
    variables: Variables
    exchange: bool
    sources: Sequence[str]

    def xml(self, fmi: int) -> str:
        """The text of modelDescription.xml."""
        root = ET.Element(
            "fmiModelDescription",
            {
                "fmiVersion": f"{fmi}.0",
                "modelName": self.name,
                "guid" if fmi == 2 else "instantiationToken": self.token,
                "description": self.about,
                "generationTool": "polypod",
                "variableNamingConvention": "structured",
                **({"numberOfEventIndicators": "0"} if fmi == 2 else {}),
            },
        )
        for kind in ("ModelExchange", "CoSimulation") if self.exchange else ("CoSimulation",):
            self._kind(root, kind, fmi)
        self._units(root)
        categories = ET.SubElement(root, "LogCategories")
        ET.SubElement(categories, "Category", {"name": "logStatusError"})
        ET.SubElement(root, "DefaultExperiment", {"startTime": "0", "stopTime": "1", "stepSize": "0.001"})
        listed = ET.SubElement(root, "ModelVariables")
        for place, variable in enumerate(self.variables):
            _variable(listed, place, variable, fmi)
        self._structure(root, fmi)
        return _text(root)

    def _kind(self, root: ET.Element, kind: str, fmi: int) -> None:
        word = "State" if fmi == 3 else "state"
        abilities = {f"canGetAndSetFMU{word}": "true", f"canSerializeFMU{word}": "true"}
        if fmi == 3:
            abilities |= {"providesDirectionalDerivatives": "true", "providesAdjointDerivatives": "true"}
        else:
            abilities["providesDirectionalDerivative"] = "true"
        if kind == "CoSimulation":
            abilities["canHandleVariableCommunicationStepSize"] = "true"
        element = ET.SubElement(root, kind, {"modelIdentifier": self.identifier, **abilities})
        if fmi == 2:
            files = ET.SubElement(element, "SourceFiles")
            for name in self.sources:
                ET.SubElement(files, "File", {"name": name})

    def _units(self, root: ET.Element) -> None:
        listed = ET.SubElement(root, "UnitDefinitions")
        for unit in sorted({v.unit for v in self.variables} - {"", "1"}):
            element = ET.SubElement(listed, "Unit", {"name": unit})
            base = exponents(unit)
            if base is not None:
                ET.SubElement(element, "BaseUnit", {name: str(power) for name, power in base.items()})

    def _structure(self, root: ET.Element, fmi: int) -> None:
        structure = ET.SubElement(root, "ModelStructure")
        places = {
            "Outputs": [k for k, v in enumerate(self.variables) if v.role in ("state", "output")],
            "Derivatives": [k for k, v in enumerate(self.variables) if v.role == "derivative"],
            "InitialUnknowns": [k for k, v in enumerate(self.variables) if v.role in _CALCULATED],
        }
        new = {"Outputs": "Output", "Derivatives": "ContinuousStateDerivative", "InitialUnknowns": "InitialUnknown"}
        for name, listed in places.items():
            if fmi == 3:
                for place in listed:
                    ET.SubElement(structure, new[name], {"valueReference": str(place)})
            elif listed:
                element = ET.SubElement(structure, name)
                for place in listed:
                    ET.SubElement(element, "Unknown", {"index": str(place + 1)})

    def build(self) -> str:
        """The text of sources/buildDescription.xml of FMI 3.0."""
        root = ET.Element("fmiBuildDescription", {"fmiVersion": "3.0"})
        configuration = ET.SubElement(root, "BuildConfiguration", {"modelIdentifier": self.identifier})
        files = ET.SubElement(configuration, "SourceFileSet", {"language": "C99"})
        for name in self.sources:
            ET.SubElement(files, "SourceFile", {"name": name})
        ET.SubElement(configuration, "Library", {"name": "m"})
        return _text(root)


def _variable(listed: ET.Element, place: int, variable: Variable, fmi: int) -> None:
    role = variable.role
    attributes: dict[str, Any] = {
        "name": variable.name,
        "valueReference": str(place),
        "description": variable.about,
        "causality": _CAUSALITY[role],
        "variability": "fixed" if role == "parameter" else "continuous",
    }
    if role == "parameter":
        attributes["initial"] = "exact"
    elif role in _CALCULATED:
        attributes["initial"] = "calculated"
    number: dict[str, str] = {}
    if variable.unit not in ("", "1"):
        number["unit"] = variable.unit
    if variable.minimum != LOWEST:
        number["min"] = repr(variable.minimum)
    if role in ("input", "parameter"):
        number["start"] = repr(variable.start)
    if variable.of is not None:
        number["derivative"] = str(variable.of + (fmi == 2))
    if fmi == 3:
        ET.SubElement(listed, "Float64", {**attributes, **number})
    else:
        ET.SubElement(ET.SubElement(listed, "ScalarVariable", attributes), "Real", number)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# Units of polypod's texts as FMI writes them: exponents of base units.

_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_DERIVED = {"N": {"kg": 1, "m": 1, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}}


def exponents(unit: str) -> dict[str, int] | None:
    """Exponents of base units, those that are not zero; None for a text that is no product of known units.

    Examples
    --------
    >>> exponents("N m s/rad"), exponents("kg m^2")
    ({'kg': 1, 'm': 2, 's': -1, 'rad': -1}, {'kg': 1, 'm': 2})
    """
    above, _, below = unit.partition("/")
    total = dict.fromkeys(_BASE, 0)
    for text, sign in ((above, 1), (below.strip("()"), -1)):
        for token in text.split():
            symbol, _, power = token.partition("^")
            parts = _DERIVED.get(symbol, {symbol: 1})
            if symbol == "1":
                continue
            if any(part not in total for part in parts) or not (power or "1").lstrip("-").isdigit():
                return None
            for part, own in parts.items():
                total[part] += sign * own * int(power or 1)
    return {base: value for base, value in total.items() if value}
