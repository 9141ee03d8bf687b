"""The report of an identification: one HTML page that opens from disk, with its figures inside."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ...identification import Identification
from ...identification.identify import Forces, autocorrelation
from ...identification.new_robot import Z95
from ...identification.tables import (
    base_table,
    changes_table,
    channels_table,
    force_errors_table,
    identification_headline,
    moved_table,
    whiteness_table,
)
from ...pages import figure_html, report_page, table_html, template_text
from .output import svg_of


def identification_page(found: Identification) -> str:
    """The report of an identification as HTML text."""
    moved = moved_table(found)
    changed = table_html(moved) if moved.rows else f"<h2>{escape(moved.title)}</h2><p>{escape(moved.caption)}</p>"
    forces, residuals = (figure_html(name, caption, svg) for name, caption, svg in _figures(found))
    logs = ", ".join(f"{run.log.name} ({len(run.time)} samples)" for run in found.runs)
    return report_page(
        f"Identification of {found.robot.name}",
        [f"From {logs}."],
        [
            f"<p class='verdict'>{escape(identification_headline(found))}</p>",
            *(f'<p class="note">{escape(text)}</p>' for text in found.notes),
            table_html(force_errors_table(found)),
            table_html(channels_table(found)) if found.channels else "",
            forces,
            changed,
            table_html(whiteness_table(found)),
            residuals,
            *(
                f"<details><summary>{escape(one.title)} ({len(one.rows)})</summary>{table_html(one)}</details>"
                for one in (changes_table(found), base_table(found))
            ),
        ],
        style=template_text(__package__, "identified.css"),
    )


def _figures(found: Identification) -> list[tuple[str, str, bytes]]:
    """Forces measured and predicted of the log that judges the result, and its residuals with their autocorrelation."""
    shown = (found.validation or found.runs)[-1]
    return [
        ("forces", f"Forces of {shown.log.name}: measured, predicted with the file's and the identified parameters.",
         svg_of(_force_curves(found, shown))),
        ("residuals", f"Force residuals of {shown.log.name} with the identified parameters; dashed: twice the noise. "
         "Right: their autocorrelation, which is within the 95 % band if they are white.",
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
