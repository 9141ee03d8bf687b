"""How strong the gas springs of a motion platform should be: a sweep for the least root mean square of the forces.

    python spring_sweep.py [FOLDER]

A gas spring's force is proportional to its charge, here ``temperature_factor``. Draws rms and largest force against it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import polypod as pp

STUDY = """
name: charge of the gas springs
robot: motion-platform
motions: [motion-platform-ride]
rate: 50
vary: [{parameters: elements.balancer*.temperature_factor, range: [0.05, 1.8], name: charge, levels: 71}]
sample: {method: grid}
report: [rms force, peak force]
"""


def main(folder: Path, picture: bool = True) -> dict[str, float]:
    """The best charge, and rms forces [N] of the leg that has most to do: without gas springs, as in the file, best."""
    swept = pp.design.sweep(pp.design.loads_study(STUDY))
    charge = swept.value.values[:, 0]
    rms, peak = swept.rms_force.values[:, 0], swept.peak_force.values[:, 0]
    best = int(rms.argmin())
    bare = pp.study(pp.Model(pp.load("motion-platform").model_copy(update={"elements": ()})), "motion-platform-ride")
    if picture:
        folder.mkdir(parents=True, exist_ok=True)
        draw(charge, rms, peak, best).savefig(folder / "spring-sweep.png")
    return {
        "best charge": float(charge[best]),
        "rms force without gas springs": float(np.sqrt((bare.force.values**2).mean(axis=0)).max()),
        "rms force with the file's": float(np.interp(1.0, charge, rms)),
        "rms force with the best": float(rms[best]),
    }


def draw(charge: np.ndarray, rms: np.ndarray, peak: np.ndarray, best: int) -> Figure:
    """Forces of the leg that has most to do against the charge."""
    figure = Figure(figsize=(8, 4), layout="constrained", dpi=150)
    axes = figure.subplots()
    axes.plot(charge, peak, color="0.6", label="largest force")
    axes.plot(charge, rms, label="rms force")
    axes.plot(charge[best], rms[best], "o", color="C0", label=f"least at {charge[best]:.2f} of the printed charge")
    axes.set(xlabel="charge over that of the file", ylabel="force of the busiest leg [N]", ylim=(0, None))
    axes.legend()
    axes.grid(alpha=0.3)
    return figure


if __name__ == "__main__":
    for name, number in main(Path(sys.argv[1]) if sys.argv[1:] else Path("spring_sweep")).items():
        print(f"{name}: {number:.4g}")
