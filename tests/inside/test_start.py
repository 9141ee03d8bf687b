"""What a start costs: which libraries an import loads, and that what is compiled is not built in symbols again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.little_kernels import run

LATER = (
    "xarray", "pandas", "dask", "matplotlib", "rich", "typer", "skfem",
    "scipy.spatial", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "scipy.interpolate",
)  # fmt: skip
"""Libraries that an import must leave to the functions that need them: each takes a tenth of a second or more."""

FUNCTIONS = """
import numpy as np
import polypod as pp
from polypod.analysis.workspace.quantities import margins_kernel, predicate
from polypod.kernels.predicate import Conditions
from polypod.symbols.expression import Expression, Iteration

if warm:
    def refuse(self):
        raise SystemExit(f"built again: {self.name}")
    Expression.program = Iteration.program = Conditions.graphs = property(refuse)
model = pp.Model("five-bar")
home = model.robot.home.matrix
state = model.motion(np.full(2, 0.01), np.full(2, 0.2), np.full(2, 0.3))
model.inverse_dynamics(*state)
model.direct_dynamics(state.pose, state.twist, np.ones(2))
model.reactions(*state)
model.inverse_dynamics(*state, formulation="newton-euler")
model.derivatives("inverse_dynamics", *state)
model.regressor(*state)
model.limits(*state)
predicate(model)
margins_kernel(model)
specialised = pp.Model("five-bar", specialise=True)
specialised.inverse_dynamics(*state)
"""


def test_an_import_loads_what_every_model_needs() -> None:
    code = f"import sys, polypod; print([name for name in {LATER!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.long
def test_commands_leave_dask_alone() -> None:
    """xarray would load it with the first Dataset; options that need it, or run a user's code, let it be found."""
    code = "import sys; from polypod.cli import _leave_out_dask; _leave_out_dask(sys.argv[1:]); import xarray; "
    code += "xarray.Dataset({'a': ('x', [1.0])}); print(sys.modules.get('dask') is not None)"
    for arguments, loaded in (
        (["run"], "False"),
        (["sweep", "--scheduler=tcp://a:1"], "True"),
        (["--with", "a"], "True"),
    ):
        ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == loaded


def test_a_second_process_builds_nothing_in_symbols(tmp_path: Path) -> None:
    surroundings = {"POLYPOD_CACHE": str(tmp_path), "POLYPOD_OPTIMISE": "0"}
    for warm in (False, True):
        ran = run(f"warm = {warm}{FUNCTIONS}", **surroundings)
        assert ran.returncode == 0, ran.stderr
