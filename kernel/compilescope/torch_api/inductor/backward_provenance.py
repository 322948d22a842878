"""Makes torch log the source nodes of a backward's kernels when it is compiled separately.

torch compiles a backward at its first call. By then it has forgotten the graph that the forward was
compiled from, and logs an empty mapping, though it has all of it. The generated code is not
affected.

Relies on ``torch._inductor.compile_fx.create_mapping_pre_post_grad_nodes`` and, of
``torch._inductor.debug``, on dump_inductor_provenance_info, create_node_mapping_kernel_to_post_grad
and _inductor_triton_kernel_to_post_grad_node_info. If a version lacks one of them, the mapping
stays empty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from torch._guards import CompileContext

from ..process.patching import patched


class _Graphs:
    """The pre-grad graphs of the compilations in a block."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        """Compile id → torch's number of the graph."""
        self.mapping: dict[str, Any] | None = None
        """The mapping of the backward that is being compiled."""


_graphs: ContextVar[_Graphs | None] = ContextVar("compilescope_pre_grad_graphs", default=None)


@contextlib.contextmanager
def backward_mapped() -> Iterator[None]:
    """Logs the mapping of each backward that this context compiles to its trace."""
    from torch._inductor import compile_fx, debug

    present = hasattr(compile_fx, "create_mapping_pre_post_grad_nodes") and all(
        hasattr(debug, name)
        for name in (
            "dump_inductor_provenance_info",
            "create_node_mapping_kernel_to_post_grad",
            "_inductor_triton_kernel_to_post_grad_node_info",
        )
    )
    if not present:
        yield
        return
    token = _graphs.set(_Graphs())
    try:
        with (
            patched(compile_fx, "create_mapping_pre_post_grad_nodes", _create_mapping),
            patched(debug, "dump_inductor_provenance_info", _dump),
        ):
            yield
    finally:
        _graphs.reset(token)


def _create_mapping(original: Any, pre_grad_graph_id: Any, nodes: Any) -> Any:
    from torch._inductor import debug

    graphs = _graphs.get()
    if graphs is None:
        return original(pre_grad_graph_id, nodes)
    graphs.mapping = None
    compile_id = str(CompileContext.current_compile_id())
    if isinstance(pre_grad_graph_id, int):
        graphs.ids[compile_id] = pre_grad_graph_id
    elif compile_id in graphs.ids:
        graphs.mapping = original(graphs.ids[compile_id], nodes)
        # torch empties it only around the compilation of a whole graph.
        debug._inductor_triton_kernel_to_post_grad_node_info = {}
    return original(pre_grad_graph_id, nodes)


def _dump(original: Any) -> Any:
    from torch._inductor import debug

    graphs, dumped = _graphs.get(), original()
    if graphs is None or graphs.mapping is None:
        return dumped
    kernels: Any = debug.create_node_mapping_kernel_to_post_grad(
        debug._inductor_triton_kernel_to_post_grad_node_info
    )
    return {**graphs.mapping, **kernels, **dumped}
