"""The code of a variant for this machine, if this process captures what the kernel captured."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...builds import code_reports
from ...report import VariantReport
from ...report.variant import Variant
from ...torch_api.inductor import without_gpu
from ..local_sources_request import LocalSourcesReply, LocalSourcesRequest
from .known_call import captured_like
from .world import ThisMachine


def answer(world: ThisMachine, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `LocalSourcesRequest`."""
    request = msgspec.msgpack.decode(payload, type=LocalSourcesRequest)
    reply = LocalSourcesReply()
    captured = captured_like(world, request.known, step)
    if captured is not None:
        variant, captured_call = captured
        (graph,) = captured_call.captured.graphs
        if not graph.is_on_cpu and without_gpu.chooses_attention_by_size(graph.graph):
            return msgspec.msgpack.encode(reply)
        step("generating code")
        report = code_reports.generated(
            captured_call.captured,
            request.name,
            variant,
            fn=captured_call.fn,
            on_step=step,
            coming=[],
        )
        # Of a failure the kernel says why, with its own objects; and it has the GPU.
        if report.stage == "failed" or (world.lacks_gpu and _is_unmeasured(report)):
            return msgspec.msgpack.encode(reply)
        reply.report = report
        # Its options may not be serializable; the kernel has them.
        reply.report.requested = Variant()
    return msgspec.msgpack.encode(reply)


def _is_unmeasured(report: VariantReport) -> bool:
    """Whether a rule decided what torch would have measured on the GPU."""
    return any(
        compilation.decisions or any(autotuning.skipped for autotuning in compilation.autotunings)
        for compilation in report.compilations
    )
