"""What holds for certain: bounds by interval arithmetic over boxes of poses, rounding included."""

from .bounds import MotionBounds, bound_motion
from .boxes import CertifiedBox, certified_box
from .enclosure import Enclosure
from .implicit import ImplicitEnclosure, enclosure_of
from .intervals import Verdict
from .motion import CertifiedMotion, certify_motion
from .volume import CertifiedVolume, certified_volume

__all__ = [
    "CertifiedBox",
    "CertifiedMotion",
    "CertifiedVolume",
    "Enclosure",
    "ImplicitEnclosure",
    "MotionBounds",
    "Verdict",
    "bound_motion",
    "certified_box",
    "certified_volume",
    "certify_motion",
    "enclosure_of",
]
