"""``polypod optimise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, command
from .options import Replace, Settings, overrides
from .terminal import working

FILES = ("best.html", "best.csv", "robots")


@command("optimise", "optimise study.yaml --generations 60")
def optimise(
    study: Annotated[Path, typer.Argument(help="Study file with 'minimise', 'maximise' or 'target'.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; default: polypod-results/optimise/NAME.")
    ] = None,
    generations: Annotated[int, typer.Option(min=1, help="Number of generations.")] = 40,
    population: Annotated[int | None, typer.Option(min=8, help="Designs per generation.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    polish: Annotated[bool, typer.Option(help="Refine the best design of a single objective by its gradient.")] = True,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..design.optimise import optimise
    from ..design.page import page
    from ..design.results import best_table, limits_text
    from ..design.study import load_study
    from ..files import save
    from ..output.folder import atomic_folder, check_target

    with working("optimising") as progress:
        name = load_study(study).name
        target = Path("polypod-results") / "optimise" / name if out is None else out
        check_target(target, force, FILES)
        progress("compiling the robot")
        found = optimise(
            study, settings=overrides(settings), generations=generations, population=population, seed=seed,
            polish=polish, progress=lambda k, n, text: progress(f"generation {k} of {n}, {text}"),
        )  # fmt: skip
        best = best_table(found)
        progress("robot files and page")
        with atomic_folder(target, force, FILES) as folder:
            (folder / "robots").mkdir()
            for k in range(len(found.values)):
                save(found.robot(k, found.point_name(k)), folder / "robots" / f"{found.point_name(k)}.yaml")
            (folder / "best.csv").write_text(best.csv(), encoding="utf-8")
            (folder / "best.html").write_text(page(found), encoding="utf-8")
    where = f"Results: {target} (open {target / 'best.html'}; robot files in {target / 'robots'})"
    return Answer(
        [
            best.practical(),
            f"{found.evaluations} designs evaluated. The best are {limits_text(found.evaluator)}, at the samples.",
            where,
        ],
        {
            "study": name,
            "limits": limits_text(found.evaluator),
            "evaluations": found.evaluations,
            "best": best.records(),
            "folder": str(target),
        },
    )
