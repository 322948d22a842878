"""Evaluates the guards of a variant that this process captured for another call."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...guards.variant_guards import VariantGuards
from ...report import VariantReport
from .. import packed_call
from ..local_sources_request import LocalWhatIfReply, LocalWhatIfRequest
from .known_call import captured_like
from .world import ThisMachine


def answer(world: ThisMachine, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `LocalWhatIfRequest`."""
    request = msgspec.msgpack.decode(payload, type=LocalWhatIfRequest)
    reply = LocalWhatIfReply()
    captured = captured_like(world, request.known, step)
    if captured is not None:
        variant, (fn, code_copies, variant_capture) = captured
        askable = variant_capture.askable_of(variant)
        assert askable is not None, "a capture keeps its guards"
        guards = VariantGuards(fn, request.subject, code_copies)
        guards.add("", askable)
        _, args, kwargs = packed_call.unpack(request.arguments, world)
        report = VariantReport(name="", requested=variant, compilations=request.compilations)
        reply.answer = guards.ask(report, args, kwargs)
    return msgspec.msgpack.encode(reply)
