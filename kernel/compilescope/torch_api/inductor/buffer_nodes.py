"""Records which node's value each buffer of a wrapper holds; the generated code does not show it.

Logged as an artifact of the trace (`torch_api.trace.artifact_names.BUFFERS`).

Relies on ``torch._inductor.graph.GraphLowering`` (codegen, name_to_buffer, graph_inputs),
on methods of Inductor's buffers (get_origin_node, maybe_get_layout, make_loader,
get_read_names, and get_mutation_names of those that write to another buffer) and on
``torch._inductor.ir.Pointwise`` (its fields, and inner_fn_str).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
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
    copies: dict[str, str] = {}
    values = {**lowering.name_to_buffer, **lowering.graph_inputs}
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
        if source := _copied(buffer, values):
            copies[name] = source
    # Torch notes no node of a copy into another layout, or none of what is copied.
    for name, source in copies.items():
        if source in changed:
            continue
        if source in lowering.graph_inputs:
            nodes.setdefault(name, source)
        elif name in nodes:
            nodes.setdefault(source, nodes[name])
        elif source in nodes:
            nodes[name] = nodes[source]
    return {name: node for name, node in nodes.items() if name not in changed}


def _copied(buffer: Any, values: Mapping[str, Any]) -> str:
    """The buffer or input that a buffer is a copy of, element by element; empty if of none.

    Parameters
    ----------
    values
        The buffers and inputs of the graph, by name.
    """
    from torch._inductor.ir import Pointwise

    data: Any = getattr(buffer, "data", None)
    names = list(buffer.get_read_names()) if isinstance(data, Pointwise) else []
    if len(names) != 1:
        return ""
    source: Any = values.get(names[0])
    if not hasattr(source, "make_loader") or source.get_dtype() != data.dtype:
        return ""
    if list(source.get_size()) != list(data.ranges):
        return ""
    copy = Pointwise(
        device=data.device, dtype=data.dtype, inner_fn=source.make_loader(), ranges=data.ranges
    )
    return names[0] if copy.inner_fn_str() == data.inner_fn_str() else ""


def _is_mutation(buffer: Any) -> bool:
    from torch._inductor.ir import MutationLayoutSHOULDREMOVE

    layout = buffer.maybe_get_layout() if hasattr(buffer, "maybe_get_layout") else buffer.layout
    return isinstance(layout, MutationLayoutSHOULDREMOVE)
