"""Long's robot with a flexible plate after a fast move: with and without the elastic state in the controller.

    python simulation_flexible.py [FOLDER]

The plate is four times as stiff as published: the published one, in the paper's pose, buckles under its load even with
locked actuators (its lowest natural frequency squared is negative, which this example checks too).
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import polypod as pp
from polypod.analysis import natural_modes
from polypod.control import ComputedTorque, Reference
from polypod.errors import UnphysicalWarning
from polypod.motion import Poses
from polypod.papers.long.cases import hexagon_modes
from polypod.simulation import simulate

RATE = 2000.0
MOVE = [0.05, -0.02, 0.05]  # m, in 0.2 s


def main(folder: Path, duration: float = 1.0, picture: bool = True) -> dict[str, float]:
    """Largest errors and vibration (change of the first elastic coordinate) after the move."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    rigid = pp.Model("long")
    printed = hexagon_modes(9)
    model = pp.Model(pp.load("long").on_modes(printed.with_stiffness(4 * printed.stiffness)))
    home = rigid.robot.home.matrix
    away = home.copy()
    away[:3, 3] += MOVE
    reference = Reference(Poses.through([home, away], [0.0, 0.2]), RATE)
    controllers = {
        "elastic state known": ComputedTorque(model, reference, kp=100.0, kd=20.0),
        "elastic state ignored": ComputedTorque(rigid, reference, kp=100.0, kd=20.0),
    }
    results, numbers = {}, {}
    for name, controller in controllers.items():
        results[name] = simulate(model, controller, duration=duration, rate=RATE, step=5e-4)
        after = results[name].sel(time=slice(0.25, None))
        numbers[f"{name}: largest error"] = float(np.abs(results[name].error).max())
        numbers[f"{name}: vibration"] = float(np.ptp(after.elastic.values[:, 0]))
    numbers["stiff plate: lowest frequency [Hz]"] = float(natural_modes(model, home, 1e9).frequency[0])
    numbers["published plate: lowest frequency [Hz]"] = float(
        natural_modes(pp.Model(pp.load("long").on_modes(printed)), home, 1e9).frequency[0]
    )
    if picture:
        folder.mkdir(parents=True, exist_ok=True)
        _figure(results).savefig(folder / "flexible-vibration.png")
    return numbers


def _figure(results: dict) -> object:
    from polypod.results.figures.style import dress, figure, leg_line, legend

    picture = figure(7.2, 5.0)
    above, below = picture.subplots(2, 1, sharex=True)
    for k, (name, result) in enumerate(results.items()):
        above.plot(result.time, 1e3 * np.linalg.norm(result.error[:, :3], axis=1), label=name, **leg_line(k))
        below.plot(result.time, result.elastic[:, 0] - result.elastic[0, 0], **leg_line(k))
    for axes in (above, below):
        axes.axvline(0.2, color="#B8B8B8", linewidth=1.0)
    dress(above, "", "position error [mm]", "long, 73 mm in 0.2 s (grey: end of the move), computed torque at 2 kHz")
    dress(below, "time [s]", "elastic coordinate 1 [m kg$^{1/2}$]")
    legend(picture, above)
    return picture


if __name__ == "__main__":
    for name, value in main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures")).items():
        print(f"{name}: {value:.4g}")
