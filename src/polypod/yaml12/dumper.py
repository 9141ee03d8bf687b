"""Data as YAML text that :func:`~polypod.yaml12.read_yaml` and readers of YAML 1.1 read back alike."""

from __future__ import annotations

from typing import Any

import yaml

from .loader import Loader


class Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper; texts that YAML 1.1 or 1.2 would take for a number or a truth value get quotes, those of
    several lines (tables) are blocks."""


for _first, _resolvers in Loader.yaml_implicit_resolvers.items():
    for _tag, _pattern in _resolvers:
        Dumper.add_implicit_resolver(_tag, _pattern, [_first])


def _text(dumper: Any, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Dumper.add_representer(str, _text)


def to_yaml(data: Any, flow: bool | None = False, dumper: Any = Dumper) -> str:
    """Text of data in the order given; ``flow`` False: an entry a line, None: the innermost lists on one line."""
    text: str = yaml.dump(data, Dumper=dumper, sort_keys=False, default_flow_style=flow, width=120, allow_unicode=True)
    return text
