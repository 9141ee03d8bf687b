"""What a model says beyond one state: linearisation and natural modes; the home of maps and workspaces."""

from .linear import LinearModel, NaturalModes, linearise, natural_modes

__all__ = ["LinearModel", "NaturalModes", "linearise", "natural_modes"]
