"""Elastic modes: plates against closed forms and other methods, inertia integrals against sums over nodes."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.sparse import csc_array
from scipy.special import iv, ivp, jv, jvp

from polypod.description import Integrals, Modes, Plate, load_modes, save_modes
from polypod.description.modes.plate import interior_angles, polygon
from polypod.errors import InputError
from polypod.papers.long.cases import compare_table_2
from polypod.plates import bending as eigen
from polypod.plates import plate_modes
from polypod.plates.mesh import triangulate
from support.refusals import refused, warned
from support.robots.golden_plate import GOLDEN, golden_modes
from support.robots.hexagon import hexagon_modes, hexagon_plate, hexagon_points

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) - 0.5
ELL = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])
NU = 0.3


def regular(count: int, radius: float = 1.0) -> np.ndarray:
    angles = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def unit_plate(outline: np.ndarray, poisson: float = NU) -> Plate:
    """A plate of unit bending stiffness and unit mass of area: frequencies are the dimensionless ones."""
    return Plate(outline, thickness=0.01, young=12e6 * (1 - poisson**2), poisson=poisson, density=100.0)


@pytest.fixture(scope="module")
def hexagon() -> Modes:
    return hexagon_modes(11)


@pytest.fixture(scope="module")
def golden() -> Modes:
    return golden_modes()


def random_body(count: int = 4, nodes: int = 9, seed: int = 0) -> Modes:
    """Shapes without any property: s, beta and lambda are not zero and the generalized mass is full."""
    rng = np.random.default_rng(seed)
    return Modes.at_nodes(
        rng.normal(size=(nodes, 3)),
        rng.uniform(0.1, 2.0, nodes),
        rng.normal(size=(nodes, 3, count)),
        rng.uniform(1.0, 9.0, count),
        range(6),
        free=False,
    )


# --- plates against facts from elsewhere ---------------------------------------------------------------------


def ritz_square(terms: int = 16) -> np.ndarray:
    """Free square plate of unit side by Ritz's method with products of Legendre polynomials: no mesh, no elements."""
    legendre = np.polynomial.legendre
    x, weight = legendre.leggauss(terms + 2)
    values = [
        np.array([2.0**d * legendre.legval(x, legendre.legder(np.eye(terms)[k], d)) for k in range(terms)])
        for d in range(3)
    ]
    gram = [[0.5 * (values[a] * weight) @ values[b].T for b in range(3)] for a in range(3)]
    mixed = np.kron(gram[0][2], gram[2][0])
    stiffness = np.kron(gram[2][2], gram[0][0]) + np.kron(gram[0][0], gram[2][2])
    stiffness += NU * (mixed + mixed.T) + 2 * (1 - NU) * np.kron(gram[1][1], gram[1][1])
    roots = eigh(stiffness, np.kron(gram[0][0], gram[0][0]), eigvals_only=True)
    return np.sqrt(roots[3:])


def test_free_square_plate() -> None:
    own = plate_modes(unit_plate(SQUARE), SQUARE, 10, tolerance=1e-4).frequencies
    # Ritz with 16 terms is converged to 1e-6; the elements' own bound is 1e-4 and their result far better
    np.testing.assert_allclose(own, ritz_square()[:10], rtol=2e-5)
    # Leissa's values of 1973 are upper bounds, up to 1 % high (he used products of beam functions)
    leissa = np.array([13.489, 19.789, 24.432, 35.024, 35.024])
    assert (own[:5] < leissa).all()
    np.testing.assert_allclose(own[:5], leissa, rtol=0.01)


def circle_roots(count: int) -> np.ndarray:
    """Dimensionless frequencies of the free circular plate of unit radius, each with its multiplicity."""

    def equation(x: float, n: int) -> float:
        j, dj, i, di = jv(n, x), jvp(n, x), iv(n, x), ivp(n, x)
        moment_j = x**2 * j + (1 - NU) * (x * dj - n**2 * j)
        moment_i = x**2 * i - (1 - NU) * (x * di - n**2 * i)
        force_j = x**3 * dj + (1 - NU) * n**2 * (x * dj - j)
        force_i = x**3 * di - (1 - NU) * n**2 * (x * di - i)
        return float((moment_j * force_i - moment_i * force_j) / (i * x**4))

    roots = []
    for n in range(8):
        grid = np.linspace(1.0, 8.0, 500)
        values = [equation(x, n) for x in grid]
        for k in np.flatnonzero(np.diff(np.sign(values))):
            roots += [brentq(equation, grid[k], grid[k + 1], (n,), xtol=1e-13) ** 2] * (1 if n == 0 else 2)
    return np.sort(roots)[:count]


