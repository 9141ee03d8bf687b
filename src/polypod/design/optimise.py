"""The best design of a study: one quantity by differential evolution and a gradient, several by NSGA-II or III."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..errors import InputError, MissingPackageError
from ..parameters.design import with_numbers
from .evaluate import REASONS, Evaluator
from .prepared import prepare
from .quantities import QUANTITIES
from .sensitivity import COUNTED, gradients
from .study import MOST_DESIGNS, Study

Progress = Callable[[int, int, str], None]
"""Called with the generation, how many there are, and how the best one stands."""
_BAD = 1e30
"""Stands for a quantity of a design without an answer."""


class Optimum(NamedTuple):
    """Best designs: values (k, v) of the varied numbers, and quantities (k,) by name, the best of the first first.

    One design for one quantity; for several those of which none is better in all of them.
    """

    evaluator: Evaluator
    values: Array
    quantities: dict[str, Array]
    evaluations: int

    def robot(self, k: int, name: str | None = None) -> Robot:
        """A best design as a robot."""
        numbers = self.evaluator.parameters(self.values[k : k + 1])
        own = self.evaluator.model.robot
        return with_numbers(own, {path: value[0] for path, value in numbers.items()}, name or own.name)

    def point_name(self, k: int) -> str:
        """What a best design is called."""
        name = self.evaluator.study.name
        return f"{name}-{k + 1}" if len(self.values) > 1 else name


class _Problem:
    """Objectives and constraints of many designs at once; the last answer is kept, since both are asked for."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.goals = goals(evaluator)
        self.names = tuple(one.name for one in self.goals)
        self.low, self.high = (np.array([pick(values) for values in evaluator.bounds]) for pick in (min, max))
        self.count = 0
        self.violations = dict.fromkeys((*REASONS[1:], *map(evaluator.label, evaluator.limits)), 0)
        self._asked: Array | None = None
        self._answer: tuple[Array, Array] = (np.empty(0), np.empty(0))

    def quantities(self, designs: Array) -> dict[str, Array]:
        """Quantities (D,) by name of the worst motion; NaN without an answer."""
        results = self.evaluator.evaluate(self.evaluator.designs(designs))
        lost = results.reason.max(axis=1, initial=0)
        for k in range(1, len(REASONS)):
            self.violations[REASONS[k]] += int((lost == k).sum())
        return {name: self.evaluator.quantity(name).worst(value, axis=1) for name, value in results.values.items()}

    def __call__(self, designs: Array) -> tuple[Array, Array]:
        """Objectives (D, m), to be small, and constraints (D, c), to be at most 0, of values (D, v)."""
        if not len(designs):  # a generation of which none keeps the limits is asked for all the same
            return np.empty((0, len(self.names))), np.empty((0, 1 + len(self.evaluator.limits)))
        if self._asked is None or not np.array_equal(self._asked, designs):
            found = self.quantities(designs)
            self.count += len(designs)
            objectives = np.stack([one.objective(found[one.name]) for one in self.goals], axis=1)
            limits = self.evaluator.limits
            shares = [self.evaluator.share(name, found[name]) - 1.0 for name in limits]
            for name, part in zip(limits, shares, strict=True):
                self.violations[self.evaluator.label(name)] += int((part > 0).sum())
            answer = np.isnan(objectives).any(axis=1) * 1.0
            constraints = np.stack([answer, *(np.nan_to_num(part, nan=1.0) for part in shares)], axis=1)
            self._asked = designs.copy()
            self._answer = np.nan_to_num(objectives, nan=_BAD), constraints
        return self._answer

    def nothing(self) -> InputError:
        """No design keeps the limits: which of them how many broke."""
        broken = ", ".join(f"{name} {n}" for name, n in sorted(self.violations.items(), key=lambda p: -p[1]) if n)
        return InputError(
            f"limits: none of {self.count} designs satisfies all limits; violated: {broken}. Relax them, or widen "
            "the ranges"
        )


