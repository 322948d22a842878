"""The study of routes: a wrapper's overhead for calling custom operators."""

from __future__ import annotations

import contextlib
import functools
import statistics
from collections.abc import Callable, Iterator

import torch

from ..builds.comparison.call_result import outcome_of
from ..isolation.muted_output import quiet
from ..isolation.thread_switching import undisturbed
from ..measure.garbage_collection import gc_disabled
from ..measure.routes import Cost, reaching
from ..report import Route
from ..torch_api.kernels import timers
from ..torch_api.operators.calls import Dispatched, OperatorCall, is_python, recorded, timed_inside
from ..torch_api.process.devices import waiting_for
from .context import ALREADY_PROFILING, StudyContext

MAX_OPERATORS = 20
"""How many operators of a variant are timed; torch's own come last."""
_PROFILED = 50

NONE = "No wrapper calls an operator through the dispatcher or through Python."
NOT_CALLED = "The subject does not call it when it runs uncompiled, so its arguments are not known."
TOO_MANY = f"Only {MAX_OPERATORS} operators of a variant are timed."
NOT_KNOWN = (
    "torch keeps no reference to the Python function that implements it, so its own work cannot be "
    "separated from the call overhead. torch.library.custom_op keeps one."
)
NOT_PACKED = "Its arguments cannot be passed the way a C++ wrapper passes them: {}"
NO_RANGE = "The profiler recorded no range for it."
VIA_OPS = "Called through torch.ops with the arguments that the subject gives it"
VIA_DISPATCHER = (
    "Called through the C shim's aoti_torch_call_dispatcher, as the C++ wrapper does, with the "
    "arguments that the subject gives it, less the same call of a function that does nothing"
)
LESS_FUNCTION = "less the time within its Python function"
LESS_RANGE = "less the profiler's range of the operator"
HOW = "{way}, {less}; the median of {rounds} rounds on the host, outside of the wrapper."


def study_routes(study: StudyContext) -> None:
    """Fills in the overhead of calling operators in a built variant.

    Raises
    ------
    CompilescopeError
        The subject could not be called.
    """
    report = study.report
    if timers.is_profiling():
        report.absent["routes"] = ALREADY_PROFILING
        return
    routes = [route for compilation in report.compilations for route in compilation.routes]
    timed_routes = [route for route in routes if route.via in ("dispatcher", "python")]
    if not timed_routes:
        report.absent["routes"] = NONE
        return
    report.absent.pop("routes", None)
    names = list(dict.fromkeys(route.operator for route in sorted(timed_routes, key=_is_torchs)))
    study.monitor.step("running the subject", variant=report.name, fraction=0.1)
    study.snapshot.restore()
    with quiet(), recorded(names[:MAX_OPERATORS]) as calls:
        output = study.fn(*study.args, **study.kwargs)
        outcome_of(output, study.snapshot.backward.without_gradients())
    study.snapshot.restore()
    for number, name in enumerate(names):
        study.monitor.step(
            f"timing the overhead of {name}",
            variant=report.name,
            fraction=0.2 + 0.8 * number / len(names),
        )
        for route in timed_routes:
            if route.operator == name:
                _measure(route, calls.get(name), study.monitor.check)
                if number >= MAX_OPERATORS:
                    route.how = TOO_MANY


def _is_torchs(route: Route) -> bool:
    return route.registered == "torch"


def _measure(route: Route, operator_call: OperatorCall | None, check: Callable[[], object]) -> None:
    if operator_call is None:
        route.how = NOT_CALLED
        return
    with contextlib.ExitStack() as stack:
        call: Callable[[], object] = operator_call.__call__
        without: Callable[[], object] | None = None
        if route.artifact == "cpp" and route.via == "dispatcher":
            try:
                dispatched = Dispatched(operator_call)
            except TypeError as error:
                route.how = NOT_PACKED.format(error)
                return
            stack.callback(dispatched.close)
            call, without = dispatched, dispatched.without
        stack.enter_context(_alone(operator_call))
        inside = stack.enter_context(_own_time(route, operator_call, call))
        if inside is None:
            return
        cost = reaching(
            call,
            without=without,
            inside=inside,
            before_each=functools.partial(_ready, operator_call, check),
        )
    less = LESS_FUNCTION if is_python(operator_call) else LESS_RANGE
    way = VIA_OPS if without is None else VIA_DISPATCHER
    _fill(route, cost, HOW.format(way=way, less=less, rounds=cost.rounds))


def _fill(route: Route, cost: Cost, how: str) -> None:
    """All of a call's visits."""
    visits = max(len(route.lines), 1)
    low, high = cost.interval_us
    route.us, route.interval_us = cost.us * visits, (low * visits, high * visits)
    route.how = how


@contextlib.contextmanager
def _alone(operator_call: OperatorCall) -> Iterator[None]:
    """In the block nothing else runs and no gradient is recorded, as within a wrapper."""
    with undisturbed(), quiet(), gc_disabled(), torch.no_grad():
        yield


@contextlib.contextmanager
def _own_time(
    route: Route, operator_call: OperatorCall, call: Callable[[], object]
) -> Iterator[Callable[[int], float] | None]:
    """A function that returns the operator's own time in the last calls; None if it is unknown."""
    if is_python(operator_call):
        with timed_inside(operator_call) as spent:

            def taken(number: int) -> float:
                total_s = sum(spent)
                spent.clear()
                return float(total_s)

            yield taken
        return
    if route.registered == "python":
        route.how = NOT_KNOWN
        yield None
        return
    ranges = timers.ranges_of(call, operator_call.name, calls=_PROFILED)
    if not ranges:
        route.how = NO_RANGE
        yield None
        return
    median_s = statistics.median(ranges)
    yield lambda number: median_s * number


def _ready(operator_call: OperatorCall, check: Callable[[], object]) -> None:
    check()
    if gpus := operator_call.gpus:
        waiting_for(gpus)()