def test_free_circular_plate() -> None:
    sides = 48
    # a polygon of the circle's area: the error of the first order in its sagitta averages out along the edge
    outline = regular(sides, np.sqrt(np.pi / (sides / 2 * np.sin(2 * np.pi / sides))))
    own = plate_modes(unit_plate(outline), outline[:6], 11, tolerance=1e-4).frequencies
    # what is left falls with the cube of the number of sides: 4e-4, 4e-5, 4e-6 for 24, 48, 96
    np.testing.assert_allclose(own, circle_roots(11), rtol=6e-5)


def test_narrow_strip_is_a_beam() -> None:
    length, width, thickness, young, density = 1.0, 0.01, 0.002, 7e10, 2700.0
    outline = np.array([[0, 0], [length, 0], [length, width], [0, width]])
    own = plate_modes(Plate(outline, thickness, young, 0.3, density), outline, 3).frequencies
    numbers = [brentq(lambda x: np.cos(x) - 1 / np.cosh(x), a, a + 1.5) for a in (4.0, 7.0, 10.2)]
    beam = np.square(numbers) * np.sqrt(young * thickness**2 / (12 * density)) / length**2
    # a strip bends with E, not E/(1 - nu^2); the difference to a beam is of the order nu^2 (k width)^2
    np.testing.assert_allclose(own, beam, rtol=1e-3)


def test_hexagon_against_kirchhoff_limits(hexagon: Modes) -> None:
    # a mesh of Morley triangles, refined until five digits stood: another program
    limits = [189.29, 189.29, 316.44, 404.19, 477.12, 705.44, 705.44, 761.35, 761.35, 1197.31, 1197.31]
    np.testing.assert_allclose(hexagon.frequencies, limits, rtol=5e-5)  # 0.1 % is asked for; five digits are given
    for one, two in ((0, 1), (5, 6), (7, 8), (9, 10)):
        assert hexagon.stiffness[one] == hexagon.stiffness[two]


def test_table_2(hexagon: Modes) -> None:
    rows = compare_table_2(hexagon)
    assert [row.mode for row in rows] == list(range(7, 17))
    assert rows[0].table_2 == 188.7473
    deviations = np.array([row.deviation for row in rows])
    assert np.abs(deviations[:7]).max() < 0.01
    # the finding: modes 14 to 16 of the table lie 9 % above the converged plate
    assert (deviations[7:] > 0.085).all()
    assert (deviations[7:] < 0.1).all()
    both = hexagon_modes(10, "table-2")
    np.testing.assert_allclose(both.frequencies, [row.table_2 for row in rows], rtol=1e-6)  # the table's rounding
    np.testing.assert_allclose(both.generalized_damping[0], 2 * 0.4 * 188.7473, rtol=1e-6)
    with refused(InputError, "count 11 10"):
        hexagon_modes(11, "table-2")


