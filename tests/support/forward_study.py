"""Forward kinematics of many machines by every route: ``cd tests && python -m support.forward_study``.

Machines: the library, the files of ``tests/data/machines`` and some 330 that were made at random. States are those that
a straight way of the robot's coordinates joins to home without a singularity; forward kinematics gets their actuated
coordinates alone. What it returns is *wrong* unless inverse kinematics gives these coordinates back and det J has
home's sign there; a state without an answer is *lost*; an answer that is right and another pose is *other*.

Routes: ``home`` and ``near`` are ``Model.forward_kinematics`` from home and from 97 % of the way; ``code-home`` and
``code-near`` the exported expression alone, as machine code; ``log`` is ``along=True`` over rows of ways from home;
``c`` and ``js`` (with ``--compiled N``) are exported C by the compiler and exported JavaScript by Node, from home, for
N states of each machine, those first that one attempt from home does not find.

One line for each machine goes to the log with a digest of the sources; machines that are in it with the present digest
are not computed again, so that a study may be stopped and continued.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import polypod as pp
from polypod.export import export_c, export_js
from polypod.export.code import named_expression
from polypod.fingerprint import fingerprint
from polypod.kernels import Kernel
from support.robots.composed_machines import composed
from support.robots.coupled_chains import BETWEEN, COUPLED
from support.robots.machine_chains import MACHINES
from support.robots.random_chains import ROBOTS
from support.robots.unusual_chains import UNUSUAL
from support.states import Array, displaced

FILES = Path(__file__).parents[1] / "data" / "machines"
GENERATED = {**ROBOTS, **UNUSUAL, **MACHINES, **COUPLED, **BETWEEN}
COMPOSED = 100
RANGES = {"par4": ((0.15, 0.15, 0.15, 0.6), (0.0, 0.0, 0.0, 0.0)), "ankle-g1": ((0.55, 0.2), (-0.15, 0.0))}
"""Largest displacements of the robot's coordinates and the middle of their range, where these are known."""
SAME = 1e-9
"""Difference of coordinates, relative to 1 and the largest, that is rounding of legs near a singularity of theirs."""
ROWS = 25
"""Of a way from home in a log."""
SOURCES = ("symbols", "legs", "platforms", "mobility", "mechanism", "model", "kernels", "export")


# -- states ------------------------------------------------------------------------------------------------------------


class Workspace(NamedTuple):
    """Coordinates of the robot (n, m), the poses with them, on home's side, and the actuated coordinates."""

    x: Array
    pose: Array
    q: Array
    side: float

    def at(self, rows: Any) -> Workspace:
        return Workspace(self.x[rows], self.pose[rows], self.q[rows], self.side)


def side_of(model: pp.Model, pose: Array) -> Array:
    """Sign of det J; 0 out of reach; 1 for a robot with more actuators than degrees of freedom, which has no sides."""
    there = np.isfinite(pose).all(axis=(-2, -1))[..., None, None]
    matrix = np.nan_to_num(model.jacobian(np.where(there, pose, model.robot.home.matrix), errors="nan")) * there
    if matrix.shape[-2] != matrix.shape[-1]:
        return matrix.any(axis=(-2, -1)).astype(float)
    return np.sign(np.linalg.det(matrix))


def pose_of(model: pp.Model, x: Array) -> Array:
    """Poses (n, 4, 4) of coordinates (n, m); NaN where the legs do not close."""
    return displaced(model.robot.home.matrix, x) if not model.robot.dof else model.motion(x, errors="nan").pose


def workspace(model: pp.Model, name: str, count: int, looks: int = 12, seed: int = 5) -> Workspace:
    """Those of ``count`` random states that a straight way of the coordinates joins to home without a singularity."""
    turns, rng = model.mobility.turns, np.random.default_rng(seed)
    half, middle = RANGES.get(name, (np.where(turns, 0.35, 0.5 * min(model.size, 1.0)), np.zeros(len(turns))))
    x = rng.uniform(-1, 1, (count, len(turns))) * half + middle
    home, joined = model.robot.home.matrix, np.ones(count, dtype=bool)
    side = float(side_of(model, home))
    for part in np.linspace(0, 1, looks + 1)[1:]:
        pose = pose_of(model, part * x)
        lost = ~np.isfinite(pose).all(axis=(1, 2))
        pose[lost] = home
        joined &= ~lost & (side_of(model, pose) == side)
    x = x[joined]
    pose = pose_of(model, x)
    q = model.inverse_kinematics(pose, errors="nan")
    return Workspace(x, pose, q, side).at(np.isfinite(q).all(axis=1))


