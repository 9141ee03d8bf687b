"""Instructions that a Cortex-M7 executes for exported C, counted in an emulator: float against double, worst cases.

python -m bench.instructions kim-ryu hexapod delta

Needs arm-none-eabi-gcc and the package ``unicorn``. Compiled with -Os: gcc 12 executes a quarter more instructions
with -O2, whose scheduler needs more registers than there are. States are random within a tenth of the robot's size and
0.1 rad of home, the guess of a step is 0.2 mm off, as after a period of a controller.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import polypod as pp
from polypod.export import export_c

_TARGET = ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16")
_FLAGS = ("-std=c99", "-Os", "-fno-math-errno", "-nostartfiles", "-Wl,--entry=0", "-Wl,-Ttext=0x10000")
_DATA, _STACK, _END = 0x400000, 0x800000, 0xF00000


class Emulated:
    """An exported function in an emulator; a call gives its status, arrays and how many instructions it took."""

    def __init__(self, exported: tuple[str, str, str], number: Any) -> None:
        self.name, self.header, source = exported
        self.number = number
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            (at / f"{self.name}.h").write_text(self.header)
            (at / "code.c").write_text(source)
            command = ["arm-none-eabi-gcc", *_TARGET, *_FLAGS, "code.c", "-lm", "-lc", "-lgcc", "-o", "code.elf"]
            subprocess.run(command, cwd=at, check=True, capture_output=True)
            subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "code.elf", "code.bin"], cwd=at, check=True)
            symbols = subprocess.run(
                ["arm-none-eabi-nm", "code.elf"], cwd=at, check=True, capture_output=True, text=True
            )
            size = subprocess.run(
                ["arm-none-eabi-size", "code.elf"], cwd=at, check=True, capture_output=True, text=True
            )
            self.code = (at / "code.bin").read_bytes()
        self.text = int(size.stdout.splitlines()[1].split()[0])
        found = re.search(rf"^(\w+) T {self.name}$", symbols.stdout, re.MULTILINE)
        assert found
        self.entry = int(found[1], 16) | 1
        declared = self.header.partition("*/")[2]
        self.labels = re.findall(r"\*(\w+)[,)]", declared)
        pairs = re.findall(r"^ \*   (\w+)\[(\d+)\]$", self.header, re.MULTILINE)
        self.sizes = {label: int(size) for label, size in pairs}
        self._start()

    def _start(self) -> None:
        import unicorn
        from unicorn import arm_const

        machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
        machine.ctl_set_cpu_model(arm_const.UC_CPU_ARM_MAX)
        machine.mem_map(0, 0x1000000)
        machine.mem_write(0x10000, self.code)
        machine.reg_write(arm_const.UC_ARM_REG_C1_C0_2, 0xF << 20)
        machine.reg_write(arm_const.UC_ARM_REG_FPEXC, 1 << 30)
        self.machine, self.arm = machine, arm_const
        self.counts: dict[tuple[int, int], int] = {}
        self.total, self.lowest = 0, _STACK
        machine.hook_add(unicorn.UC_HOOK_BLOCK, self._block)

    def _block(self, machine: Any, address: int, size: int, _: Any) -> None:
        if (address, size) not in self.counts:
            halves = struct.unpack(f"<{size // 2}H", machine.mem_read(address, size))
            k = count = 0
            while k < len(halves):  # of two halfwords if the first begins so
                k += 2 if halves[k] >> 11 in (0b11101, 0b11110, 0b11111) else 1
                count += 1
            self.counts[address, size] = count
        self.total += self.counts[address, size]
        self.lowest = min(self.lowest, machine.reg_read(self.arm.UC_ARM_REG_SP))

    def __call__(self, **given: Any) -> tuple[int, dict[str, Any], int]:
        place, places, arrays = _DATA, [], {}
        for label in self.labels:
            arrays[label] = np.zeros(self.sizes[label], self.number)
            if label in given:
                arrays[label][:] = np.ravel(given[label])
            self.machine.mem_write(place, arrays[label].tobytes())
            places.append(place)
            place += arrays[label].nbytes + 64 - arrays[label].nbytes % 8
        registers = [getattr(self.arm, f"UC_ARM_REG_R{k}") for k in range(4)]
        for register, value in zip(registers, places, strict=False):
            self.machine.reg_write(register, value)
        rest = places[4:]
        pointer = _STACK - 4 * (len(rest) + len(rest) % 2)
        for k, value in enumerate(rest):
            self.machine.mem_write(pointer + 4 * k, struct.pack("<I", value))
        self.machine.reg_write(self.arm.UC_ARM_REG_SP, pointer)
        self.machine.reg_write(self.arm.UC_ARM_REG_LR, _END | 1)
        self.total = 0
        self.machine.emu_start(self.entry, _END)
        for label, at in zip(self.labels, places, strict=True):
            arrays[label] = np.frombuffer(self.machine.mem_read(at, arrays[label].nbytes), self.number).copy()
        status = self.machine.reg_read(self.arm.UC_ARM_REG_R0)
        return status, arrays, self.total


def states(model: pp.Model, count: int) -> list[dict[str, Any]]:
    """Measurements of a controller about home, with the guess of the last period."""
    rng, home = np.random.default_rng(8), model.robot.home.matrix
    turns = model.mobility.turns
    m, found = len(turns), []
    while len(found) < count:
        x = rng.uniform(-1, 1, m) * np.where(turns, 0.1, 0.1 * model.size)
        xdot, xddot = rng.normal(size=(2, m)) * np.array([[0.1], [1.0]])
        try:
            if model.robot.dof:
                pose, twist, acceleration = model.motion(x, xdot, xddot)
                guess = model.motion(x + 2e-4 * rng.normal(size=m)).pose
            else:
                pose, twist, acceleration = pp.pose(*x) @ home, xdot, xddot
                guess = pp.pose(*(x + 2e-4 * rng.normal(size=m))) @ home
            q, qdot = model.inverse_kinematics(pose), model.rates(pose, twist)
            qddot = model.accelerations(pose, twist, acceleration)
        except pp.errors.StateError:
            continue
        wrench = np.r_[rng.normal(size=3) * 10, rng.normal(size=3)] if m == 6 else np.zeros(6)
        known = {"twist": twist, "acceleration": acceleration, "motion": pose}
        found.append({"q": q, "qdot": qdot, "qddot": qddot, "pose": guess, "wrench": wrench, **known})
    return found


def main(*robots: str, count: int = 40) -> None:
    """Print mean and largest counts, agreement with Python, and the size of code and stack."""
    warnings.simplefilter("ignore")
    print("robot function precision iterations: instructions mean, worst; force off; not OK; text, stack [kB]")
    for robot in robots:
        model = pp.Model(robot)
        rows = states(model, count)
        for function in ("inverse_dynamics", "control_step", "safe_step"):
            for precision in ("double", "float"):
                for iterations in (None, 6):
                    number = np.float64 if precision == "double" else np.float32
                    exported = export_c(model, function, precision=precision, iterations=iterations)
                    if iterations and "iterations" not in exported[0]:
                        continue
                    emulated = Emulated(exported, number)
                    counts, off, bad = [], [], {}
                    for row in rows:
                        given = {label: row[label] for label in emulated.labels if label in row}
                        given |= {"weights": np.ones(len(model.actuators))} if "weights" in emulated.labels else {}
                        if function == "inverse_dynamics":
                            given["pose"] = row["motion"]
                        status, arrays, total = emulated(**given)
                        counts.append(total)
                        if status not in (0, 5):
                            bad[status] = bad.get(status, 0) + 1
                        if function != "safe_step" or status == 0:
                            force = model.inverse_dynamics(
                                row["motion"], row["twist"], row["acceleration"], row["wrench"]
                            )
                            off.append(np.abs(arrays["force"] - force).max() / np.abs(force).max())
                    stack = (_STACK - emulated.lowest) / 1000
                    emulated.lowest = _STACK
                    print(
                        f"{robot} {function} {precision} {iterations or '-'}: {np.mean(counts):.0f} {max(counts)}  "
                        f"{max(off, default=np.nan):.1e}  {bad}  {emulated.text / 1000:.0f} {stack:.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("kim-ryu", "hexapod", "delta", "reachy-mini", "par4")))
