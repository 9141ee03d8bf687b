"""A controller and a robot as two FMUs in one loop, as a system simulator runs them.

The controller knows a platform that is 5 % too light; its gains have to make up for it. Needs FMPy and a C compiler.

    python -m pip install fmpy
    python fmu_loop.py
"""

import tempfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.simulation import instantiate_fmu

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


def main() -> float:
    model = pp.Model("staicu")
    robot, control = Unit(model, "plant"), Unit(model, "controller")
    control.set(platform__mass=0.95 * model.robot.platform.mass)
    robot.start()
    control.start()
    amplitude, speed = np.array([0.02, 0.03, 0.2]), 2 * np.pi
    worst = 0.0
    for k in range(int(RATE / 2)):
        time = k / RATE
        phase = speed * time
        wanted = amplitude * (1 - np.cos(phase))
        control.set(reference__x=wanted, reference__xdot=amplitude * speed * np.sin(phase))
        control.set(reference__xddot=amplitude * speed**2 * np.cos(phase))
        control.set(q=robot.get("q"), qdot=robot.get("qdot"))
        robot.set(force=control.get("force"))
        error = np.abs(
            robot.get("q") - model.inverse_kinematics(model.motion(wanted, 0 * wanted, 0 * wanted).pose)
        ).max()
        worst = max(worst, float(error))
        control.fmu.doStep(time, 1 / RATE)
        robot.fmu.doStep(time, 1 / RATE)
    print(f"largest error of a coordinate: {1e3 * worst:.3f} mm")
    return worst


if __name__ == "__main__":
    main()
