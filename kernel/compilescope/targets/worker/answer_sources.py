"""The code of a variant for a target: captured and generated in the target's process."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable

import msgspec

from ...analysis.target.decisions import add_choices
from ...builds import sources
from ...builds.capture_graphs import Captured, Key, capture, key_of
from ...builds.compile_warnings import remarks
from ...isolation.code_swap import CodeCopies
from ...report.variant import Variant
from ...subject.functions import functions_of
from ...torch_api.dynamo import compile_variant
from ...torch_api.targets.failures import of_absence
from .. import packed_call
from ..sources_request import SourcesReply, SourcesRequest
from .pretend_device import PretendDevice

_MAX_CAPTURES = 4
"""Captures that are kept: the next variant of the same call needs no other."""

_captures: dict[tuple[str, Key], Captured] = {}


def answer(world: PretendDevice, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `SourcesRequest`."""
    request = msgspec.msgpack.decode(payload, type=SourcesRequest)
    variant: Variant = pickle.loads(request.variant)
    # Also where the capture is there already: torch's settings count for the code too.
    packed_call.put_in_force(request.call)
    captured = captured_for(world, request.call, variant, step)
    step("generating code")
    generated = sources.generate(captured, request.name, variant, world.settings())
    assert world.device.build is not None, "else it would be no target"
    for compilation in generated.compilations:
        add_choices(compilation, world.device.build)
    problems = generated.problems
    if captured.problem is not None:
        problems.insert(0, of_absence(captured.problem))
    else:
        problems += remarks(
            generated.compilations, off=captured.off, suppressed=generated.suppressed
        )
    inductor = variant.uses_inductor
    response = SourcesReply(
        compilations=generated.compilations,
        problems=problems,
        effective=generated.effective,
        cuda_graphs=generated.cuda_graphs,
        config=compile_variant.differing_settings(compile_variant.settings_of(variant))
        if inductor
        else {},
    )
    return msgspec.msgpack.encode(response)


def captured_for(
    world: PretendDevice, call: bytes, variant: Variant, step: Callable[[str], None]
) -> Captured:
    """The subject's graphs; nothing runs but Dynamo, on tensors without data."""
    key = hashlib.sha256(call).hexdigest(), key_of(variant)
    captured = _captures.pop(key, None)
    if captured is None:
        step("running the subject under Dynamo")
        call_parts = packed_call.unpack(call, world)
        code_copies = CodeCopies(functions_of(call_parts.fn, call_parts.args, call_parts.kwargs))
        # So that what a graph makes on the device takes no memory either.
        captured = capture(
            call_parts.fn,
            call_parts.args,
            call_parts.kwargs,
            variant,
            code_copies,
            within=lambda: world.mode,
        )
    _captures[key] = captured
    for oldest in list(_captures)[:-_MAX_CAPTURES]:
        del _captures[oldest]
    return captured
