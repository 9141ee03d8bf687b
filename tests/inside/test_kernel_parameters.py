"""Kernels with parameters: one code for all designs, what depends on parameters alone prepared once a design."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import polypod as pp
from polypod.kernels import Call, Expression, Iteration, Kernel, Port, port
from support import states as sample
from support.compare import assert_close
from support.little_kernels import SIZES, WIDTH
from support.refusals import refused

pytestmark = pytest.mark.usefixtures("as_shipped")

COUNT = 5
# Products and sums are fused in machine code only, and a division by a parameter becomes a product.
ROUNDING = 4e-15


def pendulum() -> Expression:
    """Two outputs of all kinds: of inputs and parameters, of parameters alone, of inputs alone, and constants."""
    x, y, p = ca.SX.sym("x", 4), ca.SX.sym("y", 1), ca.SX.sym("p", COUNT)
    mass, length, angle = p[0] + p[1], p[2], p[3] / 2
    nine = ca.vertcat(
        mass * x[0] / length + ca.cos(angle), x[1] * y, ca.sqrt(p[0] * mass), 5, p[4], x[2], x[3] / length, 0, mass - 1
    )
    inputs = Port("x", x, (2, 2)), Port("y", y, ())
    return Expression("pendulum", inputs, (port("nine", nine), port("one", mass * y, ())), Port("p", p, (COUNT,)))


def root() -> Iteration:
    """Newton's square root of sum(a) p0 + cos(p1), with work in each round that depends on inputs and p alone."""
    a, p, state = ca.SX.sym("a", 2), ca.SX.sym("p", 2), ca.SX.sym("state", 3)
    guess, count = state[0], state[1]
    target = ca.sqrt(ca.dot(a, a)) * p[0] + ca.cos(p[1])
    better = (guess + target / guess) / 2
    done = ca.logic_or(ca.fabs(better * better - target) <= 1e-14 * target, count + 1 >= 60)
    outputs = port("root", guess, ()), port("rest", ca.vertcat(guess * guess - target, p[1])), port("steps", count, ())
    step = ca.vertcat(better, count + 1, done)
    return Iteration("root", (Port("a", a, (2,)),), outputs, state, ca.vertcat(p[0], 0, 0), step, Port("p", p, (2,)))


EXPRESSIONS: dict[str, Any] = {"expression": pendulum, "iteration": root}


def numbers(kernel: Kernel, states: int, designs: int) -> tuple[list[Any], Any]:
    """States and designs, positive numbers of size one."""
    assert kernel.parameters is not None
    rng = np.random.default_rng(states)
    arrays = [rng.uniform(0.5, 2.0, (states, *s.shape)) for s in kernel.inputs]
    return arrays, rng.uniform(0.5, 2.0, (designs, *kernel.parameters.shape))


def assert_equal(got: Any, wanted: Any, tolerance: float = 0.0) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        if tolerance == 0.0:
            assert np.array_equal(one, other)
        else:
            assert_close(one, other, tolerance, np.maximum(1.0, np.abs(other).max(initial=0.0)))


@pytest.mark.parametrize("kind", EXPRESSIONS)
@pytest.mark.parametrize("n", SIZES)
def test_compiled_equals_interpreted(kind: str, n: int) -> None:
    kernel = Kernel(EXPRESSIONS[kind])
    arrays, designs = numbers(kernel, n, 3)
    for design in designs:
        fixed = kernel.at(design)
        assert_equal(fixed(*arrays), fixed.interpreted(*arrays), ROUNDING)
    assert_equal(kernel.at(designs)(*arrays), kernel.at(designs).interpreted(*arrays), ROUNDING)
    own = np.resize(designs, (n, *designs.shape[1:]))
    assert_equal(kernel.at(own, rows=True)(*arrays), kernel.at(own, rows=True).interpreted(*arrays), ROUNDING)


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_fixed_expression_is_the_kernel_at_its_numbers(kind: str) -> None:
    """Numbers as constants of the graph: another graph, the same function."""
    kernel = Kernel(EXPRESSIONS[kind])
    arrays, (design,) = numbers(kernel, 2 * WIDTH + 3, 1)
    fixed = EXPRESSIONS[kind]().fixed(design)
    assert fixed.parameters is None
    assert_equal(kernel.at(design)(*arrays), Kernel(lambda: fixed)(*arrays), ROUNDING)


