"""Counts what a variant compiled, for comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...report import Compilation, DistinctBreak, VariantReport
from ...report.units import whole_number
from .wording import count

WRONG = "wrong results"
FIGURES = (
    "compilations",
    "failures",
    "eager fallbacks",
    "recompiles",
    "graph breaks",
    "kernels",
    "guards",
    WRONG,
)
"""The figures of `counts`, by name."""


def counts(variant: VariantReport) -> dict[str, int]:
    """Count what a variant compiled.

    Parameters
    ----------
    variant
        A variant of an inspection, a watch or a trace.

    Returns
    -------
    dict
        Name of `FIGURES` → number. A graph break counts once for each place in the code, however
        often it occurred; kernels and guards are summed over all compilations. A variant that
        failed otherwise, as in the C++ compiler, is one failure. Wrong results are the outputs and
        gradients that differ from eager's.
    """
    compilations = variant.compilations
    outcomes = Counter(compilation.outcome for compilation in compilations)
    return {
        "compilations": len(compilations),
        "failures": max(outcomes["failed"], variant.stage == "failed"),
        "eager fallbacks": outcomes["eager"],
        "recompiles": recompile_count(compilations),
        "graph breaks": len(variant.breaks),
        "kernels": sum(kernel_count(compilation) for compilation in compilations),
        "guards": sum(guard_count(compilation) for compilation in compilations),
        WRONG: sum(not error.ok for error in variant.accuracy),
    }


def has_graph(compilation: Compilation) -> bool:
    """Whether it has a graph, or had one before a watch dropped its texts to save memory."""
    code = compilation.code
    return (
        bool(compilation.graphs)
        or compilation.counts.get("graphs", 0) > 0
        or any((code.python, code.cpp, code.aot))
    )


def compiled_nothing(variant: VariantReport) -> bool:
    """Whether all of a call ran in eager: no figure is of compiled code."""
    layers = [layer for layers in variant.layers for layer in layers.layers]
    return not (
        any(
            has_graph(compilation) or kernel_count(compilation)
            for compilation in variant.compilations
        )
        or any(layer.kind in ("kernels", "compiled") and layer.us > 0 for layer in layers)
    )


def is_recompile(compilation: Compilation) -> bool:
    """Whether a frame was compiled again.

    An attempt that failed, or that torch gave up because of the recompile limit, is a failure or a
    fallback to eager instead.
    """
    return compilation.recompile is not None and compilation.outcome == "compiled"


def recompile_count(compilations: Iterable[Compilation]) -> int:
    """How many compilations are recompiles."""
    return sum(map(is_recompile, compilations))


def always_recompiles(variant: VariantReport) -> str:
    """The value for which every call recompiles, until calls run in eager; empty if none does."""
    return variant.timing.recompiles if variant.timing is not None else ""


_LISTED = 4
"""How many values a suggestion names."""


def recompile_remedy(variant: VariantReport) -> str:
    """What to change so that no call recompiles, if every call does; empty if none does."""
    timing = variant.timing
    if timing is None or not timing.recompiles:
        return ""
    values = [timing.recompiles, *timing.other_recompiles]
    tensors = "them in tensors" if len(values) > 1 else "it in a tensor"
    return f"Change {_listed(values)} outside the compiled code, or keep {tensors}"


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _LISTED
    if more > 0:
        return f"{', '.join(values[:_LISTED])} and {more} more"
    return " and ".join(filter(None, [", ".join(values[:-1]), values[-1]]))


def first_recompiles(variant: VariantReport) -> list[str]:
    """The values for which the second call and those after it recompile, until one does not."""
    return variant.timing.first_recompiles if variant.timing is not None else []


_RUNS = {
    "torch.ops.higher_order.cond": "a call runs one branch of torch.cond",
    "torch.ops.higher_order.while_loop": "a call repeats those of while_loop",
}
"""An operator of control flow → what a call runs of the launches in the code."""


def repeated_runs(compilations: Iterable[Compilation]) -> str:
    """How often a call runs graphs that it runs more than once; empty if there are none."""
    runs = [compilation.runs for compilation in compilations if compilation.runs]
    if max(runs, default=0) < 2:
        return ""
    if len(runs) == 1:
        return f"a call runs the graph {runs[0]} times"
    if min(runs) == max(runs):
        return f"a call runs each graph {runs[0]} times"
    return f"a call runs graphs up to {max(runs)} times"


def control_flow(compilations: Sequence[Compilation]) -> str:
    """Why a call does not make the launches that the code has; empty where it does."""
    targets = {
        node.target
        for compilation in compilations
        for node in next((graph.nodes for graph in compilation.graphs.values() if graph.nodes), ())
    }
    reasons = [runs for target, runs in _RUNS.items() if target in targets]
    return ", ".join(filter(None, [*reasons, repeated_runs(compilations)]))


def break_count(breaks: Sequence[DistinctBreak]) -> str:
    """How many graph breaks there are, in words; how often they occurred, if that is more."""
    return breaks_and_occurrences(len(breaks), sum(graph_break.count for graph_break in breaks))


def breaks_and_occurrences(breaks: int, occurrences: int) -> str:
    """How many distinct graph breaks there are, and how often they occurred, if that is more."""
    often = f" ({count(occurrences, 'occurrence')})" if occurrences > breaks else ""
    return count(breaks, "graph break") + often


def kernel_count(compilation: Compilation) -> int:
    """How many kernels it has, or had before a watch dropped its texts to save memory."""
    return len(compilation.kernels) or compilation.counts.get("kernels", 0)


class KernelCounts(NamedTuple):
    """How many kernels some compilations have."""

    number: int
    """Of the launches; where a watch dropped the kernels to save memory, of the kernels."""
    text: str
    """Empty without kernels."""


_LANGUAGES = {"triton": "Triton", "cpp": "C++", "extern": "extern"}


def kernel_counts(compilations: Sequence[Compilation]) -> KernelCounts:
    """The launches and the kernels of some compilations, in words."""
    number = sum(map(kernel_count, compilations))
    kernels = [kernel for compilation in compilations for kernel in compilation.kernels]
    if not number or len(kernels) < number:
        # The launches and languages of dropped kernels are unknown.
        return KernelCounts(number, count(number, "kernel") if number else "")
    launches = sum(len({launch.key for launch in kernel.launches}) or 1 for kernel in kernels)
    languages = Counter[str](kernel.language for kernel in kernels)
    by = [
        f"{whole_number(languages[language])} {words}"
        for language, words in _LANGUAGES.items()
        if languages[language]
    ]
    text = f"{count(launches, 'launch', 'launches')} of {count(number, 'kernel')}"
    text += f" ({', '.join(by)})" if by else ""
    if runs := control_flow(compilations):
        text += f" in the code; {runs}"
    return KernelCounts(launches, text)


def guard_count(compilation: Compilation) -> int:
    """How many guards it has, or had before a watch dropped its texts to save memory."""
    return len(compilation.guards) or compilation.counts.get("guards", 0)
