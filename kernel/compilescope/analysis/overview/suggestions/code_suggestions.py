"""What to change in the user's code: against recompiles and graph breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ....report import (
    STACK_VALUE,
    Advice,
    Compilation,
    DistinctBreak,
    Recompile,
    RecompileCause,
    Report,
    SourceLine,
    Suggestion,
    VariantReport,
)
from ....report.break_advice import (
    BEFORE,
    advice_on,
    calls_backward,
    code_against,
    is_by_design,
    is_librarys,
    is_torchs,
    without_output,
    wrapped_step,
)
from ....report.resumed import plain_function
from ...figures.wording import compile_time, count, place
from ...guards.reasons.expected_recompiles import SAVES_NOTHING
from ...guards.reasons.recompile_words import guarded_value
from ...problems.breaks import same_break, skips_frame
from .ranked_suggestion import Ranked

_AT_LIMIT = 0.995
"""The rank of recompiles that hit torch's limit: later calls run in eager every time."""
_ON_ARGUMENTS = ("mark_dynamic", "mark_unbacked", "tensor", "contiguous", "dtype", "requires_grad")
"""Kinds of advice on what a call passes."""
_SIZES = ("mark_dynamic", "dynamic")
"""Kinds of advice on changing sizes: ``dynamic=True`` removes these recompiles too."""


def against_recompiles(variant: VariantReport, now: VariantReport | None) -> Iterator[Ranked]:
    """Suggestions against recompiles: one for all recompiles that the same change removes."""
    by_change: dict[_Change, list[tuple[Compilation, Recompile, Advice]]] = {}
    group_by_guard: dict[tuple[str, tuple[str, str]], _Change] = {}
    for compilation in variant.compilations:
        recompile = compilation.recompile
        if recompile is not None and recompile.advice:
            advice = recompile.advice[0]
            change = _change(compilation, recompile, advice)
            frame = compilation.id.partition("/")[0]
            guards = [
                (frame, guarded_value(failure)) for failure in recompile.failures if failure.source
            ]
            if recompile.eager_fallback and guards and guards[0] in group_by_guard:
                # The last compilation of a frame that hit the limit does not name its caller. The
                # change that removes the other recompiles of the same guard removes it too.
                change = group_by_guard[guards[0]]
            elif advice.kind not in SAVES_NOTHING:
                group_by_guard.update(dict.fromkeys(guards, change))
            by_change.setdefault(change, []).append((compilation, recompile, advice))
    for ended in by_change.values():
        compilation, recompile, advice = ended[0]
        # A call that runs in eager instead of being compiled is slower each time.
        took_s = (
            sum(
                compilation.duration_s or 0.0
                for compilation, recompile, _ in ended
                if not recompile.eager_fallback
            )
            if advice.kind not in SAVES_NOTHING
            else 0.0
        )
        limit = _limit_words(ended)
        title = _in_title([recompile for _, recompile, _ in ended])
        action = "No change needed for" if advice.kind == "normal" else "Avoid"
        # What needs no change comes last.
        promise = 0.0 if advice.kind == "normal" else _promise(took_s)
        yield Ranked(
            _AT_LIMIT if limit else promise,
            Suggestion(
                what=f"{action} {_which(ended)}{title}",
                why=f"{limit}{advice.what}",
                gain=f"costs {compile_time(took_s)}" if took_s else "",
                basis="measured" if took_s else "unknown",
                code=advice.code,
                place=_place(advice, recompile, compilation.frame),
                view="recompiles",
                compilation=compilation.id,
                **_dynamic(advice, now),
            ),
        )


class _Change(NamedTuple):
    """What identifies a change of the code: equal code in two places is two changes."""

    code: str
    file: str
    line: int


def _change(compilation: Compilation, recompile: Recompile, advice: Advice) -> _Change:
    file, line = (advice.where.file, advice.where.line) if advice.where is not None else ("", 0)
    if advice.kind == "dynamic":
        # Behind a graph break the code for the same change differs: the caller's name for the
        # compiled function is unknown there.
        return _Change(
            _of_function(compilation.frame), compilation.frame.file if compilation.frame else "", 0
        )
    if advice.kind == "normal":
        # The parts of a function before and after a graph break are compiled for the same calls.
        return _Change(advice.what, "", 0)
    frame = compilation.id.rpartition("/")[0]
    return _Change(
        advice.code or f"{frame}: {advice.what}",
        file,
        0 if _is_guarded_line(advice, recompile) else line,
    )


