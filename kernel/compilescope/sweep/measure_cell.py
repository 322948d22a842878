"""Compiles a subject under one variant and measures it against eager, in a separate process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..analysis.phases.compile_time import split
from ..builds.build import Built, build
from ..builds.comparison.call_result import with_changes
from ..builds.comparison.compare_with_eager import Reference
from ..builds.comparison.repeatable_state import begin_of
from ..builds.eager_call import eager_call, in_eager
from ..isolation.code_swap import CodeCopies
from ..isolation.muted_output import quiet
from ..isolation.state_changes import changes_of, summarize_changes
from ..isolation.user_state import Snapshot, preserved
from ..measure.sampler import BASELINE
from ..measure.timing import time_calls
from ..processes.device_lock import Device
from ..processes.runner import WAITING
from ..report import Compilation, Phase, Timing
from ..report.errors import CompilescopeError
from ..report.measurements.sweeps import SweepCell
from ..subject.functions import functions_of
from ..subject.pickled_subject import Call
from ..subject.subject import describe
from ..torch_api.failures import failures
from ..torch_api.process import caches, device_names
from .failed_cell import end
from .memory import Memory

HEADERS = "CppBuilder.precompile_header"
"""The span of precompiling a C++ header."""


def measure(
    cell: SweepCell,
    call: Call,
    seconds: float,
    items: float,
    step: Callable[[str], None],
    device: Device,
    *,
    may_repeat: bool,
) -> bool:
    """Fills in a cell.

    What the subject raises in eager is passed on; what compiling it raises is the cell's problem.

    Parameters
    ----------
    seconds
        Of timing, eager's share included.
    items
        How many things a call works on, for the throughput.
    step
        Told what begins.
    device
        What to hold alone while measuring.
    may_repeat
        Give up once C++ headers had to be precompiled, which is done once on a machine.

    Returns
    -------
    bool
        False when it gave up: another process will find the headers.
    """
    subject = describe(*call)
    cell.arguments, cell.device = subject.arguments, device_names.title(subject.device)
    step(WAITING)
    device.use(device_names.identity(subject.device))
    step("running eager")
    with preserved(*call) as snapshot, quiet():
        in_eager(lambda: call.fn(*call.args, **call.kwargs), snapshot)
        changes = changes_of(snapshot)
        snapshot.restore()
        memory = Memory(subject.device)
        calls: dict[str, Callable[[], object]] = {BASELINE: eager_call(*call, snapshot)}
        name = BASELINE
        if cell.variant.backend is not None:
            reference = Reference(*call, snapshot)
            step("compiling")
            built = _build(cell, call, snapshot)
            if built.problem is not None:
                end(cell, built.problem)
                return True
            if may_repeat and any(phase.name == HEADERS for phase in phases(built.compilations)):
                return False
            _compare(cell, reference, built)
            # Memory of the comparison must not count as the call's.
            del reference
            built.outcome = None
            name = cell.name
            compiled = built.call
            calls[name] = lambda: compiled(*call.args, **call.kwargs)
        step(WAITING)
        with device.alone():
            step("measuring")
            try:
                timing = _time(call, calls, snapshot, changes, seconds, subject.device)[name]
                cell.memory_bytes = memory.measure(calls[name])
            except CompilescopeError:
                raise
            except Exception as error:  # noqa: BLE001 - a call that went well fails later
                end(cell, failures.of_later_call(error))
                return True
    cell.timing = timing
    cell.throughput_per_s = items * 1e6 / timing.median_us
    cell.state = "done"
    return True


def _build(cell: SweepCell, call: Call, snapshot: Snapshot) -> Built:
    """Compiles the subject, and notes how long that took and what torch made of the settings."""
    code_copies = CodeCopies(functions_of(*call))
    folder = caches.new_folder()
    built = build(
        *call,
        name=cell.name,
        variant=cell.variant,
        code_copies=code_copies,
        code_set=code_copies.copy(),
        folder=folder,
        backward=snapshot.backward,
    )
    if built.outcome is not None:
        built.outcome = with_changes(built.outcome, snapshot)
    snapshot.restore()
    built.evaluable_guards = None  # it holds on to the values of frames
    cell.effective = [setting for setting in built.effective if setting.differs]
    if built.problem is None:
        cell.compile_time = split(built.compilations, built.first_call_s)
    return built


def _compare(cell: SweepCell, reference: Reference, built: Built) -> None:
    """Compares with eager, unless the two draw different random numbers."""
    alike = cell.variant.options.get("fallback_random") or not cell.variant.uses_inductor
    if built.outcome is None or (reference.random and not alike):
        return
    cell.accuracy = reference.compare(built.outcome)
    if cell.accuracy:
        cell.accurate = all(error.ok for error in cell.accuracy)


def _time(
    call: Call,
    calls: Mapping[str, Callable[[], object]],
    snapshot: Snapshot,
    changes: list[str],
    seconds: float,
    device: str,
) -> dict[str, Timing]:
    """Times the calls interleaved; state that a call changes is restored before every sample."""
    calls[BASELINE]()
    begin = begin_of(*call, snapshot, changes)
    timings = time_calls(
        calls,
        budget_s=seconds,
        before_each=(lambda name: begin.restore()) if begin is not None else None,
        device=device,
    )
    for timing in timings.values():
        timing.initial_state = "restored" if begin is not None else "unchanged"
        timing.changes = summarize_changes(changes)
    snapshot.restore()
    return timings


def phases(compilations: list[Compilation]) -> Iterator[Phase]:
    """Every phase of every compilation, with those inside it."""
    waiting = [phase for compilation in compilations for phase in compilation.phases]
    while waiting:
        phase = waiting.pop()
        yield phase
        waiting += phase.children
