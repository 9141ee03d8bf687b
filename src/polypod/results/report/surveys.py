"""Folders of what an analysis found: data and figures of a workspace, of singularities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...analysis import surface_triangles
from ...analysis.singularity import Nearest, SingularityReport, section
from ...datasets import save_result
from ...model import Model
from ...output.folder import atomic_folder
from ...output.stl import stl
from ..figures import WORKSPACE_FIGURES, figures, without_mathtext

if TYPE_CHECKING:
    import xarray as xr

WORKSPACE_FILES = (
    "positions.nc", "orientations.nc", "reach.nc", "travel.nc", "tilt.nc", "full.nc", "reach.stl", "figures",
)  # fmt: skip
SINGULARITY_FILES = ("loci.nc", "loci.png", "screw.png")


def write_workspace(
    results: Mapping[str, xr.Dataset],
    target: Path,
    force: bool = False,
    progress: Callable[[str], None] = lambda step: None,
) -> None:
    """Write what ``polypod.analysis.workspace.survey`` found, as netCDF files and figures.

    A surface in three translations is written as STL in mm too, in the base frame.
    """
    with atomic_folder(target, force, WORKSPACE_FILES) as folder:
        (folder / "figures").mkdir()
        for name, result in results.items():
            progress(f"{name}.nc")
            save_result(result, folder / f"{name}.nc")
            if name == "reach" and (result.unit == "m").all():
                triangles = 1e3 * surface_triangles(result)
                (folder / "reach.stl").write_bytes(stl(triangles, f"{result.attrs['robot']}, workspace in mm"))
            for kind, _, figure in figures(result, WORKSPACE_FIGURES):
                figure.savefig(folder / "figures" / f"{name if kind == 'sections' else kind}.png")


def write_singularities(
    model: Model,
    at: Mapping[str, float],
    nearest: Sequence[tuple[Nearest, SingularityReport]],
    target: Path,
    force: bool = False,
    progress: Callable[[str], None] = lambda step: None,
) -> None:
    """Write maps of det J around the coordinates ``at``, and the screw of the nearest singular pose."""
    from ..figures import singularity as drawn  # brings Matplotlib

    with atomic_folder(target, force, SINGULARITY_FILES) as folder:
        progress("sections")
        result = section(model, at)
        save_result(result, folder / "loci.nc")
        without_mathtext(drawn.loci, result).savefig(folder / "loci.png")
        if nearest:
            progress("screw")
            one, report = min(nearest, key=lambda pair: pair[0].distance + model.size * pair[0].angle)
            without_mathtext(drawn.screw, model.robot, one.pose, report).savefig(folder / "screw.png")