def _which(ended: Sequence[tuple[Compilation, Recompile, Advice]]) -> str:
    """``3 recompiles and the fallback to eager``: at torch's limit nothing is compiled."""
    ids = [compilation.id for compilation, recompile, _ in ended if not recompile.eager_fallback]
    fallbacks = len(ended) - len(ids)
    recompiles = f"recompile {ids[0]}" if len(ids) == 1 else count(len(ids), "recompile")
    fallback = "the fallback to eager" if fallbacks == 1 else f"{fallbacks} fallbacks to eager"
    return " and ".join([recompiles] * bool(ids) + [fallback] * bool(fallbacks))


def _limit_words(ended: Sequence[tuple[Compilation, Recompile, Advice]]) -> str:
    """Returns that the recompile limit was hit; empty if it was not."""
    for _, recompile, _ in ended:
        if recompile.eager_fallback and recompile.limit_text:
            frame = next((compilation.frame for compilation, _, _ in ended), None)
            function = plain_function(frame.function) if frame is not None else ""
            return f"{function or 'The function'} was {recompile.limit_text}. "
    return ""


def _of_function(frame: SourceLine | None) -> str:
    """Where ``dynamic=True`` belongs, even if its code is unknown."""
    function = plain_function(frame.function) if frame is not None else ""
    return f"in place of the torch.compile of {function or 'the function'}"


def _place(advice: Advice, recompile: Recompile, frame: SourceLine | None) -> str:
    """Where the code of advice on a recompile belongs."""
    if advice.kind == "stance":
        return "after the calls that should be compiled, before the others"
    if advice.kind in ("duck_shape", "limit"):
        return BEFORE
    if not advice.code:
        return ""
    if advice.where is None:
        return "before the call" if advice.kind in _ON_ARGUMENTS else ""
    if advice.kind == "dynamic":
        return _of_function(frame)
    if _is_guarded_line(advice, recompile):
        return "once, before the first call"
    return f"before the call ({place(advice.where)})"


def _is_guarded_line(advice: Advice, recompile: Recompile) -> bool:
    """Whether the line of the advice is inside the compiled function, where its code cannot go."""
    guarded_lines = [failure.where for failure in recompile.failures]
    return advice.kind == "tensor" and advice.where in guarded_lines


def _dynamic(advice: Advice, now: VariantReport | None) -> dict[str, Any]:
    """The trial that a button offers: the overview's variant with ``dynamic=True``."""
    if now is None or now.target is not None or advice.kind not in _SIZES:
        return {}
    dynamic_variant = msgspec.structs.replace(now.requested, dynamic=True)
    return {"requested": dynamic_variant, "trial": "dynamic=True"}


def _in_title(recompiles: Sequence[Recompile]) -> str:
    """What changed, as `` (x.size(0): 8 → 9; n: 1 → 2, …)``: the ellipsis is for other values.

    Of a recompile it names the first cause, which the advice is on.

    Empty if it is more than two things, or if one of them has no values, or no name.
    """
    by_subject: dict[str, dict[str, RecompileCause]] = {}
    for recompile in recompiles:
        for cause in recompile.causes[:1]:
            by_subject.setdefault(cause.subject, {}).setdefault(cause.text, cause)
    if not all(recompile.causes for recompile in recompiles) or len(by_subject) > _NAMED_CAUSES:
        return ""
    words = []
    for subject, causes_by_text in by_subject.items():
        known = [text for text, cause in causes_by_text.items() if cause.was and cause.now]
        if not known or _UNNAMED in subject or STACK_VALUE in subject:
            return ""
        words.append(known[0] + (", …" if len(causes_by_text) > 1 else ""))
    return f" ({'; '.join(words)})"


_NAMED_CAUSES = 2
"""A suggestion's title names at most so many causes."""
_UNNAMED = "___stack"
"""Dynamo's name for a part of a value that was on Python's stack at a graph break."""


def against_breaks(variant: VariantReport, report: Report) -> Iterator[Ranked]:
    """Suggestions against graph breaks: one for all breaks that the same change ends."""
    has_backward = any(calls_backward(graph_break.cause) for graph_break in variant.breaks)
    breaks = [graph_break for graph_break in variant.breaks if not is_by_design(graph_break.cause)]
    for group in _by_change(breaks, has_backward=has_backward):
        graph_break = group[0]
        lines = _lines(group)
        which = f"{len(group)} graph breaks" if len(group) > 1 else "graph break"
        what = f"Fix the {which}"
        if len(lines) == 1:
            what += at_place(lines[0], report)
        where = graph_break.cause.where
        names = dict.fromkeys(_code_at(each, variant) for each in group)
        if where is not None and _CALL_ITSELF.search(where.file):
            what = "Fix the graph break at the call itself"
        elif len(names) == 1 and (name := next(iter(names))):
            what += f": {name}"
        skipped = "".join(dict.fromkeys(_skipped(each, variant) for each in group))
        cause = graph_break.cause
        reason = " ".join(cause.explanation.split()) or "; ".join(cause.reason.splitlines())
        wasted_us = sum(each.wasted_us or 0.0 for each in group)
        code, paste = code_against(cause, has_backward=has_backward)
        yield Ranked(
            _promise(wasted_us / 1e6),
            Suggestion(
                what=what,
                why=skipped + (advice_on(cause) or reason),
                # The lost fusion and the further guards of each call are not measured.
                gain=f"wastes {compile_time(wasted_us / 1e6)}" if wasted_us else "not measured",
                basis="estimated" if wasted_us else "unknown",
                code=code,
                place=paste,
                lines=lines if len(lines) > 1 else [],
                view="breaks",
            ),
        )