class Goal(NamedTuple):
    """What is sought of a quantity: small (``sign`` 1), large (-1), or near a ``target``."""

    name: str
    sign: float
    target: float | None = None

    def objective(self, value: Array) -> Array:
        """What is to be small."""
        return self.sign * value if self.target is None else np.abs(value - self.target)

    def derivative(self, value: float) -> float:
        """Its derivative by the value."""
        return self.sign if self.target is None else float(np.sign(value - self.target))

    @property
    def better(self) -> str:
        """Which values are better, in words."""
        return "larger" if self.sign < 0 else "smaller" if self.target is None else "nearer to its target"


def goals(evaluator: Evaluator) -> tuple[Goal, ...]:
    """The goals of a study in their order: minimise, maximise, target."""
    study = evaluator.study
    near = [Goal(name, 1.0, value) for name, value in evaluator.targets.items()]
    return (*(Goal(n, 1.0) for n in study.minimise), *(Goal(n, -1.0) for n in study.maximise), *near)


def optimise(
    study: Study | str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    generations: int = 40,
    population: int | None = None,
    seed: int = 0,
    polish: bool = True,
    progress: Progress | None = None,
) -> Optimum:
    """The design that minimises the study's quantity within its limits, or the best compromises between several.

    One quantity: differential evolution, a whole generation in one call, then (``polish``) sequential quadratic
    programming with the derivatives of ``polypod.design.sensitivity.gradients``. Two: NSGA-II, more: NSGA-III, by
    pymoo. The same ``seed`` gives the same answer. ``settings`` are other values of the robot's numbers, by path.
    """
    if generations < 1 or (population is not None and population < 8):
        raise InputError(f"generations, population: must be at least 1 and 8, got {generations}, {population}")
    if population is not None and population > MOST_DESIGNS:
        raise InputError(f"population: the limit is {MOST_DESIGNS} designs, got {population}")
    prepared, evaluator = prepare(study, settings)
    read = prepared.study
    wanted = goals(evaluator)
    if not wanted:
        raise InputError(
            f"minimise: missing: name one or more of {', '.join(QUANTITIES)}; 'maximise' and 'target' are possible too"
        )
    listed = [varied.name or varied.parameters for varied in read.vary if varied.values is not None]
    if listed:
        raise InputError(
            f"vary: an optimisation takes ranges, and {', '.join(map(str, listed))} has a list of values, which is for "
            "sweeps; give it a range, or leave it out and set it in settings="
        )
    problem = _Problem(evaluator)
    if len(wanted) == 1:
        values = _one(problem, generations, population or max(32, 8 * len(read.vary)), seed, polish, progress)
    else:
        values = _several(problem, generations, population or 64, seed, progress)
    found = problem.quantities(values)
    order = np.argsort(wanted[0].objective(found[wanted[0].name]), kind="stable")
    return Optimum(evaluator, values[order], {name: value[order] for name, value in found.items()}, problem.count)


def _one(
    problem: _Problem, generations: int, population: int, seed: int, polish: bool, progress: Progress | None
) -> Array:
    from scipy.optimize import NonlinearConstraint, differential_evolution  # type: ignore[import-untyped, unused-ignore]
    from scipy.stats import qmc  # type: ignore[import-untyped, unused-ignore]

    count = len(problem.low)
    shares = qmc.LatinHypercube(count, rng=np.random.default_rng(seed)).random(population)
    start = problem.low + shares * (problem.high - problem.low)
    step = 0

    def report(intermediate_result: object) -> None:
        nonlocal step
        step += 1
        if progress is not None:
            best = problem.goals[0].sign * float(getattr(intermediate_result, "fun", np.nan))
            progress(step, generations, f"{problem.names[0]} {best:.5g}")

    found = differential_evolution(
        lambda x: problem(np.atleast_2d(x.T))[0][:, 0] if x.ndim == 2 else problem(x[None])[0][0, 0],
        list(zip(problem.low, problem.high, strict=True)), init=start, maxiter=generations, vectorized=True,
        updating="deferred", polish=False, rng=np.random.default_rng(seed), tol=1e-8, callback=report,
        constraints=NonlinearConstraint(
            lambda x: problem(np.atleast_2d(x.T))[1].T if x.ndim == 2 else problem(x[None])[1][0], -np.inf, 0.0
        ),
    )  # fmt: skip
    objective, constraints = problem(found.x[None])
    if constraints.max() > 0:
        raise problem.nothing()
    smooth = COUNTED.isdisjoint({problem.names[0], *problem.evaluator.limits})
    return (_polished(problem, found.x, float(objective[0, 0])) if polish and smooth else found.x)[None]


