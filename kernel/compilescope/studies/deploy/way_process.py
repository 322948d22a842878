"""The process of one way to deploy a call: until the first result, then later calls."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...processes.child import ChildProcess, serve
from ...processes.device_lock import Device
from ...processes.runner import WAITING
from ...report.measurements.deployment import with_imports
from ...report.measurements.timings import Speedup
from ...report.problem import Problem, in_short
from ...report.references import names_in_code
from ..first_calls.startup_process import most_held, unpack_task

if TYPE_CHECKING:
    from ...isolation.user_state import Snapshot
    from ...subject.pickled_subject import Call
    from ...torch_api.dynamo.module_code import ModuleCode

COMMAND = (
    "from compilescope.studies.deploy.way_process import hold, main; held = hold(); {imports}; "
    "main(held)"
)
"""What the process runs; torch is loaded before the time counts."""
SECONDS = 0.6
"""How long later calls are timed, eager's share included."""

Phase = Literal["cold", "cached", "shipped"]


class WayResult(msgspec.Struct):
    """What the process gives."""

    first_s: float | None = None
    memory_bytes: float | None = None
    call_us: float | None = None
    call_interval_us: tuple[float, float] | None = None
    eager_us: float | None = None
    speedup: Speedup | None = None
    settled: bool = True
    accurate: bool | None = None
    ships: dict[str, int] = {}
    """File → bytes."""
    comparison: str = ""
    ship_problem: str = ""
    problem: Problem | None = None
    device: str = ""
    """The device and what it is, if other ways may run elsewhere."""


def hold() -> Device | None:
    """Locks the processor for shared use if other ways may run here: loading torch disturbs them.

    None if this way is the only one.
    """
    inside = ChildProcess(Path(sys.argv[-1]))
    if not inside.header["alone"]:
        return None
    inside.step(WAITING)
    device = Device()
    inside.step("loading")
    return device


def main(held: Device | None) -> None:
    """Measures the way, and returns a `WayResult` as JSON.

    Parameters
    ----------
    held
        What to hold alone while measuring; None: no other ways run on this machine.
    """
    serve(lambda inside: msgspec.json.encode(_work(inside, held)))


def _work(inside: ChildProcess, held: Device | None) -> WayResult:
    from ...subject.subject import describe
    from ...torch_api.inductor import headers
    from ...torch_api.process import device_names

    header, raiser = inside.header, ""

    def calling(what: str) -> None:
        nonlocal raiser
        raiser = what

    headers.keep_in(Path(header["caches"]) / "precompiled_headers")
    try:
        _, call, _ = unpack_task(inside, calling)
    except Exception as error:  # noqa: BLE001 - it is the subject's, or its factory's
        from ...torch_api.failures import failures

        return WayResult(problem=failures.of_process(error, raiser))
    device = describe(*call).device
    os.chdir(header["folder"])
    if held is None:
        return _measure(inside, call, device)
    inside.step(WAITING)
    held.use(device_names.identity(device))
    with held.alone():
        result = _measure(inside, call, device)
    result.device = device_names.title(device)
    return result


def _measure(inside: ChildProcess, call: Call, device: str) -> WayResult:
    from ...isolation.muted_output import quiet
    from ...isolation.user_state import preserved
    from ...torch_api.dynamo.module_code import ModuleCode

    header = inside.header
    names = _names(call)
    result = WayResult()
    module_code = ModuleCode(call.fn)
    with preserved(*call) as snapshot, quiet():
        inside.step("first call")
        start = time.perf_counter()
        try:
            # The code that is shown.
            exec(compile(with_imports(header["code"]), "deploy.py", "exec"), names)
            with snapshot.inner.direct() if header["is_eager"] else nullcontext():
                output = names["compiled"](*call.args, **call.kwargs)
            _wait(device)
        except Exception as error:  # noqa: BLE001 - it is the way's problem
            module_code.note_compiled()
            result.problem = why_no_result(error, call, module_code, snapshot.restore)
            return result
        result.first_s = time.perf_counter() - start
        module_code.note_compiled()
        result.memory_bytes = _memory(device)
        if header["ship"]:
            _ship(header["ship"], names, result)
        if header["phase"] != "cold":
            inside.step("comparing")
            try:
                result.accurate, result.comparison = _compare(call, output, module_code, snapshot)
            except Exception as error:  # noqa: BLE001 - no fault of the way, which is still timed
                snapshot.restore()
                result.comparison = f"its results could not be compared: {in_short(error)}."
        if header["phase"] == "cached":
            inside.step("measuring")
            compiled = None if header["is_eager"] else names["compiled"]
            try:
                _time(call, compiled, module_code, device, result)
            except Exception as error:  # noqa: BLE001 - of a later call, or compilescope's own
                result.problem = why_no_result(error, call, module_code, snapshot.restore)
    return result