def test_hexagon_mass_and_inertia_in_closed_form(hexagon: Modes) -> None:
    integrals = Integrals.of(hexagon)
    mass = 1.5 * np.sqrt(3) * 0.5**2 * 0.015 * 7500
    moment = 5 * np.sqrt(3) / 16 * 0.5**4 * 0.015 * 7500
    assert integrals.mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(integrals.inertia, np.diag([moment, moment, 2 * moment]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(integrals.first, 0, atol=1e-13)
    # free-free modes: no coupling with rigid motion in the undeformed body, to rounding
    np.testing.assert_allclose(integrals.s, 0, atol=1e-12)
    np.testing.assert_allclose(integrals.beta, 0, atol=1e-12)
    np.testing.assert_allclose(integrals.generalized_mass, np.eye(11), atol=1e-12)


def test_shapes_against_another_element(hexagon: Modes, golden: Modes) -> None:
    """Within equal frequencies only sums over the group mean something: phi(a) . phi(b) between points a, b."""

    def products(modes: Modes, group: slice) -> np.ndarray:
        at = modes.attachment_shapes[:, 2, group]
        turn = modes.origin_rotation[:2, group]
        return np.concatenate([np.ravel(at @ at.T), np.ravel(turn @ turn.T), np.ravel(at @ turn.T)])

    for group in (slice(0, 2), slice(2, 3), slice(3, 4), slice(5, 7), slice(7, 9)):
        own, other = products(hexagon, group), products(golden, group)
        # 216 triangles with lumped masses have frequencies 2 to 4 % low; their products of shapes are off by 11 %
        np.testing.assert_allclose(own, other, atol=0.12 * np.abs(own).max())
    sign = np.sign(golden.origin_shape[2, 2] * hexagon.origin_shape[2, 2])
    assert hexagon.origin_shape[2, 2] == pytest.approx(sign * golden.origin_shape[2, 2], rel=0.03)


def test_element_against_that_of_scikit_fem() -> None:
    """The same element written by others, in global powers: equal on a coarse mesh, where those keep their digits."""
    import skfem

    mesh = skfem.MeshTri(
        np.vstack([[0, 0], regular(6)]).T.copy(), np.array([[0, k + 1, (k + 1) % 6 + 1] for k in range(6)]).T
    )
    mesh = mesh.refined(1)
    basis = skfem.Basis(mesh, skfem.ElementTriArgyris(), intorder=10)

    @skfem.BilinearForm
    def stiffness(u, v, _):
        product = sum(u.hess[a][b] * v.hess[a][b] for a in range(2) for b in range(2))
        return (1 - NU) * product + NU * (u.hess[0][0] + u.hess[1][1]) * (v.hess[0][0] + v.hess[1][1])

    @skfem.BilinearForm
    def mass(u, v, _):
        return u * v

    other = eigh(stiffness.assemble(basis).toarray(), mass.assemble(basis).toarray(), eigvals_only=True)[:20]
    own = eigen.solve(mesh, NU, 20).eigenvalues
    np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-8)  # conditioning of the global powers


def test_derivatives_are_derivatives_and_stubs_follow_them() -> None:
    step = 1e-4
    points = np.array([[0.1, 0.2], [-0.3, 0.05], [0.0, 0.0]])
    stars = np.concatenate([points + step * np.array(d) for d in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))])
    modes = plate_modes(hexagon_plate(), stars, 9)
    w = modes.attachment_shapes[:, 2].reshape(5, 3, 9)
    w_x, w_y = (w[1] - w[2]) / (2 * step), (w[3] - w[4]) / (2 * step)
    turn = modes.attachment_rotations[:3]
    scale = np.abs(turn).max()
    np.testing.assert_allclose(turn, np.stack([w_y, -w_x, 0 * w_x], axis=1), atol=1e-5 * scale)  # step^2
    np.testing.assert_allclose(modes.origin_shape, modes.attachment_shapes[2], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(modes.origin_rotation, modes.attachment_rotations[2], rtol=1e-12, atol=1e-14)
    raised = plate_modes(hexagon_plate(), np.column_stack([points, [0.1, -0.2, 0.3]]), 9)
    arm = np.array([[0, 0, 0.1], [0, 0, -0.2], [0, 0, 0.3]])[:, :, None]
    carried = modes.attachment_shapes[:3] + np.cross(turn, arm, axis=1)
    np.testing.assert_allclose(raised.attachment_shapes, carried, atol=1e-12)


# --- laws a plate's modes obey -------------------------------------------------------------------------------


def test_bounds_fall_towards_the_limit_with_the_tolerance() -> None:
    """Conforming elements give upper bounds; a re-entrant corner converges too, as its mesh is graded."""
    meshes = [plate_modes(unit_plate(ELL), ELL, 6, tolerance=t).frequencies for t in (1e-2, 1e-3, 1e-4)]
    assert (meshes[0] > meshes[1]).all()
    assert (meshes[1] > meshes[2]).all()
    np.testing.assert_allclose(meshes[0], meshes[2], rtol=1e-2)
    np.testing.assert_allclose(meshes[1], meshes[2], rtol=1e-3)


def test_place_size_and_sense_of_the_outline_do_not_matter() -> None:
    ell = plate_modes(unit_plate(ELL), ELL, 6)
    assert ell.origin_shape is not None
    moved = ELL[::-1] * 1e-3 + [5.0, -3.0]
    small = plate_modes(unit_plate(moved), moved, 6)
    assert small.origin_shape is None  # the origin of the platform frame is not on this plate
    # another order of the vertices gives another mesh
    np.testing.assert_allclose(small.frequencies, 1e6 * ell.frequencies, rtol=1e-3)
    np.testing.assert_allclose(Integrals.of(small).mass, 3e-6, rtol=1e-9)


def test_signs_and_pairs_do_not_depend_on_the_order_of_the_vertices(hexagon: Modes) -> None:
    plate = hexagon_plate()
    other = plate_modes(replace(plate, outline=np.roll(plate.outline, 2, axis=0)), hexagon_points(), 11)
    scale = np.abs(hexagon.attachment_shapes).max()
    np.testing.assert_allclose(other.attachment_shapes, hexagon.attachment_shapes, atol=1e-7 * scale)
    again = hexagon_modes(11)
    assert again == hexagon
    # the x axis is a mirror: every shape is even or odd in y, and in each pair one is even and one is odd
    up, down = plate_modes(plate, [[0.2, 0.1], [0.2, -0.1]], 11).attachment_shapes[:, 2]
    np.testing.assert_allclose(down, up * [1, -1, 1, 1, -1, 1, -1, 1, -1, 1, -1], atol=1e-7 * scale)


def test_cut_pair_is_warned_of() -> None:
    with warned(UserWarning, "10 11"):
        plate_modes(hexagon_plate(), hexagon_points(), 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plate_modes(hexagon_plate(), hexagon_points(), 9)


def test_dense_solver_takes_over_when_a_root_is_missed(hexagon: Modes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "_negative_eigenvalues", lambda matrix: -1)
    dense = hexagon_modes(11)
    np.testing.assert_allclose(dense.frequencies, hexagon.frequencies, rtol=1e-9)
    np.testing.assert_allclose(dense.attachment_shapes, hexagon.attachment_shapes, atol=1e-6)


def test_sturm_count_spares_the_dense_solver(hexagon: Modes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(eigen, "eigh")
    assert hexagon_modes(11) == hexagon
    assert eigen._negative_eigenvalues(csc_array(np.diag([-1.0, 2.0, -3.0]))) == 2


@pytest.mark.parametrize(
    "outline",
    [
        regular(6),
        regular(40),
        ELL,
        [[0, 0], [1, 0], [1, 0.15]],
        [[0, 0], [1, 0], [1, 0.03], [0, 0.03]],
        [[0, 0], [1, 0], [1, 1], [0.52, 1], [0.5, 0.2], [0.48, 1], [0, 1]],
        [[np.cos(a) * r, np.sin(a) * r] for a, r in zip(np.arange(10) * np.pi / 5, [1, 0.38] * 5, strict=True)],
    ],
    ids=["hexagon", "40 sides", "L", "sharp", "strip", "notch", "star"],
)
def test_mesh_covers_the_polygon_once(outline: list[list[float]]) -> None:
    vertices = polygon(outline)
    points, triangles = triangulate(vertices)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    double = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert (double > 0).all()
    x, y = vertices.T
    shoelace = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert double.sum() == pytest.approx(shoelace, rel=1e-12)
    sides, uses = np.unique(
        np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0, return_counts=True
    )
    assert set(uses) <= {1, 2}
    assert len(points) - len(sides) + len(triangles) == 1  # Euler, for a disc
    ends = points[sides[uses == 1]]
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum()
    assert length == pytest.approx(np.linalg.norm(vertices - np.roll(vertices, 1, axis=0), axis=1).sum(), rel=1e-12)
    lengths = np.stack([np.linalg.norm(b - c, axis=1), np.linalg.norm(c - a, axis=1), np.linalg.norm(a - b, axis=1)])
    if interior_angles(vertices).min() > np.radians(60):
        # twice the area over the product of the two longer sides is the sine of the smallest angle
        sine = double * lengths.min(axis=0) / lengths.prod(axis=0)
        assert np.degrees(np.arcsin(sine)).min() > 19.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"outline": [[0, 0], [1, 1], [1, 0], [0, 1]]},
            "outline [0] [2]",
        ),
        ({"outline": [[0, 0], [1, 0], [1, 1], [0, 0]]}, "outline [3] [0]"),
        ({"outline": [[0, 0], [1, 0]]}, "outline 2"),
        ({"outline": [[0, 0], [1, 0], [0.5, 0]]}, "outline"),
        ({"outline": [[0, 0], [1, 0], [0, np.nan]]}, "outline [2, 1] nan"),
        ({"thickness": 0.0}, "thickness 0.0"),
        ({"young": -1.0}, "young -1.0"),
        ({"density": np.inf}, "density inf"),
        ({"poisson": 0.5}, "poisson -1 0.5"),
    ],
)
def test_bad_plates(change: dict, words: str) -> None:
    good = {"outline": SQUARE, "thickness": 0.01, "young": 1e9, "poisson": 0.3, "density": 1e3}
    with refused(InputError, words):
        Plate(**{**good, **change})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"attachments": [[0.0, 0.0], [0.75, 0.0]]},
            "attachments [1] 0.75 0.25",
        ),
        ({"attachments": [[0.0, 0.75]], "names": ["left"]}, "attachments left"),
        ({"attachments": [[0.0] * 4]}, "attachments (1, 4)"),
        ({"count": 0}, "count 0"),
        ({"tolerance": 0.0}, "tolerance 1e-8 1 0.0"),
        ({"tolerance": 1e-6, "most_triangles": 50}, "tolerance 1e-06 50"),
    ],
)
def test_bad_questions_about_a_plate(change: dict, words: str) -> None:
    with refused(InputError, words):
        plate_modes(unit_plate(SQUARE), **{"attachments": SQUARE, **change})


