"""What a run leaves behind: results.nc, CSV tables, figures, report.html, in one folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import xarray as xr

from ...datasets import save_result
from ..read import actuators as names
from ..sizing import actuators, bearings, limits
from ..tables import table
from .folder import whole_folder
from .page import Image, page

FILES = ("results.nc", "forces.csv", "actuators.csv", "bearings.csv", "limits.csv", "figures", "report.html")


def write_results(
    result: xr.Dataset, target: Path, force: bool = False, progress: Callable[[str], None] = lambda step: None
) -> list[Path]:
    """Write a study's folder whole or not at all; returns the files in it."""
    with whole_folder(target, force, FILES) as folder:
        progress("results.nc")
        save_result(result, folder / "results.nc")
        columns = [("time", "s"), *zip(names(result), map(str, result.force_unit.values), strict=True)]
        rows = [(float(t), *map(float, row)) for t, row in zip(result.time, result.force.values, strict=True)]
        (folder / "forces.csv").write_text(table("Forces", columns, rows).csv(), encoding="utf-8")
        tables = {"actuators": actuators(result), "bearings": bearings(result), "limits": limits(result)}
        for name, made in tables.items():
            if made.rows:
                (folder / f"{name}.csv").write_text(made.csv(), encoding="utf-8")
        images = _figures(result, folder / "figures", progress)
        progress("report.html")
        from ... import __version__

        (folder / "report.html").write_text(page(result, images, __version__), encoding="utf-8")
    return sorted(path for path in target.rglob("*") if path.is_file())


def _figures(result: xr.Dataset, folder: Path, progress: Callable[[str], None]) -> list[Image]:
    from .. import figures as plots  # Matplotlib takes its time to load; only here is it needed

    folder.mkdir()
    images = []
    for name, caption, figure in plots.figures(result):
        progress(f"figure {name}")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        images.append((name, caption, buffer.getvalue()))
        (folder / f"{name}.png").write_bytes(buffer.getvalue())
    return images
