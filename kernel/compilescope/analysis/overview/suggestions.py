"""What to change: at most five things, the largest gain first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...report import (
    Help,
    Report,
    Suggestion,
    VariantReport,
    is_record,
)
from ...report.measurements.deployment import BLOCKS, NESTED, WHOLE, DeployWay
from ...report.problem import STUDY_FAILED, SUBJECT_RAISED
from ...report.units import duration, percent
from ...report.variant import Variant
from ..changes.same_code import plainest
from ..figures.counts import always_recompiles, compiled_nothing, kernel_count
from ..figures.speedups import between
from ..graphs.repeated_blocks import compile_each, repeated_blocks, written_path
from ..settings.variant_code import code_of
from .bounds import disturbance
from .code_suggestions import against_breaks, against_recompiles
from .cpp_wrapper_gain import (
    CHANCE,
    SMALL,
    first_call,
    host_time,
    is_marginal,
    is_slower_than_eager,
    trusted,
)
from .python_calls import against_python_calls
from .ranked_suggestion import Ranked
from .time_breakdown import parts_of_call
from .unsettled import unsettled
from .variants import distinct, eager_of, title, with_article
from .verdict_helps import BEFORE, BREAKS, CPP, GRAPHS, GUARDS

MOST = 5
_SLOW_S = 3.0
"""If the first call is shorter than this, regional compilation is not suggested."""
_WORTH = 0.6
"""If regional compilation leaves more than this share of the first call, it is not suggested."""


def suggestions(report: Report, now: VariantReport | None) -> list[Suggestion]:
    """The suggestions with the largest gains.

    Those that were measured state the gain; those that were tried without gain are left out.
    Recompiles and graph breaks, whose costs recur, come before what saves part of a call.

    Parameters
    ----------
    now
        The variant that gains are measured against.
    """
    if now is not None and _fails_by_itself(now):
        return []
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
        ranked += [
            *against_recompiles(variant, now),
            *against_breaks(variant, report),
            *_settings(variant),
            *against_python_calls(variant),
        ]
    if now is not None:
        # One call of the variant recompiles nothing; the loop in the user's cell may have.
        for variant in (recorded for recorded in report.variants if is_record(recorded)):
            for candidate in against_recompiles(variant, now):
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


def _fails_by_itself(now: VariantReport) -> bool:
    """Whether the call raises without torch.compile too, so that no setting helps."""
    return now.stage == "failed" and any(
        problem.what.startswith(SUBJECT_RAISED) for problem in now.problems
    )


def _untried(report: Report, ranked: list[Ranked]) -> Iterator[Ranked]:
    """Links suggestions to their trials in the report; drops those whose trial failed."""
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
    """Suggests variants of the report that are certainly faster, with correct results.

    If every call recompiles, none is: calls end in eager, and only that is worth a change.
    """
    if changed := always_recompiles(now):
        others = now.timing.other_recompiles if now.timing is not None else []
        yield Ranked(
            1.0,
            Suggestion(
                what=f"Change {_listed([changed, *others])} outside the compiled code, or keep "
                + ("them in tensors" if others else "it in a tensor"),
                why=(
                    "Every call changes all of them, and guards compare them: a change for one "
                    "alone does not avoid the recompiles."
                    if others
                    else "Every call changes it, and a guard compares it."
                ),
                gain="avoids recompiles, and eager beyond torch's limit",
                # The recompiles were counted, but not the calls after such a change.
                view="recompiles",
            ),
        )
        return
    same_code = _same_code(report, now)
    for variant in distinct(report.variants):
        if variant.requested.backend is None or variant.target is not None:
            continue
        if is_slower_than_eager(variant, report):
            continue
        if variant.name in same_code:
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
    eager = eager_of(report)
    over = between(now, eager) if eager is not None else None
    is_right = all(error.ok for error in now.accuracy)
    if over is None or eager is None or over.standing != "slower" or compiled_nothing(now):
        return
    is_certain = over.ratio < _CERTAIN or not unsettled([now, eager])
    if is_right and is_certain:
        yield Ranked(
            min(1 - over.ratio, _BELOW_BREAKS),
            Suggestion(
                what="Do not compile this call, or compile more at once",
                why=_why_slower(now, eager),
                gain=f"now {over.text} than eager",
                basis="measured",
                view="timings",
            ),
        )


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _LISTED
    if more > 0:
        return f"{', '.join(values[:_LISTED])} and {more} more"
    return " and ".join(filter(None, [", ".join(values[:-1]), values[-1]]))


def _same_code(report: Report, now: VariantReport) -> set[str]:
    """The names of the variants that have the code of the overview's: none is worth a change."""
    plain = plainest(report.variants)
    return {name for name, variant in plain.items() if variant is plain[now.name]}


