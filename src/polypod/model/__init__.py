"""The numeric face of a robot."""

from .model import Model
from .results import Code, Conditioning, Energy, ForwardKinematics, LimitReport, PlatformMotion

__all__ = ["Code", "Conditioning", "Energy", "ForwardKinematics", "LimitReport", "Model", "PlatformMotion"]
