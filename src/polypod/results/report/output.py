"""What a run leaves behind: results.nc, CSV tables, figures, report.html, in one folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets import save_result
from ...model import Model
from ...output.folder import atomic_folder
from ...tables import table
from ..bearings import bearings
from ..read import actuator_names
from ..sizing import actuators, foundation, limits, motors
from ..verdict import verdict
from .page import Image, page

if TYPE_CHECKING:
    import xarray as xr

FILES = (
    "results.nc", "forces.csv", "verdict.csv", "actuators.csv", "motors.csv", "bearings.csv", "limits.csv",
    "foundation.csv", "figures", "report.html",
)  # fmt: skip


def write_results(
    result: xr.Dataset,
    target: str | Path,
    force: bool = False,
    progress: Callable[[str], None] = lambda step: None,
    inputs: Mapping[str, Any] | None = None,
    model: Model | None = None,
) -> list[Path]:
    """Write the folder of a study, completely or not at all.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.
    target : str or Path
        The folder.
    force : bool, optional
        Whether to overwrite results that came from different inputs.
    progress : callable, optional
        Called with the name of each file before it is written.
    inputs : mapping of str to value, optional
        What the result comes from, by name, for the manifest; results of the same inputs are replaced. Default: the
        names of robot and motion.
    model : Model, optional
        Model of the robot, which need not be built again then.

    Returns
    -------
    list of Path
        The files.
    """
    known = inputs or {name: result.attrs[name] for name in ("robot", "motion", "friction")}
    with atomic_folder(Path(target), force, FILES, known) as folder:
        progress("results.nc")
        save_result(result, folder / "results.nc")
        columns = [("time", "s"), *zip(actuator_names(result), map(str, result.force_unit.values), strict=True)]
        rows = [(t, *row) for t, row in zip(result.time.values.tolist(), result.force.values.tolist(), strict=True)]
        (folder / "forces.csv").write_text(table("Forces", columns, rows).csv(), encoding="utf-8")
        tables = {
            "verdict": verdict(result).details, "actuators": actuators(result), "motors": motors(result),
            "bearings": bearings(result), "limits": limits(result),
            "foundation": foundation(result),
        }  # fmt: skip
        for name, one in tables.items():
            if one.rows:
                (folder / f"{name}.csv").write_text(one.csv(), encoding="utf-8")
        images = draw_figures(result, progress)
        (folder / "figures").mkdir()
        for name, _, svg in images:
            (folder / "figures" / f"{name}.svg").write_bytes(svg)
        progress("report.html")
        (folder / "report.html").write_text(page(result, images, known, model), encoding="utf-8")
    return sorted(path for path in Path(target).rglob("*") if path.is_file())


def draw_figures(result: xr.Dataset, progress: Callable[[str], None] = lambda step: None) -> list[Image]:
    """All figures of a study as SVG, whose letters are text: small, sharp in print, soon drawn."""
    from ..figures import figures
    from ..figures.light import light_figures

    images = []
    with light_figures():
        for name, caption, figure in figures(result):
            progress(f"figure {name}")
            images.append((name, caption, svg_of(figure)))
    return images


def svg_of(figure: Any) -> bytes:
    """A figure as SVG; of one that only Matplotlib can draw, in the same way."""
    if hasattr(figure, "svg"):
        return str(figure.svg()).encode()
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "polypod"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
