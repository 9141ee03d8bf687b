"""Cycles that a processor needs for a kernel and for its rivals in C, by LLVM's model of that processor.

python -m bench.cycles znver4

For machines that are not at hand: the code is compiled for them and not run. Needs `llvm-mca` and `clang++` of one
version (a number behind their names is found). Whole functions count, with rows read, turned over and written.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

from llvmlite import binding as llvm

from bench.compiled import casadi_rows, computing, in_vectors
from polypod.errors import UnphysicalWarning
from polypod.export import export_c
from polypod.kernels import Expression, machine
from polypod.kernels.emit import Module
from polypod.kernels.function import add_function
from polypod.model import Model
from polypod.symbols.program import Program

_WIDE = {"znver4": 8, "znver5": 8, "sapphirerapids": 8, "icelake-server": 8}


def main(cpu: str = "znver4", robot: str = "pedrammehr") -> None:
    """Print instructions and cycles a state of inverse and direct dynamics."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    width = _WIDE.get(cpu, 4)
    print(f"{robot} on {cpu}, {width} states side by side, by LLVM's model\n")
    for function in ("inverse_dynamics", "direct_dynamics"):
        rows = {}
        for fixed in (True, False):
            graph = Model(robot, specialise=fixed).kernel(function, friction=False).expression
            label = "numbers built in" if fixed else "numbers as inputs"
            rows[f"kernel, {label}"] = _kernel(graph.program, cpu, width)
            rows[f"kernel, {label}, sums as written"] = _kernel(replace(graph, any_order=False).program, cpu, width)
        model = Model(robot, specialise=True)
        expression = model.kernel(function, friction=False).expression
        assert isinstance(expression, Expression)
        name, exported = computing(*export_c(model, function, friction=False))
        sources = {"exported C": (exported, name), "C by CasADi": (casadi_rows(expression), "casadi_rows")}
        for label, (source, entry) in sources.items():
            text = in_vectors(source, entry, width, expression.inputs, expression.outputs)
            rows[f"{label}, vector type, clang++ -O3 -ffast-math"] = _cpp(text, cpu)
        best = min(cycles for label, (_, cycles) in rows.items() if "clang" in label)
        for label, (instructions, cycles) in rows.items():
            share = f"{cycles / best:.3f} of the best in C"
            print(f"{function:18s} {label:52s} {instructions:6d} instructions {cycles / width:7.1f} cycles, {share}")


def _kernel(program: Program, cpu: str, width: int) -> tuple[int, int]:
    module = Module()
    add_function(module, "kernel", program, width)
    triple = machine.host()[0]
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=machine.optimisation(), jit=True)
    return _modelled(target.emit_assembly(llvm.parse_assembly(f'target triple = "{triple}"\n{module}')), cpu)


def _cpp(source: str, cpu: str) -> tuple[int, int]:
    command = [_tool("clang++"), "-O3", f"-march={cpu}", "-ffast-math", "-S", "-x", "c++", "-", "-o", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return _modelled(done.stdout, cpu)


def _modelled(assembly: str, cpu: str) -> tuple[int, int]:
    """Instructions and cycles of one pass through the code, from three."""
    with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
        file.write(assembly)
        file.flush()
        command = [_tool("llvm-mca"), f"-mcpu={cpu}", "-iterations=3", "-instruction-info=false", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"Instructions:\s+(\d+)\s+Total Cycles:\s+(\d+)", done.stdout)
    assert found is not None, done.stdout[:500]
    return int(found[1]) // 3, int(found[2]) // 3


def _tool(name: str) -> str:
    folders = [Path("/usr/bin"), Path("/usr/local/bin")]
    numbered = sorted(
        (p for folder in folders for p in folder.glob(f"{name}-*") if p.name[len(name) + 1 :].isdigit()),
        key=lambda p: int(p.name[len(name) + 1 :]),
    )
    found = str(numbered[-1]) if numbered else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is needed (Debian: apt install llvm clang)")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
