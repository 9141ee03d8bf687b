"""What holds for certain: bounds by interval arithmetic over boxes of poses, rounding included."""

from .boxes import CertifiedBox, certified_box
from .enclosure import Enclosure, Verdict
from .motion import CertifiedMotion, certify_motion
from .volume import CertifiedVolume, certified_volume

__all__ = [
    "CertifiedBox",
    "CertifiedMotion",
    "CertifiedVolume",
    "Enclosure",
    "Verdict",
    "certified_box",
    "certified_volume",
    "certify_motion",
]
