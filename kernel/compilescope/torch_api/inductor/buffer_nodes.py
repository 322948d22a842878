"""Records which node's value each buffer of a wrapper holds; the generated code does not show it.

Logged as an artifact of the trace (`torch_api.trace.artifact_names.BUFFERS`).

Relies on ``torch._inductor.graph.GraphLowering`` (codegen, name_to_buffer) and on methods of
Inductor's buffers (get_origin_node, maybe_get_layout, and get_mutation_names of those that write to
another buffer).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..process.patching import patched
from ..trace.artifact_names import BUFFERS
from ..trace.spans import identity
from ..trace.trace import Event, current_sink


@contextmanager
def buffers_noted() -> Iterator[None]:
    """Logs the buffers of each wrapper that this context generates to its trace."""
    from torch._inductor.graph import GraphLowering

    with patched(GraphLowering, "codegen", _codegen):
        yield


def _codegen(original: Any, lowering: Any) -> Any:
    result = original(lowering)
    sink = current_sink()
    if sink is not None:
        _, metadata = identity("artifact", {"name": BUFFERS, "encoding": "json"}, None)
        payload = json.dumps(_nodes_of(lowering))
        sink(Event(metadata, payload, time.time(), threading.get_ident()))
    return result


def _nodes_of(lowering: Any) -> dict[str, str]:
    """Buffer → node, without buffers that are written again, since their value changes."""
    nodes: dict[str, str] = {}
    changed: set[str] = set()
    for name, buffer in lowering.name_to_buffer.items():
        if not hasattr(buffer, "get_origin_node"):
            continue
        written = buffer.get_mutation_names() if hasattr(buffer, "get_mutation_names") else ()
        changed.update(written)
        if _is_mutation(buffer):
            continue
        node = buffer.get_origin_node()
        if node is not None:
            nodes[name] = node.name
    return {name: node for name, node in nodes.items() if name not in changed}


def _is_mutation(buffer: Any) -> bool:
    from torch._inductor.ir import MutationLayoutSHOULDREMOVE

    layout = buffer.maybe_get_layout() if hasattr(buffer, "maybe_get_layout") else buffer.layout
    return isinstance(layout, MutationLayoutSHOULDREMOVE)
