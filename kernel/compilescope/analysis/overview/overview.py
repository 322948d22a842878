"""Computes a report's overview, once for every view."""

from __future__ import annotations

import math

from ...report import (
    FIRST_CALL_PARTS,
    Answer,
    Count,
    Overview,
    Report,
    Result,
    Sweep,
    TargetResult,
    VariantReport,
)
from ...report.measurements.timings import interval_title
from ...report.problem import COMPILE_FAILED, FULLGRAPH_BREAK, GENERATOR, SUBJECT_RAISED
from ...report.units import duration
from ..figures import causes
from ..figures.counts import (
    always_recompiles,
    compiled_nothing,
    guard_count,
    has_graph,
    kernel_counts,
)
from ..figures.environment_words import device_line, environment_line
from ..figures.speedups import between, is_noisy, latency, over_baseline
from ..figures.wording import count
from ..target.estimate_words import estimated
from .conflicts import conflicts
from .cpp_wrapper_gain import first_call, wrapper
from .limit import limit
from .suggestions import suggestions
from .variants import current, places, title, with_article

_UNMEASURED = "not measured yet"


def overview(report: Report) -> Overview:
    """Work out a report's overview.

    It depends on the report alone, so it is the same in a kernel and in a file.
    """
    shown = places(report)
    results = [_result(variant) for variant in shown if variant.target is None]
    best = _best(report, shown)
    for result in results:
        result.best = best is not None and result.variant == best.name
    scale_us = max(map(_reach, results), default=0.0)
    targets = [_target(variant) for variant in shown if variant.target is not None]
    now = current(report)
    answer = wrapper(report, now) if now is not None else None
    # Measuring for longer decides nothing about calls that end in eager.
    is_decisive = now is None or not always_recompiles(now)
    longer_s = _longer_s(results, answer) if is_decisive else 0
    return Overview(
        headline=_headline(report, shown, best),
        device=device_line(report),
        environment=environment_line(report.environment),
        results=results if report.subject.kind not in _WITHOUT_CALL else [],
        targets=targets,
        scale_us=scale_us,
        axis=_axis(results, scale_us),
        wrapper=answer,
        limit=limit(now, report) if now is not None else None,
        suggestions=suggestions(report, now),
        counts=_counts(report, now),
        longer_s=longer_s,
        longer=_LONGER.format(longer_s) if longer_s else "",
        conflicts=conflicts(report),
    )


_ROUNDS = 16
"""The number of rounds after which the interval of a ratio usually decides."""
_LONGER = (
    "cs.measure(report, seconds={}), in the session that inspected the call, times them for longer."
)


def _longer_s(results: list[Result], answer: Answer | None) -> int:
    """How many seconds to measure for a decided result; 0 if it is decided already."""
    speedups = [result.speedup for result in results if result.speedup is not None]
    undecided = any(speedup.standing in ("few", "noisy") for speedup in speedups)
    if not undecided and not (answer is not None and answer.undecided):
        return 0
    round_s = sum(result.latency_us or 0.0 for result in results) / 1e6
    return 10 * max(1, math.ceil(_ROUNDS * round_s / 10))


def _reach(result: Result) -> float:
    """The value that the chart's axis must reach: a wide interval may be cut off, a bar not."""
    if result.interval_us is None or result.noisy or result.few:
        return result.latency_us or 0.0
    return result.interval_us[1]


def _axis(results: list[Result], scale_us: float) -> str:
    """What the bars of the chart show; the range of too few samples is not drawn."""
    timed = [result for result in results if result.interval_us is not None]
    drawn = next((f", {result.interval_title}" for result in timed if not result.few), "")
    return f"0 \u2013 {duration(scale_us)}{drawn}" if timed else ""


_WITHOUT_CALL = ("watch", "trace", "package")


def _result(variant: VariantReport) -> Result:
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
        result.why = next(
            (problem.what for problem in variant.problems if problem.severity == "error"),
            "It failed.",
        )
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


def _target(variant: VariantReport) -> TargetResult:
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
        target_result.text = next(
            (problem.what for problem in variant.problems if problem.severity == "error"),
            "It failed.",
        )
    elif estimate is None or estimate.call_us is None:
        target_result.text = variant.absent.get("estimate", estimated(target))
    else:
        target_result.call_us = estimate.call_us
        target_result.text = estimated(target)
    return target_result


