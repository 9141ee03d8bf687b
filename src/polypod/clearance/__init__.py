"""How far bodies of a robot are from each other and from the floor: exact distances of its shapes, compiled.

The shapes are those that drawings have (``polypod.drawing``).
"""

from .clearance import Clearance, ClearanceFunction
from .pairs import BodyPair, body_pairs

__all__ = ["BodyPair", "Clearance", "ClearanceFunction", "body_pairs"]
