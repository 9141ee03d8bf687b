"""Pedrammehr, Mahboubkhah and Khani: is the improved model of the general Stewart platform an improvement?"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...arrays import Array
from ...tables import Table, table
from ..shared.arrays import Platform, dot, norm, peak, peak_ratio, rotated_tensor, times
from ..shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, at_least, at_most, recorded, stated
from ..shared.panels import Block, leg_panels
from . import cases
from . import printed as eq
from .printed import compact_forces, corrected_inertia, printed_inertia

# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr et al., Figs. 5-10 again, with the exact answer beside the paper's models.

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


FIGURES = (
    Drawing("fig-05", "Fig. 5: Path 1, angular velocities of the pods.", partial(turning, 1, "velocity")),
    Drawing("fig-06", "Fig. 6: Path 1, angular accelerations of the pods.", partial(turning, 1, "acceleration")),
    Drawing("fig-07", "Fig. 7: Path 2, angular velocities of the pods.", partial(turning, 2, "velocity")),
    Drawing("fig-08", "Fig. 8: Path 2, angular accelerations of the pods.", partial(turning, 2, "acceleration")),
    Drawing("fig-09", "Fig. 9: Path 2, pod forces and each model's error.", partial(pod_forces, 2)),
    Drawing("fig-10", "Fig. 10: Path 3, pod forces and each model's error.", partial(pod_forces, 3)),
)


# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr et al.: the errata, each with what it costs.


def pod_parallel_axis() -> Erratum:
    """What is wrong in (31), (36) with (32), (33)."""
    found, alone = (cases.error_range(3, name) for name in ("shifted pods", "shifted pods, own axes"))
    return Erratum(
        "(31),(36) with (32),(33)",
        "I_di = T (I_doi + m_d [..]) T^T beside m_d L_di x Lddot_di; I_ui likewise",
        "I_di = T I_doi T^T, I_ui = T I_uoi T^T",
        "The moment that a body's inertia asks for is L x m Lddot + I_c alpha + omega x I_c omega: the first term is "
        "the parallel-axis part, and (32), (33) add it again.",
        "largest force error on Path 3, over five choices of u: this slip alone (the bracket's vectors in pod axes), "
        "and as printed, which has the slip of the bracket's axes (below) in it",
        (
            recorded("alone, smallest", alone.low, "%", 7.170),
            recorded("alone, largest", alone.high, "%", 10.27),
            stated("as printed, smallest", found.low, "%", "4"),
            stated("as printed, largest", found.high, "%", "10"),
        ),
    )


def platform_parallel_axis() -> Erratum:
    """What is wrong in (49), (51) with (50)."""
    found, alone = (cases.error_range(3, name) for name in ("shifted platform", "shifted platform, own axes"))
    return Erratum(
        "(49),(51) with (50)",
        "I_p = R (I_p + m_p [..]) R^T beside m_p r x Xddot_g",
        "I_p = R I_p R^T",
        "As for the pods: m_p r x Xddot_g holds the parallel-axis part already.",
        "largest force error on Path 3, over five choices of u: this slip alone (the bracket's vector in platform "
        "axes), and as printed, which has the slip of the bracket's axes (below) in it",
        (
            recorded("alone, smallest", alone.low, "%", 0.6157),
            recorded("alone, largest", alone.high, "%", 0.7556),
            stated("as printed, smallest", found.low, "%", "0.6"),
            stated("as printed, largest", found.high, "%", "0.75"),
        ),
    )


def components_in_the_bracket() -> Erratum:
    """What is wrong in (32), (33), (50)."""
    p, k = cases.parameters("tangential"), cases.pods("tangential", 3)
    back = np.swapaxes(k.T, -1, -2)
    local = eq.bracket(p.m_d, times(back, k.L_d)) + eq.bracket(p.m_u, times(back, k.L_u))
    meant = rotated_tensor(k.T, p.I_do + p.I_uo + local)
    error = _size(eq.pod_tensor(p, k, shifted=True) - meant) / _size(meant)
    return Erratum(
        "(32),(33),(50)",
        "T (I_o + m [bracket of L_di = T L_doi]) T^T",
        "the bracket's vector in pod axes, L_doi; gone once the two errata above are corrected",
        "T (..) T^T turns a tensor in pod axes into base axes; (26) gives L_di in base axes, so it is turned twice.",
        "largest error of I_d + I_u on Path 3 against the same with the bracket in pod axes",
        (recorded("largest", 100 * float(error.max()), "%", 96.34),),
    )


def spin_acceleration() -> Erratum:
    """What is wrong in (25)."""
    errors = []
    for axes in cases.AXES:
        k = cases.pods(axes, 3)
        right = dot(k.alpha, k.n)
        errors.append(100 * peak_ratio(eq.alpha_t_printed(k) - right, right))
    return Erratum(
        "(25)",
        "alpha_t = (alpha_n.u)(u.n)/(1 - (u.n)^2) - omega_u omega_v",
        "alpha_t = [(alpha_n.u)(u.n) + omega_u omega_v (c.n)]/(1 - (u.n)^2)",
        "(18) times n: alpha_t = alpha_u (u.n) + omega_u omega_v (c.n), and alpha_u = (alpha_n + alpha_t n).u by (24).",
        "largest error of alpha_t on Path 3 over its largest value, five choices of u",
        (recorded("smallest", min(errors), "%", 0.7226), recorded("largest", max(errors), "%", 7.572)),
    )


def missing_axis() -> Erratum:
    """What is wrong in (21)."""
    at = Platform.of(cases.motion(3))
    k = cases.pods("tangential", 3)
    right, printed = eq.alpha_by_axes(k, at, printed=False), eq.alpha_by_axes(k, at, printed=True)
    return Erratum(
        "(21)",
        "omega_u omega_v x l n",
        "omega_u omega_v c x l n",
        "The rate of omega_v v in (18) holds omega_v omega_u u x v = omega_u omega_v c; a number has no cross product.",
        "error of alpha by (18)-(20) on Path 3 if the term is read as omega_u omega_v l n, tangential u",
        (
            recorded("printed", 100 * peak_ratio(printed - k.alpha, k.alpha), "%", 4.123),
            at_most(
                "corrected", peak_ratio(right - k.alpha, k.alpha), "1", 1e-12, "against (22), (23), (25) corrected"
            ),
        ),
    )


def compact_inertia() -> Erratum:
    """What is wrong in (42), (43)."""
    p, k = cases.parameters("tangential"), cases.pods("tangential", 3)
    right, printed = corrected_inertia(p, k), printed_inertia(p, k, shifted=False)
    error = float((_size(printed - right) / _size(right)).max())
    bias = float((_size(printed - np.swapaxes(printed, -1, -2)) / _size(printed)).max())
    straight = float((_size(right - np.swapaxes(right, -1, -2)) / _size(right)).max())
    poses = "known as 20 % without its pose; 9 to 24 % along the path"
    return Erratum(
        "(42),(43)",
        "Q and V with n~ L~^2 n~ terms; L_ui for L_di in the m_d term of (43)",
        "Q = m_u n n^T (1 - L_u~ Gamma n~/l) - E [B Gamma n~/l + m_u (L_u x n) n^T]",
        "alpha_l = Gamma n~ (Xddot + alpha x q)/l + ..; (36), (40) make Q of it. Inertia is symmetric, (42) is not.",
        "error of Q by (42) with central tensors on Path 3, tangential u",
        (
            Measure("largest", 100 * error, "%", 20.0, 0.25, poses),
            recorded("asymmetry |Q - Q^T|/|Q| as printed", 100 * bias, "%", 28.90),
            at_most("asymmetry corrected", straight, "1", 1e-12, "rounding"),
        ),
    )


def references_and_rate() -> Erratum:
    """What is wrong above (40), Appendix 1."""
    p, at = cases.parameters("tangential"), cases.motion(3)
    right, printed = compact_forces(p, at), compact_forces(p, at, rate=False)
    return Erratum(
        "above (40); Appendix 1, S_i",
        '"substituted into Eq. (36)"; 2 omega_l x l n',
        "(38); 2 omega_l x ldot n",
        "(36) holds neither m_i nor n.F; (11) has 2 omega x ldot n, and 2 omega x l n is no acceleration.",
        "change of the compact model's forces on Path 3 if S_i is taken as printed, tangential u",
        (recorded("largest", 100 * peak_ratio(printed - right, right), "%", 2.638),),
    )


def moment_along_the_pod() -> Erratum:
    """What is wrong in (34) and its text."""
    k = cases.pods("tangential", 3)
    smallest = float(np.abs(dot(k.c, k.n)).min())
    return Erratum(
        "(34), text",
        "the universal joint cannot impose any constraint moments in the n, u and v directions",
        "none along u and v; M = m c has the component m (c.n) along n",
        "c = u x v is perpendicular to u and v only; n lies in the plane of u and c.",
        "c.n on Path 3, tangential u",
        (Measure("smallest", smallest, "1", 0.74, 0.05, "known as 0.74 to 1 for other poses of the same robot"),),
    )


def _size(tensor: Array) -> Array:
    size: Array = norm(tensor.reshape(*tensor.shape[:-2], 9))[..., 0]
    return size


ERRATA: tuple[Callable[[], Erratum], ...] = (
    pod_parallel_axis,
    platform_parallel_axis,
    components_in_the_bracket,
    spin_acceleration,
    missing_axis,
    compact_inertia,
    references_and_rate,
    moment_along_the_pod,
)


# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr, Mahboubkhah and Khani: is the improved model of the general Stewart platform an improvement?

FIFTH = "the smallest value comes from the fifth choice of axes, which was another one where it is known from"
REAL = "no real body has it otherwise"
ROUNDING = "double precision through a 6 x 6 solve"


def _against_classic(path: int, slender: bool = False) -> Measure:
    """What "more accurate" asks for: errors of the printed model over those of the classic one, below 1."""
    errors = [[cases.error(a, path, name, slender) for a in cases.AXES] for name in ("printed improved", "classic")]
    worst = max(printed / classic for printed, classic in zip(*errors, strict=True))
    label = f"printed improved over classic, largest of five choices of axes, Path {path}"
    return at_most(label, worst, "times", 1.0, "more accurate")


def _range(path: int, name: str, low: str, high: str) -> tuple[Measure, Measure]:
    found = cases.error_range(path, name)
    return stated(f"{name}, smallest", found.low, "%", low), stated(f"{name}, largest", found.high, "%", high)


def accuracy_on_the_slow_path() -> Claim:
    """Errors of the models in the paper's table, on Path 2."""
    printed = _range(2, "printed improved", "0.06", "0.14")
    classic = cases.error_range(2, "classic")
    low = Measure("classic, smallest", classic.low, "%", 1.1, 0.2, FIFTH)
    return Claim(
        "abstract, section 10; Fig. 9",
        "The improved formulation is more accurate than the previous ones (Path 2).",
        "no number",
        (_against_classic(2),),
        (*printed, low, stated("classic, largest", classic.high, "%", "6.8")),
        "On the slow path the printed model is 10 to 80 times nearer to the exact forces than the classic one: weight "
        "rules, and the classic model holds the pod's weight with a moment along n that the joint cannot give.",
    )