def test_progress_on_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import rich.console

    plate_modes(unit_plate(SQUARE), SQUARE, 3)
    assert capsys.readouterr() == ("", "")
    screen = io.StringIO()
    real = rich.console.Console
    monkeypatch.setattr(rich.console, "Console", lambda **_: real(file=screen, force_terminal=True, width=100))
    plate_modes(unit_plate(SQUARE), SQUARE, 3)
    assert "plate modes" in screen.getvalue()


# --- integrals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(seed: int) -> None:
    modes = random_body(seed=seed)
    integrals = Integrals.of(modes)
    assert min(np.abs(part).max() for part in (integrals.s, integrals.beta, integrals.lam)) > 0.1
    rng = np.random.default_rng(100 + seed)
    q, rate = rng.normal(size=(2, 7, 4))
    v, omega = rng.normal(size=(2, 7, 3))
    place = modes.nodes + np.einsum("nak,bk->bna", modes.shapes, q)
    velocity = v[:, None] + np.cross(omega[:, None], place) + np.einsum("nak,bk->bna", modes.shapes, rate)
    energy = 0.5 * np.einsum("n,bna,bna->b", modes.masses, velocity, velocity)
    motion = np.concatenate([v, omega, rate], axis=1)
    form = 0.5 * np.einsum("bi,bij,bj->b", motion, integrals.mass_matrix(q), motion)
    np.testing.assert_allclose(form, energy, rtol=1e-12)
    np.testing.assert_allclose(integrals.mass_matrix(q[0]), integrals.mass_matrix(q)[0], rtol=1e-13, atol=1e-13)
    assert integrals.mass_matrix(q[:0]).shape == (0, 10, 10)