def _polished(problem: _Problem, start: Array, reached: float) -> Array:
    """A few steps down the gradient within the limits; the start if they lead to nothing better."""
    from scipy.optimize import minimize

    evaluator, span = problem.evaluator, problem.high - problem.low
    goal, limits = problem.goals[0], evaluator.limits
    scale = abs(reached) or 1.0
    known: dict[bytes, dict[str, Array]] = {}

    def at(z: Array) -> Array:
        return problem.low + np.clip(z, 0.0, 1.0) * span

    def derivatives(z: Array) -> dict[str, Array]:
        if z.tobytes() not in known:
            known[z.tobytes()] = gradients(evaluator, at(z), limits=True)
        return known[z.tobytes()]

    def limit_derivatives(z: Array) -> Array:
        found, values = derivatives(z), problem.quantities(at(z)[None])
        rows = []
        for limited, limit in limits.items():
            least = limited in QUANTITIES and QUANTITIES[limited].more_is_better
            factor = -limit / values[limited][0] ** 2 if least else 1.0 / limit
            rows.append(-factor * found[limited] * span)
        return np.array(rows)

    def _slope(z: Array) -> float:
        return (
            goal.sign if goal.target is None else goal.derivative(float(problem.quantities(at(z)[None])[goal.name][0]))
        )

    constraint = {"type": "ineq", "fun": lambda z: -problem(at(z)[None])[1][0, 1:], "jac": limit_derivatives}
    found = minimize(
        lambda z: problem(at(z)[None])[0][0, 0] / scale, (start - problem.low) / span,
        jac=lambda z: _slope(z) * derivatives(z)[goal.name] * span / scale, method="SLSQP",
        bounds=[(0.0, 1.0)] * len(span), constraints=[constraint] if limits else [],
        options={"maxiter": 12, "ftol": 1e-9},
    )  # fmt: skip
    objective, constraints = problem(at(found.x)[None])
    better = objective[0, 0] < reached and constraints.max() <= 0
    return at(found.x) if better else start


def _several(problem: _Problem, generations: int, population: int, seed: int, progress: Progress | None) -> Array:
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pymoo.algorithms.moo.nsga3 import NSGA3  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pymoo.core.callback import Callback  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pymoo.core.problem import Problem  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pymoo.optimize import minimize  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pymoo.util.ref_dirs import get_reference_directions  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        raise MissingPackageError("optimising several quantities", "pymoo", "optimise") from error

    class Designs(Problem):  # type: ignore[misc]
        def __init__(self) -> None:
            constraints = 1 + len(problem.evaluator.limits)
            super().__init__(len(problem.low), len(problem.names), constraints, xl=problem.low, xu=problem.high)

        def _evaluate(self, x: Array, out: dict[str, Array], *args: object, **kwargs: object) -> None:
            out["F"], out["G"] = problem(x)

    class Report(Callback):  # type: ignore[misc]
        def notify(self, algorithm: object) -> None:
            if progress is not None:
                front = len(getattr(algorithm, "opt", ()))
                progress(getattr(algorithm, "n_gen", 0), generations, f"{front} best compromises")

    if len(problem.names) == 2:
        algorithm = NSGA2(pop_size=population)
    else:
        directions = get_reference_directions("energy", len(problem.names), population, seed=seed + 1)
        algorithm = NSGA3(directions, pop_size=population)
    found = minimize(Designs(), algorithm, ("n_gen", generations), seed=seed, callback=Report(), verbose=False)
    if found.X is None:
        raise problem.nothing()
    return np.atleast_2d(found.X)