def accuracy_on_the_fast_path() -> Claim:
    """Errors of the models in the paper's table, on Path 3."""
    printed = _range(3, "printed improved", "4.3", "9.9")
    classic = _range(3, "classic", "1.2", "7.1")
    worse = sum(cases.error(a, 3, "printed improved") > cases.error(a, 3, "classic") for a in cases.AXES)
    count = recorded("choices of axes where the printed model is the worse one", worse, "of 5", 4.0)
    return Claim(
        "abstract, section 10; Fig. 10",
        "The improved formulation is more accurate than the previous ones (Path 3).",
        "no number",
        (_against_classic(3),),
        (*printed, *classic, count),
        "Ten times as fast, inertia rules, and (31)-(33) count the parallel-axis term of each pod twice. The printed "
        "model is then farther from the exact forces than the classic one for four of five choices of axes.",
    )


def compact_form() -> Claim:
    """The compact equations of motion (41)-(43), (48), (51)."""
    slow, fast = _range(2, "printed compact", "0.05", "0.14"), _range(3, "printed compact", "3.7", "10.2")
    apart = max(
        peak_ratio(
            cases.forces(axes, 3, "printed compact") - cases.forces(axes, 3, "printed improved"), cases.exact(axes, 3)
        )
        for axes in cases.AXES
    )
    return Claim(
        "section 7, (41)-(43)",
        "The compact form follows from (40) by vector algebra.",
        "no number",
        (
            at_most(
                "less (36), (40), (45), (49) on Path 3, over the largest force", apart, "1", 1e-6, "the same forces"
            ),
        ),
        tuple(
            Measure(f"Path {path}, {m.label}", m.value, m.unit, m.expected, m.tolerance, m.reason)
            for path, pair in ((2, slow), (3, fast))
            for m in pair
        ),
        "It does not give the forces of (36), (40), (45), (49): (42), (43) hold only for centres of mass on the axis "
        "and axisymmetric tensors, and (25) enters as printed.",
    )


