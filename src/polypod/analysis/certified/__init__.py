"""What holds for certain: bounds by interval arithmetic over boxes of poses, rounding included."""

from .boxes import CertifiedBox, CertifiedVolume, certified_box, certified_volume
from .enclosure import Enclosure, Verdict
from .motion import CertifiedMotion, certify_motion

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
