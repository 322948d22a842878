"""Computes a report's overview, once for every view."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...report import (
    Answer,
    Count,
    Overview,
    Report,
    Result,
    TargetResult,
    VariantReport,
)
from ...report.measurements.accuracy import NO_TENSORS, NOTHING_TO_COMPARE, is_mismatch
from ...report.measurements.timings import interval_title
from ...report.problem import FULLGRAPH_BREAK, first_error
from ...report.units import duration
from ..changes.rank_words import rank_count
from ..changes.same_code import plainest
from ..figures import event_counts
from ..figures.counts import (
    always_recompiles,
    guard_count,
    has_graph,
    kernel_counts,
    repeated_runs,
)
from ..figures.environment_words import device_line, environment_line
from ..figures.speedups import is_noisy, latency, over_baseline
from ..figures.wording import count, largest_parts
from ..target.estimate_words import estimated
from . import next_calls
from .conflicts import conflicts
from .cpp_wrapper_gain import first_call, wrapper
from .headline import (
    WITHOUT_CALL,
    common_failure,
    fastest,
    headline,
    is_wrong,
    why_nothing,
)
from .limit import limit
from .machine_load import machine_load
from .suggestions.python_calls import called_through_python
from .suggestions.suggestions import suggestions
from .variants import current, places, title, with_article
from .warm_up import unsettled

_UNMEASURED = "not measured yet"


def overview(report: Report) -> Overview:
    """Work out a report's overview.

    It depends on the report alone, so it is the same in a kernel and in a file.
    """
    shown = places(report)
    failure = common_failure(shown)
    results = [
        _result(variant, is_said=failure is not None) for variant in shown if variant.target is None
    ]
    best = fastest(shown)
    plain = plainest(shown)
    for result in results:
        stands = plain[result.variant]
        if stands.name != result.variant:
            result.same_code = f"same code as {with_article(title(stands))}"
        result.best = best is not None and result.variant == best.name
    scale_us = _scale(results)
    repeats = any(repeated_runs(variant.compilations) for variant in shown)
    targets = [_target(variant, repeats=repeats) for variant in shown if variant.target is not None]
    now = current(report)
    answer = wrapper(report, now) if now is not None else None
    # Measuring for longer decides nothing about calls that run in eager, or end there.
    is_decisive = now is None or not (always_recompiles(now) or why_nothing(shown))
    longer_s = _longer_s(results, answer) if is_decisive else 0
    longer = next_calls.measure_longer(report, longer_s) if longer_s else ""
    bound = limit(now, report) if now is not None else None
    remedies = [part.remedy for part in (answer, bound) if part is not None]
    return Overview(
        headline=headline(report, shown, best, targets),
        failure=failure,
        device=device_line(report),
        environment=environment_line(report.environment),
        results=results if report.subject.kind not in WITHOUT_CALL else [],
        targets=targets,
        scale_us=scale_us,
        axis=_axis(results, scale_us),
        scope=_scope(report, shown),
        load=" ".join(filter(None, [machine_load(shown), unsettled(shown)])),
        wrapper=answer,
        limit=bound,
        suggestions=suggestions(report, now),
        counts=[*_counts(report, now), *rank_count(report.rank)],
        longer_s=longer_s,
        longer=longer,
        needed_import=next_calls.needed_import(longer, *remedies),
        conflicts=conflicts(report),
    )


def _scope(report: Report, shown: Sequence[VariantReport]) -> str:
    """What the figures are of, where it is less than the user may think."""
    left_out = [problem.what for problem in report.problems if "inner_call" in problem.facts]
    forward = [_FORWARD] if any(_is_forward(variant) for variant in shown) else []
    return " ".join([*left_out, *forward])


_FORWARD = "Latencies are of the forward; kernels, compile time and accuracy include the backward."


def _is_forward(variant: VariantReport) -> bool:
    """Whether a backward followed the call that was timed."""
    return variant.has_backward and variant.timing is not None


_ROUNDS = 16
"""The number of rounds after which the interval of a ratio usually decides."""


def _longer_s(results: list[Result], answer: Answer | None) -> int:
    """How many seconds to measure for a decided result; 0 if it is decided already."""
    speedups = [result.speedup for result in results if result.speedup is not None]
    undecided = any(speedup.standing in ("few", "noisy") for speedup in speedups)
    if not undecided and not (answer is not None and answer.undecided):
        return 0
    round_s = sum(result.latency_us or 0.0 for result in results) / 1e6
    return 10 * max(1, math.ceil(_ROUNDS * round_s / 10))


def _scale(results: list[Result]) -> float:
    """The value that the chart's axis reaches: that of every bar, and of its interval."""
    longest = max((result.latency_us or 0.0 for result in results), default=0.0)
    return max([longest, *(result.interval_us[1] for result in results if result.interval_us)])


