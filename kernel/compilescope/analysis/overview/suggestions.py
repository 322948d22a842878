"""What to change: at most five things, the largest gain first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...report import Help, Recompile, Report, Suggestion, VariantReport, is_record
from ...report.units import duration
from ..figures.speedups import between
from ..figures.wording import percent
from ..graphs.repeated_blocks import repeated_blocks, written_path
from ..settings.variant_code import code_of
from .variants import title
from .verdict_helps import CPP, GRAPHS, GUARDS
from .wrapper import first_call, is_marginal, trusted

MOST = 5
_SLOW_S = 3.0
"""A first call that is shorter than this is not worth compiling blocks of."""
_WORTH = 0.6
"""Blocks that leave more than this part of the first call are too little of the model."""


class Ranked(NamedTuple):
    """A suggestion, and how much it promises: from 0, nothing, to 1."""

    promise: float
    suggestion: Suggestion


def suggestions(report: Report, now: VariantReport | None) -> list[Suggestion]:
    """The changes that promise most.

    What was measured comes with the figure; what was tried and brought nothing is left out. What
    costs time again and again (recompiles, graph breaks) comes before what saves a part of a call.

    Parameters
    ----------
    now
        The variant that gains are measured against.
    """
    rankeds: list[Ranked] = []
    if now is not None:
        rankeds += _measured(report, now)
        tried = {one.suggestion.variant for one in rankeds}
        rankeds += [one for one in _helps(now) if one.suggestion.variant not in tried]
        rankeds += _blocks(report, now)
    for variant in [now] if now is not None else report.variants:
        rankeds += [*_recompiles(variant), *_breaks(variant), *_settings(variant)]
    if now is not None:
        # One call of the variant recompiles nothing; the loop in the user's cell may have.
        for variant in (each for each in report.variants if is_record(each)):
            for ranked in _recompiles(variant):
                ranked.suggestion.of = variant.name
                rankeds.append(ranked)
    seen: dict[tuple[str, str], Ranked] = {}
    for ranked in rankeds:
        key = (ranked.suggestion.what, ranked.suggestion.code)
        if key not in seen or seen[key].promise < ranked.promise:
            seen[key] = ranked
    ordered = sorted(seen.values(), key=lambda one: -one.promise)
    return [one.suggestion for one in ordered[:MOST]]


def _measured(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Other variants of the report that are faster for certain, and right."""
    for one in report.variants:
        if one is now or one.requested.backend is None or one.target is not None:
            continue
        found = between(one, now)
        right = all(error.ok for error in one.accuracy)
        if found is None or found.standing != "faster" or is_marginal(found):
            continue
        if right:
            yield Ranked(
                1 - 1 / found.ratio,
                Suggestion(
                    what=f"Use {_switch(one)}",
                    why=next(
                        (
                            help_.why
                            for help_ in (now.verdict.helps if now.verdict else [])
                            if help_.variant == one.name
                        ),
                        "",
                    ),
                    gain=f"{found.text} than the {title(now)}"
                    if title(now).endswith("wrapper")
                    else f"{found.text} than {title(now)}",
                    basis="measured",
                    code=code_of(one.requested),
                    variant=one.name,
                    view="timings",
                ),
            )
    eager = next((one for one in report.variants if one.requested.backend is None), None)
    over = between(now, eager) if eager is not None else None
    if over is not None and over.standing == "slower":
        yield Ranked(
            1 - over.ratio,
            Suggestion(
                what="Do not compile this call, or compile more at once",
                why="What surrounds the kernels costs more than fusing them saves.",
                gain=f"now {over.text} than eager",
                basis="measured",
                view="timings",
            ),
        )


def _switch(variant: VariantReport) -> str:
    name = title(variant)
    if variant.requested.mode and variant.name == variant.requested.mode:
        return f'mode="{variant.requested.mode}"'
    return f"the {name}" if name.endswith("wrapper") else name


def _helps(now: VariantReport) -> Iterator[Ranked]:
    """What usually helps against what binds it, as far as it was not measured."""
    verdict = now.verdict
    if verdict is None or (now.layers and not trusted(now)):
        return
    for place, one in enumerate(verdict.helps):
        if one.speedup is not None and one.speedup.standing not in ("noisy", "few"):
            continue  # it was tried: it is among what is faster, or it brought nothing
        saved = _at_most(now, one)
        whole = sum(layers.whole_us for layers in now.layers)
        gain, promise = "not measured", 0.05
        if saved is not None and whole > 0:
            gain = f"up to {duration(saved)} ({percent(saved / whole)}) less per call"
            promise = 0.5 * saved / whole
        yield Ranked(
            promise - place / 1000,
            Suggestion(
                what=one.what,
                why=one.why,
                gain=gain,
                basis="unknown" if saved is None else "estimated",
                code=one.code,
                variant=one.variant,
                requested=one.requested if not one.variant else None,
                view="timings",
            ),
        )


