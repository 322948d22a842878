"""What to change: at most five things, the largest gain first."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import (
    Help,
    Report,
    Suggestion,
    VariantReport,
    is_record,
)
from ....report.break_advice import BEFORE
from ....report.measurements.accuracy import is_mismatch
from ....report.problem import SUBJECT_RAISED
from ....report.units import duration, percent
from ....report.variant import Variant
from ...changes.same_code import plainest
from ...figures.counts import compiled_nothing, kernel_count, recompile_remedy
from ...figures.speedups import between
from ...settings.variant_code import code_of
from ..bounds import disturbance
from ..cpp_wrapper_gain import (
    SMALL,
    host_time,
    is_marginal,
    is_slower_than_eager,
    trusted,
)
from ..time_breakdown import parts_of_call
from ..variants import distinct, eager_of, named, title, with_article
from ..warm_up import unsettled
from .block_suggestions import regional_compilation
from .code_suggestions import against_breaks, against_recompiles
from .complex_operators import against_complex_operators
from .python_calls import against_python_calls
from .random_numbers import against_random_numbers
from .ranked_suggestion import Ranked
from .verdict_helps import BREAKS, CPP, GRAPHS, GUARDS
from .weight_copies import against_weight_copies

MAX_SUGGESTIONS = 5


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
    ranked = list(_wrong(report))
    if now is not None:
        ranked += _measured(report, now)
        tried = {candidate.suggestion.variant for candidate in ranked}
        ranked += [
            candidate
            for candidate in _helps(now, report)
            if candidate.suggestion.variant not in tried
        ]
        ranked += regional_compilation(report, now)
        ranked += against_weight_copies(report, now)
        ranked += against_random_numbers(report, now)
        ranked += against_complex_operators(report, now)
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
    seen: dict[tuple[object, ...], Ranked] = {}
    for candidate in ranked:
        suggestion = candidate.suggestion
        lines = tuple((where.file, where.line) for where in suggestion.lines)
        key = (suggestion.what, suggestion.code, lines)
        if key not in seen or seen[key].promise < candidate.promise:
            seen[key] = candidate
    ordered = sorted(seen.values(), key=lambda candidate: -candidate.promise)
    shown = ordered[:MAX_SUGGESTIONS]
    tried_below = [candidate for candidate in ordered[MAX_SUGGESTIONS:] if candidate.was_tried]
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
    if remedy := recompile_remedy(now):
        others = now.timing.other_recompiles if now.timing is not None else []
        yield Ranked(
            1.0,
            Suggestion(
                what=remedy,
                why=(
                    "Every call changes all of them, and guards check them: fixing only one does "
                    "not avoid the recompiles."
                    if others
                    else "Every call changes it, and a guard checks it."
                ),
                gain="avoids a recompile in every call, and eager calls after torch's limit",
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
    if is_right and is_certain and not is_marginal(over):
        yield Ranked(
            min(1 - over.ratio, _BELOW_BREAKS),
            Suggestion(
                what=_NOT_AT_ALL if _kernels_are_slower(now, eager) else _NOT_ALONE,
                why=_why_slower(now, eager),
                gain=f"now {over.text} than eager",
                basis="measured",
                view="timings",
            ),
        )


def _wrong(report: Report) -> Iterator[Ranked]:
    """Advises against variants whose results differ from eager's, and says what to do."""
    for variant in report.variants:
        problem = next(filter(is_mismatch, variant.problems), None)
        if problem is not None:
            yield Ranked(
                1.0,
                Suggestion(
                    what=f"Do not use {named(variant)}: results differ from eager's",
                    why=problem.remedy,
                    view="accuracy",
                    of=variant.name,
                ),
                was_tried=True,
            )


def _same_code(report: Report, now: VariantReport) -> set[str]:
    """The names of the variants that have the code of the overview's: none is worth a change."""
    plain = plainest(report.variants)
    return {name for name, variant in plain.items() if variant is plain[now.name]}


_CERTAIN = 0.5
"""A call that is slower than eager by more than this would hardly catch up once times settle."""
_OVERHEAD = "The overhead around the kernels costs more than fusion saves."
_NOT_AT_ALL = "Do not compile this call"
_NOT_ALONE = f"{_NOT_AT_ALL}, or compile more at once"
"""More kernels in a call share its overhead, which does not make them faster."""
_BELOW_BREAKS = 0.79
"""The rank of advice not to compile is below that of graph breaks, which may be the cause."""


def _why_slower(variant: VariantReport, eager: VariantReport) -> str:
    if any(map(kernel_count, variant.compilations)):
        if variant.verdict is not None and variant.verdict.bound == "cpu":
            return _OVERHEAD
        kernels_us = _kernels_us(variant)
        if kernels_us is None or eager.timing is None:
            return (
                "Either the overhead around the kernels costs more than fusion saves, or the "
                "kernels are slower than eager's. The breakdown of the time shows which."
            )
        if not _kernels_are_slower(variant, eager):
            return _OVERHEAD
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


def _kernels_are_slower(variant: VariantReport, eager: VariantReport) -> bool:
    """Whether the kernels alone take as long as the whole call in eager."""
    if variant.verdict is not None and variant.verdict.bound == "cpu":
        return False
    kernels_us = _kernels_us(variant)
    return (
        kernels_us is not None and eager.timing is not None and kernels_us >= eager.timing.median_us
    )


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
            if saved / whole < (SMALL if help_.what == CPP[0] else _MIN_SHARE):
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


_MIN_SHARE = 0.01
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
