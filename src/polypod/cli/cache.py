"""``polypod cache``."""

from __future__ import annotations

from typing import Annotated

import typer

from .frame import Answer, command


@command("cache", "cache --clear")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all compiled functions.")] = False,
) -> Answer:
    from ..kernels import store

    folder = store.store_folder()
    found = store.clear() if clear else store.contents()
    size = f"{found.kernels} compiled functions, {found.size / 1e6:.1f} MB"
    return Answer(
        [f"{'Removed ' if clear else ''}{size} {'from' if clear else 'in'} {folder}"],
        {"folder": str(folder), "kernels": found.kernels, "bytes": found.size, "cleared": clear},
    )
