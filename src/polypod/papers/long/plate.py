"""Long, Khalil and Martinet: claims about the plate, the tables and what the simulation shows of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...description import Integrals
from ..shared.arrays import norm, peak, peak_ratio
from ..shared.contract import Claim, Measure, at_least, at_most, recorded, stated
from . import cases
from . import printed as eq
from .data import JOINTS, LINKS, heavier
from .hexagon import compare_table_2, hexagon_points

LIMIT = "limit of thin-plate theory to two decimals; the mesh used here is up to 3e-5 above it"
SHAPES = "known from shapes of a coarser mesh with lumped masses"
FLAT = "bending only"


def low_frequencies() -> Claim:
    """Frequencies of modes 7 to 13, Table 2."""
    rows = compare_table_2(cases.modes("computed"))
    known = {7: 189.29, 9: 316.44, 10: 404.19, 11: 477.12, 12: 705.44}
    found = [r for r in rows if r.mode in known]
    values = [Measure(f"mode {r.mode}", r.computed, "rad/s", known[r.mode], 5e-5, LIMIT) for r in found]
    largest = 100 * max(abs(r.deviation) for r in rows[:7])
    return Claim(
        "Table 2, modes 7-13",
        "Natural frequencies of the hexagonal plate (MSC Nastran).",
        "188.75, 315.72, 401.02, 474.75, 709.57 rad/s",
        (at_most("largest deviation of Table 2", largest, "%", 1.0, "the same plate: within 1 %"),),
        tuple(values),
        "Within 1 % of the limit of thin-plate theory, with Poisson's ratio 0.3.",
    )


def high_frequencies() -> Claim:
    """Frequencies of modes 14 to 16, Table 2."""
    pair, _, last = compare_table_2(cases.modes("computed"))[7:]
    return Claim(
        "Table 2, modes 14-16",
        "Natural frequencies of the hexagonal plate (MSC Nastran).",
        "828.29, 828.31, 1310.58 rad/s",
        (
            at_most("deviation of Table 2, modes 14, 15", 100 * pair.deviation, "%", 1.0, "the same plate: within 1 %"),
            at_most("deviation of Table 2, mode 16", 100 * last.deviation, "%", 1.0, "the same plate: within 1 %"),
        ),
        (
            Measure("modes 14, 15", pair.computed, "rad/s", 761.35, 5e-5, LIMIT),
            Measure("mode 16, one of a pair with 17", last.computed, "rad/s", 1197.31, 5e-5, LIMIT),
            recorded("Table 2 too high, modes 14, 15", 100 * pair.deviation, "%", 8.790),
            recorded("Table 2 too high, mode 16", 100 * last.deviation, "%", 9.458),
        ),
        "No converged plate, no Poisson's ratio and no coarse mesh gives them. Ten modes also cut the pair 16, 17; "
        "nine or eleven keep the plate's symmetry.",
    )


def mass_of_the_plate() -> Claim:
    """The mass of the plate, section 6.1."""
    mass, closed = Integrals.of(cases.modes()).mass, 1.5 * np.sqrt(3) * 0.5**2 * 0.015 * 7500
    return Claim(
        "section 6.1",
        "The total mass of the platform is 73.069 kg.",
        "73.069 kg",
        (Measure("sum of the nodes' masses", mass, "kg", 73.069, 4e-5, "2 g above the printed one"),),
        (Measure("the same", mass, "kg", closed, 1e-12, "closed form of the hexagon"),),
        "The hexagon's area times thickness and density.",
    )


def table_4_closes() -> Claim:
    """Whether the legs of Table 4 close."""
    hexagon, ends = hexagon_points(), eq.tips(JOINTS)
    centred = ends - ends.mean(axis=0)
    left, _, right = np.linalg.svd(hexagon.T @ centred)
    gap = 1e3 * float(norm(centred - hexagon @ (left @ right)).max())
    condition = float(np.linalg.cond(cases.rigid().jacobian(cases.home())))
    return Claim(
        "Table 4, (1)-(4)",
        "Base points and initial joint values of the legs.",
        "three digits",
        (
            at_most(
                "attachment points off the best-fitting hexagon, largest",
                gap,
                "mm",
                1.0,
                "three digits of two angles and a length of 1 m",
            ),
        ),
        (stated("the same", gap, "mm", "0.75"), stated("condition of J_p^-1 in this pose", condition, "1", "32")),
        "With the base frame at b_1 the joint values give the hexagon of section 6.1 to the table's rounding.",
    )


def base_parameters() -> Claim:
    """The base inertial parameters of Table 3, and what those set to zero would change."""
    states, right, change = cases.states(), cases.forces(), 0.0
    for number in (0, 1):
        found, _ = eq.system(cases.modes(), states, links=heavier(number, 2.0)).inverse(states.motion.acceleration)
        change = max(change, peak_ratio(found - right, right))
    lowest = [float(np.linalg.eigvalsh(link.central())[0]) for link in LINKS[1:]]
    least = float(np.linalg.eigvalsh(cases.rigid().mass_matrix(cases.home())).min())
    return Claim(
        "Table 3",
        "Base inertial parameters of the legs; those without effect are set to zero.",
        "M_1 = 3.176 kg, M_2 = 30.176 kg",
        (
            at_least(
                "change of the forces if M_1 or M_2 is doubled", change, "1", 1e-6, "a base parameter has an effect"
            ),
            at_least("smallest eigenvalue of the mass matrix", least, "kg, kg m^2", 0.0, "a robot that can be"),
        ),
        (
            at_most("change of the forces if M_1 or M_2 is doubled", change, "1", 1e-12, "rounding"),
            recorded("smallest central moment, link 2", lowest[0], "kg m^2", -1.693),
            recorded("smallest central moment, link 3", lowest[1], "kg m^2", -0.6219),
        ),
        "Not a minimal set: M_1 and M_2 have no effect, their frames do not move. Grouped, the tensors belong to no "
        "real body; the legs' inertia matrices are positive definite all the same.",
    )


def directions() -> Claim:
    """Directions in which the platform deforms most, Figs. 6, 7."""
    plate, run = cases.modes(), cases.run()
    assert plate.origin_shape is not None
    assert plate.origin_rotation is not None
    shift, turn = (_peaks(cases.at_points(s, run.elastic)) for s in (plate.origin_shape, plate.origin_rotation))
    ends = _peaks(cases.at_points(plate.attachment_shapes, run.elastic))
    sideways = float(max(*shift[:2], *ends[:2]))
    return Claim(
        "section 6.2, Figs. 6, 7",
        "The deformation is greatest in the z direction, the angular deformation around the x and y axes.",
        "z; x, y",
        (
            at_most("along x and y, origin and attachment points", sideways, "m", 0.0, FLAT),
            at_most("about z, origin", float(turn[2]), "rad", 0.0, FLAT),
        ),
        (
            recorded("origin, along z", 1e3 * float(shift[2]), "mm", 0.4633),
            recorded("origin, about x", 1e3 * float(turn[0]), "mrad", 0.03949),
            recorded("origin, about y", 1e3 * float(turn[1]), "mrad", 0.1159),
            recorded("attachment points, along z", 1e3 * float(ends[2]), "mm", 28.89),
        ),
        "But it says nothing about the model: any set of bending modes has no other components.",
    )


def _peaks(values: Array) -> Array:
    """Largest size of each component."""
    found: Array = np.abs(values).reshape(-1, 3).max(axis=0)
    return found


def small_deformations() -> Claim:
    """The hypothesis of section 4.1."""
    plate, run = cases.modes(), cases.run()
    assert plate.attachment_rotations is not None
    sag = peak(cases.at_points(plate.attachment_shapes, run.elastic[:1]))
    moving = peak(cases.at_points(plate.attachment_shapes, run.elastic))
    slope = float(norm(cases.at_points(plate.attachment_rotations, run.elastic)).max())
    return Claim(
        "section 4.1",
        "The manipulator undergoes small deformations that can be described using modal shape functions.",
        "small",
        (
            at_most("largest slope on the path", slope, "rad", 0.1, "shapes linear in q_e"),
            at_most(
                "largest deflection on the path over the thickness",
                moving / cases.THICKNESS,
                "1",
                0.5,
                "linear plate theory",
            ),
        ),
        (
            Measure("largest deflection at rest, initial pose", 1e3 * sag, "mm", 12.6, 0.04, SHAPES),
            Measure("the same over the thickness", sag / cases.THICKNESS, "1", 0.84, 0.04, SHAPES),
            recorded("largest on the path over the thickness", moving / cases.THICKNESS, "1", 1.926),
            recorded("largest slope on the path", slope, "rad", 0.09742),
        ),
        "Derivatives are small, so that shapes linear in q_e will do. Deflections are not small beside the "
        "thickness, where "
        "linear plate theory asks for a fraction of it.",
    )


def attachment_deformation() -> Claim:
    """Deformation at the attachment points, Fig. 7."""
    run = cases.run()
    motion = run.motion.pose, run.motion.twist, run.motion.acceleration
    forces = cases.model().reactions(*motion, friction=False, **run.shape).on_platform
    normal = peak(np.einsum("ta,tia->ti", run.motion.pose[:, :3, 2], forces))
    return Claim(
        "section 6.2, Fig. 7",
        "The deformation at the attachment points ensures that the constraints there are satisfied.",
        "no number",
        (),
        (
            recorded("largest force of a leg on the platform", float(norm(forces).max()), "N", 3682.0),
            recorded("largest part normal to the plate", normal, "N", 3489.0),
        ),
        "With free modes the legs' lengths follow the deformed plate: no constraint forces a shape upon it. The "
        "deformation is what these forces make of it.",
    )


def start_at_rest() -> Claim:
    """Where the elastic coordinates start."""
    run, zero = cases.run(), cases.run(start="zero", step=1e-3)
    return Claim(
        "section 6.2, Figs. 3, 4",
        "The system rests at the beginning of the trajectory.",
        "no initial elastic coordinates",
        (),
        (
            recorded("largest force at rest, static equilibrium", peak(run.force[0]), "N", 1919.0),
            stated("largest force, start at zero, over that", peak(zero.force) / peak(run.force[0]), "times", "5"),
            recorded("the same over the largest force on the path", peak(zero.force) / peak(run.force), "times", 2.430),
        ),
        "The paper does not say where q_e starts. Zero is no rest: the plate drops into its shape with the forces.",
    )


def damping() -> Claim:
    """What the damping ratio of 0.4 changes in forces and deformation."""
    run, undamped = cases.run(), cases.run(damping_ratio=0.0)
    return Claim(
        "Table 2",
        "The damping ratio of all modes is 0.4.",
        "0.4",
        (),
        (
            recorded("largest force, undamped over damped", peak(undamped.force) / peak(run.force), "times", 1.490),
            recorded(
                "largest elastic coordinate, the same", peak(undamped.elastic) / peak(run.elastic), "times", 1.135
            ),
        ),
        "Far above a bare metal plate's. The elastic motion along the path is stable without any.",
    )


ALL: tuple[Callable[[], Claim], ...] = (
    low_frequencies,
    high_frequencies,
    mass_of_the_plate,
    table_4_closes,
    base_parameters,
    directions,
    small_deformations,
    attachment_deformation,
    start_at_rest,
    damping,
)
