"""Kim and Ryu's HexaSlide on its circle at 40 rpm, with and without friction compensation.

    python simulation_friction.py [FOLDER]

Coulomb friction in sliders and joints depends on their reactions; each slider reverses twice in a turn.
"""

import sys
from pathlib import Path

import numpy as np

import polypod as pp
from polypod.control import ComputedTorque
from polypod.motion import Published
from polypod.simulation import events, simulate


def main(folder: Path, turns: float = 1.0, picture: bool = True) -> dict[str, float]:
    """Largest errors with and without compensation, the number of reversals, and the energy lost."""
    # the controller smooths the sign of a rate over 1 mm/s, so that its forces are continuous when a slider reverses
    model = pp.Model("kim-ryu", friction_width=1e-3)
    reference = Published(name="kim-ryu-circle")
    duration = turns * reference.duration
    results = {}
    for name, friction in (("compensated", True), ("not compensated", False)):
        controller = ComputedTorque(model, reference, kp=400.0, kd=40.0, friction=friction)
        results[name] = simulate(model, controller, duration=duration, rate=1000, step=5e-4)
    numbers = {name: float(np.abs(result.error[:, :3]).max()) for name, result in results.items()}
    numbers["reversals"] = len([e for e in events(results["compensated"]) if e.kind == "reversal"])
    numbers["lost [J]"] = float(results["compensated"].work_friction[-1])
    numbers["energy residual [J]"] = float(np.abs(results["compensated"].energy_residual).max())
    if picture:
        from polypod.results.figures import simulation as plots

        folder.mkdir(parents=True, exist_ok=True)
        title = "kim-ryu, circle at 40 rpm, computed torque at 1 kHz"
        plots.comparison(results, title).savefig(folder / "friction-compensation.png")
        plots.energies(results["compensated"], title).savefig(folder / "friction-energies.png")
    return numbers


if __name__ == "__main__":
    for name, value in main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures")).items():
        print(f"{name}: {value:.4g}")
