"""Pedrammehr, Mahboubkhah and Khani: is the improved model of the general Stewart platform an improvement?

A function of a claim's or an erratum's name in ``paper.yaml`` gives its numbers.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...arrays import Array
from ...tables import Table, table
from ..shared.arrays import Platform, dot, norm, peak, peak_ratio, rotated_tensor, times
from ..shared.contract import Values, read_study
from ..shared.panels import Block, leg_panels
from . import cases
from . import printed as eq
from .cases import error_range, exact, forces, motion, parameters
from .printed import compact_forces, corrected_inertia, printed_inertia

# ----------------------------------------------------------------------------------------------------------------------
# Figs. 5-10 again, with the exact answer beside the paper's models.

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
    return leg_panels(motion(path).time, (Block(curves, label),), title)


def pod_forces(path: int) -> Figure:
    """Actuator forces of the four models, and their errors against the exact answer."""
    right = exact(AXES, path)
    found = {name: forces(AXES, path, name) for name in cases.MODELS}
    errors = {name: values - right for name, values in found.items()}
    blocks: tuple[Block, ...] = (
        Block(
            {"exact": right, "printed improved": found["printed improved"], "classic": found["classic"]}, "force [N]"
        ),
        Block(errors, "error [N]", "error against the exact forces"),
    )
    if path == 2:
        # beside the classic model's error of tens of newtons those of the others are lines on the axis
        small = {name: values for name, values in errors.items() if name != "classic"}
        blocks = (*blocks, Block(small, "error [N]", "the same without the classic model"))
    return leg_panels(motion(path).time, blocks, f"Path {path}: pod forces, u tangential")


# ----------------------------------------------------------------------------------------------------------------------
# Errata, on Path 3.


def _shifted(what: str) -> Values:
    """Errors by a parallel-axis term counted twice: as printed, and with its vectors in the body's axes, alone."""
    found, alone = (error_range(3, name) for name in (f"shifted {what}", f"shifted {what}, own axes"))
    return {
        "alone, smallest": alone.low,
        "alone, largest": alone.high,
        "as printed, smallest": found.low,
        "as printed, largest": found.high,
    }


def pod_parallel_axis() -> Values:
    return _shifted("pods")


def platform_parallel_axis() -> Values:
    return _shifted("platform")


def components_in_the_bracket() -> Values:
    p, k = parameters(AXES), cases.pods(AXES, 3)
    back = np.swapaxes(k.T, -1, -2)
    local = eq.bracket(p.m_d, times(back, k.L_d)) + eq.bracket(p.m_u, times(back, k.L_u))
    meant = rotated_tensor(k.T, p.I_do + p.I_uo + local)
    return {"largest": 100 * _largest(eq.pod_tensor(p, k, shifted=True) - meant, meant)}


def spin_acceleration() -> Values:
    errors = []
    for axes in cases.AXES:
        k = cases.pods(axes, 3)
        right = dot(k.alpha, k.n)
        errors.append(100 * peak_ratio(eq.alpha_t_printed(k) - right, right))
    return {"smallest": min(errors), "largest": max(errors)}


def missing_axis() -> Values:
    at, k = Platform.of(motion(3)), cases.pods(AXES, 3)
    right, printed = (eq.alpha_by_axes(k, at, printed=p) for p in (False, True))
    return {
        "printed": 100 * peak_ratio(printed - k.alpha, k.alpha),
        "corrected": peak_ratio(right - k.alpha, k.alpha),
    }


def compact_inertia() -> Values:
    p, k = parameters(AXES), cases.pods(AXES, 3)
    right, printed = corrected_inertia(p, k), printed_inertia(p, k, shifted=False)
    return {
        "largest": 100 * _largest(printed - right, right),
        "asymmetry |Q - Q^T|/|Q| as printed": 100 * _largest(printed - np.swapaxes(printed, -1, -2), printed),
        "asymmetry corrected": _largest(right - np.swapaxes(right, -1, -2), right),
    }


def references_and_rate() -> Values:
    right, printed = (compact_forces(parameters(AXES), motion(3), rate=rate) for rate in (True, False))
    return {"largest": 100 * peak_ratio(printed - right, right)}


def moment_along_the_pod() -> Values:
    k = cases.pods(AXES, 3)
    return {"smallest": float(np.abs(dot(k.c, k.n)).min())}


def _largest(error: Array, whole: Array) -> float:
    """Largest |error|/|whole| of tensors (..., 3, 3) over time and pods."""
    sizes = [norm(tensor.reshape(*tensor.shape[:-2], 9)) for tensor in (error, whole)]
    return float((sizes[0] / sizes[1]).max())


# ----------------------------------------------------------------------------------------------------------------------
# Claims.


def _against_classic(path: int, slender: bool = False) -> float:
    """What "more accurate" asks for: errors of the printed model over those of the classic one, below 1."""
    errors = [[cases.error(a, path, name, slender) for a in cases.AXES] for name in ("printed improved", "classic")]
    return max(printed / classic for printed, classic in zip(*errors, strict=True))


def _range(path: int, name: str, prefix: str = "") -> Values:
    found = error_range(path, name)
    return {f"{prefix}{name}, smallest": found.low, f"{prefix}{name}, largest": found.high}


