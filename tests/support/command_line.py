"""The command line in the tests' own process: an interpreter for each command would take a second to start."""

from __future__ import annotations

from click.testing import Result
from typer.testing import CliRunner

from polypod.cli import app


def polypod(*arguments: object) -> Result:
    """Output and exit code of a command; an exception that no user should see is raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    return result
