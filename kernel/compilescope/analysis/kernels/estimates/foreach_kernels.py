"""Estimates Triton kernels of foreach operators from their source: one part for each tensor.

torch does not record which nodes they compute; or it names the same node, a list of tensors, for
each of the kernels that share it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ....report import Kernel
from ...text.sizes import BYTES, Hints
from ...text.triton_source import NUMEL
from ..grid import signature_of
from .estimates import summarize
from .fusion import FOREACH, kind_of
from .triton_buffers import accesses

_PART = re.compile(r"^    (?:el)?if pid < \w+:$|^    else:$", re.M)
_VALUE = re.compile(r"^\s+tmp\d+ = (.+)$", re.M)
_MOVED = re.compile(r"tl\.(?:load|full|where|broadcast_to)\(|\(*tmp\d+\)*(?:\.to\([\w.]+\))?$")
"""A value that a statement only loads, selects or converts."""


def estimate_foreach(kernels: Sequence[Kernel], wrapper: str, hints: Hints) -> None:
    """Fill in the bytes and operations of foreach kernels without nodes of their own.

    Each statement that computes a value counts as an operation for each element, as a node does.

    Parameters
    ----------
    wrapper
        The text that launches the kernels.
    hints
        The values that symbols had when torch compiled.
    """
    lines = wrapper.split("\n")
    combined = [
        kernel for kernel in kernels if kernel.language == "triton" and kind_of(kernel) == FOREACH
    ]
    launched = Counter(
        name for kernel in combined for name in kernel.nodes for _ in kernel.launches
    )
    for kernel in combined:
        if kernel.nodes and all(launched[name] == 1 for name in kernel.nodes):
            continue
        parts = list(_parts(kernel))
        for launch in kernel.launches:
            call = "\n".join(lines[launch.line - 1 : launch.end])
            launch.estimated_bytes = _total(_bytes(part, call, hints) for part in parts)
            launch.estimated_operations = _total(map(_operations, parts))
        summarize(kernel)


def _parts(kernel: Kernel) -> Iterator[Kernel]:
    """A kernel for each part, with the part's own numbers of elements."""
    places = [match.start() for match in _PART.finditer(kernel.source)]
    for start, end in itertools.pairwise(places):
        part = kernel.source[start:end]
        sizes = ", ".join(f"{name}={size}" for name, size in NUMEL.findall(part))
        source = kernel.source[: places[0]] + part
        yield msgspec.structs.replace(kernel, source=source, grid=f"{sizes} (Grid1D)")


def _bytes(part: Kernel, call: str, hints: Hints) -> float | None:
    pointers = [name for name, kind in signature_of(part.source) if kind.startswith("*")]
    accessed = accesses(part, call, hints)
    if accessed is None:
        return None
    total = 0
    for pointer, access in zip(pointers, accessed, strict=True):
        if not re.search(rf"\b{pointer} \+", part.source):
            continue  # another part's
        if access.elements is None or access.dtype not in BYTES:
            return None
        total += access.elements * BYTES[access.dtype] * (access.read + access.written)
    return float(total)


def _operations(part: Kernel) -> float | None:
    sizes = {name: int(size) for name, size in NUMEL.findall(part.source)}
    reduced = [size for name, size in sizes.items() if name.startswith("r")]
    if "xnumel" not in sizes or any(size != 1 for size in reduced):
        return None
    computed = [value for value in _VALUE.findall(part.source) if not _MOVED.match(value)]
    return float(sizes["xnumel"] * len(computed))


def _total(figures: Iterator[float | None]) -> float | None:
    """The sum; None if there are no figures, or one is unknown."""
    known = list(figures)
    return None if not known or None in known else sum(figure or 0.0 for figure in known)