def test_each_integral_is_its_sum_over_nodes() -> None:
    modes = random_body()
    integrals = Integrals.of(modes)
    q = np.random.default_rng(7).normal(size=4)
    sums = dict.fromkeys(("mass", "first", "inertia", "s", "beta", "m_ee", "deformed", "deformed_first"), 0.0)
    lam = np.zeros((4, 4, 3))
    coupling = np.zeros((3, 4))
    for m, r, phi in zip(modes.masses, modes.nodes, modes.shapes, strict=True):
        moved = r + phi @ q
        sums["mass"] += m
        sums["first"] = sums["first"] + m * r
        sums["inertia"] = sums["inertia"] + m * (r @ r * np.eye(3) - np.outer(r, r))
        sums["deformed"] = sums["deformed"] + m * (moved @ moved * np.eye(3) - np.outer(moved, moved))
        sums["deformed_first"] = sums["deformed_first"] + m * moved
        sums["s"] = sums["s"] + m * phi
        sums["beta"] = sums["beta"] + m * np.cross(r, phi.T).T
        sums["m_ee"] = sums["m_ee"] + m * phi.T @ phi
        coupling += m * np.cross(moved, phi.T).T
        for i in range(4):
            for k in range(4):
                lam[i, k] += m * np.cross(phi[:, k], phi[:, i])
    for own, other in (
        (integrals.mass, sums["mass"]),
        (integrals.first, sums["first"]),
        (integrals.inertia, sums["inertia"]),
        (integrals.s, sums["s"]),
        (integrals.beta, sums["beta"]),
        (integrals.lam, lam),
        (integrals.generalized_mass, sums["m_ee"]),
        (modes.generalized_mass, sums["m_ee"]),
        (integrals.deformed_inertia(q), sums["deformed"]),
        (integrals.deformed_first(q), sums["deformed_first"]),
        (integrals.deformed_beta(q), coupling),
    ):
        np.testing.assert_allclose(own, other, rtol=1e-12, atol=1e-12)
    # the order of the indices: beta_i + sum_k lambda_ik q_k is right, with lambda_ki (as printed) it is not
    right = integrals.beta + np.einsum("ika,k->ai", integrals.lam, q)
    printed = integrals.beta + np.einsum("kia,k->ai", integrals.lam, q)
    np.testing.assert_allclose(right, coupling, rtol=1e-12, atol=1e-12)
    assert np.abs(printed - coupling).max() > 0.1
    with refused(InputError, "q 4"):
        integrals.deformed_inertia(q[:3])