def _lines(breaks: Iterable[DistinctBreak]) -> list[SourceLine]:
    """The lines to change, each once."""
    lines = (_caller(each) or each.cause.where for each in breaks)
    known = {(line.file, line.line): line for line in lines if line is not None}
    return [known[position] for position in sorted(known)]


def _code_at(graph_break: DistinctBreak, variant: VariantReport) -> str:
    """The code that breaks the graph, as in a title; empty if it is unknown."""
    caller = _caller(graph_break)
    if caller is not None:
        return f"`{caller.code.strip().rstrip(':')}`{_torchs_function(graph_break)}"
    where = graph_break.cause.where
    # In a function that was inlined, what runs in eager is the call of it: another line.
    is_other = (
        _skipped(graph_break, variant)
        or len(graph_break.cause.stack) > 1
        or wrapped_step(graph_break.cause)
    )
    line = where.code.strip() if is_other and where is not None else ""
    code = line or next(iter(graph_break.eager), "")
    return f"`{code.rstrip(':')}`" if code else ""


def _caller(graph_break: DistinctBreak) -> SourceLine | None:
    """The user's line from which a break in torch or in Python's library is reached, or None."""
    cause = graph_break.cause
    if not is_librarys(cause.where):
        return None
    users = (line for line in reversed(cause.stack) if line.code and not is_librarys(line))
    return next(users, None)


_FUNCTION = re.compile(r"<function (\w+) at ")


def _torchs_function(graph_break: DistinctBreak) -> str:
    """The function of torch at which the graph breaks, if torch names it."""
    named = _FUNCTION.search(graph_break.cause.context)
    return f" (torch's {named[1]})" if named else ""


def _skipped(graph_break: DistinctBreak, variant: VariantReport) -> str:
    """Which functions torch runs entirely in eager because of a break; empty if none."""
    skipped = dict.fromkeys(
        occurrence.eager
        for compilation in variant.compilations
        for occurrence in compilation.breaks
        if same_break(occurrence, graph_break.cause) and skips_frame(occurrence, compilation.frame)
    )
    if not skipped:
        return ""
    code = " and ".join(skipped)
    is_in_loop = _IN_LOOP in graph_break.cause.reason
    because = "As the break is in a loop" if is_in_loop else "Because of the break"
    return f"{because}, {code} runs in eager; only functions called there are compiled. "


_IN_LOOP = "graph break in loop"
_CALL_ITSELF = re.compile(r"[/\\]torch[/\\]_dynamo[/\\]external_utils\.py$")
"""Where Dynamo calls a module of torch's own, or what is no function in Python."""


def at_place(where: SourceLine | None, report: Report) -> str:
    """Where code is: the line alone in the subject's own file, if the user wrote it."""
    if where is None:
        return ""
    subject = report.subject.where
    is_own = subject is not None and subject.file == where.file and not is_torchs(where)
    return f" at line {where.line}" if is_own else f" at {place(where)}"


def _by_change(
    breaks: Iterable[DistinctBreak], *, has_backward: bool
) -> Iterable[list[DistinctBreak]]:
    """The graph breaks, together those that the same change ends.

    These are breaks at a line that only prints or logs, and breaks of the same reason,
    explanation and advice.
    """
    groups: dict[tuple[object, ...], list[DistinctBreak]] = {}
    for number, graph_break in enumerate(breaks):
        cause = graph_break.cause
        where = cause.where
        change: tuple[object, ...] = (number,)
        if where is not None and without_output(where):
            change = (where.file, where.line)
        elif where is not None and not _CALL_ITSELF.search(where.file):
            code = code_against(cause, has_backward=has_backward)
            change = (cause.reason.partition("\n")[0], cause.explanation, advice_on(cause), code)
        groups.setdefault(change, []).append(graph_break)
    return groups.values()


def _promise(saved_s: float) -> float:
    """The rank of a suggestion against a recompile or a graph break, by its compile time.

    It is above the rank of suggestions that save part of a call: these costs recur.
    """
    return 0.8 + 0.19 * saved_s / (1 + saved_s)
