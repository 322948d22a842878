"""Pair the kernels of two variants that do the same work."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence

from ...report import Kernel
from ..wrapper.kernel_bodies import body
from ..wrapper.launch_pairs import operator

Pair = tuple[Kernel | None, Kernel | None]
"""The baseline's kernel and this variant's; one may be missing."""


def pair_kernels(baseline: Sequence[Kernel], kernels: Sequence[Kernel]) -> list[Pair]:
    """Pair the kernels of one graph, in this variant's order; the baseline's unmatched ones follow.

    The most certain matches are made first: same code and nodes, same code, same nodes, most nodes
    in common, and last the same operators in the same order.
    """
    indices, baseline_indices = list(range(len(kernels))), list(range(len(baseline)))
    partners: dict[int, int] = {}

    def match(left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        taken = set(partners.values())
        for index in baseline_indices:
            if index not in taken and left[index] is not None:
                waiting[left[index]].append(index)
        for index in indices:
            candidates = None if index in partners else waiting.get(right[index])
            if candidates:
                partners[index] = candidates.popleft()

    both = baseline, kernels
    codes = [[computation_of(kernel) for kernel in side] for side in both]
    nodes = [[_nodes(kernel) for kernel in side] for side in both]
    match(*(list(zip(*keys, strict=True)) for keys in zip(codes, nodes, strict=True)))
    match(*codes)
    match(*nodes)
    _match_overlaps(baseline, kernels, partners)
    match(*([tuple(sorted(kernel.ops)) or None for kernel in side] for side in both))
    pairs: list[Pair] = [
        (baseline[partners[index]] if index in partners else None, kernels[index])
        for index in indices
    ]
    left = set(baseline_indices) - set(partners.values())
    return pairs + [(baseline[index], None) for index in sorted(left)]


def computation_of(kernel: Kernel) -> str:
    """What a kernel computes: its code without its name, or the operator of a library call."""
    return operator(kernel.name) if kernel.language == "extern" else body(kernel) or kernel.name


def _nodes(kernel: Kernel) -> frozenset[str] | None:
    return frozenset(kernel.nodes) or None


def _match_overlaps(
    baseline: Sequence[Kernel], kernels: Sequence[Kernel], partners: dict[int, int]
) -> None:
    """Pair the kernels still unmatched that share the most nodes."""
    taken = set(partners.values())
    owners: dict[str, list[int]] = defaultdict(list)
    for index, kernel in enumerate(baseline):
        if index not in taken:
            for node in set(kernel.nodes):
                owners[node].append(index)
    scores: dict[tuple[int, int], int] = defaultdict(int)
    for index, kernel in enumerate(kernels):
        if index not in partners:
            for node in set(kernel.nodes):
                for owner in owners[node]:
                    scores[index, owner] += 1
    for index, owner in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        if index not in partners and owner not in taken:
            partners[index] = owner
            taken.add(owner)
