"""YAML text as plain data and nodes: decimal numbers of YAML 1.2, within limits, every fault with its line."""

from .dumper import Dumper, to_yaml
from .loader import YamlTextError, read_yaml

__all__ = ["Dumper", "YamlTextError", "read_yaml", "to_yaml"]
