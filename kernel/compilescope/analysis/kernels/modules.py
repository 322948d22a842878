"""Which modules a kernel's nodes belong to, and the user's line where torch has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...report import Code, Compilation, SourceLine


def add_modules(compilation: Compilation, computed: Sequence[Sequence[str]]) -> None:
    """Names the modules of the nodes that each kernel computes, in the nodes' order.

    Parameters
    ----------
    computed
        The names of these nodes, for each kernel; of those after them it is not known.
    """
    modules_by_path = {
        node.name: f"{node.module}: {(node.module_type or '').rpartition('.')[2]}"
        for graph in compilation.graphs.values()
        for node in graph.nodes
        if node.module and node.op.startswith("call")
    }
    others = compilation.kernels[len(computed) :]
    all_names = [*computed, *(kernel.nodes for kernel in others)]
    for kernel, names in zip(compilation.kernels, all_names, strict=True):
        modules = (
            modules_by_path[name].removesuffix(": ") for name in names if name in modules_by_path
        )
        kernel.modules = list(dict.fromkeys(modules))


def link_to_call(compilation: Compilation, call: SourceLine) -> None:
    """Attributes kernels to the line of the call if no node has a line of the user's.

    This happens if only torch's own code runs, as in a bare ``nn.Sequential``: torch leaves the
    lines of its own modules out.
    """
    nodes = [node for graph in compilation.graphs.values() for node in graph.nodes]
    if not nodes or any(node.sources for node in nodes):
        return
    for kernel in compilation.kernels:
        if not kernel.sources:
            kernel.sources = [call]
            kernel.absent.pop("sources", None)
    for code in _codes(compilation.code):
        for regions in code.regions.values():
            for region in regions:
                if region.kind in ("kernel", "launch") and not region.sources:
                    region.sources = [call]


def _codes(code: Code | None) -> Iterable[Code]:
    while code is not None:
        yield code
        yield from code.others
        code = code.backward