def _axis(results: list[Result], scale_us: float) -> str:
    """What the bars of the chart show.

    The range of too few samples is drawn only where it stands for the median (`Result.noisy`).
    """
    timed = [result for result in results if result.interval_us is not None]
    titles = [result.interval_title for result in timed if not result.few]
    titles += [result.interval_title for result in timed if result.noisy]
    drawn = f", {titles[0]}" if titles else ""
    return f"0 \u2013 {duration(scale_us)}{drawn}" if timed else ""


def _result(variant: VariantReport, *, is_said: bool) -> Result:
    """A variant's row.

    Parameters
    ----------
    is_said
        Whether the overview's own failure says why the variant failed.
    """
    result = Result(variant=variant.name, title=title(variant))
    timing = variant.timing
    result.accurate = all(error.ok for error in variant.accuracy) if variant.accuracy else None
    result.first_call_s = first_call(variant)
    compile_time = variant.compile_time
    result.cold = compile_time is None or compile_time.cold or bool(variant.startups)
    if result.first_call_s is not None:
        warm = "" if result.cold else " (warm)"
        result.first_call = f"{duration(result.first_call_s * 1e6)}{warm}"
    if variant.stage == "failed":
        result.state = "failed"
        result.why = "" if is_said else _why_failed(variant)
    elif timing is None:
        result.why = variant.absent.get("timing", _UNMEASURED)
    else:
        result.state = "measured"
        result.latency_us = timing.median_us
        result.noisy = is_noisy(timing.interval_us)
        result.interval_us = timing.interval_us
        result.interval_title, result.few = interval_title(timing), timing.few
        result.latency = latency(timing)
        label = "" if timing.few else f"{result.interval_title} "
        result.interval = f"{label}{timing.interval}"
        result.speedup = None if variant.requested.backend is None else over_baseline(timing)
    return result


def _why_failed(variant: VariantReport) -> str:
    error = first_error(variant.problems)
    return error.what if error is not None else "It failed."


def _target(variant: VariantReport, *, repeats: bool) -> TargetResult:
    target = variant.target
    assert target is not None, "the caller has looked"
    name, device = title(variant), target.device.name
    target_result = TargetResult(
        variant=variant.name,
        title=name if device in name else f"{name} ({device})",
        device=device,
    )
    estimate = target.estimate
    if variant.stage == "failed":
        target_result.text = _why_failed(variant)
    elif estimate is None or estimate.call_us is None:
        target_result.text = variant.absent.get("estimate", estimated(target))
    else:
        target_result.call_us = estimate.call_us
        target_result.text = estimated(target, repeats=repeats)
    return target_result


