"""Evaluates the guards of a variant that this process captured for another call."""

from __future__ import annotations

import functools
from collections.abc import Callable

import msgspec

from ...guards.variant_guards import VariantGuards
from ...report import VariantReport
from ...report.variant import Variant
from .. import packed_call
from ..local_sources_request import LocalWhatIfReply, LocalWhatIfRequest
from .captured_calls import CapturedCall
from .known_call import answered
from .world import World


def answer(world: World, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `LocalWhatIfRequest`."""
    request = msgspec.msgpack.decode(payload, type=LocalWhatIfRequest)
    reply, _ = answered(world, request.known, step, functools.partial(_evaluated, world, request))
    return msgspec.msgpack.encode(LocalWhatIfReply()) if reply is None else reply


def _evaluated(
    world: World,
    request: LocalWhatIfRequest,
    variant: Variant,
    captured_call: CapturedCall,
    step: Callable[[str], None],
) -> bytes:
    fn, code_copies, captured = captured_call
    evaluable_guards = captured.evaluable_guards_of(variant)
    assert evaluable_guards is not None, "a capture keeps its guards"
    guards = VariantGuards(fn, request.subject, code_copies)
    guards.add("", evaluable_guards)
    _, args, kwargs = packed_call.unpack(request.arguments, world)
    report = VariantReport(name="", requested=variant, compilations=request.compilations)
    return msgspec.msgpack.encode(LocalWhatIfReply(answer=guards.what_if(report, args, kwargs)))
