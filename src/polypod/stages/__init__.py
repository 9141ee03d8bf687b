"""Robots in series: the platform of one carries the base of the next."""

from .files import Stage, StagesFile, load_stages, staged_library
from .machine import Series, StageMotion, series, whole_model

__all__ = ["Series", "Stage", "StageMotion", "StagesFile", "load_stages", "series", "staged_library", "whole_model"]
