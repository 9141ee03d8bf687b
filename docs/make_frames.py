"""Draws docs/images/frames.svg: base frame, platform frame, one leg and its joints."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt

TARGET = Path(__file__).parent / "images" / "frames.svg"


def project(point: np.ndarray) -> np.ndarray:
    """A point seen from the front, right and above."""
    x, y, z = np.asarray(point, float)
    return np.array([0.86 * x - 0.5 * y, 0.28 * x + 0.36 * y + z])


def main() -> None:
    """Draw and write."""
    mpl.rcParams.update({"svg.hashsalt": "frames", "font.size": 11, "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(7.2, 5.2))
    turn = np.arange(6) * np.pi / 3 + 0.35
    tilt = np.array([[np.cos(0.15), 0, np.sin(0.15)], [0, 1, 0], [-np.sin(0.15), 0, np.cos(0.15)]])
    rim = np.c_[np.cos(turn), np.sin(turn), 0 * turn]
    base, top = 1.3 * rim, 0.75 * rim @ tilt.T + [0.15, 0.0, 1.9]
    for corners, colour in ((base, "#cfd8dc"), (top, "#90caf9")):
        axes.fill(*np.transpose([project(p) for p in corners]), color=colour, ec="#455a64", lw=1.2, zorder=2)
    for k in range(6):
        shade = "#1a237e" if k == 5 else "#b0bec5"
        axes.plot(
            *np.transpose([project(base[k]), project(top[k])]),
            color=shade,
            lw=5 if k == 5 else 3,
            zorder=3 - (k in (1, 2)),
        )
    low, high = base[5], top[5]
    middle = low + 0.5 * (high - low)
    for point, text, away in (
        (low, "universal joint", (0.16, -0.2)),
        (middle, "prismatic joint (drive): q = leg length", (0.18, 0.0)),
        (high, "spherical joint: tip of the leg", (0.18, 0.12)),
    ):
        at = project(point)
        axes.plot(*at, "o", ms=10, mfc="white", mec="#1a237e", mew=2, zorder=6)
        axes.annotate(text, at, at + away, va="center", color="#1a237e", zorder=7)
    _frame(axes, np.zeros(3), np.eye(3), "{B}", "#c62828")
    _frame(axes, np.array([0.15, 0.0, 1.9]), tilt, "{P}", "#2e7d32")
    axes.annotate(
        "",
        project([0.15, 0, 1.9]),
        project(np.zeros(3)),
        arrowprops={"arrowstyle": "->", "ls": "--", "color": "#616161"},
        zorder=5,
    )
    axes.annotate("pose of {P} in {B}", project([-0.95, 0, 1.5]), ha="right", color="#616161")
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_xlim(-1.9, 3.3)
    axes.set_ylim(-0.9, 2.8)
    figure.savefig(TARGET, bbox_inches="tight", metadata={"Date": None})


def _frame(axes: plt.Axes, origin: np.ndarray, rotation: np.ndarray, name: str, colour: str) -> None:
    """Axes of a frame with their names."""
    for k, letter in enumerate("xyz"):
        end = origin + 0.55 * rotation[:, k]
        axes.annotate(
            "", project(end), project(origin), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2}, zorder=8
        )
        axes.annotate(letter, project(origin + 0.64 * rotation[:, k]), ha="center", va="center", color=colour, zorder=8)
    axes.annotate(
        name, project(origin) - np.array([0.05, 0.12]), ha="right", va="top", color=colour, weight="bold", zorder=8
    )


if __name__ == "__main__":
    main()
