"""The report of an identification: one HTML page that opens from disk, with its figures inside."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables import Table, table

if TYPE_CHECKING:
    from ..identification import Identification
    from ..identification.identify import Forces

_MORE = "summary { font-size: 1.15rem; font-weight: 600; color: #222; } summary + section h2 { display: none; }"


def force_errors(found: Identification) -> Table:
    """Errors of forces before and after, by actuator, of the held-out log or else of the last run."""
    shown = (found.validation or found.runs)[-1]
    what = f"held-out log {shown.log.name}" if found.validation else f"log {shown.log.name}, which was fitted"
    unit = _force_unit(found)
    before, after = shown.error(shown.before), shown.error(shown.after)
    rows = [(a.name, float(before[k]), float(after[k]), float(shown.noise[k]))
            for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("before", unit), ("after", unit), ("noise", unit)]
    return table("Force errors", columns, rows, f"Root mean square of measured less predicted forces of the {what}; "
                 "noise is the part that noise of forces and coordinates alone would give.")  # fmt: skip


def headline(found: Identification) -> str:
    """What the identification is worth, in a sentence."""
    shown = (found.validation or found.runs)[-1]
    what = "held-out forces" if found.validation else "forces (of a log that was fitted)"
    before, after, noise = (
        float(np.sqrt((x**2).mean())) for x in (shown.error(shown.before), shown.error(shown.after), shown.noise)
    )
    unit, way = _force_unit(found), "fall" if after < 0.98 * before else "rise" if after > 1.02 * before else "stay"
    size = f"near {after:.3g}" if way == "stay" else f"from {before:.3g} to {after:.3g}"
    return f"Errors of {what} {way} {size} {unit}; what the fit takes for noise is {noise:.3g} {unit}."


def _force_unit(found: Identification) -> str:
    """N, N m, or both where a robot has actuators of both kinds."""
    return " or ".join(dict.fromkeys(a.force_unit for a in found.model.actuators))


def whiteness_table(found: Identification) -> Table:
    """Residuals of the fit: size and whiteness by actuator."""
    from ..identification.identify import WHITE

    white = found.residuals
    rows = [(a.name, float(white.rms[k]), float(white.neighbours[k]), float(white.time[k]), float(white.p_value[k]),
             "yes" if white.p_value[k] >= WHITE else "no") for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("rms", _force_unit(found)), ("correlation of neighbours", ""),
               ("correlation time", "samples"), ("p-value", ""), ("white", "")]  # fmt: skip
    caption = (
        f"White residuals have a p-value (Ljung, Box) of {WHITE} or more. Where they are not, something of the machine "
        "is missing in the model or in its motion, and intervals are widened by the correlation time."
    )
    return table("Residuals", columns, rows, caption)


def changes_table(found: Identification) -> Table:
    """Every number of the file that logs show something of: before, after and by how much it moved."""
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
               ("moved", "of ± 95 %")]  # fmt: skip
    return table(
        "Numbers",
        columns,
        rows,
        "Estimated from the logs and the file's values together, with inertias that real bodies can have.",
    )


def moved_table(found: Identification, most: int = 30) -> Table:
    """The numbers that moved by more than their 95 % interval, those that moved most first."""
    whole = changes_table(found)
    rows = sorted((row for row in whole.rows if row[-1] > 1), key=lambda row: -row[-1])
    more = f" The first {most} are shown." if len(rows) > most else ""
    caption = f"{len(rows)} of {len(whole.rows)} numbers moved by more than their ± 95 %.{more}"
    return replace(whole, title="What moved", rows=tuple(rows[:most]), caption=caption)


def base_table(found: Identification) -> Table:
    """Base parameters estimated from the logs alone."""
    beta, file, half = found.beta, found.base.values(found.linear.values), found.half_widths
    rows = [(name, unit, float(file[k]), float(beta[k]), float(half[k]))
            for k, (name, unit) in enumerate(zip(found.base.names, found.base.units, strict=True))]  # fmt: skip
    columns = [("base parameter", ""), ("unit", ""), ("file", ""), ("data", ""), ("± 95 %", "")]
    alone, some, none = (found.base.identifiability.count(s) for s in ("alone", "together", "not"))
    caption = f"Of {len(found.base.numbers)} numbers {alone} are seen alone, {some} together with others, {none} not."
    return table("Base parameters", columns, rows, caption)


def page(found: Identification, version: str) -> str:
    """The report as HTML text."""
    from ..results.report.page import figure_html, style, table_html

    moved = moved_table(found)
    changed = table_html(moved) if moved.rows else f"<h2>{escape(moved.title)}</h2><p>{escape(moved.caption)}</p>"
    notes = "".join(f'<p class="note">{escape(text)}</p>' for text in found.notes)
    figures = [figure_html(name, caption, svg) for name, caption, svg in _figures(found)]
    logs = ", ".join(f"{run.log.name} ({len(run.time)} samples)" for run in found.runs)
    title = f"Identification of {found.robot.name}"
    long = "".join(
        f"<details><summary>{escape(one.title)} ({len(one.rows)})</summary>{table_html(one)}</details>"
        for one in (changes_table(found), base_table(found))
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>"
        f"<title>{escape(title)}</title><style>{style()}{_MORE}</style></head><body><h1>{escape(title)}</h1>"
        f"<p class='lead'>From {escape(logs)}.</p><p class='verdict'>{escape(headline(found))}</p>{notes}"
        f"{table_html(force_errors(found))}{figures[0]}{changed}{table_html(whiteness_table(found))}{figures[1]}{long}"
        f"<footer>Made by polypod {escape(version)}.</footer></body></html>"
    )


def _figures(found: Identification) -> list[tuple[str, str, bytes]]:
    """Forces measured and predicted of the log that judges the result, and its residuals with their autocorrelation."""
    from ..results.report.output import svg_of

    shown = (found.validation or found.runs)[-1]
    return [
        ("forces", f"Forces of {shown.log.name}: measured, by the file's numbers and by the new ones.",
         svg_of(_force_curves(found, shown))),
        ("residuals", f"Measured less predicted forces of {shown.log.name} with the new numbers, dashed twice the "
         "noise; right their autocorrelation, which is within the band (95 %) if they are white.",
         svg_of(_residual_curves(found, shown))),
    ]  # fmt: skip


def _force_curves(found: Identification, shown: Forces) -> Any:
    from matplotlib.figure import Figure

    actuators, step = found.model.actuators, max(1, len(shown.time) // 3000)
    figure = Figure(figsize=(10, 1.6 * len(actuators) + 0.8), layout="constrained")
    axes = figure.subplots(len(actuators), 1, sharex=True, squeeze=False)[:, 0]
    for k, axis in enumerate(axes):
        for values, style in (
            (shown.measured, {"color": "0.75", "lw": 4, "label": "measured"}),
            (shown.before, {"color": "C1", "lw": 1, "label": "file"}),
            (shown.after, {"color": "C0", "lw": 1, "label": "new"}),
        ):
            axis.plot(shown.time[::step], values[::step, k], **style)
        axis.set_ylabel(f"{actuators[k].name} [{actuators[k].force_unit}]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    axes[-1].set_xlabel("time [s]")
    return figure


def _residual_curves(found: Identification, shown: Forces) -> Any:
    from matplotlib.figure import Figure

    from ..identification.identify import autocorrelation
    from ..identification.new_robot import Z95

    actuators, step = found.model.actuators, max(1, len(shown.time) // 3000)
    left = np.where(shown.good, shown.measured - shown.after, np.nan)
    lags, rho = autocorrelation(np.nan_to_num(left), shown.good)
    figure = Figure(figsize=(10, 1.6 * len(actuators) + 0.6), layout="constrained")
    axes = figure.subplots(len(actuators), 2, sharex="col", squeeze=False, width_ratios=[2, 1])
    for k, (axis, other) in enumerate(axes):
        axis.plot(shown.time[::step], left[::step, k], color="C0", lw=0.5)
        for sign in (-2, 2):
            axis.axhline(sign * shown.noise[k], color="0.3", lw=0.8, ls="--")
        axis.set_ylabel(f"{actuators[k].name} [{actuators[k].force_unit}]")
        band = Z95 / np.sqrt(max(int(shown.good[:, k].sum()), 1))
        other.axhspan(-band, band, color="0.85")
        other.vlines(lags, 0.0, rho[:, k], color="C0", lw=2)
        other.set_ylim(-max(0.2, float(np.abs(rho[:, k]).max())) * 1.1, max(0.2, float(np.abs(rho[:, k]).max())) * 1.1)
    axes[-1, 0].set_xlabel("time [s]")
    axes[-1, 1].set_xlabel("lag [samples]")
    return figure
