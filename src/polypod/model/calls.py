"""How a model's functions are called: arguments checked, kernels run, states without an answer reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import Reason
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.verdict import BAD_INPUT
from ..platforms import DegreesOfFreedom
from .argument_checks import BatchResult
from .arguments import Batch, batch
from .coupling import FEW_CELLS, LARGEST_LOAD, FrictionStatus, motion_solutions
from .design_calls import DesignCalls
from .design_rows import Failures, as_tuple, failure_reason
from .diagnosis import Errors, check_policy, reasons, report
from .kernels import Kernels
from .single import SingleStates, given_values

Answer = Callable[[list[Array]], Any]
_HUGE = Reason("input values overflow", "overflow")
_OVERFLOWS = Reason("the result overflows", "overflow")
_NOT_CONVERGED = "the friction iteration did not converge: "
_TOO_STRONG = Reason(_NOT_CONVERGED + "friction coefficients too large for this pose", "friction")


def first(results: list[Array]) -> Array:
    """The first of a function's results."""
    return results[0]


class Calls(DesignCalls):
    """Checked calls into the compiled functions of one robot; ``size`` is its platform's [m]."""

    def __init__(self, kernels: Kernels, dof: DegreesOfFreedom, size: float) -> None:
        super().__init__(kernels, dof, size)
        self._singles = SingleStates()

    def single(
        self, values: tuple[Any, ...], name: str, friction: Any = False, formulation: str = "virtual-power"
    ) -> Any:
        """The first result of a function of one state or a few, without bookkeeping; None if ``call`` must look.

        ``values`` are its first inputs. That is always so for a flexible robot: its inputs stand in another order.
        """
        key = name, friction, formulation, len(values)
        evaluate = self._singles.first.get(key)
        if evaluate is None:
            evaluate = _never
            if not self._kernels.mechanism.platform.elastic:
                kernel = self._kernels.get(name, friction, formulation, verdict=True)
                evaluate = self._singles.get(kernel, len(values)).first
            self._singles.first[key] = evaluate
        return evaluate(*values)

    def call(
        self,
        name: str,
        given: Mapping[str, Any],
        errors: Errors | None,
        answer: Answer = first,
        parameters: Mapping[str, ArrayLike] | None = None,
        **options: Any,
    ) -> Any:
        """A function with the quality of each state, and whether its iteration converged, among its outputs.

        ``answer`` makes what the caller gets of the other outputs.
        """
        check_policy(errors)
        if parameters is not None:
            return self.answered_designs(name, self.of_designs(name, given, parameters, options), errors, answer)
        kernel = self._kernels.get(name, **options, verdict=True)
        return self.call_kernel(name, kernel, given, errors, answer)

    def answered_designs(
        self, name: str, found: tuple[BatchResult, Failures], errors: Errors | None, answer: Answer
    ) -> Any:
        """What ``of_designs`` gave, with NaN in states without an answer, which are reported."""
        run, failures = found
        if failures or run.outputs["verdict"].any():
            del run.outputs["verdict"]  # it is on robots that can be; designs are looked at one by one
        return self._finalise(name, found, errors, answer)

    def call_kernel(
        self, name: str, kernel: Kernel, given: Mapping[str, Any], errors: Errors | None, answer: Answer = first
    ) -> Any:
        """The same for a kernel that has its numbers; its outputs end with the verdict on each state."""
        values = given_values(kernel, given)
        results = self._singles.get(kernel, len(values)).all(*values)
        if results is not None:
            return answer(results)
        return self.call_batch(name, kernel, given, errors, answer)

    def call_batch(
        self, name: str, kernel: Kernel, given: Mapping[str, Any], errors: Errors | None, answer: Answer = first
    ) -> Any:
        """The same without ``SingleState``, which would keep the kernel."""
        states, outputs = self.evaluated(kernel, given)
        names = [p.name for p in kernel.inputs]

        def margins(index: NDArray[np.int64]) -> Array:
            ask = self._kernels.get("margins")
            rows = {n: np.broadcast_to(r, (states.size, *r.shape[1:])) for n, r in zip(names, states.rows, strict=True)}
            return np.asarray(ask(*(np.ascontiguousarray(rows[p.name][index]) for p in ask.inputs)))

        def why_unconverged(index: NDArray[np.int64]) -> list[str]:
            acting = "force" if name == "direct_dynamics" else "acceleration"
            wanted = ["pose", "twist", acting, "wrench"]
            if self._kernels.mechanism.platform.elastic or not set(wanted) <= set(names):
                return [_TOO_STRONG] * len(index)
            rows = {n: np.broadcast_to(r, (states.size, *r.shape[1:])) for n, r in zip(names, states.rows, strict=True)}
            found = motion_solutions(self._kernels, [rows[n][index] for n in wanted], acting == "force", FEW_CELLS)
            huge = [max(float(np.abs(rows[n][k]).max()) for n in wanted) > LARGEST_LOAD for k in index]
            texts = [
                Reason(_NOT_CONVERGED + FrictionStatus(code).message, "friction") for code in found.status.tolist()
            ]
            return [_HUGE if large else text for large, text in zip(huge, texts, strict=True)]

        run = BatchResult(states.shape, outputs, margins, self._kernels.mechanism, why_unconverged=why_unconverged)
        return self._finalise(name, (run, []), errors, answer)

    def evaluated(
        self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}
    ) -> tuple[Batch, dict[str, Array]]:
        """States and outputs by name of a kernel with a verdict, which is 1 where there is no answer, else 0.

        Only if a verdict asks for it are the inputs looked at one by one: an error then names the argument, by its name
        among the caller's own ``names``, or poses printed with few digits are made exact.
        """
        arguments = self.arguments(kernel, given, names)
        states = batch(arguments)
        outputs = _by_name(kernel, kernel(*states.rows))
        if outputs["verdict"].max(initial=0.0) >= BAD_INPUT:
            states = self._examined(states, arguments)
            outputs = _by_name(kernel, kernel(*states.rows))
            # What was looked at is right: numbers too large for their sum, poses exact to the square of their digits.
            outputs["verdict"] %= BAD_INPUT
        return states, outputs

    def _finalise(self, name: str, found: tuple[BatchResult, Failures], errors: Errors | None, answer: Answer) -> Any:
        """Results with NaN in states without an answer, which are reported."""
        run, failures = found
        outputs = run.outputs
        verdict, converged = outputs.pop("verdict", None), outputs.pop("converged", None)
        quality = outputs.pop("quality")
        if verdict is not None and not verdict.any():
            return answer([result.reshape(run.shape + result.shape[1:]) for result in outputs.values()])
        bad: NDArray[np.bool_] = ~(quality > SMALLEST_MARGIN)
        for states, _ in failures:
            bad |= states
        results = list(outputs.values())
        if converged is not None and not converged.all():
            unconverged = ~bad & (converged == 0.0)
            failures.append((unconverged, _TOO_STRONG))
            bad |= unconverged
        # Reactions that statics leaves open are NaN; the forces beside them tell whether there is an answer.
        for result in results[2:] if name == "reactions" else results:
            if not np.isfinite(result).all():
                huge = ~bad & ~np.isfinite(result).all(axis=tuple(range(1, result.ndim)))
                failures.append((huge, _OVERFLOWS))
                bad |= huge
        if bad.any():
            for result in results:
                result[bad] = np.nan
        result = answer([result.reshape(run.shape + result.shape[1:]) for result in results])
        if bad.any():
            report(name, bad, lambda index: _explained(run, index, failures), result, bool(run.shape), errors)
        return result


def _never(*values: Any) -> None:
    """Stands for ``SingleState.first`` where a function has none: gives no answer."""


def _explained(run: BatchResult, index: NDArray[np.int64], failures: Failures) -> list[str]:
    texts = reasons(run.mechanism, run.margins(index))
    found = [failure_reason(failures, int(k)) or text for k, text in zip(index, texts, strict=True)]
    unconverged = [k for k, text in enumerate(found) if text is _TOO_STRONG]
    if run.why_unconverged is not None and unconverged:
        for k, text in zip(unconverged, run.why_unconverged(index[unconverged]), strict=True):
            found[k] = text
    return found


def _by_name(kernel: Kernel, results: Any) -> dict[str, Array]:
    return dict(zip((p.name for p in kernel.outputs), as_tuple(results), strict=True))
