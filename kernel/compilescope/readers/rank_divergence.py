"""Differences between the compilations of a traced run's ranks, and the slowest rank."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any

from ..analysis.changes.ranks import RankTexts, first_difference
from ..analysis.figures.wording import count
from ..capture.records import NO_COMPILE_ID
from ..report import Problem
from ..report.subjects.traces import DivergenceKind, RankComparison, RankDivergence, RankTime
from ..report.units import duration
from ..torch_api.trace.record_names import DYNAMO_GRAPH, OUTPUT_CODE
from .collectives import SCHEDULE
from .lazy_trace import ProcessLog, Trace
from .outlines import Text

GRAPH_TEXTS = {
    DYNAMO_GRAPH: "the Dynamo graph",
    "aot_joint_graph": "the joint graph",
    "aot_forward_graph": "the forward graph",
    "aot_backward_graph": "the backward graph",
    "aot_inference_graph": "the inference graph",
    "inductor_post_grad_graph": "the graph after Inductor's passes",
    "after_post_grad_graph": "the graph after Inductor's passes",
    OUTPUT_CODE: "the generated code",
}
"""The texts that are compared, in torch's order: each is derived from the one before."""
_TENSORS = "inductor_runtime_and_tensor_meta"
_EXECUTED = "graph_execution"
_DEVICE = re.compile(r"\b(?:cuda|xpu|hpu):\d+\b")
_SHOWN = 5
_SLOWER = 1.1
"""A rank is reported as slowest if it compiles this many times as long as the fastest."""

_WHY: dict[DivergenceKind, str] = {
    "cache": "A rank that misses a cache makes the others wait in the next collective.",
    "collectives": "Every rank of a group has to call the same collectives in the same order: "
    "otherwise the job hangs or corrupts data.",
    "runtimes": "Ranks wait for the slowest one in each collective.",
    "execution": "Ranks that run graphs in another order call their collectives in another order.",
}


class _Rank:
    def __init__(self, number: int, log: ProcessLog) -> None:
        self.number = number
        self.log = log

    @cached_property
    def texts(self) -> RankTexts:
        """Replaces what is specific to it; made only if texts differ."""
        return RankTexts(self._device())

    def _device(self) -> str:
        """The device that its Dynamo graphs name.

        Its index is not the rank on a second machine, or if each rank sees one device alone.
        """
        on_cpu = False
        for events in self.log.events.values():
            for text in events.texts:
                if text.name == DYNAMO_GRAPH:
                    graph = self.log.text_at(text.offset)
                    if (named := _DEVICE.search(graph)) is not None:
                        return named[0]
                    on_cpu = on_cpu or "]cpu" in graph
        # Old versions of torch log graphs without devices.
        return "cpu" if on_cpu else f"cuda:{self.number}"


def compare_ranks(trace: Trace) -> RankComparison | None:
    """Compare the ranks of a trace; None where it has fewer than two.

    Of a restarted rank, the last attempt counts. A difference that follows from an earlier one of
    the same compilation is left out.
    """
    last = {log.origin.rank: log for log in trace.processes}
    ranks = [_Rank(number, log) for number, log in last.items() if number is not None]
    if len(ranks) < 2:
        return None
    ids = dict.fromkeys(compile_id for rank in ranks for compile_id in rank.log.events)
    divergences = [
        divergence for compile_id in ids for divergence in _of_compilation(compile_id, ranks)
    ]
    divergences.sort(
        key=lambda divergence: (divergence.started_s is None, divergence.started_s or 0.0)
    )
    times = [_time(rank) for rank in ranks]
    return RankComparison(
        times=times, divergences=divergences, sentence=_sentence(times, divergences)
    )


def divergence_problems(comparison: RankComparison | None) -> list[Problem]:
    """A comparison's divergences as problems of the report, the earliest first."""
    if comparison is None or not comparison.divergences:
        return []
    problems = [
        Problem(
            severity="warning" if divergence.serious else "info",
            what=f"{_ranks(divergence.ranks)} and the other ranks differ in {divergence.what}.",
            why=divergence.why,
            remedy="Compare both ranks in the trace, beginning with the first difference.",
            detail=f"{_ranks(divergence.ranks)}: {divergence.here}\nthe others: {divergence.there}",
            facts={"compilation": divergence.compilation, "kind": divergence.kind},
        )
        for divergence in comparison.divergences[:_SHOWN]
    ]
    rest = len(comparison.divergences) - _SHOWN
    if rest > 0:
        problems[-1].detail += f"\n… and {count(rest, 'more difference')}"
    return problems


