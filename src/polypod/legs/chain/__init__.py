"""General legs: any bodies and joints, closed by equations."""

from .data import ChainJoint, JointCone, JointFrictions, JointRanges
from .leg import Chain

__all__ = ["Chain", "ChainJoint", "JointCone", "JointFrictions", "JointRanges"]