def why_no_result(
    error: Exception, call: Call, module_code: ModuleCode, restore: Callable[[], None]
) -> Problem:
    """Why a way to deploy has no result: the subject's exception if the call as written fails."""
    from ...torch_api.failures import failures

    restore()
    try:
        with module_code.original():
            call.fn(*call.args, **call.kwargs)
    except Exception as eager_error:  # noqa: BLE001 - it is the subject's
        return failures.subject_failure(eager_error)
    finally:
        restore()
    return failures.of_way(error)


def _names(call: Call) -> dict[str, Any]:
    names = names_in_code()
    return names | {"model": call.fn, "fn": call.fn, "args": call.args, "kwargs": call.kwargs}


def _ship(code: str, names: dict[str, Any], result: WayResult) -> None:
    try:
        exec(compile(with_imports(code), "ship.py", "exec"), names)
    except Exception as error:  # noqa: BLE001 - the way itself works
        result.ship_problem = f"{type(error).__name__}: {error}".partition("\n")[0][:300]
        return
    result.ships = {path.name: path.stat().st_size for path in Path().iterdir() if path.is_file()}


def _compare(
    call: Call, output: Any, module_code: ModuleCode, snapshot: Snapshot
) -> tuple[bool | None, str]:
    """Whether the first call returned and changed what eager does from the same state.

    Returns
    -------
    bool or None
        None if it draws random numbers, or two calls in eager differ.
    str
        What differs, or why nothing was compared.
    """
    from ...builds.comparison.call_result import outcome_of, with_changes
    from ...builds.comparison.compare_with_eager import Reference, worst_difference

    outcome = with_changes(outcome_of(output, None), snapshot)
    snapshot.restore()
    with module_code.original():
        reference = Reference(*call, snapshot, backward=False)
        if reference.random:
            return None, "the call draws random numbers, so its results were not compared."
        wrong = [error for error in reference.compare(outcome) if not error.ok]
        if wrong:
            return False, worst_difference(wrong)
        not_compared = reference.not_compared(outcome)
        return None if not_compared else True, not_compared


def _time(
    call: Call,
    compiled: Callable[..., Any] | None,
    module_code: ModuleCode,
    device: str,
    result: WayResult,
) -> None:
    """The latency of a call, interleaved with eager; each from the same state.

    Without ``compiled``, the call is eager's too.
    """
    from ...analysis.figures.speedups import over_baseline
    from ...builds.comparison.repeatable_state import begin_of
    from ...builds.eager_call import eager_call, in_eager
    from ...isolation.state_changes import changes_of
    from ...isolation.user_state import preserved
    from ...measure.sampler import BASELINE
    from ...measure.timing import MAX_SLOW_CALLS_S, time_calls

    with preserved(*call) as snapshot:
        with module_code.original():
            in_eager(lambda: call.fn(*call.args, **call.kwargs), snapshot)
        begin = begin_of(*call, snapshot, changes_of(snapshot))
        later = eager = eager_call(*call, snapshot)
        if compiled is not None:
            later = functools.partial(compiled, *call.args, **call.kwargs)

        def before_each(name: str) -> None:
            if begin is not None:
                begin.restore()
            module_code.put(compiled=name != BASELINE)

        timings = time_calls(
            {BASELINE: eager, "call": later},
            budget_s=SECONDS,
            longest_s=MAX_SLOW_CALLS_S,
            before_each=before_each if begin is not None or module_code.differs else None,
            device=device,
        )
    if timings:
        timing = timings["call"]
        result.call_us = timing.median_us
        result.call_interval_us = None if timing.few else timing.interval_us
        result.eager_us = timings[BASELINE].median_us
        result.speedup = over_baseline(timing)
        result.settled = all(each.settled for each in timings.values())


def _wait(device: str) -> None:
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _memory(device: str) -> float:
    import torch

    if device.startswith("cuda"):
        return float(torch.cuda.max_memory_allocated())
    return most_held()