def _sentence(times: Sequence[RankTime], divergences: Sequence[RankDivergence]) -> str:
    slowest = max(times, key=lambda rank_time: rank_time.compile_time_s)
    # Torch logs no time of a compilation whose backend failed.
    logged = [rank_time.compile_time_s for rank_time in times if rank_time.compile_time_s]
    time = ""
    if len(logged) > 1:
        most, least = duration(max(logged) * 1e6), duration(min(logged) * 1e6)
        if slowest.compile_time_s > _SLOWER * min(logged):
            time = f" Rank {slowest.rank} compiled longest: {most}, the fastest {least}."
        else:
            time = f" Each compiled for {most if most == least else f'{least} to {most}'}."
    if not divergences:
        ranks = "Both ranks" if len(times) == 2 else f"All {len(times)} ranks"
        return f"{ranks} compiled the same code.{time}"
    first = divergences[0]
    verb = "diverges" if len(first.ranks) == 1 else "diverge"
    return f"{_ranks(first.ranks)} {verb} first, in {first.what}.{time}"


def _time(rank: _Rank) -> RankTime:
    outlines = [rank.log.outline(events) for events in rank.log.events.values()]
    slowest = max(outlines, key=lambda outline: outline.duration_s or 0.0)
    return RankTime(
        rank=rank.number,
        compile_time_s=sum(outline.duration_s or 0.0 for outline in outlines),
        slowest=slowest.id,
    )


def _of_compilation(compile_id: str, ranks: Sequence[_Rank]) -> Iterator[RankDivergence]:
    having = [rank for rank in ranks if compile_id in rank.log.events]
    if len(having) < len(ranks):
        if compile_id == NO_COMPILE_ID:
            return  # such as what only one rank exports: no compilation of the others lacks
        odd = _minority({rank.number: str(rank in having) for rank in ranks})
        missing = any(rank.number in odd for rank in ranks if rank not in having)
        yield _divergence(
            "compilations",
            f"compilation {compile_id}",
            compile_id,
            ranks,
            odd,
            here="not compiled" if missing else _frame(having[0], compile_id),
            there=_frame(having[0], compile_id) if missing else "not compiled",
            why="A rank that compiles more makes the others wait, and may call other collectives.",
        )
        return
    yield from _differing("compilations", "the function", compile_id, ranks, _frame)
    yield from _graphs(compile_id, ranks)
    yield from _differing("cache", "the caches' answers", compile_id, ranks, _caches)
    yield from _listed("collectives", "collective", compile_id, ranks, SCHEDULE, _schedule)
    yield from _listed("tensors", "the output of operation", compile_id, ranks, _TENSORS, _tensors)
    yield from _differing("runtimes", "the estimated runtime", compile_id, ranks, _runtime)
    yield from _listed("execution", "graph executed", compile_id, ranks, _EXECUTED, _executed)


def _differing(
    kind: DivergenceKind,
    what: str,
    compile_id: str,
    ranks: Sequence[_Rank],
    value: Callable[[_Rank, str], str],
) -> Iterator[RankDivergence]:
    values = {rank.number: value(rank, compile_id) for rank in ranks}
    odd = _minority(values)
    if odd:
        other = next(number for number in values if number not in odd)
        yield _divergence(
            kind,
            what + _of_id(compile_id),
            compile_id,
            ranks,
            odd,
            here=values[odd[0]],
            there=values[other],
            why=_WHY.get(kind, ""),
        )


def _graphs(compile_id: str, ranks: Sequence[_Rank]) -> Iterator[RankDivergence]:
    """The first stage at which the graphs differ."""
    named = {rank.number: _texts(rank, compile_id) for rank in ranks}
    for name, title in GRAPH_TEXTS.items():
        texts = {number: by_name.get(name, []) for number, by_name in named.items()}
        if len({tuple(text.checksum for text in rank_texts) for rank_texts in texts.values()}) == 1:
            continue
        whole = {
            rank.number: "\n".join(
                rank.texts(rank.log.text_at(text.offset)) for text in texts[rank.number]
            )
            for rank in ranks
        }
        odd = _minority(whole)
        if not odd:
            continue
        other = next(number for number in whole if number not in odd)
        line, odd_line, other_line = first_difference(whole[odd[0]], whole[other]) or (0, "", "")
        yield _divergence(
            "graph",
            f"{title}{_of_id(compile_id)}, line {line}",
            compile_id,
            ranks,
            odd,
            here=odd_line or "nothing",
            there=other_line or "nothing",
        )
        return


