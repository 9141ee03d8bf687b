"""A hexapod oscillating freely on linear springs in place of its actuators, which must conserve energy.

    python simulation_swing.py [FOLDER]

Writes the energies over ten seconds and an animation of the first second.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import polypod as pp
from polypod.analysis import natural_modes
from polypod.control import Springs
from polypod.errors import UnphysicalWarning
from polypod.simulation import simulate

STIFFNESS = 2e5  # N/m
TWIST = [0.1, 0.1, 0.05, 0.1, -0.1, 0.1]  # initial twist at home


def main(folder: Path, duration: float = 10.0, picture: bool = True) -> dict[str, float]:
    """Largest change of the total energy relative to the largest kinetic energy, and other results."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    model = pp.Model("pedrammehr")
    home, still = model.robot.home.matrix, np.zeros(6)
    springs = Springs(
        STIFFNESS, rest=model.inverse_kinematics(home), preload=model.inverse_dynamics(home, still, still)
    )
    result = simulate(
        model, springs, duration=duration, twist=TWIST, friction=False, method="DOP853", rtol=1e-11, atol=1e-12,
        output=0.01,
    )  # fmt: skip
    total = result.energy_kinetic + result.energy_potential + result.energy_springs
    rotation = result.pose.values[:, :3, :3]
    numbers = {
        "drift": float(abs(total - total[0]).max() / result.energy_kinetic.max()),
        "orthogonality": float(np.abs(rotation @ rotation.swapaxes(1, 2) - np.eye(3)).max()),
        "lowest frequency [Hz]": float(natural_modes(model, home, STIFFNESS).frequency[0]),
        "duration [s]": float(result.time[-1]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    if picture:
        from polypod.results.figures import animation
        from polypod.results.figures import simulation as plots

        plots.energies(result, "pedrammehr on springs, no friction").savefig(folder / "swing-energies.png")
        animation.animate(result.sel(time=slice(0, 1)), folder / "swing.gif", fps=20, speed=0.5, force=True)
    return numbers


if __name__ == "__main__":
    for name, value in main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures")).items():
        print(f"{name}: {value:.4g}")
