"""Finds the guard and the value that caused each recompile of a frame, and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...capture.logged_values import compile_time_s, decoded, finite, logged_count
from ...capture.records import Record
from ...report import Advice, Compilation, Recompile, SourceLine
from ...torch_api.trace.record_names import BACKWARD_METRICS, COMPILATION_METRICS
from ..problems.failed_records import RECOMPILE_LIMIT
from .advice.code_advice import advise
from .advice.general_advice import raise_limit
from .advice.number_types import unify_number_advice
from .advice.number_uses import NumberUses, Use
from .compiled_values import Values
from .frames import Caller, caller_of, traced_frame
from .reasons.other_changes import distance, other_changes
from .reasons.parse_reason import read_failure
from .reasons.recompile_words import add_causes, guarded_value
from .symbolic_shapes.symbols import read_constants, read_symbols


class Memory:
    """The values of each frame's compilations so far, to which recompiles refer."""

    def __init__(self) -> None:
        self.values: dict[str, Values] = {}
        self.earlier: dict[str, list[str]] = {}
        self.failed: dict[tuple[str, str, str], str] = {}
        """A compilation, its guard and what changed → the compilation for which it first failed."""
        self.causes: dict[str, tuple[str, str]] = {}
        """A recompile → the guarded value that caused it."""
        self.callers: dict[str, Caller | None] = {}
        """Each frame's first call."""
        self.uses: dict[str, dict[str, Sequence[Use]]] = {}
        """Each frame's numbers that changed → the operators that take them."""
        self.backends: set[str] = set()
        """Frames that are compiled with several backends or modes."""
        self.traced: dict[str, tuple[SourceLine, SourceLine]] = {}
        """Each frame's compiled function, and the function whose arguments its guards name."""

    def function_of(self, compilation: Compilation, records: Sequence[Record]) -> SourceLine | None:
        """The function whose arguments a compilation's guards name.

        torch does not log the frame of a compilation that the recompile limit ends: it is that of
        the earlier ones, also in ``compilation.frame``.
        """
        frame = compilation.id.rpartition("/")[0]
        traced = traced_frame(records)
        if traced is not None:
            self.traced[frame] = (compilation.frame or traced, traced)
        elif frame in self.traced:
            compiled, traced = self.traced[frame]
            compilation.frame = compilation.frame or compiled
        return traced or compilation.frame

    def forget(self, compile_id: str) -> None:
        """Drops a compilation's values but remembers that it happened."""
        self.values.pop(compile_id, None)


_EACH_BACKEND = (
    "The function is compiled with several backends or modes: each still has its own compilation."
)


def follow(
    compilations: Sequence[Compilation],
    records: Mapping[str, Sequence[Record]],
    memory: Memory | None = None,
) -> None:
    """Add to each recompile the failed guards, their values, and what to change.

    Parameters
    ----------
    compilations
        In torch's order; changed in place. Their guards and recompiles must already be read.
    records
        Compile id → its records.
    memory
        The values of earlier compilations; updated with these.
    """
    memory = memory or Memory()
    values_by_id, earlier = memory.values, memory.earlier
    for compilation in compilations:
        group = records.get(compilation.id, ())
        metrics = _metrics(group)
        values = Values(compilation.guards, read_symbols(group, compilation.attempt))
        _time(compilation, group, metrics)
        frame = compilation.id.rpartition("/")[0]
        ids = earlier.setdefault(frame, [])
        if compilation.id not in ids:  # otherwise it is read again for its backward
            ids.append(compilation.id)
        before = ids[: ids.index(compilation.id)]
        traced = memory.function_of(compilation, group)
        if not before:
            memory.callers.setdefault(frame, caller_of(group))
        if compilation.recompile is not None:
            _complete(
                compilation, compilation.recompile, memory, values, group, metrics, before, traced
            )
        values_by_id[compilation.id] = values
    agree_by_frame(compilations)


def agree_by_frame(compilations: Sequence[Compilation]) -> None:
    """Have the recompiles of a frame advise the same on a number, whatever type it had first."""
    by_frame: dict[str, list[Advice]] = {}
    for compilation in compilations:
        if compilation.recompile is not None:
            frame = compilation.id.rpartition("/")[0]
            by_frame.setdefault(frame, []).extend(compilation.recompile.advice)
    for advices in by_frame.values():
        unify_number_advice(advices)


