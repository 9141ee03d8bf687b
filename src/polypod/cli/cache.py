"""``polypod cache``: the compiled functions that are kept between runs."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Json
from .terminal import report_errors, show_json

EXAMPLE = "Example: polypod cache --clear"


@report_errors
def command(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove all of them; they are compiled again when used.")
    ] = False,
    json_: Json = False,
) -> None:
    """The compiled functions that are kept between runs: where, how many, how large."""
    from ..kernels import store

    folder = store.store_folder()
    found = store.clear() if clear else store.contents()
    if json_:
        show_json({"folder": str(folder), "kernels": found.kernels, "bytes": found.size, "cleared": clear})
        return
    size = f"{found.kernels} compiled functions, {found.size / 1e6:.1f} MB"
    print(f"{'Removed ' if clear else ''}{size} {'from' if clear else 'in'} {folder}")