def test_golden_body(golden: Modes) -> None:
    integrals = Integrals.of(golden)
    assert integrals.mass == pytest.approx(73.0709, abs=5e-5)  # the digits that the program of the golden file printed
    np.testing.assert_allclose(np.diag(integrals.inertia), [3.8692, 3.8692, 7.7384], atol=5e-5)


def test_golden_mass_matrices(golden: Modes) -> None:
    """A robot's mass matrix is the platform's plus the legs', sum W_i A_i W_i^T with six symmetric 3 x 3 unknowns.

    Of the 136 entries, computed elsewhere with 50 digits, the unknowns can explain a part; not a wrong mass along
    z or a wrong generalized mass.
    """
    integrals = Integrals.of(golden)
    basis = [np.outer(np.eye(3)[a], np.eye(3)[b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]

    def unexplained(state: dict, platform: np.ndarray) -> float:
        rotation, q = np.array(state["R"]), np.array(state["q_e"])
        turn = np.eye(16)
        turn[:3, :3] = turn[3:6, 3:6] = rotation
        rest = (np.array(state["mass_matrix"]) - turn @ platform @ turn.T).ravel()
        columns = []
        for point, phi in zip(golden.attachments, golden.attachment_shapes, strict=True):
            arm = rotation @ (point + phi @ q)
            spread = np.hstack([np.eye(3), np.cross(np.eye(3), arm).T, rotation @ phi])
            columns += [np.ravel(spread.T @ (unit + unit.T) @ spread) for unit in basis]
        matrix = np.array(columns).T
        answer = np.linalg.lstsq(matrix, rest, rcond=1e-13)[0]
        return float(np.abs(matrix @ answer - rest).max())

    for state in GOLDEN["states"]:
        right = integrals.mass_matrix(state["q_e"])
        assert unexplained(state, right) < 1e-10  # rounding of entries up to 1e2
        for entry in ((2, 2), (6, 6), (6, 7)):
            assert unexplained(state, bad(right, entry, right[entry] + 1e-3)) > 1e-5


# --- the data class ------------------------------------------------------------------------------------------


def fields_of(modes: Modes) -> dict:
    names = ("nodes", "masses", "shapes", "stiffness", "attachments", "attachment_shapes", "free")
    return {name: getattr(modes, name) for name in names}


def bad(array: np.ndarray, place: object, value: float) -> np.ndarray:
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("field", "make", "words"),
    [
        ("masses", lambda m: bad(m.masses, 3, -0.1), "masses [3] -0.1"),
        ("masses", lambda m: m.masses[:-1], "masses 127 126"),
        ("masses", lambda m: 0 * m.masses, "nodes 0"),
        ("stiffness", lambda m: bad(m.stiffness, 1, -2.0), "stiffness [1] -2"),
        ("stiffness", lambda m: bad(m.stiffness, 1, np.nan), "stiffness [1]"),
        ("nodes", lambda m: m.nodes * [1, 0, 0], "nodes 127 #on_one_line"),
        ("nodes", lambda m: "many", "nodes many #not_numbers"),
        ("shapes", lambda m: m.shapes[:, :, :0], "shapes #no_modes"),
        ("shapes", lambda m: bad(m.shapes, (slice(None), slice(None), 4), 0.0), "shapes [4] #massless_mode"),
        ("shapes", lambda m: m.shapes[:, :, [0] * 10], "shapes #dependent_modes"),
        (
            "shapes",
            lambda m: m.shapes + 0.01 * (np.arange(10) == 3),
            "shapes [3] translation #not_orthogonal",
        ),
        (
            "shapes",
            lambda m: m.shapes + 0.01 * np.cross([1, 0, 0], m.nodes)[:, :, None] * (np.arange(10) == 2),
            "shapes [2] rotation x #not_orthogonal",
        ),
        (
            "shapes",
            lambda m: m.shapes + 0.01 * m.shapes[:, :, [1]] * (np.arange(10) == 0),
            "shapes [0] [1] 1e-06 #not_orthogonal",
        ),
        (
            "attachments",
            lambda m: m.attachments + [0, 0.3, 0] * np.eye(6)[3:4].T,
            "p4 mesh 0.3",
        ),
        ("attachments", lambda m: m.attachments[:0], "attachments #no_points"),
        (
            "attachment_shapes",
            lambda m: m.attachment_shapes[:5],
            "attachment_shapes 6 3 10 5",
        ),
        ("attachment_names", lambda m: ["a", "b", "c", "a", "d", "e"], "attachment_names"),
        ("tolerance", lambda m: 0.0, "tolerance 0.0"),
        ("reach", lambda m: -1.0, "reach 0 None -1.0"),
        ("damping_ratio", lambda m: np.full(10, -0.1), "damping_ratio [0] -0.1"),
    ],
)
def test_bad_modes(golden: Modes, field: str, make: object, words: str) -> None:
    with refused(InputError, words):
        Modes(**{**fields_of(golden), field: make(golden)})  # type: ignore[operator]


def test_few_nodes() -> None:
    nodes, shapes = np.eye(3), np.ones((3, 3, 4)) * np.arange(1.0, 5.0)
    with refused(InputError, "nodes 2 3"):
        Modes.at_nodes(nodes, [1, 1, 0], shapes, np.ones(4), [0])
    with refused(InputError, "nodes 3 4"):
        Modes.at_nodes(nodes, [1, 1, 1], shapes, np.ones(4), [0])
    with refused(InputError, "attachments 0 2 7"):
        Modes.at_nodes(nodes, [1, 1, 1], shapes, np.ones(4), [7])


def test_both_kinds_of_damping(golden: Modes) -> None:
    ratio = Modes(**fields_of(golden), damping_ratio=np.full(10, 0.4))
    # the file's generalized damping is 2 d sqrt(k) with d = 0.4 of Table 2
    np.testing.assert_allclose(ratio.generalized_damping, golden.generalized_damping, rtol=1e-12)
    assert not Modes(**fields_of(golden)).generalized_damping.any()
    with refused(InputError, "damping damping_ratio"):
        Modes(**fields_of(golden), damping_ratio=np.ones(10), damping=np.ones(10))
    # for a generalized mass m the ratio d means 2 d sqrt(k m)
    scaled = Modes(**{**fields_of(golden), "shapes": 3 * golden.shapes, "stiffness": 9 * golden.stiffness})
    scaled = replace(scaled, damping_ratio=np.full(10, 0.4))
    np.testing.assert_allclose(scaled.frequencies, golden.frequencies, rtol=1e-12)
    np.testing.assert_allclose(scaled.generalized_damping, 9 * golden.generalized_damping, rtol=1e-12)


def test_general_shapes_need_the_flag_and_data_are_frozen() -> None:
    modes = random_body()
    with refused(InputError, "free", code="not_orthogonal"):
        replace(modes, free=True)
    with refused(ValueError, "read-only"):
        modes.shapes[0] = 0
    assert modes == random_body()
    assert hash(modes) == hash(random_body())
    assert modes != random_body(seed=1)
    assert modes != modes.with_stiffness(modes.stiffness + 1)


# --- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".yaml", ".npz"])
def test_round_trip_is_the_identity(hexagon: Modes, golden: Modes, tmp_path: Path, suffix: str) -> None:
    odd = replace(random_body(), stiffness=[1e-7, 1e22, 0.0, 1 / 3], reach=0.25, title="a: 'b' #c\nd", tolerance=1e-5)
    for modes in (hexagon, golden, odd):
        path = tmp_path / f"modes{suffix}"
        save_modes(modes, path)
        assert load_modes(path) == modes
        assert [p.name for p in tmp_path.iterdir()] == [path.name]


SMALL = """
format: polypod-modes 1
free: false
nodes: |  # numbers as in the mesh
  30 0 0 0 1.5
  10 1 0 0 2.0
  20 0 1 0 0.5   # comment
  40 1 1 0 1.0
modes:
- stiffness: 1e3
  damping_ratio: 0.1
  shape: |
    10 0 0 1 0.1 0.2 0.3
    20 0 0 2 0.4 0.5 0.6
    30 0 0 3 0.7 0.8 0.9
    40 0 0 -1 0 0 0
- stiffness: 20
  damping_ratio: 0.2
  shape: [[30, 1, 0, 0, 0, 0, 0], [20, 2, 0, 0, 0, 0, 0], [10, 4, 0, 0, 0, 0, 0], [40, 0, 0, 0, 0, 0, 0]]
attachments:
- {name: left, node: 20}
- {name: right, position: [0.5, 0, 0], shape: [[0, 0, 2], [3, 0, 0]], rotation: [[0, 1, 0], [0, 0, 1]]}
origin: {node: 30}
"""


def test_file_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "small.yml"
    path.write_text(SMALL)
    modes = load_modes(path)
    np.testing.assert_array_equal(modes.nodes, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    np.testing.assert_array_equal(modes.masses, [1.5, 2.0, 0.5, 1.0])
    np.testing.assert_array_equal(modes.shapes[:, 2, 0], [3, 1, 2, -1])
    np.testing.assert_array_equal(modes.shapes[:, 0, 1], [1, 4, 2, 0])
    np.testing.assert_array_equal(modes.stiffness, [1000, 20])
    assert modes.attachment_names == ("left", "right")
    np.testing.assert_array_equal(modes.attachments, [[0, 1, 0], [0.5, 0, 0]])
    np.testing.assert_array_equal(modes.attachment_shapes[1], [[0, 3], [0, 0], [2, 0]])
    np.testing.assert_array_equal(modes.attachment_rotations[0, :, 0], [0.4, 0.5, 0.6])
    np.testing.assert_array_equal(modes.origin_rotation[:, 0], [0.7, 0.8, 0.9])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("polypod-modes 1", "polypod-modes 9", "format polypod-modes 1"),
        ("stiffness: 20", "stifness: 20", "modes.1.stiffness modes.1.stifness"),
        ("stiffness: 20", "stiffness: soft", "modes.1.stiffness soft"),
        ("stiffness: 20", "stiffness: -20", "stiffness [1] -20"),
        ("20 0 1 0 0.5 ", "20 0 1 0", "nodes #not_numbers"),
        ("20 0 1 0 0.5 ", "20 0 1 0 -0.5", "masses [2] -0.5"),
        ("20 0 1 0 0.5 ", "10 0 1 0 0.5", "nodes 10 2"),
        ("20 0 1 0 0.5 ", "2.5 0 1 0 0.5", "nodes 3 2.5"),
        ("    20 0 0 2 0.4 0.5 0.6\n", "", "modes.0.shape 20"),
        ("    20 0 0 2 ", "    21 0 0 2 ", "modes.0.shape 20"),
        ("[[30, 1, 0, 0, 0, 0, 0]", "[[30, 1]", "modes.1.shape #not_numbers"),
        ("10 0 0 1 0.1", "10 0 x 1 0.1", "modes.0.shape x #not_numbers"),
        ("node: 20", "node: 99", "attachments.0.node 99"),
        ("node: 20", "node: 20, position: [0, 1, 0]", "attachments.0.position 20"),
        ("position: [0.5, 0, 0], ", "", "attachments.1.position"),
        ("[[0, 0, 2], [3, 0, 0]]", "[[0, 0, 2]]", "attachments.1.shape 2"),
        (", rotation: [[0, 1, 0], [0, 0, 1]]", "", "attachments rotation"),
        ("  damping_ratio: 0.2\n", "", "modes.1.damping_ratio"),
        ("[0.5, 0, 0]", "[0.5, 0, 9]", "right #off_mesh"),
        ("free: false", "free: true", "shapes [1] #not_orthogonal"),
        ("modes:\n", "modes: [\n", "YAML"),
        ("origin: {node: 30}", "origin: {node: 10}", "origin.node 1"),
        ("origin: {node: 30}", "origin: {name: q}", "origin.node"),
        ("40 0 0 -1 ", "40 0 0 0 ", "shapes #rigid_motion"),
        ("format: polypod-modes 1", "legs: []", "robot"),
        ("format: polypod-modes 1", "trajectory: {}", "motion"),
        (SMALL, "- 1", "list"),
    ],
)
def test_bad_files_name_the_field(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SMALL
    path = tmp_path / "bad.yaml"
    path.write_text(SMALL.replace(old, new, 1))
    with refused(InputError, words) as caught:
        load_modes(path)
    assert "bad.yaml" in str(caught.value)


def test_bad_archives(tmp_path: Path, golden: Modes) -> None:
    path = tmp_path / "modes.npz"
    save_modes(golden, path)
    with np.load(path) as archive:
        data = dict(archive)
    for change, words in (
        ({"format": "x"}, "format polypod-modes 1 x"),
        ({"extra": 1}, "extra"),
        ({"stiffness": None}, "stiffness"),
        ({"masses": -data["masses"]}, "masses"),
    ):
        np.savez(path, **{k: v for k, v in {**data, **change}.items() if v is not None})
        with refused(InputError, words):
            load_modes(path)
    path.write_text("no archive")
    with refused(InputError, "modes.npz", code="not_an_archive"):
        load_modes(path)
    with refused(InputError, code="cannot_read"):
        load_modes(tmp_path / "none.yaml")
    with refused(InputError, ".csv .npz .yaml .yml"):
        save_modes(golden, tmp_path / "modes.csv")
