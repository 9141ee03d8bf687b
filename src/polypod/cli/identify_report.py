"""The report of an identification: one HTML page that opens from disk, with its figures inside."""

from __future__ import annotations

import io
from html import escape

import numpy as np

from ..identification import Identification
from ..results.report.page import figure_html, table_html
from ..results.tables import Table, table

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:.15rem .6rem;border-bottom:1px solid #ddd}"
    "td.number{text-align:right}th{text-align:left}.wide{overflow-x:auto}img{max-width:100%}"
    ".note{background:#fff6dd;padding:.4rem .8rem}.caption{color:#666}"
)


def force_errors(found: Identification) -> Table:
    """Errors of forces before and after, by actuator, of the held-out log or else of the last run."""
    shown = (found.validation or found.runs)[-1]
    what = f"held-out log {shown.log.name}" if found.validation else f"log {shown.log.name}, which was fitted"
    unit = found.model.actuators[0].force_unit
    before, after = shown.error(shown.before), shown.error(shown.after)
    rows = [(a.name, float(before[k]), float(after[k]), float(found.fit.noise[k]))
            for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("before", unit), ("after", unit), ("noise", unit)]
    return table("Force errors", columns, rows, f"Root mean square of measured less predicted forces of the {what}.")


def whiteness_table(found: Identification) -> Table:
    """Residuals of the fit: size and whiteness by actuator."""
    white = found.residuals
    rows = [(a.name, float(white.rms[k]), float(white.neighbours[k]), float(white.time[k]), float(white.p_value[k]))
            for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("rms", found.model.actuators[0].force_unit), ("correlation of neighbours", ""),
               ("correlation time", "samples"), ("p-value of whiteness", "")]  # fmt: skip
    caption = "White residuals have a p-value (Ljung, Box) above 0.01. Intervals are widened by the correlation time."
    return table("Residuals", columns, rows, caption)


def changes_table(found: Identification) -> Table:
    """What moved and by how much: every number of the file that logs show something of."""
    rows = []
    for change in found.changes:
        before, after, half = (np.asarray(x, dtype=float) for x in (change.before, change.after, change.half))
        where = [()] if before.ndim == 0 else [(i,) for i in range(3)] if before.ndim == 1 else [
            (i, j) for i in range(3) for j in range(i, 3)]  # fmt: skip
        for at in where:
            suffix = "" if not at else " " + "".join("xyz"[i] for i in at)
            moved = float(after[at] - before[at])
            ratio = abs(moved) / float(half[at]) if half[at] > 0 else float("nan")
            rows.append((change.path + suffix, change.unit, float(before[at]), float(after[at]), float(half[at]), moved,
                         ratio))  # fmt: skip
    columns = [("number", ""), ("unit", ""), ("file", ""), ("new", ""), ("± 95 %", ""), ("moved by", ""),
               ("moved / interval", "")]  # fmt: skip
    return table("Numbers", columns, rows, "By data and file together, of real bodies.")


def base_table(found: Identification) -> Table:
    """Base parameters by data alone."""
    beta, file, half = found.beta, found.base.values(found.linear.values), found.half_widths
    rows = [(name, unit, float(file[k]), float(beta[k]), float(half[k]))
            for k, (name, unit) in enumerate(zip(found.base.names, found.base.units, strict=True))]  # fmt: skip
    columns = [("base parameter", ""), ("unit", ""), ("file", ""), ("data", ""), ("± 95 %", "")]
    alone, some, none = (found.base.sight.count(s) for s in ("alone", "together", "not"))
    caption = f"Of {len(found.base.numbers)} numbers {alone} are seen alone, {some} together with others, {none} not."
    return table("Base parameters", columns, rows, caption)


def page(found: Identification, version: str) -> str:
    """The report as HTML text."""
    notes = "".join(f'<p class="note">{escape(text)}</p>' for text in found.notes)
    tables = [force_errors(found), whiteness_table(found), changes_table(found), base_table(found)]
    figures = [figure_html(name, caption, svg) for name, caption, svg in _figures(found)]
    logs = ", ".join(f"{run.log.name} ({len(run.time)} samples)" for run in found.runs)
    title = f"Identification of {found.robot.name}"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1><p>From {escape(logs)}; polypod {version}.</p>"
        f"{notes}{table_html(tables[0])}{''.join(figures)}{''.join(map(table_html, tables[1:]))}</body></html>"
    )


def _figures(found: Identification) -> list[tuple[str, str, bytes]]:
    """Forces measured and predicted, and residuals with their autocorrelation, of the log that judges the result."""
    from matplotlib.figure import Figure

    shown = (found.validation or found.runs)[-1]
    step = max(1, len(shown.time) // 3000)
    t, names = shown.time[::step], [a.name for a in found.model.actuators]
    unit = found.model.actuators[0].force_unit
    images = []
    for name, caption in (
        ("forces", f"Forces of {shown.log.name}: measured, by the file's numbers and by the new ones."),
        ("residuals", f"Measured less predicted forces of {shown.log.name}, before and after."),
    ):
        figure = Figure(figsize=(10, 1.6 * len(names) + 0.6), layout="constrained")
        axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        for k, axis in enumerate(axes):
            measured, before, after = (a[::step, k] for a in (shown.measured, shown.before, shown.after))
            if name == "forces":
                axis.plot(t, measured, color="0.7", lw=1.5, label="measured")
                axis.plot(t, before, color="C1", lw=0.8, label="file")
                axis.plot(t, after, color="C0", lw=0.8, label="new")
            else:
                axis.plot(t, measured - before, color="C1", lw=0.6, label="file")
                axis.plot(t, measured - after, color="C0", lw=0.6, label="new")
            axis.set_ylabel(f"{names[k]} [{unit}]")
        axes[0].legend(loc="upper right", ncols=3, fontsize="small")
        axes[-1].set_xlabel("time [s]")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg")
        images.append((name, caption, buffer.getvalue()))
    return images
