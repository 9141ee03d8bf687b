"""Run the benchmarks from a checkout of the repository: ``python -m bench --quick``."""

import typer

from .command import command

typer.run(command)
