"""Robots side by side along motions: one number of each kind a robot, and which is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from ..description import Robot
from ..errors import InputError
from ..model import Model
from ..motion import make_task, with_motion_lines
from ..tables import Table, table
from .read import actuators_by_unit, rms
from .study import study
from .verdict import Verdict, percent, verdict

_MEASURED = {"force": "force", "rms force": "force", "speed": "qdot", "stroke": "q"}


class Measure(NamedTuple):
    """One number of every robot, in their order; a smaller one is better unless ``more_is_better``."""

    name: str
    unit: str
    values: tuple[float, ...]
    more_is_better: bool = False

    @property
    def best(self) -> int | None:
        """Number of the best robot; None if the best two differ by less than a millionth, or a value is open."""
        values = np.array(self.values)
        if len(values) < 2 or not np.isfinite(values).all():
            return None
        order = np.argsort(-values if self.more_is_better else values, kind="stable")
        first, second = values[order[:2]]
        return int(order[0]) if abs(first - second) > 1e-6 * max(abs(first), abs(second)) else None


class Comparison(NamedTuple):
    """Names of the robots, what was measured of each, their verdicts, and ``notes`` on what is not comparable."""

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """A row for each measure, a column for each robot, and how the last compares with the first."""
        last = [] if len(self.names) != 2 else [("change", "")]
        columns = [("largest along the motion", ""), ("unit", ""), *((name, "") for name in self.names)]
        rows = []
        for one in self.measures:
            rows.append((one.name, one.unit, *one.values, *([_change(one)] if last else []), self._best(one)))
        uses = (percent(v.worst.use) if v.worst else "no limits" for v in self.verdicts)
        rows.append(("most used limit", "", *uses, *([""] if last else []), ""))
        fits = ("fits" if v.ok and v.uses else "not checked" if v.ok else "does not fit" for v in self.verdicts)
        rows.append(("verdict", "", *fits, *([""] if last else []), ""))
        return table("Comparison", [*columns, *last, ("best", "")], rows)

    def _best(self, one: Measure) -> str:
        return "" if one.best is None else self.names[one.best]

    @property
    def sentences(self) -> list[str]:
        """For each robot what it is best and worst at."""
        found = []
        for k, name in enumerate(self.names):
            best = [one.name for one in self.measures if one.best == k]
            worst = [one.name for one in self.measures if one._replace(more_is_better=not one.more_is_better).best == k]
            parts = [f"best in {', '.join(best)}"] * bool(best) + [f"worst in {', '.join(worst)}"] * bool(worst)
            found.append(f"{name}: {'; '.join(parts) or 'neither best nor worst in any quantity'}")
        return found

    def data(self) -> dict[str, object]:
        """As JSON data."""
        return {
            "robots": list(self.names),
            "measures": [
                {
                    "name": one.name,
                    "unit": one.unit,
                    "values": [None if np.isnan(x) else x for x in one.values],
                    "best": self._best(one) or None,
                }
                for one in self.measures
            ],
            "verdicts": [found.data() for found in self.verdicts],
            "notes": list(self.notes),
        }


def study_robots(
    robots: Mapping[str, Model | Robot | str | Path],
    motion: str | None = None,
    rate: float | None = None,
    friction: bool = True,
    progress: Callable[[str], None] = lambda step: None,
) -> dict[str, xr.Dataset]:
    """Study robots along one motion, for ``compare``.

    Parameters
    ----------
    robots : robots, their names or files, by the labels they get
    motion : a motion's name or file; each robot's own if not given
    rate : sampling rate [Hz]; the motion's own if not given
    friction : whether to include friction
    progress : called with the name of each step before it begins

    Returns
    -------
    dict of xarray.Dataset : studies by label; robots of one topology share their compiled functions
    """
    studies: dict[str, xr.Dataset] = {}
    for label, robot in robots.items():
        progress(f"{label}: compiling")
        model = robot if isinstance(robot, Model) else Model(robot)
        with with_motion_lines(motion if rate is None else None):
            task = make_task(model, motion, rate)
        with with_motion_lines(motion):
            studies[label] = study(model, task, friction, lambda step, at=label: progress(f"{at}: {step}"))  # type: ignore[misc]
    return studies


def compare(results: Mapping[str, xr.Dataset]) -> Comparison:
    """Compare studies by name: forces, speeds, power, reactions, strokes, conditioning, verdicts.

    Forces, speeds and strokes of robots that push and robots that turn are rows of their own, open where a robot has no
    such actuator. The largest joint reaction is open (NaN) where statics leaves that of any joint open.
    """
    if len(results) < 2:
        raise InputError(f"compare: needs at least two studies, got {len(results)}")
    studies = list(results.values())
    units = list(dict.fromkeys(pair for one in studies for pair in actuators_by_unit(one)))
    measures = []
    for unit, push in units:
        picked = [actuators_by_unit(one).get((unit, push), []) for one in studies]
        kinds = (("force", push), ("rms force", push), ("speed", f"{unit}/s"), ("stroke", unit))
        for name, text in kinds:
            measured = _MEASURED[name]
            values = tuple(_largest(one, measured, name, k) for one, k in zip(studies, picked, strict=True))
            measures.append(Measure(name, text, values))
    total = tuple(float(max(one.power.values.sum(axis=1).max(), 0.0)) for one in studies)
    measures.append(Measure("total power", "W", total))
    if all("reaction_force" in one for one in studies):
        sizes = (np.linalg.norm(one.reaction_force.values, axis=-1) for one in studies)
        measures.append(Measure("joint reaction", "N", tuple(float(size.max()) for size in sizes)))
    measures.append(Measure("condition number", "", tuple(float(one.condition.max()) for one in studies)))
    distance = tuple(float(one.distance.min()) for one in studies)
    measures.append(Measure("distance to singularity (least)", "mm/mm", distance, more_is_better=True))
    verdicts = tuple(verdict(one) for one in studies)
    return Comparison(tuple(results), tuple(measures), verdicts, tuple(_notes(tuple(results), studies, verdicts)))


def _notes(names: tuple[str, ...], studies: list[xr.Dataset], verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    """What makes robots hard to compare: motors that only some files describe, limits that only some files give."""
    without = [name for name, one in zip(names, studies, strict=True) if one.attrs.get("without_rotor")]
    if without and len(without) < len(names):
        others = [name for name in names if name not in without]
        yield (
            f"{', '.join(without)}: the file gives no motor inertia (rotor_inertia), {', '.join(others)}: it does; "
            "forces of the former do not include the acceleration of motors"
        )
    given = [{one.quantity for one in found.uses} for found in verdicts]
    some = sorted({name for found in given for name in found if not all(name in other for other in given)})
    for name, found in zip(names, given, strict=True):
        missing = [quantity for quantity in some if quantity not in found]
        if missing:
            yield f"{name}: the file gives no limit for {', '.join(missing)}, which others are judged by"


def _largest(result: xr.Dataset, measured: str, name: str, numbers: list[int]) -> float:
    if not numbers:
        return float("nan")
    values = result[measured].values[:, numbers]
    if name == "rms force":
        return float(rms(result.time.values, values).max())
    return float((np.ptp(values, axis=0) if name == "stroke" else np.abs(values)).max())


def _change(one: Measure) -> str:
    first, second = one.values
    if not (np.isfinite(first) and np.isfinite(second)) or first == 0.0:
        return ""
    return f"{100 * (second / first - 1):+.1f} %".replace("+0.0 %", "0 %").replace("-0.0 %", "0 %")
