"""Differences between the ranks of one run, and which of them may hang or corrupt data."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TypeVar

from ...report import Code, Compilation, Report, SourceLine, VariantReport
from ...report.subjects.ranks import Collective, RankDifference
from ...torch_api.guards.installed_names import without_counter, without_ids
from ..figures import wording
from ..text.wrapper_marks import without_number
from .rank_words import add_rank_words

_ADDRESS = re.compile(r"\b(?:0x[0-9a-f]+|\d{9,})\b")
_PATH = re.compile(r"(?:/[\w.+-]+){2,}")
Key = TypeVar("Key", bound=Hashable)
_MAX_GUARDS = 4
"""How many guards of each side are listed."""
_MAX_CHARACTERS = 300


def compare(reports: Sequence[Report]) -> None:
    """Fill in how each rank differs from the first, and the first from any other.

    Parameters
    ----------
    reports
        In the order of their ranks, each with its ``rank``.
    """
    for report in reports:
        rank = report.rank
        assert rank is not None, "the caller has filled it in"
        others = reports[:1] if rank.rank else reports[1:]
        differences = [difference for other in others for difference in _of_two(report, other)]
        rank.differences = sorted(differences, key=lambda difference: not difference.serious)
        # Ranks that all failed have no code that could differ.
        rank.same = not rank.differences and bool(report.variants)
        add_rank_words(rank)


def _of_two(report: Report, other_report: Report) -> Iterator[RankDifference]:
    assert report.rank is not None
    assert other_report.rank is not None
    texts, other_texts = RankTexts(report.rank.device), RankTexts(other_report.rank.device)
    own_variants = {variant.name: variant for variant in report.variants}
    other_variants = {variant.name: variant for variant in other_report.variants}
    names = list(dict.fromkeys([*own_variants, *other_variants]))
    for name in names:
        own, other = own_variants.get(name), other_variants.get(name)
        for of_variant in _of_variants(name, own, other, texts, other_texts):
            of_variant.other = other_report.rank.rank
            if of_variant.what == _compilations(name) and own is not None and other is not None:
                _explain_more(of_variant, report.rank.rank, own, other)
            yield of_variant
    for name in names:
        for of_variant in _in_order(name, report.rank.collectives, other_report.rank.collectives):
            of_variant.other = other_report.rank.rank
            yield of_variant


def _of_variants(
    name: str,
    variant: VariantReport | None,
    other: VariantReport | None,
    texts: RankTexts,
    other_texts: RankTexts,
) -> Iterator[RankDifference]:
    stage, other_stage = (side.stage if side else "none" for side in (variant, other))
    if stage != other_stage:
        yield RankDifference(
            what=f"{name}: stage reached",
            kind="compilations",
            here=stage,
            there=other_stage,
            serious=True,
            why="A rank that stops leaves the others waiting in their next collective.",
        )
    if variant is None or other is None:
        return
    if variant.config != other.config:
        changed = sorted(
            key
            for key in {*variant.config, *other.config}
            if variant.config.get(key) != other.config.get(key)
        )
        yield RankDifference(
            what=f"{name}: settings",
            kind="settings",
            here=", ".join(f"{key}={variant.config.get(key, 'default')}" for key in changed),
            there=", ".join(f"{key}={other.config.get(key, 'default')}" for key in changed),
        )
    ids, other_ids = (
        [compilation.id for compilation in variant.compilations],
        [compilation.id for compilation in other.compilations],
    )
    if ids != other_ids:
        yield RankDifference(
            what=_compilations(name),
            kind="compilations",
            here=", ".join(ids) or "none",
            there=", ".join(other_ids) or "none",
            serious=True,
            why="A rank that compiles more graphs makes the others wait, and may call other "
            "collectives.",
        )
    by_id = {compilation.id: compilation for compilation in other.compilations}
    for compilation in variant.compilations:
        if compilation.id in by_id:
            yield from _of_compilations(
                name, compilation, by_id[compilation.id], texts, other_texts
            )


def _compilations(name: str) -> str:
    return f"{name}: compilations"


def _explain_more(
    difference: RankDifference, rank: int, variant: VariantReport, other: VariantReport
) -> None:
    """Say what makes one of the ranks compile more: a graph break, a recompile, or a function."""
    if len(variant.compilations) == len(other.compilations):
        return
    without = difference.other
    if len(variant.compilations) < len(other.compilations):
        rank, without, variant, other = without, rank, other, variant
    cause = _more(variant, other)
    if cause is not None:
        what, difference.where = cause
        at = f" ({wording.place(difference.where)})" if difference.where is not None else ""
        difference.why += f" Rank {rank} {what}{at}; rank {without} does not."


def _more(variant: VariantReport, other: VariantReport) -> tuple[str, SourceLine | None] | None:
    """What a variant with more compilations has alone, and its line."""
    known = set(map(_without_folder, _broken_lines(other)))
    for line in _broken_lines(variant):
        if _without_folder(line) not in known:
            return "has a graph break", line
    ids = {compilation.id for compilation in other.compilations}
    for compilation in variant.compilations:
        if compilation.id in ids:
            continue
        causes = compilation.recompile.causes if compilation.recompile is not None else []
        if causes:
            return f"recompiles: {causes[0].text}", causes[0].where or compilation.frame
        if compilation.frame is not None:
            return "compiles another function", compilation.frame
    return None


def _without_folder(line: SourceLine) -> tuple[str, int, str]:
    """A line as it is on every host: folders may differ."""
    return PurePath(line.file).name, line.line, line.function


def _broken_lines(variant: VariantReport) -> Iterator[SourceLine]:
    for compilation in variant.compilations:
        yield from (each.where for each in compilation.breaks if each.where is not None)


def _of_compilations(
    variant: str, first: Compilation, second: Compilation, texts: RankTexts, other_texts: RankTexts
) -> Iterator[RankDifference]:
    for stage, graph in first.graphs.items():
        other = second.graphs.get(stage)
        if other is None:
            continue
        difference = first_difference(texts(graph.text), other_texts(other.text))
        if difference is not None:
            yield RankDifference(
                what=f"{variant}: the {stage} graph of {first.id}, line {difference[0]}",
                kind="graph",
                here=difference[1],
                there=difference[2],
            )
            # Later stages differ because of this one.
            break
    graphs, other_graphs = dict(_graphs(first.code)), dict(_graphs(second.code))
    if graphs.keys() != other_graphs.keys():
        yield RankDifference(
            what=f"{variant}: number of graphs of {first.id}",
            kind="graph",
            here=str(len(graphs)),
            there=str(len(other_graphs)),
        )
    for title, text, other_text in _codes(graphs, other_graphs):
        difference = first_difference(texts(text), other_texts(other_text))
        if difference is not None:
            yield RankDifference(
                what=f"{variant}: {title} of {first.id}, line {difference[0]}",
                kind="code",
                here=difference[1],
                there=difference[2],
            )
    yield from _of_kernels(variant, first, second, texts, other_texts)
    yield from _of_guards(variant, first, second, texts, other_texts)


_ARTIFACTS = {"python": "the Python wrapper", "cpp": "the C++ wrapper"}
"""The code that is compared. The kernels in the Python around a C++ wrapper are compared
separately; ranks compile nothing ahead of time."""


def _codes(
    codes: Mapping[str, Code], other_codes: Mapping[str, Code]
) -> Iterator[tuple[str, str, str]]:
    for place, code in codes.items():
        for name, title in _ARTIFACTS.items():
            text = getattr(code, name)
            other = getattr(other_codes.get(place), name, None)
            if text is not None and other is not None:
                yield title + place, text, other


def _graphs(code: Code) -> Iterator[tuple[str, Code]]:
    """The code of every graph, by its place: DistributedDataParallel's buckets make several."""
    backward = ", backward," if code.direction == "backward" else ""
    for number, graph_code in enumerate([code, *code.others], start=1):
        yield f"{backward or ','} graph {number}," if number > 1 else backward, graph_code
    if code.backward is not None:
        yield from _graphs(code.backward)


