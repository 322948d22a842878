"""The first sentence of a report's overview."""

from __future__ import annotations

from ...report import (
    Problem,
    Report,
    Sweep,
    TargetResult,
    VariantReport,
)
from ...report.problem import GENERATOR, compile_failure, first_error
from ..changes.same_code import plainest
from ..figures import event_counts
from ..figures.counts import (
    always_recompiles,
    compiled_nothing,
)
from ..figures.outcome_words import compilation_count_of
from ..figures.speedups import between, is_noisy, latency, over_baseline
from ..figures.wording import compile_time, count
from .cpp_wrapper_gain import is_marginal
from .variants import distinct, leading, named, title, with_article

WITHOUT_CALL = ("watch", "trace", "package")
"""Kinds of subjects that are not called."""


def fastest(shown: list[VariantReport]) -> VariantReport | None:
    """The variant with the lowest latency of those that are certainly faster than eager.

    Of variants with the same code, the plainest one stands for all.
    """
    faster = [
        variant
        for variant in distinct(shown)
        if variant.timing is not None
        and variant.requested.backend is not None
        and not compiled_nothing(variant)
        and not is_wrong(variant)
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


def failing(shown: list[VariantReport]) -> list[VariantReport]:
    """The variants that failed, if all that torch.compile compiles did; else none."""
    failed = [variant for variant in shown if variant.stage == "failed"]
    compiled = [variant for variant in shown if variant.requested.backend is not None]
    return failed if all(variant.stage == "failed" for variant in compiled) else []


def common_failure(shown: list[VariantReport]) -> Problem | None:
    """The error of all variants, if all failed with the same."""
    errors = [first_error(variant.problems) for variant in failing(shown)]
    same = {error.what if error is not None else "" for error in errors}
    return errors[0] if len(same) == 1 else None


def is_wrong(variant: VariantReport) -> bool:
    """Return whether a result of a variant differs from eager's."""
    return not all(error.ok for error in variant.accuracy)


def _consumes_generator(variant: VariantReport) -> bool:
    """Whether the variant computes values that eager only would if they were consumed."""
    return any(problem.what == GENERATOR for problem in variant.problems)


def headline(
    report: Report,
    shown: list[VariantReport],
    best: VariantReport | None,
    targets: list[TargetResult],
) -> str:
    """Return the first sentence of an overview: which variant is fastest, or why none is.

    Parameters
    ----------
    report, shown
        A report, and its variants that the overview shows.
    best
        As `fastest` gives it.
    targets
        The estimates for devices that are not there.
    """
    if report.subject.kind in WITHOUT_CALL:
        return _happened(report)
    verdict = _differing(shown) + _recompiling(shown) + _verdict(report, shown, best, targets)
    if best is not None:
        verdict += _same_code(shown, best)
    record = event_counts.cell_record(report)
    if record is None or best is not None or all(variant.timing is None for variant in shown):
        return verdict
    # Where the timing decides nothing, what the cell recompiled and broke is certain.
    happened = [event_counts.recompiles(record.compilations), event_counts.breaks(record.breaks)]
    texts = [counted.text for counted in happened if counted.number]
    return f"{' and '.join(texts)} in the cell. {verdict}" if texts else verdict


def _differing(shown: list[VariantReport]) -> str:
    """Names the variants whose results differ from eager's; empty if none do."""
    wrong = [named(variant) for variant in shown if is_wrong(variant)]
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
    recompiling = [variant for variant in compiled if always_recompiles(variant)]
    if not recompiling or len(recompiling) == len(compiled):
        return ""
    names = _names([with_article(title(variant)) for variant in recompiling])
    changed = always_recompiles(recompiling[0])
    return f"Every call of {names} recompiles: it changes {changed}, which a guard checks. "


def _same_code(shown: list[VariantReport], best: VariantReport) -> str:
    """Names the variants whose code is the fastest one's; empty if there are none."""
    plain = plainest([variant for variant in shown if variant.timing is not None])
    same = [
        with_article(title(variant))
        for variant in shown
        if variant is not best and plain.get(variant.name) is best
    ]
    if not same:
        return ""
    subject = _names(same) if len(same) < _NAMED else f"{len(same)} others"
    names = f"The {subject[4:]}" if subject.startswith("the ") else subject
    return f" {names} {'has' if len(same) == 1 else 'have'} the same code."


_NAMED = 3


def _names(titles: list[str]) -> str:
    return " and ".join(titles) if len(titles) < _NAMED else f"{len(titles)} variants"


def _verdict(
    report: Report,
    shown: list[VariantReport],
    best: VariantReport | None,
    targets: list[TargetResult],
) -> str:
    timed = [variant for variant in shown if variant.timing is not None]
    recompiling = [variant for variant in timed if always_recompiles(variant)]
    compiled = [
        variant
        for variant in distinct(timed)
        if variant.requested.backend is not None and not always_recompiles(variant)
    ]
    if recompiling and not compiled:
        changed = always_recompiles(recompiling[0])
        timing = recompiling[0].timing
        is_restored = timing is not None and timing.initial_state == "restored"
        return (
            f"Every call recompiles, up to torch's limit: it changes {changed}, which a guard "
            "checks. "
            + (
                "The latencies are for calls with restored state."
                if is_restored
                else "That cannot be restored between calls: the latencies include recompiles and "
                "calls in eager."
            )
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
        same = [variant for variant, standing in beside_best if standing == "same"]
        if same:
            other = with_article(title(same[0]))
            return f"{leading(best)} and {other} show no difference: {takes}."
        for variant, standing in beside_best:
            if standing in ("noisy", "few"):
                why = "Too noisy" if standing == "noisy" else "Too few rounds"
                verb = "is" if noisy else "takes"
                rival = with_article(title(variant))
                rival_over = over_baseline(variant.timing) if variant.timing is not None else None
                if over is not None and rival_over is not None and rival_over.standing == "faster":
                    # Which has the smaller median is chance, and its factor may be the smaller.
                    both = f"{leading(best)} is {gain}, {rival} {rival_over.text}"
                    return f"{both}. {why} to tell which of them is faster."
                return f"{leading(best)} {verb} {takes}. {why} to compare it with {rival}."
        if over is not None and is_marginal(over):
            return f"{leading(best)} is fastest, but the gain is marginal: {takes}."
        return f"{leading(best)} is fastest: {takes}."
    if idle := why_nothing(shown):
        return idle
    if compiled:
        ratios = [
            (variant, ratio)
            for variant in compiled
            if variant.timing is not None and (ratio := over_baseline(variant.timing)) is not None
        ]
        standings = [ratio.standing for _, ratio in ratios]
        if standings and all(standing == "slower" for standing in standings):
            nearest, ratio = max(ratios, key=lambda pair: pair[1].ratio)
            if is_marginal(ratio):
                which = (
                    leading(nearest) if len(ratios) == 1 else f"{leading(nearest)}, the fastest,"
                )
                return f"torch.compile brings no gain. {which} is {ratio.text} than {ratio.over}."
            return "torch.compile makes this call slower: eager is fastest."
        slower = [(variant, ratio) for variant, ratio in ratios if ratio.standing == "slower"]
        rest = [variant for variant, ratio in ratios if ratio.standing in ("noisy", "few")]
        if slower and rest:
            variant, ratio = slower[0]
            why = "Too noisy" if "noisy" in standings else "Too few rounds"
            rivals = f"the {len(rest)} others" if len(rest) > 1 else with_article(title(rest[0]))
            known = f"{leading(variant)} is {ratio.text} than {ratio.over}"
            if len(slower) > 1:
                known = f"{len(slower)} variants are slower than {ratio.over}"
            return f"{known}. {why} to judge {rivals}."
        if rest:
            why = "Too noisy to judge" if "noisy" in standings else "Too few rounds to tell"
            untimed = [variant for variant in shown if _is_untimed(variant)]
            if not untimed:
                return f"{why} which variant is fastest."
            verb = "is" if len(untimed) == 1 else "are"
            names = leading(untimed[0]) if len(untimed) == 1 else f"{len(untimed)} variants"
            judged = (
                f"whether {with_article(title(rest[0]))} is faster than eager"
                if len(rest) == 1
                else "which of the measured variants is fastest"
            )
            return f"{why} {judged}. {names} {verb} not measured yet."
        if any(ratio.standing == "faster" and is_wrong(variant) for variant, ratio in ratios):
            return "No variant with correct results is measurably faster than eager."
        return "No variant is measurably faster than eager."
    if failed := failing(shown):
        return compile_failure(failed[0].problems)
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
    measured = "only eager" if timed else "nothing"
    is_built = all(variant.stage == "built" for variant in shown if variant.compilations)
    return f"Code is {'built' if is_built else 'generated'}; {measured} is measured yet."


def _is_untimed(variant: VariantReport) -> bool:
    """Whether a variant that can be timed here is not timed: it may still be built."""
    return (
        variant.requested.backend is not None
        and variant.target is None
        and variant.timing is None
        and variant.stage != "failed"
    )


def why_nothing(shown: list[VariantReport]) -> str:
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
    parts = [event_counts.recompiles(compilations).text, event_counts.breaks(breaks).text]
    spent = sum(compilation.duration_s or 0.0 for compilation in compilations)
    what = f"{compilation_count_of(compilations)}: {' and '.join(parts)}"
    return ", ".join(filter(None, [what, compile_time(spent)])) + "."