def corrected_equations() -> Claim:
    """The same equations with central tensors."""
    worst = max(cases.error_range(path, "corrected improved").high for path in (2, 3))
    return Claim(
        "sections 5-8",
        "Newton-Euler with the universal joint's kinematics and its moment along c gives the exact forces.",
        "no number",
        (at_most("largest error, five choices of axes, Paths 2 and 3", worst / 100, "1", 1e-12, ROUNDING),),
        (),
        "With central tensors in (36) and (49) the method equals the library's virtual power model to rounding.",
    )


def similar_trends() -> Claim:
    """Printed against classic, as the paper compares them."""
    correlations, differences = [], []
    for axes in cases.AXES:
        for path in (2, 3):
            a, b = cases.forces(axes, path, "printed improved"), cases.forces(axes, path, "classic")
            correlations += [float(np.corrcoef(a[:, leg], b[:, leg])[0, 1]) for leg in range(6)]
            differences.append(100 * peak_ratio(a - b, b))
    return Claim(
        "section 9; Figs. 9, 10",
        "Both models exhibit similar trends of change, but difference in amplitudes.",
        "similar trends",
        (
            at_least("smallest correlation of a pod's force", min(correlations), "1", 0.99, "similar trends"),
            at_least("amplitude difference, smallest", min(differences), "%", 1.0, "a difference in amplitudes"),
        ),
        (
            stated("smallest correlation of a pod's force", min(correlations), "1", "0.997"),
            Measure("amplitude difference, smallest", min(differences), "%", 1.2, 0.06, FIFTH),
            Measure("amplitude difference, largest", max(differences), "%", 11.5, 0.005, "stated as 11.5, found 11.45"),
        ),
        "Difference over the classic model's largest force, Paths 2 and 3, five choices of axes. That the two differ "
        "says nothing about which one is right.",
    )


