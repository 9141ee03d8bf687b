"""Mutations that know what a file means: numbers in other units, names, kinds, lists; and of its text.

A mutated file is a function of its seed alone: ``mutated(seed)`` makes it again.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import yaml

from polypod.files.robot_files import _source
from polypod.files.templates import template

Random = np.random.Generator
ROBOTS = ("hexapod", "kim-ryu", "long", "lopes", "pedrammehr", "staicu")
CHAINS = ("delta", "3-rps", "five-bar", "reachy-mini")  # take ten times as long to check
_EULER = """\
name: circle
robot: hexapod
rate: 100
trajectory:
  kind: euler
  relative_to: home
  path: {kind: sine, amplitude: [0.02, 0, 0, 0, 0, 0], frequency: 1.0, duration: 1.0}
"""
_TABLE = """\
name: table
robot: hexapod
rate: 100
trajectory:
  kind: poses
  relative_to: home
  csv: table.csv
"""
CSV = "time [s],x [mm],y [mm],z [mm],a1 [deg],a2 [deg],a3 [deg]\n0,0,0,0,0,0,0\n0.5,10,0,5,0,3,0\n1,0,0,0,0,0,0\n"


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Mutant(NamedTuple):
    """A mutated file: robot or motion, its text, the table beside it, and what was done to it.

    ``absurd`` says that no engineer can mean the file, though it is one: it must be refused or warned about.
    """

    kind: str
    text: str
    csv: str
    what: str
    absurd: bool = False


def mutated(seed: int) -> Mutant:
    """The file of a seed."""
    rng = np.random.default_rng(seed)
    motion = rng.random() < 0.35
    if motion:
        text, csv = _motion(rng)
    else:
        text, csv = _robot(rng), ""
    kind = "motion" if motion else "robot"
    roll = rng.random()
    if roll < 0.2 and not motion:
        slip = _slip(rng, text)
        if slip is not None:
            return Mutant(kind, slip[0], csv, slip[1], absurd=True)
    if csv and roll < 0.4:
        csv, what = _cells(rng, csv)
        return Mutant(kind, text, csv, f"csv {what}")
    if roll < 0.8:
        document, done = _data(text), []
        for _ in range(int(rng.integers(1, 3))):
            done.append(_tree(rng, document))
        return Mutant(kind, _written(document), csv, "; ".join(done))
    text, what = _text(rng, text)
    return Mutant(kind, text, csv, what)


def _robot(rng: Random) -> str:
    if rng.random() < 0.2:
        return template("robot", "mine", str(rng.choice(["rigid", "flexible"])))
    return _source(str(rng.choice(CHAINS if rng.random() < 0.1 else ROBOTS)))[0]


def _motion(rng: Random) -> tuple[str, str]:
    text = [template("motion", "mine").replace("# robot: my-hexapod.yaml", "robot: hexapod"), _EULER, _TABLE]
    chosen = text[int(rng.integers(3))]
    return chosen, CSV if "csv: table.csv" in chosen and "# csv" not in chosen else ""


def _data(text: str) -> Any:
    return yaml.load(text, Loader=_Loader)


def _written(document: Any) -> str:
    return str(yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10_000))


# -- the tree ---------------------------------------------------------------------------------------------------------


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document, inner ones too."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


_NUMBERS: list[Callable[[float], Any]] = [
    lambda x: 0, lambda x: 0.0, lambda x: -x, lambda x: 1e3 * x, lambda x: 1e-3 * x, lambda x: 1e6 * x,
    lambda x: x + 1e-9, lambda x: 1e300, lambda x: 1e-300, lambda x: float("nan"), lambda x: float("inf"),
    lambda x: -1e12, lambda x: 10**400, lambda x: str(x), lambda x: f"{x} mm", lambda x: f"{x} deg",
    lambda x: f"{x} kg", lambda x: f"{x} furlongs", lambda x: f"{x}mm", lambda x: "010", lambda x: "1:30",
    lambda x: "0x10", lambda x: "1_000", lambda x: True, lambda x: None, lambda x: [x], lambda x: {"value": x},
    lambda x: 5e-324, lambda x: 1.7e308, lambda x: x * 57.3, lambda x: "2001-02-30", lambda x: "1e", lambda x: "",
]  # fmt: skip
_TEXTS: list[Any] = [
    "", " ", "../../escaped", "/absolute", "a/b", "..", ".", "CON", "x" * 300, "x" * 20_000,
    "\u0421\u0438\u043d\u0438\u0439", "\U0001f916", "$\\frac{1}{2}$", "<script>alert(1)</script>",
    "[bold]x[/]", "=1+1", "a\tb", "a\nb", "a\u202eb", ":x:",
    "*/ int x;", "6-ups", "leg 1", "leg.1", "null", "platform", "base", "true", 7, None, [], {}, [1, 2], {"a": 1},
    "\u00e9\u0301", "%s%n", "{0}", "a'b\"c", "-rf", "~", "nan", "\\",
]  # fmt: skip


def _tree(rng: Random, document: Any) -> str:
    """One change of a document in place; what was done."""
    places = list(_places(document))
    if not places:
        return "nothing"
    path = places[int(rng.integers(len(places)))]
    parent, key, value = _at(document, path[:-1]), path[-1], _at(document, path)
    where = ".".join(map(str, path))
    roll = rng.random()
    if roll < 0.12:
        del parent[key]
        return f"removed {where}"
    if roll < 0.2 and isinstance(parent, dict):
        new = _typo(rng, str(key))
        parent[new] = parent.pop(key)
        return f"renamed {where} to {new!r}"
    if roll < 0.26 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(value))
        return f"repeated {where}"
    if roll < 0.3 and isinstance(parent, list) and len(parent) > 1:
        other = int(rng.integers(len(parent)))
        parent[key], parent[other] = parent[other], parent[key]
        return f"swapped {where} and {other}"
    if roll < 0.36:
        parent[key] = copy.deepcopy(_at(document, places[int(rng.integers(len(places)))]))
        return f"{where} from elsewhere"
    if roll < 0.4 and isinstance(parent, dict):
        parent[_typo(rng, "extra")] = 1
        return f"a strange field beside {where}"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        parent[key] = copy.deepcopy(_TEXTS[int(rng.integers(len(_TEXTS)))])
    elif isinstance(value, (int, float)) and abs(value) <= 1e308:  # not an integer beyond all floats
        parent[key] = _NUMBERS[int(rng.integers(len(_NUMBERS)))](float(value))
    elif isinstance(value, list):
        parent[key] = [value[:-1], [*value, 0.0], value[::-1], [], value * 2, None, "list"][int(rng.integers(7))]
    else:
        parent[key] = [{}, None, [value], "mapping", 3.0][int(rng.integers(5))]
    return f"{where} = {str(parent[key])[:60]!r}"


def _typo(rng: Random, word: str) -> str:
    k = int(rng.integers(len(word))) if word else 0
    return [word[:k] + word[k + 1 :], word[:k] + "x" + word[k:], word.upper(), word + "s"][int(rng.integers(4))]


# -- slips that nobody can mean ---------------------------------------------------------------------------------------


def _scaled(document: Any, key: str, factor: float) -> bool:
    """Numbers under every key of a name, multiplied; whether there were any."""
    found = False
    for path in list(_places(document)):
        if path[-1] != key:
            continue
        parent, value = _at(document, path[:-1]), _at(document, path)
        if isinstance(value, (int, float)) and value:
            parent[key], found = value * factor, True
        elif isinstance(value, list) and all(isinstance(x, (int, float)) for x in value) and any(value):
            parent[key], found = [x * factor for x in value], True
    return found


def _set(document: Any, path: tuple[Any, ...], value: Any) -> bool:
    try:
        _at(document, path[:-1])[path[-1]] = value
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _slip(rng: Random, text: str) -> tuple[str, str] | None:
    """A file in other units or beyond anything built; None if this robot has no such number."""
    document = _data(text)
    down = document.get("gravity", [0, 0, -9.81])
    friction = {"viscous": 1e9}
    legs = ("leg_defaults",) if isinstance(document.get("leg_defaults"), dict) else ("legs", 0)
    kind = (document.get("leg_defaults") or {}).get("kind") or document["legs"][0].get("kind")
    field = {"UPS": "prismatic_friction", "PUS": "slider_friction"}.get(str(kind))
    slips: list[tuple[str, Callable[[], bool]]] = [
        ("gravity in mm/s^2", lambda: _set(document, ("gravity",), [1e3 * x for x in down])),
        ("masses in g", lambda: _scaled(document, "mass", 1e3)),
        ("masses of 1e12", lambda: _scaled(document, "mass", 1e12)),
        ("platform of 1e9 kg", lambda: _set(document, ("platform", "mass"), 1e9)),
    ]
    if field is not None:
        slips += [
            ("viscous friction of 1e9", lambda: _set(document, (*legs, field), friction)),
            ("friction coefficient 5", lambda: _set(document, (*legs, field), {"coulomb": 5.0})),
            ("drag of 1e9 N", lambda: _set(document, (*legs, field), {"drag": 1e9})),
        ]
    if kind == "UPS":
        slips += [
            ("rotor of 1e9 kg", lambda: _set(document, (*legs, "rotor_mass"), 1e9)),
            ("cross of 1e9 kg m^2", lambda: _set(document, (*legs, "cross_inertia"), 1e9)),
            ("lengths below zero", lambda: _set(document, (*legs, "length"), [-0.5, -0.1])),
        ]
    what, apply = slips[int(rng.integers(len(slips)))]
    return (_written(document), what) if apply() else None


# -- the text ---------------------------------------------------------------------------------------------------------

_SIGNS = list("[]{}:,&*!|>'\"%@`#-?\x07\x1b\u0000\ufeff")
_BOMB = "a0: &a0 [1, 1]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}, *a{k - 1}]\n" for k in range(1, 30))


def _text(rng: Random, text: str) -> tuple[str, str]:
    lines = text.splitlines()
    k, c = int(rng.integers(len(lines))), int(rng.integers(len(text)))
    line = lines[k]
    choices: list[tuple[str, Callable[[], str]]] = [
        ("a line removed", lambda: "\n".join(lines[:k] + lines[k + 1 :])),
        ("a line repeated", lambda: "\n".join([*lines[:k], line, *lines[k:]])),
        ("a line indented", lambda: "\n".join([*lines[:k], "  " + line, *lines[k + 1 :]])),
        ("a tab", lambda: "\n".join([*lines[:k], "\t" + line.lstrip(), *lines[k + 1 :]])),
        ("cut off", lambda: text[:c]),
        ("a character removed", lambda: text[:c] + text[c + 1 :]),
        ("a character put in", lambda: text[:c] + str(rng.choice(_SIGNS)) + text[c:]),
        ("digits flipped", lambda: re.sub(r"\d", lambda m: str(9 - int(m[0])) if rng.random() < 0.05 else m[0], text)),
        ("deep brackets", lambda: text + "\nextra: " + "[" * 3000 + "]" * 3000),
        ("deep blocks", lambda: text + "\n" + "".join(" " * n + "a:\n" for n in range(900))),
        ("aliases of aliases", lambda: text + "\n" + _BOMB),
        ("an anchor in itself", lambda: text + "\nextra: &x {y: *x}\n"),
        ("a long integer", lambda: text + "\nextra: " + "9" * 5000),
        ("a tag", lambda: text + "\nextra: !!python/object/apply:os.system ['true']\n"),
        ("a wrong tag", lambda: text + "\nextra: !!int abc\n"),
        ("a date", lambda: text + "\nextra: 2001-02-30\n"),
        ("two documents", lambda: text + "\n---\n" + text),
        ("a merge", lambda: text + "\nextra: {<<: *nowhere}\n"),
        ("upper case", lambda: text.upper()),
        ("nothing left", lambda: ""),
        ("noise", lambda: "".join(map(chr, rng.integers(1, 0x250, 400).tolist()))),
        ("a decimal comma", lambda: re.sub(r"(\d)\.(\d)", r"\1,\2", text, count=3)),
        ("a missing space", lambda: text.replace(": ", ":", 1)),
        ("lines of another system", lambda: text.replace("\n", "\r\n")),
    ]  # fmt: skip
    what, change = choices[int(rng.integers(len(choices)))]
    return change(), what


def _cells(rng: Random, csv: str) -> tuple[str, str]:
    lines = [line.split(",") for line in csv.strip().splitlines()]
    i, j = int(rng.integers(len(lines))), int(rng.integers(len(lines[0])))
    cells = [
        "",
        "nan",
        "inf",
        "1e400",
        "abc",
        "1;2",
        "-1",
        "1e300",
        "x [deg]",
        "z [s]",
        "=1+1",
        "0x10",
        "1_0",
        '"',
        "\x00",
    ]
    roll = rng.random()
    if roll < 0.5:
        lines[i][j] = str(rng.choice(cells))
        what = f"cell {i},{j} = {lines[i][j]!r}"
    elif roll < 0.7:
        k = int(rng.integers(len(lines[0])))
        lines[0][j], lines[0][k] = lines[0][k], lines[0][j]
        what = f"headers {j} and {k} exchanged"
    elif roll < 0.85:
        del lines[i][j]
        what = f"a cell less in row {i}"
    else:
        lines[i], lines[-1] = lines[-1], lines[i]
        what = f"row {i} last"
    return "\n".join(",".join(row) for row in lines) + "\n", what
