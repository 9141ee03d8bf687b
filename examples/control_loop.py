"""A control loop in C at 1 kHz and 10 kHz: exported, compiled with the system's compiler, run, timed.

    python examples/control_loop.py

A step is forward kinematics from the last pose, the twist, and the forces that hold the robot. Its times are the
processor's; how late a period begins is the operating system's, and small only on one that is built for it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polypod as pp
from polypod.export import export_c


def run(robot: str, rate: float, seconds: float, folder: Path) -> dict[str, list[float]]:
    """Median, worst and jitter (longest less shortest) [us] of the ``step`` and of the ``wake``-up of its periods."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("control_loop: no C compiler found (cc, gcc or clang); install one")
    model = pp.Model(robot)
    name, header, source = export_c(model, "control_step", friction=False, rounds=6)
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    home = model.robot.home.matrix
    values = {
        "STEP_H": f'"{name}.h"',
        "STEP": name,
        "ACTUATORS": len(model.actuators),
        "HOME": _braces(home.ravel()),
        "Q": _braces(model.inverse_kinematics(home)),
        "RATE": rate,
        "PERIODS": round(rate * seconds),
    }
    defined = [f"-D{key}={value}" for key, value in values.items()]
    main = Path(__file__).with_suffix(".c")
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{folder}"]
    program = folder / "loop"
    subprocess.run([compiler, *flags, *defined, main, folder / f"{name}.c", "-lm", "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0]: [float(word) for word in line.split()[1:]] for line in printed}


def _braces(numbers: object) -> str:
    return "{" + ",".join(map(repr, numbers.tolist())) + "}"  # type: ignore[attr-defined]


def main(seconds: float) -> None:
    """A table of both rates."""
    print("rate [Hz]  what   median [us]  worst [us]  jitter [us]")
    for rate in (1000.0, 10000.0):
        with tempfile.TemporaryDirectory() as folder:
            for what, (median, worst, jitter) in run("hexapod", rate, seconds, Path(folder)).items():
                print(f"{rate:9.0f}  {what}  {median:11.2f} {worst:11.2f} {jitter:12.2f}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
