"""The captures of packed calls; the latest are kept for further variants of the same call."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ...builds.capture_graphs import Captured, Key, capture, key_of
from ...isolation.code_swap import CodeCopies
from ...report.variant import Variant
from ...subject.functions import functions_of
from ...subject.pickled_subject import Call
from .. import packed_call
from .world import World

_TRACING = "Dynamo is tracing the call"

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
    """The subject's graphs; nothing runs but Dynamo."""
    key = hashlib.sha256(call).hexdigest(), key_of(variant)
    captured_call = _captures.pop(key, None)
    if captured_call is None:
        step(_TRACING)
        captured_call = captured_in(world, packed_call.unpack(call, world), variant)
    _captures[key] = captured_call
    for oldest in list(_captures)[:-_MAX_CAPTURES]:
        del _captures[oldest]
    return captured_call


def captured_in(world: World, call: Call, variant: Variant) -> CapturedCall:
    """The graphs of a subject in this process."""
    code_copies = CodeCopies(functions_of(call.fn, call.args, call.kwargs))
    captured = capture(
        call.fn,
        call.args,
        call.kwargs,
        variant,
        code_copies,
        # So that what a graph allocates on the device takes no memory.
        within=None if world.runs_calls else lambda: world.mode,
        traces_only=world.traces_only,
    )
    return CapturedCall(call.fn, code_copies, captured)