def _of_kernels(
    variant: str, first: Compilation, second: Compilation, texts: RankTexts, other_texts: RankTexts
) -> Iterator[RankDifference]:
    sources = {(kernel.direction, kernel.name): texts(kernel.source) for kernel in first.kernels}
    other_sources = {
        (kernel.direction, kernel.name): other_texts(kernel.source) for kernel in second.kernels
    }
    only, missing = (
        _only_in_left(sources, other_sources),
        _only_in_left(other_sources, sources),
    )
    if only or missing:
        yield RankDifference(
            what=f"{variant}: kernels of {first.id}",
            kind="kernels",
            here=_listed([name for _, name in only]),
            there=_listed([name for _, name in missing]),
        )
    for key, source in sources.items():
        if key in other_sources and source != other_sources[key]:
            difference = first_difference(source, other_sources[key]) or (0, "", "")
            yield RankDifference(
                what=f"{variant}: {key[1]} of {first.id}, line {difference[0]}",
                kind="kernels",
                here=difference[1],
                there=difference[2],
            )


def _of_guards(
    variant: str, first: Compilation, second: Compilation, texts: RankTexts, other_texts: RankTexts
) -> Iterator[RankDifference]:
    guards = [texts(_comparable(guard.expression)) for guard in first.guards]
    other_guards = [other_texts(_comparable(guard.expression)) for guard in second.guards]
    only, missing = _only_in_left(guards, other_guards), _only_in_left(other_guards, guards)
    if only or missing:
        yield RankDifference(
            what=f"{variant}: guards of {first.id}",
            kind="guards",
            here=_listed(only),
            there=_listed(missing),
            why="The ranks recompile at different calls, and then wait for each other.",
        )


