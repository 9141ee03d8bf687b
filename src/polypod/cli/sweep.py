"""``polypod sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .frame import Answer, Styled, command
from .options import Replace, Settings, overrides
from .terminal import working

FILES = ("designs.csv", "results.nc", "scatter.png", "effects.png", "limits.png")


@command("sweep", "sweep study.yaml --sensitivities")
def sweep(
    study: Annotated[Path, typer.Argument(help="Study file: what to vary, motions, quantities, limits.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; default: polypod-results/sweep/NAME.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Zarr folder for finished blocks; a stopped sweep resumes from it.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads on this machine; default: all cores.")] = None,
    sensitivities: Annotated[
        bool, typer.Option("--sensitivities", help="Derivatives with respect to the varied parameters.")
    ] = False,
    indices: Annotated[
        int | None, typer.Option("--sobol", help="Sobol indices from this many samples, a power of two such as 1024.")
    ] = None,
    figures: Annotated[
        bool, typer.Option(help="Figures: quantities against parameters, main effects, what limits rule out.")
    ] = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..datasets import save_result
    from ..design import prepare
    from ..design.figures import SWEEP_FIGURES
    from ..design.results import (
        derivative_table,
        design_table,
        indices_table,
        limits_text,
        nearest_text,
        spread_table,
        violations,
        violations_table,
    )
    from ..design.sensitivity import gradients, sobol
    from ..design.sweep import run
    from ..output.folder import atomic_folder, check_target
    from ..results.figures.picture import write_picture

    with working("sweeping") as progress:
        progress("compiling the robot")
        prepared, evaluator = prepare(study, overrides(settings))
        target = Path("polypod-results") / "sweep" / prepared.study.name if out is None else out
        check_target(target, force, FILES)
        result = run(
            prepared, evaluator, store=store, scheduler=scheduler, threads=threads,
            progress=lambda done, total, left: progress(f"{done} of {total} designs, {left:.0f} s left"),
        )  # fmt: skip
        derivatives = found = None
        if sensitivities:
            progress("derivatives")
            derivatives = gradients(evaluator, np.array([(min(v) + max(v)) / 2 for v in evaluator.bounds]))
        if indices is not None:
            progress("Sobol indices")
            found = sobol(evaluator, indices, prepared.study.sample.seed)
        with atomic_folder(target, force, FILES) as folder:
            (folder / "designs.csv").write_text(design_table(result, evaluator).csv(), encoding="utf-8")
            if figures:
                progress("drawing")
                for name, draw in SWEEP_FIGURES.items():
                    write_picture(folder / f"{name}.png", draw, result, evaluator)
            save_result(result.assign(feasible=result["feasible"].astype("int8")), folder / "results.nc")
    count, kept = result.sizes["design"], int(result["feasible"].sum())
    impossible = evaluator.designs(prepared.values).impossible
    motions = ", ".join(result["motion"].values.tolist())
    broken, spread = violations_table(result), spread_table(result, evaluator)
    return Answer(
        [
            Styled(prepared.study.name, f": {count} designs of {prepared.model.robot.name} on {motions}"),
            spread.practical(),
            *([broken] if broken.rows else []),
            f"{kept} of {count} designs are {limits_text(evaluator)}.",
            *([] if kept else [nearest_text(result)]),
            *([] if derivatives is None else [derivative_table(derivatives, evaluator)]),
            *([] if found is None else [indices_table(found, evaluator)]),
            f"Results: {target}{'' if store is None else f', store: {store}'}",
        ],
        {
            "study": prepared.study.name, "robot": prepared.model.robot.name, "designs": count, "feasible": kept,
            "limits": limits_text(evaluator),
            "killed": violations(result), "quantities": spread.records(), "derivatives": derivatives,
            "sobol": None if found is None else {k: v._asdict() for k, v in found.items()}, "folder": str(target),
        },
        [f"{len(impossible)} designs cannot be built; design {k}: {impossible[k]}" for k in sorted(impossible)[:1]],
    )  # fmt: skip