def _listed(
    kind: DivergenceKind,
    what: str,
    compile_id: str,
    ranks: Sequence[_Rank],
    artifact: str,
    read: Callable[[Any], list[str]],
) -> Iterator[RankDivergence]:
    """The first difference between the lists in an artifact."""
    lists: dict[int, list[str]] = {}
    for rank in ranks:
        texts = _texts(rank, compile_id).get(artifact, [])
        lists[rank.number] = [
            entry for text in texts for entry in read(_json(rank.log.text_at(text.offset)))
        ]
    for place in range(max(map(len, lists.values()))):
        values = {
            number: entries[place] if place < len(entries) else "none"
            for number, entries in lists.items()
        }
        odd = _minority(values)
        if odd:
            other = next(number for number in values if number not in odd)
            yield _divergence(
                kind,
                f"{what} {place + 1}{_of_id(compile_id)}",
                compile_id,
                ranks,
                odd,
                here=values[odd[0]],
                there=values[other],
                serious=kind in ("collectives", "execution"),
                why=_WHY.get(kind, ""),
            )
            return


def _of_id(compile_id: str) -> str:
    return "" if compile_id == NO_COMPILE_ID else f" of {compile_id}"


def _divergence(
    kind: DivergenceKind,
    what: str,
    compile_id: str,
    ranks: Sequence[_Rank],
    odd: list[int],
    *,
    here: str,
    there: str,
    serious: bool = False,
    why: str = "",
) -> RankDivergence:
    started = [
        rank.log.outline(rank.log.events[compile_id]).started_s
        for rank in ranks
        if compile_id in rank.log.events
    ]
    return RankDivergence(
        kind=kind,
        what=what,
        compilation=compile_id,
        ranks=odd,
        here=here,
        there=there,
        started_s=min((time_s for time_s in started if time_s is not None), default=None),
        serious=serious or kind == "compilations",
        why=why,
    )


def _minority(values: Mapping[int, str]) -> list[int]:
    """The ranks that differ from the majority, or in a tie from the first rank."""
    groups: dict[str, list[int]] = {}
    for number, value in values.items():
        groups.setdefault(value, []).append(number)
    most = max(groups.values(), key=len)
    return [number for number in values if number not in most]


def _frame(rank: _Rank, compile_id: str) -> str:
    frame = rank.log.outline(rank.log.events[compile_id]).frame
    if frame is None:
        return "an unknown function"
    # Each machine may have the code in a folder of its own.
    return f"{frame.function} ({PurePath(frame.file).name}:{frame.line})"


def _caches(rank: _Rank, compile_id: str) -> str:
    cache = rank.log.outline(rank.log.events[compile_id]).cache
    return ", ".join(f"{event.cache} {event.outcome}" for event in cache) or "none"


def _texts(rank: _Rank, compile_id: str) -> dict[str, list[Text]]:
    texts: dict[str, list[Text]] = {}
    for text in rank.log.events[compile_id].texts:
        texts.setdefault(text.name, []).append(text)
    return texts


def _runtime(rank: _Rank, compile_id: str) -> str:
    """Inductor's estimate of the time of one call: a sum over its operations."""
    texts = _texts(rank, compile_id).get(_TENSORS, [])
    times = [
        time_ns
        for text in texts
        for operation in _operations(_json(rank.log.text_at(text.offset)))
        if isinstance(time_ns := operation.get("estimated_runtime_ns"), int | float)
    ]
    return f"{duration(sum(times) / 1e3)}, estimated by Inductor" if times else "not estimated"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None  # damaged: nothing to compare


def _schedule(artifact: Any) -> list[str]:
    return [str(name) for name in artifact] if isinstance(artifact, list) else []


def _tensors(artifact: Any) -> list[str]:
    return [
        f"{operation.get('name')}: {json.dumps(operation.get('outputs'))}"
        for operation in _operations(artifact)
    ]


def _operations(artifact: Any) -> list[dict[str, Any]]:
    operations = artifact.get("ops") if isinstance(artifact, dict) else None
    return (
        [operation for operation in operations if isinstance(operation, dict)]
        if isinstance(operations, list)
        else []
    )


def _executed(artifact: Any) -> list[str]:
    order = artifact.get("graph_execution_order") if isinstance(artifact, dict) else None
    return [json.dumps(operation) for operation in order] if isinstance(order, list) else []


def _ranks(ranks: Sequence[int]) -> str:
    listed = ", ".join(map(str, ranks[:8])) + (", …" if len(ranks) > 8 else "")
    return f"Rank {listed}" if len(ranks) == 1 else f"Ranks {listed}"
