"""Which backwards are compiled, or taken from torch's cache, for a call that keeps the graph.

Such a backward may be called again: it must not overwrite what the forward saved. Relies on
``CompiledFxGraph.post_compile``, and on ``bw_donated_idxs`` of the tracing context's metadata,
which torch empties for such a call.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._guards import CompileContext, TracingContext

from ..process.patching import patched

_listening: list[set[str]] = []
"""Of every block that listens: a backward for a GPU is compiled in a thread of autograd's."""


@contextlib.contextmanager
def retaining(compile_ids: set[str]) -> Iterator[None]:
    """Adds the compile ids of such backwards of the block to ``compile_ids``."""
    from torch._inductor.output_code import CompiledFxGraph

    _listening.append(compile_ids)
    try:
        with patched(CompiledFxGraph, "post_compile", _post_compile):
            yield
    finally:
        _listening[:] = [other for other in _listening if other is not compile_ids]


def _post_compile(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    if (self.fx_kwargs or {}).get("is_backward"):
        context = TracingContext.try_get()
        metadata = context.fw_metadata if context is not None else None
        if metadata is not None and metadata.bw_donated_idxs == []:
            for compile_ids in _listening:
                compile_ids.add(str(CompileContext.current_compile_id()))
    return original(self, *args, **kwargs)
