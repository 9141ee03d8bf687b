"""Pedrammehr et al., Figs. 5-10 again, with the exact answer beside the paper's models."""

from __future__ import annotations

from functools import partial

from matplotlib.figure import Figure

from ..shared.arrays import norm
from ..shared.contract import Drawing
from ..shared.panels import Block, leg_panels
from . import cases

AXES = "tangential"


def turning(path: int, quantity: str) -> Figure:
    """Size of the pods' angular velocity or acceleration, with and without spin, and of their difference."""
    exact, simple = cases.pods(AXES, path), cases.pods(AXES, path, spin=False)
    fast = quantity == "velocity"
    a, b = (exact.omega, simple.omega) if fast else (exact.alpha, simple.alpha)
    label, dot_n = ("|omega| [rad/s]", "omega") if fast else ("|alpha| [rad/s$^2$]", "alpha")
    curves = {
        "universal joint's kinematics (exact)": norm(a)[..., 0],
        f"simplified, {dot_n}.n = 0": norm(b)[..., 0],
        "size of the difference": norm(a - b)[..., 0],
    }
    title = f"Path {path}: angular {quantity} of the pods, u tangential"
    return leg_panels(cases.motion(path).time, (Block(curves, label),), title)


def pod_forces(path: int) -> Figure:
    """Actuator forces of the four models, and their errors against the exact answer."""
    exact = cases.exact(AXES, path)
    found = {name: cases.forces(AXES, path, name) for name in cases.MODELS}
    errors = {name: values - exact for name, values in found.items()}
    blocks: tuple[Block, ...] = (
        Block(
            {"exact": exact, "printed improved": found["printed improved"], "classic": found["classic"]}, "force [N]"
        ),
        Block(errors, "error [N]", "error against the exact forces"),
    )
    if path == 2:
        # beside the classic model's error of tens of newtons those of the others are lines on the axis
        small = {name: values for name, values in errors.items() if name != "classic"}
        blocks = (*blocks, Block(small, "error [N]", "the same without the classic model"))
    return leg_panels(cases.motion(path).time, blocks, f"Path {path}: pod forces, u tangential")


ALL = (
    Drawing("fig-05", "Fig. 5: Path 1, angular velocities of the pods.", partial(turning, 1, "velocity")),
    Drawing("fig-06", "Fig. 6: Path 1, angular accelerations of the pods.", partial(turning, 1, "acceleration")),
    Drawing("fig-07", "Fig. 7: Path 2, angular velocities of the pods.", partial(turning, 2, "velocity")),
    Drawing("fig-08", "Fig. 8: Path 2, angular accelerations of the pods.", partial(turning, 2, "acceleration")),
    Drawing("fig-09", "Fig. 9: Path 2, pod forces and each model's error.", partial(pod_forces, 2)),
    Drawing("fig-10", "Fig. 10: Path 3, pod forces and each model's error.", partial(pod_forces, 3)),
)
