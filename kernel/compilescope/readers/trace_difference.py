"""Differences between two traces: before and after an upgrade, or a change of the code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import NamedTuple

from ..analysis.changes.ranks import RankTexts, first_difference
from ..analysis.changes.reports import BACKEND_HASH, files_of, kernel_differences
from ..analysis.figures.trace_words import add_change_words, add_notes
from ..report import Compilation
from ..report.compilation.artifacts import Outcome
from ..report.subjects.traces import (
    CompilationChange,
    CompilationLine,
    FigureChange,
    ProcessDifference,
    TimeChange,
    TraceDifference,
)
from ..torch_api.trace.record_names import DYNAMO_GRAPH, GUARDS
from .lazy_trace import ProcessLog, Trace
from .outlines import Events
from .rank_divergence import GRAPH_TEXTS
from .trace_summary import compilation_lines

MAX_READ = 50
"""How many compilations are read completely in each trace by default: each takes 0.1 to 0.3 s."""
_SLOWER_BY = 0.2
_SLOWER_BY_S = 0.1
"""Each compilation is timed once: changes smaller than these two are noise."""
_COMMENT = re.compile(r"^[^\S\n]*#.*\n?|(?<!\s)[^\S\n]+# .*$", re.M)
"""Comments name files and lines, which move with every edit above them."""
_COMPILE_ID = re.compile(r"^(?:!\d+/)?\d+/\d+: ", re.M)
"""The prefix of a recompile's reason: the compilation whose guard failed."""
_TEXTS = RankTexts("")


class _Side(NamedTuple):
    """A compilation of one of the traces."""

    log: ProcessLog
    events: Events
    line: CompilationLine

    @property
    def outline(self) -> Compilation:
        return self.log.outline(self.events)

    def whole(self) -> Compilation:
        return self.log.compilation(self.events.id).compilation


class _Pair(NamedTuple):
    before: _Side
    after: _Side

    @property
    def seconds(self) -> float:
        return sum(side.line.duration_s or 0.0 for side in self)


