"""Files of every kind as JSON schema, for completion and validation in editors."""

from __future__ import annotations

from typing import Any

from ..errors import UnknownNameError

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_MEASURE = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[-+]?(\d|\.\d)"}]}
"""A number, or a text that begins with one, such as 60 mm."""
_FAMILIES = {"trajectory": "TrajectoryKind", "path": "PathKind", "time law": "TimeLaw", "wrench": "Wrench"}
"""Classes of ``polypod.motion`` with several kinds, by what the schema calls the field of a motion file."""


def schema(kind: str) -> dict[str, Any]:
    """JSON schema of a kind of file.

    It knows the fields and what goes into them; what depends on several fields is for ``polypod check``. Numbers may be
    texts with a unit, and what legs share may stand in ``leg_defaults``, so no field of a leg is required.

    Parameters
    ----------
    kind : "robot", "motion", "study" or "tolerances"

    Returns
    -------
    dict : a JSON schema (draft 2020-12)
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of file", kind, tuple(KINDS))
    fields = KINDS[kind]()
    return {"$schema": _DRAFT, "title": f"polypod {kind} file", **{k: v for k, v in fields.items() if k != "title"}}


def _robot() -> dict[str, Any]:
    from ..couplings import Coupling
    from ..description import LegData, Robot
    from ..files.short_forms.forms import Copies, Group, Mirror, Pair
    from ..files.short_forms.kinds import KINDS as SHORT_FORMS
    from ..legs.rail import RailLeg

    definitions: dict[str, Any] = {}
    whole = _collected(Robot.model_json_schema(), definitions)
    short = {form.__name__: _collected(form.model_json_schema(), definitions) for form in (Copies, Mirror, Pair)}
    definitions |= short
    couplings = {"type": "array", "items": {"$ref": "#/$defs/coupling"}}
    relations = []
    for name, coupling in _built_in(Coupling.registry):
        own = _collected(coupling.model_json_schema(), definitions)
        own["properties"]["kind"] = {"const": name}
        definitions[f"coupling {name}"] = own
        relations.append({"$ref": f"#/$defs/coupling {name}"})
    # joints with their factors
    factors = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "number"}}
    definitions["coupling"] = {"anyOf": [*relations, factors]}
    kinds = []
    for name, form in SHORT_FORMS.items():
        own = _collected(form.model_json_schema(), definitions)
        own["properties"] |= {"kind": {"const": name}, "copies": {"$ref": "#/$defs/Copies"}}
        own["properties"] |= {"mirror": {"$ref": "#/$defs/Mirror"}}
        own["required"] = ["kind"]  # leg_defaults give the rest
        definitions[f"leg {name}"] = own
        kinds.append({"$ref": f"#/$defs/leg {name}"})
    for name, leg in _built_in(LegData.registry):
        leg_schema = _collected(leg.model_json_schema(), definitions)
        fields = {key: leg_schema["properties"].get(key, {}) for key in leg.file_fields()}
        if issubclass(leg, RailLeg):
            fields["rail_end"] = fields["rail_start"]  # a point may stand for the direction
        if "couplings" in fields:
            fields["couplings"] = couplings
        fields |= {"kind": {"const": name}, "copies": {"$ref": "#/$defs/Copies"}, "mirror": {"$ref": "#/$defs/Mirror"}}
        definitions[f"leg {name}"] = {
            "type": "object", "description": leg_schema.get("description", ""), "properties": fields,
            "additionalProperties": False,
        }  # fmt: skip
        kinds.append({"$ref": f"#/$defs/leg {name}"})
    definitions["Body"]["properties"]["pair"] = {"$ref": "#/$defs/Pair"}
    definitions["DegreeOfFreedom"]["required"] = []  # a joint has a name already
    dof = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/DegreeOfFreedom"}, {"type": "string"}]}}
    whole["properties"] |= {
        "dof": dof,
        "couplings": {**couplings, "description": "Relations between joints, by LEG.JOINT."},
        "legs": {"type": "array", "minItems": 1, "items": {"anyOf": kinds}},
        "leg_defaults": {"anyOf": kinds, "description": "What all legs share; a leg overrides it field by field."},
    }
    shared = {
        "bodies": {
            **definitions["leg chain"]["properties"]["bodies"],
            "description": "Bodies that legs share, by name.",
        },
        "joints": {"type": "array", "items": {"$ref": "#/$defs/ChainJoint"}},
    }
    definitions["Group"] = {
        "type": "object", "description": Group.__doc__, "additionalProperties": False,
        "properties": {
            "copies": {"$ref": "#/$defs/Copies"}, "mirror": {"$ref": "#/$defs/Mirror"}, **shared,
            "legs": whole["properties"]["legs"],
        },
    }  # fmt: skip
    whole["properties"] |= {**shared, "groups": {"type": "array", "items": {"$ref": "#/$defs/Group"}}}
    whole["required"] = [name for name in whole.get("required", ()) if name != "legs"]
    return {**whole, "$defs": definitions}


def _motion() -> dict[str, Any]:
    from .. import motion  # with all kinds of its files

    definitions: dict[str, Any] = {}
    whole = _collected(motion.MotionFile.model_json_schema(), definitions)
    for what, family in _FAMILIES.items():
        registry = getattr(motion, family).registry
        choices: list[dict[str, Any]] = []
        for name, kind in _built_in(registry):
            own = _collected(kind.model_json_schema(), definitions)
            own["properties"]["kind"] = {"const": name}
            own["required"] = [*own.get("required", ()), *(["kind"] if what in ("trajectory", "path") else [])]
            definitions[f"{what} {name}"] = own
            choices.append({"$ref": f"#/$defs/{what} {name}"})
        if what == "time law":
            choices.append({"enum": [name for name, _ in _built_in(registry)]})
        if what == "wrench":
            choices.append({"type": "array", "minItems": 6, "maxItems": 6, "items": _MEASURE})
        definitions[what] = {"anyOf": choices}
    return {**whole, "$defs": definitions}


def _study() -> dict[str, Any]:
    from ..design import PATTERNS, QUANTITIES, Study

    definitions: dict[str, Any] = {}
    whole = _collected(Study.model_json_schema(), definitions)
    quantity = {"enum": list(QUANTITIES)}
    several = {"anyOf": [quantity, {"type": "array", "items": quantity}]}
    values = {"type": "object", "propertyNames": quantity, "additionalProperties": _MEASURE}
    whole["properties"] |= {"report": several, "minimise": several, "maximise": several}
    whole["properties"] |= {"limits": values, "target": values}
    definitions["Varied"]["properties"]["pattern"] = {"enum": list(PATTERNS), "default": "value"}
    whole["properties"]["vary"] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Varied"}}
    return {**whole, "$defs": definitions}


def _tolerances() -> dict[str, Any]:
    from ..analysis import Tolerances

    definitions: dict[str, Any] = {}
    whole = _collected(Tolerances.model_json_schema(), definitions)
    whole["properties"]["growth"] = {"type": "array", "items": {"$ref": "#/$defs/Growth"}}
    return {**whole, "$defs": definitions}


KINDS = {"robot": _robot, "motion": _motion, "study": _study, "tolerances": _tolerances}
"""The kinds of files that have a schema."""


def _built_in(registry: dict[str, Any]) -> list[tuple[str, Any]]:
    """Kinds that come with polypod; one's own have no place in a schema for everybody."""
    return [(name, kind) for name, kind in sorted(registry.items()) if kind.__module__.startswith("polypod.")]


