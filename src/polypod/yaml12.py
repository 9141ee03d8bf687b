"""YAML text as plain data and nodes: decimal numbers of YAML 1.2, within limits, every fault with its line.

From text to data. Files come from anywhere, so limits are checked before anything is built or walked.

The numbers are those of YAML 1.2, decimal only: ``010`` is ten (not octal), ``1e3`` is a thousand, and ``1:30``,
``1_000`` and ``0x10`` are texts. Dates are texts too. The tags are those of JSON: mappings, sequences, texts,
numbers, truth values and null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from .errors import Fault

MAX_CHARACTERS = 20_000_000
MAX_NODES = 300_000
"""Values of a document with its aliases written out. Large tables belong in a block of text, a CSV or a mode file."""
MAX_DEPTH = 50
_TOO_DEEP = f"nested deeper than the {MAX_DEPTH} levels that are allowed"
_OWN_ALIAS = "an anchor's value contains its own alias; write the value out instead of the alias"
MAX_DIGITS = 300
"""Characters of a number: a double has at most 309 digits before its point."""

_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_FLOAT = re.compile(f"(?:{_DECIMAL.pattern}|{_SPECIAL.pattern})")
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULL = ("", "~", "null", "Null", "NULL")
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class YamlTextError(ValueError):
    """A text that is not a YAML document, or is beyond the limits; ``faults`` says where and why."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, faults)))


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's reader is ten times as fast, if it is there


class Loader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader with the scalars of YAML 1.2 and no other types."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  PyYAML's own registries
    yaml_constructors: dict[str, Any] = {}  # noqa: RUF012


def _number(loader: Any, node: yaml.ScalarNode) -> int | float:
    text, whole = loader.construct_scalar(node), node.tag == _TAG + "int"
    if len(text) > MAX_DIGITS:
        raise _error(f"a number of {len(text)} characters; the limit is {MAX_DIGITS}", node)
    if not (_INTEGER if whole else _FLOAT).fullmatch(text):
        raise _error(f"{text!r} is not a{' whole' if whole else ''} number, although its tag says so", node)
    return int(text) if whole else float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def _truth_value(loader: Any, node: yaml.ScalarNode) -> bool:
    text = loader.construct_scalar(node)
    if text not in _TRUTH:
        raise _error(f"{text!r} is not true or false, although its tag says so", node)
    return _TRUTH[text]


def _unknown(loader: Any, node: yaml.Node) -> None:
    raise _error(f"the tag {node.tag.replace(_TAG, '!!')!r} is not allowed; files are plain data, leave it out", node)


def _error(problem: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


for _name, _pattern, _first in (
    ("bool", re.compile("|".join(_TRUTH)), "tTfF"),
    ("int", _INTEGER, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("null", re.compile("|".join(map(re.escape, _NULL))), ["", "~", "n", "N"]),
    ("merge", re.compile("<<"), "<"),
):
    # PyYAML matches at the start only
    Loader.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern.pattern})$"), list(_first))
for _name, _construct in {
    "int": _number,
    "float": _number,
    "bool": _truth_value,
    "null": _Base.construct_yaml_null,
    "str": _Base.construct_yaml_str,
    "seq": _Base.construct_yaml_seq,
    "map": _Base.construct_yaml_map,
}.items():
    Loader.add_constructor(_TAG + _name, _construct)