def what_the_spin_is_worth() -> Claim:
    """What the assumption omega.n = 0 alone changes."""
    spin = max(cases.error_range(path, "no spin").high for path in (2, 3))
    classic = cases.error_range(3, "classic").high
    return Claim(
        "sections 5, 9",
        "The pods' rotation about their axes must be taken into account.",
        "significant differences",
        (
            at_least("omega.n = 0 alone, largest", spin, "%", 0.1, "a difference"),
            at_least("the same over the classic model's error", spin / classic, "1", 0.5, "the significant one"),
        ),
        (
            stated("omega.n = 0 alone, largest", spin, "%", "0.9"),
            stated("with the moment along n too, largest", classic, "%", "7.1"),
        ),
        "It is an improvement, but a small one: nearly all of the classic model's error comes from the direction of "
        "the universal joint's moment.",
    )


def no_spin_no_difference() -> Claim:
    """Without spin the models agree: Path 1 with u = e_x."""
    k = cases.pods("e_x", 1)
    return Claim(
        "section 9; Figs. 5-8",
        "Angular velocity and acceleration of both models are identical if a pod does not rotate about its axis.",
        "identical",
        (
            at_most(
                "largest |omega - omega_n|, u = e_x, Path 1",
                peak_ratio(k.omega - k.omega_n, k.omega),
                "1",
                1e-12,
                ROUNDING,
            ),
            at_most(
                "largest |alpha - alpha_n|, u = e_x, Path 1",
                peak_ratio(k.alpha - k.alpha_n, k.alpha),
                "1",
                1e-12,
                ROUNDING,
            ),
        ),
        (),
        "With u = e_x no pod spins on Path 1: the pods turn in planes that hold e_x.",
    )