def _best(report: Report, shown: list[VariantReport]) -> VariantReport | None:
    """The variant with the lowest latency of those that are certainly faster than eager."""
    faster = [
        variant
        for variant in shown
        if variant.timing is not None
        and variant.requested.backend is not None
        and not compiled_nothing(variant)
        and not _is_wrong(variant)
        and not always_recompiles(variant)
        and not _consumes_generator(variant)
        and (over := over_baseline(variant.timing)) is not None
        and over.standing == "faster"
    ]
    return min(
        faster,
        key=lambda variant: variant.timing.median_us if variant.timing else 0.0,
        default=None,
    )


def _is_wrong(variant: VariantReport) -> bool:
    return not all(error.ok for error in variant.accuracy)


def _consumes_generator(variant: VariantReport) -> bool:
    """Whether the variant computes values that eager only would if they were consumed."""
    return any(problem.what == GENERATOR for problem in variant.problems)


def _headline(report: Report, shown: list[VariantReport], best: VariantReport | None) -> str:
    if report.subject.kind in _WITHOUT_CALL:
        return _happened(report)
    verdict = _differing(shown) + _recompiling(shown) + _verdict(report, shown, best)
    record = causes.cell_record(report)
    if record is None or best is not None or all(variant.timing is None for variant in shown):
        return verdict
    # Where the timing decides nothing, what the cell recompiled and broke is certain.
    happened = [causes.recompiles(record.compilations), causes.breaks(record.breaks)]
    texts = [counted.text for counted in happened if counted.number]
    return f"{' and '.join(texts)} in the cell. {verdict}" if texts else verdict


def _differing(shown: list[VariantReport]) -> str:
    """Names the variants whose results differ from eager's; empty if none do."""
    wrong = [with_article(title(variant)) for variant in shown if _is_wrong(variant)]
    if not wrong:
        return ""
    return f"Results of {_names(wrong)} differ from eager's. "


def _recompiling(shown: list[VariantReport]) -> str:
    """Names the variants that every call recompiles; empty if that is none or all of them."""
    compiled = [
        variant
        for variant in shown
        if variant.timing is not None and variant.requested.backend is not None
    ]
    again = [variant for variant in compiled if always_recompiles(variant)]
    if not again or len(again) == len(compiled):
        return ""
    names = _names([with_article(title(variant)) for variant in again])
    changed = always_recompiles(again[0])
    return f"Every call of {names} recompiles: it changes {changed}, which a guard compares. "


_NAMED = 3


def _names(titles: list[str]) -> str:
    return " and ".join(titles) if len(titles) < _NAMED else f"{len(titles)} variants"


