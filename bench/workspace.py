"""The 6-D workspace of a hexapod counted pose by pose, against a plain NumPy loop; bounds by intervals.

python -m bench.workspace [points of each coordinate, 32]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from polypod.analysis import certified_box, certified_volume, full_workspace
from polypod.analysis.certified import Enclosure
from polypod.analysis.workspace import PoseCoordinates
from polypod.analysis.workspace.quantities import predicate
from polypod.kernels.threads import cores
from polypod.model import Model
from support.engines import reference_hexapod as ref


def timed(function):  # type: ignore[no-untyped-def]
    """Result, wall seconds and processor seconds of a call."""
    wall, own = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - own


def numpy_loop(count: int = 3000) -> float:
    """Seconds a pose in a loop as programs without compiled code have it, one pose after the other."""
    rng = np.random.default_rng(0)
    turns = ref.rotation(*rng.uniform(-0.3, 0.3, (3, count)))
    places = rng.uniform(-0.3, 0.3, (count, 3)) + ref.HEIGHT * ref.UP
    low, high, least = 0.8 * ref.LENGTH, 1.25 * ref.LENGTH, np.cos(np.pi / 4)

    def inside(turn: np.ndarray, place: np.ndarray) -> bool:
        arms = ref.B @ turn.T
        ways = place + arms - ref.A
        lengths = np.sqrt((ways * ways).sum(axis=1))
        n = ways / lengths[:, None]
        kept = (lengths >= low).all() and (lengths <= high).all()
        kept = kept and ((n * ref.DIRECTION).sum(axis=1) >= least).all()
        kept = kept and (((n @ turn) * ref.DIRECTION).sum(axis=1) >= least).all()
        det = np.linalg.det(np.concatenate([n, np.cross(arms, n)], axis=1))
        return bool(kept and det < 0)

    _, _, seconds = timed(lambda: [inside(turn, place) for turn, place in zip(turns, places, strict=True)])
    return float(seconds) / count


def main(points: int) -> None:
    """Print each goal beside what this machine gives."""
    model = Model(ref.robot())
    tool, wall, own = timed(lambda: predicate(model))
    print(f"conditions: {tool.operations} operations a pose, vectors of {tool.width}, ready in {wall:.2f} s")
    full_workspace(model, 4, ref.SPAN)
    result, wall, own = timed(lambda: full_workspace(model, points, ref.SPAN, connected=False))
    poses = float(result.poses)
    print(f"{points}^6 = {poses:.4g} poses: fraction {float(result.fraction):.6f}, same sign of det J everywhere: "
          f"{float(result.fraction) == float(result.fraction_limits)}")  # fmt: skip
    print(f"  {wall:.2f} s wall on {cores()} threads, {own:.2f} s of processor: {1e9 * own / poses:.2f} ns a pose; "
          f"on {cores()} free cores {own / cores():.2f} s (goal 8 s)")  # fmt: skip
    loop = numpy_loop()
    print(f"  NumPy pose by pose: {1e6 * loop:.1f} us, {loop * poses / own:.0f} times on one core, "
          f"{cores() * loop * poses / own:.0f} on {cores()} (goal 2000)")  # fmt: skip
    result, wall, own = timed(lambda: full_workspace(model, points, ref.SPAN))
    print(f"  with the part that hangs together with home ({float(result.fraction_connected):.6f}): {own:.1f} s")
    Enclosure(PoseCoordinates(model))(np.zeros((9, 6)), np.zeros((9, 6)))
    for names in (("x", "y", "z"), ("roll", "pitch", "yaw"), None):
        found, wall, own = timed(lambda names=names: certified_volume(model, names, seconds=30))
        print(f"certified volume over {', '.join(found.names)}: {found.low:.5g} to {found.high:.5g} "
              f"(gap {100 * found.gap:.1f} %), {found.boxes} boxes, {own:.1f} s of processor")  # fmt: skip
    box, wall, own = timed(lambda: certified_box(model))
    print(f"certified box about home: +- {np.round(box.high, 4).tolist()}, {own:.1f} s of processor")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 32)
