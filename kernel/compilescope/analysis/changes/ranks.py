"""Where the reports of one run's ranks differ, and which of that may hang or go wrong."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

from ...report import Code, Compilation, Report, VariantReport
from ...report.ranks import Collective, RankDifference

_ADDRESS = re.compile(r"\b(?:0x[0-9a-f]+|\d{9,})\b")
_PATH = re.compile(r"(?:/[\w.+-]+){2,}")
Key = TypeVar("Key", bound=Hashable)
_MOST = 4
"""How many guards are told of each side."""
_LONG = 300


def compare(reports: Sequence[Report]) -> None:
    """Fills in what each rank has otherwise than the first, and the first otherwise than any.

    Parameters
    ----------
    reports
        In the order of their ranks, each with its ``rank``.
    """
    for report in reports:
        rank = report.rank
        assert rank is not None, "the caller has filled it in"
        others = reports[:1] if rank.rank else reports[1:]
        rank.differences = [difference for other in others for difference in _of_two(report, other)]
        rank.same = not rank.differences


def _of_two(here: Report, there: Report) -> Iterator[RankDifference]:
    assert here.rank is not None
    assert there.rank is not None
    mine, yours = RankTexts(here.rank.device), RankTexts(there.rank.device)
    known = {variant.name: variant for variant in there.variants}
    for variant in here.variants:
        other = known.get(variant.name)
        if other is not None:
            for of_variant in _of_variants(variant, other, mine, yours):
                of_variant.other = there.rank.rank
                yield of_variant
    for name in dict.fromkeys(one.name for one in [*here.variants, *there.variants]):
        for of_variant in _in_order(name, here.rank.collectives, there.rank.collectives):
            of_variant.other = there.rank.rank
            yield of_variant


def _of_variants(
    here: VariantReport, there: VariantReport, mine: RankTexts, yours: RankTexts
) -> Iterator[RankDifference]:
    name = here.name
    if here.stage != there.stage:
        yield RankDifference(
            what=f"{name}: how far it came",
            kind="compilations",
            here=here.stage,
            there=there.stage,
            serious=True,
            why="A rank that stops leaves the others waiting in their next collective.",
        )
    if here.config != there.config:
        changed = sorted(
            key
            for key in {*here.config, *there.config}
            if here.config.get(key) != there.config.get(key)
        )
        yield RankDifference(
            what=f"{name}: settings",
            kind="settings",
            here=", ".join(f"{key}={here.config.get(key, 'default')}" for key in changed),
            there=", ".join(f"{key}={there.config.get(key, 'default')}" for key in changed),
        )
    ids, other_ids = [one.id for one in here.compilations], [one.id for one in there.compilations]
    if ids != other_ids:
        yield RankDifference(
            what=f"{name}: compilations",
            kind="compilations",
            here=", ".join(ids) or "none",
            there=", ".join(other_ids) or "none",
            serious=True,
            why="A rank that compiles more graphs makes the others wait, and may call other "
            "collectives.",
        )
    by_id = {one.id: one for one in there.compilations}
    for compilation in here.compilations:
        if compilation.id in by_id:
            yield from _of_compilations(name, compilation, by_id[compilation.id], mine, yours)


def _of_compilations(
    variant: str, here: Compilation, there: Compilation, mine: RankTexts, yours: RankTexts
) -> Iterator[RankDifference]:
    for stage, graph in here.graphs.items():
        other = there.graphs.get(stage)
        if other is None:
            continue
        found = first_difference(mine(graph.text), yours(other.text))
        if found is not None:
            yield RankDifference(
                what=f"{variant}: the {stage} graph of {here.id}, line {found[0]}",
                kind="graph",
                here=found[1],
                there=found[2],
            )
            # Later stages differ because of this one.
            break
    graphs, other_graphs = dict(_graphs(here.code)), dict(_graphs(there.code))
    if graphs.keys() != other_graphs.keys():
        yield RankDifference(
            what=f"{variant}: how many graphs {here.id} has",
            kind="graph",
            here=str(len(graphs)),
            there=str(len(other_graphs)),
        )
    for title, text, other_text in _codes(graphs, other_graphs):
        found = first_difference(mine(text), yours(other_text))
        if found is not None:
            yield RankDifference(
                what=f"{variant}: {title} of {here.id}, line {found[0]}",
                kind="code",
                here=found[1],
                there=found[2],
            )
    yield from _of_kernels(variant, here, there, mine, yours)
    yield from _of_guards(variant, here, there, mine, yours)


_ARTIFACTS = {"python": "the Python wrapper", "cpp": "the C++ wrapper"}
"""What is compared of a graph's code. Of the Python around a C++ wrapper the kernels are, by
themselves; and ranks compile nothing ahead of time."""


def _codes(here: Mapping[str, Code], there: Mapping[str, Code]) -> Iterator[tuple[str, str, str]]:
    for place, code in here.items():
        for name, title in _ARTIFACTS.items():
            text = getattr(code, name)
            other = getattr(there.get(place), name, None)
            if text is not None and other is not None:
                yield title + place, text, other


def _graphs(code: Code) -> Iterator[tuple[str, Code]]:
    """The code of every graph, by where it is: DistributedDataParallel's buckets make several."""
    backward = ", backward," if code.direction == "backward" else ""
    for number, one in enumerate([code, *code.others], start=1):
        yield f"{backward or ','} graph {number}," if number > 1 else backward, one
    if code.backward is not None:
        yield from _graphs(code.backward)