def _verdict(report: Report, shown: list[VariantReport], best: VariantReport | None) -> str:
    timed = [variant for variant in shown if variant.timing is not None]
    again = [variant for variant in timed if always_recompiles(variant)]
    compiled = [
        variant
        for variant in timed
        if variant.requested.backend is not None and not always_recompiles(variant)
    ]
    if again and not compiled:
        changed = always_recompiles(again[0])
        return (
            f"Every call recompiles, up to torch's limit: it changes {changed}, which a guard "
            "compares. The latencies are for calls with restored state."
        )
    if any(map(_consumes_generator, timed)):
        return GENERATOR
    if best is not None and best.timing is not None:
        over = over_baseline(best.timing)
        gain = f"{over.text} than {over.over}" if over is not None else ""
        noisy = is_noisy(best.timing.interval_us)
        takes = gain if noisy else f"{latency(best.timing)} a call, {gain}"
        pairs = [(variant, between(variant, best)) for variant in compiled if variant is not best]
        beside_best = [(variant, pair.standing) for variant, pair in pairs if pair is not None]
        same = [title(variant) for variant, standing in beside_best if standing == "same"]
        if same:
            return f"{title(best)} and {same[0]} show no difference: {takes}."
        for variant, standing in beside_best:
            if standing in ("noisy", "few"):
                why = "Too noisy" if standing == "noisy" else "Too few rounds"
                verb = "is" if noisy else "takes"
                rival = with_article(title(variant))
                rival_over = over_baseline(variant.timing) if variant.timing is not None else None
                if over is not None and rival_over is not None and rival_over.standing == "faster":
                    # Which has the smaller median is chance, and its factor may be the smaller.
                    both = f"{title(best)} is {gain}, {rival} {rival_over.text}"
                    return f"{both}. {why} to tell which of them is faster."
                return f"{title(best)} {verb} {takes}. {why} to compare it with {rival}."
        return f"{title(best)} is fastest: {takes}."
    failed = [variant for variant in shown if variant.stage == "failed"]
    if idle := _compiled_nothing(shown):
        return idle
    if compiled:
        ratios = [
            (variant, ratio)
            for variant in compiled
            if variant.timing is not None and (ratio := over_baseline(variant.timing)) is not None
        ]
        standings = [ratio.standing for _, ratio in ratios]
        if standings and all(standing == "slower" for standing in standings):
            return "torch.compile makes this call slower: eager is fastest."
        slower = [(variant, ratio) for variant, ratio in ratios if ratio.standing == "slower"]
        rest = [variant for variant, ratio in ratios if ratio.standing in ("noisy", "few")]
        if slower and rest:
            variant, ratio = slower[0]
            why = "Too noisy" if "noisy" in standings else "Too few rounds"
            rivals = f"the {len(rest)} others" if len(rest) > 1 else with_article(title(rest[0]))
            known = f"{title(variant)} is {ratio.text} than {ratio.over}"
            if len(slower) > 1:
                known = f"{len(slower)} variants are slower than {ratio.over}"
            return f"{known}. {why} to judge {rivals}."
        if "noisy" in standings:
            return "Too noisy to judge which variant is fastest."
        if "few" in standings:
            return "Too few rounds to tell which variant is fastest."
        if any(ratio.standing == "faster" and _is_wrong(variant) for variant, ratio in ratios):
            return "No variant with correct results is measurably faster than eager."
        return "No variant is measurably faster than eager."
    if failed and all(
        variant.stage == "failed" for variant in shown if variant.requested.backend is not None
    ):
        problem = next(
            (candidate for candidate in failed[0].problems if candidate.severity == "error"), None
        )
        if problem is None:
            return f"{COMPILE_FAILED}."
        is_headline = problem.what.startswith((COMPILE_FAILED, SUBJECT_RAISED))
        return problem.what if is_headline else f"{COMPILE_FAILED}: {problem.what}"
    targets = [_target(variant) for variant in shown if variant.target is not None]
    estimates = [target for target in targets if target.call_us is not None]
    if estimates and len(targets) == len(
        [variant for variant in shown if variant.requested.backend is not None]
    ):
        first = min(estimates, key=lambda target: target.call_us or 0.0)
        what = with_article(first.title) if len(estimates) > 1 else first.device
        return f"Estimated for {what}, not measured: {first.text}."
    if not any(variant.compilations for variant in shown):
        if report.compilations:
            return _happened(report)
        return _swept(report.sweep) or "Nothing is compiled yet."
    if all(variant.stage == "captured" for variant in shown if variant.compilations):
        return "Graphs are captured; their code is being generated."
    return "Code is generated; nothing is measured yet."


def _compiled_nothing(shown: list[VariantReport]) -> str:
    """Why torch.compile compiled nothing in any variant; empty where it compiled something."""
    ran = [
        variant
        for variant in shown
        if variant.requested.backend is not None and variant.stage in ("sources", "built")
    ]
    if not all(map(compiled_nothing, ran)):
        return ""
    return next((problem.what for variant in ran for problem in variant.problems), "")


def _swept(sweep: Sweep | None) -> str:
    """The result of a sweep, for a report with nothing else; empty if it has none yet."""
    verdicts = [] if sweep is None else [words for words in sweep.verdicts.values() if words]
    if sweep is None or len(verdicts) < 2:
        return "".join(verdicts)
    return f"{count(len(sweep.cells), 'cell')} compared, at {len(sweep.shapes)} shapes."


