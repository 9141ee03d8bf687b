"""The numbers of a robot as inputs of its functions: symbols, values, paths."""

from .vector import Parameter, ParameterVector

__all__ = ["Parameter", "ParameterVector"]