def _accuracy(path: int) -> Values:
    label = f"printed improved over classic, largest of five choices of axes, Path {path}"
    return {label: _against_classic(path)} | _range(path, "printed improved") | _range(path, "classic")


def accuracy_on_the_slow_path() -> Values:
    return _accuracy(2)


def accuracy_on_the_fast_path() -> Values:
    worse = sum(cases.error(a, 3, "printed improved") > cases.error(a, 3, "classic") for a in cases.AXES)
    return _accuracy(3) | {"choices of axes where the printed model is the worse one": worse}


def compact_form() -> Values:
    apart = max(
        peak_ratio(forces(axes, 3, "printed compact") - forces(axes, 3, "printed improved"), exact(axes, 3))
        for axes in cases.AXES
    )
    return {
        "less (36), (40), (45), (49) on Path 3, over the largest force": apart,
        **_range(2, "printed compact", "Path 2, "),
        **_range(3, "printed compact", "Path 3, "),
    }


def corrected_equations() -> Values:
    worst = max(error_range(path, "corrected improved").high for path in (2, 3))
    return {"largest error, five choices of axes, Paths 2 and 3": worst / 100}


def similar_trends() -> Values:
    correlations, differences = [], []
    for axes in cases.AXES:
        for path in (2, 3):
            a, b = forces(axes, path, "printed improved"), forces(axes, path, "classic")
            correlations += [float(np.corrcoef(a[:, leg], b[:, leg])[0, 1]) for leg in range(6)]
            differences.append(100 * peak_ratio(a - b, b))
    return {
        "smallest correlation of a pod's force": min(correlations),
        "amplitude difference, smallest": min(differences),
        "amplitude difference, largest": max(differences),
    }


def what_the_spin_is_worth() -> Values:
    spin = max(error_range(path, "no spin").high for path in (2, 3))
    classic = error_range(3, "classic").high
    return {
        "omega.n = 0 alone, largest": spin,
        "the same over the classic model's error": spin / classic,
        "with the moment along n too, largest": classic,
    }


def no_spin_no_difference() -> Values:
    k = cases.pods("e_x", 1)
    return {
        "largest |omega - omega_n|, u = e_x, Path 1": peak_ratio(k.omega - k.omega_n, k.omega),
        "largest |alpha - alpha_n|, u = e_x, Path 1": peak_ratio(k.alpha - k.alpha_n, k.alpha),
    }


def pods_that_agree() -> Values:
    k = cases.pods(AXES, 1)
    share = 100 * norm(k.omega - k.omega_n).max(axis=0)[:, 0] / norm(k.omega).max(axis=0)[:, 0]
    return {f"axial part, pod {pod}, tangential u": float(share[pod - 1]) for pod in (1, 2, 4, 6)}


def friction_is_small() -> Values:
    worth = max(peak(exact(a, p) - exact(a, p, friction=False)) for a in cases.AXES for p in (2, 3))
    return {"largest friction share of an actuator force": worth}


def axisymmetric_pods() -> Values:
    printed = [cases.error(axes, 3, "printed improved", slender=True) for axes in cases.AXES]
    return {
        "printed improved over classic, largest of five choices of axes, Path 3": _against_classic(3, slender=True),
        "classic, Path 3": error_range(3, "classic", slender=True).high / 100,
        "printed improved, Path 3, library's axes": printed[0],
        "printed improved, Path 3, largest": max(printed),
    }


def speed_of_path_1() -> Values:
    return {"speed that 0.5 m in 6 s needs": float(np.linalg.norm(motion(1).twist[0, :3]))}


def tensors_of_real_bodies() -> Values:
    p = parameters(AXES)
    excess = [float(e[2] - e[1] - e[0]) for e in map(np.linalg.eigvalsh, (p.I_uo, p.I_po))]
    return {
        "smallest principal moment of I_doi": float(np.linalg.eigvalsh(p.I_do)[0]),
        "I_uoi: largest moment less the other two": excess[0],
        "I_p: largest moment less the other two": excess[1],
    }


def computing_time() -> Values:
    exact(AXES, 1)  # compiled before the clock starts
    start = time.perf_counter()
    for path in (1, 2, 3):
        _, pose, twist, acceleration = motion(path)
        cases.model(AXES).inverse_dynamics(pose, twist, acceleration)
    return {f"3 paths of {cases.SAMPLES} states, compiled model": time.perf_counter() - start}


# ----------------------------------------------------------------------------------------------------------------------
# Tables, and the whole.


def models_against_exact() -> Table:
    """Every model, path and choice of axes."""
    columns = [("model", ""), ("path", ""), *((axes, "%") for axes in cases.AXES)]
    rows = [
        (name, path, *(cases.error(axes, path, name) for axes in cases.AXES))
        for name in (*cases.MODELS, "no spin")
        for path in (2, 3)
    ]
    return table("Largest force error on the path over the largest force, by choice of u", columns, rows)


STUDY = read_study(
    __package__,
    globals(),
    tables=(models_against_exact,),
    figures={
        "fig-05": partial(turning, 1, "velocity"),
        "fig-06": partial(turning, 1, "acceleration"),
        "fig-07": partial(turning, 2, "velocity"),
        "fig-08": partial(turning, 2, "acceleration"),
        "fig-09": partial(pod_forces, 2),
        "fig-10": partial(pod_forces, 3),
    },
)
