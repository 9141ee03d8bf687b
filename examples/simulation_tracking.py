"""Computed torque on Pedrammehr's Paths 2 and 3: exact model and wrong masses.

    python simulation_tracking.py [FOLDER]

With continuous control the error is rounding. With a controller that samples at 1 kHz and holds its force it is
0.5 um on Path 2 and 12 um on Path 3; if the controller also assumes the platform 5 to 40 % too heavy, it is larger.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import polypod as pp
from polypod.control import ComputedTorque, scaled_masses
from polypod.errors import UnphysicalWarning
from polypod.motion import Published
from polypod.simulation import simulate

WRONG = (0.0, 0.05, 0.1, 0.2, 0.4)


def exact(model: pp.Model, path: int) -> float:
    """Largest tracking error [m or rad] with the exact model and continuous control."""
    reference = Published(name=f"pedrammehr-path-{path}")
    duration, speed = reference.duration, 0.08 if path == 2 else 0.8
    # discontinuities of the trapezoids' accelerations: ends of the ramps of translation and rotation
    breaks = [t for way in (np.hypot(0.2, 0.2), 0.4) for t in (duration - way / speed, way / speed)]
    bandwidth = 10.0 / duration  # rad/s, in proportion to the path's speed
    controller = ComputedTorque(model, reference, kp=bandwidth**2, kd=2 * bandwidth)
    result = simulate(model, controller, duration=duration, breaks=breaks, rtol=1e-11, atol=1e-13)
    return float(np.abs(result.error).max())


def sampled(model: pp.Model, path: int, wrong: float) -> xr.Dataset:
    """Control at 1 kHz with a model whose platform is heavier by a fraction."""
    assumed = pp.Model(scaled_masses(model.robot, platform=1 + wrong)) if wrong else model
    controller = ComputedTorque(assumed, Published(name=f"pedrammehr-path-{path}"))
    return simulate(model, controller, duration=controller.reference.trajectory.duration, rate=1000)


def main(folder: Path, picture: bool = True) -> dict[str, float]:
    """Largest errors by path and mismatch."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    model = pp.Model("pedrammehr")
    numbers = {f"path {path}, exact": exact(model, path) for path in (2, 3)}
    results = {path: {wrong: sampled(model, path, wrong) for wrong in WRONG} for path in (2, 3)}
    for path, runs in results.items():
        for wrong, result in runs.items():
            numbers[f"path {path}, 1 kHz, mass {wrong:+.0%}"] = float(np.abs(result.error).max())
    if picture:
        from polypod.results.figures import simulation as plots

        folder.mkdir(parents=True, exist_ok=True)
        runs = {f"mass +{wrong:.0%}" if wrong else "exact model": r for wrong, r in results[3].items()}
        plots.comparison(runs, "Path 3, computed torque at 1 kHz").savefig(folder / "tracking-mismatch.png")
        plots.tracking(results[3][0.0], "Path 3, exact model at 1 kHz").savefig(folder / "tracking-exact.png")
        plots.forces(results[3][0.0], "Path 3, exact model at 1 kHz").savefig(folder / "tracking-forces.png")
        mismatch_figure(results).savefig(folder / "tracking-against-mass.png")
    return numbers


def mismatch_figure(results: dict[int, dict[float, xr.Dataset]]) -> Figure:
    """Largest position and rotation error against the error of the platform's mass, by path."""
    from polypod.results.figures.style import dress, figure, leg_line, legend

    picture = figure(7.2, 3.4)
    panels = picture.subplots(1, 2)
    for axes, part, label in zip(panels, (slice(0, 3), slice(3, 6)), ("position [m]", "rotation [rad]"), strict=True):
        for k, (path, runs) in enumerate(results.items()):
            errors = [float(np.abs(run.error.values[:, part]).max()) for run in runs.values()]
            wrong = [100 * factor for factor in runs]
            axes.plot(wrong, errors, marker="os"[k], label=f"Path {path}", clip_on=False, **leg_line(k))
        axes.set_yscale("log")
        dress(axes, "error of the assumed platform mass [%]", f"largest error of {label}")
    panels[0].set_title("pedrammehr, computed torque at 1 kHz", fontsize=10, loc="left")
    legend(picture, panels[0])
    return picture


if __name__ == "__main__":
    for name, value in main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures")).items():
        print(f"{name}: {value:.3g}")
