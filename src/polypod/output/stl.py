"""Triangles as an STL file, which CAD programs and robot viewers read."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stl(triangles: ArrayLike, about: str = "polypod") -> bytes:
    """Triangles as binary STL.

    Parameters
    ----------
    triangles : array_like, shape (n, 3, 3)
        Corners, counter-clockwise as seen from outside; STL has no unit, so that whoever reads it must know it.
    about : str, optional
        What the file says of itself, at most 80 bytes.

    Returns
    -------
    bytes
        The file.

    Examples
    --------
    >>> len(stl([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]))
    134
    """
    corners = np.asarray(triangles, dtype=float).reshape(-1, 3, 3)
    records = np.zeros(len(corners), _RECORD)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    records["normal"] = np.divide(across, length, out=np.zeros_like(across), where=length > 0.0)
    records["corners"] = corners
    # the header must not begin with "solid", as a text does
    head = f"binary STL: {about}".encode("ascii", "replace")[:80].ljust(80)
    return head + np.uint32(len(records)).tobytes() + records.tobytes()