def _of_kernels(
    variant: str, here: Compilation, there: Compilation, mine: RankTexts, yours: RankTexts
) -> Iterator[RankDifference]:
    own = {(kernel.direction, kernel.name): mine(kernel.source) for kernel in here.kernels}
    others = {(kernel.direction, kernel.name): yours(kernel.source) for kernel in there.kernels}
    only, missing = _apart(own, others), _apart(others, own)
    if only or missing:
        yield RankDifference(
            what=f"{variant}: kernels of {here.id}",
            kind="kernels",
            here=_listed([name for _, name in only]),
            there=_listed([name for _, name in missing]),
        )
    for key, source in own.items():
        if key in others and source != others[key]:
            found = first_difference(source, others[key]) or (0, "", "")
            yield RankDifference(
                what=f"{variant}: {key[1]} of {here.id}, line {found[0]}",
                kind="kernels",
                here=found[1],
                there=found[2],
            )


def _of_guards(
    variant: str, here: Compilation, there: Compilation, mine: RankTexts, yours: RankTexts
) -> Iterator[RankDifference]:
    own = {mine(guard.expression): guard for guard in here.guards}
    others = {yours(guard.expression): guard for guard in there.guards}
    only, missing = _apart(own, others), _apart(others, own)
    if only or missing:
        yield RankDifference(
            what=f"{variant}: guards of {here.id}",
            kind="guards",
            here=_listed(only),
            there=_listed(missing),
            why="The ranks recompile at different calls, and wait for each other then.",
        )


def _in_order(
    variant: str, here: Sequence[Collective], there: Sequence[Collective]
) -> Iterator[RankDifference]:
    """The first place at which two ranks call something else."""
    own = [_said(collective) for collective in here if collective.variant == variant]
    others = [_said(collective) for collective in there if collective.variant == variant]
    for place in range(max(len(own), len(others))):
        mine = own[place] if place < len(own) else "none"
        yours = others[place] if place < len(others) else "none"
        if mine != yours:
            yield RankDifference(
                what=f"{variant}: collective {place + 1}",
                kind="collectives",
                here=mine,
                there=yours,
                serious=True,
                why="Every rank of a group has to call the same collectives in the same order: "
                "this hangs, or mixes up data.",
            )
            return


def _said(one: Collective) -> str:
    shape = f"{one.dtype}[{', '.join(one.shape)}]" if one.dtype else ""
    group = f" in group {one.group}" if one.group else ""
    return " ".join(f"{one.operator} {one.reduction} {shape}".split()) + group


class RankTexts:
    """A rank's texts without what is the rank's own: its device's number, addresses, folders.

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
        """The text with a placeholder for each of these."""
        text = _PATH.sub("…", _ADDRESS.sub("…", text))
        return self._own.sub(r"\1N", text) if self._own is not None else text


def first_difference(here: str, there: str) -> tuple[int, str, str] | None:
    """The number of the first line that differs, counted from 1, and both lines."""
    if here == there:
        return None
    own, others = here.split("\n"), there.split("\n")
    for number in range(max(len(own), len(others))):
        mine = own[number] if number < len(own) else ""
        yours = others[number] if number < len(others) else ""
        if mine != yours:
            return number + 1, _short(mine), _short(yours)
    return None


def _apart(one: Mapping[Key, object], other: Mapping[Key, object]) -> list[Key]:
    return [key for key in one if key not in other]


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return _short("; ".join(texts[:_MOST])) + more if texts else "none"


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