_CERTAIN = 0.5
"""A call that is slower than eager by more than this would hardly catch up once times settle."""
_BELOW_BREAKS = 0.79
"""The rank of advice not to compile is below that of graph breaks, which may be the cause."""


def _why_slower(variant: VariantReport, eager: VariantReport) -> str:
    if any(map(kernel_count, variant.compilations)):
        kernels_us = _kernels_us(variant)
        if kernels_us is None or eager.timing is None:
            return (
                "Either the overhead around the kernels costs more than fusion saves, or the "
                "kernels are slower than eager's. The breakdown of the time shows which."
            )
        if kernels_us < eager.timing.median_us:
            return "The overhead around the kernels costs more than fusion saves."
        return (
            f"The kernels alone take {duration(kernels_us)}, the whole call in eager "
            f"{duration(eager.timing.median_us)}."
        )
    lacking = (
        "this call needs no kernels"
        if variant.requested.uses_inductor
        else "this backend generates no kernels that could save time"
    )
    return f"Compiled code has an overhead, and {lacking}."


def _kernels_us(variant: VariantReport) -> float | None:
    """The time of the kernels in a call, without a backward, as timings are."""
    if not variant.layers or not trusted(variant):
        return None
    return sum(
        layer.us
        for layers in variant.layers
        for layer in layers.layers
        if layers.direction != "backward" and layer.kind in ("kernels", "compiled")
    )


def _switch(variant: VariantReport) -> str:
    name = title(variant)
    if variant.requested.mode and variant.name == variant.requested.mode:
        return f'mode="{variant.requested.mode}"'
    return with_article(name)


def _helps(now: VariantReport, report: Report) -> Iterator[Ranked]:
    """What usually helps against the variant's limit, unless the report measured it."""
    verdict = now.verdict
    if verdict is None or (now.layers and disturbance(now)):
        return
    same_code = _same_code(report, now)
    for position, help_ in enumerate(verdict.helps):
        if help_.what == BREAKS[0]:
            continue  # each break is a suggestion of its own
        if help_.variant in same_code:
            continue  # tried: it changes nothing
        if help_.speedup is not None and help_.speedup.standing not in ("noisy", "few"):
            continue  # tried: it is among the faster variants, or had no gain
        # Layers that do not add up show what limits a call, but not how much a change saves.
        saved = _at_most(now, help_) if trusted(now) else None
        whole = sum(layers.whole_us for layers in now.layers)
        # Nothing can be measured on a device that this machine lacks.
        gain, promise = "not measured" if now.target is None else "not estimated", 0.05
        if help_.speedup is not None:
            gain = help_.speedup.text  # tried, without a result
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
            # Guards take longer in a call than in the repeated checks of their cost.
            checked = help_.what == GUARDS[0] and _guards_us(now) is not None
            most = "about" if checked else "up to"
            gain = f"{most} {duration(saved)} ({percent(saved / whole)}) less per call"
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
    """Estimates for a device that this machine lacks: of the variant, and of what was tried.

    None if launches of either are not counted: two lower bounds do not compare.
    """
    tried = _find(report, help_.requested)
    pair = [
        variant.target.estimate.call_us
        for variant in (now, tried)
        if variant is not None
        and variant.target is not None
        and variant.target.estimate is not None
        and not variant.target.estimate.unknown
    ]
    if len(pair) < 2 or pair[0] is None or pair[1] is None:
        return None
    return pair[0], pair[1]


_LISTED = 4
"""How many values a suggestion names."""
_LEAST = 0.01
"""The smallest share of a call that a change must save to be suggested."""
_SAVES = {GRAPHS[0]: ("wrapper", "launches"), GUARDS[0]: ("guards",)}
"""What helps → the layers whose time it can save at most."""


def _at_most(now: VariantReport, help_: Help) -> float | None:
    if help_.what == CPP[0]:
        host = host_time(now)
        return host.us if host is not None and host.with_launches else None
    kinds = _SAVES.get(help_.what)
    if kinds is None or not now.layers:
        return None
    layers_us = sum(layer.us for layer in parts_of_call(now) if layer.kind in kinds)
    guards_us = _guards_us(now) if help_.what == GUARDS[0] else None
    return layers_us if guards_us is None else min(layers_us, guards_us)