def _collected(whole: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema whose definitions go to those of the file; short forms and units are allowed for in all of it."""
    definitions |= {name: _relaxed(part) for name, part in whole.pop("$defs", {}).items() if name not in definitions}
    relaxed: dict[str, Any] = _relaxed(whole)
    return relaxed


def _relaxed(part: Any) -> Any:
    """A schema as files are written: a number may have a unit, a form in words may be anything, a kind one of many."""
    if isinstance(part, list):
        return [_relaxed(item) for item in part]
    if not isinstance(part, dict):
        return part
    about = {key: part[key] for key in ("description", "default") if key in part}
    if "form" in part:
        return (
            {"$ref": f"#/$defs/{part['form']}"} if part["form"] in _FAMILIES else {**about, "description": part["form"]}
        )
    if part.get("type") in ("number", "integer"):
        unit = {"description": f"[{part['unit']}]"} if part.get("unit") else {}
        return {**about, **unit, **_MEASURE}
    if part.get("type") == "array":
        # directions by joints, tensors by three numbers, tables as text: lists have more forms than their class
        return {**about, "anyOf": [{"type": "array"}, {"type": ["string", "object", "null"]}]}
    return {key: _relaxed(value) for key, value in part.items() if not _is_annotation(key, value)}


def _is_annotation(key: str, value: Any) -> bool:
    """Whether an entry of a schema is a word about it, not a field of that name."""
    return key in ("title", "unit") and isinstance(value, str)