def _counts(report: Report, now: VariantReport | None) -> list[Count]:
    """Counts of graphs, breaks, recompiles, kernels and guards of the overview's variant.

    Without a call, or before it is compiled, they cover all compilations of the report.
    """
    if report.subject.kind in WITHOUT_CALL or (now is None and report.compilations):
        compilations = report.compilations
        breaks = [graph_break for variant in report.variants for graph_break in variant.breaks]
        recompiled, broken = event_counts.recompiles(compilations), event_counts.breaks(breaks)
        total_s = sum(compilation.duration_s or 0.0 for compilation in compilations) or None
        parts = name = ""
        timed = "compile time"
    elif now is not None:
        compilations, name = now.compilations, now.name
        recompiled = event_counts.variant_recompiles(report, now)
        broken = event_counts.variant_breaks(report, now)
        total_s = now.compile_time.total_s if now.compile_time is not None else None
        parts = _largest(now)
        timed = "first call"
    elif report.sweep is not None and report.sweep.cells:
        cells = len(report.sweep.cells)
        return [Count(number=cells, text=f"{count(cells, 'cell')} compared", view="sweep")]
    else:
        return []
    graphs = sum(map(has_graph, compilations))
    kernels = kernel_counts(compilations)
    guards = sum(map(guard_count, compilations))
    text = count(graphs, "graph")
    if graphs != len(compilations):
        text += f" in {count(len(compilations), 'compilation')}"
    happened = [Count(number=graphs, text=text, view="graph"), broken, recompiled]
    if not broken.number and now is not None and _ended_at_break(now):
        happened.remove(broken)
    if kernels.text:
        happened.append(Count(number=kernels.number, text=kernels.text, view="kernels"))
    if guards:
        happened.append(Count(number=guards, text=count(guards, "guard"), view="guards"))
    happened += _not_in_effect(report, now)
    happened += called_through_python(report, now)
    wrong = [variant for variant in report.variants if is_wrong(variant)]
    if wrong:
        number = sum(not error.ok for error in wrong[0].accuracy)
        text = f"{count(number, 'result differs', 'results differ')} from eager's"
        # The problem of the variant says the same.
        is_listed = any(map(is_mismatch, wrong[0].problems))
        happened.append(
            Count(
                number=number,
                text=text,
                view="accuracy",
                warning=not is_listed,
                of=wrong[0].name,
            )
        )
    unchecked = now.absent.get("accuracy", "") if now is not None and not now.accuracy else ""
    if unchecked and unchecked not in (NO_TENSORS, NOTHING_TO_COMPARE):
        text = "results not compared with eager's"
        happened.append(Count(text=text, view="accuracy", why=unchecked))
    if total_s is not None:
        text = f"{timed} {duration(total_s * 1e6)}{parts}"
        happened.append(Count(number=1, text=text, view="compile-time"))
    if name:
        for fact in happened:
            fact.of = fact.of or name
    return happened


def _ended_at_break(now: VariantReport) -> bool:
    """Whether a graph break was an error, which torch does not log as a break."""
    return any(problem.what.startswith(FULLGRAPH_BREAK) for problem in now.problems)


def _not_in_effect(report: Report, now: VariantReport | None) -> list[Count]:
    """The settings not in effect, each with its variants if the current one lacks some."""
    variants: dict[str, list[str]] = {}
    for variant in report.variants:
        for setting in variant.effective:
            if setting.differs:
                of_setting = variants.setdefault(setting.setting, [])
                if variant.name not in of_setting:
                    of_setting.append(variant.name)
    if not variants:
        return []
    own = now is not None and all(now.name in names for names in variants.values())
    shown, more = _some(sorted(variants))
    settings_by_names: dict[str, list[str]] = {}
    for name in shown:
        names, others = _some(variants[name])
        of = "" if own or now is None else f" ({', '.join(names)}{others})"
        settings_by_names.setdefault(of, []).append(name)
    text = "; ".join(f"{', '.join(names)}{of}" for of, names in settings_by_names.items())
    first = next(
        variant.name
        for variant in report.variants
        if any(setting.differs for setting in variant.effective)
    )
    return [
        Count(
            number=len(variants),
            text=f"{count(len(variants), 'setting')} not in effect: {text}{more}",
            view="requested",
            warning=True,
            of="" if own or now is None else first,
        )
    ]


_NAMED = 3
"""So many settings are named, and so many variants of each; a fourth is named, not counted."""


def _some(names: Sequence[str]) -> tuple[Sequence[str], str]:
    """The names to list, and how many more there are."""
    if len(names) <= _NAMED + 1:
        return names, ""
    return names[:_NAMED], f" and {len(names) - _NAMED} more"


def _largest(variant: VariantReport) -> str:
    """The two longest parts of the first call, in words."""
    longest = largest_parts(variant.compile_time.parts) if variant.compile_time else ""
    return f" ({longest})" if longest else ""
