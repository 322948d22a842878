"""Differences between two variants in settings, graphs, wrappers, guards and graph breaks."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...report import STAGES, Change, Compilation, Effective, Graph, Guard, VariantReport
from ...report.units import whole_number
from ...report.variant import CUDA_GRAPHS, Variant
from ...torch_api.guards.installed_names import without_counter, without_ids
from ..figures.wording import count
from ..wrapper.launches import codes_of

_SHOWN = 4
_MAX_CHARACTERS = 100
_EFFECTS = {
    "mode": ("mode", "autotuning", CUDA_GRAPHS),
    "cpp_wrapper": ("cpp_wrapper", "fusions", "static launcher"),
    "dynamic": ("dynamic",),
    "fullgraph": ("fullgraph",),
    "backend": ("backend",),
}
"""Switch → the settings in `VariantReport.effective` that report its effect."""


def switches(baseline: Variant, variant: Variant) -> list[str]:
    """The switches in which two variants differ."""
    return [
        field
        for field in variant.__struct_fields__
        if getattr(baseline, field) != getattr(variant, field)
    ]


def other_changes(baseline: VariantReport, variant: VariantReport) -> Iterator[Change]:
    """Yield every difference except those of kernels."""
    yield from _settings(baseline, variant)
    if len(baseline.compilations) != len(variant.compilations):
        yield Change(
            kind="compilations",
            what="compilations",
            baseline=_ids(baseline.compilations),
            here=_ids(variant.compilations),
        )
    baselines = {compilation.id: compilation for compilation in baseline.compilations}
    for compilation in variant.compilations:
        other = baselines.get(compilation.id)
        if other is not None:
            yield from _graphs(other, compilation)
            yield from _wrappers(other, compilation)
            yield from _guards(other, compilation)
            yield from _breaks(other, compilation)


def _settings(baseline: VariantReport, variant: VariantReport) -> Iterator[Change]:
    changed = switches(baseline.requested, variant.requested)
    for switch in changed:
        left, right = getattr(baseline.requested, switch), getattr(variant.requested, switch)
        if switch == "options":
            yield from _options(left, right)
            continue
        yield Change(
            kind="setting",
            what=switch,
            baseline=_value(switch, left),
            here=_value(switch, right),
            why=_deviations(variant.effective, _EFFECTS.get(switch, ())),
        )
    named = {*changed, *baseline.requested.options, *variant.requested.options}
    for name in sorted({*baseline.config, *variant.config} - named):
        left, right = baseline.config.get(name, "default"), variant.config.get(name, "default")
        if left != right:
            yield Change(kind="setting", what=name, baseline=left, here=right, why=_BY_SWITCHES)
    yield from _effects(baseline.effective, variant.effective)


_BY_SWITCHES = "The switches set it."


def _options(left: dict[str, Any], right: dict[str, Any]) -> Iterator[Change]:
    for name in sorted({*left, *right}):
        if left.get(name, _UNSET) != right.get(name, _UNSET):
            yield Change(
                kind="setting",
                what=name,
                baseline=repr(left[name]) if name in left else "default",
                here=repr(right[name]) if name in right else "default",
            )


_UNSET = object()


def _value(switch: str, value: Any) -> str:
    if switch == "dynamic":
        return {None: "automatic", True: "on", False: "off"}[value]
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value is not None else "default"


def unapplied_settings(variant: VariantReport, switches: Sequence[str]) -> list[str]:
    """The settings of these switches that torch did not apply as requested."""
    settings = [name for switch in switches for name in _EFFECTS.get(switch, ())]
    return [
        setting.setting
        for setting in variant.effective
        if setting.setting in settings and setting.differs
    ]


def _deviations(effective: Sequence[Effective], settings: Sequence[str]) -> str:
    """What torch did instead, for settings that it did not apply as requested."""
    deviations = [
        f"{setting.setting} ({setting.requested}): {setting.actual}. {setting.why}".strip()
        for setting in effective
        if setting.setting in settings and setting.differs
    ]
    return " ".join(deviations)


def _effects(left: Sequence[Effective], right: Sequence[Effective]) -> Iterator[Change]:
    """Different effects of settings that both variants request alike, or that neither requests."""
    reported = {*(name for names in _EFFECTS.values() for name in names), *_NOT_REPORTED}
    left_settings = {setting.setting: setting for setting in left}
    for setting in right:
        other = left_settings.get(setting.setting)
        if setting.setting not in reported and other is not None and other.actual != setting.actual:
            yield Change(
                kind="setting",
                what=setting.setting,
                baseline=other.actual,
                here=setting.actual,
                why=setting.why,
            )


_NOT_REPORTED = ("vector instructions",)
"""Known only after a build: a built variant and one that is not built would always differ here."""


def _graphs(baseline: Compilation, compilation: Compilation) -> Iterator[Change]:
    resized: dict[str, tuple[str, str]] = {}
    for stage in STAGES:
        left, right = baseline.graphs.get(stage), compilation.graphs.get(stage)
        if left is None or right is None or left.nodes is right.nodes:
            continue
        fewer, more = _operators(left) - _operators(right), _operators(right) - _operators(left)
        if fewer or more:
            yield Change(
                kind="graph",
                what=f"{STAGES[stage]} of {compilation.id}",
                baseline=_nodes(left, fewer),
                here=_nodes(right, more),
                why=_BY_LATER_PASSES if stage.endswith("post_grad") else "",
            )
        elif sizes := _resized(left, right):
            resized[STAGES[stage]] = sizes
    if resized:
        first = next(iter(resized.values()))
        yield Change(
            kind="graph",
            what=f"sizes in the graphs of {compilation.id}",
            baseline=first[0],
            here=first[1],
            why=f"The same operations on different sizes, in {count(len(resized), 'stage')}.",
        )
    yield from _stages(baseline, compilation)


def _stages(baseline: Compilation, compilation: Compilation) -> Iterator[Change]:
    left, right = (
        ", ".join(title for stage, title in STAGES.items() if stage in stages)
        for stages in (
            baseline.graphs.keys() - compilation.graphs.keys(),
            compilation.graphs.keys() - baseline.graphs.keys(),
        )
    )
    if left or right:
        yield Change(kind="graphs", what=f"graphs of {compilation.id}", baseline=left, here=right)


_BY_LATER_PASSES = "Passes after AOTAutograd changed it."


def _operators(graph: Graph) -> Counter[str]:
    return Counter(node.target for node in graph.nodes if node.op.startswith("call"))


def _nodes(graph: Graph, only: Counter[str]) -> str:
    text = count(len(graph.nodes), "node")
    if not only:
        return text
    listed = [
        f"{number} times {name}" if number > 1 else name for name, number in only.most_common()
    ]
    return f"{text}, only here: {_first_few(listed)}"


def _resized(left: Graph, right: Graph) -> tuple[str, str] | None:
    """The first node whose sizes differ, in two graphs of the same operations."""
    left_shapes = {node.name: node.shape for node in left.nodes}
    for node in right.nodes:
        before = left_shapes.get(node.name)
        if before is not None and node.shape is not None and before != node.shape:
            return _sized(node.name, before), _sized(node.name, node.shape)
    return None


def _sized(name: str, sizes: Sequence[str]) -> str:
    return f"{name}: [{', '.join(sizes)}]"


def _wrappers(baseline: Compilation, compilation: Compilation) -> Iterator[Change]:
    for left, right in zip(codes_of(baseline), codes_of(compilation), strict=False):
        sides = [_wrapper(code.python, code.cpp) for code in (left, right)]
        if sides[0] != sides[1]:
            yield Change(
                kind="wrapper",
                what=f"wrapper of {compilation.id}, {right.direction}",
                baseline=sides[0],
                here=sides[1],
            )


def _wrapper(python: str | None, cpp: str | None) -> str:
    text = cpp or python
    if not text:
        return "none"
    return f"{'C++' if cpp else 'Python'}, {count(text.count(chr(10)) + 1, 'line')}"


def _guards(baseline: Compilation, compilation: Compilation) -> Iterator[Change]:
    if not baseline.guards or not compilation.guards:
        return
    texts = [[guard.expression for guard in side.guards] for side in (baseline, compilation)]
    if texts[0] == texts[1]:
        return  # variants of one capture, mostly
    left, right = _expressions(baseline.guards), _expressions(compilation.guards)
    if left != right:
        yield Change(
            kind="guards",
            what=f"guards of {compilation.id}",
            baseline=_count(sum(left.values()), left - right),
            here=_count(sum(right.values()), right - left),
        )


def _expressions(guards: Sequence[Guard]) -> Counter[str]:
    return Counter(without_ids(without_counter(guard.expression)) for guard in guards)


def _count(number: int, only: Counter[str]) -> str:
    counted = whole_number(number)
    return f"{counted}, only here: {_first_few(list(only))}" if only else counted


def _breaks(baseline: Compilation, compilation: Compilation) -> Iterator[Change]:
    left, right = (
        [graph_break.reason for graph_break in side.breaks] for side in (baseline, compilation)
    )
    if left != right:
        yield Change(
            kind="breaks",
            what=f"graph breaks of {compilation.id}",
            baseline=_first_few(left) or "none",
            here=_first_few(right) or "none",
        )


def _ids(compilations: Iterable[Compilation]) -> str:
    return _first_few([compilation.id for compilation in compilations])


def _first_few(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return (
        ", ".join(
            textwrap.shorten(text, _MAX_CHARACTERS, placeholder="…") for text in texts[:_SHOWN]
        )
        + more
    )