def _guards_us(variant: VariantReport) -> float | None:
    """The time of the guard checks alone; None if it was not measured.

    The layer also includes entering Dynamo, which filtering guards does not save.
    """
    costs = [
        compilation.guard_tree[0].cost_ns
        for compilation in variant.compilations
        if compilation.guard_tree
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / 1000 if known and len(known) == len(costs) else None


def _settings(variant: VariantReport) -> Iterator[Ranked]:
    for setting in variant.effective:
        if setting.differs and setting.remedy:
            deviation = f"requested {setting.requested}, effective {setting.actual}"
            yield Ranked(
                0.3,
                Suggestion(
                    what=setting.remedy,
                    # torch's reasons are no sentences: ``mutated inputs (1 instances)``.
                    why=f"{setting.setting}: " + ": ".join(filter(None, (deviation, setting.why))),
                    gain="not measured",
                    code=setting.code
                    or (code_of(setting.trial) if setting.trial is not None else ""),
                    place=BEFORE if setting.code and setting.trial is None else "",
                    requested=setting.trial,
                    view="requested",
                ),
            )


def _blocks(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Suggests regional compilation if many equal blocks make the first call long.

    After a trial the suggestion stays, and reports the result.
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
    if blocks.differs and (trial is None or trial.quickest is None):
        return
    # Equal blocks share their kernels: those are built once in any case.
    built_s = _built_s(now)
    left_s = built_s + (cold_s - built_s) * (1 - blocks.share * (1 - 1 / blocks.number))
    if trial is None and left_s > _WORTH * cold_s:
        return
    kind, path = blocks.type or "block", written_path(blocks.path, compilation, report.subject)
    suggestion = Suggestion(
        what=f"Compile the repeated block once: {kind} \u00d7 {blocks.number} in {path}",
        why="Equal blocks share one compilation; each is then a separate call.",
        code=compile_each(
            path, torchs_own=blocks.torchs_own, only=blocks.type if blocks.mixed else ""
        ),
        place="in place of torch.compile, before the first call",
        of=now.name,
    )
    left = left_s / cold_s
    if trial is not None:
        left = _tried(suggestion, trial, now)
    else:
        suggestion.gain = (
            f"first call {duration(cold_s * 1e6)} \u2192 about {duration(left_s * 1e6)}"
            f"{_entering(now, blocks.number - 1)}"
        )
        suggestion.basis, suggestion.view = "estimated", "compile-time"
        # The study compiles the blocks of a list that holds nothing else.
        tries = report.subject.kind == "module" and not blocks.mixed
        suggestion.study = "blocks" if tries else ""
    yield Ranked(0.25 * max(1 - left, 0.0), suggestion, trial is not None)


def _built_s(now: VariantReport) -> float:
    """How long the first call waited for kernels to be built."""
    kinds = now.compile_time.kinds if now.compile_time is not None else []
    return sum(kind.self_us for kind in kinds if kind.kind in ("triton", "cpp_build")) / 1e6


def _entering(now: VariantReport, times: int) -> str:
    """What entering compiled code more often costs, in words; empty if unknown.

    At most: a block has fewer inputs and guards than the whole.
    """
    if not now.layers or not trusted(now):
        return ""
    entry = sum(
        layer.us
        for layer in parts_of_call(now)
        if layer.kind in ("guards", "bytecode", "aot", "inductor")
    )
    return f", but up to {duration(entry * times)} more per call"


class _Trial(NamedTuple):
    """The result of compiling the repeated block once."""

    quickest: DeployWay | None
    """The way with the shortest first call of those with correct results."""
    why: str = ""
    """Why there is no such way."""


def _trial(now: VariantReport) -> _Trial | None:
    """The result of the trial; None if it was not tried."""
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


def _tried(suggestion: Suggestion, trial: _Trial, now: VariantReport) -> float:
    """Adds the trial's result to the suggestion; returns the share of the first call that is left.

    Both first calls are those of new processes with nothing cached.
    """
    quickest = trial.quickest
    suggestion.view = "sweep"
    if quickest is None or quickest.cold_s is None:
        suggestion.gain, suggestion.study = f"failed: {trial.why}", "blocks"
        suggestion.code = suggestion.place = ""
        return 1.0
    over = quickest.speedup
    decided = over is not None and over.standing in ("faster", "slower")
    then = f", then {over.text} than eager" if over is not None and decided else ""
    suggestion.basis = "measured"
    if quickest.name == NESTED:
        suggestion.code = quickest.code
    whole_s = next((way.cold_s for way in now.ways if way.name == WHOLE), None)
    after = duration(quickest.cold_s * 1e6)
    if whole_s is None:  # a file of an earlier version
        suggestion.gain = f"first call in a new process {after}{then}"
        return 1.0
    shorter = f"first call in a new process {duration(whole_s * 1e6)} \u2192 {after}{then}"
    suggestion.gain = shorter
    if quickest.cold_s > (1 - CHANCE) * whole_s:
        suggestion.gain = f"no gain: {shorter}"
        suggestion.code = suggestion.place = ""
    return quickest.cold_s / whole_s