def _comparable(guard: str) -> str:
    return without_counter(without_ids(guard))


def _in_order(
    variant: str, collectives: Sequence[Collective], other_collectives: Sequence[Collective]
) -> Iterator[RankDifference]:
    """The first position at which two ranks call different collectives."""
    calls = [_describe(collective) for collective in collectives if collective.variant == variant]
    other_calls = [
        _describe(collective) for collective in other_collectives if collective.variant == variant
    ]
    for place in range(max(len(calls), len(other_calls))):
        call = calls[place] if place < len(calls) else "none"
        other_call = other_calls[place] if place < len(other_calls) else "none"
        if call != other_call:
            yield RankDifference(
                what=f"{variant}: collective {place + 1}",
                kind="collectives",
                here=call,
                there=other_call,
                serious=True,
                why=(
                    "Every rank of a group has to call the same collectives in the same order: "
                    "otherwise the job hangs or corrupts data."
                ),
            )
            return


def _describe(collective: Collective) -> str:
    shape = f"{collective.dtype}[{', '.join(collective.shape)}]" if collective.dtype else ""
    group = f" in group {collective.group}" if collective.group else ""
    return " ".join(f"{collective.operator} {collective.reduction} {shape}".split()) + group


class RankTexts:
    """Replaces what is specific to a rank in its texts.

    That is the device index, addresses, folders, and torch's count of compilations.

    Parameters
    ----------
    device
        The rank's: ``cuda:1``.
    """

    def __init__(self, device: str) -> None:
        device, _, number = device.partition(":")
        self._own = (
            re.compile(
                rf"({device}:|Guard\(|Guard device_guard\(|set_device\(|get_raw_stream\("
                rf"|stream|index=|device=|device_index = ){number}\b"
            )
            if number
            else None
        )

    def __call__(self, text: str) -> str:
        """The text with placeholders in their place."""
        text = _PATH.sub("…", _ADDRESS.sub("…", without_number(text)))
        return self._own.sub(r"\1N", text) if self._own is not None else text


def first_difference(text: str, other_text: str) -> tuple[int, str, str] | None:
    """The number of the first line that differs, counted from 1, and both lines.

    A line that is empty on one side, or missing there, is followed by the next one with text, after
    "…"; where nothing follows, it is "nothing".
    """
    if text == other_text:
        return None
    lines, other_lines = text.split("\n"), other_text.split("\n")
    for number in range(max(len(lines), len(other_lines))):
        line = lines[number] if number < len(lines) else ""
        other_line = other_lines[number] if number < len(other_lines) else ""
        if line != other_line:
            return number + 1, _with_text(lines, number), _with_text(other_lines, number)
    return None


def _with_text(lines: Sequence[str], number: int) -> str:
    """The line of that number; in place of an empty one the next with text, or "nothing"."""
    for place in range(number, len(lines)):
        if text := _short(lines[place]):
            return text if place == number else f"… {text}"
    return "nothing"


def _only_in_left(left: Iterable[Key], right: Collection[Key]) -> list[Key]:
    return [key for key in dict.fromkeys(left) if key not in right]


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MAX_GUARDS} more" if len(texts) > _MAX_GUARDS else ""
    return _short("; ".join(texts[:_MAX_GUARDS])) + more if texts else "none"


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
