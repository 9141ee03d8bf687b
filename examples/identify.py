"""A machine whose platform is heavier than in its file: excite, log, identify, validate with another log.

    python identify.py [FOLDER] [ROBOT]

The logs come from a simulated machine with noise, so the true parameters are known. Draws the validation forces.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import polypod as pp
from polypod.identification import LinearModel, excite, identify, simulated_log
from polypod.identification.identify import Forces

HEAVIER = 1.3


def main(folder: Path, robot: str = "five-bar", tries: int = 200, picture: bool = True) -> dict[str, float]:
    """Errors of the forces [N or N m] before and after, and how many 95 % intervals contain the true value."""
    file = pp.load(robot)
    load = file.platform
    heavier = load.model_copy(
        update={"mass": HEAVIER * load.mass, "inertia": (HEAVIER * np.array(load.inertia)).tolist()}
    )
    model, machine = pp.Model(file), pp.Model(file.model_copy(update={"platform": heavier}))

    motion = excite(model, duration=1.0, harmonics=4, reach=1.0, noise=0.002, tries=tries)
    logs = [
        simulated_log(
            machine, motion.motion, rate=500, repeats=4, noise_q=1e-7, noise_force=0.002, seed=k, name=f"run{k}"
        )
        for k in range(2)
    ]
    found = identify(model, logs[0], validate=logs[1])
    judged = found.validation[0]
    truth = found.base.values(LinearModel(machine).values)
    held = np.abs(found.beta - truth) <= found.half_widths
    for text in found.notes:
        print("note:", text)
    if picture:
        folder.mkdir(parents=True, exist_ok=True)
        title = f"{robot}, platform {100 * (HEAVIER - 1):.0f} % heavier than in its file"
        draw(judged, title).savefig(folder / "identify.png")
    return {
        "base parameters": motion.base.count,
        "unidentifiable parameters": len(motion.invisible),
        "largest error before": float(judged.error(judged.before).max()),
        "largest error after": float(judged.error(judged.after).max()),
        "intervals that contain the true value": int(held.sum()),
    }


def draw(judged: Forces, title: str) -> Figure:
    """Measured forces of the first actuator, and residuals before and after."""
    figure = Figure(figsize=(8, 4.5), layout="constrained", dpi=150)
    above, below = figure.subplots(2, 1, sharex=True)
    above.set_title(title)
    above.plot(judged.time, judged.measured[:, 0], color="0.4", label="measured, validation log")
    above.set_ylabel("torque [N m]")
    for name, forces in (("before", judged.before), ("after", judged.after)):
        below.plot(judged.time, (judged.measured - forces)[:, 0], lw=0.8, label=f"residual {name} identification")
    below.set(xlabel="time [s]", ylabel="torque [N m]")
    for axes in (above, below):
        axes.legend(loc="upper right")
        axes.grid(alpha=0.3)
    return figure


if __name__ == "__main__":
    arguments = sys.argv[1:]
    for name, number in main(Path(arguments[0]) if arguments else Path("identify"), *arguments[1:2]).items():
        print(f"{name}: {number:.4g}")
