"""Restores a subject's state between batches of calls, so that each begins with the same state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...capture.live import recording
from ...capture.records import Record
from ...isolation.muted_output import quiet
from ...isolation.state_changes import (
    RANDOM,
    changes_compared_values,
    changes_of,
    summarize_changes,
)
from ...isolation.user_state import Snapshot
from ...progress.progress import Monitor
from ...report.measurements.timings import InitialState
from ...torch_api.dynamo.compile_variant import ISOLATES
from ...torch_api.trace.record_names import RECOMPILE_REASONS
from ..aot_compiled import is_aot_compiled
from ..built_variants import BuiltVariants
from ..eager_call import in_eager
from ..recompiling_calls import RecompilingCalls, recompiling_calls, with_guards_of
from ..subject_error import CALL_ERRORS
from .call_result import outcome_of


class State:
    """What a call of the subject changes, and the state that batches of calls begin with.

    One call is made to find out. Batches begin with the state after it, as in a training loop's
    later steps: an optimizer has its buffers, and the guards on them hold. From the state before
    that call, each batch would create them again. Restoring either state restores the same things.

    Parameters
    ----------
    builds
        The subject's builds, open.
    names
        Of the builds that are called.
    snapshot
        The current state, which the caller restores at the end.
    monitor
        Ends the calls when the job is canceled.

    Attributes
    ----------
    initial_state, changes
        As in `report.Timing`.
    recompiling
        Name of a build → the calls in a row that recompile, from the state before the first one.
    device
        Where the call runs. It may have CPU tensors only, and yet use the GPU.
    """

    def __init__(
        self, builds: BuiltVariants, names: Sequence[str], snapshot: Snapshot, monitor: Monitor
    ) -> None:
        self._builds = builds
        before = _cuda_allocations()
        with quiet():
            in_eager(lambda: builds.fn(*builds.args, **builds.kwargs), snapshot)
        self.device = builds.device
        if builds.device == "cpu" and _cuda_allocations() != before:
            self.device = "cuda"
        changes = changes_of(snapshot)
        # Guards never compare a tensor's contents.
        is_compared = changes_compared_values(snapshot)
        self._begin = begin_of(builds.fn, builds.args, builds.kwargs, snapshot, changes)
        self.changes = summarize_changes(changes)
        self.initial_state: InitialState = "restored" if self._begin is not None else "unchanged"
        is_compared = is_compared and self._begin is not None
        begin = self._begin or snapshot
        self.recompiling = {
            name: self._recompiling(name, snapshot, begin, monitor, is_compared=is_compared)
            for name in names
        }

    def _recompiling(
        self, name: str, snapshot: Snapshot, begin: Snapshot, monitor: Monitor, *, is_compared: bool
    ) -> RecompilingCalls:
        """The calls that recompile for a build's guards; made once for all builds with the same.

        Unless a call is known to change a value that guards compare, calls are made only if the
        next call of the build recompiles: the call changes something that no snapshot has.
        """
        builds = self._builds
        variant = builds.build(name).variant
        if is_aot_compiled(variant):
            return RecompilingCalls()
        guards = with_guards_of(variant)
        for known, calls in builds.recompiling:
            if known == guards:
                return calls
        if not is_compared and not self._recompiles(name, snapshot, begin):
            builds.recompiling.append((guards, RecompilingCalls()))
            return RecompilingCalls()
        snapshot.restore()
        try:
            calls = recompiling_calls(
                lambda call: call(*builds.args, **builds.kwargs),
                builds.fn,
                builds.code_copies,
                snapshot.backward,
                guards=guards,
                monitor=monitor,
            )
        finally:
            # Otherwise the builds' calls would compile again, where all share one code set.
            builds.install(None)
            begin.restore()
        builds.recompiling.append((guards, calls))
        return calls

    def _recompiles(self, name: str, snapshot: Snapshot, begin: Snapshot) -> bool:
        """Whether a call of a build recompiles."""
        builds = self._builds
        self._prepare(name)
        records: list[Record] = []
        try:
            with quiet(), recording(records):
                outcome_of(builds.calls([name], snapshot)[name](), snapshot.backward)
        except CALL_ERRORS:  # the timing reports it
            return False
        finally:
            begin.restore()
        return any(record.name == RECOMPILE_REASONS for record in records)

    @property
    def before_each(self) -> Callable[[str], None] | None:
        """The action before a batch, called with the variant's name; None if none is needed."""
        if ISOLATES and self._begin is None:
            return None
        return self._prepare

    def _prepare(self, name: str) -> None:
        self._builds.install(name)
        if self._begin is not None:
            self._begin.restore()


def begin_of(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    snapshot: Snapshot,
    changes: Sequence[str],
) -> Snapshot | None:
    """The state that every batch of calls begins with; None if it does not matter.

    Parameters
    ----------
    snapshot
        The state before the call that was just made; restored where nothing of that lasts.
    changes
        As `changes_of` returned them.
    """
    if all(path == RANDOM for path in changes):
        # Different random numbers do not affect the time of a call.
        snapshot.restore()
        return None
    begin = Snapshot(fn, args, kwargs)
    # If memory cannot hold the state twice, the state before the call is used.
    return begin if len(begin.unsaved) <= len(snapshot.unsaved) else snapshot


def _cuda_allocations() -> int:
    """How many allocations this process made; does not initialize CUDA."""
    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):  # type: ignore[no-untyped-call]
        return 0
    return sum(
        int(torch.cuda.memory_stats(device).get("allocation.all.allocated", 0))
        for device in range(torch.cuda.device_count())
    )
