"""Generates code for this machine in another process, while the kernel stays free.

A call that is one graph is sent without the data of its tensors (of numbers alone, the values), so
it cannot run there: Dynamo only traces it. One with graph breaks is sent with them and runs there,
under a watch that ends it before it changes anything outside of its process. The other process
first captures a variant that the kernel has captured too. If its graphs, guards and settings are
not the same, text by text, the objects there are not those of the kernel (a module was changed
since it was imported, for example), and nothing that it generates is used.

The garbage collector is off meanwhile: a search of all objects takes up to 0.6 s, in which cells
wait.

A call on the GPU goes to a process that does not see the GPU and emulates it, so it takes no memory
there. What torch would have to run or time on the GPU is left to the kernel.

Why a call that could run in another process stays in the kernel is logged, for debugging.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import torch

from ..builds.capture_fingerprint import fingerprint
from ..builds.capture_graphs import Captured
from ..isolation.muted_output import quiet
from ..measure.garbage_collection import gc_disabled
from ..processes.system_calls import can_forbid_changes
from ..progress.progress import Monitor
from ..report import Compilation, VariantReport
from ..report.errors import CompilescopeError
from ..report.problem import in_short
from ..report.variant import Variant
from ..report.what_if import WhatIf
from ..torch_api.dynamo import compile_variant
from ..torch_api.inductor import without_gpu
from . import known_devices
from .call_packer import CallPacker
from .local_sources_request import (
    KnownCall,
    LocalSourcesReply,
    LocalSourcesRequest,
    LocalWhatIfReply,
    LocalWhatIfRequest,
)
from .own_pickling import is_plain
from .target_variants import pickled
from .whole_call import SentCall
from .worker_messages import Role
from .worker_pool import shared_pool

_LIMIT, _LEAST_LIMIT_S = 10.0, 60.0
"""A call may take this many times as long there as in the kernel, and this much longer."""

_log = logging.getLogger(__name__)

_PLAIN = (bool, int, float, complex, str, type(None), torch.dtype, torch.device)


def is_traceable(captured: Captured) -> bool:
    """Whether a call with this capture can be traced without running.

    It is one graph, on the CPU or the first GPU. Code beside the graph would run in the other
    process, on tensors whose memory was never written.
    """
    return (
        captured.problem is None
        and captured.off is None
        and len(captured.graphs) == 1
        and captured.graphs[0].is_whole_call
        and _role(captured) is not None
    )


def is_runnable(captured: Captured) -> bool:
    """Whether a call with this capture can run in another process: on the CPU, with its data."""
    why = _why_not_runnable(captured)
    if why:
        _log_kept(why)
    return not why


def _why_not_runnable(captured: Captured) -> str:
    if captured.problem is not None or captured.off is not None:
        return "it is not captured without a problem"
    if not captured.graphs:
        return "it has no graph"
    if any(not graph.is_on_cpu or graph.devices - {"cpu"} for graph in captured.graphs):
        return "it is not on the CPU alone"
    if not _can_run():
        return "the system does not forbid changes here, or there is an accelerator"
    return ""


def _log_kept(why: object) -> None:
    _log.debug("The call stays in the kernel: %s", why)


def _can_run() -> bool:
    """Whether calls may run in other processes here.

    With an accelerator, torch asks its driver, which takes more than reading.
    """
    return can_forbid_changes() and not torch.accelerator.is_available()


def packed_with_values(call_packer: CallPacker) -> SentCall | None:
    """The call with its data as they are now; None if it cannot travel.

    Call it on the thread that calls the subject.
    """
    try:
        with gc_disabled(), quiet():
            return call_packer.packed_with_values()
    except Exception as error:  # noqa: BLE001 - whatever it is, the kernel can capture the call
        _log_kept(in_short(error))
        return None


def may_generate(captured: Captured, variant: Variant) -> bool:
    """Whether the code of a variant of Inductor can be generated from the trace of such a call."""
    if _role(captured) == "local":
        return True
    settings = compile_variant.settings_of(variant)
    return not captured.context.copy().run(without_gpu.needs_gpu, settings)


def _role(captured: Captured) -> Role | None:
    """Which process generates code for the devices of a graph; None: only the kernel does."""
    (graph,) = captured.graphs
    devices = graph.devices
    if graph.is_on_cpu and devices <= {"cpu"}:
        return "local"
    if devices <= {"cpu", "cuda:0"} and without_gpu.is_proven() and not known_devices.unavailable():
        return "local_gpu"
    return None


def generate(
    call_packer: CallPacker,
    known: tuple[Variant, Captured],
    name: str,
    variant: Variant,
    monitor: Monitor,
    sent: SentCall | None = None,
) -> VariantReport | None:
    """The report of a variant with its code; None if the kernel has to capture its graphs.

    Parameters
    ----------
    call_packer
        The call.
    known
        A variant, and the kernel's capture for it, of which `is_traceable` is true, or
        `is_runnable` for a call that runs.
    name, variant
        The requested variant.
    sent
        The call with its data, if it runs.

    Raises
    ------
    Cancelled
        The monitor was canceled; the other process has ended.
    """
    try:
        if sent is None:
            known_call = _known_call(call_packer, known, variant)
            role = _role(known[1])
        else:
            known_call, role = _known_run(sent, known, variant), "local_run"
        request = LocalSourcesRequest(known=known_call, name=name)
        answer = _ask("local_sources", request, role, monitor)
    except CompilescopeError as error:
        # Something cannot be pickled, or the process has ended. The kernel generates the code then,
        # and reports the call's own problems.
        _log_kept(in_short(error))
        return None
    with gc_disabled():
        reply = msgspec.msgpack.decode(answer, type=LocalSourcesReply)
    if reply.report is None:
        _log_kept(reply.why)
    else:
        reply.report.requested = variant
    return reply.report


def guards_are_elsewhere(name: str) -> CompilescopeError:
    """The error of a what-if whose guards that only another process had."""
    return CompilescopeError(
        f"The guards of {name!r} are not in the kernel.",
        "Its code was generated in another process, which has no objects of this one.",
        "Run the variant, then ask again.",
    )


def what_if(
    call_packer: CallPacker,
    known: tuple[Variant, Captured],
    subject: str,
    variant: VariantReport,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> WhatIf:
    """Which compilation of a variant whose code `generate` generated another call would use.

    Parameters
    ----------
    call_packer, known
        As for `generate`.
    subject
        What is called, as in the report.
    args, kwargs
        The other call's.

    Raises
    ------
    CompilescopeError
        The arguments do not fit, or guards that check their identity cannot be evaluated there.
    """
    absent = guards_are_elsewhere(variant.name)
    if not _is_plain([args, kwargs]):
        raise absent
    request = LocalWhatIfRequest(
        known=_known_call(call_packer, known, variant.requested),
        subject=subject,
        compilations=[_guards_of(compilation) for compilation in variant.compilations],
        arguments=call_packer.packed_arguments(args, kwargs),
    )
    answer = _ask("local_what_if", request, _role(known[1]), Monitor())
    reply = msgspec.msgpack.decode(answer, type=LocalWhatIfReply)
    if reply.answer is None:
        raise absent
    return reply.answer


def _known_call(
    call_packer: CallPacker, known: tuple[Variant, Captured], variant: Variant
) -> KnownCall:
    reference, captured = known
    with gc_disabled():
        return KnownCall(
            call=call_packer.packed_now(),
            variants=pickled((reference, variant)),
            fingerprint=fingerprint(captured),
        )


def _known_run(sent: SentCall, known: tuple[Variant, Captured], variant: Variant) -> KnownCall:
    reference, captured = known
    if not all(is_plain(each.options) for each in (reference, variant)):
        raise CompilescopeError(
            "The variant's options cannot be sent to another process that runs the call.",
            "Pickling an object among them may run its methods.",
        )
    with gc_disabled():
        return KnownCall(
            call=sent.call,
            variants=pickled((reference, variant)),
            fingerprint=fingerprint(captured, ran=True),
            limit_s=_LIMIT * captured.took_s + _LEAST_LIMIT_S,
        )


def _ask(kind: str, request: msgspec.Struct, role: Role | None, monitor: Monitor) -> bytes:
    assert role is not None, "the call can be sent"
    return shared_pool().request("", kind, msgspec.msgpack.encode(request), monitor, role=role)


def _guards_of(compilation: Compilation) -> Compilation:
    return Compilation(
        id=compilation.id,
        torch_id=compilation.torch_id,
        guards=compilation.guards,
        absent=compilation.absent,
    )


def _is_plain(value: object) -> bool:
    """Whether a value consists of tensors and plain data, whose identity no guard checks."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    return isinstance(value, _PLAIN) or type(value) in (torch.Tensor, torch.nn.Parameter)