def _happened(report: Report) -> str:
    compilations = report.compilations
    if not compilations:
        return "Nothing was compiled."
    breaks = [graph_break for variant in report.variants for graph_break in variant.breaks]
    summary = count(len(compilations), "compilation")
    parts = [causes.recompiles(compilations).text, causes.breaks(breaks).text]
    spent = sum(compilation.duration_s or 0.0 for compilation in compilations)
    time = f", {duration(spent * 1e6)} of compile time" if spent else ""
    return f"{summary}: {' and '.join(parts)}{time}."


def _counts(report: Report, now: VariantReport | None) -> list[Count]:
    """Counts of graphs, breaks, recompiles, kernels and guards of the overview's variant.

    Without a call, or before it is compiled, they cover all compilations of the report.
    """
    if report.subject.kind in _WITHOUT_CALL or (now is None and report.compilations):
        compilations = report.compilations
        breaks = [graph_break for variant in report.variants for graph_break in variant.breaks]
        again, broken = causes.recompiles(compilations), causes.breaks(breaks)
        total_s = sum(compilation.duration_s or 0.0 for compilation in compilations) or None
        parts = name = ""
    elif now is not None:
        compilations, name = now.compilations, now.name
        again = causes.variant_recompiles(report, now)
        broken = causes.variant_breaks(report, now)
        total_s = now.compile_time.total_s if now.compile_time is not None else None
        parts = _largest(now)
    elif report.sweep is not None and report.sweep.cells:
        cells = len(report.sweep.cells)
        return [Count(number=cells, text=f"{count(cells, 'cell')} compared", view="sweep")]
    else:
        return []
    graphs = sum(map(has_graph, compilations))
    kernels = kernel_counts(compilations)
    guards = sum(map(guard_count, compilations))
    happened = [Count(number=graphs, text=count(graphs, "graph"), view="graph"), broken, again]
    if not broken.number and now is not None and _ended_at_break(now):
        happened.remove(broken)
    if kernels.text:
        happened.append(Count(number=kernels.number, text=kernels.text, view="kernels"))
    if guards:
        happened.append(Count(number=guards, text=count(guards, "guard"), view="guards"))
    happened += _not_in_effect(report, now)
    wrong = [variant for variant in report.variants if _is_wrong(variant)]
    if wrong:
        number = sum(not error.ok for error in wrong[0].accuracy)
        text = f"{count(number, 'result differs', 'results differ')} from eager's"
        happened.append(
            Count(number=number, text=text, view="accuracy", warning=True, of=wrong[0].name)
        )
    if total_s is not None:
        text = f"compile time {duration(total_s * 1e6)}{parts}"
        happened.append(Count(number=1, text=text, view="compile-time"))
    if name:
        for fact in happened:
            fact.of = fact.of or name
    return happened


def _ended_at_break(now: VariantReport) -> bool:
    """Whether a graph break was an error, which torch does not log as a break."""
    return any(problem.what.startswith(FULLGRAPH_BREAK) for problem in now.problems)


def _not_in_effect(report: Report, now: VariantReport | None) -> list[Count]:
    """The settings not in effect, and of which variants if the current one lacks some."""
    variants = {
        variant.name: {setting.setting for setting in variant.effective if setting.differs}
        for variant in report.variants
    }
    settings: set[str] = set().union(*variants.values())
    if not settings:
        return []
    own = now is not None and variants[now.name] == settings
    names = [name for name, differing in variants.items() if differing]
    text = f"{count(len(settings), 'setting')} not in effect: {', '.join(sorted(settings)[:2])}"
    if now is not None and not own:
        text += f" ({', '.join(names)})"
    return [
        Count(
            number=len(settings),
            text=text,
            view="requested",
            warning=True,
            of="" if own or now is None else names[0],
        )
    ]


def _largest(variant: VariantReport) -> str:
    """The two longest parts of the first call, in words."""
    compiled = variant.compile_time
    if compiled is None:
        return ""
    parts = sorted(
        (
            (seconds, FIRST_CALL_PARTS[part])
            for part, seconds in compiled.parts.items()
            if part in FIRST_CALL_PARTS and part != "other"
        ),
        reverse=True,
    )
    longest = [f"{name} {duration(seconds * 1e6)}" for seconds, name in parts[:2] if seconds > 0]
    return f" ({', '.join(longest)})" if longest else ""