# -- verdicts ----------------------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """States, and how many have no answer, a wrong one (other coordinates, another side), another right one."""

    states: int
    none: int
    wrong: int
    other: int


def judged(model: pp.Model, space: Workspace, found: Array) -> Counts:
    """What poses are, (n, 4, 4), NaN for none."""
    there = np.isfinite(found).all(axis=(1, 2))
    pose = np.where(there[:, None, None], found, model.robot.home.matrix)
    back = model.inverse_kinematics(pose, errors="nan")
    right = (np.abs(turned_back(model, back - space.q)) <= SAME * (1 + np.abs(space.q).max(initial=0.0))).all(axis=1)
    right &= side_of(model, pose) == space.side
    other = np.abs(pose - space.pose).max(axis=(1, 2)) > 1e-6 * max(1.0, model.size)
    return Counts(len(there), int((~there).sum()), int((there & ~right).sum()), int((there & right & other).sum()))


def turned_back(model: pp.Model, differences: Array) -> Array:
    """Differences of coordinates without a turn of a hinge, which is the same position."""
    joints = {(leg.name, joint.name): joint for leg in model.robot.legs for joint in getattr(leg, "joints", ())}
    driven = [joints.get((one.leg, one.joint)) for one in model.actuators]
    hinges = [joint is not None and joint.kind == "revolute" for joint in driven]
    turn = np.array(
        [2 * np.pi * (joint.ratio or 1.0) if hinge else np.inf for joint, hinge in zip(driven, hinges, strict=True)]
    )
    return differences - np.where(hinges, turn, 0.0) * np.round(differences / turn)


def found_from(model: pp.Model, space: Workspace, guess: Array | None) -> Counts:
    """By ``Model.forward_kinematics`` from a guess; None is home."""
    found = model.forward_kinematics(space.q, guess, full_output=True)
    status = pp.model.ForwardKinematicsStatus
    assert (
        np.isfinite(found.pose).all(axis=(1, 2)) == np.isin(found.status, (status.CONVERGED, status.OUTSIDE_LIMITS))
    ).all()
    return judged(model, space, found.pose)


def accepted(model: pp.Model, residual: Any, quality: Any) -> Any:
    """Whether a pose counts as found, as the header of the exported function says."""
    limit = 1e-12 * (model.size + float(np.linalg.norm(model.robot.home.position)))
    return (np.asarray(residual) <= limit) & (np.asarray(quality) > 1e-7)


class Exported:
    """The exported expression of forward kinematics as machine code, without what ``Model`` does around it."""

    def __init__(self, model: pp.Model) -> None:
        self._model = model
        expression = named_expression(model, "forward_kinematics", False, parameters=True)[1]
        kernel = Kernel(lambda: expression)
        self._kernel = kernel.at(model.kernels.mechanism.numbers.values) if kernel.parameters else kernel

    def __call__(self, q: Array, guess: Array) -> Array:
        """Poses (n, 4, 4), NaN where none is accepted."""
        found = self._kernel(q, np.ascontiguousarray(np.broadcast_to(guess, (len(q), 4, 4))))
        outputs = dict(zip((p.name for p in self._kernel.outputs), found, strict=True))
        good = accepted(self._model, outputs["residual"], outputs["quality"])
        return np.where(good[:, None, None], outputs["pose"], np.nan)


