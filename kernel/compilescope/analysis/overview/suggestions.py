"""What to change: at most five things, the largest gain first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ...report import (
    Advice,
    Compilation,
    Help,
    Recompile,
    Report,
    SourceLine,
    Suggestion,
    VariantReport,
    is_record,
)
from ...report.measurements.deployment import BLOCKS, NESTED, DeployWay
from ...report.problem import STUDY_FAILED
from ...report.units import duration, percent
from ...report.variant import Variant
from ..figures.speedups import between
from ..figures.wording import place
from ..graphs.repeated_blocks import compile_each, repeated_blocks, written_path
from ..problems.breaks import plain_function
from ..settings.variant_code import code_of
from .spent import parts_of_call
from .variants import title, with_article
from .verdict_helps import BEFORE, BREAKS, CPP, GRAPHS, GUARDS
from .wrapper import CHANCE, SMALL, first_call, is_marginal, trusted

MOST = 5
_SLOW_S = 3.0
"""A first call that is shorter than this is not worth compiling blocks of."""
_WORTH = 0.6
"""Blocks that leave more than this part of the first call are too little of the model."""


class Ranked(NamedTuple):
    """A suggestion, and how much it promises: from 0, nothing, to 1."""

    promise: float
    suggestion: Suggestion
    was_tried: bool = False
    """Whether it says what came of a trial: that stays, however little it promises."""


def suggestions(report: Report, now: VariantReport | None) -> list[Suggestion]:
    """The changes that promise most.

    What was measured comes with the figure; what was tried and brought nothing is left out. What
    costs time again and again (recompiles, graph breaks) comes before what saves a part of a call.

    Parameters
    ----------
    now
        The variant that gains are measured against.
    """
    ranked: list[Ranked] = []
    if now is not None:
        ranked += _measured(report, now)
        tried = {candidate.suggestion.variant for candidate in ranked}
        ranked += [
            candidate
            for candidate in _helps(now, report)
            if candidate.suggestion.variant not in tried
        ]
        ranked += _blocks(report, now)
    for variant in [now] if now is not None else report.variants:
        ranked += [*_recompiles(variant, now), *_breaks(variant, report), *_settings(variant)]
    if now is not None:
        # One call of the variant recompiles nothing; the loop in the user's cell may have.
        for variant in (recorded for recorded in report.variants if is_record(recorded)):
            for candidate in _recompiles(variant, now):
                candidate.suggestion.of = variant.name
                ranked.append(candidate)
        ranked = list(_untried(report, ranked))
    seen: dict[tuple[str, str], Ranked] = {}
    for candidate in ranked:
        key = (candidate.suggestion.what, candidate.suggestion.code)
        if key not in seen or seen[key].promise < candidate.promise:
            seen[key] = candidate
    ordered = sorted(seen.values(), key=lambda candidate: -candidate.promise)
    shown = ordered[:MOST]
    tried_below = [candidate for candidate in ordered[MOST:] if candidate.was_tried]
    if tried_below:
        shown[-len(tried_below) :] = tried_below
    return [candidate.suggestion for candidate in shown]


def _untried(report: Report, ranked: list[Ranked]) -> Iterator[Ranked]:
    """Suggestions whose trial is in the report lead to it; those whose trial failed are dropped."""
    for candidate in ranked:
        suggestion = candidate.suggestion
        tried = _find(report, suggestion.requested)
        if tried is None:
            yield candidate
            continue
        suggestion.requested = None
        if tried.stage != "failed":
            suggestion.variant = tried.name
        if tried.stage != "failed" or suggestion.trial:
            yield candidate


def _find(report: Report, requested: Variant | None) -> VariantReport | None:
    matches = (
        variant
        for variant in report.variants
        if not is_record(variant) and variant.requested == requested
    )
    return next(matches, None)


def _measured(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Other variants of the report that are faster for certain, and right."""
    for variant in report.variants:
        if variant is now or variant.requested.backend is None or variant.target is not None:
            continue
        ratio = between(variant, now)
        right = all(error.ok for error in variant.accuracy)
        if ratio is None or ratio.standing != "faster" or is_marginal(ratio):
            continue
        if right:
            yield Ranked(
                1 - 1 / ratio.ratio,
                Suggestion(
                    what=f"Use {_switch(variant)}",
                    why=next(
                        (
                            help_.why
                            for help_ in (now.verdict.helps if now.verdict else [])
                            if help_.variant == variant.name
                        ),
                        "",
                    ),
                    gain=f"{ratio.text} than {with_article(title(now))}",
                    basis="measured",
                    code=code_of(variant.requested),
                    variant=variant.name,
                    view="timings",
                ),
            )
    eager = next(
        (variant for variant in report.variants if variant.requested.backend is None), None
    )
    over = between(now, eager) if eager is not None else None
    if over is not None and over.standing == "slower":
        yield Ranked(
            1 - over.ratio,
            Suggestion(
                what="Do not compile this call, or compile more at once",
                why="The overhead around the kernels costs more than fusion saves.",
                gain=f"now {over.text} than eager",
                basis="measured",
                view="timings",
            ),
        )


