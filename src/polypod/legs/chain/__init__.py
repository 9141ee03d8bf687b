"""General legs: any bodies and joints, closed by equations."""

from .data import ChainJoint, JointCone, JointFrictions, JointRanges
from .leg import Chain
from .machine import Machine

__all__ = ["Chain", "ChainJoint", "JointCone", "JointFrictions", "JointRanges", "Machine"]
