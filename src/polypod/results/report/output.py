"""What a run leaves behind: results.nc, CSV tables, figures, report.html, in one folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from ..sizing import actuators, bearings, limits
from ..study import Study, write_netcdf
from ..tables import table
from .folder import whole_folder
from .page import Image, page

FILES = ("results.nc", "forces.csv", "actuators.csv", "bearings.csv", "limits.csv", "figures", "report.html")


def write_results(
    study: Study, target: Path, force: bool = False, progress: Callable[[str], None] = lambda step: None
) -> list[Path]:
    """Write a study's folder whole or not at all; returns the files in it."""
    with whole_folder(target, force, FILES) as folder:
        progress("results.nc")
        write_netcdf(study, folder / "results.nc")
        columns = [("time", "s"), *((leg, "N") for leg in study.model.legs)]
        rows = [(float(t), *map(float, row)) for t, row in zip(study.time, study.force, strict=True)]
        (folder / "forces.csv").write_text(table("Forces", columns, rows).csv(), encoding="utf-8")
        tables = {"actuators": actuators(study), "bearings": bearings(study), "limits": limits(study)}
        for name, made in tables.items():
            if made.rows:
                (folder / f"{name}.csv").write_text(made.csv(), encoding="utf-8")
        images = _figures(study, folder / "figures", progress)
        progress("report.html")
        from ... import __version__

        (folder / "report.html").write_text(page(study, images, __version__), encoding="utf-8")
    return sorted(path for path in target.rglob("*") if path.is_file())


def _figures(study: Study, folder: Path, progress: Callable[[str], None]) -> list[Image]:
    from .. import figures as plots  # Matplotlib takes its time to load; only here is it needed

    folder.mkdir()
    images = []
    for name, caption, figure in plots.figures(study):
        progress(f"figure {name}")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        images.append((name, caption, buffer.getvalue()))
        (folder / f"{name}.png").write_bytes(buffer.getvalue())
    return images