def _switch(variant: VariantReport) -> str:
    name = title(variant)
    if variant.requested.mode and variant.name == variant.requested.mode:
        return f'mode="{variant.requested.mode}"'
    return with_article(name)


def _helps(now: VariantReport, report: Report) -> Iterator[Ranked]:
    """What usually helps against what binds it, as far as it was not measured."""
    verdict = now.verdict
    if verdict is None or (now.layers and not trusted(now)):
        return
    for position, help_ in enumerate(verdict.helps):
        if help_.what == BREAKS[0]:
            continue  # each break is a suggestion of its own
        if help_.speedup is not None and help_.speedup.standing not in ("noisy", "few"):
            continue  # it was tried: it is among what is faster, or it brought nothing
        saved = _at_most(now, help_)
        whole = sum(layers.whole_us for layers in now.layers)
        # Nothing can be measured on a device that is not there.
        gain, promise = "not measured" if now.target is None else "not estimated", 0.05
        estimates = _estimates(now, help_, report)
        if estimates is not None:
            us, tried_us = estimates
            if tried_us >= us:
                continue
            gain = f"about {duration(tried_us)} instead of {duration(us)} per call"
            promise = 0.5 * (1 - tried_us / us)
        if saved is not None and whole > 0:
            if saved / whole < (SMALL if help_.what == CPP[0] else _LEAST):
                continue
            gain = f"up to {duration(saved)} ({percent(saved / whole)}) less per call"
            promise = 0.5 * saved / whole
        yield Ranked(
            promise - position / 1000,
            Suggestion(
                what=help_.what,
                why=help_.why,
                gain=gain,
                basis="unknown" if saved is None and estimates is None else "estimated",
                code=help_.code,
                variant=help_.variant,
                requested=help_.requested,
                place=help_.place,
                view="verdict",
            ),
        )


def _estimates(now: VariantReport, help_: Help, report: Report) -> tuple[float, float] | None:
    """Estimates of a call on a device that is not there: of the variant, and of what was tried."""
    tried = _find(report, help_.requested)
    pair = [
        variant.target.estimate.call_us
        for variant in (now, tried)
        if variant is not None
        and variant.target is not None
        and variant.target.estimate is not None
    ]
    if len(pair) < 2 or pair[0] is None or pair[1] is None:
        return None
    return pair[0], pair[1]


_LEAST = 0.01
"""The part of a call that is worth a change."""
_SAVES = {CPP[0]: ("wrapper",), GRAPHS[0]: ("wrapper", "launches"), GUARDS[0]: ("guards",)}
"""What helps → the layers that it can save, all of them at most."""


def _at_most(now: VariantReport, help_: Help) -> float | None:
    kinds = _SAVES.get(help_.what)
    if kinds is None or not now.layers:
        return None
    layers_us = sum(layer.us for layer in parts_of_call(now) if layer.kind in kinds)
    guards_us = _guards_us(now) if help_.what == GUARDS[0] else None
    return layers_us if guards_us is None else min(layers_us, guards_us)


