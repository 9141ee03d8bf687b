"""Forces in the joints over time, along and across their axes where the result has those."""

from __future__ import annotations

from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Array
from ..read import open_reactions, without_rounding
from .curves import draw_curves, most_labelled
from .style import INK, TIME, dress, headline, last_with_time, legend, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def reactions(result: xr.Dataset) -> Figure:
    """Force [N] in every joint by leg; equal legs are merged, the worst leg is bold.

    A joint with one axis (prismatic, revolute) has two panels: the force along the axis with its sign, and the
    magnitude of the force across it, which its bearing carries. A spherical or universal joint has one, the magnitude
    of the force.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    every, lost = _panels(result)
    # an empty panel says less than a line of words
    shown = [panel for panel in every if panel.values.any()] or every
    unloaded = [panel.name for panel in every if not panel.values.any()] if len(shown) < len(every) else []
    note = " (the determined part)" if open_reactions(result) else ""
    note += f"; undetermined by internal stresses and not drawn: {', '.join(lost)}" if lost else ""
    note += f"; none: {', '.join(unloaded)}" if unloaded else ""
    words = fill(title(result, f"joint forces{note}"), 95)
    columns = min(len(shown), 2)
    fig, grid = panels(ceil(len(shown) / columns), columns, height=1.5, each=True, head=0.3 + 0.17 * words.count("\n"))
    legs, cells = list(map(str, result.leg.values)), [axes for line in grid for axes in line]
    for axes, panel in zip(cells, shown, strict=False):
        axes.axhline(0.0, color=INK, linewidth=0.6)
        numbers = [legs.index(leg) for leg in panel.legs]
        draw_curves(axes, result.time.values, panel.legs, panel.values, "N", numbers=numbers)
        dress(axes, TIME, "force [N]", panel.name)
    last_with_time(cells[: len(shown)], columns)
    for axes in cells[len(shown) :]:
        axes.set_visible(False)
    headline(fig, words)
    legend(fig, most_labelled(cells))
    return fig


class Panel(NamedTuple):
    """What a panel shows, the legs, and their values (n, legs)."""

    name: str
    legs: list[str]
    values: Array


def _panels(result: xr.Dataset) -> tuple[list[Panel], list[str]]:
    """Panels joint by joint, and the joints of which nothing is known."""
    names, owners = (result[label].values.tolist() for label in ("joint_name", "joint_leg"))
    force = result.reaction_force.values
    axes = result["joint_axes"].values if "joint_axes" in result else None
    found: list[Panel] = []
    lost = []
    for joint in dict.fromkeys(names):
        numbers = [k for k, name in enumerate(names) if name == joint]
        known = [k for k in numbers if np.isfinite(force[:, k]).any()]
        if not known:
            lost.append(joint)
            continue
        legs, vectors = [owners[k] for k in known], np.nan_to_num(force[:, known])
        scale = float(np.abs(vectors).max(initial=0.0))
        if axes is not None and np.isfinite(axes[0, known, 0]).all() and not np.isfinite(axes[0, known, 1]).any():
            along = np.einsum("nki,nki->nk", vectors, axes[:, known, 0])
            across = np.linalg.norm(vectors - along[..., None] * axes[:, known, 0], axis=-1)
            found += [Panel(f"{joint}, along its axis", legs, without_rounding(along, scale))]
            found += [Panel(f"{joint}, across its axis", legs, without_rounding(across, scale))]
        else:
            found += [Panel(joint, legs, np.linalg.norm(vectors, axis=-1))]
    return found, lost
