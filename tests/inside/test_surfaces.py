"""Surfaces of shapes as triangles, and STL files."""

from __future__ import annotations

import numpy as np
import pytest

import polypod as pp
from polypod.analysis import straight_reach, surface_triangles
from polypod.drawing.surface import surface
from polypod.errors import InputError
from polypod.output.stl import stl
from support.refusals import refused


def volume(triangles: np.ndarray) -> float:
    """Volume within a closed surface, by the divergence theorem; negative if its corners are clockwise."""
    return float(np.linalg.det(triangles).sum() / 6)


@pytest.mark.parametrize(
    ("points", "exact"),
    [
        ([[0.1, 0.2, 0.3]], 4 / 3 * np.pi * 0.05**3),
        ([[0, 0, 0], [0.3, 0.4, 0]], np.pi * 0.05**2 * 0.5 + 4 / 3 * np.pi * 0.05**3),
        (  # a square plate: slab, half cylinders along its edges, a sphere at its corners
            [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
            0.1 + 4 * 0.5 * np.pi * 0.05**2 + 4 / 3 * np.pi * 0.05**3,
        ),
    ],
)
def test_a_surface_is_closed_and_encloses_the_shape(points: list, exact: float) -> None:
    triangles = surface(np.array(points, dtype=float), 0.05)
    edges = [
        tuple(map(tuple, np.round(pair, 12))) for t in triangles for pair in zip(t, np.roll(t, -1, axis=0), strict=True)
    ]
    assert sorted(edges) == sorted((b, a) for a, b in edges)  # every edge twice, there and back
    assert 0.95 * exact < volume(triangles) < exact  # chords of 24 a turn are within the surface


def test_stl_reads_back() -> None:
    triangles = np.array([[[0, 0, 0], [2, 0, 0], [0, 3, 0]], [[0, 0, 0], [0, 3, 0], [0, 0, 5]]], dtype=float)
    data = stl(triangles, "solid")
    assert not data.startswith(b"solid")
    assert len(data) == 84 + 50 * 2
    assert int.from_bytes(data[80:84], "little") == 2
    rows = np.frombuffer(data[84:], np.uint8).reshape(2, 50)
    numbers = rows[:, :48].copy().view("<f4").reshape(2, 4, 3)
    assert numbers[:, 0].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert numbers[:, 1:].tolist() == triangles.tolist()


def test_a_workspace_is_a_closed_surface_in_the_base_frame() -> None:
    """The rods of a linear Delta reach as far as its surface: its volume is that of the map, its middle is home."""
    model = pp.Model("delta")
    found = straight_reach(model, directions=24)
    triangles = surface_triangles(found)
    edges = [
        tuple(map(tuple, np.round(pair, 12))) for t in triangles for pair in zip(t, np.roll(t, -1, axis=0), strict=True)
    ]
    assert sorted(edges) == sorted((b, a) for a, b in edges)
    assert volume(triangles) == pytest.approx(float(found.volume), rel=0.1)  # chords against solid angles
    x = found.surface.values[3, 5]
    still = np.zeros(3)
    at = model.motion(x, still, still).pose[:3, 3]
    assert np.abs(triangles.reshape(-1, 3) - at).max(axis=1).min() < 1e-12
    with refused(InputError, "roll pitch yaw displacements"):
        surface_triangles(straight_reach(pp.Model("agile-eye"), directions=4))
