"""The graphs of a variant for a target with Python wrappers, even if it requests the C++ wrapper.

A C++ wrapper cannot run without the device; its kernels are those of the Python wrapper.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import msgspec

from ...builds.capture_graphs import Captured
from ...measure.garbage_collection import gc_disabled
from ...report.variant import Variant
from ...torch_api.dynamo import compile_variant
from ...torch_api.inductor import codegen, workers
from ...torch_api.inductor.autotuning import logging_autotuning
from ...torch_api.inductor.captured_graph import Capture
from ...torch_api.targets.described_graphs import LoweredGraph, collecting
from .. import packed_call
from ..check_request import GraphsReply, GraphsRequest
from .captured_calls import captured_for
from .pretend_device import PretendDevice


def answer(world: PretendDevice, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `GraphsRequest`."""
    request = msgspec.msgpack.decode(payload, type=GraphsRequest)
    variant: Variant = pickle.loads(request.variant)
    packed_call.put_in_force(request.call)
    captured = captured_for(world, request.call, variant, step).captured
    step("generating the Python wrapper")
    with gc_disabled():
        graphs = captured.context.copy().run(_generate, captured, variant, world)
    return msgspec.msgpack.encode(graphs)


def _generate(captured: Captured, variant: Variant, world: PretendDevice) -> GraphsReply:
    settings = {**compile_variant.settings_of(variant), **world.settings(), "cpp_wrapper": False}
    graphs: list[LoweredGraph] = []
    why = ""
    for graph in captured.graphs:
        failed = _attempt(graph, settings, graphs)
        if failed is not None:
            why = f"torch generates no Python wrapper for it: {_first_line(failed)}"
    return GraphsReply(graphs=pickle.dumps(graphs), why=why)


def _attempt(
    graph: Capture, settings: dict[str, Any], graphs: list[LoweredGraph]
) -> Exception | None:
    """Generates a graph's code, and adds what it was made from; or gives what went wrong."""
    lowered_graphs: list[LoweredGraph] = []
    with workers.temporary(), logging_autotuning(), collecting(lowered_graphs):
        try:
            codegen.generate(graph, settings)
        except Exception as error:  # noqa: BLE001 - the sources tell it; here it is a reason
            return error
    graphs += lowered_graphs
    return None


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