@pytest.mark.parametrize("kind", EXPRESSIONS)
@pytest.mark.parametrize("n", SIZES)
def test_many_designs_equal_each_alone(kind: str, n: int) -> None:
    """To the bit, with any number of threads, inputs shared by designs or their own, one row or all."""
    kernel = Kernel(EXPRESSIONS[kind])
    arrays, designs = numbers(kernel, n, 7)
    alone = [kernel.at(design)(*arrays) for design in designs]
    wanted = [np.stack(parts) for parts in zip(*alone, strict=True)]
    own = [np.stack([a] * 7) for a in arrays]
    for threads in (None, 1, 2, 3, 8):
        assert_equal(kernel.at(designs)(*arrays, threads=threads), wanted)
        assert_equal(kernel.at(designs)(*own, threads=threads), wanted)
        assert_equal(kernel.at(designs)(own[0], *arrays[1:], threads=threads), wanted)
        # fewer designs than threads: states are divided
        assert_equal(kernel.at(designs[:2])(*arrays, threads=threads), [w[:2] for w in wanted])
    one = np.ascontiguousarray(own[0][:, :1])
    repeated = kernel.at(designs)(np.repeat(one, n, axis=1), *own[1:])
    out = [np.empty_like(part) for part in repeated]
    kernel.at(designs)(one, *own[1:], out=out)
    assert_equal(out, repeated)


@pytest.mark.parametrize("kind", EXPRESSIONS)
@pytest.mark.parametrize("n", SIZES)
def test_a_design_in_each_row(kind: str, n: int) -> None:
    kernel = Kernel(EXPRESSIONS[kind])
    arrays, designs = numbers(kernel, n, n)
    wanted = [
        np.concatenate(parts)
        for parts in zip(*(kernel.at(d)(*(a[k : k + 1] for a in arrays)) for k, d in enumerate(designs)), strict=True)
    ]
    for threads in (1, 2):
        assert_equal(kernel.at(designs, rows=True)(*arrays, threads=threads), wanted, ROUNDING)
    alone = kernel.at(designs[:1], rows=True)
    assert_equal(alone(*arrays), alone.interpreted(*arrays), ROUNDING)
    # one state for all designs
    first = [np.ascontiguousarray(a[:1]) for a in arrays]
    many = kernel.at(designs)(*first)
    assert_equal(kernel.at(designs, rows=True)(*first), [m[:, 0] for m in many], ROUNDING)


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_empty_batches(kind: str) -> None:
    kernel = Kernel(EXPRESSIONS[kind])
    arrays, designs = numbers(kernel, 3, 2)
    none = [a[:0] for a in arrays]
    for result, signature in zip(kernel.at(designs)(*none), kernel.outputs, strict=True):
        assert result.shape == (2, 0, *signature.shape)
    for result, signature in zip(kernel.at(designs[:0])(*arrays), kernel.outputs, strict=True):
        assert result.shape == (0, 3, *signature.shape)
    for result, signature in zip(kernel.at(designs[:0], rows=True)(*none), kernel.outputs, strict=True):
        assert result.shape == (0, *signature.shape)


def test_bound_calls_and_single_calls() -> None:
    kernel = Kernel(pendulum)
    (x, y), designs = numbers(kernel, 1, 4)
    fixed = kernel.at(designs[0])
    nine, one = np.empty((1, 9)), np.empty(1)
    fixed.bind(x, y, out=(nine, one))()
    assert_equal((nine, one), fixed(x, y))
    assert_equal(Call(fixed)(x[0], y[0]), (nine[0], one))
    nine, one = np.empty((4, 1, 9)), np.empty((4, 1))
    kernel.at(designs).bind(x, y, out=(nine, one))()
    assert_equal((nine, one), kernel.at(designs)(x, y))


