"""The code of a variant for this machine, if this process captures what the kernel captured."""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec

from ...builds import code_reports
from ...report import VariantReport
from ...report.variant import Variant
from ...torch_api.inductor import without_gpu
from ..local_sources_request import LocalSourcesReply, LocalSourcesRequest
from .captured_calls import CapturedCall
from .known_call import answered
from .world import World


def answer(world: World, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `LocalSourcesRequest`."""
    request = msgspec.msgpack.decode(payload, type=LocalSourcesRequest)
    work = functools.partial(_generated, world, request.name)
    reply, why = answered(world, request.known, step, work)
    return msgspec.msgpack.encode(LocalSourcesReply(why=why)) if reply is None else reply


def _generated(
    world: World,
    name: str,
    variant: Variant,
    captured_call: CapturedCall,
    step: Callable[[str], None],
) -> bytes | None:
    captured = captured_call.captured
    if any(
        not graph.is_on_cpu and without_gpu.chooses_attention_by_size(graph.graph)
        for graph in captured.graphs
    ):
        return None
    step("generating code")
    report = code_reports.generated(
        captured, name, variant, fn=captured_call.fn, on_step=step, coming=[]
    )
    # Of a failure the kernel says why, with its own objects; and it has the GPU.
    if report.stage == "failed" or (world.lacks_gpu and _is_unmeasured(report)):
        return None
    # Its options may not be serializable; the kernel has them.
    report.requested = Variant()
    return msgspec.msgpack.encode(LocalSourcesReply(report=report))


def _is_unmeasured(report: VariantReport) -> bool:
    """Whether a rule decided what torch would have measured on the GPU."""
    return any(
        compilation.decisions or any(autotuning.skipped for autotuning in compilation.autotunings)
        for compilation in report.compilations
    )
