"""A control loop in C at 1 kHz and 10 kHz: exported, compiled with the system's compiler, run and timed.

    python control_loop.py [FOLDER]

A step is forward kinematics from the last pose, the twist, and gravity compensation. Its execution time depends on the
processor; the wake-up latency of a period depends on the operating system, and is small only on a real-time one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import polypod as pp
from polypod.export import export_c

RATES = (1000.0, 10000.0)  # Hz


def run(robot: str, rate: float, seconds: float, folder: Path) -> dict[str, list[float]]:
    """Median, worst case and jitter (longest minus shortest) [us] of the ``step`` and of the ``wake``-up latency."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("control_loop: no C compiler found (cc, gcc or clang); install one")
    model = pp.Model(robot)
    name, header, source = export_c(model, "control_step", friction=False, iterations=6)
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


def main(folder: Path, seconds: float = 2.0, picture: bool = True) -> dict[float, dict[str, list[float]]]:
    """Print and plot the times at both rates."""
    found = {}
    print("rate [Hz]  what   median [us]  worst [us]  jitter [us]")
    for rate in RATES:
        with tempfile.TemporaryDirectory() as own:
            found[rate] = run("hexapod", rate, seconds, Path(own))
        for what, (median, worst, jitter) in found[rate].items():
            print(f"{rate:9.0f}  {what}  {median:11.2f} {worst:11.2f} {jitter:12.2f}")
    if picture:
        folder.mkdir(parents=True, exist_ok=True)
        draw(found).savefig(folder / "control-loop.png")
    return found


def draw(found: dict[float, dict[str, list[float]]]) -> Figure:
    """Execution time and wake-up latency, median to worst case, compared with the period."""
    figure = Figure(figsize=(8, 2.6), layout="constrained", dpi=150)
    axes = figure.subplots()
    names = []
    for rate, times in found.items():
        for what, label, colour in (("step", "execution", "C0"), ("wake", "wake-up latency", "0.6")):
            median, worst, _ = times[what]
            row = len(names)
            axes.plot([median, worst], [row, row], color=colour, lw=5, solid_capstyle="butt")
            axes.plot([median], [row], "o", color=colour)
            axes.plot([1e6 / rate] * 2, [row - 0.4, row + 0.4], color="C3", lw=2)
            names.append(f"{label}, {rate / 1000:g} kHz")
    axes.set_yticks(range(len(names)), names)
    axes.set(xscale="log", xlabel="median (dot) to worst case [us]; red: the period")
    axes.grid(alpha=0.3)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("control-loop"))
