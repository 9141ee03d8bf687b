"""``polypod optimise``: the best design of a study, or the best compromises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..tables import table
from .options import Json, Replace
from .overrides import Settings, overrides
from .terminal import out, report_errors, show_json, show_table, working

EXAMPLE = "Example: polypod optimise study.yaml --generations 60"
FILES = ("best.html", "best.csv", "robots")


@report_errors
def command(
    study: Annotated[Path, typer.Argument(help="Study file with 'minimise'.")],
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results folder; polypod-results/optimise/NAME if not given.")
    ] = None,
    generations: Annotated[int, typer.Option(min=1, help="Generations.")] = 40,
    population: Annotated[int | None, typer.Option(min=8, help="Designs of a generation.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Start of the random numbers; the same gives the same.")] = 0,
    polish: Annotated[bool, typer.Option(help="Refine the best design of a single quantity by its gradient.")] = True,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """The best design of a study within its limits, or the best compromises between several quantities."""
    from ..design.optimise import optimise
    from ..design.page import page, point_name
    from ..design.study import load_study
    from ..files import save
    from ..output.folder import atomic_folder, check_target

    with working("optimising") as progress:
        name = load_study(study).name
        target = Path("polypod-results") / "optimise" / name if out_folder is None else out_folder
        check_target(target, force, FILES)
        progress("compiling the robot")
        found = optimise(
            study, settings=overrides(settings), generations=generations, population=population, seed=seed,
            polish=polish, progress=lambda k, n, text: progress(f"generation {k} of {n}, {text}"),
        )  # fmt: skip
        evaluator = found.evaluator
        columns = [("robot", ""), *((v.label, evaluator.unit(k)) for k, v in enumerate(evaluator.study.vary))]
        columns += [(name, evaluator.quantity_unit(name)) for name in found.quantities]
        rows = [
            (point_name(found, k), *map(float, found.values[k]), *(float(v[k]) for v in found.quantities.values()))
            for k in range(len(found.values))
        ]
        best = table("Best designs", columns, rows)
        progress("robot files and page")
        with atomic_folder(target, force, FILES) as folder:
            (folder / "robots").mkdir()
            for k in range(len(found.values)):
                save(found.robot(k, point_name(found, k)), folder / "robots" / f"{point_name(found, k)}.yaml")
            (folder / "best.csv").write_text(best.csv(), encoding="utf-8")
            (folder / "best.html").write_text(page(found), encoding="utf-8")
    if json_:
        show_json({"study": name, "evaluations": found.evaluations, "best": best.records(), "folder": str(target)})
        return
    show_table(best.practical())
    out().print(
        f"\n{found.evaluations} designs evaluated. Results: {escape(str(target))} "
        f"(open {escape(str(target / 'best.html'))}; robot files in {escape(str(target / 'robots'))})"
    )