Loader.add_constructor(None, _unknown)


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Data of one document and its node, which has the lines; ``(None, None)`` for an empty text.

    Examples
    --------
    >>> read_yaml("mass: 010")[0]
    {'mass': 10}
    """
    _check_characters(text)
    try:
        _check_events(text)
        node = Loader(text).get_single_node()
        if node is None:
            return None, None
        _check_expanded(node, {}, set())
        repeated = list(_repeated_keys(node, ""))
        if repeated:
            raise YamlTextError(repeated)
        return Loader("").construct_document(node), node
    except yaml.YAMLError as error:
        raise YamlTextError([syntax_fault(error, text)]) from error


def _check_characters(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise YamlTextError(
            [
                Fault(
                    "",
                    f"{len(text)} characters; the limit is {MAX_CHARACTERS}. Keep large tables in CSV files",
                    code="too_long",
                )
            ]
        )
    strange = _UNPRINTABLE.search(text)
    if strange:
        line = len(text[: strange.start() + 1].splitlines())
        raise YamlTextError(
            [Fault("", f"not YAML: control character U+{ord(strange[0]):04X}; remove it", line, "not_yaml")]
        )


def _check_events(text: str) -> None:
    """Depth and number of values, read one by one: nothing is built yet."""
    parser, depth, count = Loader(text), 0, 0
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1
        count += isinstance(event, yaml.events.NodeEvent)
        if depth > MAX_DEPTH:
            raise YamlTextError([Fault("", _TOO_DEEP, event.start_mark.line + 1, "too_deep")])
        if count > MAX_NODES:
            raise YamlTextError([Fault("", _too_many(), event.start_mark.line + 1, "too_many")])


def _too_many() -> str:
    return f"more than {MAX_NODES} values with aliases expanded; keep large tables in a block of text or a CSV file"


def _check_expanded(node: yaml.Node, known: dict[int, tuple[int, int]], above: set[int]) -> tuple[int, int]:
    """Number of values at and below a node and their depth, with aliases written out; each node is visited once."""
    if id(node) in above:
        raise YamlTextError([Fault("", _OWN_ALIAS, node.start_mark.line + 1, "own_alias")])
    if id(node) not in known:
        size, depth = 1, 0
        if isinstance(node, yaml.CollectionNode):
            above.add(id(node))
            for item in node.value:
                for child in item if isinstance(item, tuple) else (item,):
                    inside, deep = _check_expanded(child, known, above)
                    size, depth = size + inside, max(depth, deep)
            above.remove(id(node))
            depth += 1
        known[id(node)] = size, depth
        if size > MAX_NODES:
            raise YamlTextError([Fault("", _too_many(), node.start_mark.line + 1, "too_many")])
        if depth > MAX_DEPTH:
            raise YamlTextError([Fault("", f"{_TOO_DEEP}, aliases written out", node.start_mark.line + 1, "too_deep")])
    return known[id(node)]


def _repeated_keys(node: yaml.Node, path: str) -> Iterator[Fault]:
    """YAML lets the last of two equal keys win in silence; here it is a fault."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[Any, int] = {}
        for key, value in node.value:
            name, line = key.value, key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                yield Fault(path, "a key must be a text, got a list or a mapping", line, "key")
                continue
            field = f"{path}.{name}" if path else name
            if name in seen:
                yield Fault(field, f"given twice, here and in line {seen[name]}; remove one of them", line, "twice")
            seen[name] = line
            yield from _repeated_keys(value, field)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _repeated_keys(value, f"{path}.{number}" if path else str(number))


# ----------------------------------------------------------------------------------------------------------------------
# Data as YAML text that ``polypod.yaml12.read_yaml`` and readers of YAML 1.1 read back alike.


class Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper; texts that YAML 1.1 or 1.2 would take for a number or a truth value get quotes, those of
    several lines (tables) are blocks."""


for _start, _resolvers in Loader.yaml_implicit_resolvers.items():
    for _tag, _form in _resolvers:
        Dumper.add_implicit_resolver(_tag, _form, [_start])


def _text(dumper: Any, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Dumper.add_representer(str, _text)


def to_yaml(data: Any, flow: bool | None = False, dumper: Any = Dumper) -> str:
    """Text of data in the order given; ``flow`` False: an entry a line, None: the innermost lists on one line."""
    text: str = yaml.dump(data, Dumper=dumper, sort_keys=False, default_flow_style=flow, width=120, allow_unicode=True)
    return text


# ----------------------------------------------------------------------------------------------------------------------
# What is wrong with a text that is not YAML: the line that is meant, and the usual slip behind it.

_NO_SPACE = re.compile(r"\s*(?:- )?[A-Za-z_][\w-]*:[^\s/]")
_MISPLACED = re.compile("expected <block end>|did not find expected (?:key|'-' indicator)")
_ADVISED = re.compile(r"; |needs|must|allowed|\?")
"""What shows that the usual slip behind an error was found."""
_TWO_COLONS = re.compile(
    r"\s*(?:- )?(?P<key>[A-Za-z_][\w-]*): +(?P<text>[^\s'\"\[{&*!|>%@`#].*?:(?: .*?)?)(?: #.*)?\s*"
)


def syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    """An error of PyYAML (its own reader's or libyaml's words) as a fault with a line and what to do."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None) or ""
    mark, opened = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    lines = text.splitlines()
    if context == "while scanning a simple key":  # noticed only at the next key: the line without a colon is meant
        mark = opened or mark
        problem += " after the key; write 'name: value'"
    elif problem.startswith("mapping values are not allowed"):
        quoted = _quoted(lines[mark.line]) if mark and mark.line < len(lines) else ""
        problem = (
            f"a text with a colon in it needs quotes: {quoted}"
            if quoted
            else "mapping values are not allowed here (is a colon missing in the line before, or the indentation off?)"
        )
    elif "undefined alias" in problem:
        problem += "; set it before with '&', or put the text in quotes"
    elif "another document" in problem:
        problem = "a second document starts with '---'; a file must contain one"
    elif context.startswith("while scanning a quoted"):
        problem = f"a quote{f' opened in line {opened.line + 1}' if opened else ''} is not closed; add the other quote"
    elif "cannot start any token" in problem:
        problem = _strange_start(mark, lines) or problem
    elif context.startswith("while parsing a flow"):
        # at a "flow node" the context is the node that is missing, not the bracket
        where = f" opened in line {opened.line + 1}" if opened and not context.endswith("node") else ""
        problem = f"a bracket or brace{where} is not closed, or a comma is missing, before this line; add it"
    elif context.startswith("while parsing a block") and _MISPLACED.match(problem):
        problem = "this line is indented differently from those it belongs to; indent it like them"
        before = lines[mark.line - 1].partition(" #")[0].strip() if mark and 0 < mark.line <= len(lines) else ""
        if mark and re.fullmatch(
            r"[A-Za-z_]\w* [-+.\d\[].*", before
        ):  # 'mass 30.0' is a text, to which this line cannot belong
            return Fault(
                "",
                f"not YAML: a colon is missing after {before.split()[0]!r}; write '{before.split()[0]}: ...'",
                mark.line,
                "not_yaml",
            )
    for number in range(mark.line, max(mark.line - 3, -1), -1) if mark else ():
        if number < len(lines) and _NO_SPACE.match(
            lines[number]
        ):  # 'mass:3' is a text, and the lines after it are lost
            return Fault(
                "", "not YAML: a space is missing after the colon; write 'name: value'", number + 1, "not_yaml"
            )
    if not _ADVISED.search(problem):
        problem += "; check the indentation, quotes and brackets of this line and of the one before"
    return Fault("", f"not YAML: {problem}", mark.line + 1 if mark else None, "not_yaml")


def _quoted(line: str) -> str:
    """How a line such as 'title: a: b' is written right; empty if it is none."""
    found = _TWO_COLONS.fullmatch(line)
    quote = "'" if found and "'" not in found["text"] else '"'
    return f"{found['key']}: {quote}{found['text']}{quote}" if found else ""


def _strange_start(mark: Any, lines: list[str]) -> str:
    """Which character stands where a value starts, and what to do about it."""
    character = lines[mark.line][mark.column : mark.column + 1] if mark and mark.line < len(lines) else ""
    if character == "\t":
        return "a tab is used for indentation; indent with spaces"
    return f"a text that starts with {character!r} needs quotes" if character else ""
