"""``polypod sweep``: every design of a study, judged by its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from .options import Json, Replace
from .overrides import Settings, overrides
from .terminal import Progress, note, out, report_errors, show_json, show_table, working

EXAMPLE = "Example: polypod sweep study.yaml --sensitivities"
FILES = ("designs.csv", "results.nc")


@report_errors
def command(
    study: Annotated[Path, typer.Argument(help="Study file: what to vary, motions, quantities, limits.")],
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; polypod-results/sweep/NAME if not given.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Zarr folder that keeps every finished block; a stopped sweep goes on with it.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads here; all cores if not given.")] = None,
    sensitivities: Annotated[
        bool, typer.Option("--sensitivities", help="Derivatives by the varied numbers, at the middle of their ranges.")
    ] = False,
    indices: Annotated[
        int | None, typer.Option("--sobol", help="Sobol indices from so many samples, a power of two such as 1024.")
    ] = None,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Vary numbers of a robot: forces, powers, strokes, reactions of every design, and which limit binds."""
    from ..datasets import save_result
    from ..design import prepare
    from ..design.results import (
        derivative_table,
        design_table,
        indices_table,
        spread_table,
        violations,
        violations_table,
    )
    from ..design.sensitivity import gradients, sobol
    from ..design.sweep import run
    from ..output.folder import atomic_folder, check_target

    with working("sweeping") as progress:
        progress("compiling the robot")
        prepared, evaluator = prepare(study, overrides(settings))
        target = Path("polypod-results") / "sweep" / prepared.study.name if out_folder is None else out_folder
        check_target(target, force, FILES)
        result = run(prepared, evaluator, store=store, scheduler=scheduler, threads=threads, progress=_left(progress))
        derivatives = found = None
        if sensitivities:
            progress("derivatives")
            derivatives = gradients(evaluator, np.array([(min(v) + max(v)) / 2 for v in evaluator.bounds]))
        if indices is not None:
            progress("Sobol indices")
            found = sobol(evaluator, indices, prepared.study.sample.seed)
        with atomic_folder(target, force, FILES) as folder:
            (folder / "designs.csv").write_text(design_table(result, evaluator).csv(), encoding="utf-8")
            save_result(result.assign(feasible=result["feasible"].astype("int8")), folder / "results.nc")
    count, kept = result.sizes["design"], int(result["feasible"].sum())
    impossible = evaluator.designs(prepared.values).impossible
    if json_:
        show_json(
            {
                "study": prepared.study.name, "robot": prepared.model.robot.name, "designs": count, "feasible": kept,
                "killed": violations(result), "quantities": spread_table(result, evaluator).records(),
                "derivatives": None if derivatives is None else derivatives,
                "sobol": None if found is None else {k: v._asdict() for k, v in found.items()},
                "folder": str(target),
            }
        )  # fmt: skip
        return
    console = out()
    motions = ", ".join(result["motion"].values.tolist())
    title = f"{count} designs of {prepared.model.robot.name} on {motions}"
    console.print(f"[bold]{escape(prepared.study.name)}[/]: {escape(title)}\n")
    show_table(spread_table(result, evaluator).practical())
    broken = violations_table(result)
    if broken.rows:
        console.print()
        show_table(broken)
    console.print(f"\n{kept} of {count} designs keep all limits.")
    if not kept:
        console.print(escape(_nearest(result)))
    if impossible:
        first = min(impossible)
        note(f"{len(impossible)} designs can be no robot; design {first}: {impossible[first]}")
    for shown in (None if derivatives is None else derivative_table(derivatives, evaluator),
                  None if found is None else indices_table(found, evaluator)):  # fmt: skip
        if shown is not None:
            console.print()
            show_table(shown)
    console.print(f"\nResults: {escape(str(target))}{'' if store is None else f', store: {escape(str(store))}'}")


def _left(step: Progress) -> Any:
    def progress(done: int, total: int, seconds: float) -> None:
        step(f"{done} of {total} designs, {seconds:.0f} s left")

    return progress


def _nearest(result: Any) -> str:
    """The design that comes nearest to the limits."""
    if "share" not in result:
        return "No design has an answer."
    largest = result["share"].max("limit", skipna=False).values
    if np.isnan(largest).all():
        return "No design has an answer."
    k = int(np.nanargmin(largest))
    return f"The nearest is design {k}: {result['binding'].values[k]} is {largest[k]:.3g} times its limit."