def test_a_design_is_a_copy_of_its_numbers() -> None:
    kernel = Kernel(pendulum)
    arrays, (design,) = numbers(kernel, 3, 1)
    fixed = kernel.at(design)
    before = fixed(*arrays)
    design[:] = 77.0
    assert_equal(fixed(*arrays), before)
    assert_equal(fixed.interpreted(*arrays), before, ROUNDING)


def test_what_depends_on_parameters_alone_is_not_computed_for_states() -> None:
    """pendulum: x0 (m/l) + cos, x1 y, x3 (1/l) and y m are left, and no division."""
    program = pendulum().program
    assert program.prepare is not None
    assert program.body.count == 5
    assert not {step.op for step in program.body.operations} & {ca.OP_DIV, ca.OP_INV, ca.OP_SQRT, ca.OP_COS}
    # m/l, cos, sqrt, p4, 1/l, m - 1, m
    assert program.body.inputs[-1] == len(program.prepare.outputs[0]) == 7


def test_numbers_are_gathered_only_where_nothing_else_uses_the_value_between() -> None:
    """x p0 p1 takes one product with p0 p1; x p0 is kept where it is wanted itself, as is a sum after a product."""
    x, p = ca.SX.sym("x", 1), ca.SX.sym("p", 3)

    def count(*values: Any) -> int:
        outputs = tuple(port(f"y{k}", v, ()) for k, v in enumerate(values))
        return Expression("gathered", (Port("x", x, ()),), outputs, Port("p", p, (3,))).program.body.count

    assert count(x * p[0] * p[1]) == 1
    assert count(p[2] * (p[1] * (p[0] * x))) == 1
    assert count(x * p[0] / p[1]) == 1
    assert count(((x + p[0]) + p[1]) + p[2]) == 1
    assert count(x * p[0] * p[1], x * p[0]) == 2
    assert count((x * p[0] + p[1]) * p[2]) == 3


def test_rounds_do_not_repeat_what_stays_the_same() -> None:
    """root: of the 2-norm, the cosine and the bound 1e-14 target nothing is left in a round."""
    program = root().program
    assert program.loop is not None
    assert not {step.op for step in program.loop.step.operations} & {ca.OP_SQRT, ca.OP_COS}
    # target/guess, +, /2; count + 1; better^2, -, | |, <=; >=, or
    assert program.loop.step.count == 10
    assert program.loop.start.count == 0


def log(kernel: Kernel, x: Any, y: Any) -> Any:
    return kernel.along(x[None], y, carry=("y", "one"))


BAD_CALLS: dict[str, tuple[Any, str]] = {
    "without a design": (lambda k, d, x, y: k(x, y), 'pendulum 5 kernel.at'),
    "too few numbers": (lambda k, d, x, y: k.at(d[0, :4]), 'p (5,) (4,)'),
    "one design for rows": (lambda k, d, x, y: k.at(d[0], rows=True), 'p 5'),
    "three axes": (lambda k, d, x, y: k.at(d[None]), 'p'),
    "designs and rows differ": (lambda k, d, x, y: k.at(d, rows=True)(x, y), 'p 4'),
    "another number of designs": (lambda k, d, x, y: k.at(d)(np.stack([x, x]), y), 'x 2 3'),
    "designs where there are none": (lambda k, d, x, y: k.at(d[0])(np.stack([x] * 2), y), 'x 2'),
    "results without designs": (
        lambda k, d, x, y: k.at(d)(x, y, out=(np.empty((4, 9)), np.empty(4))), 'nine 3 9',
    ),
    "a log without a design": (lambda k, d, x, y: log(k, x, y), 'pendulum 5'),
    "a log of designs": (lambda k, d, x, y: log(k.at(d), x, y), '3 5'),
    "a log of a design a row": (lambda k, d, x, y: log(k.at(d[:1], rows=True), x, y), 'design'),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_CALLS)
def test_wrong_calls_say_what_is_needed(fault: str) -> None:
    kernel = Kernel(pendulum)
    (x, y), designs = numbers(kernel, 4, 3)
    call, message = BAD_CALLS[fault]
    with refused(ValueError, message):
        call(kernel, designs, x, y)


