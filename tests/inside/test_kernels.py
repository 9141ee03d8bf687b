"""Kernels: machine code equals the interpreter and NumPy, and touches only its arrays."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polypod as pp
from polypod.errors import InputError
from polypod.formulations import FORMULATIONS
from polypod.kernels import Iteration, Kernel, Port, machine, port
from polypod.kernels.threads import cores
from polypod.model.kernels import FUNCTIONS
from support import states as sample
from support.compare import assert_close
from support.expressions import OPERATIONS, trees
from support.little_kernels import SIZES, WIDTH, kernel_of, run, spread, wanted_spread
from support.refusals import refused

pytestmark = pytest.mark.usefixtures("as_shipped")

# -- compiled equals interpreted -------------------------------------------------------------------------------------


def inputs_of(kernel: Kernel, model: pp.Model, count: int = 11) -> list[Any]:
    """States for the inputs of a model's kernel, by their names."""
    s = sample.easy(model, count)
    fields = {**s._asdict(), "q": model.inverse_kinematics(s.pose), "qdot": s.force, "qddot": s.force}
    fields["drive"] = np.full_like(s.force, 1e7)  # stiff actuators
    return [np.ascontiguousarray(fields[p.name]) for p in kernel.inputs]


# Functions of flexible robots, of platforms that follow their legs and of elements have tests of their own.
OTHERS = ("steady_shape", "motion", "coordinates", "follow", "joint_coordinates", "rate_map", "elements")
RIGID = [name for name in FUNCTIONS if name not in OTHERS]


def assert_compiled_equals_interpreted(name: str, model: pp.Model, kernel_of: Callable[[Any], Kernel]) -> None:
    """To the rounding of fused products and shared reciprocals, magnified by the solve at the end of some functions."""
    options = [("virtual-power", False), ("virtual-power", True)]
    if name == "inverse_dynamics":
        options = [(formulation, friction) for formulation in FORMULATIONS for friction in (False, True)]
    compared = 0
    for formulation, friction in options:
        try:
            kernel = kernel_of({"friction": friction, "formulation": formulation})
        except InputError:  # which ones may refuse is checked by the contract suite
            continue
        compared += 1
        arrays = inputs_of(kernel, model)
        got = kernel(*arrays)
        got = got if isinstance(got, tuple) else (got,)
        for signature, one, other in zip(kernel.outputs, got, kernel.interpreted(*arrays), strict=True):
            assert one.shape == (11, *signature.shape)
            if not one.size:  # no springs in the legs
                continue
            # Reactions that inner stresses leave open are not numbers, in both.
            assert np.array_equal(np.isnan(one), np.isnan(other))
            # A number that is zero by cancellation is so to the rounding of terms of size one.
            size = np.abs(np.nan_to_num(other)).reshape(11, -1).max(axis=1, initial=0.0)
            assert_close(np.nan_to_num(one), np.nan_to_num(other), 1e-12, np.maximum(size, 1.0))
    assert compared


# All formulations with and without friction are many functions: a small robot has them all, and one with dry friction
# the others, iterations among them.
PAIRS = [(robot, name) for robot in sample.papers_robots() for name in RIGID]
USUAL = [(r, name) for r, name in PAIRS if r == "staicu"]
SMALL = ("staicu",)
# Code compiled unoptimised is what all tests run: the contract suite would show where it is wrong.
HASTY = [("staicu", "forward_kinematics"), ("staicu", "reactions")]