def _complete(
    compilation: Compilation,
    recompile: Recompile,
    memory: Memory,
    values: Values,
    records: Sequence[Record],
    metrics: Mapping[str, Any],
    before: Sequence[str],
    traced: SourceLine | None,
) -> None:
    values_by_id = memory.values
    eager_fallback = RECOMPILE_LIMIT in str(metrics.get("fail_reason"))
    failures = [
        (reason, read_failure(reason, values_by_id, values)) for reason in recompile.reasons
    ]
    seen = [
        failure
        for _, failure in failures
        if memory.failed.setdefault(
            (failure.compilation, failure.guard, failure.kind), compilation.id
        )
        != compilation.id
    ]

    # The compilation that differs least from the new one shows what the call changed.
    distances = [
        distance(failure, values_by_id.get(failure.compilation), values) for _, failure in failures
    ]
    # At the limit, nothing is compiled that could be compared: the values that caused most of the
    # compilations before come first. A change for another value alone would not avoid the limit.
    caused = Counter(memory.causes[id_] for id_ in before if id_ in memory.causes)
    counts = [caused[guarded_value(failure)] if eager_fallback else 0 for _, failure in failures]
    # What no fact shows, such as the backend, may differ from other compilations too.
    order = sorted(
        range(len(failures)),
        key=lambda place: (
            distances[place],
            -counts[place],
            failures[place][1].kind not in ("range", "other", "backend"),
            failures[place][1] in seen,
        ),
    )
    nearest = [failures[place] for place in order if distances[place] == distances[order[0]]]
    failures = [failures[place] for place in order]
    recompile.failures = [failure for _, failure in failures]
    if failures:
        memory.causes[compilation.id] = guarded_value(failures[0][1])
    previous = values_by_id.get(recompile.previous) or (
        values_by_id.get(before[-1]) if before else None
    )
    if failures and failures[0][1].compilation:
        recompile.previous = failures[0][1].compilation
    became = {
        values.full(source) or source: symbol.name
        for source, symbol in values.symbols.items()
        if previous is not None and source not in previous.symbols
    }
    recompile.became_dynamic = [f"{source} → {name}" for source, name in became.items()]
    known = memory.uses.setdefault(compilation.id.rpartition("/")[0], {})
    uses = _uses(compilation, records, values, known)
    for failure in recompile.failures:
        if uses.nodes:
            known[failure.source] = uses.uses(failure) or ()
    settings = _settings(metrics)
    cached = logged_count(metrics.get("cache_size"))
    earlier = len(before) if cached is None else cached
    recompile.count = earlier if eager_fallback else earlier + 1
    recompile.limit = logged_count(settings.get("recompile_limit"))
    first = values_by_id.get(before[0]) if before else None
    recompile.advice = advise(
        nearest,
        frame=traced,
        caller=caller_of(records),
        settings=settings,
        first=memory.callers.get(compilation.id.rpartition("/")[0]),
        seen=() if eager_fallback else seen,
        became=list(became),
        existed=first.is_guarded if first is not None else lambda _: True,
        others=lambda failure: other_changes(
            failure, values_by_id.get(failure.compilation), values
        ),
        uses=uses,
        recurring=caused,
    )
    for advice in recompile.advice:
        if advice.where == traced:
            advice.where = compilation.frame
    frame = compilation.id.rpartition("/")[0]
    if any(failure.kind == "backend" for failure in recompile.failures):
        memory.backends.add(frame)
    if frame in memory.backends:
        for advice in recompile.advice:
            if advice.kind in ("mark_dynamic", "dynamic"):
                advice.what = f"{advice.what} {_EACH_BACKEND}"
    recompile.eager_fallback = eager_fallback
    if eager_fallback:
        # The call ran in eager already, and a kind of call that is normal is to be compiled.
        recompile.advice = [
            advice for advice in recompile.advice if advice.kind not in ("normal", "stance")
        ]
    if eager_fallback and recompile.limit is not None:
        recompile.advice.append(raise_limit(recompile.limit))
    add_causes(compilation)


def _uses(
    compilation: Compilation,
    records: Sequence[Record],
    values: Values,
    known: Mapping[str, Sequence[Use]],
) -> NumberUses:
    graph = compilation.graphs.get("dynamo")
    return NumberUses(
        constants={constant.source for constant in read_constants(records, compilation.attempt)},
        derived=[
            guard.expression
            for guard in compilation.guards
            if guard.expression.startswith("(") and " == " in guard.expression
        ],
        nodes=graph.nodes if graph is not None else (),
        symbols={
            values.full(source) or source: symbol.name for source, symbol in values.symbols.items()
        },
        known=known,
    )


def _metrics(records: Sequence[Record], event: str = COMPILATION_METRICS) -> dict[str, Any]:
    for record in reversed(records):
        if record.event == event:
            detail = record.metadata.get(record.event)
            if isinstance(detail, dict):
                return detail
    return {}


def _settings(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Dynamo's settings, which torch logs as JSON."""
    try:
        settings = decoded(metrics.get("dynamo_config") or "{}")
    except (ValueError, TypeError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _time(compilation: Compilation, records: Sequence[Record], metrics: Mapping[str, Any]) -> None:
    """When the compilation began (seconds since the epoch) and how long it took."""
    start_s = finite(metrics.get("start_time"))
    if start_s is not None:
        compilation.started_s = start_s
    elif records:
        compilation.started_s = records[0].time_s
    compilation.duration_s = compile_time_s(metrics, _metrics(records, BACKWARD_METRICS))
