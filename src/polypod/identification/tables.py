"""Tables of what was identified, calibrated, planned and excited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..model import Model
from ..tables import Table, table
from .base import BaseParameters
from .calibrate import Calibration, Plan
from .excite import Excitation
from .identify import WHITE, Identification
from .new_robot import Z95


def force_errors_table(found: Identification) -> Table:
    """Errors of forces before and after, by actuator, of the held-out log or else of the last run."""
    shown = (found.validation or found.runs)[-1]
    what = f"held-out log {shown.log.name}" if found.validation else f"log {shown.log.name}, which was fitted"
    unit = force_unit(found)
    before, after = shown.error(shown.before), shown.error(shown.after)
    rows = [(a.name, float(before[k]), float(after[k]), float(shown.noise[k]))
            for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("before", unit), ("after", unit), ("noise", unit)]
    return table("Force errors", columns, rows, f"Root mean square of measured less predicted forces of the {what}; "
                 "noise is the part that noise of forces and coordinates alone would give.")  # fmt: skip


def channels_table(found: Identification) -> Table:
    """Errors of force channels and encoders, and effects that the robot file lacks, with their intervals."""
    rows = [(e.kind, e.actuator or "all", e.value, e.half, e.unit) for e in found.channels]
    columns = [("effect", ""), ("actuator", ""), ("value", ""), ("± 95 %", ""), ("unit", "")]
    caption = (
        "What measured forces contain besides those of the robot, as far as the data ask for it (likelihood-ratio "
        "test); it is taken into account. Friction and springs in this table are missing in the robot file."
    )
    return table("Channels", columns, rows, caption)


def identification_headline(found: Identification) -> str:
    """What the identification is worth, in two sentences."""
    shown = (found.validation or found.runs)[-1]
    what = "held-out forces" if found.validation else "forces (of a log that was fitted)"
    before, after, noise = (
        float(np.sqrt((x**2).mean())) for x in (shown.error(shown.before), shown.error(shown.after), shown.noise)
    )
    unit, way = force_unit(found), "fall" if after < 0.98 * before else "rise" if after > 1.02 * before else "stay"
    size = f"near {after:.3g}" if way == "stay" else f"from {before:.3g} to {after:.3g}"
    verdict = str(found.verdict)
    return (
        f"Errors of {what} {way} {size} {unit}; what the fit takes for noise is {noise:.3g} {unit}. Verdict: {verdict}."
    )


def force_unit(found: Identification) -> str:
    """N, N m, or both where a robot has actuators of both kinds."""
    return " or ".join(dict.fromkeys(a.force_unit for a in found.model.actuators))


def whiteness_table(found: Identification) -> Table:
    """Residuals of the fit: size and whiteness by actuator."""
    white = found.residuals
    rows = [(a.name, float(white.rms[k]), float(white.neighbours[k]), float(white.time[k]), float(white.p_value[k]),
             "yes" if white.p_value[k] >= WHITE else "no") for k, a in enumerate(found.model.actuators)]  # fmt: skip
    columns = [("actuator", ""), ("rms", force_unit(found)), ("correlation of neighbours", ""),
               ("correlation time", "samples"), ("p-value", ""), ("white", "")]  # fmt: skip
    caption = (
        f"White residuals have a p-value (Ljung, Box) of {WHITE} or more. Where they are not, something of the machine "
        "is missing in the model or in its motion, and intervals are widened by the correlation time."
    )
    return table("Residuals", columns, rows, caption)


def changes_table(found: Identification) -> Table:
    """Every number of the file that logs show something of: before, after and by how much it moved."""
    rows = []
    for change in found.changes:
        before, after, half = (np.asarray(x, dtype=float) for x in (change.before, change.after, change.half))
        where = [()] if before.ndim == 0 else [(i,) for i in range(3)] if before.ndim == 1 else [
            (i, j) for i in range(3) for j in range(i, 3)]  # fmt: skip
        for at in where:
            suffix = "" if not at else " " + "".join("xyz"[i] for i in at)
            moved = float(after[at] - before[at])
            ratio = abs(moved) / float(half[at]) if half[at] > 0 else float("nan")
            rows.append((change.path + suffix, change.unit, float(before[at]), float(after[at]), float(half[at]), moved,
                         ratio))  # fmt: skip
    columns = [("number", ""), ("unit", ""), ("file", ""), ("new", ""), ("± 95 %", ""), ("moved by", ""),
               ("moved", "of ± 95 %")]  # fmt: skip
    return table(
        "Numbers",
        columns,
        rows,
        "Estimated from the logs and the file's values together, with inertias that real bodies can have.",
    )


def moved_table(found: Identification, most: int = 30) -> Table:
    """The numbers that moved by more than their 95 % interval, those that moved most first."""
    whole = changes_table(found)
    rows = sorted((row for row in whole.rows if row[-1] > 1), key=lambda row: -row[-1])
    more = f" The first {most} are shown." if len(rows) > most else ""
    caption = f"{len(rows)} of {len(whole.rows)} numbers moved by more than their ± 95 %.{more}"
    return replace(whole, title="What moved", rows=tuple(rows[:most]), caption=caption)


def base_table(found: Identification) -> Table:
    """Base parameters estimated from the logs alone."""
    beta, file, half = found.beta, found.base.values(found.linear.values), found.half_widths
    rows = [(name, unit, float(file[k]), float(beta[k]), float(half[k]))
            for k, (name, unit) in enumerate(zip(found.base.names, found.base.units, strict=True))]  # fmt: skip
    columns = [("base parameter", ""), ("unit", ""), ("file", ""), ("data", ""), ("± 95 %", "")]
    alone, some, none = (found.base.identifiability.count(s) for s in ("alone", "together", "not"))
    caption = f"Of {len(found.base.numbers)} numbers {alone} are seen alone, {some} together with others, {none} not."
    return table("Base parameters", columns, rows, caption)


def identifiable_text(base: BaseParameters) -> str:
    """How many combinations of parameters the measured poses determine."""
    return f"{base.count} combinations of {len(base.numbers)} parameters are identifiable."


def residual_text(found: Calibration) -> str:
    """Residuals before and after, and the noise that is left."""
    parts = [f"{name} {value:.3g} {unit}" for name, value, unit in
             zip(("lengths", "angles"), found.noise, ("m", "rad"), strict=True) if np.isfinite(value)]  # fmt: skip
    before, after = (float(np.sqrt((r**2).mean())) for r in (found.before, found.residuals))
    return (
        f"Residuals fall from {before:.3g} to {after:.3g} (rms); noise of {', '.join(parts)}. Verdict: {found.verdict}."
    )


def geometry_table(found: Calibration) -> Table:
    """Every number with its step and interval."""
    half = Z95 * np.sqrt(np.diag(found.covariance))
    each = zip(found.geometry.numbers, found.steps, half, found.base.identifiability, strict=True)
    rows = [
        (n.name, n.unit, n.value, n.value + float(s), float(h), identifiability) for n, s, h, identifiability in each
    ]
    columns = [("number", ""), ("unit", ""), ("file", ""), ("new", ""), ("± 95 %", ""), ("seen", "")]
    return table("Geometry", columns, rows)


def plan_table(chosen: Plan) -> Table:
    """What the poses of a plan will show."""
    each = zip(chosen.base.numbers, chosen.half_widths, chosen.base.identifiability, strict=True)
    rows = [(n.name, n.unit, float(h), identifiability) for n, h, identifiability in each]
    caption = "With noise of 10 um and 20 urad."
    return table(
        "What the poses will show", [("number", ""), ("unit", ""), ("± 95 %", ""), ("seen", "")], rows, caption
    )


def combinations_table(chosen: Plan) -> Table:
    """Combinations of numbers that poses show only together."""
    mixed = [name for name, row in zip(chosen.base.names, chosen.base.matrix, strict=True) if (row != 0).sum() > 1]
    return table("Seen together", [("combination", "")], [(name,) for name in mixed])


def poses_table(model: Model, chosen: Plan) -> Table:
    """Poses and coordinates of a plan, in the columns that measurements come back in."""
    from scipy.spatial.transform import Rotation

    angles = Rotation.from_matrix(chosen.poses[:, :3, :3]).as_euler(model.robot.euler)
    columns = [(f"{a.name}.q", a.unit) for a in model.actuators]
    columns += [(c, "m") for c in "xyz"] + [(c, "rad") for c in ("a1", "a2", "a3")]
    rows = np.concatenate([chosen.q, chosen.poses[:, :3, 3], angles], axis=1)
    return table("Poses", columns, [tuple(map(float, row)) for row in rows])


def excitation_table(found: Excitation, names: Sequence[str] | None = None) -> Table:
    """Standard deviations to expect of base parameters, those of some names or all."""
    rows = [(name, unit, float(d) if np.isfinite(d) else float("nan"))
            for name, unit, d in zip(found.base.names, found.base.units, found.deviations, strict=True)
            if names is None or name in names]  # fmt: skip
    return table("What one period shows", [("base parameter", ""), ("unit", ""), ("standard deviation", "")], rows)