@pytest.mark.parametrize("pair", sample.mostly_long(PAIRS, HASTY, "-".join))
def test_compiled_equals_interpreted(
    pair: tuple[str, str], model_of: Callable[[str], pp.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code that all tests run."""
    robot, name = pair
    model = model_of(robot)
    monkeypatch.setenv("POLYPOD_OPTIMISE", "0")
    assert_compiled_equals_interpreted(name, model, lambda options: model.kernel(name, **options))


@pytest.mark.parametrize("pair", sample.mostly_long(PAIRS, USUAL, "-".join))
def test_shipped_code_equals_interpreted(pair: tuple[str, str], model_of: Callable[[str], pp.Model]) -> None:
    """The code that users get, compiled here and not what another test may have left in the process."""
    robot, name = pair
    model = model_of(robot)

    def kernel_of(options: Any) -> Kernel:
        expression = model.kernels.expression(model.kernels.mechanism, name, **options)
        kernel = Kernel(lambda: expression)
        return kernel.at(model.kernels.mechanism.numbers.values) if kernel.parameters else kernel

    assert_compiled_equals_interpreted(name, model, kernel_of)


@pytest.mark.parametrize("robot", sample.mostly_long(sample.papers_robots(), ("staicu",)))
def test_every_function_of_a_model_has_a_kernel(robot: str, model_of: Callable[[str], pp.Model]) -> None:
    model = model_of(robot)
    for name in RIGID:
        kernel = model.kernel(name, friction=False)
        assert kernel.operations >= 0
        assert kernel.iterative == isinstance(kernel.expression, Iteration)
        assert kernel.name == kernel.expression.name
        assert [p.name for p in kernel.inputs] == [p.name for p in kernel.expression.inputs]
        assert [p.shape for p in kernel.outputs] == [p.shape for p in kernel.expression.outputs]


# -- every operation against NumPy -----------------------------------------------------------------------------------

# Numbers at which operations are special, and common ones.
SPECIAL = np.array([-2.5, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e-9])


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str) -> None:
    """Every operation in all combinations of special arguments, lanes mixed; to one rounding or two."""
    operation = OPERATIONS[name]
    grids = np.meshgrid(*[SPECIAL] * operation.count)
    x = np.stack([g.ravel() for g in grids], axis=1)
    kernel = kernel_of(lambda c: operation.symbol(*(c[k] for k in range(operation.count))), (operation.count,))
    np.testing.assert_allclose(kernel(x)[:, 0], operation.number(*x.T), rtol=1e-15, atol=1e-300)


def test_every_operation_the_emitter_knows_is_here() -> None:
    """The CasADi operations met by the tests are those that have machine code."""
    from polypod.kernels import emit

    met = set()
    for operation in OPERATIONS.values():
        x = ca.SX.sym("x", operation.count)
        f = ca.Function("f", [x], [operation.symbol(*(x[k] for k in range(operation.count)))])
        met |= {f.instruction_id(k) for k in range(f.n_instructions())}
    known = {*emit._COMPARE, *emit._INTRINSIC, *emit._LIBRARY}
    names = {value: key for key, value in vars(ca).items() if key.startswith("OP_")}
    assert not {names[op] for op in known - met}


def test_an_operation_without_machine_code_says_so() -> None:
    with refused(InputError, "OP_ERF"):
        kernel_of(lambda x: ca.erf(x), (1,))


@given(st.lists(trees(3), min_size=1, max_size=4), st.integers(0, 1000))
def test_random_expressions(outputs: list[Any], seed: int) -> None:
    x = np.random.default_rng(seed).uniform(-1.5, 1.5, (2 * WIDTH + 3, 3))
    kernel = kernel_of(lambda c: ca.vertcat(*[tree.symbol(c) for tree in outputs]), (3,))
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = np.stack([tree.number(x) for tree in outputs], axis=1)
    (interpreted,) = kernel.interpreted(x)
    # A discontinuous operation of a rounded argument may jump; then the interpreter (rounding as NumPy) does not help.
    jumps = any(not OPERATIONS[part].smooth for tree in outputs for part in _operations(tree))
    got = kernel(x)
    agree = np.abs(got - wanted) <= 1e-11 * (1 + np.abs(wanted))
    if jumps:
        agree |= np.abs(interpreted - wanted) > 1e-11 * (1 + np.abs(wanted))
        assert agree.mean() > 0.95
    else:
        assert agree.all()


def _operations(tree: Any) -> Any:
    if tree.operation not in ("input", "constant"):
        yield tree.operation
        for part in tree.parts:
            yield from _operations(part)


def test_not_a_number_is_never_lost() -> None:
    """fmin and fmax of C drop NaN; a quality made of them must not."""
    kernel = kernel_of(lambda x: ca.vertcat(ca.fmin(x[0], x[1]), ca.fmax(x[0], x[1]), ca.fabs(x[0] * x[1])), (2,))
    got = kernel(np.array([[np.nan, 1.0], [1.0, np.nan], [2.0, 1.0]]))
    assert np.isnan(got[:2]).all()
    assert np.array_equal(got[2], [1.0, 2.0, 2.0])


def test_comparisons_with_not_a_number_are_those_of_c() -> None:
    compare = lambda x: ca.vertcat(x[0] < x[1], x[0] <= x[1], x[0] == x[1], x[0] != x[1], ca.logic_not(x[0]))  # noqa: E731
    kernel = kernel_of(compare, (2,))
    x = np.array([[np.nan, 1.0], [1.0, np.nan], [np.nan, np.nan], [1.0, 2.0]])
    wanted = np.stack(
        [x[:, 0] < x[:, 1], x[:, 0] <= x[:, 1], x[:, 0] == x[:, 1], x[:, 0] != x[:, 1], x[:, 0] == 0], axis=1
    )
    assert np.array_equal(kernel(x), wanted)


def test_structural_zeros_constants_and_repeated_outputs() -> None:
    def outputs(x: Any) -> Any:
        return ca.SX(2, 3), ca.vertcat(x[0], x[0], 5, x[1]), ca.SX.eye(2)

    zero, some, eye = kernel_of(outputs, (2,))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert np.array_equal(zero, np.zeros((2, 2, 3)))
    assert np.array_equal(some, [[1, 1, 5, 2], [3, 3, 5, 4]])
    assert np.array_equal(eye, [np.eye(2)] * 2)


# -- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_nothing_outside_the_arrays_is_touched(n: int) -> None:
    """Canaries before and after every array, inputs included, for batches around the vector's width."""
    kernel = kernel_of(spread, (2, 2), (3,))
    rng = np.random.default_rng(n)
    canary = -7.25e77

    def guarded(*shape: int) -> tuple[Any, Any]:
        size = int(np.prod(shape))
        whole = np.full(size + 64, canary)
        return whole, whole[32 : 32 + size].reshape(shape)

    (_, x), (_, y) = ends = guarded(n, 2, 2), guarded(n, 3)
    x[:], y[:] = rng.normal(size=x.shape), rng.normal(size=y.shape)
    before = x.copy(), y.copy()
    results = guarded(n, 9), guarded(n, 1)
    kernel(x, y, out=[view for _, view in results])
    for (_, view), want in zip(results, wanted_spread(x, y), strict=True):
        np.testing.assert_allclose(view, want, rtol=1e-15, atol=1e-15)
    for whole, _ in (*ends, *results):
        assert (whole[:32] == canary).all()
        assert (whole[-32:] == canary).all()
    assert np.array_equal(before[0], x)
    assert np.array_equal(before[1], y)


GUARD_PAGES = """
import ctypes, mmap, sys
import numpy as np
sys.path.insert(0, {tests!r})
from support.little_kernels import kernel_of, spread, wanted_spread
page, libc = mmap.PAGESIZE, ctypes.CDLL(None, use_errno=True)
def fenced(shape, at_end):
    # an array flush against a page that may not be read or written, after it or before it
    size = 8 * int(np.prod(shape))
    pages = -(-size // page)
    area = mmap.mmap(-1, (pages + 2) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    offset = page + (pages * page - size if at_end else 0)
    array = np.frombuffer(area, np.float64, size // 8, offset).reshape(shape)
    array[:] = np.random.default_rng(0).normal(size=shape)
    for fence in (start, start + (pages + 1) * page):
        assert libc.mprotect(ctypes.c_void_p(fence), page, 0) == 0
    return array
kernel = kernel_of(spread, (2, 2), (3,))
for at_end in (False, True):
    for n in {sizes}:
        x, y = fenced((n, 2, 2), at_end), fenced((n, 3), at_end)
        out = fenced((n, 9), at_end), fenced((n, 1), at_end)
        kernel(x, y, out=out)
        assert all(np.allclose(a, b, rtol=1e-15, atol=1e-15) for a, b in zip(out, wanted_spread(x, y)))
        kernel(fenced((1, 2, 2), at_end), y, out=out)
print("untouched")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs mprotect")
def test_nothing_outside_the_arrays_is_even_read() -> None:
    """Arrays between pages without access: a read or write beyond them would end the process."""
    script = GUARD_PAGES.format(tests=str(Path(__file__).parent.parent), sizes=SIZES)
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "untouched"


@pytest.mark.parametrize("n", SIZES)
def test_one_row_serves_all_states(n: int) -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(n, 2, 2)), rng.normal(size=(n, 3))
    for a, b in ((x[:1], y), (x, y[:1]), (x[:1], y[:1])):
        rows = max(len(a), len(b))
        full = np.repeat(a, rows // len(a), axis=0), np.repeat(b, rows // len(b), axis=0)
        for threads in (1, 2):
            got = kernel(a, b, threads=threads)
            assert all(np.array_equal(p, q) for p, q in zip(got, kernel(*full), strict=True))


@pytest.mark.parametrize("setting", ["0", "-2", "two", "1.5"])
def test_threads_of_the_environment_are_a_number(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for good in ("", "3"):
        monkeypatch.setenv("POLYPOD_THREADS", good)
        assert cores() == 3 if good else cores() >= 1
    monkeypatch.setenv("POLYPOD_THREADS", setting)
    with refused(InputError, f"POLYPOD_THREADS 1 {setting}"):
        cores()


def test_empty_batch() -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    nine, one = kernel(np.zeros((0, 2, 2)), np.zeros((1, 3)))
    assert nine.shape == (0, 9)
    assert one.shape == (0, 1)


def test_results_of_one_batch_do_not_depend_on_its_neighbours() -> None:
    """A NaN, an infinity or a huge number in one lane leaves the other lanes alone, to the bit."""
    kernel = kernel_of(spread, (2, 2), (3,))
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(17, 2, 2)), rng.normal(size=(17, 3))
    clean = kernel(x, y)
    y[3], y[8] = np.nan, np.inf
    others = np.delete(np.arange(17), [3, 8])
    assert all(np.array_equal(a[others], b[others]) for a, b in zip(kernel(x, y), clean, strict=True))


@pytest.mark.parametrize("robot", sample.mostly_long(sample.papers_robots(), SMALL))
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_kinematics"])
def test_a_state_alone_and_in_a_batch_have_the_same_answer_to_the_bit(
    name: str, robot: str, model_of: Callable[[str], pp.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on machines with vectors of 8, where a state or two are evaluated by narrower code: the compiler splits
    such vectors where the machine has none."""
    model = model_of(robot)
    monkeypatch.setattr(machine, "vector_width", lambda: 8)
    monkeypatch.setattr(machine, "narrow_width", lambda: 2)
    kernel = model.kernel(name)
    wide = Kernel(lambda: kernel.expression).at(kernel.values)
    arrays = inputs_of(wide, model)
    whole = wide(*arrays)
    for k, count in ((0, 1), (3, 1), (4, 2), (10, 1)):
        alone = wide(*(np.ascontiguousarray(a[k : k + count] if len(a) > 1 else a) for a in arrays))
        for one, many in zip(alone, whole, strict=True):
            assert np.array_equal(one, many[k : k + count], equal_nan=True)


BAD_CALLS: dict[str, tuple[Any, str]] = {
    "no arrays": (lambda k, x, y: k(), "2 x0 x1 0"),
    "too few arrays": (lambda k, x, y: k(x), "2 x0 x1 1"),
    "too many arrays": (lambda k, x, y: k(x, y, y), "2 x0 x1 3"),
    "exchanged": (lambda k, x, y: k(y, x), "x0 2 5 3"),
    "unequal rows": (lambda k, x, y: k(x[:3], y), "x1 3 1 5"),
    "no batch axis": (lambda k, x, y: k(x[0], y), "x0 2"),
    "a list": (lambda k, x, y: k(x.tolist(), y), "x0 C-contiguous float64"),
    "whole numbers": (lambda k, x, y: k(x.astype(int), y), "x0 int64 5 2"),
    "gaps": (lambda k, x, y: k(x, np.zeros((5, 6))[:, ::2]), "x1 float64 5 3"),
    "too few results": (lambda k, x, y: k(x, y, out=[np.empty((5, 9))]), "2 y0 y1 1"),
    "short results": (lambda k, x, y: k(x, y, out=[np.empty((4, 9)), np.empty((4, 1))]), "x0 4"),
    "unequal results": (lambda k, x, y: k(x, y, out=[np.empty((5, 9)), np.empty((4, 1))]), "y1 5 y0"),
    "no threads": (lambda k, x, y: k(x, y, threads=0), "threads 1 0"),
}


@pytest.mark.parametrize("fault", BAD_CALLS)
def test_wrong_arrays_are_refused_by_name(fault: str) -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    call, message = BAD_CALLS[fault]
    with refused(ValueError, message):
        call(kernel, np.zeros((5, 2, 2)), np.zeros((5, 3)))


@pytest.mark.parametrize("n", [1, 2, WIDTH + 1])
def test_columns_of_longer_rows_are_read_where_they_are(n: int) -> None:
    """What lies between them counts for nothing; other gaps, and results, are refused as before."""
    kernel = kernel_of(lambda x: 2 * x, (3,))
    table = np.full((n, 7), np.nan)
    table[:, 2:5] = np.arange(3.0 * n).reshape(n, 3)
    np.testing.assert_array_equal(kernel(table[:, 2:5]), 2 * table[:, 2:5])
    with refused(ValueError, "x0"):
        kernel(np.zeros((2, 6))[:, ::2])
    with refused(ValueError, "contiguous"):
        kernel(np.zeros((2, 3)), out=(np.zeros((2, 7))[:, 2:5],))


def test_arrays_that_may_not_be_written_can_be_read() -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    rng = np.random.default_rng(4)
    x, y = frozen(rng.normal(size=(5, 2, 2))), frozen(rng.normal(size=(5, 3)))
    for got, want in zip(kernel(x, y), wanted_spread(x, y), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-15)


# -- bound calls -----------------------------------------------------------------------------------------------------


def test_bound_call_reads_and_writes_its_arrays() -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    x, y, nine, one = np.zeros((5, 2, 2)), np.zeros((1, 3)), np.zeros((5, 9)), np.zeros((5, 1))
    bound = kernel.bind(x, y, out=(nine, one))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x[:], y[:] = rng.normal(size=x.shape), rng.normal(size=y.shape)
        bound()
        assert np.array_equal(nine, kernel(x, y)[0])
        assert np.array_equal(one, kernel(x, y)[1])


BAD_ARRAYS: dict[str, tuple[Any, str]] = {
    "wrong shape": (lambda x, y, nine, one: (x.reshape(5, 4), y, nine, one), "5 4"),
    "single precision": (lambda x, y, nine, one: (x.astype(np.float32), y, nine, one), "float64"),
    "not contiguous": (lambda x, y, nine, one: (x, np.zeros((5, 6))[:, ::2], nine, one), "C-contiguous"),
    "too few rows in an input": (lambda x, y, nine, one: (x[:3], y, nine, one), "5 3"),
    "too few rows in an output": (lambda x, y, nine, one: (x, y, nine, one[:2]), "5 2"),
    "too few arrays": (lambda x, y, nine, one: (x, y, nine), "2 1"),
    "read-only output": (lambda x, y, nine, one: (x, y, nine, np.broadcast_to(np.zeros(1), (5, 1))), "C-contiguous"),
    "frozen output": (lambda x, y, nine, one: (x, y, nine, frozen(one)), "read-only"),
}


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("fault", BAD_ARRAYS)
def test_bound_refuses_wrong_arrays(fault: str) -> None:
    kernel = kernel_of(spread, (2, 2), (3,))
    arrays = np.zeros((5, 2, 2)), np.zeros((5, 3)), np.zeros((5, 9)), np.zeros((5, 1))
    kernel.bind(*arrays[:2], out=arrays[2:])
    change, message = BAD_ARRAYS[fault]
    bad = change(*arrays)
    with refused(ValueError, message):
        kernel.bind(*bad[:2], out=bad[2:])


def test_a_bound_call_keeps_its_code() -> None:
    x, y, nine, one = np.ones((5, 2, 2)), np.ones((1, 3)), np.zeros((5, 9)), np.zeros((5, 1))
    bound = kernel_of(spread, (2, 2), (3,)).bind(x, y, out=(nine, one))
    gc.collect()
    bound()
    np.testing.assert_allclose(nine, wanted_spread(x, np.ones((5, 3)))[0], rtol=1e-15)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_machine_code_is_freed_with_its_kernel() -> None:
    """Three hundred kernels, one after the other: the process has no more mappings than after the first hundred."""

    def mappings() -> int:
        gc.collect()
        return len(Path("/proc/self/maps").read_text().splitlines())

    def make(count: int) -> None:
        for k in range(count):
            kernel = kernel_of(lambda x, k=k: x + float(k), (1,))
            assert kernel(np.zeros((3, 1)))[1, 0] == k

    make(100)
    before = mappings()
    make(200)
    assert mappings() < before + 20
    kept = [kernel_of(lambda x, k=k: x - float(k), (1,)) for k in range(50)]
    assert [kernel(np.zeros((3, 1)))[1, 0] for kernel in kept] == [-k for k in range(50)]
    assert mappings() > before + 50  # what is counted does grow with kernels that live
    del kept
    assert mappings() < before + 20


# -- iterations ------------------------------------------------------------------------------------------------------


def root_finder(steps: int) -> Kernel:
    """Newton's square root of a from 1, each lane for itself; stops when exact to 1e-14 or after some steps."""
    a, state = ca.SX.sym("a", 1), ca.SX.sym("state", 3)
    guess, count = state[0], state[1]
    better = (guess + a / guess) / 2
    done = ca.logic_or(ca.fabs(better * better - a) <= 1e-14 * a, count + 1 >= steps)
    step = ca.vertcat(better, count + 1, done)
    outputs = (port("root", guess, ()), port("steps", count, ()))
    return Kernel(lambda: Iteration("root", (Port("a", a, ()),), outputs, state, ca.vertcat(1, 0, 0), step))


@pytest.mark.parametrize("n", SIZES)
def test_iteration_stops_lane_by_lane(n: int) -> None:
    a = np.geomspace(1e-6, 1e6, n) if n > 1 else np.array([2.0])
    kernel = root_finder(100)
    root, steps = kernel(a)
    np.testing.assert_allclose(root, np.sqrt(a), rtol=1e-14)
    alone = [kernel(a[k : k + 1]) for k in range(n)]
    assert np.array_equal(root, [float(r[0]) for r, _ in alone])
    assert np.array_equal(steps, [float(s[0]) for _, s in alone])
    interpreted = kernel.interpreted(a)
    np.testing.assert_allclose(root, interpreted[0], rtol=1e-15)
    assert np.array_equal(steps, interpreted[1])


def test_iteration_stops_at_its_last_step() -> None:
    root, steps = root_finder(4)(np.array([1.0, 1e6, np.nan, -1.0, 2.0]))
    assert np.array_equal(steps, [1, 4, 4, 4, 4])
    assert root[0] == 1.0
    assert np.isnan(root[2])


def test_iteration_does_not_wait_for_what_is_not_a_number() -> None:
    a, state = ca.SX.sym("a", 1), ca.SX.sym("state", 2)
    step = ca.vertcat(state[0] + 1, a)
    iteration = Iteration("count", (Port("a", a, ()),), (port("steps", state[0], ()),), state, ca.vertcat(0, 0), step)
    assert np.array_equal(Kernel(lambda: iteration)(np.array([np.nan, 1.0, -3.0])), [1, 1, 1])


def test_forward_kinematics_stops_at_its_last_step(model: pp.Model) -> None:
    """Coordinates that no pose has, and ones that are not numbers, next to good ones."""
    s = sample.easy(model, 9)
    q = model.inverse_kinematics(s.pose)
    q[2], q[5] = 40.0 * np.arange(len(model.legs)), np.nan
    kernel = model.kernel("forward_kinematics")
    pose, residual, steps, _ = kernel(q, s.pose)
    assert (steps <= 50).all()
    assert not residual[2] < 1e-6
    assert np.isnan(residual[5])
    good = [0, 1, 3, 4, 6, 7, 8]
    assert (residual[good] < 1e-12).all()
    assert_close(pose[good], s.pose[good], 1e-12)