def pods_that_agree() -> Claim:
    """Axial share of each pod's angular velocity on Path 1."""
    k = cases.pods("tangential", 1)
    share = 100 * norm(k.omega - k.omega_n).max(axis=0)[:, 0] / norm(k.omega).max(axis=0)[:, 0]
    return Claim(
        "section 9; Fig. 5",
        "On Path 1 the angular velocities of pods 1, 2 and 6 agree in both models.",
        "great extent of consistency",
        (),
        tuple(
            recorded(f"axial part, pod {pod}, tangential u", float(share[pod - 1]), "%", expected)
            for pod, expected in ((1, 34.97), (2, 26.37), (4, 8.152), (6, 20.43))
        ),
        "It depends on u_i, which the paper does not give. With tangential axes pod 4 agrees best; with e_x all do.",
    )


def friction_is_small() -> Claim:
    """Forces that the friction C_u, C_p, C_s adds on Path 3."""
    worth = max(peak(cases.exact(a, p) - cases.exact(a, p, friction=False)) for a in cases.AXES for p in (2, 3))
    return Claim(
        "section 1, Appendix 2",
        "Viscous friction at the joints is considered.",
        "C_u = 0.0001, C_p = 0.001, C_s = 0.0002",
        (at_least("largest friction share of an actuator force", worth, "N", 1e-3, "it is in the forces"),),
        (
            Measure(
                "largest friction share of an actuator force", worth, "N", 0.033, 0.025, "stated as 0.033, found 0.0337"
            ),
        ),
        "With the printed coefficients it is worth one part in 60,000 of the largest force.",
    )


def axisymmetric_pods() -> Claim:
    """Pods whose centres of mass and symmetry lie on n."""
    printed = [cases.error(axes, 3, "printed improved", slender=True) for axes in cases.AXES]
    return Claim(
        "abstract, section 10",
        "Using the theorem of parallel axes for the inertia tensors improves the model.",
        "no number",
        (_against_classic(3, slender=True),),
        (
            at_most(
                "classic, Path 3", cases.error_range(3, "classic", slender=True).high / 100, "1", 3e-4, "known bound"
            ),
            stated("printed improved, Path 3, library's axes", printed[0], "%", "6"),
            stated("printed improved, Path 3, largest", max(printed), "%", "8"),
        ),
        "On pods that are axisymmetric with centres of mass on the axis (lower 0.4 m, 0.002 and 0.01 kg m^2; upper "
        "-0.6 m, 0.002 and 0.005 kg m^2) the classic model is nearly exact; parallel-axis terms alone spoil the "
        "printed one.",
    )


def speed_of_path_1() -> Claim:
    """Path 1 has the stated speed: 0.5 m in 6 s."""
    needed = float(np.linalg.norm(cases.motion(1).twist[0, :3]))
    return Claim(
        "Appendix 2, Path 1",
        "0.5 m in 6 s at a constant 0.08 m/s.",
        "0.08 m/s",
        (stated("speed that 0.5 m in 6 s needs", needed, "m/s", "0.08"),),
        (Measure("the same", needed, "m/s", 0.5 / 6, 1e-12, "closed form"),),
        "To the digits printed; at exactly 0.08 m/s the platform reaches 0.48 m. Here it is driven at 0.0833 m/s.",
    )