def _guards_us(variant: VariantReport) -> float | None:
    """What checking the guards takes by itself; None where that was not measured.

    The layer has the cost of entering Dynamo too, which a filter of guards does not save.
    """
    costs = [
        compilation.guard_tree[0].cost_ns
        for compilation in variant.compilations
        if compilation.guard_tree
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / 1000 if known and len(known) == len(costs) else None


_GIVEN_UP = 0.995
"""Recompiles that reached torch's limit: what follows runs in eager at every call."""
_SIZES = ("mark_dynamic", "dynamic")
"""Advice against recompiles for sizes that change, which ``dynamic=True`` ends as well."""


def _recompiles(variant: VariantReport, now: VariantReport | None) -> Iterator[Ranked]:
    """What to change against recompiles: once for all that the same change ends."""
    by_change: dict[str, list[tuple[Compilation, Recompile, Advice]]] = {}
    group_by_guard: dict[tuple[str, str], str] = {}
    for compilation in variant.compilations:
        recompile = compilation.recompile
        if recompile is not None and recompile.advice:
            advice = recompile.advice[0]
            # Of a frame that begins at a graph break the same change has other words: the name that
            # the caller has for the compiled function is not known there.
            change = _place(advice, recompile) if advice.kind == "dynamic" else advice.code
            change = change or compilation.id
            frame = compilation.id.partition("/")[0]
            guards = [(frame, failure.source) for failure in recompile.failures if failure.source]
            if advice.kind == "stance":
                # The last compilation of a frame that torch gave up on does not name its caller, so
                # nothing more specific is known of it: what ends the others of the guard ends it.
                change = next(filter(None, map(group_by_guard.get, guards)), change)
            else:
                group_by_guard.update(dict.fromkeys(guards, change))
            by_change.setdefault(change, []).append((compilation, recompile, advice))
    for ended in by_change.values():
        compilation, recompile, advice = ended[0]
        took_s = sum(compilation.duration_s or 0.0 for compilation, _, _ in ended)
        ids = [compilation.id for compilation, _, _ in ended]
        which = f"recompile {ids[0]}" if len(ids) == 1 else f"{len(ids)} recompiles"
        cause = next(filter(None, (_cause(recompile) for _, recompile, _ in ended)), "")
        given_up = _given_up(ended)
        yield Ranked(
            _GIVEN_UP if given_up else _promise(took_s),
            Suggestion(
                what=f"Avoid {which}{cause}",
                why=f"{given_up}{advice.what}",
                gain=f"saves {duration(took_s * 1e6)} of compile time" if took_s else "",
                basis="measured" if took_s else "unknown",
                code=advice.code,
                place=_place(advice, recompile),
                view="recompiles",
                compilation=compilation.id,
                **_dynamic(advice, now),
            ),
        )


def _given_up(ended: Sequence[tuple[Compilation, Recompile, Advice]]) -> str:
    """That torch reached its limit of recompiles, in words; empty where it did not."""
    for _, recompile, _ in ended:
        if any(advice.kind == "limit" for advice in recompile.advice):
            frame = next((compilation.frame for compilation, _, _ in ended), None)
            function = plain_function(frame.function) if frame is not None else ""
            return (
                f"torch compiled {function or 'the function'} {recompile.limit} times, its limit; "
                "new cases run in eager. "
            )
    return ""


def _place(advice: Advice, recompile: Recompile) -> str:
    """Where the code of advice on a recompile belongs."""
    if advice.where is None or not advice.code:
        return ""
    if advice.kind == "dynamic":
        function = plain_function(advice.where.function) or "the function"
        return f"in place of the torch.compile of {function}"
    guarded_lines = [failure.where for failure in recompile.failures]
    if advice.kind == "tensor" and advice.where in guarded_lines:
        # That line is inside the compiled function.
        return "once, before the first call"
    return f"before the call ({place(advice.where)})"


def _dynamic(advice: Advice, now: VariantReport | None) -> dict[str, Any]:
    """What a button can try of the advice: all sizes as symbols, in the overview's variant."""
    if now is None or now.target is not None or advice.kind not in _SIZES:
        return {}
    dynamic_variant = msgspec.structs.replace(now.requested, dynamic=True)
    return {"requested": dynamic_variant, "trial": "dynamic=True"}


def _cause(recompile: Recompile) -> str:
    """What changed, as ``: x.size(0) 8 → 9``; empty where that has no values, or no name."""
    failure = next(iter(recompile.failures), None)
    if failure is None or not failure.old or not failure.new or _UNNAMED in failure.source:
        return ""
    source = re.sub(r"^L\['(\w+)'\]", r"\1", failure.source)
    if failure.dimension is not None:
        source += f".{failure.kind}({failure.dimension})"
    return f": {source} {failure.old} \u2192 {failure.new}"


_UNNAMED = "___stack"
"""How Dynamo calls a value that was on Python's stack at a graph break."""


def _breaks(variant: VariantReport, report: Report) -> Iterator[Ranked]:
    for graph_break in variant.breaks:
        where = graph_break.cause.where
        what = f"Fix the graph break{_at(where, report)}"
        # In a function that was inlined, what runs in eager is the call of it: another line.
        inlined = where is not None and len(graph_break.cause.stack) > 1
        line = where.code.strip() if inlined and where is not None else ""
        if line or graph_break.eager:
            what += f": {(line or graph_break.eager[0]).rstrip(':')}"
        cost = (
            f"saves up to {duration(graph_break.cost_us)} of compile time"
            if graph_break.cost_us
            else ""
        )
        hints = graph_break.cause.hints
        mended = _without_output(where) if where is not None else ""
        named = next(filter(None, map(_SETTING.search, hints)), None)
        setting = f"torch._dynamo.config.{named['name']} = {named['value']}" if named else ""
        yield Ranked(
            _promise(graph_break.cost_us / 1e6 if graph_break.cost_us else None),
            Suggestion(
                what=what,
                why=_why(hints[0], where) if hints else graph_break.cause.reason,
                gain=cost or "not measured",
                basis="estimated" if graph_break.cost_us else "unknown",
                code=setting or mended,
                place=BEFORE if setting else _in_place(where, mended),
                view="breaks",
            ),
        )


def _at(where: SourceLine | None, report: Report) -> str:
    """Where a graph break is: the line alone in the subject's own file."""
    if where is None:
        return ""
    subject = report.subject.where
    is_own = subject is not None and subject.file == where.file
    return f" at line {where.line}" if is_own else f" at {place(where)}"


_SETTING = re.compile(
    r"torch\._dynamo\.(?:config\.)?(?P<name>[a-z_]+) ?= ?(?P<value>True|False|\d+)"
)
"""A setting that torch's hint names, of Dynamo: no option of torch.compile has those.

Some hints leave out ``config``, without which the assignment changes nothing.
"""


def _why(hint: str, where: SourceLine | None) -> str:
    """Torch's hint; for a line in torch itself, which nobody edits, what else ends the break."""
    if where is not None and _TORCH.search(where.file):
        return "The break is in torch's own code: leave this call out of what is compiled."
    return _SETTING.sub(r"torch._dynamo.config.\g<name> = \g<value>", hint)


_TORCH = re.compile(r"[/\\]site-packages[/\\]torch[/\\]")
_OUTPUT = re.compile(r"print|warnings\.warn|(\w+\.)?(log|logger|logging)\.\w+")
"""Calls that only write something for a reader."""


def _without_output(where: SourceLine) -> str:
    """The line of a graph break with its output left out where it is compiled; empty if none."""
    try:
        (statement,) = ast.parse(where.code.strip()).body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    if not _OUTPUT.fullmatch(ast.unparse(statement.value.func)):
        return ""
    return f"if not torch.compiler.is_compiling():\n    {where.code.strip()}"


def _in_place(where: SourceLine | None, mended: str) -> str:
    if where is None or not mended:
        return ""
    return f"in place of line {where.line}: no variant can try it, as it changes your code"


def _promise(saved_s: float | None) -> float:
    """How much a recompile or a graph break promises: by the compile time that it costs.

    All of them come before what saves a part of a call, since they cost time again and again.
    """
    return 0.8 + 0.19 * (saved_s / (1 + saved_s) if saved_s else 0.0)


def _settings(variant: VariantReport) -> Iterator[Ranked]:
    for setting in variant.effective:
        if setting.differs and setting.remedy:
            deviation = f"asked for {setting.requested}, got {setting.actual}"
            yield Ranked(
                0.3,
                Suggestion(
                    what=setting.remedy,
                    why=f"{setting.setting}: {deviation}. {setting.why}",
                    gain="not measured",
                    code=setting.code
                    or (code_of(setting.trial) if setting.trial is not None else ""),
                    place=BEFORE if setting.code and setting.trial is None else "",
                    requested=setting.trial,
                    view="requested",
                ),
            )


def _blocks(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Regional compilation, where many equal blocks make the first call long.

    Once it was tried it stays, with what came of it.
    """
    cold_s = first_call(now)
    trial = _trial(now)
    if cold_s is None or now.target is not None or (trial is None and cold_s < _SLOW_S):
        return
    best = max(
        (
            (blocks, compilation)
            for compilation in now.compilations
            if (blocks := repeated_blocks(compilation)) is not None
        ),
        key=lambda repeated: repeated[0].share,
        default=None,
    )
    if best is None:
        return
    blocks, compilation = best
    left_s = cold_s * (1 - blocks.share * (1 - 1 / blocks.number))
    if trial is None and left_s > _WORTH * cold_s:
        return
    kind, path = blocks.type or "block", written_path(blocks.path, compilation, report.subject)
    suggestion = Suggestion(
        what=f"Compile the repeated block once: {kind} \u00d7 {blocks.number} in {path}",
        why="Equal blocks share one compilation; each is then a call of its own.",
        code=compile_each(
            path, torchs_own=blocks.torchs_own, only=blocks.type if blocks.mixed else ""
        ),
        place="in place of torch.compile, before the first call",
        of=now.name,
    )
    if trial is not None:
        left_s = _tried(suggestion, trial, cold_s)
    else:
        suggestion.gain = (
            f"first call {duration(cold_s * 1e6)} \u2192 about {duration(left_s * 1e6)}"
            f"{_entering(now, blocks.number - 1)}"
        )
        suggestion.basis, suggestion.view = "estimated", "compile-time"
        # The study compiles the blocks of a list that holds nothing else.
        tries = report.subject.kind == "module" and not blocks.mixed
        suggestion.study = "blocks" if tries else ""
    yield Ranked(0.25 * max(1 - left_s / cold_s, 0.0), suggestion, trial is not None)


def _entering(now: VariantReport, times: int) -> str:
    """What it costs to enter compiled code more often, in words; empty where that is not known."""
    if not now.layers or not trusted(now):
        return ""
    entry = sum(
        layer.us
        for layer in parts_of_call(now)
        if layer.kind in ("guards", "bytecode", "aot", "inductor")
    )
    return f", but about {duration(entry * times)} more per call"


class _Trial(NamedTuple):
    """What came of compiling the repeated block once."""

    quickest: DeployWay | None
    """Of the ways whose results are right."""
    why: str = ""
    """Why there is none."""


def _trial(now: VariantReport) -> _Trial | None:
    """None where it was not tried."""
    ways = [way for way in now.ways if way.name in (BLOCKS, NESTED)]
    measured = [way for way in ways if way.cold_s is not None and not way.why]
    right = [way for way in measured if way.accurate is not False and way.problem is None]
    if right:
        return _Trial(min(right, key=lambda way: way.cold_s or 0.0))
    failed = STUDY_FAILED.format("blocks")
    problems = [problem for problem in now.problems if problem.what == failed]
    whys = [
        *(way.problem.what for way in ways if way.problem is not None),
        *("the results differ from eager's" for way in measured if way.accurate is False),
        *(way.why for way in ways if way.why),
        *(problem.why for problem in problems),
    ]
    return _Trial(None, whys[0]) if whys else None


def _tried(suggestion: Suggestion, trial: _Trial, cold_s: float) -> float:
    """Puts the outcome of the trial into its suggestion; returns the first call that is left."""
    quickest = trial.quickest
    suggestion.view = "sweep"
    if quickest is None or quickest.cold_s is None:
        suggestion.gain, suggestion.study = f"failed: {trial.why}", "blocks"
        suggestion.code = suggestion.place = ""
        return cold_s
    over = quickest.speedup
    decided = over is not None and over.standing in ("faster", "slower")
    then = f", then {over.text} than eager" if over is not None and decided else ""
    shorter = f"first call {duration(cold_s * 1e6)} \u2192 {duration(quickest.cold_s * 1e6)}{then}"
    suggestion.basis = "measured"
    if quickest.name == NESTED:
        suggestion.code = quickest.code
    suggestion.gain = shorter
    if quickest.cold_s > (1 - CHANCE) * cold_s:
        suggestion.gain = f"no gain: {shorter}"
        suggestion.code = suggestion.place = ""
    return quickest.cold_s