def trace_difference(
    before: Trace,
    after: Trace,
    *,
    most_read: int | None = MAX_READ,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> TraceDifference:
    """Compare two traces, process by process.

    Processes of the same name are paired; if each trace has a single process, those two are.
    Compilations are paired by their function, the file's name, and their order among those of
    the function: compile ids change with every function that is compiled earlier. The file's name
    counts only if both traces have a file of that name. Texts are
    compared by torch's checksums first, then without comments, folders and addresses.

    Parameters
    ----------
    before, after
        Two traces of the same job.
    most_read
        Of how many changed compilations kernels and guards are compared, the slowest first. None:
        of all.
    progress
        Called with how many of these were read, and of how many.

    Returns
    -------
    TraceDifference
        What is newly compiled, what takes longer, and how the compilations of both differ.
    """
    pairs = list(_processes(before.processes, after.processes))
    paired = {id(log) for pair in pairs for log in pair}
    return TraceDifference(
        before=before.name,
        after=after.name,
        processes=[_of_processes(*pair, most_read, progress) for pair in pairs],
        only_before=[log.name for log in before.processes if id(log) not in paired],
        only_after=[log.name for log in after.processes if id(log) not in paired],
    )


def _processes(
    before: Sequence[ProcessLog], after: Sequence[ProcessLog]
) -> Iterator[tuple[ProcessLog, ProcessLog]]:
    if len(before) == len(after) == 1:
        yield before[0], after[0]
        return
    partners = {log.name: log for log in after}
    for log in before:
        if log.name in partners:
            yield log, partners[log.name]


def _of_processes(
    before: ProcessLog,
    after: ProcessLog,
    most_read: int | None,
    progress: Callable[[int, int], None],
) -> ProcessDifference:
    first, second = _sides(before), _sides(after)
    pairs, gone, new = _paired(first, second)
    changes = [(pair, change) for pair in pairs if (change := _change(pair)) is not None]
    to_read = sorted(changes, key=lambda changed: -changed[0].seconds)
    kernels, guards = [0, 0], [0, 0]
    unpaired = [(side, place) for place, sides in enumerate((gone, new)) for side in sides]
    unread = 0
    for number, (pair, change) in enumerate(to_read):
        if most_read is not None and number >= most_read:
            change.is_read = False
            unread += 1
            continue
        progress(number, len(to_read) + len(unpaired))
        wholes = [side.whole() for side in pair]
        _compare_whole(change, *wholes)
        for place, whole in enumerate(wholes):
            kernels[place] += len(whole.kernels)
            guards[place] += len(whole.guards)
    for number, (side, place) in enumerate(unpaired):
        if most_read is not None and number >= most_read:
            unread += 1
            continue
        progress(len(to_read) + number, len(to_read) + len(unpaired))
        whole = side.whole()
        kernels[place] += len(whole.kernels)
        guards[place] += len(whole.guards)
    reports = before.report(), after.report()
    totals = {
        "compilations": (len(first), len(second)),
        "recompiles": tuple(sum(s.line.is_recompile for s in sides) for sides in (first, second)),
        "graph breaks": tuple(len(report.breaks) for report in reports),
        "failures": tuple(_ended(sides, "failed") for sides in (first, second)),
        "eager fallbacks": tuple(_ended(sides, "eager") for sides in (first, second)),
    }
    times = [time for pair in pairs if (time := _time_change(pair)) is not None]
    times.sort(key=lambda time: -abs(time.after_s - time.before_s))
    difference = ProcessDifference(
        before=before.name,
        after=after.name,
        figures=[
            FigureChange(name=n, before=count_before, after=count_after)
            for n, (count_before, count_after) in totals.items()
        ],
        in_changed=[
            FigureChange(name=name, before=count_before, after=count_after)
            for name, (count_before, count_after) in {"kernels": kernels, "guards": guards}.items()
            if changes or unpaired
        ],
        compile_time_s=(_seconds(first), _seconds(second)),
        gone=[side.line for side in gone],
        new=[side.line for side in new],
        changed=[change for _, change in changes if _says_something(change)],
        slower=[time for time in times if time.after_s > time.before_s],
        faster=[time for time in times if time.after_s < time.before_s],
        unread=unread,
    )
    add_notes(difference)
    return difference


def _sides(log: ProcessLog) -> list[_Side]:
    lines = {line.id: line for line in compilation_lines(log.report())}
    return [_Side(log, events, lines[events.id]) for events in log.events.values()]


def _ended(sides: Sequence[_Side], outcome: Outcome) -> int:
    return sum(side.line.outcome == outcome for side in sides)


def _seconds(sides: Sequence[_Side]) -> float:
    return sum(side.line.duration_s or 0.0 for side in sides)


def _paired(
    before: Sequence[_Side], after: Sequence[_Side]
) -> tuple[list[_Pair], list[_Side], list[_Side]]:
    """The pairs, and what is unpaired on either side."""
    pairs: list[_Pair] = []
    gone: list[_Side] = []
    new: list[_Side] = []
    sides = before, after
    files = [files_of(side.line.frame for side in each) for each in sides]
    groups = [_by_function(each, files[0] & files[1]) for each in sides]
    for function in {**groups[0], **groups[1]}:
        first, second = groups[0].get(function, []), groups[1].get(function, [])
        # Those with equal graphs first: one more recompile must not shift all later pairs.
        keys = [[_graphs(side.events) for side in sides] for sides in (first, second)]
        matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
        for kind, i, i_end, j, j_end in matcher.get_opcodes():
            pairs += map(_Pair, first[i:i_end], second[j:j_end])
            if kind != "equal":
                both = min(i_end - i, j_end - j)
                gone += first[i + both : i_end]
                new += second[j + both : j_end]
    return pairs, gone, new


def _graphs(events: Events) -> tuple[str, ...]:
    """The checksums of Dynamo's graphs."""
    return tuple(text.checksum for text in events.texts if text.name == DYNAMO_GRAPH)


def _by_function(sides: Sequence[_Side], both: Set[str]) -> dict[str, list[_Side]]:
    """Compilations by their function, and by its file if both traces have a file of that name."""
    groups: dict[str, list[_Side]] = {}
    for side in sides:
        frame = side.line.frame
        is_renamed = frame is not None and both.isdisjoint(files_of([frame]))
        key = frame.function if frame is not None and is_renamed else _function(side.line)
        groups.setdefault(key, []).append(side)
    return groups


def _function(line: CompilationLine) -> str:
    if line.frame is None:
        return "an unknown function"
    return f"{line.frame.function} in {PurePath(line.frame.file).name}"


def _change(pair: _Pair) -> CompilationChange | None:
    """The differences visible in heads and texts; None if there are none."""
    before, after = pair
    change = CompilationChange(
        function=_function(after.line), before=before.line.id, after=after.line.id
    )
    if before.line.outcome != after.line.outcome:
        change.outcome = (before.line.outcome, after.line.outcome)
        add_change_words(change)
    reasons = before.line.recompile, after.line.recompile
    if len({_comparable_text(_COMPILE_ID.sub("", reason)) for reason in reasons}) > 1:
        change.recompile = reasons
    differs = change.outcome is not None or change.recompile is not None
    return change if _compare_texts(change, pair) or differs else None


def _compare_texts(change: CompilationChange, pair: _Pair) -> bool:
    """Record the first graph, in torch's order, that differs by more than comments.

    Returns whether it does, or the guards do.
    """
    for name, title in {**GRAPH_TEXTS, GUARDS: ""}.items():
        texts_by_side = [[text for text in side.events.texts if text.name == name] for side in pair]
        if [text.checksum for text in texts_by_side[0]] == [
            text.checksum for text in texts_by_side[1]
        ]:
            continue
        before, after = (
            _comparable_text("\n".join(side.log.text_at(text.offset) for text in texts))
            for side, texts in zip(pair, texts_by_side, strict=True)
        )
        difference = first_difference(before, after)
        if difference is not None:
            if title:
                line, change.line_before, change.line_after = difference
                change.graph = f"{title}, line {line}"
            return True
    return False


def _comparable_text(text: str) -> str:
    """A text without what does not affect the code: comments, folders, addresses, hashes."""
    return _TEXTS(BACKEND_HASH.sub("", _COMMENT.sub("", text)))


def _compare_whole(change: CompilationChange, before: Compilation, after: Compilation) -> None:
    kernels = kernel_differences(before.kernels, after.kernels)
    change.kernels_gone, change.kernels_new, change.kernels_changed = kernels
    guards = [
        Counter(_comparable_text(guard.expression) for guard in side.guards)
        for side in (before, after)
    ]
    change.guards_gone = list((guards[0] - guards[1]).elements())
    change.guards_new = list((guards[1] - guards[0]).elements())


def _says_something(change: CompilationChange) -> bool:
    """Whether anything that was read differs besides comments, folders and addresses."""
    return not change.is_read or any(
        getattr(change, field)
        for field in change.__struct_fields__
        if field not in ("function", "before", "after", "is_read")
    )


def _time_change(pair: _Pair) -> TimeChange | None:
    before_s, after_s = pair.before.line.duration_s, pair.after.line.duration_s
    if before_s is None or after_s is None:
        return None
    by_s = abs(after_s - before_s)
    if by_s < _SLOWER_BY_S or by_s < _SLOWER_BY * min(before_s, after_s):
        return None
    return TimeChange(
        function=_function(pair.after.line),
        before=pair.before.line.id,
        after=pair.after.line.id,
        before_s=before_s,
        after_s=after_s,
    )
