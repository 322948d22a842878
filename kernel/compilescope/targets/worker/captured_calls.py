"""The captures of packed calls; the latest are kept for further variants of the same call."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ...builds.capture_graphs import Captured, Key, capture, key_of
from ...isolation.code_swap import CodeCopies
from ...report.variant import Variant
from ...subject.functions import functions_of
from .. import packed_call
from .world import World

_MAX_CAPTURES = 4


class CapturedCall(NamedTuple):
    """A call and its graphs."""

    fn: Callable[..., Any]
    code_copies: CodeCopies
    captured: Captured


_captures: dict[tuple[str, Key], CapturedCall] = {}


def captured_for(
    world: World, call: bytes, variant: Variant, step: Callable[[str], None]
) -> CapturedCall:
    """The subject's graphs; nothing runs but Dynamo, on tensors without data."""
    key = hashlib.sha256(call).hexdigest(), key_of(variant)
    captured_call = _captures.pop(key, None)
    if captured_call is None:
        step("Dynamo is tracing the call")
        call_parts = packed_call.unpack(call, world)
        code_copies = CodeCopies(functions_of(call_parts.fn, call_parts.args, call_parts.kwargs))
        captured = capture(
            call_parts.fn,
            call_parts.args,
            call_parts.kwargs,
            variant,
            code_copies,
            # So that what a graph allocates on the device takes no memory.
            within=lambda: world.mode,
            traces_only=world.traces_only,
        )
        captured_call = CapturedCall(call_parts.fn, code_copies, captured)
    _captures[key] = captured_call
    for oldest in list(_captures)[:-_MAX_CAPTURES]:
        del _captures[oldest]
    return captured_call
