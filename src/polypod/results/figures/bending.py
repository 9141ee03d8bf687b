"""How a flexible platform bends along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from .style import COLOURS, DASHES, INK, dress, figure, label_with_prefix, leg_line, legend, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def bending(result: xr.Dataset) -> Figure:
    """Displacement of the legs' attachment points, and of the platform's origin by axis [m], platform axes.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.

    Raises
    ------
    InputError
        If the platform is rigid.
    """
    if "deflection" not in result:
        raise InputError(f"result: {result.attrs['robot']!r} has a rigid platform, which does not bend")
    origin = result["origin_deflection"].values if "origin_deflection" in result else None
    fig = figure(7.2, 5.6 if origin is not None else 3.8)
    rows = fig.subplots(2 if origin is not None else 1, 1, sharex=True, squeeze=False).ravel().tolist()
    for k, leg in enumerate(map(str, result.leg.values)):
        rows[0].plot(
            result.time.values, np.linalg.norm(result.deflection.values[:, k], axis=-1), label=leg, **leg_line(k)
        )
    dress(rows[0], "", "", title(result, "deflection of the platform"))
    label_with_prefix(rows[0].yaxis, "attachment points", "m")
    rows[0].set_ylim(bottom=0.0)
    legend(fig, rows[0])
    if origin is not None:
        least = 1e-6 * float(np.abs(origin).max())  # in-plane displacements of a plate are none
        moves = [k for k in range(3) if np.abs(origin[:, k]).max() > least]
        for k in moves:
            style = {"color": COLOURS[k], "linestyle": DASHES[k], "linewidth": 1.6}
            rows[1].plot(result.time.values, origin[:, k], label="xyz"[k], **style)
        still = " and ".join("xyz"[k] for k in range(3) if k not in moves)
        note = f"{still}: zero, not drawn" if still and moves else f"{still}: zero" if still else None
        dress(rows[1])
        label_with_prefix(rows[1].yaxis, "platform's origin", "m")
        rows[1].axhline(0.0, color=INK, linewidth=0.6)  # after: it would count as data
        rows[1].legend(fontsize=8, frameon=False, ncols=3, handlelength=2.8, title=note, title_fontsize=8)
    rows[-1].set_xlabel("time [s]", fontsize=9)
    return fig