_SAVES = {CPP[0]: ("wrapper",), GRAPHS[0]: ("wrapper", "launches"), GUARDS[0]: ("guards",)}
"""What helps → the layers that it can save, all of them at most."""


def _at_most(now: VariantReport, help_: Help) -> float | None:
    kinds = _SAVES.get(help_.what)
    if kinds is None or not now.layers:
        return None
    layers = [layer for one in now.layers for layer in one.layers]
    return sum(layer.us for layer in layers if layer.kind in kinds)


def _recompiles(variant: VariantReport) -> Iterator[Ranked]:
    for compilation in variant.compilations:
        recompile = compilation.recompile
        for advice in recompile.advice[:1] if recompile is not None else []:
            took = compilation.duration_s
            yield Ranked(
                _promise(took),
                Suggestion(
                    what=f"Avoid recompile {compilation.id}{_cause(recompile)}",
                    why=advice.what,
                    gain=f"saves {duration(took * 1e6)} of compile time" if took else "",
                    basis="measured" if took else "unknown",
                    code=advice.code,
                    view="recompiles",
                ),
            )


def _cause(recompile: Recompile | None) -> str:
    """What changed, as ``: x.size(0) 8 → 9``; empty where torch's reason has no values."""
    failure = next(iter(recompile.failures), None) if recompile is not None else None
    if failure is None or not failure.old or not failure.new:
        return ""
    source = re.sub(r"^L\['(\w+)'\]", r"\1", failure.source)
    if failure.dimension is not None:
        source += f".{failure.kind}({failure.dimension})"
    return f": {source} {failure.old} \u2192 {failure.new}"


def _breaks(variant: VariantReport) -> Iterator[Ranked]:
    for graph_break in variant.breaks:
        where = graph_break.cause.where
        place = f" at line {where.line}" if where is not None else ""
        what = f"Fix the graph break{place}"
        if graph_break.eager:
            what += f": {graph_break.eager[0].rstrip(':')}"
        cost = (
            f"saves up to {duration(graph_break.cost_us)} of compile time"
            if graph_break.cost_us
            else ""
        )
        yield Ranked(
            _promise(graph_break.cost_us / 1e6 if graph_break.cost_us else None),
            Suggestion(
                what=what,
                why=graph_break.cause.hints[0]
                if graph_break.cause.hints
                else graph_break.cause.reason,
                gain=cost or "not measured",
                basis="estimated" if graph_break.cost_us else "unknown",
                view="breaks",
            ),
        )


def _promise(saved_s: float | None) -> float:
    """How much a recompile or a graph break promises: by the compile time that it costs.

    All of them come before what saves a part of a call, since they cost time again and again.
    """
    return 0.8 + 0.19 * (saved_s / (1 + saved_s) if saved_s else 0.0)


def _settings(variant: VariantReport) -> Iterator[Ranked]:
    for one in variant.effective:
        if one.differs and one.remedy:
            yield Ranked(
                0.3,
                Suggestion(
                    what=one.remedy,
                    why=f"{one.setting}: asked for {one.requested}, got {one.actual}. {one.why}",
                    gain="not measured",
                    view="requested",
                ),
            )


def _blocks(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Regional compilation, where many equal blocks make the first call long."""
    cold_s = first_call(now)
    if cold_s is None or cold_s < _SLOW_S or now.target is not None:
        return
    best = max(
        (
            (blocks, compilation)
            for compilation in now.compilations
            if (blocks := repeated_blocks(compilation)) is not None
        ),
        key=lambda one: one[0].share,
        default=None,
    )
    if best is None:
        return
    found, compilation = best
    left_s = cold_s * (1 - found.share * (1 - 1 / found.number))
    if left_s > _WORTH * cold_s:
        return
    kind = found.type or "block"
    costs = ""
    if now.layers and trusted(now):
        entry = sum(
            layer.us
            for one in now.layers
            for layer in one.layers
            if layer.kind in ("guards", "bytecode", "aot", "inductor")
        )
        costs = f", but about {duration(entry * (found.number - 1))} more per call"
    shorter = f"{duration(cold_s * 1e6)} \u2192 about {duration(left_s * 1e6)}"
    path = written_path(found.path, compilation, report.subject)
    yield Ranked(
        0.25 * (1 - left_s / cold_s),
        Suggestion(
            what=f"Compile the repeated block once: {kind} \u00d7 {found.number} in {path}",
            why="Equal blocks share one compilation; each is then a call of its own.",
            gain=f"first call {shorter}{costs}",
            basis="estimated",
            code=f"for block in {path}:\n    block.compile()",
            view="compile-time",
        ),
    )
