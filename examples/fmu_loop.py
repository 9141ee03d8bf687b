"""A controller and a robot as two FMUs in one loop, as a system simulator runs them.

The controller underestimates the platform mass by 5 %, which its gains must compensate. Needs FMPy and a C compiler.

    python -m pip install fmpy
    python fmu_loop.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.simulation import instantiate_fmu
from matplotlib.figure import Figure

import polypod as pp
from polypod.export.fmu import export_fmu

RATE = 1000.0


class Unit:
    """An FMU with its variables by name."""

    def __init__(self, model: pp.Model, kind: str) -> None:
        fmu = export_fmu(model, kind, fmi=3)
        path = Path(tempfile.mkdtemp()) / fmu.name
        path.write_bytes(fmu.content)
        folder = fmpy.extract(str(path))
        description = fmpy.read_model_description(folder)
        self._places = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = instantiate_fmu(folder, description, "CoSimulation")

    def set(self, **values: float | np.ndarray) -> None:
        for name, numbers in values.items():
            self.fmu.setFloat64(self._group(name.replace("__", ".")), np.ravel(numbers).tolist())

    def get(self, name: str) -> np.ndarray:
        return np.array(self.fmu.getFloat64(self._group(name)))

    def start(self) -> None:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def _group(self, name: str) -> list[int]:
        return [place for known, place in self._places.items() if known == name or known.startswith(f"{name}.")]


def main(folder: Path, duration: float = 0.5, picture: bool = True) -> float:
    """The largest error of an actuated coordinate [m]."""
    model = pp.Model("staicu")
    robot, control = Unit(model, "plant"), Unit(model, "controller")
    control.set(platform__mass=0.95 * model.robot.platform.mass)
    robot.start()
    control.start()
    speed = 2 * np.pi
    time = np.arange(round(duration * RATE)) / RATE
    phase = speed * time[:, None]
    amplitude = np.array([0.02, 0.03, 0.2])
    wanted = amplitude * (1 - np.cos(phase))
    rate, change = amplitude * speed * np.sin(phase), amplitude * speed**2 * np.cos(phase)
    q = np.empty((len(time), len(model.actuators)))
    for k in range(len(time)):
        q[k] = robot.get("q")
        control.set(reference__x=wanted[k], reference__xdot=rate[k], reference__xddot=change[k])
        control.set(q=q[k], qdot=robot.get("qdot"))
        robot.set(force=control.get("force"))
        control.fmu.doStep(time[k], 1 / RATE)
        robot.fmu.doStep(time[k], 1 / RATE)
    error = q - model.inverse_kinematics(model.motion(wanted).pose)
    if picture:
        folder.mkdir(parents=True, exist_ok=True)
        draw(time, q, error, [actuator.name for actuator in model.actuators]).savefig(folder / "fmu-loop.png")
    return float(np.abs(error).max())


def draw(time: np.ndarray, q: np.ndarray, error: np.ndarray, names: list[str]) -> Figure:
    """Actuated coordinates and their errors."""
    figure = Figure(figsize=(8, 4), layout="constrained", dpi=150)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(time, 1e3 * q, label=names)
    below.plot(time, 1e3 * error)
    above.set(ylabel="sliders [mm]", title="staicu as an FMU; the controller FMU assumes a platform 5 % lighter")
    below.set(xlabel="time [s]", ylabel="error [mm]")
    above.legend(ncols=3)
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure


if __name__ == "__main__":
    worst = main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("fmu-loop"))
    print(f"largest error of a coordinate: {1e3 * worst:.3f} mm")