def test_a_kernel_without_parameters_says_so() -> None:
    kernel = Kernel(lambda: pendulum().fixed(np.ones(COUNT)))
    assert kernel.parameters is None
    with refused(ValueError, "parameters"):
        kernel.at(np.ones(COUNT))


def test_constants_of_a_robot_as_parameters() -> None:
    """The inverse dynamics of a robot with every constant of its graph an input: the same forces."""
    model = pp.Model("kim-ryu", specialise=True)
    whole = model.kernel("inverse_dynamics", friction=False).expression
    assert isinstance(whole, Expression)
    constants = sorted({s.constant for s in whole.graph.operations if s.op == ca.OP_CONST} - {0.0, 1.0, 2.0})
    p = ca.SX.sym("p", len(constants))
    outputs = _with_symbols(whole, dict(zip(constants, ca.vertsplit(p), strict=True)))
    kernel = Kernel(lambda: Expression("of_numbers", whole.inputs, outputs, Port("p", p, (len(constants),))))
    s = sample.easy(model, 2 * WIDTH + 1)
    arrays = [s.pose, s.twist, s.acceleration, np.zeros((1, 6))]
    wanted = Kernel(lambda: whole)(*arrays)
    for got, want in zip(kernel.at(constants)(*arrays), wanted, strict=True):
        assert_close(got, want, 1e-13)
    many = kernel.at(np.stack([constants, 2.0 * np.array(constants)]))(*arrays)
    assert_close(many[0][0], wanted[0], 1e-13)
    assert not np.allclose(many[0][1], wanted[0], rtol=1e-12, atol=0)


def _with_symbols(whole: Expression, symbols: dict[float, Any]) -> tuple[Port, ...]:
    """An expression's outputs with symbols for some of its constants, by replaying its function."""
    f = whole.function
    work: dict[int, Any] = {}
    outputs = [[ca.SX(0)] * f.numel_out(k) for k in range(f.n_out())]
    inputs = [p.symbols for p in whole.inputs]
    for k in range(f.n_instructions()):
        op, out, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_INPUT:
            work[out[0]] = inputs[given[0]][given[1]]
        elif op == ca.OP_CONST:
            value = f.instruction_constant(k)
            work[out[0]] = symbols.get(value, ca.SX(value))
        elif op == ca.OP_OUTPUT:
            outputs[out[0]][out[1]] = work[given[0]]
        elif len(given) == 1:
            work[out[0]] = ca.SX.unary(op, work[given[0]])
        else:
            work[out[0]] = ca.SX.binary(op, work[given[0]], work[given[1]])
    return tuple(Port(p.name, ca.vertcat(*row), p.shape) for p, row in zip(whole.outputs, outputs, strict=True))


@pytest.mark.parametrize("optimise", ["0", "1"])
def test_parameters_that_are_outputs_as_they_are(optimise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ended the process ("Node is not in map") where four of them were turned into rows unoptimised."""
    monkeypatch.setenv("POLYPOD_OPTIMISE", optimise)
    x, p = ca.SX.sym("x", 1), ca.SX.sym("p", 9)
    outputs = port("y", ca.vertcat(p, x)), port("z", ca.vertcat(p[0], x, p[1]))
    kernel = Kernel(lambda: Expression("kept", (Port("x", x, ()),), outputs, Port("p", p, (9,))))
    numbers, given = np.arange(1.0, 10.0), np.array([-1.0, -2.0, -3.0])
    for n in (1, 3):
        y, z = kernel.at(numbers)(given[:n])
        assert np.array_equal(y, np.column_stack([np.tile(numbers, (n, 1)), given[:n]]))
        assert np.array_equal(z, np.column_stack([np.full(n, 1.0), given[:n], np.full(n, 2.0)]))
    y, _ = kernel.at(np.outer(given, numbers), rows=True)(given)
    assert np.array_equal(y, np.column_stack([np.outer(given, numbers), given]))