def hard_states(model: pp.Model, name: str, count: int) -> Workspace:
    """States for whose poses one attempt from home is not enough, up to two thirds of ``count``, and others."""
    space = workspace(model, name, 20 * count)
    home = np.ascontiguousarray(np.broadcast_to(model.robot.home.matrix, space.pose.shape))
    found = model.kernel("forward_kinematics")
    outputs = dict(zip((p.name for p in found.outputs), found(space.q, home), strict=True))
    order = np.argsort(accepted(model, outputs["residual"], outputs["quality"]), kind="stable")
    return space.at(np.concatenate([order[: 2 * count // 3], order[::-1][: count - 2 * count // 3]])[: len(space.q)])


def by_c(model: pp.Model, q: Array, folder: Path) -> Array:
    """Poses from home by exported C, compiled with every warning an error; NaN where its own test says none."""
    name, header, source = export_c(model, "forward_kinematics")
    (folder / f"{name}.h").write_text(header)
    (folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
    command = [shutil.which("cc") or "gcc", *flags, str(folder / f"{name}.c"), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    function = getattr(ctypes.CDLL(str(library)), name)
    home = np.ascontiguousarray(model.robot.home.matrix)
    sizes = _sizes(model)
    found = {key: np.zeros((len(q), size)) for key, size in sizes.items()}
    rows = np.ascontiguousarray(q)
    for k in range(len(q)):
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (rows[k], home, *(found[key][k] for key in sizes))))
    good = accepted(model, found["residual"][:, 0], found["quality"][:, 0])
    return np.where(good[:, None, None], found["pose"].reshape(-1, 4, 4), np.nan)


def by_node(program: str, folder: Path) -> str:
    """What a script returns from its function ``main``."""
    (folder / "main.mjs").write_text(f"{program}\nconsole.log(main());\n")
    command = ["node", str(folder / "main.mjs")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def by_javascript(model: pp.Model, q: Array, folder: Path, evaluated: Callable[[str, Path], str] = by_node) -> Array:
    """The same by exported JavaScript."""
    name, script = export_js(model, "forward_kinematics")
    sizes, home = _sizes(model), model.robot.home.matrix.ravel().tolist()
    program = f"""{script.replace("export function", "function").replace("export const", "const")}
    function main() {{
      const home = Float64Array.from({json.dumps(home)});
      return JSON.stringify({json.dumps(q.tolist())}.map(q => {{
        const [{", ".join(sizes)}] = {list(sizes.values())}.map(n => new Float64Array(n));
        {name}(Float64Array.from(q), home, {", ".join(sizes)});
        return [Array.from(pose), residual[0], quality[0]];
      }}));
    }}"""
    answers = json.loads(evaluated(program, folder))
    poses, residual, quality = (np.array(part, dtype=float) for part in zip(*answers, strict=True))
    good = accepted(model, residual, quality)
    return np.where(good[:, None, None], poses.reshape(-1, 4, 4), np.nan)


def _sizes(model: pp.Model) -> dict[str, int]:
    return {p.name: p.length for p in named_expression(model, "forward_kinematics", False)[1].outputs}


# -- the study ---------------------------------------------------------------------------------------------------------


def routes(model: pp.Model, name: str, count: int, compiled: int = 0) -> dict[str, Counts]:
    """Counts by route of up to ``count`` states of a machine."""
    space = workspace(model, name, count)
    near = pose_of(model, 0.97 * space.x)
    # a way may leave home's side and come back between two looks
    same = side_of(model, near) == space.side
    space, near = space.at(same), near[same]
    exported, home = Exported(model), model.robot.home.matrix
    counts = {
        "home": found_from(model, space, None),
        "near": found_from(model, space, near),
        "code-home": judged(model, space, exported(space.q, home)),
        "code-near": judged(model, space, exported(space.q, near)),
        "log": along(model, space.x[: count // 100], space.side),
    }
    if compiled:
        hard = hard_states(model, name, compiled)
        for route, run in (("c", by_c), ("js", by_javascript)):
            with tempfile.TemporaryDirectory() as folder:
                counts[route] = judged(model, hard, run(model, hard.q, Path(folder)))
    return counts


def along(model: pp.Model, x: Array, side: float) -> Counts:
    """Logs of ways from home to x (n, m): every row is asked for the one pose that the robot has passed."""
    ways = np.linspace(0, 1, ROWS)[:, None] * x[:, None]
    pose = pose_of(model, ways.reshape(-1, x.shape[1])).reshape(-1, ROWS, 4, 4)
    good = (side_of(model, pose) == side).all(axis=1) if len(x) else np.zeros(0, dtype=bool)
    pose = pose[good]
    q = model.inverse_kinematics(pose)
    found = model.forward_kinematics(q, along=True, full_output=True).pose
    flat = Workspace(ways[good].reshape(-1, x.shape[1]), pose.reshape(-1, 4, 4), q.reshape(-1, q.shape[-1]), side)
    return judged(model, flat, found.reshape(-1, 4, 4))


def machines(count: int = COMPOSED) -> Iterator[tuple[str, int, Callable[[], pp.Robot]]]:
    """Names, a weight of their number of states, and how they are made; the last ``count`` are composed at random."""
    for name in pp.library():
        yield name, 3, lambda name=name: pp.load(name)  # type: ignore[misc]
    for path in sorted(FILES.glob("*.yaml")):
        if path.stem not in pp.library():
            yield path.stem, 3, lambda path=path: pp.load(path)  # type: ignore[misc]
    random = [
        (f"{name} {seed}", lambda make=make, seed=seed: pp.loads(json.dumps(make(seed))))  # type: ignore[misc]
        for seed in (1, 2)
        for name, make in GENERATED.items()
    ]
    drawn = [(f"composed {k}", lambda k=k: pp.loads(json.dumps(composed(k)))) for k in range(count)]  # type: ignore[misc]
    for name, make in (*random, *drawn):
        yield name, 1, make


def main() -> int:
    """A line for each machine, then sums; 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="forward_study", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=5000, help="states drawn for each random machine (files: 3 times)")
    parser.add_argument("--compiled", type=int, default=0, help="states of each machine in compiled C and in Node")
    parser.add_argument("--only", default="", help="machines whose name contains this")
    parser.add_argument("--composed", type=int, default=COMPOSED, help="machines composed at random")
    parser.add_argument("--library", action="store_true", help="library and files alone")
    parser.add_argument("--log", type=Path, default=Path("forward_study.jsonl"))
    given = parser.parse_args()
    digest = fingerprint(*SOURCES).hex()[:16]
    asked = {"digest": digest, "count": given.count, "compiled": given.compiled}
    known = [json.loads(line) for line in given.log.read_text().splitlines()] if given.log.exists() else []
    rows = {row["machine"]: row for row in known if all(row[key] == value for key, value in asked.items())}
    for name, weight, make in machines(given.composed):
        if given.only not in name or (given.library and weight == 1):
            continue
        if name not in rows:
            started = time.process_time()
            row: dict[str, Any] = {"machine": name, **asked}
            try:
                row["routes"] = routes(pp.Model(make()), name, weight * given.count, given.compiled)
            except pp.errors.PolypodError as error:
                row["refused"] = str(error)[:300]
            row["seconds"] = round(time.process_time() - started, 1)
            with given.log.open("a") as log:
                log.write(json.dumps(row) + "\n")
            rows[name] = json.loads(json.dumps(row))
        print(_line(rows[name]), flush=True)
    return _sums(list(rows.values()))


def _line(row: dict[str, Any]) -> str:
    parts = [f"{route} {n} -{none} x{wrong}" for route, (n, none, wrong, _) in row.get("routes", {}).items()]
    return f"{row['machine']}: {row.get('refused', '; '.join(parts))} ({row['seconds']} s)"


def _sums(rows: list[dict[str, Any]]) -> int:
    """Print sums by route; whether anything is wrong."""
    total: Counter[tuple[str, int]] = Counter()
    for row in rows:
        for route, counts in row.get("routes", {}).items():
            for k, number in enumerate(counts):
                total[route, k] += number
    print(f"\n{len(rows)} machines, {sum('refused' in row for row in rows)} refused")
    print("| route | states | lost | wrong | other |")
    for route in dict.fromkeys(route for route, _ in total):
        print(f"| {route} | " + " | ".join(str(total[route, k]) for k in range(4)) + " |")
    return int(any(total[route, 2] for route, _ in total))


if __name__ == "__main__":
    sys.exit(main())