def tensors_of_real_bodies() -> Claim:
    """Whether the tensors of Appendix 2 are those of real bodies, by their eigenvalues."""
    p = cases.parameters("tangential")
    lower = np.linalg.eigvalsh(p.I_do)
    excess = [float(e[2] - e[1] - e[0]) for e in map(np.linalg.eigvalsh, (p.I_uo, p.I_po))]
    return Claim(
        "Appendix 2",
        "Inertia tensors of the pods' parts and of the platform.",
        "printed tensors",
        (
            at_least("smallest principal moment of I_doi", float(lower[0]), "kg m^2", 0.0, REAL),
            *(
                at_most(f"{name}: largest moment less the other two", value, "kg m^2", 0.0, REAL)
                for name, value in zip(("I_uoi", "I_p"), excess, strict=True)
            ),
        ),
        (
            recorded("smallest principal moment of I_doi", float(lower[0]), "kg m^2", -0.002842),
            recorded("I_uoi: largest moment less the other two", excess[0], "kg m^2", 0.004385),
            recorded("I_p: largest moment less the other two", excess[1], "kg m^2", 0.01098),
        ),
        "No body has a negative principal moment, nor one above the sum of the others. The robot's mass matrix is "
        "still positive definite, so that the equations can be compared.",
    )


def computing_time() -> Claim:
    """All paths by the compiled model."""
    cases.exact("tangential", 1)  # compiled before the clock starts
    start = time.perf_counter()
    for path in (1, 2, 3):
        _, pose, twist, acceleration = cases.motion(path)
        cases.model("tangential").inverse_dynamics(pose, twist, acceleration)
    taken = time.perf_counter() - start
    return Claim(
        "section 9",
        "The paths take 1.58 s (MATLAB, Core 2 Duo, 2.5 GHz); suitable for online control.",
        "1.58 s",
        (),
        (at_most(f"3 paths of {cases.SAMPLES} states, compiled model", taken, "s", 1.58, "the paper's time"),),
        "The paper does not say how many states it computed, so that the times do not compare.",
    )


def models_against_exact() -> Table:
    """Every model, path and choice of axes."""
    columns = [("model", ""), ("path", ""), *((axes, "%") for axes in cases.AXES)]
    rows = [
        (name, path, *(cases.error(axes, path, name) for axes in cases.AXES))
        for name in (*cases.MODELS, "no spin")
        for path in (2, 3)
    ]
    return table("Largest force error on the path over the largest force, by choice of u", columns, rows)


STUDY = PaperStudy(
    "pedrammehr",
    "Improved dynamic equations for the generally configured Stewart platform manipulator",
    "S. Pedrammehr, M. Mahboubkhah, N. Khani, Journal of Mechanical Science and Technology (2012)",
    (
        "u_i, the universal joint's axis on the base, is not given. Five choices, all horizontal: tangential (the "
        "library's, z x b_i), radial (b_i), e_x, e_y, and towards the next base joint. Figures use the library's.",
        "I_doi, I_uoi and I_p are taken about the centres of mass. Gravity (0, 0, -9.81) m/s^2.",
        "Paths 2 and 3: straight line and rotation about z with trapezoidal speeds; ramps of 2.4645 s (linear) and 1 s "
        "(angular) on Path 2, a tenth of that on Path 3. Path 1 at constant speed.",
        f"Exact means the library's model on the same numbers, friction included; {cases.SAMPLES} samples a path. "
        "Errors are the largest force error on a path over the largest force.",
    ),
    claims=(
        accuracy_on_the_slow_path,
        accuracy_on_the_fast_path,
        compact_form,
        corrected_equations,
        similar_trends,
        what_the_spin_is_worth,
        no_spin_no_difference,
        pods_that_agree,
        friction_is_small,
        axisymmetric_pods,
        speed_of_path_1,
        tensors_of_real_bodies,
        computing_time,
    ),
    errata=ERRATA,
    tables=(models_against_exact,),
    figures=FIGURES,
)
